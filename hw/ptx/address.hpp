/// From the machine's addresses to the pointers that cuda::ptx takes, and to other CTAs' windows.

#pragma once

#include "hw/ptx/target.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// The generic pointer to a byte of the shared-memory window; of the cluster's too, since a CTA's
/// own window lies in it. Participants: each lane for itself. Blocks: never.
template <class T = void>
WARPTWIN_HOST_DEVICE T* shared_pointer(std::uint32_t address) {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE, (return static_cast<T*>(__cvta_shared_to_generic(address));), (return nullptr;))
}

WARPTWIN_HOST_DEVICE std::uint64_t* pointer_to(Mbarrier bar) {
  return shared_pointer<std::uint64_t>(bar.address.value);
}

WARPTWIN_HOST_DEVICE std::uint64_t* pointer_to(RemoteMbarrier bar) {
  return shared_pointer<std::uint64_t>(bar.address.value);
}

/// The generic pointer to a byte of global memory.
template <class T = void>
WARPTWIN_HOST_DEVICE T* global_pointer(GlobalAddress address) {
  return reinterpret_cast<T*>(address.value);
}

/// The address of a byte of global memory.
WARPTWIN_HOST_DEVICE GlobalAddress global_address(const void* pointer) {
  return {reinterpret_cast<std::uint64_t>(pointer)};
}

/// The shared-window address of a generic pointer into shared memory.
WARPTWIN_HOST_DEVICE SharedAddress shared_address(const void* pointer) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (return {static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer))};),
                    (return {};))
}

/// The same offset in the window of CTA `rank` of the cluster.
///
/// Participants: each lane for itself. Blocks: never. Source: PTX ISA, "mapa".
WARPTWIN_HOST_DEVICE ClusterAddress mapa(SharedAddress address, std::uint32_t rank) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (ClusterAddress mapped; asm("mapa.shared::cluster.u32 %0, %1, %2;"
                                                : "=r"(mapped.value)
                                                : "r"(address.value), "r"(rank));
                     return mapped;),
                    (return {};))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
