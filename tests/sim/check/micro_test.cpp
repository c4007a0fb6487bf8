/// For each diagnostic the smallest program that shows it, and the smallest change that removes it.

#include <algorithm>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "sim/check/detector.hpp"
#include "sim/functional/engine.hpp"

namespace warptwin::sim {
namespace {

constexpr Mbarrier kBar{{1024}};
constexpr SharedAddress kWord{1040};
constexpr SharedAddress kTile{2048};
constexpr GlobalAddress kSource{1U << 20};

using Body = std::function<void(SimMachine&)>;

struct Micro {
  const char* id;
  std::uint32_t warps;
  Body wrong;
  Body right;
  const char* schedule = "round-robin";
};

// Warp 0 initialises the barrier with `count`, all meet, and the rest runs.
Body after_init(std::uint32_t count, Body rest) {
  return [count, rest](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.elect_one([&] { machine.mbarrier_init(kBar, count); });
    }
    machine.cta_sync();
    rest(machine);
  };
}

// The only warp's elected lane runs `f` on a barrier of count `count`.
Body lane(std::uint32_t count, Body f) {
  return after_init(count, [f](SimMachine& machine) { machine.elect_one([&] { f(machine); }); });
}

// Warp 0 allocates, all meet, `f(address)` runs, all meet, warp 0 frees.
Body with_tmem(std::function<void(SimMachine&, TmemAddress)> f) {
  return [f](SimMachine& machine) {
    if (machine.warp_index() == 0) {
      machine.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
    }
    machine.cta_sync();
    f(machine, TmemAddress{machine.ld_shared_u32(kWord)});
    machine.cta_sync();
    if (machine.warp_index() == 0) {
      machine.tcgen05_dealloc(CtaGroup::kOne, TmemAddress{machine.ld_shared_u32(kWord)}, 64);
    }
  };
}

void load(SimMachine& machine, TmemAddress at) {
  SimFragment<16> registers;
  machine.tcgen05_ld_32x32b(registers, at);
  machine.tcgen05_wait_ld(registers);
}

void mma(SimMachine& machine, TmemAddress d, std::uint32_t n = 16) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  machine.tcgen05_mma(
      CtaGroup::kOne,
      d,
      tile,
      tile,
      UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, n),
      false);
}

void copy(SimMachine& machine, std::uint32_t bytes) {
  machine.cp_async_bulk_load(kTile, kSource, bytes, CopyTarget{kBar});
}

void wait(SimMachine& machine, std::uint32_t phase) {
  machine.mbarrier_wait_parity(kBar, WaitPhase::number(phase));
  machine.sync_warp();
}

