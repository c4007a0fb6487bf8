/// Shared memory of one SM: a read port and a write port, which get in each other's way a little.

#pragma once

#include <deque>

#include <systemc>

#include "sim/timed/chip.hpp"
#include "sim/timed/modules/port.hpp"

namespace warptwin::sim {

class SharedMemory : public sc_core::sc_module {
 public:
  SharedMemory(const sc_core::sc_module_name& name, const Chip& chip)
      : sc_module{name}, read_rate_{chip.smem_read}, write_rate_{chip.smem_write} {}

  /// Reads `bytes`, and keeps the port `extra` cycles more. Returns when the port is done.
  Ticks read(Ticks from, double bytes, double extra = 0) {
    const Ticks service = to_ticks(bytes / read_rate_ + extra);
    const Ticks end = reads_.reserve(from, service);
    if (service != 0) {
      history_.push_back({end - service, end});
    }
    return end;
  }
  /// A store of a warp.
  Ticks write(Ticks from, double bytes) {
    return writes_.reserve(from, to_ticks(bytes / write_rate_));
  }
  /// Bytes of a copy whose last one comes at `arrived`.
  Ticks fill(Ticks arrived, double bytes) {
    return writes_.stream(arrived, to_ticks(bytes / write_rate_));
  }

  /// The share of [from, to) in which the read port was busy. `from` does not go back.
  double read_share(Ticks from, Ticks to) {
    while (!history_.empty() && history_.front().end <= from) {
      history_.pop_front();
    }
    Ticks busy = 0;
    for (const Span& span : history_) {
      if (span.start >= to) {
        break;
      }
      busy += std::min(span.end, to) - std::max(span.start, from);
    }
    return to > from ? static_cast<double>(busy) / static_cast<double>(to - from) : 0.0;
  }

  const Port& reads() const { return reads_; }
  const Port& writes() const { return writes_; }

 private:
  struct Span {
    Ticks start;
    Ticks end;
  };

  double read_rate_;
  double write_rate_;
  Port reads_;
  Port writes_;
  std::deque<Span> history_;
};

}  // namespace warptwin::sim
