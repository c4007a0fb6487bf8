#include <algorithm>
#include <utility>

#include "sim/ptx/code/flow.hpp"
#include "sim/ptx/lanes/executor.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kCallsMax = 512;

}  // namespace

std::optional<Stop> Executor::control(const Op& op, const Guarded& guarded) {
  if (guarded.unknown != 0) {
    return stop(Stop::Kind::kPoison, guarded.unknown);
  }
  if (guarded.executes == 0) {
    ++strand_.pc;
    return std::nullopt;
  }
  if (guarded.executes != strand_.mask && op.source->modifiers.has("uni"_mod)) {
    return not_uniform(guarded.executes);
  }
  if (op.is("bra")) {
    return branch(op, guarded);
  }
  if (op.is("brx.idx")) {
    return switch_branch(op, guarded);
  }
  // Those that the guard keeps go on as a strand of their own.
  if (guarded.executes != strand_.mask) {
    return part(
        {{strand_.pc, guarded.executes}, {strand_.pc + 1, strand_.mask & ~guarded.executes}},
        op.is("call") ? strand_.pc + 1 : routine().flow.join_of(strand_.pc));
  }
  return op.is("call") ? call(op, guarded.executes) : leave(op, guarded.executes);
}

// "All active threads in a warp that are currently executing this instruction have identical values
// for the guard predicate and branch target" (PTX ISA, "bra").
Stop Executor::not_uniform(Mask lanes) const {
  Stop fault = stop(Stop::Kind::kFault, lanes);
  fault.text = "lanes that come to it together go different ways, where .uni says that none does";
  return fault;
}

std::optional<Stop> Executor::branch(const Op& op, const Guarded& guarded) {
  const std::uint32_t target = code().arguments_of(op)[0].index;
  if (guarded.executes == strand_.mask) {
    strand_.pc = target;
    return std::nullopt;
  }
  return part({{strand_.pc + 1, strand_.mask & ~guarded.executes}, {target, guarded.executes}},
              routine().flow.join_of(strand_.pc));
}

std::optional<Stop> Executor::switch_branch(const Op& op, const Guarded& guarded) {
  const auto arguments = code().arguments_of(op);
  const auto& targets = code().targets[arguments[1].index];
  Lanes store;
  const Lanes& index = *source(arguments[0], store);
  if (const Mask unknown = index.poisoned() & guarded.executes; unknown != 0) {
    return stop(Stop::Kind::kPoison, unknown);
  }
  std::vector<std::pair<std::uint32_t, Mask>> ways;
  const auto go = [&](std::uint32_t target, Mask lane) {
    for (auto& [to, lanes] : ways) {
      if (to == target) {
        lanes |= lane;
        return;
      }
    }
    ways.emplace_back(target, lane);
  };
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const Mask bit = Mask{1} << lane;
    if ((guarded.executes & bit) != 0) {
      if (index.value[lane] >= targets.size()) {
        Stop fault = stop(Stop::Kind::kFault, bit);
        fault.text = "brx.idx takes entry " + std::to_string(index.value[lane]) + " of " +
                     std::to_string(targets.size());
        return fault;
      }
      go(targets[index.value[lane]], bit);
    } else if ((strand_.mask & bit) != 0) {
      go(strand_.pc + 1, bit);
    }
  }
  if (ways.size() > 1 && op.source->modifiers.has("uni"_mod)) {
    return not_uniform(guarded.executes);
  }
  return part(std::move(ways), routine().flow.join_of(strand_.pc));
}

// One strand for each way; this one takes the first. They may come together again at `join`.
std::optional<Stop> Executor::part(std::vector<std::pair<std::uint32_t, Mask>> ways,
                                   std::uint32_t join) {
  if (ways.size() == 1) {
    strand_.pc = ways[0].first;
    return std::nullopt;
  }
  Stop parted = stop(Stop::Kind::kParted, strand_.mask);
  auto& joins = strand_.joins;
  const Frame* frame = strand_.frame.get();
  // Lanes that leave a loop one after the other wait at the same place.
  const bool again = !joins.empty() && joins.back().frame == frame && joins.back().op == join;
  if (join != kNoIndex && !again) {
    joins.push_back({frame, join});
  }
  for (std::size_t way = 1; way < ways.size(); ++way) {
    Strand other = strand_;
    other.pc = ways[way].first;
    other.mask = ways[way].second;
    parted.others.push_back(std::move(other));
  }
  strand_.pc = ways[0].first;
  strand_.mask = ways[0].second;
  return parted;
}

