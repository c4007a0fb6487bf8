// tcgen05.ld and .st by shapes of 16 lanes: which cell is in which register.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::tmem_shapes_test {

using testing::Contains;
using testing::IsEmpty;

constexpr std::uint32_t kColumns = 32;

/// A shape as strides of bits, as CuTe describes it: of the threads (two, two and eight), and of
/// the registers.
struct Shape {
  const char* name;
  std::uint32_t row_bits;
  std::uint32_t registers;  // of .x1
  std::uint32_t count;      // behind .x

  std::uint32_t all() const { return registers * count; }
  std::string text() const { return std::string{name} + ".x" + std::to_string(count) + ".b32"; }
  // Of a block of 16 rows: the bit of a thread's register, and the block's first column.
  std::uint32_t bit(std::uint32_t t, std::uint32_t j) const {
    switch (row_bits) {
      case 64:
        return t % 2 * 512 + t / 2 % 2 * 32 + t / 4 * 64;
      case 128:
        return t % 4 * 32 + t / 4 * 128 + j % 2 * 1024;
      default:
        return t % 4 * 64 + t / 4 * 256 + j % 2 * 32 + j / 2 % 2 * 2048;
    }
  }
  std::uint32_t lane(std::uint32_t t, std::uint32_t j) const { return bit(t, j) / row_bits; }
  std::uint32_t column(std::uint32_t t, std::uint32_t j) const {
    return bit(t, j) % row_bits / 32 + j / registers * (row_bits / 32);
  }
};
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.text();
}

std::string list(const std::string& name, std::uint32_t first, std::uint32_t count) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + name + std::to_string(first + i);
  }
  return text + "}";
}

// %r21: the first column of an allocation; %r20 where it stands.
constexpr char kBegin[] =
    "  mov.u32 %r20, tile;\n"
    "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 32;\n"
    "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    "  bar.sync 0;\n  ld.shared.u32 %r21, [%r20];\n";
constexpr char kEnd[] = "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n";
constexpr char kWaitLd[] = "  tcgen05.wait::ld.sync.aligned;\n";
constexpr char kWaitSt[] = "  tcgen05.wait::st.sync.aligned;\n";

// Registers from %r40 on, `count` of each lane, side by side in `out`.
std::string stores(std::uint32_t count) {
  std::string text = "  mul.wide.u32 %rd10, %r1, " + std::to_string(4 * count) +
                     ";\n  add.u64 %rd11, %rd2, %rd10;\n";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += "  st.global.u32 [%rd11+" + std::to_string(4 * i) + "], %r" + std::to_string(40 + i) +
            ";\n";
  }
  return text;
}

// Registers from %r40 on: 1000 times what stands in %r1, and the register's number.
std::string numbers(std::uint32_t count) {
  std::string text = "  mul.lo.u32 %r39, %r1, 1000;\n";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += "  add.u32 %r" + std::to_string(40 + i) + ", %r39, " + std::to_string(i) + ";\n";
  }
  return text;
}

/// The first words of each 16 bytes that are written in front of a tcgen05.cp of padded elements,
/// and a word of them that is written behind it.
OneKernel copies_padded(const std::string& elements,
                        std::uint32_t words,
                        std::uint32_t behind,
                        bool waits) {
  OneKernel kernel;
  std::string writes;
  for (std::uint32_t word = 0; word < words; ++word) {
    const std::string at = std::to_string(4096 + 4 * word);
    writes += repeated("  st.shared.u32 [%r5+" + at + "+16*$], %r1;\n", 8);
  }
  kernel.body =
      std::string{kBegin} + "  setp.eq.u32 %p1, %r1, 0;\n  mad.lo.u32 %r5, %r1, 128, %r20;\n" +
      writes +
      "  @%p1 mbarrier.init.shared.b64 [tile+16], 1;\n  fence.proxy.async;\n  bar.sync 0;\n"
      "  add.u32 %r22, %r20, 4096;\n  shr.u32 %r22, %r22, 4;\n  cvt.u64.u32 %rd7, %r22;\n"
      "  or.b64 %rd7, %rd7, 0x0000400800080000;\n"
      "  @%p1 tcgen05.cp.cta_group::1.128x128b.b8x16." +
      elements +
      " [%r21], %rd7;\n  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one"
      ".shared::cluster.b64 [tile+16];\n" +
      (waits ? "W:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], 0;\n  @!%p2 bra W;\n"
             : "") +
      "  bar.sync 0;\n  st.shared.u32 [%r5+" + std::to_string(4096 + 4 * behind) + "], %r1;\n" +
      (waits ? ""
             : "W:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], 0;\n  @!%p2 bra W;\n") +
      kEnd;
  return kernel;
}

