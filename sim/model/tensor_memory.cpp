#include "sim/model/tensor_memory.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {
constexpr std::uint8_t kFree = 0;
constexpr std::uint8_t kTaken = 1;
constexpr std::uint8_t kWasFreed = 2;
// A quiet NaN with a payload: a cell nobody wrote shows itself in any result it reaches.
constexpr std::uint32_t kPoison = 0x7FC0DEADU;
}  // namespace

void TensorMemory::reset(bool holds_data, bool zero) {
  owner_.fill(kFree);
  allocations_.clear();
  largest_ = 0;
  relinquished_ = apart_ = false;
  holds_data_ = holds_data;
  initial_ = zero ? 0 : kPoison;
  cells_.clear();
  written_.clear();
  holds_unwritten_ = false;
}

void TensorMemory::set_written(std::uint32_t lane,
                               std::uint32_t column,
                               std::uint32_t count,
                               bool written) {
  static_cast<void>(this->lane(lane));  // there are cells
  for (std::uint32_t at = column; at < column + count; ++at) {
    written_[lane][at] = written;
  }
  holds_unwritten_ = holds_unwritten_ || !written;
}

bool TensorMemory::all_written(std::uint32_t lane,
                               std::uint32_t column,
                               std::uint32_t columns) const {
  for (std::uint32_t at = column; at < column + columns; ++at) {
    if (!written(lane, at)) {
      return false;
    }
  }
  return true;
}

std::uint32_t TensorMemory::find_free(std::uint32_t columns, bool highest) const {
  for (std::uint32_t passed = 0; passed + columns <= kTmemColumns; passed += 32) {
    const std::uint32_t base = highest ? kTmemColumns - columns - passed : passed;
    const auto* first = owner_.begin() + base;
    if (std::none_of(first, first + columns, [](std::uint8_t o) { return o == kTaken; })) {
      return base;
    }
  }
  return kTmemColumns;
}

void TensorMemory::allocate(std::uint32_t base, std::uint32_t columns, bool apart) {
  apart_ = apart;
  std::fill_n(owner_.begin() + base, columns, kTaken);
  if (holds_data_ && !cells_.empty()) {  // else they are as all begin
    for (std::uint32_t i = 0; i < kTmemLanes; ++i) {
      std::fill_n(lane(i) + base, columns, initial_);
      for (std::uint32_t at = base; at < base + columns; ++at) {
        written_[i][at] = initial_ == 0;
      }
    }
  }
  allocations_.push_back({base, columns, true});
  largest_ = largest_ == 0 ? columns : std::min(largest_, columns);
}

Fault TensorMemory::deallocate(std::uint32_t base, std::uint32_t columns) {
  Fault fault = Fault::kWrongAllocation;
  for (TmemAllocationRecord& record : allocations_) {
    if (record.base != base || record.columns != columns) {
      continue;
    }
    if (record.live) {
      record.live = false;
      std::fill_n(owner_.begin() + base, columns, kWasFreed);
      return Fault::kNone;
    }
    fault = Fault::kFreed;
  }
  return fault;
}

Fault TensorMemory::check(std::uint32_t base, std::uint32_t columns) const {
  if (base + columns > kTmemColumns) {
    return Fault::kOutOfRange;
  }
  // Nearly always it is one live allocation.
  for (const TmemAllocationRecord& record : allocations_) {
    if (record.live && record.base <= base && base + columns <= record.base + record.columns) {
      return Fault::kNone;
    }
  }
  Fault fault = Fault::kNone;
  for (std::uint32_t i = base; i < base + columns; ++i) {
    if (owner_[i] == kFree) {
      return Fault::kNotAllocated;
    }
    fault = owner_[i] == kWasFreed ? Fault::kFreed : fault;
  }
  return fault == Fault::kNone && apart_ ? Fault::kNotAllocated : fault;
}

}  // namespace warptwin::sim
