/// Which roles of a launch did nothing: the sign of a role whose function was not run, or left at
/// once. A proof of such a launch is a proof of less than its text says.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/model/divisor.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/symbols.hpp"

namespace warptwin::sim {

/// Sees every event of a run, and hands it on.
class RoleWork : public EventSink {
 public:
  /// `symbols` and `next`, which is not null, outlive it.
  RoleWork(const LaunchConfig& config, const Symbols& symbols, EventSink* next);

  void on_event(const Event& event) override;

  /// The roles with warps none of which, in any CTA, executed more than what a kernel begins and
  /// ends with: initialisations, barriers of the whole CTA or cluster, allocations. Without
  /// `Role::kIdle`, which says of itself that it does nothing.
  std::vector<std::string> idle_roles() const;

 private:
  std::vector<Role> role_of_;  // by warp of a CTA
  Divisor warps_;              // of a CTA
  bool works_[static_cast<unsigned>(Role::kCount) + 1] = {};
  std::uint32_t idle_ = 0;  // roles of idle_roles() so far
  EventSink* next_;
};

}  // namespace warptwin::sim
