#include "sim/run/program_entry.hpp"

#include <cstring>
#include <utility>

#include "sim/program/text.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kGarbage = 0x7FC0DEADU;  // in registers that a tcgen05.ld has not filled

/// One warp: its registers and fragments, and where it is.
class Interpreter {
 public:
  Interpreter(SimMachine& machine, const std::vector<Instruction>& lines)
      : machine_{machine}, lines_{lines} {}

  void run() {
    while (next_ < lines_.size()) {
      const Instruction& line = lines_[next_];
      if (line.kind == Instruction::Kind::kJump) {
        jump(line);
      } else {
        jumps_ = 0;
        perform(line);
        ++next_;
      }
    }
  }

 private:
  void jump(const Instruction& line) {
    // No register changes on the way: who jumps more often than there are lines goes in a circle.
    if (++jumps_ > lines_.size()) {
      throw ConfigError(std::string{line.operation.site.file} + ":" +
                        std::to_string(line.operation.site.line) +
                        ": a loop without an operation never ends");
    }
    const bool taken = line.tested == Instruction::kNone ||
                       (registers_[line.tested] == line.value) != line.negated;
    next_ = taken ? line.target : next_ + 1;
  }

  void perform(const Instruction& line) {
    Operation op = line.operation;
    prepare(line, op);
    machine_.perform(op);
    if (line.result != Instruction::kNone) {
      registers_[line.result] = op.result;
    }
    // A wait without a fragment is for all loads of the warp.
    if (op.op == Op::kTcgen05WaitLd && line.fragment == Instruction::kNone) {
      for (const std::shared_ptr<FragmentData>& data : fragments_) {
        if (data != nullptr) {
          data->settled = true;
        }
      }
    }
  }

  void prepare(const Instruction& line, Operation& op) {
    switch (op.op) {
      case Op::kTcgen05Ld:
        op.fragment = fresh(line.fragment, line.fragment_registers, kGarbage);
        break;
      case Op::kTcgen05St:
        op.fragment = sized(line);
        break;
      case Op::kWgmma:
        op.fragment = sized(line);
        if (line.metadata != Instruction::kNone) {
          op.fragment_a = sized(line.metadata, 1);
        }
        break;
      case Op::kSharedStore:
      case Op::kSharedLoad:
        if (op.is<operands::SharedRows>()) {
          op.fragment = sized(line);
        }
        if (op.is<operands::SharedRows>() &&
            (op.op == Op::kSharedLoad || op.as<operands::SharedRows>().of_accumulator)) {
          op.fragment->touched = ++machine_.registers().time;
        }
        break;
      case Op::kWgmmaFence:
        op.as<operands::WgmmaFence>().time = ++machine_.registers().time;
        break;
      default:
        if (line.fragment != Instruction::kNone) {
          op.fragment = slot(line.fragment);
        }
    }
  }

  std::shared_ptr<FragmentData>& slot(std::uint32_t number) {
    if (number >= fragments_.size()) {
      fragments_.resize(number + std::size_t{1});
    }
    return fragments_[number];
  }
  const std::shared_ptr<FragmentData>& fresh(std::uint32_t number,
                                             std::uint32_t registers,
                                             std::uint32_t bits) {
    std::shared_ptr<FragmentData>& data = slot(number);
    data = std::make_shared<FragmentData>();
    data->registers = registers;
    data->bits.assign(std::size_t{kWarpLanes} * registers, bits);
    return data;
  }
  // With as many registers as the line says; one that nothing has filled has zeros.
  const std::shared_ptr<FragmentData>& sized(const Instruction& line) {
    return sized(line.fragment, line.fragment_registers);
  }
  const std::shared_ptr<FragmentData>& sized(std::uint32_t number, std::uint32_t registers) {
    const std::shared_ptr<FragmentData> before = slot(number);
    if (before != nullptr && before->registers == registers) {
      return slot(number);
    }
    const std::shared_ptr<FragmentData>& data = fresh(number, registers, 0);
    data->settled = before == nullptr || before->settled;
    return data;
  }

  SimMachine& machine_;
  const std::vector<Instruction>& lines_;
  std::size_t next_ = 0;
  std::size_t jumps_ = 0;  // since the last operation
  std::uint32_t registers_[kProgramRegisters] = {};
  std::vector<std::shared_ptr<FragmentData>> fragments_;
};

/// What an entry's functions share.
struct Held {
  std::shared_ptr<const Program> program;
  ScenarioInfo info;
};

}  // namespace

ScenarioEntry entry_of(std::shared_ptr<const Program> program) {
  validate(*program);
  const auto held = std::make_shared<Held>();
  held->program = std::move(program);
  held->info = {held->program->name.c_str(), ScenarioKind::kClean, "a program"};
  ScenarioEntry entry{};
  entry.info = &held->info;
  entry.workload = [held](const ParameterSet&) { return held->program->workload; };
  entry.symbols = [held](const ParameterSet&) { return held->program->symbols; };
  entry.body = [held](const ParameterSet&,
                      std::span<const SimTensorMap>,
                      std::span<const GlobalAddress>) -> WarpBody {
    return [held](SimMachine& machine) {
      const std::size_t cta =
          std::size_t{machine.cluster_index()} * machine.cluster_size() + machine.cta_rank();
      const std::size_t warp = cta * held->program->warps_per_cta() + machine.warp_index();
      Interpreter{machine, held->program->warps[warp]}.run();
    };
  };
  entry.initial_is_whole = true;
  entry.initial = [held](GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
    for (const InitialWord& word : held->program->words) {
      std::memcpy(memory.at(addresses[word.tensor].value + word.offset, 4), &word.value, 4);
    }
  };
  return entry;
}

ScenarioEntry entry_of_file(const std::string& path) {
  const auto program = std::make_shared<const Program>(read_program(path));
  ScenarioEntry entry = entry_of(program);
  entry.command_name = "--program " + path;
  // FNV-1a over the text: a schedule is for this program only.
  entry.content = 14695981039346656037ULL;
  for (const char c : text_of(*program)) {
    entry.content = (entry.content ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return entry;
}

}  // namespace warptwin::sim
