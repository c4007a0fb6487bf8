#include <algorithm>
#include <array>

#include "common/machine/wgmma_descriptor.hpp"

#include "tests/oracle/random_plan.hpp"

namespace warptwin::sim::plan {

void ring(Plan& plan) {
  Dice& dice = plan.dice;
  const std::uint32_t classes = plan.warps > 2 ? dice.between(1, 2) : 1;
  const std::uint32_t stages = dice.between(1, 3);
  const std::uint32_t trips = dice.between(1, stages + 2);
  const bool apart = dice.chance(20);  // expect-tx and arrival
  std::array<std::uint32_t, 3> full{};
  std::array<std::uint32_t, 3> empty{};
  std::array<std::uint32_t, 3> data{};
  for (std::uint32_t s = 0; s < stages; ++s) {
    full[s] = plan.bar(1);
    empty[s] = plan.bar(classes);
    data[s] = plan.word();
  }
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter producer = plan.warp(cta, 0);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t s = i % stages;
      const std::uint32_t lap = i / stages;
      if (lap > 0) {
        wait(plan, producer, empty[s], lap - 1);
      }
      if (apart) {
        producer.expect(full[s], 16);
        producer.arrive(full[s]);
      } else {
        producer.arrive_expect(full[s], 16);
      }
      producer.load(data[s], plan.source() + 16 * i, 16, full[s]);
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
      WarpWriter consumer = plan.warp(cta, 1 + c);
      for (std::uint32_t i = 0; i < trips; ++i) {
        const std::uint32_t s = i % stages;
        wait(plan, consumer, full[s], i / stages);
        consumer.read(data[s] + 4 * dice.below(4));
        consumer.fence_proxy();
        if (i + stages < trips || dice.chance(50)) {
          consumer.arrive(empty[s]);
        }
      }
    }
  }
}

void mma_ring(Plan& plan) {
  Dice& dice = plan.dice;
  const std::uint32_t stages = dice.between(1, 2);
  const std::uint32_t trips = dice.between(1, stages + 1);
  std::array<std::uint32_t, 2> full{};
  std::array<std::uint32_t, 2> empty{};
  for (std::uint32_t s = 0; s < stages; ++s) {
    full[s] = plan.bar(1);
    empty[s] = plan.bar(1);
  }
  const std::uint32_t done = plan.bar(1);
  const std::uint32_t tile = plan.tiles;
  plan.tiles += stages;
  plan.tmem = true;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    tmem_begin(plan, cta, 32);
    WarpWriter producer = plan.warp(cta, 0);
    WarpWriter mma = plan.warp(cta, 1);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t s = i % stages;
      if (i >= stages) {
        wait(plan, producer, empty[s], i / stages - 1);
      }
      producer.arrive_expect(full[s], kOperandBytes);
      producer.load(Places::tile(tile + s), plan.source(), kOperandBytes, full[s]);
      wait(plan, mma, full[s], i / stages);
      mma.fence_after();
      mma.mma(0, Places::tile(tile + s), i > 0);
      if (i + stages < trips) {
        mma.commit(empty[s]);
      }
    }
    mma.commit(done);
    wait(plan, mma, done, 0);
    mma.fence_after();
    tmem_end(plan, cta, 32);
  }
}

