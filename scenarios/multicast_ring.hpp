/// Scenario: two CTAs of a cluster read the same tiles; each copies one half of every tile to both.
///
/// Barrier         Arrivals per phase                 Bytes per phase   Completion means
/// ring.full[s]    1  producer, elected lane          one tile          stage s may be read
/// ring.empty[s]   64 consumer, every lane of both    -                 stage s may be overwritten
///
/// A CTA writes the other's stages, so it waits until both have freed them; and a CTA stays until
/// nobody can arrive on its barriers any more: that is what `drain` is for.
///
/// Expected: clean in every interleaving, for every stages >= 1 and any number of tiles.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

inline constexpr std::uint32_t kMulticastCtas = 2;

template <class Extents>
struct MulticastRingStorage {
  static constexpr std::uint32_t kTileBytes = ProducerConsumerStorage<Extents>::kTileBytes;

  constexpr MulticastRingStorage(auto& layout, const Extents& extents)
      : stages{extents.stages},
        tiles{layout.tiles({"ring", "tile"}, stages, kTileBytes, 128)},
        barriers{layout, "ring", stages, full(), empty()} {
    layout.ring({"ring", barriers.full, barriers.empty, stages, tiles, kTileBytes});
  }
  static constexpr BarrierContract full() {
    return contract(
        Role::kConsumer, kTileBytes, Contributor{Role::kProducer, ArrivalKind::kTmaBytes, 1});
  }
  static constexpr BarrierContract empty() {
    return contract(
        Role::kProducer,
        0,
        Contributor{Role::kConsumer, ArrivalKind::kEveryLane, kMulticastCtas * kWarpLanes});
  }
  constexpr void init(Machine auto& machine) const { barriers.init(machine); }
  constexpr SharedAddress tile(std::uint32_t stage) const { return tiles + stage * kTileBytes; }

  std::uint32_t stages;
  SharedAddress tiles;
  BarrierPair barriers;
};

template <Machine M, class Extents>
struct MulticastRingKernel {
  using Storage = MulticastRingStorage<Extents>;
  static constexpr auto kRoles = kProducerConsumerRoles;
  static constexpr std::uint32_t kHalfRows = kCopyTileRows / kMulticastCtas;

  struct Problem {
    [[no_unique_address]] Extents extents;  // not last: see docs/extending.md
    typename M::TensorMap source, target;   // boxes (kHalfRows, kCopyTileColumns)

    static constexpr Coordinates<2> at(std::uint32_t tile, std::uint32_t half) {
      return {{0, static_cast<std::int32_t>(tile * kCopyTileRows + half * kHalfRows)}};
    }
  };

  static Problem problem(const ParameterSet&,
                         const Extents& extents,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return {extents, maps[0], maps[1]};
  }

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    PipelineState state;
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile, state.step(smem.stages)) {
      fill(machine, problem, smem, state, tile);
    }
    drain(machine, smem, state);
  }

  /// Waits until both CTAs have freed the stage, and copies this CTA's half of the tile to both.
  static constexpr void fill(M& machine,
                             const Problem& problem,
                             const Storage& smem,
                             PipelineState state,
                             std::uint32_t tile) {
    const Mbarrier full = smem.barriers.full[state.index];
    const std::uint32_t half = machine.cta_rank();
    acquire(machine,
            smem.barriers.empty[state.index],
            state.empty_phase(),
            kAcquireCluster,
            SourceSite::current());
    arm(machine, full, Storage::kTileBytes, SourceSite::current());
    machine.cp_async_bulk_tensor_load(
        smem.tile(state.index) + half * (Storage::kTileBytes / kMulticastCtas),
        problem.source,
        Problem::at(tile, half),
        CopyTarget{full, CtaMask::of(0) | CtaMask::of(1)});
  }

  /// Waits until every stage has been freed by both CTAs: then no arrival is on its way.
  static constexpr void drain(M& machine, const Storage& smem, PipelineState state) {
    for (std::uint32_t i = 0; i < smem.stages; ++i, state.step(smem.stages)) {
      acquire(machine,
              smem.barriers.empty[state.index],
              state.empty_phase(),
              kAcquireCluster,
              SourceSite::current());
    }
  }

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    PipelineState state;
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile, state.step(smem.stages)) {
      acquire(machine,
              smem.barriers.full[state.index],
              state.full_phase(),
              kAcquireCluster,
              SourceSite::current());
      // Each CTA stores its own half of what both have received.
      const std::uint32_t half = machine.cta_rank();
      machine.cp_async_bulk_tensor_store(
          problem.target,
          Problem::at(tile, half),
          smem.tile(state.index) + half * (Storage::kTileBytes / kMulticastCtas));
      machine.cp_async_bulk_commit_group();
      machine.template cp_async_bulk_wait_group_read<0>();
      for (std::uint32_t rank = 0; rank < kMulticastCtas; ++rank) {
        arrive_at<ArrivalKind::kEveryLane>(
            machine, smem.barriers.empty[state.index], rank, SourceSite::current());
      }
    }
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct MulticastRing : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"multicast_ring",
                                      ScenarioKind::kClean,
                                      "two CTAs share a ring by multicast and remote arrivals"};
  template <Machine M, class Extents>
  using Kernel = MulticastRingKernel<M, Extents>;

  static Workload workload(const ParameterSet& p) {
    Workload workload = ProducerConsumer::workload(p);
    workload.cluster_size = kMulticastCtas;
    for (TensorMapSpec& map : workload.maps) {
      map.box_rows = kCopyTileRows / kMulticastCtas;
    }
    return workload;
  }
};

}  // namespace warptwin::scenarios
