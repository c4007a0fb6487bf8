/// The loads of the scenario `gemm_wgmma` alone: what L2 and DRAM give its CTAs when nothing else
/// holds them up.

#pragma once

#include <cstdint>
#include <utility>

#include "hw/bench/gemm_run.cuh"

namespace warptwin::hw::bench {

#ifdef __CUDACC__

/// gemm_wgmma whose warps free a stage as soon as it is full. They multiply and store nothing.
template <Machine M, class Extents>
struct GemmLoadsKernel : scenarios::GemmWgmmaKernel<M, Extents> {
  using Base = scenarios::GemmWgmmaKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    if (machine.warp_index() / kWarpsPerWarpgroup * kWgmmaRows >= problem.extents.tile_m) {
      return;
    }
    auto input = typename Base::Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_steps.count; ++k) {
        auto stage = input.acquire_stage();
        input.free(stage.mbar());
        std::move(stage).release_without_signal();
      }
    }
  }
};

/// Constants but for the stages, of which alone the launch has a value.
template <std::uint32_t kTileM,
          std::uint32_t kTileN,
          std::uint32_t kCluster,
          std::uint32_t kFlight = 0>
struct RingExtents {
  static constexpr Extent<kTileM> tile_m{};
  static constexpr Extent<kTileN> tile_n{};
  static constexpr Extent<64> tile_k{};
  static constexpr Extent<kCluster> cluster_m{};
  static constexpr Extent<kFlight> in_flight{};
  Extent<kDynamic> stages;

  static constexpr ClusterShape cluster() { return {kCluster, 1}; }
};

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
