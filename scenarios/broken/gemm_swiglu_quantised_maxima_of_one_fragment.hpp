/// Broken: the factors of a box's rows are those of its first 16 columns.
///
/// Expected: RESULT_WRONG. Twin: gemm_swiglu_quantised.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_swiglu_quantised.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluQuantisedMaximaOfOneFragmentKernel : GemmSwigluQuantised::Kernel<M, Extents> {
  using Base = GemmSwigluQuantised::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr void quantise(auto& factors, AccumTile<M>& box, std::uint32_t columns) {
      factors.begin();
      factors.take(box, AccumTile<M>::kFragmentColumns);  // the fault: of `columns` columns
      box.scale_rows(factors.scale_to(kMostE4m3), columns);
    }
  };
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles<Steps>(machine, problem, smem, problem.tiles(machine));
  }
};

struct GemmSwigluQuantisedMaximaOfOneFragment : GemmSwigluQuantised {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_quantised_maxima_of_one_fragment",
                                      ScenarioKind::kBroken,
                                      "a row's factor is taken of a part of its columns",
                                      "RESULT_WRONG",
                                      "gemm_swiglu_quantised"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluQuantisedMaximaOfOneFragmentKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmSwigluQuantised::parameters(),
                                             {{"m", "rows of A and D", 128, 1, 1 << 20},
                                              {"n", "columns of D", 128, 1, 1 << 20},
                                              {"k", "columns of A, G and U", 256, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
