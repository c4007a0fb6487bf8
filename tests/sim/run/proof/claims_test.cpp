/// Clusters that claim each other's tiles: the proof of every number of tiles, against the search
/// and against many schedules on machines of every size.

#include "sim/run/proof/claims.hpp"

#include <ostream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/pipeline/pipeline_state.hpp"

#include "sim/run/proof/explore_run.hpp"

namespace warptwin::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using M = SimMachine;

// A small ring of responses: warp 0 asks, and with warp 1 and 2 it reads. Warp 2 also loads some
// bytes of each tile.
enum Fault : std::int64_t {
  kNoFault,
  kTries,             // no fault: warp 1 tries before it waits
  kNeverFrees,        // warp 2 frees no slot
  kKeepsThirdSlot,    // warp 2 does not free the third response's
  kNoProxyFence,      // warp 1
  kCountOneTooFew,    // of empty
  kLeavesThrough,     // warp 1 ends without having freed the slot of the failing response
  kReadsThroughFail,  // warp 1 goes on after the first failure, for another response
  kTwoAsk,            // warps 0 and 1, by turns
  kAsksAhead,         // warp 0, two tiles
  kWorkOfTile,        // no fault: warp 2 arrives on a barrier of its own for odd tiles
  kKeepsBehindOdd,    // the same, and warp 2 does not free the response that follows an odd tile
                      // with an even one
  kWorkOfThird,       // as kWorkOfTile, and once more for the third tile behind its second
  kWorkOfCluster,     // warp 2 loads what belongs to the cluster, not to the tile
  kMeets,             // clusters count their tiles in a global word
  kHandsTileOn,       // no fault: warp 2 writes the tile into shared memory, and reads it
  kMapOfTile,         // no fault: warp 2 acquires a tensor map of the tile's
  kMapOfCluster,      // warp 2 acquires one of the cluster's
  kKeepsALateSlot,    // warp 2 does not free its fourteenth response's
  kWorkOfStep,        // warp 2 arrives on a barrier of its own for a tile two behind its last
  kWorkOfPair,        // the same, for a tile that is not cluster 3's own and that cluster 3 has
  kWorkOfTwoSteps,    // the same, for a tile two behind one that was one behind its last
  kSwapsBarriers,     // warp 2 reads what another mbarrier tells of, for some tiles behind others
  kSwapsInTime,       // no fault: as kSwapsBarriers, and it reads when it has waited for both
  kWorkOfMiddle,      // as kWorkOfTile, and once more for tile 4 of the cluster of tile 2
  kWorkOfData,        // likewise, for a claimed tile where a word of the input is not zero
  kFaults
};

constexpr std::uint32_t kStages = 2;
constexpr MbarrierArray kFull{{1024}};
constexpr MbarrierArray kEmpty{{1024 + 8 * kStages}};
constexpr Mbarrier kLoaded{{1024 + 16 * kStages}};
constexpr Mbarrier kOwn{{1032 + 16 * kStages}};
constexpr SharedAddress kResponses{2048};
constexpr SharedAddress kData{4096};

class Ring {
 public:
  Ring(M& machine, std::int64_t fault, std::span<const GlobalAddress> tensors)
      : m_{machine}, fault_{fault}, source_{tensors[0]}, input_{tensors[1]} {}

  void run() {
    if (m_.warp_index() == 0) {
      m_.elect_one([&] { init(); });
      m_.sync_warp();
    }
    m_.cta_sync();
    std::uint32_t tile = m_.cluster_index();
    if (m_.warp_index() == 0 && fault_ == kAsksAhead) {
      request();
    }
    for (bool valid = true; valid; ++tiles_) {
      work(tile);
      if (m_.warp_index() == (fault_ == kTwoAsk ? tiles_ % 2 : 0)) {
        request();
      }
      valid = fetch(tile);
    }
    if (fault_ == kAsksAhead) {
      fetch(tile);
    }
    if (m_.warp_index() == 0) {
      for (std::uint32_t i = 0; i < kStages; ++i) {
        wait(kEmpty[asked_.index], asked_.empty_phase());
        asked_.step(kStages);
      }
    }
  }

