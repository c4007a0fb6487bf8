// Clusters that do what one before them did are not judged again. What they do is seen, event by
// event; and what one of them does otherwise, or to another, is found as if all were judged.

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::like_clusters_test {

using testing::AllOf;
using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

constexpr std::uint32_t kCtas = 8;

class LeftOut : public EventSink {
 public:
  explicit LeftOut(std::uint32_t warps_of_cta) : warps{warps_of_cta} {}
  void on_event(const Event& event) override { ctas.insert(event.warp / warps); }
  std::uint32_t warps;
  std::set<std::uint32_t> ctas;
};

// Behind %r2, the CTA's number, and %p5: it is number 5; each, of two warps, has 256 bytes of
// `out` from %rd3 on, and a warp 128 of them from %rd4 on.
OneKernel kernel_of(const std::string& body) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.ctas = kCtas;
  kernel.in = {0, 0, 0, 0};
  kernel.body =
      "  mov.u32 %r2, %ctaid.x;\n  setp.eq.u32 %p5, %r2, 5;\n"
      "  mul.wide.u32 %rd3, %r2, 256;\n  add.u64 %rd3, %rd3, %rd2;\n"
      "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd4, %rd4, %rd3;\n"
      "  mov.u32 %r20, tile;\n  shl.b32 %r3, %r1, 2;\n  add.u32 %r3, %r3, %r20;\n"
      "  xor.b32 %r4, %r3, 128;\n" +
      body;
  return kernel;
}

struct Seen {
  RunResult result;
  std::set<std::uint32_t> left_out;
};

Seen seen_of(const OneKernel& kernel) {
  const ScenarioEntry entry = entry_of(kernel);
  LeftOut left_out{kernel.threads / 32};
  RunOptions options;
  options.moves_data = false;
  options.resident_ctas = 1;
  options.schedule.strategy = Strategy::kInTurn;
  options.alike = &left_out;
  Seen seen{simulate(entry, ParameterSet{entry.parameters}, options), {}};
  seen.left_out = left_out.ctas;
  return seen;
}

// The same is said as where each cluster is judged.
ProofResult proof_like_all(const OneKernel& kernel) {
  const ScenarioEntry entry = entry_of(kernel);
  ProofOptions options;
  options.run.moves_data = false;
  const ProofResult proof = prove(entry, ParameterSet{entry.parameters}, options);
  options.leave_out_alike = false;
  const ProofResult all = prove(entry, ParameterSet{entry.parameters}, options);
  EXPECT_EQ(proof.verdict, all.verdict) << kernel.body;
  EXPECT_EQ(proof.strength(), all.strength()) << kernel.body;
  EXPECT_EQ(proof.operations, all.operations) << kernel.body;
  EXPECT_EQ(ids_in(proof), ids_in(all)) << kernel.body;
  return proof;
}

// A thread stores a word, another warp's reads it behind a barrier, and stores it to `out`.
std::string handed_over(const char* barrier, const char* place = "%rd4") {
  return std::string{"  st.shared.u32 [%r3], %r1;\n"} + barrier +
         "  ld.shared.u32 %r5, [%r4];\n  st.global.u32 [" + place + "], %r5;\n";
}

