#include "sim/model/gpu.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/trace/op_facts.hpp"

#include "sim/model/elected_lane.hpp"
#include "sim/model/invariant.hpp"

namespace warptwin::sim {

Gpu::Gpu(const LaunchConfig& config, GlobalMemory& memory, const Symbols& symbols)
    : config_{config}, memory_{&memory}, symbols_{symbols}, last_adders_{config.last_adders} {
  config_.resident_clusters = std::max(1U, std::min(config_.resident_clusters, config_.clusters));
  if (config_.places == 0) {
    config_.places = ceil_div(config_.resident_clusters, config_.rules.ctas_per_sm);
  }
  const std::uint32_t ctas = config_.resident_clusters * config_.cluster_size;
  warps_.resize(std::size_t{ctas} * config_.warps_per_cta);
  agents_ = Agents{static_cast<std::uint32_t>(warps_.size())};
  registers_.resize(warps_.size());
  ctas_.resize(ctas);
  clusters_.resize(config_.resident_clusters);
  ready_.resize(agents_.count(0));
  barrier_table_.assign(config_.shared_bytes / 8 + 1, kNoBarrier);
}

bool Gpu::asked_unknown() const {
  return std::any_of(registers_.begin(), registers_.end(), [](const WarpRegisters& registers) {
    return registers.asked_unknown;
  });
}

bool Gpu::lanes_by_number() const {
  return std::any_of(registers_.begin(), registers_.end(), [](const WarpRegisters& registers) {
    return registers.lanes_by_number;
  });
}

bool Gpu::asks_active() const {
  return std::any_of(registers_.begin(), registers_.end(), [](const WarpRegisters& registers) {
    return registers.asks_active;
  });
}

void Gpu::launch() {
  live_warps_ = 0;
  clusters_end_ = config_.clusters;
  for (std::uint32_t slot = 0; slot < config_.resident_clusters; ++slot) {
    start_cluster(slot);
  }
}

void Gpu::start_cluster(std::uint32_t slot) {
  attend(slot * config_.cluster_size * config_.warps_per_cta);
  Cluster& cluster = clusters_[slot];
  cluster = Cluster{};
  cluster.number =
      config_.cluster_order.empty() ? next_cluster_ : config_.cluster_order[next_cluster_];
  ++next_cluster_;
  ++clusters_begun_;
  cluster.live_ctas = config_.cluster_size;
  cluster.pair_entered.assign(config_.cluster_size / 2 + 1, 0);
  cluster.pair_generation.assign(config_.cluster_size / 2 + 1, 0);
  const std::uint32_t size = config_.size_in(cluster.number);
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    const std::uint32_t cta_slot = slot * config_.cluster_size + rank;
    Cta& cta = ctas_[cta_slot];
    cta.number = cluster.number * config_.cluster_size + rank;
    cta.rank = rank % size;
    cta.cluster = slot;
    cta.first = cta_slot - cta.rank;
    cta.size = size;
    cta.arrived = cta.generation = 0;
    cta.live_warps = config_.warps_per_cta;
    cta.exited = false;
    std::fill(cta.barriers.begin(), cta.barriers.end(), MbarrierState{});
    std::fill(cta.waiters.begin(), cta.waiters.end(), 0);
    std::fill(std::begin(cta.named), std::end(cta.named), NamedBarrierState{});
    cta.tmem.reset(config_.moves_data, config_.rules.tmem_starts_zero);
    cta.tmem_waiters = cta.register_waiters = 0;
    cta.tmem_reserved = false;
    cta.free_registers = 0;
    cta.shared.assign(config_.shared_bytes, std::byte{0});
    cta.unknown.assign(config_.moves_data ? 0 : config_.shared_bytes, false);
    cta.tmem_words.clear();
    cta.copied.clear();
    for (std::uint32_t index = 0; index < config_.warps_per_cta; ++index) {
      const WarpSlot warp_slot = cta_slot * config_.warps_per_cta + index;
      Warp& warp = warps_[warp_slot];
      WARPTWIN_INVARIANT(
          kAgentsInOnePlace,
          warp.status == WarpStatus::kDone && !ready_.contains(Agents::warp(warp_slot)));
      WARPTWIN_INVARIANT(kQueuesAgree, warp.tensor_queue.empty() && warp.tmem_queue.empty());
      warp = Warp{};
      warp.status = WarpStatus::kReady;
      warp.number = cta.number * config_.warps_per_cta + index;
      warp.cta = cta_slot;
      warp.index = index;
      warp.registers = config_.registers_per_thread;
      ready_.insert(Agents::warp(warp_slot));
      started_.push_back(warp_slot);
      ++live_warps_;
      if (sink_ != nullptr) {
        emit(event_of(warp_slot, Operation{Op::kWarpStart}));
      }
    }
  }
}

