// SPDX-License-Identifier: Apache-2.0
#include "store/variant_store.h"

#include <map>
#include <set>

#include <gmock/gmock.h>

#include "store/repository_fixture.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VariantStoreTest : public RepositoryTest {
 protected:
  static std::vector<std::string> references(const VariantStore& store, VariantPlace place = VariantPlace::local_branch,
                                             std::vector<std::string>* broken = nullptr) {
    auto variants = store.list("softmax", "x86-64-v3", place, broken);
    if (!variants) throw std::runtime_error(variants.error().message);
    std::vector<std::string> result;
    for (const Variant& variant : *variants) result.push_back(variant.reference);
    return result;
  }
};

TEST_F(VariantStoreTest, makes_a_branch_and_touches_nothing_else_of_a_dirty_repository) {
  write(root / "staged.txt", "staged\n");
  git("add staged.txt");
  write(root / "other.txt", "edited\n");
  write(root / "untracked.txt", "untracked\n");
  write(root / "kernels/softmax.cpp", "int edited_baseline;\n");
  const std::string before = untouched();
  VariantStore store = open();
  const std::string branch = add(store, example());
  EXPECT_EQ(untouched(), before);
  EXPECT_EQ(branch, "kagent/softmax/x86-64-v3/g001-" + util::sha256("int optimised;\n").substr(0, 8));
  EXPECT_EQ(git("branch --list 'kagent/*' --format='%(refname:short)'"), branch);
  // HEAD's tree, with the kernel's files as they are on disk, and nothing else of the dirt.
  EXPECT_EQ(git("show " + branch + ":kernels/softmax.cpp"), "int edited_baseline;");
  EXPECT_EQ(git("show " + branch + ":other.txt"), "other");
  EXPECT_EQ(git("ls-tree -r --name-only " + branch),
            "golden/softmax/kernel.json\nkernels/softmax.cpp\nother.txt\n"
            "variants/softmax/x86-64-v3/softmax.cpp\nvariants/softmax/x86-64-v3/variant.json");
  EXPECT_EQ(git("show " + branch + ":variants/softmax/x86-64-v3/softmax.cpp"), "int optimised;");
  EXPECT_EQ(git("rev-parse " + branch + "^"), git("rev-parse HEAD"));
  EXPECT_EQ(git("fsck --strict"), "");
}

TEST_F(VariantStoreTest, writes_a_message_for_people) {
  VariantStore store = open();
  const std::string first = add(store, example());
  NewVariant second = example("int faster;\n");
  second.parent_branch = first;
  second.evidence.against_baseline.ratio = 1 / 1.42;
  second.evidence.against_incumbent.ratio = 1 / 1.06;
  const std::string branch = add(store, second);
  EXPECT_EQ(git("log -1 --format=%s " + branch), "softmax x86-64-v3 g002: 1.42x over baseline (1.06x over g001)");
  EXPECT_EQ(git("log -1 --format=%s " + first), "softmax x86-64-v3 g001: 1.42x over baseline");
  const std::string body = git("log -1 --format=%b " + branch);
  for (const char* part : {"larger blocks", "training", "Machine: Some CPU", "training: reference", "BLOCK=128"})
    EXPECT_THAT(body, HasSubstr(part));
  EXPECT_EQ(git("rev-parse " + branch + "^"), git("rev-parse " + first));
}

TEST_F(VariantStoreTest, knows_the_parent_wherever_the_incumbent_lay) {
  VariantStore store = open();
  const std::string first = add(store, example("int a;\n"));
  const auto parents = [&](const std::string& branch) {
    return store.find(branch)->evidence.parent + " " + git("rev-parse " + branch + "^");
  };
  const std::string of_first = first + " " + git("rev-parse " + first);
  NewVariant next = example("int b;\n");
  git("checkout -q " + first);
  next.parent_branch = "variants/softmax/x86-64-v3";
  EXPECT_EQ(parents(add(store, next)), of_first);
  git("checkout -q main && git update-ref refs/remotes/up/stream/" + first + " " + first);
  next.source = "int c;\n";
  next.parent_branch = "up/stream/" + first;
  EXPECT_EQ(parents(add(store, next)), of_first);
  // A branch that is gone by now still is what was beaten.
  next.source = "int d;\n";
  next.parent_branch = "kagent/softmax/x86-64-v3/g001-00000000";
  EXPECT_EQ(parents(add(store, next)), "kagent/softmax/x86-64-v3/g001-00000000 " + git("rev-parse HEAD"));
}

