/// Scenario: gemm_wgmma with a sparse A, of each four elements of a row along K two, of tf32 of
/// each two one: wgmma.mma_async.sp. Metadata comes with A and B; each lane of a warpgroup reads
/// its words from shared memory to registers.
///
/// Barrier         Arrivals per phase                 Bytes per phase     Completion means
/// input.full[s]   1   load, elected lane             A, B and metadata   stage s may be read
/// input.empty[s]  8   mma, elected lane of a warp    -                   stage s may be refilled
///
/// Of 64 rows half as many warps multiply; in a cluster the warps of every CTA arrive.
///
/// Expected: as gemm_wgmma.

#pragma once

#include "common/kernel/parameter_table.hpp"
#include "common/kernel/sparse_host.hpp"
#include "common/tile/sparse_warpgroup.hpp"

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

/// `Freed`: lanes have read metadata, and say so where they free a stage.
template <class Extents, class Parts, class Freed = ReadingLaneOfSharers>
struct GemmWgmmaSparseStorage
    : GemmWgmmaStorage<Extents, Parts, WgmmaSparseTilePayload<typename Parts::A>, Freed> {
  constexpr GemmWgmmaSparseStorage(auto& layout, const Extents& e)
      : GemmWgmmaStorage<Extents, Parts, WgmmaSparseTilePayload<typename Parts::A>, Freed>{
            layout, e, {e.tile_m, e.tile_n}} {}
};

template <Machine M,
          class Extents,
          class Parts,
          class StorageOfCta = GemmWgmmaSparseStorage<Extents, Parts>>
struct GemmWgmmaSparseKernel : GemmWgmmaKernel<M, Extents, Parts, StorageOfCta> {
  using Base = GemmWgmmaKernel<M, Extents, Parts, StorageOfCta>;
  using Storage = typename Base::Storage;
  struct Problem : Base::Problem {
    typename M::TensorMap metadata;  // boxes: a step of 64 rows
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return {Base::Problem::of(p, e, kBytesOf<typename Parts::A>, maps), maps[3]};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Base::load_with(machine, problem, smem, [&](auto& stage, Tile tile, std::uint32_t k) {
      const auto to = stage.payload();
      stage.load(problem.a, {tile.m, k}, to.a_tile());  // (tile_m, 128 bytes): half of K
      for (std::uint32_t i = 0; i < to.b.panels(); ++i) {
        stage.load(problem.b, {tile.n, k * to.b.panels() + i}, to.b_panel(i));
      }
      const std::uint32_t parts = problem.extents.tile_m / kWgmmaRows;
      for (std::uint32_t i = 0; i < parts; ++i) {
        const std::uint32_t step = (tile.m * parts + i) * problem.k_steps.count + k;
        stage.load(problem.metadata, {step, 0}, to.metadata_tile(i));
      }
    });
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmWgmmaSparseOf : GemmWgmmaOf<Parts> {
  using Base = GemmWgmmaOf<Parts>;
  using A = typename Parts::A;
  using Metadata = WgmmaMetadataOf<A>;
  using StaticExtents = GemmWgmmaExtents<128, 128, Metadata::kK, 3, 1, 1>;
  static constexpr std::uint32_t kPitchK = 32 / kBytesOf<A>;  // of 16 bytes of A without zeros
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaSparseKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::parameters(),
                 {{"k",
                   "columns of A with its zeros, and of B",
                   8 * Metadata::kK,
                   kPitchK,
                   1 << 20,
                   "tile_k"},
                  {"tile_m", "rows of a tile of D: 64 or 128", 128, 64, 128},
                  {"tile_k", "columns of B in one stage", Metadata::kK, Metadata::kK, Metadata::kK},
                  {"stages", "stages of the input ring", 3, 1, 64}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    require(k % kPitchK == 0,
            "k=" + std::to_string(k) + " gives rows of A without zeros that no copy steps over; " +
                "use a multiple of " + std::to_string(kPitchK));
    Workload workload =
        Base::template workload_of<GemmWgmmaSparseStorage<GemmWgmmaExtents<>, Parts>>(
            p, Metadata::kRowBytes / kBytesOf<A>);
    const std::uint32_t steps = ceil_div(m, kWgmmaRows) * ceil_div(k, Metadata::kK);
    TensorSpec metadata = matrix("metadata",
                                 TensorUse::kScratch,
                                 steps * Metadata::kWords,
                                 Metadata::kLanes,
                                 ElementType::kF32);
    metadata.words = wgmma_metadata<A>(m, k, drawn_places<A>);
    workload.tensors[0] = matrix("a", TensorUse::kInput, m, k / 2, A::kType);
    workload.tensors.push_back(metadata);
    workload.maps.push_back({3, Metadata::kWords, Metadata::kLanes, Swizzle::kNone});
    return workload;
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    multiply_reference(with_zeros<A>(tensors[0], drawn_places<A>), tensors[1], tensors[2]);
  }
};

struct GemmWgmmaSparse : GemmWgmmaSparseOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_sparse", ScenarioKind::kClean, "GEMM for sm_90a whose A is sparse: wgmma.sp"};
};

}  // namespace warptwin::scenarios
