/// The machine: what every operation does, and when it cannot. It knows neither order nor time: an
/// engine decides which agent acts next and calls `execute` for a warp, `advance` for an
/// asynchronous operation. Whoever can act is in `ready()`; `agents()` tells them apart.
///
/// CTAs run in clusters; at most `resident_clusters` are in the machine at a time, and the next one
/// starts in the place of one that ended. Memory is therefore that of the live state.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/circular_buffer.hpp>

#include "common/trace/event.hpp"

#include "sim/model/agent.hpp"
#include "sim/model/ending.hpp"
#include "sim/model/fragment_copies.hpp"
#include "sim/model/global_memory.hpp"
#include "sim/model/lane_judge.hpp"
#include "sim/model/last_adders.hpp"
#include "sim/model/mbarrier.hpp"
#include "sim/model/operation.hpp"
#include "sim/model/ready_set.hpp"
#include "sim/model/symbols.hpp"
#include "sim/model/tensor_memory.hpp"
#include "sim/model/warp_registers.hpp"

namespace warptwin::sim {

struct AtomicUpdate;

/// Receives every event, in the order of execution. Must not change the run.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
};

/// Which lane acts where a warp elects one. kEither: in a run the lowest; the proof is of the
/// others too.
enum class ElectLane : std::uint8_t { kLowest, kHighest, kHash, kEither };

/// Of which lanes activemask tells, where lanes have parted: of all that came the same way, or of
/// one. kEither: in a run of all; the proof is of one too.
enum class ActiveLanes : std::uint8_t { kTogether, kAlone, kEither };

/// Whether a warp that allocates, or frees, tensor memory of a pair waits for the peer to do so.
enum class PairMeeting : std::uint8_t { kAlone, kTogether, kEither };

/// What data reads as in a run that moves none: words that a copy or a row of registers brought,
/// and the answer of `any` for registers without contents.
enum class UnknownData : std::uint8_t {
  kZero,   // 0; yes
  kOnes,   // all bits set; no
  kMixed,  // something else for each address; yes and no in turn
};

/// Knows of tries which answer they have in every interleaving.
class TryJudge {
 public:
  virtual ~TryJudge() = default;
  /// Whether phase `phase` of the mbarrier is complete in every interleaving in which the warp
  /// comes to where it is now; `lanes` of it do. All other numbers are of the grid.
  virtual bool certain(std::uint32_t warp,
                       std::uint32_t lanes,
                       std::uint32_t cta,
                       std::uint32_t address,
                       std::uint32_t phase) const = 0;
};

/// A try: its warp, and its number among those of the warp whose answer is not certain.
struct OpenTry {
  std::uint32_t warp = 0;
  std::uint32_t number = 0;
  friend bool operator==(const OpenTry&, const OpenTry&) = default;
};

/// What the machine does where the manual leaves it open.
struct MachineRules {
  bool expect_completes = true;      // an expect-tx can be the last step of a phase: so on an H200
  bool named_exit_releases = false;  // a named barrier with a count does not wait for ended warps
  bool tmem_starts_zero = false;     // else with a pattern that computes nonsense
  bool tx_in_chunks = false;         // a copy counts its bytes in several steps, not in one
  ElectLane elect_lane = ElectLane::kLowest;
  ActiveLanes active_lanes = ActiveLanes::kTogether;
  /// An address of tensor memory whose lane is in the first quarter is of the warp's own quarter.
  bool tmem_quarter_of_warp = true;
  PairMeeting pair_alloc = PairMeeting::kEither;
  PairMeeting pair_dealloc = PairMeeting::kEither;
  /// CTAs that share an SM: its tensor memory, and the permit to allocate it.
  std::uint32_t ctas_per_sm = 1;
  bool clc_fails_early = false;  // every second request fails although clusters are left
  UnknownData unknown_data = UnknownData::kZero;
  /// An allocation of tensor memory gets the lowest columns that are free; else any, for a proof.
  bool tmem_base_lowest = false;
};

