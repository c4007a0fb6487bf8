/// The life of an mbarrier against its uses, as order: each use after the initialisation, each
/// invalidation after every use, each new initialisation after the invalidation. All of it by what
/// the warps know, so it holds in every interleaving; what is valid in the one run is barrier_life.

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

// A contribution to a phase: an arrival, an announcement, bytes.
struct Contribution {
  Op op = Op::kCount;  // kCount: none
  std::uint32_t time = 0;
  std::uint32_t mark = 0;  // of the phase that it acted in
  std::uint32_t serial = 0;
  bool relaxed = false;  // who knows of the phase knows nothing of it
  SourceSite site{};
};

// What lanes of a warp have done to an mbarrier last. Order is monotone: who is ordered after their
// last wait is ordered after all of them, and so it is with what they contributed at once; who
// knows that the phase of the last contribution on its way is complete knows it of the phases
// before.
struct Uses {
  std::uint32_t lanes = 0;
  std::uint32_t waited = 0;  // time of their last wait or try; 0: none
  SourceSite wait_site{};
  Contribution at_once;
  Contribution later;            // of those that were on their way, the last that acted
  std::uint32_t on_the_way = 0;  // copies, arrivals and commits that will act
  bool only_commits = true;      // what was on its way: commits to one CTA
};

// A commit that has arrived.
struct Arrived {
  std::uint32_t serial = 0;
  std::uint32_t cta = 0;
  std::uint32_t address = 0;
  std::uint32_t mark = 0;  // of the phase that it arrived in
};

// An initialisation, or an invalidation.
struct LifeChange {
  LanePoint at;
  SourceSite site{};
};

struct Tracked {
  std::optional<LifeChange> init;       // none: no mbarrier
  std::optional<LifeChange> inval;      // the last
  std::vector<std::uint32_t> known;     // by warp of the cluster: its lanes that are after the init
  std::vector<std::vector<Uses>> uses;  // by warp of the cluster
};

