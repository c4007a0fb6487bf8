#include "sim/cli/command.hpp"

#include <optional>
#include <ostream>
#include <string_view>

#include <boost/program_options.hpp>

#include "sim/cli/limited.hpp"
#include "sim/cli/option_table.hpp"
#include "sim/cli/reports.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

namespace {

namespace po = boost::program_options;
using namespace cli;  // NOLINT: the commands

const Command& find_command(const std::string& name) {
  for (const Command& command : commands()) {
    if (name == command.name) {
      return command;
    }
  }
  throw ConfigError("there is no command '" + name + "'; 'warptwin --help' lists them");
}

// The reports are written also where the command does not come to its end.
ExitCode run_and_report(const Command& command, Session& session, Reports& reports) {
  const auto stopped = [&](ExitCode code, const std::exception& error) {
    reports.write(session, code, error.what());
  };
  ExitCode code = ExitCode::kClean;
  try {
    code = command.run(session);
  } catch (const ConfigError& error) {
    stopped(ExitCode::kUsage, error);
    throw;
  } catch (const std::exception& error) {
    stopped(ExitCode::kInternal, error);
    throw;
  }
  reports.write(session, code, "");
  return code;
}

// `ptx check FILE ...` is `check --ptx FILE ...`, and so for each command that takes a launch.
// What a diagnostic means is the same of all.
std::optional<std::vector<std::string>> of_ptx(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3 || arguments[0] != "ptx") {
    return std::nullopt;
  }
  if (arguments[1] == "explain") {
    return std::vector<std::string>{arguments.begin() + 1, arguments.end()};
  }
  for (const Command& command : commands()) {
    if (takes_launch(command) && arguments[1] == command.name) {
      if (arguments[2] == "--help" || arguments[2] == "-h") {
        return std::vector<std::string>{arguments[1], "--help"};
      }
      std::vector<std::string> words{arguments[1], "--ptx", arguments[2]};
      words.insert(words.end(), arguments.begin() + 3, arguments.end());
      return words;
    }
  }
  return std::nullopt;
}

// What stands in a file instead of a scenario: a program, or a launch of PTX.
std::vector<ScenarioEntry> entries_of_files(const po::variables_map& options,
                                            const std::vector<ScenarioEntry>& scenarios,
                                            LaunchUse use) {
  const auto file = [&](const char* option) { return options[option].as<std::string>(); };
  const auto alone = [&](const char* option, const char* with) {
    if (options.count("target") != 0 || options.count("all") != 0 ||
        options.count("program") + options.count("ptx") > 1) {
      throw ConfigError(std::string{option} + " is instead of a scenario, and " + with);
    }
  };
  if (options.count("program") != 0) {
    alone("--program", "goes with neither --on nor --all");
    if (options.count("on") != 0) {
      throw ConfigError("--program is instead of a scenario, and goes with neither --on nor --all");
    }
    return {entry_of_file(file("program"))};
  }
  if (options.count("ptx") == 0) {
    if (options.count("launch") != 0 && options.count("words") == 0) {
      throw ConfigError("--launch FILE goes with --ptx FILE");
    }
    if (options.count("names") != 0 && options.count("launch") == 0) {
      throw ConfigError("--names FILE goes with --launch FILE, and names places of that launch");
    }
    return {};
  }
  alone("--ptx", "does not go with --all");
  if (options.count("launch") == 0) {
    throw ConfigError("--ptx FILE goes with --launch FILE; 'warptwin ptx init FILE' writes one");
  }
  return {entry_of_launch_file(file("ptx"),
                               file("launch"),
                               scenarios,
                               use,
                               options.count("names") == 0 ? std::string{} : file("names"))};
}

// Reads the files that the command works on, and executes it.
ExitCode run_whole(const Command& command,
                   po::variables_map options,
                   const std::vector<ScenarioEntry>& scenarios,
                   std::ostream& out,
                   std::ostream& err) {
  const std::vector<ScenarioEntry> program = entries_of_files(
      options,
      scenarios,
      std::string_view{command.name} == "time" ? LaunchUse::kTime : LaunchUse::kJudge);
  // What stands on the command line goes before what the launch says.
  if (const auto chip = options.find("chip");
      options.count("launch") != 0 && chip != options.end() && chip->second.defaulted()) {
    const std::string named = chip_of_launch_file(options["launch"].as<std::string>());
    if (!named.empty()) {
      chip->second = po::variable_value{boost::any{named}, false};
    }
  }
  Session session{program.empty() ? scenarios : program, std::move(options), out, err};
  session.judgement.command = command.name;
  Reports reports{session};
  return run_and_report(command, session, reports);
}

ExitCode parse_and_run(const std::vector<std::string>& arguments,
                       const std::vector<ScenarioEntry>& scenarios,
                       std::ostream& out,
                       std::ostream& err) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    (arguments.empty() ? err : out) << help_text();
    return arguments.empty() ? ExitCode::kUsage : ExitCode::kClean;
  }
  if (const auto launch = of_ptx(arguments)) {
    return parse_and_run(*launch, scenarios, out, err);
  }
  const Command& command = find_command(arguments[0]);
  const po::options_description visible = options_of(command);
  po::options_description accepted = visible;
  accepted.add_options()("target", po::value<std::string>(), "")(
      "words", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positions;
  positions.add(command.takes_many ? "words" : "target", command.takes_many ? -1 : 1);
  po::variables_map options;
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (command.verb != nullptr && !rest.empty() && rest[0] == command.verb) {
    rest.erase(rest.begin());
  }
  namespace style = po::command_line_style;
  po::store(po::command_line_parser(rest)
                .options(accepted)
                .positional(positions)
                .style(style::unix_style & ~style::allow_guessing)
                .run(),
            options);
  po::notify(options);
  if (options.count("help") != 0) {
    out << "usage: warptwin " << command.name << " ...\n" << visible;
    const po::options_description launches = options_of_launches(command);
    if (!launches.options().empty()) {
      out << "\n" << launches;
    }
    return ExitCode::kClean;
  }
  const auto whole = [&](std::ostream& to, std::ostream& errors) {
    return run_whole(command, options, scenarios, to, errors);
  };
  if (!limits_whole(command, options)) {
    return whole(out, err);
  }
  Session session{scenarios, options, out, err};
  session.judgement.command = command.name;
  return run_limited(session, whole);
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& arguments,
                     const std::vector<ScenarioEntry>& scenarios,
                     std::ostream& out,
                     std::ostream& err) {
  try {
    return parse_and_run(arguments, scenarios, out, err);
  } catch (const ConfigError& error) {
    err << "config: " << error.what() << "\n";
  } catch (const po::error& error) {
    err << "config: " << error.what() << "; see 'warptwin --help'\n";
  }
  return ExitCode::kUsage;
}

}  // namespace warptwin::sim
