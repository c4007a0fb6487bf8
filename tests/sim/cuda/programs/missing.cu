// A call that the stand-ins do not have ends the program.

#include "tests/sim/cuda/programs/check.hpp"

int main() {
  cudaGraph_t graph{};
  std::printf("begun\n");
  CHECK(cudaGraphCreate(&graph, 0));
  return said(true);
}
