// A grid that meets: each CTA prints, and reads what another one has stored, twice. An argument is
// one of: MEET (nobody waits), AGAIN (nor before it stores anew), ASSERT (a thread's condition does
// not hold).

#include <cassert>
#include <vector>

#include <cooperative_groups.h>

#include "tests/sim/cuda/programs/check.hpp"

enum class Fault { kNone, kMeet, kAgain, kAssert };

template <Fault kFault>
__global__ void turn(int* stored, int* out) {
  printf("CTA %u of %u: %s\n", blockIdx.x, gridDim.x, "here");
  for (int round = 0; round < 2; ++round) {
    stored[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    if constexpr (kFault != Fault::kMeet) {
      cooperative_groups::this_grid().sync();
    }
    const int other = stored[gridDim.x - 1 - blockIdx.x];
    assert(other < (kFault == Fault::kAssert ? 3 : 4));
    out[blockIdx.x] = other;
    if constexpr (kFault != Fault::kAgain) {
      cooperative_groups::this_grid().sync();
    }
  }
}

int main(int count, char** names) {
  void (*const kernels[])(int*, int*) = {
      turn<Fault::kNone>, turn<Fault::kMeet>, turn<Fault::kAgain>, turn<Fault::kAssert>};
  const int fault = fault_of(count, names, {"MEET", "AGAIN", "ASSERT"});
  constexpr int kCtas = 3;
  int *stored = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&stored, kCtas * sizeof(int)));
  CHECK(cudaMalloc(&out, kCtas * sizeof(int)));
  void* arguments[] = {&stored, &out};
  CHECK(cudaLaunchCooperativeKernel(kernels[fault], dim3{kCtas}, dim3{1}, arguments));
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(ended));
    return 5;
  }
  std::vector<int> back(kCtas);
  CHECK(cudaMemcpy(back.data(), out, kCtas * sizeof(int), cudaMemcpyDeviceToHost));
  return said(back[0] == 3 && back[1] == 2 && back[2] == 1);
}
