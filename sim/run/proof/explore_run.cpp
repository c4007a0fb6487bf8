#include "sim/run/proof/explore_run.hpp"

#include <algorithm>
#include <map>

#include "common/trace/words.hpp"

#include "sim/functional/schedulers/in_turn.hpp"
#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kPathShown = 24;
// Of a cluster that claims tiles: more add laps to its rings, and multiply the states.
constexpr std::uint32_t kTilesSearched = 4;

// One choice that is not the one of taking turns: at a step, the n-th other agent that is ready.
struct Deviation {
  std::uint64_t step = 0;
  std::uint32_t other = 0;
};

// Takes turns but for its deviations, and notes how many others were ready at each step.
class DeviatingScheduler : public Scheduler {
 public:
  DeviatingScheduler(const std::vector<Deviation>& deviations, std::vector<std::uint32_t>& others)
      : deviations_{deviations}, others_{others} {}

  AgentSlot pick(const ReadySet& ready, AgentSlot previous) override {
    const AgentSlot usual = turns_.pick(ready, previous);
    std::uint32_t others = 0;
    for (AgentSlot slot = ready.next_after(usual); slot != usual; slot = ready.next_after(slot)) {
      ++others;
    }
    AgentSlot choice = usual;
    if (next_ < deviations_.size() && deviations_[next_].step == others_.size()) {
      for (std::uint32_t i = 0; others != 0 && i <= deviations_[next_].other; ++i) {
        choice = ready.next_after(choice);
      }
      ++next_;
    }
    others_.push_back(others);
    return choice;
  }
  void yielded(AgentSlot slot) override { turns_.yielded(slot); }

 private:
  const std::vector<Deviation>& deviations_;
  std::vector<std::uint32_t>& others_;
  InTurnScheduler turns_;
  std::size_t next_ = 0;
};

// All schedules with at most so many deviations, fewer first. Re-executes the kernel for each.
class ScheduleSearch {
 public:
  ScheduleSearch(const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 const ExploreRunOptions& options,
                 ExploreRunResult& result)
      : scenario_{scenario}, parameters_{parameters}, options_{options}, result_{result} {}

  void operator()() {
    std::vector<std::vector<Deviation>> level{{}};
    for (std::uint32_t depth = 0; depth <= options_.deviations; ++depth) {
      std::vector<std::vector<Deviation>> next;
      for (const std::vector<Deviation>& deviations : level) {
        if (result_.schedules >= options_.schedules_max) {
          return;
        }
        if (!run(deviations, depth < options_.deviations ? &next : nullptr)) {
          return;
        }
      }
      level = std::move(next);
    }
    result_.all_schedules = true;
  }

 private:
  // False when the search is over.
  bool run(const std::vector<Deviation>& deviations, std::vector<std::vector<Deviation>>* next) {
    std::vector<std::uint32_t> others;
    RunOptions options = options_.run;
    options.moves_data = false;
    options.record = true;
    options.scheduler = [&](const Gpu&) {
      return std::make_unique<DeviatingScheduler>(deviations, others);
    };
    RunResult result = simulate(scenario_, parameters_, options);
    ++result_.schedules;
    if (options_.accepts) {
      result.accepted = std::erase_if(result.findings, options_.accepts);
      result_.accepted += result.accepted;
    }
    if (result.shows_defect()) {
      result_.failing = true;
      result_.schedule.strategy = Strategy::kReplay;
      result_.schedule.choices = result.choices;
      result_.shown = std::move(result);
      return false;
    }
    if (result.stopped()) {
      return false;
    }
    if (next != nullptr) {
      const std::uint64_t from = deviations.empty() ? 0 : deviations.back().step + 1;
      for (std::uint64_t step = from; step < others.size(); ++step) {
        for (std::uint32_t other = 0; other < others[step]; ++other) {
          if (next->size() + result_.schedules > options_.schedules_max) {
            return true;
          }
          next->push_back(deviations);
          next->back().push_back({step, other});
        }
      }
    }
    return true;
  }

