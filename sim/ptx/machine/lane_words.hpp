/// Which lanes of a warp have touched which words of shared memory, and which of that a lane knows.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/machine/types.hpp"

#include "sim/model/lane_access.hpp"

namespace warptwin::ptx {

/// Words of four bytes; of accesses that are no whole words nothing is kept.
class LaneWords {
 public:
  /// Notes what the lanes do. Returns the first two lanes of which one writes a word that the other
  /// touches, in no order; who writes a value again changes nothing.
  std::optional<sim::LaneRace> access(const sim::LaneAccess& access,
                                      std::uint32_t rank,
                                      bool store,
                                      SourceSite site);
  /// The lanes have met: each knows what all of them knew. `all`: those are all that live.
  void meet(std::uint32_t lanes, bool all);
  /// The lanes have waited for somebody, and may have learnt from there what any lane has done.
  void learn(std::uint32_t lanes, bool all);

 private:
  static constexpr std::uint32_t kLanes = 32;
  struct Word {
    std::uint32_t readers = 0;  // lanes
    std::uint32_t writers = 0;
    std::uint32_t value = 0;  // that they have written
    SourceSite read{};
    SourceSite written{};
  };
  using Words = std::unordered_map<std::uint32_t, Word>;  // by place in the cluster's memory
  /// Of what the lanes did until some of them, not all, learnt of it: by lane, whose it knows.
  struct Layer {
    std::array<std::uint32_t, kLanes> known{};
    Words words;
  };

  void close();
  void forget();

  Words words_;  // what nobody has learnt of yet
  std::vector<Layer> layers_;
};

}  // namespace warptwin::ptx
