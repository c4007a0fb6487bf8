#include "sim/timed/engine.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::engine_test {
namespace {

using Body = std::function<void(SimMachine&)>;

constexpr Mbarrier kFirst{{1024}};
constexpr Mbarrier kSecond{{1032}};

/// Keeps every event.
struct Recorder : EventSink {
  void on_event(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

struct Outcome {
  TimedStats stats;
  std::vector<Event> events;

  /// When warp `warp` executed its `nth` operation of a kind.
  std::uint64_t time(Op op, std::uint32_t warp, std::size_t nth = 0) const {
    for (const Event& event : events) {
      if (event.op == op && event.warp == warp && event.step == Step::kDone && nth-- == 0) {
        return event.time;
      }
    }
    ADD_FAILURE() << "warp " << warp << " has no such " << name_of(op);
    return 0;
  }
};

Chip plain_chip() {
  Chip chip = load_chip("b200");
  chip.cta_start_us = chip.cta_gap_us = 0;
  return chip;
}

Outcome run(std::uint32_t warps,
            const Body& body,
            const Chip& chip,
            std::uint32_t clusters = 1,
            std::uint32_t cluster_size = 1) {
  LaunchConfig config;
  config.cluster_size = cluster_size;
  config.warps_per_cta = warps;
  config.shared_bytes = 4096;
  config.clusters = clusters;
  GlobalMemory memory;
  memory.add("flags", 64, true);
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  Recorder recorder;
  gpu.set_sink(&recorder);
  TimedOptions options;
  options.operations_max = 100'000;
  Outcome result;
  result.stats = run_timed(gpu, body, chip, options);
  result.events = std::move(recorder.events);
  return result;
}

// Warp 0 initialises, all meet, then `rest` runs.
template <class F>
Body with_barriers(std::uint32_t count, F rest) {
  return [count, rest](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.elect_one([&] {
        machine.mbarrier_init(kFirst, count);
        machine.mbarrier_init(kSecond, count);
      });
    }
    machine.cta_sync();
    rest(machine);
  };
}

void ping_pong(SimMachine& machine) {
  const bool first = machine.warp_index() == 0;
  for (std::uint32_t i = 0; i < 5; ++i) {
    machine.mbarrier_wait_parity(first ? kSecond : kFirst, WaitPhase::number(first ? i - 1 : i));
    machine.sync_warp();
    machine.mbarrier_arrive(first ? kFirst : kSecond);
  }
}

TEST(TimedEngine, AWaiterGoesOnWhenThePhaseIsCompleteAndItHasWoken) {
  for (const double wake : {0.0, 25.0, 80.0}) {
    Chip chip = plain_chip();
    chip.mbarrier_wake = wake;
    const Outcome result = run(2, with_barriers(32, ping_pong), chip);
    ASSERT_EQ(result.stats.ending, Ending::kDone);
    for (std::size_t i = 0; i < 5; ++i) {
      const std::uint64_t arrived = result.time(Op::kMbarrierArrive, 0, i);
      EXPECT_EQ(result.time(Op::kMbarrierWait, 1, i), arrived + static_cast<std::uint64_t>(wake));
    }
  }
}

TEST(TimedEngine, AnArrivalTakesIssueAndLatency) {
  Chip chip = plain_chip();
  const Outcome result = run(2, with_barriers(32, ping_pong), chip);
  const auto cost = static_cast<std::uint64_t>(1 + 2 * chip.issue + chip.mbarrier_arrive);
  EXPECT_NEAR(static_cast<double>(result.time(Op::kMbarrierArrive, 1, 2)),
              static_cast<double>(result.time(Op::kMbarrierWait, 1, 2) + cost),
              2.0);
}

TEST(TimedEngine, AWarpLooksNoSoonerThanItComesToLook) {
  // Warp 1 comes late: the phase has long been complete.
  const Body body = with_barriers(32, [](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.mbarrier_arrive(kFirst);
    } else {
      machine.fence({Semantics::kAcqRel, Scope::kGpu});
      machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
    }
  });
  Chip chip = plain_chip();
  chip.fence_gpu = 3000;
  const Outcome result = run(2, body, chip);
  const std::uint64_t met = result.time(Op::kBarSync, 1);
  EXPECT_GE(result.time(Op::kMbarrierWait, 1), met + 3000);
  EXPECT_LE(result.time(Op::kMbarrierWait, 1), met + 3000 + 60);
}

TEST(TimedEngine, TheSameRunGivesTheSameTimes) {
  const Chip chip = plain_chip();
  const Outcome first = run(2, with_barriers(32, ping_pong), chip);
  const Outcome second = run(2, with_barriers(32, ping_pong), chip);
  ASSERT_EQ(first.events.size(), second.events.size());
  for (std::size_t i = 0; i < first.events.size(); ++i) {
    ASSERT_EQ(first.events[i].time, second.events[i].time);
    ASSERT_EQ(first.events[i].op, second.events[i].op);
    ASSERT_EQ(first.events[i].warp, second.events[i].warp);
  }
}

TEST(TimedEngine, AProcessRunsManySimulations) {
  const Chip chip = plain_chip();
  const double cycles = run(2, with_barriers(32, ping_pong), chip).stats.cycles;
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(run(2, with_barriers(32, ping_pong), chip).stats.cycles, cycles);
  }
}

