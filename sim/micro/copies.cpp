// Micro-programs about copies.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

// Where a copy goes, how much of what it is.
void add_addresses(List& list) {
  list.add("ASYNC_PENDING_AT_EXIT",
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

  const auto bulk = [](std::uint32_t to, std::uint64_t from, std::uint32_t bytes) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kBar, bytes);
        m.cp_async_bulk_load(SharedAddress{to}, GlobalAddress{from}, bytes, CopyTarget{kBar});
      });
      wait(m, 0);
    });
  };
  const Body good = bulk(kTile.value, kSource.value, 32);
  list.add("BULK_SIZE_ALIGN", 1, bulk(kTile.value, kSource.value, 24), good);
  list.add("BULK_ADDR_ALIGN", 1, bulk(kTile.value + 8, kSource.value, 32), good);
  list.add("BULK_OOB", 1, bulk(kTile.value, kSource.value + kSourceBytes - 16, 32), good);
  // What is copied to the tile is stored as the result, which is to be the source's first row.
  const auto result_of = [](std::uint64_t from) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kBar, kResultBytes);
        m.cp_async_bulk_load(kTile, GlobalAddress{from}, kResultBytes, CopyTarget{kBar});
      });
      wait(m, 0);
      m.elect_one([&] {
        m.cp_async_bulk_store(kResult, kTile, kResultBytes);
        m.cp_async_bulk_commit_group();
        m.cp_async_bulk_wait_group<0>();
      });
    });
  };
  MicroProgram wrong_row{
      "RESULT_WRONG", result_of(kSource.value + kResultBytes), result_of(kSource.value)};
  wrong_row.has_result = true;
  list.push(std::move(wrong_row));
  const auto tensor = [](Coordinates<1> one, Coordinates<2> two, std::uint32_t rank) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kBar, 128 * 128);
        if (rank == 1) {
          m.cp_async_bulk_tensor_load(kTile, kMap128, one, CopyTarget{kBar});
        } else {
          m.cp_async_bulk_tensor_load(kTile, kMap128, two, CopyTarget{kBar});
        }
      });
      wait(m, 0);
    });
  };
  list.add("TMA_COORD", 1, tensor({{0}}, {{0, 0}}, 1), tensor({{0}}, {{0, 0}}, 2));
}

// A map that changes: by the warp that uses it, by another one, while a copy goes through it.
void add_map_changes(List& list) {
  const auto load_through_map = [](M& m) {
    m.elect_one([&] {
      m.mbarrier_arrive_expect_tx(kBar, 128 * 16);
      m.cp_async_bulk_tensor_load(kTile, kMap16, Coordinates<2>{0, 0}, CopyTarget{kBar});
    });
  };
  const auto change_map = [](M& m) {
    m.elect_one([&] { m.tensormap_replace_global_address(kMap16, kSource); });
  };
  const auto change_and_use = [=](bool release, bool acquire) {
    return after_init(1, [=](M& m) {
      change_map(m);
      m.elect_one([&] {
        if (release) {
          m.fence_proxy_tensormap_release();
        }
        if (acquire) {
          m.fence_proxy_tensormap_acquire(kMap16);
        }
      });
      load_through_map(m);
      wait(m, 0);
    });
  };
  const Body both_fences = change_and_use(true, true);
  list.add("TENSORMAP_FENCE_MISSING", 1, change_and_use(false, false), both_fences);
  list.add("TENSORMAP_FENCE_MISSING", 1, change_and_use(true, false), both_fences);
  list.add("TENSORMAP_FENCE_MISSING", 1, change_and_use(false, true), both_fences);
  const auto hand_over = [=](bool acquire) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        change_map(m);
        m.elect_one([&] { m.fence_proxy_tensormap_release(); });
      }
      m.cta_sync();
      if (m.warp_index() == 1) {
        if (acquire) {
          m.elect_one([&] { m.fence_proxy_tensormap_acquire(kMap16); });
        }
        load_through_map(m);
        wait(m, 0);
      }
    });
  };
  list.add("TENSORMAP_FENCE_MISSING", 2, hand_over(false), hand_over(true));
  const auto change_after_load = [=](bool waits_first) {
    return after_init(1, [=](M& m) {
      load_through_map(m);
      if (waits_first) {
        wait(m, 0);
      }
      change_map(m);
      if (!waits_first) {
        wait(m, 0);
      }
    });
  };
  list.add("TENSORMAP_MODIFIED_IN_FLIGHT", 1, change_after_load(false), change_after_load(true));
  const auto change_after_store = [=](bool waits_first) {
    return after_init(1, [=](M& m) {
      load_through_map(m);
      wait(m, 0);
      m.elect_one([&] {
        m.cp_async_bulk_tensor_store(kMap16, Coordinates<2>{0, 0}, kTile);
        m.cp_async_bulk_commit_group();
      });
      if (waits_first) {
        wait_stored(m);
      }
      change_map(m);
      wait_stored(m);
    });
  };
  list.add("TENSORMAP_MODIFIED_IN_FLIGHT", 1, change_after_store(false), change_after_store(true));
}

