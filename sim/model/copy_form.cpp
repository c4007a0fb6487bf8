#include "sim/model/copy_form.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/machine/element.hpp"

namespace warptwin::sim {

std::uint32_t bytes_of(TensorType type) {
  constexpr std::uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 8, 12, 0};
  return kBytes[static_cast<unsigned>(type)];
}

std::uint32_t elements_in_unit(TensorType type) {
  return padding_of(type) != 0 ? 16 : type == TensorType::k16U4Align8B ? 2 : 1;
}

std::uint32_t padding_of(TensorType type) {
  return type == TensorType::k16U4Align16B ? 8 : type == TensorType::k16U6Align16B ? 4 : 0;
}

std::uint32_t CopyReduction::element_bytes() const {
  switch (type) {
    case ReduceType::kF16:
    case ReduceType::kBf16:
      return 2;
    case ReduceType::kU64:
    case ReduceType::kS64:
    case ReduceType::kF64:
      return 8;
    default:
      return 4;
  }
}

namespace {

constexpr std::uint8_t kTypes = 8;  // of ReduceType

bool is_float(ReduceType type) {
  return type == ReduceType::kF16 || type == ReduceType::kBf16 || type == ReduceType::kF32 ||
         type == ReduceType::kF64;
}

bool is_signed(ReduceType type) {
  return type == ReduceType::kS32 || type == ReduceType::kS64;
}

// --- Floating point, as an H100 has it (tests/sim/cuda/golden/bulk_reductions.txt) -------------

// The NaN that is kept is that of the operand, then that of memory; infinities of both signs give
// the negative one.
std::uint64_t sum_of_doubles(std::uint64_t there, std::uint64_t with) {
  const auto a = std::bit_cast<double>(there);
  const auto b = std::bit_cast<double>(with);
  if (std::isnan(b) || std::isnan(a)) {
    return std::isnan(b) ? with : there;
  }
  const double sum = a + b;
  return std::isnan(sum) ? 0xFFF8000000000000ULL : std::bit_cast<std::uint64_t>(sum);
}

std::uint64_t sum_of_floats(std::uint64_t there, std::uint64_t with) {
  const float sum = std::bit_cast<float>(static_cast<std::uint32_t>(there)) +
                    std::bit_cast<float>(static_cast<std::uint32_t>(with));
  return std::isnan(sum) ? 0x7FFFFFFFU : std::bit_cast<std::uint32_t>(sum);
}

// Of f16 and bf16: the sum of two is exact in double, and so rounded once.
std::uint64_t sum_of_halves(ElementType type, std::uint64_t there, std::uint64_t with) {
  const double sum = double{decode(type, static_cast<std::uint32_t>(there))} +
                     double{decode(type, static_cast<std::uint32_t>(with))};
  if (std::isnan(sum)) {
    return 0x7FFF;
  }
  // What a float loses stays odd in its last digit: the second rounding is as if there was one.
  auto once = static_cast<float>(sum);
  if (std::isfinite(once) && double{once} != sum) {
    auto bits = std::bit_cast<std::uint32_t>(once);
    if (std::abs(double{once}) > std::abs(sum)) {
      --bits;
    }
    once = std::bit_cast<float>(bits | 1U);
  }
  return encode(type, once);
}

// A NaN gives way to a number, and -0 is below +0.
std::uint64_t lesser_half(ElementType type, std::uint64_t x, std::uint64_t y, bool greater) {
  const float a = decode(type, static_cast<std::uint32_t>(x));
  const float b = decode(type, static_cast<std::uint32_t>(y));
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b) ? 0x7FFF : std::isnan(a) ? y : x;
  }
  const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return less != greater ? x : y;
}

