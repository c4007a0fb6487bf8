// Polls as CUDA programs write them: by atomics, by one lane with a shuffle or a vote, in
// functions, with a clock in their back-off, with their state in local memory. What is a wait is
// proved, and each way to get it wrong is not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::looks_test {

using testing::Contains;
using testing::IsEmpty;

// Each CTA but the last stores `out` and then its flag, a word of `in`; the last one polls, and
// loads what the one before it has stored.
OneKernel polling(const std::string& poll, std::uint32_t ctas = 2) {
  OneKernel kernel;
  kernel.ctas = ctas;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  .local .align 4 .b8 depot[8];\n"
      "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %nctaid.x;\n  sub.u32 %r4, %r3, 1;\n"
      "  setp.eq.u32 %p1, %r2, %r4;\n  mad.lo.u32 %r5, %r2, 32, %r1;\n"
      "  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  mul.wide.u32 %rd6, %r2, 4;\n  add.u64 %rd6, %rd1, %rd6;\n"
      "  setp.ne.u32 %p2, %r1, 0;\n  @%p1 bra READ;\n"
      "  st.global.u32 [%rd5], %r5;\n  membar.gl;\n  bar.warp.sync -1;\n  @%p2 bra LAST;\n"
      "  mov.u32 %r7, 1;\n  st.volatile.global.u32 [%rd6], %r7;\n  bra LAST;\nREAD:\n" +
      poll + "  ld.global.u32 %r6, [%rd5+-128];\n  st.global.u32 [%rd5], %r6;\nLAST:\n";
  return kernel;
}

constexpr char kFence[] = "  membar.gl;\n  bar.warp.sync -1;\n";
// By lane 0, then all learn of it.
std::string alone(const std::string& loop) {
  return "  @%p2 bra DONE;\nLOOK:\n" + loop + "DONE:\n" + kFence;
}
constexpr char kLook[] = "  ld.volatile.global.u32 %r10, [%rd1];\n";
constexpr char kAgain[] = "  setp.eq.s32 %p3, %r10, 0;\n  @%p3 bra LOOK;\n";

void expect_wait(const OneKernel& kernel) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << kernel.body;
  EXPECT_THAT(ids_in(proof), IsEmpty()) << kernel.body;
  EXPECT_EQ(run_of(kernel).out[32 * (kernel.ctas - 1) + 5], 32 * (kernel.ctas - 2) + 5);
}

void expect_open(const OneKernel& kernel) {
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kUndecided) << kernel.body;
}

void expect_refuted(const OneKernel& kernel, const char* id) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << kernel.body;
  EXPECT_THAT(ids_in(proof), Contains(id)) << kernel.body;
}

TEST(PtxLooks, ByAtomicsThatLeaveTheWordAreWaits) {
  const auto by = [](const char* atomic) {
    return polling(alone("  atom." + std::string{atomic} + ";\n" + kAgain));
  };
  for (const char* atomic : {"global.add.u32 %r10, [%rd1], 0",
                             "global.or.b32 %r10, [%rd1], 0",
                             "global.xor.b32 %r10, [%rd1], 0",
                             "global.and.b32 %r10, [%rd1], -1",
                             "global.cas.b32 %r10, [%rd1], 0, 0",
                             "acquire.gpu.global.add.u32 %r10, [%rd1], 0"}) {
    expect_wait(by(atomic));
  }
  for (const char* atomic : {"global.add.u32 %r10, [%rd1], 1",
                             "global.and.b32 %r10, [%rd1], 1",
                             "global.cas.b32 %r10, [%rd1], 0, 2",
                             "global.exch.b32 %r10, [%rd1], 0"}) {
    EXPECT_NE(proof_of(by(atomic)).verdict, ProofVerdict::kProved) << atomic;
  }
  // It is relaxed, and only a fence behind the last look acquires.
  const std::string look = "  atom.global.add.u32 %r10, [%rd1], 0;\n";
  const std::string meet = "DONE:\n  bar.warp.sync -1;\n";
  expect_refuted(polling("  @%p2 bra DONE;\nLOOK:\n" + look + kAgain + meet), "GMEM_RACE");
  expect_refuted(polling("  @%p2 bra DONE;\n  bra LOOK;\nNO:\n  membar.gl;\nLOOK:\n" + look +
                         "  setp.eq.s32 %p3, %r10, 0;\n  @%p3 bra NO;\n" + meet),
                 "GMEM_RACE");
  // An atomic writes, too: who loads the word otherwise races with it.
  OneKernel three = polling("  setp.eq.u32 %p4, %r2, 2;\n" + alone(look + kAgain), 3);
  three.body.replace(three.body.find("  st.global.u32 [%rd5], %r5;\n"),
                     0,
                     "  setp.eq.u32 %p5, %r2, 0;\n  @%p5 ld.global.u32 %r9, [%rd1+4];\n");
  expect_wait(
      polling(alone("  atom.global.add.u32 %r10, [%rd1+4], 0;\n" + std::string{kAgain}), 3));
  three.body.replace(three.body.find("[%rd1], 0"), 9, "[%rd1+4], 0");
  expect_refuted(three, "GMEM_RACE");
}

