// wgmma: its accumulators are registers of the warp, which it writes when it is waited for.

#include <algorithm>
#include <bit>

#include "common/machine/umma_descriptor.hpp"
#include "common/machine/wgmma_descriptor.hpp"

#include "sim/ptx/machine/missing_forms.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

std::optional<ElementType> element_of(Type type) {
  switch (type) {
    case Type::kF16:
      return ElementType::kF16;
    case Type::kBf16:
      return ElementType::kBf16;
    case Type::kTf32:
      return ElementType::kTf32;
    case Type::kE4m3:
      return ElementType::kF8E4M3;
    case Type::kE5m2:
      return ElementType::kF8E5M2;
    case Type::kU8:
      return ElementType::kU8;
    case Type::kS8:
      return ElementType::kI8;
    default:
      return std::nullopt;
  }
}

}  // namespace

const char* missing_wgmma(const Modifiers& modifiers) {
  const auto a = element_of(modifiers.type(1));
  const auto b = element_of(modifiers.type(2));
  const Type d = modifiers.type(0);
  const bool whole = d == Type::kS32;
  const bool there = !modifiers.has("satfinite"_mod) &&
                     (whole || d == Type::kF16 || d == Type::kF32) && a && b &&
                     whole == (kind_of(*a) == MmaKind::kI8) && kind_of(*a) == kind_of(*b);
  return there ? nullptr : "wgmma of these types is not there";
}

// An operand of wgmma in the words of tcgen05, in which the model reads both.
std::uint64_t WarpRun::operand_of(const Request& request, std::size_t at) const {
  const WgmmaSmemDescriptor<bf16> operand{uniform(request, at)};
  if (operand.base_offset() != 0) {
    refuse(request, "a matrix descriptor with a base offset is not there");
  }
  return UmmaSmemDescriptor::make(
             operand.start(), operand.leading_bytes(), operand.stride_bytes(), operand.swizzle())
      .bits;
}

// The accumulator that operand 0 is: that of the wgmma on its way to the same registers, or a new
// one with what they hold.
WarpRun::Fragment WarpRun::accumulator_of(Request& request, std::uint32_t registers) {
  const Frame& frame = *request.strand.frame;
  const auto parts = frame.routine->code.parts_of(*request.stop.operands[0].argument);
  const auto value = [&](std::uint32_t i) -> const Lanes& {
    return frame.slots[frame.routine->slots[parts[i].index]];
  };
  const std::uint32_t number = flight_of(value(0), 0);
  bool same = number != kNoIndex && flights_[number].data != outdated_;
  for (std::uint32_t i = 0; i < registers && same; ++i) {
    const Lanes& held = value(i);
    same =
        flight_of(held, 0) == number && (held.value[0] & 0xFFU) == i &&
        (!named_apart_ || std::equal(held.value.begin() + 1, held.value.end(), held.value.begin()));
  }
  if (same) {
    return flights_[number].data;
  }
  auto data = std::make_shared<sim::FragmentData>();
  data->registers = registers;
  data->settled = true;
  const bool moves = machine_.moves_data();  // else nobody knows what comes
  data->bits.resize(moves ? std::size_t{registers} * kLanes : 0);
  for (std::uint32_t i = 0; i < registers; ++i) {
    const Lanes held = value(i);
    computes_with(request.strand, held, request.mask());
    for (std::uint32_t lane = 0; lane < kLanes && moves; ++lane) {
      data->bits[std::size_t{lane} * registers + i] = static_cast<std::uint32_t>(held.value[lane]);
    }
    if (moves && held.any_poison()) {
      data->unwritten.resize(data->bits.size());
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        data->unwritten[std::size_t{lane} * registers + i] = held.poison[lane] != 0 ? 1 : 0;
      }
    }
  }
  data->touched = written_since_fence(request, 0) ? ++machine_.registers().time : 0;
  return data;
}

// Where operand 1 is no descriptor: what its registers hold.
WarpRun::Fragment WarpRun::registers_of_a(const Request& request) const {
  const auto& values = request.stop.operands[1].values;
  if (values.size() != kWgmmaARegisters) {
    refuse(request, "A has 4 registers, not " + std::to_string(values.size()));
  }
  auto data = std::make_shared<sim::FragmentData>();
  data->registers = kWgmmaARegisters;
  data->bits.resize(std::size_t{kWgmmaARegisters} * kLanes);
  for (std::uint32_t i = 0; i < kWgmmaARegisters; ++i) {
    if (machine_.moves_data() && flight_in(values[i], request.mask()) == kNoIndex) {
      known(request, 1, request.mask(), i);
    }
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      data->bits[std::size_t{lane} * kWgmmaARegisters + i] =
          static_cast<std::uint32_t>(values[i].value[lane]);
    }
  }
  return data;
}

// Of a sparse A: its metadata, a word of each lane, as the wgmma finds it.
WarpRun::Fragment WarpRun::metadata_of_a(Request& request) {
  const Lanes& words = request.stop.operands[3].values[0];
  computes_with(request.strand, words, request.mask());
  if (machine_.moves_data()) {
    known(request, 3, request.mask());
  }
  auto data = std::make_shared<sim::FragmentData>();
  data->registers = 1;
  data->bits.resize(kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    data->bits[lane] = static_cast<std::uint32_t>(words.value[lane]);
  }
  return data;
}