TEST(TimedEngine, WaitingForNobodyIsADeadlockAndUnwindsEveryWarp) {
  int unwound = 0;
  struct Counter {
    explicit Counter(int& n) : count{n} {}
    ~Counter() { ++count; }
    int& count;
  };
  const Outcome result =
      run(3,
          with_barriers(32,
                        [&unwound](SimMachine& machine) {
                          const Counter counter{unwound};
                          machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
                        }),
          plain_chip());
  EXPECT_EQ(result.stats.ending, Ending::kDeadlock);
  EXPECT_EQ(unwound, 3);
}

TEST(TimedEngine, PollingForEverReachesTheBound) {
  const Outcome result =
      run(1,
          with_barriers(32,
                        [](SimMachine& machine) {
                          while (!machine.mbarrier_try_wait_parity(kFirst, WaitPhase::number(0))) {
                          }
                        }),
          plain_chip());
  EXPECT_THAT(result.stats.ending, testing::AnyOf(Ending::kLivelock, Ending::kStepBound));
}

TEST(TimedEngine, WhatABodyThrowsComesOut) {
  const Body body = [](SimMachine& machine) {
    machine.sync_warp();
    throw std::runtime_error{"mine"};
  };
  EXPECT_THROW(run(2, body, plain_chip()), std::runtime_error);
  EXPECT_EQ(run(2, with_barriers(32, ping_pong), plain_chip()).stats.ending, Ending::kDone);
}

TEST(TimedEngine, ATrapEndsTheRun) {
  const Body body = [](SimMachine& machine) { machine.mbarrier_arrive(kSecond); };
  EXPECT_EQ(run(1, body, plain_chip()).stats.ending, Ending::kTrapped);
}

TEST(TimedEngine, CtasThatFollowEachOtherOnAnSmAreAGapApart) {
  Chip chip = plain_chip();
  chip.clock = 1;
  chip.cta_start_us = 0.5;
  chip.cta_gap_us = 2;
  const Body body = [](SimMachine& machine) { machine.cta_sync(); };
  const Outcome one = run(1, body, chip, 1);
  const Outcome three = run(1, body, chip, 3);
  EXPECT_NEAR(three.stats.cycles, 500 + 3 * (one.stats.cycles - 500) + 2 * 2000, 1);
}

TEST(TimedEngine, AResponseOfTheSchedulerComesAfterItsLatency) {
  const Body body = with_barriers(1, [](SimMachine& machine) {
    machine.elect_one([&] { machine.mbarrier_arrive_expect_tx(kFirst, 16); });
    machine.clc_try_cancel({2048}, kFirst, false);
    machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
    machine.sync_warp();
  });
  Chip chip = plain_chip();
  const auto waited = [&](double latency) {
    chip.clc_latency = latency;
    const Outcome result = run(1, body, chip);
    EXPECT_EQ(result.stats.ending, Ending::kDone);
    return result.time(Op::kMbarrierWait, 0);
  };
  EXPECT_EQ(waited(1500), waited(1000) + 500);
}

