/// Broken: correction loads columns of O when the factors have come, above its wait for O.
///
/// For the corrections before the last that would do: softmax has seen scores that were computed
/// after P * V. The last factors come before the last P * V.
///
/// Expected: TMEM_READ_BEFORE_COMMIT. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionOutputLoadedEarlyKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;
  using Stats = typename Base::Stats;
  using Factors = typename Base::Factors;

  static constexpr void correction(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_dec<kCorrectionRegisters>();
    const TmemAllocation tmem = Base::tensor_memory(machine, smem);
    auto accum = Accum{machine, smem.accum, tmem.from_column(smem.accum_column())};
    auto stats = Stats{machine, smem.stats};
    auto writer = typename Base::Writer{machine, smem.out};
    const auto receive = [&] {
      Factors factors;
      auto stage = stats.acquire_consumer();
      machine.ld_shared_row(smem.factors(stage.index()), writer.first_row(), 0, factors);
      std::move(stage).release();
      return factors;
    };
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t turn = kAttentionTiles; turn < kAttentionTiles * problem.kv_tiles;
           ++turn) {
        const Factors factors = receive();
        auto o = accum.acquire_epilogue_linear();
        rescale_rows(machine, o, factors, smem.head_dim);
        std::move(o).release();
      }
      for (std::uint32_t t = 0; t < kAttentionTiles; ++t) {
        const Factors factors = receive();
        typename M::template Fragment<32> first;
        const TmemAddress columns = accum.tmem().stage(smem.accum.config, t).address();
        machine.tcgen05_ld_32x32b(first, columns.at_lane(writer.first_row()));  // the fault
        machine.tcgen05_wait_ld(first);
        auto o = accum.acquire_epilogue_linear();
        Base::write(machine, problem, writer, o, factors, {tile.m * kAttentionTiles + t, tile.n});
        std::move(o).release();
      }
    }
    writer.drain();
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }
};

struct AttentionOutputLoadedEarly : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_output_loaded_early",
                                      ScenarioKind::kBroken,
                                      "O is loaded above the wait for accum.full",
                                      "TMEM_READ_BEFORE_COMMIT",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionOutputLoadedEarlyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
