// What a GPU wrote for every scalar instruction, against `lanes`.

#include "tests/sim/ptx/scalars/golden.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>

#include "tests/sim/ptx/scalars/compare.hpp"
#include "tests/sim/ptx/scalars/inputs.hpp"
#include "tests/sim/ptx/scalars/simulate.hpp"

namespace warptwin::ptx::golden_test {
namespace {

using namespace scalars;

TEST(PtxGolden, ScalarInstructionsComputeWhatAGpuComputes) {
  std::map<std::string, Specimen> by_key;
  for (Specimen& specimen : specimens()) {
    by_key.emplace(specimen.key, std::move(specimen));
  }
  const auto rows = read_golden(WARPTWIN_GOLDEN);
  EXPECT_GT(rows.size(), 1000U);
  for (const GoldenRow& row : rows) {
    const auto found = by_key.find(row.key);
    ASSERT_NE(found, by_key.end()) << row.key << " is measured no more; make the file again";
    const Specimen& specimen = found->second;
    const auto cases = inputs_of(specimen, row.results.size());
    ASSERT_EQ(hash_of(cases), row.inputs_hash)
        << row.key << " was measured on other inputs; make the file again";
    const auto computed = simulate(specimen, cases);
    for (std::size_t index = 0; index < cases.size(); ++index) {
      const Words& measured = row.results[index];
      ASSERT_EQ(measured.size(), specimen.results) << row.key;
      EXPECT_NE(compare(specimen, cases[index], measured, computed[index]), Verdict::kDiffers)
          << row.key << " of " << testing::PrintToString(cases[index]) << ": a GPU wrote "
          << testing::PrintToString(measured) << ", not "
          << testing::PrintToString(computed[index]);
    }
  }
}

}  // namespace
}  // namespace warptwin::ptx::golden_test
