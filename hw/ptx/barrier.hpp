/// Barriers of a CTA and of a cluster. Whole warps only: each function brings the warp's lanes
/// together first, since the aligned forms require it and lanes may return from an mbarrier wait
/// one by one. Source: PTX ISA, "bar", "barrier.cluster".

#pragma once

#include "hw/ptx/instructions.hpp"
#include "hw/ptx/target.hpp"
#include "hw/ptx/warp.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Blocks until `threads` threads, a multiple of 32, have arrived at named barrier `id`.
WARPTWIN_HOST_DEVICE void bar_sync(std::uint32_t id, std::uint32_t threads) {
  sync_warp();
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");))
}

/// Arrives at named barrier `id`. Blocks: never.
WARPTWIN_HOST_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads) {
  sync_warp();
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads)
                             : "memory");))
}

/// Blocks until every thread of the CTA has come: bar.sync 0.
WARPTWIN_HOST_DEVICE void cta_sync() {
  sync_warp();
  NV_IF_TARGET(NV_IS_DEVICE, (__syncthreads();))
}

/// Marks this warp's arrival at the cluster's barrier. Blocks: never.
///
/// The relaxed wrapper has no compiler memory clobber: the empty statements around it are one.
WARPTWIN_HOST_DEVICE void barrier_cluster_arrive(Ordering ordering) {
  sync_warp();
  NV_IF_TARGET(NV_IS_DEVICE,
               (
                   namespace p = ::cuda::ptx; if (ordering.semantics == Semantics::kRelaxed) {
                     asm volatile("" ::: "memory");
                     p::barrier_cluster_arrive(p::sem_relaxed);
                     asm volatile("" ::: "memory");
                   } else { p::barrier_cluster_arrive(p::sem_release); }))
}

/// Blocks until every thread of the cluster has arrived in this round.
WARPTWIN_HOST_DEVICE void barrier_cluster_wait() {
  sync_warp();
  NV_IF_TARGET(NV_IS_DEVICE,
               (::cuda::ptx::barrier_cluster_wait(::cuda::ptx::sem_acquire); __syncwarp();))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
