#include "sim/model/gpu.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/model/matrix.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kNoBarrier = ~std::uint32_t{0};
constexpr std::uint32_t kTxChunks = 4;  // steps in which a copy counts its bytes, if not in one

// Operations that need the whole warp, and bring its lanes together.
bool is_collective(Op op) {
  switch (op) {
    case Op::kSyncWarp:
    case Op::kBarSync:
    case Op::kBarArrive:
    case Op::kClusterArrive:
    case Op::kClusterWait:
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
    case Op::kWgmma:
    case Op::kWgmmaFence:
    case Op::kWgmmaCommit:
    case Op::kWgmmaWait:
    case Op::kSetmaxnreg:
      return true;
    default:
      return false;
  }
}

// Grows by doubling: a queue soon stays where it is.
AsyncOp& append(AsyncQueue& queue) {
  constexpr std::size_t kFirst = 8;
  if (queue.full()) {
    queue.set_capacity(std::max(kFirst, 2 * queue.capacity()));
  }
  queue.push_back();
  return queue.back();
}

}  // namespace

Gpu::Gpu(const LaunchConfig& config, GlobalMemory& memory, const Symbols& symbols)
    : config_{config}, memory_{memory}, symbols_{symbols} {
  config_.resident_clusters = std::max(1U, std::min(config_.resident_clusters, config_.clusters));
  if (config_.places == 0) {
    config_.places = ceil_div(config_.resident_clusters, config_.rules.ctas_per_sm);
  }
  const std::uint32_t ctas = config_.resident_clusters * config_.cluster_size;
  warps_.resize(std::size_t{ctas} * config_.warps_per_cta);
  ctas_.resize(ctas);
  clusters_.resize(config_.resident_clusters);
  ready_.resize(static_cast<Slot>(warps_.size()) * 4);
  barrier_table_.assign(config_.shared_bytes / 8 + 1, kNoBarrier);
}

void Gpu::launch() {
  live_warps_ = 0;
  clusters_end_ = config_.clusters;
  for (std::uint32_t slot = 0; slot < config_.resident_clusters; ++slot) {
    start_cluster(slot);
  }
}

void Gpu::start_cluster(std::uint32_t slot) {
  Cluster& cluster = clusters_[slot];
  cluster = Cluster{};
  cluster.number = next_cluster_++;
  ++clusters_begun_;
  cluster.live_ctas = config_.cluster_size;
  cluster.pair_entered.assign(config_.cluster_size / 2 + 1, 0);
  cluster.pair_generation.assign(config_.cluster_size / 2 + 1, 0);
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    const std::uint32_t cta_slot = slot * config_.cluster_size + rank;
    Cta& cta = ctas_[cta_slot];
    cta.number = cluster.number * config_.cluster_size + rank;
    cta.rank = rank;
    cta.cluster = slot;
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
    cta.unknown.assign(config_.moves_data ? 0 : config_.shared_bytes / 4 + 1, false);
    for (std::uint32_t index = 0; index < config_.warps_per_cta; ++index) {
      const Slot warp_slot = cta_slot * config_.warps_per_cta + index;
      Warp& warp = warps_[warp_slot];
      warp = Warp{};
      warp.status = WarpStatus::kReady;
      warp.number = cta.number * config_.warps_per_cta + index;
      warp.cta = cta_slot;
      warp.index = index;
      warp.registers = config_.registers_per_thread;
      ready_.insert(warp_slot);
      started_.push_back(warp_slot);
      ++live_warps_;
      if (sink_ != nullptr) {
        Operation start;
        start.op = Op::kWarpStart;
        emit(event_of(warp_slot, start));
      }
    }
  }
}

std::uint8_t Gpu::elected_lane(Slot warp) const {
  switch (config_.rules.elect_lane) {
    case ElectLane::kHighest:
      return kWarpLanes - 1;
    case ElectLane::kHash:
      return static_cast<std::uint8_t>(warps_[warp].number * 0x9E3779B1U >> 27);
    case ElectLane::kLowest:
      break;
  }
  return 0;
}

std::vector<Slot> Gpu::take_started() {
  return std::exchange(started_, {});
}

// --- Events -----------------------------------------------------------------------------------

Event Gpu::event_of(Slot slot, const Operation& op) const {
  Event event;
  event.op = op.op;
  event.flags = op.flags;
  if (sink_ == nullptr) {
    return event;  // nobody will see the rest
  }
  const Warp& warp = warps_[slot];
  event.time = time_;
  event.lanes = op.lanes;
  event.lane = op.lane;
  event.ordering = op.ordering;
  event.warp = warp.number;
  event.cta = ctas_[warp.cta].number;
  event.address = op.address;
  event.count = op.count;
  event.bytes = op.bytes;
  event.wanted = op.wanted;
  event.peer = op.peer;
  event.global = op.global;
  event.extra = op.mask.bits;
  event.site = op.site;
  if (op.group == CtaGroup::kTwo) {
    event.flags |= event_flag::kPair;
  }
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
  event.peer_cta = ctas_[async.signal_cta].number;
  if (async.operation.op == Op::kTensorStore || async.operation.op == Op::kBulkStore) {
    event.count = static_cast<std::uint32_t>(async.group);
  }
  return event;
}

void Gpu::fail(Event& event, Fault fault, bool traps) {
  event.fault = fault;
  if (traps) {
    event.flags |= event_flag::kTraps;
    trapped_ = true;
  }
}

Gpu::Outcome Gpu::block(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  if (warp.status != WarpStatus::kBlocked || warp.blocked_on.op != op.op) {
    if (sink_ != nullptr) {
      Event event = event_of(slot, op);
      event.step = Step::kBlocked;
      if (op.op == Op::kMbarrierWait) {
        if (const MbarrierState* bar = find_barrier(warp.cta, op.address)) {
          event.phase = bar->phase();
          event.pending = bar->pending();
          event.tx = bar->tx();
          event.expected = bar->expected();
        }
      }
      emit(event);
    }
    warp.blocked_on = op;
    warp.status = WarpStatus::kBlocked;
  }
  ready_.erase(slot);
  return Outcome::kBlocked;
}

// --- Execution --------------------------------------------------------------------------------

bool Gpu::execute(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  if (lanes_missing(slot, op)) {
    block(slot, op);
    return false;
  }
  if (dispatch(slot, op) == Outcome::kBlocked) {
    return false;
  }
  ++operations_;
  if (warp.status == WarpStatus::kBlocked) {
    warp.status = WarpStatus::kReady;
  }
  warp.last_site = op.site;
  warp.last_op = op.op;
  warp.last_address = op.address;
  return true;
}

// A wait leaves the other lanes to look for themselves. If the next operation brings the warp
// together, they look with the first lane; else they become an agent.
void Gpu::settle_lanes(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  if (!warp.debt) {
    return;
  }
  if (!(op.lanes == kWarpLanes && is_collective(op.op))) {
    warp.late.push_back(*warp.debt);
    ready_.insert(static_cast<Slot>(warps_.size()) * 3 + slot);
  }
  warp.debt.reset();
}

// What all lanes do together cannot be done before the late ones have come.
bool Gpu::lanes_missing(Slot slot, const Operation& op) const {
  const Warp& warp = warps_[slot];
  return !warp.late.empty() && op.op != Op::kMbarrierWait && op.op != Op::kStageNote &&
         (op.lanes == kWarpLanes || op.op == Op::kWarpExit);
}

Gpu::Outcome Gpu::dispatch(Slot slot, Operation& op) {
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
      return op.rank == 0 ? shared_word(slot, op) : shared_row(slot, op);
    case Op::kGlobalLoad:
      return global_load(slot, op);
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

Gpu::Outcome Gpu::plain(Slot slot, const Operation& op) {
  if (op.op == Op::kStageNote) {
    --operations_;  // an annotation is not an operation of the machine
  }
  if (sink_ != nullptr) {
    Event event = event_of(slot, op);
    if (op.op == Op::kStageNote) {
      event.bytes = static_cast<std::uint32_t>(op.stage_step);
      event.phase = op.rank;
    }
    if (op.op == Op::kFragmentRead && op.fragment != nullptr && !op.fragment->settled) {
      event.fault = Fault::kUnsettled;
    }
    if (op.op == Op::kSyncWarp && op.lanes != kWarpLanes) {
      event.fault = Fault::kNotWholeWarp;
    }
    emit(event);
  }
  return Outcome::kDone;
}

// --- mbarriers --------------------------------------------------------------------------------

std::uint32_t Gpu::barrier_number(std::uint32_t address) {
  const std::uint32_t index = address / 8;
  if (barrier_table_[index] == kNoBarrier) {
    barrier_table_[index] = static_cast<std::uint32_t>(barrier_numbers_.size());
    barrier_numbers_.emplace(address, barrier_table_[index]);
  }
  return barrier_table_[index];
}

MbarrierState* Gpu::barrier_at(std::uint32_t cta, std::uint32_t address) {
  return const_cast<MbarrierState*>(find_barrier(cta, address));
}

const MbarrierState* Gpu::find_barrier(std::uint32_t cta, std::uint32_t address) const {
  if (address % 8 != 0 || address / 8 >= barrier_table_.size()) {
    return nullptr;
  }
  const std::uint32_t number = barrier_table_[address / 8];
  const Cta& owner = ctas_[cta];
  if (number == kNoBarrier || number >= owner.barriers.size() || !owner.barriers[number].valid()) {
    return nullptr;
  }
  return &owner.barriers[number];
}

Gpu::Target Gpu::resolve(const Warp& warp, const Operation& op) const {
  Target target{warp.cta, op.address, Fault::kNone};
  if ((op.flags & event_flag::kRemote) != 0) {
    const std::uint32_t rank = op.address >> 24;
    target.address = op.address & 0xFFFFFFU;
    if (rank >= config_.cluster_size) {
      return {warp.cta, target.address, Fault::kOutOfRange};
    }
    target.cta = ctas_[warp.cta].cluster * config_.cluster_size + rank;
  }
  if (target.address + 8 > config_.shared_bytes) {
    target.fault = Fault::kOutOfRange;
  } else if (target.address % 8 != 0) {
    target.fault = Fault::kMisaligned;
  } else if (ctas_[target.cta].exited) {
    target.fault = Fault::kExitedCta;
  }
  return target;
}

void Gpu::wake_barrier(std::uint32_t cta_slot, std::uint32_t number) {
  Cta& cta = ctas_[cta_slot];
  std::uint64_t waiters = cta.waiters[number];
  cta.waiters[number] = 0;
  const Slot base = cta_slot * config_.warps_per_cta;
  for (; waiters != 0; waiters &= waiters - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(waiters));
    ready_.insert(bit < 32 ? base + bit : static_cast<Slot>(warps_.size()) * 3 + base + bit - 32);
  }
}

