/// Each condition on its smallest protocols: one that breaks it, and one that does not.

#include "sim/prove/conditions.hpp"

#include <ostream>

#include <gtest/gtest.h>

#include "sim/prove/explore.hpp"

namespace warptwin::sim::conditions_test {
namespace {

struct Case {
  // How the test names it in its output.
  friend std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

  const char* name;
  Protocol broken;
  Condition condition;
  Protocol right;
};

ProtocolAgent agent(std::vector<ProtocolOp> ops) {
  return {std::move(ops), {}};
}

std::vector<Case> cases() {
  return {
      // Two arrivals of one agent that nothing holds to their phases: the other's may come between.
      {"ContributorTooEarly",
       {{{2}}, {agent({arrive_op(0), arrive_op(0)}), agent({arrive_op(0), arrive_op(0)})}},
       Condition::kContributorsInOrder,
       {{{2}},
        {agent({arrive_op(0), wait_op(0, 0), arrive_op(0)}),
         agent({arrive_op(0), wait_op(0, 0), arrive_op(0)})}}},
      // A reader that the producer does not wait for: it waits for somebody else.
      {"PassTooLate",
       {{{1}, {1}},
        {agent({arrive_op(0), wait_op(1, 0), arrive_op(0)}),
         agent({wait_op(0, 0)}),
         agent({arrive_op(1)})}},
       Condition::kPassBeforeNext,
       {{{1}, {1}},
        {agent({arrive_op(0), wait_op(1, 0), arrive_op(0)}),
         agent({wait_op(0, 0), arrive_op(1)})}}},
      // A wait for phase 1 by one who has not seen phase 0.
      {"LookTooEarly",
       {{{1}, {1}},
        {agent({arrive_op(0), wait_op(1, 0), arrive_op(0)}), agent({arrive_op(1), wait_op(0, 1)})}},
       Condition::kLookInTime,
       {{{1}, {1}},
        {agent({arrive_op(0), wait_op(1, 0), arrive_op(0)}),
         agent({wait_op(0, 0), arrive_op(1), wait_op(0, 1)})}}},
      // Bytes announced by one who does not arrive after it.
      {"BytesUnannounced",
       {{{1}},
        {agent({expect_op(0, 8)}),
         agent({arrive_op(0)}),
         agent({after_op(0, 0), complete_op(0, 8)})}},
       Condition::kBytesAnnounced,
       {{{1}},
        {agent({expect_op(0, 8), arrive_op(0)}), agent({after_op(0, 0), complete_op(0, 8)})}}},
  };
}

class ConditionTest : public ::testing::TestWithParam<Case> {};

TEST_P(ConditionTest, IsBrokenByOneAndHoldsForTheOther) {
  const Case& one = GetParam();
  const std::optional<CanonicalRun> run = run_once(one.broken);
  ASSERT_TRUE(run);
  const std::vector<Violation> violations = broken_conditions(one.broken, *run);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations.front().condition, one.condition) << name_of(violations.front().condition);
  EXPECT_EQ(explore(one.broken, *run).verdict, Explored::kWrong);

  const std::optional<CanonicalRun> right = run_once(one.right);
  ASSERT_TRUE(right);
  EXPECT_TRUE(broken_conditions(one.right, *right).empty());
  EXPECT_EQ(explore(one.right, *right).verdict, Explored::kRight);
}
INSTANTIATE_TEST_SUITE_P(Conditions,
                         ConditionTest,
                         ::testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string{one.param.name}; });

TEST(ConditionsTest, AWaitOnAnExactBarrierMayBeLateAndStillOrders) {
  // The second generation completes before the first waiter looks.
  const Protocol protocol{
      {{1, PhaseTest::kExact, {}}, {1}},
      {agent({arrive_op(0), arrive_op(0), wait_op(1, 0)}), agent({wait_op(0, 0), arrive_op(1)})}};
  const std::optional<CanonicalRun> run = run_once(protocol);
  ASSERT_TRUE(run);
  EXPECT_TRUE(broken_conditions(protocol, *run).empty());
}

TEST(ConditionsTest, AFlagThatIsPolledForOneValueMustNotMoveOn) {
  const Protocol moves_on{{{1, PhaseTest::kEqual, {}}},
                          {agent({wait_op(0, 0)}), agent({arrive_op(0), arrive_op(0)})}};
  // The reader comes first in the canonical order only by chance.
  const std::optional<CanonicalRun> run = run_once(moves_on);
  EXPECT_TRUE(!run || !broken_conditions(moves_on, *run).empty());
}

TEST(ConditionsTest, TheDigestForgetsShiftsAndNothingElse) {
  const auto after_laps = [](std::uint32_t laps, bool skip_last_pass) {
    Conditions conditions{2};
    conditions.add_barrier(1, PhaseTest::kParity);
    conditions.add_barrier(1, PhaseTest::kParity);
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    for (std::uint32_t lap = 0; lap < laps; ++lap) {
      const auto before = static_cast<std::int32_t>(lap) - 1;
      conditions.step(0, ++a);
      conditions.wait({0, a}, conditions.clock(0), 1, before);
      conditions.learn(conditions.clock(0), 1, before);
      conditions.step(0, ++a);
      conditions.contribute(
          {0, a}, conditions.clock(0), 0, lap, {ProtocolKind::kArrive, 1, 0, true});
      conditions.step(1, ++b);
      if (!skip_last_pass || lap + 1 != laps) {
        conditions.wait({1, b}, conditions.clock(1), 0, static_cast<std::int32_t>(lap));
        conditions.learn(conditions.clock(1), 0, static_cast<std::int32_t>(lap));
      }
      conditions.step(1, ++b);
      conditions.contribute(
          {1, b}, conditions.clock(1), 1, lap, {ProtocolKind::kArrive, 1, 0, true});
    }
    return conditions.digest({}, {});
  };
  EXPECT_EQ(after_laps(6, false), after_laps(9, false));
  EXPECT_NE(after_laps(1, false), after_laps(9, false));
  EXPECT_NE(after_laps(9, true), after_laps(9, false));
}

}  // namespace
}  // namespace warptwin::sim::conditions_test
