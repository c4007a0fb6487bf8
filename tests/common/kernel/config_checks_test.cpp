#include "common/kernel/config_checks.hpp"

#include <string>

#include <gtest/gtest.h>

#include "scenarios/gemm.hpp"
#include "scenarios/gemm_2sm.hpp"

namespace warptwin {
namespace {

using scenarios::Gemm;
using scenarios::Gemm2sm;

template <class Scenario = Gemm>
std::string refusal(const char* name, std::int64_t value) {
  ParameterSet parameters{Scenario::parameters()};
  parameters.set(name, value);
  try {
    Scenario::workload(parameters);
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

TEST(Gemm2smConfig, AnMmaOfAPairIsTwiceAsHigh) {
  EXPECT_EQ(refusal<Gemm2sm>("tile_n", 16), "");
  EXPECT_NE(refusal<Gemm2sm>("tile_n", 24).find("multiple of 16"), std::string::npos);
  EXPECT_NE(refusal<Gemm2sm>("tile_m", 128).find("use tile_m=256"), std::string::npos);
  EXPECT_NE(refusal<Gemm2sm>("tile_m", 64).find("128 or 256"), std::string::npos);
}

TEST(Gemm2smConfig, ClustersAreMadeOfPairsAndTheirSlicesOfWholeSwizzlePatterns) {
  EXPECT_EQ(refusal<Gemm2sm>("cluster_m", 16), "");
  EXPECT_EQ(refusal<Gemm2sm>("cluster_n", 8), "");
  EXPECT_NE(refusal<Gemm2sm>("cluster_m", 3).find("use an even cluster_m"), std::string::npos);
  EXPECT_NE(refusal<Gemm2sm>("cluster_m", 12).find("multiples of 8 rows"), std::string::npos);
}

}  // namespace
}  // namespace warptwin
