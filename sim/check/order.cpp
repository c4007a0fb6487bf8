#include "sim/check/order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/trace/op_facts.hpp"

#include "sim/check/detector.hpp"
#include "sim/model/invariant.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};

bool publishes(const Ordering& ordering) {
  return ordering.semantics == Semantics::kRelease || ordering.semantics == Semantics::kAcqRel;
}

bool acquires(const Ordering& ordering) {
  return ordering.semantics == Semantics::kAcquire || ordering.semantics == Semantics::kAcqRel;
}

// By lanes of a warp that need not have met.
bool publishes_clock(const Event& event) {
  const bool word = event.op == Op::kGlobalStoreRelease || event.op == Op::kGlobalRedAdd;
  return (event.op == Op::kMbarrierArrive && publishes(event.ordering)) ||
         (word && (event.flags & event_flag::kRelaxed) == 0);
}

bool synchronises(Op op) {
  switch (op) {
    case Op::kMbarrierArrive:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
    case Op::kBarSync:
    case Op::kBarArrive:
    case Op::kClusterArrive:
    case Op::kClusterWait:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
      return true;
    default:
      return false;
  }
}

// Who reads a word sees one write: it says what each of the lanes that execute it knows.
bool writes_word(Op op) {
  return op == Op::kGlobalStoreRelease || op == Op::kGlobalRedAdd;
}

}  // namespace

Order::Order(const LaunchConfig& config, bool commit_tells_copies, bool arrivals_reach)
    : config_{config},
      warps_{config.cluster_size * config.warps_per_cta},
      warps_of_cta_{config.warps_per_cta},
      ctas_{config.cluster_size},
      commit_tells_copies_{commit_tells_copies},
      arrivals_reach_{arrivals_reach} {}

// --- Questions --------------------------------------------------------------------------------

std::uint32_t Order::known(Part part, std::uint32_t warp, std::uint32_t observer) const {
  const std::uint32_t own = observer / warps_;
  if (own >= clusters_.size() || clusters_[own] == nullptr) {
    return 0;
  }
  const std::uint32_t first = own * warps_;
  const WarpOrder& self = clusters_[own]->warps[observer - first];
  const bool itself = warp == observer && part != kTensor && part != kProxyFenced &&
                      part != kLanes && part != kLanesFenced;
  const Clock& clock = itself ? self.clock : self.seen();
  if (warp >= first && warp - first < warps_) {
    return clock.own[part * warps_ + (warp - first)];
  }
  const std::uint32_t cluster = warp / warps_;
  for (const auto& [other, counts] : clock.others) {
    if (other == cluster) {
      return at(counts, component(part, warp));
    }
  }
  return 0;
}

std::uint32_t Order::known_of_tensor(Part part, std::uint32_t warp, std::uint32_t observer) const {
  const WarpOrder* self = find(observer);
  const bool told = self != nullptr && warp / warps_ == observer / warps_;
  return std::max(known(part, warp, observer),
                  told ? at(self->seen().told, component(part, warp)) : 0);
}

Counts Order::of_tensor(const Clock& clock) const {
  Counts known(std::size_t{kBefore + 1} * warps_, 0);
  for (const Part part : {kOps, kTensor, kBefore}) {
    for (std::uint32_t i = part * warps_; i < (part + 1) * warps_; ++i) {
      known[i] = std::max(at(clock.own, i), at(clock.told, i));
    }
  }
  return known;
}

bool Order::ordered(std::uint32_t first, std::uint32_t time, std::uint32_t second) const {
  return known(kOps, first, second) >= time;
}

bool Order::lanes_after(const LanePoint& first, const Event& second) const {
  if (first.warp != second.warp) {
    return ordered(first.warp, first.time, second.warp) && every_lane_ordered(first, second);
  }
  if (met_since(first.warp, first.time)) {
    return true;
  }
  for (std::uint32_t left = first.lanes; left != 0; left &= left - 1) {
    const std::uint32_t others = second.lane_mask() & ~(left & (~left + 1));
    if (others != 0 &&
        !lanes_know(
            first.warp, others, static_cast<std::uint32_t>(std::countr_zero(left)), first.time)) {
      return false;
    }
  }
  return true;
}

