#include "tests/oracle/random_program.hpp"

#include <algorithm>
#include <array>

#include "sim/program/text.hpp"
#include "tests/oracle/program_edits.hpp"
#include "tests/oracle/program_writer.hpp"

namespace warptwin::sim {

namespace {

using Places = ProgramPlaces;

constexpr std::uint32_t kDrawsOfOneSize = 100;

/// The counts barriers begin with, and what is taken already.
struct Plan {
  Dice& dice;
  Program& program;
  std::uint32_t warps;
  std::uint32_t cluster_size;
  std::uint32_t clusters;
  bool exact;                           // waits name their phase
  std::vector<std::uint32_t> counts{};  // of the barriers that the prologue initialises
  std::uint32_t words = 0;              // of Places::kWords
  std::uint32_t flags = 0;              // words of the flags' buffer
  std::uint32_t target = 0;             // bytes of the target
  std::uint32_t named = 1;              // named barriers; 0 is cta_sync's
  std::uint32_t tiles = 0;
  bool tmem = false;
  bool has_tail = false;               // the clusters' CTAs end together
  std::vector<std::uint32_t> order{};  // a shuffle of the warps of a CTA

  std::uint32_t ctas() const { return cluster_size * clusters; }
  WarpWriter warp(std::uint32_t cta, std::uint32_t role) {
    return warp_of(program, cta, order[role]);
  }
  std::uint32_t bar(std::uint32_t count) {
    counts.push_back(count);
    return Places::bar(static_cast<std::uint32_t>(counts.size()) - 1);
  }
  std::uint32_t word() { return Places::word(words++); }
  std::uint64_t flag() { return program.buffer_address(Places::kFlags) + 8 * flags++; }
  std::uint64_t target_bytes(std::uint32_t bytes) {
    target += bytes;
    return program.buffer_address(Places::kTarget) + target - bytes;
  }
  std::uint64_t source() const { return program.buffer_address(Places::kSource); }
  Ordering acquire() const { return cluster_size > 1 ? kAcquireCluster : kAcquireCta; }
  void shuffle() {
    order.clear();
    for (std::uint32_t i = 0; i < warps; ++i) {
      order.insert(order.begin() + dice.below(i + 1), i);
    }
  }
  /// Has room for a construct that needs so much.
  bool fits(std::uint32_t warps_needed, std::uint32_t bars, std::uint32_t words_needed) const {
    return warps >= warps_needed && counts.size() + bars <= Places::kBarriers &&
           words + words_needed <= Places::kWords - 1;
  }
};

void wait(const Plan& plan, WarpWriter warp, std::uint32_t bar, std::uint32_t phase) {
  warp.wait(bar, phase, plan.exact, plan.acquire());
  warp.sync_warp();
}

void cta_sync(Plan& plan, std::uint32_t cta) {
  for (std::uint32_t i = 0; i < plan.warps; ++i) {
    warp_of(plan.program, cta, i).cta_sync();
  }
}

// All warps of a CTA meet, and what each did to tensor memory is ordered.
void tmem_sync(Plan& plan, std::uint32_t cta) {
  for (std::uint32_t i = 0; i < plan.warps; ++i) {
    WarpWriter warp = warp_of(plan.program, cta, i);
    warp.fence_before();
    warp.cta_sync();
    warp.fence_after();
  }
}

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

void tmem_begin(Plan& plan, std::uint32_t cta, std::uint32_t columns) {
  plan.warp(cta, 0).alloc(Places::word(Places::kWords - 1), columns);
  tmem_sync(plan, cta);
}

void tmem_end(Plan& plan, std::uint32_t cta, std::uint32_t columns) {
  tmem_sync(plan, cta);
  plan.warp(cta, 0).dealloc(0, columns);
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

// All warps of the cluster meet, and what each did to tensor memory is ordered.
void pair_sync(Plan& plan) {
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
      loader.load(tile, plan.source(), kOperandBytes, full).operation.group = CtaGroup::kTwo;
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

void tmem_handshake(Plan& plan) {
  const bool relinquishes = !plan.tmem && plan.dice.chance(50);
  const bool reads_back = plan.dice.chance(60);
  plan.tmem = true;
  const std::uint32_t ready = plan.bar(1);
  const std::uint32_t done = plan.bar(1);
  const std::uint32_t address = Places::word(Places::kWords - 1);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter owner = plan.warp(cta, 0);
    WarpWriter user = plan.warp(cta, 1);
    owner.alloc(address, 32);
    if (relinquishes) {
      owner.relinquish();
    }
    owner.arrive(ready);
    wait(plan, user, ready, 0);
    user.fence_after();
    user.read(address);
    const std::uint32_t at = (plan.order[1] % 4 * kWarpLanes) << 16;
    user.st(at, 8, 0);
    user.wait_st();
    if (reads_back) {
      user.ld(at, 8, 1);
      user.wait_ld(1, 8);
    }
    user.fence_before();
    user.sync_warp();
    user.arrive(done);
    wait(plan, owner, done, 0);
    owner.fence_after();
    owner.dealloc(0, 32);
  }
}

void tmem_words(Plan& plan) {
  plan.tmem = true;
  const std::uint32_t users = plan.dice.between(1, plan.warps);
  const std::uint32_t trips = plan.dice.between(1, 2);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    tmem_begin(plan, cta, 32);
    for (std::uint32_t u = 0; u < std::min(users, 4U); ++u) {
      WarpWriter user = warp_of(plan.program, cta, u);
      const std::uint32_t at = (u * kWarpLanes) << 16;
      for (std::uint32_t i = 0; i < trips; ++i) {
        user.st(at, 4, 0);
        user.wait_st();
        user.ld(at + 2 * i, 2, 1);
        user.wait_ld(1, 2);
      }
    }
    tmem_end(plan, cta, 32);
  }
}

void write_words(WarpWriter warp, std::uint32_t at, std::uint32_t value) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    warp.write(at + 4 * i, value + i);
  }
}

