/// Tensor memory as kernels use it: an allocation, accumulator stages in it, and its end.

#pragma once

#include <bit>
#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/types.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"
#include "common/sync/warp_group_barrier.hpp"

namespace warptwin {

/// What tensor memory can be allocated in: powers of two, at least 32 columns.
constexpr std::uint32_t tmem_allocation_columns(std::uint32_t columns) {
  return std::bit_ceil(columns < 32 ? 32U : columns);
}

/// Accumulator stages in tensor memory: stage i starts at column i * stage_stride_columns.
///
/// Requires: columns() <= 512.
struct OutputPipelineConfig {
  std::uint32_t stages = 2;                  // accumulators in turn
  std::uint32_t stage_stride_columns = 256;  // from one accumulator to the next
  std::uint32_t columns_beside = 0;          // allocated behind the accumulators: for scale factors

  /// Columns that the accumulators take.
  constexpr std::uint32_t accum_columns() const { return stages * stage_stride_columns; }
  /// Columns to allocate, before they are rounded up.
  constexpr std::uint32_t columns() const { return accum_columns() + columns_beside; }
};

/// The columns of one accumulator stage.
struct TmemStage {
  TmemAddress base;  // of lane 0, first column

  constexpr TmemAddress address() const { return base; }  // what an MMA takes as D
  /// Column `column` of the accumulator, counted from its first, in lane 0.
  constexpr TmemAddress at_column(std::uint32_t column) const { return base.at_column(column); }
};

/// An A operand in tensor memory: lane m holds row m, packed into 32-bit cells from `base` on.
template <class Element>
struct TmemOperand {
  TmemAddress base;  // of row 0, where K begins

  /// The part that begins `bytes` further along K.
  constexpr TmemAddress advanced(std::uint32_t bytes) const { return base.at_column(bytes / 4); }
};

/// Columns of tensor memory this CTA owns, and its peer too if it is one of a pair.
struct TmemAllocation {
  TmemAddress base;           // of lane 0, first column
  std::uint32_t columns = 0;  // of 4 bytes a lane; as allocated: a power of two from 32 to 512
  CtaGroup group = CtaGroup::kOne;  // kTwo: the peer has the same columns

  /// Participants: one whole warp of every CTA of the group. Blocks: until the columns are free.
  template <Machine M>
  static constexpr TmemAllocation allocate(M& machine,
                                           SharedAddress word,
                                           std::uint32_t columns,
                                           CtaGroup group,
                                           SourceSite site = SourceSite::current()) {
    const std::uint32_t granted = tmem_allocation_columns(columns);
    machine.tcgen05_alloc(group, word, granted, site);
    return from_shared(machine, word, granted, group, site);
  }
  /// Reads the address that `allocate` left in shared memory.
  ///
  /// Requires: a barrier between the allocation and this, unless by the same warp.
  template <Machine M>
  static constexpr TmemAllocation from_shared(M& machine,
                                              SharedAddress word,
                                              std::uint32_t columns,
                                              CtaGroup group,
                                              SourceSite site = SourceSite::current()) {
    return {{machine.ld_shared_u32(word, site)}, tmem_allocation_columns(columns), group};
  }
  /// Lets other CTAs of the SM allocate: this one will not again.
  template <Machine M>
  constexpr void release_lock(M& machine, SourceSite site = SourceSite::current()) const {
    machine.tcgen05_relinquish_alloc_permit(group, site);
  }
  /// Participants: the warp that allocated. Requires: all uses are over, in the peer CTA too.
  template <Machine M>
  constexpr void deallocate(M& machine, SourceSite site = SourceSite::current()) const {
    machine.tcgen05_dealloc(group, base, columns, site);
  }

  /// The same memory from column `first` on: where another ring's stages begin. Not to be freed.
  constexpr TmemAllocation from_column(std::uint32_t first) const {
    return {base.at_column(first), columns - first, group};
  }
  /// The accumulator of stage `index` of a ring that begins at `base`.
  constexpr TmemStage stage(const OutputPipelineConfig& config, std::uint32_t index) const {
    return {base.at_column(index * config.stage_stride_columns)};
  }
};

/// The barrier that frees tensor memory, the word its address is handed over in, and the named
/// barrier it is handed over with. Of a pair also the barrier that tells the leader, whose MMAs
/// write the tensor memory of both CTAs, that its peer has allocated: the manual does not say that
/// a pair's allocation brings the two together.
///
/// Barrier    Arrivals per phase              Completion means
/// dealloc    the users' lanes, of each CTA   tensor memory may be freed; single-use
///            of the group
/// peer       1, of the peer's owner          the peer has allocated; single-use, of pairs
template <Role kOwner = Role::kMma, Role kUser = Role::kEpilogue, Role... kMoreUsers>
struct TmemDeallocStorage {
  /// Asks `layout` for the barriers and the word. Users are counted in every CTA of the group.
  template <class Layout, std::uint32_t kRows>
  constexpr TmemDeallocStorage(Layout& layout,
                               const char* owner,
                               RoleTable<kRows> roles,
                               const ClusterShape& cluster_shape)
      : cluster{cluster_shape},
        arrivals{(roles.lanes(kUser) + ... + roles.lanes(kMoreUsers)) * cluster.group_ctas()},
        barrier{layout.barriers(
            {owner, "done"},
            1,
            contract(kOwner, 0, user<kUser>(roles), user<kMoreUsers>(roles)...))[0]},
        peer{layout.barriers(
            {owner, "peer"},
            cluster_shape.is_pair() ? 1 : 0,
            contract(kOwner, 0, Contributor{kOwner, ArrivalKind::kElectedLane, 1}))},
        word{layout.word({owner, "address"})},
        hand_off{WarpGroupBarrier::of<kOwner, kUser, kMoreUsers...>(NamedBarrierId::kTmemHandOff,
                                                                    roles)} {}

