// mbarriers: of other CTAs, in loops that give up, waited for by lanes apart.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::barriers_test {

using testing::Contains;
using testing::IsEmpty;

// Thread 0 of each CTA of a pair announces 32 bytes to its own barrier, and `bytes` to the other's
// as if a copy had brought them.
OneKernel completing(const std::string& bytes, bool meets) {
  OneKernel kernel;
  kernel.ctas = kernel.cluster = 2;
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  mov.u32 %r2, bar;\n  mov.u32 %r3, %cluster_ctarank;\n"
      "  xor.b32 %r3, %r3, 1;\n  mapa.shared::cluster.u32 %r4, %r2, %r3;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  fence.mbarrier_init.release.cluster;\nREADY:\n" +
      (meets ? meet : std::string{}) +
      "  @%p1 bra WAIT;\n  mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 32;\n"
      "  mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r4], " +
      bytes +
      ";\nWAIT:\n  bar.warp.sync 0xffffffff;\nAGAIN:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n  @!%p2 bra AGAIN;\n" +
      meet;
  return kernel;
}

TEST(PtxRemoteBarriers, BytesAreCompletedInAnotherCta) {
  const ProofResult right = proof_of(completing("32", true));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(proof_of(completing("16", true))), Contains("DEADLOCK"));
  EXPECT_THAT(ids_in(proof_of(completing("32", false))), Contains("MBAR_UNINIT"));
}

// Thread 0 of CTA 0 does `there` with the addresses of CTA 1's mbarrier, %r4, and tile, %r5, and
// thread 0 of CTA 1 waits.
OneKernel reaching(const std::string& there) {
  OneKernel kernel;
  kernel.ctas = kernel.cluster = 2;
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  mov.u32 %r2, bar;\n  mov.u32 %r3, %cluster_ctarank;\n"
      "  mapa.shared::cluster.u32 %r4, %r2, 1;\n  mov.u32 %r5, tile;\n"
      "  mapa.shared::cluster.u32 %r5, %r5, 1;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  fence.mbarrier_init.release.cluster;\nREADY:\n" +
      meet + "  @%p1 bra LAST;\n  setp.eq.u32 %p2, %r3, 1;\n  @%p2 bra WAIT;\n" + there +
      "  bra LAST;\nWAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n"
      "  @!%p3 bra WAIT;\nLAST:\n  bar.warp.sync 0xffffffff;\n" +
      meet;
  return kernel;
}

// What names `.shared::cta`, or `.shared` for short, acts on the own CTA.
TEST(PtxRemoteBarriers, AnotherCtaIsNotNamedAsTheOwn) {
  const std::string stores = "  st.shared::cluster.u32 [%r5], %r1;\n";
  const std::string arrives = "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n";
  const ProofResult right = proof_of(reaching(stores + arrives));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), IsEmpty());
  for (const char* space : {".shared.b64", ".shared::cta.b64"}) {
    expect_found(reaching(stores + "  mbarrier.arrive" + space + " _, [%r4];\n"), "MBAR_SPACE");
    expect_found(reaching(stores + "  mbarrier.expect_tx.relaxed.cta" + space + " [%r4], 16;\n"),
                 "MBAR_SPACE");
  }
  for (const char* access : {"st.shared.u32 [%r5], %r1",
                             "st.shared::cta.u32 [%r5], %r1",
                             "ld.shared.u32 %r6, [%r5]",
                             "red.shared.add.u32 [%r5], %r1"}) {
    EXPECT_THROW(proof_of(reaching("  " + std::string{access} + ";\n" + arrives)), ConfigError)
        << access;
  }
}

// Two warps take turns by two named barriers, and store to one place. Whoever begins has arrived at
// its own barrier before: so FlashAttention-3's consumer warpgroups begin. `first` is what warp 0
// does before its first turn, `second` before its second one.
OneKernel taking_turns(const std::string& first, const std::string& second = "") {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  mov.u32 %r3, tile;\n  and.b32 %r5, %r1, 31;\n  mad.lo.u32 %r4, %r5, 4, %r3;\n"
      "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra OTHER;\n" +
      first + "  bar.sync 1, 64;\n  st.shared.u32 [%r4], %r1;\n  bar.arrive 2, 64;\n" + second +
      "  bar.sync 1, 64;\n  st.shared.u32 [%r4], %r1;\n  bra LAST;\n"
      "OTHER:\n  bar.sync 2, 64;\n  st.shared.u32 [%r4], %r1;\n  bar.arrive 1, 64;\nLAST:\n";
  return kernel;
}