void bulk_stores(Plan& plan) {
  Dice& dice = plan.dice;
  const std::uint32_t buffers = dice.between(1, 2);
  const std::uint32_t trips = dice.between(1, 3);
  const bool read_only = dice.chance(60);
  const std::uint32_t first = plan.words;
  plan.words += buffers;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter warp = plan.warp(cta, 0);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t buffer = Places::word(first + i % buffers);
      if (i >= buffers) {
        warp.wait_group(buffers - 1, read_only);
      }
      // Words that a store before this one has read may stay as they are.
      if (i < buffers || dice.chance(50)) {
        write_words(warp, buffer, i);
      } else {
        warp.write(buffer + 4 * dice.below(4), i);
      }
      warp.fence_proxy();
      warp.store(plan.target_bytes(16), buffer, 16);
      warp.commit_group();
    }
    warp.wait_group(0, dice.chance(50));
  }
}

void flag_shared(Plan& plan) {
  const std::uint32_t data = plan.word();
  const std::uint32_t readers = plan.dice.between(1, plan.warps - 1);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const std::uint64_t flag = plan.flag();
    WarpWriter writer = plan.warp(cta, 0);
    writer.write(data, 7);
    writer.global_write(flag, 1);
    for (std::uint32_t r = 0; r < readers; ++r) {
      WarpWriter reader = plan.warp(cta, 1 + r);
      reader.global_poll(flag, 1);
      reader.sync_warp();
      reader.read(data);
    }
  }
}

void flag_global(Plan& plan) {
  const std::uint32_t source = plan.word();
  const std::uint32_t sink = plan.word();
  const std::uint32_t landed = plan.bar(1);
  const std::uint64_t flag = plan.flag();
  const std::uint64_t data = plan.target_bytes(16);
  WarpWriter writer = plan.warp(0, 0);
  write_words(writer, source, 3);
  writer.fence_proxy();
  writer.store(data, source, 16);
  writer.commit_group();
  writer.wait_group(0);
  writer.fence_proxy(ProxySpace::kGlobal);
  writer.global_write(flag, 1);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter reader = plan.warp(cta, 1);
    reader.global_poll(flag, 1);
    reader.sync_warp();
    reader.fence_proxy(ProxySpace::kGlobal);
    reader.arrive_expect(landed, 16);
    reader.load(sink, data, 16, landed);
    wait(plan, reader, landed, 0);
    reader.read(sink + 4);
  }
}

void ping_pong(Plan& plan) {
  const std::uint32_t laps = plan.dice.between(1, 3);
  const bool one_flag = plan.dice.chance(15);  // that both write
  const bool toggles = plan.dice.chance(40);
  const std::uint32_t data = plan.word();
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const std::uint64_t there = plan.flag();
    const std::uint64_t back = one_flag ? there : plan.flag();
    WarpWriter ping = plan.warp(cta, 0);
    WarpWriter pong = plan.warp(cta, 1);
    for (std::uint32_t i = 0; i < laps; ++i) {
      // With a flag each, the first one's values may be 1, 0, 1.
      const std::uint32_t full = one_flag ? 1 : toggles ? 1 - i % 2 : i + 1;
      const std::uint32_t empty = one_flag ? 2 : i + 1;
      ping.write(data, i);
      ping.global_write(there, full);
      pong.global_poll(there, full);
      pong.sync_warp();
      pong.read(data);
      if (i + 1 < laps) {
        pong.global_write(back, empty);
        ping.global_poll(back, empty);
        ping.sync_warp();
      }
    }
  }
}

