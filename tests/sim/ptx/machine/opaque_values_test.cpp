// What PTX calls opaque: the state that an arrival returns, a cache policy. And addresses by what a
// try has said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/ptx/machine/opaque.hpp"
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

/// Two warps arrive at an mbarrier and wait, and again: %rd5 and %rd6 are the states, %r7 and %rd7
/// a word of data, 0 or 1. Thread 0 has stored before the second arrival what all load behind the
/// wait for %rd8.
struct Made {
  const char* name;
  const char* body;  // makes %rd8
};
void PrintTo(const Made& made, std::ostream* out) {
  *out << made.body;
}

OneKernel waiting_for(const std::string& made) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.in.resize(64, 1);
  kernel.control = false;
  kernel.body =
      "  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r2, tile;\n"
      "  @%p1 mbarrier.init.shared.b64 [%r2], 64;\n  bar.sync 0;\n"
      "  ld.global.u32 %r7, [%rd1];\n  and.b32 %r7, %r7, 1;\n  cvt.u64.u32 %rd7, %r7;\n"
      "  setp.ne.u32 %p5, %r7, 0;\n"
      "  mbarrier.arrive.shared.b64 %rd5, [%r2];\n"
      "ONE:\n  mbarrier.test_wait.shared.b64 %p3, [%r2], %rd5;\n  @!%p3 bra ONE;\n"
      "  @%p1 st.shared.u32 [%r2+128], 5;\n"
      "  mbarrier.arrive.shared.b64 %rd6, [%r2];\n" +
      made +
      "OTHER:\n  mbarrier.test_wait.shared.b64 %p3, [%r2], %rd8;\n  @!%p3 bra OTHER;\n"
      "  ld.shared.u32 %r8, [%r2+128];\n  bar.sync 0;\n";
  return kernel;
}

class NoState : public testing::TestWithParam<Made> {};

// Without data there is a way back to the bits of a state, or of one of another phase.
TEST_P(NoState, IsWhatArithmeticMakes) {
  EXPECT_THROW(proof_of(waiting_for(GetParam().body)), ConfigError) << GetParam().body;
}

constexpr char kHalf[] =
    "  mov.b64 {%r5, %r6}, %rd6;\n  xor.b32 %r5, %r5, %r7;\n  mov.b64 %rd8, {%r5, %r6};\n";

INSTANTIATE_TEST_SUITE_P(
    OfEachKind,
    NoState,
    testing::Values(
        Made{"Xor", "  xor.b64 %rd8, %rd6, %rd7;\n"},
        Made{"XorTwice", "  xor.b64 %rd8, %rd6, 7;\n  xor.b64 %rd8, %rd8, 7;\n"},
        Made{"XorOfItself", "  xor.b64 %rd8, %rd6, %rd6;\n  xor.b64 %rd8, %rd8, %rd6;\n"},
        Made{"Or", "  neg.s64 %rd7, %rd7;\n  or.b64 %rd8, %rd6, %rd7;\n"},
        Made{"And", "  sub.u64 %rd7, %rd7, 1;\n  and.b64 %rd8, %rd6, %rd7;\n"},
        Made{"Mask",
             "  neg.s64 %rd7, %rd7;\n  xor.b64 %rd9, %rd5, %rd6;\n  and.b64 %rd9, %rd9, %rd7;\n"
             "  xor.b64 %rd8, %rd6, %rd9;\n"},
        Made{"Shift", "  shl.b64 %rd8, %rd6, %r7;\n"},
        Made{"Field", "  bfi.b64 %rd8, %rd5, %rd6, 0, %r7;\n"},
        Made{"Sum", "  add.u64 %rd8, %rd6, %rd7;\n"},
        Made{"Logic",
             "  mov.b64 {%r5, %r6}, %rd6;\n  lop3.b32 %r5, %r5, %r7, 0, 0x3c;\n"
             "  mov.b64 %rd8, {%r5, %r6};\n"},
        Made{"Bytes",
             "  mov.b64 {%r5, %r6}, %rd6;\n  mov.b64 {%r9, %r10}, %rd5;\n"
             "  mul.lo.u32 %r11, %r7, 0x4444;\n  add.u32 %r11, %r11, 0x3210;\n"
             "  prmt.b32 %r5, %r5, %r9, %r11;\n  prmt.b32 %r6, %r6, %r10, %r11;\n"
             "  mov.b64 %rd8, {%r5, %r6};\n"},
        Made{"Half", kHalf},
        Made{"HalvesOfTwo",
             "  mov.b64 {%r5, %r6}, %rd5;\n  mov.b64 {%r9, %r10}, %rd6;\n"
             "  mov.b64 %rd8, {%r5, %r10};\n"},
        Made{"ThroughMemory",
             "  mad.lo.u32 %r5, %r1, 8, %r2;\n  xor.b64 %rd8, %rd6, %rd7;\n"
             "  st.shared.u64 [%r5+1024], %rd8;\n  ld.shared.u64 %rd8, [%r5+1024];\n"},
        Made{"OfAnotherLife",
             "  bar.sync 0;\n  @%p1 mbarrier.inval.shared.b64 [%r2];\n"
             "  @%p1 mbarrier.init.shared.b64 [%r2], 64;\n  bar.sync 0;\n"
             "  mbarrier.arrive.shared.b64 %rd9, [%r2];\n"
             "  mbarrier.arrive.shared.b64 %rd9, [%r2];\n  mov.b64 %rd8, %rd5;\n"}),
    [](const auto& made) { return std::string{made.param.name}; });

