#include "sim/prove/explore.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace warptwin::sim::explore_test {
namespace {

ProtocolAgent agent(std::vector<ProtocolOp> ops) {
  return {std::move(ops), {}};
}

// A ring of one stage whose consumer waits, and frees it.
Protocol ring(std::int32_t trips, bool producer_waits) {
  Protocol protocol{{{1}, {1}}, {agent({}), agent({})}};
  for (std::int32_t trip = 0; trip < trips; ++trip) {
    if (producer_waits) {
      protocol.agents[0].ops.push_back(wait_op(1, trip - 1));
    }
    protocol.agents[0].ops.push_back(arrive_op(0));
    protocol.agents[1].ops.push_back(wait_op(0, trip));
    protocol.agents[1].ops.push_back(arrive_op(1));
  }
  return protocol;
}

ExploreResult search(const Protocol& protocol, const ExploreOptions& options = {}) {
  const std::optional<CanonicalRun> run = run_once(protocol);
  EXPECT_TRUE(run);
  return run ? explore(protocol, *run, options) : ExploreResult{};
}

TEST(ExploreTest, ARightRingIsRightWithAndWithoutReduction) {
  ExploreOptions full;
  full.reduce = full.symmetry = false;
  const ExploreResult reduced = search(ring(4, true));
  const ExploreResult all = search(ring(4, true), full);
  EXPECT_EQ(reduced.verdict, Explored::kRight);
  EXPECT_EQ(all.verdict, Explored::kRight);
  EXPECT_LE(reduced.states, all.states);
  // With one stage the two strictly take turns: one state more than operations.
  EXPECT_EQ(all.states, 17U);
}

TEST(ExploreTest, TheWitnessLeadsToWhatIsClaimed) {
  // The producer waits for somebody, but not for its reader, who is then lapped.
  const Protocol protocol{{{1}, {1}},
                          {agent({arrive_op(0), wait_op(1, 0), arrive_op(0)}),
                           agent({wait_op(0, 0)}),
                           agent({arrive_op(1)})}};
  const ExploreResult result = search(protocol);
  ASSERT_EQ(result.verdict, Explored::kWrong);
  EXPECT_EQ(result.what, "deadlock: nobody can go on");
  // Everything but the reader's wait.
  std::vector<std::uint32_t> agents;
  for (const auto& [who, index] : result.path) {
    agents.push_back(who);
  }
  EXPECT_EQ(agents.size(), 4U);
  EXPECT_EQ(std::count(agents.begin(), agents.end(), 1U), 0);
}

TEST(ExploreTest, AnEarlyPassIsFound) {
  // Agent 1 may look for phase 1 while phase 0 is still open.
  const Protocol protocol{
      {{1}, {1}},
      {agent({arrive_op(0), wait_op(1, 0), arrive_op(0)}), agent({arrive_op(1), wait_op(0, 1)})}};
  const ExploreResult result = search(protocol);
  ASSERT_EQ(result.verdict, Explored::kWrong);
  EXPECT_EQ(result.what, "a wait for phase 1 passes in phase 0");
}

TEST(ExploreTest, ABoundThatIsHitIsIncomplete) {
  ExploreOptions bounded;
  bounded.reduce = false;
  bounded.states_max = 5;
  const ExploreResult result = search(ring(4, true), bounded);
  EXPECT_EQ(result.verdict, Explored::kIncomplete);
  EXPECT_FALSE(result.what.empty());
}

TEST(ExploreTest, AgentsThatDoTheSameAreInterchangeable) {
  Protocol protocol{{{4}}, {}};
  for (int i = 0; i < 4; ++i) {
    protocol.agents.push_back(agent({arrive_op(0), wait_op(0, 0)}));
  }
  ExploreOptions plain;
  plain.reduce = plain.symmetry = false;
  ExploreOptions folded = plain;
  folded.symmetry = true;
  const ExploreResult all = search(protocol, plain);
  const ExploreResult one = search(protocol, folded);
  EXPECT_EQ(all.verdict, Explored::kRight);
  EXPECT_EQ(one.verdict, Explored::kRight);
  // 16 sets of arrived agents and 15 more of passed ones; by numbers alone, 5 and 4.
  EXPECT_EQ(all.states, 31U);
  EXPECT_EQ(one.states, 9U);
}

TEST(ExploreTest, AWitnessAmongInterchangeableAgentsCanBeFollowed) {
  // A producer who waits for three readers, but not for the fourth, who is then lapped.
  Protocol protocol{{{1}, {3}}, {agent({})}};
  for (std::int32_t trip = 0; trip < 3; ++trip) {
    protocol.agents[0].ops.push_back(wait_op(1, trip - 1));
    protocol.agents[0].ops.push_back(arrive_op(0));
  }
  for (int reader = 0; reader < 3; ++reader) {
    protocol.agents.push_back(agent({}));
    for (std::int32_t trip = 0; trip < 3; ++trip) {
      protocol.agents.back().ops.push_back(wait_op(0, trip));
      protocol.agents.back().ops.push_back(arrive_op(1));
    }
  }
  protocol.agents.push_back(agent({wait_op(0, 0), wait_op(0, 1), wait_op(0, 2)}));
  const ExploreResult result = search(protocol);
  ASSERT_EQ(result.verdict, Explored::kWrong);
  // Each agent's operations in order, and each wait after the arrivals that it waits for.
  std::vector<std::uint32_t> next(protocol.agents.size(), 0);
  std::vector<std::uint32_t> arrivals(protocol.barriers.size(), 0);
  for (std::size_t i = 0; i < result.path.size(); ++i) {
    const auto [who, index] = result.path[i];
    ASSERT_LT(who, next.size());
    ASSERT_EQ(index, next[who]++);
    const ProtocolOp& op = protocol.agents[who].ops.at(index);
    const std::uint32_t phase = arrivals[op.barrier] / protocol.barriers[op.barrier].count;
    if (op.arrives()) {
      ++arrivals[op.barrier];
    } else {
      EXPECT_NE(phase & 1, static_cast<std::uint32_t>(op.phase) & 1) << i;
    }
  }
  EXPECT_EQ(search(protocol).path, result.path);
}

TEST(ExploreTest, AProtocolTooLargeForItsKeysIsRefusedNotGuessed) {
  Protocol protocol{{{1}}, {}};
  for (int i = 0; i < 600; ++i) {
    protocol.agents.push_back(agent({wait_op(0, -1)}));
  }
  const ExploreResult result = search(protocol);
  EXPECT_EQ(result.verdict, Explored::kIncomplete);
  EXPECT_NE(result.what.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace warptwin::sim::explore_test
