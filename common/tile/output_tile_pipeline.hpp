/// The ring that hands accumulators in tensor memory from the MMA to the epilogue.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/stage.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/tile/output_pipeline_storage.hpp"
#include "common/tile/output_stage.hpp"
#include "common/tile/tensor_memory.hpp"

namespace warptwin {

template <class Pipeline>
class OutputProducer;
template <class Pipeline>
class OutputConsumer;
template <class Pipeline>
class OutputKPipeline;
template <class OutputPipeline, class InputPipeline, class As>
class EpilogueKContext;

/// A stage held by hand: a value, without a duty.
struct OutputStage {
  PipelineState state;  // which stage, in which lap
  TmemStage tmem;       // its columns

  constexpr std::uint32_t index() const { return state.index; }  // in the ring, from 0
};

/// One warp's view of an accumulator ring.
///
/// The MMA of the group's leader fills stages; the epilogues of all CTAs of the group free them on
/// the leader's barrier. Each release arrives exactly once for its participant.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       acquire_*; nothing else.
template <Machine M, class Producer, class Consumer>
class OutputTilePipeline {
 public:
  using Storage = OutputPipelineStorage<Producer, Consumer>;  // what the view refers to
  using Mma = MmaStage<M, Storage>;                      // an accumulator, while MMAs compute it
  using Epilogue = EpilogueStage<M, Storage, Consumer>;  // an accumulator, while it is read
  static_assert(Producer::kKind == ArrivalKind::kUmmaCommit, "accumulators are filled by the MMA");

  /// Both sides begin at stage 0, whose columns begin at `tmem`.
  constexpr OutputTilePipeline(M& machine, const Storage& storage, const TmemAllocation& tmem)
      : machine_{&machine}, storage_{&storage}, tmem_{tmem} {}

  // Linear.

  /// Waits empty.
  constexpr Mma acquire_mma_linear(SourceSite site = SourceSite::current()) {
    const OutputStage stage = acquire_for_mma(site);
    return {claim(StageStep::kProducerAcquired, stage.state, site), *storage_, stage.tmem};
  }
  /// Waits full.
  constexpr Epilogue acquire_epilogue_linear(SourceSite site = SourceSite::current()) {
    const OutputStage stage = acquire_for_epilogue(site);
    return {claim(StageStep::kConsumerAcquired, stage.state, site), *storage_, stage.tmem};
  }

  // Scoped, per tile and per k step; the views refer to this pipeline.

  /// The MMA's side, for scopes.
  constexpr OutputProducer<OutputTilePipeline> producer() {
    return OutputProducer<OutputTilePipeline>{*this};
  }
  /// The epilogue's side, for scopes.
  constexpr OutputConsumer<OutputTilePipeline> consumer() {
    return OutputConsumer<OutputTilePipeline>{*this};
  }
  /// Both sides, for scopes of one k step.
  constexpr OutputKPipeline<OutputTilePipeline> per_k() {
    return OutputKPipeline<OutputTilePipeline>{*this};
  }
  /// The next accumulator together with the input stage it was computed from; `As` is the
  /// epilogue's participation in the input ring.
  template <class As, class InputPipeline>
  constexpr EpilogueKContext<OutputTilePipeline, InputPipeline, As> per_k_epilogue(
      InputPipeline& input, SourceSite site = SourceSite::current()) {
    return {*this, input, site};
  }

  // Direct.

  /// Waits empty, orders this warp's tcgen05 operations behind it, and steps.
  constexpr OutputStage acquire_for_mma(SourceSite site = SourceSite::current()) {
    const PipelineState state = producer_;
    acquire(*machine_, consumer_mbar(state.index), state.empty_phase(), ordering(), site);
    machine_->tcgen05_fence_after_thread_sync(site);
    producer_.step(stages());
    return stage(state);
  }
  /// Commits to full, in both CTAs of a pair: the MMAs issued so far complete it. Blocks: never.
  constexpr void release_from_mma(const OutputStage& stage,
                                  SourceSite site = SourceSite::current()) {
    commit_to_group(*machine_, producer_mbar(stage.index()), storage_->cluster, site);
  }
  /// Waits full, orders this warp's tcgen05 operations behind it, and steps.
  constexpr OutputStage acquire_for_epilogue(SourceSite site = SourceSite::current()) {
    const PipelineState state = consumer_;
    acquire(*machine_, producer_mbar(state.index), state.full_phase(), ordering(), site);
    machine_->tcgen05_fence_after_thread_sync(site);
    consumer_.step(stages());
    return stage(state);
  }
  /// Orders this warp's loads, waited for, before its arrival on the leader's empty. Blocks: never.
  constexpr void release_from_epilogue(const OutputStage& stage,
                                       SourceSite site = SourceSite::current()) {
    tell_leader<Consumer::kKind>(*machine_, consumer_mbar(stage.index()), storage_->cluster, site);
  }

