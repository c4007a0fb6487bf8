// What the test programs share: a call that fails ends the program.

#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t checked = (call);                                          \
    if (checked != cudaSuccess) {                                                \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(checked)); \
      std::exit(3);                                                              \
    }                                                                            \
  } while (false)

// What a program says at its end: what it computed is what it should have.
inline int said(bool right) {
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 4;
}
