// Copies that an mbarrier counts: cp.async that it tracks, st.async, red.async, bulk copies to
// another CTA. Each way to use them too early is found.

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::counted_copies_test {

using testing::AnyOf;
using testing::Contains;
using testing::IsEmpty;

// `part` in `text`, `by` instead.
std::string with(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

// In one schedule the bytes have been brought when they are read, in another nobody has written
// them.
void expect_early(const OneKernel& kernel) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_NE(proof.verdict, ProofVerdict::kProved) << kernel.body;
  EXPECT_THAT(
      ids_in(proof),
      AnyOf(Contains("SMEM_RAW_NO_WAIT"), Contains("SMEM_RACE"), Contains("SMEM_UNINIT_READ")))
      << kernel.body;
}

// Warp 0 copies 512 bytes of `in`, the mbarrier behind the tile counts them, warp 1 reads them.
constexpr char kHandOver[] =
    "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n  and.b32 %r21, %r1, 31;\n"
    "  mad.lo.u32 %r20, %r21, 16, %r20;\n  mul.wide.u32 %rd4, %r21, 16;\n"
    "  add.u64 %rd5, %rd2, %rd4;\n  add.u64 %rd4, %rd1, %rd4;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n"
    "  mbarrier.init.shared.b64 [%r30], 32;\nMEET:\n  bar.sync 0;\n"
    "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra READ;\n"
    "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n"
    "  cp.async.mbarrier.arrive.noinc.shared.b64 [%r30];\n  bra LAST;\nREAD:\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n"
    "  ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r20];\n"
    "  st.global.v4.u32 [%rd5], {%r2, %r3, %r4, %r5};\nLAST:\n";
constexpr char kWait[] =
    "  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n";
constexpr char kCopy[] = "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n";
constexpr char kArrive[] = "  cp.async.mbarrier.arrive.noinc.shared.b64 [%r30];\n";
constexpr char kCounted[] = "  cp.async.mbarrier.arrive.shared.b64 [%r30];\n";
constexpr char kPlainArrive[] = "  mbarrier.arrive.shared.b64 %rd9, [%r30];\n";

OneKernel handing_over(const std::string& body) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.in.resize(256);
  std::iota(kernel.in.begin(), kernel.in.end(), 100);
  kernel.body = body;
  return kernel;
}

TEST(PtxCountedCopies, AreReadBehindTheWait) {
  const OneKernel kernel = handing_over(kHandOver);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t word = 0; word < 128; ++word) {
    EXPECT_EQ(run.out[word], 100 + word);
  }
  expect_proved(kernel);
}

TEST(PtxCountedCopies, AreNotReadBeforeIt) {
  expect_early(handing_over(with(kHandOver, kWait, "  bra NEXT;\nNEXT:\n")));
  // What all wait for is another barrier.
  const std::string meets = "  bar.sync 1, 64;\n";
  expect_found(
      handing_over(
          with(with(kHandOver, kWait, meets), "  bra LAST;\nREAD:", meets + "  bra LAST;\nREAD:")),
      "SMEM_RAW_NO_WAIT");
}

TEST(PtxCountedCopies, ArePublishedByTheirOwnArrivalOnly) {
  expect_found(handing_over(with(kHandOver, kArrive, kPlainArrive)), "SMEM_RAW_NO_WAIT");
  // A copy behind the arrival is none of those that it waits for.
  expect_found(
      handing_over(with(with(kHandOver, kCopy, ""), kArrive, std::string{kArrive} + kCopy)),
      "SMEM_RAW_NO_WAIT");
  // The arrival says nothing of what else its thread has stored.
  const std::string stored = "  st.shared.u32 [%r20+2048], %r1;\n";
  const std::string read = "  ld.shared.u32 %r9, [%r20+2048];\n  ld.shared.v4.u32";
  const std::string loads = with(kHandOver, "  ld.shared.v4.u32", read);
  expect_found(handing_over(with(loads, kArrive, stored + kArrive)), "SMEM_RACE");
  // A plain one does.
  expect_proved(handing_over(with(loads, kArrive, stored + kCounted + kPlainArrive)));
}

TEST(PtxCountedCopies, WithoutNoincAddTheArrivalThatTheyMake) {
  expect_proved(handing_over(with(kHandOver, kArrive, std::string{kCounted} + kPlainArrive)));
  expect_found(handing_over(with(kHandOver, kArrive, kCounted)), "DEADLOCK");
  expect_found(handing_over(with(kHandOver, kArrive, std::string{kArrive} + kPlainArrive)),
               "SMEM_RAW_NO_WAIT");
  // An arrival that goes first may complete the phase before the count grows.
  EXPECT_NE(proof_of(handing_over(with(kHandOver, kArrive, std::string{kPlainArrive} + kCounted)))
                .verdict,
            ProofVerdict::kProved);
}

