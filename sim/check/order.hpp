/// What is visible to whom: vector clocks over the warps of a cluster, along the edges of the
/// memory order. Detectors ask it; it reports nothing.
///
/// Edges: program order; named and cluster barriers; an mbarrier's releasing arrivals to the
/// acquiring waits that observe their phase or a later one; a tcgen05.commit to the same, for its
/// warp's tensor operations only; a releasing write of a global word to an acquiring read of it, in
/// any cluster that the narrower of their scopes has. A relaxed write releases what fences of its
/// warp covered, and those of warps that it has met at a barrier since; a relaxed read acquires at
/// the next fence of its thread, or of one that it has met at a barrier since.
/// Of tensor memory a release tells whatever its scope, and a relaxed arrival what a
/// tcgen05.fence::before_thread_sync of its thread covered, to who acquires it, or waits relaxed
/// and has a tcgen05.fence::after_thread_sync behind.
/// A wait for wgmmas tells their warpgroup's first warp's tensor operations complete, and even a
/// relaxed arrival passes that on: they have read, and write registers only. A copy publishes its
/// own bytes and no one's past. A wait at CTA scope observes what the copy engine and the tensor
/// core signal for another CTA (the rule wait_scope), and no arrival of another CTA's warps. A
/// relaxed arrival publishes what a releasing fence of its warp covered, a relaxed wait acquires at
/// the next acquiring fence; a relaxed cluster arrival publishes, beside that, the initialisations
/// behind which their own lanes have a fence.mbarrier_init.

#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "common/trace/event.hpp"
#include "common/trace/op_facts.hpp"

#include "sim/check/clock.hpp"
#include "sim/check/hash_map.hpp"
#include "sim/model/divisor.hpp"
#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// The latest proxy fences somebody knows of, numbered through the launch.
struct FencesKnown {
  std::uint32_t shared = 0;
  std::uint32_t other_space = 0;
};

/// Of an access of a global word. A kernel's text has those of GPU scope alone, unsaid.
inline Scope scope_of_word(const Event& event) {
  const bool said =
      event.ordering.semantics != Semantics::kRelaxed || (event.flags & event_flag::kRelaxed) != 0;
  return said ? event.ordering.scope : Scope::kGpu;
}

/// An operation of a warp by some of its lanes.
struct LanePoint {
  std::uint32_t warp = 0;
  std::uint32_t time = 0;
  std::uint32_t lanes = 0;  // as bits
};

/// An operation of a warp, which is numbered in the grid.
struct Point {
  std::uint32_t warp = 0;
  std::uint32_t time = 0;
  SourceSite site{};
};

class Order {
 public:
  /// `commit_tells_copies`: who observes a tcgen05.commit knows of the copies that the committing
  /// warp had waited for: MMAs that read them are complete. `arrivals_reach`: arrivals at another
  /// CTA's mbarrier and the waits for them have cluster scope where they say CTA.
  explicit Order(const LaunchConfig& config,
                 bool commit_tells_copies = true,
                 bool arrivals_reach = false);
  void on_event(const Event& event);
  /// The questions that follow are asked by the lanes that execute `event`: they know what each of
  /// them does. Where all go on behind a wait of one lane alone, it is `lone_waits` that judges,
  /// but not before they have passed a wait: of its look they know what each of them knows.
  void act(const Event& event, bool looks = false) {
    if (!parted_) {
      return;
    }
    const std::uint32_t cluster = event.warp / warps_;
    if (cluster < clusters_.size() && clusters_[cluster] != nullptr) {
      WarpOrder& warp = clusters_[cluster]->warps[event.warp % warps_];
      warp.view = warp.parts.empty() ? nullptr
                  : looks            ? warp.common(event.lane_mask())
                                     : warp.view_of(event.lane_mask(), false);
    }
  }