// Beyond the values that have a name.
static constexpr std::uint32_t kBehindHash = 32;

ElectLane behind_hash(std::uint32_t places) {
  return static_cast<ElectLane>(kBehindHash + places);
}

std::uint8_t elected_lane_of(ElectLane rule, std::uint32_t warp) {
  if (const auto number = static_cast<std::uint32_t>(rule); number >= kBehindHash) {
    return static_cast<std::uint8_t>(
        (elected_lane_of(ElectLane::kHash, warp) + number - kBehindHash) % kWarpLanes);
  }
  switch (rule) {
    case ElectLane::kHighest:
      return kWarpLanes - 1;
    case ElectLane::kHash:
      return static_cast<std::uint8_t>(1 + ((warp + 1) * 0x9E3779B1U >> 16) % (kWarpLanes - 2));
    case ElectLane::kLowest:
    case ElectLane::kEither:
      break;
  }
  return 0;
}

std::uint8_t Gpu::elected_lane(WarpSlot warp) const {
  return elected_lane_of(config_.rules.elect_lane, warps_[warp].number);
}

std::vector<WarpSlot> Gpu::take_started() {
  return std::exchange(started_, {});
}

// --- Events -----------------------------------------------------------------------------------

Event Gpu::event_of(WarpSlot slot, const Operation& op) const {
  Event event{op.op};
  event.flags = op.flags;
  if (sink_ == nullptr) {
    return event;  // nobody will see the rest
  }
  const Warp& warp = warps_[slot];
  event.time = time_;
  event.lanes = op.lanes;
  event.lane = op.lane;
  event.mask = op.some;
  event.ordering = op.ordering;
  event.warp = warp.number;
  event.cta = ctas_[warp.cta].number;
  event.site = op.site;
  op.tell(event);
  return event;
}

Event Gpu::event_of(const AsyncOp& async, Step step) const {
  Event event = event_of(async.warp, async.operation);
  if (sink_ == nullptr) {
    return event;
  }
  event.step = step;
  event.serial = async.serial;
  event.cta = ctas_[async.cta].number;
  if (is_load(event.op)) {
    event.signal().barrier_cta = ctas_[async.signal_cta].number;
  } else if (event.is<payload::Copy>()) {
    event.as<payload::Copy>().group = static_cast<std::uint32_t>(async.group);
  }
  return event;
}

void Gpu::tell_state(Event& event, const MbarrierState& bar) {
  event.phase = bar.phase();
  payload::BarrierState& state = event.state();
  state.pending = bar.pending();
  state.tx = bar.tx();
  state.expected = bar.expected();
}

void Gpu::fail(Event& event, Fault fault, bool traps) {
  event.fault = fault;
  if (traps) {
    event.flags |= event_flag::kTraps;
    trapped_ = true;
  }
}

