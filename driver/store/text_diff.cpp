// SPDX-License-Identifier: Apache-2.0
#include "store/text_diff.h"

#include "store/git.h"

namespace kagent::store {

Result<std::string> text_diff(const std::string& from, const std::string& from_name, const std::string& to,
                              const std::string& to_name) {
  if (from == to) return std::string();
  git::initialise();
  git::Patch patch;
  git_buf text{};
  if (git_patch_from_buffers(patch.out(), from.data(), from.size(), from_name.c_str(), to.data(), to.size(),
                             to_name.c_str(), nullptr) != 0 ||
      git_patch_to_buf(&text, patch.get()) != 0)
    return git::error("cannot compare '" + from_name + "' and '" + to_name + "'");
  // Without the lines for git: "diff --git ..." and "index ...", which name blobs that are in no repository.
  std::string result(text.ptr, text.size);
  git_buf_dispose(&text);
  const auto start = result.find("\n--- ");
  return start == std::string::npos ? result : result.substr(start + 1);
}

}  // namespace kagent::store
