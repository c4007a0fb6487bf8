// Which lane elect.sync elects the manual does not say: a proof holds of the lowest and of the
// highest lane, or its verdict names the difference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::elections_test {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kByNumber = "  and.b32 %r3, %r1, 31;\n  setp.eq.u32 %p2, %r3, 0;\n";
constexpr const char* kElected = "  elect.sync _|%p2, 0xffffffff;\n";
constexpr const char* kMeet = "  bar.warp.sync 0xffffffff;\n";

// In warp 0 one lane stores a word, and one that `publisher` chooses tells warp 1 of it.
OneKernel handed_over(const char* storing, const char* between, const char* publisher) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.in = {0, 0, 0, 0};
  kernel.body = std::string{"  mov.u32 %r20, tile;\n  mov.u32 %r4, 7;\n"} +
                "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra OTHER;\n" + storing +
                "  @%p2 st.shared.u32 [%r20], %r4;\n" + between + publisher +
                "  @%p2 st.release.gpu.global.u32 [%rd1], %r4;\n  bra DONE;\n"
                "OTHER:\n"
                "LOOK:\n  ld.acquire.gpu.global.u32 %r5, [%rd1];\n"
                "  setp.eq.u32 %p3, %r5, 0;\n  @%p3 bra LOOK;\n" +
                kMeet + kElected + "  @!%p2 bra DONE;\n" +
                "  ld.shared.u32 %r6, [%r20];\n  st.global.u32 [%rd2], %r6;\n"
                "DONE:\n";
  return kernel;
}

const auto kNamed = Contains(HasSubstr("elect.sync elects the lowest lane"));

TEST(PtxElections, ALaneByNumberIsNotTheElectedOne) {
  const OneKernel kernel = handed_over(kByNumber, "", kElected);
  const ProofResult lowest = proof_of(kernel);
  EXPECT_EQ(lowest.verdict, ProofVerdict::kProved);
  EXPECT_THAT(lowest.notes, kNamed);
  const ProofResult either = proof_under(kernel, "elect_lane=either");
  EXPECT_EQ(either.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(either), Contains("WARP_LANES_NOT_RELEASED"));
}

// The manual says that one set has one leader, and nothing of the leaders of two sets.
TEST(PtxElections, OfSeveralSetsAreNamed) {
  const auto two_sets = [](const std::string& first, const std::string& second) {
    const auto by_one_of = [](const std::string& set, const std::string& text) {
      const std::string label = text.substr(0, 2);
      return "  shr.u32 %r3, " + set +
             ", %r1;\n  and.b32 %r3, %r3, 1;\n  setp.eq.u32 %p1, %r3, 0;\n  @%p1 bra " + label +
             ";\n  elect.sync _|%p2, " + set + ";\n  @%p2 " + text + "\n" + label + ":\n";
    };
    OneKernel kernel;
    kernel.body = "  mov.u32 %r20, tile;\n  mov.u32 %r4, 7;\n" +
                  by_one_of(first, "st.shared.u32 [%r20], %r4;") +
                  by_one_of(second, "ld.shared.u32 %r5, [%r20];");
    return proof_of(kernel);
  };
  const auto named = Contains(HasSubstr("elects of several sets of lanes"));
  const std::string set = "0x80000003";
  const ProofResult two = two_sets(set, "0x80000005");
  EXPECT_EQ(two.verdict, ProofVerdict::kProved);
  EXPECT_THAT(two.notes, named);
  const ProofResult one = two_sets(set, set);
  EXPECT_EQ(one.verdict, ProofVerdict::kProved);
  EXPECT_THAT(one.notes, Not(named));
}

// The elected lane stores a word where its number is one of `numbers`, and all read it.
OneKernel stored_by(const std::string& numbers) {
  OneKernel kernel;
  kernel.body = std::string{"  mov.u32 %r20, tile;\n  mov.u32 %r4, 7;\n"} + kElected +
                "  @!%p2 bra READ;\n  and.b32 %r3, %r1, 31;\n  shr.u32 %r3, " + numbers +
                ", %r3;\n  and.b32 %r3, %r3, 1;\n  setp.eq.u32 %p3, %r3, 0;\n  @%p3 bra READ;\n" +
                "  st.shared.u32 [%r20], %r4;\nREAD:\n" + kMeet +
                "  ld.shared.u32 %r5, [%r20];\n  st.global.u32 [%rd2], %r5;\n";
  return kernel;
}

TEST(PtxElections, ALaneBetweenIsTriedToo) {
  const auto tried = Contains(HasSubstr("one that was tried between them"));
  const ProofResult lowest = proof_of(stored_by("0x80000001"));
  EXPECT_EQ(lowest.verdict, ProofVerdict::kProved);
  EXPECT_THAT(lowest.notes, kNamed);
  const ProofResult either = proof_under(stored_by("0x80000001"), "elect_lane=either");
  EXPECT_EQ(either.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(either), Contains("SMEM_UNINIT_READ"));
  const ProofResult any = proof_under(stored_by("0xffffffff"), "elect_lane=either");
  EXPECT_EQ(any.verdict, ProofVerdict::kProved);
  EXPECT_THAT(any.notes, Not(kNamed));
  EXPECT_THAT(any.notes, Not(tried));
}

