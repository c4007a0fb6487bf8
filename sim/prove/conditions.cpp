#include "sim/prove/conditions.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/model/invariant.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kViolationsMax = 64;

}  // namespace

const char* name_of(Condition condition) {
  constexpr const char* kNames[] = {"C1", "C2", "C3", "C4", "C5"};
  return kNames[static_cast<unsigned>(condition)];
}

const char* diagnostic_of(Condition condition) {
  constexpr const char* kIds[] = {
      "ORDER_CONTRIBUTOR", "ORDER_PASS", "ORDER_LOOK", "ORDER_EXPECT", "ORDER_EXIT"};
  return kIds[static_cast<unsigned>(condition)];
}

void raise(ProofClock& clock, const ProofPoints& points) {
  for (const ProofPoint& point : points) {
    raise(clock, point.component, point.at);
  }
}

void join(ProofClock& into, const ProofClock& from) {
  if (into.size() < from.size()) {
    into.resize(from.size(), 0);
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    into[i] = std::max(into[i], from[i]);
  }
}

void Conditions::Phase::clear() {
  joined.clear();
  in_chain.clear();
  leaves.clear();
  passes.clear();
  expects.clear();
  announced = landed = arrivals = 0;
}

std::uint32_t Conditions::add_barrier(std::uint32_t count, PhaseTest test) {
  Barrier& barrier = barriers_.emplace_back();
  barrier.count = count;
  barrier.test = test;
  return static_cast<std::uint32_t>(barriers_.size() - 1);
}

void Conditions::step(std::uint32_t chain, std::uint32_t index) {
  WARPTWIN_INVARIANT(kClocksOnlyGrow,
                     chain >= clocks_[chain].size() || clocks_[chain][chain] <= index);
  raise(clocks_[chain], chain, index);
}

// A contributor of `phase`, one of the three last, that is not known to have happened, or null.
const ProofNode* Conditions::missing_contributor(const Barrier& barrier,
                                                 std::uint32_t number,
                                                 std::uint32_t phase,
                                                 const ProofClock& clock,
                                                 const ProofNode& observer) const {
  if (knows(clock, component(number), phase + 1)) {
    return nullptr;
  }
  const std::uint32_t back = barrier.phase - phase;
  const Phase& log = back == 0 ? barrier.current : back == 1 ? barrier.previous : barrier.older;
  for (const LeafMark& leaf : log.leaves) {
    if (!flushed(leaf, clock)) {
      return &leaf.node;
    }
  }
  for (const ProofNode& node : log.in_chain) {
    if (!observer.knows(node, clock)) {
      return &node;
    }
  }
  return nullptr;
}

bool Conditions::certain(const ProofNode& node,
                         const ProofClock& clock,
                         std::uint32_t number,
                         std::uint32_t phase) const {
  const Barrier& barrier = barriers_[number];
  return knows(clock, component(number), phase + 1) ||
         (phase < barrier.phase && barrier.phase - phase <= 2 &&
          missing_contributor(barrier, number, phase, clock, node) == nullptr);
}

void Conditions::contribute(const ProofNode& node,
                            const ProofClock& clock,
                            std::uint32_t number,
                            std::uint32_t phase,
                            const Contribution& what) {
  Barrier& barrier = barriers_[number];
  Phase& now = barrier.current;
  if (phase > 0 && !what.in_turn) {
    if (const ProofNode* missing = missing_contributor(barrier, number, phase - 1, clock, node)) {
      violate({Condition::kContributorsInOrder,
               number,
               static_cast<std::int32_t>(phase),
               node,
               *missing,
               clock});
    }
  }
  const auto told = [&](const ProofNode& earlier) {
    const std::uint32_t component = earlier.component();
    return knows(clock, component, earlier.index) ||
           std::any_of(what.tells.begin(), what.tells.end(), [&](const ProofPoint& point) {
             return point.component == component && point.at >= earlier.index;
           });
  };
  std::erase_if(now.passes, [&](const Pass& pass) { return told(pass.node); });
  join(now.joined, clock);
  raise(now.joined, what.tells);
  if (node.chain == kLeaf) {
    now.leaves.push_back({node, what.memory_of, what.barrier_of, what.flushed_by, what.flushed_at});
  } else {
    const auto same =
        std::find_if(now.in_chain.begin(), now.in_chain.end(), [&](const ProofNode& n) {
          return n.component() == node.component();
        });
    if (same == now.in_chain.end()) {
      now.in_chain.push_back(node);
    } else {
      *same = node;
    }
  }
  if (what.kind == ProtocolKind::kArrive || what.kind == ProtocolKind::kArriveExpect) {
    now.arrivals += what.count;
    for (Expect& expect : now.expects) {
      expect.forced = expect.forced || (expect.node.chain != kLeaf && told(expect.node));
    }
  }
  if (what.kind == ProtocolKind::kArriveExpect) {
    now.announced += what.bytes;
  } else if (what.kind == ProtocolKind::kExpect) {
    now.expects.push_back({node, what.bytes, now.landed, false});
  } else if (what.kind == ProtocolKind::kComplete) {
    now.landed += what.bytes;
    for (Expect& expect : now.expects) {
      const bool after = expect.node.chain != kLeaf && told(expect.node);
      expect.landed += after ? 0 : what.bytes;
    }
  }
  if (what.completes) {
    complete(number);
  }
}

