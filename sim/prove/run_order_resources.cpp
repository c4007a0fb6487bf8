// What orders a run beside barriers, and what it shares: tensor memory, wgmmas, registers, requests
// for clusters.

#include <algorithm>
#include <utility>

#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

// Which columns an allocation gets, and when, depends on what the others of its CTA have allocated
// and freed before: one warp allocates, and who frees is in order with every allocation.
void RunOrder::on_tensor_memory(Group& group, const Event& event, std::uint32_t self) {
  meets_pairs_ = meets_pairs_ || (event.flags & event_flag::kPair) != 0;
  const bool allocates = event.op == Op::kTcgen05Alloc;
  if (allocates) {
    std::uint32_t& allocator = group.allocators[event.cta];
    if (allocator != 0 && allocator != self + 1) {
      undecided("several warps allocate tensor memory: who comes first is a choice", event);
    }
    allocator = self + 1;
    if (config_.rules.ctas_per_sm > 1) {
      undecided("which CTA of an SM allocates tensor memory first is a choice", event);
    }
  }
  std::vector<TmemUse>& uses = group.tmem_uses[event.cta];
  const ProofClock& clock = group.conditions.clock(self);
  for (const TmemUse& use : uses) {
    const bool ordered =
        use.chain == self || (use.chain < clock.size() && clock[use.chain] >= use.index);
    if (!ordered && use.allocates != allocates) {
      undecided("which columns an allocation gets depends on when another warp frees", event);
    }
  }
  uses.push_back({self, counter_.warp_index(event.warp), allocates});
}

// The CTAs of a pair allocate together: what a warp did before it came to the allocation, its peer
// knows after it.
void RunOrder::on_pair_alloc(Group& group, const Event& event, std::uint32_t self) {
  group.pair_allocs[event.cta] = {
      self, counter_.warp_index(event.warp), group.conditions.clock(self)};
  const auto peer = group.pair_allocs.find(event.cta ^ 1U);
  if (peer == group.pair_allocs.end()) {
    return;
  }
  ProofClock& clock = group.conditions.clock(self);
  join(clock, peer->second.clock);
  raise(clock, peer->second.warp, peer->second.index);
}

// A wgmma begins when the four warps have issued it, so it is over only after that.
void RunOrder::on_wgmma(Group& group, const Event& event, std::uint32_t self) {
  const std::uint32_t rank = self % config_.warps_per_cta % kWarpsPerWarpgroup;
  const std::uint32_t leader = self - rank;
  Wgmmas& wgmmas = group.wgmmas[leader];
  if (event.op == Op::kWgmma) {
    if (event.step != Step::kIssued) {
      return;
    }
    if (!group.last_tensor.empty()) {
      undecided(kBothTensorCores, event);
    }
    const std::uint32_t place = event.as<payload::Wgmma>().number - wgmmas.first;
    if (place == wgmmas.issued.size()) {
      wgmmas.issued.emplace_back();
    }
    Wgmmas::Issued& issued = wgmmas.issued[place];
    join(issued.clock, group.conditions.clock(self));
    if (options_.record != nullptr && group.agents[self] != kLeaf) {
      issued.recorded[rank] =
          static_cast<std::uint32_t>(options_.record->agents[group.agents[self]].ops.size());
    }
    return;
  }
  const std::uint32_t over = event.as<payload::WgmmaGroups>().wgmmas;
  if (over <= wgmmas.over[rank]) {
    return;  // nothing that it has not waited for before
  }
  wgmmas.over[rank] = over;
  const Wgmmas::Issued& last = wgmmas.issued[over - 1 - wgmmas.first];
  join(group.conditions.clock(self), last.clock);
  for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
    if (i != rank && last.recorded[i] != 0) {
      record(group, self, event, after_op(group.agents[leader + i], last.recorded[i] - 1));
    }
  }
  const std::uint32_t by_all = *std::min_element(wgmmas.over.begin(), wgmmas.over.end());
  while (wgmmas.first < by_all) {
    wgmmas.issued.pop_front();
    ++wgmmas.first;
  }
}

// Register pools. Where no warp asks for more than it began with, what it gave back is there. Else
// each warp changes its share once, and nobody gives back only after he has been given to: then all
// that is asked for is there once all has been given back.
void RunOrder::on_registers(Group& group, const Event& event, std::uint32_t self) {
  RegisterPool& pool = group.pools[event.cta];
  const std::uint32_t count = event.as<payload::Registers>().count;
  const auto [has, first] = pool.has.try_emplace(self, count);
  if (!first && std::exchange(has->second, count) == count) {
    return;  // what the warp has
  }
  const bool increase = (event.flags & event_flag::kIncrease) != 0;
  pool.total += increase ? std::int64_t{count} : 0;
  pool.beyond = pool.beyond || (increase && count > config_.registers_per_thread);
  if (!first) {
    pool.unless.emplace_back("a warp changes its registers twice", event);
  }
  if (increase) {
    pool.given.emplace_back(self, counter_.warp_index(event.warp));
    return;
  }
  for (const auto& [chain, index] : pool.given) {
    const ProofClock& clock = group.conditions.clock(self);
    if (chain < clock.size() && clock[chain] >= index) {
      pool.unless.emplace_back("registers are given back only after others were given", event);
    }
  }
}

void RunOrder::close_pools(const Group& group) {
  for (const auto& [cta, pool] : group.pools) {
    for (const auto& [reason, event] : pool.unless) {
      if (pool.beyond) {
        undecided(reason, event);
      }
    }
  }
}

// Requests of one warp, none after the first that fails: then how many succeed is all that is
// decided outside.
void RunOrder::on_request(Group& group, const Event& event, std::uint32_t self) {
  if (event.step != Step::kIssued) {
    return;
  }
  asked_ = true;
  if (config_.clusters > 1 && options_.whole_grid) {
    undecided("clusters that ask for others meet in global memory", event);
  }
  Requests& requests = group.requests[self / (config_.cluster_size * config_.warps_per_cta)];
  const std::uint32_t index = counter_.warp_index(event.warp);
  if (requests.warp == self && requests.last == index) {
    return;  // the same, to another CTA
  }
  if (requests.warp != kLeaf && requests.warp != self) {
    undecided("several warps of a cluster ask for others: who gets what is a choice", event);
  }
  if (requests.failed != 0) {
    undecided("a request is made before it is known that the one before got a cluster", event);
  }
  requests.warp = self;
  requests.last = index;
  requests.failed += event.as<payload::ClcRequest>().got == 0 ? 1 : 0;
}

}  // namespace warptwin::sim
