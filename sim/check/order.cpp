#include "sim/check/order.hpp"

#include <algorithm>
#include <bit>

namespace warptwin::sim {

namespace {

void join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) {
    into.resize(from.size(), 0);
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    into[i] = std::max(into[i], from[i]);
  }
}

void raise(Clock& clock, std::size_t component, std::uint32_t value) {
  if (component >= clock.size()) {
    clock.resize(component + 1, 0);
  }
  clock[component] = std::max(clock[component], value);
}

bool publishes(const Ordering& ordering) {
  return ordering.semantics == Semantics::kRelease || ordering.semantics == Semantics::kAcqRel;
}

bool acquires(const Ordering& ordering) {
  return ordering.semantics == Semantics::kAcquire || ordering.semantics == Semantics::kAcqRel;
}

}  // namespace

Order::Order(const LaunchConfig& config)
    : config_{config}, warps_{config.cluster_size * config.warps_per_cta} {}

Order::ClusterOrder* Order::cluster_of(std::uint32_t warp) {
  const std::uint32_t cluster = warp / warps_;
  return cluster < clusters_.size() ? clusters_[cluster].get() : nullptr;
}

std::uint32_t Order::now(std::uint32_t warp) {
  const ClusterOrder* cluster = cluster_of(warp);
  return cluster == nullptr ? 0 : cluster->warps[warp % warps_][warp % warps_];
}

bool Order::ordered(std::uint32_t first, std::uint32_t time, std::uint32_t second) {
  const ClusterOrder* cluster = cluster_of(second);
  if (cluster == nullptr || first / warps_ != second / warps_) {
    return false;
  }
  return cluster->warps[second % warps_][first % warps_] >= time;
}

std::uint32_t Order::completed_mmas(std::uint32_t issuer, std::uint32_t observer) {
  const ClusterOrder* cluster = cluster_of(observer);
  return cluster == nullptr ? 0 : cluster->warps[observer % warps_][warps_ + issuer % warps_];
}

bool Order::fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) {
  const ClusterOrder* cluster = cluster_of(second);
  return cluster != nullptr && first / warps_ == second / warps_ &&
         cluster->warps[second % warps_][2 * warps_ + first % warps_] >= time;
}

bool Order::tensor_fenced(std::uint32_t first, std::uint32_t time, std::uint32_t second) {
  const ClusterOrder* cluster = cluster_of(second);
  if (cluster == nullptr || first / warps_ != second / warps_) {
    return false;
  }
  const Clock& after = cluster->after[second % warps_];
  return !after.empty() && after[3 * warps_ + first % warps_] >= time;
}

std::uint32_t Order::fenced_mmas(std::uint32_t issuer, std::uint32_t observer) {
  const ClusterOrder* cluster = cluster_of(observer);
  if (cluster == nullptr || cluster->after[observer % warps_].empty()) {
    return 0;
  }
  return cluster->after[observer % warps_][warps_ + issuer % warps_];
}

bool Order::phase_seen(std::uint32_t cta,
                       std::uint32_t address,
                       std::uint32_t phase,
                       std::uint32_t observer) {
  const ClusterOrder* cluster = cluster_of(observer);
  if (cluster == nullptr) {
    return false;
  }
  const auto found = cluster->barriers.find(std::uint64_t{cta} << 32 | address);
  const Clock& clock = cluster->warps[observer % warps_];
  return found != cluster->barriers.end() && found->second.component < clock.size() &&
         clock[found->second.component] > phase;
}

SourceSite Order::relaxed_edge(std::uint32_t first, std::uint32_t second) {
  const ClusterOrder* cluster = cluster_of(second);
  if (cluster == nullptr) {
    return {};
  }
  const auto found = cluster->relaxed.find({first % warps_, second % warps_});
  return found == cluster->relaxed.end() ? SourceSite{} : found->second;
}

std::uint32_t Order::issued_mmas(std::uint32_t issuer) {
  const ClusterOrder* cluster = cluster_of(issuer);
  return cluster == nullptr ? 0 : cluster->issued[issuer % warps_];
}

Order::BarrierClock& Order::barrier_of(ClusterOrder& cluster,
                                       std::uint32_t cta,
                                       std::uint32_t address) {
  const auto [found, added] = cluster.barriers.try_emplace(std::uint64_t{cta} << 32 | address);
  if (added) {
    found->second.component = 4 * warps_ + static_cast<std::uint32_t>(cluster.barriers.size()) - 1;
  }
  return found->second;
}

// An arrival that counted in `event.phase` of its barrier adds what it releases to that phase.
void Order::release(ClusterOrder& cluster, const Event& event, const Clock& clock) {
  BarrierClock& barrier = barrier_of(cluster, event.cta, event.address);
  if (barrier.phase != event.phase) {
    if (barrier.phase + 1 == event.phase) {
      barrier.completed.swap(barrier.current);
    } else {
      barrier.completed.clear();
    }
    barrier.current.clear();
    barrier.phase = event.phase;
  }
  join(barrier.current, clock);
}

// A wait has observed phase `event.phase - 1`.
void Order::observe(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  BarrierClock& barrier = barrier_of(cluster, event.cta, event.address);
  const bool relaxed = !acquires(event.ordering);
  Clock& clock = relaxed ? cluster.pending[self] : cluster.warps[self];
  if (barrier.phase == event.phase) {
    join(clock, barrier.completed);
  } else if (barrier.phase + 1 == event.phase) {
    join(clock, barrier.current);
  }
  raise(clock, barrier.component, event.phase);
  for (const std::uint32_t first : barrier.relaxed) {
    cluster.relaxed[{first, self}] = barrier.relaxed_site;
  }
  if (relaxed) {
    for (std::uint32_t first = 0; first < warps_; ++first) {
      cluster.relaxed[{first, self}] = event.site;
    }
  }
}

