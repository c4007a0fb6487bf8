#include "common/pipeline/pipeline_state.hpp"

#include <gtest/gtest.h>

namespace warptwin::pipeline_state_test {
namespace {

TEST(PipelineState, StageAndLapMoveTogether) {
  PipelineState state;
  state.step(2);
  EXPECT_EQ(state, (PipelineState{1, 0}));
  state.step(2);
  EXPECT_EQ(state, (PipelineState{0, 1}));
}

TEST(PipelineState, ARingOfOneStageLapsAtEveryStep) {
  PipelineState state;
  state.step(1);
  EXPECT_EQ(state, (PipelineState{0, 1}));
}

TEST(PipelineState, AdvancesAsBySoManySteps) {
  for (std::uint32_t stages = 1; stages <= 4; ++stages) {
    for (std::uint32_t count = 0; count <= 3 * stages; ++count) {
      for (std::uint32_t begin = 0; begin < stages; ++begin) {
        PipelineState at_once{begin, 3};
        PipelineState one_by_one = at_once;
        at_once.advance(count, stages);
        for (std::uint32_t i = 0; i < count; ++i) {
          one_by_one.step(stages);
        }
        EXPECT_EQ(at_once, one_by_one) << count << " from " << begin << " of " << stages;
      }
    }
  }
}

TEST(PipelineState, TheOneBeforeStepsToIt) {
  for (std::uint32_t stages = 1; stages <= 4; ++stages) {
    PipelineState state{0, 3};
    for (std::uint32_t i = 0; i < 2 * stages; ++i) {
      PipelineState next = state;
      next.step(stages);
      EXPECT_EQ(next.before(stages), state) << i << " of " << stages;
      state = next;
    }
  }
}

// What a producer waits for before it fills a stage anew frees that of the lap before.
TEST(PipelineState, AStageIsFreedByThePhaseThatTheNextLapWaitsFor) {
  const PipelineState filled{1, 3};
  PipelineState again = filled;
  again.advance(4, 4);
  EXPECT_EQ(filled.freed_phase().value(), again.empty_phase().value());
  EXPECT_EQ(filled.freed_phase().parity(), again.empty_phase().parity());
}

TEST(PipelineState, TheFirstLapFindsItsStagesEmpty) {
  const PipelineState state;
  EXPECT_EQ(state.full_phase().parity(), 0U);
  EXPECT_EQ(state.empty_phase().parity(), 1U);  // phase -1: complete on a fresh barrier
}

TEST(PipelineState, AProducerWaitsForThePhaseBeforeItsConsumers) {
  const PipelineState state{0, 3};
  EXPECT_EQ(state.full_phase().value(), 3U);
  EXPECT_EQ(state.empty_phase().value(), 2U);
}

}  // namespace
}  // namespace warptwin::pipeline_state_test
