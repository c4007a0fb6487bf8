/// What there is to know of a warp's registers beside what they hold.

#pragma once

#include <cstdint>

namespace warptwin::sim {

/// Arithmetic on registers, in operations of each lane.
struct RegisterMath {
  std::uint32_t fma = 0;   // multiply-adds and what takes as long
  std::uint32_t mufu = 0;  // exp2 and other special functions
};

struct WarpRegisters {
  RegisterMath math;             // since an engine that keeps time took it
  std::uint64_t time = 0;        // orders touches of accumulators, and wgmma.fences
  bool unknown_any = true;       // what `any` says of registers without contents
  bool asked_unknown = false;    // it has been asked
  bool lanes_by_number = false;  // lanes act by their number, beside one that may be elected
};

}  // namespace warptwin::sim
