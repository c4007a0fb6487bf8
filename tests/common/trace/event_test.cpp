#include "common/trace/event.hpp"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace warptwin::event_test {
namespace {

using testing::ExitedWithCode;

auto fields(const payload::Numbers& of) {
  return std::tuple{of.first,
                    of.second,
                    of.count,
                    of.wanted,
                    of.place,
                    of.place_cta,
                    of.pending,
                    of.tx,
                    of.expected};
}

// Which events say nothing beside what all say: a new operation is given a payload, or stands here.
TEST(EventTest, WhatItSaysIsWhatItsKindSays) {
  const std::set<Op> without{Op::kFence,
                             Op::kFenceMbarrierInit,
                             Op::kTcgen05FenceBefore,
                             Op::kTcgen05FenceAfter,
                             Op::kClusterArrive,
                             Op::kClusterWait,
                             Op::kWgmmaFence,
                             Op::kFragmentRead,
                             Op::kGriddepcontrolWait,
                             Op::kGriddepcontrolLaunch,
                             Op::kWarpStart,
                             Op::kWarpExit,
                             Op::kCtaExit,
                             Op::kCount};
  for (unsigned kind = 0; kind <= static_cast<unsigned>(Op::kCount); ++kind) {
    const Event event{static_cast<Op>(kind)};
    EXPECT_EQ(event.is<payload::None>(), without.contains(event.op)) << kind;
    EXPECT_EQ(fields(event.numbers()), fields({})) << kind;
  }
  EXPECT_TRUE(Event{}.is<payload::None>());
}

TEST(EventTest, AskedForWhatItDoesNotSayItNamesBoth) {
  Event load{Op::kBulkLoad};
  EXPECT_EXIT(load.as<payload::Mbarrier>(),
              ExitedWithCode(3),
              "cp.async.bulk \\(load\\) has a copy, not an mbarrier");
  const Event wait{Op::kMbarrierWait};
  EXPECT_EXIT(wait.as<payload::Copy>(), ExitedWithCode(3), "has an mbarrier, not a copy");
  EXPECT_EXIT(wait.signal(), ExitedWithCode(3), "not a copy");
  EXPECT_EXIT(wait.product(), ExitedWithCode(3), "not a product to tensor memory");
  EXPECT_EXIT(load.state(), ExitedWithCode(3), "not an mbarrier");
  EXPECT_EXIT(Event{}.as<payload::Trap>(), ExitedWithCode(3), "nothing has nothing, not a reason");
}

TEST(EventTest, ALoadSignalsFromItsIssueToItsLanding) {
  for (const Op op : {Op::kTensorLoad, Op::kBulkLoad, Op::kClcTryCancel}) {
    Event event{op};
    event.signal().barrier = 1024;
    EXPECT_EQ(event.signal().barrier, 1024U) << name_of(op);
    event.set<payload::Landing>().barrier = 2048;
    event.state().tx = -16;
    EXPECT_EQ(event.signal().barrier, 2048U) << name_of(op);
    EXPECT_EQ(event.as<payload::Landing>().tx, -16) << name_of(op);
  }
}

TEST(EventTest, AnotherPayloadBeginsWithZeros) {
  Event event{Op::kSharedStore};
  event.set<payload::Rows>() = {~std::uint64_t{0}, ~0U, ~0U, ~0U, ~0U, ~0U, 255, 255, true, 255};
  EXPECT_EQ(fields(Event{event}.numbers()), fields(event.numbers()));
  event.set<payload::SharedWord>();
  EXPECT_EQ(fields(event.numbers()), fields({}));
  event.set<payload::Rows>();
  EXPECT_EQ(fields(event.numbers()), fields({}));
}

TEST(EventTest, RowsAreKnownOnceTheirElementsAre) {
  Event event{Op::kSharedLoad};
  EXPECT_EQ(event.rows(), nullptr);  // of a word
  auto& rows = event.set<payload::Rows>();
  EXPECT_EQ(event.rows(), nullptr);
  rows.element_bytes = 2;
  EXPECT_EQ(event.rows(), &rows);
}

// What two events say is told apart by whatever differs in it.
template <class T, class Of, class Field>
void expect_told_apart(Field Of::*field) {
  Event event;
  event.set<T>();
  const payload::Numbers before = event.numbers();
  event.as<T>().*field = static_cast<Field>(1);
  EXPECT_NE(fields(event.numbers()), fields(before));
}

TEST(EventTest, NumbersTellPayloadsApart) {
  expect_told_apart<payload::Mbarrier>(&payload::Mbarrier::arrivals);
  expect_told_apart<payload::Mbarrier>(&payload::Mbarrier::wanted);
  expect_told_apart<payload::Mbarrier>(&payload::Mbarrier::mask);
  expect_told_apart<payload::Mbarrier>(&payload::Mbarrier::pending);
  expect_told_apart<payload::Mbarrier>(&payload::Mbarrier::tx);
  expect_told_apart<payload::NamedBarrier>(&payload::NamedBarrier::threads);
  expect_told_apart<payload::NamedBarrier>(&payload::NamedBarrier::of_all);
  expect_told_apart<payload::NamedBarrier>(&payload::NamedBarrier::returns);
  expect_told_apart<payload::ProxyFence>(&payload::ProxyFence::space);
  expect_told_apart<payload::Map>(&payload::Map::number);
  expect_told_apart<payload::Members>(&payload::Members::lanes);
  expect_told_apart<payload::Copy>(&payload::Copy::barrier);
  expect_told_apart<payload::Copy>(&payload::Copy::barrier_cta);
  expect_told_apart<payload::Copy>(&payload::Copy::mask);
  expect_told_apart<payload::Copy>(&payload::Copy::row_bytes);
  expect_told_apart<payload::Copy>(&payload::Copy::source);
  expect_told_apart<payload::Copy>(&payload::Copy::rows);
  expect_told_apart<payload::Copy>(&payload::Copy::pitch);
  expect_told_apart<payload::Copy>(&payload::Copy::width);
  expect_told_apart<payload::Copy>(&payload::Copy::swizzle);
  expect_told_apart<payload::Copy>(&payload::Copy::padding);
  expect_told_apart<payload::Landing>(&payload::Landing::barrier);
  expect_told_apart<payload::Landing>(&payload::Landing::tx);
  expect_told_apart<payload::BulkGroups>(&payload::BulkGroups::left);
  expect_told_apart<payload::BulkGroups>(&payload::BulkGroups::of_lane);
  expect_told_apart<payload::TmemAllocation>(&payload::TmemAllocation::columns);
  expect_told_apart<payload::TmemAllocation>(&payload::TmemAllocation::base);
  expect_told_apart<payload::TmemRegion>(&payload::TmemRegion::columns);
  expect_told_apart<payload::Mma>(&payload::Mma::a);
  expect_told_apart<payload::Mma>(&payload::Mma::b);
  expect_told_apart<payload::Mma>(&payload::Mma::instruction);
  expect_told_apart<payload::Mma>(&payload::Mma::columns);
  expect_told_apart<payload::Mma>(&payload::Mma::tmem_a);
  expect_told_apart<payload::Mma>(&payload::Mma::scale_a);
  expect_told_apart<payload::Mma>(&payload::Mma::scale_b);
  expect_told_apart<payload::TmemCopy>(&payload::TmemCopy::source);
  expect_told_apart<payload::TmemCopy>(&payload::TmemCopy::shape);
  expect_told_apart<payload::TmemAccess>(&payload::TmemAccess::columns);
  expect_told_apart<payload::TmemAccess>(&payload::TmemAccess::lanes);
  expect_told_apart<payload::TmemWait>(&payload::TmemWait::of_registers);
  expect_told_apart<payload::Wgmma>(&payload::Wgmma::a);
  expect_told_apart<payload::Wgmma>(&payload::Wgmma::number);
  expect_told_apart<payload::WgmmaGroups>(&payload::WgmmaGroups::left);
  expect_told_apart<payload::WgmmaGroups>(&payload::WgmmaGroups::wgmmas);
  expect_told_apart<payload::SharedWord>(&payload::SharedWord::value);
  expect_told_apart<payload::Rows>(&payload::Rows::written);
  expect_told_apart<payload::Rows>(&payload::Rows::rows);
  expect_told_apart<payload::Rows>(&payload::Rows::pitch);
  expect_told_apart<payload::Rows>(&payload::Rows::column);
  expect_told_apart<payload::Rows>(&payload::Rows::copies);
  expect_told_apart<payload::Rows>(&payload::Rows::known);
  expect_told_apart<payload::GlobalWord>(&payload::GlobalWord::value);
  expect_told_apart<payload::GlobalWord>(&payload::GlobalWord::test_operands);
  expect_told_apart<payload::ClcRequest>(&payload::ClcRequest::barrier);
  expect_told_apart<payload::ClcRequest>(&payload::ClcRequest::got);
  expect_told_apart<payload::ClcQuery>(&payload::ClcQuery::word);
  expect_told_apart<payload::Registers>(&payload::Registers::count);
  expect_told_apart<payload::Note>(&payload::Note::index);
  expect_told_apart<payload::Note>(&payload::Note::lap);
  expect_told_apart<payload::Trap>(&payload::Trap::says);
  expect_told_apart<payload::LaneRace>(&payload::LaneRace::first);
  expect_told_apart<payload::OnItsWay>(&payload::OnItsWay::line);
}

}  // namespace
}  // namespace warptwin::event_test
