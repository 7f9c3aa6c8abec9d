// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "store/repository_fixture.h"
#include "store/variant_name.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RollbackTest : public RepositoryTest {
 protected:
  RollbackTest() {
    VariantStore store = open();
    for (const char* source : {"int a;\n", "int b;\n", "int c;\n"}) branches.push_back(add(store, example(source)));
  }
  static std::vector<int> generations(const Result<std::vector<Hold>>& holds) {
    if (!holds) throw std::runtime_error(holds.error().message);
    std::vector<int> result;
    for (const Hold& hold : *holds) result.push_back(hold.generation);
    std::sort(result.begin(), result.end());
    return result;
  }
  std::vector<std::string> branches;
};

TEST_F(RollbackTest, holds_what_is_above_and_touches_no_branch) {
  const std::string before = untouched() + git("for-each-ref");
  VariantStore store = open();
  EXPECT_THAT(generations(store.roll_back("softmax", "x86-64-v3", 1)), ElementsAre(2, 3));
  EXPECT_EQ(untouched() + git("for-each-ref"), before);
  // Another process sees it, also after git has tidied up.
  git("gc -q --prune=now");
  auto holds = open().holds("softmax", "x86-64-v3");
  EXPECT_THAT(generations(holds), ElementsAre(2, 3));
  EXPECT_THAT(open().holds("softmax", "x86-64")->size(), 0u);
  EXPECT_THAT(holds->front().since, testing::EndsWith("Z"));
}

