// Threads that add to a word and ask whether they were the last: sim/model/last_adders.hpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::last_adders_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kFence[] = "  membar.gl;\n";

// Each CTA stores a part, and the last of them that adds to in[0] sums the parts up.
struct Reduction {
  std::string release = kFence;  // between the part and the addition
  std::string add = "  atom.global.add.u32 %r5, [%rd1], 1;\n";
  std::string asks = "  setp.eq.u32 %p2, %r5, %r6;\n";  // %r6: as many as there are CTAs, but one
  std::string acquire = kFence;
  std::string reset = "  st.global.u32 [%rd1], %r0;\n";
  std::string store = "  st.global.u32 [%rd2], %r10;\n";
  std::string behind{};  // by lane 0 of each CTA, behind its addition
  std::uint32_t ctas = 4;
};

OneKernel kernel_of(const Reduction& one) {
  OneKernel kernel;
  kernel.ctas = one.ctas;
  kernel.threads = 64;
  kernel.in.assign(64, 0);
  kernel.body =
      "  mov.u32 %r0, 0;\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %nctaid.x;\n"
      "  mov.u32 %r8, tile;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MET;\n"
      "  mul.wide.u32 %rd5, %r2, 4;\n  add.u64 %rd6, %rd1, %rd5;\n"
      "  mad.lo.u32 %r4, %r2, 3, 5;\n  st.global.u32 [%rd6+16], %r4;\n" +
      one.release + one.add + "  sub.u32 %r6, %r3, 1;\n" + one.asks +
      "  selp.u32 %r7, 1, 0, %p2;\n" + one.behind +
      "  st.shared.u32 [%r8], %r7;\nMET:\n  bar.sync 0;\n  ld.shared.u32 %r9, [%r8];\n"
      "  setp.eq.u32 %p3, %r9, 0;\n  @%p3 bra END;\n" +
      one.acquire +
      "  @%p1 bra END;\n  mov.u32 %r10, 0;\n  mov.u32 %r11, 0;\n  mov.u64 %rd7, %rd1;\nSUM:\n"
      "  ld.global.u32 %r12, [%rd7+16];\n  add.u32 %r10, %r10, %r12;\n"
      "  add.u64 %rd7, %rd7, 4;\n  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p4, %r11, %r3;\n"
      "  @%p4 bra SUM;\n" +
      one.store + one.reset + "END:\n";
  return kernel;
}

void expect_undecided(const Reduction& one, const char* reason) {
  sim::expect_undecided(kernel_of(one), reason);
}

TEST(PtxLastAdders, AreProvedForEachThatMayBeTheLast) {
  const OneKernel kernel = kernel_of({});
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_THAT(ids_in(proof), IsEmpty());
  EXPECT_THAT(proof.strength(), HasSubstr("for each thread that may be the last to add at"));
  EXPECT_THAT(proof.lasts, HasSubstr("(4 ways)"));
  EXPECT_EQ(run_of(kernel).out[0], 5U + 8U + 11U + 14U);
}

TEST(PtxLastAdders, MayAddMoreThanOneOrCountUp) {
  expect_proved(kernel_of({.add = "  atom.acq_rel.gpu.global.add.u32 %r5, [%rd1], 1;\n"}));
  expect_proved(kernel_of({.add = "  atom.global.inc.u32 %r5, [%rd1], %r3;\n"}));
  expect_proved(kernel_of(
      {.add = "  atom.global.add.u32 %r5, [%rd1], 7;\n", .asks = "  setp.eq.u32 %p2, %r5, 21;\n"}));
  expect_proved(kernel_of({.add = "  atom.global.add.u32 %r13, [%rd1], 1;\n",
                           .asks = "  add.u32 %r5, %r13, 1;\n  setp.eq.u32 %p2, %r5, %r3;\n"}));
  expect_proved(kernel_of({.asks = "  setp.ne.u32 %p5, %r5, %r6;\n  not.pred %p2, %p5;\n"}));
}

TEST(PtxLastAdders, NeedFencesOnBothSides) {
  expect_found(kernel_of({.release = ""}), "GMEM_RACE");
  expect_found(kernel_of({.acquire = ""}), "GMEM_RACE");
  const std::string acquires = "  atom.acq_rel.gpu.global.add.u32 %r5, [%rd1], 1;\n";
  expect_proved(kernel_of({.release = "", .add = acquires, .acquire = ""}));
  expect_found(
      kernel_of({.release = "", .add = "  atom.acquire.gpu.global.add.u32 %r5, [%rd1], 1;\n"}),
      "GMEM_RACE");
  expect_found(kernel_of({.release = "  membar.cta;\n"}), "GMEM_RACE");
}

