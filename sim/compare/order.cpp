#include "sim/compare/order.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

// Later minus earlier, of clocks whose low 32 bits are known: as little as may be.
std::int64_t cycles_between(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) -
                                   static_cast<std::uint32_t>(from));
}

// From an operation of a warp to its next: forward, but for a little.
std::int64_t cycles_on(std::uint64_t from, std::uint64_t to) {
  constexpr std::uint32_t kBack = std::uint32_t{1} << 24;
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(to - from + kBack)) - kBack;
}

// Of each operation of each warp when it was: a GPU records the low 32 bits of its clock, which
// begin anew while a launch goes on that emulates tensor memory. The first operations of a CTA's
// warps are within half of these 32 bits of each other.
std::vector<std::vector<std::int64_t>> times_of(const Trace& trace) {
  std::vector<std::vector<std::int64_t>> times(trace.warps.size());
  const TraceOp* first = nullptr;  // of the CTA
  for (std::uint32_t warp = 0; warp < trace.warps.size(); ++warp) {
    first = warp % trace.warps_per_cta() == 0 ? nullptr : first;
    const TraceOp* before = nullptr;
    for (const TraceOp& op : trace.warps[warp].ops) {
      first = first == nullptr ? &op : first;
      const bool whole = trace.source != "hardware";
      times[warp].push_back(whole ? static_cast<std::int64_t>(op.time)
                            : before != nullptr
                                ? times[warp].back() + cycles_on(before->time, op.time)
                                : static_cast<std::int64_t>(first->time) +
                                      cycles_between(first->time, op.time));
      before = &op;
    }
  }
  return times;
}

// One operation in both traces.
struct OrderedOp {
  std::uint32_t warp = 0;   // of the ordered trace
  std::uint32_t other = 0;  // of the timed one
  const TraceOp* proved = nullptr;
  const TraceOp* seen = nullptr;
  std::int64_t time = 0;  // of that one
};

struct OrderedPair {
  OrderedOp before;
  OrderedOp after;
};

// What the clock of one CTA can be ahead of another's: the pair that says least, and most.
struct ClockBounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::optional<OrderedPair> least_by;
  std::optional<OrderedPair> most_by;
  std::uint64_t pairs = 0;
};

class OrderChecker {
 public:
  OrderChecker(const Trace& ordered, const Trace& timed, const Matching& matching)
      : ordered_{ordered}, timed_{timed}, matching_{matching}, times_{times_of(timed)} {}

  OrderCheck run() {
    for (std::uint32_t warp = 0; warp < ordered_.warps.size(); ++warp) {
      bool violated = false;
      for (const TraceOrder& row : ordered_.warps[warp].after) {
        const OrderedOp before = last_of(row.warp, row.ops);
        const OrderedOp after = first_from(warp, row.at);
        if (before.seen != nullptr && after.seen != nullptr) {
          violated = look_at({before, after}, violated);
        }
      }
      look_along(warp, violated);
    }
    for (const auto& [ctas, bounds] : bounds_) {
      judge(ctas.first, ctas.second, bounds);
    }
    return std::move(check_);
  }

 private:
  std::uint32_t cta_of(std::uint32_t warp) const { return warp / ordered_.warps_per_cta(); }

  OrderedOp op_at(std::uint32_t warp, std::uint32_t position) const {
    const MatchedWarp& matched = matching_.warps[warp];
    if (position >= matched.same) {
      return {};  // not the same in both: said elsewhere
    }
    return {warp,
            matched.other,
            &ordered_.warps[warp].ops[matched.first[position]],
            &timed_.warps[matched.other].ops[matched.second[position]],
            times_[matched.other][matched.second[position]]};
  }
  // The last of the first `ops` operations of a warp that means something.
  OrderedOp last_of(std::uint32_t warp, std::uint32_t ops) const {
    const std::vector<std::uint32_t>& first = matching_.warps[warp].first;
    const auto end = std::lower_bound(first.begin(), first.end(), ops);
    return end == first.begin() ? OrderedOp{}
                                : op_at(warp, static_cast<std::uint32_t>(end - first.begin()) - 1);
  }
  OrderedOp first_from(std::uint32_t warp, std::uint32_t at) const {
    const std::vector<std::uint32_t>& first = matching_.warps[warp].first;
    const auto found = std::lower_bound(first.begin(), first.end(), at);
    return op_at(warp, static_cast<std::uint32_t>(found - first.begin()));
  }

  // One operation of a warp after the other.
  void look_along(std::uint32_t warp, bool violated) {
    for (std::uint32_t at = 1; at < matching_.warps[warp].same; ++at) {
      violated = look_at({op_at(warp, at - 1), op_at(warp, at)}, violated);
    }
  }

  // Whether the warp has a violation now.
  bool look_at(const OrderedPair& pair, bool violated) {
    const std::uint32_t from = cta_of(pair.before.other);
    const std::uint32_t to = cta_of(pair.after.other);
    const std::int64_t passed = pair.after.time - pair.before.time;
    if (from == to || timed_.source != "hardware") {
      ++check_.pairs;
      if (passed < 0 && !violated) {
        add_violation(pair, passed);
      }
      return violated || passed < 0;
    }
    tie(from, to, pair, passed);
    return violated;
  }

