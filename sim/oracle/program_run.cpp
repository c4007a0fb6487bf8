#include "sim/oracle/program_run.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kSharedWindowBegin = 1024;  // what a program's regions begin at
constexpr std::uint32_t kUsualRegisters = 168;
constexpr std::uint32_t kUnsetBits = 0x7FC0DEADU;

// The registers and fragments of one warp.
class Interpreter {
 public:
  Interpreter(const std::vector<Instruction>& code, std::uint32_t warp)
      : code_{code}, warp_{warp} {}

  void run(SimMachine& machine) {
    std::size_t at = 0;
    std::size_t jumps = 0;  // since the last operation
    while (at < code_.size()) {
      const Instruction& instruction = code_[at];
      if (instruction.kind == Instruction::Kind::kJump) {
        if (++jumps > code_.size()) {
          throw SpinsForever{warp_};
        }
        at = taken(instruction) ? instruction.target : at + 1;
        continue;
      }
      jumps = 0;
      Operation operation = instruction.operation;
      if (instruction.fragment != Instruction::kNone) {
        operation.fragment = fragment_of(instruction);
      }
      if (operation.op == Op::kWgmmaFence) {
        operation.as<operands::WgmmaFence>().time = ++machine.registers().time;
      }
      machine.perform(operation);
      if (instruction.result != Instruction::kNone) {
        registers_[instruction.result % kProgramRegisters] = operation.result;
      }
      ++at;
    }
  }

 private:
  bool taken(const Instruction& jump) const {
    return jump.tested == Instruction::kNone ||
           (registers_[jump.tested % kProgramRegisters] == jump.value) != jump.negated;
  }

  std::shared_ptr<FragmentData> fragment_of(const Instruction& instruction) {
    std::shared_ptr<FragmentData>& data = fragments_[instruction.fragment];
    const bool loads = instruction.operation.op == Op::kTcgen05Ld;
    // Who waits for a fragment, or reads it, does not say how many registers it has.
    const bool other = instruction.fragment_registers != 0 && data != nullptr &&
                       data->registers != instruction.fragment_registers;
    if (loads || data == nullptr || other) {
      data = std::make_shared<FragmentData>();
      data->registers = instruction.fragment_registers;
      data->settled = !loads;
      data->bits.assign(std::size_t{data->registers} * kWarpLanes, loads ? kUnsetBits : 0U);
    }
    return data;
  }

  const std::vector<Instruction>& code_;
  std::uint32_t warp_;
  std::array<std::uint32_t, kProgramRegisters> registers_{};
  std::map<std::uint32_t, std::shared_ptr<FragmentData>> fragments_;
};

// Zeros, but for the initial words.
void fill(const Program& program, GlobalMemory& memory) {
  for (const TensorSpec& spec : program.workload.tensors) {
    memory.add(spec.name, spec.bytes(), true);
  }
  for (const InitialWord& word : program.words) {
    const std::uint64_t address = program.buffer_address(word.tensor) + word.offset;
    if (std::byte* at = memory.at(address, 4)) {
      std::memcpy(at, &word.value, 4);
    }
  }
}

}  // namespace

LaunchConfig launch_of(const Program& program) {
  const Workload& workload = program.workload;
  LaunchConfig config;
  config.clusters = workload.clusters;
  config.cluster_size = workload.cluster_size;
  config.warps_per_cta = program.warps_per_cta();
  config.shared_bytes = kSharedWindowBegin + program.symbols.bytes;
  config.registers_per_thread =
      workload.registers_per_thread == 0 ? kUsualRegisters : workload.registers_per_thread;
  config.resident_clusters =
      workload.resident_clusters == 0 ? workload.clusters : workload.resident_clusters;
  config.has_dependents = workload.has_dependents;
  config.rules.tmem_quarter_of_warp = false;
  config.rules.pair_alloc = PairMeeting::kAlone;
  config.rules.pair_dealloc = PairMeeting::kAlone;
  for (const std::uint32_t tensor : workload.from_grid_before) {
    const std::uint64_t begin = program.buffer_address(tensor);
    config.prerequisite_writes.emplace_back(begin, begin + workload.tensors[tensor].bytes());
  }
  return config;
}

WarpBody body_of(const Program& program) {
  return [&program](SimMachine& machine) {
    const std::uint32_t cta = machine.cluster_index() * machine.cluster_size() + machine.cta_rank();
    const std::uint32_t warp = cta * program.warps_per_cta() + machine.warp_index();
    if (warp < program.warps.size()) {
      Interpreter{program.warps[warp], warp}.run(machine);
    }
  };
}

RunStats run_program(const Program& program,
                     const ScheduleSpec& schedule,
                     EventSink* sink,
                     std::uint64_t steps_max) {
  GlobalMemory memory;
  fill(program, memory);
  LaunchConfig config = launch_of(program);
  config.tries_fail = schedule.tries_fail;
  if (schedule.tiles != 0) {
    config.resident_clusters = 1;
    config.clc_successes_max = schedule.tiles - 1;
    config.cluster_order = schedule.order;
    for (std::uint32_t cluster = 0; !schedule.order.empty() && cluster < config.clusters;
         ++cluster) {
      if (std::count(schedule.order.begin(), schedule.order.end(), cluster) == 0) {
        config.cluster_order.push_back(cluster);
      }
    }
  }
  if (schedule.seed % 2 != 0) {
    config.rules.pair_alloc = config.rules.pair_dealloc = PairMeeting::kTogether;
  }
  Gpu gpu{config, memory, program.symbols};
  gpu.set_sink(sink);
  const std::unique_ptr<Scheduler> scheduler = make_scheduler(schedule);
  try {
    return run_functional(gpu, body_of(program), *scheduler, {steps_max}, nullptr);
  } catch (const SpinsForever&) {
    RunStats stats;
    stats.ending = Ending::kLivelock;
    return stats;
  }
}

}  // namespace warptwin::sim