bool Order::init_ordered(const LanePoint& init, const Event& second) const {
  if (lanes_after(init, second)) {
    return true;
  }
  const WarpOrder* maker = find(init.warp);
  if (maker == nullptr || init.warp == second.warp) {
    return false;
  }
  const std::uint32_t told = known(kInits, init.warp, second.warp);
  return std::any_of(
      maker->told_inits.begin(), maker->told_inits.end(), [&](const WarpOrder::ToldInits& one) {
        const bool fenced = std::none_of(one.but.begin(), one.but.end(), [&](const auto& open) {
          return open.time <= init.time && (open.lanes & init.lanes) != 0;
        });
        return init.time <= one.time && one.time <= told && fenced;
      });
}

bool Order::fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) const {
  return known(kProxyFenced, first, second) >= time;
}

FencesKnown Order::fences_known(std::uint32_t warp) const {
  const WarpOrder* self = find(warp);
  return self == nullptr ? FencesKnown{}
                         : FencesKnown{self->seen().own[fence_component()],
                                       self->seen().own[fence_component() + 1]};
}

bool Order::global_fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) const {
  const WarpOrder* self = find(second);
  if (self == nullptr) {
    return false;
  }
  const auto& others = self->seen().others;
  return std::any_of(others.begin(), others.end(), [&](const auto& other) {
    return other.first == (kGlobalFences | first / warps_) &&
           at(other.second, first % warps_) >= time;
  });
}

bool Order::just_fenced(std::uint32_t warp) const {
  const WarpOrder* self = find(warp);
  return self != nullptr && self->just_fenced;
}

bool Order::tensor_fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) const {
  const WarpOrder* self = find(second);
  return self != nullptr && first / warps_ == second / warps_ &&
         at(self->after, component(kBefore, first)) >= time;
}

std::uint32_t Order::tensor_issued(std::uint32_t issuer) const {
  const WarpOrder* self = find(issuer);
  return self == nullptr ? 0 : self->tensor_issued;
}

std::uint32_t Order::tensor_complete(std::uint32_t issuer, std::uint32_t observer) const {
  return known(kTensor, issuer, observer);
}

std::uint32_t Order::tensor_complete_at_fence(std::uint32_t issuer, std::uint32_t observer) const {
  const WarpOrder* self = find(observer);
  return self == nullptr ? 0 : at(self->after, component(kTensor, issuer));
}

std::uint32_t Order::phase_mark(std::uint32_t cta, std::uint32_t address, std::uint32_t phase) {
  const std::uint32_t cluster = cta / ctas_;
  return cluster < clusters_.size() && clusters_[cluster] != nullptr
             ? clusters_[cluster]->barriers[number_of(*clusters_[cluster], cta, address)].base +
                   phase
             : phase;
}

bool Order::phase_seen(std::uint32_t cta,
                       std::uint32_t address,
                       std::uint32_t mark,
                       std::uint32_t observer) const {
  const WarpOrder* self = find(observer);
  const std::uint32_t number = find_number(cta, address);
  if (self == nullptr || number == kNoNumber) {
    return false;
  }
  const std::uint32_t cluster = cta / ctas_;
  const Clock& clock = self->seen();
  if (cluster == observer / warps_) {
    return at(clock.own, barrier_component(number)) > mark;
  }
  return std::any_of(clock.others.begin(), clock.others.end(), [&](const auto& other) {
    return other.first == cluster && at(other.second, barrier_component(number)) > mark;
  });
}

SourceSite Order::relaxed_edge(std::uint32_t first, std::uint32_t second) const {
  if (find(second) == nullptr) {
    return {};
  }
  const auto& relaxed = clusters_[second / warps_]->relaxed;
  const auto found = relaxed.find({first % warps_, second % warps_});
  return found == relaxed.end() ? SourceSite{} : found->second;
}

// --- mbarriers --------------------------------------------------------------------------------

std::uint32_t Order::find_number(std::uint32_t cta, std::uint32_t address) const {
  const auto found = barrier_numbers_.find(std::uint64_t{cta % ctas_} << 32 | address);
  return found == barrier_numbers_.end() ? kNoNumber : found->second;
}

std::uint32_t Order::number_of(ClusterOrder& cluster, std::uint32_t cta, std::uint32_t address) {
  const std::uint64_t key = std::uint64_t{cta % ctas_} << 32 | address;
  if (key != last_key_) {
    const auto next = static_cast<std::uint32_t>(barrier_numbers_.size());
    last_number_ = barrier_numbers_.try_emplace(key, next).first->second;
    last_key_ = key;
  }
  if (last_number_ >= cluster.barriers.size()) {
    cluster.barriers.resize(last_number_ + 1);
  }
  return last_number_;
}

