/// Lays a CTA's shared memory out as named regions, by one rule for both backends.
///
/// A storage struct is built from a layout: it asks for its regions in order and keeps the
/// addresses.
/// `SharedLayout` only counts: on a GPU all of it folds to constants. The simulator builds the same
/// struct once more with a layout that also writes the names down, so that a report says
/// `input.full[2]`, and knows who should arrive.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// What completes a barrier's phase.
enum class ArrivalKind : std::uint8_t {
  kTmaBytes,     // one elected lane's arrive.expect_tx, and the bytes of its copies
  kUmmaCommit,   // one tcgen05.commit
  kEveryLane,    // every lane of every warp of the role
  kElectedLane,  // one lane of every warp of the role
};

/// One class of contributors to a phase: a role, how it arrives, how often per phase.
struct Contributor {
  Role role = Role::kCount;                      // whose warps arrive
  ArrivalKind kind = ArrivalKind::kElectedLane;  // what its arrivals are made of
  std::uint32_t arrivals = 0;  // of all its warps, of every CTA that arrives here; 0: unused
};

/// What a phase of a barrier needs to complete: declared, so that it can be checked and explained.
struct BarrierContract {
  static constexpr std::uint32_t kContributorsMax = 5;  // classes that one barrier can have
  Contributor contributors[kContributorsMax] = {};      // those without arrivals are unused
  std::uint32_t bytes = 0;                              // complete-tx bytes per phase
  Role waiter = Role::kCount;                           // who waits for the phase

  /// The count the barrier is initialised with.
  constexpr std::uint32_t arrivals() const {
    std::uint32_t total = 0;
    for (const Contributor& contributor : contributors) {
      total += contributor.arrivals;
    }
    return total;
  }
};

/// A region's name: the storage member it belongs to, and the part of it. "input", "full".
struct RegionName {
  const char* owner = "";  // the storage member, as in input
  const char* part = "";   // of it: full, empty, tile
};

/// What a region holds.
enum class RegionKind : std::uint8_t {
  kBarriers,  // mbarriers, 8 bytes each
  kTile,      // what copies fill or lanes write
  kWord,      // 4 bytes
};

/// The stages of one ring: which barriers guard which bytes.
struct RingRegion {
  const char* owner = "";         // the storage member
  MbarrierArray full{};           // one a stage: what it holds may be read
  MbarrierArray empty{};          // one a stage: what it holds may be overwritten
  std::uint32_t stages = 0;       // of the ring
  SharedAddress tiles{};          // of stage 0; in a ring without tiles, unset
  std::uint32_t stage_bytes = 0;  // from a stage's tiles to the next's; 0: none
  bool may_be_empty = false;      // it may have no stages: then nobody uses it
};

/// A bump allocator over shared addresses. Regions come in the order they are asked for.
class SharedLayout {
 public:
  /// The first region begins at `base`, or at the next address that is aligned as it needs.
  constexpr explicit SharedLayout(SharedAddress base) : base_{base}, next_{base.value} {}

  /// `count` mbarriers, each with the same contract.
  constexpr MbarrierArray barriers(RegionName, std::uint32_t count, const BarrierContract&) {
    return {take(count * 8, 8)};
  }
  /// `count` tiles of `bytes` each, every one aligned to `alignment`.
  constexpr SharedAddress tiles(RegionName,
                                std::uint32_t count,
                                std::uint32_t bytes,
                                std::uint32_t alignment) {
    return take(count * align_up(bytes, alignment), alignment);
  }
  /// One 32-bit word.
  constexpr SharedAddress word(RegionName) { return take(4, 4); }
  /// Says which barriers guard which tiles; takes no space.
  constexpr void ring(const RingRegion&) {}

  /// Bytes from the base to the end of the last region.
  constexpr std::uint32_t bytes() const { return next_ - base_.value; }

 private:
  constexpr SharedAddress take(std::uint32_t bytes, std::uint32_t alignment) {
    next_ = align_up(next_, alignment);
    const SharedAddress at{next_};
    next_ += bytes;
    return at;
  }

  SharedAddress base_;
  std::uint32_t next_;
};

}  // namespace warptwin
