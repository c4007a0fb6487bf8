#include "sim/run/proof/elections.hpp"

#include <algorithm>

#include "common/trace/op_facts.hpp"

#include "sim/prove/event_facts.hpp"

namespace warptwin::sim {

void WarpWork::LaneWork::add(const Event& event) {
  const std::uint32_t lanes = event.lane_mask();
  const auto found =
      std::find_if(sets_.begin(), sets_.end(), [&](const auto& one) { return one.first == lanes; });
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

namespace {

std::uint32_t exchange_lowest(std::uint32_t lanes, std::uint32_t with) {
  const std::uint32_t differ = (lanes ^ lanes >> with) & 1U;
  return lanes ^ (differ | differ << with);
}

}  // namespace

WarpWork::Stretch WarpWork::LaneWork::stretch(std::uint32_t warp) const {
  Stretch sum;
  for (const auto& [lanes, work] : sets_) {
    const auto of = [value = work.value()](std::uint32_t by) {
      Hash hash;
      hash.add(by);
      hash.add(value);
      return hash.value();
    };
    sum.as_is += of(lanes);
    for (std::size_t other = 0; other < kOtherElections.size(); ++other) {
      const std::uint32_t with = elected_lane_of(kOtherElections[other], warp);
      sum.exchanged[other] += of(exchange_lowest(lanes, with));
    }
  }
  return sum;
}

namespace {

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

}  // namespace

void WarpWork::on_event(const Event& event) {
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
    end_stretch(event.warp, warp.since);
    warp.since.clear();
  }
}

void WarpWork::at_end() {
  for (std::size_t number = 0; number < warps_.size(); ++number) {
    end_stretch(number, warps_[number].since);
    end_stretch(number, warps_[number].of_threads);
    differs_ = differs_ || (lowest_ != nullptr && number < lowest_->warps_.size() &&
                            warps_[number].compared != lowest_->warps_[number].stretches.size());
  }
}

void WarpWork::end_stretch(std::size_t number, const LaneWork& work) {
  OfWarp& warp = warps_[number];
  const Stretch stretch = work.stretch(static_cast<std::uint32_t>(number));
  if (lowest_ == nullptr) {
    warp.stretches.push_back(stretch);
    return;
  }
  const std::uint32_t index = warp.compared++;
  if (number >= lowest_->warps_.size() || index >= lowest_->warps_[number].stretches.size()) {
    differs_ = true;
    return;
  }
  const Stretch& lowest = lowest_->warps_[number].stretches[index];
  differs_ =
      differs_ || (stretch.as_is != lowest.as_is && stretch.as_is != lowest.exchanged[other_]);
}

std::vector<ElectLane> elections_that_matter(const ScenarioEntry& scenario,
                                             const ParameterSet& parameters,
                                             const RunOptions& run,
                                             const ProofResult& proved,
                                             const WarpWork* lowest) {
  const auto run_with = [&](ElectLane elected, bool first_alone, WarpWork& work) {
    RunOptions options = run;
    options.schedule = proved.schedule;
    if (first_alone) {
      options.clusters_begun_max = 1;
      options.schedule.tiles = proved.claims.asked ? 1 : options.schedule.tiles;
    }
    options.detect = false;
    options.whole_grid = proved.whole_grid;
    options.rules.machine.elect_lane = elected;
    options.observer = &work;
    if (!proved.whole_grid) {
      options.resident_ctas = 1;
    }
    simulate(scenario, parameters, options);
    work.at_end();
  };
  std::array<bool, kOtherElections.size()> matters{};
  const auto compare = [&](bool first_alone, const WarpWork* known) {
    WarpWork made;
    if (known == nullptr) {
      run_with(ElectLane::kLowest, first_alone, made);
      known = &made;
    }
    for (std::size_t other = 0; other < kOtherElections.size(); ++other) {
      if (!matters[other]) {
        WarpWork work{*known, other};
        run_with(kOtherElections[other], first_alone, work);
        matters[other] = work.differs();
      }
    }
  };
  // Where it matters, it mostly does so in the first cluster.
  if (!proved.whole_grid) {
    compare(true, nullptr);
  }
  if (!std::all_of(matters.begin(), matters.end(), [](bool one) { return one; })) {
    compare(false, lowest);
  }
  std::vector<ElectLane> elections;
  for (std::size_t other = 0; other < kOtherElections.size(); ++other) {
    if (matters[other]) {
      elections.push_back(kOtherElections[other]);
    }
  }
  return elections;
}

}  // namespace warptwin::sim
