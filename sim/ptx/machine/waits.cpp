// Which tries are waits.

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "common/kernel/scenario.hpp"

#include "sim/ptx/machine/kernel.hpp"
#include "sim/ptx/machine/rehearsal.hpp"

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

/// A strand goes a way that writes these slots, and its frame is as it was behind that.
class Detour {
 public:
  Detour(const Strand& strand, const std::vector<std::uint32_t>& writes)
      : frame_{*strand.frame},
        writes_{writes},
        carry_{frame_.carry},
        carry_poison_{frame_.carry_poison} {
    for (const std::uint32_t slot : writes) {
      slots_.push_back(frame_.slots[slot]);
      written_.push_back(frame_.written.empty() ? std::uint8_t{0} : frame_.written[slot]);
      ready_.push_back(frame_.ready.empty() ? std::uint64_t{0} : frame_.ready[slot]);
    }
  }
  ~Detour() {
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const std::uint32_t slot = writes_[i];
      frame_.slots[slot] = slots_[i];
      if (!frame_.written.empty()) {
        frame_.written[slot] = written_[i];
      }
      if (!frame_.ready.empty()) {
        frame_.ready[slot] = ready_[i];
      }
    }
    frame_.carry = carry_;
    frame_.carry_poison = carry_poison_;
  }
  Detour(const Detour&) = delete;
  Detour& operator=(const Detour&) = delete;

  /// Whether a slot holds what it held before.
  bool keeps(std::uint32_t slot) const {
    const auto at = std::find(writes_.begin(), writes_.end(), slot) - writes_.begin();
    return frame_.slots[slot] == slots_[static_cast<std::size_t>(at)];
  }

 private:
  Frame& frame_;
  const std::vector<std::uint32_t>& writes_;
  std::vector<Lanes> slots_;
  std::vector<std::uint8_t> written_;
  std::vector<std::uint64_t> ready_;
  Mask carry_ = 0;
  Mask carry_poison_ = 0;
};

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
  std::uint32_t steps = 0;
  bool sleeps = false;
  const bool comes = told(program, surroundings, strand, tried, 0, [&](const Op& next) {
    ++steps;
    sleeps = sleeps || next.is("nanosleep");
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
  loop.steps = sleeps ? 0 : steps;
  written.insert(arguments[0].index);
  for (const std::uint32_t number : live) {
    if (written.contains(number)) {
      if (routine.bits_of(number) > 64) {
        return std::nullopt;
      }
      loop.sets.push_back(routine.slots[number]);
    }
  }
  for (const std::uint32_t number : written) {
    for (std::uint32_t bit = 0; !loop.sets.empty() && bit < routine.bits_of(number); bit += 64) {
      loop.writes.push_back(routine.slots[number] + bit / 64);
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
  // The way is the one that `wait_loop` has gone: no branch of it depends on what is unknown there.
  const Detour detour{strand, loop.writes};
  Strand copy;
  copy.frame = strand.frame;
  copy.pc = strand.pc;
  copy.mask = strand.mask;
  Asked surroundings{warp};
  bool comes = false;
  if (loop.steps == 0) {
    comes = told(program, surroundings, copy, tried, 0, [](const Op&) {});
  } else {
    copy.write(tried, 0, 0, Lanes::all(0));
    copy.complete(tried);
    comes = copy.run(program, surroundings, loop.steps).kind == Stop::Kind::kSteps;
  }
  return comes && copy.pc == tried.op &&
         std::all_of(loop.sets.begin(), loop.sets.end(), [&](std::uint32_t slot) {
           return detour.keeps(slot);
         });
}

namespace {

constexpr std::size_t kPlacesMax = 96;
constexpr std::size_t kBehindMax = 4;

/// Whether a look is a wait: all that the warp may do from there, whatever it is told.
class Waiting {
 public:
  Waiting(WarpRun& warp, Looking& about, const Strand& looking, const Stop& stop)
      : about_{about}, lanes_{stop.mask}, start_{warp, about, looking, stop} {}

  /// Other lanes have to go on first.
  bool unclear() const { return unclear_; }
  /// Told no, it has looked again.
  bool returns() const { return returns_; }
  bool far() const { return places_.size() > kPlacesMax; }
  /// Where several lanes look, none of them goes on alone.
  bool votes() const { return vote_ != nullptr; }
  /// The looks that asked the word for something else than the first: none, or one.
  const std::optional<std::vector<std::uint64_t>>& other() const { return other_; }

  bool holds() {
    add(start_);
    std::size_t mixed = 0;
    for (std::size_t place = 0; place < places_.size(); ++place) {
      if (places_.size() > kPlacesMax || !tell(place, 0) || !tell(place, lanes_)) {
        if (about_.fails && place != 0) {
          other_ = places_[place].state();
        }
        return false;
      }
      while (vote_ != nullptr && mixed <= place) {
        if (!tell_mixed(mixed++)) {
          return false;
        }
      }
    }
    // What is between two looks may order something: the look that is executed has none behind it.
    return exit_ && ends() && (!fenced_ || passing_.front().empty());
  }

 private:
  // The place where the rehearsal looks: its number.
  std::size_t add(const Rehearsal& at) {
    const auto [found, added] = numbers_.try_emplace(at.state(), places_.size());
    if (added) {
      places_.push_back(at);
      passing_.emplace_back();
    }
    return found->second;
  }

  // Where several lanes look, each may be told something else. Before the warp looks again they may
  // vote, once, and the same vote lets them go.
  bool votes_alike(const Rehearsal& way, bool looks) {
    const auto& exchanges = way.exchanges();
    if ((lanes_ & (lanes_ - 1)) == 0) {
      return true;
    }
    if (!looks) {
      return vote_ == nullptr || (!exchanges.empty() && exchanges.front() == vote_);
    }
    const bool first = !looked_again_;
    looked_again_ = true;
    vote_ = first && !exchanges.empty() ? exchanges.front() : vote_;
    return exchanges.size() == (vote_ != nullptr ? 1U : 0U) &&
           (vote_ == nullptr ||
            (exchanges.front() == vote_ && vote_->is("vote.sync") &&
             (vote_->source->modifiers.has("all"_mod) || vote_->source->modifiers.has("any"_mod))));
  }

  bool tell(std::size_t place, Mask yes) {
    const std::vector<Rehearsal> ways = places_[place].told(yes);
    std::set<std::vector<std::uint64_t>> ends;
    bool parted = false;
    for (const Rehearsal& way : ways) {
      parted = parted || way.parted_unknown();
      ends.insert(way.state());
      unclear_ = unclear_ || way.end() == Rehearsal::End::kUnclear;
      const bool behind = about_.behind.contains(way.state());
      const bool looks = way.end() == Rehearsal::End::kLooks && !behind;
      if (about_.fails || !votes_alike(way, looks)) {
        return false;
      }
      if (looks) {
        returns_ = true;
        const std::size_t next = add(way);
        if (yes == lanes_) {
          passing_[place].push_back(next);
          fenced_ = fenced_ || way.fenced();
        }
        continue;
      }
      const bool leaves = behind || way.end() == Rehearsal::End::kElsewhere;
      if (!leaves || yes != lanes_ || !way.is_settled(start_)) {
        return false;
      }
      exit_ = exit_ ? exit_ : way.state();
      if (*exit_ != way.state()) {
        return false;
      }
    }
    return !ways.empty() && (!parted || ends.size() == 1);
  }

  // A vote of all is one of each: a lane that is told no brings the warp back.
  bool tell_mixed(std::size_t place) {
    for (Mask left = lanes_; left != 0; left &= left - 1) {
      if (!tell(place, lanes_ & ~(left & ~(left - 1)))) {
        return false;
      }
    }
    return true;
  }

  // Told yes each time, it comes to an end.
  bool ends() const {
    std::vector<std::size_t> left(places_.size());
    std::vector<std::size_t> over;
    for (std::size_t place = 0; place < places_.size(); ++place) {
      left[place] = passing_[place].size();
      if (left[place] == 0) {
        over.push_back(place);
      }
    }
    for (std::size_t at = 0; at < over.size(); ++at) {
      for (std::size_t place = 0; place < places_.size(); ++place) {
        const auto to = std::count(passing_[place].begin(), passing_[place].end(), over[at]);
        left[place] -= static_cast<std::size_t>(to);
        if (to != 0 && left[place] == 0) {
          over.push_back(place);
        }
      }
    }
    return over.size() == places_.size();
  }

  Looking& about_;
  Mask lanes_;
  Rehearsal start_;
  std::vector<Rehearsal> places_;
  std::vector<std::vector<std::size_t>> passing_;  // of each place: where it may be, told yes
  std::map<std::vector<std::uint64_t>, std::size_t> numbers_;
  std::optional<std::vector<std::uint64_t>> exit_;
  std::optional<std::vector<std::uint64_t>> other_;
  const Op* vote_ = nullptr;  // of all lanes, whether they look again
  bool looked_again_ = false;
  bool fenced_ = false;
  bool returns_ = false;
  bool unclear_ = false;
};

}  // namespace

namespace {

// Whether a way leads from the op back to it.
bool may_repeat(const Routine& routine, std::uint32_t op) {
  const auto& blocks = routine.flow.blocks;
  const std::uint32_t block = routine.flow.block_of[op];
  std::vector<std::uint32_t> from = blocks[block].successors;
  std::set<std::uint32_t> seen;
  while (!from.empty()) {
    const std::uint32_t next = from.back();
    from.pop_back();
    if (seen.insert(next).second) {
      from.insert(from.end(), blocks[next].successors.begin(), blocks[next].successors.end());
    }
  }
  return seen.contains(block);
}

// Whether all lanes ask for the same.
bool asks_one(std::span<const std::uint64_t> asks, Mask lanes) {
  const auto count = static_cast<std::size_t>(std::popcount(lanes));
  for (std::size_t at = 1; at + 1 < asks.size(); ++at) {
    if (at % count != 0 && asks[at] != asks[at + 1]) {
      return false;
    }
  }
  return true;
}

}  // namespace

Awaited awaited(WarpRun& warp, const Strand& looking, const Stop& stop, Look look) {
  const Code& code = looking.frame->routine->code;
  const bool is_try = look == Look::kTry;
  Awaited found;
  Looking about;
  about.op = &code.ops[stop.op];
  about.look = look;
  about.asks = WarpRun::asked_by(looking, stop, look);
  if (about.asks.empty() || code.arguments_of(*about.op)[0].kind != Argument::Kind::kRegister) {
    return found;
  }
  const bool repeats =
      looking.frame->caller != nullptr || may_repeat(*looking.frame->routine, stop.op);
  for (const bool inverted : {false, true}) {
    about.inverted = inverted;
    about.behind.clear();
    bool again = true;
    while (again) {
      about.test.reset();
      about.fails = again = false;
      try {
        Waiting waiting{warp, about, looking, stop};
        found.waits = waiting.holds() && (is_try || about.test) &&
                      (asks_one(about.asks, stop.mask) || waiting.votes());
        found.far = found.far || waiting.far();
        found.unclear = !found.waits && waiting.unclear() && (repeats || waiting.returns());
        again = waiting.other() && about.behind.size() < kBehindMax &&
                about.behind.insert(*waiting.other()).second;
      } catch (const ConfigError&) {
        found.waits = false;  // the warp itself says what is wrong, if it comes there
      }
    }
    if (found.waits && !is_try) {
      found.test = inverted ? about.test->inverse() : *about.test;
    }
    if (found.waits || found.unclear || is_try) {
      break;
    }
  }
  return found;
}

}  // namespace warptwin::ptx
