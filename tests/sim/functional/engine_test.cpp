#include "sim/functional/engine.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace warptwin::sim::engine_test {
namespace {

constexpr Mbarrier kFirst{{1024}};
constexpr Mbarrier kSecond{{1032}};

/// Keeps every event.
struct Recorder : EventSink {
  void on_event(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

struct Outcome {
  RunStats stats;
  std::vector<Event> events;
  std::vector<AgentSlot> choices;
};

Outcome run(const LaunchConfig& base,
            const WarpBody& body,
            const char* schedule = "round-robin",
            std::uint64_t steps = 100000) {
  LaunchConfig config = base;
  config.shared_bytes = 4096;
  GlobalMemory memory;
  memory.add("flags", 64, true);
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  Recorder recorder;
  gpu.set_sink(&recorder);
  const auto scheduler = make_scheduler(ScheduleSpec::parse(schedule));
  Outcome result;
  result.stats = run_functional(gpu, body, *scheduler, {steps}, &result.choices);
  result.events = std::move(recorder.events);
  return result;
}

LaunchConfig warps(std::uint32_t count) {
  LaunchConfig config;
  config.warps_per_cta = count;
  return config;
}

// Warp 0 initialises, all meet, then `rest` runs.
template <class F>
WarpBody with_barriers(std::uint32_t count, F rest) {
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

TEST(EngineTest, ARunThatFinishesSaysSo) {
  EXPECT_EQ(run(warps(2), with_barriers(32, ping_pong)).stats.ending, Ending::kDone);
}

TEST(EngineTest, TheSameScheduleGivesTheSameEvents) {
  for (const char* schedule : {"round-robin", "random:3", "pct:3:3:50", "starve:1"}) {
    const Outcome first = run(warps(2), with_barriers(32, ping_pong), schedule);
    const Outcome second = run(warps(2), with_barriers(32, ping_pong), schedule);
    ASSERT_EQ(first.events.size(), second.events.size()) << schedule;
    for (std::size_t i = 0; i < first.events.size(); ++i) {
      ASSERT_EQ(first.events[i].op, second.events[i].op);
      ASSERT_EQ(first.events[i].warp, second.events[i].warp);
      ASSERT_EQ(first.events[i].time, second.events[i].time);
    }
  }
}

TEST(EngineTest, RecordedChoicesReplayTheRun) {
  const Outcome first = run(warps(2), with_barriers(32, ping_pong), "random:11");
  ScheduleSpec spec;
  spec.strategy = Strategy::kReplay;
  spec.choices = first.choices;
  const Outcome second = run(warps(2), with_barriers(32, ping_pong), spec.to_string().c_str());
  EXPECT_EQ(second.choices, first.choices);
  EXPECT_EQ(second.events.size(), first.events.size());
}

TEST(EngineTest, WaitingForNobodyIsADeadlockAndUnwindsEveryWarp) {
  int unwound = 0;
  struct Counter {
    explicit Counter(int& n) : count{n} {}
    ~Counter() { ++count; }
    int& count;
  };
  const Outcome result = run(warps(3), with_barriers(32, [&unwound](SimMachine& machine) {
                               const Counter counter{unwound};
                               machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
                             }));
  EXPECT_EQ(result.stats.ending, Ending::kDeadlock);
  EXPECT_EQ(unwound, 3);
}

TEST(EngineTest, PollingForNobodyIsALivelockUnderEveryStrategy) {
  for (const char* schedule : {"round-robin", "random:3", "pct:3:3:50", "starve:0"}) {
    const Outcome result = run(
        warps(2),
        with_barriers(32,
                      [](SimMachine& machine) {
                        while (!machine.mbarrier_try_wait_parity(kFirst, WaitPhase::number(0))) {
                        }
                      }),
        schedule,
        10'000'000);
    EXPECT_EQ(result.stats.ending, Ending::kLivelock) << schedule;
  }
}

// More loads than an endless loop of tries is allowed.
TEST(EngineTest, WhoOnlyLoadsIsNotGivenUp) {
  constexpr std::uint32_t kWords = 5 << 18;
  GlobalMemory memory;
  const GlobalAddress words{memory.add("words", kWords * sizeof(float), true)};
  const Symbols symbols;
  Gpu gpu{warps(1), memory, symbols};
  const auto scheduler = make_scheduler(ScheduleSpec::parse("round-robin"));
  const RunStats stats =
      run_functional(gpu,
                     [&](SimMachine& machine) {
                       for (std::uint32_t i = 0; i < kWords; ++i) {
                         static_cast<void>(machine.ld_global_f32(words + i * sizeof(float)));
                       }
                     },
                     *scheduler,
                     {10'000'000});
  EXPECT_EQ(stats.ending, Ending::kDone);
}

TEST(EngineTest, TheStepBoundIsAnEndingOfItsOwn) {
  EXPECT_EQ(run(warps(2), with_barriers(32, ping_pong), "round-robin", 10).stats.ending,
            Ending::kStepBound);
}

TEST(EngineTest, AnArrivalTooManyTraps) {
  const Outcome result = run(warps(1), with_barriers(1, [](SimMachine& machine) {
                               machine.elect_one([&] { machine.mbarrier_arrive(kFirst, 2); });
                             }));
  EXPECT_EQ(result.stats.ending, Ending::kTrapped);
}

TEST(EngineTest, AWaitMissesAPhaseThatHasComeRoundAgain) {
  // Warp 1 waits for phase 0; two phases complete before it is let look: the parity is back.
  const auto body = with_barriers(1, [](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.elect_one([&] {
        machine.mbarrier_arrive(kFirst);
        machine.mbarrier_arrive(kFirst);
      });
    } else {
      machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
    }
  });
  EXPECT_EQ(run(warps(2), body, "starve:1").stats.ending, Ending::kDeadlock);
  EXPECT_EQ(run(warps(2), body, "starve:0").stats.ending, Ending::kDone);
}

TEST(EngineTest, LanesLeftBehindWaitForThemselves) {
  // The first lane goes on and completes the next phase; the others have not looked yet.
  const auto body = with_barriers(1, [](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.elect_one([&] { machine.mbarrier_arrive(kFirst); });
    } else {
      machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
      machine.elect_one([&] { machine.mbarrier_arrive(kFirst); });
      machine.sync_warp();
    }
  });
  int stuck = 0;
  for (int seed = 0; seed < 40; ++seed) {
    stuck += run(warps(2), body, ("random:" + std::to_string(seed)).c_str()).stats.ending ==
             Ending::kDeadlock;
  }
  EXPECT_GT(stuck, 0);
  EXPECT_LT(stuck, 40);
}

TEST(EngineTest, AWarpSyncAfterTheWaitKeepsTheLanesTogether) {
  const auto body = with_barriers(1, [](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.elect_one([&] { machine.mbarrier_arrive(kFirst); });
    } else {
      machine.mbarrier_wait_parity(kFirst, WaitPhase::number(0));
      machine.sync_warp();
      machine.elect_one([&] { machine.mbarrier_arrive(kFirst); });
    }
  });
  for (int seed = 0; seed < 40; ++seed) {
    ASSERT_EQ(run(warps(2), body, ("random:" + std::to_string(seed)).c_str()).stats.ending,
              Ending::kDone);
  }
}

TEST(EngineTest, MoreClustersThanFitRunOneAfterTheOther) {
  LaunchConfig config = warps(2);
  config.clusters = 50;
  config.cluster_size = 2;
  config.resident_clusters = 3;
  std::vector<bool> seen(50, false);
  const Outcome result = run(config, [&seen](SimMachine& machine) {
    seen[machine.cluster_index()] = true;
    machine.barrier_cluster_arrive();
    machine.barrier_cluster_wait();
  });
  EXPECT_EQ(result.stats.ending, Ending::kDone);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 50);
}

