/// A CTA outlives everything that still touches its shared memory, its barriers and its tensor
/// memory.

#include <algorithm>
#include <deque>
#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class ExitLifeDetector : public Detector {
 public:
  ExitLifeDetector(Reporter& reporter, Order&)
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
                  Op::kWarpExit}} {}

  void on_event(const Event& event) override {
    if (event.op == Op::kCtaExit) {
      on_exit(event);
      return;
    }
    if (event.op == Op::kTensorStore || event.op == Op::kBulkStore) {
      if (event.step == Step::kIssued) {
        stores_[event.warp] = event;
      }
      return;
    }
    if (event.op == Op::kBulkWaitGroup || event.op == Op::kWarpExit) {
      on_store_wait(event);
      return;
    }
    if (event.fault == Fault::kExitedCta) {
      if (event.step == Step::kDone) {
        reporter().report("REMOTE_TO_EXITED_CTA",
                          event,
                          "cta " + std::to_string(event.cta),
                          std::string{name_of(event.op)} + " on a CTA that has ended");
      }
      return;
    }
    if (event.serial == 0) {
      return;
    }
    if (event.step == Step::kIssued) {
      const auto at = place_of(event.serial);
      if (at == pending_.end() || at->issued.serial != event.serial) {
        pending_.insert(at, {event, static_cast<std::uint32_t>(event.extra)});
      }
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
  struct Pending {
    Event issued;
    std::uint32_t mask = 0;  // ranks a multicast commit still has to reach
    bool over = false;
  };

  // Where the operation of this number stands, or would: at the end, as a rule.
  std::deque<Pending>::iterator place_of(std::uint32_t serial) {
    if (pending_.empty() || pending_.back().issued.serial < serial) {
      return pending_.end();
    }
    return std::lower_bound(
        pending_.begin(), pending_.end(), serial, [](const Pending& one, std::uint32_t wanted) {
          return one.issued.serial < wanted;
        });
  }

  Pending* find(std::uint32_t serial) {
    const auto found = place_of(serial);
    return found == pending_.end() || found->issued.serial != serial || found->over ? nullptr
                                                                                    : &*found;
  }

  void end(Pending& pending) {
    pending.over = true;
    while (!pending_.empty() && pending_.front().over) {
      pending_.pop_front();
    }
  }

  // Only the thread that stored can wait for its stores: what it has not waited for when it ends,
  // nobody
  // has, in any schedule.
  void on_store_wait(const Event& event) {
    const auto last = stores_.find(event.warp);
    if (last == stores_.end()) {
      return;
    }
    if (event.op == Op::kWarpExit) {
      Event at = last->second;
      at.time = event.time;
      reporter().report("BULK_STORE_PENDING_AT_EXIT",
                        at,
                        "cta " + std::to_string(event.cta),
                        naming().warp(event.warp) + " ends without having waited for its " +
                            std::string{name_of(at.op)},
                        {"missing: cp.async.bulk.wait_group.read before the warp ends"});
    }
    if (event.op == Op::kWarpExit || last->second.count < event.phase) {
      stores_.erase(last);
    }
  }

  std::uint32_t rank_of(std::uint32_t cta) const { return cta % naming().config().cluster_size; }

  void on_signal(const Event& event) {
    Pending* pending = find(event.serial);
    if (pending == nullptr) {
      return;
    }
    pending->mask &= ~(1U << rank_of(event.cta));
    if (pending->mask == 0 || event.op != Op::kTcgen05Commit) {
      end(*pending);
    }
  }

  // Whether a pending operation still touches a CTA.
  bool touches(const Pending& pending, std::uint32_t cta) const {
    const Event& event = pending.issued;
    if (event.op == Op::kTcgen05Commit && event.extra != 0) {
      return naming().cluster_of_cta(event.cta) == naming().cluster_of_cta(cta) &&
             (pending.mask >> rank_of(cta) & 1U) != 0;
    }
    if (event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp) {
      const bool pair = (event.flags & event_flag::kPair) != 0;
      return pair ? event.cta / 2 == cta / 2 : event.cta == cta;  // `peer` may be an A in tmem
    }
    const bool source = event.op == Op::kBulkLoad &&
                        (event.flags & event_flag::kSharedSource) != 0 &&
                        naming().cta_of_warp(event.warp) == cta;
    return source || event.cta == cta || (event.peer != 0 && event.peer_cta == cta);
  }

  void on_exit(const Event& event) {
    for (const Pending& pending : pending_) {
      if (!pending.over && touches(pending, event.cta)) {
        judge(event, pending.issued);
      }
    }
  }

  void judge(const Event& exit, const Event& issued) {
    const std::string object = "cta " + std::to_string(exit.cta);
    const bool remote = naming().cta_of_warp(issued.warp) != exit.cta;
    const std::string what = std::string{name_of(issued.op)} + " of " + naming().warp(issued.warp);
    Event at = issued;
    at.time = exit.time;
    if (remote) {
      reporter().report(
          "CTA_EXIT_WITH_PENDING_REMOTE",
          at,
          object,
          "ends while " + what + " is on its way to it",
          {"missing: a wait for it, or a cluster barrier, before the CTA's last warp ends"});
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
                                barrier_name(issued) + " counts write its shared memory");
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

  std::deque<Pending> pending_;            // by serial
  std::map<std::uint32_t, Event> stores_;  // the last store of a warp, until it is waited for
};

}  // namespace

std::unique_ptr<Detector> make_exit_life(Reporter& reporter, Order& order) {
  return std::make_unique<ExitLifeDetector>(reporter, order);
}

}  // namespace warptwin::sim
