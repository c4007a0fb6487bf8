// A library with a runtime of its own, as NVIDIA's have, and a program that calls it.

#include "tests/sim/cuda/programs/check.hpp"

extern "C" int create(void** handle);

#ifdef LIBRARY
int create(void** handle) {
  return cudaMalloc(handle, 16);
}
#else
int main() {
  void* handle = nullptr;
  CHECK(cudaFree(nullptr));
  return said(create(&handle) == 0);
}
#endif
