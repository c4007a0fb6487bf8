// What compilers do and PTX does not say: arithmetic in front of a wait, several warps that store
// the same, setmaxnreg to what a warp has, mbarriers that end behind a later commit than theirs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::compilers_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A warp stores its lanes' numbers to tensor memory and loads them again; %r31 is stored.
OneKernel loading(const std::string& between, const std::string& wait, const std::string& after) {
  OneKernel kernel;
  kernel.out_words = 32;
  kernel.body =
      "  mov.u32 %r20, tile;\n  mul.wide.u32 %rd10, %r1, 4;\n  add.u64 %rd11, %rd2, %rd10;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 32;\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  bar.sync 0;\n  ld.shared.u32 %r21, [%r20];\n"
      "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r21], {%r1};\n"
      "  tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r21];\n" +
      between + wait + after +
      "  st.global.u32 [%rd11], %r31;\n"
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n";
  return kernel;
}

constexpr char kAdd[] = "  add.u32 %r31, %r30, 5;\n";
constexpr char kWait[] = "  tcgen05.wait::ld.sync.aligned;\n";

// Who depends on a register of a tcgen05.ld has its value, wherever the wait is.
TEST(PtxCompilers, MayUseWhatTheyLoadInFrontOfTheWait) {
  for (const bool early : {false, true}) {
    const OneKernel kernel = loading(early ? kAdd : "", kWait, early ? "" : kAdd);
    const OneRun run = run_of(kernel);
    EXPECT_THAT(ids_in(run.result), IsEmpty());
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(run.out[lane], lane + 5);
    }
    const ProofResult proof = proof_of(kernel);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    EXPECT_THAT(proof.strength(), Not(HasSubstr("it rests on this")));
  }
  const std::string store = "  mad.lo.u32 %r22, %r1, 4, %r20;\n  st.shared.u32 [%r22+128], %r31;\n";
  for (const std::string& between :
       {kAdd + store,
        kAdd + std::string{"  bar.sync 0;\n"},
        std::string{"  mov.u32 %r29, %r30;\n  shfl.sync.idx.b32 %r31, %r29, 0, 31, 0xffffffff;\n"},
        std::string{"  mov.u32 %r31, %r30;\n  bar.sync 0;\n"}}) {
    EXPECT_EQ(proof_of(loading(between, kWait, "")).verdict, ProofVerdict::kProved) << between;
  }
  // What was loaded, stored itself.
  const OneKernel apart =
      loading("  mad.lo.u32 %r22, %r1, 8, %r20;\n  st.shared.v2.b32 [%r22+128], {%r1, %r30};\n",
              kWait,
              "  ld.shared.u32 %r31, [%r22+132];\n");
  EXPECT_EQ(proof_of(apart).verdict, ProofVerdict::kProved);
  EXPECT_EQ(run_of(apart).out[9], 9U);
}

// The value is there; that tensor memory has been read, nobody else knows.
TEST(PtxCompilers, MayNotLeaveTheWaitOut) {
  for (const OneKernel& kernel : {loading(kAdd, "", ""),
                                  loading("", "", kAdd + std::string{"  bar.sync 0;\n"}),
                                  loading("  mov.u32 %r31, %r30;\n", "", "")}) {
    const ProofResult proof = proof_of(kernel);
    EXPECT_NE(proof.verdict, ProofVerdict::kProved) << kernel.body;
    EXPECT_THAT(ids_in(proof), Contains("TMEM_DEALLOC_IN_USE")) << kernel.body;
  }
  // A register that nobody has used may still be overwritten by the load.
  const ProofResult written = proof_of(loading("  mov.u32 %r30, 1;\n", kWait, kAdd));
  EXPECT_NE(written.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(written), Contains("TMEM_LD_NO_WAIT"));
}

// No proof without data knows what a load from tensor memory brings.
TEST(PtxCompilers, MayLetTensorMemoryDecideWhereDataIsThere) {
  const auto deciding = [](const std::string& lane) {
    return loading("",
                   kWait,
                   "  shfl.sync.idx.b32 %r31, %r30, " + lane +
                       ", 31, 0xffffffff;\n"
                       "  setp.eq.u32 %p2, %r31, 5;\n  @%p2 bra MET;\n"
                       "  bar.sync 1, 64;\nMET:\n");
  };
  const ProofResult waits = proof_of(deciding("4"));
  EXPECT_EQ(waits.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(waits), Contains("NAMED_BARRIER_COUNT"));
  const ProofResult goes_on = proof_of(deciding("5"));
  EXPECT_EQ(goes_on.verdict, ProofVerdict::kProved);
  EXPECT_TRUE(goes_on.data_decides);
}

