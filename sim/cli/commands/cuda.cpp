// Cuda: a program with kernels, run and judged launch by launch.

#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/cuda_judge.hpp"
#include "sim/cli/cuda_program.hpp"
#include "sim/cuda/names.hpp"
#include "sim/json/json_text.hpp"
#include "sim/ptx/text/demangled.hpp"

namespace warptwin::sim::cli {

// What a program's PTX has to be for, by the chip's name.
static std::string target_of_chip(const Session& session, const Chip& chip) {
  if (session.options.count("target-ptx") != 0) {
    return session.options["target-ptx"].as<std::string>();
  }
  constexpr std::pair<const char*, const char*> kTargets[] = {{"h100", "sm_90a"},
                                                              {"h200", "sm_90a"},
                                                              {"b200", "sm_100a"},
                                                              {"gb200", "sm_100a"},
                                                              {"b300", "sm_103a"}};
  for (const auto& [name, target] : kTargets) {
    if (chip.name == name) {
      return target;
    }
  }
  throw ConfigError("say for which target the chip '" + chip.name +
                    "' takes PTX, as in --target-ptx sm_90a");
}

// What a program is told of its GPU.
static nlohmann::json facts_of(const Chip& chip,
                               const std::string& target,
                               const std::string& times) {
  const std::size_t digits = target.find_first_of("0123456789");
  const int number =
      digits == std::string::npos ? 0 : std::atoi(target.c_str() + digits);  // NOLINT
  if (!target.starts_with("sm_") || number < 90 || number > 999) {
    throw ConfigError("--target-ptx takes sm_90a, sm_100a or a like name, not '" + target + "'");
  }
  const auto whole = [](double value) { return static_cast<long long>(value); };
  const long long shared = whole(chip.sm_shared_bytes);
  return {{"name", "warptwin " + chip.name},
          {"major", number / 10},
          {"minor", number % 10},
          {"sms", whole(chip.sms)},
          {"clock_khz", whole(chip.clock * 1e6)},
          {"l2_bytes", whole(chip.l2_bytes)},
          {"sm_ctas", whole(chip.sm_ctas)},
          {"sm_threads", whole(chip.sm_threads)},
          {"sm_registers", whole(chip.sm_registers)},
          {"sm_shared_bytes", shared},
          {"shared_optin", shared - whole(chip.sm_shared_per_cta)},
          {"memory_bytes", 1LL << 33},
          {"times", times}};
}

static ExitCode print_functions(Session& session) {
  for (const auto names : {cuda::runtime_functions(), cuda::driver_functions()}) {
    for (const char* name : names) {
      session.out << name << "\n";
    }
  }
  return ExitCode::kClean;
}

static std::string extent_text(const ptx::Extent3& extent) {
  std::string text = std::to_string(extent[0]);
  for (std::size_t i = 1; i < 3 && (extent[1] > 1 || extent[2] > 1); ++i) {
    text += "x" + std::to_string(extent[i]);
  }
  return text;
}

static Json json_of(const JudgedLaunch& launch) {
  return {{"launch", launch.number},
          {"kernel", launch.kernel},
          {"name", ptx::demangled(launch.kernel)},
          {"grid", launch.shape.grid},
          {"block", launch.shape.block},
          {"cluster", launch.shape.cluster},
          {"dynamic_shared_bytes", launch.shape.dynamic_shared_bytes},
          {"policy", name_of(launch.policy)},
          {"verdict", launch.verdict},
          {"operations", launch.operations},
          {"thread_instructions", launch.thread_instructions},
          {"run_seconds", launch.run_seconds},
          {"findings", launch.findings},
          {"text", launch.text},
          {"seconds", launch.seconds},
          {"microseconds", launch.microseconds},
          {"exit", static_cast<int>(launch.code)}};
}

static std::string ids_of(const JudgedLaunch& launch) {
  std::string ids;
  for (const std::string& id : std::set<std::string>{launch.ids.begin(), launch.ids.end()}) {
    ids += (ids.empty() ? "; " : ", ") + id;
  }
  return ids;
}

// Of a template the name alone says little less than all of its arguments.
static std::string short_name(const JudgedLaunch& launch) {
  constexpr std::size_t kColumns = 100;
  const std::string name = ptx::demangled(launch.kernel);
  return name.size() <= kColumns ? name : name.substr(0, kColumns - 3) + "...";
}

// Launches in a row of which the same is said.
struct LaunchRow {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string text;
  double seconds = 0;
};

static std::vector<LaunchRow> rows_of(const std::vector<JudgedLaunch>& launches) {
  std::vector<LaunchRow> rows;
  for (const JudgedLaunch& launch : launches) {
    const std::string text = short_name(launch) + " <<<" + extent_text(launch.shape.grid) + ", " +
                             extent_text(launch.shape.block) + ">>>: " + launch.verdict +
                             ids_of(launch) + " (" + name_of(launch.policy);
    if (rows.empty() || rows.back().text != text) {
      rows.push_back({launch.number, launch.number, text, 0});
    }
    rows.back().last = launch.number;
    rows.back().seconds += launch.seconds;
  }
  return rows;
}

// What two pieces of a program's work do to each other.
static constexpr const char* kStreamRace = "STREAM_RACE";

// What is said of the program beside its launches.
struct Said {
  const std::vector<std::string>& gave_up;
  const std::vector<std::string>& races;
};

// What each launch was found to do, a line for those in a row that are alike, and a last line for
// all.
static void print_summary(Session& session,
                          const std::vector<JudgedLaunch>& launches,
                          const Said& said) {
  std::ostream& out = session.err;
  std::map<std::string, std::uint64_t> verdicts;
  std::set<std::string> kernels;
  for (const JudgedLaunch& launch : launches) {
    ++verdicts[launch.verdict];
    kernels.insert(launch.kernel);
    if (launch.code != ExitCode::kClean) {
      out << "launch " << launch.number << ":\n" << launch.text;
    }
  }
  for (const LaunchRow& row : rows_of(launches)) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, ", %.2f s)", row.seconds);
    out << (row.first == row.last ? "launch " : "launches ") << row.first
        << (row.first == row.last ? "" : " to " + std::to_string(row.last)) << ": " << row.text
        << seconds << "\n";
  }
  for (const std::string& race : said.races) {
    out << "defect: " << kStreamRace << ": " << race << "\n";
  }
  for (const std::string& why : said.gave_up) {
    out << "ended: " << why << "\n";
  }
  if (!launches.empty()) {
    out << launches.size() << (launches.size() == 1 ? " launch of " : " launches of ")
        << kernels.size() << (kernels.size() == 1 ? " kernel" : " kernels");
    const char* between = ": ";
    for (const auto& [verdict, count] : verdicts) {
      out << between << count << " " << verdict;
      between = ", ";
    }
    out << "\n";
  }
}

