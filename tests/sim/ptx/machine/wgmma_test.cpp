// wgmma: operands by every layout and major, A in registers, and registers that are touched while a
// wgmma is under way.

#include <bit>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"
#include "common/machine/wgmma_descriptor.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::ptx_wgmma_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kM = 64;
constexpr std::uint32_t kN = 64;
constexpr std::uint32_t kK = 16;
constexpr std::uint32_t kBytesOfA = 8192;  // B lies behind
constexpr std::uint32_t kWords = 2 * kBytesOfA / 4;

// Small whole numbers: sums are exact in any order.
float a_of(std::uint32_t m, std::uint32_t k) {
  return static_cast<float>(static_cast<int>((m * 5 + k * 3) % 9) - 4);
}
float b_of(std::uint32_t n, std::uint32_t k) {
  return static_cast<float>(static_cast<int>((n * 7 + k * 2) % 11) - 5);
}
std::uint32_t bits_of_bf16(float value) {
  return std::bit_cast<std::uint32_t>(value) >> 16;
}

/// How an operand lies: PTX ISA, "Strides" of wgmma, and CUTLASS's canonical layouts.
struct Layout {
  std::uint32_t span = 0;  // of the swizzle, in bytes; 0: none
  bool mn_major = false;
  std::uint32_t leading = 0;
  std::uint32_t stride = 0;

  std::uint32_t place(std::uint32_t mn, std::uint32_t k) const {
    std::uint32_t at = 0;
    if (span == 0) {
      at = mn_major ? mn / 8 * stride + k / 8 * leading + k % 8 * 16 + mn % 8 * 2
                    : mn / 8 * stride + k / 8 * leading + mn % 8 * 16 + k % 8 * 2;
      return at;
    }
    at = mn_major ? mn * 2 / span * leading + k / 8 * stride + k % 8 * span + mn * 2 % span
                  : mn / 8 * stride + mn % 8 * span + k * 2;
    return at ^ (at >> 7) % (span / 16) * 16;
  }
  std::uint64_t descriptor() const {
    const std::uint64_t code = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 | code << 62;
  }
};

Layout layout_of(std::uint32_t span, bool mn_major) {
  if (span == 0) {
    return mn_major ? Layout{0, true, 1024, 128} : Layout{0, false, 1024, 128};
  }
  return mn_major ? Layout{span, true, kK * span, 8 * span} : Layout{span, false, 16, 8 * span};
}

std::string descriptor_of(const Layout& layout, std::uint32_t at, std::uint32_t number) {
  const std::string wide = "%rd" + std::to_string(number);
  return "  mov.u32 %r90, tile;\n  add.u32 %r90, %r90, " + std::to_string(at) +
         ";\n  and.b32 %r90, %r90, 0x3FFFF;\n  shr.u32 %r90, %r90, 4;\n  cvt.u64.u32 " + wide +
         ", %r90;\n  or.b64 " + wide + ", " + wide + ", " + std::to_string(layout.descriptor()) +
         ";\n";
}

std::string registers(const std::string& name, std::uint32_t count) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + name + std::to_string(i);
  }
  return text + "}";
}

/// The steps of a kernel that a test leaves out or adds to.
struct Parts {
  std::string fence = "  fence.proxy.async.shared::cta;\n";
  std::string meet = "  bar.sync 0;\n";
  std::string before = "  wgmma.fence.sync.aligned;\n";
  std::string after_issue{};
  std::string commit = "  wgmma.commit_group.sync.aligned;\n";
  std::string wait = "  wgmma.wait_group.sync.aligned 0;\n";
  std::string after_wait{};
};

std::vector<std::uint32_t> image_of(const Layout& a, const Layout& b) {
  std::vector<std::uint32_t> words(kWords);
  const auto put = [&](std::uint32_t at, float value) {
    const auto bits = static_cast<std::uint16_t>(bits_of_bf16(value));
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + at, &bits, sizeof bits);
  };
  for (std::uint32_t k = 0; k < kK; ++k) {
    for (std::uint32_t m = 0; m < kM; ++m) {
      put(a.place(m, k), a_of(m, k));
    }
    for (std::uint32_t n = 0; n < kN; ++n) {
      put(kBytesOfA + b.place(n, k), b_of(n, k));
    }
  }
  return words;
}

// All threads copy `words` words of the image, and a warpgroup multiplies.
std::string copies(std::uint32_t words) {
  std::string text =
      "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 4, %r20;\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd1, %rd4;\n";
  for (std::uint32_t first = 0; first < words; first += kThreads) {
    const std::string at = std::to_string(4 * first);
    text += "  ld.global.u32 %r21, [%rd4+" + at + "];\n  st.shared.u32 [%r20+" + at + "], %r21;\n";
  }
  return text;
}