void Conditions::judge_expects(std::uint32_t number) {
  const Barrier& barrier = barriers_[number];
  const Phase& log = barrier.current;
  if (log.expects.empty() || log.arrivals != barrier.count) {
    return;
  }
  std::uint64_t forced = log.announced;
  for (const Expect& expect : log.expects) {
    forced += expect.forced ? expect.bytes : 0;
  }
  for (const Expect& expect : log.expects) {
    if (!expect.forced && expect.landed >= forced) {
      // All but the expect itself can have happened.
      ProofClock before = log.joined;
      if (expect.node.chain != kLeaf && expect.node.chain < before.size()) {
        before[expect.node.chain] = std::min(before[expect.node.chain], expect.node.index - 1);
      }
      violate({Condition::kBytesAnnounced,
               number,
               static_cast<std::int32_t>(barrier.phase),
               expect.node,
               log.in_chain.empty() ? expect.node : log.in_chain.back(),
               std::move(before)});
    }
  }
}

void Conditions::complete(std::uint32_t number) {
  Barrier& barrier = barriers_[number];
  judge_expects(number);
  std::vector<std::uint32_t> chains;
  for (const Pass& pass : barrier.current.passes) {
    // Phase n + 1 is complete although the wait for phase n has not passed: it looks too late. What
    // comes behind a wait that may be stuck is no witness.
    if (std::find(chains.begin(), chains.end(), pass.node.chain) != chains.end()) {
      continue;
    }
    chains.push_back(pass.node.chain);
    ProofClock before = barrier.current.joined;
    raise(before, component(number), barrier.phase + 1);
    join(before, pass.before);
    violate({Condition::kPassBeforeNext,
             number,
             static_cast<std::int32_t>(barrier.phase) - 1,
             pass.node,
             barrier.current.in_chain.empty() ? barrier.current.leaves.front().node
                                              : barrier.current.in_chain.back(),
             std::move(before)});
  }
  std::swap(barrier.older, barrier.previous);
  std::swap(barrier.previous, barrier.current);
  barrier.current.clear();
  ++barrier.phase;
}

void Conditions::look(const ProofNode& node,
                      const ProofClock& clock,
                      std::uint32_t number,
                      std::int32_t phase) {
  const Barrier& barrier = barriers_[number];
  if (barrier.test != PhaseTest::kParity || phase < 1) {
    return;
  }
  const auto before = static_cast<std::uint32_t>(phase - 1);
  if (before >= barrier.phase) {
    violate({Condition::kLookInTime, number, phase, node, node, clock});  // early in this very run
  } else if (const ProofNode* missing = missing_contributor(barrier, number, before, clock, node)) {
    violate({Condition::kLookInTime, number, phase, node, *missing, clock});
  }
}

void Conditions::owe_pass(const ProofNode& node,
                          const ProofClock& clock,
                          std::uint32_t number,
                          std::int32_t phase) {
  const Barrier& barrier = barriers_[number];
  if (barrier.test == PhaseTest::kExact || phase + 1 != static_cast<std::int32_t>(barrier.phase)) {
    return;
  }
  owe_pass(node, clock, number);
}

void Conditions::owe_pass(const ProofNode& node, const ProofClock& clock, std::uint32_t number) {
  // All of them: the latest is the hardest to be in time for, and a witness is of the earliest.
  barriers_[number].current.passes.push_back({node, clock});
}

void Conditions::wait(const ProofNode& node,
                      const ProofClock& clock,
                      std::uint32_t number,
                      std::int32_t phase) {
  look(node, clock, number, phase);
  owe_pass(node, clock, number, phase);
}

