#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

constexpr std::uint32_t kSwizzledBytes = 128 * 128;  // 128 rows of a 128-byte swizzle

}  // namespace

std::vector<TensorMapState> tensor_maps() {
  std::vector<TensorMapState> maps;
  for (const Swizzle swizzle : {Swizzle::k128B, Swizzle::k64B, Swizzle::kNone}) {
    TensorMapState map;
    map.tensor = "source";
    map.address = kSource.value;
    map.element_bytes = 2;
    map.extent[0] = 64;
    map.extent[1] = kSourceBytes / 128;
    map.stride_bytes[0] = 2;
    map.stride_bytes[1] = 128;
    map.box[0] = swizzle == Swizzle::kNone ? 8 : static_cast<std::uint32_t>(swizzle) / 2;
    map.box[1] = 128;
    map.swizzle = swizzle;
    maps.push_back(map);
  }
  TensorMapState volume = maps.front();
  volume.rank = 3;
  volume.extent[1] = 8;
  volume.extent[2] = kSourceBytes / 1024;
  volume.stride_bytes[2] = 1024;
  volume.box[0] = 8;
  volume.box[1] = 1;
  volume.box[2] = 2;
  volume.swizzle = Swizzle::kNone;
  maps.push_back(volume);
  TensorMapState slice = maps.front();
  slice.box[1] = 4;
  maps.push_back(slice);
  return maps;
}

Body after_init(std::uint32_t count, Body rest) {
  return [count, rest = std::move(rest)](M& m) {
    if (m.warp_index() == 0) {
      m.elect_one([&] { m.mbarrier_init(kBar, count); });
    }
    m.cta_sync();
    rest(m);
  };
}

Body lane(std::uint32_t count, Body f) {
  return after_init(count, [f = std::move(f)](M& m) { m.elect_one([&] { f(m); }); });
}

Body cluster_init(std::uint32_t count, Body f) {
  return [count, f = std::move(f)](M& m) {
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, count);
        m.fence_mbarrier_init();
      });
    }
    m.barrier_cluster_arrive();
    m.barrier_cluster_wait();
    f(m);
    m.barrier_cluster_arrive();
    m.barrier_cluster_wait();
  };
}

Body one_after_the_other(Body first, Body second, bool meet) {
  return [first = std::move(first), second = std::move(second), meet](M& m) {
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
}

Body with_tmem(std::function<void(M&, TmemAddress)> f) {
  return [f = std::move(f)](M& m) {
    if (m.warp_index() == 0) {
      m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
    }
    m.cta_sync();
    f(m, TmemAddress{m.ld_shared_u32(kWord)});
    m.cta_sync();
    if (m.warp_index() == 0) {
      m.tcgen05_dealloc(CtaGroup::kOne, TmemAddress{m.ld_shared_u32(kWord)}, 64);
    }
  };
}

Body tmem_and_barrier(std::function<void(M&, TmemAddress)> f) {
  return after_init(1, [rest = with_tmem(std::move(f))](M& m) {
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        m.mbarrier_init(kBar2, 1);
        m.mbarrier_arrive_expect_tx(kBar2, kSwizzledBytes);
        m.cp_async_bulk_load(kTile, kSource, kSwizzledBytes, CopyTarget{kBar2});
      });
    }
    m.cta_sync();
    m.mbarrier_wait_parity(kBar2, WaitPhase::number(0));
    m.sync_warp();
    rest(m);
  });
}

void wait(M& m, std::uint32_t phase) {
  m.mbarrier_wait_parity(kBar, WaitPhase::number(phase));
  m.sync_warp();
}

void copy(M& m, std::uint32_t bytes) {
  m.cp_async_bulk_load(kTile, kSource, bytes, CopyTarget{kBar});
}

void fill(M& m) {
  m.elect_one([&] {
    m.mbarrier_arrive_expect_tx(kBar, 32);
    copy(m, 32);
  });
}

void read_tile(M& m) {
  m.elect_one([&] { m.ld_shared_u32(kTile); });
}

void write_tile(M& m) {
  m.elect_one([&] { m.st_shared_u32(kTile, 1); });
}

void write_four_words(M& m) {
  m.elect_one([&] {
    for (std::uint32_t i = 0; i < 4; ++i) {
      m.st_shared_u32(kTile + 4 * i, i);
    }
  });
}

void store_tile(M& m) {
  m.elect_one([&] {
    m.cp_async_bulk_store(kSource, kTile, 16);
    m.cp_async_bulk_commit_group();
  });
}

void wait_stored(M& m) {
  m.elect_one([&] { m.cp_async_bulk_wait_group_read<0>(); });
}

void load(M& m, TmemAddress at) {
  SimFragment<16> registers;
  m.tcgen05_ld_32x32b(registers, at);
  m.tcgen05_wait_ld(registers);
}

void store(M& m, TmemAddress at) {
  m.tcgen05_st_32x32b(at, SimFragment<16>{});
  m.tcgen05_wait_st();
}

void mma(M& m, TmemAddress d, std::uint32_t n, bool accumulate) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  m.tcgen05_mma(CtaGroup::kOne,
                d,
                tile,
                tile,
                UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, n),
                accumulate);
}

void complete(M& m, std::uint32_t phase) {
  m.tcgen05_commit(CtaGroup::kOne, kBar);
  wait(m, phase);
}

}  // namespace warptwin::sim::micro