  /// Participants: one elected lane of one warp.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    machine.mbarrier_init(barrier, arrivals, site);
    if (cluster.is_pair()) {
      machine.mbarrier_init(peer[0], 1, site);
    }
  }
  /// Brings the owners of a pair's allocations together: the peer's tells the leader's, who waits.
  /// Nothing without pairs.
  ///
  /// Participants: the whole warp that has allocated, of each CTA. Blocks: the leader's, until the
  /// peer has allocated.
  template <Machine M>
  constexpr void meet_peer(M& machine, SourceSite site = SourceSite::current()) const {
    if (!cluster.is_pair()) {
      return;
    }
    const std::uint32_t rank = machine.cta_rank();
    if (cluster.is_leader(rank)) {
      acquire(machine, peer[0], WaitPhase::number(0), acquire_within(false), site);
    } else {
      arrive_at<ArrivalKind::kElectedLane>(machine, peer[0], cluster.peer(rank), site);
    }
  }

  /// Whether the owner gives up the allocation permit as soon as it has its columns. In a cluster
  /// of several groups it does: until it ends it waits for the others' copies, and a CTA of another
  /// cluster that it kept out would keep the others out.
  constexpr bool gives_up_permit_at_once() const { return cluster.ctas() > cluster.group_ctas(); }

  ClusterShape cluster;       // says which CTAs free together
  std::uint32_t arrivals;     // the users' lanes, in every CTA of the group
  Mbarrier barrier;           // completes when every user of the group is done
  MbarrierArray peer;         // one for a pair, completed by the peer; otherwise none
  SharedAddress word;         // of 4 bytes, where the allocation's address is written
  WarpGroupBarrier hand_off;  // the owner arrives when the word is written; users wait

 private:
  template <Role kWho, std::uint32_t kRows>
  constexpr Contributor user(RoleTable<kRows> roles) const {
    return {kWho, ArrivalKind::kEveryLane, roles.lanes(kWho) * cluster.group_ctas()};
  }
};

/// The end of tensor memory's life: its users say when they are done, its owner waits and frees it.
template <Machine M, class Storage = TmemDeallocStorage<>>
class TmemDeallocBarrier {
 public:
  /// `machine` and `storage` must outlive it.
  constexpr TmemDeallocBarrier(M& machine, const Storage& storage)
      : machine_{&machine}, storage_{&storage} {}

  /// Every calling lane arrives in the pair's other CTA; nothing without pairs.
  constexpr void signal_peer(SourceSite site = SourceSite::current()) const {
    if (storage_->cluster.is_pair()) {
      const std::uint32_t peer = storage_->cluster.peer(machine_->cta_rank());
      arrive_at<ArrivalKind::kEveryLane>(*machine_, storage_->barrier, peer, site);
    }
  }
  /// Every calling lane arrives in the own CTA.
  constexpr void signal_self(SourceSite site = SourceSite::current()) const {
    arrive_as<ArrivalKind::kEveryLane>(*machine_, storage_->barrier, site);
  }
  /// All accesses of the calling warp are over: orders them, tells the peer, then the own CTA.
  ///
  /// Participants: every warp of the using role, once. Blocks: never.
  constexpr void signal_complete(SourceSite site = SourceSite::current()) const {
    machine_->tcgen05_fence_before_thread_sync(site);
    signal_peer(site);
    signal_self(site);
  }
  /// Participants: the owner. Blocks: until every user of every CTA of the group is done.
  constexpr void wait(SourceSite site = SourceSite::current()) const {
    acquire(*machine_,
            storage_->barrier,
            WaitPhase::number(0),
            acquire_within(!storage_->cluster.is_pair()),
            site);
    machine_->tcgen05_fence_after_thread_sync(site);
  }
  /// Gives up the allocation permit, unless that was at once; waits, frees.
  constexpr void complete_dealloc(const TmemAllocation& tmem,
                                  SourceSite site = SourceSite::current()) const {
    if (!storage_->gives_up_permit_at_once()) {
      tmem.release_lock(*machine_, site);
    }
    wait(site);
    tmem.deallocate(*machine_, site);
  }

 private:
  M* machine_;
  const Storage* storage_;
};

}  // namespace warptwin
