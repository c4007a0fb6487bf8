/// Groups of warps that come to a section of their code in turn, round and round.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_layout.hpp"
#include "common/pipeline/pipeline_state.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

/// An mbarrier for each group: `turn[g]` completes a phase when the group before has passed.
///
/// `kWho` is the role of all groups. Each group has the warps that `roles` gives to the role.
template <Role kWho>
struct OrderedSequenceStorage {
  /// Asks `layout` for the barriers, which reports call `owner`.turn[g].
  template <class Layout, std::uint32_t kRows>
  constexpr OrderedSequenceStorage(Layout& layout,
                                   const char* owner,
                                   RoleTable<kRows> roles,
                                   std::uint32_t group_count)
      : groups{group_count},
        arrivals{roles.warps(kWho)},
        turn{layout.barriers(
            {owner, "turn"},
            group_count,
            contract(kWho, 0, Contributor{kWho, ArrivalKind::kElectedLane, arrivals}))} {}

  /// Participants: one elected lane of one warp, before anyone waits.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    for (std::uint32_t group = 0; group < groups; ++group) {
      machine.mbarrier_init(turn[group], arrivals, site);
    }
  }

  std::uint32_t groups;    // that take turns
  std::uint32_t arrivals;  // a phase: the warps of a group
  MbarrierArray turn;      // one a group: it may go on
};

/// One warp's view. Group 0 begins.
///
/// Participants: every operation is the whole warp's, and every warp of its group does the same.
template <Machine M, Role kWho>
class OrderedSequence {
 public:
  /// Of a warp of group `group`. `machine` and `storage` must outlive it.
  constexpr OrderedSequence(M& machine,
                            const OrderedSequenceStorage<kWho>& storage,
                            std::uint32_t group)
      : machine_{&machine}, storage_{&storage}, group_{group} {}

  /// Waits until the group before has passed as often as it must. Blocks: for that.
  constexpr void wait(SourceSite site = SourceSite::current()) const {
    // The first group begins, as if the last one had passed.
    const WaitPhase phase = group_ == 0 ? turn_.empty_phase() : turn_.full_phase();
    acquire(*machine_, storage_->turn[group_], phase, kAcquireCta, site);
  }
  /// Lets the next group go on. Blocks: never.
  constexpr void pass(SourceSite site = SourceSite::current()) {
    const std::uint32_t next = group_ + 1 == storage_->groups ? 0 : group_ + 1;
    arrive_as<ArrivalKind::kElectedLane>(*machine_, storage_->turn[next], site);
    turn_.step(1);
  }

 private:
  M* machine_;
  const OrderedSequenceStorage<kWho>* storage_;
  std::uint32_t group_;
  PipelineState turn_;  // its lap: how often this group has passed
};

}  // namespace warptwin
