// Time, and chip.

#include <cmath>
#include <cstdlib>
#include <optional>
#include <ostream>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/pictures.hpp"
#include "sim/cli/traces.hpp"
#include "sim/json/json_text.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/steps.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/ptx_entry.hpp"
#include "sim/run/ptx_timing.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim::cli {

Chip chip_of(const std::string& name_or_file) {
  try {
    return load_chip(name_or_file);
  } catch (const ChipError& error) {
    throw ConfigError(error.what());
  }
}

ExitCode chip_command(Session& session) {
  if (session.options.count("target") == 0) {
    std::string names;
    for (const std::string_view name : shipped_chips()) {
      names += (names.empty() ? "" : ", ") + std::string{name};
    }
    throw ConfigError("name a chip or its file; there are: " + names);
  }
  const Chip chip = chip_of(session.options["target"].as<std::string>());
  session.out << (session.json() ? text_of_json(json_of(chip), 2) + "\n" : text_of(chip));
  return ExitCode::kClean;
}

static double clock_option(const Session& session) {
  if (session.options.count("clock") == 0) {
    return 0;
  }
  const auto text = session.options["clock"].as<std::string>();
  char* end = nullptr;
  const double clock = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(clock >= 0.1 && clock <= 10)) {
    throw ConfigError("--clock takes GHz from 0.1 to 10, not '" + text + "'");
  }
  return clock;
}

static TimingOptions timing_options(const Session& session) {
  TimingOptions options;
  options.clock = clock_option(session);
  const auto l2 = session.options["l2"].as<std::string>();
  if (l2 != "cold" && l2 != "warm") {
    throw ConfigError("--l2 is cold or warm, not '" + l2 + "'");
  }
  options.l2_warm = l2 == "warm";
  return options;
}

TimingOptions timed_run_options(const Session& session, const RunOptions& run) {
  TimingOptions options = timing_options(session);
  options.run = run;
  options.steps_by_work = session.options["max-steps"].defaulted();
  if (!session.options["resident-ctas"].defaulted()) {
    options.resident_ctas = run.resident_ctas;
  }
  if (session.options.count("ctas-per-sm") != 0) {
    options.ctas_per_sm =
        static_cast<std::uint32_t>(unsigned_option(session, "ctas-per-sm", 1, 1024));
  }
  return options;
}

// The rules of a run in time, with what puts the CTAs of a replay where they were in it.
static Rules rules_of(const TimingOptions& options,
                      const TimingResult& timing,
                      const Workload& workload,
                      const Chip& chip) {
  Rules rules = options.run.rules;
  const bool shared = timing.resident_ctas > chip.sms;
  const bool usual = timing.resident_ctas == resident_ctas(workload, RunOptions{}.resident_ctas);
  if (options.resident_ctas == 0 && (shared || !usual)) {
    rules.chosen += " --resident-ctas " + std::to_string(timing.resident_ctas);
  }
  if (shared) {
    rules.chosen += " --sms " + std::to_string(static_cast<std::uint32_t>(chip.sms));
  }
  return rules;
}

// Where nobody asks for the path: 50 MB.
constexpr std::size_t kUsualPathSteps = std::size_t{2} << 20U;

// What the detectors saw.
static std::string words_of_check(const TimingResult& timing, bool detect, bool clean) {
  if (!detect) {
    return "not checked";
  }
  const std::string verdict = clean ? ": clean in this one run" : "";
  if (!timing.sample) {
    return "checked" + verdict;
  }
  const ClusterKinds& kinds = timing.sample->kinds;
  const std::uint64_t others = kinds.clusters - kinds.seen - kinds.alike;
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  return "checked " + number(kinds.seen) + " of " + number(kinds.clusters) + " clusters" + verdict +
         "; " + number(kinds.alike) +
         " more do the same, operation by operation, but for addresses in global memory" +
         (others == 0 ? "" : ", and " + number(others) + " do not: --check-all checks them too");
}

