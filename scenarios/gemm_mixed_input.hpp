/// Scenario: D = (A scaled) * B^T with A in tensor memory: A is e4m3 with a factor for each row and
/// 128 of K, B is bf16. Warps of the transform role read A from shared memory, convert it to bf16
/// with its factors, and store it to tensor memory, where the MMAs take it from. Fixed tiles, as in
/// gemm_multicast; gemm_mixed_input_2sm is the same text by pairs of CTAs, gemm_mixed_input_s8 that
/// of whole numbers.
///
/// Barrier            Arrivals per phase          Bytes per phase   Completion means
/// a.full[s]          1   load, elected lane      A + factors       A of stage s may be read
/// a.empty[s]         128 transform, every lane   -                 it may be overwritten
/// b.full[s]          1   load, elected lane      B tile            B of stage s may be read
/// b.empty[s]         1   mma, tcgen05.commit     -                 it may be overwritten
/// operand.full[o]    128 transform, every lane   -                 A stands in tensor memory
/// operand.empty[o]   1   mma, tcgen05.commit     -                 it has been read
/// accum.full[a]      1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]     128 epilogue, every lane    -                 a may be overwritten
/// tmem.done[0]       256 epilogue, every lane    -                 tensor memory may be freed
///                    (128) and transform (128)
///
/// Tensor memory: the accumulators, then the operands. In pairs each CTA converts its own rows of
/// A: 256 lanes of both arrive on the leader's operand.full, and its commits to operand.empty go to
/// both. B is shared along M, and A is each CTA's own.
///
/// Expected: clean in every interleaving, for every depth of the rings, any cluster of CTAs or
///           pairs along M, any number of tiles and of clusters, and for edges that cut a tile.

#pragma once