std::string stores() {
  std::string text = "  mul.wide.u32 %rd10, %r1, 128;\n  add.u64 %rd11, %rd2, %rd10;\n";
  return text + repeated(
                    "  mov.b32 %r92, %f$;\n  st.global.u32 [%rd11], %r92;\n"
                    "  add.u64 %rd11, %rd11, 4;\n",
                    kN / 2);
}

std::string multiply(const Layout& a, const Layout& b) {
  return "  wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " + registers("%f", kN / 2) +
         ", %rd20, %rd21, %p1, 1, 1, " + (a.mn_major ? "1" : "0") + ", " +
         (b.mn_major ? "1" : "0") + ";\n";
}

OneKernel kernel_of(const Layout& a,
                    const Layout& b,
                    const Parts& parts = {},
                    std::uint32_t words = kWords) {
  OneKernel kernel;
  kernel.threads = kThreads;
  kernel.out_words = kThreads * kN / 2;
  kernel.in = image_of(a, b);
  kernel.control = false;
  kernel.body = copies(words) + parts.fence + parts.meet + descriptor_of(a, 0, 20) +
                descriptor_of(b, kBytesOfA, 21) + "  setp.ne.u32 %p1, 0, 0;\n" + parts.before +
                multiply(a, b) + parts.after_issue + parts.commit + parts.wait + parts.after_wait +
                stores();
  return kernel;
}

// `value_of` says what the bits of a register of D stand for.
template <class F>
void expect_product(const OneRun& run, std::uint32_t depth, F&& value_of) {
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    for (std::uint32_t i = 0; i < kN / 2; ++i) {
      const WgmmaCell cell = WgmmaCell::of(thread % 32, i);
      float sum = 0;
      for (std::uint32_t k = 0; k < depth; ++k) {
        sum += a_of(thread / 32 * 16 + cell.row, k) * b_of(cell.column, k);
      }
      ASSERT_EQ(value_of(run.out[thread * kN / 2 + i]), sum)
          << "thread " << thread << " register " << i;
    }
  }
}
void expect_product(const OneRun& run, std::uint32_t depth = kK) {
  expect_product(run, depth, [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
}

struct Case {
  std::uint32_t span_a;
  bool mn_a;
  std::uint32_t span_b;
  bool mn_b;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << "A " << (one.mn_a ? "mn" : "k") << one.span_a << " B " << (one.mn_b ? "mn" : "k")
       << one.span_b;
}
std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const Case& one = info.param;
  return std::string{one.mn_a ? "Mn" : "K"} + std::to_string(one.span_a) + (one.mn_b ? "Mn" : "K") +
         std::to_string(one.span_b);
}

class PtxWgmmaLayouts : public testing::TestWithParam<Case> {
 protected:
  Layout a() const { return layout_of(GetParam().span_a, GetParam().mn_a); }
  Layout b() const { return layout_of(GetParam().span_b, GetParam().mn_b); }
};

TEST_P(PtxWgmmaLayouts, AreReadAsTheyLie) {
  const OneKernel kernel = kernel_of(a(), b());
  expect_product(run_of(kernel));
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), IsEmpty());
}

TEST_P(PtxWgmmaLayouts, WhatNobodyHasWrittenIsNotMultiplied) {
  // The last bytes of B are missing: those of its last rows, or columns.
  const std::uint32_t end = kBytesOfA + b().place(kN - 1, kK - 1);
  const ProofResult proof = proof_of(kernel_of(a(), b(), {}, (end - 512) / 4 / 128 * 128));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), Contains("SMEM_UNINIT_READ"));
}

TEST_P(PtxWgmmaLayouts, WhatOthersWriteIsMetAndFenced) {
  Parts unfenced;
  unfenced.fence.clear();
  EXPECT_THAT(ids_in(proof_of(kernel_of(a(), b(), unfenced))), Contains("PROXY_FENCE_MISSING"));
  Parts apart;
  apart.meet.clear();
  const ProofResult proof = proof_of(kernel_of(a(), b(), apart));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), Contains("SMEM_RACE"));
}

TEST_P(PtxWgmmaLayouts, AnOperandIsNotOverwrittenBeforeTheWait) {
  // One word of B, at its end; between the issue and the wait, or behind.
  const std::uint32_t last = kBytesOfA + b().place(kN - 1, kK - 1) / 4 * 4;
  const std::string store =
      "  setp.eq.u32 %p2, %r1, 5;\n  @%p2 st.shared.u32 [tile+" + std::to_string(last) + "], 0;\n";
  Parts early;
  early.after_issue = store;
  const ProofResult proof = proof_of(kernel_of(a(), b(), early));
  EXPECT_THAT(ids_in(proof), Contains("WGMMA_SMEM_RELEASE_EARLY"));
  Parts late;
  late.after_wait = "  bar.sync 0;\n" + store;
  EXPECT_EQ(proof_of(kernel_of(a(), b(), late)).verdict, ProofVerdict::kProved);
}