// Who writes the elements alone has written what is read, and nobody waits to write the padding.
TEST(PtxTmemCopies, DoNotReadThePadding) {
  for (const auto& [elements, words] : {std::pair{"b4x16_p64", 2U}, {"b6x16_p32", 3U}}) {
    expect_proved(copies_padded(elements, words, 0, true));
    expect_found(copies_padded(elements, words - 1, 0, true), "SMEM_UNINIT_READ");
    for (std::uint32_t behind = 0; behind < 4; ++behind) {
      if (behind < words) {
        expect_found(copies_padded(elements, words, behind, false), "SMEM_WAR_ASYNC");
      } else {
        expect_proved(copies_padded(elements, words, behind, false));
      }
    }
  }
}

// A copy between two stores to its padding is in no order with either: they race.
TEST(PtxTmemCopies, OrderNobodyByTheirPadding) {
  for (const std::uint32_t word : {2U, 3U}) {
    OneKernel kernel = copies_padded("b4x16_p64", 2, 2, true);
    for (std::size_t at = 0; (at = kernel.body.find("bar.sync 0;", at)) != std::string::npos;) {
      kernel.body.replace(at, 11, "bar.sync 1, 32;");
    }
    kernel.threads = 64;
    kernel.body =
        "  setp.lt.u32 %p5, %r1, 32;\n  @%p5 bra COPIES;\n  setp.eq.u32 %p6, %r1, 32;\n"
        "  @%p6 st.shared.u32 [tile+" +
        std::to_string(4096 + 4 * word) + "], 1;\n  bra ENDS;\nCOPIES:\n" + kernel.body + "ENDS:\n";
    if (word == 2) {
      expect_found(kernel, "SMEM_RACE");
    } else {
      expect_proved(kernel);
    }
  }
}

// Elements of four bits are in the middle of their bytes, those of six in the lower bits.
TEST(PtxTmemCopies, MakeBytesOfElements) {
  for (const auto& [elements, bits] : {std::pair{"b4x16_p64", 4U}, {"b6x16_p32", 6U}}) {
    OneKernel kernel;
    kernel.out_words = 32 * 4;
    // Byte i of the 16 of row r is 37 r + 11 i; the manual's layout of 8 rows of 16 bytes.
    std::string writes = "  mul.lo.u32 %r6, %r1, 37;\n  mad.lo.u32 %r5, %r1, 16, %r20;\n";
    for (std::uint32_t byte = 0; byte < 2 * bits; ++byte) {
      writes += "  add.u32 %r7, %r6, " + std::to_string(11 * byte) + ";\n  st.shared.u8 [%r5+" +
                std::to_string(4096 + byte) + "], %r7;\n";
    }
    kernel.body = std::string{kBegin} + "  setp.eq.u32 %p1, %r1, 0;\n" + writes +
                  "  @%p1 mbarrier.init.shared.b64 [tile+16], 1;\n  fence.proxy.async;\n"
                  "  bar.sync 0;\n  add.u32 %r22, %r20, 4096;\n  shr.u32 %r22, %r22, 4;\n"
                  "  cvt.u64.u32 %rd7, %r22;\n  or.b64 %rd7, %rd7, 0x0000400800080000;\n"
                  "  @%p1 tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16." +
                  std::string{elements} +
                  " [%r21], %rd7;\n  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                  ".shared::cluster.b64 [tile+16];\n"
                  "W:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], 0;\n  @!%p2 bra W;\n"
                  "  tcgen05.fence::after_thread_sync;\n"
                  "  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r40, %r41, %r42, %r43}, [%r21];\n"
                  "  tcgen05.wait::ld.sync.aligned;\n" +
                  stores(4) + kEnd;
    const OneRun run = run_of(kernel);
    EXPECT_THAT(ids_in(run.result), IsEmpty());
    for (std::uint32_t row = 0; row < 32; ++row) {
      for (std::uint32_t element = 0; element < 16; ++element) {
        std::uint32_t value = 0;  // bit by bit
        for (std::uint32_t bit = 0; bit < bits; ++bit) {
          const std::uint32_t at = element * bits + bit;
          const std::uint32_t byte = (37 * row + 11 * (at / 8)) & 0xFFU;
          value |= (byte >> at % 8 & 1U) << bit;
        }
        ASSERT_EQ(run.out[row * 4 + element / 4] >> element % 4 * 8 & 0xFFU,
                  bits == 4 ? value * 4 : value)
            << elements << " row " << row << " element " << element;
      }
    }
    expect_proved(kernel);
  }
}

