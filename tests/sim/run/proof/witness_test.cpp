/// Witnesses of small programs: what sampling finds, the search finds; none ends in an internal
/// error.

#include "sim/run/proof/witness.hpp"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/program/text.hpp"
#include "sim/report/proof.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/proof/prove.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::witness_test {
namespace {

using tests::SmallKernel;

enum class Does {
  kArrive,
  kExpect,
  kArm,      // arrive.expect_tx
  kCopy,     // bytes to the barrier
  kArmCopy,  // both
  kWait,     // for phase `number`
  kCtaSync,
  kCommit,  // with nothing to wait for
};

struct Step {
  Does does;
  std::uint32_t barrier = 0;
  std::uint32_t number = 0;  // bytes, or a phase
};

struct Text {
  const char* name;
  std::vector<std::uint32_t> counts;
  std::vector<std::vector<Step>> warps;
  bool meets = true;  // all warps, at the end
};

std::ostream& operator<<(std::ostream& out, const Text& text) {
  return out << text.name;
}

void act(SimMachine& m, const Text& text, GlobalAddress source) {
  const auto barrier = [](std::uint32_t number) { return Mbarrier{{2048 + 8 * number}}; };
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      for (std::uint32_t i = 0; i < text.counts.size(); ++i) {
        m.mbarrier_init(barrier(i), text.counts[i]);
      }
      m.fence_mbarrier_init();
    });
    m.sync_warp();
  }
  m.cta_sync();
  std::uint32_t place = 4096 + 1024 * m.warp_index();
  for (const Step& step : text.warps[m.warp_index()]) {
    const Mbarrier bar = barrier(step.barrier);
    if (step.does == Does::kWait) {
      m.mbarrier_wait_parity(bar, WaitPhase::number(step.number));
      m.sync_warp();
    } else if (step.does == Does::kCtaSync) {
      m.cta_sync();
    } else {
      m.elect_one([&] {
        if (step.does == Does::kArrive) {
          m.mbarrier_arrive(bar);
        } else if (step.does == Does::kExpect) {
          m.mbarrier_expect_tx(bar, step.number);
        } else if (step.does == Does::kCommit) {
          m.tcgen05_commit(CtaGroup::kOne, bar);
        }
        if (step.does == Does::kArm || step.does == Does::kArmCopy) {
          m.mbarrier_arrive_expect_tx(bar, step.number);
        }
        if (step.does == Does::kCopy || step.does == Does::kArmCopy) {
          m.cp_async_bulk_load({place}, source, step.number, CopyTarget{bar});
          place += 64;
        }
      });
    }
  }
  if (text.meets) {
    m.cta_sync();
  }
}

ScenarioEntry entry_of(const Text& text) {
  SmallKernel kernel;
  kernel.roles = {{Role::kConsumer, static_cast<std::uint32_t>(text.warps.size())}};
  kernel.body = [text](SimMachine& m, const ParameterSet&, GlobalAddress words) {
    act(m, text, words);
  };
  return tests::entry_of(kernel);
}

ProofResult proof_of(const Text& text) {
  ProofOptions options;
  options.run.moves_data = false;
  return prove(entry_of(text), ParameterSet{{}}, options);
}

std::string name_of_case(const ::testing::TestParamInfo<Text>& info) {
  return info.param.name;
}

class WitnessTest : public ::testing::TestWithParam<Text> {};

