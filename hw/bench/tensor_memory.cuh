/// Microbenchmarks of what sm_100a has and Hopper has not: tensor memory, its MMAs, and cluster
/// launch control. Kernels have C names, so that their PTX can be run in the simulator; compiled
/// for Hopper they have no body.

#pragma once

#include "hw/bench/microbenchmark.cuh"
#include "hw/ptx/launch.hpp"
#include "hw/ptx/tcgen05.hpp"

namespace warptwin::hw::bench {

/// What thread 0 of a kernel's measuring warp notes, one for each CTA.
struct Notes {
  std::uint64_t cycles;  // by the SM's clock
  std::uint64_t ns;      // by the device's
  std::uint64_t extra;   // what the kernel says
};

/// Threads of a CTA: a warp for each quarter of tensor memory's lanes, and one for products.
inline constexpr std::uint32_t kTmemThreads = 160;
inline constexpr std::uint32_t kProductWarp = 4;
inline constexpr std::uint32_t kTmemA = 16384;              // A in shared memory: 128 rows of 128 B
inline constexpr std::uint32_t kTmemOperands = 3 * kTmemA;  // and B behind it: 256 rows
inline constexpr std::uint32_t kTmemShared = kTmemOperands + 1024;  // and barriers
inline constexpr std::uint32_t kTmemColumns = 512;
inline constexpr std::uint32_t kTmemLoaded = 256;  // the first column behind D: what loads read
inline constexpr std::uint32_t kTmemLoadedColumns = 32;

#ifdef __CUDACC__

namespace {

/// The clocks when it was made, until they are noted.
class Stopwatch {
 public:
  __device__ void note(Notes* notes, std::uint64_t extra) const {
    notes[blockIdx.x] = {now() - cycles_, nanoseconds() - ns_, extra};
  }

 private:
  std::uint64_t ns_ = nanoseconds();
  std::uint64_t cycles_ = now();
};

__device__ inline void wait(Mbarrier bar, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity, kAcquireCta)) {
  }
}

/// Brings the CTAs of the group together, tensor memory with them.
template <CtaGroup kGroup>
__device__ void meet() {
  ptx::tcgen05_fence_before_thread_sync();
  if constexpr (kGroup == CtaGroup::kTwo) {
    ptx::barrier_cluster_arrive(kReleaseCluster);
    ptx::barrier_cluster_wait();
  } else {
    ptx::cta_sync();
  }
  ptx::tcgen05_fence_after_thread_sync();
}

/// All tensor memory, operands, two barriers of one arrival. Participants: every thread of the
/// CTAs of the group, here and in `end`.
template <CtaGroup kGroup>
class TmemBench {
 public:
  __device__ explicit TmemBench(std::uint32_t seed) {
    fill(base_, kTmemOperands, seed);
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(bar(0), 1);
      ptx::mbarrier_init(bar(1), 1);
      ptx::fence_mbarrier_init();
    }
    if (warp_ == 0) {
      ptx::tcgen05_alloc(kGroup, base_ + kTmemOperands, kTmemColumns);
      ptx::tcgen05_relinquish_alloc_permit(kGroup);
    }
    meet<kGroup>();
    tmem_ = {ptx::ld_shared_u32(base_ + kTmemOperands)};
    if (warp_ < kProductWarp) {
      std::uint32_t ones[kTmemLoadedColumns];
      WARPTWIN_UNROLL for (std::uint32_t& word : ones) {
        word = seed == 0 ? 0 : 0x3F803F80;
      }
      ptx::tcgen05_st_32x32b(tmem_.at_lane(kWarpLanes * warp_).at_column(kTmemLoaded), ones);
      ptx::tcgen05_wait_st();
    }
    meet<kGroup>();
  }

  __device__ void end() const {
    meet<kGroup>();
    if (warp_ == 0) {
      ptx::tcgen05_dealloc(kGroup, tmem_, kTmemColumns);
    }
  }

  __device__ Mbarrier bar(std::uint32_t i) const { return {base_ + (kTmemOperands + 8 + 8 * i)}; }
  __device__ std::uint32_t warp() const { return warp_; }
  __device__ SharedAddress base() const { return base_; }
  __device__ TmemAddress tmem() const { return tmem_; }

  /// Operands of products of m x columns x 16: four steps of K.
  struct Operands {
    UmmaInstructionDescriptor form;
    UmmaSmemDescriptor a[4];
    UmmaSmemDescriptor b[4];
  };
  __device__ Operands operands(std::uint32_t m, std::uint32_t columns) const {
    using Tile = SharedTile<bf16>;
    Operands all{
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, m, columns)};
    for (std::uint32_t k = 0; k < 4; ++k) {
      all.a[k] = UmmaSmemDescriptor::k_major(Tile{base_ + 32 * k, 128, 64, Swizzle::k128B});
      all.b[k] =
          UmmaSmemDescriptor::k_major(Tile{base_ + kTmemA + 32 * k, 256, 64, Swizzle::k128B});
    }
    return all;
  }

  /// `kBatch` products, of which the first begins a sum. One lane.
  template <std::uint32_t kBatch, bool kAInTmem>
  __device__ void multiply(const Operands& all) const {
    if constexpr (kBatch > 0) {
      // Eight at a time: between them the warp issues nothing else.
      constexpr std::uint32_t kTogether = kBatch < 8 ? kBatch : 8;
      for (std::uint32_t done = 0; done < kBatch; done += kTogether) {
        WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kTogether; ++i) {
          if constexpr (kAInTmem) {
            ptx::tcgen05_mma_tmem_a(
                kGroup, tmem_, tmem_.at_column(kTmemLoaded), all.b[i % 4], all.form, done + i != 0);
          } else {
            ptx::tcgen05_mma(kGroup, tmem_, all.a[i % 4], all.b[i % 4], all.form, done + i != 0);
          }
        }
      }
    }
  }

 private:
  SharedAddress base_ = shared_base();
  std::uint32_t warp_ = ptx::warp_index();
  TmemAddress tmem_;
};

