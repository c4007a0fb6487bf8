#include "tests/oracle/random_program.hpp"

#include <gtest/gtest.h>

#include "sim/oracle/program_run.hpp"

namespace warptwin::sim::random_program_test {
namespace {

// The first fault of a run, in words.
class FaultSink : public EventSink {
 public:
  void on_event(const Event& event) override {
    if (event.fault != Fault::kNone && text.empty()) {
      text = std::string{name_of(event.op)} + " at line " + std::to_string(event.site.line) +
             ": fault " + std::to_string(static_cast<int>(event.fault));
    }
  }
  std::string text;
};

ScheduleSpec random_schedule(std::uint64_t seed) {
  ScheduleSpec spec;
  spec.strategy = Strategy::kRandom;
  spec.seed = seed;
  return spec;
}

class EachConstruct : public testing::TestWithParam<int> {};

TEST_P(EachConstruct, WithoutEditsEndsInEveryScheduleThatIsTried) {
  RandomProgramOptions options;
  options.only = static_cast<Construct>(GetParam());
  options.edits_max = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomProgram drawn = random_program(seed, options);
    if (!drawn.program.workload.maps.empty()) {
      continue;  // tensor maps are what a scenario's host makes: the test of verdicts runs these
    }
    for (std::uint64_t schedule = 0; schedule < 8; ++schedule) {
      FaultSink faults;
      const RunStats stats = run_program(drawn.program, random_schedule(schedule), &faults);
      EXPECT_EQ(stats.ending, Ending::kDone) << name_of(options.only) << " seed " << seed;
      EXPECT_EQ(faults.text, "") << name_of(options.only) << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RandomProgram,
                         EachConstruct,
                         testing::Range(0, static_cast<int>(Construct::kNothing)),
                         [](const auto& one) {
                           return name_of(static_cast<Construct>(one.param));
                         });

TEST(RandomProgram, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomProgram one = random_program(seed);
    const RandomProgram other = random_program(seed);
    ASSERT_EQ(one.program.warps.size(), other.program.warps.size());
    EXPECT_EQ(one.edits, other.edits);
    for (std::size_t i = 0; i < one.program.warps.size(); ++i) {
      EXPECT_EQ(one.program.warps[i].size(), other.program.warps[i].size());
    }
  }
}

TEST(RandomProgram, EditsBreakSomePrograms) {
  RandomProgramOptions options;
  options.unplanned = 0;
  std::uint32_t broken = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomProgram drawn = random_program(seed, options);
    FaultSink faults;
    const RunStats stats = run_program(drawn.program, random_schedule(seed), &faults);
    broken += stats.ending != Ending::kDone || !faults.text.empty() ? 1 : 0;
  }
  EXPECT_GT(broken, 20U);
  EXPECT_LT(broken, 180U);
}

}  // namespace
}  // namespace warptwin::sim::random_program_test
