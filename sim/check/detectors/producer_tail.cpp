/// In a cluster, a producer leaves only after every stage it filled has been freed: until then
/// another
/// CTA may still arrive on its barriers.

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class ProducerTailDetector : public Detector {
 public:
  ProducerTailDetector(Reporter& reporter, Order&) : Detector{reporter, kSeen} {
    narrow(kSeen, {Step::kDone});
  }

  void on_event(const Event& event) override {
    if (naming().config().size_around(naming().cta_of_warp(event.warp)) == 1) {
      return;
    }
    const bool arms = event.op == Op::kMbarrierArrive && (event.flags & event_flag::kExpectTx) != 0;
    if (arms && event.step == Step::kDone) {
      for (const Ring& ring : naming().symbols().rings) {
        if (event.address >= ring.full && event.address < ring.full + 8 * ring.stages) {
          Stage& stage = stages_[{event.warp, ring.empty + event.address - ring.full}];
          ++stage.filled;
          stage.last = event;
        }
      }
    } else if (event.op == Op::kMbarrierWait && event.step == Step::kDone) {
      const auto found = stages_.find({event.warp, event.address});
      if (found != stages_.end()) {
        found->second.freed = event.phase;  // so many phases of empty are known to be complete
      }
    } else if (event.op == Op::kWarpExit) {
      on_exit(event);
    }
  }

 private:
  static constexpr OpSet kSeen{Op::kMbarrierArrive, Op::kMbarrierWait, Op::kWarpExit};

  struct Stage {
    std::uint32_t filled = 0;
    std::uint32_t freed = 0;
    Event last;
  };

  void on_exit(const Event& exit) {
    const auto first = stages_.lower_bound({exit.warp, 0});
    const auto end = stages_.lower_bound({exit.warp + 1, 0});
    for (auto at = first; at != end; ++at) {
      const Stage& stage = at->second;
      if (stage.freed < stage.filled) {
        Event event = stage.last;
        event.time = exit.time;
        reporter().report("PRODUCER_TAIL_MISSING",
                          event,
                          naming().barrier(exit.cta, at->first.second),
                          naming().warp(exit.warp) + " ends after " + std::to_string(stage.filled) +
                              " fills, having waited for " + std::to_string(stage.freed) +
                              " of them to be freed",
                          {mend("a drain, which waits for every stage once more")});
      }
    }
    stages_.erase(first, end);
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, Stage> stages_;  // (warp, empty barrier)
};

}  // namespace

std::unique_ptr<Detector> make_producer_tail(Reporter& reporter, Order& order) {
  return std::make_unique<ProducerTailDetector>(reporter, order);
}

}  // namespace warptwin::sim
