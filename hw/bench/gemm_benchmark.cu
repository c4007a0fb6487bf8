// The scenarios `gemm_wgmma_serial` and `gemm_wgmma` at full size against the library's GEMM: a
// ladder of steps, each beside the one before.
//
//   warptwin-measure-gemm [ROWS.json]
//
// Prints a table: each kernel's time, clock, TFLOP/s, and share of cuBLAS's in the same run, if
// libcublasLt can be loaded; results are checked against double precision. Writes the steps of the
// ladder as rows that `warptwin validate` reads, each with the clock that the SMs had meanwhile.
// Exit codes: 0, 1 a wrong result, 4 no device.

#include <fstream>
#include <string>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_run.cuh"
#include "hw/bench/library.hpp"
#include "scenarios/gemm_wgmma_serial.hpp"

namespace warptwin::hw::bench {
namespace {

struct Result {
  std::string name;
  std::string config;  // of a row; empty: none is written
  std::function<void()> call;
  double error;
  double microseconds;
  double gigahertz;
};

class Table {
 public:
  explicit Table(Matrices& matrices) : matrices_{matrices} {}

  void add(const std::string& name, const std::string& config, const std::function<void()>& f) {
    matrices_.poison();
    f();
    synchronize(nullptr);
    const double error = matrices_.error();
    results_.push_back({name, config, f, error, 0, 0});
  }
  /// All of them in turn, several times: heat and the power limit meet all alike.
  void time() {
    constexpr int kRounds = 9;
    std::vector<std::vector<double>> spent(results_.size());
    std::vector<std::vector<double>> clocks(results_.size());
    ClockMeter meter{sm_count()};
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < results_.size(); ++i) {
        meter.begin();
        spent[i].push_back(microseconds(results_[i].call, 5, 1));
        clocks[i].push_back(meter.gigahertz());
      }
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
      std::sort(spent[i].begin(), spent[i].end());
      std::sort(clocks[i].begin(), clocks[i].end());
      results_[i].microseconds = spent[i][kRounds / 2];
      results_[i].gigahertz = clocks[i][kRounds / 2];
    }
  }
  bool print() const {
    const double library = results_.front().name == "cuBLAS" ? results_.front().microseconds : 0;
    bool right = true;
    std::printf("%u x %u x %u, bf16, uniform random numbers\n",
                matrices_.m(),
                matrices_.n(),
                matrices_.k());
    std::puts("| kernel | us | GHz | TFLOP/s | of cuBLAS | error |\n|---|---|---|---|---|---|");
    for (const Result& result : results_) {
      constexpr double kRounding = 4e-3;  // bf16 has 8 bits
      right = right && result.error < kRounding;
      std::printf("| %s | %.1f | %.3f | %.1f | %.1f %% | %.1e%s |\n",
                  result.name.c_str(),
                  result.microseconds,
                  result.gigahertz,
                  matrices_.flops() / result.microseconds / 1e6,
                  100 * library / result.microseconds,
                  result.error,
                  result.error < kRounding ? "" : " WRONG");
    }
    return right;
  }
  void write(const char* path) const {
    std::ofstream out{path};
    const char* before = "[\n";
    for (const Result& result : results_) {
      if (!result.config.empty()) {
        char value[32];
        char clock[32];
        std::snprintf(value, sizeof value, "%.1f", matrices_.flops() / result.microseconds / 1e6);
        std::snprintf(clock, sizeof clock, "%.3f", result.gigahertz);
        out << before << "  {\"name\": \"h200/ladder/" << result.name
            << "\", \"kind\": \"kernel\", "
            << "\"chip\": \"H200\", \"value\": " << value
            << ", \"unit\": \"TFLOP/s\", \"M\": " << matrices_.m() << ", \"N\": " << matrices_.n()
            << ", \"K\": " << matrices_.k()
            << ", \"dtype\": \"bf16\", \"source\": \"warptwin-measure-gemm\", " << result.config
            << ", \"clock_ghz\": " << clock << "}}";
        before = ",\n";
      }
    }
    out << "\n]\n";
  }

 private:
  Matrices& matrices_;
  std::vector<Result> results_;
};

// Of a row: its scenario, and its shape.
template <class Extents>
std::string config(const std::string& scenario,
                   const std::string& own,
                   const Extents& e,
                   std::uint32_t cluster,
                   std::uint32_t ctas) {
  return "\"scenario\": \"" + scenario + "\", \"set\": {" + own +
         "\"swizzle\": " + std::to_string(kStrip) + "}, \"config\": {\"tile\": \"" +
         std::to_string(e.tile_m) + "x" + std::to_string(e.tile_n) +
         "\", \"bk\": " + std::to_string(e.tile_k) + ", \"stages\": " + std::to_string(e.stages) +
         ", \"sm\": 1, \"cluster\": " + std::to_string(cluster) +
         ", \"persistent\": " + (ctas > 0 ? "true, \"ctas\": " + std::to_string(ctas) : "false");
}

// Every warpgroup multiplies, and one lane loads too: one tile a CTA.
template <class Extents>
void measure_serial(const std::string& name, const Matrices& x, Table& table) {
  static constexpr Extents kExtents{};
  table.add(name, config("gemm_wgmma_serial", "", kExtents, 1, 0), [&x] {
    launch_scenario<scenarios::GemmWgmmaSerialKernel<CudaMachine, Extents>>(x, kExtents, 0);
  });
}

// Warp-specialised, with a group of products under way. `ctas` 0: a CTA for every tile.
template <class Extents>
void measure_specialised(const std::string& name,
                         std::uint32_t ctas,
                         const Matrices& x,
                         Table& table) {
  static constexpr Extents kExtents{};
  const std::string own = "\"in_flight\": " + std::to_string(kExtents.in_flight) +
                          ", \"cluster_m\": " + std::to_string(kExtents.cluster_m) + ", ";
  table.add(name, config("gemm_wgmma", own, kExtents, kExtents.cluster_m, ctas), [&x, ctas] {
    launch_scenario<scenarios::GemmWgmmaKernel<CudaMachine, Extents>>(x, kExtents, ctas);
  });
}

bool run(std::uint32_t size, const char* path) {
  Matrices x{size, size, size};
  Table table{x};
  Library library;
  if (library.is_there()) {
    const Library::Way way = library.ways_of(x).front();
    table.add("cuBLAS", "", [&library, &x, way] { library.multiply(x, way); });
  } else {
    std::puts("no libcublasLt could be loaded");
  }
  const std::uint32_t sms = sm_count();
  using scenarios::GemmWgmmaExtents;
  using scenarios::GemmWgmmaSerialExtents;
  measure_serial<GemmWgmmaSerialExtents<128, 128, 64, 1>>("one stage", x, table);
  measure_serial<GemmWgmmaSerialExtents<128, 128, 64, 4>>("ring", x, table);
  measure_specialised<GemmWgmmaExtents<128, 128, 64, 4, 1, 1>>("warp-specialised", 0, x, table);
  measure_specialised<GemmWgmmaExtents<128, 256, 64, 4, 1, 1>>("larger tile", 0, x, table);
  measure_specialised<GemmWgmmaExtents<128, 256, 64, 4, 1, 1>>("persistent", sms, x, table);
  measure_specialised<GemmWgmmaExtents<128, 256, 64, 4, 2, 1>>("multicast", sms / 2 * 2, x, table);
  table.time();
  const bool right = table.print();
  if (path != nullptr) {
    table.write(path);
  }
  return right;
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    return warptwin::hw::bench::run(8192, count > 1 ? arguments[1] : nullptr) ? 0 : 1;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
