/// What the wrong twins of gemm_mixed_input share: a shape at which each of their faults shows. One
/// CTA computes several tiles, so that every ring goes round.

#pragma once

#include "scenarios/gemm_mixed_input.hpp"

namespace warptwin::scenarios {

template <class Steps>
struct GemmMixedInputTwin : GemmMixedInput {
  template <Machine M, class Extents>
  using Kernel = GemmMixedInputKernel<M, Extents, MixedInputParts<f8e4m3>, Steps>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmMixedInput::parameters(),
                 {{"n", "rows of B, columns of D", 128, 1, 1 << 20},
                  {"k", "columns of A and B", 128, 1, 1 << 20},
                  {"tile_n", "columns of an MMA's tile of D", 64, 8, 256},
                  {"operand_stages", "converted tiles of A in tensor memory", 2, 1, 16},
                  {"clusters", "clusters that share the tiles; 0: one for each", 1, 0, 1 << 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
