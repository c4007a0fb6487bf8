/// The claim for every trip count names what it rests on, and is held to further trip counts.

#include "sim/run/proof/trip_counts.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/proof/regular_runs.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::trip_counts_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::SmallKernel;

constexpr Parameter kParameters[] = {
    {"trips", "of the loop", 4, 1, 100'000, ""},
    {"few", "the same with a small range", 4, 1, 5, ""},
    {"odd", "the trip count at which it does something else", 0, 0, 100'000},
    {"fault", "1: that is a fault, else it is harmless", 0, 0, 1},
};

constexpr Mbarrier kFull{{2048}};
constexpr Mbarrier kEmpty{{2056}};
constexpr Mbarrier kOther{{2064}};

// One hands over, the other gives back, `trips` times; at `odd` trips something else happens.
void ping_pong(SimMachine& m, const ParameterSet& p, const char* parameter) {
  const std::uint32_t trips = p.u32(parameter);
  const bool odd = trips == p.u32("odd");
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      m.mbarrier_init(kFull, 1);
      m.mbarrier_init(kEmpty, 1);
      m.mbarrier_init(kOther, 1);
      m.fence_mbarrier_init();
    });
    m.sync_warp();
  }
  m.cta_sync();
  for (std::uint32_t i = 0; i < trips; ++i) {
    if (m.warp_index() == 0) {
      m.elect_one([&] { m.mbarrier_arrive(kFull); });
      m.mbarrier_wait_parity(kEmpty, WaitPhase::number(i));
      m.sync_warp();
    } else {
      m.mbarrier_wait_parity(kFull, WaitPhase::number(i));
      m.sync_warp();
      m.elect_one([&] { m.mbarrier_arrive(kEmpty); });
    }
  }
  if (odd && m.warp_index() == 1) {
    m.elect_one([&] { m.mbarrier_arrive(p["fault"] == 1 ? kFull : kOther); });
  }
  if (odd && p["fault"] == 1 && m.warp_index() == 0) {
    m.mbarrier_wait_parity(kEmpty, WaitPhase::number(trips));  // nobody arrives
    m.sync_warp();
  }
}

SmallKernel kernel(const char* parameter = "trips") {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
  kernel.parameters = kParameters;
  kernel.body = [parameter](SimMachine& m, const ParameterSet& p, GlobalAddress) {
    ping_pong(m, p, parameter);
  };
  return kernel;
}

TripProof proof_of(const SmallKernel& small, std::int64_t odd, bool fault, const char* parameter) {
  ParameterSet parameters{kParameters};
  parameters.set("odd", odd);
  parameters.set("fault", fault ? 1 : 0);
  ProofOptions options;
  options.run.moves_data = false;
  return prove_trips(entry_of(small), parameters, parameter, options);
}

TEST(TripCountsTest, TheClaimNamesItsHypothesisAndWhereItWasCompared) {
  const TripProof proof = proof_of(kernel(), 0, false, "trips");
  ASSERT_TRUE(proof.shown) << proof.strength();
  EXPECT_TRUE(std::is_sorted(proof.compared.begin(), proof.compared.end()));
  for (const std::uint32_t count : {30U, 63U, 64U, 65U, 127U, 128U, 129U, 255U, 1024U}) {
    EXPECT_THAT(proof.compared, Contains(count));
  }
  EXPECT_THAT(proof.strength(), HasSubstr("if its loop is regular beyond"));
  EXPECT_THAT(proof.strength(), HasSubstr("127 to 129"));
}

TEST(TripCountsTest, AFaultAtOneTripCountAloneRefutes) {
  for (const std::int64_t odd : {30, 64, 129, 1023}) {
    const TripProof proof = proof_of(kernel(), odd, true, "trips");
    EXPECT_FALSE(proof.shown);
    ASSERT_TRUE(proof.failed);
    EXPECT_EQ(proof.failed->verdict, ProofVerdict::kRefuted);
    EXPECT_THAT(proof.strength(), HasSubstr("at trips=" + std::to_string(odd) + " it is refuted"));
  }
}

TEST(TripCountsTest, WorkAtOneTripCountAloneIsNotRegular) {
  const TripProof proof = proof_of(kernel(), 40, false, "trips");
  EXPECT_FALSE(proof.shown);
  EXPECT_FALSE(proof.failed);
  EXPECT_THAT(proof.strength(), HasSubstr("the run of 40 trips is another than that predicts"));
}

TEST(TripCountsTest, ATripCountThatWasNotComparedIsNotInTheClaim) {
  const TripProof proof = proof_of(kernel(), 777, true, "trips");
  EXPECT_TRUE(proof.shown);
  EXPECT_THAT(proof.compared, Not(Contains(777U)));
  EXPECT_THAT(proof.strength(), HasSubstr("if its loop is regular"));
}

TEST(TripCountsTest, ARangeThatWasProvedToItsEndNeedsNoHypothesis) {
  const TripProof proof = proof_of(kernel("few"), 0, false, "few");
  EXPECT_TRUE(proof.shown);
  EXPECT_EQ(proof.period, 0U);
  EXPECT_THAT(proof.strength(), HasSubstr("1 to 5 trips proved one by one; its range has no more"));
  EXPECT_FALSE(proof_of(kernel("few"), 5, true, "few").shown);
}

// Streams of a loop whose trip is `body` between marks of state 1.
RunOrder::Stream loop_of(std::uint32_t trips, const std::vector<std::uint64_t>& body) {
  RunOrder::Stream stream;
  stream.steps = {7};
  for (std::uint32_t i = 0; i < trips; ++i) {
    stream.marks.push_back(static_cast<std::uint32_t>(stream.steps.size()));
    stream.steps.push_back(1);
    stream.steps.insert(stream.steps.end(), body.begin(), body.end());
  }
  stream.marks.push_back(static_cast<std::uint32_t>(stream.steps.size()));
  stream.steps.insert(stream.steps.end(), {1, 9});
  return stream;
}

TEST(RegularRunsTest, PredictsLargerRunsAndNothingElse) {
  RegularRuns runs;
  bool regular = false;
  for (std::uint32_t size = 1; size <= 3; ++size) {
    regular = runs.add({loop_of(size, {4, 5})});
  }
  ASSERT_TRUE(regular);
  EXPECT_EQ(runs.period(), 1U);
  EXPECT_TRUE(runs.predicts({loop_of(50, {4, 5})}, 50));
  EXPECT_FALSE(runs.predicts({loop_of(49, {4, 5})}, 50));
  EXPECT_FALSE(runs.predicts({loop_of(50, {4, 6})}, 50));
  RunOrder::Stream one_more = loop_of(50, {4, 5});
  one_more.steps.push_back(3);
  EXPECT_FALSE(runs.predicts({one_more}, 50));
  EXPECT_FALSE(runs.predicts({}, 50));
  // Further groups do what a group did.
  EXPECT_TRUE(runs.predicts({loop_of(50, {4, 5}), loop_of(3, {4, 5})}, 50));
  EXPECT_FALSE(runs.predicts({loop_of(50, {4, 5}), loop_of(3, {8})}, 50));
}

}  // namespace
}  // namespace warptwin::sim::trip_counts_test
