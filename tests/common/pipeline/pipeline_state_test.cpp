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
