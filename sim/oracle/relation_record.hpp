/// One execution, as oracle R judges it: its order, and what was accessed between which nodes.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/model/gpu.hpp"
#include "sim/oracle/relation.hpp"
#include "sim/oracle/relation_footprint.hpp"
#include "sim/oracle/relation_order.hpp"

namespace warptwin::sim::relation {

enum class Space : std::uint8_t { kShared, kTensor, kGlobal };
enum class Proxy : std::uint8_t { kGeneric, kAsync, kTensor };

/// Ways that a warp's lanes go: each that acts alone has its own, but for the first of them; that
/// one's is kTail, and kRest that of all others.
inline constexpr std::uint32_t kTail = kWarpLanes + 1;
inline constexpr std::uint32_t kRest = kWarpLanes + 2;
inline constexpr std::uint32_t kAnyWay = kWarpLanes + 3;
/// By warp: the lanes that have a way of their own.
using LanesAlone = std::map<std::uint32_t, std::set<std::uint32_t>>;

/// Which operation of which warp.
struct Who {
  Op op = Op::kCount;
  std::uint32_t warp = 0;
  SourceSite site{};
};

struct Access {
  Space space = Space::kShared;
  std::uint32_t cta = 0;  // 0 for global memory
  Footprint where;
  bool write = false;
  bool strong = false;              // races with no other strong one of words of one size
  std::uint32_t word = 4;           // bytes of its word, if it is strong
  bool needs_data = false;          // a read of what nobody wrote is wrong
  bool rest = false;                // by the lanes of a warp but the one that acts alone
  std::uint32_t lane = kWarpLanes;  // of a word: which lane, or kTail or kRest
  std::uint32_t value = 0;          // that it writes there
  std::size_t group = 0;            // of a word: the first of what one event accesses
  Proxy proxy = Proxy::kGeneric;
  Node start = kNoNode;
  Node end = kNoNode;
  Nodes issues;  // of a wgmma: each thread reads for itself, behind its own
  Who who;
};

/// Between two nodes something acts on an mbarrier, or on an allocation.
struct Use {
  Node start = kNoNode;
  Node end = kNoNode;
  Who who;
};

/// An mbarrier from its init to its inval, if it has one.
struct BarrierLife {
  std::uint32_t cta = 0;
  std::uint32_t address = 0;
  std::vector<Use> inits;   // by each lane that makes one
  std::vector<Use> invals;  // likewise
  std::vector<Use> uses;
};

struct Allocation {
  std::uint32_t cta = 0;
  std::uint32_t base = 0;
  std::uint32_t columns = 0;
  Use alloc;
  Use dealloc;
  std::vector<Use> uses;
};

struct ProxyFence {
  Node node = kNoNode;
  ProxySpace space = ProxySpace::kAll;
  std::uint32_t cta = 0;
};

struct MapUse {
  std::uint32_t map = 0;
  bool write = false;
  Use use;
};

/// A contribution or a wait, which should act in the same phase in every execution.
using PhaseKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
struct PhaseAt {
  std::uint32_t phase = 0;
  Who who;
};

/// `PhaseUse::life` of named barrier i of CTA c is this + c * kNamedBarriers + i.
inline constexpr std::size_t kNamedLives = std::size_t{1} << 48;

/// What a lane, or something on its own, contributes to a phase of an mbarrier; or a warp to one
/// of a named barrier.
struct PhaseUse {
  std::size_t life = 0;
  std::uint32_t phase = 0;
  Node node = kNoNode;
  Who who;
};

class Record : public EventSink {
 public:
  /// `alone` is what an execution before has found.
  Record(const LaunchConfig& launch, const RelationOptions& options, LanesAlone alone = {});
  void on_event(const Event& event) override;