 private:
  void init() {
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
      m_.mbarrier_init(kFull[stage], 1);
      m_.mbarrier_init(kEmpty[stage], fault_ == kCountOneTooFew ? 2 : 3);
    }
    m_.mbarrier_init(kLoaded, 1);
    m_.mbarrier_init(kOwn, 1);
    m_.fence_mbarrier_init();
  }
  void wait(Mbarrier bar, WaitPhase phase) {
    m_.mbarrier_wait_parity(bar, phase);
    m_.sync_warp();
  }
  void request() {
    if (fault_ == kTwoAsk) {
      asked_ = read_;
    }
    wait(kEmpty[asked_.index], asked_.empty_phase());
    m_.elect_one([&] {
      m_.mbarrier_arrive_expect_tx(kFull[asked_.index], kClcResponseBytes);
      m_.clc_try_cancel(kResponses + asked_.index * 16, kFull[asked_.index], false);
    });
    asked_.step(kStages);
  }
  bool fetch(std::uint32_t& tile) {
    const std::uint32_t warp = m_.warp_index();
    if (fault_ == kTries && warp == 1) {
      m_.mbarrier_try_wait_parity(kFull[read_.index], read_.full_phase());
    }
    wait(kFull[read_.index], read_.full_phase());
    const SharedAddress response = kResponses + read_.index * 16;
    const bool valid = m_.clc_is_canceled(response);
    tile = valid ? m_.clc_first_cta(response) : tile;
    if (fault_ != kNoProxyFence || warp != 1) {
      m_.fence_proxy_async(ProxySpace::kSharedCta);
    }
    m_.sync_warp();
    const bool frees =
        (fault_ != kNeverFrees || warp != 2) &&
        (fault_ != kKeepsThirdSlot || warp != 2 || tiles_ != 2) &&
        (fault_ != kKeepsALateSlot || warp != 2 || tiles_ != 13) &&
        (fault_ != kKeepsBehindOdd || warp != 2 || !valid || last_ % 2 == 0 || tile % 2 == 1) &&
        (fault_ != kLeavesThrough || warp != 1 || valid);
    if (frees) {
      m_.elect_one([&] { m_.mbarrier_arrive(kEmpty[read_.index]); });
    }
    read_.step(kStages);
    if (fault_ == kReadsThroughFail && warp == 1 && !valid) {
      return fetch(tile);
    }
    return valid;
  }
  void work(std::uint32_t tile) {
    if (m_.warp_index() != 2) {
      return;
    }
    if (fault_ == kSwapsBarriers || fault_ == kSwapsInTime) {
      load_twice(tile);
      return;
    }
    const std::uint32_t place = fault_ == kWorkOfCluster ? m_.cluster_index() : tile;
    m_.elect_one([&] {
      if (fault_ == kWorkOfData && m_.ld_global_u32(input_) != 0 && tiles_ > 0) {
        m_.mbarrier_arrive(kOwn);
      }
      m_.mbarrier_arrive_expect_tx(kLoaded, 16);
      m_.cp_async_bulk_load(kData, {source_.value + place * 16}, 16, CopyTarget{kLoaded});
      const bool odd = fault_ == kWorkOfTile || fault_ == kKeepsBehindOdd ||
                       fault_ == kWorkOfThird || fault_ == kWorkOfMiddle;
      if ((odd && tile % 2 == 1) || (fault_ == kWorkOfThird && tiles_ == 1 && tile == 4) ||
          (fault_ == kWorkOfStep && tiles_ > 1 && tile == last_ + 2) ||
          (fault_ == kWorkOfPair && m_.cluster_index() == 3 && tile != 3) ||
          (fault_ == kWorkOfTwoSteps && tiles_ > 1 && tile == last_ + 2 && last_ == before_ + 1) ||
          (fault_ == kWorkOfMiddle && m_.cluster_index() == 2 && tile == 4)) {
        m_.mbarrier_arrive(kOwn);
      }
      before_ = last_;
      last_ = tile;
      if (fault_ == kMapOfTile || fault_ == kMapOfCluster) {
        m_.fence_proxy_tensormap_acquire({fault_ == kMapOfTile ? tile : m_.cluster_index()});
      }
      if (fault_ == kHandsTileOn) {
        m_.st_shared_u32(kData + 64, tile);
        m_.ld_shared_u32(kData + 64);
      }
      if (fault_ == kMeets) {
        m_.red_add_release_global_u32({source_.value + 1024}, 1);
      }
    });
    wait(kLoaded, WaitPhase::number(tiles_));
  }

  // Two copies on two mbarriers. The first tiles of the launch, in their order, do not swap them.
  void load_twice(std::uint32_t tile) {
    const bool swaps = tiles_ > 0 && (tile + tiles_) % 2 == 1;
    m_.elect_one([&] {
      m_.mbarrier_arrive_expect_tx(kLoaded, 16);
      m_.mbarrier_arrive_expect_tx(kOwn, 16);
      for (const bool second : {false, true}) {
        m_.cp_async_bulk_load(kData + (second ? 16 : 0),
                              {source_.value + tile * 32 + (second ? 16 : 0)},
                              16,
                              CopyTarget{second != swaps ? kOwn : kLoaded});
      }
    });
    wait(kLoaded, WaitPhase::number(tiles_));
    if (fault_ == kSwapsInTime) {
      wait(kOwn, WaitPhase::number(tiles_));
    }
    m_.elect_one([&] { m_.ld_shared_u32(kData); });
    if (fault_ == kSwapsBarriers) {
      wait(kOwn, WaitPhase::number(tiles_));
    }
    m_.sync_warp();
    m_.fence_proxy_async(ProxySpace::kSharedCta);
    m_.sync_warp();
  }

  M& m_;
  std::int64_t fault_;
  GlobalAddress source_;
  GlobalAddress input_;
  PipelineState asked_;
  PipelineState read_;
  std::uint32_t tiles_ = 0;
  std::uint32_t last_ = 0;    // tile
  std::uint32_t before_ = 0;  // the tile before that
};

