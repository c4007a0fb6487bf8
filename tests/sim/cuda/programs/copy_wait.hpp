// What the programs of copies share: one thread waits for an mbarrier's first phase.

#pragma once

#include <cstdio>

#include <cuda_runtime.h>

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// With BOUNDED, for a GPU, a copy that counts other bytes does not hang the program.
#ifdef BOUNDED
constexpr unsigned kTriesMax = 1000000;
#else
constexpr unsigned kTriesMax = 0;
#endif

__device__ inline void wait_for(unsigned barrier) {
  unsigned done = 0;
  for (unsigned tries = 0; done == 0 && (kTriesMax == 0 || tries < kTriesMax); ++tries) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  if (kTriesMax != 0 && done == 0) {
    printf("a copy has not counted its bytes\n");
  }
}
