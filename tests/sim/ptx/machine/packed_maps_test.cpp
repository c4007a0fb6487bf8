// Tensor maps of elements of four and six bits: which bytes copies bring where, what is counted,
// what padding is, and what the manual does not allow.

#include <cstring>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/ptx/machine/tensor_map.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::packed_maps_test {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kRowWords = 48;  // 192 bytes: 384 elements of four bits, 256 of six
constexpr std::uint32_t kRows = 6;
constexpr std::uint32_t kBoxRows = 4;

/// A packing; what a copy of 128 elements brings of each 16 of them.
struct Packed {
  Packing packing = Packing::k16U4Align16B;
  std::uint32_t data = 8;    // bytes
  std::uint32_t pitch = 16;  // from one to the next in shared memory

  std::uint32_t box_bytes() const { return kBoxRows * 8 * pitch; }
};
constexpr Packed kFour{Packing::k16U4Align16B, 8, 16};
constexpr Packed kSix{Packing::k16U6Align16B, 12, 16};
constexpr Packed kDense{Packing::k16U4Align8B, 8, 8};

/// What is copied, and how; and then read.
struct Copied {
  std::int32_t x = 128;
  std::int32_t y = 4;
  std::uint32_t expected = 0;  // bytes; 0: those that come
  Swizzle swizzle = Swizzle::kNone;
  std::uint32_t columns = 128;  // of the box
  std::uint32_t row_words = kRowWords;
  std::string before{};    // the copy is issued, by lane 0
  std::string behind{};    // it is, by lane 0
  std::string landed{};    // each lane, which reads 16 elements, has waited
  std::uint32_t read = 0;  // bytes of each 16 elements; 0: what they have
  bool of_rows = false;    // four rows, the last one first
};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

OneKernel loading(const Packed& packed, const Copied& copied = {}) {
  OneKernel kernel;
  kernel.in.resize(std::size_t{copied.row_words} * kRows);
  for (std::uint32_t i = 0; i < kernel.in.size(); ++i) {
    kernel.in[i] = i * 0x9E3779B9U;
  }
  kernel.columns = copied.row_words;
  kernel.out_words = kRowWords * 3;
  TensorMapSpec map;
  map.box_rows = copied.of_rows ? 1 : kBoxRows;
  map.box_columns = copied.columns;
  map.packing = packed.packing;
  map.swizzle = copied.swizzle;
  kernel.maps = {map};
  const std::uint32_t expected = copied.expected != 0 ? copied.expected : packed.box_bytes();
  const std::string places = copied.of_rows ? number(copied.x) + ", 3, 2, 1, 0"
                                            : number(copied.x) + ", " + number(copied.y);
  const std::string mode = copied.of_rows ? ".tile::gather4" : ".tile";
  const std::string swizzled = copied.swizzle == Swizzle::k128B
                                   ? "  shr.u32 %r4, %r1, 3;\n  xor.b32 %r3, %r1, %r4;\n"
                                   : "  mov.u32 %r3, %r1;\n";
  kernel.body =
      "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n" + swizzled +
      "  mad.lo.u32 %r21, %r3, " + number(packed.pitch) +
      ", %r20;\n"
      "  mul.wide.u32 %rd4, %r1, 16;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n"
      "  mbarrier.init.shared.b64 [%r30], 1;\n" +
      copied.before + "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r30], " + number(expected) +
      ";\n  cp.async.bulk.tensor.2d.shared::cta.global" + mode +
      ".mbarrier::complete_tx::bytes [%r20], [%rd20, {" + places + "}], [%r30];\n" + copied.behind +
      "MEET:\n  bar.warp.sync -1;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n" +
      copied.landed;
  const std::uint32_t read = copied.read != 0 ? copied.read : packed.data;
  kernel.body += read == 16 ? "  ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r21];\n"
                            : "  ld.shared.v2.u32 {%r5, %r6}, [%r21];\n  mov.u32 %r7, 0;\n";
  kernel.body += read == 12 ? "  ld.shared.u32 %r7, [%r21+8];\n" : "";
  kernel.body +=
      "  st.global.v2.u32 [%rd5], {%r5, %r6};\n  st.global.u32 [%rd5+8], %r7;\n"
      "  st.global.u32 [%rd5+12], 0;\n";
  return kernel;
}

