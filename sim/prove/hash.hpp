/// A hash of numbers in their order: FNV-1a, 64 bits, a number at a time.

#pragma once

#include <cstdint>

namespace warptwin::sim {

class Hash {
 public:
  void add(std::uint64_t part) { value_ = (value_ ^ part) * kPrime; }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001B3U;
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

}  // namespace warptwin::sim
