// Planes, pools, variables, libraries, callbacks: what of the runtime other programs here do not
// call.

#include <cstdint>
#include <cstring>
#include <vector>

#include <cuda.h>

#include "tests/sim/cuda/programs/check.hpp"

__constant__ int scale_of[2];
__device__ int told;

__global__ void multiply(int* values, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) {
    values[i] *= scale_of[i % 2];
  }
  if (i == 0) {
    told = n;
  }
}

static bool planes() {
  // 3 planes of 4 rows of 5 bytes, the middle of a box of 8 x 6 x 5.
  const cudaExtent extent = make_cudaExtent(8, 6, 5);
  cudaPitchedPtr device{};
  CHECK(cudaMalloc3D(&device, extent));
  CHECK(cudaMemset3D(device, 1, extent));
  unsigned char host[5][6][8], back[3][4][5];
  for (int i = 0; i < 5 * 6 * 8; ++i) {
    (&host[0][0][0])[i] = static_cast<unsigned char>(i);
  }
  cudaMemcpy3DParms to{};
  to.srcPtr = make_cudaPitchedPtr(host, 8, 8, 6);
  to.srcPos = make_cudaPos(1, 1, 1);
  to.dstPtr = device;
  to.dstPos = make_cudaPos(1, 1, 1);
  to.extent = make_cudaExtent(5, 4, 3);
  to.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&to));
  cudaMemcpy3DParms from{};
  from.srcPtr = device;
  from.srcPos = make_cudaPos(1, 1, 1);
  from.dstPtr = make_cudaPitchedPtr(back, 5, 5, 4);
  from.extent = to.extent;
  from.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3DAsync(&from));
  bool right = true;
  for (int z = 0; z < 3; ++z) {
    for (int y = 0; y < 4; ++y) {
      right = right && std::memcmp(back[z][y], &host[z + 1][y + 1][1], 5) == 0;
    }
  }
  unsigned char corner = 0;
  CHECK(cudaMemcpy(&corner, device.ptr, 1, cudaMemcpyDeviceToHost));
  return right && corner == 1;
}

static bool pools(cudaStream_t stream) {
  cudaMemPool_t pool{}, standard{};
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPoolCreate(&pool, &properties));
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
  std::uint64_t threshold = 1U << 20, used = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  int* values = nullptr;
  CHECK(cudaMallocFromPoolAsync(&values, 32 * sizeof(int), pool, stream));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  const int scales[2] = {2, 3};
  CHECK(
      cudaMemcpyToSymbolAsync(scale_of, scales, sizeof scales, 0, cudaMemcpyHostToDevice, stream));
  const std::vector<int> ones(32, 1);
  CHECK(cudaMemcpyAsync(values, ones.data(), 32 * sizeof(int), cudaMemcpyHostToDevice, stream));
  multiply<<<1, 32, 0, stream>>>(values, 32);
  std::vector<int> back(32);
  CHECK(cudaMemcpyAsync(back.data(), values, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(values, stream));
  CHECK(cudaStreamSynchronize(stream));
  int n = 0;
  CHECK(cudaMemcpyFromSymbol(&n, told, sizeof n));
  const bool other = pool != standard && cudaMemPoolDestroy(standard) != cudaSuccess;
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolDestroy(pool));
  return threshold == 1U << 20 && used >= 128 && n == 32 && back[4] == 2 && back[5] == 3 && other;
}

static bool callbacks(cudaStream_t stream) {
  // It changes what the copy before it has brought: the host may, for it runs behind the copy.
  int *host = nullptr, *device = nullptr;
  CHECK(cudaMallocHost(&host, sizeof(int)));
  CHECK(cudaMalloc(&device, sizeof(int)));
  CHECK(cudaMemsetAsync(device, 0, sizeof(int), stream));
  CHECK(cudaMemcpyAsync(host, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
  const auto add_one = [](void* data) { ++*static_cast<int*>(data); };
  CHECK(cudaLaunchHostFunc(stream, add_one, host));
  CHECK(cudaMemcpyAsync(device, host, sizeof(int), cudaMemcpyHostToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  int got = 0;
  CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDefault));
  return got == 1;
}

static bool entries() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion(
      "cuStreamGetPriority", &function, 12000, cudaEnableDefault, &found));
  int priority = 7;
  const bool called =
      found == cudaDriverEntryPointSuccess &&
      reinterpret_cast<CUresult (*)(CUstream, int*)>(function)(nullptr, &priority) == CUDA_SUCCESS;
  CHECK(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &found));
  return called && priority == 0 && found == cudaDriverEntryPointSymbolNotFound;
}

static bool streams() {
  int least = 0, greatest = 0, priority = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream{};
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamGetPriority(stream, &priority));
  cudaStreamAttrValue value{};
  CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributePriority, &value));
  const bool right = planes() && pools(stream) && callbacks(stream) && entries();
  CHECK(cudaStreamDestroy(stream));
  return right && priority == greatest && value.priority == greatest;
}

int main() {
  return said(streams());
}
