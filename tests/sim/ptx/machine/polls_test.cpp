// Loops that load a global word until it is another one: what is a wait, and for what.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::polls_test {

using testing::ElementsAre;
using testing::IsEmpty;

// CTA 0 stores `out`, then `stores` to the flag; the last one polls, and loads what was stored.
OneKernel polling(const std::string& stores, const std::string& poll, std::uint32_t ctas = 2) {
  OneKernel kernel;
  kernel.ctas = ctas;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %nctaid.x;\n  sub.u32 %r4, %r3, 1;\n"
      "  setp.eq.u32 %p1, %r2, %r4;\n  mad.lo.u32 %r5, %r2, 32, %r1;\n"
      "  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n  @%p1 bra POLL;\n"
      "  st.global.u32 [%rd5], %r5;\n  bar.warp.sync -1;\n  setp.ne.u32 %p2, %r1, 0;\n"
      "  @%p2 bra LAST;\n" +
      stores + "  bra LAST;\nPOLL:\n  ld.acquire.gpu.global.u32 %r10, [%rd1];\n" + poll +
      "  ld.global.u32 %r6, [%rd5+-128];\n  st.global.u32 [%rd5], %r6;\nLAST:\n";
  return kernel;
}

std::string storing(const char* value) {
  return std::string{"  mov.u32 %r7, "} + value + ";\n  st.release.gpu.global.u32 [%rd1], %r7;\n";
}

constexpr char kAdd[] = "  red.release.gpu.global.add.u32 [%rd1], 1;\n";
constexpr char kUntilNotZero[] = "  setp.eq.u32 %p3, %r10, 0;\n  @%p3 bra POLL;\n";

void expect_waits(const OneKernel& kernel) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << kernel.body;
  EXPECT_THAT(ids_in(proof), IsEmpty()) << kernel.body;
}

void expect_open(const OneKernel& kernel) {
  EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved) << kernel.body;
}

TEST(PtxPolls, ForAnythingElseAreWaits) {
  expect_waits(polling(storing("7"), kUntilNotZero));
  expect_waits(polling(storing("7"), "  setp.ne.s32 %p3, %r10, 0;\n  @!%p3 bra POLL;\n"));
  EXPECT_EQ(run_of(polling(storing("7"), kUntilNotZero)).out[40], 8U);
}

TEST(PtxPolls, ThatMayPassAtOnceAreOpen) {
  OneKernel kernel = polling(storing("7"), kUntilNotZero);
  kernel.in[0] = 3;
  expect_open(kernel);
}

TEST(PtxPolls, OfWordsThatChangeAgainAreOpen) {
  // Who looks late finds another word that passes, or one that does not.
  expect_open(polling(storing("7") + storing("9"), kUntilNotZero));
  expect_open(polling(storing("7") + storing("0") + storing("9"), kUntilNotZero));
  expect_open(polling(storing("7") + storing("0"), kUntilNotZero));
}

TEST(PtxPolls, ForAtLeastAreWaitsForTheSum) {
  const char* kUntilTwo = "  setp.lt.u32 %p3, %r10, 2;\n  @%p3 bra POLL;\n";
  expect_waits(polling(kAdd, kUntilTwo, 3));
  expect_waits(polling(kAdd, "  setp.gt.u32 %p3, 2, %r10;\n  @%p3 bra POLL;\n", 3));
  const char* kUntilTwoSigned = "  setp.lt.s32 %p3, %r10, 2;\n  @%p3 bra POLL;\n";
  expect_waits(polling(kAdd, kUntilTwoSigned, 3));
  // From -5 to -3.
  OneKernel negative = polling(kAdd, "  setp.lt.s32 %p3, %r10, -3;\n  @%p3 bra POLL;\n", 3);
  negative.in[0] = ~std::uint32_t{4};
  expect_waits(negative);
  // From the greatest to the least: each passes at once.
  OneKernel turning = polling(kAdd, "  setp.lt.s32 %p3, %r10, -2147483647;\n  @%p3 bra POLL;\n", 3);
  turning.in[0] = 0x7fffffff;
  expect_open(turning);
  // One of the two may be missing.
  expect_open(polling(kAdd, "  setp.lt.u32 %p3, %r10, 1;\n  @%p3 bra POLL;\n", 3));
  expect_open(polling(kAdd, kUntilNotZero, 3));
  // More are added than are waited for.
  expect_open(polling(kAdd, kUntilTwo, 4));
}

