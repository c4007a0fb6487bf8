/// A read-modify-write of one word: of global memory a reduction of the model, of shared memory a
/// store that is a load, too.

#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "sim/model/lane_access.hpp"

namespace warptwin::sim {

/// The bytes of a word from the lowest on: 16, of which most have the first 4 or 8.
using AtomicWord = std::array<std::uint64_t, 2>;

/// `Operation::access` of a kGlobalRedAdd that does not add `Operation::count`: `update` makes the
/// new value of the old one. `bytes` is 4, 8 or 16. Of a kSharedStore it is of the kinds
/// of atomics.
struct AtomicUpdate : LaneAccess {
  using LaneAccess::LaneAccess;

  std::function<AtomicWord(const AtomicWord&)> update;
  AtomicWord before{};          // what the word was
  bool known = true;            // somebody has written it, and this run knows what
  bool leaves_unknown = false;  // it depends on who comes first, or on data
  std::uint32_t change = 0;     // of global memory: a `word_change`
};

}  // namespace warptwin::sim
