// SPDX-License-Identifier: Apache-2.0
#include "values/kernel_key.h"

#include "util/hash.h"

namespace kagent {
namespace {

using Parts = std::map<std::string, std::string>;

std::string difference(const Parts& recorded, const Parts& current, const std::string& what) {
  for (const auto& [path, hash] : recorded) {
    auto found = current.find(path);
    if (found == current.end()) return what + " " + path + " is gone";
    if (found->second != hash) return what + " " + path + " changed";
  }
  for (const auto& [path, hash] : current)
    if (!recorded.contains(path)) return what + " " + path + " is new";
  return {};
}

}  // namespace

std::string KernelKey::hash() const {
  // Every field is written with its length before it, so that no two keys give the same text.
  std::string text;
  auto append = [&text](const std::string& field) { text += std::to_string(field.size()) + ":" + field + "\n"; };
  append("kagent key 1");
  append(source);
  append(std::to_string(headers.size()));
  for (const auto& [path, value] : headers) append(path), append(value);
  append(definitions);
  append(standard);
  append(spec);
  append(std::to_string(golden.size()));
  for (const auto& [path, value] : golden) append(path), append(value);
  return util::sha256(text);
}

std::string difference(const KernelKey& recorded, const KernelKey& current) {
  if (recorded.source != current.source) return "the source changed";
  if (std::string found = difference(recorded.headers, current.headers, "header"); !found.empty()) return found;
  if (recorded.definitions != current.definitions) return "the definitions (-D) changed";
  if (recorded.standard != current.standard)
    return "the language standard changed from " + recorded.standard + " to " + current.standard;
  if (recorded.spec != current.spec) return "kernel.json changed";
  return difference(recorded.golden, current.golden, "golden file");
}

}  // namespace kagent
