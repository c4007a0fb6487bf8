#include "sim/run/ptx_entry.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "common/kernel/tensor_bytes.hpp"
#include "common/trace/words.hpp"

#include "sim/ptx/machine/tensor_map.hpp"
#include "sim/ptx/machine/warp.hpp"
#include "sim/ptx/text/demangled.hpp"
#include "sim/run/occupancy.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

namespace {

using ptx::operator""_mod;

/// Places of the kernel, of any run: as in `ptx::GridContext`.
struct TakenForGranted {
  using Places = std::set<std::string>;
  Places parted, ended, known_of_ended, elections, signals_elsewhere, active_masks;
  Places grid_waits, grid_starts, fixed_columns, rounded, map_bytes, awaited;
  bool allocates_beside_data = false;
  std::string registers;  // of a thread, as they are counted where it gives some back
};

constexpr std::size_t kNoTensor = ~std::size_t{0};

/// A variable of the module: a tensor of its own, or a place in one of the launch's.
struct PlacedVariable {
  std::size_t tensor = kNoTensor;
  std::uint64_t address = 0;
};

/// What an entry's functions share.
struct HeldLaunch {
  PtxLaunch launch;
  ScenarioInfo info;
  ParameterSet parameters{std::span<const Parameter>{}};
  std::vector<PlacedVariable> variables;                       // of the module, in its order
  std::vector<std::pair<std::uint32_t, TensorMapState>> maps;  // by offset of the parameters
  /// In the contents of a tensor.
  struct MemoryMap {
    std::size_t tensor = 0;
    std::uint64_t offset = 0;
    TensorMapState state;
  };
  std::vector<MemoryMap> memory_maps;
  std::deque<std::string> names;
  std::vector<Parameter> fixed;  // of a scenario: its parameters, none of which is a choice now
  /// In a run without data the model knows which words of outputs are known (`initial`).
  bool tracks_outputs = false;
  std::size_t workspace = kNoTensor;     // of a cooperative grid
  std::shared_ptr<std::string> printed;  // of the last run
  std::shared_ptr<TakenForGranted> taken = std::make_shared<TakenForGranted>();
};

std::string first_three(const std::set<std::string>& all) {
  std::string places;
  std::size_t shown = 0;
  for (const std::string& place : all) {
    if (++shown <= 3) {
      places += (places.empty() ? "" : ", ") + place;
    }
  }
  return places + (shown > 3 ? " and " + std::to_string(shown - 3) + " more" : "");
}

std::string names_of(const std::vector<std::uint32_t>& tensors, const Workload& workload) {
  std::string names;
  for (const std::uint32_t tensor : tensors) {
    names += (names.empty() ? "" : ", ") + std::string{workload.tensors[tensor].name};
  }
  return names;
}

// Only this grid is executed. Of memory of the grid before, the accesses that come in front of the
// wait are found (PDL_MISSING_WAIT); which memory that is the launch says.
std::vector<std::string> hypotheses_of_other_grids(const TakenForGranted& taken,
                                                   const PtxLaunch& launch) {
  const Workload& workload = launch.workload;
  std::vector<std::string> notes;
  if (!taken.grid_waits.empty()) {
    const std::string names = names_of(workload.from_grid_before, workload);
    const std::string read = names_of(launch.read_by_grid_before, workload);
    notes.push_back(
        "the grids before this one have ended, and what they wrote is visible, behind "
        "griddepcontrol.wait at " +
        first_three(taken.grid_waits) +
        (names.empty()
             ? "; they write no buffer, for the launch marks none from_grid_before"
             : "; the buffers that they write are those marked from_grid_before: " + names) +
        (read.empty() ? ""
                      : "; those that they read are those marked read_by_grid_before: " + read));
  }
  if (!taken.grid_starts.empty()) {
    notes.push_back(
        "a grid that may start at griddepcontrol.launch_dependents at " +
        first_three(taken.grid_starts) +
        " waits for this one before it touches its memory; what other grids do is not looked at");
  }
  return notes;
}

// PTX orders no two lanes of a warp but by what it says. Their accesses to memory are compared lane
// by lane (`LaneWords`); of all else a run takes them in one order.
std::vector<std::string> hypotheses_of(const HeldLaunch& held, bool data_decides) {
  const TakenForGranted& taken = *held.taken;
  std::vector<std::string> notes = hypotheses_of_other_grids(taken, held.launch);
  const auto note = [&notes](const std::set<std::string>& places, const std::string& text) {
    if (!places.empty()) {
      notes.push_back(text + ", at " + first_three(places));
    }
  };
  note(taken.parted,
       "lanes of one warp took turns as in this run; apart from each other they used the machine, "
       "or one word by strong accesses");
  note(taken.ended,
       "lanes that have ended count as arrived, where others of their warp execute an .aligned "
       "instruction");
  note(taken.known_of_ended,
       "what lanes of a warp did that have ended is known where the others have come together");
  note(taken.elections,
       "elect.sync elects of several sets of lanes the lowest of each, or the highest of each");
  note(taken.signals_elsewhere,
       "a copy signals the mbarrier of the CTA that it goes to, as on an H200, where its operand "
       "names another CTA's");
  note(taken.active_masks,
       "activemask tells of all lanes that came the same way, or of each of them alone, and not "
       "of some");
  note(taken.fixed_columns,
       "tcgen05.alloc gives columns as in this run, for tensor memory is named by numbers");
  note(data_decides ? taken.rounded : std::set<std::string>{},
       "approximations, sums of products of floats, NaNs of f64 and of 16 bits are as in this run");
  note(taken.awaited,
       "a cluster that waits for another one's word has it beside it, in a launch that is not "
       "cooperative");
  note(
      taken.map_bytes,
      "bytes of a tensor map, whose form no manual says, are at most copied where they are loaded");
  if (taken.allocates_beside_data) {
    notes.push_back(
        "tcgen05.alloc gives columns as in this run where its address has been copied, stored to "
        "global memory, or overwritten in part");
  }
  if (!taken.registers.empty()) {
    notes.push_back(taken.registers);
  }
  return notes;
}

// The most registers that a setmaxnreg.inc of the kernel asks for; 0: it has none.
std::uint64_t registers_asked_for(const ptx::Kernel& kernel) {
  const ptx::Code& code = kernel.routine().code;
  std::uint64_t most = 0;
  for (const ptx::Op& op : code.ops) {
    if (op.is("setmaxnreg") && op.source->modifiers.has("inc"_mod)) {
      most = std::max(most, code.arguments_of(op).front().value);
    }
  }
  return most;
}

// Registers that a thread begins with, where threads give some back: the most with which as many
// CTAs as the kernel says fit on an SM, and no more than a setmaxnreg.inc asks for. So compiles
// ptxas 13.0: blocks of 256, 384 and 512 threads, for sm_90a and sm_100a.
std::uint32_t registers_at_start_of(const PtxLaunch& launch) {
  constexpr std::uint64_t kOfSm = 64 * 1024;
  constexpr std::uint64_t kOfThread = 256;
  constexpr std::uint64_t kUnit = 8;
  const ptx::Directives& said = launch.kernel->function().directives;
  std::uint64_t threads = launch.shape.warps() * kWarpLanes;
  if (said.maximal_threads[0] != 0) {
    threads =
        std::uint64_t{said.maximal_threads[0]} * said.maximal_threads[1] * said.maximal_threads[2];
  }
  threads *= std::max<std::uint64_t>(said.ctas_per_sm_min, 1);
  std::uint64_t registers = kOfSm / std::max<std::uint64_t>(threads, 1) / kUnit * kUnit;
  if (const std::uint64_t asked = registers_asked_for(*launch.kernel); asked != 0) {
    registers = std::min(registers, asked);
  }
  return static_cast<std::uint32_t>(std::clamp(registers, kUnit, kOfThread));
}

// What a launch may ask for: CUDA C++ Programming Guide, "Technical Specifications".
constexpr std::uint64_t kSharedMax = 227 * 1024;                 // of a CTA
constexpr std::uint64_t kLocalMax = 512 * 1024;                  // of a thread
constexpr std::uint64_t kParametersMax = 32764;                  // of a kernel
constexpr std::uint64_t kVariablesMax = std::uint64_t{1} << 30;  // what is simulated at most

std::string words_of(const ptx::Extent3& extent) {
  return std::to_string(extent[0]) + " x " + std::to_string(extent[1]) + " x " +
         std::to_string(extent[2]);
}

void at_most(std::uint64_t bytes, std::uint64_t most, const std::string& of) {
  if (bytes > most) {
    throw ConfigError(of + ": at most " + std::to_string(most) + " bytes, not " +
                      std::to_string(bytes));
  }
}

void check_memory(const PtxLaunch& launch) {
  const std::string kernel = ptx::demangled(std::string{launch.kernel->name()});
  at_most(launch.kernel->shared_end() - kSharedBase + launch.shape.dynamic_shared_bytes,
          kSharedMax,
          "shared memory of " + kernel);
  at_most(launch.kernel->local_bytes(), kLocalMax, "local memory of " + kernel);
  at_most(launch.kernel->parameter_bytes(), kParametersMax, "parameters of " + kernel);
  std::uint64_t variables = 0;
  for (const ptx::ModuleVariable& each : launch.kernel->variables()) {
    variables += std::min(each.bytes, kVariablesMax + 1);
    at_most(variables, kVariablesMax, "global variables of the module");
  }
}

void check_shape(const PtxLaunch& launch) {
  check_memory(launch);
  const ptx::LaunchShape& shape = launch.shape;
  const ptx::Directives& directives = launch.kernel->function().directives;
  const std::string kernel = ptx::demangled(std::string{launch.kernel->name()});
  for (std::size_t i = 0; i < 3; ++i) {
    if (shape.grid[i] == 0 || shape.block[i] == 0 || shape.cluster[i] == 0 ||
        shape.grid[i] % shape.cluster[i] != 0) {
      throw ConfigError("a grid of " + words_of(shape.grid) + " CTAs is not made of clusters of " +
                        words_of(shape.cluster));
    }
    if (directives.required_threads[0] != 0 && directives.required_threads[i] != shape.block[i]) {
      throw ConfigError(kernel + " takes blocks of " +
                        std::to_string(directives.required_threads[0]) + " x " +
                        std::to_string(directives.required_threads[1]) + " x " +
                        std::to_string(directives.required_threads[2]) +
                        " threads (.reqntid), not " + words_of(shape.block));
    }
    if (directives.cluster[0] != 0 && directives.cluster[i] != shape.cluster[i]) {
      throw ConfigError(kernel + " takes clusters of " + std::to_string(directives.cluster[0]) +
                        " x " + std::to_string(directives.cluster[1]) + " x " +
                        std::to_string(directives.cluster[2]) + " (.reqnctapercluster), not " +
                        words_of(shape.cluster));
    }
  }
  const std::uint32_t ctas = shape.cluster_size();
  if (directives.cluster_rank_max != 0 && ctas > directives.cluster_rank_max) {
    throw ConfigError(kernel + " takes clusters of at most " +
                      std::to_string(directives.cluster_rank_max) +
                      " CTAs (.maxclusterrank), not " + std::to_string(ctas));
  }
  if (directives.explicit_cluster && directives.cluster[0] == 0 && ctas == 1 &&
      !shape.explicit_cluster) {
    throw ConfigError(kernel + " takes a launch that says its cluster (.explicitcluster): give " +
                      "'cluster', be it 1");
  }
  if (shape.threads() > 1024) {
    throw ConfigError("a block has at most 1024 threads, not " + std::to_string(shape.threads()));
  }
  const std::uint64_t most = std::uint64_t{directives.maximal_threads[0]} *
                             directives.maximal_threads[1] * directives.maximal_threads[2];
  if (most != 0 && shape.threads() > most) {
    throw ConfigError(kernel + " takes at most " + std::to_string(most) +
                      " threads (.maxntid), not " + std::to_string(shape.threads()));
  }
  if (launch.parameters.bytes.size() != launch.kernel->parameter_bytes()) {
    throw ConfigError(kernel + " takes " + std::to_string(launch.kernel->parameter_bytes()) +
                      " bytes of parameters, not " +
                      std::to_string(launch.parameters.bytes.size()));
  }
}

bool names_variable(const ptx::Program& program, const ptx::Variable& variable) {
  for (const ptx::Routine& routine : program.routines()) {
    for (const ptx::VariableUse& use : routine.code.variables) {
      if (use.variable == &variable) {
        return true;
      }
    }
  }
  return false;
}

// The module's variables are buffers behind those of the launch, but for those that stand there.
void add_variables(HeldLaunch& held, LaunchUse use) {
  PtxLaunch& launch = held.launch;
  for (const ptx::ModuleVariable& each : launch.kernel->variables()) {
    if (use == LaunchUse::kTime && !names_variable(launch.kernel->program(), *each.variable)) {
      held.variables.push_back({kNoTensor, 0});
      continue;
    }
    const auto placed = launch.variables.find(each.variable->name);
    if (placed != launch.variables.end()) {
      held.variables.push_back({kNoTensor, placed->second});
      continue;
    }
    held.variables.push_back({launch.workload.tensors.size(), 0});
    TensorSpec spec{};
    spec.name = held.names.emplace_back(each.variable->name).c_str();
    spec.use = TensorUse::kScratch;
    spec.element = ElementType::kU8;
    spec.rows = 1;
    spec.columns = static_cast<std::uint32_t>(each.bytes);
    spec.pitch_bytes = spec.columns;
    launch.workload.tensors.push_back(spec);
  }
}

// What the driver gives a cooperative grid, and no other: two words, of which %envreg1 and %envreg2
// are the address. The second one counts those that have come to grid.sync().
void add_workspace(HeldLaunch& held) {
  const auto asks = [](const ptx::Argument& argument) {
    if (argument.kind != ptx::Argument::Kind::kSpecial) {
      return false;
    }
    const std::string_view name = name_of(ptx::SpecialRegister{argument.index});
    return name == "%envreg1" || name == "%envreg2";
  };
  PtxLaunch& launch = held.launch;
  for (const ptx::Routine& routine : launch.kernel->program().routines()) {
    const auto& arguments = routine.code.arguments;
    if (launch.shape.cooperative && std::any_of(arguments.begin(), arguments.end(), asks)) {
      held.workspace = launch.workload.tensors.size();
    }
  }
  if (held.workspace != kNoTensor) {
    TensorSpec spec{};
    spec.name = "grid workspace";
    spec.use = TensorUse::kScratch;
    spec.element = ElementType::kU32;
    spec.rows = 1;
    spec.columns = 4;
    spec.pitch_bytes = 16;
    launch.workload.tensors.push_back(spec);
  }
}

std::uint64_t place_of(const HeldLaunch& held,
                       std::span<const GlobalAddress> addresses,
                       std::size_t variable) {
  const PlacedVariable& placed = held.variables[variable];
  return placed.tensor == kNoTensor ? placed.address : addresses[placed.tensor].value;
}

void write_variables(const HeldLaunch& held,
                     GlobalMemory& memory,
                     std::span<const GlobalAddress> addresses) {
  const auto& variables = held.launch.kernel->variables();
  const auto place = [&](std::string_view name) -> std::uint64_t {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (variables[i].variable->name == name) {
        return place_of(held, addresses, i);
      }
    }
    return 0;
  };
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (held.variables[i].tensor == kNoTensor) {
      continue;
    }
    const std::vector<std::byte> bytes =
        initial_bytes(held.launch.kernel->program().module(), *variables[i].variable, place);
    if (std::byte* to = memory.at(place_of(held, addresses, i), bytes.size()); to != nullptr) {
      std::memcpy(to, bytes.data(), bytes.size());
    }
  }
}

