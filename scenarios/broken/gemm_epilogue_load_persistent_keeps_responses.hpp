/// Broken: the epilogue-load warp reads responses and does not free their slots.
///
/// Its lanes are counted in clc.empty as those of every role are that goes over the tiles: the
/// scheduler waits for them when it comes to a slot again.
///
/// Expected: MBAR_UNDERARRIVE. Twin: gemm_epilogue_load_persistent.

#pragma once

#include "scenarios/gemm_epilogue_load_persistent.hpp"

namespace warptwin::scenarios {

template <class Clc>
struct KeepingClc : Clc {
  using Clc::Clc;

  constexpr WorkResponse fetch(SourceSite site = SourceSite::current()) {
    Clc::wait_full(site);
    const WorkResponse response = Clc::read(site);
    Clc::consumer_step();  // the fault: Clc::arrive_empty(site) is missing
    return response;
  }
};

template <Machine M, class Extents>
struct GemmEpilogueLoadPersistentKeepsResponsesKernel
    : GemmEpilogueLoadPersistentKernel<M, Extents> {
  using Base = GemmEpilogueLoadPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = KeepingClc<typename Base::Clc>;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    machine.griddepcontrol_wait();
    const WorkIterator<Clc> work{problem.cluster_tiles(machine), machine, clc};
    Base::load_sources(machine, problem, smem, work);
  }
};

struct GemmEpilogueLoadPersistentKeepsResponses : GemmEpilogueLoadPersistent {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_persistent_keeps_responses",
                                      ScenarioKind::kBroken,
                                      "the epilogue-load warp does not arrive on clc.empty",
                                      "MBAR_UNDERARRIVE",
                                      "gemm_epilogue_load_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadPersistentKeepsResponsesKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmEpilogueLoadPersistent::parameters(),
        {{"n", "rows of B, columns of D", 256, 1, 1 << 20},
         {"k", "columns of A and B", 128, 1, 1 << 20},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
