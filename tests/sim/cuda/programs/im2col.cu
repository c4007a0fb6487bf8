// Copies by tensor maps of im2col mode: what they bring, what they store, and what the driver says
// of the arguments of such a map. Rows that are narrower than the span of their swizzle are among
// them, and of tiles, too. Each line is the same on an H100 and in the simulator
// (golden/im2col.txt); "same" is what a reference of the manual's words on the host says.
//
// usage: im2col [BYTES | WAIT]: an mbarrier is told of 16 bytes too many, or the tile is read
// before it is there.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <cuda.h>

#include "tests/sim/cuda/programs/check.hpp"
#include "tests/sim/cuda/programs/copy_wait.hpp"

namespace {

constexpr unsigned kSharedBytes = 32 << 10;
constexpr unsigned kThreads = 64;

// Extents, strides, coordinates and steps are innermost first (C, W, H, D, N), and so are corners
// and offsets (W, H, D).
struct Geometry {
  int rank = 3;
  unsigned element_bytes = 2;
  int extent[5] = {};
  std::uint64_t stride[5] = {};  // in bytes; [0] is that of an element
  int lower[3] = {};
  int upper[3] = {};
  int channels = 0;
  int pixels = 0;
  unsigned step[5] = {1, 1, 1, 1, 1};
  unsigned swizzle = 0;  // bytes of its span
  int at[5] = {};
  int offset[3] = {};

  unsigned row_bytes() const { return static_cast<unsigned>(channels) * element_bytes; }
  unsigned bytes() const { return static_cast<unsigned>(pixels) * row_bytes(); }
  // Of shared memory: rows stand at least as far apart as spans of the swizzle.
  unsigned pitch() const { return std::max(row_bytes(), swizzle); }
  unsigned shared_bytes() const { return static_cast<unsigned>(pixels) * pitch(); }
  std::uint64_t tensor_bytes() const {
    return stride[rank - 1] * static_cast<unsigned>(extent[rank - 1]);
  }
};

enum Fault { kNone, kBytes, kWait };

struct Copy {
  int at[5];
  unsigned short offset[3];
  unsigned bytes;         // that the mbarrier counts
  unsigned shared_bytes;  // within which they stand
  unsigned short mask;    // of a multicast
  Fault fault;
};

template <int kRank>
__device__ void load(unsigned tile, const CUtensorMap& map, unsigned barrier, const Copy& copy) {
  const int* at = copy.at;
  const auto address = reinterpret_cast<std::uint64_t>(&map);
  if constexpr (kRank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(tile),
        "l"(address),
        "r"(barrier),
        "r"(at[0]),
        "r"(at[1]),
        "r"(at[2]),
        "h"(copy.offset[0])
        : "memory");
  } else if constexpr (kRank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(tile),
        "l"(address),
        "r"(barrier),
        "r"(at[0]),
        "r"(at[1]),
        "r"(at[2]),
        "r"(at[3]),
        "h"(copy.offset[0]),
        "h"(copy.offset[1])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(tile),
        "l"(address),
        "r"(barrier),
        "r"(at[0]),
        "r"(at[1]),
        "r"(at[2]),
        "r"(at[3]),
        "r"(at[4]),
        "h"(copy.offset[0]),
        "h"(copy.offset[1]),
        "h"(copy.offset[2])
        : "memory");
  }
}