  const ScenarioEntry& scenario_;
  const ParameterSet& parameters_;
  const ExploreRunOptions& options_;
  ExploreRunResult& result_;
};

RunOptions canonical(const RunOptions& options) {
  RunOptions run = options;
  run.schedule = ScheduleSpec{};
  run.schedule.strategy = Strategy::kInTurn;
  run.schedule.tries_fail = true;
  run.moves_data = false;
  return run;
}

WrongProtocol wrong_of(const Protocol& protocol, const ExploreResult& searched) {
  WrongProtocol wrong;
  wrong.what = searched.what;
  const std::size_t first =
      searched.path.size() > kPathShown ? searched.path.size() - kPathShown : 0;
  for (std::size_t i = first; i < searched.path.size(); ++i) {
    const auto& [agent, index] = searched.path[i];
    const ProtocolOp& op = protocol.agents[agent].ops[index];
    constexpr const char* kNames[] = {
        "arrives", "announces and arrives", "announces", "delivers", "waits", "starts"};
    wrong.agent = protocol.agents[agent].name;
    wrong.site = op.site;
    wrong.path.push_back(wrong.agent + " " + kNames[static_cast<unsigned>(op.kind)] +
                         (op.site.line == 0 ? "" : " at line " + std::to_string(op.site.line)));
  }
  return wrong;
}

// Searches the protocol of one group; false when the search is over.
bool search_group(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const ExploreRunOptions& options,
                  RunOptions run,
                  RunOrder::Options order_options,
                  ExploreRunResult& result) {
  run.detect = false;
  Protocol protocol;
  order_options.streams_max = 0;
  order_options.record = &protocol;
  RunOrder order{launch_config(scenario, parameters, run), order_options};
  run.observer = &order;
  simulate(scenario, parameters, run);
  const std::optional<CanonicalRun> canonical_run = run_once(protocol);
  if (!canonical_run) {
    result.search = Explored::kIncomplete;
    result.what = "the protocol of the run could not be taken apart";
    return false;
  }
  const ExploreResult searched = explore(protocol, *canonical_run, options.search);
  ++result.protocols;
  result.agents += protocol.agents.size();
  result.states += searched.states;
  result.transitions += searched.transitions;
  result.search = searched.verdict;
  result.what = searched.what;
  if (searched.verdict == Explored::kRight) {
    return true;
  }
  if (searched.verdict == Explored::kIncomplete) {
    return false;
  }
  result.wrong = wrong_of(protocol, searched);
  if (!options.accepts_protocol || !options.accepts_protocol(result.wrong)) {
    return false;
  }
  ++result.known;
  result.wrong = {};
  result.search = Explored::kRight;
  return true;
}

// Takes a run apart and searches its protocols; groups that do the same are searched once. Whether
// its clusters claim tiles of each other.
bool search_run(const ScenarioEntry& scenario,
                const ParameterSet& parameters,
                const ExploreRunOptions& options,
                RunOptions run,
                ExploreRunResult& result) {
  RunOrder::Options order_options;
  const LaunchConfig config = launch_config(scenario, parameters, run);
  order_options.streams_max = config.clusters;
  RunOrder order{config, order_options};
  run.observer = &order;
  result.first = simulate(scenario, parameters, run);
  order.at_end();
  result.search = Explored::kIncomplete;
  if (options.accepts) {
    result.first.accepted = std::erase_if(result.first.findings, options.accepts);
  }
  if (result.first.end != Ending::kDone && result.first.clean(false)) {
    result.ended_by_known = true;
    result.what = "a known finding ends the first run: there is nothing to take apart";
  } else if (result.first.end != Ending::kDone) {
    result.what = "the first run does not end: there is nothing to take apart";
  } else if (order.needs_whole_grid()) {
    result.what = "clusters wait for each other through global memory";
  } else if (!order.undecided().empty()) {
    result.what = order.undecided().front().reason;
  } else {
    std::map<std::vector<std::uint64_t>, std::uint32_t> seen;
    for (std::uint32_t group = 0; group < order.streams().size(); ++group) {
      if (seen.emplace(order.streams()[group].steps, group).second) {
        order_options.recorded_group = group;
        if (!search_group(scenario, parameters, options, run, order_options, result)) {
          break;
        }
      }
    }
  }
  return order.asked();
}

