// A launch that begins before the one before it has ended, and waits for it. FAULT leaves out the
// wait.

#include "tests/sim/cuda/programs/check.hpp"

__global__ void first(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(const int* values, int* out) {
#ifndef FAULT
  cudaGridDependencySynchronize();
#endif
  out[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
  int *values = nullptr, *out = nullptr;
  int back[64] = {};
  CHECK(cudaMalloc(&values, sizeof back));
  CHECK(cudaMalloc(&out, sizeof back));
  first<<<1, 64>>>(values);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, second, static_cast<const int*>(values), out));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  return said(back[63] == 126);
}