// What the copy does not write stays as it was.
__device__ void prepare(unsigned* tile, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
    tile[i] = 0x55555555;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

__device__ void begin_barrier(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

template <int kRank>
__global__ void loads(const __grid_constant__ CUtensorMap map, Copy copy, unsigned* out) {
  extern __shared__ __align__(1024) unsigned tile[];
  __shared__ std::uint64_t barrier;
  prepare(tile, copy.shared_bytes);
  if (threadIdx.x == 0) {
    const unsigned more = copy.fault == kBytes ? 16 : 0;
    begin_barrier(shared_address(&barrier), copy.bytes + more);
    load<kRank>(shared_address(tile), map, shared_address(&barrier), copy);
  }
  __syncthreads();
  if (copy.fault != kWait) {
    wait_for(shared_address(&barrier));
  }
  for (unsigned i = threadIdx.x; i < copy.shared_bytes / 4; i += blockDim.x) {
    out[i] = tile[i];
  }
  if (copy.fault == kWait) {
    wait_for(shared_address(&barrier));
  }
}

// Each CTA of the pair gets the tile that CTA 0 asks for.
__global__ void __cluster_dims__(2, 1, 1)
    multicast(const __grid_constant__ CUtensorMap map, Copy copy, unsigned* out) {
  extern __shared__ __align__(1024) unsigned tile[];
  __shared__ std::uint64_t barrier;
  prepare(tile, copy.shared_bytes);
  if (threadIdx.x == 0) {
    begin_barrier(shared_address(&barrier), copy.bytes);
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(
            shared_address(tile)),
        "l"(&map),
        "r"(shared_address(&barrier)),
        "r"(copy.at[0]),
        "r"(copy.at[1]),
        "r"(copy.at[2]),
        "r"(copy.at[3]),
        "h"(copy.offset[0]),
        "h"(copy.offset[1]),
        "h"(copy.mask)
        : "memory");
  }
  wait_for(shared_address(&barrier));
  for (unsigned i = threadIdx.x; i < copy.shared_bytes / 4; i += blockDim.x) {
    out[blockIdx.x * (copy.shared_bytes / 4) + i] = tile[i];
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

template <int kRank>
__device__ void store(unsigned tile, const CUtensorMap& map, const Copy& copy) {
  const int* at = copy.at;
  const auto address = reinterpret_cast<std::uint64_t>(&map);
  if constexpr (kRank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%1, {%2, %3, %4}], [%0];" ::"r"(tile),
        "l"(address),
        "r"(at[0]),
        "r"(at[1]),
        "r"(at[2])
        : "memory");
  } else if constexpr (kRank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%1, {%2, %3, %4, %5}], [%0];" ::"r"(tile),
        "l"(address),
        "r"(at[0]),
        "r"(at[1]),
        "r"(at[2]),
        "r"(at[3])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%1, {%2, %3, %4, %5, %6}], [%0];" ::"r"(tile),
        "l"(address),
        "r"(at[0]),
        "r"(at[1]),
        "r"(at[2]),
        "r"(at[3]),
        "r"(at[4])
        : "memory");
  }
}

template <int kRank>
__global__ void stores(const __grid_constant__ CUtensorMap map, Copy copy, const unsigned* in) {
  extern __shared__ __align__(1024) unsigned tile[];
  for (unsigned i = threadIdx.x; i < copy.shared_bytes / 4; i += blockDim.x) {
    tile[i] = in[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    store<kRank>(shared_address(tile), map, copy);
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// --- The host -----------------------------------------------------------------------------------

void* entry_of(const char* name, unsigned version) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found));
  return entry;
}

unsigned data_type(unsigned element_bytes) {
  return element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
         : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
         : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                              : CU_TENSOR_MAP_DATA_TYPE_UINT64;
}

// The arguments of the driver's encoder.
struct Encoding {
  unsigned type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  unsigned rank = 4;
  std::uint64_t address = 0;
  cuuint64_t extent[5] = {64, 9, 14, 3, 2};
  cuuint64_t stride[4] = {128, 1152, 16128, 48384};
  int lower[3] = {-1, -1, -1};
  int upper[3] = {-1, -1, -1};
  unsigned channels = 32;
  unsigned pixels = 32;
  cuuint32_t step[5] = {1, 1, 1, 1, 1};
  unsigned interleave = 0;
  unsigned swizzle = 0;
  unsigned fill = 0;

  CUresult encode(CUtensorMap* map) const {
    static const auto encoder = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(
        entry_of("cuTensorMapEncodeIm2col", 12000));
    return encoder(map,
                   static_cast<CUtensorMapDataType>(type),
                   rank,
                   reinterpret_cast<void*>(address),
                   extent,
                   stride,
                   lower,
                   upper,
                   channels,
                   pixels,
                   step,
                   static_cast<CUtensorMapInterleave>(interleave),
                   static_cast<CUtensorMapSwizzle>(swizzle),
                   CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   static_cast<CUtensorMapFloatOOBfill>(fill));
  }
};