void multicast_ring(Plan& plan) {
  Dice& dice = plan.dice;
  const std::uint32_t ranks = plan.cluster_size;
  const std::uint32_t stages = dice.between(1, 2);
  const std::uint32_t trips = dice.between(1, stages + 1);
  const CtaMask all{static_cast<std::uint16_t>((1U << ranks) - 1)};
  std::array<std::uint32_t, 2> full{};
  std::array<std::uint32_t, 2> empty{};
  std::array<std::uint32_t, 2> data{};
  for (std::uint32_t s = 0; s < stages; ++s) {
    full[s] = plan.bar(1);
    empty[s] = plan.bar(ranks);
    data[s] = plan.words;
    plan.words += ranks;
  }
  plan.has_tail = true;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const std::uint32_t rank = cta % ranks;
    WarpWriter producer = plan.warp(cta, 0);
    WarpWriter consumer = plan.warp(cta, 1);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t s = i % stages;
      if (i >= stages) {
        wait(plan, producer, empty[s], i / stages - 1);
      }
      producer.arrive_expect(full[s], 16 * ranks);
      producer.load(Places::word(data[s] + rank), plan.source(), 16, full[s], all);
      wait(plan, consumer, full[s], i / stages);
      consumer.read(Places::word(data[s] + dice.below(ranks)));
      consumer.fence_proxy(ProxySpace::kAll);
      for (std::uint32_t to = 0; to < ranks && i + stages < trips; ++to) {
        if (to == rank && dice.chance(50)) {
          consumer.arrive(empty[s], 1, kReleaseCluster);
        } else {
          consumer.arrive_remote(empty[s], to);
        }
      }
    }
  }
}

void accumulator_ring(Plan& plan) {
  Dice& dice = plan.dice;
  const std::uint32_t readers = plan.warps > 2 ? dice.between(1, 2) : 1;
  const std::uint32_t stages = dice.between(1, 2);
  const std::uint32_t trips = dice.between(1, stages + 1);
  const bool copies = dice.chance(30);  // tcgen05.cp in place of MMAs
  const std::uint32_t columns = copies ? columns_of(TmemCopy::k128x128b) : kOutputColumns;
  const std::uint32_t operand = plan.bar(1);
  std::array<std::uint32_t, 2> full{};
  std::array<std::uint32_t, 2> empty{};
  for (std::uint32_t s = 0; s < stages; ++s) {
    full[s] = plan.bar(1);
    empty[s] = plan.bar(readers);
  }
  const std::uint32_t tile = Places::tile(plan.tiles++);
  plan.tmem = true;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    tmem_begin(plan, cta, 32);
    WarpWriter mma = plan.warp(cta, 0);
    mma.arrive_expect(operand, kOperandBytes);
    mma.load(tile, plan.source(), kOperandBytes, operand);
    wait(plan, mma, operand, 0);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t s = i % stages;
      if (i >= stages) {
        wait(plan, mma, empty[s], i / stages - 1);
        mma.fence_after();
      }
      if (copies) {
        mma.cp(s * kOutputColumns, tile);
      } else {
        mma.mma(s * kOutputColumns, tile);
      }
      mma.commit(full[s]);
    }
    for (std::uint32_t r = 0; r < readers; ++r) {
      WarpWriter reader = plan.warp(cta, 1 + r);
      const std::uint32_t lane = plan.order[1 + r] % 4 * kWarpLanes;
      for (std::uint32_t i = 0; i < trips; ++i) {
        const std::uint32_t s = i % stages;
        wait(plan, reader, full[s], i / stages);
        reader.fence_after();
        reader.ld((lane << 16) | (s * kOutputColumns), columns, 0);
        reader.wait_ld(0, columns);
        reader.fence_before();
        reader.sync_warp();
        if (i + stages < trips) {
          reader.arrive(empty[s]);
        }
      }
    }
    tmem_end(plan, cta, 32);
  }
}

