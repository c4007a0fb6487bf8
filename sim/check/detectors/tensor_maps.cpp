/// Tensor maps that change on the device: a copy goes through a changed map only behind the two
/// fences that show it the change, fence.proxy.tensormap::generic with .release by who changed it
/// and with .acquire for the map; and a map changes only when the copies through it are known to
/// have read.

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

// A copy through a map. Whoever knows that it has read knows it of the copies before it that the
// same warp made, and counted on the same mbarrier.
struct MapUse {
  std::uint32_t warp = 0;
  std::uint32_t serial = 0;
  bool load = false;
  bool read = false;
  std::uint32_t mark = 0;   // a load: of the phase that counts its bytes; a store: when it was
                            // waited for, or its group until then
  std::uint32_t lanes = 0;  // of a store: whose it is, once it has waited
  SourceSite site{};
};
// Warp, CTA and mbarrier; of a store kStores and its lane.
using UsePlace = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
constexpr std::uint32_t kStores = ~std::uint32_t{0};
constexpr std::uint32_t kWholeWarp = ~std::uint32_t{0};

struct MapStep {
  Point at;
  std::uint32_t lanes = 0;
};

/// A fence that covers a change, or what some lanes made of it.
struct Release {
  MapStep by;
  Scope scope = Scope::kGpu;
  std::uint32_t covers = 0;  // those of the lanes that made the change
  bool met = false;          // each of its lanes covers all: the warp has met, or acts as one
};

struct Change {
  MapStep made;
  std::vector<Release> releases;  // the first by each set of lanes that covers as much
  std::vector<MapStep> acquired;  // acquiring fences that show it
  bool by_warp = false;           // one act of the whole warp, which also releases it
};

struct Map {
  HashMap<UsePlace, MapUse> uses;
  std::vector<Change> changes;  // of none is known that a later one shows it too
};

