// Instructions with `.sync`, and no others, have all lanes there before one of them goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::between_lanes_test {

// Warp 0 completes the first mbarrier twice, the second time when warp 1 has arrived at the other:
// the lane of warp 1 that does so has the others' word that they are past their first wait.
OneKernel behind_a_wait(const std::string& between) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  mov.u32 %r20, tile;\n  add.u32 %r21, %r20, 8;\n  add.u32 %r22, %r20, 64;\n"
      "  and.b32 %r30, %r1, 31;\n  setp.ne.u32 %p2, %r30, 0;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n"
      "  mbarrier.init.shared.b64 [%r20], 1;\n  mbarrier.init.shared.b64 [%r21], 1;\n"
      "MEET:\n  bar.sync 0;\n"
      "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra OTHER;\n  @%p2 bra LAST;\n"
      "  mbarrier.arrive.shared.b64 _, [%r20];\n"
      "FREE:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r21], 0;\n  @!%p3 bra FREE;\n"
      "  mbarrier.arrive.shared.b64 _, [%r20];\n  bra LAST;\n"
      "OTHER:\n"
      "FULL:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0;\n  @!%p3 bra FULL;\n" +
      between +
      "  @%p2 bra PAST;\n  mbarrier.arrive.shared.b64 _, [%r21];\nPAST:\n"
      "AGAIN:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 1;\n  @!%p3 bra AGAIN;\n"
      "LAST:\n";
  return kernel;
}

struct Form {
  const char* name;
  const char* text;
};
void PrintTo(const Form& form, std::ostream* out) {
  *out << form.name;
}

class PtxTogether : public testing::TestWithParam<Form> {};

TEST_P(PtxTogether, IsSaidOfAWait) {
  const ProofResult proof = proof_of(behind_a_wait(GetParam().text));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxTogether,
    testing::Values(Form{"Elect", "  elect.sync _|%p4, 0xffffffff;\n"},
                    Form{"Shuffle", "  shfl.sync.idx.b32 %r2, %r30, 0, 31, 0xffffffff;\n"},
                    Form{"Vote", "  vote.sync.any.pred %p4, %p2, 0xffffffff;\n"},
                    Form{"Match", "  match.any.sync.b32 %r2, %r30, 0xffffffff;\n"},
                    Form{"Reduction", "  redux.sync.add.u32 %r2, %r30, 0xffffffff;\n"},
                    Form{"Meeting", "  bar.warp.sync 0xffffffff;\n"}),
    [](const auto& one) { return one.param.name; });

class PtxApart : public testing::TestWithParam<Form> {};

TEST_P(PtxApart, IsRefuted) {
  const ProofResult proof = proof_of(behind_a_wait(GetParam().text));
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted);
}

INSTANTIATE_TEST_SUITE_P(Each,
                         PtxApart,
                         testing::Values(Form{"Nothing", ""},
                                         Form{"Arithmetic", "  add.u32 %r2, %r30, 1;\n"},
                                         Form{"Load", "  ld.shared.u32 %r2, [%r20+128];\n"},
                                         Form{"SomeLanes",
                                              "  @!%p2 shfl.sync.idx.b32 %r2, %r30, 0, 31, 1;\n"}),
                         [](const auto& one) { return one.param.name; });

// Of memory elect.sync says nothing: a lane that has not waited has not seen what the others have.
TEST(PtxElect, OrdersNoMemory) {
  const std::string store_in_lane_0 = "  @%p2 bra STORED;\n  st.shared.u32 [%r22], %r1;\nSTORED:\n";
  const std::string read =
      "  ld.shared.u32 %r2, [%r22];\n  mul.wide.u32 %rd4, %r30, 4;\n  add.u64 %rd5, %rd2, %rd4;\n  "
      "st.global.u32 [%rd5], %r2;\n";
  EXPECT_THAT(
      ids_in(proof_of(behind_a_wait(store_in_lane_0 + "  elect.sync _|%p4, 0xffffffff;\n" + read))),
      testing::Contains("WARP_LANE_RACE"));
  EXPECT_EQ(
      proof_of(behind_a_wait(store_in_lane_0 + "  bar.warp.sync 0xffffffff;\n" + read)).verdict,
      ProofVerdict::kProved);
}

}  // namespace warptwin::sim::between_lanes_test
