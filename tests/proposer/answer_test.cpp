// SPDX-License-Identifier: Apache-2.0
#include "proposer/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::proposer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kObject =
    "{\"bottleneck\": \"memory bandwidth\", \"hypothesis\": \"wider loads\", \"change\": \"float4\",\n"
    " \"expected_speedup\": 1.5, \"difficulty\": \"easy\",\n"
    " \"tunables\": [{\"name\": \"VECTOR\", \"values\": [1, 2, 4]}], \"constraints\": [\"VECTOR <= 4\"],\n"
    " \"launch\": {\"grid\": [\"ceil_div(rows, 4)\"], \"block\": [32, 4], \"shared_memory\": \"4 * cols\"}}\n";
const std::string kBlock = "<<<<<<< SEARCH\n  y[i] = x[i];\n=======\n  y[i] = 2 * x[i];\n>>>>>>> REPLACE\n";
const std::string kFile = "void scale(float* y, int n) {\n  for (int i = 0; i < n; ++i) y[i] *= 2;\n}\n";

Answer parsed(const std::string& text, std::string_view entry = {}) {
  auto answer = parse_answer(text, entry);
  EXPECT_TRUE(answer) << name(answer.error().error) << ": " << answer.error().message << "\n" << text;
  return answer ? *answer : Answer{};
}

std::string error(const std::string& text) {
  auto answer = parse_answer(text);
  return answer ? "parsed" : std::string(name(answer.error().error));
}

std::string with_code(const std::string& object) {
  return object + kBlock;
}

TEST(Answer, is_an_object_and_blocks) {
  const Answer answer = parsed(kObject + "\n" + kBlock + kBlock);
  EXPECT_EQ(answer.bottleneck, "memory bandwidth");
  EXPECT_EQ(answer.hypothesis, "wider loads");
  EXPECT_EQ(answer.change, "float4");
  EXPECT_EQ(answer.expected_speedup, 1.5);
  ASSERT_EQ(answer.tunables.size(), 1u);
  EXPECT_EQ(answer.tunables[0].name, "VECTOR");
  EXPECT_THAT(answer.tunables[0].values, ElementsAre(1, 2, 4));
  EXPECT_THAT(answer.constraints, ElementsAre("VECTOR <= 4"));
  ASSERT_TRUE(answer.launch);
  EXPECT_EQ(answer.launch->grid[0].text(), "ceil_div(rows, 4)");
  EXPECT_EQ(answer.launch->grid[2].text(), "1");
  EXPECT_EQ(answer.launch->block[1].text(), "4");
  EXPECT_EQ(answer.launch->shared_memory->text(), "4 * cols");
  ASSERT_EQ(answer.edits.size(), 2u);
  EXPECT_EQ(answer.edits[0].search, "  y[i] = x[i];\n");
  EXPECT_EQ(answer.edits[0].replace, "  y[i] = 2 * x[i];\n");
  EXPECT_FALSE(answer.source);
}

TEST(Answer, is_an_object_and_a_whole_file) {
  EXPECT_EQ(parsed(kObject + "```cuda\n" + kFile + "```\n").source, kFile);
  EXPECT_EQ(parsed(kObject + "~~~~ C++\n" + kFile + "~~~~").source, kFile);
  EXPECT_EQ(parsed(kObject + "\n" + kFile).source, "\n\n" + kFile);
}

TEST(Answer, is_an_object_that_holds_the_code) {
  EXPECT_EQ(parsed(R"({"hypothesis": "h", "source": "void f() {\n  g();\n}\n"})").source, "void f() {\n  g();\n}\n");
  const Answer answer = parsed(R"({"hypothesis": "h", "edits": [{"search": "a", "replace": "b"}], "source": null})");
  ASSERT_EQ(answer.edits.size(), 1u);
  EXPECT_EQ(answer.edits[0].replace, "b");
}

TEST(Answer, has_prose_and_fences_around) {
  for (const std::string& text :
       {"Sure! Here is the idea:\n\n```json\n" + kObject + "```\n\nThe change:\n\n```cpp\n" + kBlock +
            "```\nGood luck!",
        "<think>{\"hypothesis\": \"draft\"} or not?</think>\n" + kObject + kBlock, kBlock + "\n\n" + kObject,
        "```\n" + kObject + "\n```\n" + kBlock, "code is `if (x) { return; }`\n" + kObject + kBlock}) {
    const Answer answer = parsed(text);
    EXPECT_EQ(answer.hypothesis, "wider loads");
    EXPECT_EQ(answer.edits.size(), 1u) << text;
  }
}

TEST(Answer, counts_the_last_of_several_objects) {
  EXPECT_EQ(parsed("{\"hypothesis\": \"first\"}\nNo, better:\n{\"hypothesis\": \"second\"}\n" + kBlock).hypothesis,
            "second");
  EXPECT_EQ(parsed(kObject + kBlock + "{\"note\": 1}").hypothesis, "wider loads");
  EXPECT_EQ(parsed("{\"answer\": " + kObject + "}" + kBlock).hypothesis, "wider loads");
}

