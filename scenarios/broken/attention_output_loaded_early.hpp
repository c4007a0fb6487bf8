/// Broken: correction loads columns of O when the factors have come, above its wait for O.
///
/// For the corrections before the last that would do: softmax has seen scores that were computed
/// after P * V. The last factors come before the last P * V.
///
/// Expected: TMEM_READ_BEFORE_COMMIT. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionOutputLoadedEarlyKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;
  using Writer = typename Base::Writer;

  static constexpr void correction(M& machine, const Problem& problem, const Storage& smem) {
    Base::correct(machine, problem, smem, [&](const Accum& accum, const Writer& writer, auto t) {
      typename M::template Fragment<32> first;
      const TmemAddress columns = accum.tmem().stage(smem.accum.config, t).address();
      machine.tcgen05_ld_32x32b(first, columns.at_lane(writer.first_row()));  // the fault
      machine.tcgen05_wait_ld(first);
    });
  }
};

struct AttentionOutputLoadedEarly : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_output_loaded_early",
                                      ScenarioKind::kBroken,
                                      "O is loaded above the wait for accum.full",
                                      "TMEM_READ_BEFORE_COMMIT",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionOutputLoadedEarlyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