TEST_F(VariantStoreTest, lists_generations_newest_first_and_reads_them_back) {
  VariantStore store = open();
  const std::string first = add(store, example("int a;\n"));
  const std::string second = add(store, example("int b;\n"));
  EXPECT_THAT(references(store), ElementsAre(second, first));
  auto variant = store.find(second);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_EQ(variant->source, "int b;\n");
  EXPECT_EQ(variant->evidence.generation, 2);
  EXPECT_EQ(variant->evidence.key.hash(), example_evidence().key.hash());
  EXPECT_THAT(*store.kernels(), ElementsAre("softmax"));
  EXPECT_THAT(*store.architectures("softmax"), ElementsAre("x86-64-v3"));
  EXPECT_THAT(*store.architectures("other"), IsEmpty());
}

TEST_F(VariantStoreTest, gives_the_older_generation_after_the_newest_branch_is_deleted) {
  VariantStore store = open();
  const std::string first = add(store, example("int a;\n"));
  const std::string second = add(store, example("int b;\n"));
  git("branch -q -D " + second);
  EXPECT_THAT(references(store), ElementsAre(first));
  git("branch -q -D " + first);
  EXPECT_THAT(references(store), IsEmpty());
}

TEST_F(VariantStoreTest, sees_the_variant_of_a_checked_out_branch_in_the_working_tree) {
  VariantStore store = open();
  const std::string branch = add(store, example());
  EXPECT_THAT(references(store, VariantPlace::working_tree), IsEmpty());
  git("checkout -q " + branch);
  EXPECT_THAT(references(store, VariantPlace::working_tree), ElementsAre("variants/softmax/x86-64-v3"));
  EXPECT_EQ(store.find("variants/softmax/x86-64-v3")->source, "int optimised;\n");
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(VariantStoreTest, works_with_refs_that_were_packed) {
  VariantStore store = open();
  const std::string first = add(store, example("int a;\n"));
  git("pack-refs --all --prune");
  EXPECT_FALSE(fs::exists(root / ".git/refs/heads" / first));
  const std::string second = add(store, example("int b;\n"));
  EXPECT_THAT(references(store), ElementsAre(second, first));
  EXPECT_THAT(references(open()), ElementsAre(second, first));
  git("branch -q -D " + first);
  EXPECT_THAT(references(open()), ElementsAre(second));
}

TEST_F(VariantStoreTest, puts_variants_below_the_project_in_a_sub_folder_of_the_repository) {
  const fs::path project = root / "deep/project";
  write(project / "k.cpp", "int k;\n");
  VariantStore store = open(project);
  NewVariant variant = example();
  variant.files = {{project / "k.cpp"}};
  const std::string branch = add(store, variant);
  EXPECT_EQ(git("show " + branch + ":deep/project/variants/softmax/x86-64-v3/softmax.cpp"), "int optimised;");
  EXPECT_EQ(git("show " + branch + ":deep/project/k.cpp"), "int k;");
  EXPECT_THAT(references(store), ElementsAre(branch));
  // Another project of the same repository does not take it for its own.
  std::vector<std::string> broken;
  EXPECT_THAT(references(open(), VariantPlace::local_branch, &broken), IsEmpty());
  EXPECT_THAT(broken, ElementsAre(HasSubstr("another project")));
}

TEST_F(VariantStoreTest, commits_as_the_user_or_as_kagent_where_nobody_is_configured) {
  VariantStore store = open();
  const std::string format = "log -1 --format='%an <%ae> %ad|%cn <%ce> %cd' --date=iso-strict ";
  EXPECT_THAT(git(format + add(store, example("int a;\n"))), HasSubstr("kagent <kagent@localhost>"));
  git("config user.name Bob && git config user.email bob@example.org");
  EXPECT_THAT(git(format + add(store, example("int b;\n"))), HasSubstr("|Bob <bob@example.org>"));
  ::setenv("GIT_AUTHOR_NAME", "Carol", 1);
  ::setenv("GIT_AUTHOR_DATE", "1112911993 +0200", 1);
  ::setenv("GIT_COMMITTER_EMAIL", "ci@example.org", 1);
  ::setenv("GIT_COMMITTER_DATE", "2005-04-07T22:13:13-01:30", 1);
  EXPECT_EQ(git(format + add(store, example("int c;\n"))),
            "Carol <bob@example.org> 2005-04-08T00:13:13+02:00|Bob <ci@example.org> 2005-04-07T22:13:13-01:30");
}

TEST_F(VariantStoreTest, starts_without_a_parent_where_there_is_no_commit_yet) {
  const fs::path fresh = folder.path() / "fresh";
  write(fresh / "k.cpp", "int k;\n");
  git_in(fresh, "init -q -b main .");
  VariantStore store = open(fresh);
  NewVariant variant = example();
  variant.files = {{fresh / "k.cpp"}};
  const std::string branch = add(store, variant);
  EXPECT_EQ(git_in(fresh, "log --format=%P " + branch), "");
  EXPECT_EQ(git_in(fresh, "show " + branch + ":k.cpp"), "int k;");
  EXPECT_EQ(read(fresh / ".git/HEAD"), "ref: refs/heads/main\n");
  EXPECT_THAT(references(store), ElementsAre(branch));
  EXPECT_THAT(store.description(), HasSubstr("no commit yet"));
}

TEST_F(VariantStoreTest, works_on_a_detached_head) {
  git("checkout -q --detach");
  const std::string before = untouched();
  VariantStore store = open();
  const std::string branch = add(store, example());
  EXPECT_EQ(untouched(), before);
  EXPECT_EQ(git("rev-parse " + branch + "^"), git("rev-parse HEAD"));
  EXPECT_THAT(store.description(), HasSubstr("detached"));
}

TEST_F(VariantStoreTest, works_in_a_shallow_clone) {
  write(root / "other.txt", "second\n");
  commit_all("second");
  const fs::path clone = folder.path() / "clone";
  git_in(folder.path(), "clone -q --depth 1 file://" + root.string() + " clone");
  VariantStore store = open(clone);
  NewVariant variant = example();
  variant.files = {{clone / "kernels/softmax.cpp"}};
  const std::string branch = add(store, variant);
  EXPECT_EQ(git_in(clone, "rev-parse " + branch + "^"), git_in(clone, "rev-parse HEAD"));
  EXPECT_THAT(store.description(), HasSubstr("shallow"));
  EXPECT_EQ(git_in(clone, "fsck"), "");
}

TEST_F(VariantStoreTest, shares_variants_and_state_between_worktrees) {
  const fs::path tree = folder.path() / "tree";
  git("worktree add -q -b side " + tree.string());
  write(tree / "kernels/softmax.cpp", "int side;\n");
  const std::string before = untouched();
  VariantStore store = open(tree);
  NewVariant variant = example();
  variant.files = {{tree / "kernels/softmax.cpp"}};
  const std::string branch = add(store, variant);
  EXPECT_EQ(untouched(), before);
  EXPECT_EQ(git_in(tree, "status --porcelain"), " M kernels/softmax.cpp");
  EXPECT_EQ(git("show " + branch + ":kernels/softmax.cpp"), "int side;");
  EXPECT_THAT(references(open()), ElementsAre(branch));
  EXPECT_EQ(store.state_folder(), open().state_folder());
  EXPECT_THAT(store.description(), HasSubstr("worktree of"));
}

TEST_F(VariantStoreTest, works_in_a_worktree_of_a_bare_repository_but_not_in_the_bare_one) {
  git_in(folder.path(), "clone -q --bare project bare.git");
  const fs::path bare = folder.path() / "bare.git", tree = folder.path() / "tree";
  git_in(bare, "worktree add -q " + tree.string() + " main");
  VariantStore store = open(tree);
  NewVariant variant = example();
  variant.files = {{tree / "kernels/softmax.cpp"}};
  EXPECT_THAT(references(store), IsEmpty());
  const std::string branch = add(store, variant);
  EXPECT_EQ(git_in(bare, "show " + branch + ":kernels/softmax.cpp"), "int baseline;");
  auto refused = VariantStore::open(bare, folder.path() / "build");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("bare git repository"));
  EXPECT_THAT(refused.error().fix, HasSubstr("git worktree add"));
}

