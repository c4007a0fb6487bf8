// atom, red, relaxed accesses: values, and what a proof may say where they decide something.

#include <bit>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::atomics_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kEdges[] = {0, 1, 2, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};

struct Atomic {
  const char* name;
  const char* instruction;  // behind atom.global
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> after;
};
void PrintTo(const Atomic& atomic, std::ostream* out) {
  *out << atomic.name;
}

class PtxAtomic : public testing::TestWithParam<Atomic> {};

// Lane l has a word x at in[2 l] and an operand b behind it: the old word and the new one to `out`.
OneKernel each_its_own(const std::string& instruction, bool shared) {
  OneKernel kernel;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    kernel.in.push_back(kEdges[lane % 8]);
    kernel.in.push_back(kEdges[(lane * 5 + lane / 8) % 8]);
  }
  kernel.body =
      "  mul.wide.u32 %rd3, %r1, 8;\n  add.u64 %rd4, %rd1, %rd3;\n  add.u64 %rd5, %rd2, %rd3;\n"
      "  ld.global.u32 %r3, [%rd4+4];\n";
  if (shared) {
    kernel.body +=
        "  mov.u32 %r20, tile;\n  mad.lo.u32 %r20, %r1, 8, %r20;\n"
        "  ld.global.u32 %r4, [%rd4];\n  st.shared.u32 [%r20], %r4;\n"
        "  atom.shared." +
        instruction + ";\n  ld.shared.u32 %r4, [%r20];\n";
  } else {
    kernel.body += "  atom.global." + instruction + ";\n  ld.global.u32 %r4, [%rd4];\n";
  }
  kernel.body += "  st.global.v2.u32 [%rd5], {%r2, %r4};\n";
  return kernel;
}

TEST_P(PtxAtomic, UpdatesAWordAndReturnsWhatItWas) {
  for (const bool shared : {false, true}) {
    std::string text = GetParam().instruction;
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) {
      text.replace(at, 1, shared ? "%r20" : "%rd4");
    }
    const OneKernel kernel = each_its_own(text, shared);
    const OneRun run = run_of(kernel);
    EXPECT_THAT(ids_in(run.result), IsEmpty());
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t x = kernel.in[2 * lane];
      const std::uint32_t b = kernel.in[2 * lane + 1];
      EXPECT_EQ(run.out[2 * lane], x) << lane;
      EXPECT_EQ(run.out[2 * lane + 1], GetParam().after(x, b)) << x << " and " << b;
    }
    EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  }
}

std::int32_t as_signed(std::uint32_t x) {
  return static_cast<std::int32_t>(x);
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    PtxAtomic,
    testing::Values(
        Atomic{"Add", "add.u32 %r2, [@], %r3", [](auto x, auto b) { return x + b; }},
        Atomic{"AddSigned", "add.s32 %r2, [@], %r3", [](auto x, auto b) { return x + b; }},
        Atomic{
            "MinUnsigned", "min.u32 %r2, [@], %r3", [](auto x, auto b) { return x < b ? x : b; }},
        Atomic{
            "MaxUnsigned", "max.u32 %r2, [@], %r3", [](auto x, auto b) { return x > b ? x : b; }},
        Atomic{"MinSigned",
               "min.s32 %r2, [@], %r3",
               [](auto x, auto b) { return as_signed(x) < as_signed(b) ? x : b; }},
        Atomic{"MaxSigned",
               "max.s32 %r2, [@], %r3",
               [](auto x, auto b) { return as_signed(x) > as_signed(b) ? x : b; }},
        Atomic{"And", "and.b32 %r2, [@], %r3", [](auto x, auto b) { return x & b; }},
        Atomic{"Or", "or.b32 %r2, [@], %r3", [](auto x, auto b) { return x | b; }},
        Atomic{"Xor", "xor.b32 %r2, [@], %r3", [](auto x, auto b) { return x ^ b; }},
        Atomic{"Exch", "exch.b32 %r2, [@], %r3", [](auto, auto b) { return b; }},
        Atomic{"Cas", "cas.b32 %r2, [@], %r3, 5", [](auto x, auto b) { return x == b ? 5 : x; }},
        Atomic{"Inc", "inc.u32 %r2, [@], %r3", [](auto x, auto b) { return x >= b ? 0 : x + 1; }},
        Atomic{"Dec",
               "dec.u32 %r2, [@], %r3",
               [](auto x, auto b) { return x == 0 || x > b ? b : x - 1; }}),
    [](const auto& each) { return std::string{each.param.name}; });