TEST(PtxNamedBarriers, CountEachArrivalOfAWarp) {
  const ProofResult proof = proof_of(taking_turns("  bar.arrive 1, 64;\n"));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_THAT(ids_in(proof), testing::ElementsAre("NAMED_BARRIER_DOUBLE_ARRIVE"));
  // Without the first arrival nobody begins; with one more, both have a turn at once.
  expect_found(taking_turns(""), "DEADLOCK");
  expect_found(taking_turns("  bar.arrive 1, 64;\n", "  bar.arrive 1, 64;\n"), "SMEM_RACE");
}

// Warp 0 stores, and arrives at two barriers; warp 1 does `body`, and reads what was stored.
OneKernel waiting(const std::string& body) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  .shared .align 8 .b64 bar[2];\n  mov.u32 %r2, bar;\n  mov.u32 %r3, tile;\n"
      "  and.b32 %r5, %r1, 31;\n  mad.lo.u32 %r4, %r5, 4, %r3;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 32;\n"
      "  mbarrier.init.shared.b64 [%r2+8], 32;\nREADY:\n  bar.sync 0;\n"
      "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra WAIT;\n  st.shared.u32 [%r4], %r1;\n"
      "  mbarrier.arrive.shared.b64 %rd3, [%r2];\n  st.shared.u32 [%r4+128], %r1;\n"
      "  mbarrier.arrive.shared.b64 %rd3, [%r2+8];\n  bra LAST;\nWAIT:\n" +
      body + "LAST:\n";
  return kernel;
}

// Half of warp 1 waits for the barrier at `first`, and reads what warp 0 has stored; the other half
// waits for warp 0's barrier, at 0. The one at 8 comes late, from warps 2 and 3.
OneKernel waiting_by_halves(const std::string& first) {
  const auto wait = [](const std::string& label, const std::string& at) {
    return label + ":\n  mbarrier.try_wait.parity.shared.b64 %p7, [%r2+" + at +
           "], 0;\n  @!%p7 bra " + label + ";\n";
  };
  OneKernel kernel;
  kernel.threads = 128;
  kernel.body =
      "  .shared .align 8 .b64 bar[3];\n  mov.u32 %r2, bar;\n  mov.u32 %r3, tile;\n"
      "  and.b32 %r5, %r1, 31;\n  shr.u32 %r6, %r1, 5;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  mbarrier.init.shared.b64 [%r2+8], 1;\n  mbarrier.init.shared.b64 [%r2+16], 1;\nREADY:\n"
      "  bar.sync 0;\n  setp.eq.u32 %p2, %r6, 1;\n  @%p2 bra WAITS;\n"
      "  setp.ne.u32 %p3, %r5, 0;\n  @%p3 bra LAST;\n  setp.eq.u32 %p4, %r6, 2;\n"
      "  @%p4 bra SECOND;\n  setp.eq.u32 %p5, %r6, 3;\n  @%p5 bra THIRD;\n"
      "  st.shared.u32 [%r3], 7;\n  mbarrier.arrive.shared.b64 %rd3, [%r2];\n  bra "
      "LAST;\nSECOND:\n" +
      wait("T1", "16") + "  mbarrier.arrive.shared.b64 %rd3, [%r2+8];\n  bra LAST;\nTHIRD:\n" +
      repeated("  st.global.u32 [%rd2+4], $;\n", 20) +
      "  mbarrier.arrive.shared.b64 %rd3, [%r2+16];\n  bra LAST;\nWAITS:\n"
      "  setp.lt.u32 %p6, %r5, 16;\n  @%p6 bra LOW;\n" +
      wait("T2", "0") + "  bra LAST;\nLOW:\n" + wait("T3", first) +
      "  ld.shared.u32 %r7, [%r3];\n  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  st.global.u32 [%rd5+512], %r7;\nLAST:\n";
  return kernel;
}

TEST(PtxMbarriers, LanesKnowWhatTheyHaveWaitedForThemselves) {
  const ProofResult right = proof_of(waiting_by_halves("0"));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  const ProofResult wrong = proof_of(waiting_by_halves("8"));
  EXPECT_EQ(wrong.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(wrong), Contains("SMEM_RACE"));
}

