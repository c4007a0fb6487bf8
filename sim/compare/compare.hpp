/// Two traces of the same launch, held against each other: what every warp did, in which order, and
/// what every phase of every barrier was made of.

#pragma once

#include <string>
#include <vector>

#include "sim/compare/times.hpp"
#include "sim/compare/values.hpp"

namespace warptwin::sim {

struct TraceComparison {
  std::vector<Mismatch> mismatches;  // the earliest in the first trace's time first
  std::vector<std::string> notes;    // what was not compared, and why
  std::uint64_t operations = 0;      // of both, that agree
  std::uint64_t phases = 0;
  std::uint64_t orders = 0;  // pairs of operations whose times were held against the proof's order
  std::uint64_t loads = 0;   // whose data was compared, by checksum
  std::uint64_t tokens = 0;  // of waits, that saw it
  std::vector<ValueComparison> values;  // of outputs that both traces have
  TimeComparison times;                 // where both are in cycles
  bool complete = true;                 // nothing was lost on the way

  bool agrees() const { return mismatches.empty(); }
};

/// Compares. Order freedom goes by meaning: a try that says no is nothing, one that says yes is a
/// wait, and clusters that did each other's work are taken for each other.
///
/// Throws ConfigError for traces of different launches.
TraceComparison compare_traces(const Trace& first, const Trace& second);

/// A page about a comparison; `first` and `second` are what the traces are called.
std::string text_of(const TraceComparison& comparison,
                    const std::string& first,
                    const std::string& second);

/// "waits for ring.full[2] phase 4", "arrives on ring.empty[1] of cta 1, 32 arrivals".
std::string text_of(const Trace& trace, std::uint32_t warp, const TraceOp& op);

}  // namespace warptwin::sim