TEST(PtxAtomics, OfSixtyFourBitsAndOfF32) {
  OneKernel kernel;
  kernel.in = {0xFFFFFFFF, 1, 0, 0x80000000, std::bit_cast<std::uint32_t>(1.5F), 0, 0, 0};
  kernel.body =
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra DONE;\n"
      "  atom.global.add.u64 %rd3, [%rd1], 2;\n  atom.global.max.s64 %rd4, [%rd1+8], 3;\n"
      "  mov.f32 %f1, 0f40200000;\n  atom.global.add.f32 %f2, [%rd1+16], %f1;\n"
      "  ld.global.v2.u64 {%rd5, %rd6}, [%rd1];\n  ld.global.u32 %r4, [%rd1+16];\n"
      "  st.global.v2.u64 [%rd2], {%rd3, %rd4};\n  st.global.v2.u64 [%rd2+16], {%rd5, %rd6};\n"
      "  mov.b32 %r3, %f2;\n  st.global.v2.u32 [%rd2+32], {%r3, %r4};\nDONE:\n";
  const std::vector<std::uint32_t> out = run_of(kernel).out;
  const std::vector<std::uint32_t> expected{0xFFFFFFFF,
                                            1,
                                            0,
                                            0x80000000,
                                            1,
                                            2,
                                            3,
                                            0,
                                            std::bit_cast<std::uint32_t>(1.5F),
                                            std::bit_cast<std::uint32_t>(4.0F)};
  EXPECT_EQ(std::vector<std::uint32_t>(out.begin(), out.begin() + 10), expected);
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// All threads of two warps do this to the word at %rd1, and that with its result.
OneKernel together(const std::string& atomic, const std::string& use, std::uint32_t threads = 64) {
  OneKernel kernel;
  kernel.threads = threads;
  kernel.in.resize(64);
  kernel.body =
      "  mul.wide.u32 %rd3, %r1, 4;\n  add.u64 %rd3, %rd2, %rd3;\n  " + atomic + ";\n" + use;
  return kernel;
}

constexpr char kBranch[] =
    "  setp.ne.u32 %p1, %r2, 63;\n  @%p1 bra DONE;\n  st.global.u32 [%rd3], %r2;\nDONE:\n";

TEST(PtxAtomics, CountAllThreads) {
  const OneKernel kernel =
      together("red.global.add.u32 [%rd1], 1",
               "  bar.sync 0;\n  ld.global.u32 %r2, [%rd1];\n  st.global.u32 [%rd3], %r2;\n");
  EXPECT_EQ(run_of(kernel).out[40], 64U);
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  // Without the barrier the load finds a part of them.
  const ProofResult raced =
      proof_of(together("red.global.add.u32 [%rd1], 1", "  ld.global.u32 %r2, [%rd1];\n"));
  EXPECT_NE(raced.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(raced), Contains("GMEM_RACE"));
}

TEST(PtxAtomics, WhatTheyFindIsNotProvedToDecideAnything) {
  for (const char* atomic : {"atom.global.add.u32 %r2, [%rd1], 1",
                             "atom.global.inc.u32 %r2, [%rd1], 100",
                             "atom.global.gpu.acq_rel.add.u32 %r2, [%rd1], 1",
                             "atom.global.max.u32 %r2, [%rd1], %r1",
                             "atom.global.exch.b32 %r2, [%rd1], %r1",
                             "atom.global.cas.b32 %r2, [%rd1], 0, %r1"}) {
    EXPECT_EQ(proof_of(together(atomic, kBranch)).verdict, ProofVerdict::kUndecided) << atomic;
    // One warp, whose lanes take turns as in this run.
    EXPECT_EQ(proof_of(together(atomic, kBranch, 32)).verdict, ProofVerdict::kProved) << atomic;
  }
}

// Whoever else writes the word, by whatever, and whether he is before or after.
TEST(PtxAtomics, WhatAnotherWarpLeavesIsNotProvedToDecideAnything) {
  for (const char* other : {"red.global.add.u32 [%rd1], 1",
                            "red.release.gpu.global.add.u32 [%rd1], 1",
                            "st.relaxed.gpu.global.u32 [%rd1], 1",
                            "st.release.gpu.global.u32 [%rd1], 1"}) {
    for (const char* first : {"lt", "ge"}) {
      const OneKernel kernel =
          together("setp." + std::string{first} + ".u32 %p2, %r1, 32",
                   "  @%p2 bra ASK;\n  " + std::string{other} + ";\n  bra DONE;\nASK:\n" +
                       "  atom.global.add.u32 %r2, [%rd1], 1;\n" + kBranch);
      EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kUndecided) << other << first;
    }
  }
}

