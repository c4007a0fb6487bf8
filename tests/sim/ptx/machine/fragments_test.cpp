// Matrices in the registers of a warp: ldmatrix, stmatrix, movmatrix and mma.sync against what the
// PTX ISA says of their fragments, element by element.

#include <bit>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/ptx/lanes/format.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::fragments_test {

using ptx::Format;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kAll = 32;

// `count` registers of each lane from `in`, and to `out`: those of a lane side by side.
std::string loads(const std::string& name, std::uint32_t count, std::uint32_t first_word) {
  std::string text = "  mad.lo.u32 %r90, %r1, " + std::to_string(count * 4) + ", " +
                     std::to_string(first_word * 4) +
                     ";\n  cvt.u64.u32 %rd10, %r90;\n  add.u64 %rd11, %rd1, %rd10;\n";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += "  ld.global.u32 " + name + std::to_string(i) + ", [%rd11+" + std::to_string(4 * i) +
            "];\n";
  }
  return text;
}
std::string stores(const std::string& name, std::uint32_t count) {
  std::string text = "  mul.lo.u32 %r90, %r1, " + std::to_string(count * 4) +
                     ";\n  cvt.u64.u32 %rd10, %r90;\n  add.u64 %rd11, %rd2, %rd10;\n";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += "  st.global.u32 [%rd11+" + std::to_string(4 * i) + "], " + name + std::to_string(i) +
            ";\n";
  }
  return text;
}
// %r2 to %r5 in braces, as many as there are.
std::string list(const std::string& name, std::uint32_t count) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + name + std::to_string(i);
  }
  return text + "}";
}

// 16-bit element of row r and column c of matrix i, told apart from all others.
std::uint32_t cell(std::uint32_t matrix, std::uint32_t row, std::uint32_t column) {
  return 0x1000 * (matrix + 1) + 0x10 * row + column;
}

struct Move {
  std::uint32_t matrices;
  bool transposed;
};
void PrintTo(const Move& move, std::ostream* out) {
  *out << "x" << move.matrices << (move.transposed ? ".trans" : "");
}
std::string suffix(const Move& move) {
  return std::string{move.transposed ? ".trans" : ""} + ".shared.b16";
}
std::string name_of_move(const testing::TestParamInfo<Move>& info) {
  return "X" + std::to_string(info.param.matrices) + (info.param.transposed ? "Trans" : "");
}

class PtxMatrices : public testing::TestWithParam<Move> {};

// Each lane stores 16 bytes of a row, and the warp loads matrices of them: rows 48 bytes apart.
OneKernel loading(const Move& move, const std::string& meet = "  bar.warp.sync 0xffffffff;\n") {
  OneKernel kernel;
  for (std::uint32_t lane = 0; lane < kAll; ++lane) {
    for (std::uint32_t column = 0; column < 8; column += 2) {
      kernel.in.push_back(cell(lane / 8, lane % 8, column) | cell(lane / 8, lane % 8, column + 1)
                                                                 << 16);
    }
  }
  const std::string x = "x" + std::to_string(move.matrices);
  kernel.body = loads("%r1", 4, 0) +
                "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 48, %r20;\n"
                "  st.shared.v4.u32 [%r20], {%r10, %r11, %r12, %r13};\n" +
                meet + "  ldmatrix.sync.aligned.m8n8." + x + suffix(move) + " " +
                list("%r3", move.matrices) + ", [%r20];\n" + stores("%r3", move.matrices);
  return kernel;
}

