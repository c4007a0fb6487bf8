// wgmma.sp and mma.sp: where metadata is. B has a one in each column, so D is A with its zeros.
//
// Which bits of which lane tell of which chunk is what an H200 answered, asked bit by bit.

#include <bit>
#include <cstring>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"
#include "common/machine/element.hpp"
#include "common/machine/wgmma_descriptor.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::sparse_products_test {
namespace {

using testing::Contains;
using testing::IsEmpty;

struct Chunk {
  std::uint32_t row;
  std::uint32_t number;
};

/// An instruction, and what its metadata tells.
struct Form {
  const char* name;  // behind .aligned
  ElementType type;
  std::uint32_t k;
  std::uint32_t selector;
  const char* tail;  // behind the last operand but scale-d's

  std::uint32_t size() const { return bytes_of(type); }
  std::uint32_t chunk() const { return size() == 4 ? 2 : 4; }
  std::uint32_t kept() const { return chunk() / 2; }
  bool whole() const { return kind_of(type) == MmaKind::kI8; }

  /// What four bits of a lane's word tell of, among 16 rows of a warp.
  std::optional<Chunk> chunk_of(std::uint32_t lane, std::uint32_t bits) const {
    const bool half = k * size() == 32;
    if (size() == 1) {
      if (half) {
        return lane / 2 % 2 == selector ? std::optional{Chunk{lane / 4 + lane % 2 * 8, bits}}
                                        : std::nullopt;
      }
      return Chunk{lane / 4 + lane % 2 * 8, lane / 2 % 2 * 8 + bits};
    }
    const Chunk low{lane / 4 + bits / 4 * 8, half ? bits % 4 : lane % 2 * 4 + bits % 4};
    return (half ? lane % 4 : lane / 2 % 2) == selector ? std::optional{low} : std::nullopt;
  }
  /// The bits of a chunk of a warpgroup's 64 rows.
  std::uint32_t places(std::uint32_t row, std::uint32_t number) const {
    constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
    return kPairs[size() == 4 ? (row * 5 + number * 3) % 2 * 5 : (row * 5 + number * 7) % 6];
  }
  float packed(std::uint32_t row, std::uint32_t i) const {
    return static_cast<float>(1 + (row * 3 + i * 5) % 7);
  }
  /// A with its zeros.
  float dense(std::uint32_t row, std::uint32_t at) const {
    float sum = 0;
    for (std::uint32_t i = 0; i < kept(); ++i) {
      const std::uint32_t bits = places(row, at / chunk());
      const std::uint32_t place = size() == 4 ? (bits == 0b1110 ? 1 : 0) : bits >> (2 * i) & 3U;
      sum += place == at % chunk() ? packed(row, at / chunk() * kept() + i) : 0;
    }
    return sum;
  }
  std::uint32_t word(std::uint32_t warp, std::uint32_t lane) const {
    std::uint32_t word = 0xFFFFFFFF;  // where nobody reads it
    for (std::uint32_t bits = 0; bits < 8; ++bits) {
      if (const auto at = chunk_of(lane, bits)) {
        word &= ~(15U << 4 * bits);
        word |= places(16 * warp + at->row, at->number) << 4 * bits;
      }
    }
    return word;
  }
  float value(std::uint32_t bits) const {
    return whole() ? static_cast<float>(static_cast<std::int32_t>(bits))
                   : std::bit_cast<float>(bits);
  }
};
void PrintTo(const Form& form, std::ostream* out) {
  *out << form.name << form.selector;
}

using Put = std::function<void(std::uint32_t byte, float value)>;
// Writes elements of the form's type to the words from `first` on.
Put writer(std::vector<std::uint32_t>& words, const Form& form, std::uint32_t first) {
  return [&words, form, first](std::uint32_t byte, float value) {
    const std::uint32_t bits = encode(form.type, value);
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + 4 * first + byte, &bits, form.size());
  };
}

constexpr std::uint32_t kWordsOfA = 64 * 32 / 4;
constexpr std::uint32_t kWordsOfB = 64 * 64 / 4;

