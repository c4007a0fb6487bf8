// What lanes of a warp know apart from each other, and what one of them tells of the others.

#include <algorithm>
#include <bit>

#include "common/trace/op_facts.hpp"

#include "sim/check/detector.hpp"
#include "sim/check/order.hpp"
#include "sim/model/invariant.hpp"

namespace warptwin::sim {

namespace {

// By lanes, in the generic proxy; changes of tensor maps and their fences. A wait is one: who
// releases for another lane does not say that its wait is over.
constexpr OpSet kAccesses{
    Op::kBulkWaitGroup,      Op::kClcQuery,           Op::kFenceProxyTensormap,
    Op::kGlobalLoad,         Op::kGlobalLoadAcquire,  Op::kGlobalRedAdd,
    Op::kGlobalStore,        Op::kGlobalStoreRelease, Op::kGlobalWait,
    Op::kGriddepcontrolWait, Op::kMbarrierArrive,     Op::kMbarrierCompleteTx,
    Op::kMbarrierExpectTx,   Op::kMbarrierInit,       Op::kMbarrierInval,
    Op::kMbarrierTryWait,    Op::kMbarrierWait,       Op::kSharedLoad,
    Op::kSharedStore,        Op::kTensormapReplace};

// These bring a warp's lanes together in memory order, by PTX's text.
constexpr OpSet kOrdersLanes = ops_with(op_trait::kOrdersLanes) | OpSet{Op::kWarpExit};

}  // namespace

bool Order::every_lane_ordered(const LanePoint& first, const Event& second) const {
  if (known(kLanes, first.warp, second.warp) >= first.time) {
    return true;
  }
  // A lane comes after what it did itself, and after what others of its warp have released to it.
  const std::uint32_t itself = first.warp == second.warp ? second.lane_mask() : 0;
  return (first.lanes & ~(itself | released_by(first, second))) == 0;
}

// Of the lanes of the first those that have released it, alone, to who executes the second.
std::uint32_t Order::released_by(const LanePoint& first, const Event& second) const {
  std::uint32_t lanes = 0;
  if (const WarpOrder* observer = find(second.warp)) {
    for (const LoneRelease& release : observer->seen().lone) {
      lanes |= release.warp == first.warp && release.time >= first.time ? release.lanes : 0;
    }
  }
  return lanes;
}

bool Order::lanes_know(std::uint32_t warp,
                       std::uint32_t lanes,
                       std::uint32_t other,
                       std::uint32_t time) const {
  const WarpOrder* self = find(warp);
  if (self == nullptr) {
    return true;
  }
  const auto knows = [&](const Clock& known) {
    return at(known.own, component(kLanes, warp)) >= time ||
           std::any_of(known.lone.begin(), known.lone.end(), [&](const LoneRelease& release) {
             return release.warp == warp && (release.lanes >> other & 1U) != 0 &&
                    release.time >= time;
           });
  };
  if (self->parts.empty()) {
    return knows(self->clock);
  }
  return std::all_of(self->parts.begin(), self->parts.end(), [&](const LanePart& part) {
    return (part.lanes & lanes) == 0 || knows(self->known_to(part));
  });
}

bool Order::met_since(std::uint32_t warp, std::uint32_t time) const {
  const WarpOrder* self = find(warp);
  if (self == nullptr) {
    return time == 0;
  }
  const auto knows = [&](const Clock& known) {
    return at(known.own, component(kLanes, warp)) >= time;
  };
  const bool met =
      self->parts.empty()
          ? knows(self->clock)
          : std::all_of(self->parts.begin(), self->parts.end(), [&](const LanePart& part) {
              return knows(self->known_to(part));
            });
  if (met && self->met_in_memory < time) {
    note(taken_meetings_, self->taken_meeting);
  }
  return met;
}

bool Order::gathered_after(const LanePoint& first, const Event& second) const {
  const WarpOrder* self = find(first.warp);
  if (self == nullptr) {
    return false;
  }
  const std::uint32_t told = known(kOps, first.warp, second.warp);
  const auto between = std::find_if(
      self->gatherings.begin(), self->gatherings.end(), [&](const WarpOrder::Gathering& one) {
        return one.time > first.time && one.time <= told;
      });
  if (between == self->gatherings.end()) {
    return false;
  }
  note(taken_meetings_, between->site);
  return true;
}

bool Order::every_lane_fenced(const LanePoint& first, const Event& second) const {
  const WarpOrder* self = find(first.warp);
  if (self == nullptr || known(kLanesFenced, first.warp, second.warp) >= first.time) {
    return true;
  }
  // By the lane itself, or by a warp to which it had released: none that the lane's own warp can
  // have made without it.
  const std::uint32_t until = known(kProxyFenced, first.warp, second.warp);
  const bool own = first.warp == second.warp && self->fences.any_without(first, until);
  return self->fences.has(first, until) ||
         (own ? self->fences.told(first, until) : self->releases.has(first, until));
}

bool Order::LoneActs::told(const LanePoint& first, std::uint32_t until) const {
  std::uint32_t lanes = 0;
  for (const Told& one : tells) {
    const bool behind = one.release.time >= first.time && one.time <= until;
    lanes |= behind ? one.release.lanes : 0;
  }
  return (first.lanes & ~lanes) == 0;
}

bool Order::LoneActs::any_without(const LanePoint& first, std::uint32_t until) const {
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.last >= first.time && run.first <= until && (first.lanes & ~run.lanes) != 0;
  });
}

