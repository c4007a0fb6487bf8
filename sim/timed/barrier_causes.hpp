/// What the phases of mbarriers waited for, and so the warps that waited for those. Does nothing
/// where nobody asks for causes.

#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "sim/model/gpu.hpp"
#include "sim/timed/causes.hpp"
#include "sim/timed/warp_thread.hpp"

namespace warptwin::sim {

/// An mbarrier that an operation may act on, and its phase before it.
struct Signal {
  std::uint32_t cta = 0;
  std::uint32_t address = 0;
  const MbarrierState* barrier = nullptr;
  std::uint32_t phase = 0;
  bool waits = false;
};

class BarrierCauses {
 public:
  /// Of the last `steps` steps, or half as many; 0: of none.
  BarrierCauses(const Gpu& gpu, std::size_t steps)
      : gpu_{gpu}, log_{steps != 0 ? std::make_unique<CauseLog>(steps) : nullptr} {}

  /// Null where nobody asks.
  CauseLog* log() const { return log_.get(); }

  /// What a warp's operation acts on; remote arrivals are on their way first.
  Signal signal_of(WarpSlot warp, const Operation& op) const {
    return log_ == nullptr ? Signal{} : find_signal(warp, op);
  }
  /// What an asynchronous agent's next step acts on.
  Signal signal_of(AgentSlot slot) const { return log_ == nullptr ? Signal{} : find_signal(slot); }

  /// A contribution to a phase has been made; perhaps it was the last.
  void arrived(const Signal& signal);
  /// The warp has issued its next operation at `when`: what follows is because of that.
  void come_to(WarpThread& thread, Ticks when);
  /// A wait that has not parked was for something all the same.
  void passed(WarpThread& thread, const Operation& op, const Signal& signal);
  /// Why a warp that has parked goes on.
  Cause waker_of(const Warp& warp);

 private:
  /// Of one mbarrier: what the phase that is open waits for, and what ended the last one.
  struct PhaseCauses {
    Cause open = kNoCause;
    Cause done = kNoCause;
  };

  Signal find_signal(WarpSlot warp, const Operation& op) const;
  Signal find_signal(AgentSlot slot) const;
  Signal signal_at(std::uint32_t cta, std::uint32_t address, bool waits = false) const;
  PhaseCauses& causes_of(std::uint32_t cta, std::uint32_t address) {
    return phases_[std::uint64_t{cta} << 32 | address];
  }

  const Gpu& gpu_;
  std::unique_ptr<CauseLog> log_;
  std::unordered_map<std::uint64_t, PhaseCauses> phases_;  // by CTA slot and address
};

}  // namespace warptwin::sim
