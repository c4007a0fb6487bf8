// tcgen05.mma of operands that have less than eight bits, with padding behind 16 of them.

#include <array>
#include <bit>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::small_types_test {

using testing::IsEmpty;

constexpr std::uint32_t kRows = 128;
constexpr std::uint32_t kColumns = 16;
constexpr std::uint32_t kAddressOfA = 4096;
constexpr std::uint32_t kAddressOfB = 8192;

/// A type, by its code in an instruction descriptor.
struct Type {
  const char* name;
  std::uint32_t code;
  std::uint32_t bits;

  std::uint32_t data_bytes() const { return 2 * bits; }  // of each 16
};

/// Byte `at` of the 32 of a row: what the kernel stores.
std::uint32_t byte_of(std::uint32_t row, std::uint32_t at) {
  return (37 * row + 11 * at) & 0xFFU;
}

/// The magnitudes in the order of their codes.
float value_of(const Type& type, std::uint32_t code) {
  constexpr std::array<float, 8> kE2m1{0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  const std::uint32_t magnitude = code & ((1U << (type.bits - 1)) - 1);
  float value = 0;
  if (type.bits == 4) {
    value = kE2m1[magnitude];
  } else {
    // Steps from one magnitude to the next double behind each 8, or 4, of them.
    const std::uint32_t together = type.code == 3 ? 8 : 4;
    float step = type.code == 3 ? 0.125F : 0.0625F;
    for (std::uint32_t at = 0; at < magnitude; ++at) {
      step *= at >= 2 * together && at % together == 0 ? 2.0F : 1.0F;
      value += step;
    }
  }
  return code >> (type.bits - 1) != 0 ? -value : value;
}

float element(const Type& type, std::uint32_t row, std::uint32_t k) {
  std::uint32_t code = 0;
  for (std::uint32_t bit = 0; bit < type.bits; ++bit) {
    const std::uint32_t at = k % 16 * type.bits + bit;
    code |= (byte_of(row, k / 16 * 16 + at / 8) >> at % 8 & 1U) << bit;
  }
  return value_of(type, code);
}

/// The data of rows, lane by lane: pieces of 16 bytes, eight rows and then the second half of K.
std::string stores(const Type& type, std::uint32_t rows, std::uint32_t address) {
  std::string text;
  for (std::uint32_t first = 0; first < rows; first += 32) {
    text += "  add.u32 %r5, %r1, " + std::to_string(first) + ";\n  setp.lt.u32 %p4, %r5, " +
            std::to_string(rows) +
            ";\n  mul.lo.u32 %r6, %r5, 37;\n  shr.u32 %r7, %r5, 3;\n  and.b32 %r8, %r5, 7;\n"
            "  shl.b32 %r7, %r7, 8;\n  mad.lo.u32 %r7, %r8, 16, %r7;\n  add.u32 %r7, %r7, %r20;\n";
    for (std::uint32_t half = 0; half < 2; ++half) {
      for (std::uint32_t byte = 0; byte < type.data_bytes(); ++byte) {
        text += "  add.u32 %r9, %r6, " + std::to_string(11 * (16 * half + byte)) +
                ";\n  @%p4 st.shared.u8 [%r7+" + std::to_string(address + 128 * half + byte) +
                "], %r9;\n";
      }
    }
  }
  return text;
}

struct Options {
  bool a_in_tmem = false;
  std::string behind{};     // the MMA's issue
  bool leaves_out = false;  // the last byte of A's data
};

OneKernel multiplying(const Type& a, const Type& b, const Options& options = {}) {
  const std::uint32_t instruction =
      1U << 4 | a.code << 7 | b.code << 10 | kColumns / 8 << 17 | kRows / 16 << 24;
  const auto descriptor = [](const std::string& name, std::uint32_t address) {
    return "  add.u32 %r22, %r20, " + std::to_string(address) +
           ";\n  shr.u32 %r22, %r22, 4;\n  cvt.u64.u32 " + name + ", %r22;\n  or.b64 " + name +
           ", " + name + ", 0x0000401000080000;\n";
  };
  OneKernel kernel;
  kernel.out_words = 32 * kColumns;
  std::string wrote = stores(a, kRows, kAddressOfA) + stores(b, kColumns, kAddressOfB);
  if (options.leaves_out) {
    const std::string last = "  @%p4 st.shared.u8 [%r7+" +
                             std::to_string(kAddressOfA + 128 + a.data_bytes() - 1) + "], %r9;\n";
    wrote.erase(wrote.find(last), last.size());
  }
  std::string results = "{";
  std::string leave;
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    results += (i == 0 ? "%r" : ", %r") + std::to_string(40 + i);
    leave += "  st.global.u32 [%rd11+" + std::to_string(4 * i) + "], %r" + std::to_string(40 + i) +
             ";\n";
  }
  const std::string of_a = options.a_in_tmem ? "[%r23]" : "%rd7";
  kernel.body =
      "  mov.u32 %r20, tile;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 32;\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  bar.sync 0;\n  ld.shared.u32 %r21, [%r20];\n  add.u32 %r23, %r21, 16;\n"
      "  setp.eq.u32 %p1, %r1, 0;\n  setp.ne.u32 %p3, 0, 0;\n" +
      wrote + descriptor("%rd7", kAddressOfA) + descriptor("%rd8", kAddressOfB) +
      "  @%p1 mbarrier.init.shared.b64 [tile+16], 1;\n  fence.proxy.async;\n  bar.sync 0;\n" +
      (options.a_in_tmem
           ? "  @%p1 tcgen05.cp.cta_group::1.128x256b.b8x16." +
                 std::string{a.bits == 4 ? "b4x16_p64" : "b6x16_p32"} + " [%r23], %rd7;\n"
           : "") +
      "  @%p1 tcgen05.mma.cta_group::1.kind::f8f6f4 [%r21], " + of_a + ", %rd8, " +
      std::to_string(instruction) +
      ", %p3;\n  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
      " [tile+16];\n" +
      options.behind +
      "W:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], 0;\n  @!%p2 bra W;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x16.b32 " +
      results +
      "}, [%r21];\n"
      "  tcgen05.wait::ld.sync.aligned;\n  mul.wide.u32 %rd10, %r1, " +
      std::to_string(4 * kColumns) + ";\n  add.u64 %rd11, %rd2, %rd10;\n" + leave +
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n";
  return kernel;
}

