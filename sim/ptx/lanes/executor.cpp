#include "sim/ptx/lanes/executor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warptwin::ptx {

namespace {

// The elements of a vector, or the one operand there is.
std::span<const Argument> elements_of(const Code& code, const Argument& argument) {
  return argument.kind == Argument::Kind::kVector ? code.parts_of(argument)
                                                  : std::span{&argument, 1};
}

}  // namespace

void write_lanes(Lanes& into, const Lanes& value, std::uint32_t bits, Mask mask) {
  const std::uint64_t keep = low_bits(bits);
  const std::uint8_t keep_poison = poison_bits(bits);
  if (mask == ~Mask{0}) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      into.value[lane] = value.value[lane] & keep;
      into.poison[lane] = value.poison[lane] & keep_poison;
    }
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    into.value[lane] = value.value[lane] & keep;
    into.poison[lane] = value.poison[lane] & keep_poison;
  }
}

Stop Executor::stop(Stop::Kind kind, Mask lanes) const {
  Stop stop;
  stop.kind = kind;
  stop.op = strand_.pc;
  stop.mask = lanes;
  return stop;
}

Stop Executor::run(std::uint64_t steps) {
  for (;;) {
    if (strand_.mask == 0) {
      return stop(Stop::Kind::kLeft, 0);
    }
    auto& joins = strand_.joins;
    if (!joins.empty() && joins.back().frame == strand_.frame.get() &&
        joins.back().op == strand_.pc) {
      joins.pop_back();
      return stop(Stop::Kind::kJoin, strand_.mask);
    }
    if (executed_ == steps) {
      return stop(Stop::Kind::kSteps, strand_.mask);
    }
    ++executed_;
    if (watch_ != nullptr && strand_.pc < code().ops.size()) {
      watch_->executes(strand_);
    }
    const auto& ready = routine().steps;
    if (strand_.pc < ready.size()) {
      const ScalarStep& step = ready[strand_.pc];
      if (step.scalar != nullptr && fast(step)) {
        ++strand_.pc;
        continue;
      }
      if (step.branches != kNoIndex && fast_branch(step)) {
        continue;
      }
    }
    if (std::optional<Stop> reached = step()) {
      return std::move(*reached);
    }
  }
}

// The lanes that its guard lets through; none where a lane's guard is not known.
std::optional<Mask> Executor::guarded_by(const ScalarStep& step) const {
  if (step.guard == kNoIndex) {
    return strand_.mask;
  }
  const Lanes& guard = strand_.frame->slots[step.guard];
  if (guard.any_poison() && (guard.poisoned() & strand_.mask) != 0) {
    return std::nullopt;
  }
  return strand_.mask & (step.guard_negated ? ~guard.holds() : guard.holds());
}

// Goes where all lanes go. Says whether they do.
bool Executor::fast_branch(const ScalarStep& step) {
  const std::optional<Mask> executes = guarded_by(step);
  if (!executes || (*executes != 0 && *executes != strand_.mask)) {
    return false;
  }
  strand_.pc = *executes != 0 ? step.branches : strand_.pc + 1;
  return true;
}

namespace {

// A register's lanes as those of another of so many bits: above its size there is no value.
void copy_lanes(Lanes& into, const Lanes& from, std::uint32_t bits) {
  std::uint64_t poison[kLanes / sizeof(std::uint64_t)];
  std::memcpy(poison, from.poison.data(), sizeof poison);
  for (std::uint64_t& word : poison) {
    word &= std::uint64_t{poison_bits(bits)} * 0x0101010101010101;
  }
  into.value = from.value;
  std::memcpy(into.poison.data(), poison, sizeof poison);
}

// Whether no lane's result is known, whatever it would be: there is nothing to compute.
bool unknown_in_all(const Scalar& scalar, const ScalarCall& call) {
  return scalar.poison == whole_poison && call.second == nullptr && !scalar.writes_carry &&
         std::any_of(
             call.in, call.in + call.sources, [](const Lanes* one) { return one->all_poison(); });
}

// What is computed of bytes that nobody knows is 0 where it is not known. Arithmetic could else
// make the bits of what stands in a register for something that may only be moved: an address of
// tensor memory, the state of an arrival. No byte of those is 0.
void clear_unknown(const Scalar& scalar, Lanes& lanes) {
  if (scalar.moves) {
    return;
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    lanes.value[lane] &= ~kPoisonedBits[lanes.poison[lane]];
  }
}

}  // namespace

