// SPDX-License-Identifier: Apache-2.0
#include "store/evidence_json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "store/example_evidence.h"

namespace kagent::store {
namespace {

using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  auto evidence = evidence_from_json(text);
  EXPECT_FALSE(evidence.has_value());
  return evidence ? "" : evidence.error().message;
}

TEST(EvidenceJson, reads_back_every_field_as_it_was) {
  const Evidence written = example_evidence();
  auto read = evidence_from_json(to_json(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(written));
  EXPECT_EQ(read->key.hash(), written.key.hash());
  EXPECT_EQ(read->tunables, written.tunables);
  EXPECT_EQ(read->against_baseline.cases.at(0).ratio, 0.1 + 0.2);
  EXPECT_EQ(read->against_baseline.ratio, 1.0 / 1.42);
  EXPECT_EQ(read->hypothesis, written.hypothesis);
  EXPECT_EQ(read->expected_from, written.expected_from);
  EXPECT_EQ(read->launch->grid[0].text(), "ceil_div(rows, 4)");
  EXPECT_EQ(read->launch->shared_memory->text(), "4 * BLOCK");
  EXPECT_EQ(read->device_usage.at(0).registers, 40);
  EXPECT_EQ(read->counters_after, written.counters_after);
  EXPECT_EQ(read->sanitizer, written.sanitizer);
  EXPECT_EQ(read->usage.cached_tokens, 600);
}

TEST(EvidenceJson, keeps_that_nobody_has_confirmed_a_variant) {
  Evidence evidence = example_evidence();
  EXPECT_TRUE(evidence_from_json(to_json(evidence))->reviewed);
  evidence.reviewed = false;
  EXPECT_FALSE(evidence_from_json(to_json(evidence))->reviewed);
}

TEST(EvidenceJson, reads_the_first_format) {
  Evidence evidence = example_evidence();
  evidence.launch.reset();
  auto json = nlohmann::json::parse(to_json(evidence));
  json["format"] = 1;
  for (const char* later : {"reviewed", "launch", "counters", "device_usage", "model", "usage", "driver", "sanitizer"})
    json.erase(later);
  auto read = evidence_from_json(json.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->reviewed);
  EXPECT_EQ(read->hypothesis, evidence.hypothesis);
  json["model"] = "";
  EXPECT_THAT(error_of(json.dump()), HasSubstr("/model"));
}

TEST(EvidenceJson, reads_the_second_format_which_had_no_sanitizer) {
  const Evidence evidence = example_evidence();
  auto json = nlohmann::json::parse(to_json(evidence));
  json["format"] = 2;
  EXPECT_THAT(error_of(json.dump()), HasSubstr("/sanitizer"));
  json.erase("sanitizer");
  auto read = evidence_from_json(json.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->sanitizer, testing::IsEmpty());
  EXPECT_EQ(read->counters_after, evidence.counters_after);
}

TEST(EvidenceJson, refuses_a_launch_that_is_no_expression) {
  EXPECT_THAT(error_of(replaced(to_json(example_evidence()), "ceil_div(rows, 4)", "system(1)")),
              HasSubstr("/launch/grid/0"));
}

TEST(EvidenceJson, keeps_numbers_that_json_has_no_word_for) {
  Evidence evidence = example_evidence();
  evidence.max_error_over_bound = {{"a", std::numeric_limits<double>::infinity()}, {"b", std::nan("")}};
  auto read = evidence_from_json(to_json(evidence));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->max_error_over_bound.at("a"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read->max_error_over_bound.at("b")));
}

TEST(EvidenceJson, survives_text_that_is_not_utf8) {
  Evidence evidence = example_evidence();
  evidence.hypothesis = "cut \xE2\x82";
  auto read = evidence_from_json(to_json(evidence));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->hypothesis, HasSubstr("cut "));
}

TEST(EvidenceJson, puts_what_people_look_for_first) {
  const std::string text = to_json(example_evidence());
  EXPECT_THAT(text, testing::StartsWith("{\n  \"format\": 3,\n  \"kernel\": \"softmax\",\n  \"architecture\""));
}

TEST(EvidenceJson, refuses_another_format_and_says_which) {
  EXPECT_THAT(error_of(replaced(to_json(example_evidence()), "\"format\": 3", "\"format\": 4")), HasSubstr("format 4"));
}

TEST(EvidenceJson, refuses_every_single_missing_line) {
  // Each line of the text that holds a whole "key": scalar is taken out in turn.
  const std::string text = to_json(example_evidence());
  int tried = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    const bool scalar = line.find("\": ") != std::string::npos && line[line.size() - 2] == ',';
    const bool free_name = line.find("BLOCK\":") != std::string::npos;  // objects of names have no fixed keys
    if (scalar && !free_name) {
      std::string without = text;
      without.erase(begin, end - begin);
      EXPECT_FALSE(evidence_from_json(without)) << line;
      ++tried;
    }
    begin = end;
  }
  EXPECT_GT(tried, 30);
}

TEST(EvidenceJson, names_the_place_of_a_wrong_type) {
  const std::string text = to_json(example_evidence());
  EXPECT_THAT(error_of(replaced(text, "\"accepted\": true", "\"accepted\": 1")),
              HasSubstr("/against_baseline/accepted"));
  EXPECT_THAT(error_of(replaced(text, "\"pairs\": 21", "\"pairs\": -1")), HasSubstr("/against_baseline/cases/0/pairs"));
  EXPECT_THAT(error_of(replaced(text, "\"weight\": 0.8", "\"weight\": \"heavy\"")),
              HasSubstr("weight is not a number"));
}

TEST(EvidenceJson, refuses_numbers_out_of_range) {
  const std::string text = to_json(example_evidence());
  for (const char* number : {"0", "-1", "1e300", "1000000", "18446744073709551615", "99999999999999999999999", "1.5"})
    EXPECT_FALSE(evidence_from_json(replaced(text, "\"generation\": 1", std::string("\"generation\": ") + number)))
        << number;
  EXPECT_FALSE(evidence_from_json(replaced(text, "\"weight\": 0.8", "\"weight\": 1e999")));
  EXPECT_FALSE(evidence_from_json(replaced(text, "\"BLOCK\": 128", "\"BLOCK\": 9223372036854775808")));
}

TEST(EvidenceJson, refuses_a_key_given_twice) {
  EXPECT_THAT(
      error_of(replaced(to_json(example_evidence()), "\"accepted\": true", "\"accepted\": false, \"accepted\": true")),
      HasSubstr("'accepted' is there twice"));
}

TEST(EvidenceJson, refuses_an_unknown_key) {
  EXPECT_THAT(error_of(replaced(to_json(example_evidence()), "\"accepted\": true", "\"accepted\": true, \"x\": 1")),
              HasSubstr("/against_baseline/x"));
}

TEST(EvidenceJson, refuses_deep_nesting_huge_and_empty_text_without_crashing) {
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("nested"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(error_of(objects), HasSubstr("nested"));
  EXPECT_THAT(error_of(std::string(kLargestEvidenceBytes + 1, ' ')), HasSubstr("larger than"));
  for (const char* text : {"", "null", "[]", "{}", "\"", "\x00", "\xff\xfe", "1e999"})
    EXPECT_FALSE(evidence_from_json(text)) << text;
}

}  // namespace
}  // namespace kagent::store
