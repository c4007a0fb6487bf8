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
  using Operands = typename Base::Operands;
  using Scores = typename Base::Scores;
  using Accum = typename Base::Accum;

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

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    const auto tmem =
        TmemAllocation::allocate(machine, smem.tmem.word, smem.tmem_columns(), CtaGroup::kOne);
    smem.tmem.hand_off.arrive(machine);
    auto q = Operands{machine, smem.q};
    auto kv = Operands{machine, smem.kv};
    auto scores = Scores{machine, smem.scores, tmem};
    auto accum = Accum{machine, smem.accum, tmem.from_column(smem.accum_column())};
    const auto score = [&](std::uint32_t t, std::uint32_t keys) {
      auto s = scores.acquire_mma_linear();
      s.multiply(smem.queries(t), smem.keys(keys), Accumulate::kNo);
      std::move(s).release();
    };
    const auto weigh = [&](std::uint32_t j, std::uint32_t values) {
      auto p = scores.acquire_operand_linear();
      auto o = accum.acquire_mma_linear();
      multiply_values(machine,
                      o.tmem().address(),
                      p.template operand<bf16>(),
                      smem.values(values).tile,
                      j != 0);
      std::move(o).release();
      std::move(p).release();
    };
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto first_keys = kv.acquire_consumer();
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        q.wait_producer();
        q.consumer_step();
        score(t, first_keys.index());
      }
      std::move(first_keys).release();
      for (std::uint32_t j = 1; j < problem.kv_tiles; ++j) {
        auto keys = kv.acquire_consumer();
        auto values = kv.acquire_consumer();
        for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
          weigh(j - 1, values.index());
          score(t, keys.index());
        }
        std::move(keys).release();
        std::move(values).release();
      }
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        machine.tcgen05_commit(CtaGroup::kOne, q.consumer_mbar(t));
      }
      auto values = kv.acquire_consumer();
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        weigh(problem.kv_tiles - 1, values.index());
      }
      std::move(values).release();
    }
    scores.drain();
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.complete_dealloc(tmem);
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