// The thread that has copied may wait for its groups, too, whatever the mbarrier counts.
TEST(PtxCountedCopies, AreOverBehindAWaitForTheirGroup) {
  const std::string group = "  cp.async.commit_group;\n  cp.async.wait_group 0;\n";
  const std::string meets = "  bar.sync 1, 64;\n";
  const auto waiting = [&](const std::string& writer, const std::string& reader) {
    std::string body = with(kHandOver, "WAIT:\n", "");
    body = with(body, kWait, reader);
    body = with(body, std::string{kArrive} + "  bra LAST;\n", writer + "  bra LAST;\n");
    return handing_over(with(body, "LAST:\n", "WAIT:\n" + std::string{kWait} + "LAST:\n"));
  };
  expect_proved(waiting(kArrive + group + meets, meets));
  expect_proved(waiting(kArrive + std::string{"  cp.async.wait_all;\n"} + meets, meets));
  expect_proved(waiting(
      "  cp.async.commit_group;\n" + std::string{kArrive} + "  cp.async.wait_group 0;\n" + meets,
      meets));
  // Whoever the mbarrier has told may write over the bytes; who waits for the group does not.
  const std::string over = "  st.shared.u32 [%r20], %r1;\n";
  expect_proved(handing_over(with(with(kHandOver, kArrive, std::string{kArrive} + meets + group),
                                  "  st.global.v4.u32 [%rd5]",
                                  over + meets + "  st.global.v4.u32 [%rd5]")));
  // The source is read no more.
  const std::string source = "  st.global.u32 [%rd4], %r1;\n";
  expect_proved(waiting(kArrive + group + meets, meets + source));
  expect_found(waiting(kArrive + meets + group, meets + source), "GMEM_RACE");
  // It is in no group, in a later one, or waited for too late.
  expect_found(waiting(kArrive + std::string{"  cp.async.wait_group 0;\n"} + meets, meets),
               "SMEM_RAW_NO_WAIT");
  expect_found(
      waiting(kArrive + std::string{"  cp.async.commit_group;\n  cp.async.wait_group 1;\n"} + meets,
              meets),
      "SMEM_RAW_NO_WAIT");
  expect_found(waiting(kArrive + meets + group, meets), "SMEM_RAW_NO_WAIT");
  // Half of the lanes have waited.
  expect_found(waiting(kArrive +
                           std::string{"  cp.async.commit_group;\n  setp.gt.u32 %p6, %r1, 15;\n"
                                       "  @!%p6 cp.async.wait_group 0;\n"} +
                           meets,
                       meets),
               "SMEM_RAW_NO_WAIT");
  // Another lane's bytes, with nothing between the lanes.
  const std::string other =
      "  mov.u32 %r22, tile;\n  xor.b32 %r23, %r21, 1;\n  mad.lo.u32 %r22, %r23, 16, %r22;\n"
      "  ld.shared.u32 %r9, [%r22];\n";
  expect_found(waiting(kArrive + group + other + meets, meets), "WARP_LANE_RACE");
  expect_proved(waiting(kArrive + group + "  bar.warp.sync -1;\n" + other + meets, meets));
}

TEST(PtxCountedCopies, AreWaitedForBeforeTheEnd) {
  const std::string alone = with(kHandOver,
                                 "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra READ;\n",
                                 "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra LAST;\n");
  const ProofResult proof = proof_of(handing_over(alone));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), Contains("ASYNC_PENDING_AT_EXIT"));
}

TEST(PtxCountedCopies, KeepTheirSourceUntilThen) {
  const std::string store = "  st.global.u32 [%rd4], %r1;\n";
  expect_proved(handing_over(with(kHandOver, "  ld.shared.v4.u32", store + "  ld.shared.v4.u32")));
  const std::string early =
      with(with(kHandOver, kWait, "  bar.sync 1, 64;\n" + store + kWait), "WAIT:\n", "");
  expect_found(handing_over(with(with(early, "  mbarrier.try_wait", "WAIT:\n  mbarrier.try_wait"),
                                 "  bra LAST;\nREAD:",
                                 "  bar.sync 1, 64;\n  bra LAST;\nREAD:")),
               "GMEM_RACE");
}

