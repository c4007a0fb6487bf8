/// Lanes of one warp are threads: nothing but bar.warp.sync, a CTA or cluster barrier, or a wait
/// orders what one of them does to a word of shared memory and what another does. A lane's own
/// accesses are in its program order, and what one lane releases is what it has done itself.
///
/// Any wait of the warp counts as an order here, whichever lane makes it: what may have gone round
/// through another warp is not reported.

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/footprint.hpp"

namespace warptwin::sim {

namespace {

constexpr OpSet kLaneAccesses{Op::kSharedLoad, Op::kSharedStore};
constexpr OpSet kLaneReleases{Op::kMbarrierArrive, Op::kGlobalStoreRelease, Op::kGlobalRedAdd};
constexpr OpSet kLaneOrders{Op::kSyncWarp,
                            Op::kBarSync,
                            Op::kClusterWait,
                            Op::kMbarrierWait,
                            Op::kMbarrierTryWait,
                            Op::kGlobalLoadAcquire,
                            Op::kGlobalWait,
                            Op::kWarpExit};

constexpr std::uint32_t kEveryLane = ~std::uint32_t{0};

class LaneRacesDetector : public Detector {
 public:
  LaneRacesDetector(Reporter& reporter, Order&)
      : Detector{reporter, kLaneAccesses | kLaneReleases | kLaneOrders} {}

  void on_event(const Event& event) override {
    if ((event.step != Step::kDone && event.step != Step::kIssued) ||
        (event.flags & event_flag::kLateLanes) != 0 || event.fault == Fault::kOutOfRange) {
      return;
    }
    if (event.warp >= warps_.size()) {
      warps_.resize(event.warp + 1);
    }
    Epoch& epoch = warps_[event.warp];
    if (kLaneAccesses.contains(event.op)) {
      access(event, epoch);
    } else if (kLaneReleases.contains(event.op)) {
      if (event.lanes == 1 && releases(event.ordering.semantics)) {
        judge_release(event, epoch);
      }
    } else if ((event.flags & event_flag::kFalse) == 0) {
      epoch = {};
    }
  }

 private:
  struct Access {
    std::uint32_t lanes = 0;
    bool writes = false;
    Footprint where{};
    SourceSite site{};
  };
  // What a warp has accessed since something ordered its lanes: words, and rows of a tile, each of
  // which is one lane's.
  struct Epoch {
    std::vector<Access> words;
    std::vector<Access> rows;
  };

  void access(const Event& event, Epoch& epoch) {
    const bool rows = event.expected != 0 && event.peer != 0;
    Access access;
    access.lanes = event.lanes == kWarpLanes ? kEveryLane : 1U << event.lane;
    access.writes = event.op == Op::kSharedStore;
    access.where = footprint_of(event);
    access.site = event.site;
    judge(event, access, epoch.words, rows);
    if (!rows) {
      judge(event, access, epoch.rows, true);
    }
    std::vector<Access>& of_kind = rows ? epoch.rows : epoch.words;
    const auto same = [&](const Access& other) {
      return other.lanes == access.lanes && other.writes == access.writes &&
             other.where.covers(access.where) && access.where.covers(other.where);
    };
    if (std::none_of(of_kind.begin(), of_kind.end(), same)) {
      of_kind.push_back(std::move(access));
    }
  }

  static bool releases(Semantics semantics) {
    return semantics == Semantics::kRelease || semantics == Semantics::kAcqRel;
  }

  // One lane speaks for others, which may not have come to their access yet.
  void judge_release(const Event& event, Epoch& epoch) {
    for (std::vector<Access>* before : {&epoch.words, &epoch.rows}) {
      for (const Access& access : *before) {
        if ((access.lanes & ~(1U << event.lane)) != 0) {
          reporter().report("WARP_LANE_RELEASE",
                            event,
                            naming().warp(event.warp),
                            std::string{name_of(event.op)} + " by lane " +
                                std::to_string(event.lane) + ", and " +
                                (access.writes ? "a store" : "a load") + " of other lanes at " +
                                naming().site(access.site) + " before it",
                            {"missing: sync_warp() between the two"});
          epoch = {};
          return;
        }
      }
    }
  }

  // Whether a lane of the second may meet an access of another lane. All lanes write one value, so
  // a lane that has written reads what any of them wrote. Which row is whose is not known here: of
  // a row and a word only a word that all lanes touch is surely another lane's too.
  static bool conflict(const Access& first, const Access& second, bool row_and_word) {
    if (!first.writes && !second.writes) {
      return false;
    }
    if (row_and_word) {
      return first.lanes == kEveryLane && second.lanes == kEveryLane;
    }
    const bool own = first.writes && !second.writes
                         ? (second.lanes & ~first.lanes) == 0
                         : first.lanes == second.lanes && (first.lanes & (first.lanes - 1)) == 0;
    return !own;
  }

  void judge(const Event& event,
             const Access& access,
             const std::vector<Access>& before,
             bool row_and_word) {
    for (const Access& first : before) {
      if (!conflict(first, access, row_and_word) || !first.where.meets(access.where)) {
        continue;
      }
      reporter().report(
          "WARP_LANE_RACE",
          event,
          naming().symbols().name(access.where.begin) + " of cta " + std::to_string(event.cta),
          std::string{access.writes ? "written" : "read"} + " by " + lanes_of(access) + " of " +
              naming().warp(event.warp) + ", and " + (first.writes ? "written" : "read") + " by " +
              lanes_of(first) + " at " + naming().site(first.site) + ", in no order",
          {"missing: sync_warp() between the two"});
      return;
    }
  }

  static std::string lanes_of(const Access& access) {
    return access.lanes == kEveryLane ? "all lanes"
                                      : "lane " + std::to_string(std::countr_zero(access.lanes));
  }

  std::vector<Epoch> warps_;
};

}  // namespace

std::unique_ptr<Detector> make_lane_races(Reporter& reporter, Order& order) {
  return std::make_unique<LaneRacesDetector>(reporter, order);
}

}  // namespace warptwin::sim