// Core matrices of eight rows by 16 bytes, one behind the other along K.
std::uint32_t core(std::uint32_t row, std::uint32_t byte, std::uint32_t across) {
  return (row / 8 * across + byte / 16) * 128 + row % 8 * 16 + byte % 16;
}

OneKernel warpgroup_kernel(const Form& form,
                           const std::string& before = "  wgmma.fence.sync.aligned;\n") {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.out_words = 128 * 32;
  kernel.control = false;
  kernel.in.resize(kWordsOfA + kWordsOfB + 128);
  const Put a = writer(kernel.in, form, 0);
  const Put b = writer(kernel.in, form, kWordsOfA);
  for (std::uint32_t row = 0; row < 64; ++row) {
    for (std::uint32_t i = 0; i < form.k / 2; ++i) {
      a(core(row, i * form.size(), 2), form.packed(row, i));
    }
    if (row < form.k) {
      b(core(row, row * form.size(), 4), 1);
    }
  }
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    kernel.in[kWordsOfA + kWordsOfB + thread] = form.word(thread / 32, thread % 32);
  }
  std::string& body = kernel.body;
  body =
      "  mov.u32 %r20, tile;\n  mad.lo.u32 %r22, %r1, 4, %r20;\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd1, %rd4;\n";
  for (std::uint32_t first = 0; first < kWordsOfA + kWordsOfB; first += 128) {
    const std::string at = std::to_string(4 * first);
    body += "  ld.global.u32 %r21, [%rd4+" + at + "];\n  st.shared.u32 [%r22+" + at + "], %r21;\n";
  }
  const auto descriptor = [](std::uint32_t at, std::uint32_t stride, const std::string& to) {
    const std::uint64_t fields = std::uint64_t{128 >> 4} << 16 | std::uint64_t{stride >> 4} << 32;
    return "  add.u32 %r23, %r20, " + std::to_string(at) + ";\n  shr.u32 %r23, %r23, 4;\n" +
           "  cvt.u64.u32 " + to + ", %r23;\n  or.b64 " + to + ", " + to + ", " +
           std::to_string(fields) + ";\n";
  };
  const std::string d = form.whole() ? "%r" : "%f";
  const std::uint32_t of_d = form.whole() ? 40 : 0;
  std::string registers;
  for (std::uint32_t i = 0; i < 32; ++i) {
    registers += (i == 0 ? "" : ", ") + d + std::to_string(of_d + i);
  }
  body += "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n" + descriptor(0, 256, "%rd20") +
          descriptor(4 * kWordsOfA, 512, "%rd21") + "  ld.global.u32 %r24, [%rd4+" +
          std::to_string(4 * (kWordsOfA + kWordsOfB)) + "];\n  setp.ne.u32 %p1, 0, 0;\n" + before +
          "  wgmma.mma_async.sp.sync.aligned." + form.name + " {" + registers +
          "}, %rd20, %rd21, %r24, " + std::to_string(form.selector) + ", %p1" + form.tail +
          ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
          "  mul.wide.u32 %rd10, %r1, 128;\n  add.u64 %rd11, %rd2, %rd10;\n";
  for (std::uint32_t i = 0; i < 32; ++i) {
    body += "  st.global.b32 [%rd11+" + std::to_string(4 * i) + "], " + d +
            std::to_string(of_d + i) + ";\n";
  }
  return kernel;
}

class PtxSparseWgmma : public testing::TestWithParam<Form> {};

TEST_P(PtxSparseWgmma, ElementsGoWhereMetadataSays) {
  const Form& form = GetParam();
  const OneKernel kernel = warpgroup_kernel(form);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    for (std::uint32_t i = 0; i < 32; ++i) {
      const WgmmaCell cell = WgmmaCell::of(thread % 32, i);
      const float expected =
          cell.column < form.k ? form.dense(thread / 32 * 16 + cell.row, cell.column) : 0;
      ASSERT_EQ(form.value(run.out[thread * 32 + i]), expected) << thread << ", " << i;
    }
  }
  expect_proved(kernel);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    PtxSparseWgmma,
    testing::Values(Form{"m64n64k32.f32.bf16.bf16", ElementType::kBf16, 32, 0, ", 1, 1, 0, 0"},
                    Form{"m64n64k32.f32.f16.f16", ElementType::kF16, 32, 1, ", 1, 1, 0, 0"},
                    Form{"m64n64k16.f32.tf32.tf32", ElementType::kTf32, 16, 0, ", 1, 1"},
                    Form{"m64n64k16.f32.tf32.tf32", ElementType::kTf32, 16, 1, ", 1, 1"},
                    Form{"m64n64k64.f32.e4m3.e4m3", ElementType::kF8E4M3, 64, 0, ", 1, 1"},
                    Form{"m64n64k64.s32.s8.s8", ElementType::kI8, 64, 0, ""}));

