/// What a unit will do, and when.

#pragma once

#include <vector>

#include "sim/timed/timeline.hpp"

namespace warptwin::sim {

/// A module that is called back with an item at its time, by the timeline of its SM: earliest
/// first, and in the order of asking where times are equal.
template <class Item>
class Agenda : public sc_core::sc_module, private Callee {
 public:
  Agenda(const sc_core::sc_module_name& name, Timeline& timeline)
      : sc_module{name}, timeline_{timeline} {}

 protected:
  /// Calls `due(item)` at `when`, which is not in the past.
  void at(Ticks when, const Item& item) { at(when, item, timeline_.tickets(1)); }
  void at(Ticks when, const Item& item, std::uint64_t ticket) {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(items_.size());
      items_.push_back(item);
    } else {
      place = free_.back();
      free_.pop_back();
      items_[place] = item;
    }
    timeline_.at(when, *this, place, ticket);
  }
  virtual void due(const Item& item) = 0;
  Timeline& timeline() { return timeline_; }

 private:
  void call(std::uint32_t place) final {
    const Item item = items_[place];
    free_.push_back(place);
    due(item);
  }

  Timeline& timeline_;
  std::vector<Item> items_;  // that are not due, and free places
  std::vector<std::uint32_t> free_;
};

}  // namespace warptwin::sim
