/// Random protocols for the cross-check of the proof: nearly right ones of the kinds that kernels
/// have, with a few edits, and arbitrary ones.

#pragma once

#include <cstdint>

#include "sim/prove/protocol.hpp"

namespace warptwin::sim {

/// SplitMix64: small, fast, the same everywhere.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// 0 .. bound - 1.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

enum class ProtocolShape : std::uint8_t {
  kRing,        // a producer, its copies, one or two consumers
  kTwoClasses,  // consumers that arrive with different counts on one empty barrier
  kMulticast,   // two CTAs that fill each other's stages and free them from afar
  kLanes,       // lanes that wait each for themselves
  kSequence,    // agents that take turns, in order
  kNamed,       // named barriers beside mbarriers
  kFlags,       // global flags with one writer
  kArbitrary,   // any operations
  kCount,
};

const char* name_of(ProtocolShape shape);

/// One protocol of a shape with up to `edits_max` random edits.
Protocol random_protocol(Draw& draw, ProtocolShape shape, std::uint32_t edits_max);

}  // namespace warptwin::sim