const Form kBf16Form{"m64n64k32.f32.bf16.bf16", ElementType::kBf16, 32, 0, ", 1, 1, 0, 0"};

TEST(PtxSparseWgmma, MetadataIsFencedLikeOtherRegisters) {
  OneKernel kernel = warpgroup_kernel(kBf16Form);
  const std::size_t load = kernel.body.find("  ld.global.u32 %r24");
  const std::string line = kernel.body.substr(load, kernel.body.find('\n', load) + 1 - load);
  kernel.body.insert(kernel.body.find("  wgmma.mma_async"), line);
  expect_found(kernel, "WGMMA_FENCE_MISSING");
}

TEST(PtxSparseWgmma, SelectorsThatDoNotExistAreRefused) {
  Form form = kBf16Form;
  form.selector = 2;
  EXPECT_THROW(proof_of(warpgroup_kernel(form)), ConfigError);
  EXPECT_THROW(proof_of(warpgroup_kernel({"m64n64k64.s32.s8.s8", ElementType::kI8, 64, 1, ""})),
               ConfigError);
}

TEST(PtxSparseWgmma, BothHalvesOfBAreRead) {
  OneKernel kernel = warpgroup_kernel(kBf16Form);
  // The last rows of B, whose second half alone is missing in no copy: what nobody wrote is found.
  const std::size_t last = kernel.body.rfind("  ld.global.u32 %r21");
  kernel.body.erase(last, kernel.body.find("  fence.proxy", last) - last);
  expect_found(kernel, "SMEM_UNINIT_READ");
}

class PtxSparseWarpMma : public testing::TestWithParam<Form> {};

