/// What a wait for a word of global memory waits for.

#pragma once

#include <cstdint>
#include <optional>

#include "common/trace/event.hpp"

namespace warptwin::sim {

/// What an atomic makes of a word, in `payload::GlobalWord::test` of its event. Two that do the
/// same leave the same, whichever comes first; of two that do not that is not known.
namespace word_change {
inline constexpr std::uint32_t kAdds = 0;      // so much as the event says, to 32 bits
inline constexpr std::uint32_t kUnknown = 1;   // it leaves what nobody knows
inline constexpr std::uint32_t kOther = 2;     // and up: another one, by its number
inline constexpr std::uint32_t kWide = 256;    // added to these: to 64 bits
inline constexpr std::uint32_t kWidest = 512;  // likewise: to 128 bits
constexpr std::uint32_t of_bytes(std::uint32_t bytes) {
  return bytes == 16 ? kWidest : bytes == 8 ? kWide : 0;
}
constexpr std::uint32_t bytes_of(std::uint32_t change) {
  return (change & kWidest) != 0 ? 16 : (change & kWide) != 0 ? 8 : 4;
}
/// Without its width.
constexpr std::uint32_t kind_of(std::uint32_t change) {
  return change & ~(kWide | kWidest);
}
}  // namespace word_change

/// A comparison of ((word ^ flip) & mask) with a number.
struct WordTest {
  enum class Kind : std::uint8_t { kEqual, kNotEqual, kLess, kAtLeast };
  static constexpr std::uint32_t kSign = std::uint32_t{1} << 31;
  /// In the code of a wait by an atomic that leaves the word as it is: it writes the word, too.
  static constexpr std::uint32_t kUpdates = 8;

  Kind kind = Kind::kEqual;
  bool is_signed = false;
  std::uint32_t with = 0;
  std::uint32_t flip = 0;
  std::uint32_t mask = ~std::uint32_t{0};

  bool operator==(const WordTest&) const = default;
  /// The one that holds of every other word.
  WordTest inverse() const {
    constexpr Kind kInverse[] = {Kind::kNotEqual, Kind::kEqual, Kind::kAtLeast, Kind::kLess};
    WordTest other = *this;
    other.kind = kInverse[static_cast<unsigned>(kind)];
    return other;
  }
  bool holds(std::uint32_t word) const {
    const std::uint32_t moved = is_signed ? kSign : 0;
    const std::uint32_t value = ((word ^ flip) & mask) ^ moved;
    const std::uint32_t number = with ^ moved;
    switch (kind) {
      case Kind::kEqual:
        return value == number;
      case Kind::kNotEqual:
        return value != number;
      case Kind::kLess:
        return value < number;
      case Kind::kAtLeast:
        break;
    }
    return value >= number;
  }
  /// Where it asks for the sign alone: of words with which sign it holds.
  std::optional<bool> sign() const {
    const bool ordered = kind == Kind::kLess || kind == Kind::kAtLeast;
    const bool by_order = ordered && is_signed && with == 0 && (mask & kSign) != 0;
    const bool by_bit = !ordered && mask == kSign && (with & ~kSign) == 0;
    return by_order || by_bit ? std::optional{holds(kSign)} : std::nullopt;
  }
  /// The same, in an event of the wait. 0 and 0: equal, as it stands.
  std::uint32_t code() const { return static_cast<std::uint32_t>(kind) | (is_signed ? 4U : 0U); }
  std::uint64_t operands() const { return std::uint64_t{flip} << 32 | ~mask; }
  static WordTest of(std::uint32_t code, std::uint64_t operands, std::uint32_t with) {
    return {static_cast<Kind>(code & 3U),
            (code & 4U) != 0,
            with,
            static_cast<std::uint32_t>(operands >> 32),
            ~static_cast<std::uint32_t>(operands)};
  }
  /// Of a wait that has passed.
  static WordTest of(const Event& wait) {
    const auto& said = wait.as<payload::GlobalWord>();
    return of(said.test, said.test_operands, said.value);
  }
};

}  // namespace warptwin::sim
