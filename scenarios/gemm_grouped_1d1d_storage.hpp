/// What a CTA of gemm_grouped_1d1d has: its warps, and its shared memory and tensor memory; and the
/// tensors of a group.

#pragma once

#include <algorithm>

#include "common/tile/scale_pipeline.hpp"

#include "scenarios/gemm_block_scaled.hpp"
#include "scenarios/gemm_group_tiles.hpp"

namespace warptwin::scenarios {

/// `tile_m` by `tile_n` is the shape of an MMA, of a CTA or a pair.
template <class Scaled = GemmBlockScaledExtents<>,
          std::uint32_t kGroup = kDynamic,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic>
struct GemmGrouped1d1dExtents
    : GemmBlockScaledClusterExtents<Scaled, kGroup, kClusterM, kClusterN> {
  /// Whether the factors of B come by warps of their own.
  constexpr bool stores_sfb() const { return this->tile_n < 64; }
  /// What the load warp brings.
  constexpr ScaledTileShape::Payload payload() const {
    ScaledTileShape::Payload payload = this->shape().payload();
    payload.sfb_bytes = stores_sfb() ? 0 : payload.sfb_bytes;
    return payload;
  }
  constexpr std::uint32_t sfb_stages() const {
    return stores_sfb() ? std::uint32_t{this->stages} : 0;
  }
};

/// A warp's rank modulo 4 is its quarter of the lanes: four warps in a row have all of them.
constexpr RoleTable<6> gemm_grouped_1d1d_roles(bool stores_sfb) {
  return {{{Role::kEpilogue, 4},
           {Role::kLoad, 1},
           {Role::kMma, 1},
           {Role::kScaleLoad, stores_sfb ? 1U : 0U},
           {Role::kScaleToTmem, stores_sfb ? 4U : 0U},
           {Role::kScheduler, 1}}};
}

using GemmGrouped1d1dWork = RingStorage<From<Role::kScheduler, ElectedLane>,
                                        To<Role::kLoad, ElectedLane>,
                                        To<Role::kMma, ElectedLane>,
                                        To<Role::kEpilogue, ElectedLane>,
                                        To<Role::kScaleLoad, ElectedLane>,
                                        To<Role::kScaleToTmem, ElectedLane>>;

/// A CTA's shared memory, but for who tells it its tiles; the names are those of the reports.
template <class Extents>
struct GemmGrouped1d1dOperands {
  using Input = InputPipelineStorage<ScaledTileShape::Payload,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>>;
  using Sfb = ScalePipelineStorage<From<Role::kScaleLoad, TmaBytes>,
                                   To<Role::kScaleToTmem, EveryLane>,
                                   To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;
  using Tmem = TmemDeallocStorage<Role::kMma, Role::kEpilogue, Role::kScaleToTmem>;

  constexpr GemmGrouped1d1dOperands(auto& layout, const Extents& e, const RoleTable<6>& roles)
      : input{layout, "input", roles, e.cluster(), e.payload(), e.stages},
        sfb{layout,
            "sfb",
            roles,
            e.sfb_stages(),
            kScaleBlockBytes * e.shape().k_blocks(),
            /*may_be_empty=*/true},
        out{layout, "out", roles, e.cta_m(), box_columns<bf16>(e.tile_n)},
        accum{layout,
              "accum",
              roles,
              e.cluster(),
              {e.accum_stages, e.tile_n, e.stages * e.shape().columns()}},
        tmem{layout, "tmem", roles, e.cluster()} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    sfb.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  Sfb sfb;
  OutputTileStorage<bf16> out;
  Accum accum;
  Tmem tmem;
};

/// The same, and the slots that name tiles.
template <class Extents>
struct GemmGrouped1d1dStorage : GemmGrouped1d1dOperands<Extents> {
  using Base = GemmGrouped1d1dOperands<Extents>;

