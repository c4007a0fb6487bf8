// Words that several change by atomics: what they hold where they do not all do the same, who may
// be waited for by them, which of them are one word, and what is known of them where data goes in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::word_changes_test {

using testing::Contains;
using testing::HasSubstr;

// What thread `thread` alone does.
std::string by(std::uint32_t thread, const std::string& text) {
  const std::string label = "BY" + std::to_string(thread);
  return "  setp.ne.u32 %p1, %r1, " + std::to_string(thread) + ";\n  @%p1 bra " + label + ";\n" +
         text + label + ":\n";
}

// What the one thread of CTA `cta` does.
std::string in(std::uint32_t cta, const std::string& text) {
  const std::string label = "IN" + std::to_string(cta);
  return "  setp.ne.u32 %p1, %r8, " + std::to_string(cta) + ";\n  @%p1 bra " + label + ";\n" +
         text + label + ":\n";
}

constexpr char kMeet[] = "  bar.sync 0;\n";

// Goes wrong where the word of `in`, or of `tile`, is another than `word`.
std::string trap_unless(std::uint32_t word, const char* from = "global.u32 %r9, [%rd1]") {
  return std::string{"  ld."} + from + ";\n  setp.eq.u32 %p2, %r9, " + std::to_string(word) +
         ";\n  @%p2 bra END;\n  trap;\nEND:\n";
}

// One thread of each of two warps changes in[0], which is 3, by an atomic; then all ask for it.
OneKernel changing(const std::string& first, const std::string& second, std::uint32_t word) {
  return {
      .body = by(0, "  " + first + "\n") + by(32, "  " + second + "\n") + kMeet + trap_unless(word),
      .in = {3, 0, 0, 0},
      .threads = 64};
}

void expect_open(const OneKernel& kernel, const char* reason) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kUndecided) << kernel.body << proof.strength();
  std::string reasons;
  for (const Undecided& open : proof.undecided) {
    reasons += open.reason + "\n";
  }
  EXPECT_THAT(reasons, HasSubstr(reason)) << kernel.body;
}

// 3 & 1 | 4 is 5, and (3 | 4) & 1 is 1.
TEST(PtxWordChanges, OfTwoKindsAreInSomeOrder) {
  const char* const why = "which of two atomics is first";
  expect_open(changing("red.global.and.b32 [%rd1], 1;", "red.global.or.b32 [%rd1], 4;", 5), why);
  expect_open(changing("red.global.min.u32 [%rd1], 1;", "red.global.max.u32 [%rd1], 4;", 4), why);
  expect_open(changing("red.global.add.u32 [%rd1], 1;", "red.global.xor.b32 [%rd1], 1;", 5), why);
  expect_open(changing("mov.u32 %r4, -1;\n  red.global.max.s32 [%rd1], %r4;",
                       "mov.u32 %r4, -1;\n  red.global.max.u32 [%rd1], %r4;",
                       0xFFFFFFFFU),
              why);
  expect_proved(changing("red.global.and.b32 [%rd1], 1;", "red.global.and.b32 [%rd1], 2;", 0));
  expect_proved(changing("red.global.add.u32 [%rd1], 1;", "red.global.add.u32 [%rd1], 4;", 8));
  // Where one comes after the other it is known what they leave.
  OneKernel ordered = changing("red.global.and.b32 [%rd1], 1;", "", 5);
  ordered.body = by(0, "  red.global.and.b32 [%rd1], 1;\n") + kMeet +
                 by(32, "  red.global.or.b32 [%rd1], 4;\n") + kMeet + trap_unless(5);
  expect_proved(ordered);
}

// CTA 0 stores a word and tells of it by one atomic, CTA 1 changes the flag by another, CTA 2 waits
// for the flag and loads the word.
OneKernel telling(const std::string& first, const std::string& second, std::uint32_t flag) {
  return {.body = "  mov.u32 %r8, %ctaid.x;\n" +
                  in(0, "  st.global.u32 [%rd2], 7;\n  red.release.gpu.global." + first + ";\n") +
                  in(1, "  red.release.gpu.global." + second + ";\n") +
                  in(2,
                     "LOOK:\n  ld.acquire.gpu.global.u32 %r4, [%rd1];\n  setp.ne.u32 %p2, %r4, " +
                         std::to_string(flag) +
                         ";\n  @%p2 bra LOOK;\n  ld.global.u32 %r5, [%rd2];\n"
                         "  st.global.u32 [%rd2+64], %r5;\n"),
          .in = {0, 0, 0, 0},
          .threads = 1,
          .ctas = 3};
}

