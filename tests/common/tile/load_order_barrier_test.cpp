#include "common/tile/load_order_barrier.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_layout.hpp"
#include "common/tile/epi_load_pipeline.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::load_order_barrier_test {
namespace {

using tests::RecordingMachine;
using Lines = std::vector<std::string>;
using Order = LoadOrderBarrier<RecordingMachine>;

constexpr RoleTable kRoles{
    RoleWarps{Role::kEpilogue, 4}, RoleWarps{Role::kLoad, 1}, RoleWarps{Role::kEpilogueLoad, 1}};

TEST(LoadOrderBarrier, TheLoadWarpCannotLapTheWarpThatWaitsForIt) {
  SharedLayout layout{SharedAddress{0}};
  const Order::Storage storage{layout, "order", kRoles, Order::kStages};
  RecordingMachine machine;
  Order load{machine, storage};
  for (int tile = 0; tile < 2; ++tile) {
    load.arrive_and_step();
  }
  machine.take();
  load.arrive_and_step();
  EXPECT_EQ(machine.take().front(), "wait 16 phase 0");  // tile 0 was taken by the epilogue load
}

TEST(LoadOrderBarrier, OneLaneOfEachSideArrives) {
  SharedLayout layout{SharedAddress{0}};
  const Order::Storage storage{layout, "order", kRoles, 1};
  RecordingMachine machine;
  storage.init(machine);
  EXPECT_EQ(machine.take(), (Lines{"init 0 1", "init 8 1"}));
  Order{machine, storage}.wait_and_step();
  EXPECT_EQ(machine.take(), (Lines{"wait 0 phase 0", "sync_warp", "sync_warp", "one: arrive 8 1"}));
}

TEST(EpiLoadPipeline, CountsOneLoaderAndEveryEpilogueLane) {
  SharedLayout layout{SharedAddress{0}};
  const EpiLoadPipelineStorage storage{layout, "source", kRoles, 1, 256};
  RecordingMachine machine;
  storage.init(machine);
  EXPECT_EQ(machine.take(), (Lines{"init 256 1", "init 264 128"}));
}

}  // namespace
}  // namespace warptwin::load_order_barrier_test