  constexpr GemmGrouped1d1dStorage(auto& layout, const Extents& e)
      : GemmGrouped1d1dStorage{layout, e, gemm_grouped_1d1d_roles(e.stores_sfb())} {}
  constexpr GemmGrouped1d1dStorage(auto& layout, const Extents& e, const RoleTable<6>& roles)
      : Base{layout, e, roles}, work{layout, "work", roles, kWorkStages, kWorkBytes} {}
  constexpr void init(Machine auto& machine) const {
    Base::init(machine);
    work.init(machine);
  }

  GemmGrouped1d1dWork work;
};

template <Machine M, class Extents>
struct GemmGrouped1d1dProblem : GemmGroupedProblem<M, Extents> {
  typename M::TensorMap sfa[kGroups],
      sfb[kGroups];  // boxes: factors of 128 rows; of what is loaded
};

/// Refuses tiles that the kernel cannot have. Host code.
inline void check_scaled_groups(const GemmGrouped1d1dExtents<>& e, std::uint32_t k) {
  ScaledTileShape shape = e.shape();
  require(!e.stores_sfb() || e.cta_group == 1,
          "tile_n=" + std::to_string(shape.tile_n) +
              " of a pair: warps of one CTA cannot store factors of B to the other's tensor "
              "memory; use tile_n=64 or more, or cta_group=1");
  if (shape.tile_n < kScaleBlockLines) {
    require(
        shape.tile_n == 8 || shape.tile_n == 16,
        "tile_n=" + std::to_string(shape.tile_n) +
            " does not divide the 32 lines of a block of scale factors; use tile_n=8, 16 or 32");
    shape.tile_n = kScaleBlockLines;  // it begins somewhere in a block
  }
  check_scaled_tile(shape);
  check_scaled_k(k);
  check_cluster(e.cluster(), e.cta_m(), e.cta_n(), e.shape().row_bytes());
  check_scale_columns(e.accum_stages, e.stages, e.shape());
  check_stages_fit<GemmGrouped1d1dStorage<GemmGrouped1d1dExtents<>>>(e);
}

/// Adds the tensors of a group of `m` rows, and the maps over them. Host code.
inline void add_scaled_group(Workload& workload,
                             const char* const (&names)[5],
                             std::uint32_t m,
                             std::uint32_t n,
                             std::uint32_t k,
                             const GemmGrouped1d1dExtents<>& e) {
  const ScaledTileShape shape = e.shape();
  const ElementType element = element_of(shape.format);
  const std::uint32_t k_tiles = ceil_div(k, e.tile_k);
  const std::uint32_t rows = std::max(m, 1U);  // a tensor map needs one
  const auto first = static_cast<std::uint32_t>(workload.tensors.size());
  for (TensorSpec spec : {matrix(names[0], TensorUse::kInput, rows, k, element),
                          matrix(names[1], TensorUse::kInput, n, k, element),
                          scale_tensor(names[2], rows, k_tiles, shape),
                          scale_tensor(names[3], n, k_tiles, shape),
                          matrix(names[4], TensorUse::kOutput, rows, n)}) {
    spec.use = m == 0 ? TensorUse::kScratch : spec.use;  // of an empty group nobody touches
    workload.tensors.push_back(spec);
  }
  const std::uint32_t box = box_columns<bf16>(e.tile_n);
  const std::uint32_t lines = kScaleBlockLines * shape.k_blocks();  // of 128 rows in a k step
  const Swizzle swizzle = swizzle_of(shape.row_bytes());
  const std::uint32_t slice_a = e.cta_m() / e.cluster().slice(Operand::kA, 0).count;
  const std::uint32_t slice_b = e.cta_n() / e.cluster().slice(Operand::kB, 0).count;
  for (const TensorMapSpec& map : {TensorMapSpec{0, slice_a, shape.row_bytes(), swizzle},
                                   TensorMapSpec{1, slice_b, shape.row_bytes(), swizzle},
                                   TensorMapSpec{2, lines, 16, Swizzle::kNone},
                                   TensorMapSpec{3, e.stores_sfb() ? kScaleBlockLines : lines, 16},
                                   TensorMapSpec{4, e.cta_m(), box, swizzle_of(box * 2)}}) {
    workload.maps.push_back(map);
    workload.maps.back().tensor += first;
  }
}

}  // namespace warptwin::scenarios
