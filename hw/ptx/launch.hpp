/// Cluster launch control, for sm_100a (see `ClusterEmulation` for others), and dependent launches.
///
/// Source: PTX ISA, "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel",
/// "griddepcontrol".

#pragma once

#include "hw/ptx/address.hpp"
#include "hw/ptx/instructions.hpp"
#include "hw/ptx/warp.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Asks for a cluster that has not begun, once for every lane that executes it; 16 bytes at
/// `response` are written, and counted on `bar`; with `multicast` in every CTA of the cluster.
/// Blocks: never.
WARPTWIN_HOST_DEVICE void clc_try_cancel(SharedAddress response, Mbarrier bar, bool multicast) {
  NV_IF_ELSE_TARGET(
      NV_HAS_FEATURE_SM_100a,
      (
          void* to = shared_pointer<void>(response.value); if (multicast) {
            ::cuda::ptx::clusterlaunchcontrol_try_cancel_multicast(to, pointer_to(bar));
          } else { ::cuda::ptx::clusterlaunchcontrol_try_cancel(to, pointer_to(bar)); }),
      (trap();))
}

/// The 16 bytes of a response.
WARPTWIN_HOST_DEVICE int4 load_response(SharedAddress response) {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE,
      (int4 value; asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                                : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                                : "r"(response.value)
                                : "memory");
       return value;),
      (return {};))
}

/// Whether the request whose response this is got a cluster.
WARPTWIN_HOST_DEVICE bool clc_is_canceled(SharedAddress response) {
  NV_IF_ELSE_TARGET(
      NV_HAS_FEATURE_SM_100a,
      (return ::cuda::ptx::clusterlaunchcontrol_query_cancel_is_canceled(load_response(response));),
      (trap(); return false;))
}

/// The index in the grid of that cluster's first CTA. Undefined if it got none.
WARPTWIN_HOST_DEVICE std::uint32_t clc_first_cta(SharedAddress response) {
  NV_IF_ELSE_TARGET(
      NV_HAS_FEATURE_SM_100a,
      (return ::cuda::ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<std::uint32_t>(
                  load_response(response));),
      (trap(); return 0;))
}

/// Blocks until every prerequisite grid is complete and its memory visible.
WARPTWIN_HOST_DEVICE void griddepcontrol_wait() {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("griddepcontrol.wait;" ::: "memory");))
}

/// Lets dependent grids start once every CTA has said so, or ended. Orders no memory.
WARPTWIN_HOST_DEVICE void griddepcontrol_launch_dependents() {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("griddepcontrol.launch_dependents;" ::: "memory");))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