// Lanes 2 and 17 come to one addition on ways of their own, lane 2 behind a wait. Before it lane 17
// stores; behind its poll lane 2 does.
OneKernel adding_apart(const char* until) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MADE;\n  mbarrier.init.shared::cta.b64 [tile], 1;\n"
      "MADE:\n  bar.sync 0;\n  and.b32 %r2, %r1, 31;\n  setp.ge.u32 %p2, %r1, 32;\n"
      "  @%p2 bra ADDS;\n  setp.ne.u32 %p3, %r2, 0;\n  @%p3 bra LAST;\n"
      "  mbarrier.arrive.shared::cta.b64 %rd4, [tile];\n  bra LAST;\nADDS:\n"
      "  setp.ne.u32 %p1, %r2, 2;\n  @%p1 bra WAITED;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p4, [tile], 0;\n  @!%p4 bra WAIT;\n"
      "WAITED:\n  setp.ne.u32 %p1, %r2, 17;\n  @%p1 bra STORED;\n  st.global.u32 [%rd2], 7;\n"
      "STORED:\n  setp.eq.u32 %p1, %r2, 17;\n  setp.eq.u32 %p2, %r2, 2;\n  or.pred %p3, %p1, %p2;\n"
      "  @!%p3 bra ADDED;\n" +
      std::string{kAdd} +
      "ADDED:\n  @!%p2 bra LAST;\nPOLL:\n  ld.acquire.gpu.global.u32 %r3, [%rd1];\n"
      "  setp.lt.u32 %p4, %r3, " +
      until + ";\n  @%p4 bra POLL;\n  st.global.u32 [%rd2], 9;\nLAST:\n";
  return kernel;
}

TEST(PtxPolls, ForLessThanWhatLanesAddInAnyOrderAreOpen) {
  expect_open(adding_apart("1"));
  EXPECT_EQ(proof_of(adding_apart("2")).verdict, ProofVerdict::kProved);
}

TEST(PtxPolls, OfBitsAreWaits) {
  const char* kSign =
      "  xor.b32 %r11, %r10, 5;\n  and.b32 %r12, %r11, -2147483648;\n"
      "  setp.eq.s32 %p3, %r12, 0;\n  @%p3 bra POLL;\n";
  const std::string last = storing("-2147483648");
  expect_waits(polling(last, kSign));
  const char* kFlipped =
      "  xor.b32 %r11, %r10, 5;\n  setp.gt.s32 %p3, %r11, -1;\n  @%p3 bra POLL;\n";
  expect_waits(polling(last, kFlipped));
  expect_waits(polling(storing("4") + last, kFlipped));
  // Of two such words either may be found.
  expect_open(polling(last + storing("-2147483647"), kSign));
  const char* kSigned = "  setp.ge.s32 %p3, %r10, 0;\n  @%p3 bra POLL;\n";
  expect_waits(polling(last, kSigned));
  expect_waits(polling(storing("4") + last, kSigned));
}

// As nvcc turns `while (!flag) nanosleep(100);`: a first look in front of the loop.
TEST(PtxPolls, WithAFirstLookInFrontAreWaits) {
  const auto looking = [](const std::string& first, const std::string& last) {
    return "  " + first +
           "  @%p3 bra DONE;\nLOOP:\n  nanosleep.u32 100;\n"
           "  ld.acquire.gpu.global.u32 %r11, [%rd1];\n" +
           last + "  @%p3 bra LOOP;\nDONE:\n";
  };
  const std::string not_zero = "  setp.ne.s32 %p3, %r10, 0;\n";
  expect_waits(polling(storing("7"), looking(not_zero, "  setp.eq.s32 %p3, %r11, 0;\n")));
  // It waits for another word than the loop does.
  expect_open(
      polling(storing("3") + storing("7"), looking(not_zero, "  setp.ne.s32 %p3, %r11, 7;\n")));
  // What it has found is used.
  expect_open(polling(
      storing("7"),
      looking(not_zero, "  setp.eq.s32 %p3, %r11, 0;\n") + "  st.global.u32 [%rd5+128], %r10;\n"));
}

