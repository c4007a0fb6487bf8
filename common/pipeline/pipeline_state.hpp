/// Where a role stands in a ring: stage and lap move together, in one type, by one operation.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// The stage a role uses next, and how often it has been round the ring before.
struct PipelineState {
  std::uint32_t index = 0;
  std::uint32_t lap = 0;
  std::uint32_t parity = 0;  // of the lap: all that a GPU keeps of it

  constexpr PipelineState() = default;
  constexpr PipelineState(std::uint32_t stage, std::uint32_t laps)
      : index{stage}, lap{laps}, parity{laps & 1U} {}

  /// The phase of `full[index]` that holds this lap's data: the consumer's wait.
  constexpr WaitPhase full_phase() const { return WaitPhase::number(lap, parity); }
  /// The phase of `empty[index]` that frees the stage for this lap: the producer's wait. In lap 0
  /// it is phase -1, which counts as complete: stages start empty.
  constexpr WaitPhase empty_phase() const { return WaitPhase::number(lap - 1, parity ^ 1U); }

  constexpr void step(std::uint32_t stages) {
    if (++index == stages) {
      index = 0;
      ++lap;
      parity ^= 1U;
    }
  }
  friend constexpr bool operator==(PipelineState, PipelineState) = default;
};

/// Which stages a role takes: `of` groups of warps take them in turn, this one from `first` on.
/// Requires: the ring's stages are a multiple of `of`.
struct RingTurn {
  std::uint32_t first = 0;
  std::uint32_t of = 1;

  constexpr PipelineState begin() const { return {first, 0}; }
  constexpr void step(PipelineState& state, std::uint32_t stages) const {
    for (std::uint32_t i = 0; i < of; ++i) {
      state.step(stages);
    }
  }
};

/// What a producer's probe of an empty barrier found. Only a producer's wait takes it.
struct [[nodiscard]] ProducerToken {
  PipelineState probed;
  bool ready = false;
};

/// What a consumer's probe of a full barrier found. Only a consumer's wait takes it.
struct [[nodiscard]] ConsumerToken {
  PipelineState probed;
  bool ready = false;
};

}  // namespace warptwin