// Applies arrivals and bytes to a barrier and fills in what became of it. `event.op` says which.
BarrierStep Gpu::apply_to_barrier(std::uint32_t cta_slot,
                                  std::uint32_t address,
                                  Event& event,
                                  std::uint32_t count,
                                  std::uint32_t bytes) {
  MbarrierState* bar = barrier_at(cta_slot, address);
  if (bar == nullptr) {
    return {Fault::kUninitialised, true, false};
  }
  event.phase = bar->phase();
  BarrierStep step;
  switch (event.op) {
    case Op::kMbarrierExpectTx:
      step = bar->expect_tx(bytes, config_.rules.expect_completes);
      break;
    case Op::kMbarrierArrive:
      if ((event.flags & event_flag::kDrop) != 0) {
        step = bar->arrive_drop(count);
      } else if ((event.flags & event_flag::kExpectTx) != 0) {
        step = bar->arrive_expect_tx(count, bytes);
      } else {
        step = bar->arrive(count, (event.flags & event_flag::kNoComplete) != 0);
      }
      break;
    case Op::kTcgen05Commit:
      step = bar->arrive(1, false);
      break;
    default:
      step = bar->complete_tx(bytes);
      break;
  }
  ++changes_;
  event.pending = bar->pending();
  event.tx = bar->tx();
  event.expected = bar->expected();
  if (step.completed) {
    event.flags |= event_flag::kPhaseCompleted;
    wake_barrier(cta_slot, barrier_number(address));
  }
  return step;
}

