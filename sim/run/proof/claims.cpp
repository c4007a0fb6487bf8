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
constexpr std::uint32_t kOrdersMax = 512;  // of tiles of several kinds
constexpr std::uint64_t kOrderOperations = 3'000'000;
constexpr std::uint64_t kOtherOrderOperations = 600'000;  // of orders that are compared alone

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

constexpr const char* kElsewhere =
    "what is read and written for a tile depends on which cluster has it";
constexpr const char* kNobodyAsks =
    "the cluster that is to claim tiles asks for none: whether a cluster asks depends on which it "
    "is";

// What the proof of some tiles takes for granted counts for the whole, and so does what else it
// would be compared with.
void keep(const RunResult& one, ProofResult& honest) {
  for (std::string& note : one.taken()) {
    if (std::find(honest.notes.begin(), honest.notes.end(), note) == honest.notes.end()) {
      honest.notes.push_back(std::move(note));
    }
  }
  honest.run.lanes_by_number = honest.run.lanes_by_number || one.lanes_by_number;
  honest.run.asks_active = honest.run.asks_active || one.asks_active;
  honest.run.asked_unknown = honest.run.asked_unknown || one.asked_unknown;
  honest.run.read_unknown = honest.run.read_unknown || one.read_unknown;
  honest.run.compared_accesses = honest.run.compared_accesses || one.compared_accesses;
}

// Which tiles a cluster gets behind its first, of `others`: from one on, so many further each time,
// round and round.
struct Turn {
  std::uint32_t from = 0;
  std::uint32_t step = 1;  // below `others`, or 1

  /// The first `tiles` of a launch's, as the first cluster gets them; all from 0 on in steps of one
  /// stand for those from the last back.
  std::vector<std::uint32_t> order(std::uint32_t tiles, std::uint32_t others) const {
    std::vector<std::uint32_t> order{0};
    for (std::uint32_t place = 0; place + 1 < tiles; ++place) {
      const auto further = (std::uint64_t{place} * step + from) % others;
      order.push_back(from == 0 && step == 1 ? others - place
                                             : 1 + static_cast<std::uint32_t>(further));
    }
    return order;
  }
  /// How many it gets before it comes round.
  std::uint32_t most(std::uint32_t others) const { return others / std::gcd(others, step); }
};

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

using Orders = std::vector<std::vector<std::uint32_t>>;

// All orders of up to `most` tiles, the shortest first, by their kinds, of each of which there are
// `of_kind`. Nothing where these are more than kOrdersMax, or have more tiles together than
// `tiles_max`.
std::optional<Orders> orders_of(const std::vector<std::size_t>& of_kind,
                                std::size_t most,
                                std::uint64_t tiles_max) {
  Orders orders{{}};
  std::uint64_t tiles = 0;
  for (std::size_t next = 0; next < orders.size() && orders[next].size() < most; ++next) {
    for (std::uint32_t kind = 0; kind < of_kind.size(); ++kind) {
      std::vector<std::uint32_t> longer = orders[next];
      const auto has = std::count(longer.begin(), longer.end(), kind);
      if (static_cast<std::size_t>(has) == of_kind[kind]) {
        continue;
      }
      longer.push_back(kind);
      tiles += longer.size();
      orders.push_back(std::move(longer));
      if (orders.size() - 1 > kOrdersMax || tiles > tiles_max) {
        return std::nullopt;
      }
    }
  }
  orders.erase(orders.begin());
  return orders;
}

// Orders in which clusters other than the first are looked at, of up to `most` tiles and
// `tiles_max` together: each tile behind each other where these are so few, and of clusters evenly
// spread the tiles before them, round and round.
std::vector<std::vector<std::uint32_t>> orders_of_others(std::uint32_t clusters,
                                                         std::uint32_t most,
                                                         std::uint64_t tiles_max) {
  std::vector<std::vector<std::uint32_t>> orders;
  const std::uint64_t pairs = std::uint64_t{clusters} * (clusters - 1);
  if (most > 1 && pairs <= kOrdersMax && 2 * pairs <= tiles_max) {
    for (std::uint32_t own = 0; own < clusters; ++own) {
      for (std::uint32_t tile = 0; tile < clusters; ++tile) {
        if (tile != own) {
          orders.push_back({own, tile});
        }
      }
    }
  }
  const std::uint32_t count = std::min(clusters - 1, kTurnsMax);
  for (std::uint32_t number = 1; number <= count; ++number) {
    const auto own = static_cast<std::uint32_t>(std::uint64_t{number} * (clusters - 1) / count);
    std::vector<std::uint32_t>& order = orders.emplace_back();
    for (std::uint32_t place = 0; place < most; ++place) {
      order.push_back((own + clusters - place) % clusters);
    }
  }
  return orders;
}

