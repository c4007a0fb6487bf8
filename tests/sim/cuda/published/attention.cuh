/// What attention should give.

#pragma once

#include "tests/sim/cuda/published/common.cuh"

namespace published {

/// softmax(Q K^T / sqrt(d)) V of one head, whose `head` elements a row of Q and K have, and `out` a
/// row of V; a causal query sees no key behind its own place.
inline std::vector<float> attended(const std::vector<float>& q,
                                   const std::vector<float>& k,
                                   const std::vector<float>& v,
                                   int head,
                                   int out,
                                   bool causal) {
  const int queries = static_cast<int>(q.size()) / head;
  const int all_keys = static_cast<int>(k.size()) / head;
  std::vector<float> result(static_cast<std::size_t>(queries) * out);
  std::vector<float> weights(all_keys);
  for (int row = 0; row < queries; ++row) {
    const int keys = causal ? row + all_keys - queries + 1 : all_keys;
    float sum = 0;
    for (int key = 0; key < keys; ++key) {
      float score = 0;
      for (int i = 0; i < head; ++i) {
        score += q[row * head + i] * k[key * head + i];
      }
      weights[key] = std::exp(score / std::sqrt(static_cast<float>(head)));
      sum += weights[key];
    }
    for (int key = 0; key < keys; ++key) {
      for (int i = 0; i < out; ++i) {
        result[row * out + i] += weights[key] / sum * v[key * out + i];
      }
    }
  }
  return result;
}

}  // namespace published
