// SPDX-License-Identifier: Apache-2.0
#include "spec/json_text.h"

#include <nlohmann/json.hpp>

namespace kagent::spec {
namespace {

constexpr std::size_t kLine = 100;

std::string scalar_text(const util::Json& value) {
  return value.dump(-1, ' ', false, util::Json::error_handler_t::replace);
}

std::string one_line(const util::Json& value) {
  if (!value.is_structured()) return scalar_text(value);
  std::string text;
  for (const auto& [key, child] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += scalar_text(key) + ": ";
    text += one_line(child);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

void append(const util::Json& value, std::size_t indentation, std::size_t used, std::string& text) {
  const std::string short_form = one_line(value);
  if (!value.is_structured() || (indentation > 0 && used + short_form.size() <= kLine)) {
    text += short_form;
    return;
  }
  const std::string inner(indentation + 2, ' ');
  text += value.is_object() ? "{" : "[";
  const char* separator = "\n";
  for (const auto& [key, child] : value.items()) {
    const std::string start = inner + (value.is_object() ? scalar_text(key) + ": " : "");
    text += separator + start;
    append(child, indentation + 2, start.size() + 1, text);
    separator = ",\n";
  }
  text += "\n" + std::string(indentation, ' ') + (value.is_object() ? "}" : "]");
}

}  // namespace

std::string json_text(const util::Json& value) {
  std::string text;
  append(value, 0, 0, text);
  return text + "\n";
}

}  // namespace kagent::spec
