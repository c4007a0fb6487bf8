// Micro-programs about mbarriers: their life, arrivals, bytes and waits, and the conditions of the
// proof on them.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

// Where an mbarrier is, its initialisation and its end.
void add_life(List& list) {
  list.add(
      "MBAR_UNINIT", 1, [](M& m) { m.mbarrier_arrive(kBar); }, lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
      }));
  list.add("MBAR_MISALIGNED",
           1,
           lane(1, [](M& m) { m.mbarrier_arrive(Mbarrier{{1028}}); }),
           lane(1, [](M& m) { m.mbarrier_arrive(kBar); }));
  list.add("MBAR_SPACE",
           1,
           lane(1, [](M& m) { m.mbarrier_arrive(Mbarrier{{1U << 20}}); }),
           lane(1, [](M& m) { m.mbarrier_arrive(kBar); }));
  list.add("MBAR_INIT_COUNT", 1, lane(0, [](M&) {}), lane(1, [](M&) {}));
  list.add(
      "MBAR_REINIT_LIVE", 1, lane(1, [](M& m) { m.mbarrier_init(kBar, 1); }), lane(1, [](M& m) {
        m.mbarrier_inval(kBar);
        m.mbarrier_init(kBar, 1);
      }));
  list.add("MBAR_INVAL_IN_USE",
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
  list.add("MBAR_MEM_CLOBBER",
           1,
           lane(1, [](M& m) { m.st_shared_u32(kBar.address, 1); }),
           lane(1, [](M& m) { m.st_shared_u32(kWord, 1); }));
  // By a copy that is counted there; by a warp's rows of a tile.
  const auto copy_to = [](SharedAddress to) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kBar, 16);
        m.cp_async_bulk_load(to, kSource, 16, CopyTarget{kBar});
      });
      wait(m, 0);
    });
  };
  list.add("MBAR_MEM_CLOBBER", 1, copy_to(kBar.address), copy_to(kTile));
  const auto rows_to = [](SharedAddress to) {
    return after_init(1, [=](M& m) {
      SimFragment<16> registers;
      registers.fill(0);
      m.st_shared(SharedTile<f32>{to, 32, 16, Swizzle::kNone}, 0, 0, registers);
    });
  };
  list.add("MBAR_MEM_CLOBBER", 1, rows_to(kBar.address), rows_to(kTile));
}

