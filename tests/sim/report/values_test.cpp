#include "sim/report/values.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

namespace warptwin::sim::values_test {
namespace {

constexpr Agent kNobody{};

Object full(std::uint32_t stage) {
  return {ObjectKind::kMbarrier, "ring.full[" + std::to_string(stage) + "]", 3, 64 + 8 * stage, 8};
}

Agent load() {
  return {3, {5}, Role::kLoad};
}

Wait of_kind(WaitKind kind) {
  Wait wait;
  wait.kind = kind;
  return wait;
}

Wait for_full() {
  Wait wait = of_kind(WaitKind::kMbarrier);
  wait.object = full(1);
  wait.phase = 2;
  wait.wanted = 0;
  wait.barrier = BarrierStand{2, 0, 1, 4, 128, {}};
  return wait;
}

Finding deadlock(std::vector<Detail> details) {
  Finding finding;
  finding.info = &catalogue().front();
  finding.object = full(1);
  finding.agent = load();
  finding.site = {"/home/of/somebody/rings/ring.hpp", 12};
  finding.details = std::move(details);
  return finding;
}

Json only_detail(Detail detail) {
  const Json values = values_of(deadlock({std::move(detail)}));
  EXPECT_EQ(values["details"].size(), 1U);
  return values["details"][0];
}

Json wait_of(const Wait& wait) {
  Blocked blocked;
  blocked.wait = wait;
  return only_detail(blocked)["wait"];
}

TEST(ValuesTest, SayWhoWhatAndWhere) {
  Finding finding = deadlock({});
  finding.others = {{"ring.full[0] of cta 3", full(0)}};
  EXPECT_EQ(values_of(finding), Json::parse(R"({
    "object": {"kind": "mbarrier", "name": "ring.full[1]", "cta": 3, "address": 72, "bytes": 8},
    "agent": {"cta": 3, "warps": [5], "role": "load"},
    "site": {"file": "rings/ring.hpp", "line": 12},
    "details": [],
    "others": [
      {"kind": "mbarrier", "name": "ring.full[0]", "cta": 3, "address": 64, "bytes": 8}]})"));
}

TEST(ValuesTest, WhatIsNotKnownIsNull) {
  Finding finding;
  finding.info = &catalogue().front();
  EXPECT_EQ(values_of(finding), Json::parse(R"({
    "object": null, "agent": null, "site": null, "details": [], "others": []})"));
  finding.agent = {0, {1, 2}, Role::kCount};
  EXPECT_EQ(values_of(finding)["agent"],
            Json::parse(R"({"cta": 0, "warps": [1, 2], "role": null})"));
}

TEST(ValuesTest, ABlockedWarpSaysWhoOwesAndWhatWasLast) {
  Blocked blocked;
  blocked.agent = load();
  blocked.wait = for_full();
  blocked.site = {"rings/ring.hpp", 30};
  Owed by_a_warp{Role::kMma, ArrivalKind::kUmmaCommit, {}, false};
  by_a_warp.by = Owed::Supplier{{3, {1}, Role::kMma}, of_kind(WaitKind::kRuns)};
  blocked.owed = {by_a_warp, {Role::kLoad, ArrivalKind::kTmaBytes, {}, true}};
  blocked.last = LastChange{Op::kMbarrierArrive, load(), 1, true, 47, {"rings/ring.hpp", 9}};
  EXPECT_EQ(only_detail(blocked), Json::parse(R"({
    "fact": "blocked",
    "agent": {"cta": 3, "warps": [5], "role": "load"},
    "wait": {
      "kind": "mbarrier",
      "object": {"kind": "mbarrier", "name": "ring.full[1]", "cta": 3, "address": 72, "bytes": 8},
      "phase": 2,
      "parity": 0,
      "barrier": {
        "phase": 2, "parity": 0, "missing_arrivals": 1, "arrivals": 4, "missing_bytes": 128}},
    "site": {"file": "rings/ring.hpp", "line": 30},
    "owed": [
      {"role": "mma", "arrival": "tcgen05.commit",
       "by": {"agent": {"cta": 3, "warps": [1], "role": "mma"}, "wait": {"kind": "runs"}},
       "ended": false},
      {"role": "load", "arrival": "arrive.expect_tx and its copies' bytes",
       "by": null, "ended": true}],
    "last": {
      "operation": "mbarrier.arrive",
      "agent": {"cta": 3, "warps": [5], "role": "load"},
      "phase": 1, "completed": true, "step": 47,
      "site": {"file": "rings/ring.hpp", "line": 9}}})"));
}

TEST(ValuesTest, AnMbarrierOfWhichTheParityAloneIsKnown) {
  Wait wait = for_full();
  wait.phase.reset();
  wait.barrier = BarrierStand{{}, 1, 0, 4, -16, 3};
  EXPECT_EQ(wait_of(wait)["barrier"], Json::parse(R"({
    "parity": 1, "missing_arrivals": 0, "arrivals": 4, "missing_bytes": -16,
    "over_at_phase": 3})"));
  EXPECT_FALSE(wait_of(wait).contains("phase"));
}

TEST(ValuesTest, EachWaitHasItsNumbers) {
  Wait named = of_kind(WaitKind::kNamedBarrier);
  named.object = Object::named_barrier(2, 7);
  named.have = 64;
  named.wanted = 96;
  EXPECT_EQ(wait_of(named), Json::parse(R"({
    "kind": "named_barrier",
    "object": {"kind": "named_barrier", "name": "named barrier 7", "cta": 2, "id": 7},
    "have_come": 64, "threads": 96})"));

  Wait cluster = of_kind(WaitKind::kClusterBarrier);
  cluster.have = 3;
  EXPECT_EQ(wait_of(cluster), Json::parse(R"({"kind": "cluster_barrier", "have_come": 3})"));

  Wait columns = of_kind(WaitKind::kColumns);
  columns.wanted = 256;
  columns.holders = {{4, true}};
  EXPECT_EQ(wait_of(columns), Json::parse(R"({
    "kind": "columns", "columns": 256, "holders": [{"cta": 4, "may_allocate": true}]})"));

  Wait registers = of_kind(WaitKind::kRegisters);
  registers.have = 24;
  EXPECT_EQ(wait_of(registers), Json::parse(R"({"kind": "registers", "free_a_thread": 24})"));

  Wait word = of_kind(WaitKind::kGlobalWord);
  word.wanted = 2;
  word.have = 0;
  EXPECT_EQ(wait_of(word), Json::parse(R"({"kind": "global_word", "wanted": 2, "is": 0})"));

  Wait late = of_kind(WaitKind::kLateLanes);
  late.op = Op::kSyncWarp;
  EXPECT_EQ(wait_of(late), Json::parse(R"({"kind": "late_lanes", "operation": "bar.warp.sync"})"));

  EXPECT_EQ(wait_of(of_kind(WaitKind::kPeer)), Json::parse(R"({"kind": "peer"})"));
}

TEST(ValuesTest, EachFactHasItsName) {
  EXPECT_EQ(only_detail("a sentence"),
            Json::parse(R"({"fact": "said", "kind": "plain", "text": "a sentence"})"));
  EXPECT_EQ(only_detail(mend("a fence")),
            Json::parse(R"({"fact": "said", "kind": "missing", "text": "a fence"})"));
  EXPECT_EQ(only_detail(Polls{load(), Op::kMbarrierTryWait, {}}), Json::parse(R"({
    "fact": "polls", "agent": {"cta": 3, "warps": [5], "role": "load"},
    "operation": "mbarrier.try_wait", "site": null})"));
  EXPECT_EQ(only_detail(LeftOut{4, "more group", " of waiting warps"}), Json::parse(R"({
    "fact": "left_out", "count": 4, "what": "more group of waiting warps"})"));
  EXPECT_EQ(only_detail(NotBegun{8, 11, 4}), Json::parse(R"({
    "fact": "not_begun", "first_cta": 8, "last_cta": 11, "resident_ctas": 4})"));
  EXPECT_EQ(only_detail(RegistersHeld{4, Role::kMma, 232, 1}), Json::parse(R"({
    "fact": "registers_held", "warps": 4, "role": "mma", "registers": 232, "ended": 1})"));
  EXPECT_EQ(only_detail(Act{true, Op::kTcgen05Mma, kNobody, {"a/b.hpp", 3}}), Json::parse(R"({
    "fact": "second", "operation": "tcgen05.mma", "agent": null,
    "site": {"file": "a/b.hpp", "line": 3}})"));
}

}  // namespace
}  // namespace warptwin::sim::values_test
