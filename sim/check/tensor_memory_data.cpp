#include "sim/check/tensor_memory_data.hpp"

#include <bitset>
#include <unordered_map>

namespace warptwin::sim {

namespace {

class Impl : public Detector {
 public:
  Impl(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kCtaExit,
                  Op::kFragmentRead,
                  Op::kSharedStore,
                  Op::kTcgen05Alloc,
                  Op::kTcgen05Ld,
                  Op::kTcgen05Mma,
                  Op::kTcgen05St,
                  Op::kTcgen05WaitLd}},
        order_{order} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kSharedStore:
      case Op::kFragmentRead:
        if (event.fault == Fault::kUnsettled) {
          reporter().report("TMEM_LD_NO_WAIT",
                            event,
                            "the registers it stores",
                            "used before tcgen05.wait::ld: they may not have arrived",
                            {"missing: tcgen05.wait::ld of this warp between the load and this"});
        }
        break;
      case Op::kTcgen05Ld:
        if (event.step == Step::kIssued && event.fault == Fault::kNone) {
          on_load(event);
        }
        break;
      case Op::kTcgen05St:
        if (event.step == Step::kIssued && event.fault == Fault::kNone) {
          const std::uint32_t begin = TmemAddress{event.address}.column();
          set_written(ctas_[event.cta], begin, begin + event.count, true);
        }
        break;
      case Op::kTcgen05Alloc:
        if (event.fault == Fault::kNone || event.fault == Fault::kGrows) {
          set_written(ctas_[event.cta], event.peer, event.peer + event.count, false);
        }
        break;
      case Op::kTcgen05WaitLd:
        settle(event);
        break;
      case Op::kTcgen05Mma:
        if (event.step == Step::kIssued && event.fault == Fault::kNone) {
          on_mma(event);
        }
        break;
      case Op::kCtaExit:
        ctas_.erase(event.cta);
        break;
      default:
        break;
    }
  }

 private:
  struct Load {
    std::uint32_t warp;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t settled_at;  // operation count of its wait::ld; 0: not yet
    SourceSite site;
  };
  struct Write {
    std::uint32_t warp;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t number;  // of the issuing warp's MMAs
    SourceSite site;
  };
  struct CtaState {
    std::vector<Load> loads;
    std::vector<Write> writes;
    std::bitset<kTmemColumns> written;  // since they were allocated
  };

  std::string columns(const Event& event, std::uint32_t begin, std::uint32_t end) const {
    return "tensor memory columns " + std::to_string(begin) + ".." + std::to_string(end - 1) +
           " of cta " + std::to_string(event.cta);
  }

  static bool all_written(const CtaState& cta, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t column = begin; column < end; ++column) {
      if (!cta.written[column]) {
        return false;
      }
    }
    return true;
  }
  static void set_written(CtaState& cta, std::uint32_t begin, std::uint32_t end, bool value) {
    for (std::uint32_t column = begin; column < end && column < kTmemColumns; ++column) {
      cta.written[column] = value;
    }
  }

  void report_unfenced(const Event& event,
                       const std::string& object,
                       const std::string& what,
                       const char* mend) {
    reporter().report("TMEM_FENCE_MISSING",
                      event,
                      object,
                      what + ", ordered by a barrier but by no tcgen05 fence",
                      {mend});
  }

  void on_load(const Event& event) {
    CtaState& cta = ctas_[event.cta];
    const std::uint32_t begin = TmemAddress{event.address}.column();
    const std::uint32_t end = begin + event.count;
    if (!all_written(cta, begin, end)) {
      reporter().report("TMEM_UNINIT_READ",
                        event,
                        columns(event, begin, end),
                        "loaded, and not all of them have been written since their allocation");
    }
    for (const Write& write : cta.writes) {
      if (write.begin < end && begin < write.end &&
          order_.tensor_complete(write.warp, event.warp) < write.number) {
        reporter().report("TMEM_READ_BEFORE_COMMIT",
                          event,
                          columns(event, begin, end),
                          "loaded although the MMAs of " + naming().warp(write.warp) + " at " +
                              naming().site(write.site) + " were not observed to be complete",
                          {"missing: their tcgen05.commit to a barrier that this warp waits for"});
        break;
      }
      if (write.begin < end && begin < write.end && write.warp != event.warp &&
          order_.tensor_complete_at_fence(write.warp, event.warp) < write.number) {
        report_unfenced(event,
                        columns(event, begin, end),
                        "loaded after the MMAs of " + naming().warp(write.warp) + " at " +
                            naming().site(write.site),
                        "missing: tcgen05.fence::after_thread_sync after the wait");
        break;
      }
    }
    cta.loads.push_back({event.warp, begin, end, 0, event.site});
  }

  void settle(const Event& event) {
    for (Load& load : ctas_[event.cta].loads) {
      if (load.warp == event.warp && load.settled_at == 0) {
        load.settled_at = order_.now(event.warp);
      }
    }
  }

  void on_mma(const Event& event) {
    CtaState& cta = ctas_[event.cta];
    const std::uint32_t begin = TmemAddress{event.address}.column();
    const std::uint32_t end = begin + event.count;
    if ((event.flags & event_flag::kAccumulate) != 0 && !all_written(cta, begin, end)) {
      reporter().report("TMEM_UNINIT_ACC",
                        event,
                        columns(event, begin, end),
                        "accumulated on, and not all of them have been written before");
    }
    set_written(cta, begin, end, true);
    if ((event.flags & event_flag::kPair) != 0) {
      set_written(ctas_[event.cta ^ 1U], begin, end, true);  // the other half of D
    }
    std::erase_if(cta.loads, [&](const Load& load) {
      if (load.end <= begin || end <= load.begin) {
        return false;
      }
      const bool ordered =
          load.settled_at != 0 && order_.ordered(load.warp, load.settled_at, event.warp);
      if (!ordered) {
        reporter().report(
            "TMEM_WAR",
            event,
            columns(event, load.begin, load.end),
            "overwritten although the load by " + naming().warp(load.warp) + " at " +
                naming().site(load.site) +
                (load.settled_at == 0 ? " has not been waited for" : " is not ordered before"),
            {"missing: tcgen05.wait::ld before the arrival that frees the accumulator"});
      }
      if (ordered && load.warp != event.warp &&
          !order_.tensor_fenced(load.warp, load.settled_at, event.warp)) {
        report_unfenced(event,
                        columns(event, load.begin, load.end),
                        "overwritten after the load by " + naming().warp(load.warp) + " at " +
                            naming().site(load.site),
                        "missing: tcgen05.fence::before_thread_sync before its arrival, or "
                        "::after_thread_sync after the wait for it");
      }
      return true;  // a later write is ordered after this one
    });
    std::erase_if(cta.writes,
                  [&](const Write& write) { return begin <= write.begin && write.end <= end; });
    cta.writes.push_back({event.warp, begin, end, order_.tensor_issued(event.warp), event.site});
  }

  Order& order_;
  std::unordered_map<std::uint32_t, CtaState> ctas_;
};

}  // namespace

std::unique_ptr<Detector> make_tensor_memory_data(Reporter& reporter, Order& order) {
  return std::make_unique<Impl>(reporter, order);
}

}  // namespace warptwin::sim
