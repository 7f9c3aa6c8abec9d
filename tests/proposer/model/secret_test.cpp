// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/secret.h"

#include <string>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/model_test_parts.h"
#include "util/files.h"

namespace kagent::proposer::model {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static_assert(!std::is_copy_constructible_v<Secret> && !std::is_convertible_v<Secret, std::string>);

std::optional<std::string> variables(const std::string& name) {
  if (name == "GOOD") return std::string(" ") + kTestKey + "\n";
  if (name == "TWO_LINES") return "key-abcdefgh\nX-Evil: header";
  if (name == "EMPTY") return " \n";
  if (name == "HOME") return "/no/such/home";
  return std::nullopt;
}

struct KeyFile {
  explicit KeyFile(const std::string& text, fs::perms mode = fs::perms::owner_read | fs::perms::owner_write) {
    EXPECT_TRUE(util::write_file_atomically(path, text));
    fs::permissions(path, mode);
  }
  util::TemporaryFolder folder;
  fs::path path = folder.path() / "key";
  Result<Secret> read() const { return read_key("file:" + path.string(), variables); }
};

TEST(Secret, a_key_comes_from_the_environment_without_its_line_end) {
  EXPECT_EQ(read_key("env:GOOD", variables)->reveal(), kTestKey);
}

TEST(Secret, no_source_is_no_key) {
  EXPECT_TRUE(read_key("", variables)->empty());
}

TEST(Secret, a_key_comes_from_a_file_of_this_user_alone) {
  EXPECT_EQ(KeyFile(std::string(kTestKey) + "\n").read()->reveal(), kTestKey);
}

TEST(Secret, a_file_that_others_may_read_is_refused_with_the_fix) {
  for (const auto bit : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write}) {
    const auto key = KeyFile(kTestKey, fs::perms::owner_read | bit).read();
    ASSERT_FALSE(key);
    EXPECT_THAT(key.error().fix, HasSubstr("chmod 600"));
  }
}

TEST(Secret, what_is_no_plain_file_or_too_long_is_refused) {
  EXPECT_FALSE(read_key("file:/dev/zero", variables));
  EXPECT_FALSE(read_key("file:/", variables));
  EXPECT_FALSE(KeyFile(std::string(100'000, 'k')).read());
  const auto missing = read_key("file:~/key", variables);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("/no/such/home/key"));
}

TEST(Secret, errors_name_the_source_and_never_what_was_read) {
  for (const std::string source : {"env:TWO_LINES", "env:EMPTY", "env:MISSING", "sk-test-literal-key"}) {
    const auto key = read_key(source, variables);
    ASSERT_FALSE(key) << source;
    EXPECT_THAT(key.error().message + key.error().fix,
                AllOf(Not(HasSubstr("abcdefgh")), Not(HasSubstr("sk-test")), HasSubstr("env")))
        << source;
  }
}

TEST(Secret, every_occurrence_is_taken_out_of_a_text) {
  const Secret key(kTestKey);
  EXPECT_EQ(key.scrub(std::string(kTestKey) + "," + kTestKey + "."), "[key removed],[key removed].");
  EXPECT_EQ(Secret("none").scrub("there is none"), "there is none");
  EXPECT_EQ(Secret().scrub("text"), "text");
}

TEST(Secret, what_is_moved_away_is_gone) {
  Secret one(kTestKey);
  Secret two = std::move(one);
  EXPECT_TRUE(one.empty());
  EXPECT_EQ(two.reveal(), kTestKey);
  two = Secret();
  EXPECT_TRUE(two.empty());
}

}  // namespace
}  // namespace kagent::proposer::model