static Json json_of(const CheckedSample& sample) {
  return {{"clusters", sample.kinds.clusters},
          {"seen", sample.kinds.seen},
          {"alike", sample.kinds.alike},
          {"kinds", sample.kinds.kinds}};
}

// The pictures of the run, and what its page says. Steps that lead to a finding are at cycles, as
// the timeline is: the engine runs again for them.
static void add_pictures(const Session& session,
                         const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const Chip& chip,
                         const TimingOptions& options,
                         const TimingResult& timing,
                         const ReportContext& context,
                         const std::string& answer,
                         RunRecorder& recorder,
                         Pictures& pictures) {
  const bool strict = session.options.count("strict") != 0;
  PageContents contents =
      page_contents(session, scenario, parameters, exit_of(timing.run, strict), answer);
  recorder.add(timing.run.findings);
  add_timing(recorder.builder(), timing);
  contents.recordings.push_back(recorder.take());
  Recording& recording = contents.recordings.back();
  recording.source = "timed";
  recording.machine = chip.name;
  describe(recording, scenario, parameters, timing.run.end);
  if (contents.verdict == PageContents::Verdict::kRight) {
    contents.word = std::to_string(std::llround(timing.stats.cycles)) + " cycles";
  }
  const auto execute = [&](EventSink& sink) {
    TimingOptions again = options;
    again.run.observer = &sink;
    time_scenario(scenario, parameters, chip, again);
  };
  const LaunchConfig config = launch_config(scenario, parameters, options.run);
  const Symbols symbols = scenario.symbols(parameters);
  for (const Finding& finding : timing.run.findings) {
    contents.findings.push_back(judged_of(scenario, finding, context, strict));
    if (pictures.asks_page()) {
      contents.findings.back().steps = steps_to(config, symbols, execute, finding, kPageSteps + 1);
    }
  }
  pictures.write(session, std::move(contents));
}

// What is timed: a scenario, or a launch of PTX with the registers that it gets.
struct TimedLaunch {
  ScenarioEntry entry;
  std::optional<KernelRegisters> registers{};
  double flops = 0;       // 0: what the entry says
  std::string by_data{};  // where data decides what it does: where first
};

static double flops_option(const Session& session) {
  const std::string text = text_option(session, "flops");
  char* end = nullptr;
  const double flops = std::strtod(text.c_str(), &end);
  if (!text.empty() && (*end != '\0' || !(flops >= 0 && flops < 1e30))) {
    throw ConfigError("--flops takes a number of operations, as 137438953472 or 1.4e11, not '" +
                      text + "'");
  }
  return text.empty() ? 0 : flops;
}

static void take_registers(const Session& session, const Chip& chip, TimedLaunch& launch) {
  constexpr std::uint64_t kRegistersMost = 255;
  const bool asked = session.options.count("registers") != 0;
  if (!launch.entry.ptx) {
    if (asked) {
      throw ConfigError("--registers is for a kernel in PTX: a scenario says its own");
    }
    return;
  }
  check_target(*launch.entry.ptx, chip);
  launch.registers = registers_of(
      *launch.entry.ptx,
      asked ? static_cast<std::uint32_t>(unsigned_option(session, "registers", 1, kRegistersMost))
            : 0);
  launch.entry = with_registers(std::move(launch.entry), launch.registers->count);
}

// Of a kernel whose data decides what it does the run moves data.
static TimingResult time_launch(const Session& session,
                                const ParameterSet& parameters,
                                const Chip& chip,
                                TimingOptions& options,
                                TimedLaunch& launch) {
  const auto timed = [&] {
    TimingResult result = time_scenario(launch.entry, parameters, chip, options);
    result.flops = launch.flops > 0 ? launch.flops : result.flops;
    return result;
  };
  try {
    return timed();
  } catch (const ptx::DependsOnData& error) {
    launch.by_data = error.what();
  }
  launch.entry = with_registers(entry_of_launch_file(text_option(session, "ptx"),
                                                     text_option(session, "launch"),
                                                     session.scenarios,
                                                     LaunchUse::kJudge,
                                                     text_option(session, "names")),
                                launch.registers->count);
  options.run.moves_data = true;
  return timed();
}