TEST(TimedEngine, AnArrivalInAnotherCtaTakesTheWayThere) {
  const auto waited = [](Ordering ordering, double release, double relaxed) {
    const Body body = with_barriers(32, [&](SimMachine& machine) {
      machine.barrier_cluster_arrive(kReleaseCluster);
      machine.barrier_cluster_wait();
      if (machine.cta_rank() == 0) {
        machine.mbarrier_arrive(machine.mapa(kFirst, 1), 1, ordering);
      } else {
        machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
        machine.sync_warp();
      }
      machine.barrier_cluster_arrive(kReleaseCluster);
      machine.barrier_cluster_wait();
    });
    Chip chip = plain_chip();
    chip.dsmem_latency = release;
    chip.dsmem_relaxed = relaxed;
    const Outcome result = run(1, body, chip, 1, 2);
    EXPECT_EQ(result.stats.ending, Ending::kDone);
    return result.time(Op::kMbarrierWait, 1);
  };
  EXPECT_EQ(waited(kReleaseCluster, 300, 50), waited(kReleaseCluster, 200, 50) + 100);
  EXPECT_EQ(waited(kRelaxedCluster, 300, 150), waited(kRelaxedCluster, 300, 50) + 100);
}

// What a warp calculates between two operations delays the second, by the slower of the units.
TEST(TimedEngine, ArithmeticOnRegistersTakesItsTime) {
  const auto met = [](std::uint32_t fma, std::uint32_t mufu, double fma_rate, double mufu_rate) {
    Chip chip = plain_chip();
    chip.fma_rate = fma_rate;
    chip.mufu_rate = mufu_rate;
    const Body body = [&](SimMachine& machine) {
      machine.sync_warp();
      machine.registers().math.fma += fma;
      machine.registers().math.mufu += mufu;
      machine.cta_sync();
    };
    return run(1, body, chip).time(Op::kBarSync, 0);
  };
  const std::uint64_t none = met(0, 0, 128, 16);
  EXPECT_EQ(met(64, 0, 128, 16), none + 64);
  EXPECT_EQ(met(64, 8, 128, 16), none + 64);  // both at once
  EXPECT_EQ(met(64, 9, 128, 16), none + 72);
  EXPECT_EQ(met(64, 9, 128, 32), none + 64);  // one constant turned
  EXPECT_EQ(met(64, 0, 64, 16), none + 128);
}

TEST(TimedEngine, TransformingAFragmentIsArithmetic) {
  Chip chip = plain_chip();
  const auto met = [&](bool transforms) {
    const Body body = [&](SimMachine& machine) {
      machine.sync_warp();
      if (transforms) {
        SimFragment<16> first;
        SimFragment<16> second;
        second.give_to(&machine.registers());
        first.give_to(&machine.registers());
        first.transform([](float x) { return 2 * x; });
        first.combine(second, [](float x, float y) { return x + y; });
      }
      machine.cta_sync();
    };
    return run(1, body, chip).time(Op::kBarSync, 0);
  };
  EXPECT_EQ(met(true), met(false) + 2 * 16);
}

TEST(TimedEngine, AnMmaTheChipHasNotIsRefused) {
  Chip chip = plain_chip();
  chip.mma.clear();
  const Body body = [](SimMachine& machine) {
    machine.tcgen05_alloc(CtaGroup::kOne, {3584}, 128);
    const auto shape =
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 64, 64);
    const auto tile = UmmaSmemDescriptor::make({1024}, 16, 256, Swizzle::k32B);
    machine.tcgen05_mma(CtaGroup::kOne, {0}, tile, tile, shape, false);
  };
  EXPECT_THROW(run(1, body, chip), ChipError);
}

TEST(TimedEngine, ABlockScaledMmaTakesACycleMoreWhateverItsElements) {
  const auto waited = [](MmaKind kind, ElementType type) {
    const Body body = with_barriers(1, [=](SimMachine& machine) {
      machine.tcgen05_alloc(CtaGroup::kOne, {3584}, 256);
      const auto tile = UmmaSmemDescriptor::make({0}, 16, 256, Swizzle::k32B);
      if (is_block_scaled(kind)) {
        const auto shape = UmmaInstructionDescriptor::make_block_scaled(kind, type, 128, 128);
        machine.tcgen05_mma_block_scale(
            CtaGroup::kOne, {0}, tile, tile, shape, {128}, {132}, false);
      } else {
        const auto shape = UmmaInstructionDescriptor::make(type, type, 128, 128);
        machine.tcgen05_mma(CtaGroup::kOne, {0}, tile, tile, shape, false);
      }
      machine.tcgen05_commit(CtaGroup::kOne, kFirst);
      machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
      machine.sync_warp();
    });
    return run(1, body, plain_chip()).time(Op::kMbarrierWait, 0);
  };
  const std::uint64_t plain = waited(MmaKind::kF8f6f4, ElementType::kF8E4M3);
  EXPECT_EQ(waited(MmaKind::kMxf8f6f4, ElementType::kF8E4M3), plain + 1);
  EXPECT_EQ(waited(MmaKind::kMxf4, ElementType::kF4E2M1), plain + 1);
  EXPECT_EQ(waited(MmaKind::kMxf4nvf4, ElementType::kF4E2M1), plain + 1);
}

