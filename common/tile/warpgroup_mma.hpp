/// The main loop of a warpgroup that multiplies by wgmma: its accumulator is in registers, and it
/// frees stages itself, since nothing else knows when a wgmma has read them.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_tile.hpp"

namespace warptwin {

/// Roles of a CTA whose `rows` rows are multiplied by a warpgroup for each 64, and loaded for by one
/// warp; the rest of that one's warpgroup is there to give registers.
constexpr RoleTable<2> wgmma_roles(std::uint32_t rows) {
  return {{RoleWarps{Role::kMma, rows / kWgmmaRows * kWarpsPerWarpgroup},
           RoleWarps{Role::kLoad, kWarpsPerWarpgroup}}};
}
/// With three warpgroups a thread starts with 168 registers; an accumulator may need more.
constexpr bool wgmma_moves_registers(std::uint32_t rows) {
  return rows > kWgmmaRows;
}

/// D = A * B^T (+ D where `accumulate`) for the rows of A from `first_row` on, all rows of B, and
/// the whole K of two tiles: one group of products, on its way when this returns.
///
/// Shape:        rows of 32, 64 or 128 bytes; `d` has as many columns as `b` rows.
/// Participants: the whole warpgroup. Blocks: never.
template <Machine M, class D, class Element>
constexpr void multiply_group(M& machine,
                              D& d,
                              const SharedTile<Element>& a,
                              std::uint32_t first_row,
                              const SharedTile<Element>& b,
                              bool accumulate,
                              SourceSite site = SourceSite::current()) {
  machine.wgmma_fence(site);
  for (std::uint32_t k = 0; k < a.row_bytes(); k += kWgmmaKBytes) {
    machine.wgmma(d,
                  WgmmaSmemDescriptor<Element>::k_major(a, first_row, k),
                  WgmmaSmemDescriptor<Element>::k_major(b, 0, k),
                  accumulate || k != 0,
                  site);
  }
  machine.wgmma_commit_group(site);
}

/// Multiplies `steps` stages of an input ring into `d`, and settles it. With `in_flight` 1 the group
/// of a stage is still under way while the next stage is waited for, and its stage is freed after
/// that; with 0 every stage is freed before.
///
/// Participants: the whole warpgroup; each warp frees for itself. Blocks: until every product is
///               done.
/// Requires:     `in_flight` is 0 or 1, and less than the stages of the ring.
template <Machine M, class Input, class D>
constexpr void multiply_stages(M& machine,
                               Input& input,
                               D& d,
                               std::uint32_t first_row,
                               std::uint32_t steps,
                               std::uint32_t in_flight) {
  Mbarrier before{};
  for (std::uint32_t step = 0; step < steps; ++step) {
    auto stage = input.acquire_stage();  // waits input.full
    multiply_group(machine,
                   d,
                   stage.payload().a_tile().tile,
                   first_row,
                   stage.payload().b_tile().tile,
                   step != 0);
    if (in_flight == 0) {
      machine.template wgmma_wait_group<0>();
      input.free(stage.mbar());
    } else {
      machine.template wgmma_wait_group<1>();
      if (step != 0) {
        input.free(before);  // it has been read
      }
    }
    before = stage.mbar();
    std::move(stage).release_without_signal();
  }
  machine.template wgmma_wait_group<0>(d);
  if (in_flight != 0 && steps != 0) {
    input.free(before);
  }
}

}  // namespace warptwin
