/// One SM: its units.

#pragma once

#include "sim/timed/modules/mbarrier_unit.hpp"
#include "sim/timed/modules/tma_engine.hpp"
#include "sim/timed/modules/tmem_ports.hpp"
#include "sim/timed/modules/warp_issue.hpp"
#include "sim/timed/modules/warpgroup_mma.hpp"

namespace warptwin::sim {

class Sm : public sc_core::sc_module {
 public:
  Sm(const sc_core::sc_module_name& name,
     const Chip& chip,
     std::uint32_t l2_half,
     MemorySystem& memory,
     Completions& completions,
     CauseLog* log = nullptr)
      : sc_module{name},
        issue{"issue", chip},
        shared{"shared", chip},
        barriers{"barriers", chip, shared},
        tma{"tma", chip, l2_half, shared, memory, completions, log},
        tensor{"tensor", chip, shared, completions, log},
        warpgroups{"warpgroups", chip, shared, completions, log},
        tmem{"tmem", chip, tensor, completions, log} {}

  WarpIssue issue;
  SharedMemory shared;
  MbarrierUnit barriers;
  TmaEngine tma;
  TensorCore tensor;
  WarpgroupMma warpgroups;
  TmemPorts tmem;
  Port network;  // from other SMs of the cluster
};

}  // namespace warptwin::sim
