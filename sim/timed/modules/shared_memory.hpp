/// Shared memory of one SM: a read port and a write port, which get in each other's way a little,
/// and the way into it from L2.

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
      : sc_module{name},
        read_rate_{chip.smem_read},
        write_rate_{chip.smem_write},
        inbound_rate_{chip.l2_sm_rate} {}

  /// Reads `bytes`, and keeps the port `extra` cycles more. Returns when the port is done.
  Ticks read(Ticks from, double bytes, double extra = 0) {
    reads_.may_forget(from - std::min(from, kRemembered));
    return reads_.fill(from, to_ticks(bytes / read_rate_ + extra));
  }
  /// Reads `bytes` evenly over `span` from `from` on, in pieces that leave gaps where they can.
  /// Returns when the port is done.
  Ticks read_evenly(Ticks from, double bytes, Ticks span) {
    reads_.may_forget(from - std::min(from, kRemembered));
    const Ticks piece = to_ticks(bytes / kPieces / read_rate_);
    Ticks end = from;
    for (Ticks i = 0; i < kPieces; ++i) {
      end = reads_.fill(std::max(end, from + i * span / kPieces), piece);
    }
    return end;
  }
  /// The end of the first gap of the read port, from `from` on, in which `ticks` find room.
  Ticks look(Ticks from, Ticks ticks) {
    reads_.may_forget(from - std::min(from, kRemembered));
    return reads_.fill(from, ticks);
  }
  /// A store of a warp.
  Ticks write(Ticks from, double bytes) {
    return writes_.reserve(from, to_ticks(bytes / write_rate_));
  }
  /// Bytes of a copy whose last one comes at `arrived`.
  Ticks fill(Ticks arrived, double bytes) {
    const Ticks here = inbound_.stream(arrived, to_ticks(bytes / inbound_rate_));
    return writes_.stream(here, to_ticks(bytes / write_rate_));
  }

  /// The share of [from, to) in which the read port was busy. `from` does not go back.
  double read_share(Ticks from, Ticks to) {
    reads_.forget(from);
    return to > from ? static_cast<double>(reads_.taken(from, to)) / static_cast<double>(to - from)
                     : 0.0;
  }

  /// Why the write port is busy: the last fill of it.
  Cause filled = kNoCause;

  void watch(UseHistory* reads, UseHistory* writes) {
    reads_.watch(reads);
    writes_.watch(writes);
  }
  const GapPort& reads() const { return reads_; }
  const Port& writes() const { return writes_; }

 private:
  static constexpr Ticks kPieces = 4;
  static constexpr Ticks kRemembered = 8192 * kTicksPerCycle;  // longer than a copy takes

  double read_rate_;
  double write_rate_;
  double inbound_rate_;
  GapPort reads_;
  Port writes_;
  Port inbound_;
};

}  // namespace warptwin::sim
