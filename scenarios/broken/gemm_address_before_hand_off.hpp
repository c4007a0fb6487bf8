/// Broken: the epilogue reads the address of tensor memory, and meets the MMA warp after that.
///
/// The word may still hold what an earlier CTA has left there.
///
/// Expected: SMEM_RACE. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmAddressBeforeHandOffKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    const auto tmem = TmemAllocation::from_shared(
        machine, smem.tmem.word, smem.accum.config.columns(), CtaGroup::kOne);
    smem.tmem.hand_off.sync(machine);  // the fault: before the address is read is meant
    Accum accums{machine, smem.accum, tmem};
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile{machine, problem.extents.tile_m};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = accums.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.store(writer.acquire());
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
    }
    writer.drain();
    TmemDeallocBarrier<M>{machine, smem.tmem}.signal_complete();
  }
};

struct GemmAddressBeforeHandOff : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_address_before_hand_off",
                                      ScenarioKind::kBroken,
                                      "the address of tensor memory is read before it is there",
                                      "SMEM_RACE",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmAddressBeforeHandOffKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
