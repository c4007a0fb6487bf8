#include "sim/cli/hw_command.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <ostream>

#include <boost/program_options.hpp>

#include "hw/launch/emulation.hpp"
#include "sim/cli/hw_report.hpp"
#include "sim/cli/traces.hpp"
#include "sim/cli/watchdog.hpp"
#include "sim/compare/compare.hpp"
#include "sim/json/json_text.hpp"
#include "sim/report/json.hpp"
#include "sim/run/nearest.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim {

namespace {

namespace po = boost::program_options;

constexpr const char* kUsage = R"(warptwin-hw: the scenarios on this machine's GPU

usage: warptwin-hw SCENARIO [OPTIONS]
       warptwin-hw list

Runs the scenario, clean or broken, and says what happened: right, wrong data, a hang with who waits
for whom, or the error that the device ended it with. It always ends.

)";

constexpr const char* kExits = R"(
exit codes: 0 right, 1 wrong data, a hang, a trap or a mismatch, 2 usage,
4 no device that can run it, or an error of the device that the kernel did not cause
)";

struct Job {
  const ScenarioEntry* scenario = nullptr;
  const hw::DeviceScenario* device = nullptr;
  ParameterSet parameters{std::span<const Parameter>{}};
  hw::DeviceRunOptions options;
  std::uint32_t runs = 1;
  std::string trace;
  bool has_deadline = false;
  bool compares = false;
  bool values = false;
  bool stages = false;  // what waits find in them, too
  bool json = false;
};

/// What the runs of a job came to.
struct Outcome {
  std::string word = "right";
  std::string detail;
  std::string object;          // hang: what is waited for first
  std::string protocol;        // against the simulator
  std::uint64_t loads = 0;     // whose data, as waits saw it, is the simulator's
  std::uint32_t run = 0;       // the first that was not right; else the last
  double milliseconds = 0;     // of it
  std::uint64_t recorded = 0;  // operations
};