// Arrivals, and bytes that are announced and delivered.
void add_contributions(List& list) {
  list.add("MBAR_ARRIVE_COUNT",
           1,
           lane(1, [](M& m) { m.mbarrier_arrive(kBar, 0); }),
           lane(1, [](M& m) { m.mbarrier_arrive(kBar, 1); }));
  list.add("MBAR_NOCOMPLETE",
           1,
           lane(1, [](M& m) { m.mbarrier_arrive_no_complete(kBar, 1); }),
           lane(2, [](M& m) { m.mbarrier_arrive_no_complete(kBar, 1); }));
  list.add("MBAR_DROP_TO_ZERO",
           1,
           lane(1, [](M& m) { m.mbarrier_arrive_drop(kBar); }),
           lane(2, [](M& m) { m.mbarrier_arrive_drop(kBar); }));
  list.add("MBAR_PHASE_UNOBSERVED",
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
  list.add("MBAR_TX_OVERFLOW",
           1,
           lane(1,
                [](M& m) {
                  m.mbarrier_expect_tx(kBar, kMbarrierCountMax);
                  m.mbarrier_expect_tx(kBar, 16);
                }),
           lane(1, [](M& m) { m.mbarrier_expect_tx(kBar, 16); }));
  list.add("MBAR_TX_UNDERFLOW",
           1,
           lane(1,
                [](M& m) {
                  m.mbarrier_complete_tx(kBar, kMbarrierCountMax);
                  m.mbarrier_complete_tx(kBar, 16);
                }),
           lane(1, [](M& m) { m.mbarrier_complete_tx(kBar, 16); }));
  list.add("MBAR_EXPECT_MULTI_LANE",
           1,
           after_init(32, [](M& m) { m.mbarrier_arrive_expect_tx(kBar, 16); }),
           after_init(1, [](M& m) {
             fill(m);
             wait(m, 0);
           }));
  list.add("MBAR_EXPECT_AFTER_LAST_ARRIVE",
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
  list.add("MBAR_SW_COMPLETE_WITH_HW",
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
}

// What is waited for, and tried.
void add_waits(List& list) {
  list.add("MBAR_PARITY_VALUE",
           1,
           lane(1, [](M& m) { m.mbarrier_try_wait_parity(kBar, WaitPhase::parity_only(3)); }),
           lane(1, [](M& m) { m.mbarrier_try_wait_parity(kBar, WaitPhase::parity_only(1)); }));
  list.add("MBAR_WAIT_AHEAD",
           1,
           lane(1, [](M& m) { m.mbarrier_wait_parity(kBar, WaitPhase::number(1)); }),
           lane(1, [](M& m) { m.mbarrier_wait_parity(kBar, WaitPhase::number(~0U)); }));
  list.add("LIVELOCK_SPIN",
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
  list.add("MBAR_RELAXED_NO_FENCE", 2, pass_word(kRelaxedCta, false), pass_word(kRelaxedCta, true));
  list.add(
      "MBAR_TRYWAIT_UNCHECKED",
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
      "lazy:1+tries-fail");
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
  list.push(
      {"MBAR_INIT_NOT_CLUSTER_VISIBLE", arrive_over_there(false), arrive_over_there(true), 1, 2});
}

// Conditions of the proof.
void add_conditions(List& list) {
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
  list.add("ORDER_LOOK", 2, look(false), look(true), "starve:1");
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
  list.add("ORDER_EXPECT", 2, announce(false), announce(true), "starve:1");
  list.add("MBAR_WAIT_REMOTE",
           1,
           after_init(1,
                      [](M& m) {
                        m.mbarrier_wait_parity(Mbarrier{{1U << 24 | 1024}}, WaitPhase::number(0));
                      }),
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
    list.push({id, end_with(kRelaxedCluster), end_with(kReleaseCluster), 1, 2, "lazy:2"});
  }
}

// What `strict` says.
void add_strict(List& list) {
  list.strictly(
      "MBAR_TX_ZERO", 1, 1, lane(1, [](M& m) { m.mbarrier_expect_tx(kBar, 0); }), lane(1, [](M& m) {
        m.mbarrier_arrive(kBar);
        m.mbarrier_inval(kBar);
      }));
  list.strictly("MBAR_NOT_INVALIDATED", 1, 1, lane(1, [](M&) {}), lane(1, [](M& m) {
                  m.mbarrier_inval(kBar);
                }));
  const auto over_there = [](Ordering arrives, Ordering waits) -> Body {
    return cluster_init(1, [=](M& m) {
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1), 1, arrives); });
      } else {
        m.mbarrier_wait_parity(kBar, WaitPhase::number(0), waits);
        m.sync_warp();
      }
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      m.elect_one([&] { m.mbarrier_inval(kBar); });
    });
  };
  list.strictly("MBAR_SCOPE_TOO_NARROW",
                1,
                2,
                over_there(kReleaseCta, kAcquireCluster),
                over_there(kReleaseCluster, kAcquireCluster));
  list.strictly("MBAR_WAIT_NO_ACQUIRE_SCOPE",
                1,
                2,
                over_there(kReleaseCluster, kAcquireCta),
                over_there(kReleaseCluster, kAcquireCluster));
}

