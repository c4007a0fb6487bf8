#include "sim/model/lane_access.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace warptwin::sim {

static constexpr std::size_t kRectanglesMostly = 8;  // of a swizzled tile's rows

std::vector<AccessRun> LaneAccess::runs() const {
  std::array<std::uint64_t, kWarpLanes> kept;
  std::uint32_t count = 0;
  bool adjacent = bytes != 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    kept[count] = address[static_cast<std::uint32_t>(std::countr_zero(left))];
    adjacent = adjacent && (count == 0 || kept[count] == kept[count - 1] + bytes);
    ++count;
  }
  if (count != 0 && adjacent) {
    return {{kept.front(), count * bytes, 1, count * bytes}};
  }
  const std::span starts{kept.data(), count};
  if (!std::is_sorted(starts.begin(), starts.end())) {
    std::sort(starts.begin(), starts.end());
  }
  // Bytes that touch or overlap are one run.
  std::vector<AccessRun> lines;
  lines.reserve(count);
  for (const std::uint64_t start : starts) {
    if (!lines.empty() && start <= lines.back().begin + lines.back().width) {
      AccessRun& last = lines.back();
      last.width = static_cast<std::uint32_t>(
          std::max<std::uint64_t>(last.begin + last.width, start + bytes) - last.begin);
    } else {
      lines.push_back({start, bytes, 1, 0});
    }
  }
  // Runs of one width, each as far behind the last, are rows of a rectangle: the nearest that may
  // follow is tried, so that several rectangles may lie between each other's rows.
  std::vector<AccessRun> rectangles;
  rectangles.reserve(std::min<std::size_t>(lines.size(), kRectanglesMostly));
  for (const AccessRun& line : lines) {
    const auto next = std::find_if(rectangles.begin(), rectangles.end(), [&](AccessRun& known) {
      if (known.width != line.width) {
        return false;
      }
      if (known.rows == 1) {
        // Rows of a tile are powers of two apart.
        const std::uint64_t pitch = line.begin - known.begin;
        return pitch <= 1U << 16 && (pitch & (pitch - 1)) == 0;
      }
      return line.begin == known.begin + std::uint64_t{known.rows} * known.pitch;
    });
    if (next == rectangles.end()) {
      rectangles.push_back(line);
    } else {
      if (next->rows == 1) {
        next->pitch = static_cast<std::uint32_t>(line.begin - next->begin);
      }
      ++next->rows;
    }
  }
  for (AccessRun& run : rectangles) {
    run.pitch = run.rows == 1 ? run.width : run.pitch;
  }
  return rectangles;
}

}  // namespace warptwin::sim
