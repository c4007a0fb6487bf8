/// What the detectors cost: a run with all of them beside the same run with none, and each one's
/// share.
///
///   build/release/bin/detector_benchmark [SCENARIO [NAME=VALUE...]]
///
/// Times are the least of several, of the processor, not of the clock. A detector's share is the
/// time it takes for the events of one run, without the order that all of them ask, beside that of
/// all.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"

namespace warptwin::sim {
namespace {

constexpr int kRounds = 15;

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double least_ms(const std::function<void()>& work) {
  double least = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const double start = processor_ms();
    work();
    least = std::min(least, processor_ms() - start);
  }
  return least;
}

class Recorder : public EventSink {
 public:
  void on_event(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

Rules only(const std::string& kept) {
  Rules rules;
  for (const std::string& name : detector_names()) {
    if (name != kept) {
      rules.without.insert(name);
    }
  }
  return rules;
}

int measure(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  RunOptions options;
  options.moves_data = false;
  const auto run = [&](bool detect) {
    options.detect = detect;
    return simulate(scenario, parameters, options);
  };
  const RunResult first = run(true);
  const double none = least_ms([&] { run(false); });
  const double all = least_ms([&] { run(true); });
  std::printf("%s: %llu operations\n",
              scenario.info->name,
              static_cast<unsigned long long>(first.operations));
  std::printf("  no detectors   %8.2f ms\n", none);
  std::printf("  all detectors  %8.2f ms  = %.2f times\n", all, all / none);

  Recorder recorder;
  options.detect = false;
  options.observer = &recorder;
  simulate(scenario, parameters, options);
  const LaunchConfig config = launch_config(scenario, parameters, options);
  const Symbols symbols = scenario.symbols(parameters);
  const auto feed = [&](const Rules& rules) {
    return least_ms([&] {
      DetectorSet detectors{rules, config, symbols};
      for (const Event& event : recorder.events) {
        detectors.on_event(event);
      }
    });
  };
  const double order = feed(only(""));
  const double together = feed(Rules{});
  std::printf("  of %.2f ms for %zu events:\n", together, recorder.events.size());
  std::printf("    %-20s %7.2f ms  %4.1f %%\n", "order", order, 100 * order / together);
  for (const std::string& name : detector_names()) {
    const double one = std::max(0.0, feed(only(name)) - order);
    std::printf("    %-20s %7.2f ms  %4.1f %%\n", name.c_str(), one, 100 * one / together);
  }
  return first.clean(true) ? 0 : 1;
}

}  // namespace
}  // namespace warptwin::sim

int main(int argc, char** argv) {
  using namespace warptwin;
  const std::string name = argc > 1 ? argv[1] : "gemm";
  for (const sim::ScenarioEntry& scenario : sim::scenario_list()) {
    if (name != scenario.info->name) {
      continue;
    }
    try {
      ParameterSet parameters{scenario.parameters};
      if (argc <= 2 && name == "gemm") {
        parameters.set("k", 16384);
      }
      for (int i = 2; i < argc; ++i) {
        const std::string text = argv[i];
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
          throw ConfigError("'" + text + "' is not NAME=VALUE");
        }
        parameters.set(text.substr(0, equals), std::stoll(text.substr(equals + 1)));
      }
      return sim::measure(scenario, parameters);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 2;
    }
  }
  std::fprintf(stderr, "there is no scenario '%s'\n", name.c_str());
  return 2;
}
