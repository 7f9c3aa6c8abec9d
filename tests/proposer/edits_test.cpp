// SPDX-License-Identifier: Apache-2.0
#include "proposer/edits.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/random.h"

namespace kagent::proposer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kSource =
    "#include <cmath>\n"
    "\n"
    "void scale(float* y, int n) {\n"
    "  for (int i = 0; i < n; ++i) {\n"
    "    y[i] = 2 * y[i];\n"
    "  }\n"
    "  for (int i = 0; i < n; ++i) {\n"
    "    y[i] = std::sqrt(y[i]);\n"
    "  }\n"
    "}\n";

std::string applied(const std::vector<Edit>& edits, const std::string& source = kSource) {
  auto result = apply_edits(source, edits);
  return result ? *result : "failed: " + result.error().message;
}

EditProblem problem(const std::vector<Edit>& edits, const std::string& source = kSource) {
  auto result = apply_edits(source, edits);
  EXPECT_FALSE(result) << *result;
  return result ? EditProblem{} : result.error();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(Edits, replace_whole_lines) {
  EXPECT_EQ(applied({{"    y[i] = 2 * y[i];\n", "    y[i] += y[i];\n"}}),
            replaced(kSource, "    y[i] = 2 * y[i];\n", "    y[i] += y[i];\n"));
  // With or without the last line's end on either side.
  EXPECT_EQ(applied({{"    y[i] = 2 * y[i];", "    y[i] += y[i];\n"}}),
            applied({{"    y[i] = 2 * y[i];\n", "    y[i] += y[i];"}}));
}

TEST(Edits, replace_a_part_of_a_line) {
  EXPECT_EQ(applied({{"2 * y[i]", "y[i] + y[i]"}}), replaced(kSource, "2 * y[i]", "y[i] + y[i]"));
  EXPECT_EQ(applied({{"y[i] = 2 * y[i];\n  }", "y[i] += y[i];\n  }"}}),
            replaced(kSource, "y[i] = 2 * y[i];\n", "y[i] += y[i];\n"));
  // As a search/replace block brings them: with an end of line, and perhaps blanks, that do not stand there.
  EXPECT_EQ(applied({{"2 * y[i]\n", "y[i] + y[i]\n"}}), replaced(kSource, "2 * y[i]", "y[i] + y[i]"));
  EXPECT_EQ(applied({{"      2 * y[i]\n", "      y[i] + y[i]\n"}}), replaced(kSource, "2 * y[i]", "y[i] + y[i]"));
  EXPECT_EQ(applied({{"std::sqrt\n", "std::cbrt\n"}}), replaced(kSource, "std::sqrt", "std::cbrt"));
  EXPECT_EQ(problem({{"int i = 0;\n", "int i = 1;\n"}}).error, EditError::ambiguous);
}

TEST(Edits, remove_lines_with_their_ends) {
  EXPECT_EQ(applied({{"    y[i] = 2 * y[i];\n", ""}}), replaced(kSource, "    y[i] = 2 * y[i];\n", ""));
  EXPECT_EQ(applied({{"b", ""}}, "a\nb"), "a\n");
}

TEST(Edits, insert_by_quoting_a_neighbour) {
  EXPECT_EQ(applied({{"#include <cmath>", "#include <cmath>\n#include <cstdint>"}}),
            replaced(kSource, "#include <cmath>\n", "#include <cmath>\n#include <cstdint>\n"));
}

TEST(Edits, overlook_layout_and_indent_as_what_they_replace) {
  const std::string expected = replaced(kSource, "    y[i] = 2 * y[i];\n", "    if (y[i] > 0)\n      y[i] += y[i];\n");
  EXPECT_EQ(applied({{"y[i]=2*y[i];", "if (y[i] > 0)\n  y[i] += y[i];"}}), expected);
  EXPECT_EQ(applied({{"\t\ty[i]  =  2 * y[i];  ", "\t\tif (y[i] > 0)\n\t\t  y[i] += y[i];"}}), expected);
  EXPECT_EQ(applied({{"        y[i] = 2 * y[i];", "        if (y[i] > 0)\n          y[i] += y[i];"}}), expected);
}

TEST(Edits, overlook_blanks_that_were_trimmed_from_the_first_line) {
  EXPECT_EQ(applied({{"y[i] = 2 * y[i];\n  }\n", "y[i] += y[i];\n    y[i] += 1;\n  }\n"}}),
            replaced(kSource, "    y[i] = 2 * y[i];\n", "    y[i] += y[i];\n    y[i] += 1;\n"));
}

TEST(Edits, overlook_blank_lines_that_one_side_has_more_of) {
  EXPECT_EQ(applied({{"\n#include <cmath>\nvoid scale(float* y, int n) {\n\n", "void scale(float* y, int n) {"}}),
            replaced(kSource, "#include <cmath>\n\n", ""));
}

TEST(Edits, do_not_take_two_words_for_one) {
  EXPECT_EQ(problem({{"voidscale(float* y, int n) {", "x"}}).error, EditError::not_found);
}

TEST(Edits, refuse_ambiguity_and_say_where_the_matches_are) {
  const EditProblem found = problem({{"  for (int i = 0; i < n; ++i) {", "  for (;;) {"}});
  EXPECT_EQ(found.error, EditError::ambiguous);
  EXPECT_THAT(found.lines, ElementsAre(4, 7));
  EXPECT_THAT(found.message, HasSubstr("line 4, 7"));
  EXPECT_THAT(problem({{"for(int i=0;i<n;++i){", "x"}}).lines, ElementsAre(4, 7));
  EXPECT_THAT(problem({{"y[i]", "x"}}).lines, ElementsAre(5, 8));
  // More context decides.
  EXPECT_EQ(applied({{"  for (int i = 0; i < n; ++i) {\n    y[i] = 2 * y[i];", "  {\n    y[0] = 0;"}}),
            replaced(kSource, "  for (int i = 0; i < n; ++i) {\n    y[i] = 2 * y[i];", "  {\n    y[0] = 0;"));
}

TEST(Edits, answer_a_miss_with_the_nearest_lines) {
  const EditProblem found = problem({{"  for (int i = 0; i < n; i++) {\n    y[i] = std::sqrt(x[i]);\n  }", "x"}});
  EXPECT_EQ(found.error, EditError::not_found);
  EXPECT_EQ(found.nearest.line, 7);
  EXPECT_GT(found.nearest.similarity, 0.8);
  EXPECT_LT(found.nearest.similarity, 1);
  EXPECT_THAT(found.nearest.text, HasSubstr("std::sqrt(y[i]);\n  }"));
  EXPECT_THAT(found.message, HasSubstr(found.nearest.text));
}

TEST(Edits, name_no_nearest_lines_where_nothing_is_near) {
  const EditProblem found = problem({{"import torch\nclass Model(nn.Module):", "x"}});
  EXPECT_EQ(found.nearest.line, 0);
  EXPECT_THAT(found.message, HasSubstr("whole file"));
}

TEST(Edits, refuse_an_empty_search_unless_the_source_is_empty) {
  EXPECT_EQ(problem({{"", "x"}}).error, EditError::empty_search);
  EXPECT_EQ(problem({{" \n\t\n", "x"}}).error, EditError::empty_search);
  EXPECT_EQ(applied({{"", "void f();\n"}}, ""), "void f();\n");
  EXPECT_EQ(applied({{"", "void f();\n"}}, "\n  \n"), "void f();\n");
}

TEST(Edits, refuse_to_change_the_same_text_twice) {
  const EditProblem found = problem({{"    y[i] = 2 * y[i];", "a"}, {"= 2 * y", "b"}});
  EXPECT_EQ(found.error, EditError::overlapping);
  EXPECT_EQ(found.edit, 1u);
  EXPECT_THAT(found.message, HasSubstr("edit 1"));
}

TEST(Edits, take_the_same_edit_twice_as_once) {
  const Edit edit{"    y[i] = 2 * y[i];", "    y[i] += y[i];"};
  EXPECT_EQ(applied({edit, edit}), applied({edit}));
}

TEST(Edits, need_no_order) {
  const Edit a{"    y[i] = 2 * y[i];", "    y[i] += y[i];"}, b{"#include <cmath>", "#include <cstdlib>"};
  EXPECT_EQ(applied({a, b}), applied({b, a}));
  // What one brings is not what the other is looked for in.
  EXPECT_EQ(problem({{"#include <cmath>", "#include <new>"}, {"#include <new>", "x"}}).edit, 1u);
}

TEST(Edits, keep_the_ends_of_lines) {
  std::string windows;
  for (const char c : kSource) windows += c == '\n' ? "\r\n" : std::string(1, c);
  const std::string edited = applied({{"  }\n  for (int i = 0; i < n; ++i) {\n", "    y[i] += 1;\n"}}, windows);
  EXPECT_THAT(edited, HasSubstr("y[i];\r\n    y[i] += 1;\r\n    y[i] = std"));
  EXPECT_EQ(std::ranges::count(edited, '\r'), std::ranges::count(edited, '\n'));
  EXPECT_EQ(applied({{"b\r\n", "c\r\nd\r\n"}}, "a\nb\n"), "a\nc\nd\n");
  // Ends that differ from line to line stay where nothing is changed.
  EXPECT_EQ(applied({{"b", "x"}}, "a\r\nb\nc\r\nd"), "a\r\nx\nc\r\nd");
}

TEST(Edits, are_limited_in_number_and_size) {
  EditLimits limits;
  limits.max_edits = 1;
  const auto many = apply_edits(kSource, {{"#include <cmath>", "a"}, {"  }", "b"}}, limits);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().error, EditError::too_many);
  EXPECT_THAT(many.error().message, HasSubstr("at most 1"));
  limits.max_bytes = 300;
  const auto large = apply_edits(kSource, {{"#include <cmath>", std::string(200, 'a')}}, limits);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().error, EditError::too_large);
}

