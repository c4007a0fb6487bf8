#include "sim/oracle/values_plan.hpp"

namespace warptwin::sim::values {

void find_live_registers(std::vector<Planned>& list) {
  const auto live_at = [&](std::size_t at) {
    return at < list.size() ? list[at].live_registers : 0;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = list.size(); i-- > 0;) {
      const Instruction& instruction = *list[i].instruction;
      std::uint32_t live = live_at(i + 1);
      if (list[i].is_jump()) {
        const bool always = instruction.tested == Instruction::kNone;
        live = (always ? 0 : live | 1U << instruction.tested) | live_at(instruction.target);
      } else if (instruction.result != Instruction::kNone) {
        live &= ~(1U << instruction.result);
      }
      changed = changed || live != list[i].live_registers;
      list[i].live_registers = live;
    }
  }
}

void find_repeated(std::vector<Planned>& list, std::uint32_t& counters) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_jump() || list[i].instruction->target > i) {
      continue;
    }
    for (std::size_t j = list[i].instruction->target; j < i; ++j) {
      const bool counts =
          !list[j].own.reads.empty() || !list[j].own.writes.empty() || !list[j].started.empty();
      const Op op = list[j].operation().op;
      if (counts && !list[j].is_jump() && list[j].counter == kNone &&
          op != Op::kGlobalLoadAcquire && op != Op::kGlobalWait) {
        list[j].counter = counters++;
      }
    }
  }
}

}  // namespace warptwin::sim::values
