// Micro-programs about named and cluster barriers.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

// Who comes to a barrier, and how.
void add_arrivals(List& list) {
  list.add(
      "NAMED_BARRIER_ID", 1, [](M& m) { m.bar_sync(16, 32); }, [](M& m) { m.bar_sync(15, 32); });
  list.add(
      "NAMED_BARRIER_COUNT", 1, [](M& m) { m.bar_sync(1, 33); }, [](M& m) { m.bar_sync(1, 32); });
  list.add(
      "NAMED_BARRIER_COUNT_MISMATCH",
      2,
      [](M& m) { m.bar_arrive(1, m.warp_index() == 0 ? 64 : 32); },
      [](M& m) { m.bar_arrive(1, 64); },
      "starve:1");
  list.add(
      "NAMED_BARRIER_DOUBLE_ARRIVE",
      2,
      [](M& m) {
        if (m.warp_index() == 0) {
          m.bar_arrive(1, 64);
          m.bar_arrive(1, 64);
        }
      },
      [](M& m) { m.bar_arrive(1, 64); });
  list.add(
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
  list.add(
      "CLUSTER_BARRIER_WAIT_NO_ARRIVE",
      1,
      [](M& m) { m.barrier_cluster_wait(); },
      [](M& m) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      });

  const auto one_lane = [](void (*f)(M&), bool elected) -> Body {
    return [=](M& m) {
      if (elected) {
        m.elect_one([&] { f(m); });
      } else {
        f(m);
      }
    };
  };
  const auto lanes = [&](const char* id, void (*f)(M&)) {
    list.add(id, 1, one_lane(f, true), one_lane(f, false));
  };
  lanes("NAMED_BARRIER_DIVERGENT_ALIGNED", [](M& m) { m.bar_sync(1, 32); });
  lanes("CLUSTER_BARRIER_PARTIAL_WARP", [](M& m) {
    m.barrier_cluster_arrive();
    m.barrier_cluster_wait();
  });
  lanes("WARP_SYNC_MASK", [](M& m) { m.sync_warp(); });
  lanes("ALIGNED_DIVERGENCE", [](M& m) { m.tcgen05_wait_st(); });
}

// One lane waits, and its warp goes on.
void add_lone_waits(List& list) {
  // Warp 0 hands over, by a barrier or by a word; one lane of warp 1 waits, and all 32 go on.
  const auto handed_over = [](Body hand, Body wait_alone, Body all, bool meet) -> Body {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] { hand(m); });
        return;
      }
      m.elect_one([&] { wait_alone(m); });
      if (meet) {
        m.sync_warp();
      }
      all(m);
    });
  };
  const auto alone = [&](Body hand, Body wait_alone, Body all) {
    list.add("WARP_SYNC_MISSING",
             2,
             handed_over(hand, wait_alone, all, false),
             handed_over(hand, wait_alone, all, true));
  };
  alone(
      [](M& m) {
        m.st_shared_u32(kTile, 1);
        m.mbarrier_arrive(kBar);
      },
      [](M& m) { m.mbarrier_wait_parity(kBar, WaitPhase::number(0)); },
      [](M& m) { m.ld_shared_u32(kTile); });
  alone([](M& m) { m.red_add_release_global_u32(kFlag, 1); },
        [](M& m) { m.wait_global_u32(kFlag, 1); },
        [](M& m) { m.red_add_release_global_u32(kFlag + 4, 1); });
  const auto refill = [](bool meet) -> Body {
    return [=](M& m) {
      write_four_words(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      store_tile(m);
      wait_stored(m);
      if (meet) {
        m.sync_warp();
      }
      m.st_shared_u32(kTile, 1);
    };
  };
  list.add("WARP_SYNC_MISSING", 1, refill(false), refill(true));
  // All lanes acquire what the one has released: behind its wait, or before it.
  const auto handed_on = [](bool behind) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] {
          m.mbarrier_init(kBar, 1);
          m.mbarrier_init(kBar2, 1);
        });
      }
      m.cta_sync();
      if (m.warp_index() == 0) {
        m.elect_one([&] {
          m.st_shared_u32(kTile, 1);
          m.mbarrier_arrive(kBar);
        });
        return;
      }
      m.elect_one([&] {
        if (!behind) {
          m.mbarrier_arrive(kBar2);
        }
        m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
        if (behind) {
          m.mbarrier_arrive(kBar2);
        }
      });
      m.mbarrier_wait_parity(kBar2, WaitPhase::number(0));
      m.ld_shared_u32(kTile);
    };
  };
  list.add("WARP_SYNC_MISSING", 2, handed_on(false), handed_on(true));
  const auto reuse = [](bool behind) -> Body {
    return after_init(1, [=](M& m) {
      write_four_words(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      store_tile(m);
      if (behind) {
        wait_stored(m);
      }
      m.elect_one([&] { m.mbarrier_arrive(kBar); });
      if (!behind) {
        wait_stored(m);
      }
      m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
      m.st_shared_u32(kTile, 1);
    });
  };
  list.add("WARP_SYNC_MISSING", 1, reuse(false), reuse(true));
}

