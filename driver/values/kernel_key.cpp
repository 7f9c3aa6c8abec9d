// SPDX-License-Identifier: Apache-2.0
#include "values/kernel_key.h"

#include <sstream>

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

// The first line in which two lists of definitions differ.
std::string first_difference(const std::string& recorded, const std::string& current) {
  std::istringstream before(recorded), now(current);
  std::string was, is;
  do {
    was.clear();
    is.clear();
    std::getline(before, was);
    std::getline(now, is);
  } while (was == is && before && now);
  const auto shown = [](const std::string& text) { return text.empty() ? std::string("nothing") : "'" + text + "'"; };
  return shown(was) + " was there, " + shown(is) + " is now";
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
  if (recorded.definitions != current.definitions)
    return "the definitions changed: " + first_difference(recorded.definitions, current.definitions);
  if (recorded.standard != current.standard)
    return "the language standard changed from " + recorded.standard + " to " + current.standard;
  if (recorded.spec != current.spec) return "kernel.json changed";
  return difference(recorded.golden, current.golden, "golden file");
}

}  // namespace kagent
