/// FlashMLA's sparse attention: each query looks at keys of its own, by their numbers.
/// Its arguments are the queries, the keys, and how many of them a query looks at.

#if GENERATION == 90
#include <sm90/prefill/sparse/phase1.h>
#else
#include <sm100/prefill/sparse/fwd/head64/phase1.h>
#endif
#include "tests/sim/cuda/published/flash_mla.cuh"

int main(int, char** words) {
  using namespace published;
  constexpr int kHeads = 64;
  constexpr int kWidth = 512;
  const int queries = std::atoi(words[1]);
  const int keys = std::atoi(words[2]);
  const int chosen = std::atoi(words[3]);
  const std::vector<float> q = drawn(std::size_t{1} * queries * kHeads * kWidth, 1);
  const std::vector<float> kv = drawn(std::size_t{1} * keys * kWidth, 2);
  const float scale = 1.0F / std::sqrt(static_cast<float>(kWidth));
  std::vector<int> indices;
  std::vector<float> expected(std::size_t{1} * queries * kHeads * kValueWidth);
  for (int query = 0; query < queries; ++query) {
    std::vector<int> rows;
    for (int i = 0; i < chosen; ++i) {
      rows.push_back(i % 13 == 12 ? -1 : (i * 37 + query * 11) % keys);
    }
    indices.insert(indices.end(), rows.begin(), rows.end());
    for (int head = 0; head < kHeads; ++head) {
      const std::size_t row = std::size_t{1} * query * kHeads + head;
      attend(&q[row * kWidth], kv, rows, kWidth, scale, &expected[row * kValueWidth]);
    }
  }
  SparseAttnFwdParams params{};
  params.s_q = queries;
  params.s_kv = keys;
  params.h_q = kHeads;
  params.h_kv = 1;
  params.d_qk = kWidth;
  params.d_v = kValueWidth;
  params.topk = chosen;
  params.sm_scale = scale;
  params.sm_scale_div_log2 = scale * static_cast<float>(M_LOG2E);
  params.q = static_cast<cutlass::bfloat16_t*>(uploaded(q));
  params.kv = static_cast<cutlass::bfloat16_t*>(uploaded(kv));
  params.indices = static_cast<int*>(uploaded(indices.data(), indices.size() * sizeof(int)));
  params.stride_q_s_q = kHeads * kWidth;
  params.stride_q_h_q = kWidth;
  params.stride_kv_s_kv = kWidth;
  params.stride_kv_h_kv = kWidth;
  params.stride_indices_s_q = chosen;
  params.stride_indices_h_kv = chosen;
  params.out = static_cast<cutlass::bfloat16_t*>(room_for(expected.size()));
  params.max_logits = static_cast<float*>(room_for(queries * kHeads, sizeof(float)));
  params.lse = static_cast<float*>(room_for(queries * kHeads, sizeof(float)));
  params.num_sm = 132;
#if GENERATION == 90
  sm90::fwd::run_fwd_phase1_kernel<kWidth, false>(params);
#else
  sm100::fwd::head64::run_fwd_phase1_kernel<kWidth>(params);
#endif
  finish();
  return wrong_of("o", params.out, expected) == 0 ? 0 : 1;
}
