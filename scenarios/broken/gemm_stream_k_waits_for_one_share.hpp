/// Broken: who has steps of a tile waits until the share before the one in front of it is in the
/// sum, not until that one is.
///
/// Of a tile in three shares the third adds to the sum while the second does.
///
/// Expected: GMEM_RACE. Twin: gemm_stream_k.

#pragma once

#include "scenarios/broken/gemm_stream_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct WaitsForOneShareProblem : GemmStreamKProblem<M, Extents> {
  constexpr SplitWork work(const StreamKPiece& piece) const {
    SplitWork work = GemmStreamKProblem<M, Extents>::work(piece);
    work.before.value = std::max(1U, piece.cluster - 1);  // the fault: not `cluster`
    return work;
  }
};

struct GemmStreamKWaitsForOneShare : GemmStreamKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_stream_k_waits_for_one_share",
                                      ScenarioKind::kBroken,
                                      "a share that is added before the one in front of it",
                                      "GMEM_RACE",
                                      "gemm_stream_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKKernel<M, Extents, WaitsForOneShareProblem<M, Extents>>;
};

}  // namespace warptwin::scenarios
