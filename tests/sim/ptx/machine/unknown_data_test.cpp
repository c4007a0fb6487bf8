// What no proof without data may know: whatever an instruction makes of data is data.

#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::unknown_data_test {

/// %r4 is a word of data, %r10 a lane's own 16 bytes of `tile`, %rd10 its own of `out`; %r31
/// decides.
struct Row {
  const char* name;
  const char* body;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.body;
}

OneKernel deciding(const Row& row) {
  OneKernel kernel;
  kernel.threads = std::string{row.body}.find("wgmma") == std::string::npos ? 32 : 128;
  kernel.in.resize(64, 3);
  kernel.control = false;
  kernel.out_words = 512;
  kernel.body =
      "  ld.global.u32 %r4, [%rd1];\n  mov.u32 %r5, tile;\n"
      "  shl.b32 %r6, %r1, 4;\n  add.u32 %r10, %r5, %r6;\n"
      "  cvt.u64.u32 %rd9, %r6;\n  add.u64 %rd10, %rd2, %rd9;\n" +
      std::string{row.body} +
      "  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n  mov.u32 %r32, 1;\nNEXT:\n";
  return kernel;
}

class Decides : public testing::TestWithParam<Row> {};

TEST_P(Decides, AndTheProofIsMadeWithData) {
  EXPECT_TRUE(proof_of(deciding(GetParam())).data_decides) << GetParam().body;
}

constexpr char kTensorMemory[] =
    "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 32;\n"
    "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    "  bar.sync 0;\n  ld.shared.u32 %r21, [%r5];\n"
    "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r21], {%r1};\n"
    "  tcgen05.wait::st.sync.aligned;\n"
    "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r31}, [%r21];\n"
    "  tcgen05.wait::ld.sync.aligned;\n"
    "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n";

constexpr char kWgmma[] =
    "  st.shared.v4.u32 [%r10], {%r1, %r1, %r1, %r1};\n"
    "  st.shared.v4.u32 [%r10+2048], {%r1, %r1, %r1, %r1};\n"
    "  fence.proxy.async;\n  bar.sync 0;\n"
    "  shr.u32 %r7, %r5, 4;\n  cvt.u64.u32 %rd11, %r7;\n  or.b64 %rd11, %rd11, "
    "0x0000001000080000;\n"
    "  wgmma.fence.sync.aligned;\n"
    "  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd11, %rd11, 0, "
    "1, 1, 0, 0;\n"
    "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
    "  mov.b32 %r31, %f2;\n";

INSTANTIATE_TEST_SUITE_P(
    OfEachKind,
    Decides,
    testing::Values(
        Row{"AWord", "  mov.u32 %r31, %r4;\n"},
        Row{"TensorMemory", kTensorMemory},
        Row{"AnAccumulator", kWgmma},
        Row{"BehindAKnownByte",
            "  st.shared.u32 [%r10], %r4;\n  st.shared.u8 [%r10], 1;\n  ld.shared.u8 %r31, "
            "[%r10+1];\n"},
        Row{"InFrontOfAKnownHalf",
            "  st.shared.u32 [%r10], %r4;\n  st.shared.u16 [%r10+2], %h1;\n"
            "  ld.shared.u16 %r31, [%r10];\n"},
        Row{"BesideAKnownHalf",
            "  cvt.u16.u32 %h2, %r4;\n  mov.u16 %h1, 7;\n  st.shared.v2.u16 [%r10], {%h2, %h1};\n"
            "  ld.shared.u16 %r31, [%r10];\n"},
        Row{"BehindAKnownByteOfGlobalMemory",
            "  st.global.u32 [%rd10], %r4;\n  st.global.u8 [%rd10], 1;\n"
            "  ld.global.u8 %r31, [%rd10+1];\n"},
        Row{"AWordHandedOver",
            "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 st.release.gpu.global.u32 [%rd2], %r4;\n"
            "  bar.warp.sync -1;\n  ld.global.u32 %r31, [%rd2];\n"},
        Row{"AWordThatIsAcquired", "  ld.acquire.gpu.global.u32 %r31, [%rd1];\n"},
        Row{"TheCarryOfASum", "  add.cc.u32 %r5, %r4, 7;\n  addc.u32 %r31, 0, 0;\n"},
        Row{"TheLaneThatIsAsked",
            "  and.b32 %r5, %r4, 3;\n  shfl.sync.up.b32 %r31, %r1, %r5, 0, -1;\n"},
        Row{"WhetherThereIsSuchALane",
            "  and.b32 %r5, %r4, 3;\n  shfl.sync.up.b32 %r31|%p5, %r1, %r5, 0, -1;\n"
            "  selp.u32 %r31, 1, 5, %p5;\n"},
        Row{"WhetherAllHaveTheSame",
            "  match.all.sync.b32 %r31|%p5, %r4, -1;\n  selp.u32 %r31, 1, 5, %p5;\n"},
        Row{"LocalMemory",
            "  .local .align 8 .b8 own[16];\n  st.local.u32 [own], %r4;\n"
            "  ld.local.u16 %r31, [own];\n"},
        Row{"AVote", "  setp.eq.u32 %p6, %r4, 3;\n  vote.sync.ballot.b32 %r31, %p6, -1;\n"},
        Row{"TheAnswerOfABarrier",
            "  setp.eq.u32 %p6, %r4, 3;\n  bar.red.popc.u32 %r31, 0, %p6;\n"},
        Row{"WhatAGuardLetsThrough",
            "  setp.eq.u32 %p6, %r4, 3;\n  mov.u32 %r31, 4;\n  @%p6 mov.u32 %r31, 5;\n"},
        Row{"AReductionInSharedMemory",
            "  st.shared.u32 [%r10], 0;\n  red.shared.add.u32 [%r10], %r4;\n"
            "  ld.shared.u32 %r31, [%r10];\n"}),
    [](const auto& row) { return std::string{row.param.name}; });

// What is known stays known, beside data too.
TEST(PtxUnknownData, IsNotMoreThanItsBytes) {
  for (const char* body :
       {"  st.shared.u32 [%r10], %r4;\n  st.shared.u8 [%r10+1], 1;\n  ld.shared.u8 %r31, "
        "[%r10+1];\n",
        "  st.global.u32 [%rd10], %r4;\n  st.global.u8 [%rd10+3], 1;\n"
        "  ld.global.u8 %r31, [%rd10+3];\n",
        "  add.cc.u32 %r5, %r4, 7;\n  add.cc.u32 %r5, %r1, 7;\n  addc.u32 %r31, 0, 0;\n",
        "  shfl.sync.up.b32 %r31|%p5, %r4, 1, 0, -1;\n  selp.u32 %r31, 1, 5, %p5;\n"}) {
    const ProofResult proof = proof_of(deciding({"", body}));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << body;
    EXPECT_FALSE(proof.data_decides) << body;
  }
}

}  // namespace warptwin::sim::unknown_data_test
