// Any lines are what a sweep is told: settings, and behind an empty line conditions. They make a
// space whose points can be asked for, or an error of the kind that names what to write instead.

#include <algorithm>
#include <sstream>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/sweep/where.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using namespace warptwin;

const sim::ScenarioEntry& entry() {
  static constexpr ScenarioInfo kInfo{"ring", ScenarioKind::kClean, "is never run"};
  static constexpr Parameter kParameters[] = {{"tiles", "tiles", 16, 1, 64},
                                              {"stages", "stages", 4, 1, 64}};
  static const sim::ScenarioEntry one = [] {
    sim::ScenarioEntry made{};
    made.info = &kInfo;
    made.parameters = kParameters;
    return made;
  }();
  return one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{fuzz::text_of(data, size)};
  std::vector<std::string> settings;
  std::vector<std::string> conditions;
  std::vector<std::string>* into = &settings;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      into = &conditions;
    } else {
      into->push_back(line);
    }
  }
  constexpr std::uint64_t kAsked = 32;  // points of a space, from its beginning and from its end
  static const sim::Chip chip = sim::load_chip("h200");
  try {
    const sim::Space space{entry(), chip, settings};
    fuzz::require(space.size() >= 1 && space.size() <= sim::Space::kSizeMax, "a size", text);
    sim::Where where{space, conditions};
    for (std::uint64_t i = 0; i < std::min(space.size(), kAsked); ++i) {
      for (const std::uint64_t index : {i, space.size() - 1 - i}) {
        const sim::SweepPoint point = space.at(index);
        fuzz::require(point.size() == space.axes().size(), "a point of other axes", text);
        space.chip(point);
        where.holds(point, space.parameters(point));
      }
    }
  } catch (const sim::ChipError& error) {
    fuzz::require(
        std::string_view{error.what()}.starts_with("--set"), "another origin", error.what());
  } catch (const ConfigError& error) {
    fuzz::require(error.what()[0] != '\0', "an error without words", text);
  }
  return 0;
}