// Four warps store to one word.
OneKernel storing(const std::string& value, const std::string& behind = "") {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.body = "  shr.u32 %r2, %r1, 5;\n  st.shared.u32 [tile], " + value + ";\n" + behind +
                "  bar.sync 0;\n  ld.shared.u32 %r3, [tile];\n";
  return kernel;
}

TEST(PtxCompilers, MayLetAllWarpsStoreTheSame) {
  EXPECT_EQ(proof_of(storing("7")).verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(run_of(storing("7")).result), IsEmpty());
  EXPECT_THAT(ids_in(proof_of(storing("%r2"))), Contains("SMEM_RACE"));
  EXPECT_THAT(ids_in(run_of(storing("%r2")).result), Contains("SMEM_RACE"));
  // What is not ordered behind all of them is a race.
  EXPECT_THAT(ids_in(proof_of(
                  storing("7", "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 st.shared.u32 [tile], 8;\n"))),
              Contains("SMEM_RACE"));
}

TEST(PtxCompilers, MayAskForTheRegistersThatAWarpHas) {
  const auto asking = [](const std::string& second, const std::string& between) {
    OneKernel kernel;
    kernel.threads = 128;
    kernel.body = "  setmaxnreg.dec.sync.aligned.u32 64;\n" + between + second;
    return kernel;
  };
  const std::string same = "  setmaxnreg.dec.sync.aligned.u32 64;\n";
  const std::string other = "  setmaxnreg.dec.sync.aligned.u32 40;\n";
  EXPECT_THAT(ids_in(proof_of(asking(same, ""))), IsEmpty());
  EXPECT_THAT(ids_in(proof_of(asking(other, ""))), Contains("SETMAXNREG_NO_SYNC"));
  EXPECT_THAT(ids_in(proof_of(asking(other, "  bar.sync 0;\n"))), IsEmpty());
}

// As in a loop: two groups of warps live of what the first one has given back.
TEST(PtxCompilers, MayAskAgainForTheRegistersThatAWarpHas) {
  const auto in_a_loop = [](const std::string& given_back) {
    OneKernel kernel;
    kernel.threads = 384;
    kernel.body =
        "  setp.lt.u32 %p1, %r1, 128;\n  mov.u32 %r5, 0;\nLOOP:\n  bar.sync 0;\n"
        "  @%p1 bra FIRST;\n  setmaxnreg.inc.sync.aligned.u32 232;\n  bra NEXT;\nFIRST:\n" +
        given_back +
        "NEXT:\n  add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p2, %r5, 3;\n  @%p2 bra LOOP;\n";
    return kernel;
  };
  EXPECT_EQ(proof_of(in_a_loop("  setmaxnreg.dec.sync.aligned.u32 40;\n")).verdict,
            ProofVerdict::kProved);
  EXPECT_NE(proof_of(in_a_loop("  setmaxnreg.dec.sync.aligned.u32 48;\n")).verdict,
            ProofVerdict::kProved);
}

// As Triton's workers do: what a warp gave back nobody else may have taken.
TEST(PtxCompilers, MayTakeBackTheRegistersThatTheyGaveBack) {
  const auto two_groups = [](const std::string& first) {
    OneKernel kernel;
    kernel.threads = 256;
    kernel.directives = ".maxnreg 168\n";
    kernel.body =
        "  setp.lt.u32 %p1, %r1, 128;\n  @%p1 bra FIRST;\n"
        "  setmaxnreg.dec.sync.aligned.u32 24;\n  bar.sync 1, 128;\n"
        "  setmaxnreg.inc.sync.aligned.u32 168;\n  bra LAST;\nFIRST:\n" +
        first + "LAST:\n";
    return kernel;
  };
  const ProofResult right = proof_of(two_groups("  setmaxnreg.inc.sync.aligned.u32 168;\n"));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(ids_in(right), IsEmpty());
  EXPECT_NE(proof_of(two_groups("  setmaxnreg.inc.sync.aligned.u32 200;\n")).verdict,
            ProofVerdict::kProved);
}

