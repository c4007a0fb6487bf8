/// Scenario: gemm_split_k by pairs of CTAs: several clusters compute parts of one pair's tile. Each
/// CTA adds up its own rows, and hands them from split to split by a word of its own.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            both    stage s may be read, in both CTAs
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane          -       tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane             -       the peer has allocated
/// source.full[c]   1   epilogue_load, elected lane   box     box c of the sum so far may be read
/// source.empty[c]  128 epilogue, every lane          -       box c of it may be overwritten
///
/// The pairs of a cluster are above each other, so that they have the same part of K, and share
/// copies of B. A cluster beside another might have another part.
///
/// Expected: as gemm_split_k, for any cluster of pairs along M.

#pragma once

#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_split_k.hpp"

namespace warptwin::scenarios {

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmSplitKClusterOf : GemmClusterOf<kGroup, Parts> {
  using Base = GemmClusterOf<kGroup, Parts>;
  using Base::kCtas;
  using Single = GemmSplitKOf<Parts>;
  static constexpr std::uint32_t kTileM = 128 * kCtas;
  using Tiles = GemmClusterExtents<kGroup, GemmExtents<kTileM, 128, Base::kTileK, 4, 2>, 2, 1>;
  using StaticExtents = GemmSourceExtents<Tiles, 2, 0>;
  using Extents = GemmSourceExtents<typename Base::Extents>;
  template <Machine M, class Extents>
  using Kernel = typename Single::template Kernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(extended(Single::parameters(), clusters()),
                 {{"ctas", "clusters that share the splits; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// As `GemmSplitKOf::shapes`.
  static std::span<const Parameter> shapes() {
    static const auto kParameters = extended(Single::shapes(), clusters());
    return kParameters;
  }
  static std::initializer_list<Parameter> clusters() {
    static constexpr std::initializer_list<Parameter> kClusters = {
        {"tile_m", "rows of an MMA's tile of D", kTileM, kTileM, kTileM},
        {"cluster_m", "CTAs of a cluster, along M", 2, kCtas, 16}};
    return kClusters;
  }
  static typename Base::Extents shape(const ParameterSet& p) {
    return {GemmOf<Parts>::extents(p), p.u32("cluster_m"), 1};
  }
  static Extents extents(const ParameterSet& p) { return {shape(p), p.u32("source_stages"), 0}; }
  static Workload workload(const ParameterSet& p) {
    Workload workload = product(p);
    Single::add_splits(workload, p, extents(p));
    return workload;
  }
  static Workload product(const ParameterSet& p) {
    return Base::workload_of(p, shape(p), /*clusters=*/0);
  }
  template <class Extents>
  static void add_workspace(Workload& workload,
                            const ParameterSet& p,
                            const Extents& e,
                            std::uint32_t words) {
    Single::add_workspace(workload, p, e, words);
  }
};

template <class Parts>
using GemmSplitK2smOf = GemmSplitKClusterOf<CtaGroup::kTwo, Parts>;

struct GemmSplitK2sm : GemmSplitK2smOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_split_k_2sm", ScenarioKind::kClean, "GEMM by pairs of CTAs whose tiles are sums"};
};

}  // namespace warptwin::scenarios
