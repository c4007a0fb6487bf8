/// Single words and 16-byte units of memory. Each acts for every lane that executes it; none
/// blocks. Source: PTX ISA, "ld", "st", "red", "atom".

#pragma once

#include "hw/ptx/address.hpp"
#include "hw/ptx/instructions.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

WARPTWIN_HOST_DEVICE std::uint32_t ld_shared_u32(SharedAddress address) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint32_t value; asm volatile("ld.shared.u32 %0, [%1];"
                                                       : "=r"(value)
                                                       : "r"(address.value)
                                                       : "memory");
                     return value;),
                    (return 0;))
}

WARPTWIN_HOST_DEVICE void st_shared_u32(SharedAddress address, std::uint32_t value) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("st.shared.u32 [%0], %1;" ::"r"(address.value), "r"(value)
                             : "memory");))
}

WARPTWIN_HOST_DEVICE void st_shared_u16(SharedAddress address, std::uint16_t value) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("st.shared.u16 [%0], %1;" ::"r"(address.value), "h"(value)
                             : "memory");))
}

/// Writes one 16-byte unit; `address` is a multiple of 16.
WARPTWIN_HOST_DEVICE void st_shared_v4(SharedAddress address, const std::uint32_t (&words)[4]) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address.value),
                             "r"(words[0]),
                             "r"(words[1]),
                             "r"(words[2]),
                             "r"(words[3])
                             : "memory");))
}

/// Writes four matrices of 8 by 8 elements of 16 bits: lanes 8 i to 8 i + 7 say where the rows of
/// the i-th begin, multiples of 16; lane t has elements 2 (t % 4) and the next of each one's row
/// t / 4. Participants: the whole warp.
WARPTWIN_HOST_DEVICE void stmatrix_x4(SharedAddress address, const std::uint32_t (&words)[4]) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
                             "%4};" ::"r"(address.value),
                             "r"(words[0]),
                             "r"(words[1]),
                             "r"(words[2]),
                             "r"(words[3])
                             : "memory");))
}

/// Reads one 16-byte unit; `address` is a multiple of 16.
WARPTWIN_HOST_DEVICE void ld_shared_v4(std::uint32_t (&words)[4], SharedAddress address) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                             : "r"(address.value)
                             : "memory");))
}

/// One word of shared memory of any CTA of the cluster.
WARPTWIN_HOST_DEVICE std::uint32_t ld_cluster_u32(ClusterAddress address) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint32_t value; asm volatile("ld.shared::cluster.u32 %0, [%1];"
                                                       : "=r"(value)
                                                       : "r"(address.value)
                                                       : "memory");
                     return value;),
                    (return 0;))
}

/// Reads one 16-byte unit of shared memory of any CTA of the cluster.
WARPTWIN_HOST_DEVICE void ld_cluster_v4(std::uint32_t (&words)[4], ClusterAddress address) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                             : "r"(address.value)
                             : "memory");))
}

/// Writes one 16-byte unit of shared memory of any CTA of the cluster.
WARPTWIN_HOST_DEVICE void st_cluster_v4(ClusterAddress address, const std::uint32_t (&words)[4]) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address.value),
                    "r"(words[0]),
                    "r"(words[1]),
                    "r"(words[2]),
                    "r"(words[3])
                    : "memory");))
}

/// Writes one 16-byte unit of shared memory of any CTA of the cluster, asynchronously, and counts
/// it on an mbarrier of that CTA. Source: PTX ISA, "st.async".
WARPTWIN_HOST_DEVICE void st_async_v4(ClusterAddress address,
                                      const std::uint32_t (&words)[4],
                                      RemoteMbarrier bar) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (::cuda::ptx::st_async(
                    shared_pointer<std::uint32_t>(address.value), words, pointer_to(bar));))
}

/// A number that nothing writes while the kernel runs.
WARPTWIN_HOST_DEVICE float ld_global_f32(GlobalAddress address) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (float value; asm volatile("ld.global.f32 %0, [%1];"
                                               : "=f"(value)
                                               : "l"(address.value)
                                               : "memory");
                     return value;),
                    (return 0.0F;))
}

/// Control data that nothing writes while the kernel runs.
WARPTWIN_HOST_DEVICE std::uint32_t ld_global_u32(GlobalAddress address) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint32_t value; asm volatile("ld.global.u32 %0, [%1];"
                                                       : "=r"(value)
                                                       : "l"(address.value)
                                                       : "memory");
                     return value;),
                    (return 0;))
}

/// Changes a tensor map in global memory. Source: PTX ISA, "tensormap.replace".
WARPTWIN_HOST_DEVICE void tensormap_replace_global_address(const void* map, GlobalAddress address) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], "
                             "%1;" ::"l"(map),
                             "l"(address.value)
                             : "memory");))
}
/// The dimension is written into the instruction.
WARPTWIN_HOST_DEVICE void tensormap_replace_global_dim(const void* map,
                                                       std::uint32_t dimension,
                                                       std::uint32_t extent) {
#define WARPTWIN_REPLACE_DIM(number)                                                 \
  case number:                                                                       \
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], " #number \
                 ", %1;" ::"l"(map),                                                 \
                 "r"(extent)                                                         \
                 : "memory");                                                        \
    break;
  NV_IF_TARGET(NV_IS_DEVICE,
               (switch (dimension){WARPTWIN_REPLACE_DIM(0) WARPTWIN_REPLACE_DIM(
                   1) WARPTWIN_REPLACE_DIM(2) WARPTWIN_REPLACE_DIM(3) WARPTWIN_REPLACE_DIM(4)}))
#undef WARPTWIN_REPLACE_DIM
}

WARPTWIN_HOST_DEVICE std::uint32_t ld_acquire_global_u32(GlobalAddress address) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint32_t value; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                                                       : "=r"(value)
                                                       : "l"(address.value)
                                                       : "memory");
                     return value;),
                    (return 0;))
}

WARPTWIN_HOST_DEVICE void st_release_global_u32(GlobalAddress address, std::uint32_t value) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address.value), "r"(value)
                             : "memory");))
}

WARPTWIN_HOST_DEVICE void red_add_release_global_u32(GlobalAddress address, std::uint32_t value) {
  NV_IF_TARGET(
      NV_IS_DEVICE,
      (asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(address.value), "r"(value)
                    : "memory");))
}

/// Adds to a word, of one lane after the other, and returns what it was.
WARPTWIN_HOST_DEVICE std::uint32_t atom_add_acq_rel_global_u32(GlobalAddress address,
                                                               std::uint32_t value) {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE,
      (std::uint32_t before; asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                                          : "=r"(before)
                                          : "l"(address.value), "r"(value)
                                          : "memory");
       return before;),
      (return 0;))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
