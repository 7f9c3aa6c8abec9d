// SPDX-License-Identifier: Apache-2.0
#include "store/reviews.h"

#include <gmock/gmock.h>

#include "store/repository_fixture.h"

namespace kagent::store {
namespace {

class ReviewsTest : public RepositoryTest {
 protected:
  Variant unreviewed(VariantStore& store, const std::string& source = "int new_code;\n") {
    NewVariant variant = example(source);
    variant.evidence.reviewed = false;
    return require(store.find(add(store, variant)));
  }
};

TEST_F(ReviewsTest, an_architecture_without_variants_is_not_known) {
  EXPECT_FALSE(require(is_known(open(), "x86-64-v3")));
}

TEST_F(ReviewsTest, an_architecture_is_known_once_a_person_confirmed_a_variant) {
  VariantStore store = open();
  const Variant variant = unreviewed(store);
  EXPECT_FALSE(require(is_known(store, "x86-64-v3")));
  EXPECT_FALSE(is_reviewed(variant, require(reviews(store, "softmax", "x86-64-v3"))));
  ASSERT_TRUE(confirm(store, variant));
  ASSERT_TRUE(confirm(store, variant));
  EXPECT_EQ(require(reviews(store, "softmax", "x86-64-v3")).size(), 1u);
  EXPECT_TRUE(is_reviewed(variant, require(reviews(store, "softmax", "x86-64-v3"))));
  EXPECT_TRUE(require(is_known(store, "x86-64-v3")));
  EXPECT_FALSE(require(is_known(store, "sm_90")));
}

TEST_F(ReviewsTest, withdrawing_takes_a_confirmation_back) {
  VariantStore store = open();
  ASSERT_TRUE(confirm(store, unreviewed(store)));
  EXPECT_EQ(require(withdraw(store, "softmax", "x86-64-v3")), 1);
  EXPECT_EQ(require(withdraw(store, "softmax", "x86-64-v3")), 0);
  EXPECT_FALSE(require(is_known(store, "x86-64-v3")));
}

TEST_F(ReviewsTest, a_promoted_variant_counts_as_reviewed) {
  VariantStore store = open();
  ASSERT_TRUE(store.promote(unreviewed(store)));
  EXPECT_TRUE(require(is_known(store, "x86-64-v3")));
}

TEST_F(ReviewsTest, a_branch_of_a_remote_is_not_believed_when_it_speaks_of_itself) {
  VariantStore store = open();
  Variant variant = require(store.find(add(store, example("int code;\n"))));
  EXPECT_TRUE(is_reviewed(variant, {}));
  variant.place = VariantPlace::remote_branch;
  EXPECT_FALSE(is_reviewed(variant, {}));
}

TEST_F(ReviewsTest, a_damaged_record_is_an_error_with_a_fix) {
  VariantStore store = open();
  ASSERT_TRUE(confirm(store, unreviewed(store)));
  ASSERT_TRUE(util::write_file_atomically(store.state_folder() / "reviews.json", "{"));
  const auto found = reviews(store, "", "");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, testing::HasSubstr("reviews.json"));
  EXPECT_NE(found.error().fix, "");
}

}  // namespace
}  // namespace kagent::store
