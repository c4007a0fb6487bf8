/// The one `__global__` function there is: it builds the machine and runs the kernel's text.

#pragma once

#include <cstdint>

#include "common/kernel/dispatch.hpp"

#include "hw/cuda/observed_machine.hpp"

namespace warptwin::hw {

/// Threads of one CTA of `Kernel`.
template <class Kernel>
inline constexpr std::uint32_t kThreads = Kernel::kRoles.warps() * kWarpLanes;

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

/// Runs `Kernel` in every warp of the grid.
///
/// `tmem_scratch`: TmemEmulation::kCells words for each CTA, where tcgen05 is emulated; else null.
template <class Kernel>
__global__ void __launch_bounds__(kThreads<Kernel>, 1)
    kernel_entry(const __grid_constant__ typename Kernel::Problem problem,
                 std::uint32_t* tmem_scratch) {
  const SharedAddress base = dynamic_shared_memory();
  CudaMachine machine{tmem_scratch};
  run_warp<Kernel>(machine, problem, base);
}

/// The same for a kernel over `ObservedMachine<kWatch>`.
template <class Kernel, Watch kWatch>
__global__ void __launch_bounds__(kThreads<Kernel>, 1)
    observed_entry(const __grid_constant__ typename Kernel::Problem problem,
                   std::uint32_t* tmem_scratch,
                   const __grid_constant__ Observation observation) {
  const SharedAddress base = dynamic_shared_memory();
  ObservedMachine<kWatch> machine{
      tmem_scratch, observation, &problem, base, kThreads<Kernel> / kWarpLanes};
  run_warp<Kernel>(machine, problem, base);
  machine.end();
}

#endif  // __CUDACC__

}  // namespace warptwin::hw
