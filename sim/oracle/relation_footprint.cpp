#include "sim/oracle/relation_footprint.hpp"

#include <algorithm>

#include "common/machine/element.hpp"
#include "common/machine/shared_tile.hpp"

#include "sim/model/lane_access.hpp"

namespace warptwin::sim::relation {

namespace {

constexpr std::uint32_t kUnit = 16;       // bytes that a swizzle keeps together
constexpr std::uint32_t kStepBytes = 32;  // of K that one dense instruction takes
constexpr std::uint32_t kRowsTogether = 8;

Swizzle swizzle_of_code(std::uint32_t code) {
  for (const Swizzle swizzle :
       {Swizzle::k128B, Swizzle::k128BAtom32B, Swizzle::k64B, Swizzle::k32B}) {
    if (UmmaSmemDescriptor::code_of(swizzle) == code) {
      return swizzle;
    }
  }
  return Swizzle::kNone;
}

// Byte `k` of row `row` of a K-major tile, before the swizzle.
std::uint32_t k_major_at(UmmaSmemDescriptor tile, std::uint32_t row, std::uint32_t k) {
  const Swizzle swizzle = swizzle_of_code(tile.swizzle_code());
  const std::uint32_t group = tile.start().value + row / kRowsTogether * tile.stride_bytes();
  return swizzle == Swizzle::kNone
             ? group + row % kRowsTogether * kUnit + k / kUnit * tile.leading_bytes()
             : group + row % kRowsTogether * static_cast<std::uint32_t>(swizzle) + k;
}

Footprint k_major(UmmaSmemDescriptor tile, std::uint32_t rows, std::uint32_t bytes) {
  const Swizzle swizzle = swizzle_of_code(tile.swizzle_code());
  Footprint pieces;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t k = 0; k < bytes; k += kUnit) {
      const std::uint32_t at = swizzled(k_major_at(tile, row, k), swizzle);
      pieces.emplace_back(at, at + kUnit);
    }
  }
  return normalised(std::move(pieces));
}

bool far_apart(const Footprint& a, const Footprint& b) {
  return a.empty() || b.empty() || a.back().second <= b.front().first ||
         b.back().second <= a.front().first;
}

}  // namespace

