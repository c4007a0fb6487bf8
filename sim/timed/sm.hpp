/// One SM: its units. And what the SMs of a cluster have together.

#pragma once

#include "sim/timed/modules/fabric.hpp"
#include "sim/timed/modules/lane_memory.hpp"
#include "sim/timed/modules/mbarrier_unit.hpp"
#include "sim/timed/modules/tma_engine.hpp"
#include "sim/timed/modules/tmem_ports.hpp"
#include "sim/timed/modules/warp_issue.hpp"
#include "sim/timed/modules/warpgroup_mma.hpp"

namespace warptwin::sim {

class SmCluster : public sc_core::sc_module {
 public:
  SmCluster(const sc_core::sc_module_name& name,
            std::uint32_t number,
            Ticks window,
            Completions& completions,
            CauseLog* log = nullptr)
      : sc_module{name},
        timeline{"timeline", number, window},
        fabric{"fabric", timeline, completions, log} {}

  Timeline timeline;
  Fabric fabric;
};

class Sm : public sc_core::sc_module {
 public:
  Sm(const sc_core::sc_module_name& name,
     SmCluster& its_cluster,
     Turns& turns,
     const Chip& chip,
     L2Port l2,
     MemorySystem& memory,
     Completions& completions,
     CauseLog* log = nullptr)
      : sc_module{name},
        cluster{its_cluster},
        issue{"issue", chip},
        shared{"shared", chip},
        lanes{chip, l2, shared, memory},
        barriers{"barriers", chip, shared},
        tma{"tma", cluster.timeline, turns, chip, l2, shared, memory, completions, log},
        tensor{"tensor", cluster.timeline, chip, shared, completions, log},
        warpgroups{"warpgroups", cluster.timeline, chip, shared, completions, log},
        tmem{"tmem", cluster.timeline, chip, tensor, completions, log} {}

  SmCluster& cluster;
  WarpIssue issue;
  SharedMemory shared;
  LaneMemory lanes;
  MbarrierUnit barriers;
  TmaEngine tma;
  TensorCore tensor;
  WarpgroupMma warpgroups;
  TmemPorts tmem;
  Port network;  // from other SMs of the cluster
};

}  // namespace warptwin::sim
