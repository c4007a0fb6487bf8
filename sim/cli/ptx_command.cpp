#include "sim/cli/ptx_command.hpp"

#include <map>
#include <ostream>

#include "sim/cli/launch_state.hpp"
#include "sim/json/json_text.hpp"
#include "sim/ptx/code/code.hpp"
#include "sim/ptx/code/print.hpp"
#include "sim/ptx/machine/kernel.hpp"
#include "sim/ptx/machine/missing_forms.hpp"
#include "sim/report/json.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

namespace {

/// One mnemonic that is missing, in one file.
struct Missing {
  std::string reason;
  std::string first;  // "file:line"
  std::uint32_t count = 0;
};

struct Coverage {
  std::string file;
  std::size_t functions = 0;
  std::size_t instructions = 0;
  std::map<std::string_view, std::size_t> groups;  // how many of each that is there
  std::map<std::string, Missing> missing;          // by mnemonic
};

void count(const ptx::Code& code, Coverage& coverage) {
  coverage.instructions += code.ops.size();
  for (const ptx::Op& op : code.ops) {
    if (op.form != nullptr) {
      ++coverage.groups[name_of(op.form->group)];
    }
  }
  const auto note = [&](const ptx::Op& op, const std::string& reason) {
    const ptx::Instruction& source = *op.source;
    Missing& missing = coverage.missing[std::string{source.text}];
    if (missing.count++ == 0) {
      missing.reason = reason;
      missing.first = coverage.file + ":" + std::to_string(source.position.line);
    }
  };
  for (const ptx::Gap& gap : code.gaps) {
    note(code.ops[gap.op], gap.reason);
  }
  for (const ptx::Op& op : code.ops) {
    if (op.form != nullptr && !ptx::executes(op)) {
      note(op, "it is read and not executed");
    } else if (const char* why = ptx::missing_form(op); why != nullptr) {
      note(op, why);
    }
  }
}

Coverage coverage_of(const std::string& file) {
  Coverage coverage;
  coverage.file = file;
  const ptx::Module module = ptx::read_module(file);
  const std::vector<ptx::Code> codes = ptx::decode(module);
  coverage.functions = codes.size();
  for (const ptx::Code& code : codes) {
    count(code, coverage);
  }
  return coverage;
}

Json json_of(const Coverage& coverage) {
  Json missing = Json::array();
  for (const auto& [mnemonic, each] : coverage.missing) {
    missing.push_back({{"instruction", mnemonic},
                       {"count", each.count},
                       {"first", each.first},
                       {"reason", each.reason}});
  }
  Json groups = Json::object();
  for (const auto& [group, number] : coverage.groups) {
    groups[std::string{group}] = number;
  }
  return {{"file", coverage.file},
          {"functions", coverage.functions},
          {"instructions", coverage.instructions},
          {"groups", groups},
          {"missing", missing}};
}

void print(const Coverage& coverage, std::ostream& out) {
  out << coverage.file << ": " << coverage.instructions << " instructions in " << coverage.functions
      << " functions; " << (coverage.missing.empty() ? "none is missing" : "missing:") << "\n";
  for (const auto& [mnemonic, each] : coverage.missing) {
    out << "  " << mnemonic << ", " << each.count << " times, first in " << each.first << ": "
        << each.reason << "\n";
  }
}

ExitCode print_coverage(const PtxRequest& request, std::ostream& out) {
  bool whole = true;
  Json files = Json::array();
  for (const std::string& file : std::span{request.words}.subspan(1)) {
    const Coverage coverage = coverage_of(file);
    whole = whole && coverage.missing.empty();
    if (request.json) {
      files.push_back(json_of(coverage));
    } else {
      print(coverage, out);
    }
  }
  const ExitCode code = whole ? ExitCode::kClean : ExitCode::kUsage;
  if (request.json) {
    out << text_of_json(Json{{"files", files}, {"exit", static_cast<int>(code)}}, 2) << "\n";
  }
  return code;
}

void print_launch(const PtxRequest& request,
                  const std::vector<ScenarioEntry>& scenarios,
                  std::ostream& out) {
  if (!request.kernel.empty()) {
    throw ConfigError("--kernel does not go with --launch, which names its kernel");
  }
  const ReadLaunch read =
      read_launch_file(request.words[1], request.launch, scenarios, request.names);
  static_cast<void>(entry_of(read));  // refuses what the kernel's directives do not allow
  if (request.json) {
    out << text_of_json(json_of(read), 2) << "\n";
  } else {
    out << text_of(read);
  }
}

void print_listing(const PtxRequest& request, std::ostream& out) {
  const ptx::Module module = ptx::read_module(request.words[1]);
  std::string names;
  bool shown = false;
  for (const ptx::Code& code : ptx::decode(module)) {
    names += (names.empty() ? "" : ", ") + std::string{code.function->name};
    if (request.kernel.empty() || request.kernel == code.function->name) {
      out << (shown ? "\n" : "");
      print(code, out);
      shown = true;
    }
  }
  if (!shown) {
    throw ConfigError(request.words[1] + " has no function " +
                      (request.kernel.empty() ? "with a body" : "'" + request.kernel + "'") +
                      (names.empty() ? "" : "; it has " + names));
  }
}

}  // namespace

ExitCode ptx(const PtxRequest& request,
             const std::vector<ScenarioEntry>& scenarios,
             std::ostream& out) {
  const std::size_t files = request.words.empty() ? 0 : request.words.size() - 1;
  const bool shows = files == 1 && request.words[0] == "show";
  if (!request.launch.empty() && !shows) {
    throw ConfigError(
        "--launch goes with ptx show, run, check, prove, explore, replay, trace and time");
  }
  if (files > 0 && request.words[0] == "coverage" && request.kernel.empty()) {
    return print_coverage(request, out);
  }
  if (shows && !request.launch.empty()) {
    print_launch(request, scenarios, out);
    return ExitCode::kClean;
  }
  if (shows && !request.json) {
    print_listing(request, out);
    return ExitCode::kClean;
  }
  if (files == 1 && request.words[0] == "init" && !request.json) {
    out << first_launch_of(request.words[1], request.kernel);
    return ExitCode::kClean;
  }
  throw ConfigError(
      "'ptx' takes 'coverage FILE... [--json]', 'show FILE [--kernel NAME]', "
      "'show FILE --launch L.json [--json]', 'init FILE [--kernel NAME]', 'explain ID', or run, "
      "check, prove, "
      "explore, replay, trace or time with 'FILE --launch L.json'");
}

}  // namespace warptwin::sim
