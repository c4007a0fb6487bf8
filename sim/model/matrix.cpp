#include "sim/model/matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace warptwin::sim {

namespace {

Swizzle swizzle_of(std::uint32_t code) {
  switch (code) {
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

// The byte that holds byte `k` of row `row`, before swizzling. Swizzled K-major: eight rows, one
// span apart, make a group; unswizzled: an 8 x 16-byte core matrix lies in one piece.
std::uint32_t linear_address(UmmaSmemDescriptor descriptor, std::uint32_t row, std::uint32_t k) {
  const Swizzle swizzle = swizzle_of(descriptor.swizzle_code());
  const std::uint32_t group = descriptor.start().value + row / 8 * descriptor.stride_bytes();
  if (swizzle == Swizzle::kNone) {
    return group + row % 8 * 16 + k / 16 * descriptor.leading_bytes() + k % 16;
  }
  return group + row % 8 * static_cast<std::uint32_t>(swizzle) + k;
}

// The bytes that 16 elements become, packed from the lowest bit on: one of four bits is in the
// middle of its byte, and one of six in the lower bits (docs/not-modelled.md).
std::array<std::byte, 16> bytes_of_elements(const std::byte* packed, std::uint32_t padding) {
  std::array<std::byte, 16> bytes{};
  if (padding == 0) {
    std::memcpy(bytes.data(), packed, bytes.size());
    return bytes;
  }
  const std::uint32_t bits = (16 - padding) * 8 / 16;
  const std::uint32_t shift = bits == 4 ? 2 : 0;
  for (std::uint32_t element = 0; element < bytes.size(); ++element) {
    const std::uint32_t at = element * bits;
    std::uint32_t value = std::to_integer<std::uint32_t>(packed[at / 8]);
    if (at % 8 + bits > 8) {
      value |= std::to_integer<std::uint32_t>(packed[at / 8 + 1]) << 8;
    }
    bytes[element] = static_cast<std::byte>((value >> at % 8 & ((1U << bits) - 1)) << shift);
  }
  return bytes;
}

// An element that has a byte of its own.
float decode_small(SmallType type, std::byte byte) {
  const auto bits = std::to_integer<std::uint32_t>(byte);
  if (type == SmallType::kE2m1) {
    return decode(ElementType::kF4E2M1, bits >> 2 & 0xFU);
  }
  const std::uint32_t mantissa = type == SmallType::kE2m3 ? 3 : 2;
  const int bias = type == SmallType::kE2m3 ? 1 : 3;
  const std::uint32_t exponent = (bits & 0x1FU) >> mantissa;
  const std::uint32_t fraction = bits & ((1U << mantissa) - 1);
  const std::uint32_t digits = exponent == 0 ? fraction : fraction | 1U << mantissa;
  const int power = static_cast<int>(std::max(exponent, 1U)) - bias - static_cast<int>(mantissa);
  const float value = std::ldexp(static_cast<float>(digits), power);
  return (bits & 0x20U) != 0 ? -value : value;
}

// K-major rows of them, as `gather` has others.
void gather_small(const OperandView& view,
                  std::uint32_t rows,
                  SmallType type,
                  float* out,
                  std::uint32_t row_stride,
                  std::uint32_t k_stride) {
  const Swizzle swizzle = swizzle_of(view.descriptor.swizzle_code());
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t k = 0; k < kMmaRowBytes; k += 16) {
      const std::uint32_t at = swizzled(linear_address(view.descriptor, row, k), swizzle);
      std::array<std::byte, 16> packed{};
      if (at + packed.size() <= view.shared_bytes) {
        std::memcpy(packed.data(), view.shared + at, packed.size());
      }
      const auto bytes = bytes_of_elements(packed.data(), padding_of(type));
      for (std::uint32_t i = 0; i < bytes.size(); ++i) {
        out[row * row_stride + (k + i) * k_stride] = decode_small(type, bytes[i]);
      }
    }
  }
}

// Rows [0, rows) of one instruction's K, `k_bytes` of each, as floats, `stride` floats apart.
template <ElementType type>
void gather_as(const OperandView& view,
               std::uint32_t rows,
               Major major,
               std::uint32_t k_bytes,
               float* out,
               std::uint32_t row_stride,
               std::uint32_t k_stride) {
  constexpr std::uint32_t size = bytes_of(type);
  constexpr std::uint32_t together = elements_in_unit(type);
  const Swizzle swizzle = swizzle_of(view.descriptor.swizzle_code());
  // The elements of the `bytes` bytes of a unit that begins at `linear`, `stride` floats apart.
  const auto unit =
      [&](std::uint32_t linear, std::uint32_t bytes, float* to, std::uint32_t stride) {
        const std::uint32_t at = swizzled(linear, swizzle);
        for (std::uint32_t byte = 0; byte < bytes; byte += size) {
          std::uint32_t bits = 0;
          if (at + byte + size <= view.shared_bytes) {
            std::memcpy(&bits, view.shared + at + byte, size);
          }
          for (std::uint32_t i = 0; i < together; ++i) {
            *to = decode(type, bits >> (8 * size / together * i));
            to += stride;
          }
        }
      };
  if (major == Major::kMn) {
    for (std::uint32_t k = 0; k < k_rows_of(type, k_bytes); ++k) {
      for (std::uint32_t row = 0; row < rows; row += 16 / size) {
        unit(view.descriptor.mn_address(row * size, k),
             std::min(16U, (rows - row) * size),
             out + row * row_stride + k * k_stride,
             row_stride);
      }
    }
    return;
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t k = 0; k < k_bytes; k += 16) {
      unit(linear_address(view.descriptor, row, k),
           16,
           out + row * row_stride + k / size * together * k_stride,
           k_stride);
    }
  }
}