// What a cluster does that gets these tiles. Detectors look on where what it does is not all that
// they go by.
struct Done {
  std::uint64_t work = 0;
  std::uint64_t accesses = 0;
  bool shows_defect = false;
};

Done done_in_order(const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   const RunOptions& options,
                   const ProofResult& honest,
                   const std::vector<std::uint32_t>& tiles) {
  RunOptions run = options;
  run.schedule = ScheduleSpec{};
  run.schedule.strategy = Strategy::kInTurn;
  run.schedule.tries_fail = honest.schedule.tries_fail;
  run.schedule.tiles = static_cast<std::uint32_t>(tiles.size());
  run.schedule.order = tiles;
  run.clusters_begun_max = 1;
  run.rules.machine.clc_fails_early = false;
  run.detect = honest.run.compared_accesses;
  run.moves_data = false;
  RunOrder::Options order_options;
  order_options.work_only = true;
  RunOrder order{launch_config(scenario, parameters, run), order_options};
  run.observer = &order;
  const RunResult result = simulate(scenario, parameters, run);
  return {order.work().of_cluster(tiles.front()),
          order.work().accesses_of_cluster(tiles.front()),
          result.shows_defect()};
}

// Holds what a cluster does that gets `tiles` to what it is to do. Where it does something else, or
// shows a defect, it is proved by itself: the proof is the result where it is of a defect. Else the
// launch is undecided.
std::optional<ProofResult> compare_order(const ScenarioEntry& scenario,
                                         const ParameterSet& parameters,
                                         const ProofOptions& options,
                                         ProofResult& honest,
                                         const std::vector<std::uint32_t>& tiles,
                                         std::uint64_t work,
                                         const std::vector<std::uint64_t>& accesses) {
  const Done done = done_in_order(scenario, parameters, options.run, honest, tiles);
  std::uint64_t of_tiles = 0;
  for (const std::uint32_t tile : tiles) {
    of_tiles += accesses[tile];
  }
  const bool same = done.work == work && done.accesses == of_tiles;
  if (same && !done.shows_defect) {
    return std::nullopt;
  }
  ProofOptions with = with_tiles(options, static_cast<std::uint32_t>(tiles.size()));
  with.run.schedule.order = tiles;
  ProofResult one = prove_run(scenario, parameters, with);
  honest.operations += one.operations;
  if (one.verdict == ProofVerdict::kRefuted || (same && one.verdict != ProofVerdict::kProved)) {
    return one;
  }
  if (same) {
    return std::nullopt;
  }
  return undecided(
      std::move(honest),
      done.work != work ? "what a cluster does depends on which tiles it claims" : kElsewhere);
}

// `works` are what a cluster does with each number of tiles, `accesses` those of each tile. Gives
// what is wrong, if anything is; where nothing is, `honest` names what that rests on.
std::optional<ProofResult> compare_orders(const ScenarioEntry& scenario,
                                          const ParameterSet& parameters,
                                          const ProofOptions& options,
                                          ProofResult& honest,
                                          const std::vector<std::uint64_t>& works,
                                          const std::vector<std::uint64_t>& accesses,
                                          std::uint64_t of_a_tile) {
  const auto clusters = static_cast<std::uint32_t>(accesses.size());
  const std::uint32_t others = clusters - 1;
  if (others == 0) {
    return std::nullopt;
  }
  const std::uint32_t most = honest.claims.tiles;
  const std::uint64_t tiles_max = kOtherOrderOperations / of_a_tile;
  // Each tile is a kind of its own.
  auto orders = orders_of(std::vector<std::size_t>(clusters, 1), most, tiles_max);
  const bool all = orders && most == clusters;
  if (!all) {
    orders = orders_of_others(clusters, most, tiles_max);
    for (const Turn& turn : turns_of(others)) {
      orders->push_back(turn.order(std::min(most, turn.most(others) + 1), others));
    }
  }
  for (const std::vector<std::uint32_t>& order : *orders) {
    const std::uint64_t work = works[order.size() - 1];
    if (auto wrong = compare_order(scenario, parameters, options, honest, order, work, accesses)) {
      return wrong;
    }
  }
  if (!all) {
    honest.notes.push_back("a cluster does in every order of its tiles what it does in the " +
                           std::to_string(orders->size() + 1) + " orders that were compared");
  }
  return std::nullopt;
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
    keep(one.run, honest);
    if (!runs.prolongs({one.streams.front()}, number)) {
      return undecided(std::move(honest),
                       "what a cluster does with " + std::to_string(number) +
                           " tiles is another thing than it does with up to " +
                           std::to_string(claims.tiles));
    }
    const auto end = accesses.begin() + static_cast<std::ptrdiff_t>(number);
    if (one.accesses.front() != std::accumulate(accesses.begin(), end, std::uint64_t{0})) {
      return undecided(std::move(honest), kElsewhere);
    }
    claims.compared.push_back(number);
  }
  std::sort(claims.compared.begin(), claims.compared.end());
  claims.all = claims.compared.size() == clusters - claims.tiles;
  return std::nullopt;
}

