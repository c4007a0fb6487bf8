/// Scenario: D = A * B^T + beta * C, or A * B^T and a bias for each column: gemm, and a fourth role
/// that brings the epilogue what it adds, through a ring of its own.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   part    part c of the source may be read
/// source.empty[c]  128 epilogue, every lane          -       part c may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// A part is a box of C: the epilogue waits for each and frees each; or, with `source`, all the
/// boxes of a tile of C, one phase for several copies; or a tile's biases, one row of fp32. These
/// the epilogue waits for once a tile, and holds until it has added their last column.
///
/// The source is wanted last, so a tile's is asked for after its first ring of A and B: that is
/// what `order` says. Its empty side holds the load warp back, which could else go on by two phases
/// before the epilogue-load warp has looked.
///
/// Expected: clean in every interleaving, for each kind of source, every depth of the rings, any
///           number of tiles, of CTAs, of k steps, and for edges that cut a tile.

#pragma once

#include <algorithm>
#include <vector>

#include "common/tile/epi_load_pipeline.hpp"
#include "common/tile/load_order_barrier.hpp"

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

/// What the epilogue adds, and how much of it is a stage of its ring.
enum class EpilogueSource : std::uint32_t {
  kBoxes,   // a matrix, box by box
  kTiles,   // a matrix, tile by tile
  kBiases,  // a row for all rows, a tile's columns at a time
};

/// A kernel that does not let its source be chosen has it in boxes.
template <class Tiles = GemmExtents<>,
          std::uint32_t kSourceStages = kDynamic,
          std::uint32_t kSource = static_cast<std::uint32_t>(EpilogueSource::kBoxes)>
struct GemmEpilogueLoadExtents : Tiles {
  [[no_unique_address]] Extent<kSourceStages> source_stages;
  // A constant beside values takes room: nvcc and the host's compiler differ where it does not.
  Extent<kSource> source{};

  constexpr bool has(EpilogueSource one) const { return source == static_cast<std::uint32_t>(one); }
};

inline constexpr RoleTable kGemmEpilogueLoadRoles{RoleWarps{Role::kEpilogue, 4},
                                                  RoleWarps{Role::kMma, 1},
                                                  RoleWarps{Role::kLoad, 1},
                                                  RoleWarps{Role::kEpilogueLoad, 1}};

/// The copies that bring a tile its source, from left to right, and how many of them are a stage.
struct SourceCopies {
  std::uint32_t columns;  // of one copy
  std::uint32_t bytes;    // of one copy
  std::uint32_t of_tile;
  std::uint32_t of_stage;

  constexpr SourceCopies(const auto& e, const SharedTile<bf16>& box)
      : columns{box.columns},
        bytes{box.bytes()},
        of_tile{e.tile_n / box.columns},
        of_stage{e.has(EpilogueSource::kTiles) ? of_tile : 1} {
    if (e.has(EpilogueSource::kBiases)) {
      columns = e.tile_n;
      bytes = e.tile_n * 4;
      of_tile = 1;
    }
  }
};

/// What gemm has, and the two rings of the new role.
template <class Extents>
struct GemmEpilogueLoadStorage : GemmStorage<Extents> {
  constexpr GemmEpilogueLoadStorage(auto& layout, const Extents& e)
      : GemmStorage<Extents>{layout, e},
        copies{e, this->out.first},
        source{layout,
               "source",
               kGemmEpilogueLoadRoles,
               e.source_stages,
               copies.of_stage * copies.bytes,
               kTileAlignment},
        order{layout, "order", kGemmEpilogueLoadRoles, kLoadOrderStages} {}
  constexpr void init(Machine auto& machine) const {
    GemmStorage<Extents>::init(machine);
    source.init(machine);
    order.init(machine);
  }
  /// A box of C lies in its stage as a box of D does in its buffer.
  constexpr SharedTile<bf16> source_tile(std::uint32_t stage, std::uint32_t box = 0) const {
    const SharedTile<bf16>& shape = this->out.first;
    const SharedAddress base = source.tile(stage) + box * copies.bytes;
    return {base, shape.rows, shape.columns, shape.swizzle};
  }

  SourceCopies copies;
  EpiLoadPipelineStorage source;
  LoadOrderBarrierStorage order;
};

