#include "common/tile/online_softmax.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "sim/model/sim_machine.hpp"

namespace warptwin::online_softmax_test {
namespace {

using sim::SimMachine;
using Scores = sim::SimFragment<8>;
using Softmax = OnlineSoftmax<SimMachine>;
using Values = Softmax::Values;

constexpr std::uint32_t kColumns = 8;

// Scores that grow with the tile in even rows, and shrink in odd ones.
float score(std::uint32_t tile, std::uint32_t row, std::uint32_t column) {
  const auto step = static_cast<float>(tile) * (row % 2 == 0 ? 1.0F : -1.0F);
  return step + static_cast<float>((row * 3 + column * 5) % 7) / 8.0F;
}

Scores scores(std::uint32_t tile) {
  Scores rows;
  rows.fill(0);
  for (std::uint32_t row = 0; row < kWarpLanes; ++row) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      rows.data()->bits[row * kColumns + column] =
          std::bit_cast<std::uint32_t>(score(tile, row, column));
    }
  }
  return rows;
}

float at(const Values& values, std::uint32_t row) {
  return std::bit_cast<float>(values.data()->bits[row]);
}

// The weighted sum of the columns' numbers, corrected and divided as a kernel does it.
std::vector<float> run(float scale, float slack, std::uint32_t tiles, bool* corrected = nullptr) {
  Softmax softmax{scale, slack};
  Values total;
  total.fill(0);
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    Scores rows = scores(tile);
    const Values factors = softmax.raise(rows);
    if (corrected != nullptr && tile > 0) {
      *corrected = *corrected || factors.any([](float factor) { return factor != 1.0F; });
    }
    total.combine(factors, [](float sum, float factor) { return sum * factor; });
    softmax.weigh(rows);
    rows.transform_columns(
        [](float weight, std::uint32_t column) { return weight * static_cast<float>(column); });
    rows.fold_into(total, [](float sum, float value) { return sum + value; });
  }
  total.combine(softmax.inverse_sum(), [](float sum, float inverse) { return sum * inverse; });
  std::vector<float> result;
  for (std::uint32_t row = 0; row < kWarpLanes; ++row) {
    result.push_back(at(total, row));
  }
  return result;
}

double expected(double scale, std::uint32_t tiles, std::uint32_t row) {
  double sum = 0;
  double total = 0;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      const double weight = std::exp2(scale * static_cast<double>(score(tile, row, column)));
      sum += weight;
      total += weight * column;
    }
  }
  return total / sum;
}

TEST(OnlineSoftmax, GivesWhatAllColumnsAtOnceGive) {
  for (const float slack : {0.0F, 1.5F, 8.0F}) {
    const std::vector<float> got = run(1.25F, slack, 5);
    for (std::uint32_t row = 0; row < kWarpLanes; ++row) {
      EXPECT_NEAR(got[row], expected(1.25, 5, row), 1e-5) << "slack " << slack << " row " << row;
    }
  }
}

TEST(OnlineSoftmax, GrowthWithinTheSlackCorrectsNothing) {
  bool corrected = false;
  run(1.25F, 8.0F, 5, &corrected);
  EXPECT_FALSE(corrected);
  run(1.25F, 0.0F, 2, &corrected);
  EXPECT_TRUE(corrected);
}

TEST(OnlineSoftmax, OnlyRowsWhoseMaximumGrowsShrink) {
  Softmax softmax{1.0F, 0.0F};
  Scores first = scores(0);
  softmax.raise(first);
  Scores second = scores(1);
  const Values factors = softmax.raise(second);
  EXPECT_FLOAT_EQ(at(factors, 0), 0.5F);  // grown by one power of two
  EXPECT_FLOAT_EQ(at(factors, 1), 1.0F);
}

TEST(OnlineSoftmax, WhatIsNotThereHasNoWeight) {
  Softmax softmax{1.0F, 0.0F};
  Scores rows;
  rows.fill(3.0F);
  rows.transform_columns(
      [](float value, std::uint32_t column) { return column < 2 ? value : Softmax::kNoScore; });
  softmax.raise(rows);
  softmax.weigh(rows);
  EXPECT_EQ(std::bit_cast<float>(rows.data()->bits[1]), 1.0F);
  EXPECT_EQ(std::bit_cast<float>(rows.data()->bits[2]), 0.0F);
  EXPECT_EQ(at(softmax.inverse_sum(), 31), 0.5F);
}

TEST(OnlineSoftmax, ATileOfNoScoresChangesNothing) {
  Softmax softmax{1.0F, 0.0F};
  Scores none;
  none.fill(Softmax::kNoScore);
  EXPECT_EQ(at(softmax.raise(none), 0), 1.0F);
  softmax.weigh(none);
  EXPECT_EQ(std::bit_cast<float>(none.data()->bits[0]), 0.0F);
  Scores rows;
  rows.fill(3.0F);
  EXPECT_EQ(at(softmax.raise(rows), 0), 0.0F);  // nothing was summed up before
  softmax.weigh(rows);
  EXPECT_EQ(at(softmax.inverse_sum(), 0), 1.0F / kColumns);
}

TEST(Fragment, APackedRegisterHoldsTheFirstOfTwoInItsLowHalf) {
  sim::SimFragment<2> pair;
  pair.fill(1.0F);
  pair.transform_columns(
      [](float value, std::uint32_t column) { return column == 0 ? value : -2.0F; });
  const sim::SimFragment<1> words = pair.packed<bf16>();
  EXPECT_EQ(words.data()->bits[31], 0xC0003F80U);
  EXPECT_EQ(words.data()->registers, 1U);
}

TEST(Fragment, APlaceIsARowOfTheWarpAndAColumn) {
  sim::SimFragment<2> pair;
  pair.fill(0.5F);
  pair.transform_places([](float value, std::uint32_t row, std::uint32_t column) {
    return value + static_cast<float>(10 * row + column);
  });
  EXPECT_EQ(std::bit_cast<float>(pair.data()->bits[0]), 0.5F);
  EXPECT_EQ(std::bit_cast<float>(pair.data()->bits[63]), 311.5F);
}

TEST(Fragment, ACopyHasItsOwnRegisters) {
  Values values;
  values.fill(1.0F);
  Values copy = values;
  copy.exp2();
  EXPECT_EQ(at(values, 0), 1.0F);
  EXPECT_EQ(at(copy, 0), 2.0F);
}

TEST(Fragment, WithoutDataAVoteSaysYesAndNothingElseHappens) {
  Scores rows;
  Values values;
  rows.fold_into(values, [](float sum, float value) { return sum + value; });
  rows.combine_rows(values, [](float value, float) { return value; });
  rows.exp2();
  EXPECT_TRUE(values.any([](float) { return false; }));
  EXPECT_TRUE(rows.packed<bf16>().data()->bits.empty());
}

}  // namespace
}  // namespace warptwin::online_softmax_test
