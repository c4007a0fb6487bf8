#include "sim/run/proof/elections.hpp"

#include <algorithm>

#include "common/trace/op_facts.hpp"

#include "sim/prove/event_facts.hpp"
#include "sim/prove/operands.hpp"

namespace warptwin::sim {

// Operations of runs in which each lane is elected; 32 instructions of threads count as one.
static constexpr std::uint64_t kOtherLanesWork = 2'000'000;

void WarpWork::LaneWork::add(const Event& event) {
  const std::uint32_t lanes = event.lane_mask();
  const auto found =
      std::find_if(sets_.begin(), sets_.end(), [&](const auto& one) { return one.first == lanes; });
  Hash& hash = found != sets_.end() ? found->second : sets_.emplace_back(lanes, Hash{}).second;
  std::uint64_t before = 0;  // what its lanes have done in other sets
  for (const auto& [others, work] : sets_) {
    before += others != lanes && (others & lanes) != 0 ? work.value() : 0;
  }
  hash.add(before);
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
  add_operands(event, 0, hash);
}

namespace {

std::uint32_t exchange_lowest(std::uint32_t lanes, std::uint32_t with) {
  const std::uint32_t differ = (lanes ^ lanes >> with) & 1U;
  return lanes ^ (differ | differ << with);
}

}  // namespace

std::uint64_t WarpWork::LaneWork::stretch(std::uint32_t exchanged) const {
  std::uint64_t sum = 0;
  for (const auto& [lanes, work] : sets_) {
    Hash hash;
    hash.add(exchange_lowest(lanes, exchanged));
    hash.add(work.value());
    sum += hash.value();
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
  const std::uint64_t as_is = work.stretch(0);
  if (lowest_ == nullptr) {
    warp.stretches.push_back(as_is);
    return;
  }
  const std::uint32_t index = warp.compared++;
  if (number >= lowest_->warps_.size() || index >= lowest_->warps_[number].stretches.size()) {
    differs_ = true;
    return;
  }
  const std::uint64_t lowest = lowest_->warps_[number].stretches[index];
  differs_ =
      differs_ || (as_is != lowest && work.stretch(elected_lane_of(
                                          elected_, static_cast<std::uint32_t>(number))) != lowest);
}

// The run that `proved` is of, with other lanes elected; perhaps of its first cluster alone.
static void run_with(const ScenarioEntry& scenario,
                     const ParameterSet& parameters,
                     RunOptions options,
                     const ProofResult& proved,
                     ElectLane elected,
                     bool first_alone,
                     WarpWork& work) {
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
}

std::vector<ElectLane> elections_that_matter(const ScenarioEntry& scenario,
                                             const ParameterSet& parameters,
                                             const RunOptions& run,
                                             const ProofResult& proved,
                                             const WarpWork* lowest) {
  std::array<bool, kOtherElections.size()> matters{};
  const auto compare = [&](bool first_alone, const WarpWork* known) {
    WarpWork made;
    if (known == nullptr) {
      run_with(scenario, parameters, run, proved, ElectLane::kLowest, first_alone, made);
      known = &made;
    }
    for (std::size_t other = 0; other < kOtherElections.size(); ++other) {
      if (!matters[other]) {
        WarpWork work{*known, kOtherElections[other]};
        run_with(scenario, parameters, run, proved, kOtherElections[other], first_alone, work);
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

bool any_lane_does_the_same(const ScenarioEntry& scenario,
                            const ParameterSet& parameters,
                            const RunOptions& run,
                            const ProofResult& proved,
                            const WarpWork* lowest) {
  const auto instructions = [&] {
    return scenario.thread_instructions ? scenario.thread_instructions() : 0;
  };
  WarpWork made;
  if (lowest == nullptr) {
    run_with(scenario, parameters, run, proved, ElectLane::kLowest, false, made);
    lowest = &made;
  }
  std::uint64_t work = 0;  // of one run
  for (std::uint32_t places = 1; places < kWarpLanes; ++places) {
    if (work * kWarpLanes > kOtherLanesWork) {
      return false;
    }
    const std::uint64_t before = instructions();
    WarpWork one{*lowest, behind_hash(places)};
    run_with(scenario, parameters, run, proved, behind_hash(places), false, one);
    if (one.differs()) {
      return false;
    }
    work = proved.run.operations + (instructions() - before) / kWarpLanes;
  }
  return true;
}

}  // namespace warptwin::sim
