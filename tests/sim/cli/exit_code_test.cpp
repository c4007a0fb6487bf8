/// Every verdict and its exit code, and what the command does with them.

#include "sim/cli/exit_code.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

#include "sim/cli/command.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::exit_code_test {
namespace {

using ::testing::HasSubstr;
using tests::SmallKernel;

Finding finding_of(Severity severity) {
  Finding finding;
  finding.info = find_diagnostic("DEADLOCK");
  finding.severity = severity;
  return finding;
}

TEST(ExitCodeTest, WhatIsWorseOutweighs) {
  constexpr ExitCode kOrder[] = {ExitCode::kClean,
                                 ExitCode::kIncomplete,
                                 ExitCode::kFinding,
                                 ExitCode::kDevice,
                                 ExitCode::kUsage,
                                 ExitCode::kInternal};
  for (std::size_t a = 0; a < std::size(kOrder); ++a) {
    for (std::size_t b = 0; b < std::size(kOrder); ++b) {
      EXPECT_EQ(worse(kOrder[a], kOrder[b]), kOrder[std::max(a, b)]);
    }
  }
}

TEST(ExitCodeTest, EveryVerdictHasItsCode) {
  struct Row {
    ProofVerdict verdict;
    ExitCode code;
  };
  for (const Row& row : {Row{ProofVerdict::kProved, ExitCode::kClean},
                         Row{ProofVerdict::kAccepted, ExitCode::kClean},
                         Row{ProofVerdict::kUnordered, ExitCode::kIncomplete},
                         Row{ProofVerdict::kUndecided, ExitCode::kIncomplete},
                         Row{ProofVerdict::kIncomplete, ExitCode::kIncomplete},
                         Row{ProofVerdict::kRefuted, ExitCode::kFinding}}) {
    ProofResult result;
    result.verdict = row.verdict;
    EXPECT_EQ(exit_of(result, false), row.code) << name_of(row.verdict);
    EXPECT_EQ(exit_of(result, true), row.code) << name_of(row.verdict);
    ParameterSet none{{}};
    EXPECT_EQ(exit_of(ChoiceProof{result, none, 1, 1, {}}, false), row.code);
    EXPECT_EQ(exit_of(ChoiceProof{result, none, 1, 2, {}}, false),
              worse(row.code, ExitCode::kIncomplete));
    // A warning counts with --strict alone, an internal error always.
    result.run.findings = {finding_of(Severity::kWarning)};
    EXPECT_EQ(exit_of(result, false), row.code);
    EXPECT_EQ(exit_of(result, true), ExitCode::kFinding);
    result.internal_error = true;
    EXPECT_EQ(exit_of(result, false), ExitCode::kInternal);
  }
}

TEST(ExitCodeTest, ATripCountThatIsRefutedIsAFindingAndOneNotShownIncomplete) {
  TripProof proof;
  EXPECT_EQ(exit_of(proof), ExitCode::kIncomplete);
  proof.failed.emplace();
  proof.failed->verdict = ProofVerdict::kUndecided;
  EXPECT_EQ(exit_of(proof), ExitCode::kIncomplete);
  proof.failed->verdict = ProofVerdict::kRefuted;
  EXPECT_EQ(exit_of(proof), ExitCode::kFinding);
  proof.failed->internal_error = true;
  EXPECT_EQ(exit_of(proof), ExitCode::kInternal);
  proof = TripProof{};
  proof.shown = true;
  EXPECT_EQ(exit_of(proof), ExitCode::kClean);
}

TEST(ExitCodeTest, ABoundIsIncompleteUnlessADefectCameBefore) {
  RunResult result;
  EXPECT_EQ(exit_of(result, false), ExitCode::kClean);
  result.end = Ending::kStepBound;
  EXPECT_EQ(exit_of(result, true), ExitCode::kIncomplete);
  result.findings = {finding_of(Severity::kWarning)};
  EXPECT_EQ(exit_of(result, false), ExitCode::kIncomplete);
  EXPECT_EQ(exit_of(result, true), ExitCode::kFinding);
  EXPECT_FALSE(result.shows_defect());
  result.findings = {finding_of(Severity::kError)};
  EXPECT_EQ(exit_of(result, false), ExitCode::kFinding);
  EXPECT_TRUE(result.shows_defect());
  result = {};
  result.end = Ending::kDeadlock;
  EXPECT_EQ(exit_of(result, false), ExitCode::kFinding);
}

// --- Through the command ------------------------------------------------------------------------

enum Text : std::int64_t {
  kRight,
  kOpenExpect,  // an expect-tx completes its phase: right, and refused by C4
  kTwoWriters,  // of a word that is waited for: the proof does not speak of it
  kStuck,       // nobody arrives
  kOddTrips,    // stuck at 30 trips alone
  kTexts
};

constexpr Parameter kParameters[] = {{"text", "of enum Text", 0, 0, kTexts - 1},
                                     {"trips", "of its loop", 2, 1, 4096, ""}};
constexpr Mbarrier kBarrier{{2048}};

void act(SimMachine& m, const ParameterSet& p, GlobalAddress words) {
  const std::int64_t text = p["text"];
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      m.mbarrier_init(kBarrier, 1);
      m.fence_mbarrier_init();
    });
    m.sync_warp();
  }
  m.cta_sync();
  if (text == kTwoWriters) {
    if (m.warp_index() == 0) {
      m.elect_one([&] { m.st_release_global_u32(words, 1); });
      m.elect_one([&] { m.ld_acquire_global_u32(words); });
    } else {
      m.elect_one([&] { m.st_release_global_u32(words, 2); });
    }
    return;
  }
  const std::uint32_t trips = p.u32("trips");
  for (std::uint32_t i = 0; i < trips; ++i) {
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        if (text == kOpenExpect) {
          m.mbarrier_complete_tx(kBarrier, 16);
        }
        m.mbarrier_arrive(kBarrier);
        if (text == kOpenExpect) {
          m.mbarrier_expect_tx(kBarrier, 16);
        }
      });
    }
    m.mbarrier_wait_parity(kBarrier, WaitPhase::number(i));
    m.sync_warp();
    m.cta_sync();
  }
  if (text == kStuck || (text == kOddTrips && trips == 30)) {
    m.mbarrier_wait_parity(kBarrier, WaitPhase::number(trips));
    m.sync_warp();
  }
}