void Order::fence(ClusterOrder& cluster, const Event& event, std::uint32_t self) {
  if (acquires(event.ordering)) {
    join(cluster.warps[self], cluster.pending[self]);
    std::erase_if(cluster.relaxed, [&](const auto& entry) { return entry.first.second == self; });
  }
  if (publishes(event.ordering)) {
    cluster.released[self] = cluster.warps[self];
  }
}

void Order::deliver(ClusterOrder& cluster, const Event& event) {
  const auto found = cluster.in_flight.find(event.serial);
  if (found == cluster.in_flight.end()) {
    return;
  }
  release(cluster, event, found->second.clock);
  if (--found->second.targets == 0) {
    cluster.in_flight.erase(found);
  }
}

void Order::on_event(const Event& event) {
  const std::uint32_t number = event.warp / warps_;
  const std::uint32_t self = event.warp % warps_;
  if (event.op == Op::kWarpStart) {
    if (number >= clusters_.size()) {
      clusters_.resize(number + 1);
    }
    if (clusters_[number] == nullptr) {
      clusters_[number] = std::make_unique<ClusterOrder>();
      clusters_[number]->warps.assign(warps_, Clock(std::size_t{warps_} * 4, 0));
      clusters_[number]->released.resize(warps_);
      clusters_[number]->pending.resize(warps_);
      clusters_[number]->after.resize(warps_);
      clusters_[number]->issued.assign(warps_, 0);
    }
    return;
  }
  ClusterOrder* cluster = cluster_of(event.warp);
  if (cluster == nullptr || (event.flags & event_flag::kLateLanes) != 0) {
    return;
  }
  Clock& clock = cluster->warps[self];
  if (event.step == Step::kDone || event.step == Step::kIssued) {
    ++clock[self];
  }
  switch (event.op) {
    case Op::kMbarrierArrive: {
      const Clock& published = publishes(event.ordering) ? clock : cluster->released[self];
      if (event.step == Step::kIssued) {
        cluster->in_flight[event.serial] = {published, 1};
      } else if (event.step == Step::kSignalled) {
        deliver(*cluster, event);
      } else if (event.fault == Fault::kNone) {
        release(*cluster, event, published);
      }
      if (!publishes(event.ordering) && event.step != Step::kIssued) {
        BarrierClock& barrier = barrier_of(*cluster, event.cta, event.address);
        barrier.relaxed.push_back(self);
        barrier.relaxed_site = event.site;
        if (barrier.relaxed.size() > warps_) {
          barrier.relaxed.erase(barrier.relaxed.begin());
        }
      }
      break;
    }
    case Op::kTcgen05Mma:
      cluster->issued[self] += event.step == Step::kIssued ? 1 : 0;
      break;
    case Op::kTcgen05Commit:
      if (event.step == Step::kIssued) {
        Clock done(std::size_t{warps_} * 4, 0);
        done[warps_ + self] = cluster->issued[self];
        const auto targets = static_cast<std::uint32_t>(std::max(1, std::popcount(event.extra)));
        cluster->in_flight[event.serial] = {std::move(done), targets};
      } else if (event.step == Step::kSignalled) {
        deliver(*cluster, event);
      }
      break;
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      if (event.step == Step::kDone && (event.flags & event_flag::kFalse) == 0) {
        observe(*cluster, event, self);
      }
      break;
    case Op::kFence:
      fence(*cluster, event, self);
      break;
    case Op::kTcgen05FenceBefore:
      raise(clock, 3 * warps_ + self, clock[self]);
      break;
    case Op::kTcgen05FenceAfter:
      cluster->after[self] = clock;
      break;
    case Op::kFenceProxyAsync:
      // It covers the accesses of all that the warp knows to have happened.
      if (event.count != static_cast<std::uint32_t>(ProxySpace::kGlobal)) {
        for (std::uint32_t warp = 0; warp < warps_; ++warp) {
          raise(clock, 2 * warps_ + warp, clock[warp]);
        }
      }
      break;
    case Op::kBarSync:
    case Op::kBarArrive: {
      auto& generations = cluster->named[event.cta * kNamedBarriers + event.address];
      Clock& met = generations[event.phase];
      const bool returns = event.pending != 0;
      if (!returns) {
        join(met, clock);
      }
      if (returns ||
          ((event.flags & event_flag::kPhaseCompleted) != 0 && event.op == Op::kBarSync)) {
        join(clock, met);
      }
      while (!generations.empty() && generations.begin()->first + 2 <= event.phase) {
        generations.erase(generations.begin());
      }
      break;
    }
    case Op::kClusterArrive:
      join(cluster->cluster_barrier[event.phase], clock);
      break;
    case Op::kClusterWait:
      if (event.step == Step::kDone) {
        join(clock, cluster->cluster_barrier[event.phase]);
      }
      break;
    case Op::kCtaExit:
      if (++cluster->exited_ctas == config_.cluster_size) {
        clusters_[number].reset();
      }
      break;
    default:
      break;
  }
}

}  // namespace warptwin::sim