// Warp 1 stores what warp 0 has copied by the async proxy.
TEST(PtxCountedCopies, AreOfTheGenericProxy) {
  const std::string fence = "  fence.proxy.async.shared::cta;\n";
  const std::string store =
      "  bar.warp.sync -1;\n  setp.ne.u32 %p4, %r1, 32;\n  @%p4 bra LAST;\n"
      "  mov.u32 %r6, tile;\n  cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r6], 512;\n"
      "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n";
  const std::string load =
      "  ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r20];\n"
      "  st.global.v4.u32 [%rd5], {%r2, %r3, %r4, %r5};\n";
  expect_proved(handing_over(with(kHandOver, load, fence + store)));
  expect_found(handing_over(with(kHandOver, load, store)), "PROXY_FENCE_MISSING");
  // In front of the wait it covers nothing.
  expect_found(handing_over(with(with(kHandOver, load, store), "WAIT:\n", fence + "WAIT:\n")),
               "PROXY_FENCE_UNCOVERED");
}

// --- To another CTA ------------------------------------------------------------------------------

// Each CTA of a pair brings the other 128 bytes, which its mbarrier counts.
constexpr char kExchange[] =
    "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n  mad.lo.u32 %r20, %r1, 4, %r20;\n"
    "  mov.u32 %r22, %cluster_ctarank;\n  xor.b32 %r23, %r22, 1;\n"
    "  mapa.shared::cluster.u32 %r24, %r20, %r23;\n  mapa.shared::cluster.u32 %r25, %r30, %r23;\n"
    "  mad.lo.u32 %r26, %r22, 32, %r1;\n  mul.wide.u32 %rd4, %r26, 4;\n"
    "  add.u64 %rd5, %rd2, %rd4;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n"
    "  mbarrier.init.shared.b64 [%r30], 1;\n  fence.mbarrier_init.release.cluster;\n"
    "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r30], 128;\nMEET:\n"
    "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"
    "  add.u32 %r7, %r26, 7;\n"
    "  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r24], %r7, [%r25];\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n"
    "  ld.shared.u32 %r2, [%r20];\n  st.global.u32 [%rd5], %r2;\n";

OneKernel exchanging(const std::string& body) {
  OneKernel kernel;
  kernel.ctas = kernel.cluster = 2;
  kernel.body = body;
  return kernel;
}

TEST(PtxAsyncStores, AreReadBehindTheWait) {
  const OneKernel kernel = exchanging(kExchange);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(run.out[thread], (thread ^ 32U) + 7);
  }
  expect_proved(kernel);
}

TEST(PtxAsyncStores, OfVectorsAreCountedWhole) {
  const std::string body =
      with(with(kExchange, "], 128;", "], 512;"), "tile;\n  add.u32 %r30", "tile;\n  add.u32 %r30");
  const std::string wide = with(with(body, "mad.lo.u32 %r20, %r1, 4", "mad.lo.u32 %r20, %r1, 16"),
                                "bytes.u32 [%r24], %r7, ",
                                "bytes.v4.b32 [%r24], {%r7, %r26, %r1, %r22}, ");
  expect_proved(exchanging(wide));
  expect_found(exchanging(with(wide, "], 512;", "], 511;")), "DEADLOCK");
}

TEST(PtxAsyncStores, UsedEarlyOrWronglyAreFound) {
  const std::string wait =
      "  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n";
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  expect_early(exchanging(with(kExchange, wait, "")));
  expect_found(exchanging(with(kExchange, wait, meet)), "SMEM_RAW_NO_WAIT");
  expect_found(exchanging(with(kExchange, "], 128;", "], 256;")), "DEADLOCK");
  expect_found(exchanging(with(kExchange, meet, "")), "DSMEM_BEFORE_START");
  // Two lanes at one place.
  expect_found(exchanging(with(kExchange, "mad.lo.u32 %r20, %r1, 4", "mad.lo.u32 %r20, %r1, 0")),
               "WARP_LANE_RACE");
  // An mbarrier of the own CTA, for bytes of the other.
  EXPECT_THROW(proof_of(exchanging(with(kExchange, "%r7, [%r25]", "%r7, [%r30]"))), ConfigError);
}