TEST(PtxMbarriers, LoopsThatGiveUpAreUndecided) {
  const std::string read =
      "  ld.shared.u32 %r6, [%r4];\n  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  st.global.u32 [%rd5], %r6;\n";
  const std::string loop =
      "  mov.u32 %r7, 0;\nTRY:\n  mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;\n"
      "  @%p3 bra GO;\n  add.u32 %r7, %r7, 1;\n";
  // It does give up, and reads what is not there yet.
  const std::string gives_up = "  setp.lt.u32 %p4, %r7, 100;\n  @%p4 bra TRY;\nGO:\n";
  EXPECT_NE(proof_of(waiting(loop + gives_up + read)).verdict, ProofVerdict::kProved);
  const ProofResult harmless = proof_of(waiting(loop + gives_up));
  EXPECT_EQ(harmless.verdict, ProofVerdict::kUndecided);
  EXPECT_THAT(ids_in(harmless), IsEmpty());
  const std::string plain =
      "TRY:\n  mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;\n  @!%p3 bra TRY;\n";
  EXPECT_EQ(proof_of(waiting(plain + read)).verdict, ProofVerdict::kProved);
}

// One lane of warp 1 waits alone; then the whole warpgroup does `behind`.
OneKernel one_lane_waits(const std::string& behind) {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.body =
      "  .shared .align 8 .b64 bar[2];\n  mov.u32 %r2, bar;\n  setp.ne.u32 %p1, %r1, 0;\n"
      "  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  mbarrier.init.shared.b64 [%r2+8], 128;\n  st.shared.u32 [tile], %r1;\n"
      "  mbarrier.arrive.shared.b64 %rd3, [%r2];\nREADY:\n  bar.sync 0;\n"
      "  setp.ne.u32 %p2, %r1, 32;\n  @%p2 bra ALL;\nALONE:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n  @!%p3 bra ALONE;\nALL:\n" +
      behind +
      "  mbarrier.arrive.shared.b64 %rd3, [%r2+8];\nWAIT:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p4, [%r2+8], 0;\n  @!%p4 bra WAIT;\n";
  return kernel;
}

// A wgmma holds the lanes of a warp back until all have come: they may arrive behind it.
TEST(PtxMbarriers, AreArrivedAtBehindAWgmmaThatGathersTheLanes) {
  const std::string gather = "  wgmma.fence.sync.aligned;\n";
  const std::string load = "  ld.shared.u32 %r6, [tile];\n";
  const ProofResult right = proof_of(one_lane_waits(gather));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), IsEmpty());
  // What the lane has acquired is not the others'.
  EXPECT_THAT(ids_in(proof_of(one_lane_waits(gather + load))), Contains("WARP_SYNC_MISSING"));
  EXPECT_THAT(ids_in(proof_of(one_lane_waits("  bar.warp.sync -1;\n" + load))), IsEmpty());
}

// A try before the loop leaves a word: what is stored of it depends on who came first.
TEST(PtxMbarriers, StoresOfWhatATrySaidAreUndecided) {
  const auto storing = [](const std::string& refused) {
    return waiting(
        "  mov.u32 %r7, 5;\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n"
        "  @%p3 bra GO;\n" +
        refused +
        "TRY:\n  mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0;\n  @!%p4 bra TRY;\n"
        "GO:\n  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
        "  st.global.u32 [%rd5], %r7;\n");
  };
  EXPECT_EQ(proof_of(storing("  mov.u32 %r7, 6;\n")).verdict, ProofVerdict::kUndecided);
  EXPECT_EQ(proof_of(storing("  mov.u32 %r7, 5;\n")).verdict, ProofVerdict::kProved);
}

// Two tries of one line, as a loop that is unrolled has them, are two: neither waits.
TEST(PtxMbarriers, TriesOfOneLineAreNoLoop) {
  const std::string file = "  .file 1 \"a.cu\"\n";
  const auto tries = [](std::uint32_t count) {
    return waiting(repeated("  .loc 1 5 3\n  mbarrier.try_wait.parity.shared.b64 %p$, [%r2], 0;\n"
                            "  @%p$ bra GO;\n",
                            count) +
                   "GO:\n  ld.shared.u32 %r6, [%r4];\n");
  };
  for (const std::uint32_t count : {1U, 2U, 3U}) {
    OneKernel kernel = tries(count);
    kernel.variables = file;
    EXPECT_THAT(ids_in(proof_of(kernel)), Contains("SMEM_RACE")) << count;
  }
}

