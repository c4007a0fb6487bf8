/// A program around a published product D = A B^T in bf16: its arguments are M, N and K.

#pragma once

#include "tests/sim/cuda/published/common.cuh"

namespace published {

template <class Run>
int gemm(Run* run, char** words) {
  const std::size_t m = std::strtoul(words[1], nullptr, 10);
  const std::size_t n = std::strtoul(words[2], nullptr, 10);
  const std::size_t k = std::strtoul(words[3], nullptr, 10);
  const std::vector<float> a = drawn(m * k, 1);
  const std::vector<float> b = drawn(n * k, 2);
  std::vector<float> d(m * n);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[column * k + i];
      }
      d[row * n + column] = sum;
    }
  }
  const auto shape = [](std::size_t rows, std::size_t columns) {
    return std::vector<std::int64_t>{static_cast<std::int64_t>(rows),
                                     static_cast<std::int64_t>(columns)};
  };
  void* const found = room_for(m * n);
  run({uploaded(a), shape(m, k)}, {uploaded(b), shape(n, k)}, {found, shape(m, n)});
  finish();
  return wrong_of("d", found, d) == 0 ? 0 : 1;
}

}  // namespace published
