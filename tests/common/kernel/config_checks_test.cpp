#include "common/kernel/config_checks.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/gemm.hpp"
#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_2sm_e4m3.hpp"
#include "scenarios/gemm_blockwise_fp8.hpp"
#include "scenarios/gemm_epilogue_load.hpp"
#include "scenarios/gemm_small.hpp"
#include "scenarios/gemm_split_k.hpp"
#include "scenarios/gemm_tf32.hpp"
#include "scenarios/gemm_wgmma_tf32.hpp"

namespace warptwin::config_checks_test {
namespace {

using scenarios::Gemm;
using scenarios::Gemm2sm;
using scenarios::GemmBlockwiseFp8;
using scenarios::GemmEpilogueLoad;
using scenarios::GemmSmall;
using scenarios::GemmSplitK;

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
  EXPECT_NE(refusal("tile_n", 24).find("use tile_n=32"), std::string::npos);
  EXPECT_NE(refusal("tile_n", 250).find("use tile_n=256"), std::string::npos);
  EXPECT_NE(refusal("tile_n", 8).find("use tile_n=16"), std::string::npos);
  EXPECT_NE(refusal("tile_m", 80).find("use tile_m=64"), std::string::npos);
  EXPECT_EQ(refusal("tile_m", 64), "");
  EXPECT_NE(refusal<GemmEpilogueLoad>("tile_m", 64).find("use tile_m=128"), std::string::npos);
  EXPECT_NE(refusal<GemmSplitK>("tile_m", 64).find("use tile_m=128"), std::string::npos);
  EXPECT_NE(refusal("tile_k", 48).find("16, 32 or 64"), std::string::npos);
}

TEST(GemmTypesConfig, AStageIsInBytesAndABoxIsWholeUnitsOfTma) {
  EXPECT_EQ(refusal<scenarios::GemmTf32>("tile_k", 8), "");
  EXPECT_NE(refusal<scenarios::GemmTf32>("tile_k", 24).find("8, 16 or 32"), std::string::npos);
  EXPECT_NE(refusal<scenarios::GemmWgmmaTf32>("tile_k", 24).find("8, 16 or 32"), std::string::npos);
  EXPECT_NE(refusal<scenarios::GemmTf32>("k", 1001).find("use 1004"), std::string::npos);
  EXPECT_EQ(refusal<scenarios::Gemm2smE4m3>("tile_n", 48), "");
  ParameterSet parameters{scenarios::Gemm2smE4m3::parameters()};
  parameters.set("tile_m", 128);  // two boxes of 8 bytes side by side
  parameters.set("tile_n", 16);
  EXPECT_THROW(scenarios::Gemm2smE4m3::workload(parameters), ConfigError);
}

// Of bytes a box at the right has 16 columns, of all others eight.
TEST(GemmWgmmaConfig, ABoxAtTheRightIsSixteenBytesOrMore) {
  using Bytes =
      scenarios::GemmWgmmaOf<scenarios::StoredByWarps<scenarios::GemmPartsOf<bf16, f8e4m3>>>;
  using Words =
      scenarios::GemmWgmmaOf<scenarios::StoredByWarps<scenarios::GemmPartsOf<bf16, bf16>>>;
  EXPECT_EQ(refusal<Bytes>("tile_n", 128), "");
  EXPECT_EQ(refusal<Bytes>("tile_n", 144), "");
  EXPECT_EQ(refusal<Words>("tile_n", 136), "");
  EXPECT_NE(refusal<Bytes>("tile_n", 136).find("16 columns or more"), std::string::npos);
}

TEST(GemmSmallConfig, TheWeightsFetchedAheadFitTheRing) {
  EXPECT_EQ(refusal<GemmSmall>("prefetch", 4), "");
  EXPECT_NE(refusal<GemmSmall>("prefetch", 5).find("use prefetch<=4"), std::string::npos);
  EXPECT_NE(refusal<GemmSmall>("k_group", 3).find("use k_group=2 or 4"), std::string::npos);
}

TEST(GemmBlockwiseFp8Config, TheSumsFitTheRegisters) {
  EXPECT_EQ(refusal<GemmBlockwiseFp8>("tile_n", 128), "");
  EXPECT_NE(refusal<GemmBlockwiseFp8>("tile_n", 144).find("use tile_n<=128"), std::string::npos);
}

TEST(Gemm2smConfig, AnMmaOfAPairIsTwiceAsHigh) {
  EXPECT_EQ(refusal<Gemm2sm>("tile_n", 16), "");
  EXPECT_NE(refusal<Gemm2sm>("tile_n", 24).find("multiple of 16"), std::string::npos);
  EXPECT_EQ(refusal<Gemm2sm>("tile_m", 128), "");
  EXPECT_NE(refusal<Gemm2sm>("tile_m", 192).find("use tile_m=256"), std::string::npos);
  EXPECT_NE(refusal<Gemm2sm>("tile_m", 64).find("128 or 256"), std::string::npos);
}

TEST(Gemm2smConfig, ClustersAreMadeOfPairsAndTheirSlicesOfWholeRows) {
  EXPECT_EQ(refusal<Gemm2sm>("cluster_m", 16), "");
  EXPECT_EQ(refusal<Gemm2sm>("cluster_n", 8), "");
  EXPECT_NE(refusal<Gemm2sm>("cluster_m", 3).find("use cluster_m=4"), std::string::npos);
  EXPECT_NE(refusal<Gemm2sm>("cluster_m", 12).find("use cluster_m=8, or"), std::string::npos);
}

// B's 16 rows: 128 bytes each, TMA's alignment, or 64.
TEST(GemmSmallConfig, ASliceBeginsWhereTmaCanWrite) {
  EXPECT_EQ(refusal<GemmSmall>("cluster_m", 16), "");
  EXPECT_NE(refusal<GemmSmall>("cluster_m", 3).find("must be whole rows; use cluster_m=2"),
            std::string::npos);
  ParameterSet narrow{GemmSmall::parameters()};
  narrow.set("tile_k", 32);
  narrow.set("cluster_m", 8);
  EXPECT_NO_THROW(GemmSmall::workload(narrow));
  narrow.set("cluster_m", 16);
  try {
    GemmSmall::workload(narrow);
    ADD_FAILURE() << "a slice of 64 bytes";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("multiples of 2 rows of 64 bytes"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("use cluster_m=8, or"));
  }
}

}  // namespace
}  // namespace warptwin::config_checks_test
