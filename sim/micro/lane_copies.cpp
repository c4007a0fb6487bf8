// Micro-programs about copies that lanes make: cp.async.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

constexpr std::uint32_t kPiece = 16;

// Each lane copies 16 bytes: to the tile, or to what lies behind.
void begin_copies(M& m, std::uint32_t part = 0) {
  m.cp_async(Extent<kPiece>{}, [part](std::uint32_t lane) {
    const std::uint32_t at = (part * kWarpLanes + lane) * kPiece;
    return CopyOfLane{kTile + at, {kSource.value + at}, kPiece};
  });
}

void end_copies(M& m) {
  m.cp_async_wait_group<0>();
  m.sync_warp();
}

void add_groups_of_lanes(List& list) {
  // In front of the wait, or behind it.
  const auto using_tile = [](Body use, bool early) -> Body {
    return [=](M& m) {
      begin_copies(m);
      m.cp_async_commit_group();
      if (early) {
        use(m);
      }
      end_copies(m);
      if (!early) {
        use(m);
      }
    };
  };
  list.add("SMEM_RAW_NO_WAIT", 1, using_tile(read_tile, true), using_tile(read_tile, false));
  list.add("SMEM_WAW_ASYNC", 1, using_tile(write_tile, true), using_tile(write_tile, false));
  // The tile's copies are of the second group.
  const auto two_groups = [](bool both) -> Body {
    return [=](M& m) {
      begin_copies(m, 1);
      m.cp_async_commit_group();
      begin_copies(m);
      m.cp_async_commit_group();
      if (both) {
        m.cp_async_wait_group<0>();
      } else {
        m.cp_async_wait_group<1>();
      }
      m.sync_warp();
      read_tile(m);
      end_copies(m);
    };
  };
  list.add("SMEM_RAW_NO_WAIT", 1, two_groups(false), two_groups(true));
  const auto leave = [](bool waits) -> Body {
    return [=](M& m) {
      begin_copies(m);
      m.cp_async_commit_group();
      if (waits) {
        m.cp_async_wait_group<0>();
      }
    };
  };
  list.add("ASYNC_PENDING_AT_EXIT", 1, leave(false), leave(true));
  // Another warp reads what this one has, or has not, waited for.
  const auto hand_over = [](bool waits_first) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        begin_copies(m);
        m.cp_async_commit_group();
        if (waits_first) {
          m.cp_async_wait_group<0>();
        }
      }
      m.cta_sync();
      if (m.warp_index() == 0) {
        m.cp_async_wait_group<0>();
      } else {
        read_tile(m);
      }
    };
  };
  list.add("SMEM_RACE", 2, hand_over(false), hand_over(true));
  // A fence covers what is complete: not what is under way.
  const auto store = [](bool fences_before, bool fences_behind) -> Body {
    return [=](M& m) {
      begin_copies(m);
      m.cp_async_commit_group();
      if (fences_before) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      m.cp_async_wait_group<0>();
      if (fences_behind) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      m.sync_warp();
      store_tile(m);
      wait_stored(m);
    };
  };
  list.add("PROXY_FENCE_MISSING", 1, store(false, false), store(false, true));
  list.add("PROXY_FENCE_UNCOVERED", 1, store(true, false), store(true, true));
}

// The lanes of warp 0 tell an mbarrier, and warp 1 reads.
void add_counted(List& list) {
  const auto hand_over = [](Body arrive) {
    return after_init(kWarpLanes, [=](M& m) {
      if (m.warp_index() == 0) {
        begin_copies(m);
        arrive(m);
        wait(m, 0);
        m.cp_async_commit_group();
        m.cp_async_wait_group<0>();
      } else {
        wait(m, 0);
        read_tile(m);
      }
    });
  };
  const Body counted = hand_over([](M& m) { m.cp_async_mbarrier_arrive_noinc(kBar); });
  list.add("DEADLOCK", 2, hand_over([](M& m) { m.cp_async_mbarrier_arrive(kBar); }), counted);
  list.add("SMEM_RAW_NO_WAIT", 2, hand_over([](M& m) { m.mbarrier_arrive(kBar); }), counted);
  // Without .noinc, the arrivals that the barrier's count has are others.
  list.add(
      "SMEM_RAW_NO_WAIT", 2, hand_over([](M& m) { m.mbarrier_arrive(kBar); }), hand_over([](M& m) {
        m.cp_async_mbarrier_arrive(kBar);
        m.mbarrier_arrive(kBar);
      }));
}

// An arrival that comes late may be of another CTA, or wait for copies of the own one.
void add_late_arrivals(List& list) {
  const auto waiting = [](Body arrive) {
    return cluster_init(kWarpLanes, [=](M& m) {
      arrive(m);
      wait(m, 0);
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      m.elect_one([&] { m.mbarrier_inval(kBar); });
    });
  };
  list.strictly("MBAR_WAIT_NO_ACQUIRE_SCOPE",
                1,
                2,
                waiting([](M& m) { m.mbarrier_arrive(m.mapa(kBar, m.cta_rank() ^ 1U)); }),
                waiting([](M& m) {
                  begin_copies(m);
                  m.cp_async_mbarrier_arrive_noinc(kBar);
                }));
}

}  // namespace

void add_lane_copies(List& list) {
  add_groups_of_lanes(list);
  add_counted(list);
  add_late_arrivals(list);
}

}  // namespace warptwin::sim::micro
