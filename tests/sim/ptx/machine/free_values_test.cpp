// Values that another interleaving, or another run, may give: nothing that decides is proved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::free_values_test {

OneKernel kernel_of(const std::string& body, std::uint32_t threads, std::uint32_t ctas) {
  OneKernel kernel;
  kernel.threads = threads;
  kernel.ctas = ctas;
  kernel.in.resize(64, 3);
  kernel.variables = ".global .align 16 .u32 v[8];\n";
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  .shared .align 8 .b64 other;\n"
      "  setp.eq.u32 %p1, %r1, 0;\n  and.b32 %r3, %r1, 31;\n  setp.ne.u32 %p2, %r3, 0;\n"
      "  @%p1 mbarrier.init.shared.b64 [bar], 1;\n  @%p1 mbarrier.init.shared.b64 [other], 1;\n"
      "  @%p1 st.shared.u32 [tile], 0;\n  @%p1 st.shared.u32 [tile+64], 0;\n  bar.sync 0;\n" +
      body;
  return kernel;
}

constexpr char kDecides[] =
    "  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n  mov.u32 %r32, 1;\nNEXT:\n";

class OfTheRun : public testing::TestWithParam<const char*> {};

TEST_P(OfTheRun, DecidesNothing) {
  const std::string reads = GetParam();
  EXPECT_THROW(proof_of(kernel_of(reads + kDecides, 32, 1)), ConfigError) << reads;
  // It may be looked at all the same.
  expect_proved(kernel_of(reads + "  mad.lo.u32 %r30, %r1, 4, 128;\n", 32, 1));
}

constexpr const char* kOfTheRun[] = {
    "  mov.u32 %r31, %clock;\n",
    "  mov.u32 %r31, %clock_hi;\n",
    "  mov.u64 %rd5, %clock64;\n  cvt.u32.u64 %r31, %rd5;\n",
    "  mov.u64 %rd5, %globaltimer;\n  cvt.u32.u64 %r31, %rd5;\n",
    "  mov.u32 %r31, %smid;\n",
    "  mov.u32 %r31, %nsmid;\n",
    "  mov.u32 %r31, %warpid;\n",
    "  mov.u32 %r31, %nwarpid;\n",
    "  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\n  mbarrier.pending_count.b64 %r31, %rd5;\n",
    "  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\n  shr.u64 %rd6, %rd5, 63;\n"
    "  cvt.u32.u64 %r31, %rd6;\n",
};
INSTANTIATE_TEST_SUITE_P(PtxFreeValues, OfTheRun, testing::ValuesIn(kOfTheRun));

// Bits that arithmetic has made are no state, be they those of one.
TEST(PtxFreeValues, AStateIsOfAnArrival) {
  OneKernel kernel = kernel_of(
      "  ld.global.u64 %rd5, [%rd1];\n  mov.u32 %r7, bar;\n  cvt.u64.u32 %rd6, %r7;\n"
      "  shl.b64 %rd6, %rd6, 32;\n  or.b64 %rd6, %rd6, 0xA500000000000000;\n"
      "  or.b64 %rd5, %rd5, %rd6;\n  @%p1 mbarrier.arrive.shared.b64 _, [bar];\n"
      "L1:\n  mbarrier.try_wait.shared.b64 %p10, [bar], %rd5;\n  @!%p10 bra L1;\n",
      32,
      1);
  kernel.in.assign(64, 0);
  kernel.control = false;
  EXPECT_THROW(proof_of(kernel), ConfigError);
}

/// Two warps. `wrong` is not proved, by a word about what is not there or is undecided.
struct Choice {
  const char* name;
  const char* wrong;
  const char* right;
  const char* says;
};
void PrintTo(const Choice& choice, std::ostream* out) {
  *out << choice.wrong;
}

class Chosen : public testing::TestWithParam<Choice> {};

