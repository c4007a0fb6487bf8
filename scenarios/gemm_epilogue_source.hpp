/// What an epilogue is brought beside its sums: a matrix or biases, through a ring of their own.

#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include "common/kernel/parameter_table.hpp"
#include "common/tile/epi_load_pipeline.hpp"
#include "common/tile/epilogue_function.hpp"
#include "common/tile/load_order_barrier.hpp"
#include "common/tile/row_maxima.hpp"

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

/// The same where what stands behind takes no room if it is constant: a source that is chosen, or
/// constant as all the others are.
template <class Tiles, std::uint32_t kSourceStages = kDynamic, std::uint32_t kSource = kDynamic>
struct GemmSourceExtents : Tiles {
  [[no_unique_address]] Extent<kSourceStages> source_stages;
  [[no_unique_address]] Extent<kSource> source;

  constexpr bool has(EpilogueSource one) const { return source == static_cast<std::uint32_t>(one); }
};

inline constexpr RoleTable kGemmEpilogueLoadRoles{RoleWarps{Role::kEpilogue, 4},
                                                  RoleWarps{Role::kMma, 1},
                                                  RoleWarps{Role::kLoad, 1},
                                                  RoleWarps{Role::kEpilogueLoad, 1}};

/// The parts where the source is added, times a factor.
struct GemmEpilogueLoadParts : GemmParts {
  using Function = AddSource;                       // of the sum and its source
  static constexpr bool kRowMaxima = false;         // whether rows' largest magnitudes are stored
  static constexpr std::uint32_t kRegisters = 104;  // of a thread
  static constexpr std::uint32_t kSource = 0;       // what the epilogue adds, if not told
  static constexpr Parameter kFactor{"beta", "factor of C; biases have none", 2, -64, 64};

  /// The function of a launch. Host code.
  static Function function(const ParameterSet& p) {
    const bool biases = p.u32("source") == static_cast<std::uint32_t>(EpilogueSource::kBiases);
    return {biases ? 1.0F : static_cast<float>(p["beta"])};
  }
};

/// Operands of one type, a result, and a source of its type or of another.
template <class Operands, class Result, class Source = Result>
struct GemmEpilogueLoadPartsOf : GemmEpilogueLoadParts {
  using A = Operands;
  using B = Operands;
  using C = Source;
  using D = Result;
  /// 8 bits of D hold a 256th of sums of whole numbers.
  static constexpr bool kSmaller = kWholeSums<Operands> && kBytesOf<Result> == 1;
  using Function = OfSums<Operands, std::conditional_t<kSmaller, LinearCombination, AddSource>>;

  /// The function of a launch. Host code.
  static Function function(const ParameterSet& p) {
    const AddSource added = GemmEpilogueLoadParts::function(p);
    if constexpr (kSmaller) {
      return {LinearCombination{0x1p-8F, added.beta}};
    } else {
      return {added};
    }
  }
};

/// Stages of both rings, if not told: tiles of C in shared memory leave room for so many.
template <class Parts>
inline constexpr std::uint32_t kSourceStages = std::max(kBytesOf<SourceOf<Parts>>,
                                                        kBytesOf<typename Parts::D>) == 4
                                                   ? 1
                                                   : 2;
template <class Parts>
inline constexpr std::uint32_t kStagesBesideSource =
    Parts::kRowMaxima&& kBytesOf<typename Parts::D> != 1 ? 3 : 4;

/// The copies that bring a tile its source, from left to right, and how many of them are a stage.
struct SourceCopies {
  std::uint32_t columns;  // of one copy
  std::uint32_t bytes;    // of one copy
  std::uint32_t of_tile;
  std::uint32_t of_stage;

  /// Of boxes of C such as `box`.
  constexpr SourceCopies(const auto& e, const auto& box)
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

/// What gemm has, or another kernel without a source, and the two rings of the new role.
template <class Extents,
          class Parts = GemmEpilogueLoadParts,
          class Without = GemmStorage<Extents, Parts>>
struct GemmEpilogueLoadStorage : Without {
  using C = SourceOf<Parts>;

  constexpr GemmEpilogueLoadStorage(auto& layout, const Extents& e)
      : Without{layout, e},
        copies{e, box_of_source({})},
        source{layout,
               "source",
               kGemmEpilogueLoadRoles,
               e.source_stages,
               copies.of_stage * copies.bytes,
               kTileAlignment},
        order{layout, "order", kGemmEpilogueLoadRoles, kLoadOrderStages},
        maxima{layout, "maxima", kGemmEpilogueLoadRoles} {}
  constexpr void init(Machine auto& machine) const {
    Without::init(machine);
    source.init(machine);
    order.init(machine);
  }
  constexpr SharedTile<C> source_tile(std::uint32_t stage, std::uint32_t box = 0) const {
    return box_of_source(source.tile(stage) + box * copies.bytes);
  }
  /// A box of C at `base`: of the rows and columns of one of D.
  constexpr SharedTile<C> box_of_source(SharedAddress base) const {
    const auto& shape = this->out.first;
    return {base, shape.rows, shape.columns, swizzle_of(shape.columns * kBytesOf<C>)};
  }