TEST(PtxWordChanges, ThatAreNoAdditionsTellNotThatAllHaveMadeThem) {
  const char* const why = "may pass before the last of them";
  expect_open(telling("max.u32 [%rd1], 5", "max.u32 [%rd1], 9", 9), why);
  expect_open(telling("max.u32 [%rd1], 5", "max.u32 [%rd1], 5", 5), why);
  expect_open(telling("or.b32 [%rd1], 1", "or.b32 [%rd1], 3", 3), why);
  expect_proved(telling("add.u32 [%rd1], 1", "add.u32 [%rd1], 2", 3));
  // Alone it is told apart from what was there before.
  expect_proved(telling("max.u32 [%rd1], 5", "add.u32 [%rd1+4], 1", 5));
}

// Lane 1 stores a word and releases, lane 0 makes the flag more.
TEST(PtxWordChanges, OfLanesInTurnPassNoWaitBetweenThem) {
  const auto lanes = [](const char* of_lane_1, const char* of_lane_0, const char* flag) {
    const std::string red = "  red.release.gpu.global.";
    return OneKernel{
        .body = "  mov.u32 %r8, %ctaid.x;\n  setp.ne.u32 %p3, %r8, 0;\n  @%p3 bra OTHER;\n" +
                by(1, "  st.global.u32 [%rd2], 7;\n" + red + of_lane_1 + ";\n") +
                by(0, red + of_lane_0 + ";\n") + "  bra END;\nOTHER:\n" +
                by(2,
                   "LOOK:\n  ld.acquire.gpu.global.u32 %r4, [%rd1];\n  setp.ne.u32 %p2, %r4, " +
                       std::string{flag} +
                       ";\n  @%p2 bra LOOK;\n  ld.global.u32 %r5, [%rd2];\n"
                       "  st.global.u32 [%rd2+64], %r5;\n") +
                "END:\n",
        .in = {0, 0, 0, 0},
        .threads = 32,
        .ctas = 2};
  };
  EXPECT_NE(proof_of(lanes("max.u32 [%rd1], 5", "max.u32 [%rd1], 9", "9")).verdict,
            ProofVerdict::kProved);
  EXPECT_EQ(proof_of(lanes("add.u32 [%rd1], 5", "add.u32 [%rd1], 4", "9")).verdict,
            ProofVerdict::kProved);
}

// Lanes of a warp wait for a flag, and change it: one of them may look when others have.
TEST(PtxWordChanges, OfLanesThatWaitComeBehindAMeeting) {
  const auto kernel = [](const std::string& test, const std::string& change) {
    return OneKernel{
        .body = "  mov.u32 %r8, %ctaid.x;\n  setp.ne.u32 %p3, %r8, 0;\n  @%p3 bra OTHER;\n" +
                by(0, "  st.release.gpu.global.u32 [%rd1], 1;\n") +
                "  bra END;\nOTHER:\n  setp.ne.u32 %p4, %r1, 0;\n"
                "LOOK:\n  ld.acquire.gpu.global.u32 %r4, [%rd1];\n  setp." +
                test + ".u32 %p2, %r4, 1;\n  @%p2 bra LOOK;\n" + change + "END:\n",
        .in = {0, 0, 0, 0},
        .threads = 32,
        .ctas = 2};
  };
  const std::string add = "  red.release.gpu.global.add.u32 [%rd1], 1;\n";
  const std::string store = "  @!%p4 st.release.gpu.global.u32 [%rd1], 2;\n";
  const std::string reset = "  @!%p4 st.release.gpu.global.u32 [%rd1], 0;\n";
  const std::string meet = "  bar.warp.sync -1;\n";
  const char* const why = "have not met the others";
  expect_open(kernel("ne", add), why);
  expect_open(kernel("ne", store), why);
  expect_open(kernel("lt", reset), why);
  expect_proved(kernel("ne", meet + add));
  expect_proved(kernel("ne", meet + store));
  expect_proved(kernel("lt", meet + reset));
  // It stays what they wait for.
  EXPECT_EQ(proof_of(kernel("lt", add)).verdict, ProofVerdict::kProved);
}

// An addition of 64 bits carries, one of 32 bits does not.
TEST(PtxWordChanges, OfTwoSizesAreNotAtomicToEachOther) {
  const std::string wide = "  mov.u64 %rd9, 1;\n  red.global.add.u64 [%rd1], %rd9;\n";
  const auto both = [&](const std::string& other) {
    return OneKernel{.body = by(0, wide) + by(32, other) + kMeet, .in = {~0U, 0}, .threads = 64};
  };
  expect_found(both("  red.global.add.u32 [%rd1], 1;\n"), "GMEM_RACE");
  expect_found(both("  red.global.add.u32 [%rd1+4], 1;\n"), "GMEM_RACE");
  expect_proved(both(wide));
  expect_proved(both("  red.global.add.u32 [%rd1+8], 1;\n"));
  const std::string begin =
      "  mov.u64 %rd8, 4294967295;\n" + by(1, "  st.shared.u64 [tile], %rd8;\n") + kMeet;
  const auto shared = [&](const std::string& other) {
    return OneKernel{.body = begin +
                             by(0, "  mov.u64 %rd9, 1;\n  red.shared.add.u64 [tile], %rd9;\n") +
                             by(32, other) + kMeet,
                     .threads = 64};
  };
  expect_found(shared("  red.shared.add.u32 [tile], 1;\n"), "SMEM_RACE");
  expect_found(shared("  red.shared.add.u32 [tile+4], 1;\n"), "SMEM_RACE");
  expect_proved(shared("  mov.u64 %rd9, 1;\n  red.shared.add.u64 [tile], %rd9;\n"));
}

