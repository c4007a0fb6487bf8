// wgmma on this GPU: how often one can start and how long it takes, by columns and by where A lies;
// beside a stream of TMA loads; and the clock while all SMs multiply.

#include <cstdio>

#include "hw/bench/microbenchmark.cuh"
#include "hw/launch/tensor_map.hpp"
#include "hw/ptx/wgmma.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kOperandBytes = 65536;  // A and B of every shape, at the start
constexpr std::uint32_t kSlotBytes = 16384;
constexpr std::uint32_t kSlots = 8;
constexpr std::uint32_t kBatch = 8;  // wgmmas of a group

enum class OperandA { kShared, kRegisters };

__device__ SharedTile<bf16> operand(std::uint32_t rows, std::uint32_t offset) {
  return {shared_base() + offset, rows, 64, Swizzle::k128B};
}

// Every product of this file, so that nothing but products touches `d` between its begin and end.
template <std::uint32_t kColumns, OperandA kA, std::uint32_t kSize, std::uint32_t kBehind>
__device__ __forceinline__ void multiply_groups(float (&d)[kColumns / 2], std::uint32_t groups) {
  using ptx::WgmmaSmemDescriptor;
  const std::uint32_t row = ptx::warp_index() / 4 * ptx::kWgmmaRows;
  const std::uint32_t a[4] = {0x3F803F80, 0x3F80BF80, 0x3F803F80, 0xBF803F80};
  for (std::uint32_t group = 0; group < groups; ++group) {
    ptx::wgmma_fence();
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kSize; ++i) {
      const std::uint32_t k = i % 4 * ptx::kWgmmaKBytes;
      const auto b = WgmmaSmemDescriptor::k_major(operand(256, 16384), 0, k);
      if constexpr (kA == OperandA::kShared) {
        ptx::wgmma<kColumns>(
            d, WgmmaSmemDescriptor::k_major(operand(128, 0), row, k), b, group + i != 0);
      } else {
        ptx::wgmma<kColumns>(d, a, b, group + i != 0);
      }
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<kBehind>();
  }
  ptx::wgmma_wait_group<0>();
}

template <std::uint32_t kCount>
__device__ __forceinline__ void need_all(const float (&d)[kCount]) {
  float sum = 0;
  WARPTWIN_UNROLL for (const float value : d) {
    sum += value;
  }
  need(sum);
}

// `cycles[cta]`: of `groups` groups of `kSize`, with `kBehind` under way behind the one issued.
template <std::uint32_t kColumns, OperandA kA, std::uint32_t kSize, std::uint32_t kBehind>
__global__ void __launch_bounds__(256, 1) products(std::uint32_t groups, std::uint64_t* cycles) {
  float d[kColumns / 2];
  ptx::cta_sync();
  const std::uint64_t begin = now();
  multiply_groups<kColumns, kA, kSize, kBehind>(d, groups);
  const std::uint64_t end = now();
  need_all(d);
  if (threadIdx.x == 0) {
    cycles[blockIdx.x] = end - begin;
  }
}

template <std::uint32_t kColumns, OperandA kA, std::uint32_t kSize, std::uint32_t kBehind>
double cycles_of_products(std::uint32_t warpgroups) {
  constexpr std::uint32_t kGroups = 256;
  SharedWithDevice<std::uint64_t> cycles{1};
  std::vector<double> each;
  for (int i = 0; i < kLaunches; ++i) {
    std::uint32_t groups = kGroups;
    std::uint64_t* to = cycles.get();
    void* arguments[] = {&groups, &to};
    launch(reinterpret_cast<const void*>(&products<kColumns, kA, kSize, kBehind>),
           {1, 1, 128 * warpgroups, kOperandBytes},
           arguments,
           nullptr);
    synchronize(nullptr);
    each.push_back(static_cast<double>(cycles[0]) / (kGroups * kSize * warpgroups));
  }
  return median(each);
}

struct Point {
  double columns, interval, latency;
};