constexpr Parameter kParameters[] = {{"clusters", "in the grid", 5, 1, 1000},
                                     {"fault", "of enum Fault", 0, 0, kFaults - 1}};
constexpr ScenarioInfo kInfo{"clc_ring", ScenarioKind::kClean, "a ring of responses"};

ScenarioEntry entry() {
  ScenarioEntry entry{};
  entry.info = &kInfo;
  entry.parameters = kParameters;
  entry.workload = [](const ParameterSet& p) {
    Workload workload;
    workload.clusters = p.u32("clusters");
    workload.tensors = {{"words", TensorUse::kScratch, ElementType::kF32, 1, 16384, 65536},
                        {"input", TensorUse::kInput, ElementType::kF32, 1, 4, 16}};
    return workload;
  };
  entry.symbols = [](const ParameterSet&) {
    Symbols symbols;
    symbols.bytes = 8192 - kSharedBase;
    symbols.roles = {{Role::kScheduler, 1}, {Role::kConsumer, 2}};
    return symbols;
  };
  entry.body = [](const ParameterSet& p,
                  std::span<const SimTensorMap>,
                  std::span<const GlobalAddress> tensors) -> WarpBody {
    return [fault = p["fault"], tensors = std::vector(tensors.begin(), tensors.end())](M& m) {
      Ring{m, fault, tensors}.run();
    };
  };
  entry.reference = [](const ParameterSet&, std::span<HostTensor>) {};
  return entry;
}

ParameterSet with(std::int64_t clusters, std::int64_t fault) {
  ParameterSet parameters{kParameters};
  parameters.set("clusters", clusters);
  parameters.set("fault", fault);
  return parameters;
}

ProofOptions timing_only() {
  ProofOptions options;
  options.run.moves_data = false;
  return options;
}