// Wrong in some schedule that sampling finds.
TEST_P(WitnessTest, IsRefutedByAScheduleThatShowsIt) {
  const ScenarioEntry entry = entry_of(GetParam());
  const ParameterSet none{{}};
  const ProofResult result = proof_of(GetParam());
  ASSERT_EQ(result.verdict, ProofVerdict::kRefuted) << text_of(result, entry, none);
  EXPECT_FALSE(result.internal_error);
  ASSERT_TRUE(result.run.clean(false)) << "the search has nothing to find";
  for (const Refutation& refutation : result.refutations) {
    EXPECT_EQ(refutation.witness.internal_error, "");
    if (refutation.witness.confirmed) {
      RunOptions replay;
      replay.moves_data = false;
      replay.schedule = ScheduleSpec::parse(refutation.witness.schedule.to_string());
      EXPECT_TRUE(simulate(entry, none, replay).shows_defect());
    }
  }
  CheckOptions sampled;
  sampled.run.moves_data = false;
  sampled.random = sampled.pct = 300;
  EXPECT_GT(check(entry, none, sampled).failing, 0U) << "the program is not wrong";
}

using D = Does;

INSTANTIATE_TEST_SUITE_P(
    Programs,
    WitnessTest,
    ::testing::Values(
        // An arrival too many traps only while the copy of the phase before is late.
        Text{"ArrivalWhileACopyIsLate", {1}, {{{D::kArrive}}, {{D::kArmCopy, 0, 32}}}},
        // The phase completes without its expect by another copy's bytes; that it did shows only
        // if a copy is late to the end.
        Text{"ExpectAndACopyOfAnother",
             {2},
             {{{D::kCopy, 0, 32}, {D::kExpect, 0, 32}},
              {{D::kArrive}, {D::kCtaSync}, {D::kWait, 0, 0}},
              {{D::kArmCopy, 0, 32}}}},
        Text{"ExpectOfAWarpOfItsOwn",
             {2},
             {{{D::kWait, 0, 0}},
              {{D::kArmCopy, 0, 32}, {D::kCopy, 0, 16}, {D::kArm, 0, 16}, {D::kCopy, 0, 16}},
              {{D::kExpect, 0, 16}}}},
        Text{"TwoExpectsThatAreLate",
             {1},
             {{{D::kArmCopy, 0, 32}, {D::kWait, 0, 0}},
              {{D::kCopy, 0, 32}, {D::kExpect, 0, 16}, {D::kExpect, 0, 16}}},
             false},
        Text{"CommitOfNothing",
             {2},
             {{{D::kExpect, 0, 16}},
              {{D::kCommit}, {D::kWait, 0, 0}},
              {{D::kCopy, 0, 16}, {D::kArmCopy, 0, 16}}}},
        // An earlier try cannot be executed, a later one shows the defect.
        Text{"ExitIsAnArrival",
             {1},
             {{{D::kCtaSync}, {D::kArrive}},
              {{D::kCtaSync}, {D::kExpect, 0, 32}},
              {{D::kCtaSync}, {D::kWait, 0, 0}},
              {}},
             false},
        // The conditions before make the schedule of the last one impossible.
        Text{"OneConditionAfterAnother",
             {1},
             {{{D::kWait, 0, 0}}, {{D::kExpect, 0, 16}}, {{D::kCopy, 0, 16}, {D::kArrive}}},
             false}),
    name_of_case);

class ExitTest : public ::testing::TestWithParam<Text> {};

// A bar.sync of the whole CTA that a warp completes which has ended before, or ends then.
TEST_P(ExitTest, OrdersWhatComesAfter) {
  const ProofResult result = proof_of(GetParam());
  EXPECT_FALSE(result.internal_error);
  EXPECT_EQ(result.verdict, ProofVerdict::kProved)
      << text_of(result, entry_of(GetParam()), ParameterSet{{}});
}

INSTANTIATE_TEST_SUITE_P(
    Programs,
    ExitTest,
    ::testing::Values(Text{"ArrivesAfterTheExit",
                           {1},
                           {{{D::kCtaSync}, {D::kArrive}}, {{D::kArrive}, {D::kWait, 0, 0}}},
                           false},
                      Text{
                          "BothOnTheirWay",
                          {1, 1},
                          {{{D::kArmCopy, 0, 32}, {D::kWait, 0, 0}, {D::kCtaSync}, {D::kArrive, 1}},
                           {{D::kWait, 0, 0}, {D::kArrive, 1}, {D::kWait, 1, 0}}},
                          false}),
    name_of_case);

