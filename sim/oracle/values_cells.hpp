/// Splits the spaces of memory at the boundaries of all accesses. What every access takes whole or
/// not at all is one cell, also where it does not lie together.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/oracle/values_footprint.hpp"

namespace warptwin::sim::values {

enum class Space : std::uint8_t { kShared, kTensor, kGlobal };

class CellSplitter {
 public:
  /// Notes an access, and names it; equal ones have one name. Before `split`.
  std::uint32_t add(Space space, Ranges ranges);

  void split();
  // The rest is for after it.

  std::uint32_t count(Space space) const { return spaces_[index(space)].cells; }
  const std::vector<std::uint32_t>& cells_of(std::uint32_t footprint) const {
    return footprints_[footprint].cells;
  }
  /// The cell that is exactly these four bytes; none where another access splits them.
  std::optional<std::uint32_t> word(Space space, std::uint64_t address) const;
  /// All cells with a part in the range.
  std::vector<std::uint32_t> cells_in(Space space, Range range) const;

 private:
  static constexpr std::uint32_t kNoCell = ~std::uint32_t{0};
  struct Footprint {
    Space space = Space::kShared;
    Ranges ranges;
    std::vector<std::uint32_t> cells;
  };
  struct Segments {
    std::vector<std::uint64_t> bounds;  // segment i is [bounds[i], bounds[i + 1])
    std::vector<std::uint32_t> cell;    // of each segment; kNoCell where nobody goes
    std::uint32_t cells = 0;
  };
  static std::size_t index(Space space) { return static_cast<std::size_t>(space); }
  void split(Space space);

  std::vector<Footprint> footprints_;
  std::map<std::pair<Space, Ranges>, std::uint32_t> names_;
  std::array<Segments, 3> spaces_;
};

}  // namespace warptwin::sim::values
