/// The time of SMs that share nothing with others but what they ask for by turns (turns.hpp): what
/// the units and warps of one cluster's SMs do, one callback after the other.
///
/// A timeline runs ahead of the others by up to a window, in which nothing can come to it that it
/// has not been told of: the conservative time window of parallel simulation. That changes no
/// result. It keeps the state of an SM in the caches, and SystemC orders windows, not callbacks.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <systemc>

#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

namespace detail {
inline Ticks present = 0;
}

/// Now, in the timeline that runs. One unit of the kernel's time resolution is a tick.
inline Ticks now() {
  return detail::present;
}
inline void set_now(Ticks ticks) {
  detail::present = ticks;
}
inline sc_core::sc_time time_of(Ticks ticks) {
  return sc_core::sc_time::from_value(ticks);
}

/// Who is called back at a time.
class Callee {
 public:
  virtual void call(std::uint32_t what) = 0;

 protected:
  ~Callee() = default;
};

class Timeline : public sc_core::sc_module {
 public:
  /// Runs ahead of others by less than `window`, which is at least a tick.
  Timeline(const sc_core::sc_module_name& name, std::uint32_t number, Ticks window);

  /// Calls `who` at `when`, which is not in the past: earliest first, and in the order of tickets
  /// where times are equal.
  void at(Ticks when, Callee& who, std::uint32_t what, std::uint64_t ticket);
  void at(Ticks when, Callee& who, std::uint32_t what = 0) { at(when, who, what, tickets(1)); }
  /// The first of `count` places in the order, for what is put into it later.
  std::uint64_t tickets(std::uint64_t count) { return std::exchange(next_, next_ + count); }

  /// From a callback: lets time go on to `when`, if nothing else happens here before. It is then
  /// as if the caller had waited.
  bool pass_to(Ticks when) {
    const bool next =
        pauses_ == 0 && when < horizon_ && (entries_.empty() || when < entries_.back().when);
    if (next) {
      set_now(when);
    }
    return next;
  }
  /// Whether `when` is in the window that runs.
  bool runs_at(Ticks when) const { return when < horizon_; }
  /// From a callback: it is the last one until there was a `resume` for each `pause`.
  void pause() { ++pauses_; }
  void resume();

  std::uint32_t number() const { return number_; }
  /// When it was last called.
  Ticks latest() const { return latest_; }

 private:
  struct Entry {
    Ticks when;
    std::uint64_t ticket;
    Callee* who;
    std::uint32_t what;
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : ticket > other.ticket;
    }
  };

  void run_window();
  void run();
  void notify();

  std::uint32_t number_;
  Ticks window_;
  Ticks horizon_ = 0;  // end of the window that is run
  Ticks latest_ = 0;
  bool running_ = false;
  std::uint32_t pauses_ = 0;  // without a resume
  std::uint64_t next_ = 0;
  std::vector<Entry> entries_;  // the next one last: they are few, and mostly soon
  sc_core::sc_event window_begins_;
};

}  // namespace warptwin::sim
