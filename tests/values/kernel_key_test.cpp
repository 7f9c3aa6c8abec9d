// SPDX-License-Identifier: Apache-2.0
#include "values/kernel_key.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace kagent {
namespace {

KernelKey sample() {
  return {.source = "s",
          .headers = {{"a.h", "1"}},
          .definitions = "d",
          .standard = "gnu++20",
          .spec = "k",
          .golden = {{"x.npy", "2"}}};
}

TEST(KernelKey, EqualKeysHaveEqualHashesAndNoDifference) {
  EXPECT_EQ(sample().hash(), sample().hash());
  EXPECT_EQ(difference(sample(), sample()), "");
}

TEST(KernelKey, EveryPartChangesTheHash) {
  std::set<std::string> hashes{sample().hash()};
  auto changed = [&](auto change) {
    KernelKey key = sample();
    change(key);
    EXPECT_TRUE(hashes.insert(key.hash()).second) << difference(sample(), key);
  };
  changed([](KernelKey& key) { key.source = "t"; });
  changed([](KernelKey& key) { key.headers["a.h"] = "3"; });
  changed([](KernelKey& key) { key.headers.clear(); });
  changed([](KernelKey& key) { key.headers["b.h"] = "3"; });
  changed([](KernelKey& key) { key.definitions = "e"; });
  changed([](KernelKey& key) { key.standard = "c++20"; });
  changed([](KernelKey& key) { key.spec = "l"; });
  changed([](KernelKey& key) { key.golden["x.npy"] = "4"; });
}

TEST(KernelKey, TextThatMovesBetweenFieldsChangesTheHash) {
  KernelKey one = sample(), other = sample();
  one.definitions = "ab", one.standard = "c";
  other.definitions = "a", other.standard = "bc";
  EXPECT_NE(one.hash(), other.hash());
}

TEST(KernelKey, ADifferenceIsNamed) {
  KernelKey key = sample();
  key.headers["a.h"] = "9";
  EXPECT_EQ(difference(sample(), key), "header a.h changed");
  key = sample();
  key.golden.erase("x.npy");
  EXPECT_EQ(difference(sample(), key), "golden file x.npy is gone");
  EXPECT_EQ(difference(key, sample()), "golden file x.npy is new");
  key = sample();
  key.standard = "c++23";
  EXPECT_EQ(difference(sample(), key), "the language standard changed from gnu++20 to c++23");
}

}  // namespace
}  // namespace kagent