// Of three lanes the warp does the same, and of a fourth it does not: the verdict says that it was
// not tried.
TEST(PtxElections, EachLaneHasToDoTheSameWhereNoneIsNamed) {
  const auto named = AnyOf(kNamed, Contains(HasSubstr("one that was tried between them")));
  for (const std::uint32_t lane : {5U, 17U, 30U}) {
    const ProofResult but_one = proof_of(stored_by(std::to_string(~(1U << lane))));
    EXPECT_EQ(but_one.verdict, ProofVerdict::kProved);
    EXPECT_THAT(but_one.notes, named) << lane;
  }
}

// All lanes make a fence, and the elected one copies what was stored: which of the two comes first
// its number says, by one text.
TEST(PtxElections, TheOrderOfWhatAllLanesDoAndOneOfThemIsCompared) {
  const auto copied = [](const std::string& second) {
    OneKernel kernel;
    kernel.body =
        "  mov.u32 %r20, tile;\n  shl.b32 %r3, %r1, 2;\n  add.u32 %r3, %r3, %r20;\n"
        "  st.shared.u32 [%r3], %r1;\n  bar.warp.sync -1;\n"
        "  elect.sync %r4|%p2, -1;\n  shr.u32 %r5, %r4, 4;\n  mov.u32 %r6, 0;\n" +
        second +
        "STEP:\n  xor.b32 %r7, %r6, %r5;\n  setp.ne.u32 %p3, %r7, 0;\n"
        "  @%p3 bra COPY;\n  fence.proxy.async.shared::cta;\n  bra NEXT;\nCOPY:\n"
        "  @%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 128;\n"
        "  @%p2 cp.async.bulk.commit_group;\n  @%p2 cp.async.bulk.wait_group 0;\n"
        "NEXT:\n  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %p4, %r6, 2;\n"
        "  @%p4 bra STEP;\n";
    return proof_of(kernel);
  };
  const ProofResult by_number = copied("");
  EXPECT_EQ(by_number.verdict, ProofVerdict::kProved);
  EXPECT_THAT(by_number.notes, kNamed);
  const ProofResult fenced = copied("  mov.u32 %r5, 0;\n");
  EXPECT_EQ(fenced.verdict, ProofVerdict::kProved);
  EXPECT_THAT(fenced.notes, Not(kNamed));
}

// In one stretch without a meeting a lane goes by its number, and another is elected.
TEST(PtxElections, ThatDecideNothingAreNotNamed) {
  const std::string aside =
      std::string{kElected} + "  @%p2 st.shared.u32 [%r20+64], %r4;\n" + kMeet;
  const OneKernel kernel = handed_over(kByNumber, aside.c_str(), kElected);
  for (const char* rule : {"elect_lane=lowest", "elect_lane=either"}) {
    const ProofResult proof = proof_under(kernel, rule);
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    EXPECT_THAT(proof.notes, Not(kNamed));
    EXPECT_GT(proof.operations, proof.run.operations);  // the highest lane's as well
  }
}

// Behind a meeting all lanes know the same: a second proof would say nothing new.
TEST(PtxElections, BehindAMeetingAreAllAlike) {
  const ProofResult proof =
      proof_under(handed_over(kByNumber, kMeet, kElected), "elect_lane=either");
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof.operations, proof.run.operations);
}

TEST(PtxElections, WhereNoLaneGoesByNumberAreAllAlike) {
  const ProofResult proof = proof_under(handed_over(kElected, "", kElected), "elect_lane=either");
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof.operations, proof.run.operations);
}

TEST(PtxElections, OfAnotherWarpAreAllAlike) {
  const ProofResult proof = proof_under(handed_over(kByNumber, "", kByNumber), "elect_lane=either");
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof.operations, proof.run.operations);
}

TEST(PtxElections, AreOfTheLanesThatTheMaskNames) {
  const char* half = "  setp.ge.u32 %p4, %r3, 16;\n  @%p4 bra DONE;\n  elect.sync _|%p2, 0xffff;\n";
  const ProofResult proof = proof_under(handed_over(kByNumber, "", half), "elect_lane=either");
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(ids_in(proof), Contains("WARP_LANES_NOT_RELEASED"));
}

