/// Broken: the MMA adds two k steps up in one accumulator, and commits it once for both.
///
/// The epilogue takes an accumulator for each k step, whose factors are its own: it waits for the
/// second half of them in vain.
///
/// Expected: DEADLOCK. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8AccumPerGroupKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    constexpr std::uint32_t kGroup = 2;  // the fault: 1 is meant
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; k += kGroup) {
        auto accum = warp.acquire_mma_linear();
        for (std::uint32_t j = 0; j < kGroup && k + j < problem.k_tiles; ++j) {
          auto stage = input.acquire_stage();
          accum.multiply(stage.payload(), j == 0 ? Accumulate::kNo : Accumulate::kYes);
          std::move(stage).release();
        }
        std::move(accum).release();
      }
    }
    std::move(warp).release();
  }
};

struct GemmBlockwiseFp8AccumPerGroup : GemmBlockwiseFp8Twin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_accum_per_group",
                                      ScenarioKind::kBroken,
                                      "an epilogue of k steps gets one accumulator for two of them",
                                      "DEADLOCK",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8AccumPerGroupKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