// A look that asks for something else is behind the wait, and a wait of its own.
TEST(PtxPolls, InFrontOfOthersOfTheSameWordAreWaits) {
  const auto until = [](const char* least) {
    return std::string{"  setp.lt.u32 %p3, %r10, 1;\n  @%p3 bra POLL;\nAGAIN:\n"} +
           "  ld.acquire.gpu.global.u32 %r11, [%rd1];\n  setp.lt.u32 %p3, %r11, " + least +
           ";\n  @%p3 bra AGAIN;\n";
  };
  expect_waits(polling(storing("3"), until("2")));
  expect_found(polling(storing("3"), until("4")), "DEADLOCK");
  // Whether the first finds 1 or 2 is not known.
  expect_open(polling(storing("1") + storing("2"), until("2")));
  // By one instruction, which asks for one more in each turn.
  const auto rising = [](const char* end) {
    return std::string{"  add.u32 %r13, %r12, 1;\n  setp.lt.u32 %p3, %r10, %r13;\n"} +
           "  @%p3 bra POLL;\n  mov.u32 %r12, %r13;\n  setp.lt.u32 %p3, %r12, " + end +
           ";\n  @%p3 bra POLL;\n";
  };
  const auto from_zero = [&](const char* end) {
    OneKernel kernel = polling(storing("3"), rising(end));
    kernel.body = "  mov.u32 %r12, 0;\n" + kernel.body;
    return kernel;
  };
  expect_waits(from_zero("3"));
  expect_found(from_zero("4"), "DEADLOCK");
}

// The fence behind the first wait belongs to each way that leads to the second.
TEST(PtxPolls, InFrontOfOthersAreFencedOnEachWay) {
  const std::string again =
      "AGAIN:\n  ld.relaxed.gpu.global.u32 %r11, [%rd1];\n  setp.lt.u32 %p3, %r11, 2;\n"
      "  @%p3 bra AGAIN;\n";
  const auto relaxed = [&](const std::string& first) {
    OneKernel kernel = polling(storing("3"), first + again);
    kernel.body.replace(kernel.body.find("ld.acquire"), 10, "ld.relaxed");
    return kernel;
  };
  const std::string looks_again =
      "  setp.ge.u32 %p3, %r10, 1;\n  @%p3 bra FENCED;\nLOOP:\n"
      "  ld.relaxed.gpu.global.u32 %r11, [%rd1];\n  setp.lt.u32 %p3, %r11, 1;\n  @%p3 bra LOOP;\n";
  const std::string fence = "FENCED:\n  fence.acq_rel.gpu;\n";
  expect_waits(relaxed(looks_again + fence));
  expect_open(relaxed(looks_again + "  bra AGAIN;\n" + fence));
  expect_open(relaxed(looks_again + "FENCED:\n"));
}

// Lane 3 stores 1 behind what lane 28 waits for. Both `look`, and `adder` adds to the word.
OneKernel lanes_looking(const std::string& look, const std::string& behind, const char* adder) {
  OneKernel kernel;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MADE;\n  mbarrier.init.shared::cta.b64 [tile], 1;\n"
      "MADE:\n  bar.sync 0;\n  setp.eq.u32 %p1, %r1, 3;\n  setp.eq.u32 %p2, %r1, 28;\n"
      "  or.pred %p3, %p1, %p2;\n  @!%p3 bra LAST;\n  mov.u32 %r5, 1;\n  @!%p1 bra OTHER;\n"
      "  st.relaxed.gpu.global.u32 [%rd1], %r5;\n"
      "  mbarrier.arrive.shared::cta.b64 %rd4, [tile];\nOTHER:\n  @!%p2 bra LOOK;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p4, [tile], 0;\n  @!%p4 bra WAIT;\n"
      "LOOK:\n  ld.acquire.gpu.global.u32 %r3, [%rd1];\n" +
      look + "  @!" + adder + " bra ADDED;\n  red.release.gpu.global.add.u32 [%rd1], 1;\nADDED:\n" +
      behind + "LAST:\n";
  return kernel;
}

