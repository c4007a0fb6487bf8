/// FlashMLA's dense decoding for sm_90a: the schedule, the parts, and what combines them.
/// Its arguments are the parts, and the keys of each request. KEPT: the schedule is of an earlier
/// call, whose end the host has waited for.

#include <params.h>
#include <sm90/decode/dense/splitkv_mla.h>
#include <smxx/decode/combine/combine.h>
#include <smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.h>

#include "tests/sim/cuda/published/flash_mla.cuh"

namespace {

using namespace published;

constexpr int kHeads = HEADS;
constexpr int kWidth = 576;
constexpr int kPage = 64;
constexpr int kOutput = static_cast<int>(kValueWidth);

/// Requests of one query each, whose keys are in pages that are not side by side.
struct Requests {
  std::vector<int> lengths;
  int most_pages = 0;
  std::vector<int> table;
  std::vector<float> q;
  std::vector<float> keys;
  float scale = 1.0F / std::sqrt(static_cast<float>(kWidth));

  explicit Requests(std::vector<int> of) : lengths{std::move(of)} {
    for (const int length : lengths) {
      most_pages = std::max(most_pages, (length + kPage - 1) / kPage);
    }
    for (int i = 0; i < count() * most_pages; ++i) {
      table.push_back(i % most_pages * count() + i / most_pages);
    }
    q = drawn(std::size_t{1} * count() * kHeads * kWidth, 1);
    keys = drawn(table.size() * kPage * kWidth, 2);
  }
  int count() const { return static_cast<int>(lengths.size()); }

  std::vector<float> expected() const {
    std::vector<float> result(std::size_t{1} * count() * kHeads * kOutput);
    for (int i = 0; i < count(); ++i) {
      std::vector<int> rows;
      for (int key = 0; key < lengths[i]; ++key) {
        rows.push_back(table[i * most_pages + key / kPage] * kPage + key % kPage);
      }
      for (int head = 0; head < kHeads; ++head) {
        const std::size_t row = std::size_t{1} * i * kHeads + head;
        attend(&q[row * kWidth], keys, rows, kWidth, scale, &result[row * kOutput]);
      }
    }
    return result;
  }
};

int* numbers_on_device(const std::vector<int>& numbers) {
  return static_cast<int*>(uploaded(numbers.data(), numbers.size() * sizeof(int)));
}

float* floats(int count) {
  return static_cast<float*>(room_for(count, sizeof(float)));
}

DenseAttnDecodeParams parameters_of(const Requests& requests, int parts) {
  DenseAttnDecodeParams params{};
  params.b = requests.count();
  params.s_q = 1;
  params.q_seq_per_hk = kHeads;
  params.d = kWidth;
  params.d_v = kOutput;
  params.h_q = kHeads;
  params.h_k = 1;
  params.num_blocks = static_cast<int>(requests.table.size());
  params.q_head_per_hk = kHeads;
  params.scale_softmax = requests.scale;
  params.scale_softmax_log2 = requests.scale * static_cast<float>(M_LOG2E);
  params.q_ptr = uploaded(requests.q);
  params.k_ptr = uploaded(requests.keys);
  params.o_ptr = room_for(std::size_t{1} * requests.count() * kHeads * kOutput);
  params.softmax_lse_ptr = floats(requests.count() * kHeads);
  params.q_batch_stride = kHeads * kWidth;
  params.k_batch_stride = kPage * kWidth;
  params.o_batch_stride = kHeads * kOutput;
  params.q_row_stride = kWidth;
  params.k_row_stride = kWidth;
  params.o_row_stride = kOutput;
  params.q_head_stride = kWidth;
  params.k_head_stride = kWidth;
  params.o_head_stride = kHeads * kOutput;
  params.block_table = numbers_on_device(requests.table);
  params.block_table_batch_stride = requests.most_pages;
  params.page_block_size = kPage;
  params.seqlens_k_ptr = numbers_on_device(requests.lengths);
  params.tile_scheduler_metadata_ptr =
      static_cast<DecodingSchedMeta*>(room_for(parts, sizeof(DecodingSchedMeta)));
  params.num_sm_parts = parts;
  params.num_splits_ptr = static_cast<int*>(room_for(requests.count() + 1, sizeof(int)));
  params.total_num_splits = requests.count() + parts;
  params.softmax_lseaccum_ptr = floats(params.total_num_splits * kHeads);
  params.oaccum_ptr = floats(params.total_num_splits * kHeads * kOutput);
  return params;
}

void run(DenseAttnDecodeParams params) {
  GetDecodeSchedMetaParams schedule{};
  schedule.b = params.b;
  schedule.s_q = 1;
  schedule.block_size_n = kPage;
  schedule.fixed_overhead_num_blocks = 5;
  schedule.topk = -1;
  schedule.extra_topk = -1;
  schedule.seqlens_k_ptr = params.seqlens_k_ptr;
  schedule.tile_scheduler_metadata_ptr = params.tile_scheduler_metadata_ptr;
  schedule.num_splits_ptr = params.num_splits_ptr;
  schedule.num_sm_parts = params.num_sm_parts;
  smxx::decode::run_get_decoding_sched_meta_kernel(schedule);
  if (KEPT) {
    finish();
  }
  sm90::run_flash_splitkv_mla_kernel<cutlass::bfloat16_t>(params);
  CombineParams combine{};
  combine.b = params.b;
  combine.s_q = 1;
  combine.h_q = kHeads;
  combine.d_v = kOutput;
  combine.lse = params.softmax_lse_ptr;
  combine.out = params.o_ptr;
  combine.stride_lse_b = combine.stride_lse_s_q = kHeads;
  combine.stride_o_b = combine.stride_o_s_q = kHeads * kOutput;
  combine.stride_o_h_q = kOutput;
  combine.lse_accum = params.softmax_lseaccum_ptr;
  combine.o_accum = params.oaccum_ptr;
  combine.stride_lse_accum_split = combine.stride_lse_accum_s_q = kHeads;
  combine.stride_o_accum_split = combine.stride_o_accum_s_q = kHeads * kOutput;
  combine.stride_o_accum_h_q = kOutput;
  combine.tile_scheduler_metadata_ptr = params.tile_scheduler_metadata_ptr;
  combine.num_splits_ptr = params.num_splits_ptr;
  combine.num_sm_parts = params.num_sm_parts;
  smxx::decode::run_flash_mla_combine_kernel<cutlass::bfloat16_t>(combine);
}

}  // namespace

int main(int count, char** words) {
  std::vector<int> lengths;
  for (int i = 2; i < count; ++i) {
    lengths.push_back(std::atoi(words[i]));
  }
  const Requests requests{std::move(lengths)};
  const DenseAttnDecodeParams params = parameters_of(requests, std::atoi(words[1]));
  run(params);
  finish();
  return wrong_of("o", params.o_ptr, requests.expected()) == 0 ? 0 : 1;
}
