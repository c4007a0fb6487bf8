/// Scenario: gemm_block_scaled by pairs of CTAs whose clusters claim tiles by cluster launch
/// control, as gemm_persistent's do. With cta_group=1 an MMA is of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                A, B, SFA, SFB of both: s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      416 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// Expected: clean in every interleaving, for every format, every depth of the rings, any cluster
///           of CTAs or pairs, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_block_scaled.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

/// `Plain`, a scenario of fixed tiles, by clusters that claim them.
template <class Plain>
struct GemmBlockScaledPersistentOf : Plain {
  using Operands = typename Plain::Operands;
  static constexpr std::uint32_t kTileK = 2 * Operands::kRowBytes;  // of four bits
  using Tiles = GemmBlockScaledExtents<2, 256, 128, kTileK, Operands::kStages[1], 2>;
  using StaticExtents = GemmPersistentExtents<GemmBlockScaledClusterExtents<Tiles, 2, 2, 1>, 2>;
  using Extents = GemmPersistentExtents<GemmBlockScaledClusterExtents<>>;
  template <Machine M, class Extents>
  using Kernel = ClaimingKernel<M, Extents, typename Plain::template Kernel<M, Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        claiming(Plain::shapes(),
                 {{"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
                  {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 2, 0, 2},
                  {"tile_m", "rows of an MMA's tile of D: 128 a CTA", 256, 128, 256},
                  {"tile_k", "columns of A and B in one stage", kTileK, 64, kTileK},
                  {"stages", "stages of the input ring", Operands::kStages[1], 1, 64},
                  {"cta_group", "CTAs that share an MMA", 2, 1, 2},
                  {"cluster_m", "CTAs of a cluster along M", 2, 1, 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Plain::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Plain::workload_of(p, Plain::extents(p), /*clusters=*/0);
    check_stages_fit<ClaimingStorage<Extents, typename Plain::Storage>>(extents(p));
    workload.registers_per_thread = 80;
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmBlockScaledPersistent : GemmBlockScaledPersistentOf<GemmBlockScaled> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_persistent",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM by pairs of CTAs whose clusters claim "
                                      "tiles"};
};

}  // namespace warptwin::scenarios
