// Clusters that claim tiles, whose lanes' accesses to global memory depend on the tile.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::ptx_claims_test {

using testing::HasSubstr;

constexpr std::uint32_t kCtas = 4;

/// CTAs of a warp, which claim each other's tiles. `work` is done for tile %r6: %r8 is four times
/// the lane.
OneKernel claiming(const std::string& work, std::uint32_t ctas = kCtas) {
  OneKernel kernel;
  kernel.ctas = ctas;
  kernel.in.resize(512, 1);
  kernel.out_words = 32 * ctas;
  kernel.body =
      "  .reg .b128 %q;\n  mov.u32 %r6, %ctaid.x;\n  setp.eq.u32 %p1, %r1, 0;\n"
      "  shl.b32 %r8, %r1, 2;\n  mov.u32 %r7, 0;\n  mov.u32 %r30, 0;\n  mov.u32 %r31, %r6;\n"
      "  @%p1 mbarrier.init.shared.b64 [tile+16], 1;\n"
      "  @%p1 fence.mbarrier_init.release.cluster;\n  bar.sync 0;\nNEXT:\n"
      "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [tile+16], 16;\n"
      "  @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
      " [tile], [tile+16];\n" +
      work +
      "  cvt.u64.u32 %rd8, %r8;\n  mul.wide.u32 %rd9, %r6, 128;\n  add.u64 %rd9, %rd9, %rd8;\n"
      "  add.u64 %rd9, %rd9, %rd2;\n  st.global.u32 [%rd9], %r9;\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], %r7;\n  @!%p2 bra WAIT;\n"
      "  xor.b32 %r7, %r7, 1;\n  ld.shared.b128 %q, [tile];\n"
      "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;\n"
      "  @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128"
      " {%r6, %r20, %r21, %r22}, %q;\n"
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @%p3 bra NEXT;\n";
  return kernel;
}

// A word for each lane at %rd10, which `index` of the tile and the lane says, into %r9.
std::string loads(const std::string& index, const std::string& guard = "") {
  return index +
         "  mul.wide.u32 %rd10, %r10, 4;\n  add.u64 %rd10, %rd10, %rd1;\n  mov.u32 %r9, 0;\n"
         "  " +
         guard + "ld.global.u32 %r9, [%rd10];\n";
}

// Of odd tiles the lanes' words are four apart, of others side by side: more rectangles, and no
// other work.
constexpr char kApart[] =
    "  and.b32 %r11, %r6, 1;\n  mad.lo.u32 %r12, %r11, 3, 1;\n  mul.lo.u32 %r10, %r12, %r1;\n";

TEST(PtxClaims, OfWordsThatLieWhereTheTileSays) {
  expect_proved(claiming(loads(kApart)));
  expect_proved(claiming(loads("  mul.lo.u32 %r10, %r6, 32;\n  add.u32 %r10, %r10, %r1;\n")));
  // The last rows of a tile are one row again and again.
  expect_proved(claiming(loads("  mul.lo.u32 %r11, %r6, 7;\n  min.u32 %r10, %r11, %r1;\n")));
}

void expect_undecided(const std::string& work, const char* reason, std::uint32_t ctas = kCtas) {
  const ProofResult proof = proof_of(claiming(work, ctas));
  ASSERT_EQ(proof.verdict, ProofVerdict::kUndecided) << work;
  ASSERT_FALSE(proof.undecided.empty());
  EXPECT_THAT(proof.undecided.front().reason, HasSubstr(reason));
}

// What is done depends on the tile, and every order of four tiles is proved.
void expect_kinds(const std::string& work) {
  const ProofResult proof = proof_of(claiming(work));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << work;
  EXPECT_GE(proof.claims.kinds, 2U) << work;
}

