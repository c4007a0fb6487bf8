/// A launch of a PTX kernel as a scenario: every driver that judges scenarios judges it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/machine/kernel.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

/// What a launch has to leave in an output.
struct ExpectedTensor {
  std::vector<std::byte> bytes{};        // row by row; empty: nothing is known
  std::optional<Tolerance> tolerance{};  // none: what rounding explains
};

/// What a user calls places of shared memory and warps that PTX does not name.
struct PtxNames {
  std::vector<Region> regions;   // names alone: nothing is declared of them
  std::vector<RoleWarps> roles;  // from warp 0 on; all warps of a CTA, or none
};

struct PtxLaunch {
  std::shared_ptr<const ptx::Kernel> kernel;
  std::string name;
  ptx::LaunchShape shape;
  ptx::Parameters parameters;
  /// Buffers and maps; the grid is `shape`'s.
  Workload workload;
  /// What each tensor of the workload begins with; empty: zeros, or drawn for an input.
  std::vector<std::vector<std::byte>> contents;
  /// Of each tensor, or of none: what it has to end with.
  std::vector<ExpectedTensor> expected{};
  /// Where the tensors stand; empty: one behind the other.
  std::vector<std::uint64_t> places{};
  /// Of variables of the module that stand in these tensors: where. The others begin as the module
  /// says.
  std::map<std::string, std::uint64_t, std::less<>> variables{};
  /// Tensors that the grid before may still read.
  std::vector<std::uint32_t> read_by_grid_before{};
  PtxNames called{};
  /// Where runs add the instructions of threads that they execute; null: where only the entry sees
  /// it.
  std::shared_ptr<std::uint64_t> thread_instructions{};
};

/// What a variable of the module begins with. `place` says where a global or constant variable of
/// it stands. Throws ConfigError for an initialiser that is the address of something else.
std::vector<std::byte> initial_bytes(const ptx::Module& module,
                                     const ptx::Variable& variable,
                                     const std::function<std::uint64_t(std::string_view)>& place);

/// What a launch is run for.
enum class LaunchUse : std::uint8_t {
  kJudge,
  /// Its time alone, of runs that move no data: global memory holds the control words that the
  /// kernel can read, and nothing else, so that SMs need not run in step.
  kTime,
};

/// An entry without parameters. Its outputs are compared with what is expected. Throws ConfigError
/// for a launch that the kernel's directives do not allow. The entry and its copies keep the kernel
/// and `ScenarioEntry::info` alive.
ScenarioEntry entry_of(PtxLaunch launch, LaunchUse use = LaunchUse::kJudge);

/// `scenario`, executed by a PTX kernel: its tensors, maps, inputs and reference, and what its
/// protocol layer declared of shared memory. The PTX is of these parameters, and is refused with
/// others.
ScenarioEntry entry_of(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       PtxLaunch launch);

/// Gives `launch` the grid, the tensors and the maps of a scenario.
void take_launch_of(const ScenarioEntry& scenario,
                    const ParameterSet& parameters,
                    PtxLaunch& launch);

/// A launch file, read.
struct ReadLaunch {
  PtxLaunch launch;
  std::shared_ptr<const std::deque<std::string>> names;  // of its tensors: keep it with them
  std::vector<std::string> map_names;                    // of the workload's maps
  const ScenarioEntry* scenario = nullptr;               // whose launch it is; null: its own
  std::optional<ParameterSet> parameters;                // of the scenario
  std::uint64_t content = 0;                             // a number for what the files say
};

/// `scenarios` are those that a launch file may name. `names` is a file of `read_names`, or empty.
/// Throws ConfigError, with the place in the file, for what is no launch.
ReadLaunch read_launch_file(const std::string& ptx,
                            const std::string& launch,
                            const std::vector<ScenarioEntry>& scenarios,
                            const std::string& names = {});

/// The names in a JSON file, for a launch whose kernel and shape are known: see docs/ptx.md. Throws
/// ConfigError, with the place in the file, for a name of no shared memory or of no role.
PtxNames read_names(const std::string& file, const PtxLaunch& launch);

/// Throws ConfigError for a launch that the kernel's directives do not allow.
ScenarioEntry entry_of(ReadLaunch read, LaunchUse use = LaunchUse::kJudge);

/// The entry of a launch file, for a command line: replay lines name it with
/// `--ptx FILE --launch FILE`. Throws ConfigError as the two above do.
ScenarioEntry entry_of_launch_file(const std::string& ptx,
                                   const std::string& launch,
                                   const std::vector<ScenarioEntry>& scenarios,
                                   LaunchUse use = LaunchUse::kJudge,
                                   const std::string& names = {});

/// The chip that a launch file is for, as --chip takes it; empty where it names none. Throws
/// ConfigError for a chip that is not there.
std::string chip_of_launch_file(const std::string& launch);

/// What the text of a kernel says that its time depends on.
PtxFacts facts_of(const ptx::Kernel& kernel);

/// Writes a launch with fixed places into a folder: `kernel.ptx`, `launch.json`, and what each
/// tensor begins with. Throws ConfigError where it cannot.
void keep_launch(const PtxLaunch& launch, const std::string& ptx, const std::string& folder);

/// The launch file that `keep_launch` writes.
std::string launch_text_of(const PtxLaunch& launch);

/// A number for what a launch says: a schedule is for this launch only.
std::uint64_t content_of(std::string_view launch_text, std::string_view ptx_text);

/// A first launch file for a kernel, as its signature says: one CTA, zeros, and a buffer for each
/// parameter that may be an address. An empty name is the only kernel of the file.
std::string first_launch_of(const std::string& ptx, const std::string& kernel);

}  // namespace warptwin::sim