TEST(PtxAtomics, AnAddressThatOneGivesIsNotProved) {
  const std::string use =
      "  mul.wide.u32 %rd4, %r2, 4;\n  add.u64 %rd4, %rd2, %rd4;\n  st.global.u32 [%rd4], %r1;\n";
  const OneKernel tickets = together("atom.global.add.u32 %r2, [%rd1], 1", use);
  const OneRun run = run_of(tickets);
  EXPECT_THAT(std::vector<std::uint32_t>(run.out.begin(), run.out.begin() + 64),
              testing::IsSupersetOf({0U, 31U, 32U, 63U}));
  EXPECT_EQ(proof_of(tickets).verdict, ProofVerdict::kUndecided);
}

TEST(PtxAtomics, WhatTheyFindMayBeStored) {
  EXPECT_EQ(
      proof_of(together("atom.global.add.u32 %r2, [%rd1], 1", "  st.global.u32 [%rd3], %r2;\n"))
          .verdict,
      ProofVerdict::kProved);
}

TEST(PtxAtomics, WhatTheLastOneLeavesIsNotProved) {
  const std::string use = "  bar.sync 0;\n  ld.global.u32 %r2, [%rd1];\n";
  for (const char* atomic : {"atom.global.exch.b32 %r3, [%rd1], %r1",
                             "atom.global.cas.b32 %r3, [%rd1], 0, %r1",
                             "red.global.add.f32 [%rd1], 0f3f800000"}) {
    EXPECT_EQ(proof_of(together(atomic, use + kBranch)).verdict, ProofVerdict::kUndecided)
        << atomic;
  }
}

// Warp 0 writes a word, warp 1 waits for a flag and reads it.
OneKernel handing_over(const std::string& tell, const std::string& load) {
  return together("setp.ge.u32 %p1, %r1, 32",
                  "  @%p1 bra WAIT;\n  st.global.u32 [%rd3], %r1;\n  bar.warp.sync 0xffffffff;\n"
                  "  setp.ne.u32 %p2, %r1, 0;\n  @%p2 bra DONE;\n  " +
                      tell + ";\n  bra DONE;\nWAIT:\n  " + load +
                      " %r2, [%rd1];\n  setp.ne.u32 %p2, %r2, 1;\n  @%p2 bra WAIT;\n"
                      "  ld.global.u32 %r3, [%rd3+-128];\nDONE:\n");
}