TEST(PtxClaims, OfOtherWorkForOtherTilesAreOfSeveralKinds) {
  // Fewer lanes load, of words that are one rectangle whatever their number.
  const std::string few = "  mad.lo.u32 %r11, %r6, 8, 8;\n  setp.lt.u32 %p5, %r1, %r11;\n";
  expect_kinds(loads(few + "  mov.u32 %r10, %r1;\n", "@%p5 "));
  expect_kinds(loads(few + "  mov.u32 %r10, 0;\n", "@%p5 "));
  // One load more.
  const std::string more =
      "  setp.eq.u32 %p5, %r6, 2;\n  @!%p5 bra SKIP;\n"
      "  ld.global.u32 %r13, [%rd1];\nSKIP:\n";
  expect_kinds(more + loads(kApart));
  expect_kinds(loads(kApart) + more);
  // The same load twice, one behind the other.
  const std::string twice = "  and.b32 %r14, %r6, 1;\nAGAIN:\n" + loads(kApart) +
                            "  setp.ne.u32 %p5, %r14, 0;\n  mov.u32 %r14, 0;\n  @%p5 bra AGAIN;\n";
  expect_kinds(twice);
  // Halves of the warp load by themselves.
  const std::string halves =
      "  mov.u32 %r14, 32;\n  and.b32 %r11, %r6, 1;\n  setp.eq.u32 %p5, %r11,"
      " 0;\n  @%p5 mov.u32 %r14, 16;\n  setp.lt.u32 %p6, %r1, %r14;\n"
      "  @!%p6 bra OTHERS;\n" +
      loads("  mov.u32 %r10, %r1;\n") + "  bra.uni BOTH;\nOTHERS:\n" +
      loads("  mov.u32 %r10, %r1;\n") + "BOTH:\n  bar.warp.sync -1;\n";
  expect_kinds(halves);
  // Of 16 tiles, half of each kind, there are more orders than are proved.
  expect_undecided(halves, "what a cluster does depends on which tile it has", 16);
}

// The registers of a loop are not among what is known to come back.
TEST(PtxClaims, OfALateTileAreRefuted) {
  const auto at = [](const char* tile) {
    return loads(kApart) + "  add.u32 %r30, %r30, 1;\n  setp.eq.u32 %p5, %r30, " + tile +
           ";\n  @%p5 bar.sync 1, 64;\n";
  };
  EXPECT_EQ(proof_of(claiming(at("14"), 16)).verdict, ProofVerdict::kRefuted);
  expect_proved(claiming(at("17"), 16));
}

TEST(PtxClaims, OfATileBehindAnotherAreCompared) {
  const auto behind = [](const char* distance) {
    return loads(kApart) + "  sub.u32 %r32, %r6, %r31;\n  setp.eq.u32 %p5, %r32, " + distance +
           ";\n  mov.u32 %r31, %r6;\n  @%p5 bar.warp.sync -1;\n";
  };
  EXPECT_EQ(proof_of(claiming(behind("5"), 16)).verdict, ProofVerdict::kUndecided);
  expect_proved(claiming(behind("16"), 16));
}

// No CTA by itself, and not the first one with any tiles, does what is wrong.
TEST(PtxClaims, OfACtaThatIsNotTheFirstAreCompared) {
  const auto of_cta = [](const char* cta) {
    return loads(kApart) + "  setp.eq.u32 %p5, %r33, " + cta +
           ";\n  setp.ne.and.u32 %p5, %r6, %r33, %p5;\n  @%p5 bar.sync 1, 64;\n";
  };
  for (const std::uint32_t ctas : {5U, 16U}) {
    for (const char* cta : {"3", "64"}) {
      OneKernel kernel = claiming(of_cta(cta), ctas);
      kernel.body = "  mov.u32 %r33, %ctaid.x;\n" + kernel.body;
      EXPECT_EQ(proof_of(kernel).verdict,
                *cta == '3' ? ProofVerdict::kRefuted : ProofVerdict::kProved);
    }
  }
}

// CTA 3 does something else for a tile that is not its own: %p5. No CTA with its own tile, nor
// the first one with any tiles, shows what is wrong.
constexpr char kElsewhere[] =
    "  setp.eq.u32 %p5, %r33, 3;\n  setp.ne.and.u32 %p5, %r6, %r33, %p5;\n";

// Two warps in a CTA.
OneKernel of_two_warps(const std::string& work) {
  OneKernel kernel = claiming(kElsewhere + work, 5);
  kernel.threads = 64;
  kernel.out_words = 1024;
  const std::string words = "mul.wide.u32 %rd9, %r6, 128";
  kernel.body.replace(kernel.body.find(words), words.size(), "mul.wide.u32 %rd9, %r6, 256");
  kernel.body =
      "  mov.u32 %r33, %ctaid.x;\n  shr.u32 %r40, %r1, 5;\n  mov.u32 %r41, tile;\n"
      "  mov.u32 %r9, 0;\n" +
      kernel.body;
  return kernel;
}

