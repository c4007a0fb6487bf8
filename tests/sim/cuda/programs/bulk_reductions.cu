// Copies that combine: cp.reduce.async.bulk to global memory and to shared memory of a cluster,
// cp.reduce.async.bulk.tensor. Every operation and type, of values at the edges of the types. Each
// line is the same on an H100 and in the simulator (golden/bulk_reductions.txt).
//
// usage: bulk_reductions [--dump | WAIT | BYTES | OPERATION]: the bytes, too; or with the sum read
// before the reduction is complete, with an mbarrier that is told of too few bytes, with another
// CTA that stores and does not add.

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <cuda.h>

#include "tests/sim/cuda/programs/check.hpp"
#include "tests/sim/cuda/programs/copy_wait.hpp"

namespace {

enum Fault { kNone, kWait, kFewBytes, kOperation };

constexpr unsigned kBytes = 2048;  // of what is combined: 16 times 16 pairs of 8 bytes
constexpr unsigned kThreads = 64;

// The operations and types of the manual, to global memory and to shared memory.
// clang-format off
#define TO_GLOBAL(X)                                                            \
  X(0, "add.u32") X(1, "add.s32") X(2, "add.u64") X(3, "add.noftz.f16")         \
  X(4, "add.noftz.bf16") X(5, "add.f32") X(6, "add.f64") X(7, "min.u32")        \
  X(8, "min.s32") X(9, "min.u64") X(10, "min.s64") X(11, "min.f16")             \
  X(12, "min.bf16") X(13, "max.u32") X(14, "max.s32") X(15, "max.u64")          \
  X(16, "max.s64") X(17, "max.f16") X(18, "max.bf16") X(19, "inc.u32")          \
  X(20, "dec.u32") X(21, "and.b32") X(22, "and.b64") X(23, "or.b32")            \
  X(24, "or.b64") X(25, "xor.b32") X(26, "xor.b64")
#define TO_SHARED(X)                                                            \
  X(0, "add.u32") X(1, "add.s32") X(2, "add.u64") X(3, "min.u32")               \
  X(4, "min.s32") X(5, "max.u32") X(6, "max.s32") X(7, "inc.u32")               \
  X(8, "dec.u32") X(9, "and.b32") X(10, "or.b32") X(11, "xor.b32")
#define OF_MAPS(X)                                                              \
  X(0, "add") X(1, "min") X(2, "max") X(3, "inc")                               \
  X(4, "dec") X(5, "and") X(6, "or") X(7, "xor")
// clang-format on

#define NAME(number, name) name,
constexpr const char* kToGlobal[] = {TO_GLOBAL(NAME)};
constexpr const char* kToShared[] = {TO_SHARED(NAME)};

__device__ void reduce_to_global(int which, void* to, unsigned from, unsigned bytes) {
  switch (which) {
#define CASE(number, name)                                                  \
  case number:                                                              \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." name \
                 " [%0], [%1], %2;" ::"l"(to),                              \
                 "r"(from),                                                 \
                 "r"(bytes)                                                 \
                 : "memory");                                               \
    break;
    TO_GLOBAL(CASE)
#undef CASE
  }
}

__device__ void reduce_to_shared(
    int which, unsigned to, unsigned from, unsigned bytes, unsigned barrier) {
  switch (which) {
#define CASE(number, name)                                                                    \
  case number:                                                                                \
    asm volatile(                                                                             \
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." name \
        " [%0], [%1], %2, [%3];" ::"r"(to),                                                   \
        "r"(from),                                                                            \
        "r"(bytes),                                                                           \
        "r"(barrier)                                                                          \
        : "memory");                                                                          \
    break;
    TO_SHARED(CASE)
#undef CASE
  }
}

__device__ void reduce_by_map(
    int which, const CUtensorMap& map, int column, int row, unsigned from) {
  switch (which) {
#define CASE(number, name)                                                 \
  case number:                                                             \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." name \
                 ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),     \
                 "r"(column),                                              \
                 "r"(row),                                                 \
                 "r"(from)                                                 \
                 : "memory");                                              \
    break;
    OF_MAPS(CASE)
#undef CASE
  }
}

__device__ void finish() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ void fill(unsigned* tile, const unsigned* in, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
    tile[i] = in[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

__global__ void to_global(int which, const unsigned* in, unsigned* out) {
  __shared__ __align__(128) unsigned tile[kBytes / 4];
  fill(tile, in, kBytes);
  if (threadIdx.x == 0) {
    reduce_to_global(which, out, shared_address(tile), kBytes);
    finish();
  }
}

__global__ void by_map(
    const __grid_constant__ CUtensorMap map, int which, int column, int row, const unsigned* in) {
  __shared__ __align__(1024) unsigned tile[kBytes / 4];
  fill(tile, in, kBytes);
  if (threadIdx.x == 0) {
    reduce_by_map(which, map, column, row, shared_address(tile));
    finish();
  }
}

// Both CTAs of a pair combine what they have with what CTA `target` has.
__global__ void __cluster_dims__(2, 1, 1) to_shared(
    int which, unsigned from_cta, unsigned target, const unsigned* in, unsigned* out, Fault fault) {
  __shared__ __align__(128) unsigned tile[kBytes / 4];
  __shared__ __align__(128) unsigned sums[kBytes / 4];
  __shared__ std::uint64_t barrier;
  for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x) {
    sums[i] = out[i];
  }
  fill(tile, in, kBytes);
  if (threadIdx.x == 0 && blockIdx.x == target) {
    const unsigned bytes = fault == kFewBytes ? kBytes - 16 : kBytes;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier))
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(bytes)
        : "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == from_cta) {
    unsigned to = 0, there = 0;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(sums)), "r"(target));
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"(shared_address(&barrier)), "r"(target));
    reduce_to_shared(which, to, shared_address(tile), kBytes, there);
  }
  if (blockIdx.x == target) {
    wait_for(shared_address(&barrier));
    for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x) {
      out[i] = sums[i];
    }
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// All CTAs add to the same place: `which` of the operations, of the same bytes each.
__global__ void together(
    int which, const unsigned* in, unsigned* out, unsigned* seen, Fault fault) {
  __shared__ __align__(128) unsigned tile[kBytes / 4];
  fill(tile, in, kBytes);
  if (threadIdx.x == 0) {
    if (fault == kOperation && blockIdx.x == 1) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                   "r"(shared_address(tile)),
                   "r"(kBytes)
                   : "memory");
    } else {
      reduce_to_global(which, out, shared_address(tile), kBytes);
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (fault == kWait) {
      *seen = out[0];
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    if (gridDim.x == 1 && fault != kWait) {
      *seen = out[0];
    }
  }
}

