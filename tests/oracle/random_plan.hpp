/// What drawn programs are put together from: a plan that knows what is taken, and a function for
/// each protocol, which adds it to every CTA of the plan.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/oracle/program_writer.hpp"
#include "tests/oracle/random_program.hpp"

namespace warptwin::sim::plan {

using Places = ProgramPlaces;

/// The counts barriers begin with, and what is taken already.
struct Plan {
  Dice& dice;
  Program& program;
  std::uint32_t warps;
  std::uint32_t cluster_size;
  std::uint32_t clusters;
  bool exact;                           // waits name their phase
  bool gathers;                         // behind them the lanes come together, and no more
  std::vector<std::uint32_t> counts{};  // of the barriers that the prologue initialises
  std::uint32_t words = 0;              // of Places::kWords
  std::uint32_t flags = 0;              // words of the flags' buffer
  std::uint32_t target = 0;             // bytes of the target
  std::uint32_t named = 1;              // named barriers; 0 is cta_sync's
  std::uint32_t tiles = 0;
  /// Other barriers that the prologue initialises, and their counts.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> others{};
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

inline void wait(const Plan& plan, WarpWriter warp, std::uint32_t bar, std::uint32_t phase) {
  warp.wait(bar, phase, plan.exact, plan.acquire());
  plan.gathers ? warp.elect_sync() : warp.sync_warp();
}

inline void cta_sync(Plan& plan, std::uint32_t cta) {
  for (std::uint32_t i = 0; i < plan.warps; ++i) {
    warp_of(plan.program, cta, i).cta_sync();
  }
}

// All warps of a CTA meet, and what each did to tensor memory is ordered.
inline void tmem_sync(Plan& plan, std::uint32_t cta) {
  for (std::uint32_t i = 0; i < plan.warps; ++i) {
    WarpWriter warp = warp_of(plan.program, cta, i);
    warp.fence_before();
    warp.cta_sync();
    warp.fence_after();
  }
}

inline void tmem_begin(Plan& plan, std::uint32_t cta, std::uint32_t columns) {
  plan.warp(cta, 0).alloc(Places::word(Places::kWords - 1), columns);
  tmem_sync(plan, cta);
}

inline void tmem_end(Plan& plan, std::uint32_t cta, std::uint32_t columns) {
  tmem_sync(plan, cta);
  plan.warp(cta, 0).dealloc(0, columns);
}

void ring(Plan& plan);
void mma_ring(Plan& plan);
void multicast_ring(Plan& plan);
void accumulator_ring(Plan& plan);
void pair_ring(Plan& plan);
void wgmma_ring(Plan& plan);
void tmem_handshake(Plan& plan);
void tmem_words(Plan& plan);
void bulk_stores(Plan& plan);
void flag_shared(Plan& plan);
void flag_global(Plan& plan);
void ping_pong(Plan& plan);
void counter(Plan& plan);
void named_barriers(Plan& plan);
void remote_arrivals(Plan& plan);
void tile_claims(Plan& plan);
void dependent_launch(Plan& plan);
void registers(Plan& plan);
void reinit(Plan& plan);
void barrier_as_data(Plan& plan);
void branch(Plan& plan);
void try_first(Plan& plan);
void tensor_ring(Plan& plan);
void map_change(Plan& plan);
void scaled_mma(Plan& plan);
void row_store(Plan& plan);
void declared_ring(Plan& plan);
void cluster_claims(Plan& plan);

}  // namespace warptwin::sim::plan