struct LaunchConfig {
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;
  std::uint32_t fallback_size = 0;  // see Workload
  std::vector<bool> falls_back{};
  std::uint32_t warps_per_cta = 1;
  std::uint32_t shared_bytes = 0;  // end of the shared window in use, from address 0
  std::uint32_t registers_per_thread = 168;
  std::uint32_t resident_clusters = 1;
  /// Sets of SMs, one for each rank, that the resident clusters are spread over: one on each, then
  /// a second one on each, and so on. 0: as few as `rules.ctas_per_sm` leaves.
  std::uint32_t places = 0;
  bool moves_data = true;  // false: tile data does not exist, control words do
  /// A try says no unless it can only say yes, and blocks if the warp repeats it at once: of all
  /// runs the one in which every wait is waited for. For the proof.
  bool tries_fail = false;
  std::uint32_t refusals = 1;  // of a try that is repeated, before it blocks
  /// Of these the open ones that wait, and say yes.
  std::vector<OpenTry> tries_pass;
  std::vector<LastAdder> last_adders;  // that are chosen; others are as it happens
  MachineRules rules{};
  /// Requests for clusters that have not begun which may succeed, in the whole launch.
  std::uint32_t clc_successes_max = ~0U;
  /// They get the last cluster that has not begun, not the first.
  bool clc_from_the_end = false;
  /// All clusters of the launch, as they begin or are given to requests; empty: by their numbers.
  std::vector<std::uint32_t> cluster_order;
  /// Clusters that begin; others are left to requests. For a proof cluster by cluster.
  std::uint32_t clusters_begun_max = ~0U;
  /// Global memory, [begin, end), that a grid before this one may still write when it starts: a
  /// dependent launch, if there is any.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> prerequisite_writes;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> prerequisite_reads;  // likewise: read
  bool tmem_from_top = false;    // allocations get the highest free columns, not the lowest
  bool has_dependents = false;   // another grid is launched behind this one, to start early
  bool free_tmem_bases = false;  // where an allocation of PTX is nothing may depend on

  /// CTAs of the clusters in the place of the preferred cluster `cluster`.
  std::uint32_t size_in(std::uint32_t cluster) const {
    return cluster < falls_back.size() && falls_back[cluster] ? fallback_size : cluster_size;
  }
  /// CTAs of the cluster that a CTA of the grid is in, and the first of them.
  std::uint32_t size_around(std::uint32_t cta) const {
    return falls_back.empty() ? cluster_size : size_in(cta / cluster_size);
  }
  std::uint32_t first_around(std::uint32_t cta) const { return cta - cta % size_around(cta); }
};

/// A word of shared memory that holds an address of tensor memory, what stands for one, or a part
/// of a response to a request for a cluster.
struct TmemWord {
  std::uint32_t address = 0;
  std::uint8_t kind = 0;  // of `tmem_word`
};

/// Why a warp does not run.
enum class WarpStatus : std::uint8_t { kReady, kBlocked, kDone };

/// A wait of lanes that a wait left behind.
struct LateWait {
  std::uint32_t address = 0;
  std::uint32_t parity = 0;
  std::uint32_t wanted = 0;
  std::uint32_t flags = 0;
  SourceSite site{};
};

struct BulkGroup {
  std::uint32_t unread = 0;
  std::uint32_t unwritten = 0;
};

/// Bulk groups one after another that the same lanes have committed.
struct CommitRun {
  std::uint32_t lanes = 0;
  std::uint64_t first = 0;  // number of a group
};

/// Registers of the four warps of a warpgroup.
using WarpgroupRegisters = std::array<std::shared_ptr<FragmentData>, kWarpsPerWarpgroup>;