// --- The host -----------------------------------------------------------------------------------

using Bytes = std::vector<unsigned char>;

struct Random {
  std::uint64_t state;
  std::uint64_t operator()() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state >> 33 << 40 ^ state >> 20;
  }
};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// 16 values at the edges of a type, by the end of its name.
std::vector<std::uint64_t> edges_of(const std::string& type, unsigned* size) {
  const bool narrow = ends_with(type, "f16");
  *size = narrow ? 2 : ends_with(type, "64") ? 8 : 4;
  if (ends_with(type, "bf16")) {
    return {0x0000,
            0x8000,
            0x3f80,
            0xbf80,
            0x7f80,
            0xff80,
            0x7fc0,
            0xffff,
            0x7f81,
            0x0001,
            0x807f,
            0x0080,
            0x7f7f,
            0xff7f,
            0x4049,
            0x3380};
  }
  if (narrow) {
    return {0x0000,
            0x8000,
            0x3c00,
            0xbc00,
            0x7c00,
            0xfc00,
            0x7e00,
            0xffff,
            0x7c01,
            0x0001,
            0x83ff,
            0x0400,
            0x7bff,
            0xfbff,
            0x4248,
            0x1000};
  }
  if (ends_with(type, "f32")) {
    return {0x00000000,
            0x80000000,
            0x3f800000,
            0xbf800000,
            0x7f800000,
            0xff800000,
            0x7fc00000,
            0xffffffff,
            0x7f800001,
            0x00000001,
            0x807fffff,
            0x00800000,
            0x7f7fffff,
            0xff7fffff,
            0x40490fdb,
            0x33800000};
  }
  if (ends_with(type, "f64")) {
    return {0x0000000000000000,
            0x8000000000000000,
            0x3ff0000000000000,
            0xbff0000000000000,
            0x7ff0000000000000,
            0xfff0000000000000,
            0x7ff8000000000000,
            0xffffffffffffffff,
            0x7ff0000000000001,
            0x0000000000000001,
            0x800fffffffffffff,
            0x0010000000000000,
            0x7fefffffffffffff,
            0xffefffffffffffff,
            0x400921fb54442d18,
            0x3ca0000000000000};
  }
  return {0,
          1,
          2,
          5,
          0x7fffffff,
          0x80000000,
          0x80000001,
          0xffffffff,
          0xfffffffe,
          0x123456789abcdef0,
          0x7fffffffffffffff,
          0x8000000000000000,
          0x8000000000000001,
          0xffffffffffffffff,
          0xfedcba9876543210,
          0x100000000};
}

