/// Scenario: D = A * B^T as in gemm, without warp specialisation: one warp copies and multiplies, a
/// stage at a time, then the epilogue warps store. What a kernel is before its roles are divided.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   mma, elected lane       A tile + B tile   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// With one stage every copy waits for the multiplication before it and every multiplication for
/// its copy; with more, copies are ahead, and each still waits for a multiplication. A stage's rows
/// are cut into `row` elements: one swizzle span, or 16 bytes, which are not swizzled.
///
/// Expected: clean in every interleaving, for every stages >= 1, for any number of tiles, of CTAs,
///           and for edges that cut a tile.

#pragma once

#include <bit>

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

/// `kSize`: bytes of an element.
template <class Tiles = GemmExtents<>, std::uint32_t kRow = kDynamic, std::uint32_t kSize = 2>
struct GemmSerialExtents : Tiles {
  [[no_unique_address]] Extent<kRow> row;  // elements

  constexpr std::uint32_t group() const { return this->tile_k / row; }
  constexpr bool is_swizzled() const { return row * kSize > 16; }
};

inline constexpr RoleTable kGemmSerialRoles{RoleWarps{Role::kEpilogue, 4},
                                            RoleWarps{Role::kMma, 1}};

/// A CTA's shared memory; the names are those of the reports.
template <class Extents, class Parts = GemmParts>
struct GemmSerialStorage {
  using D = typename Parts::D;
  using Tiles = StandardTilePayload<typename Parts::A, typename Parts::B>;
  using Input = InputPipelineStorage<GroupPayload<Tiles>,
                                     From<Role::kMma, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;

  constexpr GemmSerialStorage(auto& layout, const Extents& e)
      : input{layout,
              "input",
              kGemmSerialRoles,
              {},
              {{e.tile_m, e.tile_n, e.row}, e.group()},
              e.stages},
        out{layout, "out", kGemmSerialRoles, e.tile_m, box_columns<D>(e.tile_n)},
        accum{layout, "accum", kGemmSerialRoles, {}, {e.accum_stages, e.tile_n}},
        tmem{layout, "tmem", kGemmSerialRoles, {}} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  OutputTileStorage<D> out;
  Accum accum;
  TmemDeallocStorage<> tmem;
};