// Whether all clusters do the same with a tile each.
bool tiles_are_alike(const ScenarioEntry& scenario,
                     const ParameterSet& parameters,
                     RunOptions run) {
  run.schedule.tiles = 1;
  run.clusters_begun_max = ~0U;
  RunOrder::Options order_options;
  order_options.work_only = true;
  const LaunchConfig config = launch_config(scenario, parameters, run);
  RunOrder order{config, order_options};
  run.observer = &order;
  simulate(scenario, parameters, run);
  for (std::uint32_t cluster = 1; cluster < config.clusters; ++cluster) {
    if (order.work().of_cluster(cluster) != order.work().of_cluster(0)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string ExploreRunResult::searched() const {
  return "the barrier protocol of one run: " + plural(protocols, "protocol") + ", " +
         plural(agents, "agent") + ", " + plural(states, "state") +
         "; data, memory order and allocation are not searched";
}

std::string ExploreRunResult::strength(const ExploreRunOptions& options) const {
  const std::string found =
      "searched " + searched() + "\n" +
      (search == Explored::kRight && known != 0 ? "some interleaving of that protocol goes wrong, "
                                                  "as is known; it was followed no further"
       : search == Explored::kRight             ? "every interleaving of that protocol is right"
       : ended_by_known                         ? what
       : search == Explored::kWrong ? "some interleaving of that protocol goes wrong: " + what
                                    : "incomplete: " + what);
  const std::string ran =
      std::to_string(schedules) + " schedules of the kernel: " +
      (failing ? "a defect"
       : all_schedules
           ? (accepted == 0 ? "no" : "no other") + std::string{" defect in any with at most "} +
                 std::to_string(options.deviations) +
                 (options.deviations == 1 ? " deviation" : " deviations")
           : "incomplete: no " + std::string{accepted == 0 ? "" : "other "} +
                 "defect in those tried");
  return found + "\n" + ran;
}

ExploreRunResult explore_scenario(const ScenarioEntry& scenario,
                                  const ParameterSet& parameters,
                                  const ExploreRunOptions& options) {
  ExploreRunResult result;
  RunOptions run = canonical(options.run);
  if (search_run(scenario, parameters, options, run, result)) {
    // Clusters claim tiles: how many each gets is a choice. The first cluster gets each number.
    const std::uint32_t clusters = scenario.workload(parameters).clusters;
    run.clusters_begun_max = 1;
    for (run.schedule.tiles = 1; run.schedule.tiles <= std::min(clusters, kTilesSearched) &&
                                 result.search == Explored::kRight;
         ++run.schedule.tiles) {
      search_run(scenario, parameters, options, run, result);
    }
    if (result.search == Explored::kRight && !tiles_are_alike(scenario, parameters, run)) {
      result.search = Explored::kIncomplete;
      result.what = "tiles differ in what is done for them, and their orders were not tried";
    }
    if (result.search == Explored::kRight && clusters > kTilesSearched) {
      result.search = Explored::kIncomplete;
      result.what = "a cluster may claim more than the " + std::to_string(kTilesSearched) +
                    " tiles that were tried";
    }
  }
  ScheduleSearch{scenario, parameters, options, result}();
  const bool wrong = result.search == Explored::kWrong || result.failing;
  const bool right =
      result.search == Explored::kRight || (result.ended_by_known && result.all_schedules);
  result.verdict = wrong ? Explored::kWrong : right ? Explored::kRight : Explored::kIncomplete;
  return result;
}

}  // namespace warptwin::sim