// The same; decoding is compiled for each type that operands have.
void gather(const OperandView& view,
            std::uint32_t rows,
            SmallType small,
            ElementType type,
            Major major,
            std::uint32_t k_bytes,
            float* out,
            std::uint32_t row_stride,
            std::uint32_t k_stride) {
  if (small != SmallType::kNone) {
    return gather_small(view, rows, small, out, row_stride, k_stride);
  }
  switch (type) {
    case ElementType::kTf32:
      return gather_as<ElementType::kTf32>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kF16:
      return gather_as<ElementType::kF16>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kBf16:
      return gather_as<ElementType::kBf16>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kF8E4M3:
      return gather_as<ElementType::kF8E4M3>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kF8E5M2:
      return gather_as<ElementType::kF8E5M2>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kF4E2M1:
      return gather_as<ElementType::kF4E2M1>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kU8:
      return gather_as<ElementType::kU8>(view, rows, major, k_bytes, out, row_stride, k_stride);
    case ElementType::kI8:
      return gather_as<ElementType::kI8>(view, rows, major, k_bytes, out, row_stride, k_stride);
    default:
      return gather_as<ElementType::kF32>(view, rows, major, k_bytes, out, row_stride, k_stride);
  }
}

bool holds_unknown(const OperandView& view) {
  return view.unknown != nullptr && !view.unknown->empty();
}

bool some_unknown(const OperandView& view, const Units& units) {
  return holds_unknown(view) && std::any_of(units.begin(), units.end(), [&](const auto& unit) {
           const auto begin = view.unknown->begin();
           const auto end = std::find(begin + unit.first, begin + unit.second, true);
           return end != begin + unit.second;
         });
}

// The same from tensor memory: row m in lane m, packed into 32-bit cells.
void gather_tmem(const MmaOperands& operands, TensorMemory& tmem, std::uint32_t rows, float* out) {
  const ElementType type = operands.instruction.a_type();
  const std::uint32_t size = bytes_of(type);
  const SmallType small = small_a(operands.instruction);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t* cells =
        tmem.lane((operands.a_address.lane() + row) % kTmemLanes) + operands.a_address.column();
    for (std::uint32_t k = 0; k < kMmaRowBytes / size; ++k) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, reinterpret_cast<const std::byte*>(cells) + k * size, size);
      *out++ = small != SmallType::kNone ? decode_small(small, static_cast<std::byte>(bits))
                                         : decode(type, bits);
    }
  }
}

