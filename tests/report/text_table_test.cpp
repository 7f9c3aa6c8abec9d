// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <gtest/gtest.h>

namespace kagent::report {
namespace {

TEST(TextTable, AlignsColumnsUnderTheirTitles) {
  EXPECT_EQ(
      text_table({{"name"}, {"time", Alignment::right}, {"note"}}, {{"a", "1 us", "x"}, {"longer", "100 us", ""}}),
      "name      time  note\n"
      "a         1 us  x\n"
      "longer  100 us\n");
}

TEST(TextTable, CountsCharactersAndNotBytes) {
  EXPECT_EQ(text_table({{"n"}, {"m"}}, {{"\xc3\xa4", "x"}, {"bb", "y"}}), "n   m\n\xc3\xa4   x\nbb  y\n");
}

TEST(TextTable, TakesShortAndLongRows) {
  EXPECT_EQ(text_table({{"a"}, {"b"}}, {{}, {"1"}, {"1", "2", "3"}}), "a  b\n\n1\n1  2\n");
  EXPECT_EQ(text_table({{"a"}}, {}), "a\n");
}

TEST(TextTable, KeepsHostileCellsInTheirPlace) {
  EXPECT_EQ(text_table({{"a"}, {"b"}}, {{"x\ny\x1b[31m", "z\t\r"}}), "a    b\nx y  z\n");
}

}  // namespace
}  // namespace kagent::report