std::optional<Stop> Executor::leave(const Op& op, Mask lanes) {
  if (op.is("ret")) {
    return return_from(lanes);
  }
  Stop left = stop(traps(op) ? Stop::Kind::kTrap : Stop::Kind::kLeft, lanes);
  strand_.mask = 0;
  return left;
}

namespace {

bool has_local_variables(const Routine& routine) {
  const auto& scopes = routine.code.function->scopes;
  return std::any_of(scopes.begin(), scopes.end(), [](const Scope& scope) {
    return std::any_of(scope.variables.begin(), scope.variables.end(), [](const Variable& one) {
      return one.space == Space::kLocal;
    });
  });
}

bool is_active(const Routine& routine, const Frame* frame) {
  while (frame != nullptr && frame->routine != &routine) {
    frame = frame->caller.get();
  }
  return frame != nullptr;
}

// What the caller gives as parameter `index`, or takes as what comes back, to the other's variable.
void copy_bytes(const ParameterBytes& from, ParameterBytes& to, Mask lanes) {
  const std::uint64_t size = std::min(from.size, to.size);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1U) != 0) {
      std::copy_n(&from.bytes[lane * from.size], size, &to.bytes[lane * to.size]);
      std::copy_n(&from.poison[lane * from.size], size, &to.poison[lane * to.size]);
    }
  }
}

ParameterBytes& bytes_of_variable(Frame& frame, const Variable& variable) {
  return frame.parameters.try_emplace(&variable, ParameterBytes{variable.bytes()}).first->second;
}

// What is passed is stored for one call: "st.param instructions used for passing arguments to
// function call must immediately precede the corresponding call instruction" (PTX ISA, "Device
// Function Parameters").
void forget(ParameterBytes& given, Mask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    std::fill_n(&given.poison[lane * given.size], given.size, std::uint8_t{1});
  }
}

}  // namespace

// Which of the variables that a call passes, and which that it takes, have another size than those
// of the function; null: none has.
const char* Executor::unlike(const Op& op, const Function& function) const {
  const auto arguments = code().arguments_of(op);
  const auto differ = [&](const Argument& list, const std::vector<Variable>& wanted) {
    const auto some = code().parts_of(list);
    bool other = false;
    for (std::size_t index = 0; index < std::min(some.size(), wanted.size()); ++index) {
      other =
          other || (some[index].kind == Argument::Kind::kVariable &&
                    code().variables[some[index].index].variable->bytes() != wanted[index].bytes());
    }
    return other;
  };
  if (differ(arguments[2], function.prototype.parameters)) {
    return "parameters";
  }
  const bool takes_less = code().parts_of(arguments[0]).size() != function.prototype.returns.size();
  return takes_less || differ(arguments[0], function.prototype.returns) ? "results" : nullptr;
}

// Whether what is read of a variable is what the call in front has returned: "ld.param instructions
// used for collecting return value must immediately follow the call instruction without any
// control flow alteration" (likewise).
bool Executor::behind_its_call(const Variable& variable) const {
  const Flow& flow = routine().flow;
  const auto returns = [&](const Op& op) {
    const auto taken = code().parts_of(code().arguments_of(op)[0]);
    return std::any_of(taken.begin(), taken.end(), [&](const Argument& one) {
      return one.kind == Argument::Kind::kVariable &&
             code().variables[one.index].variable == &variable;
    });
  };
  const std::uint32_t first = flow.blocks[flow.block_of[strand_.pc]].begin;
  for (std::uint32_t at = strand_.pc; at-- > first;) {
    if (code().ops[at].is("call") && returns(code().ops[at])) {
      return true;
    }
  }
  return false;
}

