/// Barriers and tiles of an input pipeline, and what is derived from its declaration.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/payload.hpp"

namespace warptwin {

template <Machine M, TilePayload Payload, class Producer, class... Consumers>
class InputTilePipeline;

/// `stages` barrier pairs over `stages * k_group` slots: a pair guards a group of `k_group` k
/// steps.
///
/// Barrier    Arrivals per phase                                 Bytes per phase
/// full[s]    1, the leader's producer                           group_ctas * k_group * copy_bytes
///            or, by cp.async, every lane of the role            -
/// empty[s]   per consumer: m / group_ctas + n - 1 commits,      -
///            or the lanes or warps of this CTA's role, or of all CTAs'
///
/// peer[s]    of a pair whose lanes copy: 1, of the peer's       -
///            consumer
///
/// With pairs, only the leader's full barriers are used: every copy of the pair counts there.
/// Copies that lanes make can tell their own CTA alone: the peer's consumer waits for them there,
/// and tells the leader's `peer`.
template <TilePayload Payload, class Producer, class... Consumers>
struct InputPipelineStorage {
  using Filler = Producer;  // who fills stages, and how
  template <Machine M>
  using Pipeline = InputTilePipeline<M, Payload, Producer, Consumers...>;  // one warp's view

  /// Asks `layout` for the tiles of `stages` stages, a slot for each k step of one, and then for
  /// the barriers, whose counts follow from participants, roles and cluster.
  template <class Layout, std::uint32_t kRows>
  constexpr InputPipelineStorage(Layout& layout,
                                 const char* owner,
                                 RoleTable<kRows> roles,
                                 const ClusterShape& cluster_shape,
                                 const Payload& payload_shape,
                                 std::uint32_t stages)
      : payload{payload_shape},
        cluster{cluster_shape},
        k_group{k_steps(payload_shape)},
        stage_bytes{k_group * payload.slot_bytes()},
        full_bytes{cluster.group_ctas() * k_group * payload.copy_bytes()},
        tiles{layout.tiles({owner, "tile"}, stages, stage_bytes, kTileAlignment)},
        barriers{
            layout,
            owner,
            stages,
            full_contract<Producer, FirstConsumer<Consumers...>>(roles, full_bytes),
            contract(Producer::kRole,
                     0,
                     contributor<Consumers>(empty_arrivals<Consumers>(roles, cluster_shape))...)},
        peer{peers(layout, owner)} {
    layout.ring({owner, barriers.full, barriers.empty, stages, tiles, stage_bytes});
  }

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
    if constexpr (Producer::kByLanes) {
      for (std::uint32_t stage = 0; stage < (tells_leader() ? barriers.stages : 0); ++stage) {
        machine.mbarrier_init(peer[stage], 1, site);
      }
    }
  }
  /// Whether the peer's consumer tells the leader of what lanes have copied.
  constexpr bool tells_leader() const { return Producer::kByLanes && cluster.is_pair(); }

  /// The tiles of k step `j` of stage `index`.
  constexpr auto at(std::uint32_t index, std::uint32_t j) const {
    return payload.at(tiles + index * stage_bytes + j * payload.slot_bytes());
  }

  Payload payload;            // the tiles of one k step
  ClusterShape cluster;       // whose CTAs share them
  std::uint32_t k_group;      // k steps that one pair of barriers guards
  std::uint32_t stage_bytes;  // of shared memory: `k_group` slots
  std::uint32_t full_bytes;   // that one phase of full expects: of the whole pair
  SharedAddress tiles;        // of stage 0
  BarrierPair barriers;       // full and empty, one of each for a stage
  MbarrierArray peer;         // one a stage where `tells_leader()`; otherwise none

 private:
  template <class Layout>
  constexpr MbarrierArray peers(Layout& layout, const char* owner) const {
    if constexpr (Producer::kByLanes) {
      constexpr Role kConsumer = FirstConsumer<Consumers...>::kRole;
      return layout.barriers(
          {owner, "peer"},
          tells_leader() ? barriers.stages : 0,
          contract(kConsumer, 0, Contributor{kConsumer, ArrivalKind::kElectedLane, 1}));
    } else {
      return {};
    }
  }
  static constexpr std::uint32_t k_steps(const Payload& payload_shape) {
    if constexpr (requires { payload_shape.k_group; }) {
      return payload_shape.k_group;
    } else {
      return 1;
    }
  }
  template <class Consumer, std::uint32_t kRows>
  static constexpr std::uint32_t empty_arrivals(RoleTable<kRows> roles, const ClusterShape& shape) {
    if (Consumer::kKind == ArrivalKind::kUmmaCommit) {
      return shape.input_empty_arrivals();
    }
    return arrivals_of<Consumer>(roles) * (Consumer::kOfSharers ? shape.sharers() : 1);
  }
};

}  // namespace warptwin
