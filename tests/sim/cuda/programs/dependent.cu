// A launch that begins before the one before it has ended, and waits for it. The argument WAIT
// leaves out the wait; READ lets a third launch write what the second may still read; CHAIN has a
// launch between the first two that does not wait, so that its end does not tell of the first;
// WAITING has one that does. LEGACY and LEGACY_WAIT are the first two in cudaStreamLegacy, which is
// another name of the default stream.

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

template <bool kWaits>
__global__ void third(int* values) {
  if constexpr (kWaits) {
    cudaGridDependencySynchronize();
  }
  values[threadIdx.x] = 0;
}

template <bool kWaits>
__global__ void between(int* out) {
  if constexpr (kWaits) {
    cudaGridDependencySynchronize();
  }
  out[64 + threadIdx.x] = 1;
  cudaTriggerProgrammaticLaunchCompletion();
}

int main(int count, char** arguments) {
  const int fault =
      fault_of(count, arguments, {"WAIT", "READ", "CHAIN", "WAITING", "LEGACY", "LEGACY_WAIT"});
  const auto kernel = fault == 1 || fault == 6 ? second<false> : second<true>;
  int *values = nullptr, *out = nullptr;
  int back[64] = {};
  CHECK(cudaMalloc(&values, sizeof back));
  CHECK(cudaMalloc(&out, 2 * sizeof back));
  first<<<1, 64>>>(values);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.attrs = &attribute;
  config.numAttrs = 1;
  config.stream = fault >= 5 ? cudaStreamLegacy : nullptr;
  if (fault == 3 || fault == 4) {
    CHECK(cudaLaunchKernelEx(&config, fault == 3 ? between<false> : between<true>, out));
  }
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<const int*>(values), out));
  CHECK(cudaLaunchKernelEx(&config, fault == 2 ? third<false> : third<true>, values));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  return said(back[63] == 126);
}