std::vector<Micro> micros() {
  using M = SimMachine;
  const Body nothing = [](M&) {};
  std::vector<Micro> all;
  const auto add = [&](const char* id,
                       std::uint32_t warps,
                       Body wrong,
                       Body right,
                       const char* schedule = "round-robin") {
    all.push_back({id, warps, std::move(wrong), std::move(right), schedule});
  };
  add(
      "MBAR_UNINIT", 1, [](M& m) { m.mbarrier_arrive(kBar); }, lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
      }));
  add("MBAR_MISALIGNED",
      1,
      lane(1, [](M& m) { m.mbarrier_arrive(Mbarrier{{1028}}); }),
      lane(1, [](M& m) { m.mbarrier_arrive(kBar); }));
  add("MBAR_SPACE",
      1,
      lane(1, [](M& m) { m.mbarrier_arrive(Mbarrier{{1U << 20}}); }),
      lane(1, [](M& m) { m.mbarrier_arrive(kBar); }));
  add("MBAR_INIT_COUNT", 1, lane(0, [](M&) {}), lane(1, [](M&) {}));
  add("MBAR_REINIT_LIVE", 1, lane(1, [](M& m) { m.mbarrier_init(kBar, 1); }), lane(1, [](M& m) {
        m.mbarrier_inval(kBar);
        m.mbarrier_init(kBar, 1);
      }));
  add("MBAR_INVAL_IN_USE",
      1,
      lane(2,
           [](M& m) {
             m.mbarrier_arrive(kBar);
             m.mbarrier_inval(kBar);
           }),
      lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
        m.mbarrier_inval(kBar);
      }));
  add("MBAR_MEM_CLOBBER",
      1,
      lane(1, [](M& m) { m.st_shared_u32(kBar.address, 1); }),
      lane(1, [](M& m) { m.st_shared_u32(kWord, 1); }));
  add("MBAR_ARRIVE_COUNT", 1, lane(1, [](M& m) { m.mbarrier_arrive(kBar, 0); }), lane(1, [](M& m) {
        m.mbarrier_arrive(kBar, 1);
      }));
  add("MBAR_NOCOMPLETE",
      1,
      lane(1, [](M& m) { m.mbarrier_arrive_no_complete(kBar, 1); }),
      lane(2, [](M& m) { m.mbarrier_arrive_no_complete(kBar, 1); }));
  add("MBAR_DROP_TO_ZERO",
      1,
      lane(1, [](M& m) { m.mbarrier_arrive_drop(kBar); }),
      lane(2, [](M& m) { m.mbarrier_arrive_drop(kBar); }));
  add("MBAR_PHASE_UNOBSERVED",
      1,
      lane(1,
           [](M& m) {
             m.mbarrier_arrive(kBar);
             m.mbarrier_arrive(kBar);
           }),
      lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
        m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
        m.mbarrier_arrive(kBar);
      }));
  add("MBAR_TX_OVERFLOW",
      1,
      lane(1,
           [](M& m) {
             m.mbarrier_expect_tx(kBar, kMbarrierCountMax);
             m.mbarrier_expect_tx(kBar, 16);
           }),
      lane(1, [](M& m) { m.mbarrier_expect_tx(kBar, 16); }));
  add("MBAR_TX_UNDERFLOW",
      1,
      lane(1,
           [](M& m) {
             m.mbarrier_complete_tx(kBar, kMbarrierCountMax);
             m.mbarrier_complete_tx(kBar, 16);
           }),
      lane(1, [](M& m) { m.mbarrier_complete_tx(kBar, 16); }));
  add("MBAR_EXPECT_MULTI_LANE",
      1,
      after_init(32, [](M& m) { m.mbarrier_arrive_expect_tx(kBar, 16); }),
      lane(1, [](M& m) { m.mbarrier_arrive_expect_tx(kBar, 16); }));
  add("MBAR_EXPECT_AFTER_LAST_ARRIVE",
      1,
      lane(1,
           [](M& m) {
             m.mbarrier_complete_tx(kBar, 16);
             m.mbarrier_arrive(kBar);
             m.mbarrier_expect_tx(kBar, 16);
           }),
      lane(1, [](M& m) {
        m.mbarrier_expect_tx(kBar, 16);
        m.mbarrier_complete_tx(kBar, 16);
        m.mbarrier_arrive(kBar);
      }));
  add("MBAR_SW_COMPLETE_WITH_HW",
      1,
      after_init(1,
                 [](M& m) {
                   m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, 48); });
                   copy(m, 32);
                   m.elect_one([&] { m.mbarrier_complete_tx(kBar, 16); });
                   wait(m, 0);
                 }),
      after_init(1, [](M& m) {
        m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, 32); });
        copy(m, 32);
        wait(m, 0);
      }));
  add("MBAR_PARITY_VALUE",
      1,
      lane(1, [](M& m) { m.mbarrier_try_wait_parity(kBar, WaitPhase::parity_only(3)); }),
      lane(1, [](M& m) { m.mbarrier_try_wait_parity(kBar, WaitPhase::parity_only(1)); }));
  add("MBAR_WAIT_AHEAD",
      1,
      lane(1, [](M& m) { m.mbarrier_wait_parity(kBar, WaitPhase::number(1)); }),
      lane(1, [](M& m) { m.mbarrier_wait_parity(kBar, WaitPhase::number(~0U)); }));
  add("LIVELOCK_SPIN",
      1,
      lane(1,
           [](M& m) {
             while (!m.mbarrier_try_wait_parity(kBar, WaitPhase::number(0))) {
             }
           }),
      lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
        while (!m.mbarrier_try_wait_parity(kBar, WaitPhase::number(0))) {
        }
      }));
  add(
      "NAMED_BARRIER_ID", 1, [](M& m) { m.bar_sync(16, 32); }, [](M& m) { m.bar_sync(15, 32); });
  add(
      "NAMED_BARRIER_COUNT", 1, [](M& m) { m.bar_sync(1, 33); }, [](M& m) { m.bar_sync(1, 32); });
  add(
      "NAMED_BARRIER_COUNT_MISMATCH",
      2,
      [](M& m) { m.bar_arrive(1, m.warp_index() == 0 ? 64 : 32); },
      [](M& m) { m.bar_arrive(1, 64); },
      "starve:1");
  add(
      "NAMED_BARRIER_DOUBLE_ARRIVE",
      2,
      [](M& m) {
        if (m.warp_index() == 0) {
          m.bar_arrive(1, 64);
          m.bar_arrive(1, 64);
        }
      },
      [](M& m) { m.bar_arrive(1, 64); });
  add(
      "CLUSTER_BARRIER_DOUBLE_ARRIVE",
      2,
      [](M& m) {
        m.barrier_cluster_arrive();
        if (m.warp_index() == 0) {
          m.barrier_cluster_arrive();
        }
      },
      [](M& m) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      },
      "starve:1");
  add(
      "CLUSTER_BARRIER_WAIT_NO_ARRIVE",
      1,
      [](M& m) { m.barrier_cluster_wait(); },
      [](M& m) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      });
  add("ASYNC_PENDING_AT_EXIT",
      1,
      after_init(1,
                 [](M& m) {
                   m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, 32); });
                   copy(m, 32);
                 }),
      after_init(1,
                 [](M& m) {
                   m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, 32); });
                   copy(m, 32);
                   wait(m, 0);
                 }),
      "lazy:1");
  add(
      "TMEM_ALLOC_NCOLS",
      1,
      [](M& m) { m.tcgen05_alloc(CtaGroup::kOne, kWord, 96); },
      with_tmem([](M&, TmemAddress) {}));
  add(
      "TMEM_ALLOC_NOT_CONVERGED",
      1,
      [](M& m) { m.elect_one([&] { m.tcgen05_alloc(CtaGroup::kOne, kWord, 64); }); },
      with_tmem([](M&, TmemAddress) {}));
  add(
      "TMEM_ALLOC_AFTER_RELINQUISH",
      1,
      [](M& m) {
        m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
      },
      with_tmem([](M& m, TmemAddress) { m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne); }));
  add("TMEM_ALLOC_GROWS",
      1,
      with_tmem([](M& m, TmemAddress) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 128);
        m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 128);
      }),
      with_tmem([](M& m, TmemAddress) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 32);
        m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 32);
      }));
  add("TMEM_ALLOC_CONCURRENT",
      2,
      with_tmem([](M& m, TmemAddress) {
        if (m.warp_index() == 1) {
          m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 32);
          m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 32);
        }
      }),
      with_tmem([](M&, TmemAddress) {}));
  add(
      "TMEM_ADDR_READ_EARLY",
      2,
      [](M& m) {
        if (m.warp_index() == 0) {
          m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        } else {
          m.ld_shared_u32(kWord);
        }
        m.cta_sync();
        if (m.warp_index() == 0) {
          m.tcgen05_dealloc(CtaGroup::kOne, {0}, 64);
        }
      },
      with_tmem([](M&, TmemAddress) {}),
      "starve:1");
  add("TMEM_DEALLOC_MISMATCH",
      1,
      with_tmem([](M& m, TmemAddress at) { m.tcgen05_dealloc(CtaGroup::kOne, at, 32); }),
      with_tmem([](M&, TmemAddress) {}));
  add("TMEM_DOUBLE_FREE",
      1,
      with_tmem([](M& m, TmemAddress at) { m.tcgen05_dealloc(CtaGroup::kOne, at, 64); }),
      with_tmem([](M&, TmemAddress) {}));
  add("TMEM_OOB",
      1,
      with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(500)); }),
      with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(48)); }));
  add("TMEM_UNALLOCATED",
      1,
      with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(64)); }),
      with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(48)); }));
  add(
      "TMEM_USE_AFTER_FREE",
      1,
      [](M& m) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        m.tcgen05_dealloc(CtaGroup::kOne, {0}, 64);
        load(m, {0});
      },
      with_tmem([](M& m, TmemAddress at) { load(m, at); }));
  add("TMEM_LANE_VIOLATION",
      1,
      with_tmem([](M& m, TmemAddress at) { load(m, at.at_lane(32)); }),
      with_tmem([](M& m, TmemAddress at) { load(m, at); }));
  const auto complete = [](M& m) {
    m.tcgen05_commit(CtaGroup::kOne, kBar);
    wait(m, 0);
  };
  const auto tmem_and_barrier = [](std::function<void(M&, TmemAddress)> f) {
    return after_init(1, with_tmem(std::move(f)));
  };
  add("TCGEN05_SHAPE",
      1,
      tmem_and_barrier([](M& m, TmemAddress at) { mma(m, at, 0); }),
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        mma(m, at);
        complete(m);
      }));
  add("TCGEN05_SDESC",
      1,
      tmem_and_barrier([](M& m, TmemAddress at) {
        m.tcgen05_mma(
            CtaGroup::kOne,
            at,
            {},
            {},
            UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 16),
            false);
      }),
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        mma(m, at);
        complete(m);
      }));
  add("TMEM_READ_BEFORE_COMMIT",
      1,
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        mma(m, at);
        load(m, at);
        complete(m);
      }),
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        mma(m, at);
        complete(m);
        load(m, at);
      }));
  add("TMEM_WAR",
      1,
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        SimFragment<16> registers;
        m.tcgen05_ld_32x32b(registers, at);
        mma(m, at);
        complete(m);
      }),
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        load(m, at);
        mma(m, at);
        complete(m);
      }));
  add(
      "TCGEN05_UNFINISHED_AT_EXIT",
      1,
      [](M& m) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        mma(m, {0});
      },
      tmem_and_barrier([complete](M& m, TmemAddress at) {
        mma(m, at);
        complete(m);
      }),
      "lazy:1");
  return all;
}