// A loop that gives up, whose body has two tries.
TEST(PtxMbarriers, UnrolledLoopsThatGiveUpAreUndecided) {
  const ProofResult result = proof_of(waiting(
      "  mov.u32 %r7, 0;\nTRY:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n"
      "  @%p3 bra GO;\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n  @%p3 bra GO;\n"
      "  add.u32 %r7, %r7, 2;\n  setp.lt.u32 %p4, %r7, 1000;\n  @%p4 bra TRY;\nGO:\n"));
  EXPECT_EQ(result.verdict, ProofVerdict::kUndecided);
  EXPECT_THAT(ids_in(result), IsEmpty());
}

// What is asked for may be computed in the loop, as nvcc does: it is a wait where that is the same
// each time.
TEST(PtxMbarriers, LoopsThatComputeWhatTheyAskForAreWaits) {
  const auto looping = [](const char* computed) {
    return waiting(std::string{"  mov.u32 %r7, 1;\n  mov.u32 %r8, 0;\n  bra TRY;\nTRY:\n"} +
                   computed +
                   "  mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r8;\n  @!%p3 bra TRY;\n"
                   "  ld.shared.u32 %r6, [%r4];\n  mul.wide.u32 %rd4, %r5, 4;\n"
                   "  add.u64 %rd5, %rd2, %rd4;\n  st.global.u32 [%rd5], %r6;\n");
  };
  const ProofResult right = proof_of(looping("  xor.b32 %r8, %r7, 1;\n  mov.u32 %r9, bar;\n"));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), IsEmpty());
  // The parity of a phase that is not begun passes at once.
  EXPECT_THAT(ids_in(proof_of(looping("  mov.u32 %r8, %r7;\n  mov.u32 %r9, %r2;\n"))),
              Contains("SMEM_RACE"));
  EXPECT_NE(proof_of(looping("  mov.u32 %r9, %r2;\n  xor.b32 %r7, %r7, 1;\n"
                             "  mov.u32 %r8, %r7;\n"))
                .verdict,
            ProofVerdict::kProved);
}

// A sleep that grows up to a limit: the loop changes a register a few times, and then no more.
TEST(PtxMbarriers, LoopsThatComeToRestAreWaits) {
  const auto looping = [](const std::string& refused, const std::string& stored = "%r6") {
    return waiting(
        "  mov.u32 %r7, 32;\n  mov.u32 %r8, 0;\n  mov.u32 %r9, 0;\nTRY:\n"
        "  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], %r8;\n  @%p3 bra GO;\n" +
        refused +
        "  bra TRY;\nGO:\n  ld.shared.u32 %r6, [%r4];\n"
        "  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n  st.global.u32 [%rd5], " +
        stored + ";\n");
  };
  const std::string doubled = "  nanosleep.u32 %r7;\n  shl.b32 %r7, %r7, 1;\n";
  const std::string branching =
      "  nanosleep.u32 %r7;\n  setp.gt.u32 %p4, %r7, 1000;\n  @%p4 bra TRY;\n"
      "  add.u32 %r7, %r7, 100;\n";
  for (const std::string& refused : {doubled + "  min.u32 %r7, %r7, 4096;\n", branching}) {
    const ProofResult right = proof_of(looping(refused));
    EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
    EXPECT_THAT(ids_in(right), IsEmpty());
    // How often it was refused is told afterwards.
    EXPECT_EQ(proof_of(looping(refused, "%r7")).verdict, ProofVerdict::kUndecided);
  }
  // It never comes to rest, gives up, gives up late, asks for another phase in the end.
  for (const std::string& refused :
       {std::string{"  add.u32 %r7, %r7, 1;\n"},
        doubled + "  setp.gt.u32 %p4, %r7, 1000;\n  @%p4 bra GO;\n",
        doubled + "  min.u32 %r7, %r7, 4096;\n  add.u32 %r9, %r9, 1;\n"
                  "  setp.gt.u32 %p4, %r9, 1000;\n  @%p4 bra GO;\n",
        doubled + "  setp.gt.u32 %p4, %r7, 1000;\n  selp.b32 %r8, 1, %r8, %p4;\n"
                  "  min.u32 %r7, %r7, 4096;\n"}) {
    EXPECT_NE(proof_of(looping(refused)).verdict, ProofVerdict::kProved) << refused;
  }
}