// A line may have several instructions, which order more or less.
TEST(PtxClaims, OfInstructionsOfOneLineAreCompared) {
  const auto waiting = [](const char* semantics) {
    OneKernel kernel = claiming(loads(kApart) + kElsewhere, 5);
    kernel.body = "  mov.u32 %r33, %ctaid.x;\n" + kernel.body;
    const std::string wait =
        "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], %r7;\n  @!%p2 bra WAIT;\n";
    kernel.body.replace(kernel.body.find(wait),
                        wait.size(),
                        "  @%p5 bra OTHER;\nWAIT: mbarrier.try_wait.parity.acquire.cta.shared.b64"
                        " %p2, [tile+16], %r7; @!%p2 bra WAIT; bra OVER; OTHER:"
                        " mbarrier.try_wait.parity." +
                            std::string{semantics} +
                            ".cta.shared.b64 %p2, [tile+16], %r7; @!%p2 bra OTHER;\nOVER:\n");
    return kernel;
  };
  expect_proved(waiting("acquire"));
  EXPECT_EQ(proof_of(waiting("relaxed")).verdict, ProofVerdict::kRefuted);
}

// As many rows of shared memory, further apart: the second warp loads one of them.
TEST(PtxClaims, OfRowsThatLieFurtherApartAreCompared) {
  const auto apart = [](const char* bytes) {
    OneKernel kernel =
        of_two_warps("  selp.u32 %r42, " + std::string{bytes} +
                     ", 8, %p5;\n  mad.lo.u32 %r43, %r1, %r42, %r41;\n  setp.eq.u32 %p6, %r40, 0;\n"
                     "  @%p6 st.shared.u32 [%r43+1024], %r1;\n  setp.eq.u32 %p6, %r1, 32;\n"
                     "  @%p6 ld.shared.u32 %r44, [tile+1520];\n");
    const std::string fill =
        "  mad.lo.u32 %r43, %r1, 8, %r41;\n  st.shared.v2.u32 [%r43+1024], {%r1, %r1};\n";
    kernel.body.insert(kernel.body.find("  bar.sync 0;\nNEXT:"), fill);
    return kernel;
  };
  expect_proved(apart("8"));
  expect_found(apart("16"), "SMEM_RACE");
}

// Two warps store the same, unless it is CTA 3 that has another one's tile.
TEST(PtxClaims, OfWarpsThatStoreTheSameAreCompared) {
  const auto storing = [](const char* other) {
    return of_two_warps("  selp.u32 %r42, " + std::string{other} +
                        ", 5, %p5;\n  st.shared.u32 [tile+1024], %r42;\n  bar.sync 0;\n"
                        "  ld.shared.u32 %r9, [tile+1024];\n  bar.sync 0;\n");
  };
  expect_proved(storing("6"));
  expect_found(storing("%r40"), "SMEM_RACE");
}

// Each tile's words are those of the tile, and the two warps exchange them.
TEST(PtxClaims, OfWarpsThatExchangeTheirWordsAreCompared) {
  const auto exchanging = [](const char* other) {
    return of_two_warps("  selp.u32 %r42, " + std::string{other} +
                        ", 0, %p5;\n  shl.b32 %r42, %r42, 5;\n  xor.b32 %r42, %r42, %r1;\n"
                        "  mad.lo.u32 %r43, %r6, 64, %r42;\n  mul.wide.u32 %rd10, %r43, 4;\n"
                        "  add.u64 %rd10, %rd10, %rd2;\n  st.global.u32 [%rd10+2048], %r1;\n"
                        "  mad.lo.u32 %r43, %r6, 64, %r1;\n  mul.wide.u32 %rd10, %r43, 4;\n"
                        "  add.u64 %rd10, %rd10, %rd2;\n  setp.eq.u32 %p6, %r40, 0;\n"
                        "  @%p6 ld.global.u32 %r9, [%rd10+2048];\n");
  };
  expect_proved(exchanging("0"));
  expect_found(exchanging("1"), "GMEM_RACE");
}

// As many rows from the same place on, twice as far apart: by another map, which covers rows of the
// tiles behind it.
TEST(PtxClaims, OfCopiesWhoseRowsLieFurtherApartAreCompared) {
  const auto storing = [](bool other_map) {
    OneKernel kernel = claiming(kElsewhere + std::string{"  shl.b32 %r42, %r6, 2;\n"} +
                                    (other_map ? "  @%p5 mov.u64 %rd20, %rd21;\n"
                                                 "  @%p5 shl.b32 %r42, %r6, 1;\n"
                                               : "") +
                                    "  @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
                                    " [%rd20, {%r43, %r42}], [%r41];\n"
                                    "  @%p1 cp.async.bulk.commit_group;\n"
                                    "  @%p1 cp.async.bulk.wait_group 0;\n",
                                5);
    kernel.body =
        "  mov.u32 %r33, %ctaid.x;\n  mov.u32 %r43, 0;\n  shl.b32 %r40, %r1, 4;\n"
        "  mov.u32 %r41, tile;\n  add.u32 %r40, %r40, %r41;\n"
        "  st.shared.v4.u32 [%r40+1024], {%r1, %r1, %r1, %r1};\n  add.u32 %r41, %r41, 1024;\n"
        "  fence.proxy.async.shared::cta;\n  bar.warp.sync -1;\n  mov.u32 %r9, 0;\n" +
        kernel.body;
    kernel.body.replace(kernel.body.find("  st.global.u32 [%rd9], %r9;\n"), 29, "");
    kernel.columns = 32;
    kernel.out_words = 32 * 64;
    TensorMapSpec apart{1, 4, 32};
    apart.outer[0] = {32, 256, 4, 1};
    kernel.maps = {{1, 4, 32}, apart};
    return kernel;
  };
  expect_proved(storing(false));
  const ProofResult proof = proof_of(storing(true));
  EXPECT_EQ(proof.verdict, ProofVerdict::kUndecided);
}

