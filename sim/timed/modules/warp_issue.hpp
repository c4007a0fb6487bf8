/// The issue slots of one SM: one instruction a cycle in each sub-partition, and the units that
/// warps use while they issue.

#pragma once

#include <array>

#include <systemc>

#include "sim/timed/chip.hpp"
#include "sim/timed/modules/gap_port.hpp"
#include "sim/timed/modules/port.hpp"
#include "sim/timed/modules/tmem_ports.hpp"

namespace warptwin::sim {

class WarpIssue : public sc_core::sc_module {
 public:
  WarpIssue(const sc_core::sc_module_name& name, const Chip& chip)
      : sc_module{name},
        convert_rate_{chip.convert_rate / kSubPartitions},
        fma_rate_{chip.fma_rate / kSubPartitions},
        mufu_rate_{chip.mufu_rate / kSubPartitions},
        integer_rate_{chip.integer_rate / kSubPartitions},
        mma_rate_{chip.mma_sync_rate / kSubPartitions} {}

  /// When a warp of sub-partition `part` that is ready at `from` has issued an instruction that
  /// keeps the slot for `held`.
  Ticks issue(std::uint32_t part, Ticks from, Ticks held = kTicksPerCycle) {
    slots_[part].may_forget(now());
    return slots_[part].fill(from, held);
  }
  /// When `pairs` conversions to packed pairs are done.
  Ticks convert(std::uint32_t part, Ticks from, double pairs) {
    return converters_[part].reserve(from, to_ticks(pairs / convert_rate_));
  }
  /// When `count` multiply-adds of single lanes, or as many special functions, are done.
  Ticks multiply_add(std::uint32_t part, Ticks from, double count) {
    return fmas_[part].fill(from, to_ticks(count / fma_rate_));
  }
  Ticks special(std::uint32_t part, Ticks from, double count) {
    return mufus_[part].fill(from, to_ticks(count / mufu_rate_));
  }
  /// The same of integers, and of multiply-adds of mma.sync.
  Ticks integers(std::uint32_t part, Ticks from, double count) {
    return integers_[part].fill(from, to_ticks(count / integer_rate_));
  }
  Ticks multiply(std::uint32_t part, Ticks from, double count) {
    return mmas_[part].fill(from, to_ticks(count / mma_rate_));
  }
  /// Forgets what ended: nobody asks for a time before `when`.
  void may_forget(std::uint32_t part, Ticks when) {
    fmas_[part].may_forget(when);
    mufus_[part].may_forget(when);
    integers_[part].may_forget(when);
    mmas_[part].may_forget(when);
  }
  const GapPort& slot(std::uint32_t part) const { return slots_[part]; }
  const Port& converter(std::uint32_t part) const { return converters_[part]; }
  const GapPort& fma(std::uint32_t part) const { return fmas_[part]; }
  const GapPort& mufu(std::uint32_t part) const { return mufus_[part]; }
  const GapPort& integer(std::uint32_t part) const { return integers_[part]; }
  const GapPort& mma(std::uint32_t part) const { return mmas_[part]; }

 private:
  double convert_rate_;
  double fma_rate_;
  double mufu_rate_;
  double integer_rate_;
  double mma_rate_;
  std::array<GapPort, kSubPartitions> slots_;
  std::array<Port, kSubPartitions> converters_;
  std::array<GapPort, kSubPartitions> fmas_;
  std::array<GapPort, kSubPartitions> mufus_;
  std::array<GapPort, kSubPartitions> integers_;
  std::array<GapPort, kSubPartitions> mmas_;
};

}  // namespace warptwin::sim
