// Lanes of a warp are threads: what a proof says of memory that several of them touch, of data that
// decides, and what it takes for granted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::lanes_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// %r20 is the lane's place in `tile`, %r21 that of lane 31 - l, %rd4 its place in `out`, %rd5 that
// of the other: each `width` bytes. %rd6 is the thread's word of `in`.
OneKernel kernel_of(const std::string& body, std::uint32_t width = 4) {
  OneKernel kernel;
  const std::string bytes = std::to_string(width);
  kernel.body =
      "  and.b32 %r2, %r1, 31;\n  sub.u32 %r3, 31, %r2;\n  mov.u32 %r4, tile;\n"
      "  mad.lo.u32 %r20, %r2, " +
      bytes + ", %r4;\n  mad.lo.u32 %r21, %r3, " + bytes +
      ", %r4;\n"
      "  mad.wide.u32 %rd4, %r2, " +
      bytes + ", %rd2;\n  mad.wide.u32 %rd5, %r3, " + bytes +
      ", %rd2;\n"
      "  mad.wide.u32 %rd6, %r1, 4, %rd1;\n" +
      body;
  kernel.in.resize(64, 7);
  return kernel;
}

constexpr const char* kMeet = "  bar.warp.sync 0xffffffff;\n";

struct Pair {
  const char* name;
  std::uint32_t width;
  const char* before;
  const char* between;  // what makes it right
  const char* after;
  const char* id;
};
void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

class PtxLanes : public testing::TestWithParam<Pair> {};

TEST_P(PtxLanes, AreComparedByBytes) {
  const Pair& pair = GetParam();
  const auto body = [&](const char* between) {
    return kernel_of(std::string{pair.before} + between + pair.after, pair.width);
  };
  EXPECT_THAT(ids_in(proof_of(body(""))), ElementsAre(pair.id));
  const ProofResult right = proof_of(body(pair.between));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(right), IsEmpty());
}

constexpr const char* kMatrix =
    "  and.b32 %r5, %r2, 7;\n  mad.lo.u32 %r22, %r5, 16, %r4;\n"
    "  ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r22];\n";

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxLanes,
    testing::Values(
        Pair{"words",
             4,
             "  st.shared.u32 [%r20], %r1;\n",
             kMeet,
             "  ld.shared.u32 %r5, [%r21];\n",
             "WARP_LANE_RACE"},
        Pair{"halves",
             2,
             "  mov.u16 %h1, 3;\n  st.shared.u16 [%r20], %h1;\n",
             kMeet,
             "  ld.shared.u16 %h2, [%r21];\n",
             "WARP_LANE_RACE"},
        Pair{"halves_of_a_word",
             2,
             "  mov.u16 %h1, 3;\n  st.shared.u16 [%r20], %h1;\n  st.shared.u16 [%r20+64], %h1;\n",
             kMeet,
             "  add.u32 %r22, %r20, %r2;\n  add.u32 %r22, %r22, %r2;\n"
             "  ld.shared.u32 %r5, [%r22];\n",
             "WARP_LANE_RACE"},
        Pair{"bytes_after_a_word",
             4,
             "  st.shared.u32 [%r20], %r1;\n",
             kMeet,
             "  mov.u16 %h1, 77;\n  st.shared.u8 [%r21+1], %h1;\n",
             "WARP_LANE_RACE"},
        Pair{"global_words",
             4,
             "  st.global.u32 [%rd4], %r1;\n",
             kMeet,
             "  ld.global.u32 %r5, [%rd5];\n",
             "WARP_LANE_RACE"},
        Pair{"a_volatile_load",
             4,
             "  st.global.u32 [%rd4], %r1;\n",
             kMeet,
             "  ld.volatile.global.u32 %r5, [%rd5];\n",
             "WARP_LANE_RACE"},
        Pair{"an_atomic",
             4,
             "  mov.u32 %r6, 0;\n  st.global.u32 [%rd4], %r6;\n",
             kMeet,
             "  red.global.add.u32 [%rd5], 1;\n",
             "WARP_LANE_RACE"},
        Pair{"bytes_of_an_mbarrier",
             4,
             "  st.shared.u32 [%r20], %r1;\n",
             kMeet,
             "  setp.ne.u32 %p1, %r2, 9;\n  @%p1 bra AFTER;\n  mbarrier.init.shared.b64 [%r4], 1;\n"
             "AFTER:\n  bar.warp.sync 0xffffffff;\n",
             "WARP_LANE_RACE"},
        Pair{"any_value_in_an_mbarrier",
             4,
             "  st.shared.u32 [%r20], 0xB5B5B5B5;\n",
             kMeet,
             "  setp.ne.u32 %p1, %r2, 9;\n  @%p1 bra AFTER;\n  mbarrier.init.shared.b64 [%r4], 1;\n"
             "AFTER:\n  bar.warp.sync 0xffffffff;\n",
             "WARP_LANE_RACE"},
        Pair{"a_value_after_another",
             4,
             "  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra AFTER;\n  st.shared.u32 [%r4], 1;\n"
             "  st.shared.u32 [%r4], 2;\nAFTER:\n",
             kMeet,
             "  setp.ne.u32 %p1, %r2, 9;\n  @%p1 bra END;\n  st.shared.u32 [%r4], 2;\nEND:\n"
             "  bar.warp.sync 0xffffffff;\n",
             "WARP_LANE_RACE"},
        Pair{"matrices", 4, "  st.shared.u32 [%r20], %r1;\n", kMeet, kMatrix, "WARP_LANE_RACE"},
        Pair{"copies_that_have_come",
             4,
             "  cp.async.ca.shared.global [%r20], [%rd6], 4;\n  cp.async.commit_group;\n"
             "  cp.async.wait_group 0;\n",
             kMeet,
             "  ld.shared.u32 %r5, [%r21];\n",
             "WARP_LANE_RACE"},
        Pair{"the_read_only_path",
             4,
             "  st.global.u32 [%rd4], %r1;\n",
             "  add.u64 %rd5, %rd5, 1024;\n",
             "  ld.global.nc.u32 %r5, [%rd5];\n",
             "GMEM_READ_ONLY_WRITTEN"}),
    [](const auto& one) { return std::string{one.param.name}; });

