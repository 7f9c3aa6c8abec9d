// SPDX-License-Identifier: Apache-2.0
#include "runner/call_filter.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <sys/syscall.h>

#include "runner/protocol.h"

namespace kagent::runner {
namespace {

TEST(CallFilter, programs_are_whole_instructions_and_fit_the_start_block) {
  for (const auto& program : {start_filter(), call_filter()}) {
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_FALSE(program->empty());
    EXPECT_EQ(program->size() % sizeof(sock_filter), 0u);
    EXPECT_LE(program->size() / sizeof(sock_filter), protocol::kMostInstructions);
  }
}

TEST(CallFilter, the_process_number_is_left_open_in_one_place) {
  const auto program = call_filter();
  ASSERT_TRUE(program);
  const auto* const instructions = reinterpret_cast<const sock_filter*>(program->data());
  int places = 0;
  for (std::size_t i = 0; i < program->size() / sizeof(sock_filter); ++i)
    places += instructions[i].k == protocol::kOwnPidPlaceholder;
  EXPECT_EQ(places, 1);
}

TEST(CallFilter, system_calls_have_names) {
  EXPECT_EQ(system_call_name(SYS_socket), "socket");
  EXPECT_EQ(system_call_name(99'999), "system call 99999");
}

}  // namespace
}  // namespace kagent::runner
