#include "sim/run/proof/prove.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "sim/functional/schedulers/ahead.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/run/proof/claims.hpp"
#include "sim/run/proof/condition_words.hpp"
#include "sim/run/proof/data_decides.hpp"
#include "sim/run/proof/each_last.hpp"
#include "sim/run/proof/elections.hpp"
#include "sim/run/proof/memory_hash.hpp"
#include "sim/run/proof/role_work.hpp"

namespace warptwin::sim {

namespace {

struct OneRun {
  RunResult result;
  std::unique_ptr<RunOrder> order;
  std::vector<std::string> idle_roles;
  std::uint64_t memory = 0;  // of a run for its work only: a hash of what global memory ends with
  std::shared_ptr<WarpWork> warp_work;  // of PTX that is proved, where lanes are elected
};

// Of clusters that are left out.
class WorkAlone : public EventSink {
 public:
  WorkAlone(RunOrder& order, WarpWork* warp_work) : order_{order}, warp_work_{warp_work} {}
  void on_event(const Event& event) override {
    order_.on_like_event(event);
    if (warp_work_ != nullptr) {
      warp_work_->on_event(event);
    }
  }

 private:
  RunOrder& order_;
  WarpWork* warp_work_;
};

OneRun run_in_order(const ScenarioEntry& scenario,
                    const ParameterSet& parameters,
                    RunOptions options,
                    const RunOrder::Options& order_options,
                    bool leave_out = false) {
  OneRun one;
  const Launch launch = scenario.launch(parameters);
  const LaunchConfig config = launch_config(launch, options);
  one.order = std::make_unique<RunOrder>(config, order_options);
  RoleWork work{config, launch.symbols, one.order.get()};
  const bool as_launched = !order_options.work_only && options.schedule.tiles == 0;
  if (scenario.hypotheses && as_launched && options.observer == nullptr) {
    one.warp_work = std::make_shared<WarpWork>();
    options.observer = one.warp_work.get();
  }
  WorkAlone alike{*one.order, one.warp_work.get()};
  options.late_observer = &work;
  options.alike = leave_out ? &alike : nullptr;
  options.try_judge = order_options.work_only ? nullptr : one.order.get();
  if (order_options.work_only) {
    options.at_end = [&one](const GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
      one.memory = hash_of(memory, addresses);
    };
  }
  one.result = simulate(scenario, parameters, options);
  one.order->at_end();
  if (one.warp_work != nullptr) {
    one.warp_work->at_end();
  }
  one.idle_roles = work.idle_roles();
  return one;
}

// What the open tries are told in other runs: all that there is where they are few. Else all yes,
// and by each digit of their numbers: any two of them are told each of the four pairs of answers.
std::vector<std::vector<OpenTry>> answers_of(const std::vector<OpenTry>& open) {
  constexpr std::size_t kAllAnswersMax = 4;
  std::vector<std::vector<OpenTry>> answers;
  const auto add = [&](auto&& says_yes) {
    std::vector<OpenTry>& yes = answers.emplace_back();
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (says_yes(i)) {
        yes.push_back(open[i]);
      }
    }
  };
  if (open.size() <= kAllAnswersMax) {
    for (std::size_t bits = 1; bits < std::size_t{1} << open.size(); ++bits) {
      add([&](std::size_t i) { return (bits >> i & 1U) != 0; });
    }
    return answers;
  }
  add([](std::size_t) { return true; });
  for (std::size_t digit = 0; ((open.size() - 1) >> digit) != 0; ++digit) {
    for (const std::size_t value : {0U, 1U}) {
      add([&](std::size_t i) { return (i >> digit & 1U) == value; });
    }
  }
  return answers;
}

// A run in which some tries wait until they can say yes. Where one waits for good, its barrier may
// have gone on before the try looked: its warp looks as early as it can, then.
OneRun run_with_answers(const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        RunOptions run,
                        const RunOrder::Options& order_options) {
  OneRun one = run_in_order(scenario, parameters, run, order_options);
  for (const bool from_the_last : {false, true}) {
    if (one.result.end == Ending::kDone || !one.result.waits_at_try) {
      break;
    }
    run.scheduler = [&](const Gpu& gpu) -> std::unique_ptr<Scheduler> {
      std::vector<std::uint32_t> warps;
      for (const OpenTry& open : run.tries_pass) {
        warps.push_back(open.warp);
      }
      return std::make_unique<AheadScheduler>(gpu, std::move(warps), from_the_last);
    };
    one = run_in_order(scenario, parameters, run, order_options);
  }
  return one;
}

// A try that is repeated waits in the run that the proof is of. One that is repeated so often and
// no more does not: a run in which it says no so often must do the same.
constexpr std::uint32_t kRefusals = 64;

OneRun refused_run(const ScenarioEntry& scenario,
                   const ParameterSet& parameters,
                   RunOptions run,
                   const RunOrder::Options& work_only) {
  run.refusals = kRefusals;
  run.detect = true;
  return run_in_order(scenario, parameters, std::move(run), work_only);
}

// The same work, and nothing of it in front of a wait that the proof's run has behind it.
bool same_work(const OneRun& one, const RunOrder& order) {
  return one.order->work().of_grid() == order.work().of_grid() &&
         one.order->work().waits_as_early_as(order.work());
}

// Whether a run has something against it where the proof's has nothing.
bool shows_more(const RunResult& one, const RunResult& proved) {
  return !one.clean(false) && proved.clean(false);
}

bool gives_up(const OneRun& refused, const RunOrder& order, const ProofResult& result) {
  return shows_more(refused.result, result.run) || refused.result.gave_up ||
         !same_work(refused, order);
}

// The proof is of the run in which every open try says no; with other answers the kernel must do
// the same work. An honest run that does not end shows the defect itself.
void compare_answers(const ScenarioEntry& scenario,
                     const ParameterSet& parameters,
                     const RunOptions& run,
                     const RunOrder& order,
                     ProofResult& result) {
  constexpr const char* kDepends = "what the kernel does depends on the answer of a try";
  RunOrder::Options work_only;
  work_only.work_only = true;
  RunOptions other = run;
  other.detect = result.run.compared_accesses;
  constexpr const char* kStores = "what the kernel stores depends on the answer of a try";
  const std::vector<OpenTry>& open = order.open_tries();
  std::uint32_t compared = 0;
  std::set<std::uint64_t> memories;
  for (std::vector<OpenTry>& yes : answers_of(open)) {
    other.tries_pass = std::move(yes);
    const OneRun one = run_with_answers(scenario, parameters, other, work_only);
    // A try that has waited for good makes no run, if it could not have looked at a better time.
    if (one.result.may_have_missed) {
      result.undecided.push_back({"whether a try can say yes between two phases is not known", {}});
      return;
    }
    if (one.result.end != Ending::kDone && !one.result.waits_at_try) {
      result.undecided.push_back({"with another answer of a try the kernel does not end", {}});
      return;
    }
    if (one.result.end == Ending::kDone) {
      ++compared;
      memories.insert(one.memory);
      if (!same_work(one, order) || shows_more(one.result, result.run)) {
        result.undecided.push_back({kDepends, {}});
        return;
      }
    }
  }
  other.tries_pass.clear();
  RunOptions repeated = other;
  other.schedule.tries_fail = false;
  const OneRun honest = run_in_order(scenario, parameters, other, work_only);
  if (honest.result.end != Ending::kDone) {
    other.detect = true;
    result.run = simulate(scenario, parameters, other);
    result.schedule = other.schedule;
    return;
  }
  if (!same_work(honest, order) || shows_more(honest.result, result.run)) {
    result.undecided.push_back({kDepends, {}});
    return;
  }
  const OneRun refused = refused_run(scenario, parameters, std::move(repeated), work_only);
  memories.insert({honest.memory, refused.memory});
  if (gives_up(refused, order, result)) {
    result.undecided.push_back({"a try that is repeated gives up before its phase is there", {}});
  } else if (memories.size() > 1) {
    result.undecided.push_back({kStores, {}});
  } else if (!open.empty()) {
    result.notes.push_back("the answers of " + std::to_string(open.size()) +
                           " tries decide nothing but waits for what they asked: so in " +
                           std::to_string(compared + 2) +
                           " runs with other answers, one of them with " +
                           std::to_string(kRefusals) + " refusals of a try that is repeated");
  }
}

// Takes out what `accepts` takes.
void take_accepted(ProofResult& result, const std::function<bool(const Finding&)>& accepts) {
  const auto take = [&](const Finding& finding) {
    const bool taken = accepts(finding);
    if (taken) {
      result.accepted.push_back(finding);
    }
    return taken;
  };
  result.run.accepted = std::erase_if(result.run.findings, take);
  result.second.accepted = std::erase_if(result.second.findings, take);
  std::erase_if(result.refutations, [&](const Refutation& one) { return take(one.finding); });
}

ProofVerdict verdict_of(const ProofResult& result, bool proved) {
  const bool confirmed = std::any_of(result.refutations.begin(),
                                     result.refutations.end(),
                                     [](const Refutation& one) { return one.witness.confirmed; });
  if (confirmed || !result.run.clean(false)) {
    return ProofVerdict::kRefuted;
  }
  if (!result.undecided.empty()) {
    return ProofVerdict::kUndecided;
  }
  if (!result.refutations.empty()) {
    return ProofVerdict::kUnordered;
  }
  return proved ? ProofVerdict::kProved : ProofVerdict::kAccepted;
}

// The run that the proof is of, and how it was made.
struct ProvedRun {
  OneRun one;
  RunOptions run;
  RunOrder::Options order_options;
  RunOptions compared;  // for runs with other answers of tries: as few clusters at a time
  bool plain = false;   // it is of one cluster at a time, and shows nothing
};

ProvedRun run_to_prove(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const ProofOptions& options) {
  ProvedRun proved;
  RunOptions& run = proved.run = options.run;
  run.schedule = ScheduleSpec{};
  run.schedule.tiles = options.run.schedule.tiles;
  run.schedule.order = options.run.schedule.order;
  run.schedule.last = options.run.schedule.last;
  run.schedule.strategy = Strategy::kInTurn;
  run.schedule.tries_fail = true;
  run.proves = true;
  proved.order_options.streams_max = options.streams_max;
  proved.order_options.lanes_in_turn = static_cast<bool>(scenario.hypotheses);  // they say so
  // Clusters that do not meet in global memory do the same however many are on the machine: one at
  // a time is quickest. What is found is found again with all of them, so that it can be replayed.
  RunOptions lean = run;
  lean.resident_ctas = 1;
  lean.clusters_begun_max = run.schedule.tiles > 1 ? 1 : lean.clusters_begun_max;
  OneRun& one = proved.one;
  const bool leave_out = options.leave_out_alike && options.streams_max <= 1;
  try {
    one = run_in_order(scenario, parameters, lean, proved.order_options, leave_out);
  } catch (const ConfigError&) {
    one.result.in_doubt = true;  // behind a defect of clusters that were left out it is none
  }
  if (one.result.in_doubt) {
    one = run_in_order(scenario, parameters, lean, proved.order_options);
  }
  const auto nothing_against = [&one] {
    return one.result.end == Ending::kDone && one.result.findings.empty() &&
           one.order->findings().empty() && one.order->undecided().empty();
  };
  const bool plain = nothing_against() && !one.order->needs_whole_grid();
  if (!plain) {
    one = run_in_order(scenario, parameters, run, proved.order_options);
  }
  if (one.order->needs_whole_grid()) {
    proved.order_options.whole_grid = run.whole_grid = true;
    one = run_in_order(scenario, parameters, run, proved.order_options);
  }
  // More sets of lanes only say more for it. Tries are answered by an order of few, in every run.
  if (!nothing_against() && one.order->needs_lane_sets() && !one.order->tried()) {
    proved.order_options.lane_sets = kLaneSetsMax;
    one = run_in_order(scenario, parameters, run, proved.order_options);
  }
  proved.compared = plain ? lean : run;
  proved.plain = plain;
  return proved;
}

// What the run says by itself.
void take_run(const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              OneRun& one,
              ProofResult& result) {
  result.operations = one.result.operations;
  result.idle_roles = std::move(one.idle_roles);
  result.streams = one.order->streams();
  result.meets_pairs = one.order->meets_pairs();
  result.undecided = one.order->undecided();
  result.claims.asked = one.order->asked();
  if (result.claims.asked) {
    const std::uint32_t clusters = scenario.workload(parameters).clusters;
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      result.work.push_back(one.order->work().of_cluster(cluster));
      result.accesses.push_back(one.order->work().accesses_of_cluster(cluster));
    }
  }
  result.run = std::move(one.result);
}

