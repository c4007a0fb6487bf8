/// The ring in which warps bring an A operand to tensor memory, where MMAs read it: converted, or
/// scaled, on its way.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/output_stage.hpp"
#include "common/tile/tensor_memory.hpp"

namespace warptwin {

template <Machine M, class Producer, class Consumer>
class OperandPipeline;

/// Barrier    Arrivals per phase                            Completion means
/// full[s]    the producer's lanes, of each CTA of the      operand s stands in tensor memory, in
///            group; with pairs only the leader's is used   both CTAs
/// empty[s]   1 commit, multicast to the pair               operand s has been read
template <class Producer, class Consumer>
struct OperandPipelineStorage {
  static_assert(Consumer::kKind == ArrivalKind::kUmmaCommit, "operands are read by MMAs");
  /// Whether every CTA of the group waits for empty: the warps that write do so.
  static constexpr bool kEveryCtaWaitsForEmpty = true;
  template <Machine M>
  using Pipeline = OperandPipeline<M, Producer, Consumer>;  // one warp's view

  /// Asks `layout` for the barriers alone: producers are counted in every CTA of the group.
  template <class Layout, std::uint32_t kRows>
  constexpr OperandPipelineStorage(Layout& layout,
                                   const char* owner,
                                   RoleTable<kRows> roles,
                                   const ClusterShape& cluster_shape,
                                   const OutputPipelineConfig& operand_config)
      : cluster{cluster_shape},
        config{operand_config},
        barriers{
            layout,
            owner,
            config.stages,
            contract(Consumer::kRole,
                     0,
                     contributor<Producer>(arrivals_of<Producer>(roles) * cluster.group_ctas())),
            empty_contract<Producer, Consumer>(roles)} {
    layout.ring({owner, barriers.full, barriers.empty, config.stages, {}, 0});
  }

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
  }

  ClusterShape cluster;         // whose groups share an MMA
  OutputPipelineConfig config;  // how many stages, and columns from one to the next
  BarrierPair barriers;         // full and empty, one of each for a stage
};

/// An operand being written. `release` hands it to the MMA of the group's leader.
template <Machine M, class Storage, class Producer>
class [[nodiscard]] OperandWriteStage {
 public:
  /// Made by `acquire_write_linear`; `tmem` are the stage's columns.
  constexpr OperandWriteStage(StageClaim<M> claim, const Storage& storage, TmemStage tmem)
      : claim_{std::move(claim)}, storage_{&storage}, tmem_{tmem} {}
  constexpr OperandWriteStage(OperandWriteStage&&) = default;  // takes over the duty to release

  /// This warp's lanes, from the stage's first column on.
  constexpr TmemAddress own_rows() const {
    return tmem_.address().at_lane(kWarpLanes *
                                   (claim_.machine().warp_index() % kWarpsPerWarpgroup));
  }
  /// The full barrier, of this CTA; with pairs the leader's is the one in use.
  constexpr Mbarrier mbar() const { return storage_->barriers.full[claim_.state().index]; }

  /// Requires:     all stores have been waited for.
  /// Participants: the whole warp; every warp of the role in every CTA of the group. Blocks: never.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      tell_leader<Producer::kKind>(claim_.machine(), mbar(), storage_->cluster, site);
      claim_.note(StageStep::kProducerReleased);
    }
  }
  /// Gives the stage up without an arrival: it has been made on `mbar()` of the leader.
  constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kProducerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
  TmemStage tmem_;
};

/// An operand in tensor memory that MMAs read. `release` commits, to all who wait for it: the
/// columns are free when they have.
template <Machine M, class Storage>
class [[nodiscard]] OperandStage {
 public:
  /// Made by `acquire_operand_linear`; `tmem` are the stage's columns.
  constexpr OperandStage(StageClaim<M> claim, const Storage& storage, TmemStage tmem)
      : claim_{std::move(claim)}, storage_{&storage}, tmem_{tmem} {}
  constexpr OperandStage(OperandStage&&) = default;  // takes over the duty to release

  /// The operand from the stage's first column on, as A of an MMA: packed `Element`s.
  template <class Element>
  constexpr TmemOperand<Element> operand() const {
    return {tmem_.address()};
  }
  /// Participants: the whole warp. Blocks: never.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      const Mbarrier empty = storage_->barriers.empty[claim_.state().index];
      if constexpr (Storage::kEveryCtaWaitsForEmpty) {
        commit_to_group(claim_.machine(), empty, storage_->cluster, site);
      } else {
        claim_.machine().tcgen05_commit(storage_->cluster.group, empty, site);
      }
      claim_.note(StageStep::kConsumerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
  TmemStage tmem_;
};

/// One warp's view of a ring of operands.
///
/// The warps that write it do so in every CTA of the group, the rows of their own. The MMA of the
/// group's leader reads the stages, and its commits free them in both CTAs.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       acquire_*, drain; nothing else.
template <Machine M, class Producer, class Consumer>
class OperandPipeline {
 public:
  using Storage = OperandPipelineStorage<Producer, Consumer>;  // what the view refers to
  using Write = OperandWriteStage<M, Storage, Producer>;       // an operand, while it is written
  using Operand = OperandStage<M, Storage>;                    // an operand, while MMAs read it

  /// Both sides begin at stage 0, whose columns begin at `tmem`.
  constexpr OperandPipeline(M& machine, const Storage& storage, const TmemAllocation& tmem)
      : machine_{&machine}, storage_{&storage}, tmem_{tmem} {}

  /// The producer's: waits until the operand that lay there has been read.
  constexpr Write acquire_write_linear(SourceSite site = SourceSite::current()) {
    const PipelineState state = producer_;
    wait(storage_->barriers.empty[state.index], state.empty_phase(), site);
    producer_.step(stages());
    return {claim(StageStep::kProducerAcquired, state, site), *storage_, tmem(state)};
  }
  /// The MMA's: waits until the operand is stored, in both CTAs of a pair.
  constexpr Operand acquire_operand_linear(SourceSite site = SourceSite::current()) {
    const PipelineState state = consumer_;
    wait(storage_->barriers.full[state.index], state.full_phase(), site);
    consumer_.step(stages());
    return {claim(StageStep::kConsumerAcquired, state, site), *storage_, tmem(state)};
  }
  /// The producer's: waits until every operand it wrote has been read: commits of the leader's may
  /// still be on their way to this CTA's barriers.
  constexpr void drain(SourceSite site = SourceSite::current()) {
    for (std::uint32_t i = 0; i < stages(); ++i) {
      wait(storage_->barriers.empty[producer_.index], producer_.empty_phase(), site);
      producer_.step(stages());
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
  PipelineState producer_;
  PipelineState consumer_;
};

}  // namespace warptwin