struct AsyncOp {
  Operation operation;
  std::uint32_t warp = 0;  // issuing warp's slot
  std::uint32_t serial = 0;
  std::uint32_t cta = 0;         // CTA slot the data goes to, or comes from
  std::uint32_t signal_cta = 0;  // CTA slot of the signalled barrier
  bool live = false;
  bool read = false;          // of a store: its source has been read
  std::uint32_t counted = 0;  // of a load: bytes that are counted before it ends
  std::uint64_t group = 0;    // bulk group number of the issuing warp
  std::vector<std::byte> staging;
  std::vector<bool> staging_unknown;                           // by byte of it; empty: none
  std::shared_ptr<WarpgroupRegisters> accumulators = nullptr;  // of a wgmma
  std::shared_ptr<WarpgroupRegisters> registers_a = nullptr;   // of a wgmma with A in registers
};

/// Operations of a warp that are done in the order of issue.
using AsyncQueue = boost::circular_buffer<AsyncOp>;
/// One more at the end of `queue`, empty. The queue doubles: it soon stays where it is.
template <class T>
T& append(boost::circular_buffer<T>& queue) {
  constexpr std::size_t kFirst = 8;
  if (queue.full()) {
    queue.set_capacity(std::max(kFirst, 2 * queue.capacity()));
  }
  queue.push_back();
  return queue.back();
}

/// A wgmma that not all warps of its warpgroup have issued.
struct FormingWgmma {
  AsyncOp async;
  std::uint32_t warps = 0;  // that have, one bit each
};

/// A try that was told no because tries fail: made again often enough, it waits.
struct RefusedTry {
  std::uint32_t address = 0;
  std::uint32_t wanted = 0;
  SourceSite site{};
  std::uint32_t place = 0;
  std::uint32_t lanes = 0;
  std::uint32_t times = 1;
};

/// What a warp has been told of an mbarrier in each order of the others: that it has completed at
/// least so many phases.
struct KnownPhases {
  std::uint32_t address = 0;
  std::uint32_t life = 1;  // of the mbarrier: `MbarrierState::lives`
  std::uint32_t phases = 0;
};

/// How far a warp is in an allocation, or a free, that its pair makes together.
enum class PairStep : std::uint8_t { kNone, kMet, kAllocated, kFreed };

struct Warp {
  WarpStatus status = WarpStatus::kDone;
  std::uint32_t number = 0;  // in the grid
  std::uint32_t cta = 0;     // CTA slot
  std::uint32_t index = 0;   // in the CTA
  Operation blocked_on{};    // valid while kBlocked
  SourceSite last_site{};
  Op last_op = Op::kWarpStart;

  AsyncQueue tensor_queue = AsyncQueue();
  AsyncQueue tmem_queue = AsyncQueue();
  std::vector<LateWait> late;
  std::optional<LateWait> debt;  // the last wait, until it is known whether its lanes stay together

  std::uint32_t wgmma_issued = 0;
  std::uint32_t wgmma_over = 0;    // of them, those that a wait of this warp has covered
  std::uint64_t wgmma_fenced = 0;  // when, by `WarpRegisters::time`; 0: never
  std::uint32_t wgmma_group = 0;   // number of the open group
  // `wgmma_issued` at each commit that no wait has covered.
  std::vector<std::uint32_t> wgmma_groups;
  // Of the first warp of a warpgroup, for all of it:
  std::uint32_t wgmma_done = 0;
  std::uint32_t wgmma_begun = 0;  // issued by all four warps
  // Issued by some of them, in order.
  boost::circular_buffer<FormingWgmma> wgmma_forming = boost::circular_buffer<FormingWgmma>();

  std::uint64_t bulk_group = 0;  // number of the open group
  std::uint64_t bulk_first = 0;  // number of groups[0]
  std::vector<BulkGroup> groups{1};

  std::uint32_t tensor_lanes = 0;     // that have issued and not committed
  std::uint32_t store_lanes = 0;      // that have stored and not committed
  std::uint32_t committed_lanes = 0;  // that have committed a bulk group
  std::vector<CommitRun> commits;

