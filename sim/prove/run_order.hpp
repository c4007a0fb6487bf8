/// From the events of a run to the conditions of its proof: which operation is in which chain, acts
/// on which barrier in which phase, and what else orders it.
///
/// Chains of a CTA group of W warps: [0, W) warps, [W, 2W) the lanes a wait of a warp left behind,
/// [2W, 3W) its tensor queue. Components only: [3W, 4W) its arrivals on other CTAs' mbarriers that
/// a releasing cluster arrival has waited for (they are leaves); [4W, 5W) how far all lanes of the
/// warp are; [(5 + i) W, (6 + i) W) how far set i of its lanes is, of those that have acted apart
/// since the warp met. Bulk and tensor loads, remote arrivals and multicast commits are leaves.
/// Bulk stores, tensor-memory loads and wgmmas contribute to no barrier and are no nodes; who has
/// waited for a wgmma knows what its four warps did before they issued it.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/model/divisor.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/word_test.hpp"
#include "sim/prove/chain_counter.hpp"
#include "sim/prove/chains.hpp"
#include "sim/prove/conditions.hpp"
#include "sim/prove/run_work.hpp"

namespace warptwin::sim {

/// A place of a kernel that the proof cannot speak of, and why.
struct Undecided {
  std::string reason;
  SourceSite site{};
};

/// What a barrier number of a group stands for.
struct ProofBarrier {
  enum class Kind : std::uint8_t { kMbarrier, kNamed, kCluster, kFlag };
  Kind kind = Kind::kMbarrier;
  std::uint32_t cta = 0;      // in the grid
  std::uint64_t address = 0;  // mbarrier: shared address; named: id; flag: global address
};

/// The conditions of every CTA group of a run. A group is a cluster, or the whole grid where
/// clusters wait for each other through global memory.
class RunOrder : public EventSink, public TryJudge {
 public:
  static constexpr std::uint32_t kLaneSetsMin = 2;
  struct Options {
    bool whole_grid = false;
    /// Of so many sets of lanes of a warp it is told how far they are; at most kLaneSetsMax.
    std::uint32_t lane_sets = kLaneSetsMin;
    /// The lanes that one instruction of a warp has access a global word in the order of the run.
    bool lanes_in_turn = false;
    /// Only work(): no conditions.
    bool work_only = false;
    std::uint32_t recorded_group = 0;
    /// Receives the protocol of that group, when not null.
    Protocol* record = nullptr;
    /// Of so many groups, from the first on, keeps what each did, operation by operation.
    std::uint32_t streams_max = 0;
    /// Keeps which barrier and phase each leaf of that group contributes to, for a witness.
    bool keep_leaves = false;
    /// A leaf, by its warp and number: what happened before its issue is kept.
    std::uint32_t watched_warp = kLeaf;
    std::uint32_t watched_leaf = 0;
  };
  RunOrder(const LaunchConfig& config, const Options& options);

  void on_event(const Event& event) override;
  /// The same of a cluster that does what another did: its work counts, and nothing is judged.
  void on_like_event(const Event& event);
  bool certain(std::uint32_t warp,
               std::uint32_t lanes,
               std::uint32_t cta,
               std::uint32_t address,
               std::uint32_t phase) const override;
  /// The run is over, having ended by itself.
  void at_end();

  struct Finding {
    Violation violation;
    std::uint32_t group = 0;
    ProofBarrier barrier;
    /// The warp of the violation's other is known to have come so far, and a lane of it is not.
    bool of_lanes = false;
  };
  /// In the order they were found, each pair of source lines once.
  const std::vector<Finding>& findings() const { return findings_; }
  const std::vector<Undecided>& undecided() const { return undecided_; }
  /// How many of both came when enough others had been kept.
  std::uint64_t not_kept() const { return not_kept_; }
  /// Clusters met through global memory: only a run with `whole_grid` decides.
  bool needs_whole_grid() const { return needs_whole_grid_; }
  /// Whether two sets of lanes of one warp have acted, neither all of it, or lanes that know
  /// different things have acted together: a schedule in which one is late may be none of the
  /// machine's, which executes what a warp does in turn.
  bool lanes_part() const { return lanes_part_; }
  /// Whether more sets have than Options::lane_sets.
  bool needs_lane_sets() const { return needs_lane_sets_; }
  /// Whether tensor memory of a CTA pair is allocated or freed.
  bool meets_pairs() const { return meets_pairs_; }
  /// Whether a try was answered: the kernel does not only wait.
  bool tried() const { return tried_; }
  /// The tries that were told no, of which it is not certain that they are told yes: at most
  /// kOpenTriesMax.
  static constexpr std::size_t kOpenTriesMax = 4096;
  const std::vector<OpenTry>& open_tries() const { return open_tries_; }
  /// Whether clusters asked for others (cluster launch control): how many tiles each gets is a
  /// choice, and this run is of one value of it.
  bool asked() const { return asked_; }
  /// What the warps did.
  const RunWork& work() const { return work_; }

