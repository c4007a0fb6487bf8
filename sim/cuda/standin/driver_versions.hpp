/// Since which version of CUDA the driver has each of its functions.

#pragma once

#include <span>

namespace warptwin::cuda {

struct EntryPoint {
  const char* symbol;  // as the library has it: "cuMemAlloc_v2"
  int version;         // 3020: since CUDA 3.2
};

/// All of them, also those that are not there: calling one ends the program.
std::span<const EntryPoint> entry_points();

}  // namespace warptwin::cuda