// Lane 31 - l writes half of the word of which lane l has read the lower half.
TEST(PtxLanesAtOneWord, ReadAndWriteItsHalvesApart) {
  const auto writes = [](const char* place) {
    return proof_of(
        kernel_of("  mov.u16 %h1, 3;\n"
                  "  st.shared.u32 [%r20], %r1;\n" +
                  std::string{kMeet} + "  ld.shared.u16 %h2, [%r20];\n  st.shared.u16 [" + place +
                  "], %h1;\n"));
  };
  EXPECT_THAT(ids_in(writes("%r21")), ElementsAre("WARP_LANE_RACE"));
  EXPECT_EQ(writes("%r21+2").verdict, ProofVerdict::kProved);
}

// Nobody has to meet where all write the same.
TEST(PtxLanesAtOneWord, RaceWhereTheyWriteDifferently) {
  const std::string end = "  bar.warp.sync 0xffffffff;\n  ld.shared.u32 %r6, [%r4];\n";
  for (const char* space : {"shared", "global"}) {
    const std::string place = space == std::string{"shared"} ? "[%r4]" : "[%rd2]";
    const std::string store = "  st." + std::string{space} + ".u32 " + place + ", ";
    const std::string load =
        "  bar.warp.sync 0xffffffff;\n  ld." + std::string{space} + ".u32 %r6, " + place + ";\n";
    EXPECT_THAT(ids_in(proof_of(kernel_of(store + "%r1;\n" + load))),
                ElementsAre("WARP_LANE_RACE"));
    EXPECT_EQ(proof_of(kernel_of(store + "5;\n" + load)).verdict, ProofVerdict::kProved);
  }
}

// Of data nobody knows whether it is the same, until a run moves it.
TEST(PtxLanesAtOneWord, RaceWhereTheyWriteDifferentData) {
  const auto stores = [](const char* from) {
    OneKernel kernel = kernel_of("  ld.global.u32 %r5, [" + std::string{from} +
                                 "];\n  st.shared.u32 [%r4], %r5;\n");
    kernel.control = false;
    for (std::uint32_t i = 0; i < 64; ++i) {
      kernel.in[i] = i;
    }
    return proof_of(kernel);
  };
  EXPECT_THAT(ids_in(stores("%rd6")), ElementsAre("WARP_LANE_RACE"));
  EXPECT_EQ(stores("%rd1").verdict, ProofVerdict::kProved);
}

