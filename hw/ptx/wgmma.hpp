/// The asynchronous warpgroup MMA of sm_90a: operands of bf16, f16, tf32, e4m3 or e5m2, fp32
/// accumulators in registers; or of s8, whose accumulators are whole numbers in the same registers.
///
/// Participants: every function is the whole warpgroup's: four consecutive warps, the first of an
/// index that is a multiple of 4, all lanes together. Elsewhere than on sm_90a they trap.
/// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".

#pragma once

#include <cstdio>

#include "common/machine/extent.hpp"
#include "common/machine/wgmma_descriptor.hpp"

#include "hw/ptx/target.hpp"
#include "hw/ptx/warp.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Columns of D of one wgmma, at most.
inline constexpr std::uint32_t kWgmmaColumnsMost = 256;
using warptwin::kWgmmaKBytes;
using warptwin::kWgmmaRows;
using WgmmaSmemDescriptor = warptwin::WgmmaSmemDescriptor<bf16>;

/// Orders earlier accesses of the accumulators and of A in registers before the next wgmma.
WARPTWIN_HOST_DEVICE void wgmma_fence() {
  NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_90a,
                    (asm volatile("wgmma.fence.sync.aligned;" ::
                                      : "memory");),
                    (trap();))
}

/// Makes the wgmmas issued so far a group.
WARPTWIN_HOST_DEVICE void wgmma_commit_group() {
  NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_90a,
                    (asm volatile("wgmma.commit_group.sync.aligned;" ::
                                      : "memory");),
                    (trap();))
}

/// Blocks until at most `kPending` groups are under way: the others have read their operands and
/// written their accumulators.
template <std::uint32_t kPending>
WARPTWIN_HOST_DEVICE void wgmma_wait_group() {
  NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_90a,
                    (asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending)
                                  : "memory");),
                    (trap();))
}

/// Keeps the compiler from moving uses of the registers above the wait before it.
template <std::uint32_t kRegisters>
WARPTWIN_HOST_DEVICE void wgmma_settle(float (&d)[kRegisters]) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (WARPTWIN_UNROLL for (float& each
                                     : d) { asm volatile(""
                                                         : "+f"(each)::"memory"); }))
}

// Eight accumulators: their places in the text of an instruction, and the operands.
#define WARPTWIN_D0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WARPTWIN_D1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define WARPTWIN_D2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define WARPTWIN_D3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define WARPTWIN_D4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define WARPTWIN_D5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define WARPTWIN_D6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define WARPTWIN_D7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define WARPTWIN_D8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define WARPTWIN_D9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define WARPTWIN_D10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define WARPTWIN_D11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define WARPTWIN_D12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define WARPTWIN_D13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define WARPTWIN_D14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define WARPTWIN_D15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define WARPTWIN_OUT(how, d, i)                                                   \
  how(d[8 * (i)]), how(d[8 * (i) + 1]), how(d[8 * (i) + 2]), how(d[8 * (i) + 3]), \
      how(d[8 * (i) + 4]), how(d[8 * (i) + 5]), how(d[8 * (i) + 6]), how(d[8 * (i) + 7])
