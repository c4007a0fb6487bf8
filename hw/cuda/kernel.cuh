/// The one `__global__` function there is: it builds the machine and runs the kernel's text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// Defined nowhere: a kernel that calls it is not assembled, and ptxas says its name.
extern "C" __device__ void warptwin_host_and_device_lay_out_the_kernel_argument_differently();

#pragma nv_diagnostic push
#pragma nv_diag_suppress 1427  // offsetof in no standard-layout class; it has no virtual base

/// Refuses a kernel whose argument device code lays out in another way than the host.
///
/// nvcc's front end folds sizeof and offsetof to what the host's compiler says, and its code
/// generator lays the argument out anew: a [[no_unique_address]] member that is empty may take room
/// there. Here differences of addresses, which are the code generator's, are held against what the
/// front end says. Of equal ones nothing is left. Without optimisation nothing is compared.
template <class Problem>
__device__ void require_same_layout(const Problem& problem) {
#ifndef __CUDACC_DEBUG__
  using Extents = std::remove_cvref_t<decltype(problem.extents)>;
  const auto distance = [](const auto* from, const auto* to) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(to) -
                                    reinterpret_cast<const char*>(from));
  };
  // Extents are words or nothing: bytes of a word that holds none are no one's. Empty ones take no
  // room where something stands behind them, and show in the whole's size else.
  const auto words = [](std::size_t bytes) {
    return ceil_div(static_cast<std::uint32_t>(bytes), sizeof(std::uint32_t));
  };
  const bool same_extents =
      std::is_empty_v<Extents> ||
      (words(distance(&problem.extents, &problem.extents + 1)) == words(sizeof(Extents)) &&
       distance(&problem, &problem.extents) == __builtin_offsetof(Problem, extents));
  if (!same_extents || distance(&problem, &problem + 1) != sizeof(Problem)) {
    warptwin_host_and_device_lay_out_the_kernel_argument_differently();
  }
#endif
}
#pragma nv_diagnostic pop

/// A kernel that claims clusters which have not begun: its storage names the ring of responses.
template <class Kernel>
concept ClaimsClusters = requires {
  typename Kernel::Storage::Clc;
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
  require_same_layout(problem);
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
  require_same_layout(problem);
  const SharedAddress base = dynamic_shared_memory();
  M machine{memory, observation, &problem, base, warps_of<Kernel>(problem)};
  run_or_yield<Kernel>(machine, problem, base);
  machine.end();
}

#endif  // __CUDACC__

}  // namespace warptwin::hw
