/// What the GPU writes and the host reads: events, and what a warp waits for. One text for both.

#pragma once

#include <compare>
#include <cstdint>

#include "common/trace/event.hpp"

namespace warptwin::hw {

/// One operation of one warp, 16 bytes.
///
/// Operation      object                          value
/// mbarrier       offset, rank (see `at`)         count, bytes, or the phase waited for
/// tensor load    offset, map (see `at`)          offset of the barrier, and whether it is a pair's
///                                                (kPairLoad); flags: the CTA mask
/// bulk load      offset, mask                    offset of the barrier; flags: 16-byte units
/// CLC request    offset of the response          offset of the barrier; flags: the CTA mask
/// tensor store   offset, map                     0
/// bulk store     offset                          bytes
/// named barrier  its number                      threads
/// tensor memory  address                         columns; of a commit: the CTA mask
/// others         0                               their operand
/// token (kToken) index of the region             checksum of its bytes; it follows its wait
struct RecordedEvent {
  std::uint32_t cycle;   // of the SM's clock, low half: before the operation; of waits, after it
  std::uint32_t what;    // operation + 1 in bits 0..7, lanes in 8..15, event_flag in 16..31
  std::uint32_t object;  // of shared memory: offset from the storage's base in bits 0..17
  std::uint32_t value;

  /// The rank that stands for the executing CTA.
  static constexpr std::uint32_t kOwnRank = 0xFF;
  /// Stands with the barrier of a load whose bytes count in the leader of the pair.
  static constexpr std::uint32_t kPairLoad = 1;
  /// Tensor maps go by where they stand in the kernel's argument, in units of this many bytes.
  static constexpr std::uint32_t kMapUnit = 64;
  /// A map in global memory goes by its address, in units of its size, modulo `kStoredMaps`.
  static constexpr std::uint32_t kStored = 0x1000;
  static constexpr std::uint32_t kStoredMaps = 0x1000;
  /// Stands with the place of a map whose rows are copied by four.
  static constexpr std::uint32_t kFourRows = 0x2000;

  /// Stands for the operation where an event is what a wait found in shared memory.
  static constexpr std::uint32_t kToken = 0xFF;

  static constexpr std::uint32_t what_of(Op op, std::uint32_t lanes, std::uint32_t flags) {
    return (static_cast<std::uint32_t>(op) + 1) | lanes << 8 | flags << 16;
  }
  /// An offset in bits 0..17; a rank, a mask or a map's place in bits 18..31.
  static constexpr std::uint32_t kOffsetBits = 18;
  static constexpr std::uint32_t at(std::uint32_t offset, std::uint32_t rest = kOwnRank) {
    return offset_of(offset) | rest << kOffsetBits;
  }
  static constexpr std::uint32_t offset_of(std::uint32_t at) {
    return at & ((1U << kOffsetBits) - 1);
  }
  static constexpr std::uint32_t rest_of(std::uint32_t at) { return at >> kOffsetBits; }
  constexpr std::uint32_t offset() const { return offset_of(object); }
  constexpr std::uint32_t rest() const { return rest_of(object); }
  constexpr bool is_there() const { return what != 0; }
  constexpr bool is_token() const { return what == kToken; }
  constexpr Op op() const { return static_cast<Op>((what & 0xFFU) - 1); }
  constexpr std::uint32_t lanes() const { return what >> 8 & 0xFFU; }
  constexpr std::uint16_t flags() const { return static_cast<std::uint16_t>(what >> 16); }
};
static_assert(sizeof(RecordedEvent) == 16);
static_assert((event_flag::kExpectTx | event_flag::kNoComplete | event_flag::kDrop |
               event_flag::kExactPhase | event_flag::kRead | event_flag::kPair |
               event_flag::kFalse) <= 0xFFFF);
static_assert(static_cast<std::uint32_t>(Op::kCount) < RecordedEvent::kToken - 1);

/// A place in shared memory that loads fill which count on a barrier; both as `RecordedEvent::at`.
struct DataRegion {
  std::uint32_t barrier = 0;
  std::uint32_t place = 0;
  std::uint32_t bytes = 0;  // in units of 16

  friend auto operator<=>(const DataRegion&, const DataRegion&) = default;
};

enum class WarpState : std::uint32_t {
  kUnknown,  // it has said nothing
  kRuns,
  kBlocks,   // in a wait that has no deadline
  kExpired,  // in a wait whose deadline has passed
  kEnded,
};

/// Where a warp is, in memory that the host can read while the kernel runs.
struct WarpReport {
  WarpState state;
  std::uint32_t op;
  std::uint32_t object;  // as in RecordedEvent
  std::uint32_t wanted;  // phase, threads, or value
  std::uint32_t flags;
  std::uint32_t line;
  std::uint64_t file;  // device address of the path
  std::uint64_t word;  // of the barrier, or the global word
  std::uint64_t cycles;
};

/// What to observe, handed to the kernel.
struct Observation {
  std::uint64_t deadline = 0;           // cycles a polled wait may take
  WarpReport* reports = nullptr;        // one a warp of the grid, in the host's memory
  const std::uint32_t* stop = nullptr;  // the host sets it once it has read everything
  RecordedEvent* events = nullptr;      // rings of `capacity` events, one a warp; null: none
  std::uint32_t* counts = nullptr;      // events recorded, one a warp
  std::uint32_t capacity = 0;           // a power of two
  const DataRegion* regions = nullptr;  // that waits read and record, of every rank
  std::uint32_t region_count = 0;       // 0: waits read nothing
};

/// What is compiled into a kernel. kAll can also record what waits find, where it is asked for.
enum class Watch : std::uint8_t { kNothing, kDeadlines, kRecords, kAll };

constexpr bool has_deadlines(Watch watch) {
  return watch == Watch::kDeadlines || watch == Watch::kAll;
}
constexpr bool has_records(Watch watch) {
  return watch == Watch::kRecords || watch == Watch::kAll;
}

constexpr bool has_tokens(Watch watch) {
  return watch == Watch::kAll;
}

}  // namespace warptwin::hw
