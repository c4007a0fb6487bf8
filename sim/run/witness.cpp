#include "sim/run/witness.hpp"

#include <algorithm>
#include <unordered_map>

namespace warptwin::sim {

namespace {

// How far every agent of a run is, in the numbers of the proof.
class Progress : public EventSink {
 public:
  explicit Progress(const LaunchConfig& config) : counter{config} {}

  void on_event(const Event& event) override {
    if (event.op == Op::kWarpStart) {
      started_.push_back(event.warp);
    }
    counter.warp_step(event);
    if ((event.flags & event_flag::kLateLanes) != 0) {
      counter.late_step(event.warp);
    }
    if (starts_leaf(event)) {
      leaf_of_serial[event.serial] = {event.warp, counter.leaf_issue(event.warp)};
    }
  }
  bool started(std::uint32_t warp) const {
    return std::find(started_.begin(), started_.end(), warp) != started_.end();
  }

  ChainCounter counter;
  /// (warp, number among its leaves)
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> leaf_of_serial;

 private:
  std::vector<std::uint32_t> started_;
};

struct Plan {
  Violation violation;
  std::uint32_t first_warp = 0;  // of the group
  std::uint32_t warps = 0;       // of the group
  const RunOrder::LeafTargets* leaves = nullptr;
};

// First what has to happen before, then the operation, then `rest`.
class WitnessScheduler : public Scheduler {
 public:
  WitnessScheduler(const Gpu& gpu,
                   const Progress& progress,
                   const Plan& plan,
                   std::unique_ptr<Scheduler> rest,
                   std::string& error,
                   std::size_t& guided)
      : gpu_{gpu},
        progress_{progress},
        plan_{plan},
        rest_{std::move(rest)},
        error_{error},
        guided_{guided},
        dequeued_(gpu.warps().size(), 0) {}

  Slot pick(const ReadySet& ready, Slot previous) override {
    if (done_) {
      return rest_->pick(ready, previous);
    }
    ++guided_;
    const bool started = progress_.started(plan_.first_warp);
    const Slot first = ready.next_after(previous);
    // A warp that polls is allowed for ever: when nothing changes any more, this part is over.
    idle_ = gpu_.changes() == last_change_ ? idle_ + 1 : 0;
    last_change_ = gpu_.changes();
    Slot slot = first;
    while (idle_ <= ready.slots()) {
      if (!started || allowed(slot)) {
        note(slot);
        return slot;
      }
      slot = ready.next_after(slot);
      if (slot == first) {
        break;
      }
    }
    done_ = true;
    check_reached();
    const Slot fire = slot_of_node(ready);
    return fire != kNone ? fire : rest_->pick(ready, previous);
  }
  void yielded(Slot slot) override { rest_->yielded(slot); }

 private:
  static constexpr Slot kNone = ~Slot{0};

  std::uint32_t target(std::uint32_t component) const {
    const ProofClock& clock = plan_.violation.before;
    return component < clock.size() ? clock[component] : 0;
  }
  Slot warps() const { return static_cast<Slot>(gpu_.warps().size()); }
  // The warp's number in the group; kNone outside.
  std::uint32_t in_group(Slot warp_slot) const {
    const std::uint32_t number = gpu_.warps()[warp_slot].number;
    return number >= plan_.first_warp && number < plan_.first_warp + plan_.warps
               ? number - plan_.first_warp
               : kNone;
  }

