// What a multicast takes of the way from L2: pairs of CTAs whose loads go to one of them, or to
// both.
//
//   warptwin-measure-multicast OUT.json
//
// A stage has two boxes of 128 rows, A and B. Each CTA of a pair loads a box of its own, or both
// load the same box, or each loads half of it by a multicast to both. Rings, spinning and what is
// noted are those of warptwin-measure-l2. Pairs are of one GPC, or all; so many of them read the
// same boxes, or they walk tiles as a GEMM with cluster_m 2 does: A of its own, B the same. Which
// SMs are of a GPC, clusters tell. A pair is on one TPC.
// Exit codes: 0, 2 usage, 4 no device.

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "common/kernel/scenario.hpp"

#include "hw/bench/l2_places.cuh"
#include "hw/launch/tensor_map.hpp"
#include "hw/ptx/launch.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kPair = 2;
constexpr std::uint32_t kThreads = 64;
constexpr std::uint32_t kRows = 128;
constexpr std::uint32_t kColumns = 64;
constexpr std::uint32_t kBoxBytes = kRows * kColumns * 2;
constexpr std::uint32_t kStagesMost = 6;
constexpr std::uint32_t kShared = kStagesMost * 2 * kBoxBytes + 1024;
constexpr std::uint32_t kSteps = 32;           // of K, a tile
constexpr std::uint32_t kMatrices = 8;         // columns of boxes there are: far less than L2 holds
constexpr std::uint32_t kOwnBoxes = 2;         // of a pair that walks no tiles
constexpr std::uint64_t kLongest = 5'000'000;  // ns until all pairs must have come

/// How a pair gets a box: each CTA another, both the same, or halves by multicast.
enum class Way : std::uint32_t { kOwn, kSame, kMulticast };

struct Walk {
  CUtensorMap boxes;   // of 128 rows
  CUtensorMap halves;  // of 64
  Way a = Way::kOwn;
  Way b = Way::kOwn;
  std::uint32_t sharers = 0;  // 0: tiles of a GEMM; otherwise so many pairs read the same boxes,
  std::uint32_t delay = 0;    // each so many cycles after the one before
  std::uint32_t stages = 4;
  std::uint32_t steps = 0;
  std::uint32_t spin = 0;  // cycles from a full stage until it is freed
  std::uint32_t strip = 0;
  std::uint32_t active = 0;  // pairs that load

