/// Named and cluster barriers are met by whole warps, once each, with one count.

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class NamedBarriersDetector : public Detector {
 public:
  NamedBarriersDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBarArrive,
                  Op::kBarSync,
                  Op::kClusterArrive,
                  Op::kClusterWait,
                  Op::kCtaExit,
                  Op::kElectSync,
                  Op::kSyncWarp,
                  Op::kWarpExit}},
        order_{order} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kBarSync:
      case Op::kBarArrive:
        on_named_fault(event);
        if (!event.as<payload::NamedBarrier>().returns && event.address < kNamedBarriers) {
          on_arrival(event);
        }
        break;
      case Op::kClusterArrive:
      case Op::kClusterWait:
        on_cluster_fault(event);
        break;
      case Op::kSyncWarp:
      case Op::kElectSync:
        if (event.fault == Fault::kNotWholeWarp) {
          reporter().report("WARP_SYNC_MASK",
                            event,
                            naming().warp_object(event.warp),
                            std::string{name_of(event.op)} + " of the whole warp by " +
                                std::to_string(event.lanes) + " lanes");
        }
        break;
      case Op::kWarpExit:
        on_warp_exit(event);
        break;
      default:
        on_exit(event);
        break;
    }
  }

 private:
  struct Barrier {
    std::uint32_t generation = 0;
    bool complete = false;
    bool all_threads = false;  // met without a count, or with one: what came first
    bool mixed = false;
    bool counted = false;          // `generation` is met with a count
    std::vector<Event> uncounted;  // its arrivals without one
    std::vector<Point> arrived;    // in `generation`
    std::vector<Point> before;     // in the one before
    Event last{};
  };

  Object name(const Event& event) const { return naming().named_barrier(event.cta, event.address); }

  void on_named_fault(const Event& event) {
    switch (event.fault) {
      case Fault::kOutOfRange:
        reporter().report("NAMED_BARRIER_ID", event, name(event), "ids are 0 to 15");
        break;
      case Fault::kBadCount:
        reporter().report("NAMED_BARRIER_COUNT",
                          event,
                          name(event),
                          std::to_string(event.as<payload::NamedBarrier>().threads) +
                              " threads: not a multiple of 32, none, or more than the CTA has");
        break;
      case Fault::kCountMismatch:
        reporter().report("NAMED_BARRIER_COUNT_MISMATCH",
                          event,
                          name(event),
                          "met with another thread count than the " +
                              std::to_string(event.as<payload::NamedBarrier>().threads) +
                              " of this generation's first arrival");
        break;
      case Fault::kNotWholeWarp:
        reporter().report("NAMED_BARRIER_DIVERGENT_ALIGNED",
                          event,
                          name(event),
                          std::string{name_of(event.op)} + " by " + std::to_string(event.lanes) +
                              " lanes of the warp");
        break;
      default:
        break;
    }
  }

  void on_arrival(const Event& event) {
    Barrier& barrier = barriers_[{event.cta, event.address}];
    if (barrier.arrived.empty() && barrier.before.empty()) {
      barrier.all_threads = event.as<payload::NamedBarrier>().of_all;
    }
    if ((event.flags & event_flag::kArrivedBefore) != 0) {
      reporter().report("NAMED_BARRIER_DOUBLE_ARRIVE",
                        event,
                        name(event),
                        "the warp has already come to this generation");
    }
    check_zero(event, barrier);
    if (barrier.complete || event.phase != barrier.generation) {
      barrier.before = std::move(barrier.arrived);
      barrier.arrived.clear();
      barrier.generation = event.phase;
    }
    check_group(event, barrier);
    check_counts(event, barrier);
    barrier.arrived.push_back(order_.here(event));
    barrier.complete = (event.flags & event_flag::kPhaseCompleted) != 0;
    barrier.last = event;
  }

  // Without a count all threads of the CTA that live are meant. Beside a count in one generation
  // that is right only where the count is the whole CTA's, and nobody can have ended.
  void check_counts(const Event& event, Barrier& barrier) {
    if (barrier.arrived.empty()) {
      barrier.counted = false;
      barrier.uncounted.clear();
    }
    if (!event.as<payload::NamedBarrier>().of_all) {
      barrier.counted = true;
    } else {
      barrier.uncounted.push_back(event);
    }
    if (!barrier.counted || barrier.uncounted.empty()) {
      return;
    }
    Cta& cta = ctas_[event.cta];
    const bool whole =
        event.as<payload::NamedBarrier>().threads == naming().config().warps_per_cta * kWarpLanes;
    if (!whole || cta.ended != 0) {
      report_counts(event);
      return;
    }
    for (const Event& uncounted : barrier.uncounted) {
      cta.mixed.emplace_back(uncounted, order_.now(uncounted.warp));
    }
    barrier.uncounted.clear();
  }

  void report_counts(const Event& event) {
    reporter().report("NAMED_BARRIER_COUNT_MISMATCH",
                      event,
                      name(event),
                      "one generation is met without a count, which means all threads that live, "
                      "and with a count of " +
                          std::to_string(event.as<payload::NamedBarrier>().threads));
  }

  // A warp that may end before another comes without a count is not among those it means.
  void on_warp_exit(const Event& event) {
    Cta& cta = ctas_[event.cta];
    ++cta.ended;
    for (const auto& [uncounted, time] : cta.mixed) {
      if (!order_.after(event.warp, uncounted.warp, time)) {
        report_counts(uncounted);
      }
    }
    if (cta.ended == naming().config().warps_per_cta) {
      ctas_.erase(event.cta);
    }
  }

  // Id 0 is __syncthreads.
  void check_zero(const Event& event, Barrier& barrier) {
    if (event.address == 0 && event.as<payload::NamedBarrier>().of_all != barrier.all_threads &&
        !barrier.mixed) {
      barrier.mixed = true;
      reporter().report("NAMED_BARRIER_ZERO_CONFLICT",
                        event,
                        name(event),
                        "id 0 is met with a thread count, and without one as __syncthreads does",
                        {"use another id for a part of the CTA"});
    }
  }

  // Who was not in the generation before comes to the next one, not to that one too early.
  void check_group(const Event& event, const Barrier& barrier) {
    bool member = barrier.before.empty();
    for (const Point& arrival : barrier.before) {
      member = member || order_.after(event.warp, arrival);
    }
    if (!member) {
      reporter().report("NAMED_BARRIER_OVERSUBSCRIBED",
                        event,
                        name(event),
                        naming().warp(event.warp) +
                            " was not in the generation before, and nothing orders it after that: "
                            "it might have come to it, in another warp's place",
                        {"two groups of warps share an id; give each its own"});
    }
  }

  void on_cluster_fault(const Event& event) {
    const std::string generation = "generation " + std::to_string(event.phase);
    if (event.fault == Fault::kDoubleArrive) {
      reporter().report("CLUSTER_BARRIER_DOUBLE_ARRIVE",
                        event,
                        Object::cluster_barrier(),
                        "the warp has already arrived in " + generation);
    } else if (event.fault == Fault::kNoArrive) {
      reporter().report("CLUSTER_BARRIER_WAIT_NO_ARRIVE",
                        event,
                        Object::cluster_barrier(),
                        "the warp waits in " + generation + " without having arrived");
    } else if (event.fault == Fault::kNotWholeWarp) {
      reporter().report("CLUSTER_BARRIER_PARTIAL_WARP",
                        event,
                        Object::cluster_barrier(),
                        std::string{name_of(event.op)} + " by " + std::to_string(event.lanes) +
                            " lanes of the warp");
    }
  }

  void on_exit(const Event& exit) {
    for (auto barrier = barriers_.lower_bound({exit.cta, 0});
         barrier != barriers_.end() && barrier->first.first == exit.cta;
         barrier = barriers_.erase(barrier)) {
      const Event& last = barrier->second.last;
      if (!barrier->second.complete && !barrier->second.arrived.empty()) {
        Event at = last;
        at.time = exit.time;
        reporter().report("NAMED_BARRIER_PENDING_AT_EXIT",
                          at,
                          name(last),
                          "the CTA ends with " + std::to_string(barrier->second.arrived.size()) +
                              " warps in an unfinished generation");
      }
    }
  }

  Order& order_;
  struct Cta {
    std::uint32_t ended = 0;                             // warps
    std::vector<std::pair<Event, std::uint32_t>> mixed;  // arrivals without a count beside counted
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Barrier> barriers_;  // by CTA and id
  std::map<std::uint32_t, Cta> ctas_;
};

}  // namespace

std::unique_ptr<Detector> make_named_barriers(Reporter& reporter, Order& order) {
  return std::make_unique<NamedBarriersDetector>(reporter, order);
}

}  // namespace warptwin::sim