// Executes it where there is nothing to say of its registers but that one is written. Says whether
// it did.
// Whether PTX leaves a result of lanes open, of sources that are there.
bool Executor::leaves_open(const Scalar& scalar,
                           const ScalarStep& step,
                           ScalarCall& call,
                           Mask executes) {
  if (scalar.approximates && surroundings_.leaves_open(strand_)) {
    return true;
  }
  if (scalar.undefined == nullptr) {
    return false;
  }
  out_->poison.fill(0);
  call.out = &*out_;
  call.sources = step.sources;
  call.type = step.type;
  call.out_bits = step.bits;
  scalar.undefined(call);
  return (out_->poisoned() & executes) != 0;
}

bool Executor::fast(const ScalarStep& step) {
  Frame& frame = *strand_.frame;
  const bool some_busy = !frame.busy.empty();
  const std::optional<Mask> guarded = guarded_by(step);
  if (!guarded || (some_busy && frame.busy[step.target] != Busy::kNo)) {
    return false;
  }
  const Mask executes = *guarded;
  Lanes* const slots = frame.slots.data();
  static const Lanes kZero;
  const Lanes* const constants = frame.routine->constants.data();
  const Scalar& scalar = *step.scalar;
  ScalarCall call;
  bool unknown = false;  // a lane's, perhaps one that does not execute it
  for (std::uint32_t index = 0; index < ScalarStep::kSources; ++index) {
    if (index >= step.sources) {
      call.in[index] = &kZero;
      continue;
    }
    const std::uint32_t at = step.source[index];
    if ((at & ScalarStep::kConstant) != 0) {
      call.in[index] = &constants[at & ~ScalarStep::kConstant];
      continue;
    }
    if (some_busy && frame.busy[at] != Busy::kNo) {
      return false;
    }
    call.in[index] = &slots[at];
    unknown = unknown || call.in[index]->any_poison();
  }
  if (unknown && some_busy && !step.renames) {
    return false;
  }
  if (leaves_open(scalar, step, call, executes)) {
    return false;
  }
  if (!frame.written.empty() && executes != 0) {
    frame.written[step.target] = step.renames ? frame.written[step.source[0]] : std::uint8_t{1};
  }
  Lanes& target = slots[step.target];
  if (unknown) {
    Mask lanes = 0;
    for (std::uint32_t index = 0; index < step.sources; ++index) {
      lanes |= call.in[index]->poisoned();
    }
    unknown = (lanes & executes) != 0;
  }
  if (unknown && scalar.copies) {
    if (executes == ~Mask{0} && step.same_size) {
      copy_lanes(target, *call.in[0], step.bits);
    } else {
      write_lanes(target, *call.in[0], step.bits, executes);
    }
    return true;
  }
  const bool whole = executes == ~Mask{0} && scalar.in_place && !unknown;
  call.sources = step.sources;
  call.out = whole ? &target : &*out_;
  call.modifiers = step.modifiers;
  call.type = step.type;
  call.source_type = step.source_type;
  call.out_bits = step.bits;
  call.relations = scalar.relations;
  if (unknown && of_tensor_bases(scalar, call, executes) != TensorBases::Outcome::kNone) {
    write_lanes(target, *out_, step.bits, executes);
    return true;
  }
  if (unknown && unknown_in_all(scalar, call)) {
    static const Lanes kUnknown = Lanes::unknown();
    write_lanes(target, kUnknown, step.bits, executes);
    return true;
  }
  scalar.execute(call);
  if (scalar.opens_nan && (nan_lanes(*call.out, step.type) & executes) != 0 &&
      surroundings_.leaves_open(strand_)) {
    write_lanes(target, Lanes::unknown(), step.bits, executes);
    return true;
  }
  if (!whole) {
    out_->poison.fill(0);
    if (unknown) {
      scalar.poison(call);
      clear_unknown(scalar, *out_);
    }
    write_lanes(target, *out_, step.bits, executes);
    return true;
  }
  target.poison.fill(0);
  if (step.bits < 64) {
    const std::uint64_t keep = low_bits(step.bits);
    for (std::uint64_t& value : target.value) {
      value &= keep;
    }
  }
  return true;
}