  /// What happened before the latest operation of a warp, by its number in the grid: of each warp
  /// of its group how many operations, counted as `operations_of` does. Empty for a warp that has
  /// done nothing, or whose group has ended.
  ProofClock before(std::uint32_t warp) const;
  /// Operations of a warp so far. A bar.sync that waits is two, its arrival and its return.
  std::uint32_t operations_of(std::uint32_t warp) const { return counter_.warp_index(warp); }

  std::uint32_t group_of_warp(std::uint32_t warp) const { return chains_.group_of(warp); }
  /// Of each group.
  const Chains& chains() const { return chains_; }
  /// Whether it is of lanes that a wait left behind.
  bool is_late(const ProofNode& node) const {
    return node.chain != kLeaf && chains_.kind(node.chain) == ChainKind::kLateLanes;
  }
  /// Of a clock: the phases of a barrier of the group.
  std::uint32_t component_of(std::uint32_t barrier) const { return components() + barrier; }
  /// Component and phase a leaf contributes to; with Options::keep_leaves.
  struct LeafTarget {
    std::uint32_t component = 0;
    std::uint32_t phase = 0;
  };
  /// A leaf of a group: its warp in the group, its number among that warp's, the CTA it signals.
  using LeafKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  using LeafTargets = std::map<LeafKey, LeafTarget>;
  /// Where the leaves of the recorded group contribute.
  const LeafTargets& leaves() const { return leaves_; }
  /// The operations of a group as numbers: what each is, and at the marks also the state of the
  /// conditions; equal where they are the same but for a shift.
  struct Stream {
    std::vector<std::uint64_t> steps;
    std::vector<std::uint32_t> marks;  // indices into steps
  };
  const std::vector<Stream>& streams() const { return streams_; }
  const ProofClock& watched() const { return watched_; }