void Conditions::learn(ProofClock& clock, std::uint32_t number, std::int32_t phase) const {
  const Barrier& barrier = barriers_[number];
  if (phase >= 0) {
    // On an exact barrier the run may be further than the wait.
    const std::int32_t back = static_cast<std::int32_t>(barrier.phase) - phase;
    if (back == 1 || back == 2) {
      join(clock, back == 1 ? barrier.previous.joined : barrier.older.joined);
    }
    raise(clock, component(number), static_cast<std::uint32_t>(phase) + 1);
  }
}

void Conditions::late_pass(const ProofNode& node, std::uint32_t number, std::int32_t phase) {
  owe_pass(node, clocks_[node.chain], number, phase);
}

void Conditions::exit(const ProofNode& node, const ProofClock& clock, std::uint32_t cta) {
  for (std::uint32_t number = 0; number < barriers_.size(); ++number) {
    const Barrier& barrier = barriers_[number];
    const auto judge = [&](const Phase& log, std::uint32_t phase) {
      if (knows(clock, component(number), phase + 1)) {
        return;
      }
      for (const LeafMark& leaf : log.leaves) {
        if ((leaf.memory_of == cta || leaf.barrier_of == cta) && !flushed(leaf, clock)) {
          violate({Condition::kLifetime,
                   number,
                   static_cast<std::int32_t>(phase),
                   node,
                   leaf.node,
                   clock});
          return;
        }
      }
    };
    judge(barrier.current, barrier.phase);
    if (barrier.phase > 0) {
      judge(barrier.previous, barrier.phase - 1);
    }
  }
}

void Conditions::complete_by(std::uint32_t number,
                             const ProofClock& clock,
                             const std::vector<ProofNode>& ends) {
  Phase& now = barriers_[number].current;
  join(now.joined, clock);
  now.in_chain.insert(now.in_chain.end(), ends.begin(), ends.end());
  complete(number);
}

void Conditions::finish() {
  for (std::uint32_t number = 0; number < barriers_.size(); ++number) {
    judge_expects(number);
  }
}

void Conditions::violate(Violation violation) {
  const ProofNode& node = violation.node;
  if (node.chain != kLeaf && violation.condition != Condition::kLifetime &&
      node.chain < violation.before.size()) {
    // Not the operation itself.
    std::uint32_t& own = violation.before[node.chain];
    own = std::min(own, node.index - 1);
  }
  for (const Violation& known : violations_) {
    if (known.condition == violation.condition &&
        known.node.site.line == violation.node.site.line &&
        known.other.site.line == violation.other.site.line) {
      return;
    }
  }
  if (violations_.size() < kViolationsMax) {
    violations_.push_back(std::move(violation));
  } else {
    ++not_kept_;
  }
}

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xD6E8FEB86659FD93U;
  return hash ^ hash >> 32;
}

}  // namespace

namespace {

// For the processor it runs on: with AVX2 the loop is several times as fast.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WARPTWIN_FOR_ALL_X86 __attribute__((target_clones("arch=haswell", "default")))
#else
#define WARPTWIN_FOR_ALL_X86
#endif

constexpr std::uint32_t kPhasesBack = 3;  // a phase so far back is never asked for

// How far behind its phase each barrier is known, times two numbers of the barrier's own; the two
// sums as one number.
WARPTWIN_FOR_ALL_X86 std::uint64_t sum_behind(const std::uint32_t* phases,
                                              const std::uint32_t* known,
                                              const std::uint32_t* lows,
                                              const std::uint32_t* highs,
                                              std::size_t count) {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t behind = std::min(phases[i] - known[i], kPhasesBack);
    low += behind * lows[i];
    high += behind * highs[i];
  }
  return std::uint64_t{high} << 32 | low;
}

#undef WARPTWIN_FOR_ALL_X86

// Both halves by themselves.
std::uint64_t add_sums(std::uint64_t one, std::uint64_t other) {
  const auto low = static_cast<std::uint32_t>(one) + static_cast<std::uint32_t>(other);
  const auto high = static_cast<std::uint32_t>(one >> 32) + static_cast<std::uint32_t>(other >> 32);
  return std::uint64_t{high} << 32 | low;
}

