// Loops of a kernel's text round a try: that wait, that give up, that try first and wait then.

#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/proof/prove.hpp"

namespace warptwin::sim::tries_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using M = SimMachine;

constexpr Mbarrier kBar{{1024}};
constexpr SharedAddress kWord{2048};
constexpr WaitPhase kFirst = WaitPhase::number(0);
constexpr std::uint32_t kTwoOnOneLine = 1001;  // tries, each made once
constexpr std::uint32_t kTwoOnTwoLines = 1002;

constexpr Parameter kParameters[] = {
    {"most", "tries; 0: until the phase is there", 0, 0, kTwoOnTwoLines},
    {"then_waits", "behind them", 0, 0, 1}};
constexpr ScenarioInfo kInfo{"tries", ScenarioKind::kClean, "a word that a barrier hands over"};

// Warp 0 stores a word, and arrives; warp 1 tries, and reads it.
void run(M& m, std::uint32_t most, bool then_waits) {
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      m.mbarrier_init(kBar, 1);
      m.fence_mbarrier_init();
    });
    m.sync_warp();
  }
  m.cta_sync();
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      m.st_shared_u32(kWord, 7);
      m.mbarrier_arrive(kBar);
    });
    m.sync_warp();
    return;
  }
  if (most == kTwoOnOneLine) {
    const Mbarrier bar = kBar;
    const WaitPhase of = kFirst;
    std::ignore = m.mbarrier_try_wait_parity(bar, of) || m.mbarrier_try_wait_parity(bar, of);
  } else if (most == kTwoOnTwoLines) {
    if (!m.mbarrier_try_wait_parity(kBar, kFirst)) {
      m.mbarrier_try_wait_parity(kBar, kFirst);
    }
  } else {
    for (std::uint32_t i = 0; most == 0 || i < most; ++i) {
      if (m.mbarrier_try_wait_parity(kBar, kFirst)) {
        break;
      }
    }
  }
  if (then_waits) {
    m.mbarrier_wait_parity(kBar, kFirst);
  }
  m.sync_warp();
  m.ld_shared_u32(kWord);
}

ProofResult proof_of(std::int64_t most, std::int64_t then_waits) {
  ScenarioEntry entry{};
  entry.info = &kInfo;
  entry.parameters = kParameters;
  entry.workload = [](const ParameterSet&) { return Workload{}; };
  entry.symbols = [](const ParameterSet&) {
    Symbols symbols;
    symbols.bytes = 4096 - kSharedBase;
    symbols.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
    return symbols;
  };
  entry.body = [](const ParameterSet& p,
                  std::span<const SimTensorMap>,
                  std::span<const GlobalAddress>) -> WarpBody {
    return [most = p.u32("most"), waits = p["then_waits"] != 0](M& m) { run(m, most, waits); };
  };
  entry.reference = [](const ParameterSet&, std::span<HostTensor>) {};
  ParameterSet parameters{kParameters};
  parameters.set("most", most);
  parameters.set("then_waits", then_waits);
  ProofOptions options;
  options.run.moves_data = false;
  return prove(entry, parameters, options);
}

TEST(RepeatedTries, WaitUntilThePhaseIsThere) {
  const ProofResult result = proof_of(0, 0);
  EXPECT_EQ(result.verdict, ProofVerdict::kProved) << result.strength();
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_THAT(result.notes[0], HasSubstr("one of them with 64 refusals of a try that is repeated"));
}

// One try that says no is in the run that the proof is of; of several only one is.
TEST(RepeatedTries, ThatGiveUpAreNotProved) {
  EXPECT_EQ(proof_of(1, 0).verdict, ProofVerdict::kRefuted);
  for (const std::int64_t most : {2, 3, 50}) {
    const ProofResult result = proof_of(most, 0);
    EXPECT_EQ(result.verdict, ProofVerdict::kUndecided) << most;
    ASSERT_EQ(result.undecided.size(), 1U);
    EXPECT_THAT(result.undecided[0].reason, HasSubstr("gives up"));
  }
}

TEST(RepeatedTries, MayBeOneBeforeAWait) {
  const ProofResult result = proof_of(1, 1);
  EXPECT_EQ(result.verdict, ProofVerdict::kProved) << result.strength();
  EXPECT_THAT(result.undecided, IsEmpty());
}

// Wherever lines break, what the second one says is no repetition of what the first one said.
TEST(TwoTries, AreTwoInstructionsOnOneLineToo) {
  for (const std::uint32_t two : {kTwoOnOneLine, kTwoOnTwoLines}) {
    EXPECT_EQ(proof_of(two, 0).verdict, ProofVerdict::kRefuted);
    const ProofResult result = proof_of(two, 1);
    EXPECT_EQ(result.verdict, ProofVerdict::kUndecided) << result.strength();
    ASSERT_EQ(result.undecided.size(), 1U);
    EXPECT_THAT(result.undecided[0].reason, HasSubstr("depends on the answer of a try"));
  }
}

}  // namespace warptwin::sim::tries_test
