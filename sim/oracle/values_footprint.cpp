#include "sim/oracle/values_footprint.hpp"

#include <algorithm>

namespace warptwin::sim::values {

namespace {

constexpr std::uint32_t kUnit = 16;     // bytes that a swizzle moves together
constexpr std::uint32_t kBoxMax = 256;  // elements of a box in one dimension

Swizzle swizzle_of(UmmaSmemDescriptor descriptor) {
  switch (descriptor.swizzle_code()) {
    case 1:
      return Swizzle::k128BAtom32B;
    case 2:
      return Swizzle::k128B;
    case 4:
      return Swizzle::k64B;
    case 6:
      return Swizzle::k32B;
    default:
      return Swizzle::kNone;
  }
}

// Where byte `k` of row `row` of a K-major operand lies: groups of eight rows a stride apart; in a
// group rows of one span, or without a swizzle core matrices of eight times 16 bytes.
std::uint32_t k_major_byte(UmmaSmemDescriptor descriptor, std::uint32_t row, std::uint32_t k) {
  const Swizzle swizzle = swizzle_of(descriptor);
  const std::uint32_t group = descriptor.start().value + row / 8 * descriptor.stride_bytes();
  const std::uint32_t linear =
      swizzle == Swizzle::kNone
          ? group + row % 8 * kUnit + k / kUnit * descriptor.leading_bytes() + k % kUnit
          : group + row % 8 * static_cast<std::uint32_t>(swizzle) + k;
  return swizzled(linear, swizzle);
}

Ranges k_major_bytes(UmmaSmemDescriptor descriptor, std::uint32_t rows, std::uint32_t bytes) {
  Ranges ranges;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t k = 0; k < bytes; k += kUnit) {
      const std::uint64_t at = k_major_byte(descriptor, row, k);
      ranges.push_back({at, at + kUnit});
    }
  }
  normalise(ranges);
  return ranges;
}

}  // namespace