// Copies to several CTAs, and bulk groups.
void add_copy_groups(List& list) {
  // Every CTA copies to all of the mask.
  const auto multicast = [](std::uint16_t mask, bool all_expect) {
    return cluster_init(1, [=](M& m) {
      const bool leads = m.cta_rank() == 0;
      m.elect_one([&] {
        if (leads || all_expect) {
          m.mbarrier_arrive_expect_tx(kBar, 32);
        }
        if (leads) {
          m.cp_async_bulk_load(kTile, kSource, 32, CopyTarget{kBar, CtaMask{mask}});
        }
      });
      wait(m, 0);
    });
  };
  list.in_cluster("BULK_MCAST_MASK", 2, multicast(0x7, true), multicast(0x3, true));
  list.in_cluster("BULK_MCAST_NO_EXPECT", 2, multicast(0x3, false), multicast(0x3, true));
  const auto uncommitted = [](bool commit) -> Body {
    return [=](M& m) {
      write_four_words(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      m.elect_one([&] {
        m.cp_async_bulk_store(kSource, kTile, 16);
        if (commit) {
          m.cp_async_bulk_commit_group();
        }
        m.cp_async_bulk_wait_group_read<0>();
      });
    };
  };
  list.add("BULK_GROUP_UNCOMMITTED", 1, uncommitted(false), uncommitted(true));
  // Warp 0 stores; who waits, and then warp 1 writes again.
  const auto waits = [](std::uint32_t waiter) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        write_four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
      }
      if (m.warp_index() == waiter) {
        wait_stored(m);
      }
      m.cta_sync();
      if (m.warp_index() == 1) {
        write_four_words(m);
      }
      m.cta_sync();
      if (m.warp_index() == 0) {
        wait_stored(m);
      }
    };
  };
  list.add("BULK_WAIT_WRONG_THREAD", 2, waits(1), waits(0));
  list.add(
      "WORD_OOB",
      1,
      [](M& m) { m.elect_one([&] { m.red_add_release_global_u32(kSource, 1); }); },
      [](M& m) { m.elect_one([&] { m.red_add_release_global_u32(kFlag, 1); }); });
  list.add(
      "WORD_MISALIGNED",
      1,
      [](M& m) { m.elect_one([&] { m.st_shared_u32(kTile + 2, 1); }); },
      [](M& m) { m.elect_one([&] { m.st_shared_u32(kTile, 1); }); });

  const auto leave = [](bool wait_first) -> Body {
    return [=](M& m) {
      write_four_words(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      store_tile(m);
      if (wait_first) {
        wait_stored(m);
      }
    };
  };
  list.add("BULK_STORE_PENDING_AT_EXIT", 1, leave(false), leave(true));
}

}  // namespace

void add_copies(List& list) {
  add_addresses(list);
  add_map_changes(list);
  add_copy_groups(list);
}

}  // namespace warptwin::sim::micro
