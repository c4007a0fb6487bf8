/// The ring that brings the epilogue its source tiles: bias, residual.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

/// Full: the epilogue-load warp's one arrival and a tile's bytes. Empty: every lane of the
///       epilogue.
///
/// A bias that lanes copy themselves is a ring of its own: From<Role::kEpilogueLoad, EveryLane>.
using EpiLoadPipelineStorage =
    RingStorage<From<Role::kEpilogueLoad, TmaBytes>, To<Role::kEpilogue, EveryLane>>;

/// One warp's view of that ring.
template <Machine M>
using EpiLoadPipeline = PipelineOf<M, EpiLoadPipelineStorage>;

}  // namespace warptwin