// What shows is refuted with its order, not left open.
TEST(PtxClaims, OfAnOrderThatTrapsAreRefuted) {
  const auto trapping = [](const char* flag) {
    OneKernel kernel = claiming(
        loads(kApart) + kElsewhere + "  @%p5 mov.u32 %r42, " + std::string{flag} + ";\n", 5);
    kernel.body = "  mov.u32 %r33, %ctaid.x;\n  mov.u32 %r42, 0;\n" + kernel.body +
                  "  setp.ne.u32 %p6, %r42, 0;\n  @%p6 trap;\n";
    return kernel;
  };
  expect_proved(trapping("0"));
  expect_found(trapping("1"), "KERNEL_TRAP");
}

// What is taken for granted of one order of tiles alone is among what the verdict rests on: that
// `elect.sync` tells of the arrivals in front of it, where a CTA has another one's tile.
TEST(PtxClaims, OfOneOrderRestOnWhatItTakesForGranted) {
  const auto meeting = [](const std::string& collective) {
    const std::string few = "  mad.lo.u32 %r11, %r6, 8, 8;\n  setp.lt.u32 %p5, %r1, %r11;\n";
    return claiming(loads(few + "  mov.u32 %r10, %r1;\n", "@%p5 ") +
                        "  setp.eq.u32 %p7, %r6, %r31;\n  @%p7 bra OWN;\n"
                        "  @%p1 mbarrier.init.shared.b64 [tile+64], 32;\n  bar.warp.sync -1;\n"
                        "  mbarrier.arrive.shared.b64 _, [tile+64];\n  " +
                        collective +
                        "  @%p1 mbarrier.inval.shared.b64 [tile+64];\n  bar.warp.sync -1;\nOWN:\n",
                    2);
  };
  const auto rests = [](const OneKernel& kernel) {
    const ProofResult proof = proof_of(kernel);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << kernel.body;
    EXPECT_GE(proof.claims.kinds, 2U);
    return std::any_of(proof.notes.begin(), proof.notes.end(), [](const std::string& note) {
      return note.find("a collective brings the lanes") != std::string::npos;
    });
  };
  EXPECT_TRUE(rests(meeting("elect.sync %r34|%p8, -1;\n")));
  EXPECT_FALSE(rests(meeting("bar.warp.sync -1;\n")));
}

// CTA 3 traps for another one's tile where a lane is elected that is not the lowest: with others no
// order of tiles is looked at.
TEST(PtxClaims, OfOneOrderNameThatOtherLanesAreNotElectedThere) {
  const auto named = testing::Contains(HasSubstr("whichever lane elect.sync elects"));
  for (const char* lane : {"31", "13", "64"}) {
    OneKernel kernel = claiming(loads(kApart) + kElsewhere +
                                    "  elect.sync %r34|%p8, -1;\n  setp.eq.and.u32 %p9, %r34, " +
                                    lane + ", %p5;\n  @%p9 trap;\n",
                                5);
    kernel.body = "  mov.u32 %r33, %ctaid.x;\n" + kernel.body;
    EXPECT_THAT(proof_of(kernel).notes, named);
  }
  EXPECT_THAT(proof_of(claiming(loads(kApart), 5)).notes, testing::Not(named));
}

