/// Tensor memory is allocated, used and freed by the rules: by whole warps, in order, all of it.

#include <algorithm>
#include <map>
#include <vector>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class TensorMemoryLifeDetector : public Detector {
 public:
  TensorMemoryLifeDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kCtaExit,
                  Op::kSharedLoad,
                  Op::kTcgen05Alloc,
                  Op::kTcgen05Cp,
                  Op::kTcgen05Dealloc,
                  Op::kTcgen05Ld,
                  Op::kTcgen05Mma,
                  Op::kTcgen05Relinquish,
                  Op::kTcgen05St,
                  Op::kTcgen05WaitLd,
                  Op::kTcgen05WaitSt}},
        order_{order} {
    narrow({Op::kTcgen05Ld, Op::kTcgen05St}, {Step::kIssued});
    narrow({Op::kTcgen05Cp, Op::kTcgen05Mma, Op::kTcgen05WaitLd, Op::kTcgen05WaitSt}, {});
  }

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kTcgen05Alloc:
        if (event.step == Step::kDone) {
          on_alloc(event);
        }
        break;
      case Op::kTcgen05Dealloc:
        on_free(event);
        break;
      case Op::kTcgen05Relinquish:
        on_relinquish(event);
        break;
      case Op::kTcgen05Mma:
      case Op::kTcgen05Cp:
      case Op::kTcgen05Ld:
      case Op::kTcgen05St:
      case Op::kTcgen05WaitLd:
      case Op::kTcgen05WaitSt:
        on_use(event);
        break;
      case Op::kSharedLoad:
        on_address_read(event);
        break;
      case Op::kCtaExit:
        on_exit(event);
        break;
      default:
        break;
    }
  }

 private:
  struct Allocation {
    std::uint32_t columns;
    std::uint32_t warp;
    std::uint32_t time;
    std::uint32_t word;
    SourceSite site;
  };
  struct CtaState {
    std::map<std::uint32_t, Allocation> live;  // by base column
    std::uint32_t allocator = ~0U;
    std::vector<Allocation> made;  // by each warp its last, freed since or not
  };

  static Object place(const Event& event, std::uint32_t base, std::uint32_t count) {
    return {
        ObjectKind::kTensorMemory,
        "tensor memory columns " + std::to_string(base) + ".." + std::to_string(base + count - 1),
        event.cta,
        base};
  }

  void on_alloc(const Event& event) {
    const Object object = Object::tensor_memory(event.cta);
    const auto& said = event.as<payload::TmemAllocation>();
    const std::string asked = std::to_string(said.columns) + " columns";
    if (event.fault == Fault::kNotWholeWarp) {
      reporter().report("TMEM_ALLOC_NOT_CONVERGED",
                        event,
                        object,
                        "allocated by " + std::to_string(event.lanes) + " lanes");
    } else if (event.fault == Fault::kBadCount) {
      reporter().report(
          "TMEM_ALLOC_NCOLS", event, object, asked + "; legal are 32, 64, 128, 256 and 512");
    } else if (event.fault == Fault::kAfterRelinquish) {
      reporter().report(
          "TMEM_ALLOC_AFTER_RELINQUISH", event, object, asked + " after relinquish_alloc_permit");
    } else if (event.fault == Fault::kGrows) {
      reporter().report(
          "TMEM_ALLOC_GROWS", event, object, asked + ", more than an earlier allocation");
    }
    CtaState& cta = ctas_[event.cta];
    if (cta.allocator != ~0U && cta.allocator != event.warp) {
      reporter().report("TMEM_ALLOC_CONCURRENT",
                        event,
                        object,
                        naming().warp(cta.allocator) + " has allocated before");
    }
    cta.allocator = event.warp;
    check_peer(event);
    if (event.fault == Fault::kNone || event.fault == Fault::kGrows) {
      const Allocation made{
          said.columns, event.warp, order_.now(event.warp), event.address, event.site};
      cta.live[said.base] = made;
      std::erase_if(cta.made, [&](const Allocation& one) { return one.warp == event.warp; });
      cta.made.push_back(made);
    }
  }

  // An allocation that comes after it is a fault of the run; one that may come after it is found
  // here.
  void on_relinquish(const Event& event) {
    for (const Allocation& made : ctas_[event.cta].made) {
      if (!order_.after(event.warp, made.warp, made.time)) {
        reporter().report("TMEM_ALLOC_AFTER_RELINQUISH",
                          event,
                          Object::tensor_memory(event.cta),
                          "the permit is given up in no order with the tcgen05.alloc of " +
                              naming().warp(made.warp) + " at " + naming().site(made.site),
                          {mend("a barrier between the allocation and relinquish_alloc_permit, "
                                "or both by one warp")});
      }
    }
  }

  // The CTAs of a pair allocate together, and the same.
  void check_peer(const Event& event) {
    if ((event.flags & event_flag::kPair) == 0) {
      return;
    }
    const auto [known, added] = paired_.try_emplace(event.cta / 2, event);
    if (added) {
      return;
    }
    const Event first = known->second;
    paired_.erase(known);
    const std::uint32_t asked = event.as<payload::TmemAllocation>().columns;
    const std::uint32_t before = first.as<payload::TmemAllocation>().columns;
    if (first.cta != event.cta && (before != asked || first.address != event.address)) {
      reporter().report(
          "TMEM_ALLOC_PEER_MISMATCH",
          event,
          Object{ObjectKind::kTensorMemory,
                 "tensor memory of ctas " + std::to_string(event.cta & ~1U) + " and " +
                     std::to_string(event.cta | 1U)},
          asked != before
              ? std::to_string(asked) + " columns; the peer asked for " + std::to_string(before)
              : "the address goes to shared+" + std::to_string(event.address) +
                    "; that of the peer to shared+" + std::to_string(first.address));
    }
  }

  void on_free(const Event& event) {
    const std::uint32_t base = TmemAddress{event.address}.column();
    const Object object = place(event, base, event.as<payload::TmemRegion>().columns);
    CtaState& cta = ctas_[event.cta];
    if (event.fault == Fault::kFreed) {
      reporter().report("TMEM_DOUBLE_FREE", event, object, "freed before");
    } else if (event.fault == Fault::kWrongAllocation) {
      reporter().report("TMEM_DEALLOC_MISMATCH", event, object, "no allocation is exactly this");
    } else if (event.fault == Fault::kNotWholeWarp) {
      reporter().report("TMEM_ALLOC_NOT_CONVERGED",
                        event,
                        object,
                        "freed by " + std::to_string(event.lanes) + " lanes");
    }
    if (event.fault != Fault::kNone) {
      return;
    }
    cta.live.erase(base);
  }

  static std::uint32_t columns_of(const Event& event) {
    switch (event.kind()) {
      case payload::Kind::kMma:
        return event.as<payload::Mma>().columns;
      case payload::Kind::kTmemCopy:
        return event.as<payload::TmemCopy>().columns;
      case payload::Kind::kTmemAccess:
        return event.as<payload::TmemAccess>().columns;
      default:
        return 0;
    }
  }

  void on_use(const Event& event) {
    const bool moves = event.op == Op::kTcgen05Ld || event.op == Op::kTcgen05St;
    const bool own_quarter =
        moves && event.step == Step::kIssued && (event.flags & event_flag::kOwnQuarter) != 0;
    if (event.fault == Fault::kNone && !own_quarter) {
      return;
    }
    const TmemAddress at{event.address};
    const Object object = place(event, at.column(), std::max(1U, columns_of(event)));
    if (own_quarter) {
      reporter().report("TMEM_LANE_OMITTED",
                        event,
                        object,
                        "its lane is one of the first 32, and the warp's are those from " +
                            std::to_string(at.lane() / kWarpLanes * kWarpLanes) +
                            " on: taken for these");
    }
    switch (event.fault) {
      case Fault::kOutOfRange:
        reporter().report("TMEM_OOB", event, object, "tensor memory has 512 columns");
        break;
      case Fault::kNotAllocated:
        reporter().report("TMEM_UNALLOCATED", event, object, "the CTA has not allocated them");
        break;
      case Fault::kFreed:
        reporter().report("TMEM_USE_AFTER_FREE", event, object, "they have been freed");
        break;
      case Fault::kLaneSlice:
        reporter().report("TMEM_LANE_VIOLATION",
                          event,
                          object,
                          "lanes from " + std::to_string(at.lane()) +
                              " on; the warp's are those of its rank modulo 4");
        break;
      case Fault::kNotWholeWarp:
        reporter().report("ALIGNED_DIVERGENCE",
                          event,
                          naming().warp_object(event.warp),
                          std::string{name_of(event.op)} + " by " + std::to_string(event.lanes) +
                              " lanes of the warp");
        break;
      case Fault::kBadShape:
        reporter().report("TCGEN05_SHAPE",
                          event,
                          object,
                          (event.flags & event_flag::kSparse) != 0
                              ? "no such MMA with sparse A: kind, M, major or sparsity selector"
                              : "no such MMA shape");
        break;
      case Fault::kBadDescriptor:
        reporter().report(
            "TCGEN05_SDESC",
            event,
            object,
            "a shared-memory descriptor is malformed or reaches beyond shared memory");
        break;
      default:
        break;
    }
  }

  void on_address_read(const Event& event) {
    const auto cta = ctas_.find(event.cta);
    if (cta == ctas_.end()) {
      return;
    }
    for (const auto& [base, allocation] : cta->second.live) {
      if (allocation.word == event.address &&
          !order_.after(event.warp, allocation.warp, allocation.time)) {
        reporter().report(
            "TMEM_ADDR_READ_EARLY",
            event,
            naming().barrier(event.cta, event.address),
            "read without order after the allocation by " + naming().warp(allocation.warp));
      }
    }
  }

  void on_exit(const Event& event) {
    const auto cta = ctas_.find(event.cta);
    if (cta == ctas_.end()) {
      return;
    }
    for (const auto& [base, allocation] : cta->second.live) {
      Event at = event;
      at.site = allocation.site;
      at.warp = allocation.warp;
      reporter().report("TMEM_LEAK",
                        at,
                        place(event, base, allocation.columns),
                        "still allocated when the CTA ends");
    }
    ctas_.erase(cta);
  }

  Order& order_;
  HashMap<std::uint32_t, CtaState> ctas_;
  HashMap<std::uint32_t, Event> paired_;  // by pair: an allocation, until the peer's
};

}  // namespace

std::unique_ptr<Detector> make_tensor_memory_life(Reporter& reporter, Order& order) {
  return std::make_unique<TensorMemoryLifeDetector>(reporter, order);
}

}  // namespace warptwin::sim
