/// A load or store of the lanes of a warp, each at an address of its own.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/machine/types.hpp"

namespace warptwin::sim {

/// What is known of an access, in `payload::Rows::known`.
enum class AccessKind : std::uint8_t {
  kPlain,
  kKnown,    // a store of a few known bytes: `payload::Rows::written`
  kAtomic,   // part of an atomic, of a word of `payload::Rows::written` bytes
  kDecided,  // of one whose result, or what it leaves, depends on who comes first; likewise
  kAsked,    // of one that asks whether it is the last to count: see last_adders.hpp; likewise
  kPeek,     // of global memory, by nobody: no event
};

constexpr bool is_atomic(AccessKind kind) {
  return kind == AccessKind::kAtomic || kind == AccessKind::kDecided || kind == AccessKind::kAsked;
}

/// Bytes of shared memory that hold an address of tensor memory, or a response, in
/// `LaneAccess::poison`.
namespace tmem_word {
inline constexpr std::uint8_t kResponse = 1;  // of a request for a cluster; as numbers unknown
inline constexpr std::uint8_t kMark = 2;      // a register's, which the program knows
inline constexpr std::uint8_t kFirst = 3;     // and up: what an allocation of the CTA wrote
inline constexpr std::uint8_t kLast = 255;
}  // namespace tmem_word

/// Adjacent bytes that several lanes access: `rows` runs of `width` bytes, `pitch` apart.
struct AccessRun {
  std::uint64_t begin = 0;
  std::uint32_t width = 0;
  std::uint32_t rows = 1;
  std::uint32_t pitch = 0;
};

/// Two lanes of a warp at one place in memory, one of which writes it, in no order.
struct LaneRace {
  std::uint32_t first = 0;  // lanes
  std::uint32_t second = 0;
  bool first_wrote = false;
  bool second_writes = false;
  bool global = false;
  bool by_value = false;  // both write, and whether the same is not known
  bool strong = false;    // both are strong: no race, but neither is first
  std::uint64_t address = 0;
  SourceSite site{};  // of the first
};

struct LaneAccess {
  std::uint32_t mask = 0;   // lanes that access
  std::uint32_t bytes = 0;  // of each
  /// Shared: from the window's begin; global: as it is.
  std::array<std::uint64_t, kWarpLanes> address{};
  /// Lane by lane, `bytes` each: what is stored, or what was read.
  std::vector<std::byte> data;
  /// By byte of `data`: 1 where nobody has ever written it; or a kind of `tmem_word`.
  std::vector<std::uint8_t> poison;
  /// Of a store: it has registers that an asynchronous operation still writes.
  bool unsettled = false;
  bool of_accumulator = false;  // of wgmma
  AccessKind kind = AccessKind::kPlain;
  std::uint32_t aligned_to = 0;  // bytes; 0: to those of a lane
  /// Of a load: bytes that hold an address of tensor memory are of a kind of `tmem_word`.
  bool tells_tmem_words = false;

  explicit LaneAccess(std::uint32_t bytes_of_a_lane = 0)
      : bytes{bytes_of_a_lane},
        data(std::size_t{bytes_of_a_lane} * kWarpLanes),
        poison(std::size_t{bytes_of_a_lane} * kWarpLanes) {}

  /// What the lanes access, as few rectangles as lie in rows of equal distance; ascending.
  std::vector<AccessRun> runs() const;
};

/// A copy by lanes that is over when an mbarrier has counted it: cp.async, st.async, red.async.
struct AsyncAccess {
  LaneAccess target;                   // in shared memory, of the mbarrier's CTA
  std::optional<LaneAccess> source{};  // in global memory
  SourceSite site{};
  /// Of red.async: what is stored, of the lane's operand and of what was there. Then the kind is
  /// one of atomics.
  std::function<std::uint64_t(std::uint32_t lane, std::uint64_t old)> update{};
  bool began_before = false;  // of cp.async: the machine has seen it begin
};

}  // namespace warptwin::sim