INSTANTIATE_TEST_SUITE_P(Each,
                         PtxWgmmaLayouts,
                         testing::Values(Case{128, false, 128, false},
                                         Case{128, true, 128, false},
                                         Case{128, false, 128, true},
                                         Case{128, true, 128, true},
                                         Case{64, true, 32, true},
                                         Case{32, true, 64, true},
                                         Case{0, true, 0, true},
                                         Case{0, false, 0, true},
                                         Case{0, true, 128, false}),
                         name_of_case);

// A sum of what nobody knows is as unknown, and decides nothing; of known numbers it does.
TEST(PtxWgmma, AddsToWhatNobodyKnowsOnlyWhereItAccumulates) {
  const auto summing = [](bool clock, bool accumulates) {
    const Layout layout = layout_of(128, false);
    Parts parts;
    parts.before = "  mov.u32 %r91, " + std::string{clock ? "%clock" : "5"} + ";\n" +
                   repeated("  mov.b32 %f$, %r91;\n", kN / 2) + "  setp." +
                   (accumulates ? "eq" : "ne") + ".u32 %p1, 0, 0;\n" + parts.before;
    parts.after_wait =
        "  setp.eq.f32 %p9, %f0, 0f40400000;\n  mul.wide.u32 %rd24, %r1, 128;\n"
        "  add.u64 %rd24, %rd2, %rd24;\n  @%p9 st.global.u32 [%rd24], 9;\n";
    return kernel_of(layout, layout, parts);
  };
  EXPECT_THROW(proof_of(summing(true, true)), ConfigError);
  for (const auto& [clock, accumulates] : {std::pair{true, false}, {false, true}}) {
    const ProofResult proof = proof_of(summing(clock, accumulates));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    EXPECT_TRUE(proof.data_decides);
    EXPECT_THAT(ids_in(proof), IsEmpty());
  }
}

// What lies between the panels of an operand is not the operand's.
TEST(PtxWgmma, PanelsApartLeaveWhatLiesBetweenAlone) {
  const Layout a = layout_of(128, false);
  const Layout b{64, true, 2048, 512};  // two panels of 1024 bytes, 2048 apart
  const std::string store = "  setp.eq.u32 %p2, %r1, 5;\n  @%p2 st.shared.u32 [tile+" +
                            std::to_string(kBytesOfA + 1024 + 8) + "], 0;\n";
  Parts between;
  between.after_issue = store;
  const OneKernel kernel = kernel_of(a, b, between);
  expect_product(run_of(kernel));
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

TEST(PtxWgmma, OnlySixteenBitTypesAreTransposed) {
  OneKernel kernel = kernel_of(layout_of(128, true), layout_of(128, false));
  const std::size_t at = kernel.body.find("k16.f32.bf16.bf16");
  kernel.body.replace(at, 17, "k8.f32.tf32.tf32");
  EXPECT_THAT(ids_in(proof_of(kernel)), Contains("TCGEN05_SHAPE"));
}

TEST(PtxWgmma, ABaseOffsetIsRefused) {
  OneKernel kernel = kernel_of(layout_of(128, false), layout_of(128, false));
  const std::size_t at = kernel.body.find("  setp.ne.u32 %p1, 0, 0;\n");
  kernel.body.insert(at, "  or.b64 %rd20, %rd20, 562949953421312;\n");
  try {
    proof_of(kernel);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("base offset"));
  }
}

// Fills both operands of a kernel that multiplies K-major bytes, swizzled by 128 of them.
void put_bytes(OneKernel& kernel, ElementType of_a, ElementType of_b) {
  std::fill(kernel.in.begin(), kernel.in.end(), 0);
  const auto put = [&](std::uint32_t at_byte, ElementType type, float value) {
    const auto bits = static_cast<std::uint8_t>(encode(type, value));
    std::memcpy(reinterpret_cast<std::byte*>(kernel.in.data()) + at_byte, &bits, 1);
  };
  for (std::uint32_t k = 0; k < 32; ++k) {
    for (std::uint32_t row = 0; row < kM; ++row) {
      const std::uint32_t place = (row * 128 + k) ^ row % 8 * 16;
      put(place, of_a, a_of(row, k));
      put(kBytesOfA + place, of_b, b_of(row, k));
    }
  }
}

