/// Where a role stands in a ring: stage and lap move together, in one type, by one operation.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// The stage a role uses next, and how often it has been round the ring before.
struct PipelineState {
  std::uint32_t index = 0;   // the stage: 0 to stages - 1
  std::uint32_t lap = 0;     // times the role has been round the ring before
  std::uint32_t parity = 0;  // of the lap: all that a GPU keeps of it

  constexpr PipelineState() = default;  // at the first stage, in lap 0
  /// At a stage, after so many times round the ring.
  constexpr PipelineState(std::uint32_t stage, std::uint32_t laps)
      : index{stage}, lap{laps}, parity{laps & 1U} {}

  /// The phase of `full[index]` that holds this lap's data: the consumer's wait.
  constexpr WaitPhase full_phase() const { return WaitPhase::number(lap, parity); }
  /// The phase of `empty[index]` that frees the stage for this lap: the producer's wait. In lap 0
  /// it is phase -1, which counts as complete: stages start empty.
  constexpr WaitPhase empty_phase() const { return WaitPhase::number(lap - 1, parity ^ 1U); }

  /// Goes on to the next of `stages` stages; from the last to the first, one lap later.
  constexpr void step(std::uint32_t stages) {
    if (++index == stages) {
      index = 0;
      ++lap;
      parity ^= 1U;
    }
  }
  /// Goes on by `count` of `stages` stages at once.
  constexpr void advance(std::uint32_t count, std::uint32_t stages) {
    const std::uint32_t to = index + count;
    index = to % stages;
    lap += to / stages;
    parity ^= to / stages & 1U;
  }
  /// The one before it, of `stages` stages. Requires: it is not the first in lap 0.
  constexpr PipelineState before(std::uint32_t stages) const {
    PipelineState state = *this;
    if (state.index-- == 0) {
      state.index = stages - 1;
      --state.lap;
      state.parity ^= 1U;
    }
    return state;
  }
  /// The phase of `empty[index]` that this lap's readers complete.
  constexpr WaitPhase freed_phase() const { return WaitPhase::number(lap, parity); }
  friend constexpr bool operator==(PipelineState, PipelineState) = default;  // same stage and lap
};

/// Which stages a role takes: `of` groups of warps take them in turn, this one from `first` on.
/// Requires: the ring's stages are a multiple of `of`.
struct RingTurn {
  std::uint32_t first = 0;  // less than `of`
  std::uint32_t of = 1;     // 1: one group takes every stage

  constexpr PipelineState begin() const { return {first, 0}; }  // in lap 0
  /// Goes on to the group's next stage: `of` stages further.
  constexpr void step(PipelineState& state, std::uint32_t stages) const {
    for (std::uint32_t i = 0; i < of; ++i) {
      state.step(stages);
    }
  }
};

/// What a producer's probe of an empty barrier found. Only a producer's wait takes it.
struct [[nodiscard]] ProducerToken {
  PipelineState probed;  // the stage and lap that the probe was for
  bool ready = false;    // it was free; false: it was not, or nothing was probed
};

/// What a consumer's probe of a full barrier found. Only a consumer's wait takes it.
struct [[nodiscard]] ConsumerToken {
  PipelineState probed;  // the stage and lap that the probe was for
  bool ready = false;    // it was full; false: it was not, or nothing was probed
};

}  // namespace warptwin
