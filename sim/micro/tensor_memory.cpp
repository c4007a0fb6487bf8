// Micro-programs about tensor memory and tcgen05.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

// Both CTAs of a pair initialise, copy their operands, allocate, and meet as asked; `f` runs; they
// meet and free.
struct Pair {
  std::uint32_t columns_of_odd = 64;
  bool meet_before_free = true;
  bool odd_leaves = false;  // as soon as it has allocated
};

Body pair(Pair options, std::function<void(M&, TmemAddress)> f) {
  return [=](M& m) {
    m.elect_one([&] {
      m.mbarrier_init(kBar, 1);
      m.mbarrier_init(kBar2, 1);
      m.fence_mbarrier_init();
      m.mbarrier_arrive_expect_tx(kBar2, 16384);
      m.cp_async_bulk_load(kTile, kSource, 16384, CopyTarget{kBar2});
    });
    m.sync_warp();
    m.mbarrier_wait_parity(kBar2, WaitPhase::number(0));
    const auto meet = [&] {
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
    };
    meet();
    const std::uint32_t columns = m.cta_rank() == 1 ? options.columns_of_odd : 64;
    m.tcgen05_alloc(CtaGroup::kTwo, kWord, columns);
    const TmemAddress at{m.ld_shared_u32(kWord)};
    meet();
    const bool stays = !options.odd_leaves || m.cta_rank() == 0;
    if (stays) {
      f(m, at);
    }
    if (stays && options.meet_before_free) {
      meet();
    }
    m.tcgen05_dealloc(CtaGroup::kTwo, at, columns);
    if (stays) {
      meet();
    }
  };
}

void pair_mma(M& m, TmemAddress at) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  m.tcgen05_mma(CtaGroup::kTwo,
                at,
                tile,
                tile,
                UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 256, 32),
                false);
}

// `leaders` CTAs issue the pair's MMA and commit to the CTAs of the mask; all wait.
Body multiply(Pair options, std::uint32_t leaders, std::uint16_t mask) {
  return pair(options, [=](M& m, TmemAddress at) {
    if (m.cta_rank() < leaders) {
      pair_mma(m, at);
      if (m.cta_rank() == 0) {
        m.tcgen05_commit_multicast(CtaGroup::kTwo, kBar, CtaMask{mask});
      } else {
        m.tcgen05_commit(CtaGroup::kTwo, kBar2);
        m.mbarrier_wait_parity(kBar2, WaitPhase::number(1));
        m.sync_warp();
      }
    }
    if ((mask >> m.cta_rank() & 1) != 0) {
      wait(m, 0);
    }
  });
}