// Of so many columns: eight accumulators more than of 16 fewer, or four more than of 8 fewer.
#define WARPTWIN_PLACES16 WARPTWIN_D0
#define WARPTWIN_PLACES32 WARPTWIN_PLACES16 ", " WARPTWIN_D1
#define WARPTWIN_PLACES48 WARPTWIN_PLACES32 ", " WARPTWIN_D2
#define WARPTWIN_PLACES64 WARPTWIN_PLACES48 ", " WARPTWIN_D3
#define WARPTWIN_PLACES80 WARPTWIN_PLACES64 ", " WARPTWIN_D4
#define WARPTWIN_PLACES96 WARPTWIN_PLACES80 ", " WARPTWIN_D5
#define WARPTWIN_PLACES112 WARPTWIN_PLACES96 ", " WARPTWIN_D6
#define WARPTWIN_PLACES120 WARPTWIN_PLACES112 ", %56, %57, %58, %59"
#define WARPTWIN_PLACES128 WARPTWIN_PLACES112 ", " WARPTWIN_D7
#define WARPTWIN_PLACES136 WARPTWIN_PLACES128 ", %64, %65, %66, %67"
#define WARPTWIN_PLACES144 WARPTWIN_PLACES128 ", " WARPTWIN_D8
#define WARPTWIN_PLACES152 WARPTWIN_PLACES144 ", %72, %73, %74, %75"
#define WARPTWIN_PLACES160 WARPTWIN_PLACES144 ", " WARPTWIN_D9
#define WARPTWIN_PLACES168 WARPTWIN_PLACES160 ", %80, %81, %82, %83"
#define WARPTWIN_PLACES176 WARPTWIN_PLACES160 ", " WARPTWIN_D10
#define WARPTWIN_PLACES184 WARPTWIN_PLACES176 ", %88, %89, %90, %91"
#define WARPTWIN_PLACES192 WARPTWIN_PLACES176 ", " WARPTWIN_D11
#define WARPTWIN_PLACES208 WARPTWIN_PLACES192 ", " WARPTWIN_D12
#define WARPTWIN_PLACES224 WARPTWIN_PLACES208 ", " WARPTWIN_D13
#define WARPTWIN_PLACES240 WARPTWIN_PLACES224 ", " WARPTWIN_D14
#define WARPTWIN_PLACES256 WARPTWIN_PLACES240 ", " WARPTWIN_D15
#define WARPTWIN_HALF(how, d, i) how(d[i]), how(d[(i) + 1]), how(d[(i) + 2]), how(d[(i) + 3])
#define WARPTWIN_OUT16(how, d) WARPTWIN_OUT(how, d, 0)
#define WARPTWIN_OUT32(how, d) WARPTWIN_OUT16(how, d), WARPTWIN_OUT(how, d, 1)
#define WARPTWIN_OUT48(how, d) WARPTWIN_OUT32(how, d), WARPTWIN_OUT(how, d, 2)
#define WARPTWIN_OUT64(how, d) WARPTWIN_OUT48(how, d), WARPTWIN_OUT(how, d, 3)
#define WARPTWIN_OUT80(how, d) WARPTWIN_OUT64(how, d), WARPTWIN_OUT(how, d, 4)
#define WARPTWIN_OUT96(how, d) WARPTWIN_OUT80(how, d), WARPTWIN_OUT(how, d, 5)
#define WARPTWIN_OUT112(how, d) WARPTWIN_OUT96(how, d), WARPTWIN_OUT(how, d, 6)
#define WARPTWIN_OUT120(how, d) WARPTWIN_OUT112(how, d), WARPTWIN_HALF(how, d, 56)
#define WARPTWIN_OUT128(how, d) WARPTWIN_OUT112(how, d), WARPTWIN_OUT(how, d, 7)
#define WARPTWIN_OUT136(how, d) WARPTWIN_OUT128(how, d), WARPTWIN_HALF(how, d, 64)
#define WARPTWIN_OUT144(how, d) WARPTWIN_OUT128(how, d), WARPTWIN_OUT(how, d, 8)
#define WARPTWIN_OUT152(how, d) WARPTWIN_OUT144(how, d), WARPTWIN_HALF(how, d, 72)
#define WARPTWIN_OUT160(how, d) WARPTWIN_OUT144(how, d), WARPTWIN_OUT(how, d, 9)
#define WARPTWIN_OUT168(how, d) WARPTWIN_OUT160(how, d), WARPTWIN_HALF(how, d, 80)
#define WARPTWIN_OUT176(how, d) WARPTWIN_OUT160(how, d), WARPTWIN_OUT(how, d, 10)
#define WARPTWIN_OUT184(how, d) WARPTWIN_OUT176(how, d), WARPTWIN_HALF(how, d, 88)
#define WARPTWIN_OUT192(how, d) WARPTWIN_OUT176(how, d), WARPTWIN_OUT(how, d, 11)
#define WARPTWIN_OUT208(how, d) WARPTWIN_OUT192(how, d), WARPTWIN_OUT(how, d, 12)
#define WARPTWIN_OUT224(how, d) WARPTWIN_OUT208(how, d), WARPTWIN_OUT(how, d, 13)
#define WARPTWIN_OUT240(how, d) WARPTWIN_OUT224(how, d), WARPTWIN_OUT(how, d, 14)
#define WARPTWIN_OUT256(how, d) WARPTWIN_OUT240(how, d), WARPTWIN_OUT(how, d, 15)
// An instruction of so many columns, both operands in shared memory, or A in registers; then the
// places of the operands behind the accumulators.
#define WARPTWIN_WGMMA(columns, types, how, d, tail, a_at, b_at, add_at)                        \
  asm volatile("{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %" #add_at                             \
               ", 0;\n\t"                                                                       \
               "wgmma.mma_async.sync.aligned.m64n" #columns types " {" WARPTWIN_PLACES##columns \
               "}, %" #a_at ", %" #b_at ", add" tail ";\n\t}"                                   \
               : WARPTWIN_OUT##columns(how, d)                                                  \
               : "l"(a.bits), "l"(b.bits), "r"(add))
