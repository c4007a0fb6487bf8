/// Scenario: D_g = sum over blocks of K of (sa * sb) * (A_g * B_g^T) for groups of different M,
/// some of them empty (mixture of experts): a gemm_blockwise_fp8 of each, tiles by block index.
/// A has a factor for each row and 128 of K (one dimension), B one for 128 rows and 128 of K (two).
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A + B + sa tile   stage s may be read
/// input.empty[s]   5   mma, tcgen05.commit     -                 stage s may be overwritten
///                      (1 of them; 4 of the epilogue, an elected lane of each warp)
/// accum.full[a]    1   mma, tcgen05.commit     -                 the product of a k step is there
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// Every group has as many clusters of the launch as the largest has tiles, whether it has rows or
/// not: the host need not know how many. A cluster whose tile its group does not have goes through
/// the kernel without one: it allocates, hands over and frees, and touches no ring. In pairs, both
/// CTAs copy and compute their halves of a tile, also where the group's rows end in the first.
///
/// Expected: clean in every interleaving, for all sizes of groups, whichever are empty, all of them
///           too, any cluster of CTAs or pairs, any number of k steps, every depth of the rings.

#pragma once

#include <algorithm>

#include "scenarios/gemm_blockwise_fp8.hpp"
#include "scenarios/gemm_grouped.hpp"

namespace warptwin::scenarios {

/// Clusters of the launch for each group: one for each tile of the largest. Host code.
template <class Extents>
std::uint32_t clusters_of_group(const ParameterSet& p, const Extents& e) {
  std::uint32_t most = 1;
  for (const char* rows : {"m0", "m1", "m2", "m3"}) {
    const auto tiles = TileGrid::covering(p.u32(rows), p.u32("n"), e.cta_m(), e.tile_n);
    most = std::max(most, tiles.in_clusters(e.cluster()).count());
  }
  return most;
}

template <Machine M, class Extents, class Parts = BlockwiseParts>
struct GemmGrouped1d2dKernel {
  using Group = GemmBlockwiseFp8Kernel<M, Extents, Parts>;
  using Storage = typename Group::Storage;
  static constexpr auto kRoles = Group::kRoles;
  struct Problem {
    typename Group::Problem groups[kGroups];
    [[no_unique_address]] Extents extents;
    std::uint32_t group_clusters;  // of the launch, for each group
    /// The product that the cluster of `machine` works on.
    constexpr const typename Group::Problem& of(const M& machine) const {
      return groups[machine.cluster_index() / group_clusters];
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    Problem problem{};
    problem.extents = e;
    problem.group_clusters = clusters_of_group(p, e);
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      problem.groups[group] = Group::product(
          rows_of_group(p, group), p, e, maps.subspan(4 * group), tensors.subspan(5 * group));
      problem.groups[group].first_cluster = group * problem.group_clusters;
    }
    return problem;
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Group::load(machine, problem.of(machine), smem);
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Group::mma(machine, problem.of(machine), smem);
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Group::epilogue(machine, problem.of(machine), smem);
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmGrouped1d2dOf : GemmBlockwiseFp8Of<Parts> {
  using Base = GemmBlockwiseFp8Of<Parts>;
  using StaticExtents = GemmBlockwiseFp8Extents<GemmExtents<128, 64, 128, 4, 2>, 1, 1, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d2dKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() { return shapes(); }
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 200, 0, 1 << 20},
        {"m1", "rows of group 1", 1, 0, 1 << 20},
        {"m2", "rows of group 2", 300, 0, 1 << 20},
        {"m3", "rows of group 3", 65, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 15, 0, 15, nullptr, true},
        {"n", "rows of each B, columns of each D", 128, 1, 1 << 20},
        {"k", "columns of A and B", 512, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 64, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
        {"cluster_m", "CTAs of a cluster along M", 1, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = launch_of_groups(p, Base::extents(p));
    workload.clusters = kGroups * clusters_of_group(p, Base::extents(p));
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    for (; !tensors.empty(); tensors = tensors.subspan(5)) {
      if (tensors[2].spec.use == TensorUse::kOutput) {
        Base::reference(p, tensors);
      }
    }
  }

 protected:
  /// The products; of the clusters it says nothing.
  static Workload launch_of_groups(const ParameterSet& p, const GemmBlockwiseFp8Extents<>& e) {
    static constexpr const char* kNames[kGroups][5] = {{"a0", "b0", "d0", "sa0", "sb0"},
                                                       {"a1", "b1", "d1", "sa1", "sb1"},
                                                       {"a2", "b2", "d2", "sa2", "sb2"},
                                                       {"a3", "b3", "d3", "sa3", "sb3"}};
    Workload workload = Base::workload_of(e, p.u32("k"));
    workload.registers_per_thread = e.tile_n > 64 ? 256U : 152U;  // of the sums
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      add_blockwise_product<Parts>(
          workload, kNames[group], rows_of_group(p, group), p.u32("n"), p.u32("k"), e);
    }
    return workload;
  }
};

struct GemmGrouped1d2d : GemmGrouped1d2dOf<BlockwiseParts> {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d2d",
                                      ScenarioKind::kClean,
                                      "e4m3 GEMMs of groups, scaled by blocks, tiles by block "
                                      "index"};
};

}  // namespace warptwin::scenarios
