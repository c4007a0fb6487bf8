#include "sim/run/proof/claims.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "sim/run/proof/regular_runs.hpp"
#include "sim/run/proof/trip_counts.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTilesMax = 160;
constexpr std::uint32_t kTilesTried = 8;  // to show that a missing ordering matters
constexpr std::uint32_t kTurnsMax = 16;
constexpr std::uint32_t kFurtherInTurn =
    64;  // up to here further numbers of tiles are compared in turn
constexpr std::uint64_t kFurtherOperations = 600'000;

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

// Which tiles a cluster gets behind its first, of `others`: from one on, so many further each time,
// round and round.
struct Turn {
  std::uint32_t from = 0;
  std::uint32_t step = 1;  // below `others`, or 1

  std::uint32_t at(std::uint32_t place, std::uint32_t others) const {
    return 1 + static_cast<std::uint32_t>((std::uint64_t{place} * step + from) % others);
  }
  /// How many it gets before it comes round.
  std::uint32_t most(std::uint32_t others) const { return others / std::gcd(others, step); }
  /// As Gpu::turned has it.
  std::uint32_t number(std::uint32_t others) const { return (step - 1) * others + from; }
};

// What the first cluster does with so many tiles when they are given out from the end, or in turn.
Done done_in_turn(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const RunOptions& options,
                  bool tries_fail,
                  std::uint32_t tiles,
                  std::uint32_t turn) {  // 0: from the end
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

// Turns in which the first cluster is looked at: each tile in each place behind the first, where
// there are no more than kTurnsMax others, and tiles as far apart as they may be; of more others as
// many, evenly spread.
std::vector<Turn> turns_of(std::uint32_t others) {
  const std::uint32_t count = std::min(others, kTurnsMax);
  std::vector<Turn> turns;
  for (std::uint32_t number = 0; number < count; ++number) {
    turns.push_back({static_cast<std::uint32_t>(std::uint64_t{number} * others / count)});
  }
  for (std::uint32_t number = 2; number < count; ++number) {
    const auto step = static_cast<std::uint32_t>(std::uint64_t{number} * others / count);
    turns.push_back({step / 2, step});
  }
  return turns;
}

// What the comparison of turns rests on where they are not all orders that matter.
std::optional<std::string> hypothesis_on_orders(std::uint32_t others) {
  if (others <= kTurnsMax) {
    return std::nullopt;
  }
  const std::size_t orders = turns_of(others).size() + 1;  // and that of the launch
  return "a cluster does in every order of its tiles what it does in the " +
         std::to_string(orders) + " orders that were compared";
}

// `works` are what a cluster does with each number of tiles, `accesses` those of each tile. Says
// what differs, if any does; where none does, `honest` names what that rests on.
const char* differs_in_turn(const ScenarioEntry& scenario,
                            const ParameterSet& parameters,
                            const ProofOptions& options,
                            ProofResult& honest,
                            const std::vector<std::uint64_t>& works,
                            const std::vector<std::uint64_t>& accesses) {
  const auto others = static_cast<std::uint32_t>(accesses.size()) - 1;
  for (const Turn& turn : turns_of(others)) {
    const std::uint32_t number = turn.number(others);
    const std::uint32_t tiles = std::min(honest.claims.tiles, turn.most(others) + 1);
    const Done done =
        done_in_turn(scenario, parameters, options.run, honest.schedule.tries_fail, tiles, number);
    if (done.work != works[tiles - 1]) {
      return "what a cluster does depends on which tiles it claims";
    }
    std::uint64_t sum = accesses.front();
    for (std::uint32_t place = 0; place + 1 < tiles; ++place) {
      sum += accesses[number == 0 ? others - place : turn.at(place, others)];
    }
    if (done.accesses != sum) {
      return "what is read and written for a tile depends on which cluster has it";
    }
  }
  if (auto hypothesis = hypothesis_on_orders(others)) {
    honest.notes.push_back(std::move(*hypothesis));
  }
  return nullptr;
}

// Numbers of tiles beyond `tiles` at which regularity is tried, the most telling first: all that
// there are, for it has the others in it but for their ends; those that follow; powers of two and
// their neighbours.
std::vector<std::uint32_t> further_numbers(std::uint32_t tiles, std::uint32_t clusters) {
  std::vector<std::uint32_t> numbers;
  const auto add = [&](std::uint64_t number) {
    const auto one = static_cast<std::uint32_t>(number);
    if (number > tiles && number <= clusters &&
        std::find(numbers.begin(), numbers.end(), one) == numbers.end()) {
      numbers.push_back(one);
    }
  };
  add(clusters);
  for (std::uint32_t number = tiles + 1; number <= kFurtherInTurn; ++number) {
    add(number);
  }
  for (std::uint64_t power = kFurtherInTurn; power <= clusters; power *= 2) {
    add(power - 1);
    add(power);
    add(power + 1);
  }
  return numbers;
}

// Proves further numbers of tiles, as many as `bound` operations allow, and compares each run with
// what the runs so far predict. Gives the first that is not as it should be.
std::optional<ProofResult> compare_further(const ScenarioEntry& scenario,
                                           const ParameterSet& parameters,
                                           const ProofOptions& options,
                                           const RegularRuns& runs,
                                           const std::vector<std::uint64_t>& accesses,
                                           std::uint64_t bound,
                                           std::uint64_t of_a_tile,
                                           ProofResult& honest) {
  const auto clusters = static_cast<std::uint32_t>(accesses.size());
  ClaimScope& claims = honest.claims;
  for (const std::uint32_t number : further_numbers(claims.tiles, clusters)) {
    const std::uint64_t cost = of_a_tile * number;
    if (cost > bound) {
      continue;
    }
    bound -= cost;
    ProofResult one = prove_run(scenario, parameters, with_tiles(options, number));
    honest.operations += one.operations;
    if (one.verdict != ProofVerdict::kProved) {
      return one;
    }
    if (!runs.prolongs({one.streams.front()}, number)) {
      return undecided(std::move(honest),
                       "what a cluster does with " + std::to_string(number) +
                           " tiles is another thing than it does with up to " +
                           std::to_string(claims.tiles));
    }
    const auto end = accesses.begin() + static_cast<std::ptrdiff_t>(number);
    if (one.accesses.front() != std::accumulate(accesses.begin(), end, std::uint64_t{0})) {
      return undecided(std::move(honest),
                       "what is read and written for a tile depends on which cluster has it");
    }
    claims.compared.push_back(number);
  }
  std::sort(claims.compared.begin(), claims.compared.end());
  claims.all = claims.compared.size() == clusters - claims.tiles;
  return std::nullopt;
}

}  // namespace