// Maps that the launch's parameters hold as bytes, as the driver's encoders write them: on 64
// bytes.
void find_maps(HeldLaunch& held) {
  const std::vector<std::byte>& bytes = held.launch.parameters.bytes;
  for (std::size_t at = 0; at + ptx::kTensorMapBytes <= bytes.size(); at += 64) {
    const std::span<const std::byte, ptx::kTensorMapBytes> place{bytes.data() + at,
                                                                 ptx::kTensorMapBytes};
    if (auto map = ptx::decode_tensor_map(place)) {
      held.maps.emplace_back(static_cast<std::uint32_t>(at), std::move(*map));
    }
  }
}

// The same in what buffers hold, for a kernel that may use them there.
void find_maps_in_memory(HeldLaunch& held) {
  bool uses = false;
  for (const ptx::Routine& routine : held.launch.kernel->program().routines()) {
    for (const ptx::Op& op : routine.code.ops) {
      uses = uses || op.is("cp.async.bulk.tensor") || op.is("cp.reduce.async.bulk.tensor");
    }
  }
  const auto& contents = held.launch.contents;
  for (std::size_t tensor = 0; uses && tensor < contents.size(); ++tensor) {
    const std::vector<std::byte>& bytes = contents[tensor];
    for (std::size_t at = 0; at + ptx::kTensorMapBytes <= bytes.size(); at += 64) {
      const std::span<const std::byte, ptx::kTensorMapBytes> place{bytes.data() + at,
                                                                   ptx::kTensorMapBytes};
      if (auto map = ptx::decode_tensor_map(place)) {
        held.memory_maps.push_back({tensor, at, std::move(*map)});
      }
    }
  }
}

