#include "sim/run/extract.hpp"

#include <map>
#include <set>
#include <utility>

namespace warptwin::sim {

namespace {

/// Numbers for the fragments of one warp, as a program has them.
class Fragments {
 public:
  /// The number of what `op` loads, stores, waits for or multiplies; none for what it has not.
  void name(const Operation& op, Instruction& line) {
    if (op.fragment == nullptr) {
      return;
    }
    line.fragment_registers = op.fragment->registers;
    if (op.op == Op::kTcgen05Ld || op.op == Op::kWgmma) {
      line.fragment = number_of(op.fragment, true);
      if (op.fragment_a != nullptr) {
        line.metadata = number_of(op.fragment_a, true);
      }
      if (op.op == Op::kTcgen05Ld) {
        last_loaded_ = line.fragment;
        const auto& access = op.as<operands::TmemAccess>();
        line.fragment_registers = access.columns / (access.of_16_lanes() ? 2 : 1);
      }
      return;
    }
    const std::uint32_t known = number_of(op.fragment, false);
    if (known != Instruction::kNone) {
      line.fragment = known;
    } else if (op.op == Op::kSharedLoad) {
      line.fragment = number_of(op.fragment, true);
    } else if (op.fragment->settled || last_loaded_ == Instruction::kNone) {
      line.fragment = zeros_of(op.fragment->registers);
    } else {
      line.fragment = last_loaded_;  // computed of it
    }
  }

 private:
  struct Slot {
    std::weak_ptr<FragmentData> data;
    bool zeros = false;  // nothing is loaded into it
  };

  std::uint32_t number_of(const std::shared_ptr<FragmentData>& data, bool add) {
    std::uint32_t free = Instruction::kNone;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].zeros) {
        continue;
      }
      const std::shared_ptr<FragmentData> held = slots_[i].data.lock();
      if (held == data) {
        return i;
      }
      free = held == nullptr && free == Instruction::kNone ? i : free;
    }
    if (!add) {
      return Instruction::kNone;
    }
    if (free == Instruction::kNone) {
      free = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    }
    slots_[free].data = data;
    return free;
  }
  std::uint32_t zeros_of(std::uint32_t registers) {
    const auto [found, added] =
        zeros_.try_emplace(registers, static_cast<std::uint32_t>(slots_.size()));
    if (added) {
      slots_.push_back({{}, true});
    }
    return found->second;
  }

  std::vector<Slot> slots_;
  std::map<std::uint32_t, std::uint32_t> zeros_;  // by registers
  std::uint32_t last_loaded_ = Instruction::kNone;
};

/// Passes a warp's operations on, and writes them down.
class RecordingPort : public EnginePort {
 public:
  RecordingPort(SimMachine& machine, std::vector<Instruction>& lines)
      : machine_{machine}, lines_{lines} {}

  void perform(Operation& operation) override {
    if (!over_) {
      record(operation);
    }
    try {
      machine_.perform(operation);
    } catch (...) {
      over_ = true;  // the run has ended; what destructors do on the way is done by nobody
      throw;
    }
  }

 private:
  void record(const Operation& op) {
    if (op.op == Op::kTcgen05WaitLd && op.as<operands::TmemWait>().of_registers) {
      return;  // no instruction: who depends on a register of a tcgen05.ld has it
    }
    if (op.is<operands::LaneBytes>()) {
      throw ConfigError("copies that lanes make have no text as programs");
    }
    Instruction line;
    line.operation = op;
    fragments_.name(op, line);
    line.operation.fragment = nullptr;
    line.operation.fragment_a = nullptr;
    line.operation.result = 0;
    if (op.op == Op::kWgmmaFence) {
      line.operation.as<operands::WgmmaFence>().time = 0;
    }
    if (op.op == Op::kMbarrierTryWait && !lines_.empty()) {
      const Operation& last = lines_.back().operation;
      const bool waits = last.op == Op::kMbarrierTryWait || last.op == Op::kMbarrierWait;
      if (waits && same_instruction(last.site, op.site) &&
          last.as<operands::Mbarrier>().address == op.as<operands::Mbarrier>().address) {
        line.operation.op = Op::kMbarrierWait;
        if (last.op == Op::kMbarrierWait) {
          return;
        }
      }
    }
    lines_.push_back(std::move(line));
  }

