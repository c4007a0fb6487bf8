/// Lanes of a warp, its place in the grid, its registers.
/// Source: PTX ISA, "elect.sync", "Special Registers", "setmaxnreg".

#pragma once

#include "hw/ptx/instructions.hpp"
#include "hw/ptx/target.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Brings the lanes of the warp together. Participants: the whole warp. Blocks: until all have
/// come.
WARPTWIN_HOST_DEVICE void sync_warp() {
  NV_IF_TARGET(NV_IS_DEVICE, (__syncwarp();))
}

/// True in one lane of the warp, the same one each time. Participants: the whole warp.
WARPTWIN_HOST_DEVICE bool elect_sync() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint32_t elected; asm volatile("{\n\t.reg .pred elected;\n\t"
                                                         "elect.sync _|elected, 0xffffffff;\n\t"
                                                         "selp.b32 %0, 1, 0, elected;\n\t}"
                                                         : "=r"(elected));
                     return elected != 0;),
                    (return true;))
}

/// Whether any lane says yes. Participants: the whole warp.
WARPTWIN_HOST_DEVICE bool any_sync(bool own) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __any_sync(0xffffffffU, own);), (return own;))
}

/// What `value` is in lane `lane`. Participants: the whole warp. Blocks: until all have come.
WARPTWIN_HOST_DEVICE std::uint32_t shuffle_sync(std::uint32_t value, std::uint32_t lane) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (return __shfl_sync(0xffffffffU, value, static_cast<int>(lane));),
                    (return value;))
}

WARPTWIN_HOST_DEVICE std::uint32_t lane_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::cuda::ptx::get_sreg_laneid();), (return 0;))
}

/// Lanes that happen to execute together, any of the warp's: bit i is lane i.
struct LanesTogether {
  std::uint32_t mask = 1;

  /// Those of the executing lane. Blocks: never.
  WARPTWIN_HOST_DEVICE static LanesTogether now() {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return {__activemask()};), (return {};))
  }
  WARPTWIN_HOST_DEVICE std::uint32_t count() const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<std::uint32_t>(__popc(mask));), (return 1;))
  }
  /// How many of them come before the executing lane.
  WARPTWIN_HOST_DEVICE std::uint32_t place() const {
    NV_IF_ELSE_TARGET(
        NV_IS_DEVICE,
        (return static_cast<std::uint32_t>(__popc(mask & ::cuda::ptx::get_sreg_lanemask_lt()));),
        (return 0;))
  }
  /// The sum of what each has. Participants: all of them. Blocks: until all have come.
  WARPTWIN_HOST_DEVICE std::uint32_t sum(std::uint32_t value) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __reduce_add_sync(mask, value);), (return value;))
  }
};

/// The warp's index in its CTA, for one-dimensional CTAs; taken from lane 0, so that the compiler
/// sees one value for the warp. Participants: the whole warp.
WARPTWIN_HOST_DEVICE std::uint32_t warp_index() {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE, (return __shfl_sync(0xffffffffU, threadIdx.x / kWarpLanes, 0);), (return 0;))
}

WARPTWIN_HOST_DEVICE std::uint32_t cta_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return blockIdx.x;), (return 0;))
}

WARPTWIN_HOST_DEVICE std::uint32_t cluster_cta_rank() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::cuda::ptx::get_sreg_cluster_ctarank();), (return 0;))
}

WARPTWIN_HOST_DEVICE std::uint32_t cluster_cta_count() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::cuda::ptx::get_sreg_cluster_nctarank();), (return 1;))
}

WARPTWIN_HOST_DEVICE std::uint32_t cluster_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::cuda::ptx::get_sreg_clusterid_x();), (return 0;))
}

WARPTWIN_HOST_DEVICE std::uint32_t cluster_count() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::cuda::ptx::get_sreg_nclusterid_x();), (return 1;))
}

/// The thread's index in its CTA, and how many there are, for one-dimensional CTAs.
WARPTWIN_HOST_DEVICE std::uint32_t thread_index() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return threadIdx.x;), (return 0;))
}

WARPTWIN_HOST_DEVICE std::uint32_t thread_count() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return blockDim.x;), (return 1;))
}

/// Bytes of dynamic shared memory that the CTA was launched with.
WARPTWIN_HOST_DEVICE std::uint32_t dynamic_shared_bytes() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ::cuda::ptx::get_sreg_dynamic_smem_size();), (return 0;))
}

/// Cycles of this SM, from some moment on.
WARPTWIN_HOST_DEVICE std::uint64_t clock() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return clock64();), (return 0;))
}

/// Gives registers back. Participants: every warp of the warpgroup. Blocks: never.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void setmaxnreg_dec() {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));))
}

/// Takes registers. Participants: every warp of the warpgroup. Blocks: until the pool has them.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void setmaxnreg_inc() {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));))
}

/// Ends the kernel with an error.
WARPTWIN_HOST_DEVICE void trap() {
  NV_IF_TARGET(NV_IS_DEVICE, (__trap();))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
