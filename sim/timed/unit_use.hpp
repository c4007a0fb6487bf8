/// How busy the units of a run were.

#pragma once

#include <memory>
#include <vector>

#include "sim/timed/engine.hpp"
#include "sim/timed/sm.hpp"

namespace warptwin::sim {

/// When the units that moves and multiplies go through worked.
struct UnitHistories {
  UseHistory tensor_core;
  UseHistory tma;
  UseHistory shared_reads;
  UseHistory shared_writes;
  UseHistory l2_reads;
  UseHistory l2_writes;
  UseHistory dram;

  void watch(const std::vector<std::unique_ptr<Sm>>& sms, MemorySystem& memory);
  /// Puts it into `stats`, whose units are there, and `moved`. `run` is how long the run was.
  void add_to(TimedStats& stats, std::size_t sms, const MemorySystem& memory, Ticks run);
};

/// Of each kind of unit; the tensor cores stand first. `run` is how long the run was.
std::vector<UnitUse> use_of_units(const std::vector<std::unique_ptr<Sm>>& sms,
                                  const MemorySystem& memory,
                                  Ticks run);

}  // namespace warptwin::sim