#define WARPTWIN_WGMMA_OF(types, how, d, tail)               \
  if constexpr (kColumns == 16) {                            \
    WARPTWIN_WGMMA(16, types, how, d, tail, 8, 9, 10);       \
  } else if constexpr (kColumns == 32) {                     \
    WARPTWIN_WGMMA(32, types, how, d, tail, 16, 17, 18);     \
  } else if constexpr (kColumns == 48) {                     \
    WARPTWIN_WGMMA(48, types, how, d, tail, 24, 25, 26);     \
  } else if constexpr (kColumns == 64) {                     \
    WARPTWIN_WGMMA(64, types, how, d, tail, 32, 33, 34);     \
  } else if constexpr (kColumns == 80) {                     \
    WARPTWIN_WGMMA(80, types, how, d, tail, 40, 41, 42);     \
  } else if constexpr (kColumns == 96) {                     \
    WARPTWIN_WGMMA(96, types, how, d, tail, 48, 49, 50);     \
  } else if constexpr (kColumns == 112) {                    \
    WARPTWIN_WGMMA(112, types, how, d, tail, 56, 57, 58);    \
  } else if constexpr (kColumns == 120) {                    \
    WARPTWIN_WGMMA(120, types, how, d, tail, 60, 61, 62);    \
  } else if constexpr (kColumns == 128) {                    \
    WARPTWIN_WGMMA(128, types, how, d, tail, 64, 65, 66);    \
  } else if constexpr (kColumns == 136) {                    \
    WARPTWIN_WGMMA(136, types, how, d, tail, 68, 69, 70);    \
  } else if constexpr (kColumns == 144) {                    \
    WARPTWIN_WGMMA(144, types, how, d, tail, 72, 73, 74);    \
  } else if constexpr (kColumns == 152) {                    \
    WARPTWIN_WGMMA(152, types, how, d, tail, 76, 77, 78);    \
  } else if constexpr (kColumns == 160) {                    \
    WARPTWIN_WGMMA(160, types, how, d, tail, 80, 81, 82);    \
  } else if constexpr (kColumns == 168) {                    \
    WARPTWIN_WGMMA(168, types, how, d, tail, 84, 85, 86);    \
  } else if constexpr (kColumns == 176) {                    \
    WARPTWIN_WGMMA(176, types, how, d, tail, 88, 89, 90);    \
  } else if constexpr (kColumns == 184) {                    \
    WARPTWIN_WGMMA(184, types, how, d, tail, 92, 93, 94);    \
  } else if constexpr (kColumns == 192) {                    \
    WARPTWIN_WGMMA(192, types, how, d, tail, 96, 97, 98);    \
  } else if constexpr (kColumns == 208) {                    \
    WARPTWIN_WGMMA(208, types, how, d, tail, 104, 105, 106); \
  } else if constexpr (kColumns == 224) {                    \
    WARPTWIN_WGMMA(224, types, how, d, tail, 112, 113, 114); \
  } else if constexpr (kColumns == 240) {                    \
    WARPTWIN_WGMMA(240, types, how, d, tail, 120, 121, 122); \
  } else {                                                   \
    WARPTWIN_WGMMA(256, types, how, d, tail, 128, 129, 130); \
  }
