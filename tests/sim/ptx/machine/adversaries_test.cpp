// Kernels that look right, by what they go wrong by, each with its right twin.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::adversaries_test {

/// `{X}` in the text is what is wrong, or right.
struct Pair {
  const char* name;
  const char* text;
  const char* wrong;
  const char* right;
  const char* id;  // of what is wrong
  std::uint32_t threads = 64;
  std::uint32_t ctas = 1;  // all in one cluster, where `clustered`
  bool clustered = false;
  const char* directives = "";
};
void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.text;
}

// Thread 0 is %p1, the warp %r2, the tile's address %r20.
constexpr char kBegin[] =
    "  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r20, tile;\n  shr.u32 %r2, %r1, 5;\n";

OneKernel kernel_of(const Pair& pair, const std::string& piece) {
  OneKernel kernel;
  kernel.threads = pair.threads;
  kernel.ctas = pair.ctas;
  kernel.cluster = pair.clustered ? pair.ctas : 1;
  kernel.directives = pair.directives;
  kernel.in.resize(4096, 3);
  kernel.from_grid_before = std::string{pair.name} == "GridBefore";
  kernel.body = kBegin;
  std::string text = pair.text;
  for (std::size_t at = 0; (at = text.find("{X}")) != std::string::npos;) {
    text.replace(at, 3, piece);
  }
  kernel.body += text;
  return kernel;
}

class Adversary : public testing::TestWithParam<Pair> {};

TEST_P(Adversary, IsFound) {
  const Pair& pair = GetParam();
  const ProofResult wrong = proof_of(kernel_of(pair, pair.wrong));
  EXPECT_EQ(wrong.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(wrong), testing::Contains(pair.id));
}

TEST_P(Adversary, HasARightTwin) {
  const ProofResult right = proof_of(kernel_of(GetParam(), GetParam().right));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), testing::IsEmpty());
}

