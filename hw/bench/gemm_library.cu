// GEMMs by wgmma, of bf16 and e4m3, with results in bf16, against the library: at 4096^3, at
// 8192^3, and at shapes whose last tiles are cut along each extent.
//
//   warptwin-measure-library [--quick]
//
// Prints a table for each problem and type: what the library would take first, the fastest of the
// ways it offers, and three configurations of each scenario, measured in turn. The three are of
// different tiles, stages or clusters, each with the order and number of CTAs that are fastest by
// short looks at some two hundred; their times in the table are measured anew. A time is that of
// five launches in a row: those that prefetch may begin while the launch before ends. Results are
// checked against double precision. --quick: three times a row instead of fifteen.
// Exit codes: 0, 1 a wrong result, 4 no device or no libcublasLt.

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_run.cuh"
#include "hw/bench/library.hpp"
#include "scenarios/gemm_wgmma_pingpong.hpp"

namespace warptwin::hw::bench {
namespace {

struct Problem {
  std::uint32_t m, n, k;
};

constexpr Problem kProblems[] = {{4096, 4096, 4096},
                                 {8192, 8192, 8192},
                                 {4000, 5000, 4112},
                                 {6104, 3000, 5008},
                                 {1000, 8200, 2064}};

struct Row {
  std::string name;
  std::function<void()> call;
  double error = 0;
  std::vector<double> spent{};
  std::vector<double> clocks{};

