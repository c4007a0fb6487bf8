// Atomics of several warps on one word of shared memory: what they leave, what is free, what races.

#include <bit>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::shared_atomics_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kThreads = 64;

/// Thread 0 clears 16 bytes of `tile`, all do `atomic`, then all read them and go through `after`.
struct Steps {
  std::string begin = "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 st.shared.v4.u32 [tile], {0, 0, 0, 0};\n";
  std::string meet = "  bar.sync 0;\n";
  std::string atomic{};
  std::string met = "  bar.sync 0;\n";
  std::string after{};
};

OneKernel kernel_of(const Steps& steps, std::uint32_t threads = kThreads) {
  OneKernel kernel;
  kernel.threads = threads;
  kernel.out_words = 4 * threads;
  kernel.body = "  mul.wide.u32 %rd4, %r1, 16;\n  add.u64 %rd4, %rd2, %rd4;\n" + steps.begin +
                steps.meet + steps.atomic + steps.met +
                "  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [tile];\n"
                "  st.global.v4.u32 [%rd4], {%r10, %r11, %r12, %r13};\n" +
                steps.after;
  return kernel;
}

OneKernel updating(const std::string& atomic, const std::string& after = "") {
  Steps steps;
  steps.atomic = atomic;
  steps.after = after;
  return kernel_of(steps);
}

