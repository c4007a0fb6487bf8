/// What a row of a sweep says of its run: a name, a unit, a value.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/report/json.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/time/timing.hpp"

namespace warptwin::sim {

/// A run in time, and what the proof says of its launch where a column asks for that.
struct SweepRun {
  const TimingResult& timing;
  ProofVerdict verdict;
};

struct SweepColumn {
  std::string name;
  const char* unit;
  const char* meaning;
  Json (*of)(const SweepRun& run, const std::string& name);
  bool proves = false;  // needs the proof
  bool paths = false;   // needs the critical path
};

/// Every column there is.
std::span<const SweepColumn> sweep_columns();

/// The columns of a list "us,tflops,verdict"; "" is the standard ones. Throws ConfigError.
std::vector<const SweepColumn*> columns_of(const std::string& list);

}  // namespace warptwin::sim
