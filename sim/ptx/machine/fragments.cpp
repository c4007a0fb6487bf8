// Registers that an asynchronous operation will write: until it is waited for they are unknown.
//
// Each such register says, beside that nobody knows it, whose it is: a compiler may give it another
// name by mov before the wait.

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

// A register's bits while it is on its way: the operation's number, and which of its registers.
constexpr std::uint32_t kIndexBits = 8;
constexpr std::uint32_t kMark = 0xA0000000;
constexpr std::uint32_t kMarkMask = 0xF0000000;

}  // namespace

// The number of the operation that will write the register in one lane; kNoIndex: none.
std::uint32_t WarpRun::flight_of(const Lanes& value, std::uint32_t lane) const {
  const auto bits = static_cast<std::uint32_t>(value.value[lane]);
  const std::uint32_t number = (bits & ~kMarkMask) >> kIndexBits;
  const bool marked = value.poison[lane] != 0 && (bits & kMarkMask) == kMark;
  return marked && number < flights_.size() && flights_[number].data != nullptr ? number : kNoIndex;
}

// The same in any of these lanes.
std::uint32_t WarpRun::flight_in(const Lanes& value, Mask lanes) const {
  if (!named_apart_) {
    return flight_of(value, 0);
  }
  std::uint32_t number = kNoIndex;
  for (Mask left = value.any_poison() ? lanes : 0; left != 0 && number == kNoIndex;
       left &= left - 1) {
    number = flight_of(value, static_cast<std::uint32_t>(std::countr_zero(left)));
  }
  return number;
}

namespace {

// Whether it has this mark in every lane.
bool is_whole(const Lanes& lanes, std::uint32_t mark) {
  std::uint64_t differ = 0;
  std::uint8_t unknown = 0xff;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    differ |= lanes.value[lane] ^ mark;
    unknown &= lanes.poison[lane];
  }
  return differ == 0 && (unknown & poison_bits(32)) == poison_bits(32);
}

// Calls `f(slot)` for each register of an operand.
template <class F>
void for_each_slot(const Routine& routine, const Argument& argument, F&& f) {
  const bool parts = argument.kind == Argument::Kind::kVector ||
                     argument.kind == Argument::Kind::kPair ||
                     argument.kind == Argument::Kind::kAddress;
  if (parts) {
    for (const Argument& part : routine.code.parts_of(argument)) {
      for_each_slot(routine, part, f);
    }
  } else if (argument.kind == Argument::Kind::kRegister) {
    f(routine.slots[argument.index], argument);
  }
}

// Whether each register of an operand is one that the operation with these marks will write, in
// every lane, and is busy with that: as those of the wgmma before are to the next.
bool is_marked(const Frame& frame, const Argument& argument, std::uint32_t first_mark) {
  std::uint32_t mark = first_mark;
  bool marked = !frame.busy.empty();
  for_each_slot(*frame.routine, argument, [&](std::uint32_t slot, const Argument&) {
    marked = marked && is_whole(frame.slots[slot], mark) && frame.busy[slot] == Busy::kWritten;
    ++mark;
  });
  return marked;
}

}  // namespace

std::uint32_t WarpRun::mark_in_flight(Request& request,
                                      std::size_t operand,
                                      const InFlight& flight) {
  auto place = std::find_if(flights_.begin(), flights_.end(), [&](const InFlight& known) {
    return known.data == nullptr || known.data == flight.data;
  });
  const bool is_known = place != flights_.end() && place->data == flight.data;
  if (place == flights_.end()) {
    place = flights_.insert(place, flight);
  }
  *place = flight;
  const auto number = static_cast<std::uint32_t>(place - flights_.begin());
  Frame& frame = *request.strand.frame;
  const Argument& argument = *request.stop.operands[operand].argument;
  if (is_known && is_marked(frame, argument, kMark | number << kIndexBits)) {
    for_each_slot(*frame.routine, argument, [&](std::uint32_t slot, const Argument&) {
      if (!frame.written.empty()) {
        frame.written[slot] = 0;
      }
    });
    return number;
  }
  named_apart_ = named_apart_ || request.mask() != ~Mask{0};
  for (std::uint32_t i = 0; i < flight.data->registers / (flight.packed ? 2 : 1); ++i) {
    Lanes lanes = Lanes::unknown();
    lanes.value.fill(kMark | number << kIndexBits | i);
    request.strand.write(request.stop, operand, i, lanes);
  }
  set_busy(request, operand, Busy::kWritten, flight);
  return number;
}