// What is there, and what is combined with it: every pair of the edges, then drawn bits.
void operands(const std::string& type, Bytes* there, Bytes* with) {
  unsigned size = 0;
  const std::vector<std::uint64_t> edges = edges_of(type, &size);
  Random random{size};
  there->resize(kBytes);
  with->resize(kBytes);
  for (unsigned i = 0; i < kBytes / size; ++i) {
    const bool drawn = i >= edges.size() * edges.size();
    const std::uint64_t a = drawn ? random() : edges[i % edges.size()];
    const std::uint64_t b = drawn ? random() : edges[i / edges.size()];
    std::memcpy(there->data() + i * size, &a, size);
    std::memcpy(with->data() + i * size, &b, size);
  }
}

unsigned* on_device(const Bytes& bytes) {
  unsigned* device = nullptr;
  CHECK(cudaMalloc(&device, bytes.size()));
  CHECK(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  return device;
}

bool dumping = false;

void print(const std::string& what, const unsigned* device, std::size_t size) {
  Bytes bytes(size);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost));
  const std::uint64_t hash = std::accumulate(
      bytes.begin(), bytes.end(), 14695981039346656037ULL, [](std::uint64_t sum, unsigned char b) {
        return (sum ^ b) * 1099511628211ULL;
      });
  std::printf("%s: %016llx\n", what.c_str(), static_cast<unsigned long long>(hash));
  if (dumping) {
    for (const unsigned char byte : bytes) {
      std::printf("%02x", byte);
    }
    std::printf("\n");
  }
}

void global_cases() {
  for (int which = 0; which < static_cast<int>(std::size(kToGlobal)); ++which) {
    Bytes there, with;
    operands(kToGlobal[which], &there, &with);
    unsigned *in = on_device(with), *out = on_device(there);
    to_global<<<1, kThreads>>>(which, in, out);
    print(std::string{"global, "} + kToGlobal[which], out, kBytes);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
  }
}

void shared_cases() {
  for (int which = 0; which < static_cast<int>(std::size(kToShared)); ++which) {
    for (unsigned from = 0; from < 2; ++from) {
      Bytes there, with;
      operands(kToShared[which], &there, &with);
      unsigned *in = on_device(with), *out = on_device(there);
      to_shared<<<2, kThreads>>>(which, from, 1, in, out, kNone);
      print(std::string{from == 0 ? "shared of another CTA, " : "shared of the CTA, "} +
                kToShared[which],
            out,
            kBytes);
      CHECK(cudaFree(in));
      CHECK(cudaFree(out));
    }
  }
}

