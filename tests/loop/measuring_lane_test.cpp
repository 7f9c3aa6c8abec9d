// SPDX-License-Identifier: Apache-2.0
#include "loop/measuring_lane.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/files.h"

namespace kagent::loop {
namespace {

TEST(LaneFolder, BelongsToThisUserAndNobodyElseMayWriteThere) {
  const auto folder = lane_folder();
  ASSERT_TRUE(folder) << folder.error().message;
  struct stat status {};
  ASSERT_EQ(::lstat(folder->c_str(), &status), 0);
  EXPECT_TRUE(S_ISDIR(status.st_mode));
  EXPECT_EQ(status.st_uid, ::getuid());
  EXPECT_EQ(status.st_mode & (S_IWGRP | S_IWOTH), 0U);
}

TEST(MeasuringLane, IsHeldByOneProcessAtATime) {
  const util::TemporaryFolder folder("lane");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  int done[2];
  ASSERT_EQ(::pipe(done), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    // Holds the lane until it is told to end.
    char byte = 0;
    const auto lane = MeasuringLane::enter(folder.path(), "the other one", {});
    if (::write(ready[1], "r", 1) != 1) ::_exit(2);
    ::close(done[1]);
    const auto got = ::read(done[0], &byte, 1);
    ::_exit(lane && got == 1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::string holder;
  const auto lane = MeasuringLane::enter(folder.path(), "this one", [&](const std::string& line) {
    holder = line;
    EXPECT_EQ(::write(done[1], "d", 1), 1);
  });
  EXPECT_TRUE(lane);
  EXPECT_THAT(holder, testing::HasSubstr("the other one"));
  int status = 0;
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int end : {ready[0], ready[1], done[0], done[1]}) ::close(end);
}

TEST(MeasuringLane, OfOneGpuIsNotThatOfAnotherNorOfTheCpu) {
  const util::TemporaryFolder folder("lane");
  const auto enter = [&](const std::string& uuid) {
    return MeasuringLane::enter_device(uuid, folder.path(), "measuring", {}, [] { return true; });
  };
  const auto cpu = MeasuringLane::enter(folder.path(), "measuring", {}, [] { return true; });
  const auto first = enter("GPU-1"), second = enter("GPU-2");
  EXPECT_TRUE(cpu && first && second);
  EXPECT_FALSE(enter("GPU-1"));
  EXPECT_FALSE(enter(""));
  EXPECT_FALSE(enter("../GPU-3"));
}

TEST(MeasuringLane, LetsThoseWhoWaitGoFirst) {
  const util::TemporaryFolder folder("lane");
  int waits[2], entered[2];
  ASSERT_EQ(::pipe(waits), 0);
  ASSERT_EQ(::pipe(entered), 0);
  auto held = std::optional(MeasuringLane::enter(folder.path(), "first", {}));
  ASSERT_TRUE(*held);
  const pid_t other = ::fork();
  if (other == 0) {
    held.reset();  // the copy of the descriptor that fork() made; the parent still holds the lock
    const auto lane = MeasuringLane::enter(folder.path(), "waiting", [&](const std::string&) {
      if (::write(waits[1], "w", 1) != 1) ::_exit(2);
    });
    ::_exit(lane && ::write(entered[1], "e", 1) == 1 ? 0 : 1);
  }
  ::close(entered[1]);
  char byte = 0;
  ASSERT_EQ(::read(waits[0], &byte, 1), 1);
  // Leaves and comes back at once: the other one has been in before.
  held.reset();
  const auto again = MeasuringLane::enter(folder.path(), "again", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(::read(entered[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'e');
  int status = 0;
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int end : {waits[0], waits[1], entered[0]}) ::close(end);
}

TEST(AllowedCpus, AreSomeAndInOrder) {
  const std::vector<int> cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
}

class Threads : public testing::Test {
 protected:
  Binary program(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_.path() / name) << contents;
    return {folder_.path() / name, {}, {}};
  }
  util::TemporaryFolder folder_{"lane"};
};

TEST_F(Threads, AreSeenInWhatTheProgramRefersTo) {
  EXPECT_TRUE(may_use_threads(program("a",
                                      "\x7f"
                                      "ELF...libgomp.so.1..."))
                  .value());
  EXPECT_TRUE(may_use_threads(program("b",
                                      "\x7f"
                                      "ELF...pthread_create..."))
                  .value());
  EXPECT_FALSE(may_use_threads(program("c",
                                       "\x7f"
                                       "ELF...memcpy..."))
                   .value());
  EXPECT_FALSE(may_use_threads({folder_.path() / "missing", {}, {}}));
}

TEST_F(Threads, DecideBetweenOneCpuAndAll) {
  const Binary single = program("single", "memcpy"), parallel = program("parallel", "libgomp.so.1");
  EXPECT_EQ(measuring_cpus({single, single}).value(), std::vector<int>{allowed_cpus().back()});
  EXPECT_EQ(measuring_cpus({single, parallel}).value(), allowed_cpus());
}

}  // namespace
}  // namespace kagent::loop
