/// The machine of oracle V: a state that is copied and compared, and the steps that it can take.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/oracle/values_plan.hpp"

namespace warptwin::sim::values {

// States are compared as bytes: no struct of one has padding.

namespace cell_flag {
inline constexpr std::uint32_t kUnwritten = 1;  // nobody wrote it, or it was made of such
inline constexpr std::uint32_t kKnown = 2;      // `value` is its value
inline constexpr std::uint32_t kResponse = 4;   // `value` is the cluster of a response + 1, or 0
}  // namespace cell_flag

/// A cell of memory, or the registers of a fragment: who wrote it.
struct Cell {
  std::uint64_t token = 0;
  std::uint32_t value = 0;
  std::uint32_t flags = 0;
};

inline constexpr std::uint64_t kInitialToken = 1;
inline constexpr std::uint64_t kRegisterToken = 2;  // what a fragment holds that nothing has filled
inline constexpr std::uint64_t kBeforeToken = 3;    // what the grid before has not written yet

/// A word that a strong write left is known by its value.
constexpr std::uint64_t token_of_value(std::uint32_t value) {
  return mixed(0xA5A5A5A500000000U + value);
}

/// What nobody wrote.
constexpr Cell never() {
  return {0, 0, cell_flag::kUnwritten};
}

struct Register {
  std::uint32_t value = 0;
  std::uint32_t flags = 0;
};

struct BarrierState {
  std::uint32_t pending = 0;
  std::uint32_t count = 0;
  std::int32_t tx = 0;
  std::uint16_t is_valid = 0;
  std::uint16_t parity = 0;  // of the current phase

  bool done(std::uint32_t wanted) const { return parity != (wanted & 1U); }
};

enum class Life : std::uint8_t { kNotBegun, kRunning, kEnded, kCancelled };
/// Where a warp stands with the barrier of its cluster.
enum class Arrival : std::uint8_t { kNotYet, kArrived, kReleased };

struct WarpState {
  std::uint32_t at = 0;  // the next instruction
  Life life = Life::kNotBegun;
  Arrival arrival = Arrival::kNotYet;
  std::uint8_t in_named = 0;  // waits in named barrier `in_named` - 1
  std::uint8_t unused = 0;
  std::uint32_t registers = 0;  // of a thread
};

struct NamedState {
  std::uint32_t waiting = 0;  // warps of the CTA, one bit each
  std::uint32_t came = 0;     // also those that do not wait
  std::uint16_t warps = 0;    // that a generation takes; 0: none has begun
  std::uint8_t arrived = 0;
  std::uint8_t takes_all = 0;  // the count was left out
};

struct CtaState {
  std::uint16_t taken = 0;     // groups of 32 columns, one bit each
  std::uint16_t starts = 0;    // those with which an allocation begins
  std::uint16_t smallest = 0;  // allocation so far, in groups
  std::uint8_t relinquished = 0;
  std::uint8_t saw_failure = 0;  // of a request for a cluster
  std::uint32_t live_warps = 0;
  std::uint32_t free_registers = 0;
};

/// What the manual leaves open: whether a CTA of a pair goes on before the other has come.
namespace pair_rule {
inline constexpr std::uint32_t kAllocates = 1;
inline constexpr std::uint32_t kFrees = 2;
inline constexpr std::uint32_t kCount = 4;
}  // namespace pair_rule

enum class AgentKind : std::uint8_t {
  kLoad,
  kResponse,
  kStoreRead,   // a bulk store that has not read its source
  kStoreWrite,  // one that has, and not written
  kMma,         // also tcgen05.cp
  kCommit,
  kTensorLd,
  kTensorSt,
  kRemote,      // an arrival on another CTA's mbarrier
  kLate,        // the lanes that a wait left behind
  kGridBefore,  // what the grid before this one still writes
};

/// An asynchronous operation, or its part in one CTA, on its way.
struct Agent {
  static constexpr std::uint8_t kUncommitted = 255;
  static constexpr std::uint16_t kNoWarp = 0xFFFF;  // of kGridBefore

