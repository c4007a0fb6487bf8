/// The ring in which an accumulator is replaced, where it lies in tensor memory, by an operand of
/// the next MMA: attention's scores by its probabilities.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/operand_pipeline.hpp"
#include "common/tile/output_stage.hpp"
#include "common/tile/tensor_memory.hpp"

namespace warptwin {

template <Machine M, class Producer, class Writer>
class InPlacePipeline;

/// Barrier        Arrivals per phase                Completion means
/// full[s]        1, the MMA's commit, multicast    the accumulator is complete
///                to the pair
/// replaced[s]    the writer's lanes, of each CTA   the operand stands in its place, in both CTAs
///                of the group
/// empty[s]       1, the commit of the MMA that     the operand has been read: another accumulator
///                reads it                          may come
///
/// The MMA warp waits for empty itself: the manual does not promise that an MMA writes its
/// accumulator after an earlier one of the same thread has read these columns as A. With pairs only
/// the leader's replaced and empty are used.
template <class Producer, class Writer>
struct InPlacePipelineStorage {
  static_assert(Producer::kKind == ArrivalKind::kUmmaCommit, "accumulators are filled by the MMA");
  /// Whether every CTA of the group waits for empty: the leader's MMA warp alone does.
  static constexpr bool kEveryCtaWaitsForEmpty = false;
  template <Machine M>
  using Pipeline = InPlacePipeline<M, Producer, Writer>;  // one warp's view

  /// Asks `layout` for full, empty and replaced barriers, one of each for a stage. Writers are
  /// counted in every CTA of the group.
  template <class Layout, std::uint32_t kRows>
  constexpr InPlacePipelineStorage(Layout& layout,
                                   const char* owner,
                                   RoleTable<kRows> roles,
                                   const ClusterShape& cluster_shape,
                                   const OutputPipelineConfig& output_config)
      : cluster{cluster_shape},
        config{output_config},
        barriers{layout,
                 owner,
                 config.stages,
                 full_contract<Producer, Writer>(roles, 0),
                 empty_contract<Producer, Producer>(roles)},
        replaced_arrivals{arrivals_of<Writer>(roles) * cluster.group_ctas()},
        replaced{
            layout.barriers({owner, "replaced"},
                            config.stages,
                            contract(Producer::kRole, 0, contributor<Writer>(replaced_arrivals)))} {
    layout.ring({owner, barriers.full, barriers.empty, config.stages, {}, 0});
  }

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
    for (std::uint32_t stage = 0; stage < config.stages; ++stage) {
      machine.mbarrier_init(replaced[stage], replaced_arrivals, site);
    }
  }

  ClusterShape cluster;             // whose groups share an MMA
  OutputPipelineConfig config;      // how many stages, and columns from one to the next
  BarrierPair barriers;             // full and empty, one of each for a stage
  std::uint32_t replaced_arrivals;  // a phase of replaced: its count
  MbarrierArray replaced;           // one a stage: the operand has been stored
};

/// An accumulator that its reader replaces. `release` hands the operand to the MMA of the group's
/// leader.
template <Machine M, class Storage, class Writer>
class [[nodiscard]] ReplaceStage {
 public:
  /// Made by `acquire_replace_linear`; `tmem` are the stage's columns.
  constexpr ReplaceStage(StageClaim<M> claim, const Storage& storage, TmemStage tmem)
      : claim_{std::move(claim)}, storage_{&storage}, tmem_{tmem} {}
  constexpr ReplaceStage(ReplaceStage&&) = default;  // takes over the duty to release

  /// This warp's lanes, from the stage's first column on: where it loads, and then stores.
  constexpr TmemAddress own_rows() const {
    return tmem_.address().at_lane(kWarpLanes *
                                   (claim_.machine().warp_index() % kWarpsPerWarpgroup));
  }
  /// The barrier that `release` arrives on, of this CTA; with pairs the leader's is the one in use.
  constexpr Mbarrier mbar() const { return storage_->replaced[claim_.state().index]; }