  SimMachine& machine_;
  std::vector<Instruction>& lines_;
  Fragments fragments_;
  bool over_ = false;
};

// The tensor's name, with a number where it has several maps.
std::vector<std::string> names_of_maps(const Workload& workload) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const TensorMapSpec& spec : workload.maps) {
    const std::string base = workload.tensors[spec.tensor].name;
    std::string name = base;
    for (std::uint32_t i = 2; !taken.insert(name).second; ++i) {
      name = base + "_" + std::to_string(i);
    }
    names.push_back(name);
  }
  return names;
}

// Names of the scenario may end with it.
void keep_names(Program& program) {
  for (TensorSpec& spec : program.workload.tensors) {
    spec.name = program.keep(spec.name);
  }
}

}  // namespace

Program extract(const ScenarioEntry& scenario,
                const ParameterSet& parameters,
                const RunOptions& options) {
  Program program;
  program.name = scenario.info->name;
  static_cast<Launch&>(program) = scenario.launch(parameters);
  // As a program's text has it.
  program.symbols.bytes = align_up(kSharedBase + program.symbols.bytes, 128) - kSharedBase;
  program.map_names = names_of_maps(program.workload);
  for (std::uint32_t i = 0; i < program.workload.tensors.size(); ++i) {
    const std::vector<std::uint32_t>& words = program.workload.tensors[i].words;
    for (std::uint32_t word = 0; word < words.size(); ++word) {
      if (words[word] != 0) {
        program.words.push_back({i, 4 * word, words[word]});
      }
    }
  }
  for (const TensorMapSpec& map : program.workload.maps) {
    if (map.im2col.pixels != 0) {
      throw ConfigError(program.name + ": maps of im2col have no text as programs");
    }
    if (map.packing != Packing::kNone) {
      throw ConfigError(program.name +
                        ": maps of elements of four and six bits have no text as programs");
    }
  }
  if (!program.workload.falls_back.empty()) {
    throw ConfigError(program.name + ": clusters of two sizes have no text as programs");
  }
  const std::uint32_t warps = program.warps_per_cta();
  program.warps.resize(std::size_t{program.workload.clusters} * program.workload.cluster_size *
                       warps);

  ScenarioEntry recorded = scenario;
  recorded.body = [&](const ParameterSet& of,
                      std::span<const SimTensorMap> maps,
                      std::span<const GlobalAddress> tensors) -> WarpBody {
    return [&program, warps, body = scenario.body(of, maps, tensors)](SimMachine& machine) {
      const std::size_t cta =
          std::size_t{machine.cluster_index()} * machine.cluster_size() + machine.cta_rank();
      RecordingPort port{machine, program.warps[cta * warps + machine.warp_index()]};
      SimMachine inner{port,
                       {machine.warp_index(),
                        machine.cta_rank(),
                        machine.cluster_size(),
                        machine.cluster_index(),
                        machine.cluster_count(),
                        0},
                       machine.registers(),
                       false};
      body(inner);
    };
  };
  RunOptions run = options;
  run.schedule = ScheduleSpec{};
  run.schedule.tiles = options.schedule.tiles;
  run.schedule.order = options.schedule.order;
  run.clusters_begun_max = run.schedule.tiles > 1 ? 1 : run.clusters_begun_max;
  run.schedule.strategy = Strategy::kInTurn;
  run.schedule.tries_fail = true;
  run.detect = run.moves_data = false;
  if (simulate(recorded, parameters, run).end == Ending::kStepBound) {
    throw ConfigError(program.name + ": the run that is extracted does not end within " +
                      std::to_string(run.limits.steps_max) + " steps");
  }
  keep_names(program);
  return program;
}

}  // namespace warptwin::sim
