/// The one `__global__` function there is: it builds the machine and runs the kernel's text.

#pragma once

#include <cstdint>

#include "common/kernel/dispatch.hpp"

#include "hw/cuda/observed_machine.hpp"

namespace warptwin::hw {

/// The most threads a CTA of `Kernel` has.
template <class Kernel>
inline constexpr std::uint32_t kThreads = Kernel::kRoles.warps() * kWarpLanes;

/// Warps of a CTA of this launch.
template <class Kernel>
WARPTWIN_HOST_DEVICE std::uint32_t warps_of(const typename Kernel::Problem& problem) {
  return roles_of<Kernel>(problem.extents).warps();
}

/// What dynamic shared memory is aligned to, and every swizzle pattern with it.
inline constexpr std::uint32_t kSharedAlignment = 1024;

#ifdef __CUDACC__

/// The address of this CTA's dynamic shared memory. The kernels have no static one, so it starts
/// where the driver's own reserved block ends, which is aligned; anything else ends the kernel.
WARPTWIN_HOST_DEVICE SharedAddress dynamic_shared_memory() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (extern __shared__ __align__(1024) unsigned char warptwin_shared_memory[];
                     const SharedAddress base = ptx::shared_address(warptwin_shared_memory);
                     // The compiler believes the alignment it was told: ask behind its back.
                     std::uint32_t address = base.value;
                     asm volatile(""
                                  : "+r"(address));
                     if (address % kSharedAlignment != 0) { ptx::trap(); }
                     // Says so where offsets from it are rounded up: they fold to constants.
                     return {base.value & ~(kSharedAlignment - 1)};),
                    (return {};))
}

/// A kernel that claims clusters which have not begun names its ring of responses `Clc`.
template <class Kernel>
concept ClaimsClusters = requires {
  typename Kernel::Clc;
};

/// Runs one warp of `Kernel`, unless its cluster has been claimed by another.
template <class Kernel, class M>
WARPTWIN_HOST_DEVICE void run_or_yield(M& machine,
                                       const typename Kernel::Problem& problem,
                                       SharedAddress base) {
  if constexpr (ClaimsClusters<Kernel>) {
    if (machine.cluster_begins()) {
      run_warp<Kernel>(machine, problem, base);
      machine.cluster_ends(warps_of<Kernel>(problem));
    }
  } else {
    run_warp<Kernel>(machine, problem, base);
  }
}

/// Runs `Kernel` in every warp of the grid.
///
/// `memory`: see `EmulationMemory`, where something is emulated; else null.
template <class Kernel>
__global__ void __launch_bounds__(kThreads<Kernel>, 1)
    kernel_entry(const __grid_constant__ typename Kernel::Problem problem, std::uint32_t* memory) {
  const SharedAddress base = dynamic_shared_memory();
  CudaMachine machine{memory, &problem, base};
  run_or_yield<Kernel>(machine, problem, base);
}

/// The same for a kernel over `M`, an `ObservedMachine`.
template <class Kernel, class M>
__global__ void __launch_bounds__(kThreads<Kernel>, 1)
    observed_entry(const __grid_constant__ typename Kernel::Problem problem,
                   std::uint32_t* memory,
                   const __grid_constant__ Observation observation) {
  const SharedAddress base = dynamic_shared_memory();
  M machine{memory, observation, &problem, base, warps_of<Kernel>(problem)};
  run_or_yield<Kernel>(machine, problem, base);
  machine.end();
}

#endif  // __CUDACC__

}  // namespace warptwin::hw