Gpu::Outcome Gpu::block(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  if (warp.status != WarpStatus::kBlocked || warp.blocked_on.op != op.op) {
    if (sink_ != nullptr) {
      Event event = event_of(slot, op);
      event.step = Step::kBlocked;
      if (op.op == Op::kMbarrierWait) {
        if (const MbarrierState* bar =
                find_barrier(warp.cta, op.as<operands::Mbarrier>().address)) {
          tell_state(event, *bar);
        }
      }
      emit(event);
    }
    warp.blocked_on = op;
    warp.status = WarpStatus::kBlocked;
  }
  ready_.erase(Agents::warp(slot));
  return Outcome::kBlocked;
}

// --- Execution --------------------------------------------------------------------------------

bool Gpu::execute(WarpSlot slot, Operation& op) {
  attend(slot);
  Warp& warp = warps_[slot];
  WARPTWIN_INVARIANT(kAgentsInOnePlace,
                     warp.status != WarpStatus::kDone && ready_.contains(Agents::warp(slot)));
  if (lanes_missing(slot, op)) {
    block(slot, op);
    return false;
  }
  if (!copy_sites_.empty()) {
    report_early_use(slot, op);
  }
  if (dispatch(slot, op) == Outcome::kBlocked) {
    return false;
  }
  ++operations_;
  if (op.race != nullptr) {
    emit_race(slot, op);
  }
  if (warp.status == WarpStatus::kBlocked) {
    warp.status = WarpStatus::kReady;
  }
  warp.last_site = op.site;
  warp.last_op = op.op;
  return true;
}

// A wait leaves the other lanes to look for themselves. If the next operation brings the warp
// together, they look with the first lane; else they become an agent.
void Gpu::settle_lanes(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  if (!warp.debt) {
    return;
  }
  if (!(op.lanes == kWarpLanes && has_trait(op.op, op_trait::kCollective))) {
    warp.late.push_back(*warp.debt);
    ready_.insert(agents_.late_lanes(slot));
  }
  warp.debt.reset();
}

// What all lanes do together cannot be done before the late ones have come.
bool Gpu::lanes_missing(WarpSlot slot, const Operation& op) const {
  const Warp& warp = warps_[slot];
  return !warp.late.empty() && op.op != Op::kMbarrierWait && op.op != Op::kStageNote &&
         (op.lanes == kWarpLanes || op.op == Op::kWarpExit);
}

Gpu::Outcome Gpu::dispatch(WarpSlot slot, Operation& op) {
  switch (op.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      return mbarrier_update(slot, op);
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return mbarrier_wait(slot, op);
    case Op::kBarSync:
    case Op::kBarArrive:
      return named_barrier(slot, op);
    case Op::kClusterArrive:
    case Op::kClusterWait:
      return cluster_barrier(slot, op);
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return issue_copy(slot, op);
    case Op::kBulkCommitGroup:
    case Op::kBulkWaitGroup:
      return bulk_groups(slot, op);
    case Op::kTcgen05Alloc:
      return tmem_allocate(slot, op);
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
      return tmem_free(slot, op);
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Commit:
      return issue_tensor(slot, op);
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return issue_tmem(slot, op);
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
      return tmem_wait(slot, op);
    case Op::kWgmma:
      return issue_wgmma(slot, op);
    case Op::kWgmmaFence:
    case Op::kWgmmaCommit:
    case Op::kWgmmaWait:
      return wgmma_groups(slot, op);
    case Op::kSharedLoad:
    case Op::kSharedStore:
      return op.is<operands::LaneBytes>()    ? shared_access(slot, op)
             : op.is<operands::SharedRows>() ? shared_row(slot, op)
                                             : shared_word(slot, op);
    case Op::kGlobalLoad:
      return op.is<operands::LaneBytes>() ? global_access(slot, op) : global_load(slot, op);
    case Op::kGlobalStore:
      return global_access(slot, op);
    case Op::kTensormapReplace:
      return replace_in_map(slot, op);
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return global_word(slot, op);
    case Op::kClcTryCancel:
      return clc_request(slot, op);
    case Op::kClcQuery:
      return clc_query(slot, op);
    case Op::kSetmaxnreg:
      return set_registers(slot, op);
    case Op::kWarpExit:
      return exit_warp(slot, op);
    default:
      return plain(slot, op);
  }
}

