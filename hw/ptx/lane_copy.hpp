/// Copies that each lane makes for itself, and what tells of their end. Only the group wait blocks.
/// Source: PTX ISA, "cp.async", "cp.async.mbarrier.arrive".

#pragma once

#include "common/machine/types.hpp"

#include "hw/ptx/address.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Writes `kBytes` bytes: those that the lane reads, and zeros.
template <std::uint32_t kBytes>
WARPTWIN_HOST_DEVICE void cp_async(const CopyOfLane& copy) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "a lane copies 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {  // past L1, which takes no smaller ones past it
    NV_IF_TARGET(NV_IS_DEVICE,
                 (asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(copy.to.value),
                               "l"(copy.from.value),
                               "n"(kBytes),
                               "r"(copy.bytes)
                               : "memory");))
  } else {
    NV_IF_TARGET(NV_IS_DEVICE,
                 (asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(copy.to.value),
                               "l"(copy.from.value),
                               "n"(kBytes),
                               "r"(copy.bytes)
                               : "memory");))
  }
}

WARPTWIN_HOST_DEVICE void cp_async_commit_group() {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("cp.async.commit_group;" ::: "memory");))
}

/// Blocks until at most `kPending` groups of this lane are still under way.
template <std::uint32_t kPending>
WARPTWIN_HOST_DEVICE void cp_async_wait_group() {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");))
}

/// One arrival on a barrier of this CTA when all copies that the lane has made are complete.
WARPTWIN_HOST_DEVICE void cp_async_mbarrier_arrive_noinc(Mbarrier bar) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar.address.value)
                    : "memory");))
}

/// The same of an arrival more than the phase had to have.
WARPTWIN_HOST_DEVICE void cp_async_mbarrier_arrive(Mbarrier bar) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(bar.address.value)
                    : "memory");))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
