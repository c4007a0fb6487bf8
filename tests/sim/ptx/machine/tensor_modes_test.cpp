// Tensor copies by other modes than tiles: im2col, gather4 and scatter4, against what PTX's manual
// says of each, element by element; rows that are narrower than the span of a swizzle; and ways to
// get each wrong.

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/machine/shared_tile.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::tensor_modes_test {

using testing::IsEmpty;

constexpr std::uint32_t kTileBytes = 12288;  // behind it in `tile` stands the mbarrier
constexpr std::uint32_t kHole = 0xFFFFFFFF;

std::string joined(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (const std::int32_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "{" + text + "}";
}

// `part` in `text`, `by` instead.
std::string with(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << " in " << text;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

// Images of f32, innermost dimension first: C, then W, H, D as far as there are, then N.
struct Images {
  std::vector<std::int32_t> extent;
  std::vector<std::int32_t> lower;
  std::vector<std::int32_t> upper;
  std::vector<std::int32_t> step;  // of W, H, D
  std::vector<std::int32_t> at;
  std::vector<std::int32_t> offset;
  std::int32_t channels = 0;
  std::int32_t pixels = 0;
  Swizzle swizzle = Swizzle::kNone;

  std::size_t rank() const { return extent.size(); }
  std::int32_t words() const {
    return std::accumulate(extent.begin(), extent.end(), 1, std::multiplies<>{});
  }
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(pixels * channels) * 4; }
  std::uint32_t pitch() const {
    return std::max(static_cast<std::uint32_t>(channels) * 4, span_of(swizzle));
  }

  TensorMapSpec map(std::uint32_t tensor) const {
    TensorMapSpec spec;
    spec.tensor = tensor;
    spec.box_columns = static_cast<std::uint32_t>(channels);
    spec.box_rows = static_cast<std::uint32_t>(pixels);
    spec.swizzle = swizzle;
    spec.im2col.pixels = static_cast<std::uint32_t>(pixels);
    std::uint64_t stride = static_cast<std::uint64_t>(extent[0]) * 4;
    for (std::size_t d = 1; d < rank(); ++d) {
      MapDimension& outer = spec.outer[d - 1];
      outer = {static_cast<std::uint32_t>(extent[d]), stride, 1, 1};
      stride *= static_cast<std::uint64_t>(extent[d]);
      if (d + 1 < rank()) {
        outer.step = static_cast<std::uint32_t>(step[d - 1]);
        spec.im2col.lower[d - 1] = lower[d - 1];
        spec.im2col.upper[d - 1] = upper[d - 1];
      }
    }
    return spec;
  }

  // The word of the tensor that stands in channel `c` of pixel `pixel`, if it is inside. The places
  // of the bounding box are numbered; the copy takes those from where it begins on.
  std::optional<std::size_t> word(std::int32_t pixel, std::int32_t c) const {
    std::int32_t number = pixel;
    std::int32_t all = 1;
    std::vector<std::int32_t> count;
    for (std::size_t i = 0; i + 2 < rank(); ++i) {
      count.push_back((extent[i + 1] - 1 + upper[i] - lower[i]) / step[i] + 1);
      number += (at[i + 1] - lower[i]) / step[i] * all;
      all *= count.back();
    }
    std::vector<std::int32_t> place{at[0] + c};
    for (std::size_t i = 0; i + 2 < rank(); ++i) {
      place.push_back(lower[i] + number % count[i] * step[i] + offset[i]);
      number /= count[i];
    }
    place.push_back(at.back() + number);
    std::size_t linear = 0;
    for (std::size_t d = rank(); d-- > 0;) {
      if (place[d] < 0 || place[d] >= extent[d]) {
        return std::nullopt;
      }
      linear = linear * static_cast<std::size_t>(extent[d]) + static_cast<std::size_t>(place[d]);
    }
    return linear;
  }

  // Where it stands in shared memory, in words.
  std::size_t shared(std::int32_t pixel, std::int32_t c) const {
    const auto linear =
        static_cast<std::uint32_t>(pixel) * pitch() + static_cast<std::uint32_t>(c) * 4;
    return swizzled(linear, swizzle) / 4;
  }
};

std::vector<Images> geometries() {
  return {
      {{8, 5, 3}, {-1}, {-1}, {1}, {0, -1, 0}, {0}, 8, 17},
      {{8, 5, 3}, {-1}, {-1}, {1}, {4, 2, 1}, {2}, 8, 9, Swizzle::k32B},
      {{4, 9, 3}, {1}, {2}, {3}, {0, 4, 0}, {0}, 4, 12, Swizzle::k64B},
      {{8, 4, 3, 2}, {-1, -1}, {-1, -1}, {1, 1}, {0, 2, -1, 0}, {1, 2}, 4, 30},
      {{16, 5, 4, 2}, {0, -1}, {0, 1}, {2, 1}, {-4, 4, 3, 0}, {0, 1}, 12, 25, Swizzle::k128B},
      {{4, 6, 5, 2}, {2, 0}, {-1, -3}, {1, 1}, {0, 3, 1, 1}, {0, 0}, 8, 21, Swizzle::k32B},
      {{8, 7, 7, 2}, {0, 0}, {-2, -2}, {2, 3}, {0, 0, 3, 0}, {2, 1}, 8, 16},
      {{8, 3, 3, 3, 2}, {-1, 0, 0}, {0, -1, -1}, {1, 1, 1}, {4, 1, 1, 0, 0}, {1, 1, 1}, 4, 40},
      {{4, 4, 3, 3, 2},
       {-2, -1, 1},
       {1, 1, 1},
       {3, 2, 1},
       {0, 1, 1, 2, 1},
       {0, 0, 2},
       16,
       19,
       Swizzle::k128B},
      {{4, 3, 2, 2, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0, 0, 3}, {0, 0, 0}, 4, 5},
  };
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  std::iota(words.begin(), words.end(), 1000);
  return words;
}

// All of `tile` is kHole; one lane makes the copy, all wait, and all of it goes to `out`.
const char* const kLoads =
    "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 12288;\n  mad.lo.u32 %r21, %r1, 4, %r20;\n"
    "  mov.u32 %r2, 0;\n  mov.u32 %r3, 0xffffffff;\nFILL:\n  st.shared.u32 [%r21], %r3;\n"
    "  add.u32 %r21, %r21, 128;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 96;\n"
    "  @%p2 bra FILL;\n  fence.proxy.async.shared::cta;\n  bar.warp.sync 0xffffffff;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n"
    "  mbarrier.init.shared.b64 [%r30], 1;\n  fence.proxy.async.shared::cta;\n"
    "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r30], BYTES;\n  COPY\n"
    "MEET:\n  bar.warp.sync 0xffffffff;\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n"
    "  mad.lo.u32 %r21, %r1, 4, %r20;\n  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd2, %rd4;\n"
    "  mov.u32 %r2, 0;\nREAD:\n  ld.shared.u32 %r3, [%r21];\n  st.global.u32 [%rd4], %r3;\n"
    "  add.u32 %r21, %r21, 128;\n  add.u64 %rd4, %rd4, 128;\n  add.u32 %r2, %r2, 1;\n"
    "  setp.lt.u32 %p2, %r2, 96;\n  @%p2 bra READ;\n";
const char* const kWait =
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n";

std::string load_of(std::uint32_t bytes, const std::string& copy) {
  return with(with(kLoads, "BYTES", std::to_string(bytes)), "COPY", copy);
}

OneKernel loading(const Images& images) {
  OneKernel kernel;
  kernel.in = numbers(static_cast<std::size_t>(images.words()));
  kernel.columns = static_cast<std::uint32_t>(images.extent[0]);
  kernel.out_words = kTileBytes / 4;
  kernel.maps = {images.map(0)};
  kernel.body = load_of(images.bytes(),
                        "cp.async.bulk.tensor." + std::to_string(images.rank()) +
                            "d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r20], "
                            "[%rd20, " +
                            joined(images.at) + "], [%r30], " + joined(images.offset) + ";");
  return kernel;
}

TEST(PtxTensorModes, Im2colBringsPixelAfterPixel) {
  for (const Images& images : geometries()) {
    const OneKernel kernel = loading(images);
    const OneRun run = run_of(kernel);
    EXPECT_THAT(ids_in(run.result), IsEmpty());
    std::vector<std::uint32_t> expected(kTileBytes / 4, kHole);
    for (std::int32_t pixel = 0; pixel < images.pixels; ++pixel) {
      for (std::int32_t c = 0; c < images.channels; ++c) {
        const auto word = images.word(pixel, c);
        expected[images.shared(pixel, c)] = word ? kernel.in[*word] : 0;
      }
    }
    EXPECT_EQ(run.out, expected) << kernel.body;
    expect_proved(kernel);
  }
}

// Behind the last place that a stride comes to, the first of the box follows, wherever the copy
// has begun: so on an H100.
TEST(PtxTensorModes, Im2colMayBeginBetweenTheStepsOfItsStride) {
  Images images{{4, 5, 4, 2}, {0, 0}, {0, 0}, {2, 1}, {0, 1, 0, 0}, {0, 0}, 4, 7};
  const OneRun run = run_of(loading(images));
  std::vector<std::uint32_t> found;
  for (std::size_t pixel = 0; pixel < 7; ++pixel) {
    found.push_back((run.out[4 * pixel] - 1000) / 4);
  }
  EXPECT_THAT(found, testing::ElementsAre(1, 3, 5, 7, 9, 10, 12));
}

TEST(PtxTensorModes, Im2colThatBeginsWhereItMayNotIsFound) {
  const Images right{{8, 5, 4, 2}, {-1, 0}, {-1, 0}, {1, 1}, {0, 3, 0, 0}, {0, 0}, 8, 8};
  expect_proved(loading(right));
  Images wrong = right;
  wrong.at[1] = 4;  // the box ends at 3
  expect_found(loading(wrong), "TMA_COORD");
  wrong = right;
  wrong.at[2] = -1;
  expect_found(loading(wrong), "TMA_COORD");
  wrong = right;
  wrong.at[0] = 2;  // 8 bytes
  expect_found(loading(wrong), "TMA_COORD");
  wrong = right;
  wrong.offset[1] = 256;
  expect_found(loading(wrong), "TMA_COORD");
  wrong.offset[1] = 255;
  expect_proved(loading(wrong));
}

TEST(PtxTensorModes, Im2colIsCountedAndWaitedFor) {
  const Images images{{8, 5, 4, 2}, {-1, 0}, {-1, 0}, {1, 1}, {0, 3, 0, 0}, {0, 0}, 8, 8};
  OneKernel kernel = loading(images);
  const std::string right = kernel.body;
  kernel.body = with(right, "[%r30], 256;", "[%r30], 288;");  // a pixel too many
  expect_found(kernel, "DEADLOCK");
  kernel.body = with(right, "[%r30], 256;", "[%r30], 224;");  // one too few
  EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved);
  kernel.body = with(right, kWait, "");
  EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// A map of one mode, and a copy of the other.
TEST(PtxTensorModes, MapsAreOfTheCopysMode) {
  const Images images{{8, 5, 4, 2}, {-1, 0}, {-1, 0}, {1, 1}, {0, 3, 0, 0}, {0, 0}, 8, 8};
  OneKernel kernel = loading(images);
  kernel.body = with(with(kernel.body, "global.im2col.", "global.tile."), ", {0, 0};", ";");
  expect_found(kernel, "TMA_COORD");
  kernel = loading(images);
  kernel.maps[0].im2col = {};
  expect_found(kernel, "TMA_COORD");
}

TEST(PtxTensorModes, WideIm2colIsRefusedByName) {
  const Images images{{8, 5, 4, 2}, {-1, 0}, {-1, 0}, {1, 1}, {0, 3, 0, 0}, {0, 0}, 8, 8};
  for (const char* mode : {"im2col::w", "im2col::w::128"}) {
    OneKernel kernel = loading(images);
    kernel.body = with(kernel.body, "im2col.", std::string{mode} + ".");
    try {
      run_of(kernel);
      ADD_FAILURE() << mode;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("." + std::string{mode} + " "));
    }
  }
}

// --- Stores -------------------------------------------------------------------------------------

// Each word of `tile` is its number; one lane stores.
const char* const kStores =
    "  mov.u32 %r20, tile;\n  mad.lo.u32 %r21, %r1, 4, %r20;\n  mov.u32 %r2, 0;\n"
    "  mov.u32 %r3, %r1;\nFILL:\n  st.shared.u32 [%r21], %r3;\n  add.u32 %r21, %r21, 128;\n"
    "  add.u32 %r3, %r3, 32;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 96;\n"
    "  @%p2 bra FILL;\n  fence.proxy.async.shared::cta;\n  bar.warp.sync 0xffffffff;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra LAST;\n  COPY\n"
    "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nLAST:\n  bar.warp.sync -1;\n";

TEST(PtxTensorModes, Im2colStoresPixelAfterPixel) {
  std::vector<Images> all = geometries();
  std::erase_if(all, [](const Images& images) {
    const auto negative = [](std::int32_t number) { return number < 0; };
    const auto positive = [](std::int32_t number) { return number > 0; };
    return std::any_of(images.at.begin(), images.at.end(), negative) ||
           std::any_of(images.lower.begin(), images.lower.end(), negative) ||
           std::any_of(images.upper.begin(), images.upper.end(), positive);
  });
  ASSERT_EQ(all.size(), 3U);
  for (Images& images : all) {
    std::fill(images.offset.begin(), images.offset.end(), 0);
    OneKernel kernel;
    kernel.columns = static_cast<std::uint32_t>(images.extent[0]);
    kernel.out_words = static_cast<std::uint32_t>(images.words());
    kernel.in = numbers(kernel.columns);
    kernel.maps = {images.map(1)};
    kernel.body = with(kStores,
                       "COPY",
                       "cp.async.bulk.tensor." + std::to_string(images.rank()) +
                           "d.global.shared::cta.im2col_no_offs.bulk_group [%rd20, " +
                           joined(images.at) + "], [%r20];");
    const OneRun run = run_of(kernel);
    std::vector<std::uint32_t> expected(kernel.out_words);
    for (std::int32_t pixel = 0; pixel < images.pixels; ++pixel) {
      for (std::int32_t c = 0; c < images.channels; ++c) {
        if (const auto word = images.word(pixel, c)) {
          expected[*word] = static_cast<std::uint32_t>(images.shared(pixel, c));
        }
      }
    }
    EXPECT_EQ(run.out, expected) << kernel.body;
    expect_proved(kernel);
    kernel.maps[0].im2col.lower[0] = -1;
    expect_found(kernel, "TMA_COORD");
  }
}

// --- Four rows ----------------------------------------------------------------------------------

TensorMapSpec rows_of(std::uint32_t tensor, std::uint32_t columns, Swizzle swizzle) {
  TensorMapSpec spec;
  spec.tensor = tensor;
  spec.box_rows = 1;
  spec.box_columns = columns;
  spec.swizzle = swizzle;
  return spec;
}

OneKernel gathering(const std::vector<std::int32_t>& at, Swizzle swizzle = Swizzle::kNone) {
  OneKernel kernel;
  kernel.in = numbers(16 * 10);
  kernel.columns = 16;
  kernel.out_words = kTileBytes / 4;
  kernel.maps = {rows_of(0, 8, swizzle)};
  kernel.body = load_of(128,
                        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::"
                        "complete_tx::bytes [%r20], [%rd20, " +
                            joined(at) + "], [%r30];");
  return kernel;
}

TEST(PtxTensorModes, GathersFourRows) {
  const std::vector<std::int32_t> at{4, 7, 2, 2, 9};
  for (const Swizzle swizzle : {Swizzle::kNone, Swizzle::k32B, Swizzle::k64B}) {
    const OneKernel kernel = gathering(at, swizzle);
    const OneRun run = run_of(kernel);
    std::vector<std::uint32_t> expected(kTileBytes / 4, kHole);
    for (std::uint32_t row = 0; row < 4; ++row) {
      for (std::uint32_t column = 0; column < 8; ++column) {
        const std::uint32_t linear = row * std::max(32U, span_of(swizzle)) + column * 4;
        expected[swizzled(linear, swizzle) / 4] =
            1000 + static_cast<std::uint32_t>(at[row + 1]) * 16 + 4 + column;
      }
    }
    EXPECT_EQ(run.out, expected);
    expect_proved(kernel);
  }
}

TEST(PtxTensorModes, GathersNothingFromOutside) {
  const OneKernel kernel = gathering({12, -1, 3, 10, 1 << 30});
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t word = 0; word < 32; ++word) {
    const bool inside = word / 8 == 1 && word % 8 < 4;
    EXPECT_EQ(run.out[word], inside ? 1000 + 3 * 16 + 12 + word % 8 : 0) << word;
  }
  expect_proved(kernel);
}

