/// What the wrong twins of `attention` share: a shape at which each of their faults shows. One CTA
/// computes two pairs of query tiles over three tiles of keys, so that every ring goes round, and
/// no phase of a pair begins where that of the last began.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

template <std::int64_t kCausal>
struct AttentionTwinOf : Attention {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"q", "rows of Q and O", 512, 1, 1 << 20},
        {"kv", "rows of K and V", 384, 1, 1 << 20},
        {"heads", "heads, side by side in Q, K, V and O", 1, 1, 1 << 10},
        {"causal", "1: query i sees keys 0 to i", kCausal, kCausal, kCausal},
        {"head_dim", "columns of a head: 64 or 128", 64, 64, 128},
        {"cta_q", "rows of Q a CTA works on at once", 256, 256, 256},
        {"tile_kv", "keys, or values, in one stage", 128, 128, 128},
        {"stages", "stages of the ring of keys and values", 3, 2, 64},
        {"stats_stages", "factors of each tile under way to correction", 1, 1, 64},
        {"slack", "growth of a row's maximum that is let pass, in powers of two", 0, 0, 16},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};
using AttentionTwin = AttentionTwinOf<0>;
using CausalAttentionTwin = AttentionTwinOf<1>;

}  // namespace warptwin::scenarios
