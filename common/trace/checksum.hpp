/// What stands for the bytes of a copy in a trace: 32 bits, the same from the simulator, which has
/// all bytes at once, and from lanes of a GPU, which sum them up side by side.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace warptwin {

/// Copies move units of this many bytes.
inline constexpr std::uint32_t kChecksumUnit = 16;

/// What the word of number `index` adds to the sum: its bits mixed with its place (the finaliser of
/// MurmurHash3), so that words which change places change the sum.
constexpr std::uint32_t checksum_term(std::uint32_t word, std::uint32_t index) {
  std::uint32_t x = word + (index + 1) * 0x9E3779B9U;
  x = (x ^ x >> 16) * 0x85EBCA6BU;
  x = (x ^ x >> 13) * 0xC2B2AE35U;
  return x ^ x >> 16;
}

/// The part of the sum that lane `lane` of `lanes` has: the terms of every `lanes`-th unit of
/// `bytes` bytes. `read(words, offset)` reads the four words of the unit at an offset.
template <class Read>
constexpr std::uint32_t checksum_part(std::uint32_t bytes,
                                      std::uint32_t lane,
                                      std::uint32_t lanes,
                                      Read&& read) {
  std::uint32_t sum = 0;
  for (std::uint32_t unit = lane; unit < bytes / kChecksumUnit; unit += lanes) {
    std::uint32_t words[4] = {};
    read(words, unit * kChecksumUnit);
    for (std::uint32_t i = 0; i < 4; ++i) {
      sum += checksum_term(words[i], 4 * unit + i);
    }
  }
  return sum;
}

/// The checksum, of the parts of all lanes together. Never 0, which says that it is not known.
constexpr std::uint32_t checksum_of(std::uint32_t sum) {
  return sum == 0 ? 1 : sum;
}

/// The same of bytes that lie in this memory, whole units.
inline std::uint32_t checksum(std::span<const std::byte> bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return checksum_of(checksum_part(size, 0, 1, [&](std::uint32_t(&words)[4], std::uint32_t at) {
    std::memcpy(words, bytes.data() + at, sizeof words);
  }));
}

}  // namespace warptwin
