/// The accumulators that the cases of this folder misuse.

#pragma once

#include <utility>

#include "common/tile/output_tile_pipeline.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::tests {

using Accumulators = OutputTilePipeline<RecordingMachine,
                                        From<Role::kMma, UmmaCommit>,
                                        To<Role::kEpilogue, EveryLane>>;

}  // namespace warptwin::tests
