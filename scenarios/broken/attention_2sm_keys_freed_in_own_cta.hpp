/// Broken: the MMA warp frees a stage of keys by a commit to its own CTA.
///
/// The stage was filled by both: the peer's load never learns that its half has been read.
///
/// Expected: DEADLOCK. Twin: attention_2sm.

#pragma once

#include "scenarios/broken/attention_2sm_twin.hpp"
#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

struct Attention2smKeysFreedInOwnCta : Attention2smTwin {
  static constexpr ScenarioInfo kInfo{"attention_2sm_keys_freed_in_own_cta",
                                      ScenarioKind::kBroken,
                                      "a stage of keys is freed in the CTA of the leader alone",
                                      "DEADLOCK",
                                      "attention_2sm"};
  template <Machine M, class Extents>
  using Kernel = AttentionKeysFreedInOwnCtaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
