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

// Of an atomic that adds, or takes away, a number that is known.
std::optional<WarpRun::CountQuestion> WarpRun::count_question(const Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const bool increments = modifiers.has("inc"_mod);
  const bool counts = increments || (modifiers.has("add"_mod) && !is_float(modifiers.type()));
  if (!counts || bytes_of(modifiers.type()) != 4 || by_data(request, 1, request.mask())) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> asked = asked_number(request);
  const auto operand = static_cast<std::uint32_t>(known(request, 2, request.mask()));
  // atom.inc begins anew behind its operand.
  if (!asked || (increments && operand <= *asked)) {
    return std::nullopt;
  }
  CountQuestion question;
  question.asked = *asked;
  question.step = increments ? 1 : operand;
  question.down = static_cast<std::int32_t>(question.step) < 0;
  question.step = question.down ? 0 - question.step : question.step;
  question.site = kernel_.site_of(*request.strand.frame->routine, request.stop.op);
  if (question.down ? question.total() > *asked : question.total() < *asked) {
    return std::nullopt;
  }
  return question;
}

// None of another atomic: of several lanes, of data, of a word that is used in another way, too.
std::optional<Served> WarpRun::ask_whether_last(Request& request,
                                                Wanted wanted,
                                                const std::array<Place, kLanes>& places) {
  sim::LastAdders* all = machine_.last_adders();
  if (all == nullptr || wanted != Wanted::kOneNumber || !std::has_single_bit(request.mask())) {
    return std::nullopt;
  }
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  const Place& place = places[lane];
  const bool global = place.space == Space::kGlobal;
  if (!global && (place.space != Space::kShared || place.rank != machine_.cta_rank())) {
    return std::nullopt;
  }
  const std::uint64_t first = machine_.number() - machine_.warp_index();  // warp of its CTA
  const std::uint64_t beside = sim::kCountOfShared | first << 24 | place.address;
  const sim::Adder self{machine_.number(), lane};
  const std::uint64_t asks = global ? place.address : beside;
  if (all->waits_for_others(asks, self) != nullptr) {
    return wait_as_last(request, asks, self);
  }
  if (global && tracked(place.address)) {
    return std::nullopt;
  }
  std::optional<CountQuestion> question = count_question(request);
  if (!question) {
    return std::nullopt;
  }
  if (global && question->down) {
    return std::nullopt;
  }
  question->address = asks;
  question->adder = self;
  if (!all->asks(*question)) {
    return std::nullopt;
  }
  const std::uint32_t found = global ? add_to_global(request, places, *question)
                                     : add_to_shared(request, places, *question);
  if (!global) {
    sim::Operation op = make(warptwin::Op::kGlobalRedAdd, request, request.mask());
    op.as<sim::operands::GlobalWord>().address = beside;
    op.as<sim::operands::GlobalWord>().value = question->step;
    set_order(request.modifiers, op);
    perform(op, request.modifiers.has("release"_mod) || request.modifiers.has("acq_rel"_mod));
  }
  if (all->is_last(*question, found)) {
    return wait_as_last(request, question->address, self);
  }
  request.strand.write(request.stop, 0, 0, Lanes::all(question->asked - question->step));
  return Served::kDone;
}

// What it finds.
std::uint32_t WarpRun::add_to_global(const Request& request,
                                     const std::array<Place, kLanes>& places,
                                     const CountQuestion& question) {
  const Modifiers& modifiers = request.modifiers;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  const std::uint64_t operand = known(request, 2, request.mask());
  require_contents(request, places[lane].address);
  touch_words(request, request.mask(), places, Touch::kStrongStore);
  sim::AtomicUpdate update{4};
  update.update = [&](const sim::AtomicWord& old) {
    machine_.last_adders()->finds(question, static_cast<std::uint32_t>(old[0]));
    return updated(modifiers, false, old, {operand}, {});
  };
  sim::Operation op = make(warptwin::Op::kGlobalRedAdd, request, request.mask());
  auto& word = op.as<sim::operands::GlobalWord>();
  word.address = places[lane].address;
  word.value = question.step;
  word.update = &update;
  set_order(modifiers, op);
  perform(op, modifiers.has("release"_mod) || modifiers.has("acq_rel"_mod));
  if (!update.known) {
    refuse_unknown(request.strand, request.stop.op, "it asks a word of data who is the last");
  }
  if (modifiers.has("inc"_mod) && update.before[0] >= operand) {
    machine_.last_adders()->update(question.address, question.adder);  // it begins anew here
  }
  return static_cast<std::uint32_t>(update.before[0]);
}

std::uint32_t WarpRun::add_to_shared(const Request& request,
                                     const std::array<Place, kLanes>& places,
                                     const CountQuestion& question) {
  const Modifiers& modifiers = request.modifiers;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  const std::uint64_t operand = known(request, 2, request.mask());
  touch_words(request, request.mask(), places, Touch::kStrongStore);
  sim::AtomicUpdate access{4};
  access.mask = request.mask();
  access.address[lane] = places[lane].address;
  access.kind = sim::AccessKind::kAsked;
  access.update = [&](const sim::AtomicWord& old) {
    machine_.last_adders()->finds(question, static_cast<std::uint32_t>(old[0]));
    return updated(modifiers, false, old, {operand}, {});
  };
  sim::Operation op = make(warptwin::Op::kSharedStore, request, request.mask());
  op.ordering.scope = scope_of(modifiers, warptwin::Scope::kGpu);
  op.set<sim::operands::LaneBytes>() = {&access, places[lane].rank, 0};
  perform(op);
  if (!access.known) {
    refuse_unknown(request.strand, request.stop.op, "what is counted nobody has written");
  }
  return static_cast<std::uint32_t>(access.before[0]);
}

// Behind its addition the last one waits for the sum, as a poll waits.
Served WarpRun::wait_as_last(Request& request, std::uint64_t address, sim::Adder self) {
  const bool others = others_can_go();
  if (others && !resuming_) {
    return Served::kAgain;
  }
  const Modifiers& modifiers = request.modifiers;
  const sim::AddedWord& added = *machine_.last_adders()->waits_for_others(address, self);
  const std::uint32_t sum = sim::is_count(address) ? added.span.value_or(0) : added.total;
  const sim::WordTest test{sim::WordTest::Kind::kAtLeast, false, sum};
  sim::Operation op = make(warptwin::Op::kGlobalWait, request, request.mask());
  auto& word = op.as<sim::operands::GlobalWord>();
  word.address = address;
  word.value = test.with;
  word.test = test.code();
  word.test_operands = test.operands();
  op.flags |= others ? event_flag::kPeek : std::uint32_t{0};
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