TEST(PtxLooks, OfOneLaneAndAShuffleAreWaits) {
  const auto shuffled = [](const std::string& lane, const std::string& behind) {
    return polling("LOOK:\n  mov.u32 %r10, 0;\n  @%p2 bra JOIN;\n" + std::string{kLook} +
                   "JOIN:\n  shfl.sync.idx.b32 %r10|%p4, %r10, " + lane + ", 31, -1;\n" + kAgain +
                   behind);
  };
  expect_wait(shuffled("0", kFence));
  // A shuffle orders nothing.
  EXPECT_NE(proof_of(shuffled("0", "  membar.gl;\n")).verdict, ProofVerdict::kProved);
  // Nobody looks for lane 1.
  EXPECT_NE(proof_of(shuffled("1", kFence)).verdict, ProofVerdict::kProved);
}

TEST(PtxLooks, ThatAllVoteForAreWaits) {
  const auto voting = [](const std::string& look, const std::string& vote, std::uint32_t ctas) {
    return polling("LOOK:\n" + look + "  vote.sync." + vote + ";\n  @!%p4 bra LOOK;\n" + kFence,
                   ctas);
  };
  const std::string word = std::string{kLook} + "  setp.ne.s32 %p3, %r10, 0;\n";
  expect_wait(voting(word, "all.pred %p4, %p3, -1", 2));
  expect_wait(voting(std::string{kLook} + "  setp.eq.s32 %p3, %r10, 0;\n  not.pred %p3, %p3;\n",
                     "all.pred %p4, %p3, -1",
                     2));
  // A lane that has seen nothing goes on with one that has.
  expect_open(voting(word, "any.pred %p4, %p3, -1", 2));
  expect_open(voting(word, "ballot.b32 %r11, %p3, -1;\n  setp.ne.u32 %p4, %r11, 0", 2));
  // By lane 0, and none of the others says anything.
  const std::string of_one = "  setp.ne.u32 %p3, 0, 0;\n  @%p2 bra JOIN;\n" + word + "JOIN:\n";
  expect_wait(voting(of_one, "any.pred %p4, %p3, -1", 2));
  // Each lane looks at a word of its own.
  const auto words = [&](const char* lanes) {
    return voting("  setp.ne.u32 %p3, 1, 0;\n  setp.ge.u32 %p5, %r1, " + std::string{lanes} +
                      ";\n  @%p5 bra JOIN;\n  mul.wide.u32 %rd7, %r1, 4;\n"
                      "  add.u64 %rd7, %rd1, %rd7;\n  ld.volatile.global.u32 %r10, [%rd7];\n"
                      "  setp.ne.s32 %p3, %r10, 0;\nJOIN:\n",
                  "all.pred %p4, %p3, -1",
                  3);
  };
  expect_wait(words("2"));
  expect_refuted(words("1"), "GMEM_RACE");
  // It counts, and uses the number.
  OneKernel counting = voting(word + "  add.u32 %r13, %r13, 1;\n", "all.pred %p4, %p3, -1", 2);
  counting.body += "  st.global.u32 [%rd5+256], %r13;\n";
  counting.body.replace(counting.body.find("LOOK:"), 0, "  mov.u32 %r13, 0;\n");
  EXPECT_NE(proof_of(counting).verdict, ProofVerdict::kProved);
}

