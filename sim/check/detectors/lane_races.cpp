/// Lanes of one warp are threads: nothing but bar.warp.sync, a CTA or cluster barrier, or what one
/// has released and the other has waited for orders what they do to a word of shared memory, or to
/// the bytes of an mbarrier that one of them initialises, or store to a word of global memory. A
/// lane's own accesses are in its program order.

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/footprint.hpp"

namespace warptwin::sim {

namespace {

constexpr OpSet kLaneAccesses{
    Op::kSharedLoad, Op::kSharedStore, Op::kGlobalStoreRelease, Op::kMbarrierInit};
constexpr OpSet kMeetings = ops_with(op_trait::kOrdersLanes) | OpSet{Op::kWarpExit};
constexpr OpSet kWaitsOfLanes = ops_with(op_trait::kAcquires);

constexpr OpSet kCopies{Op::kBulkLoad, Op::kTensorLoad};

constexpr std::uint32_t kEveryLane = ~std::uint32_t{0};
constexpr std::size_t kMany = 64;  // accesses: from then on a wait forgets what it orders

class LaneRacesDetector : public Detector {
 public:
  LaneRacesDetector(Reporter& reporter, Order& order)
      : Detector{reporter, kLaneAccesses | kMeetings | kWaitsOfLanes | kCopies}, order_{order} {
    narrow(kLaneAccesses | kMeetings | kWaitsOfLanes, {Step::kDone});
    narrow(kCopies, {Step::kIssued});
  }

  void on_event(const Event& event) override {
    if (kCopies.contains(event.op)) {
      on_copy(event);
      return;
    }
    if (event.step != Step::kDone || (event.flags & event_flag::kLateLanes) != 0 ||
        event.fault == Fault::kOutOfRange || event.fault == Fault::kOnItsWay) {
      return;
    }
    if (event.warp >= warps_.size()) {
      warps_.resize(event.warp + 1);
    }
    Epoch& epoch = warps_[event.warp];
    if (event.fault == Fault::kLaneRace) {
      report_lanes(event);
      return;
    }
    if (event.op == Op::kGlobalStoreRelease) {
      store_global(event, epoch.globals);
    } else if (kLaneAccesses.contains(event.op)) {
      access(event, epoch);
    } else if (event.op == Op::kSyncWarp && event.lanes != kWarpLanes) {
      epoch.forget([&](const Access& one) { return (one.lanes & ~event.lane_mask()) == 0; });
    } else if (kMeetings.contains(event.op)) {
      epoch.forget([](const Access&) { return true; });
    } else if (event.lanes == kWarpLanes && (event.flags & event_flag::kFalse) == 0 &&
               epoch.words.size() + epoch.rows.size() + epoch.globals.size() > kMany) {
      epoch.forget([&](const Access& one) { return ordered(one, event); });
    }
  }

 private:
  struct Access {
    std::uint32_t lanes = 0;
    bool writes = false;
    bool word = false;
    bool init = false;         // of an mbarrier
    std::uint32_t value = 0;   // of a word that is written
    std::uint64_t global = 0;  // the address of a global word
    Footprint where{};
    SourceSite site{};
    std::uint32_t time = 0;  // the warp's operation
  };
  // What a warp has accessed since something ordered its lanes: words, and rows of a tile, each of
  // which is one lane's.
  struct Epoch {
    std::vector<Access> words;
    std::vector<Access> rows;
    std::vector<Access> globals;  // words of global memory that it has stored to

    template <class F>
    void forget(F&& over) {
      for (std::vector<Access>* known : {&words, &rows, &globals}) {
        std::erase_if(*known, over);
      }
    }
  };

  // Whether each lane that executes `event` comes after each that made the access.
  bool ordered(const Access& first, const Event& event) const {
    return order_.lanes_after({event.warp, first.time, first.lanes}, event);
  }

  static bool reduces(const Event& copy) {
    return copy.is<payload::Copy>() && copy.as<payload::Copy>().reduction != 0;
  }

  // What comes before a copy onto all of its bytes is not met any more: who comes later meets the
  // copy.
  void on_copy(const Event& event) {
    if (event.step == Step::kIssued && !reduces(event) && event.warp < warps_.size() &&
        event.cta == naming().cta_of_warp(event.warp)) {
      const Footprint to = footprint_of_copy(event);
      warps_[event.warp].forget([&](const Access& one) {
        return one.global == 0 && to.covers(one.where) && ordered(one, event);
      });
    }
  }

