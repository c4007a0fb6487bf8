/// FlashAttention-3's forward kernel; HEAD, CAUSAL, CLUSTER, CTAS, QUERIES and KEYS say which.

#include <flash_fwd_launch_template.h>

#include "tests/sim/cuda/published/attention.cuh"

namespace {

using namespace published;

constexpr int kQueries = QUERIES;
constexpr int kKeys = KEYS;
constexpr int kHead = HEAD;

}  // namespace

int main() {
  const std::vector<float> q = drawn(kQueries * kHead, 1);
  const std::vector<float> k = drawn(kKeys * kHead, 2);
  const std::vector<float> v = drawn(kKeys * kHead, 3);
  const std::vector<int> counters(8);
  Flash_fwd_params params{};
  params.q_ptr = uploaded(q);
  params.k_ptr = uploaded(k);
  params.v_ptr = uploaded(v);
  params.o_ptr = room_for(q.size());
  params.softmax_lse_ptr = room_for(kQueries, sizeof(float));
  params.q_row_stride = params.k_row_stride = params.v_row_stride = params.o_row_stride = kHead;
  params.q_head_stride = params.o_head_stride = params.q_batch_stride = kQueries * kHead;
  params.o_batch_stride = params.q_batch_stride;
  params.k_head_stride = params.v_head_stride = params.k_batch_stride = kKeys * kHead;
  params.v_batch_stride = params.k_batch_stride;
  params.v_dim_stride = 1;
  params.b = params.h = params.h_k = params.num_splits = 1;
  params.seqlen_q = kQueries;
  params.seqlen_k = kKeys;
  params.d = params.dv = kHead;
  params.scale_softmax = 1 / std::sqrt(static_cast<float>(kHead));
  params.window_size_left = -1;
  params.window_size_right = CAUSAL ? 0 : -1;
  params.is_causal = CAUSAL;
  params.tile_count_semaphore =
      static_cast<int*>(uploaded(counters.data(), counters.size() * sizeof(int)));
  params.num_sm = CTAS;
  run_flash_fwd<90,
                kHead,
                kHead,
                CLUSTER,
                cutlass::bfloat16_t,
                cutlass::bfloat16_t,
                CAUSAL,
                false,
                false,
                false,
                false,
                false,
                false,
                false,
                false,
                false>(params, nullptr);
  finish();
  return wrong_of("o", params.o_ptr, attended(q, k, v, kHead, kHead, CAUSAL)) == 0 ? 0 : 1;
}