CUtensorMap map_of(const Geometry& g, const void* tensor) {
  Encoding e;
  e.type = data_type(g.element_bytes);
  e.rank = static_cast<unsigned>(g.rank);
  e.address = reinterpret_cast<std::uint64_t>(tensor);
  for (int i = 0; i < g.rank; ++i) {
    e.extent[i] = static_cast<cuuint64_t>(g.extent[i]);
    e.step[i] = g.step[i];
  }
  for (int i = 1; i < g.rank; ++i) {
    e.stride[i - 1] = g.stride[i];
  }
  std::copy(g.lower, g.lower + 3, e.lower);
  std::copy(g.upper, g.upper + 3, e.upper);
  e.channels = static_cast<unsigned>(g.channels);
  e.pixels = static_cast<unsigned>(g.pixels);
  e.swizzle = g.swizzle == 32 ? 1 : g.swizzle == 64 ? 2 : g.swizzle == 128 ? 3 : 0;
  alignas(64) CUtensorMap map{};
  const CUresult result = e.encode(&map);
  if (result != CUDA_SUCCESS) {
    std::printf("the encoder says %d\n", static_cast<int>(result));
    std::exit(3);
  }
  return map;
}

struct Random {
  std::uint64_t state;
  int operator()(int least, int most) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return least + static_cast<int>((state >> 33) % static_cast<unsigned>(most - least + 1));
  }
};

// One that can be copied: `stores` keeps the box within the tensor.
Geometry drawn(std::uint64_t seed, bool stores) {
  Random random{seed * 7919 + 13};
  for (int i = 0; i < 8; ++i) {
    random(0, 1);
  }
  Geometry g;
  g.rank = random(3, 5);
  g.element_bytes = 1U << random(0, 3);
  const int unit = static_cast<int>(16 / g.element_bytes);  // elements of 16 bytes
  const unsigned spans[] = {0, 32, 64, 128};
  g.swizzle = spans[random(0, 3)];
  g.channels = unit * (g.swizzle == 0 ? random(1, 5) : random(1, static_cast<int>(g.swizzle) / 16));
  g.extent[0] = unit * random(1, 6);
  for (int i = 1; i < g.rank; ++i) {
    g.extent[i] = random(1, i + 1 == g.rank ? 4 : 9);
  }
  g.stride[0] = g.element_bytes;
  g.stride[1] = static_cast<unsigned>(g.extent[0]) * g.element_bytes + 16U * random(0, 2);
  for (int i = 2; i < g.rank; ++i) {
    g.stride[i] = g.stride[i - 1] * static_cast<unsigned>(g.extent[i - 1]) + 16U * random(0, 2);
  }
  for (int i = 0; i < g.rank - 2; ++i) {
    const int extent = g.extent[i + 1];
    g.lower[i] = stores ? random(0, extent - 1) : random(-3, 2);
    // The last place of the box is not in front of its first.
    g.upper[i] = g.lower[i] - (extent - 1) + random(0, stores ? extent - 1 - g.lower[i] : 7);
    g.step[i + 1] = static_cast<unsigned>(random(1, 3));
    const int places = (extent - 1 + g.upper[i] - g.lower[i]) / static_cast<int>(g.step[i + 1]);
    g.at[i + 1] = g.lower[i] + static_cast<int>(g.step[i + 1]) * random(0, places);
    g.offset[i] = stores ? 0 : random(0, 3);
  }
  // A row begins at a multiple of 16 bytes.
  g.at[0] = unit * random(stores ? 0 : -1, g.extent[0] / unit - 1);
  g.at[g.rank - 1] = random(stores ? 0 : -1, g.extent[g.rank - 1] - 1);
  const int most = static_cast<int>(kSharedBytes / g.pitch());
  g.pixels = random(1, std::min(most, 90));
  return g;
}

// Where element `channel` of pixel `pixel` stands in the tensor: false where it is outside. The
// places of the box are numbered, W first; the copy begins at one of them, and takes those behind.
bool place_of(const Geometry& g, int pixel, int channel, std::uint64_t* byte) {
  long number = 0, count = 1;
  int places[3] = {1, 1, 1};
  for (int i = 0; i < g.rank - 2; ++i) {
    const int step = static_cast<int>(g.step[i + 1]);
    places[i] = (g.extent[i + 1] - 1 + g.upper[i] - g.lower[i]) / step + 1;
    number += (g.at[i + 1] - g.lower[i]) / step * count;
    count *= places[i];
  }
  number += pixel;
  long image = g.at[g.rank - 1] + number / count;
  number %= count;
  bool inside = image >= 0 && image < g.extent[g.rank - 1];
  *byte = static_cast<std::uint64_t>(image) * g.stride[g.rank - 1];
  for (int i = 0; i < g.rank - 2; ++i) {
    const long at =
        g.lower[i] + number % places[i] * static_cast<long>(g.step[i + 1]) + g.offset[i];
    number /= places[i];
    inside = inside && at >= 0 && at < g.extent[i + 1];
    *byte += static_cast<std::uint64_t>(at) * g.stride[i + 1];
  }
  const int c = g.at[0] + channel;
  *byte += static_cast<std::uint64_t>(c) * g.element_bytes;
  return inside && c >= 0 && c < g.extent[0];
}

