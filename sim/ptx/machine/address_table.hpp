/// What is known of addresses: a hash table whose entries lie side by side, in the order they came.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warptwin::ptx {

/// Nothing is ever taken out but all of it, which keeps the memory.
template <class T>
class AddressTable {
 public:
  /// Null where there is none. Adding another moves it.
  const T* find(std::uint64_t address) const {
    if (entries_.empty()) {
      return nullptr;
    }
    if (entries_[last_].first != address) {
      const std::uint32_t number = slots_[slot_of(address)];
      if (number == 0) {
        return nullptr;
      }
      last_ = number - 1;
    }
    return &entries_[last_].second;
  }
  T* find(std::uint64_t address) {
    return const_cast<T*>(static_cast<const AddressTable&>(*this).find(address));
  }
  /// Adds what is not there.
  T& operator[](std::uint64_t address) {
    if (T* known = find(address)) {
      return *known;
    }
    if (2 * (entries_.size() + 1) > slots_.size()) {
      grow();
    }
    last_ = static_cast<std::uint32_t>(entries_.size());
    slots_[slot_of(address)] = last_ + 1;
    return entries_.emplace_back(address, T{}).second;
  }
  bool empty() const { return entries_.empty(); }
  void clear() {
    if (entries_.size() < slots_.size() / kFew) {
      // The last first: on the way to a slot lie those of entries that came before.
      while (!entries_.empty()) {
        slots_[slot_of(entries_.back().first)] = 0;
        entries_.pop_back();
      }
    } else {
      std::fill(slots_.begin(), slots_.end(), 0);
      entries_.clear();
    }
    last_ = 0;
  }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  static constexpr std::size_t kSlotsLeast = 64;
  static constexpr std::size_t kFew = 16;  // entries, of so many slots, that are cleared one by one

  // Where the address stands, or the empty slot that it would take.
  std::size_t slot_of(std::uint64_t address) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (address * 0x9E3779B97F4A7C15U) >> 32 & mask;
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1].first != address) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  void grow() {
    slots_.assign(std::max(kSlotsLeast, 2 * slots_.size()), 0);
    for (std::size_t number = 0; number < entries_.size(); ++number) {
      slots_[slot_of(entries_[number].first)] = static_cast<std::uint32_t>(number + 1);
    }
  }

  std::vector<std::pair<std::uint64_t, T>> entries_;
  std::vector<std::uint32_t> slots_;  // one more than an entry's number; 0: none
  mutable std::uint32_t last_ = 0;    // the entry that was found last: most are found again
};

/// The same of what has neighbours: each begins at a multiple of `kUnit` bytes.
template <class T, std::uint32_t kUnit>
class AddressLines {
 public:
  static constexpr std::uint32_t kPlaces = 16;  // of a line
  static constexpr std::uint64_t kBytes = kPlaces * kUnit;

  struct Line {
    std::uint32_t has = 0;  // bits by place
    std::array<T, kPlaces> of{};

    /// Adds `count` addresses from a place on.
    T* add(std::uint32_t place, std::uint32_t count) {
      has |= ((1U << count) - 1) << place;
      return &of[place];
    }
  };

  static std::uint32_t place_of(std::uint64_t address) {
    return static_cast<std::uint32_t>(address % kBytes / kUnit);
  }
  const T* find(std::uint64_t address) const {
    const Line* line = address % kUnit == 0 ? lines_.find(address / kBytes) : nullptr;
    return line != nullptr && (line->has & bit_of(address)) != 0 ? &line->of[place_of(address)]
                                                                 : nullptr;
  }
  T* find(std::uint64_t address) {
    return const_cast<T*>(static_cast<const AddressLines&>(*this).find(address));
  }
  T& operator[](std::uint64_t address) {
    Line& line = lines_[address / kBytes];
    line.has |= bit_of(address);
    return line.of[place_of(address)];
  }
  /// The line with this number, an address / kBytes; null where nothing is known of it. Of an
  /// address that nothing was said of it has a T{}.
  const Line* line(std::uint64_t number) const { return lines_.find(number); }
  /// The same, added. Adding another moves it.
  Line& add_line(std::uint64_t number) { return lines_[number]; }
  bool empty() const { return lines_.empty(); }
  void clear() { lines_.clear(); }
  /// Calls `f(address, what is known of it)` for each.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [number, line] : lines_) {
      for (std::uint32_t place = 0; place < kPlaces; ++place) {
        if ((line.has >> place & 1U) != 0) {
          f(number * kBytes + place * kUnit, line.of[place]);
        }
      }
    }
  }

 private:
  static std::uint32_t bit_of(std::uint64_t address) { return 1U << place_of(address); }

  AddressTable<Line> lines_;
};

}  // namespace warptwin::ptx
