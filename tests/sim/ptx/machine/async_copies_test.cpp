// cp.async: what it brings, and that nobody uses it before it is waited for.

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::async_copies_test {

using testing::AnyOf;
using testing::Contains;
using testing::IsEmpty;

// %r20: where the lane's 16 bytes of `tile` are, %rd4: where those of `in` are.
constexpr char kPlaces[] =
    "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 16, %r20;\n"
    "  mul.wide.u32 %rd4, %r1, 16;\n  add.u64 %rd5, %rd2, %rd4;\n  add.u64 %rd4, %rd1, %rd4;\n";
// All that warp 0 will bring has been written before.
constexpr char kFilled[] = "  st.shared.v4.u32 [%r20], {%r1, %r1, %r1, %r1};\n  bar.sync 0;\n";
constexpr char kOut[] =
    "  ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r20];\n"
    "  st.global.v4.u32 [%rd5], {%r2, %r3, %r4, %r5};\n";

OneKernel copying(const std::string& body, std::uint32_t threads = 32) {
  OneKernel kernel;
  kernel.threads = threads;
  kernel.in.resize(std::size_t{threads} * 8);
  std::iota(kernel.in.begin(), kernel.in.end(), 100);
  kernel.body = kPlaces + body;
  return kernel;
}

void expect_found_and_seen(const OneKernel& kernel, const char* id) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_NE(proof.verdict, ProofVerdict::kProved) << kernel.body;
  EXPECT_THAT(ids_in(proof), Contains(id)) << kernel.body;
  EXPECT_THAT(ids_in(run_of(kernel).result), Contains(id)) << kernel.body;
}

// It is a race, or seen to be on its way when it is used.
void expect_early(const OneKernel& kernel) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_NE(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(proof), AnyOf(Contains("SMEM_RACE"), Contains("SMEM_RAW_NO_WAIT")));
}