Gpu::Outcome Gpu::mbarrier_update(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  const Target target = resolve(warp, op);
  const bool remote = target.cta != warp.cta && target.fault == Fault::kNone;
  if (remote) {
    // A remote arrival is on its way for a while: an agent of its own.
    const Slot at = take_async();
    AsyncOp& async = async_[at - 4 * warps_.size()];
    async.operation = op;
    async.operation.address = target.address;
    async.warp = slot;
    async.cta = async.signal_cta = target.cta;
    ready_.insert(at);
    ++changes_;
    ++clusters_[ctas_[warp.cta].cluster].outstanding;
    ++warp.remote_arrivals;
    if (sink_ != nullptr) {
      emit(event_of(async, Step::kIssued));
    }
    return Outcome::kDone;
  }
  Event event = event_of(slot, op);
  event.address = target.address;
  event.cta = ctas_[target.cta].number;
  if (target.fault != Fault::kNone) {
    fail(event, target.fault, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.op == Op::kMbarrierInit || op.op == Op::kMbarrierInval) {
    const std::uint32_t number = barrier_number(target.address);
    Cta& cta = ctas_[target.cta];
    if (number >= cta.barriers.size()) {
      cta.barriers.resize(number + 1);
      cta.waiters.resize(number + 1, 0);
    }
    MbarrierState& bar = cta.barriers[number];
    ++changes_;
    if (op.op == Op::kMbarrierInit) {
      event.phase = bar.phase();
      event.wanted = bar.valid() && bar.idle() ? 1 : 0;
      const BarrierStep step = bar.init(op.count);
      fail(event, step.fault, false);
      wake_barrier(target.cta, number);  // who waits for the object that was there looks again
      event.expected = event.pending = op.count;
    } else if (!bar.valid()) {
      fail(event, Fault::kUninitialised, true);
    } else {
      event.fault = cta.waiters[number] != 0 || !bar.idle() ? Fault::kInUse : Fault::kNone;
      event.pending = bar.pending();
      event.tx = bar.tx();
      event.expected = bar.expected();
      bar.invalidate();
    }
    emit(event);
    return Outcome::kDone;
  }
  const std::uint32_t arrivals = op.count * op.lanes;
  const std::uint32_t bytes = op.bytes * op.lanes;
  event.count = arrivals;
  event.bytes = bytes;
  const BarrierStep step = apply_to_barrier(target.cta, target.address, event, arrivals, bytes);
  fail(event, step.fault, step.traps);
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::mbarrier_wait(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  const MbarrierState* bar = find_barrier(warp.cta, op.address);
  Event event = event_of(slot, op);
  if (bar == nullptr) {
    fail(event,
         op.address + 8 > config_.shared_bytes ? Fault::kOutOfRange  // of another CTA, or of none
         : op.address % 8 != 0                 ? Fault::kMisaligned
                                               : Fault::kUninitialised,
         true);
    emit(event);
    op.result = 0;
    return Outcome::kDone;
  }
  bool done = bar->done(op.wanted);
  if (config_.tries_fail && op.op == Op::kMbarrierTryWait) {
    const bool repeated =
        std::any_of(warp.refused.begin(), warp.refused.end(), [&](const RefusedTry& before) {
          return before.address == op.address && before.wanted == op.wanted &&
                 before.line == op.site.line;
        });
    if (repeated) {
      Operation blocking = op;
      blocking.op = Op::kMbarrierWait;
      const Outcome outcome = mbarrier_wait(slot, blocking);
      op.result = blocking.result;
      return outcome;
    }
    // Of a bare parity the phase that it names now.
    const bool exact = (op.flags & event_flag::kExactPhase) != 0;
    const std::uint32_t phase = exact ? op.wanted : bar->phase() - 1;
    const bool certain =
        done && (phase == ~0U ||
                 (try_judge_ != nullptr &&
                  try_judge_->certain(warp.number, ctas_[warp.cta].number, op.address, phase)));
    if (!certain && opens(warp)) {
      if (!done) {
        ctas_[warp.cta].waiters[barrier_number(op.address)] |= std::uint64_t{1} << warp.index;
        return block(slot, op);
      }
      ++warp.open_tries;
    } else if (!certain) {
      done = false;
      ++warp.open_tries;
      warp.refused.push_back({op.address, op.wanted, op.site.line});
    }
  }
  if (!done && op.op == Op::kMbarrierWait) {
    ctas_[warp.cta].waiters[barrier_number(op.address)] |= std::uint64_t{1} << warp.index;
    return block(slot, op);
  }
  op.result = done ? 1 : 0;
  if (sink_ != nullptr) {
    event.phase = bar->phase();
    event.pending = bar->pending();
    event.tx = bar->tx();
    event.expected = bar->expected();
    event.flags |= done ? 0 : event_flag::kFalse;
    if ((op.flags & event_flag::kExactPhase) == 0 && op.wanted > 1) {
      event.fault = Fault::kBadParity;
    }
    emit(event);
  }
  if (done) {
    std::erase_if(warp.refused,
                  [&](const RefusedTry& before) { return before.address == op.address; });
  }
  if (op.op == Op::kMbarrierWait) {
    ++changes_;
    if (op.lanes == kWarpLanes) {
      warp.debt = LateWait{op.address, op.wanted & 1U, op.wanted, op.flags, op.site};
    }
  }
  return Outcome::kDone;
}

// Whether the warp's next open try is one of those that wait.
bool Gpu::opens(const Warp& warp) const {
  return std::find(config_.tries_pass.begin(),
                   config_.tries_pass.end(),
                   OpenTry{warp.number, warp.open_tries}) != config_.tries_pass.end();
}

void Gpu::advance_late(std::uint32_t index) {
  Warp& warp = warps_[index];
  const LateWait wait = warp.late.front();
  const Slot self = static_cast<Slot>(warps_.size()) * 3 + index;
  const MbarrierState* bar = find_barrier(warp.cta, wait.address);
  if (bar != nullptr && !bar->done(wait.parity)) {
    ctas_[warp.cta].waiters[barrier_number(wait.address)] |= std::uint64_t{1} << (32 + warp.index);
    ready_.erase(self);
    return;
  }
  ++changes_;
  if (sink_ != nullptr && bar != nullptr) {
    Operation op;
    op.op = Op::kMbarrierWait;
    op.lanes = kWarpLanes - 1;
    op.flags = wait.flags | event_flag::kLateLanes;
    op.address = wait.address;
    op.wanted = wait.wanted;
    op.site = wait.site;
    Event event = event_of(index, op);
    event.phase = bar->phase();
    event.pending = bar->pending();
    event.tx = bar->tx();
    event.expected = bar->expected();
    emit(event);
  }
  warp.late.pop_front();
  if (warp.late.empty()) {
    ready_.erase(self);
    if (warp.status == WarpStatus::kBlocked) {
      ready_.insert(index);
    }
  }
}

// --- Named and cluster barriers ---------------------------------------------------------------

void Gpu::release_named(Cta& cta, std::uint32_t base, NamedBarrierState& barrier) {
  (void)cta;
  ++barrier.generation;
  for (std::uint32_t waiting = barrier.waiting; waiting != 0; waiting &= waiting - 1) {
    ready_.insert(base + static_cast<std::uint32_t>(std::countr_zero(waiting)));
  }
  barrier.threads = barrier.arrived = barrier.warps = barrier.waiting = 0;
  barrier.all_threads = false;
}

Gpu::Outcome Gpu::named_barrier(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  if (op.address >= kNamedBarriers) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  NamedBarrierState& barrier = cta.named[op.address];
  if (warp.in_named_barrier) {
    if (barrier.generation == warp.named_generation) {
      return block(slot, op);
    }
    warp.in_named_barrier = false;
    ++changes_;
    event.phase = warp.named_generation;
    event.pending = 1;  // this is the return of a sync whose arrival had its own event
    emit(event);
    return Outcome::kDone;
  }
  const std::uint32_t threads = op.count == 0 ? cta.live_warps * kWarpLanes : op.count;
  if (threads % kWarpLanes != 0 || threads > config_.warps_per_cta * kWarpLanes ||
      (op.count == 0 && op.op == Op::kBarArrive)) {
    fail(event, Fault::kBadCount, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.lanes != kWarpLanes) {
    event.fault = Fault::kNotWholeWarp;
  } else if (barrier.threads != 0 && barrier.threads != threads) {
    event.fault = Fault::kCountMismatch;
  } else if ((barrier.warps >> warp.index & 1U) != 0) {
    event.fault = Fault::kDoubleArrive;
  }
  if (barrier.threads == 0) {
    barrier.threads = threads;
    barrier.all_threads = op.count == 0;
  }
  barrier.warps |= 1U << warp.index;
  barrier.arrived += kWarpLanes;
  ++changes_;
  if (config_.rules.named_exit_releases) {
    barrier.threads = std::min(barrier.threads, cta.live_warps * kWarpLanes);
  }
  event.phase = barrier.generation;
  event.count = barrier.threads;
  event.wanted = op.count == 0 ? 1 : 0;
  const bool complete = barrier.arrived >= barrier.threads;
  event.flags |= complete ? event_flag::kPhaseCompleted : 0;
  event.step = op.op == Op::kBarSync && !complete ? Step::kIssued : Step::kDone;
  emit(event);
  if (complete) {
    release_named(cta, slot - warp.index, barrier);
    return Outcome::kDone;
  }
  if (op.op == Op::kBarArrive) {
    return Outcome::kDone;
  }
  warp.in_named_barrier = true;
  warp.named_generation = barrier.generation;
  barrier.waiting |= 1U << warp.index;
  return block(slot, op);
}

std::uint32_t Gpu::live_warps_of(const Cluster&, std::uint32_t slot) const {
  std::uint32_t live = 0;
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    live += ctas_[slot * config_.cluster_size + rank].live_warps;
  }
  return live;
}

void Gpu::release_cluster_if_complete(std::uint32_t slot) {
  Cluster& cluster = clusters_[slot];
  if (cluster.arrived == 0 || cluster.arrived < live_warps_of(cluster, slot)) {
    return;
  }
  cluster.arrived = 0;
  ++cluster.generation;
  const std::uint32_t warps = config_.cluster_size * config_.warps_per_cta;
  for (Slot warp = slot * warps; warp < (slot + 1) * warps; ++warp) {
    if (warps_[warp].status == WarpStatus::kBlocked &&
        warps_[warp].blocked_on.op == Op::kClusterWait) {
      ready_.insert(warp);
    }
  }
}

Gpu::Outcome Gpu::cluster_barrier(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  const std::uint32_t cluster_slot = ctas_[warp.cta].cluster;
  Cluster& cluster = clusters_[cluster_slot];
  Event event = event_of(slot, op);
  event.phase = cluster.generation;
  if (op.op == Op::kClusterArrive) {
    // A release: what the warp did before has been done, its arrivals on other CTAs' mbarriers too.
    // Copies and commits are asynchronous, and not covered.
    if (op.ordering.semantics != Semantics::kRelaxed && warp.remote_arrivals != 0) {
      return block(slot, op);
    }
    event.fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp
                  : warp.cluster_arrived && warp.cluster_generation == cluster.generation
                      ? Fault::kDoubleArrive
                      : Fault::kNone;
    warp.cluster_arrived = true;
    warp.cluster_generation = cluster.generation;
    ++cluster.arrived;
    ++changes_;
    emit(event);
    release_cluster_if_complete(cluster_slot);
    return Outcome::kDone;
  }
  if (!warp.cluster_arrived) {
    if (warp.status != WarpStatus::kBlocked) {
      event.fault = Fault::kNoArrive;
      emit(event);
    }
    return block(slot, op);
  }
  if (cluster.generation == warp.cluster_generation) {
    return block(slot, op);
  }
  event.fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp : Fault::kNone;
  event.phase = warp.cluster_generation;
  warp.cluster_arrived = false;
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

// --- Asynchronous agents ----------------------------------------------------------------------

Slot Gpu::take_async() {
  std::uint32_t index = 0;
  if (free_async_.empty()) {
    index = static_cast<std::uint32_t>(async_.size());
    async_.emplace_back();
    ready_.resize(static_cast<Slot>(warps_.size()) * 4 + index + 1);
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
  return static_cast<Slot>(warps_.size()) * 4 + index;
}

void Gpu::finish_async(Slot slot) {
  const auto index = slot - static_cast<Slot>(warps_.size()) * 4;
  async_[index].live = false;
  async_[index].operation.fragment.reset();
  free_async_.push_back(index);
  ready_.erase(slot);
}

void Gpu::advance(Slot slot) {
  const auto warps = static_cast<Slot>(warps_.size());
  ++operations_;
  switch (slot / warps) {
    case 1:
      advance_tensor(slot - warps);
      return;
    case 2:
      advance_tmem(slot - 2 * warps);
      return;
    case 3:
      advance_late(slot - 3 * warps);
      return;
    default:
      advance_copy(async_[slot - 4 * warps], slot);
  }
}

// Which bytes of global memory a copy touches: its box, as far as it lies in the tensor. A
// rectangle for each place in the dimensions beyond the second.
std::vector<Gpu::Rectangle> Gpu::global_pieces(const Operation& op) const {
  if (op.op == Op::kBulkLoad || op.op == Op::kBulkStore) {
    return {{op.global, 1, op.bytes, op.bytes}};
  }
  const TensorMapState& map = memory_.maps[op.map];
  std::array<std::int64_t, TensorMapState::kRankMax> first{};
  std::array<std::int64_t, TensorMapState::kRankMax> last{};
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::int64_t step = map.step[i];
    const std::int64_t below = op.at[i] < 0 ? (-std::int64_t{op.at[i]} + step - 1) / step : 0;
    first[i] = op.at[i] + below * step;
    last[i] = std::min<std::int64_t>(op.at[i] + map.box[i] * step, map.extent[i]);
    if (first[i] >= last[i]) {
      return {};
    }
  }
  const std::int64_t rows =
      map.rank == 1 ? 1 : (last[1] - first[1] + map.step[1] - 1) / map.step[1];
  const std::uint64_t pitch = map.rank == 1 ? 0 : map.stride_bytes[1] * map.step[1];
  std::vector<Rectangle> pieces;
  std::array<std::int64_t, TensorMapState::kRankMax> at = first;
  for (;;) {
    std::uint64_t address = map.address;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      address +=
          static_cast<std::uint64_t>(at[i]) * (i == 0 ? map.element_bytes : map.stride_bytes[i]);
    }
    pieces.push_back({address,
                      static_cast<std::uint32_t>(rows),
                      static_cast<std::uint32_t>(pitch),
                      static_cast<std::uint32_t>((last[0] - first[0]) * map.element_bytes)});
    std::uint32_t dimension = 2;
    while (dimension < map.rank && (at[dimension] += map.step[dimension]) >= last[dimension]) {
      at[dimension] = first[dimension];
      ++dimension;
    }
    if (dimension >= map.rank) {
      return pieces;
    }
  }
}

// As many coordinates as the tensor has dimensions; a store begins inside.
bool Gpu::coordinates_fit(const Operation& op) const {
  const bool store = op.op == Op::kTensorStore;
  bool negative = false;
  for (std::uint32_t i = 0; i < op.rank; ++i) {
    negative = negative || op.at[i] < 0;
  }
  return op.rank == memory_.maps[op.map].rank && !(store && negative);
}

bool Gpu::targets_exited_cta(const Warp& warp, CtaMask mask) const {
  const std::uint32_t first = ctas_[warp.cta].cluster * config_.cluster_size;
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    if (mask.contains(rank) && ctas_[first + rank].exited) {
      return true;
    }
  }
  return false;
}

Gpu::Outcome Gpu::issue_copy(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Operation copy = op;
  Event event = event_of(slot, op);
  const bool load = op.op == Op::kTensorLoad || op.op == Op::kBulkLoad;
  const bool tensor = op.op == Op::kTensorLoad || op.op == Op::kTensorStore;
  if (tensor) {
    copy.bytes = op.map < memory_.maps.size() ? memory_.maps[op.map].box_bytes() : 0;
    copy.swizzle = op.map < memory_.maps.size() ? memory_.maps[op.map].swizzle : Swizzle::kNone;
    event.bytes = copy.bytes;
  }
  const std::uint32_t alignment = tensor ? 128 : 16;
  if (op.address % alignment != 0) {
    fail(event, Fault::kMisaligned, true);
  } else if (op.address + copy.bytes > config_.shared_bytes ||
             (!tensor && !memory_.in_range(op.global, copy.bytes)) ||
             (tensor && op.map >= memory_.maps.size())) {
    fail(event, Fault::kOutOfRange, true);
  } else if (copy.bytes % 16 != 0) {
    fail(event, Fault::kBadCount, true);
  } else if (op.mask.bits >> config_.cluster_size != 0) {
    fail(event, Fault::kBadMask, true);
  } else if (tensor && !coordinates_fit(op)) {
    fail(event, Fault::kBadShape, true);
  } else if (load && targets_exited_cta(warp, op.mask)) {
    fail(event, Fault::kExitedCta, true);
  }
  if ((event.flags & event_flag::kTraps) != 0) {
    emit(event);
    return Outcome::kDone;
  }
  const std::uint32_t first_cta = ctas_[warp.cta].cluster * config_.cluster_size;
  const auto add = [&](std::uint32_t cta, std::uint32_t signal) {
    const Slot at = take_async();
    AsyncOp& async = async_[at - 4 * warps_.size()];
    async.operation = copy;
    async.warp = slot;
    async.cta = cta;
    async.signal_cta = signal;
    if (!load) {
      async.group = warp.bulk_group;
      BulkGroup& group = warp.groups.back();
      ++group.unread;
      ++group.unwritten;
      warp.store_lanes |= 1U << op.lane;
    }
    ready_.insert(at);
    ++clusters_[ctas_[warp.cta].cluster].outstanding;
    if (sink_ != nullptr) {
      Event issued = event_of(async, Step::kIssued);
      issued.fault = event.fault;
      const std::vector<Rectangle> pieces = global_pieces(copy);
      const auto describe = [](Event& of, const Rectangle& piece) {
        of.global = piece.address;
        of.pending = piece.rows;
        of.expected = piece.pitch;
        of.tx = static_cast<std::int32_t>(piece.width);
      };
      if (!pieces.empty()) {
        describe(issued, pieces.front());
      }
      if (tensor) {
        const TensorMapState& map = memory_.maps[op.map];
        issued.wanted = static_cast<std::uint32_t>(map.swizzle);
        issued.phase = op.map;
        issued.flags |= map.rank == 2 && map.step[1] == 1 ? event_flag::kMatrix : 0;
        issued.count = load ? map.box[0] * map.element_bytes : issued.count;
      }
      emit(issued);
      for (std::size_t i = 1; i < pieces.size(); ++i) {
        issued.step = Step::kTouched;
        describe(issued, pieces[i]);
        emit(issued);
      }
    }
  };
  ++changes_;
  if (!load || op.mask.bits == 0) {
    const bool leader = load && op.group == CtaGroup::kTwo;
    add(warp.cta, leader ? first_cta + (ctas_[warp.cta].rank & ~1U) : warp.cta);
    return Outcome::kDone;
  }
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    if (op.mask.contains(rank)) {
      add(first_cta + rank, first_cta + (op.group == CtaGroup::kTwo ? rank & ~1U : rank));
    }
  }
  return Outcome::kDone;
}