std::optional<Stop> Executor::call(const Op& op, Mask lanes) {
  const auto arguments = code().arguments_of(op);
  if (arguments[1].kind == Argument::Kind::kFunction) {
    return enter(op, program_.module().functions[arguments[1].index], lanes);
  }
  Lanes store;
  const Lanes& targets = *source(arguments[1], store);
  if (const Mask unknown = targets.poisoned() & lanes; unknown != 0) {
    return stop(Stop::Kind::kPoison, unknown);
  }
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes));
  Mask same = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    same |= Mask{targets.value[lane] == targets.value[first]} << lane;
  }
  if ((lanes & same) != lanes && op.source->modifiers.has("uni"_mod)) {
    return not_uniform(lanes);
  }
  if ((lanes & same) != lanes) {  // each function that is called gets its own strand
    return part({{strand_.pc, lanes & same}, {strand_.pc, lanes & ~same}}, strand_.pc + 1);
  }
  const Function* function = surroundings_.function_at(targets.value[first]);
  if (function == nullptr) {
    Stop fault = stop(Stop::Kind::kFault, lanes);
    fault.text = "a call through a register goes to no function";
    return fault;
  }
  // "A complete list of potential call targets" (PTX ISA, "call").
  const auto named = code().call_targets[arguments[3].index];
  if (!named.empty() && std::find(named.begin(), named.end(), function->name) == named.end()) {
    Stop fault = stop(Stop::Kind::kFault, lanes);
    fault.text = std::string{function->name} + " is not among the call's .calltargets";
    return fault;
  }
  return enter(op, *function, lanes);
}

std::optional<Stop> Executor::enter(const Op& op, const Function& function, Mask lanes) {
  const auto number = static_cast<std::uint32_t>(&function - program_.module().functions.data());
  const Routine* callee = program_.routine_of(number);
  if (callee == nullptr) {
    Stop asked = stop(Stop::Kind::kCall, lanes);
    asked.function = &function;
    return asked;
  }
  const auto given = code().parts_of(code().arguments_of(op)[2]);
  const auto& wanted = function.prototype.parameters;
  Stop fault = stop(Stop::Kind::kFault, lanes);
  if (const char* what = unlike(op, function); what != nullptr) {
    fault.text = std::string{"a call gives or takes another size than "} +
                 std::string{function.name} + " does, of its " + what;
    return fault;
  }
  if (given.size() != wanted.size()) {
    fault.text = "a call gives " + std::to_string(given.size()) + " parameters to " +
                 std::string{function.name} + ", which takes " + std::to_string(wanted.size());
    return fault;
  }
  if (strand_.frame->depth + 1 >= kCallsMax) {
    fault.text = "more than " + std::to_string(kCallsMax) + " calls inside each other";
    return fault;
  }
  // Its variables have one place in a thread's local memory.
  if (has_local_variables(*callee) && is_active(*callee, strand_.frame.get())) {
    fault.text = std::string{function.name} +
                 " has local memory, and calls itself: such a recursion is not there";
    return fault;
  }
  if (!strand_.frame->busy.empty()) {
    note_reads(given, lanes);
  }
  auto frame = std::make_shared<Frame>(*callee);
  for (std::size_t index = 0; index < wanted.size(); ++index) {
    ParameterBytes& to = bytes_of_variable(*frame, wanted[index]);
    if (given[index].kind == Argument::Kind::kVariable) {
      const VariableUse& use = code().variables[given[index].index];
      ParameterBytes& from = bytes_of_variable(*strand_.frame, *use.variable);
      copy_bytes(from, to, lanes);
      if (use.owner == VariableUse::Owner::kLocal) {
        forget(from, lanes);
      }
      continue;
    }
    const Lanes value = element(given[index]);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint64_t byte = 0; byte < std::min<std::uint64_t>(to.size, 8); ++byte) {
        to.bytes[lane * to.size + byte] =
            static_cast<std::uint8_t>(value.value[lane] >> (byte * 8));
        to.poison[lane * to.size + byte] = value.poison[lane] >> byte & 1U;
      }
    }
  }
  frame->caller = strand_.frame;
  frame->call = strand_.pc;
  frame->depth = strand_.frame->depth + 1;
  strand_.frame = std::move(frame);
  strand_.pc = 0;
  return std::nullopt;
}