// Lanes of one warp that do not go together.
void add_lanes(List& list) {
  // All lanes write, and one hands over: to a copy of its own, to another warp.
  const auto write_by_all = [](M& m) {
    for (std::uint32_t word = 0; word < 4; ++word) {
      m.st_shared_u32(kTile + 4 * word, word);
    }
  };
  const auto store_for_all = [=](bool meet) -> Body {
    return [=](M& m) {
      write_by_all(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      if (meet) {
        m.sync_warp();
      }
      store_tile(m);
      wait_stored(m);
    };
  };
  list.add("WARP_LANES_NOT_RELEASED", 1, store_for_all(false), store_for_all(true));
  const auto arrive_for_all = [=](bool meet) -> Body {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        write_by_all(m);
        if (meet) {
          m.sync_warp();
        }
        m.elect_one([&] { m.mbarrier_arrive(kBar); });
        return;
      }
      m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
      m.ld_shared_u32(kTile);
    });
  };
  list.add("WARP_LANES_NOT_RELEASED", 2, arrive_for_all(false), arrive_for_all(true));
  const auto two_lanes = [](bool meet) -> Body {
    return [=](M& m) {
      m.for_lanes(
          2, [&](std::uint32_t lane) { m.st_shared_u32(kTile + (meet ? 4 * lane : 0), lane); });
    };
  };
  list.add("WARP_LANE_RACE", 1, two_lanes(false), two_lanes(true));
  const auto read_back = [](bool meet) -> Body {
    return [=](M& m) {
      m.elect_one([&] { m.st_shared_u32(kTile, 1); });
      if (meet) {
        m.sync_warp();
      }
      m.ld_shared_u32(kTile);
    };
  };
  list.add("WARP_LANE_RACE", 1, read_back(false), read_back(true));
}

// Who meets whom, and when; other CTAs.
void add_meetings(List& list) {
  const auto groups = [](std::uint32_t id_of_second) -> Body {
    return [=](M& m) { m.bar_sync(m.warp_index() < 2 ? 1 : id_of_second, 64); };
  };
  list.add("NAMED_BARRIER_OVERSUBSCRIBED", 4, groups(1), groups(2));
  const auto part = [](std::uint32_t id) -> Body {
    return [=](M& m) {
      m.cta_sync();
      if (m.warp_index() == 0) {
        m.bar_sync(id, 32);
      }
      m.cta_sync();
    };
  };
  list.add("NAMED_BARRIER_ZERO_CONFLICT", 2, part(0), part(1));
  list.strictly(
      "NAMED_BARRIER_PENDING_AT_EXIT",
      2,
      1,
      [](M& m) {
        if (m.warp_index() == 0) {
          m.bar_arrive(1, 64);
        }
      },
      [](M& m) { m.bar_arrive(1, 64); });
  const auto skipped = [](bool all) -> Body {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 1 && !all) {
        wait(m, 0);  // of an mbarrier that nobody arrives at
      }
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
    });
  };
  list.add("CLUSTER_BARRIER_SKIPPED", 2, skipped(false), skipped(true));
  // Another CTA before it is known to run, and one that does not exist.
  const auto early = [](bool meet) -> Body {
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
  list.in_cluster("DSMEM_BEFORE_START", 2, early(false), early(true));
  const auto rank = [](std::uint32_t target) {
    return cluster_init(1, [=](M& m) {
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, target)); });
      }
    });
  };
  list.in_cluster("MAPA_RANK_OOB", 2, rank(2), rank(1));
}

}  // namespace

void add_groups(List& list) {
  add_arrivals(list);
  add_lone_waits(list);
  add_lanes(list);
  add_meetings(list);
}

}  // namespace warptwin::sim::micro
