#include "sim/functional/scheduler.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "common/kernel/scenario.hpp"

#include "sim/functional/schedulers/in_turn.hpp"
#include "sim/functional/schedulers/lazy.hpp"
#include "sim/functional/schedulers/pct.hpp"
#include "sim/functional/schedulers/random.hpp"
#include "sim/functional/schedulers/replay.hpp"
#include "sim/functional/schedulers/round_robin.hpp"
#include "sim/functional/schedulers/starve.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint64_t kReplayStepsMax = 10'000'000;
constexpr std::uint64_t kDepthMax = 64;
constexpr const char* kTriesFail = "+tries-fail";
constexpr const char* kTiles = "+tiles:";
constexpr const char* kOrder = "+order:";
constexpr const char* kLast = "+last:";

// What stands behind the name of a strategy.
enum class Field : std::uint8_t { kSeed, kDepth, kLength, kVictim, kChoices };

const char* word_of(Field field) {
  constexpr const char* kWords[] = {"SEED", "DEPTH", "STEPS", "AGENT", "CHOICES"};
  return kWords[static_cast<unsigned>(field)];
}

struct StrategyRow {
  Strategy strategy;
  const char* name;
  std::vector<Field> fields;  // behind it, each after a colon
  std::unique_ptr<Scheduler> (*make)(const ScheduleSpec& spec);
};

// In the order of Strategy.
const std::vector<StrategyRow>& strategies() {
  using Made = std::unique_ptr<Scheduler>;
  using Spec = ScheduleSpec;
  static const std::vector<StrategyRow> kRows = {
      {Strategy::kRoundRobin,
       "round-robin",
       {},
       [](const Spec&) -> Made { return std::make_unique<RoundRobinScheduler>(); }},
      {Strategy::kInTurn,
       "in-turn",
       {},
       [](const Spec&) -> Made { return std::make_unique<InTurnScheduler>(); }},
      {Strategy::kRandom,
       "random",
       {Field::kSeed},
       [](const Spec& spec) -> Made { return std::make_unique<RandomScheduler>(spec.seed); }},
      {Strategy::kPct,
       "pct",
       {Field::kSeed, Field::kDepth, Field::kLength},
       [](const Spec& spec) -> Made {
         return std::make_unique<PctScheduler>(spec.seed, spec.depth, spec.length);
       }},
      {Strategy::kStarve,
       "starve",
       {Field::kVictim},
       [](const Spec& spec) -> Made { return std::make_unique<StarveScheduler>(spec.victim); }},
      {Strategy::kLazy,
       "lazy",
       {Field::kVictim},
       [](const Spec& spec) -> Made { return std::make_unique<LazyScheduler>(spec.victim); }},
      {Strategy::kReplay,
       "steps",
       {Field::kChoices},
       [](const Spec& spec) -> Made { return std::make_unique<ReplayScheduler>(spec.choices); }},
  };
  return kRows;
}

const StrategyRow& row_of(Strategy strategy) {
  return strategies().at(static_cast<std::size_t>(strategy));
}

[[noreturn]] void refuse(const std::string& text) {
  std::string known;
  for (const StrategyRow& row : strategies()) {
    if (row.strategy != Strategy::kReplay) {
      known += (known.empty() ? "" : ", ") + std::string{row.name};
      for (const Field field : row.fields) {
        known += std::string{":"} + word_of(field);
      }
    }
  }
  throw ConfigError("'" + text + "' is no schedule: use " + known +
                    " or the schedule of a replay line");
}

std::uint64_t number(std::string_view text, const std::string& whole) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse(whole);
  }
  return value;
}

