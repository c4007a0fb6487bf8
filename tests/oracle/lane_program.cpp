#include "tests/oracle/lane_program.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warptwin::lanes {

namespace {

constexpr std::uint32_t kLanesMax = 32;
constexpr std::uint32_t kOpsOfALane = 8;
constexpr std::size_t kCopiesMax = 3;
constexpr std::uint32_t kAnyCta = ~std::uint32_t{0};
constexpr std::uint32_t kTries = 40;  // to draw one more step

// Who knows of which operations of whom, while a program is drawn in an order in which it can run.
class Drawing {
 public:
  Drawing(LaneProgram& program, std::mt19937_64& random) : program_{program}, random_{random} {
    for (std::uint32_t warp = 0; warp < program.warps; ++warp) {
      for (std::uint32_t lane = 0; lane < kLanesMax; ++lane) {
        if ((program.live >> lane & 1U) != 0) {
          agents_.push_back({warp, lane, 0, {}});
        }
      }
    }
    for (Agent& agent : agents_) {
      agent.knows.resize(agents_.size() + kCopiesMax);
    }
    words_.resize(program.words);
    flags_.resize(program.flags);
  }

  void steps(std::uint32_t count) {
    for (std::uint32_t i = 0; i < kTries && program_.steps.size() < count; ++i) {
      switch (below(8)) {
        case 0:
        case 1:
          by_barrier(program_.copies && copies_ < kCopiesMax && below(2) == 0);
          break;
        case 2:
          by_flag();
          break;
        case 3:
          meet();
          break;
        default:
          access();
      }
    }
    // What was handed over is of use.
    for (std::uint32_t i = 0; i < count; ++i) {
      access();
    }
  }

  // The last of a few lanes goes on, knowing what each of them knew; the others end.
  void ask_who_is_last();

 private:
  struct Agent {
    std::uint32_t warp = 0;
    std::uint32_t lane = 0;
    std::uint32_t ops = 0;
    std::vector<std::uint32_t> knows;  // of each agent, how many operations
  };
  struct Point {
    std::size_t agent = 0;
    std::uint32_t op = 0;
  };
  struct Word {
    bool written = false;
    std::vector<Point> writes;  // the last one
    std::vector<Point> reads;   // since
    std::vector<Point> adds;    // since
    Update update = Update::kAdds;
  };
  struct Barrier {
    std::uint32_t phases = 0;
    std::vector<Point> arrivals;  // of the last phase
    std::vector<Point> passes;    // of all
  };
  struct Flag {
    std::uint32_t value = 0;
    std::vector<Point> sets;
    std::vector<Point> stores;  // those that are no additions
  };

  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  bool knows(std::size_t agent, const std::vector<Point>& points) const {
    return std::all_of(points.begin(), points.end(), [&](const Point& point) {
      return point.agent == agent || agents_[agent].knows[point.agent] > point.op;
    });
  }

  Point act(std::size_t agent) { return {agent, agents_[agent].ops++}; }

  bool full(const std::vector<std::size_t>& agents) const {
    return std::any_of(agents.begin(), agents.end(), [&](std::size_t agent) {
      return agents_[agent].ops >= kOpsOfALane;
    });
  }

  // One to `most` agents; of one warp where it says so; of `cta`, where it is one.
  std::vector<std::size_t> some(std::uint32_t least,
                                std::uint32_t most,
                                bool of_one_warp,
                                std::uint32_t cta = kAnyCta) {
    std::uint32_t warp = below(program_.warps);
    warp = cta == kAnyCta ? warp : warp / program_.ctas * program_.ctas + cta;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      const bool here = cta == kAnyCta || cta_of(program_, agents_[i].warp) == cta;
      if (here && (!of_one_warp || agents_[i].warp == warp)) {
        chosen.push_back(i);
      }
    }
    std::shuffle(chosen.begin(), chosen.end(), random_);
    chosen.resize(std::min<std::size_t>(chosen.size(), least + below(most - least + 1)));
    return chosen;
  }

  // One step for each warp of them.
  void say(Kind kind,
           const std::vector<std::size_t>& agents,
           std::uint32_t object,
           std::uint32_t value) {
    std::array<std::uint32_t, 8> lanes{};
    for (const std::size_t agent : agents) {
      lanes[agents_[agent].warp] |= 1U << agents_[agent].lane;
    }
    for (std::uint32_t warp = 0; warp < program_.warps; ++warp) {
      if (lanes[warp] != 0) {
        program_.steps.push_back({kind, warp, lanes[warp], object, value});
      }
    }
  }

  // Who releases by relaxed words and arrivals has a fence in front of them; who acquires so, one
  // behind.
  bool maybe_relaxed() { return program_.relaxed && below(2) == 0; }