void add_pairs(List& list) {
  const Body good = multiply({}, 1, 0x3);
  list.in_cluster("TCGEN05_DOUBLE_PAIR_ISSUE", 2, multiply({}, 2, 0x3), good);
  list.in_cluster("TCGEN05_COMMIT_MASK", 2, multiply({}, 1, 0x7), good);
  // Warp 0 of each CTA allocates, warp 1 of the leader multiplies.
  const auto another_warp = [](bool meet) -> Body {
    return [=](M& m) {
      if (m.warp_index() == 0) {
        m.elect_one([&] {
          m.mbarrier_init(kBar, 1);
          m.mbarrier_init(kBar2, 1);
          m.fence_mbarrier_init();
          m.mbarrier_arrive_expect_tx(kBar2, 16384);
          m.cp_async_bulk_load(kTile, kSource, 16384, CopyTarget{kBar2});
        });
      }
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      m.mbarrier_wait_parity(kBar2, WaitPhase::number(0));
      m.sync_warp();
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      if (m.warp_index() == 0) {
        m.tcgen05_alloc(CtaGroup::kTwo, kWord, 64);
      }
      if (meet) {
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      }
      if (m.cta_rank() == 0 && m.warp_index() == 1) {
        pair_mma(m, TmemAddress{0});
        m.tcgen05_commit_multicast(CtaGroup::kTwo, kBar, CtaMask{0x3});
      }
      wait(m, 0);
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      if (m.warp_index() == 0) {
        m.tcgen05_dealloc(CtaGroup::kTwo, TmemAddress{0}, 64);
      }
    };
  };
  MicroProgram not_ready{
      "TCGEN05_PEER_NOT_READY", another_warp(false), another_warp(true), 2, 2, "starve:1"};
  list.push(std::move(not_ready));
  list.in_cluster("TMEM_ALLOC_PEER_MISMATCH", 2, multiply({32, true}, 1, 0x3), good);
  // The odd CTA frees what the leader's MMA still writes.
  list.in_cluster("TMEM_DEALLOC_PEER_UNSYNCED", 2, multiply({64, false}, 1, 0x1), good, "starve:1");
  const auto alone = [](bool both) -> Body {
    return [=](M& m) {
      if (m.cta_rank() == 0 || both) {
        m.tcgen05_alloc(CtaGroup::kTwo, kWord, 64);
        m.tcgen05_dealloc(CtaGroup::kTwo, TmemAddress{m.ld_shared_u32(kWord)}, 64);
      }
    };
  };
  MicroProgram missing{"TMEM_ALLOC_PEER_MISSING", alone(false), alone(true), 1, 2};
  missing.rules.machine.pair_alloc = PairMeeting::kTogether;
  list.push(std::move(missing));
  Pair leaves;
  leaves.odd_leaves = true;
  list.in_cluster("TCGEN05_PEER_EXITED", 2, multiply(leaves, 1, 0x1), good, "starve:0");
}

// Where the scale factors of A and B are, and the accumulator is not.
constexpr std::uint32_t kScalesA = 32;
constexpr std::uint32_t kScalesB = 36;

void copy_scales(M& m, TmemAddress at, TmemCopy shape = TmemCopy::k32x128bWarpx4) {
  const auto factors = UmmaSmemDescriptor::make(kTile, 16, 128, Swizzle::kNone);
  m.tcgen05_cp(CtaGroup::kOne, at.at_column(kScalesA), factors, shape);
  m.tcgen05_cp(CtaGroup::kOne, at.at_column(kScalesB), factors, shape);
}

struct Scaled {
  std::uint32_t rows = 128;
  std::uint32_t byte = 0;  // of the scale factors in their cells
  std::uint32_t a = kScalesA;
  MmaKind kind = MmaKind::kMxf4;
};

void scaled_mma(M& m, TmemAddress at, Scaled options = {}) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  m.tcgen05_mma_block_scale(CtaGroup::kOne,
                            at,
                            tile,
                            tile,
                            UmmaInstructionDescriptor::make_block_scaled(
                                options.kind, ElementType::kF4E2M1, options.rows, 16)
                                .with_scale_bytes(options.byte, options.byte),
                            at.at_column(options.a),
                            at.at_column(kScalesB),
                            false);
}

