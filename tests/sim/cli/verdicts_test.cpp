/// What the command says and exits with, for each verdict.

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/command.hpp"
#include "sim/verdict/verdict.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::verdicts_test {
namespace {

using ::testing::HasSubstr;
using tests::SmallKernel;

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

TEST(CommandVerdictTest, ProveAndCheckExitAsTheirVerdictSays) {
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
TEST(CommandVerdictTest, AChoiceHasTheHeaviestVerdictOfItsValues) {
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
    Verdict verdict;
    verdict.add(part_of(proof.result, false));
    verdict.add(scope_of(proof));
    return std::pair{verdict.code(), proof.at["text"]};
  };
  EXPECT_EQ(proof_of(kOpenExpect), (std::pair{ExitCode::kIncomplete, std::int64_t{kOpenExpect}}));
  EXPECT_EQ(proof_of(kTwoWriters), (std::pair{ExitCode::kIncomplete, std::int64_t{kTwoWriters}}));
  EXPECT_EQ(proof_of(kStuck), (std::pair{ExitCode::kFinding, std::int64_t{kStuck}}));
}

TEST(CommandVerdictTest, ForAllIsInTheExitCode) {
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
}  // namespace warptwin::sim::verdicts_test