// --- Several CTAs on one SM --------------------------------------------------------------------

struct Grid {
  std::uint32_t ctas = 1;
  std::uint32_t at_a_time = 1;
  std::uint32_t sms = 1;
};

Outcome run_grid(const Grid& grid, std::uint32_t warps, const Body& body, const Chip& chip) {
  LaunchConfig config;
  config.warps_per_cta = warps;
  config.shared_bytes = 16384;
  config.clusters = grid.ctas;
  config.resident_clusters = grid.at_a_time;
  config.places = grid.sms;
  config.moves_data = false;
  GlobalMemory memory;
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  Recorder recorder;
  gpu.set_sink(&recorder);
  Outcome result;
  result.stats = run_timed(gpu, body, chip, {});
  result.events = std::move(recorder.events);
  EXPECT_EQ(result.stats.ending, Ending::kDone);
  return result;
}

// --- Clusters that run ahead of each other ------------------------------------------------------

// Copies of all sizes, work in between, and stores that nobody waits for: of each cluster others.
// Where there is a `counter`, how much work depends on who has counted before.
Body anything(std::uint32_t seed, std::optional<GlobalAddress> counter) {
  return with_barriers(1, [seed, counter](SimMachine& machine) {
    std::uint32_t state = seed + 977 * machine.cluster_index() + 31 * machine.cta_rank();
    const auto random = [&](std::uint32_t below) {
      state = state * 1664525 + 1013904223;
      return (state >> 8) % below;
    };
    const auto somewhere = [&] { return GlobalAddress{(1U << 20) + 4096ULL * random(8)}; };
    const std::uint32_t loads = machine.warp_index() == 0 ? 1 + random(4) : 0;
    machine.elect_one([&] {
      for (std::uint32_t i = 0; i < loads; ++i) {
        const std::uint32_t bytes = 16U << random(9);
        machine.mbarrier_arrive_expect_tx(kFirst, bytes);
        machine.cp_async_bulk_load({4096}, somewhere(), bytes, CopyTarget{kFirst});
        machine.mbarrier_wait_parity(kFirst, WaitPhase::number(i));
        std::uint32_t work = random(3);
        if (counter) {
          machine.red_add_release_global_u32(*counter, 1);
          work += machine.ld_acquire_global_u32(*counter) % 3;
        }
        for (; work != 0; --work) {
          machine.fence({Semantics::kAcqRel, Scope::kGpu});
        }
        if (random(2) != 0) {
          machine.cp_async_bulk_store(somewhere(), {4096}, 16U << random(9));
          machine.cp_async_bulk_commit_group();
        }
      }
    });
  });
}

// One that is looked at has its operations in the order of time; else clusters run ahead.
std::string report_of(std::uint32_t seed, bool counts, bool looked_at) {
  LaunchConfig config;
  config.cluster_size = 1 + seed % 2;
  config.warps_per_cta = 2;
  config.shared_bytes = 16384;
  config.clusters = 40;
  config.resident_clusters = 8;
  config.places = 4;
  config.moves_data = false;
  GlobalMemory memory;
  memory.add("data", 1U << 16, false);
  std::optional<GlobalAddress> counter;
  if (counts) {
    counter = GlobalAddress{memory.add("counter", 4, true)};
  }
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  Recorder recorder;
  gpu.set_sink(looked_at ? &recorder : nullptr);
  TimedOptions options;
  options.causes = CauseLog::kStepsMost;
  const TimedStats stats = run_timed(gpu, anything(seed, counter), load_chip("b200"), options);
  EXPECT_EQ(stats.ending, Ending::kDone);
  std::ostringstream text;
  text << static_cast<int>(stats.ending) << ' ' << stats.cycles << ' ' << stats.operations << '\n';
  for (const RoleTime& role : stats.roles) {
    text << role.alive << ' ' << role.issuing << '\n';
  }
  for (const UnitUse& unit : stats.units) {
    text << unit.name << ' ' << unit.mean << ' ' << unit.most << '\n';
  }
  for (const PathPart& part : stats.path->parts) {
    text << part.what << ' ' << part.cycles << ' ' << part.steps << '\n';
  }
  return text.str();
}