// Too few arrivals or bytes, too many, too early; a wait that comes too late.
void add_counts(List& list) {
  const auto use_early = [](bool meet) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] { m.mbarrier_init(kBar, 1); });
      }
      if (meet) {
        m.cta_sync();
      }
      if (m.warp_index() == 1) {
        m.elect_one([&] { m.mbarrier_arrive(kBar); });
      }
    };
  };
  list.add("MBAR_INIT_RACE", 2, use_early(false), use_early(true), "starve:1");
  list.add("MBAR_OVERARRIVE",
           1,
           lane(2, [](M& m) { m.mbarrier_arrive(kBar, 3); }),
           lane(2, [](M& m) { m.mbarrier_arrive(kBar, 2); }));
  // One arrives `count` times on a barrier of two, and waits; what is announced and delivered.
  const auto arrive_and_wait = [](std::uint32_t count) {
    return after_init(2, [=](M& m) {
      m.elect_one([&] { m.mbarrier_arrive(kBar, count); });
      wait(m, 0);
    });
  };
  for (const char* id : {"DEADLOCK", "MBAR_UNDERARRIVE"}) {
    list.add(id, 1, arrive_and_wait(1), arrive_and_wait(2));
  }
  const auto deliver = [](std::uint32_t announced) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, announced); });
      copy(m, 32);
      wait(m, 0);
    });
  };
  list.add("MBAR_TX_MISMATCH", 1, deliver(16), deliver(32));
  // Phase 0 is waited for when phase 1 is over.
  const auto oversleep = [](bool in_time) {
    return after_init(1, [=](M& m) {
      const auto go_on = [&] {
        m.elect_one([&] { m.mbarrier_arrive(kBar); });
        m.sync_warp();
      };
      go_on();
      if (in_time) {
        wait(m, 0);
      }
      go_on();
      wait(m, in_time ? 1 : 0);
    });
  };
  list.add("MBAR_WAIT_PHASE_ALIASED", 1, oversleep(false), oversleep(true));
}

// Orders that nothing keeps.
void add_orders(List& list) {
  // Two arrivals that nothing orders complete two phases; a wait that nothing holds them for.
  const auto in_turn = [](bool waits) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 1 && waits) {
        m.bar_sync(1, 64);
      }
      m.elect_one([&] { m.mbarrier_arrive(kBar); });
      if (m.warp_index() == 0) {
        wait(m, 0);
      }
      if (m.warp_index() == 0 && waits) {
        m.bar_sync(1, 64);
      }
      m.cta_sync();
    });
  };
  list.add("ORDER_CONTRIBUTOR", 2, in_turn(false), in_turn(true));
  const auto lapped = [](bool held) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        for (std::uint32_t phase = 0; phase < 2; ++phase) {
          if (phase == 1 && held) {
            m.bar_sync(1, 64);
          }
          m.elect_one([&] { m.mbarrier_arrive(kBar); });
          wait(m, phase);
        }
      } else {
        wait(m, 0);
        if (held) {
          m.bar_sync(1, 64);
        }
      }
    });
  };
  list.add("ORDER_PASS", 2, lapped(false), lapped(true));
  // Another CTA's mbarrier, when that CTA has ended.
  const auto too_late = [](bool stays) -> Body {
    return [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.fence_mbarrier_init();
      });
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1)); });
      } else if (stays) {
        wait(m, 0);
      }
    };
  };
  list.in_cluster("REMOTE_TO_EXITED_CTA", 2, too_late(false), too_late(true), "starve:0");

  const auto announce_late = [](bool late) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] {
        if (late) {
          m.mbarrier_complete_tx(kBar, 16);
        }
        m.mbarrier_arrive_expect_tx(kBar, 16);
        if (!late) {
          m.mbarrier_complete_tx(kBar, 16);
        }
        m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
        m.mbarrier_inval(kBar);
      });
    });
  };
  list.strictly("MBAR_TX_NEGATIVE", 1, 1, announce_late(true), announce_late(false));
}

}  // namespace

void add_mbarriers(List& list) {
  add_life(list);
  add_contributions(list);
  add_waits(list);
  add_conditions(list);
  add_strict(list);
  add_counts(list);
  add_orders(list);
}

}  // namespace warptwin::sim::micro