void Gpu::land_load(AsyncOp& async) {
  const Operation& op = async.operation;
  Cta& cta = ctas_[async.cta];
  Event event = event_of(async, Step::kWritten);
  if (cta.exited || ctas_[async.signal_cta].exited) {
    fail(event, Fault::kExitedCta, true);
    emit(event);
    return;
  }
  if (!config_.moves_data) {
    load_control(op, cta);
  } else if (op.op == Op::kTensorLoad) {
    copy_box_to_shared(
        memory_, memory_.maps[op.map], op.at, cta.shared.data() + op.address, op.address);
  } else if (const std::byte* source = memory_.at(op.global, op.bytes)) {
    std::memcpy(cta.shared.data() + op.address, source, op.bytes);
  }
  const BarrierStep step =
      apply_to_barrier(async.signal_cta, op.peer, event, 0, op.bytes - async.counted);
  fail(event, step.fault, step.traps);
  emit(event);
}

// --- Where no data moves: which words are control, and which are data that is not there ----------

// Words of [begin, end) of the CTA's shared memory are data that was not moved, or are not.
void Gpu::set_unknown(Cta& cta, std::uint32_t begin, std::uint32_t end, bool unknown) {
  if (!cta.unknown.empty()) {
    const auto last = std::min<std::size_t>((std::size_t{end} + 3) / 4, cta.unknown.size());
    std::fill(cta.unknown.begin() + static_cast<std::ptrdiff_t>(begin / 4),
              cta.unknown.begin() + static_cast<std::ptrdiff_t>(last),
              unknown);
  }
}

// A bulk copy of control words brings them; any other brings data.
void Gpu::load_control(const Operation& op, Cta& cta) {
  set_unknown(cta, op.address, op.address + op.bytes, true);
  const std::byte* source = op.op == Op::kBulkLoad ? memory_.at(op.global, op.bytes) : nullptr;
  if (source == nullptr) {
    return;
  }
  std::memcpy(cta.shared.data() + op.address, source, op.bytes);
  for (std::uint32_t at = 0; at < op.bytes; at += 4) {
    set_unknown(cta, op.address + at, op.address + at + 4, memory_.unknown(op.global + at));
  }
}

// What a store leaves of control words in global memory: words that are known where it is a bulk
// store, else data.
void Gpu::store_control(const AsyncOp& async) {
  const Operation& op = async.operation;
  if (op.op == Op::kTensorStore) {
    const TensorMapState& map = memory_.maps[op.map];
    memory_.set_unknown(map.address, map.span_bytes(), true);
    return;
  }
  std::byte* target = memory_.at(op.global, op.bytes);
  if (target == nullptr) {
    return;
  }
  const Cta& cta = ctas_[async.cta];
  std::memcpy(target, async.staging.data(), op.bytes);
  for (std::uint32_t at = 0; at < op.bytes; at += 4) {
    memory_.set_unknown(op.global + at, 4, cta.unknown[(op.address + at) / 4]);
  }
}

// What a word of data reads as that is not there.
std::uint32_t Gpu::unknown_word(std::uint64_t address) {
  read_unknown_ = true;
  constexpr std::uint64_t kScramble = 0x9E3779B97F4A7C15U;
  switch (config_.rules.unknown_data) {
    case UnknownData::kOnes:
      return ~std::uint32_t{0};
    case UnknownData::kMixed:
      return static_cast<std::uint32_t>((address + 1) * kScramble >> 32);
    case UnknownData::kZero:
      break;
  }
  return 0;
}

// ------------------------------------------------------------------------------------------------

// Where copies count their bytes in several steps: the next one, unless it is the last.
bool Gpu::count_part(AsyncOp& async) {
  const Operation& op = async.operation;
  const std::uint32_t part = std::max(op.bytes / kTxChunks / 16 * 16, 16U);
  if (!config_.rules.tx_in_chunks || async.counted + part >= op.bytes || ctas_[async.cta].exited ||
      ctas_[async.signal_cta].exited) {
    return false;
  }
  Event event = event_of(async, Step::kCounted);
  event.bytes = part;
  const BarrierStep step = apply_to_barrier(async.signal_cta, op.peer, event, 0, part);
  async.counted += part;
  fail(event, step.fault, step.traps);
  emit(event);
  return true;
}

void Gpu::finish_store(AsyncOp& async) {
  const Operation& op = async.operation;
  Warp& warp = warps_[async.warp];
  BulkGroup& group = warp.groups[async.group - warp.bulk_first];
  Event event = event_of(async, async.read ? Step::kWritten : Step::kRead);
  if (!async.read) {
    if (ctas_[async.cta].exited) {
      event.fault = Fault::kExitedCta;
    }
    if (config_.moves_data || op.op == Op::kBulkStore) {
      const std::byte* from = ctas_[async.cta].shared.data() + op.address;
      async.staging.assign(from, from + op.bytes);
    }
    --group.unread;
  } else {
    if (!config_.moves_data) {
      store_control(async);
    } else {
      if (op.op == Op::kTensorStore) {
        copy_box_to_global(memory_, memory_.maps[op.map], op.at, async.staging.data(), op.address);
      } else if (std::byte* target = memory_.at(op.global, op.bytes)) {
        std::memcpy(target, async.staging.data(), op.bytes);
      }
    }
    if (op.op == Op::kBulkStore) {
      wake_pollers(op.global, op.bytes);
    }
    --group.unwritten;
  }
  emit(event);
  if (warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kBulkWaitGroup) {
    ready_.insert(async.warp);
  }
}

void Gpu::advance_copy(AsyncOp& async, Slot slot) {
  ++changes_;
  const std::uint32_t cluster = ctas_[warps_[async.warp].cta].cluster;
  switch (async.operation.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      if (count_part(async)) {
        return;
      }
      land_load(async);
      break;
    case Op::kClcTryCancel:
      land_response(async);
      break;
    case Op::kTensorStore:
    case Op::kBulkStore:
      finish_store(async);
      if (!async.read) {
        async.read = true;
        return;
      }
      break;
    default:
      if (async.operation.op != Op::kTcgen05Commit) {
        Warp& warp = warps_[async.warp];
        --warp.remote_arrivals;
        if (warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kClusterArrive) {
          ready_.insert(async.warp);
        }
      }
      deferred_arrive(async, async.cta, async.operation.address);
      break;
  }
  finish_async(slot);
  --clusters_[cluster].outstanding;
  retire_cluster_if_done(cluster);
}

