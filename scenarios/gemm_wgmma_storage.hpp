/// What a CTA of gemm_wgmma and its forms has: the shapes of its tiles, its shared memory, and what
/// a launch tells it.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/tile/warpgroup_mma.hpp"

#include "scenarios/gemm_parts.hpp"

namespace warptwin::scenarios {

/// Shapes and depths: constants on a GPU, run-time values in the simulator.
template <std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kInFlight = kDynamic>
struct GemmWgmmaExtents {
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;
  [[no_unique_address]] Extent<kStages> stages;
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kInFlight> in_flight;

  constexpr ClusterShape cluster() const { return {cluster_m, 1}; }
};

/// Whether each warp stores its own rows of D.
template <class Parts>
inline constexpr bool kWgmmaByWarps = Parts::kStoredBy == StoredBy::kEachWarp;

/// Columns of 128 rows of sums at most: a warpgroup has registers for so many.
inline constexpr std::uint32_t kTallColumns = 192;

/// The shape of a box in which D is stored.
template <class Parts>
constexpr std::uint32_t wgmma_box_rows(std::uint32_t tile_m) {
  return kWgmmaByWarps<Parts> ? kWgmmaWarpRows : tile_m;
}
template <class Parts>
constexpr std::uint32_t wgmma_box_columns(std::uint32_t tile_n) {
  using D = typename Parts::D;
  if constexpr (kWgmmaByWarps<Parts>) {
    return warp_boxes<D>(Extent<>{tile_n}).columns;
  } else {
    return box_columns<D>(tile_n);
  }
}

template <class Extents,
          class Parts = GemmParts,
          class Payload = PayloadOf<Parts>,
          class Freed = ElectedLaneOfSharers,
          class Filled = TmaBytes>
struct GemmWgmmaStorage {
  using D = typename Parts::D;
  using Input = InputPipelineStorage<Payload, From<Role::kLoad, Filled>, To<Role::kMma, Freed>>;
  /// Of the last stage no product is made that has zeros alone.
  static constexpr bool kCut = std::is_same_v<Payload, PayloadOf<Parts>>;

  constexpr GemmWgmmaStorage(auto& layout, const Extents& e)
      : GemmWgmmaStorage{layout, e, {e.tile_m, e.tile_n, e.tile_k}} {}
  /// With what a stage holds.
  constexpr GemmWgmmaStorage(auto& layout, const Extents& e, const Payload& payload)
      : input{layout, "input", wgmma_roles(e.tile_m), e.cluster(), payload, e.stages},
        out{layout,
            "out",
            wgmma_roles(e.tile_m),
            kWgmmaByWarps<Parts> ? kWgmmaRows : std::uint32_t{e.tile_m},
            wgmma_box_columns<Parts>(e.tile_n),
            1,
            kWgmmaByWarps<Parts> ? std::min(e.tile_m / kWgmmaRows, 2U) : 1} {}
  constexpr void init(Machine auto& machine) const { input.init(machine); }

  Input input;
  OutputTileStorage<D, Role::kMma> out;
};

/// How the clusters of a launch walk the tiles of D.
template <class Extents>
TileWalk wgmma_walk(const ParameterSet& p, const Extents& e) {
  return {TileGrid::covering(p.u32("m"), p.u32("n"), e.tile_m, e.tile_n),
          e.cluster(),
          {RasterOrder::kAlongM, p.u32("swizzle")}};
}

template <Machine M, class Extents>
struct GemmWgmmaProblem {
  typename M::TensorMap a, b, d;  // boxes (tile_m, tile_k), (tile_n / cluster_m, tile_k),
                                  // (box_rows, box)
  [[no_unique_address]] Extents extents;
  TileWalk tile_walk;
  KSteps k_steps;

  /// `size`: bytes of an element of A and B.
  static GemmWgmmaProblem of(const ParameterSet& p,
                             const Extents& e,
                             std::uint32_t size,
                             std::span<const typename M::TensorMap> maps) {
    return {maps[0],
            maps[1],
            maps[2],
            e,
            wgmma_walk(p, e),
            KSteps::covering(p.u32("k"), e.tile_k, size)};
  }
  constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
};

/// The same where each warp stores its own rows.
template <Machine M, class Extents>
struct GemmWgmmaOwnRowsProblem : GemmWgmmaProblem<M, Extents> {
  typename M::TensorMap rest;  // of d, boxes of kRestColumns columns
};

}  // namespace warptwin::scenarios
