/// The handles of an input pipeline's stages.

#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/pipeline/typestate.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/lane_copies.hpp"
#include "common/tile/operand_tile.hpp"

namespace warptwin {

/// Arrives on the empty barriers of everyone whose copies a consumer has read: a commit tells all
/// CTAs of its row and column, threads tell their own CTA, or, as `ElectedLaneOfSharers`, one of a
/// warp tells every CTA of the cluster. Relaxed: that the tile was read by a wgmma, or otherwise by
/// the async proxy, needs no memory of the warp's to be visible; and a release of cluster scope
/// waits for all of it (on Hopper a MEMBAR.ALL.GPU). `ReadingLaneOfSharers` releases all the same.
///
/// Participants: the whole warp. Blocks: never.
template <class Consumer, Machine M>
constexpr void free_input(M& machine,
                          Mbarrier empty,
                          const ClusterShape& cluster,
                          SourceSite site) {
  constexpr ArrivalKind kKind = Consumer::kKind;
  if constexpr (kKind == ArrivalKind::kUmmaCommit) {
    if (cluster.is_single_cta()) {
      machine.tcgen05_commit(cluster.group, empty, site);
    } else {
      const CtaMask sharers = cluster.input_empty_multicast(machine.cta_rank());
      machine.tcgen05_commit_multicast(cluster.group, empty, sharers, site);
    }
  } else if (Consumer::kOfSharers && !cluster.is_single_cta()) {
    machine.sync_warp(site);
    const std::uint32_t own = machine.cta_rank();
    machine.for_lanes(cluster.sharers(), [&](std::uint32_t i) {
      machine.mbarrier_arrive(machine.mapa(empty, cluster.sharer(own, i)),
                              1,
                              Consumer::kReleases ? kReleaseCluster : kRelaxedCluster,
                              site);
    });
  } else {
    arrive_as<kKind>(machine, empty, site);
  }
}

/// A stage being filled by copies. Its full barrier is armed; it completes when all bytes are
/// there.
template <Machine M, class Storage>
class WARPTWIN_LINEAR [[nodiscard]] InputProducerStage {
 public:
  /// Made by `acquire_producer`, which has waited and, in the leader, armed.
  constexpr InputProducerStage(StageClaim<M> claim, const Storage& storage)
      : claim_{std::move(claim)}, storage_{&storage} {}
  constexpr InputProducerStage(InputProducerStage&&) = default;  // takes over the duty to release
  WARPTWIN_ONCE_GIVEN_UP constexpr ~InputProducerStage() {}      // a stage still held is reported

  /// The tiles of the stage; of k step `j` of its group.
  WARPTWIN_WHILE_HELD constexpr auto payload(std::uint32_t j = 0) const {
    return storage_->at(index(), j);
  }
  /// The stage's place in the ring, from 0.
  WARPTWIN_WHILE_HELD constexpr std::uint32_t index() const { return claim_.state().index; }
  /// The full barrier.
  WARPTWIN_WHILE_HELD constexpr Mbarrier barrier() const {
    return storage_->barriers.full[index()];
  }

  /// Copies tile `at` of a matrix into the stage; see `load_slice`.
  ///
  /// Participants: the whole warp; one elected lane issues. Blocks: never.
  template <class Tile>
  WARPTWIN_WHILE_HELD constexpr void load(const typename M::TensorMap& map,
                                          TileIndex at,
                                          const Tile& tile,
                                          SourceSite site = SourceSite::current()) const {
    load_slice(claim_.machine(), map, at, tile, barrier(), storage_->cluster, site);
  }

  /// The same of one of several matrices.
  template <class Tile>
  WARPTWIN_WHILE_HELD constexpr void load(const typename M::TensorMap& map,
                                          const std::same_as<BatchTileIndex> auto& at,
                                          const Tile& tile,
                                          SourceSite site = SourceSite::current()) const {
    load_slice(claim_.machine(), map, at, tile, barrier(), storage_->cluster, site);
  }