// While some lanes wait the others may: neither holds the other back.
TEST(PtxMbarriers, AreWaitedForByLanesApart) {
  const auto two = [](const char* first, const char* second) {
    return waiting(std::string{"  setp.lt.u32 %p3, %r5, 16;\n  @%p3 bra LOW;\nHIGH:\n"} +
                   "  mbarrier.try_wait.parity.shared.b64 %p4, [%r2+8], 0;\n  @!%p4 bra HIGH;\n" +
                   "  ld.shared.u32 %r6, [%r4+" + second +
                   "];\n  bra JOIN;\nLOW:\n"
                   "  mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0;\n  @!%p4 bra LOW;\n"
                   "  ld.shared.u32 %r6, [%r4+" +
                   first + "];\nJOIN:\n  bar.warp.sync 0xffffffff;\n");
  };
  const ProofResult right = proof_of(two("0", "128"));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), IsEmpty());
  EXPECT_EQ(proof_of(two("0", "0")).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof_of(two("128", "128"))), Contains("SMEM_RACE"));
}

// Lane 0 refills a stage of a ring while the others wait for the next.
TEST(PtxMbarriers, ALaneRefillsWhileTheOthersWait) {
  OneKernel kernel;
  kernel.in.resize(1024);
  kernel.body =
      "  .shared .align 8 .b64 full;\n  .shared .align 8 .b64 empty;\n  mov.u32 %r2, full;\n"
      "  mov.u32 %r3, empty;\n  mov.u32 %r4, tile;\n  setp.ne.u32 %p1, %r1, 0;\n"
      "  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  mbarrier.init.shared.b64 [%r3], 32;\n  fence.proxy.async;\nREADY:\n  bar.sync 0;\n"
      "  mov.u32 %r5, 0;\n  mad.lo.u32 %r8, %r1, 4, %r4;\nLOOP:\n  and.b32 %r6, %r5, 1;\n"
      "  @%p1 bra REST;\n  xor.b32 %r7, %r6, 1;\nFREE:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r7;\n  @!%p2 bra FREE;\n"
      "  fence.proxy.async;\n  mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 128;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 128, "
      "[%r2];\nREST:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r6;\n"
      "  @!%p2 bra REST;\n  ld.shared.u32 %r9, [%r8];\n  fence.proxy.async;\n"
      "  mbarrier.arrive.shared.b64 %rd3, [%r3];\n  add.u32 %r5, %r5, 1;\n"
      "  setp.lt.u32 %p3, %r5, 5;\n  @%p3 bra LOOP;\n";
  const ProofResult right = proof_of(kernel);
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), IsEmpty());
}

// The lanes of warp 1 wait for one phase again and again, and arrive each time: a lane may be a
// phase ahead of the others, which no schedule of whole warps shows. That is no contradiction.
TEST(PtxMbarriers, LanesOfAWarpNeedNotKeepUp) {
  const auto arriving = [](const std::string& meets) {
    OneKernel kernel;
    kernel.threads = 64;
    kernel.body =
        "  .shared .align 8 .b64 full;\n  .shared .align 8 .b64 empty;\n  mov.u32 %r2, full;\n"
        "  mov.u32 %r3, empty;\n  setp.eq.u32 %p1, %r1, 0;\n"
        "  @%p1 mbarrier.init.shared.b64 [%r2], 32;\n  @%p1 mbarrier.init.shared.b64 [%r3], 32;\n"
        "  bar.sync 0;\n  mov.u32 %r4, 0;\n  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra TAKES;\n"
        "FREE:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 1;\n  @!%p3 bra FREE;\n"
        "  mbarrier.arrive.shared.b64 _, [%r2];\n  bra DONE;\n"
        "TAKES:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n  @!%p3 bra TAKES;\n"
        "  mbarrier.arrive.shared.b64 _, [%r3];\n" +
        meets + "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p4, %r4, 3;\n  @%p4 bra TAKES;\nDONE:\n";
    return kernel;
  };
  const ProofResult apart = proof_of(arriving(""));
  EXPECT_EQ(apart.verdict, ProofVerdict::kUnordered);
  EXPECT_FALSE(apart.internal_error);
  EXPECT_THAT(ids_in(apart), Contains("ORDER_CONTRIBUTOR"));
  EXPECT_EQ(proof_of(arriving("  bar.warp.sync -1;\n")).verdict, ProofVerdict::kProved);
}