void Order::on_init(ClusterOrder& cluster, const Event& event) {
  const std::uint32_t self = event.warp % warps_;
  WarpOrder& warp = cluster.warps[self];
  warp.add_init({event.lane_mask(), warp.clock.own[self]});
  warp.inits_told = false;
  BarrierClock& barrier = cluster.barriers[number_of(cluster, event.cta, event.address)];
  const std::uint32_t base = barrier.base + barrier.last + 1;
  barrier = BarrierClock{};
  barrier.base = base;
}

// An arrival that counted in `event.phase` of its barrier adds what it releases to that phase, and
// to those that follow: each operation on the object goes on from the one before, as atomics do
// that stand between a release and its observation (PTX ISA, "Observation order").
void Order::release(ClusterOrder& cluster, const Event& event, const Clock& clock, bool afar) {
  BarrierClock& barrier = cluster.barriers[number_of(cluster, event.cta, event.address)];
  if (barrier.phase != event.phase) {
    barrier.completed = barrier.current;
    barrier.completed_afar = barrier.current_afar;
    barrier.phase = event.phase;
  }
  barrier.last = std::max(barrier.last, event.phase + 1);
  join(afar ? barrier.current_afar : barrier.current, clock);
  // Whatever the scope of the wait.
  const std::uint32_t self = event.warp % warps_;
  const std::uint32_t wgmmas = component(kTensor, warpgroup_of(self));
  if (afar && cluster.warps[self].wgmmas_over != 0) {
    raise(barrier.current.own, wgmmas, at(clock.own, wgmmas));
  }
  if (afar && tensor_memory_) {
    join(barrier.current.told, of_tensor(clock));
  }
}

// A wait has observed phase `event.phase - 1`.
void Order::observe(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  const std::uint32_t number = number_of(cluster, event.cta, event.address);
  BarrierClock& barrier = cluster.barriers[number];
  WarpOrder& warp = cluster.warps[self];
  const bool relaxed = !acquires(event.ordering);
  const bool begun = barrier.phase == event.phase;  // somebody has arrived in the phase after
  const Clock& near = begun ? barrier.completed : barrier.current;
  const Clock& afar = begun ? barrier.completed_afar : barrier.current_afar;
  const bool wide = arrivals_reach_ || event.ordering.scope != Scope::kCta;
  const auto learn = [&](Clock& clock, bool all) {
    join(clock, near);
    if (all) {
      join(clock, afar);
    }
    raise(clock.own, barrier_component(number), barrier.base + event.phase);
  };
  if (relaxed) {
    Pending& pending = warp.pending_of(event.lane_mask());
    learn(pending.wide, wide);
    learn(pending.near, false);
  } else {
    acquire(warp, event, [&](Clock& clock) { learn(clock, wide); });
  }
  barrier.last = std::max(barrier.last, event.phase);
  if (relaxed || (!wide && !afar.own.empty())) {
    not_acquired(cluster, event, self);
  }
  for (const std::uint32_t first : barrier.relaxed) {
    cluster.relaxed[{first, self}] = barrier.relaxed_site;
  }
}

// The wait is why what others did before it is in no order with what comes behind.
void Order::not_acquired(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  for (std::uint32_t first = 0; first < warps_; ++first) {
    cluster.relaxed[{first, self}] = event.site;
  }
}

void Order::deliver(ClusterOrder& cluster, const Event& event) {
  const auto found = cluster.in_flight.find(event.serial);
  WARPTWIN_INVARIANT(kLandingsFollowIssue, found != cluster.in_flight.end());
  release(cluster, event, found->second.clock, found->second.afar);
  if (--found->second.targets == 0) {
    cluster.in_flight.erase(found);
  }
}

