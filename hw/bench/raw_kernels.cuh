/// The copy pipeline and the GEMM main loop once more, by hand: CUDA with raw barriers, no layer
/// and no machine. Same roles, same waits, same arrivals; what the layer costs is the difference.

#pragma once

#include "hw/bench/wgmma_gemm.hpp"
#include "hw/cuda/machine.hpp"
#include "hw/ptx/instructions.hpp"

#ifdef __CUDACC__

namespace warptwin::hw::bench {

namespace raw {

__device__ __forceinline__ void wait(std::uint64_t* bar, std::uint32_t parity) {
  while (!::cuda::ptx::mbarrier_try_wait_parity(
      ::cuda::ptx::sem_acquire, ::cuda::ptx::scope_cta, bar, parity)) {
  }
  __syncwarp();
}

__device__ __forceinline__ void arm(std::uint64_t* bar, std::uint32_t bytes) {
  namespace p = ::cuda::ptx;
  (void)p::mbarrier_arrive_expect_tx(p::sem_release, p::scope_cta, p::space_shared, bar, bytes);
}

__device__ __forceinline__ void arrive(std::uint64_t* bar) {
  namespace p = ::cuda::ptx;
  (void)p::mbarrier_arrive(p::sem_release, p::scope_cta, p::space_shared, bar);
}

__device__ __forceinline__ void load(
    void* to, const CUtensorMap* map, std::uint32_t column, std::uint32_t row, std::uint64_t* bar) {
  namespace p = ::cuda::ptx;
  const std::int32_t at[2] = {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)};
  p::cp_async_bulk_tensor(p::space_cluster, p::space_global, to, map, at, bar);
}

/// Initialises a ring's barriers in one thread, and brings the CTA together.
template <std::uint32_t kStages>
__device__ __forceinline__ void start(std::uint64_t* full,
                                      std::uint64_t* empty,
                                      std::uint32_t frees) {
  namespace p = ::cuda::ptx;
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < kStages; ++i) {
      p::mbarrier_init(full + i, 1);
      p::mbarrier_init(empty + i, frees);
    }
    p::fence_mbarrier_init(p::sem_release, p::scope_cluster);
  }
  __syncthreads();
}

}  // namespace raw

/// The scenario `producer_consumer`: tiles of kRows x kColumns bf16 through a ring.
template <std::uint32_t kRows, std::uint32_t kColumns, std::uint32_t kStages>
__global__ void __launch_bounds__(64, 1) raw_copy(const __grid_constant__ CUtensorMap source,
                                                  const __grid_constant__ CUtensorMap target,
                                                  std::uint32_t tiles) {
  namespace p = ::cuda::ptx;
  constexpr std::uint32_t kBytes = 2 * kRows * kColumns;
  extern __shared__ __align__(1024) unsigned char warptwin_shared_memory[];
  auto* full = reinterpret_cast<std::uint64_t*>(warptwin_shared_memory + kStages * kBytes);
  std::uint64_t* empty = full + kStages;
  raw::start<kStages>(full, empty, 32);
  const bool elected = ptx::elect_sync();
  std::uint32_t stage = 0;
  std::uint32_t phase = 0;
  if (ptx::warp_index() == 0) {
    for (std::uint32_t tile = 0; tile < tiles; ++tile) {
      raw::wait(empty + stage, phase ^ 1);
      if (elected) {
        raw::arm(full + stage, kBytes);
        raw::load(warptwin_shared_memory + stage * kBytes, &source, 0, tile * kRows, full + stage);
      }
      if (++stage == kStages) {
        stage = 0;
        phase ^= 1;
      }
    }
  } else {
    for (std::uint32_t tile = 0; tile < tiles; ++tile) {
      raw::wait(full + stage, phase);
      if (elected) {
        const std::int32_t at[2] = {0, static_cast<std::int32_t>(tile * kRows)};
        p::cp_async_bulk_tensor(
            p::space_global, p::space_shared, &target, at, warptwin_shared_memory + stage * kBytes);
        p::cp_async_bulk_commit_group();
      }
      p::cp_async_bulk_wait_group_read(p::n32_t<0>{});
      __syncwarp();
      raw::arrive(empty + stage);
      if (++stage == kStages) {
        stage = 0;
        phase ^= 1;
      }
    }
    p::cp_async_bulk_wait_group(p::n32_t<0>{});
  }
}