TEST_P(PtxMatrices, AreLoaded) {
  const Move move = GetParam();
  const OneKernel kernel = loading(move);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t lane = 0; lane < kAll; ++lane) {
    for (std::uint32_t i = 0; i < move.matrices; ++i) {
      for (std::uint32_t half = 0; half < 2; ++half) {
        // Thread 4 r + c has elements 2 c and 2 c + 1 of row r; transposed, of column r.
        const std::uint32_t one = lane / 4;
        const std::uint32_t other = lane % 4 * 2 + half;
        EXPECT_EQ(run.out[lane * move.matrices + i] >> (16 * half) & 0xFFFF,
                  move.transposed ? cell(i, other, one) : cell(i, one, other))
            << "lane " << lane << " register " << i;
      }
    }
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

TEST_P(PtxMatrices, AreStored) {
  const Move move = GetParam();
  OneKernel kernel;
  for (std::uint32_t lane = 0; lane < kAll; ++lane) {
    for (std::uint32_t i = 0; i < move.matrices; ++i) {
      const std::uint32_t one = lane / 4;
      const std::uint32_t other = lane % 4 * 2;
      kernel.in.push_back(move.transposed ? cell(i, other, one) | cell(i, other + 1, one) << 16
                                          : cell(i, one, other) | cell(i, one, other + 1) << 16);
    }
  }
  // Every lane reads back the row whose address it gave; lanes without one a zero.
  const std::string zero = "  mov.u32 %r3$, 0;\n";
  kernel.body = loads("%r1", move.matrices, 0) +
                "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 48, %r20;\n"
                "  stmatrix.sync.aligned.m8n8.x" +
                std::to_string(move.matrices) + suffix(move) + " [%r20], " +
                list("%r1", move.matrices) + ";\n  bar.warp.sync 0xffffffff;\n" +
                repeated(zero, 4) + "  setp.lt.u32 %p1, %r1, " + std::to_string(8 * move.matrices) +
                ";\n  @%p1 ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r20];\n" + stores("%r3", 4);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t row = 0; row < 8 * move.matrices; ++row) {
    for (std::uint32_t column = 0; column < 8; ++column) {
      EXPECT_EQ(run.out[row * 4 + column / 2] >> (column % 2 * 16) & 0xFFFF,
                cell(row / 8, row % 8, column));
    }
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

INSTANTIATE_TEST_SUITE_P(Each,
                         PtxMatrices,
                         testing::Values(Move{1, false},
                                         Move{2, false},
                                         Move{4, false},
                                         Move{1, true},
                                         Move{2, true},
                                         Move{4, true}),
                         name_of_move);

TEST(PtxFragments, MovmatrixTransposes) {
  OneKernel kernel;
  for (std::uint32_t lane = 0; lane < kAll; ++lane) {
    const std::uint32_t column = lane % 4 * 2;
    kernel.in.push_back(cell(0, lane / 4, column) | cell(0, lane / 4, column + 1) << 16);
  }
  kernel.body = loads("%r1", 1, 0) + "  movmatrix.sync.aligned.m8n8.trans.b16 %r30, %r10;\n" +
                stores("%r3", 1);
  const OneRun run = run_of(kernel);
  for (std::uint32_t lane = 0; lane < kAll; ++lane) {
    const std::uint32_t row = lane % 4 * 2;
    EXPECT_EQ(run.out[lane], cell(0, row, lane / 4) | cell(0, row + 1, lane / 4) << 16);
  }
}

// Two warps: the second loads what the first stores, with and without a barrier between them.
OneKernel of_two_warps(const std::string& between) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  mov.u32 %r20, tile;\n  and.b32 %r21, %r1, 31;\n  mad.lo.u32 %r20, %r21, 16, %r20;\n"
      "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra LOADS;\n"
      "  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r20], {%r1, %r1, %r1, %r1};\n"
      "LOADS:\n" +
      between +
      "  @!%p1 bra DONE;\n"
      "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r20];\n"
      "DONE:\n";
  return kernel;
}

TEST(PtxFragments, MatricesOfAnotherWarpNeedABarrier) {
  EXPECT_EQ(proof_of(of_two_warps("  bar.sync 0;\n")).verdict, ProofVerdict::kProved);
  const ProofResult raced = proof_of(of_two_warps(""));
  EXPECT_NE(raced.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(raced), Contains("SMEM_RACE"));
}

TEST(PtxFragments, RowsThatAreNotAlignedOrNotThereAreFound) {
  for (const char* added : {"8", "16384"}) {
    OneKernel kernel;
    kernel.body = "  mov.u32 %r20, tile;\n  add.u32 %r20, %r20, " + std::string{added} +
                  ";\n  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r20];\n";
    EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved) << added;
    EXPECT_THAT(ids_in(proof_of(kernel)), testing::Not(IsEmpty())) << added;
  }
}

