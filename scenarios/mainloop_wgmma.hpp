/// Scenario: the main loop of a GEMM for sm_90a in one CTA, alone: a TMA warp, and one warpgroup
/// that multiplies by wgmma for each 64 rows. The accumulators stay in registers: there is no
/// result to compare. bf16.
///
/// Barrier         Arrivals per phase                 Bytes per phase   Completion means
/// input.full[s]   1   load, elected lane             A tile + B tile   stage s may be read
/// input.empty[s]  8   mma, elected lane of a warp    -                 stage s may be overwritten
///
/// Of 64 rows half as many warps multiply.
///
/// `in_flight` groups of products are under way while the next stage is waited for: with 1, a stage
/// is freed when the one after it has come and its own products are done.
///
/// Expected: clean in every interleaving, for every stages > in_flight and any number of steps.

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/warpgroup_mma.hpp"

namespace warptwin::scenarios {

/// Shapes and depths: constants on a GPU, run-time values in the simulator.
template <std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kInFlight = kDynamic>
struct MainloopWgmmaExtents {
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;
  [[no_unique_address]] Extent<kStages> stages;
  [[no_unique_address]] Extent<kInFlight> in_flight;
};

template <class Extents>
struct MainloopWgmmaStorage {
  using Input = InputPipelineStorage<StandardTilePayload<bf16, bf16>,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, ElectedLane>>;

  constexpr MainloopWgmmaStorage(auto& layout, const Extents& e)
      : input{
            layout, "input", wgmma_roles(e.tile_m), {}, {e.tile_m, e.tile_n, e.tile_k}, e.stages} {}
  constexpr void init(Machine auto& machine) const { input.init(machine); }

  Input input;
};

template <Machine M, class Extents>
struct MainloopWgmmaKernel {
  using Storage = MainloopWgmmaStorage<Extents>;
  using Input = PipelineOf<M, typename Storage::Input>;
  static constexpr RoleTable kRoles = wgmma_roles(128);

  struct Problem {
    typename M::TensorMap a, b;  // boxes (tile_m, tile_k), (tile_n, tile_k)
    [[no_unique_address]] Extents extents;
    std::uint32_t steps;
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return {maps[0], maps[1], e, ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    if (wgmma_moves_registers(problem.extents.tile_m)) {
      machine.template setmaxnreg_dec<40>();
    }
    if (machine.warp_index() != kRoles.first_warp(Role::kLoad)) {
      return;  // the rest of the warpgroup is there to give its registers
    }
    auto input = Input{machine, smem.input}.producer();
    for (std::uint32_t step = 0; step < problem.steps; ++step) {
      auto stage = input.acquire_stage();  // waits input.empty, arms full
      stage.load(problem.a, {0, step}, stage.payload().a_tile());
      stage.load(problem.b, {0, step}, stage.payload().b_tile());
      std::move(stage).release();
    }
    input.drain();  // no arrival is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * kWgmmaRows;
    if (first_row >= e.tile_m) {
      return;
    }
    if (wgmma_moves_registers(problem.extents.tile_m)) {
      machine.template setmaxnreg_inc<232>();
    }
    auto input = Input{machine, smem.input}.consumer();
    typename M::template Accumulator<decltype(e.tile_n)> d{machine, e.tile_n};
    multiply_stages(machine, input, d, first_row, KSteps{problem.steps}, e.in_flight);
  }
};

struct MainloopWgmma {
  static constexpr ScenarioInfo kInfo{"mainloop_wgmma",
                                      ScenarioKind::kClean,
                                      "one CTA's main loop for sm_90a, bf16: TMA warp and wgmma"};
  using StaticExtents = MainloopWgmmaExtents<128, 128, 64, 4, 1>;
  template <Machine M, class Extents>
  using Kernel = MainloopWgmmaKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"k", "columns of A and B", 2048, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of A: 64 or 128", 128, 64, 128},
        {"tile_n", "rows of B", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage: 16, 32 or 64", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"in_flight", "groups of products under way while a stage is waited for", 1, 0, 1},
    };
    return kParameters;
  }
  static MainloopWgmmaExtents<> extents(const ParameterSet& p) {
    return {p.u32("tile_m"), p.u32("tile_n"), p.u32("tile_k"), p.u32("stages"), p.u32("in_flight")};
  }
  static Workload workload(const ParameterSet& p) {
    const MainloopWgmmaExtents<> e = extents(p);
    const std::uint32_t k = p.u32("k");
    check_wgmma_tile(e.tile_m, e.tile_n, e.tile_k, 2);
    check_wgmma_stages(e.stages, e.in_flight);
    check_row_pitch("k", k, 2);
    check_stages_fit<MainloopWgmmaStorage<MainloopWgmmaExtents<>>>(e);
    return {.tensors = {matrix("a", TensorUse::kInput, e.tile_m, k, ElementType::kBf16),
                        matrix("b", TensorUse::kInput, e.tile_n, k, ElementType::kBf16)},
            .maps = {{0, e.tile_m, e.tile_k, swizzle_of(2 * e.tile_k)},
                     {1, e.tile_n, e.tile_k, swizzle_of(2 * e.tile_k)}},
            .registers_per_thread = 168,
            .flops = std::uint64_t{2} * e.tile_m * e.tile_n * k};
  }
  static void reference(const ParameterSet&, std::span<HostTensor>) {}
};

}  // namespace warptwin::scenarios
