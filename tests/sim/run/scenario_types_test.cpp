/// Forms of kernels that differ in types, fused functions and clusters, at shapes of their own.

#include <gtest/gtest.h>

#include "tests/support/shape.hpp"

namespace warptwin::sim::scenario_types_test {
namespace {

class TypeShapeTest : public ::testing::TestWithParam<Shape> {};

TEST_P(TypeShapeTest, IsCleanAndRightUnderEveryKindOfSchedule) {
  expect_clean_and_right(GetParam());
}

// Of each type: K that ends within a stage, half of a stage's K, boxes of D of every width.
INSTANTIATE_TEST_SUITE_P(
    GemmTypes,
    TypeShapeTest,
    ::testing::Values(
        Shape{"gemm_2sm_relu", "m=300 n=200 k=72 tile_n=48"},
        Shape{"gemm_2sm_relu", "m=200 n=50 k=72 tile_m=128 tile_n=32"},
        Shape{"gemm_fused", "m=129 n=100 k=144 tile_n=96 scale=16"},
        Shape{"gemm_fused", "m=300 n=257 k=144 tile_n=64 source=1 ctas=1"},
        Shape{"gemm_fused", "m=200 n=300 k=144 tile_n=128 source=2 source_stages=1 ctas=2"},
        Shape{"gemm_fused_persistent",
              "m=513 n=257 k=144 tile_n=96 cluster_n=2 source=0 source_stages=1 resident=1"},
        Shape{"gemm_fused_persistent", "m=600 n=300 k=144 source=2 clc_stages=1 resident=2"},
        Shape{"gemm_fused_clc", "m=300 n=257 k=144 tile_n=96 cluster_m=2 source=0 resident=1"},
        Shape{"gemm_fused_2sm", "m=513 n=257 k=144 tile_n=96 cluster_n=2 source=0 clusters=1"},
        Shape{"gemm_fused_2sm", "m=600 n=300 k=144 cluster_m=4 source=2 source_stages=1"},
        Shape{"gemm_fused_multicast", "m=300 n=257 k=144 tile_n=96 source=1 clusters=1"},
        Shape{"gemm_swiglu_clc_e4m3", "m=300 n=100 k=144 tile_n=64 cluster_n=2 resident=1"},
        Shape{"gemm_swiglu_clc_f16", "m=300 n=104 k=72 tile_n=64 cluster_n=2 resident=1"},
        Shape{"gemm_swiglu_f16", "m=300 n=104 k=72 tile_n=64 ctas=2"},
        Shape{"gemm_swiglu_persistent_f16", "m=300 n=104 k=72 tile_n=64 resident=1"},
        Shape{"gemm_swiglu_2sm_e4m3", "m=300 n=112 k=144 tile_n=64 clusters=1"},
        Shape{"gemm_swiglu_2sm_f16", "m=600 n=104 k=72 tile_n=64 cluster_m=4"},
        Shape{"gemm_grouped_f16", "m0=300 m1=64 m2=1 m3=0 n=104 k=72 tile_n=64 ctas=2"},
        Shape{"gemm_grouped_e4m3", "m0=129 m1=0 m2=1 m3=70 n=112 k=272 tile_n=96 ctas=1"},
        Shape{"gemm_grouped_e4m3", "m0=300 m2=0 k=144 n=64 cta_group=2 tile_m=256 tile_n=64"},
        Shape{"gemm_grouped_persistent_f16", "m0=300 m1=0 k=72 n=104 tile_n=64 resident=1"},
        Shape{"gemm_grouped_persistent_e4m3", "m0=300 m1=0 k=144 n=112 tile_n=64 resident=1"},
        Shape{"gemm_small_f16", "m=20 n=200 k=136 tile_m=64 tile_n=8 cluster_m=4 k_group=1"},
        Shape{"gemm_small_e4m3", "m=40 n=208 k=272 tile_n=32 swap_ab=0 clusters=1"},
        Shape{"gemm_small_e4m3",
              "m=20 n=200 k=528 tile_m=64 tile_n=8 k_group=4 stages=2 "
              "prefetch=2 clusters=1"},
        Shape{"gemm_small_clc",
              "m=40 n=200 k=136 tile_m=64 tile_n=8 cluster_m=2 k_group=1 resident=1"},
        Shape{"gemm_small_clc_f16", "m=300 n=104 k=72 swap_ab=0 resident=2"},
        Shape{"gemm_small_clc_e4m3",
              "m=70 n=400 k=1104 stages=2 prefetch=2 clc_stages=1 raster=1 swizzle=2 resident=1"},
        Shape{"gemm_grouped_1d1d",
              "m0=300 m1=0 n=104 k=288 cta_group=2 tile_m=256 tile_n=64 ctas=1"},
        Shape{"gemm_grouped_1d1d_persistent",
              "format=0 tile_k=128 m0=300 m1=0 n=104 k=288 tile_n=64 stages=2 resident=1"},
        Shape{"gemm_grouped_1d1d_persistent",
              "cta_group=1 tile_m=128 m0=130 m2=0 n=104 k=320 tile_n=64 work=11 resident=2"},
        Shape{"gemm_grouped_1d2d_persistent",
              "m0=300 m1=0 n=104 k=272 tile_n=32 stages=2 work=13 resident=1"},
        Shape{"gemm_grouped_1d2d_persistent",
              "cta_group=1 tile_m=128 cluster_n=2 m0=130 n=104 k=144 tile_n=32 work=5"},
        Shape{"gemm_split_k_f16", "m=300 n=200 k=264 tile_n=64 splits=3 ctas=4"},
        Shape{"gemm_split_k_2sm_f16", "m=300 n=200 k=264 tile_n=64 cluster_m=4"},
        Shape{"gemm_epilogue_load_2sm_f16", "m=300 n=264 k=72 tile_n=96 source=1 clusters=1"},
        Shape{"gemm_epilogue_load_2sm_e4m3", "m=300 n=264 k=144 tile_n=96 source=2"},
        Shape{"gemm_epilogue_load_clc_f16", "m=300 n=264 k=72 tile_n=96 source=1 resident=1"},
        Shape{"gemm_epilogue_load_clc_e4m3", "m=300 n=264 k=144 tile_n=96 resident=2"},
        Shape{"gemm_epilogue_load_persistent_f16", "m=300 n=264 k=72 tile_n=96 resident=1"},
        Shape{"gemm_epilogue_load_persistent_e4m3", "m=300 n=264 k=144 source=1 resident=1"},
        Shape{"gemm_f16", "m=129 n=100 k=72 tile_n=48"},
        Shape{"gemm_tf32", "m=129 n=100 k=36 tile_n=48 tile_k=16"},
        Shape{"gemm_tf32", "m=70 n=100 k=68 tile_m=64 tile_n=40"},
        Shape{"gemm_e4m3", "m=129 n=100 k=144 tile_n=16 tile_k=64"},
        Shape{"gemm_e5m2", "m=70 n=100 k=272 tile_m=64 tile_n=32"},
        Shape{"gemm_s8", "m=129 n=100 k=144 tile_n=16 tile_k=64"},
        Shape{"gemm_s8", "m=70 n=100 k=272 tile_m=64 tile_n=8"},
        Shape{"gemm_2sm_s8", "m=300 n=200 k=144 tile_n=96"},
        Shape{"gemm_clc_s8", "m=300 n=200 k=144 tile_n=64 cluster_m=2 resident=1"},
        Shape{"gemm_wgmma_s8", "m=129 n=208 k=144 tile_n=96"},
        Shape{"gemm_wgmma_s8", "m=129 n=104 k=272 tile_m=64 tile_n=32 tile_k=64"},
        Shape{"gemm_2sm_e4m3", "m=300 n=200 k=144 tile_n=96"},
        Shape{"gemm_2sm_e4m3", "m=200 n=200 k=144 tile_m=128 tile_n=64"},
        Shape{"gemm_2sm_tf32", "m=300 n=200 k=36 tile_n=48 cluster_n=2"},
        Shape{"gemm_persistent_tf32", "m=300 n=200 k=36 tile_m=128 tile_n=96 resident=1"},
        Shape{"gemm_clc_e5m2", "m=300 n=200 k=144 tile_n=64 cluster_m=2 resident=1"},
        Shape{"gemm_multicast_mn", "m=264 n=200 k=72 cluster_m=1 cluster_n=2 clusters=1"},
        Shape{"gemm_2sm_mn", "m=520 n=264 k=72 cluster_n=2"},
        Shape{"gemm_2sm_mn", "m=264 n=72 k=136 tile_n=128 tile_k=32 stages=3"},
        Shape{"gemm_clc_mn", "m=264 n=200 k=72 tile_n=64 resident=1"},
        Shape{"gemm_persistent_mn", "m=264 n=264 k=72 tile_n=128 cluster_m=2 resident=1"},
        Shape{"gemm_persistent_mn_b", "m=300 n=264 k=72 tile_n=128 resident=1"},
        Shape{"gemm_persistent_mn_e4m3", "m=272 n=272 k=144 resident=1"},
        Shape{"gemm_persistent_bf16_f32", "m=300 n=264 k=72 tile_n=96 resident=1"},
        Shape{"gemm_persistent_bf16_e4m3", "m=300 n=272 k=72 tile_n=96 resident=1"},
        Shape{"gemm_persistent_f16_f32", "m=200 n=264 k=72 tile_m=128 tile_n=64 resident=1"},
        Shape{"gemm_persistent_e4m3_e4m3", "m=200 n=272 k=144 tile_m=128 tile_n=64 resident=1"},
        Shape{"gemm_persistent_e4m3_f16", "m=300 n=264 k=144 tile_n=96 resident=1"},
        Shape{"gemm_persistent_e4m3_f32", "m=300 n=264 k=144 tile_n=96 resident=1"},
        Shape{"gemm_multicast_f16", "m=300 n=200 k=72 tile_n=80 cluster_m=1 cluster_n=2"},
        Shape{"gemm_split_k_e4m3", "m=300 n=200 k=528 tile_n=64 splits=3 ctas=4"},
        Shape{"gemm_swiglu_persistent_e4m3", "m=300 n=100 k=144 tile_n=64 resident=1"},
        Shape{"gemm_epilogue_load_f16", "m=129 n=257 k=72 tile_n=96 ctas=2"},
        Shape{"gemm_epilogue_load_e4m3", "m=129 n=257 k=144 tile_n=96 source=1"},
        Shape{"gemm_split_k_2sm_e4m3", "m=300 n=200 k=528 tile_n=64 cluster_m=4"},
        Shape{"gemm_swiglu_e4m3", "m=300 n=100 k=144 tile_n=64 ctas=2"},
        Shape{"gemm_wgmma_f16", "m=129 n=104 k=72 tile_n=48 cluster_m=2"},
        Shape{"gemm_wgmma_tf32", "m=129 n=100 k=36 tile_m=64 tile_n=80 tile_k=8"},
        Shape{"gemm_wgmma_e4m3", "m=129 n=112 k=144 tile_n=32 in_flight=0"},
        Shape{"gemm_wgmma_e4m3", "m=129 n=208 k=144 tile_n=96"},
        Shape{"gemm_wgmma_e5m2", "m=129 n=104 k=272 tile_n=96 tile_k=64"}));

}  // namespace
}  // namespace warptwin::sim::scenario_types_test
