#include "sim/run/proof/witness.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/run/proof/witness_scheduler.hpp"

namespace warptwin::sim {

namespace {

// Tries of one condition: at least so many of the plans and tails below, and more while their runs
// together take no more work than this.
constexpr std::size_t kTriesMin = 20;
constexpr std::uint64_t kTriedWork = 2'000'000;
// A schedule is made shorter until the replays have taken so much.
constexpr std::uint64_t kReplayedWork = 4'000'000;

// Runs of a scenario, and the work they take.
class Runs {
 public:
  Runs(const ScenarioEntry& scenario, const ParameterSet& parameters)
      : scenario_{scenario}, parameters_{parameters} {}

  RunResult make(const RunOptions& options) {
    const std::uint64_t before = instructions();
    RunResult result = simulate(scenario_, parameters_, options);
    work_ += result.operations + (instructions() - before) / kWarpLanes;
    return result;
  }
  std::uint64_t work() const { return work_; }

 private:
  std::uint64_t instructions() const {
    return scenario_.thread_instructions ? scenario_.thread_instructions() : 0;
  }

  const ScenarioEntry& scenario_;
  const ParameterSet& parameters_;
  std::uint64_t work_ = 0;
};

// What a run says that a plan needs and the proof does not keep.
class Expects : public EventSink {
 public:
  Expects(const LaunchConfig& config, const RunOrder::Finding& finding, EventSink* next)
      : counter_{config}, finding_{finding}, next_{next} {}

  void on_event(const Event& event) override {
    const std::uint32_t index = counter_.warp_step(event);
    const bool separate = event.op == Op::kMbarrierExpectTx && event.step == Step::kDone &&
                          finding_.barrier.kind == ProofBarrier::Kind::kMbarrier &&
                          event.cta == finding_.barrier.cta &&
                          event.address == finding_.barrier.address &&
                          static_cast<std::int32_t>(event.phase) == finding_.violation.phase;
    if (separate) {
      separate_.emplace_back(event.warp, index);
    }
    next_->on_event(event);
  }
  std::uint32_t operations_of(std::uint32_t warp) const { return counter_.warp_index(warp); }
  /// (warp in the grid, operation) of the separate expects of the condition's phase.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& separate() const { return separate_; }

 private:
  ChainCounter counter_;
  const RunOrder::Finding& finding_;
  EventSink* next_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> separate_;
};

// One way to go on after what has to happen before.
struct Try {
  WitnessPlan plan;
  ScheduleSpec tail;
};

ScheduleSpec tail_of(Strategy strategy, std::uint64_t seed = 0, AgentSlot victim = {}) {
  ScheduleSpec tail;
  tail.strategy = strategy;
  tail.seed = seed;
  tail.victim = victim;
  return tail;
}

// An expect that may be too late matters when its phase completes without it. That takes copies
// that land before their bytes are announced, perhaps others that do not land, perhaps other
// expects that are late too; and to be seen, what is left is late.
std::vector<Try> tries_without_expect(const WitnessPlan& named,
                                      const Expects& expects,
                                      const Agents& agents) {
  WitnessPlan landed = named;
  landed.lands = true;
  landed.acts = false;
  WitnessPlan held = landed;
  for (const auto& [warp, index] : expects.separate()) {
    const std::uint32_t chain = warp - named.first_warp;
    if (warp >= named.first_warp && chain < named.chains.warps() && chain < held.before.size()) {
      held.before[chain] = std::min(held.before[chain], index - 1);
    }
  }
  std::vector<Try> tries;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (WitnessPlan plan : {landed, held}) {
      plan.seed = seed;
      tries.push_back({plan, tail_of(Strategy::kLazy, 0, agents.transfer(0))});
      plan.holds = true;
      tries.push_back({plan, tail_of(Strategy::kRoundRobin)});
    }
  }
  return tries;
}

// Whatever a condition names: what has to happen before, and the operation at once or, which finds
// what is late by a whole ring, after all others. Then a fair tail, random ones, all that is
// asynchronous late, the copies alone late, each warp starved, random priorities: the strategies
// of `check`.
std::vector<Try> tries_of(const WitnessPlan& named,
                          bool expect,
                          const Expects& expects,
                          const Agents& agents,
                          std::uint32_t warps,
                          std::uint64_t length) {
  WitnessPlan last = named;
  last.acts = false;
  last.holds = true;
  std::vector<Try> tries;
  const auto add = [&](const ScheduleSpec& tail) {
    tries.push_back({named, tail});
    tries.push_back({last, tail});
  };
  add(tail_of(Strategy::kRoundRobin));
  if (expect) {
    const std::vector<Try> more = tries_without_expect(named, expects, agents);
    tries.insert(tries.end(), more.begin(), more.end());
  }
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    add(tail_of(Strategy::kRandom, seed));
  }
  add(tail_of(Strategy::kLazy, 0, agents.tensor_queue(0)));
  add(tail_of(Strategy::kLazy, 0, agents.transfer(0)));
  for (WarpSlot victim = 0; victim < warps; ++victim) {
    add(tail_of(Strategy::kStarve, 0, Agents::warp(victim)));
  }
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    ScheduleSpec pct = tail_of(Strategy::kPct, seed);
    pct.length = std::max<std::uint64_t>(length, 1);
    add(pct);
    add(tail_of(Strategy::kRandom, 4 + seed));
  }
  return tries;
}