// Spreads the elements of a row of a sparse A, which stand at its beginning, to their places, by
// `metadata(part)`, 16 bits in the low half each. Two at one place, which the manual does not
// define, are added, as an H200 adds them. `together` elements share a byte, and a place.
template <class Metadata>
void spread_row(SparseElements elements, std::uint32_t together, float* row, Metadata metadata) {
  float packed[2 * kMmaRowBytes];
  const std::uint32_t kept = elements.kept();
  std::copy_n(row, elements.instruction_k() / 2 * together, packed);
  std::fill_n(row, elements.instruction_k() * together, 0.0F);
  for (std::uint32_t part = 0; part < elements.parts(); ++part) {
    const std::uint32_t bits = metadata(part);
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
      const std::uint32_t at = 4 * part + chunk;
      for (std::uint32_t i = 0; i < kept; ++i) {
        const std::uint32_t place = elements.place(bits >> (4 * chunk), i);
        for (std::uint32_t e = 0; e < together; ++e) {
          row[(at * elements.chunk() + place) * together + e] +=
              packed[(at * kept + i) * together + e];
        }
      }
    }
  }
}

// Spreads the rows of a sparse A, of `k_size` elements each, by its metadata in tensor memory.
void spread(const MmaOperands& operands,
            TensorMemory& tmem,
            std::uint32_t rows,
            std::uint32_t k_size,
            float* a) {
  const ElementType type = operands.instruction.a_type();
  const SparseElements elements = sparse_elements(type);
  const std::uint32_t column =
      operands.metadata.column() + operands.instruction.sparsity_selector();
  for (std::uint32_t m = 0; m < rows; ++m) {
    spread_row(elements, elements_in_unit(type), a + m * k_size, [&](std::uint32_t part) {
      const auto cell = SparseMetadataCell::of(elements, m, part);
      return tmem.lane(cell.lane)[column + cell.column] >> cell.shift;
    });
  }
}

// Multiplies the elements of row `row`, `stride` floats apart, by the row's scale factors: those at
// `address`, from `first_byte` of a cell on, in the copy of one quarter of the lanes.
void scale_row(UmmaInstructionDescriptor instruction,
               TensorMemory& tmem,
               TmemAddress address,
               std::uint32_t first_byte,
               std::uint32_t quarter,
               std::uint32_t row,
               float* elements,
               std::uint32_t stride) {
  const std::uint32_t factors = scale_vector(instruction.kind);
  const std::uint32_t vector = k_rows_of(instruction.a_type(), instruction.b_row_bytes()) / factors;
  const std::uint32_t lane = kWarpLanes * quarter + row % kScaleRowsInColumn;
  const std::uint32_t cell = tmem.lane(lane)[address.column() + row / kScaleRowsInColumn];
  for (std::uint32_t i = 0; i < factors; ++i) {
    const std::uint32_t byte = (first_byte + i) % 4;
    const float factor = decode(instruction.scale_type(), cell >> (8 * byte));
    for (std::uint32_t k = i * vector; k < (i + 1) * vector; ++k) {
      elements[k * stride] *= factor;
    }
  }
}

void scale_a(const MmaOperands& operands,
             TensorMemory& tmem,
             std::uint32_t quarter,
             std::uint32_t row,
             float* elements) {
  const UmmaInstructionDescriptor& instruction = operands.instruction;
  scale_row(
      instruction, tmem, operands.scale_a, instruction.scale_byte_a(), quarter, row, elements, 1);
}

void scale_b(const MmaOperands& operands,
             TensorMemory& tmem,
             std::uint32_t quarter,
             float* elements) {
  const UmmaInstructionDescriptor& instruction = operands.instruction;
  for (std::uint32_t n = 0; n < instruction.n(); ++n) {
    scale_row(instruction,
              tmem,
              operands.scale_b,
              instruction.scale_byte_b(),
              quarter,
              n,
              elements + n,
              instruction.n());
  }
}

