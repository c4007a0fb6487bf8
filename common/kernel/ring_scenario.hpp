/// A scenario in one function: a warp fills the stages of a ring with tiles of a matrix, another
/// warp empties them into a second matrix.
///
///   struct FirstRing : RingScenario<FirstRing> {
///     static constexpr ScenarioInfo kInfo{"first_ring", ScenarioKind::kClean, "..."};
///     static constexpr void kernel(auto& warp);
///   };
///
/// Both warps run `kernel`. `warp.produce(...)` does nothing in the consumer, `warp.consume(...)`
/// nothing in the producer. Barriers, roles, storage, parameters and tensors follow.
///
/// Barrier         Arrivals per phase           Bytes per phase   Completion means
/// ring.full[s]    1  producer, elected lane    one tile          stage s may be read
/// ring.empty[s]   32 consumer, every lane      -                 stage s may be overwritten
///
/// A kernel that needs more says its parts itself: `scenarios/producer_consumer.hpp` is the same
/// ring written out.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/element.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/producer_consumer_pipeline.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

inline constexpr std::uint32_t kRingTileRows = 32;     // of a tile
inline constexpr std::uint32_t kRingTileColumns = 64;  // of a tile, bf16

/// Who fills the ring, and who empties it.
inline constexpr RoleTable kRingRoles{RoleWarps{Role::kProducer, 1}, RoleWarps{Role::kConsumer, 1}};

/// The numbers of a launch: constants on a GPU, parameters in the simulator.
template <std::uint32_t kTiles = kDynamic, std::uint32_t kStages = kDynamic>
struct RingExtents {
  [[no_unique_address]] Extent<kTiles> tiles;    // trips: tiles that each role handles
  [[no_unique_address]] Extent<kStages> stages;  // of the ring
};

/// What stands in shared memory: the ring.
template <class Extents>
struct RingScenarioStorage {
  /// One elected lane arms a stage with the bytes of a tile; each lane of the consumer frees it.
  using Ring = RingStorage<From<Role::kProducer, TmaBytes>, To<Role::kConsumer, EveryLane>>;

  /// Asks `layout` for `extents.stages` tiles of 4096 bytes and their barriers.
  constexpr RingScenarioStorage(auto& layout, const Extents& extents)
      : ring{layout,
             "ring",
             kRingRoles,
             extents.stages,
             kRingTileRows * kRingTileColumns * sizeof(bf16::Storage)} {}
  /// Initialises the barriers. Participants: one elected lane of one warp, in `start_cluster`.
  constexpr void init(Machine auto& machine) const { ring.init(machine); }

  Ring ring;  // the tiles and their barriers
};

/// A stage to be filled, inside `produce`.
template <Machine M>
class StageToFill {
 public:
  /// Made by `produce`: `smem` is the stage's tile, `full` its armed full barrier.
  constexpr StageToFill(M& machine, SharedAddress smem, Mbarrier full)
      : machine_{&machine}, smem_{smem}, full_{full} {}

  constexpr SharedAddress smem() const { return smem_; }  // the tile: 32 rows of 64 bf16
  /// Copies the box of a tensor map at `at` into the stage, and so fills it.
  ///
  /// Participants: the whole warp; one elected lane issues. Blocks: never.
  constexpr void load(const typename M::TensorMap& map,
                      Coordinates<2> at,
                      SourceSite site = SourceSite::current()) const {
    machine_->cp_async_bulk_tensor_load(smem_, map, at, CopyTarget{full_}, site);
  }

 private:
  M* machine_;
  SharedAddress smem_;
  Mbarrier full_;
};

/// A stage that is full, inside `consume`.
template <Machine M>
class StageToRead {
 public:
  /// Made by `consume`: `smem` is the stage's tile, `empty` its empty barrier.
  constexpr StageToRead(M& machine, SharedAddress smem, Mbarrier empty)
      : machine_{&machine}, smem_{smem}, empty_{empty} {}

  constexpr SharedAddress smem() const { return smem_; }  // the tile: 32 rows of 64 bf16
  /// Frees the stage. The end of `consume` does that: once more is a fault.
  constexpr void arrive(SourceSite site = SourceSite::current()) const {
    arrive_as<ArrivalKind::kEveryLane>(*machine_, empty_, site);
  }

 private:
  M* machine_;
  SharedAddress smem_;
  Mbarrier empty_;
};

/// What `kernel` is handed: the calling warp, which is the producer or the consumer.
template <Role kRole, Machine M, class Problem, class Storage>
class RingWarp {
 public:
  /// Made by the role's function, once for each warp. The arguments must outlive it.
  constexpr RingWarp(M& machine, const Problem& problem, const Storage& storage)
      : machine_{&machine}, problem_{&problem}, storage_{&storage}, ring_{machine, storage.ring} {}

