// A sum in shared memory. The argument BARRIER leaves out the one between its rounds.

#include <vector>

#include "tests/sim/cuda/programs/check.hpp"

template <bool kOrdered>
__global__ void sum(const int* in, int* out) {
  extern __shared__ int shared[];
  const unsigned i = threadIdx.x;
  shared[i] = in[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (i < half) {
      shared[i] += shared[i + half];
    }
    if constexpr (kOrdered) {
      __syncthreads();
    }
  }
  if (i == 0) {
    out[blockIdx.x] = shared[0];
  }
}

int main(int count, char** arguments) {
  const auto kernel = fault_of(count, arguments, {"BARRIER"}) == 0 ? sum<true> : sum<false>;
  constexpr int kBlocks = 3;
  constexpr int kThreads = 128;
  std::vector<int> in(kBlocks * kThreads), out(kBlocks);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<int>(i);
  }
  int *din = nullptr, *dout = nullptr;
  CHECK(cudaMalloc(&din, in.size() * sizeof(int)));
  CHECK(cudaMalloc(&dout, out.size() * sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));
  kernel<<<kBlocks, kThreads, kThreads * sizeof(int)>>>(din, dout);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out.data(), dout, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int block = 0; block < kBlocks; ++block) {
    const int first = block * kThreads;
    right = right && out[block] == kThreads * first + kThreads * (kThreads - 1) / 2;
  }
  return said(right);
}
