/// FlashAttention-3's backward kernels with a head of 128: its arguments are rows and heads.

#include <flash_bwd_launch_template.h>

#include "tests/sim/cuda/published/attention_backward.cuh"

namespace {

struct Given {
  void* place;
  std::vector<std::int64_t> shape;
};

void run(Given q, Given k, Given v, Given o, Given grad, Given lse, Given dq, Given dk, Given dv) {
  const int rows = static_cast<int>(q.shape[2]);
  const int columns = static_cast<int>(q.shape[3]);
  const int heads = static_cast<int>(q.shape[1]);
  Flash_bwd_params params{};
  params.q_ptr = q.place;
  params.k_ptr = k.place;
  params.v_ptr = v.place;
  params.o_ptr = o.place;
  params.do_ptr = grad.place;
  params.softmax_lse_ptr = lse.place;
  params.dq_ptr = dq.place;
  params.dk_ptr = dk.place;
  params.dv_ptr = dv.place;
  params.q_row_stride = params.k_row_stride = params.v_row_stride = params.o_row_stride = columns;
  params.do_row_stride = params.dq_row_stride = params.dk_row_stride = params.dv_row_stride =
      columns;
  params.q_head_stride = params.k_head_stride = params.v_head_stride = params.o_head_stride =
      rows * columns;
  params.do_head_stride = params.dq_head_stride = params.dk_head_stride = params.dv_head_stride =
      rows * columns;
  params.q_batch_stride = params.k_batch_stride = params.v_batch_stride = params.o_batch_stride =
      heads * rows * columns;
  params.do_batch_stride = params.dq_batch_stride = params.dk_batch_stride =
      params.dv_batch_stride = heads * rows * columns;
  params.v_dim_stride = 1;
  params.b = 1;
  params.h = params.h_k = heads;
  params.seqlen_q = params.seqlen_k = rows;
  params.seqlen_q_rounded = params.seqlen_k_rounded = rows;
  params.d = params.dv = params.d_rounded = params.dv_rounded = columns;
  params.scale_softmax = 1 / std::sqrt(static_cast<float>(columns));
  params.window_size_left = params.window_size_right = -1;
  params.num_sm = heads;
  params.dsoftmax_sum = published::room_for(heads * rows, sizeof(float));
  params.softmax_lse_log2_ptr = published::room_for(heads * rows, sizeof(float));
  params.dq_accum_ptr = published::room_for(heads * rows * columns, sizeof(float));
  run_flash_bwd<90,
                128,
                64,
                128,
                cutlass::bfloat16_t,
                false,
                false,
                false,
                false,
                false,
                false,
                2,
                2,
                true,
                false,
                false,
                2,
                1,
                2,
                1,
                false>(params, nullptr);
}

}  // namespace

int main(int, char** words) {
  return published::attention_backward(run, words);
}
