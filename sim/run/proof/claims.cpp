#include "sim/run/proof/claims.hpp"

#include <algorithm>
#include <optional>

#include "sim/run/proof/regular_runs.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTilesMax = 160;
constexpr std::uint32_t kTilesTried = 8;  // to show that a missing ordering matters
constexpr std::uint32_t kTurnsMax = 16;

// The first cluster with so many tiles; for one tile, every cluster with its own.
ProofOptions with_tiles(const ProofOptions& options, std::uint32_t tiles) {
  ProofOptions with = options;
  with.streams_max = 1;
  with.run.schedule.tiles = tiles;
  with.run.rules.machine.clc_fails_early = false;  // it fails when these are given out
  return with;
}

ProofResult undecided(ProofResult result, const std::string& reason) {
  result.undecided.push_back({reason, {}});
  result.verdict = ProofVerdict::kUndecided;
  return result;
}

struct Done {
  std::uint64_t work = 0;
  std::uint64_t accesses = 0;
};

// What the first cluster does with so many tiles when they are given out from the end, or, with a
// turn, from one so many further on.
Done done_in_turn(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const RunOptions& options,
                  bool tries_fail,
                  std::uint32_t tiles,
                  std::uint32_t turn) {
  RunOptions run = options;
  run.schedule = ScheduleSpec{};
  run.schedule.strategy = Strategy::kInTurn;
  run.schedule.tries_fail = tries_fail;
  run.schedule.tiles = tiles;
  run.clusters_begun_max = 1;
  run.clc_from_the_end = turn == 0;
  run.clc_turn = turn;
  run.rules.machine.clc_fails_early = false;
  run.detect = run.moves_data = false;
  RunOrder::Options order_options;
  order_options.work_only = true;
  RunOrder order{launch_config(scenario, parameters, run), order_options};
  run.observer = &order;
  simulate(scenario, parameters, run);
  return {order.work().of_cluster(0), order.work().accesses_of_cluster(0)};
}

// Each tile in each place behind the first, where there are no more than kTurnsMax others; else as
// many turns, evenly spread. `accesses` are those of each tile. Says what differs, if any does.
const char* differs_in_turn(const ScenarioEntry& scenario,
                            const ParameterSet& parameters,
                            const ProofOptions& options,
                            const ProofResult& honest,
                            std::uint64_t work,
                            const std::vector<std::uint64_t>& accesses) {
  const auto others = static_cast<std::uint32_t>(accesses.size()) - 1;
  const std::uint32_t tiles = honest.claims.tiles;
  const std::uint32_t turns = std::min(others, kTurnsMax);
  for (std::uint32_t number = 0; number < turns; ++number) {
    const std::uint32_t turn = static_cast<std::uint32_t>(std::uint64_t{number} * others / turns);
    const Done done =
        done_in_turn(scenario, parameters, options.run, honest.schedule.tries_fail, tiles, turn);
    if (done.work != work) {
      return "what a cluster does depends on which tiles it claims";
    }
    std::uint64_t sum = accesses.front();
    for (std::uint32_t place = 0; place + 1 < tiles; ++place) {
      sum += accesses[turn == 0 ? others - place : 1 + (place + turn) % others];
    }
    if (done.accesses != sum) {
      return "what is read and written for a tile depends on which cluster has it";
    }
  }
  return nullptr;
}

}  // namespace

std::string ClaimScope::strength() const {
  return "for every number of tiles a cluster may claim: 1 to " + std::to_string(tiles) +
         " proved one by one; " +
         (period == 0 ? "the launch has no more"
                      : "from " + std::to_string(regular) + " on the same state comes back every " +
                            std::to_string(period) + (period == 1 ? " tile" : " tiles"));
}