// The same of 16 bits, whose operands are K-major (0) or MN-major (1).
#define WARPTWIN_WGMMA_BY_MAJORS(types)                         \
  if constexpr (kMajorA == Major::kK && kMajorB == Major::kK) { \
    WARPTWIN_WGMMA_OF(types, "+f", d, ", 1, 1, 0, 0")           \
  } else if constexpr (kMajorA == Major::kK) {                  \
    WARPTWIN_WGMMA_OF(types, "+f", d, ", 1, 1, 0, 1")           \
  } else if constexpr (kMajorB == Major::kK) {                  \
    WARPTWIN_WGMMA_OF(types, "+f", d, ", 1, 1, 1, 0")           \
  } else {                                                      \
    WARPTWIN_WGMMA_OF(types, "+f", d, ", 1, 1, 1, 1")           \
  }
// The same with a sparse A, whose metadata is a register and a selector.
#define WARPTWIN_WGMMA_SP(columns, types, how, d, tail, a_at, b_at, e_at, add_at, sel)             \
  asm volatile("{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %" #add_at                                \
               ", 0;\n\t"                                                                          \
               "wgmma.mma_async.sp.sync.aligned.m64n" #columns types " {" WARPTWIN_PLACES##columns \
               "}, %" #a_at ", %" #b_at ", %" #e_at ", " sel ", add" tail ";\n\t}"                 \
               : WARPTWIN_OUT##columns(how, d)                                                     \
               : "l"(a.bits), "l"(b.bits), "r"(sparse.word), "r"(add))
#define WARPTWIN_WGMMA_SP_OF(types, how, d, tail, sel)                    \
  if constexpr (kColumns == 16) {                                         \
    WARPTWIN_WGMMA_SP(16, types, how, d, tail, 8, 9, 10, 11, sel);        \
  } else if constexpr (kColumns == 32) {                                  \
    WARPTWIN_WGMMA_SP(32, types, how, d, tail, 16, 17, 18, 19, sel);      \
  } else if constexpr (kColumns == 64) {                                  \
    WARPTWIN_WGMMA_SP(64, types, how, d, tail, 32, 33, 34, 35, sel);      \
  } else if constexpr (kColumns == 96) {                                  \
    WARPTWIN_WGMMA_SP(96, types, how, d, tail, 48, 49, 50, 51, sel);      \
  } else if constexpr (kColumns == 128) {                                 \
    WARPTWIN_WGMMA_SP(128, types, how, d, tail, 64, 65, 66, 67, sel);     \
  } else if constexpr (kColumns == 160) {                                 \
    WARPTWIN_WGMMA_SP(160, types, how, d, tail, 80, 81, 82, 83, sel);     \
  } else if constexpr (kColumns == 192) {                                 \
    WARPTWIN_WGMMA_SP(192, types, how, d, tail, 96, 97, 98, 99, sel);     \
  } else if constexpr (kColumns == 224) {                                 \
    WARPTWIN_WGMMA_SP(224, types, how, d, tail, 112, 113, 114, 115, sel); \
  } else {                                                                \
    WARPTWIN_WGMMA_SP(256, types, how, d, tail, 128, 129, 130, 131, sel); \
  }