// Of a row of a sparse A.
bool metadata_written(const MmaOperands& operands, const TensorMemory& tmem, std::uint32_t row) {
  const SparseElements elements = sparse_elements(operands.instruction.a_type());
  const std::uint32_t column =
      operands.metadata.column() + operands.instruction.sparsity_selector();
  bool all = true;
  for (std::uint32_t part = 0; part < elements.parts(); ++part) {
    const auto cell = SparseMetadataCell::of(elements, row, part);
    all = all && tmem.written(cell.lane, column + cell.column);
  }
  return all;
}

// Whether somebody has written what the row of D is made of in tensor memory: A, and all scale
// factors. What has been stored nowhere is reported where it is read.
bool sources_written(const MmaOperands& operands, const TensorMemory& tmem, std::uint32_t row) {
  if (!tmem.holds_unwritten()) {
    return true;
  }
  if (operands.instruction.sparse_a() && !metadata_written(operands, tmem, row)) {
    return false;
  }
  bool all = !operands.a_in_tmem || tmem.all_written((operands.a_address.lane() + row) % kTmemLanes,
                                                     operands.a_address.column(),
                                                     kTmemAColumns);
  for (std::uint32_t lane = 0; lane < kTmemLanes && is_block_scaled(operands.instruction.kind);
       ++lane) {
    all = all &&
          tmem.all_written(lane,
                           operands.scale_a.column(),
                           scale_columns_a(operands.instruction, operands.group)) &&
          tmem.all_written(lane, operands.scale_b.column(), scale_columns_b(operands.instruction));
  }
  return all;
}

// Of a row of D, `columns` from a cell on: those of B's rows from `n` on. A sum is written where
// what it begins with was.
void note_sums(const MmaOperands& operands,
               TensorMemory& tmem,
               TmemAddress at,
               std::uint32_t n,
               std::uint32_t columns,
               bool written,
               const std::vector<bool>& unknown_b) {
  const std::uint32_t lane = (operands.d_address.lane() + at.lane()) % kTmemLanes;
  const std::uint32_t column = operands.d_address.column() + at.column();
  if (!written || !operands.accumulate) {
    tmem.set_written(lane, column, columns, written);
  }
  for (std::uint32_t i = 0; i < columns && !unknown_b.empty(); ++i) {
    if (unknown_b[n + i]) {
      tmem.set_written(lane, column + i, 1, false);
    }
  }
}

// The lane and first column of D's row `m`, columns from `n` on (PTX ISA, "data path layout").
TmemAddress d_cell(
    std::uint32_t m_size, std::uint32_t n_size, CtaGroup group, std::uint32_t m, std::uint32_t n) {
  if (group == CtaGroup::kTwo && m_size == 128) {
    const std::uint32_t half = n_size / 2;
    return TmemAddress{}.at_lane(m % 64 + (n >= half ? 64 : 0)).at_column(n % half);
  }
  if (group == CtaGroup::kOne && m_size == 64) {
    return TmemAddress{}.at_lane(32 * (m / 16) + m % 16).at_column(n);
  }
  return TmemAddress{}.at_lane(m % 128).at_column(n);
}

}  // namespace

namespace {

constexpr std::uint32_t kCoreMatrixBytes = 128;

// Where the last of `rows` rows of `bytes` bytes ends. A swizzle moves 16-byte units within their
// span, so the slice of a row that does not begin its span reaches to the span's end.
OperandReach reach(UmmaSmemDescriptor descriptor, std::uint32_t rows, std::uint32_t bytes) {
  const Swizzle swizzle = swizzle_of(descriptor.swizzle_code());
  const std::uint32_t last = linear_address(descriptor, rows - 1, bytes - 1);
  const std::uint32_t start = descriptor.start().value;
  if (swizzle == Swizzle::kNone) {
    // Core matrices of 8 rows of 16 bytes: side by side, or those of one column in a row.
    const std::uint32_t side = bytes / 16 * kCoreMatrixBytes;
    const std::uint32_t column = rows / 8 * kCoreMatrixBytes;
    if (descriptor.leading_bytes() == kCoreMatrixBytes && descriptor.stride_bytes() >= side) {
      return {start, last + 1, start, side, descriptor.stride_bytes(), rows / 8};
    }
    if (descriptor.stride_bytes() == kCoreMatrixBytes && descriptor.leading_bytes() >= column) {
      return {start, last + 1, start, column, descriptor.leading_bytes(), bytes / 16};
    }
    return {start, last + 1};
  }
  const auto span = static_cast<std::uint32_t>(swizzle);
  const bool even = descriptor.stride_bytes() == 8 * span && start % span + bytes <= span;
  return {start / span * span, (last / span + 1) * span, start, bytes, even ? span : 0, rows, true};
}

}  // namespace

