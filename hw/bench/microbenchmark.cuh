/// What every microbenchmark is made of: a kernel that repeats a step and counts cycles, launches
/// of it, and a report.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/bench/report.hpp"
#include "hw/launch/device_memory.hpp"
#include "hw/launch/launch.hpp"
#include "hw/ptx/barrier.hpp"
#include "hw/ptx/copy.hpp"
#include "hw/ptx/fence.hpp"
#include "hw/ptx/mbarrier.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/words.hpp"

namespace warptwin::hw::bench {

struct Line {
  double at_zero, slope;
};

/// That of least squares through points of x and y.
inline Line line_through(const std::vector<std::pair<double, double>>& points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [at, value] : points) {
    n += 1, x += at, y += value, xx += at * at, xy += at * value;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {(y - slope * x) / n, slope};
}

#ifdef __CUDACC__

namespace {

/// Launches of one measurement; the median counts.
inline constexpr int kLaunches = 7;

__device__ inline SharedAddress shared_base() {
  extern __shared__ __align__(1024) unsigned char warptwin_shared_memory[];
  return ptx::shared_address(warptwin_shared_memory);
}

/// The clock, between what stands before and what stands after.
__device__ inline std::uint64_t now() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// The clock of the device, that of no SM.
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}

/// Fills shared memory for the tensor core: zeros, for seed 0, or pairs of bf16 of about -2 to 2.
/// Participants: the whole CTA. What reads it must be behind a barrier.
__device__ inline void fill(SharedAddress to, std::uint32_t bytes, std::uint32_t seed) {
  for (std::uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
    const std::uint32_t hash = (i + 1) * 2654435761U ^ seed * 40503U;
    ptx::st_shared_u32(to + 4 * i, seed == 0 ? 0 : (hash & 0xBFFFBFFF) & 0x8FFF8FFF | 0x30003000);
  }
  ptx::fence_proxy_async(ProxySpace::kSharedCta);
}

/// Needs `value`: what it was computed from cannot be left out. Never true of real ones.
template <class T>
__device__ inline void need(T value) {
  if (value == static_cast<T>(0x7A3B5C1D)) {
    ptx::trap();
  }
}

/// Runs `body.start()`, brings the CTA together, and times `times` steps of each of its threads.
/// `cycles[cta]` is thread 0's.
template <class Body>
__global__ void __launch_bounds__(Body::kThreadsMost, 1)
    repeat(Body body, std::uint32_t times, std::uint64_t* cycles) {
  body.start();
  if (ptx::cluster_cta_count() > 1) {
    ptx::barrier_cluster_arrive(kReleaseCluster);
    ptx::barrier_cluster_wait();
  } else {
    ptx::cta_sync();
  }
  const std::uint64_t begin = now();
  for (std::uint32_t i = 0; i < times; ++i) {
    body.step(i);
  }
  body.finish();
  const std::uint64_t end = now();
  if (threadIdx.x == 0) {
    cycles[blockIdx.x] = end - begin;
  }
  if (ptx::cluster_cta_count() > 1) {
    ptx::barrier_cluster_arrive(kReleaseCluster);
    ptx::barrier_cluster_wait();
  }
}

/// How a body is launched.
struct Launch {
  std::uint32_t threads = 32;
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;
  std::uint32_t shared_bytes = 1024;
  std::uint32_t times = 256;
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Median over launches of the mean over CTAs: cycles of one step.
template <class Body>
double cycles_of(const Body& body, const Launch& how) {
  const std::uint32_t ctas = how.clusters * how.cluster_size;
  SharedWithDevice<std::uint64_t> cycles{ctas};
  std::vector<double> steps;
  for (int i = 0; i < kLaunches; ++i) {
    Body copy = body;
    std::uint32_t times = how.times;
    std::uint64_t* to = cycles.get();
    void* arguments[] = {&copy, &times, &to};
    launch(reinterpret_cast<const void*>(&repeat<Body>),
           {how.clusters, how.cluster_size, how.threads, how.shared_bytes},
           arguments,
           nullptr);
    synchronize(nullptr);
    double sum = 0;
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      sum += static_cast<double>(cycles[cta]);
    }
    steps.push_back(sum / ctas / how.times);
  }
  return median(steps);
}

/// Every body has these; most need no start and no end.
struct BodyBase {
  static constexpr std::uint32_t kThreadsMost = 1024;
  __device__ void start() {}
  __device__ void finish() {}
};

}  // namespace

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
