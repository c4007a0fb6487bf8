// What the test programs share: a call that fails ends the program.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <cuda_runtime.h>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t checked = (call);                                          \
    if (checked != cudaSuccess) {                                                \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(checked)); \
      std::exit(3);                                                              \
    }                                                                            \
  } while (false)

// Which of these faults the first argument names: 1 for the first of them, 0 without an argument.
// Another name ends the program.
inline int fault_of(int count, char** arguments, std::initializer_list<const char*> faults) {
  int number = 0;
  for (const char* fault : faults) {
    ++number;
    if (count > 1 && std::strcmp(arguments[1], fault) == 0) {
      return number;
    }
  }
  if (count > 1) {
    std::printf("there is no fault %s\n", arguments[1]);
    std::exit(3);
  }
  return 0;
}

// What a program says at its end: what it computed is what it should have.
inline int said(bool right) {
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 4;
}