TEST(PtxAtomics, ThatReleaseHandOver) {
  const char* acquire = "ld.acquire.gpu.global.u32";
  EXPECT_EQ(proof_of(handing_over("red.release.gpu.global.add.u32 [%rd1], 1", acquire)).verdict,
            ProofVerdict::kProved);
  EXPECT_EQ(
      proof_of(handing_over("atom.release.gpu.global.add.u32 %r5, [%rd1], 1", acquire)).verdict,
      ProofVerdict::kProved);
}

// Warps 0 and 2 add to a counter, one of them what is given; warp 1 waits for 1.
TEST(PtxAtomics, ThatAddZeroAreNotWaitedFor) {
  const auto adding = [](const std::string& of_warp_2, const std::string& wanted) {
    return together("and.b32 %r4, %r1, 31",
                    "  setp.ne.u32 %p2, %r4, 0;\n  @%p2 bra DONE;\n"
                    "  setp.eq.u32 %p3, %r1, 32;\n  @%p3 bra WAIT;\n"
                    "  setp.eq.u32 %p4, %r1, 0;\n  selp.u32 %r6, 1, " +
                        of_warp_2 +
                        ", %p4;\n  st.global.u32 [%rd3], %r1;\n"
                        "  atom.release.gpu.global.add.u32 %r7, [%rd1], %r6;\n"
                        "  st.global.u32 [%rd3+4], %r7;\n  bra DONE;\nWAIT:\n"
                        "  ld.acquire.gpu.global.u32 %r2, [%rd1];\n  setp.ne.u32 %p5, %r2, " +
                        wanted +
                        ";\n  @%p5 bra WAIT;\n  ld.global.u32 %r3, [%rd3+-128];\n"
                        "  ld.global.u32 %r3, [%rd3+128];\nDONE:\n",
                    96);
  };
  EXPECT_EQ(proof_of(adding("2", "3")).verdict, ProofVerdict::kProved);
  EXPECT_NE(proof_of(adding("0", "1")).verdict, ProofVerdict::kProved);
}

TEST(PtxAtomics, ThatDoNotReleaseHandNothingOver) {
  for (const char* tell : {"red.relaxed.gpu.global.add.u32 [%rd1], 1",
                           "atom.global.add.u32 %r5, [%rd1], 1",
                           "st.relaxed.gpu.global.u32 [%rd1], 1",
                           "st.volatile.global.u32 [%rd1], 1"}) {
    EXPECT_THAT(ids_in(proof_of(handing_over(tell, "ld.acquire.gpu.global.u32"))),
                Contains("GMEM_RACE"))
        << tell;
  }
  for (const char* load : {"ld.relaxed.gpu.global.u32", "ld.volatile.global.u32"}) {
    EXPECT_THAT(ids_in(proof_of(handing_over("st.release.gpu.global.u32 [%rd1], 1", load))),
                Contains("GMEM_RACE"))
        << load;
  }
  EXPECT_THAT(ids_in(proof_of(handing_over("atom.release.gpu.global.exch.b32 %r5, [%rd1], 1",
                                           "ld.acquire.gpu.global.u32"))),
              IsEmpty());
}

TEST(PtxAtomics, RelaxedAccessesOfOneWarpAreProved) {
  EXPECT_EQ(proof_of(together("st.relaxed.gpu.global.u32 [%rd3], %r1",
                              "  ld.volatile.global.u32 %r2, [%rd3];\n" + std::string{kBranch},
                              32))
                .verdict,
            ProofVerdict::kProved);
}

TEST(PtxAtomics, OthersAreRefused) {
  for (const char* atomic : {"red.global.add.noftz.f16 [%rd1], %h1",
                             "atom.acq_rel.gpu.shared.add.u32 %r2, [tile], 1",
                             "ld.relaxed.gpu.global.u64 %rd4, [%rd1]"}) {
    EXPECT_THROW(proof_of(together(atomic, "")), ConfigError) << atomic;
  }
}