// The program's exit code, unless a launch says worse: what a launch leaves open does not hide that
// the program failed.
static int code_of(const ProgramEnd& end, ExitCode launches) {
  const int program = end.signal != 0 ? 128 + end.signal : end.code;
  if (launches == ExitCode::kClean || (launches == ExitCode::kIncomplete && program != 0)) {
    return program;
  }
  return static_cast<int>(launches);
}

// A launch as the reports for other programs have it: a case of its kernel.
static Judged case_of(const JudgedLaunch& launch) {
  Judged judged;
  judged.scenario = ptx::demangled(launch.kernel);
  judged.parameters = "launch " + std::to_string(launch.number) + " <<<" +
                      extent_text(launch.shape.grid) + ", " + extent_text(launch.shape.block) +
                      ">>>";
  judged.exit = launch.code;
  judged.right = launch.code == ExitCode::kClean;
  std::istringstream lines{launch.text};
  while (std::getline(lines, judged.answer)) {  // the last one
  }
  judged.findings = launch.reported;
  if (!judged.right && failing(judged).empty()) {
    judged.open.push_back({launch.verdict, {}});
  }
  return judged;
}

// What is wrong between launches and copies: a case of its own.
static Judged case_of(const std::vector<std::string>& races) {
  Judged judged;
  judged.scenario = "streams";
  judged.exit = ExitCode::kFinding;
  judged.right = false;
  judged.answer = "work that nothing orders touches the same memory";
  const DiagnosticInfo& info = *find_diagnostic(kStreamRace);
  for (const std::string& race : races) {
    JudgedFinding finding;
    finding.id = info.id;
    finding.severity = warptwin::name_of(info.practical);
    finding.message = finding.text = race;
    finding.fingerprint = fingerprint_of(judged.scenario, finding.id, {}, "", race);
    finding.fails = true;
    judged.findings.push_back(std::move(finding));
  }
  return judged;
}

