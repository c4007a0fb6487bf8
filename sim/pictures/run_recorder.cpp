#include "sim/pictures/run_recorder.hpp"

#include <algorithm>
#include <bit>

#include "common/trace/op_facts.hpp"
#include "common/trace/words.hpp"

#include "sim/pictures/hues.hpp"
#include "sim/trace/recorder.hpp"

namespace warptwin::sim {

namespace {

// What a warp does, for those that have no role.
namespace work {
constexpr std::uint32_t kLoads = 1;
constexpr std::uint32_t kMultiplies = 2;
constexpr std::uint32_t kStores = 4;
}  // namespace work

constexpr std::uint32_t kResponseBytes = 16;

// One of several warps' operations that are shown.
bool is_shown(Op op) {
  return has_trait(op, op_trait::kTraced | op_trait::kSynchronises) && op != Op::kWarpStart &&
         op != Op::kCtaExit;
}

const char* unit_name_of(Op op) {
  switch (op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      return "loads under way";
    case Op::kTensorStore:
    case Op::kBulkStore:
      return "stores under way";
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kWgmma:
      return "tensor core";
    case Op::kTcgen05Commit:
      return "commits under way";
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return "tensor memory";
    case Op::kClcTryCancel:
      return "requests for a cluster";
    default:
      return "arrivals under way";
  }
}

std::uint64_t key_of(std::uint32_t cta, std::uint32_t address) {
  return std::uint64_t{cta} << 32 | address;
}

std::uint32_t work_of(Op op) {
  switch (op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      return work::kLoads;
    case Op::kTcgen05Mma:
    case Op::kWgmma:
      return work::kMultiplies;
    case Op::kTensorStore:
    case Op::kBulkStore:
    case Op::kTcgen05Ld:
      return work::kStores;
    default:
      return 0;
  }
}

// Where an operand begins, from its shared-memory descriptor.
std::uint32_t start_of(std::uint64_t descriptor) {
  return static_cast<std::uint32_t>(descriptor & 0x3FFF) << 4;
}

const char* role_of_work(std::uint32_t what) {
  constexpr const char* kNames[] = {"",
                                    "loads",
                                    "multiplies",
                                    "loads, multiplies",
                                    "stores",
                                    "loads, stores",
                                    "multiplies, stores",
                                    "loads, multiplies, stores"};
  return kNames[what];
}

}  // namespace

RunRecorder::RunRecorder(const LaunchConfig& config,
                         const Symbols& symbols,
                         RecordingClock clock,
                         const RecordingWindow& window)
    : config_{config},
      symbols_{symbols},
      naming_{config, symbols},
      clock_{clock},
      builder_{window} {
  builder_.recording().clock = clock;
}

RunRecorder::WarpState& RunRecorder::warp_of(const Event& event) {
  WarpState& warp = warps_[event.warp];
  if (!warp.seen) {
    warp.seen = true;
    warp.last = event.time;
    warp.cta = naming_.cta_of_warp(event.warp);
    const std::uint32_t index = event.warp - warp.cta * config_.warps_per_cta;
    warp.track = builder_.track(
        TrackKind::kWarp, builder_.name("warp " + std::to_string(index)), warp.cta, index);
    const Role role = symbols_.role_of(index);
    builder_.set_role(warp.track, role == Role::kCount ? 0 : builder_.name(name_of(role)));
  }
  return warp;
}

RunRecorder::BarrierState& RunRecorder::barrier_of(std::uint32_t cta, std::uint32_t address) {
  const auto [found, is_new] = barriers_.try_emplace(key_of(cta, address));
  if (is_new) {
    found->second.track =
        builder_.track(TrackKind::kBarrier, builder_.name(symbols_.name(address)), cta);
    found->second.begin = now_;
  }
  return found->second;
}

std::uint32_t RunRecorder::site_of(const Event& event) {
  const auto [found, is_new] = sites_.try_emplace(
      std::uint64_t(reinterpret_cast<std::uintptr_t>(event.site.file)) << 20 ^ event.site.line);
  if (is_new) {
    found->second = builder_.name(short_site(event.site.file, event.site.line));
  }
  return found->second;
}

std::uint32_t RunRecorder::object_of(const Event& event) {
  if (!has_trait(event.op, op_trait::kSharedObject)) {
    return builder_.name(name_of_object(event.op, event.address, symbols_));
  }
  return builder_.name(symbols_.name(event.address) + " of cta " + std::to_string(event.cta));
}

Slice RunRecorder::slice_of(const Event& event) {
  Slice slice;
  slice.begin = slice.end = event.time;
  slice.name = builder_.name(warptwin::name_of(event.op));
  slice.object = object_of(event);
  slice.site = site_of(event);
  if (has_trait(event.op, op_trait::kMbarrier)) {
    slice.barrier = barrier_of(event.cta, event.address).track;
    slice.phase = event.phase;
  } else if (is_load(event.op)) {
    slice.barrier = barrier_of(event.signal().barrier_cta, event.signal().barrier).track;
  }
  switch (event.op) {
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx: {
      const std::uint32_t lanes = event.step == Step::kIssued ? event.lanes : 1;
      slice.count =
          event.op == Op::kMbarrierArrive ? event.as<payload::Mbarrier>().arrivals * lanes : 0;
      slice.bytes = event.bytes * lanes;
      break;
    }
    case Op::kTcgen05Commit:
      slice.count = 1;
      break;
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kTensorStore:
    case Op::kBulkStore:
      slice.bytes = event.bytes;
      break;
    case Op::kClcTryCancel:
      slice.bytes = kResponseBytes;
      break;
    default:
      break;
  }
  return slice;
}

// --- Warps -----------------------------------------------------------------------------------

void RunRecorder::note_blocked(const Event& event) {
  WarpState& warp = warp_of(event);
  if (!warp.waits) {
    warp.wait = slice_of(event);
    warp.waits = true;
  }
  warp.last = event.time;
}

// Which phase it was for, and what completed that.
void RunRecorder::note_wait(const Event& event, WarpState& warp, Slice& slice) {
  const bool exact = (event.flags & event_flag::kExactPhase) != 0;
  const bool passed = (event.flags & event_flag::kFalse) == 0;
  // A try that said no before it, or that does: it waits too, in the program's own loop.
  const Event& last = warp.last_event;
  const bool polled = last.op == event.op && last.address == event.address &&
                      (last.flags & event_flag::kFalse) != 0;
  slice.kind = warp.waits || !passed || polled ? SliceKind::kWait : SliceKind::kOperation;
  slice.phase = exact    ? event.as<payload::Mbarrier>().wanted
                : passed ? event.phase - 1
                         : event.phase;
  warp.last_slice = builder_.add(slice);
  if (!passed) {
    return;
  }
  const BarrierState& barrier = barrier_of(event.cta, event.address);
  const BarrierState::Completed& by = barrier.completed[slice.phase % BarrierState::kKept];
  if (by.phase == slice.phase) {
    builder_.flow(by.slice, warp.last_slice, FlowKind::kArrival);
  }
}

void RunRecorder::note_operation(const Event& event) {
  WarpState& warp = warp_of(event);
  if (event.op == Op::kBarSync && event.step == Step::kIssued) {
    warp.wait = slice_of(event);
    warp.waits = true;
    warp.last = event.time;
    return;
  }
  if (!is_shown(event.op)) {
    not_drawn_ += warp.not_drawn_op == event.op && warp.not_drawn_at == event.time ? 0 : 1;
    warp.not_drawn_op = event.op;
    warp.not_drawn_at = event.time;
    use_data(event, kNoSlice);
    warp.waits = false;
    warp.last = event.time;
    return;
  }
  Slice slice = slice_of(event);
  slice.track = warp.track;
  slice.begin = warp.waits                         ? warp.wait.begin
                : clock_ == RecordingClock::kSteps ? event.time
                                                   : std::min(warp.last, event.time);
  slice.end = event.time + (clock_ == RecordingClock::kSteps ? 1 : 0);
  if (event.op == Op::kBarSync && event.as<payload::NamedBarrier>().returns) {
    slice.object = warp.wait.object;  // what it was, its arrival says
  }
  slice.kind = warp.waits ? SliceKind::kWait : SliceKind::kOperation;
  warp.work |= work_of(event.op);
  if (has_trait(event.op, op_trait::kLooks)) {
    note_wait(event, warp, slice);
  } else {
    warp.last_slice = builder_.add(slice);
    if (event.step == Step::kDone && event.op <= Op::kMbarrierTryWait) {
      complete(event, event.cta, event.address, warp.last_slice);
    }
  }
  use_data(event, warp.last_slice);
  warp.waits = false;
  warp.last = event.time;
  warp.last_event = event;
}

// --- What goes on by itself ------------------------------------------------------------------

void RunRecorder::start_async(const Event& event, std::uint32_t issuer) {
  AsyncState& async = under_way_[event.serial];
  async.slice = slice_of(event);
  async.slice.kind = SliceKind::kAsync;
  async.unit = builder_.name(unit_name_of(event.op));
  async.cta = is_load(event.op) ? event.cta : naming_.cta_of_warp(event.warp);
  async.issuer = issuer;
  async.issued = event;
  if (event.op == Op::kTcgen05Commit) {
    const int named = std::popcount(event.as<payload::Mbarrier>().mask);
    async.signals = named != 0 ? static_cast<std::uint32_t>(named) : async.signals;
  }
  count(async, event.time, true);
}

// What is under way in a CTA, with an operation that begins or ends.
void RunRecorder::count(const AsyncState& async, std::uint64_t time, bool more) {
  const Op op = async.issued.op;
  const std::uint32_t bytes = async.slice.bytes;
  if (has_trait(op, op_trait::kTensorCore)) {
    const std::uint32_t under_way = tensor_[async.cta] += more ? 1U : ~0U;
    builder_.sample(
        builder_.counter("tensor core: under way", async.cta, "operations"), time, under_way);
  } else if (bytes != 0 && !has_trait(op, op_trait::kBarrier)) {
    const std::uint64_t on_their_way = bytes_[async.cta] += more ? bytes : -std::uint64_t{bytes};
    builder_.sample(builder_.counter("bytes on their way", async.cta, "bytes"),
                    time,
                    static_cast<double>(on_their_way));
  }
}

void RunRecorder::end_async(const Event& event) {
  const auto found = under_way_.find(event.serial);
  if (found == under_way_.end()) {
    return;
  }
  AsyncState& async = found->second;
  if (async.done == kNoSlice) {
    Slice& slice = async.slice;
    slice.end = event.time + (clock_ == RecordingClock::kSteps ? 1 : 0);
    if (is_load(event.op)) {
      slice.phase = event.phase;
    }
    if (has_trait(event.op, op_trait::kTensorCore)) {  // one after the other
      std::uint64_t& free = tensor_free_[async.cta];
      slice.begin = std::min(std::max(slice.begin, free), slice.end);
      free = slice.end;
    }
    count(async, event.time, false);
    async.done = builder_.add_to_unit(slice, async.unit, async.cta);
    builder_.flow(async.issuer, async.done, FlowKind::kIssue);
    if (is_load(event.op)) {
      writes_[event.cta][event.address] = {event.address + slice.bytes, async.done};
    } else if (has_trait(event.op, op_trait::kTensorCore)) {
      Event reads = async.issued;
      reads.step = Step::kWritten;
      use_data(reads, async.done);
    }
  }
  if (is_load(event.op)) {
    complete(event, event.signal().barrier_cta, event.signal().barrier, async.done);
  } else if (event.step == Step::kSignalled) {
    complete(event, event.cta, event.address, async.done);
  }
  if (--async.signals == 0) {
    under_way_.erase(found);
  }
}

// What the event gave to a phase, which it may have completed.
void RunRecorder::complete(const Event& event,
                           std::uint32_t cta,
                           std::uint32_t address,
                           std::uint32_t slice) {
  BarrierState& barrier = barrier_of(cta, address);
  if (event.op == Op::kMbarrierInit) {
    barrier.begin = event.time;
    return;
  }
  if (is_load(event.op)) {
    barrier.bytes += event.bytes;
  } else if (event.op == Op::kMbarrierArrive || event.op == Op::kTcgen05Commit) {
    barrier.arrivals += event.as<payload::Mbarrier>().arrivals;
  }
  if ((event.flags & event_flag::kPhaseCompleted) == 0) {
    return;
  }
  Slice phase;
  phase.kind = SliceKind::kPhase;
  phase.track = barrier.track;
  phase.begin = std::min(barrier.begin, event.time);
  phase.end = event.time;
  phase.name = builder_.name("phase " + std::to_string(event.phase));
  phase.barrier = barrier.track;
  phase.phase = event.phase;
  phase.bytes = barrier.bytes;
  phase.count = barrier.arrivals;
  builder_.add(phase);
  barrier.begin = event.time;
  barrier.bytes = barrier.arrivals = 0;
  barrier.completed[event.phase % BarrierState::kKept] = {event.phase, slice};
  for (std::uint32_t i = 0; i < symbols_.rings.size(); ++i) {
    const Ring& ring = symbols_.rings[i];
    const bool full = address >= ring.full && address < ring.full + ring.stages * 8;
    const bool empty = address >= ring.empty && address < ring.empty + ring.stages * 8;
    if (full || empty) {
      std::uint32_t& stages = stages_[key_of(cta, i)];
      stages = full ? stages + 1 : stages - std::min(stages, 1U);
      builder_.sample(
          builder_.counter(ring.owner + ": stages full", cta, "stages"), event.time, stages);
    }
  }
}

// From the load that brought the first byte of what an operation reads.
void RunRecorder::use_data(const Event& event, std::uint32_t slice) {
  std::uint32_t addresses[2] = {};
  std::uint32_t count = 0;
  switch (event.op) {
    case Op::kTcgen05Mma:
    case Op::kWgmma:
      if (event.step != Step::kWritten) {
        return;
      }
      if ((event.flags & event_flag::kTmemA) == 0) {
        addresses[count++] = start_of(event.product().a);
      }
      addresses[count++] = start_of(event.product().b);
      break;
    case Op::kTensorStore:
    case Op::kBulkStore:
    case Op::kClcQuery:
      addresses[count++] = event.address;
      break;
    default:
      return;
  }
  const auto writes = writes_.find(naming_.cta_of_warp(event.warp));
  if (writes == writes_.end()) {
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    auto at = writes->second.upper_bound(addresses[i]);
    if (at != writes->second.begin() && addresses[i] < (--at)->second.end) {
      builder_.flow(at->second.slice, slice, FlowKind::kData);
    }
  }
}

void RunRecorder::on_event(const Event& event) {
  now_ = event.time;
  const bool late = (event.flags & event_flag::kLateLanes) != 0;
  if (late || event.op == Op::kStageNote || event.op == Op::kWarpStart ||
      event.op == Op::kCtaExit) {
    return;
  }
  switch (event.step) {
    case Step::kBlocked:
      note_blocked(event);
      break;
    case Step::kDone:
      note_operation(event);
      break;
    case Step::kIssued: {
      // The same operation may go to several CTAs.
      WarpState& warp = warp_of(event);
      const Event& last = warp.last_event;
      const bool again = is_load(event.op) && event.signal().mask != 0 && last.time == event.time &&
                         last.op == event.op && last.address == event.address &&
                         last.step == event.step;
      if (!again) {
        note_operation(event);
      }
      if (event.serial != 0) {
        start_async(event, warp.last_slice);
      }
      break;
    }
    case Step::kCounted:
      complete(event, event.signal().barrier_cta, event.signal().barrier, kNoSlice);
      break;
    case Step::kRead:
      if (event.op == Op::kTcgen05Ld) {
        end_async(event);
      }
      break;
    case Step::kWritten:
    case Step::kSignalled:
      end_async(event);
      break;
    case Step::kTouched:
      break;
  }
}

// --- At the end ------------------------------------------------------------------------------

void RunRecorder::add(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const Agent& agent = finding.agent;  // of several warps the first
    const auto found =
        agent.empty()
            ? warps_.end()
            : warps_.find(agent.cta * naming_.config().warps_per_cta + agent.warps.front());
    // What is found at the end of the run has no step.
    builder_.recording().marks.push_back({finding.step == 0 ? now_ : finding.step,
                                          found == warps_.end() ? kNoTrack : found->second.track,
                                          builder_.name(finding.info->id),
                                          builder_.name(finding.message)});
    const auto waits = [](const Detail& detail) { return detail.as<Blocked>() != nullptr; };
    if (!builder_.recording().unending &&
        std::any_of(finding.details.begin(), finding.details.end(), waits)) {
      builder_.recording().unending = finding;
    }
  }
}

