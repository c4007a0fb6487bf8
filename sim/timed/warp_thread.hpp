/// One warp of the machine: a fiber for as long as the run lasts, on the timeline of its SM.

#pragma once

#include <alloca.h>
#include <functional>
#include <memory>
#include <utility>

#include "sim/fibers/fiber.hpp"
#include "sim/timed/sm.hpp"
#include "sim/timed/turns.hpp"

namespace warptwin::sim {

class WarpThread : private Callee, private Asker {
 public:
  /// Begins `life` when it is woken first.
  WarpThread(WarpSlot slot, std::function<void()> life)
      : fiber_{GuardedStacks{kStackBytes}, [this, slot, life = std::move(life)] {
                 // All stacks begin at the same place of a page: left there, they would share few
                 // lines of the caches.
                 static_cast<volatile char*>(alloca((1 + slot * 37 % 256) * kLine))[0] = 0;
                 life();
                 return &caller_;
               }} {}
  WarpThread(const WarpThread&) = delete;
  WarpThread& operator=(const WarpThread&) = delete;

  Timeline& timeline() { return sm->cluster.timeline; }
  /// Goes on at `when`, which is not in the past. Whoever wakes it first says when.
  void wake_at(Ticks when) {
    if (!std::exchange(woken_, true)) {
      timeline().at(when, *this);
    }
  }
  /// From the warp: gives way until it is woken.
  void suspend() { fiber_.switch_to(caller_); }
  /// The same until its turn to ask for what all SMs share.
  void wait_for_turn(Turns& turns) {
    turns.ask(timeline(), *this);
    suspend();
  }
  /// From outside: goes on now, unless it has come to its end.
  void resume() {
    woken_ = false;
    if (!fiber_.has_ended()) {
      caller_.switch_to(fiber_);
    }
  }

  Sm* sm = nullptr;  // where it runs
  std::uint32_t part = 0;
  bool parked = false;  // its operation cannot be executed yet
  Ticks looks = 0;      // while parked: when it looks, had it not run ahead
  Ticks debt = 0;       // how far it has run ahead
  StepName role;
  Cause last = kNoCause;   // its last step
  Cause waker = kNoCause;  // while parked: what ended its wait

 private:
  static constexpr std::size_t kStackBytes = stack_bytes(80 * 1024);
  static constexpr std::size_t kLine = 64;

  void call(std::uint32_t) override { resume(); }
  void turn() override { resume(); }

  bool woken_ = false;  // and has not gone on
  Fiber caller_;        // whoever went on with it last
  Fiber fiber_;
};

}  // namespace warptwin::sim
