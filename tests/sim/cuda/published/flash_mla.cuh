/// What FlashMLA's kernels should compute: queries and keys of kWidth, values of their first 512.

#pragma once

#include <algorithm>

#include "tests/sim/cuda/published/common.cuh"

namespace published {

constexpr std::size_t kValueWidth = 512;

/// One query over the keys at `rows`; below zero is none.
inline void attend(const float* query,
                   const std::vector<float>& keys,
                   const std::vector<int>& rows,
                   std::size_t width,
                   float scale,
                   float* out) {
  std::vector<float> scores;
  float most = -INFINITY;
  for (const int row : rows) {
    float sum = -INFINITY;
    if (row >= 0) {
      sum = 0;
      for (std::size_t i = 0; i < width; ++i) {
        sum += query[i] * keys[row * width + i];
      }
      sum *= scale;
    }
    scores.push_back(sum);
    most = std::max(most, sum);
  }
  float total = 0;
  for (float& score : scores) {
    score = std::exp(score - most);
    total += score;
  }
  std::fill(out, out + kValueWidth, 0.0F);
  for (std::size_t key = 0; key < rows.size(); ++key) {
    for (std::size_t i = 0; i < kValueWidth && rows[key] >= 0; ++i) {
      out[i] += scores[key] / total * keys[rows[key] * width + i];
    }
  }
}

}  // namespace published