// 32 lanes arrive so often each, or announce so many bytes each: the sum is 32, or 512, to 32 bits.
TEST(PtxMbarrierCounts, OfSeveralLanesDoNotRunOver) {
  const auto kernel = [](const char* count, const char* body) {
    return OneKernel{
        .body = "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MET;\n  mbarrier.init.shared.b64 [tile], " +
                std::string{count} + ";\nMET:\n  bar.sync 0;\n" + body +
                "LOOK:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile], 0;\n"
                "  @!%p2 bra LOOK;\n"};
  };
  expect_proved(kernel("32", "  mbarrier.arrive.shared.b64 %rd9, [tile], 1;\n"));
  expect_found(kernel("32", "  mbarrier.arrive.shared.b64 %rd9, [tile], 134217729;\n"),
               "MBAR_OVERARRIVE");
  const std::string expect = "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [tile], ";
  const std::string complete =
      ";\n  bar.warp.sync -1;\n"
      "  @!%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [tile], 512;\n";
  EXPECT_EQ(proof_of(kernel("32", (expect + "16" + complete).c_str())).verdict,
            ProofVerdict::kProved);
  expect_found(kernel("32", (expect + "134217744" + complete).c_str()), "MBAR_TX_OVERFLOW");
}

// Thread 0 of each of two warps announces so many bytes, and completes them itself.
TEST(PtxMbarrierCounts, OfBytesStayInTheirRangeInEveryOrder) {
  const auto kernel = [](const std::string& bytes, bool expects_first) {
    const std::string expect =
        "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], " + bytes + ";\n";
    const std::string complete =
        "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [tile], " + bytes + ";\n";
    return OneKernel{.body =
                         "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MET;\n"
                         "  mbarrier.init.shared.b64 [tile], 2;\nMET:\n  bar.sync 0;\n"
                         "  and.b32 %r2, %r1, 31;\n  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra LOOK;\n" +
                         (expects_first ? expect + complete : complete + expect) +
                         "  mbarrier.arrive.shared.b64 %rd9, [tile];\n"
                         "LOOK:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile], 0;\n"
                         "  @!%p2 bra LOOK;\n",
                     .threads = 64};
  };
  expect_proved(kernel("500000", true));
  expect_proved(kernel("500000", false));
  for (const bool expects_first : {true, false}) {
    const ProofResult open = proof_of(kernel("700000", expects_first));
    EXPECT_EQ(open.verdict, ProofVerdict::kUndecided) << open.strength();
  }
}

// The thread that drops out announces what it has copied: PTX ISA, "mbarrier.arrive_drop".
TEST(PtxMbarrierCounts, OfADropHaveItsBytes) {
  const auto kernel = [](const char* bytes) {
    return OneKernel{
        .body =
            "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MET;\n"
            "  mbarrier.init.shared.b64 [tile+512], 2;\nMET:\n  bar.sync 0;\n"
            "  @%p1 bra NEXT;\n  mbarrier.arrive_drop.expect_tx.shared::cta.b64 _, "
            "[tile+512], " +
            std::string{bytes} +
            ";\n  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
            "[%rd1], 16, [tile+512];\nNEXT:\n  setp.ne.u32 %p3, %r1, 32;\n"
            "  @%p3 bra LOOK;\n  mbarrier.arrive.shared.b64 _, [tile+512];\n"
            "LOOK:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+512], 0;\n"
            "  @!%p2 bra LOOK;\n",
        .in = {1, 2, 3, 4},
        .threads = 64};
  };
  EXPECT_THAT(ids_in(run_of(kernel("16")).result), IsEmpty());
  EXPECT_EQ(proof_of(kernel("16")).verdict, ProofVerdict::kUndecided);
  EXPECT_THAT(ids_in(run_of(kernel("32")).result), Contains("DEADLOCK"));
}

}  // namespace warptwin::sim::barriers_test
