/// Broken: the instruction descriptor of P * V says that V is K-major.
///
/// V lies in memory by rows of keys, which are K: it is MN-major. The descriptors of the tile are
/// right; without the bit the tensor core takes rows for columns of O, and goes on in the panel
/// behind.
///
/// Expected: LAYOUT_MAJOR. Twin: attention.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionValuesReadKMajorKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void multiply_values(M& machine,
                                        TmemAddress o,
                                        const TmemOperand<bf16>& p,
                                        const WideTile<bf16>& v,
                                        bool accumulate) {
    constexpr std::uint32_t kStepRows = mma_k(ElementType::kBf16);
    // The fault: `.with_majors(Major::kK, Major::kMn)` is missing.
    const auto instruction = UmmaInstructionDescriptor::make(
        ElementType::kBf16, ElementType::kBf16, kTmemLanes, v.columns);
    const SharedTile<bf16> panel = v.panel(0);
    const auto descriptor = UmmaSmemDescriptor::mn_major(panel);
    for (std::uint32_t row = 0; row < v.rows; row += kStepRows) {
      machine.tcgen05_mma(CtaGroup::kOne,
                          o,
                          p.advanced(row * sizeof(bf16::Storage)),
                          descriptor.advanced(row * panel.row_bytes()),
                          instruction,
                          accumulate || row > 0,
                          SourceSite::current());
    }
  }

  struct Mma : Base::Mma {
    using Base::Mma::Mma;
    constexpr void weigh(std::uint32_t j, std::uint32_t values) {
      auto p = this->scores.acquire_operand_linear();
      auto o = this->accum.acquire_mma_linear();
      multiply_values(this->machine,
                      o.tmem().address(),
                      p.template operand<bf16>(),
                      this->smem.values(values).tile,
                      j != 0);
      std::move(o).release();
      std::move(p).release();
    }
  };

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Base::template mma_by<Mma>(machine, problem, smem);
  }
};

/// As in `attention`, heads are of two panels.
struct AttentionValuesReadKMajor : Attention {
  static constexpr ScenarioInfo kInfo{"attention_values_read_k_major",
                                      ScenarioKind::kBroken,
                                      "the MMA is told that V is K-major, and it is not",
                                      "LAYOUT_MAJOR",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionValuesReadKMajorKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
