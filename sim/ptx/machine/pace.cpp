#include "sim/ptx/machine/pace.hpp"

#include <algorithm>

namespace warptwin::ptx {

RoutineCosts::RoutineCosts(const Routine& routine) {
  for (const Op& op : routine.code.ops) {
    Instruction one;
    one.cost = cost_of(routine.code, op);
    one.first = static_cast<std::uint32_t>(slots_.size());
    if (op.form != nullptr) {
      routine.code.for_each_register(op, [&](std::uint32_t number, bool writes) {
        slots_.push_back(routine.slots[number]);
        ++(writes ? one.writes : one.reads);
      });
    }
    instructions_.push_back(one);
  }
}

Pace::Pace(GridCosts& costs, sim::WarpRegisters& registers)
    : grid_{costs},
      registers_{registers},
      times_{*registers.instructions.times},
      begun_{registers.instructions.now},
      next_{begun_} {}

const RoutineCosts& Pace::costs_of(const Routine& routine) {
  if (last_ != &routine) {
    last_ = &routine;
    last_costs_ = &grid_.try_emplace(&routine, routine).first->second;
  }
  return *last_costs_;
}

std::uint64_t Pace::operands_ready(const Frame& frame,
                                   const RoutineCosts& costs,
                                   const RoutineCosts::Instruction& one) const {
  std::uint64_t ready = 0;
  const std::uint32_t* const slots = costs.reads(one);
  for (std::uint32_t i = 0; i < one.reads; ++i) {
    ready = std::max(ready, frame.ready[slots[i]]);
  }
  return ready;
}

const sim::UnitTime* Pace::unit_of(CostUnit unit) const {
  switch (unit) {
    case CostUnit::kFma:
      return &times_.fma;
    case CostUnit::kInteger:
      return &times_.integer;
    case CostUnit::kMufu:
      return &times_.mufu;
    case CostUnit::kConvert:
      return &times_.convert;
    case CostUnit::kExchange:
      return &times_.exchange;
    case CostUnit::kMma:
      return &times_.mma;
    default:
      return nullptr;
  }
}

// What other warps cannot have.
void Pace::count(const InstructionCost& cost) {
  sim::RegisterMath& math = registers_.math;
  math.fma += cost.fma + (cost.unit == CostUnit::kFma ? cost.work : 0U);
  math.mufu += cost.mufu + (cost.unit == CostUnit::kMufu ? cost.work : 0U);
  math.integer += cost.unit == CostUnit::kInteger ? cost.work : 0U;
  math.converted += cost.unit == CostUnit::kConvert ? cost.work : 0U;
  math.exchanged += cost.unit == CostUnit::kExchange ? cost.work : 0U;
  math.multiplied += cost.unit == CostUnit::kMma ? cost.work * double{kLanes} : 0.0;
  math.issued += cost.issues;
}

// Issues an instruction whose operands are there at `from`. Returns when its result is.
std::uint64_t Pace::issue(const InstructionCost& cost, std::uint64_t from) {
  count(cost);
  next_ = std::max(next_, from);
  const sim::UnitTime* const unit = unit_of(cost.unit);
  if (unit == nullptr) {
    next_ += times_.cycle * cost.issues;
    return next_;
  }
  std::uint64_t& free = free_[static_cast<std::size_t>(cost.unit)];
  next_ = std::max(next_, free);
  free = next_ + unit->works * cost.work;
  const std::uint64_t alone = unit->latency * (cost.chain - cost.mufu);
  const std::uint64_t ready =
      std::max(next_ + alone + times_.mufu.latency * cost.mufu, free - unit->works + unit->latency);
  next_ += times_.cycle * cost.issues;
  return ready;
}

void Pace::executes(const Strand& strand) {
  Frame& frame = *strand.frame;
  const Routine& routine = *frame.routine;
  const RoutineCosts& costs = costs_of(routine);
  const Op& op = routine.code.ops[strand.pc];
  if (frame.ready.empty()) {
    frame.ready.resize(frame.slots.size(), 0);
  }
  if (branch_ != nullptr && &op != branch_ + 1) {
    next_ += times_.branch;
  }
  const RoutineCosts::Instruction& one = costs.at(strand.pc);
  branch_ = one.cost.unit == CostUnit::kBranch ? &op : nullptr;
  if (op.form == nullptr ||
      (op.form->group != Group::kScalar && op.form->group != Group::kControl)) {
    return;  // it is served, or passed by
  }
  const std::uint64_t from = operands_ready(frame, costs, one);
  // Another name for what is not there yet makes nobody wait.
  const std::uint64_t ready = one.cost.unit == CostUnit::kNothing ? from : issue(one.cost, from);
  const std::uint32_t* const slots = costs.writes(one);
  for (std::uint32_t i = 0; i < one.writes; ++i) {
    frame.ready[slots[i]] = ready;
  }
}

void Pace::begins(const Strand& strand, std::uint32_t op) {
  Frame& frame = *strand.frame;
  if (frame.ready.empty()) {
    frame.ready.resize(frame.slots.size(), 0);
  }
  const RoutineCosts& costs = costs_of(*frame.routine);
  const RoutineCosts::Instruction& one = costs.at(op);
  const std::uint64_t from = operands_ready(frame, costs, one);
  if (one.cost.unit == CostUnit::kMachine) {
    next_ = std::max(next_, from);
    served_ = 0;
  } else {
    served_ = one.cost.unit == CostUnit::kNothing ? from : issue(one.cost, from);
  }
}

void Pace::ends(const Strand& strand, std::uint32_t op) {
  Frame& frame = *strand.frame;
  const RoutineCosts& costs = costs_of(*frame.routine);
  const RoutineCosts::Instruction& one = costs.at(op);
  const std::uint32_t* const slots = costs.writes(one);
  for (std::uint32_t i = 0; i < one.writes; ++i) {
    frame.ready[slots[i]] = served_;
  }
}

void Pace::hand_over() {
  registers_.math.ticks += next_ - begun_;
  begun_ = next_;
}

void Pace::take_back() {
  const sim::InstructionTime& time = registers_.instructions;
  begun_ = next_ = time.now;
  served_ = std::max(served_, time.ready);
}

}  // namespace warptwin::ptx