TEST(Edits, that_change_nothing_are_refused) {
  EXPECT_EQ(problem({{"#include <cmath>", "#include <cmath>"}}).error, EditError::nothing_changed);
  EXPECT_EQ(problem({}).error, EditError::nothing_changed);
}

// Text of a few words, so that much of it repeats.
std::string random_source(Random& random, std::size_t lines) {
  const std::vector<std::string> words = {"a", "b", "if (x) {", "}", "y[i] = 2;", "  ", "\t", "return", "::", "\"s\""};
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += std::string(random.below(5), ' ');
    for (std::size_t j = random.below(5); j > 0; --j) text += words[random.below(words.size())] + " ";
    text += random.below(8) == 0 ? "\r\n" : "\n";
  }
  return text;
}

TEST(Edits, keep_every_byte_outside_of_the_place_that_they_change) {
  Random random(1);
  int applied_edits = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string source = random_source(random, 1 + random.below(30));
    const std::size_t begin = random.below(source.size());
    const std::size_t length = 1 + random.below(source.size() - begin);
    const std::string search = source.substr(begin, length), replace = random_source(random, random.below(4));
    const auto result = apply_edits(source, {{search, replace}});
    if (!result) continue;
    ++applied_edits;
    // What is equal at both ends leaves a middle that holds no more than the replacement, re-indented, and line ends.
    std::size_t front = 0, back = 0;
    const std::size_t shorter = std::min(source.size(), result->size());
    while (front < shorter && source[front] == (*result)[front]) ++front;
    while (back < shorter - front && source[source.size() - 1 - back] == (*result)[result->size() - 1 - back]) ++back;
    EXPECT_LE(source.size() - front - back, search.size() + 64) << source << "\n--\n" << search;
    EXPECT_LE(result->size() - front - back, 2 * replace.size() + 64);
  }
  EXPECT_GT(applied_edits, 500);
}

