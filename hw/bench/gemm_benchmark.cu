// A GEMM on the layer's input pipeline against the library's, and the ladder that leads to it.
//
//   warptwin-measure-gemm [ROWS.json]
//
// Prints a table: each kernel's time, TFLOP/s, and share of cuBLAS's in the same run, if libcublas
// can be loaded; results are checked against double precision. Writes the steps of the ladder as
// rows that `warptwin validate` reads. Exit codes: 0, 1 a wrong result, 4 no device.

#include <dlfcn.h>
#include <fstream>
#include <string>

#include "hw/bench/gemm_run.cuh"
#include "hw/bench/unspecialised_gemm.cuh"

namespace warptwin::hw::bench {
namespace {

/// cublasGemmEx, found when the program runs: the build needs no library.
class Library {
 public:
  Library() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      library_ = library_ == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library_;
    }
    if (library_ != nullptr) {
      const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library_, "cublasCreate_v2"));
      gemm_ = reinterpret_cast<Gemm>(dlsym(library_, "cublasGemmEx"));
      if (create == nullptr || gemm_ == nullptr || create(&handle_) != 0) {
        gemm_ = nullptr;
      }
    }
  }
  bool is_there() const { return gemm_ != nullptr; }
  /// D = A * B^T: for a library of column-major matrices D^T = B * A^T.
  void multiply(const Matrices& x) const {
    constexpr int kTransposed = 1, kAsItIs = 0, kBf16 = 14, kCompute32F = 68, kDefault = -1;
    const float one = 1;
    const float zero = 0;
    const int m = static_cast<int>(x.m()), n = static_cast<int>(x.n()), k = static_cast<int>(x.k());
    const int status = gemm_(handle_,
                             kTransposed,
                             kAsItIs,
                             n,
                             m,
                             k,
                             &one,
                             x.b(),
                             kBf16,
                             k,
                             x.a(),
                             kBf16,
                             k,
                             &zero,
                             x.d(),
                             kBf16,
                             n,
                             kCompute32F,
                             kDefault);
    if (status != 0) {
      throw CudaError{"cublasGemmEx", cudaErrorUnknown, "see the status of cuBLAS"};
    }
  }

 private:
  using Gemm = int (*)(void*,
                       int,
                       int,
                       int,
                       int,
                       int,
                       const void*,
                       const void*,
                       int,
                       int,
                       const void*,
                       int,
                       int,
                       const void*,
                       void*,
                       int,
                       int,
                       int,
                       int);
  void* library_ = nullptr;
  void* handle_ = nullptr;
  Gemm gemm_ = nullptr;
};

struct Result {
  std::string name;
  std::string config;  // of a row; empty: none is written
  std::function<void()> call;
  double error;
  double microseconds;
};

class Table {
 public:
  explicit Table(Matrices& matrices) : matrices_{matrices} {}

  void add(const std::string& name, const std::string& config, const std::function<void()>& f) {
    matrices_.poison();
    f();
    synchronize(nullptr);
    const double error = matrices_.error();
    results_.push_back({name, config, f, error, 0});
  }
  /// All of them in turn, several times: heat and the power limit meet all alike.
  void time() {
    constexpr int kRounds = 9;
    std::vector<std::vector<double>> spent(results_.size());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < results_.size(); ++i) {
        spent[i].push_back(microseconds(results_[i].call, 5, 1));
      }
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
      std::sort(spent[i].begin(), spent[i].end());
      results_[i].microseconds = spent[i][kRounds / 2];
    }
  }
  bool print() const {
    const double library = results_.front().name == "cuBLAS" ? results_.front().microseconds : 0;
    bool right = true;
    std::printf("%u x %u x %u, bf16, uniform random numbers\n",
                matrices_.m(),
                matrices_.n(),
                matrices_.k());
    std::puts("| kernel | us | TFLOP/s | of cuBLAS | error |\n|---|---|---|---|---|");
    for (const Result& result : results_) {
      constexpr double kRounding = 4e-3;  // bf16 has 8 bits
      right = right && result.error < kRounding;
      std::printf("| %s | %.1f | %.1f | %.1f %% | %.1e%s |\n",
                  result.name.c_str(),
                  result.microseconds,
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
        std::snprintf(value, sizeof value, "%.1f", matrices_.flops() / result.microseconds / 1e6);
        out << before << "  {\"name\": \"h200/ladder/" << result.name
            << "\", \"kind\": \"kernel\", "
            << "\"chip\": \"H200\", \"value\": " << value
            << ", \"unit\": \"TFLOP/s\", \"M\": " << matrices_.m() << ", \"N\": " << matrices_.n()
            << ", \"K\": " << matrices_.k()
            << ", \"dtype\": \"bf16\", \"source\": \"warptwin-measure-gemm\", " << result.config
            << "}";
        before = ",\n";
      }
    }
    out << "\n]\n";
  }

 private:
  Matrices& matrices_;
  std::vector<Result> results_;
};

