// Tiles go by cuda::memcpy_async through a cuda::pipeline of the block: all threads produce and
// consume, or half of them each, said by role or by their number. Then groups of coalesced threads
// add up. An argument is one of: WAIT (consumers do not wait), EARLY (they release a stage before
// they read it), RING (one stage more is filled than there are), FEW (a warp leaves out its last
// commit), GROUP (all groups of coalesced threads add to one word, one that lanes take for theirs).

#include <vector>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/pipeline>

#include "tests/sim/cuda/programs/check.hpp"

enum class Fault { kNone, kWait, kEarly, kRing, kFew, kGroup };

constexpr int kStages = 2;
constexpr int kThreads = 128;
constexpr int kTile = 64;  // of int4
constexpr int kTiles = 5;

namespace cg = cooperative_groups;
using State = cuda::pipeline_shared_state<cuda::thread_scope_block, kStages>;
using Pipeline = cuda::pipeline<cuda::thread_scope_block>;

template <Fault kFault>
__device__ void take(Pipeline& pipeline, const int4* tile, int4* out, int thread) {
  if constexpr (kFault != Fault::kWait) {
    pipeline.consumer_wait();
  }
  if constexpr (kFault == Fault::kEarly) {
    pipeline.consumer_release();
  }
  int4 value = tile[(thread + 1) % kTile];
  value.x += 1;
  out[thread] = value;
  if constexpr (kFault != Fault::kEarly) {
    pipeline.consumer_release();
  }
}

template <Fault kFault>
__global__ void unified(const int4* in, int4* out) {
  __shared__ State state;
  __shared__ int4 tiles[kStages][kTile];
  const auto block = cg::this_thread_block();
  const int thread = static_cast<int>(threadIdx.x);
  Pipeline pipeline = cuda::make_pipeline(block, &state);
  constexpr int kAhead = kFault == Fault::kRing ? kStages + 1 : kStages;
  int filled = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    for (; filled < kTiles && filled < tile + kAhead; ++filled) {
      pipeline.producer_acquire();
      cuda::memcpy_async(
          &tiles[filled % kStages][thread], in + filled * kTile + thread, sizeof(int4), pipeline);
      pipeline.producer_commit();
    }
    take<kFault>(pipeline, tiles[tile % kStages], out + tile * kTile, thread);
  }
}

template <Fault kFault, bool kByRole>
__global__ void parted(const int4* in, int4* out) {
  __shared__ State state;
  __shared__ int4 tiles[kStages][kTile];
  const auto block = cg::this_thread_block();
  const int thread = static_cast<int>(threadIdx.x) % kTile;
  const bool produces = threadIdx.x < kTile;
  Pipeline pipeline = kByRole ? cuda::make_pipeline(block,
                                                    &state,
                                                    produces ? cuda::pipeline_role::producer
                                                             : cuda::pipeline_role::consumer)
                              : cuda::make_pipeline(block, &state, kTile);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (!produces) {
      take<kFault>(pipeline, tiles[tile % kStages], out + tile * kTile, thread);
    } else if (kFault != Fault::kFew || tile + 1 < kTiles || thread >= 32) {
      pipeline.producer_acquire();
      cuda::memcpy_async(
          &tiles[tile % kStages][thread], in + tile * kTile + thread, sizeof(int4), pipeline);
      pipeline.producer_commit();
    }
  }
}

// Which threads are coalesced nobody promises: each group has a word of its own, by its first one.
template <Fault kFault>
__global__ void coalesced(const int4* in, int* sums) {
  const int thread = static_cast<int>(threadIdx.x);
  const int value = in[thread].x;
  if (thread % 3 == 0) {
    const auto group = cg::coalesced_threads();
    const int sum = cg::reduce(group, value, cg::plus<int>());
    const int first = group.shfl(thread, 0);
    if (group.thread_rank() == 0) {
      sums[kFault == Fault::kGroup ? thread / 32 : first] = sum;
    }
  }
}

template <Fault kFault>
void launch(const int4* in, int4* out, int* sums) {
  constexpr int kWords = kTiles * kTile;
  unified<kFault><<<1, kTile>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  parted<kFault, true><<<1, kThreads>>>(in, out + kWords);
  CHECK(cudaDeviceSynchronize());
  parted<kFault, false><<<1, kThreads>>>(in, out + 2 * kWords);
  CHECK(cudaDeviceSynchronize());
  coalesced<kFault><<<1, kThreads>>>(in, sums);
}

int main(int count, char** arguments) {
  void (*const all[])(const int4*, int4*, int*) = {launch<Fault::kNone>,
                                                   launch<Fault::kWait>,
                                                   launch<Fault::kEarly>,
                                                   launch<Fault::kRing>,
                                                   launch<Fault::kFew>,
                                                   launch<Fault::kGroup>};
  const int fault = fault_of(count, arguments, {"WAIT", "EARLY", "RING", "FEW", "GROUP"});
  constexpr int kWords = kTiles * kTile;
  std::vector<int4> in(kWords), back(3 * kWords);
  for (int i = 0; i < kWords; ++i) {
    in[static_cast<std::size_t>(i)] = {i, i + 1, i + 2, i + 3};
  }
  int4 *din = nullptr, *out = nullptr;
  int* sums = nullptr;
  CHECK(cudaMalloc(&din, kWords * sizeof(int4)));
  CHECK(cudaMalloc(&out, 3 * kWords * sizeof(int4)));
  CHECK(cudaMalloc(&sums, kThreads * sizeof(int)));
  CHECK(cudaMemset(sums, 0, kThreads * sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), kWords * sizeof(int4), cudaMemcpyHostToDevice));
  all[fault](din, out, sums);
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(ended));
    return 5;
  }
  std::vector<int> added(kThreads);
  CHECK(cudaMemcpy(back.data(), out, 3 * kWords * sizeof(int4), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(added.data(), sums, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < 3 * kWords; ++i) {
    const int tile = i % kWords / kTile * kTile;
    right = right && back[static_cast<std::size_t>(i)].x == tile + (i + 1) % kTile + 1;
  }
  int sum = 0;
  for (const int part : added) {
    sum += part;
  }
  return said(right && sum == 3 * (42 * 43 / 2));
}