// A defect shows itself in more than one way: a fair run beside this one, and if it comes through,
// its conditions.
void run_beside(const ScenarioEntry& scenario,
                const ParameterSet& parameters,
                ProvedRun& proved,
                ProofResult& result) {
  RunOptions fair = proved.run;
  fair.schedule = ScheduleSpec{};
  fair.schedule.tiles = proved.run.schedule.tiles;
  fair.schedule.order = proved.run.schedule.order;
  fair.schedule.last = proved.run.schedule.last;
  OneRun other = run_in_order(scenario, parameters, fair, proved.order_options);
  if (other.result.end == Ending::kDone) {
    proved.one.order = std::move(other.order);
    proved.run = fair;
  }
  result.second_schedule = fair.schedule;
  result.second = std::move(other.result);
  std::erase_if(result.second.findings, [&](const Finding& finding) {
    return std::any_of(result.run.findings.begin(),
                       result.run.findings.end(),
                       [&](const Finding& known) { return known.info == finding.info; });
  });
}

// Where a defect is shown, no more work than this is put into schedules that show others: a second
// or two.
constexpr std::uint64_t kWorkBesideADefect = 2'000'000;

// The conditions that do not hold, with schedules that show it.
void refute(const ScenarioEntry& scenario,
            const ParameterSet& parameters,
            const ProofOptions& options,
            const ProvedRun& proved,
            ProofResult& result) {
  result.conditions_not_kept = proved.one.order->not_kept();
  if (proved.one.order->findings().empty()) {
    return;
  }
  const bool clean = result.run.clean(false);
  const bool ended = clean || result.second.end == Ending::kDone;
  const LaunchConfig config = launch_config(scenario, parameters, proved.run);
  const Symbols symbols = scenario.symbols(parameters);
  const Naming naming{config, symbols};
  bool shown = !clean;
  std::uint64_t beside = 0;
  for (const RunOrder::Finding& broken : proved.one.order->findings()) {
    Refutation refutation{broken, in_words(broken, naming), {}};
    const bool sought = options.witnesses && ended &&
                        result.refutations.size() < options.witnesses_max &&
                        beside < kWorkBesideADefect;
    if (sought) {
      WitnessOptions witness;
      witness.run = proved.run;
      witness.whole_grid = result.whole_grid;
      witness.lane_sets = proved.order_options.lane_sets;
      witness.known = {&result.run, &result.second};
      if (shown) {
        witness.work_max = kWorkBesideADefect - beside;
      }
      refutation.witness = find_witness(scenario, parameters, broken, witness);
      beside += shown ? refutation.witness.work : 0;
      shown = shown || refutation.witness.confirmed;
      // A run with a defect may not be repeatable in another order, nor one whose conditions fail
      // before this one, nor one that the answer of a try decides, nor one of lanes that part, or
      // that need not keep up.
      const bool certain =
          clean && result.undecided.empty() && !proved.one.order->lanes_part() &&
          !broken.of_lanes &&
          std::none_of(result.refutations.begin(),
                       result.refutations.end(),
                       [&](const Refutation& other) { return other.broken.group == broken.group; });
      if (!certain) {
        refutation.witness.internal_error.clear();
      }
    }
    if (!refutation.witness.confirmed) {
      refutation.finding.severity = Severity::kWarning;
    }
    // Beside a defect that is shown, only what is shown too.
    if (clean || refutation.witness.confirmed) {
      result.refutations.push_back(std::move(refutation));
    } else if (beside >= kWorkBesideADefect) {
      ++result.conditions_not_kept;  // whether a schedule shows it was not looked for to the end
    }
  }
}

}  // namespace

