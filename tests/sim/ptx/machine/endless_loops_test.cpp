// Loops that nothing ends, and those beside them that end.

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::endless_loops_test {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t kSteps = 300'000;  // choices: each loop without an end is found before

// `loop` by the lanes of the first warp, which goes back to L by `back`.
OneKernel looping(const std::string& loop, const std::string& back) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  setp.ge.u32 %p2, %r1, 32;\n  setp.ne.u32 %p3, %r1, 0;\n  mov.u32 %r2, 0;\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  @%p2 bra DONE;\nL:\n" +
      loop + back + "DONE:\n";
  return kernel;
}

struct Loop {
  const char* name;
  const char* text;
};

void PrintTo(const Loop& loop, std::ostream* out) {
  *out << loop.name;
}

class EndlessLoops : public testing::TestWithParam<Loop> {};

TEST_P(EndlessLoops, AreFound) {
  const OneKernel kernel = looping(GetParam().text, "  bra L;\n");
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.result.end, Ending::kLivelock);
  EXPECT_THAT(ids_in(run.result), Contains("LIVELOCK_SPIN"));
  EXPECT_LT(run.result.stats.steps, kSteps);
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(proof), Contains("LIVELOCK_SPIN"));
}

TEST_P(EndlessLoops, HaveATwinThatCountsToItsEnd) {
  const OneRun run = run_of(looping(
      GetParam().text, "  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p1, %r2, 5000;\n  @%p1 bra L;\n"));
  EXPECT_EQ(run.result.end, Ending::kDone);
  EXPECT_THAT(ids_in(run.result), Not(Contains("LIVELOCK_SPIN")));
}

constexpr Loop kLoops[] = {
    {"OfAdditionsByALane", "  @!%p3 red.global.add.u32 [%rd1], 1;\n"},
    {"OfAdditionsByAllLanes", "  red.shared.add.u32 [tile], 1;\n"},
    {"OfStores", "  st.global.u32 [%rd5], %r1;\n"},
    {"OfReleasesAndFences",
     "  fence.acq_rel.gpu;\n  @!%p3 st.release.gpu.global.u32 [%rd1], %r1;\n"},
    {"OfAShuffle", "  shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n  bar.warp.sync -1;\n"},
    {"OfALoopWithin",
     "  mov.u32 %r4, 0;\nIN:\n  red.shared.add.u32 [tile+4], %r4;\n  add.u32 %r4, %r4, 1;\n"
     "  setp.lt.u32 %p4, %r4, 10;\n  @%p4 bra IN;\n"},
    {"OfNothing", ""},
    {"OfSleep", "  nanosleep.u32 100;\n"},
};

INSTANTIATE_TEST_SUITE_P(All, EndlessLoops, testing::ValuesIn(kLoops), [](const auto& loop) {
  return loop.param.name;
});

// The last warp is told to go on long after the first one has begun to add.
TEST(EndlessLoops, ThatAreToldToEndAreNone) {
  for (const char* look : {"  ld.relaxed.gpu.global.u32 %r5, [%rd1+4];\n",
                           "  atom.relaxed.gpu.global.or.b32 %r5, [%rd1+4], 0;\n"}) {
    const OneKernel kernel =
        looping(std::string{"  @!%p3 red.relaxed.gpu.global.add.u32 [%rd1], 1;\n"} + look,
                "  setp.eq.u32 %p5, %r5, 0;\n  @%p5 bra L;\n");
    OneKernel told = kernel;
    told.body +=
        "  setp.ne.u32 %p6, %r1, 32;\n  @%p6 bra OUT;\n  mov.u32 %r6, 0;\nCOUNT:\n"
        "  red.shared.add.u32 [tile+8], 1;\n  add.u32 %r6, %r6, 1;\n"
        "  setp.lt.u32 %p7, %r6, 5000;\n  @%p7 bra COUNT;\n  mov.u32 %r7, 1;\n"
        "  st.relaxed.gpu.global.u32 [%rd1+4], %r7;\nOUT:\n";
    const OneRun run = run_of(told);
    EXPECT_EQ(run.result.end, Ending::kDone);
    EXPECT_THAT(ids_in(run.result), Not(Contains("LIVELOCK_SPIN")));
  }
}

}  // namespace warptwin::sim::endless_loops_test