// Of a clock only the answers matter that it can still give: which of the operations that are still
// asked for it knows, and which of a barrier's last phases. Later operations are known to nobody.
class ClockDigest {
 public:
  // `asked`: by component, the indices that are asked for. `phases`: of each barrier, whose
  // components come behind. Both outlive it.
  ClockDigest(std::vector<std::vector<std::uint32_t>>& asked,
              const std::vector<std::uint32_t>& phases)
      : asked_{asked}, phases_{phases} {
    for (std::uint32_t number = 0; number < asked.size(); ++number) {
      std::vector<std::uint32_t>& indices = asked[number];
      if (!indices.empty()) {
        std::sort(indices.begin(), indices.end());
        indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
        chains_.push_back({number, indices.front(), indices.back(), indices.size(), key(number)});
      }
    }
    for (std::size_t barrier = 0; barrier < phases.size(); ++barrier) {
      const std::uint64_t own = key(asked.size() + barrier);
      lows_.push_back(static_cast<std::uint32_t>(own));
      highs_.push_back(static_cast<std::uint32_t>(own >> 32) | 1U);
    }
    constexpr std::uint32_t kNothing = 0;
    unknown_.resize(phases.size() + 1, 0);
    for (std::size_t barrier = phases.size(); barrier-- > 0;) {
      const std::uint64_t one =
          sum_behind(&phases[barrier], &kNothing, &lows_[barrier], &highs_[barrier], 1);
      unknown_[barrier] = add_sums(unknown_[barrier + 1], one);
    }
  }

  std::uint64_t of_chains() const {
    std::uint64_t hash = 2;
    for (const Chain& chain : chains_) {
      hash = mix(hash, chain.number);
    }
    return hash;
  }
  std::uint64_t of(const ProofNode& node) const {
    return node.chain == kLeaf ? std::uint64_t{kLeaf}
                               : mix(node.component(), rank(node.component(), node.index));
  }
  // How many of the indices that are asked for come no later.
  std::uint64_t rank(std::uint32_t component, std::uint32_t index) const {
    const std::vector<std::uint32_t>& indices = asked_[component];
    return static_cast<std::uint64_t>(std::upper_bound(indices.begin(), indices.end(), index) -
                                      indices.begin());
  }
  // A sum over components, each times a number of its own.
  std::uint64_t of(const ProofClock& clock) const {
    const std::size_t size = clock.size();
    if (size == 0) {
      return mix(mix(1, 0), unknown_[0]);
    }
    std::uint64_t sum = 0;
    for (const Chain& chain : chains_) {
      // Most know all of it, or nothing.
      const std::uint32_t value = chain.number < size ? clock[chain.number] : 0;
      sum += chain.key * (value >= chain.last   ? chain.count
                          : value < chain.first ? 0
                                                : rank(chain.number, value));
    }
    const std::size_t first = asked_.size();
    const std::size_t known = std::min(phases_.size(), size - std::min(size, first));
    const std::uint64_t behind =
        known == 0 ? 0
                   : sum_behind(phases_.data(), &clock[first], lows_.data(), highs_.data(), known);
    return mix(mix(1, sum), add_sums(behind, unknown_[known]));
  }

 private:
  struct Chain {
    std::uint32_t number = 0;
    std::uint32_t first = 0;  // index that is asked for
    std::uint32_t last = 0;
    std::uint64_t count = 0;
    std::uint64_t key = 0;
  };
  static std::uint64_t key(std::uint64_t component) {
    return mix(mix(0x9E3779B97F4A7C15U, component), component) | 1;
  }

  const std::vector<std::vector<std::uint32_t>>& asked_;
  const std::vector<std::uint32_t>& phases_;
  std::vector<Chain> chains_;        // what is known of the others is never asked for
  std::vector<std::uint32_t> lows_;  // of barriers: two numbers of each
  std::vector<std::uint32_t> highs_;
  std::vector<std::uint64_t> unknown_;  // the sum from a barrier on where nothing is known of them
};

}  // namespace

