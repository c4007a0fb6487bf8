#include "sim/functional/engine.hpp"

#include <algorithm>
#include <exception>
#include <unordered_set>
#include <vector>

#include "common/trace/op_facts.hpp"

#include "sim/fibers/fiber.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kStackBytes = stack_bytes(64 * 1024);
constexpr std::uint64_t kPerformedAfterEnd = std::uint64_t{1} << 20;
constexpr std::uint64_t kNotesInARow = std::uint64_t{1} << 16;  // more is a loop of nothing else
// So many steps without a change of state, everybody having had his turn, and nobody having come to
// where he was not before, and it is a livelock.
constexpr std::uint64_t kPollsPerAgent = 64;
// So many operations beside plain loads without a change in which somebody always came to a new
// place, as who counts his tries does, and the run is given up: nobody says how it would have
// ended. Who only loads may be adding up.
constexpr std::uint64_t kUnchangedMax = std::uint64_t{1} << 20;
// Of a warp whose registers and local memory say where it is, each of so many places is looked at;
// after each kNewPlaces of them in a row that were new, each of twice as many, up to 32 times.
constexpr std::uint32_t kPlacesApart = 8;
constexpr std::uint32_t kNewPlaces = 256;
constexpr std::uint32_t kDoublings = 5;
// So many places are kept, then it begins anew.
constexpr std::size_t kPlacesMax = std::size_t{1} << 20;

// What a warp does and where it is, for telling one that goes on from one that comes back.
std::uint64_t fingerprint(WarpSlot self, const Operation& op) {
  std::uint64_t value = self;
  const auto add = [&](std::uint64_t one) {
    value = (value ^ one) * 0x9E3779B97F4A7C15U;
    value ^= value >> 29;
  };
  if (op.state != nullptr) {
    add(op.state->fingerprint());
    return value;
  }
  add(static_cast<std::uint64_t>(op.op) << 32 | op.site.line);
  const Event told = op.told();
  const payload::Numbers numbers = told.numbers();
  add(std::uint64_t{told.address} << 32 | op.result);
  add(told.global + numbers.first);
  add(std::uint64_t{numbers.wanted} << 32 | numbers.place);
  return value;
}

/// Unwinds a warp whose run has ended.
struct AbortRun {};

class Engine {
 public:
  Engine(Gpu& gpu,
         const WarpBody& body,
         Scheduler& scheduler,
         const EngineLimits& limits,
         std::vector<AgentSlot>* recorded)
      : gpu_{gpu},
        body_{body},
        scheduler_{scheduler},
        limits_{limits},
        recorded_{recorded},
        warps_(gpu.warps().size()),
        alive_(gpu.warps().size(), false),
        acted_(gpu.warps().size(), 0) {
    ports_.reserve(warps_.size());
    for (WarpSlot slot = 0; slot < warps_.size(); ++slot) {
      ports_.push_back(Port{*this, slot});
    }
    poll_limit_ = kPollsPerAgent * (gpu.warps().size() + 16);
  }

  RunStats run() {
    gpu_.launch();
    spawn_started();
    if (const WarpSlot first = choose(); first != kNobody) {
      go_on(main_, first);
    }
    unwind();
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
    return stats_;
  }

 private:
  static constexpr WarpSlot kNobody = ~WarpSlot{0};

  struct Port : EnginePort {
    Port(Engine& engine, WarpSlot slot) : engine_{&engine}, slot_{slot} {}
    void perform(Operation& operation) override { engine_->perform(slot_, operation); }
    Engine* engine_;
    WarpSlot slot_;
  };

