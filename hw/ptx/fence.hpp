/// Fences. Each acts for every lane that executes it; none blocks.
/// Source: PTX ISA, "membar / fence", "tcgen05.fence".

#pragma once

#include "hw/ptx/instructions.hpp"
#include "hw/ptx/target.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

template <class Sem>
WARPTWIN_HOST_DEVICE void fence_at(Sem sem, Scope scope) {
  NV_IF_TARGET(NV_IS_DEVICE, (namespace p = ::cuda::ptx; switch (scope) {
                 case Scope::kCta:
                   p::fence(sem, p::scope_cta);
                   break;
                 case Scope::kCluster:
                   p::fence(sem, p::scope_cluster);
                   break;
                 case Scope::kGpu:
                   p::fence(sem, p::scope_gpu);
                   break;
               }))
}

/// A thread fence among generic accesses; a relaxed one is none.
WARPTWIN_HOST_DEVICE void fence(Ordering ordering) {
  NV_IF_TARGET(NV_IS_DEVICE, (switch (ordering.semantics) {
                 case Semantics::kRelaxed:
                   break;
                 case Semantics::kAcquire:
                   fence_at(::cuda::ptx::sem_acquire, ordering.scope);
                   break;
                 case Semantics::kRelease:
                   fence_at(::cuda::ptx::sem_release, ordering.scope);
                   break;
                 case Semantics::kAcqRel:
                   fence_at(::cuda::ptx::sem_acq_rel, ordering.scope);
                   break;
               }))
}

/// Makes this lane's mbarrier.init part of its next release at cluster scope.
WARPTWIN_HOST_DEVICE void fence_mbarrier_init() {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (::cuda::ptx::fence_mbarrier_init(::cuda::ptx::sem_release, ::cuda::ptx::scope_cluster);))
}

/// Orders this lane's generic accesses and later asynchronous ones, both ways.
WARPTWIN_HOST_DEVICE void fence_proxy_async(ProxySpace space) {
  NV_IF_TARGET(NV_IS_DEVICE, (namespace p = ::cuda::ptx; switch (space) {
                 case ProxySpace::kAll:
                   p::fence_proxy_async();
                   break;
                 case ProxySpace::kSharedCta:
                   p::fence_proxy_async(p::space_shared);
                   break;
                 case ProxySpace::kSharedCluster:
                   p::fence_proxy_async(p::space_cluster);
                   break;
                 case ProxySpace::kGlobal:
                   p::fence_proxy_async(p::space_global);
                   break;
               }))
}

/// Releases this lane's changes of tensor maps to the GPU's lanes that acquire them.
WARPTWIN_HOST_DEVICE void fence_proxy_tensormap_release() {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::
                                 : "memory");))
}

/// Lets this lane's copies see what was released of the tensor map.
WARPTWIN_HOST_DEVICE void fence_proxy_tensormap_acquire(const void* map) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map)
                             : "memory");))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
