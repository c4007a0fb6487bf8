/// Which output tiles a CTA computes, decided by its place in the grid alone.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"

namespace warptwin {

/// An output tile, counted in tiles.
struct Tile {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
};

/// The tiles of one cluster: every `step`-th of the grid from `first` on, along M first. A cluster
/// beyond the last tile has none. Use it in a range-based for.
class StaticTileScheduler {
 public:
  class Iterator {
   public:
    constexpr Iterator(std::uint32_t index, std::uint32_t step, std::uint32_t tiles_m)
        : index_{index}, step_{step}, tiles_m_{tiles_m} {}
    constexpr Tile operator*() const { return {index_ % tiles_m_, index_ / tiles_m_}; }
    constexpr Iterator& operator++() {
      index_ += step_;
      return *this;
    }
    /// The end: steps do not meet the last tile exactly.
    constexpr bool operator!=(std::uint32_t count) const { return index_ < count; }

   private:
    std::uint32_t index_;
    std::uint32_t step_;
    std::uint32_t tiles_m_;
  };

  constexpr StaticTileScheduler(std::uint32_t tiles_m,
                                std::uint32_t tiles_n,
                                std::uint32_t first,
                                std::uint32_t step)
      : tiles_m_{tiles_m}, count_{tiles_m * tiles_n}, first_{first}, step_{step} {}

  /// The tiles of the cluster that `machine` is a warp of.
  template <Machine M>
  static constexpr StaticTileScheduler of(const M& machine,
                                          std::uint32_t tiles_m,
                                          std::uint32_t tiles_n) {
    return {tiles_m, tiles_n, machine.cluster_index(), machine.cluster_count()};
  }

  constexpr Iterator begin() const { return {first_, step_, tiles_m_}; }
  constexpr std::uint32_t end() const { return count_; }

 private:
  std::uint32_t tiles_m_;
  std::uint32_t count_;
  std::uint32_t first_;
  std::uint32_t step_;
};

}  // namespace warptwin
