#include "sim/timed/causes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace warptwin::sim {

namespace {

using Key = std::pair<StepKind, std::string>;

struct Sums {
  std::uint32_t id = 0;
  Ticks on_path = 0;
  std::uint64_t path_steps = 0;
  Ticks least = ~Ticks{0};
  double slack = 0;
  std::uint64_t steps = 0;
};

/// Sums by name. Many steps share few ids: a name is asked for once for each.
class SumsByName {
 public:
  explicit SumsByName(const std::function<std::string(StepName)>& name) : name_{name} {}

  Sums& of(StepName what) {
    Asked& asked = asked_[place_of(what)];
    if (asked.sums == nullptr || asked.what.kind != what.kind || asked.what.id != what.id) {
      asked = {what, &find(what)};
    }
    return *asked.sums;
  }
  const std::map<Key, Sums>& all() const { return sums_; }

 private:
  struct Asked {
    StepName what;
    Sums* sums = nullptr;
  };

  // Units and roles are numbered from 0, mbarriers stand eight bytes apart.
  static std::size_t place_of(StepName what) {
    return (what.id ^ what.id >> 3U ^ static_cast<std::uint32_t>(what.kind) << 5U) % kPlaces;
  }
  Sums& find(StepName what) {
    Sums*& known = by_id_[{what.kind, what.id}];
    if (known == nullptr) {
      known = &sums_[{what.kind, name_(what)}];
      known->id = what.id;
    }
    return *known;
  }

  static constexpr std::size_t kPlaces = 128;

  const std::function<std::string(StepName)>& name_;
  std::array<Asked, kPlaces> asked_;  // what was asked for last, of those that share a place
  std::map<std::pair<StepKind, std::uint32_t>, Sums*> by_id_;
  std::map<Key, Sums> sums_;
};

// A ring's consumers hand its stages back through barriers of this name.
bool is_ring(const PathPart& part) {
  constexpr std::string_view kSuffix = ".empty";
  return part.kind == StepKind::kBarrier && part.what.size() > kSuffix.size() &&
         part.what.compare(part.what.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
}

}  // namespace

const char* name_of(Unit unit) {
  static constexpr const char* kNames[] = {"tensor core",
                                           "tensor-core latency",
                                           "TMA engine",
                                           "copy latency",
                                           "shared-memory read",
                                           "shared-memory write",
                                           "tensor-memory port",
                                           "tensor-memory latency",
                                           "L2",
                                           "far half of L2",
                                           "link of the halves",
                                           "DRAM",
                                           "DRAM latency",
                                           "cluster network",
                                           "FMA",
                                           "MUFU",
                                           "cluster launch control",
                                           "start of CTAs"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Unit::kCount));
  return kNames[static_cast<std::size_t>(unit)];
}

bool is_throughput(Unit unit) {
  switch (unit) {
    case Unit::kTensorCore:
    case Unit::kTmaEngine:
    case Unit::kSharedRead:
    case Unit::kSharedWrite:
    case Unit::kTmemPort:
    case Unit::kL2:
    case Unit::kL2Link:
    case Unit::kFma:
    case Unit::kMufu:
    case Unit::kDram:
      return true;
    default:
      return false;
  }
}

Cause CauseLog::add(StepName what, Ticks end, Cause first, Cause second) {
  if (steps_.size() == most_) {
    const std::size_t oldest = std::max<std::size_t>(1, most_ / 4);
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(oldest));
    forgotten_ += static_cast<Cause>(oldest);
  }
  // A step does not end before what it waited for.
  const Ticks least = std::max(this->end(first), this->end(second));
  steps_.push_back({std::max(end, least), first, second, what});
  return forgotten_ + static_cast<Cause>(steps_.size());
}

// When each step may end at the latest, so that none behind it is later than it may be.
std::vector<Ticks> CauseLog::latest_ends(Ticks last) const {
  std::vector<Ticks> latest(steps_.size(), last);
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    const Ticks begins = latest[i] - length(step);
    for (const Cause before : {step.first, step.second}) {
      if (before > forgotten_) {
        latest[index(before)] = std::min(latest[index(before)], begins);
      }
    }
  }
  return latest;
}