struct MapType {
  CUtensorMapDataType type;
  const char* name;
  std::string operations;  // of kOfMaps, by their numbers
};

CUtensorMap map_of(CUtensorMapDataType type, unsigned size, void* tensor, bool swizzles) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  // 20 rows of 160 bytes, and a box of 16 rows of 128 bytes.
  const cuuint64_t extents[] = {160 / size, 20};
  const cuuint64_t strides[] = {160};
  const cuuint32_t box[] = {128 / size, 16};
  const cuuint32_t steps[] = {1, 1};
  alignas(64) CUtensorMap map{};
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
          &map,
          type,
          2,
          tensor,
          extents,
          strides,
          box,
          steps,
          CU_TENSOR_MAP_INTERLEAVE_NONE,
          swizzles ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
          CU_TENSOR_MAP_L2_PROMOTION_NONE,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::exit(3);
  }
  return map;
}

void tensor_cases() {
  const MapType kTypes[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT32, "u32", "01234567"},
                            {CU_TENSOR_MAP_DATA_TYPE_INT32, "s32", "012567"},
                            {CU_TENSOR_MAP_DATA_TYPE_UINT64, "u64", "012567"},
                            {CU_TENSOR_MAP_DATA_TYPE_INT64, "s64", "12"},
                            {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, "f16", "012"},
                            {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, "bf16", "012"},
                            {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, "f32", "0"}};
  const char* kNames[] = {OF_MAPS(NAME)};
  for (const MapType& type : kTypes) {
    for (const char letter : type.operations) {
      const int which = letter - '0';
      unsigned size = 0;
      edges_of(type.name, &size);
      Bytes there, with;
      operands(type.name, &there, &with);
      there.insert(there.end(), there.begin(), there.begin() + 3200 - kBytes);
      unsigned *in = on_device(with), *out = on_device(there);
      // Over the tensor's lower edge, and over its right one.
      const int column = which % 2 == 0 ? 0 : static_cast<int>(64 / size);
      by_map<<<1, kThreads>>>(map_of(type.type, size, out, which % 3 == 0), which, column, 8, in);
      print(std::string{"tensor, "} + kNames[which] + " of " + type.name, out, 3200);
      CHECK(cudaFree(in));
      CHECK(cudaFree(out));
    }
  }
}

void together_cases(Fault fault) {
  for (const int which : {0, 5, 8, 25}) {
    Bytes there(kBytes), with(kBytes);
    for (unsigned i = 0; i < kBytes / 4; ++i) {
      const float number = static_cast<float>(i % 97);  // sums of these are exact
      const unsigned bits = i * 2654435761U;
      std::memcpy(with.data() + 4 * i, which == 5 ? static_cast<const void*>(&number) : &bits, 4);
    }
    unsigned *in = on_device(with), *out = on_device(there);
    unsigned* seen = on_device(Bytes(16));
    together<<<5, kThreads>>>(which, in, out, seen, fault);
    print(std::string{"by five CTAs, "} + kToGlobal[which], out, kBytes);
    together<<<1, kThreads>>>(which, in, out, seen, fault);
    print(std::string{"and one more, "} + kToGlobal[which], seen, 4);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(seen));
    if (fault != kNone) {
      return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  dumping = what == "--dump";
  if (what == "BYTES") {
    Bytes there(kBytes), with(kBytes);
    to_shared<<<2, kThreads>>>(0, 0, 1, on_device(with), on_device(there), kFewBytes);
    print("shared", on_device(there), 4);
  } else if (what == "WAIT" || what == "OPERATION") {
    together_cases(what == "WAIT" ? kWait : kOperation);
  } else {
    global_cases();
    shared_cases();
    tensor_cases();
    together_cases(kNone);
  }
  return said(true);
}