std::vector<std::string> ids_of(const Micro& micro, const Body& body) {
  LaunchConfig config;
  config.warps_per_cta = micro.warps;
  config.shared_bytes = 32768;
  config.moves_data = false;
  GlobalMemory memory;
  memory.add("source", 4096, false);
  const Symbols symbols;
  Gpu gpu{config, memory, symbols};
  DetectorSet detectors{Profile::kPractical, gpu.config(), symbols};
  gpu.set_sink(&detectors);
  const auto scheduler = make_scheduler(ScheduleSpec::parse(micro.schedule));
  const RunStats stats = run_functional(gpu, body, *scheduler, {100000});
  constexpr RunEnd kEnds[] = {
      RunEnd::kDone, RunEnd::kDeadlock, RunEnd::kLivelock, RunEnd::kTrapped, RunEnd::kStepBound};
  detectors.at_end(gpu, kEnds[static_cast<unsigned>(stats.ending)]);
  std::vector<std::string> ids;
  for (const Finding& finding : detectors.take_findings()) {
    ids.emplace_back(finding.info->id);
  }
  return ids;
}

class MicroTest : public ::testing::TestWithParam<Micro> {};

TEST_P(MicroTest, TheWrongProgramShowsItAndTheRightOneDoesNot) {
  const std::vector<std::string> wrong = ids_of(GetParam(), GetParam().wrong);
  EXPECT_NE(std::find(wrong.begin(), wrong.end(), GetParam().id), wrong.end())
      << ::testing::PrintToString(wrong);
  const std::vector<std::string> right = ids_of(GetParam(), GetParam().right);
  EXPECT_EQ(std::find(right.begin(), right.end(), GetParam().id), right.end());
}
INSTANTIATE_TEST_SUITE_P(Diagnostics,
                         MicroTest,
                         ::testing::ValuesIn(micros()),
                         [](const auto& micro) { return std::string{micro.param.id}; });

}  // namespace
}  // namespace warptwin::sim
