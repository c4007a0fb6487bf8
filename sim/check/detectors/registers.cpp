/// setmaxnreg by whole warpgroups, in range, in its direction, with a synchronisation between two.
/// Source: PTX ISA, "setmaxnreg".

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class RegistersDetector : public Detector {
 public:
  RegistersDetector(Reporter& reporter, Order& order)
      : Detector{reporter, {Op::kCtaExit, Op::kSetmaxnreg}}, order_{order} {}

  void on_event(const Event& event) override {
    if (event.op == Op::kCtaExit) {
      on_exit(event);
      return;
    }
    const Object object = setmaxnreg(event.as<payload::Registers>().count);
    if (event.fault == Fault::kOutOfRange) {
      reporter().report("SETMAXNREG_RANGE", event, object, "legal are 24, 32, .. 256");
    } else if (event.fault == Fault::kBadCount) {
      const bool increase = (event.flags & event_flag::kIncrease) != 0;
      reporter().report("SETMAXNREG_DIRECTION",
                        event,
                        object,
                        std::string{increase ? ".inc" : ".dec"} + " of a warp that has " +
                            (increase ? "more" : "fewer"));
    } else if (event.fault == Fault::kNotWholeWarp) {
      reporter().report("ALIGNED_DIVERGENCE",
                        event,
                        object,
                        "executed by " + std::to_string(event.lanes) + " lanes of the warp");
    }
    check_order(event, object);
    changes_[event.warp].push_back(
        {event.as<payload::Registers>().count, order_.now(event.warp), event.site});
  }

 private:
  static Object setmaxnreg(std::uint32_t count) {
    return Object::other("setmaxnreg to " + std::to_string(count) + " registers");
  }

  struct Change {
    std::uint32_t registers;
    std::uint32_t time;
    SourceSite site;
  };

  // The warps of the executing warp's group, without itself.
  template <class F>
  void for_group(std::uint32_t warp, F&& f) const {
    const std::uint32_t per_cta = naming().config().warps_per_cta;
    const std::uint32_t first = warp / per_cta * per_cta;
    const std::uint32_t index = (warp - first) / kWarpsPerWarpgroup * kWarpsPerWarpgroup;
    for (std::uint32_t i = index; i < std::min(index + kWarpsPerWarpgroup, per_cta); ++i) {
      if (first + i != warp) {
        f(first + i);
      }
    }
  }

  // The group's earlier change is over, everywhere, before the next. To ask for what the warp has
  // changes nothing.
  void check_order(const Event& event, const Object& object) {
    const std::size_t number = changes_[event.warp].size();
    if (number == 0 ||
        changes_[event.warp].back().registers == event.as<payload::Registers>().count) {
      return;
    }
    for_group(event.warp, [&](std::uint32_t other) {
      const auto found = changes_.find(other);
      const bool behind = found == changes_.end() || found->second.size() < number;
      if (behind || !order_.ordered(other, found->second[number - 1].time, event.warp)) {
        reporter().report(
            "SETMAXNREG_NO_SYNC",
            event,
            object,
            "the second of its warpgroup, not ordered after the first of " + naming().warp(other),
            {mend("a barrier of the warpgroup between the two")});
      }
    });
  }

  void on_exit(const Event& exit) {
    const std::uint32_t per_cta = naming().config().warps_per_cta;
    for (std::uint32_t warp = exit.cta * per_cta; warp < (exit.cta + 1) * per_cta; ++warp) {
      const auto own = changes_.find(warp);
      if (own == changes_.end()) {
        continue;
      }
      for_group(warp, [&](std::uint32_t other) {
        const auto found = changes_.find(other);
        const std::vector<Change> none;
        report_difference(
            exit, warp, own->second, other, found == changes_.end() ? none : found->second);
      });
    }
    std::erase_if(changes_, [&](const auto& entry) { return entry.first / per_cta == exit.cta; });
  }

  void report_difference(const Event& exit,
                         std::uint32_t warp,
                         const std::vector<Change>& own,
                         std::uint32_t other,
                         const std::vector<Change>& others) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i < others.size() && others[i].registers == own[i].registers) {
        continue;
      }
      Event at = exit;
      at.warp = warp;
      at.site = own[i].site;
      reporter().report("SETMAXNREG_NOT_WARPGROUP",
                        at,
                        setmaxnreg(own[i].registers),
                        naming().warp(other) + " of the same warpgroup does not do the same",
                        {"setmaxnreg is executed by all four warps of a warpgroup"});
      return;
    }
  }

  Order& order_;
  std::map<std::uint32_t, std::vector<Change>> changes_;  // by warp
};

}  // namespace

std::unique_ptr<Detector> make_registers(Reporter& reporter, Order& order) {
  return std::make_unique<RegistersDetector>(reporter, order);
}

}  // namespace warptwin::sim
