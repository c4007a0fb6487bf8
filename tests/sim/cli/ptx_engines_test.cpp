/// A kernel in PTX on a GPU too: what is compared, and what is left out or refused.

#include "sim/cli/ptx_engines.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>

#include "sim/cli/command.hpp"

namespace warptwin::sim::ptx_engines_test {
namespace {

using testing::HasSubstr;

TensorSpec spec_of(ElementType element, std::uint32_t rows, std::uint32_t columns) {
  TensorSpec spec{};
  spec.name = "out";
  spec.use = TensorUse::kOutput;
  spec.element = element;
  spec.rows = rows;
  spec.columns = columns;
  spec.pitch_bytes = columns * bytes_of(element) / elements_in_unit(element);
  return spec;
}

std::vector<std::byte> bytes(const std::vector<float>& values) {
  std::vector<std::byte> all(values.size() * sizeof(float));
  std::memcpy(all.data(), values.data(), all.size());
  return all;
}

TEST(PtxEngines, MemoryIsComparedByItsBits) {
  const TensorSpec spec = spec_of(ElementType::kF32, 2, 2);
  const auto simulated = bytes({1, 2, 3, 4});
  const MemoryComparison same = compare_memory(spec, simulated, simulated, Rounding::kSame, {});
  EXPECT_TRUE(same.agrees());
  EXPECT_EQ(same.elements, 4U);
  const MemoryComparison other =
      compare_memory(spec, simulated, bytes({1, 2, 3, 4.0000005F}), Rounding::kSame, {});
  EXPECT_FALSE(other.agrees());
  EXPECT_EQ(other.different, 1U);
  EXPECT_EQ(other.row, 1U);
  EXPECT_EQ(other.column, 1U);
  EXPECT_THAT(other.simulated, HasSubstr("4 (0x40800000)"));
  EXPECT_FALSE(other.error);
}

TEST(PtxEngines, WhatRoundsOtherwiseMayBeOffByItsBound) {
  const TensorSpec spec = spec_of(ElementType::kF32, 1, 4);
  const auto simulated = bytes({1, 2, 3, 4});
  const auto near = bytes({1, 2, 3, 4.0000005F});
  const auto far = bytes({1, 2, 3, 4.5F});
  const auto agrees = [&](const std::vector<std::byte>& on_gpu,
                          Rounding rounding,
                          std::optional<Tolerance> tolerance = {}) {
    return compare_memory(spec, simulated, on_gpu, rounding, tolerance).agrees();
  };
  EXPECT_TRUE(agrees(near, Rounding::kOther));
  EXPECT_FALSE(agrees(near, Rounding::kSame));
  EXPECT_FALSE(agrees(far, Rounding::kOther));
  EXPECT_TRUE(agrees(far, Rounding::kOther, Tolerance{0.2, 0}));
  EXPECT_FALSE(agrees(far, Rounding::kSame, Tolerance{0.2, 0}));
  // 2^-9 of the largest.
  const auto short_sum = bytes({1, 2, 3.005F, 4});
  EXPECT_FALSE(agrees(short_sum, Rounding::kOther));
  EXPECT_TRUE(agrees(short_sum, Rounding::kFewerBits));
  EXPECT_FALSE(agrees(far, Rounding::kFewerBits));
}

// Each of the two is off by half a unit of the last place at most, so they are by one, and no more.
TEST(PtxEngines, TwoRunsThatRoundAreOffByAUnit) {
  TensorSpec spec = spec_of(ElementType::kBf16, 1, 1);
  const auto word = [](std::uint16_t bits) {
    std::vector<std::byte> all(sizeof bits);
    std::memcpy(all.data(), &bits, sizeof bits);
    return all;
  };
  const auto one = word(0x3F80);
  const MemoryComparison next = compare_memory(spec, one, word(0x3F81), Rounding::kOther, {});
  EXPECT_TRUE(next.agrees());
  EXPECT_EQ(next.different, 1U);
  EXPECT_FALSE(compare_memory(spec, one, word(0x3F82), Rounding::kOther, {}).agrees());
}

TEST(PtxEngines, WholeNumbersAndPairsAreNamedByTheirPlace) {
  const TensorSpec words = spec_of(ElementType::kI64, 1, 2);
  std::vector<std::byte> a(16);
  std::vector<std::byte> b(16);
  b[8] = std::byte{7};
  const MemoryComparison word = compare_memory(words, a, b, Rounding::kOther, {});
  EXPECT_FALSE(word.agrees());
  EXPECT_EQ(word.column, 1U);
  EXPECT_EQ(word.on_gpu, "0x0000000000000007");
  const TensorSpec pairs = spec_of(ElementType::kF4E2M1, 2, 4);
  std::vector<std::byte> c(4);
  std::vector<std::byte> d(4);
  d[3] = std::byte{0x10};
  const MemoryComparison pair = compare_memory(pairs, c, d, Rounding::kSame, {});
  EXPECT_EQ(pair.elements, 4U);
  EXPECT_EQ(pair.row, 1U);
  EXPECT_EQ(pair.column, 2U);
}

constexpr char kStores[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n"
    ".reqntid 32\n{\n  .reg .b32 %r<3>;\n  .reg .b64 %rd<4>;\n  ld.param.u64 %rd1, [out];\n"
    "  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd2, %r1, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  st.global.u32 [%rd3], %r1;\n  ret;\n}\n";

class PtxOn : public testing::Test {
 protected:
  PtxOn() { std::filesystem::create_directories(folder_); }
  ~PtxOn() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = at(name);
    std::ofstream{path} << text;
    return path;
  }
  int run(const std::string& launch, const std::vector<std::string>& options) {
    out_.str("");
    err_.str("");
    std::vector<std::string> words = {
        "ptx", "run", write("stores.ptx", kStores), "--launch", write("stores.json", launch)};
    words.insert(words.end(), options.begin(), options.end());
    return static_cast<int>(run_command(words, {}, out_, err_));
  }
  static std::string launch(const std::string& more) {
    return R"({"grid": 1, "block": 32, "parameters": [{"buffer": "out"}],
               "buffers": {"out": {"type": "u32", "shape": [1, 32], "use": "output")" +
           more + "}}}";
  }
  std::ostringstream out_;
  std::ostringstream err_;

 private:
  std::string folder_ = testing::TempDir() + "ptx_on" + std::to_string(getpid());
};

// With a Hopper GPU the memory is the same; without one, or with another, it is left out, once.
TEST_F(PtxOn, TheGpuIsComparedOrLeftOut) {
  EXPECT_EQ(run(launch(""), {"--on", "functional,hw"}), 0) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("functional: every warp reached its end"));
  const std::string said = out_.str();
  const bool left_out = said.find("hw: left out: ") != std::string::npos;
  EXPECT_NE(left_out, said.find("out: the same bits, 32 elements") != std::string::npos) << said;
  EXPECT_EQ(said.find("left out", said.find("left out") + 1), std::string::npos);
  EXPECT_EQ(run(launch(""), {"--on", "functional,hw", "--json"}), 0);
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["hw"], left_out ? "left out" : "done");
  EXPECT_EQ(json["exit"], 0);
}

TEST_F(PtxOn, WhatAGpuCannotBeGivenIsRefused) {
  EXPECT_EQ(run(launch(R"(, "address": 4294967296)"), {"--on", "functional,hw"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("gives buffer 'out' another address"));
  for (const char* on : {"hw", "functional", "functional,timed", "functional,timed,hw"}) {
    EXPECT_EQ(run(launch(""), {"--on", on}), 2) << on;
    EXPECT_THAT(err_.str(), HasSubstr("--on takes functional,hw for a kernel in PTX"));
  }
  EXPECT_EQ(run(launch(""), {"--on", "functional,hw", "--control-only"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--control-only and --on do not go together"));
}

}  // namespace
}  // namespace warptwin::sim::ptx_engines_test
