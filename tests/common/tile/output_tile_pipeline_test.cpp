#include "common/tile/output_tile_pipeline.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"
#include "common/tile/epilogue_k_context.hpp"
#include "common/warp/epilogue_warp.hpp"
#include "common/warp/mma_warp.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::output_tile_pipeline_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;

constexpr RoleTable kRoles{
    RoleWarps{Role::kEpilogue, 4}, RoleWarps{Role::kMma, 1}, RoleWarps{Role::kLoad, 1}};
using Storage = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;
using Accum = PipelineOf<RecordingMachine, Storage>;

constexpr ClusterShape kPair{2, 1, CtaGroup::kTwo};

// full at 0 and 8, empty at 16 and 24, tmem.done at 32.
struct Bench {
  explicit Bench(ClusterShape cluster = {}, std::uint32_t rank = 0)
      : storage{layout, "accum", kRoles, cluster, {2, 128}},
        tmem{layout, "tmem", kRoles, cluster},
        accum{machine, storage, {TmemAddress{0}, 256, cluster.group}} {
    machine.rank = rank;
    machine.ctas = cluster.ctas();
  }

  SharedLayout layout{SharedAddress{0}};
  Storage storage;
  TmemDeallocStorage<> tmem;
  RecordingMachine machine;
  Accum accum;
};

TEST(OutputTilePipeline, EveryEpilogueLaneOfTheGroupFreesAnAccumulator) {
  Bench one;
  one.storage.init(one.machine);
  one.tmem.init(one.machine);
  EXPECT_EQ(one.machine.take(),
            (Lines{"init 0 1", "init 16 128", "init 8 1", "init 24 128", "init 32 128"}));
  Bench pair{kPair};
  pair.storage.init(pair.machine);
  pair.tmem.init(pair.machine);
  EXPECT_EQ(
      pair.machine.take(),
      (Lines{"init 0 1", "init 16 256", "init 8 1", "init 24 256", "init 32 256", "init 40 1"}));
}

TEST(OutputTilePipeline, AnMmaStageWaitsEmptyMultipliesAndCommitsOnce) {
  Bench bench;
  auto stage = bench.accum.acquire_mma_linear();
  const StandardTilePayload<bf16, bf16> payload{128, 64, 32};
  stage.multiply(payload.at(SharedAddress{1024}), Accumulate::kNo);
  std::move(stage).release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"wait 16 phase -1",
                   "sync_warp",
                   "tcgen05.fence.after",
                   "mma 1 d 0 a 1024 b 9216 shape 128 64 set",
                   "mma 1 d 0 a 1056 b 9248 shape 128 64 add",
                   "commit 0"}));
}

TEST(OutputTilePipeline, AnEpilogueStageWaitsFullLoadsItsLanesAndFreesOnce) {
  Bench bench;
  bench.machine.warp = 2;
  auto stage = bench.accum.acquire_epilogue_linear();
  RecordingMachine::Fragment<16> fragment;
  stage.load(fragment, 16);
  std::move(stage).release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"wait 0 phase 0",
                   "sync_warp",
                   "tcgen05.fence.after",
                   "ld 16 lane 64 column 16",
                   "tcgen05.fence.before",
                   "arrive 16 1"}));
}

TEST(OutputTilePipeline, TheNextAccumulatorStandsOneStrideFurther) {
  Bench bench;
  bench.accum.acquire_mma_linear().release();
  auto stage = bench.accum.acquire_mma_linear();
  EXPECT_EQ(stage.tmem().address().column(), 128U);
  std::move(stage).release();
  EXPECT_EQ(bench.machine.take().back(), "commit 8");
}

TEST(OutputTilePipeline, APairCommitsToBothAndFreesOnTheLeader) {
  Bench bench{kPair, 1};
  bench.accum.acquire_mma_linear().release();
  EXPECT_EQ(bench.machine.take().back(), "commit 0 mask 3");
  bench.accum.acquire_epilogue_linear().release();
  EXPECT_EQ(bench.machine.take().back(), "arrive cta 0 16 1");
}