// Four warps multiply what the first of them, or a fifth, loads.
void wgmma_ring(Plan& plan) {
  Dice& dice = plan.dice;
  const std::uint32_t stages = dice.between(1, 2);
  const std::uint32_t trips = dice.between(1, stages + 1);
  const bool released_late = stages == 2 && dice.chance(50);  // when the next wgmma is issued
  std::array<std::uint32_t, 2> full{};
  std::array<std::uint32_t, 2> empty{};
  for (std::uint32_t s = 0; s < stages; ++s) {
    full[s] = plan.bar(1);
    empty[s] = plan.bar(kWarpsPerWarpgroup);
  }
  const std::uint32_t tile = plan.tiles;
  plan.tiles += stages;
  const bool stores = plan.tiles < Places::kTiles && dice.chance(50);  // D, to a tile of its own
  const std::uint32_t result = Places::tile(plan.tiles);
  plan.tiles += stores ? 1 : 0;
  const auto load = [&](WarpWriter producer, std::uint32_t i) {
    const std::uint32_t s = i % stages;
    if (i >= stages) {
      wait(plan, producer, empty[s], i / stages - 1);
    }
    producer.arrive_expect(full[s], kOperandBytes);
    producer.load(Places::tile(tile + s), plan.source(), kOperandBytes, full[s]);
  };
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const bool fifth = plan.warps > kWarpsPerWarpgroup;
    for (std::uint32_t i = 0; i < (fifth ? trips : std::min(trips, stages)); ++i) {
      load(warp_of(plan.program, cta, fifth ? kWarpsPerWarpgroup : 0), i);
    }
    for (std::uint32_t w = 0; w < kWarpsPerWarpgroup; ++w) {
      WarpWriter warp = warp_of(plan.program, cta, w);
      for (std::uint32_t i = 0; i < trips; ++i) {
        wait(plan, warp, full[i % stages], i / stages);
        warp.wgmma_fence();
        warp.wgmma(Places::tile(tile + i % stages), 0, i > 0);
        warp.wgmma_commit();
        const bool keeps = released_late && i + 1 < trips;
        warp.wgmma_wait(keeps ? 1 : 0, 0);
        const std::uint32_t done = keeps ? i : i + 1;  // wgmmas that have read their stage
        for (std::uint32_t d = released_late && i > 0 ? i - 1 : i; d < done; ++d) {
          if (d + stages < trips) {
            warp.arrive(empty[d % stages]);
            if (!fifth && w == 0) {
              load(warp, d + stages);
            }
          }
        }
      }
      if (stores) {
        warp.accumulator(result, kWgmmaWarpRows * w, 0);
      }
    }
  }
}

// All warps of the cluster meet, and what each did to tensor memory is ordered.
static void pair_sync(Plan& plan) {
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    for (std::uint32_t i = 0; i < plan.warps; ++i) {
      WarpWriter warp = warp_of(plan.program, cta, i);
      warp.fence_before();
      warp.cluster_arrive();
      warp.cluster_wait();
      warp.fence_after();
    }
  }
}

void pair_ring(Plan& plan) {
  const std::uint32_t trips = plan.dice.between(1, 2);
  const std::uint32_t full = plan.bar(1);
  const std::uint32_t empty = plan.bar(1);
  const std::uint32_t done = plan.bar(1);
  const std::uint32_t tile = Places::tile(plan.tiles++);
  const CtaMask both{3};
  plan.tmem = true;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    plan.warp(cta, 0).alloc(Places::word(Places::kWords - 1), 32, CtaGroup::kTwo);
  }
  pair_sync(plan);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const bool leads = cta % 2 == 0;
    WarpWriter loader = plan.warp(cta, 1);
    WarpWriter mma = plan.warp(cta, 0);
    for (std::uint32_t i = 0; i < trips; ++i) {
      if (i > 0) {
        wait(plan, loader, empty, i - 1);
      }
      if (leads) {
        loader.arrive_expect(full, 2 * kOperandBytes);
      }
      loader.load(tile, plan.source(), kOperandBytes, full).operation.set_group(CtaGroup::kTwo);
      if (leads) {
        wait(plan, mma, full, i);
        mma.fence_after();
        mma.mma(0, tile, i > 0, CtaGroup::kTwo);
        if (i + 1 < trips) {
          mma.commit(empty, both, CtaGroup::kTwo);
        }
      }
    }
    if (leads) {
      mma.commit(done, both, CtaGroup::kTwo);
    }
    wait(plan, mma, done, 0);
    mma.fence_after();
    mma.ld((plan.order[0] % 4 * kWarpLanes) << 16, kOutputColumns, 0);
    mma.wait_ld(0, kOutputColumns);
  }
  pair_sync(plan);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    plan.warp(cta, 0).dealloc(0, 32, CtaGroup::kTwo);
  }
}

}  // namespace warptwin::sim::plan
