/// A wait observes the phase it means. Parity cannot tell phases two apart; here they are numbers.

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class WaitsDetector : public Detector {
 public:
  WaitsDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kMbarrierArrive,
                  Op::kMbarrierInit,
                  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,
                  Op::kTensorLoad},
                 {Step::kBlocked}} {
    narrow({Op::kMbarrierArrive}, {Step::kSignalled});
    narrow({Op::kTensorLoad}, {Step::kIssued});
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kMbarrierInit) {
      fed_by_copies_.erase(key(event));
      std::erase_if(seen_, [&](const auto& entry) { return entry.first.second == key(event); });
      return;
    }
    // One that waits for copies is late, too, and of the own CTA.
    if (event.op == Op::kMbarrierArrive && event.step == Step::kSignalled &&
        (event.flags & event_flag::kOfCopies) == 0) {
      from_afar_[key(event)] = event.phase;
      return;
    }
    if (event.op == Op::kTensorLoad && event.step == Step::kIssued) {
      fed_by_copies_.insert(std::uint64_t{event.signal().barrier_cta} << 32 |
                            event.signal().barrier);
      return;
    }
    if ((event.op != Op::kMbarrierWait && event.op != Op::kMbarrierTryWait) ||
        (event.fault != Fault::kNone && event.fault != Fault::kBadParity)) {
      return;
    }
    if (event.fault == Fault::kBadParity) {
      reporter().report("MBAR_PARITY_VALUE",
                        event,
                        barrier_of(event),
                        "parity operand " + std::to_string(event.as<payload::Mbarrier>().wanted) +
                            "; hardware uses its low bit");
    }
    judge(event);
    judge_scope(event);
  }

  void on_blocked(const Event& event) override {
    if (event.op == Op::kMbarrierWait) {
      judge(event);
    }
  }

 private:
  static std::uint64_t key(const Event& event) {
    return std::uint64_t{event.cta} << 32 | event.address;
  }

  // Whether the wait says which phase it means, and is believed.
  bool told(const Event& event) const {
    return (event.flags & event_flag::kExactPhase) != 0 &&
           reporter().rules().phase_intent == PhaseIntent::kApi;
  }

  // Whose last phase a bare parity goes on from.
  std::pair<std::uint32_t, std::uint64_t> who(const Event& event) const {
    const Role role = naming().role(event.warp);
    const bool by_role =
        reporter().rules().phase_intent == PhaseIntent::kPerRole && role != Role::kCount;
    return {by_role ? ~static_cast<std::uint32_t>(role) : event.warp, key(event)};
  }

  // The phase number the wait means. Told by the layer, or the one after the last that was
  // observed, or that one again.
  std::int64_t intended(const Event& event) {
    if (told(event)) {
      return static_cast<std::int32_t>(event.as<payload::Mbarrier>().wanted);
    }
    const std::int64_t parity = event.as<payload::Mbarrier>().wanted & 1U;
    const auto seen = seen_.find(who(event));
    if (seen == seen_.end()) {
      return parity == 1 ? -1 : 0;
    }
    return ((seen->second + 1) & 1) == parity ? seen->second + 1 : seen->second;
  }

  // A bare parity that nothing else says more of means the phase that the proof finds it to wait
  // for in every interleaving. Of one run it can only be said that it waits for nothing.
  void judge_bare(const Event& event) {
    const bool passed = event.step == Step::kDone && (event.flags & event_flag::kFalse) == 0;
    if (passed && event.phase == 0 && (event.as<payload::Mbarrier>().wanted & 1U) == 1 &&
        is_consumers(event)) {
      report_vacuous(event);
    }
  }

  void report_vacuous(const Event& event) {
    reporter().report(
        "MBAR_WAIT_VACUOUS",
        event,
        barrier_of(event),
        "parity 1 on a fresh barrier is 'complete', but this one says that data is there");
  }

  void judge(const Event& event) {
    if (reporter().rules().phase_intent == PhaseIntent::kNone) {
      return;
    }
    if (reporter().rules().phase_intent == PhaseIntent::kApi && !told(event)) {
      judge_bare(event);
      return;
    }
    const std::int64_t meant = intended(event);
    const auto current = static_cast<std::int64_t>(event.phase);
    const bool passed = event.step == Step::kDone && (event.flags & event_flag::kFalse) == 0;
    const bool aliased = meant < current - 1;
    const bool ahead = !aliased && (meant > current || (meant == current && passed));
    const bool vacuous = passed && !aliased && !ahead && meant == -1 && is_consumers(event);
    if (passed && !told(event)) {
      seen_[who(event)] = meant;
    }
    if (!aliased && !ahead && !vacuous) {
      return;
    }
    const std::string waiter =
        (event.flags & event_flag::kLateLanes) != 0 ? "the late lanes of the wait" : "the wait";
    const std::string state = " means phase " + std::to_string(meant) +
                              "; the barrier is in phase " + std::to_string(current);
    if (aliased) {
      reporter().report("MBAR_WAIT_PHASE_ALIASED",
                        event,
                        barrier_of(event),
                        waiter + state + ", and parity " + std::to_string(meant & 1) + " says " +
                            (passed ? "'complete' of a later phase" : "'incomplete'"),
                        {"phase " + std::to_string(meant + 1) +
                         " completed before this wait looked: nothing held its contributors back"});
    } else if (ahead) {
      reporter().report("MBAR_WAIT_AHEAD",
                        event,
                        barrier_of(event),
                        waiter + state +
                            (passed ? ", and passes by the parity of the phase before"
                                    : ", two ahead of what a parity can name"));
    } else {
      report_vacuous(event);
    }
  }

  void judge_scope(const Event& event) {
    const bool passed = event.step == Step::kDone && (event.flags & event_flag::kFalse) == 0;
    const auto afar = from_afar_.find(key(event));
    if (passed && event.ordering.scope == Scope::kCta && afar != from_afar_.end() &&
        afar->second + 1 == event.phase) {
      reporter().report("MBAR_WAIT_NO_ACQUIRE_SCOPE",
                        event,
                        barrier_of(event),
                        "waits at cta scope for phase " + std::to_string(afar->second) +
                            ", in which another CTA arrived",
                        {"what the other CTA's copies, MMAs and commits signal is taken as seen "
                         "(rule wait_scope); what its warps did is not acquired"});
    }
  }

  // Barriers that say "data is there": waiting for the phase before the first is never meant.
  bool is_consumers(const Event& event) const {
    for (const Ring& ring : naming().symbols().rings) {
      if (event.address >= ring.full && event.address < ring.full + 8 * ring.stages) {
        return true;
      }
    }
    const Region* region = naming().symbols().find(event.address);
    return (region != nullptr && region->contract.bytes != 0) ||
           fed_by_copies_.count(key(event)) != 0;
  }

  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> seen_;
  HashSet<std::uint64_t> fed_by_copies_;
  HashMap<std::uint64_t, std::uint32_t> from_afar_;  // the last such phase
};

}  // namespace

std::unique_ptr<Detector> make_waits(Reporter& reporter, Order& order) {
  return std::make_unique<WaitsDetector>(reporter, order);
}

}  // namespace warptwin::sim