struct Case {
  const char* name;
  const char* text;
  std::uint32_t low;
  std::uint32_t high = 0;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class PtxSharedAtomics : public testing::TestWithParam<Case> {};

TEST_P(PtxSharedAtomics, OfTwoWarpsLeaveTheSameInAnyOrder) {
  const std::string atomic =
      std::string{
          "  add.u32 %r2, %r1, 1;\n  cvt.u64.u32 %rd6, %r2;\n"
          "  shl.b64 %rd6, %rd6, 30;\n"} +
      GetParam().text;
  const OneKernel kernel = updating(atomic);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(run.out[0], GetParam().low);
  EXPECT_EQ(run.out[1], GetParam().high);
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  // What they leave may decide: it is the same whoever comes first.
  const OneKernel decides =
      updating(atomic, "  setp.gt.u32 %p2, %r10, 7;\n  @%p2 st.global.u32 [%rd4], %r1;\n");
  EXPECT_EQ(proof_of(decides).verdict, ProofVerdict::kProved);
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxSharedAtomics,
    testing::Values(Case{"Add", "  red.shared.add.u32 [tile], %r2;\n", 64 * 65 / 2},
                    Case{"AddOfSink", "  atom.shared.add.u32 _, [tile], %r2;\n", 64 * 65 / 2},
                    Case{"AddOfNobody", "  atom.shared.add.u32 %r3, [tile], %r2;\n", 64 * 65 / 2},
                    Case{"AddWide", "  red.shared.add.u64 [tile], %rd6;\n", 0, 64 * 65 / 2 / 4},
                    Case{"Max", "  red.shared.max.u32 [tile], %r2;\n", 64},
                    Case{"Min", "  red.shared.min.s32 [tile], -5;\n", 0xFFFFFFFB},
                    Case{"Or", "  red.shared.or.b32 [tile], %r2;\n", 127},
                    Case{"Xor", "  red.shared.xor.b32 [tile], %r2;\n", 64}),
    [](const auto& one) { return std::string{one.param.name}; });

TEST(PtxSharedAtomics, AResultThatDecidesNothingIsFree) {
  const OneKernel kernel =
      updating("  atom.shared.add.u32 %r3, [tile], 1;\n  st.global.u32 [%rd4+4], %r3;\n");
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

TEST(PtxSharedAtomics, AResultThatDecidesIsUndecided) {
  const std::string decides =
      "  atom.shared.add.u32 %r3, [tile], 1;\n  setp.gt.u32 %p3, %r3, 40;\n"
      "  @%p3 st.global.u32 [%rd4+4], 1;\n";
  EXPECT_EQ(proof_of(updating(decides)).verdict, ProofVerdict::kUndecided);
  Steps alone;
  alone.atomic = decides;
  EXPECT_EQ(proof_of(kernel_of(alone, 32)).verdict, ProofVerdict::kProved);
  // By the warp that comes first here, and would not always.
  EXPECT_EQ(proof_of(updating("  setp.ge.u32 %p4, %r1, 32;\n  @%p4 bra SECOND;\n" + decides +
                              "  bra BOTH;\nSECOND:\n  red.shared.add.u32 [tile], 1;\nBOTH:\n"))
                .verdict,
            ProofVerdict::kUndecided);
}

TEST(PtxSharedAtomics, WhatDependsOnTheirOrderIsUndecidedIfItDecides) {
  for (const char* atomic :
       {"  red.shared.add.f32 [tile], 0f3F800000;\n",
        "  red.shared.add.noftz.f16x2 [tile], 0x3C003C00;\n",
        "  atom.shared.exch.b32 _, [tile], %r1;\n",
        "  atom.shared.cas.b32 _, [tile], 0, %r1;\n",
        "  red.shared.inc.u32 [tile], 50;\n",
        "  red.shared.add.u32 [tile], 3;\n  red.shared.max.u32 [tile], 9;\n"}) {
    const OneKernel free = updating(atomic);
    EXPECT_THAT(ids_in(run_of(free).result), IsEmpty()) << atomic;
    EXPECT_EQ(proof_of(free).verdict, ProofVerdict::kProved) << atomic;
    const OneKernel decides =
        updating(atomic, "  setp.gt.u32 %p2, %r10, 7;\n  @%p2 st.global.u32 [%rd4], %r1;\n");
    EXPECT_EQ(proof_of(decides).verdict, ProofVerdict::kUndecided) << atomic;
  }
}

TEST(PtxSharedAtomics, SumsOfFloatsAreComputed) {
  const OneRun run = run_of(updating("  red.shared.add.f32 [tile], 0f3F800000;\n"));
  EXPECT_EQ(std::bit_cast<float>(run.out[0]), 64.0F);
}

TEST(PtxSharedAtomics, SumsOfDataAreProved) {
  const std::string sum = "  ld.global.f32 %f1, [%rd1];\n  red.shared.add.f32 [tile], %f1;\n";
  OneKernel kernel = updating(sum);
  kernel.control = false;
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_FALSE(proof.data_decides);
}

// What is no atomic is ordered with each of them.
TEST(PtxSharedAtomics, RaceWithOtherAccesses) {
  Steps steps;
  steps.atomic = "  red.shared.add.u32 [tile], 1;\n";
  Steps early = steps;
  early.met.clear();
  EXPECT_THAT(ids_in(proof_of(kernel_of(early))), Contains("SMEM_RACE"));
  Steps late = steps;
  late.meet.clear();
  EXPECT_THAT(ids_in(proof_of(kernel_of(late))), Contains("SMEM_RACE"));
  Steps store = steps;
  store.atomic =
      "  setp.ge.u32 %p4, %r1, 32;\n  @%p4 red.shared.add.u32 [tile], 1;\n"
      "  setp.eq.u32 %p5, %r1, 3;\n  @%p5 st.shared.u32 [tile], 9;\n";
  EXPECT_THAT(ids_in(proof_of(kernel_of(store))), Contains("SMEM_RACE"));
  EXPECT_EQ(proof_of(kernel_of(steps)).verdict, ProofVerdict::kProved);
}

// Each CTA of a cluster adds to a word of the first.
TEST(PtxSharedAtomics, OfTwoCtasAreAtomicInAScopeThatHasBoth) {
  const auto adding = [](const std::string& scope, const std::string& first = "") {
    const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
    OneKernel kernel;
    kernel.ctas = kernel.cluster = 2;
    kernel.body =
        "  mov.u32 %r2, %cluster_ctarank;\n  mov.u32 %r3, tile;\n  mov.u32 %r4, 0;\n"
        "  mapa.shared::cluster.u32 %r3, %r3, %r4;\n  or.b32 %r5, %r1, %r2;\n"
        "  setp.eq.u32 %p1, %r5, 0;\n  setp.eq.u32 %p2, %r1, 0;\n"
        "  @%p1 st.shared.u32 [tile], %r4;\n" +
        meet + first + "  @%p2 red.relaxed." + scope + ".shared::cluster.add.u32 [%r3], 1;\n" +
        meet;
    return kernel;
  };
  expect_proved(adding("cluster"));
  expect_proved(adding("gpu"));
  expect_found(adding("cta"), "SMEM_RACE");
  EXPECT_THAT(lines_of(proof_of(adding("cta")).run.findings.at(0)),
              Contains(HasSubstr("one of scope .cta")));
  // What comes behind it by the same lane does not hide it.
  const std::string narrow = "  @%p1 red.relaxed.cta.shared::cluster.add.u32 [%r3], 1;\n";
  expect_found(adding("cluster", narrow), "SMEM_RACE");
}

// A warp's own atomic, or its store of the same, does not say that the other warp's is over.
TEST(PtxSharedAtomics, OfTwoWarpsAreInNoOrder) {
  const auto two = [](const std::string& both, const std::string& then) {
    OneKernel kernel;
    kernel.threads = 64;
    kernel.body =
        "  setp.ne.u32 %p1, %r1, 0;\n  mov.u32 %r2, 0;\n  @!%p1 st.shared.u32 [tile], %r2;\n"
        "  bar.sync 0;\n  and.b32 %r3, %r1, 31;\n  setp.ne.u32 %p2, %r3, 0;\n  mov.u32 %r4, 7;\n" +
        both + then;
    return ids_in(proof_of(kernel));
  };
  const std::string load = "  @!%p1 ld.shared.u32 %r5, [tile];\n";
  const std::string add = "  @!%p2 red.shared.add.u32 [tile], 1;\n";
  EXPECT_THAT(two(add, load), Contains("SMEM_RACE"));
  EXPECT_THAT(two(add, "  bar.sync 0;\n" + load), IsEmpty());
  const std::string same = "  @!%p2 st.shared.u32 [tile], %r4;\n";
  const std::string other = "  @!%p1 st.shared.u32 [tile], %r2;\n";
  EXPECT_THAT(two(same, other), Contains("SMEM_RACE"));
  EXPECT_THAT(two(same, "  bar.sync 0;\n" + other), IsEmpty());
}

}  // namespace warptwin::sim::shared_atomics_test
