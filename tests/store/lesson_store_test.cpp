// SPDX-License-Identifier: Apache-2.0
#include "store/lesson_store.h"

#include <gmock/gmock.h>

#include "util/files.h"

namespace kagent::store {
namespace {

Lesson example(const std::string& from) {
  return {
      "uncoalesced-access", "transpose through shared memory", 0.7, Outcome::ok, "sm_90", {"fp16", "reduction"}, from};
}

class LessonStoreTest : public testing::Test {
 protected:
  LessonStore open() { return require(LessonStore::open(folder.path() / "trials.sqlite")); }
  util::TemporaryFolder folder;
};

TEST_F(LessonStoreTest, gives_back_lessons_newest_first) {
  ASSERT_TRUE(open().add(example("softmax 1")));
  Lesson failed = example("softmax 2");
  failed.outcome = Outcome::wrong_result;
  ASSERT_TRUE(open().add(failed));
  const auto lessons = require(open().lessons(10));
  ASSERT_EQ(lessons.size(), 2u);
  EXPECT_EQ(lessons[0].from, "softmax 2");
  EXPECT_EQ(lessons[0].outcome, Outcome::wrong_result);
  EXPECT_EQ(lessons[1].pattern, "uncoalesced-access");
  EXPECT_EQ(lessons[1].change, "transpose through shared memory");
  EXPECT_EQ(lessons[1].effect, 0.7);
  EXPECT_EQ(lessons[1].architecture, "sm_90");
  EXPECT_THAT(lessons[1].features, testing::ElementsAre("fp16", "reduction"));
  EXPECT_EQ(require(open().lessons(1)).size(), 1u);
}

TEST_F(LessonStoreTest, keeps_one_lesson_of_one_origin) {
  LessonStore store = open();
  ASSERT_TRUE(store.add(example("softmax 1")));
  Lesson corrected = example("softmax 1");
  corrected.effect = 1.1;
  ASSERT_TRUE(store.add(corrected));
  const auto lessons = require(store.lessons(10));
  ASSERT_EQ(lessons.size(), 1u);
  EXPECT_EQ(lessons[0].effect, 1.1);
}

}  // namespace
}  // namespace kagent::store
