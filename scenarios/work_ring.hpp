/// Scenario: a ring whose tiles have work or not, as somebody outside the kernel decides (a tile
/// scheduler's answers, empty groups). Both roles are told the same, and skip the same tiles.
///
/// Barriers as in producer_consumer.
///
/// Expected: clean in every interleaving, for every choice of tiles, any number of them.

#pragma once

#include <algorithm>

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

/// Whether a tile has work: bit `tile % 8` of the choice.
constexpr bool has_work(std::uint32_t work, std::uint32_t tile) {
  return ((work >> tile % 8) & 1U) != 0;
}

template <Machine M, class Extents>
struct WorkRingKernel {
  using Storage = ProducerConsumerStorage<Extents>;
  using Ring = PipelineOf<M, typename Storage::Ring>;
  static constexpr auto kRoles = kProducerConsumerRoles;

  struct Problem {
    [[no_unique_address]] Extents extents;  // not last: see docs/extending.md
    typename M::TensorMap source, target;   // boxes (kCopyTileRows, kCopyTileColumns)
    std::uint32_t work;

    static constexpr Coordinates<2> at(std::uint32_t tile) {
      return {{0, static_cast<std::int32_t>(tile * kCopyTileRows)}};
    }
  };

  static Problem problem(const ParameterSet& parameters,
                         const Extents& extents,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return {extents, maps[0], maps[1], parameters.u32("work")};
  }

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      if (has_work(problem.work, tile)) {
        auto stage = ring.acquire_producer();
        stage.load(problem.source, Problem::at(tile), smem.ring.tile(stage.index()));
        std::move(stage).release();
      }
    }
  }

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      if (has_work(problem.work, tile)) {
        auto stage = ring.acquire_consumer();
        const SharedAddress source = smem.ring.tile(stage.index());
        machine.cp_async_bulk_tensor_store(problem.target, Problem::at(tile), source);
        machine.cp_async_bulk_commit_group();
        machine.template cp_async_bulk_wait_group_read<0>();
        std::move(stage).release();
      }
    }
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct WorkRing {
  static constexpr ScenarioInfo kInfo{
      "work_ring", ScenarioKind::kClean, "a ring that skips tiles without work"};
  using StaticExtents = ProducerConsumerExtents<16, 4>;
  template <Machine M, class Extents>
  using Kernel = WorkRingKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"tiles", "tiles that may have work", 16, 1, 1 << 20, ""},
        {"stages", "stages of the ring", 4, 1, 64},
        {"work",
         "which of eight tiles in a row have work, one bit each",
         255,
         0,
         255,
         nullptr,
         true},
    };
    return kParameters;
  }
  static ProducerConsumerExtents<> extents(const ParameterSet& p) {
    return ProducerConsumer::extents(p);
  }
  static Workload workload(const ParameterSet& p) { return ProducerConsumer::workload(p); }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    tensors[1].values = tensors[0].values;
    for (std::uint32_t tile = 0; tile < p.u32("tiles"); ++tile) {
      if (!has_work(p.u32("work"), tile)) {
        constexpr std::size_t kTile = std::size_t{kCopyTileRows} * kCopyTileColumns;
        std::fill_n(
            tensors[1].values.begin() + static_cast<std::ptrdiff_t>(tile * kTile), kTile, 0.0F);
      }
    }
  }
};

}  // namespace warptwin::scenarios