// Calls `f` for each map of a scenario that stands in a tensor, and where it does.
template <class F>
void for_stored_maps(const Workload& workload, F&& f) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (std::size_t i = 0; i < workload.maps.size(); ++i) {
    if (const std::uint32_t in = workload.maps[i].stored_in; in != TensorMapSpec::kInArgument) {
      f(i, bytes[in]);
      bytes[in] += TensorMapSpec::kBytes;
    }
  }
}

WarpBody body_of(const std::shared_ptr<HeldLaunch>& held,
                 std::span<const SimTensorMap> maps,
                 std::span<const GlobalAddress> addresses) {
  const auto grid = std::make_shared<ptx::GridContext>();
  const PtxLaunch& launch = held->launch;
  grid->kernel = launch.kernel.get();
  held->printed = grid->printed;
  grid->thread_instructions = launch.thread_instructions;
  grid->shape = launch.shape;
  grid->parameters = launch.parameters.bytes;
  for (const ptx::ParameterPlace& place : launch.parameters.maps) {
    grid->maps[place.offset] = maps[place.index].number;
    const TensorMapSpec& map = launch.workload.maps[place.index];
    grid->map_states[maps[place.index].number] =
        decode_map(map, launch.workload.tensors[map.tensor], addresses[map.tensor]);
  }
  for (std::size_t i = 0; i < held->maps.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(launch.workload.maps.size() + i);
    grid->maps[held->maps[i].first] = number;
    grid->map_states[number] = held->maps[i].second;
  }
  for (std::size_t i = 0; i < held->memory_maps.size(); ++i) {
    const HeldLaunch::MemoryMap& map = held->memory_maps[i];
    const auto number =
        static_cast<std::uint32_t>(launch.workload.maps.size() + held->maps.size() + i);
    grid->memory_maps[addresses[map.tensor].value + map.offset] = {number, map.state};
    grid->map_states[number] = map.state;
  }
  grid->maps_count = static_cast<std::uint32_t>(launch.workload.maps.size() + held->maps.size() +
                                                held->memory_maps.size());
  for_stored_maps(launch.workload, [&](std::size_t i, std::uint64_t offset) {
    const TensorMapSpec& map = launch.workload.maps[i];
    const TensorMapState state =
        decode_map(map, launch.workload.tensors[map.tensor], addresses[map.tensor]);
    grid->memory_maps[addresses[map.stored_in].value + offset] = {maps[i].number, state};
    grid->map_states[maps[i].number] = state;
  });
  // A kernel may read the bytes of a map among its parameters.
  for (const ptx::ParameterPlace& place : launch.parameters.maps) {
    const TensorMapSpec& map = launch.workload.maps[place.index];
    const auto bytes = ptx::encode_tensor_map(
        decode_map(map, launch.workload.tensors[map.tensor], addresses[map.tensor]));
    std::copy(bytes.begin(), bytes.end(), grid->parameters.begin() + place.offset);
  }
  for (const ptx::ParameterPlace& place : launch.parameters.pointers) {
    const std::uint64_t address = addresses[place.index].value + place.added;
    std::memcpy(grid->parameters.data() + place.offset, &address, sizeof address);
  }
  const auto& variables = launch.kernel->variables();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::uint64_t place = place_of(*held, addresses, i);
    grid->global_places[variables[i].variable] = place;
    if (variables[i].variable->space == ptx::Space::kConst) {
      grid->constants.emplace_back(place, place + variables[i].bytes);
    }
  }
  if (held->workspace != kNoTensor) {
    grid->workspace = addresses[held->workspace].value;
  }
  // Behind those of the workload are the module's variables.
  for (std::size_t i = 0; i < addresses.size() && i < launch.workload.tensors.size(); ++i) {
    const TensorSpec& tensor = launch.workload.tensors[i];
    if (tensor.use == TensorUse::kScratch) {
      grid->real.emplace_back(addresses[i].value, addresses[i].value + tensor.bytes());
    } else if (tensor.use == TensorUse::kOutput && held->tracks_outputs) {
      grid->tracked.emplace_back(addresses[i].value, addresses[i].value + tensor.bytes());
    }
  }
  return [held, grid](SimMachine& machine) {
    ptx::WarpRun run{*grid, machine};
    run.run();
    run.check_end();
    TakenForGranted& taken = *held->taken;
    taken.parted.insert(grid->parted.begin(), grid->parted.end());
    taken.ended.insert(grid->ended.begin(), grid->ended.end());
    taken.known_of_ended.insert(grid->known_of_ended.begin(), grid->known_of_ended.end());
    taken.elections.insert(grid->elections.begin(), grid->elections.end());
    taken.signals_elsewhere.insert(grid->signals_elsewhere.begin(), grid->signals_elsewhere.end());
    taken.active_masks.insert(grid->active_masks.begin(), grid->active_masks.end());
    taken.grid_waits.insert(grid->grid_waits.begin(), grid->grid_waits.end());
    taken.grid_starts.insert(grid->grid_starts.begin(), grid->grid_starts.end());
    taken.fixed_columns.insert(grid->fixed_columns.begin(), grid->fixed_columns.end());
    taken.rounded.insert(grid->rounded.begin(), grid->rounded.end());
    taken.map_bytes.insert(grid->map_bytes.begin(), grid->map_bytes.end());
    taken.awaited.insert(grid->awaited.begin(), grid->awaited.end());
    taken.allocates_beside_data |= grid->allocates_beside_data;
    if (grid->changes_registers && held->launch.workload.registers_per_thread == 0) {
      taken.registers =
          "a thread begins with " + std::to_string(registers_at_start_of(held->launch)) +
          " registers, as ptxas compiles it: the most that fits so large a CTA, and no more than "
          "a setmaxnreg.inc asks for (.maxnreg says another number)";
    }
  };
}

