// Words by which CTAs hand memory over: relaxed and volatile accesses, fences, scopes.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::words_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Words {
  std::string store{};   // by lane 0, of 1
  std::string before{};  // in front of it
  std::string load{};    // by all lanes of the last CTA, until it is not 0
  std::string behind{};
  std::uint32_t cluster = 1;
  std::string meet = "  bar.warp.sync 0xffffffff;\n";
};

constexpr char kFence[] = "  membar.gl;\n";
constexpr char kFenceCta[] = "  membar.cta;\n";
constexpr char kFenceCluster[] = "  fence.acq_rel.cluster;\n";
constexpr char kStore[] = "  st.volatile.global.u32 [%rd1], %r7;\n";
constexpr char kLoad[] = "  ld.volatile.global.u32 %r10, [%rd1];\n";
constexpr char kRelease[] = "  st.release.gpu.global.u32 [%rd1], %r7;\n";
constexpr char kAcquire[] = "  ld.acquire.gpu.global.u32 %r10, [%rd1];\n";

// CTA 0 stores `out`, then 1 to the word; the last CTA polls, and loads what was stored.
OneKernel handing_over(const Words& words) {
  OneKernel kernel;
  kernel.ctas = 2;
  kernel.cluster = words.cluster;
  kernel.cooperative = true;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  mov.u32 %r2, %ctaid.x;\n  setp.ne.u32 %p1, %r2, 0;\n  mad.lo.u32 %r5, %r2, 32, %r1;\n"
      "  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n  mov.u32 %r7, 1;\n"
      "  @%p1 bra POLL;\n  st.global.u32 [%rd5], %r5;\n" +
      words.meet + "  setp.ne.u32 %p2, %r1, 0;\n  @%p2 bra LAST;\n" + words.before + words.store +
      "  bra LAST;\nPOLL:\n" + words.load + "  setp.eq.u32 %p3, %r10, 0;\n  @%p3 bra POLL;\n" +
      words.behind + "  ld.global.u32 %r6, [%rd5+-128];\n  st.global.u32 [%rd5], %r6;\nLAST:\n";
  return kernel;
}

void expect_proved(const Words& words) {
  const OneKernel kernel = handing_over(words);
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << kernel.body;
  EXPECT_THAT(ids_in(proof), IsEmpty()) << kernel.body;
  EXPECT_EQ(run_of(kernel).out[40], 8U);
}

void expect_race(const Words& words) {
  const ProofResult proof = proof_of(handing_over(words));
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << handing_over(words).body;
  EXPECT_THAT(ids_in(proof), Contains("GMEM_RACE")) << handing_over(words).body;
}

TEST(PtxWords, ThatAreRelaxedHandOverByFences) {
  expect_proved({.store = kStore, .before = kFence, .load = kLoad, .behind = kFence});
  expect_proved({.store = "  st.relaxed.gpu.global.u32 [%rd1], %r7;\n",
                 .before = "  fence.acq_rel.gpu;\n",
                 .load = "  ld.relaxed.gpu.global.u32 %r10, [%rd1];\n",
                 .behind = "  fence.sc.gpu;\n"});
  expect_proved({.store = "  red.relaxed.gpu.global.add.u32 [%rd1], 1;\n",
                 .before = kFence,
                 .load = kAcquire});
  expect_proved({.store = kRelease, .load = kLoad, .behind = kFence});
  expect_proved({.store = kStore, .before = kFence, .load = kAcquire});
}

TEST(PtxWords, ThatAreRelaxedHandNothingOverWithout) {
  expect_race({.store = kStore, .load = kLoad});
  expect_race({.store = kStore, .load = kLoad, .behind = kFence});
  expect_race({.store = kStore, .before = kFence, .load = kLoad});
  expect_race({.store = kRelease, .load = kLoad});
  expect_race({.store = kStore, .load = kAcquire});
  expect_race({.store = "  red.relaxed.gpu.global.add.u32 [%rd1], 1;\n", .load = kAcquire});
}