// An accumulator is in the registers of its last wgmma; a `mov` may have given them other names.
void WarpRun::set_busy(Request& request, std::size_t operand, Busy how, const InFlight& flight) {
  const std::shared_ptr<Frame>& frame = request.strand.frame;
  std::erase_if(busy_, [&](const BusyRegister& one) {
    return how == Busy::kWritten && one.how == how && one.flight.data == flight.data;
  });
  frame->busy.resize(frame->slots.size(), Busy::kNo);
  for_each_slot(*frame->routine,
                *request.stop.operands[operand].argument,
                [&](std::uint32_t slot, const Argument&) {
                  busy_.push_back({frame, slot, how, flight});
                  if (how == Busy::kWritten && !frame->written.empty()) {
                    frame->written[slot] = 0;
                  }
                });
  free_registers();
}

// Forgets those whose operations are over.
void WarpRun::free_registers() {
  accumulator_ = {};
  for (const BusyRegister& one : busy_) {
    one.frame->busy.clear();
  }
  std::erase_if(busy_, [](const BusyRegister& one) { return one.flight.data->settled; });
  for (const BusyRegister& one : busy_) {
    one.frame->busy.resize(one.frame->slots.size(), Busy::kNo);
    one.frame->busy[one.slot] = std::max(one.frame->busy[one.slot], one.how);
  }
}

// The machine says what it means; once of each operation.
void WarpRun::report_touched(const Strand& strand, const InFlight& flight) {
  if (flight.data == nullptr || std::exchange(flight.data->reported, true)) {
    return;
  }
  sim::Operation op{warptwin::Op::kFragmentRead};
  op.lanes = kLanes;
  op.fragment = flight.data;
  op.as<sim::operands::FragmentRead>().of_accumulator = flight.by == warptwin::Op::kWgmmaWait;
  op.site = kernel_.site_of(*strand.frame->routine, strand.pc);
  perform(op);
}

void WarpRun::touches_busy(const Strand& strand, std::uint32_t slot) {
  accumulator_ = {};
  for (const BusyRegister& one : busy_) {
    if (one.frame == strand.frame && one.slot == slot && one.how != Busy::kNo) {
      const InFlight flight = one.flight;
      report_touched(strand, flight);
      return;
    }
  }
}

// What an operation has written of one of its registers.
Lanes WarpRun::landed(const InFlight& flight, std::uint32_t index) {
  const sim::FragmentData& data = *flight.data;
  Lanes lanes = Lanes::unknown();
  for (std::uint32_t lane = 0; lane < kLanes && !data.bits.empty(); ++lane) {
    const std::uint32_t* words = &data.bits[std::size_t{lane} * data.registers];
    lanes.value[lane] =
        flight.packed ? (words[2 * index] & 0xFFFFU) | words[2 * index + 1] << 16 : words[index];
    lanes.poison[lane] = 0;
    if (!data.unwritten.empty()) {
      const std::uint8_t* unwritten = &data.unwritten[std::size_t{lane} * data.registers];
      const std::uint8_t half = flight.packed ? 0x3 : 0xf;
      const std::uint32_t first = flight.packed ? 2 * index : index;
      lanes.poison[lane] = unwritten[first] != 0 ? half : std::uint8_t{0};
      if (flight.packed && unwritten[first + 1] != 0) {
        lanes.poison[lane] |= 0xc;
      }
    }
  }
  return lanes;
}

