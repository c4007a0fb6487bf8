#include "scenarios/attention.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/dispatch.hpp"

#include "scenarios/attention_2sm.hpp"
#include "tests/support/recording_machine.hpp"

namespace warptwin::scenarios::attention_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using tests::RecordingMachine;

constexpr std::uint32_t kCorrection = 8;
constexpr std::uint32_t kMma = 12;
constexpr std::uint32_t kLoad = 13;
constexpr std::uint32_t kIdle = 14;

/// One warp of the CTA `rank` over two query tiles of each CTA and three tiles of keys.
template <class Extents>
std::vector<std::string> run(const Extents& extents, std::uint32_t warp, std::uint32_t rank = 0) {
  using Kernel = Attention::Kernel<RecordingMachine, Extents>;
  using Problem = typename Kernel::Problem;
  RecordingMachine machine;
  machine.warp = warp;
  machine.rank = rank;
  machine.ctas = Extents::kCtas;
  const TileWalk walk{TileGrid{Extents::kCtas, 1}, extents.cluster()};
  run_warp<Kernel>(
      machine, Problem{1, 2, 3, 4, extents, walk, 3, 384, 1, 0, false, 1.0F, 0.0F}, {});
  for (const StageNote& note : machine.notes) {
    EXPECT_LT(note.step, StageStep::kDropped);
  }
  return machine.take();
}

auto count(const std::vector<std::string>& lines, const std::string& start) {
  return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.compare(0, start.size(), start) == 0;
  });
}

TEST(Attention, StaticAndDynamicExtentsGiveTheSameOperations) {
  for (std::uint32_t warp = 0; warp < 16; ++warp) {
    EXPECT_EQ(run(Attention::StaticExtents{}, warp), run(AttentionExtents<>{128, 3, 1, 1}, warp))
        << "warp " << warp;
  }
}

TEST(Attention, TheRolesShareTheRegistersThatTheCtaBeginsWith) {
  EXPECT_EQ(8 * kSoftmaxRegisters + 4 * kCorrectionRegisters + 4 * kOtherRegisters,
            16 * kAttentionRegisters);
  EXPECT_EQ(16 * kWarpLanes * kAttentionRegisters, 65536U);
  for (std::uint32_t warp = 0; warp < 16; ++warp) {
    EXPECT_EQ(count(run(Attention::StaticExtents{}, warp), "setmaxnreg"), 1) << "warp " << warp;
  }
  EXPECT_EQ(run(Attention::StaticExtents{}, kIdle).back(), "setmaxnreg.dec 40");
}

TEST(Attention, EveryTileIsLoadedOnceInTheOrderItIsUsed) {
  const auto load = run(Attention::StaticExtents{}, kLoad);
  EXPECT_EQ(count(load, "one: arrive.expect_tx"), 2 + 2 * 3);
  std::string maps;
  for (const std::string& line : load) {
    if (line.compare(0, 5, "load ") == 0) {
      maps += line[line.find("map ") + 4];
    }
  }
  EXPECT_EQ(maps, "1122112233223333");  // two panels each: Q0 K0 Q1 K1 V0 K2 V1 V2
}

TEST(Attention, AnMmaReadsProbabilitiesWhereTheScoresStood) {
  const auto mma = run(Attention::StaticExtents{}, kMma);
  EXPECT_EQ(count(mma, "mma 1 d 0 "), 3 * 8);          // S of tile 0: 8 steps of head_dim
  EXPECT_EQ(count(mma, "mma 1 d 128 "), 3 * 8);        // S of tile 1
  EXPECT_EQ(count(mma, "mma.tmem_a 1 256 0 0"), 1);    // O of tile 0 is begun once
  EXPECT_EQ(count(mma, "mma.tmem_a 1 256 "), 3 * 8);   // and takes 8 steps of keys a tile
  EXPECT_EQ(count(mma, "mma.tmem_a 1 384 184 1"), 3);  // the last step of P of tile 1
  EXPECT_EQ(count(mma, "commit"), 2 + 6 + 6 * 3);      // q, kv; scores, accum, P
}