#define WARPTWIN_WGMMA_A(columns, a_at, b_at, add_at)                                  \
  asm volatile("{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %" #add_at                    \
               ", 0;\n\t"                                                              \
               "wgmma.mma_async.sync.aligned.m64n" #columns                            \
               "k16.f32.bf16.bf16 {" WARPTWIN_PLACES##columns "}, {" a_at "}, %" #b_at \
                                                              ", add, 1, 1, 0;\n\t}"   \
               : WARPTWIN_OUT##columns("+f", d)                                        \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(add))

/// Whether a wgmma of so many columns is here: each is text that every kernel's compiler reads.
constexpr bool has_wgmma(std::uint32_t columns) {
  const bool between = columns >= 120 && columns <= 184;
  return columns % (between ? 8 : 16) == 0 && columns >= 16 && columns <= 256;
}
/// Whether one with a sparse A, or one whose columns are known when the kernel runs.
constexpr bool has_wide_wgmma(std::uint32_t columns) {
  return columns == 16 || (columns % 32 == 0 && columns >= 32 && columns <= 256);
}

/// D = A * B^T (+ D where `accumulate`) for 64 rows and `kColumns` columns, 32 bytes of K, both
/// operands in shared memory, K-major or MN-major as the descriptors' types say. Register r of lane
/// l of warp w holds row 16 w + l / 4 + 8 (r / 2 % 2), column 8 (r / 4) + 2 (l % 4) + r % 2.
/// Blocks: never.
template <std::uint32_t kColumns, class Element, Major kMajorA, Major kMajorB>
WARPTWIN_HOST_DEVICE void wgmma(float (&d)[kColumns / 2],
                                warptwin::WgmmaSmemDescriptor<Element, kMajorA> a,
                                warptwin::WgmmaSmemDescriptor<Element, kMajorB> b,
                                bool accumulate) {
  constexpr ElementType kType = Element::kType;
  static_assert(has_wgmma(kColumns));
  static_assert(kType == ElementType::kBf16 || kType == ElementType::kF16 ||
                    kType == ElementType::kTf32 || kType == ElementType::kF8E4M3 ||
                    kType == ElementType::kF8E5M2 || kType == ElementType::kI8,
                "no wgmma of such operands is in the CUDA machine");
  [[maybe_unused]] const auto add = static_cast<std::uint32_t>(accumulate);
  NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_90a,
                    (
                        if constexpr (kType == ElementType::kBf16) {
                          WARPTWIN_WGMMA_BY_MAJORS("k16.f32.bf16.bf16")
                        } else if constexpr (kType == ElementType::kF16) {
                          WARPTWIN_WGMMA_BY_MAJORS("k16.f32.f16.f16")
                        } else if constexpr (kType == ElementType::kTf32) {
                          WARPTWIN_WGMMA_OF("k8.f32.tf32.tf32", "+f", d, ", 1, 1")
                        } else if constexpr (kType == ElementType::kF8E4M3) {
                          WARPTWIN_WGMMA_OF("k32.f32.e4m3.e4m3", "+f", d, ", 1, 1")
                        } else if constexpr (kType == ElementType::kF8E5M2) {
                          WARPTWIN_WGMMA_OF("k32.f32.e5m2.e5m2", "+f", d, ", 1, 1")
                        } else {
                          auto& sums = reinterpret_cast<std::uint32_t(&)[kColumns / 2]>(d);
                          WARPTWIN_WGMMA_OF("k32.s32.s8.s8", "+r", sums, "")
                        }),
                    (trap();))
}

/// A lane's word of a sparse A's metadata, and which lanes of four have that of the instruction.
struct WgmmaMetadata {
  std::uint32_t word;
  std::uint32_t selector;
};

