/// The happens-before conditions that one execution has to fulfil for every other interleaving of
/// it to act in the same phases and to end (docs/proof.md has the theorem).
///
/// Execution order is kept as vector clocks. A *chain* is an agent whose operations happen one
/// after another: a warp, the lanes a wait left behind, a tensor queue. It has one component, the
/// number of its latest operation; a chain of several lanes has more (`ProofNode::known_by`). A
/// *leaf* is an asynchronous operation with a single effect, a contribution to one barrier: nothing
/// follows from it but the completion of that phase. It needs no component of its own: each barrier
/// has one, the number of its phases that are known to be complete. Clocks therefore do not grow
/// with the number of operations.
///
/// Fed in the order of execution; memory is that of the phases still open.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/trace/event.hpp"

#include "sim/prove/protocol.hpp"

namespace warptwin::sim {

/// Component i: how much of chain i, or how many phases of a barrier, happened before. Components
/// beyond the end are zero.
using ProofClock = std::vector<std::uint32_t>;

enum class Condition : std::uint8_t {
  kContributorsInOrder,  // C1: all of phase n - 1 happens before each contributor of phase n
  kPassBeforeNext,       // C2: a wait passes before some contributor of the phase after the next
  kLookInTime,           // C3: all of phase n - 1 happens before a wait for phase n looks
  kBytesAnnounced,       // C4: a phase cannot complete before an expect-tx of its own
  kLifetime,             // C5: what still acts on a CTA happens before the CTA ends
};

/// "C1" .. "C5".
const char* name_of(Condition condition);
/// The id it is reported with.
const char* diagnostic_of(Condition condition);

inline constexpr std::uint32_t kLeaf = ~std::uint32_t{0};

/// An operation as the proof sees it.
struct ProofNode {
  std::uint32_t chain = kLeaf;
  std::uint32_t index = 0;  // in its chain; of a leaf: which one of its warp's
  std::uint32_t warp = 0;   // who issued it
  Op op = Op::kCount;
  std::uint64_t time = 0;
  SourceSite site{};
  /// Whoever knows so much of this component knows the operation, where it is not its chain's.
  std::uint32_t known_by = kLeaf;
  /// One lane's, which knows what it did before under the same component.
  bool alone = false;

  std::uint32_t component() const { return known_by == kLeaf ? chain : known_by; }
  /// Whether both are of one instruction, whose lanes have events of their own.
  bool is_of(const ProofNode& other) const {
    return chain == other.chain && site.line == other.site.line && site.file == other.site.file;
  }
  /// Whether an earlier one of a chain happened before this one, before which `clock` happened.
  bool knows(const ProofNode& earlier, const ProofClock& clock) const {
    const std::uint32_t by = earlier.component();
    return (alone && component() == by) || (by < clock.size() && clock[by] >= earlier.index);
  }
};

/// Sets of lanes of one warp, of each of which it can be told how far it is.
constexpr std::uint32_t kLaneSetsMax = 8;

/// So much of a component.
struct ProofPoint {
  std::uint32_t component;
  std::uint32_t at;
};
/// Several.
class ProofPoints {
 public:
  void add(std::uint32_t component, std::uint32_t at) { points_[size_++] = {component, at}; }
  const ProofPoint* begin() const { return points_.data(); }
  const ProofPoint* end() const { return points_.data() + size_; }

 private:
  std::array<ProofPoint, 2 + kLaneSetsMax> points_;
  std::uint32_t size_ = 0;
};

/// A condition that does not hold.
struct Violation {
  Condition condition = Condition::kContributorsInOrder;
  std::uint32_t barrier = 0;
  std::int32_t phase = 0;  // the one the node belongs to, or waits for
  ProofNode node;          // the contributor, wait, expect or exit
  ProofNode other;         // what it is not ordered with
  ProofClock before;       // what to run, and nothing else, for the node to find a wrong state
};

class Conditions {
 public:
  /// `more` components, behind those of the chains, are the caller's.
  explicit Conditions(std::uint32_t chains, std::uint32_t more = 0)
      : components_{chains + more}, clocks_(chains) {}

  /// A barrier whose phases take `count` arrivals. Returns its number.
  std::uint32_t add_barrier(std::uint32_t count, PhaseTest test);

  /// Whether a phase of a barrier is complete in every interleaving in which a chain comes to
  /// operation `node`, knowing `clock`. May say no of phases long past.
  bool certain(const ProofNode& node,
               const ProofClock& clock,
               std::uint32_t barrier,
               std::uint32_t phase) const;

  /// What happened before the next operation of a chain. To add an edge, join into it.
  ProofClock& clock(std::uint32_t chain) { return clocks_[chain]; }
  const ProofClock& clock(std::uint32_t chain) const { return clocks_[chain]; }
  /// The chain executes its operation number `index`, counted from 1 and not decreasing.
  void step(std::uint32_t chain, std::uint32_t index);

