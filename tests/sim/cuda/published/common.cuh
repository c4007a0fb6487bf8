/// Host code of the programs around published kernels.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tvm/ffi/tvm_ffi.h>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace published {

/// `count` numbers from -1 to 1 that bf16 has.
inline std::vector<float> drawn(std::size_t count, std::uint32_t state) {
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    state = state * 1664525 + 1013904223;
    number = __bfloat162float(
        __float2bfloat16((static_cast<float>(state >> 16 & 0x7FF) - 1024.0F) / 1024.0F));
  }
  return numbers;
}

inline void* uploaded(const void* bytes, std::size_t count) {
  void* place = nullptr;
  cudaMalloc(&place, count);
  cudaMemcpy(place, bytes, count, cudaMemcpyHostToDevice);
  return place;
}

/// As bf16, on the device.
inline void* uploaded(const std::vector<float>& numbers) {
  std::vector<__nv_bfloat16> narrow(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    narrow[i] = __float2bfloat16(numbers[i]);
  }
  return uploaded(narrow.data(), narrow.size() * sizeof(narrow[0]));
}

inline void* room_for(std::size_t numbers, std::size_t bytes = sizeof(__nv_bfloat16)) {
  void* place = nullptr;
  cudaMalloc(&place, numbers * bytes);
  return place;
}

/// How many of an output are not as `expected`, within 2 % and 0.02; prints it.
inline int wrong_of(const char* name, const void* place, const std::vector<float>& expected) {
  std::vector<__nv_bfloat16> found(expected.size());
  cudaMemcpy(found.data(), place, found.size() * sizeof(found[0]), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float off = std::fabs(__bfloat162float(found[i]) - expected[i]);
    wrong += off <= 0.02F * std::fabs(expected[i]) + 0.02F ? 0 : 1;
  }
  std::printf("%s: %d of %zu wrong\n", name, wrong, found.size());
  return wrong;
}

inline void finish() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::puts(cudaGetErrorString(error));
    std::exit(1);
  }
}

}  // namespace published