std::optional<Stop> Executor::return_from(Mask lanes) {
  const std::shared_ptr<Frame> callee = strand_.frame;
  if (callee->caller == nullptr) {
    Stop left = stop(Stop::Kind::kLeft, lanes);
    strand_.mask = 0;
    return left;
  }
  if (callee->routine->code.function->prototype.no_return) {
    Stop fault = stop(Stop::Kind::kFault, lanes);
    fault.text = std::string{callee->routine->code.function->name} + " is .noreturn, and returns";
    return fault;
  }
  std::erase_if(strand_.joins,
                [&](const Strand::Join& join) { return join.frame == callee.get(); });
  surroundings_.leaves(*callee->routine, lanes);
  strand_.frame = callee->caller;
  strand_.pc = callee->call + 1;
  // "The condition code register is not preserved across calls" (PTX ISA, "Extended-Precision
  // Integer Arithmetic Instructions").
  strand_.frame->carry &= ~lanes;
  strand_.frame->carry_poison |= lanes;
  const auto taken = code().parts_of(code().arguments_of(code().ops[callee->call])[0]);
  const auto& given = callee->routine->code.function->prototype.returns;
  for (std::size_t index = 0; index < std::min(taken.size(), given.size()); ++index) {
    if (taken[index].kind == Argument::Kind::kVariable) {
      const Variable& variable = *code().variables[taken[index].index].variable;
      copy_bytes(bytes_of_variable(*callee, given[index]),
                 bytes_of_variable(*strand_.frame, variable),
                 lanes);
    }
  }
  return std::nullopt;
}

// ld.param and st.param of what calls pass: bytes of a frame.
std::optional<Stop> Executor::parameter_access(const Op& op, const Guarded& guarded) {
  const bool loads = op.is("ld");
  const auto arguments = code().arguments_of(op);
  const Argument& address = arguments[loads ? 1 : 0];
  const Argument& base = code().parts_of(address)[0];
  const Argument& data = arguments[loads ? 0 : 1];
  ParameterBytes& bytes = bytes_of_variable(*strand_.frame, *code().variables[base.index].variable);
  const Type type = op.source->modifiers.type();
  const std::uint32_t size = bytes_of(type);
  const auto parts =
      data.kind == Argument::Kind::kVector ? code().parts_of(data) : std::span{&data, 1};
  std::uint64_t at = address.value + base.value;
  const VariableUse& use = code().variables[base.index];
  if (loads && use.owner == VariableUse::Owner::kLocal && !behind_its_call(*use.variable)) {
    Stop fault = stop(Stop::Kind::kFault, guarded.executes);
    fault.text = "what a call has returned is read behind it, with no branch between the two";
    return fault;
  }
  if (size > 8 || at > bytes.size || parts.size() * size > bytes.size - at) {
    Stop fault = stop(Stop::Kind::kFault, guarded.executes);
    fault.text = size > 8 ? "parameters of more than 64 bits are not passed"
                          : "an access past the end of a parameter";
    return fault;
  }
  renamed_ = kNoIndex;
  if (!loads && !strand_.frame->busy.empty() && guarded.executes != 0) {
    note_reads(parts, guarded.executes);
  }
  for (const Argument& part : parts) {
    Lanes value;
    if (!loads) {
      value = element(part);
    }
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t byte = 0; byte < size; ++byte) {
        std::uint8_t& stored = bytes.bytes[lane * bytes.size + at + byte];
        std::uint8_t& poison = bytes.poison[lane * bytes.size + at + byte];
        if (loads) {
          value.value[lane] |= std::uint64_t{stored} << (byte * 8);
          value.poison[lane] |= static_cast<std::uint8_t>(poison << byte);
        } else if ((guarded.executes >> lane & 1U) != 0) {
          stored = static_cast<std::uint8_t>(value.value[lane] >> (byte * 8));
          poison = value.poison[lane] >> byte & 1U;
        } else if ((guarded.unknown >> lane & 1U) != 0) {
          poison = 1;
        }
      }
      if (loads && is_signed(type)) {
        const std::uint32_t spare = 64 - bits_of(type);
        value.value[lane] = static_cast<std::uint64_t>(
            static_cast<std::int64_t>(value.value[lane] << spare) >> spare);
      }
    }
    if (loads) {
      write_back(part, value, guarded);
    }
    at += size;
  }
  ++strand_.pc;
  return std::nullopt;
}

}  // namespace warptwin::ptx
