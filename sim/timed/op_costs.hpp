/// What operations cost on a chip, by themselves: how long a warp issues, and the work that the
/// tensor core gets.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/machine/umma_descriptor.hpp"
#include "common/trace/op_facts.hpp"

#include "sim/model/operation.hpp"
#include "sim/model/warp_registers.hpp"
#include "sim/timed/chip.hpp"
#include "sim/timed/modules/tensor_core.hpp"
#include "sim/timed/modules/warpgroup_mma.hpp"
#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

/// Of an arrival that waits for cp.async: when the last of them is there. 0: there is none.
inline Ticks lands_of(const Operation& op) {
  return op.is<operands::Mbarrier>() ? op.as<operands::Mbarrier>().lands : 0;
}

class OpCosts {
 public:
  explicit OpCosts(const Chip& chip);

  /// From the end of an operation's issue until it has its effect, where no unit says so.
  Ticks effect(const Operation& op) const {
    if (op.op == Op::kFence && op.ordering.scope == Scope::kCta) {
      return 0;
    }
    if (op.op == Op::kSetmaxnreg && (op.flags & event_flag::kIncrease) != 0) {
      return setmaxnreg_inc_;
    }
    return effects_[static_cast<std::size_t>(op.op)];
  }
  /// How long the operation keeps the issue slot of its sub-partition.
  Ticks issue(const Operation& op) const {
    return op.op == Op::kWgmma ? issue_of_wgmma(op.as<operands::Wgmma>().instruction.n())
                               : kTicksPerCycle;
  }
  /// Of programs whose instructions are known one by one.
  const InstructionTimes& instructions() const { return instructions_; }
  /// Of a wgmma, and of a tcgen05.mma. Throws ChipError where the chip has not what it takes.
  WgmmaShape wgmma(const Operation& op) const;
  MmaShape mma(const Operation& op) const;

 private:
  Ticks issue_of_wgmma(double columns) const {
    return std::max(to_ticks(chip_.wgmma_issue + chip_.wgmma_issue_per_column * columns),
                    kTicksPerCycle);
  }

  const Chip& chip_;
  Ticks setmaxnreg_inc_;
  InstructionTimes instructions_;
  std::array<Ticks, static_cast<std::size_t>(Op::kCount)> effects_{};
  std::array<const MmaForm*, kMmaForms.size()> forms_{};
};

}  // namespace warptwin::sim
