#include "sim/report/judged.hpp"

#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

namespace warptwin::sim::judged_test {
namespace {

Object mbarrier(const char* name, std::uint32_t cta) {
  return {ObjectKind::kMbarrier, name, cta};
}

Finding finding_at(std::uint32_t line) {
  Finding finding;
  finding.info = find_diagnostic("DEADLOCK");
  finding.object = mbarrier("ring.full[2]", 0);
  finding.agent = {0, {5}, Role::kLoad};
  finding.message = "2 warps wait";
  finding.site = {"/home/one/scenarios/ring.hpp", line};
  return finding;
}

TEST(JudgedTest, AFingerprintStaysWhereLinesAndNumbersChange) {
  const std::string first = fingerprint_of("ring", finding_at(12));
  EXPECT_EQ(first.size(), 16U);
  Finding other = finding_at(90);
  other.object = mbarrier("ring.full[13]", 7);
  other.agent = {7, {0}, Role::kLoad};
  other.message = "4 warps wait";
  other.site.file = "/elsewhere/scenarios/ring.hpp";
  EXPECT_EQ(fingerprint_of("ring", other), first);
}

TEST(JudgedTest, AFingerprintTellsWhatIsNotTheSameApart) {
  const std::string first = fingerprint_of("ring", finding_at(12));
  EXPECT_NE(fingerprint_of("gemm", finding_at(12)), first);
  Finding other = finding_at(12);
  other.object = mbarrier("ring.empty[2]", 0);
  EXPECT_NE(fingerprint_of("ring", other), first);
  other = finding_at(12);
  other.agent = {0, {5}, Role::kMma};
  EXPECT_NE(fingerprint_of("ring", other), first);
  other = finding_at(12);
  other.info = find_diagnostic("MBAR_UNINIT");
  EXPECT_NE(fingerprint_of("ring", other), first);
  other = finding_at(12);
  other.site.file = "/home/one/scenarios/gemm.hpp";
  EXPECT_NE(fingerprint_of("ring", other), first);
}

TEST(JudgedTest, EqualFingerprintsAreNumberedByLine) {
  Judged judged;
  for (const std::uint32_t line : {30U, 10U, 30U}) {
    JudgedFinding finding;
    finding.fingerprint = "a";
    finding.place = {"ring.hpp", line};
    judged.findings.push_back(finding);
  }
  EXPECT_EQ(numbers_of(judged), (std::vector<std::size_t>{2, 1, 2}));
}

TEST(JudgedTest, OnlyWhatFailsAndIsNotKnownIsFailing) {
  Judged judged;
  judged.findings.resize(3);
  judged.findings[1].fails = true;
  judged.findings[2].fails = true;
  judged.findings[2].known = Known::kBaseline;
  const std::vector<const JudgedFinding*> found = failing(judged);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], &judged.findings[1]);
}

}  // namespace
}  // namespace warptwin::sim::judged_test