Executor::Guarded Executor::guard_of(const Op& op) const {
  if (!op.guarded()) {
    return {strand_.mask, 0};
  }
  const Lanes& guard = strand_.frame->slots[routine().slots[op.guard]];
  const Mask unknown = guard.poisoned() & strand_.mask;
  const Mask holds = op.source->guard_negated ? ~guard.holds() : guard.holds();
  return {holds & strand_.mask & ~unknown, unknown};
}

std::optional<Stop> Executor::step() {
  if (strand_.pc >= code().ops.size()) {
    return return_from(strand_.mask);
  }
  const Op& op = code().ops[strand_.pc];
  const Guarded guarded = guard_of(op);
  if (op.form == nullptr ||
      (op.form->group == Group::kScalar && routine().scalars[strand_.pc].execute == nullptr)) {
    Stop missing = stop(Stop::Kind::kMissing, guarded.executes);
    missing.text = "no instruction " + std::string{op.source->text} + " is there";
    return missing;
  }
  if (op.form->group == Group::kScalar) {
    scalar(op, guarded);
    ++strand_.pc;
    return std::nullopt;
  }
  if (op.form->group == Group::kControl) {
    return control(op, guarded);
  }
  if (guarded.executes == 0 && guarded.unknown == 0) {
    ++strand_.pc;
    return std::nullopt;
  }
  if (op.is("ld") || op.is("st")) {
    const auto arguments = code().arguments_of(op);
    const Argument& address = arguments[op.is("ld") ? 1 : 0];
    const Argument& base = code().parts_of(address)[0];
    // A kernel's own parameters are the machine's; those of calls belong to a frame.
    if (base.kind == Argument::Kind::kVariable) {
      const VariableUse& use = code().variables[base.index];
      const bool of_call = use.variable->space == Space::kParam &&
                           (use.owner == VariableUse::Owner::kLocal ||
                            use.owner == VariableUse::Owner::kReturn || !code().function->is_entry);
      if (of_call) {
        return parameter_access(op, guarded);
      }
    }
  }
  return request(op, guarded);
}

const Lanes* Executor::source(const Argument& argument, Lanes& store) {
  if (argument.kind == Argument::Kind::kRegister && !argument.negated) {
    return &strand_.frame->slots[routine().slots[argument.index]];
  }
  if (argument.kind == Argument::Kind::kNumber) {
    const auto place = static_cast<std::size_t>(&argument - code().arguments.data());
    return &routine().constants[routine().constant_of[place]];
  }
  store = element(argument);
  return &store;
}

Lanes Executor::element(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kRegister: {
      Lanes lanes = strand_.frame->slots[routine().slots[argument.index]];
      for (std::uint32_t lane = 0; argument.negated && lane < kLanes; ++lane) {
        lanes.value[lane] ^= 1U;
      }
      return lanes;
    }
    case Argument::Kind::kNumber:
      return Lanes::all(argument.value);
    case Argument::Kind::kSpecial:
      return surroundings_.special(SpecialRegister{argument.index});
    case Argument::Kind::kVariable:
      return Lanes::all(surroundings_.address_of(code().variables[argument.index]) +
                        argument.value);
    case Argument::Kind::kFunction:
      return Lanes::all(surroundings_.address_of(program_.module().functions[argument.index]) +
                        argument.value);
    case Argument::Kind::kVector:
      return packed(argument, bits_of(argument.type) / std::max(argument.count, 1U));
    default:
      return Lanes::unknown();
  }
}

Lanes Executor::packed(const Argument& argument, std::uint32_t bits) {
  Lanes whole;
  std::uint32_t shift = 0;
  for (const Argument& part : code().parts_of(argument)) {
    Lanes store;
    const Lanes& lanes = *source(part, store);
    for (std::uint32_t lane = 0; lane < kLanes && shift < 64; ++lane) {
      whole.value[lane] |= (lanes.value[lane] & low_bits(bits)) << shift;
      const auto poison = static_cast<std::uint32_t>(lanes.poison[lane] & poison_bits(bits));
      whole.poison[lane] |= static_cast<std::uint8_t>(poison << shift / 8);
    }
    shift += bits;
  }
  return whole;
}