std::string ClaimScope::strength() const {
  return "for every number of tiles a cluster may claim: 1 to " + std::to_string(tiles) +
         " proved one by one; " +
         (period == 0 ? "the launch has no more"
                      : "from " + std::to_string(regular) + " on the same state comes back every " +
                            std::to_string(period) + (period == 1 ? " tile" : " tiles")) +
         (compared.empty() ? "" : "\n  proved, and compared with that, at " + in_ranges(compared));
}

std::string ClaimScope::hypothesis() const {
  return "a cluster that claims more than " + std::to_string(tiles) +
         " tiles goes on as it does until then";
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
  std::uint64_t last_operations = 0;
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
    last_operations = one.run.operations;
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
  if (honest.claims.period != 0) {
    const std::uint64_t of_a_tile = last_operations / honest.claims.tiles + 1;
    const std::uint64_t made = of_a_tile * honest.claims.tiles * (honest.claims.tiles + 1) / 2;
    const std::uint64_t bound = std::max(kFurtherOperations, made / 4);
    const bool for_all = options.streams_max > 0;  // it proves many a launch like this
    if (auto wrong = compare_further(scenario,
                                     parameters,
                                     options,
                                     runs,
                                     accesses,
                                     for_all ? 0 : bound,
                                     of_a_tile,
                                     honest)) {
      return std::move(*wrong);
    }
    if (!honest.claims.all) {
      honest.notes.push_back(honest.claims.hypothesis());
    }
  }
  if (const char* differs =
          differs_in_turn(scenario, parameters, options, honest, works, accesses)) {
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