  bool in_named_barrier = false;
  std::uint32_t named_generation = 0;
  bool cluster_arrived = false;
  std::uint32_t remote_arrivals = 0;  // on their way; a releasing cluster arrival waits for them
  std::uint32_t cluster_generation = 0;
  PairStep pair_step = PairStep::kNone;
  bool pair_waits = false;  // for the peer to come to the same step
  std::uint32_t pair_generation = 0;
  std::uint32_t registers = 0;
  std::uint32_t open_tries = 0;     // that were answered
  std::vector<RefusedTry> refused;  // and told no, until their phase was waited for or seen
  std::vector<KnownPhases> known;   // where some tries are to say yes
};

struct NamedBarrierState {
  std::uint32_t threads = 0;  // 0: idle
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
  std::uint32_t warps = 0;  // that have arrived, one bit each
  std::uint32_t waiting = 0;
  bool all_threads = false;  // the count was left out
};

struct Cta {
  std::uint32_t number = 0;  // in the grid
  std::uint32_t rank = 0;
  std::uint32_t cluster = 0;  // slot of a preferred cluster
  std::uint32_t first = 0;    // CTA slot of its cluster's first CTA
  std::uint32_t size = 1;     // CTAs of its cluster
  // Of a cluster's first CTA, for all of it:
  std::uint32_t arrived = 0;  // warps at the cluster barrier
  std::uint32_t generation = 0;
  std::uint32_t live_warps = 0;
  bool exited = false;
  std::vector<MbarrierState> barriers;  // by the launch-wide barrier number
  std::vector<std::uint64_t> waiters;   // same index: bit i warp i, bit 32 + i its late lanes
  NamedBarrierState named[kNamedBarriers];
  TensorMemory tmem;
  std::uint32_t tmem_waiters = 0;
  bool tmem_reserved = false;  // its peer has allocated, and it is next
  std::uint32_t free_registers = 0;
  std::uint32_t register_waiters = 0;
  std::vector<std::byte> shared;
  /// By byte of `shared`: data that was not moved, or what nobody knows; empty: none.
  std::vector<bool> unknown;
  std::vector<TmemWord> tmem_words;
  /// By word of `shared`: the number of where the cp.async stands that is on its way there, or 0.
  std::vector<std::uint32_t> copied;
};

/// A word of shared memory that a cp.async still writes.
struct CopiedWord {
  std::uint32_t address = 0;
  SourceSite copy{};     // where that stands
  bool at_exit = false;  // nobody uses it: the copy's warp ends
};

/// Something else is written to [begin, end) of its shared memory.
inline void forget_tmem_words(Cta& cta, std::uint64_t begin, std::uint64_t end) {
  if (!cta.tmem_words.empty()) {
    std::erase_if(cta.tmem_words, [&](const TmemWord& word) {
      return word.address < end && begin < word.address + sizeof word.address;
    });
  }
}

/// The place of a preferred cluster: it, or the clusters that are there instead.
struct Cluster {
  std::uint32_t number = 0;
  std::uint32_t live_ctas = 0;
  std::uint32_t outstanding = 0;            // asynchronous operations of its warps
  std::vector<std::uint32_t> pair_entered;  // per pair: CTAs that wait for the other
  std::vector<std::uint32_t> pair_generation;
};

class Gpu {
 public:
  Gpu(const LaunchConfig& config, GlobalMemory& memory, const Symbols& symbols);
  /// An independent machine in the same state, over `memory`, which is to be a copy of the other's.
  /// Nobody watches it or judges its tries. Its operations on their way fill registers of its own:
  /// `fragments` says which they are in place of the other's. A program that goes on with the copy
  /// asks `fragments` for its registers, too.
  Gpu(const Gpu& other, GlobalMemory& memory, FragmentCopies& fragments);
  Gpu& operator=(const Gpu&) = delete;

  void set_sink(EventSink* sink) { sink_ = observer_ = sink; }
  bool observed() const { return observer_ != nullptr; }
  /// Lets the sink see only what the clusters in these slots do; empty: all of them.
  void sample(std::vector<bool> slots) { sampled_ = std::move(slots); }
  bool is_sampled() const { return !sampled_.empty(); }
  /// Whether the sink sees what this warp does.
  bool sees(WarpSlot warp) const {
    return observer_ != nullptr &&
           (sampled_.empty() || sampled_[warp / (config_.warps_per_cta * config_.cluster_size)]);
  }
  /// Starts the first clusters. Call once.
  void launch();

