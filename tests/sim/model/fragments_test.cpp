#include <gtest/gtest.h>

#include "sim/model/sim_machine.hpp"

namespace warptwin::sim::fragments_test {
namespace {

float twice(float x) {
  return 2 * x;
}

float sum(float x, float y) {
  return x + y;
}

/// A warp by itself: its operations are kept, and nothing executes them.
class LoneWarp : public EnginePort {
 public:
  explicit LoneWarp(bool unknown_any = true)
      : machine{*this, {.unknown_any = unknown_any}, registers, false} {}
  void perform(Operation& operation) override { last = operation; }

  WarpRegisters registers;
  Operation last;
  SimMachine machine;
};

TEST(FragmentsTest, ArithmeticIsTheWarpsWhoseMachineFilledTheRegisters) {
  LoneWarp one;
  LoneWarp other;
  SimFragment<16> fragment;
  SimFragment<4> others;
  one.machine.tcgen05_ld_32x32b(fragment, TmemAddress{});
  other.machine.tcgen05_ld_32x32b(others, TmemAddress{});
  fragment.transform(twice);
  fragment.exp2();
  others.transform(twice);
  EXPECT_EQ(one.registers.math.fma, 16U);
  EXPECT_EQ(one.registers.math.mufu, 16U);
  EXPECT_EQ(other.registers.math.fma, 4U);
  EXPECT_EQ(other.registers.math.mufu, 0U);
}

TEST(FragmentsTest, RegistersBecomeTheWarpsByWhatTheyAreCombinedWith) {
  LoneWarp one;
  SimFragment<16> loaded;
  one.machine.tcgen05_ld_32x32b(loaded, TmemAddress{});
  SimFragment<16> total;
  total.fill(0);
  total.transform(twice);
  EXPECT_EQ(one.registers.math.fma, 0U);  // nobody's yet
  total.combine(loaded, sum);
  EXPECT_EQ(one.registers.math.fma, 16U);
  SimFragment<1> rows;
  rows.fill(0);
  loaded.fold_into(rows, sum);
  EXPECT_EQ(one.registers.math.fma, 32U);
  SimFragment<1> copy = rows;
  copy.transform(twice);
  EXPECT_EQ(one.registers.math.fma, 33U);
}

TEST(FragmentsTest, AnyOfRegistersWithoutContentsIsWhatTheirWarpIsTold) {
  const auto asked = [](bool told) {
    LoneWarp warp{told};
    LoneWarp another{!told};
    SimFragment<16> fragment;
    warp.machine.tcgen05_ld_32x32b(fragment, TmemAddress{});
    const bool said = fragment.any([](float) { return false; });
    EXPECT_TRUE(warp.registers.asked_unknown);
    EXPECT_FALSE(another.registers.asked_unknown);
    return said;
  };
  EXPECT_TRUE(asked(true));
  EXPECT_FALSE(asked(false));
}

TEST(FragmentsTest, TouchesOfAccumulatorsAndFencesAreInOneOrderForEachWarp) {
  LoneWarp one;
  LoneWarp other;
  SimMachine::Accumulator<Extent<>> d{one.machine, 8U};
  d.fill(0);
  one.machine.wgmma_fence();
  EXPECT_GT(one.last.as<operands::WgmmaFence>().time, d.data()->touched);
  d.transform(twice);
  EXPECT_LT(one.last.as<operands::WgmmaFence>().time, d.data()->touched);
  EXPECT_EQ(one.registers.math.fma, 4U);
  other.machine.wgmma_fence();
  EXPECT_EQ(other.last.as<operands::WgmmaFence>().time, 1U);
}

TEST(FragmentsTest, WhatALaneHoldsIsInTheStore) {
  LoneWarp warp;
  const SharedTile<bf16> tile{SharedAddress{1024}, 64, 64, Swizzle::kNone};
  const SimFragment<16> fragment;
  const auto rows = [&] { return warp.last.as<operands::SharedRows>(); };
  warp.machine.st_shared(tile, 1, 2, fragment);
  EXPECT_FALSE(rows().by_columns || rows().half_rows);
  EXPECT_EQ(rows().row, 1U);
  EXPECT_EQ(rows().column, 2U);
  warp.machine.st_shared<LaneHolds::kColumn>(tile, 0, 0, fragment);
  EXPECT_TRUE(rows().by_columns && !rows().half_rows);
  warp.machine.st_shared<LaneHolds::kHalfRow>(tile, 0, 0, fragment);
  EXPECT_TRUE(!rows().by_columns && rows().half_rows);
  warp.machine.st_shared<LaneHolds::kHalfColumn>(tile, 0, 0, fragment);
  EXPECT_TRUE(rows().by_columns && rows().half_rows);
}

}  // namespace
}  // namespace warptwin::sim::fragments_test
