#include "sim/cli/command.hpp"

#include <ostream>

#include <boost/program_options.hpp>

#include "sim/cli/option_table.hpp"
#include "sim/cli/reports.hpp"
#include "sim/run/program_entry.hpp"

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

ExitCode parse_and_run(const std::vector<std::string>& arguments,
                       const std::vector<ScenarioEntry>& scenarios,
                       std::ostream& out,
                       std::ostream& err) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    (arguments.empty() ? err : out) << help_text();
    return arguments.empty() ? ExitCode::kUsage : ExitCode::kClean;
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
    return ExitCode::kClean;
  }
  std::vector<ScenarioEntry> program;
  if (options.count("program") != 0) {
    if (options.count("target") != 0 || options.count("on") != 0 || options.count("all") != 0) {
      throw ConfigError("--program is instead of a scenario, and goes with neither --on nor --all");
    }
    program.push_back(entry_of_file(options["program"].as<std::string>()));
  }
  Session session{program.empty() ? scenarios : program, std::move(options), out, err};
  session.judgement.command = command.name;
  Reports reports{session};
  return run_and_report(command, session, reports);
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