  /// Tells what the warp will execute next: whether the lanes of its last wait stay together. To be
  /// called before others are given the chance to act.
  void announce(WarpSlot warp, const Operation& operation) { settle_lanes(warp, operation); }
  /// Executes `operation` for the warp, or notes that it cannot go on and takes it out of `ready()`
  /// until it may. Returns whether it was executed. Results are left in `operation`.
  bool execute(WarpSlot warp, Operation& operation);
  /// One step of the asynchronous agent `slot`, which is in `ready()`.
  void advance(AgentSlot slot);

  const ReadySet& ready() const { return ready_; }
  /// Writes down who becomes ready, for an engine that does not choose among all.
  void watch_ready(std::vector<AgentSlot>* inserted) { ready_.watch(inserted); }
  const Agents& agents() const { return agents_; }
  /// The lane that acts where the warp elects one.
  std::uint8_t elected_lane(WarpSlot warp) const;
  /// CTA slots that share an SM with `cta`, itself among them: the CTAs of one rank.
  std::vector<std::uint32_t> ctas_of_sm(std::uint32_t cta) const;
  /// The SM of a CTA slot: SMs are numbered through, rank by rank of a place.
  std::uint32_t sm_of(std::uint32_t cta) const {
    const std::uint32_t place = cta / config_.cluster_size % config_.places;
    return place * config_.cluster_size + cta % config_.cluster_size;
  }
  /// Warps that started since the last call, to be given a body.
  std::vector<WarpSlot> take_started();
  bool any_started() const { return !started_.empty(); }
  /// No warp is left, now or later.
  bool finished() const { return live_warps_ == 0; }
  /// An operation that hardware would not survive was executed.
  bool trapped() const { return trapped_; }
  /// How a run ends that has trapped.
  Ending ending_of_trap() const { return endless_ ? Ending::kLivelock : Ending::kTrapped; }
  /// The warp that is in a loop which nothing ends (TrapCause::kForEver).
  std::optional<WarpSlot> endless() const { return endless_; }

  void set_time(std::uint64_t time) { time_ = time; }
  std::uint64_t operations() const { return operations_; }
  /// Who knows which tries can only say yes; null: nobody. For a launch with `tries_fail`.
  void set_try_judge(const TryJudge* judge) { try_judge_ = judge; }
  void set_lane_judge(const LaneJudge* judge) { lane_judge_ = judge; }
  /// Null: nobody knows, and every wait is taken to bring what lanes have released.
  const LaneJudge* lane_judge() const { return lane_judge_; }
  LastAdders& last_adders() { return last_adders_; }
  /// A warp was told no at a try more than once, and went on without its phase.
  bool gave_up() const { return gave_up_; }
  /// A warp waits at a try that is to say yes.
  bool waits_at_try() const;
  /// Of the mbarrier that one of these asks about a phase has completed that the warp need not have
  /// known of: with another order of the others its try could have said yes.
  bool may_have_missed() const;
  /// A word of data was read that this run does not move.
  bool read_unknown() const { return read_unknown_; }
  WarpRegisters& registers(WarpSlot warp) { return registers_[warp]; }
  /// A warp was told something of registers without contents.
  bool asked_unknown() const;
  /// Lanes have acted by their number, in a warp of which one may be elected as well.
  bool lanes_by_number() const;
  bool asks_active() const;
  /// What `any` says of registers without contents, in the warp's turn.
  bool unknown_answer(WarpSlot warp) const {
    return config_.rules.unknown_data == UnknownData::kZero ||
           (config_.rules.unknown_data == UnknownData::kMixed && warps_[warp].number % 2 == 0);
  }
  /// Counts changes of state: a poll that says no is not one.
  std::uint64_t changes() const { return changes_; }