void add_block_scale(List& list) {
  const auto scaled = [](TmemCopy shape, Scaled options) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      copy_scales(m, at, shape);
      scaled_mma(m, at, options);
      complete(m);
    });
  };
  const Body good = scaled(TmemCopy::k32x128bWarpx4, {});
  const auto with = [&](Scaled options) { return scaled(TmemCopy::k32x128bWarpx4, options); };
  list.add("TCGEN05_SCALE_REPLICA", 1, scaled(TmemCopy::k128x128b, {}), good);
  // Each warp stores the lanes of its own quarter.
  const auto stored = [](std::uint32_t warps) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      if (m.warp_index() < warps) {
        store(m, at.at_column(kScalesA).at_lane(kWarpLanes * m.warp_index()));
      }
      m.tcgen05_fence_before_thread_sync();
      m.bar_sync(2, 128);
      if (m.warp_index() == 0) {
        m.tcgen05_fence_after_thread_sync();
        scaled_mma(m, at);
        complete(m);
      }
    });
  };
  list.add("TCGEN05_SCALE_REPLICA", 4, stored(1), stored(4));
  list.add("TCGEN05_SCALE_OVERLAP", 1, with({.a = 8}), good);
  list.add("LAYOUT_SCALES", 1, with({.a = kScalesA + 1}), good);
  list.add("TCGEN05_IDESC", 1, with({.byte = 1}), with({.byte = 2}));
  list.add("TCGEN05_SHAPE", 1, with({.rows = 64}), good);
  list.add("TMEM_UNINIT_READ",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             scaled_mma(m, at);
             copy_scales(m, at);
             complete(m);
           }),
           good);
  const auto again = [](bool completes) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      copy_scales(m, at);
      scaled_mma(m, at);
      if (completes) {
        complete(m, 0);
      }
      copy_scales(m, at);
      complete(m, completes ? 1 : 0);
    });
  };
  list.add("TMEM_PIPE_ORDER", 1, again(false), again(true));
}

// A sparse A, whose metadata lies behind the accumulator.
constexpr std::uint32_t kMetadata = 32;

void copy_metadata(M& m, TmemAddress at) {
  m.tcgen05_cp(CtaGroup::kOne,
               at.at_column(kMetadata),
               UmmaSmemDescriptor::make(kTile, 16, 128, Swizzle::kNone),
               TmemCopy::k128x128b);
}

void sparse_mma(M& m, TmemAddress at, std::uint32_t selector = 1) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  const auto dense =
      UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 16);
  m.tcgen05_mma_sp(CtaGroup::kOne,
                   at,
                   tile,
                   tile,
                   dense.with_sparse_a(selector),
                   at.at_column(kMetadata),
                   false);
}

void add_sparse(List& list) {
  const auto sparse = [](std::uint32_t selector) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      copy_metadata(m, at);
      sparse_mma(m, at, selector);
      complete(m);
    });
  };
  list.add("TCGEN05_SHAPE", 1, sparse(2), sparse(1));
  const auto in_order = [](bool copy_first) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      if (copy_first) {
        copy_metadata(m, at);
      }
      sparse_mma(m, at);
      if (!copy_first) {
        copy_metadata(m, at);
      }
      complete(m);
    });
  };
  list.add("TMEM_UNINIT_READ", 1, in_order(false), in_order(true));
  const auto again = [](bool completes) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      copy_metadata(m, at);
      sparse_mma(m, at);
      if (completes) {
        complete(m, 0);
      }
      copy_metadata(m, at);
      complete(m, completes ? 1 : 0);
    });
  };
  list.add("TMEM_PIPE_ORDER", 1, again(false), again(true));
  // Another warp copies: beside the barrier, fences bring its copy before the MMA.
  const auto copied_by_another = [](bool fenced) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      if (m.warp_index() == 1) {
        copy_metadata(m, at);
      }
      if (fenced) {
        m.tcgen05_fence_before_thread_sync();
      }
      m.bar_sync(2, 64);
      if (fenced) {
        m.tcgen05_fence_after_thread_sync();
      }
      if (m.warp_index() == 0) {
        sparse_mma(m, at);
        complete(m, 0);
      }
      m.bar_sync(2, 64);
      if (m.warp_index() == 1) {
        complete(m, 1);
      }
    });
  };
  list.add("TMEM_FENCE_MISSING", 2, copied_by_another(false), copied_by_another(true));
}