std::uint64_t work_of(const Workload& workload) {
  std::uint64_t bytes = 0;
  for (const TensorSpec& tensor : workload.tensors) {
    bytes += tensor.bytes();
  }
  return std::max(workload.flops, bytes);
}

const char* name_of(ProofVerdict verdict) {
  constexpr const char* kNames[] = {
      "proved", "refuted", "accepted", "unordered", "undecided", "incomplete"};
  return kNames[static_cast<unsigned>(verdict)];
}

std::string ProofResult::text_of_notes() const {
  std::string text;
  for (const std::string& note : notes) {
    text += "\nit rests on this: " + note;
  }
  return text;
}

bool outweighs(ProofVerdict a, ProofVerdict b) {
  constexpr ProofVerdict kOrder[] = {ProofVerdict::kProved,
                                     ProofVerdict::kAccepted,
                                     ProofVerdict::kUnordered,
                                     ProofVerdict::kUndecided,
                                     ProofVerdict::kIncomplete,
                                     ProofVerdict::kRefuted};
  return std::find(std::begin(kOrder), std::end(kOrder), a) >
         std::find(std::begin(kOrder), std::end(kOrder), b);
}

// Only of runs that came to their end: a defect may have kept a role from its work.
static std::string note_of(const std::vector<std::string>& idle_roles) {
  std::string note;
  for (const std::string& role : idle_roles) {
    note +=
        "\nnote: role " + role + " did nothing: none of its warps executed an operation of its own";
  }
  return note;
}