OperandReach reach_of(UmmaSmemDescriptor descriptor, std::uint32_t rows, std::uint32_t k_bytes) {
  return reach(descriptor, rows, k_bytes);
}

std::uint32_t mn_panels(UmmaSmemDescriptor descriptor, std::uint32_t mn_bytes) {
  return ceil_div(mn_bytes, descriptor.panel_bytes());
}

// A row of a panel is a span of the swizzle. A panel that is not read whole, or does not begin with
// a span, is not even.
OperandReach mn_reach(UmmaSmemDescriptor descriptor,
                      std::uint32_t mn_bytes,
                      std::uint32_t k_rows,
                      std::uint32_t panel) {
  const std::uint32_t width = descriptor.panel_bytes();
  const std::uint32_t read = std::min(width, mn_bytes - panel * width);
  const auto row = [&](std::uint32_t k) { return descriptor.mn_address(panel * width, k); };
  std::uint32_t first = row(0);
  std::uint32_t last = first;
  for (std::uint32_t k = 1; k < k_rows; ++k) {
    first = std::min(first, row(k));
    last = std::max(last, row(k));
  }
  const bool even = read == width && first % width == 0 && first == row(0) &&
                    row(k_rows - 1) == first + (k_rows - 1) * width && last == row(k_rows - 1);
  const bool swizzles = descriptor.swizzle_code() != 0;
  const std::uint32_t end = (last + read + width - 1) / width * width;
  const std::uint32_t begin = first / width * width;
  return {begin, end, begin, width, even ? width : 0, k_rows, swizzles};
}

OperandReach copy_reach(UmmaSmemDescriptor descriptor, TmemCopy shape) {
  return reach(descriptor, rows_of(shape), columns_of(shape) * 4);
}

namespace {

Units units_k_major(UmmaSmemDescriptor descriptor,
                    std::uint32_t rows,
                    std::uint32_t bytes,
                    std::uint32_t padding = 0) {
  const Swizzle swizzle = swizzle_of(descriptor.swizzle_code());
  Units units;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t byte = 0; byte < bytes; byte += 16) {
      const std::uint32_t at = swizzled(linear_address(descriptor, row, byte), swizzle);
      units.emplace_back(at, at + 16 - padding);
    }
  }
  return units;
}

}  // namespace

Units units_of(UmmaSmemDescriptor descriptor,
               std::uint32_t rows,
               Major major,
               ElementType type,
               std::uint32_t k_bytes,
               std::uint32_t padding) {
  if (major == Major::kK) {
    return units_k_major(descriptor, rows, k_bytes, padding);
  }
  const Swizzle swizzle = swizzle_of(descriptor.swizzle_code());
  const std::uint32_t bytes = rows * bytes_of(type);
  Units units;
  for (std::uint32_t k = 0; k < k_rows_of(type, k_bytes); ++k) {
    for (std::uint32_t byte = 0; byte < bytes; byte += 16) {
      const std::uint32_t at = swizzled(descriptor.mn_address(byte, k), swizzle);
      units.emplace_back(at, at + std::min(16U, bytes - byte));
    }
  }
  return units;
}

Units units_of(UmmaSmemDescriptor descriptor, TmemCopy shape, std::uint32_t padding) {
  return units_k_major(descriptor, rows_of(shape), columns_of(shape) * 4, padding);
}