TEST(TimedEngine, ClustersThatRunAheadChangeNothing) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    EXPECT_EQ(report_of(seed, false, false), report_of(seed, false, true)) << "seed " << seed;
  }
}

TEST(TimedEngine, ClustersThatCountInOneWordDoSoInTheOrderOfTime) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(report_of(seed, true, false), report_of(seed, true, true)) << "seed " << seed;
  }
}

double cycles_of(const Grid& grid, const Body& body, std::uint32_t warps = 1) {
  return run_grid(grid, warps, body, plain_chip()).stats.cycles;
}

// So many MMAs of 128 cycles, on the tensor memory of a CTA.
Body multiplies(std::uint32_t count, std::uint32_t columns = 256) {
  return with_barriers(1, [=](SimMachine& machine) {
    machine.tcgen05_alloc(CtaGroup::kOne, {3584}, columns);
    machine.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
    const auto tile = UmmaSmemDescriptor::make({0}, 16, 256, Swizzle::k32B);
    const auto shape =
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 256);
    machine.elect_one([&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        machine.tcgen05_mma(CtaGroup::kOne, {0}, tile, tile, shape, i != 0);
      }
      machine.tcgen05_commit(CtaGroup::kOne, kFirst);
    });
    machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
    machine.tcgen05_dealloc(CtaGroup::kOne, {0}, columns);
  });
}

TEST(SharedSm, WhereTheTensorCoreBindsTwoCtasTakeTwiceTheTimeOfOne) {
  constexpr double kBusy = 200 * 128;
  const Body body = multiplies(200);
  const double one = cycles_of({1, 1, 1}, body);
  EXPECT_NEAR(cycles_of({2, 2, 1}, body), one + kBusy, 0.005 * kBusy);
  EXPECT_NEAR(cycles_of({2, 2, 2}, body), one, 1);      // an SM each
  EXPECT_NEAR(cycles_of({2, 1, 1}, body), 2 * one, 1);  // one after the other
}

TEST(SharedSm, TwoCtasHideEachOthersLatency) {
  // Each waits for every product: the other one's are in between.
  const Body body = with_barriers(1, [](SimMachine& machine) {
    machine.tcgen05_alloc(CtaGroup::kOne, {3584}, 256);
    machine.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
    const auto tile = UmmaSmemDescriptor::make({0}, 16, 256, Swizzle::k32B);
    const auto shape =
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 256);
    for (std::uint32_t i = 0; i < 50; ++i) {
      machine.elect_one([&] {
        machine.tcgen05_mma(CtaGroup::kOne, {0}, tile, tile, shape, i != 0);
        machine.tcgen05_commit(CtaGroup::kOne, kFirst);
      });
      machine.mbarrier_wait_parity(kFirst, WaitPhase::number(i));
      machine.sync_warp();
    }
    machine.tcgen05_dealloc(CtaGroup::kOne, {0}, 256);
  });
  const double one = cycles_of({1, 1, 1}, body);
  EXPECT_GT(one, 50 * 2 * 128);  // less than half of it is the product
  EXPECT_LT(cycles_of({2, 2, 1}, body), 1.1 * one);
}

TEST(SharedSm, WhatOnlyWaitsTakesNoLonger) {
  const Body body = [](SimMachine& machine) {
    for (int i = 0; i < 10; ++i) {
      machine.fence({Semantics::kAcqRel, Scope::kGpu});
    }
  };
  EXPECT_NEAR(cycles_of({8, 8, 1}, body), cycles_of({1, 1, 1}, body), 10 * 8);
}

TEST(SharedSm, EverySmGetsOneCtaBeforeAnyGetsTwo) {
  const Body body = multiplies(200);
  const double one = cycles_of({1, 1, 1}, body);
  EXPECT_NEAR(cycles_of({3, 4, 3}, body), one, 1);
  const double two = cycles_of({2, 2, 1}, body);
  EXPECT_NEAR(cycles_of({4, 4, 3}, body), two, 1);
  EXPECT_NEAR(cycles_of({6, 6, 3}, body), two, 1);
}

