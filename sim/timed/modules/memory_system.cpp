#include "sim/timed/modules/memory_system.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warptwin::sim {

void ResidentBoxes::unlink(std::uint32_t at) {
  const Node& node = nodes_[at];
  (node.older == kNone ? oldest_ : nodes_[node.older].newer) = node.newer;
  (node.newer == kNone ? newest_ : nodes_[node.newer].older) = node.older;
}

void ResidentBoxes::link_newest(std::uint32_t at) {
  nodes_[at].older = newest_;
  nodes_[at].newer = kNone;
  (newest_ == kNone ? oldest_ : nodes_[newest_].newer) = at;
  newest_ = at;
}

const Arrival* ResidentBoxes::find(std::uint64_t box) {
  const auto found = index_.find(box);
  if (found == index_.end()) {
    return nullptr;
  }
  unlink(found->second);
  link_newest(found->second);
  return &nodes_[found->second].available;
}

void ResidentBoxes::insert(std::uint64_t box, double bytes, const Arrival& available) {
  if (const auto found = index_.find(box); found != index_.end()) {
    nodes_[found->second].available = available;
    return;
  }
  while (bytes_ + bytes > capacity_ && oldest_ != kNone) {
    const std::uint32_t victim = oldest_;
    bytes_ -= nodes_[victim].bytes;
    index_.erase(nodes_[victim].box);
    unlink(victim);
    free_.push_back(victim);
  }
  std::uint32_t at = static_cast<std::uint32_t>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  nodes_[at] = {box, bytes, available, kNone, kNone};
  link_newest(at);
  index_.emplace(box, at);
  bytes_ += bytes;
}

namespace {

// What one half of L2 does in a cycle of the SMs.
double of_half(double rate, const Chip& chip, double clock) {
  return rate / chip.l2_halves * (chip.l2_clock > 0 ? chip.l2_clock / clock : 1.0);
}

// 0 to 1, evenly, by a hash: for a box always the same.
double drawn(std::uint64_t box) {
  std::uint64_t x = box * 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 27U) * 0x94D049BB133111EBU;
  constexpr double kAll = 1.0 / 4294967296.0;
  return static_cast<double>((x ^ x >> 31U) >> 32U) * kAll;
}

}  // namespace

double share_held(const Chip& chip, double bytes) {
  const double full = bytes * chip.l2_halves / chip.l2_bytes;
  return chip.l2_fill_spread > 0
             ? std::erfc((full - 1) / chip.l2_fill_spread / std::numbers::sqrt2) / 2
             : static_cast<double>(full <= 1);
}

MemorySystem::MemorySystem(const sc_core::sc_module_name& name,
                           const Chip& chip,
                           double clock,
                           double resident,
                           CauseLog* log)
    : sc_module{name},
      l2_rate_{of_half(chip.l2_rate, chip, clock)},
      multicast_{chip.l2_multicast},
      shared_{chip.l2_shared},
      store_rate_{of_half(chip.l2_store_rate, chip, clock)},
      dram_rate_{chip.dram_rate * 1000.0 / clock},
      link_rate_{chip.l2_link_rate * 1000.0 / clock},
      dram_latency_{to_ticks(chip.dram_latency_ns * clock)},
      latency_{to_ticks(chip.l2_latency_ns * clock)},
      far_latency_{to_ticks(chip.l2_far_latency)},
      always_here_{resident},
      resident_(static_cast<std::size_t>(chip.l2_halves),
                ResidentBoxes{chip.l2_bytes / chip.l2_halves}),
      on_their_way_(static_cast<std::size_t>(chip.gpcs)),
      l2_(resident_.size()),
      stores_(resident_.size()),
      link_(resident_.size()),
      log_{log},
      l2_busy_(resident_.size()),
      store_cause_(resident_.size(), kNoCause),
      link_cause_(resident_.size(), kNoCause) {}

