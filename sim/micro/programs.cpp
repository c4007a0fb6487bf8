#include "sim/micro/programs.hpp"

#include "sim/functional/engine.hpp"
#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

namespace {

constexpr Mbarrier kBar{{1024}};
constexpr SharedAddress kWord{1040};
constexpr SharedAddress kTile{2048};
constexpr GlobalAddress kSource{1U << 20};

constexpr std::uint32_t kStages = 2;
constexpr Mbarrier kRing{{4096}};  // full[0], full[1], empty[0], empty[1]
constexpr SharedAddress kRingTiles{8192};
constexpr std::uint32_t kStageBytes = 1024;

Symbols ring_symbols() {
  Symbols symbols;
  symbols.rings.push_back({"ring",
                           kRing.address.value,
                           kRing.address.value + 8 * kStages,
                           kStages,
                           kRingTiles.value,
                           kStageBytes});
  Region full{RegionKind::kBarriers, "ring", "full", kRing.address.value, kStages, 8, {}};
  full.contract.contributors[0] = {Role::kProducer, ArrivalKind::kElectedLane, 1};
  symbols.regions.push_back(full);
  return symbols;
}

using Body = std::function<void(SimMachine&)>;

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

std::vector<MicroProgram> build() {
  using M = SimMachine;
  const Body nothing = [](M&) {};
  std::vector<MicroProgram> all;
  const auto add = [&](const char* id,
                       std::uint32_t warps,
                       Body wrong,
                       Body right,
                       const char* schedule = "round-robin") {
    all.push_back({id, std::move(wrong), std::move(right), warps, 1, schedule});
  };
  const auto strictly =
      [&](const char* id, std::uint32_t warps, std::uint32_t ctas, Body wrong, Body right) {
        all.push_back({id, std::move(wrong), std::move(right), warps, ctas, "round-robin", true});
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
  // Shared memory: who may touch bytes that somebody else touches.
  const auto fill = [](M& m) {
    m.elect_one([&] {
      m.mbarrier_arrive_expect_tx(kBar, 32);
      copy(m, 32);
    });
  };
  const auto read_tile = [](M& m) { m.elect_one([&] { m.ld_shared_u32(kTile); }); };
  const auto write_tile = [](M& m) { m.elect_one([&] { m.st_shared_u32(kTile, 1); }); };
  const auto store_tile = [](M& m) {
    m.elect_one([&] {
      m.cp_async_bulk_store(kSource, kTile, 16);
      m.cp_async_bulk_commit_group();
    });
  };
  const auto stored = [](M& m) { m.elect_one([&] { m.cp_async_bulk_wait_group_read<0>(); }); };
  const auto four_words = [](M& m) {
    m.elect_one([&] {
      for (std::uint32_t i = 0; i < 4; ++i) {
        m.st_shared_u32(kTile + 4 * i, i);
      }
    });
  };
  add("SMEM_RAW_NO_WAIT",
      1,
      after_init(1,
                 [=](M& m) {
                   fill(m);
                   read_tile(m);
                   wait(m, 0);
                 }),
      after_init(1, [=](M& m) {
        fill(m);
        wait(m, 0);
        read_tile(m);
      }));
  add(
      "SMEM_UNINIT_READ",
      1,
      [=](M& m) { read_tile(m); },
      [=](M& m) {
        write_tile(m);
        read_tile(m);
      });
  const auto one_after_the_other = [](Body first, Body second, bool meet) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        first(m);
      }
      if (meet) {
        m.cta_sync();
      }
      if (m.warp_index() == 1) {
        second(m);
      }
    };
  };
  add("SMEM_RACE",
      2,
      one_after_the_other(write_tile, write_tile, false),
      one_after_the_other(write_tile, write_tile, true));
  add("SMEM_WAW_ASYNC",
      1,
      after_init(1,
                 [=](M& m) {
                   fill(m);
                   write_tile(m);
                   wait(m, 0);
                 }),
      after_init(1, [=](M& m) {
        fill(m);
        wait(m, 0);
        write_tile(m);
      }));
  add(
      "BULK_SRC_REUSE",
      1,
      [=](M& m) {
        four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        write_tile(m);
        stored(m);
      },
      [=](M& m) {
        four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        stored(m);
        write_tile(m);
      });
  add(
      "PROXY_FENCE_MISSING",
      1,
      [=](M& m) {
        four_words(m);
        store_tile(m);
        stored(m);
      },
      [=](M& m) {
        four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        stored(m);
      });
  const auto read_and_refill = [=](bool fence) {
    return after_init(1, [=](M& m) {
      fill(m);
      wait(m, 0);
      read_tile(m);
      if (fence) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      fill(m);
      wait(m, 1);
    });
  };
  add("PROXY_FENCE_MISSING_WAR", 1, read_and_refill(false), read_and_refill(true));
  const auto multiply_and_write = [=](bool late) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      write_tile(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      mma(m, at);
      if (!late) {
        write_tile(m);
      }
      complete(m);
      if (late) {
        write_tile(m);
      }
    });
  };
  add("SMEM_WAR_ASYNC", 1, multiply_and_write(false), multiply_and_write(true));
  const auto pass_word = [=](Ordering ordering, bool fence) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        write_tile(m);
        if (fence) {
          m.fence(kReleaseCta);
        }
        m.elect_one([&] { m.mbarrier_arrive(kBar, 1, ordering); });
      } else {
        wait(m, 0);
        read_tile(m);
      }
    });
  };
  add("MBAR_RELAXED_NO_FENCE", 2, pass_word(kRelaxedCta, false), pass_word(kRelaxedCta, true));
  add("MBAR_TRYWAIT_UNCHECKED",
      1,
      after_init(1,
                 [=](M& m) {
                   fill(m);
                   m.elect_one([&] { m.mbarrier_try_wait_parity(kBar, WaitPhase::number(0)); });
                   read_tile(m);
                   wait(m, 0);
                 }),
      after_init(1,
                 [=](M& m) {
                   fill(m);
                   while (!m.mbarrier_try_wait_parity(kBar, WaitPhase::number(0))) {
                   }
                   read_tile(m);
                 }),
      "lazy:1");
  add("TMEM_UNINIT_READ",
      1,
      with_tmem([](M& m, TmemAddress at) { load(m, at); }),
      with_tmem([](M& m, TmemAddress at) {
        SimFragment<16> registers;
        m.tcgen05_st_32x32b(at, registers);
        m.tcgen05_wait_st();
        load(m, at);
      }));
  const auto accumulate = [](M& m, TmemAddress at) {
    const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
    m.tcgen05_mma(CtaGroup::kOne,
                  at,
                  tile,
                  tile,
                  UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 16),
                  true);
  };
  add("TMEM_UNINIT_ACC",
      1,
      tmem_and_barrier([=](M& m, TmemAddress at) {
        accumulate(m, at);
        complete(m);
      }),
      tmem_and_barrier([=](M& m, TmemAddress at) {
        mma(m, at);
        accumulate(m, at);
        complete(m);
      }));
  const auto arrive_over_there = [](bool meet) -> Body {
    return [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.fence_mbarrier_init();
      });
      if (meet) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      }
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1)); });
      } else {
        wait(m, 0);
      }
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
    };
  };
  all.push_back(
      {"MBAR_INIT_NOT_CLUSTER_VISIBLE", arrive_over_there(false), arrive_over_there(true), 1, 2});
  // A declared ring: notes of the protocol layer, and copies into its stages.
  const auto with_ring = [&](const char* id, Body wrong, Body right) {
    all.push_back({id, std::move(wrong), std::move(right), 1, 1, "round-robin", false, true});
  };
  const auto note = [](M& m, StageStep step, std::uint32_t index) {
    m.note_stage({step, kRing, kStages, index, 0, SourceSite::current()});
  };
  const auto init_ring = [](std::uint32_t count) -> Body {
    return [=](M& m) { m.elect_one([&] { m.mbarrier_init(kRing, count); }); };
  };
  with_ring("PIPELINE_COUNT_MISMATCH", init_ring(2), init_ring(1));
  with_ring(
      "STAGE_LEAK",
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kDropped, 0);
      },
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kProducerReleased, 0);
      });
  with_ring(
      "STAGE_DOUBLE_RELEASE",
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kProducerReleased, 0);
        note(m, StageStep::kReleasedTwice, 0);
      },
      [=](M& m) {
        note(m, StageStep::kProducerAcquired, 0);
        note(m, StageStep::kProducerReleased, 0);
      });
  // Acquires stage 0, or acquires and releases it, and copies into `stage`.
  const auto copy_into = [=](std::uint32_t stage, bool released) -> Body {
    return [=](M& m) {
      m.elect_one([&] { m.mbarrier_init(kRing, 1); });
      m.sync_warp();
      note(m, StageStep::kProducerAcquired, 0);
      if (released) {
        note(m, StageStep::kProducerReleased, 0);
      }
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kRing, 32);
        m.cp_async_bulk_load(kRingTiles + stage * kStageBytes, kSource, 32, CopyTarget{kRing});
      });
      m.mbarrier_wait_parity(kRing, WaitPhase::number(0));
      m.sync_warp();
      if (!released) {
        note(m, StageStep::kProducerReleased, 0);
      }
    };
  };
  with_ring("STAGE_USE_BEFORE_ACQUIRE", copy_into(1, false), copy_into(0, false));
  with_ring("STAGE_USE_AFTER_RELEASE", copy_into(0, true), copy_into(0, false));
  // Conditions of the proof.
  const auto look = [=](bool in_time) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(kBar); });
        m.bar_sync(1, 64);
        m.elect_one([&] { m.mbarrier_arrive(kBar); });
      } else {
        if (in_time) {
          wait(m, 0);
        }
        m.bar_arrive(1, 64);
        wait(m, 1);
      }
    });
  };
  add("ORDER_LOOK", 2, look(false), look(true), "starve:1");
  const auto announce = [=](bool together) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] { m.mbarrier_expect_tx(kBar, 32); });
        copy(m, 32);
        if (together) {
          m.elect_one([&] { m.mbarrier_arrive(kBar); });
        }
        wait(m, 0);
      } else if (!together) {
        m.elect_one([&] { m.mbarrier_arrive(kBar); });
      }
    });
  };
  add("ORDER_EXPECT", 2, announce(false), announce(true), "starve:1");
  add("MBAR_WAIT_REMOTE",
      1,
      after_init(
          1,
          [](M& m) { m.mbarrier_wait_parity(Mbarrier{{1U << 24 | 1024}}, WaitPhase::number(0)); }),
      lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
        m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
      }));
  // A cluster barrier at the end covers arrivals on other CTAs' mbarriers only if it releases.
  const auto end_with = [](Ordering arrival) -> Body {
    return [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.fence_mbarrier_init();
      });
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1)); });
      }
      m.barrier_cluster_arrive(arrival);
      m.barrier_cluster_wait();
    };
  };
  for (const char* id : {"ORDER_EXIT", "CTA_EXIT_WITH_PENDING_REMOTE"}) {
    all.push_back({id, end_with(kRelaxedCluster), end_with(kReleaseCluster), 1, 2, "lazy:2"});
  }
  const auto hand_over = [=](bool fence) -> Body {
    return after_init(1, with_tmem([=](M& m, TmemAddress at) {
                        if (m.warp_index() == 0) {
                          mma(m, at);
                          m.tcgen05_commit(CtaGroup::kOne, kBar);
                        } else {
                          wait(m, 0);
                          if (fence) {
                            m.tcgen05_fence_after_thread_sync();
                          }
                          load(m, at.at_lane(32));
                        }
                      }));
  };
  add("TMEM_FENCE_MISSING", 2, hand_over(false), hand_over(true));
  // Global memory: stored, then loaded again; stored twice.
  const auto store_and_load = [=](bool complete_first) {
    return after_init(1, [=](M& m) {
      four_words(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      store_tile(m);
      m.elect_one([&] {
        if (complete_first) {
          m.cp_async_bulk_wait_group<0>();
        } else {
          m.cp_async_bulk_wait_group_read<0>();
        }
      });
      fill(m);
      wait(m, 0);
      m.elect_one([&] { m.cp_async_bulk_wait_group<0>(); });
    });
  };
  add("GMEM_RAW_NO_WAIT", 1, store_and_load(false), store_and_load(true));
  const auto both_store = [=](bool meet) -> Body {
    const Body store = [=](M& m) {
      m.elect_one([&] {
        for (std::uint32_t i = 0; i < 4; ++i) {
          m.st_shared_u32(kTile + 64 * m.warp_index() + 4 * i, i);
        }
      });
      m.fence_proxy_async(ProxySpace::kSharedCta);
      m.elect_one([&] {
        m.cp_async_bulk_store(kSource, kTile + 64 * m.warp_index(), 16);
        m.cp_async_bulk_commit_group();
        m.cp_async_bulk_wait_group<0>();
      });
    };
    return one_after_the_other(store, store, meet);
  };
  add("GMEM_RACE", 2, both_store(false), both_store(true));
  // What `strict` says.
  strictly(
      "MBAR_TX_ZERO", 1, 1, lane(1, [](M& m) { m.mbarrier_expect_tx(kBar, 0); }), lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
      }));
  strictly("MBAR_NOT_INVALIDATED", 1, 1, lane(1, [](M&) {}), lane(1, [](M& m) {
             m.mbarrier_inval(kBar);
           }));
  const auto over_there = [](Ordering arrives, Ordering waits) -> Body {
    return [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.fence_mbarrier_init();
      });
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1), 1, arrives); });
      } else {
        m.mbarrier_wait_parity(kBar, WaitPhase::number(0), waits);
        m.sync_warp();
      }
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
    };
  };
  strictly("MBAR_SCOPE_TOO_NARROW",
           1,
           2,
           over_there(kReleaseCta, kAcquireCluster),
           over_there(kReleaseCluster, kAcquireCluster));
  strictly("MBAR_WAIT_NO_ACQUIRE_SCOPE",
           1,
           2,
           over_there(kReleaseCluster, kAcquireCta),
           over_there(kReleaseCluster, kAcquireCluster));
  const auto laps = [](std::uint32_t skipped) -> Body {
    return [=](M& m) {
      const auto at = [&](StageStep step, std::uint32_t iteration) {
        m.note_stage(
            {step, kBar, kStages, iteration % kStages, iteration / kStages, SourceSite::current()});
      };
      for (std::uint32_t i = 0; i < 4; ++i) {
        at(StageStep::kProducerAcquired, i);
        at(StageStep::kProducerReleased, i);
        if (i != skipped) {
          at(StageStep::kConsumerAcquired, i < skipped ? i : i + 1);
        }
      }
      m.sync_warp();
    };
  };
  add("PIPELINE_STATE_DESYNC", 1, laps(2), laps(4));
  return all;
}

}  // namespace

