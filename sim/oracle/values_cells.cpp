#include "sim/oracle/values_cells.hpp"

#include <algorithm>
#include <utility>

#include "sim/oracle/values_plan.hpp"

namespace warptwin::sim::values {

std::uint32_t CellSplitter::add(Space space, Ranges ranges) {
  const auto name = static_cast<std::uint32_t>(footprints_.size());
  const auto [at, is_new] = names_.try_emplace({space, ranges}, name);
  if (is_new) {
    footprints_.push_back({space, std::move(ranges), {}});
  }
  return at->second;
}

void CellSplitter::split() {
  split(Space::kShared);
  split(Space::kTensor);
  split(Space::kGlobal);
}

void CellSplitter::split(Space space) {
  Segments& segments = spaces_[index(space)];
  for (const Footprint& footprint : footprints_) {
    for (const Range& range : footprint.ranges) {
      if (footprint.space == space) {
        segments.bounds.push_back(range.begin);
        segments.bounds.push_back(range.end);
      }
    }
  }
  std::sort(segments.bounds.begin(), segments.bounds.end());
  segments.bounds.erase(std::unique(segments.bounds.begin(), segments.bounds.end()),
                        segments.bounds.end());
  const std::size_t count = segments.bounds.empty() ? 0 : segments.bounds.size() - 1;
  const auto first_of = [&](std::uint64_t address) {
    return static_cast<std::size_t>(
        std::lower_bound(segments.bounds.begin(), segments.bounds.end(), address) -
        segments.bounds.begin());
  };
  // Which accesses take a segment, as two sums of their names' mixes.
  using Signature = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<Signature> signatures(count);
  for (std::uint64_t name = 0; name < footprints_.size(); ++name) {
    if (footprints_[name].space != space) {
      continue;
    }
    for (const Range& range : footprints_[name].ranges) {
      for (std::size_t i = first_of(range.begin); segments.bounds[i] < range.end; ++i) {
        signatures[i].first += mixed(2 * name + 1);
        signatures[i].second += mixed(mixed(2 * name + 2));
      }
    }
  }
  std::map<Signature, std::uint32_t> cells;
  segments.cell.assign(count, kNoCell);
  for (std::size_t i = 0; i < count; ++i) {
    if (signatures[i] != Signature{}) {
      segments.cell[i] = cells.try_emplace(signatures[i], segments.cells).first->second;
      segments.cells = static_cast<std::uint32_t>(cells.size());
    }
  }
  for (Footprint& footprint : footprints_) {
    if (footprint.space != space) {
      continue;
    }
    for (const Range& range : footprint.ranges) {
      for (std::size_t i = first_of(range.begin); segments.bounds[i] < range.end; ++i) {
        footprint.cells.push_back(segments.cell[i]);
      }
    }
    std::sort(footprint.cells.begin(), footprint.cells.end());
    footprint.cells.erase(std::unique(footprint.cells.begin(), footprint.cells.end()),
                          footprint.cells.end());
  }
}

std::optional<std::uint32_t> CellSplitter::word(Space space, std::uint64_t address) const {
  const auto found = names_.find({space, Ranges{{address, address + 4}}});
  if (found == names_.end() || footprints_[found->second].cells.size() != 1) {
    return std::nullopt;
  }
  return footprints_[found->second].cells.front();
}

std::vector<std::uint32_t> CellSplitter::cells_in(Space space, Range range) const {
  const Segments& segments = spaces_[index(space)];
  std::vector<std::uint32_t> cells;
  for (std::size_t i = 0; i < segments.cell.size(); ++i) {
    if (segments.cell[i] != kNoCell && segments.bounds[i] < range.end &&
        range.begin < segments.bounds[i + 1]) {
      cells.push_back(segments.cell[i]);
    }
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

}  // namespace warptwin::sim::values
