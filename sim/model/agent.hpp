/// Who can act in the machine, and the numbers by which schedules name them.

#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace warptwin::sim {

/// A place in the machine for one warp at a time.
using WarpSlot = std::uint32_t;

/// Somebody who can act. What his number means only the `Agents` of the machine can tell.
class AgentSlot {
 public:
  constexpr AgentSlot() = default;  // number 0: the first warp
  constexpr explicit AgentSlot(std::uint32_t number) : number_{number} {}
  static constexpr AgentSlot nobody() { return AgentSlot{~std::uint32_t{0}}; }

  /// As replay lines have it: a pick.
  constexpr std::uint32_t number() const { return number_; }
  friend constexpr auto operator<=>(AgentSlot, AgentSlot) = default;  // in the order of numbers

 private:
  std::uint32_t number_ = 0;
};

enum class AgentKind : std::uint8_t {
  kWarp,
  /// Of a warp: its mma and commit operations, in issue order; of the first warp of a warpgroup
  /// also the wgmma that all four have issued.
  kTensorQueue,
  kTmemPort,   // of a warp: its tcgen05.ld and .st, in issue order
  kLateLanes,  // the lanes a wait of the warp left behind, each wait of theirs in turn
  kTransfer,   // one copy to one CTA, one bulk store, one remote arrival
};

/// How the agents of a machine with so many places for warps are numbered: W warps, the tensor
/// queue of each, the tensor-memory port of each, the late lanes of each, then transfers.
class Agents {
 public:
  constexpr explicit Agents(std::uint32_t warps) : warps_{warps} {}

  static constexpr AgentSlot warp(WarpSlot warp) { return AgentSlot{warp}; }
  constexpr AgentSlot tensor_queue(WarpSlot warp) const {
    return of(AgentKind::kTensorQueue, warp);
  }
  constexpr AgentSlot tmem_port(WarpSlot warp) const { return of(AgentKind::kTmemPort, warp); }
  constexpr AgentSlot late_lanes(WarpSlot warp) const { return of(AgentKind::kLateLanes, warp); }
  constexpr AgentSlot transfer(std::uint32_t place) const {
    return of(AgentKind::kTransfer, place);
  }

  constexpr bool is_warp(AgentSlot agent) const { return agent.number() < warps_; }
  constexpr bool is_transfer(AgentSlot agent) const { return agent >= transfer(0); }
  constexpr AgentKind kind(AgentSlot agent) const {
    return static_cast<AgentKind>(std::min(agent.number() / warps_, kKindsOfWarps));
  }
  /// The warp that it is, or whose queue, port or lanes it is; not of a transfer.
  constexpr WarpSlot warp_of(AgentSlot agent) const { return agent.number() % warps_; }
  /// The place of a transfer among them.
  constexpr std::uint32_t place_of(AgentSlot transfer) const {
    return transfer.number() - kKindsOfWarps * warps_;
  }
  /// Numbers that are in use with so many places for transfers.
  constexpr std::uint32_t count(std::uint32_t transfers) const {
    return kKindsOfWarps * warps_ + transfers;
  }

 private:
  static constexpr std::uint32_t kKindsOfWarps = static_cast<std::uint32_t>(AgentKind::kTransfer);
  constexpr AgentSlot of(AgentKind kind, std::uint32_t place) const {
    return AgentSlot{static_cast<std::uint32_t>(kind) * warps_ + place};
  }

  std::uint32_t warps_;
};

}  // namespace warptwin::sim