void Order::LoneActs::add(std::uint32_t lanes, std::uint32_t time) {
  if (runs.empty() || runs.back().lanes != lanes) {
    runs.push_back({lanes, time, time});
  }
  runs.back().last = time;
}

bool Order::LoneActs::has(const LanePoint& first, std::uint32_t until) const {
  for (auto run = runs.rbegin(); run != runs.rend() && run->last >= first.time; ++run) {
    if ((first.lanes & ~run->lanes) == 0 && run->first <= until) {
      return true;
    }
  }
  return false;
}

SourceSite Order::lone_release(std::uint32_t warp) const {
  const WarpOrder* self = find(warp);
  return self == nullptr ? SourceSite{} : self->lone_release;
}

Clock* Order::WarpOrder::view_of(std::uint32_t lanes, bool any) {
  const bool all = lanes == ~std::uint32_t{0};
  if (all && !uneven) {
    return nullptr;
  }
  Clock* found = nullptr;
  for (const LanePart& part : parts) {
    if ((part.lanes & lanes) == 0) {
      continue;
    }
    Clock& known = known_to(part);
    if (found == nullptr) {
      found = &known;
    } else {
      if (found != &between) {
        between = *found;
        found = &between;
      }
      any ? join(between, known) : sim::meet(between, known);
    }
  }
  if (all) {
    if (found != &between) {
      between = *found;
      found = &between;
    }
    join(between, clock);
  }
  return found;
}

Clock* Order::WarpOrder::common(std::uint32_t lanes) {
  bool first = true;
  for (const LanePart& part : parts) {
    if ((part.lanes & lanes) != 0) {
      if (first) {
        between = known_to(part);
      } else {
        sim::meet(between, known_to(part));
      }
      first = false;
    }
  }
  return &between;
}

void Order::WarpOrder::separate(std::uint32_t lanes) {
  if (parts.empty()) {
    const bool alone = std::has_single_bit(lanes);
    parts.push_back({lanes, alone ? nullptr : std::make_unique<Clock>(clock)});
    parts.push_back({~lanes, std::make_unique<Clock>(clock)});
    return;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t inside = parts[i].lanes & lanes;
    if (inside != 0 && inside != parts[i].lanes) {
      parts[i].lanes &= ~lanes;
      parts.push_back({inside, std::make_unique<Clock>(*parts[i].clock)});
    }
  }
}

Order::Pending& Order::WarpOrder::pending_of(std::uint32_t lanes) {
  const auto found = std::find_if(
      pending.begin(), pending.end(), [&](const Pending& one) { return one.lanes == lanes; });
  return found != pending.end() ? *found : pending.emplace_back(Pending{lanes});
}

// What some lanes have done by then each of them has told the others of these.
void Order::WarpOrder::meet(std::uint32_t lanes, std::uint32_t number, std::uint32_t time) {
  if (lanes == ~std::uint32_t{0}) {
    if (uneven) {
      for (const LanePart& part : parts) {
        join(clock, known_to(part));
      }
    }
    parts.clear();
    uneven = false;
    if (pending.size() > 1 || (pending.size() == 1 && pending.front().lanes != lanes)) {
      Pending all{lanes};
      bool first = true;
      for (const Pending& one : pending) {
        if (!one.empty()) {
          all.looked = first || all.looked == one.looked ? one.looked : 0;
          first = false;
        }
        join(all.wide, one.wide);
        join(all.near, one.near);
        join(all.gpu, one.gpu);
      }
      pending.clear();
      pending.push_back(std::move(all));
    }
    return;
  }
  if (std::has_single_bit(lanes)) {
    return;
  }
  separate(lanes);
  auto together = std::make_unique<Clock>(*view_of(lanes, true));
  add_lone(*together, {number, lanes, time});
  std::erase_if(parts, [&](const LanePart& part) { return (part.lanes & lanes) != 0; });
  parts.push_back({lanes, std::move(together)});
  uneven = true;
}