TEST(EngineTest, NamedBarriersReleaseWhenAllHaveComeAndArriveDoesNotWait) {
  std::vector<int> order;
  const Outcome result = run(
      warps(2),
      [&order](SimMachine& machine) {
        if (machine.warp_index() == 0) {
          machine.bar_arrive(3, 64);
          order.push_back(0);
          machine.bar_sync(4, 64);
        } else {
          machine.bar_sync(3, 64);
          order.push_back(1);
          machine.bar_arrive(4, 64);
        }
      },
      "starve:1");
  EXPECT_EQ(result.stats.ending, Ending::kDone);
  EXPECT_EQ(order, (std::vector<int>{0, 1}));
}

// An arrival of a warp that has ended counts no more: the generation waits for those that live.
TEST(EngineTest, AClusterBarrierWaitsForEveryWarpThatLives) {
  LaunchConfig config = warps(2);
  config.cluster_size = 2;
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    const Outcome outcome = run(
        config,
        [](SimMachine& machine) {
          machine.barrier_cluster_arrive();
          if (machine.warp_index() != 0 || machine.cta_rank() != 0) {
            machine.barrier_cluster_wait();
          }
        },
        ("random:" + std::to_string(seed)).c_str());
    EXPECT_EQ(outcome.stats.ending, Ending::kDone) << seed;
    EXPECT_EQ(std::count_if(outcome.events.begin(),
                            outcome.events.end(),
                            [](const Event& event) {
                              return event.op == Op::kClusterWait && event.step == Step::kDone &&
                                     event.phase == 0;
                            }),
              3)
        << seed;
  }
}

TEST(EngineTest, AGlobalFlagHandsOverBetweenClusters) {
  LaunchConfig config = warps(1);
  config.clusters = 2;
  config.resident_clusters = 2;
  const GlobalAddress flag{1U << 20};
  for (const char* schedule : {"starve:0", "starve:1"}) {
    const Outcome result = run(
        config,
        [flag](SimMachine& machine) {
          if (machine.cluster_index() == 0) {
            machine.elect_one([&] { machine.st_release_global_u32(flag, 7); });
          } else {
            machine.wait_global_u32(flag, 7);
          }
        },
        schedule);
    EXPECT_EQ(result.stats.ending, Ending::kDone) << schedule;
  }
}

TEST(EngineTest, WhatABodyThrowsComesOut) {
  EXPECT_THROW(run(warps(2),
                   [](SimMachine& machine) {
                     machine.cta_sync();
                     throw std::runtime_error("mine");
                   }),
               std::runtime_error);
}

}  // namespace
}  // namespace warptwin::sim::engine_test
