/// What the layer's waits and arrivals are made of.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_layout.hpp"
#include "common/sync/cluster_shape.hpp"

namespace warptwin {

/// A wait is as wide as the arrivals it observes: of the CTA, or of the cluster.
constexpr Ordering acquire_within(bool one_cta) {
  // Not `?:`: nvcc makes no device object for a constant that an expression refers to, only copies.
  if (one_cta) {
    return kAcquireCta;
  }
  return kAcquireCluster;
}

/// Waits for a phase, and brings the warp's lanes together: each lane waits for itself.
///
/// Participants: the whole warp. Blocks: until the phase has completed.
template <Machine M>
constexpr void acquire(
    M& machine, Mbarrier bar, WaitPhase phase, Ordering ordering, SourceSite site) {
  machine.mbarrier_wait_parity(bar, phase, ordering, site);
  machine.sync_warp(site);
}

/// Arrives on a barrier of the own CTA as a participant of kind `kKind` does.
///
/// A kTmaBytes participant has arrived when it armed the barrier: nothing is left to do. One
/// elected lane arrives for its warp only after the others have come.
///
/// Participants: the whole warp. Blocks: never.
template <ArrivalKind kKind, Machine M>
constexpr void arrive_as(M& machine, Mbarrier bar, SourceSite site) {
  if constexpr (kKind == ArrivalKind::kEveryLane) {
    machine.mbarrier_arrive(bar, 1, kReleaseCta, site);
  } else if constexpr (kKind == ArrivalKind::kElectedLane) {
    machine.sync_warp(site);
    machine.elect_one([&] { machine.mbarrier_arrive(bar, 1, kReleaseCta, site); });
  } else if constexpr (kKind == ArrivalKind::kUmmaCommit) {
    machine.tcgen05_commit(CtaGroup::kOne, bar, site);
  }
}

/// Arrives on the barrier at the same place in CTA `rank` of the cluster, which may be the own CTA.
///
/// Participants: the whole warp. Blocks: never.
template <ArrivalKind kKind, Machine M>
constexpr void arrive_at(M& machine, Mbarrier bar, std::uint32_t rank, SourceSite site) {
  static_assert(kKind == ArrivalKind::kEveryLane || kKind == ArrivalKind::kElectedLane,
                "only threads arrive on one chosen CTA; commits are multicast");
  const RemoteMbarrier remote = machine.mapa(bar, rank);
  if constexpr (kKind == ArrivalKind::kEveryLane) {
    machine.mbarrier_arrive(remote, 1, kReleaseCluster, site);
  } else {
    machine.sync_warp(site);
    machine.elect_one([&] { machine.mbarrier_arrive(remote, 1, kReleaseCluster, site); });
  }
}

/// Arms a barrier for the bytes of one phase: the producer's one arrival.
///
/// Participants: the whole warp; one elected lane, the one that issues the copies, arrives.
/// Blocks:       never.
template <Machine M>
constexpr void arm(M& machine, Mbarrier bar, std::uint32_t bytes, SourceSite site) {
  machine.elect_one([&] { machine.mbarrier_arrive_expect_tx(bar, bytes, site); });
}

}  // namespace warptwin