std::uint64_t whole(const po::variables_map& options, const char* name, std::uint64_t most) {
  const auto text = options[name].as<std::string>();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) {
    throw ConfigError("--" + std::string{name} + " takes a whole number up to " +
                      std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

po::options_description all_options() {
  po::options_description all{"options"};
  const auto text = [](const char* standard) {
    return po::value<std::string>()->default_value(standard);
  };
  all.add_options()("help,h", "this text")("set",
                                           po::value<std::vector<std::string>>()->composing(),
                                           "name=value: a parameter of the scenario")(
      "deadline",
      po::value<std::string>(),
      "cycles that a polled wait may take; 10^9, or 10^10 where the device emulates")(
      "timeout", text("10000"), "milliseconds for waits that have no deadline")(
      "runs", text("1"), "how often, stopping at the first that is not right")(
      "seed", text("1"), "of the inputs")("events",
                                          text("0"),
                                          "operations to record of each warp; 0: none, or 65536 "
                                          "with --trace or --compare")(
      "trace", po::value<std::string>(), "FILE: where the record goes")(
      "compare", "with a run of the simulator")(
      "values",
      "what was computed too, and what waits found in their stages: in the record, and compared; "
      "takes time in the kernel")("outputs", "what was computed alone: the times are as without")(
      "json", "the result as JSON");
  return all;
}

ParameterSet parameters_of(const po::variables_map& options, const ScenarioEntry& scenario) {
  ParameterSet parameters{scenario.parameters};
  if (options.count("set") == 0) {
    return parameters;
  }
  for (const std::string& setting : options["set"].as<std::vector<std::string>>()) {
    const std::size_t at = setting.find('=');
    std::int64_t value = 0;
    const char* const first = setting.data() + std::min(at, setting.size() - 1) + 1;
    const char* const last = setting.data() + setting.size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (at == std::string::npos || error != std::errc{} || end != last) {
      throw ConfigError("--set takes name=number, not '" + setting + "'");
    }
    parameters.set(setting.substr(0, at), value);
  }
  return parameters;
}

Job job_of(const po::variables_map& options,
           const std::vector<ScenarioEntry>& scenarios,
           const std::vector<hw::DeviceScenario>& devices) {
  const auto name = options["target"].as<std::string>();
  std::vector<std::string_view> names;
  for (const ScenarioEntry& scenario : scenarios) {
    names.emplace_back(scenario.info->name);
  }
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  if (static_cast<std::size_t>(at) == names.size()) {
    throw ConfigError("there is no scenario '" + name + "'" + did_you_mean(name, names) +
                      " 'warptwin-hw list' shows all");
  }
  const ScenarioEntry& scenario = scenarios[static_cast<std::size_t>(at)];
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const auto& one) {
    return one.info->name == std::string_view{scenario.info->name};
  });
  if (device == devices.end()) {
    throw ConfigError(name + " is not compiled for CUDA");
  }
  Job job;
  job.scenario = &scenario;
  job.device = &*device;
  job.parameters = parameters_of(options, scenario);
  job.has_deadline = options.count("deadline") != 0;
  if (job.has_deadline) {
    job.options.deadline = whole(options, "deadline", 1'000'000'000'000);
  }
  job.options.timeout = std::chrono::milliseconds{whole(options, "timeout", 600'000)};
  job.options.input_seed = static_cast<std::uint32_t>(whole(options, "seed", ~std::uint32_t{0}));
  job.runs = static_cast<std::uint32_t>(whole(options, "runs", 1'000'000));
  job.trace = options.count("trace") == 0 ? "" : options["trace"].as<std::string>();
  job.compares = options.count("compare") != 0;
  job.stages = options.count("values") != 0;
  job.values = job.stages || options.count("outputs") != 0;
  job.json = options.count("json") != 0;
  auto events = static_cast<std::uint32_t>(whole(options, "events", 1 << 24));
  if (events == 0 && (job.compares || !job.trace.empty())) {
    events = 1 << 16;
  }
  job.options.events = events == 0 ? 0 : std::bit_ceil(events);
  return job;
}

std::string text_of(const hw::WrongOutput& wrong) {
  char text[160];
  std::snprintf(text,
                sizeof text,
                "%zu elements of %s, the first [%u, %u]: %g instead of %g",
                wrong.elements,
                wrong.tensor.c_str(),
                wrong.row,
                wrong.column,
                static_cast<double>(wrong.got),
                static_cast<double>(wrong.expected));
  return text;
}

void judge(const Job& job, const hw::DeviceRun& run, const Trace& record, Outcome& outcome) {
  outcome.milliseconds = run.milliseconds;
  switch (run.end) {
    case hw::DeviceEnd::kDone:
      if (!run.wrong.empty()) {
        outcome.word = "wrong data";
        outcome.detail = "wrong data: " + text_of(run.wrong.front()) + "\n";
      }
      return;
    case hw::DeviceEnd::kFailed:
      outcome.word = "trap";
      outcome.object = run.error;
      outcome.detail = "trap: the device ended the kernel: " + run.error + "\n";
      return;
    case hw::DeviceEnd::kExpired:
    case hw::DeviceEnd::kTimedOut: {
      const HangReport report = hang_report(*job.scenario, job.parameters, run, record);
      outcome.word = "hang";
      outcome.object = report.object;
      outcome.detail = report.text;
      return;
    }
  }
}

// What the simulator says of the launch, which is the same for every run of it: with numbers, and
// without, each made when it is first asked for.
class SimulatedTraces {
 public:
  explicit SimulatedTraces(const Job& job) : job_{job} {}

  const Trace& with_numbers(bool numbers) {
    std::optional<Trace>& made = numbers ? with_ : without_;
    if (!made) {
      RunOptions options;
      options.moves_data = numbers;
      options.input_seed = job_.options.input_seed;
      RunResult result;
      made = simulated_trace(*job_.scenario, job_.parameters, options, result);
    }
    return *made;
  }

 private:
  const Job& job_;
  std::optional<Trace> with_;
  std::optional<Trace> without_;
};

// Holds the record against a run of the simulator. Without numbers the simulator takes every branch
// that hangs on them: what differs then is held against a run that has them.
void compare(const Job& job, SimulatedTraces& simulated, const Trace& seen, Outcome& outcome) {
  const Trace* predicted = &simulated.with_numbers(job.values);
  TraceComparison comparison = compare_traces(*predicted, seen);
  if (!comparison.agrees() && !job.values) {
    predicted = &simulated.with_numbers(true);
    comparison = compare_traces(*predicted, seen);
  }
  outcome.protocol = !comparison.agrees()  ? "differs"
                     : comparison.complete ? "agrees"
                                           : "agrees as far as recorded";
  outcome.loads = comparison.loads;
  if (!comparison.agrees()) {
    outcome.detail += warptwin::sim::text_of(comparison, predicted->source, seen.source);
    outcome.word = outcome.word == "right" ? "mismatch" : outcome.word;
  }
}

// A peer's MMA warp waits as long as the kernel lasts: seconds, where tensor cores are emulated.
constexpr std::uint64_t kEmulatedDeadline = 10'000'000'000;

Outcome run_all(const Job& job, const std::string& device) {
  Outcome outcome;
  SimulatedTraces simulated{job};
  hw::DeviceRunOptions options = job.options;
  if (!job.has_deadline && hw::device_emulates()) {
    options.deadline = kEmulatedDeadline;
  }
  if (job.stages && options.events != 0) {
    options.regions = data_regions(*job.scenario, job.parameters);
  }
  for (; outcome.run < job.runs && outcome.word == "right"; ++outcome.run) {
    const hw::DeviceRun run = hw::run_on_device(*job.device, job.parameters, options);
    Trace trace = trace_of(*job.scenario, job.parameters, run, device);
    judge(job, run, trace, outcome);
    if (run.events.empty()) {
      continue;
    }
    trace.seed = job.options.input_seed;
    if (job.values) {
      add_outputs(trace, *job.scenario, job.parameters, run.tensors);
    }
    outcome.recorded = 0;
    for (const WarpTrace& warp : trace.warps) {
      outcome.recorded += warp.ops.size();
    }
    if (!job.trace.empty()) {
      write_trace_file(trace, job.trace);
    }
    if (job.compares) {
      compare(job, simulated, trace, outcome);
    }
  }
  return outcome;
}

void print(const Job& job, const Outcome& outcome, std::ostream& out) {
  const std::string name = job.scenario->info->name;
  if (job.json) {
    out << text_of_json(Json{{"scenario", name},
                             {"parameters", job.parameters.to_string()},
                             {"outcome", outcome.word},
                             {"object", outcome.object},
                             {"runs", outcome.run},
                             {"milliseconds", outcome.milliseconds},
                             {"protocol", outcome.protocol},
                             {"loads", outcome.loads},
                             {"recorded", outcome.recorded},
                             {"detail", outcome.detail}})
        << "\n";
    return;
  }
  out << outcome.detail << name << " (" << job.parameters.to_string() << "): " << outcome.word;
  if (job.runs > 1) {
    out << (outcome.word == "right" ? " in " : " in run ") << outcome.run
        << (outcome.word == "right" ? " runs" : "");
  }
  char time[32];
  std::snprintf(time, sizeof time, ", %.1f ms", outcome.milliseconds);
  out << time
      << (outcome.recorded == 0 ? "" : ", " + std::to_string(outcome.recorded) + " recorded")
      << (outcome.protocol.empty() ? "" : ", protocol " + outcome.protocol)
      << (outcome.loads == 0 ? "" : ", the data of " + std::to_string(outcome.loads) + " loads")
      << "\n";
}

bool has_blackwell(const std::string& device) {
  return device.find("sm_100") != std::string::npos;
}

// The kernel was not judged, and why: `word` is "no device" or "device error".
int no_verdict(const Job& job,
               const char* word,
               const std::string& why,
               std::ostream& out,
               std::ostream& err) {
  err << "device: " << why << "\n";
  if (job.json) {
    Outcome outcome;
    outcome.word = word;
    outcome.detail = "device: " + why + "\n";
    print(job, outcome, out);
  }
  return static_cast<int>(ExitCode::kDevice);
}

// In the child process: all that touches the device.
int work(const Job& job, std::ostream& out, std::ostream& err) {
  try {
    std::string why;
    const std::string device = hw::device_name(why);
    if (device.empty()) {
      return no_verdict(job, "no device", why, out, err);
    }
    const std::string needs =
        has_blackwell(device) ? needs_of_hopper(*job.scenario, job.parameters) : "";
    if (!needs.empty()) {
      Outcome outcome;
      outcome.word = "not emulated";
      outcome.object = needs;
      outcome.detail = "device: " + std::string{job.scenario->info->name} + " needs " + needs +
                       ", which nothing emulates; run it on sm_90\n";
      print(job, outcome, out);
      return static_cast<int>(ExitCode::kDevice);
    }
    const Outcome outcome = run_all(job, device);
    print(job, outcome, out);
    out.flush();
    return static_cast<int>(outcome.word == "right" ? ExitCode::kClean : ExitCode::kFinding);
  } catch (const ConfigError& error) {
    err << "config: " << error.what() << "\n";
    return static_cast<int>(ExitCode::kUsage);
  } catch (const std::exception& error) {
    return no_verdict(job, "device error", error.what(), out, err);
  }
}

ExitCode run_job(const Job& job, std::ostream& out, std::ostream& err) {
  // One hang ends a job; the rest is for starting the device, and for the host's own work.
  const auto limit =
      job.options.timeout + std::chrono::seconds{30} + std::chrono::milliseconds{2000} * job.runs;
  const WatchedEnd end = run_watched([&] { return work(job, out, err); }, limit);
  if (end.killed || end.signal != 0) {
    Outcome outcome;
    outcome.word = end.killed ? "hang" : "crash";
    outcome.detail = end.killed ? "hang: killed by the watchdog; the device gave no report\n"
                                : "crash: signal " + std::to_string(end.signal) + "\n";
    print(job, outcome, out);
    return ExitCode::kFinding;
  }
  return static_cast<ExitCode>(end.code);
}

ExitCode list(const std::vector<hw::DeviceScenario>& devices, std::ostream& out) {
  for (const hw::DeviceScenario& device : devices) {
    out << device.info->name << "\n";
  }
  return ExitCode::kClean;
}

}  // namespace

ExitCode run_hw_command(const std::vector<std::string>& arguments,
                        const std::vector<ScenarioEntry>& scenarios,
                        const std::vector<hw::DeviceScenario>& devices,
                        std::ostream& out,
                        std::ostream& err) {
  try {
    po::options_description accepted = all_options();
    accepted.add_options()("target", po::value<std::string>(), "");
    po::positional_options_description positions;
    positions.add("target", 1);
    po::variables_map options;
    po::store(po::command_line_parser(arguments).options(accepted).positional(positions).run(),
              options);
    if (options.count("help") != 0 || options.count("target") == 0) {
      (options.count("help") != 0 ? out : err) << kUsage << all_options() << kExits;
      return options.count("help") != 0 ? ExitCode::kClean : ExitCode::kUsage;
    }
    if (options["target"].as<std::string>() == "list") {
      return list(devices, out);
    }
    return run_job(job_of(options, scenarios, devices), out, err);
  } catch (const ConfigError& error) {
    err << "config: " << error.what() << "\n";
  } catch (const po::error& error) {
    err << "config: " << error.what() << "; see 'warptwin-hw --help'\n";
  }
  return ExitCode::kUsage;
}

}  // namespace warptwin::sim
