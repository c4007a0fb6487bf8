// A launch that begins before the one before it has ended, and waits for it. The argument WAIT
// leaves out the wait.

#include "tests/sim/cuda/programs/check.hpp"

__global__ void first(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
}

template <bool kWaits>
__global__ void second(const int* values, int* out) {
  if constexpr (kWaits) {
    cudaGridDependencySynchronize();
  }
  out[threadIdx.x] = 2 * values[threadIdx.x];
}

int main(int count, char** arguments) {
  const auto kernel = fault_of(count, arguments, {"WAIT"}) == 0 ? second<true> : second<false>;
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
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<const int*>(values), out));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  return said(back[63] == 126);
}