constexpr char kUntilOne[] = "  setp.ne.u32 %p4, %r3, 1;\n  @%p4 bra LOOK;\n";
constexpr char kTwoMeet[] = "  bar.warp.sync 0x10000008;\n";

// A lane may add before the other one has looked, whoever looks again behind that.
TEST(PtxPolls, OfWhatALaneOfTheWarpChangesAreOpenUntilTheyHaveMet) {
  for (const auto& [adder, other] : {std::pair{"%p2", "%p1"}, {"%p1", "%p2"}}) {
    const std::string again =
        std::string{"  @!"} + other +
        " bra LAST;\nAGAIN:\n  ld.acquire.gpu.global.u32 %r4, [%rd1];\n"
        "  and.b32 %r4, %r4, 2;\n  setp.eq.u32 %p4, %r4, 0;\n  @%p4 bra AGAIN;\n";
    for (const std::string& behind : {std::string{}, again}) {
      expect_open(lanes_looking(kUntilOne, behind, adder));
      expect_waits(lanes_looking(std::string{kUntilOne} + kTwoMeet, behind, adder));
    }
  }
}

// No wait: what a load finds depends on whether the other lane has added.
TEST(PtxPolls, ThatAreNoneFindWhatLanesOfTheWarpHaveLeftWhereTheyHaveMet) {
  const std::string looks = "  setp.eq.u32 %p4, %r3, 1;\n  @!%p4 bra LAST;\n";
  const std::string either =
      "  setp.ne.u32 %p4, %r3, 1;\n  setp.ne.u32 %p5, %r3, 9;\n  and.pred %p4, %p4, %p5;\n"
      "  @%p4 bra LOOK;\n";
  for (const char* adder : {"%p1", "%p2"}) {
    for (const std::string& look : {looks, either}) {
      expect_open(lanes_looking(look, "", adder));
      expect_waits(lanes_looking(look + kTwoMeet, "", adder));
    }
  }
}

TEST(PtxPolls, ThatDoSomethingElseAreNone) {
  // It counts its looks.
  expect_open(polling(storing("7"),
                      std::string{"  add.u32 %r13, %r13, 1;\n"} + kUntilNotZero +
                          "  st.global.u32 [%rd5+128], %r13;\n"));
  // It uses the word in another way than the comparison.
  expect_open(polling(storing("7") + storing("9"),
                      "  setp.eq.u32 %p3, %r10, 7;\n  setp.eq.u32 %p4, %r10, 9;\n"
                      "  or.pred %p5, %p3, %p4;\n  @!%p5 bra POLL;\n"));
}

// Lane 0 of each CTA takes the lock of the first word, adds to `out`, and does `release`.
OneKernel locking(const std::string& release) {
  OneKernel kernel;
  kernel.ctas = 2;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra LAST;\nLOCK:\n"
      "  atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 0, 1;\n  setp.ne.u32 %p2, %r2, 0;\n"
      "  @%p2 bra LOCK;\n  ld.global.u32 %r3, [%rd2];\n  add.u32 %r3, %r3, 1;\n"
      "  st.global.u32 [%rd2], %r3;\n" +
      release + "LAST:\n";
  return kernel;
}

// Who gets a lock first is a choice.
TEST(PtxPolls, ByAtomicsAreChoices) {
  const OneKernel kernel = locking("  mov.u32 %r4, 0;\n  st.release.gpu.global.u32 [%rd1], %r4;\n");
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kUndecided);
  EXPECT_THAT(ids_in(proof), IsEmpty());
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.result.end, Ending::kDone);
  EXPECT_EQ(run.out[0], 2U);
}

