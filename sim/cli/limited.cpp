#include "sim/cli/limited.hpp"

#include <sstream>
#include <stdexcept>
#include <string_view>

#include "sim/cli/option_table.hpp"
#include "sim/cli/reports.hpp"
#include "sim/json/json_text.hpp"
#include "sim/report/packed.hpp"

namespace warptwin::sim::cli {

namespace {

std::string option_and_value(const po::variables_map& options, const char* option) {
  return "--" + std::string{option} + " " + options[option].as<std::string>();
}

// What the process that works tells the one that reports.
struct Reply {
  bool config = false;  // the user got something wrong: `out` says what
  int code = 0;
  std::string out;
  std::string err;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Reply, config, code, out, err)

std::string reply_of(const WholeCommand& whole) {
  std::ostringstream out;
  std::ostringstream err;
  try {
    const ExitCode code = whole(out, err);
    return packed(Reply{false, static_cast<int>(code), out.str(), err.str()});
  } catch (const ConfigError& error) {
    return packed(Reply{true, 0, error.what(), err.str()});
  }
}

// What the command works on, by the words of its line.
std::string subject_of(const po::variables_map& options) {
  std::string name;
  for (const char* option : {"target", "ptx", "program"}) {
    if (name.empty() && options.count(option) != 0) {
      name = options[option].as<std::string>();
    }
  }
  if (options.count("words") != 0) {
    for (const std::string& word : options["words"].as<std::vector<std::string>>()) {
      name += (name.empty() ? "" : " ") + word;
    }
  }
  return name;
}

}  // namespace

WorkLimits limits_of(const po::variables_map& options) {
  WorkLimits limits;
  if (options.count("time-limit") != 0) {
    limits.cpu_seconds = unsigned_option(options, "time-limit", 0, 1'000'000);
    limits.memory_bytes = unsigned_option(options, "memory-limit", 0, 100'000'000) << 20U;
  }
  return limits;
}

bool limits_whole(const Command& command, const po::variables_map& options) {
  for (const std::string_view pieces : {"sweep", "tune", "cuda"}) {
    if (pieces == command.name) {
      return false;
    }
  }
  const WorkLimits limits = limits_of(options);
  return options.count("all") == 0 && (limits.cpu_seconds != 0 || limits.memory_bytes != 0);
}

std::string why_stopped(const po::variables_map& options, const WorkEnd& end) {
  switch (end.why) {
    case WorkEnd::Why::kTime:
      return "incomplete: stopped by " + option_and_value(options, "time-limit") +
             " (seconds of CPU)";
    case WorkEnd::Why::kMemory:
      return limits_of(options).memory_bytes == 0
                 ? "incomplete: there is no more memory"
                 : "incomplete: stopped by " + option_and_value(options, "memory-limit") + " (MiB)";
    case WorkEnd::Why::kError:
      return "internal error: " + end.text;
    case WorkEnd::Why::kSignal:
      return "internal error: its process ended by signal " + std::to_string(end.signal);
    case WorkEnd::Why::kDone:
      break;
  }
  throw std::logic_error("work that is done was not stopped");
}

ExitCode code_of(const WorkEnd& end) {
  return end.why == WorkEnd::Why::kTime || end.why == WorkEnd::Why::kMemory ? ExitCode::kIncomplete
                                                                            : ExitCode::kInternal;
}

Judged stopped(const std::string& name,
               const std::string& parameters,
               ExitCode code,
               const std::string& why) {
  Verdict verdict;
  verdict.add({code, why});
  return judged_of(name, parameters, verdict);
}

Json json_of_stopped(const Judged& judged) {
  return {{"scenario", judged.scenario},
          {"parameters", judged.parameters},
          {"verdict", "stopped"},
          {"strength", judged.answer},
          {"findings", Json::array()},
          {"exit", judged.exit}};
}

ExitCode run_limited(Session& session, const WholeCommand& whole) {
  ExitCode code = ExitCode::kClean;
  run_workers(
      1,
      1,
      limits_of(session.options),
      [&](std::size_t) { return reply_of(whole); },
      [&](std::size_t, const WorkEnd& end) {
        if (end.why == WorkEnd::Why::kDone) {
          const auto reply = unpacked<Reply>(end.text);
          session.err << reply.err;
          if (reply.config) {
            throw ConfigError(reply.out);
          }
          session.out << reply.out;
          code = static_cast<ExitCode>(reply.code);
          return;
        }
        code = code_of(end);
        const std::string why = why_stopped(session.options, end);
        const Judged judged = stopped(subject_of(session.options), "", code, why);
        session.judgement.all.push_back(judged);
        if (code == ExitCode::kIncomplete) {
          session.out << (session.json() ? text_of_json(json_of_stopped(judged), 2)
                                         : judged.scenario + ": " + why)
                      << "\n";
        }
        Reports{session}.write(session, code, why);
        if (code == ExitCode::kInternal) {
          throw std::runtime_error(why.substr(std::string_view{"internal error: "}.size()));
        }
      });
  return code;
}

}  // namespace warptwin::sim::cli
