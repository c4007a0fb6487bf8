#include "sim/run/nearest.hpp"

#include <gtest/gtest.h>

namespace warptwin::sim::nearest_test {
namespace {

TEST(NearestTest, CountsLettersPutInTakenOutAndReplaced) {
  const std::vector<std::string_view> names{"gemm", "ring", "germ", "work_ring"};
  EXPECT_EQ(nearest("gem", names, 1), std::vector<std::string_view>{"gemm"});
  EXPECT_EQ(nearest("gerrm", names, 2), (std::vector<std::string_view>{"germ", "gemm"}));
  EXPECT_EQ(nearest("", names, 9).size(), 4U);
  EXPECT_EQ(nearest("x", {}, 3).size(), 0U);
}

TEST(NearestTest, SaysSo) {
  EXPECT_EQ(did_you_mean("rin", {"gemm", "ring"}), "; did you mean 'ring'?");
  EXPECT_EQ(did_you_mean("rin", {"gemm", "ring"}, 2), "; did you mean 'ring' or 'gemm'?");
  EXPECT_EQ(did_you_mean("rin", {}), "");
}

}  // namespace
}  // namespace warptwin::sim::nearest_test
