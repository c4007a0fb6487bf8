// What lanes of a warp that have not met know, and what they tell.

#include <algorithm>
#include <bit>

#include "common/trace/op_facts.hpp"

#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};

void meet(ProofClock& into, const ProofClock& other) {
  into.resize(std::min(into.size(), other.size()));
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] = std::min(into[i], other[i]);
  }
}

}  // namespace

// Some act apart: only of the first sets is it told how far they are.
void RunOrder::note_set(Lanes& lanes, std::uint32_t set) {
  std::vector<std::uint32_t>& sets = lanes.sets;
  if (set == kAllLanes || std::find(sets.begin(), sets.end(), set) != sets.end()) {
    return;
  }
  lanes_part_ = lanes_part_ || !sets.empty();
  if (sets.size() < options_.lane_sets) {
    sets.push_back(set);
  } else {
    needs_lane_sets_ = true;
  }
}

// No part has lanes of both kinds.
void RunOrder::Lanes::separate(std::uint32_t lanes, const ProofClock& all) {
  if (parts.empty()) {
    parts.push_back({kAllLanes, all});
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t inside = parts[i].lanes & lanes;
    if (inside != 0 && inside != parts[i].lanes) {
      parts[i].lanes &= ~lanes;
      parts.push_back({inside, parts[i].clock});
    }
  }
}

// The latest operation of a warp. Another lane of it need not have executed it.
ProofNode RunOrder::node_of(Group& group, const Event& event, std::uint32_t self) {
  ProofNode node = node_of(event, self, counter_.warp_index(event.warp));
  note_set(group.lanes[self], event.lane_mask());
  say_whose(group, event.lane_mask(), node);
  return node;
}

// Of an operation of a warp: by what it is known, as these lanes execute it.
void RunOrder::say_whose(const Group& group, std::uint32_t lanes, ProofNode& node) const {
  const std::uint32_t all = chains_.all_lanes(node.chain);
  node.known_by = told_by(group, lanes, node.chain).value_or(all);
  node.alone = std::has_single_bit(lanes) && node.known_by != all;
}

// The component that says how far these lanes are, if there is one.
std::optional<std::uint32_t> RunOrder::told_by(const Group& group,
                                               std::uint32_t lanes,
                                               std::uint32_t self) const {
  if (lanes == kAllLanes) {
    return chains_.all_lanes(self);
  }
  const std::vector<std::uint32_t>& sets = group.lanes[self].sets;
  const auto set = std::find(sets.begin(), sets.end(), lanes);
  return set == sets.end()
             ? std::nullopt
             : std::optional{chains_.lane_set(static_cast<std::size_t>(set - sets.begin()), self)};
}

// Where lanes wait one by one, each knows what it has waited for. Behind that an access of all of
// them is the warp's: who knows of which bytes is not told apart.
void RunOrder::note_one_by_one(Group& group, const Event& event, std::uint32_t self) {
  std::uint32_t& waited = group.lanes[self].waited;
  if (waits_alone(event)) {
    waited |= event.lane_mask();
    return;
  }
  if (event.lanes != kWarpLanes) {
    return;
  }
  const bool waits = event.op == Op::kMbarrierWait || event.op == Op::kMbarrierTryWait;
  if (waited == kAllLanes && has_trait(event.op, op_trait::kPerLane) && !waits) {
    undecided(
        "lanes of a warp have waited one by one, and go on together without a meeting "
        "(bar.warp.sync)",
        event);
    waited = 0;
  }
  if (has_trait(event.op, op_trait::kMeets)) {
    waited = 0;
  }
}

// What is known where they have executed their latest operation.
ProofPoints RunOrder::told_of(const Group& group, const Event& event, std::uint32_t self) const {
  const std::uint32_t index = counter_.warp_index(event.warp);
  const std::uint32_t lanes = event.lane_mask();
  ProofPoints told;
  if (lanes == kAllLanes) {
    told.add(chains_.all_lanes(self), index);
    told.add(chains_.late_lanes(self), counter_.late_index(event.warp));
    for (std::uint32_t set = 0; set < options_.lane_sets; ++set) {
      told.add(chains_.lane_set(set, self), index);
    }
    return told;
  }
  const std::vector<std::uint32_t>& sets = group.lanes[self].sets;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    if ((sets[set] & ~lanes) == 0) {
      told.add(chains_.lane_set(set, self), index);
    }
  }
  return told;
}

