/// What a CTA of gemm_mixed_input has: the shapes of its tiles, its shared memory and tensor
/// memory; and the steps of its transform and MMA warps.

#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "common/tile/operand_pipeline.hpp"

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

template <class Tiles, std::uint32_t kOperandStages = kDynamic>
struct GemmMixedInputExtents : Tiles {
  [[no_unique_address]] Extent<kOperandStages> operand_stages;  // of A in tensor memory
};

/// A is of another type than the MMA's, which is B's and D's.
template <class Raw, class Element = bf16>
struct MixedInputParts : GemmPartsOf<Element, Element> {
  using A = Raw;
  static constexpr bool kSharesA = false;  // whether CTAs of a cluster along N share copies of A
};

/// The same parts, and copies of A are multicast along N.
template <class Parts>
struct WithSharedA : Parts {
  static constexpr bool kSharesA = true;
};

inline constexpr RoleTable kGemmMixedInputRoles{RoleWarps{Role::kEpilogue, kWarpsPerWarpgroup},
                                                RoleWarps{Role::kTransform, kWarpsPerWarpgroup},
                                                RoleWarps{Role::kMma, 1},
                                                RoleWarps{Role::kLoad, 1}};

/// A CTA's shared memory and tensor memory; the names are those of the reports.
template <class Extents, class Parts>
struct GemmMixedInputStorage {
  using A = typename Parts::A;
  using B = typename Parts::B;
  using Freed = std::conditional_t<Parts::kSharesA, ReadingLaneOfSharers, EveryLane>;
  using Raw = InputPipelineStorage<BlockwiseFP8TilePayload<A, B>,
                                   From<Role::kLoad, TmaBytes>,
                                   To<Role::kTransform, Freed>>;
  using Input = InputPipelineStorage<StandardTilePayload<A, B>,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>>;
  using Operand = OperandPipelineStorage<From<Role::kTransform, EveryLane>,  //
                                         To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;
  using Tmem = TmemDeallocStorage<Role::kMma, Role::kEpilogue, Role::kTransform>;
  static constexpr auto kRoles = kGemmMixedInputRoles;

  constexpr GemmMixedInputStorage(auto& layout, const Extents& e)
      : a{layout,
          "a",
          kRoles,
          sharing_a(e.cluster()),
          {{e.cta_m(), 0, e.tile_k}},  // no B in it
          e.stages},
        b{layout,
          "b",
          kRoles,
          e.cluster().with_own_a(),
          {0, e.cta_n(), e.tile_k},  // no A
          e.stages},
        out{layout, "out", kRoles, e.cta_m(), box_columns<typename Parts::D>(e.tile_n)},
        operand{layout,
                "operand",
                kRoles,
                e.cluster(),
                {e.operand_stages, e.tile_k * SharedTile<B>::kElementBytes / 4}},
        accum{layout,
              "accum",
              kRoles,
              e.cluster(),
              {e.accum_stages, e.tile_n, operand.config.columns()}},
        tmem{layout, "tmem", kRoles, e.cluster()} {}
  constexpr void init(Machine auto& machine) const {
    a.init(machine);
    b.init(machine);
    operand.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  /// Each CTA converts its own rows: of a pair, too, each has a ring of its own.
  static constexpr ClusterShape sharing_a(const ClusterShape& cluster) {
    return Parts::kSharesA ? ClusterShape{cluster.m, cluster.n}.with_own_b() : ClusterShape{};
  }

  Raw a;
  Input b;
  OutputTileStorage<typename Parts::D> out;
  Operand operand;
  Accum accum;
  Tmem tmem;
};

/// Steps of the transform warps and of the MMA warp. A wrong twin derives from it, and has one step
/// anew.
struct MixedInputSteps {
  /// Stores this warp's rows of A, scaled and as elements of B's type, to where an MMA takes them.
  template <class Element, Machine M>
  static constexpr void convert(M& machine, const auto& tiles, TmemAddress to) {
    constexpr std::uint32_t kColumns = 32;
    const auto& a = tiles.a_tile().tile;
    const std::uint32_t row = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
    typename M::template Fragment<1> factors;
    // A tile without a pitch of its own: lane i reads factor `row + i`.
    const SharedTile<f32> all{tiles.a_scales_tile().tile.base, a.rows, 1, Swizzle::kNone};
    machine.ld_shared_row(all, row, 0, factors);
    for (std::uint32_t column = 0; column < a.columns; column += kColumns) {
      typename M::template Fragment<kColumns> values;
      machine.ld_shared_row(a, row, column, values);
      values.combine_rows(factors, [](float value, float factor) { return value * factor; });
      machine.tcgen05_st_32x32b(to.at_column(column * SharedTile<Element>::kElementBytes / 4),
                                values.template packed<Element>());
    }
  }
  /// The stores are over.
  static constexpr void settle(Machine auto& machine) { machine.tcgen05_wait_st(); }
  static constexpr void hand_over(Machine auto&, auto&& operand) {
    std::move(operand).release();  // arrives on operand.full of the leader
  }
  template <class Element>
  static constexpr void multiply(const auto& accum,
                                 auto&& operand,
                                 const SharedTile<Element>& b,
                                 Accumulate accumulate) {
    accum.multiply(operand.template operand<Element>(), b, accumulate);
    std::move(operand).release();  // commits to operand.empty of the pair
  }
};

}  // namespace warptwin::scenarios