std::span<const MicroProgram> micro_programs() {
  static const std::vector<MicroProgram> kPrograms = build();
  return kPrograms;
}

std::vector<Finding> run_micro(const MicroProgram& micro, bool wrong) {
  LaunchConfig config;
  config.warps_per_cta = micro.warps;
  config.cluster_size = micro.ctas;
  config.shared_bytes = 32768;
  config.moves_data = false;
  GlobalMemory memory;
  memory.add("source", 4096, false);
  const Symbols symbols = micro.ring ? ring_symbols() : Symbols{};
  Gpu gpu{config, memory, symbols};
  DetectorSet detectors{
      micro.strict ? Profile::kStrict : Profile::kPractical, gpu.config(), symbols};
  RunOrder order{gpu.config(), {}};
  struct Both : EventSink {
    Both(EventSink& a, EventSink& b) : first{a}, second{b} {}
    void on_event(const Event& event) override {
      first.on_event(event);
      second.on_event(event);
    }
    EventSink& first;
    EventSink& second;
  };
  Both both{detectors, order};
  gpu.set_sink(&both);
  const auto scheduler = make_scheduler(ScheduleSpec::parse(micro.schedule));
  const RunStats stats =
      run_functional(gpu, wrong ? micro.wrong : micro.right, *scheduler, {100'000});
  constexpr RunEnd kEnds[] = {
      RunEnd::kDone, RunEnd::kDeadlock, RunEnd::kLivelock, RunEnd::kTrapped, RunEnd::kStepBound};
  detectors.at_end(gpu, kEnds[static_cast<unsigned>(stats.ending)]);
  std::vector<Finding> findings = detectors.take_findings();
  order.at_end();
  for (const RunOrder::Finding& broken : order.findings()) {
    Finding finding;
    finding.info = find_diagnostic(diagnostic_of(broken.violation.condition));
    finding.site = broken.violation.node.site;
    findings.push_back(finding);
  }
  return findings;
}

}  // namespace warptwin::sim
