// SPDX-License-Identifier: Apache-2.0
#include "util/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::util {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::string& source) {
  std::vector<std::string> result;
  for (const Token& token : lex(source).tokens) result.push_back(token.text);
  return result;
}

std::vector<int> lines(const std::string& source) {
  std::vector<int> result;
  for (const Token& token : lex(source).tokens) result.push_back(token.line);
  return result;
}

TEST(Lexer, drops_comments) {
  EXPECT_THAT(texts("a // b \n c /* d \n */ e"), ElementsAre("a", "c", "e"));
  EXPECT_THAT(texts("/* never closed"), IsEmpty());
  EXPECT_THAT(texts("a /*/ b */ c"), ElementsAre("a", "c"));
}

TEST(Lexer, joins_lines_that_are_continued_even_within_a_name_or_comment) {
  EXPECT_THAT(texts("fo\\\npen(\\  \nx)"), ElementsAre("fopen", "(", "x", ")"));
  EXPECT_THAT(texts("// a \\\n b \n c"), ElementsAre("c"));
  EXPECT_THAT(texts("/\\\n/ comment \n a"), ElementsAre("a"));
}

TEST(Lexer, counts_lines_through_continuations_comments_and_raw_strings) {
  EXPECT_THAT(lines("a\n\\\nb /*\n*/ c R\"(\n\n)\" d"), ElementsAre(1, 3, 4, 4, 6));
}

TEST(Lexer, keeps_what_is_in_strings_in_one_token) {
  EXPECT_THAT(texts(R"(u8"a\"b//c" 'x' '"' L"w" "/*" d)"),
              ElementsAre(R"(u8"a\"b//c")", "'x'", "'\"'", "L\"w\"", "\"/*\"", "d"));
}

TEST(Lexer, ends_raw_strings_at_their_own_end_and_continues_no_line_in_them) {
  EXPECT_THAT(texts("R\"x(a)\" \\\n )y\" )x\" b"), ElementsAre("R\"x(a)\" \\\n )y\" )x\"", "b"));
  EXPECT_THAT(texts("R\"(never closed"), ElementsAre("R\"(never closed"));
  EXPECT_THAT(texts("R\"never opened"), ElementsAre("R\"never opened"));
}

TEST(Lexer, ends_a_string_that_is_not_closed_with_its_line) {
  EXPECT_THAT(texts("\"a\nb"), ElementsAre("\"a", "b"));
}

TEST(Lexer, takes_digraphs_for_what_they_mean) {
  EXPECT_THAT(texts("%: %:%: <% %> <: :>"), ElementsAre("#", "##", "{", "}", "[", "]"));
  EXPECT_THAT(texts("a<::b>"), ElementsAre("a", "<", "::", "b", ">"));
  EXPECT_THAT(texts("a<:::b:>"), ElementsAre("a", "[", "::", "b", "]"));
}

TEST(Lexer, reports_trigraphs_outside_of_comments) {
  EXPECT_EQ(lex("a\n?\?=define").trigraph_line, 2);
  EXPECT_EQ(lex("\"?\?/\"").trigraph_line, 1);
  EXPECT_EQ(lex("// why?\?/\n").trigraph_line, 1);
  EXPECT_EQ(lex("/* why?\?! */ // why?\?)\n a ? b : c").trigraph_line, 0);
}

TEST(Lexer, takes_numbers_whole) {
  EXPECT_THAT(texts("1'000'000 0x1.8p-3 1e+5f .5 a.b 3..2 1'a"),
              ElementsAre("1'000'000", "0x1.8p-3", "1e+5f", ".5", "a", ".", "b", "3..2", "1'a"));
}

TEST(Lexer, takes_a_headers_name_whole) {
  EXPECT_THAT(texts("#include <a//b.h>\n#include \"c.h\"\nx < y"),
              ElementsAre("#", "include", "<a//b.h>", "#", "include", "\"c.h\"", "x", "<", "y"));
}

TEST(Lexer, knows_where_directives_begin) {
  const auto tokens = lex("a # b\n  # c /* \n */ d\ne").tokens;
  EXPECT_FALSE(tokens[1].starts_line);
  EXPECT_TRUE(tokens[3].starts_line);
  EXPECT_FALSE(tokens[5].starts_line);
  EXPECT_TRUE(tokens[6].starts_line);
}

TEST(Lexer, takes_any_bytes) {
  EXPECT_THAT(texts(""), IsEmpty());
  EXPECT_THAT(texts(std::string("\0\0", 2)), IsEmpty());
  EXPECT_EQ(lex(std::string(500'000, '(')).tokens.size(), 500'000u);
  EXPECT_EQ(lex(std::string(500'000, '\\')).tokens.size(), 500'000u);
  std::string continued;
  for (int i = 0; i < 200'000; ++i) continued += "\\\n";
  EXPECT_THAT(texts(continued + "a"), ElementsAre("a"));
}

}  // namespace
}  // namespace kagent::util