TEST_F(VariantStoreTest, uses_the_submodule_that_the_project_lies_in) {
  git_in(folder.path(), "init -q -b main outer");
  const fs::path outer = folder.path() / "outer";
  git_in(outer, "-c protocol.file.allow=always submodule --quiet add " + root.string() + " inner");
  git_in(outer, "commit -q -m 'with submodule'");
  VariantStore store = open(outer / "inner");
  NewVariant variant = example();
  variant.files = {{outer / "inner/kernels/softmax.cpp"}};
  const std::string branch = add(store, variant);
  EXPECT_EQ(git_in(outer / "inner", "rev-parse --verify -q " + branch).size(), 40u);
  EXPECT_EQ(git_in(outer, "branch --list 'kagent/*'"), "");
  EXPECT_THAT(store.description(), HasSubstr("submodule"));
  // Headers of a submodule belong to the commit that the outer tree records.
  VariantStore of_outer = open(outer);
  write(outer / "k.cpp", "int k;\n");
  variant.files = {{outer / "k.cpp"}, {outer / "inner/other.txt"}};
  const std::string outer_branch = add(of_outer, variant);
  EXPECT_THAT(git_in(outer, "ls-tree " + outer_branch + " inner"), HasSubstr("160000 commit"));
}

TEST_F(VariantStoreTest, names_the_owner_and_the_fix_for_a_repository_of_somebody_else) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  shell("chown -R 12345 .", root);
  auto refused = VariantStore::open(root / "kernels", folder.path() / "build");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("owned by uid 12345"));
  EXPECT_EQ(refused.error().fix, "git config --global --add safe.directory '" + root.string() + "'");
  // What the fix says works.
  shell(refused.error().fix, root);
  auto allowed = VariantStore::open(root / "kernels", folder.path() / "build");
  EXPECT_TRUE(allowed) << allowed.error().message;
  // And a build can go on without git.
  auto without = VariantStore::open_without_git(root, folder.path() / "build");
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->has_git());
}

