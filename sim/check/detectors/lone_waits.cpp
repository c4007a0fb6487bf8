/// After one lane has waited alone, in `elect_one` or `for_lanes`, the warp meets before it does
/// anything as a whole: until then its other lanes have not waited, and see nothing of what the
/// wait acquired. As good as a meeting is to acquire what the lane has released behind its wait:
/// then all lanes come after it, and know what it knew. Where lanes have waited one by one until
/// all have, the proof says that it cannot tell, and nothing is reported. What is issued once is
/// the elected lane's, and may come before. A wgmma, its fence, commit and wait hold each lane back
/// until all execute them, as `.sync` says, but order no memory: behind one of them the whole warp
/// may arrive and wait, for the lane that had waited is among those that do, and may not load,
/// store or multiply what lies in shared memory. Where bulk stores were waited for, a store to
/// shared memory depends on it only if it writes what one of them has read; of plain accesses to
/// global memory `global_data` tells, for each lane.

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/footprint.hpp"

namespace warptwin::sim {

namespace {

constexpr OpSet kWaits = ops_with(op_trait::kLaneWaits);
constexpr OpSet kPerLane = ops_with(op_trait::kPerLane);
// A wgmma reads its operands for all lanes.
constexpr OpSet kNeedsAllLanes = kPerLane | OpSet{Op::kWgmma};
// Those of them that depend on a bulk store having read its source, or written what it stores. An
// arrival of all lanes does not: the waiting lane's is among them.
constexpr OpSet kAfterStores = ops_with(op_trait::kAfterStores);

constexpr OpSet kPlainGlobal{Op::kGlobalLoad, Op::kGlobalStore};
constexpr OpSet kGathers = ops_with(op_trait::kGathers);
constexpr OpSet kNeedNothing{Op::kMbarrierArrive, Op::kMbarrierTryWait, Op::kMbarrierWait};

// Beside waits, what a lane may learn from: a fence makes an acquire of a relaxed wait.
constexpr OpSet kTeaches{Op::kFence,
                         Op::kFenceMbarrierInit,
                         Op::kFenceProxyAsync,
                         Op::kTcgen05FenceBefore,
                         Op::kGlobalLoadAcquire};

constexpr OpSet kBulkStores{Op::kBulkStore, Op::kTensorStore};
constexpr OpSet kSeenByLoneWaits = kWaits | kPerLane | kBringsTogether | kGathers | kBulkStores;

class LoneWaitsDetector : public Detector {
 public:
  LoneWaitsDetector(Reporter& reporter, Order& order)
      : Detector{reporter, kSeenByLoneWaits}, order_{order} {
    narrow(kSeenByLoneWaits, kBegins);
  }

  void on_event(const Event& event) override {
    // A try that says no lets nobody go on.
    const bool refused =
        event.op == Op::kMbarrierTryWait && (event.flags & event_flag::kFalse) != 0;
    if ((event.step != Step::kDone && event.step != Step::kIssued) || refused) {
      return;
    }
    if (event.warp >= alone_.size()) {
      alone_.resize(event.warp + 1);
    }
    Wait& wait = alone_[event.warp];
    if (kBulkStores.contains(event.op)) {
      note_source(event);
    } else if (event.lanes == kWarpLanes) {
      act(event);
    } else if (event.op == Op::kBulkWaitGroup) {
      if (event.lanes == 1 && event.as<payload::BulkGroups>().of_lane) {
        if (!wait.holds()) {
          wait.op = event.op;
          wait.site = event.site;
        }
        note_learned(wait, event);
        note_read(event);
      }
    } else if (waits_alone(event)) {
      wait.op = event.op;
      wait.site = event.site;
      wait.lanes |= event.lane_mask();
      wait.gathered = false;
      note_learned(wait, event);
      if (wait.lanes == ~std::uint32_t{0}) {
        wait = {};
      }
    } else if (event.lanes == 1 && wait.holds() && kTeaches.contains(event.op)) {
      note_learned(wait, event);
    }
  }