TEST(PtxLikeClusters, AreLeftOut) {
  const OneKernel kernel = kernel_of(handed_over("  bar.sync 0;\n"));
  const Seen seen = seen_of(kernel);
  EXPECT_THAT(seen.left_out, IsSupersetOf({2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(seen.result.in_doubt);
  EXPECT_EQ(proof_like_all(kernel).verdict, ProofVerdict::kProved);
}

TEST(PtxLikeClusters, OneThatDoesNotWaitIsSeen) {
  const OneKernel kernel = kernel_of(handed_over("  @%p5 bra PAST;\n  bar.sync 0;\nPAST:\n"));
  EXPECT_THAT(seen_of(kernel).left_out, AllOf(IsSupersetOf({2, 3, 4, 7}), Not(Contains(5))));
  EXPECT_THAT(ids_in(proof_like_all(kernel)), Contains("SMEM_RACE"));
}

// Its accesses lie as far from the first's as those of CTA 3 do.
TEST(PtxLikeClusters, OneThatStoresToAnothersBytesIsFound) {
  const OneKernel kernel = kernel_of("  mov.u64 %rd5, 512;\n  @%p5 sub.u64 %rd4, %rd4, %rd5;\n" +
                                     handed_over("  bar.sync 0;\n"));
  EXPECT_TRUE(seen_of(kernel).result.in_doubt);
  EXPECT_THAT(ids_in(proof_like_all(kernel)), Contains("GMEM_RACE"));
}

// Both warps of one CTA store to the same bytes.
TEST(PtxLikeClusters, OneWhoseAccessesLieOtherwiseIsSeen) {
  const OneKernel kernel = kernel_of(
      "  and.b32 %r6, %r1, 31;\n  mul.wide.u32 %rd5, %r6, 4;\n"
      "  add.u64 %rd5, %rd5, %rd3;\n  @%p5 mov.u64 %rd4, %rd5;\n" +
      handed_over("  bar.sync 0;\n"));
  EXPECT_THAT(seen_of(kernel).left_out, AllOf(IsSupersetOf({2, 3, 4, 7}), Not(Contains(5))));
  EXPECT_THAT(ids_in(proof_like_all(kernel)), Contains("GMEM_RACE"));
}

TEST(PtxLikeClusters, ThatReadWhatIsStoredAreInDoubt) {
  const std::string stored = handed_over("  bar.sync 0;\n");
  const OneKernel own = kernel_of(stored + "  ld.global.u32 %r6, [%rd4];\n");
  EXPECT_TRUE(seen_of(own).result.in_doubt);
  EXPECT_EQ(proof_like_all(own).verdict, ProofVerdict::kProved);
  // The same place for all: it lies otherwise than where each stores.
  const OneKernel of_another = kernel_of(stored + "  ld.global.u32 %r6, [%rd2];\n");
  EXPECT_THAT(seen_of(of_another).left_out, IsEmpty());
  EXPECT_THAT(ids_in(proof_like_all(of_another)), Contains("GMEM_RACE"));
}

TEST(PtxLikeClusters, ThatMeetByAWordAreNot) {
  const std::string add = "  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r7, 1;\n";
  const OneKernel all = kernel_of(add + "  @%p1 red.release.gpu.global.add.u32 [%rd1], %r7;\n" +
                                  handed_over("  bar.sync 0;\n"));
  EXPECT_THAT(seen_of(all).left_out, IsEmpty());
  EXPECT_FALSE(seen_of(all).result.in_doubt);
  proof_like_all(all);
  const OneKernel one = kernel_of(add + "  and.pred %p1, %p1, %p5;\n" +
                                  "  @%p1 red.release.gpu.global.add.u32 [%rd1], %r7;\n" +
                                  handed_over("  bar.sync 0;\n"));
  EXPECT_TRUE(seen_of(one).result.in_doubt);
  proof_like_all(one);
}

// Lanes of the one warp wait for what another of its lanes has released: what they know of each
// other is asked in each cluster.
TEST(PtxLikeClusters, ThatAskWhatLanesKnowAreLeftOut) {
  const auto lanes = [](const char* waits) {
    OneKernel kernel = kernel_of(
        std::string{"  setp.eq.u32 %p1, %r1, 0;\n  add.u32 %r8, %r20, 8192;\n  mov.u32 %r9, 1;\n"
                    "  @%p1 mbarrier.init.shared::cta.b64 [%r8], %r9;\n"
                    "  bar.warp.sync 0xffffffff;\n  @!%p1 bra OTHERS;\n"
                    "  st.shared.u32 [%r20+512], %r9;\n"
                    "  mbarrier.arrive.shared::cta.b64 _, [%r8];\n  bra DONE;\nOTHERS:\n"} +
        waits +
        "LOOK:\n  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0;\n  @!%p3 bra LOOK;\n"
        "PAST:\n  ld.shared.u32 %r5, [%r20+512];\nDONE:\n  bar.warp.sync 0xffffffff;\n"
        "  st.global.u32 [%rd4], %r9;\n");
    kernel.threads = 32;
    return kernel;
  };
  const OneKernel right = lanes("");
  EXPECT_THAT(seen_of(right).left_out, IsSupersetOf({2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(proof_like_all(right).verdict, ProofVerdict::kProved);
  const OneKernel wrong = lanes("  @%p5 bra PAST;\n");
  EXPECT_THAT(seen_of(wrong).left_out, AllOf(IsSupersetOf({2, 3, 4, 7}), Not(Contains(5))));
  EXPECT_THAT(ids_in(proof_like_all(wrong)), Contains("WARP_LANE_RACE"));
}

// Whether it matters who is elected is a question of every cluster, not of the first.
TEST(PtxLikeClusters, AnElectedLaneThatAsksForItsClusterIsFound) {
  const OneKernel kernel = kernel_of(
      "  setp.ge.u32 %p4, %r1, 32;\n  @%p4 bra DONE;\n"
      "  elect.sync _|%p2, 0xffffffff;\n  setp.eq.u32 %p1, %r1, 0;\n  not.pred %p3, %p5;\n"
      "  and.pred %p6, %p2, %p3;\n  and.pred %p7, %p1, %p5;\n  or.pred %p1, %p6, %p7;\n"
      "  @%p1 st.shared.u32 [%r20], %r2;\n  @!%p2 bra DONE;\n"
      "  ld.shared.u32 %r5, [%r20];\n  st.global.u32 [%rd3], %r5;\nDONE:\n");
  const ScenarioEntry entry = entry_of(kernel);
  ProofOptions options;
  options.run.moves_data = false;
  EXPECT_EQ(prove(entry, ParameterSet{entry.parameters}, options).verdict, ProofVerdict::kProved);
  choose_rule(options.run.rules, "elect_lane=either");
  const ProofResult either = prove(entry, ParameterSet{entry.parameters}, options);
  EXPECT_EQ(either.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(either), Contains("WARP_LANE_RACE"));
}

}  // namespace warptwin::sim::like_clusters_test
