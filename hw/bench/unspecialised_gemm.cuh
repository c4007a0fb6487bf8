/// The first steps of a ladder of GEMM kernels: every warpgroup multiplies, and one of their lanes
/// loads too. With one stage nothing overlaps; with more, loads run ahead. By hand, raw barriers.

#pragma once

#include "hw/bench/raw_kernels.cuh"

#ifdef __CUDACC__

namespace warptwin::hw::bench {

/// One tile a CTA: `problem.tiles.count()` CTAs.
template <class Shape, std::uint32_t kStages>
__global__ void __launch_bounds__(128 * Shape::kWarpgroups, 1)
    unspecialised_gemm(const __grid_constant__ WgmmaProblem<CudaMachine, Shape> problem) {
  constexpr std::uint32_t kBytesA = 2 * Shape::kM * Shape::kK;
  constexpr std::uint32_t kBytes = kBytesA + 2 * Shape::kN * Shape::kK;
  extern __shared__ __align__(1024) unsigned char warptwin_shared_memory[];
  auto* full = reinterpret_cast<std::uint64_t*>(warptwin_shared_memory + kStages * kBytes);
  raw::start<kStages>(full, full + kStages, 1);
  const std::uint32_t warp = ptx::warp_index();
  const bool loads = warp == 0 && ptx::elect_sync();
  const Tile tile = grouped_tile(problem.tiles, blockIdx.x);
  const auto load = [&](std::uint32_t step) {
    const std::uint32_t stage = step % kStages;
    unsigned char* to = warptwin_shared_memory + stage * kBytes;
    raw::arm(full + stage, kBytes);
    raw::load(to, &problem.a, step * Shape::kK, tile.m * Shape::kM, full + stage);
    raw::load(to + kBytesA, &problem.b, step * Shape::kK, tile.n * Shape::kN, full + stage);
  };
  if (loads) {
    for (std::uint32_t step = 0; step < kStages && step < problem.steps; ++step) {
      load(step);
    }
  }
  float d[Shape::kN / 2];
  for (std::uint32_t step = 0; step < problem.steps; ++step) {
    const std::uint32_t stage = step % kStages;
    raw::wait(full + stage, step / kStages & 1);
    multiply_stage<Shape>(d,
                          StandardTilePayload<bf16, bf16>{Shape::kM, Shape::kN, Shape::kK}.at(
                              ptx::shared_address(warptwin_shared_memory + stage * kBytes)),
                          warp / 4 * ptx::kWgmmaRows,
                          step == 0);
    ptx::wgmma_wait_group<0>();
    __syncthreads();  // every warpgroup has read the stage
    if (loads && step + kStages < problem.steps) {
      load(step + kStages);
    }
  }
  store_rows<Shape>(d, problem.d, problem.columns, tile, warp);
}

}  // namespace warptwin::hw::bench

#endif  // __CUDACC__
