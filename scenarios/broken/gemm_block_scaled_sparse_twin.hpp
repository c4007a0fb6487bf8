/// What the wrong twins of gemm_block_scaled_sparse share: a shape at which each of their faults
/// shows. One CTA computes several tiles, so that every ring goes round.

#pragma once

#include "scenarios/gemm_block_scaled_sparse.hpp"

namespace warptwin::scenarios {

template <class Operands>
struct GemmBlockScaledSparseTwin : GemmBlockScaledSparseOf<WithSparseA<GemmParts, Operands>> {
  using Base = GemmBlockScaledSparseOf<WithSparseA<GemmParts, Operands>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::parameters(),
                 {{"n", "rows of B, columns of D", 128, 1, 1 << 20},
                  {"k", "columns of A with its zeros, and of B", 1280, 64, 1 << 20},
                  {"tile_n", "columns of an MMA's tile of D", 64, 32, 256},
                  {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
