#include "sim/run/proof/role_work.hpp"

#include <algorithm>

#include "common/trace/op_facts.hpp"

namespace warptwin::sim {

namespace {

// What says nothing of a role's work. Barrier 0 is the whole CTA's.
bool is_frame(const Event& event) {
  return has_trait(event.op, op_trait::kFrame) || (event.op == Op::kBarSync && event.address == 0);
}

}  // namespace

RoleWork::RoleWork(const LaunchConfig& config, const Symbols& symbols, EventSink* next)
    : warps_{config.warps_per_cta}, next_{next} {
  for (std::uint32_t warp = 0; warp < config.warps_per_cta; ++warp) {
    const Role role = symbols.role_of(warp);
    const bool another = std::find(role_of_.begin(), role_of_.end(), role) == role_of_.end();
    idle_ += another && role != Role::kIdle ? 1 : 0;
    role_of_.push_back(role);
  }
}

void RoleWork::on_event(const Event& event) {
  if (idle_ != 0 && !is_frame(event)) {
    const Role role = role_of_[event.warp % warps_];
    bool& works = works_[static_cast<unsigned>(role)];
    idle_ -= works || role == Role::kIdle ? 0 : 1;
    works = true;
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
