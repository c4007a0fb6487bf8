/// A stage is used between its acquire and its release, and released once.

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class StagesDetector : public Detector {
 public:
  StagesDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kCtaExit,
                  Op::kMbarrierArrive,
                  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,
                  Op::kStageNote,
                  Op::kTcgen05Commit,
                  Op::kTensorLoad,
                  Op::kWarpExit}} {
    narrow({Op::kBulkLoad, Op::kTensorLoad}, {Step::kIssued});
    narrow({Op::kTcgen05Commit}, kBegins);
    const std::vector<Ring>& rings = naming().symbols().rings;
    any_ring_without_stages_ =
        std::any_of(rings.begin(), rings.end(), [](const Ring& ring) { return ring.stages == 0; });
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kMbarrierArrive || event.op == Op::kMbarrierTryWait ||
        event.op == Op::kMbarrierWait) {
      check_ring(event);
    }
    if (event.op == Op::kStageNote) {
      on_note(event);
    } else if ((event.op == Op::kTensorLoad || event.op == Op::kBulkLoad) &&
               event.step == Step::kIssued) {
      on_load(event);
      if (naming().config().cluster_size > 1) {
        note_filler(event);
      }
    } else if (event.op == Op::kTcgen05Commit || event.op == Op::kMbarrierArrive) {
      note_release(event);
    } else if (event.op == Op::kWarpExit) {
      std::erase_if(rings_, [&](const auto& entry) { return entry.first.first == event.warp; });
    } else if (event.op == Op::kCtaExit) {
      std::erase_if(produced_, [&](const auto& entry) { return entry.first.first == event.cta; });
    }
  }

  void at_end(const Gpu&, Ending) override { judge_masks(); }

 private:
  // First full barrier of a ring, the CTA that does something, the CTA that it does it in or for.
  using Reach = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  struct Use {
    std::set<std::uint32_t> held;  // stages
    bool released_any = false;
  };

  Object stage_of(const Event& event) const {
    const Ring* ring = naming().symbols().ring_of_full(event.address);
    return ring == nullptr ? barrier_of(event)
                           : stage_of(*ring, event.as<payload::Note>().index, event.cta);
  }
  static Object stage_of(const Ring& ring, std::uint32_t stage, std::uint32_t cta) {
    return {ObjectKind::kStage, ring.owner + " stage " + std::to_string(stage), cta, stage};
  }

  // A ring of length 0 begins where what lies behind it does: an address at which nothing else is
  // declared is its own.
  void check_ring(const Event& event) {
    if (!any_ring_without_stages_) {
      return;
    }
    for (const Ring& ring : naming().symbols().rings) {
      if (ring.stages == 0 && (event.address == ring.full || event.address == ring.empty) &&
          naming().symbols().find(event.address) == nullptr) {
        reporter().report("PIPELINE_STAGE_OOB",
                          event,
                          Object{ObjectKind::kOther, ring.owner, event.cta},
                          "a barrier of a ring without stages is used",
                          {"the ring's length is 0: it has no barriers"});
      }
    }
  }

  void on_note(const Event& event) {
    const auto& note = event.as<payload::Note>();
    if (note.index >= note.stages) {
      reporter().report("PIPELINE_STAGE_OOB",
                        event,
                        stage_of(event),
                        "stage " + std::to_string(note.index) + " of a ring of " +
                            std::to_string(note.stages) + " stages is used",
                        {"its barriers and bytes are those of whatever lies behind the ring"});
      return;
    }
    const auto lap = [&] { return "lap " + std::to_string(note.lap); };
    Use& use = rings_[{event.warp, event.address}];
    switch (note.step) {
      case StageStep::kProducerAcquired:
        use.held.insert(note.index);
        on_produced(event);
        break;
      case StageStep::kConsumerAcquired:
        on_consumed(event);
        break;
      case StageStep::kProducerReleased:
        use.held.erase(note.index);
        use.released_any = true;
        break;
      case StageStep::kDropped:
        use.held.erase(note.index);
        reporter().report("STAGE_LEAK",
                          event,
                          stage_of(event),
                          "acquired in " + lap() + " and dropped without a release");
        break;
      case StageStep::kReleasedTwice:
        reporter().report(
            "STAGE_DOUBLE_RELEASE", event, stage_of(event), "released again in " + lap());
        break;
      default:
        break;
    }
  }

  // Iterations of a ring count its stages and laps together.
  static std::uint64_t iteration(const Event& event) {
    const auto& note = event.as<payload::Note>();
    return std::uint64_t{note.lap} * note.stages + note.index;
  }

  void on_produced(const Event& event) {
    std::deque<std::uint64_t>& produced = produced_[{event.cta, event.address}];
    if (std::find(produced.begin(), produced.end(), iteration(event)) != produced.end()) {
      return;  // several warps fill it together
    }
    produced.push_back(iteration(event));
    if (produced.size() > 2 * std::size_t{event.as<payload::Note>().stages}) {
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
                      stage_of(event),
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
          stage_of(ring, stage, event.cta),
          "a copy into a stage that the warp does not hold");
    }
  }

  // The first copy of each CTA into stages of a ring in each other.
  void note_filler(const Event& event) {
    const std::uint32_t issuer = naming().cta_of_warp(event.warp);
    const std::uint32_t mask = event.signal().mask;
    const std::uint32_t first = naming().first_cta_of(issuer);
    const std::uint32_t size = naming().config().size_around(issuer);
    for (const Ring& ring : naming().symbols().rings) {
      if (ring.stage_bytes == 0 || event.address < ring.tiles ||
          event.address >= ring.tiles + ring.stages * ring.stage_bytes) {
        continue;
      }
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        const bool reached = mask != 0 ? (mask >> rank & 1U) != 0 : first + rank == event.cta;
        if (reached) {
          fills_.try_emplace({ring.full, issuer, first + rank}, event);
        }
      }
    }
  }

  // The first release of each CTA that frees stages of a ring for each other.
  void note_release(const Event& event) {
    if ((event.step != Step::kIssued && event.step != Step::kDone) || event.fault != Fault::kNone) {
      return;
    }
    const std::uint32_t issuer = naming().cta_of_warp(event.warp);
    const std::uint32_t size = naming().config().size_around(issuer);
    for (const Ring& ring : naming().symbols().rings) {
      if (event.address < ring.empty || event.address >= ring.empty + 8 * ring.stages) {
        continue;
      }
      const std::uint32_t mask = event.as<payload::Mbarrier>().mask;
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        const std::uint32_t freed = naming().first_cta_of(issuer) + rank;
        if (mask != 0 ? (mask >> rank & 1U) != 0 : freed == event.cta) {
          frees_.try_emplace({ring.full, issuer, freed}, event);
          if ((event.flags & event_flag::kPair) != 0) {
            frees_.try_emplace({ring.full, issuer ^ 1U, freed}, event);  // for the pair
          }
        }
      }
    }
  }

  // Whether CTA `by` does it anywhere.
  static bool does(const std::map<Reach, Event>& what, std::uint32_t ring, std::uint32_t by) {
    const auto found = what.lower_bound({ring, by, 0});
    return found != what.end() && std::get<0>(found->first) == ring &&
           std::get<1>(found->first) == by;
  }

  // Whoever fills stages of a CTA waits for that CTA to free them, and a CTA frees its stages for
  // those who fill them. Judged at the end, when it is known who fills what: a mask that leaves the
  // row, the column or the pair of its operand shows although every count may fit.
  void judge_masks() {
    for (const auto& [reach, event] : frees_) {
      const auto& [ring, cta, freed] = reach;
      const std::uint32_t mask = event.as<payload::Mbarrier>().mask;
      const bool pair = (event.flags & event_flag::kPair) != 0;
      if (mask != 0 && naming().cta_of_warp(event.warp) == cta && does(fills_, ring, freed) &&
          !fills_.contains({ring, freed, cta}) &&
          !(pair && fills_.contains({ring, freed, cta ^ 1U}))) {
        reporter().report("TCGEN05_COMMIT_MASK",
                          event,
                          Object::other("mask " + std::to_string(mask) + " of the commit"),
                          "frees a stage of " + owner_of(ring) + " for cta " +
                              std::to_string(freed) + ", which fills none of cta " +
                              std::to_string(cta),
                          {"the mask leaves the row, column or pair that the operands come from"});
      }
    }
    for (const auto& [reach, event] : fills_) {
      const auto& [ring, cta, filled] = reach;
      const std::uint32_t mask = event.signal().mask;
      if (mask != 0 && does(frees_, ring, filled) && !frees_.contains({ring, filled, cta})) {
        reporter().report("BULK_MCAST_MASK",
                          event,
                          Object::other("mask " + std::to_string(mask) + " of the copy"),
                          "fills a stage of " + owner_of(ring) + " in cta " +
                              std::to_string(filled) + ", which frees none for cta " +
                              std::to_string(cta),
                          {"the mask leaves the row, column or pair of its operand, or that of the "
                           "release does"});
      }
    }
  }

  std::string owner_of(std::uint32_t full) const {
    const Ring* ring = naming().symbols().ring_of_full(full);
    return ring == nullptr ? "a ring" : ring->owner;
  }

  std::map<Reach, Event> fills_;
  std::map<Reach, Event> frees_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint64_t>>
      produced_;  // (CTA, first full barrier): the last iterations
  std::map<std::pair<std::uint32_t, std::uint32_t>, Use> rings_;  // (warp, first full barrier)
  bool any_ring_without_stages_ = false;
};

}  // namespace

std::unique_ptr<Detector> make_stages(Reporter& reporter, Order& order) {
  return std::make_unique<StagesDetector>(reporter, order);
}

}  // namespace warptwin::sim
