/// Broken: no cluster barrier at the end: a CTA of a pair leaves when its own warps are done.
///
/// The leader waits for both epilogues to be done with tensor memory, but not for the arrivals that
/// freed the last accumulators: they were sent earlier, and may come later.
///
/// Expected: CTA_EXIT_WITH_PENDING_REMOTE. Twin: gemm_blockwise_fp8.

#pragma once

#include "scenarios/broken/gemm_blockwise_fp8_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockwiseFp8ExitBeforePeerKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  // The fault: nobody waits for those who can still reach this CTA.
  static constexpr void finish(M&, const Problem&, const Storage&) {}
};

struct GemmBlockwiseFp8ExitBeforePeer : GemmBlockwiseFp8PairTwin {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_exit_before_peer",
                                      ScenarioKind::kBroken,
                                      "a CTA does not wait for its peer at the end",
                                      "CTA_EXIT_WITH_PENDING_REMOTE",
                                      "gemm_blockwise_fp8"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8ExitBeforePeerKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
