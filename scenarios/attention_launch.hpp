/// What a launch of attention is told, and what it must compute.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/kernel/parameter_table.hpp"
#include "common/kernel/tile_scheduler.hpp"

#include "scenarios/attention_storage.hpp"

namespace warptwin::scenarios {

/// Of every choice of types, and of either group.
template <class Parts, CtaGroup kGroup>
struct AttentionLaunch {
  static constexpr std::uint32_t kCtas = ctas_in(kGroup);
  static constexpr std::uint32_t kQueries = kCtas * kAttentionTiles * kAttentionTile;
  using Extents = AttentionExtents<kDynamic, kDynamic, kDynamic, kGroup, kDynamic>;
  static constexpr std::uint32_t kStages = 3 * kCtas;  // of as much room in either group
  using StaticExtents = AttentionExtents<128, kStages, 1, kGroup, kCtas>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"ctas", "CTAs, or pairs, that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"q", "rows of Q and O", 2 * kQueries, 1, 1 << 20, "cta_q"},
        {"kv", "rows of K and V", 384, 1, 1 << 20, "tile_kv"},
        {"heads", "heads, side by side in Q, K, V and O", 1, 1, 1 << 10},
        {"kv_heads", "heads of K and V, shared by those of Q; 0: as many", 0, 0, 1 << 10},
        {"causal", "1: query i sees keys 0 to i", 0, 0, 1},
        {"window", "query i sees no key before i - window + 1; 0: any", 0, 0, 1 << 20},
        {"head_dim", "columns of a head: 64 or 128", 128, 64, 128},
        {"cta_q", "rows of Q a CTA, or a pair, works on at once", kQueries, kQueries, kQueries},
        {"tile_kv", "keys, or values, in one stage", 128, 128, 128},
        {"stages", "stages of the ring of keys and values", kStages, 2, 64},
        {"stats_stages", "factors of each tile under way to correction", 1, 1, 64},
        {"cluster_m", "CTAs of a cluster, which share keys and values", kCtas, kCtas, 16},
        {"slack", "growth of a row's maximum that is let pass, in powers of two", 0, 0, 16},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {p.u32("head_dim"), p.u32("stages"), p.u32("stats_stages"), p.u32("cluster_m")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<AttentionStorage<Extents, Parts>>(extents(p));
    return workload_of(p, p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, std::uint32_t clusters) {
    const std::uint32_t dim = p.u32("head_dim");
    require(
        dim == 64 || dim == 128,
        "head_dim=" + std::to_string(dim) + " is not made of boxes of 64 columns; use 64 or 128");
    const std::uint32_t q = p.u32("q");
    const std::uint32_t kv = p.u32("kv");
    const std::uint32_t window = p.u32("window");
    require(window == 0 || q < kv + window,
            "window=" + std::to_string(window) + " leaves the last of q=" + std::to_string(q) +
                " no key of kv=" + std::to_string(kv) + "; use a window above q - kv");
    const std::uint32_t columns = p.u32("heads") * dim;
    const std::uint32_t kv_columns = columns / heads_sharing(p);
    constexpr ElementType kType = Parts::Element::kType;
    TensorSpec o = matrix("o", TensorUse::kOutput, q, columns, Parts::Result::kType);
    o.error_share = Parts::kErrorShare;
    const ClusterShape cluster{p.u32("cluster_m"), 1, kGroup};
    check_cluster(cluster, kAttentionTile, kAttentionTile / kCtas, 128);
    const TileGrid ctas{ceil_div(q, kAttentionTiles * kAttentionTile), p.u32("heads")};
    const TileGrid tiles = ctas.in_clusters(cluster);
    const std::uint32_t slices = cluster.slice(Operand::kB, 0).count;
    using Tile = WideTile<typename Parts::Element>;
    const auto map = [](std::uint32_t tensor, const Tile& tile) {  // a box is a panel
      const auto panel = tile.panel(0);
      return TensorMapSpec{tensor, panel.rows, panel.columns, panel.swizzle};
    };
    return {.tensors = {matrix("q", TensorUse::kInput, q, columns, kType),
                        matrix("k", TensorUse::kInput, kv, kv_columns, kType),
                        matrix("v", TensorUse::kInput, kv, kv_columns, kType),
                        o},
            .maps = {map(0, {{}, kAttentionTile, dim}),
                     map(1, {{}, kAttentionTile / kCtas / slices, dim}),
                     map(2, {{}, kAttentionTile / slices, dim / kCtas}),
                     tile_map<typename Parts::Result>(3, kAttentionTile, 64)},
            .clusters = tiles.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = kAttentionRegisters,
            .flops = 4 * attended_pairs(q, kv, seen(p)) * columns};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    const std::uint32_t dim = p.u32("head_dim");
    const std::uint32_t sharing = heads_sharing(p);
    for (std::uint32_t head = 0; head < p.u32("heads"); ++head) {
      const AttentionHead at{dim, head * dim, head / sharing * dim};
      attention_reference(tensors[0], tensors[1], tensors[2], at, seen(p), tensors[3]);
    }
  }
};

}  // namespace warptwin::scenarios