  void fence(const std::vector<std::size_t>& agents) {
    say(Kind::kFence, agents, 0, 0);
    for (const std::size_t agent : agents) {
      act(agent);
    }
  }

  // What they do is relaxed, or of the CTA alone.
  void weaken_from(std::size_t step, bool relaxed) {
    for (; step < program_.steps.size(); ++step) {
      program_.steps[step].relaxed = relaxed;
      program_.steps[step].near = program_.relaxed && program_.ctas == 1 && below(2) == 0;
    }
  }

  void learn(std::size_t agent, const std::vector<std::uint32_t>& told) {
    for (std::size_t i = 0; i < told.size(); ++i) {
      agents_[agent].knows[i] = std::max(agents_[agent].knows[i], told[i]);
    }
  }

  // The first of the arrivers may issue a copy, of which the phase waits for the bytes.
  void by_barrier(bool copies) {
    const std::uint32_t cta = below(program_.ctas);
    const std::vector<std::size_t> arrivers = some(1, 3, below(2) == 0, cta);
    const std::vector<std::size_t> waiters = some(1, 3, below(2) == 0, cta);
    const std::uint32_t copied = below(program_.shared_words / program_.ctas) * program_.ctas + cta;
    Word& word = words_[copied];
    const auto has = [&](const std::vector<Point>& points) {
      return knows(arrivers.front(), points);
    };
    if (full(arrivers) || full(waiters) ||
        (copies && !(has(word.writes) && has(word.reads) && has(word.adds)))) {
      return;
    }
    const auto fits = [&](std::size_t b) {
      const Barrier& barrier = barriers_[b];
      return cta_of(program_, static_cast<std::uint32_t>(b)) == cta &&
             program_.counts[b] == arrivers.size() &&
             std::all_of(arrivers.begin(),
                         arrivers.end(),
                         [&](std::size_t agent) { return knows(agent, barrier.arrivals); }) &&
             std::all_of(barrier.passes.begin(), barrier.passes.end(), [&](const Point& pass) {
               return std::any_of(arrivers.begin(), arrivers.end(), [&](std::size_t agent) {
                 return knows(agent, {pass});
               });
             });
    };
    std::size_t b = 0;
    while (b < barriers_.size() && !fits(b)) {
      ++b;
    }
    if (b == barriers_.size()) {
      if (b == 3 || cta_of(program_, static_cast<std::uint32_t>(b)) != cta) {
        return;
      }
      barriers_.emplace_back();
      program_.counts.push_back(static_cast<std::uint32_t>(arrivers.size()));
    }
    Barrier& barrier = barriers_[b];
    const auto number = static_cast<std::uint32_t>(b);
    std::vector<std::size_t> others = arrivers;
    const auto form = copies && program_.counted ? static_cast<Copy>(below(5)) : Copy::kBulk;
    const bool expects = form < Copy::kCounted;
    if (copies) {
      if (form == Copy::kReduce && !word.written) {
        return;
      }
      if (expects) {
        say(Kind::kExpect, {others.front()}, number, form == Copy::kBulk ? kCopyBytes : kWordBytes);
        act(others.front());
      }
      say(Kind::kCopy, {others.front()}, copied, number);
      program_.steps.back().copy = form;
      program_.steps.back().data = 200 + static_cast<std::uint32_t>(program_.steps.size());
      if (form == Copy::kPending) {
        act(others.front());
      } else {
        others.erase(others.begin());
      }
    }
    const bool gives_relaxed = maybe_relaxed() && !others.empty();
    if (gives_relaxed) {
      fence(others);
    }
    const std::size_t arrive = program_.steps.size();
    say(Kind::kArrive, others, number, 0);
    weaken_from(arrive, gives_relaxed);
    barrier.arrivals.clear();
    std::vector<std::vector<std::uint32_t>> released;
    for (const std::size_t agent : arrivers) {
      barrier.arrivals.push_back(act(agent));
      released.push_back(agents_[agent].knows);
      released.back()[agent] = agents_[agent].ops;
    }
    if (copies) {
      const std::size_t copy = agents_.size() + copies_++;
      word = {true, {{copy, 0}}, {}, {}};
      if (form == Copy::kCounted) {  // which tells nothing of its lane
        std::fill(released.front().begin(), released.front().end(), 0U);
        barrier.arrivals.front() = {copy, 0};
      }
      released.front()[copy] = 1;
    }
    const bool takes_relaxed = maybe_relaxed();
    const std::size_t wait = program_.steps.size();
    say(Kind::kWait, waiters, number, barrier.phases++ % 2);
    weaken_from(wait, takes_relaxed);
    for (const std::size_t agent : waiters) {
      barrier.passes.push_back(act(agent));
      for (const std::vector<std::uint32_t>& known : released) {
        learn(agent, known);
      }
    }
    if (takes_relaxed) {
      fence(waiters);
    }
  }