// atom.inc begins anew behind its operand: of a word that holds more, the third finds 1.
TEST(PtxWordChanges, WhoIsLastByIncrementsIsToldWhereNoneBeginsAnew) {
  const auto asking = [](const char* inc, std::uint32_t begin, const char* last) {
    return OneKernel{.body = std::string{"  atom.global.inc.u32 %r4, [%rd1], "} + inc +
                             ";\n  setp.ne.u32 %p1, %r4, " + last +
                             ";\n  @%p1 bra END;\n  trap;\nEND:\n",
                     .in = {begin, 0, 0, 0},
                     .threads = 1,
                     .ctas = 3};
  };
  EXPECT_NE(proof_of(asking("5", 10, "1")).verdict, ProofVerdict::kProved);
  EXPECT_NE(proof_of(asking("2", 2, "1")).verdict, ProofVerdict::kProved);
  expect_proved(asking("5", 0, "3"));  // nobody is told so
  expect_found(asking("5", 0, "2"), "KERNEL_TRAP");
}

// A word of `in`, which every run knows, holds data from here on.
struct Data {
  const char* puts;
  const char* takes;  // to %r9
};
void PrintTo(const Data& data, std::ostream* out) {
  *out << data.puts << data.takes;
}
class PtxWordsOfData : public testing::TestWithParam<Data> {};

TEST_P(PtxWordsOfData, AreNotKnownToWhoLoadsThem) {
  const std::string data = "  ld.global.u32 %r5, [%rd2];\n";
  const auto kernel = [&](const std::string& from) {
    return OneKernel{.body = from + by(0, GetParam().puts) + kMeet + "  mov.u32 %r9, 0;\n" +
                             by(32, GetParam().takes) +
                             "  setp.ne.u32 %p2, %r9, 12346;\n  @%p2 bra END;\n  trap;\nEND:\n",
                     .in = {0, 0, 0, 0},
                     .threads = 64};
  };
  ProofOptions control;
  control.run.moves_data = false;
  control.control_only = true;
  const ScenarioEntry wrong = entry_of(kernel(data));
  EXPECT_THROW(prove(wrong, ParameterSet{wrong.parameters}, control), ConfigError);
  expect_proved(kernel("  mov.u32 %r5, 9;\n"));
}

constexpr Data kData[] = {
    {"  st.global.u32 [%rd1], %r5;\n", "  ld.acquire.gpu.global.u32 %r9, [%rd1];\n"},
    {"  st.global.u32 [%rd1], %r5;\n", "  ld.volatile.global.u32 %r9, [%rd1];\n"},
    {"  st.global.u32 [%rd1], %r5;\n  red.global.add.u32 [%rd1], 1;\n",
     "  ld.global.u32 %r9, [%rd1];\n"},
    {"  red.global.add.u32 [%rd1], %r5;\n  red.release.gpu.global.add.u32 [%rd1], 1;\n",
     "  ld.global.u32 %r9, [%rd1];\n"},
    {"  atom.global.exch.b32 %r6, [%rd1], %r5;\n  red.global.add.u32 [%rd1], 1;\n",
     "  ld.global.u32 %r9, [%rd1];\n"},
};
INSTANTIATE_TEST_SUITE_P(AtThem, PtxWordsOfData, testing::ValuesIn(kData));

TEST(PtxWordsOfDataAndLast, NobodyIsToldByThem) {
  OneKernel kernel{.body =
                       "  ld.global.u32 %r5, [%rd2];\n  st.global.u32 [%rd1], %r5;\n"
                       "  atom.global.add.u32 %r4, [%rd1], 1;\n"
                       "  setp.ne.u32 %p1, %r4, 12345;\n  @%p1 bra END;\n  trap;\nEND:\n",
                   .in = {0, 0, 0, 0},
                   .threads = 1};
  ProofOptions control;
  control.run.moves_data = false;
  control.control_only = true;
  const ScenarioEntry wrong = entry_of(kernel);
  EXPECT_THROW(prove(wrong, ParameterSet{wrong.parameters}, control), ConfigError);
}

}  // namespace warptwin::sim::word_changes_test
