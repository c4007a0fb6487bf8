/// Who fills and who frees the stages of a ring, said once, in its type:
///
///   InputTilePipeline<M, Payload, From<Role::kLoad, TmaBytes>, To<Role::kMma, UmmaCommit>>
///
/// Arrival counts, byte counts and contracts are derived from it.

#pragma once

#include <cstdint>
#include <type_traits>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_layout.hpp"
#include "common/machine/types.hpp"
#include "common/sync/mbarrier.hpp"

namespace warptwin {

/// One elected lane arms the barrier with the stage's bytes; its copies deliver them.
struct TmaBytes {
  static constexpr ArrivalKind kKind = ArrivalKind::kTmaBytes;  // how contracts call it
};
/// One tcgen05.commit, which arrives when the MMAs issued before it are done.
struct UmmaCommit {
  static constexpr ArrivalKind kKind = ArrivalKind::kUmmaCommit;  // how contracts call it
};
/// Every lane of every warp of the role arrives for itself.
struct EveryLane {
  static constexpr ArrivalKind kKind = ArrivalKind::kEveryLane;  // how contracts call it
};
/// The role is several warpgroups that take the stages in turn: every lane of the one whose turn it
/// is arrives.
struct WarpgroupLanes {
  static constexpr ArrivalKind kKind = ArrivalKind::kEveryLane;  // how contracts call it
};
/// Every lane of every warp of the role fills its part by cp.async, which arrives for it when all
/// its copies are there. The tensor core reads by another proxy than they write: whoever has waited
/// for them fences first.
struct CopiedByLanes {
  static constexpr ArrivalKind kKind = ArrivalKind::kEveryLane;  // how contracts call it

  /// The producer's: gives up what its lanes copy. Participants: the whole warp. Blocks: never.
  template <Machine M>
  static constexpr void hand_over(M& machine, Mbarrier full, SourceSite site) {
    machine.cp_async_mbarrier_arrive_noinc(full, site);
  }
  /// The consumer's, behind its wait. Participants: the whole warp. Blocks: never.
  template <Machine M>
  static constexpr void take_over(M& machine, SourceSite site) {
    machine.fence_proxy_async(ProxySpace::kSharedCta, site);
  }
  /// In the peer of a pair: `wait()`s for its own lanes, fences, for the leader's fence would be of
  /// another CTA's memory, and tells the leader. Participants: the whole warp. Blocks: in `wait`.
  template <Machine M>
  static constexpr void pass_on(
      M& machine, auto&& wait, Mbarrier peer, std::uint32_t leader, SourceSite site) {
    wait();
    take_over(machine, site);
    arrive_at<ArrivalKind::kElectedLane>(machine, peer, leader, site);
  }
};

/// One lane of every warp of the role arrives, after a warp sync, for all of them.
struct ElectedLane {
  static constexpr ArrivalKind kKind = ArrivalKind::kElectedLane;  // how contracts call it
};

/// The same in every CTA of the cluster whose copies bring each other's tiles: `sharers`.
///
/// Requires: a cluster along M or along N alone, so that all of its CTAs share an operand, or
///           copies that bring A alone.
struct ElectedLaneOfSharers {
  static constexpr ArrivalKind kKind = ArrivalKind::kElectedLane;  // how contracts call it
};

/// The same where lanes read stages themselves: the arrival tells that they have.
struct ReadingLaneOfSharers {
  static constexpr ArrivalKind kKind = ArrivalKind::kElectedLane;  // how contracts call it
};

/// The role that fills stages, and how it completes a full barrier.
template <Role kWho, class How>
struct From {
  using Way = How;                                  // what its lanes do, where they copy
  static constexpr Role kRole = kWho;               // who fills
  static constexpr ArrivalKind kKind = How::kKind;  // how it completes a full barrier
  /// Whether its lanes copy for themselves.
  static constexpr bool kByLanes = std::is_base_of_v<CopiedByLanes, How>;
  /// Whether a phase has the arrivals of one warpgroup, not of all warps of the role.
  static constexpr bool kOneWarpgroup = std::is_same_v<How, WarpgroupLanes>;
};

/// A role that frees stages, and how it arrives on an empty barrier. A ring may have several.
template <Role kWho, class How>
struct To {
  static constexpr Role kRole = kWho;               // who frees
  static constexpr ArrivalKind kKind = How::kKind;  // how it arrives on an empty barrier
  /// Whether a phase has the arrivals of one warpgroup, not of all warps of the role.
  static constexpr bool kOneWarpgroup = std::is_same_v<How, WarpgroupLanes>;
  /// Whether it frees the stage in every CTA of the cluster.
  static constexpr bool kOfSharers =
      std::is_same_v<How, ElectedLaneOfSharers> || std::is_same_v<How, ReadingLaneOfSharers>;
  /// Whether its arrivals elsewhere are ordered behind what its lanes have read.
  static constexpr bool kReleases = std::is_same_v<How, ReadingLaneOfSharers>;
  static_assert(kKind != ArrivalKind::kTmaBytes, "bytes fill a stage; they do not free it");
};

/// The first of a ring's consumers: the one meant when none is named.
template <class First, class... Rest>
struct FirstOf {
  using Type = First;  // the first consumer
};
/// The consumer that is meant where none is named.
template <class... Consumers>
using FirstConsumer = typename FirstOf<Consumers...>::Type;

/// Whether a participant is among those that were declared.
template <class Participant, class... Declared>
inline constexpr bool kIsOneOf = (std::is_same_v<Participant, Declared> || ...);

/// Arrivals per phase of one participant, by its own CTA, on a barrier of that CTA.
template <class Participant, std::uint32_t kRows>
constexpr std::uint32_t arrivals_of(RoleTable<kRows> roles) {
  switch (Participant::kKind) {
    case ArrivalKind::kTmaBytes:
    case ArrivalKind::kUmmaCommit:
      return 1;
    case ArrivalKind::kEveryLane:
      return Participant::kOneWarpgroup ? kWarpsPerWarpgroup * kWarpLanes
                                        : roles.lanes(Participant::kRole);
    case ArrivalKind::kElectedLane:
      return roles.warps(Participant::kRole);
  }
  return 0;
}

/// One participant in a barrier's contract.
template <class Participant>
constexpr Contributor contributor(std::uint32_t arrivals) {
  return {Participant::kRole, Participant::kKind, arrivals};
}

/// A contract of up to five classes of contributors.
template <class... Contributors>
constexpr BarrierContract contract(Role waiter, std::uint32_t bytes, Contributors... contributors) {
  static_assert(sizeof...(Contributors) <= BarrierContract::kContributorsMax,
                "a barrier has at most five classes of contributors");
  return {{contributors...}, bytes, waiter};
}

/// The full barrier of a ring inside one CTA.
template <class Producer, class Consumer, std::uint32_t kRows>
constexpr BarrierContract full_contract(RoleTable<kRows> roles, std::uint32_t stage_bytes) {
  return contract(Consumer::kRole,
                  Producer::kKind == ArrivalKind::kTmaBytes ? stage_bytes : 0,
                  contributor<Producer>(arrivals_of<Producer>(roles)));
}

/// The empty barrier of a ring inside one CTA.
template <class Producer, class... Consumers, std::uint32_t kRows>
constexpr BarrierContract empty_contract(RoleTable<kRows> roles) {
  return contract(Producer::kRole, 0, contributor<Consumers>(arrivals_of<Consumers>(roles))...);
}

}  // namespace warptwin
