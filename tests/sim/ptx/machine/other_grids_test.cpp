// What a verdict takes for granted of grids before and behind its own: PTX ISA, "griddepcontrol".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::other_grids_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kWait = "  griddepcontrol.wait;\n";
constexpr const char* kStart = "  griddepcontrol.launch_dependents;\n";
constexpr const char* kCopy = "  ld.global.u32 %r5, [%rd1];\n  st.global.u32 [%rd2], %r5;\n";

// Of one lane; `in` is what the grid before writes.
OneKernel copying(const std::string& body) {
  return {.body = body, .threads = 1, .from_grid_before = true};
}

TEST(PtxOtherGrids, AWaitIsNamedWithItsLineAndTheBuffers) {
  const OneKernel waits = copying(std::string{kWait} + kCopy);
  expect_proved(waits);
  const ProofResult proof = proof_of(waits);
  EXPECT_THAT(proof.notes,
              ElementsAre(AllOf(HasSubstr("the grids before this one have ended"),
                                HasSubstr("griddepcontrol.wait at k.ptx:"),
                                HasSubstr("marked from_grid_before: in"))));
  EXPECT_THAT(proof.strength(), HasSubstr("it rests on this: the grids before this one"));
  expect_found(copying(kCopy), "PDL_MISSING_WAIT");
  expect_found(copying(std::string{kCopy} + kWait), "PDL_MISSING_WAIT");
}

TEST(PtxOtherGrids, WhatTheGridBeforeReadsIsNotWrittenBeforeTheWait) {
  const std::string store = "  st.global.u32 [%rd1], %r1;\n";
  const auto kernel = [](const std::string& body) {
    return OneKernel{.body = body, .threads = 1, .read_by_grid_before = true};
  };
  expect_proved(kernel(kWait + store));
  expect_proved(kernel(kCopy + std::string{kWait}));
  expect_found(kernel(store), "PDL_MISSING_WAIT");
  expect_found(kernel(store + kWait), "PDL_MISSING_WAIT");
  expect_found(kernel("  red.global.add.u32 [%rd1], 1;\n"), "PDL_MISSING_WAIT");
  EXPECT_THAT(proof_of(kernel(kWait + store)).notes,
              ElementsAre(HasSubstr("those marked read_by_grid_before: in")));
}

TEST(PtxOtherGrids, AWaitForAGridThatWritesNoBufferSaysSo) {
  OneKernel waits = copying(std::string{kCopy} + kWait);
  waits.from_grid_before = false;
  expect_proved(waits);
  EXPECT_THAT(proof_of(waits).notes,
              ElementsAre(HasSubstr("the launch marks none from_grid_before")));
}

TEST(PtxOtherGrids, WhoLetsAGridStartRestsOnItsWait) {
  OneKernel starts = copying(std::string{kWait} + kCopy + kStart);
  EXPECT_THAT(proof_of(starts).notes,
              ElementsAre(HasSubstr("the grids before this one have ended"),
                          AllOf(HasSubstr("griddepcontrol.launch_dependents at k.ptx:"),
                                HasSubstr("waits for this one before it touches its memory"))));
  // Not executed, and so nothing rests on it.
  OneKernel neither{.body = "  @%p1 bra END;\n" + starts.body + "END:\n", .threads = 1};
  neither.body = "  setp.eq.u32 %p1, %r1, 0;\n" + neither.body;
  expect_proved(neither);
  EXPECT_THAT(proof_of(neither).notes, IsEmpty());
}

}  // namespace warptwin::sim::other_grids_test