struct Reply {
  ExitCode code;
  std::string out;
};

Reply call(Text text, std::vector<std::string> arguments) {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
  kernel.parameters = kParameters;
  kernel.body = act;
  arguments.insert(arguments.begin() + 1,
                   {"small_kernel", "--set", "text=" + std::to_string(text)});
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = run_command(arguments, {entry_of(kernel)}, out, err);
  return {code, out.str() + err.str()};
}

TEST(ExitCodeTest, ProveAndCheckExitAsTheirVerdictSays) {
  struct Row {
    Text text;
    ExitCode code;
    ExitCode strict;
    const char* says;
  };
  for (const Row& row :
       {Row{kRight, ExitCode::kClean, ExitCode::kClean, "proved: every interleaving"},
        Row{kOpenExpect, ExitCode::kIncomplete, ExitCode::kFinding, "an ordering is missing"},
        Row{kTwoWriters, ExitCode::kIncomplete, ExitCode::kIncomplete, "not decided"},
        Row{kStuck, ExitCode::kFinding, ExitCode::kFinding, "DEADLOCK"}}) {
    for (const char* command : {"prove", "check"}) {
      const Reply reply = call(row.text, {command});
      EXPECT_EQ(reply.code, row.code) << command << "\n" << reply.out;
      EXPECT_THAT(reply.out, HasSubstr(row.says));
      EXPECT_EQ(call(row.text, {command, "--strict"}).code, row.strict) << command;
    }
  }
  EXPECT_EQ(call(kRight, {"prove", "--max-steps", "20"}).code, ExitCode::kIncomplete);
  EXPECT_EQ(call(kRight, {"check", "--max-steps", "20"}).code, ExitCode::kIncomplete);
}

// Of the values of a choice the heaviest counts, wherever it stands; one that is open does not end
// the search.
TEST(ExitCodeTest, AChoiceHasTheHeaviestVerdictOfItsValues) {
  const auto proof_of = [](std::int64_t last) {
    const Parameter parameters[] = {{.name = "text",
                                     .summary = "of enum Text",
                                     .standard = kOpenExpect,
                                     .minimum = kRight,
                                     .maximum = last,
                                     .choice = true},
                                    kParameters[1]};
    SmallKernel kernel;
    kernel.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
    kernel.parameters = parameters;
    kernel.body = act;
    ProofOptions options;
    options.run.moves_data = false;
    const ChoiceProof proof =
        prove_choices(entry_of(kernel), ParameterSet{parameters}, {}, options);
    return std::pair{exit_of(proof, false), proof.at["text"]};
  };
  EXPECT_EQ(proof_of(kOpenExpect), (std::pair{ExitCode::kIncomplete, std::int64_t{kOpenExpect}}));
  EXPECT_EQ(proof_of(kTwoWriters), (std::pair{ExitCode::kIncomplete, std::int64_t{kTwoWriters}}));
  EXPECT_EQ(proof_of(kStuck), (std::pair{ExitCode::kFinding, std::int64_t{kStuck}}));
}

TEST(ExitCodeTest, ForAllIsInTheExitCode) {
  const Reply shown = call(kRight, {"prove", "--for-all", "trips"});
  EXPECT_EQ(shown.code, ExitCode::kClean) << shown.out;
  EXPECT_THAT(shown.out, HasSubstr("for every trips, if its loop is regular beyond"));
  const Reply refuted = call(kOddTrips, {"prove", "--for-all", "trips"});
  EXPECT_EQ(refuted.code, ExitCode::kFinding);
  EXPECT_THAT(refuted.out, HasSubstr("proved: every interleaving of this launch"));
  EXPECT_THAT(refuted.out, HasSubstr("at trips=30 it is refuted"));
  EXPECT_THAT(refuted.out, HasSubstr("replay   warptwin replay small_kernel"));
  EXPECT_EQ(call(kTwoWriters, {"prove", "--for-all", "trips"}).code, ExitCode::kIncomplete);
  EXPECT_EQ(call(kOddTrips, {"prove", "--for-all", "trips", "--json"}).code, ExitCode::kFinding);
}

}  // namespace
}  // namespace warptwin::sim::exit_code_test
