/// What a CTA of attention has: its warps, its shared memory and tensor memory, and what of heads
/// and keys a launch says.

#pragma once

#include <cstdint>
#include <string>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/in_place_pipeline.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/online_softmax.hpp"
#include "common/tile/output_tile_pipeline.hpp"
#include "common/tile/payload.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin::scenarios {

/// Queries of one tile, and keys of one stage: the M and N of one MMA.
inline constexpr std::uint32_t kAttentionTile = 128;
/// Tiles of queries that a CTA works on at once.
inline constexpr std::uint32_t kAttentionTiles = 2;
/// Registers of a thread: when the CTA starts, and of each role afterwards.
inline constexpr std::uint32_t kAttentionRegisters = 128;
inline constexpr std::uint32_t kSoftmaxRegisters = 192;
inline constexpr std::uint32_t kCorrectionRegisters = 88;
inline constexpr std::uint32_t kOtherRegisters = 40;

/// `kGroup`: how many CTAs an MMA is of. The CTAs of a cluster have queries of one head behind each
/// other, and share copies of its keys and values.
template <std::uint32_t kHeadDim = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kStatsStages = kDynamic,
          CtaGroup kGroup = CtaGroup::kOne,
          std::uint32_t kClusterM = kDynamic>
struct AttentionExtents {
  [[no_unique_address]] Extent<kHeadDim> head_dim;
  [[no_unique_address]] Extent<kStages> stages;             // of keys and values together
  [[no_unique_address]] Extent<kStatsStages> stats_stages;  // of each tile
  [[no_unique_address]] Extent<kClusterM> cluster_m;

  static constexpr std::uint32_t kCtas = ctas_in(kGroup);
  /// Whether it is known that nobody shares keys and values.
  static constexpr bool kAlone = kClusterM == kCtas;
  constexpr ClusterShape cluster() const { return {cluster_m, 1, kGroup}; }
  /// Of a CTA, or a pair, by itself.
  static constexpr ClusterShape own() { return {kCtas, 1, kGroup}; }
};

inline constexpr RoleTable kAttentionRoles{RoleWarps{Role::kSoftmax, 8},
                                           RoleWarps{Role::kCorrection, 4},
                                           RoleWarps{Role::kMma, 1},
                                           RoleWarps{Role::kLoad, 1},
                                           RoleWarps{Role::kIdle, 2}};

/// The types of a kernel that multiplies bf16. Another one derives from it.
struct AttentionParts {
  using Element = bf16;                          // of Q, K and V, and of the weights
  using Result = bf16;                           // of O; 16 bits
  static constexpr float kErrorShare = 0x1p-8F;  // of a weight, where it is rounded to `Element`
};

template <class Operands, class Output>
struct AttentionPartsOf : AttentionParts {
  using Element = Operands;
  using Result = Output;
  static constexpr float kErrorShare =
      (decode(Element::kType, encode(Element::kType, 1) + 1) - 1) / 2;
};

/// A CTA's shared memory. Of the pair's keys it holds one half, and of the pair's values one half
/// of the columns. Nobody shares its queries.
template <class Extents, class Parts = AttentionParts>
struct AttentionStorage {
  static constexpr RoleTable kRoles = kAttentionRoles;
  using Element = typename Parts::Element;
  using Operands =
      InputPipelineStorage<BytesPayload, From<Role::kLoad, TmaBytes>, To<Role::kMma, UmmaCommit>>;
  using Scores =
      InPlacePipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kSoftmax, WarpgroupLanes>>;
  using Accum =
      OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kCorrection, EveryLane>>;
  using Stats = RingStorage<From<Role::kSoftmax, WarpgroupLanes>, To<Role::kCorrection, EveryLane>>;
  using Out = OutputTileStorage<typename Parts::Result, Role::kCorrection>;
  using Tmem = TmemDeallocStorage<Role::kMma, Role::kSoftmax, Role::kCorrection>;

  constexpr AttentionStorage(auto& layout, const Extents& e)
      : head_dim{e.head_dim},
        q{layout, "q", kAttentionRoles, Extents::own(), {tile_bytes()}, kAttentionTiles},
        kv{layout, "kv", kAttentionRoles, e.cluster(), {tile_bytes() / Extents::kCtas}, e.stages},
        out{layout,
            "out",
            kAttentionRoles,
            kAttentionTile,
            box_columns<typename Parts::Result>(e.head_dim)},
        stats{layout,
              "stats",
              kAttentionRoles,
              kAttentionTiles * e.stats_stages,
              kAttentionTile * sizeof(float)},
        scores{layout, "scores", kAttentionRoles, e.cluster(), {kAttentionTiles, kAttentionTile}},
        accum{layout, "accum", kAttentionRoles, e.cluster(), {kAttentionTiles, e.head_dim}},
        tmem{layout, "tmem", kAttentionRoles, e.cluster()} {}
  constexpr void init(Machine auto& machine) const {
    q.init(machine);
    kv.init(machine);
    stats.init(machine);
    scores.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  constexpr std::uint32_t tile_bytes() const {
    return WideTile<Element>{{}, kAttentionTile, head_dim}.bytes();
  }
  constexpr WideTile<Element> queries(std::uint32_t tile) const {  // (tile, head_dim)
    return {q.at(tile, 0), kAttentionTile, head_dim};
  }
  constexpr WideTile<Element> keys(std::uint32_t stage) const {  // (tile / kCtas, head_dim)
    return {kv.at(stage, 0), kAttentionTile / Extents::kCtas, head_dim};
  }
  /// (tile, head_dim / kCtas): their rows are the K of P * V.
  constexpr MnMajorTile<Element> values(std::uint32_t stage) const {
    return {{kv.at(stage, 0), kAttentionTile, head_dim / Extents::kCtas}};
  }
  constexpr SharedTile<f32> factors(std::uint32_t stage) const {  // one for each row
    return {stats.tile(stage), kAttentionTile, 1, Swizzle::kNone};
  }
  /// Scores of both tiles, then both accumulators.
  static constexpr std::uint32_t accum_column() { return kAttentionTiles * kAttentionTile; }
  constexpr std::uint32_t tmem_columns() const { return accum_column() + accum.config.columns(); }

  std::uint32_t head_dim;
  Operands q;
  Operands kv;
  Out out;
  Stats stats;
  Scores scores;
  Accum accum;
  Tmem tmem;
};

/// How many heads of Q share a head of K and V. Throws ConfigError where that is no whole number.
inline std::uint32_t heads_sharing(const ParameterSet& p) {
  const std::uint32_t heads = p.u32("heads");
  const std::uint32_t kv_heads = p.u32("kv_heads") == 0 ? heads : p.u32("kv_heads");
  require(heads % kv_heads == 0,
          "heads=" + std::to_string(heads) + " do not share kv_heads=" + std::to_string(kv_heads) +
              " evenly; use a divisor of heads");
  return heads / kv_heads;
}

/// The keys that each query sees.
inline SeenKeys seen(const ParameterSet& p) {
  return {p.u32("causal") != 0, p.u32("window")};
}

}  // namespace warptwin::scenarios