std::string ProofResult::strength() const {
  const std::string note = note_of(idle_roles);
  switch (verdict) {
    case ProofVerdict::kProved:
      return "proved: every interleaving of this launch ends and acts in the same phases (" +
             std::to_string(run.operations) + " operations of one run)" +
             (claims.asked ? "\n" + claims.strength() : "") + (lasts.empty() ? "" : "\n" + lasts) +
             note + text_of_notes();
    case ProofVerdict::kRefuted:
      return "refuted: some interleaving goes wrong";
    case ProofVerdict::kAccepted:
      return "not proved: what is wrong is suppressed" + note;
    case ProofVerdict::kUnordered:
      return "not proved: an ordering is missing, and no schedule was found in which it matters" +
             note;
    case ProofVerdict::kUndecided:
      return "not decided by the proof" + note;
    case ProofVerdict::kIncomplete:
      break;
  }
  return "incomplete: the run did not end within its bound";
}

ProofResult prove_run(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const ProofOptions& options) {
  ProofResult result;
  result.rules = options.run.rules;
  ProvedRun proved = run_to_prove(scenario, parameters, options);
  result.whole_grid = proved.order_options.whole_grid;
  take_run(scenario, parameters, proved.one, result);
  // Without data what they leave is unknown, and nothing depends on it.
  for (const SourceSite& site : result.run.reductions_in_any_order) {
    if (proved.run.moves_data) {
      result.undecided.push_back({"what several reductions leave depends on which is first", site});
    }
  }
  result.notes = result.run.taken();
  if (result.run.stopped()) {
    result.schedule = proved.run.schedule;
    if (result.run.end == Ending::kRefused) {
      result.undecided.push_back({result.run.refusal, {}});
    }
    if (options.accepts) {
      take_accepted(result, options.accepts);
    }
    result.verdict = result.run.shows_defect()              ? ProofVerdict::kRefuted
                     : result.run.end == Ending::kStepBound ? ProofVerdict::kIncomplete
                                                            : ProofVerdict::kUndecided;
    return result;
  }
  // What a kernel without tries does is the same either way.
  proved.run.schedule.tries_fail = proved.one.order->tried();
  const bool chooses = proved.one.order->tried() || result.claims.asked || result.meets_pairs ||
                       !result.run.added_words.empty();
  if (proved.plain && !chooses) {
    result.warp_work = std::move(proved.one.warp_work);
  }
  result.schedule = proved.run.schedule;
  if (proved.one.order->tried() && result.run.end == Ending::kDone) {
    compare_answers(scenario, parameters, proved.compared, *proved.one.order, result);
  }
  const bool clean = result.run.clean(false);
  if (!clean) {
    run_beside(scenario, parameters, proved, result);
  }
  refute(scenario, parameters, options, proved, result);
  const bool holds = clean && result.refutations.empty();
  if (options.accepts) {
    take_accepted(result, options.accepts);
  }
  for (const Refutation& refutation : result.refutations) {
    result.internal_error = result.internal_error || !refutation.witness.internal_error.empty();
  }
  result.verdict = verdict_of(result, holds);
  return result;
}

