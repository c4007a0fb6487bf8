/// Broken: the warp copies into a stage as soon as it has issued the multiplication of it.
///
/// One thread does both, in turn, and yet they overlap: an MMA is issued, not done. Only
/// input.empty, which its commit completes, says when the stage has been read.
///
/// Expected: SMEM_WAR_ASYNC. Twin: gemm_serial.

#pragma once

#include "scenarios/gemm_serial.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSerialOverwritesStageKernel : GemmSerialKernel<M, Extents> {
  using Base = GemmSerialKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input};
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        load_stage(machine, problem, smem, input, {tile.m, k}, {tile.n, k});
        auto stage = input.acquire_consumer();
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    input.drain_producer();
    std::move(warp).release();
  }

 private:
  static constexpr void load_stage(M& machine,
                                   const Problem& problem,
                                   const Storage& smem,
                                   Input& input,
                                   TileIndex a,
                                   TileIndex b) {
    const SourceSite site = SourceSite::current();
    const std::uint32_t stage = input.producer_stage();  // the fault: no wait for input.empty
    const Mbarrier full = input.producer_mbar(stage);
    const auto tiles = smem.input.at(stage, 0);
    arm(machine, full, smem.input.full_bytes, site);
    load_slice(machine, problem.a, a, tiles.a_tile(), full, smem.input.cluster, site);
    load_slice(machine, problem.b, b, tiles.b_tile(), full, smem.input.cluster, site);
    input.producer_step();
  }
};

struct GemmSerialOverwritesStage : GemmSerial {
  static constexpr ScenarioInfo kInfo{"gemm_serial_overwrites_stage",
                                      ScenarioKind::kBroken,
                                      "a stage is filled while it is multiplied",
                                      "SMEM_WAR_ASYNC",
                                      "gemm_serial"};
  template <Machine M, class Extents>
  using Kernel = GemmSerialOverwritesStageKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