// What a schedule has to keep showing while it is made shorter.
std::string symptom(const RunResult& run) {
  for (const Finding& finding : run.findings) {
    if (finding.severity >= Severity::kError) {
      return finding.info->id;
    }
  }
  return "";
}

// Whether it shows more than the runs that are known, whose findings are left out.
bool shows_more(RunResult& run, const std::vector<const RunResult*>& known) {
  std::erase_if(run.findings, [&](const Finding& finding) {
    return std::any_of(known.begin(), known.end(), [&](const RunResult* one) {
      return std::any_of(one->findings.begin(), one->findings.end(), [&](const Finding& other) {
        return other.info == finding.info && other.site.line == finding.site.line &&
               std::string_view{other.site.file} == finding.site.file;
      });
    });
  });
  const bool ends_as_known = std::any_of(known.begin(), known.end(), [&](const RunResult* one) {
    return one->end != Ending::kDone && one->end == run.end;
  });
  return run.shows_defect() && (!ends_as_known || !symptom(run).empty());
}

// Runs of one agent, so that whole turns are tried away.
std::vector<std::vector<AgentSlot>> turns_of(const std::vector<AgentSlot>& choices) {
  std::vector<std::vector<AgentSlot>> turns;
  for (const AgentSlot slot : choices) {
    if (turns.empty() || turns.back().back() != slot) {
      turns.emplace_back();
    }
    turns.back().push_back(slot);
  }
  return turns;
}

