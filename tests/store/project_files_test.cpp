// SPDX-License-Identifier: Apache-2.0
#include "store/project_files.h"

#include <gmock/gmock.h>

#include "store/repository_fixture.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// What of the project's files gets into a variant's commit.
class ProjectFilesTest : public RepositoryTest {
 protected:
  std::string add_with(const std::vector<fs::path>& files) {
    VariantStore store = open();
    NewVariant variant = example();
    for (const fs::path& file : files) variant.files.push_back({file});
    return add(store, variant);
  }
  StageError refused_with(const fs::path& file) {
    VariantStore store = open();
    NewVariant variant = example();
    variant.files.push_back({file});
    auto added = store.add(variant);
    EXPECT_FALSE(added) << file;
    EXPECT_EQ(git("branch --list 'kagent/*'"), "");
    return added ? StageError{} : added.error();
  }
  std::string entry(const std::string& branch, const std::string& path) {
    return git("ls-tree " + branch + " " + path);
  }
};

TEST_F(ProjectFilesTest, keeps_the_executable_bit) {
  write(root / "golden/make.py", "#!/usr/bin/python3\n");
  fs::permissions(root / "golden/make.py", fs::perms::owner_exec, fs::perm_options::add);
  const std::string branch = add_with({root / "golden/make.py"});
  EXPECT_THAT(entry(branch, "golden/make.py"), HasSubstr("100755 blob"));
  EXPECT_THAT(entry(branch, "kernels/softmax.cpp"), HasSubstr("100644 blob"));
}

TEST_F(ProjectFilesTest, keeps_a_link_and_what_it_leads_to) {
  write(root / "shared/data.npy", "data");
  make(root / "golden/softmax");
  fs::create_symlink("../../shared/data.npy", root / "golden/softmax/x.npy");
  fs::create_directory_symlink("shared", root / "linked");
  write(root / "shared/tile.h", "tile\n");
  const std::string branch = add_with({root / "golden/softmax/x.npy", root / "linked/tile.h"});
  EXPECT_THAT(entry(branch, "golden/softmax/x.npy"), HasSubstr("120000 blob"));
  EXPECT_EQ(git("show " + branch + ":golden/softmax/x.npy"), "../../shared/data.npy");
  EXPECT_EQ(git("show " + branch + ":shared/data.npy"), "data");
  EXPECT_THAT(entry(branch, "linked"), HasSubstr("120000 blob"));
  EXPECT_EQ(git("show " + branch + ":shared/tile.h"), "tile");
}

TEST_F(ProjectFilesTest, keeps_a_last_link_that_leads_outside_as_git_does) {
  write(folder.path() / "outside.npy", "outside");
  fs::create_symlink(folder.path() / "outside.npy", root / "golden/absolute.npy");
  fs::create_symlink("../../outside.npy", root / "golden/relative.npy");
  const std::string branch = add_with({root / "golden/absolute.npy", root / "golden/relative.npy"});
  EXPECT_THAT(entry(branch, "golden/absolute.npy"), HasSubstr("120000 blob"));
  EXPECT_EQ(git("show " + branch + ":golden/relative.npy"), "../../outside.npy");
}

TEST_F(ProjectFilesTest, refuses_files_outside_of_the_repository) {
  write(folder.path() / "outside/tile.h", "tile\n");
  EXPECT_THAT(refused_with(folder.path() / "outside/tile.h").message, HasSubstr("lies outside of the git repository"));
  EXPECT_THAT(refused_with(root / "../outside/tile.h").message, HasSubstr("lies outside"));
  fs::create_directory_symlink("../outside", root / "out");
  EXPECT_THAT(refused_with(root / "out/tile.h").message, HasSubstr("lies outside"));
}

TEST_F(ProjectFilesTest, refuses_what_is_no_file) {
  EXPECT_THAT(refused_with(root / "missing.h").message, HasSubstr("not a regular file"));
  fs::create_symlink("loop", root / "loop");
  EXPECT_THAT(refused_with(root / "loop").message, HasSubstr("symbolic links"));
  ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refused_with(root / "pipe").message, HasSubstr("not a regular file"));
}

TEST_F(ProjectFilesTest, finds_files_under_another_name_of_the_repository) {
  fs::create_directory_symlink(root, folder.path() / "alias");
  VariantStore store = open(folder.path() / "alias");
  NewVariant variant = example();
  write(root / "tile.h", "tile\n");
  variant.files = {{folder.path() / "alias/tile.h"}};
  EXPECT_EQ(git("show " + add(store, variant) + ":tile.h"), "tile");
}

