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
  PipelineState state;
  TmemStage tmem;

  constexpr std::uint32_t index() const { return state.index; }
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
  using Storage = OutputPipelineStorage<Producer, Consumer>;
  using Mma = MmaStage<M, Storage>;
  using Epilogue = EpilogueStage<M, Storage, Consumer>;
  static_assert(Producer::kKind == ArrivalKind::kUmmaCommit, "accumulators are filled by the MMA");

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

  constexpr OutputProducer<OutputTilePipeline> producer() {
    return OutputProducer<OutputTilePipeline>{*this};
  }
  constexpr OutputConsumer<OutputTilePipeline> consumer() {
    return OutputConsumer<OutputTilePipeline>{*this};
  }
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

  constexpr OutputStage acquire_for_mma(SourceSite site = SourceSite::current()) {
    const PipelineState state = producer_;
    acquire(*machine_, consumer_mbar(state.index), state.empty_phase(), ordering(), site);
    machine_->tcgen05_fence_after_thread_sync(site);
    producer_.step(stages());
    return stage(state);
  }
  constexpr void release_from_mma(const OutputStage& stage,
                                  SourceSite site = SourceSite::current()) {
    commit_accumulator(*machine_, producer_mbar(stage.index()), storage_->cluster, site);
  }
  constexpr OutputStage acquire_for_epilogue(SourceSite site = SourceSite::current()) {
    const PipelineState state = consumer_;
    acquire(*machine_, producer_mbar(state.index), state.full_phase(), ordering(), site);
    machine_->tcgen05_fence_after_thread_sync(site);
    consumer_.step(stages());
    return stage(state);
  }
  constexpr void release_from_epilogue(const OutputStage& stage,
                                       SourceSite site = SourceSite::current()) {
    free_accumulator<Consumer::kKind>(
        *machine_, consumer_mbar(stage.index()), storage_->cluster, site);
  }

  constexpr Mbarrier producer_mbar(std::uint32_t stage) const {
    return storage_->barriers.full[stage];
  }
  constexpr Mbarrier consumer_mbar(std::uint32_t stage) const {
    return storage_->barriers.empty[stage];
  }
  constexpr M& machine() const { return *machine_; }
  constexpr const Storage& storage() const { return *storage_; }
  constexpr const TmemAllocation& tmem() const { return tmem_; }
  constexpr std::uint32_t stages() const { return storage_->config.stages; }

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
  constexpr explicit OutputProducer(Pipeline& pipeline) : pipeline_{&pipeline} {}
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
  constexpr explicit OutputConsumer(Pipeline& pipeline) : pipeline_{&pipeline} {}
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
  constexpr explicit OutputKPipeline(Pipeline& pipeline) : pipeline_{&pipeline} {}
  constexpr ScopedStage<typename Pipeline::Mma> produce(SourceSite site = SourceSite::current()) {
    return scoped(pipeline_->acquire_mma_linear(site), site);
  }
  constexpr ScopedStage<typename Pipeline::Epilogue> consume(
      SourceSite site = SourceSite::current()) {
    return scoped(pipeline_->acquire_epilogue_linear(site), site);
  }

 private:
  Pipeline* pipeline_;
};

}  // namespace warptwin
