// Tensor memory: allocation, and its loads and stores.

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/model/gpu.hpp"
#include "sim/model/invariant.hpp"

namespace warptwin::sim {

Gpu::Outcome Gpu::tmem_allocate(WarpSlot slot, Operation& op) {
  auto& asked = op.as<operands::TmemAllocation>();
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
  } else if (!TensorMemory::legal_columns(asked.columns)) {
    fail(event, Fault::kBadCount, true);
  } else if (cta.tmem.relinquished()) {
    fail(event, Fault::kAfterRelinquish, true);
  } else if (asked.word % 4 != 0 || asked.word + 4 > config_.shared_bytes) {
    fail(event, Fault::kOutOfRange, true);
  }
  if ((event.flags & event_flag::kTraps) != 0) {
    emit(event);
    return Outcome::kDone;
  }
  // A pair that allocates together: neither CTA goes on before both have come, and both have
  // allocated.
  const bool pair =
      asked.group == CtaGroup::kTwo && config_.rules.pair_alloc == PairMeeting::kTogether;
  if (pair && warp.pair_step == PairStep::kNone && !meet_peer(slot, PairStep::kMet)) {
    return block(slot, op);
  }
  if (warp.pair_step != PairStep::kAllocated) {
    const std::uint32_t base = cta.tmem.find_free(asked.columns, config_.tmem_from_top);
    const bool free = cta.tmem_reserved || (tmem_is_free(warp.cta, asked.columns) &&
                                            (!pair || tmem_is_free(warp.cta ^ 1U, asked.columns)));
    if (base == kTmemColumns || !free) {
      cta.tmem_waiters |= 1U << warp.index;
      return block(slot, op);
    }
    if (cta.tmem.largest() != 0 && asked.columns > cta.tmem.largest()) {
      event.fault = Fault::kGrows;
    }
    cta.tmem.allocate(base, asked.columns, asked.free);
    if (pair) {
      ctas_[warp.cta ^ 1U].tmem_reserved = !cta.tmem_reserved;
      cta.tmem_reserved = false;
    }
    std::memcpy(cta.shared.data() + asked.word, &base, sizeof base);
    set_unknown(cta, asked.word, asked.word + 4, asked.free);
    op.result = base;
    asked.ordinal = static_cast<std::uint32_t>(cta.tmem.allocations().size()) - 1;
    if (asked.free) {
      const auto kind =
          std::min<std::uint32_t>(tmem_word::kFirst + asked.ordinal, tmem_word::kLast);
      cta.tmem_words.push_back({asked.word, static_cast<std::uint8_t>(kind)});
    }
    event.as<payload::TmemAllocation>().base = base;
    ++changes_;
    emit(event);
    warp.pair_step = pair ? PairStep::kAllocated : PairStep::kNone;
  }
  if (pair && !meet_peer(slot, PairStep::kNone)) {
    return block(slot, op);
  }
  return Outcome::kDone;
}

// Whether the other CTAs of the SM leave a CTA so many columns, and the permit to allocate: who has
// allocated keeps that until it relinquishes it, or ends.
bool Gpu::tmem_is_free(std::uint32_t cta, std::uint32_t columns) const {
  std::uint32_t taken = 0;
  for (const std::uint32_t other : ctas_of_sm(cta)) {
    const Cta& at = ctas_[other];
    const bool holds = !at.tmem.allocations().empty() && !at.tmem.relinquished();
    if (other != cta && !at.exited && (holds || at.tmem_reserved)) {
      return false;
    }
    for (const TmemAllocationRecord& record : at.tmem.allocations()) {
      taken += record.live && !at.exited ? record.columns : 0;
    }
  }
  return taken + columns <= kTmemColumns;
}

