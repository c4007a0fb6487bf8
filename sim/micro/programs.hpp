/// For each diagnostic the smallest program that shows it, and the smallest change that removes it.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/check/detector.hpp"
#include "sim/model/sim_machine.hpp"

namespace warptwin::sim {

struct MicroProgram {
  const char* id;  // of the diagnostic
  std::function<void(SimMachine&)> wrong;
  std::function<void(SimMachine&)> right;
  std::uint32_t warps = 1;  // of a CTA
  std::uint32_t ctas = 1;   // of the one cluster
  const char* schedule = "round-robin";
  Rules rules{};      // strict, where only that profile reports it
  bool ring = false;  // a ring of two stages is declared
  std::uint32_t clusters = 1;
  std::uint32_t resident = 0;  // of them at a time; 0: all
  bool dependent = false;      // a grid before this one may still write the source buffer
  bool has_dependents = false;
  bool has_result = false;  // data moves; the result is to be the source's first 16 bytes
};

std::span<const MicroProgram> micro_programs();
/// The id of a program, with its number where the id has several: SMEM_RACE, SMEM_RACE_2.
std::string micro_name(std::size_t index);

/// What the detectors and the conditions of the proof find in one of the two. `watcher`, if any,
/// is shown the events.
std::vector<Finding> run_micro(const MicroProgram& micro, bool wrong, EventSink* watcher = nullptr);

}  // namespace warptwin::sim
