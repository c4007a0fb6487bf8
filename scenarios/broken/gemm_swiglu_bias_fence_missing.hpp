/// Broken: the epilogue frees the biases right after its lanes have read them.
///
/// The reads are generic, the copy that fills the stage again is not: without a proxy fence it may
/// overtake them.
///
/// Expected: PROXY_FENCE_MISSING_WAR. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluBiasFenceMissingKernel : GemmSwigluKernel<M, Extents> {
  using Base = GemmSwigluKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr void add_biases(
        M& /*machine*/, const Storage& smem, auto&& stage, AccumTile<M>& gate, AccumTile<M>& up) {
      const std::uint32_t columns = smem.out.first.columns;
      gate.add_row(smem.bias_g(stage.index()), columns);
      up.add_row(smem.bias_u(stage.index()), columns);
      std::move(stage).release();  // the fault: no fence.proxy.async before it
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles<Steps>(machine, problem, smem, problem.tiles(machine));
  }
};

struct GemmSwigluBiasFenceMissing : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_bias_fence_missing",
      ScenarioKind::kBroken,
      "no proxy fence between the reads of biases and their next copy",
      "PROXY_FENCE_MISSING_WAR",
      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluBiasFenceMissingKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