constexpr Type kE2m3{"e2m3", 3, 6};
constexpr Type kE3m2{"e3m2", 4, 6};
constexpr Type kE2m1{"e2m1", 5, 4};
constexpr std::array<std::pair<Type, Type>, 4> kPairs{
    {{kE2m1, kE2m1}, {kE2m1, kE3m2}, {kE2m3, kE2m1}, {kE3m2, kE2m3}}};

TEST(PtxSmallTypes, AreMultiplied) {
  for (const auto& [a, b] : kPairs) {
    for (const bool in_tmem : {false, true}) {
      const OneKernel kernel = multiplying(a, b, {.a_in_tmem = in_tmem});
      const OneRun run = run_of(kernel);
      EXPECT_THAT(ids_in(run.result), IsEmpty());
      for (std::uint32_t row = 0; row < 32; ++row) {
        for (std::uint32_t column = 0; column < kColumns; ++column) {
          float sum = 0;
          for (std::uint32_t k = 0; k < 32; ++k) {
            sum += element(a, row, k) * element(b, column, k);
          }
          ASSERT_EQ(std::bit_cast<float>(run.out[row * kColumns + column]), sum)
              << a.name << " " << b.name << (in_tmem ? " in tensor memory" : "") << " row " << row
              << " column " << column;
        }
      }
      expect_proved(kernel);
    }
  }
}

TEST(PtxSmallTypes, HavePaddingThatNobodyReads) {
  for (const auto& [a, b] : kPairs) {
    expect_found(multiplying(a, b, {.leaves_out = true}), "SMEM_UNINIT_READ");
    for (const auto& [type, address] : {std::pair{a, kAddressOfA}, {b, kAddressOfB}}) {
      for (const std::uint32_t byte : {type.data_bytes() - 1, type.data_bytes(), 15U}) {
        const OneKernel kernel = multiplying(
            a,
            b,
            {.behind = "  st.shared.u8 [tile+" + std::to_string(address + 128 + byte) + "], 7;\n"});
        if (byte < type.data_bytes()) {
          expect_found(kernel, "SMEM_WAR_ASYNC");
        } else {
          expect_proved(kernel);
        }
      }
    }
  }
}

// Bit 52 of an operand's descriptor has another meaning, and the next eight have to be zeros.
TEST(PtxSmallTypes, AreOfDescriptorsWithoutOtherBits) {
  const OneKernel right = multiplying(kE2m1, kE2m1);
  expect_proved(right);
  const std::string form = "0x0000401000080000";
  for (const bool second : {false, true}) {
    for (const char* wrong : {"0x0010401000080000", "0x0020401000080000", "0x1000401000080000"}) {
      OneKernel kernel = right;
      std::size_t at = kernel.body.find(form);
      at = second ? kernel.body.find(form, at + 1) : at;
      kernel.body.replace(at, form.size(), wrong);
      expect_found(kernel, "TCGEN05_SDESC");
    }
  }
}

}  // namespace warptwin::sim::small_types_test