#include "scenarios/gemm_beside.hpp"
#include "scenarios/gemm_blockwise_factors.hpp"
#include "scenarios/gemm_mixed_input_storage.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Parts, class Steps = MixedInputSteps>
struct GemmMixedInputKernel
    : Gemm2smKernel<M, Extents, Parts, GemmMixedInputStorage<Extents, Parts>> {
  using Base = Gemm2smKernel<M, Extents, Parts, GemmMixedInputStorage<Extents, Parts>>;
  using Storage = typename Base::Storage;
  using Raw = PipelineOf<M, typename Storage::Raw>;
  using Input = typename Base::Input;
  using Operand = PipelineOf<M, typename Storage::Operand>;
  using Accum = typename Base::Accum;
  static constexpr auto kRoles = kGemmMixedInputRoles;
  struct Problem : Base::Problem {
    typename M::TensorMap a_scales;  // boxes (1, cta_m)
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    return {Base::problem(p, e, maps, tensors, order), maps[3]};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void transform(M& machine, const Problem& problem, const Storage& smem) {
    transform_tiles(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto a = Raw{machine, smem.a}.producer();
    auto b = Input{machine, smem.b}.producer();
    const std::uint32_t part = smem.b.cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const std::uint32_t block = k * problem.extents.tile_k / kScaleBlock;
        auto raw = a.acquire_stage();                              // waits a.empty, arms a.full
        raw.load(problem.a, {tile.m, k}, raw.payload().a_tile());  // (cta_m, tile_k)
        raw.load(problem.a_scales, {block, tile.m}, raw.payload().a_scales_tile());  // (1, cta_m)
        std::move(raw).release();
        auto stage = b.acquire_stage();  // waits b.empty; the leader arms b.full, for both
        stage.load(problem.b, {Extents::kCtas * tile.n + part, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
    }
    a.drain();
    b.drain();  // no commit is on its way to b.empty any more
  }

  static constexpr void transform_tiles(M& machine,
                                        const Problem& problem,
                                        const Storage& smem,
                                        const auto& tiles) {
    smem.tmem.hand_off.sync(machine);
    const auto tmem = TmemAllocation::from_shared(
        machine, smem.tmem.word, smem.accum.config.columns(), smem.tmem.cluster.group);
    auto a = Raw{machine, smem.a}.consumer();
    auto operands = operands_in(machine, smem, tmem);
    for ([[maybe_unused]] const Tile tile : tiles) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto raw = a.acquire_stage();                    // waits a.full
        auto operand = operands.acquire_write_linear();  // waits operand.empty
        Steps::template convert<typename Parts::B>(machine, raw.payload(), operand.own_rows());
        machine.fence_proxy_async(ProxySpace::kSharedCta);  // copies follow these reads
        std::move(raw).release();                           // arrives on a.empty
        Steps::settle(machine);
        Steps::hand_over(machine, std::move(operand));
      }
    }
    operands.drain();  // no commit is on its way to operand.empty any more
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }

  static constexpr void multiply_tiles_of(M& machine,
                                          const Problem& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    using Warp = MmaWarp<M, Accum, typename Storage::Tmem>;
    auto warp = Warp::create(machine, smem.accum, smem.tmem);  // in both, together
    auto b = Input{machine, smem.b}.consumer();
    auto operands = operands_in(machine, smem, warp.tmem());
    for ([[maybe_unused]] const Tile tile : tiles) {
      if (!warp.is_leader()) {
        continue;  // it learns which tiles there are, and that is all
      }
      auto accum = warp.acquire_mma_linear();  // waits accum.empty, of both epilogues
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = b.acquire_stage();                    // waits b.full
        auto operand = operands.acquire_operand_linear();  // waits operand.full
        Steps::multiply(accum,
                        std::move(operand),
                        stage.payload().b_tile().tile,
                        k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to b.empty of all whose copies it has read
      }
      std::move(accum).release();  // commits to accum.full of the pair
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

 private:
  // The operands lie behind the accumulators.
  static constexpr Operand operands_in(M& machine,
                                       const Storage& smem,
                                       const TmemAllocation& tmem) {
    return {machine, smem.operand, tmem.from_column(smem.accum.config.accum_columns())};
  }
};

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmMixedInputOf : GemmBesideOf<GemmMixedInputOf<kGroup, Parts>, kGroup, GemmParts> {
  using Frame = GemmBesideOf<GemmMixedInputOf<kGroup, Parts>, kGroup, GemmParts>;
  using Base = GemmClusterOf<kGroup, GemmParts>;
  using Base::kCtas;
  using Extents = GemmMixedInputExtents<GemmClusterExtents<kGroup>>;
  using Shape = GemmExtents<128 * kCtas, Base::kTileN, Base::kTileK, 4, 1>;
  static constexpr std::uint32_t kClusterN = Parts::kSharesA ? 2 : 1;
  using StaticExtents =
      GemmMixedInputExtents<GemmClusterExtents<kGroup, Shape, kCtas, kClusterN>, 4>;
  using Storage = GemmMixedInputStorage<Extents, Parts>;
  template <Machine M, class Extents>
  using Kernel = GemmMixedInputKernel<M, Extents, Parts>;

  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static const auto kParameters = Frame::shapes_with({
        {"k", "columns of A and B", 512, 1, 1 << 20, "tile_k"},
        {"tile_k", "columns of A and B in one stage: 32 or 64", Base::kTileK, 32, Base::kTileK},
        {"stages", "stages of the rings of A and of B", 4, 1, 64},
        {"operand_stages", "converted tiles of A in tensor memory", 4, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", kClusterN, 1, 8},
    });
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("operand_stages")};
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    const ClusterShape cluster = Parts::kSharesA ? e.cluster() : e.cluster().with_own_a();
    const std::uint32_t box = box_columns<D>(e.tile_n);
    const std::uint32_t operands = e.operand_stages * e.tile_k * kBytesOf<B> / 4;
    check_mma_shape(e.tile_m, e.tile_n, kGroup);
    check_tile_k(e.tile_k, kBytesOf<B>);
    check_box_columns(e.tile_n, box, kBytesOf<D>);
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kBytesOf<B>);
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kBytesOf<A>);
    Frame::check_tmem(e, "operand_stages=" + std::to_string(e.operand_stages), operands);
    check_stages_fit<Storage>(e);
    check_row_pitch("k", k, kBytesOf<A>);
    const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
    const TileGrid tiles = TileGrid::covering(m, n, e.cta_m(), e.tile_n).in_clusters(cluster);
    return {
        .tensors =
            {matrix("a", TensorUse::kInput, m, k, A::kType),
             matrix("b", TensorUse::kInput, n, k, B::kType),
             matrix("d", TensorUse::kOutput, m, n, D::kType),
             matrix("a_scales", TensorUse::kInput, ceil_div(k, kScaleBlock), m, ElementType::kF32)},
        .maps = {tile_map<A>(0, slice_a, e.tile_k),
                 tile_map<B>(1, slice_b, e.tile_k),
                 tile_map<D>(2, e.cta_m(), box),
                 {3, 1, e.cta_m(), Swizzle::kNone}},
        .clusters = tiles.ctas(clusters),
        .cluster_size = cluster.ctas(),
        .registers_per_thread = 80,
        .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    using B = typename Parts::B;
    HostTensor scaled = tensors[0];
    for (std::uint32_t m = 0; m < scaled.spec.rows; ++m) {
      for (std::uint32_t k = 0; k < scaled.spec.columns; ++k) {
        const float value = scaled.at(m, k) * tensors[3].at(k / kScaleBlock, m);
        scaled.at(m, k) = decode(B::kType, encode(B::kType, value));
      }
    }
    multiply_reference(scaled, tensors[1], tensors[2]);
  }
};

struct GemmMixedInput : GemmMixedInputOf<CtaGroup::kOne, MixedInputParts<f8e4m3>> {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input",
                                      ScenarioKind::kClean,
                                      "GEMM of e4m3 and bf16: A is converted on its way to tensor "
                                      "memory"};
};

}  // namespace warptwin::scenarios
