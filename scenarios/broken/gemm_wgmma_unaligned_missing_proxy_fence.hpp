/// Broken: wgmma reads what lanes have copied without a fence between the proxies.
///
/// It may read what lay in the stage before, and the result is wrong now and then.
///
/// Expected: PROXY_FENCE_MISSING. Twin: gemm_wgmma_unaligned.

#pragma once

#include "scenarios/broken/gemm_wgmma_unaligned_twin.hpp"

namespace warptwin::scenarios {

struct CopiedWithoutFence : CopiedByLanes {
  template <Machine M>
  static constexpr void take_over(M&, SourceSite) {}  // the fault: no fence.proxy.async
};

struct GemmWgmmaUnalignedMissingProxyFence : GemmWgmmaUnalignedTwin<CopiedWithoutFence> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_unaligned_missing_proxy_fence",
                                      ScenarioKind::kBroken,
                                      "wgmma reads what cp.async wrote without a proxy fence",
                                      "PROXY_FENCE_MISSING",
                                      "gemm_wgmma_unaligned"};
};

}  // namespace warptwin::scenarios