/// The same with a sparse A, of which `a` is what is not zero, and with 64 bytes of K of B.
template <std::uint32_t kColumns, class Element>
WARPTWIN_HOST_DEVICE void wgmma_sp(float (&d)[kColumns / 2],
                                   warptwin::WgmmaSmemDescriptor<Element> a,
                                   warptwin::WgmmaSmemDescriptor<Element> b,
                                   WgmmaMetadata sparse,
                                   bool accumulate) {
  constexpr ElementType kType = Element::kType;
  static_assert(has_wide_wgmma(kColumns));
  [[maybe_unused]] const auto add = static_cast<std::uint32_t>(accumulate);
  if (sparse.selector >= sparse_elements(kType).selectors()) {
    trap();
  }
#define WARPTWIN_WGMMA_SP_BY(types, tail)           \
  if (sparse.selector == 0) {                       \
    WARPTWIN_WGMMA_SP_OF(types, "+f", d, tail, "0") \
  } else {                                          \
    WARPTWIN_WGMMA_SP_OF(types, "+f", d, tail, "1") \
  }
  NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_90a,
                    (
                        if constexpr (kType == ElementType::kBf16) {
                          WARPTWIN_WGMMA_SP_BY("k32.f32.bf16.bf16", ", 1, 1, 0, 0")
                        } else if constexpr (kType == ElementType::kF16) {
                          WARPTWIN_WGMMA_SP_BY("k32.f32.f16.f16", ", 1, 1, 0, 0")
                        } else if constexpr (kType == ElementType::kTf32) {
                          WARPTWIN_WGMMA_SP_BY("k16.f32.tf32.tf32", ", 1, 1")
                        } else if constexpr (kType == ElementType::kF8E4M3) {
                          WARPTWIN_WGMMA_SP_OF("k64.f32.e4m3.e4m3", "+f", d, ", 1, 1", "0")
                        } else if constexpr (kType == ElementType::kF8E5M2) {
                          WARPTWIN_WGMMA_SP_OF("k64.f32.e5m2.e5m2", "+f", d, ", 1, 1", "0")
                        } else {
                          static_assert(kType == ElementType::kI8);
                          auto& sums = reinterpret_cast<std::uint32_t(&)[kColumns / 2]>(d);
                          WARPTWIN_WGMMA_SP_OF("k64.s32.s8.s8", "+r", sums, "", "0")
                        }),
                    (trap();))
#undef WARPTWIN_WGMMA_SP_BY
}

/// Calls `with` with the form of `columns` columns, an `Extent`. Ends the kernel, with a message,
/// where there is code for no such form: each one is long.
template <class F>
WARPTWIN_HOST_DEVICE void with_wgmma_columns(std::uint32_t columns, F&& with) {
  const auto multiply = [&](auto form) {
    if (columns == decltype(form){}) {
      with(form);
    }
  };
  multiply(Extent<16>{});
  multiply(Extent<32>{});
  multiply(Extent<64>{});
  multiply(Extent<96>{});
  multiply(Extent<128>{});
  multiply(Extent<160>{});
  multiply(Extent<192>{});
  multiply(Extent<224>{});
  multiply(Extent<256>{});
  if (!has_wide_wgmma(columns)) {
    NV_IF_TARGET(NV_IS_DEVICE,
                 (std::printf("warptwin: no wgmma of %u columns is chosen at run time; there are "
                              "16, 32, 64, 96, 128, 160, 192, 224 and 256\n",
                              columns);))
    trap();
  }
}

/// The same of `columns` columns, known only when the kernel runs: in the first registers of `d`.
template <class A, class B>
WARPTWIN_HOST_DEVICE void wgmma_of(
    std::uint32_t columns, float (&d)[kWgmmaColumnsMost / 2], A a, B b, bool accumulate) {
  with_wgmma_columns(columns, [&](auto form) {
    constexpr std::uint32_t kColumns = decltype(form){};
    wgmma<kColumns>(reinterpret_cast<float(&)[kColumns / 2]>(d), a, b, accumulate);
  });
}
template <class Element>
WARPTWIN_HOST_DEVICE void wgmma_sp_of(std::uint32_t columns,
                                      float (&d)[kWgmmaColumnsMost / 2],
                                      warptwin::WgmmaSmemDescriptor<Element> a,
                                      warptwin::WgmmaSmemDescriptor<Element> b,
                                      WgmmaMetadata sparse,
                                      bool accumulate) {
  with_wgmma_columns(columns, [&](auto form) {
    constexpr std::uint32_t kColumns = decltype(form){};
    wgmma_sp<kColumns>(reinterpret_cast<float(&)[kColumns / 2]>(d), a, b, sparse, accumulate);
  });
}

