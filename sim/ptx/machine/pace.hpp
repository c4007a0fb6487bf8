/// The time of one warp between two operations of the machine, under an engine that keeps time.
///
/// Instructions are issued in order. One begins when its operands are there: each register has the
/// time at which its value is. What the units of a sub-partition give to other warps meanwhile is
/// the engine's: it is told how much work there was for each, and when the next operation would be
/// issued if the warp had them alone (`RegisterMath`).

#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/model/sim_machine.hpp"
#include "sim/ptx/lanes/strand.hpp"
#include "sim/ptx/machine/instruction_cost.hpp"

namespace warptwin::ptx {

/// What the instructions of a routine take, and which slots they use. One for all warps of a grid.
class RoutineCosts {
 public:
  struct Instruction {
    InstructionCost cost;
    std::uint32_t first = 0;  // of its slots
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;  // behind those
  };

  explicit RoutineCosts(const Routine& routine);

  const Instruction& at(std::uint32_t op) const { return instructions_[op]; }
  const std::uint32_t* reads(const Instruction& one) const { return slots_.data() + one.first; }
  const std::uint32_t* writes(const Instruction& one) const { return reads(one) + one.reads; }

 private:
  std::vector<Instruction> instructions_;
  std::vector<std::uint32_t> slots_;
};

using GridCosts = std::unordered_map<const Routine*, RoutineCosts>;

class Pace : public InstructionWatch {
 public:
  /// `registers` has the times of an engine that keeps time.
  Pace(GridCosts& costs, sim::WarpRegisters& registers);

  void executes(const Strand& strand) override;
  /// An instruction that the machine serves: before it is, and behind.
  void begins(const Strand& strand, std::uint32_t op);
  void ends(const Strand& strand, std::uint32_t op);
  /// Before an operation of the machine, and behind.
  void hand_over();
  void take_back();

 private:
  const RoutineCosts& costs_of(const Routine& routine);
  std::uint64_t operands_ready(const Frame& frame,
                               const RoutineCosts& costs,
                               const RoutineCosts::Instruction& one) const;
  std::uint64_t issue(const InstructionCost& cost, std::uint64_t from);
  const sim::UnitTime* unit_of(CostUnit unit) const;
  void count(const InstructionCost& cost);

  GridCosts& grid_;
  sim::WarpRegisters& registers_;
  const sim::InstructionTimes& times_;
  const Routine* last_ = nullptr;  // whose costs were asked for, and these
  const RoutineCosts* last_costs_ = nullptr;
  std::uint64_t begun_ = 0;                       // behind the last operation
  std::uint64_t next_ = 0;                        // when the next instruction can be issued
  std::uint64_t served_ = 0;                      // when what is served has its results
  std::array<std::uint64_t, kCostUnits> free_{};  // when each unit has done the warp's work
  const Op* branch_ = nullptr;                    // the last instruction, if it was one
};

}  // namespace warptwin::ptx
