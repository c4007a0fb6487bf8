/// What the proof makes of the machine's operations: kernels of a few lines, right and wrong.

#include "sim/prove/run_order.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "sim/functional/engine.hpp"

namespace warptwin::sim::run_order_test {
namespace {

constexpr Mbarrier kBar{{1024}};
constexpr GlobalAddress kFlag{1U << 20};

struct Launch {
  std::uint32_t warps = 2;
  std::uint32_t ctas = 1;
  std::uint32_t clusters = 1;
  bool whole_grid = false;
  const char* schedule = "in-turn+tries-fail";
};

struct Outcome {
  std::string conditions;  // "C1 C3"
  std::string undecided;   // the first reason
  bool needs_whole_grid = false;
  bool ended = false;
};

Outcome prove_body(const Launch& launch, const WarpBody& body) {
  LaunchConfig config;
  config.warps_per_cta = launch.warps;
  config.cluster_size = launch.ctas;
  config.clusters = launch.clusters;
  config.resident_clusters = launch.clusters;
  config.shared_bytes = 16384;
  config.moves_data = false;
  config.registers_per_thread = 168;
  const ScheduleSpec schedule = ScheduleSpec::parse(launch.schedule);
  config.tries_fail = schedule.tries_fail;
  GlobalMemory memory;
  memory.add("flags", 4096, true);
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  RunOrder::Options options;
  options.whole_grid = launch.whole_grid;
  RunOrder order{config, options};
  gpu.set_sink(&order);
  const auto scheduler = make_scheduler(schedule);
  const RunStats stats = run_functional(gpu, body, *scheduler, {100'000});
  order.at_end();
  Outcome outcome;
  outcome.ended = stats.ending == Ending::kDone;
  for (const RunOrder::Finding& finding : order.findings()) {
    outcome.conditions +=
        (outcome.conditions.empty() ? "" : " ") + std::string{name_of(finding.violation.condition)};
  }
  outcome.undecided = order.undecided().empty() ? "" : order.undecided().front().reason;
  outcome.needs_whole_grid = order.needs_whole_grid();
  return outcome;
}

void init(SimMachine& m, std::uint32_t count) {
  if (m.warp_index() == 0) {
    m.elect_one([&] { m.mbarrier_init(kBar, count); });
  }
  m.cta_sync();
}

void wait(SimMachine& m, std::uint32_t phase) {
  m.mbarrier_wait_parity(kBar, WaitPhase::number(phase));
  m.sync_warp();
}

void arrive(SimMachine& m) {
  m.elect_one([&] { m.mbarrier_arrive(kBar); });
}

TEST(RunOrderTest, NamedBarriersOrderWhatMeetsThere) {
  const auto kernel = [](bool meet) {
    return [meet](SimMachine& m) {
      init(m, 1);
      for (std::uint32_t lap = 0; lap < 3; ++lap) {
        if (m.warp_index() == 0) {
          arrive(m);
        } else {
          wait(m, lap);
        }
        if (meet) {
          m.bar_sync(1, 64);
        }
      }
    };
  };
  EXPECT_EQ(prove_body({}, kernel(true)).conditions, "");
  // In turn, the waiter is lapped in the very run; with luck it is not, and the proof still says.
  Launch lucky;
  lucky.schedule = "round-robin";
  const Outcome broken = prove_body(lucky, kernel(false));
  EXPECT_TRUE(!broken.ended || broken.conditions.find("C2") != std::string::npos)
      << broken.conditions;
}

TEST(RunOrderTest, WhoHasWaitedForAWgmmaKnowsWhatItsWarpsDidBefore) {
  const auto kernel = [](bool waits) {
    return [waits](SimMachine& m) {
      init(m, 1);
      SimMachine::Accumulator<Extent<>> d{m, 8U};
      const auto tile =
          WgmmaSmemDescriptor<bf16>::k_major({SharedAddress{2048}, 64, 64, Swizzle::k128B}, 0, 0);
      for (std::uint32_t lap = 0; lap < 3; ++lap) {
        if (m.warp_index() == 0) {
          arrive(m);
        } else if (m.warp_index() == 1) {
          wait(m, lap);
        }
        m.wgmma_fence();
        m.wgmma(d, tile, tile, false);
        m.wgmma_commit_group();
        if (waits) {
          m.wgmma_wait_group<0>(d);
        }
      }
      m.wgmma_wait_group<0>(d);
    };
  };
  Launch launch;
  launch.warps = 4;
  const Outcome ordered = prove_body(launch, kernel(true));
  EXPECT_TRUE(ordered.ended);
  EXPECT_EQ(ordered.conditions, "");
  launch.schedule = "round-robin";
  const Outcome broken = prove_body(launch, kernel(false));
  EXPECT_TRUE(!broken.ended || broken.conditions.find("C2") != std::string::npos)
      << broken.conditions;
}

TEST(RunOrderTest, AFlagWithOneWriterOrdersItsReaders) {
  const auto kernel = [](SimMachine& m) {
    init(m, 1);
    for (std::uint32_t lap = 0; lap < 3; ++lap) {
      if (m.warp_index() == 0) {
        m.elect_one([&] { m.st_release_global_u32(kFlag, lap + 1); });
        wait(m, lap);
      } else {
        m.elect_one([&] { m.wait_global_u32(kFlag, lap + 1); });
        arrive(m);
      }
    }
  };
  const Outcome outcome = prove_body({}, kernel);
  EXPECT_TRUE(outcome.ended);
  EXPECT_EQ(outcome.conditions, "");
  EXPECT_EQ(outcome.undecided, "");
}

TEST(RunOrderTest, AFlagThatMovesOnBeforeItsReaderHasLookedIsFound) {
  const auto kernel = [](SimMachine& m) {
    if (m.warp_index() == 0) {
      m.elect_one([&] { m.st_release_global_u32(kFlag, 1); });
      m.bar_sync(1, 64);
      m.elect_one([&] { m.st_release_global_u32(kFlag, 2); });
    } else if (m.warp_index() == 1) {
      m.elect_one([&] { m.wait_global_u32(kFlag, 1); });
    } else {
      m.bar_sync(1, 64);
    }
  };
  Launch three;
  three.warps = 3;
  EXPECT_EQ(prove_body(three, kernel).conditions, "C2");
}

TEST(RunOrderTest, ACounterMayBeWaitedForAtItsLastValueOnly) {
  const auto kernel = [](std::uint32_t value) {
    return [value](SimMachine& m) {
      m.elect_one([&] { m.red_add_release_global_u32(kFlag, 1); });
      if (m.warp_index() == 0) {
        m.elect_one([&] { m.wait_global_u32(kFlag, value); });
      }
    };
  };
  Launch three;
  three.warps = 3;
  EXPECT_EQ(prove_body(three, kernel(3)).undecided, "");
  EXPECT_NE(prove_body(three, kernel(1)).undecided, "");
}

TEST(RunOrderTest, ClustersThatMeetInGlobalMemoryAreTakenTogether) {
  const auto kernel = [](SimMachine& m) {
    if (m.cluster_index() == 0) {
      m.elect_one([&] { m.st_release_global_u32(kFlag, 1); });
    } else {
      m.elect_one([&] { m.wait_global_u32(kFlag, 1); });
    }
  };
  Launch two;
  two.warps = 1;
  two.clusters = 2;
  EXPECT_TRUE(prove_body(two, kernel).needs_whole_grid);
  two.whole_grid = true;
  const Outcome together = prove_body(two, kernel);
  EXPECT_FALSE(together.needs_whole_grid);
  EXPECT_EQ(together.conditions, "");
  EXPECT_EQ(together.undecided, "");
}

TEST(RunOrderTest, AReleasingClusterArrivalCoversRemoteArrivalsAndARelaxedOneDoesNot) {
  const auto kernel = [](Ordering ordering) {
    return [ordering](SimMachine& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.fence_mbarrier_init();
      });
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1)); });
      }
      m.barrier_cluster_arrive(ordering);
      m.barrier_cluster_wait();
    };
  };
  Launch pair;
  pair.warps = 1;
  pair.ctas = 2;
  EXPECT_EQ(prove_body(pair, kernel(kReleaseCluster)).conditions, "");
  EXPECT_EQ(prove_body(pair, kernel(kRelaxedCluster)).conditions, "C5");
}

