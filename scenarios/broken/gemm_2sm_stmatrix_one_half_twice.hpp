/// Broken: a warp loads its first 16 rows of an accumulator for those behind them, too.
///
/// Expected: RESULT_WRONG. Twin: gemm_2sm_stmatrix.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm_stmatrix.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smStmatrixOneHalfTwiceKernel : Gemm2smStmatrix::Kernel<M, Extents> {
  using Base = Gemm2smStmatrix::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    template <class Columns>
    struct Halves : MatrixTile<M, Columns> {
      using MatrixTile<M, Columns>::MatrixTile;
      constexpr void load(const auto& accum, std::uint32_t first, std::uint32_t columns) {
        MatrixTile<M, Columns>::load(accum, first, columns);
        const TmemAddress from = accum.tmem().at_column(first).at_lane(accum.first_lane());
        this->machine_->tcgen05_ld_16x256b(this->lower_, from);  // the fault: the upper half again
        this->machine_->tcgen05_wait_ld(this->lower_);
      }
    };
    static constexpr auto registers(M& machine, const auto& e) {
      const auto columns = e.template box_extent<bf16>();
      return Halves<std::remove_const_t<decltype(columns)>>{machine, columns};
    }
  };
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles_by<Steps>(
        machine, problem, smem, problem.tiles(machine), Unchanged{});
  }
};

struct Gemm2smStmatrixOneHalfTwice : Gemm2smStmatrix {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_stmatrix_one_half_twice",
                                      ScenarioKind::kBroken,
                                      "an epilogue warp loads one half of its rows twice",
                                      "RESULT_WRONG",
                                      "gemm_2sm_stmatrix"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smStmatrixOneHalfTwiceKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(Gemm2smStmatrix::parameters(),
                                             {{"m", "rows of A and D", 512, 1, 1 << 20},
                                              {"n", "rows of B, columns of D", 512, 1, 1 << 20},
                                              {"k", "columns of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