// An arrival that reaches its barrier later than it was issued: remote ones, and commits.
void Gpu::deferred_arrive(const AsyncOp& async, std::uint32_t cta, std::uint32_t address) {
  const Operation& op = async.operation;
  Event event = event_of(async, Step::kSignalled);
  event.cta = ctas_[cta].number;
  event.address = address;
  if (ctas_[cta].exited) {
    fail(event, Fault::kExitedCta, true);
    emit(event);
    return;
  }
  const bool commit = op.op == Op::kTcgen05Commit;
  event.count = commit ? 1 : op.count * op.lanes;
  event.bytes = commit ? 0 : op.bytes * op.lanes;
  const BarrierStep step = apply_to_barrier(cta, address, event, event.count, event.bytes);
  fail(event, step.fault, step.traps);
  emit(event);
}

Gpu::Outcome Gpu::bulk_groups(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  if (op.op == Op::kBulkCommitGroup) {
    Event event = event_of(slot, op);
    event.phase = static_cast<std::uint32_t>(warp.bulk_group);
    const std::uint32_t others = std::exchange(warp.store_lanes, 0U) & ~(1U << op.lane);
    event.fault = others != 0 ? Fault::kOtherLane : Fault::kNone;
    warp.committed_lanes |= 1U << op.lane;
    emit(event);
    ++warp.bulk_group;
    warp.groups.emplace_back();
    while (warp.groups.size() > 1 && warp.groups.front().unwritten == 0) {
      warp.groups.pop_front();
      ++warp.bulk_first;
    }
    ++changes_;
    return Outcome::kDone;
  }
  const bool read_only = (op.flags & event_flag::kRead) != 0;
  const std::uint64_t waited = warp.bulk_group > op.count ? warp.bulk_group - op.count : 0;
  for (std::uint64_t number = warp.bulk_first; number < waited; ++number) {
    const BulkGroup& group = warp.groups[number - warp.bulk_first];
    if ((read_only ? group.unread : group.unwritten) != 0) {
      return block(slot, op);
    }
  }
  ++changes_;
  Event event = event_of(slot, op);
  event.phase = static_cast<std::uint32_t>(waited);
  const std::uint32_t others = warp.committed_lanes & ~(1U << op.lane);
  event.fault = others != 0 ? Fault::kOtherLane : Fault::kNone;
  emit(event);
  return Outcome::kDone;
}

// --- Tensor memory ----------------------------------------------------------------------------

