/// A CTA outlives everything that still touches its shared memory, its barriers and its tensor
/// memory.

#include <algorithm>
#include <map>
#include <vector>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class ExitLifeDetector : public Detector {
 public:
  ExitLifeDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kClcTryCancel,
                  Op::kBulkStore,
                  Op::kBulkWaitGroup,
                  Op::kCtaExit,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx,
                  Op::kMbarrierExpectTx,
                  Op::kSharedLoad,
                  Op::kSharedStore,
                  Op::kTcgen05Commit,
                  Op::kTcgen05Cp,
                  Op::kTcgen05Ld,
                  Op::kTcgen05Mma,
                  Op::kTcgen05St,
                  Op::kTensorLoad,
                  Op::kTensorStore,
                  Op::kWarpExit}},
        order_{order} {
    narrow({Op::kBulkStore, Op::kTensorStore}, {Step::kIssued});
    narrow({Op::kMbarrierArrive, Op::kMbarrierCompleteTx, Op::kMbarrierExpectTx},
           {Step::kIssued, Step::kWritten, Step::kSignalled});
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kCtaExit) {
      on_exit(event);
      return;
    }
    if (event.op == Op::kTensorStore || event.op == Op::kBulkStore) {
      if (event.step == Step::kIssued) {
        stores_[{event.warp, event.lane}] = event;
      }
      return;
    }
    if (event.op == Op::kBulkWaitGroup || event.op == Op::kWarpExit) {
      on_store_wait(event);
      if (event.op == Op::kWarpExit) {
        on_warp_exit(event);
      }
      return;
    }
    if (event.fault == Fault::kExitedCta) {
      if (event.step == Step::kDone) {
        reporter().report("REMOTE_TO_EXITED_CTA",
                          event,
                          Object::cta_of(event.cta),
                          std::string{name_of(event.op)} + " on a CTA that has ended");
      }
      return;
    }
    if (event.op == Op::kSharedLoad || event.op == Op::kSharedStore) {
      on_access(event);
      return;
    }
    if (event.serial == 0) {
      return;
    }
    if (event.step == Step::kIssued) {
      begin(event);
    } else if (event.step == Step::kWritten ||
               (event.op == Op::kTcgen05Ld && event.step == Step::kRead)) {
      if (Pending* pending = find(event.serial)) {
        end(*pending);
      }
    } else if (event.step == Step::kSignalled) {
      on_signal(event);
    }
  }

 private:
  /// By a warp, of another CTA's shared memory.
  struct RemoteAccess {
    Event event;
    std::uint32_t time = 0;     // of its warp
    std::uint32_t unknown = 0;  // its lanes of which no warp of the CTA that has ended knows
  };
  struct Pending {
    std::uint32_t serial = 0;  // 0: of an operation that is none of these
    Op op = Op::kCount;
    bool over = true;
    std::uint32_t flags = 0;
    std::uint32_t warp = 0;
    std::uint32_t cta = 0;
    std::uint32_t address = 0;
    std::uint32_t barrier = 0;  // of a load
    std::uint32_t barrier_cta = 0;
    std::uint32_t mask = 0;  // ranks a multicast commit still has to reach
    bool multicast = false;
    SourceSite site{};
  };

  static Pending pending_of(const Event& issued) {
    Pending pending;
    pending.serial = issued.serial;
    pending.over = false;
    pending.op = issued.op;
    pending.flags = issued.flags;
    pending.warp = issued.warp;
    pending.cta = issued.cta;
    pending.address = issued.address;
    if (is_load(issued.op)) {
      pending.barrier = issued.signal().barrier;
      pending.barrier_cta = issued.signal().barrier_cta;
    } else if (issued.op == Op::kTcgen05Commit) {
      pending.mask = issued.as<payload::Mbarrier>().mask;
      pending.multicast = pending.mask != 0;
    }
    pending.site = issued.site;
    return pending;
  }

  // Numbers are given out one after the other, and most of them here.
  void begin(const Event& issued) {
    if (pending_.empty()) {
      first_ = issued.serial;
    } else if (issued.serial < first_) {
      pending_.insert(pending_.begin(), first_ - issued.serial, Pending{});
      first_ = issued.serial;
      over_ = 0;
    }
    const std::size_t place = issued.serial - first_;
    if (place >= pending_.size()) {
      pending_.resize(place + 1);
    }
    if (pending_[place].serial == 0) {
      pending_[place] = pending_of(issued);
    }
  }

  Pending* find(std::uint32_t serial) {
    const std::size_t place = serial - first_;
    return serial < first_ || place >= pending_.size() || pending_[place].over ? nullptr
                                                                               : &pending_[place];
  }

  // What is over before all that is not, is forgotten now and then.
  void end(Pending& pending) {
    constexpr std::size_t kOverMin = 32;
    pending.over = true;
    while (over_ < pending_.size() && pending_[over_].over) {
      ++over_;
    }
    if (over_ >= kOverMin && 2 * over_ >= pending_.size()) {
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(over_));
      first_ += static_cast<std::uint32_t>(over_);
      over_ = 0;
    }
  }

  // Only the thread that stored can wait for its stores: what it has not waited for when it ends,
  // nobody
  // has, in any schedule.
  void on_store_wait(const Event& event) {
    const bool exits = event.op == Op::kWarpExit;
    const auto first = stores_.lower_bound({event.warp, 0});
    const auto end = stores_.upper_bound({event.warp, kWarpLanes});
    if (first == end) {
      return;
    }
    if (exits) {
      Event at = first->second;
      at.time = event.time;
      reporter().report("BULK_STORE_PENDING_AT_EXIT",
                        at,
                        Object::cta_of(event.cta),
                        naming().warp(event.warp) + " ends without having waited for its " +
                            std::string{name_of(at.op)},
                        {mend("cp.async.bulk.wait_group.read before the warp ends")});
    }
    const std::uint32_t left = exits ? 0 : event.as<payload::BulkGroups>().group;
    for (auto store = first; store != end;) {
      const auto& [warp, lane] = store->first;
      const bool waited =
          (event.lane_mask() >> lane & 1U) != 0 && store->second.as<payload::Copy>().group < left;
      store = exits || waited ? stores_.erase(store) : std::next(store);
    }
  }

  void on_signal(const Event& event) {
    Pending* pending = find(event.serial);
    if (pending == nullptr) {
      return;
    }
    pending->mask &= ~(1U << naming().rank_of(event.cta));
    if (pending->mask == 0 || event.op != Op::kTcgen05Commit) {
      end(*pending);
    }
  }

  // Whether a pending operation still touches a CTA.
  bool touches(const Pending& pending, std::uint32_t cta) const {
    if (pending.multicast) {
      return naming().first_cta_of(pending.cta) == naming().first_cta_of(cta) &&
             (pending.mask >> naming().rank_of(cta) & 1U) != 0;
    }
    if (pending.op == Op::kTcgen05Mma || pending.op == Op::kTcgen05Cp) {
      const bool pair = (pending.flags & event_flag::kPair) != 0;
      return pair ? pending.cta / 2 == cta / 2 : pending.cta == cta;
    }
    const bool source = pending.op == Op::kBulkLoad &&
                        (pending.flags & event_flag::kSharedSource) != 0 &&
                        naming().cta_of_warp(pending.warp) == cta;
    return source || pending.cta == cta || (pending.barrier != 0 && pending.barrier_cta == cta);
  }

  // Of the lanes that access another CTA's shared memory the last access is enough.
  void on_access(const Event& event) {
    const bool counted = event.step == Step::kIssued || event.serial != 0;  // by an mbarrier
    if (counted || naming().cta_of_warp(event.warp) == event.cta) {
      return;
    }
    std::vector<RemoteAccess>& accesses = accesses_[event.cta];
    std::erase_if(accesses, [&](const RemoteAccess& before) {
      return before.event.warp == event.warp &&
             (before.event.lane_mask() & ~event.lane_mask()) == 0;
    });
    accesses.push_back({event, order_.now(event.warp), event.lane_mask()});
  }

  // The CTA ends behind what each of its warps knows at its end.
  void on_warp_exit(const Event& event) {
    const auto accesses = accesses_.find(event.cta);
    if (accesses == accesses_.end()) {
      return;
    }
    for (RemoteAccess& access : accesses->second) {
      for (std::uint32_t left = access.unknown; left != 0; left &= left - 1) {
        const std::uint32_t lane = left & ~(left - 1);
        if (order_.lanes_after({access.event.warp, access.time, lane}, event)) {
          access.unknown &= ~lane;
        }
      }
    }
  }

  void on_exit(const Event& event) {
    if (const auto accesses = accesses_.find(event.cta); accesses != accesses_.end()) {
      for (const RemoteAccess& access : accesses->second) {
        if (access.unknown != 0) {
          Event at = access.event;
          at.time = event.time;
          reporter().report("REMOTE_TO_EXITED_CTA",
                            at,
                            Object::cta_of(event.cta),
                            std::string{name_of(at.op)} + " is not ordered before its end",
                            {mend("a cluster barrier behind the last access, in both CTAs")});
        }
      }
      accesses_.erase(accesses);
    }
    for (const Pending& pending : pending_) {
      if (!pending.over && touches(pending, event.cta)) {
        judge(event, pending);
      }
    }
  }

  void judge(const Event& exit, const Pending& issued) {
    const Object object = Object::cta_of(exit.cta);
    const bool remote = naming().cta_of_warp(issued.warp) != exit.cta;
    const std::string what = std::string{name_of(issued.op)} + " of " + naming().warp(issued.warp);
    Event at;
    at.warp = issued.warp;
    at.site = issued.site;
    at.time = exit.time;
    if (remote) {
      reporter().report(
          "CTA_EXIT_WITH_PENDING_REMOTE",
          at,
          object,
          "ends while " + what + " is on its way to it",
          {mend("a wait for it, or a cluster barrier, before the CTA's last warp ends")});
      return;
    }
    switch (issued.op) {
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        reporter().report("ASYNC_PENDING_AT_EXIT",
                          at,
                          object,
                          "ends while " + what + " writes its shared memory");
        break;
      case Op::kMbarrierArrive:
      case Op::kMbarrierCompleteTx:
        if ((issued.flags & event_flag::kOfCopies) != 0) {
          reporter().report("ASYNC_PENDING_AT_EXIT",
                            at,
                            object,
                            "ends while copies of " + naming().warp(issued.warp) + " that " +
                                text_of(naming().barrier(issued.cta, issued.address)) +
                                " counts write its shared memory");
        }
        break;
      case Op::kTcgen05Mma:
      case Op::kTcgen05Cp:
      case Op::kTcgen05Commit:
      case Op::kTcgen05Ld:
      case Op::kTcgen05St:
        reporter().report(
            "TCGEN05_UNFINISHED_AT_EXIT", at, object, "ends while " + what + " is outstanding");
        break;
      default:
        break;
    }
  }

  Order& order_;
  std::map<std::uint32_t, std::vector<RemoteAccess>>
      accesses_;                  // by CTA: those of other CTAs' warps
  std::vector<Pending> pending_;  // of serial `first_`, and those that follow it
  std::uint32_t first_ = 0;
  std::size_t over_ = 0;  // of them, from the first on
  /// By warp and lane: its last store, until it is waited for.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Event> stores_;
};

}  // namespace

std::unique_ptr<Detector> make_exit_life(Reporter& reporter, Order& order) {
  return std::make_unique<ExitLifeDetector>(reporter, order);
}

}  // namespace warptwin::sim