std::uint64_t Conditions::digest(const std::vector<ProofNode>& live,
                                 const std::vector<const ProofClock*>& clocks) const {
  std::vector<std::vector<std::uint32_t>>& asked = digest_.asked;
  std::vector<std::uint32_t>& phases = digest_.phases;
  asked.resize(components_);
  std::for_each(asked.begin(), asked.end(), [](auto& indices) { indices.clear(); });
  phases.clear();
  const auto ask = [&](const ProofNode& node) {
    if (node.chain != kLeaf) {
      asked[node.component()].push_back(node.index);
    }
  };
  for (const Barrier& barrier : barriers_) {
    phases.push_back(barrier.phase);
    for (const Phase* log : {&barrier.current, &barrier.previous, &barrier.older}) {
      std::for_each(log->in_chain.begin(), log->in_chain.end(), ask);
      for (const Pass& pass : log->passes) {
        ask(pass.node);
      }
      for (const LeafMark& leaf : log->leaves) {
        if (leaf.flushed_by != kLeaf) {
          asked[leaf.flushed_by].push_back(leaf.flushed_at);
        }
      }
      for (const Expect& expect : log->expects) {
        ask(expect.node);
      }
    }
  }
  std::for_each(live.begin(), live.end(), ask);
  const ClockDigest digests{asked, phases};
  std::uint64_t hash = digests.of_chains();
  for (const ProofClock& clock : clocks_) {
    hash = mix(hash, digests.of(clock));
  }
  for (const Barrier& barrier : barriers_) {
    hash = mix(hash, std::min(barrier.phase, 3U));  // how far from the first phases
    for (const Phase* log : {&barrier.current, &barrier.previous, &barrier.older}) {
      hash = mix(hash, digests.of(log->joined));
      for (const std::size_t count :
           {log->leaves.size(), log->in_chain.size(), log->passes.size(), log->expects.size()}) {
        hash = mix(hash, count);
      }
      std::uint64_t leaves = 0;  // in no order
      for (const LeafMark& leaf : log->leaves) {
        const std::uint64_t flushed =
            leaf.flushed_by == kLeaf
                ? std::uint64_t{kLeaf}
                : mix(leaf.flushed_by, digests.rank(leaf.flushed_by, leaf.flushed_at));
        leaves += mix(mix(leaf.memory_of, leaf.barrier_of), flushed);
      }
      hash = mix(hash, leaves);
      for (const ProofNode& node : log->in_chain) {
        hash = mix(hash, digests.of(node));
      }
      for (const Pass& pass : log->passes) {
        hash = mix(hash, digests.of(pass.node));
      }
      for (const Expect& expect : log->expects) {
        hash = mix(mix(hash, digests.of(expect.node)), expect.bytes);
        hash = mix(hash, expect.landed * 2 + (expect.forced ? 1 : 0));
      }
      hash = mix(mix(mix(hash, log->announced), log->landed), log->arrivals);
    }
  }
  std::uint64_t on_their_way = 0;  // in no order
  for (const ProofClock* clock : clocks) {
    on_their_way += digests.of(*clock);
  }
  return mix(hash, on_their_way);
}

std::vector<Violation> broken_conditions(const Protocol& protocol, const CanonicalRun& run) {
  const auto agents = static_cast<std::uint32_t>(protocol.agents.size());
  Conditions conditions{agents};
  std::vector<std::uint32_t> phases(protocol.barriers.size(), 0);
  std::vector<std::uint32_t> pending;
  std::vector<std::int64_t> tx(protocol.barriers.size(), 0);
  for (const ProtocolBarrier& barrier : protocol.barriers) {
    conditions.add_barrier(barrier.count, barrier.test);
    pending.push_back(barrier.count);
  }
  // What happened before the end of each operation, for those that start after it.
  std::vector<std::vector<ProofClock>> done(agents);
  for (const auto& [agent, index] : run.order) {
    const ProtocolOp& op = protocol.agents[agent].ops[index];
    const ProofNode node{agent, index + 1, agent, Op::kCount, 0, op.site};
    if (op.kind == ProtocolKind::kAfter) {
      join(conditions.clock(agent), done[op.barrier][op.index]);
    } else if (op.kind == ProtocolKind::kWait) {
      conditions.wait(node, conditions.clock(agent), op.barrier, op.phase);
      conditions.learn(conditions.clock(agent), op.barrier, op.phase);
    }
    conditions.step(agent, index + 1);
    if (op.kind != ProtocolKind::kAfter && op.kind != ProtocolKind::kWait) {
      const std::uint32_t b = op.barrier;
      tx[b] +=
          op.kind == ProtocolKind::kComplete ? -std::int64_t{op.bytes} : std::int64_t{op.bytes};
      pending[b] -= op.arrives() ? op.count : 0;
      const bool completes = pending[b] == 0 && tx[b] == 0;
      conditions.contribute(
          node, conditions.clock(agent), b, phases[b], {op.kind, op.count, op.bytes, completes});
      if (completes) {
        ++phases[b];
        pending[b] = protocol.barriers[b].count;
      }
    }
    done[agent].push_back(conditions.clock(agent));
  }
  conditions.finish();
  return conditions.violations();
}

}  // namespace warptwin::sim
