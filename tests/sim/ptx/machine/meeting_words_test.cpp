// A grid that meets by a global word. As cooperative groups have it: each CTA adds, and waits until
// the sign is not the one that its own add has found. Or by counting: each CTA adds 1, and waits
// until all have added as often as itself.

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::meeting_words_test {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

struct Meeting {
  std::string first = "  bar.sync 0;\n";
  std::string add = "  atom.add.release.gpu.global.u32 %r6, [%rd1], %r3;\n";
  std::string load = "  ld.acquire.gpu.global.u32 %r7, [%rd1];\n";
  std::string test = "  xor.b32 %r8, %r7, %r6;\n  setp.gt.s32 %p3, %r8, -1;\n";
  std::string last = "  bar.sync 0;\n";
  std::string behind{};
};

std::string text_of(const Meeting& meeting, const std::string& number) {
  return meeting.first + "  @%p1 bra MET" + number + ";\n" + meeting.add + "POLL" + number + ":\n" +
         meeting.load + meeting.test + "  @%p3 bra POLL" + number + ";\n" + meeting.behind + "MET" +
         number + ":\n" + meeting.last;
}

constexpr std::uint32_t kCtas = 3;
constexpr std::uint32_t kThreads = 64;

// Each thread stores, meets, loads what the next but one warp has stored, meets, and does so again.
// CTA 0 adds `most`, the others 1.
struct Grid {
  std::vector<std::optional<Meeting>> meetings{4, Meeting{}};
  std::string most = "2147483646";
  std::string begin{};
  std::string between{};  // behind the first meeting
  std::uint32_t word = 0;
};

OneKernel grid_of(const Grid& grid) {
  OneKernel kernel;
  kernel.ctas = kCtas;
  kernel.threads = kThreads;
  kernel.in = {grid.word, 0, 0, 0};
  kernel.body =
      "  mov.u32 %r2, %ctaid.x;\n  mad.lo.u32 %r5, %r2, 64, %r1;\n"
      "  mul.wide.u32 %rd4, %r5, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
      "  add.u32 %r10, %r5, 64;\n  rem.u32 %r10, %r10, 192;\n"
      "  mul.wide.u32 %rd4, %r10, 4;\n  add.u64 %rd6, %rd2, %rd4;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  setp.eq.u32 %p2, %r2, 0;\n  selp.u32 %r3, " +
      grid.most + ", 1, %p2;\n" + grid.begin;
  for (std::size_t i = 0; i < grid.meetings.size(); ++i) {
    // What is stored by one is loaded by another behind the meeting, and the other way round.
    kernel.body += i % 2 == 0 ? "  st.global.u32 [%rd5], %r5;\n"
                              : "  ld.global.u32 %r9, [%rd6];\n  add.u32 %r5, %r9, 1000;\n";
    kernel.body += grid.meetings[i] ? text_of(*grid.meetings[i], std::to_string(i)) : "";
    kernel.body += i == 0 ? grid.between : "";
  }
  kernel.body += "LAST:\n";
  return kernel;
}

Grid with(const Meeting& meeting) {
  Grid grid;
  grid.meetings[1] = meeting;
  return grid;
}

void expect_not_proved(const Grid& grid) {
  const ProofResult proof = proof_of(grid_of(grid));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved) << grid_of(grid).body;
}

void expect_found(const Grid& grid, const char* id) {
  const ProofResult proof = proof_of(grid_of(grid));
  EXPECT_EQ(proof.verdict, ProofVerdict::kRefuted) << grid_of(grid).body;
  EXPECT_THAT(ids_in(proof), Contains(id)) << grid_of(grid).body;
}

TEST(PtxMeetingWord, IsABarrierOfTheGrid) {
  for (const std::uint32_t word : {0U, 0x80000000U}) {
    Grid grid;
    grid.word = word;
    const ProofResult proof = proof_of(grid_of(grid));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
    EXPECT_THAT(ids_in(proof), IsEmpty());
    const OneRun run = run_of(grid_of(grid));
    EXPECT_EQ(run.out[0], 1064U);
    EXPECT_EQ(run.out[191], 1063U);
  }
  Meeting by_bit;
  by_bit.test =
      "  xor.b32 %r8, %r7, %r6;\n  and.b32 %r12, %r8, -2147483648;\n  setp.eq.u32 %p3, %r12, 0;\n";
  EXPECT_EQ(proof_of(grid_of(with(by_bit))).verdict, ProofVerdict::kProved);
  Meeting by_fences;
  by_fences.add = "  fence.acq_rel.gpu;\n  atom.relaxed.gpu.global.add.u32 %r6, [%rd1], %r3;\n";
  by_fences.load = "  ld.relaxed.gpu.global.u32 %r7, [%rd1];\n";
  by_fences.behind = "  fence.acq_rel.gpu;\n";
  EXPECT_EQ(proof_of(grid_of(with(by_fences))).verdict, ProofVerdict::kProved);
}

TEST(PtxMeetingWord, HandsOverWhatTheWholeCtaReleasesAndAcquires) {
  expect_found(with({.first = ""}), "GMEM_RACE");
  expect_found(with({.last = ""}), "GMEM_RACE");
  expect_found(with({.add = "  atom.relaxed.gpu.global.add.u32 %r6, [%rd1], %r3;\n"}), "GMEM_RACE");
  expect_found(with({.load = "  ld.relaxed.gpu.global.u32 %r7, [%rd1];\n"}), "GMEM_RACE");
  Grid too_few;
  too_few.meetings[1] = std::nullopt;
  expect_found(too_few, "GMEM_RACE");
}

