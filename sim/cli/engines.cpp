#include "sim/cli/engines.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "common/trace/words.hpp"

#include "sim/cli/command.hpp"
#include "sim/json/json_text.hpp"
#include "sim/trace/trace_file.hpp"

namespace warptwin::sim {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kNames{"functional", "timed", "hw"};

const char* name_of(EngineKind engine) {
  return kNames.at(static_cast<std::size_t>(engine));
}

// A folder of its own, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (fs::temp_directory_path() / "warptwin.XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) {
      throw ConfigError(path + ": cannot be made; set TMPDIR to a folder that can be written to");
    }
    path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Runs a command with its output in files. Blocks until it has ended. Its exit code, or -1 where it
// did not start or was ended by a signal.
int execute(std::vector<std::string> command, const std::string& out, const std::string& err) {
  std::vector<char*> arguments;
  for (std::string& word : command) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kHow = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kHow, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kHow, 0600);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
    return -1;
  }
  return WEXITSTATUS(status);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class Runner {
 public:
  Runner(const ScenarioEntry& scenario,
         const ParameterSet& parameters,
         const EnginesOptions& options)
      : scenario_{scenario}, parameters_{parameters}, options_{options} {}

  EnginesResult run(const std::vector<EngineKind>& engines) {
    // To say what its waits see takes a GPU time: not where times are compared.
    times_count_ = std::find(engines.begin(), engines.end(), EngineKind::kTimed) != engines.end();
    for (const EngineKind engine : engines) {
      switch (engine) {
        case EngineKind::kFunctional:
          run_functional();
          break;
        case EngineKind::kTimed:
          run_timed();
          break;
        case EngineKind::kHardware:
          run_hardware();
          break;
      }
    }
    for (std::size_t first = 0; first < result_.ran.size(); ++first) {
      for (std::size_t second = first + 1; second < result_.ran.size(); ++second) {
        const Trace& a = result_.ran[first].trace;
        const Trace& b = result_.ran[second].trace;
        if (!a.warps.empty() && !b.warps.empty()) {
          result_.pairs.push_back({first, second, compare_traces(a, b)});
        }
      }
    }
    return std::move(result_);
  }

 private:
  void add(EngineKind engine, Trace trace, const RunResult& run, const std::string& where) {
    EnginesResult::Ran ran;
    ran.engine = name_of(engine);
    ran.said = trace.ending + ", " + plural(run.operations, "operation") + where;
    for (const Finding& finding : run.findings) {
      ran.said += "; " + std::string{finding.info->id} + " at " + text_of(finding.object);
    }
    for (const Comparison& comparison : run.comparisons) {
      ran.said += comparison.agrees() ? "" : "; " + comparison.tensor + " is not the reference";
    }
    ran.right = run.clean(false);
    ran.bounded = run.end == Ending::kStepBound;
    ran.trace = std::move(trace);
    result_.ran.push_back(std::move(ran));
  }

  void run_functional() {
    RunResult run;
    Trace trace = simulated_trace(scenario_, parameters_, options_.run, run);
    add(EngineKind::kFunctional, std::move(trace), run, "");
  }

  void run_timed() {
    TimingResult timing;
    Trace trace = timed_trace(scenario_, parameters_, options_.chip, options_.timing, timing);
    std::ostringstream where;
    where << ", " << static_cast<std::uint64_t>(timing.stats.cycles) << " cycles on "
          << options_.chip.name;
    add(EngineKind::kTimed, std::move(trace), timing.run, where.str());
  }

  void leave_out(const std::string& why) {
    result_.left_out.push_back({name_of(EngineKind::kHardware), why});
  }

  void run_hardware() {
    if (access(options_.hw.c_str(), X_OK) != 0) {
      leave_out(options_.hw + " is not built");
      return;
    }
    const TemporaryFolder folder;
    const std::string trace = folder.file("hw.trace");
    std::vector<std::string> command{options_.hw, scenario_.info->name, "--json", "--trace", trace};
    for (const std::string& setting : options_.settings) {
      command.insert(command.end(), {"--set", setting});
    }
    command.insert(command.end(), {"--seed", std::to_string(options_.run.input_seed)});
    if (options_.run.moves_data) {
      command.emplace_back(times_count_ ? "--outputs" : "--values");
    }
    const int code = execute(command, folder.file("out"), folder.file("err"));
    const Json said = json_if_any<Json>(contents(folder.file("out")));
    const std::string complaint = first_line(contents(folder.file("err")));
    if (code == static_cast<int>(ExitCode::kDevice)) {
      leave_out(said.is_object() ? first_line(said.value("detail", "")) : complaint);
      return;
    }
    if (!said.is_object() || (code != 0 && code != static_cast<int>(ExitCode::kFinding))) {
      throw ConfigError(options_.hw + " ended with " + std::to_string(code) + ": " + complaint);
    }
    EnginesResult::Ran ran;
    ran.engine = name_of(EngineKind::kHardware);
    ran.right = code == 0;
    ran.said = said.value("outcome", "");
    const std::string detail = first_line(said.value("detail", ""));
    ran.said += detail.empty() ? "" : ": " + detail;
    if (fs::exists(trace)) {
      try {
        ran.trace = read_trace_file(trace);
      } catch (const TraceError& error) {
        throw ConfigError(error.what());
      }
      ran.said += " on " + ran.trace.machine;
    } else {
      ran.said += "; nothing was recorded";
    }
    result_.ran.push_back(std::move(ran));
  }

  const ScenarioEntry& scenario_;
  const ParameterSet& parameters_;
  const EnginesOptions& options_;
  bool times_count_ = false;
  EnginesResult result_;
};

}  // namespace