// Of byte `linear` of the tile.
unsigned swizzled(const Geometry& g, unsigned linear) {
  return g.swizzle == 0 ? linear : linear ^ ((linear >> 7 & (g.swizzle / 16 - 1)) << 4);
}

std::vector<unsigned char> bytes_of(std::uint64_t size, std::uint64_t seed) {
  Random random{seed};
  std::vector<unsigned char> bytes(size);
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(random(1, 255));
  }
  return bytes;
}

std::uint64_t hash_of(const std::vector<unsigned char>& bytes) {
  return std::accumulate(
      bytes.begin(), bytes.end(), 14695981039346656037ULL, [](std::uint64_t sum, unsigned char b) {
        return (sum ^ b) * 1099511628211ULL;
      });
}

unsigned char* on_device(const std::vector<unsigned char>& bytes) {
  unsigned char* device = nullptr;
  CHECK(cudaMalloc(&device, bytes.size()));
  CHECK(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  return device;
}

std::vector<unsigned char> from_device(const unsigned char* device, std::size_t size) {
  std::vector<unsigned char> bytes(size);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost));
  return bytes;
}

Fault planted = kNone;

Copy copy_of(const Geometry& g) {
  Copy copy{};
  copy.fault = planted;
  std::copy(g.at, g.at + 5, copy.at);
  std::copy(g.offset, g.offset + 3, copy.offset);
  copy.bytes = g.bytes();
  copy.shared_bytes = g.shared_bytes();
  return copy;
}

void print(const char* what,
           std::uint64_t number,
           const Geometry& g,
           const std::vector<unsigned char>& bytes,
           bool same) {
  std::printf("%s %2llu: %dd, %u bytes an element, %d pixels of %d, swizzle %3u: %016llx %s\n",
              what,
              static_cast<unsigned long long>(number),
              g.rank,
              g.element_bytes,
              g.pixels,
              g.channels,
              g.swizzle,
              static_cast<unsigned long long>(hash_of(bytes)),
              same ? "same" : "DIFFERS");
}

std::vector<unsigned char> loaded(const Geometry& g, const std::vector<unsigned char>& tensor) {
  unsigned char* in = on_device(tensor);
  unsigned char* out = on_device(std::vector<unsigned char>(g.shared_bytes()));
  const CUtensorMap map = map_of(g, in);
  const auto kernel = g.rank == 3 ? loads<3> : g.rank == 4 ? loads<4> : loads<5>;
  kernel<<<1, kThreads, kSharedBytes>>>(map, copy_of(g), reinterpret_cast<unsigned*>(out));
  const std::vector<unsigned char> bytes = from_device(out, g.shared_bytes());
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return bytes;
}

std::vector<unsigned char> expected(const Geometry& g, const std::vector<unsigned char>& tensor) {
  std::vector<unsigned char> bytes(g.shared_bytes(), 0x55);
  for (int pixel = 0; pixel < g.pixels; ++pixel) {
    for (int channel = 0; channel < g.channels; ++channel) {
      std::uint64_t from = 0;
      const bool inside = place_of(g, pixel, channel, &from);
      const unsigned linear = static_cast<unsigned>(pixel) * g.pitch() +
                              static_cast<unsigned>(channel) * g.element_bytes;
      for (unsigned i = 0; i < g.element_bytes; ++i) {
        bytes[swizzled(g, linear + i)] = inside ? tensor[from + i] : 0;
      }
    }
  }
  return bytes;
}

bool load_cases(std::uint64_t count) {
  bool right = true;
  for (std::uint64_t number = 0; number < count; ++number) {
    const Geometry g = drawn(number, false);
    const std::vector<unsigned char> tensor = bytes_of(g.tensor_bytes(), number);
    const std::vector<unsigned char> got = loaded(g, tensor);
    const bool same = got == expected(g, tensor);
    print("load", number, g, got, same);
    right = right && same;
  }
  return right;
}