// Where the kernel asks for clusters, for every number of them.
static ProofResult prove_numbers_of_tiles(const ScenarioEntry& scenario,
                                          const ParameterSet& parameters,
                                          const ProofOptions& options) {
  if (options.claims_alone) {
    if (std::optional<ProofResult> all = prove_claims_alone(scenario, parameters, options)) {
      return std::move(*all);
    }
  }
  ProofResult result = prove_run(scenario, parameters, options);
  // Only what is open may turn out worse with other numbers of tiles.
  const bool goes_on = !outweighs(result.verdict, ProofVerdict::kUnordered);
  return result.claims.asked && goes_on
             ? prove_claims(scenario, parameters, options, std::move(result))
             : result;
}

static ProofResult prove_with_claims(const ScenarioEntry& scenario,
                                     const ParameterSet& parameters,
                                     const ProofOptions& options) {
  ProofResult result = prove_numbers_of_tiles(scenario, parameters, options);
  if (result.run.added_words.empty()) {
    return result;
  }
  LastChoices choices;
  const Launch launch = scenario.launch(parameters);
  choices.warps_per_cluster = launch.warps_per_cta() * launch.workload.cluster_size;
  choices.prove_one = [&](const ProofOptions& chosen) {
    return prove_numbers_of_tiles(scenario, parameters, chosen);
  };
  if (work_of(scenario.workload(parameters)) <= kDataWorkMax) {
    choices.left = [&](const ProofOptions& chosen) {
      RunOptions run = chosen.run;
      run.schedule.strategy = Strategy::kInTurn;
      run.moves_data = true;
      run.detect = false;
      std::uint64_t left = 0;
      run.at_end = [&](const GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
        left = hash_of(memory, addresses);
      };
      simulate(scenario, parameters, run);
      return left;
    };
  }
  return prove_each_last(std::move(result), options, choices);
}

