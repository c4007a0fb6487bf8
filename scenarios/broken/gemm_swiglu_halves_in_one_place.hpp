/// Broken: the load warp brings G and U to the same half of a stage.
///
/// The bytes are those that the stage is armed for, so that nobody waits; one lands on the other,
/// and the rest of the tile is what was there before.
///
/// Expected: SMEM_WAW_ASYNC. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluHalvesInOnePlaceKernel : GemmSwigluKernel<M, Extents> {
  using Base = GemmSwigluKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        const auto b = stage.payload().b_tile();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b, {tile.n, k}, Base::half(b, 0));
        stage.load(problem.u, {tile.n, k}, Base::half(b, 0));  // the fault: not half 1
        std::move(stage).release();
      }
    }
    input.drain();
  }
};

struct GemmSwigluHalvesInOnePlace : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_halves_in_one_place",
                                      ScenarioKind::kBroken,
                                      "both halves of a stage are copied to one of them",
                                      "SMEM_WAW_ASYNC",
                                      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluHalvesInOnePlaceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
