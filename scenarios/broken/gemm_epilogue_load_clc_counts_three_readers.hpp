/// Broken: clc.empty is initialised for load, MMA and epilogue, as in a kernel without a source.
///
/// The epilogue-load warp reads every response, too: with its lanes a phase has 32 arrivals more
/// than the barrier counts.
///
/// Expected: PIPELINE_COUNT_MISMATCH. Twin: gemm_epilogue_load_clc.

#pragma once

#include "scenarios/gemm_epilogue_load_clc.hpp"

namespace warptwin::scenarios {

template <class Right, class Extents>
struct CountsThreeReadersStorage : Right {
  constexpr CountsThreeReadersStorage(auto& layout, const Extents& e) : Right{layout, e} {
    this->clc.barriers.empty_arrivals -= kWarpLanes * e.cluster().ctas();  // the fault
  }
};

template <Machine M, class Extents>
struct GemmEpilogueLoadClcCountsThreeReadersKernel : GemmEpilogueLoadClc::Kernel<M, Extents> {
  using Base = GemmEpilogueLoadClc::Kernel<M, Extents>;
  using Storage = CountsThreeReadersStorage<typename Base::Storage, Extents>;
};

struct GemmEpilogueLoadClcCountsThreeReaders : GemmEpilogueLoadClc {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_clc_counts_three_readers",
                                      ScenarioKind::kBroken,
                                      "the epilogue-load warp is not counted in clc.empty",
                                      "PIPELINE_COUNT_MISMATCH",
                                      "gemm_epilogue_load_clc"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadClcCountsThreeReadersKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmEpilogueLoadClc::parameters(),
        {{"n", "rows of B, columns of D", 256, 1, 1 << 20},
         {"k", "columns of A and B", 128, 1, 1 << 20},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
