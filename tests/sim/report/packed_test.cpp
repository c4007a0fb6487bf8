#include "sim/report/packed.hpp"

#include <gtest/gtest.h>

namespace warptwin::sim::packed_test {
namespace {

TEST(PackedTest, WhatWasJudgedComesBackWithAnyBytes) {
  JudgedFinding finding;
  finding.id = "DEADLOCK";
  finding.message = "a\xff\n\x01 \xc3\xa9";
  finding.details = {"one", "two"};
  finding.place = {"rings/ring.hpp", 12};
  finding.fails = true;
  finding.known = Known::kBaseline;
  finding.steps = {{"cta 0 warp 1", "bar.sync", {"a.hpp", 3}, 7}};
  const Judged judged{"ring",
                      "stages=2",
                      ExitCode::kIncomplete,
                      false,
                      "undecided",
                      {finding},
                      {{"it polls", {"a.hpp", 3}}},
                      {{"0123", "MBAR_UNINIT", "bar", "a.hpp"}}};
  const Judged again = unpacked<Judged>(packed(judged));
  EXPECT_EQ(packed(again), packed(judged));
  ASSERT_EQ(again.findings.size(), 1U);
  EXPECT_EQ(again.findings[0].message, finding.message);
  EXPECT_EQ(again.findings[0].known, Known::kBaseline);
  EXPECT_EQ(again.findings[0].steps[0].number, 7U);
  EXPECT_EQ(again.open[0].place.line, 3U);
  EXPECT_EQ(again.gone[0].id, "MBAR_UNINIT");
  EXPECT_EQ(again.exit, ExitCode::kIncomplete);
  EXPECT_FALSE(again.right);
}

}  // namespace
}  // namespace warptwin::sim::packed_test