  __host__ __device__ bool multicasts() const {
    return a == Way::kMulticast || b == Way::kMulticast;
  }
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

/// Box `box` of a stage, of the rows from `row` on: of a pair that shares it the same.
__device__ inline void load(const Walk& walk,
                            Way way,
                            std::uint32_t stage,
                            std::uint32_t box,
                            std::uint32_t column,
                            std::uint32_t row) {
  const SharedAddress to = shared_base() + (2 * stage + box) * kBoxBytes;
  const auto at = [&](std::uint32_t first) {
    return Coordinates<2>{
        {static_cast<std::int32_t>(column * kColumns), static_cast<std::int32_t>(first)}};
  };
  if (way == Way::kMulticast) {
    const std::uint32_t rank = ptx::cluster_cta_rank();
    ptx::cp_async_bulk_tensor_load(to + rank * (kBoxBytes / 2),
                                   &walk.halves,
                                   at(row + rank * (kRows / 2)),
                                   full_of(stage),
                                   CtaMask{0b11});
  } else {
    ptx::cp_async_bulk_tensor_load(to, &walk.boxes, at(row), full_of(stage), {});
  }
}

/// Of a tile, or of a pair that walks none, the first rows of A and of B.
struct Rows {
  std::uint32_t a, b;
};

__device__ inline Rows rows_of(const Walk& walk, std::uint32_t pair, std::uint32_t tile) {
  const std::uint32_t rank = ptx::cluster_cta_rank();
  if (walk.sharers != 0) {
    const std::uint32_t first = 4 * (pair / walk.sharers);
    return {(first + (walk.a == Way::kOwn ? rank : 0)) * kRows,
            (first + 2 + (walk.b == Way::kOwn ? rank : 0)) * kRows};
  }
  const Place at = tile_of(tile, walk.strip, kTilesM / kPair);
  return {(kPair * at.row + rank) * kRows, (kTilesM + at.column) * kRows};
}

__device__ inline void fill(const Walk& walk,
                            std::uint32_t pair,
                            std::uint64_t begin,
                            Step* steps) {
  std::uint32_t stage = 0;
  std::uint32_t parity = 1;
  std::uint32_t column = 0;
  std::uint32_t tile = pair;
  const std::uint32_t columns = walk.sharers == 0 ? kMatrices : kOwnBoxes;
  Rows rows = rows_of(walk, pair, tile);
  for (std::uint32_t i = 0; i < walk.steps; ++i) {
    if (walk.sharers == 0 && i % kSteps == 0) {
      rows = rows_of(walk, pair, tile);
      tile += walk.active;
    }
    while (!ptx::mbarrier_try_wait_parity(empty_of(stage), parity, kAcquireCluster)) {
    }
    steps[i].asked = static_cast<std::uint32_t>(now() - begin);
    ptx::mbarrier_arrive_expect_tx(full_of(stage), 2 * kBoxBytes);
    load(walk, walk.a, stage, 0, column, rows.a);
    load(walk, walk.b, stage, 1, column, rows.b);
    column = column + 1 == columns ? 0 : column + 1;
    if (++stage == walk.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

__device__ inline void free_stages(const Walk& walk, std::uint64_t begin, Step* steps) {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  const std::uint32_t other = ptx::cluster_cta_rank() ^ 1;
  for (std::uint32_t i = 0; i < walk.steps; ++i) {
    while (!ptx::mbarrier_try_wait_parity(full_of(stage), parity, kAcquireCta)) {
    }
    const std::uint64_t full = now();
    steps[i].full = static_cast<std::uint32_t>(full - begin);
    while (now() - full < walk.spin) {
    }
    if (walk.multicasts()) {  // the other CTA writes here too
      const RemoteMbarrier there{ptx::mapa(empty_of(stage).address, other)};
      ptx::mbarrier_arrive(there, 1, kRelaxedCluster);
    }
    ptx::mbarrier_arrive(empty_of(stage), 1, kReleaseCta);
    if (++stage == walk.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

/// `loads[sm]` says whether the pair whose first CTA is on the SM takes part. Pairs that do are
/// numbered as they come, in the order of the grid where all do, and begin together. `count` is 0
/// before: CTAs that came, pairs that take part, and of each pair 1 more than its number. `late` is
/// set where not all came.
__global__ void __launch_bounds__(kThreads, 1) walk_pairs(const __grid_constant__ Walk walk,
                                                          const std::uint32_t* loads,
                                                          std::uint32_t* count,
                                                          std::uint32_t* late,
                                                          std::uint32_t* sms,
                                                          Step* steps) {
  __shared__ std::uint32_t number;
  __shared__ std::uint64_t started;
  const std::uint32_t rank = ptx::cluster_cta_rank();
  const std::uint32_t cluster = blockIdx.x / kPair;
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < kStagesMost; ++i) {
      ptx::mbarrier_init(full_of(i), 1);
      ptx::mbarrier_init(empty_of(i), walk.multicasts() ? kPair : 1);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::barrier_cluster_arrive(kReleaseCluster);
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0) {
    volatile std::uint32_t* arrived = count;
    volatile std::uint32_t* mine = count + 2 + cluster;
    if (rank == 0) {  // the pair's place decides, and both CTAs do the same
      const std::uint32_t next = loads[own_sm()] == 0 ? walk.active : atomicAdd(count + 1, 1);
      *mine = 1 + (walk.active * kPair == gridDim.x ? cluster : next);
      __threadfence();
    }
    while (*mine == 0) {
    }
    number = *mine - 1;
    if (number < walk.active) {
      atomicAdd(count, 1);
      sms[kPair * number + rank] = own_sm();
    }
    const std::uint64_t since = nanoseconds();
    while (*arrived < walk.active * kPair) {
      if (nanoseconds() - since > kLongest) {
        *late = 1;
        break;
      }
    }
    started = now();
    if (walk.sharers > 1) {
      while (now() - started < number % walk.sharers * walk.delay) {
      }
    }
  }
  ptx::cta_sync();
  if (number < walk.active) {
    Step* own = steps + std::size_t{walk.steps} * (kPair * number + rank);
    if (threadIdx.x == 0) {
      fill(walk, number, started, own);
    } else if (threadIdx.x == 32) {
      free_stages(walk, started, own);
    }
  }
  ptx::barrier_cluster_arrive(kReleaseCluster);
  ptx::barrier_cluster_wait();
}

/// The other SM of each SM's TPC, which every pair of CTAs has had together.
std::vector<std::uint32_t> partners_of(std::uint32_t sms) {
  std::vector<std::uint32_t> partner(sms, sms);
  for (int round = 0; round < 4; ++round) {
    SharedWithDevice<std::uint32_t> where_it_was{sms};
    std::uint32_t* to = where_it_was.get();
    void* arguments[] = {&to};
    launch(reinterpret_cast<const void*>(&where),
           {sms / kPair, kPair, 32, 200 * 1024},
           arguments,
           nullptr);
    synchronize(nullptr);
    for (std::uint32_t i = 0; i < sms / kPair * kPair; ++i) {
      const std::uint32_t other = where_it_was[i ^ 1];
      std::uint32_t& known = partner[where_it_was[i]];
      if (known != sms && known != other) {
        throw std::runtime_error("pairs of CTAs are not always on the same two SMs");
      }
      known = other;
    }
  }
  return partner;
}

struct Run {
  Walk walk;
  std::vector<std::uint32_t> sms;
  std::vector<Step> steps;  // of each CTA in turn
  bool late = false;

  const Step& at(std::uint32_t cta, std::uint32_t step) const {
    return steps[std::size_t{cta} * walk.steps + step];
  }
};

class Bench {
 public:
  Bench() : sms_{sm_count()}, gpc_{gpcs_of(sms_)}, partner_{partners_of(sms_)} {}
  std::uint32_t sms() const { return sms_; }
  const std::vector<std::uint32_t>& gpc() const { return gpc_; }
  const std::vector<std::uint32_t>& partner() const { return partner_; }

  /// The second of two runs: L2 has everything then.
  Run run(Walk walk, const std::vector<bool>& loads) {
    SharedWithDevice<std::uint32_t> mask{kSmsMost};
    std::uint32_t ctas = 0;
    for (std::uint32_t sm = 0; sm < sms_; ++sm) {
      mask[sm] = loads[sm] ? 1 : 0;
      ctas += mask[sm];
    }
    walk.active = ctas / kPair;
    const TensorSpec tensor{
        .name = "operands",
        .element = ElementType::kBf16,
        .rows = (walk.sharers == 0 ? kTilesM + kTilesN : 2 * sms_) * kRows,
        .columns = (walk.sharers == 0 ? kMatrices : kOwnBoxes) * kColumns,
        .pitch_bytes = 2 * (walk.sharers == 0 ? kMatrices : kOwnBoxes) * kColumns};
    const auto map = [&](std::uint32_t rows) {
      return encode(encoding_of({0, rows, kColumns, Swizzle::k128B}, tensor), data_.address());
    };
    walk.boxes = map(kRows);
    walk.halves = map(kRows / 2);
    DeviceBuffer steps{sizeof(Step) * walk.steps * ctas, 0};
    SharedWithDevice<std::uint32_t> late{1};
    for (int i = 0; i < 2; ++i) {
      DeviceBuffer count{sizeof(std::uint32_t) * (2 + kSmsMost), 0};
      const std::uint32_t* in = mask.get();
      auto* arrived = count.get<std::uint32_t>();
      std::uint32_t* not_all = late.get();
      std::uint32_t* where_they_were = places_.get();
      auto* to = steps.get<Step>();
      void* arguments[] = {&walk, &in, &arrived, &not_all, &where_they_were, &to};
      launch(reinterpret_cast<const void*>(&walk_pairs),
             {sms_ / kPair, kPair, kThreads, kShared},
             arguments,
             nullptr);
      synchronize(nullptr);
    }
    Run run{walk, {places_.get(), places_.get() + ctas}, {}, late[0] != 0};
    run.steps.resize(std::size_t{walk.steps} * ctas);
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
  std::vector<std::uint32_t> partner_;
  DeviceBuffer data_{std::size_t{16} << 20, 0};
  SharedWithDevice<std::uint32_t> places_{kSmsMost};
};

const char* name_of(Way way) {
  return way == Way::kOwn ? "own" : way == Way::kSame ? "same" : "multicast";
}

/// Of the boxes A, or B, that CTAs of each GPC ask for in the order of a GEMM, the share that none
/// of them had asked for within `window` cycles before. Of what is multicast the first half counts.
double first_share(const Run& run, const Bench& bench, bool of_b, std::uint32_t window) {
  std::map<std::array<std::uint32_t, 3>, std::vector<std::uint32_t>> times;
  const bool halves = of_b && run.walk.b == Way::kMulticast;
  for (std::uint32_t cta = 0; cta < run.sms.size(); cta += halves ? kPair : 1) {
    for (std::uint32_t i = 0; i < run.walk.steps; ++i) {
      const std::uint32_t tile = cta / kPair + i / kSteps * run.walk.active;
      const Place at = tile_of(tile, run.walk.strip, kTilesM / kPair);
      const std::uint32_t box = of_b ? kTilesM + at.column : kPair * at.row + cta % kPair;
      times[{bench.gpc()[run.sms[cta]], box, i % kMatrices}].push_back(run.at(cta, i).asked);
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

std::string shares(const Run& run, const Bench& bench, bool of_b) {
  std::string text;
  for (const std::uint32_t window : {60U, 125U, 250U, 500U, 1000U}) {
    text += (text.empty() ? "\"" : ", \"") + std::to_string(window) +
            "\": " + number(first_share(run, bench, of_b, window));
  }
  return "{" + text + "}";
}

/// A line of JSON: what an SM is filled with, in bytes a cycle; latencies in cycles.
std::string describe(const std::string& what, const Run& run, const Bench& bench) {
  const Walk& walk = run.walk;
  std::vector<double> rates;
  std::vector<double> latencies;
  std::map<std::uint32_t, std::vector<double>> by_gpc;
  for (std::uint32_t cta = 0; cta < run.sms.size(); ++cta) {
    rates.push_back(2.0 * kBoxBytes * walk.steps / run.at(cta, walk.steps - 1).full);
    by_gpc[bench.gpc()[run.sms[cta]]].push_back(rates.back());
    for (std::uint32_t i = walk.steps / 4; i < walk.steps * 3 / 4; ++i) {
      latencies.push_back(run.at(cta, i).full - run.at(cta, i).asked);
    }
  }
  std::sort(rates.begin(), rates.end());
  std::sort(latencies.begin(), latencies.end());
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  std::string line =
      "{\"what\": \"" + what + "\", \"pairs\": " + std::to_string(walk.active) + ", \"a\": \"" +
      name_of(walk.a) + "\", \"b\": \"" + name_of(walk.b) +
      "\", \"sharers\": " + std::to_string(walk.sharers) +
      ", \"delay\": " + std::to_string(walk.delay) +
      ", \"stages\": " + std::to_string(walk.stages) + ", \"spin\": " + std::to_string(walk.spin) +
      ", \"strip\": " + std::to_string(walk.strip) +
      ", \"late\": " + (run.late ? "true" : "false") + ", \"rate\": " + number(mean(rates)) +
      ", \"slowest\": " + number(rates.front()) + ", \"fastest\": " + number(rates.back()) +
      ", \"latency\": " + number(mean(latencies)) +
      ", \"latency_5\": " + number(latencies[latencies.size() / 20]) +
      ", \"latency_50\": " + number(latencies[latencies.size() / 2]) +
      ", \"latency_95\": " + number(latencies[latencies.size() * 19 / 20]);
  line += ", \"by_gpc\": {";
  for (auto& [gpc, values] : by_gpc) {
    line += (gpc == by_gpc.begin()->first ? "\"" : ", \"") + std::to_string(gpc) +
            "\": " + number(mean(values));
  }
  line += "}";
  if (walk.sharers == 0) {
    line += ", \"first_a\": " + shares(run, bench, false) +
            ", \"first_b\": " + shares(run, bench, true);
  }
  return line + "}";
}

/// Both boxes of a stage in one way.
Walk both(Walk walk, Way way) {
  walk.a = way;
  walk.b = way;
  return walk;
}

/// Pairs of one GPC, one after the other, until all are there. `note` takes a run.
void note_pairs(const Bench& bench, std::uint32_t gpc, Walk walk, const auto& note) {
  std::vector<bool> some(bench.sms());
  std::uint32_t pairs = 0;
  walk.sharers = 1;
  for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
    const std::uint32_t partner = bench.partner()[sm];
    if (bench.gpc()[sm] != gpc || partner < sm || partner >= bench.sms()) {
      continue;
    }
    some[sm] = some[partner] = true;
    ++pairs;
    for (const Way way : {Way::kOwn, Way::kSame, Way::kMulticast}) {
      for (const std::uint32_t stages : {1U, 2U, kStagesMost}) {
        walk.stages = stages;
        note("pairs of one GPC", both(walk, way), some);
      }
    }
  }
  // All of them, of which so many read the same.
  walk.stages = kStagesMost;
  for (const std::uint32_t sharers : {2U, 4U, pairs}) {
    for (const std::uint32_t delay : {0U, 60U, 125U, 250U, 500U, 1000U}) {
      for (const Way way : {Way::kOwn, Way::kSame, Way::kMulticast}) {
        walk.sharers = sharers;
        walk.delay = delay;
        note("pairs that share", both(walk, way), some);
      }
    }
  }
}

/// All pairs, in the order of a GEMM. `note` takes a run.
void note_tiles(const Bench& bench, Walk walk, const auto& note) {
  const std::vector<bool> all(bench.sms(), true);
  for (const std::uint32_t strip : {0U, 4U, 16U}) {
    for (const std::uint32_t spin : {0U, 256U, 512U}) {
      for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 6U}) {
        for (const Way way : {Way::kSame, Way::kMulticast}) {
          walk.strip = strip;
          walk.spin = spin;
          walk.stages = stages;
          walk.b = way;
          note("tiles of a GEMM", walk, all);
        }
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
  out << "{\"device\": \"" << device.name << "\", \"gpc_of_sm\": [";
  for (std::uint32_t sm = 0; sm < bench.sms(); ++sm) {
    out << (sm == 0 ? "" : ", ") << bench.gpc()[sm];
  }
  out << "],\n\"runs\": [";
  const char* between = "\n";
  const auto note = [&](const std::string& what, const Walk& walk, const std::vector<bool>& loads) {
    out << between << describe(what, bench.run(walk, loads), bench);
    between = ",\n";
  };
  Walk walk;
  walk.steps = 16 * kSteps;
  std::vector<std::uint32_t> noted;  // sizes of GPCs
  for (const auto& [gpc, size] : sizes) {
    if (size > kLargestCluster && std::find(noted.begin(), noted.end(), size) == noted.end()) {
      noted.push_back(size);
      note_pairs(bench, gpc, walk, note);
    }
  }
  const std::vector<bool> all(bench.sms(), true);
  walk.sharers = 1;
  walk.stages = kStagesMost;
  for (const Way way : {Way::kOwn, Way::kSame, Way::kMulticast}) {
    note("all pairs", both(walk, way), all);
  }
  walk.sharers = 0;
  note_tiles(bench, walk, note);
  out << "\n]}\n";
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  return warptwin::hw::bench::measure_to_file(
      count, arguments, "usage: warptwin-measure-multicast OUT.json", warptwin::hw::bench::measure);
}