  double time() const { return median(spent); }
};

// CTAs that take turns at the tiles of a problem: one for each SM, and as few as give no CTA more
// tiles, for fewer SMs draw less power.
std::vector<std::uint32_t> counts_of_ctas(const TileGrid& grid, std::uint32_t cluster) {
  const std::uint32_t clusters = sm_count() / cluster;
  const std::uint32_t tiles = ceil_div(grid.m, cluster) * grid.n;
  const std::uint32_t fewest = ceil_div(tiles, ceil_div(tiles, clusters));
  std::vector<std::uint32_t> counts{clusters * cluster};
  if (fewest < clusters) {
    counts.push_back(fewest * cluster);
  }
  return counts;
}

template <template <class, class, class> class KernelOf,
          class Operands,
          std::uint32_t kTileM,
          std::uint32_t kTileN,
          std::uint32_t kStages,
          std::uint32_t kCluster,
          bool kInTurn = false>  // warpgroups take turns at a CTA's tiles: of one tile one idles
void add(const char* scenario, const Matrices& x, std::vector<Row>& rows) {
  constexpr std::uint32_t kTileK = 128 / sizeof(typename Operands::Storage);
  using Extents = scenarios::GemmWgmmaExtents<kTileM, kTileN, kTileK, kStages, kCluster, 1>;
  using Kernel = KernelOf<CudaMachine, Extents, scenarios::GemmPartsOf<Operands, bf16>>;
  const auto grid = TileGrid::covering(x.m(), x.n(), kTileM, kTileN);
  std::vector<std::uint32_t> counts = counts_of_ctas(grid, kCluster);
  if (kInTurn) {
    std::erase_if(counts, [&](std::uint32_t ctas) { return ctas >= grid.m * grid.n; });
  } else {
    counts.push_back(0);
  }
  for (const std::uint32_t ctas : counts) {
    for (const std::uint32_t strip : {3U, 4U, 5U, 6U, 8U, 10U, 12U, 16U, 20U, 32U}) {
      char name[96];
      std::snprintf(name,
                    sizeof name,
                    "%s %ux%u, %u stages, cluster_m=%u, ctas=%u, swizzle=%u",
                    scenario,
                    kTileM,
                    kTileN,
                    kStages,
                    kCluster,
                    ctas,
                    strip);
      rows.push_back({name, [&x, ctas, strip] {
                        if constexpr (is_compiled(kTileM, kTileN)) {
                          launch_scenario<Kernel>(x, Extents{}, ctas, strip);
                        }
                      }});
    }
  }
}

template <class Machine, class Extents, class Parts>
using WholeTiles = scenarios::GemmWgmmaKernel<Machine, Extents, scenarios::Prefetched<Parts>>;
template <class Machine, class Extents, class Parts>
using StoredByWarps = scenarios::GemmWgmmaKernel<Machine, Extents, scenarios::StoredByWarps<Parts>>;
template <class Machine, class Extents, class Parts>
using TilesInTurn =
    scenarios::GemmWgmmaPingpongKernel<Machine,
                                       Extents,
                                       scenarios::StoredByWarps<scenarios::Prefetched<Parts>>>;

template <class Operands>
std::vector<Row> configurations(const Matrices& x) {
  std::vector<Row> rows;
  constexpr const char* kWhole = "gemm_wgmma_prefetch";
  constexpr const char* kByWarps = "gemm_wgmma_warp_stores";
  constexpr const char* kInTurn = "gemm_wgmma_pingpong_prefetch";
  add<WholeTiles, Operands, 128, 128, 6, 1>(kWhole, x, rows);
  add<WholeTiles, Operands, 128, 128, 6, 2>(kWhole, x, rows);
  add<WholeTiles, Operands, 128, 192, 4, 1>(kWhole, x, rows);
  add<WholeTiles, Operands, 128, 192, 4, 2>(kWhole, x, rows);
  add<WholeTiles, Operands, 128, 256, 4, 1>(kWhole, x, rows);
  add<WholeTiles, Operands, 128, 256, 4, 2>(kWhole, x, rows);
  add<StoredByWarps, Operands, 128, 128, 6, 1>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 128, 128, 6, 2>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 128, 192, 4, 1>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 128, 192, 4, 2>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 128, 256, 4, 1>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 128, 256, 4, 2>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 256, 128, 4, 1>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 256, 128, 4, 2>(kByWarps, x, rows);
  add<StoredByWarps, Operands, 256, 144, 4, 2>(kByWarps, x, rows);
  add<TilesInTurn, Operands, 128, 128, 6, 1, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 128, 128, 6, 2, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 128, 152, 5, 1, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 128, 152, 5, 2, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 128, 160, 5, 2, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 128, 168, 5, 2, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 128, 192, 4, 2, true>(kInTurn, x, rows);
  add<TilesInTurn, Operands, 64, 256, 4, 2, true>(kInTurn, x, rows);
  return rows;
}

// The `count` fastest shapes of each scenario, each in its fastest order, by short looks at all.
template <class Operands>
void add_fastest(const Matrices& x, std::size_t count, std::vector<Row>& rows) {
  std::vector<Row> all = configurations<Operands>(x);
  for (int look = 0; look < 3; ++look) {
    for (Row& row : all) {
      row.spent.push_back(microseconds(row.call, 4, 1));
    }
  }
  const auto usual = [](const Row& row) { return median(row.spent); };
  std::sort(
      all.begin(), all.end(), [&](const Row& a, const Row& b) { return usual(a) < usual(b); });
  std::map<std::string, std::set<std::string>> kept;  // shapes, by scenario
  for (const Row& row : all) {
    std::set<std::string>& shapes = kept[row.name.substr(0, row.name.find(' '))];
    const std::string shape = row.name.substr(0, row.name.find(", ctas"));
    if (shapes.size() < count && shapes.insert(shape).second) {
      rows.push_back({row.name, row.call});
    }
  }
}

// What the library would take, and the fastest of what it offers.
void add_library(Library& library, const Matrices& x, std::vector<Row>& rows) {
  const std::vector<Library::Way> ways = library.ways_of(x);
  std::size_t best = 0;
  double least = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const double time = microseconds([&] { library.multiply(x, ways[i]); }, 5, 3);
    if (i == 0 || time < least) {
      best = i;
      least = time;
    }
  }
  const auto row = [&](const std::string& name, const Library::Way& way) {
    rows.push_back({name, [&library, &x, way] { library.multiply(x, way); }});
  };
  row("cuBLAS", ways.front());
  row("cuBLAS, the fastest of " + std::to_string(ways.size()), ways[best]);
}

bool print(const Matrices& x, const char* type, double rounding, const std::vector<Row>& rows) {
  std::printf("\n%u x %u x %u, %s, results in bf16\n", x.m(), x.n(), x.k(), type);
  std::puts("| kernel | us | GHz | TFLOP/s | of cuBLAS | error |\n|---|---|---|---|---|---|");
  bool right = true;
  for (const Row& row : rows) {
    const bool is_right = row.error < rounding;
    right = right && is_right;
    std::printf("| %s | %.1f | %.3f | %.1f | %.3f | %.1e%s |\n",
                row.name.c_str(),
                row.time(),
                median(row.clocks),
                x.flops() / row.time() / 1e6,
                rows.front().time() / row.time(),
                row.error,
                is_right ? "" : " WRONG");
  }
  std::fflush(stdout);
  return right;
}

template <class Operands>
bool measure(Library& library, const Problem& problem, int rounds) {
  constexpr bool kBytes = sizeof(typename Operands::Storage) == 1;
  Matrices x{problem.m, problem.n, problem.k, Operands::kType};
  std::vector<Row> rows;
  add_library(library, x, rows);
  add_fastest<Operands>(x, 3, rows);
  ClockMeter meter{sm_count()};
  for (Row& row : rows) {
    x.poison();
    row.call();
    synchronize(nullptr);
    row.error = x.error();
  }
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) {
      meter.begin();
      row.spent.push_back(microseconds(row.call, 5, 1));
      row.clocks.push_back(meter.gigahertz());
    }
  }
  // bf16 has 8 bits. Of e4m3 a tensor core's sums have 14, and are cut off.
  return print(x, kBytes ? "e4m3" : "bf16", kBytes ? 3e-2 : 4e-3, rows);
}

int run(bool quick) {
  Library library;
  if (!library.is_there()) {
    std::puts("no libcublasLt could be loaded; name its folder in LD_LIBRARY_PATH");
    return 4;
  }
  bool right = true;
  for (const Problem& problem : kProblems) {
    right = measure<bf16>(library, problem, quick ? 3 : 15) && right;
    right = measure<f8e4m3>(library, problem, quick ? 3 : 15) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  const bool quick = count == 2 && std::string_view{arguments[1]} == "--quick";
  if (count > 2 || (count == 2 && !quick)) {
    std::puts("usage: warptwin-measure-library [--quick]");
    return 2;
  }
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    return warptwin::hw::bench::run(quick);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
