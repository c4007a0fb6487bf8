#include "sim/ptx/machine/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kRehearsedMax = 2048;  // of all strands, until it looks again
constexpr std::size_t kWaysMax = 16;

Mask only(std::uint32_t lane) {
  return Mask{1} << lane;
}

template <class F>
void for_lanes(Mask mask, F&& f) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((mask & only(lane)) != 0) {
      f(lane);
    }
  }
}

bool is_one_of(const Op& op, std::span<const std::string_view> names) {
  return std::any_of(
      names.begin(), names.end(), [&](std::string_view name) { return op.is(name); });
}

// They change nothing but registers.
bool is_plain(const Op& op) {
  constexpr std::string_view kNames[] = {"cvta",
                                         "isspacep",
                                         "mapa",
                                         "getctarank",
                                         "createpolicy.fractional",
                                         "createpolicy.range",
                                         "createpolicy.cvt"};
  return is_one_of(op, kNames);
}

bool is_exchange(const Op& op) {
  constexpr std::string_view kNames[] = {
      "vote.sync", "shfl.sync", "match.sync", "redux.sync", "elect.sync"};
  return is_one_of(op, kNames);
}

}  // namespace

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

// --- Copies ------------------------------------------------------------------------------------

Rehearsal::Rehearsal(WarpRun& warp, Looking& about, const Strand& looking, const Stop& stop)
    : warp_{&warp},
      about_{&about},
      unripe_{warp.ready_},
      gathering_{warp.gathering_},
      waiting_{warp.waiting_},
      looking_{looking},
      stop_{stop},
      local_{warp.local_},
      local_poison_{warp.local_poison_} {
  unripe_.insert(unripe_.end(), warp.joining_.begin(), warp.joining_.end());
  own_frames();
}

// Strands that shared registers share their copies.
void Rehearsal::own_frames() {
  std::unordered_map<const Frame*, std::shared_ptr<Frame>> copies;
  const auto own = [&](std::shared_ptr<Frame>& frame) {
    for (std::shared_ptr<Frame>* at = &frame; *at != nullptr; at = &(*at)->caller) {
      std::shared_ptr<Frame>& copy = copies[at->get()];
      if (copy != nullptr) {
        *at = copy;  // with its callers
        break;
      }
      copy = std::make_shared<Frame>(**at);
      *at = copy;
    }
  };
  const auto take = [&](Strand& strand) {
    own(strand.frame);
    for (Strand::Join& join : strand.joins) {
      const auto found = copies.find(join.frame);
      join.frame = found != copies.end() ? found->second.get() : join.frame;
    }
  };
  take(looking_);
  for (std::vector<Strand>* some : {&unripe_, &ready_, &joining_}) {
    std::for_each(some->begin(), some->end(), take);
  }
  for (std::vector<WarpRun::Waiter>* some : {&gathering_, &waiting_}) {
    std::for_each(some->begin(), some->end(), [&](auto& waiter) { take(waiter.strand); });
  }
}

std::vector<const Strand*> Rehearsal::strands() const {
  std::vector<const Strand*> all{&looking_};
  for (const std::vector<Strand>* some : {&unripe_, &ready_, &joining_}) {
    for (const Strand& strand : *some) {
      all.push_back(&strand);
    }
  }
  for (const std::vector<WarpRun::Waiter>* some : {&gathering_, &waiting_}) {
    for (const WarpRun::Waiter& waiter : *some) {
      all.push_back(&waiter.strand);
    }
  }
  std::sort(all.begin() + 1, all.end(), [](const Strand* one, const Strand* another) {
    return std::countr_zero(one->mask) < std::countr_zero(another->mask);
  });
  return all;
}

// --- The word ----------------------------------------------------------------------------------

// Nobody knows it; its bits say which one it is.
Lanes Rehearsal::word(const LookedAt& held) const {
  auto& words = about_->words;
  const auto found = std::find(words.begin(), words.end(), held);
  const auto number = static_cast<std::uint32_t>(found - words.begin());
  if (found == words.end()) {
    words.push_back(held);
  }
  Lanes lanes = Lanes::all(((number + 1) * 0x9E3779B1U ^ 0x5BD1E995U));
  lanes.poison.fill(poison_bits(32));
  return lanes;
}

