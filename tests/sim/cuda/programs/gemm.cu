// A GEMM of two CTAs in a cluster: each loads its rows of A, and half of B, which goes to both by
// multicast. It begins early, beside the launch that fills A and B. An argument is one of: WAIT (it
// does not wait for that launch), RELEASE (a stage is released to the own CTA alone, though the
// other one fills it too), BYTES (the other CTA's half of B is not expected), EXIT (a CTA may end
// while the other one releases a stage to it).

#include <vector>

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_fp16.h>

#include "tests/sim/cuda/programs/check.hpp"

enum class Fault { kNone, kWait, kRelease, kBytes, kExit };

constexpr int kCtas = 2;
constexpr int kRows = 64;     // of A and the output, of a CTA
constexpr int kColumns = 64;  // of the output
constexpr int kDepth = 64;    // of a tile: 128 bytes, the width of the swizzle
constexpr int kTiles = 5;
constexpr int kStages = 2;
constexpr unsigned kWarps = 4;
template <Fault kFault>
constexpr unsigned kReleases = (kFault == Fault::kRelease ? 1 : kCtas) * kWarps;
template <Fault kFault>
constexpr unsigned kExpected =
    (kRows + (kFault == Fault::kBytes ? kColumns / kCtas : kColumns)) * kDepth * sizeof(__half);

using Barrier = std::uint64_t;
namespace ptx = cuda::ptx;
namespace groups = cooperative_groups;

struct Stages {
  __half a[kStages][kRows * kDepth];
  __half b[kStages][kColumns * kDepth];
};

__global__ void fill(__half* a, __half* b) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCtas * kRows * kTiles * kDepth) {
    a[i] = __int2half_rn(i % 5 - 2);
  }
  if (i < kColumns * kTiles * kDepth) {
    b[i] = __int2half_rn(i % 7 - 3);
  }
  cudaTriggerProgrammaticLaunchCompletion();
}

__device__ void wait(Barrier* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

template <Fault kFault>
__device__ void load(const CUtensorMap& map_a,
                     const CUtensorMap& map_b,
                     Stages& stages,
                     Barrier* full,
                     Barrier* empty) {
  const int cta = static_cast<int>(blockIdx.x);
  if constexpr (kFault != Fault::kWait) {
    cudaGridDependencySynchronize();
  }
  for (int tile = 0; tile < kTiles; ++tile) {
    const int stage = tile % kStages;
    wait(&empty[stage], (static_cast<unsigned>(tile / kStages) & 1) ^ 1);
    ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], +kExpected<kFault>);
    const int at_a[] = {tile * kDepth, cta * kRows};
    ptx::cp_async_bulk_tensor(
        ptx::space_cluster, ptx::space_global, stages.a[stage], &map_a, at_a, &full[stage]);
    const int row = cta * kColumns / kCtas;
    const int at_b[] = {tile * kDepth, row};
    ptx::cp_async_bulk_tensor(ptx::space_cluster,
                              ptx::space_global,
                              &stages.b[stage][row * kDepth],
                              &map_b,
                              at_b,
                              &full[stage],
                              static_cast<std::uint16_t>((1 << kCtas) - 1));
  }
}

// Of a K-major tile with the swizzle of 128 bytes: eight rows are 1024 bytes.
__device__ std::uint64_t descriptor(const __half* tile) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  return ((address & 0x3ffff) >> 4) | (std::uint64_t{1} << 16) | (std::uint64_t{1024 >> 4} << 32) |
         (std::uint64_t{1} << 62);
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])

__device__ void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, "
      "%10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
      "%28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)
      : "l"(a), "l"(b));
}

// The compiler sets the accumulator's registers in front of this, and not between wgmmas.
__device__ void settle(float (&d)[32]) {
  for (float& value : d) {
    asm volatile("" : "+f"(value)::"memory");
  }
}

