// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <gtest/gtest.h>

#include "util/files.h"

namespace kagent::util {
namespace {

// Examples of FIPS 180-4.
TEST(Sha256, agrees_with_the_standards_examples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, takes_zero_bytes_into_account) {
  EXPECT_NE(sha256(std::string("a\0b", 3)), sha256("a"));
}

TEST(Sha256File, is_the_hash_of_the_contents) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "f", "abc"));
  EXPECT_EQ(sha256_file(folder.path() / "f").value(), sha256("abc"));
}

TEST(Sha256File, passes_the_reason_on_when_there_is_no_file) {
  EXPECT_EQ(sha256_file("/nonexistent").error().message, "cannot read '/nonexistent': No such file or directory");
}

}  // namespace
}  // namespace kagent::util