void counter(Plan& plan) {
  const std::uint32_t adders = plan.dice.between(1, plan.warps - 1);
  const std::uint32_t first = plan.words;
  plan.words += adders;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const std::uint64_t flag = plan.flag();
    WarpWriter reader = plan.warp(cta, 0);
    for (std::uint32_t a = 0; a < adders; ++a) {
      WarpWriter adder = plan.warp(cta, 1 + a);
      adder.write(Places::word(first + a), a);
      adder.global_add(flag, 1);
    }
    reader.global_poll(flag, adders);
    reader.sync_warp();
    for (std::uint32_t a = 0; a < adders; ++a) {
      reader.read(Places::word(first + a));
    }
  }
}

void named_barriers(Plan& plan) {
  const std::uint32_t data = plan.word();
  const std::uint32_t filled = plan.named++;
  const std::uint32_t freed = plan.named++;
  const std::uint32_t laps = plan.dice.between(1, 2);
  const std::uint32_t readers = plan.warps > 2 ? plan.dice.between(1, 2) : 1;
  const std::uint32_t threads = kWarpLanes * (1 + readers);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter writer = plan.warp(cta, 0);
    for (std::uint32_t i = 0; i < laps; ++i) {
      if (i > 0) {
        writer.bar_sync(freed, threads);
      }
      writer.write(data, i);
      if (i + 1 < laps && plan.dice.chance(50)) {
        writer.bar_arrive(filled, threads);
      } else {
        writer.bar_sync(filled, threads);
      }
    }
    for (std::uint32_t r = 0; r < readers; ++r) {
      WarpWriter reader = plan.warp(cta, 1 + r);
      for (std::uint32_t i = 0; i < laps; ++i) {
        reader.bar_sync(filled, threads);
        reader.read(data);
        if (i + 1 < laps) {
          reader.bar_arrive(freed, threads);
        }
      }
    }
  }
}

void remote_arrivals(Plan& plan) {
  const std::uint32_t bar = plan.bar(1);
  const std::uint32_t laps = plan.dice.between(1, 2);
  plan.has_tail = true;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    const std::uint32_t rank = cta % plan.cluster_size;
    WarpWriter warp = plan.warp(cta, 0);
    // A token goes round; each arrives on the next one's barrier when its own says so.
    for (std::uint32_t i = 0; i < laps; ++i) {
      if (rank != 0) {
        wait(plan, warp, bar, i);
      }
      warp.arrive_remote(bar, (rank + 1) % plan.cluster_size);
      if (rank == 0) {
        wait(plan, warp, bar, i);
      }
    }
  }
}

void tile_claims(Plan& plan) {
  const std::uint32_t response = plan.word();
  const std::uint32_t full = plan.bar(1);
  const std::uint32_t empty = plan.bar(1);
  const std::uint32_t requests = plan.clusters;  // the last one fails
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter asker = plan.warp(cta, 0);
    WarpWriter user = plan.warp(cta, 1);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;  // role, jump
    for (std::uint32_t i = 0; i < requests; ++i) {
      if (i > 0) {
        wait(plan, asker, empty, i - 1);
      }
      asker.arrive_expect(full, kClcResponseBytes);
      asker.clc_request(response, full);
      wait(plan, asker, full, i);
      wait(plan, user, full, i);
      asker.clc_canceled(response, 0);
      user.clc_canceled(response, 0);
      if (i + 1 < requests) {
        asker.fence_proxy();
        user.fence_proxy();
        user.arrive(empty);
        ends.emplace_back(0, asker.next());
        asker.jump_if(0, 0, false, 0);
        ends.emplace_back(1, user.next());
        user.jump_if(0, 0, false, 0);
      }
    }
    for (const auto& [role, jump] : ends) {
      std::vector<Instruction>& code = plan.program.warps[cta * plan.warps + plan.order[role]];
      code[jump].target = static_cast<std::uint32_t>(code.size());
    }
  }
}

