// mbarriers: their updates, waits and tries, and arrivals that are made later.

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/model/gpu.hpp"
#include "sim/model/mbarrier_laws.hpp"

namespace warptwin::sim {

std::uint32_t Gpu::barrier_number(std::uint32_t address) {
  const std::uint32_t index = address / 8;
  if (barrier_table_[index] == kNoBarrier) {
    barrier_table_[index] = static_cast<std::uint16_t>(barrier_numbers_.size());
    barrier_numbers_.emplace(address, barrier_table_[index]);
    barriers_begin_ = std::min(barriers_begin_, address);
    barriers_end_ = std::max(barriers_end_, address + kMbarrierBytes);
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

bool Gpu::holds_barrier(std::uint32_t cta, std::uint32_t from, std::uint32_t to) const {
  if (to <= barriers_begin_ || from >= barriers_end_) {
    return false;
  }
  bool holds = false;
  for (std::uint32_t at = from & ~(kMbarrierBytes - 1); at < to && !holds; at += kMbarrierBytes) {
    holds = find_barrier(cta, at) != nullptr;
  }
  return holds;
}

Gpu::Target Gpu::resolve(const Warp& warp, const Operation& op) const {
  const std::uint32_t address = op.as<operands::Mbarrier>().address;
  Target target{warp.cta, address, Fault::kNone};
  if ((op.flags & event_flag::kRemote) != 0) {
    const std::uint32_t rank = address >> 24;
    target.address = address & 0xFFFFFFU;
    if (rank >= ctas_[warp.cta].size) {
      return {warp.cta, target.address, Fault::kOutOfRange};
    }
    target.cta = ctas_[warp.cta].first + rank;
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
  const WarpSlot base = cta_slot * config_.warps_per_cta;
  for (; waiters != 0; waiters &= waiters - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(waiters));
    ready_.insert(bit < 32 ? Agents::warp(base + bit) : agents_.late_lanes(base + bit - 32));
  }
}

namespace {

// What several lanes do together, each so much. More than any mbarrier takes stays more.
std::uint32_t of_lanes(std::uint32_t each, std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{each} * lanes, ~0U));
}

}  // namespace

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
      step = (event.flags & event_flag::kOfCopies) != 0
                 ? bar->expect_copies(bytes)
                 : bar->expect_tx(bytes, config_.rules.expect_completes);
      break;
    case Op::kMbarrierArrive:
      if ((event.flags & event_flag::kDrop) != 0) {
        step = bar->arrive_drop(count, bytes);
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
  keep_laws(event.phase, step, *bar);
  ++changes_;
  const std::uint32_t phase = event.phase;
  tell_state(event, *bar);
  event.phase = phase;
  if (step.completed) {
    event.flags |= event_flag::kPhaseCompleted;
    wake_barrier(cta_slot, barrier_number(address));
  }
  return step;
}

// A remote arrival, and one that waits for copies, is on its way for a while: an agent of its own.
void Gpu::defer_update(WarpSlot slot, const Operation& op, const Target& target) {
  Warp& warp = warps_[slot];
  const AgentSlot at = take_async();
  AsyncOp& async = async_[agents_.place_of(at)];
  async.operation = op;
  auto& update = async.operation.as<operands::Mbarrier>();
  const auto* const copies = std::exchange(update.copies, nullptr);
  update.address = target.address;
  async.warp = slot;
  async.cta = async.signal_cta = target.cta;
  ready_.insert(at);
  ++changes_;
  ++clusters_[ctas_[warp.cta].cluster].outstanding;
  warp.remote_arrivals += copies == nullptr ? 1 : 0;
  if (sink_ != nullptr) {
    emit(event_of(async, Step::kIssued));
  }
  for (std::size_t i = 0; copies != nullptr && i < copies->size(); ++i) {
    issue_access(async, (*copies)[i]);
  }
}

Gpu::Outcome Gpu::mbarrier_update(WarpSlot slot, Operation& op) {
  const auto& told = op.as<operands::Mbarrier>();
  Warp& warp = warps_[slot];
  const Target target = resolve(warp, op);
  const bool later = target.cta != warp.cta || told.copies != nullptr;
  if (later && target.fault == Fault::kNone) {
    defer_update(slot, op, target);
    op.result = told.copies != nullptr ? serial_ : op.result;
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
      auto& said = event.as<payload::Mbarrier>();
      said.was_idle = bar.valid() && bar.idle();
      const BarrierStep step = bar.init(told.count);
      fail(event, step.fault, false);
      wake_barrier(target.cta, number);  // who waits for the object that was there looks again
      said.expected = said.pending = told.count;
    } else if (!bar.valid()) {
      fail(event, Fault::kUninitialised, true);
    } else {
      event.fault = cta.waiters[number] != 0 || !bar.idle() ? Fault::kInUse : Fault::kNone;
      tell_state(event, bar);
      bar.invalidate();
    }
    emit(event);
    return Outcome::kDone;
  }
  const std::uint32_t arrivals = of_lanes(told.count, op.lanes);
  const std::uint32_t bytes = of_lanes(told.bytes, op.lanes);
  event.as<payload::Mbarrier>().arrivals = arrivals;
  event.bytes = bytes;
  const BarrierStep step = apply_to_barrier(target.cta, target.address, event, arrivals, bytes);
  fail(event, step.fault, step.traps);
  op.result = event.phase;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::mbarrier_wait(WarpSlot slot, Operation& op) {
  const auto& told = op.as<operands::Mbarrier>();
  Warp& warp = warps_[slot];
  const MbarrierState* bar = find_barrier(warp.cta, told.address);
  Event event = event_of(slot, op);
  if (bar == nullptr) {
    fail(event,
         told.address + 8 > config_.shared_bytes ? Fault::kOutOfRange  // of another CTA, or of none
         : told.address % 8 != 0                 ? Fault::kMisaligned
                                                 : Fault::kUninitialised,
         true);
    emit(event);
    op.result = 0;
    return Outcome::kDone;
  }
  bool done = bar->done(told.phase);
  if (config_.tries_fail && op.op == Op::kMbarrierTryWait) {
    const auto before =
        std::find_if(warp.refused.begin(), warp.refused.end(), [&](const RefusedTry& one) {
          return one.address == told.address && one.wanted == told.phase &&
                 one.place == told.place && same_instruction(one.site, op.site);
        });
    const bool repeated = before != warp.refused.end();
    if (repeated && before->times >= config_.refusals) {
      Operation blocking = op;
      blocking.op = Op::kMbarrierWait;
      const Outcome outcome = mbarrier_wait(slot, blocking);
      op.result = blocking.result;
      return outcome;
    }
    // Of a bare parity the phase that it names now.
    const bool exact = (op.flags & event_flag::kExactPhase) != 0;
    const std::uint32_t phase = exact ? told.phase : bar->phase() - 1;
    const bool certain =
        done &&
        (phase == ~0U ||
         (try_judge_ != nullptr &&
          try_judge_->certain(
              warp.number, event.lane_mask(), ctas_[warp.cta].number, told.address, phase)));
    if (!certain && opens(warp)) {
      if (!done) {
        ctas_[warp.cta].waiters[barrier_number(told.address)] |= std::uint64_t{1} << warp.index;
        return block(slot, op);
      }
      ++warp.open_tries;
    } else if (!certain) {
      done = false;
      ++warp.open_tries;
      if (repeated) {
        ++before->times;
      } else {
        warp.refused.push_back({told.address, told.phase, op.site, told.place, event.lane_mask()});
      }
    }
  }
  if (!done && (op.flags & event_flag::kPeek) != 0) {
    op.result = 0;
    return Outcome::kDone;
  }
  if (!done && op.op == Op::kMbarrierWait) {
    ctas_[warp.cta].waiters[barrier_number(told.address)] |= std::uint64_t{1} << warp.index;
    return block(slot, op);
  }
  op.result = done ? 1 : 0;
  if (sink_ != nullptr) {
    tell_state(event, *bar);
    event.flags |= done ? 0 : event_flag::kFalse;
    if ((op.flags & event_flag::kExactPhase) == 0 && told.phase > 1) {
      event.fault = Fault::kBadParity;
    }
    emit(event);
  }
  if (done) {
    std::erase_if(warp.refused, [&](const RefusedTry& before) {
      const bool over = before.address == told.address && (before.lanes & ~event.lane_mask()) == 0;
      gave_up_ = gave_up_ || (over && before.wanted != told.phase && gives_up(before));
      return over;
    });
    if (!config_.tries_pass.empty()) {
      note_known(warp, op, *bar);
    }
  }
  if (op.op == Op::kMbarrierWait) {
    ++changes_;
    if (op.lanes == kWarpLanes) {
      // The others mean the phase that the first lane has seen complete, whatever names it.
      const bool exact = (op.flags & event_flag::kExactPhase) != 0;
      const std::uint32_t flags = op.flags | event_flag::kExactPhase;
      warp.debt = LateWait{
          told.address, told.phase & 1U, exact ? told.phase : bar->phase() - 1, flags, op.site};
    }
  }
  return Outcome::kDone;
}

bool Gpu::gives_up(const RefusedTry& refused) const {
  return refused.times > 1 && refused.times < config_.refusals;
}

// Whether the warp's next open try is one of those that wait.
bool Gpu::opens(const Warp& warp) const {
  return std::find(config_.tries_pass.begin(),
                   config_.tries_pass.end(),
                   OpenTry{warp.number, warp.open_tries}) != config_.tries_pass.end();
}

bool Gpu::at_try(const Warp& warp) {
  return warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kMbarrierTryWait;
}

bool Gpu::waits_at_try() const {
  return std::any_of(warps_.begin(), warps_.end(), at_try);
}

bool Gpu::may_have_missed() const {
  return std::any_of(warps_.begin(), warps_.end(), [&](const Warp& warp) {
    if (!at_try(warp)) {
      return false;
    }
    const std::uint32_t address = warp.blocked_on.as<operands::Mbarrier>().address;
    const MbarrierState* bar = find_barrier(warp.cta, address);
    if (bar == nullptr) {
      return true;
    }
    const KnownPhases known = known_of(warp, address);
    return known.life != bar->lives() || known.phases != bar->phase();
  });
}

KnownPhases Gpu::known_of(const Warp& warp, std::uint32_t address) {
  const auto found =
      std::find_if(warp.known.begin(), warp.known.end(), [&](const KnownPhases& known) {
        return known.address == address;
      });
  return found != warp.known.end() ? *found : KnownPhases{address};
}

// A wait passes, or a try says yes, in a phase whose parity is not the one asked for: the first
// such phase from the one that the warp knew of.
void Gpu::note_known(Warp& warp, const Operation& op, const MbarrierState& bar) {
  const auto& told = op.as<operands::Mbarrier>();
  KnownPhases known = known_of(warp, told.address);
  std::erase_if(warp.known,
                [&](const KnownPhases& before) { return before.address == told.address; });
  if (known.life != bar.lives()) {
    known.life = bar.lives();
    known.phases = 0;
  }
  known.phases += (known.phases & 1U) == (told.phase & 1U) ? 1 : 0;
  warp.known.push_back(known);
}

void Gpu::advance_late(std::uint32_t index) {
  Warp& warp = warps_[index];
  const AgentSlot self = agents_.late_lanes(index);
  if (warp.late.empty()) {
    ready_.erase(self);  // woken for a wait that is over
    return;
  }
  const LateWait wait = warp.late.front();
  const MbarrierState* bar = find_barrier(warp.cta, wait.address);
  if (bar != nullptr && !bar->done(wait.parity)) {
    ctas_[warp.cta].waiters[barrier_number(wait.address)] |= std::uint64_t{1} << (32 + warp.index);
    ready_.erase(self);
    return;
  }
  ++changes_;
  if (sink_ != nullptr && bar != nullptr) {
    Operation op{Op::kMbarrierWait};
    op.lanes = kWarpLanes - 1;
    op.flags = wait.flags | event_flag::kLateLanes;
    op.as<operands::Mbarrier>().address = wait.address;
    op.as<operands::Mbarrier>().phase = wait.wanted;
    op.site = wait.site;
    Event event = event_of(index, op);
    tell_state(event, *bar);
    emit(event);
  }
  warp.late.erase(warp.late.begin());
  if (warp.late.empty()) {
    ready_.erase(self);
    if (warp.status == WarpStatus::kBlocked) {
      ready_.insert(Agents::warp(index));
    }
  }
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
  const auto* const told = op.op == Op::kTcgen05Commit ? nullptr : &op.as<operands::Mbarrier>();
  const std::uint32_t arrivals = told == nullptr ? 1 : of_lanes(told->count, op.lanes);
  event.as<payload::Mbarrier>().arrivals = arrivals;
  event.bytes = told == nullptr ? 0 : of_lanes(told->bytes, op.lanes);
  const BarrierStep step = apply_to_barrier(cta, address, event, arrivals, event.bytes);
  // One that was announced as bytes belongs to the phase that it was announced in.
  const bool late =
      told != nullptr && (op.flags & event_flag::kExactPhase) != 0 && event.phase != told->phase;
  fail(event, late ? Fault::kTxUnderflow : step.fault, step.traps);
  emit(event);
}

}  // namespace warptwin::sim