// The sum of whole numbers of 8 bits is one of 32; neither operand can be negated.
TEST(PtxWgmma, MultipliesWholeNumbers) {
  const Layout a = layout_of(128, false);
  OneKernel kernel = kernel_of(a, a);
  const auto replace = [&](const std::string& from, const std::string& to) {
    kernel.body.replace(kernel.body.find(from), from.size(), to);
  };
  replace("k16.f32.bf16.bf16", "k32.s32.s8.s8");
  replace(", 1, 1, 0, 0;", ";");
  put_bytes(kernel, ElementType::kI8, ElementType::kI8);
  expect_product(run_of(kernel), 32, [](std::uint32_t bits) {
    return static_cast<float>(static_cast<std::int32_t>(bits));
  });
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

TEST(PtxWgmma, TypesThatNoInstructionHasAreRefused) {
  for (const char* types : {"k32.f32.s8.s8", "k32.s32.e4m3.e4m3", "k32.s32.satfinite.s8.s8"}) {
    OneKernel kernel = kernel_of(layout_of(128, false), layout_of(128, false));
    kernel.body.replace(kernel.body.find("k16.f32.bf16.bf16"), 17, types);
    EXPECT_THROW(proof_of(kernel), ConfigError) << types;
  }
}

// D of f16: two columns in a register.
TEST(PtxWgmma, HasResultsOfF16) {
  const Layout a = layout_of(128, false);
  OneKernel kernel = kernel_of(a, a);
  const std::string d = registers("%f", kN / 2);
  const std::size_t at = kernel.body.find("f32.bf16.bf16 " + d);
  kernel.body.replace(at, 14 + d.size(), "f16.e4m3.e4m3 " + registers("%f", kN / 4));
  const std::size_t shape = kernel.body.find("k16.f16");
  kernel.body.replace(shape, 3, "k32");
  kernel.body.erase(kernel.body.find(", 0, 0;\n  wgmma.commit"), 6);
  put_bytes(kernel, ElementType::kF8E4M3, ElementType::kF8E4M3);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    for (std::uint32_t i = 0; i < kN / 2; ++i) {
      const WgmmaCell cell = WgmmaCell::of(thread % 32, i);
      float sum = 0;
      for (std::uint32_t k = 0; k < 32; ++k) {
        sum += a_of(thread / 32 * 16 + cell.row, k) * b_of(cell.column, k);
      }
      const std::uint32_t word = run.out[thread * kN / 2 + i / 2];
      ASSERT_EQ(decode(ElementType::kF16, word >> (16 * (i % 2)) & 0xFFFFU), sum);
    }
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// --- A in registers

// A's registers of each lane lie in `in`, in front of the image: %r30 to %r33.
struct InRegisters {
  std::string type = "bf16";
  std::uint32_t bytes = 2;  // of an element
  std::uint32_t k() const { return 32 / bytes; }

  std::uint32_t encoded(float value) const {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bytes == 4 ? bits : bytes == 2 ? bits >> 16 : encode(ElementType::kF8E4M3, value);
  }
};

constexpr std::uint32_t kARegisters = 4;
constexpr std::uint32_t kWordsOfA = kThreads * kARegisters;

OneKernel multiplying_registers(const InRegisters& a, const Parts& parts = {}, bool mn_b = false) {
  OneKernel kernel;
  kernel.threads = kThreads;
  kernel.out_words = kThreads * kN / 2;
  kernel.control = false;
  const std::uint32_t each = 4 / a.bytes;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    for (std::uint32_t i = 0; i < kARegisters; ++i) {
      std::uint32_t word = 0;
      for (std::uint32_t e = 0; e < each; ++e) {
        // PTX ISA, "register fragments for wgmma.mma_async.m64nNk16", and its kin.
        const std::uint32_t lane = thread % 32;
        const std::uint32_t row = thread / 32 * 16 + lane / 4 + (i % 2 == 0 ? 0 : 8);
        const std::uint32_t k = lane % 4 * each + e + (i < 2 ? 0 : 4 * each);
        word |= a.encoded(a_of(row, k)) << (8 * a.bytes * e);
      }
      kernel.in.push_back(word);
    }
  }
  const Layout b = layout_of(128, mn_b);
  std::vector<std::uint32_t> image(kWords);
  for (std::uint32_t k = 0; k < a.k(); ++k) {
    for (std::uint32_t n = 0; n < kN; ++n) {
      const std::uint32_t at = mn_b           ? b.place(n, k)
                               : a.bytes == 2 ? b.place(n, k)
                                              : (n * 128 + k * a.bytes) ^ n % 8 * 16;
      const std::uint32_t bits = a.encoded(b_of(n, k));
      std::memcpy(reinterpret_cast<std::byte*>(image.data()) + at, &bits, a.bytes);
    }
  }
  kernel.in.insert(kernel.in.end(), image.begin(), image.end());
  const std::string d = registers("%f", kN / 2);
  kernel.body =
      "  mul.wide.u32 %rd5, %r1, 16;\n  add.u64 %rd5, %rd1, %rd5;\n"
      "  ld.global.v4.u32 {%r30, %r31, %r32, %r33}, [%rd5];\n  add.u64 %rd1, %rd1, " +
      std::to_string(kWordsOfA * 4) + ";\n" + copies(kWords) + parts.fence + parts.meet +
      descriptor_of(b, 0, 21) + "  setp.ne.u32 %p1, 0, 0;\n" + parts.before +
      "  wgmma.mma_async.sync.aligned.m64n64k" + std::to_string(a.k()) + ".f32." + a.type + "." +
      a.type + " " + d + ", {%r30, %r31, %r32, %r33}, %rd21, %p1, 1, 1" +
      (a.bytes == 2 ? mn_b ? ", 1" : ", 0" : "") + ";\n" + parts.after_issue + parts.commit +
      parts.wait + parts.after_wait + stores();
  return kernel;
}

class PtxWgmmaRegisters : public testing::TestWithParam<InRegisters> {};
void PrintTo(const InRegisters& a, std::ostream* out) {
  *out << a.type;
}

TEST_P(PtxWgmmaRegisters, HoldA) {
  const OneKernel kernel = multiplying_registers(GetParam());
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  expect_product(run, GetParam().k());
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Each,
                         PtxWgmmaRegisters,
                         testing::Values(InRegisters{"bf16", 2},
                                         InRegisters{"tf32", 4},
                                         InRegisters{"e4m3", 1}),
                         [](const auto& one) { return one.param.type; });

TEST(PtxWgmma, AInRegistersWithATransposedB) {
  const OneKernel kernel = multiplying_registers({}, {}, true);
  expect_product(run_of(kernel));
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// What touches the registers, where it stands, and what it is called.
struct Touch {
  const char* name;
  const char* text;
  bool found = true;
};
void PrintTo(const Touch& touch, std::ostream* out) {
  *out << touch.name;
}

class PtxWgmmaTouches : public testing::TestWithParam<Touch> {};

TEST_P(PtxWgmmaTouches, AreFoundBeforeTheWaitAndNotBehind) {
  Parts early;
  early.after_issue = GetParam().text;
  const ProofResult proof = proof_of(multiplying_registers({}, early));
  if (GetParam().found) {
    EXPECT_NE(proof.verdict, ProofVerdict::kProved);
    EXPECT_THAT(ids_in(proof), Contains("WGMMA_ACC_READ_EARLY"));
  } else {
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    EXPECT_THAT(ids_in(proof), IsEmpty());
  }
  Parts late;
  late.after_wait = GetParam().text;
  EXPECT_EQ(proof_of(multiplying_registers({}, late)).verdict, ProofVerdict::kProved);
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxWgmmaTouches,
    testing::Values(
        Touch{"AIsWritten", "  mov.b32 %r30, 0;\n"},
        Touch{"AIsWrittenByALoad", "  ld.global.u32 %r33, [%rd5];\n"},
        Touch{"AIsComputedWith", "  add.u32 %r40, %r31, 1;\n"},
        Touch{"AIsStored", "  st.shared.u32 [%r20+8192], %r32;\n"},
        Touch{"AGetsAnotherName", "  mov.b32 %r40, %r32;\n", false},
        Touch{"TheAccumulatorIsComputedWith", "  add.f32 %f0, %f0, 0f3F800000;\n"},
        Touch{"TheAccumulatorIsAddedUp", "  add.rn.f32 %f30, %f1, %f2;\n"},
        Touch{"TheAccumulatorIsConverted", "  cvt.rn.bf16x2.f32 %r40, %f1, %f2;\n"},
        Touch{"TheAccumulatorIsWritten", "  mov.b32 %f3, 0f00000000;\n"},
        Touch{"TheAccumulatorIsSpilled", "  { .local .b32 kept; st.local.f32 [kept], %f4; }\n"},
        Touch{"TheAccumulatorIsShuffled",
              "  shfl.sync.bfly.b32 %r40|%p3, %f5, 1, 31, 0xffffffff;\n"},
        Touch{"TheAccumulatorIsStored",
              "  mul.wide.u32 %rd12, %r1, 128;\n  add.u64 %rd12, %rd12, %rd2;\n"
              "  st.global.f32 [%rd12], %f6;\n"},
        Touch{"SomethingElseThatIsUnknownIsStored",
              "  mov.u32 %r40, %clock;\n  mad.lo.u32 %r41, %r1, 4, %r20;\n"
              "  st.shared.u32 [%r41+12288], %r40;\n",
              false},
        Touch{"OthersAreWritten", "  mov.b32 %r41, 0;\n  add.u32 %r42, %r41, %r1;\n", false}),
    [](const auto& one) { return std::string{one.param.name}; });

// All lanes but the first of each warp give an accumulator another name.
TEST(PtxWgmmaNames, OfSomeLanesAreOnTheirWayToo) {
  const std::string apart =
      "  and.b32 %r40, %r1, 31;\n  setp.ne.u32 %p5, %r40, 0;\n  mov.b32 %r50, 0;\n";
  const std::string renamed = apart + "  @%p5 mov.b32 %r50, %f0;\n";
  const std::string used = "  add.u32 %r51, %r50, %r50;\n";
  const auto with = [](const std::string& before, const std::string& behind) {
    Parts parts;
    parts.after_issue = before;
    parts.after_wait = behind;
    return multiplying_registers({}, parts);
  };
  expect_proved(with(renamed, used));
  for (const std::string& early :
       {used,
        std::string{"  st.shared.u32 [%r20+12288], %r50;\n"},
        std::string{"  @%p5 bra ON;\nON:\n  @%p5 mul.lo.u32 %r51, %r50, %r50;\n"}}) {
    expect_found(with(renamed + early, ""), "WGMMA_ACC_READ_EARLY");
  }
  // The first lanes' register is their own.
  expect_proved(with(renamed + "  @!%p5 add.u32 %r51, %r50, %r50;\n", used));
  expect_found(with(apart + "  @!%p5 bra NEXT;\n  mov.b32 %r50, %f0;\nNEXT:\n" + used, ""),
               "WGMMA_ACC_READ_EARLY");
}

// A function that is given an accumulator may compute with it.
TEST(PtxWgmmaNames, AreNotGivenToFunctions) {
  const auto calling = [](const std::string& store, const char* given, bool early) {
    const std::string text = "  {\n  .param .b32 result;\n  .param .b32 word;\n" + store +
                             "  call (result), twice, (" + given +
                             ");\n  ld.param.b32 %r50, [result];\n  }\n";
    Parts parts;
    (early ? parts.after_issue : parts.after_wait) = text;
    OneKernel kernel = multiplying_registers({}, parts);
    kernel.variables =
        ".func (.param .b32 result) twice(.param .b32 word) {\n  .reg .b32 %a<2>;\n"
        "  ld.param.b32 %a0, [word];\n  add.u32 %a1, %a0, %a0;\n"
        "  st.param.b32 [result], %a1;\n  ret;\n}\n";
    return kernel;
  };
  const std::string store = "  st.param.b32 [word], %f0;\n";
  expect_found(calling(store, "word", true), "WGMMA_ACC_READ_EARLY");
  expect_proved(calling(store, "word", false));
  expect_proved(calling("  st.param.b32 [word], %r1;\n", "word", true));
}

// A function has its own registers: its wgmma is to an accumulator of its own, and leaves the names
// that its caller has given. What it waits for may be its caller's.
TEST(PtxWgmmaNames, AreTheirsWhoGaveThemWhenAFunctionMultiplies) {
  const std::string descriptors = "  .reg .b64 %x<3>;\n  .reg .f32 %g<32>;\n  .reg .pred %q<2>;\n";
  const auto calling = [&](const std::string& between,
                           const std::string& waits,
                           const std::string& used) {
    Parts parts;
    parts.wait = "";
    parts.after_issue = "  mov.b32 %r40, %f0;\n";
    parts.commit += "  {\n  .param .b64 b;\n  st.param.b64 [b], %rd21;\n  call apart, (b);\n  }\n" +
                    between + used + "  wgmma.wait_group.sync.aligned 0;\n";
    OneKernel kernel = multiplying_registers({}, parts);
    kernel.variables =
        ".func apart(.param .b64 b) {\n" + descriptors +
        "  .reg .b32 %a<4>;\n  ld.param.b64 %x1, [b];\n" + repeated("  mov.b32 %a$, 0;\n", 4) +
        "  setp.ne.u32 %q1, 0, 0;\n  wgmma.fence.sync.aligned;\n"
        "  wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " +
        registers("%g", kN / 2) +
        ", {%a0, %a1, %a2, %a3}, %x1, %q1, 1, 1, 0;\n  wgmma.commit_group.sync.aligned;\n" + waits +
        "  ret;\n}\n";
    return kernel;
  };
  const std::string used = "  add.u32 %r41, %r40, %r40;\n";
  const auto wait = [](const char* groups) {
    return std::string{"  wgmma.wait_group.sync.aligned "} + groups + ";\n";
  };
  expect_found(calling("", "", used), "WGMMA_ACC_READ_EARLY");
  expect_found(calling(wait("2"), "", used), "WGMMA_ACC_READ_EARLY");
  expect_proved(calling(wait("1"), "", used));
  expect_proved(calling("", wait("1"), used));
  expect_proved(calling("", wait("0"), used));
  // Another one begins behind that, and what the function has waited for is there.
  const std::string next =
      "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%r44, %r45, %r46, %r47}, {%r30, %r31, %r32, %r33}, %rd21, %p1, 1, 1, 0;\n"
      "  wgmma.commit_group.sync.aligned;\n";
  expect_proved(calling(next, wait("0"), used));
  expect_found(calling(next, "", used), "WGMMA_ACC_READ_EARLY");
  const OneKernel kernel = calling(next, wait("0"), used);
  expect_product(run_of(kernel));
}

// Two wgmmas to one accumulator, and a name that was given to it between them.
TEST(PtxWgmmaNames, BetweenTwoAreOfWhatNobodyHasWaitedFor) {
  const auto between = [](const std::string& text, const std::string& behind) {
    const Layout layout = layout_of(128, false);
    Parts parts;
    parts.after_issue = text + multiply(layout, layout);
    parts.after_wait = behind;
    return proof_of(kernel_of(layout, layout, parts));
  };
  const std::string named = "  mov.b32 %r40, %f0;\n";
  const std::string used = "  add.u32 %r41, %r40, 1;\n";
  const ProofResult early = between(named, used);
  EXPECT_EQ(early.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(early), Contains("WGMMA_ACC_READ_EARLY"));
  const std::string waited =
      "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n" + named +
      "  wgmma.fence.sync.aligned;\n";
  for (const ProofResult& right :
       {between(waited, used), between("", named + used), between(named, named + used)}) {
    EXPECT_EQ(right.verdict, ProofVerdict::kProved);
    EXPECT_THAT(ids_in(right), IsEmpty());
  }
}

// A of an earlier group may be written again while a later one is under way.
TEST(PtxWgmma, AIsFreeWhenItsOwnGroupIsOver) {
  const auto second = [](const std::string& wait) {
    Parts parts;
    parts.after_issue = "  wgmma.commit_group.sync.aligned;\n" + parts.before +
                        "  wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " +
                        registers("%f", kN / 2) +
                        ", {%r60, %r61, %r62, %r63}, %rd21, %p4, 1, 1, 0;\n" +
                        "  wgmma.commit_group.sync.aligned;\n" + wait + "  mov.b32 %r30, 0;\n";
    parts.before =
        "  setp.eq.u32 %p4, 0, 0;\n  mov.b32 %r60, %r30;\n  mov.b32 %r61, %r31;\n  mov.b32 %r62, "
        "%r32;\n"
        "  mov.b32 %r63, %r33;\n  wgmma.fence.sync.aligned;\n";
    return multiplying_registers({}, parts);
  };
  EXPECT_EQ(proof_of(second("  wgmma.wait_group.sync.aligned 1;\n")).verdict,
            ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof_of(second(""))), Contains("WGMMA_ACC_READ_EARLY"));
}

// Another wgmma writes what this one still reads.
TEST(PtxWgmma, AIsNoAccumulatorOfAnother) {
  const auto reusing = [](const std::string& wait) {
    Parts parts;
    parts.after_issue =
        "  wgmma.commit_group.sync.aligned;\n" + wait +
        "  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r30, %r31, %r32, %r33}, {%r60, "
        "%r61, %r62, %r63}, %rd21, %p1, 1, 1, 0;\n";
    parts.before = repeated("  mov.b32 %r6$, %r3$;\n", 4) + "  wgmma.fence.sync.aligned;\n";
    return multiplying_registers({}, parts);
  };
  EXPECT_THAT(ids_in(proof_of(reusing(""))), Contains("WGMMA_ACC_READ_EARLY"));
  EXPECT_THAT(ids_in(proof_of(reusing("  wgmma.wait_group.sync.aligned 0;\n"))), IsEmpty());
}

TEST(PtxWgmma, WhatIsWrittenBehindTheFenceIsNotMultiplied) {
  for (const char* text : {"  add.u32 %r30, %r30, 0;\n", "  add.f32 %f7, %f7, 0f00000000;\n"}) {
    Parts behind;
    behind.before = "  wgmma.fence.sync.aligned;\n" + std::string{text};
    EXPECT_THAT(ids_in(proof_of(multiplying_registers({}, behind))),
                Contains("WGMMA_FENCE_MISSING"))
        << text;
    Parts before;
    before.before = std::string{text} + "  wgmma.fence.sync.aligned;\n";
    EXPECT_EQ(proof_of(multiplying_registers({}, before)).verdict, ProofVerdict::kProved) << text;
  }
}

// What stands between two wgmma to the registers of one before both, and what is found of it.
struct Between {
  const char* name;
  const char* text;
  const char* id = nullptr;
};
void PrintTo(const Between& between, std::ostream* out) {
  *out << between.name;
}

class PtxWgmmaThrice : public testing::TestWithParam<Between> {};

TEST_P(PtxWgmmaThrice, TheSameRegistersAreWatchedBetweenThem) {
  const Layout layout = layout_of(128, false);
  Parts parts;
  parts.after_issue = multiply(layout, layout) + GetParam().text + multiply(layout, layout);
  const OneKernel kernel = kernel_of(layout, layout, parts);
  const ProofResult proof = proof_of(kernel);
  if (GetParam().id != nullptr) {
    EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted);
    EXPECT_THAT(ids_in(proof), Contains(GetParam().id));
    return;
  }
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  expect_product(run_of(kernel));
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxWgmmaThrice,
    testing::Values(
        Between{"Nothing", ""},
        Between{"AnotherNameAndBack", "  mov.b32 %r40, %f0;\n  mov.b32 %f0, %r40;\n"},
        Between{"AWaitAndAWriteAndAFence",
                "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
                "  mov.b32 %f3, 0f00000000;\n  wgmma.fence.sync.aligned;\n"},
        Between{"AWaitAndAWrite",
                "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
                "  mov.b32 %f3, 0f00000000;\n",
                "WGMMA_FENCE_MISSING"},
        Between{"AWrite", "  mov.b32 %f3, 0f00000000;\n", "WGMMA_ACC_READ_EARLY"},
        Between{"AnotherOfThem", "  mov.b32 %f3, %f4;\n", "WGMMA_ACC_READ_EARLY"},
        Between{"ASum", "  add.f32 %f31, %f31, 0f3F800000;\n", "WGMMA_ACC_READ_EARLY"},
        Between{"ALoad", "  ld.global.f32 %f8, [%rd1];\n", "WGMMA_ACC_READ_EARLY"}),
    [](const auto& one) { return std::string{one.param.name}; });

