// Micro-programs about shared and global memory: who may touch bytes that somebody else touches.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

// Shared memory: copies and words of it.
void add_shared_memory(List& list) {
  list.add("SMEM_RAW_NO_WAIT",
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
  list.add(
      "SMEM_UNINIT_READ",
      1,
      [=](M& m) { read_tile(m); },
      [=](M& m) {
        write_tile(m);
        read_tile(m);
      });
  list.add("SMEM_RACE",
           2,
           one_after_the_other(write_tile, write_tile, false),
           one_after_the_other(write_tile, write_tile, true));
  list.add("SMEM_WAW_ASYNC",
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
  list.add(
      "BULK_SRC_REUSE",
      1,
      [=](M& m) {
        write_four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        write_tile(m);
        wait_stored(m);
      },
      [=](M& m) {
        write_four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        wait_stored(m);
        write_tile(m);
      });
  list.add(
      "PROXY_FENCE_MISSING",
      1,
      [=](M& m) {
        write_four_words(m);
        store_tile(m);
        wait_stored(m);
      },
      [=](M& m) {
        write_four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        wait_stored(m);
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
  list.add("PROXY_FENCE_MISSING_WAR", 1, read_and_refill(false), read_and_refill(true));
  const auto multiply_and_write = [=](bool late) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
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
  list.add("SMEM_WAR_ASYNC", 1, multiply_and_write(false), multiply_and_write(true));
}

// Global memory: stored, then loaded again; stored twice.
void add_global_copies(List& list) {
  const auto store_and_load = [=](bool complete_first) {
    return after_init(1, [=](M& m) {
      write_four_words(m);
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
  list.add("GMEM_RAW_NO_WAIT", 1, store_and_load(false), store_and_load(true));
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
  list.add("GMEM_RACE", 2, both_store(false), both_store(true));
  // Two planes each, of which they share one.
  const auto planes = [](std::int32_t second) -> Body {
    return [=](M& m) {
      const std::uint32_t warp = m.warp_index();
      const SharedAddress box = kTile + 128 * warp;
      m.elect_one([&] {
        for (std::uint32_t i = 0; i < 8; ++i) {
          m.st_shared_u32(box + 4 * i, i);
        }
      });
      m.fence_proxy_async(ProxySpace::kSharedCta);
      m.elect_one([&] {
        m.cp_async_bulk_tensor_store(kMapVolume, Coordinates<3>{0, 0, warp == 0 ? 0 : second}, box);
        m.cp_async_bulk_commit_group();
        m.cp_async_bulk_wait_group<0>();
      });
    };
  };
  list.add("GMEM_RACE", 2, planes(1), planes(2));
}

// Single words: a plain load beside a reduction, and beside a bulk store, before it and after it.
void add_global_words(List& list) {
  const Body load_word = [](M& m) { m.elect_one([&] { m.ld_global_f32(kFlag); }); };
  const Body add_to_word = [](M& m) {
    m.elect_one([&] { m.red_add_release_global_u32(kFlag, 1); });
  };
  list.add("GMEM_RACE",
           2,
           one_after_the_other(add_to_word, load_word, false),
           one_after_the_other(add_to_word, load_word, true));
  const Body load_read_only = [](M& m) { m.elect_one([&] { m.ld_global_nc_f32(kFlag); }); };
  list.add("GMEM_READ_ONLY_WRITTEN",
           2,
           one_after_the_other(add_to_word, load_read_only, true),
           one_after_the_other(add_to_word, load_word, true));
  const auto load_source = [](std::uint32_t offset) -> Body {
    return [=](M& m) { m.elect_one([&] { m.ld_global_f32(kSource + offset); }); };
  };
  const auto store_source = [](std::function<void(M&)> then) -> Body {
    return [=](M& m) {
      write_four_words(m);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      store_tile(m);
      then(m);
      m.elect_one([&] { m.cp_async_bulk_wait_group<0>(); });
    };
  };
  const auto wait_then_load = [=](bool written) -> Body {
    return store_source([=](M& m) {
      m.elect_one([&] {
        if (written) {
          m.cp_async_bulk_wait_group<0>();
        } else {
          m.cp_async_bulk_wait_group_read<0>();
        }
        m.ld_global_f32(kSource + 12);
      });
    });
  };
  list.add("GMEM_RAW_NO_WAIT", 1, wait_then_load(false), wait_then_load(true));
  const Body store_only = store_source([](M&) {});
  list.add("GMEM_RACE",
           2,
           one_after_the_other(load_source(12), store_only, false),
           one_after_the_other(load_source(16), store_only, false));
}

// What orders less than it seems to.
void add_edges(List& list) {
  // A barrier that a warp has passed, and is slow to return from, tells nothing of the next one.
  const auto late_return = [](bool again) -> Body {
    return [=](M& m) {
      m.bar_sync(1, 64);
      if (again) {
        m.bar_sync(1, 64);
      }
      if (m.warp_index() == 0) {
        write_tile(m);
      }
      if (m.warp_index() == 1 && !again) {
        read_tile(m);
      }
      m.bar_sync(1, 64);
      if (m.warp_index() == 1) {
        read_tile(m);
      }
    };
  };
  list.add("SMEM_RACE", 2, late_return(false), late_return(true), "starve:1");
  // A relaxed cluster arrival hands over no data.
  const auto cluster_barrier = [](Ordering arrival) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        write_tile(m);
      }
      m.barrier_cluster_arrive(arrival);
      m.barrier_cluster_wait();
      if (m.warp_index() == 1) {
        read_tile(m);
      }
    };
  };
  list.add("SMEM_RACE", 2, cluster_barrier(kRelaxedCluster), cluster_barrier(kReleaseCluster));
  // What was waited for before an mbarrier was initialised anew says nothing of its new phases.
  const auto anew = [](bool waits) {
    return after_init(1, [=](M& m) {
      fill(m);
      wait(m, 0);
      m.elect_one([&] {
        m.mbarrier_inval(kBar);
        m.mbarrier_init(kBar, 1);
      });
      m.sync_warp();
      fill(m);
      if (waits) {
        wait(m, 0);
      }
      read_tile(m);
      wait(m, 0);
    });
  };
  list.add("SMEM_RAW_NO_WAIT", 1, anew(false), anew(true));
}

// Clusters hand over by a flag in global memory: the store is complete, then the flag is set.
void add_clusters(List& list) {
  const auto by_flag = [](bool flag, bool complete_first) -> Body {
    return after_init(1, [=](M& m) {
      if (m.cluster_index() == 0) {
        write_four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        m.elect_one([&] {
          if (complete_first) {
            m.cp_async_bulk_wait_group<0>();
          }
          m.red_add_release_global_u32(kFlag, 1);
          m.cp_async_bulk_wait_group<0>();
        });
      } else {
        if (flag) {
          m.elect_one([&] { m.wait_global_u32(kFlag, 1); });
          m.sync_warp();
        }
        fill(m);
        wait(m, 0);
      }
    });
  };
  const auto clusters = [&](const char* id, Body wrong, Body right) {
    MicroProgram program{id, std::move(wrong), std::move(right)};
    program.clusters = 2;
    list.push(std::move(program));
  };
  clusters("GMEM_RACE", by_flag(false, true), by_flag(true, true));
  clusters("GMEM_RAW_NO_WAIT", by_flag(true, false), by_flag(true, true));
  // The other way round: read, then told, then overwritten.
  const auto reuse = [](bool flag) -> Body {
    return after_init(1, [=](M& m) {
      if (m.cluster_index() == 0) {
        fill(m);
        wait(m, 0);
        if (flag) {
          m.elect_one([&] { m.red_add_release_global_u32(kFlag, 1); });
        }
      } else {
        if (flag) {
          m.elect_one([&] { m.wait_global_u32(kFlag, 1); });
          m.sync_warp();
        }
        write_four_words(m);
        m.fence_proxy_async(ProxySpace::kSharedCta);
        store_tile(m);
        m.elect_one([&] { m.cp_async_bulk_wait_group<0>(); });
      }
    });
  };
  clusters("GMEM_RACE", reuse(false), reuse(true));
}

// Fences that do not cover: of another space, before the write, by one who does not know of it.
void add_fences(List& list) {
  const auto store_after = [](std::function<void(M&)> fence_before, ProxySpace space) -> Body {
    return [=](M& m) {
      fence_before(m);
      write_four_words(m);
      m.fence_proxy_async(space);
      store_tile(m);
      wait_stored(m);
    };
  };
  const auto nothing = [](M&) {};
  list.add("PROXY_FENCE_WRONG_SPACE",
           1,
           store_after(nothing, ProxySpace::kGlobal),
           store_after(nothing, ProxySpace::kSharedCta));
  const auto by_two = [](bool writer_fences) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 1) {
        write_four_words(m);
      }
      if (m.warp_index() == (writer_fences ? 1 : 0)) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      m.cta_sync();
      if (m.warp_index() == 0) {
        store_tile(m);
        wait_stored(m);
      }
    };
  };
  list.add("PROXY_FENCE_UNCOVERED", 2, by_two(false), by_two(true));
  const auto fence_first = [](bool first) -> Body {
    return [=](M& m) {
      if (first) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      write_four_words(m);
      if (!first) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      store_tile(m);
      wait_stored(m);
    };
  };
  list.add("PROXY_FENCE_UNCOVERED", 1, fence_first(true), fence_first(false));
  list.strictly("PROXY_FENCE_USELESS", 1, 1, fence_first(true), fence_first(false));
}

}  // namespace

void add_memory(List& list) {
  add_shared_memory(list);
  add_global_copies(list);
  add_global_words(list);
  add_edges(list);
  add_clusters(list);
  add_fences(list);
}

}  // namespace warptwin::sim::micro