std::shared_ptr<HeldLaunch> hold(PtxLaunch launch, LaunchUse use = LaunchUse::kJudge) {
  check_shape(launch);
  if (!launch.workload.falls_back.empty()) {
    throw ConfigError(
        "a kernel in PTX is executed in clusters of one size: choose `shapes` so "
        "that all have it");
  }
  const auto held = std::make_shared<HeldLaunch>();
  launch.workload.clusters = launch.shape.clusters();
  launch.workload.cluster_size = launch.shape.cluster_size();
  const std::uint32_t registers = launch.kernel->function().directives.registers_max;
  if (registers != 0) {
    launch.workload.registers_per_thread = registers;
  }
  if (launch.thread_instructions == nullptr) {
    launch.thread_instructions = std::make_shared<std::uint64_t>(0);
  }
  held->launch = std::move(launch);
  add_variables(*held, use);
  add_workspace(*held);
  find_maps(*held);
  find_maps_in_memory(*held);
  held->info = {held->launch.name.c_str(), ScenarioKind::kClean, "a PTX kernel"};
  return held;
}

std::uint32_t shared_bytes_of(const PtxLaunch& launch) {
  return static_cast<std::uint32_t>(launch.kernel->shared_end()) - kSharedBase +
         launch.shape.dynamic_shared_bytes;
}

