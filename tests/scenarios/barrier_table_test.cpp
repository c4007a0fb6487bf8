#include "tests/support/barrier_table.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/attention.hpp"
#include "scenarios/attention_2sm.hpp"
#include "scenarios/attention_clc.hpp"
#include "scenarios/attention_persistent.hpp"
#include "scenarios/conv2d_fprop.hpp"
#include "scenarios/conv2d_fprop_2sm.hpp"
#include "scenarios/conv2d_fprop_clc.hpp"
#include "scenarios/conv2d_fprop_persistent.hpp"
#include "scenarios/conv2d_im2col.hpp"
#include "scenarios/gemm.hpp"
#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_2sm_unaligned.hpp"
#include "scenarios/gemm_block_scaled.hpp"
#include "scenarios/gemm_block_scaled_persistent.hpp"
#include "scenarios/gemm_block_scaled_warpgroups.hpp"
#include "scenarios/gemm_blockwise_fp8.hpp"
#include "scenarios/gemm_blockwise_fp8_persistent.hpp"
#include "scenarios/gemm_clc.hpp"
#include "scenarios/gemm_epilogue_load.hpp"
#include "scenarios/gemm_epilogue_load_2sm.hpp"
#include "scenarios/gemm_epilogue_load_clc.hpp"
#include "scenarios/gemm_epilogue_load_multicast.hpp"
#include "scenarios/gemm_epilogue_load_persistent.hpp"
#include "scenarios/gemm_grouped.hpp"
#include "scenarios/gemm_grouped_1d1d.hpp"
#include "scenarios/gemm_grouped_1d1d_persistent.hpp"
#include "scenarios/gemm_grouped_1d2d.hpp"
#include "scenarios/gemm_grouped_1d2d_persistent.hpp"
#include "scenarios/gemm_grouped_maps.hpp"
#include "scenarios/gemm_grouped_maps_persistent.hpp"
#include "scenarios/gemm_grouped_persistent.hpp"
#include "scenarios/gemm_mixed_input_persistent.hpp"
#include "scenarios/gemm_multicast.hpp"
#include "scenarios/gemm_multicast_preferred.hpp"
#include "scenarios/gemm_persistent.hpp"
#include "scenarios/gemm_serial.hpp"
#include "scenarios/gemm_small.hpp"
#include "scenarios/gemm_small_clc.hpp"
#include "scenarios/gemm_sparse_persistent.hpp"
#include "scenarios/gemm_split_k.hpp"
#include "scenarios/gemm_split_k_2sm.hpp"
#include "scenarios/gemm_stream_k.hpp"
#include "scenarios/gemm_swiglu.hpp"
#include "scenarios/gemm_swiglu_2sm.hpp"
#include "scenarios/gemm_swiglu_clc.hpp"
#include "scenarios/gemm_swiglu_multicast.hpp"
#include "scenarios/gemm_swiglu_persistent.hpp"
#include "scenarios/gemm_unaligned.hpp"
#include "scenarios/gemm_wgmma.hpp"
#include "scenarios/gemm_wgmma_pingpong.hpp"
#include "scenarios/gemm_wgmma_serial.hpp"
#include "scenarios/gemm_wgmma_sparse.hpp"
#include "scenarios/gemm_wgmma_unaligned.hpp"
#include "scenarios/mainloop.hpp"
#include "scenarios/mainloop_wgmma.hpp"
#include "scenarios/multicast_ring.hpp"
#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios::barrier_table_test {
namespace {

template <class Storage, class Extents>
void expect_table_is_true(const std::string& path, const Extents& extents) {
  tests::ContractLayout layout;
  const Storage storage{layout, extents};
  static_cast<void>(storage);
  auto rows = tests::barrier_table(WARPTWIN_SOURCE_DIR "/" + path);
  EXPECT_EQ(rows.size(), layout.contracts.size());
  for (const auto& [name, contract] : layout.contracts) {
    SCOPED_TRACE(name);
    EXPECT_EQ(rows[name].arrivals, contract.arrivals());
    EXPECT_EQ(rows[name].role, name_of(contract.contributors[0].role));
    EXPECT_THAT(rows[name].how, testing::StartsWith(tests::wording(contract.contributors[0].kind)));
    EXPECT_EQ(rows[name].counts_bytes, contract.bytes != 0);
  }
}

TEST(BarrierTable, OfAttention) {
  expect_table_is_true<AttentionStorage<AttentionExtents<>>>("scenarios/attention.hpp",
                                                             AttentionExtents<>{128, 3, 1, 1});
}

TEST(BarrierTable, OfAttentionClc) {
  using Extents = AttentionClc::Extents;
  expect_table_is_true<AttentionClcStorage<Extents>>("scenarios/attention_clc.hpp",
                                                     Extents{{128, 3, 1, 1}, 2});
}

TEST(BarrierTable, OfAttention2sm) {
  using Extents = Attention2sm::Extents;
  expect_table_is_true<AttentionStorage<Extents>>("scenarios/attention_2sm.hpp",
                                                  Extents{128, 3, 1, 2});
}

TEST(BarrierTable, OfAttentionPersistent) {
  using Extents = AttentionPersistent::Extents;
  expect_table_is_true<AttentionClcStorage<Extents>>("scenarios/attention_persistent.hpp",
                                                     Extents{{128, 3, 1, 2}, 2});
}

TEST(BarrierTable, OfGemm) {
  expect_table_is_true<GemmStorage<GemmExtents<>>>("scenarios/gemm.hpp",
                                                   GemmExtents<>{128, 128, 64, 4, 2});
}

TEST(BarrierTable, OfGemm2sm) {
  expect_table_is_true<Gemm2smStorage<Gemm2smExtents<>>>(
      "scenarios/gemm_2sm.hpp", Gemm2smExtents<>{{256, 256, 64, 4, 2}, 2, 1});
}

TEST(BarrierTable, OfGemmMulticast) {
  using Extents = GemmMulticast::Extents;
  expect_table_is_true<Gemm2smStorage<Extents>>("scenarios/gemm_multicast.hpp",
                                                Extents{{128, 256, 64, 4, 2}, 2, 1});
}

TEST(BarrierTable, OfGemmUnaligned) {
  using Extents = decltype(GemmUnaligned::extents(ParameterSet{GemmUnaligned::parameters()}));
  expect_table_is_true<Gemm2smStorage<Extents, Unaligned<GemmParts>>>(
      "scenarios/gemm_unaligned.hpp", Extents{{{128, 256, 64, 4, 2}, 1, 1}, 8});
}

TEST(BarrierTable, OfGemm2smUnaligned) {
  using Extents = decltype(Gemm2smUnaligned::extents(ParameterSet{Gemm2smUnaligned::parameters()}));
  expect_table_is_true<Gemm2smStorage<Extents, Unaligned<GemmParts>>>(
      "scenarios/gemm_2sm_unaligned.hpp", Extents{{{256, 256, 64, 4, 2}, 2, 1}, 8});
}

TEST(BarrierTable, OfGemmMulticastPreferred) {
  using Extents = GemmMulticastPreferred::Extents;
  expect_table_is_true<GemmPreferredStorage<Extents, GemmParts>>(
      "scenarios/gemm_multicast_preferred.hpp", Extents{{{128, 256, 64, 4, 2}, 2, 2}, 2, 1});
}

TEST(BarrierTable, OfGemmGroupedMapsPersistent) {
  using Extents = GemmGroupedMapsPersistent::Extents;
  expect_table_is_true<GemmGroupedMapsPersistent::Storage<Extents>>(
      "scenarios/gemm_grouped_maps_persistent.hpp", Extents{{{{256, 128, 64, 4, 2}, 2}, 2, 1}, 2});
}

TEST(BarrierTable, OfGemmClc) {
  using Extents = GemmClc::Extents;
  expect_table_is_true<GemmPersistentStorage<Extents>>("scenarios/gemm_clc.hpp",
                                                       Extents{{{128, 256, 64, 4, 2}, 1, 1}, 2});
}

TEST(BarrierTable, OfGemmBlockScaled) {
  using Extents = GemmBlockScaled::Extents;
  expect_table_is_true<GemmBlockScaledStorage<Extents>>("scenarios/gemm_block_scaled.hpp",
                                                        Extents{{0, 128, 128, 128, 4, 2}, 1, 1, 1});
}

TEST(BarrierTable, OfGemmBlockScaledPersistent) {
  using Extents = GemmBlockScaledPersistent::Extents;
  expect_table_is_true<ClaimingStorage<Extents, GemmBlockScaledStorage<Extents>>>(
      "scenarios/gemm_block_scaled_persistent.hpp",
      Extents{{{2, 256, 128, 256, 6, 2}, 2, 2, 1}, 2});
}

TEST(BarrierTable, OfGemmBlockwiseFp8) {
  expect_table_is_true<GemmBlockwiseFp8Storage<GemmBlockwiseFp8Extents<>>>(
      "scenarios/gemm_blockwise_fp8.hpp", GemmBlockwiseFp8Extents<>{{128, 64, 128, 4, 2}, 1, 1, 1});
}

TEST(BarrierTable, OfGemmBlockwiseFp8Persistent) {
  using Extents = GemmBlockwiseFp8Persistent::Extents;
  expect_table_is_true<ClaimingStorage<Extents, GemmBlockwiseFp8Storage<Extents>>>(
      "scenarios/gemm_blockwise_fp8_persistent.hpp", Extents{{{256, 64, 128, 4, 2}, 2, 2, 1}, 2});
}

TEST(BarrierTable, OfGemmGrouped1d1d) {
  using Extents = GemmGrouped1d1dExtents<>;
  expect_table_is_true<GemmGrouped1d1dStorage<Extents>>(
      "scenarios/gemm_grouped_1d1d.hpp", Extents{{{0, 128, 32, 128, 4, 2}, 1, 1, 1}});
}

TEST(BarrierTable, OfGemmGrouped1d2d) {
  expect_table_is_true<GemmBlockwiseFp8Storage<GemmBlockwiseFp8Extents<>>>(
      "scenarios/gemm_grouped_1d2d.hpp", GemmBlockwiseFp8Extents<>{{128, 64, 128, 4, 2}, 1, 1, 1});
}

TEST(BarrierTable, OfGemmGrouped1d1dPersistent) {
  using Extents = GemmGrouped1d1dPersistent::Extents;
  expect_table_is_true<Claiming1d1dStorage<Extents>>(
      "scenarios/gemm_grouped_1d1d_persistent.hpp",
      Extents{{{{2, 256, 128, 256, 6, 2}, 2, 2, 1}}, 2});
}

TEST(BarrierTable, OfGemmGrouped1d2dPersistent) {
  using Extents = GemmGrouped1d2dPersistent::Extents;
  expect_table_is_true<ClaimingStorage<Extents, GemmBlockwiseFp8Storage<Extents>>>(
      "scenarios/gemm_grouped_1d2d_persistent.hpp", Extents{{{256, 64, 128, 4, 2}, 2, 2, 1}, 2});
}

TEST(BarrierTable, OfGemmSmallClc) {
  using Extents = GemmSmallClc::Extents;
  expect_table_is_true<ClaimingStorage<Extents, GemmSmallStorage<Extents>>>(
      "scenarios/gemm_small_clc.hpp", Extents{{{128, 16, 64, 4, 2}, 2, 1, 4, 1, 1}, 2});
}

TEST(BarrierTable, OfGemmEpilogueLoad) {
  using Extents = GemmEpilogueLoad::DynamicExtents;
  for (const std::uint32_t source : {0U, 1U, 2U}) {
    SCOPED_TRACE(source);
    expect_table_is_true<GemmEpilogueLoadStorage<Extents>>(
        "scenarios/gemm_epilogue_load.hpp", Extents{{128, 128, 64, 4, 2}, 2, source});
  }
}

TEST(BarrierTable, OfGemmEpilogueLoad2sm) {
  using Scenario = GemmEpilogueLoad2sm;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_epilogue_load_2sm.hpp",
                                          Scenario::Extents{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0});
}

