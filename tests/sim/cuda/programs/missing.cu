// A call that the stand-ins do not have ends the program: which one, an argument says.

#include <string>

#include "tests/sim/cuda/programs/check.hpp"

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "graph";
  std::printf("begun\n");
  if (what == "graph") {
    cudaGraph_t graph{};
    CHECK(cudaGraphCreate(&graph, 0));
  } else if (what == "capture") {
    CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
  } else if (what == "peer") {
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
  } else if (what == "array") {
    cudaArray_t array{};
    const cudaChannelFormatDesc format{};
    CHECK(cudaMallocArray(&array, &format, 16));
  } else if (what == "ipc") {
    cudaIpcMemHandle_t handle{};
    CHECK(cudaIpcGetMemHandle(&handle, nullptr));
  }
  return said(true);
}
