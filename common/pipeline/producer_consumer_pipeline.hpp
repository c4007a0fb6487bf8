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
  using Pipeline = ProducerConsumerPipeline<M, Producer, Consumers...>;

  template <class Layout, std::uint32_t kRows>
  constexpr RingStorage(Layout& layout,
                        const char* owner,
                        RoleTable<kRows> roles,
                        std::uint32_t stages,
                        std::uint32_t tile_bytes = 0,
                        std::uint32_t alignment = 128)
      : tiles{tile_bytes == 0 ? SharedAddress{}
                              : layout.tiles({owner, "tile"}, stages, tile_bytes, alignment)},
        stride{align_up(tile_bytes, alignment)},
        stage_bytes{tile_bytes},
        barriers{layout,
                 owner,
                 stages,
                 full_contract<Producer, FirstConsumer<Consumers...>>(roles, tile_bytes),
                 empty_contract<Producer, Consumers...>(roles)} {
    layout.ring({owner, barriers.full, barriers.empty, stages, tiles, stride});
  }

  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
  }
  constexpr SharedAddress tile(std::uint32_t index) const { return tiles + index * stride; }

  SharedAddress tiles;
  std::uint32_t stride;
  std::uint32_t stage_bytes;
  BarrierPair barriers;
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
  using Storage = RingStorage<Producer, Consumers...>;
  using DefaultConsumer = FirstConsumer<Consumers...>;

  constexpr ProducerConsumerPipeline(M& machine, const Storage& storage, RingTurn turn = {})
      : machine_{&machine},
        storage_{&storage},
        turn_{turn},
        producer_{turn.begin()},
        consumer_{turn.begin()} {}

  // Linear: the handle must be released.

  constexpr ProducerStage<M, Producer> acquire_producer(SourceSite site = SourceSite::current()) {
    return acquire_producer(ProducerToken{}, site);
  }
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

  template <class As = DefaultConsumer>
  constexpr ConsumerStage<M, As> acquire_consumer(SourceSite site = SourceSite::current()) {
    return acquire_consumer<As>(ConsumerToken{}, site);
  }
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

  constexpr ProduceContext<M, Producer> produce(SourceSite site = SourceSite::current()) {
    return scoped(acquire_producer(site), site);
  }
  template <class As = DefaultConsumer>
  constexpr ConsumeContext<M, As> consume(SourceSite site = SourceSite::current()) {
    return scoped(acquire_consumer<As>(site), site);
  }
  template <class As = DefaultConsumer>
  constexpr ExplicitConsumeContext<M, As> consume_explicit(
      SourceSite site = SourceSite::current()) {
    return scoped<ScopeEnd::kReleaseWithoutSignal>(acquire_consumer<As>(site), site);
  }

  // Probes: a token says what was found, and to whose wait it belongs. No state changes.

  constexpr ProducerToken try_wait_consumer(SourceSite site = SourceSite::current()) const {
    return {producer_,
            machine_->mbarrier_try_wait_parity(
                consumer_mbar(producer_.index), producer_.empty_phase(), kAcquireCta, site)};
  }
  constexpr ConsumerToken try_wait_producer(SourceSite site = SourceSite::current()) const {
    return {consumer_,
            machine_->mbarrier_try_wait_parity(
                producer_mbar(consumer_.index), consumer_.full_phase(), kAcquireCta, site)};
  }

  // Direct: waits, steps and barriers by hand.

  constexpr void wait_consumer(SourceSite site = SourceSite::current()) const {
    acquire(*machine_, consumer_mbar(producer_.index), producer_.empty_phase(), kAcquireCta, site);
  }
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
  constexpr void wait_producer_if_needed(ConsumerToken token,
                                         SourceSite site = SourceSite::current()) const {
    if (token.ready && token.probed == consumer_) {
      machine_->sync_warp(site);
    } else {
      wait_producer(site);
    }
  }
  /// The stage the next acquire or wait is for.
  constexpr std::uint32_t producer_stage() const { return producer_.index; }
  constexpr std::uint32_t consumer_stage() const { return consumer_.index; }
  constexpr Mbarrier producer_mbar(std::uint32_t stage) const {
    return storage_->barriers.full[stage];
  }
  constexpr Mbarrier consumer_mbar(std::uint32_t stage) const {
    return storage_->barriers.empty[stage];
  }
  constexpr void producer_step() { turn_.step(producer_, stages()); }
  constexpr void consumer_step() { turn_.step(consumer_, stages()); }

  /// One turn of a ring that only throttles: acquire and release at once.
  constexpr void producer_signal_and_step(SourceSite site = SourceSite::current()) {
    acquire_producer(site).release(site);
  }
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

  constexpr M& machine() const { return *machine_; }
  constexpr const Storage& storage() const { return *storage_; }
  constexpr std::uint32_t stages() const { return storage_->barriers.stages; }

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
