/// Broken: the epilogue begins the source ring anew with every tile.
///
/// Stage and parity of the first tile are those of a fresh ring, of the next one they are not.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKParityNotCarriedKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr void begin(M& machine, const Storage& smem, EpiLoadPipeline<M>& source) {
      source = EpiLoadPipeline<M>{machine, smem.source};  // the fault: once for all tiles
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template epilogue_by<Steps>(machine, problem, smem);
  }
};

struct GemmSplitKParityNotCarried : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_split_k_parity_not_carried",
      ScenarioKind::kBroken,
      "stage and parity of the source ring are not carried over tiles",
      "MBAR_WAIT_PHASE_ALIASED",
      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKParityNotCarriedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