 private:
  std::uint32_t components() const { return chains_.components(options_.lane_sets); }
  struct InFlight {
    ProofClock clock;
    ProofNode node;
    std::uint32_t targets = 1;
    std::uint32_t recorded_after = 0;  // operations of the issuer's recorded agent
    std::uint32_t memory_of = kLeaf;   // CTAs it acts on
    std::uint32_t barrier_of = kLeaf;
    std::uint32_t source_of = kLeaf;  // a copy between CTAs
    std::uint32_t flushed_by = kLeaf;
    std::uint32_t flushed_at = 0;
    std::uint32_t counted = 0;  // bytes, in steps before its last
  };
  /// A copy from a CTA's memory: its end comes after the phase that counts the copy elsewhere.
  struct SourceUse {
    std::uint32_t cta = 0;
    std::uint32_t barrier = 0;
    std::uint32_t phase = 0;
    ProofNode node;
  };
  struct Flag {
    bool meets = false;       // by its sign: the grid meets by it
    std::uint32_t turns = 0;  // how often that has changed
    std::uint32_t barrier = 0;
    std::uint32_t writes = 0;
    std::vector<ProofNode> log;    // its writes
    bool counter = false;          // several add to it
    bool stored = false;           // to
    bool zero = false;             // 0 was added
    bool adds_alone = true;        // whoever changes it adds
    bool mixed = false;            // by two kinds of atomics
    bool updated = false;          // by an atomic of known effect
    std::uint32_t change = 0;      // of the last of those: a `word_change`
    bool waited = false;           // for a value, while one writer was known
    bool closed = false;           // a counter: stored to behind all that was added and waited for
    std::vector<ProofNode> waits;  // of a counter
    /// A wait while it was none, and how many writes had been made.
    struct Seen {
      ProofNode wait;
      std::size_t writes = 0;
      bool lasts = false;  // writes behind these let it pass, too
    };
    std::vector<Seen> seen;  // the last of each component
    struct Access {
      ProofNode node;
      std::uint32_t lanes = 0;  // of its warp
    };
    std::vector<Access> loads;  // that find whatever is there, the last of each component
    ProofClock joined;
    std::vector<std::uint32_t> values;  // it had, in turn, from the initial one on; of one writer
    /// Of a write by several lanes: each adds so much.
    struct Adders {
      std::uint32_t lanes = 1;
      std::uint32_t each = 0;
      bool in_turn = false;  // by other lanes of the same instruction as the write before
      bool adds = true;      // or leaves another word, whatever that is
      std::uint32_t by = 0;  // which lanes
    };
    std::vector<Adders> adders;  // of each write of `log`
    std::uint64_t sum = 0;       // of a counter: all that was added
    /// Of a counter: it was waited for until all had added that had by then. Who adds later has to
    /// know them all.
    struct Reached {
      std::uint32_t value = 0;
      std::size_t first = 0;  // of `log`: since the time before
      std::size_t end = 0;
      bool is_signed = false;
      bool moves_on = false;  // nobody waits for this value and no other
      ProofClock joined{};
    };
    std::optional<Reached> reached;
    /// Waits that pass until a write leaves less.
    struct Lasting {
      WordTest test;
      ProofNode node;
      ProofClock clock;  // before it looks
    };
    std::vector<Lasting> lasting;
    std::vector<ProofNode> passes;  // other waits, since the last write
    bool several_threads = false;   // have written it
    bool passes_amid(std::size_t first,
                     std::size_t end,
                     const WordTest& test,
                     const std::function<bool(const ProofNode&)>& made) const;
    void add_wait(Seen now);
    bool is_behind_waits(const std::function<bool(const ProofNode&)>& known) const;
    bool passes_through(std::size_t i, const WordTest& test) const;
    void add_load(const ProofNode& node, std::uint32_t lanes);
  };
  /// Tensor memory of a CTA that somebody allocates or frees.
  struct TmemUse {
    std::uint32_t chain = 0;
    std::uint32_t index = 0;
    bool allocates = false;
  };
  /// A cluster's requests for others.
  struct Requests {
    std::uint32_t warp = kLeaf;  // who asks, in the group
    std::uint32_t last = 0;      // operation of that warp
    std::uint32_t failed = 0;
  };
  struct RegisterPool {
    std::int64_t total = 0;
    std::map<std::uint32_t, std::uint32_t> has;                  // that have changed it: by warp
    std::vector<std::pair<std::uint32_t, std::uint32_t>> given;  // chain and index of increases
    bool beyond = false;                                // a warp asks for more than it began with
    std::vector<std::pair<const char*, Event>> unless;  // why it is undecided, if so
  };
  /// A warp that has come to the allocation of a pair, and what it knew.
  struct PairAlloc {
    std::uint32_t warp = 0;   // in the group
    std::uint32_t index = 0;  // of the allocation among its operations
    ProofClock clock;
  };
  /// The wgmmas of a warpgroup that not all of its warps have waited for.
  struct Wgmmas {
    struct Issued {
      ProofClock clock;  // joined, of the warps that have issued it
      std::array<std::uint32_t, kWarpsPerWarpgroup> recorded{};  // operations of their agents
    };
    std::uint32_t first = 0;  // number of issued[0]
    std::deque<Issued> issued;
    std::array<std::uint32_t, kWarpsPerWarpgroup> over{};  // waited for, by warp
  };
  /// Lanes of a warp that have not met.
  struct Lanes {
    /// That know the same.
    struct Part {
      std::uint32_t lanes = 0;
      ProofClock clock;
    };
    std::vector<std::uint32_t> sets;  // that have acted apart, as bits
    std::vector<Part> parts;          // none while all know the same
    std::uint32_t waited = 0;         // one by one, since all have met
    std::uint32_t late_recorded = 0;  // operations of those that a wait left behind
    void separate(std::uint32_t lanes, const ProofClock& all);
  };
  /// Bytes of the open phase of an mbarrier.
  struct TxOfPhase {
    std::uint32_t phase = 0;
    std::uint64_t expected = 0;
    std::uint64_t completed = 0;
  };
  /// A word of shared memory: atomics that do not ask who is the last, one of each component.
  struct SharedAtomic {
    std::vector<ProofNode> others;
    bool asked = false;
  };
  struct Group {
    Group(const Chains& chains, std::uint32_t components)
        : conditions{chains.count(), components - chains.count()}, lanes(chains.warps()) {}
    Conditions conditions;
    std::vector<Lanes> lanes;  // by warp in the group
    std::vector<ProofBarrier> barriers;
    std::unordered_map<std::uint64_t, std::uint32_t> mbarriers;    // by CTA and address
    std::vector<TxOfPhase> tx;                                     // by barrier
    std::unordered_map<std::uint64_t, std::uint32_t> named;        // by CTA and id
    std::unordered_map<std::uint32_t, std::uint32_t> cluster;      // by its first warp
    std::unordered_map<std::uint64_t, Flag> flags;                 // by global address
    std::vector<ProofClock> spare;                                 // of those that have landed
    std::unordered_map<std::uint32_t, InFlight> in_flight;         // by serial
    std::unordered_map<std::uint32_t, ProofNode> last_tensor;      // by warp in the group
    std::unordered_map<std::uint32_t, std::uint32_t> queue_lanes;  // who issues to the queue
    std::vector<SourceUse> sources;                                // that have been read
    std::unordered_map<std::uint64_t, std::uint32_t>
        arrived;  // by barrier and warp: generation + 1
    // By named barrier: warps that wait for its open generation.
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> waiting;
    std::vector<std::optional<ProofNode>> ends;  // of warps, by their number in the group
    std::unordered_map<std::uint32_t, std::uint32_t> allocators;        // by CTA
    std::unordered_map<std::uint32_t, std::vector<TmemUse>> tmem_uses;  // by CTA
    std::unordered_map<std::uint32_t, PairAlloc> pair_allocs;           // by CTA
    std::unordered_map<std::uint32_t, RegisterPool> pools;              // by CTA
    std::unordered_map<std::uint32_t, Requests> requests;               // by cluster
    std::map<std::uint32_t, Wgmmas> wgmmas;                             // by the first warp
    std::unordered_map<std::uint64_t, SharedAtomic> shared_atomics;     // by CTA and address
    std::uint32_t live_ctas = 0;
    std::uint32_t marker = kLeaf;       // the warp whose waits are marks
    std::vector<std::uint32_t> waits;   // passed, by warp in the group
    std::vector<std::uint32_t> agents;  // recorded agent of each chain
    std::unordered_map<std::uint32_t, std::vector<ProtocolOp>> recorded_remote;  // by warp
  };