// Both CTAs and all lanes add to one word of each CTA.
TEST(PtxAsyncStores, ReduceInWhateverOrder) {
  const std::string zero = with(kExchange,
                                "  mbarrier.init",
                                "  mov.u32 %r8, 0;\n  st.shared.u32 [%r20], %r8;\n"
                                "  mbarrier.init");
  const std::string one_place = with(zero, "mad.lo.u32 %r20, %r1, 4", "mad.lo.u32 %r20, %r1, 0");
  const std::string red =
      with(one_place,
           "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32",
           "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32");
  const OneKernel kernel = exchanging(red);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(run.out[0], 32U * 39 + 31 * 16);
  EXPECT_EQ(run.out[32], 32U * 7 + 31 * 16);
  expect_proved(kernel);
  expect_found(exchanging(with(red, "  st.shared.u32 [%r20], %r8;\n", "")), "SMEM_UNINIT_READ");
  expect_found(exchanging(with(red, "WAIT:\n", "  ld.shared.u32 %r9, [%r20];\nWAIT:\n")),
               "SMEM_RAW_NO_WAIT");
}

// Two of one thread are in no order: (5 + 3) | 1 is not (5 | 1) + 3.
TEST(PtxAsyncStores, OfOneThreadReduceInNoOrder) {
  const std::string begin =
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
  const auto twice = [&](const char* second) {
    std::string body = with(kExchange,
                            "  mbarrier.init",
                            "  mov.u32 %r8, 0;\n  st.shared.u32 [%r20], %r8;\n  mbarrier.init");
    body = with(body, "mad.lo.u32 %r20, %r1, 4", "mad.lo.u32 %r20, %r1, 0");
    body = with(body, "], 128;", "], 256;");
    const std::string operands = " [%r24], %r7, [%r25];\n";
    return exchanging(
        with(body,
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32" + operands,
             begin + ".add.u32" + operands + "  " + begin + second + operands));
  };
  expect_proved(twice(".add.u32"));
  EXPECT_THROW(proof_of(twice(".or.b32")), ConfigError);
}

// Both CTAs add to the same words, of CTA 0: by .cluster they are atomic to each other.
TEST(PtxAsyncStores, ReduceFromSeveralCtas) {
  const std::string add =
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32";
  std::string body = with(kExchange, "xor.b32 %r23, %r22, 1", "mov.u32 %r23, 0");
  body = with(body, "], 128;", "], 256;");
  body = with(body,
              "  setp.ne.u32 %p1, %r1, 0;\n",
              "  mov.u32 %r8, 0;\n"
              "  st.shared.u32 [%r20], %r8;\n  bar.warp.sync -1;\n"
              "  setp.ne.u32 %p1, %r1, 0;\n");
  body = with(body, "WAIT:\n", "  setp.ne.u32 %p4, %r22, 0;\n  @%p4 ret;\nWAIT:\n");
  const std::string store =
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r24], %r7, [%r25];\n";
  const std::string red = add + " [%r24], %r7, [%r25];\n";
  const OneKernel kernel = exchanging(with(body, store, red));
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(run.out[thread], 2 * thread + 46);
  }
  expect_proved(kernel);
  // One of them stores, which is no atomic.
  const std::string one = "setp.eq.u32 %p5, %r22, 0;\n  @%p5 " + red + "  @!%p5 " + store;
  expect_found(exchanging(with(body, store, one)), "SMEM_WAW_ASYNC");
}

// An atomic of another lane is in no order with red.async, and behind a store in front of that only
// where it has met the lane that stores.
TEST(PtxAsyncStores, ReduceWhatIsStoredInFront) {
  const auto added = [](const char* between) {
    OneKernel kernel;
    kernel.body =
        std::string{"  mov.u32 %r20, tile;\n  mov.u32 %r4, 5;\n"} +
        "  setp.ne.u32 %p1, %r1, 0;\n  setp.ne.u32 %p2, %r1, 1;\n  @%p1 bra READY;\n"
        "  mbarrier.init.shared::cta.b64 [%r20+64], 2;\nREADY:\n  bar.sync 0;\n"
        "  @%p1 bra OTHER;\n  st.shared.u32 [%r20], %r4;\n"
        "  fence.proxy.async.shared::cta;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20+64], 4;\n"
        "  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
        "[%r20], %r4, [%r20+64];\nOTHER:\n" +
        between +
        "  @%p2 bra WAIT;\n  red.relaxed.gpu.shared.add.u32 [%r20], 3;\n"
        "  mbarrier.arrive.shared::cta.b64 _, [%r20+64];\nWAIT:\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r20+64], 0;\n"
        "  @!%p3 bra WAIT;\n";
    return kernel;
  };
  expect_proved(added("  bar.warp.sync -1;\n"));
  expect_found(added(""), "WARP_LANE_RACE");
}