Gpu::Outcome Gpu::tmem_allocate(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
  } else if (!TensorMemory::legal_columns(op.count)) {
    fail(event, Fault::kBadCount, true);
  } else if (cta.tmem.relinquished()) {
    fail(event, Fault::kAfterRelinquish, true);
  } else if (op.address % 4 != 0 || op.address + 4 > config_.shared_bytes) {
    fail(event, Fault::kOutOfRange, true);
  }
  if ((event.flags & event_flag::kTraps) != 0) {
    emit(event);
    return Outcome::kDone;
  }
  // A pair that allocates together: neither CTA goes on before both have come, and both have
  // allocated.
  const bool pair =
      op.group == CtaGroup::kTwo && config_.rules.pair_alloc == PairMeeting::kTogether;
  if (pair && warp.pair_step == PairStep::kNone && !meet_peer(slot, PairStep::kMet)) {
    return block(slot, op);
  }
  if (warp.pair_step != PairStep::kAllocated) {
    const std::uint32_t base = cta.tmem.find_free(op.count);
    const bool free = cta.tmem_reserved || (tmem_is_free(warp.cta, op.count) &&
                                            (!pair || tmem_is_free(warp.cta ^ 1U, op.count)));
    if (base == kTmemColumns || !free) {
      cta.tmem_waiters |= 1U << warp.index;
      return block(slot, op);
    }
    if (cta.tmem.largest() != 0 && op.count > cta.tmem.largest()) {
      event.fault = Fault::kGrows;
    }
    cta.tmem.allocate(base, op.count);
    if (pair) {
      ctas_[warp.cta ^ 1U].tmem_reserved = !cta.tmem_reserved;
      cta.tmem_reserved = false;
    }
    std::memcpy(cta.shared.data() + op.address, &base, sizeof base);
    set_unknown(cta, op.address, op.address + 4, false);
    op.result = base;
    event.peer = base;
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
        ready_.insert(other * config_.warps_per_cta +
                      static_cast<std::uint32_t>(std::countr_zero(waiting)));
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
bool Gpu::meet_peer(Slot slot, PairStep next) {
  Warp& warp = warps_[slot];
  const Cta& cta = ctas_[warp.cta];
  Cluster& cluster = clusters_[cta.cluster];
  const std::uint32_t pair = cta.rank / 2;
  if (!warp.pair_waits) {
    warp.pair_waits = true;
    warp.pair_generation = cluster.pair_generation[pair];
    ++changes_;
    if (++cluster.pair_entered[pair] == 2) {
      cluster.pair_entered[pair] = 0;
      ++cluster.pair_generation[pair];
      const std::uint32_t warps = config_.cluster_size * config_.warps_per_cta;
      const Slot first = cta.cluster * warps;
      for (Slot other = first; other < first + warps; ++other) {
        if (warps_[other].pair_waits && warps_[other].status == WarpStatus::kBlocked) {
          ready_.insert(other);
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

Gpu::Outcome Gpu::tmem_free(Slot slot, const Operation& op) {
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
    event.fault = cta.tmem.deallocate(TmemAddress{op.address}.column(), op.count);
    emit(event);
    wake_allocators(warp.cta);
    const bool together = config_.rules.pair_dealloc == PairMeeting::kTogether;
    const bool pair = op.group == CtaGroup::kTwo && event.fault == Fault::kNone;
    warp.pair_step = pair && together ? PairStep::kFreed : PairStep::kNone;
  }
  if (warp.pair_step == PairStep::kFreed && !meet_peer(slot, PairStep::kNone)) {
    return block(slot, op);
  }
  return Outcome::kDone;
}

Fault Gpu::check_mma(const Operation& op, std::uint32_t cta, Event& event) const {
  const UmmaInstructionDescriptor instruction{op.instruction, static_cast<MmaKind>(op.kind)};
  const bool a_in_tmem = (op.flags & event_flag::kTmemA) != 0;
  const std::uint32_t ctas = ctas_in(op.group);
  event.count = d_columns(instruction, op.group);
  event.global = op.descriptor_a;
  event.extra = op.descriptor_b;
  event.wanted = op.instruction;
  event.phase = op.kind;
  event.pending = op.scale_a;
  event.expected = op.scale_b;
  const bool scaled = (op.flags & event_flag::kBlockScale) != 0;
  if (scaled != is_block_scaled(instruction.kind) ||
      (a_in_tmem && instruction.a_major() == Major::kMn)) {
    return Fault::kBadShape;
  }
  if (const Fault fault = check_shape(instruction, op.group); fault != Fault::kNone) {
    return fault;
  }
  const auto check_operand =
      [&](std::uint64_t bits, std::uint32_t rows, Major major, ElementType type) {
        const UmmaSmemDescriptor descriptor{bits};
        Fault fault = check_descriptor(descriptor);
        if (fault == Fault::kNone) {
          for_each_reach(descriptor, rows / ctas, major, type, [&](const OperandReach& reach) {
            fault = reach.end > config_.shared_bytes ? Fault::kBadDescriptor : fault;
          });
        }
        return fault;
      };
  Fault fault =
      a_in_tmem
          ? check_columns(op.group, cta, op.peer, kTmemAColumns)
          : check_operand(
                op.descriptor_a, instruction.m(), instruction.a_major(), instruction.a_type());
  if (fault == Fault::kNone) {
    fault = check_operand(
        op.descriptor_b, instruction.n(), instruction.b_major(), instruction.b_type());
  }
  if (fault == Fault::kNone && scaled) {
    fault = check_columns(op.group, cta, op.scale_a, scale_columns_a(instruction, op.group));
  }
  if (fault == Fault::kNone && scaled) {
    fault = check_columns(op.group, cta, op.scale_b, scale_columns_b(instruction));
  }
  return fault == Fault::kNone ? check_columns(op.group, cta, op.address, event.count) : fault;
}

// Columns of the CTA, or of both CTAs of its pair.
Fault Gpu::check_columns(CtaGroup group,
                         std::uint32_t cta,
                         std::uint32_t address,
                         std::uint32_t columns) const {
  const std::uint32_t column = TmemAddress{address}.column();
  const Fault own = ctas_[cta].tmem.check(column, columns);
  const bool pair = group == CtaGroup::kTwo && config_.cluster_size % 2 == 0;
  if (own != Fault::kNone || !pair) {
    return own;
  }
  const Cta& peer = ctas_[cta ^ 1U];
  return peer.exited ? Fault::kExitedCta : peer.tmem.check(column, columns);
}

Fault Gpu::check_cp(const Operation& op, std::uint32_t cta) const {
  const auto shape = static_cast<TmemCopy>(op.wanted);
  const Fault fault = check_descriptor({op.descriptor_a});
  if (fault != Fault::kNone || copy_reach({op.descriptor_a}, shape).end > config_.shared_bytes) {
    return Fault::kBadDescriptor;
  }
  return check_columns(op.group, cta, op.address, op.count);
}

Gpu::Outcome Gpu::issue_tensor(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  Fault fault = Fault::kNone;
  if (op.op == Op::kTcgen05Mma) {
    fault = check_mma(op, warp.cta, event);
  } else if (op.op == Op::kTcgen05Cp) {
    fault = check_cp(op, warp.cta);
    event.global = op.descriptor_a;
  } else if (op.address % 8 != 0 || op.address + 8 > config_.shared_bytes) {
    fault = Fault::kMisaligned;
  } else if (op.mask.bits >> config_.cluster_size != 0) {
    fault = Fault::kBadMask;
  } else if (targets_exited_cta(warp, op.mask)) {
    fault = Fault::kExitedCta;
  }
  if (fault == Fault::kNone && op.group == CtaGroup::kTwo) {
    fault = config_.cluster_size % 2 != 0 ? Fault::kOutOfRange
            : ctas_[warp.cta ^ 1U].exited ? Fault::kExitedCta
                                          : Fault::kNone;
  }
  if (fault != Fault::kNone) {
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.op != Op::kTcgen05Commit) {
    warp.tensor_lanes |= 1U << op.lane;
  } else if ((std::exchange(warp.tensor_lanes, 0U) & ~(1U << op.lane)) != 0) {
    event.fault = Fault::kOtherLane;
  }
  AsyncOp& async = append(warp.tensor_queue);
  async.operation = op;
  async.warp = slot;
  async.cta = async.signal_cta = warp.cta;
  async.serial = ++serial_;
  if (op.op != Op::kTcgen05Commit) {
    async.operation.global = op.descriptor_a;
  }
  if (op.op == Op::kTcgen05Mma) {
    async.operation.count = event.count;
  }
  event.step = Step::kIssued;
  event.serial = async.serial;
  emit(event);
  ++changes_;
  ++clusters_[ctas_[warp.cta].cluster].outstanding;
  ready_.insert(static_cast<Slot>(warps_.size()) + slot);
  return Outcome::kDone;
}

void Gpu::execute_mma(const AsyncOp& async) {
  const Operation& op = async.operation;
  MmaOperands operands;
  operands.group = op.group;
  operands.instruction = {op.instruction, static_cast<MmaKind>(op.kind)};
  operands.d_address = {op.address};
  operands.accumulate = (op.flags & event_flag::kAccumulate) != 0;
  const std::uint32_t first = op.group == CtaGroup::kTwo ? async.cta & ~1U : async.cta;
  for (std::uint32_t i = 0; i < ctas_in(op.group); ++i) {
    operands.a[i] = {shared_of(first + i), config_.shared_bytes, {op.descriptor_a}};
    operands.b[i] = {shared_of(first + i), config_.shared_bytes, {op.descriptor_b}};
    operands.d[i] = &ctas_[first + i].tmem;
  }
  operands.a_in_tmem = (op.flags & event_flag::kTmemA) != 0;
  operands.a_address = {op.peer};
  operands.scale_a = {op.scale_a};
  operands.scale_b = {op.scale_b};
  multiply(operands);
}

void Gpu::execute_cp(const AsyncOp& async) {
  const Operation& op = async.operation;
  const std::uint32_t first = op.group == CtaGroup::kTwo ? async.cta & ~1U : async.cta;
  for (std::uint32_t i = 0; i < ctas_in(op.group); ++i) {
    copy_to_tmem({shared_of(first + i), config_.shared_bytes, {op.descriptor_a}},
                 static_cast<TmemCopy>(op.wanted),
                 ctas_[first + i].tmem,
                 {op.address});
  }
}

void Gpu::advance_tensor(std::uint32_t index) {
  Warp& warp = warps_[index];
  const AsyncOp& async = warp.tensor_queue.front();
  const std::uint32_t cluster = ctas_[warp.cta].cluster;
  const Operation& op = async.operation;
  ++changes_;
  if (op.op == Op::kWgmma) {
    finish_wgmma(index);
  } else if (op.op != Op::kTcgen05Commit) {
    if (config_.moves_data) {
      op.op == Op::kTcgen05Mma ? execute_mma(async) : execute_cp(async);
    }
    if (sink_ != nullptr) {
      Event event = event_of(async, Step::kWritten);
      event.extra = op.descriptor_b;
      emit(event);
    }
  } else if (op.mask.bits == 0) {
    deferred_arrive(async, async.cta, op.address);
  } else {
    for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
      if (op.mask.contains(rank)) {
        const Slot at = take_async();
        AsyncOp& arrival = async_[at - 4 * warps_.size()];
        arrival = async;  // the same commit, on its way to one of its CTAs
        arrival.live = true;
        arrival.cta = arrival.signal_cta = cluster * config_.cluster_size + rank;
        ++clusters_[cluster].outstanding;
        ready_.insert(at);
      }
    }
  }
  warp.tensor_queue.pop_front();
  if (warp.tensor_queue.empty()) {
    ready_.erase(static_cast<Slot>(warps_.size()) + index);
  }
  --clusters_[cluster].outstanding;
  retire_cluster_if_done(cluster);
}

Gpu::Outcome Gpu::issue_tmem(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  const TmemAddress at{op.address};
  event.fault = ctas_[warp.cta].tmem.check(at.column(), op.count);
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
  } else if (event.fault == Fault::kOutOfRange) {
    fail(event, event.fault, true);
  } else if (at.lane() != warp.index % 4 * kWarpLanes) {
    fail(event, Fault::kLaneSlice, true);
  }
  event.bytes = at.lane();
  event.wanted = op.half_rows ? kWarpLanes / 2 : 0;
  if ((event.flags & event_flag::kTraps) != 0) {
    emit(event);
    return Outcome::kDone;
  }
  AsyncOp& async = append(warp.tmem_queue);
  async.operation = op;
  async.operation.bytes = at.lane();
  async.warp = slot;
  async.cta = async.signal_cta = warp.cta;
  async.serial = ++serial_;
  event.step = Step::kIssued;
  event.serial = async.serial;
  emit(event);
  ++changes_;
  ++clusters_[ctas_[warp.cta].cluster].outstanding;
  ready_.insert(static_cast<Slot>(warps_.size()) * 2 + slot);
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
    const TmemAddress at{op.address};
    const std::uint32_t rows = op.half_rows ? kWarpLanes / 2 : kWarpLanes;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      std::uint32_t* cells =
          tmem.lane(at.lane() + lane % rows) + at.column() + lane / rows * data.registers;
      std::uint32_t* registers = &data.bits[std::size_t{lane} * data.registers];
      if (op.op == Op::kTcgen05Ld) {
        std::copy_n(cells, data.registers, registers);
      } else {
        std::copy_n(registers, data.registers, cells);
      }
    }
  }
  if (sink_ != nullptr) {
    emit(event_of(async, op.op == Op::kTcgen05Ld ? Step::kRead : Step::kWritten));
  }
  warp.tmem_queue.pop_front();
  if (warp.tmem_queue.empty()) {
    ready_.erase(static_cast<Slot>(warps_.size()) * 2 + index);
    if (warp.status == WarpStatus::kBlocked &&
        (warp.blocked_on.op == Op::kTcgen05WaitLd || warp.blocked_on.op == Op::kTcgen05WaitSt)) {
      ready_.insert(index);
    }
  }
  const std::uint32_t cluster = ctas_[warp.cta].cluster;
  --clusters_[cluster].outstanding;
  retire_cluster_if_done(cluster);
}

Gpu::Outcome Gpu::tmem_wait(Slot slot, const Operation& op) {
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
  event.fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp : Fault::kNone;
  emit(event);
  return Outcome::kDone;
}

// --- The MMA of a warpgroup -------------------------------------------------------------------

Fault Gpu::check_wgmma(Slot slot, const Operation& op) const {
  const Warp& warp = warps_[slot];
  const UmmaInstructionDescriptor instruction{op.instruction, static_cast<MmaKind>(op.kind)};
  const std::uint32_t n = instruction.n();
  if (warp.index / kWarpsPerWarpgroup * kWarpsPerWarpgroup + kWarpsPerWarpgroup >
      config_.warps_per_cta) {
    return Fault::kNotWarpgroup;
  }
  if (n < 8 || n > 256 || n % 8 != 0) {
    return Fault::kBadShape;
  }
  const auto fits = [&](std::uint64_t descriptor, std::uint32_t rows) {
    return check_descriptor({descriptor}) == Fault::kNone &&
           reach_of({descriptor}, rows).end <= config_.shared_bytes;
  };
  return fits(op.descriptor_a, kWgmmaRows) && fits(op.descriptor_b, n) ? Fault::kNone
                                                                       : Fault::kBadDescriptor;
}

// Whether a warp of the warpgroup has ended without a wgmma that another one has issued, or will
// with `slot`'s end.
bool Gpu::leaves_warpgroup(Slot slot) const {
  const Slot first = warpgroup_of(slot);
  for (const FormingWgmma& forming : warps_[first].wgmma_forming) {
    for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
      const bool has_issued = (forming.warps >> i & 1U) != 0;
      if (!has_issued && warps_[first + i].status == WarpStatus::kDone) {
        return true;
      }
    }
  }
  return false;
}