// Which kind each tile is of, and how many there are of each: of one kind are those for which
// their own clusters do the same.
struct Kinds {
  std::vector<std::uint32_t> of;                  // of each tile
  std::vector<std::vector<std::uint32_t>> tiles;  // of each kind

  explicit Kinds(const std::vector<std::uint64_t>& works) {
    std::vector<std::uint64_t> known;
    for (std::uint32_t tile = 0; tile < works.size(); ++tile) {
      const auto at = std::find(known.begin(), known.end(), works[tile]);
      of.push_back(static_cast<std::uint32_t>(at - known.begin()));
      if (at == known.end()) {
        known.push_back(works[tile]);
        tiles.emplace_back();
      }
      tiles[of.back()].push_back(tile);
    }
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(tiles.size()); }
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    for (const std::vector<std::uint32_t>& of_kind : tiles) {
      all.push_back(of_kind.size());
    }
    return all;
  }
};

// Which tiles of each kind stand for the others.
enum class Standing {
  kFirst,   // the first ones
  kLast,    // the last, going back
  kMiddle,  // from the middle on, round and round
  kEnds     // the last, the first, the last but one, ...
};

// Tiles of these kinds, in this order.
std::vector<std::uint32_t> tiles_of(const std::vector<std::uint32_t>& order,
                                    const Kinds& kinds,
                                    Standing standing) {
  std::vector<std::uint32_t> taken(kinds.count());
  std::vector<std::uint32_t> tiles;
  for (const std::uint32_t kind : order) {
    const std::vector<std::uint32_t>& all = kinds.tiles[kind];
    const std::size_t place = taken[kind]++;
    const std::size_t back = all.size() - 1 - place;
    const bool from_behind = standing == Standing::kLast;
    tiles.push_back(standing == Standing::kMiddle ? all[(all.size() / 2 + place) % all.size()]
                    : standing == Standing::kEnds
                        ? all[place % 2 == 0 ? all.size() - 1 - place / 2 : place / 2]
                        : all[from_behind ? back : place]);
  }
  return tiles;
}

// Tiles of an order of kinds that are compared with the first of each kind. Of two tiles all: what
// a cluster does for a tile behind each other one of its own is seen.
std::vector<std::vector<std::uint32_t>> others_of(const std::vector<std::uint32_t>& order,
                                                  const Kinds& kinds) {
  std::vector<std::vector<std::uint32_t>> others;
  if (order.size() == 2 && kinds.of.size() * (kinds.of.size() - 1) <= kOrdersMax) {
    for (const std::uint32_t own : kinds.tiles[order[0]]) {
      for (const std::uint32_t tile : kinds.tiles[order[1]]) {
        if (own != tile) {
          others.push_back({own, tile});
        }
      }
    }
    return others;
  }
  for (const Standing standing : {Standing::kLast, Standing::kMiddle, Standing::kEnds}) {
    others.push_back(tiles_of(order, kinds, standing));
  }
  return others;
}

