/// The ring of responses of cluster launch control: by it a cluster learns which tile is its next.
///
/// One warp of the cluster, the scheduler, asks; every CTA gets the response, and every warp that
/// works on tiles reads it. A second ring throttles the scheduler: it asks for the tile after the
/// next only when the load warp has begun the next.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

template <Machine M, class Storage>
class ClcPipeline;

/// Barrier           Arrivals per phase                          Bytes   Completion means
/// full[s]           1, of the scheduler, in every CTA           16      response s may be read
/// empty[s]          the scheduler's lanes, and those of the     -       response s may be
///                   readers of every CTA; CTA 0's is in use             overwritten, in every CTA
/// throttle.full[s]  the load warp's lanes, of CTA 0             -       its next tile has begun
/// throttle.empty[s] the scheduler's lanes                       -       the scheduler knows
///
/// `kReaders` are the roles, beside the scheduler of CTA 0, that read every response in every CTA.
/// Without any, the scheduler of each CTA reads it and tells the others; what they take throttles
/// it. Without stages nobody asks, and a cluster has one tile.
template <Role... kReaders>
struct ClcPipelineStorage {
  template <Machine M>
  using Pipeline = ClcPipeline<M, ClcPipelineStorage>;  // one warp's view
  /// The ring that throttles the scheduler: the load warp's lanes fill it, the scheduler's free it.
  using Throttle = RingStorage<From<Role::kLoad, EveryLane>, To<Role::kScheduler, EveryLane>>;

  /// Asks `layout` for `stages` responses of 16 bytes, then for the barriers of both rings. Readers
  /// are counted in every CTA of the cluster.
  template <class Layout, std::uint32_t kRows>
  constexpr ClcPipelineStorage(Layout& layout,
                               const char* owner,
                               RoleTable<kRows> roles,
                               const ClusterShape& cluster_shape,
                               std::uint32_t stages)
      : cluster{cluster_shape},
        responses{layout.tiles({owner, "response"}, stages, kClcResponseBytes, kClcResponseBytes)},
        barriers{layout,
                 owner,
                 stages,
                 contract(kAlone ? Role::kScheduler : Role::kLoad,
                          kClcResponseBytes,
                          Contributor{Role::kScheduler, ArrivalKind::kTmaBytes, 1}),
                 contract(Role::kScheduler,
                          0,
                          every_lane(Role::kScheduler,
                                     roles.lanes(Role::kScheduler) * (kAlone ? cluster.ctas() : 1)),
                          every_lane(kReaders, roles.lanes(kReaders) * cluster.ctas())...)},
        throttle{layout,
                 "throttle",
                 roles,
                 kAlone ? 0 : stages,
                 0,
                 128,
                 /*may_be_empty=*/true} {
    layout.ring({owner, barriers.full, barriers.empty, stages, responses, kClcResponseBytes, true});
  }

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
    throttle.init(machine, site);
  }
  /// Where the response of a stage lies, in every CTA: 16 bytes.
  constexpr SharedAddress response(std::uint32_t stage) const {
    return responses + stage * kClcResponseBytes;
  }

  ClusterShape cluster;     // whose CTAs get every response
  SharedAddress responses;  // the first of them
  BarrierPair barriers;     // full: in each CTA; empty: that of CTA 0 is in use
  Throttle throttle;        // in use in CTA 0; of no stages without readers

 private:
  static constexpr bool kAlone = sizeof...(kReaders) == 0;  // the schedulers read, and no one else

  static constexpr Contributor every_lane(Role role, std::uint32_t arrivals) {
    return {role, ArrivalKind::kEveryLane, arrivals};
  }
};

/// What a request for another cluster's tile brought.
struct WorkResponse {
  bool canceled = false;        // a cluster that has not begun now never will: its tile is ours
  std::uint32_t first_cta = 0;  // of that cluster, in the grid
};

/// One warp's view of the ring.
///
/// Participants: every operation is the whole warp's, with its lanes together afterwards.
/// Blocks:       request, fetch, drain, signal_throttle, wait_throttle.
template <Machine M, class Storage>
class ClcPipeline {
 public:
  using Throttle = PipelineOf<M, typename Storage::Throttle>;  // one warp's view of that ring