  SourceCopies copies;
  EpiLoadPipelineStorage source;
  LoadOrderBarrierStorage order;
  RowMaximaStorage<Parts::kRowMaxima> maxima;
};

/// What gemm has, or gemm_2sm, with half as many columns of D, and the ring of the biases.
template <class Extents, class Parts = GemmParts, class Without = GemmStorage<Extents, Parts>>
struct GemmSwigluStorage : Without {
  constexpr GemmSwigluStorage(auto& layout, const Extents& e)
      : Without{layout, e, e.tile_n / 2},
        source{layout,
               "source",
               kGemmEpilogueLoadRoles,
               e.source_stages,
               2 * row_bytes(),
               kTileAlignment},
        factors{layout, "factors", kGemmEpilogueLoadRoles} {}
  constexpr void init(Machine auto& machine) const {
    Without::init(machine);
    source.init(machine);
  }
  /// A box's biases of G, or of U, fp32.
  constexpr std::uint32_t row_bytes() const { return this->out.first.columns * 4; }
  constexpr SharedAddress bias_g(std::uint32_t stage) const { return source.tile(stage); }
  constexpr SharedAddress bias_u(std::uint32_t stage) const {
    return source.tile(stage) + row_bytes();
  }

  EpiLoadPipelineStorage source;
  RowMaximaStorage<Parts::kQuantised> factors;
};

/// Refuses a `source_stages` beside which not one stage of A and B fits. Host code.
template <class Storage, class Extents>
void check_source_fits(Extents e) {
  const std::uint32_t wanted = e.source_stages;
  std::uint32_t fitting = wanted;
  e.stages = 1;
  while (shared_bytes<Storage>(e) > kSharedBytesPerCtaMax) {
    e.source_stages = --fitting;  // ends: any tile fits once
  }
  require(fitting == wanted,
          "source_stages=" + std::to_string(wanted) +
              " leave no shared memory for a stage of A and B; use source_stages<=" +
              std::to_string(fitting));
}

/// The parameters of the source: what it is, and how much of it is under way.
template <class Parts>
inline constexpr Parameter kSourceParameter{
    "source", "0: C box by box, 1: C tile by tile, 2: biases", Parts::kSource, 0, 2, nullptr, true};
template <class Parts>
inline constexpr Parameter kSourceStagesParameter{
    "source_stages",
    "boxes or tiles of C, or tiles' biases, in shared "
    "memory",
    kSourceStages<Parts>,
    1,
    64};

/// The parameters of a kernel without a source, `rows` in their places, and those of the source.
/// Host code.
template <class Parts>
std::vector<Parameter> with_source(std::span<const Parameter> without,
                                   std::initializer_list<Parameter> rows) {
  return extended(extended(without, rows),
                  {kSourceParameter<Parts>, Parts::kFactor, kSourceStagesParameter<Parts>});
}

/// Makes the workload of a kernel without a source that of one of extents `e` with it: adds what
/// the epilogue reads, and the maxima of rows where it stores them. Host code.
template <class Parts, class Storage>
void add_source(Workload& workload, const ParameterSet& p, const auto& e) {
  workload.registers_per_thread = Parts::kRegisters;
  check_rows_fill_lanes(e.tile_m, e.cluster().group);
  check_source_fits<Storage>(e);
  check_stages_fit<Storage>(e);
  const std::uint32_t m = p.u32("m");
  const std::uint32_t n = p.u32("n");
  if (e.has(EpilogueSource::kBiases)) {
    workload.tensors.push_back(matrix("bias", TensorUse::kInput, 1, n, ElementType::kF32));
    workload.maps.push_back({3, 1, e.tile_n, Swizzle::kNone});
  } else {
    workload.tensors.push_back(matrix("c", TensorUse::kInput, m, n, SourceOf<Parts>::kType));
    const TensorMapSpec& stored = workload.maps[2];
    workload.maps.push_back(tile_map<SourceOf<Parts>>(3, stored.box_rows, stored.box_columns));
  }
  if (Parts::kRowMaxima) {
    const std::uint32_t tiles = ceil_div(n, e.tile_n);
    workload.tensors.push_back(matrix("maxima", TensorUse::kOutput, tiles, m, ElementType::kF32));
    workload.maps.push_back({4, 1, kTmemLanes, Swizzle::kNone});
  }
}

/// `Without`, a scenario, with a source. `Own`, which derives from this, has its extents and its
/// `Storage`.
template <class Own, class Without, class Parts>
struct ScenarioWithSource : Without {
  static Workload workload(const ParameterSet& p) {
    Workload workload = Without::workload(p);
    add_source<Parts, typename Own::Storage>(workload, p, Own::extents(p));
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    Without::reference(p, tensors);
    const bool is_row = p.u32("source") == static_cast<std::uint32_t>(EpilogueSource::kBiases);
    const auto function = Parts::function(p);
    const std::vector<float>& source = tensors[3].values;
    const std::uint32_t columns = tensors[2].spec.columns;
    for (std::size_t i = 0; i < tensors[2].values.size(); ++i) {
      float& value = tensors[2].values[i];
      value = static_cast<float>(function(static_cast<double>(value),
                                          static_cast<double>(source[is_row ? i % columns : i])));
      if (Parts::kRowMaxima) {
        float& most = tensors[4].at(static_cast<std::uint32_t>(i % columns) / p.u32("tile_n"),
                                    static_cast<std::uint32_t>(i / columns));
        most = std::max(most, std::abs(value));
      }
    }
  }
};

}  // namespace warptwin::scenarios
