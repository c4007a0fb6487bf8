#include <algorithm>
#include <utility>

#include "tests/oracle/random_plan.hpp"

namespace warptwin::sim::plan {

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
  const bool again = plan.dice.chance(50);  // columns are allocated once more
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
    if (again) {
      plan.warp(cta, 0).alloc(Places::word(Places::kWords - 1), 32);
      plan.warp(cta, 0).dealloc(0, 32);
    }
  }
}

static void write_words(WarpWriter warp, std::uint32_t at, std::uint32_t value) {
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
  plan.gathers = false;  // of an inval behind a wait memory is asked
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

}  // namespace warptwin::sim::plan
