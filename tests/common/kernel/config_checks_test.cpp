#include "common/kernel/config_checks.hpp"

#include <string>

#include <gtest/gtest.h>

#include "scenarios/gemm.hpp"

namespace warptwin {
namespace {

using scenarios::Gemm;

std::string refusal(const char* name, std::int64_t value) {
  ParameterSet parameters{Gemm::parameters()};
  parameters.set(name, value);
  try {
    Gemm::workload(parameters);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(GemmConfig, TheLastDepthThatFitsIsAcceptedAndTheNextRefusedByName) {
  EXPECT_EQ(refusal("stages", 6), "");
  EXPECT_NE(refusal("stages", 7).find("use stages<=6"), std::string::npos);
}

TEST(GemmConfig, AccumulatorsFitTensorMemory) {
  EXPECT_EQ(refusal("accum_stages", 4), "");
  EXPECT_NE(refusal("accum_stages", 5).find("use accum_stages<=4"), std::string::npos);
}

TEST(GemmConfig, RowsAreWholeUnitsOfTma) {
  EXPECT_EQ(refusal("k", 1000), "");
  EXPECT_NE(refusal("k", 1001).find("use 1008"), std::string::npos);
}

TEST(GemmConfig, ShapesExist) {
  EXPECT_EQ(refusal("tile_n", 16), "");
  EXPECT_EQ(refusal("tile_n", 240), "");
  EXPECT_NE(refusal("tile_n", 24).find("multiple of 16"), std::string::npos);
  EXPECT_NE(refusal("tile_m", 64).find("use tile_m=128"), std::string::npos);
  EXPECT_NE(refusal("tile_k", 48).find("16, 32 or 64"), std::string::npos);
}

}  // namespace
}  // namespace warptwin
