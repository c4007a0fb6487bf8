// activemask behind lanes that have parted: of which lanes it tells the manual does not say. A
// proof is of all that came the same way and of each alone, or its verdict names the difference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::active_lanes_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Each fourth lane asks, sums its group's numbers, and stores to where `place` says: %r8 is the
// group's first lane.
OneKernel summed(const std::string& place, const std::string& in_front = "") {
  OneKernel kernel;
  kernel.in.assign(64, 0);
  kernel.body =
      "  and.b32 %r2, %r1, 3;\n  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra END;\n" + in_front +
      "  activemask.b32 %r3;\n  redux.sync.add.u32 %r4, %r1, %r3;\n"
      "  mov.u32 %r5, %lanemask_lt;\n  and.b32 %r6, %r5, %r3;\n  setp.ne.u32 %p2, %r6, 0;\n"
      "  brev.b32 %r7, %r3;\n  bfind.shiftamt.u32 %r8, %r7;\n  @%p2 bra END;\n"
      "  mov.u32 %r9, " +
      place +
      ";\n  mul.wide.u32 %rd3, %r9, 4;\n"
      "  add.u64 %rd3, %rd2, %rd3;\n  st.global.u32 [%rd3], %r4;\nEND:\n";
  return kernel;
}

const auto kNamed = Contains(HasSubstr("as the manual does not say: with --rule active_lanes"));

// Each group stores to a place of its own.
TEST(PtxActiveLanes, OfAnyGroupsAreProved) {
  const OneKernel kernel = summed("%r8");
  for (const char* rule : {"active_lanes=together", "active_lanes=alone", "active_lanes=either"}) {
    const ProofResult proof = proof_under(kernel, rule);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << rule << proof.strength();
    EXPECT_THAT(proof.notes, Not(kNamed)) << rule;
  }
  EXPECT_EQ(run_of(kernel).out[0], 4U * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
}

// All groups store to one place: right if there is but one.
TEST(PtxActiveLanes, ThatAreTakenForOneGroupAreNamed) {
  const OneKernel kernel = summed("0");
  const ProofResult together = proof_under(kernel, "active_lanes=together");
  EXPECT_EQ(together.verdict, ProofVerdict::kProved) << together.strength();
  EXPECT_THAT(together.notes, kNamed);
  for (const char* rule : {"active_lanes=alone", "active_lanes=either"}) {
    const ProofResult proof = proof_under(kernel, rule);
    EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << rule;
    EXPECT_THAT(ids_in(proof), Contains("WARP_LANE_RACE")) << rule;
  }
}

// Behind a wait of lanes that have parted it depends on others who came when.
TEST(PtxActiveLanes, BehindAWaitAreNotKnown) {
  const OneKernel kernel =
      summed("%r8",
             "LOOK:\n  ld.acquire.gpu.global.u32 %r16, [%rd1];\n  setp.ne.u32 %p5, %r16, 0;\n"
             "  @%p5 bra LOOK;\n");
  EXPECT_THROW(proof_under(kernel, "active_lanes=together"), ConfigError);
}

// All have met: it is the whole warp.
TEST(PtxActiveLanes, OfAWarpThatHasMetAreAll) {
  OneKernel kernel = summed("%r8");
  kernel.body =
      "  activemask.b32 %r3;\n  mul.wide.u32 %rd3, %r1, 4;\n"
      "  add.u64 %rd3, %rd2, %rd3;\n  st.global.u32 [%rd3], %r3;\n";
  const ProofResult proof = proof_under(kernel, "active_lanes=either");
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_EQ(run_of(kernel).out[5], 0xFFFFFFFFU);
}

}  // namespace
}  // namespace warptwin::sim::active_lanes_test