// A release, and a relaxed store of the same thread to the same word behind it, are a release
// pattern (PTX ISA, "Release and Acquire Patterns"): of what comes before the release.
TEST(PtxWords, TellBehindAReleaseOfTheirThreadWhatItTold) {
  const std::string zero = "  mov.u32 %r8, 0;\n";
  const std::string release = zero + "  st.release.gpu.global.u32 [%rd1], %r8;\n";
  const std::string relaxed = "  st.relaxed.gpu.global.u32 [%rd1], %r7;\n";
  expect_proved({.store = release + relaxed, .load = kAcquire});
  expect_proved({.store = release + "  st.relaxed.gpu.global.u32 [%rd1], %r8;\n" + relaxed,
                 .load = kLoad,
                 .behind = kFence});
  expect_race({.store = release + "  st.global.u32 [%rd5], %r5;\n" + relaxed, .load = kAcquire});
  expect_race(
      {.store = zero + "  st.release.cta.global.u32 [%rd1], %r8;\n" + relaxed, .load = kAcquire});
  expect_race(
      {.store = zero + "  st.release.gpu.global.u32 [%rd1+8], %r8;\n" + relaxed, .load = kAcquire});
  // The release is another lane's.
  expect_race({.store = relaxed,
               .load = kAcquire,
               .meet = "  setp.ne.u32 %p4, %r1, 1;\n  @%p4 bra MEET;\n" + release +
                       "MEET:\n  bar.warp.sync 0xffffffff;\n"});
}

TEST(PtxWords, HandOverToThoseInTheirScope) {
  expect_race({.store = kStore, .before = kFenceCta, .load = kLoad, .behind = kFenceCta});
  expect_race({.store = kStore, .before = kFence, .load = kLoad, .behind = kFenceCta});
  expect_race({.store = kStore, .before = kFenceCluster, .load = kLoad, .behind = kFenceCluster});
  expect_race({.store = "  st.release.cluster.global.u32 [%rd1], %r7;\n", .load = kAcquire});
  expect_race({.store = kRelease, .load = "  ld.acquire.cluster.global.u32 %r10, [%rd1];\n"});
  // In one cluster its scope is enough, and a CTA's is not.
  expect_proved({.store = kStore,
                 .before = kFenceCluster,
                 .load = kLoad,
                 .behind = kFenceCluster,
                 .cluster = 2});
  expect_proved({.store = "  st.release.cluster.global.u32 [%rd1], %r7;\n",
                 .load = "  ld.acquire.cluster.global.u32 %r10, [%rd1];\n",
                 .cluster = 2});
  expect_proved(
      {.store = kRelease, .load = "  ld.acquire.cluster.global.u32 %r10, [%rd1];\n", .cluster = 2});
  expect_race({.store = "  st.release.cta.global.u32 [%rd1], %r7;\n",
               .load = "  ld.acquire.cluster.global.u32 %r10, [%rd1];\n",
               .cluster = 2});
}

// The first store is no access of a word for the other CTA, whatever the second is.
TEST(PtxWords, AreStoredInOneScope) {
  const std::string word = "  st.relaxed.gpu.global.u32 [%rd1+8], %r7;\n";
  const std::string near = "  st.relaxed.cta.global.u32 [%rd1+8], %r7;\n";
  const std::string look = "  ld.relaxed.gpu.global.u32 %r8, [%rd1+8];\n";
  expect_proved({.store = kRelease + word + word, .load = kAcquire});
  for (const std::string& stores : {word + word, near + word}) {
    const Words words{.store = stores + kRelease, .load = look + kAcquire};
    const std::vector<std::string> ids = ids_in(proof_of(handing_over(words)));
    EXPECT_EQ(std::count(ids.begin(), ids.end(), "GMEM_RACE"), stores == near + word ? 1 : 0)
        << stores;
  }
}

TEST(PtxWords, OfALaneSpeakForItAlone) {
  for (const bool fences : {false, true}) {
    const Words words{.store = fences ? kStore : kRelease,
                      .before = fences ? kFence : "",
                      .load = kAcquire,
                      .meet = ""};
    const ProofResult proof = proof_of(handing_over(words));
    EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted);
    EXPECT_THAT(ids_in(proof), Contains("WARP_LANES_NOT_RELEASED"));
  }
}

// The fence of another lane than the one that stores the word.
TEST(PtxWords, AreReleasedByFencesOfTheirOwnThread) {
  expect_race({.store = kStore,
               .load = kAcquire,
               .meet = "  setp.ne.u32 %p4, %r1, 1;\n  @%p4 bra MEET;\n  membar.gl;\nMEET:\n"
                       "  bar.warp.sync 0xffffffff;\n"});
}