Footprint normalised(Footprint pieces) {
  std::sort(pieces.begin(), pieces.end());
  Footprint joined;
  for (const auto& piece : pieces) {
    if (piece.first >= piece.second) {
      continue;
    }
    if (!joined.empty() && piece.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, piece.second);
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

Footprint bytes_at(std::uint64_t address, std::uint64_t bytes) {
  return bytes == 0 ? Footprint{} : Footprint{{address, address + bytes}};
}

bool meet(const Footprint& a, const Footprint& b) {
  if (far_apart(a, b)) {
    return false;
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (std::max(a[i].first, b[j].first) < std::min(a[i].second, b[j].second)) {
      return true;
    }
    (a[i].second < b[j].second ? i : j) += 1;
  }
  return false;
}

Footprint overlap(const Footprint& a, const Footprint& b) {
  Footprint common;
  if (far_apart(a, b)) {
    return common;
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint64_t begin = std::max(a[i].first, b[j].first);
    const std::uint64_t end = std::min(a[i].second, b[j].second);
    if (begin < end) {
      common.emplace_back(begin, end);
    }
    (a[i].second < b[j].second ? i : j) += 1;
  }
  return common;
}

Footprint without(const Footprint& a, const Footprint& b) {
  Footprint rest;
  for (auto [begin, end] : a) {
    for (const auto& piece : b) {
      if (piece.second <= begin || piece.first >= end) {
        continue;
      }
      if (piece.first > begin) {
        rest.emplace_back(begin, piece.first);
      }
      begin = std::min(end, piece.second);
    }
    if (begin < end) {
      rest.emplace_back(begin, end);
    }
  }
  return rest;
}

Footprint operand_bytes(std::uint64_t descriptor,
                        std::uint32_t rows,
                        Major major,
                        ElementType type,
                        std::uint32_t steps) {
  const UmmaSmemDescriptor tile{descriptor};
  if (major == Major::kK) {
    return k_major(tile, rows, steps * kStepBytes);
  }
  const Swizzle swizzle = swizzle_of_code(tile.swizzle_code());
  const std::uint32_t bytes = rows * bytes_of(type);
  Footprint pieces;
  for (std::uint32_t k = 0; k < steps * mma_k(type); ++k) {
    for (std::uint32_t mn = 0; mn < bytes; mn += kUnit) {
      const std::uint32_t at = swizzled(tile.mn_address(mn, k), swizzle);
      pieces.emplace_back(at, at + std::min(kUnit, bytes - mn));
    }
  }
  return normalised(std::move(pieces));
}

Footprint copied_bytes(std::uint64_t descriptor, TmemCopy shape) {
  return k_major(UmmaSmemDescriptor{descriptor}, rows_of(shape), 4 * columns_of(shape));
}

namespace {

// Lanes of PTX: bytes as they are addressed.
Footprint rectangle_at(std::uint64_t begin, const Event& event, const payload::Rows& said) {
  Footprint rows;
  for (std::uint32_t row = 0; row < said.rows; ++row) {
    const std::uint64_t at = begin + std::uint64_t{row} * said.pitch;
    rows.emplace_back(at, at + event.bytes);
  }
  return normalised(std::move(rows));
}

}  // namespace

Footprint global_bytes(const Event& event) {
  const payload::Rows* const said = event.rows();
  return said != nullptr && said->of_lanes ? rectangle_at(event.global, event, *said)
                                           : bytes_at(event.global, event.bytes);
}

Footprint shared_bytes(const Event& event) {
  const payload::Rows* const said = event.rows();
  if (said == nullptr) {
    return bytes_at(event.address, event.bytes);
  }
  if (said->of_lanes) {
    return rectangle_at(event.address, event, *said);
  }
  const auto swizzle = static_cast<Swizzle>(said->swizzle);
  Footprint pieces;
  for (std::uint32_t line = 0; line < said->rows; ++line) {
    const std::uint32_t first =
        event.address + (said->row + line) * said->pitch + said->column * said->element_bytes;
    for (std::uint32_t at = first; at < first + event.bytes;) {
      const std::uint32_t end = std::min(first + event.bytes, (at / kUnit + 1) * kUnit);
      const std::uint32_t lies = swizzled(at, swizzle);
      pieces.emplace_back(lies, lies + end - at);
      at = end;
    }
  }
  return normalised(std::move(pieces));
}

Footprint copy_bytes(const Event& event) {
  const bool tensor = event.op == Op::kTensorLoad || event.op == Op::kTensorStore;
  const payload::Copy copy = tensor ? event.as<payload::Copy>() : payload::Copy{};
  const auto swizzle = static_cast<Swizzle>(copy.swizzle);
  const std::uint32_t row = copy.row_bytes;
  if (row == 0 || row >= span_of(swizzle)) {
    return bytes_at(event.address, event.bytes);
  }
  Footprint pieces;
  for (std::uint32_t byte = 0; byte < event.bytes; byte += kUnit) {
    const std::uint32_t linear = byte / row * span_of(swizzle) + byte % row;
    const std::uint32_t lies = swizzled(event.address + linear, swizzle);
    pieces.emplace_back(lies, lies + kUnit);
  }
  return normalised(std::move(pieces));
}

Footprint global_piece(const Event& event) {
  const auto& copy = event.as<payload::Copy>();
  Footprint pieces;
  for (std::uint32_t row = 0; row < copy.rows; ++row) {
    const std::uint64_t at = event.global + std::uint64_t{row} * copy.pitch;
    pieces.emplace_back(at, at + copy.width);
  }
  return normalised(std::move(pieces));
}

Footprint cells(TmemAddress address,
                std::uint32_t columns,
                std::uint32_t first,
                std::uint32_t lanes) {
  Footprint pieces;
  for (std::uint32_t lane = first; lane < first + lanes; lane += kGroupLanes) {
    const std::uint64_t at = lane / kGroupLanes * kGroupCells + address.column();
    pieces.emplace_back(at, at + columns);
  }
  return normalised(std::move(pieces));
}

Footprint accumulator_cells(const Event& event) {
  const auto& mma = event.as<payload::Mma>();
  const UmmaInstructionDescriptor instruction{mma.instruction, mma.kind};
  const TmemAddress d{event.address};
  const bool pair = (event.flags & event_flag::kPair) != 0;
  if (pair || instruction.m() != 64) {
    return cells(d, mma.columns, 0, kTmemLanes);
  }
  Footprint pieces;  // 64 rows of one CTA: the first half of each quarter
  for (std::uint32_t quarter = 0; quarter < kTmemLanes; quarter += kWarpLanes) {
    const Footprint part = cells(d, mma.columns, (quarter + d.lane()) % kTmemLanes, kGroupLanes);
    pieces.insert(pieces.end(), part.begin(), part.end());
  }
  return normalised(std::move(pieces));
}

}  // namespace warptwin::sim::relation