void Order::on_arrive(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  const WarpOrder& warp = cluster.warps[self];
  // What is released at CTA scope is not for another CTA's warps, who wait there.
  const bool here = event.cta == event.warp / warps_of_cta_;
  const bool reaches = here || arrivals_reach_ || event.ordering.scope != Scope::kCta;
  const bool releases = publishes(event.ordering) && reaches;
  // One that waits for copies publishes them, as of the phase that it counts in, and no one's past.
  const bool copies = (event.flags & event_flag::kOfCopies) != 0;
  const Clock relaxed = releases || copies ? Clock{} : at_relaxed_arrival(warp, event, here);
  const Clock& published = releases && !copies ? warp.seen() : relaxed;
  if (event.step == Step::kIssued) {
    cluster.in_flight[event.serial] = {published, 1, !here};
    return;
  }
  if (event.step == Step::kSignalled) {
    deliver(cluster, event);
  } else if (event.fault == Fault::kNone) {
    release(cluster, event, published, !here);
  }
  if (!releases && !copies) {
    BarrierClock& barrier = cluster.barriers[number_of(cluster, event.cta, event.address)];
    barrier.relaxed.push_back(self);
    barrier.relaxed_site = event.site;
    if (barrier.relaxed.size() > warps_) {
      barrier.relaxed.erase(barrier.relaxed.begin());
    }
  }
}

void Order::on_commit(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  if (event.step == Step::kIssued) {
    Clock done;
    raise(done.own, component(kTensor, self), cluster.warps[self].tensor_issued);
    const Counts& known = cluster.warps[self].seen().own;
    if (commit_tells_copies_ && known.size() > barrier_component(0)) {
      done.own.resize(known.size(), 0);
      std::copy(known.begin() + barrier_component(0),
                known.end(),
                done.own.begin() + barrier_component(0));
    }
    const auto targets =
        static_cast<std::uint32_t>(std::max(1, std::popcount(event.as<payload::Mbarrier>().mask)));
    cluster.in_flight[event.serial] = {std::move(done), targets, false};
  } else if (event.step == Step::kSignalled) {
    deliver(cluster, event);
  }
}

// --- Fences and barriers ----------------------------------------------------------------------

void Order::fence(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  WarpOrder& warp = cluster.warps[self];
  const bool wide = event.ordering.scope != Scope::kCta;
  if (acquires(event.ordering)) {
    for (const Pending& pending : warp.pending) {
      if (const std::uint32_t lanes = pending.lanes & event.lane_mask(); lanes != 0) {
        const bool of_gpu = event.ordering.scope == Scope::kGpu;
        acquire(warp, lanes, false, [&](Clock& clock) {
          const Clock& seen = wide ? pending.wide : pending.near;
          if ((lanes & ~pending.looked) != 0 &&
              (adds(clock, seen) || (of_gpu && adds(clock, pending.gpu)))) {
            note(across_fences_, event.site);
          }
          join(clock, seen);
          if (of_gpu) {
            join(clock, pending.gpu);
          }
        });
      }
    }
    std::erase_if(cluster.relaxed, [&](const auto& entry) { return entry.first.second == self; });
  }
  if (publishes(event.ordering)) {
    const std::uint32_t told = lanes_told(warp, event, self);
    const auto keep = [&](const Clock& known, std::uint32_t lanes) {
      WarpOrder::Fenced fence{known, lanes};
      fence.apart = warp.apart & event.lane_mask();
      fence.told = at(known.own, component(kLanes, self));
      fence.time = warp.clock.own[self];
      raise(fence.clock.own, component(kLanes, self), told);
      add_lone(fence.clock, {event.warp, event.lane_mask(), warp.clock.own[self]});
      warp.released.add(fence);
      if (wide) {
        warp.released_afar.add(fence);
      }
      if (event.ordering.scope == Scope::kGpu) {
        warp.released_gpu.add(fence);
      }
    };
    keep(warp.seen(), event.lane_mask());
    // Lanes that know more have fenced that, too.
    for (const LanePart& part : warp.parts) {
      if (const std::uint32_t lanes = part.lanes & event.lane_mask();
          lanes != 0 && lanes != event.lane_mask()) {
        keep(warp.known_to(part), lanes);
      }
    }
  }
}

// What a fence tells by a write of some of the lanes that executed it: what each of the others did
// since the warp met it has fenced for itself.
Clock Order::fenced_for(const WarpOrder::Fenced& fenced, const Event& event) const {
  Clock clock = fenced.clock;
  if ((fenced.apart & ~event.lane_mask()) != 0) {
    clock.own[component(kLanes, event.warp % warps_)] = fenced.told;
    for (LoneRelease& release : clock.lone) {
      if (release.warp == event.warp && release.time == fenced.time) {
        release.lanes &= event.lane_mask();
      }
    }
  }
  return clock;
}

