// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kagent::util {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ReadFile, gives_what_was_written_byte_for_byte) {
  const TemporaryFolder folder;
  std::string contents("a\0b\r\n\xFF", 6);
  contents.append(100'000, 'x');
  ASSERT_TRUE(write_file_atomically(folder.path() / "f", contents));
  EXPECT_EQ(read_file(folder.path() / "f").value(), contents);
}

TEST(ReadFile, reads_an_empty_file) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "f", ""));
  EXPECT_EQ(read_file(folder.path() / "f").value(), "");
}

TEST(ReadFile, reads_files_of_proc_which_say_that_they_are_empty) {
  EXPECT_NE(read_file("/proc/self/status").value().find("Name:"), std::string::npos);
}

TEST(ReadFile, names_the_path_and_the_reason_when_there_is_no_file) {
  const auto contents = read_file("/nonexistent/file");
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().message, "cannot read '/nonexistent/file': No such file or directory");
}

TEST(ReadFile, refuses_a_folder_and_a_named_pipe_instead_of_hanging) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_file(folder.path()));
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_file(folder.path() / "pipe"));
}

TEST(WriteFileAtomically, never_shows_a_part_to_a_reader) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  const std::string a(300'000, 'a'), b(200'000, 'b');
  ASSERT_TRUE(write_file_atomically(file, a));
  std::jthread writer([&](const std::stop_token& stop) {
    for (bool first = false; !stop.stop_requested(); first = !first) (void)write_file_atomically(file, first ? a : b);
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(file).value();
    ASSERT_TRUE(seen == a || seen == b);
  }
}

TEST(WriteFileAtomically, lets_many_writers_of_one_file_finish_and_leaves_nothing_beside_it) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i) writers.emplace_back([&] { EXPECT_TRUE(write_file_atomically(file, "the same")); });
  }
  EXPECT_EQ(read_file(file).value(), "the same");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(WriteFileAtomically, leaves_nothing_behind_when_it_fails) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "f" / "full");
  EXPECT_FALSE(write_file_atomically(folder.path() / "f", "x"));
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(WriteFileAtomically, keeps_the_permissions_of_the_file_it_replaces) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  ASSERT_TRUE(write_file_atomically(file, "a"));
  fs::permissions(file, fs::perms::owner_all);
  ASSERT_TRUE(write_file_atomically(file, "b"));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_all);
}

TEST(WriteFileAtomically, writes_through_a_link_and_keeps_it) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "real", "a"));
  fs::create_symlink("real", folder.path() / "link");
  ASSERT_TRUE(write_file_atomically(folder.path() / "link", "b"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_file(folder.path() / "real").value(), "b");
}

TEST(WriteFileIfDifferent, leaves_an_equal_file_and_its_time_stamp_alone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  EXPECT_TRUE(write_file_if_different(file, "a").value());
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(file, long_ago);
  EXPECT_FALSE(write_file_if_different(file, "a").value());
  EXPECT_EQ(fs::last_write_time(file), long_ago);
  EXPECT_TRUE(write_file_if_different(file, "b").value());
  EXPECT_EQ(read_file(file).value(), "b");
}

TEST(TemporaryFolder, is_gone_with_its_contents_even_read_only_ones) {
  fs::path path;
  {
    const TemporaryFolder folder("some-test");
    path = folder.path();
    fs::create_directories(path / "a" / "b");
    ASSERT_TRUE(write_file_atomically(path / "a" / "b" / "f", "x"));
    fs::permissions(path / "a" / "b", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(path.filename().string().rfind("some-test-", 0), 0u);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, is_removed_once_after_a_move) {
  TemporaryFolder first;
  const fs::path path = first.path();
  {
    const TemporaryFolder second(std::move(first));
    EXPECT_EQ(second.path(), path);
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace kagent::util