// Whether any of many schedules goes wrong, on machines with room for one cluster to all of them,
// with requests that fail when nothing is left, and before.
bool goes_wrong(const ParameterSet& parameters) {
  for (std::uint32_t resident = 1; resident <= parameters.u32("clusters"); ++resident) {
    for (const bool early : {false, true}) {
      for (std::uint64_t seed = 0; seed < 24; ++seed) {
        RunOptions run;
        run.moves_data = false;
        run.resident_ctas = resident;
        run.rules.machine.clc_fails_early = early;
        run.schedule.strategy = seed % 2 == 0 ? Strategy::kRandom : Strategy::kPct;
        run.schedule.seed = seed;
        run.schedule.length = 200;
        if (!simulate(entry(), parameters, run).clean(false)) {
          return true;
        }
      }
    }
  }
  return false;
}

TEST(ClaimsTest, TheRightRingIsProvedForEveryNumberOfTiles) {
  const ProofResult few = prove(entry(), with(5, kNoFault), timing_only());
  EXPECT_EQ(few.verdict, ProofVerdict::kProved);
  EXPECT_EQ(few.claims.tiles, 5U);
  EXPECT_EQ(few.claims.period, 0U);
  EXPECT_THAT(few.strength(), HasSubstr("1 to 5 proved one by one; the launch has no more"));

  const ProofResult many = prove(entry(), with(1000, kNoFault), timing_only());
  EXPECT_EQ(many.verdict, ProofVerdict::kProved);
  EXPECT_LT(many.claims.tiles, 20U);
  EXPECT_EQ(many.claims.period, kStages);
  EXPECT_FALSE(goes_wrong(with(5, kNoFault)));
}

// Of few tiles every order is compared. Else the verdict says that it rests on the others.
TEST(ClaimsTest, OrdersOfTilesAreAllComparedOrNamed) {
  const ProofResult few = prove(entry(), with(5, kNoFault), timing_only());
  EXPECT_EQ(few.verdict, ProofVerdict::kProved);
  EXPECT_THAT(few.notes, IsEmpty());
  for (const std::int64_t clusters : {6, 17, 40}) {
    const ProofResult many = prove(entry(), with(clusters, kNoFault), timing_only());
    EXPECT_EQ(many.verdict, ProofVerdict::kProved);
    EXPECT_THAT(many.notes, ElementsAre(HasSubstr("orders that were compared")));
    EXPECT_THAT(many.strength(), HasSubstr("it rests on this: a cluster does in every order"));
  }
}

// Of a cluster other than the first with a tile of another: no cluster alone, and not the first
// with any tiles, does what is wrong.
TEST(ClaimsTest, OtherClustersWithOtherTilesAreCompared) {
  for (const std::int64_t clusters : {5, 9, 17}) {
    const ProofResult result = prove(entry(), with(clusters, kWorkOfPair), timing_only());
    ASSERT_EQ(result.verdict, ProofVerdict::kUndecided) << clusters;
  }
}

// Where data decides what is done for claimed tiles alone, only runs in which one claims show it.
TEST(ClaimsTest, WhatDataDecidesIsAskedOfClaimedTiles) {
  const ProofResult result = prove(entry(), with(5, kWorkOfData), timing_only());
  EXPECT_TRUE(result.data_decides);
  EXPECT_FALSE(prove(entry(), with(1, kWorkOfData), timing_only()).data_decides);
  EXPECT_FALSE(prove(entry(), with(5, kNoFault), timing_only()).data_decides);
}

// Which mbarrier counts a copy is no address in global memory.
TEST(ClaimsTest, WhatCountsACopyIsWork) {
  EXPECT_TRUE(goes_wrong(with(5, kSwapsBarriers)));
  const ProofResult one = prove(entry(), with(1, kSwapsBarriers), timing_only());
  EXPECT_EQ(one.verdict, ProofVerdict::kProved);
  EXPECT_FALSE(goes_wrong(with(5, kSwapsInTime)));
}

