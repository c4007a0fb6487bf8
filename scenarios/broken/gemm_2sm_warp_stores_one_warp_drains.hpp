/// Broken: the first warp of the epilogue alone waits for its stores before it ends, as where it
/// stores for all.
///
/// Expected: BULK_STORE_PENDING_AT_EXIT. Twin: gemm_2sm_warp_stores.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm_warp_stores.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smWarpStoresOneWarpDrainsKernel : Gemm2smWarpStores::Kernel<M, Extents> {
  using Base = Gemm2smWarpStores::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr void drain(M& machine, auto& writer) {
      if (machine.warp_index() % kWarpsPerWarpgroup == 0) {  // the fault: each warp has stores
        writer.drain();
      }
    }
  };
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles_by<Steps>(
        machine, problem, smem, problem.tiles(machine), Unchanged{});
  }
};

struct Gemm2smWarpStoresOneWarpDrains : Gemm2smWarpStores {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_warp_stores_one_warp_drains",
                                      ScenarioKind::kBroken,
                                      "of the warps that store D one alone waits for its stores",
                                      "BULK_STORE_PENDING_AT_EXIT",
                                      "gemm_2sm_warp_stores"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smWarpStoresOneWarpDrainsKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(Gemm2smWarpStores::parameters(),
                                             {{"m", "rows of A and D", 512, 1, 1 << 20},
                                              {"n", "rows of B, columns of D", 512, 1, 1 << 20},
                                              {"k", "columns of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
