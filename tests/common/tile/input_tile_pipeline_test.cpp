#include "common/tile/input_tile_pipeline.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::input_tile_pipeline_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;

constexpr RoleTable kRoles{
    RoleWarps{Role::kEpilogue, 4}, RoleWarps{Role::kMma, 1}, RoleWarps{Role::kLoad, 1}};
using Tiles = StandardTilePayload<bf16, bf16>;
using Payload = GroupPayload<Tiles>;
using Load = From<Role::kLoad, TmaBytes>;
using Mma = To<Role::kMma, UmmaCommit>;
using Storage = InputPipelineStorage<Payload, Load, Mma>;
using Input = PipelineOf<RecordingMachine, Storage>;

constexpr Tiles kTiles{128, 64, 64};  // A 16384 bytes, B 8192 bytes
constexpr std::uint32_t kSlotBytes = 24576;

struct Bench {
  explicit Bench(ClusterShape cluster, std::uint32_t rank = 0, std::uint32_t k_group = 1)
      : storage{layout, "input", kRoles, cluster, {kTiles, k_group}, 2} {
    machine.rank = rank;
    machine.ctas = cluster.ctas();
  }
  std::string full(std::uint32_t stage) const {
    return std::to_string(storage.barriers.full[stage].address.value);
  }
  std::string empty(std::uint32_t stage) const {
    return std::to_string(storage.barriers.empty[stage].address.value);
  }

  SharedLayout layout{SharedAddress{0}};
  Storage storage;
  RecordingMachine machine;
};

TEST(InputTilePipeline, OneCtaLoadsWholeTilesAndCountsTheirBytes) {
  Bench bench{{}};
  auto input = Input{bench.machine, bench.storage}.producer();
  auto stage = input.acquire_stage();
  stage.load(7, {3, 5}, stage.payload().a_tile());
  stage.load(8, {4, 5}, stage.payload().b_tile());
  std::move(stage).release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"wait " + bench.empty(0) + " phase -1",
                   "sync_warp",
                   "one: arrive.expect_tx " + bench.full(0) + " 24576",
                   "load 0 map 7 at 320 384 bar " + bench.full(0) + " mask 0 group 1",
                   "load 16384 map 8 at 320 256 bar " + bench.full(0) + " mask 0 group 1"}));
}

TEST(InputTilePipeline, AConsumersReleaseCommitsOnceToEmpty) {
  Bench bench{{}};
  auto input = Input{bench.machine, bench.storage}.consumer();
  input.acquire_stage().release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"wait " + bench.full(0) + " phase 0", "sync_warp", "commit " + bench.empty(0)}));
}

TEST(InputTilePipeline, TheLeaderOfAPairArmsForBothAndThePeerArmsNothing) {
  constexpr ClusterShape kPair{2, 1, CtaGroup::kTwo};
  Bench leader{kPair, 0};
  Input{leader.machine, leader.storage}.producer().acquire_stage().release();
  EXPECT_EQ(leader.machine.take().back(), "one: arrive.expect_tx " + leader.full(0) + " 49152");
  Bench peer{kPair, 1};
  Input{peer.machine, peer.storage}.producer().acquire_stage().release();
  EXPECT_EQ(peer.machine.take(),
            (Lines{"wait.cluster " + peer.empty(0) + " phase -1", "sync_warp"}));
}

TEST(InputTilePipeline, AClusterOfPairsCopiesSlicesAndMulticastsThem) {
  constexpr ClusterShape kCluster{4, 2, CtaGroup::kTwo};
  Bench bench{kCluster, 6};  // x = 2, y = 1: leader of the second pair
  bench.storage.init(bench.machine);
  EXPECT_EQ(bench.machine.take()[1], "init " + bench.empty(0) + " 3");
  auto input = Input{bench.machine, bench.storage}.producer();
  auto stage = input.acquire_stage();
  bench.machine.take();
  stage.load(7, {0, 0}, stage.payload().a_tile());  // second of two slices of 64 rows
  stage.load(8, {0, 0}, stage.payload().b_tile());  // second of two slices of 32 rows
  std::move(stage).release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"load 8192 map 7 at 0 64 bar " + bench.full(0) + " mask 68 group 2",
                   "load 20480 map 8 at 0 32 bar " + bench.full(0) + " mask 80 group 2"}));
  Input{bench.machine, bench.storage}.consumer().acquire_stage().release();
  EXPECT_EQ(bench.machine.take().back(), "commit " + bench.empty(0) + " mask 252");
}

TEST(InputTilePipeline, AGroupOfKTilesHasOneBarrierPair) {
  Bench bench{{}, 0, 2};
  auto input = Input{bench.machine, bench.storage}.producer();
  auto stage = input.acquire_stage();
  EXPECT_EQ(bench.machine.take().back(), "one: arrive.expect_tx " + bench.full(0) + " 49152");
  EXPECT_EQ(stage.payload(1).a_tile().tile.base.value, kSlotBytes);
  std::move(stage).release();
  auto next = input.acquire_stage();
  EXPECT_EQ(next.payload(0).a_tile().tile.base.value, 2 * kSlotBytes);
  std::move(next).release();
}