  /// The operation count of a warp: names its latest operation.
  std::uint32_t now(std::uint32_t warp) const {
    const WarpOrder* self = find(warp);
    return self == nullptr ? 0 : self->clock.own[component(kOps, warp)];
  }
  Point here(const Event& event) const { return {event.warp, now(event.warp), event.site}; }
  /// Whether operation `time` of `first` is ordered before the latest operation of `second`. Both
  /// warps are numbered in the grid.
  bool ordered(std::uint32_t first, std::uint32_t time, std::uint32_t second) const;
  /// Whether a warp's latest operation comes after operation `time` of `first`, be it its own or
  /// another's.
  bool after(std::uint32_t warp, std::uint32_t first, std::uint32_t time) const {
    return first == warp || ordered(first, time, warp);
  }
  bool after(std::uint32_t warp, const Point& point) const {
    return after(warp, point.warp, point.time);
  }
  /// Whether each lane that executes `second` comes after each lane that executed the first: a lane
  /// after what it did itself, all after what their warp did before it met.
  bool lanes_after(const LanePoint& first, const Event& second) const;
  /// The same as lanes_after for an mbarrier.init, for which less is needed.
  bool init_ordered(const LanePoint& init, const Event& second) const;
  /// The same as after, for accesses to tensor memory.
  bool tensor_after(std::uint32_t warp, std::uint32_t first, std::uint32_t time) const {
    return first == warp || known_of_tensor(kOps, first, warp) >= time;
  }
  /// The same as ordered, with a fence.proxy.async that covers the first operation on the way.
  bool fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) const;
  /// Whether a warp that is ordered after loads or stores is so for each lane that executed them.
  /// What a lane releases speaks for itself and, of the others, for what they did before the warp
  /// last met: by bar.warp.sync, or anything else that brings it together.
  bool every_lane_ordered(const LanePoint& first, const Event& second) const;
  /// Whether what lane `other` has released at the warp's operation `time`, or later, has come to
  /// each of `lanes` of the same warp.
  bool lanes_know(std::uint32_t warp,
                  std::uint32_t lanes,
                  std::uint32_t other,
                  std::uint32_t time) const;
  /// Whether all lanes of a warp know of its operation `time`.
  bool met_since(std::uint32_t warp, std::uint32_t time) const;
  /// The same as every_lane_ordered, of the proxy fence between the two.
  bool every_lane_fenced(const LanePoint& first, const Event& second) const;
  /// Whether lanes of the warp know different things.
  bool parted(std::uint32_t warp) const {
    const WarpOrder* self = find(warp);
    return self != nullptr && !self->parts.empty();
  }
  /// The last release by lanes that did not speak for all others; no line: there was none.
  SourceSite lone_release(std::uint32_t warp) const;
  /// The latest proxy fences that the warp knows of.
  FencesKnown fences_known(std::uint32_t warp) const;
  /// Whether a store to global memory, operation `time` of `first`, lies before a fence.proxy.async
  /// of that memory that `second` knows of.
  bool global_fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) const;
  /// Whether the warp's latest fence.proxy.async has no synchronisation after it yet.
  bool just_fenced(std::uint32_t warp) const;
  /// Whether operation `time` of `first` is ordered for tcgen05: `first` has a before-fence after
  /// it, and `second` an after-fence that knows of that.
  bool tensor_fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) const;

  /// MMAs and cps that a warp has issued; those of them that `observer` knows to be complete; those
  /// it knew to be at its last after-fence.
  std::uint32_t tensor_issued(std::uint32_t issuer) const;
  /// The first warp of a warp's warpgroup: the one its wgmmas count as tensor operations of.
  std::uint32_t warpgroup_of(std::uint32_t warp) const {
    return warp - warp % warps_of_cta_ % kWarpsPerWarpgroup;
  }
  std::uint32_t tensor_complete(std::uint32_t issuer, std::uint32_t observer) const;
  /// The same for accesses to tensor memory.
  std::uint32_t tensor_over(std::uint32_t issuer, std::uint32_t observer) const {
    return known_of_tensor(kTensor, issuer, observer);
  }
  std::uint32_t tensor_complete_at_fence(std::uint32_t issuer, std::uint32_t observer) const;

  /// Names phase `phase` of an mbarrier for good, though the object be initialised anew.
  std::uint32_t phase_mark(std::uint32_t cta, std::uint32_t address, std::uint32_t phase);
  /// Whether `observer` knows that the phase of this mark is complete.
  bool phase_seen(std::uint32_t cta,
                  std::uint32_t address,
                  std::uint32_t mark,
                  std::uint32_t observer) const;
  /// Where `second` last observed a relaxed arrival of `first`, or waited for one relaxed, with no
  /// fence that makes it an edge; no line: never.
  SourceSite relaxed_edge(std::uint32_t first, std::uint32_t second) const;
  /// Fences, and relaxed stores behind them, which were taken to acquire or release for threads
  /// that had met theirs at a barrier; each line once.
  /// PTX says so of fence.sc (membar), any two of which are in one order.
  const std::vector<SourceSite>& across_fences() const { return across_fences_; }
  /// Whether all lanes of the first's warp have come to an elect.sync, shfl.sync or the like behind
  /// the first, and who executes the second knows of something behind that. It is execution, and
  /// memory order only as `taken_meetings` says.
  bool gathered_after(const LanePoint& first, const Event& second) const;
  /// Collectives that were taken to bring a warp's lanes together in memory order, which PTX does
  /// not say, where a release or a lane's question rested on that; each line once.
  const std::vector<SourceSite>& taken_meetings() const { return taken_meetings_; }

 private:
  std::uint32_t first_cta(const Event& event) const {
    return config_.first_around(event.warp / warps_of_cta_);
  }
  enum Part : std::uint32_t {
    kOps,
    kTensor,
    kProxyFenced,
    kBefore,
    kInits,
    kLanes,        // operations by all lanes
    kLanesFenced,  // those of them that a fence.proxy.async covers
    kParts,
  };

  struct BarrierClock {
    std::uint32_t base = 0;  // mark of the object's phase 0
    std::uint32_t last = 0;  // its latest phase
    std::uint32_t phase = 0;
    Clock current;       // joined releases of `phase` and of all before it
    Clock completed;     // those of the phases before it alone
    Clock current_afar;  // the same, by warps of other CTAs
    Clock completed_afar;
    std::vector<std::uint32_t> relaxed;  // warps that arrived relaxed, in the last phases
    SourceSite relaxed_site{};
  };
  /// A global word, by the scope of what was released there: to everybody, to a cluster, to a CTA.
  /// What everybody gets is there for the narrower ones too. Of each clock `others` only.
  struct Released {
    Clock grid;
    std::map<std::uint32_t, Clock> clusters;
    std::map<std::uint32_t, Clock> ctas;
  };
  struct Word {
    Released now;
    /// What was released when all had added that were waited for: at the last change of the sign,
    /// or at this value. Who waits for it need not see what is added later.
    struct Met {
      std::optional<std::uint32_t> value{};  // none: the sign
      Released released{};
    };
    std::optional<Met> met;
    /// What the last write that releases has told by itself, and who made it: a relaxed write of
    /// the same thread behind it tells that too.
    struct Last {
      std::uint32_t warp = 0;
      std::uint32_t lanes = 0;
      Released released{};
    };
    std::optional<Last> last;
  };
  /// What an arrival on its way will release, and at how many barriers.
  struct InFlight {
    Clock clock;
    std::uint32_t targets = 1;
    bool afar = false;  // of a warp of another CTA
  };
  /// A generation of a named barrier: what those who came have told, and who has not gone on yet.
  struct Met {
    Clock clock;
    Clock released_gpu;
    Clock pending_gpu;
    std::uint32_t waiting = 0;
  };
  /// Which lanes of a warp have released, or fenced, for themselves alone, and when: a run each
  /// time that others do.
  struct LoneActs {
    struct Run {
      std::uint32_t lanes = 0;
      std::uint32_t first = 0;
      std::uint32_t last = 0;
    };
    void add(std::uint32_t lanes, std::uint32_t time);
    /// Whether the lanes of the access did, after it and until then.
    bool has(const LanePoint& first, std::uint32_t until) const;
    /// Whether others than the lanes of the access did.
    bool any_without(const LanePoint& first, std::uint32_t until) const;
    /// Whether others did to whom these lanes had released it.
    bool told(const LanePoint& first, std::uint32_t until) const;
    std::vector<Run> runs;
    /// What lanes of the warp had released to who did, and when that did.
    struct Told {
      LoneRelease release;
      std::uint32_t time = 0;
    };
    std::vector<Told> tells;
  };
  /// What lanes have seen by relaxed waits and reads, until a fence of theirs acquires it.
  struct Pending {
    std::uint32_t lanes = 0;
    std::uint32_t looked = lanes;  // those whose look was the only one; 0: several were
    Clock wide{};
    Clock near{};  // what warps of the barrier's own CTA released: a fence of CTA scope does
    Clock gpu{};   // of global words: a fence of GPU scope does
    bool empty() const { return is_empty(wide) && is_empty(near) && is_empty(gpu); }
  };
  /// Lanes that know the same, which is not what all know.
  struct LanePart {
    std::uint32_t lanes = 0;
    std::unique_ptr<Clock> clock;  // null: the warp's, of one lane
  };
  struct WarpOrder {
    Clock clock;  // what all lanes know, and what single lanes have learned since the warp met
    std::vector<LanePart> parts;  // that have learned apart since then; empty: none has
    bool uneven = false;          // some of several lanes: `clock` does not know what they do
    Clock* view = nullptr;        // what those know who act; null: `clock`
    Clock between;                // the view, where it is of several parts
    Clock& known_to(const LanePart& part) { return part.clock ? *part.clock : clock; }
    const Clock& known_to(const LanePart& part) const { return part.clock ? *part.clock : clock; }
    /// What each of the lanes knows, or with `any` what they know together.
    Clock* view_of(std::uint32_t lanes, bool any);
    /// What each of the lanes knows for itself.
    Clock* common(std::uint32_t lanes);
    /// No part has lanes of both kinds.
    void separate(std::uint32_t lanes);
    /// These lanes have met, at the warp's operation `time`.
    void meet(std::uint32_t lanes, std::uint32_t number, std::uint32_t time);
    bool just_fenced = false;
    std::uint32_t apart = 0;            // lanes that have acted on memory since they met the others
    std::uint32_t apart_in_memory = 0;  // the same since they met in memory order; waits are none
    std::uint32_t met_in_memory = 0;    // when they last did so
    SourceSite taken_meeting{};         // the last that is none in memory order
    struct Gathering {
      std::uint32_t time = 0;
      SourceSite site{};
    };
    std::vector<Gathering> gatherings{};  // the last ones, by elect.sync and its like
    std::uint32_t tensor_issued = 0;
    std::uint32_t wgmmas_over = 0;  // of its warpgroup's, as it waited for them itself
    /// By the last releasing fence of a scope or a wider one, for what its lanes do behind it.
    struct Fenced {
      Clock clock;
      std::uint32_t lanes = 0;
      bool of_others = false;   // what fences of threads have covered that they have met
      std::uint32_t apart = 0;  // those that had acted since the warp met: each fenced its own
      std::uint32_t apart_before = 0;  // the same, where the warp has met since
      std::uint32_t told = 0;          // of all lanes, without `apart`
      std::uint32_t time = 0;
      bool covers(std::uint32_t others) const { return lanes != 0 && (others & ~lanes) == 0; }
      void meet() { apart_before |= std::exchange(apart, 0); }
      /// Whether to take it for a fence of `others`, too, takes more than PTX says.
      bool across(std::uint32_t others) const { return of_others || (apart_before & ~others) != 0; }
    };
    /// Those that no later one of the same lanes, or more, has taken the place of.
    struct Fences {
      std::vector<Fenced> each;
      Clock met;  // what others' have covered, behind a barrier of warps
      void add(const Fenced& fence);
      /// The last that all of these lanes have executed, or null.
      const Fenced* of(std::uint32_t lanes) const;
      Clock joined() const;
      void meet();
      void meet_others(const Clock& theirs);
    };
    Fences released;       // any
    Fences released_afar;  // of more than CTA scope
    Fences released_gpu;
    Fenced told;  // by the last tcgen05.fence::before_thread_sync
    std::vector<Pending> pending;
    Pending& pending_of(std::uint32_t lanes);
    Counts after;  // known at the last tcgen05 after-fence
    struct Init {
      std::uint32_t lanes = 0;  // that have initialised since `time`, and not fenced
      std::uint32_t time = 0;
    };
    std::vector<Init> inits;  // of mbarriers, that a relaxed arrival does not tell of
    void add_init(const Init& init);
    /// A relaxed arrival at the cluster's barrier tells of all inits before it but these.
    struct ToldInits {
      std::uint32_t time = 0;
      std::vector<Init> but;
    };
    std::vector<ToldInits> told_inits;
    bool inits_told = false;  // the last of them says how it is now
    const Clock& seen() const { return view != nullptr ? *view : clock; }
    LoneActs releases;
    LoneActs fences;  // fence.proxy.async
    SourceSite lone_release{};
  };
  struct ClusterOrder {
    std::vector<WarpOrder> warps;
    std::map<std::pair<std::uint32_t, std::uint32_t>, SourceSite> relaxed;  // (first, second)
    std::vector<BarrierClock> barriers;                                     // by number
    HashMap<std::uint32_t, std::map<std::uint32_t, Met>> named;  // by CTA and id, generation
    // By the cluster's first CTA, and generation: it may be one of several in the place of one.
    std::map<std::pair<std::uint32_t, std::uint32_t>, Clock> cluster_barrier;
    HashMap<std::uint32_t, InFlight> in_flight;  // remote arrivals and commits, by serial
    std::uint32_t exited_ctas = 0;
  };

  const WarpOrder* find(std::uint32_t warp) const {
    const std::uint32_t cluster = warp / warps_;
    return cluster < clusters_.size() && clusters_[cluster] != nullptr
               ? &clusters_[cluster]->warps[warp % warps_]
               : nullptr;
  }
  /// What `observer` knows of part `part` of a warp, in its own cluster or another.
  std::uint32_t known(Part part, std::uint32_t warp, std::uint32_t observer) const;
  std::uint32_t known_of_tensor(Part part, std::uint32_t warp, std::uint32_t observer) const;
  /// What a clock says of tensor memory.
  Counts of_tensor(const Clock& clock) const;
  void fence_before(WarpOrder& warp, const Event& event, std::uint32_t self);
  void fence_after(WarpOrder& warp, const Event& event);
  std::uint32_t component(Part part, std::uint32_t warp) const {
    return part * warps_ + warp % warps_;
  }
  std::uint32_t fence_component() const { return kParts * warps_; }
  std::uint32_t barrier_component(std::uint32_t number) const {
    return fence_component() + 2 + number;
  }
  /// The number of a barrier, the same in each cluster; ~0 when it has none yet.
  std::uint32_t find_number(std::uint32_t cta, std::uint32_t address) const;
  /// The same; it has one then, and `cluster` a clock for it.
  std::uint32_t number_of(ClusterOrder& cluster, std::uint32_t cta, std::uint32_t address);
  void start(std::uint32_t cluster);
  void on_init(ClusterOrder& cluster, const Event& event);
  void on_arrive(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void on_commit(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void release(ClusterOrder& cluster, const Event& event, const Clock& clock, bool afar);
  void observe(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void not_acquired(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void fence(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void tell_others(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void perform(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  void proxy_fence(WarpOrder& warp, const Event& event);
  void cover_shared(Clock& clock, ProxySpace space, const Event& event) const;
  void cover_global(Clock& clock, bool by_all, const Event& event) const;
  void fence_inits(WarpOrder& warp, const Event& event);
  void deliver(ClusterOrder& cluster, const Event& event);
  void named_barrier(ClusterOrder& cluster, const Event& event, std::uint32_t self);
  std::uint32_t released_by(const LanePoint& first, const Event& second) const;
  std::uint32_t lanes_told(WarpOrder& warp, const Event& event, std::uint32_t self);
  template <class F>
  void acquire(WarpOrder& warp, const Event& event, const F& learn) {
    acquire(warp, event.lane_mask(), has_trait(event.op, op_trait::kLaneWaits), learn);
  }
  template <class F>
  void acquire(WarpOrder& warp, std::uint32_t lanes, bool waits, const F& learn);
  void note_lanes(WarpOrder& warp, const Event& event, std::uint32_t self);
  Clock fenced_for(const WarpOrder::Fenced& fenced, const Event& event) const;
  static void note(std::vector<SourceSite>& sites, const SourceSite& site);
  Clock at_cluster_arrival(WarpOrder& warp, const Event& event);
  Clock at_relaxed_arrival(const WarpOrder& warp, const Event& event, bool here);
  void publish(const WarpOrder& warp, const Event& event);
  void look(WarpOrder& warp, const Event& event);
  static const Released& seen_by(Word& word, const Event& look);

  const LaunchConfig& config_;
  Divisor warps_;  // of a cluster
  Divisor warps_of_cta_;
  Divisor ctas_;  // of a cluster
  bool commit_tells_copies_;
  bool arrivals_reach_;
  std::vector<std::unique_ptr<ClusterOrder>> clusters_;
  HashMap<std::uint64_t, std::uint32_t> barrier_numbers_;  // by rank and address
  std::uint64_t last_key_ = ~std::uint64_t{0};  // that was looked up, as is the next often
  std::uint32_t last_number_ = 0;
  HashMap<std::uint64_t, Word> words_;  // global words, by address
  std::uint32_t proxy_fences_ = 0;
  std::vector<SourceSite> across_fences_;
  mutable std::vector<SourceSite> taken_meetings_;  // what answers have rested on
  bool parted_ = false;                             // of some warp; none has a view until then
  bool stores_global_ = false;                      // lanes have stored to global memory
  bool tensor_memory_ = false;                      // some is allocated
};

// These lanes learn, and the others do not. Of all lanes together the warp's clock says what each
// lane has learned that `waits` alone: they must not go on without it, and lone_waits judges that.
template <class F>
void Order::acquire(WarpOrder& warp, std::uint32_t lanes, bool waits, const F& learn) {
  const bool some = lanes != ~std::uint32_t{0};
  const bool alone = waits && std::has_single_bit(lanes);
  if (some) {
    warp.separate(lanes);
  }
  for (LanePart& part : warp.parts) {
    const bool learns = (part.lanes & lanes) != 0;
    if (part.clock == nullptr && some && learns != alone) {
      part.clock = std::make_unique<Clock>(warp.clock);  // it goes another way than the warp's
    }
    if (part.clock != nullptr && learns) {
      learn(*part.clock);
    }
  }
  warp.uneven = warp.uneven || (some && !alone);
  if (!some || alone) {
    learn(warp.clock);
  }
}

}  // namespace warptwin::sim