void Executor::write_back(const Argument& argument, const Lanes& value, const Guarded& guarded) {
  if (argument.kind != Argument::Kind::kRegister) {
    return;
  }
  const std::uint32_t bits = routine().bits_of(argument.index);
  Lanes& slot = strand_.frame->slots[routine().slots[argument.index]];
  note_write(routine().slots[argument.index], value, guarded);
  if (renamed_ != kNoIndex && guarded.executes != ~Mask{0} && !strand_.frame->busy.empty() &&
      value.any_poison()) {
    surroundings_.names_apart();
  }
  write_lanes(slot, value, bits, guarded.executes);
  if (guarded.unknown != 0) {  // written or not: nobody knows
    write_lanes(slot, Lanes::unknown(), bits, guarded.unknown);
  }
}

// A `mov` gives a register another name: what it holds is as new as it was before.
void Executor::note_write(std::uint32_t slot, const Lanes& value, const Guarded& guarded) {
  Frame& frame = *strand_.frame;
  if (guarded.executes == 0) {
    return;
  }
  if (!frame.written.empty()) {
    frame.written[slot] = renamed_ == kNoIndex ? std::uint8_t{1} : frame.written[renamed_];
  }
  if (!frame.busy.empty() && frame.busy[slot] != Busy::kNo) {
    const Lanes& held = frame.slots[slot];
    const bool same = frame.busy[slot] == Busy::kWritten && renamed_ != kNoIndex &&
                      held.value == value.value && held.poison == value.poison;
    if (!same) {
      surroundings_.touches_busy(strand_, slot);
    }
  }
}

// Registers that the machine still reads, and all that is not there yet.
void Executor::note_reads(std::span<const Argument> sources, Mask lanes) {
  const Frame& frame = *strand_.frame;
  for (const Argument& source : sources) {
    for (const Argument& argument : elements_of(code(), source)) {
      if (argument.kind != Argument::Kind::kRegister) {
        continue;
      }
      const std::uint32_t slot = routine().slots[argument.index];
      if (frame.busy[slot] == Busy::kRead) {
        surroundings_.touches_busy(strand_, slot);
      }
      if (frame.slots[slot].any_poison()) {
        surroundings_.computes_with(strand_, frame.slots[slot], lanes);
      }
    }
  }
}

// Where a source may be an address that moves with an allocation.
TensorBases::Outcome Executor::of_tensor_bases(const Scalar& found,
                                               const ScalarCall& call,
                                               Mask lanes) {
  TensorBases* bases = surroundings_.tensor_bases();
  if (bases == nullptr || bases->empty()) {
    return TensorBases::Outcome::kNone;
  }
  const auto outcome = bases->execute(found, call, lanes);
  if (outcome == TensorBases::Outcome::kUnknown) {
    surroundings_.asks_tensor_base(strand_);
  }
  return outcome;
}

