/// What the wrong twins of `attention_2sm` share: the shape of those of `attention`, for a pair.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/attention_2sm.hpp"

namespace warptwin::scenarios {

template <std::int64_t kCausal>
struct Attention2smTwinOf : Attention2sm {
  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Attention2sm::parameters(),
                 {{"causal", "1: query i sees keys 0 to i", kCausal, kCausal, kCausal},
                  {"head_dim", "columns of a head: 64 or 128", 64, 64, 128},
                  {"stages", "stages of the ring of keys and values", 3, 2, 64},
                  {"ctas", "pairs that share the tiles; 0: one for each", 1, 0, 1 << 16}});
    return kParameters;
  }
};
using Attention2smTwin = Attention2smTwinOf<0>;
using CausalAttention2smTwin = Attention2smTwinOf<1>;

}  // namespace warptwin::scenarios