// Who depends on a register of a tcgen05.ld has its value, wait or no wait; nothing else is ordered
// by that, and the other registers may still be written (PTX ISA, "Register dependencies, same
// thread", of the memory consistency model of tcgen05). Nothing if it is none such.
std::optional<Lanes> WarpRun::arrived(const Strand& strand, const Lanes& value, Mask lanes) {
  Lanes known = value;
  bool any = false;
  Frame& frame = *strand.frame;
  for (Mask left = named_apart_ ? lanes : Mask{1}; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint32_t number = flight_of(known, lane);
    if (number == kNoIndex || flights_[number].by != warptwin::Op::kTcgen05WaitLd) {
      continue;
    }
    if (!flights_[number].arrived) {
      sim::Operation wait{warptwin::Op::kTcgen05WaitLd};
      wait.lanes = 1;  // it brings no lanes together
      wait.as<sim::operands::TmemWait>().of_registers = true;
      wait.site = kernel_.site_of(*strand.frame->routine, strand.pc);
      perform(wait);
      flights_[number].arrived = true;
    }
    any = true;
    const auto mark = static_cast<std::uint32_t>(known.value[lane]);
    const Lanes written = landed(flights_[number], mark & ((1U << kIndexBits) - 1));
    land(known, mark, written);
    for (std::uint32_t slot = 0; slot < frame.slots.size(); ++slot) {
      if (land(frame.slots[slot], mark, written)) {
        std::erase_if(busy_, [&](const BusyRegister& one) {
          return one.frame.get() == &frame && one.slot == slot;
        });
      }
    }
  }
  if (!any) {
    return std::nullopt;
  }
  frame.busy.clear();
  free_registers();
  return known;
}

// Where a register has this mark it has what has been written there. Says whether it has it
// anywhere.
bool WarpRun::land(Lanes& slot, std::uint32_t mark, const Lanes& written) const {
  const auto is_marked = [&](std::uint32_t lane) {
    return slot.poison[lane] != 0 && static_cast<std::uint32_t>(slot.value[lane]) == mark;
  };
  if (!named_apart_) {
    const bool marked = is_marked(0);
    if (marked) {
      slot = written;
    }
    return marked;
  }
  bool any = false;
  for (std::uint32_t lane = 0; lane < kLanes && slot.any_poison(); ++lane) {
    if (is_marked(lane)) {
      slot.value[lane] = written.value[lane];
      slot.poison[lane] = written.poison[lane];
      any = true;
    }
  }
  return any;
}

void WarpRun::computes_with(const Strand& strand, const Lanes& value, Mask lanes) {
  if (arrived(strand, Lanes{value}, lanes)) {
    return;
  }
  if (const std::uint32_t number = flight_in(value, lanes); number != kNoIndex) {
    const InFlight flight = flights_[number];
    report_touched(strand, flight);
  }
}

// The operands of an instruction of the machine, which have been read already.
void WarpRun::operands_arrive(Request& request) {
  const Frame& frame = *request.strand.frame;
  for (OperandValue& operand : request.stop.operands) {
    bool written = false;
    for_each_slot(*frame.routine, *operand.argument, [&](std::uint32_t, const Argument& one) {
      written = written || one.written;
    });
    for (Lanes& value : operand.values) {
      if (const auto known =
              written ? std::nullopt : arrived(request.strand, value, request.mask())) {
        value = *known;
      }
    }
  }
}

// An accumulator is not what another wgmma still reads as A.
void WarpRun::note_accumulator(const Request& request) {
  if (keeps_accumulator(request)) {
    return;
  }
  const Frame& frame = *request.strand.frame;
  for_each_slot(
      *frame.routine, *request.stop.operands[0].argument, [&](std::uint32_t slot, const Argument&) {
        if (!frame.busy.empty() && frame.busy[slot] == Busy::kRead) {
          touches_busy(request.strand, slot);
        }
      });
}