std::vector<EngineKind> parse_engines(const std::string& names) {
  std::vector<EngineKind> engines;
  std::istringstream in{names};
  for (std::string name; std::getline(in, name, ',');) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), name);
    const auto engine = static_cast<EngineKind>(found - kNames.begin());
    if (found == kNames.end() ||
        std::find(engines.begin(), engines.end(), engine) != engines.end()) {
      throw ConfigError(
          "--on takes functional, timed and hw, each once and with commas between, "
          "not '" +
          names + "'");
    }
    engines.push_back(engine);
  }
  if (engines.empty()) {
    throw ConfigError("--on takes engines, as in --on functional,timed,hw");
  }
  return engines;
}

EnginesResult run_on_engines(const ScenarioEntry& scenario,
                             const ParameterSet& parameters,
                             const std::vector<EngineKind>& engines,
                             const EnginesOptions& options) {
  return Runner{scenario, parameters, options}.run(engines);
}

std::string text_of(const EnginesResult& result) {
  std::string text;
  for (const EnginesResult::Ran& ran : result.ran) {
    text += ran.engine + ": " + ran.said + "\n";
  }
  for (const EnginesResult::LeftOut& one : result.left_out) {
    text += "left out: " + one.engine + ": " + one.why + "\n";
  }
  for (const EnginesResult::Pair& pair : result.pairs) {
    const std::string& first = result.ran[pair.first].engine;
    const std::string& second = result.ran[pair.second].engine;
    text += "-- " + first + " and " + second + "\n" + text_of(pair.comparison, first, second);
  }
  return text;
}

Json json_of(const EnginesResult& result) {
  Json json{{"ran", Json::array()}, {"left_out", Json::array()}, {"comparisons", Json::array()}};
  for (const EnginesResult::Ran& ran : result.ran) {
    json["ran"].push_back({{"engine", ran.engine},
                           {"machine", ran.trace.machine},
                           {"right", ran.right},
                           {"said", ran.said}});
  }
  for (const EnginesResult::LeftOut& one : result.left_out) {
    json["left_out"].push_back({{"engine", one.engine}, {"why", one.why}});
  }
  for (const EnginesResult::Pair& pair : result.pairs) {
    Json row = json_of(pair.comparison);
    row["between"] = {result.ran[pair.first].engine, result.ran[pair.second].engine};
    json["comparisons"].push_back(std::move(row));
  }
  return json;
}

std::string hw_command_path() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? "warptwin-hw" : self.string() + "-hw";
}

}  // namespace warptwin::sim