TEST(Edits, of_unique_lines_do_what_replacing_lines_does) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < 5 + random.below(40); ++i)
      lines.push_back(std::string(2 * random.below(4), ' ') + "line" + std::to_string(i) + "();");
    std::vector<std::string> expected = lines;
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < lines.size(); i += 1 + random.below(6)) {
      const bool bare = random.below(2) == 0;
      const std::string blanks = lines[i].substr(0, lines[i].find('l'));
      edits.push_back({bare ? lines[i].substr(blanks.size()) : lines[i],
                       bare ? "new" + std::to_string(i) + "();" : blanks + "new" + std::to_string(i) + "();"});
      expected[i] = blanks + "new" + std::to_string(i) + "();";
    }
    random.shuffle(edits);
    std::string source, wanted;
    for (std::size_t i = 0; i < lines.size(); ++i) source += lines[i] + "\n", wanted += expected[i] + "\n";
    EXPECT_EQ(applied(edits, source), wanted);
  }
}

TEST(Edits, survive_random_searches) {
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    const std::string source = random_source(random, random.below(20));
    std::vector<Edit> edits;
    for (std::size_t i = random.below(4); i > 0; --i)
      edits.push_back({random_source(random, random.below(4)), random_source(random, random.below(4))});
    const auto result = apply_edits(source, edits);
    EXPECT_TRUE(result || !result.error().message.empty());
  }
}

// Sources and searches that make a careless search for the nearest lines take hours.
TEST(Edits, take_a_number_of_steps_that_grows_with_the_input_alone) {
  const auto steps = [](const std::string& source, const std::string& search) {
    std::size_t count = 0;
    EditLimits limits;
    limits.max_bytes = 16 << 20;
    limits.steps = &count;
    (void)apply_edits(source, {{search, "x"}}, limits);
    return count;
  };
  const auto repeated = [](const std::string& line, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += line;
    return text;
  };
  const std::string alike = repeated("  a[i] = b[i] + c[i] * d[i];\n", 5000);
  for (const std::string& search :
       {repeated("  a[i] = b[i] + c[i] * e[i];\n", 4000), repeated("aab", 30'000) + "c", repeated("\n", 50'000) + "z",
        repeated("a b ", 40'000), repeated("  a[i] = b[i] + c[i] * d[i];\n", 4999) + "z\n"}) {
    EXPECT_LT(steps(alike, search), 8 * (alike.size() + search.size()) + 4 * 600 * 600);
    EXPECT_LT(steps(repeated("aab", 100'000), search), 8 * (300'000 + search.size()) + 4 * 600 * 600);
    EXPECT_LT(steps(repeated("{\n", 100'000), search), 8 * (200'000 + search.size()) + 4 * 600 * 600);
  }
}

}  // namespace
}  // namespace kagent::proposer