  AgentKind kind = AgentKind::kLoad;
  std::uint8_t piece = 0;       // of `Planned::started`
  std::uint8_t age = 0;         // of a store: groups committed after its own
  std::uint8_t occurrence = 0;  // of its instruction
  std::uint16_t warp = 0;       // that issued it
  std::uint8_t lane = 0;
  std::uint8_t group = 0;  // cta_group
  std::uint32_t instruction = 0;
  std::uint32_t extra = 0;  // a response: the cluster + 1; a store: its words; late lanes: parity
};

struct State {
  std::vector<Cell> cells;
  std::vector<Cell> fragments;
  std::vector<BarrierState> barriers;
  std::vector<WarpState> warps;
  std::vector<Register> registers;
  std::vector<CtaState> ctas;
  std::vector<NamedState> named;
  std::vector<Life> clusters;
  std::vector<std::uint8_t> counters;
  std::vector<Agent> agents;  // by warp, in the order of issue
  std::uint32_t next_cluster = 0;
  std::uint32_t together = 0;  // what the CTAs of a pair do together: pair_rule
  std::uint64_t grants = 0;    // what cluster launch control has decided so far
};

struct Hash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Hash&, const Hash&) = default;
};
Hash hash_of(const State& state);

struct Step {
  enum Kind : std::uint8_t { kWarp, kAgent, kStart };
  Kind kind = kWarp;
  std::uint8_t choice = 0;
  std::uint16_t index = 0;  // warp, or place in `State::agents`
};

/// What an operation saw: the tokens of its cells, of the n-th part of an instruction.
struct Sight {
  std::uint64_t key = 0;
  std::uint32_t warp = 0;
  std::uint32_t instruction = 0;
  const Cells* cells = nullptr;  // null: of a fragment
  std::vector<std::uint64_t> tokens;
};

/// Why a step ends the search.
struct Problem {
  bool is_unsupported = false;
  std::string what;  // empty: it does not
  explicit operator bool() const { return !what.empty(); }
};

inline Problem wrong(std::string what) {
  return {false, std::move(what)};
}

class Machine {
 public:
  explicit Machine(const Plan& plan) : plan_{plan} {}

  /// The states that a run may begin in: one for each rule that the manual leaves open.
  std::vector<State> starts();
  /// Every warp has ended, and nothing is on its way.
  bool is_final(const State& state) const;

  /// The choices that the next step of a warp or of an agent has; 0: it cannot act.
  std::uint32_t choices(const State& state, std::uint32_t warp) const;
  bool can_act(const State& state, std::size_t agent) const;
  bool can_start(const State& state) const;
  /// Appends the steps of one warp.
  void add_steps(const State& state, std::uint32_t warp, std::vector<Step>& steps) const;
  /// All steps.
  void all_steps(const State& state, std::vector<Step>& steps) const;

  /// Takes a step, and adds what it saw. After a problem the state is of no use.
  Problem take(State& state, const Step& step, std::vector<Sight>& sights);
  /// Takes every warp through operations that nobody else can tell of. See values_reduction.hpp.
  Problem settle(State& state);

  /// "cta 0 warp 1: mbarrier.arrive full[0] (line 12)".
  std::string describe(const State& state, const Step& step) const;
  std::string describe(std::uint32_t warp, std::uint32_t instruction) const;
  /// Where each warp that has not ended stands.
  std::string whereabouts(const State& state) const;
  /// Who wrote something, of a token.
  std::string writer(std::uint64_t token) const;

  const Plan& plan() const { return plan_; }
  const Planned& planned(const Agent& agent) const {
    return plan_.warps[agent.warp][agent.instruction];
  }
  const Piece& piece_of(const Agent& agent) const { return planned(agent).started[agent.piece]; }
  bool has_ended(const State& state, std::uint32_t cta) const {
    return state.ctas[cta].live_warps == 0;
  }
  bool is_local(const State& state, std::uint32_t warp) const;

 private:
  const Planned* next(const State& state, std::uint32_t warp) const;
  bool lanes_missing(const State& state, std::uint32_t warp) const;
  bool leaves_lanes(const State& state, std::uint32_t warp, const Operation& op) const;
  bool waits_for_stores(const State& state, std::uint32_t warp, const Operation& op) const;
  bool has_agent(const State& state, std::uint32_t warp, AgentKind kind) const;
  bool acts_together(const State& state, const Operation& op) const;
  std::uint32_t alloc_choices(const State& state, std::uint32_t warp, const Operation& op) const;
  std::vector<std::uint32_t> partners(const State& state, std::uint32_t warp) const;
  bool jumps(const State& state, std::uint32_t warp, const Planned& planned) const;
  std::uint8_t occurrence(const State& state, const Planned& planned) const {
    return planned.counter == kNone ? std::uint8_t{0} : state.counters[planned.counter];
  }