std::uint64_t combined(CopyReduction reduction, std::uint64_t there, std::uint64_t with) {
  const ReduceType type = reduction.type;
  const ElementType half = type == ReduceType::kF16 ? ElementType::kF16 : ElementType::kBf16;
  const std::uint32_t spare = 64 - 8 * reduction.element_bytes();
  const auto less = [&](std::uint64_t a, std::uint64_t b) {
    return is_signed(type)
               ? static_cast<std::int64_t>(a << spare) < static_cast<std::int64_t>(b << spare)
               : a < b;
  };
  switch (reduction.op) {
    case ReduceOp::kAdd:
      return type == ReduceType::kF64   ? sum_of_doubles(there, with)
             : type == ReduceType::kF32 ? sum_of_floats(there, with)
             : is_float(type)           ? sum_of_halves(half, there, with)
                                        : there + with;
    case ReduceOp::kMin:
      return is_float(type)      ? lesser_half(half, there, with, false)
             : less(with, there) ? with
                                 : there;
    case ReduceOp::kMax:
      return is_float(type)      ? lesser_half(half, there, with, true)
             : less(there, with) ? with
                                 : there;
    case ReduceOp::kInc:
      return there >= with ? 0 : there + 1;
    case ReduceOp::kDec:
      return there == 0 || there > with ? with : there - 1;
    case ReduceOp::kAnd:
      return there & with;
    case ReduceOp::kOr:
      return there | with;
    case ReduceOp::kXor:
      return there ^ with;
    case ReduceOp::kNone:
      break;
  }
  return with;
}

}  // namespace

std::uint8_t CopyReduction::code() const {
  return reduces() ? static_cast<std::uint8_t>(static_cast<std::uint8_t>(op) * kTypes +
                                               static_cast<std::uint8_t>(type))
                   : std::uint8_t{0};
}

CopyReduction CopyReduction::of(std::uint8_t code) {
  return {static_cast<ReduceOp>(code / kTypes), static_cast<ReduceType>(code % kTypes)};
}

bool CopyReduction::commutes() const {
  return op != ReduceOp::kInc && op != ReduceOp::kDec && !(op == ReduceOp::kAdd && is_float(type));
}

bool CopyReduction::exists(bool to_global) const {
  const bool wide = element_bytes() == 8;
  switch (op) {
    case ReduceOp::kNone:
      return true;
    case ReduceOp::kAdd:
      return type != ReduceType::kS64 && (to_global || !is_float(type));
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      return type != ReduceType::kF32 && type != ReduceType::kF64 &&
             (to_global || (!wide && !is_float(type)));
    case ReduceOp::kInc:
    case ReduceOp::kDec:
      return type == ReduceType::kU32;
    default:
      return type == ReduceType::kU32 || (to_global && type == ReduceType::kU64);
  }
}

void CopyReduction::apply(std::byte* target, const std::byte* source, std::uint32_t bytes) const {
  const std::uint32_t size = element_bytes();
  for (std::uint32_t at = 0; at < bytes; at += size) {
    std::uint64_t there = 0;
    std::uint64_t with = 0;
    std::memcpy(&there, target + at, size);
    std::memcpy(&with, source + at, size);
    const std::uint64_t result = combined(*this, there, with);
    std::memcpy(target + at, &result, size);
  }
}

bool reduce_the_same_bytes(std::uint8_t first, std::uint8_t second) {
  return CopyReduction::of(first).element_bytes() == CopyReduction::of(second).element_bytes();
}

bool leave_the_same(std::uint8_t first, std::uint8_t second) {
  return first == second && CopyReduction::of(first).commutes();
}

std::optional<ReduceType> reduce_type(TensorType type, ReduceOp op) {
  constexpr std::pair<TensorType, ReduceType> kTypesOfMaps[] = {
      {TensorType::kU32, ReduceType::kU32},
      {TensorType::kS32, ReduceType::kS32},
      {TensorType::kU64, ReduceType::kU64},
      {TensorType::kS64, ReduceType::kS64},
      {TensorType::kF16, ReduceType::kF16},
      {TensorType::kBf16, ReduceType::kBf16},
      {TensorType::kF32, ReduceType::kF32}};
  const bool bits = op == ReduceOp::kAnd || op == ReduceOp::kOr || op == ReduceOp::kXor;
  for (const auto& [of_map, reduced] : kTypesOfMaps) {
    if (of_map == type) {
      // Bits have no sign.
      const ReduceType as = bits && reduced == ReduceType::kS32 ? ReduceType::kU32 : reduced;
      return CopyReduction{op, as}.exists(true) ? std::optional{as} : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace warptwin::sim
