/// What a unit will do, and when: the one SystemC process of a unit.

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <systemc>

#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

/// Now. One unit of the kernel's time resolution is a tick.
inline Ticks now() {
  return sc_core::sc_curr_simcontext->time_stamp().value();  // inline, as sc_time_stamp() is not
}
inline sc_core::sc_time time_of(Ticks ticks) {
  return sc_core::sc_time::from_value(ticks);
}

/// A module that is called back with an item at its time: earliest first, and in the order of
/// asking where times are equal.
template <class Item>
class Agenda : public sc_core::sc_module {
 public:
  explicit Agenda(const sc_core::sc_module_name& name) : sc_module{name} {
    SC_HAS_PROCESS(Agenda);
    SC_METHOD(run);
    sensitive << due_event_;
    dont_initialize();
  }

 protected:
  /// Calls `due(item)` at `when`, which is not in the past.
  void at(Ticks when, const Item& item) {
    entries_.push_back({when, ++serial_, item});
    std::push_heap(entries_.begin(), entries_.end());
    if (entries_.front().serial == serial_) {
      notify();
    }
  }
  virtual void due(const Item& item) = 0;

 private:
  struct Entry {
    Ticks when;
    std::uint64_t serial;
    Item item;
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : serial > other.serial;
    }
  };

  // An earlier notification replaces a later one.
  void notify() {
    const Ticks when = entries_.front().when;
    const Ticks present = now();
    due_event_.notify(time_of(when > present ? when - present : 0));
  }
  void run() {
    while (!entries_.empty() && entries_.front().when <= now()) {
      std::pop_heap(entries_.begin(), entries_.end());
      const Item item = std::move(entries_.back().item);
      entries_.pop_back();
      due(item);
    }
    if (!entries_.empty()) {
      notify();
    }
  }

  std::vector<Entry> entries_;
  std::uint64_t serial_ = 0;
  sc_core::sc_event due_event_;
};

}  // namespace warptwin::sim