// Delta debugging on the turns of the guided part; the rest is round robin.
void minimise(Runs& runs,
              const RunOptions& options,
              const WitnessOptions& asked,
              Witness& witness) {
  const std::string wanted = symptom(witness.run);
  const std::uint64_t begin = runs.work();
  const auto goes_on = [&] {
    return runs.work() - begin < kReplayedWork && runs.work() < asked.work_max;
  };
  std::vector<std::vector<AgentSlot>> turns = turns_of(witness.schedule.choices);
  std::uint32_t replays = asked.replays_max;
  const auto try_without = [&](std::size_t from, std::size_t count) {
    ScheduleSpec spec;
    spec.strategy = Strategy::kReplay;
    spec.tries_fail = options.schedule.tries_fail;
    spec.tiles = options.schedule.tiles;
    spec.order = options.schedule.order;
    spec.last = options.schedule.last;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (i < from || i >= from + count) {
        spec.choices.insert(spec.choices.end(), turns[i].begin(), turns[i].end());
      }
    }
    RunOptions run = options;
    run.schedule = spec;
    // One that shows it later than that is no shorter.
    run.limits.steps_max = std::min(run.limits.steps_max, 2 * witness.run.stats.steps + 1000);
    RunResult result = runs.make(run);
    if (!shows_more(result, asked.known) || symptom(result) != wanted) {
      return false;
    }
    turns.erase(turns.begin() + static_cast<std::ptrdiff_t>(from),
                turns.begin() + static_cast<std::ptrdiff_t>(from + count));
    witness.schedule = std::move(spec);
    witness.run = std::move(result);
    return true;
  };
  for (std::size_t chunk = std::max<std::size_t>(turns.size(), 1); chunk > 0; chunk /= 2) {
    for (std::size_t from = 0; from < turns.size() && replays > 0 && goes_on();) {
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
  order_options.lane_sets = options.lane_sets;
  order_options.keep_leaves = true;
  order_options.recorded_group = finding.group;
  const ProofNode& other = finding.violation.other;
  if (finding.violation.condition == Condition::kLifetime && other.chain == kLeaf) {
    order_options.watched_warp = other.warp;
    order_options.watched_leaf = other.index;
  }
  RunOrder order{config, order_options};
  Expects expects{config, finding, &order};
  run.observer = &expects;
  Runs runs{scenario, parameters};
  const RunResult first = runs.make(run);

  WitnessPlan named;
  named.node = finding.violation.node;
  named.before = finding.violation.before;
  join(named.before, order.watched());  // what still acts has been issued
  named.chains = order.chains();
  named.first_warp = finding.group * named.chains.warps();
  named.leaves = &order.leaves();
  std::vector<std::uint32_t> operations;
  for (std::uint32_t warp = 0; warp < named.chains.warps(); ++warp) {
    operations.push_back(expects.operations_of(named.first_warp + warp));
  }
  named.operations = &operations;
  // For an expect no schedule is certain: an arrival may need what comes after it.
  const bool expect = finding.violation.condition == Condition::kBytesAnnounced;
  // Late lanes come before all that the whole warp executes, in the machine, and not in the proof.
  named.needs_all = !expect && !order.is_late(finding.violation.node);
  named.component = order.component_of(finding.violation.barrier);
  named.phase = static_cast<std::uint32_t>(finding.violation.phase);
  named.barrier = finding.barrier;
  const std::vector<Try> tries =
      tries_of(named,
               expect,
               expects,
               Agents{config.resident_clusters * config.cluster_size * config.warps_per_cta},
               config.cluster_size * config.warps_per_cta,
               first.stats.steps);

  RunOptions replay = options.run;
  replay.detect = true;
  replay.record = true;
  Witness witness;
  const std::uint64_t begin = runs.work();
  std::size_t tried = 0;
  for (const Try& one : tries) {
    const bool enough = tried >= kTriesMin && runs.work() - begin > kTriedWork;
    if (enough || (tried > 0 && runs.work() >= options.work_max)) {
      break;
    }
    WitnessProgress progress{config};
    WitnessOutcome outcome;
    replay.observer = &progress;
    replay.scheduler = [&](const Gpu& gpu) -> std::unique_ptr<Scheduler> {
      return std::make_unique<WitnessScheduler>(
          gpu, progress, one.plan, make_scheduler(one.tail), outcome);
    };
    RunResult result = runs.make(replay);
    if (tried++ == 0) {
      witness.internal_error = outcome.error;  // of the schedule that the condition names
    }
    if (shows_more(result, options.known)) {
      witness.confirmed = true;
      witness.internal_error.clear();
      witness.schedule.strategy = Strategy::kReplay;
      witness.schedule.tries_fail = options.run.schedule.tries_fail;
      witness.schedule.tiles = options.run.schedule.tiles;
      witness.schedule.order = options.run.schedule.order;
      witness.schedule.last = options.run.schedule.last;
      witness.schedule.choices = result.choices;
      if (one.tail.strategy == Strategy::kRoundRobin && !one.plan.holds) {
        witness.schedule.choices.resize(std::min(outcome.guided, result.choices.size()));
      }
      break;
    }
  }
  if (witness.confirmed) {
    replay.observer = nullptr;
    replay.scheduler = nullptr;
    replay.record = false;
    replay.schedule = witness.schedule;
    witness.run = runs.make(replay);
    shows_more(witness.run, options.known);
    minimise(runs, replay, options, witness);
  }
  witness.work = runs.work();
  return witness;
}

}  // namespace warptwin::sim
