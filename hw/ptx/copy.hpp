/// Bulk and tensor copies, and bulk groups. Each is issued once for every lane that executes it;
/// only the group waits block. Source: PTX ISA, "cp.async.bulk", "cp.async.bulk.tensor".

#pragma once

#include "common/machine/machine.hpp"

#include "hw/ptx/address.hpp"
#include "hw/ptx/instructions.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// With cta_group::2, this place in the leader CTA's window: bit 24 of a shared::cluster address is
/// the lowest of the CTA's rank.
inline constexpr std::uint32_t kLeaderWindow = ~(std::uint32_t{1} << 24);

/// Copies a box to this CTA, or to the same place in every CTA of the mask, and counts the bytes on
/// the barrier at the same place as `bar` in each of them.
template <std::uint32_t kRank>
WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load(
    SharedAddress smem, const void* map, Coordinates<kRank> at, Mbarrier bar, CtaMask multicast) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (
                   namespace p = ::cuda::ptx; if (multicast.bits == 0) {
                     p::cp_async_bulk_tensor(p::space_cluster,
                                             p::space_global,
                                             shared_pointer(smem.value),
                                             map,
                                             at.at,
                                             pointer_to(bar));
                   } else {
                     p::cp_async_bulk_tensor(p::space_cluster,
                                             p::space_global,
                                             shared_pointer(smem.value),
                                             map,
                                             at.at,
                                             pointer_to(bar),
                                             multicast.bits);
                   }))
}

/// The same of four rows of a matrix, for this CTA or the CTAs of the mask; `bar` of a pair
/// stands in its leader. Not on Hopper.
#define WARPTWIN_GATHER4(group, multicast, mask, bar, ...)                           \
  asm volatile("cp.async.bulk.tensor.2d" group                                       \
               ".shared::cluster.global.tile::gather4"                               \
               ".mbarrier::complete_tx::bytes" multicast                             \
               " [%0], [%1, {%2, %3, %4, %5, %6}], [%7]" mask ";" ::"r"(smem.value), \
               "l"(map),                                                             \
               "r"(rows.column),                                                     \
               "r"(rows.row[0]),                                                     \
               "r"(rows.row[1]),                                                     \
               "r"(rows.row[2]),                                                     \
               "r"(rows.row[3]),                                                     \
               "r"(bar)__VA_ARGS__                                                   \
               : "memory")
#define WARPTWIN_GATHER4_MULTICAST(group, bar) \
  WARPTWIN_GATHER4(group, ".multicast::cluster", ", %8", bar, , "h"(multicast.bits))
WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_gather4(SharedAddress smem,
                                                       const void* map,
                                                       const RowsOf4& rows,
                                                       Mbarrier bar,
                                                       CtaMask multicast,
                                                       CtaGroup group) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (
                   const std::uint32_t of_leader = bar.address.value & kLeaderWindow;
                   if (multicast.bits != 0 && group == CtaGroup::kTwo) {
                     WARPTWIN_GATHER4_MULTICAST(".cta_group::2", of_leader);
                   } else if (multicast.bits != 0) {
                     WARPTWIN_GATHER4_MULTICAST("", bar.address.value);
                   } else if (group == CtaGroup::kTwo) {
                     WARPTWIN_GATHER4(".cta_group::2", "", "", of_leader);
                   } else { WARPTWIN_GATHER4("", "", "", bar.address.value); }))
}
#undef WARPTWIN_GATHER4_MULTICAST
#undef WARPTWIN_GATHER4

/// The same of pixels by an im2col map, for this CTA alone: without a mask.
WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load(
    SharedAddress smem, const void* map, const PixelCoordinates<4>& pixels, Mbarrier bar, CtaMask) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                             ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], "
                             "{%7, %8};" ::"r"(smem.value),
                             "l"(map),
                             "r"(pixels.at[0]),
                             "r"(pixels.at[1]),
                             "r"(pixels.at[2]),
                             "r"(pixels.at[3]),
                             "r"(bar.address.value),
                             "h"(pixels.offset[0]),
                             "h"(pixels.offset[1])
                             : "memory");))
}
/// And for one CTA of a pair; the bytes are counted in the pair's leader.
WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load_to_pair(SharedAddress smem,
                                                            const void* map,
                                                            const PixelCoordinates<4>& pixels,
                                                            Mbarrier bar) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (asm volatile("cp.async.bulk.tensor.4d.cta_group::2.shared::cluster.global.im2col"
                             ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], "
                             "{%7, %8};" ::"r"(smem.value),
                             "l"(map),
                             "r"(pixels.at[0]),
                             "r"(pixels.at[1]),
                             "r"(pixels.at[2]),
                             "r"(pixels.at[3]),
                             "r"(bar.address.value & kLeaderWindow),
                             "h"(pixels.offset[0]),
                             "h"(pixels.offset[1])
                             : "memory");))
}