// CTA 2 is the last to add, and adds again before the others have looked.
TEST(PtxMeetingWord, TellsNothingOfTheNextTime) {
  Grid grid;
  grid.between =
      "  setp.eq.u32 %p4, %r2, 2;\n  @%p4 st.global.u32 [%rd2+2048], %r5;\n"
      "  setp.eq.u32 %p4, %r5, 0;\n  @%p4 ld.global.u32 %r11, [%rd2+2048];\n"
      "  @%p4 st.global.u32 [%rd2+3072], %r11;\n";
  grid.between.replace(grid.between.find("%r2, 2"), 6, "%r5, 128");
  expect_found(grid, "GMEM_RACE");
  Grid later = grid;
  const std::size_t load = grid.between.find("  setp.eq.u32 %p4, %r5, 0");
  later.between = grid.between.substr(0, load) + text_of({}, "X") + grid.between.substr(load);
  EXPECT_EQ(proof_of(grid_of(later)).verdict, ProofVerdict::kProved);
}

TEST(PtxMeetingWord, ThatIsAddedTooLittleIsWaitedForInVain) {
  Grid few;
  few.most = "2147483645";
  expect_found(few, "DEADLOCK");
  Grid one_leaves;
  one_leaves.between = "  setp.eq.u32 %p4, %r2, 1;\n  @%p4 bra LAST;\n";
  expect_found(one_leaves, "DEADLOCK");
}

TEST(PtxMeetingWord, ThatIsUsedOtherwiseIsNotProved) {
  Grid many;
  many.most = "2147483647";
  expect_not_proved(many);
  Grid begun;
  begun.word = 1;
  expect_not_proved(begun);
  expect_not_proved(with({.behind = "  st.global.u32 [%rd2+2048], %r6;\n"}));
  expect_not_proved(with({.test = "  xor.b32 %r8, %r7, %r6;\n  setp.gt.s32 %p3, %r8, -2;\n"}));
  expect_not_proved(with({.test = "  setp.gt.s32 %p3, %r7, -1;\n"}));
  Grid another;
  another.begin = "  setp.eq.u32 %p4, %r5, 70;\n  @%p4 red.relaxed.gpu.global.add.u32 [%rd1], 1;\n";
  expect_not_proved(another);
}

Meeting counted(std::uint32_t times, const std::string& unless = "lt.u32") {
  Meeting meeting;
  meeting.add = "  red.release.gpu.global.add.u32 [%rd1], 1;\n";
  meeting.test = "  setp." + unless + " %p3, %r7, " + std::to_string(kCtas * times) + ";\n";
  return meeting;
}

Grid counting(const std::string& unless = "lt.u32", const std::string& at_last = "lt.u32") {
  Grid grid;
  for (std::uint32_t i = 0; i < grid.meetings.size(); ++i) {
    grid.meetings[i] = counted(i + 1, i + 1 < grid.meetings.size() ? unless : at_last);
  }
  return grid;
}

TEST(PtxMeetingCounter, IsABarrierOfTheGrid) {
  for (const Grid& grid : {counting(), counting("lt.s32", "ne.u32")}) {
    const ProofResult proof = proof_of(grid_of(grid));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << grid_of(grid).body;
    EXPECT_THAT(ids_in(proof), IsEmpty());
    EXPECT_EQ(run_of(grid_of(grid)).out[191], 1063U);
  }
}

TEST(PtxMeetingCounter, HandsOverWhatTheWholeCtaReleasesAndAcquires) {
  Grid apart = counting();
  apart.meetings[1]->first = "";
  expect_found(apart, "GMEM_RACE");
  Grid early = counting();
  early.meetings[1]->last = "";
  expect_found(early, "GMEM_RACE");
  Grid relaxed = counting();
  relaxed.meetings[1]->load = "  ld.relaxed.gpu.global.u32 %r7, [%rd1];\n";
  expect_found(relaxed, "GMEM_RACE");
}

TEST(PtxMeetingCounter, TellsNothingOfTheNextTime) {
  Grid grid = counting();
  grid.between =
      "  setp.eq.u32 %p4, %r5, 128;\n  @%p4 st.global.u32 [%rd2+2048], %r5;\n"
      "  setp.eq.u32 %p4, %r5, 0;\n  @%p4 ld.global.u32 %r11, [%rd2+2048];\n"
      "  @%p4 st.global.u32 [%rd2+3072], %r11;\n";
  expect_found(grid, "GMEM_RACE");
}

TEST(PtxMeetingCounter, ThatMayBePassedEarlyIsNotProved) {
  expect_not_proved(counting("ne.u32"));  // all may be there again before it looks
  Grid low = counting();
  low.meetings[1]->test = "  setp.lt.u32 %p3, %r7, 5;\n";
  expect_not_proved(low);
  Grid high = counting();
  high.meetings[3]->test = "  setp.lt.u32 %p3, %r7, 13;\n";
  expect_found(high, "DEADLOCK");
  Grid ahead = counting();
  ahead.between = "  setp.eq.u32 %p4, %r5, 70;\n  @%p4 red.release.gpu.global.add.u32 [%rd1], 1;\n";
  expect_not_proved(ahead);
}

}  // namespace warptwin::sim::meeting_words_test
