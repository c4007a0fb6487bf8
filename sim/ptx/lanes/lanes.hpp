/// One register in all lanes of a warp.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace warptwin::ptx {

inline constexpr std::uint32_t kLanes = 32;

/// Bit l is lane l.
using Mask = std::uint32_t;

/// At most 64 bits a lane; a register of 128 bits is two of them, the low half first. Bits above a
/// register's size are zero.
struct Lanes {
  std::array<std::uint64_t, kLanes> value{};
  /// Bit b of a lane: nothing has ever been written to byte b of its value. Of a predicate bit 0.
  std::array<std::uint8_t, kLanes> poison{};

  bool operator==(const Lanes&) const = default;
  bool any_poison() const {
    std::uint64_t words[kLanes / 8];
    std::memcpy(words, poison.data(), sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) != 0;
  }
  /// Each lane has a byte of poison.
  bool all_poison() const {
    bool all = true;
    for (const std::uint8_t of_lane : poison) {
      all = all & (of_lane != 0);
    }
    return all;
  }
  /// The lanes with a byte of poison.
  Mask poisoned() const {
    constexpr std::uint64_t kSevenBits = 0x7F7F7F7F7F7F7F7F;
    constexpr std::uint64_t kGathers = 0x0102040810204080;  // the low bit of each byte, to the last
    std::uint64_t words[kLanes / 8];
    std::memcpy(words, poison.data(), sizeof words);
    Mask mask = 0;
    for (std::uint32_t word = 0; word < kLanes / 8; ++word) {
      const std::uint64_t any = ((words[word] & kSevenBits) + kSevenBits) | words[word];
      mask |= static_cast<Mask>(((any & ~kSevenBits) >> 7) * kGathers >> 56) << (word * 8);
    }
    return mask;
  }
  /// The lanes that have the value of one of them. In most instructions all do.
  Mask equal_to(std::uint32_t lane) const {
    constexpr std::size_t kOthers = (kLanes - 1) * sizeof value[0];
    if (std::memcmp(&value[0], &value[1], kOthers) == 0) {
      return ~Mask{0};
    }
    Mask mask = 0;
    for (std::uint32_t other = 0; other < kLanes; ++other) {
      mask |= Mask{value[other] == value[lane]} << other;
    }
    return mask;
  }
  /// Of a predicate: the lanes in which it holds.
  Mask holds() const {
    Mask mask = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      mask |= static_cast<Mask>(value[lane] & 1U) << lane;
    }
    return mask;
  }

  static Lanes all(std::uint64_t value) {
    Lanes lanes;
    lanes.value.fill(value);
    return lanes;
  }
  static Lanes unknown() {
    Lanes lanes;
    lanes.poison.fill(0xff);
    return lanes;
  }
};

inline constexpr std::uint64_t low_bits(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}
/// The bits of poison that a value of so many bits has.
inline constexpr std::uint8_t poison_bits(std::uint32_t bits) {
  return static_cast<std::uint8_t>(low_bits((bits + 7) / 8));
}

/// By the poison of a lane: all bits of the bytes that have some.
inline constexpr std::array<std::uint64_t, 256> kPoisonedBits = [] {
  std::array<std::uint64_t, 256> bits{};
  for (std::size_t poison = 0; poison < bits.size(); ++poison) {
    for (std::uint32_t byte = 0; byte < 8; ++byte) {
      bits[poison] |= (poison >> byte & 1U) != 0 ? std::uint64_t{0xff} << (byte * 8) : 0;
    }
  }
  return bits;
}();

}  // namespace warptwin::ptx