/// How a kernel multiplies.
struct Batches {
  std::uint32_t m, columns, batch, times;
  bool issue;  // whether only the issue of products is timed, not until a waiter goes on
};

/// `times` batches, each committed and waited for by the lane that issues it: the cycles of what
/// is timed in each, together.
template <std::uint32_t kBatch, bool kAInTmem, CtaGroup kGroup>
__device__ std::uint64_t multiply_batches(const TmemBench<kGroup>& bench, const Batches& how) {
  const auto operands = bench.operands(how.m, how.columns);
  std::uint64_t timed = 0;
  for (std::uint32_t i = 0; i < how.times; ++i) {
    const std::uint64_t begin = now();
    bench.template multiply<kBatch, kAInTmem>(operands);
    std::uint64_t end = how.issue ? now() : 0;
    ptx::tcgen05_commit(kGroup, bench.bar(0), {});
    wait(bench.bar(0), i % 2);
    end = how.issue ? end : now();
    timed += end - begin;
  }
  return timed;
}

template <bool kAInTmem, CtaGroup kGroup>
__device__ std::uint64_t multiply_any(const TmemBench<kGroup>& bench, const Batches& how) {
  switch (how.batch) {
    case 0:
      return multiply_batches<0, kAInTmem>(bench, how);
    case 1:
      return multiply_batches<1, kAInTmem>(bench, how);
    case 2:
      return multiply_batches<2, kAInTmem>(bench, how);
    case 4:
      return multiply_batches<4, kAInTmem>(bench, how);
    case 8:
      return multiply_batches<8, kAInTmem>(bench, how);
    case 24:
      return multiply_batches<24, kAInTmem>(bench, how);
    case 64:
      return multiply_batches<64, kAInTmem>(bench, how);
    default:
      ptx::trap();
      return 0;
  }
}

template <CtaGroup kGroup>
__device__ void multiply_by(bool a_in_tmem, const Batches& how, std::uint32_t seed, Notes* notes) {
  TmemBench<kGroup> bench{seed};
  const bool leads = kGroup == CtaGroup::kOne || ptx::cluster_cta_rank() == 0;
  if (bench.warp() == kProductWarp && leads && ptx::elect_sync()) {
    const Stopwatch watch;
    const std::uint64_t timed =
        a_in_tmem ? multiply_any<true>(bench, how) : multiply_any<false>(bench, how);
    watch.note(notes, timed);
  }
  bench.end();
}

template <std::uint32_t kColumns, std::uint32_t kInARow>
__device__ void load_rows(TmemAddress from, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) {
    std::uint32_t words[kInARow][kColumns];
    WARPTWIN_UNROLL for (std::uint32_t j = 0; j < kInARow; ++j) {
      ptx::tcgen05_ld_32x32b(words[j], from);
    }
    WARPTWIN_UNROLL for (std::uint32_t j = 0; j < kInARow; ++j) {
      ptx::tcgen05_wait_ld(words[j]);
    }
  }
}

}  // namespace

/// tcgen05.alloc of 32 columns, the read of its answer, and dealloc, `times` times, by one warp.
extern "C" __global__ void __launch_bounds__(32, 1)
    tmem_allocations(std::uint32_t times, Notes* notes) {
  const SharedAddress word = shared_base();
  const Stopwatch watch;
  for (std::uint32_t i = 0; i < times; ++i) {
    ptx::tcgen05_alloc(CtaGroup::kOne, word, 32);
    ptx::tcgen05_dealloc(CtaGroup::kOne, {ptx::ld_shared_u32(word)}, 32);
  }
  if (ptx::lane_index() == 0) {
    watch.note(notes, 0);
  }
}

