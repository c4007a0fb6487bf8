// tcgen05.mma of elements of four and six bits that tensor copies have brought, with their padding.

#include <array>
#include <bit>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::packed_products_test {

using testing::IsEmpty;

constexpr std::uint32_t kM = 128;
constexpr std::uint32_t kN = 16;
constexpr std::uint32_t kK = 128;
constexpr std::uint32_t kRowBytes = 192;   // of `in`: rows of A, and behind them those of B
constexpr std::uint32_t kColumnOfA = 128;  // elements

// Of shared memory.
constexpr std::uint32_t kPlaceOfB = kM * kK;
constexpr std::uint32_t kScalesOfA = kPlaceOfB + kN * kK;
constexpr std::uint32_t kScalesOfB = kScalesOfA + 512;
constexpr std::uint32_t kBarriers = kScalesOfB + 512;

/// A type, by its code in an instruction descriptor.
struct Type {
  const char* name;
  std::uint32_t code;
  std::uint32_t bits;

  Packing packing() const { return bits == 4 ? Packing::k16U4Align16B : Packing::k16U6Align16B; }
};
constexpr Type kE2m1{"e2m1", 5, 4};
constexpr Type kE2m3{"e2m3", 3, 6};
constexpr Type kE3m2{"e3m2", 4, 6};

