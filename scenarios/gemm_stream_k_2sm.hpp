/// Scenario: gemm_stream_k by pairs of CTAs: clusters share the steps of pairs' tiles, and each CTA
/// adds up its own rows, by a word of its own.
///
/// Barriers as in gemm_split_k_2sm.
///
/// Expected: as gemm_stream_k, for any cluster of pairs along M.

#pragma once

#include "scenarios/gemm_split_k_2sm.hpp"
#include "scenarios/gemm_stream_k.hpp"

namespace warptwin::scenarios {

template <CtaGroup kGroup, class Parts>
using GemmStreamKClusterOf = StreamKOf<GemmSplitKClusterOf<kGroup, Parts>, Parts>;
template <class Parts>
using GemmStreamK2smOf = GemmStreamKClusterOf<CtaGroup::kTwo, Parts>;

struct GemmStreamK2sm : GemmStreamK2smOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_stream_k_2sm", ScenarioKind::kClean, "GEMM by pairs whose work is shared by steps"};
};

}  // namespace warptwin::scenarios