// Whether an SM may run two CTAs of it at a time. How many registers a thread has is not known.
bool may_share_sm(const PtxLaunch& launch) {
  const CtaNeeds needs{.shared_bytes = shared_bytes_of(launch),
                       .threads = launch.shape.warps() * kWarpLanes};
  return occupancy(needs, SmLimits{}).ctas_per_sm > 1;
}

}  // namespace

std::vector<std::byte> initial_bytes(const ptx::Module& module,
                                     const ptx::Variable& variable,
                                     const std::function<std::uint64_t(std::string_view)>& place) {
  const auto address_of = [&](std::string_view symbol) -> std::uint64_t {
    for (const ptx::Variable& other : module.variables) {
      const bool global = other.space == ptx::Space::kGlobal || other.space == ptx::Space::kConst;
      if (global && other.name == symbol) {
        return place(symbol);
      }
    }
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
      if (module.functions[i].name == symbol) {
        return ptx::kFunctionWindow + i;
      }
    }
    throw ConfigError("variable " + std::string{variable.name} + ": its initialiser " +
                      std::string{symbol} +
                      " is neither a global or constant variable nor a function");
  };
  std::vector<std::byte> bytes(std::max<std::uint64_t>(variable.bytes(), 1));
  const std::uint32_t size = ptx::bytes_of(variable.type);
  for (const ptx::InitialValue& value : variable.initial) {
    std::uint64_t bits = value.bits;
    if (!value.symbol.empty()) {
      bits += address_of(value.symbol);
    }
    if (value.mask != 0) {
      bits = (bits & value.mask) >> std::countr_zero(value.mask);
    }
    const std::uint64_t at = value.element * size;
    if (at + size <= bytes.size()) {
      std::memcpy(bytes.data() + at, &bits, std::min<std::uint32_t>(size, 8));
    }
  }
  return bytes;
}