void RunRecorder::add_rings() {
  std::vector<std::uint32_t> ctas;
  for (const auto& [number, warp] : warps_) {
    ctas.push_back(warp.cta);
  }
  std::sort(ctas.begin(), ctas.end());
  ctas.erase(std::unique(ctas.begin(), ctas.end()), ctas.end());
  for (const std::uint32_t cta : ctas) {
    for (const Ring& ring : symbols_.rings) {
      RecordedRing recorded{builder_.name(ring.owner), cta, ring.stage_bytes, {}, {}};
      for (std::uint32_t i = 0; i < ring.stages && cta < builder_.recording().window.ctas; ++i) {
        recorded.full.push_back(barrier_of(cta, ring.full + 8 * i).track);
        recorded.empty.push_back(barrier_of(cta, ring.empty + 8 * i).track);
      }
      if (!recorded.full.empty()) {
        builder_.recording().rings.push_back(std::move(recorded));
      }
    }
  }
}

void RunRecorder::add_declared() {
  for (const Region& region : symbols_.regions) {
    DeclaredBarriers declared{array_of(symbols_.name(region.address)), {}, ""};
    for (const Contributor& contributor : region.contract.contributors) {
      if (contributor.arrivals != 0 && contributor.role != Role::kCount) {
        declared.from.emplace_back(name_of(contributor.role), contributor.arrivals);
      }
    }
    if (region.contract.waiter != Role::kCount) {
      declared.waiter = name_of(region.contract.waiter);
    }
    if (!declared.from.empty()) {
      builder_.recording().declared.push_back(std::move(declared));
    }
  }
}

