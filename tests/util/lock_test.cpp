// SPDX-License-Identifier: Apache-2.0
#include "util/lock.h"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/files.h"

namespace kagent::util {
namespace {

namespace fs = std::filesystem;

bool is_free(const fs::path& file) {
  return FileLock::acquire(file, "somebody else", {}, [] { return true; }).has_value();
}

TEST(FileLock, excludes_a_second_holder_until_it_is_destroyed) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lock";
  {
    const auto first = FileLock::acquire(file, "first");
    ASSERT_TRUE(first);
    EXPECT_FALSE(is_free(file));
  }
  EXPECT_TRUE(is_free(file));
}

TEST(FileLock, stays_held_after_a_move) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lock";
  auto first = FileLock::acquire(file, "first");
  const FileLock moved = std::move(*first);
  EXPECT_FALSE(is_free(file));
}

TEST(FileLock, tells_a_waiter_once_who_holds_it) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lock";
  std::optional<FileLock> first = std::move(*FileLock::acquire(file, "tuning\nsoftmax"));
  std::vector<std::string> holders;
  const auto second = FileLock::acquire(file, "second", [&](const std::string& holder) {
    holders.push_back(holder);
    first.reset();
  });
  ASSERT_TRUE(second);
  EXPECT_EQ(holders, std::vector{std::to_string(::getpid()) + " tuning softmax"});
}

TEST(FileLock, is_free_after_its_holder_was_killed) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lock";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = FileLock::acquire(file, "child");
    if (held && ::write(ready[1], "x", 1) == 1)
      while (true) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(is_free(file));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_free(file));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FileLock, lets_only_one_of_many_threads_in_at_a_time) {
  const TemporaryFolder folder;
  std::atomic<int> inside{0};
  std::atomic<int> entered{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        const auto held = FileLock::acquire(folder.path() / "lock", "thread");
        EXPECT_EQ(++inside, 1);
        ++entered;
        --inside;
      });
  }
  EXPECT_EQ(entered, 8);
}

TEST(FileLock, is_not_fooled_by_a_lock_file_that_was_deleted_and_made_again) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lock";
  std::optional<FileLock> first = std::move(*FileLock::acquire(file, "first"));
  std::optional<FileLock> other;
  const auto second = FileLock::acquire(file, "second", [&](const std::string&) {
    if (other) return;
    fs::remove(file);
    other = std::move(*FileLock::acquire(file, "other"));
    first.reset();
    std::thread([&] { other.reset(); }).join();
  });
  ASSERT_TRUE(second);
  EXPECT_FALSE(is_free(file));
}

TEST(FileLock, names_the_file_that_cannot_be_made) {
  const auto lock = FileLock::acquire("/nonexistent/lock", "x");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().message, "cannot lock '/nonexistent/lock': No such file or directory");
}

}  // namespace
}  // namespace kagent::util