// What a release by those that execute `event` says of all lanes of their warp: its latest
// operation, but where some lanes release and others have done something since the warp met.
std::uint32_t Order::lanes_told(WarpOrder& warp, const Event& event, std::uint32_t self) {
  const std::uint32_t lanes = event.lane_mask();
  if ((warp.apart & ~lanes) == 0) {
    if ((warp.apart_in_memory & ~lanes) != 0) {
      note(taken_meetings_, warp.taken_meeting);
    }
    return warp.clock.own[self];
  }
  LoneActs& acts = event.op == Op::kFenceProxyAsync ? warp.fences : warp.releases;
  acts.add(lanes, warp.clock.own[self]);
  if (&acts == &warp.fences) {
    for (const LoneRelease& release : warp.seen().lone) {
      if (release.warp == self) {
        acts.tells.push_back({release, warp.clock.own[self]});
      }
    }
  }
  warp.lone_release = event.site;
  return warp.seen().own[component(kLanes, self)];
}

void Order::WarpOrder::Fences::add(const Fenced& fence) {
  std::erase_if(each, [&](const Fenced& before) { return fence.covers(before.lanes); });
  each.push_back(fence);
  met = {};
}

const Order::WarpOrder::Fenced* Order::WarpOrder::Fences::of(std::uint32_t lanes) const {
  const auto last = std::find_if(
      each.rbegin(), each.rend(), [&](const Fenced& fence) { return fence.covers(lanes); });
  return last == each.rend() ? nullptr : &*last;
}

Clock Order::WarpOrder::Fences::joined() const {
  Clock all = met;
  for (const Fenced& fence : each) {
    join(all, fence.clock);
  }
  return all;
}

void Order::WarpOrder::Fences::meet() {
  for (Fenced& fence : each) {
    fence.meet();
  }
}

void Order::WarpOrder::Fences::meet_others(const Clock& theirs) {
  meet();
  for (Fenced& fence : each) {
    fence.of_others = fence.of_others || adds(fence.clock, theirs);
    join(fence.clock, theirs);
  }
  join(met, theirs);
}

void Order::note_lanes(WarpOrder& warp, const Event& event, std::uint32_t self) {
  if (has_trait(event.op, op_trait::kMeets) && event.fault == Fault::kNone) {
    const std::uint32_t lanes = event.lane_mask();
    warp.meet(lanes, event.warp, warp.clock.own[self]);
    if (lanes == ~std::uint32_t{0}) {
      grow(warp.clock.own[component(kLanes, self)], warp.clock.own[self]);
      warp.apart = 0;
      if (kOrdersLanes.contains(event.op)) {
        warp.apart_in_memory = 0;
        warp.met_in_memory = warp.clock.own[self];
      } else {
        warp.taken_meeting = event.site;
      }
      // Fences of threads that have met since are taken to be in one order: see across_fences.
      for (WarpOrder::Fences* fences : {&warp.released, &warp.released_afar, &warp.released_gpu}) {
        fences->meet();
      }
    }
  } else if (event.op == Op::kElectSync) {
    constexpr std::size_t kKept = 16;
    if (event.lane_mask() == ~std::uint32_t{0} && event.fault == Fault::kNone) {
      warp.gatherings.push_back({warp.clock.own[self], event.site});
      if (warp.gatherings.size() > kKept) {
        warp.gatherings.erase(warp.gatherings.begin());
      }
    }
  } else if (kAccesses.contains(event.op)) {
    // That a lane has waited is so for whoever is behind a collective to which the lane has come.
    const bool waits = event.op != Op::kBulkWaitGroup && has_trait(event.op, op_trait::kMayBlock);
    warp.apart |= event.lane_mask();
    warp.apart_in_memory |= waits ? 0 : event.lane_mask();
  }
}

}  // namespace warptwin::sim