std::string said_of(const OneKernel& kernel) {
  try {
    const ProofResult proof = proof_of(kernel);
    std::string said = proof.verdict == ProofVerdict::kProved ? "proved" : "";
    for (const Undecided& one : proof.undecided) {
      said += one.reason + "\n";
    }
    for (const std::string& id : ids_in(proof)) {
      said += id + "\n";
    }
    return said;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST_P(Chosen, IsNotProved) {
  const std::string said = said_of(kernel_of(GetParam().wrong, 64, 1));
  EXPECT_THAT(said, testing::HasSubstr(GetParam().says));
  EXPECT_THAT(said, testing::Not(testing::StartsWith("proved")));
}

TEST_P(Chosen, HasARightTwin) {
  expect_proved(kernel_of(GetParam().right, 64, 1));
}

constexpr Choice kChoices[] = {
    {"ATryAsData",
     "  setp.lt.u32 %p3, %r1, 32;\n  @%p3 bra FIRST;\n"
     "  mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0;\n  selp.u32 %r7, 1, 0, %p4;\n"
     "  @!%p2 st.shared.u32 [tile], %r7;\n  bar.sync 1, 64;\n  bra DONE;\n"
     "FIRST:\n  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\n  bar.sync 1, 64;\n"
     "  ld.shared.u32 %r8, [tile];\n  setp.eq.u32 %p5, %r8, 1;\n  @!%p5 bra DONE;\n"
     "L1:\n  mbarrier.try_wait.parity.shared.b64 %p10, [other], 0;\n  @!%p10 bra L1;\nDONE:\n",
     "  setp.lt.u32 %p3, %r1, 32;\n  @%p3 bra FIRST;\n"
     "  mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0;\n  selp.u32 %r7, 1, 0, %p4;\n"
     "  @!%p2 st.shared.u32 [tile], %r7;\n  bar.sync 1, 64;\n  bra DONE;\n"
     "FIRST:\n  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\n  bar.sync 1, 64;\n"
     "  ld.shared.u32 %r8, [tile];\n  setp.eq.u32 %p5, %r8, 1;\n  @!%p5 bra DONE;\n"
     "  mov.u32 %r9, 1;\nDONE:\n",
     "does not end"},
    {"ATryAsTheNumberOfABarrier",
     "  setp.lt.u32 %p3, %r1, 32;\n  @%p3 bra FIRST;\n"
     "  mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0;\n  selp.u32 %r7, 1, 2, %p4;\n"
     "  bar.sync %r7, 64;\n  bra DONE;\n"
     "FIRST:\n  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\n  bar.sync 1, 64;\nDONE:\n",
     "  setp.lt.u32 %p3, %r1, 32;\n  @%p3 bra FIRST;\n"
     "  mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0;\n  selp.u32 %r7, 1, 1, %p4;\n"
     "  bar.sync %r7, 64;\n  bra DONE;\n"
     "FIRST:\n  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\n  bar.sync 1, 64;\nDONE:\n",
     "DEADLOCK"},
    {"ALock",
     "  @%p2 bra DONE;\nL1:\n  atom.shared.cas.b32 %r7, [tile], 0, 1;\n  setp.ne.u32 %p3, %r7, 0;\n"
     "  @%p3 bra L1;\n  ld.shared.u32 %r8, [tile+64];\n  add.u32 %r8, %r8, 1;\n"
     "  st.shared.u32 [tile+64], %r8;\n  atom.shared.exch.b32 %r9, [tile], 0;\nDONE:\n",
     "  @%p2 bra DONE;\n  atom.shared.add.u32 %r8, [tile+64], 1;\nDONE:\n",
     "a lock of shared memory, or another wait by its atomics, is not there"},
    {"ALockThatOrders",
     "  @%p2 bra DONE;\nL1:\n  atom.acquire.cta.shared.cas.b32 %r7, [tile], 0, 1;\n"
     "  setp.ne.u32 %p3, %r7, 0;\n  @%p3 bra L1;\n  ld.shared.u32 %r8, [tile+64];\n"
     "  add.u32 %r8, %r8, 1;\n  st.shared.u32 [tile+64], %r8;\n"
     "  st.release.cta.shared.u32 [tile], 0;\nDONE:\n",
     "  setp.lt.u32 %p3, %r1, 32;\n  @%p3 bra FIRST;\n"
     "L1:\n  mbarrier.try_wait.parity.shared.b64 %p10, [bar], 0;\n  @!%p10 bra L1;\nFIRST:\n"
     "  @%p2 bra DONE;\n  ld.shared.u32 %r8, [tile+64];\n  add.u32 %r8, %r8, 1;\n"
     "  st.shared.u32 [tile+64], %r8;\n  @%p1 mbarrier.arrive.shared.b64 %rd5, [bar];\nDONE:\n",
     "acquiring and releasing atomics of shared memory are not there"},
    {"ALockThatStaysTaken",
     "  @%p2 bra DONE;\nL1:\n  atom.shared.cas.b32 %r7, [tile], 0, 1;\n  setp.ne.u32 %p3, %r7, 0;\n"
     "  @%p3 bra L1;\nDONE:\n",
     "  @%p2 bra DONE;\n  atom.shared.cas.b32 %r7, [tile], 0, 1;\nDONE:\n",
     "LIVELOCK_SPIN"},
    {"ALockOfGlobalMemory",
     "  @%p2 bra DONE;\nL1:\n  atom.acquire.gpu.global.cas.b32 %r7, [v], 0, 1;\n"
     "  setp.ne.u32 %p3, %r7, 0;\n  @%p3 bra L1;\n  st.release.gpu.global.u32 [v], 0;\nDONE:\n",
     "  @%p2 bra DONE;\n  red.release.gpu.global.add.u32 [v], 1;\nDONE:\n",
     "a global word is stored to by several warps"},
    {"ATicket",
     "  @%p2 bra DONE;\n  atom.shared.add.u32 %r7, [tile], 1;\n  setp.ne.u32 %p3, %r7, 0;\n"
     "  @%p3 bra DONE;\n  st.shared.u32 [tile+64], %r1;\nDONE:\n",
     "  @%p2 bra DONE;\n  red.shared.add.u32 [tile], 1;\nDONE:\n",
     "who is the last to count depends on when another atomic of the word comes"},
    {"AnExchange",
     "  @%p2 bra NEXT;\n  atom.global.exch.b32 %r31, [v], 5;\n"
     "  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n  mov.u32 %r32, 1;\nNEXT:\n",
     "  @!%p1 bra NEXT;\n  atom.global.exch.b32 %r31, [v], 5;\n"
     "  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n  mov.u32 %r32, 1;\nNEXT:\n",
     "what a load of a global word finds depends on the interleaving"},
    {"AWordThatIsStoredBeside",
     "  @%p1 st.relaxed.gpu.global.u32 [v], 5;\n  setp.ne.u32 %p3, %r1, 32;\n  @%p3 bra NEXT;\n"
     "  ld.relaxed.gpu.global.u32 %r31, [v];\n  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n"
     "  mov.u32 %r32, 1;\nNEXT:\n",
     "  @%p1 st.global.u32 [v], 5;\n  bar.sync 1, 64;\n  setp.ne.u32 %p3, %r1, 32;\n"
     "  @%p3 bra NEXT;\n  ld.relaxed.gpu.global.u32 %r31, [v];\n"
     "  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n  mov.u32 %r32, 1;\nNEXT:\n",
     "what a load of a global word finds depends on the interleaving"},
    // In order; whether memory follows it nobody looks at, and that is what is said.
    {"AWordThatIsStoredBefore",
     "  @%p1 st.relaxed.gpu.global.u32 [v], 5;\n  bar.sync 1, 64;\n  setp.ne.u32 %p3, %r1, 32;\n"
     "  @%p3 bra NEXT;\n  ld.relaxed.gpu.global.u32 %r31, [v];\nNEXT:\n",
     "  @%p1 st.relaxed.gpu.global.u32 [v], 5;\n  @%p1 ld.relaxed.gpu.global.u32 %r31, [v];\n",
     "whether it finds what was written is not looked at"},
    {"AWordThatIsStoredBehind",
     "  @%p1 ld.relaxed.gpu.global.u32 %r31, [v];\n  bar.sync 1, 64;\n"
     "  setp.eq.u32 %p3, %r1, 32;\n  @%p3 st.relaxed.gpu.global.u32 [v], 5;\n",
     "  @%p1 ld.relaxed.gpu.global.u32 %r31, [v];\n  bar.sync 1, 64;\n"
     "  @%p1 st.relaxed.gpu.global.u32 [v], 5;\n",
     "whether what was found is what was there before is not looked at"},
};
INSTANTIATE_TEST_SUITE_P(PtxFreeValues, Chosen, testing::ValuesIn(kChoices), [](const auto& row) {
  return std::string{row.param.name};
});

}  // namespace warptwin::sim::free_values_test
