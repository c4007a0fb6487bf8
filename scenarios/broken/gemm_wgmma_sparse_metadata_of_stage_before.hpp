/// Broken: the lanes read their words of metadata from the stage before, whose A and B have been
/// multiplied.
///
/// It is the metadata of other columns of A, and the stage has been freed: copies may fill it again
/// meanwhile.
///
/// Expected: SMEM_RAW_NO_WAIT. Twin: gemm_wgmma_sparse.

#pragma once

#include "scenarios/broken/gemm_wgmma_twin.hpp"
#include "scenarios/gemm_wgmma_sparse.hpp"

namespace warptwin::scenarios {

struct MetadataOfStageBefore {
  static constexpr void multiply(
      auto& machine, auto& input, auto& d, std::uint32_t first_row, KSteps steps) {
    const std::uint32_t slot = input.pipeline().storage().payload.slot_bytes();
    for (std::uint32_t step = 0; step < steps.count; ++step) {
      auto stage = input.acquire_stage();
      const auto tiles = stage.payload();
      auto words = tiles.metadata_tile(first_row / kWgmmaRows).tile;
      words.base = words.base + (stage.index() == 0 ? 0 : 0U - slot);  // the fault
      multiply_sparse_group(machine, d, tiles.a_tile().tile, first_row, tiles.b, words, step != 0);
      machine.template wgmma_wait_group<0>(d);
      input.free(stage.mbar());
      std::move(stage).release_without_signal();
    }
  }
};

struct GemmWgmmaSparseMetadataOfStageBefore : GemmWgmmaSparse {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_sparse_metadata_of_stage_before",
                                      ScenarioKind::kBroken,
                                      "lanes that read the metadata of the stage before",
                                      "SMEM_RAW_NO_WAIT",
                                      "gemm_wgmma_sparse"};
  template <Machine M, class Extents>
  using Kernel =
      GemmWgmmaTwinKernel<M, Extents, MetadataOfStageBefore, GemmWgmmaSparse::Kernel<M, Extents>>;
  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmWgmmaSparse::parameters(),
                 {{"m", "rows of A and D", 128, 1, 1 << 20},
                  {"n", "rows of B, columns of D", 48, 1, 1 << 20},
                  {"k", "columns of A with its zeros, and of B", 640, 16, 1 << 20},
                  {"tile_n", "columns of a tile of D", 16, 16, 256},
                  {"stages", "stages of the input ring", 3, 1, 64},
                  {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