TEST(Answer, counts_the_longest_file_that_names_the_entry) {
  const std::string snippet = "```cpp\nint a;{}\n```\n", other = "```cpp\n" + std::string(500, ' ') + "int b;{}\n```\n";
  EXPECT_EQ(parsed(kObject + snippet + "```cpp\n" + kFile + "```\n" + other, "ns::scale").source, kFile);
  EXPECT_THAT(*parsed(kObject + snippet + other).source, HasSubstr("int b"));
}

TEST(Answer, may_be_a_diff) {
  const Answer answer =
      parsed(kObject + "```diff\n--- a/k.cpp\n+++ b/k.cpp\n@@ -3,3 +3,4 @@ void f()\n a;\n-b;\n+c;\n+d;\n\n e;\n```\n");
  ASSERT_EQ(answer.edits.size(), 1u);
  EXPECT_EQ(answer.edits[0].search, "a;\nb;\n\ne;\n");
  EXPECT_EQ(answer.edits[0].replace, "a;\nc;\nd;\n\ne;\n");
}

TEST(Answer, is_read_although_it_is_no_strict_json) {
  for (const std::string& object : {
           std::string("{\"hypothesis\": \"wider\nloads\",}"),
           std::string("{“hypothesis”: “wider\\nloads”}"),
           std::string("{'hypothesis': 'wider\\nloads', 'tunables': None}"),
           std::string("{\r\n  \"hypothesis\": \"wider\\nloads\", // because\r\n \"edits\": [ /* below */ ],\r\n}\r\n"),
           std::string("{\"hypothesis\": \"\"\"wider\nloads\"\"\"}"),
           std::string("{\"hypothesis\": \"wider\\nloads\", \"constraints\": [ ], }"),
           std::string("\xEF\xBB\xBF{\"hypothesis\":\0\"wider\nlo\0ads\"}", 33),
       })
    EXPECT_EQ(parsed(with_code(object)).hypothesis, "wider\nloads") << object;
  EXPECT_EQ(parsed(with_code(R"({"hypothesis": "it's \(odd\) \'q\' é \x"})")).hypothesis, "it's \\(odd\\) 'q' é \\x");
}

TEST(Answer, makes_typographic_code_plain) {
  const Answer answer = parsed(kObject + "<<<<<<< SEARCH\na = “b”;\n=======\na = ‘c’;\n>>>>>>> REPLACE\n");
  EXPECT_EQ(answer.edits[0].search, "a = \"b\";\n");
  EXPECT_EQ(answer.edits[0].replace, "a = 'c';\n");
}

TEST(Answer, loses_windows_line_ends) {
  std::string windows;
  for (const char c : kObject + kBlock) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(parsed(windows).edits[0].search, "  y[i] = x[i];\n");
}

TEST(Answer, needs_no_code_where_it_ranks_itself_as_hard) {
  EXPECT_TRUE(parsed(R"({"hypothesis": "h", "difficulty": "hard"})").hard);
  EXPECT_EQ(error(R"({"hypothesis": "h", "difficulty": "easy"})"), "no_code");
}

TEST(Answer, without_what_was_asked_for_says_what_is_missing) {
  EXPECT_EQ(error(""), "empty");
  EXPECT_EQ(error(" \r\n\t "), "empty");
  EXPECT_EQ(error(std::string("\0\0", 2)), "empty");
  EXPECT_EQ(error("<think>long</think>"), "empty");
  EXPECT_EQ(error("I cannot help with that."), "no_object");
  EXPECT_EQ(error(kBlock), "no_object");
  EXPECT_EQ(error("{\"score\": 3}" + kBlock), "no_object");
  EXPECT_EQ(error(with_code("{\"hypothesis\": \"h\" \"edits\": []}")), "invalid_json");
  EXPECT_EQ(error(with_code("{\"hypothesis\": }")), "invalid_json");
  EXPECT_EQ(error(kObject + "```python\nimport torch\ndef f(x):\n  return x\n```"), "wrong_language");
  EXPECT_EQ(error(kObject + "```\n@triton.jit\ndef k(x):\n  tl.store(x, 0); {}\n```"), "wrong_language");
  EXPECT_EQ(error(R"x({"hypothesis": "h", "source": "print('x')"})x"), "wrong_language");
  EXPECT_EQ(error(kObject + "```cpp\n" + kFile), "truncated");
  EXPECT_EQ(error(kObject + "<<<<<<< SEARCH\na\n=======\nb\n"), "truncated");
  EXPECT_EQ(error(kObject + "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n"), "truncated");
  EXPECT_EQ(error("{\"hypothesis\": \"h\", \"source\": \"void f() {"), "truncated");
}

// The parser tells it as no error of parsing.
TEST(Answer, with_a_number_beyond_any_double_is_a_problem_and_no_end) {
  for (const char* member : {R"("expected_speedup": 1e999)", R"("tunables": [{"name": "A", "values": [1, -1e400]}])"}) {
    auto answer = parse_answer(std::string("{\"hypothesis\": \"h\", ") + member + "}\n" + kBlock);
    ASSERT_FALSE(answer) << member;
    EXPECT_EQ(name(answer.error().error), "invalid_json") << answer.error().message;
  }
}

TEST(Answer, with_an_impossible_member_names_it) {
  const auto message = [](const std::string& member) {
    const auto answer = parse_answer(with_code("{\"hypothesis\": \"h\", " + member + "}"));
    EXPECT_TRUE(!answer && answer.error().error == AnswerError::invalid_member) << member;
    return answer ? std::string() : answer.error().message;
  };
  EXPECT_THAT(message(R"("expected_speedup": "2x")"), HasSubstr("\"expected_speedup\" is \"2x\""));
  EXPECT_THAT(message(R"("expected_speedup": -1)"), HasSubstr("expected_speedup"));
  EXPECT_THAT(message(R"("difficulty": "medium")"), HasSubstr("\"easy\" or \"hard\""));
  EXPECT_THAT(message(R"("tunables": {"A": [1]})"), HasSubstr("tunables"));
  EXPECT_THAT(message(R"("tunables": [{"name": "A B", "values": [1]}])"), HasSubstr("A B"));
  EXPECT_THAT(message(R"("tunables": [{"name": "A", "values": []}])"), HasSubstr("values"));
  EXPECT_THAT(message(R"("tunables": [{"name": "A", "values": [1, 1]}])"), HasSubstr("twice"));
  EXPECT_THAT(message(R"("tunables": [{"name": "A", "values": [1]}, {"name": "A", "values": [1]}])"),
              HasSubstr("twice"));
  EXPECT_THAT(message(R"("tunables": [{"name": "A", "values": [1e300]}])"), HasSubstr("integer"));
  EXPECT_THAT(message(R"("constraints": ["A ="])"), HasSubstr("constraints"));
  EXPECT_THAT(message(R"("launch": {"grid": ["n"]})"), HasSubstr("no \"block\""));
  EXPECT_THAT(message(R"("launch": {"grid": ["n +"], "block": [1]})"), HasSubstr("launch/grid"));
  EXPECT_THAT(message(R"("launch": {"grid": [1, 1, 1, 1], "block": [1]})"), HasSubstr("1 to 3"));
  EXPECT_THAT(message(R"("edits": [{"search": "a"}])"), HasSubstr("no \"replace\""));
  EXPECT_THAT(message(R"("source": 3)"), HasSubstr("source"));
}

TEST(Answer, cut_at_any_byte_ends_in_an_outcome) {
  for (const std::string& whole :
       {"Prose. ```json\n" + kObject + "```\n" + kBlock, kObject + "```cuda\n" + kFile + "```\n",
        std::string(R"({"hypothesis": "h", "edits": [{"search": "é\u00e9", "replace": "\\"}], "source": null})")}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto answer = parse_answer(whole.substr(0, length));
      EXPECT_TRUE(answer || !answer.error().message.empty());
      // What is read from a part is never a part of the code.
      if (!answer) continue;
      const Answer full = parsed(whole);
      EXPECT_TRUE(answer->edits.empty() || answer->edits.back().search == full.edits.back().search) << length;
      EXPECT_TRUE(!answer->source || answer->source == full.source) << length;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      for (const char c : {'\0', '{', '"', '\\', '\xff', '`', '<', '\n'}) {
        changed[i] = c;
        (void)parse_answer(changed);
      }
    }
  }
}

TEST(Answer, of_ten_megabytes_is_refused_unread) {
  EXPECT_EQ(error(std::string(10 << 20, 'x')), "too_large");
  EXPECT_EQ(error(kObject + std::string(10 << 20, '{')), "too_large");
}

TEST(Answer, of_a_megabyte_of_one_sign_is_read_in_one_pass) {
  for (const std::string unit : {"{", "{\"a\":", "{\"hypothesis\":\"", "[", "```\n", "<<<<<<< SEARCH\n", "\\", "\"",
                                 "“", "{\"hypothesis\": {", "@@ \n", "/*", "}", "\xff", "'"}) {
    std::string text;
    while (text.size() + unit.size() <= kLargestAnswer) text += unit;
    EXPECT_THAT(error(text), testing::AnyOf("no_object", "truncated", "invalid_json", "empty")) << unit;
    EXPECT_NE(error("{\"hypothesis\": \"h\"}" + text.substr(0, kLargestAnswer - 100)), "") << unit;
  }
}

}  // namespace
}  // namespace kagent::proposer