// An atomic that leaves what it finds changes nothing.
TEST(PtxPolls, OfALockThatNobodyReleasesAreALivelock) {
  const RunResult run = run_of(locking("")).result;
  EXPECT_EQ(run.end, Ending::kLivelock);
  ASSERT_THAT(ids_in(run), ElementsAre("LIVELOCK_SPIN"));
  EXPECT_NE(run.findings[0].site.line, 0U);
  EXPECT_LT(run.operations, 20'000U);
  EXPECT_EQ(proof_of(locking("")).verdict, ProofVerdict::kRefuted);
}

// Who counts his looks comes to an end: it is told by his registers from one who comes back.
TEST(PtxPolls, ThatGiveUpAreNoLivelock) {
  OneKernel kernel;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  mov.u32 %r3, 0;\nPOLL:\n  ld.volatile.global.u32 %r2, [%rd1];\n"
      "  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra LAST;\n  add.u32 %r3, %r3, 1;\n"
      "  setp.lt.u32 %p2, %r3, 5000;\n  @%p2 bra POLL;\nLAST:\n"
      "  st.global.u32 [%rd2], %r3;\n";
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.result.end, Ending::kDone);
  EXPECT_EQ(run.out[0], 5000U);
}

// Eight warps that each count to 20,000 at shared memory that nobody writes, and then do `last`.
OneKernel counting(const std::string& last) {
  OneKernel kernel;
  kernel.threads = 256;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  shl.b32 %r5, %r1, 2;\n  mov.u32 %r4, tile;\n  add.u32 %r4, %r4, %r5;\n"
      "  mov.u32 %r3, 0;\n  st.shared.u32 [%r4], %r3;\nCOUNT:\n  ld.shared.u32 %r2, [%r4];\n"
      "  add.u32 %r3, %r3, 1;\n  add.u32 %r3, %r3, %r2;\n  setp.lt.u32 %p2, %r3, 20000;\n"
      "  @%p2 bra COUNT;\n" +
      last + "  cvt.u64.u32 %rd3, %r5;\n  add.u64 %rd3, %rd3, %rd2;\n" +
      "  st.global.u32 [%rd3], %r3;\n";
  return kernel;
}