void normalise(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::size_t kept = 0;
  for (const Range& range : ranges) {
    if (range.begin >= range.end) {
      continue;
    }
    if (kept != 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

void add_tensor_cells(Ranges& ranges,
                      std::uint32_t lane,
                      std::uint32_t lanes,
                      std::uint32_t column,
                      std::uint32_t columns) {
  for (std::uint32_t at = lane / kLaneGroup; at * kLaneGroup < lane + lanes; ++at) {
    const std::uint64_t first = tensor_cell(at * kLaneGroup, column);
    ranges.push_back({first, first + columns});
  }
}

std::uint32_t MapGeometry::box_bytes() const {
  std::uint64_t bytes = element_bytes;
  for (std::uint32_t i = 0; i < rank; ++i) {
    if (box[i] == 0 || step[i] == 0 || box[i] > kBoxMax * kUnit) {
      return 0;
    }
    bytes *= box[i];
    if (bytes > kSharedBytesPerCtaMax) {
      return 0;
    }
  }
  return static_cast<std::uint32_t>(bytes);
}

MapGeometry geometry_of(const Program& program, std::uint32_t map) {
  const TensorMapSpec& spec = program.workload.maps[map];
  const TensorSpec& tensor = program.workload.tensors[spec.tensor];
  MapGeometry geometry;
  geometry.address = program.buffer_address(spec.tensor);
  geometry.element_bytes = bytes_of(tensor.element);
  geometry.extent[0] = tensor.units();
  geometry.stride[0] = geometry.element_bytes;
  geometry.box[0] = spec.box_columns;
  geometry.step[0] = 1;
  geometry.rank = 1;
  for (const MapDimension& dimension : outer_dimensions(spec, tensor)) {
    geometry.extent[geometry.rank] = dimension.extent;
    geometry.stride[geometry.rank] = dimension.stride_bytes;
    geometry.box[geometry.rank] = dimension.box;
    geometry.step[geometry.rank] = dimension.step;
    ++geometry.rank;
  }
  geometry.swizzle = spec.swizzle;
  return geometry;
}

std::vector<Run> runs_of_bulk(const operands::Copy& copy) {
  return {{copy.shared, copy.global, copy.bytes}};
}

std::vector<Run> runs_of_tensor(const operands::Copy& copy, const MapGeometry& map) {
  std::vector<Run> runs;
  const std::uint32_t row_bytes = map.row_bytes();
  const std::int64_t first = std::max<std::int64_t>(copy.at[0], 0);
  const std::int64_t last = std::min<std::int64_t>(
      copy.at[0] + static_cast<std::int64_t>(map.box[0]), static_cast<std::int64_t>(map.extent[0]));
  const std::uint32_t rows = map.box_bytes() / std::max(row_bytes, 1U);
  for (std::uint32_t row = 0; row < rows && first < last; ++row) {
    std::uint64_t global = map.address + static_cast<std::uint64_t>(first) * map.element_bytes;
    bool inside = true;
    std::uint64_t rest = row;
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      const std::int64_t at =
          copy.at[d] + static_cast<std::int64_t>(rest % map.box[d] * map.step[d]);
      rest /= map.box[d];
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.extent[d]);
      global += static_cast<std::uint64_t>(at) * map.stride[d];
    }
    if (!inside) {
      continue;
    }
    const std::uint32_t skipped =
        static_cast<std::uint32_t>(first - copy.at[0]) * map.element_bytes;
    const std::uint32_t bytes = static_cast<std::uint32_t>(last - first) * map.element_bytes;
    for (std::uint32_t done = 0; done < bytes;) {
      const std::uint32_t linear = copy.shared + row * map.row_pitch() + skipped + done;
      const std::uint32_t size = std::min(kUnit - linear % kUnit, bytes - done);
      runs.push_back({swizzled(linear, map.swizzle), global + done, size});
      done += size;
    }
  }
  return runs;
}

Ranges rows_of_tile(const operands::SharedRows& tile, std::uint32_t registers) {
  const std::uint32_t size = bytes_of(tile.element);
  Ranges ranges;
  const auto add = [&](std::uint32_t row, std::uint32_t column_byte, std::uint32_t bytes) {
    for (std::uint32_t done = 0; done < bytes;) {
      const std::uint32_t linear = tile.tile + row * tile.row_bytes + column_byte + done;
      const std::uint32_t part = std::min(kUnit - linear % kUnit, bytes - done);
      const std::uint64_t at = swizzled(linear, tile.swizzle);
      ranges.push_back({at, at + part});
      done += part;
    }
  };
  const std::uint32_t lines = tile.half_rows ? kWarpLanes / 2 : kWarpLanes;
  const std::uint32_t along = kWarpLanes / lines * registers;
  const std::uint32_t rows = tile.by_columns ? along : lines;
  const std::uint32_t width = tile.by_columns ? lines : along;
  for (std::uint32_t row = 0; row < rows; ++row) {
    add(tile.row + row, tile.column * size, width * size);
  }
  normalise(ranges);
  return ranges;
}

bool is_legal(UmmaSmemDescriptor descriptor, bool transposed_words) {
  const std::uint32_t code = descriptor.swizzle_code();
  const bool has_layout = transposed_words ? code == 1 : code % 2 == 0;
  return has_layout && descriptor.fixed() == UmmaSmemDescriptor::kFixed &&
         descriptor.base_offset() == 0;
}

bool is_legal(UmmaInstructionDescriptor instruction, CtaGroup group) {
  const bool pair = group == CtaGroup::kTwo;
  const std::uint32_t m = instruction.m();
  const std::uint32_t n = instruction.n();
  const std::uint32_t step = pair ? 16 : 8;
  const bool scaled = is_block_scaled(instruction.kind);
  const bool m_fits = pair ? m == 128 || m == 256 : m == 128 || (m == 64 && !scaled);
  const bool transposed =
      instruction.a_major() == Major::kMn || instruction.b_major() == Major::kMn;
  const bool whole = instruction.kind == MmaKind::kI8;
  const bool may_transpose =
      whole || instruction.kind == MmaKind::kF16 || instruction.kind == MmaKind::kTf32 ||
      instruction.kind == MmaKind::kF8f6f4 || instruction.kind == MmaKind::kMxf8f6f4;
  const bool n_exists = !whole || n % (pair ? 32 : 16) == 0 || (!pair && (n == 8 || n == 24));
  const bool has_selector = instruction.kind == MmaKind::kF16 || instruction.kind == MmaKind::kTf32;
  const bool sparse_exists =
      !instruction.sparse_a() || (m == (pair ? 256 : 128) && instruction.a_major() == Major::kK &&
                                  (instruction.bits & 3U) < (has_selector ? 2 : 1));
  return m_fits && n_exists && sparse_exists && n >= step && n <= 256 && n % step == 0 &&
         (!transposed || may_transpose);
}

bool is_legal_mma(const Operation& mma) {
  const auto& of = mma.as<operands::Mma>();
  const auto has = [&](std::uint32_t flag) { return (mma.flags & flag) != 0; };
  return of.instruction.kind <= MmaKind::kMxf4nvf4 && is_legal(of.instruction, of.group) &&
         has(event_flag::kBlockScale) == is_block_scaled(of.instruction.kind) &&
         has(event_flag::kSparse) == of.instruction.sparse_a() &&
         !(has(event_flag::kSparse) && has(event_flag::kTmemA));
}

Ranges operand_bytes(UmmaSmemDescriptor descriptor,
                     std::uint32_t rows,
                     Major major,
                     ElementType type,
                     std::uint32_t slice) {
  if (major == Major::kK) {
    return k_major_bytes(descriptor, rows, slice);
  }
  const std::uint32_t size = bytes_of(type);
  Ranges ranges;
  for (std::uint32_t k = 0; k < slice / size; ++k) {
    for (std::uint32_t row = 0; row < rows; row += kUnit / size) {
      const std::uint64_t at =
          swizzled(descriptor.mn_address(row * size, k), swizzle_of(descriptor));
      ranges.push_back({at, at + std::min(kUnit, (rows - row) * size)});
    }
  }
  normalise(ranges);
  return ranges;
}

Ranges bytes_of_b(UmmaSmemDescriptor b,
                  UmmaInstructionDescriptor instruction,
                  std::uint32_t group) {
  const std::uint32_t slice = instruction.sparse_a() ? 64 : 32;
  return operand_bytes(
      b, instruction.n() / group, instruction.b_major(), instruction.b_type(), slice);
}

Ranges copy_source(UmmaSmemDescriptor descriptor, TmemCopy shape) {
  return k_major_bytes(descriptor, rows_of(shape), columns_of(shape) * 4);
}

std::uint32_t accumulator_columns(UmmaInstructionDescriptor instruction, CtaGroup group) {
  const bool halves = group == CtaGroup::kTwo && instruction.m() == 128;
  return halves ? instruction.n() / 2 : instruction.n();
}

// PTX ISA, "Data path layout organization": half of each quarter with M = 64, else all.
Ranges accumulator_cells(UmmaInstructionDescriptor instruction, CtaGroup group, TmemAddress d) {
  const std::uint32_t columns = accumulator_columns(instruction, group);
  Ranges ranges;
  if (group == CtaGroup::kOne && instruction.m() == 64) {
    for (std::uint32_t quarter = 0; quarter < kTmemLanes; quarter += kWarpLanes) {
      add_tensor_cells(ranges, quarter + d.lane() % kWarpLanes, kLaneGroup, d.column(), columns);
    }
  } else {
    add_tensor_cells(ranges, 0, kTmemLanes, d.column(), columns);
  }
  normalise(ranges);
  return ranges;
}

}  // namespace warptwin::sim::values
