// Barriers with a result, the state of an mbarrier as a number, variables that begin as addresses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::barrier_reductions_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Each thread's result of a reduction of `condition`, in %p1, to `out`.
OneKernel reducing(const std::string& condition, const std::string& reduction) {
  OneKernel kernel;
  kernel.threads = 96;
  kernel.body = condition + reduction +
                "  mul.wide.u32 %rd3, %r1, 4;\n  add.u64 %rd3, %rd2, %rd3;\n"
                "  st.global.u32 [%rd3], %r2;\n";
  return kernel;
}

constexpr char kBelow40[] = "  setp.lt.u32 %p1, %r1, 40;\n";
constexpr char kAnswer[] = "  selp.u32 %r2, 1, 0, %p2;\n";

struct Reduction {
  const char* name;
  std::string text;
  std::uint32_t result;
};
void PrintTo(const Reduction& reduction, std::ostream* out) {
  *out << reduction.name;
}

class PtxBarrierReduction : public testing::TestWithParam<Reduction> {};

TEST_P(PtxBarrierReduction, IsOfAllThreads) {
  const OneKernel kernel = reducing(kBelow40, GetParam().text);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < kernel.threads; ++thread) {
    EXPECT_EQ(run.out[thread], GetParam().result) << thread;
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxBarrierReduction,
    testing::Values(
        Reduction{"Popc", "  bar.red.popc.u32 %r2, 0, %p1;\n", 40},
        Reduction{"PopcOfTheOthers", "  barrier.cta.red.popc.u32 %r2, 1, 96, !%p1;\n", 56},
        Reduction{"And", std::string{"  bar.red.and.pred %p2, 0, %p1;\n"} + kAnswer, 0},
        Reduction{"Or", std::string{"  barrier.red.or.pred %p2, 2, %p1;\n"} + kAnswer, 1},
        Reduction{
            "Twice", "  bar.red.and.pred %p2, 0, %p1;\n  bar.red.popc.u32 %r2, 0, !%p2;\n", 96}),
    [](const auto& each) { return std::string{each.param.name}; });

TEST(PtxBarriers, OnesWithAResultOrderWhatStandsBeforeThem) {
  const auto handing_over = [](const std::string& barrier) {
    OneKernel kernel;
    kernel.threads = 64;
    kernel.body =
        "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 4, %r20;\n"
        "  st.shared.u32 [%r20], %r1;\n  setp.lt.u32 %p1, %r1, 40;\n" +
        barrier +
        "  xor.b32 %r21, %r1, 32;\n  mov.u32 %r20, tile;\n"
        "  mad.lo.u32 %r20, %r21, 4, %r20;\n  ld.shared.u32 %r2, [%r20];\n";
    return kernel;
  };
  EXPECT_EQ(proof_of(handing_over("  bar.red.popc.u32 %r2, 0, %p1;\n")).verdict,
            ProofVerdict::kProved);
  const ProofResult raced = proof_of(handing_over(""));
  EXPECT_NE(raced.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(raced), Contains("SMEM_RACE"));
}

TEST(PtxBarriers, AResultOfWhatNobodyWroteDecidesNothing) {
  const std::string branch = "  setp.eq.u32 %p2, %r2, 0;\n  @%p2 bra OVER;\n  bar.sync 1;\nOVER:\n";
  const std::string condition = "  setp.lt.u32 %p1, %r50, 40;\n";
  EXPECT_THROW(proof_of(reducing(condition, "  bar.red.popc.u32 %r2, 0, %p1;\n" + branch)),
               ConfigError);
  EXPECT_EQ(proof_of(reducing(kBelow40, "  bar.red.popc.u32 %r2, 0, %p1;\n" + branch)).verdict,
            ProofVerdict::kProved);
}

TEST(PtxBarriers, OneWithAResultIsNotSharedWithASync) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  setp.lt.u32 %p1, %r1, 32;\n  @%p1 bra FIRST;\n  bar.sync 0;\n  bra DONE;\n"
      "FIRST:\n  bar.red.popc.u32 %r2, 0, %p1;\nDONE:\n";
  EXPECT_THROW(proof_of(kernel), ConfigError);
}

OneKernel counting(const std::string& use) {
  OneKernel kernel;
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MET;\n"
      "  mbarrier.init.shared::cta.b64 [bar], 32;\nMET:\n  bar.warp.sync 0xffffffff;\n"
      "  mbarrier.arrive.shared::cta.b64 %rd4, [bar];\n"
      "  mbarrier.pending_count.b64 %r2, %rd4;\n" +
      use +
      "WAIT:\n  mbarrier.test_wait.shared::cta.b64 %p2, [bar], %rd4;\n"
      "  @!%p2 bra WAIT;\n";
  return kernel;
}

TEST(PtxBarriers, PendingCountsDecideNothing) {
  EXPECT_EQ(proof_of(counting("")).verdict, ProofVerdict::kProved);
  EXPECT_THROW(proof_of(counting("  setp.eq.u32 %p3, %r2, 1;\n  @%p3 bra WAIT;\n")), ConfigError);
}

TEST(PtxVariables, MayBeginAsAddresses) {
  OneKernel kernel;
  kernel.variables =
      ".global .align 4 .u32 words[3] = {5, 7, 11};\n"
      ".global .align 8 .u64 places[2] = {words+8, generic(words)};\n"
      ".global .align 1 .u8 bytes[2] = {0xff(words), 0xff00(words)};\n";
  kernel.body =
      "  ld.global.u64 %rd4, [places];\n  ld.global.u32 %r2, [%rd4];\n"
      "  ld.global.u64 %rd5, [places+8];\n  ld.u32 %r3, [%rd5+4];\n"
      "  ld.global.u8 %r4, [bytes];\n  ld.global.u8 %r5, [bytes+1];\n"
      "  shl.b32 %r5, %r5, 8;\n  or.b32 %r4, %r4, %r5;\n"
      "  mov.u64 %rd6, words;\n  cvt.u32.u64 %r6, %rd6;\n  and.b32 %r6, %r6, 0xffff;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra DONE;\n"
      "  st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r6};\nDONE:\n";
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.out[0], 11U);
  EXPECT_EQ(run.out[1], 7U);
  EXPECT_EQ(run.out[2], run.out[3]);
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

TEST(PtxVariables, DoNotBeginAsTheAddressOfSharedMemory) {
  OneKernel kernel;
  kernel.variables = ".shared .align 4 .u32 there;\n.global .align 8 .u64 place = there;\n";
  try {
    proof_of(kernel);
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("place"));
  }
}

}  // namespace warptwin::sim::barrier_reductions_test