// The same with scale factors, behind the metadata.
void add_sparse_scaled(List& list) {
  struct Order {
    bool metadata = true;  // it is copied before the MMA
    std::uint32_t selector = 0;
    std::uint32_t factors_again = 0;  // columns of factors that are copied behind the MMA
  };
  const auto ordered = [](Order order) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      const TmemAddress metadata = at.at_column(kScalesB + 4);
      const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
      const auto lines = UmmaSmemDescriptor::make(kTile, 16, 128, Swizzle::kNone);
      copy_scales(m, at);
      if (order.metadata) {
        m.tcgen05_cp(CtaGroup::kOne, metadata, lines, TmemCopy::k128x128b);
      }
      m.tcgen05_mma_sp_block_scale(CtaGroup::kOne,
                                   at,
                                   tile,
                                   tile,
                                   UmmaInstructionDescriptor::make_block_scaled(
                                       MmaKind::kMxf4, ElementType::kF4E2M1, 128, 16)
                                       .with_sparse_a(order.selector),
                                   metadata,
                                   at.at_column(kScalesA),
                                   at.at_column(kScalesB),
                                   false);
      if (order.factors_again != 0) {
        m.tcgen05_cp(
            CtaGroup::kOne, at.at_column(order.factors_again), lines, TmemCopy::k32x128bWarpx4);
      }
      complete(m);
    });
  };
  list.add("TCGEN05_SHAPE", 1, ordered({.selector = 1}), ordered({}));
  list.add("TMEM_UNINIT_READ", 1, ordered({.metadata = false}), ordered({}));
  list.add("TMEM_PIPE_ORDER", 1, ordered({.factors_again = kScalesA}), ordered({}));
}

// Allocation, and what lies outside of it.
void add_allocations(List& list) {
  list.add(
      "TMEM_ALLOC_NCOLS",
      1,
      [](M& m) { m.tcgen05_alloc(CtaGroup::kOne, kWord, 96); },
      with_tmem([](M&, TmemAddress) {}));
  list.add(
      "TMEM_ALLOC_NOT_CONVERGED",
      1,
      [](M& m) { m.elect_one([&] { m.tcgen05_alloc(CtaGroup::kOne, kWord, 64); }); },
      with_tmem([](M&, TmemAddress) {}));
  list.add(
      "TMEM_ALLOC_AFTER_RELINQUISH",
      1,
      [](M& m) {
        m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
      },
      with_tmem([](M& m, TmemAddress) { m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne); }));
  list.add("TMEM_ALLOC_GROWS",
           1,
           with_tmem([](M& m, TmemAddress) {
             m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 128);
             m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 128);
           }),
           with_tmem([](M& m, TmemAddress) {
             m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 32);
             m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 32);
           }));
  list.add("TMEM_ALLOC_CONCURRENT",
           2,
           with_tmem([](M& m, TmemAddress) {
             if (m.warp_index() == 1) {
               m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 32);
               m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 32);
             }
           }),
           with_tmem([](M&, TmemAddress) {}));
  list.add(
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
  list.add("TMEM_DEALLOC_MISMATCH",
           1,
           with_tmem([](M& m, TmemAddress at) { m.tcgen05_dealloc(CtaGroup::kOne, at, 32); }),
           with_tmem([](M&, TmemAddress) {}));
  list.add("TMEM_DOUBLE_FREE",
           1,
           with_tmem([](M& m, TmemAddress at) { m.tcgen05_dealloc(CtaGroup::kOne, at, 64); }),
           with_tmem([](M&, TmemAddress) {}));
  list.add("TMEM_OOB",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(500)); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at.at_column(48));
             load(m, at.at_column(48));
           }));
  list.add("TMEM_UNALLOCATED",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(64)); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at.at_column(48));
             load(m, at.at_column(48));
           }));
  list.add(
      "TMEM_USE_AFTER_FREE",
      1,
      [](M& m) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        m.tcgen05_dealloc(CtaGroup::kOne, {0}, 64);
        load(m, {0});
      },
      with_tmem([](M& m, TmemAddress at) {
        store(m, at);
        load(m, at);
      }));
}