  /// Requires:     all loads and stores have been waited for.
  /// Participants: the whole warp; every warp that shares the stage, in every CTA of the group.
  /// Blocks:       never.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      tell_leader<Writer::kKind>(claim_.machine(), mbar(), storage_->cluster, site);
      claim_.note(StageStep::kConsumerReleased);
    }
  }
  /// Gives the stage up without an arrival: it has been made on `mbar()` of the leader.
  constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kConsumerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
  TmemStage tmem_;
};

/// One warp's view of the ring. Writers that share it take its stages in turn. The MMA of the
/// group's leader fills them in both CTAs, and the writers of both replace what is in their own.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       acquire_*, drain; nothing else.
template <Machine M, class Producer, class Writer>
class InPlacePipeline {
 public:
  using Storage = InPlacePipelineStorage<Producer, Writer>;  // what the view refers to
  using Mma = MmaStage<M, Storage>;                  // an accumulator, while MMAs compute it
  using Replace = ReplaceStage<M, Storage, Writer>;  // an accumulator, to be replaced
  using Operand = OperandStage<M, Storage>;          // an operand, while MMAs read it

  /// Stages begin at `tmem`. A writer takes those that `turn` says; the MMA warp takes all.
  constexpr InPlacePipeline(M& machine,
                            const Storage& storage,
                            const TmemAllocation& tmem,
                            RingTurn turn = {})
      : machine_{&machine}, storage_{&storage}, tmem_{tmem}, turn_{turn}, writer_{turn.begin()} {}

  /// The MMA's: waits until the operand that lay there has been read.
  constexpr Mma acquire_mma_linear(SourceSite site = SourceSite::current()) {
    const PipelineState state = mma_;
    wait(storage_->barriers.empty[state.index], state.empty_phase(), site);
    mma_.step(stages());
    return {claim(StageStep::kProducerAcquired, state, site), *storage_, tmem(state)};
  }
  /// The writer's: waits until the accumulator is complete.
  constexpr Replace acquire_replace_linear(SourceSite site = SourceSite::current()) {
    const PipelineState state = writer_;
    wait(storage_->barriers.full[state.index], state.full_phase(), site);
    turn_.step(writer_, stages());
    return {claim(StageStep::kConsumerAcquired, state, site), *storage_, tmem(state)};
  }
  /// The MMA's: waits until the operand is stored, in both CTAs of a pair.
  constexpr Operand acquire_operand_linear(SourceSite site = SourceSite::current()) {
    const PipelineState state = operand_;
    wait(storage_->replaced[state.index], state.full_phase(), site);
    operand_.step(stages());
    return {claim(StageStep::kConsumerAcquired, state, site), *storage_, tmem(state)};
  }
  /// The MMA's: waits until every operand has been read.
  constexpr void drain(SourceSite site = SourceSite::current()) {
    for (std::uint32_t i = 0; i < stages(); ++i) {
      wait(storage_->barriers.empty[mma_.index], mma_.empty_phase(), site);
      mma_.step(stages());
    }
  }
  constexpr std::uint32_t stages() const { return storage_->config.stages; }  // of the ring

 private:
  constexpr void wait(Mbarrier bar, WaitPhase phase, SourceSite site) const {
    acquire(*machine_, bar, phase, acquire_within(!storage_->cluster.is_pair()), site);
    machine_->tcgen05_fence_after_thread_sync(site);
  }
  constexpr TmemStage tmem(PipelineState state) const {
    return tmem_.stage(storage_->config, state.index);
  }
  constexpr StageClaim<M> claim(StageStep step, PipelineState state, SourceSite site) const {
    StageClaim<M> claim{*machine_, storage_->barriers.note(step, state, site)};
    claim.note(step);
    return claim;
  }

  M* machine_;
  const Storage* storage_;
  TmemAllocation tmem_;
  RingTurn turn_;
  PipelineState mma_;
  PipelineState operand_;
  PipelineState writer_;
};

}  // namespace warptwin
