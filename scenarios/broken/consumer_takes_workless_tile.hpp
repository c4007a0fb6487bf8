/// Broken: the consumer asks for the work of four tiles in a row where eight are meant.
///
/// With the same work in both halves all is well. Otherwise it waits for a tile that nobody loads.
///
/// Expected: DEADLOCK. Twin: work_ring.

#pragma once

#include "scenarios/work_ring.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct ConsumerTakesWorklessTileKernel : WorkRingKernel<M, Extents> {
  using Base = WorkRingKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      if (has_work(problem.work, tile % 4)) {  // the fault: not of `tile`
        auto stage = ring.acquire_consumer();
        const SharedAddress source = smem.ring.tile(stage.index());
        machine.cp_async_bulk_tensor_store(problem.target, Problem::at(tile), source);
        machine.cp_async_bulk_commit_group();
        machine.template cp_async_bulk_wait_group_read<0>();
        std::move(stage).release();
      }
    }
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct ConsumerTakesWorklessTile : WorkRing {
  static constexpr ScenarioInfo kInfo{"consumer_takes_workless_tile",
                                      ScenarioKind::kBroken,
                                      "the consumer does not skip what the producer skips",
                                      "DEADLOCK",
                                      "work_ring"};
  template <Machine M, class Extents>
  using Kernel = ConsumerTakesWorklessTileKernel<M, Extents>;
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"tiles", "tiles that may have work", 16, 1, 1 << 20, ""},
        {"stages", "stages of the ring", 4, 1, 64},
        {"work",
         "which of eight tiles in a row have work, one bit each",
         15,
         0,
         255,
         nullptr,
         true},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