Gpu::Outcome Gpu::plain(WarpSlot slot, const Operation& op) {
  trapped_ = trapped_ || op.op == Op::kTrap;
  if (op.op == Op::kTrap && op.as<operands::Trap>().cause == TrapCause::kForEver) {
    endless_ = slot;
    return Outcome::kDone;
  }
  if (op.op == Op::kStageNote) {
    --operations_;  // an annotation is not an operation of the machine
  }
  if (sink_ != nullptr) {
    Event event = event_of(slot, op);
    if (op.op == Op::kFragmentRead && op.fragment != nullptr && !op.fragment->settled) {
      const bool of_accumulator = op.as<operands::FragmentRead>().of_accumulator;
      event.fault = of_accumulator ? Fault::kUnwaited : Fault::kUnsettled;
    }
    if (op.op == Op::kTrap) {
      const bool said = op.as<operands::Trap>().cause == TrapCause::kSaid;
      event.fault = said ? Fault::kStopped : Fault::kOutOfRange;
    }
    const bool meets = op.op == Op::kSyncWarp || op.op == Op::kElectSync;
    if (meets && op.lanes != kWarpLanes && event.lane_mask() != op.as<operands::Members>().lanes) {
      event.fault = Fault::kNotWholeWarp;
    }
    emit(event);
  }
  return Outcome::kDone;
}

// --- Asynchronous agents ----------------------------------------------------------------------

AgentSlot Gpu::take_async() {
  std::uint32_t index = 0;
  if (free_async_.empty()) {
    index = static_cast<std::uint32_t>(async_.size());
    async_.emplace_back();
    ready_.resize(agents_.count(index + 1));
  } else {
    index = free_async_.back();
    free_async_.pop_back();
  }
  AsyncOp& async = async_[index];  // the operation is told next
  async.live = true;
  async.read = false;
  async.group = 0;
  async.counted = 0;
  async.serial = ++serial_;
  WARPTWIN_INVARIANT(kCountersDoNotWrap, serial_ != 0);
  return agents_.transfer(index);
}

void Gpu::finish_async(AgentSlot slot) {
  const std::uint32_t index = agents_.place_of(slot);
  WARPTWIN_INVARIANT(kLandingsFollowIssue, async_[index].live);
  async_[index].live = false;
  async_[index].operation.fragment.reset();
  free_async_.push_back(index);
  ready_.erase(slot);
}

void Gpu::advance(AgentSlot slot) {
  attend(issuer_of(slot));
  WARPTWIN_INVARIANT(kAgentsInOnePlace, ready_.contains(slot));
  ++operations_;
  const WarpSlot warp = agents_.warp_of(slot);
  switch (agents_.kind(slot)) {
    case AgentKind::kTensorQueue:
      WARPTWIN_INVARIANT(kQueuesAgree, !warps_[warp].tensor_queue.empty());
      advance_tensor(warp);
      return;
    case AgentKind::kTmemPort:
      WARPTWIN_INVARIANT(kQueuesAgree, !warps_[warp].tmem_queue.empty());
      advance_tmem(warp);
      return;
    case AgentKind::kLateLanes:
      advance_late(warp);
      return;
    case AgentKind::kWarp:
    case AgentKind::kTransfer:
      WARPTWIN_INVARIANT(kLandingsFollowIssue, async_at(slot) != nullptr);
      advance_copy(async_[agents_.place_of(slot)], slot);
  }
}

// --- Exit --------------------------------------------------------------------------------------