template <Fault kFault>
__device__ void consume(Stages& stages, Barrier* full, Barrier* empty, float* out) {
  groups::cluster_group cluster = groups::this_cluster();
  const unsigned lane = threadIdx.x % 32;
  float d[32] = {};
  for (int tile = 0; tile < kTiles; ++tile) {
    const int stage = tile % kStages;
    wait(&full[stage], static_cast<unsigned>(tile / kStages) & 1);
    settle(d);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < kDepth; k += 16) {
      multiply(d, descriptor(&stages.a[stage][k]), descriptor(&stages.b[stage][k]));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    settle(d);
    __syncwarp();
    if (lane < kReleases<kFault> / kWarps) {
      const unsigned to = kFault == Fault::kRelease ? blockIdx.x : lane;
      Barrier* barrier = cluster.map_shared_rank(&empty[stage], to);
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, barrier);
    }
  }
  const unsigned row = blockIdx.x * kRows + threadIdx.x / 32 * 16 + lane / 4;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    out[(row + i / 2 % 2 * 8) * kColumns + column] = d[i];
  }
}

template <Fault kFault>
__global__ void __cluster_dims__(kCtas) gemm(const __grid_constant__ CUtensorMap map_a,
                                             const __grid_constant__ CUtensorMap map_b,
                                             float* out) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  __shared__ Barrier full[kStages];
  __shared__ Barrier empty[kStages];
  Stages& stages = *reinterpret_cast<Stages*>(bytes);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);
      ptx::mbarrier_init(&empty[stage], +kReleases<kFault>);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  groups::this_cluster().sync();
  if (threadIdx.x / 32 < kWarps) {
    consume<kFault>(stages, full, empty, out);
  } else if (threadIdx.x % 32 == 0) {
    load<kFault>(map_a, map_b, stages, full, empty);
  }
  __syncwarp();
  if constexpr (kFault != Fault::kExit) {
    groups::this_cluster().sync();
  }
}

static CUtensorMap map_of(__half* values, int rows, int box_rows) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  CUtensorMap map{};
  const cuuint64_t extents[] = {kTiles * kDepth, static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {kTiles * kDepth * sizeof(__half)};
  const cuuint32_t box[] = {kDepth, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  if (encode(&map,
             CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
             2,
             values,
             extents,
             strides,
             box,
             steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::exit(3);
  }
  return map;
}

int main(int count, char** arguments) {
  void (*const kernels[])(CUtensorMap, CUtensorMap, float*) = {gemm<Fault::kNone>,
                                                               gemm<Fault::kWait>,
                                                               gemm<Fault::kRelease>,
                                                               gemm<Fault::kBytes>,
                                                               gemm<Fault::kExit>};
  const int fault = fault_of(count, arguments, {"WAIT", "RELEASE", "BYTES", "EXIT"});
  constexpr int kWidth = kTiles * kDepth;
  constexpr int kSizeA = kCtas * kRows * kWidth;
  constexpr int kSizeB = kColumns * kWidth;
  __half *a = nullptr, *b = nullptr;
  float* out = nullptr;
  std::vector<float> back(kCtas * kRows * kColumns);
  CHECK(cudaMalloc(&a, kSizeA * sizeof(__half)));
  CHECK(cudaMalloc(&b, kSizeB * sizeof(__half)));
  CHECK(cudaMalloc(&out, back.size() * sizeof(float)));
  const CUtensorMap map_a = map_of(a, kCtas * kRows, kRows);
  const CUtensorMap map_b = map_of(b, kColumns, kColumns / kCtas);
  fill<<<(kSizeA + 127) / 128, 128>>>(a, b);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  const cudaLaunchConfig_t config{
      dim3(kCtas), dim3((kWarps + 1) * 32), sizeof(Stages), nullptr, &attribute, 1};
  CHECK(cudaLaunchKernelEx(&config, kernels[fault], map_a, map_b, out));
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(ended));
    return 5;
  }
  CHECK(cudaMemcpy(back.data(), out, back.size() * sizeof(float), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int row = 0; row < kCtas * kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      int sum = 0;
      for (int k = 0; k < kWidth; ++k) {
        sum += ((row * kWidth + k) % 5 - 2) * ((column * kWidth + k) % 7 - 3);
      }
      right = right &&
              back[static_cast<std::size_t>(row * kColumns + column)] == static_cast<float>(sum);
    }
  }
  return said(right);
}