TEST_F(ProjectFilesTest, leaves_out_what_git_ignores_so_that_leaving_the_branch_deletes_nothing) {
  write(root / ".gitignore", "*.npy\n");
  write(root / "golden/tracked.npy", "tracked");
  git("add -f .gitignore golden/tracked.npy && git -c user.name=A -c user.email=a@b commit -q -m ignore");
  write(root / "golden/tracked.npy", "changed");
  write(root / "golden/ignored.npy", "ignored");
  const std::string branch = add_with({root / "golden/tracked.npy", root / "golden/ignored.npy"});
  EXPECT_EQ(git("show " + branch + ":golden/tracked.npy"), "changed");
  EXPECT_EQ(entry(branch, "golden/ignored.npy"), "");
  git("checkout -q -f " + branch + " && git checkout -q main");
  EXPECT_EQ(read(root / "golden/ignored.npy"), "ignored");
}

TEST_F(ProjectFilesTest, replaces_a_file_by_a_folder_and_a_folder_by_a_file) {
  write(root / "a", "file\n");
  write(root / "b/inner", "inner\n");
  commit_all("before");
  fs::remove(root / "a");
  fs::remove_all(root / "b");
  write(root / "a/inner", "inner\n");
  write(root / "b", "file\n");
  const std::string branch = add_with({root / "a/inner", root / "b"});
  EXPECT_EQ(git("show " + branch + ":a/inner"), "inner");
  EXPECT_EQ(git("show " + branch + ":b"), "file");
  EXPECT_EQ(git("fsck --strict"), "");
}

TEST_F(ProjectFilesTest, drops_the_source_of_an_older_generation_under_another_name) {
  Evidence old = example_evidence("int old;\n");
  old.source_name = "before.cpp";
  write(root / "variants/softmax/x86-64-v3/before.cpp", "int old;\n");
  write(root / "variants/softmax/x86-64-v3/variant.json", to_json(old));
  write(root / "variants/softmax/x86-64-v3/README", "ours\n");
  commit_all("promoted");
  const std::string branch = add_with({});
  EXPECT_EQ(git("ls-tree --name-only " + branch + " variants/softmax/x86-64-v3/"),
            "variants/softmax/x86-64-v3/README\nvariants/softmax/x86-64-v3/softmax.cpp\n"
            "variants/softmax/x86-64-v3/variant.json");
  EXPECT_THAT(branch, HasSubstr("g002"));
}

TEST_F(ProjectFilesTest, stores_line_endings_as_git_would) {
  write(root / ".gitattributes", "*.h text eol=crlf\n");
  write(root / "tile.h", "a\r\nb\r\n");
  commit_all("crlf");
  const std::string branch = add_with({root / "tile.h"});
  EXPECT_EQ(git("rev-parse " + branch + ":tile.h"), git("rev-parse HEAD:tile.h"));
}

TEST_F(ProjectFilesTest, names_a_git_lfs_pointer_that_stands_in_for_the_data) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + util::sha256("data") + "\nsize 4\n";
  write(root / "golden/x.npy", pointer);
  const StageError error = refused_with(root / "golden/x.npy");
  EXPECT_THAT(error.message, HasSubstr("x.npy' is a Git LFS pointer"));
  EXPECT_EQ(error.fix, "git lfs pull");
}

TEST_F(ProjectFilesTest, keeps_the_pointer_of_a_file_that_git_lfs_fetched) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + util::sha256("data") + "\nsize 4\n";
  write(root / "golden/x.npy", pointer);
  commit_all("with lfs");
  write(root / "golden/x.npy", "data");
  EXPECT_EQ(git("show " + add_with({root / "golden/x.npy"}) + ":golden/x.npy") + "\n", pointer);
}

TEST_F(ProjectFilesTest, takes_any_file_name) {
  const fs::path odd = root / "golden/\xC3\xA4 b\n'\".npy";
  write(odd, "odd");
  const std::string branch = add_with({odd});
  EXPECT_THAT(git("ls-tree -r -z --name-only " + branch + " | tr '\\0' '|'"), HasSubstr("golden/\xC3\xA4 b\n'\".npy|"));
}

}  // namespace
}  // namespace kagent::store
