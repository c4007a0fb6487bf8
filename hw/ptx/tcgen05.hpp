/// Tensor memory and the fifth-generation tensor core, for sm_100a; see `TmemEmulation` for others.
///
/// `group` must be known when the kernel is compiled: a kernel that holds instructions of both
/// groups does not assemble. Source: PTX ISA, "TensorCore 5th Generation Family Instructions".

#pragma once

#include "common/machine/umma_descriptor.hpp"

#include "hw/ptx/address.hpp"
#include "hw/ptx/instructions.hpp"
#include "hw/ptx/warp.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Calls `f` with the tag of `group`.
template <class F>
WARPTWIN_HOST_DEVICE void with_cta_group(CtaGroup group, F&& f) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (
                   if (group == CtaGroup::kTwo) { f(::cuda::ptx::cta_group_2); } else {
                     f(::cuda::ptx::cta_group_1);
                   }))
}

/// Calls `f` with the tag of `kind`, which is not block-scaled.
template <class F>
WARPTWIN_HOST_DEVICE void with_kind(MmaKind kind, F&& f) {
  switch (kind) {
    case MmaKind::kF16:
      f(::cuda::ptx::kind_f16);
      break;
    case MmaKind::kTf32:
      f(::cuda::ptx::kind_tf32);
      break;
    case MmaKind::kF8f6f4:
      f(::cuda::ptx::kind_f8f6f4);
      break;
    case MmaKind::kI8:
      f(::cuda::ptx::kind_i8);
      break;
    default:
      trap();
  }
}

/// Writes the first column's address to `word`. Participants: the whole warp. Blocks: until
/// `columns` are free.
WARPTWIN_HOST_DEVICE void tcgen05_alloc(CtaGroup group, SharedAddress word, std::uint32_t columns) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (with_cta_group(group, [&](auto tag) {
                  ::cuda::ptx::tcgen05_alloc(
                      tag, shared_pointer<std::uint32_t>(word.value), columns);
                });))
}

/// Participants: the whole warp.
WARPTWIN_HOST_DEVICE void tcgen05_dealloc(CtaGroup group,
                                          TmemAddress address,
                                          std::uint32_t columns) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (with_cta_group(group, [&](auto tag) {
                                          ::cuda::ptx::tcgen05_dealloc(tag, address.value, columns);
                                        });))
}

/// Participants: the whole warp.
WARPTWIN_HOST_DEVICE void tcgen05_relinquish_alloc_permit(CtaGroup group) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (with_cta_group(group, [&](auto tag) {
                                          ::cuda::ptx::tcgen05_relinquish_alloc_permit(tag);
                                        });))
}

/// Issues one MMA for every lane that executes it. Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_mma(CtaGroup group,
                                      TmemAddress d,
                                      UmmaSmemDescriptor a,
                                      UmmaSmemDescriptor b,
                                      UmmaInstructionDescriptor instruction,
                                      bool accumulate) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (with_cta_group(group, [&](auto tag) {
                  namespace p = ::cuda::ptx;
                  with_kind(instruction.kind, [&](auto kind) {
                    p::tcgen05_mma(
                        kind, tag, d.value, a.bits, b.bits, instruction.bits, accumulate);
                  });
                });))
}

/// The same with A in tensor memory: lane m holds row m, packed into 32-bit cells. Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_mma_tmem_a(CtaGroup group,
                                             TmemAddress d,
                                             TmemAddress a,
                                             UmmaSmemDescriptor b,
                                             UmmaInstructionDescriptor instruction,
                                             bool accumulate) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (with_cta_group(group, [&](auto tag) {
                  namespace p = ::cuda::ptx;
                  with_kind(instruction.kind, [&](auto kind) {
                    p::tcgen05_mma_tmem_a(
                        kind, tag, d.value, a.value, b.bits, instruction.bits, accumulate);
                  });
                });))
}

/// The same with a scale factor for each row's elements in a vector, in tensor memory: kinds
/// mxf8f6f4 and mxf4 with vectors of 32, mxf4nvf4 with vectors of 16. Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_mma_block_scale(CtaGroup group,
                                                  TmemAddress d,
                                                  UmmaSmemDescriptor a,
                                                  UmmaSmemDescriptor b,
                                                  UmmaInstructionDescriptor instruction,
                                                  TmemAddress scale_a,
                                                  TmemAddress scale_b,
                                                  bool accumulate) {
  NV_IF_TARGET(
      NV_HAS_FEATURE_SM_100a,
      (with_cta_group(group, [&](auto tag) {
         namespace p = ::cuda::ptx;
         const auto with = [&](auto issue, auto kind) {
           issue(kind,
                 tag,
                 d.value,
                 a.bits,
                 b.bits,
                 instruction.bits,
                 scale_a.value,
                 scale_b.value,
                 accumulate);
         };
         switch (instruction.kind) {
           case MmaKind::kMxf8f6f4:
             with([](auto... x) { p::tcgen05_mma_block_scale_vec_1x(x...); }, p::kind_mxf8f6f4);
             break;
           case MmaKind::kMxf4:
             with([](auto... x) { p::tcgen05_mma_block_scale_vec_2x(x...); }, p::kind_mxf4);
             break;
           case MmaKind::kMxf4nvf4:
             with([](auto... x) { p::tcgen05_mma_block_scale_vec_4x(x...); }, p::kind_mxf4nvf4);
             break;
           default:
             trap();
         }
       });))
}

