// Protocols that declare what they do, and requests of a whole cluster.

#include <array>
#include <utility>

#include "tests/oracle/random_plan.hpp"

namespace warptwin::sim::plan {

// A ring as the protocol layer writes it: barriers with contracts, stages with notes.
void declared_ring(Plan& plan) {
  Dice& dice = plan.dice;
  constexpr std::uint32_t kBytes = 16;
  const std::uint32_t stages = dice.between(1, 2);
  const std::uint32_t trips = dice.between(1, stages + 2);
  plan.exact = plan.exact && dice.chance(60);
  Symbols& symbols = plan.program.symbols;
  BarrierContract filled;
  filled.bytes = kBytes;
  filled.waiter = Role::kConsumer;
  filled.contributors[0] = {Role::kProducer, ArrivalKind::kTmaBytes, 1};
  BarrierContract freed;
  freed.waiter = Role::kProducer;
  freed.contributors[0] = {Role::kConsumer, ArrivalKind::kElectedLane, 1};
  const std::uint32_t full = align_up(symbols.regions.back().end(), 1024);
  const std::uint32_t empty = full + 8 * stages;
  const std::uint32_t data = align_up(empty + 8 * stages, 128);
  symbols.regions.push_back({RegionKind::kBarriers, "ring", "full", full, stages, 8, filled});
  symbols.regions.push_back({RegionKind::kBarriers, "ring", "empty", empty, stages, 8, freed});
  symbols.regions.push_back(
      {RegionKind::kTile, "ring", "stage", data, stages, kBytes, BarrierContract{}});
  symbols.rings.push_back({"ring", full, empty, stages, data, kBytes});
  symbols.bytes = align_up(data + stages * kBytes, 128) - kSharedBase;
  symbols.roles.assign(plan.warps, RoleWarps{Role::kIdle, 1});
  symbols.roles[plan.order[0]].role = Role::kProducer;
  symbols.roles[plan.order[1]].role = Role::kConsumer;
  for (std::uint32_t s = 0; s < 2 * stages; ++s) {
    plan.others.emplace_back(full + 8 * s, 1);
  }
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter producer = plan.warp(cta, 0);
    WarpWriter consumer = plan.warp(cta, 1);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t s = i % stages;
      const std::uint32_t lap = i / stages;
      wait(plan, producer, empty + 8 * s, lap - 1);
      producer.note(full, stages, StageStep::kProducerAcquired, s, lap);
      producer.arrive_expect(full + 8 * s, kBytes);
      producer.load(data + kBytes * s, plan.source(), kBytes, full + 8 * s);
      producer.note(full, stages, StageStep::kProducerReleased, s, lap);
      wait(plan, consumer, full + 8 * s, lap);
      consumer.note(full, stages, StageStep::kConsumerAcquired, s, lap);
      consumer.read(data + kBytes * s);
      consumer.fence_proxy();
      consumer.arrive(empty + 8 * s);
      consumer.note(full, stages, StageStep::kConsumerReleased, s, lap);
    }
  }
}

// One CTA asks for clusters on behalf of all of its own; all read the answers.
void cluster_claims(Plan& plan) {
  const std::uint32_t response = plan.word();
  const std::uint32_t full = plan.bar(1);
  const std::uint32_t empty = plan.bar(plan.cluster_size);
  const CtaMask all{static_cast<std::uint16_t>((1U << plan.cluster_size) - 1)};
  const std::uint32_t requests = plan.clusters;  // the last one fails
  plan.has_tail = plan.has_tail || plan.dice.chance(50);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    WarpWriter warp = plan.warp(cta, 0);
    const bool asks = cta % plan.cluster_size == 0;
    std::vector<Instruction>& code = plan.program.warps[cta * plan.warps + plan.order[0]];
    std::vector<std::size_t> ends;
    for (std::uint32_t i = 0; i < requests; ++i) {
      warp.arrive_expect(full, kClcResponseBytes);
      if (i > 0) {
        warp.arrive_remote(empty, 0);
      }
      if (asks) {
        if (i > 0) {
          wait(plan, warp, empty, i - 1);
        }
        warp.clc_request(response, full, all);
      }
      wait(plan, warp, full, i);
      warp.clc_canceled(response, 0);
      if (i + 1 < requests) {
        warp.fence_proxy(ProxySpace::kAll);
        ends.push_back(code.size());
        warp.jump_if(0, 0, false, 0);
      }
    }
    for (const std::size_t jump : ends) {
      code[jump].target = static_cast<std::uint32_t>(code.size());
    }
  }
}

}  // namespace warptwin::sim::plan
