// Any words are a command line that the command takes or refuses: a word a line. The only scenario
// refuses to be launched, so that nothing runs. Words with a stroke are left out, and the commands
// that start programs, test the machine or try many values: nothing is read or written beside an
// empty folder.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <vector>

#include "sim/cli/command.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using namespace warptwin;

sim::ScenarioEntry entry() {
  static constexpr ScenarioInfo kInfo{"ring", ScenarioKind::kClean, "refuses to be launched"};
  static constexpr Parameter kParameters[] = {{"tiles", "tiles", 16, 1, 64, ""},
                                              {"stages", "stages", 4, 1, 64}};
  sim::ScenarioEntry one{};
  one.info = &kInfo;
  one.parameters = kParameters;
  one.workload = [](const ParameterSet&) -> Workload { throw ConfigError("nothing is launched"); };
  one.reference = [](const ParameterSet&, std::span<HostTensor>) {};
  one.symbols = [](const ParameterSet&) -> sim::Symbols { throw ConfigError("no symbols"); };
  one.body = [](const ParameterSet&,
                std::span<const sim::SimTensorMap>,
                std::span<const GlobalAddress>) -> sim::WarpBody {
    throw ConfigError("nothing runs");
  };
  return one;
}

void enter_empty_folder() {
  std::string folder = std::filesystem::temp_directory_path() / "warptwin_options_XXXXXX";
  fuzz::require(mkdtemp(folder.data()) != nullptr, "no folder", folder);
  std::filesystem::current_path(folder);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<sim::ScenarioEntry> scenarios{entry()};
  static const bool moved = (enter_empty_folder(), true);
  static_cast<void>(moved);
  std::vector<std::string> words;
  std::istringstream lines{std::string{fuzz::text_of(data, size)}};
  for (std::string line; std::getline(lines, line);) {
    words.push_back(line);
  }
  const bool outside = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find('/') != std::string::npos || word.find("..") != std::string::npos ||
           word.find('\0') != std::string::npos;
  });
  const std::string first = words.empty() ? "" : words[0];
  constexpr std::string_view kLeftOut[] = {"cuda", "doctor", "new", "sweep", "tune"};
  if (outside || std::find(std::begin(kLeftOut), std::end(kLeftOut), first) != std::end(kLeftOut)) {
    return 0;
  }
  std::ostringstream out;
  std::ostringstream err;
  const sim::ExitCode code = sim::run_command(words, scenarios, out, err);
  fuzz::require(code != sim::ExitCode::kUsage || !err.str().empty() || !out.str().empty(),
                "a refusal without words",
                first);
  return 0;
}
