// What of the work in streams nothing orders.

#include "sim/cuda/stream_order.hpp"

#include <gtest/gtest.h>

namespace warptwin::cuda::stream_order_test {

constexpr std::uint64_t kLegacy = 0;
constexpr std::uint64_t kFirst = 100;
constexpr std::uint64_t kSecond = 200;
constexpr std::uint64_t kEvent = 1;

ByteRanges bytes(std::uint64_t from, std::uint64_t to) {
  ByteRanges ranges;
  ranges.add(ByteRange{from, to});
  return ranges;
}

Work reads(std::uint64_t stream, std::uint64_t from, std::uint64_t to) {
  return {"read", stream, {bytes(from, to), {}, {}}};
}

Work writes(std::uint64_t stream, std::uint64_t from, std::uint64_t to) {
  return {"write", stream, {{}, bytes(from, to), {}}};
}

Work updates(std::uint64_t stream, std::uint64_t from, std::uint64_t to) {
  return {"update", stream, {{}, {}, bytes(from, to)}};
}

StreamOrder two_streams(bool blocking = false) {
  StreamOrder order;
  order.create(kFirst, blocking);
  order.create(kSecond, blocking);
  return order;
}

TEST(StreamOrder, WorkOfOneStreamIsInOrder) {
  StreamOrder order = two_streams();
  EXPECT_TRUE(order.add(writes(kFirst, 0, 8)).empty());
  EXPECT_TRUE(order.add(writes(kFirst, 4, 12)).empty());
  EXPECT_TRUE(order.add(reads(kFirst, 0, 12)).empty());
}

TEST(StreamOrder, NamesTheFirstBytesThatBothTouch) {
  StreamOrder order = two_streams();
  order.add(writes(kFirst, 0, 8));
  const auto races = order.add(reads(kSecond, 4, 16));
  ASSERT_EQ(races.size(), 1U);
  EXPECT_EQ(races[0].first, "write in stream 1");
  EXPECT_EQ(races[0].second, "read in stream 2");
  EXPECT_TRUE(races[0].first_writes);
  EXPECT_FALSE(races[0].second_writes);
  EXPECT_EQ(races[0].bytes.lower(), 4U);
  EXPECT_EQ(races[0].bytes.upper(), 8U);
}

TEST(StreamOrder, OnlyAWriteDisturbs) {
  StreamOrder order = two_streams();
  order.add(reads(kFirst, 0, 8));
  EXPECT_TRUE(order.add(reads(kSecond, 0, 8)).empty());
  EXPECT_TRUE(order.add(writes(kSecond, 8, 16)).empty());
  EXPECT_EQ(order.add(writes(kSecond, 0, 1)).size(), 1U);
}

TEST(StreamOrder, AtomicsDoNotRaceWithEachOther) {
  StreamOrder order = two_streams();
  order.add(updates(kFirst, 0, 4));
  EXPECT_TRUE(order.add(updates(kSecond, 0, 4)).empty());
  EXPECT_EQ(order.add(reads(kSecond, 0, 4)).size(), 1U);
}

TEST(StreamOrder, AnEventOrdersWhatCameBeforeIt) {
  StreamOrder order = two_streams();
  order.add(writes(kFirst, 0, 8));
  order.record(kEvent, kFirst);
  order.add(writes(kFirst, 8, 16));
  order.wait(kSecond, kEvent);
  EXPECT_TRUE(order.add(reads(kSecond, 0, 8)).empty());
  EXPECT_EQ(order.add(reads(kSecond, 8, 16)).size(), 1U);
}

TEST(StreamOrder, AnEventThatWasNeverRecordedOrdersNothing) {
  StreamOrder order = two_streams();
  order.add(writes(kFirst, 0, 8));
  order.wait(kSecond, kEvent);
  order.host_waits_for_event(kEvent);
  EXPECT_EQ(order.add(reads(kSecond, 0, 8)).size(), 1U);
}

TEST(StreamOrder, TheHostKnowsWhatItIsToldByTheSecondQuestion) {
  StreamOrder order = two_streams();
  EXPECT_TRUE(order.host_asks_for_stream(kFirst));
  EXPECT_TRUE(order.host_asks_for_event(kEvent));
  order.add(writes(kFirst, 0, 8));
  order.record(kEvent, kFirst);
  EXPECT_FALSE(order.host_asks_for_stream(kFirst));
  EXPECT_FALSE(order.host_asks_for_event(kEvent));
  EXPECT_EQ(order.add(reads(kSecond, 0, 8)).size(), 1U);
  order.add(writes(kFirst, 8, 16));
  EXPECT_FALSE(order.host_asks_for_stream(kFirst));  // for more than it had asked for
  EXPECT_TRUE(order.host_asks_for_event(kEvent));
  EXPECT_TRUE(order.add(reads(kSecond, 0, 8)).empty());
  EXPECT_TRUE(order.host_asks_for_stream(kFirst));
  EXPECT_TRUE(order.add(reads(kSecond, 8, 16)).empty());
}

TEST(StreamOrder, TheHostOrdersWhatItHasWaitedFor) {
  StreamOrder order = two_streams();
  order.add(writes(kFirst, 0, 8));
  order.record(kEvent, kFirst);
  order.add(writes(kFirst, 8, 16));
  order.host_waits_for_event(kEvent);
  EXPECT_TRUE(order.add(reads(kSecond, 0, 8)).empty());
  EXPECT_EQ(order.add(reads(kSecond, 8, 16)).size(), 1U);
  order.host_waits_for_stream(kFirst);
  EXPECT_TRUE(order.add(writes(kSecond, 8, 16)).empty());
  order.host_waits_for_all();
  EXPECT_TRUE(order.add(writes(kFirst, 0, 16)).empty());
}

TEST(StreamOrder, TheLegacyStreamTakesTurnsWithThoseThatBlock) {
  StreamOrder order = two_streams(true);
  order.add(writes(kFirst, 0, 8));
  EXPECT_TRUE(order.add(writes(kLegacy, 0, 8)).empty());
  EXPECT_TRUE(order.add(writes(kSecond, 0, 8)).empty());
  StreamOrder others = two_streams(false);
  others.add(writes(kFirst, 0, 8));
  EXPECT_EQ(others.add(writes(kLegacy, 0, 8)).size(), 1U);
}

TEST(StreamOrder, AWaitForAStreamIsNoneForTheLegacyStream) {
  StreamOrder order = two_streams(true);
  StreamOrder lone = two_streams(false);
  for (StreamOrder* each : {&order, &lone}) {
    each->add(writes(kLegacy, 0, 8));
    each->host_waits_for_stream(kFirst);
  }
  // The next work of a stream that blocks comes behind it all the same.
  EXPECT_TRUE(order.add(writes(kFirst, 0, 8)).empty());
  EXPECT_EQ(lone.add(writes(kFirst, 0, 8)).size(), 1U);
  lone.host_waits_for_stream(kLegacy);
  EXPECT_EQ(lone.add(writes(kSecond, 0, 8)).size(), 1U);  // with the first stream's
}

TEST(StreamOrder, WhatALaterAccessCoversIsNotForgotten) {
  StreamOrder order = two_streams();
  for (int i = 0; i < 100; ++i) {
    order.add(writes(kFirst, 0, 8));
  }
  order.record(kEvent, kFirst);
  order.add(writes(kFirst, 4, 6));
  order.wait(kSecond, kEvent);
  EXPECT_TRUE(order.add(writes(kSecond, 0, 4)).empty());
  EXPECT_EQ(order.add(writes(kSecond, 0, 8)).size(), 1U);
}

TEST(StreamOrder, AStreamThatIsGoneKeepsItsWork) {
  StreamOrder order = two_streams();
  order.add(writes(kFirst, 0, 8));
  order.destroy(kFirst);
  order.create(kFirst, false);  // a handle may be given again
  EXPECT_EQ(order.add(reads(kFirst, 0, 8)).size(), 1U);
  order.host_waits_for_all();
  EXPECT_TRUE(order.add(reads(kFirst, 0, 8)).empty());
}

TEST(StreamOrder, TimeIsOfTheLongestWayToAnEvent) {
  StreamOrder order = two_streams();
  const auto takes = [&](std::uint64_t stream, double microseconds) {
    order.add({"work", stream, {}, microseconds});
  };
  order.record(1, kFirst);
  takes(kFirst, 5);
  takes(kSecond, 3);
  order.record(2, kSecond);
  order.wait(kFirst, 2);
  takes(kFirst, 1);
  order.record(3, kFirst);
  EXPECT_DOUBLE_EQ(order.microseconds(1, 2), 3);
  EXPECT_DOUBLE_EQ(order.microseconds(1, 3), 6);
  EXPECT_DOUBLE_EQ(order.microseconds(1, 9), 0);
}

Work early(Work work, bool waits) {
  work.launched = work.early = true;
  work.waits = waits;
  return work;
}
Work launched(Work work) {
  work.launched = true;
  return work;
}

// PTX ISA, "griddepcontrol": a wait is for the prerequisite grids, which is the launch before.
TEST(StreamOrder, AnEarlyLaunchThatDoesNotWaitTellsNothingOfTheOneBefore) {
  for (const bool waits : {false, true}) {
    StreamOrder order = two_streams();
    order.add(launched(writes(kFirst, 0, 8)));
    order.add(early(writes(kFirst, 8, 16), waits));
    const auto races = order.add(early(reads(kFirst, 0, 4), true));
    ASSERT_EQ(races.size(), waits ? 0U : 1U);
    if (!waits) {
      EXPECT_EQ(races[0].first, "write in stream 1");
      EXPECT_EQ(races[0].untold, "write");
    }
    EXPECT_TRUE(order.add(early(reads(kFirst, 8, 16), true)).empty());
    // One that does not begin early comes behind them all.
    EXPECT_TRUE(order.add(launched(writes(kFirst, 0, 8))).empty());
    EXPECT_TRUE(order.add(early(reads(kFirst, 0, 4), true)).empty());
  }
}

TEST(StreamOrder, ALaunchBeginsEarlyBehindALaunchThatMayStillRun) {
  StreamOrder order = two_streams();
  EXPECT_FALSE(order.may_begin_early(kFirst));
  order.add(writes(kFirst, 0, 8));
  EXPECT_FALSE(order.may_begin_early(kFirst));
  order.add(launched(writes(kFirst, 0, 8)));
  EXPECT_TRUE(order.may_begin_early(kFirst));
  EXPECT_FALSE(order.may_begin_early(kSecond));
  order.record(kEvent, kFirst);
  order.host_waits_for_event(kEvent);
  EXPECT_FALSE(order.may_begin_early(kFirst));
  order.add(launched(writes(kFirst, 0, 8)));
  order.add(writes(kFirst, 8, 16));  // a copy
  EXPECT_FALSE(order.may_begin_early(kFirst));
}

TEST(StreamOrder, MarksSayWhoKnows) {
  StreamOrder order = two_streams();
  order.add(writes(kFirst, 0, 8));
  const StreamOrder::Mark mark = order.mark(kFirst);
  EXPECT_FALSE(order.host_knows(mark));
  EXPECT_TRUE(order.stream_knows(kFirst, mark));
  EXPECT_FALSE(order.stream_knows(kSecond, mark));
  order.host_waits_for_stream(kFirst);
  EXPECT_TRUE(order.host_knows(mark));
}

}  // namespace warptwin::cuda::stream_order_test
