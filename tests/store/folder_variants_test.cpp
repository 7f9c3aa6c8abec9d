// SPDX-License-Identifier: Apache-2.0
#include "store/folder_variants.h"

#include <set>

#include <gmock/gmock.h>

#include "store/repository_fixture.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A project from an archive, without git.
class FolderVariantsTest : public RepositoryTest {
 protected:
  FolderVariantsTest() {
    write(plain / "kernels/softmax.cpp", "int baseline;\n");
    make(folder.path() / "build");
  }
  fs::path plain = folder.path() / "plain";
};

TEST_F(FolderVariantsTest, keep_accepted_variants_in_the_state_folder_and_list_them_as_local) {
  VariantStore store = open(plain);
  EXPECT_FALSE(store.has_git());
  EXPECT_EQ(store.state_folder(), folder.path() / "build/kagent/state");
  const std::string first = add(store, example("int a;\n")), second = add(store, example("int b;\n"));
  auto variants = open(plain).list("softmax", "x86-64-v3", VariantPlace::local_branch);
  ASSERT_TRUE(variants) << variants.error().message;
  ASSERT_EQ(variants->size(), 2u);
  EXPECT_EQ(variants->at(0).reference, second);
  EXPECT_EQ(variants->at(0).source, "int b;\n");
  EXPECT_EQ(variants->at(0).evidence.parent, "baseline");
  EXPECT_TRUE(fs::is_regular_file(store.state_folder() / "variants" / second.substr(7) / "variant.json"));
  EXPECT_EQ(store.find(first)->source, "int a;\n");
  EXPECT_THAT(*store.kernels(), ElementsAre("softmax"));
  EXPECT_THAT(*store.architectures("softmax"), ElementsAre("x86-64-v3"));
  EXPECT_EQ(store.list("softmax", "x86-64-v3", VariantPlace::remote_branch)->size(), 0u);
}

TEST_F(FolderVariantsTest, can_be_rolled_back_and_promoted) {
  VariantStore store = open(plain);
  const std::string first = add(store, example("int a;\n"));
  add(store, example("int b;\n"));
  EXPECT_EQ(store.roll_back("softmax", "x86-64-v3", 1)->size(), 1u);
  ASSERT_TRUE(store.promote(*store.find(first)));
  EXPECT_EQ(read(plain / "variants/softmax/x86-64-v3/softmax.cpp"), "int a;\n");
}

TEST_F(FolderVariantsTest, are_numbered_by_several_processes_at_once) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(start_process([&, i] {
      VariantStore store = open(plain);
      for (int j = 0; j < 5; ++j) add(store, example("int v" + std::to_string(i * 10 + j) + ";\n"));
    }));
  for (pid_t child : children) EXPECT_TRUE(ended_well(child));
  std::set<int> generations;
  const VariantStore store = open(plain);
  const auto variants = store.list("softmax", "x86-64-v3", VariantPlace::local_branch);
  for (const Variant& variant : *variants) generations.insert(variant.evidence.generation);
  EXPECT_EQ(generations.size(), 20u);
  EXPECT_EQ(*generations.rbegin(), 20);
}

TEST_F(FolderVariantsTest, are_watched) {
  VariantStore store = open(plain);
  const auto before = store.watched_files("softmax", "x86-64-v3", false);
  EXPECT_THAT(before, testing::Contains(store.state_folder() / "stamp"));
  add(store, example());
  EXPECT_THAT(store.watched_files("softmax", "x86-64-v3", false),
              testing::Contains(store.state_folder() / "variants/softmax/x86-64-v3"));
}

TEST_F(FolderVariantsTest, serve_a_project_in_a_folder_that_the_repository_around_it_ignores) {
  write(root / ".gitignore", "/out/\n");
  commit_all("ignore");
  write(root / "out/dependency/k.cpp", "int k;\n");
  VariantStore store = open(root / "out/dependency");
  EXPECT_FALSE(store.has_git());
  add(store, example());
  EXPECT_EQ(git("branch --list 'kagent/*'"), "");
}

TEST_F(FolderVariantsTest, in_the_working_tree_are_named_when_broken) {
  const fs::path in_tree = plain / "variants/softmax/x86-64-v3";
  const auto broken = [&] {
    std::vector<std::string> lines;
    const auto found = open(plain).list("softmax", "x86-64-v3", VariantPlace::working_tree, &lines);
    EXPECT_TRUE(found && found->empty());
    return lines;
  };
  write(in_tree / "variant.json", "{");
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("variants/softmax/x86-64-v3: variant.json")));
  write(in_tree / "variant.json", to_json(example_evidence()));
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("softmax.cpp")));
  fs::remove(in_tree / "variant.json");
  fs::create_symlink("/dev/zero", in_tree / "variant.json");
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("not a regular file")));
  fs::remove(in_tree / "variant.json");
  EXPECT_TRUE(broken().empty());
  write(in_tree / "variant.json", to_json(example_evidence()));
  write(in_tree / "softmax.cpp", "");
  fs::resize_file(in_tree / "softmax.cpp", 17 << 20);
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("larger than 16 MiB")));
}

TEST_F(FolderVariantsTest, missing_project_is_named) {
  auto store = VariantStore::open(folder.path() / "nowhere", folder.path() / "build");
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace kagent::store
