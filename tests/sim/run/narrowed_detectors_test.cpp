/// What detectors choose not to see makes no difference: beside each run, in its events, one set of
/// them that sees what it asks for and one that sees every event of its operations.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/program_entry.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim::narrowed_detectors_test {
namespace {

std::string text_of_all(const Finding& finding) {
  std::string text = std::string{finding.info->id} + " " + text_of(finding.object) + ": " +
                     finding.message + " at " + text_of(finding.site) + ", step " +
                     std::to_string(finding.step) + ", " + std::to_string(finding.repeated) +
                     " more";
  for (const std::string& line : lines_of(finding)) {
    text += "; " + line;
  }
  for (const auto& [name, object] : finding.others) {
    text += ", " + name;
  }
  return text;
}

// Two sets of detectors that see the same events.
class Both : public EventSink {
 public:
  Both(const Gpu& gpu, const Symbols& symbols)
      : gpu_{gpu}, narrow_{{}, gpu.config(), symbols}, whole_{{}, gpu.config(), symbols, true} {}
  void on_event(const Event& event) override {
    ++events_;
    narrow_.on_event(event);
    whole_.on_event(event);
  }
  // The machine is as the run has left it.
  void compare() {
    EXPECT_GT(events_, 0U);
    const auto said = [&](DetectorSet& detectors) {
      detectors.at_end(gpu_, Ending::kDone);
      std::vector<std::string> lines;
      for (const Finding& finding : detectors.take_findings()) {
        lines.push_back(text_of_all(finding));
      }
      return lines;
    };
    EXPECT_THAT(said(narrow_), ::testing::ElementsAreArray(said(whole_)));
    EXPECT_EQ(narrow_.not_kept(), whole_.not_kept());
    EXPECT_EQ(narrow_.choices().size(), whole_.choices().size());
  }

 private:
  const Gpu& gpu_;
  DetectorSet narrow_;
  DetectorSet whole_;
  std::uint64_t events_ = 0;
};

void compare(const ScenarioEntry& scenario, const ScheduleSpec& schedule) {
  const ParameterSet parameters{scenario.parameters};
  const Symbols symbols = scenario.launch(parameters).symbols;
  std::optional<Both> both;
  RunOptions options;
  options.detect = false;
  options.moves_data = false;
  options.schedule = schedule;
  options.on_machine = [&](Gpu& gpu) {
    both.emplace(gpu, symbols);
    gpu.set_sink(&*both);
  };
  options.at_end = [&](GlobalMemory&, std::span<const GlobalAddress>) { both->compare(); };
  simulate(scenario, parameters, options);
}

std::vector<ScheduleSpec> schedules() {
  ScheduleSpec random;
  random.strategy = Strategy::kRandom;
  random.seed = 3;
  return {{}, random};
}

TEST(NarrowedDetectors, SayWhatOthersSayOfEveryScenario) {
  std::size_t compared = 0;
  for (const ScenarioEntry& scenario : scenario_list()) {
    SCOPED_TRACE(scenario.info->name);
    for (const ScheduleSpec& schedule : schedules()) {
      compare(scenario, schedule);
    }
    ++compared;
  }
  EXPECT_GT(compared, 200U);
}

TEST(NarrowedDetectors, SayWhatOthersSayOfEveryProgram) {
  std::size_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator{WARPTWIN_TESTS "/programs"}) {
    if (file.path().extension() != ".txt" || file.path().stem() == "table") {
      continue;
    }
    SCOPED_TRACE(file.path().string());
    const ScenarioEntry scenario = entry_of_file(file.path().string());
    for (const ScheduleSpec& schedule : schedules()) {
      compare(scenario, schedule);
    }
    ++compared;
  }
  EXPECT_GT(compared, 100U);
}

}  // namespace
}  // namespace warptwin::sim::narrowed_detectors_test
