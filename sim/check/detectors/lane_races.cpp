/// Lanes of one warp are threads: nothing but bar.warp.sync, a CTA or cluster barrier, or a wait
/// orders what one of them does to a word of shared memory and what another does. A lane's own
/// accesses are in its program order.
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
  LaneRacesDetector(Reporter& reporter, Order&) : Detector{reporter, kLaneAccesses | kLaneOrders} {}

  void on_event(const Event& event) override {
    if (event.step != Step::kDone || (event.flags & event_flag::kLateLanes) != 0 ||
        event.fault == Fault::kOutOfRange) {
      return;
    }
    if (event.warp >= warps_.size()) {
      warps_.resize(event.warp + 1);
    }
    Epoch& epoch = warps_[event.warp];
    if (kLaneAccesses.contains(event.op)) {
      access(event, epoch);
    } else if ((event.flags & event_flag::kFalse) == 0) {
      epoch.words.clear();
      epoch.rows.clear();
    }
  }

 private:
  struct Access {
    std::uint32_t lanes = 0;
    bool writes = false;
    std::uint32_t value = 0;  // of a word that is written
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
    access.value = access.writes && !rows ? event.count : 0;
    access.where = footprint_of(event);
    access.site = event.site;
    judge(event, access, epoch.words, rows);
    if (!rows) {
      judge(event, access, epoch.rows, true);
    }
    std::vector<Access>& of_kind = rows ? epoch.rows : epoch.words;
    const auto same = [&](const Access& other) {
      return other.lanes == access.lanes && other.writes == access.writes &&
             other.value == access.value && other.where.covers(access.where) &&
             access.where.covers(other.where);
    };
    if (std::none_of(of_kind.begin(), of_kind.end(), same)) {
      of_kind.push_back(std::move(access));
    }
  }

  // Whether a lane of the second may meet an access of another lane. All lanes write one value, so
  // a lane that has written reads what any of them wrote, and who writes a value again changes
  // nothing. Which row is whose is not known here: of a row and a word only a word that all lanes
  // touch is surely another lane's too.
  static bool conflict(const Access& first, const Access& second, bool row_and_word) {
    if (!first.writes && !second.writes) {
      return false;
    }
    if (row_and_word) {
      return first.lanes == kEveryLane && second.lanes == kEveryLane;
    }
    if (first.writes) {
      return second.writes ? first.value != second.value && !one_lane(first, second)
                           : (second.lanes & ~first.lanes) != 0;
    }
    return !one_lane(first, second);
  }
  static bool one_lane(const Access& first, const Access& second) {
    return first.lanes == second.lanes && std::has_single_bit(first.lanes);
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