TEST(PtxLooks, InFunctionsAreWaits) {
  const auto calling = [](const std::string& function, const std::string& call) {
    OneKernel kernel = polling(alone(call));
    kernel.variables = function;
    return kernel;
  };
  const std::string wait =
      ".func wait(.param .b64 word)\n{\n  .reg .pred %p<2>;\n  .reg .b32 %r<2>;\n"
      "  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [word];\nAGAIN:\n"
      "  ld.volatile.u32 %r1, [%rd1];\n  setp.eq.s32 %p1, %r1, 0;\n  @%p1 bra AGAIN;\n  ret;\n}\n";
  const std::string call_wait =
      "  {\n  .param .b64 given;\n  st.param.b64 [given], %rd1;\n  call.uni wait, (given);\n  }\n";
  expect_wait(calling(wait, call_wait));
  const auto look = [](const std::string& value) {
    return ".func (.param .b32 out) look(.param .b64 word)\n{\n  .reg .pred %p<2>;\n"
           "  .reg .b32 %r<3>;\n  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [word];\n"
           "  ld.volatile.u32 %r1, [%rd1];\n" +
           value + "  ret;\n}\n";
  };
  const std::string call_look =
      "  {\n  .param .b64 given;\n  .param .b32 taken;\n  st.param.b64 [given], %rd1;\n"
      "  call.uni (taken), look, (given);\n  ld.param.b32 %r10, [taken];\n  }\n";
  expect_wait(calling(look("  st.param.b32 [out], %r1;\n"), call_look + kAgain));
  // Of two looks either may bring the word.
  expect_open(calling(look("  ld.volatile.u32 %r2, [%rd1+4];\n  or.b32 %r1, %r1, %r2;\n"
                           "  st.param.b32 [out], %r1;\n"),
                      call_look + kAgain));
}

TEST(PtxLooks, ThatSleepByAClockAreWaits) {
  const std::string start = "  mov.u64 %rd8, %globaltimer;\n";
  const auto sleeping = [&](const std::string& late) {
    OneKernel kernel = polling(
        alone(std::string{kLook} +
              "  setp.ne.s32 %p3, %r10, 0;\n  @%p3 bra DONE;\n  mov.u64 %rd9, %globaltimer;\n"
              "  sub.s64 %rd9, %rd9, %rd8;\n  setp.lt.s64 %p4, %rd9, 40000;\n"
              "  @%p4 bra LOOK;\n" +
              late + "  bra LOOK;\n"));
    kernel.body.replace(kernel.body.find("READ:\n") + 6, 0, start + "  mov.u32 %r13, 0;\n");
    return kernel;
  };
  expect_wait(sleeping("  cvt.u32.u64 %r12, %rd9;\n  nanosleep.u32 %r12;\n"));
  // It gives up.
  EXPECT_NE(proof_of(sleeping("  bra DONE;\n")).verdict, ProofVerdict::kProved);
  // It leaves a trace of its sleep.
  OneKernel trace = sleeping("  mov.u32 %r13, 1;\n");
  trace.body += "  st.global.u32 [%rd5+256], %r13;\n";
  EXPECT_NE(proof_of(trace).verdict, ProofVerdict::kProved);
  EXPECT_NE(proof_of(sleeping("  st.global.u32 [%rd5+256], %r1;\n")).verdict,
            ProofVerdict::kProved);
}

