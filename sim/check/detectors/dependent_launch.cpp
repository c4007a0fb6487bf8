/// Memory that a grid before this one may still write is touched after griddepcontrol.wait; grids
/// that may start early are told to. Source: PTX ISA, "griddepcontrol".

#include <map>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/footprint.hpp"

namespace warptwin::sim {

namespace {

class DependentLaunchDetector : public Detector {
 public:
  DependentLaunchDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kBulkStore,
                  Op::kCtaExit,
                  Op::kGlobalLoad,
                  Op::kGlobalLoadAcquire,
                  Op::kGlobalRedAdd,
                  Op::kGlobalStore,
                  Op::kGlobalStoreRelease,
                  Op::kGlobalWait,
                  Op::kGriddepcontrolLaunch,
                  Op::kGriddepcontrolWait,
                  Op::kTensorLoad,
                  Op::kTensorStore},
                 {Step::kBlocked, Step::kTouched}},
        order_{order} {
    narrow({Op::kBulkLoad, Op::kBulkStore, Op::kTensorLoad, Op::kTensorStore}, kBegins);
  }

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kGriddepcontrolWait:
        waits_[naming().cluster_of_warp(event.warp)].push_back(
            {event.warp, order_.now(event.warp), event.lane_mask()});
        break;
      case Op::kGriddepcontrolLaunch:
        launches_.emplace(event.cta, event);
        break;
      case Op::kCtaExit:
        on_exit(event);
        break;
      case Op::kGlobalLoadAcquire:
      case Op::kGlobalWait:
        break;  // judged when they look
      default:
        if (event.step == Step::kIssued || event.step == Step::kDone ||
            event.step == Step::kTouched) {
          on_access(event);
        }
        break;
    }
  }

  void on_look(const Event& event) override { on_access(event); }
  void on_blocked(const Event& event) override {
    if (event.op == Op::kGlobalWait) {
      on_access(event);
    }
  }

 private:
  static bool writes(Op op) {
    return op == Op::kBulkStore || op == Op::kTensorStore || op == Op::kGlobalStoreRelease ||
           op == Op::kGlobalRedAdd || op == Op::kGlobalStore;
  }

  // Whether it acts on any of the bytes [begin, end): a word, or the rows of a copy's box.
  static bool reaches(const Event& event, std::uint64_t begin, std::uint64_t end) {
    const GlobalBox box = global_box_of(event);
    for (std::uint64_t row = 0; row < box.rows; ++row) {
      const std::uint64_t from = box.start + row * box.pitch;
      if (from < end && from + box.width > begin) {
        return true;
      }
    }
    return false;
  }

  void on_access(const Event& event) {
    const LaunchConfig& config = naming().config();
    if (config.prerequisite_writes.empty() && config.prerequisite_reads.empty() &&
        !config.has_dependents) {
      return;
    }
    for (const auto& [begin, end] : config.prerequisite_writes) {
      if (reaches(event, begin, end)) {
        check_wait(event, "write");
      }
    }
    for (const auto& [begin, end] : config.prerequisite_reads) {
      if (writes(event.op) && reaches(event, begin, end)) {
        check_wait(event, "read");
      }
    }
    const std::uint32_t cta = naming().cta_of_warp(event.warp);
    const auto launch = launches_.find(cta);
    if (config.has_dependents && writes(event.op) && launch != launches_.end()) {
      reporter().report("PDL_TRIGGER_BEFORE_WRITE",
                        event,
                        Object::global(event.global),
                        std::string{name_of(event.op)} +
                            " after griddepcontrol.launch_dependents at " +
                            naming().site(launch->second.site) +
                            ": the dependent grid has to wait before it reads");
    }
  }

  // Each lane has waited itself, or comes after one that has.
  bool has_waited(const Event& event, const std::vector<LanePoint>& waits) const {
    std::uint32_t left = event.lane_mask();
    for (const LanePoint& wait : waits) {
      const bool all = wait.lanes == ~std::uint32_t{0};
      if (all ? order_.after(event.warp, wait.warp, wait.time) : order_.lanes_after(wait, event)) {
        return true;
      }
      left &= wait.warp == event.warp ? ~wait.lanes : ~std::uint32_t{0};
    }
    return left == 0;
  }

  void check_wait(const Event& event, const char* does) {
    const std::vector<LanePoint>& waits = waits_[naming().cluster_of_warp(event.warp)];
    if (has_waited(event, waits)) {
      return;
    }
    const Object object = Object::global(event.global);
    if (waits.empty()) {
      reporter().report(
          "PDL_MISSING_WAIT",
          event,
          object,
          std::string{name_of(event.op)} + " on memory that the grid before may still " + does,
          {mend("griddepcontrol.wait before it")});
    } else {
      reporter().report(
          "PDL_WAIT_NOT_PUBLISHED",
          event,
          object,
          std::string{name_of(event.op)} + " by lanes that have not waited for the " +
              "grid before, nor are ordered after those of " + naming().warp(waits[0].warp) +
              " that have",
          {mend("griddepcontrol.wait by these lanes, or a barrier after the others'")});
    }
  }

  void on_exit(const Event& event) {
    if (naming().config().has_dependents && !launches_.contains(event.cta)) {
      reporter().report("PDL_NO_TRIGGER",
                        event,
                        Object::cta_of(event.cta),
                        "ends without griddepcontrol.launch_dependents: the dependent grid starts "
                        "only now");
    }
    launches_.erase(event.cta);
  }

  Order& order_;
  std::map<std::uint32_t, std::vector<LanePoint>> waits_;  // by cluster
  std::map<std::uint32_t, Event> launches_;                // the first of a CTA
};

}  // namespace

std::unique_ptr<Detector> make_dependent_launch(Reporter& reporter, Order& order) {
  return std::make_unique<DependentLaunchDetector>(reporter, order);
}

}  // namespace warptwin::sim