Arrival MemorySystem::hand_on(Ticks from, std::uint32_t half, double bytes, Cause why) {
  const Ticks service = to_ticks(bytes / l2_rate_);
  l2_[half].may_forget(now_);
  const Ticks end = l2_[half].fill(from, service);
  Busy& before = l2_busy_[half];
  // What was asked for a later time has not held this up.
  const bool waited = end > from + service && before.until <= end;
  const Cause cause = add_step(log_, Unit::kL2, end, why, waited ? before.cause : kNoCause);
  if (end >= before.until) {
    before = {end, cause};
  }
  return {end, cause};
}

Arrival MemorySystem::read_dram(Ticks from, double bytes) {
  const Ticks end = dram_.reserve(from, to_ticks(bytes / dram_rate_));
  dram_cause_ = add_step(log_, Unit::kDram, end, acting_in(log_), dram_cause_);
  const Ticks arrives = end + dram_latency_;
  return {arrives, add_step(log_, Unit::kDramLatency, arrives, dram_cause_)};
}

// When half `half` has the box: it may have it, be waiting for it, get it from the other half, or
// from DRAM.
Arrival MemorySystem::first_available(Ticks from,
                                      std::uint32_t half,
                                      std::uint64_t box,
                                      double bytes) {
  if (const Arrival* here = resident_[half].find(box)) {
    return *here;
  }
  Arrival available;
  const Arrival* there = halves() > 1 ? resident_[1 - half].find(box) : nullptr;
  if (there != nullptr) {
    hand_on(from, 1 - half, bytes, acting_in(log_));
    const std::uint32_t other = 1 - half;
    const Ticks service = to_ticks(bytes / link_rate_);
    const Ticks end = link_[other].reserve(from, service);
    link_cause_[other] = add_step(log_, Unit::kL2Link, end, acting_in(log_), link_cause_[other]);
    // The latency is that of a box alone: from when its first byte can go.
    available.when = std::max(end - service, there->when) + far_latency_;
    available.cause = add_step(log_,
                               Unit::kL2Far,
                               available.when,
                               end - service > from ? link_cause_[other] : acting_in(log_),
                               there->cause);
  } else if (drawn(box) >= always_here_) {
    available = read_dram(from, bytes);
  }
  resident_[half].insert(box, bytes, available);
  return available;
}

Ticks MemorySystem::fetch(Ticks from, L2Port port, std::uint64_t box, double bytes, double copies) {
  now_ = from;
  const std::uint32_t half = port.half;
  const Arrival available = first_available(from, half, box, bytes);
  Ticks* until = on_their_way_.empty() ? nullptr : &on_their_way_[port.gpc][box];
  const bool shared = until != nullptr && from < *until;
  const double handed_on = bytes * ((shared ? shared_ : 1) + multicast_ * (copies - 1));
  // What comes from DRAM is handed on as it comes.
  const Ticks service = to_ticks(handed_on / l2_rate_);
  const bool comes = available.when > from + service;
  const Arrival handed = comes ? hand_on(available.when - service, half, handed_on, available.cause)
                               : hand_on(from, half, handed_on, acting_in(log_));
  act(log_, handed.cause);
  const Ticks arrives = handed.when + latency_;
  if (until != nullptr && !shared) {
    *until = arrives;
  }
  return arrives;
}

Ticks MemorySystem::store(Ticks from, std::uint32_t half, std::uint64_t box, double bytes) {
  const bool waits = stores_[half].free() > from;
  const Ticks end = stores_[half].reserve(from, to_ticks(bytes / store_rate_));
  Cause& cause = store_cause_[half];
  cause = add_step(log_, Unit::kL2, end, acting_in(log_), waits ? cause : kNoCause);
  dram_.reserve(from, to_ticks(bytes / dram_rate_));
  resident_[half].insert(box, bytes, {end, cause});
  act(log_, cause);
  return end;
}

}  // namespace warptwin::sim