// Of a row: the scenario that is like it, which walks as many columns of B at a time as these
// kernels walk rows of A, and its shape.
template <class Shape>
std::string config(std::uint32_t stages, bool specialised, std::uint32_t ctas) {
  const std::string own = specialised
                              ? "\"in_flight\": " + std::to_string(Shape::kBehind) +
                                    ", \"cluster_m\": " + std::to_string(Shape::kCluster) + ", "
                              : "";
  const std::uint32_t strip = 16 * Shape::kM / Shape::kN / Shape::kCluster;
  return std::string{"\"scenario\": \"gemm_wgmma"} + (specialised ? "" : "_serial") +
         "\", \"set\": {" + own + "\"swizzle\": " + std::to_string(strip) +
         "}, \"config\": {\"tile\": \"" + std::to_string(Shape::kM) + "x" +
         std::to_string(Shape::kN) + "\", \"bk\": " + std::to_string(Shape::kK) +
         ", \"stages\": " + std::to_string(stages) +
         ", \"sm\": 1, \"cluster\": " + std::to_string(Shape::kCluster) +
         ", \"ws\": " + (specialised ? "true" : "false") +
         ", \"persistent\": " + (ctas > 0 ? "true, \"ctas\": " + std::to_string(ctas) : "false") +
         "}";
}

template <class Shape, std::uint32_t kStages>
void measure_unspecialised(const std::string& name, const Matrices& x, Table& table) {
  constexpr std::uint32_t kShared = kStages * (2 * Shape::kK * (Shape::kM + Shape::kN) + 16);
  table.add(name, config<Shape>(kStages, false, 0), [&x] {
    auto problem = x.problem<CudaMachine>(Shape{}, true);
    void* arguments[] = {&problem};
    launch(reinterpret_cast<const void*>(&unspecialised_gemm<Shape, kStages>),
           {problem.tiles.count(), 1, 128 * Shape::kWarpgroups, kShared},
           arguments,
           nullptr);
  });
}

// `ctas` 0: a CTA for every tile.
template <class Shape>
void measure_layer(const std::string& name,
                   std::uint32_t stages,
                   std::uint32_t ctas,
                   const Matrices& x,
                   Table& table) {
  table.add(name, config<Shape>(stages, true, ctas), [&x, ctas, stages] {
    const auto problem = x.problem<CudaMachine>(Shape{stages}, true);
    launch_layer(problem, ctas > 0 ? ctas : problem.tiles.count());
  });
}

// The scenario `gemm_wgmma`, of constant extents: no row of the ladder, whose epilogue stores from
// registers.
template <class Extents>
void measure_scenario(const std::string& name,
                      std::uint32_t ctas,
                      const Matrices& x,
                      Table& table) {
  table.add(name, "", [&x, ctas] { launch_scenario(x, Extents{}, ctas); });
}

bool run(std::uint32_t size, const char* path) {
  Matrices x{size, size, size};
  Table table{x};
  const Library library;
  if (library.is_there()) {
    table.add("cuBLAS", "", [&] { library.multiply(x); });
  } else {
    std::puts("no libcublas could be loaded");
  }
  const std::uint32_t sms = sm_count();
  measure_unspecialised<WgmmaShape<128, 128, 64>, 1>("one stage", x, table);
  measure_unspecialised<WgmmaShape<128, 128, 64>, 4>("ring", x, table);
  measure_layer<WgmmaShape<128, 128, 64, 4>>("warp-specialised", 4, 0, x, table);
  measure_layer<WgmmaShape<128, 256, 64, 4>>("larger tile", 4, 0, x, table);
  measure_layer<WgmmaShape<128, 256, 64, 4>>("persistent", 4, sms, x, table);
  measure_layer<WgmmaShape<128, 256, 64, 4, 2>>("multicast", 4, sms / 2 * 2, x, table);
  using scenarios::GemmWgmmaExtents;
  measure_scenario<GemmWgmmaExtents<128, 256, 64, 4, 1, 1>>(
      "scenario gemm_wgmma, persistent", sms, x, table);
  measure_scenario<GemmWgmmaExtents<128, 256, 64, 4, 2, 1>>(
      "scenario gemm_wgmma, multicast", sms / 2 * 2, x, table);
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
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU here");
    return 4;
  }
  try {
    return warptwin::hw::bench::run(8192, count > 1 ? arguments[1] : nullptr) ? 0 : 1;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
