#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <unordered_set>

#include "tests/oracle/lane_program.hpp"

namespace warptwin::lanes {

namespace {

struct Lane {
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  std::vector<std::size_t> steps;
};

struct Barrier {
  std::uint32_t phase = 0;
  std::uint32_t arrived = 0;
};

struct Machine {
  std::vector<std::uint32_t> at;  // of each lane, its next step
  std::vector<std::optional<std::uint32_t>> words;
  std::vector<Barrier> barriers;
  std::vector<std::uint32_t> flags;
};

std::string key_of(const Machine& machine) {
  std::string key;
  const auto add = [&key](std::uint32_t value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const std::uint32_t at : machine.at) {
    key += static_cast<char>(at);
  }
  for (const std::optional<std::uint32_t>& word : machine.words) {
    add(word.value_or(~0U));
  }
  for (const Barrier& barrier : machine.barriers) {
    add(barrier.phase * 64 + barrier.arrived);
  }
  for (const std::uint32_t flag : machine.flags) {
    add(flag);
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
          lanes_.push_back({warp, lane, {}});
        }
      }
    }
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      for (Lane& lane : lanes_) {
        if (program.steps[i].warp == lane.warp && (program.steps[i].lanes >> lane.lane & 1U) != 0) {
          lane.steps.push_back(i);
        }
      }
    }
  }

  LaneAnswer run() {
    Machine first;
    first.at.resize(lanes_.size());
    first.words.resize(program_.words);
    for (std::uint32_t w = program_.shared_words; w < program_.words; ++w) {
      first.words[w] = 0;
    }
    first.barriers.resize(program_.counts.size());
    first.flags.resize(program_.flags);
    std::vector<Machine> open{first};
    known_.insert(key_of(first));
    while (!open.empty() && answer_.fault.empty()) {
      if (known_.size() > states_max_) {
        answer_.known = false;
        break;
      }
      const Machine machine = std::move(open.back());
      open.pop_back();
      races(machine);
      bool ends = true;
      bool stuck = true;
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        ends = ends && ended(machine, lane);
        if (std::optional<Machine> next = act(machine, lane)) {
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
  bool ended(const Machine& machine, std::size_t lane) const {
    return machine.at[lane] == lanes_[lane].steps.size();
  }

  const Step* next_of(const Machine& machine, std::size_t lane) const {
    return ended(machine, lane) ? nullptr : &program_.steps[lanes_[lane].steps[machine.at[lane]]];
  }

  static bool accesses(const Step& step) {
    return step.kind == Kind::kStore || step.kind == Kind::kLoad || step.kind == Kind::kAdd;
  }

  // What the word holds when the lane has stored to it as often as it does at once.
  std::uint32_t stored(const Machine& machine, std::size_t lane) const {
    const Step& first = *next_of(machine, lane);
    std::uint32_t value = first.value;
    for (std::size_t at = machine.at[lane] + 1; at < lanes_[lane].steps.size(); ++at) {
      const Step& step = program_.steps[lanes_[lane].steps[at]];
      if (accesses(step) && step.object == first.object) {
        if (step.kind != Kind::kStore) {
          break;
        }
        value = step.value;
      }
    }
    return value;
  }

  // Lanes may write one value.
  bool conflict(const Machine& machine, std::size_t one, std::size_t other) const {
    const Kind kind = next_of(machine, one)->kind;
    return kind != next_of(machine, other)->kind ||
           (kind == Kind::kStore && stored(machine, one) != stored(machine, other));
  }

  // Two that could come next, of one word: nothing orders them.
  void races(const Machine& machine) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Step* one = next_of(machine, i);
      for (std::size_t j = i + 1; one != nullptr && accesses(*one) && j < lanes_.size(); ++j) {
        const Step* other = next_of(machine, j);
        if (other != nullptr && accesses(*other) && one->object == other->object &&
            conflict(machine, i, j)) {
          answer_.fault = "a race for word " + std::to_string(one->object);
        }
      }
    }
  }

  // Whether all the lanes of a step that meet are there.
  bool all_there(const Machine& machine, const Step& step) const {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
      if (lane.warp != step.warp || (step.lanes >> lane.lane & 1U) == 0) {
        return true;
      }
      const Step* next = next_of(machine, static_cast<std::size_t>(&lane - lanes_.data()));
      return next != nullptr && next->kind == step.kind && next->lanes == step.lanes &&
             (step.kind == Kind::kSync || next == &step);
    });
  }

  void see(std::size_t lane, std::uint32_t at, std::uint32_t value) {
    const auto [known, is_new] = seen_.emplace(std::pair{lane, at}, value);
    if (!is_new && known->second != value) {
      answer_.fault = "a load finds one value or another";
    }
  }

  void access(Machine& machine, std::size_t lane, const Step& step) {
    std::optional<std::uint32_t>& word = machine.words[step.object];
    if (step.kind == Kind::kStore) {
      word = step.value;
    } else if (!word) {
      answer_.fault = "word " + std::to_string(step.object) + " is read and was never written";
    } else if (step.kind == Kind::kAdd) {
      *word += step.value;
    } else {
      see(lane, machine.at[lane], *word);
    }
  }

  // What the machine is when a lane has made its next step; none: it cannot.
  std::optional<Machine> act(const Machine& machine, std::size_t lane) {
    const Step* step = next_of(machine, lane);
    if (step == nullptr) {
      return std::nullopt;
    }
    Machine next = machine;
    switch (step->kind) {
      case Kind::kStore:
      case Kind::kLoad:
      case Kind::kAdd:
        access(next, lane, *step);
        break;
      case Kind::kArrive: {
        Barrier& barrier = next.barriers[step->object];
        if (++barrier.arrived == program_.counts[step->object]) {
          barrier = {barrier.phase + 1, 0};
        }
        break;
      }
      case Kind::kWait:
        if (machine.barriers[step->object].phase % 2 == step->value) {
          return std::nullopt;
        }
        break;
      case Kind::kSet:
        next.flags[step->object] = step->value;
        break;
      case Kind::kBump:
        ++next.flags[step->object];
        break;
      case Kind::kAwait:
        if (machine.flags[step->object] < step->value) {
          return std::nullopt;
        }
        break;
      case Kind::kSync:
      case Kind::kShuffle:
        if (!all_there(machine, *step)) {
          return std::nullopt;
        }
        for (std::size_t other = 0; other < lanes_.size(); ++other) {
          if (lanes_[other].warp == step->warp && (step->lanes >> lanes_[other].lane & 1U) != 0) {
            ++next.at[other];
          }
        }
        return next;
    }
    ++next.at[lane];
    return next;
  }

  void at_end(const Machine& machine) {
    std::vector<std::optional<std::uint32_t>> global{machine.words.begin() + program_.shared_words,
                                                     machine.words.end()};
    if (!end_) {
      end_ = global;
    } else if (*end_ != global) {
      answer_.fault = "global memory ends with one value or another";
    }
  }

  const LaneProgram& program_;
  std::uint64_t states_max_;
  std::vector<Lane> lanes_;
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
