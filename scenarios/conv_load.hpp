/// The load warp of an implicit GEMM, whichever way it finds its pixels.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/sync/cluster_shape.hpp"

#include "scenarios/conv_shape.hpp"
#include "scenarios/gemm_epilogue_source.hpp"

namespace warptwin::scenarios {

/// Loads pixels and filters of `tiles`, and says when a tile's first copies are under way. Calls
/// `begins()` when a tile begins; `first(tile)` says where its pixels are, and
/// `load_x(stage, first, step)` copies those of a k step.
///
/// Participants: the load warp. Blocks: for input.empty and order.empty.
template <class Input, Machine M>
constexpr void load_conv_tiles(M& machine,
                               const auto& problem,
                               const auto& smem,
                               const auto& tiles,
                               auto&& begins,
                               auto&& first,
                               auto&& load_x) {
  auto input = Input{machine, smem.input}.producer();
  auto order = LoadOrderBarrier<M>{machine, smem.order};
  const ClusterShape& cluster = smem.input.cluster;
  const std::uint32_t part = cluster.place_in_group(machine.cta_rank());
  const std::uint32_t first_steps = std::min(smem.input.barriers.stages, problem.k_tiles);
  const auto& e = problem.extents;
  const OperandSlice slice = cluster.slice(Operand::kB, machine.cta_rank());
  const std::uint32_t rows = e.cta_n() / slice.count;
  for (const Tile tile : tiles) {
    begins();
    const auto at = first(tile);
    const auto filter = static_cast<std::int32_t>(
        (cluster.group_ctas() * tile.n + part) * e.cta_n() + slice.index * rows);
    for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
      const auto step = problem.walk.step(k, e.tile_k);
      auto stage = input.acquire_stage();  // waits input.empty, arms full
      load_x(stage, at, step);
      const auto to = stage.payload().b_tile().tile;  // (cta_n, tile_k), of which it copies a slice
      machine.cp_async_bulk_tensor_load(
          to.base + slice.index * rows * to.row_bytes(),
          problem.b,
          Coordinates<3>{{step.c, step.tap, filter}},
          CopyTarget{stage.barrier(), slice.multicast, cluster.group});
      std::move(stage).release();
      if (k + 1 == first_steps) {
        order.arrive_and_step();  // waits order.empty, arrives on full
      }
    }
  }
  input.drain();  // no commit is on its way to input.empty any more
}

}  // namespace warptwin::scenarios