// The right twins: the arrival after the phase before, the bytes announced with the arrival.
TEST(WitnessTwinTest, RightOnesAreProved) {
  for (const Text& text :
       {Text{"ordered",
             {1},
             {{{D::kArrive}, {D::kCtaSync}},
              {{D::kWait, 0, 0}, {D::kCtaSync}, {D::kArmCopy, 0, 32}, {D::kWait, 0, 1}}}},
        Text{"announced",
             {2},
             {{{D::kExpect, 0, 32},
               {D::kArrive},
               {D::kCopy, 0, 32},
               {D::kCtaSync},
               {D::kWait, 0, 0}},
              {{D::kArmCopy, 0, 32}, {D::kCtaSync}}}}}) {
    const ProofResult result = proof_of(text);
    EXPECT_EQ(result.verdict, ProofVerdict::kProved)
        << text << "\n"
        << text_of(result, entry_of(text), ParameterSet{{}});
  }
}

// What is suppressed is not an internal error either.
TEST(WitnessTwinTest, AnAcceptedConditionIsNoInternalError) {
  const Text text{"late", {1}, {{{D::kArrive}}, {{D::kArmCopy, 0, 32}}}};
  ProofOptions options;
  options.run.moves_data = false;
  options.accepts = [](const Finding&) { return true; };
  const ProofResult result = prove(entry_of(text), ParameterSet{{}}, options);
  EXPECT_EQ(result.verdict, ProofVerdict::kAccepted);
  EXPECT_FALSE(result.internal_error);
}

// A warp reads what nobody has written, whatever the order. Which of two arrivals comes first is
// open: of itself that does no harm.
std::string unwritten_word_and(const std::string& third_arrival) {
  return R"(program unwritten_word
warps 3
barriers bar 2
tile word 1 x 16 align 16

warp 0:
  elect mbarrier.init [bar[0]], 2
  elect mbarrier.init [bar[1]], 1
  bar.sync 0
  elect ld.shared r1, [word[0]]
  elect mbarrier.arrive [bar[1]], 1

warp 1:
  bar.sync 0
  elect mbarrier.arrive [bar[1]], 1

warp 2:
  bar.sync 0
)" + third_arrival;
}

std::vector<std::string> shown_by(const std::string& text) {
  const ScenarioEntry entry =
      sim::entry_of(std::make_shared<const Program>(parse_program(text, "p.txt")));
  ProofOptions options;
  options.run.moves_data = false;
  const ProofResult result = prove(entry, ParameterSet{entry.parameters}, options);
  EXPECT_EQ(result.verdict, ProofVerdict::kRefuted);
  EXPECT_FALSE(result.internal_error);
  std::vector<std::string> ids;
  for (const Finding& finding : result.run.findings) {
    if (finding.severity >= Severity::kError) {
      ids.emplace_back(finding.info->id);
    }
  }
  for (const Refutation& refutation : result.refutations) {
    ids.emplace_back(refutation.finding.info->id);
    for (const Finding& finding : refutation.witness.run.findings) {
      EXPECT_STRNE(finding.info->id, "SMEM_UNINIT_READ");
    }
  }
  return ids;
}

TEST(WitnessKnownTest, ADefectOfEveryOrderShowsNoCondition) {
  EXPECT_THAT(shown_by(unwritten_word_and("")), ::testing::ElementsAre("SMEM_UNINIT_READ"));
}

TEST(WitnessKnownTest, AConditionBesideItIsShownByWhatItDoes) {
  EXPECT_THAT(shown_by(unwritten_word_and("  mbarrier.wait [bar[1]], phase 0\n")),
              ::testing::Contains("ORDER_PASS"));
}

}  // namespace
}  // namespace warptwin::sim::witness_test