// Those of the accumulator that operand 0 is.
const AccumulatorRegisters& WarpRun::registers_of_accumulator(const Request& request) const {
  const auto parts =
      request.strand.frame->routine->code.parts_of(*request.stop.operands[0].argument);
  const auto [found, added] = grid_.accumulators.try_emplace(parts.data());
  AccumulatorRegisters& registers = found->second;
  if (!added) {
    return registers;
  }
  const auto same = [](const Argument& one, const Argument& other) {
    return one.kind == Argument::Kind::kRegister && one.kind == other.kind &&
           one.index == other.index;
  };
  registers.parts = parts;
  registers.count = static_cast<std::uint32_t>(
      std::count_if(parts.begin(), parts.end(), [](const Argument& part) {
        return part.kind == Argument::Kind::kRegister;
      }));
  if (registers.count != parts.size()) {
    return registers;
  }
  registers.first = parts.data();
  for (const auto& [place, other] : grid_.accumulators) {
    if (std::equal(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(), same)) {
      registers.first = other.first;
    }
  }
  return registers;
}

// Whether a wgmma has the registers of the last one, and nothing has touched them: what that one
// has said of each of them holds.
bool WarpRun::keeps_accumulator(const Request& request) const {
  return accumulator_.data != nullptr && accumulator_.registers != nullptr &&
         accumulator_.frame == request.strand.frame &&
         accumulator_.registers == registers_of_accumulator(request).first;
}

// What an instruction of the machine reads and writes of registers that are busy. Stores say
// themselves that what they store has not arrived; wgmma looks at its own registers.
void WarpRun::note_registers(Request& request) {
  const std::shared_ptr<Frame>& frame = request.strand.frame;
  if (request.op.is("wgmma.mma_async")) {
    note_accumulator(request);
    return;
  }
  if (frame->busy.empty() && frame->written.empty()) {
    return;
  }
  operands_arrive(request);
  const bool stores = request.op.is("tcgen05.st") ||
                      (request.op.is("st") && space_of(request.modifiers) != Space::kLocal);
  for (const OperandValue& operand : request.stop.operands) {
    for (const Lanes& value : operand.values) {
      const bool looks = !stores && !frame->busy.empty() && value.any_poison();
      const std::uint32_t number = looks ? flight_in(value, request.mask()) : kNoIndex;
      if (number != kNoIndex) {
        const InFlight flight = flights_[number];
        report_touched(request.strand, flight);
      }
    }
    for_each_slot(*frame->routine, *operand.argument, [&](std::uint32_t slot, const Argument& one) {
      const Busy how = frame->busy.empty() ? Busy::kNo : frame->busy[slot];
      if (how == Busy::kRead || (how == Busy::kWritten && one.written)) {
        touches_busy(request.strand, slot);
      }
      if (one.written && !frame->written.empty()) {
        frame->written[slot] = 1;
      }
    });
  }
}

// Whether an instruction has written a register of the operand since the last wgmma.fence.
bool WarpRun::written_since_fence(const Request& request, std::size_t operand) const {
  const Frame& frame = *request.strand.frame;
  bool written = false;
  for_each_slot(*frame.routine,
                *request.stop.operands[operand].argument,
                [&](std::uint32_t slot, const Argument&) {
                  written = written || (!frame.written.empty() && frame.written[slot] != 0);
                });
  return written;
}

// Registers that `mov` makes one, directly or not: the least number of those of each.
std::vector<std::uint32_t> WarpRun::names_in(const Routine& routine) {
  std::vector<std::uint32_t> first(routine.code.registers.size());
  std::iota(first.begin(), first.end(), 0U);
  const auto find = [&](std::uint32_t number) {
    while (first[number] != number) {
      number = first[number] = first[first[number]];
    }
    return number;
  };
  for (const Op& op : routine.code.ops) {
    if (!op.is("mov")) {
      continue;
    }
    const auto arguments = routine.code.arguments_of(op);
    if (arguments[0].kind == Argument::Kind::kRegister &&
        arguments[1].kind == Argument::Kind::kRegister) {
      const std::uint32_t one = find(arguments[0].index);
      const std::uint32_t other = find(arguments[1].index);
      first[std::max(one, other)] = std::min(one, other);
    }
  }
  for (std::uint32_t number = 0; number < first.size(); ++number) {
    first[number] = find(number);
  }
  return first;
}

