/// A ring of stages between two kinds of warps of one CTA: the base of every pipeline.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/stage.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

template <Machine M, class Producer, class... Consumers>
class ProducerConsumerPipeline;

/// A ring's barriers and the tiles they guard; `tile_bytes` is 0 for a ring that only orders.
template <class Producer, class... Consumers>
struct RingStorage {
  template <Machine M>
  using Pipeline = ProducerConsumerPipeline<M, Producer, Consumers...>;  // one warp's view

  /// Asks `layout` for the tiles, if any, each aligned to `alignment` bytes, and then for the
  /// barriers, whose counts follow from the participants and `roles`. A ring without stages is
  /// refused (`check_storage_roles`), unless it `may_be_empty`: then nobody uses it.
  template <class Layout, std::uint32_t kRows>
  constexpr RingStorage(Layout& layout,
                        const char* owner,
                        RoleTable<kRows> roles,
                        std::uint32_t stages,
                        std::uint32_t tile_bytes = 0,
                        std::uint32_t alignment = 128,
                        bool may_be_empty = false)
      : tiles{tile_bytes == 0 ? SharedAddress{}
                              : layout.tiles({owner, "tile"}, stages, tile_bytes, alignment)},
        stride{align_up(tile_bytes, alignment)},
        stage_bytes{tile_bytes},
        barriers{layout,
                 owner,
                 stages,
                 full_contract<Producer, FirstConsumer<Consumers...>>(roles, tile_bytes),
                 empty_contract<Producer, Consumers...>(roles)} {
    layout.ring({owner, barriers.full, barriers.empty, stages, tiles, stride, may_be_empty});
  }

  /// Initialises the barriers. Participants: one elected lane of one warp, before anyone uses them.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
  }
  /// The address of a stage's tile. Requires: the ring has tiles.
  constexpr SharedAddress tile(std::uint32_t index) const { return tiles + index * stride; }

  SharedAddress tiles;        // of stage 0; 0 in a ring without tiles
  std::uint32_t stride;       // bytes from a stage's tile to the next's
  std::uint32_t stage_bytes;  // that a kTmaBytes producer arms with: one tile
  BarrierPair barriers;       // full and empty, one of each for a stage
};

/// One warp's view of a ring; each role that uses it makes its own and is one side of it.
///
/// A name says whom a wait is for: `wait_producer` is the consumer's wait for full, `wait_consumer`
/// the producer's wait for empty. `producer_mbar` is what the producer signals: full.
///
/// An acquire steps the state, and the handle keeps its own stage and lap: several stages can be
/// held, and released late. A kTmaBytes producer's acquire also arms the full barrier with the
/// stage's bytes.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       acquire_*, produce, consume*, wait_*, *_signal_and_step; nothing else.
template <Machine M, class Producer, class... Consumers>
class ProducerConsumerPipeline {
 public:
  using Storage = RingStorage<Producer, Consumers...>;  // what the view refers to
  using DefaultConsumer = FirstConsumer<Consumers...>;  // the first that was declared

  /// Both sides begin at the stage where `turn` does. `machine` and `storage` must outlive the
  /// view.
  constexpr ProducerConsumerPipeline(M& machine, const Storage& storage, RingTurn turn = {})
      : machine_{&machine},
        storage_{&storage},
        turn_{turn},
        producer_{turn.begin()},
        consumer_{turn.begin()} {}

  // Linear: the handle must be released.

  /// Waits empty, arms full where bytes complete it, and steps.
  constexpr ProducerStage<M, Producer> acquire_producer(SourceSite site = SourceSite::current()) {
    return acquire_producer(ProducerToken{}, site);
  }
  /// The same; does not wait where `token` says that this very stage is free.
  constexpr ProducerStage<M, Producer> acquire_producer(ProducerToken token,
                                                        SourceSite site = SourceSite::current()) {
    wait_consumer_if_needed(token, site);
    const PipelineState state = producer_;
    producer_step();
    if constexpr (Producer::kKind == ArrivalKind::kTmaBytes) {
      arm(*machine_, producer_mbar(state.index), storage_->stage_bytes, site);
    }
    return {claim(StageStep::kProducerAcquired, state, site), producer_mbar(state.index)};
  }

  /// Waits full, and steps. `As`: which of the declared consumers the warp is; others do not
  /// compile.
  template <class As = DefaultConsumer>
  constexpr ConsumerStage<M, As> acquire_consumer(SourceSite site = SourceSite::current()) {
    return acquire_consumer<As>(ConsumerToken{}, site);
  }
  /// The same; does not wait where `token` says that this very stage is full.
  template <class As = DefaultConsumer>
  constexpr ConsumerStage<M, As> acquire_consumer(ConsumerToken token,
                                                  SourceSite site = SourceSite::current()) {
    static_assert(kIsOneOf<As, Consumers...>, "a ring is consumed by those it was declared with");
    wait_producer_if_needed(token, site);
    const PipelineState state = consumer_;
    consumer_step();
    return {claim(StageStep::kConsumerAcquired, state, site), consumer_mbar(state.index)};
  }