// The words that lane `lane` finds, of 16 elements.
void expect_right(const Packed& packed, const Copied& copied) {
  const OneKernel kernel = loading(packed, copied);
  const OneRun run = run_of(kernel);
  ASSERT_THAT(ids_in(run.result), IsEmpty()) << kernel.body;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::int32_t row = copied.of_rows ? 3 - static_cast<std::int32_t>(lane / 8)
                                            : copied.y + static_cast<std::int32_t>(lane / 8);
    const std::int32_t element = copied.x + static_cast<std::int32_t>(lane % 8) * 16;
    const std::int32_t first = element / 16 * static_cast<std::int32_t>(packed.data) / 4;
    const bool inside = row >= 0 && row < static_cast<std::int32_t>(kRows) && first >= 0 &&
                        first < static_cast<std::int32_t>(kRowWords);
    for (std::uint32_t word = 0; word < packed.data / 4; ++word) {
      const auto at = static_cast<std::size_t>(row * static_cast<std::int32_t>(kRowWords) + first);
      ASSERT_EQ(run.out[lane * 4 + word], inside ? kernel.in[at + word] : 0)
          << "lane " << lane << " word " << word;
    }
  }
  expect_proved(kernel);
}

TEST(PtxPackedMaps, BringSixteenElementsAndTheirPadding) {
  for (const Packed& packed : {kFour, kSix, kDense}) {
    for (const std::int32_t y : {0, 4, -1}) {
      expect_right(packed, {.y = y});
    }
    expect_right(packed, {.x = -128});
    expect_right(packed, {.x = packed.packing == Packing::k16U6Align16B ? 256 : 384});
    expect_right(packed, {.x = 0, .of_rows = true});
  }
  expect_right(kFour, {.swizzle = Swizzle::k128B});
  expect_right(kSix, {.swizzle = Swizzle::k128B});
  expect_right(kDense, {.x = 32});  // a row begins at a multiple of 16 bytes
}

TEST(PtxPackedMaps, CountTheirPadding) {
  for (const Packed& packed : {kFour, kSix}) {
    expect_found(loading(packed, {.expected = kBoxRows * 8 * packed.data}), "MBAR_TX_MISMATCH");
  }
  expect_found(loading(kDense, {.expected = 2 * kDense.box_bytes()}), "MBAR_TX_MISMATCH");
}

TEST(PtxPackedMaps, BeginWhereTheyMay) {
  for (const std::int32_t x : {64, 32, 16, -64, 1}) {
    expect_found(loading(kFour, {.x = x}), "TMA_COORD");
    expect_found(loading(kSix, {.x = x}), "TMA_COORD");
  }
  for (const std::int32_t x : {16, 8, 1, -2}) {
    expect_found(loading(kDense, {.x = x}), "TMA_COORD");
  }
}

// No launch file has such a map, and no driver makes it; a kernel that changes one may.
TEST(PtxPackedMaps, AreMapsThatADriverMakes) {
  expect_found(loading(kFour, {.columns = 64}), "TMA_COORD");
  expect_found(loading(kFour, {.swizzle = Swizzle::k64B}), "TMA_COORD");
  expect_found(loading(kFour, {.row_words = 40}), "TMA_COORD");  // 320 elements
  expect_found(loading(kSix, {.x = 0, .row_words = 28}), "TMA_COORD");
  expect_found(loading(kDense, {.columns = 48}), "TMA_COORD");
}

// Which bytes padding has behind the copy, nobody says.
TEST(PtxPackedMaps, HavePaddingThatHoldsNothing) {
  const std::string zeros = "  st.shared.v4.u32 [%r20], {0, 0, 0, 0};\n  fence.proxy.async;\n";
  for (const Packed& packed : {kFour, kSix}) {
    const std::string offset = number(packed.data);
    expect_found(loading(packed, {.read = 16}), "SMEM_UNINIT_READ");
    // Nor does it keep what was there.
    const std::string only = "  mov.u32 %r21, %r20;\n";
    expect_found(loading(packed, {.before = zeros, .landed = only, .read = 16}),
                 "SMEM_UNINIT_READ");
    // A copy may write it: a store has to wait, and then it holds what was stored.
    const std::string to_first = "  st.shared.u32 [%r20+" + offset + "], 7;\n";
    expect_found(loading(packed, {.behind = to_first}), "SMEM_WAW_ASYNC");
    const std::string words = packed.data == 8 ? "  st.shared.v2.u32 [%r21+8], {1, 2};\n"
                                               : "  st.shared.u32 [%r21+12], 1;\n";
    expect_proved(loading(packed, {.landed = words, .read = 16}));
  }
}