  void perform(WarpSlot self, Operation& op) {
    if (poisoned_) {
      // The run is over. A warp leaves at its next blocking operation, or, in a loop that has none,
      // after many others; what runs in destructors on the way does nothing.
      const bool leaves =
          has_trait(op.op, op_trait::kMayBlock) || ++performed_after_end_ > kPerformedAfterEnd;
      if (leaves && std::uncaught_exceptions() == 0) {
        throw AbortRun{};
      }
      return;
    }
    if (op.op == Op::kStageNote) {
      gpu_.execute(self, op);
      if (++notes_ > kNotesInARow) {
        end(Ending::kLivelock);
        go_on(*warps_[self], kNobody);
        perform(self, op);
      }
      return;
    }
    gpu_.announce(self, op);
    for (;;) {
      const WarpSlot next = choose();
      if (next != self) {
        go_on(*warps_[self], next);
        if (poisoned_) {
          perform(self, op);
          return;
        }
      }
      if (gpu_.execute(self, op)) {
        if (unchanged_ > poll_limit_) {
          note_place(self, op);
        }
        const bool peeks = op.op == Op::kMbarrierTryWait || (op.flags & event_flag::kPeek) != 0;
        if (peeks && op.result == 0) {
          scheduler_.yielded(Agents::warp(self));
        }
        return;
      }
    }
  }

  // Of an operation behind many that have changed nothing.
  void note_place(WarpSlot self, const Operation& op) {
    // Who keeps registers and goes on is somewhere new at each of his operations.
    const std::uint32_t apart = kPlacesApart << std::min(new_places_ / kNewPlaces, kDoublings);
    const std::uint32_t passed = op.state == nullptr ? 0 : ++acted_[self] % apart;
    if (passed == 0) {
      if (seen_.size() == kPlacesMax) {
        seen_.clear();
      }
      const bool is_new = seen_.insert(fingerprint(self, op)).second;
      new_places_ = is_new ? new_places_ + 1 : 0;
      stale_ = is_new ? poll_limit_ : stale_;
    } else if (passed >= kPlacesApart && stale_ > 0) {
      --stale_;  // nothing is known of this place
    }
    looks_ += op.op == Op::kGlobalLoad || op.op == Op::kSharedLoad ? 0 : 1;
  }

  // The next warp to act, after the asynchronous agents chosen before it have acted; kNobody when
  // the
  // run has ended.
  WarpSlot choose() {
    notes_ = 0;
    for (;;) {
      if (gpu_.trapped()) {
        return end(gpu_.ending_of_trap());
      }
      if (gpu_.ready().empty()) {
        return end(gpu_.finished() ? Ending::kDone : Ending::kDeadlock);
      }
      if (stats_.steps >= limits_.steps_max) {
        return end(Ending::kStepBound);
      }
      if (gpu_.changes() != last_change_) {
        last_change_ = gpu_.changes();
        unchanged_ = stale_ = looks_ = 0;
        if (!seen_.empty()) {
          seen_.clear();
        }
      } else if (++unchanged_; ++stale_ > 2 * poll_limit_) {
        return end(Ending::kLivelock);
      } else if (looks_ > kUnchangedMax) {
        return end(Ending::kStepBound);
      }
      // An unfair scheduler may spin on one agent: before it is called a livelock all get their
      // turn.
      const AgentSlot slot = unchanged_ > poll_limit_ ? gpu_.ready().next_after(previous_)
                                                      : scheduler_.pick(gpu_.ready(), previous_);
      WARPTWIN_ASSERT(gpu_.ready().contains(slot));
      previous_ = slot;
      gpu_.set_time(++stats_.steps);
      if (recorded_ != nullptr) {
        recorded_->push_back(slot);
      }
      if (gpu_.agents().is_warp(slot)) {
        const WarpSlot warp = gpu_.agents().warp_of(slot);
        WARPTWIN_ASSERT(alive_[warp]);
        return warp;
      }
      gpu_.advance(slot);
      if (gpu_.any_started() && !gpu_.finished()) {
        spawn_started();
      }
    }
  }

  WarpSlot end(Ending ending) {
    stats_.ending = ending;
    return kNobody;
  }

