// Micro-programs about wgmma.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

constexpr std::uint32_t kColumns = 8;
constexpr std::uint32_t kOperandBytes = 16384;
constexpr SharedTile<bf16> kA{kTile, 64, 64, Swizzle::k128B};
constexpr SharedTile<bf16> kB{kTile + 8192, kColumns, 64, Swizzle::k128B};
constexpr SharedTile<bf16> kD{kTile + kOperandBytes, 64, kColumns, Swizzle::kNone};

using D = M::Accumulator<Extent<>>;

void copy_operands(M& m) {
  m.elect_one([&] {
    m.mbarrier_arrive_expect_tx(kBar, kOperandBytes);
    m.cp_async_bulk_load(kTile, kSource, kOperandBytes, CopyTarget{kBar});
  });
}

// Four warps, their accumulators, and operands that have come.
Body warpgroup(std::function<void(M&, D&)> f) {
  return after_init(1, [=](M& m) {
    if (m.warp_index() == 0) {
      copy_operands(m);
    }
    m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
    m.sync_warp();
    D d{m, kColumns};
    f(m, d);
  });
}

void multiply(M& m, D& d, bool accumulate = false, std::uint32_t k_byte = 0) {
  m.wgmma(d,
          WgmmaSmemDescriptor<bf16>::k_major(kA, 0, k_byte),
          WgmmaSmemDescriptor<bf16>::k_major(kB, 0, k_byte),
          accumulate);
  m.wgmma_commit_group();
}

void store(M& m, const D& d) {
  m.st_shared_accumulator(kD, m.warp_index() * kWgmmaWarpRows, d, 0);
}

// What a warpgroup still has under way when its operands change, or it ends.
void add_unfinished(List& list) {
  const auto overwrite = [](bool waits) {
    return warpgroup([=](M& m, D& d) {
      m.wgmma_fence();
      multiply(m, d);
      if (waits) {
        m.wgmma_wait_group<0>(d);
      }
      m.cta_sync();
      if (m.warp_index() == 0) {
        copy_operands(m);
      }
      m.mbarrier_wait_parity(kBar, WaitPhase::number(1));
      m.sync_warp();
      m.wgmma_wait_group<0>(d);
    });
  };
  list.add("WGMMA_SMEM_RELEASE_EARLY", 4, overwrite(false), overwrite(true));

  const auto ends = [](bool waits) {
    return warpgroup([=](M& m, D& d) {
      m.wgmma_fence();
      multiply(m, d);
      if (waits) {
        m.wgmma_wait_group<0>(d);
      }
    });
  };
  list.add("WGMMA_UNFINISHED_AT_EXIT", 4, ends(false), ends(true));
}

}  // namespace

void add_warpgroups(List& list) {
  const auto read_after = [](bool all) {
    return warpgroup([=](M& m, D& d) {
      m.wgmma_fence();
      multiply(m, d);
      if (all) {
        m.wgmma_wait_group<0>(d);
      } else {
        m.wgmma_wait_group<1>(d);
      }
      store(m, d);
      m.wgmma_wait_group<0>(d);
    });
  };
  list.add("WGMMA_ACC_READ_EARLY", 4, read_after(false), read_after(true));
  const auto touch = [](bool waited) {
    return warpgroup([=](M& m, D& d) {
      m.wgmma_fence();
      multiply(m, d);
      if (waited) {
        m.wgmma_wait_group<0>(d);
      }
      d.transform([](float x) { return 2 * x; });
      m.wgmma_fence();
      multiply(m, d, true);
      m.wgmma_wait_group<0>(d);
    });
  };
  list.add("WGMMA_ACC_READ_EARLY", 4, touch(false), touch(true));

  const auto begin = [](bool fenced) {
    return warpgroup([=](M& m, D& d) {
      if (fenced) {
        m.wgmma_fence();
      }
      multiply(m, d);
      m.wgmma_wait_group<0>(d);
    });
  };
  list.add("WGMMA_FENCE_MISSING", 4, begin(false), begin(true));
  const auto clear = [](bool fenced_after) {
    return warpgroup([=](M& m, D& d) {
      m.wgmma_fence();
      d.fill(0);
      if (fenced_after) {
        m.wgmma_fence();
      }
      multiply(m, d, true);
      m.wgmma_wait_group<0>(d);
    });
  };
  list.add("WGMMA_FENCE_MISSING", 4, clear(false), clear(true));

  const auto by_warps = [](std::uint32_t warps) {
    return warpgroup([=](M& m, D& d) {
      if (m.warp_index() < warps) {
        m.wgmma_fence();
        multiply(m, d);
        m.wgmma_wait_group<0>(d);
      }
    });
  };
  list.add("WGMMA_NOT_WARPGROUP", 4, by_warps(3), by_warps(4));
  const auto alike = [](bool all) {
    return warpgroup([=](M& m, D& d) {
      m.wgmma_fence();
      multiply(m, d, false, all || m.warp_index() != 1 ? 0 : kWgmmaKBytes);
      m.wgmma_wait_group<0>(d);
    });
  };
  list.add("WGMMA_NOT_WARPGROUP", 4, alike(false), alike(true));
  add_unfinished(list);
}

}  // namespace warptwin::sim::micro