const LookedAt* Rehearsal::held_in(const Lanes& lanes, std::uint32_t lane) const {
  if (lanes.poison[lane] != poison_bits(32)) {
    return nullptr;
  }
  for (const LookedAt& held : about_->words) {
    if (word(held).value[0] == lanes.value[lane]) {
      return &held;
    }
  }
  return nullptr;
}

/// An instruction that compares the word with a number, or combines it with one.
struct Rehearsal::Use {
  std::array<std::optional<LookedAt>, kLanes> held{};  // by lanes that execute it
  std::uint32_t target = 0;                            // slot
  std::optional<sim::WordTest> test{};                 // of a comparison
  std::uint32_t flip = 0;
  std::uint32_t mask = ~std::uint32_t{0};
  std::uint32_t plus = 0;
};

std::optional<Rehearsal::Use> Rehearsal::use_of(const Strand& strand) const {
  const Routine& routine = *strand.frame->routine;
  const Code& code = routine.code;
  if (strand.pc >= code.ops.size()) {
    return std::nullopt;
  }
  const Op& op = code.ops[strand.pc];
  const bool compares = op.is("setp");
  const bool flips = op.is("xor");
  const bool adds = op.is("add");
  const auto arguments = code.arguments_of(op);
  const bool plain = (compares || flips || adds || op.is("and")) && !op.guarded() &&
                     arguments.size() == 3 && arguments[0].kind == Argument::Kind::kRegister &&
                     bits_of(op.source->modifiers.type()) == 32 &&
                     !is_float(op.source->modifiers.type());
  if (!plain) {
    return std::nullopt;
  }
  const auto lanes_of = [&](const Argument& argument) -> std::optional<Lanes> {
    if (argument.kind == Argument::Kind::kNumber) {
      return Lanes::all(argument.value);
    }
    return argument.kind == Argument::Kind::kRegister && !argument.negated
               ? std::optional{strand.frame->slots[routine.slots[argument.index]]}
               : std::nullopt;
  };
  const std::optional<Lanes> sides[] = {lanes_of(arguments[1]), lanes_of(arguments[2])};
  if (!sides[0] || !sides[1]) {
    return std::nullopt;
  }
  Use use;
  use.target = routine.slots[arguments[0].index];
  std::optional<std::uint32_t> number;
  std::optional<bool> reversed;
  bool one = true;
  for_lanes(strand.mask, [&](std::uint32_t lane) {
    for (const bool second : {false, true}) {
      const LookedAt* held = held_in(*sides[second ? 1 : 0], lane);
      if (held == nullptr) {
        continue;
      }
      const Lanes& other = *sides[second ? 0 : 1];
      const auto with = static_cast<std::uint32_t>(other.value[lane]);
      one = one && other.poison[lane] == 0 && number.value_or(with) == with &&
            reversed.value_or(second) == second;
      use.held[lane] = *held;
      number = with;
      reversed = second;
    }
  });
  if (!number || !one) {
    return std::nullopt;
  }
  if (compares) {
    use.test = test_of(op.source->modifiers, *reversed, *number);
    return use.test ? std::optional{use} : std::nullopt;
  }
  (adds ? use.plus : flips ? use.flip : use.mask) = *number;
  return use;
}

