#include "sim/compare/compare.hpp"

#include <algorithm>

#include "common/kernel/scenario.hpp"
#include "common/trace/words.hpp"

#include "sim/compare/matching.hpp"
#include "sim/compare/order.hpp"
#include "sim/compare/replay.hpp"
#include "sim/compare/stages.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kShown = 8;

void require_same(const std::string& what, const std::string& first, const std::string& second) {
  if (first != second) {
    throw ConfigError("the traces are of different " + what + ": " + first + " and " + second);
  }
}

void require_same_launch(const Trace& first, const Trace& second) {
  require_same("scenarios", first.scenario, second.scenario);
  require_same("parameters", first.parameters, second.parameters);
  const auto shape = [](const Trace& trace) {
    std::string text = std::to_string(trace.clusters) + " clusters of " +
                       std::to_string(trace.cluster_size) + " CTAs with";
    for (const TraceRole& role : trace.roles) {
      text += " " + std::to_string(role.warps) + " " + role.name;
    }
    return text;
  };
  require_same("launches", shape(first), shape(second));
}

class Comparer {
 public:
  Comparer(const Trace& first, const Trace& second)
      : first_{first},
        second_{second},
        per_cluster_{first.warps_per_cta() * first.cluster_size},
        matching_{match(first, second)} {}

  TraceComparison run() {
    note_losses(first_);
    note_losses(second_);
    for (std::uint32_t warp = 0; warp < first_.warps.size(); ++warp) {
      compare_warp(warp);
    }
    compare_barriers();
    compare_order();
    compare_results();
    std::stable_sort(result_.mismatches.begin(),
                     result_.mismatches.end(),
                     [](const Mismatch& a, const Mismatch& b) { return a.time < b.time; });
    return std::move(result_);
  }

 private:
  void note_losses(const Trace& trace) {
    for (std::size_t warp = 0; warp < trace.warps.size(); ++warp) {
      const WarpTrace& one = trace.warps[warp];
      if (one.overwritten != 0 || one.lost != 0) {
        result_.complete = false;
        result_.notes.push_back(trace.source + ": " + trace.warp_name(warp) + " lost " +
                                plural(one.overwritten + one.lost, "operation") +
                                "; it is not compared: record with a larger ring");
      }
    }
    if (!trace.emulated.empty()) {
      std::string what;
      for (const std::string& one : trace.emulated) {
        what += (what.empty() ? "" : ", ") + one;
      }
      result_.notes.push_back(trace.source + ": emulated: " + what);
    }
  }

  void compare_warp(std::uint32_t warp) {
    const MatchedWarp& matched = matching_.warps[warp];
    if (!matched.whole) {
      return;
    }
    const std::uint32_t at = matched.same;
    result_.operations += at;
    if (matched.agrees()) {
      return;
    }
    const std::vector<TraceOp>& a = first_.warps[warp].ops;
    const std::vector<TraceOp>& b = second_.warps[matched.other].ops;
    const TraceOp* const mine = at < matched.first.size() ? &a[matched.first[at]] : nullptr;
    const TraceOp* const other = at < matched.second.size() ? &b[matched.second[at]] : nullptr;
    const TraceOp* const before = at == 0 ? nullptr : &a[matched.first[at - 1]];
    Mismatch mismatch;
    mismatch.where = first_.warp_name(warp) + ", operation " + std::to_string(at);
    mismatch.first = mine != nullptr ? line_of(first_, warp, *mine) : "does nothing more";
    mismatch.second =
        other != nullptr ? line_of(second_, matched.other, *other) : "does nothing more";
    mismatch.before = before == nullptr ? "" : line_of(first_, warp, *before);
    mismatch.time = mine != nullptr ? mine->time : before == nullptr ? 0 : before->time + 1;
    mismatch.first_at = {warp, mine != nullptr ? matched.first[at] : count_of(a)};
    mismatch.second_at = {matched.other, other != nullptr ? matched.second[at] : count_of(b)};
    result_.mismatches.push_back(std::move(mismatch));
  }

