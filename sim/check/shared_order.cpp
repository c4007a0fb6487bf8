#include "sim/check/shared_order.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

using Kind = SharedUse;
using Access = SharedAccess;
using Completion = SharedCompletion;
using Known = SharedOrder::Known;

// Whether two accesses to the same bytes conflict. Of two reads, and of two that leave the same in
// any order, the later says nothing about the earlier.
bool conflict(const Access& before, const Access& later) {
  return (writes(before.kind) || writes(later.kind)) && !in_any_order(before, later) &&
         meet(later, before);
}

// Whether `f` holds of a later access to bytes of `known[first]` that conflicts with it, and was
// judged to be after it when it came.
template <class F>
bool any_behind(const Known& known, std::size_t first, F&& f) {
  const auto behind = [&](std::size_t i) { return conflict(known[first], known[i]) && f(i); };
  return known.any_ordered_near(known.bounds(first), behind, first + 1);
}

// The lanes whose word says that the access is over, and when they could say it.
LanePoint point_of(const Access& access) {
  const Completion* read = access.kind == Kind::kStore ? access.completion.get() : nullptr;
  return read != nullptr ? LanePoint{read->warp, read->time, read->lanes}
                         : LanePoint{access.warp, access.time, access.lanes};
}

}  // namespace

bool SharedOrder::ordered(const Access& first, std::uint32_t second) {
  switch (first.kind) {
    case Kind::kGenericWrite:
    case Kind::kGenericRead:
    case Kind::kBarrier:
      return order_.after(second, first.warp, first.time);
    case Kind::kAsyncCopy:
      return counted(first, second) ||
             (first.waited && order_.after(second, first.waited->warp, first.waited->time));
    case Kind::kLoad:
    case Kind::kSource:
    case Kind::kResponse:
      return counted(first, second);
    case Kind::kStore:
      return first.completion->done &&
             order_.after(second, first.completion->warp, first.completion->time);
    case Kind::kTensor:
      return order_.tensor_complete(first.warp, second) >= first.time;
    case Kind::kWgmma:
      break;
  }
  return order_.tensor_complete(order_.warpgroup_of(first.warp), second) >= first.time;
}

// Whether the warp knows that the mbarrier has counted the copy.
bool SharedOrder::counted(const Access& first, std::uint32_t second) const {
  const Completion& completion = *first.completion;
  return completion.done &&
         order_.phase_seen(completion.cta, completion.barrier, completion.phase, second);
}

bool SharedOrder::ordered_itself(const Event& event, const Access& first, const Access& second) {
  return ordered(first, second.warp) && each_lane_after(first, event);
}

bool SharedOrder::ordered_through(const Event& event,
                                  const Known& known,
                                  std::size_t first,
                                  const Access& second,
                                  std::uint32_t steps) {
  return any_behind(known, first, [&](std::size_t i) {
    return ordered_itself(event, known[i], second) ||
           (steps > 1 && ordered_through(event, known, i, second, steps - 1));
  });
}

bool SharedOrder::reported_through(const Event& event,
                                   const Known& known,
                                   std::size_t first,
                                   const Access& second) {
  const auto behind = [&](std::size_t i) {
    const Access& later = known[i];
    return later.unordered && conflict(known[first], later) && ordered_itself(event, later, second);
  };
  return known.any_near(known.bounds(first), behind, first + 1);
}

bool SharedOrder::fenced_through(const Event& event,
                                 const Known& known,
                                 std::size_t first,
                                 const Access& second) {
  const auto by_async = [&](std::size_t later) {
    const Access& access = known[later];
    return !generic(access.kind) && ordered_itself(event, access, second);
  };
  const Access& before = known[first];
  return any_behind(known, first, [&](std::size_t later) {
    const Access& access = known[later];
    const bool same_lanes =
        access.warp == before.warp && generic(access.kind) && (before.lanes & ~access.lanes) == 0;
    return by_async(later) || (same_lanes && any_behind(known, later, by_async));
  });
}

bool SharedOrder::fenced(const Event& event, const Access& first, const Access& second) const {
  if (first.kind != Kind::kAsyncCopy) {
    return order_.fenced(first.warp, first.time, second.warp);
  }
  if (first.proxy_fences == nullptr) {
    return false;
  }
  return std::any_of(
      first.proxy_fences->begin(), first.proxy_fences->end(), [&](const LanePoint& fence) {
        const bool own = fence.warp == second.warp && (second.lanes & ~fence.lanes) == 0;
        return own || order_.lanes_after(fence, event);
      });
}

// Whether each lane that executes `event`, whose warp is after the access, is so itself.
bool SharedOrder::each_lane_after(const Access& first, const Event& event) const {
  // What a phase of an mbarrier tells is told of all that were counted in it.
  if (first.kind == Kind::kAsyncCopy) {
    return counted(first, event.warp) || order_.lanes_after(*first.waited, event);
  }
  if (first.kind != Kind::kStore && !generic(first.kind)) {
    return true;
  }
  const LanePoint point = point_of(first);
  return point.warp == event.warp
             ? (event.lane_mask() & ~point.lanes) == 0 || order_.met_since(point.warp, point.time)
             : order_.every_lane_ordered(point, event);
}

bool SharedOrder::lanes_ordered(const Event& event,
                                const Access& first,
                                const Access& second) const {
  const bool same = first.warp == second.warp;
  if (first.kind == Kind::kStore || first.kind == Kind::kBarrier) {
    return order_.lanes_after(point_of(first), event);
  }
  if (!generic(first.kind) || (same && generic(second.kind))) {
    return true;
  }
  if (first.kind == Kind::kAsyncCopy) {
    return each_lane_after(first, event);
  }
  const LanePoint point = point_of(first);
  return order_.every_lane_ordered(point, event) &&
         (generic(second.kind) || order_.every_lane_fenced(point, event));
}

bool SharedOrder::takes_its_place(const Access& first, const Access& second) const {
  return first.warp != second.warp || !generic(first.kind) || !generic(second.kind) ||
         (first.lanes & ~second.lanes) == 0 || order_.met_since(first.warp, first.time);
}

}  // namespace warptwin::sim