void Rehearsal::note_use(Strand& strand, const Use& use) {
  Lanes& target = strand.frame->slots[use.target];
  for_lanes(strand.mask, [&](std::uint32_t lane) {
    if (!use.held[lane]) {
      return;
    }
    LookedAt held = *use.held[lane];
    if (!use.test) {
      const bool adds = use.plus != 0;
      const bool whole = held.flip == 0 && ~held.mask == 0;
      if (adds ? whole : held.plus == 0 && (use.flip & ~held.mask) == 0) {
        held.plus += use.plus;
        held.mask &= use.mask;
        held.flip = (held.flip ^ use.flip) & held.mask;
        const Lanes now = word(held);
        target.value[lane] = now.value[lane];
        target.poison[lane] = now.poison[lane];
      }
      return;
    }
    sim::WordTest test = *use.test;
    const bool equality =
        test.kind == sim::WordTest::Kind::kEqual || test.kind == sim::WordTest::Kind::kNotEqual;
    if (held.plus != 0 && !equality) {
      return;
    }
    test.with -= held.plus;
    test.flip = held.flip;
    test.mask = held.mask;
    if (!about_->test) {
      about_->test = test;
    }
    const bool inverse = test == about_->test->inverse();
    about_->fails = about_->fails || !(inverse || test == *about_->test);
    target.value[lane] = (held.yes != about_->inverted) != inverse ? 1 : 0;
    target.poison[lane] = 0;
  });
}

// --- Going on ----------------------------------------------------------------------------------

std::vector<Rehearsal> Rehearsal::told(Mask yes) const {
  std::vector<Rehearsal> open{*this};
  Rehearsal& first = open.front();
  first.own_frames();
  first.passes_ = (stop_.mask & ~yes) == 0;
  first.parted_unknown_ = first.arrived_ = first.fenced_ = false;
  first.exchanges_.clear();
  first.steps_ = 0;
  Lanes answer;
  for_lanes(stop_.mask, [&](std::uint32_t lane) {
    const bool passes = (yes & only(lane)) != 0;
    const Lanes brought = about_->look == Look::kTry ? Lanes::all(passes ? 1 : 0) : word({passes});
    answer.value[lane] = brought.value[lane];
    answer.poison[lane] = brought.poison[lane];
  });
  first.looking_.write(stop_, 0, 0, answer);
  first.looking_.complete(stop_);
  first.ready_.push_back(first.looking_);
  std::vector<Rehearsal> ways;
  while (!open.empty()) {
    Rehearsal next = std::move(open.back());
    open.pop_back();
    next.go_on(open);
    ways.push_back(std::move(next));
    if (ways.size() + open.size() > kWaysMax) {
      return {};
    }
  }
  return ways;
}

void Rehearsal::go_on(std::vector<Rehearsal>& others) {
  end_ = End::kLooks;
  while (end_ == End::kLooks) {
    if (!ready_.empty()) {
      Strand strand = std::move(ready_.back());
      ready_.pop_back();
      step(std::move(strand), others);
    } else if (!joining_.empty() && unripe_.empty()) {
      const auto next = std::max_element(joining_.begin(), joining_.end(), [](auto& a, auto& b) {
        return a.joins.size() < b.joins.size();
      });
      ready_.push_back(std::move(*next));
      joining_.erase(next);
    } else if (arrived_ && joining_.empty()) {
      return;
    } else if (!unripe_.empty() || !gather()) {
      end_ = unripe_.empty() ? End::kStuck : End::kUnclear;
    }
  }
}

void Rehearsal::step(Strand strand, std::vector<Rehearsal>& others) {
  if (++steps_ > kRehearsedMax) {
    end_ = End::kStuck;
    return;
  }
  const std::optional<Use> use = use_of(strand);
  OfCopy surroundings{*warp_, local_, local_poison_};
  Stop stop = strand.run(warp_->kernel_.program(), surroundings, 1);
  if (use && stop.instructions == 1) {
    note_use(strand, *use);
  }
  switch (stop.kind) {
    case Stop::Kind::kSteps:
      ready_.push_back(std::move(strand));
      return;
    case Stop::Kind::kParted:
      for (Strand& other : stop.others) {
        ready_.push_back(std::move(other));
      }
      ready_.push_back(std::move(strand));
      return;
    case Stop::Kind::kJoin:
      for (Strand& other : joining_) {
        if (other.merge(strand)) {
          return;
        }
      }
      joining_.push_back(std::move(strand));
      return;
    case Stop::Kind::kRequest:
      serve(std::move(strand), std::move(stop));
      return;
    case Stop::Kind::kPoison:
      break;
    default:
      strand.mask |= stop.mask;
      arrive(std::move(strand), stop, End::kElsewhere);
      return;
  }
  const Code& code = strand.frame->routine->code;
  const Op& op = code.ops[stop.op];
  if (!op.is("bra") || arrived_) {
    arrive(std::move(strand), stop, End::kElsewhere);
    return;
  }
  parted_unknown_ = parted_unknown_ || !std::has_single_bit(strand.mask);
  strand.pc = stop.op + 1;
  ready_.push_back(std::move(strand));
  Rehearsal& other = others.emplace_back(*this);
  other.own_frames();
  other.ready_.back().pc = code.arguments_of(op)[0].index;
}