TEST(PtxAsyncCopies, BringSixteenBytes) {
  const OneKernel kernel = copying(std::string{"  cp.async.cg.shared.global [%r20], [%rd4], 16;\n"
                                               "  cp.async.wait_all;\n"} +
                                   kOut);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t word = 0; word < 128; ++word) {
    EXPECT_EQ(run.out[word], 100 + word);
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

TEST(PtxAsyncCopies, BringSmallerPiecesAndZeros) {
  const OneKernel kernel =
      copying(std::string{"  setp.lt.u32 %p1, %r1, 8;\n  selp.u32 %r6, 4, 0, %p1;\n"
                          "  cp.async.ca.shared.global [%r20], [%rd4], 4;\n"
                          "  cp.async.ca.shared.global [%r20+4], [%rd4+4], 4, %r6;\n"
                          "  cp.async.ca.shared.global [%r20+8], [%rd4+8], 8, %p1;\n"
                          "  cp.async.commit_group;\n  cp.async.wait_group 0;\n"} +
              kOut);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t first = 100 + 4 * lane;
    EXPECT_EQ(run.out[4 * lane], first);
    EXPECT_EQ(run.out[4 * lane + 1], lane < 8 ? first + 1 : 0);
    EXPECT_EQ(run.out[4 * lane + 2], lane < 8 ? 0 : first + 2);
    EXPECT_EQ(run.out[4 * lane + 3], lane < 8 ? 0 : first + 3);
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// Two groups; the second is not waited for by wait_group 1.
OneKernel two_groups(const std::string& wait, const std::string& read) {
  return copying(
      "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n  cp.async.commit_group;\n"
      "  cp.async.cg.shared.global [%r20+512], [%rd4+512], 16;\n"
      "  cp.async.commit_group;\n" +
      wait + read + "  cp.async.wait_group 0;\n");
}

TEST(PtxAsyncCopies, AreWaitedForByTheirGroups) {
  const std::string first = kOut;
  const std::string second = "  ld.shared.u32 %r2, [%r20+512];\n  st.global.u32 [%rd5], %r2;\n";
  const OneKernel kernel = two_groups("  cp.async.wait_group 1;\n", first);
  EXPECT_EQ(run_of(kernel).out[5], 105U);
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof_of(two_groups("  cp.async.wait_group 0;\n", second)).verdict,
            ProofVerdict::kProved);
  expect_found_and_seen(two_groups("  cp.async.wait_group 1;\n", second), "SMEM_RAW_NO_WAIT");
  expect_found_and_seen(two_groups("", first), "SMEM_RAW_NO_WAIT");
}

TEST(PtxAsyncCopies, ThatWereNotCommittedAreNotWaitedFor) {
  expect_found_and_seen(copying(std::string{"  cp.async.cg.shared.global [%r20], [%rd4], 16;\n"
                                            "  cp.async.wait_group 0;\n"} +
                                kOut),
                        "SMEM_RAW_NO_WAIT");
}

TEST(PtxAsyncCopies, AreWaitedForBeforeTheirWarpEnds) {
  const std::string copy = "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n";
  expect_found_and_seen(copying(copy), "ASYNC_PENDING_AT_EXIT");
  EXPECT_EQ(proof_of(copying(copy + "  cp.async.wait_all;\n")).verdict, ProofVerdict::kProved);
}

TEST(PtxAsyncCopies, AreNamedByTheirFileAndLine) {
  const RunResult run = run_of(copying("  cp.async.cg.shared.global [%r20], [%rd4], 16;\n"
                                       "  st.shared.u32 [%r20], %r1;\n  cp.async.wait_all;\n"))
                            .result;
  ASSERT_THAT(run.findings, testing::SizeIs(1));
  EXPECT_THAT(run.findings[0].message, testing::HasSubstr("the wait for the cp.async at k.ptx:"));
}

// The first half of the lanes copies, the second half waits.
TEST(PtxAsyncCopies, OfOtherLanesAreNotWaitedFor) {
  const auto waiting = [](const std::string& guard) {
    return copying(
        "  setp.lt.u32 %p1, %r1, 16;\n"
        "  @%p1 cp.async.cg.shared.global [%r20], [%rd4], 16;\n"
        "  @%p1 cp.async.commit_group;\n  " +
        guard + "cp.async.wait_group 0;\n  bar.warp.sync 0xffffffff;\n" +
        "  @%p1 ld.shared.u32 %r2, [%r20];\n");
  };
  EXPECT_EQ(proof_of(waiting("")).verdict, ProofVerdict::kProved);
  expect_found_and_seen(waiting("@!%p1 "), "SMEM_RAW_NO_WAIT");
}

TEST(PtxAsyncCopies, OfOneWarpAreReadByAnotherAfterAWaitAndABarrier) {
  // Warp 1 reads what warp 0 has brought.
  const auto handing_over = [](const std::string& before, const std::string& after) {
    return copying(
        "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra MEET;\n"
        "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n  cp.async.commit_group;\n" +
            before + "MEET:\n  bar.sync 0;\n  @!%p1 bra LAST;\n" +
            "  ld.shared.u32 %r2, [%r20+-512];\n  bra DONE;\nLAST:\n" + after + "DONE:\n",
        64);
  };
  const std::string wait = "  cp.async.wait_group 0;\n";
  EXPECT_EQ(proof_of(handing_over(wait, "")).verdict, ProofVerdict::kProved);
  // Without a wait, or with one behind the barrier.
  expect_early(handing_over("", ""));
  expect_early(handing_over("", wait));
}

// Warp 1 reads the tile, and warp 0 brings the next one.
TEST(PtxAsyncCopies, DoNotOverwriteWhatIsStillRead) {
  const auto overwriting = [](const std::string& meet) {
    return copying(kFilled + std::string{"  setp.ge.u32 %p1, %r1, 32;\n  @!%p1 bra COPY;\n"} +
                       "  ld.shared.u32 %r2, [%r20+-512];\nCOPY:\n" + meet +
                       "  @%p1 bra DONE;\n"
                       "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n"
                       "  cp.async.wait_all;\nDONE:\n",
                   64);
  };
  EXPECT_THAT(ids_in(proof_of(overwriting("  bar.sync 0;\n"))), IsEmpty());
  EXPECT_EQ(proof_of(overwriting("  bar.sync 0;\n")).verdict, ProofVerdict::kProved);
  const ProofResult raced = proof_of(overwriting(""));
  EXPECT_NE(raced.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(raced), Contains("SMEM_RACE"));
  // The wait comes behind the barrier at which the reader is known to be done, the copy before it.
  expect_early(
      copying(kFilled + std::string{"  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra READ;\n"} +
                  "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n  bra MEET;\nREAD:\n"
                  "  ld.shared.u32 %r2, [%r20+-512];\nMEET:\n  bar.sync 0;\n  cp.async.wait_all;\n",
              64));
}

TEST(PtxAsyncCopies, DoNotReadWhatAnotherWarpStillWrites) {
  // `in` is written by warp 1 between the issue and the wait.
  const auto changing = [](const std::string& first, const std::string& second) {
    return copying(
        "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra STORE;\n"
        "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n" +
            first + "  bar.sync 0;\n" + second + "  bra DONE;\nSTORE:\n" +
            "  bar.sync 0;\n  st.global.u32 [%rd4+-512], %r1;\nDONE:\n",
        64);
  };
  const std::string wait = "  cp.async.wait_all;\n";
  EXPECT_EQ(proof_of(changing(wait, "")).verdict, ProofVerdict::kProved);
  const ProofResult raced = proof_of(changing("", wait));
  EXPECT_NE(raced.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(raced), Contains("GMEM_RACE"));
}

// Nobody writes the source before the wait, be it the lane that copies.
TEST(PtxAsyncCopies, ReadTheirSourceUntilTheyAreWaitedFor) {
  const std::string copy =
      "  mov.f32 %f1, 0f3F800000;\n  cp.async.cg.shared.global [%r20], [%rd4], 16;\n";
  const std::string wait = "  cp.async.wait_all;\n";
  for (const std::string change :
       {"  st.global.u32 [%rd4+12], %r1;\n",
        "  st.release.gpu.global.u32 [%rd4], 7;\n",
        "  st.relaxed.gpu.global.u32 [%rd4], 7;\n",
        "  red.global.add.u32 [%rd4], 7;\n",
        "  red.release.gpu.global.add.u32 [%rd4], 7;\n",
        "  red.global.add.v2.f32 [%rd4+8], {%f1, %f1};\n",
        // By the next lane, which it has met.
        "  bar.warp.sync 0xffffffff;\n  xor.b32 %r7, %r1, 1;\n  mul.wide.u32 %rd6, %r7, 16;\n"
        "  add.u64 %rd6, %rd6, %rd1;\n  st.global.u32 [%rd6], %r1;\n",
        "  mov.u32 %r6, 1;\n  st.shared.v4.u32 [%r20+1024], {%r6, %r6, %r6, %r6};\n"
        "  fence.proxy.async;\n  bar.warp.sync 0xffffffff;\n"
        "  cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r20+1024], 16;\n"
        "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n"}) {
    expect_found_and_seen(copying(copy + change + wait), "GMEM_RACE");
    expect_found_and_seen(
        copying(copy + "  cp.async.commit_group;\n  cp.async.wait_group 1;\n" + change + wait),
        "GMEM_RACE");
    EXPECT_EQ(proof_of(copying(copy + wait + change)).verdict, ProofVerdict::kProved) << change;
  }
  // Of what is not read, and beside it.
  EXPECT_EQ(proof_of(copying("  cp.async.cg.shared.global [%r20], [%rd4], 16, 0;\n"
                             "  st.global.u32 [%rd4], %r1;\n" +
                             wait))
                .verdict,
            ProofVerdict::kProved);
  EXPECT_EQ(proof_of(copying(copy + "  st.global.u32 [%rd4+512], %r1;\n" + wait)).verdict,
            ProofVerdict::kProved);
}

// An mbarrier counts what its lanes have begun.
TEST(PtxAsyncCopies, ReadTheirSourceUntilTheyAreCounted) {
  const auto counted = [](const std::string& begun, const std::string& over) {
    return copying(
        "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 mbarrier.init.shared.b64 [tile+8192], 32;\n"
        "  bar.warp.sync 0xffffffff;\n  cp.async.cg.shared.global [%r20], [%rd4], 16;\n" +
        begun +
        "  cp.async.mbarrier.arrive.noinc.shared.b64 [tile+8192];\n"
        "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [tile+8192], 0;\n  @!%p2 bra WAIT;\n" +
        over);
  };
  const std::string change = "  st.global.u32 [%rd4], %r1;\n";
  expect_found_and_seen(counted(change, ""), "GMEM_RACE");
  EXPECT_EQ(proof_of(counted("", change)).verdict, ProofVerdict::kProved);
}

TEST(PtxAsyncCopies, WhatIsOnItsWayIsNotWritten) {
  const std::string copy = "  cp.async.cg.shared.global [%r20], [%rd4], 16;\n";
  const std::pair<std::string, const char*> kUses[] = {
      {copy, "SMEM_WAW_ASYNC"},
      {"  st.shared.u32 [%r20], %r1;\n", "SMEM_WAW_ASYNC"},
      {"  atom.shared.add.u32 %r2, [%r20], 1;\n", "SMEM_WAW_ASYNC"},
      {"  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r20];\n", "SMEM_RAW_NO_WAIT"}};
  for (const auto& [other, id] : kUses) {
    expect_found_and_seen(copying(copy + other + "  cp.async.wait_all;\n"), id);
    EXPECT_EQ(proof_of(copying(copy + "  cp.async.wait_all;\n  bar.warp.sync 0xffffffff;\n" +
                               other + "  cp.async.wait_all;\n"))
                  .verdict,
              ProofVerdict::kProved)
        << other;
  }
}

// By a copy to several CTAs, of which another one waits for its cp.async behind that.
TEST(PtxAsyncCopies, WhatIsOnItsWayInAnotherCtaIsNotWritten) {
  const auto multicast = [](const std::string& first, const std::string& second) {
    OneKernel kernel = copying(
        "  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r6, %cluster_ctarank;\n"
        "  setp.eq.and.u32 %p2, %r6, 0, %p1;\n  setp.eq.and.u32 %p3, %r6, 1, %p1;\n"
        "  mov.u16 %h1, 3;\n  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
        "  fence.mbarrier_init.release.cluster;\n"
        "  @%p3 cp.async.cg.shared.global [tile+64], [%rd4], 16;\n" +
        first +
        "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [tile], 16;\n"
        "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"
        "  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [tile+64], [%rd1], 16, [tile], %h1;\n"
        "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [tile], 0;\n  @!%p4 bra WAIT;\n" +
        second + "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n");
    kernel.ctas = kernel.cluster = 2;
    return kernel;
  };
  const std::string wait = "  cp.async.wait_all;\n  fence.proxy.async;\n";
  expect_found_and_seen(multicast("", wait), "SMEM_WAW_ASYNC");
  EXPECT_EQ(proof_of(multicast(wait, "")).verdict, ProofVerdict::kProved);
}

// By a pair's product, which reads the operands of both CTAs. Its second CTA waits for its cp.async
// behind that.
TEST(PtxAsyncCopies, WhatIsOnItsWayIsNotMultipliedByTheOtherCtaOfAPair) {
  const auto product = [](const std::string& first, const std::string& second) {
    // D of f32, M 128, N 32, of f16; no swizzle, 128 bytes from one 8 rows to the next.
    const std::uint32_t instruction = 1U << 4 | 4U << 17 | 8U << 24;
    const std::string both = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
    OneKernel kernel = copying(
        "  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r6, %cluster_ctarank;\n  mov.u16 %h1, 3;\n"
        "  setp.eq.and.u32 %p2, %r6, 0, %p1;\n  setp.eq.and.u32 %p3, %r6, 1, %p1;\n"
        "  @%p1 mbarrier.init.shared.b64 [tile+8192], 1;\n"
        "  fence.mbarrier_init.release.cluster;\n  mov.u32 %r7, 0;\nFILL:\n"
        "  st.shared.v4.u32 [%r20], {%r1, %r1, %r1, %r1};\n  add.u32 %r20, %r20, 512;\n"
        "  add.u32 %r7, %r7, 1;\n  setp.lt.u32 %p4, %r7, 8;\n  @%p4 bra FILL;\n"
        "  fence.proxy.async;\n  mov.u32 %r9, tile;\n  add.u32 %r10, %r9, 8200;\n"
        "  tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r10], 32;\n"
        "  tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n  bar.sync 0;\n"
        "  ld.shared.u32 %r21, [tile+8200];\n"
        "  @%p3 cp.async.cg.shared.global [tile+64], [%rd4], 16;\n" +
        first + both +
        "  and.b32 %r9, %r9, 0x3FFFF;\n  shr.u32 %r9, %r9, 4;\n  cvt.u64.u32 %rd7, %r9;\n"
        "  or.b64 %rd7, %rd7, " +
        std::to_string(std::uint64_t{64} << 16 | std::uint64_t{8} << 32 | std::uint64_t{1} << 46) +
        ";\n  setp.ne.u32 %p5, 0, 0;\n  @!%p2 bra WAIT;\n"
        "  tcgen05.mma.cta_group::2.kind::f16 [%r21], %rd7, %rd7, " +
        std::to_string(instruction) +
        ", %p5;\n  tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
        ".multicast::cluster.b64 [tile+8192], %h1;\n"
        "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [tile+8192], 0;\n  @!%p4 bra WAIT;\n" +
        second + both + "  tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r21, 32;\n");
    kernel.ctas = kernel.cluster = 2;
    return kernel;
  };
  const std::string wait = "  cp.async.wait_all;\n  fence.proxy.async;\n";
  expect_found_and_seen(product("", wait), "SMEM_RAW_NO_WAIT");
  expect_proved(product(wait, ""));
}

TEST(PtxAsyncCopies, SizesThatAreNotThereAreRefused) {
  for (const char* copy : {"cg.shared.global [%r20], [%rd4], 8",
                           "ca.shared.global [%r20], [%rd4], 12",
                           "ca.shared.global [%r20], [%rd4], 4, 8"}) {
    EXPECT_THROW(proof_of(copying("  cp.async." + std::string{copy} + ";\n")), ConfigError) << copy;
  }
  EXPECT_THAT(ids_in(proof_of(copying("  cp.async.ca.shared.global [%r20+2], [%rd4], 4;\n"
                                      "  cp.async.wait_all;\n"))),
              testing::Not(IsEmpty()));
}

}  // namespace warptwin::sim::async_copies_test