  void by_flag() {
    const std::uint32_t f = below(program_.flags);
    Flag& flag = flags_[f];
    const bool bump = below(2) == 0;
    const std::vector<std::size_t> setters = some(1, bump ? 2 : 1, false);
    const std::vector<std::size_t> waiters = some(1, 2, below(2) == 0);
    // An addition that comes before a store is lost.
    const bool in_order = std::all_of(setters.begin(), setters.end(), [&](std::size_t agent) {
      return knows(agent, bump ? flag.stores : flag.sets);
    });
    if (full(setters) || full(waiters) || !in_order) {
      return;
    }
    flag.value += static_cast<std::uint32_t>(setters.size());
    const bool gives_relaxed = maybe_relaxed();
    if (gives_relaxed) {
      fence(setters);
    }
    const std::size_t set = program_.steps.size();
    say(bump ? Kind::kBump : Kind::kSet, setters, f, flag.value);
    weaken_from(set, gives_relaxed);
    for (const std::size_t agent : setters) {
      flag.sets.push_back(act(agent));
      if (!bump) {
        flag.stores.push_back(flag.sets.back());
      }
    }
    const bool takes_relaxed = maybe_relaxed();
    const std::size_t await = program_.steps.size();
    say(Kind::kAwait, waiters, f, flag.value);
    weaken_from(await, takes_relaxed);
    // Right or not: another test may pass too early, or never.
    const auto test =
        program_.counted && below(3) == 0 ? static_cast<Test>(below(4)) : Test::kAtLeast;
    for (std::size_t step = await; step < program_.steps.size(); ++step) {
      program_.steps[step].test = test;
    }
    const std::vector<Agent> before = agents_;
    for (const std::size_t agent : waiters) {
      act(agent);
      for (const std::size_t other : setters) {
        learn(agent, before[other].knows);
        agents_[agent].knows[other] = std::max(agents_[agent].knows[other], before[other].ops);
      }
    }
    if (takes_relaxed) {
      fence(waiters);
    }
  }

  void meet() {
    const std::vector<std::size_t> agents = some(2, 3, true);
    if (agents.size() < 2 || full(agents)) {
      return;
    }
    const bool shuffle = below(3) == 0;
    say(shuffle ? Kind::kShuffle : Kind::kSync, agents, 0, 0);
    for (const std::size_t agent : agents) {
      act(agent);
    }
    if (!shuffle) {
      std::vector<std::uint32_t> all(agents_.size() + kCopiesMax);
      for (const std::size_t agent : agents) {
        agents_[agent].knows[agent] = agents_[agent].ops;
        for (std::size_t i = 0; i < all.size(); ++i) {
          all[i] = std::max(all[i], agents_[agent].knows[i]);
        }
      }
      for (const std::size_t agent : agents) {
        agents_[agent].knows = all;
      }
    }
  }

  void access() {
    const std::uint32_t w = below(program_.words);
    const bool shared = w < program_.shared_words;
    const std::vector<std::size_t> agents =
        some(1, 1, false, shared ? cta_of(program_, w) : kAnyCta);
    const std::size_t agent = agents.front();
    if (full(agents)) {
      return;
    }
    Word& word = words_[w];
    const bool written = word.written || w >= program_.shared_words;
    switch (below(5)) {
      case 0:
      case 1:
        if (knows(agent, word.writes) && knows(agent, word.reads) && knows(agent, word.adds)) {
          say(Kind::kStore, agents, w, 100 + static_cast<std::uint32_t>(program_.steps.size()));
          word = {true, {act(agent)}, {}, {}};
          word.update = program_.counted ? static_cast<Update>(below(3)) : Update::kAdds;
        }
        break;
      case 2:
        if (written && knows(agent, word.writes) && knows(agent, word.reads)) {
          say(Kind::kAdd, agents, w, 1000 + static_cast<std::uint32_t>(program_.steps.size()));
          program_.steps.back().update = word.update;
          word.adds.push_back(act(agent));
        }
        break;
      default:
        if (written && knows(agent, word.writes) && knows(agent, word.adds)) {
          say(Kind::kLoad, agents, w, 0);
          word.reads.push_back(act(agent));
        }
    }
  }

  LaneProgram& program_;
  std::mt19937_64& random_;
  std::vector<Agent> agents_;
  std::size_t copies_ = 0;  // that have been drawn: agents behind the others
  std::vector<Word> words_;
  std::vector<Barrier> barriers_;
  std::vector<Flag> flags_;
};

