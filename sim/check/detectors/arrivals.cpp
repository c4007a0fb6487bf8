/// Every phase gets the arrivals it was meant to get: not more, not an early one, not a count out
/// of range.

#include <array>
#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kClusterCtasMax = 16;

class ArrivalsDetector : public Detector {
 public:
  ArrivalsDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kMbarrierArrive,
                  Op::kMbarrierInit,
                  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,
                  Op::kStageNote,
                  Op::kTcgen05Commit,
                  Op::kWarpExit}} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kMbarrierInit:
        check_contract(event);
        break;
      case Op::kStageNote:
        on_note(event);
        break;
      case Op::kMbarrierArrive:
      case Op::kTcgen05Commit:
        if (event.step == Step::kDone || event.step == Step::kIssued) {
          check_role(event);
          ledger(event);
        }
        if (event.step == Step::kDone || event.step == Step::kSignalled) {
          check_arrival(event);
        }
        break;
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        if (event.step == Step::kDone && (event.flags & event_flag::kFalse) == 0) {
          observed_[key(event)] = event.phase;  // phases below this have been seen complete
        }
        break;
      case Op::kWarpExit:
        std::erase_if(held_, [&](const auto& entry) { return entry.first.first == event.warp; });
        break;
      default:
        break;
    }
  }

 private:
  static std::uint64_t key(const Event& event) {
    return std::uint64_t{event.cta} << 32 | event.address;
  }

  void check_contract(const Event& event) {
    observed_[key(event)] = 0;
    const std::uint32_t count = event.as<payload::Mbarrier>().arrivals;
    const Region* region = naming().symbols_of(event.cta).find(event.address);
    if (event.fault == Fault::kNone && region != nullptr && region->kind == RegionKind::kBarriers &&
        region->contract.arrivals() != 0 && region->contract.arrivals() != count) {
      reporter().report("PIPELINE_COUNT_MISMATCH",
                        event,
                        barrier_of(event),
                        "initialised with count " + std::to_string(count) +
                            ", but its declared participants make " +
                            std::to_string(region->contract.arrivals()) + " arrivals a phase");
    }
  }

  // A role's arrivals on a stage, since it acquired it: on the barrier of each CTA that has a copy.
  struct Holding {
    std::uint32_t lap = 0;
    std::array<std::uint32_t, kClusterCtasMax> arrivals{};  // by rank
    std::uint32_t allowed = 0;
  };

  void on_note(const Event& event) {
    const auto& note = event.as<payload::Note>();
    const StageStep step = note.step;
    const Ring* ring = naming().symbols().ring_of_full(event.address);
    if (ring == nullptr ||
        (step != StageStep::kProducerAcquired && step != StageStep::kConsumerAcquired)) {
      return;
    }
    const std::uint32_t first = step == StageStep::kProducerAcquired ? ring->full : ring->empty;
    const std::uint32_t barrier = first + 8 * note.index;
    held_[{event.warp, barrier}] = {note.lap, {}, share_of(event.warp, barrier)};
  }

  // The arrivals one warp owes a phase of a barrier, by the barrier's contract; 0 when it owes
  // none.
  std::uint32_t share_of(std::uint32_t warp, std::uint32_t barrier) const {
    const Region* region = naming().symbols().find(barrier);
    if (region == nullptr) {
      return 0;
    }
    for (const Contributor& contributor : region->contract.contributors) {
      if (contributor.arrivals != 0 && contributor.role == naming().role(warp)) {
        return contributor.kind == ArrivalKind::kEveryLane ? kWarpLanes : 1;
      }
    }
    return 0;
  }

  // Whoever arrives on a barrier with declared participants is one of them: another role's arrival
  // stands for one of theirs, and the phase completes without it.
  void check_role(const Event& event) {
    const Region* region = naming().symbols().find(event.address);
    const Role role = naming().role(event.warp);
    if (region == nullptr || region->kind != RegionKind::kBarriers ||
        region->contract.arrivals() == 0 || role == Role::kCount || event.fault != Fault::kNone) {
      return;
    }
    std::string declared;
    for (const Contributor& contributor : region->contract.contributors) {
      if (contributor.arrivals == 0) {
        continue;
      }
      if (contributor.role == role) {
        return;
      }
      declared += (declared.empty() ? "" : ", ") + std::string{name_of(contributor.role)};
    }
    reporter().report("PIPELINE_ROLE_MISMATCH",
                      event,
                      barrier_of(event),
                      std::string{name_of(event.op)} + " of " + naming().warp(event.warp) +
                          ", and those who arrive here are declared as: " + declared,
                      {"it counts as an arrival of theirs: a phase completes without one of them"});
  }

  void ledger(const Event& event) {
    const auto found = held_.find({event.warp, event.address});
    if (found == held_.end() || found->second.allowed == 0) {
      return;
    }
    Holding& holding = found->second;
    const std::uint32_t made = event.as<payload::Mbarrier>().arrivals;
    std::uint32_t& arrivals = holding.arrivals[event.cta % naming().config().cluster_size];
    arrivals += event.op == Op::kTcgen05Commit ? 1
                : event.step == Step::kIssued  ? made * event.lanes
                                               : made;
    if (arrivals > holding.allowed) {
      reporter().report("MBAR_SURPLUS_ARRIVAL",
                        event,
                        barrier_of(event),
                        "arrival " + std::to_string(arrivals) + " of " + naming().warp(event.warp) +
                            " in lap " + std::to_string(holding.lap) + "; it owes " +
                            std::to_string(holding.allowed),
                        {"the surplus completes the next phase early, and every later one"});
    }
  }

  void check_arrival(const Event& event) {
    const auto& made = event.as<payload::Mbarrier>();
    if (event.fault == Fault::kOverArrive) {
      reporter().report("MBAR_OVERARRIVE",
                        event,
                        barrier_of(event),
                        std::to_string(made.arrivals) + " arrivals in phase " +
                            std::to_string(event.phase) + ", which has " +
                            std::to_string(made.pending) + " pending");
    } else if (event.fault == Fault::kBadCount) {
      reporter().report("MBAR_ARRIVE_COUNT",
                        event,
                        barrier_of(event),
                        "arrival with count " + std::to_string(made.arrivals));
    } else if (event.fault == Fault::kWouldComplete) {
      reporter().report(
          "MBAR_NOCOMPLETE",
          event,
          barrier_of(event),
          "the noComplete arrival is the last of phase " + std::to_string(event.phase));
    } else if (event.fault == Fault::kDropToZero) {
      reporter().report("MBAR_DROP_TO_ZERO",
                        event,
                        barrier_of(event),
                        "arrive_drop would leave nobody to arrive");
    }
    if (event.fault != Fault::kNone) {
      return;
    }
    if (event.op == Op::kMbarrierArrive && event.cta != naming().cta_of_warp(event.warp) &&
        event.ordering.scope == Scope::kCta) {
      reporter().report("MBAR_SCOPE_TOO_NARROW",
                        event,
                        barrier_of(event),
                        "arrival of " + naming().warp(event.warp) + " at cta scope",
                        {"enough to free a stage for copies; what the warp wrote itself is not "
                         "published to the other CTA"});
    }
    const auto observed = observed_.find(key(event));
    if (event.phase > 0 && observed != observed_.end() && observed->second < event.phase) {
      reporter().report("MBAR_PHASE_UNOBSERVED",
                        event,
                        barrier_of(event),
                        "arrival in phase " + std::to_string(event.phase) +
                            "; nobody has waited for phase " + std::to_string(event.phase - 1));
    }
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, Holding> held_;  // (warp, barrier address)
  HashMap<std::uint64_t, std::uint32_t> observed_;
};

}  // namespace

std::unique_ptr<Detector> make_arrivals(Reporter& reporter, Order& order) {
  return std::make_unique<ArrivalsDetector>(reporter, order);
}

}  // namespace warptwin::sim
