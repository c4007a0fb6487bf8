// Threads of the host that launch side by side.

#include <thread>
#include <vector>

#include "tests/sim/cuda/programs/check.hpp"

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value;
}

int main() {
  constexpr int kThreads = 4;
  int results[kThreads] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i, &results] {
      int* out = nullptr;
      int back[32] = {};
      cudaStream_t stream{};
      CHECK(cudaStreamCreate(&stream));
      CHECK(cudaMalloc(&out, sizeof back));
      for (int round = 0; round < 3; ++round) {
        fill<<<1, 32, 0, stream>>>(out, i + round);
      }
      CHECK(cudaMemcpyAsync(back, out, sizeof back, cudaMemcpyDeviceToHost, stream));
      CHECK(cudaStreamSynchronize(stream));
      results[i] = back[31];
    });
  }
  bool right = true;
  for (int i = 0; i < kThreads; ++i) {
    threads[static_cast<std::size_t>(i)].join();
    right = right && results[i] == i + 2;
  }
  return said(right);
}