// Beyond the numbers that show the state come back others are proved, as many as are cheap. What
// is left is said.
TEST(ClaimsTest, LargerNumbersOfTilesAreComparedOrNamed) {
  const ProofResult all = prove(entry(), with(40, kNoFault), timing_only());
  EXPECT_EQ(all.verdict, ProofVerdict::kProved);
  EXPECT_TRUE(all.claims.all);
  EXPECT_EQ(all.claims.compared.size(), 40 - all.claims.tiles);
  EXPECT_THAT(all.strength(), HasSubstr(" to 40"));
  EXPECT_THAT(all.notes, ElementsAre(HasSubstr("orders that were compared")));

  const ProofResult some = prove(entry(), with(1000, kNoFault), timing_only());
  EXPECT_FALSE(some.claims.all);
  EXPECT_THAT(some.claims.compared, ::testing::Contains(1000U));
  EXPECT_THAT(some.notes, ::testing::Contains(some.claims.hypothesis()));
}

TEST(ClaimsTest, AFaultOfALateTileIsFound) {
  for (const std::int64_t clusters : {16, 1000}) {
    EXPECT_EQ(prove(entry(), with(clusters, kKeepsALateSlot), timing_only()).verdict,
              ProofVerdict::kRefuted);
  }
}

TEST(ClaimsTest, WhatATileDoesBehindAnotherIsCompared) {
  for (const std::int64_t clusters : {8, 17}) {
    const ProofResult result = prove(entry(), with(clusters, kWorkOfStep), timing_only());
    ASSERT_EQ(result.verdict, ProofVerdict::kUndecided) << clusters;
    EXPECT_THAT(result.undecided.front().reason, HasSubstr("depends on which tiles it claims"));
  }
}

constexpr const char* kOthersOfAKind =
    "a cluster does for other tiles of the same kinds what it does for those that were compared";

// Tiles may differ in what is done for them: then each order of their kinds is proved by itself.
TEST(ClaimsTest, EveryOrderOfTilesOfSeveralKindsIsProved) {
  const ProofResult two = prove(entry(), with(2, kWorkOfTile), timing_only());
  EXPECT_EQ(two.verdict, ProofVerdict::kProved);
  EXPECT_EQ(two.claims.kinds, 2U);
  EXPECT_EQ(two.claims.orders, 4U);  // 0, 1, 0 1, 1 0
  EXPECT_THAT(two.notes, IsEmpty());
  EXPECT_THAT(two.strength(), HasSubstr("which are of 2 kinds: 4 orders"));

  const ProofResult five = prove(entry(), with(5, kWorkOfTile), timing_only());
  EXPECT_EQ(five.verdict, ProofVerdict::kProved);
  EXPECT_EQ(five.claims.kinds, 2U);
  EXPECT_EQ(five.claims.orders, 33U);  // of at most three even and two odd ones
  EXPECT_THAT(five.notes, ElementsAre(kOthersOfAKind));
  EXPECT_FALSE(goes_wrong(with(5, kWorkOfTile)));
}

TEST(ClaimsTest, AFaultOfOneOrderIsFoundAndReplayed) {
  const ParameterSet parameters = with(2, kKeepsBehindOdd);
  const ProofResult result = prove(entry(), parameters, timing_only());
  ASSERT_EQ(result.verdict, ProofVerdict::kRefuted);
  EXPECT_THAT(result.schedule.to_string(), HasSubstr("+order:1.0"));
  RunOptions again;
  again.moves_data = false;
  again.schedule = ScheduleSpec::parse(result.schedule.to_string());
  EXPECT_FALSE(simulate(entry(), parameters, again).clean(false));
  // By itself no cluster gets them in this order: the first begins first.
  EXPECT_FALSE(goes_wrong(parameters));
  EXPECT_EQ(prove(entry(), with(5, kKeepsBehindOdd), timing_only()).verdict,
            ProofVerdict::kRefuted);
  EXPECT_TRUE(goes_wrong(with(5, kKeepsBehindOdd)));
}