// The k-th of a warpgroup is on its way when all four warps have issued it.
Gpu::Outcome Gpu::issue_wgmma(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.global = op.descriptor_a;
  event.extra = op.descriptor_b;
  event.wanted = op.instruction;
  event.phase = op.kind;
  event.pending = warp.wgmma_issued;
  const Fault fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp : check_wgmma(slot, op);
  if (fault != Fault::kNone) {
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  const Slot first = warpgroup_of(slot);
  Warp& leader = warps_[first];
  const std::uint32_t place = warp.wgmma_issued++ - leader.wgmma_begun;
  if (place == leader.wgmma_forming.size()) {
    FormingWgmma& forming = leader.wgmma_forming.emplace_back();
    forming.async.operation = op;
    forming.async.operation.fragment = nullptr;
    forming.async.operation.global = op.descriptor_a;
    forming.async.operation.wanted = op.instruction;
    forming.async.warp = first;
    forming.async.cta = forming.async.signal_cta = warp.cta;
    forming.async.serial = ++serial_;
    forming.async.accumulators = std::make_shared<WarpgroupRegisters>();
  }
  FormingWgmma& forming = leader.wgmma_forming[place];
  const Operation& agreed = forming.async.operation;
  FragmentData& d = *op.fragment;
  if (agreed.descriptor_a != op.descriptor_a || agreed.descriptor_b != op.descriptor_b ||
      agreed.instruction != op.instruction || agreed.kind != op.kind || agreed.flags != op.flags) {
    event.fault = Fault::kNotWarpgroup;
  } else if (std::exchange(d.touched_early, false)) {
    event.fault = Fault::kUnwaited;
  } else if (warp.wgmma_fenced == 0 || d.touched > warp.wgmma_fenced) {
    event.fault = Fault::kNoFence;
  }
  forming.warps |= 1U << warp.index % kWarpsPerWarpgroup;
  (*forming.async.accumulators)[warp.index % kWarpsPerWarpgroup] = op.fragment;
  d.settled = false;
  d.last_wgmma = warp.wgmma_issued;
  event.step = Step::kIssued;
  event.serial = forming.async.serial;
  event.expected = static_cast<std::uint32_t>(std::popcount(forming.warps));
  if (leaves_warpgroup(slot)) {
    event.fault = Fault::kNotWarpgroup;
  }
  emit(event);
  ++changes_;
  // Fewer have issued a later one, so this is the first.
  if (event.expected == kWarpsPerWarpgroup) {
    append(leader.tensor_queue) = std::move(forming.async);
    leader.wgmma_forming.pop_front();
    ++leader.wgmma_begun;
    op.result = 1;
    ++clusters_[ctas_[warp.cta].cluster].outstanding;
    ready_.insert(static_cast<Slot>(warps_.size()) + first);
  }
  return Outcome::kDone;
}

void Gpu::finish_wgmma(std::uint32_t index) {
  Warp& leader = warps_[index];
  const AsyncOp& async = leader.tensor_queue.front();
  const Operation& op = async.operation;
  if (config_.moves_data) {
    WgmmaOperands operands;
    operands.instruction = {op.instruction, static_cast<MmaKind>(op.kind)};
    operands.a = {shared_of(async.cta), config_.shared_bytes, {op.descriptor_a}};
    operands.b = {shared_of(async.cta), config_.shared_bytes, {op.descriptor_b}};
    for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
      operands.d[i] = (*async.accumulators)[i]->bits.data();
    }
    operands.accumulate = (op.flags & event_flag::kAccumulate) != 0;
    multiply(operands);
  }
  if (sink_ != nullptr) {
    Event event = event_of(async, Step::kWritten);
    event.extra = op.descriptor_b;
    event.phase = op.kind;
    event.pending = leader.wgmma_done;
    event.expected = kWarpsPerWarpgroup;
    emit(event);
  }
  ++leader.wgmma_done;
  for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
    const Warp& warp = warps_[index + i];
    if (warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kWgmmaWait &&
        wgmmas_to_wait_for(warp, warp.blocked_on.count) <= leader.wgmma_done) {
      ready_.insert(index + i);
    }
  }
}

// How many wgmmas of the warp must be over for at most `pending` groups to be under way.
std::uint32_t Gpu::wgmmas_to_wait_for(const Warp& warp, std::uint32_t pending) const {
  const std::size_t groups = warp.wgmma_groups.size();
  return groups <= pending ? 0 : warp.wgmma_groups[groups - pending - 1];
}

Gpu::Outcome Gpu::wgmma_groups(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  const Warp& leader = warps_[warpgroup_of(slot)];
  Event event = event_of(slot, op);
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.op == Op::kWgmmaFence) {
    warp.wgmma_fenced = op.global;
    event.global = 0;
  } else if (op.op == Op::kWgmmaCommit) {
    event.phase = warp.wgmma_group++;
    event.pending = warp.wgmma_issued;
    warp.wgmma_groups.push_back(warp.wgmma_issued);
  } else {
    const std::uint32_t wanted = wgmmas_to_wait_for(warp, op.count);
    if (wanted > leader.wgmma_done) {
      return block(slot, op);
    }
    while (warp.wgmma_groups.size() > op.count) {
      warp.wgmma_over = std::max(warp.wgmma_over, warp.wgmma_groups.front());
      warp.wgmma_groups.pop_front();
    }
    event.pending = warp.wgmma_over;
    if (op.fragment != nullptr) {
      event.fault =
          std::exchange(op.fragment->touched_early, false) ? Fault::kUnwaited : Fault::kNone;
      op.fragment->settled = op.fragment->last_wgmma <= warp.wgmma_over;
    }
  }
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

// --- Cluster launch control -------------------------------------------------------------------

