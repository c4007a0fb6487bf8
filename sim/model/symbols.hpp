/// Names for shared-memory addresses, and what the protocol layer declared about them. Optional:
/// the
/// model runs without, and a report then prints offsets.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/machine/roles.hpp"
#include "common/machine/shared_layout.hpp"

namespace warptwin::sim {

/// Shared memory in use starts here: the hardware keeps the first KiB of the window.
inline constexpr std::uint32_t kSharedBase = 1024;

/// How a contributor of a barrier arrives: "tcgen05.commit".
const char* name_of(ArrivalKind kind);

/// A named region of every CTA's shared memory. Below kSharedBase, where none is, it is a named
/// barrier, and `address` its number.
struct Region {
  RegionKind kind = RegionKind::kWord;
  std::string owner;
  std::string part;
  std::uint32_t address = 0;
  std::uint32_t count = 0;
  std::uint32_t element_bytes = 0;
  BarrierContract contract{};

  std::uint32_t end() const { return address + count * element_bytes; }
  bool contains(std::uint32_t at) const { return at >= address && at < end(); }
};

/// A ring as the protocol layer declared it.
struct Ring {
  std::string owner;
  std::uint32_t full = 0;
  std::uint32_t empty = 0;
  std::uint32_t stages = 0;
  std::uint32_t tiles = 0;
  std::uint32_t stage_bytes = 0;
};

class Symbols {
 public:
  std::vector<Region> regions;
  std::vector<Ring> rings;
  std::vector<RoleWarps> roles;
  std::uint32_t bytes = 0;
  /// Of a CTA in a cluster of the fallback size, where the launch has two: what is declared there.
  std::shared_ptr<const Symbols> in_fallback{};

  const Region* find(std::uint32_t address) const;
  /// The ring whose first full barrier is at `full`.
  const Ring* ring_of_full(std::uint32_t full) const;
  /// "input.full[2]"; "shared+0x40" where nothing is declared.
  std::string name(std::uint32_t address) const;
  /// "tile_ready (named barrier 3)", with `kind` "named barrier"; without a name "named barrier 3".
  std::string named_barrier(const char* kind, std::uint32_t id) const;
  Role role_of(std::uint32_t warp_index) const;
};

/// `SharedLayout` that also writes down what it is asked for.
class RecordingLayout {
 public:
  RecordingLayout(SharedAddress base, Symbols& symbols) : layout_{base}, symbols_{symbols} {}

  MbarrierArray barriers(RegionName name, std::uint32_t count, const BarrierContract& contract);
  SharedAddress tiles(RegionName name,
                      std::uint32_t count,
                      std::uint32_t bytes,
                      std::uint32_t alignment);
  SharedAddress word(RegionName name);
  void ring(const RingRegion& ring);
  std::uint32_t bytes() const { return layout_.bytes(); }

 private:
  SharedLayout layout_;
  Symbols& symbols_;
};

}  // namespace warptwin::sim
