/// The agents that can act next: constant-time insert, erase and random access, and a search for
/// the next one in number order. What a scheduler chooses from.

#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "common/machine/assert.hpp"

#include "sim/model/agent.hpp"

namespace warptwin::sim {

class ReadySet {
 public:
  void resize(std::uint32_t slots) {
    if (slots > position_.size()) {
      position_.resize(slots, kAbsent);
      words_.resize((slots + 63) / 64, 0);
    }
  }
  /// One more than the largest number.
  std::uint32_t slots() const { return static_cast<std::uint32_t>(position_.size()); }
  /// Writes down every slot that becomes a member from now on; null ends it.
  void watch(std::vector<AgentSlot>* inserted) { inserted_ = inserted; }
  bool contains(AgentSlot slot) const { return position_[slot.number()] != kAbsent; }
  /// The same of a number that may be nobody's.
  bool holds(AgentSlot slot) const { return slot.number() < position_.size() && contains(slot); }
  bool empty() const { return members_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  /// The members in an order that depends only on the history of inserts and erases.
  AgentSlot operator[](std::uint32_t index) const { return members_[index]; }

  void insert(AgentSlot slot) {
    if (contains(slot)) {
      return;
    }
    const std::uint32_t number = slot.number();
    position_[number] = size();
    members_.push_back(slot);
    words_[number / 64] |= std::uint64_t{1} << (number % 64);
    if (inserted_ != nullptr) {
      inserted_->push_back(slot);
    }
  }

  void erase(AgentSlot slot) {
    if (!contains(slot)) {
      return;
    }
    const std::uint32_t number = slot.number();
    const std::uint32_t hole = position_[number];
    members_[hole] = members_.back();
    position_[members_[hole].number()] = hole;
    members_.pop_back();
    position_[number] = kAbsent;
    words_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  }

  /// The first member after `slot` in number order, starting again from 0. The set is not empty.
  AgentSlot next_after(AgentSlot slot) const {
    return from(slot.number() + 1 < position_.size() ? slot.number() + 1 : 0);
  }
  /// The first member of all.
  AgentSlot first() const { return from(0); }

 private:
  AgentSlot from(std::uint32_t start) const {
    WARPTWIN_ASSERT(!members_.empty());
    const auto count = static_cast<std::uint32_t>(words_.size());
    std::uint64_t word = words_[start / 64] & (~std::uint64_t{0} << (start % 64));
    for (std::uint32_t i = start / 64;; i = i + 1 < count ? i + 1 : 0, word = words_[i]) {
      if (word != 0) {
        return AgentSlot{i * 64 + static_cast<std::uint32_t>(std::countr_zero(word))};
      }
    }
  }

  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  std::vector<AgentSlot> members_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint64_t> words_;
  std::vector<AgentSlot>* inserted_ = nullptr;
};

}  // namespace warptwin::sim
