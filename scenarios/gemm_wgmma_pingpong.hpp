/// Scenario: D = A * B^T for sm_90a as in gemm_wgmma, with two warpgroups that take turns: each
/// multiplies whole tiles, every second one of its CTA, and stores a tile while the other
/// multiplies. So the tensor core has work while results leave, which a short K needs most.
///
/// Barrier         Arrivals per phase                 Bytes per phase   Completion means
/// input.full[s]   1   load, elected lane             A tile + B tile   stage s may be read
/// input.empty[s]  4   mma, elected lane of a warp    -                 stage s may be overwritten
/// order.turn[w]   4   mma, elected lane of a warp    -                 warpgroup w may multiply
///
/// One ring feeds both: a warpgroup passes over the stages of the other's tile. It must not wait
/// for a stage of its own before the other has waited for all before it: input.full[s] may be two
/// phases behind then, and its parity would let the wait pass. In a cluster the warps of every CTA
/// free a stage. Each warp stores its own rows, and a warpgroup has buffers of its own.
///
/// Expected: clean in every interleaving, for every stages > in_flight, any number of tiles, of
///           CTAs, and for edges that cut a tile.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "common/kernel/parameter_table.hpp"
#include "common/pipeline/ordered_sequence.hpp"

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

template <class Extents, class Parts>
struct GemmWgmmaPingpongStorage {
  static_assert(kWgmmaByWarps<Parts>, "the warpgroups store at different times");
  using D = typename Parts::D;
  using Input = typename GemmWgmmaStorage<Extents, Parts>::Input;
  static constexpr std::uint32_t kWarpgroups = 2;  // that take turns

  constexpr GemmWgmmaPingpongStorage(auto& layout, const Extents& e)
      : input{layout,
              "input",
              wgmma_roles(kWgmmaRows),  // one warpgroup frees a stage
              e.cluster(),
              {e.tile_m, e.tile_n, e.tile_k},
              e.stages},
        out{layout,
            "out",
            wgmma_roles(kWgmmaRows),
            kWgmmaRows,
            wgmma_box_columns<Parts>(e.tile_n),
            1,
            kWarpgroups},
        order{layout, "order", wgmma_roles(kWgmmaRows), kWarpgroups} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    order.init(machine);
  }

  Input input;
  OutputTileStorage<D, Role::kMma> out;
  OrderedSequenceStorage<Role::kMma> order;
};

/// How a warpgroup keeps to its turns. A twin replaces one of them.
struct PingpongSteps {
  static constexpr void wait(const auto& order) { order.wait(); }
  /// The stages of the other warpgroup's tile.
  static constexpr void pass_over(auto& input, std::uint32_t steps) { input.skip(steps); }
};

template <Machine M, class Extents, class Parts, class Steps = PingpongSteps>
struct GemmWgmmaPingpongKernel
    : GemmWgmmaKernel<M, Extents, Parts, GemmWgmmaPingpongStorage<Extents, Parts>> {
  using Storage = GemmWgmmaPingpongStorage<Extents, Parts>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Problem = GemmWgmmaOwnRowsProblem<M, Extents>;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    if (wgmma_moves_registers(e.tile_m)) {
      machine.template setmaxnreg_inc<232>();
    }
    auto input = Input{machine, smem.input}.consumer();
    auto writer =
        TileWriter<M, typename Parts::D, Role::kMma, StoredBy::kEachWarp>{machine, smem.out};
    auto d = TallAccumulator{machine, e.tile_m, e.tile_n};
    const std::uint32_t warpgroup = machine.warp_index() / kWarpsPerWarpgroup;
    auto order = OrderedSequence{machine, smem.order, warpgroup};
    bool mine = warpgroup == 0;  // the first tile is the first warpgroup's
    for (const Tile tile : problem.tiles(machine)) {
      if (mine) {
        Steps::wait(order);
        multiply_stages(machine, input, d, 0, problem.k_steps, e.in_flight, [&] { order.pass(); });
        store(machine, writer, problem, tile, d);
      } else {
        Steps::pass_over(input, problem.k_steps.count);
      }
      mine = !mine;
    }
    writer.drain();  // the stores are complete
  }

 private:
  /// Stores the tile of a warpgroup.
  static constexpr void store(
      M& machine, auto& writer, const Problem& problem, Tile tile, auto& d) {
    const Extents& e = problem.extents;
    d.for_each_part([&](auto& part, std::uint32_t row) {
      if constexpr (!std::is_same_v<typename Parts::Function, Unchanged>) {
        part.transform(typename Parts::Function{});
      }
      const std::uint32_t box = (tile.m * e.tile_m + row) / kWgmmaRows;
      store_own_rows(machine, writer, problem.d, problem.rest, {box, tile.n}, part, e.tile_n);
    });
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmWgmmaPingpongOf : GemmWgmmaOf<StoredByWarps<Parts>> {
  using Base = GemmWgmmaOf<StoredByWarps<Parts>>;
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaPingpongKernel<M, Extents, StoredByWarps<Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Base::parameters(),
        {{"tile_m", "rows of a tile of D: 64 or 128", 128, 64, 128},
         {"ctas", "CTAs that share the tiles; 0: one for each, and no turns", 4, 0, 1 << 16}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    const GemmWgmmaExtents<> e = Base::extents(p);
    require(e.tile_m <= kWgmmaRows || e.tile_n <= kTallColumns,
            "a warpgroup has registers for 128 x " + std::to_string(kTallColumns) +
                " sums, and a tile is " + std::to_string(e.tile_m) + " x " +
                std::to_string(e.tile_n) + "; use a smaller tile_n");
    check_stages_fit<GemmWgmmaPingpongStorage<GemmWgmmaExtents<>, StoredByWarps<Parts>>>(e);
    return Base::workload(p);
  }
};

struct GemmWgmmaPingpong : GemmWgmmaPingpongOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_pingpong",
      ScenarioKind::kClean,
      "GEMM for sm_90a: two warpgroups take turns, one multiplies while the other stores"};
};

}  // namespace warptwin::scenarios
