/// How fast the timed engine is: one CTA's main loop, a whole GPU by single CTAs and by pairs that
/// claim their tiles, and what SystemC does by itself with as many processes in the same run.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <systemc>

#include "sim/run/time/timing.hpp"
#include "sim/timed/simulation.hpp"

namespace {

using namespace warptwin;
using namespace warptwin::sim;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Case {
  const char* scenario;
  std::map<std::string, std::int64_t> values;
};

void run(const Case& one) {
  const auto all = scenario_list();
  const auto entry = std::find_if(all.begin(), all.end(), [&](const ScenarioEntry& s) {
    return std::string_view{s.info->name} == one.scenario;
  });
  ParameterSet parameters{entry->parameters};
  for (const auto& [name, value] : one.values) {
    parameters.set(name, value);
  }
  TimingOptions options;
  options.run.moves_data = false;
  options.run.detect = false;
  const Chip chip = load_chip("b200");
  const auto start = std::chrono::steady_clock::now();
  const TimingResult result = time_scenario(*entry, parameters, chip, options);
  const double seconds = seconds_since(start);
  const auto operations = static_cast<double>(result.run.operations);
  std::printf("%-15s %10.0f cycles %9.0f operations %6.2f s, %5.2f million operations a second\n",
              one.scenario,
              result.stats.cycles,
              operations,
              seconds,
              operations / seconds / 1e6);
}

/// Waits a little, again and again.
class Waiter : public sc_core::sc_module {
 public:
  Waiter(const sc_core::sc_module_name& name, std::uint64_t period, std::uint64_t count)
      : sc_module{name}, period_{period}, count_{count} {
    SC_HAS_PROCESS(Waiter);
    SC_THREAD(run);
    set_stack_size(64 * 1024);
  }

 private:
  void run() {
    for (std::uint64_t i = 0; i < count_; ++i) {
      wait(sc_core::sc_time::from_value(period_));
    }
  }

  std::uint64_t period_;
  std::uint64_t count_;
};

void run_bare(std::uint32_t processes) {
  constexpr std::uint64_t kEvents = 4'000'000;
  Simulation simulation;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (std::uint32_t i = 0; i < processes; ++i) {
    waiters.push_back(std::make_unique<Waiter>(
        sc_core::sc_gen_unique_name("waiter"), 1000 + i, kEvents / processes));
  }
  const auto start = std::chrono::steady_clock::now();
  simulation.run();
  const double seconds = seconds_since(start);
  std::printf("bare SystemC, %4u threads that wait: %5.2f million a second\n",
              processes,
              static_cast<double>(kEvents) / seconds / 1e6);
}

}  // namespace

int main() {
  run({"mainloop", {{"k", 131072}, {"tile_m", 64}, {"tile_n", 64}, {"tile_k", 16}}});
  run({"mainloop", {{"k", 131072}}});
  const auto gemm = [](std::int64_t size) {
    return Case{"gemm", {{"m", size}, {"n", size}, {"k", 8192}, {"tile_n", 256}, {"ctas", 148}}};
  };
  run(gemm(4096));
  run(gemm(8192));
  for (const std::int64_t rows : {2048, 4096, 8192}) {
    run({"gemm_persistent", {{"m", rows}, {"n", 8192}, {"k", 8192}}});
  }
  run_bare(2);
  run_bare(888);
  return 0;
}
