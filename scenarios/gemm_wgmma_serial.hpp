/// Scenario: D = A * B^T for sm_90a as in gemm_wgmma, without warp specialisation: every warpgroup
/// multiplies, and one lane of the first warp copies too, when all of them have read a stage. What
/// a kernel is before its roles are divided.
///
/// Barrier         Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]   1   mma, elected lane       A tile + B tile   stage s may be read
///
/// A stage is handed back by the CTA's barrier 0, which every warp passes once a step. With one
/// stage nothing overlaps; with more, copies are ahead.
///
/// Expected: clean in every interleaving, for every stages >= 1, any number of tiles, of CTAs, and
///           for edges that cut a tile.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

template <std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic>
struct GemmWgmmaSerialExtents {
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;
  [[no_unique_address]] Extent<kStages> stages;

  constexpr ClusterShape cluster() const { return {}; }
};

inline constexpr RoleTable kGemmWgmmaSerialRoles{RoleWarps{Role::kMma, 2 * kWarpsPerWarpgroup}};

template <class Extents, class Parts = GemmParts>
struct GemmWgmmaSerialStorage {
  using D = typename Parts::D;

  constexpr GemmWgmmaSerialStorage(auto& layout, const Extents& e)
      : payload{e.tile_m, e.tile_n, e.tile_k},
        tiles{layout.tiles({"input", "tile"}, e.stages, payload.slot_bytes(), kTileAlignment)},
        full{layout.barriers({"input", "full"},
                             e.stages,
                             contract(Role::kMma,
                                      payload.copy_bytes(),
                                      Contributor{Role::kMma, ArrivalKind::kTmaBytes, 1}))},
        stages{e.stages},
        out{layout, "out", kGemmWgmmaSerialRoles, e.tile_m, box_columns<D>(e.tile_n)} {}
  constexpr void init(Machine auto& machine) const {
    for (std::uint32_t i = 0; i < stages; ++i) {
      machine.mbarrier_init(full[i], 1);
    }
  }
  /// The tiles of a stage.
  constexpr auto at(std::uint32_t stage) const {
    return payload.at(tiles + stage * payload.slot_bytes());
  }

  StandardTilePayload<typename Parts::A, typename Parts::B> payload;
  SharedAddress tiles;
  MbarrierArray full;
  std::uint32_t stages;
  OutputTileStorage<D, Role::kMma> out;
};

template <Machine M, class Extents, class Parts = GemmParts>
struct GemmWgmmaSerialKernel {
  using Storage = GemmWgmmaSerialStorage<Extents, Parts>;
  static constexpr auto kRoles = kGemmWgmmaSerialRoles;