class TensorMapsDetector : public Detector {
 public:
  TensorMapsDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBulkWaitGroup,
                  Op::kFenceProxyTensormap,
                  Op::kTensorLoad,
                  Op::kTensorStore,
                  Op::kTensormapReplace}},
        order_{order} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kTensormapReplace:
        on_change(event);
        break;
      case Op::kFenceProxyTensormap:
        on_fence(event);
        break;
      case Op::kBulkWaitGroup:
        on_group_wait(event);
        break;
      default:
        if (event.step == Step::kIssued) {
          on_use(event);
        } else if (event.step == Step::kWritten && event.op == Op::kTensorLoad) {
          on_written(event);
        }
        break;
    }
  }

 private:
  static Object name_of_map(std::uint32_t map) {
    return {ObjectKind::kTensorMap, "tensor map " + std::to_string(map), Object::kNoCta, map};
  }

  static UsePlace place_of(const Event& event) {
    return event.op == Op::kTensorLoad
               ? UsePlace{event.warp, event.signal().barrier_cta, event.signal().barrier}
               : UsePlace{event.warp, kStores, event.lane};
  }

  void on_change(const Event& event) {
    const std::uint32_t number = event.as<payload::Map>().number;
    Map& map = maps_[number];
    if (const MapUse* use = unread(map, event)) {
      reporter().report("TENSORMAP_MODIFIED_IN_FLIGHT",
                        event,
                        name_of_map(number),
                        "changed by " + naming().lanes_of({event.warp, 0, event.lane_mask()}) +
                            " while the " + std::string{use->load ? "load" : "store"} + " of " +
                            naming().warp(use->warp) + " at " + naming().site(use->site) +
                            " may still read through it",
                        {use->load ? mend("a wait for the mbarrier phase that counts its bytes")
                                   : mend("cp.async.bulk.wait_group.read by the storing "
                                          "thread, and an order after it")});
    }
    // What shows the later of two changes of a warp shows the earlier, if the warp has met between
    // the two, or the later is by all lanes of the earlier. Another warp's it need not.
    std::erase_if(map.changes, [&](const Change& before) {
      return before.made.at.warp == event.warp &&
             (order_.met_since(event.warp, before.made.at.time) ||
              (before.made.lanes & ~event.lane_mask()) == 0);
    });
    const bool by_warp = (event.flags & event_flag::kByWarp) != 0;
    map.changes.push_back({step(event), {}, {}, by_warp});
  }

  MapStep step(const Event& event) const { return {order_.here(event), event.lane_mask()}; }

  // Whether the lanes that execute `event` come after it: each that did it itself is enough.
  bool after(const Event& event, const MapStep& first) const {
    if (!order_.after(event.warp, first.at)) {
      return false;
    }
    const LanePoint point{first.at.warp, first.at.time, first.lanes};
    return point.warp == event.warp
               ? (point.lanes & event.lane_mask()) != 0 || order_.met_since(point.warp, point.time)
               : point.lanes == kWholeWarp || order_.every_lane_ordered(point, event);
  }

  // A release is of all that its lanes have changed; an acquire, of one map.
  void on_fence(const Event& event) {
    if (event.ordering.semantics == Semantics::kRelease) {
      for (auto& [number, map] : maps_) {
        for (Change& change : map.changes) {
          if (change.made.at.warp == event.warp) {
            release(change, event);
          }
        }
      }
      return;
    }
    for (Change& change : maps_[event.as<payload::Map>().number].changes) {
      if (const std::uint32_t lanes = shown_to(change, event); lanes != 0) {
        change.acquired.push_back({order_.here(event), lanes});
      }
    }
  }

  void release(Change& change, const Event& event) const {
    Release release{step(event), event.ordering.scope, change.made.lanes, false};
    release.met = change.by_warp || order_.met_since(event.warp, change.made.at.time);
    release.covers &= release.met ? kWholeWarp : event.lane_mask();
    const bool known =
        std::any_of(change.releases.begin(), change.releases.end(), [&](const Release& one) {
          return one.by.lanes == release.by.lanes && one.met == release.met &&
                 one.scope >= release.scope;
        });
    if (release.covers != 0 && !known) {
      change.releases.push_back(release);
    }
  }

  // Whether the scopes of a release and of the acquiring fence have each other's threads.
  bool in_scope(const Release& release, const Event& acquire) const {
    const std::uint32_t from = release.by.at.warp;
    const Scope scope = std::min(release.scope, acquire.ordering.scope);
    return scope == Scope::kGpu ||
           (scope == Scope::kCta
                ? naming().cta_of_warp(from) == naming().cta_of_warp(acquire.warp)
                : naming().cluster_of_warp(from) == naming().cluster_of_warp(acquire.warp));
  }

  // The lanes executing `event` to which what each lane made of the change has been released.
  std::uint32_t shown_to(const Change& change, const Event& event) const {
    std::uint32_t hidden = change.made.lanes;
    std::uint32_t shown = 0;
    for (const Release& one : change.releases) {
      if (!in_scope(one, event)) {
        continue;
      }
      const bool own_warp = one.by.at.warp == event.warp;
      if (one.met) {
        shown |= own_warp && !order_.met_since(event.warp, one.by.at.time) ? one.by.lanes
                 : after(event, one.by)                                    ? kWholeWarp
                                                                           : 0;
        continue;
      }
      for (std::uint32_t left = one.covers & hidden; left != 0; left &= left - 1) {
        const std::uint32_t lane = left & (~left + 1);
        if (order_.lanes_after({one.by.at.warp, one.by.at.time, lane}, event)) {
          hidden &= ~lane;
        } else if (own_warp && lane == change.made.lanes) {
          shown |= lane;  // released by itself to itself
        }
      }
    }
    return hidden == 0 ? event.lane_mask() : shown & event.lane_mask();
  }

  void on_use(const Event& event) {
    const auto& copy = event.as<payload::Copy>();
    const std::uint32_t number = copy.map;
    Map& map = maps_[number];
    const bool load = event.op == Op::kTensorLoad;
    map.uses[place_of(event)] = {event.warp, event.serial, load, false, copy.group, 0, event.site};
    const auto hidden =
        std::find_if(map.changes.begin(), map.changes.end(), [&](const Change& change) {
          return std::none_of(change.acquired.begin(),
                              change.acquired.end(),
                              [&](const MapStep& acquire) { return after(event, acquire); });
        });
    if (hidden == map.changes.end()) {
      return;
    }
    reporter().report("TENSORMAP_FENCE_MISSING",
                      event,
                      name_of_map(number),
                      "used without the fences that show its change by " +
                          naming().warp(hidden->made.at.warp) + " at " +
                          naming().site(hidden->made.at.site),
                      {!hidden->releases.empty()
                           ? mend("fence.proxy.tensormap::generic.acquire of the map after the "
                                  "releasing one, before the copy")
                           : mend("fence.proxy.tensormap::generic.release by the thread that "
                                  "changed it, and an acquiring one before the copy")});
  }

  void on_written(const Event& event) {
    for (auto& [number, map] : maps_) {
      const auto found = map.uses.find(place_of(event));
      if (found != map.uses.end() && found->second.serial == event.serial) {
        found->second.read = true;
        found->second.mark =
            order_.phase_mark(event.signal().barrier_cta, event.signal().barrier, event.phase);
      }
    }
  }

  // The groups before the first that is left have been read.
  void on_group_wait(const Event& event) {
    const std::uint32_t first = event.as<payload::BulkGroups>().group;
    for (auto& [number, map] : maps_) {
      for (std::uint32_t left = event.lane_mask(); left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const auto found = map.uses.find(UsePlace{event.warp, kStores, lane});
        if (found != map.uses.end() && !found->second.read && found->second.mark < first) {
          found->second.read = true;
          found->second.mark = order_.now(event.warp);
          found->second.lanes = std::uint32_t{1} << lane;
        }
      }
    }
  }

  // The use, first by its place, that who changes the map does not know to have read.
  const MapUse* unread(const Map& map, const Event& event) const {
    const std::pair<const UsePlace, MapUse>* first = nullptr;
    for (const auto& one : map.uses) {
      const bool earlier = first == nullptr || one.first < first->first;
      first = earlier && !known_read(one.first, one.second, event) ? &one : first;
    }
    return first == nullptr ? nullptr : &first->second;
  }

  bool known_read(const UsePlace& place, const MapUse& use, const Event& event) const {
    if (!use.read) {
      return false;
    }
    return use.load
               ? order_.phase_seen(std::get<1>(place), std::get<2>(place), use.mark, event.warp)
               : order_.lanes_after({use.warp, use.mark, use.lanes}, event);
  }

  Order& order_;
  std::map<std::uint32_t, Map> maps_;  // by number
};

}  // namespace

std::unique_ptr<Detector> make_tensor_maps(Reporter& reporter, Order& order) {
  return std::make_unique<TensorMapsDetector>(reporter, order);
}

}  // namespace warptwin::sim