// One case of the two below: WARPTWIN_MMA_SP is what each of them issues.
#define WARPTWIN_MMA_SP_OF(kind)           \
  if (group == CtaGroup::kTwo) {           \
    WARPTWIN_MMA_SP("cta_group::2", kind); \
  } else {                                 \
    WARPTWIN_MMA_SP("cta_group::1", kind); \
  }                                        \
  break

/// The same with a sparse A: `a` is without its zeros, and `metadata`, in tensor memory, says where
/// they were. Of a kind without scale factors. Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_mma_sp(CtaGroup group,
                                         TmemAddress d,
                                         UmmaSmemDescriptor a,
                                         UmmaSmemDescriptor b,
                                         UmmaInstructionDescriptor instruction,
                                         TmemAddress metadata,
                                         bool accumulate) {
#define WARPTWIN_MMA_SP(cta_group, kind)                                                           \
  asm volatile("{ .reg .pred accumulate; setp.ne.b32 accumulate, %5, 0; tcgen05.mma.sp." cta_group \
               ".kind::" kind " [%0], %1, %2, [%3], %4, accumulate; }" ::"r"(d.value),             \
               "l"(a.bits),                                                                        \
               "l"(b.bits),                                                                        \
               "r"(metadata.value),                                                                \
               "r"(instruction.bits),                                                              \
               "r"(static_cast<std::uint32_t>(accumulate))                                         \
               : "memory")
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (switch (instruction.kind) {
                 case MmaKind::kF16:
                   WARPTWIN_MMA_SP_OF("f16");
                 case MmaKind::kTf32:
                   WARPTWIN_MMA_SP_OF("tf32");
                 case MmaKind::kF8f6f4:
                   WARPTWIN_MMA_SP_OF("f8f6f4");
                 case MmaKind::kI8:
                   WARPTWIN_MMA_SP_OF("i8");
                 default:
                   trap();
               }))
#undef WARPTWIN_MMA_SP
}

/// The same with a scale factor for each row's elements in a vector of B's: kinds mxf8f6f4 and mxf4
/// with vectors of 64, mxf4nvf4 with vectors of 32. Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_mma_sp_block_scale(CtaGroup group,
                                                     TmemAddress d,
                                                     UmmaSmemDescriptor a,
                                                     UmmaSmemDescriptor b,
                                                     UmmaInstructionDescriptor instruction,
                                                     TmemAddress metadata,
                                                     TmemAddress scale_a,
                                                     TmemAddress scale_b,
                                                     bool accumulate) {
#define WARPTWIN_MMA_SP(cta_group, kind)                                                           \
  asm volatile("{ .reg .pred accumulate; setp.ne.b32 accumulate, %7, 0; tcgen05.mma.sp." cta_group \
               ".kind::" kind " [%0], %1, %2, [%3], %4, [%5], [%6], accumulate; }" ::"r"(d.value), \
               "l"(a.bits),                                                                        \
               "l"(b.bits),                                                                        \
               "r"(metadata.value),                                                                \
               "r"(instruction.bits),                                                              \
               "r"(scale_a.value),                                                                 \
               "r"(scale_b.value),                                                                 \
               "r"(static_cast<std::uint32_t>(accumulate))                                         \
               : "memory")
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (switch (instruction.kind) {
                 case MmaKind::kMxf8f6f4:
                   WARPTWIN_MMA_SP_OF("mxf8f6f4.block_scale.scale_vec::1X");
                 case MmaKind::kMxf4:
                   WARPTWIN_MMA_SP_OF("mxf4.block_scale.scale_vec::2X");
                 case MmaKind::kMxf4nvf4:
                   WARPTWIN_MMA_SP_OF("mxf4nvf4.block_scale.scale_vec::4X");
                 default:
                   trap();
               }))
#undef WARPTWIN_MMA_SP_OF
#undef WARPTWIN_MMA_SP
}

/// Starts a copy of a tile in shared memory to tensor memory, once for every lane that executes it.
/// Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_cp(CtaGroup group,
                                     TmemAddress to,
                                     UmmaSmemDescriptor from,
                                     TmemCopy shape) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (with_cta_group(group, [&](auto tag) {
                                          namespace p = ::cuda::ptx;
                                          switch (shape) {
                                            case TmemCopy::k128x256b:
                                              p::tcgen05_cp_128x256b(tag, to.value, from.bits);
                                              break;
                                            case TmemCopy::k128x128b:
                                              p::tcgen05_cp_128x128b(tag, to.value, from.bits);
                                              break;
                                            case TmemCopy::k32x128bWarpx4:
                                              p::tcgen05_cp_32x128b_warpx4(
                                                  tag, to.value, from.bits);
                                              break;
                                          }
                                        });))
}

