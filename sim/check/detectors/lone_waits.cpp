/// After one lane has waited alone, in `elect_one` or `for_lanes`, the warp meets before it does
/// anything as a whole: until then its other lanes have not waited, and see nothing of what the
/// wait acquired. Where lanes have waited one by one until all have, the proof says that it cannot
/// tell, and nothing is reported. What is issued once is the elected lane's, and may come before. A
/// wgmma, its fence, commit and wait hold each lane back until all execute them, as `.sync` says,
/// but order no memory: behind one of them the whole warp may arrive and wait, for the lane that
/// had waited is among those that do, and may not load or store.

#include <vector>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

constexpr OpSet kWaits = ops_with(op_trait::kLaneWaits);
constexpr OpSet kPerLane = ops_with(op_trait::kPerLane);
// Those of them that depend on a bulk store having read its source, or written what it stores. An
// arrival of all lanes does not: the waiting lane's is among them.
constexpr OpSet kAfterStores = ops_with(op_trait::kAfterStores);

constexpr OpSet kGathers{
    Op::kElectSync, Op::kWgmma, Op::kWgmmaFence, Op::kWgmmaCommit, Op::kWgmmaWait};
constexpr OpSet kNeedNothing{Op::kMbarrierArrive, Op::kMbarrierTryWait, Op::kMbarrierWait};

class LoneWaitsDetector : public Detector {
 public:
  LoneWaitsDetector(Reporter& reporter, Order&)
      : Detector{reporter, kWaits | kPerLane | kBringsTogether | kGathers} {}

  void on_event(const Event& event) override {
    if (event.step != Step::kDone && event.step != Step::kIssued) {
      return;
    }
    if (event.warp >= alone_.size()) {
      alone_.resize(event.warp + 1);
    }
    Wait& wait = alone_[event.warp];
    if (event.lanes == kWarpLanes) {
      act(event);
    } else if (event.op == Op::kBulkWaitGroup) {
      if (event.lanes == 1 && event.wanted != 0 && !wait.holds()) {
        wait = {event.op, event.site};
      }
    } else if (waits_alone(event)) {
      wait = {event.op, event.site, wait.lanes | event.lane_mask()};
      if (wait.lanes == ~std::uint32_t{0}) {
        wait = {};
      }
    }
  }
  void on_blocked(const Event& event) override {
    if (event.lanes == kWarpLanes && event.warp < alone_.size()) {
      act(event);
    }
  }

 private:
  // The last wait of one lane, while the warp has not met after it. A wait for bulk groups is one
  // lane's also where the whole warp makes it.
  struct Wait {
    Op op = Op::kCount;  // none
    SourceSite site{};
    std::uint32_t lanes = 0;  // that have waited one by one
    bool gathered = false;    // the warp has come to one place since, which orders no memory
    bool holds() const { return op != Op::kCount; }
  };

  // All lanes execute an operation: the first such after the wait is reported, unless they meet.
  void act(const Event& event) {
    Wait& wait = alone_[event.warp];
    const OpSet& judged = wait.op == Op::kBulkWaitGroup ? kAfterStores : kPerLane;
    wait.gathered = wait.gathered || kGathers.contains(event.op);
    const bool apart = wait.holds() && judged.contains(event.op) &&
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
    if (apart || kBringsTogether.contains(event.op)) {
      wait = {};
    }
  }

  std::vector<Wait> alone_;  // by warp
};

}  // namespace

std::unique_ptr<Detector> make_lone_waits(Reporter& reporter, Order& order) {
  return std::make_unique<LoneWaitsDetector>(reporter, order);
}

}  // namespace warptwin::sim