// `first` is the proof of one tile a cluster, where it has been made.
static ProofResult prove_numbers(const ScenarioEntry& scenario,
                                 const ParameterSet& parameters,
                                 const ProofOptions& options,
                                 ProofResult honest,
                                 std::optional<ProofResult> first) {
  const std::uint32_t clusters = scenario.workload(parameters).clusters;
  RegularRuns runs;
  Streams streams;
  std::vector<std::uint64_t> accesses;  // of each tile, made by its own cluster
  std::vector<std::uint64_t> works;     // of each number of tiles
  std::uint64_t sum = 0;
  // An ordering is missing and not shown to matter, or what is wrong is accepted.
  std::optional<ProofResult> open;
  if (honest.verdict != ProofVerdict::kProved) {
    open = std::move(honest);
  }
  for (std::uint32_t tiles = 1;; ++tiles) {
    if (tiles > kTilesMax) {
      return undecided(std::move(honest),
                       "no state came back within " + std::to_string(kTilesMax) +
                           " tiles that a cluster claimed");
    }
    ProofResult one = tiles == 1 && first
                          ? std::move(*first)
                          : prove_run(scenario, parameters, with_tiles(options, tiles));
    honest.operations += one.operations;
    const bool is_open =
        one.verdict == ProofVerdict::kUnordered || one.verdict == ProofVerdict::kAccepted;
    if (is_open || open) {
      // Perhaps it matters with more tiles: rings come round only then.
      if (!open || outweighs(one.verdict, open->verdict)) {
        open = std::move(one);
      }
      if (outweighs(open->verdict, ProofVerdict::kUnordered) ||
          tiles >= std::min(clusters, kTilesTried)) {
        return std::move(*open);
      }
      continue;
    }
    if (one.verdict != ProofVerdict::kProved) {
      return one;
    }
    if (tiles == 1) {
      accesses = one.accesses;
      const bool alike = std::all_of(one.work.begin(), one.work.end(), [&](std::uint64_t other) {
        return other == one.work.front();
      });
      if (!alike) {
        return undecided(std::move(honest), "what a cluster does depends on which tile it has");
      }
    }
    sum += accesses[tiles - 1];
    if (one.accesses.front() != sum) {
      return undecided(std::move(honest),
                       "what is read and written for a tile depends on which cluster has it");
    }
    works.push_back(one.work.front());
    streams.push_back(one.streams.front());
    honest.claims.tiles = tiles;
    if (runs.add({one.streams.front()})) {
      honest.claims.period = runs.period();
      honest.claims.regular = runs.first();
      break;
    }
    if (tiles == clusters) {
      break;
    }
  }
  if (const char* differs =
          differs_in_turn(scenario, parameters, options, honest, works.back(), accesses)) {
    return undecided(std::move(honest), differs);
  }
  honest.work = std::move(works);
  if (options.streams_max > 0) {
    honest.streams = std::move(streams);
  }
  return honest;
}

ProofResult prove_claims(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ProofOptions& options,
                         ProofResult honest) {
  return prove_numbers(scenario, parameters, options, std::move(honest), std::nullopt);
}

std::optional<ProofResult> prove_claims_alone(const ScenarioEntry& scenario,
                                              const ParameterSet& parameters,
                                              const ProofOptions& options) {
  ProofResult first = prove_run(scenario, parameters, with_tiles(options, 1));
  if (first.verdict != ProofVerdict::kProved || !first.claims.asked) {
    return std::nullopt;
  }
  ProofResult all = first;
  all.operations = 0;
  all = prove_numbers(scenario, parameters, options, std::move(all), std::move(first));
  return all.verdict == ProofVerdict::kProved ? std::optional{std::move(all)} : std::nullopt;
}

std::optional<std::uint64_t> prove_first_cluster(const ScenarioEntry& scenario,
                                                 const ParameterSet& parameters,
                                                 const ProofOptions& options,
                                                 const ProofResult& proved) {
  if (proved.verdict != ProofVerdict::kProved || !proved.claims.asked || !proved.lasts.empty()) {
    return std::nullopt;
  }
  RegularRuns runs;
  std::uint64_t operations = 0;
  for (std::uint32_t tiles = 1; tiles <= proved.work.size(); ++tiles) {
    ProofOptions with = with_tiles(options, tiles);
    with.run.clusters_begun_max = 1;
    ProofResult one = prove_run(scenario, parameters, with);
    operations += one.operations;
    if (one.verdict != ProofVerdict::kProved || one.work.front() != proved.work[tiles - 1]) {
      return std::nullopt;
    }
    if (runs.add({std::move(one.streams.front())}) ||
        tiles == scenario.workload(parameters).clusters) {
      return operations;
    }
  }
  return std::nullopt;
}

}  // namespace warptwin::sim
