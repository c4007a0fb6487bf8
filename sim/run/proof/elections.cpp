#include "sim/run/proof/elections.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/trace/op_facts.hpp"

#include "sim/prove/event_facts.hpp"
#include "sim/prove/hash.hpp"

namespace warptwin::sim {

namespace {

// What a warp did between two meetings, as numbers: with the lanes that did it as they are, and
// with the first and the last of them exchanged.
struct Stretch {
  std::uint64_t as_is = 0;
  std::uint64_t exchanged = 0;
};

// The work of sets of lanes, each in its order.
class LaneWork {
 public:
  void add(const Event& event) {
    const std::uint32_t lanes = event.lane_mask();
    const auto found = std::find_if(
        sets_.begin(), sets_.end(), [&](const auto& one) { return one.first == lanes; });
    Hash& hash = found != sets_.end() ? found->second : sets_.emplace_back(lanes, Hash{}).second;
    const payload::Numbers numbers = event.numbers();
    for (const std::uint64_t part : {static_cast<std::uint64_t>(event.op),
                                     std::uint64_t{event.flags},
                                     std::uint64_t{event.address},
                                     std::uint64_t{numbers.place},
                                     std::uint64_t{numbers.count},
                                     std::uint64_t{event.bytes},
                                     event.global + numbers.first,
                                     numbers.second,
                                     static_cast<std::uint64_t>(event.ordering.semantics),
                                     static_cast<std::uint64_t>(event.ordering.scope),
                                     static_cast<std::uint64_t>(phase_waited_for(event)),
                                     std::uint64_t{event.site.line}}) {
      hash.add(part);
    }
  }

  // In no order of the sets.
  Stretch stretch() const {
    constexpr std::uint32_t kOthers = 0x7FFFFFFE;
    Stretch sum;
    for (const auto& [lanes, work] : sets_) {
      const auto of = [value = work.value()](std::uint32_t by) {
        Hash hash;
        hash.add(by);
        hash.add(value);
        return hash.value();
      };
      sum.as_is += of(lanes);
      sum.exchanged += of((lanes & kOthers) | lanes >> 31 | lanes << 31);
    }
    return sum;
  }

  void clear() { sets_.clear(); }

 private:
  std::vector<std::pair<std::uint32_t, Hash>> sets_;  // by the lanes, as bits
};

// Behind it every lane of the warp knows what every other has done.
bool meets(const Event& event) {
  return has_trait(event.op, op_trait::kOrdersLanes) && event.lane_mask() == ~std::uint32_t{0};
}

// What belongs to the thread that does it, whatever the warp meets. Relaxed accesses do: a fence of
// the thread makes them a release or an acquire.
bool is_of_thread(const Event& event) {
  if (has_trait(event.op, op_trait::kGlobalWord)) {
    return (event.flags & event_flag::kRelaxed) != 0;
  }
  if (event.op == Op::kMbarrierArrive || has_trait(event.op, op_trait::kLooks)) {
    return event.ordering.semantics == Semantics::kRelaxed;
  }
  // A store that is issued: cp.async and its like.
  return has_trait(event.op, op_trait::kOfThread) ||
         (event.op == Op::kSharedStore && event.step == Step::kIssued);
}

// The stretches of each warp, and as the last one what its threads did by themselves.
class Stretches : public EventSink {
 public:
  void on_event(const Event& event) override {
    if ((event.step != Step::kIssued && event.step != Step::kDone) || !is_work(event)) {
      return;
    }
    if (event.warp >= warps_.size()) {
      warps_.resize(event.warp + 1);
    }
    OfWarp& warp = warps_[event.warp];
    warp.since.add(event);
    if (is_of_thread(event)) {
      warp.of_threads.add(event);
    }
    if (meets(event)) {
      warp.stretches.push_back(warp.since.stretch());
      warp.since.clear();
    }
  }

  std::vector<std::vector<Stretch>> take() {
    std::vector<std::vector<Stretch>> all;
    for (OfWarp& warp : warps_) {
      warp.stretches.push_back(warp.since.stretch());
      warp.stretches.push_back(warp.of_threads.stretch());
      all.push_back(std::move(warp.stretches));
    }
    return all;
  }

 private:
  struct OfWarp {
    std::vector<Stretch> stretches;
    LaneWork since;  // the last meeting
    LaneWork of_threads;
  };
  std::vector<OfWarp> warps_;
};

bool alike(const std::vector<Stretch>& lowest, const std::vector<Stretch>& highest) {
  return std::equal(lowest.begin(),
                    lowest.end(),
                    highest.begin(),
                    highest.end(),
                    [](const Stretch& a, const Stretch& b) {
                      return b.as_is == a.as_is || b.as_is == a.exchanged;
                    });
}

}  // namespace

bool election_matters(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const RunOptions& run,
                      const ProofResult& proved) {
  const auto stretches = [&](ElectLane elected, bool first_alone) {
    Stretches sink;
    RunOptions options = run;
    options.schedule = proved.schedule;
    if (first_alone) {
      options.clusters_begun_max = 1;
      options.schedule.tiles = proved.claims.asked ? 1 : options.schedule.tiles;
    }
    options.detect = false;
    options.whole_grid = proved.whole_grid;
    options.rules.machine.elect_lane = elected;
    options.observer = &sink;
    if (!proved.whole_grid) {
      options.resident_ctas = 1;
    }
    simulate(scenario, parameters, options);
    return sink.take();
  };
  const auto differ = [&](bool first_alone) {
    const std::vector<std::vector<Stretch>> lowest = stretches(ElectLane::kLowest, first_alone);
    const std::vector<std::vector<Stretch>> highest = stretches(ElectLane::kHighest, first_alone);
    return !std::equal(lowest.begin(), lowest.end(), highest.begin(), highest.end(), alike);
  };
  // Where it matters, it mostly does so in the first cluster.
  return (!proved.whole_grid && differ(true)) || differ(false);
}

}  // namespace warptwin::sim
