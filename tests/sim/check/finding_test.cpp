/// Findings as values: their parts in words, and how many are kept.

#include "sim/check/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/check/detector.hpp"

namespace warptwin::sim::finding_test {
namespace {

using ::testing::ElementsAre;

TEST(FindingTest, AgentsAndObjectsHaveOneName) {
  EXPECT_EQ(text_of(Agent{}), "");
  EXPECT_EQ(text_of(Agent{0, {5}, Role::kLoad}), "cta 0 warp 5 (load)");
  EXPECT_EQ(text_of(Agent{3, {1, 2}, Role::kMma}), "cta 3 warps 1,2 (mma)");
  EXPECT_EQ(text_of(Agent{3, {1}, Role::kCount}), "cta 3 warp 1");
  EXPECT_EQ(text_of(Object{}), "");
  EXPECT_EQ(text_of(Object::cta_of(4)), "cta 4");
  EXPECT_EQ(text_of(Object::named_barrier(1, 3)), "named barrier 3 of cta 1");
  EXPECT_EQ(text_of(Object{ObjectKind::kSharedMemory, "a.tile[0]", 1, 2048, 16}),
            "a.tile[0] of cta 1 (16 bytes from shared+2048)");
  EXPECT_EQ(text_of(Object{ObjectKind::kSharedMemory, "a.tile[0]", 1, 2048}), "a.tile[0] of cta 1");
}

TEST(FindingTest, ABlockedWarpIsToldWithWhatItIsOwed) {
  Blocked blocked;
  blocked.agent = {0, {1}, Role::kConsumer};
  blocked.wait.kind = WaitKind::kMbarrier;
  blocked.wait.object = {ObjectKind::kMbarrier, "ring.full[0]", 0};
  blocked.wait.phase = 2;
  blocked.wait.barrier = BarrierStand{2, 0, 1, 2, -16, {}};
  blocked.site = {"one/two/ring.hpp", 7};
  Owed nobody;
  nobody.role = Role::kProducer;
  Owed somebody = nobody;
  somebody.by = {Agent{0, {0}, Role::kProducer}, {}};
  somebody.by->wait.kind = WaitKind::kRuns;
  blocked.owed = {nobody, somebody};
  blocked.last = LastChange{Op::kMbarrierArrive, {0, {0}, Role::kProducer}, 1, true, 9, {}};
  EXPECT_THAT(
      lines_of(blocked),
      ElementsAre(
          "blocked  cta 0 warp 1 (consumer)  waits for ring.full[0] of cta 0 phase 2 "
          "(parity 0): phase 2 lacks 1 arrival of 2, with 16 bytes too many delivered  "
          "[two/ring.hpp:7]",
          "owed     producer (arrive, one lane a warp): no one: the CTA has no such warp",
          "owed     producer (arrive, one lane a warp): cta 0 warp 0 (producer), which runs",
          "last     mbarrier.arrive by cta 0 warp 0 (producer) in phase 1, which it "
          "completed, step 9, no source line"));
}

// A barrier of a GPU: its parity is known, and of its phase at most that it is over.
TEST(FindingTest, AWordTellsNoPhase) {
  Wait wait;
  wait.kind = WaitKind::kMbarrier;
  wait.object = {ObjectKind::kMbarrier, "ring.full[0]", 0};
  wait.wanted = 1;
  wait.barrier = BarrierStand{{}, 1, 0, 2, -16, 4};
  EXPECT_EQ(
      text_of(wait),
      "waits for ring.full[0] of cta 0 (parity 1): a phase of parity 1 lacks nothing, with 16 "
      "bytes more than announced; it is phase 4: the one that is waited for is over");
}

TEST(FindingTest, WhatIsNotKeptIsCounted) {
  const LaunchConfig config;
  const Symbols symbols;
  const Naming naming{config, symbols};
  Reporter reporter{Rules{}, naming};
  const auto report = [&](std::uint32_t line) {
    Finding finding;
    finding.info = find_diagnostic("DEADLOCK");
    finding.site = {"ring.hpp", line};
    reporter.report(std::move(finding));
  };
  for (std::uint32_t line = 1; line <= kFindingsKept; ++line) {
    report(line);
  }
  report(1);  // known: counted with the one that is kept
  EXPECT_EQ(reporter.not_kept(), 0U);
  EXPECT_EQ(reporter.findings()[0].repeated, 1U);
  report(1000);
  report(1001);
  report(1001);
  EXPECT_EQ(reporter.findings().size(), kFindingsKept);
  EXPECT_EQ(reporter.not_kept(), 3U);
  EXPECT_EQ(reporter.errors(), kFindingsKept + 4);
}

}  // namespace
}  // namespace warptwin::sim::finding_test
