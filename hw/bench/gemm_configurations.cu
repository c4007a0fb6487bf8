// The scenario `gemm_wgmma` in configurations that a list names, in time.
//
//   warptwin-measure-configurations --draw SEED PROBLEMS EACH > LIST
//   warptwin-measure-configurations LIST ROWS.json
//   warptwin-measure-configurations --loads LIST ROWS.json
//
// The first draws a list: so many problems, and so many different configurations of each; it needs
// no GPU.
//
// A line of the list is "m n k tile_m tile_n stages cluster_m in_flight ctas swizzle"; ctas 0 is
// one for every tile. tile_k is 64. Each is run a few times in turn with the others of its problem,
// and each result is checked. Writes rows that `warptwin validate` reads, each with the clock that
// the SMs had meanwhile. With --loads the kernels load and neither multiply nor store: no scenario
// is like them. Exit codes: 0, 1 a wrong result, 2 a list that cannot be read, 4 no device.

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_forms.cuh"
#include "hw/bench/gemm_list.hpp"
#include "hw/bench/gemm_run.cuh"

namespace warptwin::hw::bench {
namespace {

template <Machine M, class Extents>
using ScenarioKernel = scenarios::GemmWgmmaKernel<M, Extents>;

void launch_it(const Matrices& x, const Configuration& c) {
  const LaunchOne launch = c.loads ? launch_of<GemmLoadsKernel>(c) : launch_of<ScenarioKernel>(c);
  launch(x, c);
}

// A place in a list, drawn; the same for the same seed everywhere.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_{seed} {}
  std::uint32_t below(std::uint32_t count) {  // SplitMix64
    std::uint64_t value = state_ += 0x9E3779B97F4A7C15U;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
    value = (value ^ value >> 27) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>((value ^ value >> 31) % count);
  }
  template <std::size_t kCount>
  std::uint32_t of(const std::uint32_t (&values)[kCount]) {
    return values[below(kCount)];
  }