bool store_cases(std::uint64_t count) {
  bool right = true;
  for (std::uint64_t number = 0; number < count; ++number) {
    const Geometry g = drawn(1000 + number, true);
    const std::vector<unsigned char> tile = bytes_of(g.shared_bytes(), number);
    std::vector<unsigned char> want(g.tensor_bytes(), 0x11);
    unsigned char* in = on_device(tile);
    unsigned char* out = on_device(want);
    const auto kernel = g.rank == 3 ? stores<3> : g.rank == 4 ? stores<4> : stores<5>;
    kernel<<<1, kThreads, kSharedBytes>>>(
        map_of(g, out), copy_of(g), reinterpret_cast<const unsigned*>(in));
    const std::vector<unsigned char> got = from_device(out, want.size());
    for (int pixel = 0; pixel < g.pixels; ++pixel) {
      for (int channel = 0; channel < g.channels; ++channel) {
        std::uint64_t to = 0;
        const unsigned linear = static_cast<unsigned>(pixel) * g.pitch() +
                                static_cast<unsigned>(channel) * g.element_bytes;
        for (unsigned i = 0; place_of(g, pixel, channel, &to) && i < g.element_bytes; ++i) {
          want[to + i] = tile[swizzled(g, linear + i)];
        }
      }
    }
    print("store", number, g, got, got == want);
    right = right && got == want;
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
  }
  return right;
}

bool multicast_case() {
  Geometry g = drawn(2, false);
  for (std::uint64_t seed = 2; g.rank != 4 || g.swizzle != 64 || g.bytes() < 1024; ++seed) {
    g = drawn(seed, false);
  }
  const std::vector<unsigned char> tensor = bytes_of(g.tensor_bytes(), 99);
  unsigned char* in = on_device(tensor);
  unsigned char* out = on_device(std::vector<unsigned char>(2 * g.shared_bytes()));
  Copy copy = copy_of(g);
  copy.mask = 3;
  multicast<<<2, kThreads, kSharedBytes>>>(map_of(g, in), copy, reinterpret_cast<unsigned*>(out));
  const std::vector<unsigned char> got = from_device(out, 2 * g.shared_bytes());
  std::vector<unsigned char> want = expected(g, tensor);
  want.insert(want.end(), want.begin(), want.end());
  print("multicast", 0, g, got, got == want);
  return got == want;
}

template <>
__device__ void load<2>(unsigned tile, const CUtensorMap& map, unsigned barrier, const Copy& copy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(tile),
      "l"(&map),
      "r"(barrier),
      "r"(copy.at[0]),
      "r"(copy.at[1])
      : "memory");
}