// A wait is an order only for what has been released.
TEST(PtxLanesThatWait, LearnWhatWasReleased) {
  const auto handed = [](const char* count, const char* release) {
    OneKernel kernel = kernel_of(
        "  .shared .align 8 .b64 bar;\n  mov.u32 %r7, bar;\n  setp.ne.u32 %p1, %r1, 0;\n"
        "  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r7], " +
        std::string{count} +
        ";\nREADY:\n  bar.sync 0;\n  setp.ne.u32 %p2, %r1, 32;\n"
        "  st.shared.u32 [%r20+1024], %r2;\n" +
        release +
        "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0;\n  @!%p3 bra WAIT;\n"
        "  ld.shared.u32 %r5, [%r21+1024];\n");
    kernel.threads = 64;
    // Each warp has words of its own.
    kernel.body.insert(kernel.body.find("  .shared"),
                       "  shr.u32 %r8, %r1, 5;\n  mad.lo.u32 %r20, %r8, 128, %r20;\n"
                       "  mad.lo.u32 %r21, %r8, 128, %r21;\n");
    return proof_of(kernel);
  };
  const char* all = "  mbarrier.arrive.shared.b64 %rd8, [%r7];\n";
  const char* other = "  @%p2 bra WAIT;\n  mbarrier.arrive.shared.b64 %rd8, [%r7];\n";
  EXPECT_EQ(handed("64", all).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(handed("1", other)), ElementsAre("WARP_LANE_RACE"));
  // A relaxed atomic releases nothing, but behind a fence.
  const std::string counts = "  red.relaxed.gpu.global.add.u32 [%rd6], 1;\n";
  EXPECT_THAT(ids_in(handed("1", (counts + other).c_str())), ElementsAre("WARP_LANE_RACE"));
}

// What a branch depends on is not taken to be zero.
TEST(PtxData, ThatDecidesIsLookedAt) {
  const auto leaves_if = [](std::uint32_t word) {
    OneKernel kernel = kernel_of(
        "  ld.global.u32 %r5, [%rd1];\n  setp.ne.u32 %p1, %r5, 0;\n"
        "  setp.lt.and.u32 %p2, %r1, 32, %p1;\n  @%p2 bra END;\n  bar.sync 1, 64;\nEND:\n");
    kernel.threads = 64;
    kernel.control = false;
    kernel.in[0] = word;
    return proof_of(kernel);
  };
  EXPECT_THAT(ids_in(leaves_if(1)), ElementsAre("DEADLOCK"));
  const ProofResult right = leaves_if(0);
  EXPECT_EQ(right.verdict, ProofVerdict::kProved);
  EXPECT_THAT(right.notes, testing::Contains(HasSubstr("data decides")));
}

TEST(PtxProof, NamesWhatItTakesForGranted) {
  const auto notes = [](const std::string& body) { return proof_of(kernel_of(body)).notes; };
  EXPECT_THAT(notes("  setp.gt.u32 %p1, %r1, 15;\n  @%p1 bra END;\n  bar.sync 0;\nEND:\n"),
              ElementsAre(HasSubstr("lanes that have ended count as arrived")));
  EXPECT_THAT(notes("  atom.global.add.u32 %r5, [%rd1], 1;\n  setp.eq.u32 %p1, %r5, 7;\n"
                    "  @%p1 st.shared.u32 [%r20], %r1;\n"),
              testing::Contains(HasSubstr("took turns as in this run")));
  EXPECT_THAT(notes("  bar.sync 0;\n"), IsEmpty());
}