void Executor::scalar(const Op& op, const Guarded& guarded) {
  const auto arguments = code().arguments_of(op);
  const bool moves = op.is("mov");
  renamed_ = moves && arguments[0].kind == Argument::Kind::kRegister &&
                     arguments[1].kind == Argument::Kind::kRegister
                 ? routine().slots[arguments[1].index]
                 : kNoIndex;
  if (!strand_.frame->busy.empty() && renamed_ == kNoIndex && guarded.executes != 0) {
    note_reads(arguments.subspan(1), guarded.executes);
  }
  if (moves) {
    if (bits_of(op.source->modifiers.type()) == 128) {
      move_wide(op, guarded);
      return;
    }
    if (arguments[0].kind == Argument::Kind::kVector) {
      move_to_vector(op, guarded);
      return;
    }
  }
  static const Lanes kZero;
  const Scalar& found = routine().scalars[strand_.pc];
  ScalarCall call;
  bool poison = false;
  call.sources = op.count - 1;
  for (std::uint32_t index = 0; index < ScalarCall::kSources; ++index) {
    call.in[index] = index < call.sources ? source(arguments[index + 1], *stores_[index]) : &kZero;
    poison = poison || call.in[index]->any_poison();
  }
  out_->poison.fill(0);
  second_->poison.fill(0);
  const bool pair = arguments[0].kind == Argument::Kind::kPair;
  const Argument& target = pair ? code().parts_of(arguments[0])[0] : arguments[0];
  call.out = &*out_;
  call.second = pair ? &*second_ : nullptr;
  call.modifiers = &op.source->modifiers;
  call.type = op.source->modifiers.type(0);
  call.source_type = op.source->modifiers.type_count > 1 ? op.source->modifiers.type(1) : call.type;
  call.out_bits = target.kind == Argument::Kind::kRegister ? routine().bits_of(target.index) : 64;
  call.carry = found.reads_carry ? strand_.frame->carry : 0;
  call.relations = found.relations;
  const auto bases =
      poison ? of_tensor_bases(found, call, guarded.executes) : TensorBases::Outcome::kNone;
  if (bases != TensorBases::Outcome::kNone) {
    poison = out_->any_poison();
  } else if (poison && unknown_in_all(found, call)) {
    out_->value.fill(0);
    out_->poison.fill(0xff);
  } else {
    found.execute(call);
    if (poison) {
      found.poison(call);
    }
    if (found.undefined != nullptr) {
      found.undefined(call);
      poison = poison || out_->any_poison();
    }
    const bool nan = found.opens_nan &&
                     (nan_lanes(*call.out, call.type) & guarded.executes & ~out_->poisoned()) != 0;
    if ((found.approximates || nan) && surroundings_.leaves_open(strand_)) {
      out_->poison.fill(0xff);
      poison = true;
    }
  }
  const Mask carried = found.reads_carry ? strand_.frame->carry_poison : 0;
  for (Mask left = carried; left != 0; left &= left - 1) {
    out_->poison[static_cast<std::uint32_t>(std::countr_zero(left))] = 0xff;
  }
  if ((poison && bases == TensorBases::Outcome::kNone) || carried != 0) {
    clear_unknown(found, *out_);
    clear_unknown(found, *second_);
  }
  write_back(target, *out_, guarded);
  if (pair) {
    write_back(code().parts_of(arguments[0])[1], *second_, guarded);
  }
  if (found.writes_carry) {
    Mask& carry = strand_.frame->carry;
    carry = (carry & ~guarded.executes) | (call.carry & guarded.executes);
    Mask& unknown = strand_.frame->carry_poison;
    const Mask now = (poison ? out_->poisoned() : Mask{0}) | carried | guarded.unknown;
    unknown = (unknown & ~(guarded.executes | guarded.unknown)) |
              (now & (guarded.executes | guarded.unknown));
  }
}

// mov.b32 {%rs1, %rs2}, %r1: each element takes its bits.
void Executor::move_to_vector(const Op& op, const Guarded& guarded) {
  const auto arguments = code().arguments_of(op);
  const auto parts = code().parts_of(arguments[0]);
  const std::uint32_t bits =
      bits_of(op.source->modifiers.type()) / static_cast<std::uint32_t>(parts.size());
  Lanes store;
  const Lanes whole = *source(arguments[1], store);
  std::uint32_t shift = 0;
  for (const Argument& part : parts) {
    Lanes value;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      value.value[lane] = whole.value[lane] >> shift & low_bits(bits);
      value.poison[lane] =
          static_cast<std::uint8_t>(whole.poison[lane] >> shift / 8 & poison_bits(bits));
    }
    write_back(part, value, guarded);
    shift += bits;
  }
}