static void write_report(const std::string& path, const Json& report) {
  std::ofstream out{path};
  out << text_of_json(report, 2) << "\n";
  out.flush();
  if (!out) {
    throw ConfigError(path + ": cannot be written");
  }
}

ExitCode cuda_command(Session& session) {
  if (session.options.count("list") != 0) {
    return print_functions(session);
  }
  const std::vector<std::string> program = strings(session, "words");
  if (program.empty()) {
    throw ConfigError("name the program, as in: warptwin cuda -- ./program arguments");
  }
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  const std::string target = target_of_chip(session, chip);
  const nlohmann::json facts =
      facts_of(chip,
               target,
               measure_of(session) == Measure::kNever
                   ? "the program measures time: with --measure never it is none"
                   : "the program measures time: it is simulated, of its launches on " + chip.name +
                         ", and no time of a GPU");
  LaunchJudge judge{session, chip};
  std::vector<std::string> gave_up;
  std::vector<std::string> races;
  const ProgramEnd end = run_program(program, [&] {
    return std::make_unique<cuda::Service>(
        facts,
        target,
        [&](cuda::Device& device, const cuda::LaunchRequest& request) {
          return judge.launch(device, request);
        },
        cuda::ServiceListeners{[&](const std::string& why) { gave_up.push_back(why); },
                               [&](const std::string& race) { races.push_back(race); }});
  });
  const std::vector<JudgedLaunch>& all = judge.finish();
  if (!end.why_not.empty()) {
    throw ConfigError(program[0] + ": " + end.why_not);
  }
  ExitCode launches = gave_up.empty() ? ExitCode::kClean : ExitCode::kUsage;
  for (const JudgedLaunch& launch : all) {
    launches = worse(launches, launch.code);
    session.judgement.all.push_back(case_of(launch));
  }
  if (!races.empty()) {
    launches = worse(launches, ExitCode::kFinding);
    session.judgement.all.push_back(case_of(races));
  }
  print_summary(session, all, {gave_up, races});
  if (all.empty() && gave_up.empty()) {
    session.err << "config: the program launched no kernel"
                << (end.came ? ""
                             : ", and made no call that came here: is it linked with the "
                               "shared runtime of CUDA 13 (-cudart shared)?")
                << "\n";
    launches = worse(launches, ExitCode::kUsage);
  }
  if (end.signal != 0) {
    session.err << "the program was ended by signal " << end.signal << "\n";
  }
  const int code = code_of(end, launches);
  if (session.json()) {
    Json report = {{"program", program}, {"chip", chip.name}, {"target", target}};
    report["launches"] = Json::array();
    for (const JudgedLaunch& launch : all) {
      report["launches"].push_back(json_of(launch));
    }
    report["streams"] = Json::array();
    for (const std::string& race : races) {
      report["streams"].push_back({{"id", kStreamRace}, {"message", race}});
    }
    report["ended"] = gave_up;
    report["program_exit"] = end.signal != 0 ? 128 + end.signal : end.code;
    report["exit"] = code;
    write_report(text_option(session, "json"), report);
  }
  return static_cast<ExitCode>(code);
}

}  // namespace warptwin::sim::cli