void Drawing::ask_who_is_last() {
  const std::vector<std::size_t> askers = some(2, 4, false);
  const std::uint32_t flag = program_.flags++;
  const bool relaxed = maybe_relaxed();
  std::vector<std::uint32_t> known(agents_.size() + kCopiesMax);
  for (const std::size_t asker : askers) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      known[i] = std::max(known[i], agents_[asker].knows[i]);
    }
    known[asker] = agents_[asker].ops;
  }
  std::vector<Step> rest;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t w = program_.shared_words + below(program_.words - program_.shared_words);
    const auto all_known = [&](const std::vector<Point>& points) {
      return std::all_of(points.begin(), points.end(), [&](const Point& point) {
        return known[point.agent] > point.op;
      });
    };
    const Word& word = words_[w];
    if (all_known(word.writes) && all_known(word.adds)) {
      const bool stores = all_known(word.reads) && below(2) == 0;
      rest.push_back({stores ? Kind::kStore : Kind::kLoad, 0, 0, w, stores ? 50 + i : 0});
    }
  }
  for (const std::size_t asker : askers) {
    if (relaxed) {
      say(Kind::kFence, {asker}, 0, 0);
    }
    const std::size_t ask = program_.steps.size();
    say(Kind::kAskLast, {asker}, flag, static_cast<std::uint32_t>(askers.size()));
    weaken_from(ask, relaxed);
    if (relaxed) {
      say(Kind::kFence, {asker}, 0, 0);
    }
    for (const Step& step : rest) {
      say(step.kind, {asker}, step.object, step.value);
    }
  }
}

std::uint32_t without_a_lane(std::uint32_t lanes, std::mt19937_64& random) {
  std::uint32_t skipped = static_cast<std::uint32_t>(random() % std::popcount(lanes));
  for (std::uint32_t lane = 0; lane < kLanesMax; ++lane) {
    if ((lanes >> lane & 1U) != 0 && skipped-- == 0) {
      return lanes & ~(1U << lane);
    }
  }
  return lanes;
}

void edit(LaneProgram& program, std::mt19937_64& random) {
  std::vector<Step>& steps = program.steps;
  if (steps.empty()) {
    return;
  }
  const std::size_t at = random() % steps.size();
  Step& step = steps[at];
  switch (random() % 8) {
    case 0:
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1: {
      const Step again = step;
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), again);
      break;
    }
    case 2:  // later than the next step of its warp
      for (std::size_t next = at + 1; next < steps.size(); ++next) {
        if (steps[next].warp == step.warp) {
          std::swap(steps[at], steps[next]);
          break;
        }
      }
      break;
    case 3:
      if (std::popcount(step.lanes) > 1) {
        step.lanes = without_a_lane(step.lanes, random);
      }
      break;
    case 4: {  // by another lane
      const std::uint32_t others = program.live & ~step.lanes;
      if (others != 0) {
        step.lanes = (std::popcount(step.lanes) > 1 ? without_a_lane(step.lanes, random) : 0) |
                     (others & (~others + 1U));
      }
      break;
    }
    case 5:
      if (step.kind == Kind::kWait) {
        step.value ^= 1U;
      } else if ((step.kind == Kind::kAwait && step.value > 0) ||
                 (step.kind == Kind::kAskLast && step.value > 1)) {
        --step.value;
      }
      break;
    case 6:
      if (random() % 3 == 0) {
        step.near = !step.near;
      } else if (step.kind != Kind::kExpect) {
        step.relaxed = !step.relaxed;
      }
      break;
    default:
      if (step.kind == Kind::kSync) {
        step.kind = Kind::kShuffle;
      } else if (program.counted &&
                 (step.kind == Kind::kBump || step.kind == Kind::kAwait || random() % 2 == 0)) {
        step.update = static_cast<Update>(random() % 3);
        step.copy = static_cast<Copy>(random() % 5);
        step.test = static_cast<Test>(random() % 4);
      } else if (step.kind == Kind::kAdd) {
        step.kind = Kind::kLoad;
      }
  }
}

}  // namespace

LaneProgram random_lane_program(std::mt19937_64& random, std::uint32_t edits, Drawn drawn) {
  LaneProgram program;
  program.warps = 1 + static_cast<std::uint32_t>(random() % 3);
  program.ctas = program.warps == 2 ? 1 + static_cast<std::uint32_t>(random() % 2) : 1;
  const std::uint32_t lanes = program.warps == 1 ? 4 : program.warps == 2 ? 3 : 2;
  program.live = 0;
  while (std::popcount(program.live) < static_cast<int>(lanes)) {
    program.live |= 1U << random() % (random() % 2 == 0 ? 4 : kLanesMax);
  }
  program.copies = random() % 3 == 0 || drawn.counted;
  program.counted = drawn.counted;
  program.relaxed = random() % 3 == 0;
  Drawing drawing{program, random};
  drawing.steps(6 + static_cast<std::uint32_t>(random() % 10));
  if (drawn.asks) {
    drawing.ask_who_is_last();
  }
  for (std::uint32_t i = 0; i < edits; ++i) {
    edit(program, random);
  }
  return program;
}

}  // namespace warptwin::lanes