  void access(const Event& event, Epoch& epoch) {
    Access access;
    access.lanes = event.lane_mask();
    access.init = event.op == Op::kMbarrierInit;
    access.writes = event.op == Op::kSharedStore || access.init;
    const payload::Rows* const tile = access.init ? nullptr : event.rows();
    access.word = tile == nullptr && !access.init;
    if (access.writes && event.is<payload::SharedWord>()) {
      access.value = event.as<payload::SharedWord>().value;
    }
    access.where =
        access.init ? Footprint::interval(event.address, kMbarrierBytes) : footprint_of(event);
    access.site = event.site;
    access.time = order_.now(event.warp);
    const bool rows = tile != nullptr && tile->pitch != 0;
    judge(event, access, epoch.words, rows);
    if (!rows) {
      judge(event, access, epoch.rows, true);
    }
    std::vector<Access>& of_kind = rows ? epoch.rows : epoch.words;
    const auto same = [&](const Access& other) {
      return other.lanes == access.lanes && other.writes == access.writes &&
             other.init == access.init && other.where.covers(access.where) &&
             access.where.covers(other.where);
    };
    note(of_kind, access, same);
  }

  // Of two lanes that store to one word of global memory, either may be the last.
  void store_global(const Event& event, std::vector<Access>& stored) {
    Access access{event.lane_mask(),
                  true,
                  true,
                  false,
                  event.as<payload::GlobalWord>().value,
                  event.global,
                  {},
                  event.site,
                  order_.now(event.warp)};
    for (const Access& first : stored) {
      if (first.global == access.global && conflict(first, access, false) &&
          !ordered(first, event)) {
        report(event, {ObjectKind::kGlobalMemory, "a word of global memory"}, access, first);
        return;
      }
    }
    note(stored, access, [&](const Access& other) {
      return other.lanes == access.lanes && other.global == access.global;
    });
  }

  // Of what the same lanes do in one place the last is kept: they do it in their order.
  template <class Same>
  static void note(std::vector<Access>& known, const Access& access, const Same& same) {
    const auto at = std::find_if(known.begin(), known.end(), same);
    if (at == known.end()) {
      known.push_back(access);
    } else {
      const bool again = at->word && at->value == access.value;
      *at = access;
      at->word = access.word && again;  // another lane's value is none that is written again
    }
  }

  // Whether a lane of the second may meet an access of another lane. All lanes write one value, so
  // a lane that has written reads what any of them wrote, and who writes a value again changes
  // nothing. Which row is whose is not known here: of a row and a word only a word that all lanes
  // touch is surely another lane's too. What else may be an mbarrier's is judged elsewhere.
  static bool conflict(const Access& first, const Access& second, bool row_and_word) {
    if ((!first.writes && !second.writes) || (first.init && second.init)) {
      return false;
    }
    if (row_and_word) {
      return first.lanes == kEveryLane && second.lanes == kEveryLane;
    }
    if (first.writes) {
      return second.writes ? differ(first, second) && !one_lane(first, second)
                           : (second.lanes & ~first.lanes) != 0;
    }
    return !one_lane(first, second);
  }
  static bool differ(const Access& first, const Access& second) {
    return !first.word || !second.word || first.value != second.value;
  }
  static bool one_lane(const Access& first, const Access& second) {
    return first.lanes == second.lanes && std::has_single_bit(first.lanes);
  }

  void judge(const Event& event,
             const Access& access,
             const std::vector<Access>& before,
             bool row_and_word) {
    for (const Access& first : before) {
      if (!conflict(first, access, row_and_word) || !first.where.meets(access.where) ||
          ordered(first, event)) {
        continue;
      }
      report(event, naming().shared(event.cta, access.where.begin), access, first);
      return;
    }
  }

  // What the warp's own program has found: it knows which lane touches which word.
  void report_lanes(const Event& event) {
    const auto& race = event.as<payload::LaneRace>();
    reporter().report(
        "WARP_LANE_RACE",
        event,
        event.global != 0
            ? Object{.kind = ObjectKind::kGlobalMemory,
                     .name = "byte " + std::to_string(event.global) + " of global memory",
                     .address = event.global,
                     .bytes = 1}
            : naming().shared(event.cta, event.address),
        std::string{event.op == Op::kSharedStore ? "written" : "read"} + " by lane " +
            std::to_string(event.lane) + " of " + naming().warp(event.warp) + ", and " +
            (race.first_wrote ? "written" : "read") + " by lane " + std::to_string(race.first) +
            " at " + naming().site({race.file, race.line}) + ", in no order",
        {mend("bar.warp.sync between the two")});
  }

  void report(const Event& event, const Object& object, const Access& access, const Access& first) {
    reporter().report("WARP_LANE_RACE",
                      event,
                      object,
                      std::string{access.writes ? "written" : "read"} + " by " + lanes_of(access) +
                          " of " + naming().warp(event.warp) + ", and " +
                          (first.writes ? "written" : "read") + " by " + lanes_of(first) + " at " +
                          naming().site(first.site) + ", in no order",
                      {mend("sync_warp() between the two")});
  }

  static std::string lanes_of(const Access& access) {
    return access.lanes == kEveryLane ? "all lanes"
                                      : "lane " + std::to_string(std::countr_zero(access.lanes));
  }

  Order& order_;
  std::vector<Epoch> warps_;
};

}  // namespace

std::unique_ptr<Detector> make_lane_races(Reporter& reporter, Order& order) {
  return std::make_unique<LaneRacesDetector>(reporter, order);
}

}  // namespace warptwin::sim
