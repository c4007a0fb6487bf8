#include "sim/run/elections.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/prove/event_facts.hpp"
#include "sim/prove/hash.hpp"

namespace warptwin::sim {

namespace {

// What each set of lanes of each warp did, in its order.
class LaneWork : public EventSink {
 public:
  using OfWarp = std::vector<std::pair<std::uint32_t, Hash>>;  // by the lanes, as bits

  void on_event(const Event& event) override {
    if ((event.step != Step::kIssued && event.step != Step::kDone) || !is_work(event)) {
      return;
    }
    if (event.warp >= warps_.size()) {
      warps_.resize(event.warp + 1);
    }
    Hash& hash = of(warps_[event.warp], event.lane_mask());
    for (const std::uint64_t part : {static_cast<std::uint64_t>(event.op),
                                     std::uint64_t{event.flags},
                                     std::uint64_t{event.address},
                                     std::uint64_t{event.peer},
                                     std::uint64_t{event.count},
                                     std::uint64_t{event.bytes},
                                     event.global,
                                     event.extra,
                                     static_cast<std::uint64_t>(event.ordering.semantics),
                                     static_cast<std::uint64_t>(event.ordering.scope),
                                     static_cast<std::uint64_t>(phase_waited_for(event)),
                                     std::uint64_t{event.site.line}}) {
      hash.add(part);
    }
  }

  const std::vector<OfWarp>& warps() const { return warps_; }

 private:
  static Hash& of(OfWarp& warp, std::uint32_t lanes) {
    const auto found =
        std::find_if(warp.begin(), warp.end(), [&](const auto& one) { return one.first == lanes; });
    return found != warp.end() ? found->second : warp.emplace_back(lanes, Hash{}).second;
  }

  std::vector<OfWarp> warps_;
};

std::uint32_t exchanged(std::uint32_t lanes) {
  constexpr std::uint32_t kOthers = 0x7FFFFFFE;
  return (lanes & kOthers) | lanes >> 31 | lanes << 31;
}

template <class Renamed>
bool same(const LaneWork::OfWarp& a, const LaneWork::OfWarp& b, Renamed&& renamed) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& one) {
           return std::any_of(b.begin(), b.end(), [&](const auto& other) {
             return other.first == renamed(one.first) && other.second.value() == one.second.value();
           });
         });
}

bool alike(const LaneWork::OfWarp& lowest, const LaneWork::OfWarp& highest) {
  return same(lowest, highest, exchanged) ||
         same(lowest, highest, [](std::uint32_t lanes) { return lanes; });
}

}  // namespace

bool election_matters(const ScenarioEntry& scenario,
                      const ParameterSet& parameters,
                      const RunOptions& run,
                      const ProofResult& proved) {
  const auto work = [&](ElectLane elected) {
    LaneWork of_lanes;
    RunOptions options = run;
    options.schedule = proved.schedule;
    options.detect = false;
    options.whole_grid = proved.whole_grid;
    options.rules.machine.elect_lane = elected;
    options.observer = &of_lanes;
    if (!proved.whole_grid) {
      options.resident_ctas = 1;
    }
    simulate(scenario, parameters, options);
    return of_lanes;
  };
  const LaneWork lowest = work(ElectLane::kLowest);
  const LaneWork highest = work(ElectLane::kHighest);
  return !std::equal(lowest.warps().begin(),
                     lowest.warps().end(),
                     highest.warps().begin(),
                     highest.warps().end(),
                     alike);
}

}  // namespace warptwin::sim