struct Stored {
  std::string instruction = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
  std::int32_t x = 128;
};

// Each lane writes 16 bytes of a box, which is stored.
OneKernel storing(const Packed& packed, const Stored& stored = {}) {
  OneKernel kernel;
  kernel.in.resize(kRowWords);
  kernel.columns = kRowWords;
  kernel.out_words = kRowWords * kRows;
  TensorMapSpec map;
  map.tensor = 1;
  map.box_rows = kBoxRows;
  map.box_columns = 128;
  map.packing = packed.packing;
  kernel.maps = {map};
  kernel.body =
      "  mov.u32 %r20, tile;\n  mad.lo.u32 %r21, %r1, 16, %r20;\n"
      "  mul.lo.u32 %r5, %r1, 0x9E3779B9;\n  xor.b32 %r6, %r5, 0x5A5A1234;\n"
      "  not.b32 %r7, %r5;\n  not.b32 %r8, %r6;\n"
      "  st.shared.v4.u32 [%r21], {%r5, %r6, %r7, %r8};\n"
      "  fence.proxy.async;\n  bar.warp.sync -1;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra DONE;\n "
      " " +
      stored.instruction + " [%rd20, {" + number(stored.x) +
      ", 1}], [%r20];\n  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nDONE:\n";
  return kernel;
}

std::uint32_t stored_byte(std::uint32_t at) {
  const std::uint32_t first = at / 16 * 0x9E3779B9U;
  const std::uint32_t words[] = {first, first ^ 0x5A5A1234U, ~first, ~(first ^ 0x5A5A1234U)};
  return words[at / 4 % 4] >> (8 * (at % 4)) & 0xFFU;
}

// Of six bits the lower ones of each byte are stored, side by side.
TEST(PtxPackedMaps, StoreElementsWithoutTheirPadding) {
  for (const Packed& packed : {kSix, kDense}) {
    const OneKernel kernel = storing(packed);
    const OneRun run = run_of(kernel);
    ASSERT_THAT(ids_in(run.result), IsEmpty());
    const std::uint32_t bits = packed.data / 2;
    for (std::uint32_t row = 0; row < kBoxRows; ++row) {
      for (std::uint32_t element = 0; element < 128; ++element) {
        std::uint32_t code = 0;
        for (std::uint32_t bit = 0; bit < bits; ++bit) {
          const std::uint32_t at = (128 + element) * bits + bit;
          const std::uint32_t word = run.out[(row + 1) * kRowWords + at / 32];
          code |= (word >> at % 32 & 1U) << bit;
        }
        const std::uint32_t from = row * 8 * packed.pitch;
        const std::uint32_t expected =
            bits == 6 ? stored_byte(from + element) & 0x3FU
                      : stored_byte(from + element / 2) >> (4 * (element % 2)) & 0xFU;
        ASSERT_EQ(code, expected) << bits << " bits, row " << row << " element " << element;
      }
    }
    EXPECT_EQ(run.out[0], 0U);
    expect_proved(kernel);
  }
}