// Each lane loads its registers; of B those of eight columns at a time.
TEST_P(PtxSparseWarpMma, ElementsGoWhereMetadataSays) {
  const Form& form = GetParam();
  const std::uint32_t per = 4 / form.size();
  const std::uint32_t half = form.k / 2;
  const std::uint32_t registers_a = half / (4 * per) * 2;
  const std::uint32_t registers_b = form.k / (4 * per);
  const std::uint32_t blocks = form.k / 8;
  OneKernel kernel;
  kernel.control = false;
  kernel.out_words = blocks * 32 * 4;
  kernel.in.resize(32 * (1 + registers_a + blocks * registers_b));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    kernel.in[lane] = form.word(0, lane);
    for (std::uint32_t i = 0; i < registers_a * per; ++i) {
      const std::uint32_t reg = i / per;
      const Put put = writer(kernel.in, form, 32 * (1 + reg) + lane);
      put(i % per * form.size(),
          form.packed(lane / 4 + reg % 2 * 8, reg / 2 * 4 * per + lane % 4 * per + i % per));
    }
    for (std::uint32_t i = 0; i < blocks * registers_b * per; ++i) {
      const std::uint32_t reg = i / per;
      const std::uint32_t k = reg % registers_b * 4 * per + lane % 4 * per + i % per;
      const std::uint32_t n = reg / registers_b * 8 + lane / 4;
      writer(kernel.in, form, 32 * (1 + registers_a + reg) + lane)(i % per * form.size(),
                                                                   k == n ? 1 : 0);
    }
  }
  const auto list = [](const std::string& name, std::uint32_t first, std::uint32_t count) {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) {
      text += (i == 0 ? "{" : ", ") + name + std::to_string(first + i);
    }
    return text + "}";
  };
  const std::string d = form.whole() ? "%r" : "%f";
  const std::uint32_t of_d = form.whole() ? 31 : 0;
  const std::string zero = form.whole() ? "  mov.u32 %r30, 0;\n" : "  mov.f32 %f30, 0f00000000;\n";
  const std::string c = "{" + d + "30, " + d + "30, " + d + "30, " + d + "30}";
  std::string& body = kernel.body;
  body = zero +
         "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd1, %rd4;\n"
         "  mul.wide.u32 %rd5, %r1, 16;\n  add.u64 %rd5, %rd2, %rd5;\n"
         "  ld.global.u32 %r20, [%rd4];\n";
  const auto loads = [&](std::uint32_t to, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      body += "  ld.global.u32 %r" + std::to_string(to + i) + ", [%rd4+" +
              std::to_string(128 * (first + i)) + "];\n";
    }
  };
  loads(21, 1, registers_a);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    loads(25, 1 + registers_a + block * registers_b, registers_b);
    body += std::string{"  mma.sp::ordered_metadata.sync.aligned."} + form.name + " " +
            list(d, of_d, 4) + ", " + list("%r", 21, registers_a) + ", " +
            list("%r", 25, registers_b) + ", " + c + ", %r20, " + std::to_string(form.selector) +
            ";\n";
    for (std::uint32_t i = 0; i < 4; ++i) {
      body += "  st.global.b32 [%rd5+" + std::to_string(512 * block + 4 * i) + "], " + d +
              std::to_string(of_d + i) + ";\n";
    }
  }
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t i = 0; i < kernel.out_words; ++i) {
    const std::uint32_t lane = i / 4 % 32;
    const std::uint32_t row = lane / 4 + i % 4 / 2 * 8;
    const std::uint32_t column = i / 128 * 8 + lane % 4 * 2 + i % 2;
    ASSERT_EQ(form.value(run.out[i]), form.dense(row, column)) << row << ", " << column;
  }
  expect_proved(kernel);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    PtxSparseWarpMma,
    testing::Values(Form{"m16n8k16.row.col.f32.f16.f16.f32", ElementType::kF16, 16, 0, ""},
                    Form{"m16n8k16.row.col.f32.bf16.bf16.f32", ElementType::kBf16, 16, 3, ""},
                    Form{"m16n8k32.row.col.f32.f16.f16.f32", ElementType::kF16, 32, 0, ""},
                    Form{"m16n8k32.row.col.f32.bf16.bf16.f32", ElementType::kBf16, 32, 1, ""},
                    Form{"m16n8k8.row.col.f32.tf32.tf32.f32", ElementType::kTf32, 8, 2, ""},
                    Form{"m16n8k16.row.col.f32.tf32.tf32.f32", ElementType::kTf32, 16, 1, ""},
                    Form{"m16n8k32.row.col.s32.s8.s8.s32", ElementType::kI8, 32, 0, ""},
                    Form{"m16n8k32.row.col.s32.s8.s8.s32", ElementType::kI8, 32, 1, ""},
                    Form{"m16n8k64.row.col.s32.s8.s8.s32", ElementType::kI8, 64, 0, ""},
                    Form{"m16n8k64.row.col.f32.e4m3.e4m3.f32", ElementType::kF8E4M3, 64, 0, ""}));

// What depends on metadata that is not known is not known.
TEST(PtxSparseWarpMma, UnknownMetadataMakesUnknownData) {
  OneKernel kernel;
  kernel.control = false;
  kernel.in.assign(32, 0x44444444U);
  kernel.body =
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd1, %rd4;\n  ld.global.u32 %r20, [%rd4];\n"
      "  mov.u32 %r21, 0x3c003c00;\n  mov.f32 %f30, 0f00000000;\n"
      "  mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%f0, %f1, %f2, %f3}, {%r21, %r21}, {%r21, %r21}, {%f30, %f30, %f30, %f30}, %r20, 0;\n"
      "  setp.eq.f32 %p1, %f0, 0f00000000;\n  @%p1 bra END;\n  bar.warp.sync -1;\nEND:\n";
  EXPECT_TRUE(proof_of(kernel).data_decides);
}

}  // namespace
}  // namespace warptwin::sim::sparse_products_test