class AState : public testing::TestWithParam<Made> {};

TEST_P(AState, MayBeHandedOn) {
  const ProofResult proof = proof_of(waiting_for(GetParam().body));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_FALSE(proof.data_decides) << GetParam().body;
}

INSTANTIATE_TEST_SUITE_P(
    OfEachKind,
    AState,
    testing::Values(Made{"Moved", "  mov.b64 %rd8, %rd6;\n"},
                    Made{"Parted", "  mov.b64 {%r5, %r6}, %rd6;\n  mov.b64 %rd8, {%r5, %r6};\n"},
                    Made{"Selected",
                         "  setp.ne.u32 %p6, %r2, 0;\n  selp.b64 %rd8, %rd6, %rd5, %p6;\n"},
                    Made{"Shuffled",
                         "  mov.b64 {%r5, %r6}, %rd6;\n  shfl.sync.idx.b32 %r5, %r5, 3, 31, -1;\n"
                         "  shfl.sync.idx.b32 %r6, %r6, 3, 31, -1;\n  mov.b64 %rd8, {%r5, %r6};\n"},
                    Made{"ThroughMemory",
                         "  mad.lo.u32 %r5, %r1, 8, %r2;\n  st.shared.u64 [%r5+1024], %rd6;\n"
                         "  ld.shared.u64 %rd8, [%r5+1024];\n"}),
    [](const auto& made) { return std::string{made.param.name}; });

// Which of two states it is, data says: the proof is of these data.
TEST(PtxStates, MayBeChosenByData) {
  const ProofResult proof = proof_of(waiting_for("  selp.b64 %rd8, %rd6, %rd5, %p5;\n"));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_TRUE(proof.data_decides);
}

// By atomics on bytes that nobody knows, the number that stands for a state is made in memory.
TEST(PtxStates, AreNotMadeInMemory) {
  const auto waiting = [](const std::string& makes) {
    OneKernel kernel;
    kernel.in.resize(8);
    kernel.body =
        "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra END;\n  mbarrier.init.shared.b64 [tile], 1;\n"
        "  mbarrier.arrive.shared.b64 %rd4, [tile];\n  mov.u64 %rd5, %clock64;\n"
        "  mov.u64 %rd6, " +
        std::to_string(ptx::opaque_of(std::uint64_t{1} << 32)) + ";\n" + makes +
        "WAIT:\n  mbarrier.test_wait.shared.b64 %p2, [tile], %rd7;\n  @!%p2 bra WAIT;\nEND:\n";
    return kernel;
  };
  for (const std::string change : {"shared.add.u64 [tile+8]", "shared.or.b64 [tile+8]"}) {
    EXPECT_THROW(proof_of(waiting("  st.shared.u64 [tile+8], %rd5;\n  red." + change +
                                  ", %rd6;\n  ld.shared.u64 %rd7, [tile+8];\n")),
                 ConfigError)
        << change;
  }
  EXPECT_THROW(proof_of(waiting("  st.global.u64 [%rd1], %rd5;\n  red.global.add.u64 [%rd1], "
                                "%rd6;\n  ld.global.u64 %rd7, [%rd1];\n")),
               ConfigError);
  expect_proved(waiting("  st.shared.u64 [tile+8], %rd4;\n  ld.shared.u64 %rd7, [tile+8];\n"));
}

TEST(PtxStates, OfAnOlderPhaseAreFound) {
  const OneKernel kernel = waiting_for(
      "ALSO:\n  mbarrier.test_wait.shared.b64 %p3, [%r2], %rd6;\n  @!%p3 bra ALSO;\n"
      "  mbarrier.arrive.shared.b64 %rd9, [%r2];\n  mov.b64 %rd8, %rd5;\n");
  expect_found(kernel, "MBAR_WAIT_PHASE_ALIASED");
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
