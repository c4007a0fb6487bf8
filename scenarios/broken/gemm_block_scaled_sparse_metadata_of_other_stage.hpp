/// Broken: the MMAs of a stage read the metadata of the stage behind it, and its own scale factors.
///
/// In the first lap nothing has been copied there; later it is that of other columns of A.
///
/// Expected: TMEM_UNINIT_READ. Twin: gemm_block_scaled_sparse.

#pragma once

#include "scenarios/broken/gemm_block_scaled_sparse_twin.hpp"

namespace warptwin::scenarios {

struct ScaledMetadataOfOtherStage : SparseScaled {
  static constexpr void multiply(auto& machine,
                                 const auto& accum,
                                 const ScaledTileShape& shape,
                                 const auto& tiles,
                                 ScaleSlot slot,
                                 Accumulate accumulate) {
    copy_metadata(machine, shape.group, tiles.metadata_tile().tile, slot.metadata);
    slot.metadata = slot.metadata.at_column(shape.metadata_columns());  // the fault: the next slot
    multiply_sparse_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
  }
};

struct GemmBlockScaledSparseMetadataOfOtherStage
    : GemmBlockScaledSparseTwin<ScaledMetadataOfOtherStage> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_sparse_metadata_of_other_stage",
                                      ScenarioKind::kBroken,
                                      "MMAs that read the metadata of another stage",
                                      "TMEM_UNINIT_READ",
                                      "gemm_block_scaled_sparse"};
};

}  // namespace warptwin::scenarios