TEST(PtxFragments, AWarpThatIsNotWholeIsRefused) {
  OneKernel kernel;
  kernel.threads = 16;
  kernel.body = "  movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\n";
  EXPECT_THROW(proof_of(kernel), ConfigError);
  kernel.threads = 32;
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

/// One mma: its types, how its elements are kept, and where the PTX ISA says each of them is.
struct Product {
  const char* name;
  const char* instruction;  // behind mma.sync.aligned
  std::uint32_t m;
  std::uint32_t k;
  std::uint32_t bits;  // of an element of A and B
  const char* a;       // how it is kept
  const char* b;
  const char* d;  // f32, f16, s32, f64
};
void PrintTo(const Product& product, std::ostream* out) {
  *out << product.name;
}

struct Place2 {
  std::uint32_t row;
  std::uint32_t column;
};

// "Matrix Fragments for mma.m16n8kN": element i of thread `lane`.
Place2 place_in_a(const Product& mma, std::uint32_t lane, std::uint32_t i) {
  const std::uint32_t e = mma.bits == 64 ? 1 : 32 / mma.bits;
  const std::uint32_t group = lane >> 2;
  const std::uint32_t thread = lane % 4;
  if (mma.m == 8) {
    return {group, thread * e + i};
  }
  const bool low_row =
      i < e || (2 * e <= i && i < 3 * e) || (4 * e <= i && i < 5 * e) || (6 * e <= i && i < 7 * e);
  return {low_row ? group : group + 8, thread * e + i % e + i / (2 * e) * (4 * e)};
}
Place2 place_in_b(const Product& mma, std::uint32_t lane, std::uint32_t i) {
  const std::uint32_t e = mma.bits == 64 ? 1 : 32 / mma.bits;
  return {lane % 4 * e + i % e + i / e * (4 * e), lane >> 2};
}
Place2 place_in_c(std::uint32_t lane, std::uint32_t i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

// The bits of a small number as an element of this type.
std::uint64_t bits_of(double value, const std::string& type) {
  const auto of = [&](const Format& format) {
    return ptx::encode_float(value, format, ptx::Rounding::kNearest, false);
  };
  if (type == "f64") {
    return std::bit_cast<std::uint64_t>(value);
  }
  if (type == "f32" || type == "tf32") {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (type == "f16" || type == "bf16") {
    return of(type == "f16" ? ptx::kF16 : ptx::kBf16);
  }
  if (type == "e4m3" || type == "e5m2") {
    return of(type == "e4m3" ? ptx::kE4m3 : ptx::kE5m2);
  }
  const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return type == "s32" ? whole & 0xFFFFFFFFU : whole & (type[1] == '8' ? 0xFFU : 0xFU);
}

using Matrix = std::vector<std::vector<double>>;

Matrix drawn(std::uint32_t rows, std::uint32_t columns, bool negative, std::uint32_t seed) {
  std::mt19937 random{seed};
  Matrix matrix(rows, std::vector<double>(columns));
  for (auto& row : matrix) {
    for (double& value : row) {
      value = static_cast<double>(random() % 8) - (negative ? 4 : 0);
    }
  }
  return matrix;
}

// Registers of all lanes: those of a lane side by side, 64 bits as two words.
std::vector<std::uint32_t> fragment(const Matrix& matrix,
                                    const std::string& type,
                                    std::uint32_t bits,
                                    std::uint32_t elements,
                                    const std::function<Place2(std::uint32_t, std::uint32_t)>& at) {
  const std::uint32_t words = elements * bits / 32;
  std::vector<std::uint32_t> registers(std::size_t{kAll} * words);
  for (std::uint32_t lane = 0; lane < kAll; ++lane) {
    for (std::uint32_t i = 0; i < elements; ++i) {
      const Place2 place = at(lane, i);
      const std::uint64_t code = bits_of(matrix[place.row][place.column], type);
      registers[lane * words + i * bits / 32] |= static_cast<std::uint32_t>(code)
                                                 << (i * bits % 32);
      if (bits == 64) {
        registers[lane * words + 2 * i + 1] = static_cast<std::uint32_t>(code >> 32);
      }
    }
  }
  return registers;
}

std::string pairs(const std::string& from, const std::string& to, std::uint32_t words) {
  std::string text;
  for (std::uint32_t i = 0; i < words; i += 2) {
    text += "  mov.b64 " + to + std::to_string(i / 2) + ", {" + from + std::to_string(i) + ", " +
            from + std::to_string(i + 1) + "};\n";
  }
  return text;
}

class PtxMma : public testing::TestWithParam<Product> {};

TEST_P(PtxMma, MultipliesFragments) {
  const Product& mma = GetParam();
  const std::string d = mma.d;
  const bool negative = mma.a[0] != 'u' && mma.b[0] != 'u';
  const Matrix a = drawn(mma.m, mma.k, negative, 1);
  const Matrix b = drawn(mma.k, 8, negative, 2);
  const Matrix c = drawn(mma.m, 8, true, 3);
  const std::uint32_t d_bits = d == "f16" ? 16 : d == "f64" ? 64 : 32;
  const auto a_words = fragment(a, mma.a, mma.bits, mma.m * mma.k / 32, [&](auto lane, auto i) {
    return place_in_a(mma, lane, i);
  });
  const auto b_words = fragment(
      b, mma.b, mma.bits, mma.k / 4, [&](auto lane, auto i) { return place_in_b(mma, lane, i); });
  const auto c_words = fragment(c, d, d_bits, mma.m / 4, place_in_c);
  Matrix product = c;
  for (std::uint32_t row = 0; row < mma.m; ++row) {
    for (std::uint32_t column = 0; column < 8; ++column) {
      for (std::uint32_t at = 0; at < mma.k; ++at) {
        product[row][column] += a[row][at] * b[at][column];
      }
    }
  }
  OneKernel kernel;
  kernel.in = a_words;
  kernel.in.insert(kernel.in.end(), b_words.begin(), b_words.end());
  kernel.in.insert(kernel.in.end(), c_words.begin(), c_words.end());
  const auto na = static_cast<std::uint32_t>(a_words.size()) / kAll;
  const auto nb = static_cast<std::uint32_t>(b_words.size()) / kAll;
  const auto nc = static_cast<std::uint32_t>(c_words.size()) / kAll;
  kernel.body =
      loads("%r1", na, 0) + loads("%r3", nb, na * kAll) + loads("%r4", nc, (na + nb) * kAll);
  const std::string mnemonic = std::string{"  mma.sync.aligned."} + mma.instruction + " ";
  if (d == "f64") {
    kernel.body += pairs("%r1", "%fd", na) + pairs("%r3", "%fd1", nb) + pairs("%r4", "%fd2", nc) +
                   mnemonic + list("%fd3", nc / 2) + ", " + list("%fd", na / 2) + ", " +
                   list("%fd1", nb / 2) + ", " + list("%fd2", nc / 2) + ";\n";
    for (std::uint32_t i = 0; i < nc; i += 2) {
      kernel.body += "  mov.b64 {%r6" + std::to_string(i) + ", %r6" + std::to_string(i + 1) +
                     "}, %fd3" + std::to_string(i / 2) + ";\n";
    }
  } else {
    kernel.body += mnemonic + list("%r6", nc) + ", " + list("%r1", na) + ", " + list("%r3", nb) +
                   ", " + list("%r4", nc) + ";\n";
  }
  kernel.body += stores("%r6", nc);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  const auto expected = fragment(product, d, d_bits, mma.m / 4, place_in_c);
  EXPECT_EQ(std::vector<std::uint32_t>(run.out.begin(), run.out.begin() + nc * kAll), expected);
  kernel.control = false;
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxMma,
    testing::Values(
        Product{"F16K8", "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 16, "f16", "f16", "f32"},
        Product{"F16K16", "m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, "f16", "f16", "f32"},
        Product{"F16ToF16K8", "m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 16, "f16", "f16", "f16"},
        Product{"F16ToF16K16", "m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16, "f16", "f16", "f16"},
        Product{"Bf16K8", "m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 16, "bf16", "bf16", "f32"},
        Product{"Bf16K16", "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 16, "bf16", "bf16", "f32"},
        Product{"Tf32K4", "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 32, "tf32", "tf32", "f32"},
        Product{"Tf32K8", "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32, "tf32", "tf32", "f32"},
        Product{"E4m3K32", "m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, 8, "e4m3", "e4m3", "f32"},
        Product{"E5m2K32", "m16n8k32.row.col.f32.e5m2.e4m3.f32", 16, 32, 8, "e5m2", "e4m3", "f32"},
        Product{
            "E4m3ToF16", "m16n8k16.row.col.f16.e4m3.e5m2.f16", 16, 16, 8, "e4m3", "e5m2", "f16"},
        Product{"S8K16", "m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, "s8", "s8", "s32"},
        Product{"S8K32", "m16n8k32.row.col.s32.s8.s8.s32", 16, 32, 8, "s8", "s8", "s32"},
        Product{"U8K32", "m16n8k32.row.col.satfinite.s32.u8.s8.s32", 16, 32, 8, "u8", "s8", "s32"},
        Product{"S8M8", "m8n8k16.row.col.s32.s8.u8.s32", 8, 16, 8, "s8", "u8", "s32"},
        Product{"S4K64", "m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 4, "s4", "s4", "s32"},
        Product{"U4K32", "m16n8k32.row.col.s32.u4.u4.s32", 16, 32, 4, "u4", "u4", "s32"},
        Product{"F64M8", "m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 64, "f64", "f64", "f64"},
        Product{"F64K4", "m16n8k4.row.col.f64.f64.f64.f64", 16, 4, 64, "f64", "f64", "f64"}),
    [](const auto& each) { return std::string{each.param.name}; });

// What is unknown in A makes its row of D unknown, and no other.
TEST(PtxFragments, UnknownElementsMakeTheirSumsUnknown) {
  const auto branching_on = [](const std::string& element) {
    OneKernel kernel;
    kernel.body =
        "  mov.u32 %r10, %r50;\n"
        "  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
        "{%r10, %r11}, {%r11}, {%f4, %f4, %f4, %f4};\n"
        "  setp.gt.f32 %p2, " +
        element + ", 0f00000000;\n  @%p2 bra OVER;\n  mov.u32 %r1, 0;\nOVER:\n";
    kernel.body = "  mov.u32 %r11, 0;\n  mov.f32 %f4, 0f00000000;\n" + kernel.body;
    return kernel;
  };
  EXPECT_THROW(proof_of(branching_on("%f0")), ConfigError);
  EXPECT_EQ(proof_of(branching_on("%f2")).verdict, ProofVerdict::kProved);
}

TEST(PtxFragments, ShapesAndTypesThatAreNotThereAreRefused) {
  for (const char* instruction :
       {"m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1}, {%r1}, {%r1}, {%f4, %f4}",
        "m16n8k16.row.col.f32.f16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, "
        "{%f4, %f4, %f4, %f4}",
        "m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1}, {%r1, %r1}, "
        "{%f4, %f4, %f4, %f4}",
        "m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, "
        "{%f4, %f4, %f4, %f4}"}) {
    OneKernel kernel;
    kernel.body = "  mma.sync.aligned." + std::string{instruction} + ";\n";
    EXPECT_THROW(proof_of(kernel), ConfigError) << instruction;
  }
}

// It was judged as if it were K-major.

}  // namespace warptwin::sim::fragments_test
