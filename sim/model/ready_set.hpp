/// The agents that can act next: constant-time insert, erase and random access, and a search for
/// the
/// next one in number order. What a scheduler chooses from.

#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "common/machine/assert.hpp"

namespace warptwin::sim {

/// The number of a schedulable agent. See Gpu for how they are dealt out.
using Slot = std::uint32_t;

class ReadySet {
 public:
  void resize(std::uint32_t slots) {
    if (slots > position_.size()) {
      position_.resize(slots, kAbsent);
      words_.resize((slots + 63) / 64, 0);
    }
  }
  /// One more than the largest slot number.
  std::uint32_t slots() const { return static_cast<std::uint32_t>(position_.size()); }
  /// Writes down every slot that becomes a member from now on; null ends it.
  void watch(std::vector<Slot>* inserted) { inserted_ = inserted; }
  bool contains(Slot slot) const { return position_[slot] != kAbsent; }
  bool empty() const { return members_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  /// The members in an order that depends only on the history of inserts and erases.
  Slot operator[](std::uint32_t index) const { return members_[index]; }

  void insert(Slot slot) {
    if (contains(slot)) {
      return;
    }
    position_[slot] = size();
    members_.push_back(slot);
    words_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    if (inserted_ != nullptr) {
      inserted_->push_back(slot);
    }
  }

  void erase(Slot slot) {
    if (!contains(slot)) {
      return;
    }
    const std::uint32_t hole = position_[slot];
    members_[hole] = members_.back();
    position_[members_[hole]] = hole;
    members_.pop_back();
    position_[slot] = kAbsent;
    words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  }

  /// The first member after `slot` in number order, starting again from 0. The set is not empty.
  Slot next_after(Slot slot) const {
    WARPTWIN_ASSERT(!members_.empty());
    const auto count = static_cast<std::uint32_t>(words_.size());
    const Slot start = slot + 1 < position_.size() ? slot + 1 : 0;
    std::uint64_t word = words_[start / 64] & (~std::uint64_t{0} << (start % 64));
    for (std::uint32_t i = start / 64;; i = i + 1 < count ? i + 1 : 0, word = words_[i]) {
      if (word != 0) {
        return i * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
      }
    }
  }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  std::vector<Slot> members_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint64_t> words_;
  std::vector<Slot>* inserted_ = nullptr;
};

}  // namespace warptwin::sim