TEST(BarrierTable, OfGemmEpilogueLoadMulticast) {
  using Scenario = GemmEpilogueLoadMulticast;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_epilogue_load_multicast.hpp",
                                          Scenario::Extents{{{128, 128, 64, 4, 2}, 2, 1}, 2, 0});
}

TEST(BarrierTable, OfGemmEpilogueLoadPersistent) {
  using Scenario = GemmEpilogueLoadPersistent;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/gemm_epilogue_load_persistent.hpp",
      Scenario::Extents{{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0}, 2});
}

TEST(BarrierTable, OfGemmEpilogueLoadClc) {
  using Scenario = GemmEpilogueLoadClc;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/gemm_epilogue_load_clc.hpp",
      Scenario::Extents{{{{128, 128, 64, 4, 2}, 1, 1}, 2, 0}, 2});
}

TEST(BarrierTable, OfGemmSplitK) {
  expect_table_is_true<GemmSplitKStorage<GemmEpilogueLoadExtents<>>>(
      "scenarios/gemm_split_k.hpp", GemmEpilogueLoadExtents<>{{128, 128, 64, 4, 2}, 2});
}

TEST(BarrierTable, OfGemmSplitK2sm) {
  using Extents = GemmSplitK2sm::Extents;
  expect_table_is_true<GemmSplitKStorage<Extents>>("scenarios/gemm_split_k_2sm.hpp",
                                                   Extents{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0});
}

