/// Broken: the load warp says that its tile has begun where nobody asks for another one.
///
/// With clc_stages=0 a cluster has its own tile alone, and the throttle no stages: what the load
/// warp waits for is no barrier of its own.
///
/// Expected: PIPELINE_STAGE_OOB. Twin: gemm_clc.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmClcThrottleWithoutStagesKernel : GemmClc::Kernel<M, Extents> {
  using Base = GemmClc::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    machine.griddepcontrol_wait();
    Base::load_tiles(machine, problem, smem, problem.work(machine, clc), [&] {
      if (machine.cta_rank() == 0) {  // the fault: not only where clc.asks()
        clc.signal_throttle();
      }
    });
  }
};

struct GemmClcThrottleWithoutStages : GemmClc {
  static constexpr ScenarioInfo kInfo{"gemm_clc_throttle_without_stages",
                                      ScenarioKind::kBroken,
                                      "a warp arrives on a throttle that has no stages",
                                      "PIPELINE_STAGE_OOB",
                                      "gemm_clc"};
  template <Machine M, class Extents>
  using Kernel = GemmClcThrottleWithoutStagesKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmClc::parameters(),
                 {{"m", "rows of A and D", 256, 1, 1 << 20},
                  {"n", "rows of B, columns of D", 32, 1, 1 << 20},
                  {"k", "columns of A and B", 64, 1, 1 << 20},
                  {"tile_n", "columns of a tile of D", 32, 8, 256},
                  {"clc_stages", "0: a cluster has its own tile alone", 0, 0, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
