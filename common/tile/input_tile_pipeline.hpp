/// The ring that brings operand tiles to the tensor core: TMA fills a stage, the MMA frees it.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/stage.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/tile/input_pipeline_storage.hpp"
#include "common/tile/input_stage.hpp"

namespace warptwin {

template <class Pipeline>
class InputProducer;
template <class Pipeline>
class InputConsumer;

/// One warp's view of an input ring, for clusters of any shape, single CTAs and pairs.
///
/// Every CTA's producer waits its own empty barriers and copies its slices. Only the leader arms,
/// with the bytes of the whole pair, and only the leader's consumer may acquire: the peer's full
/// barriers stay unused. Where lanes copy, the peer's consumer passes each stage on.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       acquire_*, wait_*, drain_producer; nothing else.
template <Machine M, TilePayload Payload, class Producer, class... Consumers>
class InputTilePipeline {
 public:
  using Storage = InputPipelineStorage<Payload, Producer, Consumers...>;  // what the view refers to
  using DefaultConsumer = FirstConsumer<Consumers...>;   // the first that was declared
  using ProducerStage = InputProducerStage<M, Storage>;  // a stage, while it is filled
  template <class As = DefaultConsumer>
  using ConsumerStage = InputConsumerStage<M, Storage, As>;  // a stage, while it is read
  static_assert(Producer::kKind == ArrivalKind::kTmaBytes || Producer::kByLanes,
                "an input pipeline is filled by TMA, or by copies that lanes make");

  /// Both sides begin at stage 0. `machine` and `storage` must outlive the view.
  constexpr InputTilePipeline(M& machine, const Storage& storage)
      : machine_{&machine}, storage_{&storage} {}

  /// The pipeline as its producer sees it; a warp is one side, so it gives this up.
  constexpr InputProducer<InputTilePipeline> producer() && {
    return InputProducer<InputTilePipeline>{std::move(*this)};
  }
  /// The pipeline as its consumer sees it; it gives this up, too.
  constexpr InputConsumer<InputTilePipeline> consumer() && {
    return InputConsumer<InputTilePipeline>{std::move(*this)};
  }

  // Linear.

  /// Waits empty; in the leader CTA then arms full with the bytes of the group, if any come.
  constexpr ProducerStage acquire_producer(SourceSite site = SourceSite::current()) {
    return acquire_producer(ProducerToken{}, site);
  }
  /// The same; does not wait where `token` says that this very stage is free.
  constexpr ProducerStage acquire_producer(ProducerToken token,
                                           SourceSite site = SourceSite::current()) {
    wait_consumer_if_needed(token, site);
    const PipelineState state = producer_;
    producer_step();
    if (!Producer::kByLanes && storage_->cluster.is_leader(machine_->cta_rank())) {
      arm(*machine_, producer_mbar(state.index), storage_->full_bytes, site);
    }
    return {claim(StageStep::kProducerAcquired, state, site), *storage_};
  }

  /// Waits full. The tensor core may read at once what TMA wrote, and what lanes copied.
  template <class As = DefaultConsumer>
  constexpr ConsumerStage<As> acquire_consumer(SourceSite site = SourceSite::current()) {
    return acquire_consumer<As>(ConsumerToken{}, site);
  }
  /// The same; does not wait where `token` says that this very stage is full.
  template <class As = DefaultConsumer>
  constexpr ConsumerStage<As> acquire_consumer(ConsumerToken token,
                                               SourceSite site = SourceSite::current()) {
    wait_producer_if_needed(token, site);
    if constexpr (Producer::kByLanes) {
      Producer::Way::take_over(*machine_, site);
      if (storage_->tells_leader()) {
        acquire(*machine_,
                storage_->peer[consumer_.index],
                consumer_.full_phase(),
                acquire_within(false),
                site);
      }
    }
    return claim_consumer<As>(site);
  }
  /// The consumer's, in the peer of a pair whose lanes copy: waits until the CTA's part of the next
  /// stage is there, and tells the leader, whose MMA reads it.
  constexpr void pass_on(SourceSite site = SourceSite::current()) {
    const auto wait = [&] { wait_producer(site); };
    const std::uint32_t leader = storage_->cluster.leader(machine_->cta_rank());
    Producer::Way::pass_on(*machine_, wait, storage_->peer[consumer_.index], leader, site);
    consumer_step();
  }
  /// Takes the next stage without a wait: for a consumer that learns from another barrier that the
  /// stage is full, as an epilogue does from the MMA's commit.
  template <class As>
  constexpr ConsumerStage<As> claim_consumer(SourceSite site = SourceSite::current()) {
    static_assert(kIsOneOf<As, Consumers...>, "a ring is consumed by those it was declared with");
    const PipelineState state = consumer_;
    consumer_step();
    return {claim(StageStep::kConsumerAcquired, state, site), *storage_};
  }