PtxFacts facts_of(const ptx::Kernel& kernel) {
  const ptx::Module& module = kernel.program().module();
  return {module.file,
          std::string{kernel.name()},
          module.targets.empty() ? std::string{} : std::string{module.targets.front()},
          kernel.function().directives.registers_max};
}

namespace {

// "user.cu:40, inlined at main.cu:7"
std::string chain_of(const ptx::Module& module, std::uint32_t location) {
  constexpr int kDepthMax = 64;
  std::string text;
  for (int depth = 0; location != ptx::kNoIndex && depth < kDepthMax; ++depth) {
    const ptx::Location& place = module.locations[location];
    const auto file = module.files.find(place.file);
    text += text.empty() ? "" : ", inlined at ";
    text += short_site(file == module.files.end() ? std::string_view{} : file->second, place.line);
    location = place.inlined_at;
  }
  return text;
}

PtxLines lines_at(const ptx::Kernel& kernel, const SourceSite& site) {
  const ptx::Module& module = kernel.program().module();
  PtxLines found{module.file, {}, {}, kernel.loop_at(site)};
  if (site.line == 0 || module.file == site.file) {
    return found;
  }
  for (const ptx::Instruction* each : kernel.instructions_at(site)) {
    found.lines.push_back(static_cast<std::uint32_t>(each->position.line));
    const std::string chain = chain_of(module, module.locations[each->location].inlined_at);
    if (!chain.empty() && std::find(found.inlined_at.begin(), found.inlined_at.end(), chain) ==
                              found.inlined_at.end()) {
      found.inlined_at.push_back(chain);
    }
  }
  std::sort(found.lines.begin(), found.lines.end());
  found.lines.erase(std::unique(found.lines.begin(), found.lines.end()), found.lines.end());
  return found;
}

// Nothing reads what only a run with data moves.
bool begins_with_words(const Workload& workload) {
  return std::any_of(workload.tensors.begin(), workload.tensors.end(), [](const TensorSpec& one) {
    return one.use == TensorUse::kScratch;
  });
}

// What is not expected is nothing that a result could be compared with.
void take_expected(const std::vector<ExpectedTensor>& expected, std::span<HostTensor> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    HostTensor& tensor = tensors[i];
    tensor.values.clear();
    if (i >= expected.size() || expected[i].bytes.empty()) {
      continue;
    }
    tensor.bytes = expected[i].bytes;
    for (std::uint32_t row = 0; row < tensor.spec.rows; ++row) {
      const std::byte* at = tensor.bytes.data() + std::size_t{row} * tensor.spec.pitch_bytes;
      for (std::uint32_t column = 0; column < tensor.spec.columns; ++column) {
        tensor.values.push_back(read_element(tensor.spec, at, column));
      }
    }
  }
}

}  // namespace