// Accesses by one warp and by the tensor core.
void add_accesses(List& list) {
  list.add("TMEM_LANE_VIOLATION",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at.at_lane(32)); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at);
             load(m, at);
           }));
  // Each warp stores its quarter, and the second loads it.
  const auto own_quarter = [](bool names_it) {
    return with_tmem([=](M& m, TmemAddress at) {
      const TmemAddress own = at.at_lane(kWarpLanes * m.warp_index());
      store(m, own);
      load(m, names_it ? own : at);
    });
  };
  list.add("TMEM_LANE_OMITTED", 2, own_quarter(false), own_quarter(true));
  list.add("TCGEN05_SHAPE",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) { mma(m, at, 0); }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
           }));
  list.add("TCGEN05_SDESC",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             m.tcgen05_mma(
                 CtaGroup::kOne,
                 at,
                 UmmaSmemDescriptor{},
                 UmmaSmemDescriptor{},
                 UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 16),
                 false);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
           }));
  list.add("TMEM_READ_BEFORE_COMMIT",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             load(m, at);
             complete(m);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
             load(m, at);
           }));
  list.add("TMEM_WAR",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             store(m, at);
             SimFragment<16> registers;
             m.tcgen05_ld_32x32b(registers, at);
             mma(m, at);
             complete(m);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             store(m, at);
             load(m, at);
             mma(m, at);
             complete(m);
           }));
  list.add(
      "TCGEN05_UNFINISHED_AT_EXIT",
      1,
      [](M& m) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        mma(m, {0});
      },
      tmem_and_barrier([](M& m, TmemAddress at) {
        mma(m, at);
        complete(m);
      }),
      "lazy:1");
  list.add("TMEM_UNINIT_READ",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at);
             load(m, at);
           }));
  list.add("TMEM_UNINIT_ACC",
           1,
           tmem_and_barrier([=](M& m, TmemAddress at) {
             mma(m, at, 16, true);
             complete(m);
           }),
           tmem_and_barrier([=](M& m, TmemAddress at) {
             mma(m, at);
             mma(m, at, 16, true);
             complete(m);
           }));
}

// What of the same cells is in order, and by which fences.
void add_orders_of_cells(List& list) {
  const auto hand_over = [=](bool fence) -> Body {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
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
    });
  };
  list.add("TMEM_FENCE_MISSING", 2, hand_over(false), hand_over(true));

  // Pairs of operations on the same cells.
  const auto instruction = [](std::uint32_t m_size, std::uint32_t n_size) {
    return UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, m_size, n_size);
  };
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  const auto two_shapes = [=](std::uint32_t second_n) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      mma(m, at, 16);
      mma(m, at, second_n);
      complete(m);
    });
  };
  list.add("TMEM_WAW", 1, two_shapes(32), two_shapes(16));
  const auto store_then_load = [](bool waits) {
    return with_tmem([=](M& m, TmemAddress at) {
      m.tcgen05_st_32x32b(at, SimFragment<16>{});
      if (waits) {
        m.tcgen05_wait_st();
      }
      load(m, at);
      m.tcgen05_wait_st();
    });
  };
  list.add("TMEM_ST_NO_WAIT", 1, store_then_load(false), store_then_load(true));
  const auto copy_under_mma = [=](bool completes) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      store(m, at.at_column(32));
      m.tcgen05_mma(CtaGroup::kOne, at, at.at_column(32), tile, instruction(64, 16), false);
      if (completes) {
        complete(m, 0);
      }
      m.tcgen05_cp(CtaGroup::kOne,
                   at.at_column(32),
                   UmmaSmemDescriptor::make(kTile, 16, 128, Swizzle::kNone),
                   TmemCopy::k128x256b);
      complete(m, completes ? 1 : 0);
    });
  };
  // Only lanes 0 to 31 of A are stored: M 64 takes lanes of all quarters.
  const auto whole_a = [=](bool completes) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      const auto fill_a = [&] {
        m.tcgen05_cp(CtaGroup::kOne,
                     at.at_column(32),
                     UmmaSmemDescriptor::make(kTile, 16, 128, Swizzle::kNone),
                     TmemCopy::k128x256b);
      };
      fill_a();
      m.tcgen05_mma(CtaGroup::kOne, at, at.at_column(32), tile, instruction(64, 16), false);
      if (completes) {
        complete(m, 0);
      }
      fill_a();
      complete(m, completes ? 1 : 0);
    });
  };
  list.add("TMEM_PIPE_ORDER", 1, whole_a(false), whole_a(true));
  list.add("TMEM_UNINIT_READ", 1, copy_under_mma(true), whole_a(true));
  // How the tensor core is used.
  const auto described = [=](UmmaInstructionDescriptor descriptor, std::uint32_t lane) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      m.tcgen05_mma(CtaGroup::kOne, at.at_lane(lane), tile, tile, descriptor, false);
      complete(m);
    });
  };
  auto reserved = instruction(64, 16);
  reserved.bits |= 1U << 31;
  list.add("TCGEN05_IDESC", 1, described(reserved, 0), described(instruction(64, 16), 0));
  list.add(
      "TCGEN05_D_ALIGN", 1, described(instruction(64, 16), 8), described(instruction(64, 16), 16));
}

