/// Broken: the epilogue frees the accumulator when it has loaded the gate, the first of its halves.
///
/// The MMA of a later tile may write the other half while it is loaded.
///
/// Expected: TMEM_WAR. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluEarlyAccumReleaseKernel : GemmSwigluKernel<M, Extents> {
  using Base = GemmSwigluKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr void load_last(M& machine,
                                    auto&& accum,
                                    AccumTile<M>& gate,
                                    AccumTile<M>& /*up*/,
                                    std::uint32_t half,
                                    std::uint32_t columns) {
      gate.load(accum, half - columns, columns);
      const TmemAddress rest = accum.tmem().at_column(2 * half - columns);
      const std::uint32_t lane = accum.first_lane();
      std::move(accum).release();  // the fault: half of it is still to be loaded
      for (std::uint32_t c = 0; c < columns; c += 16) {
        typename M::template Fragment<16> late;
        machine.tcgen05_ld_32x32b(late, rest.at_column(c).at_lane(lane));
        machine.tcgen05_wait_ld(late);
      }
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles<Steps>(machine, problem, smem, problem.tiles(machine));
  }
};

struct GemmSwigluEarlyAccumRelease : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_early_accum_release",
                                      ScenarioKind::kBroken,
                                      "the accumulator is freed between its two halves",
                                      "TMEM_WAR",
                                      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluEarlyAccumReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
