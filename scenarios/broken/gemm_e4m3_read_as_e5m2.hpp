/// Broken: the MMA's descriptor says that the operands are e5m2.
///
/// Both types are a byte, and every copy and barrier is right.
///
/// Expected: RESULT_WRONG. Twin: gemm_e4m3.

#pragma once

#include "scenarios/gemm_e4m3.hpp"

namespace warptwin::scenarios {

/// The same bytes, taken for elements of another type of their size.
template <class Element, class Other>
constexpr SharedTile<Element> taken_for(const SharedTile<Other>& tile) {
  return {tile.base, tile.rows, tile.columns, tile.swizzle};
}

template <Machine M, class Extents>
struct GemmE4m3ReadAsE5m2Kernel : GemmE4m3::Kernel<M, Extents> {
  using Base = GemmE4m3::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        multiply_tiles(machine,
                       CtaGroup::kOne,
                       accum.tmem().address(),
                       taken_for<f8e5m2>(stage.payload().a_tile().tile),  // the fault: f8e4m3
                       taken_for<f8e5m2>(stage.payload().b_tile().tile),
                       k == 0 ? Accumulate::kNo : Accumulate::kYes,
                       SourceSite::current());
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmE4m3ReadAsE5m2 : GemmE4m3 {
  static constexpr ScenarioInfo kInfo{"gemm_e4m3_read_as_e5m2",
                                      ScenarioKind::kBroken,
                                      "an MMA takes e4m3 operands for e5m2",
                                      "RESULT_WRONG",
                                      "gemm_e4m3"};
  template <Machine M, class Extents>
  using Kernel = GemmE4m3ReadAsE5m2Kernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 128, 1, 1 << 20},
        {"n", "rows of B, columns of D", 64, 1, 1 << 20},
        {"k", "columns of A and B", 256, 1, 1 << 20},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 64, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