TEST(ClaimsTest, AnOrderOfClustersThatAreNotThereIsRefused) {
  RunOptions run;
  run.moves_data = false;
  run.schedule = ScheduleSpec::parse("in-turn+order:1.5");
  EXPECT_THROW(simulate(entry(), with(5, kNoFault), run), ConfigError);
}

TEST(ClaimsTest, MoreOrdersThanAreProvedAreNamed) {
  const ProofResult result = prove(entry(), with(24, kWorkOfTile), timing_only());
  ASSERT_EQ(result.verdict, ProofVerdict::kUndecided);
  EXPECT_THAT(result.undecided.front().reason, HasSubstr("the 24 tiles are of 2 kinds"));
}

TEST(ClaimsTest, TheSearchSaysThatItTriesNoOrders) {
  ExploreRunOptions options;
  options.run.moves_data = false;
  options.schedules_max = 100;
  const ExploreRunResult result = explore_scenario(entry(), with(2, kWorkOfTile), options);
  EXPECT_EQ(result.search, Explored::kIncomplete);
  EXPECT_THAT(result.what, HasSubstr("orders were not tried"));
}

// A word of shared memory is data, as a register is, and a tensor map in memory a place in it.
TEST(ClaimsTest, WhatIsHandedOnAndMapsOfTilesMayDifferByTile) {
  for (const std::int64_t fault : {kHandsTileOn, kMapOfTile}) {
    const ProofResult result = prove(entry(), with(5, fault), timing_only());
    EXPECT_EQ(result.verdict, ProofVerdict::kProved) << fault;
    EXPECT_EQ(result.claims.tiles, 5U);
    EXPECT_FALSE(goes_wrong(with(5, fault)));
  }
}

TEST(ClaimsTest, TriesAreTriedWithTheSameTiles) {
  const ProofResult result = prove(entry(), with(5, kTries), timing_only());
  EXPECT_EQ(result.verdict, ProofVerdict::kProved);
  EXPECT_EQ(result.claims.tiles, 5U);
}

TEST(ClaimsTest, TheSearchAgreesForEachNumberOfTiles) {
  ExploreRunOptions options;
  options.run.moves_data = false;
  options.schedules_max = 100;
  const ExploreRunResult all = explore_scenario(entry(), with(4, kNoFault), options);
  EXPECT_EQ(all.search, Explored::kRight) << all.what;
  EXPECT_GE(all.protocols, 5U);  // of the first run, and of 1 to 4 tiles
  const ExploreRunResult more = explore_scenario(entry(), with(5, kNoFault), options);
  EXPECT_EQ(more.search, Explored::kIncomplete);
  EXPECT_THAT(more.what, HasSubstr("more than the 4 tiles"));
}

class WrongRingTest : public ::testing::TestWithParam<Fault> {};

TEST_P(WrongRingTest, IsRefutedWithAScheduleThatShowsIt) {
  const ParameterSet parameters = with(5, GetParam());
  ProofOptions options = timing_only();
  options.run.resident_ctas = 5;  // of its own accord no cluster gets a second tile
  const ProofResult result = prove(entry(), parameters, options);
  ASSERT_EQ(result.verdict, ProofVerdict::kRefuted);
  EXPECT_FALSE(result.internal_error);
  EXPECT_TRUE(goes_wrong(parameters));
  // The schedule says how many tiles the first cluster gets, and survives its text form.
  const bool found = !result.run.clean(false);
  const ScheduleSpec& schedule =
      found ? result.schedule : result.refutations.front().witness.schedule;
  const RunResult& shown = found ? result.run : result.refutations.front().witness.run;
  RunOptions again = options.run;
  again.schedule = ScheduleSpec::parse(schedule.to_string());
  const RunResult replayed = simulate(entry(), parameters, again);
  ASSERT_FALSE(replayed.findings.empty());
  ASSERT_EQ(replayed.findings.size(), shown.findings.size());
  EXPECT_EQ(replayed.findings.front().message, shown.findings.front().message);
}
INSTANTIATE_TEST_SUITE_P(Faults,
                         WrongRingTest,
                         ::testing::Values(kNeverFrees,
                                           kKeepsThirdSlot,
                                           kNoProxyFence,
                                           kCountOneTooFew,
                                           kLeavesThrough,
                                           kReadsThroughFail,
                                           kSwapsBarriers));

