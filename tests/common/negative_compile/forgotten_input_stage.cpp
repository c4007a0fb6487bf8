// expect: invalid invocation of method '~InputProducerStage.*' on object 'stage' while it is in the 'unconsumed' state

#include "common/tile/input_tile_pipeline.hpp"

#include "tests/common/negative_compile/ring.hpp"

using Input =
    warptwin::InputTilePipeline<warptwin::tests::RecordingMachine,
                                warptwin::StandardTilePayload<warptwin::bf16, warptwin::bf16>,
                                warptwin::From<warptwin::Role::kLoad, warptwin::TmaBytes>,
                                warptwin::To<warptwin::Role::kMma, warptwin::UmmaCommit>>;

void load(Input& input) {
  auto stage = input.acquire_producer();
}
