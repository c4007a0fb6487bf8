/// The special registers. PTX ISA 9.0, "Special Registers".

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warptwin::ptx {

/// What `mov` reads of the machine, by its place in the list: "%tid.x", "%laneid".
struct SpecialRegister {
  std::uint32_t index = 0;
  friend bool operator==(SpecialRegister, SpecialRegister) = default;
};

/// `component` is 1 to 4 for .x to .w, 0 for none.
std::optional<SpecialRegister> special_named(std::string_view name, std::uint8_t component);
/// With its component: "%tid.x".
std::string_view name_of(SpecialRegister special);
/// 1 of a predicate.
std::uint32_t bits_of(SpecialRegister special);

}  // namespace warptwin::ptx