TEST(ClaimsTest, TheReplayLineSaysHowManyTilesTheFirstClusterGets) {
  ProofOptions options = timing_only();
  options.run.resident_ctas = 5;
  const ProofResult result = prove(entry(), with(5, kKeepsThirdSlot), options);
  // Three tiles, whose third slot is the drain's, do not need the fourth response.
  EXPECT_EQ(result.schedule.tiles, 3U);
  EXPECT_THAT(result.schedule.to_string(), HasSubstr("+tiles:3"));
  EXPECT_FALSE(simulate(entry(),
                        with(5, kKeepsThirdSlot),
                        [&] {
                          RunOptions run = options.run;
                          run.schedule.tiles = 3;
                          return run;
                        }())
                   .clean(false));
}

struct Open {
  Fault fault;
  const char* reason;
  ProofVerdict verdict = ProofVerdict::kUndecided;
};

void PrintTo(const Open& open, std::ostream* out) {
  *out << open.reason;
}

class UndecidedRingTest : public ::testing::TestWithParam<Open> {};

TEST_P(UndecidedRingTest, IsNotCalledProved) {
  const ProofResult result = prove(entry(), with(5, GetParam().fault), timing_only());
  ASSERT_EQ(result.verdict, GetParam().verdict);
  ASSERT_FALSE(result.undecided.empty());
  EXPECT_THAT(result.undecided.front().reason, HasSubstr(GetParam().reason));
}
INSTANTIATE_TEST_SUITE_P(
    Faults,
    UndecidedRingTest,
    // With two tiles it goes wrong, too: the parity of two
    // laps back lets the second asker pass.
    ::testing::Values(Open{kTwoAsk, "several warps of a cluster ask", ProofVerdict::kRefuted},
                      Open{kAsksAhead, "before it is known"},
                      Open{kWorkOfThird, "depends on which tiles it claims"},
                      Open{kWorkOfPair, "depends on which tiles it claims"},
                      Open{kWorkOfTwoSteps, "depends on which tiles it claims"},
                      Open{kWorkOfMiddle, "depends on which tiles it claims"},
                      Open{kWorkOfCluster, "depends on which cluster has it"},
                      Open{kMapOfCluster, "depends on which cluster has it"},
                      Open{kMeets, "meet in global memory"}));

TEST(ClaimsTest, ARequestMayFailEarlyByARule) {
  RunOptions run;
  run.moves_data = false;
  run.resident_ctas = 1;
  EXPECT_EQ(simulate(entry(), with(5, kKeepsThirdSlot), run).clean(false), false);
  // Every second request fails: no cluster gets a third tile.
  choose_rule(run.rules, "clc_failure=early");
  EXPECT_EQ(simulate(entry(), with(5, kKeepsThirdSlot), run).clean(false), true);
  // The proof is of every number of tiles all the same.
  ProofOptions options = timing_only();
  options.run.rules = run.rules;
  EXPECT_EQ(prove(entry(), with(5, kNoFault), options).verdict, ProofVerdict::kProved);
}

// Pairs that claim tiles, and allocate tensor memory for their third. If that brings the CTAs
// together, the second must not wait for what the first does behind it.
class Pair {
 public:
  Pair(M& machine, bool waits_first) : m_{machine}, waits_first_{waits_first} {}

  void run() {
    m_.elect_one([&] {
      m_.mbarrier_init(kFull[0], 1);
      m_.mbarrier_init(kEmpty[0], 1);
      m_.mbarrier_init(kOwn, 1);
      m_.fence_mbarrier_init();
    });
    m_.sync_warp();
    meet();
    std::uint32_t tiles = 0;
    for (bool valid = true; valid; ++tiles) {
      if (tiles == 2) {
        allocate();
      }
      valid = fetch(tiles);
    }
    meet();
    if (tiles > 2) {
      m_.tcgen05_dealloc(CtaGroup::kTwo, TmemAddress{0}, 32);
    }
    meet();
  }

