// Which tries are waits.

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "sim/ptx/machine/kernel.hpp"

namespace warptwin::ptx {

namespace {

/// A loop that has not come back after so many instructions is none.
constexpr std::uint32_t kLoopMax = 256;

/// Nothing is known of the warp: what the loop asks for stays unknown.
class NoSurroundings : public Surroundings {
 public:
  Lanes special(SpecialRegister) override { return Lanes::unknown(); }
  std::uint64_t address_of(const VariableUse&) override { return 0; }
  std::uint64_t address_of(const Function&) override { return 0; }
  const Function* function_at(std::uint64_t) override { return nullptr; }
};

/// What a warp says of itself, and nothing is told to it.
class Asked : public Surroundings {
 public:
  explicit Asked(Surroundings& warp) : warp_{warp} {}
  Lanes special(SpecialRegister special) override { return warp_.special(special); }
  std::uint64_t address_of(const VariableUse& use) override { return warp_.address_of(use); }
  std::uint64_t address_of(const Function& function) override { return warp_.address_of(function); }
  const Function* function_at(std::uint64_t address) override { return warp_.function_at(address); }

 private:
  Surroundings& warp_;
};

// Whether it goes on without the machine, or only sleeps.
bool acts_alone(const Op& op) {
  return op.is("nanosleep") || (op.form != nullptr && (op.form->group == Group::kScalar ||
                                                       op.form->group == Group::kControl));
}

/// From a load or a try that has this answer to the next instruction of the machine but nanosleep;
/// whether it comes there, without a call. `each` gets the instructions on its way.
template <class F>
bool told(const Program& program,
          Surroundings& surroundings,
          Strand& strand,
          const Stop& asked,
          std::uint32_t answer,
          F&& each) {
  const Frame* const frame = strand.frame.get();
  const Code& code = frame->routine->code;
  strand.write(asked, 0, 0, Lanes::all(answer));
  strand.complete(asked);
  for (std::uint32_t step = 0; step < kLoopMax && strand.pc < code.ops.size(); ++step) {
    const Op& next = code.ops[strand.pc];
    if (!acts_alone(next)) {
      return true;
    }
    each(next);
    const Stop stop = strand.run(program, surroundings, 1);
    if (stop.kind == Stop::Kind::kRequest && next.is("nanosleep")) {
      strand.complete(stop);
    } else if ((stop.kind != Stop::Kind::kSteps && stop.kind != Stop::Kind::kJoin) ||
               strand.frame.get() != frame) {
      return false;
    }
  }
  return false;
}

// A copy of the strand that goes its own way.
Strand apart(const Strand& strand) {
  Strand copy = strand;
  copy.frame = std::make_shared<Frame>(*strand.frame);
  copy.joins.clear();
  return copy;
}

// Slots of the registers that are needed from `op` on.
std::vector<std::uint32_t> needed_from(const Routine& routine, std::uint32_t op) {
  std::vector<std::uint32_t> needed;
  for (const std::uint32_t number : Liveness{routine.code, routine.flow}.live_before(op)) {
    needed.push_back(routine.slots[number]);
  }
  return needed;
}

// Whether both are at one instruction, and what is needed from there is the same.
bool same_place(const Strand& one, const Strand& other, const std::vector<std::uint32_t>& needed) {
  return one.pc == other.pc && std::all_of(needed.begin(), needed.end(), [&](std::uint32_t slot) {
           return one.frame->slots[slot] == other.frame->slots[slot];
         });
}

bool same_place(const Strand& one, const Strand& other) {
  return one.pc == other.pc && same_place(one, other, needed_from(*one.frame->routine, one.pc));
}

// Whether what the try asks for is the same: the mbarrier and the phase.
bool asks_alike(const Stop& one, const Stop& other) {
  return one.op == other.op && one.operands.size() > 2 && other.operands.size() > 2 &&
         one.operands[1].values == other.operands[1].values &&
         one.operands[2].values == other.operands[2].values;
}

}  // namespace

std::optional<WaitLoop> wait_loop(const Program& program,
                                  const Routine& routine,
                                  std::uint32_t op,
                                  const std::vector<std::uint32_t>& live) {
  const Code& code = routine.code;
  const auto arguments = code.arguments_of(code.ops[op]);
  if (code.ops[op].guarded() || arguments.empty() ||
      arguments[0].kind != Argument::Kind::kRegister) {
    return std::nullopt;
  }
  // All registers are unknown but the answer: a branch that depends on another one ends the way.
  Strand strand = Strand::begin(routine, 1);
  strand.pc = op;
  Stop tried;
  tried.op = op;
  tried.mask = 1;
  NoSurroundings surroundings;
  std::set<std::uint32_t> written;
  const bool comes = told(program, surroundings, strand, tried, 0, [&](const Op& next) {
    code.for_each_register(next, [&](std::uint32_t number, bool writes) {
      if (writes) {
        written.insert(number);
      }
    });
  });
  if (!comes || strand.pc != op) {
    return std::nullopt;
  }
  WaitLoop loop;
  for (const std::uint32_t number : live) {
    if (written.contains(number)) {
      if (routine.bits_of(number) > 64) {
        return std::nullopt;
      }
      loop.sets.push_back(routine.slots[number]);
    }
  }
  return loop;
}

bool comes_back(const Program& program,
                Surroundings& warp,
                const Strand& strand,
                const Stop& tried,
                const WaitLoop& loop) {
  if (loop.sets.empty()) {
    return true;
  }
  Strand copy = apart(strand);
  Asked surroundings{warp};
  return told(program, surroundings, copy, tried, 0, [](const Op&) {}) && copy.pc == tried.op &&
         std::all_of(loop.sets.begin(), loop.sets.end(), [&](std::uint32_t slot) {
           return copy.frame->slots[slot] == strand.frame->slots[slot];
         });
}

bool settles(const Program& program, Surroundings& warp, const Strand& strand, const Stop& tried) {
  constexpr std::uint32_t kRefusedMax = 64;
  Asked surroundings{warp};
  const auto ignore = [](const Op&) {};
  Strand left = apart(strand);
  if (!told(program, surroundings, left, tried, 1, ignore)) {
    return false;
  }
  const std::vector<std::uint32_t> needed_left = needed_from(*left.frame->routine, left.pc);
  const std::vector<std::uint32_t> needed = needed_from(*strand.frame->routine, tried.op);
  Strand now = apart(strand);
  for (std::uint32_t refused = 0; refused < kRefusedMax; ++refused) {
    Strand next = apart(now);
    if (!told(program, surroundings, next, tried, 0, ignore) || next.pc != tried.op) {
      return false;
    }
    if (same_place(next, now, needed)) {
      return true;
    }
    Strand asking = apart(next);
    Strand leaving = apart(next);
    if (!asks_alike(asking.run(program, surroundings, 1), tried) ||
        !told(program, surroundings, leaving, tried, 1, ignore) ||
        !same_place(leaving, left, needed_left)) {
      return false;
    }
    now = std::move(next);
  }
  return false;
}

bool may_return(const Routine& routine, std::uint32_t op) {
  const Code& code = routine.code;
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> from;
  const auto pass = [&](std::uint32_t at, const Block& block) {
    while (at < block.end && acts_alone(code.ops[at])) {
      ++at;
    }
    if (at == block.end) {
      from.insert(from.end(), block.successors.begin(), block.successors.end());
    }
    return at == op;
  };
  pass(op + 1, routine.flow.blocks[routine.flow.block_of[op]]);
  while (!from.empty()) {
    const std::uint32_t block = from.back();
    from.pop_back();
    if (seen.insert(block).second &&
        pass(routine.flow.blocks[block].begin, routine.flow.blocks[block])) {
      return true;
    }
  }
  return false;
}

namespace {

/// What a loop does with the word that it polls: the registers that hold it, and the one comparison
/// that reads them.
struct PollUse {
  sim::WordTest test{};
  bool compared = false;
  bool only_compared = true;
  std::set<std::uint32_t> holding;  // the word as it is compared
  std::set<std::uint32_t> before;   // as it was before a step of that
};

// The test of a word that a comparison with a number is; `reversed`: of the number with the word.
std::optional<sim::WordTest> test_of(const Modifiers& modifiers,
                                     bool reversed,
                                     std::uint32_t number) {
  using Kind = sim::WordTest::Kind;
  const auto is = [&](Modifier one, Modifier other) {
    return modifiers.has(one) || modifiers.has(other);
  };
  const bool signs = is_signed(modifiers.type());
  sim::WordTest test{Kind::kEqual, signs, number};
  if (modifiers.has("eq"_mod) || modifiers.has("ne"_mod)) {
    test.kind = modifiers.has("eq"_mod) ? Kind::kEqual : Kind::kNotEqual;
    return test;
  }
  const bool less = reversed ? is("gt"_mod, "hi"_mod) : is("lt"_mod, "lo"_mod);
  const bool least = reversed ? is("le"_mod, "ls"_mod) : is("ge"_mod, "hs"_mod);
  const bool most = reversed ? is("ge"_mod, "hs"_mod) : is("le"_mod, "ls"_mod);
  const bool more = reversed ? is("lt"_mod, "lo"_mod) : is("gt"_mod, "hi"_mod);
  test.kind = less || most ? Kind::kLess : Kind::kAtLeast;
  if (most || more) {
    // Against the next number, if there is one.
    test.with += 1;
    const std::uint32_t greatest = signs ? ~std::uint32_t{0} >> 1 : ~std::uint32_t{0};
    return number == greatest ? std::nullopt : std::optional{test};
  }
  return less || least ? std::optional{test} : std::nullopt;
}

// The number that an operand is in the first lane; none where nobody knows it.
std::optional<std::uint32_t> number_of(const Strand& strand, const Argument& argument, Mask mask) {
  if (argument.kind == Argument::Kind::kNumber) {
    return static_cast<std::uint32_t>(argument.value);
  }
  if (argument.kind != Argument::Kind::kRegister) {
    return std::nullopt;
  }
  const Lanes& lanes = strand.frame->slots[strand.frame->routine->slots[argument.index]];
  const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  return lanes.poison[first] != 0 ? std::nullopt
                                  : std::optional{static_cast<std::uint32_t>(lanes.value[first])};
}

// What the next instruction does with the word.
void note_use(const Strand& strand, const Op& next, Mask mask, PollUse& use) {
  const Code& code = strand.frame->routine->code;
  bool reads = false;
  bool reads_before = false;
  std::uint32_t written = kNoIndex;
  code.for_each_register(next, [&](std::uint32_t number, bool writes) {
    reads = reads || (!writes && use.holding.contains(number));
    reads_before = reads_before || (!writes && use.before.contains(number));
    written = writes ? number : written;
  });
  if (reads_before) {
    use.only_compared = false;
    return;
  }
  if (!reads) {
    if (!next.guarded()) {
      use.holding.erase(written);
      use.before.erase(written);
    }
    return;
  }
  const auto arguments = code.arguments_of(next);
  const Modifiers& modifiers = next.source->modifiers;
  const bool plain = !next.guarded() && arguments.size() == 3 && bits_of(modifiers.type()) == 32 &&
                     !is_float(modifiers.type());
  const auto holds = [&](const Argument& argument) {
    return argument.kind == Argument::Kind::kRegister && use.holding.contains(argument.index);
  };
  const bool second = plain && !holds(arguments[1]);
  const auto other = plain && holds(arguments[1]) != holds(arguments[2])
                         ? number_of(strand, arguments[second ? 1 : 2], mask)
                         : std::nullopt;
  const bool copies = next.is("mov") && !next.guarded() && arguments.size() == 2;
  const std::uint32_t number = other.value_or(0);
  const bool changes = next.is("and") || (next.is("xor") && (number & ~use.test.mask) == 0);
  const auto test = next.is("setp") ? test_of(modifiers, second, number) : std::nullopt;
  if (copies) {
    use.holding.insert(written);
  } else if (other && changes && !use.compared) {
    (next.is("xor") ? use.test.flip ^= number : use.test.mask &= number);
    use.before.merge(use.holding);
    use.before.erase(written);
    use.holding = {written};
  } else if (other && test && !use.compared) {
    use.compared = true;
    use.test.kind = test->kind;
    use.test.is_signed = test->is_signed;
    use.test.with = test->with;
  } else {
    use.only_compared = false;
  }
}

// From the load with this word to the next instruction of the machine but nanosleep; none where a
// branch depends on something else.
std::optional<Strand> run_on(const Program& program,
                             Surroundings& surroundings,
                             const Strand& strand,
                             const Stop& load,
                             std::uint32_t value,
                             PollUse& use) {
  Strand copy = apart(strand);
  const Code& code = copy.frame->routine->code;
  use.holding = {code.arguments_of(code.ops[load.op])[0].index};
  const auto note = [&](const Op& next) { note_use(copy, next, load.mask, use); };
  return told(program, surroundings, copy, load, value, note) ? std::optional{std::move(copy)}
                                                              : std::nullopt;
}

// Whether the strand, told this word, is back at the load, all else as it was.
bool returns(const Program& program,
             Surroundings& surroundings,
             const Strand& strand,
             const Stop& load,
             std::uint32_t value,
             PollUse& use) {
  const auto copy = run_on(program, surroundings, strand, load, value, use);
  return copy && same_place(*copy, strand);
}

// Whether two loads have the same words and the same address, as it is written.
bool loads_alike(const Code& code, std::uint32_t one, std::uint32_t other) {
  const Op& a = code.ops[one];
  const Op& b = code.ops[other];
  if (b.form != a.form || b.guarded() || a.guarded() ||
      a.source->modifiers.words != b.source->modifiers.words) {
    return false;
  }
  const Argument& x = code.arguments_of(a)[1];
  const Argument& y = code.arguments_of(b)[1];
  return x.value == y.value && code.parts_of(x)[0].kind == Argument::Kind::kRegister &&
         code.parts_of(y)[0].kind == Argument::Kind::kRegister &&
         code.parts_of(x)[0].index == code.parts_of(y)[0].index;
}

// A word of which the test holds, or does not; none where there is no such word among a few.
std::optional<std::uint32_t> word_of(const sim::WordTest& test, bool holds) {
  constexpr std::uint32_t kSome[] = {0, ~0U, 1U << 31, ~0U >> 1};
  for (const std::uint32_t value :
       {test.with, test.with + 1, test.with - 1, kSome[0], kSome[1], kSome[2], kSome[3]}) {
    if (const std::uint32_t word = value ^ test.flip; test.holds(word) == holds) {
      return word;
    }
  }
  return std::nullopt;
}

// The loop reads the word in one comparison alone: a word of which it holds does as any other of
// which it holds.
std::optional<sim::WordTest> polled_in_loop(const Program& program,
                                            Surroundings& surroundings,
                                            const Strand& strand,
                                            const Stop& load) {
  using Kind = sim::WordTest::Kind;
  PollUse found;
  returns(program, surroundings, strand, load, 0, found);
  if (!found.compared) {
    return std::nullopt;
  }
  sim::WordTest test = found.test;
  for (const bool inverted : {false, true}) {
    if (inverted) {
      constexpr Kind kInverse[] = {Kind::kNotEqual, Kind::kEqual, Kind::kAtLeast, Kind::kLess};
      test.kind = kInverse[static_cast<unsigned>(test.kind)];
    }
    const auto ends = word_of(test, true);
    const auto stays = word_of(test, false);
    PollUse leaving;
    PollUse staying;
    if (ends && stays && !returns(program, surroundings, strand, load, *ends, leaving) &&
        returns(program, surroundings, strand, load, *stays, staying) && staying.only_compared &&
        staying.compared) {
      return test;
    }
  }
  return std::nullopt;
}

// The first look of a loop that a compiler has put in front of it: told no it comes to the load of
// the loop, told yes it comes to where the loop ends, with the same registers.
std::optional<sim::WordTest> polled_ahead(const Program& program,
                                          Surroundings& surroundings,
                                          const Strand& strand,
                                          const Stop& load) {
  const Code& code = strand.frame->routine->code;
  for (const std::uint32_t some : {0U, 1U}) {
    PollUse unused;
    std::optional<Strand> inside = run_on(program, surroundings, strand, load, some, unused);
    if (!inside || inside->pc == load.op || !loads_alike(code, load.op, inside->pc)) {
      continue;
    }
    Strand looking = *inside;
    const Stop again = looking.run(program, surroundings, 1);
    const auto test = again.kind == Stop::Kind::kRequest
                          ? polled_in_loop(program, surroundings, *inside, again)
                          : std::optional<sim::WordTest>{};
    const auto ends = test ? word_of(*test, true) : std::nullopt;
    const auto stays = test ? word_of(*test, false) : std::nullopt;
    if (!ends || !stays) {
      return std::nullopt;
    }
    PollUse told_no;
    PollUse told_yes;
    PollUse leaving;
    const auto stayed = run_on(program, surroundings, strand, load, *stays, told_no);
    const auto left = run_on(program, surroundings, strand, load, *ends, told_yes);
    const auto left_loop = run_on(program, surroundings, *inside, again, *ends, leaving);
    const auto alike = [&](const PollUse& use) {
      return use.compared && use.only_compared && use.test.with == test->with &&
             use.test.mask == test->mask && use.test.flip == test->flip &&
             use.test.is_signed == test->is_signed;
    };
    const bool waits = stayed && left && left_loop && stayed->pc == inside->pc &&
                       same_place(*left, *left_loop) && alike(told_no) && alike(told_yes);
    return waits ? test : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<sim::WordTest> polled(const Program& program,
                                    Surroundings& warp,
                                    const Strand& strand,
                                    const Stop& load) {
  Asked surroundings{warp};
  const auto found = polled_in_loop(program, surroundings, strand, load);
  return found ? found : polled_ahead(program, surroundings, strand, load);
}

}  // namespace warptwin::ptx