// A second wgmma takes for A what is computed of the accumulators of the first, as in attention.
OneKernel chained(const std::string& wait, const std::string& decides = "") {
  Parts parts;
  parts.before = decides + parts.before;
  parts.after_issue = "  wgmma.commit_group.sync.aligned;\n" + wait +
                      repeated("  cvt.rn.bf16x2.f32 %r6$, %f1$, %f$;\n", 4) +
                      "  wgmma.fence.sync.aligned;\n"
                      "  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r70, %r71, %r72, "
                      "%r73}, {%r60, %r61, "
                      "%r62, %r63}, %rd21, %p1, 1, 1, 0;\n";
  return multiplying_registers({}, parts);
}

TEST(PtxWgmma, AIsComputedOfAccumulatorsThatHaveCome) {
  const std::string waits = "  wgmma.wait_group.sync.aligned 0;\n";
  const OneRun right = run_of(chained(waits));
  EXPECT_EQ(right.result.end, Ending::kDone);
  EXPECT_THAT(ids_in(right.result), IsEmpty());
  expect_proved(chained(waits));
  // What is not known is not multiplied: the run ends there, and what was wrong is said.
  const OneRun wrong = run_of(chained(""));
  EXPECT_EQ(wrong.result.end, Ending::kRefused);
  EXPECT_THAT(wrong.result.refusal, HasSubstr("operand 1"));
  EXPECT_THAT(ids_in(wrong.result), ElementsAre("WGMMA_ACC_READ_EARLY"));
  expect_found(chained(""), "WGMMA_ACC_READ_EARLY");
}