TEST(PtxTensorModes, GathersByAMapOfOneRow) {
  OneKernel kernel = gathering({0, 1, 2, 3, 4});
  kernel.maps[0].box_rows = 4;
  expect_found(kernel, "TMA_COORD");
  kernel = gathering({0, 1, 2, 3, 4});
  kernel.body = with(kernel.body, "[%r30], 128;", "[%r30], 32;");  // the bytes of the map's box
  EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved);
}

OneKernel scattering(const std::vector<std::int32_t>& at) {
  OneKernel kernel;
  kernel.in = numbers(16);
  kernel.columns = 16;
  kernel.out_words = 16 * 10;
  kernel.maps = {rows_of(1, 8, Swizzle::kNone)};
  kernel.body = with(kStores,
                     "COPY",
                     "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
                     "[%rd20, " +
                         joined(at) + "], [%r20];");
  return kernel;
}

TEST(PtxTensorModes, ScattersFourRows) {
  const std::vector<std::int32_t> at{12, 7, 2, 20, 0};
  const OneRun run = run_of(scattering(at));
  std::vector<std::uint32_t> expected(16 * 10);
  for (std::uint32_t row = 0; row < 4; ++row) {
    for (std::uint32_t column = 0; column < 4 && at[row + 1] < 10; ++column) {
      expected[static_cast<std::uint32_t>(at[row + 1]) * 16 + 12 + column] = row * 8 + column;
    }
  }
  EXPECT_EQ(run.out, expected);
  expect_proved(scattering(at));
  expect_found(scattering({0, 1, -1, 2, 3}), "TMA_COORD");
}