/// tcgen05.ld of `columns` (1, 8, 16, 32; 132: of 32 four times in a row) and wait, `times` times,
/// by `warps` warps at once, beside `products` products of 128x256x16.
extern "C" __global__ void __launch_bounds__(kTmemThreads, 1) tmem_loads(std::uint32_t columns,
                                                                         std::uint32_t warps,
                                                                         std::uint32_t products,
                                                                         std::uint32_t times,
                                                                         Notes* notes) {
  TmemBench<CtaGroup::kOne> bench{0};
  if (bench.warp() < warps) {
    const TmemAddress from = bench.tmem().at_lane(kWarpLanes * bench.warp()).at_column(kTmemLoaded);
    const Stopwatch watch;
    switch (columns) {
      case 1:
        load_rows<1, 1>(from, times);
        break;
      case 8:
        load_rows<8, 1>(from, times);
        break;
      case 16:
        load_rows<16, 1>(from, times);
        break;
      case 32:
        load_rows<32, 1>(from, times);
        break;
      default:
        load_rows<32, 4>(from, times);
        break;
    }
    if (threadIdx.x == 0) {
      watch.note(notes, 0);
    }
  } else if (bench.warp() == kProductWarp && products > 8 && ptx::elect_sync()) {
    const auto operands = bench.operands(128, 256);
    // Two batches under way, so that the tensor core never waits.
    const std::uint32_t batches = (products + 7) / 8;
    for (std::uint32_t i = 0; i < batches + 2; ++i) {
      if (i > 1) {
        wait(bench.bar(i % 2), (i / 2 - 1) % 2);
      }
      if (i < batches) {
        bench.multiply<8, false>(operands);
        ptx::tcgen05_commit(CtaGroup::kOne, bench.bar(i % 2), {});
      }
    }
  }
  bench.end();
}

/// `times` batches of products of one CTA: m is 64 or 128, `batch` 0, 1, 2, 4, 8, 24 or 64.
/// `extra`: cycles from the issue of a batch until its waiter goes on, all together; with `issue`
/// until the batch is issued.
extern "C" __global__ void __launch_bounds__(kTmemThreads, 1) tmem_products(std::uint32_t m,
                                                                            std::uint32_t columns,
                                                                            std::uint32_t a_in_tmem,
                                                                            std::uint32_t batch,
                                                                            std::uint32_t issue,
                                                                            std::uint32_t seed,
                                                                            std::uint32_t times,
                                                                            Notes* notes) {
  multiply_by<CtaGroup::kOne>(a_in_tmem != 0, {m, columns, batch, times, issue != 0}, seed, notes);
}

/// The same of a pair: m is 128 or 256.
extern "C" __global__ void __launch_bounds__(kTmemThreads, 1)
    tmem_pair_products(std::uint32_t m,
                       std::uint32_t columns,
                       std::uint32_t a_in_tmem,
                       std::uint32_t batch,
                       std::uint32_t issue,
                       std::uint32_t seed,
                       std::uint32_t times,
                       Notes* notes) {
  multiply_by<CtaGroup::kTwo>(a_in_tmem != 0, {m, columns, batch, times, issue != 0}, seed, notes);
}

/// `times` batches of copies of 128x128b, 2 KiB, each batch committed and waited for.
extern "C" __global__ void __launch_bounds__(kTmemThreads, 1)
    tmem_copies(std::uint32_t batch, std::uint32_t times, Notes* notes) {
  TmemBench<CtaGroup::kOne> bench{0};
  if (bench.warp() == kProductWarp && ptx::elect_sync()) {
    const auto from = UmmaSmemDescriptor::make(bench.base(), 128, 128, Swizzle::kNone);
    const Stopwatch watch;
    for (std::uint32_t i = 0; i < times; ++i) {
#pragma unroll 4
      for (std::uint32_t j = 0; j < batch; ++j) {
        ptx::tcgen05_cp(
            CtaGroup::kOne, bench.tmem().at_column(4 * (j % 8)), from, TmemCopy::k128x128b);
      }
      ptx::tcgen05_commit(CtaGroup::kOne, bench.bar(0), {});
      wait(bench.bar(0), i % 2);
    }
    watch.note(notes, 0);
  }
  bench.end();
}

/// Asks for clusters, one after the other, until there is none or `times` were asked for. `extra`:
/// how many answers came.
extern "C" __global__ void __launch_bounds__(32, 1)
    clc_requests(std::uint32_t times, Notes* notes) {
  const SharedAddress response = shared_base();
  const Mbarrier bar{response + 16};
  if (ptx::elect_sync()) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_mbarrier_init();
    const Stopwatch watch;
    std::uint32_t answers = 0;
    for (bool more = true; more && answers < times; ++answers) {
      ptx::mbarrier_arrive_expect_tx(bar, 16);
      ptx::clc_try_cancel(response, bar, false);
      wait(bar, answers % 2);
      more = ptx::clc_is_canceled(response);
      ptx::fence_proxy_async(ProxySpace::kSharedCta);
    }
    watch.note(notes, answers);
  }
}

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