TEST(BarrierTable, OfGemmBlockScaledWarpgroups) {
  using Scenario = GemmBlockScaledWarpgroups;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_block_scaled_warpgroups.hpp",
                                          Scenario::Extents{{0, 128, 128, 128, 4, 2}, 1, 1, 1});
}

TEST(BarrierTable, OfGemmGroupedMaps) {
  expect_table_is_true<GemmGroupedMapsStorage<GemmGroupedExtents<>>>(
      "scenarios/gemm_grouped_maps.hpp", GemmGroupedExtents<>{{128, 128, 64, 4, 2}, 1});
}

TEST(BarrierTable, OfGemmMixedInput) {
  using Scenario = GemmMixedInput;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_mixed_input.hpp",
                                          Scenario::Extents{{{128, 128, 64, 4, 1}, 1, 1}, 4});
}

TEST(BarrierTable, OfGemmMixedInput2sm) {
  using Scenario = GemmMixedInput2sm;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_mixed_input_2sm.hpp",
                                          Scenario::Extents{{{256, 256, 64, 4, 1}, 2, 1}, 4});
}

TEST(BarrierTable, OfGemmMixedInputPersistent) {
  using Scenario = GemmMixedInputPersistent;
  expect_table_is_true<ClaimingStorage<Scenario::Extents, Scenario::Storage, Role::kTransform>>(
      "scenarios/gemm_mixed_input_persistent.hpp",
      Scenario::Extents{{{{256, 256, 64, 4, 1}, 2, 1}, 4}, 2});
}