TEST(PtxTensorModes, ScattersNoRowTwice) {
  expect_proved(scattering({0, 5, 3, 4, 1}));
  expect_found(scattering({0, 5, 3, 5, 1}), "GMEM_RACE");
  // Rows outside the tensor are not written.
  expect_proved(scattering({0, 5, 30, 30, 1}));
  OneKernel kernel = scattering({0, 5, 3, 4, 1});
  const std::string load = "  ld.global.u32 %r5, [%rd2+192];\n";  // of row 3
  const std::string wait = "  cp.async.bulk.wait_group 0;\n";
  const std::string right = kernel.body;
  kernel.body = with(right, wait, load + wait);
  expect_found(kernel, "GMEM_RAW_NO_WAIT");
  kernel.body = with(right, wait, wait + load);
  expect_proved(kernel);
  kernel.body = with(right, wait, with(load, "192", "128") + wait);  // row 2 is not written
  expect_proved(kernel);
}

// --- Rows that are narrower than the span of the swizzle ----------------------------------------

// They stand as far apart as spans; between them nothing is written.
TEST(PtxTensorModes, NarrowRowsStandAsFarApartAsSpans) {
  OneKernel kernel;
  kernel.in = numbers(16 * 10);
  kernel.columns = 16;
  kernel.out_words = kTileBytes / 4;
  TensorMapSpec map = rows_of(0, 12, Swizzle::k128B);
  map.box_rows = 9;
  kernel.maps = {map};
  kernel.body = load_of(9 * 48,
                        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::"
                        "bytes [%r20], [%rd20, {0, 0}], [%r30];");
  const OneRun run = run_of(kernel);
  std::vector<std::uint32_t> expected(kTileBytes / 4, kHole);
  for (std::uint32_t row = 0; row < 9; ++row) {
    for (std::uint32_t column = 0; column < 12; ++column) {
      expected[swizzled(row * 128 + column * 4, Swizzle::k128B) / 4] = 1000 + row * 16 + column;
    }
  }
  EXPECT_EQ(run.out, expected);
  expect_proved(kernel);
  // Bytes 48 to 63 of the first row are nobody's, 0 to 15 the copy's.
  const std::string store = "  st.shared.u32 [%r20+PLACE], %r1;\n";
  const std::string right = kernel.body;
  kernel.body = with(right, "MEET:\n", with(store, "PLACE", "48") + "MEET:\n");
  expect_proved(kernel);
  kernel.body = with(right, "MEET:\n", with(store, "PLACE", "8") + "MEET:\n");
  expect_found(kernel, "SMEM_WAW_ASYNC");
  // The last row ends behind as many bytes as the mbarrier counts.
  kernel.body = with(right, "MEET:\n", with(store, "PLACE", "1024") + "MEET:\n");
  expect_found(kernel, "SMEM_WAW_ASYNC");
}

TEST(PtxTensorModes, TilesBeginAtMultiplesOf16Bytes) {
  OneKernel kernel;
  kernel.in = numbers(16 * 10);
  kernel.columns = 16;
  kernel.out_words = kTileBytes / 4;
  TensorMapSpec map = rows_of(0, 8, Swizzle::kNone);
  map.box_rows = 4;
  kernel.maps = {map};
  const auto body = [](const char* column) {
    return load_of(128,
                   std::string{"cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::"
                               "complete_tx::bytes [%r20], [%rd20, {"} +
                       column + ", 0}], [%r30];");
  };
  kernel.body = body("-4");
  expect_proved(kernel);
  kernel.body = body("-1");
  expect_found(kernel, "TMA_COORD");
}

}  // namespace warptwin::sim::tensor_modes_test