  LanesAlone alone;
  Order order;
  std::vector<Access> accesses;
  std::vector<BarrierLife> barriers;
  std::vector<Allocation> allocations;
  std::vector<std::pair<std::uint32_t, Use>> relinquished;  // by CTA
  std::vector<ProxyFence> proxy_fences;
  std::map<std::uint32_t, Nodes> fences_before;  // tcgen05, by warp
  std::map<std::uint32_t, Nodes> fences_after;
  std::vector<MapUse> map_uses;
  std::vector<std::pair<std::uint32_t, Node>> map_releases;  // warp
  std::vector<std::pair<std::uint32_t, Node>> map_acquires;  // map
  Nodes grid_waits;
  std::map<std::uint32_t, Node> cta_exits;
  std::map<PhaseKey, PhaseAt> phases;
  std::vector<PhaseUse> contributors;
  bool claims = false;  // clusters ask for others: what they do is a choice
  std::vector<RelationFinding> faults;

 private:
  struct Source {
    Node node = kNoNode;
    Scope scope = Scope::kCta;
    bool near = true;             // who released it is in the CTA of who sees it
    std::uint32_t way = kAnyWay;  // who executed the fence, or the relaxed wait
  };
  struct Contribution {
    Nodes made;
    std::vector<Source> released;
    std::uint32_t cta = 0;  // of who made it
    bool engine = false;    // not a thread
    Nodes told{};           // of tensor memory, whatever the scope
  };
  struct Async {
    Event issue;
    Node begin = kNoNode;
    Node read = kNoNode;
    Node done = kNoNode;
    std::uint32_t number = 0;  // of its warp's asynchronous operations
    Nodes issues{};            // of a wgmma, by the lanes of its warps
    std::uint32_t warps = 0;   // likewise: that have issued it
  };
  struct TensorOp {
    std::uint32_t serial = 0;
    Node done = kNoNode;
    Op op = Op::kCount;
    std::uint32_t d = 0;
    std::uint32_t instruction = 0;
    bool pair = false;
    Footprint into{};  // of an MMA: its accumulator
  };
  using Looks = std::vector<std::pair<std::uint32_t, Node>>;  // by way
  struct LateWait {
    Looks looks;
    std::uint32_t address = 0;
    std::uint32_t line = 0;
  };
  struct WarpRecord {
    std::uint32_t first_alone = kWarpLanes;  // the first lane that acted alone; none has: 32
    Node tail = kNoNode;                     // of that lane
    Node rest = kNoNode;                     // of the others
    std::map<std::uint32_t, Node> apart;     // of those that act alone
    Node look = kNoNode;
    Nodes other_looks;  // of the others, if all look
    Op looked = Op::kCount;
    std::vector<Source> releases;    // by fences
    std::vector<Source> unacquired;  // what relaxed waits saw
    std::vector<Source> told;        // by tcgen05 fences
    std::vector<Source> untold;      // of tensor memory, what relaxed waits saw
    Node committed = kNoNode;        // its last tcgen05.commit
    Nodes initialised;               // what each fence.mbarrier_init publishes
    Looks inits;
    Nodes remote_arrivals;
    std::vector<TensorOp> tensor;
    Nodes loads;   // tcgen05.ld
    Nodes stores;  // tcgen05.st
    struct BulkStore {
      std::uint32_t group = 0;
      std::uint32_t lanes = 0;
      std::uint32_t serial = 0;
    };
    std::vector<BulkStore> bulk;
    std::vector<std::pair<std::uint32_t, Node>> wgmmas;  // number, done
    std::deque<LateWait> waits;
    std::map<std::uint32_t, Nodes> late;  // by way
    std::uint32_t asyncs = 0;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> counts;
  };
  using BarrierKey = std::pair<std::uint32_t, std::uint32_t>;  // CTA, address

  WarpRecord& warp_of(const Event& event);
  std::uint32_t cta_of_warp(std::uint32_t warp) const { return warp / launch_.warps_per_cta; }
  std::uint32_t cluster_of(std::uint32_t cta) const { return cta / launch_.cluster_size; }
  static Who who(const Event& event) { return {event.op, event.warp, event.site}; }