TEST(PtxTmemCopies, OfElementsAreOfBothFormats) {
  for (const char* elements : {"b8x16", "b4x16_p64", "b6x16_p32"}) {
    OneKernel kernel = copies_padded("b4x16_p64", 2, 0, true);
    const std::string both = ".b8x16.b4x16_p64";
    kernel.body.replace(kernel.body.find(both), both.size(), std::string{"."} + elements);
    EXPECT_THROW(proof_of(kernel), ConfigError);
  }
}

class PtxTmemShapes : public testing::TestWithParam<Shape> {};

TEST_P(PtxTmemShapes, LoadTheirCells) {
  const Shape& shape = GetParam();
  for (const std::uint32_t first : {0U, 16U}) {
    OneKernel kernel;
    kernel.out_words = 32 * shape.all();
    kernel.body = kBegin + numbers(kColumns) + "  tcgen05.st.sync.aligned.32x32b.x32.b32 [%r21], " +
                  list("%r", 40, kColumns) + ";\n" + kWaitSt + "  add.u32 %r22, %r21, " +
                  std::to_string(first << 16) + ";\n  tcgen05.ld.sync.aligned." + shape.text() +
                  " " + list("%r", 40, shape.all()) + ", [%r22];\n" + kWaitLd +
                  stores(shape.all()) + kEnd;
    const OneRun run = run_of(kernel);
    EXPECT_THAT(ids_in(run.result), IsEmpty());
    for (std::uint32_t t = 0; t < 32; ++t) {
      for (std::uint32_t j = 0; j < shape.all(); ++j) {
        ASSERT_EQ(run.out[t * shape.all() + j],
                  1000 * (first + shape.lane(t, j)) + shape.column(t, j))
            << "thread " << t << " register " << j;
      }
    }
    EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  }
}

TEST_P(PtxTmemShapes, StoreTheirCells) {
  const Shape& shape = GetParam();
  const std::uint32_t columns = shape.all() * 2;
  const std::string store = "  tcgen05.st.sync.aligned." + shape.text();
  const std::string registers = list("%r", 40, shape.all());
  OneKernel kernel;
  kernel.out_words = 32 * columns;
  const std::string upper =
      "  add.u32 %r22, %r21, 1048576;\n" + store + " [%r22], " + registers + ";\n";
  const auto body = [&](const std::string& second) {
    return kBegin + numbers(shape.all()) + store + " [%r21], " + registers + ";\n" + second +
           kWaitSt + "  tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(columns) + ".b32 " +
           list("%r", 40, columns) + ", [%r21];\n" + kWaitLd + stores(columns) + kEnd;
  };
  kernel.body = body(upper);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t t = 0; t < 32; ++t) {
    for (std::uint32_t j = 0; j < shape.all(); ++j) {
      for (const std::uint32_t first : {0U, 16U}) {
        ASSERT_EQ(run.out[(first + shape.lane(t, j)) * columns + shape.column(t, j)], 1000 * t + j);
      }
    }
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  // The upper 16 lanes are missing.
  kernel.body = body("");
  EXPECT_THAT(ids_in(proof_of(kernel)), Contains("TMEM_UNINIT_READ"));
}

TEST_P(PtxTmemShapes, OfAnotherNumberOfRegistersAreRefused) {
  const Shape& shape = GetParam();
  OneKernel kernel;
  kernel.body = kBegin + numbers(kColumns) + "  tcgen05.st.sync.aligned." + shape.text() +
                " [%r21], " + list("%r", 40, shape.all() + 1) + ";\n" + kWaitSt + kEnd;
  EXPECT_THROW(proof_of(kernel), ConfigError);
}

// Lanes of a quarter begin at 0 and 16, in no other place.
TEST_P(PtxTmemShapes, BeginWithALaneOfTheirOwn) {
  const Shape& shape = GetParam();
  OneKernel kernel;
  kernel.body = kBegin + numbers(kColumns) + "  add.u32 %r22, %r21, 524288;\n" +
                "  tcgen05.st.sync.aligned." + shape.text() + " [%r22], " +
                list("%r", 40, shape.all()) + ";\n" + kWaitSt + kEnd;
  EXPECT_THAT(ids_in(proof_of(kernel)), Contains("TMEM_LANE_VIOLATION"));
}

