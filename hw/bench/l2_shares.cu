// Who shares L2, and how long a load takes beside others: the loads of a GEMM's CTAs, with the time
// of every one.
//
//   warptwin-measure-l2 OUT.json
//
// Every CTA has a ring of stages. One warp fills it by TMA; another frees each stage so many cycles
// after it was full, as long as products would take; it or a third one notes when each stage was
// full. All CTAs begin together. From the times at which stages were asked
// for follows which boxes SMs of a GPC asked for at about the same time. Which SMs are of one GPC,
// clusters tell: all CTAs of a cluster are. In the order of a GEMM each GPC may have matrices of
// its own, so that only its own SMs share lines; or each place in a GPC, so that only SMs of
// different GPCs do. Boxes that nobody shares are of a narrow matrix, or of those of the GEMM.
// Exit codes: 0, 2 usage, 4 no device.

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <string>

#include "common/kernel/scenario.hpp"

#include "hw/bench/l2_places.cuh"
#include "hw/launch/tensor_map.hpp"
#include "hw/ptx/launch.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kThreads = 96;
constexpr std::uint32_t kRows = 128;
constexpr std::uint32_t kColumns = 64;
constexpr std::uint32_t kBoxBytes = kRows * kColumns * 2;
constexpr std::uint32_t kStagesMost = 6;
constexpr std::uint32_t kShared = kStagesMost * 2 * kBoxBytes + 1024;
constexpr std::uint32_t kOwnBoxes = 4;    // of a CTA that shares nothing
constexpr std::uint32_t kSteps = 32;      // of K
constexpr std::uint32_t kFewColumns = 2;  // of K, where there are many copies of the matrices

/// What the CTAs do. `strip` is in tiles along N; 0: all tiles along M first.
struct Walk {
  CUtensorMap map;
  std::uint32_t sharers = 0;  // 0: tiles of a GEMM; otherwise so many CTAs read the same boxes,
  std::uint32_t delay = 0;    // each so many cycles after the one before
  std::uint32_t boxes = 2;    // a stage
  std::uint32_t stages = 3;   // of the ring
  std::uint32_t steps = 0;    // of a CTA, in all
  std::uint32_t spin = 0;     // cycles from a full stage until it is freed
  std::uint32_t strip = 0;
  std::uint32_t columns = kSteps;  // of K that there are: after the last one the first one again
  // Boxes that nobody shares are of a narrow matrix; or of the GEMM's, with rows as many times as
  // long.
  std::uint32_t wide = 0;
  std::uint32_t pad = 0;      // bytes more from row to row of the GEMM's matrices
  std::uint32_t watched = 0;  // whether a third warp notes when stages are full
  std::uint32_t active = 0;   // CTAs that load
};

/// Of one stage, in cycles since the CTA began.
struct Step {
  std::uint32_t asked;
  std::uint32_t full;
};

__device__ inline Mbarrier full_of(std::uint32_t stage) {
  return {shared_base() + (kStagesMost * 2 * kBoxBytes + 8 * stage)};
}
__device__ inline Mbarrier empty_of(std::uint32_t stage) {
  return full_of(kStagesMost + stage);
}