/// The MMA warp is gemm's: it knows nothing of C.
template <Machine M, class Extents>
struct GemmEpilogueLoadKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Storage = GemmEpilogueLoadStorage<Extents>;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  static constexpr auto kRoles = kGemmEpilogueLoadRoles;
  struct Problem : Base::Problem {
    typename M::TensorMap c;  // box as of d; of biases (1, tile_n)
    float beta;
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    return {Base::problem(p, e, maps, tensors), maps[3], static_cast<float>(p["beta"])};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const std::uint32_t first_steps = std::min(smem.input.barriers.stages, problem.k_tiles);
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());  // (tile_m, tile_k) bf16
        stage.load(problem.b, {tile.n, k}, stage.payload().b_tile());  // (tile_n, tile_k) bf16
        std::move(stage).release();
        if (k + 1 == first_steps) {
          order.arrive_and_step();  // waits order.empty, arrives on full
        }
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const SourceCopies& copies = smem.copies;
    const bool is_row = problem.extents.has(EpilogueSource::kBiases);
    for (const Tile tile : problem.tiles(machine)) {
      order.wait_and_step();  // waits order.full, arrives on empty
      const std::uint32_t row = is_row ? 0 : tile.m * smem.out.first.rows;
      for (std::uint32_t copy = 0; copy < copies.of_tile; copy += copies.of_stage) {
        auto stage = source.acquire_producer();  // waits source.empty, arms full
        for (std::uint32_t i = 0; i < copies.of_stage; ++i) {
          const std::uint32_t column = (tile.n * copies.of_tile + copy + i) * copies.columns;
          stage.load(
              problem.c,  // (tile_m, box_columns) bf16, or (1, tile_n) fp32
              Coordinates<2>{{static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)}},
              smem.source.tile(stage.index()) + i * copies.bytes);
        }
        std::move(stage).release();
      }
    }
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    const auto add = [&](std::uint32_t stage, std::uint32_t box) {
      if (problem.extents.has(EpilogueSource::kBiases)) {
        registers.add_row(smem.source.tile(stage) + box * columns * 4, columns);
      } else {
        registers.add_scaled(smem.source_tile(stage, box), problem.beta);
      }
    };
    const auto add_box = [&] {
      auto stage = source.acquire_consumer();  // waits source.full
      add(stage.index(), 0);
      machine.fence_proxy_async(ProxySpace::kSharedCta);  // the next copy comes after these reads
      std::move(stage).release();                         // arrives on source.empty
    };
    const auto store = [&](Tile tile, std::uint32_t box) {
      registers.store(writer.acquire());  // (tile_m, box_columns) bf16, written by all warps
      writer.store(problem.d, {tile.m, tile.n * boxes + box});
    };
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      if (problem.extents.has(EpilogueSource::kBoxes)) {
        for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
          registers.load(accum, box * columns, columns);
          add_box();
          store(tile, box);
        }
        registers.load(accum, (boxes - 1) * columns, columns);
        std::move(accum).release();  // arrives on accum.empty
        add_box();
      } else {
        auto stage = source.acquire_consumer();  // waits source.full: all of the tile's source
        for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
          registers.load(accum, box * columns, columns);
          add(stage.index(), box);
          store(tile, box);
        }
        registers.load(accum, (boxes - 1) * columns, columns);
        std::move(accum).release();  // arrives on accum.empty
        add(stage.index(), boxes - 1);
        machine.fence_proxy_async(ProxySpace::kSharedCta);  // as above, for the reads of all boxes
        std::move(stage).release();                         // arrives on source.empty
      }
      store(tile, boxes - 1);
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

struct GemmEpilogueLoad : Gemm {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load",
                                      ScenarioKind::kClean,
                                      "persistent GEMM whose epilogue adds a matrix loaded by TMA"};
  using StaticExtents = GemmEpilogueLoadExtents<GemmExtents<128, 128, 64, 4, 2>, 2>;
  using DynamicExtents = GemmEpilogueLoadExtents<GemmExtents<>, kDynamic, kDynamic>;
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A, C and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of C and D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 1024, 1, 1 << 20, "tile_k"},
        {"source", "0: C box by box, 1: C tile by tile, 2: biases", 0, 0, 2, nullptr, true},
        {"beta", "factor of C; biases have none", 2, -64, 64},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes or tiles of C, or tiles' biases, in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static DynamicExtents extents(const ParameterSet& p) {
    return {Gemm::extents(p), p.u32("source_stages"), p.u32("source")};
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Gemm::workload(p);
    workload.registers_per_thread = 104;
    check_rows_fill_lanes(p.u32("tile_m"));
    const DynamicExtents e = extents(p);
    check_source_fits(e);
    check_stages_fit<GemmEpilogueLoadStorage<DynamicExtents>>(e);
    if (e.has(EpilogueSource::kBiases)) {
      workload.tensors.push_back(
          matrix("bias", TensorUse::kInput, 1, p.u32("n"), ElementType::kF32));
      workload.maps.push_back({3, 1, e.tile_n, Swizzle::kNone});
      return workload;
    }
    workload.tensors.push_back(matrix("c", TensorUse::kInput, p.u32("m"), p.u32("n")));
    workload.maps.push_back(workload.maps[2]);
    workload.maps[3].tensor = 3;
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    multiply_reference(tensors[0], tensors[1], tensors[2]);
    const bool is_row = extents(p).has(EpilogueSource::kBiases);
    const float factor = is_row ? 1.0F : static_cast<float>(p["beta"]);
    const std::vector<float>& source = tensors[3].values;
    for (std::size_t i = 0; i < tensors[2].values.size(); ++i) {
      tensors[2].values[i] += factor * source[is_row ? i % tensors[2].spec.columns : i];
    }
  }

 private:
  /// Refuses a `source_stages` beside which not one stage of A and B fits.
  static void check_source_fits(DynamicExtents e) {
    const std::uint32_t wanted = e.source_stages;
    std::uint32_t fitting = wanted;
    e.stages = 1;
    while (shared_bytes<GemmEpilogueLoadStorage<DynamicExtents>>(e) > kSharedBytesPerCtaMax) {
      e.source_stages = --fitting;  // ends: any tile fits once
    }
    require(fitting == wanted,
            "source_stages=" + std::to_string(wanted) +
                " leave no shared memory for a stage of A and B; use source_stages<=" +
                std::to_string(fitting));
  }
};

}  // namespace warptwin::scenarios
