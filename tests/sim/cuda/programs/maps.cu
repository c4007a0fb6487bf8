// Grouped copies, as grouped matrix products make them: each CTA changes the map of its group in
// shared memory, puts it into a workspace, and copies by it. The map that it begins with stands in
// constant memory. An argument is one of: ACQUIRE (the copy may go by the old map), SYNC (a lane
// may copy its part of the map before another has changed it), LANES (the map is changed under the
// copy).

#include <vector>

#include <cuda.h>
#include <cuda/ptx>

#include "tests/sim/cuda/programs/check.hpp"

enum class Fault { kNone, kAcquire, kSync, kLanes };

constexpr int kGroups = 3;
constexpr int kRows = 8;
constexpr int kColumns = 32;

using Barrier = std::uint64_t;
namespace ptx = cuda::ptx;

__constant__ CUtensorMap shape;

template <Fault kFault>
__global__ void copy(float* const* in, float* out, CUtensorMap* workspace) {
  __shared__ alignas(128) float tile[kRows * kColumns];
  __shared__ alignas(128) unsigned map[sizeof(CUtensorMap) / 4];
  __shared__ Barrier full;
  const unsigned lane = threadIdx.x;
  CUtensorMap* mine = workspace + blockIdx.x;
  map[lane] = reinterpret_cast<const unsigned*>(&shape)[lane];
  if (lane == 0) {
    ptx::mbarrier_init(&full, 1);
  }
  __syncwarp();
  if (lane == 0) {
    ptx::tensormap_replace_global_address(
        ptx::space_shared, reinterpret_cast<CUtensorMap*>(map), in[blockIdx.x]);
  }
  if constexpr (kFault != Fault::kSync) {
    __syncwarp();
  }
  ptx::tensormap_cp_fenceproxy(ptx::sem_release,
                               ptx::scope_gpu,
                               mine,
                               reinterpret_cast<const CUtensorMap*>(map),
                               ptx::n32_t<128>{});
  if constexpr (kFault != Fault::kAcquire) {
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, mine, ptx::n32_t<128>{});
  }
  if (lane == 0) {
    ptx::mbarrier_arrive_expect_tx(
        ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof tile);
    const int at[] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, mine, at, &full);
  }
  if constexpr (kFault == Fault::kLanes) {
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release,
                                 ptx::scope_gpu,
                                 mine,
                                 reinterpret_cast<const CUtensorMap*>(map),
                                 ptx::n32_t<128>{});
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  for (unsigned i = lane; i < kRows * kColumns; i += 32) {
    out[blockIdx.x * kRows * kColumns + i] = 2 * tile[i];
  }
}

int main(int count, char** arguments) {
  void (*const kernels[])(float* const*, float*, CUtensorMap*) = {
      copy<Fault::kNone>, copy<Fault::kAcquire>, copy<Fault::kSync>, copy<Fault::kLanes>};
  const int fault = fault_of(count, arguments, {"ACQUIRE", "SYNC", "LANES"});
  constexpr std::size_t kCount = std::size_t{kRows} * kColumns;
  std::vector<float> in(kCount * kGroups), back(kCount * kGroups);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(i);
  }
  float* groups[kGroups] = {};
  for (int group = 0; group < kGroups; ++group) {
    CHECK(cudaMalloc(&groups[group], kCount * sizeof(float)));
    CHECK(cudaMemcpy(groups[group],
                     in.data() + kCount * static_cast<std::size_t>(group),
                     kCount * sizeof(float),
                     cudaMemcpyHostToDevice));
  }
  float *out = nullptr, **pointers = nullptr;
  CUtensorMap* workspace = nullptr;
  CHECK(cudaMalloc(&out, kCount * kGroups * sizeof(float)));
  CHECK(cudaMalloc(&pointers, sizeof groups));
  CHECK(cudaMalloc(&workspace, kGroups * sizeof(CUtensorMap)));
  CHECK(cudaMemcpy(pointers, groups, sizeof groups, cudaMemcpyHostToDevice));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  alignas(64) CUtensorMap map{};
  const cuuint64_t extents[] = {kColumns, kRows};
  const cuuint64_t strides[] = {kColumns * sizeof(float)};
  const cuuint32_t box[] = {kColumns, kRows};
  const cuuint32_t steps[] = {1, 1};
  if (encode(&map,
             CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
             2,
             groups[0],
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
  CHECK(cudaMemcpyToSymbol(shape, &map, sizeof map));
  kernels[fault]<<<kGroups, 32>>>(pointers, out, workspace);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back.data(), out, back.size() * sizeof(float), cudaMemcpyDeviceToHost));
  bool right = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    right = right && back[i] == 2 * in[i];
  }
  return said(right);
}