/// Of the copy `copy` of the matrices. Divides once a tile, no oftener: a division takes as long as
/// a load.
__device__ inline void fill(
    const Walk& walk, std::uint32_t cta, std::uint32_t copy, std::uint64_t begin, Step* steps) {
  std::uint32_t stage = 0;
  std::uint32_t parity = 1;
  std::uint32_t tile = cta;
  const std::uint32_t pairs = (kTilesM + kTilesN) / 2;  // of tiles that are one above the other
  const std::uint32_t own = walk.sharers == 0 ? 0 : cta / walk.sharers;
  const std::uint32_t first = 2 * (walk.wide == 0 ? own : own % pairs);
  const std::uint32_t left = walk.wide == 0 ? 0 : own / pairs * kOwnBoxes;
  std::int32_t rows[2] = {static_cast<std::int32_t>(first * kRows),
                          static_cast<std::int32_t>((first + 1) * kRows)};
  const std::uint32_t end = left + (walk.sharers == 0 ? walk.columns : kOwnBoxes);
  const std::uint32_t before = copy * (kTilesM + kTilesN);
  std::uint32_t column = left;
  for (std::uint32_t i = 0; i < walk.steps; ++i) {
    if (walk.sharers == 0 && i % kSteps == 0) {
      const Place at = tile_of(tile, walk.strip);
      rows[0] = static_cast<std::int32_t>((before + at.row) * kRows);
      rows[1] = static_cast<std::int32_t>((before + kTilesM + at.column) * kRows);
      tile += walk.active;
    }
    while (!ptx::mbarrier_try_wait_parity(empty_of(stage), parity, kAcquireCta)) {
    }
    steps[i].asked = static_cast<std::uint32_t>(now() - begin);
    ptx::mbarrier_arrive_expect_tx(full_of(stage), walk.boxes * kBoxBytes);
    for (std::uint32_t j = 0; j < walk.boxes; ++j) {
      ptx::cp_async_bulk_tensor_load(
          shared_base() + (2 * stage + j) * kBoxBytes,
          &walk.map,
          Coordinates<2>{{static_cast<std::int32_t>(column * kColumns), rows[j]}},
          full_of(stage),
          {});
    }
    column = column + 1 == end ? left : column + 1;
    if (++stage == walk.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

/// `kNotes`: it says when each stage was full, too.
template <bool kNotes>
__device__ inline void free_stages(const Walk& walk, std::uint64_t begin, Step* steps) {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  for (std::uint32_t i = 0; i < walk.steps; ++i) {
    while (!ptx::mbarrier_try_wait_parity(full_of(stage), parity, kAcquireCta)) {
    }
    const std::uint64_t full = now();
    if constexpr (kNotes) {
      steps[i].full = static_cast<std::uint32_t>(full - begin);
    }
    while (now() - full < walk.spin) {
    }
    ptx::mbarrier_arrive(empty_of(stage), 1, kReleaseCta);
    if (++stage == walk.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

/// Beside the warp that frees, which may be late by its spinning.
__device__ inline void watch_stages(const Walk& walk, std::uint64_t begin, Step* steps) {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  for (std::uint32_t i = 0; i < walk.steps; ++i) {
    while (!ptx::mbarrier_try_wait_parity(full_of(stage), parity, kAcquireCta)) {
    }
    steps[i].full = static_cast<std::uint32_t>(now() - begin);
    if (++stage == walk.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

/// `loads[sm]` says whether the SM takes part, `copies[sm]` which matrices it reads. SMs that take
/// part are numbered as they come, in the order of blockIdx where all do. `count` is 0 before.
/// `sms[number]` is where it was. Every CTA waits for those that load: so no SM gets two.
__global__ void __launch_bounds__(kThreads, 1) walk_tiles(const __grid_constant__ Walk walk,
                                                          const std::uint32_t* loads,
                                                          const std::uint32_t* copies,
                                                          std::uint32_t* count,
                                                          std::uint32_t* sms,
                                                          Step* steps) {
  const auto wait_for_all = [&] {
    while (*static_cast<volatile std::uint32_t*>(count) < walk.active) {
    }
  };
  if (loads[own_sm()] == 0) {
    wait_for_all();
    return;
  }
  __shared__ std::uint32_t number;
  __shared__ std::uint64_t started;
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < 2 * kStagesMost; ++i) {
      ptx::mbarrier_init(full_of(i), 1);
    }
    ptx::fence_mbarrier_init();
    const std::uint32_t came = atomicAdd(count, 1);
    number = walk.active == gridDim.x ? blockIdx.x : came;
    wait_for_all();
    sms[number] = own_sm();
    started = now();
    if (walk.sharers > 1) {
      while (now() - started < number % walk.sharers * walk.delay) {
      }
    }
  }
  ptx::cta_sync();
  const std::uint64_t begin = started;
  Step* own = steps + std::size_t{walk.steps} * number;
  if (threadIdx.x == 0) {
    fill(walk, number, copies[own_sm()], begin, own);
  } else if (threadIdx.x == 32 && walk.watched == 0) {
    free_stages<true>(walk, begin, own);
  } else if (threadIdx.x == 32) {
    free_stages<false>(walk, begin, own);
  } else if (threadIdx.x == 64 && walk.watched != 0) {
    watch_stages(walk, begin, own);
  }
}

struct Run {
  Walk walk;
  std::vector<std::uint32_t> sms;
  std::vector<std::uint32_t> copies;  // by SM; empty: all read the same
  std::vector<Step> steps;            // of each CTA in turn

  const Step& at(std::uint32_t cta, std::uint32_t step) const {
    return steps[std::size_t{cta} * walk.steps + step];
  }
};

class Bench {
 public:
  Bench() : sms_{sm_count()}, gpc_{gpcs_of(sms_)} {}
  std::uint32_t sms() const { return sms_; }
  const std::vector<std::uint32_t>& gpc() const { return gpc_; }

  /// The second of two runs: L2 has everything then. `copies`, where it is not empty, says which
  /// copy of the matrices each SM reads.
  Run run(Walk walk, const std::vector<bool>& loads, const std::vector<std::uint32_t>& copies) {
    SharedWithDevice<std::uint32_t> mask{kSmsMost};
    SharedWithDevice<std::uint32_t> matrices{kSmsMost};
    std::uint32_t copy_count = 1;
    for (std::uint32_t sm = 0; sm < copies.size(); ++sm) {
      matrices[sm] = copies[sm];
      copy_count = std::max(copy_count, copies[sm] + 1);
    }
    walk.active = 0;
    for (std::uint32_t sm = 0; sm < sms_; ++sm) {
      mask[sm] = loads[sm] ? 1 : 0;
      walk.active += mask[sm];
    }
    const bool own = walk.sharers != 0 && walk.wide == 0;
    const TensorSpec tensor{
        .name = "operands",
        .element = ElementType::kBf16,
        .rows = (own ? 2 * sms_ : copy_count * (kTilesM + kTilesN)) * kRows,
        .columns = (own ? kOwnBoxes : walk.columns) * kColumns,
        .pitch_bytes =
            2 * (own ? kOwnBoxes : walk.columns) * kColumns * std::max(walk.wide, 1U) + walk.pad};
    walk.map = encode(encoding_of({0, kRows, kColumns, Swizzle::k128B}, tensor), data_.address());
    DeviceBuffer steps{sizeof(Step) * walk.steps * walk.active, 0};
    for (int i = 0; i < 2; ++i) {
      DeviceBuffer count{sizeof(std::uint32_t), 0};
      const std::uint32_t* in = mask.get();
      auto* arrived = count.get<std::uint32_t>();
      std::uint32_t* where_they_were = places_.get();
      auto* to = steps.get<Step>();
      const std::uint32_t* which = matrices.get();
      void* arguments[] = {&walk, &in, &which, &arrived, &where_they_were, &to};
      launch(reinterpret_cast<const void*>(&walk_tiles),
             {sms_, 1, kThreads, kShared},
             arguments,
             nullptr);
      synchronize(nullptr);
    }
    Run run{walk, {places_.get(), places_.get() + walk.active}, copies, {}};
    run.steps.resize(std::size_t{walk.steps} * walk.active);
    require_cuda(
        cudaMemcpy(
            run.steps.data(), steps.get(), sizeof(Step) * run.steps.size(), cudaMemcpyDeviceToHost),
        "cudaMemcpy",
        "the kernel before it failed");
    return run;
  }

 private:
  std::uint32_t sms_;
  std::vector<std::uint32_t> gpc_;
  DeviceBuffer data_{std::size_t{80} << 20, 0};
  SharedWithDevice<std::uint32_t> places_{kSmsMost};
};

/// Of what SMs of each GPC ask for, the share that none of them had asked for within `window`
/// cycles before.
double first_share(const Run& run, const std::vector<std::uint32_t>& gpc, std::uint32_t window) {
  std::map<std::array<std::uint32_t, 4>, std::vector<std::uint32_t>> times;
  for (std::uint32_t cta = 0; cta < run.sms.size(); ++cta) {
    const std::uint32_t copy = run.copies.empty() ? 0 : run.copies[run.sms[cta]];
    for (std::uint32_t i = 0; i < run.walk.steps; ++i) {
      const std::uint32_t tile = cta + i / kSteps * run.walk.active;
      const std::uint32_t of = gpc[run.sms[cta]];
      const std::uint32_t asked = run.at(cta, i).asked;
      const std::uint32_t column = i % run.walk.columns;
      const Place at = tile_of(tile, run.walk.strip);
      times[{of, copy, at.row, column}].push_back(asked);
      times[{of, copy, kTilesM + at.column, column}].push_back(asked);
    }
  }
  std::size_t first = 0;
  std::size_t all = 0;
  for (auto& [box, when] : times) {
    std::sort(when.begin(), when.end());
    std::uint32_t leader = 0;
    for (std::size_t i = 0; i < when.size(); ++i) {
      if (i == 0 || when[i] - leader > window) {
        leader = when[i];
        ++first;
      }
    }
    all += when.size();
  }
  return static_cast<double>(first) / static_cast<double>(all);
}

/// A line of JSON: rates in bytes a cycle, latencies in cycles.
std::string describe(const std::string& what, const Run& run, const Bench& bench) {
  const std::uint32_t steps = run.walk.steps;
  const double bytes = double{kBoxBytes} * run.walk.boxes * steps;
  std::vector<double> rates;
  std::vector<double> latencies;
  std::map<std::uint32_t, std::vector<double>> by_gpc;
  for (std::uint32_t cta = 0; cta < run.sms.size(); ++cta) {
    rates.push_back(bytes / run.at(cta, steps - 1).full);
    by_gpc[bench.gpc()[run.sms[cta]]].push_back(rates.back());
    for (std::uint32_t i = steps / 4; i < steps * 3 / 4; ++i) {
      latencies.push_back(run.at(cta, i).full - run.at(cta, i).asked);
    }
  }
  std::sort(rates.begin(), rates.end());
  std::sort(latencies.begin(), latencies.end());
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  std::string line =
      "{\"what\": \"" + what + "\", \"sms\": " + std::to_string(run.sms.size()) +
      ", \"stages\": " + std::to_string(run.walk.stages) +
      ", \"boxes\": " + std::to_string(run.walk.boxes) +
      ", \"sharers\": " + std::to_string(run.walk.sharers) +
      ", \"delay\": " + std::to_string(run.walk.delay) +
      ", \"spin\": " + std::to_string(run.walk.spin) +
      ", \"strip\": " + std::to_string(run.walk.strip) +
      ", \"columns\": " + std::to_string(run.walk.columns) +
      ", \"wide\": " + std::to_string(run.walk.wide) +
      ", \"pad\": " + std::to_string(run.walk.pad) + ", \"steps\": " + std::to_string(steps) +
      ", \"rate\": " + number(mean(rates)) + ", \"slowest\": " + number(rates.front()) +
      ", \"fastest\": " + number(rates.back()) + ", \"latency\": " + number(mean(latencies)) +
      ", \"latency_5\": " + number(latencies[latencies.size() / 20]) +
      ", \"latency_50\": " + number(latencies[latencies.size() / 2]) +
      ", \"latency_95\": " + number(latencies[latencies.size() * 19 / 20]);
  line += ", \"by_gpc\": [";
  for (auto& [gpc, values] : by_gpc) {
    line += (gpc == by_gpc.begin()->first ? "" : ", ") + number(mean(values));
  }
  line += "]";
  if (run.walk.sharers == 0) {
    line += ", \"first\": {";
    for (const std::uint32_t window : {125U, 250U, 500U, 1000U, 2000U, 4000U}) {
      line += (window == 125 ? "\"" : ", \"") + std::to_string(window) +
              "\": " + number(first_share(run, bench.gpc(), window));
    }
    line += "}, \"gpc_of_cta\": [";
    for (std::uint32_t cta = 0; cta < run.sms.size(); ++cta) {
      line += (cta == 0 ? "" : ", ") + std::to_string(bench.gpc()[run.sms[cta]]);
    }
    line += "], \"spread\": [";  // standard deviation of when a step was asked for, by step
    for (std::uint32_t i = 8; i < steps; i *= 2) {
      double sum = 0;
      double squares = 0;
      for (std::uint32_t cta = 0; cta < run.sms.size(); ++cta) {
        sum += run.at(cta, i).asked;
        squares += double{1} * run.at(cta, i).asked * run.at(cta, i).asked;
      }
      const double n = run.sms.size();
      line += (i == 8 ? "" : ", ") + number(std::sqrt(squares / n - sum / n * sum / n));
    }
    line += "]";
  }
  return line + "}";
}

/// In the order of a GEMM. `note` takes a run.
void note_tiles(const Bench& bench, Walk walk, const auto& note) {
  const std::vector<bool> all(bench.sms(), true);
  for (const std::uint32_t strip : {0U, 4U, 16U}) {
    for (const std::uint32_t spin : {0U, 256U, 400U, 512U, 700U}) {
      for (const std::uint32_t stages : {2U, 3U, 4U, 6U}) {
        walk.strip = strip;
        walk.spin = spin;
        walk.stages = stages;
        note("tiles of a GEMM", walk, all);
      }
    }
  }
}

/// The same matrices with rows of other lengths. `note` takes a run.
void note_pitches(const Bench& bench, Walk walk, const auto& note) {
  const std::vector<bool> all(bench.sms(), true);
  walk.watched = 1;
  walk.spin = 512;
  for (const std::uint32_t strip : {0U, 4U}) {
    for (const std::uint32_t stages : {1U, 2U, 3U}) {
      for (const std::uint32_t wide : {1U, 2U, 4U}) {
        for (const std::uint32_t pad : {0U, 128U, 512U, 2048U}) {
          walk.strip = strip;
          walk.stages = stages;
          walk.wide = wide;
          walk.pad = pad;
          note("tiles of a GEMM, pitches", walk, all);
        }
      }
    }
  }
}

/// Who shares lines in the order of a GEMM: all SMs, SMs of a GPC, SMs of different GPCs; and
/// nobody, where each SM has boxes of its own. `note` takes a run.
void note_copies(const Bench& bench, Walk walk, const auto& note) {
  const std::vector<bool> all(bench.sms(), true);
  std::vector<std::uint32_t> by_place(bench.sms());
  std::map<std::uint32_t, std::uint32_t> places;
  for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
    by_place[sm] = places[bench.gpc()[sm]]++;
  }
  walk.watched = 1;
  for (const std::uint32_t strip : {0U, 4U}) {
    for (const std::uint32_t spin : {256U, 512U, 700U}) {
      for (const std::uint32_t stages : {1U, 2U, 3U}) {
        walk.strip = strip;
        walk.spin = spin;
        walk.stages = stages;
        walk.columns = kSteps;
        note("tiles of a GEMM, watched", walk, all);
        walk.columns = kFewColumns;
        note("tiles of a GEMM, few columns", walk, all);
        note("tiles of a GEMM, a copy for each GPC", walk, all, bench.gpc());
        note("tiles of a GEMM, a copy for each place in a GPC", walk, all, by_place);
      }
    }
  }
  walk.sharers = 1;
  walk.columns = kSteps;
  for (const std::uint32_t spin : {256U, 512U, 700U}) {
    for (const std::uint32_t stages : {1U, 2U, 3U}) {
      walk.spin = spin;
      walk.stages = stages;
      for (const std::uint32_t wide : {0U, 1U, 4U}) {
        walk.wide = wide;
        note("own lines, two boxes", walk, all);
      }
    }
  }
}

void measure(const char* path) {
  Bench bench;
  std::ofstream out{path};
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (const std::uint32_t gpc : bench.gpc()) {
    ++sizes[gpc];
  }
  cudaDeviceProp device{};
  require_cuda(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties", "see the error");
  out << "{\"device\": \"" << device.name << "\", \"gpc_sms\": [";
  for (const auto& [gpc, size] : sizes) {
    out << (gpc == 0 ? "" : ", ") << size;
  }
  out << "],\n\"gpc_of_sm\": [";
  for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
    out << (sm == 0 ? "" : ", ") << bench.gpc()[sm];
  }
  out << "],\n\"runs\": [";
  const char* between = "\n";
  const auto note = [&](const std::string& what,
                        const Walk& walk,
                        const std::vector<bool>& loads,
                        const std::vector<std::uint32_t>& copies = {}) {
    out << between << describe(what, bench.run(walk, loads, copies), bench);
    between = ",\n";
  };
  const std::vector<bool> all(bench.sms(), true);
  Walk walk;
  walk.sharers = 1;
  walk.stages = kStagesMost;
  walk.steps = 512;
  note("own lines, all SMs", walk, all);
  for (const auto& [gpc, size] : sizes) {
    std::vector<bool> one(bench.sms());
    for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
      one[sm] = bench.gpc()[sm] == gpc;
    }
    note("own lines, GPC " + std::to_string(gpc) + " alone", walk, one);
  }
  // One after the other, until all are there: what the ports of GPCs give, and L2 together.
  std::vector<bool> several(bench.sms());
  std::uint32_t together = 0;
  for (const auto& [gpc, size] : sizes) {
    if (size > kLargestCluster) {
      for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
        several[sm] = several[sm] || bench.gpc()[sm] == gpc;
      }
      note("own lines, " + std::to_string(++together) + " GPCs", walk, several);
    }
  }
  several.flip();
  if (std::find(several.begin(), several.end(), true) != several.end()) {
    note("own lines, SMs whose GPC clusters leave open", walk, several);
  }
  std::vector<bool> largest(bench.sms());
  const auto most = std::max_element(
      sizes.begin(), sizes.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
    largest[sm] = bench.gpc()[sm] == most->first;
  }
  for (const std::uint32_t sharers : {2U, 3U, 6U}) {
    for (const std::uint32_t delay : {0U, 60U, 125U, 250U, 375U, 500U, 750U, 1000U, 2000U}) {
      walk.sharers = sharers;
      walk.delay = delay;
      walk.spin = 400;
      note("lines shared, one GPC", walk, largest);
    }
  }
  walk.sharers = 1;
  walk.delay = 0;
  walk.spin = 0;
  walk.boxes = 1;
  for (const std::uint32_t every : {132U, 8U, 4U, 2U, 1U}) {
    std::vector<bool> some(bench.sms());
    for (std::uint32_t sm = 0; sm < bench.sms(); sm += every) {
      some[sm] = true;
    }
    for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 6U}) {
      walk.stages = stages;
      note("own lines, boxes on their way", walk, some);
    }
  }
  walk.stages = 4;
  for (const std::uint32_t spin : {1600U, 1200U, 1000U, 900U, 800U, 700U, 640U, 600U, 560U, 520U}) {
    walk.spin = spin;
    note("own lines, paced", walk, all);
  }
  walk.sharers = 0;
  walk.boxes = 2;
  walk.steps = 16 * kSteps;
  note_tiles(bench, walk, note);
  note_copies(bench, walk, note);
  note_pitches(bench, walk, note);
  out << "\n]}\n";
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  return warptwin::hw::bench::measure_to_file(
      count, arguments, "usage: warptwin-measure-l2 OUT.json", warptwin::hw::bench::measure);
}