void dependent_launch(Plan& plan) {
  plan.program.workload.from_grid_before = {Places::kSource};
  const std::uint32_t data = plan.word();
  const std::uint32_t landed = plan.bar(1);
  const bool early = plan.dice.chance(50);
  plan.program.workload.has_dependents = early;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter loader = plan.warp(cta, 0);
    WarpWriter reader = plan.warp(cta, 1);
    loader.griddepcontrol_wait();
    loader.arrive_expect(landed, 16);
    loader.load(data, plan.source() + 32, 16, landed);
    if (early) {
      loader.griddepcontrol_launch();
    }
    wait(plan, reader, landed, 0);
    reader.read(data);
  }
}

void registers(Plan& plan) {
  // One warpgroup gives, the warp behind it takes.
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    for (std::uint32_t i = 0; i < plan.warps; ++i) {
      warp_of(plan.program, cta, i).setmaxnreg(i < 4 ? 120 : 232, i >= 4);
    }
  }
}

void reinit(Plan& plan) {
  const std::uint32_t bar = plan.bar(1);
  const std::uint32_t count = plan.dice.between(1, 2);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter owner = plan.warp(cta, 0);
    WarpWriter other = plan.warp(cta, 1);
    other.arrive(bar);
    wait(plan, owner, bar, 0);
    owner.inval(bar);
    owner.init(bar, count);
    cta_sync(plan, cta);
    owner.arrive(bar, count);
    wait(plan, other, bar, 0);
  }
}

void barrier_as_data(Plan& plan) {
  const std::uint32_t bar = plan.bar(2);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter owner = plan.warp(cta, 0);
    WarpWriter other = plan.warp(cta, 1);
    owner.arrive(bar);
    other.arrive(bar);
    wait(plan, owner, bar, 0);
    if (plan.dice.chance(50)) {
      wait(plan, other, bar, 0);
    }
    cta_sync(plan, cta);
    owner.inval(bar);
    owner.write(bar, 1);
    owner.write(bar + 4, 2);
    cta_sync(plan, cta);
    other.read(bar + 4 * plan.dice.below(2));
  }
}

void branch(Plan& plan) {
  const std::uint32_t data = plan.word();
  const std::uint32_t landed = plan.bar(1);
  const std::uint32_t taken = plan.bar(1);
  const std::uint32_t value = plan.dice.below(2);
  const std::uint64_t offset = 128;
  plan.program.words.push_back({Places::kFlags, offset, value});
  const std::uint64_t from = plan.program.buffer_address(Places::kFlags) + offset;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    // Both read the word, and both arrive and wait, or neither.
    plan.warp(cta, 0).arrive_expect(landed, 16);
    plan.warp(cta, 0).load(data, from, 16, landed);
    for (std::uint32_t role = 0; role < 2; ++role) {
      WarpWriter warp = plan.warp(cta, role);
      wait(plan, warp, landed, 0);
      warp.read(data, 0);
      const std::uint32_t jump = warp.next();
      warp.jump_if(0, 0, false, 0);
      if (role == 0) {
        warp.arrive(taken);
      } else {
        wait(plan, warp, taken, 0);
      }
      std::vector<Instruction>& code = plan.program.warps[cta * plan.warps + plan.order[role]];
      code[jump].target = static_cast<std::uint32_t>(code.size());
    }
  }
}

void try_first(Plan& plan) {
  const std::uint32_t data = plan.word();
  const std::uint32_t ready = plan.bar(1);
  const bool spins = plan.dice.chance(80);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter writer = plan.warp(cta, 0);
    WarpWriter reader = plan.warp(cta, 1);
    writer.write(data, 1);
    writer.arrive(ready);
    const std::uint32_t first = reader.next();
    reader.try_wait(ready, 0, 1, plan.exact, plan.acquire());
    if (spins) {
      reader.jump_if(1, 0, false, first);
    } else {
      reader.jump_if(1, 0, true, reader.next() + 2);
      reader.wait(ready, 0, plan.exact, plan.acquire());
    }
    reader.sync_warp();
    reader.read(data);
  }
}

struct Template {
  Construct construct;
  void (*write)(Plan&);
  std::uint32_t warps, bars, words, tiles;
};