void RunRecorder::name_roles() {
  for (const auto& [number, warp] : warps_) {
    const std::uint32_t index = number - warp.cta * config_.warps_per_cta;
    if (symbols_.role_of(index) == Role::kCount && warp.work != 0) {
      builder_.set_role(warp.track, builder_.name(role_of_work(warp.work)));
    }
  }
}

Recording RunRecorder::take() {
  const std::uint64_t end = std::max(now_, builder_.recording().end);
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, warp] : warps_) {
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    WarpState& warp = warps_.at(number);
    if (warp.waits) {
      warp.wait.track = warp.track;
      warp.wait.end = end;
      warp.wait.kind = SliceKind::kWait;
      warp.wait.unfinished = true;
      builder_.add(warp.wait);
    }
  }
  std::vector<std::uint32_t> serials;
  for (const auto& [serial, async] : under_way_) {
    if (async.done == kNoSlice) {
      serials.push_back(serial);
    }
  }
  std::sort(serials.begin(), serials.end());
  for (const std::uint32_t serial : serials) {
    AsyncState& async = under_way_.at(serial);
    async.slice.end = end;
    async.slice.unfinished = true;
    builder_.add_to_unit(async.slice, async.unit, async.cta);
  }
  if (not_drawn_ != 0) {
    builder_.recording().notes.push_back("not drawn: " + plural(not_drawn_, "operation") +
                                         " of lanes, which load, store and compute");
  }
  add_rings();
  add_declared();
  name_roles();
  return builder_.take();
}

}  // namespace warptwin::sim