TEST(PtxLooks, WithSeveralFirstLooksAreWaits) {
  const std::string no = "  setp.ne.s32 %p3, %r10, 0;\n  @%p3 bra DONE;\n";
  const std::string twice = std::string{kLook} + no + kLook + no;
  const std::string loop = "AGAIN:\n" + std::string{kLook} +
                           "  setp.eq.s32 %p3, %r10, 0;\n"
                           "  @%p3 bra AGAIN;\n";
  expect_wait(polling(alone(twice + loop)));
  expect_wait(polling(alone(twice + loop + kLook + kAgain)));
  // The last one asks for something else.
  expect_open(polling(
      alone(twice + "AGAIN:\n" + kLook + "  setp.ne.s32 %p3, %r10, 2;\n  @%p3 bra AGAIN;\n")));
  // A fence that only one way comes past.
  expect_refuted(polling("  @%p2 bra DONE;\n" + std::string{kLook} + no + "LOOK:\n" + kLook +
                         kAgain + "  membar.gl;\nDONE:\n  bar.warp.sync -1;\n"),
                 "GMEM_RACE");
}

TEST(PtxLooks, BetweenWhichSomethingIsDoneAreNone) {
  const auto doing = [](const std::string& something) {
    return polling(alone(std::string{kLook} + "  setp.ne.s32 %p3, %r10, 0;\n  @%p3 bra DONE;\n" +
                         something + "  bra LOOK;\n"));
  };
  expect_wait(doing("  membar.gl;\n"));
  // What comes behind is in order all the same: lane 0's look, its fence, and all meet.
  expect_open(doing("  st.global.u32 [%rd5+256], %r1;\n"));
  expect_open(doing("  atom.global.add.u32 %r12, [%rd1+8], 1;\n"));
  expect_open(doing("  ld.volatile.global.u32 %r12, [%rd1+8];\n"));
}

TEST(PtxLooks, OfTheWholeWarpMayEndInAnElection) {
  expect_wait(polling("LOOK:\n" + std::string{kLook} + kAgain +
                      "  elect.sync %r12|%p6, -1;\n  @%p6 mov.u32 %r13, 1;\n" + kFence));
}

TEST(PtxLooks, WithTheirStateInLocalMemoryAreWaits) {
  const std::string kept = std::string{kLook} +
                           "  st.local.u32 [depot], %r10;\n"
                           "  ld.local.u32 %r11, [depot];\n  setp.eq.s32 %p3, %r11, 0;\n"
                           "  @%p3 bra LOOK;\n";
  expect_wait(polling(alone(kept)));
  OneKernel counting =
      polling(alone("  ld.local.u32 %r12, [depot+4];\n  add.u32 %r12, %r12, 1;\n"
                    "  st.local.u32 [depot+4], %r12;\n" +
                    kept));
  counting.body.replace(counting.body.find("READ:\n") + 6,
                        0,
                        "  mov.u32 %r12, 0;\n  st.local.u32 [depot+4], %r12;\n");
  counting.body += "  ld.local.u32 %r12, [depot+4];\n  st.global.u32 [%rd5+256], %r12;\n";
  EXPECT_NE(proof_of(counting).verdict, ProofVerdict::kProved);
}