static ProofResult prove_pairs(const ScenarioEntry& scenario,
                               const ParameterSet& parameters,
                               const ProofOptions& options) {
  // Alone, a pair's allocation orders nothing; together, it may wait for a peer that does not come.
  const MachineRules& given = options.run.rules.machine;
  const bool alloc = given.pair_alloc == PairMeeting::kEither;
  const bool dealloc = given.pair_dealloc == PairMeeting::kEither;
  ProofOptions alone = options;
  if (alloc) {
    alone.run.rules.machine.pair_alloc = PairMeeting::kAlone;
  }
  if (dealloc) {
    alone.run.rules.machine.pair_dealloc = PairMeeting::kAlone;
  }
  ProofResult result = prove_with_claims(scenario, parameters, alone);
  if ((!alloc && !dealloc) || !result.meets_pairs ||
      outweighs(result.verdict, ProofVerdict::kUndecided)) {
    return result;
  }
  ProofOptions together = options;
  if (alloc) {
    choose_rule(together.run.rules, "pair_alloc=together");
  }
  if (dealloc) {
    choose_rule(together.run.rules, "pair_dealloc=together");
  }
  if (const auto made = prove_first_cluster(scenario, parameters, together, result)) {
    result.operations += *made;
    return result;
  }
  ProofResult other = prove_with_claims(scenario, parameters, together);
  const std::uint64_t operations = result.operations + other.operations;
  ProofResult& both = outweighs(other.verdict, result.verdict) ? other : result;
  both.operations = operations;
  return std::move(both);
}