  /// Copies a box of a tensor of any rank into the stage, from element `at` on, for this CTA alone.
  ///
  /// Participants: the whole warp; one elected lane issues. Blocks: never.
  template <std::uint32_t kRank, class Element>
  WARPTWIN_WHILE_HELD constexpr void load(const typename M::TensorMap& map,
                                          Coordinates<kRank> at,
                                          const OperandTile<Element>& tile,
                                          SourceSite site = SourceSite::current()) const {
    const CopyTarget target{barrier(), {}, storage_->cluster.group};
    claim_.machine().cp_async_bulk_tensor_load(tile.tile.base, map, at, target, site);
  }

  /// Copies what `at` says to a place in the stage, for this CTA alone.
  ///
  /// Participants: the whole warp, of which one elected lane issues, or one lane. Blocks: never.
  template <class At>
  WARPTWIN_WHILE_HELD constexpr void load(const typename M::TensorMap& map,
                                          const At& at,
                                          SharedAddress to,
                                          SourceSite site = SourceSite::current()) const {
    load(map, at, to, CtaMask{}, site);
  }
  /// The same for all `sharers`, to the same place in their stages; none of them: as above.
  template <class At>
  WARPTWIN_WHILE_HELD constexpr void load(const typename M::TensorMap& map,
                                          const At& at,
                                          SharedAddress to,
                                          CtaMask sharers,
                                          SourceSite site = SourceSite::current()) const {
    const CopyTarget target{barrier(), sharers, storage_->cluster.group};
    claim_.machine().cp_async_bulk_tensor_load(to, map, at, target, site);
  }

  /// Copies the calling warp's share of tile `at` of a matrix, `bytes` a lane; see `copy_rows`.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element, class Bytes>
  WARPTWIN_WHILE_HELD constexpr void copy(const MatrixRows<Element>& from,
                                          TileIndex at,
                                          const OperandTile<Element>& tile,
                                          Bytes bytes,
                                          WarpShare share,
                                          SourceSite site = SourceSite::current()) const {
    copy_rows(claim_.machine(), from, at, tile.tile, bytes, share, site);
  }

  /// Gives the stage up; the bytes under way complete it, or the copies that lanes have made.
  WARPTWIN_GIVES_UP constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      if constexpr (Storage::Filler::kByLanes) {
        Storage::Filler::Way::hand_over(claim_.machine(), barrier(), site);
      }
      claim_.note(StageStep::kProducerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
};

/// A stage being read. `release` arrives on its empty barrier, once: an MMA's by a tcgen05.commit
/// after the MMAs issued so far, to all CTAs that share its tiles.
template <Machine M, class Storage, class Consumer>
class WARPTWIN_LINEAR [[nodiscard]] InputConsumerStage {
 public:
  /// Made by `acquire_consumer` or `claim_consumer`.
  constexpr InputConsumerStage(StageClaim<M> claim, const Storage& storage)
      : claim_{std::move(claim)}, storage_{&storage} {}
  constexpr InputConsumerStage(InputConsumerStage&&) = default;  // takes over the duty to release
  WARPTWIN_ONCE_GIVEN_UP constexpr ~InputConsumerStage() {}      // a stage still held is reported

  /// The tiles of the stage; of k step `j` of its group.
  WARPTWIN_WHILE_HELD constexpr auto payload(std::uint32_t j = 0) const {
    return storage_->at(index(), j);
  }
  /// The stage's place in the ring, from 0.
  WARPTWIN_WHILE_HELD constexpr std::uint32_t index() const { return claim_.state().index; }
  /// The empty barrier.
  WARPTWIN_WHILE_HELD constexpr Mbarrier mbar() const { return storage_->barriers.empty[index()]; }

  /// Participants: the whole warp. Blocks: never.
  /// Requires:     the stage's MMAs were issued by this warp.
  WARPTWIN_GIVES_UP constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      free_input<Consumer>(claim_.machine(),
                           storage_->barriers.empty[claim_.state().index],
                           storage_->cluster,
                           site);
      claim_.note(StageStep::kConsumerReleased);
    }
  }
  /// Gives the stage up without an arrival: it has been made with `mbar()`.
  WARPTWIN_GIVES_UP constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kConsumerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
};

}  // namespace warptwin
