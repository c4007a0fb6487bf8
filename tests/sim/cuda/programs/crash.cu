// A program that ends early: what it has launched is reported.

#include "tests/sim/cuda/programs/check.hpp"

__global__ void nothing() {}

int main(int count, char** arguments) {
  nothing<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  if (count > 1 && arguments[1][0] == 'a') {
    std::abort();
  }
  std::exit(count > 1 ? std::atoi(arguments[1]) : 0);
}