  using ByWay = std::map<std::uint32_t, Nodes>;
  /// `own`: what one way alone comes after, in memory and for tensor memory.
  Node step(const Event& event,
            Nodes memory = {},
            Nodes execution = {},
            Nodes tensor = {},
            const std::pair<ByWay, ByWay>& own = {});
  std::uint32_t key_of(const Event& event) const;
  Looks by_way(const Event& event, Node first, const Nodes& others) const;
  Looks ways_of(const Event& event, Node node) const;
  Node& way_of(const Event& event);
  Nodes others_of(const Event& event) const;
  Nodes by_lanes(const Event& event, Node node) const;
  void access_of_words(const Event& event, Access access);
  bool meets(const Event& event) const;
  Node come_to(const Event& event);
  Node look(const Event& event);
  void use_by_lanes(const Event& event, const Use& use);
  void fault(const Event& event);
  void mbarrier(const Event& event);
  void wait(const Event& event);
  void late_wait(const Event& event);
  void met(std::uint32_t number, WarpRecord& warp, Node at);
  void pass(const Event& event, Node look, const Looks& late = {});
  void named_barrier(const Event& event);
  void cluster_barrier(const Event& event);
  void fence(const Event& event);
  void issue(const Event& event);
  void issue_load(const Event& event, Async& async);
  void issue_store(const Event& event, Async& async);
  void issue_tensor(const Event& event, Async& async);
  void issue_commit(const Event& event, Async& async, Node issued);
  void issue_tmem(const Event& event, Async& async);
  void issue_wgmma(const Event& event, Async& async, Node issued);
  void issue_remote(const Event& event, Async& async, Node issued);
  void issue_counted_access(const Event& event);
  static void note_atomic(const Event& event, Access& access);
  Nodes copies_over(const Event& event) const;
  void touched(const Event& event);
  void landed(const Event& event);
  void bulk_group(const Event& event);
  void tmem_life(const Event& event);
  void words(const Event& event);
  void global_words(const Event& event);
  void exits(const Event& event);
  Nodes ended(std::uint32_t first, std::uint32_t end, const std::set<std::uint32_t>& but) const;
  std::vector<Source> release_of(const Event& event, Node node) const;
  Nodes told_by(const Event& event, Node node) const;
  void contribute(const Event& event, const Contribution& contribution);
  void use_barrier(std::uint32_t cta, std::uint32_t address, const Use& use);
  void use_columns(std::uint32_t cta, TmemAddress at, std::uint32_t columns, const Use& use);
  void operand(const Event& event, Async& async, std::uint32_t cta, const Footprint& bytes);
  void tensor_cells(
      const Event& event, const Async& async, std::uint32_t cta, const Footprint& at, bool write);
  void in_phase(const Event& event, std::uint32_t async_number);

  LaunchConfig launch_;
  RelationOptions options_;
  std::map<std::uint32_t, WarpRecord> warps_;
  std::map<std::uint32_t, Async> asyncs_;
  std::map<BarrierKey, std::size_t> live_;        // into `barriers`
  std::map<BarrierKey, std::vector<Use>> early_;  // of what is no mbarrier yet
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t, std::uint32_t>,
           std::vector<Contribution>>
      contributions_;  // CTA, address, life, phase
  struct NamedPhase {
    Nodes arrived;
    std::set<std::uint32_t> warps{};
    bool of_all = false;  // its count was left out
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, NamedPhase> named_;
  struct ClusterPhase {
    Nodes published;
    Nodes arrived;
    Nodes told;
    std::set<std::uint32_t> warps{};
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, ClusterPhase> cluster_;
  struct WordSource {
    Node node = kNoNode;
    std::uint32_t warp = 0;
  };
  std::map<std::uint64_t, std::vector<WordSource>> words_;  // what a read synchronises with
  std::map<std::uint32_t, Node> ends_;                      // of warps that have ended
  std::set<std::uint32_t> refused_;                         // CTAs that have seen a request fail
  Nodes copies_;                                            // ends of loads
};

}  // namespace warptwin::sim::relation
