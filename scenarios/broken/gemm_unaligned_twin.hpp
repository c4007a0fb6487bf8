/// What the wrong twins of gemm_unaligned share: a small shape, whose ring goes round, and how
/// stages are handed over and taken, which a twin replaces.

#pragma once

#include "scenarios/gemm_unaligned.hpp"

namespace warptwin::scenarios {

template <class Way = CopiedByLanes>
struct GemmUnalignedTwin : GemmUnalignedOf<CtaGroup::kOne, GemmParts, Way> {
  using Base = GemmUnalignedOf<CtaGroup::kOne, GemmParts, Way>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::parameters(),
                 {{"m", "rows of A and D", 64, 1, 1 << 20},
                  {"n", "rows of B, columns of D", 16, 1, 1 << 20},
                  {"k", "columns of A and B", 180, 1, 1 << 20},
                  {"tile_m", "rows of an MMA's tile of D", 64, 64, 128},
                  {"tile_n", "columns of an MMA's tile of D", 16, 8, 256},
                  {"stages", "stages of the input ring", 2, 1, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