// Likewise where the proof needs the launch's data, for they decide a branch.
TEST(PtxWgmma, AIsComputedOfAccumulatorsThatHaveComeWhateverDataDecides) {
  const std::string decides =
      "  ld.global.u32 %r80, [%rd1];\n  setp.eq.u32 %p5, %r80, 77;\n  @%p5 bra ON;\nON:\n";
  expect_proved(chained("  wgmma.wait_group.sync.aligned 0;\n", decides));
  const ProofResult wrong = proof_of(chained("", decides));
  EXPECT_EQ(wrong.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(wrong), ElementsAre("WGMMA_ACC_READ_EARLY"));
  ASSERT_EQ(wrong.undecided.size(), 1U);
  EXPECT_THAT(wrong.undecided.front().reason, HasSubstr("operand 1"));
}

// Without a defect before it, what cannot be executed is refused.
TEST(PtxWgmma, AThatNobodyHasWrittenIsRefused) {
  Parts parts;
  parts.before = "  mov.u32 %r30, %clock;\n  wgmma.fence.sync.aligned;\n";
  EXPECT_THROW(run_of(multiplying_registers({}, parts)), ConfigError);
}

TEST(PtxWgmma, AHasFourRegisters) {
  OneKernel kernel = multiplying_registers({});
  const std::size_t at = kernel.body.find(", %r33}, %rd21");
  kernel.body.erase(at, 6);
  EXPECT_THROW(proof_of(kernel), ConfigError);
}

}  // namespace warptwin::sim::ptx_wgmma_test
