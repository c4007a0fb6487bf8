/// Operations on another CTA come after it has started, and while it lives; those of a pair after
/// the peer is ready for them. Source: PTX ISA, "tcgen05", cta_group; CUDA C++ Programming Guide,
/// "Distributed Shared Memory".

#include <algorithm>
#include <bit>
#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class CtaStartDetector : public Detector {
 public:
  CtaStartDetector(Reporter& reporter, Order& order)
      : Detector{reporter, kIssued | kLanes | OpSet{Op::kClusterWait, Op::kTcgen05Alloc}},
        order_{order} {
    narrow(kIssued, kBegins);
    if (naming().config().cluster_size == 1) {  // nothing is in another CTA
      narrow(kIssued | kLanes, {});
    }
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kClusterWait) {
      first_waits_[first_cta(event)].try_emplace(event.warp, order_.now(event.warp));
      return;
    }
    if (event.op == Op::kTcgen05Alloc) {
      if (event.fault == Fault::kNone || event.fault == Fault::kGrows) {
        allocations_[event.cta] = order_.here(event);
      }
      return;
    }
    if (event.op == Op::kSharedLoad || event.op == Op::kSharedStore) {
      if ((event.flags & event_flag::kRemote) != 0 && event.fault == Fault::kNone) {
        on_remote(event, event.cta);
      }
      return;
    }
    const bool tensor = event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp;
    if (event.fault != Fault::kNone) {
      on_fault(event);
    } else if (event.step != Step::kIssued) {
      return;
    } else if (tensor && (event.flags & event_flag::kPair) != 0) {
      on_pair(event);
    } else if (event.op == Op::kTcgen05Commit) {
      for (std::uint32_t mask = event.as<payload::Mbarrier>().mask; mask != 0; mask &= mask - 1) {
        on_remote(event, first_cta(event) + static_cast<std::uint32_t>(std::countr_zero(mask)));
      }
    } else if (!tensor) {
      on_remote(event, event.cta);
    }
  }

 private:
  static constexpr OpSet kLanes{Op::kSharedLoad, Op::kSharedStore};
  static constexpr OpSet kIssued{Op::kBulkLoad,
                                 Op::kClcTryCancel,
                                 Op::kMbarrierArrive,
                                 Op::kMbarrierCompleteTx,
                                 Op::kMbarrierExpectTx,
                                 Op::kTcgen05Commit,
                                 Op::kTcgen05Cp,
                                 Op::kTcgen05Mma,
                                 Op::kTensorLoad};

  std::uint32_t first_cta(const Event& event) const {
    return naming().first_cta_of(naming().cta_of_warp(event.warp));
  }

  // Whether anything that a warp of the CTA has done is known to the warp, or that a cluster
  // barrier is over: all have come to it, even where their arrivals publish nothing.
  bool started(std::uint32_t cta, std::uint32_t observer) const {
    const auto waits = first_waits_.find(naming().first_cta_of(cta));
    if (waits != first_waits_.end() &&
        std::any_of(waits->second.begin(), waits->second.end(), [&](const auto& wait) {
          return order_.ordered(wait.first, wait.second, observer);
        })) {
      return true;
    }
    const std::uint32_t warps = naming().config().warps_per_cta;
    for (std::uint32_t warp = cta * warps; warp < (cta + 1) * warps; ++warp) {
      if (order_.ordered(warp, 1, observer)) {
        return true;
      }
    }
    return false;
  }

  void on_remote(const Event& event, std::uint32_t cta) {
    const std::uint64_t pair = std::uint64_t{event.warp} << 32 | cta;
    if (naming().cta_of_warp(event.warp) == cta || known_.count(pair) != 0) {
      return;
    }
    if (started(cta, event.warp)) {
      known_.insert(pair);
      return;
    }
    reporter().report("DSMEM_BEFORE_START",
                      event,
                      Object::cta_of(cta),
                      std::string{name_of(event.op)} + " is not ordered after its start",
                      {mend("a cluster barrier before the first operation on another CTA")});
  }

  // Whether the warp knows of the CTA's allocation.
  bool after_allocation(std::uint32_t cta, std::uint32_t observer) {
    const auto allocation = allocations_.find(cta);
    return allocation != allocations_.end() && order_.after(observer, allocation->second);
  }

  void on_pair(const Event& event) {
    const std::uint32_t own = naming().cta_of_warp(event.warp);
    const std::uint32_t peer = own ^ 1U;
    // Where a pair allocates together, what comes after either allocation comes after both.
    const bool together = naming().config().rules.pair_alloc == PairMeeting::kTogether &&
                          allocations_.count(peer) != 0 && after_allocation(own, event.warp);
    const bool allocated = together || after_allocation(peer, event.warp);
    if (!allocated) {
      reporter().report("TCGEN05_PEER_NOT_READY",
                        event,
                        Object::cta_of(peer),
                        std::string{name_of(event.op)} +
                            " of the pair is not ordered after the peer's allocation",
                        {mend("a cluster barrier after tcgen05.alloc in both CTAs")});
    }
  }

  void on_fault(const Event& event) {
    const bool tensor =
        event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp || event.op == Op::kTcgen05Commit;
    const bool pair = (event.flags & event_flag::kPair) != 0;
    if (event.fault == Fault::kExitedCta && tensor && pair && event.step == Step::kDone) {
      reporter().report("TCGEN05_PEER_EXITED",
                        event,
                        Object::cta_of(naming().cta_of_warp(event.warp) ^ 1U),
                        std::string{name_of(event.op)} + " of the pair, whose peer has ended");
    } else if (event.fault == Fault::kOutOfRange && (event.flags & event_flag::kRemote) != 0) {
      reporter().report(
          "MAPA_RANK_OOB",
          event,
          Object::other("cluster rank of " + std::string{name_of(event.op)}),
          "the cluster has " +
              std::to_string(naming().config().size_around(naming().cta_of_warp(event.warp))) +
              " CTAs, or the address lies outside shared memory");
    }
  }

  Order& order_;
  // By the cluster's first CTA: each warp's first wait at the cluster barrier, as its time.
  HashMap<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> first_waits_;
  HashMap<std::uint32_t, Point> allocations_;  // the last of a CTA
  HashSet<std::uint64_t> known_;               // (warp, CTA) pairs found to be in order
};

}  // namespace

std::unique_ptr<Detector> make_cta_start(Reporter& reporter, Order& order) {
  return std::make_unique<CtaStartDetector>(reporter, order);
}

}  // namespace warptwin::sim
