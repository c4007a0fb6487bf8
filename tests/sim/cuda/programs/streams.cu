// Streams, events, memory of the host that kernels see, rows, fills, errors that a call returns.

#include <cstring>

#include "tests/sim/cuda/programs/check.hpp"

__global__ void scale(float* values, int n, float by) {
  for (unsigned i = threadIdx.x; i < static_cast<unsigned>(n); i += blockDim.x) {
    values[i] *= by;
  }
}

__global__ void too_much() {}

int main() {
  constexpr int kCount = 96;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, %d SMs, compute capability %d.%d, warps of %d, %zu bytes a block\n",
              properties.name,
              properties.multiProcessorCount,
              properties.major,
              properties.minor,
              properties.warpSize,
              properties.sharedMemPerBlockOptin);
  cudaStream_t first{}, second{};
  cudaEvent_t begun{}, done{};
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begun));
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDefault));
  float *host = nullptr, *device = nullptr, *managed = nullptr;
  CHECK(cudaMallocHost(&host, kBytes));
  CHECK(cudaMallocManaged(&managed, kBytes));
  CHECK(cudaMallocAsync(&device, kBytes, first));
  for (int i = 0; i < kCount; ++i) {
    host[i] = managed[i] = static_cast<float>(i);
  }
  CHECK(cudaEventRecord(begun, first));
  CHECK(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, first));
  scale<<<1, 32, 0, first>>>(device, kCount, 2);
  CHECK(cudaEventRecord(done, first));
  CHECK(cudaStreamWaitEvent(second, done));
  scale<<<1, 64, 0, second>>>(device, kCount, 3);
  scale<<<1, 64, 0, second>>>(managed, kCount, 5);
  CHECK(cudaMemcpyAsync(host, device, kBytes, cudaMemcpyDefault, second));
  CHECK(cudaStreamSynchronize(second));
  float passed = -1;
  CHECK(cudaEventElapsedTime(&passed, begun, done));
  bool right = passed >= 0;
  for (int i = 0; i < kCount; ++i) {
    right =
        right && host[i] == static_cast<float>(6 * i) && managed[i] == static_cast<float>(5 * i);
  }
  // Rows of 10 bytes, 512 apart.
  unsigned char* rows = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&rows, &pitch, 10, 3));
  CHECK(cudaMemset2D(rows, pitch, 7, 10, 3));
  unsigned char back[3][12] = {};
  CHECK(cudaMemcpy2D(back, 12, rows, pitch, 10, 3, cudaMemcpyDeviceToHost));
  right = right && back[2][9] == 7 && back[2][10] == 0;
  // A launch of too many threads is refused, and nothing after it.
  too_much<<<1, 2000>>>();
  right = right && cudaGetLastError() == cudaErrorInvalidValue;
  right = right && cudaGetLastError() == cudaSuccess;
  too_much<<<1, 32, 100000>>>();
  right = right && cudaGetLastError() == cudaErrorInvalidValue;
  CHECK(cudaFuncSetAttribute(too_much, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  too_much<<<1, 32, 100000>>>();
  CHECK(cudaGetLastError());
  // What is freed is no memory any more.
  CHECK(cudaFreeAsync(device, first));
  right = right && cudaMemset(device, 0, 4) == cudaErrorInvalidValue;
  right = right && cudaGetLastError() == cudaErrorInvalidValue;
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1024, 0));
  right = right && blocks == 2;
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  CHECK(cudaFreeHost(host));
  return said(right);
}
