/// Numbers that depend on where tcgen05.alloc has found its columns.
///
/// Which columns an allocation gets nobody knows. A register that holds the address which
/// tcgen05.alloc wrote, or a sum of that and a number, has a mark in its place, and its bytes count
/// as unknown: so nothing but tensor memory can depend on it. A scalar instruction is computed for
/// each place that the allocation may have. What comes out the same each time is known; what moves
/// with the allocation gets a mark of its own; anything else is unknown.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/ptx/lanes/scalar.hpp"

namespace warptwin::ptx {

/// An allocation of tensor memory.
struct TensorAllocation {
  std::uint32_t cluster_rank = 0;  // of its CTA; of a pair the even one
  bool of_pair = false;
  std::uint32_t ordinal = 0;  // among those of its CTA
  std::uint32_t columns = 0;
  std::uint32_t base = 0;  // where it is in this run

  auto operator<=>(const TensorAllocation&) const = default;
};

class TensorBases {
 public:
  /// Columns are given out by so many.
  static constexpr std::uint32_t kUnit = 32;
  static constexpr std::uint32_t kColumns = 512;

  /// The address of column 0 of an allocation, and so many further.
  struct Address {
    std::uint32_t allocation = 0;  // its number here
    std::uint32_t offset = 0;

    auto operator<=>(const Address&) const = default;
  };

  bool empty() const { return allocations_.empty(); }
  /// The number of an allocation, here.
  std::uint32_t number_of(const TensorAllocation& allocation);
  const TensorAllocation& allocation(std::uint32_t number) const { return allocations_[number]; }
  /// What stands for it in a register, no byte of it 0; nothing when there are too many.
  std::optional<std::uint32_t> mark_of(Address address);
  /// What a lane of a register stands for.
  std::optional<Address> find(const Lanes& lanes, std::uint32_t lane) const;
  /// Whether one of the words is a mark.
  bool has_mark(std::span<const std::byte> words) const;
  /// What it is in this run.
  std::uint32_t in_this_run(Address address) const {
    return allocations_[address.allocation].base + address.offset;
  }

  enum class Outcome : std::uint8_t {
    kNone,     // no source is one, or nothing can be computed of those that are: nothing was done
    kDone,     // `call.out` has the result, with what is known of it
    kUnknown,  // likewise, and the result of some lane is no such number
  };
  /// Computes a scalar instruction of which some source has poison in one of `lanes`.
  Outcome execute(const Scalar& scalar, const ScalarCall& call, Mask lanes);

 private:
  bool find_sources(const ScalarCall& call, Mask lanes);
  Outcome take_results(const ScalarCall& call, Mask lanes);

  std::vector<TensorAllocation> allocations_;
  std::map<TensorAllocation, std::uint32_t> numbers_;
  std::map<Address, std::uint32_t> marks_;
  std::unordered_map<std::uint32_t, Address> addresses_;
  // Of one instruction; kept, for they are large.
  Mask of_source_[ScalarCall::kSources] = {};  // lanes that are such an address
  std::optional<std::uint32_t> allocation_;    // the one that they are of
  std::vector<Lanes> results_;                 // for each place of the allocation
};

}  // namespace warptwin::ptx