TEST(SharedSm, ClustersShareTheSmsOfTheirRanks) {
  LaunchConfig config;
  config.clusters = config.resident_clusters = 4;
  config.cluster_size = 2;
  config.places = 3;
  GlobalMemory memory;
  const Symbols symbols;
  const Gpu gpu{config, memory, symbols};
  std::vector<std::uint32_t> sms;
  for (std::uint32_t cta = 0; cta < 8; ++cta) {
    sms.push_back(gpu.sm_of(cta));
  }
  EXPECT_THAT(sms, testing::ElementsAre(0, 1, 2, 3, 4, 5, 0, 1));
  EXPECT_THAT(gpu.ctas_of_sm(7), testing::ElementsAre(1, 7));
  EXPECT_THAT(gpu.ctas_of_sm(2), testing::ElementsAre(2));
}

TEST(SharedSm, TheNextCtaStartsWhenAnyOfItsSmEnds) {
  Chip chip = plain_chip();
  chip.clock = 1;
  chip.cta_gap_us = 2;
  chip.fence_gpu = 1000;
  // The first CTA runs as long as three of the others.
  const Body body = [](SimMachine& machine) {
    for (std::uint32_t i = 0; i < (machine.cluster_index() == 0 ? 12U : 4U); ++i) {
      machine.fence({Semantics::kAcqRel, Scope::kGpu});
    }
  };
  // 4000, and 2000 until the next one starts: the third ends at 16000.
  const double three = run_grid({3, 2, 1}, 1, body, chip).stats.cycles;
  EXPECT_NEAR(three, 12'000, 100);
  const double four = run_grid({4, 2, 1}, 1, body, chip).stats.cycles;
  EXPECT_NEAR(four, 3 * 4000 + 2 * 2000, 100);
}

TEST(SharedSm, ACtaWaitsForTensorMemoryThatAnotherHas) {
  const double one = cycles_of({1, 1, 1}, multiplies(20, 512));
  const double half = cycles_of({2, 2, 1}, multiplies(20, 256));
  const double all = cycles_of({2, 2, 1}, multiplies(20, 512));
  EXPECT_NEAR(half, one + 20 * 128, 64);  // both have theirs: the tensor core alone is shared
  EXPECT_GT(all, half + 300);             // and the second waits until the first has freed it
  EXPECT_NEAR(cycles_of({2, 2, 2}, multiplies(20, 512)), one, 1);
}

TEST(SharedSm, WarpsOfSmallCtasAreSpreadOverTheSubPartitions) {
  const Body body = [](SimMachine& machine) {
    machine.sync_warp();
    machine.registers().math.fma += 1000;
    machine.cta_sync();
  };
  const double one = cycles_of({1, 1, 1}, body);
  EXPECT_NEAR(cycles_of({4, 4, 1}, body), one, 8);
  EXPECT_NEAR(cycles_of({5, 5, 1}, body), one + 1000, 8);
  const double warpgroup = cycles_of({1, 1, 1}, body, 4);
  EXPECT_NEAR(cycles_of({2, 2, 1}, body, 4), warpgroup + 1000, 8);
}

TEST(SharedSm, TheSameRunGivesTheSameTimes) {
  const Body body = multiplies(30);
  const Outcome first = run_grid({7, 6, 2}, 1, body, plain_chip());
  const Outcome second = run_grid({7, 6, 2}, 1, body, plain_chip());
  ASSERT_EQ(first.events.size(), second.events.size());
  for (std::size_t i = 0; i < first.events.size(); ++i) {
    ASSERT_EQ(first.events[i].time, second.events[i].time);
    ASSERT_EQ(first.events[i].warp, second.events[i].warp);
  }
}

TEST(TimedEngine, ARolesTimeIsIssuingAndWaiting) {
  const Outcome result = run(2, with_barriers(32, ping_pong), plain_chip());
  for (const RoleTime& role : result.stats.roles) {
    double sum = role.issuing;
    for (const WaitTime& wait : role.waits) {
      sum += wait.cycles;
    }
    EXPECT_NEAR(sum, role.alive, 0.02 * role.alive);
  }
}

}  // namespace
}  // namespace warptwin::sim::engine_test