// Of eight CTAs, in all of which a lane by its number stores a word, one lane arrives at an
// mbarrier behind that: in the CTA `apart` an elected one.
OneKernel elected_in(const char* apart) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.ctas = 8;
  kernel.in = {0};
  kernel.body = std::string{"  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r20, tile;\n"} +
                "  mov.u32 %r4, 7;\n  setp.ne.u32 %p4, %r1, 0;\n"
                "  @!%p4 mbarrier.init.shared::cta.b64 [%r20+8], 1;\n  bar.sync 0;\n"
                "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra OTHER;\n" +
                kByNumber + "  @%p2 st.shared.u32 [%r20], %r4;\n  setp.ne.u32 %p5, %r2, " + apart +
                ";\n  @%p5 bra ARRIVES;\n" + kElected +
                "ARRIVES:\n  @%p2 mbarrier.arrive.shared::cta.b64 _, [%r20+8];\n  bra DONE;\n"
                "OTHER:\n"
                "LOOK:\n  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r20+8], 0;\n"
                "  @!%p3 bra LOOK;\n  setp.ne.u32 %p2, %r1, 32;\n  @%p2 bra DONE;\n"
                "  ld.shared.u32 %r6, [%r20];\n  mul.wide.u32 %rd5, %r2, 4;\n"
                "  add.u64 %rd2, %rd2, %rd5;\n  st.global.u32 [%rd2], %r6;\nDONE:\n";
  return kernel;
}

// What the first CTA does says nothing of the others.
TEST(PtxElections, AreComparedInEachCta) {
  for (const char* apart : {"5", "0"}) {
    EXPECT_THAT(proof_of(elected_in(apart)).notes, kNamed) << apart;
    const ProofResult either = proof_under(elected_in(apart), "elect_lane=either");
    EXPECT_EQ(either.verdict, ProofVerdict::kRefuted) << apart;
    EXPECT_THAT(ids_in(either), Contains("WARP_LANES_NOT_RELEASED")) << apart;
  }
  const ProofResult none = proof_under(elected_in("9"), "elect_lane=either");
  EXPECT_EQ(none.verdict, ProofVerdict::kProved);
  EXPECT_EQ(none.operations, none.run.operations);
}

// A fence makes an acquire of a look of its own thread. That it does so for a thread that its own
// has met is a hypothesis, and named where the thread that looks need not be the elected one.
TEST(PtxElections, AFenceOfAnotherThreadIsNamed) {
  const auto looking = [](const char* who) {
    OneKernel kernel;
    kernel.threads = 32;
    kernel.ctas = 2;
    kernel.in = {0, 0, 0, 0};
    kernel.body =
        std::string{"  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r4, 7;\n  setp.ne.u32 %p1, %r2, 0;\n"} +
        kByNumber + "  @%p1 bra OTHER;\n  @!%p2 bra DONE;\n  st.global.u32 [%rd1+8], %r4;\n" +
        "  st.release.gpu.global.u32 [%rd1], %r4;\n  bra DONE;\nOTHER:\n" + who +
        "  @!%p2 bra LOOKED;\nLOOK:\n  ld.relaxed.gpu.global.u32 %r5, [%rd1];\n"
        "  setp.eq.u32 %p3, %r5, 0;\n  @%p3 bra LOOK;\nLOOKED:\n" +
        kMeet + kElected +
        "  @!%p2 bra DONE;\n  fence.acq_rel.gpu;\n  ld.global.u32 %r6, [%rd1+8];\n"
        "  st.global.u32 [%rd2], %r6;\nDONE:\n";
    return kernel;
  };
  const auto fences = Contains(HasSubstr("fences hold for threads"));
  for (const char* rule : {"elect_lane=lowest", "elect_lane=either"}) {
    const ProofResult by_number = proof_under(looking(""), rule);
    EXPECT_EQ(by_number.verdict, ProofVerdict::kProved);
    EXPECT_THAT(by_number.notes, fences);
    EXPECT_THAT(proof_under(looking(kElected), rule).notes, Not(fences));
  }
}

// The same of a kernel's text: lane 0 begins a bulk store, and the elected lane waits for it. The
// meeting between the two does not make it a store of that lane.
ProofResult proof_of_text(bool same_lane) {
  constexpr SharedAddress kTile{1024};
  tests::SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}};
  kernel.body = [=](SimMachine& m, const ParameterSet&, GlobalAddress to) {
    const auto wait = [&] {
      m.cp_async_bulk_commit_group();
      m.cp_async_bulk_wait_group<0>();
    };
    m.for_lanes(1, [&](std::uint32_t) {
      for (std::uint32_t word = 0; word < 4; ++word) {
        m.st_shared_u32({kTile.value + 4 * word}, 7);
      }
      m.fence_proxy_async(ProxySpace::kSharedCta);
      m.cp_async_bulk_store(to, kTile, 16);
      if (same_lane) {
        wait();
      }
    });
    m.sync_warp();
    if (!same_lane) {
      m.elect_one(wait);
    }
  };
  const ScenarioEntry entry = tests::entry_of(kernel);
  ProofOptions options;
  options.run.moves_data = false;
  return prove(entry, ParameterSet{{}}, options);
}

TEST(PtxElections, AreComparedInAKernelsTextToo) {
  const ProofResult other = proof_of_text(false);
  EXPECT_EQ(other.verdict, ProofVerdict::kProved);
  EXPECT_THAT(other.notes, kNamed);
  const ProofResult same = proof_of_text(true);
  EXPECT_EQ(same.verdict, ProofVerdict::kProved);
  EXPECT_THAT(same.notes, Not(kNamed));
}

}  // namespace warptwin::sim::elections_test