void Order::note(std::vector<SourceSite>& sites, const SourceSite& site) {
  const bool known = std::any_of(sites.begin(), sites.end(), [&](const SourceSite& one) {
    return one.line == site.line && std::string_view{one.file} == site.file;
  });
  if (!known) {
    sites.push_back(site);
  }
}

// It covers what each lane that executes it has initialised ("executed by the same thread", PTX
// ISA, "membar / fence"): a relaxed arrival at the cluster's barrier tells of that.
void Order::fence_inits(WarpOrder& warp, const Event& event) {
  for (const WarpOrder::Init& init : std::exchange(warp.inits, {})) {
    warp.add_init({init.lanes & ~event.lane_mask(), init.time});
  }
  warp.inits_told = false;
}

// What is behind an earlier one of the same lanes, or of more, is told of with it.
void Order::WarpOrder::add_init(const Init& init) {
  const bool behind = std::any_of(inits.begin(), inits.end(), [&](const Init& earlier) {
    return (init.lanes & ~earlier.lanes) == 0;
  });
  if (init.lanes != 0 && !behind) {
    inits.push_back(init);
  }
}

// It covers what those know of tensor memory who execute it.
void Order::fence_before(WarpOrder& warp, const Event& event, std::uint32_t self) {
  acquire(warp, event, [&](Clock& clock) {
    grow(clock.own[component(kBefore, self)], clock.own[self]);
  });
  warp.told = {};
  warp.told.clock.told = of_tensor(warp.seen());
  warp.told.lanes = event.lane_mask();
}

// What relaxed waits of its threads have seen is told of tensor memory behind it.
void Order::fence_after(WarpOrder& warp, const Event& event) {
  for (const Pending& pending : warp.pending) {
    const std::uint32_t lanes = pending.lanes & event.lane_mask();
    if (lanes != 0 && tensor_memory_ && !pending.empty()) {
      Counts seen = of_tensor(pending.wide);
      join(seen, of_tensor(pending.near));
      acquire(warp, lanes, false, [&](Clock& clock) { join(clock.told, seen); });
    }
  }
  warp.after = warp.seen().own;
  join(warp.after, warp.seen().told);
}

// It covers the accesses of all that they know to have happened who execute it.
void Order::proxy_fence(WarpOrder& warp, const Event& event) {
  ++proxy_fences_;
  const ProxySpace space = event.as<payload::ProxyFence>().space;
  warp.just_fenced = warp.just_fenced || space != ProxySpace::kGlobal;
  const std::uint32_t lanes = component(kLanes, event.warp % warps_);
  const std::uint32_t told = lanes_told(warp, event, event.warp % warps_);
  acquire(warp, event, [&](Clock& clock) {
    const std::uint32_t met = std::exchange(clock.own[lanes], told);
    if (stores_global_ && (space == ProxySpace::kGlobal || space == ProxySpace::kAll)) {
      cover_global(clock, (warp.apart & ~event.lane_mask()) == 0, event);
    }
    if (space == ProxySpace::kGlobal) {
      grow(clock.own[fence_component() + 1], proxy_fences_);
    } else {
      cover_shared(clock, space, event);
    }
    clock.own[lanes] = met;
  });
}

void Order::cover_shared(Clock& clock, ProxySpace space, const Event& event) const {
  grow(clock.own[fence_component()], proxy_fences_);
  // Of shared::cta only what the warps of the own CTA have done to its memory.
  const bool own = space == ProxySpace::kSharedCta;
  const std::uint32_t rank = event.warp % warps_ / warps_of_cta_;
  for (std::uint32_t other = 0; other < warps_; ++other) {
    if (!own || other / warps_of_cta_ == rank) {
      raise(clock.own, component(kProxyFenced, other), clock.own[component(kOps, other)]);
      raise(clock.own, component(kLanesFenced, other), clock.own[component(kLanes, other)]);
    }
  }
}

