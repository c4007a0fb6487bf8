/// Broken: a split says that its sum lies in the workspace when its stores have only been read from
/// shared memory.
///
/// The next split may bring in what was there before.
///
/// Expected: GMEM_RAW_NO_WAIT. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKFlagBeforeStoresKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Work = typename Base::Work;

  struct Steps : Base::Steps {
    static constexpr void hand_over(M& machine,
                                    const Storage& smem,
                                    TileWriter<M, f32>& /*partial*/,
                                    const Work& work) {
      if (machine.warp_index() == smem.partial.store_warp) {
        machine.template cp_async_bulk_wait_group_read<0>();  // the fault: with .read
        machine.elect_one(
            [&] { machine.st_release_global_u32(work.summed.at, work.summed.value); });
      }
    }
  };

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template epilogue_by<Steps>(machine, problem, smem);
  }
};

struct GemmSplitKFlagBeforeStores : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_flag_before_stores",
                                      ScenarioKind::kBroken,
                                      "the word of a split is set before its stores are complete",
                                      "GMEM_RAW_NO_WAIT",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKFlagBeforeStoresKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
