/// Scenario: the main loop of a GEMM in one CTA, alone: what a kernel's loop can do without
/// contention. The accumulator stays in tensor memory: there is no result to compare. bf16;
/// mainloop_fp8 is the same with e4m3.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A tile + B tile   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.done[0]    1   mma, tcgen05.commit     -                 the accumulator is complete
///
/// A stage of more than 128 bytes of K holds several tiles of 128 bytes of each operand.
///
/// Expected: clean in every interleaving, for every stages >= 1 and any number of steps.

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
#include "common/tile/output_stage.hpp"

namespace warptwin::scenarios {

/// Shapes and depths: constants on a GPU, run-time values in the simulator.
template <std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic>
struct MainloopExtents {
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;  // of a stage
  [[no_unique_address]] Extent<kStages> stages;
};

inline constexpr RoleTable kMainloopRoles{RoleWarps{Role::kMma, 1}, RoleWarps{Role::kLoad, 1}};

/// Tiles of one operand in a stage: rows of a tile are one swizzle span long, 128 bytes at most.
template <class Element>
constexpr std::uint32_t mainloop_group(std::uint32_t tile_k) {
  return ceil_div(tile_k * static_cast<std::uint32_t>(sizeof(typename Element::Storage)), 128);
}

template <class Element, class Extents>
struct MainloopStorage {
  using Input = InputPipelineStorage<GroupPayload<StandardTilePayload<Element, Element>>,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>>;

  constexpr MainloopStorage(auto& layout, const Extents& e)
      : group{mainloop_group<Element>(e.tile_k)},
        input{layout,
              "input",
              kMainloopRoles,
              {},
              {{e.tile_m, e.tile_n, e.tile_k / group}, group},
              e.stages},
        done{layout.barriers(
            {"accum", "done"},
            1,
            contract(Role::kMma, 0, Contributor{Role::kMma, ArrivalKind::kUmmaCommit, 1}))[0]},
        word{layout.word({"tmem", "address"})} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    machine.mbarrier_init(done, 1);
  }

  std::uint32_t group;
  Input input;
  Mbarrier done;
  SharedAddress word;
};

template <class Element, Machine M, class Extents>
struct MainloopKernel {
  using Storage = MainloopStorage<Element, Extents>;
  using Input = PipelineOf<M, typename Storage::Input>;
  static constexpr auto kRoles = kMainloopRoles;

  struct Problem {
    typename M::TensorMap a, b;  // boxes (tile_m, tile_k / group), (tile_n, tile_k / group)
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
    auto input = Input{machine, smem.input}.producer();
    for (std::uint32_t step = 0; step < problem.steps; ++step) {
      auto stage = input.acquire_stage();  // waits input.empty, arms full
      for (std::uint32_t j = 0; j < smem.group; ++j) {
        const TileIndex at{0, step * smem.group + j};
        stage.load(problem.a, at, stage.payload(j).a_tile());
        stage.load(problem.b, at, stage.payload(j).b_tile());
      }
      std::move(stage).release();
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const auto tmem =
        TmemAllocation::allocate(machine, smem.word, problem.extents.tile_n, CtaGroup::kOne);
    auto input = Input{machine, smem.input}.consumer();
    for (std::uint32_t step = 0; step < problem.steps; ++step) {
      auto stage = input.acquire_stage();  // waits input.full
      for (std::uint32_t j = 0; j < smem.group; ++j) {
        const auto tiles = stage.payload(j);
        multiply_tiles(machine,
                       CtaGroup::kOne,
                       tmem.base,
                       tiles.a_tile().tile,
                       tiles.b_tile().tile,
                       step + j == 0 ? Accumulate::kNo : Accumulate::kYes,
                       SourceSite::current());
      }
      std::move(stage).release();  // commits to input.empty
    }
    machine.tcgen05_commit(CtaGroup::kOne, smem.done);
    acquire(machine, smem.done, WaitPhase::number(0), kAcquireCta, SourceSite::current());
    tmem.release_lock(machine);
    tmem.deallocate(machine);
  }
};

/// What the scenarios of every element type share.
template <class Element>
struct MainloopOf {
  static constexpr std::uint32_t kSize = sizeof(typename Element::Storage);
  using StaticExtents = MainloopExtents<128, 128, 128 / kSize, 4>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"k", "columns of A and B", 2048, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of A: 64 or 128", 128, 64, 128},
        {"tile_n", "rows of B", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128 / kSize, 32 / kSize, 1024 / kSize},
        {"stages", "stages of the input ring", 4, 1, 64},
    };
    return kParameters;
  }
  static MainloopExtents<> extents(const ParameterSet& p) {
    return {p.u32("tile_m"), p.u32("tile_n"), p.u32("tile_k"), p.u32("stages")};
  }
  static Workload workload(const ParameterSet& p) {
    const MainloopExtents<> e = extents(p);
    const std::uint32_t k = p.u32("k");
    check_mma_shape(e.tile_m, e.tile_n);
    const std::uint32_t bytes = e.tile_k * kSize;
    require(bytes == 32 || bytes == 64 || bytes % 128 == 0,
            "tile_k=" + std::to_string(bytes / kSize) + " gives a stage " + std::to_string(bytes) +
                " bytes of K; use 32, 64 or a multiple of 128 bytes, as in tile_k=" +
                std::to_string(128 / kSize));
    check_row_pitch("k", k, kSize);
    check_stages_fit<MainloopStorage<Element, MainloopExtents<>>>(e);
    const std::uint32_t box = e.tile_k / mainloop_group<Element>(e.tile_k);
    return {.tensors = {matrix("a", TensorUse::kInput, e.tile_m, k, Element::kType),
                        matrix("b", TensorUse::kInput, e.tile_n, k, Element::kType)},
            .maps = {{0, e.tile_m, box, swizzle_of(box * kSize)},
                     {1, e.tile_n, box, swizzle_of(box * kSize)}},
            .registers_per_thread = 8,
            .flops = std::uint64_t{2} * e.tile_m * e.tile_n * k};
  }
  static void reference(const ParameterSet&, std::span<HostTensor>) {}
};

struct Mainloop : MainloopOf<bf16> {
  static constexpr ScenarioInfo kInfo{
      "mainloop", ScenarioKind::kClean, "one CTA's main loop, bf16: TMA warp and MMA warp"};
  template <Machine M, class Extents>
  using Kernel = MainloopKernel<bf16, M, Extents>;
};

}  // namespace warptwin::scenarios