TEST_F(RollbackTest, goes_down_to_the_baseline_and_up_again) {
  VariantStore store = open();
  EXPECT_THAT(generations(store.roll_back("softmax", "x86-64-v3", 0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(generations(store.roll_back("softmax", "x86-64-v3", 2)), ElementsAre(3));
  EXPECT_EQ(*store.release("softmax", "x86-64-v3"), 1);
  EXPECT_EQ(*store.release("softmax", "x86-64-v3"), 0);
  EXPECT_THAT(generations(store.holds("softmax", "x86-64-v3")), IsEmpty());
}

TEST_F(RollbackTest, lets_later_generations_in_but_not_the_same_source_again) {
  VariantStore store = open();
  ASSERT_TRUE(store.roll_back("softmax", "x86-64-v3", 1));
  add(store, example("int d;\n"));
  add(store, example("int c;\n"));
  const auto holds = *store.holds("softmax", "x86-64-v3");
  const auto variants = *store.list("softmax", "x86-64-v3", VariantPlace::local_branch);
  std::vector<int> free;
  for (const Variant& variant : variants)
    if (std::none_of(holds.begin(), holds.end(),
                     [&](const Hold& hold) { return hold.source_hash == variant.evidence.source_hash; }))
      free.push_back(variant.evidence.generation);
  EXPECT_THAT(free, ElementsAre(4, 1));
}

TEST_F(RollbackTest, keeps_the_holds_of_other_kernels) {
  VariantStore store = open();
  NewVariant other = example();
  other.evidence.kernel = "other";
  add(store, other);
  ASSERT_TRUE(store.roll_back("other", "x86-64-v3", 0));
  ASSERT_TRUE(store.roll_back("softmax", "x86-64-v3", 0));
  ASSERT_TRUE(store.release("softmax", "x86-64-v3"));
  EXPECT_THAT(generations(store.holds("other", "x86-64-v3")), ElementsAre(1));
}

TEST_F(RollbackTest, touches_the_stamp) {
  VariantStore store = open();
  const fs::path stamp = store.state_folder() / "stamp";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(stamp, old);
  ASSERT_TRUE(store.roll_back("softmax", "x86-64-v3", 1));
  EXPECT_GT(fs::last_write_time(stamp), old + std::chrono::minutes(1));
  fs::last_write_time(stamp, old);
  ASSERT_TRUE(store.release("softmax", "x86-64-v3"));
  EXPECT_GT(fs::last_write_time(stamp), old + std::chrono::minutes(1));
}

TEST_F(RollbackTest, names_a_damaged_record_instead_of_building_what_was_taken_back) {
  write(root / ".git/kagent/holds.json", "{\"format\": 1, \"holds\": [{]}");
  auto holds = open().holds("softmax", "x86-64-v3");
  ASSERT_FALSE(holds);
  EXPECT_THAT(holds.error().message, HasSubstr("holds.json"));
  EXPECT_THAT(holds.error().fix, HasSubstr("delete it"));
  write(root / ".git/kagent/holds.json", "{\"format\": 2, \"holds\": []}");
  EXPECT_FALSE(open().holds("softmax", "x86-64-v3"));
}

TEST_F(RollbackTest, loses_no_hold_when_processes_roll_back_at_once) {
  constexpr int kProcesses = 6;
  for (int i = 0; i < kProcesses; ++i) {
    VariantStore store = open();
    NewVariant variant = example();
    variant.evidence.kernel = "k" + std::to_string(i);
    add(store, variant);
  }
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i)
    children.push_back(start_process([&, i] {
      if (auto done = open().roll_back("k" + std::to_string(i), "x86-64-v3", 0); !done)
        throw std::runtime_error(done.error().message);
    }));
  for (pid_t child : children) EXPECT_TRUE(ended_well(child));
  for (int i = 0; i < kProcesses; ++i)
    EXPECT_THAT(generations(open().holds("k" + std::to_string(i), "x86-64-v3")), ElementsAre(1));
}

class PromoteTest : public RollbackTest {
 protected:
  Variant variant(int i) { return *open().find(branches.at(i)); }
  fs::path in_tree = root / "variants/softmax/x86-64-v3";
};

TEST_F(PromoteTest, writes_the_two_files_for_review) {
  VariantStore store = open();
  auto files = store.promote(variant(1));
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(*files, ElementsAre(in_tree / "softmax.cpp", in_tree / "variant.json"));
  EXPECT_EQ(read(in_tree / "softmax.cpp"), "int b;\n");
  EXPECT_EQ(git("show " + branches[1] + ":variants/softmax/x86-64-v3/variant.json") + "\n",
            read(in_tree / "variant.json"));
  auto listed = store.list("softmax", "x86-64-v3", VariantPlace::working_tree);
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(git("status --porcelain"), "?? variants/");
  EXPECT_TRUE(store.promote(variant(2))) << "an unedited file may be replaced";
  EXPECT_EQ(read(in_tree / "softmax.cpp"), "int c;\n");
}

TEST_F(PromoteTest, keeps_a_file_that_was_edited_there_unless_forced) {
  VariantStore store = open();
  ASSERT_TRUE(store.promote(variant(1)));
  write(in_tree / "softmax.cpp", "int mine;\n");
  auto refused = store.promote(variant(2));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("softmax.cpp' was edited"));
  EXPECT_THAT(refused.error().fix, HasSubstr("--force"));
  EXPECT_EQ(read(in_tree / "softmax.cpp"), "int mine;\n");
  ASSERT_TRUE(store.promote(variant(2), true));
  EXPECT_EQ(read(in_tree / "softmax.cpp"), "int c;\n");
}

TEST_F(PromoteTest, keeps_files_that_it_cannot_know_unless_forced) {
  VariantStore store = open();
  write(in_tree / "softmax.cpp", "int somebody_elses;\n");
  EXPECT_FALSE(store.promote(variant(1)));
  fs::remove(in_tree / "softmax.cpp");
  write(in_tree / "variant.json", "not json");
  EXPECT_FALSE(store.promote(variant(1)));
  EXPECT_TRUE(store.promote(variant(1), true));
}

TEST_F(PromoteTest, goes_on_where_it_was_interrupted_between_the_two_files) {
  VariantStore store = open();
  ASSERT_TRUE(store.promote(variant(1)));
  write(in_tree / "softmax.cpp", "int c;\n");
  EXPECT_TRUE(store.promote(variant(2)));
}

TEST_F(PromoteTest, writes_through_no_link) {
  const fs::path target = folder.path() / "target";
  make(target);
  make(root / "variants");
  fs::create_directory_symlink(target, root / "variants/softmax");
  auto refused = open().promote(variant(1), true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("symbolic link"));
  EXPECT_TRUE(fs::is_empty(target));
}

TEST_F(PromoteTest, refuses_a_variant_that_was_edited_on_its_branch) {
  git("checkout -q " + branches[2]);
  write(in_tree / "softmax.cpp", "int edited;\n");
  commit_all("edited");
  git("checkout -q main");
  auto refused = open().promote(variant(2));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("hash differs"));
}

}  // namespace
}  // namespace kagent::store