class BarrierOrderDetector : public Detector {
 public:
  BarrierOrderDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kClcTryCancel,
                  Op::kCtaExit,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx,
                  Op::kMbarrierExpectTx,
                  Op::kMbarrierInit,
                  Op::kMbarrierInval,
                  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,
                  Op::kTcgen05Commit,
                  Op::kTensorLoad,
                  Op::kWarpStart},
                 {Step::kBlocked}},
        order_{order} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kWarpStart:
        states_.start(naming().cluster_of_warp(event.warp));
        break;
      case Op::kMbarrierInit:
        on_init(event);
        break;
      case Op::kMbarrierInval:
        on_inval(event);
        break;
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        on_wait(event);
        break;
      case Op::kMbarrierArrive:
      case Op::kMbarrierExpectTx:
      case Op::kMbarrierCompleteTx:
        on_contribution(event, event.cta, event.address);
        break;
      case Op::kTcgen05Commit:
        on_commit(event);
        break;
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        on_contribution(event, event.signal().barrier_cta, event.signal().barrier);
        break;
      case Op::kCtaExit:
        on_exit(event);
        break;
      default:
        break;
    }
  }

  // A wait asks what the warp knows before it passes: afterwards it knows the phase it has seen,
  // and with that the initialisation.
  void on_look(const Event& event) override {
    if (event.op == Op::kMbarrierWait || event.op == Op::kMbarrierTryWait) {
      require_init(event, find(event.warp, event.cta, event.address), event.cta, event.address);
    }
  }
  void on_blocked(const Event& event) override { on_look(event); }

 private:
  struct State {
    HashMap<std::uint64_t, Tracked> objects;
    /// By warp and lane.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Arrived>> commits;
    std::uint32_t exited = 0;
  };
  static std::uint64_t key(std::uint32_t cta, std::uint32_t address) {
    return std::uint64_t{cta} << 32 | address;
  }
  // The object, in the cluster of the warp; null where there has been none.
  Tracked* find(std::uint32_t warp, std::uint32_t cta, std::uint32_t address) {
    State* state = states_.find(naming().cluster_of_warp(warp));
    if (state == nullptr) {
      return nullptr;
    }
    const auto found = state->objects.find(key(cta, address));
    return found == state->objects.end() ? nullptr : &found->second;
  }
  Uses& uses_of(Tracked& object, const Event& event) const {
    const Divisor& warps = naming().warps_of_cluster();
    object.uses.resize(warps);
    std::vector<Uses>& of_warp = object.uses[event.warp % warps];
    const std::uint32_t lanes = event.lane_mask();
    if (!of_warp.empty() && of_warp.front().lanes == lanes) {
      return of_warp.front();
    }
    const auto found = std::find_if(
        of_warp.begin(), of_warp.end(), [&](const Uses& uses) { return uses.lanes == lanes; });
    if (found != of_warp.end()) {
      return *found;
    }
    of_warp.emplace_back().lanes = lanes;
    return of_warp.back();
  }
  LifeChange change_of(const Event& event) const {
    return {{event.warp, order_.now(event.warp), event.lane_mask()}, event.site};
  }

  void on_wait(const Event& event) {
    Tracked* object = find(event.warp, event.cta, event.address);
    if (object == nullptr || event.fault != Fault::kNone ||
        (event.flags & event_flag::kLateLanes) != 0) {
      return;
    }
    Uses& uses = uses_of(*object, event);
    uses.waited = order_.now(event.warp);
    uses.wait_site = event.site;
  }

  void on_init(const Event& event) {
    State* state = states_.find(naming().cluster_of_warp(event.warp));
    if (state == nullptr || event.fault != Fault::kNone) {
      return;
    }
    Tracked& object = state->objects[key(event.cta, event.address)];
    if (object.inval && !order_.lanes_after(object.inval->at, event)) {
      reporter().report("MBAR_INIT_RACE",
                        event,
                        barrier_of(event),
                        "initialised again by " + naming().lanes_of(change_of(event).at) +
                            " in no order with the mbarrier.inval of " +
                            naming().lanes_of(object.inval->at) + " at " +
                            naming().site(object.inval->site),
                        {mend("a barrier between mbarrier.inval and the new mbarrier.init")});
    }
    object = Tracked{};
    object.init = change_of(event);
  }

  // Everything that has used the object has to be over, in every interleaving.
  void on_inval(const Event& event) {
    Tracked* object = find(event.warp, event.cta, event.address);
    if (object == nullptr || event.fault == Fault::kUninitialised) {
      return;
    }
    require_init(event, object, event.cta, event.address);
    const std::uint32_t first = event.warp - event.warp % naming().warps_of_cluster();
    bool over = true;  // the first that is not, is enough
    for (std::uint32_t i = 0; i < object->uses.size(); ++i) {
      for (const Uses& uses : object->uses[i]) {
        over = over && require_over(event, uses, first + i);
      }
    }
    object->init.reset();
    object->uses.clear();
    object->inval = change_of(event);
  }

  // What lanes did at `time` to the object itself is over behind a collective to which they came.
  bool is_behind(const Event& inval, const Uses& uses, std::uint32_t warp, std::uint32_t time) {
    const LanePoint point{warp, time, uses.lanes};
    return order_.lanes_after(point, inval) || order_.gathered_after(point, inval);
  }

  bool require_over(const Event& inval, const Uses& uses, std::uint32_t warp) {
    const bool waits = uses.waited != 0 && !is_behind(inval, uses, warp, uses.waited);
    const Contribution* open = open_contribution(inval, uses, warp);
    if (waits || open != nullptr) {
      reporter().report("MBAR_INVAL_IN_USE",
                        inval,
                        barrier_of(inval),
                        "invalidated in no order with the " +
                            std::string{waits ? "wait" : name_of(open->op)} + " of " +
                            naming().warp(warp) + " at " +
                            naming().site(waits ? uses.wait_site : open->site),
                        {mend("a barrier between that and mbarrier.inval")});
    }
    return !waits && open == nullptr;
  }

  // A contribution that the invalidating lanes do not know to be over; null where there is none.
  const Contribution* open_contribution(const Event& inval, const Uses& uses, std::uint32_t warp) {
    const auto seen = [&](const Contribution& one) {
      return order_.phase_seen(inval.cta, inval.address, one.mark, inval.warp);
    };
    if (uses.on_the_way != 0 ||
        (uses.later.op != Op::kCount && !seen(uses.later) && !seen_behind(inval, uses, warp))) {
      return &uses.later;
    }
    const Contribution& last = uses.at_once;
    const bool over = last.op == Op::kCount || is_behind(inval, uses, warp, last.time) ||
                      (!last.relaxed && seen(last));
    return over ? nullptr : &last;
  }

  // Whether a later commit by the thread is known to have arrived. Commits of a thread arrive in
  // the order of their issue, for tcgen05.commit is one of the instructions that are "inherently
  // ordered with respect to other tcgen05 operations" (PTX ISA, 9.7.16.6.1). One to several CTAs is
  // on its way to each of them by itself.
  bool seen_behind(const Event& inval, const Uses& uses, std::uint32_t warp) {
    State* state = states_.find(naming().cluster_of_warp(warp));
    if (state == nullptr || !uses.only_commits) {
      return false;
    }
    const auto found = state->commits.find({warp, uses.lanes});
    if (found == state->commits.end()) {
      return false;
    }
    const std::deque<Arrived>& commits = found->second;
    return std::any_of(commits.begin(), commits.end(), [&](const Arrived& one) {
      return one.serial > uses.later.serial &&
             order_.phase_seen(one.cta, one.address, one.mark, inval.warp);
    });
  }

  // An arrival or its like, on a barrier of `cta`: at once, or on its way and later there.
  void on_contribution(const Event& event, std::uint32_t cta, std::uint32_t address) {
    const bool issued = event.step == Step::kIssued;
    const bool there =
        event.step == Step::kSignalled || (event.step == Step::kWritten && is_load(event.op));
    const bool at_once = event.step == Step::kDone && !is_load(event.op);
    if (!issued && !there && !at_once) {
      return;
    }
    Tracked* object = find(event.warp, cta, address);
    if (!there) {
      require_init(event, object, cta, address);
    }
    if (object == nullptr || event.fault != Fault::kNone) {
      return;
    }
    Uses& uses = uses_of(*object, event);
    uses.on_the_way += issued ? 1 : 0;
    uses.on_the_way -= there && uses.on_the_way != 0 ? 1 : 0;
    uses.only_commits =
        uses.only_commits &&
        (at_once || (event.op == Op::kTcgen05Commit && event.as<payload::Mbarrier>().mask == 0));
    Contribution& last = at_once ? uses.at_once : uses.later;
    const std::uint32_t mark = issued ? 0 : order_.phase_mark(cta, address, event.phase);
    const bool relaxed =
        event.op == Op::kMbarrierArrive && event.ordering.semantics == Semantics::kRelaxed;
    last = {event.op,
            order_.now(event.warp),
            std::max(mark, last.mark),
            event.serial,
            relaxed || (at_once && last.relaxed),
            event.site};
  }

  void on_commit(const Event& event) {
    if (event.step != Step::kIssued) {
      on_contribution(event, event.cta, event.address);
      note_arrived(event);
      return;
    }
    const std::uint32_t first = naming().first_cta_of(naming().cta_of_warp(event.warp));
    const std::uint32_t named = event.as<payload::Mbarrier>().mask;
    std::uint32_t mask = named != 0 ? named : std::uint32_t{1} << (event.cta - first);
    for (; mask != 0; mask &= mask - 1) {
      on_contribution(
          event, first + static_cast<std::uint32_t>(std::countr_zero(mask)), event.address);
    }
  }

  // The last ones are enough: of those before them less is known than could be.
  void note_arrived(const Event& event) {
    constexpr std::size_t kKept = 64;
    State* state = states_.find(naming().cluster_of_warp(event.warp));
    if (state == nullptr || event.step != Step::kSignalled || event.fault != Fault::kNone) {
      return;
    }
    std::deque<Arrived>& commits = state->commits[{event.warp, event.lane_mask()}];
    commits.push_back({event.serial,
                       event.cta,
                       event.address,
                       order_.phase_mark(event.cta, event.address, event.phase)});
    if (commits.size() > kKept) {
      commits.pop_front();
    }
  }

  void require_init(const Event& event, Tracked* object, std::uint32_t cta, std::uint32_t address) {
    if (event.fault != Fault::kNone && event.fault != Fault::kInUse) {
      return;
    }
    if (object == nullptr || !object->init) {
      // It acts later, and may find an mbarrier then, or none.
      if (event.step == Step::kIssued) {
        reporter().report(
            "MBAR_UNINIT",
            event,
            naming().barrier(cta, address),
            std::string{name_of(event.op)} + " is issued where no mbarrier has been initialised",
            {mend("mbarrier.init, and a barrier after it, before this")});
      }
      return;
    }
    const LanePoint& init = object->init->at;
    const Divisor& warps = naming().warps_of_cluster();
    object->known.resize(warps);
    std::uint32_t& known = object->known[event.warp % warps];
    if ((event.lane_mask() & ~known) == 0) {
      return;
    }
    if (order_.init_ordered(init, event)) {
      known |= (event.flags & event_flag::kLateLanes) == 0 ? event.lane_mask() : 0;
      return;
    }
    const bool own = naming().cta_of_warp(event.warp) == cta;
    reporter().report(
        own ? "MBAR_INIT_RACE" : "MBAR_INIT_NOT_CLUSTER_VISIBLE",
        event,
        naming().barrier(cta, address),
        std::string{name_of(event.op)} + " is not ordered after the initialisation by " +
            naming().lanes_of(init),
        {init.warp == event.warp ? mend("sync_warp() between mbarrier.init by one lane and this")
         : own                   ? mend("a CTA or cluster barrier between mbarrier.init and this")
                                 : mend("fence.mbarrier_init and a cluster barrier between "
                                        "mbarrier.init and this")});
  }

  void on_exit(const Event& event) {
    const std::uint32_t cluster = naming().cluster_of_warp(event.warp);
    State* state = states_.find(cluster);
    if (state != nullptr && ++state->exited == naming().config().cluster_size) {
      states_.end(cluster);
    }
  }

  Order& order_;
  ByCluster<State> states_;
};

}  // namespace

std::unique_ptr<Detector> make_barrier_order(Reporter& reporter, Order& order) {
  return std::make_unique<BarrierOrderDetector>(reporter, order);
}

}  // namespace warptwin::sim
