// SPDX-License-Identifier: Apache-2.0
#include "util/shallow_json.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kagent::util {
namespace {

TEST(ShallowJson, is_read_as_it_is_written) {
  EXPECT_EQ(parse_shallow(R"({"b": [1, {"c": null}], "a": "x"})").dump(), R"({"b":[1,{"c":null}],"a":"x"})");
}

TEST(ShallowJson, is_no_value_where_it_does_not_parse) {
  for (const char* text : {"", "{", "{\"a\": 1} x", "[1e999]", "\xff"})
    EXPECT_TRUE(parse_shallow(text).is_discarded()) << text;
}

TEST(ShallowJson, of_brackets_without_end_is_no_value) {
  const std::string deep = std::string(1 << 20, '[') + std::string(1 << 20, ']');
  EXPECT_TRUE(nests_too_deeply(deep));
  EXPECT_TRUE(parse_shallow(deep).is_discarded());
  EXPECT_TRUE(parse_shallow(std::string(65, '[') + std::string(65, ']')).is_discarded());
  EXPECT_TRUE(parse_shallow(std::string(64, '[') + std::string(64, ']')).is_array());
}

TEST(ShallowJson, counts_no_brackets_within_strings) {
  const std::string text = "\"\\\"" + std::string(1000, '{') + "\"";
  EXPECT_TRUE(parse_shallow(text).is_string());
}

}  // namespace
}  // namespace kagent::util
