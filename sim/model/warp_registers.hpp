/// What there is to know of a warp's registers beside what they hold.

#pragma once

#include <cstdint>

namespace warptwin::sim {

/// Arithmetic on registers, in operations of each lane.
struct RegisterMath {
  std::uint32_t fma = 0;   // multiply-adds and what takes as long
  std::uint32_t mufu = 0;  // exp2 and other special functions
  // Of programs whose instructions are known one by one:
  std::uint32_t integer = 0;    // integers, logic, comparisons, selections
  std::uint32_t converted = 0;  // conversions to packed pairs
  std::uint32_t exchanged = 0;  // words between lanes: through shared memory's read port
  std::uint32_t issued = 0;     // instructions
  double multiplied = 0;        // multiply-adds of mma.sync, of the whole warp
  /// From the last operation on, in ticks: when the next one is issued, if nobody is in the way.
  std::uint64_t ticks = 0;
};

/// A unit of a sub-partition, and one instruction of a warp, in ticks.
struct UnitTime {
  std::uint64_t works = 0;    // until the unit takes the next
  std::uint64_t latency = 0;  // from its issue until what depends on the result is issued
};

/// How long instructions take, in ticks of the engine that keeps time.
struct InstructionTimes {
  std::uint64_t cycle = 0;
  std::uint64_t branch = 0;  // from a branch that is taken until what it goes to is issued
  UnitTime fma;
  UnitTime integer;
  UnitTime mufu;
  UnitTime convert;   // to packed pairs
  UnitTime exchange;  // words between lanes, local memory
  UnitTime mma;       // mma.sync; works: for 32 multiply-adds
};

/// What an engine that keeps time and a program whose instructions are known tell each other.
struct InstructionTime {
  const InstructionTimes* times = nullptr;  // null: nobody keeps time
  std::uint64_t now = 0;    // when the warp goes on behind its last operation, in ticks
  std::uint64_t ready = 0;  // and when what that loads is in registers, or in shared memory
};

struct WarpRegisters {
  RegisterMath math;             // since an engine that keeps time took it
  InstructionTime instructions;  // of a program whose instructions are known
  std::uint64_t time = 0;        // orders touches of accumulators, and wgmma.fences
  bool unknown_any = true;       // what `any` says of registers without contents
  bool asked_unknown = false;    // it has been asked
  bool lanes_by_number = false;  // lanes act by their number, beside one that may be elected
  bool asks_active = false;      // which lanes are together, where some have parted
};

}  // namespace warptwin::sim