TEST(RunOrderTest, RegistersAreProvedWhenNobodyGivesBackOnlyAfterHeWasGiven) {
  const auto kernel = [](bool late) {
    return [late](SimMachine& m) {
      if (m.warp_index() == 0) {
        if (late) {
          m.bar_sync(1, 64);
        }
        m.setmaxnreg_dec<40>();
      } else if (m.warp_index() == 2) {
        m.setmaxnreg_dec<40>();
      } else {
        m.setmaxnreg_inc<232>();
        if (late) {
          m.bar_arrive(1, 64);
        }
      }
    };
  };
  Launch three;
  three.warps = 3;
  EXPECT_EQ(prove_body(three, kernel(false)).undecided, "");
  EXPECT_NE(prove_body(three, kernel(true)).undecided, "");
}

TEST(RunOrderTest, TwoAllocatingWarpsAreAChoice) {
  const auto kernel = [](SimMachine& m) {
    m.tcgen05_alloc(CtaGroup::kOne, SharedAddress{2048 + 4 * m.warp_index()}, 32);
  };
  EXPECT_NE(prove_body({}, kernel).undecided, "");
}

TEST(RunOrderTest, ATryThatIsRepeatedIsAWait) {
  const auto kernel = [](SimMachine& m) {
    init(m, 1);
    if (m.warp_index() == 0) {
      arrive(m);
    } else {
      while (!m.mbarrier_try_wait_parity(kBar, WaitPhase::number(0))) {
      }
    }
  };
  const Outcome outcome = prove_body({}, kernel);
  EXPECT_TRUE(outcome.ended);
  EXPECT_EQ(outcome.conditions, "");
}

TEST(RunOrderTest, ArriveDropIsNotDecided) {
  const auto kernel = [](SimMachine& m) {
    init(m, 2);
    if (m.warp_index() == 0) {
      m.elect_one([&] { m.mbarrier_arrive_drop(kBar); });
    }
  };
  EXPECT_NE(prove_body({}, kernel).undecided, "");
}

}  // namespace
}  // namespace warptwin::sim::run_order_test