ScenarioEntry entry_of(PtxLaunch launch, LaunchUse use) {
  const std::shared_ptr<HeldLaunch> held = hold(std::move(launch), use);
  held->tracks_outputs = use == LaunchUse::kJudge;
  ScenarioEntry entry{};
  entry.info = &held->info;
  entry.workload = [held](const ParameterSet&) { return held->launch.workload; };
  entry.symbols = [held](const ParameterSet&) {
    Symbols symbols;
    symbols.regions = held->launch.called.regions;
    symbols.roles = held->launch.called.roles;
    if (symbols.roles.empty()) {
      symbols.roles.push_back({Role::kCount, held->launch.shape.warps()});
    }
    symbols.bytes = shared_bytes_of(held->launch);
    return symbols;
  };
  entry.places = held->launch.places;
  entry.read_by_grid_before = held->launch.read_by_grid_before;
  if (held->launch.shape.cooperative) {
    entry.resident_ctas_least = ptx::volume(held->launch.shape.grid);
  }
  entry.ptx = facts_of(*held->launch.kernel);
  entry.registers = registers_at_start_of(held->launch);
  entry.tmem_from_top = may_share_sm(held->launch);
  for (const auto& [unused, map] : held->maps) {
    static_cast<void>(unused);
    entry.more_maps.push_back(map);
  }
  for (const HeldLaunch::MemoryMap& map : held->memory_maps) {
    entry.more_maps.push_back(map.state);
  }
  entry.hypotheses = [held](bool data_decides) { return hypotheses_of(*held, data_decides); };
  entry.lines_at = [held](const SourceSite& site) { return lines_at(*held->launch.kernel, site); };
  entry.thread_instructions = [held] { return *held->launch.thread_instructions; };
  entry.printed = [held] { return held->printed == nullptr ? std::string{} : *held->printed; };
  entry.body = [held](const ParameterSet&,
                      std::span<const SimTensorMap> maps,
                      std::span<const GlobalAddress> addresses) {
    return body_of(held, maps, addresses);
  };
  const auto& expected = held->launch.expected;
  if (std::any_of(expected.begin(), expected.end(), [](const ExpectedTensor& one) {
        return !one.bytes.empty();
      })) {
    entry.reference = [held](const ParameterSet&, std::span<HostTensor> tensors) {
      take_expected(held->launch.expected, tensors);
    };
    for (const ExpectedTensor& one : expected) {
      entry.tolerances.push_back(one.tolerance);
    }
  }
  if (use == LaunchUse::kTime && !begins_with_words(held->launch.workload)) {
    return entry;
  }
  entry.initial = [held](GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
    const auto& contents = held->launch.contents;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      std::byte* to = memory.at(addresses[i].value, contents[i].size());
      if (!contents[i].empty() && to != nullptr) {
        std::memcpy(to, contents[i].data(), contents[i].size());
      }
    }
    write_variables(*held, memory, addresses);
  };
  return entry;
}