// One shape: its interval from a long run, its latency from one that is waited for.
template <std::uint32_t kColumns, OperandA kA>
Point measure_shape(Report& report) {
  const std::string name = "wgmma m64n" + std::to_string(kColumns) + "k16, A in " +
                           (kA == OperandA::kShared ? "shared memory" : "registers");
  const double interval = cycles_of_products<kColumns, kA, kBatch, 1>(1);
  const double shared = cycles_of_products<kColumns, kA, kBatch, 1>(2);
  const double alone = cycles_of_products<kColumns, kA, 1, 0>(1);
  report.figure(name + ", one warpgroup", interval, "cycle");
  report.figure(name + ", two warpgroups", shared, "cycle");
  report.figure(name + ", issued, committed and waited for", alone, "cycle");
  return {static_cast<double>(kColumns), std::min(interval, shared), alone};
}

// The line through the latencies, and interval per column where columns bind, at least where not.
void report_forms(const std::vector<Point>& points, const char* source, Report& report) {
  std::vector<std::pair<double, double>> latencies;
  double per_column = 1e9;
  double least = 1e9;
  for (const Point& point : points) {
    latencies.emplace_back(point.columns, point.latency);
    per_column = std::min(per_column, point.interval / point.columns);
    least = std::min(least, point.interval);
  }
  const auto [latency, slope] = line_through(latencies);
  // 128 rows are two wgmmas, one after the other.
  report.form(std::string{"1sm m64 "} + source, {per_column, least, 0, latency, slope});
  report.form(std::string{"1sm m128 "} + source,
              {2 * per_column, 2 * least, 0, latency, slope + per_column});
}

// With A in registers the assembler has no room for 256 columns: it serialises them.
template <OperandA kA>
void measure_shapes(const char* source, Report& report) {
  std::vector<Point> points{measure_shape<16, kA>(report),
                            measure_shape<32, kA>(report),
                            measure_shape<64, kA>(report),
                            measure_shape<128, kA>(report),
                            measure_shape<192, kA>(report)};
  if constexpr (kA == OperandA::kShared) {
    points.push_back(measure_shape<256, kA>(report));
  }
  report_forms(points, source, report);
}

// `cycles[cta]`: in which thread 0 issues a group of `kSize` products while the tensor core is
// idle, summed over `groups`. All warpgroups do the same at once.
template <std::uint32_t kColumns, std::uint32_t kSize>
__global__ void __launch_bounds__(256, 1) issue(std::uint32_t groups, std::uint64_t* cycles) {
  float d[kColumns / 2];
  std::uint64_t spent = 0;
  for (std::uint32_t group = 0; group < groups; ++group) {
    ptx::cta_sync();
    ptx::wgmma_fence();
    const std::uint64_t begin = now();
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kSize; ++i) {
      const std::uint32_t k = i % 4 * ptx::kWgmmaKBytes;
      ptx::wgmma<kColumns>(d,
                           ptx::WgmmaSmemDescriptor::k_major(operand(128, 0), 0, k),
                           ptx::WgmmaSmemDescriptor::k_major(operand(256, 16384), 0, k),
                           group + i != 0);
    }
    spent += now() - begin;
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }
  need_all(d);
  if (threadIdx.x == 0) {
    cycles[blockIdx.x] = spent;
  }
}

template <std::uint32_t kColumns, std::uint32_t kSize>
double cycles_of_issue(std::uint32_t warpgroups) {
  constexpr std::uint32_t kGroups = 256;
  SharedWithDevice<std::uint64_t> cycles{1};
  std::vector<double> each;
  for (int i = 0; i < kLaunches; ++i) {
    std::uint32_t groups = kGroups;
    std::uint64_t* to = cycles.get();
    void* arguments[] = {&groups, &to};
    launch(reinterpret_cast<const void*>(&issue<kColumns, kSize>),
           {1, 1, 128 * warpgroups, kOperandBytes},
           arguments,
           nullptr);
    synchronize(nullptr);
    each.push_back(static_cast<double>(cycles[0]) / kGroups);
  }
  return median(each);
}