// --- Bulk copies ---------------------------------------------------------------------------------

std::string bulk_exchange() {
  std::string body = with(
      kExchange,
      "  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r24], %r7, [%r25];\n",
      "  st.shared.u32 [%r20+1024], %r7;\n  fence.proxy.async.shared::cta;\n"
      "  bar.warp.sync -1;\n  @%p1 bra WAIT;\n  add.u32 %r8, %r20, 1024;\n"
      "  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%r24], [%r8], 128, [%r25];\n");
  return body + "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
}

TEST(PtxBulkCopiesToCtas, AreReadBehindTheWait) {
  const OneKernel kernel = exchanging(bulk_exchange());
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(run.out[thread], (thread ^ 32U) + 7);
  }
  expect_proved(kernel);
}

TEST(PtxBulkCopiesToCtas, UsedEarlyOrWronglyAreFound) {
  const std::string body = bulk_exchange();
  const std::string wait =
      "  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n";
  expect_found(exchanging(with(body, wait, "")), "SMEM_RAW_NO_WAIT");
  expect_found(exchanging(with(body, "  fence.proxy.async.shared::cta;\n", "")),
               "PROXY_FENCE_MISSING");
  expect_found(exchanging(with(body, "], 128;", "], 144;")), "DEADLOCK");
  // Its source is written again before anybody knows that it has been read.
  expect_found(exchanging(with(body, "WAIT:\n", "  st.shared.u32 [%r20+1024], %r1;\nWAIT:\n")),
               "BULK_SRC_REUSE");
  // Behind the cluster barrier the other CTA has waited for it.
  expect_proved(exchanging(body + "  st.shared.u32 [%r20+1024], %r1;\n"));
  // The source's CTA may end while it is read.
  expect_found(exchanging(body.substr(0, body.rfind("  barrier.cluster.arrive.aligned;\n"))),
               "ORDER_EXIT");
  EXPECT_THROW(proof_of(exchanging(with(body, "128, [%r25]", "128, [%r30]"))), ConfigError);
}

// Each CTA of two copies 64 bytes to itself and waits for its own mbarrier. `%r31` is the mbarrier
// that the copy names.
OneKernel named(const std::string& barrier, const std::string& more = "") {
  OneKernel kernel;
  kernel.threads = 32;
  kernel.ctas = 2;
  kernel.cluster = 2;
  kernel.in.resize(16);
  std::iota(kernel.in.begin(), kernel.in.end(), 1);
  kernel.body =
      "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n" + barrier +
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n  mbarrier.init.shared.b64 [%r30], 1;\n"
      "  fence.mbarrier_init.release.cluster;\nMEET:\n  barrier.cluster.arrive;\n"
      "  barrier.cluster.wait;\n  @%p1 bra WAIT;\n" +
      more +
      "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r30], 64;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 64, "
      "[%r31];\nWAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n"
      "  @!%p3 bra WAIT;\n  ld.shared.u32 %r2, [%r20+4];\n  mov.u32 %r3, %cluster_ctarank;\n"
      "  mul.wide.u32 %rd4, %r3, 4;\n  add.u64 %rd4, %rd2, %rd4;\n"
      "  @!%p1 st.global.u32 [%rd4], %r2;\n";
  return kernel;
}

// As on an H200.
TEST(PtxCountedCopies, SignalWhereTheyGo) {
  const auto said = testing::Contains(testing::HasSubstr("of the CTA that it goes to"));
  const ProofResult own = proof_of(named("  mov.u32 %r31, %r30;\n"));
  EXPECT_EQ(own.verdict, ProofVerdict::kProved) << own.strength();
  EXPECT_THAT(own.notes, testing::Not(said));
  const std::string elsewhere = "  and.b32 %r31, %r30, 0xFEFFFFFF;\n";
  const ProofResult even = proof_of(named(elsewhere));
  EXPECT_EQ(even.verdict, ProofVerdict::kProved) << even.strength();
  EXPECT_THAT(even.notes, said);
  EXPECT_EQ(run_of(named(elsewhere)).out[1], 2U);
  // The odd CTA announces nothing.
  const std::string silent =
      "  mov.u32 %r5, %cluster_ctarank;\n  setp.ne.u32 %p4, %r5, 0;\n  @%p4 bra WAIT;\n";
  expect_found(named(elsewhere, silent), "DEADLOCK");
}

}  // namespace warptwin::sim::counted_copies_test