TEST(BarrierTable, OfGemmSparse) {
  using Scenario = GemmSparse;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_sparse.hpp",
                                          Scenario::Extents{{128, 128, 128, 3, 1}, 1, 1});
}

TEST(BarrierTable, OfGemmSparse2sm) {
  using Scenario = GemmSparse2sm;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_sparse_2sm.hpp",
                                          Scenario::Extents{{256, 128, 128, 4, 1}, 2, 1});
}

TEST(BarrierTable, OfGemmSparsePersistent) {
  using Scenario = GemmSparsePersistent;
  expect_table_is_true<ClaimingStorage<Scenario::Extents, Scenario::Storage>>(
      "scenarios/gemm_sparse_persistent.hpp", Scenario::Extents{{{256, 128, 128, 4, 1}, 2, 1}, 2});
}

TEST(BarrierTable, OfConv2dIm2col) {
  expect_table_is_true<Conv2dIm2col::Storage>(
      "scenarios/conv2d_im2col.hpp", Conv2dIm2col::Extents{{{128, 128, 64, 4, 2}, 1, 1}, 2, 0});
}

TEST(BarrierTable, OfGemmStreamK) {
  expect_table_is_true<GemmSplitKStorage<GemmEpilogueLoadExtents<>>>(
      "scenarios/gemm_stream_k.hpp", GemmEpilogueLoadExtents<>{{128, 128, 64, 4, 2}, 2});
}