  using Problem = GemmWgmmaProblem<M, Extents>;
  /// The shape of a box in which D is stored.
  static constexpr std::uint32_t box_rows(const Extents& e) { return e.tile_m; }
  static constexpr std::uint32_t box_columns(const Extents& e) {
    return wgmma_box_columns<GemmParts>(e.tile_n);
  }

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return Problem::of(p, e, kBytesOf<typename Parts::A>, maps);
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    auto writer = TileWriter<M, typename Parts::D, Role::kMma>{machine, smem.out};
    typename M::template Accumulator<decltype(e.tile_n)> d{machine, e.tile_n};
    std::uint32_t begin = 0;  // steps of the tiles before
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < e.stages && k < problem.k_steps.count; ++k) {
        load_stage(machine, problem, smem, tile, begin, k);
      }
      for (std::uint32_t k = 0; k < problem.k_steps.count; ++k) {
        issue(machine, smem, d, begin, k);
        wait(machine, problem, d, k);
        machine.cta_sync();  // every warpgroup has read the stage
        if (k + e.stages < problem.k_steps.count) {
          load_stage(machine, problem, smem, tile, begin, k + e.stages);
        }
      }
      begin += problem.k_steps.count;
      if constexpr (!std::is_same_v<typename Parts::Function, Unchanged>) {
        d.transform(typename Parts::Function{});
      }
      store_accumulator(machine, writer, problem.d, {tile.m, tile.n}, d, problem.extents.tile_n);
    }
    writer.drain();  // the stores are complete
  }

  /// The first warp copies the tiles of step `k`.
  static constexpr void load_stage(M& machine,
                                   const Problem& problem,
                                   const Storage& smem,
                                   Tile tile,
                                   std::uint32_t begin,
                                   std::uint32_t k) {
    if (machine.warp_index() != 0) {
      return;
    }
    const std::uint32_t stage = (begin + k) % smem.stages;
    const auto tiles = smem.at(stage);
    arm(machine, smem.full[stage], smem.payload.copy_bytes(), SourceSite::current());
    const auto copy = [&](const typename M::TensorMap& map, std::uint32_t at, const auto& to) {
      const Coordinates<2> box{{static_cast<std::int32_t>(k * problem.extents.tile_k),
                                static_cast<std::int32_t>(at * to.tile.rows)}};
      machine.cp_async_bulk_tensor_load(to.tile.base, map, box, CopyTarget{smem.full[stage]});
    };
    copy(problem.a, tile.m, tiles.a_tile());
    copy(problem.b, tile.n, tiles.b_tile());
  }

  /// Waits for the tiles of step `k`, and issues the products of this warpgroup's rows.
  static constexpr void issue(
      M& machine, const Storage& smem, auto& d, std::uint32_t begin, std::uint32_t k) {
    const std::uint32_t stage = (begin + k) % smem.stages;
    const auto phase = WaitPhase::number((begin + k) / smem.stages);
    acquire(machine, smem.full[stage], phase, kAcquireCta, SourceSite::current());
    const auto tiles = smem.at(stage);
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * kWgmmaRows;
    multiply_group(machine, d, tiles.a_tile().tile, first_row, tiles.b_tile().tile, k != 0);
  }

  /// Waits for the products of step `k`; of the last one, to read the accumulators.
  static constexpr void wait(M& machine, const Problem& problem, auto& d, std::uint32_t k) {
    if (k + 1 < problem.k_steps.count) {
      machine.template wgmma_wait_group<0>();
    } else {
      machine.template wgmma_wait_group<0>(d);
    }
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmWgmmaSerialOf {
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  static constexpr double kSumShare = GemmWgmmaOf<Parts>::kSumShare;  // of the device's own sums
  using StaticExtents = GemmWgmmaSerialExtents<128, 128, kTileK, 4>;
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaSerialKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of a tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 128, 16, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
        {"swizzle", "tiles along N in a strip; 0: no strips", 0, 0, 64},
    };
    return kParameters;
  }
  static GemmWgmmaSerialExtents<> extents(const ParameterSet& p) {
    return {p.u32("tile_m"), p.u32("tile_n"), p.u32("tile_k"), p.u32("stages")};
  }
  static Workload workload(const ParameterSet& p) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const GemmWgmmaSerialExtents<> e = extents(p);
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    check_row_pitch("k", k, kSize);
    check_row_pitch("n", n, kBytesOf<D>);
    check_wgmma_tile(e.tile_m, e.tile_n, e.tile_k, kSize, kind_of(A::kType));
    require(e.tile_n % 16 == 0,
            "tile_n=" + std::to_string(e.tile_n) +
                " is stored in boxes of 32 bytes or more; use a multiple of 16");
    check_stages_fit<GemmWgmmaSerialStorage<GemmWgmmaSerialExtents<>, Parts>>(e);
    const std::uint32_t box = box_columns<D>(e.tile_n);
    const TileGrid grid = TileGrid::covering(m, n, e.tile_m, e.tile_n);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k, A::kType),
                        matrix("b", TensorUse::kInput, n, k, B::kType),
                        matrix("d", TensorUse::kOutput, m, n, D::kType)},
            .maps = {tile_map<A>(0, e.tile_m, e.tile_k),
                     tile_map<B>(1, e.tile_n, e.tile_k),
                     tile_map<D>(2, e.tile_m, box)},
            .clusters = grid.ctas(p.u32("ctas")),
            .registers_per_thread = e.tile_n / 2 + 32,  // accumulators, and the rest
            .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    reference_of<Parts>(tensors);
  }
};

struct GemmWgmmaSerial : GemmWgmmaSerialOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_serial",
                                      ScenarioKind::kClean,
                                      "GEMM for sm_90a by wgmma without warp specialisation"};
};

}  // namespace warptwin::scenarios
