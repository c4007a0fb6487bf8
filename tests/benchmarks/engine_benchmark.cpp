/// Throughput of the functional engine, beside raw Boost.Context in the same run.
///
///   build/release/bin/engine_benchmark
///
/// Counters are rates per second of one core.

#include <benchmark/benchmark.h>

#include <boost/context/fiber.hpp>

#include "sim/run/proof/check.hpp"

namespace warptwin::sim {
namespace {

const ScenarioEntry& gemm() {
  static const std::vector<ScenarioEntry> all = scenario_list();
  for (const ScenarioEntry& entry : all) {
    if (std::string_view{entry.info->name} == "gemm") {
      return entry;
    }
  }
  std::abort();
}

void run_gemm(benchmark::State& state, bool detect, const char* schedule) {
  ParameterSet parameters{gemm().parameters};
  parameters.set("m", 256);
  parameters.set("n", 256);
  parameters.set("k", 64 * 1024);
  parameters.set("ctas", state.range(0));
  RunOptions options;
  options.moves_data = false;
  options.detect = detect;
  options.schedule = ScheduleSpec::parse(schedule);
  std::uint64_t operations = 0;
  std::uint64_t switches = 0;
  for (auto _ : state) {
    const RunResult result = simulate(gemm(), parameters, options);
    if (!result.clean(true)) {
      state.SkipWithError("the run is not clean");
      return;
    }
    operations += result.operations;
    switches += result.stats.switches;
  }
  state.counters["operations"] =
      benchmark::Counter(static_cast<double>(operations), benchmark::Counter::kIsRate);
  state.counters["switches"] =
      benchmark::Counter(static_cast<double>(switches), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(run_gemm, detectors_off_round_robin, false, "round-robin")
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, detectors_off_random, false, "random:1")
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, detectors_on_round_robin, true, "round-robin")
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, detectors_on_random, true, "random:1")
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond);

/// `check gemm` at its default shape: 39 schedules, all detectors, no data.
void check_gemm(benchmark::State& state) {
  CheckOptions options;
  options.run.moves_data = state.range(0) != 0;
  for (auto _ : state) {
    const CheckResult result = check(gemm(), ParameterSet{gemm().parameters}, options);
    if (result.failing != 0) {
      state.SkipWithError("a finding in a clean scenario");
      return;
    }
  }
}
BENCHMARK(check_gemm)->ArgName("data")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// What a context switch costs at least: two fibers of Boost.Context and nothing else.
void boost_context_switches(benchmark::State& state) {
  namespace context = boost::context;
  context::fiber other{[](context::fiber&& main) {
    for (;;) {
      main = std::move(main).resume();
    }
    return std::move(main);
  }};
  std::uint64_t switches = 0;
  for (auto _ : state) {
    other = std::move(other).resume();
    switches += 2;
  }
  state.counters["switches"] =
      benchmark::Counter(static_cast<double>(switches), benchmark::Counter::kIsRate);
}
BENCHMARK(boost_context_switches);

/// Two warps that hand over to each other and do as little else as a machine operation can.
void engine_switches(benchmark::State& state) {
  LaunchConfig config;
  config.warps_per_cta = 2;
  config.shared_bytes = 64;
  const Symbols symbols;
  std::uint64_t switches = 0;
  for (auto _ : state) {
    GlobalMemory memory;
    Gpu gpu{config, memory, symbols};
    const auto scheduler = make_scheduler({});
    const RunStats stats = run_functional(gpu,
                                          [](SimMachine& machine) {
                                            for (int i = 0; i < 100000; ++i) {
                                              machine.sync_warp();
                                            }
                                          },
                                          *scheduler,
                                          {});
    switches += stats.switches;
  }
  state.counters["switches"] =
      benchmark::Counter(static_cast<double>(switches), benchmark::Counter::kIsRate);
}
BENCHMARK(engine_switches)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warptwin::sim