TEST(BarrierTable, OfGemmSerial) {
  expect_table_is_true<GemmSerialStorage<GemmSerialExtents<>>>(
      "scenarios/gemm_serial.hpp", GemmSerialExtents<>{{128, 128, 64, 2, 1}, 64});
}

TEST(BarrierTable, OfGemmPersistent) {
  expect_table_is_true<GemmPersistentStorage<GemmPersistentExtents<>>>(
      "scenarios/gemm_persistent.hpp", GemmPersistentExtents<>{{{256, 256, 64, 6, 2}, 2, 1}, 2});
}

TEST(BarrierTable, OfGemmSwiglu) {
  expect_table_is_true<GemmSwigluStorage<GemmEpilogueLoadExtents<>>>(
      "scenarios/gemm_swiglu.hpp", GemmEpilogueLoadExtents<>{{128, 128, 64, 4, 2}, 2});
}

TEST(BarrierTable, OfGemmSwiglu2sm) {
  using Scenario = GemmSwiglu2sm;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_swiglu_2sm.hpp",
                                          Scenario::Extents{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0});
}

TEST(BarrierTable, OfGemmSwigluMulticast) {
  using Scenario = GemmSwigluMulticast;
  expect_table_is_true<Scenario::Storage>("scenarios/gemm_swiglu_multicast.hpp",
                                          Scenario::Extents{{{128, 128, 64, 4, 2}, 2, 1}, 2, 0});
}

TEST(BarrierTable, OfGemmSwigluPersistent) {
  using Scenario = GemmSwigluPersistent;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/gemm_swiglu_persistent.hpp",
      Scenario::Extents{{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0}, 2});
}

TEST(BarrierTable, OfGemmSwigluClc) {
  using Scenario = GemmSwigluClc;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/gemm_swiglu_clc.hpp", Scenario::Extents{{{{128, 128, 64, 4, 2}, 1, 1}, 2, 0}, 2});
}

TEST(BarrierTable, OfGemmGrouped) {
  expect_table_is_true<GemmGroupedStorage<GemmGroupedExtents<>>>(
      "scenarios/gemm_grouped.hpp", GemmGroupedExtents<>{{128, 128, 64, 4, 2}, 1});
}

TEST(BarrierTable, OfGemmGroupedPersistent) {
  using Extents = GemmGroupedPersistent::Extents;
  expect_table_is_true<GemmGroupedPersistentStorage<Extents>>(
      "scenarios/gemm_grouped_persistent.hpp", Extents{{{{256, 128, 64, 4, 2}, 2}, 2, 1}, 2});
}

TEST(BarrierTable, OfGemmSmall) {
  expect_table_is_true<GemmSmallStorage<GemmSmallExtents<>>>(
      "scenarios/gemm_small.hpp", GemmSmallExtents<>{{128, 16, 64, 4, 2}, 2, 1, 4, 1, 1});
}