  Group& group_of(const Event& event);
  /// Of an mbarrier or a named barrier, among its group's.
  static std::uint64_t key(std::uint32_t cta, std::uint32_t address) {
    return std::uint64_t{cta} << 32 | address;
  }
  std::uint32_t number_of(
      Group& group, const Event& event, ProofBarrier barrier, std::uint32_t count, PhaseTest test);
  ProofNode node_of(const Event& event, std::uint32_t chain, std::uint32_t index) const;
  ProofNode node_of(Group& group, const Event& event, std::uint32_t self);
  void note_one_by_one(Group& group, const Event& event, std::uint32_t self);
  void note_set(Lanes& lanes, std::uint32_t set);
  void say_whose(const Group& group, std::uint32_t lanes, ProofNode& node) const;
  std::optional<std::uint32_t> told_by(const Group& group,
                                       std::uint32_t lanes,
                                       std::uint32_t self) const;
  ProofPoints told_of(const Group& group, const Event& event, std::uint32_t self) const;
  const ProofClock& known_to(Group& group, std::uint32_t lanes, std::uint32_t self) const;
  void learn(Group& group,
             const Event& event,
             std::uint32_t self,
             const std::function<void(ProofClock&)>& f);
  void contribute(Group& group,
                  const Event& event,
                  std::uint32_t self,
                  std::uint32_t number,
                  Conditions::Contribution what);
  void pass(Group& group,
            const Event& event,
            std::uint32_t self,
            std::uint32_t barrier,
            std::int32_t phase);
  void learn_phase(Group& group,
                   const Event& event,
                   std::uint32_t self,
                   std::uint32_t barrier,
                   std::int32_t phase);
  void undecided(const std::string& reason, const Event& event);
  static constexpr const char* kBothTensorCores =
      "wgmma and tcgen05 are in one program: no target has both";

