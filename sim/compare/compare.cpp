#include "sim/compare/compare.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "common/kernel/scenario.hpp"

#include "sim/compare/replay.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kShown = 8;

std::string plural(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// The operations of one warp that mean something for the order.
std::vector<const TraceOp*> meaningful(const WarpTrace& warp) {
  std::vector<const TraceOp*> ops;
  for (const TraceOp& op : warp.ops) {
    if ((op.flags & event_flag::kFalse) == 0) {
      ops.push_back(&op);
    }
  }
  return ops;
}

// What an operation says to the protocol, with the cluster's first CTA as CTA 0.
using Meaning = std::tuple<Op,
                           std::uint32_t,
                           std::string,
                           std::string,
                           std::uint32_t,
                           std::uint32_t,
                           std::uint32_t,
                           std::uint32_t,
                           std::uint16_t>;

Meaning meaning_of(const Trace& trace, const TraceOp& op) {
  const bool waits = op.op == Op::kMbarrierWait || op.op == Op::kMbarrierTryWait;
  const bool exact = (op.flags & event_flag::kExactPhase) != 0;
  return {waits ? Op::kMbarrierWait : op.op,
          op.cta % trace.cluster_size,
          trace.names[op.object],
          trace.names[op.on],
          op.count,
          op.bytes,
          waits && !exact ? op.wanted & 1U : op.wanted,
          op.mask,
          op.flags};
}

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
      : first_{first}, second_{second}, per_cluster_{first.warps_per_cta() * first.cluster_size} {}

  TraceComparison run() {
    note_losses(first_);
    note_losses(second_);
    match_clusters();
    for (std::uint32_t warp = 0; warp < first_.warps.size(); ++warp) {
      compare_warp(warp, partner(warp));
    }
    compare_barriers();
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

  bool is_whole(std::uint32_t warp) const {
    const WarpTrace& a = first_.warps[warp];
    const WarpTrace& b = second_.warps[partner(warp)];
    return a.overwritten + a.lost + b.overwritten + b.lost == 0;
  }

  std::vector<Meaning> meaning_of_cluster(const Trace& trace, std::uint32_t cluster) const {
    std::vector<Meaning> all;
    for (std::uint32_t i = 0; i < per_cluster_; ++i) {
      for (const TraceOp* op : meaningful(trace.warps[cluster * per_cluster_ + i])) {
        all.push_back(meaning_of(trace, *op));
      }
      all.push_back({Op::kCount, i, "", "", 0, 0, 0, 0, 0});  // the end of a warp
    }
    return all;
  }

  // Clusters that did the same in both are partners; what is left goes by its number.
  void match_clusters() {
    const std::uint32_t clusters = first_.clusters;
    std::multimap<std::vector<Meaning>, std::uint32_t> of_second;
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      of_second.emplace(meaning_of_cluster(second_, cluster), cluster);
    }
    constexpr std::uint32_t kNone = ~0U;
    partners_.assign(clusters, kNone);
    std::set<std::uint32_t> left;
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      left.insert(cluster);
    }
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      const auto [begin, end] = of_second.equal_range(meaning_of_cluster(first_, cluster));
      auto found = std::find_if(begin, end, [&](const auto& row) { return row.second == cluster; });
      found = found == end ? begin : found;
      if (begin != end) {
        partners_[cluster] = found->second;
        left.erase(found->second);
        of_second.erase(found);
      }
    }
    for (std::uint32_t& partner : partners_) {
      if (partner == kNone) {
        partner = *left.begin();
        left.erase(left.begin());
      }
    }
  }

  std::uint32_t partner(std::uint32_t warp) const {
    return partners_[warp / per_cluster_] * per_cluster_ + warp % per_cluster_;
  }

  void compare_warp(std::uint32_t warp, std::uint32_t other) {
    if (!is_whole(warp)) {
      return;
    }
    const std::vector<const TraceOp*> a = meaningful(first_.warps[warp]);
    const std::vector<const TraceOp*> b = meaningful(second_.warps[other]);
    std::size_t at = 0;
    while (at < a.size() && at < b.size() &&
           meaning_of(first_, *a[at]) == meaning_of(second_, *b[at])) {
      ++at;
    }
    result_.operations += at;
    if (at == a.size() && at == b.size()) {
      return;
    }
    Mismatch mismatch;
    mismatch.where = first_.warp_name(warp) + ", operation " + std::to_string(at);
    mismatch.first = at < a.size() ? line_of(first_, warp, *a[at]) : "does nothing more";
    mismatch.second = at < b.size() ? line_of(second_, other, *b[at]) : "does nothing more";
    mismatch.before = at == 0 ? "" : line_of(first_, warp, *a[at - 1]);
    mismatch.time = at < a.size() ? a[at]->time : at == 0 ? 0 : a[at - 1]->time + 1;
    result_.mismatches.push_back(std::move(mismatch));
  }

  static std::string line_of(const Trace& trace, std::uint32_t warp, const TraceOp& op) {
    const std::string& site = trace.names[op.site];
    return text_of(trace, warp, op) + (site.empty() ? "" : "  [" + site + "]");
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
    Replay a = replay(first_);
    Replay b = replay(second_);
    note_order(first_, a, true);
    note_order(second_, b, false);
    const std::uint32_t size = first_.cluster_size;
    for (const auto& [place, record] : a.barriers) {
      const auto [cta, name] = place;
      const std::uint32_t cluster = cta / size;
      const BarrierRecord& other = b.barriers[{partners_[cluster] * size + cta % size, name}];
      compare_barrier(name + " of cta " + std::to_string(cta), record, other, cluster);
    }
  }

  // What no machine can have done: the trace is wrong, or the machine is.
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
  std::vector<std::uint32_t> partners_;  // clusters of the second trace, by those of the first
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
  text += comparison.agrees() ? "the traces agree: " : "the traces differ: ";
  return text + plural(comparison.operations, "operation") + " and " +
         plural(comparison.phases, "phase") + " are the same in both\n";
}

}  // namespace warptwin::sim