// Those of its SM, and of pairs with a CTA there.
void Gpu::wake_allocators(std::uint32_t cta) {
  for (const std::uint32_t on_sm : ctas_of_sm(cta)) {
    const std::uint32_t rank = on_sm % config_.cluster_size;
    const std::uint32_t peer = rank ^ 1U;
    for (const std::uint32_t other : {on_sm, on_sm - rank + peer}) {
      if (other != on_sm && peer >= config_.cluster_size) {
        continue;  // the last one of an odd number
      }
      for (std::uint32_t waiting = std::exchange(ctas_[other].tmem_waiters, 0); waiting != 0;
           waiting &= waiting - 1) {
        ready_.insert(Agents::warp(other * config_.warps_per_cta +
                                   static_cast<std::uint32_t>(std::countr_zero(waiting))));
      }
    }
  }
}

std::vector<std::uint32_t> Gpu::ctas_of_sm(std::uint32_t cta) const {
  std::vector<std::uint32_t> ctas;
  const std::uint32_t round = config_.places * config_.cluster_size;
  for (std::uint32_t other = sm_of(cta); other < ctas_.size(); other += round) {
    ctas.push_back(other);
  }
  return ctas;
}

// Whether the other CTA of the pair has come too; then the warp is at `next`.
bool Gpu::meet_peer(WarpSlot slot, PairStep next) {
  Warp& warp = warps_[slot];
  const Cta& cta = ctas_[warp.cta];
  Cluster& cluster = clusters_[cta.cluster];
  const std::uint32_t pair = warp.cta % config_.cluster_size / 2;
  if (!warp.pair_waits) {
    warp.pair_waits = true;
    warp.pair_generation = cluster.pair_generation[pair];
    ++changes_;
    if (++cluster.pair_entered[pair] == 2) {
      cluster.pair_entered[pair] = 0;
      ++cluster.pair_generation[pair];
      const std::uint32_t warps = config_.cluster_size * config_.warps_per_cta;
      const WarpSlot first = cta.cluster * warps;
      for (WarpSlot other = first; other < first + warps; ++other) {
        if (warps_[other].pair_waits && warps_[other].status == WarpStatus::kBlocked) {
          ready_.insert(Agents::warp(other));
        }
      }
    }
  }
  if (cluster.pair_generation[pair] == warp.pair_generation) {
    return false;
  }
  warp.pair_waits = false;
  warp.pair_step = next;
  ++changes_;
  return true;
}

Gpu::Outcome Gpu::tmem_free(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  ++changes_;
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.op == Op::kTcgen05Relinquish) {
    cta.tmem.relinquish();
    emit(event);
    wake_allocators(warp.cta);
    return Outcome::kDone;
  }
  if (warp.pair_step != PairStep::kFreed) {
    const auto& region = op.as<operands::TmemRegion>();
    event.fault = cta.tmem.deallocate(region.address.column(), region.columns);
    emit(event);
    wake_allocators(warp.cta);
    const bool together = config_.rules.pair_dealloc == PairMeeting::kTogether;
    const bool pair = region.group == CtaGroup::kTwo && event.fault == Fault::kNone;
    warp.pair_step = pair && together ? PairStep::kFreed : PairStep::kNone;
  }
  if (warp.pair_step == PairStep::kFreed && !meet_peer(slot, PairStep::kNone)) {
    return block(slot, op);
  }
  return Outcome::kDone;
}