void take_launch_of(const ScenarioEntry& scenario,
                    const ParameterSet& parameters,
                    PtxLaunch& launch) {
  const Launch executed = scenario.launch(parameters);
  const Workload& workload = launch.workload = executed.workload;
  launch.shape.grid = {workload.clusters * workload.cluster_size, 1, 1};
  launch.shape.cluster = {workload.cluster_size, 1, 1};
  launch.shape.block = {executed.threads_per_cta(), 1, 1};
  launch.shape.dynamic_shared_bytes = executed.symbols.bytes;
}

ScenarioEntry entry_of(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       PtxLaunch launch) {
  if (!launch.kernel->variables().empty()) {
    throw ConfigError("a kernel with global variables does not execute a scenario");
  }
  take_launch_of(scenario, parameters, launch);
  const std::shared_ptr<HeldLaunch> held = hold(std::move(launch));
  held->parameters = parameters;
  held->info = *scenario.info;
  ScenarioEntry entry = scenario;
  entry.info = &held->info;
  for (Parameter parameter : scenario.parameters) {
    parameter.standard = parameters[parameter.name];
    parameter.choice = false;
    held->fixed.push_back(parameter);
  }
  entry.parameters = held->fixed;
  entry.workload = [held, scenario](const ParameterSet& asked) {
    if (asked.to_string() != held->parameters.to_string()) {
      throw ConfigError("the PTX is of these parameters: " + held->parameters.to_string() +
                        "; not of " + asked.to_string());
    }
    return scenario.workload(held->parameters);
  };
  entry.symbols = [held, scenario](const ParameterSet&) {
    return scenario.symbols(held->parameters);
  };
  entry.reference = [held, scenario](const ParameterSet&, std::span<HostTensor> tensors) {
    scenario.reference(held->parameters, tensors);
  };
  const auto& all = held->launch.workload.maps;
  if (std::any_of(all.begin(), all.end(), [](const TensorMapSpec& map) {
        return map.stored_in != TensorMapSpec::kInArgument;
      })) {
    entry.initial = [held](GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
      const Workload& workload = held->launch.workload;
      for_stored_maps(workload, [&](std::size_t i, std::uint64_t offset) {
        const TensorMapSpec& map = workload.maps[i];
        const auto bytes = ptx::encode_tensor_map(
            decode_map(map, workload.tensors[map.tensor], addresses[map.tensor]));
        std::memcpy(memory.at(addresses[map.stored_in].value + offset, bytes.size()),
                    bytes.data(),
                    bytes.size());
      });
    };
  }
  entry.ptx = facts_of(*held->launch.kernel);
  entry.registers = registers_at_start_of(held->launch);
  entry.hypotheses = [held](bool data_decides) { return hypotheses_of(*held, data_decides); };
  entry.lines_at = [held](const SourceSite& site) { return lines_at(*held->launch.kernel, site); };
  entry.thread_instructions = [held] { return *held->launch.thread_instructions; };
  entry.body = [held](const ParameterSet&,
                      std::span<const SimTensorMap> maps,
                      std::span<const GlobalAddress> addresses) {
    return body_of(held, maps, addresses);
  };
  return entry;
}

}  // namespace warptwin::sim