// As of cuda::barrier: all lanes try, count, and sleep by a clock.
TEST(PtxLooks, OfMbarriersMaySleepByAClock) {
  const auto waiting = [](const std::string& arrivals, const std::string& late) {
    OneKernel kernel;
    kernel.threads = 64;
    kernel.body =
        "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n  setp.ne.u32 %p1, %r1, 0;\n"
        "  @%p1 bra MEET;\n  mbarrier.init.shared.b64 [%r30], " +
        arrivals +
        ";\nMEET:\n  bar.sync 0;\n  mad.lo.u32 %r21, %r1, 4, %r20;\n"
        "  st.shared.u32 [%r21], %r1;\n  mbarrier.arrive.shared.b64 %rd9, [%r30];\n"
        "  mov.u64 %rd8, %globaltimer;\n  mov.u32 %r13, 0;\n  bra TRY;\nCOUNT:\n"
        "  add.u32 %r13, %r13, 1;\nTRY:\n  mbarrier.try_wait.shared.b64 %p3, [%r30], %rd9;\n"
        "  @%p3 bra DONE;\n  setp.lt.s32 %p4, %r13, 16;\n  @%p4 bra COUNT;\n"
        "  mov.u64 %rd10, %globaltimer;\n  sub.s64 %rd10, %rd10, %rd8;\n"
        "  setp.lt.s64 %p5, %rd10, 40000;\n  @%p5 bra TRY;\n" +
        late +
        "  bra TRY;\nDONE:\n  sub.u32 %r22, 63, %r1;\n  mad.lo.u32 %r22, %r22, 4, %r20;\n"
        "  ld.shared.u32 %r23, [%r22];\n  mul.wide.u32 %rd4, %r1, 4;\n"
        "  add.u64 %rd4, %rd2, %rd4;\n  st.global.u32 [%rd4], %r23;\n";
    return kernel;
  };
  const char* kSleep = "  nanosleep.u32 100;\n";
  const OneKernel right = waiting("64", kSleep);
  EXPECT_EQ(proof_of(right).verdict, ProofVerdict::kProved);
  EXPECT_EQ(run_of(right).out[60], 3U);
  expect_refuted(waiting("65", kSleep), "DEADLOCK");
  EXPECT_NE(proof_of(waiting("32", kSleep)).verdict, ProofVerdict::kProved);
  EXPECT_THROW(proof_of(waiting("64", "  bra DONE;\n")), ConfigError);
}

// Lane 0 waits while the others have come to the shuffle: what it brings is what it has by then.
TEST(PtxLooks, ThatOthersWaitForAtAShuffleBringTheirWord) {
  OneKernel kernel = polling("  mov.u32 %r10, 0;\n  mov.u32 %r11, 0;\n  @%p2 bra JOIN;\nLOOK:\n" +
                             std::string{kLook} + kAgain + "  mov.u32 %r11, 77;\nJOIN:\n" +
                             "  shfl.sync.idx.b32 %r12|%p4, %r11, 0, 31, -1;\n" + kFence +
                             "  st.global.u32 [%rd5+256], %r12;\n");
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.result.end, Ending::kDone);
  EXPECT_EQ(run.out[32 + 64 + 9], 77U);
}

// Without optimisation a shuffle is a function, and lane 0 calls it after the others.
TEST(PtxLooks, ThatOthersWaitForInAFunctionBringTheirWord) {
  OneKernel kernel =
      polling("  mov.u32 %r10, 0;\n  mov.u32 %r11, 5;\n  @%p2 bra CALL;\nLOOK:\n" +
              std::string{kLook} + kAgain +
              "  mov.u32 %r11, 77;\nCALL:\n  {\n  .param .b32 given;\n  .param .b32 taken;\n"
              "  st.param.b32 [given], %r11;\n  call.uni (taken), hand, (given);\n"
              "  ld.param.b32 %r12, [taken];\n  }\n" +
              kFence + "  st.global.u32 [%rd5+256], %r12;\n");
  // Two calls, so that nothing brings the lanes together before.
  kernel.body.replace(kernel.body.find("  @%p2 bra CALL;"),
                      16,
                      "  @!%p2 bra LOOK;\n  {\n  .param .b32 given;\n  .param .b32 taken;\n"
                      "  st.param.b32 [given], %r11;\n  call.uni (taken), hand, (given);\n"
                      "  ld.param.b32 %r12, [taken];\n  }\n  bra BOTH;");
  kernel.body.replace(kernel.body.find(kFence, kernel.body.find("CALL:")), 0, "BOTH:\n");
  kernel.variables =
      ".func (.param .b32 out) hand(.param .b32 value)\n{\n  .reg .pred %p<2>;\n"
      "  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [value];\n"
      "  shfl.sync.idx.b32 %r2|%p1, %r1, 0, 31, -1;\n  st.param.b32 [out], %r2;\n  ret;\n}\n";
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.result.end, Ending::kDone);
  EXPECT_EQ(run.out[32 + 64 + 9], 77U);
  EXPECT_EQ(run.out[32 + 64], 77U);
}