void copy_to_tmem(const OperandView& from,
                  TmemCopy shape,
                  std::uint32_t padding,
                  TensorMemory& to,
                  TmemAddress address) {
  const std::uint32_t rows = rows_of(shape);
  const Swizzle swizzle = swizzle_of(from.descriptor.swizzle_code());
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t byte = 0; byte < columns_of(shape) * 4; byte += 16) {
      const std::uint32_t at = swizzled(linear_address(from.descriptor, row, byte), swizzle);
      const auto bytes = bytes_of_elements(from.shared + at, padding);
      // A cell has the bytes of a word, or elements of anywhere in the unit.
      std::array<bool, 4> known{true, true, true, true};
      for (std::uint32_t cell = 0; cell < known.size() && holds_unknown(from); ++cell) {
        const std::uint32_t first = padding == 0 ? at + 4 * cell : at;
        const std::uint32_t end = padding == 0 ? first + 4 : at + 16 - padding;
        known[cell] = !some_unknown(from, {{first, end}});
      }
      for (std::uint32_t lane = row; lane < kTmemLanes; lane += rows) {
        std::memcpy(to.lane(lane) + address.column() + byte / 4, bytes.data(), bytes.size());
        for (std::uint32_t cell = 0; cell < known.size(); ++cell) {
          to.set_written(lane, address.column() + byte / 4 + cell, 1, known[cell]);
        }
      }
    }
  }
}

// Adds to cells of 32 bits the sums of one instruction's products of whole numbers, which a float
// holds as they are; a sum of 32 bits wraps around.
static void add_whole(const float* products,
                      std::uint32_t* cells,
                      std::uint32_t count,
                      bool accumulate) {
  for (std::uint32_t i = 0; i < count; ++i) {
    cells[i] = (accumulate ? cells[i] : 0) +
               static_cast<std::uint32_t>(static_cast<std::int32_t>(products[i]));
  }
}

std::vector<bool> unknown_rows(const OperandView& view,
                               std::uint32_t rows,
                               SmallType small,
                               ElementType type,
                               Major major,
                               std::uint32_t k_bytes) {
  if (!holds_unknown(view)) {
    return {};
  }
  const auto units = units_of(view.descriptor, rows, major, type, k_bytes, padding_of(small));
  if (!some_unknown(view, units)) {
    return {};
  }
  // Read as numbers, of which no type has a 0 where a byte is marked.
  constexpr std::byte kMark{0x33};
  std::vector<std::byte> marks(view.shared_bytes);
  for (const auto& [first, end] : units) {
    for (std::uint32_t at = first; at < end; ++at) {
      marks[at] = (*view.unknown)[at] ? kMark : std::byte{0};
    }
  }
  const std::uint32_t elements = k_rows_of(type, k_bytes);
  std::vector<float> found(std::size_t{rows} * elements);
  gather({marks.data(), view.shared_bytes, view.descriptor},
         rows,
         small,
         type,
         major,
         k_bytes,
         found.data(),
         elements,
         1);
  std::vector<bool> unknown(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(std::size_t{row} * elements);
    unknown[row] = std::any_of(begin, begin + elements, [](float element) { return element != 0; });
  }
  return unknown;
}

// Of the rows of A in a CTA, and of those of B in all; empty: none.
static std::vector<bool> unknown_rows_of_a(const MmaOperands& operands, std::uint32_t cta) {
  const UmmaInstructionDescriptor& instruction = operands.instruction;
  return operands.a_in_tmem ? std::vector<bool>{}
                            : unknown_rows(operands.a[cta],
                                           instruction.m() / ctas_in(operands.group),
                                           small_a(instruction),
                                           instruction.a_type(),
                                           instruction.a_major(),
                                           kMmaRowBytes);
}

static std::vector<bool> unknown_rows_of_b(const MmaOperands& operands) {
  const UmmaInstructionDescriptor& instruction = operands.instruction;
  const std::uint32_t ctas = ctas_in(operands.group);
  std::vector<bool> all;
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    const std::uint32_t rows = instruction.n() / ctas;
    const std::vector<bool> own = unknown_rows(operands.b[cta],
                                               rows,
                                               small_b(instruction),
                                               instruction.b_type(),
                                               instruction.b_major(),
                                               instruction.b_row_bytes());
    if (!own.empty()) {
      all.resize(instruction.n());
      std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(cta * rows));
    }
  }
  return all;
}