AgentSlot agent(std::string_view text, const std::string& whole) {
  return AgentSlot{static_cast<std::uint32_t>(number(text, whole))};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

// "1050112=5.0": of the word at that address lane 0 of warp 5.
LastAdder last_adder(std::string_view text, const std::string& whole) {
  const std::vector<std::string_view> sides = split(text, '=');
  const std::vector<std::string_view> who = split(sides.back(), '.');
  if (sides.size() != 2 || who.size() != 2) {
    refuse(whole);
  }
  const std::uint64_t warp = number(who[0], whole);
  const std::uint64_t lane = number(who[1], whole);
  if (warp > ~std::uint32_t{0} || lane >= 32) {
    refuse(whole);
  }
  return {number(sides[0], whole),
          {static_cast<std::uint32_t>(warp), static_cast<std::uint32_t>(lane)}};
}

// Of longer texts, those who act again and again in one order stand once; so many at most.
constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kGroupMax = 64;

// "0-1*3.5": who acts, step by step; the first two three times.
std::string text_in_groups(const std::vector<AgentSlot>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t size = 1;
    std::size_t covers = 1;
    for (std::size_t one = 1; one <= std::min(kGroupMax, choices.size() - i); ++one) {
      std::size_t alike = one;
      while (i + alike < choices.size() && choices[i + alike] == choices[i + alike - one]) {
        ++alike;
      }
      alike -= alike % one;
      if (alike > one && alike > covers) {
        size = one;
        covers = alike;
      }
    }
    for (std::size_t at = 0; at < size; ++at) {
      text += at != 0 ? "-" : i != 0 ? "." : "";
      text += std::to_string(choices[i + at].number());
    }
    text += covers > size ? "*" + std::to_string(covers / size) : "";
    i += covers;
  }
  return text;
}

// "0.0.5*3": who acts, step by step.
std::string text_of(const std::vector<AgentSlot>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t run = 1;
    while (i + run < choices.size() && choices[i + run] == choices[i]) {
      ++run;
    }
    text += (i == 0 ? "" : ".") + std::to_string(choices[i].number()) +
            (run > 1 ? "*" + std::to_string(run) : "");
    i += run;
  }
  return text.size() > kTextMax ? text_in_groups(choices) : text;
}

std::vector<AgentSlot> choices_of(std::string_view text, const std::string& whole) {
  std::vector<AgentSlot> choices;
  if (text.empty()) {
    return choices;
  }
  for (const std::string_view item : split(text, '.')) {
    const std::vector<std::string_view> run = split(item, '*');
    const std::uint64_t count = run.size() == 2 ? number(run[1], whole) : 1;
    std::vector<AgentSlot> group;
    for (const std::string_view one : split(run[0], '-')) {
      group.push_back(agent(one, whole));
    }
    if (run.size() > 2 || count > kReplayStepsMax ||
        choices.size() + count * group.size() > kReplayStepsMax) {
      refuse(whole);
    }
    choices.reserve(choices.size() + count * group.size());
    for (std::uint64_t again = 0; again < count; ++again) {
      choices.insert(choices.end(), group.begin(), group.end());
    }
  }
  return choices;
}

std::string text_of(const ScheduleSpec& spec, Field field) {
  switch (field) {
    case Field::kSeed:
      return std::to_string(spec.seed);
    case Field::kDepth:
      return std::to_string(spec.depth);
    case Field::kLength:
      return std::to_string(spec.length);
    case Field::kVictim:
      return std::to_string(spec.victim.number());
    case Field::kChoices:
      break;
  }
  return text_of(spec.choices);
}

void read(ScheduleSpec& spec, Field field, std::string_view text, const std::string& whole) {
  switch (field) {
    case Field::kSeed:
      spec.seed = number(text, whole);
      return;
    case Field::kDepth: {
      const std::uint64_t depth = number(text, whole);
      if (depth == 0 || depth > kDepthMax) {
        refuse(whole);
      }
      spec.depth = static_cast<std::uint32_t>(depth);
      return;
    }
    case Field::kLength:
      spec.length = number(text, whole);
      return;
    case Field::kVictim:
      spec.victim = agent(text, whole);
      return;
    case Field::kChoices:
      spec.choices = choices_of(text, whole);
      return;
  }
}

}  // namespace

