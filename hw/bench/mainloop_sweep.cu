// The main loop of a GEMM in one CTA, alone, for many tiles and depths of the ring: rows to hold
// the timing model against.
//
//   warptwin-measure-mainloop ROWS.json BEHIND.json
//
// Once with every stage freed before the next is waited for, and once with one group of products
// under way behind ("in_flight" 1): see WgmmaShape. A row is the cycles of one step of K, seen by
// the first warp that multiplies; the median of nine launches, inputs in L2. Tiles are split:
// some to calibrate with, the others held out. Exit codes: 0, 2 usage, 4 no device.

#include <fstream>
#include <string>

#include "hw/bench/gemm_run.cuh"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kColumnsOfK = 32768;  // of A and B: both fit in one half of L2
constexpr int kRuns = 9;

struct Row {
  std::uint32_t m, n, k, stages, behind;
  double cycles, spread;  // of a step; largest minus least, of the median
};

bool is_for_calibration(const Row& row) {
  return (row.m == 64 && (row.n == 64 || row.n == 256)) ||
         (row.m == 128 && (row.n == 128 || row.n == 192));
}

template <class Shape>
void measure(std::vector<Row>& rows) {
  constexpr std::uint32_t kSharedMost = 232448;
  const Matrices matrices{Shape::kM, Shape::kN, kColumnsOfK};
  SharedWithDevice<std::uint64_t> cycles{1};
  for (std::uint32_t stages = 1 + Shape::kBehind; stages <= 6; ++stages) {
    const Shape shape{stages};
    if (shared_bytes<WgmmaStorage<Shape>>(shape) > kSharedMost) {
      break;
    }
    auto problem = matrices.problem<CudaMachine>(shape, false);
    problem.cycles = cycles.get();
    std::vector<double> spent;
    launch_layer(problem, 1);
    for (int i = 0; i < kRuns; ++i) {
      synchronize(nullptr);
      launch_layer(problem, 1);
      synchronize(nullptr);
      spent.push_back(static_cast<double>(cycles[0]) / problem.steps);
    }
    std::sort(spent.begin(), spent.end());
    const double middle = spent[kRuns / 2];
    rows.push_back({Shape::kM,
                    Shape::kN,
                    Shape::kK,
                    stages,
                    Shape::kBehind,
                    middle,
                    100 * (spent.back() - spent.front()) / middle});
  }
}

template <class Shape>
  requires(!is_compiled(Shape::kM, Shape::kN))
void measure(std::vector<Row>&) {}

template <std::uint32_t kM, std::uint32_t kK, std::uint32_t kBehind>
void measure_columns(std::vector<Row>& rows) {
  measure<WgmmaShape<kM, 64, kK, kDynamic, 1, kBehind>>(rows);
  measure<WgmmaShape<kM, 96, kK, kDynamic, 1, kBehind>>(rows);
  measure<WgmmaShape<kM, 128, kK, kDynamic, 1, kBehind>>(rows);
  measure<WgmmaShape<kM, 160, kK, kDynamic, 1, kBehind>>(rows);
  measure<WgmmaShape<kM, 192, kK, kDynamic, 1, kBehind>>(rows);
  measure<WgmmaShape<kM, 224, kK, kDynamic, 1, kBehind>>(rows);
  measure<WgmmaShape<kM, 256, kK, kDynamic, 1, kBehind>>(rows);
}

// The rows with `behind` groups under way.
void write(const std::vector<Row>& rows, std::uint32_t behind, const char* path) {
  int kilohertz = 0;
  require_cuda(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0),
               "cudaDeviceGetAttribute(ClockRate)",
               "see the error");
  std::ofstream out{path};
  const char* before = "[\n";
  for (const Row& row : rows) {
    if (row.behind != behind) {
      continue;
    }
    const std::string tile =
        std::to_string(row.m) + "x" + std::to_string(row.n) + "x" + std::to_string(row.k);
    char line[512];
    std::snprintf(
        line,
        sizeof line,
        "{\"name\": \"h200/sweep/%s/S%u%s\", \"kind\": \"sweep\", \"split\": \"%s\", "
        "\"chip\": \"H200\", \"scenario\": \"mainloop_wgmma\", \"set\": {\"in_flight\": %u}, "
        "\"value\": %.1f, \"unit\": \"cycles per k-iteration\", "
        "\"spread_percent\": %.2f, \"source\": \"warptwin-measure-mainloop\", \"config\": "
        "{\"tile_m\": %u, \"tile_n\": %u, \"tile_k\": %u, \"stages\": %u, \"dtype\": "
        "\"BF16\", \"ctas\": 1, \"in_flight\": %u, \"K\": %u, \"clock_ghz\": %.3f}}",
        tile.c_str(),
        row.stages,
        row.behind == 0 ? "" : "/behind",
        is_for_calibration(row) ? "calibrate" : "held_out",
        row.behind,
        row.cycles,
        row.spread,
        row.m,
        row.n,
        row.k,
        row.stages,
        row.behind,
        kColumnsOfK,
        kilohertz / 1e6);
    out << before << "  " << line;
    before = ",\n";
  }
  out << "\n]\n";
}

void run(const char* drained, const char* behind) {
  std::vector<Row> rows;
  measure_columns<64, 64, 0>(rows);
  measure_columns<128, 64, 0>(rows);
  measure_columns<64, 32, 0>(rows);
  measure_columns<128, 32, 0>(rows);
  measure_columns<64, 64, 1>(rows);
  measure_columns<128, 64, 1>(rows);
  write(rows, 0, drained);
  write(rows, 1, behind);
  std::puts("| tile | stages | groups behind | cycles a step | spread |\n|---|---|---|---|---|");
  for (const Row& row : rows) {
    std::printf("| %ux%ux%u | %u | %u | %.1f | %.2f %% |\n",
                row.m,
                row.n,
                row.k,
                row.stages,
                row.behind,
                row.cycles,
                row.spread);
  }
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  if (count != 3) {
    std::puts("usage: warptwin-measure-mainloop ROWS.json BEHIND.json");
    return 2;
  }
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    warptwin::hw::bench::run(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
  return 0;
}