// Lane 0 alone, or all lanes but that, give a register on its way another name, and depend on it.
TEST(PtxTmemRegisters, HaveNamesOfTheirOwnInEachLane) {
  for (const char* which : {"eq", "ne"}) {
    OneKernel kernel;
    kernel.body = std::string{kBegin} + "  mov.u32 %r31, 5;\n  setp." + which +
                  ".u32 %p5, %r1, 0;\n  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r21], {%r1};\n" +
                  kWaitSt +
                  "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r21];\n"
                  "  @%p5 mov.u32 %r31, %r30;\n  xor.b32 %r40, %r31, 0;\n" +
                  kWaitLd + stores(1) + kEnd;
    const OneRun run = run_of(kernel);
    EXPECT_THAT(ids_in(run.result), IsEmpty());
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const bool named = (lane == 0) == (std::string{which} == "eq");
      EXPECT_EQ(run.out[lane], named ? lane : 5U) << which << " " << lane;
    }
    expect_proved(kernel);
  }
}

// Types of operands that the model does not multiply, of A and of B.
TEST(PtxTmemMma, OfATypeThatIsNotThereIsRefused) {
  const std::uint32_t plain = 1U << 4 | 2U << 17 | 8U << 24;
  // Along M or N one of less than a byte has no place that the text says.
  for (const auto& [code, says] :
       {std::pair{2U, "no such type"}, {6U, "no such type"}, {5U | 1U << 8, "MN-major"}}) {
    for (const std::uint32_t low : {7U, 10U}) {
      OneKernel kernel;
      const std::uint32_t major = (code >> 8) << (low == 7 ? 15 : 16);
      kernel.body = kBegin + std::string{"  mov.b64 %rd5, 0;\n  setp.ne.u32 %p1, 0, 0;\n"} +
                    "  tcgen05.mma.cta_group::1.kind::f8f6f4 [%r21], %rd5, %rd5, " +
                    std::to_string(plain | (code & 7U) << low | major) + ", %p1;\n" + kEnd;
      EXPECT_THAT([&] { proof_of(kernel); },
                  testing::ThrowsMessage<ConfigError>(testing::HasSubstr(says)));
    }
  }
}

// An instruction descriptor may ask for what the model would compute as something else.
TEST(PtxTmemMma, WithResultsOfF16OrANegatedOperandIsRefused) {
  // D of f32, M 128, N 16; D of f16; A negated.
  const std::uint32_t plain = 1U << 4 | 2U << 17 | 8U << 24;
  for (const std::uint32_t descriptor : {plain & ~(3U << 4), plain | 1U << 13}) {
    OneKernel kernel;
    kernel.body = kBegin + std::string{"  mov.b64 %rd5, 0;\n  setp.ne.u32 %p1, 0, 0;\n"} +
                  "  tcgen05.mma.cta_group::1.kind::f16 [%r21], %rd5, %rd5, " +
                  std::to_string(descriptor) + ", %p1;\n" + kEnd;
    EXPECT_THROW(proof_of(kernel), ConfigError) << descriptor;
  }
}

