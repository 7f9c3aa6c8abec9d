// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <signal.h>

#include "store/repository_fixture.h"
#include "store/variant_name.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

using testing::HasSubstr;

class VariantRaceTest : public RepositoryTest {
 protected:
  std::vector<std::string> branches() const {
    std::vector<std::string> result;
    const std::string text = git("branch --list 'kagent/*' --format='%(refname:short)'") + "\n";
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (end > begin) result.push_back(text.substr(begin, end - begin));
    return result;
  }
};

TEST_F(VariantRaceTest, gives_every_variant_its_own_number_while_git_packs_and_collects_garbage) {
  constexpr int kWriters = 3, kVariants = 6;
  const std::string before = untouched();
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.push_back(start_process([&, writer] {
      VariantStore store = open();
      for (int i = 0; i < kVariants; ++i)
        add(store, example("int v" + std::to_string(writer) + "_" + std::to_string(i) + ";\n"));
    }));
  // It ends by itself, since a git that outlives its shell would still move objects while they are checked.
  const auto enough = root / ".git" / "packed-enough";
  const pid_t packer = start_process([&] {
    while (!std::filesystem::exists(enough)) shell("git gc -q || true; git pack-refs --all --prune || true", root);
  });
  for (pid_t writer : writers) EXPECT_TRUE(ended_well(writer));
  std::ofstream(enough).close();
  EXPECT_TRUE(ended_well(packer));
  std::filesystem::remove(enough);
  std::set<int> generations;
  for (const std::string& branch : branches()) generations.insert(parse_variant_name(branch)->generation);
  EXPECT_EQ(branches().size(), static_cast<std::size_t>(kWriters * kVariants));
  EXPECT_EQ(generations.size(), branches().size());
  EXPECT_EQ(*generations.rbegin(), kWriters * kVariants);
  EXPECT_THAT(git("fsck --strict --no-dangling"), testing::Not(HasSubstr("missing")));
  VariantStore store = open();
  EXPECT_EQ(store.list("softmax", "x86-64-v3", VariantPlace::local_branch)->size(), branches().size());
  EXPECT_EQ(untouched(), before);
}

TEST_F(VariantRaceTest, leaves_a_whole_repository_when_a_writer_is_killed_anywhere) {
  for (int round = 0; round < 4; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t writer = start_process([&] {
      VariantStore store = open();
      for (int i = 0;; ++i) {
        add(store, example("int v" + std::to_string(round) + "_" + std::to_string(i) + ";\n"));
        if (::write(pipe[1], "x", 1) != 1) return;
      }
    });
    ::close(pipe[1]);
    int finished = 0;
    for (char byte; finished <= round && ::read(pipe[0], &byte, 1) == 1;) ++finished;
    ASSERT_EQ(finished, round + 1);
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    ::close(pipe[0]);
    VariantStore store = open();
    std::vector<std::string> broken;
    auto variants = store.list("softmax", "x86-64-v3", VariantPlace::local_branch, &broken);
    ASSERT_TRUE(variants);
    EXPECT_GE(variants->size(), static_cast<std::size_t>(finished));
    EXPECT_TRUE(broken.empty());
    EXPECT_EQ(git("fsck --strict --no-dangling"), "");
    // The next writer is not held up by what the killed one left.
    add(store, example("int next" + std::to_string(round) + ";\n"));
  }
}

TEST_F(VariantRaceTest, waits_for_the_lock_of_another_git_process_and_says_which_is_left) {
  VariantStore store = open();
  const NewVariant variant = example();
  const std::string branch = VariantName{"softmax", "x86-64-v3", 1, util::sha256(variant.source).substr(0, 8)}.branch();
  const auto lock = root / ".git/refs/heads" / (branch + ".lock");
  write(lock, "");
  const auto held_up = store.add(variant);
  ASSERT_FALSE(held_up);
  EXPECT_THAT(held_up.error().message, HasSubstr(branch));
  EXPECT_THAT(held_up.error().fix, HasSubstr(".lock"));
  std::filesystem::remove(lock);
  EXPECT_EQ(add(store, variant), branch);
}

}  // namespace
}  // namespace kagent::store