TEST_F(VariantStoreTest, says_where_a_broken_git_file_leads) {
  const fs::path lost = folder.path() / "lost";
  write(lost / ".git", "gitdir: /nowhere/at/all\n");
  auto refused = VariantStore::open(lost, folder.path() / "build");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/nowhere/at/all"));
}

TEST_F(VariantStoreTest, opens_repositories_with_harmless_extensions_and_names_others) {
  git("config core.repositoryformatversion 1 && git config extensions.worktreeConfig true && "
      "git config extensions.partialClone origin");
  EXPECT_TRUE(VariantStore::open(root, folder.path() / "build"));
  git("config extensions.fromTheFuture true");
  auto refused = VariantStore::open(root, folder.path() / "build");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("extension"));
  EXPECT_THAT(refused.error().fix, HasSubstr("extension"));
}

TEST_F(VariantStoreTest, names_the_branch_that_is_in_the_way) {
  VariantStore store = open();
  for (const std::string obstacle : {"kagent", "kagent/softmax", "kagent/softmax/x86-64-v3"})
    for (const bool packed : {false, true}) {
      git("branch " + obstacle);
      if (packed) git("pack-refs --all --prune");
      auto added = store.add(example());
      ASSERT_FALSE(added) << obstacle;
      EXPECT_THAT(added.error().message, HasSubstr("branch '" + obstacle + "' is in the way"));
      EXPECT_THAT(added.error().fix, HasSubstr("git branch -m " + obstacle));
      git("branch -q -D " + obstacle);
    }
  EXPECT_TRUE(store.add(example()));
}

TEST_F(VariantStoreTest, leaves_other_branches_below_kagent_alone) {
  git("branch kagent/softmax/x86-64-v3/experiment && git branch kagent/notes");
  std::vector<std::string> broken;
  EXPECT_THAT(references(open(), VariantPlace::local_branch, &broken), IsEmpty());
  EXPECT_THAT(broken, IsEmpty());
}