// Somewhere: the rest of the warp stays where it is.
void Rehearsal::arrive(Strand strand, const Stop& stop, End end) {
  if (arrived_) {
    end_ = End::kStuck;  // a second strand: nobody knows which of the two comes first
    return;
  }
  strand.pc = stop.op;
  looking_ = std::move(strand);
  stop_ = stop;
  arrived_ = true;
  end_ = end;
}

void Rehearsal::serve(Strand strand, Stop stop) {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  const bool known = stop.unknown_guard == 0;
  // What is done between two looks, the last of which says no, orders nothing that a look alone
  // would not.
  const bool fences = known && (op.is("fence") || op.is("membar"));
  if (fences && passes_) {
    pass_fence(std::move(strand), stop);
    return;
  }
  if (op.is("nanosleep") || fences) {
    strand.complete(stop);
    ready_.push_back(std::move(strand));
    return;
  }
  if (known && is_look(strand, stop)) {
    arrive(std::move(strand), stop, End::kLooks);
    return;
  }
  if (known && (is_plain(op) || is_private(strand, stop))) {
    call(strand, stop);
    ready_.push_back(std::move(strand));
    return;
  }
  const bool meets = is_exchange(op) || (!passes_ && op.is("bar.warp.sync"));
  if (!known || !meets || warp_->members_alike(strand, stop) != stop.mask) {
    arrive(std::move(strand), stop, End::kElsewhere);
    return;
  }
  if (stop.mask != strand.mask) {  // those that the guard passes by go on
    Strand others = strand;
    others.mask = strand.mask & ~stop.mask;
    others.pc = stop.op + 1;
    ready_.push_back(std::move(others));
    strand.mask = stop.mask;
  }
  if ((warp_->needed_by(strand, stop) & ~stop.mask) != 0) {
    gathering_.push_back({std::move(strand), std::move(stop)});
    return;
  }
  call(strand, stop);
  ready_.push_back(std::move(strand));
}

// A fence behind a look that said yes belongs to the next look, if there is one.
void Rehearsal::pass_fence(Strand strand, const Stop& stop) {
  Rehearsal ahead{*this};
  ahead.ready_.push_back(strand);
  ahead.own_frames();
  ahead.ready_.back().complete(stop);
  ahead.passes_ = false;
  std::vector<Rehearsal> others;
  ahead.go_on(others);
  const bool looks = others.empty() && ahead.end_ == End::kLooks;
  if (looks && !about_->behind.contains(ahead.state())) {
    *this = std::move(ahead);
    fenced_ = true;
  } else {
    arrive(std::move(strand), stop, End::kElsewhere);
  }
}

// Lanes that have come to one instruction between lanes execute it. Says whether some did.
bool Rehearsal::gather() {
  for (std::size_t first = 0; first < gathering_.size(); ++first) {
    const WarpRun::Waiter& one = gathering_[first];
    const Op& op = one.strand.frame->routine->code.ops[one.stop.op];
    if (!is_exchange(op) && !op.is("bar.warp.sync")) {
      continue;
    }
    const Mask needed = warp_->needed_by(one.strand, one.stop);
    const auto alike = [&](const WarpRun::Waiter& other) {
      return other.strand.frame == one.strand.frame && other.stop.op == one.stop.op &&
             warp_->needed_by(other.strand, other.stop) == needed;
    };
    Mask there = 0;
    for (const WarpRun::Waiter& other : gathering_) {
      there |= alike(other) ? other.stop.mask : 0;
    }
    if ((needed & ~there) != 0) {
      continue;
    }
    WarpRun::Waiter whole = one;
    whole.strand.mask = 0;
    for (const WarpRun::Waiter& other : gathering_) {
      if (alike(other)) {
        WarpRun::join_stops(whole.stop, other.stop);
        whole.strand.mask == 0 ? void(whole.strand = other.strand)
                               : void(whole.strand.merge(other.strand));
      }
    }
    std::erase_if(gathering_, [&](const WarpRun::Waiter& other) {
      return (other.stop.mask & ~whole.stop.mask) == 0 && other.stop.op == whole.stop.op;
    });
    call(whole.strand, whole.stop);
    ready_.push_back(std::move(whole.strand));
    return true;
  }
  return false;
}