constexpr Pair kPairs[] = {
    {"GuardedArrivals",
     "  @%p1 mbarrier.init.shared.b64 [tile], 32;\n"
     "  bar.sync 0;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  @%p2 bra WAITS;\n"
     "  and.b32 %r3, %r1, {X};\n"
     "  setp.ne.u32 %p3, %r3, {X};\n"
     "  @%p3 mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "  bra DONE;\n"
     "WAITS:\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "DONE:\n",
     "31",
     "32",
     "MBAR_UNDERARRIVE",
     64,
     1,
     false,
     ""},
    {"OneTryWithHint",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  bar.sync 0;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  @%p2 bra READS;\n"
     "  st.shared.u32 [tile+128], 5;\n"
     "  bar.warp.sync -1;\n"
     "  @%p1 mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "  bra DONE;\n"
     "READS:\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0, 0x989680;\n"
     "  {X}@!%p10 bra L1;\n"
     "  ld.shared.u32 %r3, [tile+128];\n"
     "DONE:\n",
     "//",
     "",
     "SMEM_RACE",
     64,
     1,
     false,
     ""},
    {"StateBySelp",
     "  @%p1 mbarrier.init.shared.b64 [tile], 64;\n"
     "  bar.sync 0;\n"
     "  mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "L0:\n"
     "  mbarrier.test_wait.shared.b64 %p10, [tile], %rd5;\n"
     "  @!%p10 bra L0;\n"
     "  st.shared.u32 [tile+128], 5;\n"
     "  mbarrier.arrive.shared.b64 %rd6, [tile];\n"
     "  setp.eq.u32 %p4, %r20, {X};\n"
     "  selp.b64 %rd7, %rd5, %rd6, %p4;\n"
     "L1:\n"
     "  mbarrier.test_wait.shared.b64 %p10, [tile], %rd7;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r3, [tile+128];\n"
     "  bar.sync 0;\n",
     "1024",
     "0",
     "MBAR_WAIT_PHASE_ALIASED",
     64,
     1,
     false,
     ""},
    {"CountFromRegister",
     "  setp.eq.u32 %p2, %r2, 0;\n"
     "  selp.u32 %r3, {X}, 96, %p2;\n"
     "  bar.sync 1, %r3;\n",
     "64",
     "96",
     "NAMED_BARRIER_COUNT_MISMATCH",
     96,
     1,
     false,
     ""},
    {"BarrierFromRegister",
     "  and.b32 %r3, %r2, {X};\n"
     "  add.u32 %r3, %r3, 1;\n"
     "  bar.sync %r3, 64;\n",
     "1",
     "2",
     "DEADLOCK",
     64,
     1,
     false,
     ""},
    {"Noinc",
     "  @%p1 mbarrier.init.shared.b64 [tile], 32;\n"
     "  bar.sync 0;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  @%p2 bra READS;\n"
     "  shl.b32 %r4, %r1, 4;\n"
     "  add.u32 %r5, %r20, %r4;\n"
     "  cvt.u64.u32 %rd5, %r4;\n"
     "  add.u64 %rd6, %rd1, %rd5;\n"
     "  cp.async.cg.shared.global [%r5+1024], [%rd6], 16;\n"
     "  cp.async.mbarrier.arrive{X}.shared.b64 [tile];\n"
     "  bra DONE;\n"
     "READS:\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  shl.b32 %r4, %r1, 4;\n"
     "  add.u32 %r5, %r20, %r4;\n"
     "  ld.shared.u32 %r3, [%r5+512];\n"
     "DONE:\n",
     "",
     ".noinc",
     "DEADLOCK",
     64,
     1,
     false,
     ""},
    {"RemoteRelease",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  fence.mbarrier_init.release.cluster;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  setp.eq.u32 %p2, %r6, 0;\n"
     "  @!%p2 bra READS;\n"
     "  mapa.shared::cluster.u32 %r8, %r20, 1;\n"
     "  st.shared::cluster.u32 [%r8+128], 7;\n"
     "  bar.warp.sync -1;\n"
     "  @%p1 mbarrier.arrive{X}.shared::cluster.b64 _, [%r8];\n"
     "  bra DONE;\n"
     "READS:\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r3, [tile+128];\n"
     "DONE:\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n",
     ".release.cta",
     ".release.cluster",
     "MBAR_RELAXED_NO_FENCE",
     32,
     2,
     true,
     ""},
    {"GenericAlias",
     "  mov.u64 %rd5, tile;\n"
     "  cvta.shared.u64 %rd5, %rd5;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  @%p2 bra READS;\n"
     "  @%p1 st.u32 [%rd5+64], 5;\n"
     "  {X}\n"
     "  bra DONE;\n"
     "READS:\n"
     "  {X}\n"
     "  ld.shared.u32 %r3, [tile+64];\n"
     "DONE:\n",
     "",
     "bar.sync 0;",
     "SMEM_RACE",
     64,
     1,
     false,
     ""},
    {"ScopeOfFlag",
     "  mov.u32 %r6, %ctaid.x;\n"
     "  setp.eq.u32 %p2, %r6, 0;\n"
     "  @!%p1 bra DONE;\n"
     "  @!%p2 bra READS;\n"
     "  st.global.u32 [%rd2], 5;\n"
     "  st.release.{X}.global.u32 [%rd2+64], 1;\n"
     "  bra DONE;\n"
     "READS:\n"
     "  ld.acquire.{X}.global.u32 %r7, [%rd2+64];\n"
     "  setp.ne.u32 %p3, %r7, 1;\n"
     "  @%p3 bra READS;\n"
     "  ld.global.u32 %r8, [%rd2];\n"
     "DONE:\n",
     "cta",
     "gpu",
     "GMEM_RACE",
     32,
     2,
     false,
     ""},
    {"ReadIsNotDone",
     "  mov.u32 %r6, %ctaid.x;\n"
     "  setp.eq.u32 %p2, %r6, 0;\n"
     "  @!%p1 bra DONE;\n"
     "  @!%p2 bra READS;\n"
     "  st.shared.v4.u32 [tile], {%r6, %r6, %r6, %r6};\n"
     "  fence.proxy.async.shared::cta;\n"
     "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 16;\n"
     "  cp.async.bulk.commit_group;\n"
     "  cp.async.bulk.wait_group{X} 0;\n"
     "  fence.proxy.async;\n"
     "  st.release.gpu.global.u32 [%rd2+64], 1;\n"
     "  bra DONE;\n"
     "READS:\n"
     "  ld.acquire.gpu.global.u32 %r7, [%rd2+64];\n"
     "  setp.ne.u32 %p3, %r7, 1;\n"
     "  @%p3 bra READS;\n"
     "  ld.global.u32 %r8, [%rd2];\n"
     "DONE:\n",
     ".read",
     "",
     "GMEM_RAW_NO_WAIT",
     32,
     2,
     false,
     ""},
    {"Registers",
     "  setp.lt.u32 %p2, %r1, 128;\n"
     "  @%p2 bra MORE;\n"
     "  {X}\n"
     "  bar.sync 1, 128;\n"
     "  bra DONE;\n"
     "MORE:\n"
     "  setmaxnreg.inc.sync.aligned.u32 232;\n"
     "DONE:\n",
     "",
     "setmaxnreg.dec.sync.aligned.u32 24;",
     "SETMAXNREG_POOL",
     256,
     1,
     false,
     ".maxnreg 128\n"},
    {"ClusterArriveTwice",
     "  barrier.cluster.arrive.aligned;\n"
     "  {X}\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n",
     "",
     "barrier.cluster.wait.aligned;",
     "CLUSTER_BARRIER_DOUBLE_ARRIVE",
     32,
     2,
     true,
     ""},
    {"GridBefore",
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  @%p2 bra OTHER;\n"
     "  griddepcontrol.wait;\n"
     "  {X}\n"
     "  bra DONE;\n"
     "OTHER:\n"
     "  {X}\n"
     "  ld.global.u32 %r3, [%rd1];\n"
     "DONE:\n",
     "",
     "bar.sync 0;",
     "PDL_WAIT_NOT_PUBLISHED",
     64,
     1,
     false,
     ""},
    {"ExpectBehind",
     "  @%p1 mbarrier.init.shared.b64 [tile], 2;\n"
     "  bar.sync 0;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  @%p2 bra READS;\n"
     "  @%p1 {X}\n"
     "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%rd1], "
     "64, [tile];\n"
     "  @%p1 mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "  bra DONE;\n"
     "READS:\n"
     "  setp.eq.u32 %p3, %r1, 32;\n"
     "  @%p3 mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r3, [tile+128];\n"
     "DONE:\n",
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 32;",
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 64;",
     "MBAR_TX_MISMATCH",
     64,
     1,
     false,
     ""},
    {"AddressByShuffle",
     "  and.b32 %r5, %r1, 31;\n"
     "  mad.lo.u32 %r4, %r5, 4, %r20;\n"
     "  mul.lo.u32 %r8, %r2, {X};\n"
     "  shfl.sync.idx.b32 %r7, %r4, %r8, 31, -1;\n"
     "  setp.eq.u32 %p2, %r5, 3;\n"
     "  @%p2 st.shared.u32 [%r7], %r1;\n"
     "  bar.sync 0;\n",
     "32",
     "7",
     "SMEM_RACE",
     64,
     1,
     false,
     ""},
    {"CommitByOtherLane",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile+16], 32;\n"
     "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
     "  mad.lo.u32 %r5, %r1, 128, %r20;\n"
     "  st.shared.v4.u32 [%r5+4096], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4112], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4128], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4144], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4160], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4176], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4192], {%r1,%r1,%r1,%r1};\n"
     "  st.shared.v4.u32 [%r5+4208], {%r1,%r1,%r1,%r1};\n"
     "  fence.proxy.async;\n"
     "  bar.sync 0;\n"
     "  ld.shared.u32 %r21, [tile+16];\n"
     "  add.u32 %r22, %r20, 4096;\n"
     "  shr.u32 %r22, %r22, 4;\n"
     "  cvt.u64.u32 %rd7, %r22;\n"
     "  or.b64 %rd7, %rd7, 0x0000400800080000;\n"
     "  @%p1 tcgen05.cp.cta_group::1.128x128b [%r21], %rd7;\n"
     "  setp.eq.u32 %p3, %r1, {X};\n"
     "  @%p3 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [tile];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  bar.warp.sync -1;\n"
     "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n",
     "1",
     "0",
     "TCGEN05_COMMIT_WRONG_THREAD",
     32,
     1,
     false,
     ""},
    {"ArriveCount",
     "  setp.eq.u32 %p2, %r2, 0;\n"
     "  @%p2 bra A;\n"
     "  bar.arrive 2, {X};\n"
     "  bra DONE;\n"
     "A:\n"
     "  bar.sync 2, 96;\n"
     "DONE:\n",
     "64",
     "96",
     "NAMED_BARRIER_COUNT_MISMATCH",
     96,
     1,
     false,
     ""},
    {"ParityNotFlipped",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  bar.sync 0;\n"
     "  mov.u32 %r3, 0;\n"
     "  mov.u32 %r4, 0;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "LOOP:\n"
     "  @%p2 bra READS;\n"
     "  @%p1 st.shared.u32 [tile+128], %r3;\n"
     "  bar.warp.sync -1;\n"
     "  @%p1 mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "  bra NEXT;\n"
     "READS:\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], %r4;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r7, [tile+128];\n"
     "NEXT:\n"
     "  bar.sync 0;\n"
     "  xor.b32 %r4, %r4, {X};\n"
     "  add.u32 %r3, %r3, 1;\n"
     "  setp.lt.u32 %p4, %r3, 3;\n"
     "  @%p4 bra LOOP;\n",
     "0",
     "1",
     "ORDER_PASS",
     64,
     1,
     false,
     ""},
    {"PeerHasEnded",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  fence.mbarrier_init.release.cluster;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  setp.eq.u32 %p2, %r6, 0;\n"
     "  @!%p2 bra DONE;\n"
     "  mapa.shared::cluster.u32 %r8, %r20, 1;\n"
     "  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n"
     "DONE:\n"
     "  {X}\n",
     "",
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "REMOTE_TO_EXITED_CTA",
     32,
     2,
     true,
     ""},
    {"LoadBehindTheLastArrive",
     "  st.shared.u32 [tile+128], 5;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  xor.b32 %r7, %r6, 1;\n"
     "  mapa.shared::cluster.u32 %r8, %r20, %r7;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  ld.shared::cluster.u32 %r9, [%r8+128];\n"
     "  barrier.cluster.wait.aligned;\n"
     "  {X}\n",
     "",
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "REMOTE_TO_EXITED_CTA",
     64,
     2,
     true,
     ""},
    {"StoreBehindTheLastArrive",
     "  st.shared.u32 [tile+128], 5;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  xor.b32 %r7, %r6, 1;\n"
     "  mapa.shared::cluster.u32 %r8, %r20, %r7;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  @%p1 st.shared::cluster.u32 [%r8+256], %r1;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  {X}\n",
     "",
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "REMOTE_TO_EXITED_CTA",
     64,
     2,
     true,
     ""},
    {"PeerWaitsForOneLane",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  st.shared.u32 [tile+128], 5;\n"
     "  fence.mbarrier_init.release.cluster;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  setp.eq.u32 %p2, %r6, 0;\n"
     "  @!%p2 bra READS;\n"
     "  mapa.shared::cluster.u32 %r8, %r20, 1;\n"
     "  ld.shared::cluster.u32 %r9, [%r8+128];\n"
     "  {X}\n"
     "  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n"
     "  bra DONE;\n"
     "READS:\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "DONE:\n",
     "",
     "bar.warp.sync -1;",
     "REMOTE_TO_EXITED_CTA",
     32,
     2,
     true,
     ""},
    {"InitAgain",
     "  @%p1 mbarrier.init.shared.b64 [tile], 64;\n"
     "  bar.sync 0;\n"
     "  mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  {X}\n"
     "  @%p1 mbarrier.inval.shared.b64 [tile];\n"
     "  @%p1 mbarrier.init.shared.b64 [tile], 64;\n"
     "  bar.sync 0;\n"
     "  mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "L2:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L2;\n",
     "",
     "bar.sync 0;",
     "MBAR_INVAL_IN_USE",
     64,
     1,
     false,
     ""},
    {"WaitGroupTooWeak",
     "  shl.b32 %r4, %r1, 4;\n"
     "  add.u32 %r5, %r20, %r4;\n"
     "  cvt.u64.u32 %rd5, %r4;\n"
     "  add.u64 %rd6, %rd1, %rd5;\n"
     "  cp.async.cg.shared.global [%r5], [%rd6], 16;\n"
     "  cp.async.commit_group;\n"
     "  cp.async.cg.shared.global [%r5+4096], [%rd6], 16;\n"
     "  cp.async.commit_group;\n"
     "  cp.async.wait_group 1;\n"
     "  bar.sync 0;\n"
     "  xor.b32 %r6, %r4, 16;\n"
     "  add.u32 %r6, %r6, %r20;\n"
     "  ld.shared.u32 %r3, [%r6+{X}];\n"
     "  cp.async.wait_all;\n",
     "4096",
     "0",
     "SMEM_RAW_NO_WAIT",
     64,
     1,
     false,
     ""},
    {"DsmemReadRelaxed",
     "  st.shared.u32 [tile], 5;\n"
     "  barrier.cluster.arrive{X}.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  xor.b32 %r7, %r6, 1;\n"
     "  mapa.shared::cluster.u32 %r8, %r20, %r7;\n"
     "  ld.shared::cluster.u32 %r9, [%r8];\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n",
     ".relaxed",
     ".release",
     "SMEM_RACE",
     32,
     2,
     true,
     ""},
    {"McastMask",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd5, [tile], 128;\n"
     "  fence.mbarrier_init.release.cluster;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  mov.u32 %r6, %cluster_ctarank;\n"
     "  setp.eq.u32 %p2, %r6, 0;\n"
     "  and.pred %p2, %p2, %p1;\n"
     "  mov.u32 %r7, %cluster_nctarank;\n"
     "  mov.u32 %r8, 1;\n"
     "  shl.b32 %r8, %r8, %r7;\n"
     "  sub.u32 %r8, %r8, {X};\n"
     "  cvt.u16.u32 %h1, %r8;\n"
     "  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[tile+128], [%rd1], 128, [tile], %h1;\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r9, [tile+128];\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n",
     "2",
     "1",
     "MBAR_TX_MISMATCH",
     32,
     2,
     true,
     ""},
    {"LoopCountByDataLength",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  bar.sync 0;\n"
     "  setp.ge.u32 %p2, %r1, 32;\n"
     "  mov.u32 %r3, 0;\n"
     "  @%p2 bra READS;\n"
     "A:\n"
     "  @%p1 mbarrier.arrive.shared.b64 %rd5, [tile];\n"
     "  bar.sync 1, 64;\n"
     "  add.u32 %r3, %r3, 1;\n"
     "  setp.lt.u32 %p4, %r3, 4;\n"
     "  @%p4 bra A;\n"
     "  bra DONE;\n"
     "READS:\n"
     "  and.b32 %r4, %r3, 1;\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], %r4;\n"
     "  @!%p10 bra L1;\n"
     "  bar.sync 1, 64;\n"
     "  add.u32 %r3, %r3, 1;\n"
     "  setp.lt.u32 %p4, %r3, {X};\n"
     "  @%p4 bra READS;\n"
     "DONE:\n",
     "5",
     "4",
     "DEADLOCK",
     64,
     1,
     false,
     ""},
    {"LanesReconvergeNot",
     "  setp.lt.u32 %p2, %r1, 16;\n"
     "  @%p2 bra A;\n"
     "  st.shared.u32 [tile], 1;\n"
     "  bra J;\n"
     "A:\n"
     "  mov.u32 %r3, 3;\n"
     "J:\n"
     "  {X}\n"
     "  setp.eq.u32 %p3, %r1, 0;\n"
     "  @%p3 ld.shared.u32 %r4, [tile];\n",
     "activemask.b32 %r9;",
     "bar.warp.sync -1;",
     "WARP_LANE_RACE",
     32,
     1,
     false,
     ""},
    {"FullMaskSyncOfHalf",
     "  setp.lt.u32 %p2, %r1, 16;\n"
     "  @%p2 bra A;\n"
     "  barrier.sync 0;\n"
     "  bra DONE;\n"
     "A:\n"
     "  shfl.sync.idx.b32 %r3, %r1, 0, 31, {X};\n"
     "  barrier.sync 0;\n"
     "DONE:\n",
     "-1",
     "0xffff",
     "NAMED_BARRIER_DIVERGENT_ALIGNED",
     32,
     1,
     false,
     ""},
    {"InplaceProxy",
     "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n"
     "  bar.sync 0;\n"
     "  st.shared.u32 [tile+128], 5;\n"
     "  {X}\n"
     "  bar.warp.sync -1;\n"
     "  @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd5, [tile], 128;\n"
     "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%rd1], "
     "128, [tile];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r3, [tile+128];\n",
     "fence.proxy.async.global;",
     "fence.proxy.async.shared::cta;",
     "PROXY_FENCE_WRONG_SPACE",
     32,
     1,
     false,
     ""},
};

INSTANTIATE_TEST_SUITE_P(OfEachKind, Adversary, testing::ValuesIn(kPairs), [](const auto& pair) {
  return std::string{pair.param.name};
});

}  // namespace warptwin::sim::adversaries_test