  /// The full barrier of a stage, of this CTA.
  constexpr Mbarrier producer_mbar(std::uint32_t stage) const {
    return storage_->barriers.full[stage];
  }
  /// The empty barrier of a stage, of this CTA: in a pair the leader's is in use.
  constexpr Mbarrier consumer_mbar(std::uint32_t stage) const {
    return storage_->barriers.empty[stage];
  }
  constexpr M& machine() const { return *machine_; }              // of the calling warp
  constexpr const Storage& storage() const { return *storage_; }  // what the view refers to
  constexpr const TmemAllocation& tmem() const { return tmem_; }  // that the stages lie in
  constexpr std::uint32_t stages() const { return storage_->config.stages; }  // of the ring

 private:
  /// Arrivals come from the group's CTAs, not from the whole cluster.
  constexpr Ordering ordering() const { return acquire_within(!storage_->cluster.is_pair()); }
  constexpr OutputStage stage(PipelineState state) const {
    return {state, tmem_.stage(storage_->config, state.index)};
  }
  constexpr StageClaim<M> claim(StageStep step, PipelineState state, SourceSite site) const {
    StageClaim<M> claim{*machine_, storage_->barriers.note(step, state, site)};
    claim.note(step);
    return claim;
  }

  M* machine_;
  const Storage* storage_;
  TmemAllocation tmem_;
  PipelineState producer_;
  PipelineState consumer_;
};

/// The MMA's side, one scope per tile: entered when the accumulator is free, committed at its end.
template <class Pipeline>
class OutputProducer {
 public:
  /// Of a pipeline that must outlive it.
  constexpr explicit OutputProducer(Pipeline& pipeline) : pipeline_{&pipeline} {}
  /// Waits empty. The end of the scope commits to full.
  constexpr ScopedStage<typename Pipeline::Mma> acquire(SourceSite site = SourceSite::current()) {
    return scoped(pipeline_->acquire_mma_linear(site), site);
  }

 private:
  Pipeline* pipeline_;
};

/// The epilogue's side, one scope per tile: entered when the accumulator is complete, freed at its
/// end.
template <class Pipeline>
class OutputConsumer {
 public:
  /// Of a pipeline that must outlive it.
  constexpr explicit OutputConsumer(Pipeline& pipeline) : pipeline_{&pipeline} {}
  /// Waits full. The end of the scope frees the accumulator.
  constexpr ScopedStage<typename Pipeline::Epilogue> acquire(
      SourceSite site = SourceSite::current()) {
    return scoped(pipeline_->acquire_epilogue_linear(site), site);
  }

 private:
  Pipeline* pipeline_;
};

/// Both sides, one scope per k step: for kernels whose epilogue adds up in registers.
template <class Pipeline>
class OutputKPipeline {
 public:
  /// Of a pipeline that must outlive it.
  constexpr explicit OutputKPipeline(Pipeline& pipeline) : pipeline_{&pipeline} {}
  /// The MMA's: waits empty. The end of the scope commits to full.
  constexpr ScopedStage<typename Pipeline::Mma> produce(SourceSite site = SourceSite::current()) {
    return scoped(pipeline_->acquire_mma_linear(site), site);
  }
  /// The epilogue's: waits full. The end of the scope frees the accumulator.
  constexpr ScopedStage<typename Pipeline::Epilogue> consume(
      SourceSite site = SourceSite::current()) {
    return scoped(pipeline_->acquire_epilogue_linear(site), site);
  }

 private:
  Pipeline* pipeline_;
};

}  // namespace warptwin
