// The scenarios `gemm_wgmma` and `gemm_wgmma_e4m3`, with results in bf16, against the library: at
// 4096^3, at 8192^3, and at shapes whose last tiles are cut along each extent.
//
//   warptwin-measure-library [--quick]
//
// Prints a table for each problem and type: what the library would take first, the fastest of the
// ways it offers, and the kernel in each of its configurations, in turn. Results are checked
// against double precision. --quick: one configuration of each tile.
// Exit codes: 0, 1 a wrong result, 4 no device or no libcublasLt.

#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_run.cuh"
#include "hw/bench/library.hpp"

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

template <class Operands, std::uint32_t kTileN, std::uint32_t kStages, std::uint32_t kCluster>
void add(const Matrices& x, bool quick, std::vector<Row>& rows) {
  constexpr std::uint32_t kTileK = 128 / sizeof(typename Operands::Storage);
  using Extents = scenarios::GemmWgmmaExtents<128, kTileN, kTileK, kStages, kCluster, 1>;
  using Kernel =
      scenarios::GemmWgmmaKernel<CudaMachine, Extents, scenarios::GemmPartsOf<Operands, bf16>>;
  for (const std::uint32_t ctas : {0U, sm_count() / kCluster * kCluster}) {
    for (const std::uint32_t strip : {8U, 16U}) {
      if (quick && (ctas == 0 || strip == 8)) {
        continue;
      }
      char name[80];
      std::snprintf(name,
                    sizeof name,
                    "128x%u, %u stages, cluster_m=%u, ctas=%u, swizzle=%u",
                    kTileN,
                    kStages,
                    kCluster,
                    ctas,
                    strip);
      rows.push_back(
          {name, [&x, ctas, strip] { launch_scenario<Kernel>(x, Extents{}, ctas, strip); }});
    }
  }
}

template <class Operands>
void add_all(const Matrices& x, bool quick, std::vector<Row>& rows) {
  add<Operands, 128, 6, 1>(x, quick, rows);
  add<Operands, 128, 6, 2>(x, quick, rows);
  add<Operands, 192, 4, 1>(x, quick, rows);
  add<Operands, 192, 4, 2>(x, quick, rows);
  add<Operands, 256, 4, 1>(x, quick, rows);
  add<Operands, 256, 4, 2>(x, quick, rows);
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
bool measure(Library& library, const Problem& problem, bool quick) {
  constexpr bool kBytes = sizeof(typename Operands::Storage) == 1;
  Matrices x{problem.m, problem.n, problem.k, Operands::kType};
  std::vector<Row> rows;
  add_library(library, x, rows);
  add_all<Operands>(x, quick, rows);
  ClockMeter meter{sm_count()};
  for (Row& row : rows) {
    x.poison();
    row.call();
    synchronize(nullptr);
    row.error = x.error();
  }
  constexpr int kRounds = 9;
  for (int round = 0; round < kRounds; ++round) {
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
    right = measure<bf16>(library, problem, quick) && right;
    right = measure<f8e4m3>(library, problem, quick) && right;
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