  // The clock of CTA b is d ahead of that of CTA a. A pair from a to b: d is at most what passed
  // between the two readings; from b to a: at least minus that.
  void tie(std::uint32_t from, std::uint32_t to, const OrderedPair& pair, std::int64_t passed) {
    ClockBounds& bounds = bounds_[{std::min(from, to), std::max(from, to)}];
    const std::int64_t ahead = from < to ? passed : -passed;
    ++bounds.pairs;
    if (from < to && (!bounds.most_by || ahead < bounds.most)) {
      bounds.most = ahead;
      bounds.most_by = pair;
    }
    if (from > to && (!bounds.least_by || ahead > bounds.least)) {
      bounds.least = ahead;
      bounds.least_by = pair;
    }
  }

  void judge(std::uint32_t a, std::uint32_t b, const ClockBounds& bounds) {
    if (!bounds.least_by || !bounds.most_by) {
      check_.unchecked += bounds.pairs;
      return;
    }
    check_.pairs += bounds.pairs;
    if (bounds.least <= bounds.most) {
      return;
    }
    const std::string ctas = "cta " + std::to_string(a) + " and cta " + std::to_string(b);
    check_.violations.push_back(
        {ctas + ", out of order",
         text_of(*bounds.most_by) + "; and " + text_of(*bounds.least_by),
         "no difference of the clocks of " + ctas + " allows both: they miss it by " +
             plural(static_cast<std::uint64_t>(bounds.least - bounds.most), "cycle"),
         bounds.most_by->after.proved->time});
  }

  void add_violation(const OrderedPair& pair, std::int64_t passed) {
    const OrderedOp& before = pair.before;
    const OrderedOp& after = pair.after;
    const char* const unit = timed_.clock == TraceClock::kCycles ? "cycle" : "step";
    check_.violations.push_back(
        {ordered_.warp_name(after.warp) + ", out of order",
         text_of(pair),
         line_of(timed_, after.other, *after.seen) + " at " + std::to_string(after.seen->time) +
             ", " + plural(static_cast<std::uint64_t>(-passed), unit) + " before " +
             timed_.warp_name(before.other) + " " + line_of(timed_, before.other, *before.seen) +
             " at " + std::to_string(before.seen->time),
         after.proved->time});
  }

  std::string text_of(const OrderedPair& pair) const {
    return ordered_.warp_name(pair.after.warp) + " " +
           line_of(ordered_, pair.after.warp, *pair.after.proved) + ", in every run after " +
           ordered_.warp_name(pair.before.warp) + " " +
           line_of(ordered_, pair.before.warp, *pair.before.proved);
  }

  const Trace& ordered_;
  const Trace& timed_;
  const Matching& matching_;
  std::vector<std::vector<std::int64_t>> times_;  // of the timed trace
  std::map<std::pair<std::uint32_t, std::uint32_t>, ClockBounds> bounds_;
  OrderCheck check_;
};

}  // namespace

OrderRecorder::OrderRecorder(Trace& trace,
                             TraceRecorder& recorder,
                             const LaunchConfig& config,
                             bool whole_grid)
    : trace_{trace},
      recorder_{recorder},
      order_{config, {.whole_grid = whole_grid}},
      places_(trace.warps.size()),
      known_(trace.warps.size()) {}

// How many operations of the trace are among the first `index` of a warp. Where warps meet, each
// knows that the others have come, and the trace has when they went on: those are not among them.
std::uint32_t OrderRecorder::traced(std::uint32_t warp, std::uint32_t index) const {
  const std::vector<Place>& places = places_[warp];
  const auto end =
      std::upper_bound(places.begin(), places.end(), index, [](std::uint32_t i, const Place& p) {
        return i < p.index;
      });
  if (end == places.begin()) {
    return 0;
  }
  const Place& last = *(end - 1);
  const Op op = trace_.warps[warp].ops[last.ops - 1].op;
  const bool met = op == Op::kBarSync || op == Op::kTcgen05Alloc;
  return last.ops - (met && last.index == index ? 1 : 0);
}

void OrderRecorder::on_event(const Event& event) {
  order_.on_event(event);
  const std::size_t before = trace_.warps[event.warp].ops.size();
  recorder_.on_event(event);
  WarpTrace& self = trace_.warps[event.warp];
  const auto ops = static_cast<std::uint32_t>(self.ops.size());
  if (ops == before) {
    return;
  }
  places_[event.warp].push_back({order_.operations_of(event.warp), ops});
  const ProofClock clock = order_.before(event.warp);
  const std::uint32_t first = order_.group_of_warp(event.warp) * order_.chains().warps();
  std::vector<std::uint32_t>& known = known_[event.warp];
  known.resize(std::max(known.size(), clock.size()));
  for (std::uint32_t i = 0; i < clock.size(); ++i) {
    const std::uint32_t count = first + i == event.warp ? 0 : traced(first + i, clock[i]);
    if (count > known[i]) {
      known[i] = count;
      self.after.push_back({ops - 1, first + i, count});
    }
  }
}

void OrderRecorder::at_end() {
  order_.at_end();
  trace_.ordered = order_.findings().empty() && order_.undecided().empty() &&
                   !order_.needs_whole_grid() && trace_.ending == "done";
  for (WarpTrace& warp : trace_.warps) {
    if (!trace_.ordered) {
      warp.after.clear();
    }
  }
}

OrderCheck check_order(const Trace& ordered, const Trace& timed, const Matching& matching) {
  return OrderChecker{ordered, timed, matching}.run();
}

}  // namespace warptwin::sim
