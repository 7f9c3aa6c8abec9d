// SPDX-License-Identifier: Apache-2.0
#include "values/variant.h"

#include <algorithm>

namespace kagent {
namespace {

constexpr std::size_t kLongestName = 200;  // file systems allow 255 bytes

bool is_plain_file_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != '/' && c != '\\' && c != '"';
  });
  return plain && !name.empty() && name.size() <= kLongestName && name.front() != '.' && name != "variant.json";
}

}  // namespace

std::string flaw(const Variant& variant, const std::string& kernel, const std::string& architecture) {
  const Evidence& evidence = variant.evidence;
  if (evidence.kernel != kernel) return "variant.json is of kernel '" + evidence.kernel + "', not '" + kernel + "'";
  if (evidence.architecture != architecture)
    return "variant.json is of architecture '" + evidence.architecture + "', not '" + architecture + "'";
  if (!is_plain_file_name(evidence.source_name))
    return "variant.json: source_name '" + evidence.source_name + "' is not a plain file name";
  if (evidence.generation < 1) return "variant.json: generation " + std::to_string(evidence.generation) + " is below 1";
  return {};
}

}  // namespace kagent