  void on_blocked_alloc(const Event& event);
  void on_step(Group& group, const Event& event, std::uint32_t self);
  void on_operation(Group& group, const Event& event, std::uint32_t self);
  void on_barrier(Group& group, const Event& event, std::uint32_t self);
  void keep_tx_in_range(Group& group,
                        std::uint32_t number,
                        const Event& event,
                        ProtocolKind kind,
                        std::uint32_t bytes);
  void on_deferred(Group& group, const Event& event, std::uint32_t self);
  void issue(Group& group, const Event& event, std::uint32_t self);
  void signal(Group& group,
              const Event& event,
              InFlight& flight,
              std::uint32_t owner,
              std::uint32_t number);
  void on_wait(Group& group, const Event& event, std::uint32_t self);
  void on_named(Group& group, const Event& event, std::uint32_t self);
  static void tell_waiting(Group& group, std::uint32_t number);
  void on_cluster(Group& group, const Event& event, std::uint32_t self);
  void on_shared_atomic(Group& group, const Event& event, std::uint32_t self, AccessKind kind);
  void on_flag(Group& group, const Event& event, std::uint32_t self);
  void on_registers(Group& group, const Event& event, std::uint32_t self);
  void close_pools(const Group& group);
  void on_request(Group& group, const Event& event, std::uint32_t self);
  void on_wgmma(Group& group, const Event& event, std::uint32_t self);
  void on_exit(Group& group, const Event& event);
  bool is_marker(Group& group, std::uint32_t self);
  void on_meeting_word(Group& group, const Event& event, std::uint32_t self, Flag& flag);
  void on_counter_wait(Group& group, const Event& event, std::uint32_t self, Flag& flag);
  static bool adds_behind(const Flag& flag,
                          const ProofNode& node,
                          const ProofClock& clock,
                          std::uint32_t value);
  void on_flag_wait(Group& group, const Event& event, std::uint32_t self, Flag& flag);
  void owe_lasting(Group& group, const Event& event, const ProofClock& clock, Flag& flag);
  void tells_as_much(const Event& event, const ProofClock& clock, Flag& flag);
  void have_met(const Event& event,
                const ProofNode& write,
                const ProofClock& clock,
                const ProofNode& wait);
  bool is_behind(const ProofNode& node,
                 const Flag::Access& before,
                 std::uint32_t lanes,
                 const ProofClock& clock) const;
  bool is_behind_writes(const Flag& flag,
                        const ProofNode& node,
                        std::uint32_t lanes,
                        const ProofClock& clock) const;
  void on_flag_write(Group& group, const Event& event, std::uint32_t self, Flag& flag);
  void on_tensor_memory(Group& group, const Event& event, std::uint32_t self);
  void on_pair_alloc(Group& group, const Event& event, std::uint32_t self);
  void note_step(Group& group, const Event& event);
  void close_group(std::uint32_t number);
  void close_generation(Group& group,
                        std::uint32_t barrier,
                        std::uint32_t first,
                        std::uint32_t end);

  /// Whether the protocol of the event's group is recorded.
  bool is_recorded(const Event& event) const {
    return options_.record != nullptr && chains_.group_of(event.warp) == options_.recorded_group;
  }
  std::uint32_t record_agent(Group& group, std::uint32_t chain, const Event& event);
  void record(Group& group, std::uint32_t chain, const Event& event, ProtocolOp op);
  void record_flush(Group& group, std::uint32_t self, const Event& event);
  void record_leaf(Group& group, const InFlight& flight, const Event& event, ProtocolOp op);

  LaunchConfig config_;
  Options options_;
  std::uint32_t ctas_;  // of a group
  Chains chains_;
  ChainCounter counter_;
  RunWork work_;
  mutable ProofClock between_;  // `known_to`, where a warp has parts
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Finding> findings_;
  std::vector<Undecided> undecided_;
  LeafTargets leaves_;
  std::vector<Stream> streams_;
  ProofClock watched_;
  std::vector<OpenTry> open_tries_;
  std::unordered_map<std::uint32_t, std::uint32_t> open_of_warp_;
  std::uint64_t not_kept_ = 0;
  mutable bool lanes_part_ = false;
  bool needs_lane_sets_ = false;
  bool needs_whole_grid_ = false;
  bool meets_pairs_ = false;
  bool tried_ = false;
  bool asked_ = false;
};

}  // namespace warptwin::sim
