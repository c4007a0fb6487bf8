// New and doctor: how to begin. Completion and man: what a shell is told.

#include <ostream>

#include <boost/version.hpp>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/doctor.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/new_repository.hpp"
#include "sim/cli/shell.hpp"
#include "sim/json/json_text.hpp"

namespace warptwin::sim::cli {

#ifdef __clang__
static constexpr const char* kCompiler = __VERSION__;  // it says its name
#else
static constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

ExitCode new_command(Session& session) {
  if (session.options.count("target") == 0) {
    throw ConfigError("new takes a folder: warptwin new my_kernels");
  }
  const auto directory = session.options["target"].as<std::string>();
  for (const std::string& path : write_repository(directory)) {
    session.out << directory << "/" << path << "\n";
  }
  session.out << "next: cd " << directory << ", and README.md says how to build and check it\n";
  return ExitCode::kClean;
}

static Json json_of(const std::vector<Examined>& all, const SelfTest& test) {
  Json rows = Json::array();
  for (const Examined& one : all) {
    rows.push_back({{"what", one.what},
                    {"there", one.there},
                    {"version", one.version},
                    {"gives", one.gives},
                    {"needed", one.needed}});
  }
  return {{"version", WARPTWIN_VERSION},
          {"compiler", kCompiler},
          {"boost", BOOST_LIB_VERSION},
          {"machine", rows},
          {"self_test", {{"programs", test.programs}, {"wrong", test.wrong}}}};
}

ExitCode doctor_command(Session& session) {
  const std::vector<Examined> all = examine(this_machine(), hw_command_path());
  const SelfTest test = test_self();
  const ExitCode code = test.wrong.empty() ? ExitCode::kClean : ExitCode::kInternal;
  if (session.json()) {
    Json report = json_of(all, test);
    report["exit"] = static_cast<int>(code);
    session.out << text_of_json(report, 2) << "\n";
    return code;
  }
  session.out << "warptwin " << WARPTWIN_VERSION << ", compiled by " << kCompiler << ", Boost "
              << BOOST_LIB_VERSION << "\n";
  for (const Examined& one : all) {
    session.out << (one.there ? "  there    " : "  missing  ") << one.what;
    if (!one.version.empty()) {
      session.out << ": " << one.version << (one.there ? "" : ", too old");
    }
    session.out << "\n";
    if (!one.there) {
      session.out << "           for " << one.gives << "\n           get " << one.needed << "\n";
    }
  }
  for (const std::string& wrong : test.wrong) {
    session.out << "self-test: " << wrong << "\n";
  }
  session.out << "self-test: " << (test.programs - test.wrong.size()) << " of " << test.programs
              << " smallest programs come out as they must\n";
  return code;
}

ExitCode completion_command(Session& session) {
  const std::string name =
      session.options.count("target") == 0 ? "warptwin" : text_option(session, "target");
  const bool plain = !name.empty() && name.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyz"
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_.-") == std::string::npos;
  if (!plain || name.front() == '-') {
    throw ConfigError("'" + name + "' is no name of a command: letters, digits, '_', '.' and '-'");
  }
  session.out << bash_completion(name);
  return ExitCode::kClean;
}

ExitCode man_command(Session& session) {
  session.out << man_page();
  return ExitCode::kClean;
}

}  // namespace warptwin::sim::cli
