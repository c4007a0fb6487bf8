/// Lets the operand loads of a tile go before its epilogue-source loads.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

/// Tiles the load warp may be ahead of the epilogue-load warp.
inline constexpr std::uint32_t kLoadOrderStages = 2;

/// One elected lane of each side arrives.
using LoadOrderBarrierStorage =
    RingStorage<From<Role::kLoad, ElectedLane>, To<Role::kEpilogueLoad, ElectedLane>>;

/// A ring that carries no data, from the load warp to the epilogue-load warp, one turn per tile.
///
/// It has an empty side: the load warp cannot get more than the ring's stages ahead. With a full
/// barrier alone it could lap a slow waiter, which would then wait for a parity that has come and
/// gone.
template <Machine M>
class LoadOrderBarrier {
 public:
  using Storage = LoadOrderBarrierStorage;                    // barriers, and no tiles
  using Ring = PipelineOf<M, Storage>;                        // one warp's view of them
  static constexpr std::uint32_t kStages = kLoadOrderStages;  // tiles the load warp may be ahead

  /// Begins at the first tile, on either side. Both arguments must outlive it.
  constexpr LoadOrderBarrier(M& machine, const Storage& storage) : ring_{machine, storage} {}

  /// Participants: the load warp, once per tile, after its first loads.
  /// Blocks:       while the epilogue-load warp is kStages tiles behind.
  constexpr void arrive_and_step(SourceSite site = SourceSite::current()) {
    ring_.producer_signal_and_step(site);
  }
  /// Participants: the epilogue-load warp, once per tile. Blocks: until the load warp has arrived.
  constexpr void wait_and_step(SourceSite site = SourceSite::current()) {
    ring_.consumer_signal_and_step(site);
  }

 private:
  Ring ring_;
};

}  // namespace warptwin
