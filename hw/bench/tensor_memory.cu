// The tensor core of sm_100a: tensor memory, its MMAs by form and columns, its copies, the clock
// while all SMs multiply; and cluster launch control.

#include <limits>
#include <string>
#include <utility>

#include "hw/bench/tensor_memory.cuh"

namespace warptwin::hw::bench {
namespace {

struct Measured {
  double cycles, ns, extra;  // of one CTA
};

struct Shape {
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;
  std::uint32_t threads = kTmemThreads;
  std::uint32_t shared_bytes = kTmemShared;
};

// Medians over launches, of the first CTA. `values` are the kernel's arguments before its notes.
template <class Kernel, class... Values>
Measured run(Kernel* kernel, const Shape& shape, Values... values) {
  SharedWithDevice<Notes> notes{std::size_t{shape.clusters} * shape.cluster_size};
  std::vector<double> cycles, ns, extra;
  for (int i = 0; i < kLaunches; ++i) {
    Notes* to = notes.get();
    void* arguments[] = {&values..., &to};
    launch(reinterpret_cast<const void*>(kernel),
           {shape.clusters, shape.cluster_size, shape.threads, shape.shared_bytes},
           arguments,
           nullptr);
    synchronize(nullptr);
    cycles.push_back(static_cast<double>(notes.get()->cycles));
    ns.push_back(static_cast<double>(notes.get()->ns));
    extra.push_back(static_cast<double>(notes.get()->extra));
  }
  return {median(cycles), median(ns), median(extra)};
}

constexpr std::uint32_t kTimes = 256;
// A batch of many less one of few: what a turn of the loop costs beside is in neither.
constexpr std::uint32_t kFew = 8;
constexpr std::uint32_t kMany = 24;

void measure_allocation(Report& report) {
  const double turn =
      run(tmem_allocations, {1, 1, kWarpLanes, 1024}, kTimes).cycles / double{kTimes};
  report.figure("tcgen05.alloc, its answer read, and dealloc", turn, "cycle");
  report.constant("tmem_alloc", (turn - report.value("smem_latency")) / 2, "cycle");
}

double cycles_of_load(std::uint32_t columns, std::uint32_t warps, std::uint32_t products) {
  return run(tmem_loads, {}, columns, warps, products, kTimes).cycles / double{kTimes};
}

void measure_loads(Report& report) {
  std::vector<std::pair<double, double>> points;
  for (const std::uint32_t columns : {1U, 8U, 16U, 32U}) {
    const double cycles = cycles_of_load(columns, 1, 0);
    points.emplace_back(4.0 * kWarpLanes * columns, cycles);
    report.figure("tcgen05.ld x" + std::to_string(columns) + " and wait", cycles, "cycle");
  }
  const Line line = line_through(points);
  report.constant("tmem_rate", 1 / line.slope, "B/cycle");
  report.constant("tmem_latency", line.at_zero, "cycle");
  const double together = cycles_of_load(32, 4, 0);
  report.figure("tcgen05.ld x32 and wait, four warps", together, "cycle");
  report.figure("four tcgen05.ld x32 and wait", cycles_of_load(132, 1, 0), "cycle");
  // Products of 128 cycles, for longer than the loads can take.
  const double beside = cycles_of_load(32, 4, 10 * kTimes);
  report.figure("tcgen05.ld x32 and wait, four warps, beside MMAs", beside, "cycle");
  report.constant("tmem_busy_latency", std::max(beside - together, 0.0), "cycle");
}

// Products of one form.
struct Products {
  bool pair;
  std::uint32_t m;
  bool a_in_tmem;

