#include "sim/ptx/text/type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace warptwin::ptx {

namespace {

using enum TypeClass;

// In the order of Type.
constexpr std::array<TypeTraits, static_cast<std::size_t>(Type::kEnd)> kTypes = {{
    {"", 0, kNone, 0},          {"pred", 1, kPredicate, 1}, {"b1", 1, kBits, 1},
    {"b8", 8, kBits, 1},        {"b16", 16, kBits, 1},      {"b32", 32, kBits, 1},
    {"b64", 64, kBits, 1},      {"b128", 128, kBits, 1},    {"b1024", 1024, kBits, 1},
    {"u4", 4, kUnsigned, 1},    {"u8", 8, kUnsigned, 1},    {"u16", 16, kUnsigned, 1},
    {"u32", 32, kUnsigned, 1},  {"u64", 64, kUnsigned, 1},  {"u16x2", 32, kUnsigned, 2},
    {"s4", 4, kSigned, 1},      {"s8", 8, kSigned, 1},      {"s16", 16, kSigned, 1},
    {"s32", 32, kSigned, 1},    {"s64", 64, kSigned, 1},    {"s16x2", 32, kSigned, 2},
    {"f16", 16, kFloat, 1},     {"f16x2", 32, kFloat, 2},   {"bf16", 16, kFloat, 1},
    {"bf16x2", 32, kFloat, 2},  {"tf32", 32, kFloat, 1},    {"f32", 32, kFloat, 1},
    {"f32x2", 64, kFloat, 2},   {"f64", 64, kFloat, 1},     {"e4m3", 8, kFloat, 1},
    {"e4m3x2", 16, kFloat, 2},  {"e4m3x4", 32, kFloat, 4},  {"e5m2", 8, kFloat, 1},
    {"e5m2x2", 16, kFloat, 2},  {"e5m2x4", 32, kFloat, 4},  {"e2m1", 4, kFloat, 1},
    {"e2m1x2", 8, kFloat, 2},   {"e2m1x4", 16, kFloat, 4},  {"e2m3", 8, kFloat, 1},
    {"e2m3x2", 16, kFloat, 2},  {"e2m3x4", 32, kFloat, 4},  {"e3m2", 8, kFloat, 1},
    {"e3m2x2", 16, kFloat, 2},  {"e3m2x4", 32, kFloat, 4},  {"ue8m0", 8, kFloat, 1},
    {"ue8m0x2", 16, kFloat, 2}, {"ue4m3", 8, kFloat, 1},
}};

constexpr std::string_view kSpaces[] = {"generic", "const", "global", "local", "param", "shared"};

}  // namespace

const TypeTraits& traits_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)];
}

std::optional<Type> type_named(std::string_view name) {
  static const auto kSorted = [] {
    std::array<std::pair<std::string_view, Type>, kTypes.size()> sorted;
    for (std::size_t index = 0; index < kTypes.size(); ++index) {
      sorted[index] = {kTypes[index].name, static_cast<Type>(index)};
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }();
  const auto found = std::lower_bound(
      kSorted.begin(), kSorted.end(), std::pair<std::string_view, Type>{name, Type::kNone});
  if (name.empty() || found == kSorted.end() || found->first != name) {
    return std::nullopt;
  }
  return found->second;
}

std::string_view name_of(Space space) {
  return kSpaces[static_cast<std::size_t>(space)];
}

}  // namespace warptwin::ptx