/// WgmmaGemmKernel<..., Shape> by hand, for clusters of one CTA.
template <class Shape, std::uint32_t kStages>
__global__ void __launch_bounds__(128 * Shape::kWarpgroups + 128, 1)
    raw_gemm(const __grid_constant__ WgmmaProblem<CudaMachine, Shape> problem) {
  constexpr std::uint32_t kBytesA = 2 * Shape::kM * Shape::kK;
  constexpr std::uint32_t kBytes = kBytesA + 2 * Shape::kN * Shape::kK;
  constexpr std::uint32_t kConsumers = 4 * Shape::kWarpgroups;  // warps
  extern __shared__ __align__(1024) unsigned char warptwin_shared_memory[];
  auto* full = reinterpret_cast<std::uint64_t*>(warptwin_shared_memory + kStages * kBytes);
  std::uint64_t* empty = full + kStages;
  raw::start<kStages>(full, empty, kConsumers);
  const bool elected = ptx::elect_sync();
  const std::uint32_t warp = ptx::warp_index();
  const TileGrid tiles = problem.tiles;
  std::uint32_t stage = 0;
  std::uint32_t phase = 0;
  if (warp >= kConsumers) {
    if constexpr (Shape::kWarpgroups > 1) {
      ptx::setmaxnreg_dec<40>();
    }
    if (warp != kConsumers) {
      return;
    }
    for (std::uint32_t index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
      const Tile tile = grouped_tile(tiles, index);
      for (std::uint32_t step = 0; step < problem.steps; ++step) {
        raw::wait(empty + stage, phase ^ 1);
        if (elected) {
          unsigned char* to = warptwin_shared_memory + stage * kBytes;
          raw::arm(full + stage, kBytes);
          raw::load(to, &problem.a, step * Shape::kK, tile.m * Shape::kM, full + stage);
          raw::load(to + kBytesA, &problem.b, step * Shape::kK, tile.n * Shape::kN, full + stage);
        }
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
    for (std::uint32_t i = 0; i < kStages; ++i) {
      raw::wait(empty + stage, phase ^ 1);
      if (++stage == kStages) {
        stage = 0;
        phase ^= 1;
      }
    }
    return;
  }
  if constexpr (Shape::kWarpgroups > 1) {
    ptx::setmaxnreg_inc<232>();
  }
  const std::uint32_t first_row = warp / 4 * ptx::kWgmmaRows;
  const std::uint64_t begin = ptx::clock();
  float d[Shape::kN / 2];
  for (std::uint32_t index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
    const Tile tile = grouped_tile(tiles, index);
    std::uint64_t* before = nullptr;
    for (std::uint32_t step = 0; step < problem.steps; ++step) {
      raw::wait(full + stage, phase);
      multiply_stage<Shape>(d,
                            StandardTilePayload<bf16, bf16>{Shape::kM, Shape::kN, Shape::kK}.at(
                                ptx::shared_address(warptwin_shared_memory + stage * kBytes)),
                            first_row,
                            step == 0);
      ptx::wgmma_wait_group<1>();
      if (step != 0) {
        __syncwarp();
        if (elected) {
          raw::arrive(before);
        }
      }
      before = empty + stage;
      if (++stage == kStages) {
        stage = 0;
        phase ^= 1;
      }
    }
    ptx::wgmma_wait_group<0>();
    __syncwarp();
    if (elected) {
      raw::arrive(before);
    }
    if (problem.d != nullptr) {
      store_rows<Shape>(d, problem.d, problem.columns, tile, warp);
    }
  }
  if (problem.cycles != nullptr && threadIdx.x == 0) {
    problem.cycles[blockIdx.x] = ptx::clock() - begin;
  }
}

}  // namespace warptwin::hw::bench

#endif  // __CUDACC__