 private:
  std::uint64_t state_;
};

// Whether the ring and two boxes of output fit in shared memory.
bool fits(const Configuration& c) {
  constexpr std::uint32_t kMost = 232448 - 4096;
  const std::uint32_t stage = (c.tile_m + c.tile_n) * 128;
  return c.stages * stage + 2 * c.tile_m * 128 <= kMost;
}

int draw(std::uint64_t seed, int problems, int each) {
  Draw draw{seed};
  for (int p = 0; p < problems; ++p) {
    // Whole tiles of every size, so that each configuration computes the same.
    const std::uint32_t m = 256 * (2 + draw.below(23));
    const std::uint32_t n = 256 * (2 + draw.below(23));
    const std::uint32_t k = draw.of({512U, 1024U, 1536U, 2048U, 3072U, 4096U, 6144U, 8192U});
    std::vector<std::string> drawn;
    while (drawn.size() < static_cast<std::size_t>(each)) {
      const std::vector<GemmForm>& forms = forms_of<ScenarioKernel>();
      const GemmForm& form = forms[draw.below(static_cast<std::uint32_t>(forms.size()))];
      const Configuration c{m,
                            n,
                            k,
                            form.tile_m,
                            form.tile_n,
                            2 + draw.below(7),
                            form.cluster_m,
                            form.in_flight,
                            draw.of({0U, 132U}),
                            draw.of({0U, 4U, 16U})};
      const std::string line = line_of(c);
      if (fits(c) && std::find(drawn.begin(), drawn.end(), line) == drawn.end()) {
        drawn.push_back(line);
        std::puts(line.c_str());
      }
    }
  }
  return 0;
}

struct Measured {
  Configuration configuration;
  double error;
  double microseconds;
  double gigahertz;
};

// All of one problem, in turn: heat and the power limit meet all alike.
void measure(const std::vector<Configuration>& list, std::vector<Measured>& measured) {
  constexpr int kRounds = 5;
  Matrices x{list.front().m, list.front().n, list.front().k};
  ClockMeter meter{sm_count()};
  std::vector<std::vector<double>> spent(list.size());
  std::vector<std::vector<double>> clocks(list.size());
  std::vector<double> errors;
  for (const Configuration& c : list) {
    x.poison();
    launch_it(x, c);
    synchronize(nullptr);
    errors.push_back(c.loads ? 0 : x.error());
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      meter.begin();
      spent[i].push_back(microseconds([&] { launch_it(x, list[i]); }, 8, 1));
      clocks[i].push_back(meter.gigahertz());
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    measured.push_back({list[i], errors[i], median(spent[i]), median(clocks[i])});
  }
}

// The shipped chip that this GPU is.
const char* chip_name() {
  cudaDeviceProp device{};
  require_cuda(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties", "see the error");
  return std::string_view{device.name}.find("H100") != std::string_view::npos ? "h100" : "h200";
}

void write(const std::vector<Measured>& all, const char* path) {
  const char* chip = chip_name();
  std::ofstream out{path};
  const char* before = "[\n";
  for (const Measured& one : all) {
    const Configuration& c = one.configuration;
    char row[640];
    std::snprintf(
        row,
        sizeof row,
        "  {\"name\": \"%s/%ux%ux%u/%ux%u s%u c%u f%u ctas%u w%u\", \"kind\": \"kernel\", "
        "\"chip\": \"%s\", \"value\": %.2f, \"unit\": \"TFLOP/s\", \"us\": %.3f, \"M\": %u, "
        "\"N\": %u, \"K\": %u, \"dtype\": \"bf16\", \"source\": "
        "\"warptwin-measure-configurations\", \"scenario\": \"gemm_wgmma\", \"set\": "
        "{\"in_flight\": %u, \"cluster_m\": %u, \"swizzle\": %u}, \"config\": {\"tile\": "
        "\"%ux%u\", \"bk\": 64, \"stages\": %u, \"sm\": 1, \"cluster\": %u, \"persistent\": %s, "
        "\"ctas\": %u, \"repeated\": true, \"clock_ghz\": %.3f}}",
        chip,
        c.m,
        c.n,
        c.k,
        c.tile_m,
        c.tile_n,
        c.stages,
        c.cluster_m,
        c.in_flight,
        c.ctas,
        c.swizzle,
        chip,
        2.0 * c.m * c.n * c.k / one.microseconds / 1e6,
        one.microseconds,
        c.m,
        c.n,
        c.k,
        c.in_flight,
        c.cluster_m,
        c.swizzle,
        c.tile_m,
        c.tile_n,
        c.stages,
        c.cluster_m,
        c.ctas > 0 ? "true" : "false",
        c.ctas,
        one.gigahertz);
    out << before << row;
    before = ",\n";
  }
  out << "\n]\n";
}

int run(const char* list, const char* rows, bool loads) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<Configuration>>
      problems;
  for (Configuration& c : read_list_for<ScenarioKernel>(list)) {
    c.loads = loads;
    problems[{c.m, c.n, c.k}].push_back(c);
  }
  if (problems.empty()) {
    return 2;
  }
  std::vector<Measured> measured;
  for (const auto& [problem, configurations] : problems) {
    measure(configurations, measured);
  }
  write(measured, rows);
  constexpr double kRounding = 4e-3;  // bf16 has 8 bits
  int wrong = 0;
  for (const Measured& one : measured) {
    wrong += one.error < kRounding ? 0 : 1;
  }
  std::printf(
      "%zu configurations of %zu problems, %d wrong\n", measured.size(), problems.size(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  if (count == 5 && std::string{arguments[1]} == "--draw") {
    return warptwin::hw::bench::draw(
        std::strtoull(arguments[2], nullptr, 10), std::atoi(arguments[3]), std::atoi(arguments[4]));
  }
  const bool loads = count == 4 && std::string{arguments[1]} == "--loads";
  if (count != 3 && !loads) {
    std::puts(
        "usage: warptwin-measure-configurations [--loads] LIST ROWS.json\n"
        "       warptwin-measure-configurations --draw SEED PROBLEMS EACH");
    return 2;
  }
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    return warptwin::hw::bench::run(arguments[count - 2], arguments[count - 1], loads);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