// What each of these lanes knows. How far some lane of the warp is, all of them may.
const ProofClock& RunOrder::known_to(Group& group, std::uint32_t lanes, std::uint32_t self) const {
  ProofClock& warp = group.conditions.clock(self);
  ProofClock* known = nullptr;
  for (Lanes::Part& part : group.lanes[self].parts) {
    if ((part.lanes & lanes) == 0) {
      continue;
    }
    if (known == nullptr) {
      known = &part.clock;
    } else {
      if (known != &between_) {
        between_ = *known;
        known = &between_;
        lanes_part_ = true;
      }
      meet(between_, part.clock);
    }
  }
  if (known == nullptr) {
    return warp;
  }
  raise(*known, self, warp[self]);
  return *known;
}

// A warp's operation contributes to the open phase of a barrier.
void RunOrder::contribute(Group& group,
                          const Event& event,
                          std::uint32_t self,
                          std::uint32_t number,
                          Conditions::Contribution what) {
  const ProofNode node = node_of(group, event, self);
  what.tells = told_of(group, event, self);
  group.conditions.contribute(
      node, known_to(group, event.lane_mask(), self), number, event.phase, what);
}

// A wait passes: for the lanes that execute it.
void RunOrder::pass(Group& group,
                    const Event& event,
                    std::uint32_t self,
                    std::uint32_t barrier,
                    std::int32_t phase) {
  ProofNode node = node_of(group, event, self);
  if (event.lane_mask() == kAllLanes) {
    node.known_by = kLeaf;  // the lanes that go on; those that do not are late
  }
  group.conditions.wait(node, known_to(group, event.lane_mask(), self), barrier, phase);
  learn_phase(group, event, self, barrier, phase);
}

void RunOrder::learn_phase(Group& group,
                           const Event& event,
                           std::uint32_t self,
                           std::uint32_t barrier,
                           std::int32_t phase) {
  learn(group, event, self, [&](ProofClock& clock) {
    group.conditions.learn(clock, barrier, phase);
  });
}

// What only some lanes learn the others do not know before the warp meets.
void RunOrder::learn(Group& group,
                     const Event& event,
                     std::uint32_t self,
                     const std::function<void(ProofClock&)>& f) {
  Lanes& lanes = group.lanes[self];
  if (event.lane_mask() != kAllLanes) {
    lanes.separate(event.lane_mask(), group.conditions.clock(self));
  }
  if (lanes.parts.empty()) {
    f(group.conditions.clock(self));
  }
  for (Lanes::Part& part : lanes.parts) {
    if ((part.lanes & event.lane_mask()) != 0) {
      f(part.clock);
    }
  }
}

// A wait that passes at what the last write leaves, too, may be told of it by that write alone. An
// update goes on with what was told before, and so does a thread that alone writes the word. Others
// come behind the wait.
void RunOrder::tells_as_much(const Event& event, const ProofClock& clock, Flag& flag) {
  if (flag.log.size() < 2) {
    return;
  }
  const ProofNode& write = flag.log.back();
  const ProofNode& before = flag.log[flag.log.size() - 2];
  const bool one_thread = write.alone && before.alone && write.component() == before.component();
  flag.several_threads = flag.several_threads || write.chain != before.chain ||
                         (options_.lanes_in_turn && !one_thread);
  if (!flag.several_threads || event.op == Op::kGlobalRedAdd) {
    return;
  }
  for (const Flag::Lasting& one : flag.lasting) {
    have_met(event, write, clock, one.node);
    if (one.node.chain != write.chain && !write.knows(one.node, clock)) {
      undecided(
          "a global word that a wait passes at is stored to by another thread: whether that "
          "tells as much is not looked at",
          event);
    }
  }
}

}  // namespace warptwin::sim
