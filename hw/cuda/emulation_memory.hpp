/// EMULATED: what a launch for a GPU without tensor memory keeps in global memory, the same words
/// for host and device.

#pragma once

#include <cstddef>
#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin::hw {

/// For each CTA of the grid: the cells of its tensor memory, then control words.
struct EmulationMemory {
  /// Cells of 32 bits; column-major, so that the lanes of a warp touch one line.
  static constexpr std::uint32_t kCells = kTmemLanes * kTmemColumns;

  // Control words, by their place behind the cells.
  /// Of CTA 0: the bytes of a box of the tensor map at each place of the kernel's argument.
  static constexpr std::uint32_t kBoxBytes = 0;
  static constexpr std::uint32_t kMapPlaces = 64;
  /// Places are in units of this many bytes, as in `RecordedEvent`.
  static constexpr std::uint32_t kMapUnit = 64;
  /// Of CTA 0: clusters that begin by themselves; how many of the others have been drawn.
  static constexpr std::uint32_t kResidentClusters = 64;
  static constexpr std::uint32_t kDrawnClusters = 65;
  /// Of a cluster's first CTA: what has become of it (a `Fate`); how many of its warps have ended.
  static constexpr std::uint32_t kFate = 66;
  static constexpr std::uint32_t kEndedWarps = 67;
  /// Of a pair's leader: allocations of tensor memory that either CTA has come to.
  static constexpr std::uint32_t kAllocations = 68;
  static constexpr std::uint32_t kControlWords = 96;

  static constexpr std::size_t kWordsPerCta = std::size_t{kCells} + kControlWords;

  /// What becomes of a cluster that does not begin by itself.
  enum Fate : std::uint32_t { kWaits = 0, kBegins = 1, kCanceled = 2 };

  /// Shared memory behind a CTA's storage: an mbarrier for each thread, where a load that a pair's
  /// leader counts lands first.
  static constexpr std::uint32_t shared_bytes(std::uint32_t threads) {
    return threads * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  }
};

}  // namespace warptwin::hw