/// The same with A in registers: `a[r]` of lane l of warp w holds row 16 w + l / 4 + 8 (r % 2),
/// columns 8 (r / 2) + 2 (l % 4) and the next.
template <std::uint32_t kColumns>
WARPTWIN_HOST_DEVICE void wgmma(float (&d)[kColumns / 2],
                                const std::uint32_t (&a)[4],
                                WgmmaSmemDescriptor b,
                                bool accumulate) {
  static_assert(has_wgmma(kColumns));
  [[maybe_unused]] const auto add = static_cast<std::uint32_t>(accumulate);
  NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_90a,
                    (
                        if constexpr (kColumns == 16) {
                          WARPTWIN_WGMMA_A(16, "%8, %9, %10, %11", 12, 13);
                        } else if constexpr (kColumns == 32) {
                          WARPTWIN_WGMMA_A(32, "%16, %17, %18, %19", 20, 21);
                        } else if constexpr (kColumns == 64) {
                          WARPTWIN_WGMMA_A(64, "%32, %33, %34, %35", 36, 37);
                        } else if constexpr (kColumns == 96) {
                          WARPTWIN_WGMMA_A(96, "%48, %49, %50, %51", 52, 53);
                        } else if constexpr (kColumns == 128) {
                          WARPTWIN_WGMMA_A(128, "%64, %65, %66, %67", 68, 69);
                        } else if constexpr (kColumns == 160) {
                          WARPTWIN_WGMMA_A(160, "%80, %81, %82, %83", 84, 85);
                        } else if constexpr (kColumns == 192) {
                          WARPTWIN_WGMMA_A(192, "%96, %97, %98, %99", 100, 101);
                        } else if constexpr (kColumns == 224) {
                          WARPTWIN_WGMMA_A(224, "%112, %113, %114, %115", 116, 117);
                        } else { WARPTWIN_WGMMA_A(256, "%128, %129, %130, %131", 132, 133); }),
                    (trap();))
}

#undef WARPTWIN_D0
#undef WARPTWIN_D1
#undef WARPTWIN_D2
#undef WARPTWIN_D3
#undef WARPTWIN_D4
#undef WARPTWIN_D5
#undef WARPTWIN_D6
#undef WARPTWIN_D7
#undef WARPTWIN_D8
#undef WARPTWIN_D9
#undef WARPTWIN_D10
#undef WARPTWIN_D11
#undef WARPTWIN_D12
#undef WARPTWIN_D13
#undef WARPTWIN_D14
#undef WARPTWIN_D15
#undef WARPTWIN_OUT
#undef WARPTWIN_OUT16
#undef WARPTWIN_OUT32
#undef WARPTWIN_OUT64
#undef WARPTWIN_OUT96
#undef WARPTWIN_OUT128
#undef WARPTWIN_OUT160
#undef WARPTWIN_OUT192
#undef WARPTWIN_OUT224
#undef WARPTWIN_OUT256
#undef WARPTWIN_PLACES16
#undef WARPTWIN_PLACES32
#undef WARPTWIN_PLACES64
#undef WARPTWIN_PLACES96
#undef WARPTWIN_PLACES128
#undef WARPTWIN_PLACES160
#undef WARPTWIN_PLACES192
#undef WARPTWIN_PLACES224
#undef WARPTWIN_PLACES256
#undef WARPTWIN_WGMMA
#undef WARPTWIN_WGMMA_OF
#undef WARPTWIN_WGMMA_A
#undef WARPTWIN_WGMMA_SP
#undef WARPTWIN_WGMMA_SP_OF

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