std::string ScheduleSpec::to_string() const {
  if (!last.empty()) {
    ScheduleSpec other = *this;
    other.last.clear();
    std::string text = other.to_string();
    for (const LastAdder& one : last) {
      text += (&one == &last.front() ? kLast : ",") + std::to_string(one.address) + "=" +
              std::to_string(one.adder.warp) + "." + std::to_string(one.adder.lane);
    }
    return text;
  }
  if (!order.empty()) {
    ScheduleSpec other = *this;
    other.order.clear();
    other.tiles = 0;
    std::string text = other.to_string() + kOrder;
    for (std::size_t i = 0; i < order.size(); ++i) {
      text += (i == 0 ? "" : ".") + std::to_string(order[i]);
    }
    return text;
  }
  if (tiles != 0) {
    ScheduleSpec other = *this;
    other.tiles = 0;
    return other.to_string() + kTiles + std::to_string(tiles);
  }
  if (tries_fail) {
    ScheduleSpec other = *this;
    other.tries_fail = false;
    return other.to_string() + kTriesFail;
  }
  const StrategyRow& row = row_of(strategy);
  std::string text = row.name;
  for (const Field field : row.fields) {
    text += ":" + text_of(*this, field);
  }
  return text;
}

ScheduleSpec ScheduleSpec::parse(const std::string& text) {
  ScheduleSpec spec;
  if (const std::size_t at = text.rfind(kLast); at != std::string::npos) {
    spec = parse(text.substr(0, at));
    if (!spec.last.empty()) {
      refuse(text);
    }
    const std::string_view words{text};
    for (const std::string_view one :
         split(words.substr(at + std::string_view{kLast}.size()), ',')) {
      spec.last.push_back(last_adder(one, text));
    }
    return spec;
  }
  if (const std::size_t at = text.rfind(kOrder); at != std::string::npos) {
    spec = parse(text.substr(0, at));
    if (spec.tiles != 0) {
      refuse(text);
    }
    const std::string_view words{text};
    for (const std::string_view one :
         split(words.substr(at + std::string_view{kOrder}.size()), '.')) {
      const std::uint64_t cluster = number(std::string{one}, text);
      if (cluster >= ~std::uint32_t{0} ||
          std::find(spec.order.begin(), spec.order.end(), cluster) != spec.order.end()) {
        refuse(text);
      }
      spec.order.push_back(static_cast<std::uint32_t>(cluster));
    }
    spec.tiles = static_cast<std::uint32_t>(spec.order.size());
    return spec;
  }
  if (const std::size_t at = text.rfind(kTiles); at != std::string::npos) {
    const std::uint64_t tiles = number(text.substr(at + std::string_view{kTiles}.size()), text);
    spec = parse(text.substr(0, at));
    if (spec.tiles != 0 || tiles == 0 || tiles > ~std::uint32_t{0}) {
      refuse(text);
    }
    spec.tiles = static_cast<std::uint32_t>(tiles);
    return spec;
  }
  if (text.ends_with(kTriesFail)) {
    spec = parse(text.substr(0, text.size() - std::string_view{kTriesFail}.size()));
    if (spec.tries_fail) {
      refuse(text);
    }
    spec.tries_fail = true;
    return spec;
  }
  const std::vector<std::string_view> parts = split(text, ':');
  for (const StrategyRow& row : strategies()) {
    if (parts[0] == row.name && parts.size() == 1 + row.fields.size()) {
      spec.strategy = row.strategy;
      for (std::size_t i = 0; i < row.fields.size(); ++i) {
        read(spec, row.fields[i], parts[i + 1], text);
      }
      return spec;
    }
  }
  refuse(text);
}

std::unique_ptr<Scheduler> make_scheduler(const ScheduleSpec& spec) {
  return row_of(spec.strategy).make(spec);
}

}  // namespace warptwin::sim