TEST(InputTilePipeline, DrainWaitsForEveryStageOfTheRing) {
  Bench bench{{}};
  auto input = Input{bench.machine, bench.storage}.producer();
  for (int k = 0; k < 3; ++k) {
    input.acquire_stage().release();
  }
  bench.machine.take();
  input.drain();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"wait " + bench.empty(1) + " phase 0",
                   "sync_warp",
                   "wait " + bench.empty(0) + " phase 1",
                   "sync_warp"}));
}

TEST(InputTilePipeline, AProbesTokenBelongsToItsOwnSidesWait) {
  Bench bench{{}};
  auto input = Input{bench.machine, bench.storage}.producer();
  const ProducerToken token = input.try_acquire();
  EXPECT_EQ(bench.machine.take(), (Lines{"try_wait " + bench.empty(0) + " phase -1"}));
  input.acquire_if_needed(token).release();
  EXPECT_EQ(bench.machine.take().front(), "sync_warp");
}

TEST(InputTilePipeline, TwoClassesOfConsumersFreeOneStage) {
  using Scaled = InputTilePipeline<RecordingMachine,
                                   BlockwiseFP8TilePayload<f8e4m3, f8e4m3>,
                                   Load,
                                   Mma,
                                   To<Role::kEpilogue, ElectedLane>>;
  SharedLayout layout{SharedAddress{0}};
  const Scaled::Storage storage{layout, "input", kRoles, {}, {{128, 128, 128}}, 1};
  RecordingMachine machine;
  storage.init(machine);
  EXPECT_EQ(machine.take(), (Lines{"init 33792 1", "init 33800 5"}));  // a commit, four warps
  Scaled{machine, storage}.producer().acquire_stage().release();
  EXPECT_EQ(machine.take().back(), "one: arrive.expect_tx 33792 33280");  // A, B and the scales
}

// Lanes copy what they need of rows that no tensor map takes, and arrive when it is there.
TEST(InputTilePipeline, LanesMayFillAStageByCopiesOfTheirOwn) {
  using ByLanes = InputPipelineStorage<Tiles, From<Role::kLoad, CopiedByLanes>, Mma>;
  SharedLayout layout{SharedAddress{0}};
  const ByLanes storage{layout, "input", kRoles, {}, kTiles, 2};
  RecordingMachine machine;
  storage.init(machine);
  const std::string full = std::to_string(storage.barriers.full[0].address.value);
  const std::string empty = std::to_string(storage.barriers.empty[0].address.value);
  EXPECT_EQ(machine.take().front(), "init " + full + " 32");
  auto producer = PipelineOf<RecordingMachine, ByLanes>{machine, storage}.producer();
  auto stage = producer.acquire_stage();
  // 130 rows of 100 elements: the second tile of rows has two of them, and the second along K 36.
  const MatrixRows<bf16> rows{{4096}, 130, 100};
  machine.take();
  stage.copy(rows, {1, 1}, stage.payload().a_tile(), Extent<8>{}, {0, 1});
  const Lines copies = machine.take();
  ASSERT_EQ(copies.size(), 64U);  // of two rows each
  EXPECT_EQ(copies[0], "cp_async 0 " + std::to_string(4096 + 128 * 200 + 128) + " 8 of 8");
  EXPECT_EQ(copies[1], "cp_async 288 4096 0 of 8");  // row 2 is outside, and in its place zeros
  stage.copy(rows, {0, 1}, stage.payload().a_tile(), Extent<8>{}, {3, 4});
  EXPECT_EQ(machine.take()[0], "cp_async 864 " + std::to_string(4096 + 6 * 200 + 128) + " 8 of 8");
  std::move(stage).release();
  EXPECT_EQ(machine.take(), Lines{"cp_async.arrive.noinc " + full});
  PipelineOf<RecordingMachine, ByLanes>{machine, storage}.consumer().acquire_stage().release();
  EXPECT_EQ(
      machine.take(),
      (Lines{"wait " + full + " phase 0", "sync_warp", "fence.proxy.async", "commit " + empty}));
}

TEST(MatrixRows, AreCopiedAsFarAsTheyReach) {
  const MatrixRows<f8e4m3> rows{{0}, 2, 20};
  EXPECT_EQ(rows.piece(1, 16, {}, 16).bytes, 4U);
  EXPECT_EQ(rows.piece(1, 16, {}, 16).from.value, 36U);
  EXPECT_EQ(rows.piece(1, 20, {}, 16).bytes, 0U);
  EXPECT_EQ(rows.piece(2, 0, {}, 16).bytes, 0U);
}

}  // namespace
}  // namespace warptwin::input_tile_pipeline_test
