/// What the time of a PTX kernel depends on beside its instructions: the chip that it is for, and
/// how many registers ptxas gives its threads.

#pragma once

#include <cstdint>
#include <string>

#include "sim/run/scenario_entry.hpp"
#include "sim/timed/chip.hpp"

namespace warptwin::sim {

/// Throws ConfigError where machine code made of the kernel cannot run on the chip, with chips on
/// which it can.
void check_target(const PtxFacts& kernel, const Chip& chip);

struct KernelRegisters {
  std::uint32_t count = 0;  // of a thread; 0: nobody says
  std::string source;       // "ptxas -v for sm_90a"
};

/// Of a thread: `asked` where it is not 0; what `ptxas -v` prints, where there is a ptxas
/// (WARPTWIN_PTXAS names it; else the path and /usr/local/cuda/bin are looked through); what
/// .maxnreg says; or nothing.
KernelRegisters registers_of(const PtxFacts& kernel, std::uint32_t asked);

/// What `ptxas -v` has printed of a kernel: the registers of a thread; 0: nothing.
std::uint32_t registers_printed(const std::string& printed, const std::string& kernel);

/// The entry with that many registers of a thread.
ScenarioEntry with_registers(ScenarioEntry entry, std::uint32_t count);

}  // namespace warptwin::sim
