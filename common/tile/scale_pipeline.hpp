/// The ring that brings scale factors to tensor memory by way of registers: copies fill a stage of
/// shared memory, other warps store it to tensor memory, MMAs read it there.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/stage.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/block_scale.hpp"

namespace warptwin {

template <Machine M, class Producer, class Writer, class Consumer>
class ScalePipeline;

/// Barrier      Arrivals per phase               Bytes   Completion means
/// full[s]      1, the producer's                tile    the factors are in shared memory
/// stored[s]    the writer's lanes               -       they are in tensor memory
/// empty[s]     1, the commit of the MMAs, and   -       both places may be overwritten
///              a lane of each writing warp
///
/// A stage has its own columns of tensor memory, which its MMAs free. They come after the writer's
/// reads of shared memory, but a commit tells of tcgen05's operations alone, and not of what its
/// warp has waited for: the writer says itself that it has read.
template <class Producer, class Writer, class Consumer>
struct ScalePipelineStorage {
  static_assert(Producer::kKind == ArrivalKind::kTmaBytes, "factors are filled by TMA");
  static_assert(Consumer::kKind == ArrivalKind::kUmmaCommit, "factors are read by the MMA");
  template <Machine M>
  using Pipeline = ScalePipeline<M, Producer, Writer, Consumer>;  // one warp's view
  using Reader = To<Writer::kRole, ElectedLane>;  // of shared memory: the writer, too

  /// Asks `layout` for `stages` tiles of `tile_bytes` and for full, empty and stored barriers. A
  /// ring without stages is refused, unless it `may_be_empty`: then nobody uses it.
  template <class Layout, std::uint32_t kRows>
  constexpr ScalePipelineStorage(Layout& layout,
                                 const char* owner,
                                 RoleTable<kRows> roles,
                                 std::uint32_t stages,
                                 std::uint32_t tile_bytes,
                                 bool may_be_empty = false)
      : tiles{layout.tiles({owner, "tile"}, stages, tile_bytes, kTileAlignment)},
        stage_bytes{tile_bytes},
        barriers{layout,
                 owner,
                 stages,
                 full_contract<Producer, Writer>(roles, tile_bytes),
                 empty_contract<Producer, Consumer, Reader>(roles)},
        stored{layout.barriers({owner, "stored"}, stages, empty_contract<Consumer, Writer>(roles))},
        stored_arrivals{arrivals_of<Writer>(roles)} {
    layout.ring({owner, barriers.full, barriers.empty, stages, tiles, stride(), may_be_empty});
  }

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
    for (std::uint32_t stage = 0; stage < barriers.stages; ++stage) {
      machine.mbarrier_init(stored[stage], stored_arrivals, site);
    }
  }
  /// Bytes from a stage's tile to the next's.
  constexpr std::uint32_t stride() const { return align_up(stage_bytes, kTileAlignment); }
  /// Block `k` of a stage: the factors of 32 rows in lines of 16 bytes.
  constexpr SharedAddress block(std::uint32_t stage, std::uint32_t k) const {
    return tiles + (stage * stride() + k * kScaleBlockBytes);
  }

  SharedAddress tiles;            // of stage 0
  std::uint32_t stage_bytes;      // of factors: what full expects
  BarrierPair barriers;           // full and empty, one of each for a stage
  MbarrierArray stored;           // one a stage: its factors are in tensor memory
  std::uint32_t stored_arrivals;  // a phase of stored: its count
};

/// Factors in shared memory, on their way to tensor memory. `release` hands them to the MMA, and
/// their place in shared memory back.
template <Machine M, class Storage, class Writer>
class [[nodiscard]] ScaleWriterStage {
 public:
  /// Made by `acquire_writer`.
  constexpr ScaleWriterStage(StageClaim<M> claim, const Storage& storage)
      : claim_{std::move(claim)}, storage_{&storage} {}
  constexpr ScaleWriterStage(ScaleWriterStage&&) = default;  // takes over the duty to release

  constexpr std::uint32_t index() const { return claim_.state().index; }  // in the ring, from 0
  /// The barrier that tells the MMA: `release` arrives as the writer was declared to.
  constexpr Mbarrier stored() const { return storage_->stored[index()]; }
  /// The empty barrier, on which one lane of the warp arrives in `release`.
  constexpr Mbarrier empty() const { return storage_->barriers.empty[index()]; }

