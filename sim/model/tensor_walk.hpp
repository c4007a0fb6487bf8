/// The rows that a copy takes of its tensor, in the order in which they stand in shared memory.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/model/global_memory.hpp"

namespace warptwin::sim {

using TensorCoordinates = std::array<std::int64_t, TensorMapState::kRankMax>;

/// Calls `line(coordinates of the row's first element)` for each row of a tile, whose dimensions
/// beyond the first are gone through innermost first.
template <class Line>
void for_each_line_of_tile(const TensorMapState& map, const std::int32_t* at, Line line) {
  std::uint32_t index[TensorMapState::kRankMax] = {};
  TensorCoordinates coordinates{at[0]};
  for (;;) {
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      coordinates[d] = std::int64_t{at[d]} + std::int64_t{index[d]} * map.step[d];
    }
    line(coordinates);
    std::uint32_t d = 1;
    while (d < map.rank && ++index[d] == map.box[d]) {
      index[d++] = 0;
    }
    if (d >= map.rank) {
      return;
    }
  }
}

/// The same for each pixel of im2col: behind the last place of the bounding box in a dimension
/// comes its first place, and the next one of the dimension around it; behind the last of all, the
/// next image. What is taken stands `offset` from the place (PTX ISA, "im2col mode").
template <class Line>
void for_each_pixel(const TensorMapState& map, const TensorPlace& place, Line line) {
  const std::uint32_t image = map.rank - 1;
  TensorCoordinates base{};
  std::copy(place.at, place.at + map.rank, base.begin());
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    TensorCoordinates coordinates = base;
    for (std::uint32_t d = 1; d < image; ++d) {
      coordinates[d] += place.offset[d - 1];
    }
    line(coordinates);
    std::uint32_t d = 1;
    while (d < image && (base[d] += map.step[d]) > map.last_place(d - 1)) {
      base[d] = map.lower[d - 1];
      ++d;
    }
    base[image] += d == image ? map.step[image] : 0;
  }
}

/// Calls `row(offset in shared memory without swizzle, global address, units inside, units skipped
/// before them)` for each row; one that is outside of the tensor has 0 units. Units are elements
/// where `map.unit()` is 1.
template <class Row>
void for_each_row(const TensorMapState& map, const TensorPlace& place, Row row) {
  const std::int64_t unit = map.unit();
  const std::int64_t first = place.at[0] / unit;
  const std::int64_t begin = std::max<std::int64_t>(first, 0);
  const std::int64_t end = std::min(first + map.box[0] / unit, map.extent[0] / unit);
  std::uint32_t linear = 0;
  const auto line = [&](const TensorCoordinates& coordinates) {
    bool inside = end > begin;
    std::uint64_t address = map.address;
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      inside = inside && coordinates[d] >= 0 && coordinates[d] < map.extent[d];
      address += static_cast<std::uint64_t>(coordinates[d]) * map.stride_bytes[d];
    }
    row(linear,
        address + static_cast<std::uint64_t>(begin) * map.element_bytes,
        inside ? static_cast<std::uint32_t>(end - begin) : 0,
        inside ? static_cast<std::uint32_t>(begin - first) : 0);
    linear += map.row_pitch();
  };
  switch (place.mode) {
    case TensorMode::kTile:
      for_each_line_of_tile(map, place.at, line);
      break;
    case TensorMode::kRows4:
      for (std::uint32_t i = 1; i <= TensorMapState::kRowsOf4; ++i) {
        line(TensorCoordinates{place.at[0], place.at[i]});
      }
      break;
    case TensorMode::kIm2col:
      for_each_pixel(map, place, line);
      break;
  }
}

}  // namespace warptwin::sim