TEST(Attention, SoftmaxSendsAFactorForEveryAccumulatorAndCorrectionTakesThemInTurn) {
  const auto softmax = run(Attention::StaticExtents{}, 5);
  EXPECT_EQ(count(softmax, "st.shared"), 3);
  EXPECT_EQ(count(softmax, "st 16 lane 32 column 128"), 3);  // warp 5: tile 1, its second quarter
  const auto correction = run(Attention::StaticExtents{}, kCorrection);
  EXPECT_EQ(count(correction, "ld.shared.row"), 2 * 3);
  EXPECT_EQ(count(correction, "st 16 "), 2 * 2 * 8);  // two corrections of each tile, 128 columns
  EXPECT_EQ(count(correction, "store "), 2 * 2);      // two boxes of each tile
}

TEST(Attention, CausalTilesEndWhereTheDiagonalOfTheirPairDoes) {
  using Kernel = Attention::Kernel<RecordingMachine, Attention::StaticExtents>;
  RecordingMachine machine;
  machine.warp = kLoad;
  const Kernel::Problem problem{1, 2, 3, 4, {}, TileGrid{3, 1}, 5, 640, 1, 0, true, 1.0F, 0.0F};
  run_warp<Kernel>(machine, problem, {});
  // Keys and values of 2, of 4, and of all 5 tiles for three pairs of query tiles.
  EXPECT_EQ(count(machine.take(), "one: arrive.expect_tx"), 3 * 2 + 2 * (2 + 4 + 5));
}

TEST(Attention, AWindowLeavesTheTilesOfKeysThatSomeQueryOfAPairSees) {
  using Kernel = Attention::Kernel<RecordingMachine, Attention::StaticExtents>;
  const Kernel::Problem problem{1, 2, 3, 4, {}, TileGrid{3, 6}, 6, 768, 3, 100, true, 1.0F, 0.0F};
  EXPECT_EQ(problem.first_key_tile({0, 0}), 0U);
  EXPECT_EQ(problem.first_key_tile({1, 0}), 1U);  // query 256 sees keys from 157 on
  EXPECT_EQ(problem.first_key_tile({2, 0}), 3U);
  EXPECT_EQ(problem.key_tiles({0, 0}), 2U);
  EXPECT_EQ(problem.key_tiles({2, 0}), 3U);
  EXPECT_EQ(problem.kv_head({0, 2}), 0U);
  EXPECT_EQ(problem.kv_head({0, 3}), 1U);
}

TEST(Attention2sm, StaticAndDynamicExtentsGiveTheSameOperations) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (std::uint32_t warp = 0; warp < 16; ++warp) {
      EXPECT_EQ(run(Attention2sm::StaticExtents{}, warp, rank),
                run(Attention2sm::Extents{128, 6, 1, 2}, warp, rank))
          << rank << ", warp " << warp;
    }
  }
}

TEST(Attention2sm, EachCtaLoadsHalfOfTheRowsOfKeysAndHalfOfTheColumnsOfValues) {
  const auto leader = run(Attention2sm::StaticExtents{}, kLoad, 0);
  const auto peer = run(Attention2sm::StaticExtents{}, kLoad, 1);
  EXPECT_EQ(count(leader, "one: arrive.expect_tx"), 2 + 2 * 3);
  EXPECT_THAT(leader, Contains(EndsWith(" 65536")));  // queries of both
  EXPECT_THAT(leader, Contains(EndsWith(" 32768")));  // half a tile of each
  EXPECT_EQ(count(peer, "one: arrive.expect_tx"), 0);
  std::vector<std::string> from;  // of keys and values
  for (const std::string& line : peer) {
    if (line.compare(0, 5, "load ") == 0 && line.find("map 1") == std::string::npos) {
      from.push_back(line.substr(line.find("map "), line.find(" bar") - line.find("map ")));
    }
  }
  // From columns 0 and 64, rows 64 on of each tile of keys; from column 64 on of values.
  EXPECT_THAT(from,
              ElementsAre("map 2 at 0 64",
                          "map 2 at 64 64",
                          "map 2 at 0 192",
                          "map 2 at 64 192",
                          "map 3 at 64 0",
                          "map 2 at 0 320",
                          "map 2 at 64 320",
                          "map 3 at 64 128",
                          "map 3 at 64 256"));
}