constexpr Template kTemplates[] = {
    {Construct::kRing, ring, 2, 6, 3, 0},
    {Construct::kMmaRing, mma_ring, 2, 5, 0, 2},
    {Construct::kMulticastRing, multicast_ring, 2, 4, 6, 0},
    {Construct::kAccumulatorRing, accumulator_ring, 2, 5, 0, 1},
    {Construct::kPairRing, pair_ring, 2, 3, 0, 1},
    {Construct::kTmemHandshake, tmem_handshake, 2, 2, 0, 0},
    {Construct::kTmemWords, tmem_words, 2, 0, 0, 0},
    {Construct::kBulkStores, bulk_stores, 1, 0, 2, 0},
    {Construct::kFlagShared, flag_shared, 2, 0, 1, 0},
    {Construct::kFlagGlobal, flag_global, 2, 1, 2, 0},
    {Construct::kPingPong, ping_pong, 2, 0, 1, 0},
    {Construct::kCounter, counter, 2, 0, 4, 0},
    {Construct::kNamedBarriers, named_barriers, 2, 0, 1, 0},
    {Construct::kRemoteArrivals, remote_arrivals, 1, 1, 0, 0},
    {Construct::kTileClaims, tile_claims, 2, 2, 1, 0},
    {Construct::kDependentLaunch, dependent_launch, 2, 1, 1, 0},
    {Construct::kRegisters, registers, 5, 0, 0, 0},
    {Construct::kReinit, reinit, 2, 1, 0, 0},
    {Construct::kBarrierAsData, barrier_as_data, 2, 1, 0, 0},
    {Construct::kBranch, branch, 2, 2, 1, 0},
    {Construct::kTry, try_first, 2, 1, 1, 0},
};

bool reads_source(Construct construct) {
  return construct == Construct::kRing || construct == Construct::kMmaRing ||
         construct == Construct::kMulticastRing || construct == Construct::kAccumulatorRing ||
         construct == Construct::kPairRing;
}

bool possible(const Template& which, const Plan& plan, const std::vector<Construct>& others) {
  const auto has = [&](Construct construct) {
    return std::find(others.begin(), others.end(), construct) != others.end();
  };
  const Construct construct = which.construct;
  // Who allocates again must not have relinquished, nor ask for more; one construct is enough.
  const bool tmem = construct == Construct::kMmaRing || construct == Construct::kAccumulatorRing ||
                    construct == Construct::kPairRing || construct == Construct::kTmemHandshake ||
                    construct == Construct::kTmemWords;
  if (!plan.fits(which.warps, which.bars, which.words) || (tmem && plan.tmem) ||
      plan.tiles + which.tiles > Places::kTiles || has(construct)) {
    return false;
  }
  if (construct == Construct::kMulticastRing || construct == Construct::kRemoteArrivals) {
    return plan.cluster_size > 1;
  }
  if (construct == Construct::kPairRing) {
    return plan.cluster_size == 2;
  }
  if (construct == Construct::kTileClaims) {
    return plan.clusters > 1 && plan.cluster_size == 1;
  }
  // What reads the memory of the grid before has to wait for it.
  if ((construct == Construct::kDependentLaunch &&
       std::any_of(others.begin(), others.end(), reads_source)) ||
      (reads_source(construct) && has(Construct::kDependentLaunch))) {
    return false;
  }
  // A poll of another cluster needs all of them on the machine, and claims leave some out.
  if (construct == Construct::kFlagGlobal) {
    return !has(Construct::kTileClaims);
  }
  return !(construct == Construct::kRegisters && plan.warps != 5);
}

// The first warp of each CTA makes the barriers, and all of the cluster meet.
void write_prologue(Plan& plan) {
  if (plan.counts.empty() && plan.cluster_size == 1) {
    return;
  }
  const bool relaxed = plan.cluster_size > 1 && plan.dice.chance(40);
  const std::uint32_t owner = plan.dice.below(plan.warps);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    for (std::uint32_t w = 0; w < plan.warps; ++w) {
      std::vector<Instruction> code;
      WarpWriter warp{code};
      if (w == owner) {
        for (std::uint32_t i = 0; i < plan.counts.size(); ++i) {
          warp.init(Places::bar(i), plan.counts[i]);
        }
        warp.fence_mbarrier_init();
        warp.sync_warp();
      }
      if (plan.cluster_size == 1) {
        warp.cta_sync();
      } else {
        warp.cluster_arrive(relaxed ? kRelaxedCluster : kReleaseCluster);
        warp.cluster_wait();
        if (relaxed) {
          // A relaxed arrival publishes the barriers alone: the rest of the CTA meets by itself.
          warp.cta_sync();
        }
      }
      std::vector<Instruction>& body = plan.program.warps[cta * plan.warps + w];
      const auto shift = static_cast<std::uint32_t>(code.size());
      for (Instruction& instruction : body) {
        instruction.target += shift;
      }
      body.insert(body.begin(), code.begin(), code.end());
    }
  }
}