  const LaunchConfig& config() const { return config_; }
  const Symbols& symbols() const { return symbols_; }
  GlobalMemory& memory() { return *memory_; }
  const std::vector<Warp>& warps() const { return warps_; }
  const std::vector<Cta>& ctas() const { return ctas_; }
  const std::vector<Cluster>& clusters() const { return clusters_; }
  /// Number of a CTA slot's cluster, as if all of the grid were of its size; and of all these.
  std::uint32_t cluster_index_of(std::uint32_t cta) const {
    return ctas_[cta].number / ctas_[cta].size;
  }
  std::uint32_t cluster_count_of(std::uint32_t cta) const {
    return config_.clusters * (config_.cluster_size / ctas_[cta].size);
  }
  /// The first CTA of a CTA slot's cluster.
  const Cta& first_cta_of(std::uint32_t cta) const { return ctas_[ctas_[cta].first]; }
  /// Places of transfers, in use or not.
  std::uint32_t transfers() const { return static_cast<std::uint32_t>(async_.size()); }
  /// The operation of a transfer; null where there is none.
  const AsyncOp* async_at(AgentSlot slot) const;
  /// The warp that an agent acts for: itself, or who issued the operation.
  WarpSlot issuer_of(AgentSlot slot) const {
    return agents_.is_transfer(slot) ? async_[agents_.place_of(slot)].warp : agents_.warp_of(slot);
  }
  /// Of the agent's cluster: what still acts in it are asynchronous agents.
  bool last_warp_has_ended(AgentSlot slot) const {
    return clusters_[ctas_[warps_[issuer_of(slot)].cta].cluster].live_ctas == 0;
  }
  /// Asynchronous operations on their way, in slot order.
  std::vector<const AsyncOp*> outstanding() const;
  /// The barrier at `address` of a CTA slot, or null.
  const MbarrierState* find_barrier(std::uint32_t cta, std::uint32_t address) const;
  /// Whether one of a CTA slot has some of the bytes [from, to).
  bool holds_barrier(std::uint32_t cta, std::uint32_t from, std::uint32_t to) const;
  /// Stable name of an agent for schedules and reports.
  std::string describe(AgentSlot slot) const;

 private:
  enum class Outcome : std::uint8_t { kDone, kBlocked };
  struct Target {
    std::uint32_t cta;
    std::uint32_t address;
    Fault fault;
  };