void multiply(const MmaOperands& operands) {
  const std::uint32_t ctas = ctas_in(operands.group);
  const std::uint32_t m_size = operands.instruction.m();
  const std::uint32_t n_size = operands.instruction.n();
  const bool sparse = operands.instruction.sparse_a();
  const std::uint32_t b_bytes = operands.instruction.b_row_bytes();
  const std::uint32_t k_size = k_rows_of(operands.instruction.b_type(), b_bytes);
  const std::uint32_t m_local = m_size / ctas;
  const std::uint32_t n_local = n_size / ctas;
  // B by rows of k, so that the innermost loop runs along a row of D.
  std::vector<float> b(std::size_t{k_size} * n_size);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    gather(operands.b[cta],
           n_local,
           small_b(operands.instruction),
           operands.instruction.b_type(),
           operands.instruction.b_major(),
           b_bytes,
           b.data() + cta * n_local,
           1,
           n_size);
  }
  const std::vector<bool> unknown_b = unknown_rows_of_b(operands);
  const bool scaled = is_block_scaled(operands.instruction.kind);
  const bool whole = operands.instruction.kind == MmaKind::kI8;
  std::vector<float> b_scaled;
  std::vector<float> a(std::size_t{m_local} * k_size);
  std::vector<float> sum(n_size);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    if (operands.a_in_tmem) {
      gather_tmem(operands, *operands.d[cta], m_local, a.data());
    } else {
      gather(operands.a[cta],
             m_local,
             small_a(operands.instruction),
             operands.instruction.a_type(),
             operands.instruction.a_major(),
             kMmaRowBytes,
             a.data(),
             k_size,
             1);
    }
    const std::vector<bool> unknown_a = unknown_rows_of_a(operands, cta);
    if (sparse) {
      spread(operands, *operands.d[cta], m_local, k_size, a.data());
    }
    std::uint32_t quarter = kTmemLanes;  // none: of the lanes, whose factors `b_scaled` has
    for (std::uint32_t m = 0; m < m_local; ++m) {
      const std::uint32_t own = d_cell(m_size, n_size, operands.group, m, 0).lane() / kWarpLanes;
      if (scaled && quarter != own) {
        quarter = own;
        b_scaled = b;
        scale_b(operands, *operands.d[cta], quarter, b_scaled.data());
      }
      if (scaled) {
        scale_a(operands, *operands.d[cta], quarter, m, &a[m * k_size]);
      }
      const bool written =
          sources_written(operands, *operands.d[cta], m) && (unknown_a.empty() || !unknown_a[m]);
      const float* b_used = scaled ? b_scaled.data() : b.data();
      const auto cell = [&](std::uint32_t n) {
        const TmemAddress at = d_cell(m_size, n_size, operands.group, m, n);
        return operands.d[cta]->lane((operands.d_address.lane() + at.lane()) % kTmemLanes) +
               operands.d_address.column() + at.column();
      };
      const std::uint32_t run = d_columns(operands.instruction, operands.group);
      for (std::uint32_t n = 0; n < n_size; n += run) {
        if (operands.accumulate && !whole) {
          std::memcpy(&sum[n], cell(n), run * sizeof(float));
        } else {
          std::memset(&sum[n], 0, run * sizeof(float));
        }
      }
      for (std::uint32_t k = 0; k < k_size; ++k) {
        const float factor = a[m * k_size + k];
        const float* row = b_used + std::size_t{k} * n_size;
        float* into = sum.data();
#pragma omp simd
        for (std::uint32_t n = 0; n < n_size; ++n) {
          into[n] += factor * row[n];
        }
      }
      for (std::uint32_t n = 0; n < n_size; n += run) {
        if (whole) {
          add_whole(&sum[n], cell(n), run, operands.accumulate);
        } else {
          std::memcpy(cell(n), &sum[n], run * sizeof(float));
        }
        const TmemAddress at = d_cell(m_size, n_size, operands.group, m, n);
        note_sums(operands, *operands.d[cta], at, n, run, written, unknown_b);
      }
    }
  }
}

