/// What is launched, whether a kernel's text, a program as text or PTX executes it.

#pragma once

#include <cstdint>

#include "common/kernel/scenario.hpp"

#include "sim/model/symbols.hpp"

namespace warptwin::sim {

struct LaunchConfig;

struct Launch {
  Workload workload;  // the grid, its buffers and tensor maps, registers of a thread
  Symbols symbols;    // a CTA's shared memory, and its warps by role
  /// Allocations of tensor memory get the highest free columns: another CTA of the SM may have the
  /// lowest.
  bool tmem_from_top = false;
  /// Registers that a thread begins with, where the workload does not say; 0: kRegistersNotSaid.
  std::uint32_t registers = 0;

  std::uint32_t warps_per_cta() const;
  std::uint32_t threads_per_cta() const;
  /// What the machine is told of it. All of the grid is resident, and the rules are the usual ones.
  LaunchConfig config() const;
};

/// Registers that a thread starts with, where the workload does not say.
inline constexpr std::uint32_t kRegistersNotSaid = 168;
std::uint32_t registers_at_start(const Workload& workload);

}  // namespace warptwin::sim
