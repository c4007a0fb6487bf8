/// Scenario: gemm_block_scaled of several products of one shape, D_i = A_i * B_i^T, with the
/// factors of each. The tiles of all are shared as those of one product are.
///
/// Barriers as in gemm_block_scaled.
///
/// The maps of A, B and D have the products as their outermost dimension, so what reaches beyond
/// one is zeros, and is not stored, and is none of the next. Of B's tiles there are as many in a
/// product as whole clusters have: no cluster has tiles of two.
///
/// Expected: clean, as gemm_block_scaled is, for any number of products.

#pragma once

#include "scenarios/gemm_block_scaled.hpp"

namespace warptwin::scenarios {

/// Products of one shape, side by side along N.
struct Batches {
  Divisor tiles_n{1};                    // of a product, of whole clusters
  std::uint32_t count = 1;               // products
  std::uint32_t sfa_blocks, sfb_blocks;  // of 128 rows of a product that have factors

  struct Place {
    Tile tile;
    std::uint32_t product;
    std::uint32_t sfa_blocks, sfb_blocks;  // of the products before
    constexpr BatchTileIndex index(TileIndex at) const { return {at.row, at.column, product}; }
  };
  template <class Extents>
  static Batches of(const ParameterSet& p, const Extents& e) {
    const std::uint32_t across = e.cluster().n;
    const std::uint32_t tiles = ceil_div(p.u32("n"), std::uint32_t{e.tile_n});
    return {Divisor{align_up(tiles, across)},
            p.u32("batches"),
            ceil_div(p.u32("m"), kScaleBlockRows),
            ceil_div(p.u32("n"), kScaleBlockRows)};
  }
  template <class Extents>
  TileWalk walk(const TileGrid& product, const Extents& e, const TileOrder& order) const {
    return {TileGrid{product.m, tiles_n.value() * count}, e.cluster(), order};
  }
  constexpr Place at(Tile tile) const {
    const Division in_products = tiles_n.divide(tile.n);
    const std::uint32_t product = in_products.quotient;
    return {{tile.m, in_products.remainder}, product, product * sfa_blocks, product * sfb_blocks};
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmBlockScaledBatchedOf : GemmBlockScaledOf<Parts, Batches> {
  using Base = GemmBlockScaledOf<Parts, Batches>;
  using Extents = typename Base::Extents;

  static std::span<const Parameter> shapes() {
    static const auto kParameters =
        extended(Base::shapes(),
                 {{"batches", "products in the launch", 2, 1, 1 << 16, ""},
                  {"n", "rows of a B, columns of a D", 192, 1, 1 << 20, "tile_n"}});
    return kParameters;
  }
  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"ctas", "CTAs, or clusters, that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    return workload_of(p, Base::extents(p), p.u32("ctas"));
  }
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    Workload workload = Base::workload_of(p, e, clusters);
    const std::uint32_t batches = p.u32("batches");
    for (const std::uint32_t map : {0U, 1U, 2U}) {
      TensorMapSpec& spec = workload.maps[map];
      const TensorSpec& one = workload.tensors[spec.tensor];
      spec.outer[0] = {one.rows, one.pitch_bytes, spec.box_rows};
      spec.outer[1] = {batches, one.bytes(), 1};
    }
    for (TensorSpec& tensor : workload.tensors) {
      tensor.rows *= batches;
    }
    workload.clusters = clusters == 0 ? workload.clusters * batches : clusters;
    workload.flops *= batches;
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    const std::uint32_t batches = p.u32("batches");
    for (std::uint32_t product = 0; product < batches; ++product) {
      std::vector<HostTensor> own;
      for (const HostTensor& all : tensors) {
        const std::size_t size = all.values.size() / batches;
        const auto first = all.values.begin() + static_cast<std::ptrdiff_t>(product * size);
        own.push_back({all.spec, {first, first + static_cast<std::ptrdiff_t>(size)}});
        own.back().spec.rows /= batches;
      }
      Base::reference(p, own);
      std::copy(
          own[4].values.begin(),
          own[4].values.end(),
          tensors[4].values.begin() + static_cast<std::ptrdiff_t>(product * own[4].values.size()));
    }
  }
};

struct GemmBlockScaledBatched : GemmBlockScaledBatchedOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_block_scaled_batched", ScenarioKind::kClean, "several block-scaled GEMMs of one shape"};
};

}  // namespace warptwin::scenarios