std::vector<bool> CauseLog::awaited_steps() const {
  std::vector<bool> awaited(steps_.size(), false);
  for (const Step& step : steps_) {
    for (const Cause before : {step.first, step.second}) {
      if (before > forgotten_) {
        awaited[index(before)] = true;
      }
    }
  }
  return awaited;
}

Ticks CauseLog::end_without(const std::string& barrier,
                            const std::function<std::string(StepName)>& name) const {
  std::unordered_map<std::uint32_t, bool> known;
  const auto is_gone = [&](StepName what) {
    if (what.kind != StepKind::kBarrier) {
      return false;
    }
    const auto [found, is_new] = known.try_emplace(what.id, false);
    found->second = is_new ? name(what) == barrier : found->second;
    return found->second;
  };
  std::vector<Ticks> awaited(steps_.size());  // until when what follows a step waits for it
  Ticks last = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    Ticks begins = 0;
    for (const Cause before : {step.first, step.second}) {
      if (before > forgotten_) {
        begins = std::max(begins, awaited[index(before)]);
      }
    }
    const Ticks ends = begins + length(step);
    awaited[i] = is_gone(step.what) ? 0 : ends;
    last = std::max(last, ends);
  }
  return last;
}

CriticalPath CauseLog::critical_path(const std::function<std::string(StepName)>& name) const {
  CriticalPath path;
  if (steps_.empty()) {
    return path;
  }
  SumsByName sums{name};
  const auto last = std::max_element(
      steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.end < b.end; });
  std::vector<std::pair<const Sums*, PathStretch>> backwards;
  for (const Step* step = &*last;;) {
    const Cause before = later(*step);
    if (before != kNoCause && before <= forgotten_) {
      path.cycles = to_cycles(last->end - step->end);
      break;
    }
    const Ticks begin = end(before);
    Sums& sum = sums.of(step->what);
    sum.on_path += step->end - begin;
    if (!backwards.empty() && backwards.back().first == &sum) {
      backwards.back().second.begin = to_cycles(begin);
    } else if (step->end > begin) {
      backwards.push_back({&sum, {0, to_cycles(begin), to_cycles(step->end)}});
    }
    ++sum.path_steps;
    if (before == kNoCause) {
      path.cycles = to_cycles(last->end);
      break;
    }
    step = &steps_[index(before)];
  }
  const std::vector<Ticks> latest = latest_ends(last->end);
  const std::vector<bool> awaited = awaited_steps();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!awaited[i] && &steps_[i] != &*last) {
      continue;
    }
    Sums& sum = sums.of(steps_[i].what);
    const Ticks slack = latest[i] - steps_[i].end;
    sum.least = std::min(sum.least, slack);
    sum.slack += to_cycles(slack);
    ++sum.steps;
  }
  std::map<Key, const Sums*> known;
  for (const auto& [key, sum] : sums.all()) {
    if (sum.path_steps != 0) {
      known.emplace(key, &sum);
      path.parts.push_back({key.first, key.second, sum.id, to_cycles(sum.on_path), sum.path_steps});
      PathPart& part = path.parts.back();
      if (is_ring(part)) {
        const Ticks without = end_without(part.what, name);
        part.gain_without =
            (to_cycles(last->end) - to_cycles(without)) / std::max(path.cycles, 1.0);
      }
    }
    path.slack.push_back({key.first,
                          key.second,
                          to_cycles(sum.least),
                          sum.slack / static_cast<double>(sum.steps),
                          sum.steps});
  }
  std::stable_sort(path.parts.begin(), path.parts.end(), [](const auto& a, const auto& b) {
    return a.cycles > b.cycles;
  });
  std::map<const Sums*, std::size_t> places;
  for (std::size_t i = 0; i < path.parts.size(); ++i) {
    places.emplace(known.at({path.parts[i].kind, path.parts[i].what}), i);
  }
  std::for_each(backwards.rbegin(), backwards.rend(), [&](auto& stretch) {
    stretch.second.part = places.at(stretch.first);
    path.stretches.push_back(stretch.second);
  });
  std::stable_sort(path.slack.begin(), path.slack.end(), [](const auto& a, const auto& b) {
    return std::pair{a.least, a.mean} < std::pair{b.least, b.mean};
  });
  return path;
}

}  // namespace warptwin::sim