  /// Starts to store block `k`, of which each line's word `word` is a row's four factors, to column
  /// `to` of this warp's quarter of the lanes; settle with `tcgen05_wait_st`. Four warps, one of
  /// each quarter, make the four copies that an MMA reads.
  ///
  /// Participants: the whole warp. Blocks: never.
  constexpr void store_block(std::uint32_t k,
                             std::uint32_t word,
                             TmemAddress to,
                             SourceSite site = SourceSite::current()) const {
    M& machine = claim_.machine();
    const std::uint32_t words = 16 / sizeof(std::uint32_t);
    const SharedTile<f32> lines{
        storage_->block(index(), k), kScaleBlockLines, words, Swizzle::kNone};
    typename M::template Fragment<1> factors;
    machine.ld_shared_row(lines, 0, word, factors, site);
    const std::uint32_t quarter = machine.warp_index() % kWarpsPerWarpgroup;
    machine.tcgen05_st_32x32b(to.at_lane(kWarpLanes * quarter), factors, site);
  }

  /// Waits for this warp's stores, and tells the MMA.
  ///
  /// Participants: the whole warp; every warp of the role. Blocks: until they are stored.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      claim_.machine().tcgen05_wait_st(site);
      claim_.machine().tcgen05_fence_before_thread_sync(site);
      arrive_as<Writer::kKind>(claim_.machine(), stored(), site);
      claim_.machine().fence_proxy_async(ProxySpace::kSharedCta, site);  // a copy overwrites it
      arrive_as<Storage::Reader::kKind>(claim_.machine(), empty(), site);
      claim_.note(StageStep::kConsumerReleased);
    }
  }
  /// Gives the stage up without an arrival: they have been made on `stored()` and `empty()`.
  constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kConsumerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
};

/// One warp's view of the ring: it is one of the three.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       acquire_*, drain; nothing else.
template <Machine M, class Producer, class Writer, class Consumer>
class ScalePipeline {
 public:
  using Storage = ScalePipelineStorage<Producer, Writer, Consumer>;  // what the view refers to

  /// Begins at stage 0, whichever of the three the warp is.
  constexpr ScalePipeline(M& machine, const Storage& storage)
      : machine_{&machine}, storage_{&storage} {}

  /// The producer's: waits empty, and arms full with the bytes of the stage.
  constexpr ProducerStage<M, Producer> acquire_producer(SourceSite site = SourceSite::current()) {
    const PipelineState state = step();
    const Mbarrier full = storage_->barriers.full[state.index];
    acquire(
        *machine_, storage_->barriers.empty[state.index], state.empty_phase(), kAcquireCta, site);
    arm(*machine_, full, storage_->stage_bytes, site);
    return {claim(StageStep::kProducerAcquired, state, site), full};
  }
  /// The writer's: waits full. The MMAs that read the stage's columns before are complete: it could
  /// be filled again.
  constexpr ScaleWriterStage<M, Storage, Writer> acquire_writer(
      SourceSite site = SourceSite::current()) {
    const PipelineState state = step();
    acquire(*machine_, storage_->barriers.full[state.index], state.full_phase(), kAcquireCta, site);
    machine_->tcgen05_fence_after_thread_sync(site);
    return {claim(StageStep::kConsumerAcquired, state, site), *storage_};
  }
  /// The MMA's: waits stored. `release` commits to empty.
  constexpr ConsumerStage<M, Consumer> acquire_consumer(SourceSite site = SourceSite::current()) {
    const PipelineState state = step();
    acquire(*machine_, storage_->stored[state.index], state.full_phase(), kAcquireCta, site);
    machine_->tcgen05_fence_after_thread_sync(site);
    return {claim(StageStep::kConsumerAcquired, state, site),
            storage_->barriers.empty[state.index]};
  }
  /// The producer's: waits until every stage it filled has been freed.
  constexpr void drain(SourceSite site = SourceSite::current()) {
    for (std::uint32_t i = 0; i < storage_->barriers.stages; ++i) {
      const PipelineState state = step();
      acquire(
          *machine_, storage_->barriers.empty[state.index], state.empty_phase(), kAcquireCta, site);
    }
  }

 private:
  constexpr PipelineState step() {
    const PipelineState state = state_;
    state_.step(storage_->barriers.stages);
    return state;
  }
  constexpr StageClaim<M> claim(StageStep step, PipelineState state, SourceSite site) const {
    StageClaim<M> claim{*machine_, storage_->barriers.note(step, state, site)};
    claim.note(step);
    return claim;
  }

  M* machine_;
  const Storage* storage_;
  PipelineState state_;
};

}  // namespace warptwin
