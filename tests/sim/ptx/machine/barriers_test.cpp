// mbarriers of other CTAs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::barriers_test {

using testing::Contains;

// Thread 0 of each CTA of a pair announces 32 bytes to its own barrier, and `bytes` to the other's
// as if a copy had brought them.
OneKernel completing(const std::string& bytes, bool meets) {
  OneKernel kernel;
  kernel.ctas = kernel.cluster = 2;
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  mov.u32 %r2, bar;\n  mov.u32 %r3, %cluster_ctarank;\n"
      "  xor.b32 %r3, %r3, 1;\n  mapa.shared::cluster.u32 %r4, %r2, %r3;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  fence.mbarrier_init.release.cluster;\nREADY:\n" +
      (meets ? meet : std::string{}) +
      "  @%p1 bra WAIT;\n  mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 32;\n"
      "  mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r4], " +
      bytes +
      ";\nWAIT:\n  bar.warp.sync 0xffffffff;\nAGAIN:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n  @!%p2 bra AGAIN;\n" +
      meet;
  return kernel;
}

TEST(PtxRemoteBarriers, BytesAreCompletedInAnotherCta) {
  const ProofResult right = proof_of(completing("32", true));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(proof_of(completing("16", true))), Contains("DEADLOCK"));
  EXPECT_THAT(ids_in(proof_of(completing("32", false))), Contains("MBAR_UNINIT"));
}

}  // namespace warptwin::sim::barriers_test