double value_of(const Type& type, std::uint32_t code) {
  const std::uint32_t mantissa_bits = type.code == 3 ? 3 : type.code == 4 ? 2 : 1;
  const std::uint32_t exponent_bits = type.bits - 1 - mantissa_bits;
  const std::uint32_t mantissa = code & ((1U << mantissa_bits) - 1);
  const std::uint32_t exponent = code >> mantissa_bits & ((1U << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = std::ldexp(mantissa, -static_cast<int>(mantissa_bits));
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
  return code >> (type.bits - 1) != 0 ? -magnitude : magnitude;
}

/// An exponent of the factors of a row of A or B, which the kernel computes as well.
std::uint32_t scale_of(std::uint32_t row, std::uint32_t block) {
  return 120 + (row * 5 + block * 3) % 16;
}

struct Options {
  bool scaled = true;
  bool waits = true;         // for the copies
  std::uint32_t told_a = 0;  // the type that the MMA is told, by its code; 0: that of A
  std::uint32_t told_b = 0;
  Packing map_of_a = Packing::kNone;  // kNone: that of the type
};

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string descriptor(const char* name, std::uint32_t place, const char* form) {
  return "  add.u32 %r22, %r20, " + number(place) + ";\n  shr.u32 %r22, %r22, 4;\n  cvt.u64.u32 " +
         name + ", %r22;\n  or.b64 " + name + ", " + name + ", " + form + ";\n";
}

// The factors of a row, four blocks of 32 along K: 32 rows of 16 bytes, of rows 32 apart a word.
std::string scales(std::uint32_t place, std::uint32_t rows) {
  std::string text =
      "  and.b32 %r3, %r1, 31;\n  shr.u32 %r4, %r1, 5;\n  shl.b32 %r3, %r3, 4;\n"
      "  mad.lo.u32 %r3, %r4, 4, %r3;\n  add.u32 %r3, %r3, %r20;\n  mov.u32 %r6, 0;\n";
  for (std::uint32_t block = 0; block < 4; ++block) {
    text += "  mad.lo.u32 %r5, %r1, 5, " + number(3 * block) +
            ";\n  and.b32 %r5, %r5, 15;\n  add.u32 %r5, %r5, 120;\n  shl.b32 %r5, %r5, " +
            number(8 * block) + ";\n  or.b32 %r6, %r6, %r5;\n";
  }
  return text + "  setp.lt.u32 %p4, %r1, " + number(rows) +
         ";\n  selp.b32 %r6, %r6, 0, %p4;\n  st.shared.u32 [%r3+" + number(place) + "], %r6;\n";
}

OneKernel multiplying(const Type& a, const Type& b, const Options& options = {}) {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.columns = kRowBytes / 4;
  kernel.in.resize(std::size_t{kM + kN} * kRowBytes / 4);
  for (std::uint32_t i = 0; i < kernel.in.size(); ++i) {
    kernel.in[i] = (i + 1) * 0x9E3779B9U ^ i << 7;
  }
  kernel.out_words = kM * kRowBytes / 4;
  kernel.variables = ".shared .align 1024 .b8 all[" + number(kBarriers + 64) + "];\n";
  const auto map_of = [](const Type& type, std::uint32_t rows) {
    TensorMapSpec map;
    map.box_rows = rows;
    map.box_columns = kK;
    map.swizzle = Swizzle::k128B;
    map.packing = type.packing();
    return map;
  };
  kernel.maps = {map_of(a, kM), map_of(b, kN)};
  const bool dense = options.map_of_a == Packing::k16U4Align8B;
  if (options.map_of_a != Packing::kNone) {
    kernel.maps[0].packing = options.map_of_a;
  }
  const std::string kind = options.scaled ? "mxf8f6f4.block_scale.scale_vec::1X" : "f8f6f4";
  const std::uint32_t told_a = options.told_a == 0 ? a.code : options.told_a - 1;
  const std::uint32_t told_b = options.told_b == 0 ? b.code : options.told_b - 1;
  const auto instruction = [&](std::uint32_t block) {
    return told_a << 7 | told_b << 10 | kN / 8 << 17 | kM / 16 << 24 |
           (options.scaled ? 1U << 23 | block << 4 | block << 29 : 1U << 4);
  };
  constexpr const char* kSwizzled = "0x4000404000010000";
  const std::uint32_t bytes = kM * kK / (dense ? 2 : 1) + kN * kK;
  kernel.body =
      "  mov.u32 %r20, all;\n  setp.eq.u32 %p1, %r1, 0;\n  setp.lt.u32 %p5, %r1, 32;\n"
      "  @%p5 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [all+" +
      number(kBarriers + 16) +
      "], 64;\n  @%p5 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  @%p1 mbarrier.init.shared.b64 [all+" +
      number(kBarriers) + "], 1;\n  @%p1 mbarrier.init.shared.b64 [all+" + number(kBarriers + 8) +
      "], 1;\n" + scales(kScalesOfA, kM) + scales(kScalesOfB, kN) +
      "  fence.proxy.async;\n  bar.sync 0;\n  ld.shared.u32 %r21, [all+" + number(kBarriers + 16) +
      "];\n  tcgen05.fence::after_thread_sync;\n  @!%p1 bra MULTIPLIED;\n"
      "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [all+" +
      number(kBarriers) + "], " + number(bytes) + ";\n  add.u32 %r24, %r20, " + number(kBarriers) +
      ";\n  add.u32 %r25, %r20, " + number(kPlaceOfB) + ";\n";
  const std::string copy =
      "  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes ";
  kernel.body += copy + "[%r20], [%rd20, {" + number(kColumnOfA) + ", 0}], [%r24];\n" + copy +
                 "[%r25], [%rd21, {0, " + number(kM) + "}], [%r24];\n";
  if (options.waits) {
    kernel.body += "L:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r24], 0;\n  @!%p2 bra L;\n";
  }
  kernel.body += descriptor("%rd5", kScalesOfA, "0x0000400800080000") +
                 descriptor("%rd6", kScalesOfB, "0x0000400800080000") +
                 "  add.u32 %r26, %r21, 16;\n  add.u32 %r27, %r21, 20;\n";
  if (options.scaled) {
    kernel.body +=
        "  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r26], %rd5;\n"
        "  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r27], %rd6;\n";
  }
  kernel.body += descriptor("%rd7", 0, kSwizzled) + descriptor("%rd8", kPlaceOfB, kSwizzled);
  for (std::uint32_t block = 0; block < kK / 32; ++block) {
    kernel.body += "  setp.ne.u32 %p3, " + number(block) +
                   ", 0;\n  tcgen05.mma.cta_group::1.kind::" + kind + " [%r21], %rd7, %rd8, " +
                   number(instruction(block)) + (options.scaled ? ", [%r26], [%r27]" : "") +
                   ", %p3;\n  add.u64 %rd7, %rd7, 2;\n  add.u64 %rd8, %rd8, 2;\n";
  }
  kernel.body += "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [all+" +
                 number(kBarriers + 8) +
                 "];\nMULTIPLIED:\n  bar.warp.sync -1;\n  add.u32 %r24, %r20, " +
                 number(kBarriers + 8) +
                 ";\nD:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r24], 0;\n  @!%p2 bra D;\n"
                 "  tcgen05.fence::after_thread_sync;\n"
                 "  and.b32 %r3, %r1, 96;\n  shl.b32 %r3, %r3, 16;\n  add.u32 %r3, %r3, %r21;\n"
                 "  mul.wide.u32 %rd10, %r1, " +
                 number(kRowBytes) + ";\n  add.u64 %rd11, %rd2, %rd10;\n";
  std::string registers;
  std::string stores;
  for (std::uint32_t i = 0; i < kN; ++i) {
    registers += (i == 0 ? "%r" : ", %r") + number(40 + i);
    stores += "  st.global.u32 [%rd11+" + number(4 * i) + "], %r" + number(40 + i) + ";\n";
  }
  kernel.body += "  tcgen05.ld.sync.aligned.32x32b.x16.b32 {" + registers +
                 "}, [%r3];\n  tcgen05.wait::ld.sync.aligned;\n" + stores +
                 "  tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n"
                 "  @%p5 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 64;\n";
  return kernel;
}

// Element `column` of row `row` of `in`, in all of them of this type.
double element(const OneKernel& kernel, const Type& type, std::uint32_t row, std::uint32_t column) {
  std::uint32_t code = 0;
  for (std::uint32_t bit = 0; bit < type.bits; ++bit) {
    const std::uint32_t at = row * kRowBytes * 8 + column * type.bits + bit;
    code |= (kernel.in[at / 32] >> at % 32 & 1U) << bit;
  }
  return value_of(type, code);
}

constexpr std::array<std::pair<Type, Type>, 4> kPairs{
    {{kE2m1, kE2m1}, {kE2m1, kE2m3}, {kE3m2, kE2m1}, {kE2m3, kE3m2}}};

TEST(PtxPackedProducts, AreThoseOfDoublePrecision) {
  for (const auto& [a, b] : kPairs) {
    for (const bool scaled : {true, false}) {
      const OneKernel kernel = multiplying(a, b, {.scaled = scaled});
      const OneRun run = run_of(kernel);
      ASSERT_THAT(ids_in(run.result), IsEmpty()) << a.name << " " << b.name;
      for (std::uint32_t m = 0; m < kM; ++m) {
        for (std::uint32_t n = 0; n < kN; ++n) {
          double sum = 0;
          double most = 0;
          for (std::uint32_t k = 0; k < kK; ++k) {
            const int scale =
                scaled ? static_cast<int>(scale_of(m, k / 32) + scale_of(n, k / 32)) - 2 * 127 : 0;
            const double product = std::ldexp(
                element(kernel, a, m, kColumnOfA + k) * element(kernel, b, kM + n, k), scale);
            sum += product;
            most += std::abs(product);
          }
          const float got = std::bit_cast<float>(run.out[m * kRowBytes / 4 + n]);
          ASSERT_NEAR(got, sum, most * 0x1p-18)
              << a.name << " " << b.name << (scaled ? " scaled" : "") << " row " << m << " column "
              << n;
        }
      }
      expect_proved(kernel);
    }
  }
}

TEST(PtxPackedProducts, OfAnotherTypeReadPadding) {
  // e4m3 has no padding, and e2m3 less than e2m1.
  expect_found(multiplying(kE2m1, kE2m3, {.told_a = 1}), "SMEM_UNINIT_READ");
  expect_found(multiplying(kE2m1, kE2m3, {.told_b = 1}), "SMEM_UNINIT_READ");
  expect_found(multiplying(kE2m1, kE2m3, {.told_a = kE2m3.code + 1}), "SMEM_UNINIT_READ");
  // The map brings elements without padding, to half of the bytes.
  expect_found(multiplying(kE2m1, kE2m3, {.map_of_a = Packing::k16U4Align8B}), "SMEM_UNINIT_READ");
}

TEST(PtxPackedProducts, WaitForTheirCopies) {
  expect_found(multiplying(kE2m1, kE2m3, {.waits = false}), "SMEM_RAW_NO_WAIT");
}

}  // namespace warptwin::sim::packed_products_test
