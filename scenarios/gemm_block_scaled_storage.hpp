/// What a CTA of gemm_block_scaled has: the shapes of its tiles, its shared memory and tensor
/// memory, and the products whose tiles it takes.

#pragma once

#include "common/pipeline/typestate.hpp"
#include "common/tile/block_scale.hpp"

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

template <std::uint32_t kFormat = kDynamic,
          std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kAccumStages = kDynamic>
struct GemmBlockScaledExtents {
  [[no_unique_address]] Extent<kFormat> format;  // a ScaledFormat
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;
  [[no_unique_address]] Extent<kStages> stages;
  [[no_unique_address]] Extent<kAccumStages> accum_stages;

  constexpr ScaledTileShape shape() const {
    return {static_cast<ScaledFormat>(std::uint32_t{format}), tile_m, tile_n, tile_k};
  }
};

/// The same, of a CTA or a pair, in a cluster.
template <class Scaled = GemmBlockScaledExtents<>,
          std::uint32_t kGroup = kDynamic,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct GemmBlockScaledClusterExtents : Scaled {
  [[no_unique_address]] Extent<kGroup> cta_group;
  [[no_unique_address]] Extent<kClusterM> cluster_m;
  [[no_unique_address]] Extent<kClusterN> cluster_n;

  constexpr CtaGroup group() const { return cta_group == 2 ? CtaGroup::kTwo : CtaGroup::kOne; }
  constexpr ClusterShape cluster() const { return {cluster_m, cluster_n, group()}; }
  constexpr ScaledTileShape shape() const {
    ScaledTileShape shape = Scaled::shape();
    shape.group = group();
    return shape;
  }
  constexpr std::uint32_t cta_m() const { return this->tile_m / cta_group; }
  constexpr std::uint32_t cta_n() const { return this->tile_n / cta_group; }
  constexpr std::uint32_t column_parts() const { return 1; }  // a row of D in every lane
  constexpr std::uint32_t accum_columns() const { return this->tile_n; }
  constexpr auto accum_rows() const { return Extent<kTmemLanes>{}; }
};

/// What an MMA multiplies, and how a stage gets it: operands with all their elements. A choice of
/// parts may have another as its `ScaledOperands`.
struct DenseScaled {
  static constexpr bool kSparseA = false;
  static constexpr std::uint32_t kRowBytes = 128;     // of B in a stage, by default
  static constexpr std::uint32_t kStages[] = {4, 6};  // of fixed tiles, and of claimed ones
  using Payload = ScaledTileShape::Payload;
  template <class TensorMap>
  struct Maps {};  // beside those of A, B and their factors

  static constexpr Payload payload(const ScaledTileShape& shape) { return shape.payload(); }
  /// Those of `k`, of a tile of A and a CTA's part `b` of one of B.
  static constexpr void load(WARPTWIN_HELD auto& stage,
                             const auto& problem,
                             const auto& at,
                             std::uint32_t b,
                             std::uint32_t k) {
    stage.load(problem.a, at.index({at.tile.m, k}), stage.payload().a_tile());  // (cta_m, tile_k)
    stage.load(problem.b, at.index({b, k}), stage.payload().b_tile());          // (cta_n, tile_k)
  }
  static constexpr void multiply(auto& machine,
                                 const auto& accum,
                                 const ScaledTileShape& shape,
                                 const auto& tiles,
                                 const ScaleSlot& slot,
                                 Accumulate accumulate) {
    multiply_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
  }
};

/// The operands of a choice of parts.
template <class Parts>
struct ScaledOperandsOf {
  using Type = DenseScaled;
};
template <class Parts>
  requires requires {
    typename Parts::ScaledOperands;
  }
struct ScaledOperandsOf<Parts> {
  using Type = typename Parts::ScaledOperands;
};

/// The tiles of a k step of such a kernel.
template <class Operands>
constexpr ScaledTileShape scaled_shape(const auto& extents) {
  ScaledTileShape shape = extents.shape();
  shape.sparse_a = Operands::kSparseA;
  return shape;
}

/// What gemm_2sm has, with factors in the stages and in tensor memory.
template <class Extents,
          class Parts = GemmParts,
          class Operands = typename ScaledOperandsOf<Parts>::Type>
struct GemmBlockScaledStorage : Gemm2smStorage<Extents, Parts, typename Operands::Payload> {
  constexpr GemmBlockScaledStorage(auto& layout, const Extents& e)
      : Gemm2smStorage<Extents, Parts, typename Operands::Payload>{
            layout,
            e,
            Operands::payload(scaled_shape<Operands>(e)),
            e.tile_n,
            e.stages * scaled_shape<Operands>(e).columns()} {}
};

/// One product is in a launch. Another choice of products says as much.
struct OneProduct {
  /// A tile of the launch's, and where it lies in its product.
  struct Place {
    Tile tile;
    static constexpr std::uint32_t sfa_blocks = 0;  // of 128 rows of the products before
    static constexpr std::uint32_t sfb_blocks = 0;
    constexpr TileIndex index(TileIndex at) const { return at; }
  };
  template <class Extents>
  static OneProduct of(const ParameterSet&, const Extents&) {
    return {};
  }
  /// The tiles of all products, of which one has those of `product`.
  template <class Extents>
  TileWalk walk(const TileGrid& product, const Extents& e, const TileOrder& order) const {
    return {product, e.cluster(), order};
  }
  constexpr Place at(Tile tile) const { return {tile}; }
};

}  // namespace warptwin::scenarios