TEST(OutputTilePipeline, ScopesArriveAtTheirEnd) {
  Bench bench;
  {
    auto stage = bench.accum.producer().acquire();
    bench.machine.take();
  }
  EXPECT_EQ(bench.machine.take(), (Lines{"commit 0"}));
  {
    auto stage = bench.accum.per_k().consume();
    bench.machine.take();
  }
  EXPECT_EQ(bench.machine.take(), (Lines{"tcgen05.fence.before", "arrive 16 1"}));
}

TEST(OutputTilePipeline, TheDirectFormMakesTheSameArrivals) {
  Bench bench;
  bench.accum.release_from_mma(bench.accum.acquire_for_mma());
  EXPECT_EQ(bench.machine.take().back(), "commit 0");
  bench.accum.release_from_epilogue(bench.accum.acquire_for_epilogue());
  EXPECT_EQ(bench.machine.take().back(), "arrive 16 1");
}

struct PerK : testing::Test {
  using EpilogueReads = To<Role::kEpilogue, ElectedLane>;
  using Input = InputTilePipeline<RecordingMachine,
                                  BlockwiseFP8TilePayload<f8e4m3, f8e4m3>,
                                  From<Role::kLoad, TmaBytes>,
                                  To<Role::kMma, UmmaCommit>,
                                  EpilogueReads>;
  Bench bench;
  SharedLayout layout{SharedAddress{1024}};
  Input::Storage storage{layout, "input", kRoles, {}, {{128, 128, 128}}, 1};
  Input input{bench.machine, storage};
  std::string empty = std::to_string(storage.barriers.empty[0].address.value);
};

TEST_F(PerK, BothSidesArriveAtTheEndOfTheScope) {
  {
    auto stage = bench.accum.per_k_epilogue<EpilogueReads>(input);
    EXPECT_EQ(bench.machine.take(), (Lines{"wait 0 phase 0", "sync_warp", "tcgen05.fence.after"}));
  }
  EXPECT_EQ(bench.machine.take(),
            (Lines{"fence.proxy.async",
                   "sync_warp",
                   "one: arrive " + empty + " 1",
                   "tcgen05.fence.before",
                   "arrive 16 1"}));
}

TEST_F(PerK, AnEarlyArrivalIsNotRepeated) {
  {
    auto stage = bench.accum.per_k_epilogue<EpilogueReads>(input);
    stage.arrive_input();
    stage.release_output();
    bench.machine.take();
  }
  EXPECT_EQ(bench.machine.take(), Lines{});
}

TEST(MmaWarp, AllocatesHandsOverAndFrees) {
  Bench bench;
  auto warp = MmaWarp<RecordingMachine, Accum>::create(bench.machine, bench.storage, bench.tmem);
  EXPECT_EQ(bench.machine.take(), (Lines{"tcgen05.alloc 1 256", "ld.shared", "bar.arrive 1 160"}));
  std::move(warp).release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"tcgen05.relinquish 1",
                   "wait 32 phase 0",
                   "sync_warp",
                   "tcgen05.fence.after",
                   "tcgen05.dealloc 1 0 256"}));
}

TEST(EpilogueWarp, WaitsForTheAddressAndSignalsPeerThenSelf) {
  Bench bench{kPair, 0};
  auto warp =
      EpilogueWarp<RecordingMachine, Accum>::create(bench.machine, bench.storage, bench.tmem);
  EXPECT_EQ(bench.machine.take(), (Lines{"bar.sync 1 160", "ld.shared"}));
  std::move(warp).release();
  EXPECT_EQ(bench.machine.take(),
            (Lines{"tcgen05.fence.before", "arrive cta 1 32 1", "arrive 32 1"}));
}

TEST(EpilogueWarp, AForgottenReleaseIsNoted) {
  Bench bench;
  {
    auto warp =
        EpilogueWarp<RecordingMachine, Accum>::create(bench.machine, bench.storage, bench.tmem);
  }
  ASSERT_EQ(bench.machine.notes.size(), 1U);
  EXPECT_EQ(bench.machine.notes[0].step, StageStep::kDropped);
}

}  // namespace
}  // namespace warptwin::output_tile_pipeline_test
