/// Broken: in a cluster whose CTAs share keys and values the MMA warp frees a stage of keys in its
/// own CTA alone.
///
/// The other CTA, whose copy it has read, waits for that commit.
///
/// Expected: DEADLOCK. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

struct AttentionSharedKeysFreedInOwnCta : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_shared_keys_freed_in_own_cta",
                                      ScenarioKind::kBroken,
                                      "a stage of keys is freed in one CTA of those that share it",
                                      "DEADLOCK",
                                      "attention"};
  using StaticExtents = AttentionExtents<128, 3, 1, CtaGroup::kOne, 2>;
  template <Machine M, class Extents>
  using Kernel = AttentionKeysFreedInOwnCtaKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(AttentionTwin::parameters(),
                                             {{"q", "rows of Q and O", 512, 1, 1 << 20, "cta_q"},
                                              {"cluster_m", "CTAs of a cluster", 2, 1, 16}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