// What a product adds to the cycles of a group's issue: the second to the eighth of one warpgroup.
// The groups of two warpgroups that issue at once take their turns in each sub-partition.
template <std::uint32_t kColumns>
std::pair<double, double> measure_issue(Report& report) {
  const auto each = [](std::uint32_t warpgroups) {
    return (cycles_of_issue<kColumns, 8>(warpgroups) - cycles_of_issue<kColumns, 1>(warpgroups)) /
           7;
  };
  const double alone = each(1);
  const std::string name = "issue of wgmma m64n" + std::to_string(kColumns) + "k16";
  report.figure(name, alone, "cycle");
  report.figure(name + ", two warpgroups at once", each(2), "cycle");
  return {kColumns, alone};
}

void measure_issues(Report& report) {
  const Line line = line_through({measure_issue<64>(report),
                                  measure_issue<96>(report),
                                  measure_issue<128>(report),
                                  measure_issue<192>(report),
                                  measure_issue<256>(report)});
  report.constant("wgmma_issue", line.at_zero, "cycle");
  report.constant("wgmma_issue_per_column", line.slope, "cycle");
}

// Warp 4 streams loads, warps 0 to 3 multiply, each as long as it has work: cycles of both.
struct Side {
  std::uint64_t multiply, load;
};

template <std::uint32_t kColumns>
__global__ void __launch_bounds__(160, 1) beside(const __grid_constant__ CUtensorMap map,
                                                 std::uint32_t groups,
                                                 std::uint32_t loads,
                                                 Side* sides) {
  const SharedAddress slots = shared_base() + kOperandBytes;
  const SharedAddress barriers = slots + kSlots * kSlotBytes;
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      ptx::mbarrier_init({barriers + 8 * i}, 1);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::cta_sync();
  const std::uint64_t begin = now();
  const std::uint32_t warp = ptx::warp_index();  // the compiler must see that warps do not diverge
  if (warp < 4) {
    float d[kColumns / 2];
    multiply_groups<kColumns, OperandA::kShared, kBatch, 1>(d, groups);
    const std::uint64_t end = now();
    if (groups > 0) {
      need_all(d);
    }
    if (threadIdx.x == 0) {
      sides->multiply = end - begin;
    }
  } else if (ptx::elect_sync()) {
    for (std::uint32_t i = 0; i < loads; ++i) {
      const Mbarrier bar{barriers + 8 * (i % kSlots)};
      while (!ptx::mbarrier_try_wait_parity(bar, i / kSlots % 2 ^ 1, kAcquireCta)) {
      }
      ptx::mbarrier_arrive_expect_tx(bar, kSlotBytes);
      ptx::cp_async_bulk_tensor_load(slots + i % kSlots * kSlotBytes,
                                     &map,
                                     Coordinates<2>{{0, static_cast<std::int32_t>(i % 8 * 128)}},
                                     bar,
                                     {});
    }
    for (std::uint32_t i = loads; i < loads + kSlots; ++i) {
      while (!ptx::mbarrier_try_wait_parity(
          {barriers + 8 * (i % kSlots)}, i / kSlots % 2 ^ 1, kAcquireCta)) {
      }
    }
    sides->load = now() - begin;
  }
}

template <std::uint32_t kColumns>
Side run_beside(const CUtensorMap& map, std::uint32_t groups, std::uint32_t loads) {
  SharedWithDevice<Side> sides{1};
  CUtensorMap copy = map;
  Side* to = sides.get();
  void* arguments[] = {&copy, &groups, &loads, &to};
  for (int i = 0; i < 3; ++i) {  // the last one counts
    launch(reinterpret_cast<const void*>(&beside<kColumns>),
           {1, 1, 160, kOperandBytes + kSlots * (kSlotBytes + 8)},
           arguments,
           nullptr);
    synchronize(nullptr);
  }
  return *to;
}

