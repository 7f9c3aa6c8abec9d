// SPDX-License-Identifier: Apache-2.0
#include "store/variant_name.h"

#include <algorithm>
#include <charconv>

#include "util/text.h"

namespace kagent::store {
namespace {

constexpr std::string_view kPrefix = "kagent/";
constexpr int kHighestGeneration = 999'999;
constexpr std::size_t kHashDigits = 8;
constexpr std::size_t kLongestPart = 100;

// Up to the next '/', which is taken too.
std::optional<std::string_view> take_part(std::string_view& text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  return part;
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<int> parse_number(std::string_view digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || digits.front() == '-' || error != std::errc() || end != digits.data() + digits.size() ||
      number > kHighestGeneration)
    return std::nullopt;
  return number;
}

bool is_name_part(std::string_view name) {
  const bool characters = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  });
  return characters && !name.empty() && name.size() <= kLongestPart && name.front() != '.' && name.front() != '-' &&
         name.back() != '.' && !name.ends_with(".lock") && name.find("..") == std::string_view::npos;
}

}  // namespace

std::string generation_name(int generation) {
  std::string digits = std::to_string(generation);
  return "g" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

std::optional<int> parse_generation(std::string_view text) {
  if (text == "baseline") return 0;
  if (text.starts_with('g')) text.remove_prefix(1);
  return parse_number(text);
}

std::string VariantName::branch() const {
  return std::string(kPrefix) + kernel + "/" + architecture + "/" + generation_name(generation) + "-" + hash8;
}

std::optional<VariantName> parse_variant_name(std::string_view branch) {
  std::string_view rest = branch;
  if (!rest.starts_with(kPrefix)) return std::nullopt;
  rest.remove_prefix(kPrefix.size());
  const auto kernel = take_part(rest);
  const auto architecture = take_part(rest);
  const auto dash = rest.find('-');
  if (!kernel || !architecture || !rest.starts_with('g') || dash == std::string_view::npos) return std::nullopt;
  const auto generation = parse_number(rest.substr(1, dash - 1));
  const std::string_view hash8 = rest.substr(dash + 1);
  if (!generation || *generation < 1 || hash8.size() != kHashDigits || !is_hex(hash8)) return std::nullopt;
  if (!is_name_part(*kernel) || !is_name_part(*architecture)) return std::nullopt;
  VariantName name{std::string(*kernel), std::string(*architecture), *generation, std::string(hash8)};
  if (name.branch() != branch) return std::nullopt;  // "g3-", "g0003-"
  return name;
}

Result<void> check_name_part(std::string_view what, std::string_view name) {
  if (is_name_part(name)) return {};
  return failure("'" + util::clean(name, 200) + "' cannot be the name of " + std::string(what),
                 "use letters, digits and . _ + - only");
}

}  // namespace kagent::store