// Of the own warp, what lanes that do not execute it did before they met, where there are such; of
// all others, what is known of them.
void Order::cover_global(Clock& clock, bool by_all, const Event& event) const {
  const std::uint32_t cluster = event.warp / warps_;
  const std::uint32_t self = event.warp % warps_;
  std::vector<std::pair<std::uint32_t, Counts>> covered;
  covered.emplace_back(kGlobalFences | cluster,
                       Counts(clock.own.begin(), clock.own.begin() + warps_));
  if (!by_all) {
    covered.back().second[self] = clock.own[component(kLanes, self)];
  }
  for (const auto& [other, counts] : clock.others) {
    if ((other & kGlobalFences) == 0) {
      const auto end = counts.begin() +
                       std::min<std::ptrdiff_t>(warps_, static_cast<std::ptrdiff_t>(counts.size()));
      covered.emplace_back(kGlobalFences | other, Counts(counts.begin(), end));
    }
  }
  for (const auto& [cluster_of_them, counts] : covered) {
    join_other(clock, cluster_of_them, counts);
  }
}

void Order::named_barrier(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  WarpOrder& warp = cluster.warps[self];
  auto& generations = cluster.named[event.cta * kNamedBarriers + event.address];
  Met& met = generations[event.phase];
  const bool returns = event.as<payload::NamedBarrier>().returns;
  if (returns) {
    --met.waiting;
  } else {
    join(met.clock, warp.seen());
    join(met.released_gpu, warp.released_gpu.joined());
    join(met.pending_gpu, warp.pending_of(~std::uint32_t{0}).gpu);
    met.waiting += event.step == Step::kIssued ? 1 : 0;
  }
  if (returns || ((event.flags & event_flag::kPhaseCompleted) != 0 && event.op == Op::kBarSync)) {
    acquire(warp, event, [&](Clock& clock) { join(clock, met.clock); });
    warp.released_gpu.meet_others(met.released_gpu);
    Pending& pending = warp.pending_of(~std::uint32_t{0});
    pending.looked = adds(pending.gpu, met.pending_gpu) ? 0 : pending.looked;
    join(pending.gpu, met.pending_gpu);
  }
  // Who waits may be late by any number of generations of others.
  while (!generations.empty() && generations.begin()->first + 2 <= event.phase &&
         generations.begin()->second.waiting == 0) {
    generations.erase(generations.begin());
  }
}

Clock Order::at_cluster_arrival(WarpOrder& warp, const Event& event) {
  if (publishes(event.ordering)) {
    warp.inits.clear();  // who has come to the next generation knows of them
    return warp.seen();
  }
  Clock published = warp.released_afar.joined();
  const std::uint32_t self = event.warp % warps_;
  const std::uint32_t now = warp.clock.own[self];
  raise(published.own, component(kInits, self), now);
  if (!std::exchange(warp.inits_told, true)) {
    warp.told_inits.push_back({now, warp.inits});
  }
  if (warp.told.covers(event.lane_mask())) {
    published.told = warp.told.clock.told;
  }
  return published;
}

// The fence and the arrival are of one thread (PTX ISA, "Release and Acquire Patterns").
Clock Order::at_relaxed_arrival(const WarpOrder& warp, const Event& event, bool here) {
  const std::uint32_t self = event.warp % warps_;
  Clock published;
  const WarpOrder::Fences& fences = here ? warp.released : warp.released_afar;
  if (const WarpOrder::Fenced* fence = fences.of(event.lane_mask())) {
    published = fenced_for(*fence, event);
    if (fence->across(event.lane_mask())) {
      note(across_fences_, event.site);
    }
  }
  if (warp.wgmmas_over != 0) {
    raise(published.own, component(kTensor, warpgroup_of(self)), warp.wgmmas_over);
  }
  if (tensor_memory_ && publishes(event.ordering)) {
    published.told = of_tensor(warp.seen());
  } else if (warp.told.covers(event.lane_mask())) {
    published.told = warp.told.clock.told;
  }
  return published;
}

// ----------------------------------------------------------------------------------------------

void Order::start(std::uint32_t cluster) {
  if (cluster >= clusters_.size()) {
    clusters_.resize(cluster + 1);
  }
  if (clusters_[cluster] == nullptr) {
    clusters_[cluster] = std::make_unique<ClusterOrder>();
    clusters_[cluster]->warps.resize(warps_);
    for (WarpOrder& warp : clusters_[cluster]->warps) {
      warp.clock.own.assign(std::size_t{barrier_component(0)}, 0);
    }
  }
}