TEST_F(VariantStoreTest, lists_remote_tracking_branches_apart) {
  VariantStore store = open();
  const std::string branch = add(store, example());
  git_in(folder.path(), "clone -q project clone");
  VariantStore clone = open(folder.path() / "clone");
  EXPECT_THAT(references(clone), IsEmpty());
  EXPECT_THAT(references(clone, VariantPlace::remote_branch), ElementsAre("origin/" + branch));
  EXPECT_EQ(clone.find("origin/" + branch)->source, "int optimised;\n");
  EXPECT_THAT(*clone.kernels(), ElementsAre("softmax"));
  // A number that a colleague used is not used again.
  NewVariant variant = example("int b;\n");
  variant.files = {{folder.path() / "clone/kernels/softmax.cpp"}};
  EXPECT_THAT(add(clone, variant), HasSubstr("/g002-"));
}

TEST_F(VariantStoreTest, names_broken_branches_and_lists_the_others) {
  VariantStore store = open();
  const std::string good = add(store, example("int good;\n"));
  const auto forge = [&](const std::string& name, const std::string& json, const std::string& source_file) {
    git("checkout -q --detach " + good);
    write(root / "variants/softmax/x86-64-v3/variant.json", json);
    write(root / "variants/softmax/x86-64-v3" / source_file, "int forged;\n");
    commit_all("forged");
    git("branch " + name + " HEAD && git checkout -q main");
  };
  Evidence evidence = example_evidence("int forged;\n");
  const std::string hash8 = evidence.source_hash.substr(0, 8), prefix = "kagent/softmax/x86-64-v3/g";
  evidence.generation = 2;
  evidence.source_name = "../../../../kernels/softmax.cpp";
  forge(prefix + "002-" + hash8, to_json(evidence), "softmax.cpp");
  evidence.generation = 3;
  evidence.source_name = "softmax.cpp";
  evidence.kernel = "other";
  forge(prefix + "003-" + hash8, to_json(evidence), "softmax.cpp");
  forge(prefix + "004-" + hash8, std::string(1'000'000, '['), "softmax.cpp");
  forge(prefix + "005-" + hash8, std::string((4 << 20) + 1, ' '), "softmax.cpp");
  evidence.kernel = "softmax";
  forge(prefix + "006-" + hash8, to_json(evidence), "softmax.cpp");  // generation 3 inside
  git("branch " + prefix + "007-" + hash8 + " main");
  std::vector<std::string> broken;
  EXPECT_THAT(references(store, VariantPlace::local_branch, &broken), ElementsAre(good));
  EXPECT_THAT(broken, ElementsAre(HasSubstr("g007"), HasSubstr("another variant"), HasSubstr("larger than"),
                                  HasSubstr("nested"), HasSubstr("kernel 'other'"), HasSubstr("plain file name")));
}

TEST_F(VariantStoreTest, does_not_follow_links_on_branches) {
  VariantStore store = open();
  const std::string good = add(store, example());
  git("checkout -q " + good);
  const fs::path source = root / "variants/softmax/x86-64-v3/softmax.cpp";
  fs::remove(source);
  fs::create_symlink("/etc/passwd", source);
  commit_all("link");
  git("checkout -q main");
  std::vector<std::string> broken;
  EXPECT_THAT(references(store, VariantPlace::local_branch, &broken), IsEmpty());
  EXPECT_THAT(broken, ElementsAre(HasSubstr("not a regular file")));
}

TEST_F(VariantStoreTest, refuses_names_that_are_paths_or_options) {
  VariantStore store = open();
  for (const char* name : {"../up", "a/b", "", ".hidden", "-x", "a..b", "x.lock", "new\nline", "*"}) {
    NewVariant variant = example();
    variant.evidence.kernel = name;
    EXPECT_FALSE(store.add(variant)) << name;
    EXPECT_FALSE(store.list(name, "x86-64-v3", VariantPlace::local_branch)) << name;
  }
  NewVariant variant = example();
  variant.evidence.source_name = "../softmax.cpp";
  EXPECT_FALSE(store.add(variant));
  EXPECT_FALSE(store.find("kagent/../../x"));
  EXPECT_FALSE(store.find("main"));
}

}  // namespace
}  // namespace kagent::store