void write_tail(Plan& plan) {
  if (!plan.has_tail) {
    return;
  }
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    for (std::uint32_t w = 0; w < plan.warps; ++w) {
      WarpWriter warp = warp_of(plan.program, cta, w);
      warp.cluster_arrive();
      warp.cluster_wait();
    }
  }
}

std::uint32_t operations_of(const Program& program) {
  std::size_t count = 0;
  for (const std::vector<Instruction>& warp : program.warps) {
    count += warp.size();
  }
  return static_cast<std::uint32_t>(count);
}

RandomProgram planned_program(Dice& dice, const std::string& name, Construct only) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kGrids[] = {
      {1, 1}, {1, 1}, {1, 1}, {1, 1}, {2, 1}, {2, 1}, {3, 1}, {1, 2}, {1, 3}};
  RandomProgram drawn;
  auto [cluster_size, clusters] = kGrids[dice.below(std::size(kGrids))];
  std::uint32_t warps = dice.between(2, dice.chance(70) ? 3 : 5);
  if (only == Construct::kMulticastRing || only == Construct::kRemoteArrivals) {
    cluster_size = dice.between(2, 3);
    clusters = 1;
  } else if (only == Construct::kPairRing) {
    cluster_size = 2;
    clusters = 1;
    warps = 2;
  } else if (only == Construct::kTileClaims) {
    cluster_size = 1;
    clusters = 2;
    warps = 2;
  } else if (only == Construct::kRegisters) {
    warps = 5;
  }
  drawn.program = empty_program(name, warps, cluster_size, clusters);
  Plan plan{dice, drawn.program, warps, cluster_size, clusters, dice.chance(70)};
  const std::uint32_t wanted = only != Construct::kCount ? 1 : dice.chance(65) ? 1 : 2;
  for (std::uint32_t tries = 0; drawn.constructs.size() < wanted && tries < 64; ++tries) {
    const Template& which = kTemplates[dice.below(std::size(kTemplates))];
    if ((only != Construct::kCount && which.construct != only) ||
        !possible(which, plan, drawn.constructs)) {
      continue;
    }
    if (which.construct == Construct::kTileClaims) {
      drawn.program.workload.resident_clusters = dice.between(1, clusters - 1);
    }
    plan.shuffle();
    which.write(plan);
    drawn.constructs.push_back(which.construct);
  }
  write_prologue(plan);
  write_tail(plan);
  return drawn;
}

}  // namespace

const char* name_of(Construct construct) {
  constexpr const char* kNames[] = {"ring",
                                    "mma_ring",
                                    "multicast_ring",
                                    "accumulator_ring",
                                    "pair_ring",
                                    "tmem_handshake",
                                    "tmem_words",
                                    "bulk_stores",
                                    "flag_shared",
                                    "flag_global",
                                    "ping_pong",
                                    "counter",
                                    "named_barriers",
                                    "remote_arrivals",
                                    "tile_claims",
                                    "dependent_launch",
                                    "registers",
                                    "reinit",
                                    "barrier_as_data",
                                    "branch",
                                    "try",
                                    "nothing"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Construct::kCount));
  return kNames[static_cast<unsigned>(construct)];
}

RandomProgram random_program(std::uint64_t seed, const RandomProgramOptions& options) {
  Dice dice{seed * 0x9E3779B97F4A7C15ULL + 1};
  const std::string name = "random_" + std::to_string(seed);
  for (std::uint32_t draws = 1;; ++draws) {
    RandomProgram drawn;
    const bool unplanned = options.only == Construct::kNothing ||
                           (options.only == Construct::kCount && dice.chance(options.unplanned));
    if (unplanned) {
      drawn.constructs = {Construct::kNothing};
      drawn.program = unplanned_program(dice, name);
    } else {
      drawn = planned_program(dice, name, options.only);
      const std::uint32_t edits = dice.between(0, options.edits_max);
      for (std::uint32_t i = 0; i < edits; ++i) {
        drawn.edits.push_back(edit(drawn.program, dice));
      }
    }
    // What cannot be had with so few operations gets more.
    const std::uint32_t operations_max = options.operations_max + draws / kDrawsOfOneSize * 10;
    if (!drawn.constructs.empty() && !spins(drawn.program) &&
        operations_of(drawn.program) <= operations_max) {
      drawn.program = parse_program(text_of(drawn.program), name);
      return drawn;
    }
  }
}

}  // namespace warptwin::sim