void Order::on_event(const Event& event) {
  const std::uint32_t number = event.warp / warps_;
  const std::uint32_t self = event.warp % warps_;
  if (event.op == Op::kWarpStart) {
    return start(number);
  }
  if (number >= clusters_.size() || clusters_[number] == nullptr || event.step == Step::kBlocked ||
      (event.flags & event_flag::kLateLanes) != 0) {
    return;
  }
  const bool acts = event.step == Step::kDone || event.step == Step::kIssued;
  if (!acts && event.step != Step::kSignalled) {
    return act(event);  // nobody learns, and nobody is told
  }
  ClusterOrder& cluster = *clusters_[number];
  WarpOrder& warp = cluster.warps[self];
  Clock& clock = warp.clock;
  if (acts) {
    ++clock.own[self];
    WARPTWIN_INVARIANT(kCountersDoNotWrap, clock.own[self] != 0);
    warp.just_fenced = warp.just_fenced && !synchronises(event.op);
    for (LanePart& part : warp.parts) {
      warp.known_to(part).own[self] = clock.own[self];
    }
    note_lanes(warp, event, self);
  }
  stores_global_ = stores_global_ || event.op == Op::kGlobalStore;
  const bool tells = acts && publishes_clock(event);
  warp.view = warp.parts.empty() ? nullptr
                                 : warp.view_of(event.lane_mask(), tells && !writes_word(event.op));
  if (tells) {
    tell_others(cluster, event, self);
  } else {
    perform(cluster, event, self);
  }
  if (clusters_[number] != nullptr && !warp.parts.empty()) {
    parted_ = true;
    act(event);
  }
}

// Performs what tells others, who learn of each lane what it says of that lane, and not what those
// that execute it know of their warp.
void Order::tell_others(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  WarpOrder& warp = cluster.warps[self];
  Clock& known = warp.view != nullptr ? *warp.view : warp.clock;
  const std::uint32_t lanes_known = known.own[component(kLanes, self)];
  const std::size_t lone = known.lone.size();
  const std::uint32_t told = lanes_told(warp, event, self);
  known.own[component(kLanes, self)] = told;
  if (told != known.own[self]) {
    known.lone.push_back({event.warp, event.lane_mask(), known.own[self]});
  }
  perform(cluster, event, self);
  known.own[component(kLanes, self)] = lanes_known;
  if (known.lone.size() != lone) {
    known.lone.resize(lone);
  }
}

void Order::perform(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  WarpOrder& warp = cluster.warps[self];
  switch (event.op) {
    case Op::kMbarrierInit:
      on_init(cluster, event);
      break;
    case Op::kMbarrierArrive:
      on_arrive(cluster, event, self);
      break;
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
      warp.tensor_issued += event.step == Step::kIssued ? 1 : 0;
      break;
    case Op::kTcgen05Commit:
      on_commit(cluster, event, self);
      break;
    case Op::kWgmmaWait:
      warp.wgmmas_over = event.as<payload::WgmmaGroups>().wgmmas;
      acquire(warp, event, [&](Clock& clock) {
        raise(clock.own, component(kTensor, warpgroup_of(self)), warp.wgmmas_over);
      });
      break;
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      if ((event.flags & event_flag::kFalse) == 0) {
        observe(cluster, event, self);
      }
      break;
    case Op::kFence:
      fence(cluster, event, self);
      break;
    case Op::kFenceMbarrierInit:
      fence_inits(warp, event);
      break;
    case Op::kTcgen05FenceBefore:
      fence_before(warp, event, self);
      break;
    case Op::kTcgen05FenceAfter:
      fence_after(warp, event);
      break;
    case Op::kTcgen05Alloc:
      tensor_memory_ = true;
      break;
    case Op::kFenceProxyAsync:
      proxy_fence(warp, event);
      break;
    case Op::kBarSync:
    case Op::kBarArrive:
      named_barrier(cluster, event, self);
      break;
    case Op::kClusterArrive:
      join(cluster.cluster_barrier[{first_cta(event), event.phase}],
           at_cluster_arrival(warp, event));
      cluster.cluster_barrier.erase({first_cta(event), event.phase - 2});
      break;
    case Op::kClusterWait:
      acquire(warp, event, [&](Clock& clock) {
        join(clock, cluster.cluster_barrier[{first_cta(event), event.phase}]);
      });
      break;
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
      publish(warp, event);
      break;
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalWait:
      look(warp, event);
      break;
    case Op::kCtaExit:
      if (++cluster.exited_ctas == config_.cluster_size) {
        clusters_[event.warp / warps_].reset();
      }
      break;
    default:
      break;
  }
}

}  // namespace warptwin::sim