// PTX says of the threads of a barrier alone that others know of what they did. Thread 1 ends in
// front of one, behind which thread 33 loads what it has stored.
TEST(PtxProof, NamesWhatLanesDidThatHaveEnded) {
  const auto named = testing::Contains(HasSubstr("what lanes of a warp did that have ended"));
  const std::string store = "  @%p1 st.shared.u32 [%r20], %r1;\n";
  const std::string load = "  @%p2 ld.shared.u32 %r5, [%r20];\n";
  for (const char* barrier : {"  bar.sync 0;\n", "  barrier.sync 0;\n"}) {
    const auto notes = [&](const std::string& before, const std::string& behind) {
      OneKernel kernel = kernel_of("  setp.eq.u32 %p1, %r1, 1;\n  setp.eq.u32 %p2, %r1, 33;\n" +
                                   before + "  @%p1 exit;\n" + barrier + behind);
      kernel.threads = 64;
      expect_proved(kernel);
      return proof_of(kernel).notes;
    };
    EXPECT_THAT(notes(store, load), named);
    EXPECT_THAT(notes(store + kMeet, load), testing::Not(named));
    EXPECT_THAT(notes("", ""), testing::Not(named));
  }
}

// Lane l of the first warp hands a word to lane l of the second, by a barrier of their own.
OneKernel pairs_of_lanes(const std::string& between, const std::string& place) {
  OneKernel kernel = kernel_of(
      "  shl.b32 %r22, %r2, 3;\n  add.u32 %r22, %r22, %r4;\n  add.u32 %r22, %r22, 2048;\n"
      "  setp.lt.u32 %p1, %r1, 32;\n  @%p1 mbarrier.init.shared.b64 [%r22], 1;\n"
      "  bar.sync 0;\n  @!%p1 bra WAIT;\n  st.shared.u32 [%r20], %r1;\n"
      "  mbarrier.arrive.shared.b64 _, [%r22];\n  bra END;\nWAIT:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p2, [%r22], 0;\n  @!%p2 bra WAIT;\n" +
      between + "  ld.shared.u32 %r5, [" + place + "];\nEND:\n");
  kernel.threads = 64;
  return kernel;
}

// Each lane knows what it has waited for, and no other lane's word before they meet.
TEST(PtxLanesThatWaitOneByOne, AreNotToldApartBeforeTheyMeet) {
  for (const char* place : {"%r20", "%r21"}) {
    SCOPED_TRACE(place);
    const ProofResult apart = proof_of(pairs_of_lanes("", place));
    EXPECT_EQ(apart.verdict, ProofVerdict::kUndecided);
    EXPECT_THAT(ids_in(apart), IsEmpty());
    EXPECT_EQ(proof_of(pairs_of_lanes(kMeet, place)).verdict, ProofVerdict::kProved);
  }
}

// Lane 3 reads a tile and loads the next one to it; lane 0 makes the proxy fence between the two.
// What lane 3 tells an mbarrier lane 0 has not waited for.
TEST(PtxLanes, AFenceOfAnotherLaneIsBehindWhatItHasMet) {
  const auto fenced = [](const char* between) {
    OneKernel kernel;
    kernel.in = {1, 2, 3, 4};
    kernel.body =
        std::string{"  mov.u32 %r20, tile;\n  mov.u32 %r4, 7;\n  setp.ne.u32 %p1, %r1, 0;\n"} +
        "  setp.ne.u32 %p2, %r1, 3;\n  @%p1 bra READY;\n"
        "  mbarrier.init.shared::cta.b64 [%r20+64], 1;\n"
        "  mbarrier.init.shared::cta.b64 [%r20+72], 1;\n  st.shared.u32 [%r20], %r4;\nREADY:\n"
        "  bar.sync 0;\n  @%p2 bra READ;\n  ld.shared.u32 %r6, [%r20];\n"
        "  mbarrier.arrive.shared::cta.b64 _, [%r20+64];\nREAD:\n" +
        between +
        "  @%p1 bra FENCED;\n  fence.proxy.async.shared::cta;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20+72], 16;\nFENCED:\n"
        "  bar.warp.sync -1;\n  @%p2 bra WAIT;\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 16, "
        "[%r20+72];\nWAIT:\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r20+72], 0;\n  @!%p3 bra WAIT;\n";
    return kernel;
  };
  expect_proved(fenced("  bar.warp.sync -1;\n"));
  expect_proved(fenced("  @!%p2 fence.proxy.async.shared::cta;\n"));
  expect_proved(
      fenced("LOOK:\n  @!%p1 mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r20+64], 0;\n"
             "  @%p1 bra LOOKED;\n  @!%p4 bra LOOK;\nLOOKED:\n"));
  expect_found(fenced(""), "WARP_LANES_NOT_RELEASED");
}

}  // namespace warptwin::sim::lanes_test
