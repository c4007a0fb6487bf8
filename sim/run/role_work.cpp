#include "sim/run/role_work.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

// What a kernel begins and ends with, whatever its roles do.
bool is_frame(const Event& event) {
  switch (event.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kFence:
    case Op::kFenceMbarrierInit:
    case Op::kTcgen05FenceBefore:
    case Op::kTcgen05FenceAfter:
    case Op::kClusterArrive:
    case Op::kClusterWait:
    case Op::kSyncWarp:
    case Op::kElectSync:
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
    case Op::kGriddepcontrolWait:
    case Op::kGriddepcontrolLaunch:
    case Op::kSetmaxnreg:
    case Op::kStageNote:
    case Op::kWarpStart:
    case Op::kWarpExit:
    case Op::kCtaExit:
      return true;
    case Op::kBarSync:
      return event.address == 0;
    default:
      return false;
  }
}

}  // namespace

RoleWork::RoleWork(const LaunchConfig& config, const Symbols& symbols, EventSink* next)
    : next_{next} {
  for (std::uint32_t warp = 0; warp < config.warps_per_cta; ++warp) {
    role_of_.push_back(symbols.role_of(warp));
  }
}

void RoleWork::on_event(const Event& event) {
  if (!role_of_.empty() && !is_frame(event)) {
    works_[static_cast<unsigned>(role_of_[event.warp % role_of_.size()])] = true;
  }
  next_->on_event(event);
}

std::vector<std::string> RoleWork::idle_roles() const {
  std::vector<std::string> idle;
  for (const Role role : role_of_) {
    const char* name = name_of(role);
    if (role != Role::kIdle && !works_[static_cast<unsigned>(role)] &&
        std::find(idle.begin(), idle.end(), name) == idle.end()) {
      idle.emplace_back(name);
    }
  }
  return idle;
}

}  // namespace warptwin::sim
