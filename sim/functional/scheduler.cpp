#include "sim/functional/scheduler.hpp"

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
constexpr const char* kTriesFail = "+tries-fail";
constexpr const char* kTiles = "+tiles:";
constexpr const char* kLast = "+last:";

[[noreturn]] void refuse(const std::string& text) {
  throw ConfigError(
      "'" + text +
      "' is no schedule: use round-robin, in-turn, random:SEED, pct:SEED:DEPTH:STEPS, "
      "starve:AGENT, lazy:AGENT or the "
      "schedule of a replay line");
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
  switch (strategy) {
    case Strategy::kRoundRobin:
      return "round-robin";
    case Strategy::kInTurn:
      return "in-turn";
    case Strategy::kRandom:
      return "random:" + std::to_string(seed);
    case Strategy::kPct:
      return "pct:" + std::to_string(seed) + ":" + std::to_string(depth) + ":" +
             std::to_string(length);
    case Strategy::kStarve:
      return "starve:" + std::to_string(victim.number());
    case Strategy::kLazy:
      return "lazy:" + std::to_string(victim.number());
    case Strategy::kReplay:
      break;
  }
  std::string text = "steps:";
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t run = 1;
    while (i + run < choices.size() && choices[i + run] == choices[i]) {
      ++run;
    }
    text += (i == 0 ? "" : ".") + std::to_string(choices[i].number()) +
            (run > 1 ? "*" + std::to_string(run) : "");
    i += run;
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
  if (text == "in-turn") {
    spec.strategy = Strategy::kInTurn;
    return spec;
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (text == "round-robin") {
    return spec;
  }
  if (parts[0] == "random" && parts.size() == 2) {
    spec.strategy = Strategy::kRandom;
    spec.seed = number(parts[1], text);
  } else if (parts[0] == "pct" && parts.size() == 4) {
    spec.strategy = Strategy::kPct;
    spec.seed = number(parts[1], text);
    const std::uint64_t depth = number(parts[2], text);
    spec.length = number(parts[3], text);
    if (depth == 0 || depth > 64) {
      refuse(text);
    }
    spec.depth = static_cast<std::uint32_t>(depth);
  } else if ((parts[0] == "starve" || parts[0] == "lazy") && parts.size() == 2) {
    spec.strategy = parts[0] == "lazy" ? Strategy::kLazy : Strategy::kStarve;
    spec.victim = agent(parts[1], text);
  } else if (parts[0] == "steps" && parts.size() == 2) {
    spec.strategy = Strategy::kReplay;
    if (!parts[1].empty()) {
      for (const std::string_view item : split(parts[1], '.')) {
        const std::vector<std::string_view> run = split(item, '*');
        const std::uint64_t count = run.size() == 2 ? number(run[1], text) : 1;
        if (run.size() > 2 || spec.choices.size() + count > kReplayStepsMax) {
          refuse(text);
        }
        spec.choices.insert(spec.choices.end(), count, agent(run[0], text));
      }
    }
  } else {
    refuse(text);
  }
  return spec;
}

std::unique_ptr<Scheduler> make_scheduler(const ScheduleSpec& spec) {
  switch (spec.strategy) {
    case Strategy::kRoundRobin:
      return std::make_unique<RoundRobinScheduler>();
    case Strategy::kInTurn:
      return std::make_unique<InTurnScheduler>();
    case Strategy::kRandom:
      return std::make_unique<RandomScheduler>(spec.seed);
    case Strategy::kPct:
      return std::make_unique<PctScheduler>(spec.seed, spec.depth, spec.length);
    case Strategy::kStarve:
      return std::make_unique<StarveScheduler>(spec.victim);
    case Strategy::kLazy:
      return std::make_unique<LazyScheduler>(spec.victim);
    case Strategy::kReplay:
      return std::make_unique<ReplayScheduler>(spec.choices);
  }
  return nullptr;
}

}  // namespace warptwin::sim