  static std::uint32_t count_of(const std::vector<TraceOp>& ops) {
    return static_cast<std::uint32_t>(ops.size());
  }

  std::string text_of_phase(const Trace& trace, const PhaseRecord& phase) const {
    std::string text;
    for (const auto& [warp, from] : phase.from) {
      text += (text.empty() ? "" : "; ") + plural(from.arrivals, "arrival") +
              (from.bytes == 0 ? "" : " and " + plural(from.bytes, "byte") + " announced") +
              " of " + trace.warp_name(warp);
    }
    return text.empty() ? "nothing" : text;
  }

  // A phase as the partner's warps made it, under the numbers of the first trace.
  PhaseRecord renamed(const PhaseRecord& phase, std::uint32_t to) const {
    PhaseRecord result;
    for (const auto& [warp, from] : phase.from) {
      result.from[to * per_cluster_ + warp % per_cluster_] = from;
    }
    return result;
  }

  void compare_barriers() {
    if (!result_.complete) {
      result_.notes.emplace_back("the phases of barriers are not compared: operations were lost");
      return;
    }
    first_replay_ = replay(first_);
    second_replay_ = replay(second_);
    if (!first_.ordered && !second_.ordered) {
      note_order(first_, first_replay_, true);
      note_order(second_, second_replay_, false);
    }
    const std::uint32_t size = first_.cluster_size;
    for (const auto& [place, record] : first_replay_.barriers) {
      const auto [cta, name] = place;
      const std::uint32_t cluster = cta / size;
      const BarrierRecord& other =
          second_replay_.barriers[{matching_.clusters[cluster] * size + cta % size, name}];
      compare_barrier(name + " of cta " + std::to_string(cta), record, other, cluster);
    }
  }

  // The order of each against what the other's proof allows.
  void compare_order() {
    if (!first_.ordered && !second_.ordered) {
      result_.notes.emplace_back(
          "neither trace has the order of a proof: waits alone are held against their arrivals");
      return;
    }
    if (first_.ordered) {
      add_order(check_order(first_, second_, matching_), second_.source, false);
    }
    if (second_.ordered) {
      add_order(check_order(second_, first_, reversed(matching_)), first_.source, true);
    }
  }

  void compare_results() {
    const auto add = [&](const std::vector<Mismatch>& mismatches) {
      result_.mismatches.insert(result_.mismatches.end(), mismatches.begin(), mismatches.end());
    };
    if (!claims_work(first_)) {
      add(compare_data(first_, second_, matching_, result_.loads));
    }
    compare_stages();
    result_.values = compare_values(first_, second_, result_.notes);
    for (const ValueComparison& values : result_.values) {
      add(values.first);
    }
    result_.times = compare_times(first_, second_, matching_);
    for (const Trace* trace : {&first_, &second_}) {
      if (!result_.times.roles.empty() && trace->has_tokens()) {
        result_.times = {};
        result_.notes.push_back("times are not compared: the waits of the " + trace->source +
                                " read their stages; record it with --outputs");
      }
      if (!result_.times.roles.empty() && is_emulated(*trace)) {
        result_.times = {};
        result_.notes.push_back("times are not compared: the tensor core is emulated on the " +
                                trace->source);
      }
    }
  }