// Places are looked at ever more rarely while each is new, and often again when one is not.
TEST(PtxPolls, BehindALongCountAreToldFromIt) {
  const OneRun run = run_of(counting(""));
  EXPECT_EQ(run.result.end, Ending::kDone);
  EXPECT_EQ(run.out[255], 20'000U);
  const RunResult stuck =
      run_of(counting("FOR_EVER:\n  atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 1, 2;\n"
                      "  setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra FOR_EVER;\n"))
          .result;
  EXPECT_EQ(stuck.end, Ending::kLivelock);
  EXPECT_THAT(ids_in(stuck), ElementsAre("LIVELOCK_SPIN"));
}

// Lanes 0 and 1 of warp 0 add to a word by one instruction, lane 1 when it has seen another word.
// Warp 1 waits for `sum` and loads what lane 0 has stored. `seen`: who stores the other word.
// `early`: by lane 1 in front.
OneKernel adding_in_turn(const char* sum, std::uint32_t seen, const std::string& early = "") {
  const std::string store = "  mov.u32 %r8, 1;\n  st.release.gpu.global.u32 [%rd1+8], %r8;\n";
  OneKernel kernel;
  kernel.threads = 96;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  shr.u32 %r3, %r1, 5;\n  and.b32 %r2, %r1, 31;\n  setp.gt.u32 %p9, %r2, 1;\n"
      "  @%p9 bra END;\n  setp.eq.u32 %p1, %r3, 1;\n  @%p1 bra W1;\n  setp.eq.u32 %p1, %r3, 2;\n"
      "  @%p1 bra W2;\n  setp.eq.u32 %p1, %r2, 1;\n  @%p1 bra EARLY;\n  mov.u32 %r5, 7;\n"
      "  st.global.u32 [%rd1+12], %r5;\n  bra ADD;\nEARLY:\n" +
      early +
      "LATE:\n"
      "  ld.acquire.gpu.global.u32 %r6, [%rd1+8];\n  setp.lt.u32 %p5, %r6, 1;\n"
      "  @%p5 bra LATE;\nADD:\n  red.release.gpu.global.add.u32 [%rd1+4], 1;\n  bra END;\nW1:\n"
      "  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra END;\nLOOK:\n"
      "  ld.acquire.gpu.global.u32 %r6, [%rd1+4];\n  setp.lt.u32 %p5, %r6, " +
      std::string{sum} +
      ";\n  @%p5 bra LOOK;\n  ld.global.u32 %r7, [%rd1+12];\n  st.global.u32 [%rd2], %r7;\n" +
      (seen == 1 ? store : "") + "  bra END;\nW2:\n  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra END;\n" +
      (seen == 2 ? store : "") + "END:\n";
  return kernel;
}

// The first to come need not be the one that came first in the run.
TEST(PtxPolls, ForWhatOneOfTwoLanesAddsKnowWhichIsFirst) {
  expect_undecided(adding_in_turn("1", 2), "waited for at a passing value");
  expect_proved(adding_in_turn("1", 1));
  expect_proved(adding_in_turn("2", 2));
  const std::string early = "  red.release.gpu.global.add.u32 [%rd1+4], 1;\n";
  expect_undecided(adding_in_turn("2", 2, early), "waited for at a passing value");
  expect_proved(adding_in_turn("2", 1, early));
}

// Lane 3 of a warp waits for 2 of lanes 0 and 6, and adds; so does lane 2, which waits for nobody.
TEST(PtxPolls, OfALaneDoNotHoldBackAnotherThatAddsBehindThem) {
  const auto kernel_of = [](const char* lane_two_waits_too) {
    OneKernel kernel;
    kernel.in = {0, 0, 0, 0};
    kernel.body =
        std::string{
            "  setp.eq.u32 %p1, %r1, 6;\n  @!%p1 bra S0;\n  mov.u32 %r5, 102;\n"
            "  st.global.u32 [%rd1+12], %r5;\nS0:\n  setp.eq.u32 %p2, %r1, 0;\n"
            "  or.pred %p3, %p1, %p2;\n  @!%p3 bra S1;\n"
            "  red.release.gpu.global.add.u32 [%rd1+4], 1;\nS1:\n  setp.eq.u32 %p4, %r1, 3;\n"
            "  setp.eq.u32 %p5, %r1, 2;\n"} +
        lane_two_waits_too +
        "  @!%p4 bra S2;\nLOOK:\n  ld.acquire.gpu.global.u32 %r6, [%rd1+4];\n"
        "  setp.lt.u32 %p6, %r6, 2;\n  @%p6 bra LOOK;\nS2:\n  @!%p5 bra S3;\n  mov.u32 %r5, 1;\n"
        "  st.release.gpu.global.u32 [%rd1], %r5;\nAGAIN:\n"
        "  ld.acquire.gpu.global.u32 %r6, [%rd1];\n  setp.lt.u32 %p6, %r6, 1;\n"
        "  @%p6 bra AGAIN;\nS3:\n  or.pred %p3, %p4, %p5;\n  @!%p3 bra S4;\n"
        "  red.release.gpu.global.add.u32 [%rd1+4], 1;\nS4:\n  @!%p4 bra S5;\n"
        "  ld.global.u32 %r10, [%rd1+12];\n  st.global.u32 [%rd2], %r10;\nS5:\n";
    return kernel;
  };
  expect_undecided(kernel_of(""), "waited for at a passing value");
  expect_proved(
      kernel_of("  @!%p5 bra S6;\nWAIT:\n  ld.acquire.gpu.global.u32 %r6, [%rd1+4];\n"
                "  setp.lt.u32 %p6, %r6, 2;\n  @%p6 bra WAIT;\nS6:\n"));
}

// Nobody stores: the report says which word would do.
TEST(PtxPolls, ForEverSayWhatTheyWaitFor) {
  for (const auto& [test, says] : {std::pair{"ne.u32 %p1, %r10, 7", "to become 7"},
                                   {"eq.u32 %p1, %r10, 5", "to become other than 5"},
                                   {"lt.u32 %p1, %r10, 9", "to become at least 9"},
                                   {"ge.s32 %p1, %r10, -3", "to become less than -3"}}) {
    OneKernel kernel;
    kernel.in = {5};
    kernel.body = "POLL:\n  ld.acquire.gpu.global.u32 %r10, [%rd1];\n  setp." + std::string{test} +
                  ";\n  @%p1 bra POLL;\n";
    const RunResult run = run_of(kernel).result;
    ASSERT_THAT(ids_in(run), ElementsAre("DEADLOCK"));
    EXPECT_THAT(
        lines_of(run.findings.front()),
        testing::Contains(testing::HasSubstr("waits for a global word " + std::string{says})));
  }
}

}  // namespace warptwin::sim::polls_test