  // From the one that runs to `next`; kNobody: to whoever called the engine.
  void go_on(Fiber& from, WarpSlot next) {
    ++stats_.switches;
    from.switch_to(fiber_of(next));
  }
  Fiber& fiber_of(WarpSlot slot) { return slot == kNobody ? main_ : *warps_[slot]; }

  void spawn_started() {
    for (const WarpSlot slot : gpu_.take_started()) {
      std::erase_if(ended_, [](const auto& fiber) { return fiber->has_ended(); });
      if (warps_[slot] != nullptr) {
        ended_.push_back(std::move(warps_[slot]));  // it may be the one that runs
      }
      warps_[slot] = std::make_unique<Fiber>(stacks(), [this, slot] { return live(slot); });
      alive_[slot] = true;
    }
  }

  static PooledStacks& stacks() {
    thread_local PooledStacks pool{kStackBytes};
    return pool;
  }

  // A warp's life, from its first operation to its exit. Returns who goes on.
  Fiber* live(WarpSlot slot) {
    const Warp& warp = gpu_.warps()[slot];
    const Cta& cta = gpu_.ctas()[warp.cta];
    SimMachine machine{ports_[slot],
                       {warp.index,
                        cta.rank,
                        cta.size,
                        gpu_.cluster_index_of(warp.cta),
                        gpu_.cluster_count_of(warp.cta),
                        gpu_.elected_lane(slot),
                        gpu_.unknown_answer(slot),
                        warp.number,
                        gpu_.lane_judge(),
                        &gpu_.last_adders(),
                        gpu_.config().free_tmem_bases,
                        gpu_.config().rules.active_lanes == ActiveLanes::kAlone},
                       gpu_.registers(slot),
                       gpu_.config().moves_data};
    try {
      if (!poisoned_) {
        body_(machine);
        machine.end();
        Operation exit{Op::kWarpExit};
        perform(slot, exit);
      }
    } catch (const AbortRun&) {
      // the run has ended
    } catch (...) {
      error_ = std::current_exception();
    }
    alive_[slot] = false;
    WarpSlot next = kNobody;
    if (!poisoned_ && error_ == nullptr) {
      spawn_started();
      next = choose();
    }
    return &fiber_of(next);
  }

  void unwind() {
    poisoned_ = true;
    for (WarpSlot slot = 0; slot < warps_.size(); ++slot) {
      if (alive_[slot]) {
        go_on(main_, slot);
      }
    }
  }

  Gpu& gpu_;
  const WarpBody& body_;
  Scheduler& scheduler_;
  EngineLimits limits_;
  std::vector<AgentSlot>* recorded_;
  Fiber main_;
  std::vector<std::unique_ptr<Fiber>> warps_;
  std::vector<std::unique_ptr<Fiber>> ended_;  // before another warp began in the same slot
  std::vector<bool> alive_;
  std::vector<std::uint32_t> acted_;  // of each warp: operations behind many without a change
  std::vector<Port> ports_;
  RunStats stats_;
  AgentSlot previous_;
  std::uint64_t last_change_ = 0;
  std::uint64_t unchanged_ = 0;   // steps since the last change
  std::uint64_t stale_ = 0;       // of those, since somebody came to where he was not before
  std::uint32_t new_places_ = 0;  // in a row, of those that were looked at
  std::unordered_set<std::uint64_t> seen_;  // where warps have been since the last change
  std::uint64_t looks_ = 0;                 // operations of those steps, but plain loads
  std::uint64_t poll_limit_ = 0;
  bool poisoned_ = false;
  std::uint64_t notes_ = 0;                // since the last step: annotations are none
  std::uint64_t performed_after_end_ = 0;  // operations of warps that did not leave yet
  std::exception_ptr error_;
};

}  // namespace

RunStats run_functional(Gpu& gpu,
                        const WarpBody& body,
                        Scheduler& scheduler,
                        const EngineLimits& limits,
                        std::vector<AgentSlot>* recorded) {
  return Engine{gpu, body, scheduler, limits, recorded}.run();
}

}  // namespace warptwin::sim