// Of words that are data nobody asks in a proof what they are, in whatever order they are summed.
TEST(PtxAtomics, OfDataAreProvedWithoutData) {
  const std::string sums = "  red.global.add.f32 [%rd2], %f1;\n";
  for (const std::string& atomic : {std::string{"  red.global.add.u32 [%rd2], 1;\n"},
                                    "  ld.global.f32 %f1, [%rd1];\n" + sums,
                                    std::string{"  atom.global.exch.b32 %r5, [%rd2], %r1;\n"}}) {
    const auto used = [&](const std::string& use) {
      OneKernel kernel = together("mov.u32 %r9, 0", atomic + "  bar.sync 0;\n" + use);
      kernel.control = false;
      return proof_of(kernel);
    };
    const std::string load = "  ld.global.u32 %r2, [%rd2];\n";
    const ProofResult stored = used(load + "  st.global.u32 [%rd3+256], %r2;\n");
    EXPECT_EQ(stored.verdict, ProofVerdict::kProved) << atomic;
    EXPECT_FALSE(stored.data_decides) << atomic;
    const ProofResult decides = used(load + kBranch);
    EXPECT_TRUE(decides.verdict != ProofVerdict::kProved || decides.data_decides) << atomic;
  }
  // What decides is asked with data: sums of floats of several warps may differ then.
  OneKernel asks = together("ld.global.f32 %f1, [%rd1]",
                            sums + "  bar.sync 0;\n  ld.global.u32 %r2, [%rd2];\n" + kBranch);
  EXPECT_EQ(proof_of(asks).verdict, ProofVerdict::kUndecided);
  asks = together("ld.global.f32 %f1, [%rd1]", sums + "  ld.global.u32 %r2, [%rd2];\n");
  EXPECT_THAT(ids_in(proof_of(asks)), Contains("GMEM_RACE"));
}

// A lock of two warps: whoever comes first, which is not proved.
// What a CTA finds behind its own addition depends on whether the other one has added.
TEST(PtxAtomics, OfOthersDecideWhatIsLoadedBehindOnesOwn) {
  const auto verdict = [](const std::string& adds) {
    OneKernel kernel;
    kernel.ctas = 2;
    kernel.in = {0, 0, 0, 0};
    kernel.body =
        "  mov.u32 %r2, %ctaid.x;\n  setp.ne.u32 %p1, %r2, 0;\n  setp.ne.u32 %p2, %r1, 0;\n"
        "  @%p2 bra END;\n  @%p1 bra OTHER;\n" +
        adds +
        "  bra END;\nOTHER:\n  red.global.add.u32 [%rd1], 1;\n"
        "  ld.relaxed.gpu.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p3, %r3, 2;\n"
        "  @%p3 bra END;\n  st.global.u32 [%rd2], %r3;\nEND:\n";
    return proof_of(kernel).verdict;
  };
  EXPECT_EQ(verdict("  red.global.add.u32 [%rd1], 1;\n"), ProofVerdict::kUndecided);
  EXPECT_EQ(verdict(""), ProofVerdict::kProved);
}

TEST(PtxAtomics, LocksAreNotProved) {
  const OneKernel kernel = together(
      "and.b32 %r4, %r1, 31",
      "  setp.ne.u32 %p1, %r4, 0;\n  @%p1 bra DONE;\nTRY:\n"
      "  atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 0, 1;\n"
      "  setp.ne.u32 %p2, %r2, 0;\n  @%p2 bra TRY;\n"
      "  ld.global.u32 %r3, [%rd1+64];\n  add.u32 %r3, %r3, 1;\n  st.global.u32 [%rd1+64], %r3;\n"
      "  atom.release.gpu.global.exch.b32 %r2, [%rd1], 0;\nDONE:\n");
  EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved);
}

}  // namespace warptwin::sim::atomics_test
