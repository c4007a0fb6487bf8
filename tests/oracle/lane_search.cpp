#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <unordered_set>

#include "tests/oracle/lane_program.hpp"

namespace warptwin::lanes {

namespace {

constexpr std::size_t kAgentsMax = 20;

// Of each agent, how much of what it did happened before.
using Clock = std::array<std::uint8_t, kAgentsMax>;

void join(Clock& into, const Clock& from) {
  for (std::size_t i = 0; i < kAgentsMax; ++i) {
    into[i] = std::max(into[i], from[i]);
  }
}

// A lane, or a copy from when it is issued.
struct Agent {
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  bool copies = false;
  std::vector<std::size_t> steps;
};

// By the scope of what told it: of its own CTA, or of all.
enum Scope : std::size_t { kNear, kFar, kScopes };
using Clocks = std::array<Clock, kScopes>;

// What an agent knows, what its relaxed writes tell, and what its relaxed looks have seen, each
// until its next fence.
struct Known {
  Clock now{};
  Clocks fenced{};
  Clocks seen{};
  std::array<Clocks, kFlagsMax> released{};  // by each flag, which a relaxed write to it tells too
};

struct Word {
  std::optional<std::uint32_t> value;
  Clock stores{};  // of each agent, its last
  Clock loads{};
  Clocks adds{};
};

struct Barrier {
  std::uint32_t phase = 0;
  std::int32_t arrived = 0;
  std::uint32_t bytes = 0;  // that the phase still expects
  Clock told{};             // in this phase and in those before it
  Clock completed{};        // in those before it alone
};

struct Flag {
  std::uint32_t value = 0;
  Clock told{};                  // to all
  std::vector<Clock> told_near;  // to each CTA, besides
  Clocks looks{};
  Clocks writes{};
};

struct Machine {
  std::array<std::uint8_t, kAgentsMax> at{};  // of each agent, its next step
  std::array<bool, kAgentsMax> flies{};       // copies that have been issued
  std::vector<Known> known;
  std::vector<Word> words;
  std::vector<Barrier> barriers;
  std::vector<Flag> flags;
};

std::string key_of(const Machine& machine) {
  std::string key;
  const auto add = [&key](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(machine.at);
  add(machine.flies);
  for (const Known& known : machine.known) {
    add(known);
  }
  for (const Word& word : machine.words) {
    add(word.value.value_or(~0U));
    add(word.stores);
    add(word.loads);
    add(word.adds);
  }
  for (const Barrier& barrier : machine.barriers) {
    add(barrier.phase);
    add(barrier.arrived);
    add(barrier.bytes);
    add(barrier.told);
    add(barrier.completed);
  }
  for (const Flag& flag : machine.flags) {
    add(flag.value);
    add(flag.told);
    for (const Clock& told : flag.told_near) {
      add(told);
    }
    add(flag.looks);
    add(flag.writes);
  }
  return key;
}

class Search {
 public:
  Search(const LaneProgram& program, std::uint64_t states_max)
      : program_{program}, states_max_{states_max} {
    for (std::uint32_t warp = 0; warp < program.warps; ++warp) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((program.live >> lane & 1U) != 0) {
          agents_.push_back({warp, lane, false, {}});
        }
      }
    }
    lanes_ = agents_.size();
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        if (step.warp == agents_[lane].warp && (step.lanes >> agents_[lane].lane & 1U) != 0) {
          agents_[lane].steps.push_back(i);
          if (step.kind == Kind::kCopy) {
            copies_[{lane, i}] = agents_.size();
            agents_.push_back({agents_[lane].warp, 0, true, {i}});
          }
        }
      }
    }
  }

  LaneAnswer run() {
    if (agents_.size() > kAgentsMax) {
      answer_.known = false;
      return answer_;
    }
    Machine first;
    first.known.resize(agents_.size());
    first.words.resize(program_.words);
    for (std::uint32_t w = program_.shared_words; w < program_.words; ++w) {
      first.words[w].value = 0;
    }
    first.barriers.resize(program_.counts.size());
    first.flags.resize(program_.flags);
    for (Flag& flag : first.flags) {
      flag.told_near.resize(program_.ctas);
    }
    std::vector<Machine> open{first};
    known_.insert(key_of(first));
    while (!open.empty() && answer_.fault.empty()) {
      if (known_.size() > states_max_) {
        answer_.known = false;
        break;
      }
      const Machine machine = std::move(open.back());
      open.pop_back();
      bool ends = true;
      bool stuck = true;
      for (std::size_t agent = 0; agent < agents_.size(); ++agent) {
        ends = ends && (agents_[agent].copies || ended(machine, agent));
        if (std::optional<Machine> next = act(machine, agent)) {
          stuck = false;
          if (known_.insert(key_of(*next)).second) {
            open.push_back(*std::move(next));
          }
        }
      }
      if (ends) {
        at_end(machine);
      } else if (stuck) {
        answer_.fault = "nobody can go on";
      }
    }
    answer_.states = known_.size();
    return answer_;
  }

 private:
  bool ended(const Machine& machine, std::size_t agent) const {
    return machine.at[agent] == agents_[agent].steps.size() ||
           (agents_[agent].copies && !machine.flies[agent]);
  }

  const Step* next_of(const Machine& machine, std::size_t agent) const {
    return ended(machine, agent) ? nullptr
                                 : &program_.steps[agents_[agent].steps[machine.at[agent]]];
  }

  static std::uint32_t updated(const Step& step, std::uint32_t word, std::uint32_t operand) {
    return step.update == Update::kMax  ? std::max(word, operand)
           : step.update == Update::kOr ? word | operand
                                        : word + operand;
  }

  static bool passes(const Step& step, std::uint32_t word) {
    return step.test == Test::kEqual        ? word == step.value
           : step.test == Test::kNotOneLess ? word != step.value - 1
           : step.test == Test::kAnyBit     ? (word & step.value) != 0
                                            : word >= step.value;
  }

  static bool accesses(const Step& step) {
    return step.kind == Kind::kStore || step.kind == Kind::kLoad || step.kind == Kind::kAdd;
  }

  // What the word holds when the lane has stored to it as often as it does before it meets others.
  std::uint32_t stored(std::size_t lane, std::size_t at) const {
    const std::vector<std::size_t>& steps = agents_[lane].steps;
    const Step& first = program_.steps[steps[at]];
    std::uint32_t value = first.value;
    for (++at; at < steps.size(); ++at) {
      const Step& step = program_.steps[steps[at]];
      const bool same = accesses(step) && step.object == first.object;
      // Behind a meeting others may know of what is there.
      if (step.kind == Kind::kSync || (same && step.kind != Kind::kStore)) {
        break;
      }
      value = same ? step.value : value;
    }
    return value;
  }

  std::uint32_t value_at(std::size_t agent, std::size_t at) const {
    return program_.steps[agents_[agent].steps[at]].value;
  }

  void race(std::uint32_t object) { answer_.fault = "a race for word " + std::to_string(object); }

  static bool no_add(const Word& word, const Clock& before) {
    return happened(word.adds[kNear], before) && happened(word.adds[kFar], before);
  }

  static bool happened(const Clock& accesses, const Clock& before) {
    return std::equal(accesses.begin(), accesses.end(), before.begin(), std::less_equal<>{});
  }

  std::uint32_t cta(std::size_t agent) const { return cta_of(program_, agents_[agent].warp); }

  // Of atomic accesses, whether each that is unordered has a scope with both, as this one has.
  bool strong(const Clocks& accesses, std::size_t agent, bool near, const Clock& before) const {
    for (std::size_t other = 0; other < lanes_; ++other) {
      const bool far_too = near && accesses[kFar][other] > before[other];
      if (cta(other) != cta(agent) && (far_too || accesses[kNear][other] > before[other])) {
        return false;
      }
    }
    return true;
  }

  void touch(Flag& flag, std::size_t agent, const Step& step, const Clock& before, bool writes) {
    if (!strong(flag.writes, agent, step.near, before) ||
        (writes && !strong(flag.looks, agent, step.near, before))) {
      answer_.fault = "a scope is too small for flag " + std::to_string(step.object);
    }
    (writes ? flag.writes : flag.looks)[step.near ? kNear : kFar][agent] = before[agent];
  }

  // What a write tells; a store tells nothing of what was told before.
  void tell(Flag& flag, std::size_t agent, const Step& step, Known& known) const {
    if (step.kind == Kind::kSet) {
      flag.told = {};
      std::fill(flag.told_near.begin(), flag.told_near.end(), Clock{});
    }
    // A release, and a write to the same word behind it, are a release pattern: PTX ISA, "Release
    // and Acquire Patterns".
    Clocks& released = known.released.at(step.object);
    if (!step.relaxed) {
      released[kNear] = known.now;
      released[kFar] = step.near ? released[kFar] : known.now;
    }
    const auto told = [&](Scope scope) {
      Clock all = step.relaxed ? known.fenced[scope] : known.now;
      join(all, released[scope]);
      return all;
    };
    if (!step.near) {
      join(flag.told, told(kFar));
    }
    join(flag.told_near[cta(agent)], told(kNear));
  }

  void look(const Flag& flag, std::size_t agent, const Step& step, Known& known) const {
    join(step.relaxed ? known.seen[kNear] : known.now, flag.told_near[cta(agent)]);
    if (!step.near) {
      join(step.relaxed ? known.seen[kFar] : known.now, flag.told);
    }
  }

  // Lanes may store one value: in these steps, or as what the stretches that they are in leave. The
  // last store of another is its step in front of `stores`; a later one is looked at by itself.
  bool stores_alike(const Word& word,
                    std::size_t agent,
                    std::size_t at,
                    const Clock& before) const {
    for (std::size_t other = 0; other < agents_.size(); ++other) {
      const bool unknown = word.stores[other] > before[other];
      if (unknown && (agents_[other].copies || agents_[agent].copies ||
                      (value_at(other, word.stores[other] - 1U) != value_at(agent, at) &&
                       stored(other, word.stores[other] - 1U) != stored(agent, at)))) {
        return false;
      }
    }
    return true;
  }

  // Whether all the lanes of a step that meet are there. Nobody waits for those that have ended.
  bool all_there(const Machine& machine, const Step& step) const {
    for (std::size_t i = 0; i < lanes_; ++i) {
      const Agent& lane = agents_[i];
      if (lane.warp != step.warp || (step.lanes >> lane.lane & 1U) == 0) {
        continue;
      }
      const Step* next = next_of(machine, i);
      const bool other = next != nullptr && (next->kind != step.kind || next->lanes != step.lanes ||
                                             (step.kind != Kind::kSync && next != &step));
      if (other) {
        return false;
      }
    }
    return true;
  }

  void see(std::size_t lane, std::uint32_t at, std::uint32_t value) {
    const auto [known, is_new] = seen_.emplace(std::pair{lane, at}, value);
    if (!is_new && known->second != value) {
      answer_.fault = "a load finds one value or another";
    }
  }

  // Who comes behind a copy comes behind what it came behind, though a copy tells of itself alone.
  static void forget(Word& word, const Clock& before) {
    for (Clock* done : {&word.stores, &word.loads, &word.adds[kNear], &word.adds[kFar]}) {
      for (std::size_t i = 0; i < kAgentsMax; ++i) {
        (*done)[i] = (*done)[i] <= before[i] ? 0 : (*done)[i];
      }
    }
  }

  void access(Machine& machine, std::size_t agent, const Step& step) {
    Word& word = machine.words[step.object];
    const Clock& before = machine.known[agent].now;
    const std::size_t at = machine.at[agent];
    const auto now = static_cast<std::uint8_t>(at + 1);
    const bool reduces = step.kind == Kind::kCopy && step.copy == Copy::kReduce;
    if (step.kind == Kind::kLoad || step.kind == Kind::kAdd || reduces) {
      const bool adds = step.kind == Kind::kAdd || reduces;
      const bool near = step.near && !reduces;
      if (!happened(word.stores, before) ||
          (adds ? !happened(word.loads, before) || !strong(word.adds, agent, near, before)
                : !no_add(word, before))) {
        race(step.object);
      } else if (!word.value) {
        answer_.fault = "word " + std::to_string(step.object) + " is read and was never written";
      } else if (adds) {
        word.value = reduces ? *word.value + step.data : updated(step, *word.value, step.value);
      } else {
        see(agent, machine.at[agent], *word.value);
      }
      if (reduces) {
        forget(word, before);
      }
      (adds ? word.adds[near ? kNear : kFar] : word.loads)[agent] = now;
      return;
    }
    if (!happened(word.loads, before) || !no_add(word, before) ||
        !stores_alike(word, agent, at, before)) {
      race(step.object);
    }
    if (step.kind == Kind::kCopy) {
      forget(word, before);
      word.value = step.copy == Copy::kStore ? step.data : 0;
    } else {
      word.value = step.value;
    }
    word.stores[agent] = now;
  }

  void complete(Barrier& barrier, std::uint32_t said) {
    const auto count = static_cast<std::int32_t>(said);
    if (barrier.arrived > count) {
      answer_.fault = "more arrivals than a phase has";
    } else if (barrier.arrived == count && barrier.bytes == 0) {
      barrier = {barrier.phase + 1, 0, 0, barrier.told, barrier.told};
    }
  }

  // What the machine is when an agent has made its next step; none: it cannot.
  std::optional<Machine> act(const Machine& machine, std::size_t agent) {
    const Step* step = next_of(machine, agent);
    if (step == nullptr) {
      return std::nullopt;
    }
    Machine next = machine;
    Known& known = next.known[agent];
    known.now[agent] = static_cast<std::uint8_t>(machine.at[agent] + 1);
    // Of mbarriers, each of which one CTA uses.
    const Clock& tells = step->relaxed ? known.fenced[kNear] : known.now;
    switch (step->kind) {
      case Kind::kStore:
      case Kind::kLoad:
      case Kind::kAdd:
        access(next, agent, *step);
        break;
      case Kind::kArrive:
      case Kind::kExpect: {
        Barrier& barrier = next.barriers[step->object];
        barrier.bytes += step->kind == Kind::kExpect ? step->value : 0;
        ++barrier.arrived;
        join(barrier.told, tells);
        complete(barrier, program_.counts[step->object]);
        break;
      }
      case Kind::kCopy: {
        if (!agents_[agent].copies) {
          const std::size_t copy =
              copies_.at({agent, static_cast<std::size_t>(step - program_.steps.data())});
          next.flies[copy] = true;
          next.known[copy].now = known.now;
          if (step->copy == Copy::kPending) {
            --next.barriers[step->value].arrived;
          }
          break;
        }
        access(next, agent, *step);
        Barrier& barrier = next.barriers[step->value];
        const bool arrives = step->copy >= Copy::kCounted;
        barrier.arrived += arrives ? 1 : 0;
        barrier.bytes -= arrives ? 0 : step->copy == Copy::kBulk ? kCopyBytes : kWordBytes;
        barrier.told[agent] = 1;
        complete(barrier, program_.counts[step->value]);
        break;
      }
      case Kind::kWait: {
        const Barrier& barrier = machine.barriers[step->object];
        if (barrier.phase % 2 == step->value) {
          return std::nullopt;
        }
        join(step->relaxed ? known.seen[kNear] : known.now, barrier.completed);
        break;
      }
      case Kind::kSet:
      case Kind::kBump: {
        Flag& flag = next.flags[step->object];
        touch(flag, agent, *step, known.now, true);
        flag.value = step->kind == Kind::kSet        ? step->value
                     : step->update == Update::kAdds ? flag.value + 1
                                                     : updated(*step, flag.value, step->value);
        tell(flag, agent, *step, known);
        break;
      }
      case Kind::kAskLast: {
        Flag& flag = next.flags[step->object];
        touch(flag, agent, *step, known.now, true);
        look(machine.flags[step->object], agent, *step, known);
        tell(flag, agent, *step, known);
        if (++flag.value != step->value) {
          next.at[agent] = static_cast<std::uint8_t>(agents_[agent].steps.size());
          return next;
        }
        break;
      }
      case Kind::kAwait:
        if (!passes(*step, machine.flags[step->object].value)) {
          return std::nullopt;
        }
        touch(next.flags[step->object], agent, *step, known.now, false);
        look(machine.flags[step->object], agent, *step, known);
        break;
      case Kind::kFence:
        join(known.now, known.seen[kNear]);
        known.fenced[kNear] = known.now;
        if (!step->near) {
          join(known.now, known.seen[kFar]);
          known.fenced = {known.now, known.now};
        }
        break;
      case Kind::kSync:
      case Kind::kShuffle:
        return meet(std::move(next), *step);
    }
    ++next.at[agent];
    return next;
  }

  std::optional<Machine> meet(Machine next, const Step& step) const {
    if (!all_there(next, step)) {
      return std::nullopt;
    }
    Known all;
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < lanes_; ++i) {
      const bool named = agents_[i].warp == step.warp && (step.lanes >> agents_[i].lane & 1U) != 0;
      if (named && next_of(next, i) != nullptr) {
        there.push_back(i);
        next.known[i].now[i] = static_cast<std::uint8_t>(++next.at[i]);
        join(all.now, next.known[i].now);
        for (const Scope scope : {kNear, kFar}) {
          join(all.fenced[scope], next.known[i].fenced[scope]);
          join(all.seen[scope], next.known[i].seen[scope]);
        }
      }
    }
    for (const std::size_t i : there) {
      if (step.kind == Kind::kSync) {
        next.known[i].now = all.now;
        if (program_.fences_of_met) {
          next.known[i].fenced = all.fenced;
          next.known[i].seen = all.seen;
        }
      }
    }
    return next;
  }

  void at_end(const Machine& machine) {
    std::vector<std::optional<std::uint32_t>> global;
    for (std::size_t w = program_.shared_words; w < machine.words.size(); ++w) {
      global.push_back(machine.words[w].value);
    }
    if (!end_) {
      end_ = global;
    } else if (*end_ != global) {
      answer_.fault = "global memory ends with one value or another";
    }
    for (std::size_t copy = lanes_; copy < agents_.size(); ++copy) {
      if (!ended(machine, copy)) {
        answer_.fault = "the kernel ends while a copy is under way";
      }
    }
  }

  const LaneProgram& program_;
  std::uint64_t states_max_;
  std::vector<Agent> agents_;  // the lanes, then the copies
  std::size_t lanes_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> copies_;  // by the lane and the step
  std::unordered_set<std::string> known_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> seen_;
  std::optional<std::vector<std::optional<std::uint32_t>>> end_;
  LaneAnswer answer_;
};

}  // namespace

LaneAnswer ask_every_interleaving(const LaneProgram& program, std::uint64_t states_max) {
  return Search{program, states_max}.run();
}

}  // namespace warptwin::lanes