// Tiles of 13 rows of 4 to 128 bytes, by each swizzle.
bool tile_cases() {
  static const auto encoder = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(
      entry_of("cuTensorMapEncodeTiled", 12000));
  constexpr unsigned kRows = 13, kRowBytes = 160;
  const std::vector<unsigned char> tensor = bytes_of(kRowBytes * 20, 1);
  unsigned char* in = on_device(tensor);
  bool right = true;
  for (const unsigned swizzle : {0U, 32U, 64U, 128U}) {
    for (unsigned row = 16; row <= (swizzle == 0 ? 128 : swizzle); row += 16) {
      Geometry g;
      g.rank = 2;
      g.element_bytes = 1;
      g.channels = static_cast<int>(row);
      g.pixels = kRows;
      g.swizzle = swizzle;
      g.at[0] = 16;
      g.at[1] = 9;
      const cuuint64_t extents[] = {kRowBytes - 16, 20};
      const cuuint64_t strides[] = {kRowBytes};
      const cuuint32_t box[] = {row, kRows};
      const cuuint32_t steps[] = {1, 1};
      alignas(64) CUtensorMap map{};
      if (encoder(&map,
                  CU_TENSOR_MAP_DATA_TYPE_UINT8,
                  2,
                  in,
                  extents,
                  strides,
                  box,
                  steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE,
                  static_cast<CUtensorMapSwizzle>(swizzle == 128 ? 3 : swizzle / 32),
                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
        std::exit(3);
      }
      unsigned char* out = on_device(std::vector<unsigned char>(g.shared_bytes()));
      loads<2><<<1, kThreads, kSharedBytes>>>(map, copy_of(g), reinterpret_cast<unsigned*>(out));
      const std::vector<unsigned char> got = from_device(out, g.shared_bytes());
      std::vector<unsigned char> want(g.shared_bytes(), 0x55);
      for (unsigned i = 0; i < kRows * row; ++i) {
        const bool inside = 9 + i / row < 20 && 16 + i % row < kRowBytes - 16;
        want[swizzled(g, i / row * g.pitch() + i % row)] =
            inside ? tensor[(9 + i / row) * kRowBytes + 16 + i % row] : 0;
      }
      print("tile", row, g, got, got == want);
      right = right && got == want;
      CHECK(cudaFree(out));
    }
  }
  return right;
}

// What the driver's encoder says of each argument.
void encoder_cases() {
  unsigned char* tensor = on_device(std::vector<unsigned char>(1 << 20));
  const auto say = [&](const char* what, auto change) {
    Encoding e;
    e.address = reinterpret_cast<std::uint64_t>(tensor);
    change(e);
    alignas(64) CUtensorMap map{};
    std::printf("encoder, %s: %d\n", what, static_cast<int>(e.encode(&map)));
  };
  say("as it is", [](Encoding&) {});
  say("rank 2", [](Encoding& e) { e.rank = 2; });
  say("rank 3", [](Encoding& e) { e.rank = 3; });
  say("rank 5", [](Encoding& e) { e.rank = 5; });
  say("rank 6", [](Encoding& e) { e.rank = 6; });
  say("an address that is no multiple of 16", [](Encoding& e) { e.address += 8; });
  say("an extent of 0", [](Encoding& e) { e.extent[2] = 0; });
  say("an extent of 2^32 + 1", [](Encoding& e) { e.extent[3] = (cuuint64_t{1} << 32) + 1; });
  say("a stride that is no multiple of 16", [](Encoding& e) { e.stride[1] += 8; });
  say("a stride of 2^40", [](Encoding& e) { e.stride[2] = cuuint64_t{1} << 40; });
  say("a stride of 0", [](Encoding& e) { e.stride[1] = 0; });
  say("a stride below the rows it spans", [](Encoding& e) { e.stride[1] = 64; });
  say("lower corner -128", [](Encoding& e) { e.lower[0] = -128; });
  say("lower corner -129", [](Encoding& e) { e.lower[1] = -129; });
  say("upper corner 127", [](Encoding& e) { e.upper[1] = 127; });
  say("upper corner 128", [](Encoding& e) { e.upper[0] = 128; });
  say("rank 5, lower corner -16", [](Encoding& e) { e.rank = 5, e.lower[2] = -16; });
  say("rank 5, lower corner -17", [](Encoding& e) { e.rank = 5, e.lower[2] = -17; });
  say("rank 5, upper corner 16", [](Encoding& e) { e.rank = 5, e.upper[0] = 16; });
  say("rank 3, lower corner -32768", [](Encoding& e) { e.rank = 3, e.lower[0] = -32768; });
  say("rank 3, lower corner -32769", [](Encoding& e) { e.rank = 3, e.lower[0] = -32769; });
  say("a box of one place", [](Encoding& e) { e.lower[0] = 7; });
  say("a box of no place", [](Encoding& e) { e.lower[0] = 8; });
  say("a box of two places in H", [](Encoding& e) { e.upper[1] = -13; });
  say("256 channels", [](Encoding& e) { e.channels = 256; });
  say("257 channels", [](Encoding& e) { e.channels = 264; });
  say("no channel", [](Encoding& e) { e.channels = 0; });
  say("channels of 8 bytes", [](Encoding& e) { e.channels = 4; });
  say("channels of 24 bytes", [](Encoding& e) { e.channels = 12; });
  say("1024 pixels", [](Encoding& e) { e.pixels = 1024; });
  say("1025 pixels", [](Encoding& e) { e.pixels = 1025; });
  say("no pixel", [](Encoding& e) { e.pixels = 0; });
  say("step 0 of W", [](Encoding& e) { e.step[1] = 0; });
  say("step 8 of W", [](Encoding& e) { e.step[1] = 8; });
  say("step 9 of W", [](Encoding& e) { e.step[1] = 9; });
  say("step 0 of C", [](Encoding& e) { e.step[0] = 0; });
  say("step 2 of C", [](Encoding& e) { e.step[0] = 2; });
  say("step 9 of C", [](Encoding& e) { e.step[0] = 9; });
  say("step 2 of N", [](Encoding& e) { e.step[3] = 2; });
  say("a swizzle of 32 below a row", [](Encoding& e) { e.swizzle = 1; });
  say("a swizzle of 64", [](Encoding& e) { e.swizzle = 2; });
  say("a swizzle of atoms of 32", [](Encoding& e) { e.swizzle = 4; });
  say("a swizzle that there is not", [](Encoding& e) { e.swizzle = 7; });
  say("NaN of whole numbers",
      [](Encoding& e) { e.type = CU_TENSOR_MAP_DATA_TYPE_UINT16, e.fill = 1; });
  say("a type that there is not", [](Encoding& e) { e.type = 16; });
  const auto wide = reinterpret_cast<decltype(&cuTensorMapEncodeIm2colWide)>(
      entry_of("cuTensorMapEncodeIm2colWide", 12080));
  if (wide == nullptr) {
    std::printf("wide encoder: none\n");
    return;
  }
  Encoding e;
  alignas(64) CUtensorMap map{};
  const CUresult result = wide(&map,
                               CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                               4,
                               tensor,
                               e.extent,
                               e.stride,
                               0,
                               0,
                               e.channels,
                               e.pixels,
                               e.step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE,
                               CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                               CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  std::printf("wide encoder, on an H100: %d\n", static_cast<int>(result));
}

// --- What the manual leaves open: where a copy that begins between two steps goes on ------------

// Pixels of a tensor whose elements say where they are: "w.h.n", or a dash outside.
void probe(const char* what, Geometry g) {
  std::vector<unsigned char> tensor(g.tensor_bytes());
  for (int n = 0; n < g.extent[3]; ++n) {
    for (int h = 0; h < g.extent[2]; ++h) {
      for (int w = 0; w < g.extent[1]; ++w) {
        const unsigned value = 0x1000U + static_cast<unsigned>(w + 16 * h + 256 * n);
        for (int c = 0; c < g.extent[0]; ++c) {
          std::memcpy(
              &tensor[w * g.stride[1] + h * g.stride[2] + n * g.stride[3] + c * 4U], &value, 4);
        }
      }
    }
  }
  const std::vector<unsigned char> got = loaded(g, tensor);
  std::printf("%s:", what);
  for (int pixel = 0; pixel < g.pixels; ++pixel) {
    unsigned value = 0;
    std::memcpy(&value, &got[static_cast<unsigned>(pixel) * g.pitch()], 4);
    if (value != 0) {
      std::printf(" %u.%u.%u", value % 16, value / 16 % 16, (value - 0x1000) / 256);
    } else {
      std::printf(" -");
    }
  }
  std::printf("\n");
}

void probes() {
  Geometry g;
  g.rank = 4;
  g.element_bytes = 4;
  g.channels = 4;
  g.pixels = 24;
  const int extent[] = {4, 5, 4, 3};
  std::copy(extent, extent + 4, g.extent);
  const std::uint64_t stride[] = {4, 16, 80, 320};
  std::copy(stride, stride + 4, g.stride);
  probe("plain", g);
  const auto with = [&](const char* what, auto change) {
    Geometry other = g;
    change(other);
    probe(what, other);
  };
  with("corners (1, 0) and (-1, 0)",
       [](Geometry& o) { o.lower[0] = 1, o.upper[0] = -1, o.at[1] = 1; });
  with("step 2 of W, begins between", [](Geometry& o) { o.step[1] = 2, o.at[1] = 1; });
  with("step 3 of W, begins between", [](Geometry& o) { o.step[1] = 3, o.at[1] = 2; });
  with("step 2 of H, begins between", [](Geometry& o) { o.step[2] = 2, o.at[2] = 1; });
  with("step 2 of N", [](Geometry& o) { o.step[3] = 2; });
  with("step 2 of C", [](Geometry& o) { o.step[0] = 2; });
  with("begins in front of the first image", [](Geometry& o) { o.at[3] = -1; });
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(cudaFree(nullptr));
  if (argc > 1) {
    planted = std::strcmp(argv[1], "BYTES") == 0 ? kBytes : kWait;
    return load_cases(1) ? 0 : 4;
  }
  const bool right = load_cases(40) & store_cases(20) & tile_cases() & multicast_case();
  encoder_cases();
  probes();
  return said(right);
}
