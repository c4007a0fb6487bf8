#include "sim/model/mbarrier.hpp"

#include <gtest/gtest.h>

namespace warptwin::sim::mbarrier_test {
namespace {

MbarrierState fresh(std::uint32_t count) {
  MbarrierState bar;
  EXPECT_EQ(bar.init(count).fault, Fault::kNone);
  return bar;
}

TEST(MbarrierTest, FreshBarrierIsDoneForParityOneOnly) {
  const MbarrierState bar = fresh(1);
  EXPECT_TRUE(bar.done(1));
  EXPECT_FALSE(bar.done(0));
}

TEST(MbarrierTest, PhaseCompletesAtTheLastArrivalAndNotBefore) {
  MbarrierState bar = fresh(2);
  EXPECT_FALSE(bar.arrive(1, false).completed);
  EXPECT_EQ(bar.phase(), 0U);
  EXPECT_TRUE(bar.arrive(1, false).completed);
  EXPECT_EQ(bar.phase(), 1U);
  EXPECT_EQ(bar.pending(), 2U);
}

TEST(MbarrierTest, BytesHoldThePhaseOpenUntilTheyAreDelivered) {
  MbarrierState bar = fresh(1);
  EXPECT_FALSE(bar.arrive_expect_tx(1, 64).completed);
  EXPECT_FALSE(bar.complete_tx(48).completed);
  EXPECT_TRUE(bar.complete_tx(16).completed);
}

TEST(MbarrierTest, BytesMayComeBeforeTheyAreAnnounced) {
  MbarrierState bar = fresh(1);
  EXPECT_FALSE(bar.complete_tx(64).completed);
  EXPECT_EQ(bar.tx(), -64);
  EXPECT_TRUE(bar.arrive_expect_tx(1, 64).completed);
}

TEST(MbarrierTest, AnExpectTxCanCompleteAPhase) {
  MbarrierState bar = fresh(1);
  bar.complete_tx(16);
  EXPECT_FALSE(bar.arrive(1, false).completed);
  EXPECT_TRUE(bar.expect_tx(16).completed);
}

TEST(MbarrierTest, MoreArrivalsThanPendingTrap) {
  MbarrierState bar = fresh(1);
  EXPECT_FALSE(bar.arrive_expect_tx(1, 16).completed);
  const BarrierStep surplus = bar.arrive(1, false);
  EXPECT_EQ(surplus.fault, Fault::kOverArrive);
  EXPECT_TRUE(surplus.traps);
}

TEST(MbarrierTest, CountsAndBytesHaveTheirRanges) {
  MbarrierState bar;
  EXPECT_EQ(bar.init(0).fault, Fault::kBadCount);
  EXPECT_EQ(bar.init(kMbarrierCountMax + 1).fault, Fault::kBadCount);
  EXPECT_EQ(bar.init(kMbarrierCountMax).fault, Fault::kNone);
  EXPECT_EQ(bar.expect_tx(kMbarrierCountMax).fault, Fault::kNone);
  EXPECT_EQ(bar.expect_tx(1).fault, Fault::kTxOverflow);
  MbarrierState other = fresh(1);
  EXPECT_EQ(other.complete_tx(kMbarrierCountMax).fault, Fault::kNone);
  EXPECT_EQ(other.complete_tx(1).fault, Fault::kTxUnderflow);
}

TEST(MbarrierTest, ArriveDropLowersLaterPhases) {
  MbarrierState bar = fresh(2);
  bar.arrive_drop(1);
  EXPECT_TRUE(bar.arrive(1, false).completed);
  EXPECT_EQ(bar.pending(), 1U);
  EXPECT_EQ(bar.arrive_drop(1).fault, Fault::kDropToZero);
}

TEST(MbarrierTest, ArriveDropMayExpectBytes) {
  MbarrierState bar = fresh(2);
  EXPECT_EQ(bar.arrive_drop(1, 16).fault, Fault::kNone);
  EXPECT_FALSE(bar.arrive(1, false).completed);
  EXPECT_TRUE(bar.complete_tx(16).completed);
  EXPECT_EQ(bar.pending(), 1U);
}

TEST(MbarrierTest, NoCompleteArrivalMayNotComplete) {
  MbarrierState bar = fresh(2);
  EXPECT_EQ(bar.arrive(1, true).fault, Fault::kNone);
  EXPECT_EQ(bar.arrive(1, true).fault, Fault::kWouldComplete);
}

TEST(MbarrierTest, ReinitialisationOfALiveBarrierIsAFault) {
  MbarrierState bar = fresh(1);
  EXPECT_EQ(bar.init(1).fault, Fault::kAlreadyInitialised);
  bar.invalidate();
  EXPECT_EQ(bar.init(1).fault, Fault::kNone);
}

}  // namespace
}  // namespace warptwin::sim::mbarrier_test