  // Scoped: the stage is released when the scope ends.

  /// `acquire_producer` for a scope: the end of it releases.
  constexpr ProduceContext<M, Producer> produce(SourceSite site = SourceSite::current()) {
    return scoped(acquire_producer(site), site);
  }
  /// `acquire_consumer` for a scope: the end of it releases, with the consumer's arrival.
  template <class As = DefaultConsumer>
  constexpr ConsumeContext<M, As> consume(SourceSite site = SourceSite::current()) {
    return scoped(acquire_consumer<As>(site), site);
  }
  /// `acquire_consumer` for a scope whose body makes the arrival: the end of it makes none.
  template <class As = DefaultConsumer>
  constexpr ExplicitConsumeContext<M, As> consume_explicit(
      SourceSite site = SourceSite::current()) {
    return scoped<ScopeEnd::kReleaseWithoutSignal>(acquire_consumer<As>(site), site);
  }

  // Probes: a token says what was found, and to whose wait it belongs. No state changes.

  /// The producer's: whether its next stage is free now, by one `mbarrier.try_wait`.
  constexpr ProducerToken try_wait_consumer(SourceSite site = SourceSite::current()) const {
    return {producer_,
            machine_->mbarrier_try_wait_parity(
                consumer_mbar(producer_.index), producer_.empty_phase(), kAcquireCta, site)};
  }
  /// The consumer's: whether its next stage is full now, by one `mbarrier.try_wait`.
  constexpr ConsumerToken try_wait_producer(SourceSite site = SourceSite::current()) const {
    return {consumer_,
            machine_->mbarrier_try_wait_parity(
                producer_mbar(consumer_.index), consumer_.full_phase(), kAcquireCta, site)};
  }

  // Direct: waits, steps and barriers by hand.

  /// The producer's: blocks until its next stage is free. It neither arms nor steps.
  constexpr void wait_consumer(SourceSite site = SourceSite::current()) const {
    acquire(*machine_, consumer_mbar(producer_.index), producer_.empty_phase(), kAcquireCta, site);
  }
  /// The consumer's: blocks until its next stage is full. It does not step.
  constexpr void wait_producer(SourceSite site = SourceSite::current()) const {
    acquire(*machine_, producer_mbar(consumer_.index), consumer_.full_phase(), kAcquireCta, site);
  }
  /// Waits unless the token says that this very stage is free. A stale token is not believed.
  constexpr void wait_consumer_if_needed(ProducerToken token,
                                         SourceSite site = SourceSite::current()) const {
    if (token.ready && token.probed == producer_) {
      machine_->sync_warp(site);
    } else {
      wait_consumer(site);
    }
  }
  /// The same of a consumer, for a stage that is full.
  constexpr void wait_producer_if_needed(ConsumerToken token,
                                         SourceSite site = SourceSite::current()) const {
    if (token.ready && token.probed == consumer_) {
      machine_->sync_warp(site);
    } else {
      wait_producer(site);
    }
  }
  /// The stage that the producer's next acquire or wait is for.
  constexpr std::uint32_t producer_stage() const { return producer_.index; }
  /// The stage that the consumer's next acquire or wait is for.
  constexpr std::uint32_t consumer_stage() const { return consumer_.index; }
  /// The full barrier of a stage: the producer signals it.
  constexpr Mbarrier producer_mbar(std::uint32_t stage) const {
    return storage_->barriers.full[stage];
  }
  /// The empty barrier of a stage: the consumers signal it.
  constexpr Mbarrier consumer_mbar(std::uint32_t stage) const {
    return storage_->barriers.empty[stage];
  }
  constexpr void producer_step() { turn_.step(producer_, stages()); }  // on to its next stage
  constexpr void consumer_step() { turn_.step(consumer_, stages()); }  // on to its next stage

  /// One turn of a ring that only throttles: acquire and release at once.
  constexpr void producer_signal_and_step(SourceSite site = SourceSite::current()) {
    acquire_producer(site).release(site);
  }
  /// The same of a consumer.
  template <class As = DefaultConsumer>
  constexpr void consumer_signal_and_step(SourceSite site = SourceSite::current()) {
    acquire_consumer<As>(site).release(site);
  }
  /// Waits until every stage this producer filled has been freed.
  constexpr void drain(SourceSite site = SourceSite::current()) {
    for (std::uint32_t i = 0; i < stages(); i += turn_.of) {
      wait_consumer(site);
      producer_step();
    }
  }

  constexpr M& machine() const { return *machine_; }              // of the calling warp
  constexpr const Storage& storage() const { return *storage_; }  // what the view refers to
  constexpr std::uint32_t stages() const { return storage_->barriers.stages; }  // of the ring

 private:
  constexpr StageClaim<M> claim(StageStep step, PipelineState state, SourceSite site) const {
    StageClaim<M> claim{*machine_, storage_->barriers.note(step, state, site)};
    claim.note(step);
    return claim;
  }

  M* machine_;
  const Storage* storage_;
  RingTurn turn_;
  PipelineState producer_;
  PipelineState consumer_;
};

}  // namespace warptwin
