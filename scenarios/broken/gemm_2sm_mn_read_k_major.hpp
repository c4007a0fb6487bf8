/// Broken: the MMA takes tiles whose rows are of K for tiles whose columns are.
///
/// The copies are right, and so is every barrier; the instruction's bits of majors are not set.
///
/// Expected: LAYOUT_MAJOR. Twin: gemm_2sm_mn.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm_mn.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct ReadKMajorKernel : Gemm2smKernel<M, Extents, MnMajorPartsOf<bf16, bf16>> {
  using Base = Gemm2smKernel<M, Extents, MnMajorPartsOf<bf16, bf16>>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    const Extents& e = problem.extents;
    const auto instruction =
        UmmaInstructionDescriptor::make(bf16::kType, bf16::kType, e.tile_m, e.tile_n);
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      if (!warp.is_leader()) {
        continue;
      }
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        const UmmaOperand a = operand_of(stage.payload().a_tile().tile);
        const UmmaOperand b = operand_of(stage.payload().b_tile().tile);
        for (std::uint32_t step = 0; step < a.steps; ++step) {
          machine.tcgen05_mma(CtaGroup::kTwo,
                              accum.tmem().address(),
                              a.descriptor.advanced(step * a.step_bytes),
                              b.descriptor.advanced(step * b.step_bytes),
                              instruction,  // the fault: without the majors
                              k + step > 0);
        }
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct Gemm2smMnReadKMajor : Gemm2smMn {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_mn_read_k_major",
                                      ScenarioKind::kBroken,
                                      "an MMA takes MN-major operands for K-major ones",
                                      "LAYOUT_MAJOR",
                                      "gemm_2sm_mn"};
  template <Machine M, class Extents>
  using Kernel = ReadKMajorKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(Gemm2smMn::parameters(),
                                             {{"m", "rows of D", 256, 1, 1 << 20},
                                              {"n", "columns of D", 256, 1, 1 << 20},
                                              {"k", "rows of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
