/// Shared memory of one SM: a read port and a write port, which get in each other's way a little.

#pragma once

#include <systemc>

#include "sim/timed/causes.hpp"
#include "sim/timed/chip.hpp"
#include "sim/timed/modules/gap_port.hpp"
#include "sim/timed/modules/port.hpp"

namespace warptwin::sim {

class SharedMemory : public sc_core::sc_module {
 public:
  SharedMemory(const sc_core::sc_module_name& name, const Chip& chip)
      : sc_module{name}, read_rate_{chip.smem_read}, write_rate_{chip.smem_write} {}

  /// Reads `bytes`, and keeps the port `extra` cycles more. Returns when the port is done.
  Ticks read(Ticks from, double bytes, double extra = 0) {
    reads_.may_forget(from - std::min(from, kRemembered));
    return reads_.fill(from, to_ticks(bytes / read_rate_ + extra));
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
    reads_.forget(from);
    return to > from ? static_cast<double>(reads_.taken(from, to)) / static_cast<double>(to - from)
                     : 0.0;
  }

  /// Why the write port is busy: the last fill of it.
  Cause filled = kNoCause;

  const GapPort& reads() const { return reads_; }
  const Port& writes() const { return writes_; }

 private:
  static constexpr Ticks kRemembered = 8192 * kTicksPerCycle;  // longer than a copy takes

  double read_rate_;
  double write_rate_;
  GapPort reads_;
  Port writes_;
};

}  // namespace warptwin::sim
