// expect: this epilogue takes a stage for each k step
// gcc: this epilogue takes a stage for each k step

#include "common/tile/output_tile_pipeline.hpp"
#include "common/warp/epilogue_warp.hpp"

#include "tests/common/negative_compile/ring.hpp"

namespace warptwin::tests {

using ReadsScales = To<Role::kEpilogue, ElectedLane>;
using Input = InputTilePipeline<RecordingMachine,
                                GroupPayload<BlockwiseFP8TilePayload<f8e4m3, f8e4m3>, Extent<2>>,
                                From<Role::kLoad, TmaBytes>,
                                To<Role::kMma, UmmaCommit>,
                                ReadsScales>;
using Output = OutputTilePipeline<RecordingMachine,
                                  From<Role::kMma, UmmaCommit>,
                                  To<Role::kEpilogue, EveryLane>>;

void scale(EpilogueWarp<RecordingMachine, Output>& warp, Input& input) {
  auto step = warp.per_k_stage<ReadsScales>(input);
}

}  // namespace warptwin::tests
