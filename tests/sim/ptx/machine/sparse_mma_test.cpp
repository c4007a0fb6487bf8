// tcgen05.mma.sp: what is executed, what is wrong of its descriptor, and what is refused because no
// text says where its metadata lies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"
#include "common/machine/umma_descriptor.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::sparse_mma_test {
namespace {

using testing::AnyOf;
using testing::Contains;

UmmaInstructionDescriptor dense(std::uint32_t m, ElementType type = ElementType::kBf16) {
  return UmmaInstructionDescriptor::make(type, type, m, 64);
}

// One lane multiplies, and waits; A, B and the metadata are what lies in `tile`, which the lanes
// fill with zeros.
OneKernel multiplies(UmmaInstructionDescriptor instruction,
                     const std::string& form = ".sp.cta_group::1.kind::f16",
                     std::uint32_t metadata = 64,
                     const std::string& a = "%rd5",
                     const std::string& factors = "") {
  const SharedTile<bf16> tile{{0}, 128, 64, Swizzle::k128B};
  const auto text = [](std::uint64_t bits) { return std::to_string(bits); };
  OneKernel kernel;
  kernel.variables = ".shared .align 1024 .b8 operands[16384];\n.shared .align 8 .b64 done;\n";
  kernel.body =
      "  mov.u32 %r20, tile;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 128;\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  ld.shared.u32 %r21, [%r20];\n"
      "  mov.u32 %r22, operands;\n  shl.b32 %r23, %r1, 2;\n  add.u32 %r24, %r22, %r23;\n"
      "  mov.u32 %r25, 0;\n"
      "FILL:\n  st.shared.u32 [%r24], 0;\n  add.u32 %r24, %r24, 128;\n"
      "  add.u32 %r25, %r25, 128;\n  setp.lt.u32 %p1, %r25, 16384;\n  @%p1 bra FILL;\n"
      "  fence.proxy.async.shared::cta;\n  bar.warp.sync -1;\n"
      "  mov.u32 %r26, done;\n  setp.ne.u32 %p2, %r1, 0;\n"
      "  @%p2 bra AFTER;\n"
      "  mbarrier.init.shared.b64 [%r26], 1;\n  fence.mbarrier_init.release.cluster;\n"
      "  shr.u32 %r27, %r22, 4;\n  cvt.u64.u32 %rd4, %r27;\n"
      "  or.b64 %rd5, %rd4, " +
      text(UmmaSmemDescriptor::k_major(tile).bits) + ";\n  or.b64 %rd6, %rd4, " +
      text(UmmaSmemDescriptor::make({0}, 16, 128, Swizzle::kNone).bits) +
      ";\n  add.u32 %r28, %r21, " + text(metadata) +
      ";\n  tcgen05.cp.cta_group::1.128x128b [%r28], %rd6;\n  mov.u32 %r29, " +
      text(instruction.bits) + ";\n  setp.ne.u32 %p3, %r1, %r1;\n  tcgen05.mma" + form +
      " [%r21], " + a + ", %rd5, [%r28], %r29, " + factors +
      "%p3;\n"
      "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r26];\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [%r26], 0;\n  @!%p4 bra WAIT;\n"
      "AFTER:\n  bar.warp.sync -1;\n"
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 128;\n";
  return kernel;
}

TEST(PtxSparseMma, IsExecutedWithASelectorThatExists) {
  for (const std::uint32_t selector : {0U, 1U}) {
    expect_proved(multiplies(dense(128).with_sparse_a(selector)));
    expect_proved(multiplies(dense(128, ElementType::kTf32).with_sparse_a(selector),
                             ".sp.cta_group::1.kind::tf32"));
  }
  expect_proved(multiplies(dense(128, ElementType::kF8E5M2).with_sparse_a(0),
                           ".sp.cta_group::1.kind::f8f6f4"));
  expect_proved(
      multiplies(dense(128, ElementType::kI8).with_sparse_a(0), ".sp.cta_group::1.kind::i8"));
}

TEST(PtxSparseMma, SelectorsBeyondAndDenseDescriptorsAreWrong) {
  expect_found(multiplies(dense(128).with_sparse_a(2)), "TCGEN05_SHAPE");
  expect_found(multiplies(dense(128)), "TCGEN05_SHAPE");
  expect_found(
      multiplies(dense(128, ElementType::kI8).with_sparse_a(1), ".sp.cta_group::1.kind::i8"),
      "TCGEN05_SHAPE");
}

TEST(PtxSparseMma, WhoseMetadataLiesWhereNoTextSaysIsRefused) {
  const auto sparse = dense(128).with_sparse_a(0);
  EXPECT_THROW(proof_of(multiplies(dense(64).with_sparse_a(0))), ConfigError);
  EXPECT_THROW(proof_of(multiplies(sparse.with_majors(Major::kMn, Major::kK))), ConfigError);
  EXPECT_THROW(proof_of(multiplies(sparse, ".sp.cta_group::1.kind::f16", 65)), ConfigError);
  EXPECT_THROW(proof_of(multiplies(sparse, ".sp.cta_group::1.kind::f16", 64, "[%r21]")),
               ConfigError);
}

UmmaInstructionDescriptor scaled(MmaKind kind) {
  const ElementType type = kind == MmaKind::kMxf8f6f4 ? ElementType::kF8E4M3 : ElementType::kF4E2M1;
  return UmmaInstructionDescriptor::make_block_scaled(kind, type, 128, 64).with_sparse_a(0);
}

// The factors of A and B are copied in front of the metadata, to the columns behind it.
OneKernel multiplies_scaled(UmmaInstructionDescriptor instruction, const std::string& form) {
  OneKernel kernel = multiplies(instruction, form, 64, "%rd5", "[%r30], [%r31], ");
  kernel.body.insert(kernel.body.find("  mov.u32 %r29,"),
                     "  add.u32 %r30, %r21, 72;\n  add.u32 %r31, %r21, 80;\n"
                     "  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r30], %rd6;\n"
                     "  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r31], %rd6;\n");
  return kernel;
}

TEST(PtxSparseMma, MayHaveScaleFactors) {
  const std::string begin = ".sp.cta_group::1.kind::";
  for (const char* form : {"mxf8f6f4.block_scale", "mxf8f6f4.block_scale.scale_vec::1X"}) {
    expect_proved(multiplies_scaled(scaled(MmaKind::kMxf8f6f4), begin + form));
  }
  expect_proved(multiplies_scaled(scaled(MmaKind::kMxf4), begin + "mxf4.block_scale.block32"));
  expect_proved(
      multiplies_scaled(scaled(MmaKind::kMxf4nvf4), begin + "mxf4nvf4.block_scale.scale_vec::4X"));
}

TEST(PtxSparseMma, OfScaledOnesASelectorIsWrongAndOtherVectorsAreRefused) {
  const std::string mxf8 = ".sp.cta_group::1.kind::mxf8f6f4.block_scale";
  expect_found(multiplies_scaled(scaled(MmaKind::kMxf8f6f4).with_sparse_a(1), mxf8),
               "TCGEN05_SHAPE");
  const std::string nvf4 = ".sp.cta_group::1.kind::mxf4nvf4.block_scale";
  for (const std::string& form : {mxf8 + ".scale_vec::2X", nvf4 + ".scale_vec::2X", nvf4}) {
    EXPECT_THROW(proof_of(multiplies_scaled(scaled(MmaKind::kMxf4nvf4), form)), ConfigError);
  }
}

// A word of metadata that nobody knows makes the rows unknown that it is of, 0 and 8, and no other.
TEST(PtxSparseMma, MetadataThatNobodyKnowsMakesItsRowsUnknown) {
  const auto deciding = [](const std::string& value, const std::string& row) {
    OneKernel kernel = multiplies(dense(128).with_sparse_a(0));
    const auto insert = [&](const std::string& text, const std::string& before) {
      kernel.body.insert(kernel.body.find(before), text);
    };
    kernel.variables += ".shared .align 128 .b8 metadata[2048];\n";
    insert("  mov.u32 %r27, metadata;\n  shr.u32 %r27, %r27, 4;\n  cvt.u64.u32 %rd4, %r27;\n",
           "  or.b64 %rd6");
    insert(
        "  mov.u32 %r30, metadata;\n  add.u32 %r30, %r30, %r23;\n"
        "  mov.u32 %r32, 0;\nMORE:\n  st.shared.u32 [%r30], 0;\n"
        "  add.u32 %r30, %r30, 128;\n  add.u32 %r32, %r32, 128;\n"
        "  setp.lt.u32 %p5, %r32, 2048;\n  @%p5 bra MORE;\n  bar.warp.sync -1;\n"
        "  mov.u32 %r31, " +
            value + ";\n  setp.eq.u32 %p5, %r1, 0;\n  @%p5 st.shared.u32 [metadata], %r31;\n",
        "  fence.proxy.async");
    insert(
        "  tcgen05.fence::after_thread_sync;\n"
        "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r21];\n"
        "  tcgen05.wait::ld.sync.aligned;\n  setp.ne.u32 %p5, %r1, " +
            row +
            ";\n  @%p5 bra OTHERS;\n  setp.ne.u32 %p6, %r40, 0;\n  @%p6 trap;\n"
            "OTHERS:\n  bar.warp.sync -1;\n",
        "  tcgen05.dealloc");
    return kernel;
  };
  expect_proved(deciding("0", "0"));
  expect_proved(deciding("%clock", "1"));
  for (const char* row : {"0", "8"}) {
    EXPECT_THROW(proof_of(deciding("%clock", row)), ConfigError) << row;
  }
}

// Both columns that a selector may choose are allocated.
TEST(PtxSparseMma, MetadataOutsideTheAllocationIsFound) {
  OneKernel kernel = multiplies(dense(128).with_sparse_a(1));
  kernel.body.insert(kernel.body.find("  mov.u32 %r29,"), "  add.u32 %r28, %r21, 128;\n");
  EXPECT_THAT(ids_in(proof_of(kernel)), AnyOf(Contains("TMEM_UNALLOCATED"), Contains("TMEM_OOB")));
}

}  // namespace
}  // namespace warptwin::sim::sparse_mma_test