/// The same for one CTA of a pair; the bytes are counted in the pair's leader. There is no wrapper:
/// the one with a cta_group knows its own CTA's window only, and the barrier is not in it.
template <std::uint32_t kRank>
WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load_to_pair(
    SharedAddress smem, const void* map, Coordinates<kRank> at, Mbarrier bar, CtaMask multicast) {
  NV_IF_TARGET(
      NV_HAS_FEATURE_SM_100a,
      (
          namespace p = ::cuda::ptx; const std::uint32_t leader = bar.address.value & kLeaderWindow;
          if (multicast.bits != 0) {
            p::cp_async_bulk_tensor(p::space_cluster,
                                    p::space_global,
                                    p::cta_group_2,
                                    shared_pointer(smem.value),
                                    map,
                                    at.at,
                                    shared_pointer<std::uint64_t>(leader),
                                    multicast.bits);
          } else if constexpr (kRank == 1) {
            asm volatile(
                "cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(smem.value),
                "l"(map),
                "r"(at.at[0]),
                "r"(leader)
                : "memory");
          } else if constexpr (kRank == 2) {
            asm volatile(
                "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem.value),
                "l"(map),
                "r"(at.at[0]),
                "r"(at.at[1]),
                "r"(leader)
                : "memory");
          } else if constexpr (kRank == 3) {
            asm volatile(
                "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(smem.value),
                "l"(map),
                "r"(at.at[0]),
                "r"(at.at[1]),
                "r"(at.at[2]),
                "r"(leader)
                : "memory");
          } else if constexpr (kRank == 4) {
            asm volatile(
                "cp.async.bulk.tensor.4d.cta_group::2.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(
                    smem.value),
                "l"(map),
                "r"(at.at[0]),
                "r"(at.at[1]),
                "r"(at.at[2]),
                "r"(at.at[3]),
                "r"(leader)
                : "memory");
          } else {
            asm volatile(
                "cp.async.bulk.tensor.5d.cta_group::2.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(
                    smem.value),
                "l"(map),
                "r"(at.at[0]),
                "r"(at.at[1]),
                "r"(at.at[2]),
                "r"(at.at[3]),
                "r"(at.at[4]),
                "r"(leader)
                : "memory");
          }))
}

template <std::uint32_t kRank>
WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_store(const void* map,
                                                     Coordinates<kRank> at,
                                                     SharedAddress smem) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (namespace p = ::cuda::ptx; p::cp_async_bulk_tensor(
                    p::space_global, p::space_shared, map, at.at, shared_pointer(smem.value));))
}

/// Brings a tensor map near the copies that will need it. Blocks: never.
WARPTWIN_HOST_DEVICE void prefetch_tensormap(const void* map) {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");))
}

/// Brings a box of a matrix into L2. Blocks: never.
WARPTWIN_HOST_DEVICE void cp_async_bulk_prefetch_tensor(const void* map, Coordinates<2> at) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map),
                    "r"(at.at[0]),
                    "r"(at.at[1])
                    : "memory");))
}

/// Copies `bytes`, a multiple of 16, as `cp_async_bulk_tensor_load` copies a box.
WARPTWIN_HOST_DEVICE void cp_async_bulk_load(SharedAddress smem,
                                             GlobalAddress global,
                                             std::uint32_t bytes,
                                             Mbarrier bar,
                                             CtaMask multicast) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (
                   namespace p = ::cuda::ptx; if (multicast.bits == 0) {
                     p::cp_async_bulk(p::space_cluster,
                                      p::space_global,
                                      shared_pointer(smem.value),
                                      global_pointer(global),
                                      bytes,
                                      pointer_to(bar));
                   } else {
                     p::cp_async_bulk(p::space_cluster,
                                      p::space_global,
                                      shared_pointer(smem.value),
                                      global_pointer(global),
                                      bytes,
                                      pointer_to(bar),
                                      multicast.bits);
                   }))
}

WARPTWIN_HOST_DEVICE void cp_async_bulk_store(GlobalAddress global,
                                              SharedAddress smem,
                                              std::uint32_t bytes) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (namespace p = ::cuda::ptx; p::cp_async_bulk(p::space_global,
                                                            p::space_shared,
                                                            global_pointer(global),
                                                            shared_pointer(smem.value),
                                                            bytes);))
}

WARPTWIN_HOST_DEVICE void cp_async_bulk_commit_group() {
  NV_IF_TARGET(NV_IS_DEVICE, (::cuda::ptx::cp_async_bulk_commit_group();))
}

/// Blocks until at most `kPending` groups of this lane are still under way.
template <std::uint32_t kPending>
WARPTWIN_HOST_DEVICE void cp_async_bulk_wait_group() {
  NV_IF_TARGET(NV_IS_DEVICE,
               (::cuda::ptx::cp_async_bulk_wait_group(::cuda::ptx::n32_t<kPending>{});))
}

/// Blocks until at most `kPending` groups of this lane have yet to read shared memory.
template <std::uint32_t kPending>
WARPTWIN_HOST_DEVICE void cp_async_bulk_wait_group_read() {
  NV_IF_TARGET(NV_IS_DEVICE,
               (::cuda::ptx::cp_async_bulk_wait_group_read(::cuda::ptx::n32_t<kPending>{});))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
