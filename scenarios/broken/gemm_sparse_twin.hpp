/// What the wrong twins of gemm_sparse share: a shape at which each of their faults shows. One CTA
/// computes several tiles, so that every ring goes round.

#pragma once

#include "scenarios/gemm_sparse.hpp"

namespace warptwin::scenarios {

template <class Steps>
struct GemmSparseTwin : GemmSparse {
  template <Machine M, class Extents>
  using Kernel = GemmSparseKernel<M, Extents, GemmParts, Steps>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmSparse::parameters(),
                 {{"n", "rows of B, columns of D", 128, 1, 1 << 20},
                  {"k", "columns of A with its zeros, and of B", 640, 16, 1 << 20},
                  {"tile_n", "columns of an MMA's tile of D", 64, 8, 256},
                  {"clusters", "clusters that share the tiles; 0: one for each", 1, 0, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