 private:
  bool leads() const { return m_.cta_rank() == 0; }
  void meet() {
    m_.barrier_cluster_arrive();
    m_.barrier_cluster_wait();
  }
  void wait(Mbarrier bar, WaitPhase phase) {
    m_.mbarrier_wait_parity(bar, phase, kAcquireCluster);
    m_.sync_warp();
  }
  void allocate() {
    if (!leads() && waits_first_) {
      wait(kOwn, WaitPhase::number(0));
    }
    m_.tcgen05_alloc(CtaGroup::kTwo, kData, 32);
    m_.tcgen05_relinquish_alloc_permit(CtaGroup::kTwo);
    if (leads()) {
      m_.elect_one([&] { m_.mbarrier_arrive(m_.mapa(kOwn, 1)); });
    } else if (!waits_first_) {
      wait(kOwn, WaitPhase::number(0));
    }
  }
  bool fetch(std::uint32_t tile) {
    m_.elect_one([&] { m_.mbarrier_arrive_expect_tx(kFull[0], kClcResponseBytes); });
    if (leads()) {
      if (tile > 0) {
        wait(kEmpty[0], WaitPhase::number(tile - 1));
      }
      m_.elect_one([&] { m_.clc_try_cancel(kResponses, kFull[0], true); });
    }
    wait(kFull[0], WaitPhase::number(tile));
    const bool valid = m_.clc_is_canceled(kResponses);
    m_.fence_proxy_async(ProxySpace::kSharedCta);
    m_.sync_warp();
    if (!leads()) {
      m_.elect_one([&] { m_.mbarrier_arrive(m_.mapa(kEmpty[0], 0)); });
    } else if (!valid) {
      wait(kEmpty[0], WaitPhase::number(tile));
    }
    return valid;
  }

  M& m_;
  bool waits_first_;
};

ScenarioEntry entry_of_pairs(bool waits_first) {
  ScenarioEntry pairs = entry();
  pairs.workload = [](const ParameterSet& p) {
    Workload workload;
    workload.clusters = p.u32("clusters");
    workload.cluster_size = 2;
    return workload;
  };
  pairs.symbols = [](const ParameterSet&) {
    Symbols symbols;
    symbols.bytes = 8192 - kSharedBase;
    symbols.roles = {{Role::kScheduler, 1}};
    return symbols;
  };
  pairs.body = [waits_first](const ParameterSet&,
                             std::span<const SimTensorMap>,
                             std::span<const GlobalAddress>) -> WarpBody {
    return [waits_first](M& m) { Pair{m, waits_first}.run(); };
  };
  return pairs;
}

TEST(ClaimsTest, APairThatWaitsForItsLeaderBeforeItAllocatesMayWaitForGood) {
  const ProofResult right = prove(entry_of_pairs(false), with(5, kNoFault), timing_only());
  ASSERT_EQ(right.verdict, ProofVerdict::kProved)
      << (right.run.findings.empty() ? right.strength() : right.run.findings.front().message);
  EXPECT_EQ(right.claims.tiles, 5U);

  ProofOptions alone = timing_only();
  choose_rule(alone.run.rules, "pair_alloc=alone");
  EXPECT_EQ(prove(entry_of_pairs(true), with(5, kNoFault), alone).verdict, ProofVerdict::kProved);
  const ProofResult wrong = prove(entry_of_pairs(true), with(5, kNoFault), timing_only());
  ASSERT_EQ(wrong.verdict, ProofVerdict::kRefuted);
  EXPECT_EQ(wrong.schedule.tiles, 3U);
  // In launches of two tiles nobody allocates.
  EXPECT_EQ(prove(entry_of_pairs(true), with(2, kNoFault), timing_only()).verdict,
            ProofVerdict::kProved);
}

}  // namespace

// The list of a command that has no scenario.
std::vector<ScenarioEntry> scenario_list() {
  return {};
}

}  // namespace warptwin::sim
