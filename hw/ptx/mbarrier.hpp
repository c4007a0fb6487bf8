/// The mbarrier operations, one a function. Each acts once for every lane that executes it; none
/// blocks. Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".

#pragma once

#include "hw/ptx/address.hpp"
#include "hw/ptx/instructions.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

WARPTWIN_HOST_DEVICE void mbarrier_init(Mbarrier bar, std::uint32_t count) {
  NV_IF_TARGET(NV_IS_DEVICE, (::cuda::ptx::mbarrier_init(pointer_to(bar), count);))
}

WARPTWIN_HOST_DEVICE void mbarrier_inval(Mbarrier bar) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar.address.value)
                             : "memory");))
}

/// `count` arrivals on a barrier of this CTA: release or relaxed, at CTA or cluster scope.
WARPTWIN_HOST_DEVICE void mbarrier_arrive(Mbarrier bar, std::uint32_t count, Ordering ordering) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (
          namespace p = ::cuda::ptx; std::uint64_t* at = pointer_to(bar);
          if (ordering.semantics == Semantics::kRelaxed) {
            if (ordering.scope == Scope::kCta) {
              (void)p::mbarrier_arrive(p::sem_relaxed, p::scope_cta, p::space_shared, at, count);
            } else {
              (void)p::mbarrier_arrive(
                  p::sem_relaxed, p::scope_cluster, p::space_shared, at, count);
            }
          } else if (ordering.scope == Scope::kCta) {
            (void)p::mbarrier_arrive(p::sem_release, p::scope_cta, p::space_shared, at, count);
          } else {
            (void)p::mbarrier_arrive(p::sem_release, p::scope_cluster, p::space_shared, at, count);
          }))
}

/// `count` arrivals on a barrier of any CTA of the cluster, at cluster scope: a narrower scope
/// asked for is widened, which is what a remote arrival needs.
WARPTWIN_HOST_DEVICE void mbarrier_arrive(RemoteMbarrier bar,
                                          std::uint32_t count,
                                          Ordering ordering) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (
          namespace p = ::cuda::ptx; std::uint64_t* at = pointer_to(bar);
          if (ordering.semantics == Semantics::kRelaxed) {
            p::mbarrier_arrive(p::sem_relaxed, p::scope_cluster, p::space_cluster, at, count);
          } else {
            p::mbarrier_arrive(p::sem_release, p::scope_cluster, p::space_cluster, at, count);
          }))
}

/// One arrival that also lowers the count of all later phases.
WARPTWIN_HOST_DEVICE void mbarrier_arrive_drop(Mbarrier bar) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];" ::"r"(
                                 bar.address.value)
                             : "memory");))
}

/// `count` arrivals that must not complete the phase.
WARPTWIN_HOST_DEVICE void mbarrier_arrive_no_complete(Mbarrier bar, std::uint32_t count) {
  NV_IF_TARGET(NV_IS_DEVICE,
               ((void)::cuda::ptx::mbarrier_arrive_no_complete(pointer_to(bar), count);))
}

/// Expects `bytes` more and arrives once, in one step.
WARPTWIN_HOST_DEVICE void mbarrier_arrive_expect_tx(Mbarrier bar, std::uint32_t bytes) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (namespace p = ::cuda::ptx; (void)p::mbarrier_arrive_expect_tx(
                    p::sem_release, p::scope_cta, p::space_shared, pointer_to(bar), bytes);))
}

WARPTWIN_HOST_DEVICE void mbarrier_arrive_expect_tx(RemoteMbarrier bar, std::uint32_t bytes) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (namespace p = ::cuda::ptx; p::mbarrier_arrive_expect_tx(
                    p::sem_release, p::scope_cluster, p::space_cluster, pointer_to(bar), bytes);))
}

WARPTWIN_HOST_DEVICE void mbarrier_expect_tx(Mbarrier bar, std::uint32_t bytes) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (namespace p = ::cuda::ptx; p::mbarrier_expect_tx(
                    p::sem_relaxed, p::scope_cta, p::space_shared, pointer_to(bar), bytes);))
}

/// Counts `bytes` as a copy would; moves nothing.
WARPTWIN_HOST_DEVICE void mbarrier_complete_tx(Mbarrier bar, std::uint32_t bytes) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(
                                 bar.address.value),
                             "r"(bytes)
                             : "memory");))
}

/// The same on a barrier of any CTA of the cluster.
WARPTWIN_HOST_DEVICE void mbarrier_complete_tx(RemoteMbarrier bar, std::uint32_t bytes) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(
                        bar.address.value),
                    "r"(bytes)
                    : "memory");))
}

/// Asks once whether the phase of this parity is complete; the hardware may suspend the lane for a
/// bounded time. False proves nothing.
WARPTWIN_HOST_DEVICE bool mbarrier_try_wait_parity(Mbarrier bar,
                                                   std::uint32_t parity,
                                                   Ordering ordering) {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE,
      (
          namespace p = ::cuda::ptx; std::uint64_t* at = pointer_to(bar);
          if (ordering.semantics == Semantics::kRelaxed) {
            if (ordering.scope == Scope::kCta) {
              return p::mbarrier_try_wait_parity(p::sem_relaxed, p::scope_cta, at, parity);
            }
            return p::mbarrier_try_wait_parity(p::sem_relaxed, p::scope_cluster, at, parity);
          } if (ordering.scope == Scope::kCta) {
            return p::mbarrier_try_wait_parity(p::sem_acquire, p::scope_cta, at, parity);
          } return p::mbarrier_try_wait_parity(p::sem_acquire, p::scope_cluster, at, parity);),
      (return true;))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
