/// Broken: the MMAs of a stage read the metadata of the stage before it.
///
/// In the first lap nothing has been copied there for the first stage; later it is that of other
/// columns of A.
///
/// Expected: TMEM_UNINIT_READ. Twin: gemm_sparse.

#pragma once

#include "scenarios/broken/gemm_sparse_twin.hpp"

namespace warptwin::scenarios {

struct SparseMetadataOfOtherStage : SparseSteps {
  static constexpr void multiply(auto& machine,
                                 CtaGroup group,
                                 const auto& accum,
                                 const auto& tiles,
                                 TmemAddress metadata,
                                 Accumulate accumulate) {
    copy_metadata(machine, group, tiles.metadata_tile().tile, metadata);
    multiply_sparse(
        machine,
        group,
        accum.tmem().address(),
        tiles.a_tile().tile,
        tiles.b,
        metadata.at_column(SparseMetadataOf<bf16>::kColumns),  // the fault: of the next slot
        accumulate);
  }
  /// Slots from the last to the first: what follows a stage's is that of the stage before.
  static constexpr std::uint32_t slot(std::uint32_t index, std::uint32_t stages) {
    return stages - 1 - index;
  }
};

struct GemmSparseMetadataOfOtherStage : GemmSparseTwin<SparseMetadataOfOtherStage> {
  static constexpr ScenarioInfo kInfo{"gemm_sparse_metadata_of_other_stage",
                                      ScenarioKind::kBroken,
                                      "MMAs that read the metadata of another stage",
                                      "TMEM_UNINIT_READ",
                                      "gemm_sparse"};
};

}  // namespace warptwin::scenarios
