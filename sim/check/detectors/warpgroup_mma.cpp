/// wgmma by the four warps of a warpgroup alike, its registers fenced before it and left alone
/// until the wait, which comes before the warp's end. That its operands are left alone, too,
/// shared_data sees.
/// Source: PTX ISA, "wgmma.mma_async", "wgmma.fence", "wgmma.wait_group".

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class WarpgroupMmaDetector : public Detector {
 public:
  WarpgroupMmaDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kFragmentRead,
                  Op::kGlobalStore,
                  Op::kSharedStore,
                  Op::kWarpExit,
                  Op::kWgmma,
                  Op::kWgmmaCommit,
                  Op::kWgmmaFence,
                  Op::kWgmmaWait}} {
    narrow({Op::kFragmentRead, Op::kGlobalStore, Op::kSharedStore}, {});
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kWgmma && event.step == Step::kIssued) {
      last_[event.warp] = event.site;
      open_[event.warp] = {event.as<payload::Wgmma>().number, event.site};
    } else if (event.op == Op::kWgmmaWait && event.step == Step::kDone) {
      const auto open = open_.find(event.warp);
      if (open != open_.end() && open->second.number < event.as<payload::WgmmaGroups>().wgmmas) {
        open_.erase(open);
      }
    } else if (event.op == Op::kWarpExit) {
      on_exit(event);
    }
    switch (event.fault) {
      case Fault::kUnwaited:
        report_early(event);
        break;
      case Fault::kNoFence:
        reporter().report("WGMMA_FENCE_MISSING",
                          event,
                          Object::other("accumulator of " + naming().warp(event.warp)),
                          "no wgmma.fence of the warp since its registers were touched",
                          {mend("wgmma.fence before the first wgmma that works on them")});
        break;
      case Fault::kNotWarpgroup:
        report_alone(event);
        break;
      case Fault::kNotWholeWarp:
        if (event.op != Op::kSharedStore && event.op != Op::kGlobalStore) {
          reporter().report("WGMMA_NOT_WARPGROUP",
                            event,
                            naming().warp_object(event.warp),
                            std::string{name_of(event.op)} + " by " + std::to_string(event.lanes) +
                                " lanes of the warp");
        }
        break;
      case Fault::kBadShape:
        if (event.op == Op::kWgmma) {
          reporter().report(
              "TCGEN05_SHAPE", event, Object::other("D of the wgmma"), "no such shape of wgmma");
        }
        break;
      case Fault::kBadDescriptor:
        reporter().report(
            "TCGEN05_SDESC",
            event,
            Object::other("operands of the wgmma"),
            "a shared-memory descriptor is malformed or reaches beyond shared memory");
        break;
      default:
        break;
    }
  }

  // Warps that another one of their warpgroup waits for in vain.
  void at_end(const Gpu& gpu, Ending end) override {
    if (end != Ending::kDeadlock) {
      return;
    }
    for (WarpSlot first = 0; first < gpu.warps().size(); ++first) {
      const Warp& leader = gpu.warps()[first];
      if (leader.wgmma_forming.empty()) {
        continue;
      }
      const FormingWgmma& forming = leader.wgmma_forming.front();
      for (WarpSlot i = 0; i < kWarpsPerWarpgroup; ++i) {
        if ((forming.warps >> i & 1U) == 0) {
          Event event;
          event.op = Op::kWgmma;
          event.warp = leader.number + i;
          event.site = forming.async.operation.site;
          report_alone(event);
        }
      }
    }
  }

 private:
  struct Issue {
    std::uint32_t number = 0;
    SourceSite site{};
  };

  void on_exit(const Event& event) {
    const auto open = open_.find(event.warp);
    if (open == open_.end()) {
      return;
    }
    Event at = event;
    at.site = open->second.site;
    reporter().report("WGMMA_UNFINISHED_AT_EXIT",
                      at,
                      naming().warp_object(event.warp),
                      "ends without a wait for its last wgmma",
                      {mend("wgmma.commit_group and wgmma.wait_group before the warp ends")});
    open_.erase(open);
  }

  void report_early(const Event& event) {
    const bool touched = event.op == Op::kFragmentRead;
    const bool stored = event.op == Op::kSharedStore || event.op == Op::kGlobalStore;
    const char* what = stored                   ? "is stored"
                       : touched                ? "is read or written"
                       : event.op == Op::kWgmma ? "was touched before this wgmma"
                                                : "was touched before this wait";
    const auto last = last_.find(event.warp);
    reporter().report(
        "WGMMA_ACC_READ_EARLY",
        event,
        Object::other((touched ? "accumulator, or A in registers, of " : "accumulator of ") +
                      naming().warp(event.warp)),
        std::string{what} + " although no wait has settled the wgmma at " +
            naming().site(last == last_.end() ? SourceSite{} : last->second),
        {mend("wgmma.wait_group after its commit, that leaves no group of it under way")});
  }

  void report_alone(const Event& event) {
    const std::uint32_t per_cta = naming().config().warps_per_cta;
    const std::uint32_t index = event.warp % per_cta / kWarpsPerWarpgroup * kWarpsPerWarpgroup;
    const std::string group =
        "warps " + std::to_string(index) + " to " + std::to_string(index + kWarpsPerWarpgroup - 1);
    const bool whole = index + kWarpsPerWarpgroup <= per_cta;
    const std::string what =
        event.op == Op::kWarpExit
            ? "ends without a wgmma that another warp of its warpgroup has issued"
        : event.step == Step::kIssued
            ? "issues another wgmma than the rest of its warpgroup, or one that a warp of it has "
              "ended without"
        : whole ? "never comes to a wgmma that other warps of its warpgroup have issued"
                : "is of no whole warpgroup: the CTA has " + std::to_string(per_cta) + " warps";
    reporter().report("WGMMA_NOT_WARPGROUP",
                      event,
                      Object{ObjectKind::kOther, group, naming().cta_of_warp(event.warp)},
                      naming().warp(event.warp) + " " + what,
                      {"all four warps execute the same wgmmas, in the same order"});
  }

  std::map<std::uint32_t, SourceSite> last_;  // the last wgmma of each warp
  std::map<std::uint32_t, Issue> open_;       // the same, until a wait covers it
};

}  // namespace

std::unique_ptr<Detector> make_warpgroup_mma(Reporter& reporter, Order& order) {
  return std::make_unique<WarpgroupMmaDetector>(reporter, order);
}

}  // namespace warptwin::sim