 private:
  struct Learned {
    std::uint32_t lane = 0;
    std::uint32_t time = 0;  // the warp's operation
  };
  // The last wait of one lane, while the warp has not met after it. A wait for bulk groups is one
  // lane's also where the whole warp makes it.
  struct Wait {
    Op op = Op::kCount;  // none
    SourceSite site{};
    std::uint32_t lanes = 0;         // that have waited one by one
    bool gathered = false;           // the warp has come to one place since, which orders no memory
    std::vector<Learned> learned{};  // when each of them last did
    bool holds() const { return op != Op::kCount; }
  };
  // What a bulk store of the lane reads.
  struct Source {
    std::uint32_t lane = 0;
    std::uint32_t group = 0;
    bool was_read = false;  // the lane has waited for it
    Footprint at{};
  };

  void note_source(const Event& event) {
    const Footprint at = footprint_of_copy(event);
    std::vector<Source>& all = sources_[event.warp];
    std::erase_if(all, [&](const Source& one) {
      return one.lane == event.lane && one.at.begin == at.begin && one.at.end == at.end;
    });
    all.push_back({event.lane, event.as<payload::Copy>().group, false, at});
  }

  void note_read(const Event& event) {
    for (Source& one : sources_[event.warp]) {
      one.was_read = one.was_read ||
                     (one.lane == event.lane && one.group < event.as<payload::BulkGroups>().group);
    }
  }

  // Whether a store of the warp writes what one of its lanes alone knows to have been read.
  bool writes_a_source(const Event& event) const {
    const auto found = sources_.find(event.warp);
    if (event.rows() == nullptr || event.rows()->element_bytes == 0 || found == sources_.end()) {
      return true;
    }
    const Footprint to = footprint_of(event);
    return std::any_of(found->second.begin(), found->second.end(), [&](const Source& one) {
      return one.was_read && one.at.meets(to);
    });
  }

  void note_learned(Wait& wait, const Event& event) const {
    const std::uint32_t now = order_.now(event.warp);
    for (Learned& one : wait.learned) {
      if (one.lane == event.lane) {
        one.time = now;
        return;
      }
    }
    wait.learned.push_back({event.lane, now});
  }

  // Whether all lanes have acquired what each that has waited alone has released since it last
  // learned something: they come after its wait then, and know what it knows.
  bool caught_up(std::uint32_t warp, const Wait& wait) const {
    return std::all_of(wait.learned.begin(), wait.learned.end(), [&](const Learned& one) {
      return order_.lanes_know(warp, ~(std::uint32_t{1} << one.lane), one.lane, one.time);
    });
  }

  // All lanes execute an operation: the first such after the wait is reported, unless they meet.
  void act(const Event& event) {
    Wait& wait = alone_[event.warp];
    if (!wait.holds()) {
      return;
    }
    const OpSet& judged = wait.op == Op::kBulkWaitGroup ? kAfterStores : kNeedsAllLanes;
    wait.gathered = wait.gathered || kGathers.contains(event.op);
    const bool met = kBringsTogether.contains(event.op) || caught_up(event.warp, wait);
    const bool elsewhere =
        wait.op == Op::kBulkWaitGroup &&
        (event.op == Op::kSharedStore ? !writes_a_source(event) : kPlainGlobal.contains(event.op));
    const bool apart = !met && judged.contains(event.op) && !elsewhere &&
                       !(wait.gathered && kNeedNothing.contains(event.op));
    if (apart) {
      reporter().report(
          "WARP_SYNC_MISSING",
          event,
          naming().warp_object(event.warp),
          "the whole warp goes on to " + std::string{name_of(event.op)} +
              ", but one lane alone has waited: " + name_of(wait.op) + " at " +
              naming().site(wait.site),
          {"the other lanes may come while it still waits, and what it acquires is not theirs",
           mend("sync_warp() after the wait, or this operation in the same elect_one")});
    }
    if (apart || met) {
      wait = {};
    }
    if (met) {
      std::erase_if(sources_[event.warp], [](const Source& one) { return one.was_read; });
    }
  }

  const Order& order_;
  std::vector<Wait> alone_;                                           // by warp
  std::unordered_map<std::uint32_t, std::vector<Source>> sources_{};  // by warp
};

}  // namespace

std::unique_ptr<Detector> make_lone_waits(Reporter& reporter, Order& order) {
  return std::make_unique<LoneWaitsDetector>(reporter, order);
}

}  // namespace warptwin::sim