  // What stages were filled with, where a trace has what its waits saw, or work is claimed.
  void compare_stages() {
    const auto has_data = [](const Trace& trace) {
      return trace.has_tokens() || has_data_of_loads(trace);
    };
    const bool first_has = has_data(first_);
    const bool second_has = has_data(second_);
    if (first_has != second_has && !first_.outputs.empty() && !second_.outputs.empty()) {
      result_.notes.push_back("the data of loads is not compared: the trace of the " +
                              (first_has ? second_ : first_).source +
                              " has none; record it with --values");
    }
    const bool by_waits = first_.has_tokens() || second_.has_tokens();
    if (!first_has || !second_has || first_.seed != second_.seed ||
        !(by_waits || claims_work(first_))) {
      return;
    }
    if (!result_.complete) {
      result_.notes.emplace_back("the data of stages is not compared: operations were lost");
      return;
    }
    StageCheck check = check_stages(first_, second_, matching_, first_replay_, second_replay_);
    result_.loads += check.loads;
    result_.tokens += check.waits;
    result_.mismatches.insert(
        result_.mismatches.end(), check.mismatches.begin(), check.mismatches.end());
    if (check.unseen != 0) {
      result_.complete = false;
      result_.notes.push_back("no wait is known to have seen the data of " +
                              plural(check.unseen, "load"));
    }
  }

  // Whether what the trace's warps waited for is what its machine only emulates.
  static bool is_emulated(const Trace& trace) {
    return !trace.emulated.empty() &&
           std::any_of(trace.warps.begin(), trace.warps.end(), [](const WarpTrace& warp) {
             return std::any_of(warp.ops.begin(), warp.ops.end(), [](const TraceOp& op) {
               return op.op == Op::kTcgen05Mma || op.op == Op::kTcgen05Ld;
             });
           });
  }

  void add_order(const OrderCheck& check, const std::string& source, bool is_first) {
    result_.orders += check.pairs;
    for (const OrderViolation& violation : check.violations) {
      Mismatch mismatch;
      mismatch.where = violation.where;
      (is_first ? mismatch.first : mismatch.second) = violation.seen;
      (is_first ? mismatch.second : mismatch.first) = violation.proved;
      mismatch.time = violation.time;
      result_.mismatches.push_back(std::move(mismatch));
    }
    if (check.unchecked != 0) {
      result_.notes.push_back(source + ": " + plural(check.unchecked, "pair") +
                              " of operations on two SMs, with none the other way round that ties "
                              "their clocks, not held against the proof");
    }
  }

  // Where there is no proof: what no machine can have done. The trace is wrong, or the machine is.
  void note_order(const Trace& trace, const Replay& replayed, bool is_first) {
    for (const OutOfOrder& pair : replayed.out_of_order) {
      const TraceOp& wait = trace.warps[pair.waiter].ops[pair.wait];
      const TraceOp& arrival = trace.warps[pair.arriver].ops[pair.arrival];
      Mismatch mismatch;
      mismatch.where = trace.warp_name(pair.waiter) + ", out of order";
      const std::string what = line_of(trace, pair.waiter, wait) + ", and goes on before " +
                               trace.warp_name(pair.arriver) + " " +
                               line_of(trace, pair.arriver, arrival);
      (is_first ? mismatch.first : mismatch.second) = what;
      (is_first ? mismatch.second : mismatch.first) = "in order";
      mismatch.time = wait.time;
      (is_first ? mismatch.first_at : mismatch.second_at) = {pair.waiter,
                                                             static_cast<std::uint32_t>(pair.wait)};
      result_.mismatches.push_back(std::move(mismatch));
    }
  }

  void compare_barrier(const std::string& name,
                       const BarrierRecord& a,
                       const BarrierRecord& b,
                       std::uint32_t cluster) {
    const std::size_t both = std::min(a.phases.size(), b.phases.size());
    for (std::size_t phase = 0; phase < both; ++phase) {
      const PhaseRecord other = renamed(b.phases[phase], cluster);
      if (a.phases[phase] != other) {
        add_barrier_mismatch(name + ", phase " + std::to_string(phase),
                             text_of_phase(first_, a.phases[phase]),
                             text_of_phase(first_, other));
        return;
      }
    }
    if (a.phases.size() != b.phases.size()) {
      add_barrier_mismatch(name,
                           plural(a.completed(), "phase") + " completed",
                           plural(b.completed(), "phase") + " completed");
      return;
    }
    result_.phases += a.completed();
  }