// Which lane elect.sync elects the manual leaves open. The proof is of the lowest; where that could
// matter, of the highest too, and of one between.
static ProofResult prove_elections(const ScenarioEntry& scenario,
                                   const ParameterSet& parameters,
                                   const ProofOptions& options) {
  ProofResult result = prove_pairs(scenario, parameters, options);
  const ElectLane rule = options.run.rules.machine.elect_lane;
  const bool chosen = rule != ElectLane::kLowest && rule != ElectLane::kEither;
  if (chosen || !result.run.lanes_by_number ||
      outweighs(result.verdict, ProofVerdict::kUndecided)) {
    return result;
  }
  const std::vector<ElectLane> elections =
      elections_that_matter(scenario, parameters, options.run, result, result.warp_work.get());
  const auto is_new = [&result](const std::string& note) {
    return std::find(result.notes.begin(), result.notes.end(), note) == result.notes.end();
  };
  for (const ElectLane election : elections) {
    const std::string chosen_rule = election == ElectLane::kHighest ? "highest" : "hash";
    ProofOptions elected = options;
    choose_rule(elected.run.rules, "elect_lane=" + chosen_rule);
    elected.claims_alone = result.claims.asked;
    ProofResult other = prove_pairs(scenario, parameters, elected);
    if (elected.claims_alone && std::any_of(other.notes.begin(), other.notes.end(), is_new)) {
      elected.claims_alone = false;  // what it rests on is said of the same runs with either lane
      other = prove_pairs(scenario, parameters, elected);
    }
    result.operations += other.operations;
    if (!outweighs(other.verdict, result.verdict)) {
      // What it rests on with each lane.
      std::copy_if(
          other.notes.begin(), other.notes.end(), std::back_inserter(result.notes), is_new);
      continue;
    }
    if (rule == ElectLane::kEither) {
      return other;
    }
    result.notes.push_back(
        "elect.sync elects the lowest lane, as the manual does not say: with --rule elect_lane=" +
        chosen_rule + " the launch is " + std::string{name_of(other.verdict)});
    return result;
  }
  if (!scenario.hypotheses) {  // a kernel's text cannot ask who is elected
    return result;
  }
  if (!elections.empty() ||
      !any_lane_does_the_same(scenario, parameters, options.run, result, result.warp_work.get())) {
    result.notes.emplace_back(
        "of a warp's lanes elect.sync elects the lowest, the highest, or one that was tried "
        "between them");
  }
  if (elections.empty() && result.claims.asked) {
    result.notes.emplace_back(
        "a cluster that claims tiles does the same whichever lane elect.sync elects: compared "
        "where the first one claims them");
  }
  return result;
}