  /// Waits until every stage this producer filled has been freed: commits of other CTAs may still
  /// be on their way to this CTA's barriers, and copies of theirs to its tiles.
  constexpr void drain_producer(SourceSite site = SourceSite::current()) {
    for (std::uint32_t i = 0; i < stages(); ++i) {
      wait_consumer(site);
      producer_step();
    }
  }

  /// The producer's: the stage that it filled last. Requires: there is one.
  constexpr PipelineState last_filled() const { return producer_.before(stages()); }
  /// The producer's: blocks until all who read it have freed a stage that it has filled. Requires:
  /// it has not acquired the stage anew, of which the barrier would tell the same parity.
  constexpr void wait_freed(PipelineState filled, SourceSite site = SourceSite::current()) const {
    acquire(*machine_, consumer_mbar(filled.index), filled.freed_phase(), ordering(), site);
  }

  // Probes: a token says what was found, and to whose wait it belongs. No state changes.

  /// The producer's: whether its next stage is free now, by one `mbarrier.try_wait`.
  constexpr ProducerToken try_acquire_producer(SourceSite site = SourceSite::current()) const {
    return {producer_,
            machine_->mbarrier_try_wait_parity(
                consumer_mbar(producer_.index), producer_.empty_phase(), ordering(), site)};
  }
  /// The consumer's: whether its next stage is full now, by one `mbarrier.try_wait`.
  constexpr ConsumerToken try_acquire_consumer(SourceSite site = SourceSite::current()) const {
    return {consumer_,
            machine_->mbarrier_try_wait_parity(
                producer_mbar(consumer_.index), consumer_.full_phase(), ordering(), site)};
  }

  // Direct.

  /// The producer's: blocks until its next stage is free. It neither arms nor steps.
  constexpr void wait_consumer(SourceSite site = SourceSite::current()) const {
    acquire(*machine_, consumer_mbar(producer_.index), producer_.empty_phase(), ordering(), site);
  }
  /// The consumer's: blocks until its next stage is full. It does not step.
  constexpr void wait_producer(SourceSite site = SourceSite::current()) const {
    acquire(*machine_, producer_mbar(consumer_.index), consumer_.full_phase(), ordering(), site);
  }
  /// Waits empty unless the token says that this very stage is free. A stale token is not believed.
  constexpr void wait_consumer_if_needed(ProducerToken token,
                                         SourceSite site = SourceSite::current()) const {
    if (token.ready && token.probed == producer_) {
      machine_->sync_warp(site);
    } else {
      wait_consumer(site);
    }
  }
  /// Waits full unless the token says that this very stage is.
  constexpr void wait_producer_if_needed(ConsumerToken token,
                                         SourceSite site = SourceSite::current()) const {
    if (token.ready && token.probed == consumer_) {
      machine_->sync_warp(site);
    } else {
      wait_producer(site);
    }
  }
  /// Waits empty, arms full and steps: a stage that is filled in several parts. It is held until
  /// `release_from_load`.
  constexpr PipelineState acquire_for_load(SourceSite site = SourceSite::current()) {
    wait_consumer(site);
    const PipelineState state = producer_;
    producer_step();
    if (storage_->cluster.is_leader(machine_->cta_rank())) {
      arm(*machine_, producer_mbar(state.index), storage_->full_bytes, site);
    }
    machine_->note_stage(storage_->barriers.note(StageStep::kProducerAcquired, state, site));
    return state;
  }
  /// Gives the stage up; the bytes under way complete it.
  constexpr void release_from_load(PipelineState state, SourceSite site = SourceSite::current()) {
    machine_->note_stage(storage_->barriers.note(StageStep::kProducerReleased, state, site));
  }
  /// Copies tile `at` of a matrix into a held stage; see `load_slice`.
  template <class Element>
  constexpr void load(PipelineState state,
                      const typename M::TensorMap& map,
                      TileIndex at,
                      const OperandTile<Element>& tile,
                      SourceSite site = SourceSite::current()) const {
    load_slice(*machine_, map, at, tile, producer_mbar(state.index), storage_->cluster, site);
  }
  /// The tiles of k step `j` of a held stage.
  constexpr auto payload(PipelineState state, std::uint32_t j = 0) const {
    return storage_->at(state.index, j);
  }
  /// The stage that the producer's next acquire or wait is for.
  constexpr std::uint32_t producer_stage() const { return producer_.index; }
  /// The stage that the consumer's next acquire or wait is for.
  constexpr std::uint32_t consumer_stage() const { return consumer_.index; }
  /// The full barrier of a stage, of this CTA: in a pair the leader's is in use.
  constexpr Mbarrier producer_mbar(std::uint32_t stage) const {
    return storage_->barriers.full[stage];
  }
  /// The empty barrier of a stage, of this CTA.
  constexpr Mbarrier consumer_mbar(std::uint32_t stage) const {
    return storage_->barriers.empty[stage];
  }
  constexpr void producer_step() { producer_.step(stages()); }  // to its next stage, after a wait
  constexpr void consumer_step() { consumer_.step(stages()); }  // to its next stage, after a wait
  /// The consumer's: passes over `count` stages that another consumer reads and frees.
  constexpr void consumer_skip(std::uint32_t count) { consumer_.advance(count, stages()); }