  static std::uint64_t token_of(const Planned& planned, std::uint32_t occurrence) {
    return planned.token + occurrence;
  }
  Problem take_warp(State& state, std::uint32_t warp, std::uint32_t choice, std::vector<Sight>&);
  Problem take_jump(State& state, std::uint32_t warp, const Planned& planned);
  Problem execute(State& state,
                  std::uint32_t warp,
                  std::uint32_t choice,
                  const Planned& planned,
                  std::vector<Sight>& sights);
  Problem on_barrier(State& state, std::uint32_t barrier, const Operation& op);
  Problem arrive(BarrierState& barrier, std::uint32_t count, bool completes);
  Problem add_bytes(BarrierState& barrier, std::int64_t bytes, bool completes);
  void complete(BarrierState& barrier) const;
  Problem look(State& state, std::uint32_t warp, const Planned& planned);
  Problem named_barrier(State& state, std::uint32_t warp, const Operation& op);
  void release_named(State& state, std::uint32_t cta, std::uint32_t id);
  Problem cluster_barrier(State& state, std::uint32_t warp, const Operation& op);
  void release_cluster(State& state, std::uint32_t cluster);
  Problem access(State& state, std::uint32_t warp, const Planned& planned, std::vector<Sight>&);
  Problem query(State& state, std::uint32_t warp, const Planned& planned, std::vector<Sight>&);
  void issue(State& state, std::uint32_t warp, const Planned& planned, std::uint32_t extra);
  void insert(State& state, const Agent& agent) const;
  Problem request(State& state, std::uint32_t warp, std::uint32_t choice, const Planned& planned);
  void commit_group(State& state, std::uint32_t warp, const Operation& op) const;
  Problem allocate(State& state, std::uint32_t warp, const Planned& planned);
  Problem deallocate(State& state, std::uint32_t warp, const Operation& op);
  Problem tensor_memory(State& state,
                        std::uint32_t warp,
                        std::uint32_t choice,
                        const Planned& planned);
  Problem set_registers(State& state, std::uint32_t warp, const Operation& op);
  Problem exit(State& state, std::uint32_t warp);
  void retire(State& state, std::uint32_t cluster);
  void start_cluster(State& state);

  Problem take_agent(State& state, std::size_t index, std::vector<Sight>& sights);
  Problem land(State& state, const Agent& agent, std::vector<Sight>& sights);
  Problem store(State& state, Agent& agent, std::vector<Sight>& sights, bool& over);
  Problem misread(const State& state, const Piece& piece, const Planned& planned) const;
  Problem tensor_step(State& state, const Agent& agent, std::vector<Sight>& sights);

  Problem check(const State& state, const Piece& piece, bool needs_ctas) const;
  void see(const State& state,
           const Cells& cells,
           const Planned& planned,
           std::uint32_t warp,
           std::uint32_t occurrence,
           std::uint32_t part,
           std::vector<Sight>& sights) const;
  void see_fragment(const State& state,
                    const Planned& planned,
                    std::uint32_t warp,
                    std::vector<Sight>& sights) const;
  std::uint64_t sight_key(const State& state,
                          const Planned& planned,
                          std::uint32_t occurrence,
                          std::uint32_t part) const;
  bool any_unwritten(const State& state, const Cells& cells) const;
  void write(State& state, const Cells& cells, std::uint64_t token, std::uint32_t flags) const;
  void set_result(State& state,
                  std::uint32_t warp,
                  const Planned& planned,
                  std::uint32_t value,
                  std::uint32_t flags) const;
  void drop_dead_registers(State& state, std::uint32_t warp) const;
  std::string name_of_object(const Operation& op) const;

  const Plan& plan_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> staged_;  // words that stores have read
  std::vector<const std::vector<std::uint64_t>*> staged_list_;
};

}  // namespace warptwin::sim::values
