// Tiles go by TMA through a ring of two stages in shared memory, from a warp that loads to four
// that consume. An argument is one of: COUNT (a barrier expects too many), PARITY (a wait for the
// wrong phase), FENCE (a copy may overtake the reads of what it overwrites), EXIT (a consumer ends
// before the ring does).

#include <vector>

#include <cuda.h>
#include <cuda/ptx>

#include "tests/sim/cuda/programs/check.hpp"

enum class Fault { kNone, kCount, kParity, kFence, kExit };

constexpr int kStages = 2;
constexpr int kRows = 16;
constexpr int kColumns = 32;
constexpr int kTiles = 7;
constexpr int kConsumers = 4;

using Barrier = std::uint64_t;
namespace ptx = cuda::ptx;

__device__ void wait(Barrier* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

template <Fault kFault>
__global__ void copy(const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ alignas(128) float tiles[kStages][kRows * kColumns];
  __shared__ Barrier full[kStages];
  __shared__ Barrier empty[kStages];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);
      ptx::mbarrier_init(&empty[stage], kFault == Fault::kCount ? kConsumers + 1 : kConsumers);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (warp == kConsumers) {
    if (lane == 0) {
      for (int tile = 0; tile < kTiles; ++tile) {
        const int stage = tile % kStages;
        const unsigned round = static_cast<unsigned>(tile / kStages);
        wait(&empty[stage], (round & 1) ^ (kFault == Fault::kParity ? 0 : 1));
        ptx::mbarrier_arrive_expect_tx(
            ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], sizeof tiles[0]);
        const int at[] = {0, tile * kRows};
        ptx::cp_async_bulk_tensor(
            ptx::space_shared, ptx::space_global, tiles[stage], &map, at, &full[stage]);
      }
    }
    return;
  }
  for (int tile = 0; tile < kTiles; ++tile) {
    const int stage = tile % kStages;
    if (kFault == Fault::kExit && warp == 1 && tile == kTiles - 3) {
      return;
    }
    wait(&full[stage], static_cast<unsigned>(tile / kStages) & 1);
    for (unsigned i = threadIdx.x; i < kRows * kColumns; i += kConsumers * 32) {
      out[tile * kRows * kColumns + static_cast<int>(i)] = 2 * tiles[stage][i];
    }
    if constexpr (kFault != Fault::kFence) {
      ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncwarp();
    if (lane == 0) {
      ptx::mbarrier_arrive(&empty[stage]);
    }
  }
}

int main(int count, char** arguments) {
  void (*const kernels[])(CUtensorMap, float*) = {copy<Fault::kNone>,
                                                  copy<Fault::kCount>,
                                                  copy<Fault::kParity>,
                                                  copy<Fault::kFence>,
                                                  copy<Fault::kExit>};
  const int fault = fault_of(count, arguments, {"COUNT", "PARITY", "FENCE", "EXIT"});
  constexpr std::size_t kCount = std::size_t{kTiles} * kRows * kColumns;
  std::vector<float> in(kCount), back(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    in[i] = static_cast<float>(i);
  }
  float *din = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&din, kCount * sizeof(float)));
  CHECK(cudaMalloc(&out, kCount * sizeof(float)));
  CHECK(cudaMemcpy(din, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  CUtensorMap map{};
  const cuuint64_t extents[] = {kColumns, kTiles * kRows};
  const cuuint64_t strides[] = {kColumns * sizeof(float)};
  const cuuint32_t box[] = {kColumns, kRows};
  const cuuint32_t steps[] = {1, 1};
  if (encode(&map,
             CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
             2,
             din,
             extents,
             strides,
             box,
             steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    return 3;
  }
  kernels[fault]<<<1, (kConsumers + 1) * 32>>>(map, out);
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(ended));
    return 5;
  }
  CHECK(cudaMemcpy(back.data(), out, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  bool right = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    right = right && back[i] == 2 * in[i];
  }
  return said(right);
}
