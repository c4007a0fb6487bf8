/// Scenario: gemm_grouped_maps whose rows of A are those of tokens, in any order: a word for each
/// row says which token it is of, and TMA gathers four rows at a time (mixture of experts without a
/// permutation before it).
///
/// Barriers as in gemm_grouped_maps.
///
/// A stage's A is brought by as many lanes as its tile has four rows: each reads the words of its
/// rows, and copies them (.tile::gather4). In a cluster along N each CTA gathers its slice of the
/// rows, for all that share them. A row beyond those of the group is one that the matrix
/// of tokens does not have: zeros. That map is the launch's, and a slot's A map is not used.
///
/// Expected: as gemm_grouped_maps, for any tokens.

#pragma once

#include "scenarios/gemm_grouped_maps.hpp"

namespace warptwin::scenarios {

template <class M, class Extents, class Parts = GemmParts>  // a Machine
struct GemmGroupedGatherProblem : GemmGroupedMapsProblem<M, Extents, Parts> {
  using Base = GemmGroupedMapsProblem<M, Extents, Parts>;
  typename M::TensorMap row_of_a;  // box (1, tile_k)
  GlobalAddress token_of_row;      // words
  std::uint32_t tokens;

  /// Host code.
  void set(const ParameterSet& p,
           const Extents& e,
           std::span<const typename M::TensorMap> all,
           std::span<const GlobalAddress> tensors) {
    Base::set(p, e, all.first(all.size() - 1), tensors);
    row_of_a = all.back();
    token_of_row = tensors[5];
    tokens = p.u32("tokens");
  }
  static constexpr bool kMapOfA = false;
  constexpr void write_maps(M& machine, std::uint32_t first, const GroupRows& of) const {
    Base::replace(
        machine, this->maps[first + 1], this->b + std::uint64_t{of.group} * this->b_group, this->n);
    Base::replace(
        machine, this->maps[first + 2], this->d + std::uint64_t{of.first} * this->d_row, of.rows);
  }
  constexpr void load_a(M& machine, const auto& stage, const auto& at, TileIndex from) const {
    const auto tile = stage.payload().a_tile().tile;
    const OperandSlice slice = this->extents.cluster().slice(Operand::kA, machine.cta_rank());
    const std::uint32_t rows_of_slice = tile.rows / slice.count;
    const std::uint32_t first = slice.index * rows_of_slice;  // of the tile
    const std::uint32_t end = at.first_row() + at.rows();
    machine.for_lanes(rows_of_slice / 4, [&](std::uint32_t lane) {
      RowsOf4 rows{static_cast<std::int32_t>(from.column * tile.columns), {}};
      for (std::uint32_t i = 0; i < 4; ++i) {
        // As many words are read for a tile that reaches beyond the group as for any other.
        const std::uint32_t row = at.first_row() + from.row * tile.rows + first + 4 * lane + i;
        const std::uint32_t of_row = token(machine, std::min(row, end - 1));
        rows.row[i] = static_cast<std::int32_t>(row < end ? of_row : tokens);
      }
      const SharedAddress to = tile.base + (first + 4 * lane) * tile.row_bytes();
      stage.load(row_of_a, rows, to, slice.multicast);
    });
  }
  constexpr std::uint32_t token(M& machine, std::uint32_t row) const {
    return machine.ld_global_u32(token_of_row + std::uint64_t{4} * row);
  }
};

/// What the scenarios of every choice of parts share; `Maps` is that of whole groups of rows.
template <class Parts, class Maps = GemmGroupedMapsOf<Parts>>
struct GemmGroupedGatherOf : Maps {
  using Base = Maps;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M,
                                       Extents,
                                       Parts,
                                       MapSteps,
                                       GemmGroupedGatherProblem,
                                       typename Base::template Storage<Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Base::parameters(), {{"tokens", "rows of A, which groups share", 100, 1, 1 << 20}});
    return kParameters;
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Base::workload(p);
    const std::uint32_t tokens = p.u32("tokens");
    const std::uint32_t rows = workload.tensors[0].rows;
    TensorSpec token_of_row =
        matrix("token_of_row", TensorUse::kScratch, 1, rows, ElementType::kU32);
    for (std::uint32_t row = 0; row < rows; ++row) {
      token_of_row.words.push_back(row * 2654435761U % tokens);  // Knuth, 6.4
    }
    workload.tensors[0].rows = tokens;
    workload.tensors.push_back(token_of_row);
    workload.maps.push_back(tile_map<typename Parts::A>(0, 1, p.u32("tile_k")));
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    std::uint32_t row = 0;
    std::uint32_t first_of_b = 0;
    for (const std::uint32_t rows : Base::sizes(p)) {
      for (const std::uint32_t end = row + rows; row < end; ++row) {
        multiply_row_reference(
            tensors[0], tensors[5].spec.words[row], tensors[1], first_of_b, tensors[2], row);
      }
      first_of_b += p.u32("n");
    }
    apply_function<Parts>(tensors[2]);
  }
};

struct GemmGroupedGather : GemmGroupedGatherOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_gather",
                                      ScenarioKind::kClean,
                                      "GEMMs of groups whose rows are gathered from tokens"};
};

}  // namespace warptwin::scenarios