// Who asks first gets the next cluster; the response is on its way to each CTA by itself.
Gpu::Outcome Gpu::clc_request(Slot slot, const Operation& op) {
  const Warp& warp = warps_[slot];
  const std::uint32_t first = ctas_[warp.cta].cluster * config_.cluster_size;
  Event event = event_of(slot, op);
  const CtaMask to =
      op.mask.bits != 0 ? op.mask : CtaMask{static_cast<std::uint16_t>(1U << ctas_[warp.cta].rank)};
  Fault fault = Fault::kNone;
  if (op.address % kClcResponseBytes != 0) {
    fault = Fault::kMisaligned;
  } else if (op.address + kClcResponseBytes > config_.shared_bytes) {
    fault = Fault::kOutOfRange;
  }
  if (fault == Fault::kNone && targets_exited_cta(warp, to)) {
    fault = Fault::kExitedCta;
  }
  if (fault != Fault::kNone) {
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  const bool early = config_.rules.clc_fails_early && clc_requests_++ % 2 != 0;
  std::uint32_t got = 0;  // the cluster + 1
  if (!early && next_cluster_ < clusters_end_ && clc_successes_ < config_.clc_successes_max) {
    ++clc_successes_;
    got = config_.clc_from_the_end ? clusters_end_-- : ++next_cluster_;
  }
  ++changes_;
  for (std::uint32_t rank = 0; rank < config_.cluster_size; ++rank) {
    if (to.contains(rank)) {
      const Slot at = take_async();
      AsyncOp& async = async_[at - 4 * warps_.size()];
      async.operation = op;
      async.operation.wanted = got;
      async.warp = slot;
      async.cta = async.signal_cta = first + rank;
      ready_.insert(at);
      ++clusters_[ctas_[warp.cta].cluster].outstanding;
      emit(event_of(async, Step::kIssued));
    }
  }
  return Outcome::kDone;
}

void Gpu::land_response(AsyncOp& async) {
  const Operation& op = async.operation;
  Cta& cta = ctas_[async.cta];
  Event event = event_of(async, Step::kWritten);
  if (cta.exited) {
    fail(event, Fault::kExitedCta, true);
    emit(event);
    return;
  }
  const std::uint32_t first_cta = op.wanted == 0 ? 0 : (op.wanted - 1) * config_.cluster_size;
  const std::uint32_t words[4] = {op.wanted != 0 ? 1U : 0U, first_cta, 0, 0};
  std::memcpy(cta.shared.data() + op.address, words, sizeof words);
  set_unknown(cta, op.address, op.address + sizeof words, false);
  const BarrierStep step = apply_to_barrier(async.cta, op.peer, event, 0, op.bytes);
  fail(event, step.fault, step.traps);
  emit(event);
}

Gpu::Outcome Gpu::clc_query(Slot slot, Operation& op) {
  Event event = event_of(slot, op);
  event.bytes = kClcResponseBytes;
  if (op.address % kClcResponseBytes != 0 ||
      op.address + kClcResponseBytes > config_.shared_bytes) {
    fail(
        event, op.address % kClcResponseBytes != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  std::uint32_t words[4];
  std::memcpy(words, ctas_[warps_[slot].cta].shared.data() + op.address, sizeof words);
  op.result = event.wanted = words[op.count];
  if (op.count != 0 && words[0] == 0) {
    event.fault = Fault::kFailedResponse;
  }
  emit(event);
  return Outcome::kDone;
}

// --- Words, registers, exit -------------------------------------------------------------------

Gpu::Outcome Gpu::shared_word(Slot slot, Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.bytes = 4;
  if (op.address % 4 != 0 || op.address + 4 > config_.shared_bytes) {
    fail(event, op.address % 4 != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
  } else {
    if (find_barrier(warp.cta, op.address & ~7U) != nullptr) {
      event.fault = Fault::kOverlap;
    }
    Cta& cta = ctas_[warp.cta];
    std::byte* at = cta.shared.data() + op.address;
    if (op.op == Op::kSharedLoad) {
      std::memcpy(&op.result, at, 4);
      if (!cta.unknown.empty() && cta.unknown[op.address / 4]) {
        op.result = unknown_word(op.address);
      }
    } else {
      std::memcpy(at, &op.count, 4);
      set_unknown(cta, op.address, op.address + 4, false);
      ++changes_;
    }
  }
  emit(event);
  return Outcome::kDone;
}

namespace {

// The values of a warp's part of an accumulator that lie in the columns of the tile.
void store_accumulator(const Operation& op, std::byte* shared) {
  const std::uint32_t size = bytes_of(op.element);
  const std::uint32_t registers = op.fragment->registers;
  for (std::size_t i = 0; i < op.fragment->bits.size(); ++i) {
    const WgmmaCell cell = WgmmaCell::of(static_cast<std::uint32_t>(i / registers),
                                         static_cast<std::uint32_t>(i % registers));
    const std::uint32_t column = cell.column - op.column;  // of the tile; wraps before its first
    if (column < op.row_bytes / size) {
      const std::uint32_t linear = (op.row + cell.row) * op.row_bytes + column * size;
      const std::uint32_t bits = encode(op.element, std::bit_cast<float>(op.fragment->bits[i]));
      std::memcpy(shared + swizzled(op.address + linear, op.swizzle), &bits, size);
    }
  }
}

}  // namespace

Gpu::Outcome Gpu::shared_row(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.phase = op.row;
  event.wanted = op.column;
  event.peer = op.row_bytes;
  const std::uint32_t size = bytes_of(op.element);
  const std::uint32_t registers = op.fragment == nullptr ? 0 : op.fragment->registers;
  const std::uint32_t lines = op.half_rows ? kWarpLanes / 2 : kWarpLanes;  // of the lanes
  const std::uint32_t along = kWarpLanes / lines * registers;              // values of each
  event.count = op.by_columns ? along : lines;  // rows, and the bytes of each
  event.bytes = (op.by_columns ? lines : along) * size;
  if (op.of_accumulator) {
    event.wanted = 0;
    event.count = kWgmmaWarpRows;
    event.bytes = op.row_bytes;
  }
  event.expected = size;
  event.extra = static_cast<std::uint64_t>(op.swizzle);
  const std::uint32_t last = (op.row + event.count) * op.row_bytes;
  if (op.address + last > config_.shared_bytes) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  const bool load = op.op == Op::kSharedLoad;
  if (op.fragment != nullptr) {
    const Fault early = op.of_accumulator ? Fault::kUnwaited : Fault::kUnsettled;
    event.fault = load || op.fragment->settled ? Fault::kNone : early;
    op.fragment->settled = load || op.fragment->settled;
  }
  if (!config_.moves_data && !load) {
    set_unknown(ctas_[warp.cta],
                op.address + op.row * op.row_bytes,
                op.address + (op.row + event.count) * op.row_bytes,
                true);
  }
  if (config_.moves_data && op.of_accumulator) {
    store_accumulator(op, ctas_[warp.cta].shared.data());
  } else if (config_.moves_data && op.fragment != nullptr) {
    std::byte* shared = ctas_[warp.cta].shared.data();
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < registers; ++i) {
        std::uint32_t& cell = op.fragment->bits[std::size_t{lane} * registers + i];
        const std::uint32_t line = lane % lines;
        const std::uint32_t place = lane / lines * registers + i;
        const auto [down, right] = op.by_columns ? std::pair{place, line} : std::pair{line, place};
        const std::uint32_t linear = (op.row + down) * op.row_bytes + (op.column + right) * size;
        std::byte* at = shared + swizzled(op.address + linear, op.swizzle);
        std::uint32_t bits = 0;
        if (load) {
          std::memcpy(&bits, at, size);
          cell = std::bit_cast<std::uint32_t>(decode(op.element, bits));
        } else {
          bits = encode(op.element, std::bit_cast<float>(cell));
          std::memcpy(at, &bits, size);
        }
      }
    }
  }
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::global_load(Slot slot, Operation& op) {
  Event event = event_of(slot, op);
  event.bytes = 4;
  if (!memory_.in_range(op.global, 4) || op.global % 4 != 0) {
    fail(event, op.global % 4 != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
  } else if (const std::byte* at = memory_.at(op.global, 4);
             at != nullptr && !memory_.unknown(op.global)) {
    std::memcpy(&op.result, at, 4);
  } else {
    op.result = unknown_word(op.global);
  }
  emit(event);
  return Outcome::kDone;
}

// The copies that are on their way use the new address, as some of them would on hardware.
Gpu::Outcome Gpu::replace_in_map(Slot slot, const Operation& op) {
  Event event = event_of(slot, op);
  if (op.count >= memory_.maps.size() ||
      !memory_.in_range(op.global, memory_.maps[op.count].span_bytes())) {
    fail(event, Fault::kOutOfRange, true);
  } else {
    memory_.maps[op.count].address = op.global;
    ++changes_;
  }
  emit(event);
  return Outcome::kDone;
}

// Those who wait for a word among these bytes look again.
void Gpu::wake_pollers(std::uint64_t address, std::uint64_t size) {
  std::erase_if(global_waiters_, [&](const auto& waiters) {
    const bool there = waiters.first >= address && waiters.first < address + size;
    for (std::size_t i = 0; there && i < waiters.second.size(); ++i) {
      ready_.insert(waiters.second[i]);
    }
    return there;
  });
}

Gpu::Outcome Gpu::global_word(Slot slot, Operation& op) {
  Event event = event_of(slot, op);
  event.bytes = 4;
  std::byte* at = memory_.at(op.global, 4);
  if (at == nullptr || op.global % 4 != 0) {
    fail(event, at == nullptr ? Fault::kOutOfRange : Fault::kMisaligned, true);
    emit(event);
    return Outcome::kDone;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, at, 4);
  if (memory_.unknown(op.global)) {
    word = unknown_word(op.global);
  }
  op.result = word;
  event.pending = word;  // before
  if (op.op == Op::kGlobalWait && word != op.count) {
    global_waiters_[op.global].push_back(slot);
    return block(slot, op);
  }
  if (op.op == Op::kGlobalStoreRelease || op.op == Op::kGlobalRedAdd) {
    // Every executing lane of a reduction adds.
    word = op.op == Op::kGlobalStoreRelease ? op.count : word + op.count * op.lanes;
    std::memcpy(at, &word, 4);
    memory_.set_unknown(op.global, 4, false);
    ++changes_;
    wake_pollers(op.global, 4);
  }
  event.wanted = word;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::set_registers(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  const bool increase = (op.flags & event_flag::kIncrease) != 0;
  if (op.count < 24 || op.count > 256 || op.count % 8 != 0) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.lanes != kWarpLanes) {
    event.fault = Fault::kNotWholeWarp;
  } else if (increase ? op.count < warp.registers : op.count > warp.registers) {
    event.fault = Fault::kBadCount;
  } else if (increase) {
    const std::uint32_t needed = op.count - warp.registers;
    if (needed > cta.free_registers) {
      cta.register_waiters |= 1U << warp.index;
      return block(slot, op);
    }
    cta.free_registers -= needed;
    warp.registers = op.count;
  } else {
    cta.free_registers += warp.registers - op.count;
    warp.registers = op.count;
    for (std::uint32_t waiting = std::exchange(cta.register_waiters, 0); waiting != 0;
         waiting &= waiting - 1) {
      ready_.insert(slot - warp.index + static_cast<std::uint32_t>(std::countr_zero(waiting)));
    }
  }
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::exit_warp(Slot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  warp.status = WarpStatus::kDone;
  Event end = event_of(slot, op);
  end.fault = leaves_warpgroup(slot) ? Fault::kNotWarpgroup : Fault::kNone;
  emit(end);
  ready_.erase(slot);
  --live_warps_;
  ++changes_;
  --cta.live_warps;
  // Barriers that were waiting only for exited threads are released.
  for (NamedBarrierState& barrier : cta.named) {
    if (barrier.threads != 0 && (barrier.all_threads || config_.rules.named_exit_releases)) {
      // An arrival of a warp that has ended, and one that need not come, are one.
      if ((barrier.warps >> warp.index & 1U) != 0) {
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
  if (warp.cluster_arrived && warp.cluster_generation == cluster.generation) {
    --cluster.arrived;
  }
  release_cluster_if_complete(cta.cluster);
  if (cta.live_warps == 0) {
    cta.exited = true;
    wake_allocators(warp.cta);
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

const AsyncOp* Gpu::async_at(Slot slot) const {
  const std::size_t first = 4 * warps_.size();
  if (slot < first || slot - first >= async_.size() || !async_[slot - first].live) {
    return nullptr;
  }
  return &async_[slot - first];
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

std::string Gpu::describe(Slot slot) const {
  const auto warps = static_cast<Slot>(warps_.size());
  const std::uint32_t kind = slot / warps;
  const Warp& warp = kind < 4 ? warps_[slot % warps] : warps_[async_[slot - 4 * warps].warp];
  std::string text =
      "cta " + std::to_string(ctas_[warp.cta].number) + " warp " + std::to_string(warp.index);
  constexpr const char* kKinds[] = {
      "", " tensor queue", " tensor-memory port", " late lanes", " copy"};
  return text + kKinds[std::min(kind, 4U)];
}

}  // namespace warptwin::sim