// What a collector buffer has kept is not modelled. To fill it, or to keep nothing, does no harm.
TEST(PtxTmemMma, ThatTakesAFromACollectorBufferIsRefused) {
  const std::uint32_t plain = 1U << 4 | 2U << 17 | 8U << 24;
  for (const char* collector : {"use", "lastuse", "fill", "discard"}) {
    OneKernel kernel;
    kernel.body = kBegin + std::string{"  mov.b64 %rd5, 0;\n  setp.ne.u32 %p1, 0, 0;\n"} +
                  "  tcgen05.mma.cta_group::1.kind::f16.collector::a::" + collector +
                  " [%r21], %rd5, %rd5, " + std::to_string(plain) + ", %p1;\n" + kEnd;
    if (std::string{collector}.ends_with("use")) {
      EXPECT_THAT([&] { proof_of(kernel); },
                  testing::ThrowsMessage<ConfigError>(testing::HasSubstr("collector buffer")));
    } else {
      EXPECT_NO_THROW(proof_of(kernel)) << collector;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each,
                         PtxTmemShapes,
                         testing::Values(Shape{"16x64b", 64, 1, 1},
                                         Shape{"16x64b", 64, 1, 8},
                                         Shape{"16x128b", 128, 2, 1},
                                         Shape{"16x128b", 128, 2, 4},
                                         Shape{"16x256b", 256, 4, 1},
                                         Shape{"16x256b", 256, 4, 2}),
                         [](const auto& one) {
                           return "Of" + std::string{one.param.name} + "x" +
                                  std::to_string(one.param.count);
                         });

// A register is the lower halves of two columns.
TEST(PtxTmemPacked, LoadsHalvesOfTwoColumns) {
  const auto loading = [](const std::string& wait) {
    OneKernel kernel;
    kernel.body = kBegin + numbers(8) + "  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r21], " +
                  list("%r", 40, 8) + ";\n" + kWaitSt +
                  "  tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 " + list("%r", 40, 4) +
                  ", [%r21];\n" + wait + stores(4) + kEnd;
    return kernel;
  };
  const OneKernel kernel = loading(kWaitLd);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t place = 0; place < 32 * 4; ++place) {
    const std::uint32_t first = place / 4 * 1000 + place % 4 * 2;
    EXPECT_EQ(run.out[place], (first & 0xFFFFU) | (first + 1) << 16);
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof_of(loading(""))), Contains("TMEM_DEALLOC_IN_USE"));
}

// A register becomes the lower halves of two columns.
TEST(PtxTmemPacked, StoresHalvesToTwoColumns) {
  const auto storing = [](const std::string& wait) {
    OneKernel kernel;
    kernel.out_words = 32 * 8;
    kernel.body = kBegin + std::string{"  mul.lo.u32 %r39, %r1, 0x10203;\n"} +
                  repeated("  add.u32 %r4$, %r39, $;\n", 4) +
                  "  tcgen05.st.sync.aligned.32x32b.x4.unpack::16b.b32 [%r21], " +
                  list("%r", 40, 4) + ";\n" + wait + "  tcgen05.ld.sync.aligned.32x32b.x8.b32 " +
                  list("%r", 40, 8) + ", [%r21];\n" + kWaitLd + stores(8) + kEnd;
    return kernel;
  };
  const OneKernel kernel = storing(kWaitSt);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t place = 0; place < 32 * 8; ++place) {
    const std::uint32_t value = place / 8 * 0x10203 + place % 8 / 2;
    EXPECT_EQ(run.out[place], place % 2 == 0 ? value & 0xFFFFU : value >> 16);
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof_of(storing(""))), Contains("TMEM_ST_NO_WAIT"));
}

// Stores register %r41 of each lane, and asks what it loads at `column`; with data, which lets a
// register be unknown only where nobody has written it.
OneKernel asks_of(const std::string& first, std::uint32_t column, const std::string& between = "") {
  OneKernel kernel;
  kernel.in = {3};
  kernel.control = false;
  kernel.body = std::string{kBegin} + first +
                "  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r21], {%r1, %r41};\n" + kWaitSt +
                between + "  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r42, %r43}, [%r21];\n" +
                kWaitLd + "  setp.eq.u32 %p9, %r" + std::to_string(42 + column) +
                ", 77;\n  @%p9 bra NEXT;\n  mov.u32 %r44, 1;\nNEXT:\n" + kEnd;
  return kernel;
}

// What nobody has written stays that in tensor memory, cell by cell.
TEST(PtxTmemCells, HoldWhatNobodyHasWritten) {
  EXPECT_EQ(proof_of(asks_of("", 0)).verdict, ProofVerdict::kProved);
  EXPECT_THROW(proof_of(asks_of("", 1)), ConfigError);
  EXPECT_EQ(proof_of(asks_of("  mov.u32 %r41, 5;\n", 1)).verdict, ProofVerdict::kProved);
  // Of half of the lanes.
  const std::string half = "  setp.lt.u32 %p3, %r1, 16;\n  @%p3 mov.u32 %r41, 5;\n";
  EXPECT_THROW(proof_of(asks_of(half, 1)), ConfigError);
  // Until somebody does.
  EXPECT_EQ(proof_of(asks_of("",
                             1,
                             "  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r21], {%r1, %r1};\n" +
                                 std::string{kWaitSt}))
                .verdict,
            ProofVerdict::kProved);
}

}  // namespace warptwin::sim::tmem_shapes_test