// All lanes store and fence, and lane 0 stores the word: it tells of what the others have stored if
// the lanes have met in front of the fence.
TEST(PtxWords, TellOfWhatTheirOwnThreadHasFencedWhereOthersFenceToo) {
  const std::string meet = "  bar.warp.sync 0xffffffff;\n";
  const auto notes_of = [](const std::string& before) {
    const ProofResult proof =
        proof_of(handing_over({.store = kStore, .load = kAcquire, .meet = before}));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    return proof.notes;
  };
  EXPECT_THAT(notes_of(meet + kFence), IsEmpty());
  EXPECT_THAT(notes_of(kFence + meet),
              ElementsAre(HasSubstr("fences hold for threads that theirs has met")));
  const ProofResult apart =
      proof_of(handing_over({.store = kStore, .load = kAcquire, .meet = kFence}));
  EXPECT_EQ(apart.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(apart), Contains("WARP_LANES_NOT_RELEASED"));
}

// Lane 0 stores and fences for the GPU; lane 1 fences and stores the word.
TEST(PtxWords, AreNotReleasedByAWiderFenceOfAnotherLane) {
  const auto handing = [](const std::string& meet, const std::string& fence) {
    OneKernel kernel;
    kernel.ctas = 2;
    kernel.in = {0, 0, 0, 0, 0, 0, 0, 0};
    kernel.body =
        "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r7, 1;\n  setp.ne.u32 %p1, %r2, 0;\n"
        "  setp.ne.u32 %p2, %r1, 0;\n  setp.ne.u32 %p3, %r1, 1;\n  @%p1 bra OTHER;\n"
        "  @%p2 bra STORED;\n  st.global.u32 [%rd1+16], %r7;\n  fence.acq_rel.gpu;\nSTORED:\n" +
        meet + "  @%p3 bra DONE;\n" + fence +
        "  st.relaxed.gpu.global.u32 [%rd1], %r7;\n  bra DONE;\nOTHER:\n  @%p2 bra DONE;\n"
        "LOOK:\n  ld.acquire.gpu.global.u32 %r3, [%rd1];\n  setp.eq.u32 %p4, %r3, 0;\n"
        "  @%p4 bra LOOK;\n  ld.global.u32 %r4, [%rd1+16];\n  st.global.u32 [%rd2], %r4;\nDONE:\n";
    return kernel;
  };
  const std::string meet = "  bar.warp.sync 0xffffffff;\n";
  expect_proved(handing(meet, "  fence.acq_rel.gpu;\n"));
  expect_found(handing("", "  fence.acq_rel.gpu;\n"), "WARP_LANES_NOT_RELEASED");
  expect_found(handing("", "  fence.acq_rel.cta;\n"), "GMEM_RACE");
  expect_found(handing(meet, "  fence.acq_rel.cta;\n"), "GMEM_RACE");
}

// Lane 0 looks, and lane 1 fences and loads behind a meeting.
TEST(PtxWords, LookedAtByAnotherThreadNameTheFence) {
  const auto looking = [](const char* who, const std::string& meet) {
    OneKernel kernel;
    kernel.ctas = 2;
    kernel.cooperative = true;
    kernel.in = {0, 0, 0, 0, 0, 0, 0, 0};
    kernel.body =
        "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r7, 1;\n  setp.ne.u32 %p1, %r2, 0;\n"
        "  setp.ne.u32 %p2, %r1, 0;\n  setp.ne.u32 %p3, %r1, 1;\n  @%p1 bra OTHER;\n"
        "  @%p2 bra DONE;\n  st.global.u32 [%rd1+16], %r7;\n"
        "  st.release.gpu.global.u32 [%rd1], %r7;\n  bra DONE;\nOTHER:\n  @%p2 bra LOOKED;\n"
        "LOOK:\n  ld.relaxed.gpu.global.u32 %r3, [%rd1];\n  setp.eq.u32 %p4, %r3, 0;\n"
        "  @%p4 bra LOOK;\nLOOKED:\n" +
        meet + "  @" + who +
        " bra DONE;\n  fence.acq_rel.gpu;\n  ld.global.u32 %r4, [%rd1+16];\n"
        "  st.global.u32 [%rd2], %r4;\nDONE:\n";
    return kernel;
  };
  const std::string meet = "  bar.warp.sync 0xffffffff;\n";
  expect_proved(looking("%p2", meet));
  EXPECT_THAT(proof_of(looking("%p2", meet)).notes, IsEmpty());
  expect_proved(looking("%p3", meet));
  EXPECT_THAT(proof_of(looking("%p3", meet)).notes,
              ElementsAre(HasSubstr("fences hold for threads that theirs has met")));
  expect_found(looking("%p3", ""), "GMEM_RACE");
}

