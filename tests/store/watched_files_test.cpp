// SPDX-License-Identifier: Apache-2.0
#include "store/watched_files.h"

#include <map>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "store/repository_fixture.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Not;

// A build looks again when a watched path is newer than its output, or gone: that is what is asked here.
class WatchedFilesTest : public RepositoryTest {
 protected:
  WatchedFilesTest() { make(folder.path() / "build"); }

  // Sets every watched path back in time, acts, and answers whether a build would look again.
  bool is_stale_after(VariantStore& store, const std::function<void()>& act, bool remote = false) {
    const auto paths = store.watched_files("softmax", "x86-64-v3", remote);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const fs::path& path : paths) {
      EXPECT_TRUE(fs::exists(path)) << path;
      fs::last_write_time(path, old);
    }
    act();
    for (const fs::path& path : paths)
      if (!fs::exists(path) || fs::last_write_time(path) > old + std::chrono::minutes(1)) return true;
    return false;
  }
};

TEST_F(WatchedFilesTest, show_a_first_variant_and_later_ones) {
  VariantStore store = open();
  EXPECT_TRUE(is_stale_after(store, [&] { add(store, example("int a;\n")); }));
  EXPECT_TRUE(is_stale_after(store, [&] { add(store, example("int b;\n")); }));
}

TEST_F(WatchedFilesTest, show_branches_that_git_makes_and_deletes) {
  VariantStore store = open();
  const std::string branch = add(store, example());
  git("branch saved " + branch + " && git branch -q -D " + branch);
  EXPECT_TRUE(is_stale_after(store, [&] { git("branch " + branch + " saved"); }));
  EXPECT_TRUE(is_stale_after(store, [&] { git("branch -q -D " + branch); }));
  git("branch " + branch + " saved && git pack-refs --all --prune");
  EXPECT_TRUE(is_stale_after(store, [&] { git("branch -q -D " + branch); }));
}

TEST_F(WatchedFilesTest, show_checkouts_and_merges_of_variants) {
  VariantStore store = open();
  const std::string branch = add(store, example());
  EXPECT_TRUE(is_stale_after(store, [&] { git("checkout -q " + branch); }));
  EXPECT_TRUE(is_stale_after(store, [&] { git("checkout -q main"); }));
  EXPECT_TRUE(is_stale_after(store, [&] { git("merge -q --no-ff -m merge " + branch); }));
  const fs::path source = root / "variants/softmax/x86-64-v3/softmax.cpp";
  EXPECT_THAT(store.watched_files("softmax", "x86-64-v3", false), Contains(source));
}

TEST_F(WatchedFilesTest, show_rollbacks_of_variants_that_only_came_by_fetch) {
  VariantStore origin = open();
  add(origin, example());
  git_in(folder.path(),
         "clone -q project clone && git -C clone fetch -q origin 'refs/heads/kagent/*:refs/heads/kagent/*'");
  VariantStore clone = open(folder.path() / "clone");
  EXPECT_TRUE(is_stale_after(clone, [&] { ASSERT_TRUE(clone.roll_back("softmax", "x86-64-v3", 0)); }));
}

TEST_F(WatchedFilesTest, show_fetches_only_when_remote_variants_are_asked_for) {
  git_in(folder.path(), "clone -q project clone");
  VariantStore origin = open(), clone = open(folder.path() / "clone");
  const auto fetch = [&] { git_in(folder.path() / "clone", "fetch -q"); };
  add(origin, example("int a;\n"));
  EXPECT_TRUE(is_stale_after(clone, fetch, true));
  add(origin, example("int b;\n"));
  EXPECT_TRUE(is_stale_after(clone, fetch, true));
  add(origin, example("int c;\n"));
  EXPECT_FALSE(is_stale_after(clone, fetch, false));
}

TEST_F(WatchedFilesTest, stay_quiet_while_nothing_of_the_kernel_changes) {
  VariantStore store = open();
  add(store, example());
  EXPECT_FALSE(is_stale_after(store,
                              [&] {
                                git("status && git log -1 && git branch --list && git diff");
                                static_cast<void>(store.list("softmax", "x86-64-v3", VariantPlace::local_branch));
                                static_cast<void>(open().watched_files("softmax", "x86-64-v3", true));
                                write(root / "kernels/softmax.cpp", "int edited;\n");
                                write(root / ".git/kagent/trials.sqlite", "");
                              }) &&
               !fs::exists(root / "build"));
}

TEST_F(WatchedFilesTest, leave_out_the_folder_that_is_also_the_build_folder) {
  auto store = VariantStore::open(root, root);
  ASSERT_TRUE(store);
  EXPECT_THAT(store->watched_files("softmax", "x86-64-v3", false), Not(Contains(root)));
}

}  // namespace
}  // namespace kagent::store