  std::string name() const {
    return std::string{pair ? "2sm m" : "1sm m"} + std::to_string(m) + (a_in_tmem ? " ts" : " ss");
  }
  // Of a batch of `batch` products, committed and waited for; `extra` as well.
  Measured batch(std::uint32_t columns, std::uint32_t batch, std::uint32_t issue = 0) const {
    auto* kernel = pair ? tmem_pair_products : tmem_products;
    const Measured all = run(kernel,
                             {1, pair ? 2U : 1U},
                             m,
                             columns,
                             std::uint32_t{a_in_tmem},
                             batch,
                             issue,
                             std::uint32_t{1},
                             kTimes);
    return {all.cycles / kTimes, all.ns / kTimes, all.extra / kTimes};
  }
  double interval(std::uint32_t columns) const {
    return (batch(columns, kMany).cycles - batch(columns, kFew).cycles) / (kMany - kFew);
  }
};

void measure_form(const Products& form, Report& report) {
  std::vector<std::pair<double, double>> latencies;
  double per_column = std::numeric_limits<double>::max();
  double least = std::numeric_limits<double>::max();
  for (const std::uint32_t columns : {32U, 64U, 128U, 192U, 256U}) {
    const double interval = form.interval(columns);
    const double alone = form.batch(columns, 1).extra;
    const std::string name = "tcgen05.mma " + form.name() + " n" + std::to_string(columns);
    report.figure(name + ", one after the other", interval, "cycle");
    report.figure(name + ", issued, committed and waited for", alone, "cycle");
    latencies.emplace_back(columns, alone);
    per_column = std::min(per_column, interval / columns);
    least = std::min(least, interval);
  }
  const auto [latency, slope] = line_through(latencies);
  // What the read port does beside operands no run alone tells: the chip keeps what it has.
  report.form(form.name(), {per_column, least, kNotMeasured, latency, slope});
}

void measure_issue(Report& report) {
  const Products form{false, 128, false};
  const double few = form.batch(32, 1, 1).extra;
  const double many = form.batch(32, 4, 1).extra;
  report.constant("mma_issue", (many - few) / 3, "cycle");
  report.constant("commit_latency", form.batch(32, 0).extra, "cycle");
  const double second = form.batch(256, 2).extra - form.batch(256, 1).extra;
  report.constant("mma_batch", second - form.interval(256), "cycle");
}

void measure_tensor_copies(Report& report) {
  const double few = run(tmem_copies, {}, kFew, kTimes).cycles;
  const double many = run(tmem_copies, {}, kMany, kTimes).cycles;
  report.constant("tcgen05_cp", (many - few) / kTimes / (kMany - kFew), "cycle");
}

// CTAs that fill the SMs ask for those that wait, all at once.
void measure_launch_control(Report& report) {
  const auto sms = static_cast<std::uint32_t>(report.value("sms"));
  const Measured all = run(clc_requests, {4 * sms, 1, kWarpLanes, 200 * 1024}, std::uint32_t{1000});
  const double answer = all.cycles / all.extra;
  report.figure("cluster launch control, asked and answered", answer, "cycle");
  report.constant("clc_latency",
                  answer - report.value("mbarrier_wake") - report.value("smem_latency"),
                  "cycle");
}

void measure_clock_of_products(Report& report) {
  constexpr std::uint32_t kBatch = 64;
  constexpr std::uint32_t kLong = 40000;  // 0.2 s: power follows slowly
  const auto sms = static_cast<std::uint32_t>(report.value("sms"));
  for (const std::uint32_t seed : {0U, 1U}) {
    const Measured all = run(tmem_products, {sms}, 128U, 256U, 0U, kBatch, 0U, seed, kLong);
    const std::string name = seed == 0 ? "zeros, all SMs" : "random numbers, all SMs";
    const double ghz = all.cycles / all.ns;
    report.figure("clock while multiplying " + name, ghz, "GHz");
    report.figure("tcgen05.mma m128n256k16, " + name, all.cycles / kLong / kBatch, "cycle");
    if (seed == 1) {
      // By the share of the run for which the tensor core is in use.
      const double busy = 128.0 * kBatch * kLong / all.cycles;
      report.constant("power_kappa", ghz * ghz * ghz * std::min(busy, 1.0), "GHz^3");
    }
  }
}

}  // namespace

void measure_tensor_memory(Report& report) {
  measure_allocation(report);
  measure_loads(report);
  for (const bool pair : {false, true}) {
    for (const bool larger : {false, true}) {
      for (const bool a_in_tmem : {false, true}) {
        measure_form({pair, (larger ? 128U : 64U) << (pair ? 1 : 0), a_in_tmem}, report);
      }
    }
  }
  measure_issue(report);
  measure_tensor_copies(report);
  measure_launch_control(report);
  measure_clock_of_products(report);
}

}  // namespace warptwin::hw::bench