TEST(PtxWords, OfSharedMemoryAreNoPolls) {
  OneKernel kernel;
  kernel.threads = 64;
  const std::string begin =
      "  mov.u32 %r2, tile;\n  mov.u32 %r3, 0;\n  st.volatile.shared.u32 [%r2], %r3;\n"
      "  bar.sync 0;\n  mov.u32 %r4, 1;\n  setp.lt.u32 %p1, %r1, 32;\n  @%p1 bra POLL;\n"
      "  st.volatile.shared.u32 [%r2], %r4;\n  bra LAST;\nPOLL:\n";
  kernel.body = begin +
                "  ld.volatile.shared.u32 %r5, [%r2];\n  setp.eq.u32 %p2, %r5, 0;\n"
                "  @%p2 bra POLL;\nLAST:\n";
  EXPECT_THROW(run_of(kernel), ConfigError);
  kernel.body = begin +
                "  atom.shared.cas.b32 %r5, [%r2], 1, 0;\n  setp.eq.u32 %p2, %r5, 0;\n"
                "  @%p2 bra POLL;\nLAST:\n";
  EXPECT_THROW(run_of(kernel), ConfigError);
}

// Lanes store 512 bytes of `out`, and a bulk copy brings them back.
OneKernel copying_back(const std::string& fence, bool meets = true) {
  OneKernel kernel;
  kernel.body =
      "  .shared .align 8 .b64 bar;\n  mov.u32 %r2, bar;\n  mov.u32 %r3, tile;\n"
      "  mul.wide.u32 %rd4, %r1, 16;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  fence.proxy.async.shared::cta;\nREADY:\n"
      "  st.global.v4.u32 [%rd5], {%r1, %r1, %r1, %r1};\n" +
      fence + (meets ? "  bar.warp.sync 0xffffffff;\n" : "") +
      "  @%p1 bra WAIT;\n  mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 512;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2], 512, "
      "[%r2];\nWAIT:\n  bar.warp.sync 0xffffffff;\nAGAIN:\n"
      "  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n  @!%p2 bra AGAIN;\n"
      "  ld.shared.u32 %r4, [%r3+32];\n  st.global.u32 [%rd5+1024], %r4;\n";
  return kernel;
}

TEST(PtxWords, StoredByLanesAreCopiedBehindAProxyFence) {
  const auto ids = [](const OneKernel& kernel) { return ids_in(proof_of(kernel)); };
  EXPECT_EQ(proof_of(copying_back("  fence.proxy.async;\n")).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids(copying_back("  fence.proxy.async.global;\n")), IsEmpty());
  EXPECT_THAT(ids(copying_back("")), Contains("PROXY_FENCE_MISSING"));
  EXPECT_THAT(ids(copying_back("  fence.proxy.async.shared::cta;\n")),
              Contains("PROXY_FENCE_MISSING"));
  EXPECT_THAT(ids(copying_back("  @!%p1 fence.proxy.async;\n")), Contains("PROXY_FENCE_MISSING"));
  // By the one that copies, behind the meeting.
  EXPECT_THAT(ids(copying_back("  bar.warp.sync 0xffffffff;\n  @!%p1 fence.proxy.async;\n", false)),
              IsEmpty());
}

// Each CTA of a pair stores to the other's shared memory, behind `start`.
OneKernel storing_afar(const std::string& start, const std::string& store) {
  OneKernel kernel;
  kernel.ctas = kernel.cluster = 2;
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  kernel.body =
      "  mov.u32 %r2, tile;\n  mov.u32 %r3, %cluster_ctarank;\n  xor.b32 %r3, %r3, 1;\n"
      "  mapa.shared::cluster.u32 %r4, %r2, %r3;\n  mad.lo.u32 %r4, %r1, 4, %r4;\n" +
      start + store + meet + "  mad.lo.u32 %r5, %r1, 4, %r2;\n  ld.shared.u32 %r6, [%r5];\n" + meet;
  return kernel;
}