bool Rehearsal::is_look(const Strand& strand, const Stop& stop) const {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  const auto* asks = &about_->asks;
  return op.form == about_->op->form &&
         op.source->modifiers.words == about_->op->source->modifiers.words &&
         WarpRun::asked_by(strand, stop, about_->look) == *asks;
}

// Loads and stores of what nobody else sees.
bool Rehearsal::is_private(Strand& strand, Stop& stop) const {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  const bool loads = op.is("ld");
  if (!loads && !op.is("st")) {
    return false;
  }
  const Request request{strand, stop, op, op.source->modifiers};
  const auto places = warp_->places_of(request, loads ? 1 : 0);
  bool own = true;
  for_lanes(stop.mask, [&](std::uint32_t lane) {
    const Space space = places[lane].space;
    own = own && (space == Space::kLocal || (loads && space == Space::kParam));
  });
  return own;
}

// The warp itself executes it, on registers and local memory of the copy.
void Rehearsal::call(Strand& strand, Stop& stop) {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  if (is_exchange(op)) {
    exchanges_.push_back(&op);
  }
  if (!op.is("bar.warp.sync")) {
    Request request{strand, stop, op, op.source->modifiers};
    const auto exchange = [this] {
      std::swap(warp_->local_, local_);
      std::swap(warp_->local_poison_, local_poison_);
    };
    exchange();
    try {
      if (op.is("ld")) {
        warp_->load(request);
      } else if (op.is("st")) {
        warp_->store(request);
      } else {
        (warp_->*WarpRun::handler_of(op)->handler)(request);
      }
    } catch (...) {
      exchange();
      throw;
    }
    exchange();
  }
  strand.complete(stop);
}

// --- Comparing ---------------------------------------------------------------------------------

std::vector<std::uint64_t> Rehearsal::state() const {
  std::vector<std::uint64_t> state{static_cast<std::uint64_t>(end_)};
  const auto add_bytes = [&](const std::vector<std::uint8_t>& bytes) {
    state.push_back(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &bytes[at], std::min<std::size_t>(8, bytes.size() - at));
      state.push_back(word);
    }
  };
  for (const Strand* strand : strands()) {
    std::uint32_t pc = strand->pc;
    state.push_back(std::uint64_t{pc} << 32 | strand->mask);
    for (const Frame* frame = strand->frame.get(); frame != nullptr; frame = frame->caller.get()) {
      state.push_back(reinterpret_cast<std::uintptr_t>(frame->routine));
      state.push_back(std::uint64_t{pc} << 32 | (frame->carry & strand->mask));
      state.push_back(frame->carry_poison & strand->mask);
      for (const std::uint32_t slot : warp_->needed_at(*frame->routine, pc)) {
        for_lanes(strand->mask, [&](std::uint32_t lane) {
          const Lanes& lanes = frame->slots[slot];
          // What nobody knows is one thing, whatever stands for it.
          const bool known = lanes.poison[lane] == 0 || held_in(lanes, lane) != nullptr;
          state.push_back(known ? lanes.value[lane] : 0);
          state.push_back(lanes.poison[lane]);
        });
      }
      std::uint64_t parameters = 0;
      for (const auto& [variable, bytes] : frame->parameters) {
        std::uint64_t one = reinterpret_cast<std::uintptr_t>(variable);
        for (std::size_t at = 0; at < bytes.bytes.size(); ++at) {
          one =
              (one ^ bytes.bytes[at] ^ std::uint64_t{bytes.poison[at]} << 8) * 0x9E3779B97F4A7C15U;
          one ^= one >> 29;
        }
        parameters += one;
      }
      state.push_back(parameters);
      pc = frame->call + 1;
    }
  }
  add_bytes(local_);
  add_bytes(local_poison_);
  return state;
}