  /// Both rings begin at stage 0. `machine` and `storage` must outlive the view.
  constexpr ClcPipeline(M& machine, const Storage& storage)
      : machine_{&machine}, storage_{&storage}, throttle_{machine, storage.throttle} {}

  /// Whether the cluster asks for work at all.
  constexpr bool asks() const { return storage_->barriers.stages != 0; }

  // The scheduler, in CTA 0.

  /// Waits until the load warp has begun a tile that it has not been waited for yet.
  constexpr void wait_throttle(SourceSite site = SourceSite::current()) {
    throttle_.consumer_signal_and_step(site);
  }
  /// Waits empty, arms full in every CTA, and asks, for all of them.
  constexpr void request(SourceSite site = SourceSite::current()) {
    wait_empty(site);
    const Mbarrier full = storage_->barriers.full[producer_.index];
    machine_->for_lanes(storage_->cluster.ctas(), [&](std::uint32_t rank) {
      machine_->mbarrier_arrive_expect_tx(machine_->mapa(full, rank), kClcResponseBytes, site);
    });
    machine_->clc_try_cancel(storage_->response(producer_.index), full, !alone(), site);
    producer_step();
  }
  /// Waits until every response has been read, in every CTA.
  constexpr void drain(SourceSite site = SourceSite::current()) {
    for (std::uint32_t i = 0; i < storage_->barriers.stages; ++i) {
      wait_empty(site);
      producer_step();
    }
  }

  // The load warp, in CTA 0.

  /// Says that the next tile has begun: the scheduler may ask for the one after it.
  constexpr void signal_throttle(SourceSite site = SourceSite::current()) {
    throttle_.producer_signal_and_step(site);
  }

  // Every reader, and the scheduler.

  /// Waits full, reads the next response, and frees its slot.
  constexpr WorkResponse fetch(SourceSite site = SourceSite::current()) {
    wait_full(site);
    const WorkResponse response = read(site);
    machine_->fence_proxy_async(ProxySpace::kSharedCta, site);  // the next response overwrites it
    arrive_empty(site);
    consumer_step();
    return response;
  }

  // Direct: the steps of `request` and `fetch` by hand.

  /// The scheduler's: blocks until the next request's slot has been read, in every CTA.
  constexpr void wait_empty(SourceSite site = SourceSite::current()) const {
    acquire(*machine_,
            storage_->barriers.empty[producer_.index],
            producer_.empty_phase(),
            acquire_within(alone()),
            site);
  }
  /// A reader's: blocks until the next response has come.
  constexpr void wait_full(SourceSite site = SourceSite::current()) const {
    acquire(*machine_,
            storage_->barriers.full[consumer_.index],
            consumer_.full_phase(),
            acquire_within(alone()),
            site);
  }
  /// The response waited for (PTX ISA, "clusterlaunchcontrol.query_cancel"). Its slot stays held.
  constexpr WorkResponse read(SourceSite site = SourceSite::current()) const {
    const SharedAddress response = storage_->response(consumer_.index);
    if (!machine_->clc_is_canceled(response, site)) {
      return {};
    }
    return {true, machine_->clc_first_cta(response, site)};
  }
  /// Every lane tells the scheduler, in CTA 0, that it has read the slot. Blocks: never.
  constexpr void arrive_empty(SourceSite site = SourceSite::current()) const {
    arrive_at<ArrivalKind::kEveryLane>(
        *machine_, storage_->barriers.empty[consumer_.index], 0, site);
  }
  constexpr std::uint32_t producer_stage() const { return producer_.index; }  // of the next request
  constexpr std::uint32_t consumer_stage() const { return consumer_.index; }  // of the next fetch
  constexpr void producer_step() { producer_.step(storage_->barriers.stages); }  // to the next slot
  constexpr void consumer_step() { consumer_.step(storage_->barriers.stages); }  // to the next slot

  constexpr const Storage& storage() const { return *storage_; }  // what it refers to

 private:
  constexpr bool alone() const { return storage_->cluster.is_single_cta(); }

  M* machine_;
  const Storage* storage_;
  Throttle throttle_;
  PipelineState producer_;
  PipelineState consumer_;
};

}  // namespace warptwin
