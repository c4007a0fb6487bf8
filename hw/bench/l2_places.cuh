/// Where CTAs are: SMs and their GPCs; and the order of a GEMM's tiles.

#pragma once

#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/microbenchmark.cuh"

namespace warptwin::hw::bench {

#ifdef __CUDACC__

namespace {

inline constexpr std::uint32_t kTilesM = 12;  // whole waves on 132 SMs
inline constexpr std::uint32_t kTilesN = 22;
inline constexpr std::uint32_t kSmsMost = 256;
inline constexpr std::uint32_t kLargestCluster = 8;

/// Where a tile is, in tiles.
struct Place {
  std::uint32_t row, column;
};

/// The `index`-th of `rows` x kTilesN tiles, along M first; `strip` is in tiles along N, 0: one
/// strip of all. After the last tile the first one again.
__host__ __device__ inline Place tile_of(std::uint32_t index,
                                         std::uint32_t strip,
                                         std::uint32_t rows = kTilesM) {
  index %= rows * kTilesN;
  if (strip == 0) {
    return {index % rows, index / rows};
  }
  const std::uint32_t first = index / (rows * strip) * strip;
  const std::uint32_t width = first + strip <= kTilesN ? strip : kTilesN - first;
  const std::uint32_t within = index % (rows * strip);
  return {within / width, first + within % width};
}

__device__ inline std::uint32_t own_sm() {
  std::uint32_t sm;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

/// Where each CTA of a cluster is.
__global__ void __launch_bounds__(32, 1) where(std::uint32_t* sms) {
  sms[blockIdx.x] = own_sm();
  const std::uint64_t begin = nanoseconds();
  while (nanoseconds() - begin < 20'000) {  // so that no SM takes two CTAs
  }
}

/// Which GPC each SM is of, by number: SMs that a cluster was on are of one.
inline std::vector<std::uint32_t> gpcs_of(std::uint32_t sms) {
  std::vector<std::uint32_t> parent(sms);
  std::iota(parent.begin(), parent.end(), 0);
  const std::function<std::uint32_t(std::uint32_t)> root = [&](std::uint32_t sm) {
    return parent[sm] == sm ? sm : parent[sm] = root(parent[sm]);
  };
  for (int round = 0; round < 8; ++round) {
    for (const std::uint32_t size : {2U, 4U, 6U, kLargestCluster}) {
      const std::uint32_t clusters = 2 * sms / size;
      SharedWithDevice<std::uint32_t> where_it_was{clusters * size};
      std::uint32_t* to = where_it_was.get();
      void* arguments[] = {&to};
      launch(reinterpret_cast<const void*>(&where),
             {clusters, size, 32, 200 * 1024},
             arguments,
             nullptr);
      synchronize(nullptr);
      for (std::uint32_t i = 0; i < clusters * size; ++i) {
        parent[root(where_it_was[i])] = root(where_it_was[i / size * size]);
      }
    }
  }
  std::map<std::uint32_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> gpc(sms);
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    gpc[sm] = numbers.emplace(root(sm), static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  return gpc;
}

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// The main function of a program of `usage`, which measures and writes what it found to a file.
inline int measure_to_file(int count,
                           char** arguments,
                           const char* usage,
                           void (*measure)(const char* file)) {
  if (count != 2) {
    std::puts(usage);
    return 2;
  }
  if (!gpu_is_here()) {
    return 4;
  }
  try {
    measure(arguments[1]);
    return 0;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}

}  // namespace

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