// The shorter side runs beside the longer one all the time.
template <std::uint32_t kColumns>
double measure_beside(const CUtensorMap& map, Report& report) {
  constexpr std::uint32_t kGroups = 1024;
  const auto loads = static_cast<std::uint32_t>(kGroups * kBatch * kColumns / 2 / 150);
  const double products = kGroups * kBatch;
  const double multiply = static_cast<double>(run_beside<kColumns>(map, kGroups, 0).multiply);
  const double load = static_cast<double>(run_beside<kColumns>(map, 0, loads).load);
  const Side many_loads = run_beside<kColumns>(map, kGroups, 3 * loads);
  const Side few_loads = run_beside<kColumns>(map, kGroups, loads / 2);
  const double slower_load = static_cast<double>(few_loads.load) / (loads / 2) / (load / loads);
  const double slower_multiply = static_cast<double>(many_loads.multiply) / multiply;
  const std::string name = "wgmma m64n" + std::to_string(kColumns) + "k16 and TMA: ";
  report.figure(name + "wgmma alone", multiply / products, "cycle");
  report.figure(name + "TMA alone", kSlotBytes * loads / load, "B/cycle");
  report.figure(name + "wgmma is slower by", slower_multiply, "times");
  report.figure(name + "TMA is slower by", slower_load, "times");
  return slower_load - 1;
}

constexpr std::uint32_t kGroupsOfLongRun = 200000;  // 0.24 s at 1.7 GHz: power follows slowly

// Both clocks around a long run of products, on every SM.
__global__ void __launch_bounds__(256, 1)
    load_all(std::uint32_t groups, std::uint32_t seed, std::uint64_t* clocks) {
  fill(shared_base(), kOperandBytes, seed);
  ptx::cta_sync();
  float d[128];
  const std::uint64_t before = nanoseconds();
  const std::uint64_t begin = now();
  multiply_groups<256, OperandA::kShared, kBatch, 1>(d, groups);
  const std::uint64_t end = now();
  const std::uint64_t after = nanoseconds();
  need_all(d);
  if (threadIdx.x == 0) {
    clocks[2 * blockIdx.x] = end - begin;
    clocks[2 * blockIdx.x + 1] = after - before;
  }
}

void measure_clock(Report& report) {
  const auto sms = static_cast<std::uint32_t>(report.value("sms"));
  SharedWithDevice<std::uint64_t> clocks{2 * sms};
  for (const std::uint32_t seed : {0, 1}) {
    for (const std::uint32_t ctas : {std::uint32_t{1}, sms}) {
      std::uint32_t groups = kGroupsOfLongRun;
      std::uint32_t numbers = seed;
      std::uint64_t* to = clocks.get();
      void* arguments[] = {&groups, &numbers, &to};
      launch(reinterpret_cast<const void*>(&load_all),
             {ctas, 1, 256, kOperandBytes},
             arguments,
             nullptr);
      synchronize(nullptr);
      const std::string name = std::string{seed == 0 ? "zeros, " : "random numbers, "} +
                               (ctas == 1 ? "one SM" : "all SMs");
      const double ghz = static_cast<double>(clocks[0]) / static_cast<double>(clocks[1]);
      report.figure("clock while multiplying " + name, ghz, "GHz");
      if (seed == 1 && ctas == sms) {
        // The tensor cores' share is all of the run.
        report.constant("power_kappa", ghz * ghz * ghz, "GHz^3");
      }
      report.figure("wgmma m64n256k16, two warpgroups, " + name,
                    static_cast<double>(clocks[0]) / (2.0 * groups * kBatch),
                    "cycle");
    }
  }
}

constexpr std::uint32_t kChunks = 24;           // while the clock falls and rises again
constexpr std::uint32_t kChunkLoads = 1 << 16;  // 17 ms

// While all other SMs multiply random numbers, and the clock falls and rises again, one SM loads
// boxes that L2 has, one after the other. `clocks`: before each chunk both clocks.
__global__ void __launch_bounds__(256, 1)
    load_beside_products(const __grid_constant__ CUtensorMap map,
                         std::uint32_t groups,
                         std::uint64_t* clocks) {
  fill(shared_base(), kOperandBytes, 1);
  const Mbarrier bar{shared_base() + kOperandBytes};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_mbarrier_init();
  }
  ptx::cta_sync();
  if (blockIdx.x != 0) {
    float d[128];
    multiply_groups<256, OperandA::kShared, kBatch, 1>(d, groups);
    need_all(d);
    return;
  }
  if (ptx::warp_index() != 0) {
    return;
  }
  const bool elected = ptx::elect_sync();
  for (std::uint32_t i = 0; i < kChunks * kChunkLoads; ++i) {
    if (elected && i % kChunkLoads == 0) {
      clocks[2 * (i / kChunkLoads)] = now();
      clocks[2 * (i / kChunkLoads) + 1] = nanoseconds();
    }
    if (elected) {
      const auto row = static_cast<std::int32_t>(i % kSlots * 128);
      ptx::mbarrier_arrive_expect_tx(bar, kSlotBytes);
      ptx::cp_async_bulk_tensor_load(shared_base(), &map, Coordinates<2>{{0, row}}, bar, {});
    }
    while (!ptx::mbarrier_try_wait_parity(bar, i % 2, kAcquireCta)) {
    }
    ptx::sync_warp();
  }
}