Gpu::Outcome Gpu::issue_tmem(WarpSlot slot, Operation& op) {
  Warp& warp = warps_[slot];
  const std::uint32_t first = warp.index % 4 * kWarpLanes;
  const auto& access = op.as<operands::TmemAccess>();
  const TmemAddress at = access.address;
  if (config_.rules.tmem_quarter_of_warp && first != 0 && at.lane() < kWarpLanes) {
    Operation own = op;
    own.as<operands::TmemAccess>().address =
        at.at_lane(first);  // 16 lanes further on where it says so
    own.flags |= event_flag::kOwnQuarter;
    return issue_tmem(slot, own);
  }
  Event event = event_of(slot, op);
  const bool half = access.of_16_lanes();
  event.fault = ctas_[warp.cta].tmem.check(at.column(), access.columns);
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
  } else if (event.fault == Fault::kOutOfRange) {
    fail(event, event.fault, true);
  } else if (at.lane() != first && !(half && at.lane() == first + kWarpLanes / 2)) {
    fail(event, Fault::kLaneSlice, true);
  }
  if ((event.flags & event_flag::kTraps) != 0) {
    emit(event);
    return Outcome::kDone;
  }
  if (op.op == Op::kTcgen05Ld && op.fragment != nullptr) {
    op.fragment->of_tensor_memory = true;
  }
  AsyncOp& async = append(warp.tmem_queue);
  async.operation = op;
  async.warp = slot;
  async.cta = async.signal_cta = warp.cta;
  async.serial = ++serial_;
  event.step = Step::kIssued;
  event.serial = async.serial;
  emit(event);
  ++changes_;
  ++clusters_[ctas_[warp.cta].cluster].outstanding;
  ready_.insert(agents_.tmem_port(slot));
  return Outcome::kDone;
}

void Gpu::advance_tmem(std::uint32_t index) {
  Warp& warp = warps_[index];
  const AsyncOp& async = warp.tmem_queue.front();
  const Operation& op = async.operation;
  TensorMemory& tmem = ctas_[warp.cta].tmem;
  ++changes_;
  if (config_.moves_data && op.fragment != nullptr) {
    FragmentData& data = *op.fragment;
    const auto& access = op.as<operands::TmemAccess>();
    const TmemAddress at = access.address;
    const std::uint32_t rows = access.half_rows ? kWarpLanes / 2 : kWarpLanes;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < data.registers; ++i) {
        const TmemCell cell = TmemCell::of(access.shape, lane % rows, i);
        std::uint32_t& word = tmem.lane(
            at.lane() + cell.lane)[at.column() + cell.column + lane / rows * data.registers];
        std::uint32_t& held = data.bits[std::size_t{lane} * data.registers + i];
        const std::uint32_t column = at.column() + cell.column + lane / rows * data.registers;
        const std::size_t place = std::size_t{lane} * data.registers + i;
        if (op.op == Op::kTcgen05Ld) {
          held = word;
          if (!data.unwritten.empty()) {
            data.unwritten[place] = tmem.written(at.lane() + cell.lane, column) ? 0 : 1;
          }
        } else {
          word = held;
          const bool written = data.unwritten.empty() || data.unwritten[place] == 0;
          tmem.set_written(at.lane() + cell.lane, column, 1, written);
        }
      }
    }
  }
  if (sink_ != nullptr) {
    emit(event_of(async, op.op == Op::kTcgen05Ld ? Step::kRead : Step::kWritten));
  }
  warp.tmem_queue.pop_front();
  if (warp.tmem_queue.empty()) {
    ready_.erase(agents_.tmem_port(index));
    if (warp.status == WarpStatus::kBlocked &&
        (warp.blocked_on.op == Op::kTcgen05WaitLd || warp.blocked_on.op == Op::kTcgen05WaitSt)) {
      ready_.insert(Agents::warp(index));
    }
  }
  const std::uint32_t cluster = ctas_[warp.cta].cluster;
  WARPTWIN_INVARIANT(kCountersDoNotWrap, clusters_[cluster].outstanding != 0);
  --clusters_[cluster].outstanding;
  retire_cluster_if_done(cluster);
}

Gpu::Outcome Gpu::tmem_wait(WarpSlot slot, const Operation& op) {
  const Warp& warp = warps_[slot];
  // One port in issue order: what a wait names is done when nothing is left in it.
  if (!warp.tmem_queue.empty()) {
    return block(slot, op);
  }
  ++changes_;
  if (op.fragment != nullptr) {
    op.fragment->settled = true;
  }
  Event event = event_of(slot, op);
  const bool whole = op.lanes == kWarpLanes || op.as<operands::TmemWait>().of_registers;
  event.fault = whole ? Fault::kNone : Fault::kNotWholeWarp;
  emit(event);
  return Outcome::kDone;
}

}  // namespace warptwin::sim
