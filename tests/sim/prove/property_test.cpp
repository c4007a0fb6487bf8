/// The proof against brute force, on random protocols: a short slice. The long run is the command
/// prove_fuzz.

#include <gtest/gtest.h>

#include "tests/support/cross_check.hpp"

namespace warptwin::sim::property_test {
namespace {

class PropertyTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(PropertyTest, TheProofAgreesWithTheSearch) {
  const auto shape = static_cast<ProtocolShape>(GetParam());
  Draw draw{100 + GetParam()};
  CrossCount count;
  std::string complaint;
  while (count.drawn < 6000) {
    cross_check(random_protocol(draw, shape, 3), count, [&](const std::string& text) {
      complaint = complaint.empty() ? text : complaint;
    });
  }
  EXPECT_TRUE(count.agrees()) << complaint;
  // Only programs that run test anything, and of these the wrong ones test soundness.
  EXPECT_GT(count.ran, count.drawn / 100);
  EXPECT_GT(count.wrong, count.ran / 50);
  EXPECT_GT(count.right, count.ran / 50);
}
INSTANTIATE_TEST_SUITE_P(Shapes,
                         PropertyTest,
                         ::testing::Range(0U, static_cast<unsigned>(ProtocolShape::kCount)),
                         [](const auto& shape) {
                           std::string name = name_of(static_cast<ProtocolShape>(shape.param));
                           name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
                           return name;
                         });

}  // namespace
}  // namespace warptwin::sim::property_test