// 128 bits between a register, two of 64 and four of 32.
void Executor::move_wide(const Op& op, const Guarded& guarded) {
  const auto arguments = code().arguments_of(op);
  const auto halves = values_of(arguments[1]);
  const auto targets = elements_of(code(), arguments[0]);
  if (targets.size() == 1) {
    if (targets[0].kind == Argument::Kind::kRegister) {
      const std::uint32_t slot = routine().slots[targets[0].index];
      for (std::uint32_t half = 0; half < 2; ++half) {
        note_write(slot + half, halves[half], guarded);
        write_lanes(strand_.frame->slots[slot + half], halves[half], 64, guarded.executes);
        write_lanes(strand_.frame->slots[slot + half], Lanes::unknown(), 64, guarded.unknown);
      }
    }
    return;
  }
  const auto bits = static_cast<std::uint32_t>(128 / targets.size());
  for (std::uint32_t index = 0; index < targets.size(); ++index) {
    const Lanes& half = halves[index * bits / 64];
    const std::uint32_t shift = index * bits % 64;
    Lanes value;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      value.value[lane] = half.value[lane] >> shift & low_bits(bits);
      value.poison[lane] =
          static_cast<std::uint8_t>(half.poison[lane] >> shift / 8 & poison_bits(bits));
    }
    write_back(targets[index], value, guarded);
  }
}

// Of `mov.b128` two halves; of other vectors their elements.
std::vector<Lanes> Executor::values_of(const Argument& argument) {
  std::vector<Lanes> values;
  add_values(argument, values);
  return values;
}

void Executor::add_values(const Argument& argument, std::vector<Lanes>& values) {
  if (argument.kind == Argument::Kind::kSink) {
    return;
  }
  if (argument.kind == Argument::Kind::kAddress) {
    const auto parts = code().parts_of(argument);
    if (parts[0].kind == Argument::Kind::kRegister && !parts[0].negated) {
      values.push_back(strand_.frame->slots[routine().slots[parts[0].index]]);
    } else {
      values.push_back(element(parts[0]));
    }
    for (std::uint64_t& address : values.back().value) {
      address += argument.value;
    }
    for (const Argument& part : parts.subspan(1)) {
      add_values(part, values);
    }
    return;
  }
  if (argument.kind == Argument::Kind::kVector) {
    const auto parts = code().parts_of(argument);
    if (argument.type == Type::kB128 && argument.count > 1) {
      const std::size_t per_half = parts.size() / 2;
      for (std::size_t half = 0; half < 2; ++half) {
        Argument some = argument;
        some.first += static_cast<std::uint32_t>(half * per_half);
        some.count = static_cast<std::uint32_t>(per_half);
        values.push_back(packed(some, static_cast<std::uint32_t>(64 / per_half)));
      }
      return;
    }
    values.reserve(values.size() + parts.size());
    for (const Argument& part : parts) {
      add_values(part, values);
    }
    return;
  }
  const bool of_register = argument.kind == Argument::Kind::kRegister;
  if (of_register && !argument.negated) {
    values.push_back(strand_.frame->slots[routine().slots[argument.index]]);
  } else {
    values.push_back(element(argument));
  }
  if (of_register && routine().bits_of(argument.index) > 64) {
    values.push_back(strand_.frame->slots[routine().slots[argument.index] + 1]);
  } else if (argument.type == Type::kB128) {
    values.emplace_back();
  }
}

// Operand 0 is hundreds of registers, which are on their way most of the time.
static bool has_accumulator(const Op& op) {
  return op.form->group == Group::kTensor && op.is("wgmma.mma_async");
}

Stop Executor::request(const Op& op, const Guarded& guarded) {
  Stop asked = stop(Stop::Kind::kRequest, guarded.executes);
  asked.unknown_guard = guarded.unknown;
  const auto walk = [&](const auto& self, const Argument& argument) -> bool {
    if (argument.kind != Argument::Kind::kVector && argument.kind != Argument::Kind::kPair) {
      return argument.written && !argument.read;
    }
    const auto parts = code().parts_of(argument);
    return std::any_of(
        parts.begin(), parts.end(), [&](const Argument& part) { return self(self, part); });
  };
  const auto arguments = code().arguments_of(op);
  asked.operands.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    const bool stays = asked.operands.empty() && has_accumulator(op);
    OperandValue& operand = asked.operands.emplace_back();
    operand.argument = &argument;
    if (!stays && !walk(walk, argument)) {
      add_values(argument, operand.values);
    }
  }
  return asked;
}

}  // namespace warptwin::ptx