// What of a load's latency the clock of the SMs does not change: cycles of a load over the clock
// they were counted at, the line of least squares.
void measure_l2_latency(const CUtensorMap& map, Report& report) {
  SharedWithDevice<std::uint64_t> clocks{2 * kChunks};
  std::uint32_t groups = kGroupsOfLongRun;
  std::uint64_t* to = clocks.get();
  CUtensorMap source = map;
  void* arguments[] = {&source, &groups, &to};
  launch(reinterpret_cast<const void*>(&load_beside_products),
         {static_cast<std::uint32_t>(report.value("sms")), 1, 256, kOperandBytes + 8},
         arguments,
         nullptr);
  synchronize(nullptr);
  std::vector<std::pair<double, double>> by_clock;  // GHz, cycles of a load
  std::pair<double, double> mean;
  for (std::uint32_t i = 0; i + 1 < kChunks; ++i) {
    const auto cycles = static_cast<double>(clocks[2 * i + 2] - clocks[2 * i]);
    const auto spent = static_cast<double>(clocks[2 * i + 3] - clocks[2 * i + 1]);
    by_clock.emplace_back(cycles / spent, cycles / kChunkLoads);
    mean.first += by_clock.back().first / (kChunks - 1);
    mean.second += by_clock.back().second / (kChunks - 1);
  }
  double covariance = 0;
  double variance = 0;
  for (const auto& [ghz, cycles] : by_clock) {
    covariance += (ghz - mean.first) * (cycles - mean.second);
    variance += (ghz - mean.first) * (ghz - mean.first);
  }
  const auto [slowest, fastest] = std::minmax_element(by_clock.begin(), by_clock.end());
  for (const auto& [ghz, cycles] : {*slowest, *fastest}) {
    char name[80];
    std::snprintf(name, sizeof name, "TMA load of 128 rows of 128 B, alone, at %.3f GHz", ghz);
    report.figure(name, cycles, "cycle");
  }
  constexpr double kFallLeast = 0.05;  // of less the line says nothing
  if (fastest->first > (1 + kFallLeast) * slowest->first) {
    const double latency = covariance / variance;
    report.constant("l2_latency_ns", latency, "ns");
    report.constant(
        "tma_latency", report.value(kWholeTmaLatency) - latency * report.value("clock"), "cycle");
  }
}

void measure_beside_loads(Report& report) {
  const DeviceBuffer memory{8 * kSlotBytes, 0};
  const TensorSpec tensor{.name = "source",
                          .element = ElementType::kBf16,
                          .rows = 1024,
                          .columns = 64,
                          .pitch_bytes = 128};
  const CUtensorMap map =
      encode(encoding_of({0, 128, 64, Swizzle::k128B}, tensor), memory.address());
  // 64 columns read 128 bytes a cycle: the port's rate.
  const double conflict = measure_beside<64>(map, report);
  measure_beside<128>(map, report);
  measure_beside<256>(map, report);
  report.constant("smem_conflict", std::max(conflict, 0.0), "ratio");
  measure_l2_latency(map, report);
}

}  // namespace

void measure_tensor_core(Report& report) {
  measure_shapes<OperandA::kShared>("ss", report);
  measure_shapes<OperandA::kRegisters>("ts", report);
  measure_issues(report);
  measure_beside_loads(report);
  measure_clock(report);
}

}  // namespace warptwin::hw::bench