  bool allowed(Slot slot) const {
    if (const AsyncOp* async = gpu_.async_at(slot)) {
      const auto leaf = progress_.leaf_of_serial.find(async->serial);
      const std::uint32_t issuer = in_group(async->warp);
      if (issuer == kNone) {
        return false;
      }
      if (leaf == progress_.leaf_of_serial.end()) {
        return true;  // a store
      }
      const Op op = async->operation.op;
      const bool arrival = !is_load(op) && op != Op::kTcgen05Commit;
      if (arrival && awaited(gpu_.warps()[async->warp])) {
        return true;
      }
      const auto target_of =
          plan_.leaves->find({issuer, leaf->second.second, gpu_.ctas()[async->signal_cta].number});
      return target_of == plan_.leaves->end() ||
             target(target_of->second.component) > target_of->second.phase;
    }
    const std::uint32_t kind = slot / warps();
    const std::uint32_t warp = in_group(slot % warps());
    if (warp == kNone) {
      return false;
    }
    const std::uint32_t number = plan_.first_warp + warp;
    switch (kind) {
      case 0:
        return progress_.counter.warp_index(number) < target(warp);
      case 1:
        return multiplies_warpgroup(slot % warps()) ||
               dequeued_[slot % warps()] < target(2 * plan_.warps + warp);
      case 3:
        return progress_.counter.late_index(number) < target(plan_.warps + warp);
      default:
        return true;
    }
  }

  // The next of a tensor queue is a wgmma: no step of the proof, and over when those who wait for
  // it need it.
  bool multiplies_warpgroup(Slot warp) const {
    return gpu_.warps()[warp].tensor_queue.front().operation.op == Op::kWgmma;
  }

  // A warp that must get past a releasing cluster arrival waits there for its remote arrivals.
  bool awaited(const Warp& issuer) const {
    return issuer.status == WarpStatus::kBlocked && issuer.blocked_on.op == Op::kClusterArrive &&
           issuer.remote_arrivals != 0;
  }

  void note(Slot slot) {
    if (slot / warps() == 1 && !multiplies_warpgroup(slot - warps())) {
      ++dequeued_[slot - warps()];
    }
  }

  void check_reached() {
    for (std::uint32_t warp = 0; warp < plan_.warps; ++warp) {
      const std::uint32_t reached = progress_.counter.warp_index(plan_.first_warp + warp);
      if (reached < target(warp)) {
        error_ = "warp " + std::to_string(warp) + " of the group stopped at operation " +
                 std::to_string(reached) + " of " + std::to_string(target(warp));
        return;
      }
    }
  }

  // The agent that executes the operation itself.
  Slot slot_of_node(const ReadySet& ready) const {
    const ProofNode& node = plan_.violation.node;
    if (node.chain == kLeaf) {
      for (Slot slot = 4 * warps(); slot < ready.slots(); ++slot) {
        const AsyncOp* async = gpu_.async_at(slot);
        if (async == nullptr || !ready.contains(slot)) {
          continue;
        }
        const auto leaf = progress_.leaf_of_serial.find(async->serial);
        if (leaf != progress_.leaf_of_serial.end() &&
            leaf->second == std::pair{node.warp, node.index}) {
          return slot;
        }
      }
      return kNone;
    }
    constexpr std::uint32_t kOffsets[] = {0, 3, 1};  // warps, late lanes, tensor queues
    for (Slot warp = 0; warp < warps(); ++warp) {
      if (gpu_.warps()[warp].number == node.warp) {
        const Slot slot = kOffsets[node.chain / plan_.warps] * warps() + warp;
        return ready.contains(slot) ? slot : kNone;
      }
    }
    return kNone;
  }