  Outcome dispatch(WarpSlot slot, Operation& op);
  void report_early_use(WarpSlot slot, const Operation& op);
  void emit_early_use(
      WarpSlot slot, const Operation& op, bool writes, std::uint32_t cta, const CopiedWord& word);
  void note_copied(Cta& cta, const LaneAccess& target, std::uint32_t number);
  std::uint32_t number_of(const SourceSite& copy);
  bool tmem_is_free(std::uint32_t cta, std::uint32_t columns) const;
  void wake_allocators(std::uint32_t cta);
  Outcome mbarrier_update(WarpSlot slot, Operation& op);
  void defer_update(WarpSlot slot, const Operation& op, const Target& target);
  void issue_access(const AsyncOp& async, const AsyncAccess& access);
  Outcome mbarrier_wait(WarpSlot slot, Operation& op);
  Outcome named_barrier(WarpSlot slot, Operation& op);
  Outcome cluster_barrier(WarpSlot slot, const Operation& op);
  Outcome issue_copy(WarpSlot slot, Operation& op);
  ShapeFault shape_fault(const Operation& op) const;
  Fault fault_of_copy(const Warp& warp, const Operation& op) const;
  bool targets_exited_cta(const Warp& warp, CtaMask mask) const;
  // `rows` times `width` bytes of global memory, `pitch` apart.
  struct Rectangle {
    std::uint64_t address;
    std::uint32_t rows;
    std::uint32_t pitch;
    std::uint32_t width;
  };
  void find_pieces(const Operation& op);
  void find_rows(const TensorMapState& map, const TensorPlace& place);
  bool pieces_in_range() const;
  std::uint32_t shared_bytes_of(const Operation& op) const;
  bool map_fits(const Operation& op) const;
  Outcome bulk_groups(WarpSlot slot, const Operation& op);
  static std::uint64_t groups_waited_for(const Warp& warp,
                                         std::uint32_t lanes,
                                         std::uint32_t pending);
  Outcome tmem_allocate(WarpSlot slot, Operation& op);
  bool meet_peer(WarpSlot slot, PairStep next);
  Outcome tmem_free(WarpSlot slot, const Operation& op);
  Outcome issue_tensor(WarpSlot slot, Operation& op);
  Outcome issue_tmem(WarpSlot slot, Operation& op);
  Outcome issue_wgmma(WarpSlot slot, Operation& op);
  Outcome wgmma_groups(WarpSlot slot, Operation& op);
  Fault check_wgmma(WarpSlot slot, const Operation& op) const;
  std::uint32_t wgmmas_to_wait_for(const Warp& warp, std::uint32_t pending) const;
  bool leaves_warpgroup(WarpSlot slot) const;
  void finish_wgmma(std::uint32_t leader);
  WarpSlot warpgroup_of(WarpSlot slot) const {
    return slot - warps_[slot].index % kWarpsPerWarpgroup;
  }
  Outcome clc_request(WarpSlot slot, const Operation& op);
  Outcome clc_query(WarpSlot slot, Operation& op);
  Outcome tmem_wait(WarpSlot slot, const Operation& op);
  Outcome shared_word(WarpSlot slot, Operation& op);
  Outcome shared_row(WarpSlot slot, const Operation& op);
  void emit_race(WarpSlot slot, const Operation& op);
  /// Says whether it leaves something else than it finds.
  static bool update_shared(const Cta& cta, AtomicUpdate& update);
  Outcome shared_access(WarpSlot slot, const Operation& op);
  Outcome global_access(WarpSlot slot, const Operation& op);
  Outcome global_load(WarpSlot slot, Operation& op);
  Outcome replace_in_map(WarpSlot slot, const Operation& op);
  Outcome global_word(WarpSlot slot, Operation& op);
  Outcome set_registers(WarpSlot slot, const Operation& op);
  Outcome exit_warp(WarpSlot slot, const Operation& op);
  Outcome plain(WarpSlot slot, const Operation& op);

  void settle_lanes(WarpSlot slot, const Operation& op);
  bool lanes_missing(WarpSlot slot, const Operation& op) const;
  void advance_late(std::uint32_t warp);
  void advance_tensor(std::uint32_t warp);
  void advance_tmem(std::uint32_t warp);
  void advance_copy(AsyncOp& async, AgentSlot slot);
  bool count_part(AsyncOp& async);
  void land_load(AsyncOp& async);
  void finish_store(AsyncOp& async);
  void execute_mma(const AsyncOp& async);
  void execute_cp(const AsyncOp& async);
  Fault check_mma(const Operation& op, std::uint32_t cta) const;
  Fault check_columns(CtaGroup group,
                      std::uint32_t cta,
                      std::uint32_t address,
                      std::uint32_t columns) const;
  Fault check_cp(const Operation& op, std::uint32_t cta) const;
  void land_response(AsyncOp& async);
  void wake_pollers(std::uint64_t address, std::uint64_t size);
  static void set_unknown(Cta& cta, std::uint32_t begin, std::uint32_t end, bool unknown);
  void load_control(const Operation& op, Cta& cta);
  void store_control(const AsyncOp& async);
  static void take_unknown(Cta& cta, std::uint32_t begin, std::uint32_t bytes, bool unknown);
  void store_unknown(const AsyncOp& async);
  std::uint32_t unknown_word(std::uint64_t address);
  bool opens(const Warp& warp) const;
  bool gives_up(const RefusedTry& refused) const;
  static bool at_try(const Warp& warp);
  static KnownPhases known_of(const Warp& warp, std::uint32_t address);
  static void note_known(Warp& warp, const Operation& op, const MbarrierState& bar);