template <Machine M, class Extents, class Parts = GemmParts>
struct GemmSerialKernel {
  using A = typename Parts::A;
  using B = typename Parts::B;
  using Storage = GemmSerialStorage<Extents, Parts>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  static constexpr auto kRoles = kGemmSerialRoles;
  struct Problem {
    typename M::TensorMap a, b, d;  // boxes (tile_m, row), (tile_n, row), (tile_m, box)
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_tiles;
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.tile_m, e.tile_n);
    return {maps[0], maps[1], maps[2], e, grid, ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // allocates, hands over
    auto input = Input{machine, smem.input};
    const std::uint32_t stages = problem.extents.stages;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      for (std::uint32_t k = 0; k < problem.k_tiles + stages; ++k) {
        if (k >= stages) {
          auto stage = input.acquire_consumer();  // waits input.full
          multiply(machine, problem, smem, accum, stage, k == stages);
          std::move(stage).release();  // commits to input.empty
        }
        if (k < problem.k_tiles) {
          load_stage(problem, input, tile, k);
        }
      }
      std::move(accum).release();  // commits to accum.full
    }
    input.drain_producer();     // no commit is on its way to input.empty any more
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.apply(typename Parts::Function{}, columns);
        registers.store(writer.acquire());  // (tile_m, box_columns) of D, written by all warps
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();  // arrives on accum.empty
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }

 private:
  static constexpr void load_stage(const Problem& problem,
                                   Input& input,
                                   const Tile& tile,
                                   std::uint32_t k) {
    auto stage = input.acquire_producer();  // waits input.empty, arms full
    const std::uint32_t group = problem.extents.group();
    for (std::uint32_t j = 0; j < group; ++j) {
      const auto tiles = stage.payload(j);
      stage.load(problem.a, {tile.m, k * group + j}, tiles.a_tile());  // (tile_m, row)
      stage.load(problem.b, {tile.n, k * group + j}, tiles.b_tile());  // (tile_n, row)
    }
    std::move(stage).release();
  }

  // Rows of 16 bytes: a slot is a column of core matrices, and an instruction takes two of them.
  static constexpr void multiply(M& machine,
                                 const Problem& problem,
                                 const Storage& smem,
                                 const auto& accum,
                                 const auto& stage,
                                 bool first) {
    const Extents& e = problem.extents;
    if (e.is_swizzled()) {
      for (std::uint32_t j = 0; j < e.group(); ++j) {
        accum.multiply(stage.payload(j), first && j == 0 ? Accumulate::kNo : Accumulate::kYes);
      }
      return;
    }
    const auto instruction =
        UmmaInstructionDescriptor::make(A::kType, B::kType, e.tile_m, e.tile_n);
    const std::uint32_t slot = smem.input.payload.slot_bytes();
    for (std::uint32_t j = 0; j < e.group(); j += 2) {
      const auto tiles = stage.payload(j);
      const auto descriptor = [&](const auto& tile) {
        return UmmaSmemDescriptor::make(tile.base, slot, 8 * tile.row_bytes(), Swizzle::kNone);
      };
      machine.tcgen05_mma(CtaGroup::kOne,
                          accum.tmem().address(),
                          descriptor(tiles.a_tile().tile),
                          descriptor(tiles.b_tile().tile),
                          instruction,
                          !first || j > 0);
    }
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmSerialOf : GemmOf<Parts> {
  using Base = GemmOf<Parts>;
  using Base::kSize;
  using Base::kTileK;
  using StaticExtents = GemmSerialExtents<GemmExtents<128, 128, kTileK, 2, 1>, kTileK, kSize>;
  using Extents = GemmSerialExtents<GemmExtents<>, kDynamic, kSize>;
  template <Machine M, class Extents>
  using Kernel = GemmSerialKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of a tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 128, 16, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, 8 * kTileK},
        {"row", "of which lie in one row: 16, 32, 64 or 128 bytes", kTileK, kTileK / 8, kTileK},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 1, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("row")}; }
  static Workload workload(const ParameterSet& p) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const Extents e = extents(p);
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    const std::uint32_t row = e.row;
    check_row_pitch("k", k, kSize);
    check_mma_shape(e.tile_m, e.tile_n, CtaGroup::kOne, kind_of(A::kType));
    require(std::has_single_bit(row * kSize) && row * kSize >= 16,
            "row=" + std::to_string(row) +
                " is neither a swizzle span nor 16 bytes; use row=" + std::to_string(kTileK));
    const std::uint32_t unit = e.is_swizzled() ? row : 2 * row;
    require(e.tile_k % unit == 0,
            "tile_k=" + std::to_string(e.tile_k) + " is not made of rows of " +
                std::to_string(row) + "; use a multiple of " + std::to_string(unit));
    check_tmem_columns(e.accum_stages, e.tile_n);
    check_stages_fit<GemmSerialStorage<Extents, Parts>>(e);
    const std::uint32_t box = box_columns<D>(e.tile_n);
    const TileGrid tiles = TileGrid::covering(m, n, e.tile_m, e.tile_n);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k, A::kType),
                        matrix("b", TensorUse::kInput, n, k, B::kType),
                        matrix("d", TensorUse::kOutput, m, n, D::kType)},
            .maps = {{0, e.tile_m, e.row, swizzle_of(row * kSize)},
                     {1, e.tile_n, e.row, swizzle_of(row * kSize)},
                     tile_map<D>(2, e.tile_m, box)},
            .clusters = tiles.ctas(p.u32("ctas")),
            .registers_per_thread = 80,
            .flops = std::uint64_t{2} * m * n * k};
  }
};

struct GemmSerial : GemmSerialOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_serial", ScenarioKind::kClean, "GEMM without warp specialisation"};
};

}  // namespace warptwin::scenarios