// Tiles differ in what is done for them, as `ones` shows, the proof of one tile a cluster: every
// order in which a cluster may get them is proved by itself. Of tiles of a kind those that come
// first stand for the others; the last, those in the middle and both ends are compared with them.
ProofResult prove_orders(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const ProofOptions& options,
                         ProofResult honest,
                         const ProofResult& ones) {
  const Kinds kinds{ones.work};
  const auto clusters = static_cast<std::uint32_t>(ones.work.size());
  const std::uint64_t of_a_tile = ones.run.operations / clusters + 1;
  const auto orders = orders_of(kinds.counts(), clusters, kOrderOperations / of_a_tile);
  if (!orders) {
    return undecided(std::move(honest),
                     "what a cluster does depends on which tile it has: the " +
                         std::to_string(clusters) + " tiles are of " +
                         std::to_string(kinds.count()) +
                         " kinds, in more orders than are proved one by one");
  }
  const auto accesses_of = [&](const std::vector<std::uint32_t>& tiles) {
    std::uint64_t sum = 0;
    for (const std::uint32_t tile : tiles) {
      sum += ones.accesses[tile];
    }
    return sum;
  };
  Streams streams;
  for (const std::vector<std::uint32_t>& order : *orders) {
    const std::vector<std::uint32_t> tiles = tiles_of(order, kinds, Standing::kFirst);
    ProofOptions with = with_tiles(options, static_cast<std::uint32_t>(tiles.size()));
    with.run.schedule.order = tiles;
    with.streams_max = tiles.front() + 1;
    ProofResult one = prove_run(scenario, parameters, with);
    honest.operations += one.operations;
    if (one.verdict != ProofVerdict::kProved) {
      return one;
    }
    keep(one.run, honest);
    if (!one.claims.asked) {
      return undecided(std::move(honest), kNobodyAsks);
    }
    if (one.accesses[tiles.front()] != accesses_of(tiles)) {
      return undecided(std::move(honest), kElsewhere);
    }
    std::vector<std::vector<std::uint32_t>> known{tiles};
    for (const std::vector<std::uint32_t>& others : others_of(order, kinds)) {
      if (std::find(known.begin(), known.end(), others) != known.end()) {
        continue;
      }
      const std::uint64_t work = one.work[tiles.front()];
      if (auto wrong =
              compare_order(scenario, parameters, options, honest, others, work, ones.accesses)) {
        return std::move(*wrong);
      }
      known.push_back(others);
    }
    streams.push_back(std::move(one.streams.at(tiles.front())));
  }
  honest.claims.tiles = clusters;
  honest.claims.kinds = kinds.count();
  honest.claims.orders = static_cast<std::uint32_t>(orders->size());
  honest.claims.all = true;
  if (kinds.count() != clusters) {
    honest.notes.push_back(
        "a cluster does for other tiles of the same kinds what it does for those "
        "that were compared");
  }
  honest.work.clear();  // nobody may take it for numbers of tiles
  if (options.streams_max > 0) {
    honest.streams = std::move(streams);
  }
  return honest;
}

}  // namespace

std::string ClaimScope::strength() const {
  if (kinds != 0) {
    return "for every order in which a cluster may claim tiles, which are of " +
           std::to_string(kinds) + " kinds: " + std::to_string(orders) +
           " orders of kinds proved one by one; the launch has no more";
  }
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
    if (one.verdict != ProofVerdict::kProved || !one.claims.asked) {
      return one.verdict != ProofVerdict::kProved ? one : undecided(std::move(honest), kNobodyAsks);
    }
    keep(one.run, honest);
    if (tiles == 1) {
      accesses = one.accesses;
      const bool alike = std::all_of(one.work.begin(), one.work.end(), [&](std::uint64_t other) {
        return other == one.work.front();
      });
      if (!alike) {
        return prove_orders(scenario, parameters, options, std::move(honest), one);
      }
    }
    sum += accesses[tiles - 1];
    if (one.accesses.front() != sum) {
      return undecided(std::move(honest), kElsewhere);
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
  const std::uint64_t of_a_tile = last_operations / honest.claims.tiles + 1;
  if (honest.claims.period != 0) {
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
  if (auto wrong =
          compare_orders(scenario, parameters, options, honest, works, accesses, of_a_tile)) {
    return std::move(*wrong);
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
  if (proved.verdict != ProofVerdict::kProved || !proved.claims.asked || proved.claims.kinds != 0 ||
      !proved.lasts.empty()) {
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
