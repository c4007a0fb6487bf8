// Atomics by which a thread asks whether it was the last to add: see sim/model/last_adders.hpp.

#include "sim/model/last_adders.hpp"

#include <bit>

#include "sim/model/atomic_update.hpp"
#include "sim/ptx/machine/rehearsal.hpp"

namespace warptwin::ptx {

// What the lane compares the word with that it finds, where it does nothing before that anybody
// could notice.
std::optional<std::uint32_t> WarpRun::asked_number(const Request& request) {
  using Kind = sim::WordTest::Kind;
  Looking about{&request.op, {request.mask()}, Look::kAtomic};
  static_cast<void>(Rehearsal{*this, about, request.strand, request.stop}.told(0));
  const bool whole = about.test && !about.fails && about.test->flip == 0 && ~about.test->mask == 0;
  const bool equality =
      whole && (about.test->kind == Kind::kEqual || about.test->kind == Kind::kNotEqual);
  return equality ? std::optional{about.test->with} : std::nullopt;
}

// None of another atomic: of several lanes, of data, of a word that is used in another way, too.
std::optional<Served> WarpRun::ask_whether_last(Request& request,
                                                Wanted wanted,
                                                const std::array<Place, kLanes>& places) {
  const Modifiers& modifiers = request.modifiers;
  sim::LastAdders* all = machine_.last_adders();
  const bool increments = modifiers.has("inc"_mod);
  const bool counts = increments || (modifiers.has("add"_mod) && !is_float(modifiers.type()));
  if (all == nullptr || wanted != Wanted::kOneNumber || !counts ||
      bytes_of(modifiers.type()) != 4 || !std::has_single_bit(request.mask())) {
    return std::nullopt;
  }
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  const std::uint64_t address = places[lane].address;
  const sim::Adder self{machine_.number(), lane};
  if (const sim::AddedWord* word = all->waits_for_others(address, self)) {
    return wait_as_last(request, address, word->asked + word->step);
  }
  if (places[lane].space != Space::kGlobal || by_data(request, 1, request.mask()) ||
      tracked(address)) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> asked = asked_number(request);
  const auto operand = static_cast<std::uint32_t>(known(request, 2, request.mask()));
  const std::uint32_t step = increments ? 1 : operand;
  // atom.inc begins anew behind its operand.
  if (!asked || *asked + step < *asked || (increments && operand <= *asked) ||
      !all->asks(address,
                 self,
                 *asked,
                 step,
                 kernel_.site_of(*request.strand.frame->routine, request.stop.op))) {
    return std::nullopt;
  }
  require_contents(request, address);
  touch_words(request, request.mask(), places, Touch::kStrongStore);
  sim::AtomicUpdate update{4};
  update.update = [step](std::uint64_t old) { return (old + step) & ~std::uint32_t{0}; };
  sim::Operation op = make(warptwin::Op::kGlobalRedAdd, request, request.mask());
  auto& word = op.as<sim::operands::GlobalWord>();
  word.address = address;
  word.value = step;
  word.update = &update;
  set_order(modifiers, op);
  perform(op, modifiers.has("release"_mod) || modifiers.has("acq_rel"_mod));
  if (!update.known) {
    refuse_unknown(request.strand, request.stop.op, "it asks a word of data who is the last");
  }
  if (increments && update.before >= operand) {
    all->update(address, self);  // it begins anew here
  }
  if (all->is_last(address, self, static_cast<std::uint32_t>(update.before))) {
    return wait_as_last(request, address, *asked + step);
  }
  request.strand.write(request.stop, 0, 0, Lanes::all(*asked - step));
  return Served::kDone;
}

// Behind its addition the last one waits for the sum, as a poll waits.
Served WarpRun::wait_as_last(Request& request, std::uint64_t address, std::uint32_t sum) {
  const bool others = others_can_go();
  if (others && !resuming_) {
    return Served::kAgain;
  }
  const Modifiers& modifiers = request.modifiers;
  const sim::WordTest test{sim::WordTest::Kind::kAtLeast, false, sum};
  sim::Operation op = make(warptwin::Op::kGlobalWait, request, request.mask());
  auto& word = op.as<sim::operands::GlobalWord>();
  word.address = address;
  word.value = test.with;
  word.test = test.code();
  word.test_operands = test.operands();
  op.flags |= others ? event_flag::kPeek : std::uint16_t{0};
  set_order(modifiers, op);
  perform(op, modifiers.has("acquire"_mod) || modifiers.has("acq_rel"_mod));
  if (!test.holds(op.result)) {
    return Served::kAgain;
  }
  const std::uint32_t found = machine_.last_adders()->go_on(address);
  request.strand.write(request.stop, 0, 0, Lanes::all(found));
  return Served::kDone;
}

}  // namespace warptwin::ptx
