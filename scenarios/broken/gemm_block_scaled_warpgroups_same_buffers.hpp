/// Broken: both warpgroups of the epilogue write and store the buffers of the first.
///
/// Expected: SMEM_RACE. Twin: gemm_block_scaled_warpgroups.

#pragma once

#include "scenarios/gemm_block_scaled_warpgroups.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct SameBuffersKernel : GemmBlockScaledKernel<M, Extents, WithWarpgroups<GemmParts, 2>> {
  using Base = GemmBlockScaledKernel<M, Extents, WithWarpgroups<GemmParts, 2>>;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Storage same = smem;
    same.out.store_warp =
        machine.warp_index() / kWarpsPerWarpgroup * kWarpsPerWarpgroup;  // the fault
    Base::epilogue(machine, problem, same);
  }
};

struct GemmBlockScaledWarpgroupsSameBuffers : GemmBlockScaledWarpgroups {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_warpgroups_same_buffers",
                                      ScenarioKind::kBroken,
                                      "two warpgroups of an epilogue in the same buffers",
                                      "SMEM_RACE",
                                      "gemm_block_scaled_warpgroups"};
  template <Machine M, class Extents>
  using Kernel = SameBuffersKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
