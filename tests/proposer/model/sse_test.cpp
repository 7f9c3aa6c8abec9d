// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/sse.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::proposer::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using Events = std::vector<std::pair<std::string, std::string>>;

Events events_of(const std::vector<std::string>& pieces) {
  Events events;
  SseReader reader([&](std::string_view event, std::string_view data) { events.emplace_back(event, data); });
  for (const std::string& piece : pieces) reader.feed(piece);
  reader.finish();
  return events;
}

constexpr const char* kStream =
    "\xEF\xBB\xBF: hello\r\ndata: one\r\n\r\nevent: second\rdata:two\rdata: lines\r\rid: 7\ndata\n\nretry: 3\n\ndata: "
    "last";

TEST(Sse, every_line_ending_and_field_is_read_as_the_standard_says) {
  EXPECT_THAT(events_of({kStream}), ElementsAre(Pair("message", "one"), Pair("second", "two\nlines"),
                                                Pair("message", ""), Pair("message", "last")));
}

TEST(Sse, a_stream_cut_at_any_byte_gives_the_same_events) {
  const std::string text = kStream;
  const Events whole = events_of({text});
  for (std::size_t at = 0; at <= text.size(); ++at)
    EXPECT_EQ(events_of({text.substr(0, at), text.substr(at)}), whole) << at;
}

TEST(Sse, a_stream_that_comes_byte_by_byte_gives_the_same_events) {
  std::vector<std::string> bytes;
  for (const char c : std::string(kStream)) bytes.emplace_back(1, c);
  EXPECT_EQ(events_of(bytes), events_of({kStream}));
}

TEST(Sse, comments_alone_are_no_events) {
  EXPECT_THAT(events_of({": keep-alive\n\n: keep-alive\n\n\n\n"}), IsEmpty());
}

TEST(Sse, a_name_holds_for_one_event_only) {
  EXPECT_THAT(events_of({"event: ping\n\ndata: x\n\n"}), ElementsAre(Pair("message", "x")));
}

}  // namespace
}  // namespace kagent::proposer::model
