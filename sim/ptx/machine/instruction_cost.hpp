/// What one instruction of PTX takes of an SM, in instructions of the machine. PTX is not machine
/// code: ptxas renames registers, folds constants and addresses, and splits what the SM does not
/// have. So this is a table of what ptxas makes of each, taken alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/ptx/code/code.hpp"

namespace warptwin::ptx {

/// What does the work of an instruction.
enum class CostUnit : std::uint8_t {
  kNothing,   // another name for a value, an operand of others, a hint
  kFma,       // multiply-adds
  kInteger,   // integers, logic, comparisons, selections: at half the rate
  kMufu,      // special functions, conversions of 64 bits
  kConvert,   // to packed pairs
  kExchange,  // words between lanes, and local memory
  kMma,       // mma.sync
  kBranch,
  kMachine,  // an operation of the model, which says what it takes
};

inline constexpr std::size_t kCostUnits = static_cast<std::size_t>(CostUnit::kMachine) + 1;

struct InstructionCost {
  CostUnit unit = CostUnit::kMachine;
  std::uint16_t issues = 1;  // instructions of the machine
  /// Of its unit: operations of each lane; of kMma multiply-adds of the warp, in 32s.
  std::uint16_t work = 1;
  std::uint16_t chain = 1;  // of its instructions, those of which each waits for the one before
  /// Beside its unit: special functions and multiply-adds of each lane.
  std::uint16_t mufu = 0;
  std::uint16_t fma = 0;
};

InstructionCost cost_of(const Code& code, const Op& op);

}  // namespace warptwin::ptx