Gpu::Outcome Gpu::exit_warp(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  warp.status = WarpStatus::kDone;
  Event end = event_of(slot, op);
  end.fault = leaves_warpgroup(slot) ? Fault::kNotWarpgroup : Fault::kNone;
  emit(end);
  ready_.erase(Agents::warp(slot));
  WARPTWIN_INVARIANT(kCountersDoNotWrap, live_warps_ != 0 && cta.live_warps != 0);
  --live_warps_;
  gave_up_ = gave_up_ || std::any_of(warp.refused.begin(),
                                     warp.refused.end(),
                                     [&](const RefusedTry& one) { return gives_up(one); });
  ++changes_;
  --cta.live_warps;
  // Barriers that were waiting only for exited threads are released.
  for (NamedBarrierState& barrier : cta.named) {
    if (barrier.threads != 0 && (barrier.all_threads || config_.rules.named_exit_releases)) {
      // An arrival of a warp that has ended, and one that need not come, are one.
      if ((barrier.warps >> warp.index & 1U) != 0) {
        WARPTWIN_INVARIANT(kCountersDoNotWrap, barrier.arrived >= kWarpLanes);
        barrier.arrived -= kWarpLanes;
        barrier.warps &= ~(1U << warp.index);
      }
      barrier.threads = std::min(barrier.threads, cta.live_warps * kWarpLanes);
      if (barrier.arrived >= barrier.threads) {
        release_named(cta, slot - warp.index, barrier);
      }
    }
  }
  // A generation waits for the arrivals of those that live: one who has arrived and ended is not
  // counted twice, as an arrival and as somebody who need not come.
  Cluster& cluster = clusters_[cta.cluster];
  Cta& first = ctas_[cta.first];
  if (warp.cluster_arrived && warp.cluster_generation == first.generation) {
    WARPTWIN_INVARIANT(kCountersDoNotWrap, first.arrived != 0);
    --first.arrived;
  }
  release_cluster_if_complete(cta.first);
  if (cta.live_warps == 0) {
    cta.exited = true;
    wake_allocators(warp.cta);
    WARPTWIN_INVARIANT(kCountersDoNotWrap, cluster.live_ctas != 0);
    --cluster.live_ctas;
    if (sink_ != nullptr) {
      Event event = event_of(slot, op);
      event.op = Op::kCtaExit;
      emit(event);
    }
    retire_cluster_if_done(cta.cluster);
  }
  return Outcome::kDone;
}

void Gpu::retire_cluster_if_done(std::uint32_t slot) {
  const Cluster& cluster = clusters_[slot];
  if (cluster.live_ctas == 0 && cluster.outstanding == 0 && next_cluster_ < clusters_end_ &&
      clusters_begun_ < config_.clusters_begun_max) {
    start_cluster(slot);
  }
}

// --- Reports ----------------------------------------------------------------------------------

const AsyncOp* Gpu::async_at(AgentSlot slot) const {
  if (!agents_.is_transfer(slot)) {
    return nullptr;
  }
  const std::uint32_t place = agents_.place_of(slot);
  return place < async_.size() && async_[place].live ? &async_[place] : nullptr;
}

std::vector<const AsyncOp*> Gpu::outstanding() const {
  std::vector<const AsyncOp*> all;
  for (const Warp& warp : warps_) {
    for (const AsyncOp& async : warp.tensor_queue) {
      all.push_back(&async);
    }
    for (const AsyncOp& async : warp.tmem_queue) {
      all.push_back(&async);
    }
  }
  for (const AsyncOp& async : async_) {
    if (async.live) {
      all.push_back(&async);
    }
  }
  return all;
}

std::string Gpu::describe(AgentSlot slot) const {
  const Warp& warp = warps_[issuer_of(slot)];
  std::string text =
      "cta " + std::to_string(ctas_[warp.cta].number) + " warp " + std::to_string(warp.index);
  constexpr const char* kKinds[] = {
      "", " tensor queue", " tensor-memory port", " late lanes", " copy"};
  return text + kKinds[static_cast<std::size_t>(agents_.kind(slot))];
}

}  // namespace warptwin::sim
