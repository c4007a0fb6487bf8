/// Broken: tcgen05.mma reads what lanes have copied without a fence between the proxies.
///
/// It may read what lay in the stage before, and the result is wrong now and then.
///
/// Expected: PROXY_FENCE_MISSING. Twin: gemm_unaligned.

#pragma once

#include "scenarios/broken/gemm_unaligned_twin.hpp"
#include "scenarios/broken/gemm_wgmma_unaligned_missing_proxy_fence.hpp"

namespace warptwin::scenarios {

struct GemmUnalignedMissingProxyFence : GemmUnalignedTwin<CopiedWithoutFence> {
  static constexpr ScenarioInfo kInfo{"gemm_unaligned_missing_proxy_fence",
                                      ScenarioKind::kBroken,
                                      "tcgen05.mma reads what cp.async wrote without a proxy fence",
                                      "PROXY_FENCE_MISSING",
                                      "gemm_unaligned"};
};

}  // namespace warptwin::scenarios