/// Arrives once on `bar`, in every CTA of `mask` or, without one, in this CTA, when the MMAs this
/// lane has issued are done. Blocks: never.
WARPTWIN_HOST_DEVICE void tcgen05_commit(CtaGroup group, Mbarrier bar, CtaMask mask) {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (with_cta_group(group, [&](auto tag) {
                                          if (mask.bits == 0) {
                                            ::cuda::ptx::tcgen05_commit(tag, pointer_to(bar));
                                          } else {
                                            ::cuda::ptx::tcgen05_commit_multicast(
                                                tag, pointer_to(bar), mask.bits);
                                          }
                                        });))
}

/// Starts to load this lane's row of as many columns as there are registers. They hold the values
/// after the next `tcgen05_wait_ld`. Participants: the whole warp. Blocks: never.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void tcgen05_ld_32x32b(std::uint32_t (&registers)[kRegisters],
                                            TmemAddress address) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (::cuda::ptx::tcgen05_ld_32x32b(registers, address.value);))
}

/// The same of 16 lanes of twice as many columns: lanes t and t + 16 share a row, and the second
/// has the columns behind the first's.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void tcgen05_ld_16x32bx2(std::uint32_t (&registers)[kRegisters],
                                              TmemAddress address) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (::cuda::ptx::tcgen05_ld_16x32bx2(
                    registers, address.value, ::cuda::ptx::n32_t<kRegisters>{});))
}

// Eight registers of an accumulator that an instruction writes.
#define WARPTWIN_LOADED(i)                                                                    \
  "=f"(r[i]), "=f"(r[i + 1]), "=f"(r[i + 2]), "=f"(r[i + 3]), "=f"(r[i + 4]), "=f"(r[i + 5]), \
      "=f"(r[i + 6]), "=f"(r[i + 7])

/// The same of 16 lanes, in the registers of an accumulator of wgmma (`WgmmaCell`), from `kFirst`
/// on: `kCount` of them, 4, 16 or 32, are twice as many columns.
template <std::uint32_t kFirst, std::uint32_t kCount, std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void tcgen05_ld_16x256b(float (&d)[kRegisters], TmemAddress address) {
  static_assert(kCount == 4 || kCount == 16 || kCount == 32, "of .x1, .x4 or .x8");
  NV_IF_TARGET(
      NV_HAS_FEATURE_SM_100a,
      (
          float* const r = d + kFirst; if constexpr (kCount == 4) {
            asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
                         : "r"(address.value)
                         : "memory");
          } else if constexpr (kCount == 16) {
            asm volatile(
                "tcgen05.ld.sync.aligned.16x256b.x4.b32 {%0, %1, %2, %3, %4, %5, %6, %7, "
                "%8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                : WARPTWIN_LOADED(0), WARPTWIN_LOADED(8)
                : "r"(address.value)
                : "memory");
          } else {
            asm volatile(
                "tcgen05.ld.sync.aligned.16x256b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7, "
                "%8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
                "%23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
                : WARPTWIN_LOADED(0), WARPTWIN_LOADED(8), WARPTWIN_LOADED(16), WARPTWIN_LOADED(24)
                : "r"(address.value)
                : "memory");
          }))
}
#undef WARPTWIN_LOADED

/// Starts to store a lane's row. Participants: the whole warp. Blocks: never.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void tcgen05_st_32x32b(TmemAddress address,
                                            const std::uint32_t (&registers)[kRegisters]) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (::cuda::ptx::tcgen05_st_32x32b(address.value, registers);))
}

/// Blocks until every earlier load of the warp has settled. Each register goes through an empty
/// statement behind the wait: no use of it can move above. Participants: the whole warp.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void tcgen05_wait_ld(std::uint32_t (&registers)[kRegisters]) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (::cuda::ptx::tcgen05_wait_ld(); WARPTWIN_UNROLL for (std::uint32_t& word
                                                                     : registers) {
                 asm volatile("" : "+r"(word)::"memory");
               }))
}

/// The same of an accumulator.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void tcgen05_wait_ld(float (&registers)[kRegisters]) {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a,
               (::cuda::ptx::tcgen05_wait_ld(); WARPTWIN_UNROLL for (float& each
                                                                     : registers) {
                 asm volatile("" : "+f"(each)::"memory");
               }))
}

/// Blocks until every earlier store of the warp has settled. Participants: the whole warp.
WARPTWIN_HOST_DEVICE void tcgen05_wait_st() {
  sync_warp();
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (::cuda::ptx::tcgen05_wait_st();))
}

WARPTWIN_HOST_DEVICE void tcgen05_fence_before_thread_sync() {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (::cuda::ptx::tcgen05_fence_before_thread_sync();))
}

WARPTWIN_HOST_DEVICE void tcgen05_fence_after_thread_sync() {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (::cuda::ptx::tcgen05_fence_after_thread_sync();))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