  const Gpu& gpu_;
  const Progress& progress_;
  const Plan& plan_;
  std::unique_ptr<Scheduler> rest_;
  std::string& error_;
  std::size_t& guided_;
  std::vector<std::uint32_t> dequeued_;
  std::uint64_t last_change_ = 0;
  std::uint32_t idle_ = 0;
  bool done_ = false;
};

// What a schedule has to keep showing while it is made shorter.
std::string symptom(const RunResult& run) {
  for (const Finding& finding : run.findings) {
    if (finding.severity >= Severity::kError) {
      return finding.info->id;
    }
  }
  return "";
}

// Runs of one agent, so that whole turns are tried away.
std::vector<std::vector<Slot>> turns_of(const std::vector<Slot>& choices) {
  std::vector<std::vector<Slot>> turns;
  for (const Slot slot : choices) {
    if (turns.empty() || turns.back().back() != slot) {
      turns.emplace_back();
    }
    turns.back().push_back(slot);
  }
  return turns;
}

// Delta debugging on the turns of the guided part; the rest is round robin.
void minimise(const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              const RunOptions& options,
              std::uint32_t replays,
              Witness& witness) {
  const std::string wanted = symptom(witness.run);
  std::vector<std::vector<Slot>> turns = turns_of(witness.schedule.choices);
  const auto try_without = [&](std::size_t from, std::size_t count) {
    ScheduleSpec spec;
    spec.strategy = Strategy::kReplay;
    spec.tries_fail = options.schedule.tries_fail;
    spec.tiles = options.schedule.tiles;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (i < from || i >= from + count) {
        spec.choices.insert(spec.choices.end(), turns[i].begin(), turns[i].end());
      }
    }
    RunOptions run = options;
    run.schedule = spec;
    RunResult result = simulate(scenario, parameters, run);
    if (!result.shows_defect() || symptom(result) != wanted) {
      return false;
    }
    turns.erase(turns.begin() + static_cast<std::ptrdiff_t>(from),
                turns.begin() + static_cast<std::ptrdiff_t>(from + count));
    witness.schedule = std::move(spec);
    witness.run = std::move(result);
    return true;
  };
  for (std::size_t chunk = std::max<std::size_t>(turns.size(), 1); chunk > 0; chunk /= 2) {
    for (std::size_t from = 0; from < turns.size() && replays > 0;) {
      --replays;
      if (!try_without(from, std::min(chunk, turns.size() - from))) {
        from += chunk;
      }
    }
  }
}

}  // namespace

Witness find_witness(const ScenarioEntry& scenario,
                     const ParameterSet& parameters,
                     const RunOrder::Finding& finding,
                     const WitnessOptions& options) {
  // The same run once more, to know which copy is which.
  RunOptions run = options.run;
  run.detect = false;
  const LaunchConfig config = launch_config(scenario, parameters, run);
  RunOrder::Options order_options;
  order_options.whole_grid = options.whole_grid;
  order_options.keep_leaves = true;
  order_options.recorded_group = finding.group;
  const ProofNode& other = finding.violation.other;
  if (finding.violation.condition == Condition::kLifetime && other.chain == kLeaf) {
    order_options.watched_warp = other.warp;
    order_options.watched_leaf = other.index;
  }
  RunOrder order{config, order_options};
  run.observer = &order;
  simulate(scenario, parameters, run);

  Plan plan;
  plan.violation = finding.violation;
  join(plan.violation.before, order.watched());  // what still acts has been issued
  plan.warps = order.warps_of_group();
  plan.first_warp = finding.group * plan.warps;
  plan.leaves = &order.leaves();

  RunOptions replay = options.run;
  replay.detect = true;
  replay.moves_data = false;
  replay.record = true;
  // What comes after the operation is free: several ways to go on.
  std::vector<ScheduleSpec> rests(1);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ScheduleSpec random;
    random.strategy = Strategy::kRandom;
    random.seed = seed;
    rests.push_back(random);
  }
  Witness witness;
  for (const ScheduleSpec& rest : rests) {
    Progress progress{config};
    std::size_t guided = 0;
    replay.observer = &progress;
    replay.scheduler = [&](const Gpu& gpu) -> std::unique_ptr<Scheduler> {
      return std::make_unique<WitnessScheduler>(
          gpu, progress, plan, make_scheduler(rest), witness.internal_error, guided);
    };
    RunResult result = simulate(scenario, parameters, replay);
    if (result.shows_defect()) {
      witness.confirmed = true;
      witness.schedule.strategy = Strategy::kReplay;
      witness.schedule.tries_fail = options.run.schedule.tries_fail;
      witness.schedule.tiles = options.run.schedule.tiles;
      witness.schedule.choices = result.choices;
      if (rest.strategy == Strategy::kRoundRobin) {
        witness.schedule.choices.resize(std::min(guided, result.choices.size()));
      }
      break;
    }
  }
  if (witness.confirmed) {
    replay.observer = nullptr;
    replay.scheduler = nullptr;
    replay.record = false;
    replay.schedule = witness.schedule;
    witness.run = simulate(scenario, parameters, replay);
    minimise(scenario, parameters, replay, options.replays_max, witness);
  }
  return witness;
}

}  // namespace warptwin::sim
