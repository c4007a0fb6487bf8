/// A scenario for the simulator: its values, and functions that build a run of it. Compiled from a
/// header, or made of a program.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/check/results.hpp"
#include "sim/functional/engine.hpp"
#include "sim/model/launch.hpp"
#include "sim/model/sim_machine.hpp"

namespace warptwin::sim {

/// Of a PTX kernel, what its text says that its time depends on.
struct PtxFacts {
  std::string file;
  std::string kernel;
  std::string target;           // "sm_90a"
  std::uint32_t registers = 0;  // of a thread, by .maxnreg; 0: it does not say
};

/// Of a line of the user's source: where in the PTX it stands, and where it was inlined.
struct PtxLines {
  std::string file;                  // of the PTX
  std::vector<std::uint32_t> lines;  // of it, from 1
  /// "user.cu:40, inlined at main.cu:7", each once; empty where it was inlined nowhere.
  std::vector<std::string> inlined_at;
  /// The outermost loop that the place is in, "lines 12 to 15 of the PTX, at a.cu:7"; empty: none.
  std::string loop;
};

struct ScenarioEntry {
  const ScenarioInfo* info;
  std::span<const Parameter> parameters;
  std::function<Workload(const ParameterSet&)> workload;
  std::function<Symbols(const ParameterSet&)> symbols;
  Launch launch(const ParameterSet& of) const {
    return {workload(of), symbols(of), tmem_from_top, registers};
  }
  std::function<WarpBody(
      const ParameterSet&, std::span<const SimTensorMap>, std::span<const GlobalAddress>)>
      body;
  /// Gives each output what it has to end with, or clears its values where that is not known. None
  /// where nothing is known of any.
  std::function<void(const ParameterSet&, std::span<HostTensor>)> reference;

  /// Of each tensor, or of none: how far an output may be off, instead of what rounding explains.
  std::vector<std::optional<Tolerance>> tolerances{};

  /// Of a program or a PTX kernel: writes what global memory begins with, beside zeros.
  std::function<void(GlobalMemory&, std::span<const GlobalAddress>)> initial{};
  /// `initial` says what every buffer holds in every run. Else inputs are drawn where it says
  /// nothing, and a run that moves no data knows of no buffer but scratch.
  bool initial_is_whole = false;
  /// Where the tensors of the workload stand; 0, or behind the list's end: anywhere.
  std::vector<std::uint64_t> places{};
  bool tmem_from_top = false;   // of every launch
  std::uint32_t registers = 0;  // likewise
  /// So many CTAs are on the machine at a time, at least: all of a cooperative launch.
  std::uint32_t resident_ctas_least = 0;
  /// Tensor maps behind those of the workload.
  std::vector<TensorMapState> more_maps{};
  /// Of a PTX kernel: tensors that the grid before may still read.
  std::vector<std::uint32_t> read_by_grid_before{};
  /// Of a program or a PTX kernel: what runs of it have taken for granted, a sentence each.
  std::function<std::vector<std::string>(bool data_decides)> hypotheses{};
  /// Of a PTX kernel: what its printf has said in the last run with data.
  std::function<std::string()> printed{};
  /// Of a PTX kernel: the instructions of threads that all runs of it have executed until now.
  std::function<std::uint64_t()> thread_instructions{};
  /// Of a PTX kernel.
  std::optional<PtxFacts> ptx{};
  /// Of a PTX kernel: what stands at a place that reports name. No `lines` where the place itself
  /// is one of the PTX.
  std::function<PtxLines(const SourceSite&)> lines_at{};
  /// How a command line names it, and a number for what it says.
  std::string command_name{};
  std::uint64_t content = 0;
};

/// Every scenario of this command, in the order of its list.
std::vector<ScenarioEntry> scenario_list();

}  // namespace warptwin::sim