// The frame of the start that the lane was in, as deep as this one.
const Frame* Rehearsal::frame_of(std::uint32_t lane, const Frame& like) const {
  for (const Strand* strand : strands()) {
    if ((strand->mask & only(lane)) != 0) {
      const Frame* frame = strand->frame.get();
      while (frame != nullptr && frame->depth != like.depth) {
        frame = frame->caller.get();
      }
      return frame != nullptr && frame->routine == like.routine ? frame : nullptr;
    }
  }
  return nullptr;
}

// The same of bytes [begin, end), four of which may be the word that passed. `before`, if there is
// one, is what they were.
bool Rehearsal::bytes_settled(Span now,
                              const Span* before,
                              std::size_t begin,
                              std::size_t end) const {
  for (std::size_t at = begin; at < end; ++at) {
    const std::uint8_t was = before != nullptr ? before->bytes[at] : std::uint8_t{0};
    const std::uint8_t was_unknown = before != nullptr ? before->poison[at] : std::uint8_t{1};
    if (now.poison[at] == 0 || (now.bytes[at] == was && now.poison[at] == was_unknown)) {
      continue;
    }
    const std::size_t first = at - (at - begin) % 4;
    Lanes held;
    if (first + 4 > end) {
      return false;
    }
    std::memcpy(&held.value[0], &now.bytes[first], 4);
    held.poison[0] = poison_bits(32);
    const LookedAt* looked = held_in(held, 0);
    if (looked == nullptr || !looked->yes) {
      return false;
    }
  }
  return true;
}

// What a lane's activation of a function passes and was passed.
bool Rehearsal::parameters_settled(const Frame& frame,
                                   const Frame* before,
                                   std::uint32_t lane) const {
  return std::all_of(frame.parameters.begin(), frame.parameters.end(), [&](const auto& one) {
    const auto& [variable, bytes] = one;
    const ParameterBytes* known = nullptr;
    if (before != nullptr && before->parameters.contains(variable)) {
      known = &before->parameters.at(variable);
    }
    const Span was = known != nullptr ? Span{known->bytes, known->poison} : Span{};
    return bytes_settled({bytes.bytes, bytes.poison},
                         known != nullptr ? &was : nullptr,
                         lane * bytes.size,
                         (lane + 1) * bytes.size);
  });
}

bool Rehearsal::is_settled(const Rehearsal& start) const {
  const Span before{start.local_, start.local_poison_};
  bool settled = bytes_settled({local_, local_poison_}, &before, 0, local_.size());
  for (const Strand* strand : strands()) {
    std::uint32_t pc = strand->pc;
    for (const Frame* frame = strand->frame.get(); frame != nullptr; frame = frame->caller.get()) {
      const auto& needed = warp_->needed_at(*frame->routine, pc);
      for_lanes(strand->mask, [&](std::uint32_t lane) {
        const Frame* was = start.frame_of(lane, *frame);
        settled = settled && parameters_settled(*frame, was, lane);
        for (const std::uint32_t slot : needed) {
          const Lanes& lanes = frame->slots[slot];
          const LookedAt* looked = held_in(lanes, lane);
          const bool as_before = was != nullptr &&
                                 was->slots[slot].value[lane] == lanes.value[lane] &&
                                 was->slots[slot].poison[lane] == lanes.poison[lane];
          settled = settled &&
                    (lanes.poison[lane] == 0 || as_before || (looked != nullptr && looked->yes));
        }
      });
      pc = frame->call + 1;
    }
  }
  return settled;
}

}  // namespace warptwin::ptx