  // Barriers differ because warps do: they come after those.
  void add_barrier_mismatch(std::string where, std::string first, std::string second) {
    result_.mismatches.push_back(
        {std::move(where), std::move(first), std::move(second), "", ~std::uint64_t{0}});
  }

  const Trace& first_;
  const Trace& second_;
  std::uint32_t per_cluster_;
  Matching matching_;
  Replay first_replay_;  // where nothing was lost
  Replay second_replay_;
  TraceComparison result_;
};

std::string wait_text(const TraceOp& op, const std::string& object) {
  const bool exact = (op.flags & event_flag::kExactPhase) != 0;
  return "waits for " + object +
         (exact ? " phase " + std::to_string(static_cast<std::int32_t>(op.wanted))
                : " parity " + std::to_string(op.wanted & 1U));
}

}  // namespace

std::string text_of(const Trace& trace, std::uint32_t warp, const TraceOp& op) {
  std::string object = trace.names[op.object];
  if (op.cta != warp / trace.warps_per_cta()) {
    object += " of cta " + std::to_string(op.cta);
  }
  switch (op.op) {
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return wait_text(op, object);
    case Op::kMbarrierInit:
      return "initialises " + object + " for " + plural(op.count, "arrival");
    case Op::kMbarrierArrive:
      return "arrives on " + object + ", " + plural(op.count, "arrival") +
             (op.bytes == 0 ? "" : ", expecting " + plural(op.bytes, "byte"));
    case Op::kMbarrierExpectTx:
      return "expects " + plural(op.bytes, "byte") + " at " + object;
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      return "loads " + plural(op.bytes, "byte") + " into " + object + ", signalling " +
             trace.names[op.on] +
             (op.mask == 0 ? "" : ", to the CTAs of mask " + std::to_string(op.mask));
    case Op::kTcgen05Commit:
      return "commits to " + object +
             (op.mask == 0 ? "" : ", in the CTAs of mask " + std::to_string(op.mask));
    case Op::kBarSync:
    case Op::kBarArrive:
      return std::string{op.op == Op::kBarSync ? "waits at " : "arrives at "} + object + " with " +
             plural(op.count, "thread");
    default: {
      std::string text = name_of(op.op);
      text += object.empty() ? "" : " " + object;
      text += op.count == 0 ? "" : ", " + std::to_string(op.count);
      return text + (op.bytes == 0 ? "" : ", " + plural(op.bytes, "byte"));
    }
  }
}

TraceComparison compare_traces(const Trace& first, const Trace& second) {
  require_same_launch(first, second);
  return Comparer{first, second}.run();
}

std::string text_of(const TraceComparison& comparison,
                    const std::string& first,
                    const std::string& second) {
  std::string text;
  std::size_t shown = 0;
  for (const Mismatch& mismatch : comparison.mismatches) {
    if (++shown > kShown) {
      text += "and " + plural(comparison.mismatches.size() - kShown, "more place") + "\n";
      break;
    }
    text += "mismatch: " + mismatch.where + "\n";
    text += mismatch.before.empty() ? "" : "  both     " + mismatch.before + "\n";
    text += "  " + first + "  " + mismatch.first + "\n  " + second + "  " + mismatch.second + "\n";
  }
  for (const std::string& note : comparison.notes) {
    text += "note: " + note + "\n";
  }
  text += text_of(comparison.times, first, second);
  for (const ValueComparison& values : comparison.values) {
    text += text_of(values) + "\n";
  }
  text += comparison.agrees() ? "the traces agree: " : "the traces differ: ";
  text += plural(comparison.operations, "operation") + " and " +
          plural(comparison.phases, "phase") + " are the same in both";
  text += comparison.orders == 0
              ? ""
              : ", " + plural(comparison.orders, "pair") + " held against the order of the proof";
  text += comparison.loads == 0 ? "" : ", the data of " + plural(comparison.loads, "load");
  return text + (comparison.tokens == 0 ? "" : ", as seen by waits") + "\n";
}

}  // namespace warptwin::sim