  constexpr M& machine() const { return *machine_; }  // for what the two calls do not do
  constexpr std::uint32_t tiles() const { return problem_->extents.tiles; }  // to be copied
  /// The tensor map of the matrix that is read.
  constexpr const typename M::TensorMap& source() const { return problem_->source; }
  /// The tensor map of the matrix that is written.
  constexpr const typename M::TensorMap& target() const { return problem_->target; }
  /// Where a tile stands in either matrix.
  constexpr Coordinates<2> at(std::uint32_t tile) const {
    return {{0, static_cast<std::int32_t>(tile * kRingTileRows)}};
  }

  /// In the producer: waits until the next stage is free, arms it with the bytes of a tile, and
  /// gives it to `body(stage)`, whose copy completes it.
  template <class Body>
  constexpr void produce(Body&& body, SourceSite site = SourceSite::current()) {
    if constexpr (kRole == Role::kProducer) {
      auto stage = ring_.produce(site);
      body(StageToFill<M>{*machine_, storage_->ring.tile(stage->index()), stage->mbar()});
    }
  }
  /// In the consumer: waits until the next stage is full, gives it to `body(stage)`, and frees it.
  template <class Body>
  constexpr void consume(Body&& body, SourceSite site = SourceSite::current()) {
    if constexpr (kRole == Role::kConsumer) {
      auto stage = ring_.consume(site);
      body(StageToRead<M>{*machine_, storage_->ring.tile(stage->index()), stage->mbar()});
    }
  }

 private:
  M* machine_;
  const Problem* problem_;
  const Storage* storage_;
  PipelineOf<M, typename Storage::Ring> ring_;
};

/// The kernel that `run_warp` runs: a function a role, of which both call `Scenario::kernel`.
template <class Scenario, Machine M, class Extents>
struct RingScenarioKernel {
  using Storage = RingScenarioStorage<Extents>;  // the ring, in shared memory
  static constexpr auto kRoles = kRingRoles;     // warp 0 produces, warp 1 consumes

  /// The arguments of a launch.
  struct Problem {
    [[no_unique_address]] Extents extents;  // not last: see docs/extending.md
    typename M::TensorMap source,           // of the matrix that is read
        target;                             // of the matrix that is written
  };

  /// Host code: the arguments of a launch. Only the first two maps are taken.
  static Problem problem(const ParameterSet&,
                         const Extents& extents,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    return {extents, maps[0], maps[1]};
  }

  /// The producer's warp. Blocks: where `produce` does, until a stage is free.
  static constexpr void producer(M& machine, const Problem& problem, const Storage& storage) {
    run<Role::kProducer>(machine, problem, storage);
  }
  /// The consumer's warp; when it returns, the stores that it committed are complete.
  static constexpr void consumer(M& machine, const Problem& problem, const Storage& storage) {
    run<Role::kConsumer>(machine, problem, storage);
    machine.template cp_async_bulk_wait_group<0>();
  }

 private:
  template <Role kRole>
  static constexpr void run(M& machine, const Problem& problem, const Storage& storage) {
    RingWarp<kRole, M, Problem, Storage> warp{machine, problem, storage};
    static_assert(
        requires { Scenario::kernel(warp); },
        "a RingScenario needs the kernel's text: 'static constexpr void kernel(auto& "
        "warp)', with warp.produce(...) and warp.consume(...) in it");
    if constexpr (requires { Scenario::kernel(warp); }) {
      Scenario::kernel(warp);
    }
  }
};

/// The base of a scenario with the function `kernel`; see the head of this file. What it declares,
/// a scenario may declare anew: `reference` where the kernel does not copy its source as it is.
template <class Scenario>
struct RingScenario {
  using StaticExtents = RingExtents<16, 4>;  // of the GPU build: 16 tiles, 4 stages
  template <Machine M, class Extents>
  using Kernel = RingScenarioKernel<Scenario, M, Extents>;  // the kernel, on machine `M`

  /// `tiles`, a count of trips from 1 to 2^20, and `stages`, from 1 to 64.
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"tiles", "tiles to copy", 16, 1, 1 << 20, ""},
        {"stages", "stages of the ring", 4, 1, 64},
    };
    return kParameters;
  }
  /// The extents that the simulator is given: as the parameters say.
  static RingExtents<> extents(const ParameterSet& p) { return {p.u32("tiles"), p.u32("stages")}; }
  /// Two bf16 matrices of 32 * tiles rows and 64 columns, each with a map of boxes of 32 rows.
  /// Errors: ConfigError where the stages do not fit in a CTA's shared memory; it says how many do.
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<RingScenarioStorage<RingExtents<>>>(extents(p));
    const std::uint32_t rows = p.u32("tiles") * kRingTileRows;
    return {.tensors = {matrix("source", TensorUse::kInput, rows, kRingTileColumns),
                        matrix("target", TensorUse::kOutput, rows, kRingTileColumns)},
            .maps = {{0, kRingTileRows, kRingTileColumns, Swizzle::kNone},
                     {1, kRingTileRows, kRingTileColumns, Swizzle::kNone}},
            .registers_per_thread = 8};
  }
  /// What the kernel should compute unless the scenario declares it anew: the target is the source.
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    tensors[1].values = tensors[0].values;
  }
};

}  // namespace warptwin