static std::string words_of(const TimedLaunch& launch) {
  std::string text;
  if (launch.registers) {
    const KernelRegisters& registers = *launch.registers;
    text =
        "registers: " +
        (registers.count == 0 ? std::string{} : std::to_string(registers.count) + " a thread, ") +
        registers.source + "\n";
  }
  return text +
         (launch.by_data.empty()
              ? ""
              : "data decides what it does, so the run moved data: " + launch.by_data + "\n");
}

static void add_to(Json& report, const TimedLaunch& launch) {
  if (launch.registers) {
    report["registers"] = {{"a_thread", launch.registers->count},
                           {"source", launch.registers->source}};
    report["moved_data"] = !launch.by_data.empty();
  }
}

ExitCode time_command(Session& session) {
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  TimedLaunch launch{find_scenario(session)};
  launch.flops = flops_option(session);
  const ParameterSet parameters = parameters_of(session, launch.entry);
  take_registers(session, chip, launch);
  TimingOptions options =
      timed_run_options(session, run_options(session, launch.entry, parameters));
  options.path = session.options.count("path") != 0 || session.options.count("no-check") == 0;
  options.run.moves_data = false;
  options.run.detect = session.options.count("no-check") == 0;
  options.sample = session.options.count("check-all") == 0;
  if (session.options.count("path") == 0) {
    options.path_steps = kUsualPathSteps;
  }
  Pictures pictures{session};
  const Symbols symbols = launch.entry.symbols(parameters);
  const LaunchConfig config = launch_config(launch.entry, parameters, options.run);
  const auto recorder = pictures.recorder(config, symbols, RecordingClock::kCycles);
  options.run.observer = recorder.get();
  options.over_time = pictures.asked();
  const TimingResult timing = time_launch(session, parameters, chip, options, launch);
  const ScenarioEntry& scenario = launch.entry;
  const ExitCode code = exit_of(timing.run, session.options.count("strict") != 0);
  ScheduleSpec schedule;
  schedule.strategy = Strategy::kReplay;
  schedule.choices = timing.run.findings.empty() ? std::vector<AgentSlot>{} : timing.run.choices;
  const ReportContext context =
      context_of(scenario,
                 parameters,
                 schedule,
                 rules_of(options, timing, scenario.workload(parameters), chip));
  const std::string checked =
      words_of_check(timing, options.run.detect, code == ExitCode::kClean) + "; " +
      sentence_of(timing.run.end) +
      (timing.run.end == Ending::kStepBound ? ", which --max-steps raises" : "") + "\n";
  if (recorder) {
    add_pictures(session,
                 scenario,
                 parameters,
                 chip,
                 options,
                 timing,
                 context,
                 text_of(timing) + words_of(launch) + checked,
                 *recorder,
                 pictures);
  }
  if (session.json()) {
    Json report = json_of(timing);
    report["scenario"] = scenario.info->name;
    report["parameters"] = parameters.to_string();
    report["chip"] = chip.name;
    add_to(report, launch);
    report["checked"] = options.run.detect;
    report["checked_clusters"] = timing.sample ? json_of(*timing.sample) : Json();
    report["end"] = sentence_of(timing.run.end);
    report["findings"] = Json::array();
    for (const Finding& finding : timing.run.findings) {
      report["findings"].push_back(json_of(finding, context));
    }
    report["not_kept"] = timing.run.not_kept;
    report["exit"] = static_cast<int>(code);
    write_json(session, report);
    return code;
  }
  session.out << title_of(scenario, parameters) << " on " << chip.name << "\n"
              << text_of(timing) << words_of(launch);
  for (const Finding& finding : timing.run.findings) {
    session.out << text_of(finding, context);
  }
  session.out << text_of_not_kept(timing.run.not_kept) << checked;
  return code;
}

}  // namespace warptwin::sim::cli