TEST(BarrierTable, OfConv2dFprop) {
  expect_table_is_true<GemmEpilogueLoadStorage<Conv2dFpropExtents<>>>(
      "scenarios/conv2d_fprop.hpp", Conv2dFpropExtents<>{{{128, 128, 64, 4, 2}, 2}, 16});
}

TEST(BarrierTable, OfConv2dFprop2sm) {
  using Scenario = Conv2dFprop2sm;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/conv2d_fprop_2sm.hpp",
      Scenario::Extents{{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0}, 16});
}

TEST(BarrierTable, OfConv2dFpropPersistent) {
  using Scenario = Conv2dFpropPersistent;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/conv2d_fprop_persistent.hpp",
      Scenario::Extents{{{{{256, 128, 64, 4, 2}, 2, 1}, 2, 0}, 16}, 2});
}

TEST(BarrierTable, OfConv2dFpropClc) {
  using Scenario = Conv2dFpropClc;
  expect_table_is_true<Scenario::Storage>(
      "scenarios/conv2d_fprop_clc.hpp",
      Scenario::Extents{{{{{128, 128, 64, 4, 2}, 1, 1}, 2, 0}, 16}, 2});
}

TEST(BarrierTable, OfMainloop) {
  expect_table_is_true<MainloopStorage<bf16, MainloopExtents<>>>("scenarios/mainloop.hpp",
                                                                 MainloopExtents<>{64, 64, 128, 3});
}

TEST(BarrierTable, OfGemmWgmma) {
  expect_table_is_true<GemmWgmmaStorage<GemmWgmmaExtents<>>>(
      "scenarios/gemm_wgmma.hpp", GemmWgmmaExtents<>{128, 128, 64, 4, 1, 1});
}

TEST(BarrierTable, OfGemmWgmmaSparse) {
  expect_table_is_true<GemmWgmmaSparseStorage<GemmWgmmaExtents<>, GemmParts>>(
      "scenarios/gemm_wgmma_sparse.hpp", GemmWgmmaExtents<>{128, 128, 128, 3, 1, 1});
}

TEST(BarrierTable, OfGemmWgmmaUnaligned) {
  expect_table_is_true<GemmWgmmaUnalignedStorage<GemmWgmmaExtents<>, GemmParts>>(
      "scenarios/gemm_wgmma_unaligned.hpp", GemmWgmmaExtents<>{128, 128, 64, 4, 1, 1});
}

TEST(BarrierTable, OfGemmWgmmaPingpong) {
  expect_table_is_true<GemmWgmmaPingpongStorage<GemmWgmmaExtents<>, StoredByWarps<GemmParts>>>(
      "scenarios/gemm_wgmma_pingpong.hpp", GemmWgmmaExtents<>{128, 128, 64, 4, 1, 1});
}

TEST(BarrierTable, OfGemmWgmmaSerial) {
  expect_table_is_true<GemmWgmmaSerialStorage<GemmWgmmaSerialExtents<>>>(
      "scenarios/gemm_wgmma_serial.hpp", GemmWgmmaSerialExtents<>{128, 128, 64, 2});
}

TEST(BarrierTable, OfMainloopWgmma) {
  expect_table_is_true<MainloopWgmmaStorage<MainloopWgmmaExtents<>>>(
      "scenarios/mainloop_wgmma.hpp", MainloopWgmmaExtents<>{128, 128, 64, 4, 1});
}

TEST(BarrierTable, OfProducerConsumer) {
  expect_table_is_true<ProducerConsumerStorage<ProducerConsumerExtents<>>>(
      "scenarios/producer_consumer.hpp", ProducerConsumerExtents<>{16, 4});
}

TEST(BarrierTable, OfMulticastRing) {
  expect_table_is_true<MulticastRingStorage<ProducerConsumerExtents<>>>(
      "scenarios/multicast_ring.hpp", ProducerConsumerExtents<>{16, 4});
}

}  // namespace
}  // namespace warptwin::scenarios::barrier_table_test
