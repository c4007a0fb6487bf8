/// A program around a published backward pass of attention in bf16, of 128 elements a head, causal
/// or not: its arguments are the number of queries and of heads.

#pragma once

#include <algorithm>

#include "tests/sim/cuda/published/common.cuh"

namespace published {

inline double dot(const float* a, const float* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += static_cast<double>(a[i]) * b[i];
  }
  return sum;
}

template <class Run>
int attention_backward(Run* run, char** words, bool causal = false) {
  constexpr std::size_t kDim = 128;
  const std::size_t rows = std::strtoul(words[1], nullptr, 10);
  const std::size_t heads = std::strtoul(words[2], nullptr, 10);
  const std::size_t all = heads * rows * kDim;
  const double scale = 1 / std::sqrt(static_cast<double>(kDim));
  const std::vector<float> q = drawn(all, 1), k = drawn(all, 2), v = drawn(all, 3);
  const std::vector<float> grad = drawn(all, 4);
  std::vector<float> o(all), lse(heads * rows), dq(all), dk(all), dv(all);
  std::vector<double> weights(rows);
  for (std::size_t i = 0; i < heads * rows; ++i) {
    const std::size_t first = i / rows * rows;  // of the head
    const std::size_t keys = causal ? i - first + 1 : rows;
    double most = -1e30;
    for (std::size_t j = 0; j < keys; ++j) {
      weights[j] = dot(&q[i * kDim], &k[(first + j) * kDim], kDim) * scale;
      most = std::max(most, weights[j]);
    }
    double sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      weights[j] = std::exp(weights[j] - most);
      sum += weights[j];
    }
    lse[i] = static_cast<float>(most + std::log(sum));
    std::vector<double> out(kDim);
    for (std::size_t j = 0; j < keys; ++j) {
      weights[j] /= sum;
      for (std::size_t e = 0; e < kDim; ++e) {
        out[e] += weights[j] * v[(first + j) * kDim + e];
      }
    }
    double delta = 0;
    for (std::size_t e = 0; e < kDim; ++e) {
      o[i * kDim + e] = __bfloat162float(__float2bfloat16(static_cast<float>(out[e])));
      delta += static_cast<double>(grad[i * kDim + e]) * o[i * kDim + e];
    }
    for (std::size_t j = 0; j < keys; ++j) {
      const std::size_t key = (first + j) * kDim;
      const double ds = weights[j] * (dot(&grad[i * kDim], &v[key], kDim) - delta) * scale;
      for (std::size_t e = 0; e < kDim; ++e) {
        dq[i * kDim + e] += static_cast<float>(ds * k[key + e]);
        dk[key + e] += static_cast<float>(ds * q[i * kDim + e]);
        dv[key + e] += static_cast<float>(weights[j] * grad[i * kDim + e]);
      }
    }
  }
  const std::vector<std::int64_t> shape{1,
                                        static_cast<std::int64_t>(heads),
                                        static_cast<std::int64_t>(rows),
                                        static_cast<std::int64_t>(kDim)};
  void* const found[] = {room_for(all), room_for(all), room_for(all)};
  run({uploaded(q), shape},
      {uploaded(k), shape},
      {uploaded(v), shape},
      {uploaded(o), shape},
      {uploaded(grad), shape},
      {uploaded(lse.data(), lse.size() * sizeof(float)), {shape[0], shape[1], shape[2]}},
      {found[0], shape},
      {found[1], shape},
      {found[2], shape});
  finish();
  const int wrong =
      wrong_of("dq", found[0], dq) + wrong_of("dk", found[1], dk) + wrong_of("dv", found[2], dv);
  return wrong == 0 ? 0 : 1;
}

}  // namespace published
