// What PTX calls opaque: the state that an arrival returns, a cache policy. And addresses by what a
// try has said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::opaque_values_test {

using testing::Contains;

// Two warps arrive at two mbarriers in turn, three times, and wait by states; then `asks`, which
// may use %rd4, the state of the last arrival at the first.
OneKernel meeting(const std::string& first,
                  const std::string& second,
                  const std::string& asks = "") {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  .shared .align 8 .b64 one;\n  .shared .align 8 .b64 other;\n"
      "  mov.u32 %r2, one;\n  mov.u32 %r3, other;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n"
      "  mbarrier.init.shared.b64 [%r2], 64;\n  mbarrier.init.shared.b64 [%r3], 64;\n"
      "READY:\n  bar.sync 0;\n  mov.u32 %r4, 0;\n  mov.u64 %rd6, 0;\n"
      "ROUND:\n  mbarrier.arrive.shared.b64 %rd4, [%r2];\n"
      "  setp.ne.u32 %p2, %r4, 0;\n  @%p2 bra ONE;\n  mov.b64 %rd6, %rd4;\n"
      "ONE:\n  mbarrier.try_wait.shared.b64 %p3, [%r2], " +
      first +
      ";\n  @!%p3 bra ONE;\n  mbarrier.arrive.shared.b64 %rd5, [%r3];\n"
      "OTHER:\n  mbarrier.try_wait.shared.b64 %p3, [%r3], " +
      second +
      ";\n  @!%p3 bra OTHER;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p4, %r4, 3;\n"
      "  @%p4 bra ROUND;\n" +
      asks;
  return kernel;
}

TEST(PtxStates, AreOfTheirMbarrierAndPhase) {
  expect_proved(meeting("%rd4", "%rd5"));
  EXPECT_THROW(proof_of(meeting("%rd4", "%rd4")), ConfigError);  // the other's
  EXPECT_THROW(proof_of(meeting("2", "%rd5")), ConfigError);     // a number
  // That of the first time, at the third.
  EXPECT_NE(proof_of(meeting("%rd6", "%rd5")).verdict, ProofVerdict::kProved);
}

TEST(PtxStates, MayBeMovedAndDecideNothing) {
  const std::string moved = "  mov.b64 {%r6, %r7}, %rd4;\n  mov.b64 %rd4, {%r6, %r7};\n";
  expect_proved(meeting("%rd4", "%rd5", moved));
  const std::string asked =
      "  and.b64 %rd7, %rd4, 1;\n  setp.eq.u64 %p5, %rd7, 0;\n  @%p5 bra END;\n";
  EXPECT_THROW(proof_of(meeting("%rd4", "%rd5", asked + "  bar.sync 0;\nEND:\n")), ConfigError);
}

TEST(PtxCachePolicies, DecideNothing) {
  const auto loading = [](const std::string& asked) {
    OneKernel kernel;
    kernel.in = {1, 2, 3, 4};
    kernel.body =
        "  createpolicy.fractional.L2::evict_last.b64 %rd4, 1.0;\n"
        "  ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd4;\n" +
        asked + "  bar.warp.sync -1;\nEND:\n";
    return kernel;
  };
  expect_proved(loading(""));
  EXPECT_THROW(proof_of(loading("  setp.eq.u64 %p5, %rd4, 0;\n  @%p5 bra END;\n")), ConfigError);
}

// Warp 1 tries, and loads from `from` bytes on: bytes that warp 0 stores behind its arrival.
OneKernel loading(const std::string& from) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  mov.u32 %r2, bar;\n  setp.ne.u32 %p1, %r1, 0;\n"
      "  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\nREADY:\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd5, %rd2, %rd4;\n  st.global.u32 [%rd5], %r1;\n"
      "  st.global.u32 [%rd5+256], %r1;\n  bar.sync 0;\n"
      "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra TRY;\n  @%p1 bra END;\n"
      "  mbarrier.arrive.shared.b64 _, [%r2];\n  st.global.u32 [%rd2+256], %r1;\n  bra END;\n"
      "TRY:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n" +
      from +
      "  mul.wide.u32 %rd6, %r5, 4;\n  add.u64 %rd6, %rd6, %rd2;\n  ld.global.u32 %r6, [%rd6];\n"
      "END:\n";
  return kernel;
}

TEST(PtxTries, DecideNoAddress) {
  expect_proved(loading("  selp.u32 %r5, 16, 16, %p3;\n"));
  EXPECT_EQ(proof_of(loading("  selp.u32 %r5, 64, 16, %p3;\n")).verdict, ProofVerdict::kUndecided);
  EXPECT_THAT(ids_in(proof_of(loading("  selp.u32 %r5, 64, 64, %p3;\n"))), Contains("GMEM_RACE"));
}

// Thread 0 of CTA 0 arrives at the mbarrier of the CTA of rank `first`, stores to CTA 1, and
// arrives at that of rank `second`. CTA 1 waits and loads what was stored. %r5 is 1 where a try for
// what another warp does has said yes, else 0, and %r6 is the other one.
OneKernel telling(const std::string& first, const std::string& second) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.ctas = kernel.cluster = 2;
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  const auto arrive = [](const std::string& rank) {
    return "  mapa.shared::cluster.u32 %r8, %r3, " + rank +
           ";\n  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n";
  };
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  .shared .align 8 .b64 told;\n  mov.u32 %r2, bar;\n"
      "  mov.u32 %r3, told;\n  mov.u32 %r4, %cluster_ctarank;\n  mov.u32 %r7, tile;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  setp.ne.u32 %p4, %r4, 0;\n  @%p1 bra READY;\n"
      "  mbarrier.init.shared.b64 [%r2], 1;\n  mbarrier.init.shared.b64 [%r3], 1;\n"
      "  fence.mbarrier_init.release.cluster;\nREADY:\n" +
      meet +
      "  setp.eq.u32 %p5, %r1, 32;\n  @%p5 mbarrier.arrive.shared.b64 _, [%r2];\n"
      "  @%p1 bra END;\n  @%p4 bra OTHER;\n"
      "  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n  selp.u32 %r5, 1, 0, %p3;\n"
      "  xor.b32 %r6, %r5, 1;\n" +
      arrive(first) +
      "  mapa.shared::cluster.u32 %r8, %r7, 1;\n  st.shared::cluster.u32 [%r8], %r1;\n" +
      arrive(second) +
      "OTHER:\n  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p3, [%r3], 0;\n"
      "  @!%p3 bra OTHER;\n  @!%p4 bra END;\n  ld.shared.u32 %r6, [%r7];\n"
      "  st.global.u32 [%rd2], %r6;\nEND:\n  bar.warp.sync -1;\n" +
      meet;
  return kernel;
}

TEST(PtxTries, DecideNoCta) {
  expect_proved(telling("0", "1"));
  EXPECT_NE(proof_of(telling("1", "0")).verdict, ProofVerdict::kProved);
  EXPECT_NE(proof_of(telling("%r5", "%r6")).verdict, ProofVerdict::kProved);
}

}  // namespace warptwin::sim::opaque_values_test
