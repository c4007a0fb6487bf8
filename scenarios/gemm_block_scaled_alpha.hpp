/// Scenario: D = alpha * (A * B^T) of block-scaled operands: gemm_block_scaled, and a factor of the
/// whole product, of a tensor's own scale. NVFP4 needs one: its block factors reach to 448.
///
/// Barriers as in gemm_block_scaled.
///
/// Expected: clean, as gemm_block_scaled is, for every alpha.

#pragma once

#include "scenarios/gemm_block_scaled.hpp"

namespace warptwin::scenarios {

/// The factor of D in a launch. Host code.
inline float alpha_of(const ParameterSet& p) {
  return static_cast<float>(p["alpha"]) / 16.0F;
}

/// `Fixed`, whose epilogue is gemm_2sm's, with D times alpha.
template <Machine M, class Extents, class Fixed>
struct AlphaKernel : Fixed {
  using Base = Fixed;
  using Storage = typename Base::Storage;
  struct Problem : Base::Problem {
    TimesAlpha function;
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    return {Base::problem(p, e, maps, tensors, order), {alpha_of(p)}};
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    Base::store_tiles_by(machine, problem, smem, tiles, problem.function);
  }
};

/// `Plain`, a scenario, with alpha as a parameter.
template <class Plain>
struct AlphaOf : Plain {
  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Plain::parameters(), {{"alpha", "factor of D, in sixteenths", 6, 1, 4096}});
    return kParameters;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    Plain::reference(p, tensors);
    for (float& value : tensors[4].values) {
      value *= alpha_of(p);
    }
  }
};

struct GemmBlockScaledAlpha : AlphaOf<GemmBlockScaled> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_alpha",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM whose product is scaled as a whole"};
  template <Machine M, class Extents>
  using Kernel = AlphaKernel<M, Extents, GemmBlockScaledKernel<M, Extents>>;
};

}  // namespace warptwin::scenarios
