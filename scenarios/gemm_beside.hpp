/// What gemm_mixed_input and gemm_sparse share: 128 rows of D in a CTA, tiles that clusters share,
/// and tensor memory that holds something of the input stages beside the accumulators.

#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

/// The frame of `Scenario`, which has `shapes()`, its parameters but that of who shares the tiles,
/// and `workload_of(parameters, extents, clusters)`.
template <class Scenario, CtaGroup kGroup, class Parts>
struct GemmBesideOf : GemmClusterOf<kGroup, Parts> {
  using Base = GemmClusterOf<kGroup, Parts>;
  using Base::kCtas;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Scenario::shapes(),
                 {{"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    return Scenario::workload_of(p, Scenario::extents(p), p.u32("clusters"));
  }
  /// What both have in their shapes, and `rows`, which are the scenario's own.
  static std::vector<Parameter> shapes_with(std::initializer_list<Parameter> rows) {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256 * kCtas, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 256, 1, 1 << 20, "tile_n"},
        {"tile_m", "rows of an MMA's tile of D: 128 a CTA", 128 * kCtas, 128 * kCtas, 128 * kCtas},
        {"tile_n", "columns of an MMA's tile of D", Base::kTileN, 8, 256},
        {"accum_stages", "accumulators in tensor memory", 1, 1, 64},
        {"cluster_m", "CTAs of a cluster along M", kCtas, kCtas, 16},
    };
    return extended(kParameters, rows);
  }
  /// Refuses accumulators that leave no room for the `columns` that `stages` take.
  static void check_tmem(const auto& e, const std::string& stages, std::uint32_t columns) {
    require(e.accum_stages * e.tile_n + columns <= kTmemColumns,
            stages + " take " + std::to_string(columns) +
                " columns of tensor memory, and the accumulators " +
                std::to_string(e.accum_stages * e.tile_n) +
                " of its 512; use fewer stages of either, or fewer columns");
  }
};

}  // namespace warptwin::scenarios