// An H100 ends what is proved here of 512 threads, and hangs where 176 are asked for. Where
// .maxnreg says nothing a thread has the most that fits, but no more than is asked for, and the
// verdict says so.
TEST(PtxCompilers, GiveAThreadTheRegistersThatFit) {
  const auto asking = [](std::uint32_t threads, const std::string& registers) {
    OneKernel kernel;
    kernel.threads = threads;
    kernel.body =
        "  setp.lt.u32 %p1, %r1, 128;\n  @%p1 setmaxnreg.dec.sync.aligned.u32 40;\n"
        "  @!%p1 setmaxnreg.inc.sync.aligned.u32 " +
        registers + ";\n";
    return kernel;
  };
  const ProofResult right = proof_of(asking(512, "152"));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << right.strength();
  EXPECT_THAT(right.notes, Contains(HasSubstr("begins with 128 registers")));
  EXPECT_NE(proof_of(asking(512, "160")).verdict, ProofVerdict::kProved);
  EXPECT_NE(proof_of(asking(512, "176")).verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof_of(asking(384, "232")).verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof_of(asking(256, "256")).verdict, ProofVerdict::kProved);
  const ProofResult fewer = proof_of(asking(256, "248"));
  EXPECT_EQ(fewer.verdict, ProofVerdict::kProved) << fewer.strength();
  EXPECT_THAT(fewer.notes, Contains(HasSubstr("begins with 248 registers")));
  // Who asks for less than another has begun with what the other asks for.
  OneKernel two = asking(256, "248");
  two.body += "  bar.sync 0;\n  @!%p1 setmaxnreg.inc.sync.aligned.u32 240;\n";
  EXPECT_NE(proof_of(two).verdict, ProofVerdict::kProved);
  OneKernel few = asking(512, "152");
  few.directives = ".maxnreg 120\n";
  EXPECT_NE(proof_of(few).verdict, ProofVerdict::kProved);
  EXPECT_THAT(proof_of(few).notes, IsEmpty());
  few.directives = ".maxntid 1024, 1024, 64\n.minnctapersm 65536\n";
  EXPECT_NE(proof_of(few).verdict, ProofVerdict::kProved);
}

// Thread 0 copies to tensor memory and commits to two mbarriers; thread 32 waits for the second one
// and invalidates both.
std::string ending_barriers(const std::string& commits) {
  return "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n  add.u32 %r31, %r20, 8200;\n"
         "  mad.lo.u32 %r22, %r1, 16, %r20;\n"
         "  st.shared.v4.u32 [%r22], {%r1, %r1, %r1, %r1};\n  fence.proxy.async.shared::cta;\n"
         "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n"
         "  mbarrier.init.shared.b64 [%r30], 1;\n  mbarrier.init.shared.b64 [%r31], 1;\nMEET:\n"
         "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra ALL;\n"
         "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20+8208], 32;\n"
         "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nALL:\n  bar.sync 0;\n"
         "  ld.shared.u32 %r21, [%r20+8208];\n  shr.u32 %r23, %r20, 4;\n"
         "  cvt.u64.u32 %rd5, %r23;\n  or.b64 %rd5, %rd5, 0x400800010000;\n"
         "  setp.eq.u32 %p3, %r1, 32;\n  setp.eq.u32 %p4, %r1, 1;\n"
         "  @%p1 bra OTHERS;\n  tcgen05.cp.cta_group::1.128x128b [%r21], %rd5;\nOTHERS:\n" +
         commits +
         "  @!%p3 bra LAST;\n"
         "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p5, [%r31], 0;\n  @!%p5 bra WAIT;\n"
         "  mbarrier.inval.shared.b64 [%r30];\n  mbarrier.inval.shared.b64 [%r31];\n"
         "LAST:\n  bar.sync 0;\n  @%p2 bra END;\n"
         "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\nEND:\n";
}

std::string commit(const std::string& guard, const std::string& barrier) {
  return "  @" + guard +
         " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [" + barrier +
         "];\n";
}

OneKernel of_128(const std::string& body) {
  OneKernel kernel;
  kernel.threads = 128;
  kernel.body = body;
  return kernel;
}

// Triton's pipelines end with commits that nobody waits for, and one that somebody does.
TEST(PtxCompilers, MayInvalidateBehindALaterCommitOfTheThread) {
  const ProofResult proof =
      proof_of(of_128(ending_barriers(commit("!%p1", "%r30") + commit("!%p1", "%r31"))));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_THAT(ids_in(proof), Not(Contains("MBAR_INVAL_IN_USE")));
}

TEST(PtxCompilers, MayNotInvalidateBehindAnyOtherCommit) {
  const std::string second = commit("!%p1", "%r31");
  const std::string in_cluster =
      "  mov.u16 %h1, 1;\n  @!%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one"
      ".shared::cluster.multicast::cluster.b64 [%r30], %h1;\n";
  for (const std::string& commits :
       {second + commit("!%p1", "%r30"),  // an earlier one
        commit("%p4", "%r30") + second,   // of another lane
        in_cluster + second}) {           // one that is on its way to each CTA by itself
    const ProofResult proof = proof_of(of_128(ending_barriers(commits)));
    EXPECT_NE(proof.verdict, ProofVerdict::kProved) << commits;
    EXPECT_THAT(ids_in(proof), Contains("MBAR_INVAL_IN_USE")) << commits;
  }
}

}  // namespace warptwin::sim::compilers_test
