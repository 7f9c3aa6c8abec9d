// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/subprocess.h"

namespace kagent::runner {
namespace {

// A call of a library function would reach a candidate's function of the same name.
TEST(Runtime, calls_nothing_but_the_entry) {
  util::Command command;
  command.argv = {KAGENT_NM, "-u", "-A", "-P", KAGENT_RUNTIME};
  command.environment = util::minimal_environment();
  const auto listed = util::run(command);
  ASSERT_TRUE(listed && listed->ok());
  std::size_t start = 0;
  while (start < listed->standard_output.size()) {
    const std::size_t end = listed->standard_output.find('\n', start);
    const std::string line = listed->standard_output.substr(start, end - start);
    EXPECT_THAT(line, testing::AnyOf(testing::HasSubstr(": kagent_call U"), testing::HasSubstr(": _ZN6kagent6runner")));
    start = end + 1;
  }
}

}  // namespace
}  // namespace kagent::runner
