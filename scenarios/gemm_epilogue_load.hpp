/// Scenario: D = A * B^T + beta * C: gemm, and a fourth role that brings C to the epilogue, box by
/// box, through a ring of its own.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   box     box c of C may be read
/// source.empty[c]  128 epilogue, every lane          -       box c of C may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// C is wanted last, so a tile's C is asked for after its first ring of A and B: that is what
/// `order` says. Its empty side holds the load warp back, which could else go on by two phases
/// before the epilogue-load warp has looked.
///
/// Expected: clean in every interleaving, for every depth of the rings, any number of tiles, of
///           CTAs, of k steps, and for edges that cut a tile.

#pragma once

#include <algorithm>

#include "common/tile/epi_load_pipeline.hpp"
#include "common/tile/load_order_barrier.hpp"

#include "scenarios/gemm.hpp"

namespace warptwin::scenarios {

template <class Tiles = GemmExtents<>, std::uint32_t kSourceStages = kDynamic>
struct GemmEpilogueLoadExtents : Tiles {
  [[no_unique_address]] Extent<kSourceStages> source_stages;
};

inline constexpr RoleTable kGemmEpilogueLoadRoles{RoleWarps{Role::kEpilogue, 4},
                                                  RoleWarps{Role::kMma, 1},
                                                  RoleWarps{Role::kLoad, 1},
                                                  RoleWarps{Role::kEpilogueLoad, 1}};

/// What gemm has, and the two rings of the new role.
template <class Extents>
struct GemmEpilogueLoadStorage : GemmStorage<Extents> {
  constexpr GemmEpilogueLoadStorage(auto& layout, const Extents& e)
      : GemmStorage<Extents>{layout, e},
        source{layout,
               "source",
               kGemmEpilogueLoadRoles,
               e.source_stages,
               this->out.first.bytes(),
               kTileAlignment},
        order{layout, "order", kGemmEpilogueLoadRoles, kLoadOrderStages} {}
  constexpr void init(Machine auto& machine) const {
    GemmStorage<Extents>::init(machine);
    source.init(machine);
    order.init(machine);
  }
  /// A box of C lies in its stage as a box of D does in its buffer.
  constexpr SharedTile<bf16> source_tile(std::uint32_t stage) const {
    const SharedTile<bf16>& box = this->out.first;
    return {source.tile(stage), box.rows, box.columns, box.swizzle};
  }

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
    typename M::TensorMap c;  // box as of d
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
    const SharedTile<bf16>& box_shape = smem.out.first;
    const std::uint32_t boxes = problem.extents.tile_n / box_shape.columns;
    for (const Tile tile : problem.tiles(machine)) {
      order.wait_and_step();  // waits order.full, arrives on empty
      for (std::uint32_t box = 0; box < boxes; ++box) {
        const Coordinates<2> at{
            {static_cast<std::int32_t>((tile.n * boxes + box) * box_shape.columns),
             static_cast<std::int32_t>(tile.m * box_shape.rows)}};
        auto stage = source.acquire_producer();  // waits source.empty, arms full
        stage.load(problem.c, at, smem.source.tile(stage.index()));  // (tile_m, box_columns) bf16
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
    const auto blend_and_store = [&](Tile tile, std::uint32_t box) {
      auto stage = source.acquire_consumer();  // waits source.full
      registers.add_scaled(smem.source_tile(stage.index()), problem.beta);
      machine.fence_proxy_async(ProxySpace::kSharedCta);  // the next copy comes after these reads
      std::move(stage).release();                         // arrives on source.empty
      registers.store(writer.acquire());  // (tile_m, box_columns) bf16, written by all warps
      writer.store(problem.d, {tile.m, tile.n * boxes + box});
    };
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        blend_and_store(tile, box);
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on accum.empty
      blend_and_store(tile, boxes - 1);
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
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A, C and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of C and D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 1024, 1, 1 << 20, "tile_k"},
        {"beta", "factor of C", 2, -64, 64},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of C in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static GemmEpilogueLoadExtents<> extents(const ParameterSet& p) {
    return {Gemm::extents(p), p.u32("source_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Gemm::workload(p);
    check_rows_fill_lanes(p.u32("tile_m"));
    check_stages_fit<GemmEpilogueLoadStorage<GemmEpilogueLoadExtents<>>>(extents(p));
    workload.tensors.push_back(matrix("c", TensorUse::kInput, p.u32("m"), p.u32("n")));
    workload.maps.push_back(workload.maps[2]);
    workload.maps[3].tensor = 3;
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    multiply_reference(tensors[0], tensors[1], tensors[2]);
    for (std::size_t i = 0; i < tensors[2].values.size(); ++i) {
      tensors[2].values[i] += static_cast<float>(p["beta"]) * tensors[3].values[i];
    }
  }
};

}  // namespace warptwin::scenarios