// A look that is no wait, for something else is done when it is told yes; and the wait behind it.
OneKernel telling(const std::string& told, std::uint32_t ctas) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.ctas = ctas;
  kernel.cooperative = true;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  mov.u32 %r2, %ctaid.x;\n  setp.eq.u32 %p1, %r1, 0;\n  setp.ge.u32 %p2, %r1, 32;\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd4, %rd2;\n"
      "  @%p1 mbarrier.init.shared.b64 [tile], 32;\n  bar.sync 0;\n  @!%p2 bra LOOK;\n"
      "  mbarrier.arrive.shared.b64 _, [tile];\n  setp.eq.u32 %p3, %r1, 32;\n"
      "  @%p3 st.shared.u32 [tile+64], 5;\n  bra END;\nLOOK:\n"
      "  mbarrier.test_wait.parity.shared.b64 %p5, [tile], 0;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [tile], 0;\n  @!%p4 bra WAIT;\n" +
      told + "END:\n";
  return kernel;
}

// The fences are on one line.
TEST(PtxLooks, ThatDecideHowFarAFenceGoesAreNotProved) {
  const auto fencing = [](const std::string& scope) {
    return telling(
        "  setp.ne.u32 %p6, %r2, 0;\n  @%p6 bra POLL;\n  st.global.u32 [%rd4], %r1;\n"
        "  bar.warp.sync -1;\n  @%p5 fence.acq_rel." +
            scope +
            "; @!%p5 fence.acq_rel.gpu;\n"
            "  @%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\n  bra END;\n"
            "POLL:\n  ld.acquire.gpu.global.u32 %r3, [%rd1];\n"
            "  setp.eq.u32 %p7, %r3, 0;\n  @%p7 bra POLL;\n"
            "  ld.global.u32 %r4, [%rd4];\n",
        2);
  };
  expect_proved(fencing("gpu"));
  EXPECT_NE(proof_of(fencing("cta")).verdict, ProofVerdict::kProved);
}

// The other warp stores 5 there, in no order.
TEST(PtxLooks, ThatDecideWhetherTwoStoreTheSameAreNotProved) {
  const auto storing = [](const std::string& value) {
    return telling("  selp.u32 %r3, " + value + ", 5, %p5;\n  @%p1 st.shared.u32 [tile+64], %r3;\n",
                   1);
  };
  expect_proved(storing("5"));
  EXPECT_NE(proof_of(storing("6")).verdict, ProofVerdict::kProved);
}

// The other warp stores in the fifth row. A box of four has it where another map says that its rows
// lie twice as far apart, from the same place on.
TEST(PtxLooks, ThatDecideHowFarRowsOfACopyLieApartAreNotProved) {
  const auto storing = [](const char* map) {
    OneKernel kernel = telling(
        "  mad.lo.u32 %r3, %r1, 16, 1024;\n  mov.u32 %r4, tile;\n  add.u32 %r3, %r3, %r4;\n"
        "  st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};\n  fence.proxy.async.shared::cta;\n"
        "  bar.warp.sync -1;\n  add.u32 %r4, %r4, 1024;\n  mov.u32 %r5, 0;\n"
        "  @%p5 mov.u64 %rd20, " +
            std::string{map} +
            ";\n  @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd20, {%r5, %r5}],"
            " [%r4];\n  @%p1 cp.async.bulk.commit_group;\n  @%p1 cp.async.bulk.wait_group 0;\n",
        1);
    const std::string store = "st.shared.u32 [tile+64], 5;";
    kernel.body.replace(kernel.body.find(store), store.size(), "st.global.u32 [%rd2+512], 5;");
    kernel.columns = 32;
    TensorMapSpec apart{1, 4, 32};
    apart.outer[0] = {16, 256, 4, 1};
    kernel.maps = {{1, 4, 32}, apart};
    kernel.in.resize(32);
    return kernel;
  };
  expect_proved(storing("%rd20"));
  EXPECT_NE(proof_of(storing("%rd21")).verdict, ProofVerdict::kProved);
}

}  // namespace warptwin::sim::looks_test