// What is complete, and when.
void add_completions(List& list) {
  list.add("TCGEN05_COMMIT_MISSING",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) { mma(m, at); }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
           }));
  list.add("TCGEN05_COMMIT_EMPTY",
           1,
           tmem_and_barrier([](M& m, TmemAddress) { complete(m); }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
           }));
  const auto commits = [](std::uint32_t committer) {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      if (m.warp_index() == 0) {
        mma(m, at);
      }
      m.bar_sync(2, 64);
      if (m.warp_index() == committer) {
        m.tcgen05_commit(CtaGroup::kOne, kBar);
      }
      wait(m, 0);
    });
  };
  list.add("TCGEN05_COMMIT_WRONG_THREAD", 2, commits(1), commits(0));
  list.add("TCGEN05_CTA_GROUP_MIX",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             m.tcgen05_relinquish_alloc_permit(CtaGroup::kTwo);
             complete(m);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
             complete(m);
           }));
  add_pairs(list);
  add_block_scale(list);
  add_sparse(list);
  add_sparse_scaled(list);

  const auto use_registers = [](bool waits) {
    return with_tmem([=](M& m, TmemAddress at) {
      store(m, at);
      SimFragment<16> registers;
      m.tcgen05_ld_32x32b(registers, at);
      if (waits) {
        m.tcgen05_wait_ld(registers);
      }
      m.st_shared(SharedTile<f32>{kTile, 32, 16, Swizzle::kNone}, 0, 0, registers);
      m.tcgen05_wait_ld(registers);
    });
  };
  list.add("TMEM_LD_NO_WAIT", 1, use_registers(false), use_registers(true));
  list.add(
      "TMEM_LEAK",
      1,
      [](M& m) { m.tcgen05_alloc(CtaGroup::kOne, kWord, 64); },
      with_tmem([](M&, TmemAddress) {}));
  const auto free_under = [](bool completes) {
    return after_init(1, [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar2, 1);
        m.mbarrier_arrive_expect_tx(kBar2, 16384);
        m.cp_async_bulk_load(kTile, kSource, 16384, CopyTarget{kBar2});
      });
      m.sync_warp();
      m.mbarrier_wait_parity(kBar2, WaitPhase::number(0));
      m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
      const TmemAddress at{m.ld_shared_u32(kWord)};
      mma(m, at);
      m.tcgen05_commit(CtaGroup::kOne, kBar);
      if (completes) {
        wait(m, 0);
      }
      m.tcgen05_dealloc(CtaGroup::kOne, at, 64);
      wait(m, 0);
    });
  };
  list.add("TMEM_DEALLOC_IN_USE", 1, free_under(false), free_under(true));
}

}  // namespace

void add_tensor_memory(List& list) {
  add_allocations(list);
  add_accesses(list);
  add_orders_of_cells(list);
  add_completions(list);
}

}  // namespace warptwin::sim::micro
