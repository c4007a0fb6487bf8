// Variables of the module in global and constant memory, which keep what they hold from launch to
// launch.

#include <vector>

#include "tests/sim/cuda/programs/check.hpp"

__device__ unsigned calls = 40;
__constant__ float factor = 1;
__device__ float* place = nullptr;

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    c[i] = a[i] + factor * b[i];
  }
  if (i == 0) {
    ++calls;
    place = c;
  }
}

__global__ void double_it(int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    place[i] *= 2;
  }
}

int main() {
  constexpr int kCount = 1000;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *da = nullptr, *db = nullptr, *dc = nullptr;
  CHECK(cudaMalloc(&da, kBytes));
  CHECK(cudaMalloc(&db, kBytes));
  CHECK(cudaMalloc(&dc, kBytes));
  CHECK(cudaMemcpy(da, a.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), kBytes, cudaMemcpyHostToDevice));
  const float three = 3;
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  add<<<4, 256>>>(da, db, dc, kCount);
  add<<<4, 256>>>(da, db, dc, kCount);
  double_it<<<4, 256>>>(kCount);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(c.data(), dc, kBytes, cudaMemcpyDeviceToHost));
  unsigned made = 0;
  CHECK(cudaMemcpyFromSymbol(&made, calls, sizeof made));
  bool right = made == 42;
  for (int i = 0; i < kCount; ++i) {
    right = right && c[i] == 2 * static_cast<float>(i + 3 * 2 * i);
  }
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return said(right);
}