  Target resolve(const Warp& warp, const Operation& op) const;
  std::uint32_t barrier_number(std::uint32_t address);
  MbarrierState* barrier_at(std::uint32_t cta, std::uint32_t address);
  BarrierStep apply_to_barrier(std::uint32_t cta,
                               std::uint32_t address,
                               Event& event,
                               std::uint32_t count,
                               std::uint32_t bytes);
  void deferred_arrive(const AsyncOp& async, std::uint32_t cta, std::uint32_t address);
  void wake_barrier(std::uint32_t cta, std::uint32_t number);
  void release_named(Cta& cta, std::uint32_t base, NamedBarrierState& barrier);
  void release_cluster_if_complete(std::uint32_t first_cta);
  void start_cluster(std::uint32_t slot);
  void retire_cluster_if_done(std::uint32_t slot);
  AgentSlot take_async();
  void finish_async(AgentSlot slot);
  std::uint32_t live_warps_of(std::uint32_t first_cta) const;
  const std::byte* shared_of(std::uint32_t cta) const { return ctas_[cta].shared.data(); }

  Event event_of(WarpSlot slot, const Operation& op) const;
  Event event_of(const AsyncOp& async, Step step) const;
  Event landing_of(const AsyncOp& async, Step step) const;
  // To be called before `issuer`, or who acts for it, does something.
  void attend(WarpSlot issuer) {
    if (!sampled_.empty()) {
      sink_ = sees(issuer) ? observer_ : nullptr;
    }
  }
  void emit(const Event& event) {
    if (sink_ != nullptr) {
      sink_->on_event(event);
    }
  }
  void fail(Event& event, Fault fault, bool traps);
  /// What became of an mbarrier.
  static void tell_state(Event& event, const MbarrierState& bar);
  Outcome block(WarpSlot slot, const Operation& op);

  // Shares with the other what copying leaves shared.
  Gpu(const Gpu&) = default;

  LaunchConfig config_;
  GlobalMemory* memory_;
  const Symbols& symbols_;
  EventSink* observer_ = nullptr;
  EventSink* sink_ = nullptr;  // of who acts: the observer, or nobody
  std::vector<bool> sampled_;  // cluster slots whose acts are observed; empty: all
  Agents agents_{0};
  ReadySet ready_;
  std::vector<Warp> warps_;
  std::vector<WarpRegisters> registers_;  // by warp slot
  std::vector<Cta> ctas_;
  std::vector<Cluster> clusters_;
  std::deque<AsyncOp> async_;  // by the place of a transfer
  std::vector<std::uint32_t> free_async_;
  std::vector<WarpSlot> started_;
  std::unordered_map<std::uint32_t, std::uint32_t> barrier_numbers_;
  static constexpr std::uint16_t kNoBarrier = 0xFFFF;  // more than fit into shared memory
  std::vector<std::uint16_t> barrier_table_;           // the same, by address / 8, for speed
  std::uint32_t barriers_begin_ = ~std::uint32_t{0};   // what all of them lie within
  std::uint32_t barriers_end_ = 0;
  std::unordered_map<std::uint64_t, std::vector<WarpSlot>> global_waiters_;
  std::vector<Rectangle> pieces_;   // of the copy that is being issued
  std::uint32_t next_cluster_ = 0;  // clusters from here to clusters_end_ have not begun
  std::uint32_t clusters_end_ = 0;
  std::uint32_t clusters_begun_ = 0;
  std::uint32_t clc_requests_ = 0;
  std::uint32_t clc_successes_ = 0;
  std::uint32_t live_warps_ = 0;
  std::uint32_t serial_ = 0;
  std::uint64_t time_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t changes_ = 0;
  bool trapped_ = false;
  std::optional<WarpSlot> endless_;
  bool read_unknown_ = false;
  const TryJudge* try_judge_ = nullptr;
  const LaneJudge* lane_judge_ = nullptr;
  LastAdders last_adders_;
  bool gave_up_ = false;
  std::vector<SourceSite> copy_sites_;  // of each cp.async there has been, by its number less one
};

}  // namespace warptwin::sim