TEST(PtxPackedMaps, AreNotStoredOrReducedWhereTheManualSaysSo) {
  expect_found(storing(kFour), "TMA_COORD");
  expect_found(storing(kSix, {.x = 64}), "TMA_COORD");
  const Stored reduced{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"};
  for (const Packed& packed : {kFour, kSix, kDense}) {
    EXPECT_THROW(proof_of(storing(packed, reduced)), ConfigError);
  }
}

// A map of bytes in memory becomes one of elements of four bits.
OneKernel changing(const std::string& box) {
  constexpr std::uint32_t kFirst = 1024;  // bytes of `in` before what the map is over
  OneKernel kernel = loading(kFour, {.x = 0, .y = 0});
  kernel.maps.clear();
  kernel.columns = 0;
  kernel.in.assign(1024, 0);
  std::iota(kernel.in.begin(), kernel.in.end(), 0);
  TensorMapState map;
  map.type = TensorType::kU8;
  map.address = (1U << 20) + kFirst;
  map.element_bytes = 1;
  map.stride_bytes[0] = 1;
  map.stride_bytes[1] = 192;
  map.extent[0] = 192;
  map.box[0] = 64;
  map.extent[1] = kRows;
  map.box[1] = kBoxRows;
  const auto bytes = ptx::encode_tensor_map(map);
  std::memcpy(kernel.in.data(), bytes.data(), bytes.size());
  const std::string map_of_kernel = "[%rd20, ";
  const std::size_t at = kernel.body.find(map_of_kernel);
  kernel.body.replace(at, map_of_kernel.size(), "[%rd3, ");
  kernel.body =
      "  mov.u32 %r31, tile;\n  add.u32 %r31, %r31, 4096;\n  mad.lo.u32 %r32, %r1, 4, %r31;\n"
      "  mul.wide.u32 %rd6, %r1, 4;\n  add.u64 %rd7, %rd1, %rd6;\n  ld.global.u32 %r3, [%rd7];\n"
      "  st.shared.u32 [%r32], %r3;\n  add.u64 %rd3, %rd1, 512;\n"
      "  bar.warp.sync -1;\n  setp.ne.u32 %p2, %r1, 0;\n  @%p2 bra CHANGED;\n"
      "  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r31], 14;\n"
      "  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r31], 0, 384;\n" +
      box +
      "CHANGED:\n  bar.warp.sync -1;\n"
      "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd3], [%r31], 128;\n"
      "  fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n" +
      kernel.body;
  return kernel;
}

TEST(PtxPackedMaps, AreMadeByTensormapReplace) {
  const OneKernel kernel =
      changing("  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r31], 0, 128;\n");
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(run.out[4], 256U + 2);       // the second 16 elements of the first row
  EXPECT_EQ(run.out[4 * 8], 256U + 48);  // and the first of the second
  expect_proved(kernel);
  expect_found(changing(""), "TMA_COORD");
}

std::string written(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "packed_maps." + name;
  std::ofstream{path} << text;
  return path;
}

// With the first `from` as `to`; it has to be there.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

ScenarioEntry entry(const std::string& ptx, const std::string& launch) {
  return entry_of_launch_file(written("ptx", ptx), written("json", launch), {});
}

// A kernel of sm_100 that takes a tensor map, of elements of four bits.
constexpr const char* kMapped = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry mapped(.param .align 64 .b8 map[128])
{
  ret;
}
)";

constexpr const char* kMappedLaunch = R"({
  "kernel": "mapped", "grid": 1, "block": 32,
  "buffers": {"b": {"type": "f4e2m1", "shape": [16, 256]}},
  "maps": {"m": {"buffer": "b", "box": [8, 128], "swizzle": 128, "packing": "16U4_ALIGN16B"}},
  "parameters": [{"map": "m"}]
})";

TEST(PtxPackedMaps, OfLaunchFilesAreAsTheDriverWantsThem) {
  EXPECT_NO_THROW(entry(kMapped, kMappedLaunch));
  const auto refused = [](const char* from, const char* to, const char* says) {
    try {
      entry(kMapped, edited(kMappedLaunch, from, to));
      FAIL() << to;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
  };
  refused("16U4_ALIGN16B", "16U4", "'16U4' is none; there are 16U4_ALIGN8B, 16U4_ALIGN16B");
  refused("[8, 128]", "[8, 64]", "m.box[1]: 128 elements of each row are copied at a time");
  refused("[16, 256]", "[16, 320]", "m.buffer: a row has a multiple of 64 bytes, or 128 elements");
  refused("\"swizzle\": 128", "\"swizzle\": 64", "m.swizzle: none, or one of 128 bytes");
  refused("[16, 256]}", "[16, 256], \"address\": 4294967312}", "multiples of 32 bytes");
  refused("\"box\": [8, 128]",
          "\"box\": [2, 2, 128], \"dimensions\": [{\"extent\": 2, \"stride_bytes\": 1040}, "
          "{\"extent\": 2, \"stride_bytes\": 128}]",
          "multiples of 32 bytes");
  refused("16U4_ALIGN16B", "16U6_ALIGN16B", "a row has a multiple of 96 bytes, or 128 elements");
  const std::string dense = edited(kMappedLaunch, "16U4_ALIGN16B", "16U4_ALIGN8B");
  EXPECT_NO_THROW(entry(kMapped, dense));
  EXPECT_THROW(entry(kMapped, edited(dense, "[8, 128]", "[8, 48]")), ConfigError);
  EXPECT_THROW(entry(kMapped, edited(dense, "\"swizzle\": 128", "\"swizzle\": 32")), ConfigError);
  EXPECT_THROW(entry(edited(kMapped, "sm_100a", "sm_90a"), kMappedLaunch), ConfigError);
}

}  // namespace warptwin::sim::packed_maps_test
