// Threads that count a word of shared memory down and ask whether they were the last, as the end of
// cuda::pipeline does: sim/model/last_adders.hpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::shared_counts_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Warps 0 to 3 take 1 to 4 from a word, each behind a part that it has stored. The last one sums
// the parts.
struct Count {
  std::string begins = "10";
  std::string between{};  // by each first lane, in front of the barrier
  std::string release = "  fence.sc.cta;\n";
  std::string atomic = "atom.add.acquire.cta.shared.u32";
  std::string takes = "  add.u32 %r6, %r2, 1;\n";
  std::string acquire{};
  std::string behind{};  // by each first lane, behind its atomic
  std::uint32_t ctas = 1;
};

OneKernel kernel_of(const Count& one) {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.ctas = one.ctas;
  kernel.in.assign(64, 0);
  kernel.body =
      "  mov.u32 %r20, tile;\n  shr.u32 %r2, %r1, 5;\n  and.b32 %r3, %r1, 31;\n"
      "  mov.u32 %r4, " +
      one.begins +
      ";\n  setp.ne.u32 %p1, %r1, 0;\n"
      "  @%p1 bra MEET;\n  st.relaxed.cta.shared.u32 [%r20], %r4;\nMEET:\n"
      "  setp.ne.u32 %p2, %r3, 0;\n  bar.sync 0;\n  @%p2 bra BEGUN;\n" +
      one.between + "BEGUN:\n  bar.sync 0;\n  @%p2 bra END;\n" + one.takes +
      "  shl.b32 %r8, %r2, 2;\n  add.u32 %r8, %r20, %r8;\n"
      "  st.shared.u32 [%r8+64], %r6;\n  neg.s32 %r7, %r6;\n" +
      one.release + "  " + one.atomic + " %r5, [%r20], %r7;\n  setp.ne.u32 %p3, %r5, %r6;\n" +
      one.behind + "  @%p3 bra END;\n" + one.acquire +
      "  ld.shared.u32 %r10, [%r20+64];\n  ld.shared.u32 %r11, [%r20+68];\n"
      "  ld.shared.u32 %r12, [%r20+72];\n  ld.shared.u32 %r13, [%r20+76];\n"
      "  add.u32 %r10, %r10, %r11;\n  add.u32 %r12, %r12, %r13;\n  add.u32 %r10, %r10, %r12;\n"
      "  mov.u32 %r14, %ctaid.x;\n  mul.wide.u32 %rd3, %r14, 4;\n  add.u64 %rd3, %rd2, %rd3;\n"
      "  st.global.u32 [%rd3], %r10;\nEND:\n";
  return kernel;
}

void expect_undecided(const Count& one, const char* reason) {
  sim::expect_undecided(kernel_of(one), reason);
}

const char kEqual[] = "  mov.u32 %r6, 1;\n";

TEST(PtxSharedCounts, AreProvedForEachThatMayBeTheLast) {
  const OneKernel kernel = kernel_of({});
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_THAT(ids_in(proof), IsEmpty());
  EXPECT_THAT(proof.lasts, HasSubstr("(4 ways)"));
  EXPECT_EQ(run_of(kernel).out[0], 10U);
  expect_proved(kernel_of({.begins = "4", .takes = kEqual}));
}

// What one CTA's last thread is says nothing to another CTA.
TEST(PtxSharedCounts, OfManyCtasAreChosenAtOnce) {
  const ProofResult proof = proof_of(kernel_of({.ctas = 40}));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_THAT(proof.lasts, HasSubstr("(4 ways)"));
}

TEST(PtxSharedCounts, NeedReleaseAndAcquire) {
  expect_found(kernel_of({.release = ""}), "SMEM_RACE");
  const std::string relaxed = "atom.add.relaxed.cta.shared.u32";
  expect_found(kernel_of({.atomic = relaxed}), "SMEM_RACE");
  expect_proved(kernel_of({.atomic = relaxed, .acquire = "  fence.acq_rel.cta;\n"}));
  expect_proved(kernel_of({.release = "", .atomic = "atom.add.acq_rel.cta.shared.u32"}));
  expect_found(kernel_of({.release = "", .atomic = "atom.add.release.cta.shared.u32"}),
               "SMEM_RACE");
}

// A part that is stored again behind the atomic; a fault of one warp alone as the last.
TEST(PtxSharedCounts, AreTheLastOfAll) {
  expect_found(kernel_of({.behind = "  st.shared.u32 [%r8+64], %r6;\n"}), "SMEM_RACE");
  for (const char* warp : {"0", "1", "3"}) {
    const std::string stores =
        "  setp.ne.u32 %p6, %r2, 2;\n  @%p6 bra KEPT;\n  st.shared.u32 [%r20+128], %r6;\nKEPT:\n";
    const std::string reads = std::string{"  setp.ne.u32 %p7, %r2, "} + warp +
                              ";\n  @%p7 bra READ;\n  ld.shared.u32 %r15, [%r20+128];\nREAD:\n";
    const ProofResult proof = proof_of(kernel_of({.acquire = reads, .behind = stores}));
    EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << warp;
    EXPECT_THAT(ids_in(proof), Contains("SMEM_RACE")) << warp;
  }
}

// Whether somebody finds what tells the last depends on the order: 9 ends at nobody's number here.
TEST(PtxSharedCounts, AreUndecidedWhereTheyDoNotEndAtTheNumber) {
  expect_undecided({.begins = "11"}, "not to the number that tells the last");
  const ProofResult over = proof_of(kernel_of({.begins = "9"}));
  EXPECT_EQ(over.verdict, ProofVerdict::kUndecided) << over.strength();
  // By equal steps they find the same in every order, and nobody is told.
  expect_proved(kernel_of({.begins = "5", .takes = kEqual}));
}

// Other atomics come before all that ask, or the run says nothing of other orders.
TEST(PtxSharedCounts, AreInOrderWithOtherAtomics) {
  expect_proved(
      kernel_of({.begins = "6", .between = "  red.relaxed.cta.shared.add.u32 [%r20], 1;\n"}));
  expect_undecided({.behind = "  red.relaxed.cta.shared.add.u32 [%r20+0], 0;\n"},
                   "when another atomic of the word comes");
  expect_found(kernel_of({.behind = "  ld.shared.u32 %r16, [%r20];\n"}), "SMEM_RACE");
}

// The last one's number, by which all are told of it.
TEST(PtxSharedCounts, AreNotProvedWhereItDecidesWhatIsLeft) {
  expect_undecided({.acquire = "  st.global.u32 [%rd2+64], %r2;\n"}, "depends on who is the last");
}

// The count is no memory of the kernel's.
TEST(PtxSharedCounts, AreNowhereToBeFound) {
  const std::string looks =
      "  cvt.u64.u32 %rd4, %r20;\n  or.b64 %rd4, %rd4, 0x8000000000000000;\n"
      "  red.relaxed.gpu.global.add.u32 [%rd4], 1;\n";
  const ProofResult proof = proof_of(kernel_of({.behind = looks}));
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << proof.strength();
  EXPECT_THAT(ids_in(proof), Contains("WORD_OOB"));
}

// Who counts has to have begun: the word is what thread 0 stored.
TEST(PtxSharedCounts, BeginBehindABarrier) {
  OneKernel kernel = kernel_of({});
  const std::string meet = "  bar.sync 0;\n";
  for (int i = 0; i < 2; ++i) {
    kernel.body.erase(kernel.body.find(meet), meet.size());
  }
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << proof.strength();
  EXPECT_THAT(ids_in(proof), Contains("SMEM_RACE"));
}

}  // namespace
}  // namespace warptwin::sim::shared_counts_test