// A part is stored behind the addition; the last but one is taken for the last.
TEST(PtxLastAdders, AreTheLastOfAll) {
  expect_found(kernel_of({.behind = "  st.global.u32 [%rd6+16], %r4;\n"}), "GMEM_RACE");
  const ProofResult early = proof_of(kernel_of({.asks = "  setp.eq.u32 %p2, %r5, 2;\n"}));
  EXPECT_NE(early.verdict, ProofVerdict::kProved);
  // Nobody is told so.
  expect_proved(kernel_of({.asks = "  setp.eq.u32 %p2, %r5, 9;\n"}));
}

// A fault of one CTA alone, as the last. The run in which the last to come is the last has none.
TEST(PtxLastAdders, AreEachTriedAsTheLast) {
  for (const char* cta : {"0", "1"}) {
    const std::string faulty = std::string{"  setp.ne.u32 %p6, %r2, "} + cta +
                               ";\n  @%p6 bra KEEP;\n  ld.global.u32 %r14, [%rd1+40];\nKEEP:\n";
    const std::string stores = "  st.global.u32 [%rd1+40], %r4;\n";
    const ProofResult proof = proof_of(kernel_of(
        {.acquire = kFence + faulty,
         .behind = "  setp.ne.u32 %p7, %r2, 2;\n  @%p7 bra KEPT;\n" + stores + "KEPT:\n"}));
    EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << cta;
    EXPECT_THAT(ids_in(proof), Contains("GMEM_RACE")) << cta;
    EXPECT_THAT(proof.schedule.to_string(), HasSubstr("+last:")) << cta;
  }
}

// PTX ISA, "Causality Order": who has seen the additions may store to the word.
TEST(PtxLastAdders, MayBeginAnew) {
  expect_proved(kernel_of({.reset = "  st.volatile.global.u32 [%rd1], %r0;\n"}));
  expect_proved(kernel_of({.reset = "  atom.global.exch.b32 %r15, [%rd1], %r0;\n"}));
  expect_proved(kernel_of({.reset = ""}));
  const ProofResult others = proof_of(kernel_of({.behind = "  st.global.u32 [%rd1], %r0;\n"}));
  EXPECT_EQ(others.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(others), Contains("GMEM_RACE"));
}

TEST(PtxLastAdders, AreNotToldWhereTheWordIsUsedInAnotherWay) {
  expect_undecided({.behind = "  red.global.add.u32 [%rd1], 1;\n"}, "in another way, too");
  // The word itself is stored.
  const ProofResult told = proof_of(kernel_of({.behind = "  st.global.u32 [%rd2+64], %r5;\n"}));
  EXPECT_NE(told.verdict, ProofVerdict::kProved);
}

TEST(PtxLastAdders, AreNotProvedWhereItDecidesWhatIsLeft) {
  expect_undecided({.store = "  st.global.u32 [%rd2], %r2;\n"}, "depends on who is the last");
}

// One comparison, in a loop: with each number in turn.
TEST(PtxLastAdders, AskForOneNumberAlone) {
  const std::string asks =
      "  mov.u32 %r20, 0;\nNEXT:\n  setp.eq.u32 %p2, %r5, %r20;\n  @%p2 bra FOUND;\n"
      "  add.u32 %r20, %r20, 1;\n  setp.lt.u32 %p9, %r20, %r3;\n  @%p9 bra NEXT;\nFOUND:\n"
      "  setp.eq.u32 %p2, %r20, 7;\n";
  EXPECT_NE(proof_of(kernel_of({.asks = asks})).verdict, ProofVerdict::kProved);
}

// CTA 0 cannot be the last: the others add when it has.
TEST(PtxLastAdders, AreUndecidedWhereNotEachCanBeTheLast) {
  const std::string waits =
      "  setp.eq.u32 %p8, %r2, 0;\n  @%p8 bra NOW;\nLOOK:\n"
      "  ld.acquire.gpu.global.u32 %r16, [%rd1+128];\n  setp.eq.u32 %p9, %r16, 0;\n"
      "  @%p9 bra LOOK;\nNOW:\n";
  const std::string tells =
      "  mov.u32 %r17, 1;\n  @!%p8 bra TOLD;\n  st.release.gpu.global.u32 [%rd1+128], %r17;\n"
      "TOLD:\n";
  expect_undecided({.release = kFence + waits, .behind = tells}, "can be the last of them");
}

TEST(PtxLastAdders, AreAsManyAsAreProvedOneByOne) {
  EXPECT_THAT(proof_of(kernel_of({.ctas = 40})).lasts, HasSubstr("(40 ways)"));
}

}  // namespace
}  // namespace warptwin::sim::last_adders_test