// Slots of registers that are needed behind a wgmma, and may be other names of its accumulator.
const std::vector<std::uint32_t>& WarpRun::other_names(const Request& request) {
  const auto [found, added] = grid_.other_names.try_emplace(&request.op);
  if (!added) {
    return found->second;
  }
  const Routine& routine = *request.strand.frame->routine;
  const std::vector<std::uint32_t> names = names_in(routine);
  std::set<std::uint32_t> own;
  std::set<std::uint32_t> named;  // as they are
  for_each_slot(
      routine, *request.stop.operands[0].argument, [&](std::uint32_t slot, const Argument& one) {
        own.insert(slot);
        named.insert(names[one.index]);
      });
  std::set<std::uint32_t> others;
  for (std::uint32_t number = 0; number < names.size(); ++number) {
    const std::uint32_t slot = routine.slots[number];
    if (named.count(names[number]) != 0 && own.count(slot) == 0) {
      others.insert(slot);
    }
  }
  for (const std::uint32_t slot :
       others.empty() ? std::vector<std::uint32_t>{} : needed_at(routine, request.stop.op + 1)) {
    if (others.count(slot) != 0) {
      found->second.push_back(slot);
    }
  }
  return found->second;
}

// Another wgmma adds to an accumulator that has not been waited for. Its other names are of what
// was there in between, which nobody has waited for, and never will.
void WarpRun::outdate_names(const Request& request, const Fragment& accumulator) {
  Frame& frame = *request.strand.frame;
  const auto is_of = [&](const Lanes& name, std::uint32_t lane) {
    const std::uint32_t number = flight_of(name, lane);
    return number != kNoIndex && flights_[number].data == accumulator;
  };
  for (const std::uint32_t slot : other_names(request)) {
    Lanes& name = frame.slots[slot];
    Mask outdated = 0;
    for (std::uint32_t lane = 0; lane < (named_apart_ ? kLanes : 1U); ++lane) {
      outdated |= is_of(name, lane) ? Mask{1} << lane : 0;
    }
    if (outdated == 0) {
      continue;
    }
    if (outdated_ == nullptr) {
      outdated_ = std::make_shared<sim::FragmentData>();
      outdated_->last_wgmma = ~std::uint32_t{0};
      flights_.push_back({outdated_, warptwin::Op::kWgmmaWait});
    }
    const auto place = std::find_if(flights_.begin(), flights_.end(), [&](const InFlight& one) {
      return one.data == outdated_;
    });
    const auto mark = kMark | static_cast<std::uint32_t>(place - flights_.begin()) << kIndexBits;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const bool here = !named_apart_ || (outdated >> lane & 1U) != 0;
      name.value[lane] = here ? mark : name.value[lane];
    }
    frame.busy.resize(frame.slots.size(), Busy::kNo);
    busy_.push_back({request.strand.frame, slot, Busy::kNo, *place});
  }
}

// What operations of this kind have written is in the registers that stand for it, wherever they
// are now.
void WarpRun::settle(const Strand& strand, warptwin::Op by) {
  std::vector<bool> over(flights_.size());
  for (std::size_t number = 0; number < flights_.size(); ++number) {
    const InFlight& flight = flights_[number];
    over[number] = flight.data != nullptr && flight.by == by && flight.data->settled;
  }
  if (std::find(over.begin(), over.end(), true) == over.end()) {
    return;
  }
  const auto settle_in = [&](Lanes& slot) {
    for (Mask left = named_apart_ && slot.any_poison() ? ~Mask{0} : Mask{1}; left != 0;
         left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint32_t number = flight_of(slot, lane);
      if (number != kNoIndex && over[number]) {
        const auto mark = static_cast<std::uint32_t>(slot.value[lane]);
        land(slot, mark, landed(flights_[number], mark & ((1U << kIndexBits) - 1)));
      }
    }
  };
  // A function may wait for what its callers have begun.
  for (Frame* frame = strand.frame.get(); frame != nullptr; frame = frame->caller.get()) {
    std::for_each(frame->slots.begin(), frame->slots.end(), settle_in);
  }
  for (std::size_t number = 0; number < flights_.size(); ++number) {
    if (over[number]) {
      flights_[number] = {};
    }
  }
  free_registers();
}

}  // namespace warptwin::ptx
