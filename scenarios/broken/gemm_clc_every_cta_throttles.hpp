/// Broken: the load warp of every CTA says that its tile has begun, each on its own CTA's throttle.
///
/// The scheduler hears CTA 0 alone: in the others nobody frees the throttle's stages.
///
/// Expected: DEADLOCK. Twin: gemm_clc.

#pragma once

#include "scenarios/gemm_clc.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmClcEveryCtaThrottlesKernel : GemmClc::Kernel<M, Extents> {
  using Base = GemmClc::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    machine.griddepcontrol_wait();
    Base::load_tiles(machine, problem, smem, problem.work(machine, clc), [&] {
      clc.signal_throttle();  // the fault: only where machine.cta_rank() is 0
    });
  }
};

struct GemmClcEveryCtaThrottles : GemmClc {
  static constexpr ScenarioInfo kInfo{"gemm_clc_every_cta_throttles",
                                      ScenarioKind::kBroken,
                                      "every CTA fills its own throttle, which nobody empties",
                                      "DEADLOCK",
                                      "gemm_clc"};
  template <Machine M, class Extents>
  using Kernel = GemmClcEveryCtaThrottlesKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20},
        {"n", "rows of B, columns of D", 160, 1, 1 << 20},
        {"k", "columns of A and B", 64, 1, 1 << 20},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 32, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 3, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"clc_stages", "responses in shared memory; 0: a cluster has its own tile alone", 2, 0, 64},
        {"cluster_m", "CTAs of a cluster along M", 2, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"raster", "way in which tiles are counted: 0 along M, 1 along N", 0, 0, 1},
        {"swizzle", "clusters' tiles along N in a strip; 0: no strips", 0, 0, 64},
        {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
