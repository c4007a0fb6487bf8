#include "sim/prove/run_work.hpp"

#include <algorithm>

#include "sim/prove/event_facts.hpp"
#include "sim/prove/operands.hpp"

namespace warptwin::sim {

namespace {

// Who adds a field to an event decides whether it is of what is done.
static_assert(sizeof(Event) == 112);

// Which instruction it is, whatever its operands are. One line may have several, which order more
// or less. What the machine found wrong with it belongs to it.
void note_instruction(const Event& event, Hash& hash) {
  hash.add(static_cast<std::uint64_t>(event.op));
  hash.add(std::uint64_t{event.site.line} << 32 | event.site.column);
  hash.add(static_cast<std::uint64_t>(event.ordering.semantics) << 16 |
           static_cast<std::uint64_t>(event.ordering.scope) << 8 |
           static_cast<std::uint64_t>(event.fault));
  hash.add(flags_of_work(event.flags));
}

}  // namespace

// What an operation is, not when.
void RunWork::on_event(const Event& event) {
  if (event.step == Step::kTouched) {
    note_access(event);
  }
  if (event.step != Step::kIssued && event.step != Step::kDone) {
    return;
  }
  note_access(event);
  if (!is_work(event) || asked_for_before(event)) {
    return;
  }
  Warp& warp = warp_of(event);
  if (event.global != 0 && event.rows() != nullptr && event.rows()->of_lanes) {
    note_lanes(event, warp);
    return;
  }
  ++warp.operations;
  Hash& hash = warp.work;
  Hash& places = warp.places;
  note_instruction(event, hash);
  hash.add(event.address);
  hash.add(event.bytes);
  hash.add(static_cast<std::uint64_t>(phase_waited_for(event)));
  places.add(event.lane_mask());
  // Which CTAs of its cluster are meant, and where in shared and tensor memory.
  const std::uint32_t first_cta = event.warp / warps_ * ctas_;
  hash.add(std::uint64_t{event.lane_mask()} << 32 | (event.cta - first_cta));
  add_operands(event, first_cta, hash);
  if (event.is<payload::Mbarrier>()) {  // most of them
    places.add(std::uint64_t{event.cta} << 32 | event.as<payload::Mbarrier>().mask);
    return;
  }
  if (event.is<payload::Map>()) {  // a map in memory is a place
    places.add(event.as<payload::Map>().number);
    return;
  }
  const payload::Numbers numbers = event.numbers();
  if (event.is<payload::SharedWord>()) {
    places.add(numbers.count);
  }
  places.add(std::uint64_t{event.cta} << 32 | numbers.place_cta);
  places.add(event.op == Op::kSharedStore ? 0 : event.global + numbers.first);
  places.add(numbers.place);
  places.add(numbers.second);
}

// Lanes' bytes of global memory, of one instruction: how many rectangles they are, and of what
// width, follows from addresses alone.
void RunWork::note_lanes(const Event& event, Warp& warp) {
  const Warp::LaneAccess access{event.time, event.op, event.site.line, event.lane_mask()};
  if (access != warp.latest) {
    warp.latest = access;
    ++warp.operations;
    note_instruction(event, warp.work);
    warp.work.add(event.lane_mask());
  }
  const payload::Rows& said = *event.rows();
  warp.places.add(event.global);
  warp.places.add(event.bytes);
  warp.places.add(std::uint64_t{said.rows} << 32 | said.pitch);
}

// Where in global memory an operation acts, not who does it.
void RunWork::note_access(const Event& event) {
  const bool of_map = event.is<payload::Map>();
  if (event.global == 0 && !of_map) {
    return;
  }
  const std::uint32_t cluster = event.warp / warps_;
  if (cluster >= accesses_.size()) {
    accesses_.resize(cluster + 1, 0);
  }
  Hash hash;
  hash.add(static_cast<std::uint64_t>(event.op));
  hash.add(of_map ? event.as<payload::Map>().number : event.global);
  hash.add(event.bytes);
  hash.add(event.numbers().pending);
  if (const payload::Rows* rows = event.rows(); rows != nullptr) {
    hash.add(std::uint64_t{rows->rows} << 32 | rows->pitch);
  } else if (event.is<payload::Copy>()) {
    const auto& copy = event.as<payload::Copy>();
    hash.add(std::uint64_t{copy.pitch} << 32 | copy.width);
    hash.add(copy.map);
  }
  accesses_[cluster] += hash.value();
  if (event.is<payload::Copy>()) {  // its map says more than where its box begins
    warp_of(event).places.add(hash.value());
  }
}

// Whether the event is a try made again at once, or the wait for the phase that the warp's latest
// try on the mbarrier asked for: whatever the try said, they are one operation with it. Other lanes
// than those of the try have not been told.
bool RunWork::asked_for_before(const Event& event) {
  const bool tries = event.op == Op::kMbarrierTryWait;
  if (!tries && event.op != Op::kMbarrierWait) {
    return false;
  }
  const std::uint64_t place = std::uint64_t{event.warp} << 32 | event.address;
  const std::int64_t phase = phase_waited_for(event);
  const auto found = asked_phases_.find(place);
  // What a weaker try acquires is not what the wait does.
  const bool same = found != asked_phases_.end() && found->second.phase == phase &&
                    found->second.ordering.semantics == event.ordering.semantics &&
                    found->second.ordering.scope == event.ordering.scope &&
                    (event.lane_mask() & ~found->second.lanes) == 0;
  Warp& warp = warp_of(event);
  const auto settle = [&warp](std::size_t number) {
    warp.settled[number] = std::min(warp.settled[number], warp.operations);
  };
  if (!tries) {
    if (same) {
      settle(found->second.number);
    }
    if (found != asked_phases_.end()) {
      asked_phases_.erase(found);
    }
    return same;
  }
  const bool again = same && same_instruction(found->second.site, event.site);
  const std::size_t number = again ? found->second.number : warp.settled.size();
  if (!again) {
    warp.settled.push_back(~std::uint64_t{0});
  }
  if ((event.flags & event_flag::kFalse) == 0) {
    settle(number);
  }
  asked_phases_[place] = {phase, event.site, event.ordering, event.lane_mask(), number};
  return again;
}

bool RunWork::waits_as_early_as(const RunWork& there) const {
  for (std::size_t warp = 0; warp < std::min(work_.size(), there.work_.size()); ++warp) {
    const std::vector<std::uint64_t>& here = work_[warp].settled;
    const std::vector<std::uint64_t>& other = there.work_[warp].settled;
    for (std::size_t number = 0; number < std::min(here.size(), other.size()); ++number) {
      if (here[number] > other[number]) {
        return false;
      }
    }
  }
  return true;
}

std::uint64_t RunWork::of_grid() const {
  Hash hash;
  for (const Warp& warp : work_) {
    hash.add(warp.work.value());
    hash.add(warp.places.value());
  }
  return hash.value();
}

std::uint64_t RunWork::of_cluster(std::uint32_t cluster) const {
  const std::size_t end = std::min((cluster + std::size_t{1}) * warps_, work_.size());
  Hash hash;
  for (std::size_t warp = std::size_t{cluster} * warps_; warp < end; ++warp) {
    hash.add(work_[warp].work.value());
  }
  return hash.value();
}

std::uint64_t RunWork::accesses_of_cluster(std::uint32_t cluster) const {
  return cluster < accesses_.size() ? accesses_[cluster] : 0;
}

}  // namespace warptwin::sim
