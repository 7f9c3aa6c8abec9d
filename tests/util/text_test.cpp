// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <gtest/gtest.h>

namespace kagent::util {
namespace {

using Words = std::vector<std::string>;

TEST(Clean, leaves_honest_text_alone) {
  const std::string text = "a.cpp:3:5: error: ‘x’ was not declared\n\t  3 | x;\n日本語 🙂";
  EXPECT_EQ(clean(text), text);
}

TEST(Clean, drops_terminal_escapes_of_every_kind) {
  EXPECT_EQ(clean("\x1B[01;31m\x1B[Kerror:\x1B[m\x1B[K bad"), "error: bad");
  EXPECT_EQ(clean("a\x1B]0;title\x07"
                  "b"),
            "ab");
  EXPECT_EQ(clean("a\x1B]8;;http://x\x1B\\link\x1B]8;;\x1B\\b"), "alinkb");
  EXPECT_EQ(clean("a\x1B(0b\x1B"
                  "cd\x1B=e"),
            "abde");
  EXPECT_EQ(clean("a\x1BP1$r0m\x1B\\b"), "ab");
  EXPECT_EQ(clean("a\xC2\x9B"
                  "31mb"),
            "ab");
}

TEST(Clean, keeps_the_lines_after_an_escape_that_is_never_closed) {
  EXPECT_EQ(clean("a\x1B]0;never closed\nnext\x1B[12"), "a\nnext");
  EXPECT_EQ(clean("a\x1B"), "a");
}

TEST(Clean, drops_control_characters_but_newline_and_tab) {
  EXPECT_EQ(clean(std::string("a\0b\r\n\bc\td\x7F\x01", 11)), "ab\nc\td");
}

TEST(Clean, drops_characters_that_change_the_order_of_text) {
  EXPECT_EQ(clean("a\u202Eb\u2066c"), "abc");
}

TEST(Clean, replaces_invalid_utf8) {
  EXPECT_EQ(clean("a\xFF"
                  "b"),
            "a\uFFFDb");
  EXPECT_EQ(clean("a\xC0\xAF"), "a\uFFFD\uFFFD");          // overlong
  EXPECT_EQ(clean("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(clean("a\xE2\x80"), "a\uFFFD");                // cut in the middle
  EXPECT_EQ(clean("\xF5\x80"), "\uFFFD\uFFFD");
}

TEST(Clean, cuts_at_a_character) {
  EXPECT_EQ(clean("ab\u20AC", 4), "ab");
  EXPECT_EQ(clean("ab\u20AC", 5), "ab\u20AC");
  EXPECT_EQ(clean("abc", 0), "");
}

TEST(Clean, takes_megabytes_on_one_line) {
  EXPECT_EQ(clean(std::string(5'000'000, 'x')).size(), 64u * 1024);
  EXPECT_EQ(clean(std::string(5'000'000, '\x1B')), "");
}

TEST(SplitShellWords, follows_the_shells_quoting) {
  EXPECT_EQ(split_shell_words(R"(g++  -DA="x y" '-DB="q"' -DC=\"z\"	a\ b)"),
            (Words{"g++", "-DA=x y", "-DB=\"q\"", "-DC=\"z\"", "a b"}));
  EXPECT_EQ(split_shell_words(R"("a\b\\c\"d\$e")"), (Words{R"(a\b\c"d$e)"}));
  EXPECT_EQ(split_shell_words(R"('a\'b)"), (Words{R"(a\b)"}));
  EXPECT_EQ(split_shell_words("a\\\nb"), (Words{"ab"}));
}

TEST(SplitShellWords, keeps_empty_words_only_when_quoted) {
  EXPECT_EQ(split_shell_words("  "), Words{});
  EXPECT_EQ(split_shell_words("a '' \"\""), (Words{"a", "", ""}));
}

TEST(SplitShellWords, expands_nothing) {
  EXPECT_EQ(split_shell_words("$HOME `id` *"), (Words{"$HOME", "`id`", "*"}));
}

TEST(SplitShellWords, takes_what_there_is_of_a_broken_line) {
  EXPECT_EQ(split_shell_words("a 'b c"), (Words{"a", "b c"}));
  EXPECT_EQ(split_shell_words("a\\"), (Words{"a\\"}));
}

TEST(QuoteShellWords, is_undone_by_splitting) {
  const Words words{"g++", "", "a b", "it's", "\"q\"", "$x", "a\\b", "-DX=1", "~", "a\nb", "*?", "#"};
  EXPECT_EQ(split_shell_words(quote_shell_words(words)), words);
}

TEST(QuoteShellWords, leaves_plain_words_readable) {
  EXPECT_EQ(quote_shell_words({"g++", "-O3", "-DX=1", "a b"}), "g++ -O3 -DX=1 'a b'");
}

TEST(UtcNow, is_iso_8601_to_the_second) {
  const std::string now = utc_now();
  ASSERT_EQ(now.size(), 20u) << now;
  EXPECT_EQ(now[4], '-');
  EXPECT_EQ(now[10], 'T');
  EXPECT_EQ(now[19], 'Z');
  EXPECT_GE(now, "2024-01-01T00:00:00Z");
}

TEST(Nearest, finds_a_typing_error_and_nothing_far) {
  const Words names{"parameters", "cases", "tolerance", "tunables"};
  EXPECT_EQ(nearest("paramters", names), "parameters");
  EXPECT_EQ(nearest("Case", names), "cases");
  EXPECT_EQ(nearest("tunable", names), "tunables");
  EXPECT_EQ(nearest("flops", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Nearest, does_not_offer_an_unrelated_single_letter) {
  EXPECT_EQ(nearest("a", {"b"}), "");
}

TEST(Nearest, takes_hostile_lengths) {
  EXPECT_EQ(nearest(std::string(1'000'000, 'x'), {"x"}), "");
}

}  // namespace
}  // namespace kagent::util