// PTX ISA, "wgmma.mma_async": d, a-desc or a, b-desc, {of .sp sp-meta, sp-sel,} scale-d,
// imm-scale-a, imm-scale-b, {imm-trans-a, imm-trans-b}.
Served WarpRun::wgmma(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const auto a = element_of(modifiers.type(1));
  const auto b = element_of(modifiers.type(2));
  const AccumulatorRegisters& accumulator = registers_of_accumulator(request);
  const std::uint32_t registers = accumulator.count;
  const bool halves = modifiers.type(0) == Type::kF16;
  const bool sparse = modifiers.has("sp"_mod);
  const std::size_t behind = sparse ? 5 : 3;  // where scale-d stands
  require_form(request);
  if (registers * (halves ? 4U : 2U) != modifiers.shape.n) {
    refuse(request,
           std::to_string(modifiers.shape.n / (halves ? 4 : 2)) +
               " registers of D are expected, not " + std::to_string(registers));
  }
  const bool in_registers = request.stop.operands[1].argument->kind == Argument::Kind::kVector;
  for (const std::size_t scale : {behind + 1, behind + 2}) {
    if (request.has(scale) && static_cast<std::int32_t>(uniform(request, scale)) != 1) {
      refuse(request, "wgmma with a negated operand is not there");
    }
  }
  const auto major = [&](std::size_t operand) {
    return request.has(operand) && uniform(request, operand) != 0 ? Major::kMn : Major::kK;
  };
  // A in registers has no major.
  auto instruction = UmmaInstructionDescriptor::make(*a, *b, kWgmmaRows, modifiers.shape.n)
                         .with_majors(in_registers ? Major::kK : major(behind + 3),
                                      major(behind + (in_registers ? 3 : 4)));
  instruction = halves ? instruction.with_f16_result() : instruction;
  if (sparse) {
    const auto selector = static_cast<std::uint32_t>(uniform(request, 4));
    if (in_registers || instruction.a_major() == Major::kMn) {
      refuse(request, "wgmma with a sparse A that is in registers or MN-major is not there");
    }
    if (selector >= sparse_elements(*a).selectors()) {
      refuse(request, "this sparsity selector is undefined for elements of this type");
    }
    instruction = instruction.with_sparse_a(selector);
  }
  sim::Operation op = collective(warptwin::Op::kWgmma, request);
  auto& wgmma = op.as<sim::operands::Wgmma>();
  if (in_registers) {
    op.fragment_a = registers_of_a(request);
    op.flags = event_flag::kTmemA;
  } else {
    wgmma.a.bits = operand_of(request, 1);
  }
  if (sparse) {
    op.fragment_a = metadata_of_a(request);
    op.flags |= event_flag::kSparse;
  }
  wgmma.b.bits = operand_of(request, 2);
  wgmma.instruction = instruction;
  wgmma.columns = instruction.n();
  const bool accumulates = request.has(behind) && uniform(request, behind) != 0;
  op.flags |= accumulates ? event_flag::kAccumulate : std::uint32_t{0};
  const bool keeps = keeps_accumulator(request);
  op.fragment = keeps ? accumulator_.data : accumulator_of(request, registers);
  if (!accumulates) {
    op.fragment->unwritten.clear();  // it writes all of them
  }
  if (in_registers) {
    for (const Lanes& value : request.stop.operands[1].values) {
      computes_with(request.strand, value, request.mask());
    }
  }
  if ((in_registers && written_since_fence(request, 1)) ||
      (sparse && written_since_fence(request, 3))) {
    op.fragment->touched = ++machine_.registers().time;
  }
  if (modifiers.type(0) != Type::kS32) {
    leaves_open(request.strand);
  }
  const bool goes_on = op.fragment->last_wgmma != 0;
  perform(op);
  if (!keeps) {
    mark_in_flight(request, 0, {op.fragment, warptwin::Op::kWgmmaWait});
    accumulator_ = {request.strand.frame, accumulator.first, op.fragment};
  }
  if (goes_on) {
    outdate_names(request, op.fragment);
  }
  if (in_registers) {
    set_busy(request, 1, Busy::kRead, {op.fragment_a, warptwin::Op::kWgmmaWait});
  }
  return Served::kDone;
}

Served WarpRun::wgmma_step(Request& request) {
  if (request.op.is("wgmma.fence")) {
    sim::Operation op = collective(warptwin::Op::kWgmmaFence, request);
    op.as<sim::operands::WgmmaFence>().time = ++machine_.registers().time;
    request.strand.frame->written.assign(request.strand.frame->slots.size(), 0);
    perform(op);
    return Served::kDone;
  }
  if (request.op.is("wgmma.commit_group")) {
    sim::Operation op = collective(warptwin::Op::kWgmmaCommit, request);
    perform(op);
    return Served::kDone;
  }
  // One wait settles all accumulators whose groups are over.
  sim::Operation op = collective(warptwin::Op::kWgmmaWait, request);
  op.as<sim::operands::WgmmaWait>().pending = static_cast<std::uint32_t>(uniform(request, 0));
  perform(op);
  for (const InFlight& flight : flights_) {
    if (flight.data != nullptr && flight.by == warptwin::Op::kWgmmaWait) {
      flight.data->settled = flight.data->last_wgmma <= op.result;
    }
  }
  for (const BusyRegister& one : busy_) {
    if (one.how == Busy::kRead) {
      one.flight.data->settled = one.flight.data->last_wgmma <= op.result;
    }
  }
  settle(request.strand, warptwin::Op::kWgmmaWait);
  const auto is_over = [](const BusyRegister& one) { return one.flight.data->settled; };
  if (std::any_of(busy_.begin(), busy_.end(), is_over)) {
    free_registers();
  }
  return Served::kDone;
}

}  // namespace warptwin::ptx
