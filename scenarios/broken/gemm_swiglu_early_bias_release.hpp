/// Broken: the epilogue frees the biases after it has read those of the gate.
///
/// The next box may land while lanes still read the others.
///
/// Expected: SMEM_RACE. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluEarlyBiasReleaseKernel : GemmSwigluKernel<M, Extents> {
  using Base = GemmSwigluKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr void add_biases(
        M& machine, const Storage& smem, auto&& stage, AccumTile<M>& gate, AccumTile<M>& up) {
      const std::uint32_t columns = smem.out.first.columns;
      const SharedAddress bias_u = smem.bias_u(stage.index());
      gate.add_row(smem.bias_g(stage.index()), columns);
      machine.fence_proxy_async(ProxySpace::kSharedCta);
      std::move(stage).release();  // the fault: the other row is read afterwards
      up.add_row(bias_u, columns);
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles<Steps>(machine, problem, smem, problem.tiles(machine));
  }
};

struct GemmSwigluEarlyBiasRelease : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_early_bias_release",
                                      ScenarioKind::kBroken,
                                      "biases are freed before all of them are read",
                                      "SMEM_RACE",
                                      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluEarlyBiasReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