  struct Contribution {
    ProtocolKind kind = ProtocolKind::kArrive;
    std::uint32_t count = 1;
    std::uint32_t bytes = 0;
    bool completes = false;  // it was the one that completed the phase
    // CTAs whose memory and barrier it acts on, as the caller numbers them.
    std::uint32_t memory_of = kLeaf;
    std::uint32_t barrier_of = kLeaf;
    /// Of a leaf that its warp can flush: whoever knows so much of this component knows the leaf.
    std::uint32_t flushed_by = kLeaf;
    std::uint32_t flushed_at = 0;
    /// Beside the clock: what is known where the contribution is.
    ProofPoints tells{};
    /// It comes behind the phases before, whatever its clock says of who contributed to them.
    bool in_turn = false;
  };
  /// `node` acted in `phase` of the barrier; `clock` is what happened before it, and itself.
  void contribute(const ProofNode& node,
                  const ProofClock& clock,
                  std::uint32_t barrier,
                  std::uint32_t phase,
                  const Contribution& what);
  /// A wait for `phase` looks, knowing `clock`, and passes. -1 is the phase before the first.
  void wait(const ProofNode& node,
            const ProofClock& clock,
            std::uint32_t barrier,
            std::int32_t phase);
  /// A wait that has passed may find another phase if it looks behind the open one.
  void owe_pass(const ProofNode& node, const ProofClock& clock, std::uint32_t barrier);
  /// What is known behind a wait for `phase`.
  void learn(ProofClock& clock, std::uint32_t barrier, std::int32_t phase) const;
  /// Lanes that another chain's wait left behind pass it: they looked when that one did, or later.
  void late_pass(const ProofNode& node, std::uint32_t barrier, std::int32_t phase);
  /// A try for `phase` looks; what comes after it does not depend on the answer.
  void look(const ProofNode& node,
            const ProofClock& clock,
            std::uint32_t barrier,
            std::int32_t phase);
  /// A CTA has ended; `clock` is what happened before its end.
  void exit(const ProofNode& node, const ProofClock& clock, std::uint32_t cta);
  /// A condition that the caller found broken.
  void violate(Violation violation);
  /// The open phase of a barrier is known to be complete; `ends`, of warps that did not have to
  /// come, are contributors to it, and `clock` is what happened before them.
  void complete_by(std::uint32_t barrier,
                   const ProofClock& clock,
                   const std::vector<ProofNode>& ends);
  std::uint32_t phase_of(std::uint32_t barrier) const { return barriers_[barrier].phase; }
  /// The run is over.
  void finish();

  /// A number for what the conditions to come depend on, and nothing else: equal where the state is
  /// the same but for a shift of indices and phases. `live` are operations of chains that may still
  /// be asked for, `clocks` those of operations on their way.
  std::uint64_t digest(const std::vector<ProofNode>& live,
                       const std::vector<const ProofClock*>& clocks) const;

  /// Each kind at each pair of source lines once, in the order they were found.
  const std::vector<Violation>& violations() const { return violations_; }
  /// How many came when enough others had been kept.
  std::uint64_t not_kept() const { return not_kept_; }
  /// The component of a barrier.
  std::uint32_t component(std::uint32_t barrier) const { return components_ + barrier; }

 private:
  struct LeafMark {
    ProofNode node;
    std::uint32_t memory_of;
    std::uint32_t barrier_of;
    std::uint32_t flushed_by;
    std::uint32_t flushed_at;
  };
  struct Pass {
    ProofNode node;
    ProofClock before;  // its look
  };
  struct Expect {
    ProofNode node;
    std::uint64_t bytes = 0;
    std::uint64_t landed = 0;  // bytes that can land without it
    bool forced = false;       // some arrival of the phase happens after it
  };
  struct Phase {
    ProofClock joined;                // of all contributors
    std::vector<ProofNode> in_chain;  // contributors, the latest of each chain
    std::vector<LeafMark> leaves;
    std::vector<Pass> passes;  // waits for the phase before that owe C2
    std::vector<Expect> expects;
    std::uint64_t announced = 0;  // by arrive.expect_tx
    std::uint64_t landed = 0;
    std::uint64_t arrivals = 0;
    void clear();
  };
  struct Barrier {
    std::uint32_t count = 0;
    PhaseTest test = PhaseTest::kParity;
    std::uint32_t phase = 0;  // of `current`
    Phase current;
    Phase previous;
    Phase older;
  };

  static bool knows(const ProofClock& clock, std::uint32_t component, std::uint32_t value) {
    return component < clock.size() && clock[component] >= value;
  }
  static bool flushed(const LeafMark& leaf, const ProofClock& clock) {
    return leaf.flushed_by != kLeaf && knows(clock, leaf.flushed_by, leaf.flushed_at);
  }
  const ProofNode* missing_contributor(const Barrier& barrier,
                                       std::uint32_t number,
                                       std::uint32_t phase,
                                       const ProofClock& clock,
                                       const ProofNode& observer) const;
  void owe_pass(const ProofNode& node,
                const ProofClock& clock,
                std::uint32_t number,
                std::int32_t phase);
  void complete(std::uint32_t number);
  void judge_expects(std::uint32_t number);

  std::uint32_t components_;  // that are no barrier's
  std::vector<ProofClock> clocks_;
  std::vector<Barrier> barriers_;
  std::vector<Violation> violations_;
  std::uint64_t not_kept_ = 0;
  struct {
    std::vector<std::vector<std::uint32_t>> asked;
    std::vector<std::uint32_t> phases;
  } mutable digest_;  // while one is made
};

/// Joins `from` into `into`.
void join(ProofClock& into, const ProofClock& from);
/// Lifts one component to at least `value`.
inline void raise(ProofClock& clock, std::uint32_t component, std::uint32_t value) {
  if (component >= clock.size()) {
    clock.resize(component + 1, 0);
  }
  clock[component] = std::max(clock[component], value);
}
void raise(ProofClock& clock, const ProofPoints& points);

/// The conditions on a protocol's one execution. Where none is broken every interleaving ends, and
/// acts in the same phases.
std::vector<Violation> broken_conditions(const Protocol& protocol, const CanonicalRun& run);

}  // namespace warptwin::sim
