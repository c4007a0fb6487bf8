#include "sim/check/stages.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace warptwin::sim {

namespace {

class Impl : public Detector {
 public:
  Impl(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kBulkLoad, Op::kCtaExit, Op::kStageNote, Op::kTensorLoad, Op::kWarpExit}} {}

  void on_event(const Event& event) override {
    if (event.op == Op::kStageNote) {
      on_note(event);
    } else if ((event.op == Op::kTensorLoad || event.op == Op::kBulkLoad) &&
               event.step == Step::kIssued) {
      on_load(event);
    } else if (event.op == Op::kWarpExit) {
      std::erase_if(rings_, [&](const auto& entry) { return entry.first.first == event.warp; });
    } else if (event.op == Op::kCtaExit) {
      std::erase_if(produced_, [&](const auto& entry) { return entry.first.first == event.cta; });
    }
  }

 private:
  struct Use {
    std::set<std::uint32_t> held;  // stages
    bool released_any = false;
  };

  std::string stage_name(const Event& event) const {
    const Ring* ring = naming().symbols().ring_of_full(event.address);
    return (ring == nullptr ? barrier_name(event)
                            : ring->owner + " stage " + std::to_string(event.wanted) + " of cta " +
                                  std::to_string(event.cta));
  }

  void on_note(const Event& event) {
    const auto lap = [&] { return "lap " + std::to_string(event.phase); };
    Use& use = rings_[{event.warp, event.address}];
    switch (static_cast<StageStep>(event.bytes)) {
      case StageStep::kProducerAcquired:
        use.held.insert(event.wanted);
        on_produced(event);
        break;
      case StageStep::kConsumerAcquired:
        on_consumed(event);
        break;
      case StageStep::kProducerReleased:
        use.held.erase(event.wanted);
        use.released_any = true;
        break;
      case StageStep::kDropped:
        use.held.erase(event.wanted);
        reporter().report("STAGE_LEAK",
                          event,
                          stage_name(event),
                          "acquired in " + lap() + " and dropped without a release");
        break;
      case StageStep::kReleasedTwice:
        reporter().report(
            "STAGE_DOUBLE_RELEASE", event, stage_name(event), "released again in " + lap());
        break;
      default:
        break;
    }
  }

  // Iterations of a ring count its stages and laps together.
  static std::uint64_t iteration(const Event& event) {
    return std::uint64_t{event.phase} * event.count + event.wanted;
  }

  void on_produced(const Event& event) {
    std::deque<std::uint64_t>& produced = produced_[{event.cta, event.address}];
    if (std::find(produced.begin(), produced.end(), iteration(event)) != produced.end()) {
      return;  // several warps fill it together
    }
    produced.push_back(iteration(event));
    if (produced.size() > 2 * std::size_t{event.count}) {
      produced.pop_front();  // nobody can still be there: its stage has been taken again since
    }
  }

  void on_consumed(const Event& event) {
    const auto found = produced_.find({event.cta, event.address});
    if (found == produced_.end() || found->second.empty() ||
        std::find(found->second.begin(), found->second.end(), iteration(event)) !=
            found->second.end()) {
      return;
    }
    reporter().report("PIPELINE_STATE_DESYNC",
                      event,
                      stage_name(event),
                      "the consumer takes iteration " + std::to_string(iteration(event)) +
                          "; the producer's last is " + std::to_string(found->second.back()),
                      {"one of them advanced its pipeline state, and the other did not"});
  }

  // A warp that works with stage handles copies only into stages it holds.
  void on_load(const Event& event) {
    for (const Ring& ring : naming().symbols().rings) {
      if (ring.stage_bytes == 0 || event.address < ring.tiles ||
          event.address >= ring.tiles + ring.stages * ring.stage_bytes) {
        continue;
      }
      const auto use = rings_.find({event.warp, ring.full});
      const std::uint32_t stage = (event.address - ring.tiles) / ring.stage_bytes;
      if (use == rings_.end() || use->second.held.contains(stage)) {
        return;
      }
      reporter().report(
          use->second.released_any ? "STAGE_USE_AFTER_RELEASE" : "STAGE_USE_BEFORE_ACQUIRE",
          event,
          ring.owner + " stage " + std::to_string(stage) + " of cta " + std::to_string(event.cta),
          "a copy into a stage that the warp does not hold");
    }
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint64_t>>
      produced_;  // (CTA, first full barrier): the last iterations
  std::map<std::pair<std::uint32_t, std::uint32_t>, Use> rings_;  // (warp, first full barrier)
};

}  // namespace

std::unique_ptr<Detector> make_stages(Reporter& reporter, Order& order) {
  return std::make_unique<Impl>(reporter, order);
}

}  // namespace warptwin::sim