namespace {

// A's rows from the registers of the four warps (PTX ISA, "register fragments for
// wgmma.mma_async").
void gather_registers(const WgmmaOperands& operands, float* out) {
  const ElementType type = operands.instruction.a_type();
  const std::uint32_t size = bytes_of(type);
  const std::uint32_t k_size = mma_k(type);
  for (std::uint32_t warp = 0; warp < kWarpsPerWarpgroup; ++warp) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < kWgmmaARegisters; ++i) {
        const WgmmaACell cell = WgmmaACell::of(lane, i, 4 / size);
        const std::uint32_t bits = operands.a_registers[warp][lane * kWgmmaARegisters + i];
        float* row = out + std::size_t{warp * kWgmmaWarpRows + cell.row} * k_size;
        for (std::uint32_t e = 0; e < 4 / size; ++e) {
          const std::uint32_t element = bits >> (8 * size * e);
          row[cell.k + e] =
              decode(type, size == 4 ? element : element & ((std::uint32_t{1} << 8 * size) - 1));
        }
      }
    }
  }
}

}  // namespace

void multiply(const WgmmaOperands& operands) {
  const std::uint32_t n_size = operands.instruction.n();
  const std::uint32_t b_bytes = operands.instruction.b_row_bytes();
  const std::uint32_t k_size = k_rows_of(operands.instruction.b_type(), b_bytes);
  const bool halves = operands.instruction.f16_result();
  const bool whole = operands.instruction.kind == MmaKind::kI8;
  const std::uint32_t registers = halves ? n_size / 4 : n_size / 2;
  std::vector<float> a(std::size_t{kWgmmaRows} * k_size);
  std::vector<float> b(std::size_t{n_size} * k_size);
  const UmmaInstructionDescriptor& instruction = operands.instruction;
  if (operands.a_registers[0] != nullptr) {
    gather_registers(operands, a.data());
  } else {
    gather(operands.a,
           kWgmmaRows,
           SmallType::kNone,
           instruction.a_type(),
           instruction.a_major(),
           kMmaRowBytes,
           a.data(),
           k_size,
           1);
  }
  if (instruction.sparse_a()) {
    const SparseElements elements = sparse_elements(instruction.a_type());
    for (std::uint32_t row = 0; row < kWgmmaRows; ++row) {
      const std::uint32_t* words = operands.metadata[row / kWgmmaWarpRows];
      spread_row(elements, 1, &a[std::size_t{row} * k_size], [&](std::uint32_t part) {
        const auto cell = WgmmaMetadataCell::of(
            elements, row % kWgmmaWarpRows, part, instruction.sparsity_selector());
        return words[cell.lane] >> cell.shift;
      });
    }
  }
  gather(operands.b,
         n_size,
         SmallType::kNone,
         instruction.b_type(),
         instruction.b_major(),
         b_bytes,
         b.data(),
         k_size,
         1);
  // The sum of one value of D, from `begin` on.
  const auto sum_of = [&](std::uint32_t warp, WgmmaCell cell, float begin) {
    const float* row = &a[std::size_t{warp * kWgmmaWarpRows + cell.row} * k_size];
    const float* column = &b[std::size_t{cell.column} * k_size];
    float sum = operands.accumulate && !whole ? begin : 0;
    for (std::uint32_t k = 0; k < k_size; ++k) {
      sum += row[k] * column[k];
    }
    return sum;
  };
  for (std::uint32_t warp = 0; warp < kWarpsPerWarpgroup; ++warp) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < registers; ++i) {
        std::uint32_t& bits = operands.d[warp][lane * registers + i];
        if (!halves) {
          const float sum = sum_of(warp, WgmmaCell::of(lane, i), std::bit_cast<float>(bits));
          if (whole) {
            add_whole(&sum, &bits, 1, operands.accumulate);
          } else {
            bits = std::bit_cast<std::uint32_t>(sum);
          }
          continue;
        }
        std::uint32_t packed = 0;
        for (std::uint32_t e = 0; e < 2; ++e) {
          const float begin = decode(ElementType::kF16, bits >> (16 * e) & 0xFFFFU);
          const float sum = sum_of(warp, WgmmaCell::of(lane, 2 * i + e), begin);
          packed |= (encode(ElementType::kF16, sum) & 0xFFFFU) << (16 * e);
        }
        bits = packed;
      }
    }
  }
}

}  // namespace warptwin::sim
