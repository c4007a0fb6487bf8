/// Broken: a scale factor of A is taken for as many of its elements as are stored, and not for as
/// many with their zeros: two MMAs take each, and half of a stage's are never used.
///
/// Expected: RESULT_WRONG. Twin: gemm_block_scaled_sparse.

#pragma once

#include "scenarios/broken/gemm_block_scaled_sparse_twin.hpp"

namespace warptwin::scenarios {

struct StepOfStoredA {
  static constexpr ScaleStep of(const ScaledTileShape& shape,
                                const ScaleSlot& slot,
                                UmmaInstructionDescriptor instruction,
                                std::uint32_t index) {
    const auto a = ScaleStep::of(shape, slot, instruction, index / 2);  // the fault: not index
    const auto b = ScaleStep::of(shape, slot, instruction, index);
    return {
        instruction.with_scale_bytes(a.instruction.scale_byte_a(), b.instruction.scale_byte_b()),
        a.a,
        b.b};
  }
};

struct FactorsOfStoredA : SparseScaled {
  static constexpr void multiply(auto& machine,
                                 const auto& accum,
                                 const ScaledTileShape& shape,
                                 const auto& tiles,
                                 const ScaleSlot& slot,
                                 Accumulate accumulate) {
    copy_metadata(machine, shape.group, tiles.metadata_tile().tile, slot.metadata);
    multiply_sparse_scaled<StepOfStoredA>(
        machine, accum.tmem().address(), shape, tiles, slot, accumulate);
  }
};

struct GemmBlockScaledSparseFactorsOfStoredA : GemmBlockScaledSparseTwin<FactorsOfStoredA> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_sparse_factors_of_stored_a",
                                      ScenarioKind::kBroken,
                                      "factors of A that go with its stored elements",
                                      "RESULT_WRONG",
                                      "gemm_block_scaled_sparse"};
};

}  // namespace warptwin::scenarios