  constexpr M& machine() const { return *machine_; }              // of the calling warp
  constexpr const Storage& storage() const { return *storage_; }  // what the view refers to
  constexpr std::uint32_t stages() const { return storage_->barriers.stages; }  // of the ring

 private:
  constexpr Ordering ordering() const { return acquire_within(storage_->cluster.is_single_cta()); }
  constexpr StageClaim<M> claim(StageStep step, PipelineState state, SourceSite site) const {
    StageClaim<M> claim{*machine_, storage_->barriers.note(step, state, site)};
    claim.note(step);
    return claim;
  }

  M* machine_;
  const Storage* storage_;
  PipelineState producer_;
  PipelineState consumer_;
};

/// The load warp's side of an input pipeline.
template <class Pipeline>
class InputProducer {
 public:
  using Stage = typename Pipeline::ProducerStage;  // a stage, while it is filled

  /// Made by `InputTilePipeline::producer`.
  constexpr explicit InputProducer(Pipeline pipeline) : pipeline_{std::move(pipeline)} {}

  /// Linear: the next stage, waited for and armed.
  constexpr Stage acquire_stage(SourceSite site = SourceSite::current()) {
    return pipeline_.acquire_producer(site);
  }
  /// Scoped: released when the scope ends.
  constexpr ScopedStage<Stage> acquire(SourceSite site = SourceSite::current()) {
    return scoped(pipeline_.acquire_producer(site), site);
  }
  /// Whether the next stage is free now, by one `mbarrier.try_wait`. Blocks: never.
  constexpr ProducerToken try_acquire(SourceSite site = SourceSite::current()) const {
    return pipeline_.try_acquire_producer(site);
  }
  /// `acquire_stage`, which does not wait where `token` says that this very stage is free.
  constexpr Stage acquire_if_needed(ProducerToken token, SourceSite site = SourceSite::current()) {
    return pipeline_.acquire_producer(token, site);
  }
  /// Waits until every stage it filled has been freed: see `drain_producer`.
  constexpr void drain(SourceSite site = SourceSite::current()) { pipeline_.drain_producer(site); }
  constexpr Pipeline& pipeline() { return pipeline_; }  // for what this side does not offer

 private:
  Pipeline pipeline_;
};

/// The MMA warp's side of an input pipeline, or another consumer's.
template <class Pipeline>
class InputConsumer {
 public:
  using DefaultConsumer = typename Pipeline::DefaultConsumer;  // the first that was declared
  template <class As>
  using Stage = typename Pipeline::template ConsumerStage<As>;  // a stage, while it is read

  /// Made by `InputTilePipeline::consumer`.
  constexpr explicit InputConsumer(Pipeline pipeline) : pipeline_{std::move(pipeline)} {}

  /// Linear: the next stage, waited for.
  template <class As = DefaultConsumer>
  constexpr Stage<As> acquire_stage(SourceSite site = SourceSite::current()) {
    return pipeline_.template acquire_consumer<As>(site);
  }
  /// Scoped: released, with its arrival, when the scope ends.
  template <class As = DefaultConsumer>
  constexpr ScopedStage<Stage<As>> acquire(SourceSite site = SourceSite::current()) {
    return scoped(pipeline_.template acquire_consumer<As>(site), site);
  }
  /// Whether the next stage is full now, by one `mbarrier.try_wait`. Blocks: never.
  constexpr ConsumerToken try_acquire(SourceSite site = SourceSite::current()) const {
    return pipeline_.try_acquire_consumer(site);
  }
  /// `acquire_stage`, which does not wait where `token` says that this very stage is full.
  template <class As = DefaultConsumer>
  constexpr Stage<As> acquire_if_needed(ConsumerToken token,
                                        SourceSite site = SourceSite::current()) {
    return pipeline_.template acquire_consumer<As>(token, site);
  }
  /// Arrives on the empty barrier of a stage given up without a signal: what has read it is over
  /// only now.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class As = DefaultConsumer>
  constexpr void free(Mbarrier empty, SourceSite site = SourceSite::current()) {
    free_input<As>(pipeline_.machine(), empty, pipeline_.storage().cluster, site);
  }
  /// Passes over `count` stages, which another consumer reads and frees. Blocks: never.
  constexpr void skip(std::uint32_t count) { pipeline_.consumer_skip(count); }
  /// In the peer of a pair: tells the leader of `count` stages as they become full. Nothing where
  /// bytes have come to the leader's barriers themselves.
  constexpr void pass_on(std::uint32_t count, SourceSite site = SourceSite::current()) {
    if constexpr (Pipeline::Storage::Filler::kByLanes) {
      for (std::uint32_t i = 0; i < count; ++i) {
        pipeline_.pass_on(site);
      }
    }
  }
  constexpr Pipeline& pipeline() { return pipeline_; }  // for what this side does not offer

 private:
  Pipeline pipeline_;
};

}  // namespace warptwin
