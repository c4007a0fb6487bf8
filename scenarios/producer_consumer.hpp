/// Scenario: the smallest ring. One warp loads tiles by TMA, another stores them back by TMA.
///
/// Barrier         Arrivals per phase           Bytes per phase   Completion means
/// ring.full[s]    1  producer, elected lane    one tile          stage s may be read
/// ring.empty[s]   32 consumer, every lane      -                 stage s may be overwritten
///
/// Expected: clean in every interleaving, for every stages >= 1 and any number of tiles.

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/participants.hpp"

namespace warptwin::scenarios {

inline constexpr std::uint32_t kCopyTileRows = 32;
inline constexpr std::uint32_t kCopyTileColumns = 64;

template <std::uint32_t kTiles = kDynamic, std::uint32_t kStages = kDynamic>
struct ProducerConsumerExtents {
  [[no_unique_address]] Extent<kTiles> tiles;
  [[no_unique_address]] Extent<kStages> stages;
};

inline constexpr RoleTable kProducerConsumerRoles{RoleWarps{Role::kProducer, 1},
                                                  RoleWarps{Role::kConsumer, 1}};

template <class Extents>
struct ProducerConsumerStorage {
  using Ring = RingStorage<From<Role::kProducer, TmaBytes>, To<Role::kConsumer, EveryLane>>;
  static constexpr std::uint32_t kTileBytes =
      kCopyTileRows * kCopyTileColumns * sizeof(bf16::Storage);

  constexpr ProducerConsumerStorage(auto& layout, const Extents& extents)
      : ring{layout, "ring", kProducerConsumerRoles, extents.stages, kTileBytes} {}
  constexpr void init(Machine auto& machine) const { ring.init(machine); }

  Ring ring;
};

template <Machine M, class Extents>
struct ProducerConsumerKernel {
  using Storage = ProducerConsumerStorage<Extents>;
  using Ring = PipelineOf<M, typename Storage::Ring>;
  static constexpr auto kRoles = kProducerConsumerRoles;

  struct Problem {
    [[no_unique_address]] Extents extents;  // not last: see docs/extending.md
    typename M::TensorMap source, target;   // boxes (kCopyTileRows, kCopyTileColumns)

    static constexpr Coordinates<2> at(std::uint32_t tile) {
      return {{0, static_cast<std::int32_t>(tile * kCopyTileRows)}};
    }
  };

  static Problem problem(const ParameterSet&,
                         const Extents& extents,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return {extents, maps[0], maps[1]};
  }

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      auto stage = ring.acquire_producer();  // waits ring.empty, arms full
      stage.load(problem.source, Problem::at(tile), smem.ring.tile(stage.index()));
      std::move(stage).release();
    }
  }

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      auto stage = ring.acquire_consumer();  // waits ring.full
      // TMA wrote the tile and TMA reads it: no proxy fence.
      const SharedAddress source = smem.ring.tile(stage.index());
      machine.cp_async_bulk_tensor_store(problem.target, Problem::at(tile), source);
      machine.cp_async_bulk_commit_group();
      machine
          .template cp_async_bulk_wait_group_read<0>();  // the storing lane arrives after its store
      std::move(stage).release();                        // arrives on ring.empty, every lane
    }
    machine.template cp_async_bulk_wait_group<0>();  // the copy is complete before the kernel ends
  }
};

struct ProducerConsumer {
  static constexpr ScenarioInfo kInfo{
      "producer_consumer", ScenarioKind::kClean, "the smallest ring: TMA load, TMA store"};
  using StaticExtents = ProducerConsumerExtents<16, 4>;
  template <Machine M, class Extents>
  using Kernel = ProducerConsumerKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"tiles", "tiles to copy", 16, 1, 1 << 20, ""},
        {"stages", "stages of the ring", 4, 1, 64},
    };
    return kParameters;
  }
  static ProducerConsumerExtents<> extents(const ParameterSet& p) {
    return {p.u32("tiles"), p.u32("stages")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<ProducerConsumerStorage<ProducerConsumerExtents<>>>(extents(p));
    const std::uint32_t rows = p.u32("tiles") * kCopyTileRows;
    return {.tensors = {matrix("source", TensorUse::kInput, rows, kCopyTileColumns),
                        matrix("target", TensorUse::kOutput, rows, kCopyTileColumns)},
            .maps = {{0, kCopyTileRows, kCopyTileColumns, Swizzle::kNone},
                     {1, kCopyTileRows, kCopyTileColumns, Swizzle::kNone}},
            .registers_per_thread = 8};
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    tensors[1].values = tensors[0].values;
  }
};

}  // namespace warptwin::scenarios
