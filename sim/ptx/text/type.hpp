/// The types and state spaces that PTX names.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warptwin::ptx {

enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB1,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kB1024,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kU16x2,
  kS4,
  kS8,
  kS16,
  kS32,
  kS64,
  kS16x2,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kTf32,
  kF32,
  kF32x2,
  kF64,
  kE4m3,
  kE4m3x2,
  kE4m3x4,
  kE5m2,
  kE5m2x2,
  kE5m2x4,
  kE2m1,
  kE2m1x2,
  kE2m1x4,
  kE2m3,
  kE2m3x2,
  kE2m3x4,
  kE3m2,
  kE3m2x2,
  kE3m2x4,
  kUe8m0,
  kUe8m0x2,
  kUe4m3,
  kEnd,
};

enum class TypeClass : std::uint8_t { kNone, kPredicate, kBits, kUnsigned, kSigned, kFloat };

struct TypeTraits {
  std::string_view name;  // without its dot
  std::uint16_t bits = 0;
  TypeClass of = TypeClass::kNone;
  std::uint8_t elements = 1;
};

const TypeTraits& traits_of(Type type);
inline std::string_view name_of(Type type) {
  return traits_of(type).name;
}
/// Of a whole value; a predicate has 1.
inline std::uint32_t bits_of(Type type) {
  return traits_of(type).bits;
}
/// What it takes in memory.
inline std::uint32_t bytes_of(Type type) {
  return (bits_of(type) + 7U) / 8U;
}
inline bool is_signed(Type type) {
  return traits_of(type).of == TypeClass::kSigned;
}
inline bool is_float(Type type) {
  return traits_of(type).of == TypeClass::kFloat;
}
inline bool is_integer(Type type) {
  return traits_of(type).of == TypeClass::kSigned || traits_of(type).of == TypeClass::kUnsigned;
}

/// "u32", without the dot.
std::optional<Type> type_named(std::string_view name);

enum class Space : std::uint8_t { kGeneric, kConst, kGlobal, kLocal, kParam, kShared };

std::string_view name_of(Space space);

}  // namespace warptwin::ptx
