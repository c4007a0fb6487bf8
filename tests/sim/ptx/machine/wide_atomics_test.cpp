// atom.exch and .cas of 128 bits, in global and in shared memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::wide_atomics_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Thread 0 is %p1, %q1 is {5, 6, 7, 8} and %q2 {1, 2, 3, 4}, as `in` is; %q3 is what it finds.
OneKernel exchanging(const std::string& text) {
  OneKernel kernel;
  kernel.in = {1, 2, 3, 4, 9, 9, 9, 9};
  kernel.out_words = 8;
  kernel.body =
      "  .reg .b128 %q<8>;\n  setp.eq.u32 %p1, %r1, 0;\n"
      "  mov.b64 %rd10, 0x0000000600000005;\n  mov.b64 %rd11, 0x0000000800000007;\n"
      "  mov.b64 %rd12, 0x0000000200000001;\n  mov.b64 %rd13, 0x0000000400000003;\n"
      "  mov.b128 %q1, {%rd10, %rd11};\n  mov.b128 %q2, {%rd12, %rd13};\n" +
      text;
  return kernel;
}

// What it has found, and what is there then.
constexpr char kLeave[] =
    "  mov.b128 {%rd14, %rd15}, %q3;\n  @%p1 st.global.v2.b64 [%rd2], {%rd14, %rd15};\n"
    "  bar.warp.sync -1;\n  @%p1 ld.global.v2.b64 {%rd14, %rd15}, [%rd1];\n"
    "  @%p1 st.global.v2.b64 [%rd2+16], {%rd14, %rd15};\n";

TEST(PtxWideAtomics, ExchangeSixteenBytes) {
  const OneKernel kernel =
      exchanging(std::string{"  @%p1 atom.global.exch.b128 %q3, [%rd1], %q1;\n"} + kLeave);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_THAT(run.out, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  expect_proved(kernel);
}

TEST(PtxWideAtomics, CompareAllSixteen) {
  const auto found = [](const char* expected) {
    return run_of(exchanging("  @%p1 atom.relaxed.gpu.global.cas.b128 %q3, [%rd1], " +
                             std::string{expected} + ", %q1;\n" + kLeave))
        .out;
  };
  EXPECT_THAT(found("%q2"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(found("%q1"), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

TEST(PtxWideAtomics, AreOfSharedMemoryToo) {
  const OneKernel kernel = exchanging(
      "  @%p1 st.shared.v2.b64 [tile], {%rd12, %rd13};\n"
      "  @%p1 atom.shared.cas.b128 %q3, [tile], %q2, %q1;\n"
      "  mov.b128 {%rd14, %rd15}, %q3;\n  @%p1 st.global.v2.b64 [%rd2], {%rd14, %rd15};\n"
      "  @%p1 ld.shared.v2.b64 {%rd14, %rd15}, [tile];\n"
      "  @%p1 st.global.v2.b64 [%rd2+16], {%rd14, %rd15};\n");
  EXPECT_THAT(run_of(kernel).out, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  expect_proved(kernel);
}

// The upper half of what is found decides.
OneKernel deciding(const std::string& upper) {
  return exchanging("  mov.b64 %rd16, " + upper +
                    ";\n  @!%p1 bra END;\n  st.global.v2.b64 [%rd1], {%rd10, %rd16};\n"
                    "  atom.global.exch.b128 %q3, [%rd1], %q1;\n"
                    "  mov.b128 {%rd14, %rd15}, %q3;\n  setp.ne.u64 %p9, %rd15, 3;\n"
                    "  @%p9 trap;\nEND:\n");
}

TEST(PtxWideAtomics, KeepWhatNobodyKnows) {
  expect_proved(deciding("3"));
  EXPECT_THAT([] { proof_of(deciding("%clock64")); },
              ThrowsMessage<ConfigError>(HasSubstr("what is executed next depends on")));
}

TEST(PtxWideAtomics, LieAtMultiplesOfSixteen) {
  expect_found(exchanging("  @%p1 atom.global.exch.b128 %q3, [%rd1+8], %q1;\n"), "WORD_MISALIGNED");
  expect_found(exchanging("  @%p1 atom.global.exch.b128 %q3, [%rd1+32], %q1;\n"), "WORD_OOB");
}

OneKernel of_two_warps(const char* second) {
  OneKernel kernel = exchanging(
      "  setp.eq.u32 %p2, %r1, 32;\n"
      "  @%p1 atom.global.exch.b128 %q3, [%rd1], %q1;\n" +
      std::string{second});
  kernel.threads = 64;
  return kernel;
}

// Which of two is the last one shows in the word. Those of other sizes are not atomic to it.
TEST(PtxWideAtomics, OfTwoWarps) {
  expect_undecided(of_two_warps("  @%p2 atom.global.exch.b128 %q3, [%rd1], %q2;\n"), "");
  for (const char* other : {"  @%p2 atom.global.exch.b64 %rd14, [%rd1+8], %rd10;\n",
                            "  @%p2 red.global.add.u32 [%rd1+12], %r1;\n",
                            "  @%p2 st.global.u32 [%rd1+12], %r1;\n"}) {
    expect_found(of_two_warps(other), "GMEM_RACE");
  }
  expect_proved(of_two_warps("  @%p2 atom.global.exch.b128 %q3, [%rd1+16], %q2;\n"));
  expect_proved(
      of_two_warps("  bar.sync 0;\n  @%p2 atom.global.exch.b64 %rd14, [%rd1+8], %rd10;\n"));
}

// PTX has no other operation on them.
TEST(PtxWideAtomics, DoNotAdd) {
  EXPECT_THAT([] { proof_of(exchanging("  @%p1 atom.global.and.b128 %q3, [%rd1], %q1;\n")); },
              ThrowsMessage<ConfigError>(HasSubstr("of 128 bits .exch and .cas are")));
}

}  // namespace warptwin::sim::wide_atomics_test