// Which lanes activemask tells of where lanes have parted the manual leaves open. The proof is of
// all that came the same way, and of each alone.
static ProofResult prove_active_lanes(const ScenarioEntry& scenario,
                                      const ParameterSet& parameters,
                                      const ProofOptions& options) {
  ProofResult result = prove_elections(scenario, parameters, options);
  const ActiveLanes rule = options.run.rules.machine.active_lanes;
  if (rule == ActiveLanes::kAlone || !result.run.asks_active ||
      outweighs(result.verdict, ProofVerdict::kUndecided)) {
    return result;
  }
  ProofOptions alone = options;
  choose_rule(alone.run.rules, "active_lanes=alone");
  ProofResult other = prove_elections(scenario, parameters, alone);
  result.operations += other.operations;
  if (!outweighs(other.verdict, result.verdict)) {
    return result;
  }
  if (rule == ActiveLanes::kEither) {
    return other;
  }
  result.notes.push_back(
      "activemask tells of all lanes that came the same way, as the manual does not say: with "
      "--rule active_lanes=alone the launch is " +
      std::string{name_of(other.verdict)});
  return result;
}

// What data decides is not seen where no data moves. Words that a kernel reads are read as other
// words; if that changes what it does, the proof is of a run with its data. What registers decide
// (`any`) is taken either way, and both are proved.
static ProofResult prove_data(const ScenarioEntry& scenario,
                              const ParameterSet& parameters,
                              const ProofOptions& options) {
  ProofResult result = prove_active_lanes(scenario, parameters, options);
  const bool asked = result.run.asked_unknown;
  const bool decided =
      result.verdict == ProofVerdict::kRefuted || result.verdict == ProofVerdict::kIncomplete;
  if (decided || options.run.moves_data || (!result.run.read_unknown && !asked)) {
    return result;
  }
  if (!asked) {
    if (!data_decides(scenario, parameters, options.run, result)) {
      result.notes.push_back(
          "words of data that it reads decide nothing: so with three values of each");
      return result;
    }
    if (options.control_only || work_of(scenario.workload(parameters)) > kDataWorkMax) {
      result.undecided.push_back({"what the kernel does depends on data that it reads", {}});
      result.verdict = ProofVerdict::kUndecided;
      return result;
    }
    ProofOptions with_data = options;
    with_data.run.moves_data = true;
    result = prove_active_lanes(scenario, parameters, with_data);
    result.data_decides = true;
    result.notes.push_back("data decides what it does: shown for the inputs of seed " +
                           std::to_string(options.run.input_seed));
    return result;
  }
  for (const char* rule : {"unknown_data=ones", "unknown_data=mixed"}) {
    ProofOptions other = options;
    choose_rule(other.run.rules, rule);
    ProofResult one = prove_active_lanes(scenario, parameters, other);
    if (outweighs(one.verdict, result.verdict)) {
      return one;
    }
  }
  result.notes.push_back(
      "what data decides was taken as yes, as no, and in turn, not in every combination");
  return result;
}

ProofResult prove(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const ProofOptions& options) {
  ProofResult result;
  try {
    result = prove_data(scenario, parameters, options);
  } catch (const ptx::DependsOnData& error) {
    if (options.control_only) {
      throw ConfigError(std::string{error.what()} +
                        "; without --control-only it is proved with its data");
    }
    if (options.run.moves_data || work_of(scenario.workload(parameters)) > kDataWorkMax) {
      throw;
    }
    ProofOptions with_data = options;
    with_data.run.moves_data = true;
    result = prove_data(scenario, parameters, with_data);
    result.data_decides = true;
    result.notes.push_back("data decides what it does: shown for the inputs of seed " +
                           std::to_string(options.run.input_seed));
  }
  if (scenario.hypotheses) {
    for (std::string& note : scenario.hypotheses(result.data_decides)) {
      result.notes.push_back(std::move(note));
    }
  }
  return result;
}

}  // namespace warptwin::sim
