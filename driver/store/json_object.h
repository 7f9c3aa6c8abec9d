// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "util/text.h"

// Writing and strictly reading kagent's own JSON records. For .cpp files of this folder alone.
namespace kagent::store {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

inline std::string text(const std::string& value) {
  return util::clean(value);
}

// JSON has no infinities; an error of NaN against its bound is worth keeping.
inline OrderedJson number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class Map, class Write>
OrderedJson object(const Map& map, Write write) {
  OrderedJson result = OrderedJson::object();
  for (const auto& [name, value] : map) result[text(name)] = write(value);
  return result;
}

// What is wrong with a record, in words.
struct Flaw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One JSON object at a place in the file: every key is read by name, and none may be left over.
class Object {
 public:
  Object(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json_.is_object()) throw Flaw((place_.empty() ? "the file" : place_) + " is not an object");
  }

  const Json& at(const std::string& key) {
    auto found = json_.find(key);
    if (found == json_.end()) throw Flaw(place_ + "/" + key + " is missing");
    read_.insert(key);
    return *found;
  }
  const std::string& place() const { return place_; }
  std::string place(const std::string& key) const { return place_ + "/" + key; }
  Object object(const std::string& key) { return {at(key), place(key)}; }

  std::string string(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_string()) throw Flaw(place(key) + " is not a string");
    return value.get<std::string>();
  }
  bool boolean(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_boolean()) throw Flaw(place(key) + " is not true or false");
    return value.get<bool>();
  }
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high) {
    const Json& value = at(key);
    const bool fits =
        value.is_number_integer() &&
        !(value.is_number_unsigned() &&
          value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!fits || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
      throw Flaw(place(key) + " is not an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return value.get<std::int64_t>();
  }
  double number(const std::string& key) {
    const Json& value = at(key);
    if (value.is_number()) return value.get<double>();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    throw Flaw(place(key) + " is not a number");
  }
  // Calls read(key) for every key: for objects whose keys are names.
  template <class Read>
  void each(Read read) {
    for (const auto& item : json_.items()) read(item.key());
  }
  std::map<std::string, std::string> strings(const std::string& key) {
    std::map<std::string, std::string> result;
    Object inner = object(key);
    inner.each([&](const std::string& name) { result[name] = inner.string(name); });
    return result;
  }
  void finish() const {
    for (const auto& item : json_.items())
      if (!read_.contains(item.key())) throw Flaw(place(item.key()) + " is not a key of this format");
  }

 private:
  const Json& json_;
  std::string place_;
  std::set<std::string> read_;
};

// Throws Flaw for a repeated key and for deep nesting, Json::exception for what is no JSON.
Json parse_strictly(std::string_view text);

}  // namespace kagent::store