TEST(Attention2sm, TheLeaderAloneMultipliesAndTellsThePeerAllButThatPHasBeenRead) {
  const auto leader = run(Attention2sm::StaticExtents{}, kMma, 0);
  const auto peer = run(Attention2sm::StaticExtents{}, kMma, 1);
  EXPECT_EQ(count(leader, "mma 2 d 0 "), 3 * 8);
  EXPECT_EQ(count(leader, "mma.tmem_a 2 256 "), 3 * 8);
  EXPECT_EQ(count(leader, "commit"), 2 + 6 + 6 * 3);
  EXPECT_EQ(std::count_if(leader.begin(),
                          leader.end(),
                          [](const auto& line) { return line.find(" mask 3") != line.npos; }),
            2 + 6 + 6 * 2);
  EXPECT_EQ(count(peer, "mma") + count(peer, "commit"), 0);
}

TEST(Attention2sm, BothSoftmaxesAndBothCorrectionsArriveAtTheLeader) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const auto softmax = run(Attention2sm::StaticExtents{}, 5, rank);
    const auto correction = run(Attention2sm::StaticExtents{}, kCorrection, rank);
    // At the end in the other CTA, too: tensor memory may be freed.
    EXPECT_EQ(count(softmax, "arrive cta 0"), 3 + rank);
    EXPECT_EQ(count(softmax, "arrive cta 1"), 1 - rank);
    EXPECT_EQ(count(correction, "arrive cta 0"), 6 + rank);
  }
}

TEST(Attention2sm, APairCountsTheKeysThatOneOfItsQueriesSees) {
  using Kernel = Attention2sm::Kernel<RecordingMachine, Attention2sm::StaticExtents>;
  const TileWalk walk{TileGrid{6, 1}, ClusterShape{2, 1, CtaGroup::kTwo}};
  Kernel::Problem problem{1, 2, 3, 4, {}, walk, 11, 1408, 1, 0, true, 1.0F, 0.0F};
  for (const std::uint32_t m : {2U, 3U}) {  // queries 512 to 1023
    EXPECT_EQ(problem.first_key_tile({m, 0}), 0U);
    EXPECT_EQ(problem.key_tiles({m, 0}), 8U);
  }
  EXPECT_EQ(problem.key_tiles({4, 0}), 11U);
  problem.window = 100;
  for (const std::uint32_t m : {2U, 3U}) {
    EXPECT_EQ(problem.first_key_tile({m, 0}), 3U);  // query 512 sees keys from 413 on
    EXPECT_EQ(problem.key_tiles({m, 0}), 5U);
  }
}

TEST(Attention, WhatAQuerySeesIsCounted) {
  for (const SeenKeys seen :
       {SeenKeys{false, 0}, SeenKeys{true, 0}, SeenKeys{false, 7}, SeenKeys{true, 7}}) {
    for (const std::uint64_t keys : {3U, 20U, 40U}) {
      std::uint64_t pairs = 0;
      for (std::uint64_t query = 0; query < 20; ++query) {
        for (std::uint64_t key = 0; key < keys; ++key) {
          const bool hidden =
              (seen.causal && key > query) || (seen.window != 0 && key + seen.window <= query);
          pairs += hidden ? 0 : 1;
        }
      }
      EXPECT_EQ(attended_pairs(20, keys, seen), pairs) << seen.causal << seen.window << keys;
    }
  }
}

}  // namespace
}  // namespace warptwin::scenarios::attention_test
