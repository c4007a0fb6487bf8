/// Broken: stages are freed by relaxed arrivals in the cluster's CTAs, as those of gemm_wgmma,
/// whose stages nobody reads but the tensor cores.
///
/// Lanes have read metadata before: nothing orders the copy that fills the stage again behind that.
///
/// Expected: SMEM_WAW_ASYNC. Twin: gemm_wgmma_sparse.

#pragma once

#include "scenarios/broken/gemm_wgmma_sparse_metadata_of_stage_before.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaSparseRelaxedArrivals : GemmWgmmaSparse {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_sparse_relaxed_arrivals",
                                      ScenarioKind::kBroken,
                                      "stages with metadata that relaxed arrivals free",
                                      "SMEM_WAW_ASYNC",
                                      "gemm_wgmma_sparse"};
  template <Machine M, class Extents>
  using Kernel =
      GemmWgmmaSparseKernel<M,
                            Extents,
                            GemmParts,
                            GemmWgmmaSparseStorage<Extents, GemmParts, ElectedLaneOfSharers>>;
  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmWgmmaSparseMetadataOfStageBefore::parameters(),
                 {{"m", "rows of A and D", 256, 1, 1 << 20},
                  {"cluster_m", "CTAs along M that share B", 2, 1, 8},
                  {"ctas", "CTAs that share the tiles; 0: one for each", 2, 0, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
