/// Tensor memory of one CTA: 128 lanes x 512 columns of 32-bit cells, and who has allocated which.

#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "common/machine/types.hpp"
#include "common/trace/event.hpp"

namespace warptwin::sim {

struct TmemAllocationRecord {
  std::uint32_t base = 0;
  std::uint32_t columns = 0;
  bool live = false;
};

class TensorMemory {
 public:
  void reset(bool holds_data, bool zero = false);

  static bool legal_columns(std::uint32_t columns) {
    return columns >= 32 && columns <= kTmemColumns && (columns & (columns - 1)) == 0;
  }
  /// The lowest free range, or the highest; kTmemColumns when there is none.
  std::uint32_t find_free(std::uint32_t columns, bool highest = false) const;
  /// `apart`: which allocation is beside which nobody knows.
  void allocate(std::uint32_t base, std::uint32_t columns, bool apart = false);
  /// kFreed, kWrongAllocation or kNone.
  Fault deallocate(std::uint32_t base, std::uint32_t columns);
  /// Whether `columns` from `base` lie in live allocations, or in one of those apart: kNone,
  /// kOutOfRange, kNotAllocated, kFreed.
  Fault check(std::uint32_t base, std::uint32_t columns) const;

  bool relinquished() const { return relinquished_; }
  void relinquish() { relinquished_ = true; }
  std::uint32_t largest() const { return largest_; }
  const std::vector<TmemAllocationRecord>& allocations() const { return allocations_; }

  bool holds_data() const { return holds_data_; }
  /// Whether a lane's cell holds what somebody has written.
  bool written(std::uint32_t lane, std::uint32_t column) const {
    return !cells_.empty() && written_[lane][column];
  }
  void set_written(std::uint32_t lane, std::uint32_t column, std::uint32_t count, bool written);
  /// Somebody has stored what nobody had written.
  bool holds_unwritten() const { return holds_unwritten_; }
  /// Whether all that lanes hold in `columns` from `column` on is written.
  bool all_written(std::uint32_t lane, std::uint32_t column, std::uint32_t columns) const;
  /// One lane's 512 cells.
  std::uint32_t* lane(std::uint32_t lane) {
    if (cells_.empty()) {
      cells_.assign(std::size_t{kTmemLanes} * kTmemColumns, initial_);
      written_.assign(kTmemLanes, initial_ == 0 ? Row{}.set() : Row{});
    }
    return &cells_[std::size_t{lane} * kTmemColumns];
  }

 private:
  using Row = std::bitset<kTmemColumns>;

  std::array<std::uint8_t, kTmemColumns> owner_{};  // 0 free, 1 allocated, 2 freed
  std::vector<TmemAllocationRecord> allocations_;
  std::vector<std::uint32_t> cells_;  // none until somebody asks for one
  std::vector<Row> written_;          // likewise; by lane
  bool holds_unwritten_ = false;
  std::uint32_t initial_ = 0;  // what all begin with
  bool holds_data_ = false;
  std::uint32_t largest_ = 0;
  bool relinquished_ = false;
  bool apart_ = false;
};

}  // namespace warptwin::sim