// PTX calls it opaque: a query alone says what it tells.
TEST(PtxClaims, OfWhichAResponseTellsByQueriesAlone) {
  const auto asking = [](const std::string& asks) {
    OneKernel kernel = claiming(loads(kApart), 2);
    const std::string end = "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @%p3 bra NEXT;\n";
    kernel.body.replace(kernel.body.find(end), end.size(), asks + end);
    kernel.body += "DONE:\n";
    return kernel;
  };
  const std::string test = "  setp.eq.u32 %p6, %r25, 77;\n  @%p6 bra DONE;\n";
  for (const std::string load : {"  ld.shared.u32 %r25, [tile];\n",
                                 "  ld.shared.u32 %r25, [tile+8];\n",
                                 "  ld.shared.v4.u32 {%r24, %r26, %r27, %r25}, [tile];\n",
                                 "  ld.shared.v2.u64 {%rd11, %rd12}, [tile];\n"
                                 "  cvt.u32.u64 %r25, %rd12;\n"}) {
    EXPECT_THAT([&] { proof_of(asking(load + test)); },
                testing::ThrowsMessage<ConfigError>(HasSubstr("what is executed next depends on")))
        << load;
  }
  // Moved, or loaded in pieces, it tells the same.
  expect_proved(
      asking("  ld.shared.u64 %rd11, [tile];\n  ld.shared.v2.u32 {%r26, %r27}, [tile+8];\n"
             "  mov.b64 %rd12, {%r26, %r27};\n  mov.b128 %q, {%rd11, %rd12};\n"
             "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, %q;\n"
             "  selp.u32 %r25, 1, 0, %p6;\n" +
             test));
  expect_proved(
      asking("  ld.shared.v2.u64 {%rd11, %rd12}, [tile];\n  mov.b128 %q, {%rd11, %rd12};\n"
             "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, %q;\n"
             "  selp.u32 %r25, 1, 0, %p6;\n" +
             test));
  EXPECT_THAT(
      [&] {
        proof_of(
            asking("  mov.u64 %rd11, 1;\n  mov.b128 %q, {%rd11, %rd11};\n"
                   "  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, %q;\n"));
      },
      testing::ThrowsMessage<ConfigError>(HasSubstr("is no response")));
}

// What is written over a response is none.
TEST(PtxClaims, OfResponsesThatAreThereStill) {
  const auto behind = [](const std::string& write) {
    OneKernel kernel = claiming(loads(kApart), 1);
    kernel.body += write +
                   "  ld.shared.v4.u32 {%r24, %r25, %r26, %r27}, [tile];\n"
                   "  setp.eq.u32 %p6, %r25, 5;\n  @%p6 bra DONE;\n  trap;\nDONE:\n";
    return kernel;
  };
  expect_proved(
      behind("  mov.u32 %r25, 5;\n  bar.sync 0;\n"
             "  @%p1 st.shared.v4.u32 [tile], {%r25, %r25, %r25, %r25};\n"
             "  bar.sync 0;\n"));
  expect_found(behind("  mov.u32 %r25, 5;\n  bar.sync 0;\n"
                      "  @%p1 st.shared.v4.u32 [tile], {%r25, %r25, %r25, %r25};\n"),
               "WARP_LANE_RACE");
  EXPECT_THROW(proof_of(behind("  bar.sync 0;\n")), ConfigError);
  // Of words of data it is the launch's that decide.
  OneKernel copied = behind(
      "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [tile+16], 16;\n"
      "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 16,"
      " [tile+16];\nW2:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+16], %r7;\n"
      "  @!%p2 bra W2;\n");
  copied.control = false;
  copied.in.assign(512, 5);
  EXPECT_TRUE(proof_of(copied).data_decides);
}

// Of a request that failed there is no CTA: what is asked of it nobody knows.
TEST(PtxClaims, OfWhichNobodyAskedWhetherThereIsOne) {
  const std::string guard = "  @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid";
  const auto unguarded = [&](const std::string& behind) {
    OneKernel kernel = claiming(loads(kApart));
    kernel.body.replace(kernel.body.find(guard), guard.find('c'), "  ");
    kernel.body += behind;
    return kernel;
  };
  expect_proved(unguarded(""));
  EXPECT_THROW(proof_of(unguarded("  setp.eq.u32 %p5, %r6, 0;\n  @%p5 bra END;\n"
                                  "  bar.warp.sync -1;\nEND:\n")),
               ConfigError);
}

TEST(PtxClaims, OfAccessesThatBelongToTheClusterAreUndecided) {
  expect_undecided(loads("  mov.u32 %r11, %ctaid.x;\n  mad.lo.u32 %r10, %r11, 32, %r1;\n"),
                   "depends on which cluster has it");
  // The first word is the same, and how far apart they are is not.
  expect_undecided(loads("  mov.u32 %r11, %ctaid.x;\n  add.u32 %r11, %r11, 1;\n"
                         "  shl.b32 %r10, %r1, %r11;\n"),
                   "depends on which cluster has it");
}

}  // namespace warptwin::sim::ptx_claims_test
