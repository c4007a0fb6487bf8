// Special registers: what a kernel may rely on, and what no operation may depend on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::special_registers_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

// The first warp does something else, by what `reads` puts into %r5: 0 for it.
OneKernel dispatches_by(const std::string& reads) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body = reads +
                "  setp.eq.u32 %p1, %r5, 0;\n  @%p1 bra FIRST;\n  bar.sync 1, 64;\n  bra END;\n"
                "FIRST:\n  bar.arrive 1, 64;\nEND:\n";
  return kernel;
}

TEST(PtxSpecialRegisters, TellWarpsApartByTheThread) {
  EXPECT_EQ(proof_of(dispatches_by("  shr.u32 %r5, %r1, 5;\n")).verdict, ProofVerdict::kProved);
}

// %warpid is a place on the SM. Beside other CTAs on an H100, the warps of a CTA have had 10, 11, 8
// and 9 (docs/log.md).
TEST(PtxSpecialRegisters, OfTheMachineDecideNothing) {
  for (const char* name : {"%warpid", "%nwarpid", "%smid", "%nsmid", "%clock", "%envreg3"}) {
    SCOPED_TRACE(name);
    const OneKernel kernel = dispatches_by("  mov.u32 %r5, " + std::string{name} + ";\n");
    EXPECT_THAT([&] { proof_of(kernel); },
                ThrowsMessage<ConfigError>(HasSubstr("(a clock, %smid, %warpid, activemask")));
  }
  EXPECT_THROW(proof_of(dispatches_by("  mov.u64 %rd4, %gridid;\n  cvt.u32.u64 %r5, %rd4;\n")),
               ConfigError);
}

// What decides nothing may be read.
TEST(PtxSpecialRegisters, OfTheMachineMayBeStored) {
  OneKernel kernel;
  kernel.body =
      "  mov.u32 %r5, %warpid;\n  mad.wide.u32 %rd4, %r1, 4, %rd2;\n"
      "  st.global.u32 [%rd4], %r5;\n";
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// An H100 gives a CTA shared memory by 128 bytes.
TEST(PtxSpecialRegisters, CountSharedMemoryByWhatIsGiven) {
  OneKernel kernel;
  kernel.variables = ".shared .align 4 .b8 more[100];\n";
  kernel.body =
      "  mov.u32 %r6, more;\n  st.shared.u32 [%r6], %r1;\n  mov.u32 %r5, %total_smem_size;\n"
      "  mad.wide.u32 %rd4, %r1, 4, %rd2;\n  st.global.u32 [%rd4], %r5;\n";
  kernel.threads = 1;
  EXPECT_EQ(run_of(kernel).out[0], 16384U + 128U);
}

// Lanes that have parted are together for certain once they have synchronised, and not before.
TEST(PtxSpecialRegisters, ActivemaskIsKnownOfLanesThatNeverParted) {
  const std::string part =
      "  setp.lt.u32 %p1, %r1, 7;\n  @%p1 bra SOME;\n  add.u32 %r7, %r1, 1;\n  bra MET;\n"
      "SOME:\n  add.u32 %r7, %r1, 2;\nMET:\n";
  const std::string read =
      "  activemask.b32 %r6;\n  xor.b32 %r5, %r6, 0xffffffff;\n"
      "  setp.ne.u32 %p2, %r5, 0;\n  @%p2 trap;\n";
  const auto kernel_of = [](const std::string& body) {
    OneKernel kernel;
    kernel.body = body;
    return kernel;
  };
  EXPECT_EQ(proof_of(kernel_of(read)).verdict, ProofVerdict::kProved);
  const ProofResult parted = proof_of(kernel_of(part + read));
  EXPECT_THAT(
      parted.notes,
      testing::Contains(testing::HasSubstr("with --rule active_lanes=alone the launch is")));
  EXPECT_EQ(proof_of(kernel_of(part + "  bar.warp.sync 0xffffffff;\n" + read)).verdict,
            ProofVerdict::kProved);
}

}  // namespace warptwin::sim::special_registers_test