TEST(PtxWords, OfAnotherCtaAreTouchedBehindItsStart) {
  const std::string store = "  st.shared::cluster.u32 [%r4], %r1;\n";
  const std::string met =
      "  barrier.cluster.arrive.relaxed.aligned;\n  barrier.cluster.wait.aligned;\n";
  EXPECT_EQ(proof_of(storing_afar(met, store)).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof_of(storing_afar("", store))), Contains("DSMEM_BEFORE_START"));
}

// A launch that is not cooperative may begin with one CTA and end it before the next begins.
TEST(PtxWords, ThatOtherCtasWriteRestOnTheirBeingThere) {
  const auto waiting = [](const char* own) {
    OneKernel kernel;
    kernel.in.resize(64);
    kernel.ctas = 2;
    kernel.body = "  mov.u32 %r40, %ctaid.x;\n  setp.eq.u32 %p1, %r1, 0;\n  mul.wide.u32 %rd4, " +
                  std::string{own} +
                  ", 4;\n  add.u64 %rd4, %rd4, %rd1;\n  @!%p1 bra END;\n"
                  "  mul.wide.u32 %rd5, %r40, 4;\n  add.u64 %rd5, %rd5, %rd1;\n"
                  "  st.release.gpu.global.u32 [%rd5], 1;\n"
                  "WAIT:\n  ld.acquire.gpu.global.u32 %r2, [%rd4];\n  setp.ne.u32 %p2, %r2, 1;\n"
                  "  @%p2 bra WAIT;\nEND:\n";
    return kernel;
  };
  const auto rests = [](const OneKernel& kernel) {
    const ProofResult proof = proof_of(kernel);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    return std::any_of(proof.notes.begin(), proof.notes.end(), [](const std::string& note) {
      return note.find("has it beside it") != std::string::npos;
    });
  };
  OneKernel other = waiting("0");
  EXPECT_TRUE(rests(other));
  other.cooperative = true;
  EXPECT_FALSE(rests(other));
  EXPECT_FALSE(rests(waiting("%r40")));
}

// A wait for at least 1 passes at 300, too, which tells nothing of what the first store tells. The
// run sees the wait in front of the second store.
TEST(PtxWords, ThatAnotherWarpStoresToBehindAWaitTellOfItsStoreAlone) {
  const auto handing_on = [](const std::string& second) {
    OneKernel kernel;
    kernel.threads = 96;
    kernel.in = {0, 0, 0, 0};
    const auto waits = [](const std::string& label) {
      return label + ":\n  ld.acquire.gpu.global.u32 %r6, [%rd1];\n  setp.lt.u32 %p5, %r6, 1;\n" +
             "  @%p5 bra " + label + ";\n";
    };
    kernel.body =
        "  and.b32 %r2, %r1, 31;\n  shr.u32 %r3, %r1, 5;\n  setp.ne.u32 %p1, %r2, 0;\n"
        "  @%p1 bra END;\n  mov.u32 %r5, 100;\n  mov.u32 %r7, 300;\n"
        "  setp.eq.u32 %p2, %r3, 1;\n  @%p2 bra WAIT;\n  setp.eq.u32 %p2, %r3, 2;\n"
        "  @%p2 bra SECOND;\n  st.shared.u32 [tile], %r5;\n"
        "  st.release.gpu.global.u32 [%rd1], %r5;\n  bra END;\n" +
        waits("WAIT") + "  st.shared.u32 [tile], %r5;\n  bra END;\nSECOND:\n" + waits("AGAIN") +
        second + "END:\n";
    return kernel;
  };
  const auto expect_right = [](const OneKernel& kernel) {
    EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved) << kernel.body;
  };
  expect_right(handing_on(""));
  const std::string store = "  st.relaxed.gpu.global.u32 [%rd1], %r7;\n";
  EXPECT_EQ(proof_of(handing_on(store)).verdict, ProofVerdict::kUndecided);
  // Behind an update of its own thread, too.
  const std::string update = "  red.relaxed.gpu.global.add.u32 [%rd1], 200;\n";
  expect_right(handing_on(update));
  EXPECT_EQ(proof_of(handing_on(update + store)).verdict, ProofVerdict::kUndecided);
}

}  // namespace warptwin::sim::words_test
