#include "sim/prove/run_order.hpp"

#include <algorithm>
#include <bit>

namespace warptwin::sim {

namespace {

constexpr std::size_t kFindingsMax = 64;
constexpr std::uint64_t kHashSeed = 0xCBF29CE484222325U;  // FNV-1a
constexpr std::uint64_t kHashPrime = 0x100000001B3U;

// The phase that a try means: where it does not say so, the one its parity names now.
std::int32_t meant_by_try(const Event& event) {
  const auto current = static_cast<std::int32_t>(event.phase);
  const bool exact = (event.flags & event_flag::kExactPhase) != 0;
  return exact                                       ? static_cast<std::int32_t>(event.wanted)
         : (event.wanted & 1U) == (event.phase & 1U) ? current
                                                     : current - 1;
}

// Of a wait that has passed, or a try: the phase; 0 of other operations.
std::int64_t phase_waited_for(const Event& event) {
  if (event.op == Op::kMbarrierTryWait) {
    return meant_by_try(event);
  }
  return event.op == Op::kMbarrierWait ? std::int64_t{event.phase} - 1 : 0;
}

std::uint64_t key(std::uint32_t cta, std::uint32_t address) {
  return std::uint64_t{cta} << 32 | address;
}

ProtocolKind kind_of(const Event& event) {
  if (event.op == Op::kMbarrierExpectTx) {
    return ProtocolKind::kExpect;
  }
  if (event.op == Op::kMbarrierCompleteTx || is_load(event.op)) {
    return ProtocolKind::kComplete;
  }
  return (event.flags & event_flag::kExpectTx) != 0 ? ProtocolKind::kArriveExpect
                                                    : ProtocolKind::kArrive;
}

}  // namespace

bool starts_leaf(const Event& event) {
  if (event.step != Step::kIssued) {
    return false;
  }
  switch (event.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kClcTryCancel:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      return true;
    case Op::kTcgen05Commit:
      return event.extra != 0;
    default:
      return false;
  }
}

ChainCounter::ChainCounter(const LaunchConfig& config) {
  const std::size_t warps =
      std::size_t{config.clusters} * config.cluster_size * config.warps_per_cta;
  index_.reserve(warps);
}

std::uint32_t ChainCounter::warp_step(const Event& event) {
  const bool executes = event.step == Step::kDone || event.step == Step::kIssued;
  if (!executes || event.op == Op::kStageNote || event.op == Op::kWarpStart ||
      event.op == Op::kCtaExit || (event.flags & event_flag::kLateLanes) != 0) {
    return 0;
  }
  std::uint32_t& index = slot(index_, event.warp);
  if (event.warp >= time_.size()) {
    time_.resize(event.warp + 1, 0);
  }
  // One operation may have several events, all of one step. Only a bar.sync has two steps, its
  // arrival and its return, which are one where it is the last to come.
  const bool last_to_come = event.op == Op::kBarSync && event.pending == 0 &&
                            (event.flags & event_flag::kPhaseCompleted) != 0;
  if (time_[event.warp] != event.time || index == 0) {
    index += last_to_come ? 2 : 1;
  }
  time_[event.warp] = event.time;
  return index;
}

bool RunOrder::certain(std::uint32_t warp,
                       std::uint32_t cta,
                       std::uint32_t address,
                       std::uint32_t phase) const {
  const std::unique_ptr<Group>& group = groups_[group_of_warp(warp)];
  if (group == nullptr) {
    return false;
  }
  const auto found = group->mbarriers.find(key(cta, address));
  return found != group->mbarriers.end() &&
         group->conditions.certain(warp % warps_, found->second, phase);
}

// Whether a warp has already been brought together with its late lanes.
bool RunOrder::knows_late(Group& group, std::uint32_t self, std::uint32_t late) const {
  const ProofClock& clock = group.conditions.clock(self);
  return warps_ + self < clock.size() && clock[warps_ + self] >= late;
}

RunOrder::RunOrder(const LaunchConfig& config, const Options& options)
    : config_{config}, options_{options}, counter_{config} {
  ctas_ = config.cluster_size * (options.whole_grid ? config.clusters : 1);
  warps_ = ctas_ * config.warps_per_cta;
  groups_.resize(options.whole_grid ? 1 : config.clusters);
}

RunOrder::Group& RunOrder::group_of(const Event& event) {
  std::unique_ptr<Group>& group = groups_[event.warp / warps_];
  if (group == nullptr) {
    group = std::make_unique<Group>(warps_ * 4);
    group->ended.assign(warps_, false);
    group->live_ctas = ctas_;
    group->agents.assign(std::size_t{warps_} * 3, kLeaf);
  }
  return *group;
}

std::uint32_t RunOrder::number_of(Group& group,
                                  ProofBarrier barrier,
                                  std::uint32_t count,
                                  PhaseTest test) {
  const std::uint32_t number = group.conditions.add_barrier(count, test);
  group.barriers.push_back(barrier);
  return number;
}

ProofNode RunOrder::node_of(const Event& event, std::uint32_t chain, std::uint32_t index) const {
  return {chain, index, event.warp, event.op, event.time, event.site};
}

void RunOrder::undecided(const std::string& reason, const Event& event) {
  for (const Undecided& known : undecided_) {
    if (known.reason == reason && known.site.line == event.site.line) {
      return;
    }
  }
  if (undecided_.size() < kFindingsMax) {
    undecided_.push_back({reason, event.site});
  }
}

// --- The recorded protocol --------------------------------------------------------------------

std::uint32_t RunOrder::record_agent(Group& group, std::uint32_t chain, const Event& event) {
  Protocol& protocol = *options_.record;
  if (group.agents[chain] == kLeaf) {
    group.agents[chain] = static_cast<std::uint32_t>(protocol.agents.size());
    const std::uint32_t warp = event.warp % warps_;
    constexpr const char* kKinds[] = {"", " late lanes", " tensor queue"};
    protocol.agents.push_back({{}, "warp " + std::to_string(warp) + kKinds[chain / warps_]});
  }
  return group.agents[chain];
}

void RunOrder::record(Group& group, std::uint32_t chain, const Event& event, ProtocolOp op) {
  if (options_.record != nullptr && event.warp / warps_ == options_.recorded_group) {
    op.site = event.site;
    options_.record->agents[record_agent(group, chain, event)].ops.push_back(op);
  }
}

void RunOrder::record_leaf(Group& group,
                           const InFlight& flight,
                           const Event& event,
                           ProtocolOp op) {
  if (options_.record == nullptr || event.warp / warps_ != options_.recorded_group) {
    return;
  }
  const std::uint32_t issuer = record_agent(group, event.warp % warps_, event);
  ProtocolAgent agent{{}, name_of(event.op)};
  if (flight.recorded_after != 0) {
    agent.ops.push_back(after_op(issuer, flight.recorded_after - 1));
  }
  op.site = event.site;
  agent.ops.push_back(op);
  if (flight.flushed_by != kLeaf) {
    group.recorded_remote[event.warp % warps_].push_back(
        after_op(static_cast<std::uint32_t>(options_.record->agents.size()),
                 static_cast<std::uint32_t>(agent.ops.size() - 1)));
  }
  options_.record->agents.push_back(std::move(agent));
}

// A releasing cluster arrival comes after the warp's arrivals on other CTAs' mbarriers.
void RunOrder::record_flush(Group& group, std::uint32_t self, const Event& event) {
  for (const ProtocolOp& after : group.recorded_remote[self]) {
    record(group, self, event, after);
  }
  group.recorded_remote[self].clear();
}

// --- Events -----------------------------------------------------------------------------------

void RunOrder::on_event(const Event& event) {
  const bool pair_alloc = event.op == Op::kTcgen05Alloc && (event.flags & event_flag::kPair) != 0 &&
                          config_.rules.pair_alloc == PairMeeting::kTogether;
  if (event.op == Op::kStageNote || (event.step == Step::kBlocked && !pair_alloc)) {
    return;
  }
  if (event.step == Step::kBlocked) {
    Group& group = group_of(event);
    const std::uint32_t self = event.warp % warps_;
    const std::uint32_t executed = counter_.warp_index(event.warp);
    const auto known = group.pair_allocs.find(event.cta);
    // One that has allocated still waits for its peer to have.
    if (known == group.pair_allocs.end() || known->second.index != executed) {
      group.pair_allocs[event.cta] = {self, executed + 1, group.conditions.clock(self)};
    }
    return;
  }
  note_work(event);
  if (options_.work_only) {
    return;
  }
  Group& group = group_of(event);
  const std::uint32_t self = event.warp % warps_;
  if (const std::uint32_t index = counter_.warp_step(event); index != 0) {
    group.conditions.step(self, index);
    const std::uint32_t late = counter_.late_index(event.warp);
    const bool waits = event.op == Op::kMbarrierWait || event.op == Op::kMbarrierTryWait;
    if (late != 0 && !waits && (event.lanes == kWarpLanes || event.op == Op::kWarpExit) &&
        !knows_late(group, self, late)) {
      raise(group.conditions.clock(self), warps_ + self, late);
      if (options_.record != nullptr && group.agents[warps_ + self] != kLeaf) {
        const std::uint32_t agent = group.agents[warps_ + self];
        const std::size_t ops = options_.record->agents[agent].ops.size();
        record(group, self, event, after_op(agent, static_cast<std::uint32_t>(ops - 1)));
      }
    }
  }
  if (event.op == Op::kWgmma || event.op == Op::kWgmmaWait) {
    on_wgmma(group, event, self);  // counted, whatever is wrong with its registers
  }
  if (event.fault != Fault::kNone) {
    return;  // the detectors' business: this run is wrong by itself
  }
  switch (event.op) {
    case Op::kMbarrierInit: {
      const std::uint32_t number =
          number_of(group,
                    {ProofBarrier::Kind::kMbarrier, event.cta, event.address},
                    event.count,
                    PhaseTest::kParity);
      group.mbarriers[key(event.cta, event.address)] = number;
      if (options_.record != nullptr && event.warp / warps_ == options_.recorded_group) {
        options_.record->barriers.resize(number + 1);
        options_.record->barriers[number] = {event.count, PhaseTest::kParity, {}};
      }
      break;
    }
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      if (starts_leaf(event) || event.step == Step::kSignalled) {
        on_deferred(group, event, self);
      } else {
        on_barrier(group, event, self);
      }
      break;
    case Op::kClcTryCancel:
      on_request(group, event, self);
      on_deferred(group, event, self);
      break;
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Commit:
      on_deferred(group, event, self);
      break;
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      on_wait(group, event, self);
      break;
    case Op::kBarSync:
    case Op::kBarArrive:
      on_named(group, event, self);
      break;
    case Op::kClusterArrive:
    case Op::kClusterWait:
      on_cluster(group, event, self);
      break;
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      on_flag(group, event, self);
      break;
    case Op::kSetmaxnreg:
      on_registers(group, event, self);
      break;
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
      on_tensor_memory(group, event, self);
      if (pair_alloc) {
        on_pair_alloc(group, event, self);
      }
      break;
    case Op::kWarpExit:
      group.ended[self] = true;
      break;
    case Op::kCtaExit:
      note_step(group, event);
      on_exit(group, event);
      return;
    default:
      break;
  }
  note_step(group, event);
}

// Which columns an allocation gets, and when, depends on what the others of its CTA have allocated
// and freed before: one warp allocates, and who frees is in order with every allocation.
void RunOrder::on_tensor_memory(Group& group, const Event& event, std::uint32_t self) {
  meets_pairs_ = meets_pairs_ || (event.flags & event_flag::kPair) != 0;
  const bool allocates = event.op == Op::kTcgen05Alloc;
  if (allocates) {
    std::uint32_t& allocator = group.allocators[event.cta];
    if (allocator != 0 && allocator != self + 1) {
      undecided("several warps allocate tensor memory: who comes first is a choice", event);
    }
    allocator = self + 1;
    if (config_.rules.ctas_per_sm > 1) {
      undecided("which CTA of an SM allocates tensor memory first is a choice", event);
    }
  }
  std::vector<TmemUse>& uses = group.tmem_uses[event.cta];
  const ProofClock& clock = group.conditions.clock(self);
  for (const TmemUse& use : uses) {
    const bool ordered =
        use.chain == self || (use.chain < clock.size() && clock[use.chain] >= use.index);
    if (!ordered && use.allocates != allocates) {
      undecided("which columns an allocation gets depends on when another warp frees", event);
    }
  }
  uses.push_back({self, counter_.warp_index(event.warp), allocates});
}

// A wgmma begins when the four warps have issued it, so it is over only after that.
void RunOrder::on_wgmma(Group& group, const Event& event, std::uint32_t self) {
  const std::uint32_t rank = self % config_.warps_per_cta % kWarpsPerWarpgroup;
  const std::uint32_t leader = self - rank;
  Wgmmas& wgmmas = group.wgmmas[leader];
  if (event.op == Op::kWgmma) {
    if (event.step != Step::kIssued) {
      return;
    }
    const std::uint32_t place = event.pending - wgmmas.first;
    if (place == wgmmas.issued.size()) {
      wgmmas.issued.emplace_back();
    }
    Wgmmas::Issued& issued = wgmmas.issued[place];
    join(issued.clock, group.conditions.clock(self));
    if (options_.record != nullptr && group.agents[self] != kLeaf) {
      issued.recorded[rank] =
          static_cast<std::uint32_t>(options_.record->agents[group.agents[self]].ops.size());
    }
    return;
  }
  if (event.pending <= wgmmas.over[rank]) {
    return;  // nothing that it has not waited for before
  }
  wgmmas.over[rank] = event.pending;
  const Wgmmas::Issued& last = wgmmas.issued[event.pending - 1 - wgmmas.first];
  join(group.conditions.clock(self), last.clock);
  for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
    if (i != rank && last.recorded[i] != 0) {
      record(group, self, event, after_op(group.agents[leader + i], last.recorded[i] - 1));
    }
  }
  const std::uint32_t by_all = *std::min_element(wgmmas.over.begin(), wgmmas.over.end());
  while (wgmmas.first < by_all) {
    wgmmas.issued.pop_front();
    ++wgmmas.first;
  }
}

// The CTAs of a pair allocate together: what a warp did before it came to the allocation, its peer
// knows after it.
void RunOrder::on_pair_alloc(Group& group, const Event& event, std::uint32_t self) {
  group.pair_allocs[event.cta] = {
      self, counter_.warp_index(event.warp), group.conditions.clock(self)};
  const auto peer = group.pair_allocs.find(event.cta ^ 1U);
  if (peer == group.pair_allocs.end()) {
    return;
  }
  ProofClock& clock = group.conditions.clock(self);
  join(clock, peer->second.clock);
  raise(clock, peer->second.warp, peer->second.index);
}

// Marks stand at the waits of the warp that has passed the most so far: one that goes round loops.
bool RunOrder::is_marker(Group& group, std::uint32_t self) {
  group.waits.resize(warps_, 0);
  ++group.waits[self];
  if (group.marker == kLeaf || group.waits[self] > group.waits[group.marker]) {
    group.marker = self;
  }
  return group.marker == self;
}

void RunOrder::note_step(Group& group, const Event& event) {
  if (!options_.keep_streams) {
    return;
  }
  const std::uint32_t number = event.warp / warps_;
  if (number >= streams_.size()) {
    streams_.resize(number + 1);
  }
  Stream& stream = streams_[number];
  std::uint64_t hash = kHashSeed;
  const auto add = [&](std::uint64_t part) { hash = (hash ^ part) * kHashPrime; };
  add(event.warp % warps_);
  add(static_cast<std::uint64_t>(event.op) * 8 + static_cast<std::uint64_t>(event.step));
  add(std::uint64_t{event.address} << 32 | event.peer);
  add(std::uint64_t{event.cta % ctas_} << 32 | event.peer_cta % ctas_);
  const bool store = event.op == Op::kTensorStore || event.op == Op::kBulkStore;  // a group number
  add((store ? 0 : std::uint64_t{event.count} << 32) | event.bytes);
  // Of a copy that is issued, these say how much of its box the tensor's edge leaves: data. Of what
  // a warpgroup multiplies, how many came before.
  const bool issues_copy = event.step == Step::kIssued && (store || is_load(event.op));
  const bool numbered =
      event.op == Op::kWgmma || event.op == Op::kWgmmaCommit || event.op == Op::kWgmmaWait;
  add(issues_copy || numbered
          ? 0
          : std::uint64_t{event.pending} << 32 | static_cast<std::uint32_t>(event.tx));
  add(std::uint64_t{event.flags} << 32 | event.site.line);
  const bool wait = event.op == Op::kMbarrierWait && (event.flags & event_flag::kLateLanes) == 0;
  if (wait && is_marker(group, event.warp % warps_)) {
    std::vector<ProofNode> live;
    for (const auto& [warp, node] : group.last_tensor) {
      live.push_back(node);
    }
    std::vector<const ProofClock*> clocks;
    for (const auto& [serial, flight] : group.in_flight) {
      clocks.push_back(&flight.clock);
    }
    for (const auto& [leader, wgmmas] : group.wgmmas) {
      for (const Wgmmas::Issued& issued : wgmmas.issued) {
        clocks.push_back(&issued.clock);
      }
    }
    add(group.conditions.digest(live, clocks));
    stream.marks.push_back(static_cast<std::uint32_t>(stream.steps.size()));
  }
  stream.steps.push_back(hash);
}

// A synchronous operation on a barrier of the own CTA.
void RunOrder::on_barrier(Group& group, const Event& event, std::uint32_t self) {
  const auto found = group.mbarriers.find(key(event.cta, event.address));
  if (found == group.mbarriers.end()) {
    return;
  }
  if ((event.flags & (event_flag::kDrop | event_flag::kNoComplete)) != 0) {
    undecided("arrive_drop and .noComplete are not part of the proof", event);
    return;
  }
  const bool completes = (event.flags & event_flag::kPhaseCompleted) != 0;
  const ProtocolKind kind = kind_of(event);
  const std::uint32_t arrivals =
      kind == ProtocolKind::kExpect || kind == ProtocolKind::kComplete ? 0 : event.count;
  group.conditions.contribute(node_of(event, self, counter_.warp_index(event.warp)),
                              group.conditions.clock(self),
                              found->second,
                              event.phase,
                              {kind, arrivals, event.bytes, completes});
  record(group, self, event, {kind, found->second, 0, arrivals, event.bytes, 0, {}});
}

// Loads, remote arrivals, and what goes through the tensor queue.
void RunOrder::on_deferred(Group& group, const Event& event, std::uint32_t self) {
  Conditions& conditions = group.conditions;
  const bool executes = event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp;
  const bool tensor = executes || event.op == Op::kTcgen05Commit;
  const std::uint32_t queue = warps_ * 2 + self;
  if (event.step == Step::kIssued) {
    InFlight flight;
    if (!group.spare.empty()) {
      flight.clock.swap(group.spare.back());  // its memory
      group.spare.pop_back();
    }
    flight.clock = conditions.clock(self);
    if (tensor) {
      const std::uint32_t position = counter_.tensor_issue(event.warp);
      flight.node = node_of(event, queue, position);
      raise(flight.clock, queue, position);
      group.last_tensor[self] = flight.node;
      if (executes) {
        return;
      }
    }
    if (starts_leaf(event)) {
      flight.node = node_of(event, kLeaf, counter_.leaf_issue(event.warp));
      if (event.warp == options_.watched_warp && flight.node.index == options_.watched_leaf) {
        watched_ = flight.clock;
      }
      const bool copy = is_load(event.op);
      if (!tensor && !copy) {
        flight.flushed_by = warps_ * 3 + self;
        flight.flushed_at = flight.node.index;
      }
      if (event.op == Op::kTcgen05Commit) {
        flight.targets = static_cast<std::uint32_t>(std::popcount(event.extra));
      }
    }
    flight.memory_of = event.cta;
    flight.barrier_of = is_load(event.op) ? event.peer_cta : event.cta;
    if (options_.record != nullptr && group.agents[self] != kLeaf &&
        event.warp / warps_ == options_.recorded_group) {
      flight.recorded_after =
          static_cast<std::uint32_t>(options_.record->agents[group.agents[self]].ops.size());
    }
    group.in_flight.insert_or_assign(event.serial, std::move(flight));
    return;
  }
  const auto found = group.in_flight.find(event.serial);
  const bool part = event.step == Step::kCounted;
  const bool lands =
      is_load(event.op) ? event.step == Step::kWritten || part : event.step == Step::kSignalled;
  if (!lands || found == group.in_flight.end()) {
    return;
  }
  InFlight& flight = found->second;
  const std::uint32_t owner = is_load(event.op) ? event.peer_cta : event.cta;
  const std::uint32_t address = is_load(event.op) ? event.peer : event.address;
  const auto barrier = group.mbarriers.find(key(owner, address));
  if (barrier != group.mbarriers.end()) {
    const std::uint32_t number = barrier->second;
    const ProtocolKind kind = kind_of(event);
    const bool arrives = kind == ProtocolKind::kArrive || kind == ProtocolKind::kArriveExpect;
    const std::uint32_t arrivals = arrives ? std::max(event.count, 1U) : 0;
    const bool completes = (event.flags & event_flag::kPhaseCompleted) != 0;
    if (flight.node.chain != kLeaf) {
      // The queue is a chain: it has executed all that came before.
      join(conditions.clock(queue), flight.clock);
      conditions.step(queue, flight.node.index);
      conditions.contribute(flight.node,
                            conditions.clock(queue),
                            number,
                            event.phase,
                            {kind, arrivals, event.bytes, completes, owner, owner});
      if (flight.recorded_after != 0 && options_.record != nullptr) {
        record(group, queue, event, after_op(group.agents[self], flight.recorded_after - 1));
      }
      record(group, queue, event, {kind, number, 0, arrivals, event.bytes, 0, {}});
    } else {
      conditions.contribute(flight.node,
                            flight.clock,
                            number,
                            event.phase,
                            {kind,
                             arrivals,
                             part ? event.bytes : event.bytes - flight.counted,
                             completes,
                             event.cta,
                             owner,
                             flight.flushed_by,
                             flight.flushed_at});
      if (part) {
        flight.counted += event.bytes;
        return;
      }
      record_leaf(group, flight, event, {kind, number, 0, arrivals, event.bytes, 0, {}});
    }
    if (options_.keep_leaves && flight.node.chain == kLeaf &&
        event.warp / warps_ == options_.recorded_group) {
      leaves_[{self, flight.node.index, owner}] = {conditions.component(number), event.phase};
    }
  }
  if (--flight.targets == 0) {
    group.spare.push_back(std::move(flight.clock));
    group.in_flight.erase(found);
  }
}

void RunOrder::on_wait(Group& group, const Event& event, std::uint32_t self) {
  const auto found = group.mbarriers.find(key(event.cta, event.address));
  if (found == group.mbarriers.end()) {
    return;
  }
  const std::uint32_t number = found->second;
  const bool exact = (event.flags & event_flag::kExactPhase) != 0;
  const auto current = static_cast<std::int32_t>(event.phase);
  if (event.op == Op::kMbarrierTryWait) {
    tried_ = true;
    const ProofNode node = node_of(event, self, counter_.warp_index(event.warp));
    if ((event.flags & event_flag::kFalse) != 0) {
      group.conditions.look(node, number, meant_by_try(event));
      if (open_tries_.size() < kOpenTriesMax) {
        open_tries_.push_back({event.warp, open_of_warp_[event.warp]++});
      }
      return;
    }
    // It can only say yes: a wait that passes at once.
  }
  const std::int32_t phase = exact ? static_cast<std::int32_t>(event.wanted) : current - 1;
  if (phase != current - 1) {
    return;  // the run itself went wrong here, and says so
  }
  if ((event.flags & event_flag::kLateLanes) != 0) {
    const std::uint32_t late = warps_ + self;
    const std::uint32_t index = counter_.late_step(event.warp);
    group.conditions.step(late, index);
    group.conditions.late_pass(node_of(event, late, index), number, phase);
    if (options_.record != nullptr && group.agents[self] != kLeaf) {
      const std::size_t ops = options_.record->agents[group.agents[self]].ops.size();
      record(group, late, event, after_op(group.agents[self], static_cast<std::uint32_t>(ops - 1)));
    }
    record(group, late, event, wait_op(number, phase));
    return;
  }
  group.conditions.wait(node_of(event, self, counter_.warp_index(event.warp)), number, phase);
  record(group, self, event, wait_op(number, phase));
}

// Completes generations of a barrier that warps which had ended did not have to come to.
void RunOrder::close_generation(Group& group,
                                std::uint32_t barrier,
                                std::uint32_t first,
                                std::uint32_t end) {
  ProofClock ended;
  for (std::uint32_t warp = first; warp < end; ++warp) {
    const std::uint64_t arrival = std::uint64_t{barrier} << 32 | warp;
    const auto last = group.arrived.find(arrival);
    const std::uint32_t generation = group.conditions.phase_of(barrier);
    if (group.ended[warp] && (last == group.arrived.end() || last->second <= generation)) {
      join(ended, group.conditions.clock(warp));
    }
  }
  group.conditions.complete_by(barrier, ended);
}

void RunOrder::on_named(Group& group, const Event& event, std::uint32_t self) {
  const auto [found, added] = group.named.try_emplace(key(event.cta, event.address), 0U);
  if (added) {
    const std::uint32_t arrivals = event.count / kWarpLanes;
    found->second = number_of(
        group, {ProofBarrier::Kind::kNamed, event.cta, event.address}, arrivals, PhaseTest::kExact);
    if (options_.record != nullptr && event.warp / warps_ == options_.recorded_group) {
      options_.record->barriers.resize(found->second + 1);
      options_.record->barriers[found->second] = {arrivals, PhaseTest::kExact, {}};
    }
  }
  const std::uint32_t number = found->second;
  const ProofNode node = node_of(event, self, counter_.warp_index(event.warp));
  const bool returns = event.pending != 0;
  const bool completes = (event.flags & event_flag::kPhaseCompleted) != 0;
  const std::uint32_t first = self / config_.warps_per_cta * config_.warps_per_cta;
  if (!returns) {
    // Where the count was left out, warps that have ended before are among those it takes.
    const bool of_all = event.wanted != 0;
    group.conditions.contribute(node,
                                group.conditions.clock(self),
                                number,
                                event.phase,
                                {ProtocolKind::kArrive, 1, 0, completes && !of_all});
    group.arrived[std::uint64_t{number} << 32 | self] = event.phase + 1;
    if (completes && of_all) {
      close_generation(group, number, first, first + config_.warps_per_cta);
    }
    record(group, self, event, arrive_op(number));
  }
  if (returns || (completes && event.op == Op::kBarSync)) {
    if (group.conditions.phase_of(number) <= event.phase) {
      close_generation(group, number, first, first + config_.warps_per_cta);
    }
    group.conditions.wait(node, number, static_cast<std::int32_t>(event.phase));
    record(group, self, event, wait_op(number, static_cast<std::int32_t>(event.phase)));
  }
}

void RunOrder::on_cluster(Group& group, const Event& event, std::uint32_t self) {
  const std::uint32_t cluster_warps = config_.cluster_size * config_.warps_per_cta;
  const std::uint32_t first = self / cluster_warps * cluster_warps;
  const auto [found, added] = group.cluster.try_emplace(self / cluster_warps, 0U);
  if (added) {
    found->second = number_of(
        group, {ProofBarrier::Kind::kCluster, event.cta, 0}, cluster_warps, PhaseTest::kExact);
    if (options_.record != nullptr && event.warp / warps_ == options_.recorded_group) {
      options_.record->barriers.resize(found->second + 1);
      options_.record->barriers[found->second] = {cluster_warps, PhaseTest::kExact, {}};
    }
  }
  const std::uint32_t number = found->second;
  const bool waits = event.op == Op::kClusterWait;
  // Its generation is complete when somebody waits no more, or arrives for the next.
  if (group.conditions.phase_of(number) + (waits ? 0 : 1) <= event.phase) {
    close_generation(group, number, first, first + cluster_warps);
  }
  const ProofNode node = node_of(event, self, counter_.warp_index(event.warp));
  if (waits) {
    group.conditions.wait(node, number, static_cast<std::int32_t>(event.phase));
    record(group, self, event, wait_op(number, static_cast<std::int32_t>(event.phase)));
    return;
  }
  if (event.ordering.semantics != Semantics::kRelaxed) {
    raise(group.conditions.clock(self), warps_ * 3 + self, counter_.leaf_issued(event.warp));
    record_flush(group, self, event);
  }
  group.arrived[std::uint64_t{number} << 32 | self] = event.phase + 1;
  group.conditions.contribute(node,
                              group.conditions.clock(self),
                              number,
                              event.phase,
                              {ProtocolKind::kArrive, 1, 0, false});
  record(group, self, event, arrive_op(number));
}

// A word of global memory. With one writer each store is a phase; several that only add make a
// counter, which may be waited for at its last value.
void RunOrder::on_flag(Group& group, const Event& event, std::uint32_t self) {
  if (config_.clusters > 1 && !options_.whole_grid) {
    needs_whole_grid_ = true;
    return;
  }
  const auto [found, added] = group.flags.try_emplace(event.global);
  Flag& flag = found->second;
  if (added) {
    flag.barrier = number_of(
        group, {ProofBarrier::Kind::kFlag, event.cta, event.global}, 1, PhaseTest::kEqual);
    flag.values.push_back(event.pending);  // before this
    if (options_.record != nullptr) {
      options_.record->barriers.resize(flag.barrier + 1);
      options_.record->barriers[flag.barrier] = {1, PhaseTest::kEqual, {}};
    }
  }
  switch (event.op) {
    case Op::kGlobalLoadAcquire:
      flag.loaded = true;
      if (flag.writer != kLeaf && flag.writer != self) {
        undecided("what a load of a global word finds depends on the interleaving", event);
      }
      break;
    case Op::kGlobalWait:
      on_flag_wait(group, event, self, flag);
      break;
    default:
      on_flag_write(group, event, self, flag);
      break;
  }
}

// A poll tests a value, so it waits for a phase only if the word has the value in that phase alone:
// not before, and later only after the next store, which C2 holds back. Phase -1 is the initial
// value.
void RunOrder::on_flag_wait(Group& group, const Event& event, std::uint32_t self, Flag& flag) {
  flag.waited = true;
  if (flag.counter) {
    join(group.conditions.clock(self), flag.joined);
    return;
  }
  // A value that it has had before is gone when the warp looks, if the write that took its place is
  // known to have been made.
  const ProofClock& clock = group.conditions.clock(self);
  for (std::size_t i = flag.log.size(); i-- > 0;) {
    const auto [chain, index] = flag.log[i];
    if (flag.values[i] == flag.values.back()) {
      if (chain >= clock.size() || clock[chain] < index) {
        undecided("a global word is waited for at a value that it has had before", event);
      }
      break;
    }
  }
  const auto phase = static_cast<std::int32_t>(flag.writes) - 1;
  group.conditions.wait(node_of(event, self, counter_.warp_index(event.warp)), flag.barrier, phase);
  record(group, self, event, wait_op(flag.barrier, phase));
}

void RunOrder::on_flag_write(Group& group, const Event& event, std::uint32_t self, Flag& flag) {
  constexpr std::uint64_t kWordMax = ~std::uint32_t{0};
  ProofClock& clock = group.conditions.clock(self);
  const bool adds = event.op == Op::kGlobalRedAdd;
  if (flag.loaded && flag.writer != self) {
    undecided("what a load of a global word finds depends on the interleaving", event);
  }
  // Several writers, each after the one before, are as one.
  const bool in_turn = flag.writer < clock.size() && clock[flag.writer] >= flag.written_at;
  const bool another = flag.writer != kLeaf && flag.writer != self && !in_turn;
  flag.stored = flag.stored || !adds;
  flag.zero = flag.zero || event.count == 0;
  flag.sum += adds ? std::uint64_t{event.count} * std::max<std::uint32_t>(event.lanes, 1) : 0;
  if (flag.counter || another) {
    if (flag.waited) {
      undecided("a global word with several writers is waited for at a passing value", event);
    } else if (flag.stored || flag.zero) {
      undecided("a global word is stored to by several warps", event);
    } else if (flag.values.front() + flag.sum > kWordMax) {
      undecided("a global word that several warps add to runs over", event);
    }
    flag.counter = true;
  }
  flag.writer = self;
  flag.written_at = counter_.warp_index(event.warp);
  flag.log.emplace_back(self, flag.written_at);
  flag.values.push_back(event.wanted);  // after this
  join(flag.joined, clock);
  if (!flag.counter) {
    group.conditions.contribute(node_of(event, self, counter_.warp_index(event.warp)),
                                clock,
                                flag.barrier,
                                flag.writes,
                                {ProtocolKind::kArrive, 1, 0, true});
    record(group, self, event, arrive_op(flag.barrier));
  }
  ++flag.writes;
}

// Register pools: each warp changes its share once, and nobody gives back only after he has been
// given to. Then all that is asked for is there once all has been given back.
void RunOrder::on_registers(Group& group, const Event& event, std::uint32_t self) {
  RegisterPool& pool = group.pools[event.cta];
  const bool increase = (event.flags & event_flag::kIncrease) != 0;
  pool.total += increase ? std::int64_t{event.count} : 0;
  if (!pool.changed.insert(self).second) {
    undecided("a warp changes its registers twice", event);
  }
  if (increase) {
    pool.given.emplace_back(self, counter_.warp_index(event.warp));
    return;
  }
  for (const auto& [chain, index] : pool.given) {
    const ProofClock& clock = group.conditions.clock(self);
    if (chain < clock.size() && clock[chain] >= index) {
      undecided("registers are given back only after others were given", event);
    }
  }
}

// Requests of one warp, none after the first that fails: then how many succeed is all that is
// decided outside.
void RunOrder::on_request(Group& group, const Event& event, std::uint32_t self) {
  if (event.step != Step::kIssued) {
    return;
  }
  asked_ = true;
  if (config_.clusters > 1 && options_.whole_grid) {
    undecided("clusters that ask for others meet in global memory", event);
  }
  Requests& requests = group.requests[self / (config_.cluster_size * config_.warps_per_cta)];
  const std::uint32_t index = counter_.warp_index(event.warp);
  if (requests.warp == self && requests.last == index) {
    return;  // the same, to another CTA
  }
  if (requests.warp != kLeaf && requests.warp != self) {
    undecided("several warps of a cluster ask for others: who gets what is a choice", event);
  }
  if (requests.failed != 0) {
    undecided("a request is made before it is known that the one before got a cluster", event);
  }
  requests.warp = self;
  requests.last = index;
  requests.failed += event.wanted == 0 ? 1 : 0;
}

void RunOrder::on_exit(Group& group, const Event& event) {
  const std::uint32_t first = event.warp % warps_ / config_.warps_per_cta * config_.warps_per_cta;
  ProofClock clock;
  for (std::uint32_t warp = first; warp < first + config_.warps_per_cta; ++warp) {
    join(clock, group.conditions.clock(warp));
  }
  const ProofNode node = node_of(event, event.warp % warps_, counter_.warp_index(event.warp));
  group.conditions.exit(node, clock, event.cta);
  for (const auto& [serial, flight] : group.in_flight) {
    const bool flushed = flight.flushed_by != kLeaf && flight.flushed_by < clock.size() &&
                         clock[flight.flushed_by] >= flight.flushed_at;
    if (!flushed && (flight.memory_of == event.cta || flight.barrier_of == event.cta)) {
      group.conditions.violate({Condition::kLifetime, 0, 0, node, flight.node, clock});
    }
  }
  for (std::uint32_t warp = first; warp < first + config_.warps_per_cta; ++warp) {
    const auto last = group.last_tensor.find(warp);
    if (last == group.last_tensor.end()) {
      continue;
    }
    const std::uint32_t queue = warps_ * 2 + warp;
    if (queue >= clock.size() || clock[queue] < last->second.index) {
      group.conditions.violate({Condition::kLifetime, 0, 0, node, last->second, clock});
    }
  }
  if (--group.live_ctas == 0) {
    close_group(event.warp / warps_);
  }
}

void RunOrder::close_group(std::uint32_t number) {
  std::unique_ptr<Group>& group = groups_[number];
  if (group == nullptr) {
    return;
  }
  group->conditions.finish();
  for (const Violation& violation : group->conditions.violations()) {
    const bool known = std::any_of(findings_.begin(), findings_.end(), [&](const Finding& f) {
      return f.violation.condition == violation.condition &&
             f.violation.node.site.line == violation.node.site.line &&
             f.violation.other.site.line == violation.other.site.line;
    });
    if (!known && findings_.size() < kFindingsMax) {
      const ProofBarrier barrier = violation.barrier < group->barriers.size()
                                       ? group->barriers[violation.barrier]
                                       : ProofBarrier{};
      findings_.push_back({violation, number, barrier});
    }
  }
  group.reset();
}

// FNV-1a over what an operation is, not when; and where in global memory it acts, not who does it.
void RunOrder::note_work(const Event& event) {
  const bool begins = event.step == Step::kIssued || event.step == Step::kDone;
  const bool descriptor =
      event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp || event.op == Op::kWgmma;
  if (event.global != 0 && begins && !descriptor) {
    const std::uint32_t cluster = event.warp / (config_.cluster_size * config_.warps_per_cta);
    if (cluster >= accesses_.size()) {
      accesses_.resize(cluster + 1, 0);
    }
    std::uint64_t hash = kHashSeed;
    for (const std::uint64_t part : {std::uint64_t{static_cast<unsigned>(event.op)},
                                     event.global,
                                     std::uint64_t{event.bytes},
                                     std::uint64_t{event.pending}}) {
      hash = (hash ^ part) * kHashPrime;
    }
    accesses_[cluster] += hash;
  }
  // Late lanes have no work of their own, a bar.sync that waits has two events, and which warp of a
  // CTA is the last to end is nobody's work.
  const bool again = (event.flags & event_flag::kLateLanes) != 0 || event.op == Op::kCtaExit ||
                     (event.op == Op::kBarSync && event.pending != 0);
  if (!begins || again || asked_for_before(event)) {
    return;
  }
  if (event.warp >= work_.size()) {
    work_.resize(event.warp + 1, kHashSeed);
  }
  std::uint64_t& hash = work_[event.warp];
  for (const std::uint64_t part : {std::uint64_t{static_cast<unsigned>(event.op)},
                                   std::uint64_t{event.address},
                                   std::uint64_t{event.count},
                                   std::uint64_t{event.bytes},
                                   static_cast<std::uint64_t>(phase_waited_for(event)),
                                   std::uint64_t{event.site.line}}) {
    hash = (hash ^ part) * kHashPrime;
  }
}

// Whether the event is a try made again at once, or the wait for the phase that the warp's latest
// try on the mbarrier asked for: whatever the try said, they are one operation with it.
bool RunOrder::asked_for_before(const Event& event) {
  const bool tries = event.op == Op::kMbarrierTryWait;
  if (!tries && event.op != Op::kMbarrierWait) {
    return false;
  }
  const std::uint64_t place = key(event.warp, event.address);
  const std::int64_t phase = phase_waited_for(event);
  const auto found = asked_phases_.find(place);
  // What a weaker try acquires is not what the wait does.
  const bool same = found != asked_phases_.end() && found->second.phase == phase &&
                    found->second.ordering.semantics == event.ordering.semantics &&
                    found->second.ordering.scope == event.ordering.scope;
  if (!tries) {
    if (found != asked_phases_.end()) {
      asked_phases_.erase(found);
    }
    return same;
  }
  const bool again = same && found->second.site.line == event.site.line;
  asked_phases_[place] = {phase, event.site, event.ordering};
  return again;
}

std::uint64_t RunOrder::work() const {
  std::uint64_t hash = kHashSeed;
  for (const std::uint64_t part : work_) {
    hash = (hash ^ part) * kHashPrime;
  }
  return hash;
}

ProofClock RunOrder::before(std::uint32_t warp) const {
  const std::unique_ptr<Group>& group = groups_[group_of_warp(warp)];
  if (group == nullptr) {
    return {};
  }
  ProofClock clock = group->conditions.clock(warp % warps_);
  clock.resize(std::min<std::size_t>(clock.size(), warps_));
  return clock;
}

std::uint64_t RunOrder::work_of_cluster(std::uint32_t cluster) const {
  const std::size_t warps = std::size_t{config_.cluster_size} * config_.warps_per_cta;
  std::uint64_t hash = kHashSeed;
  for (std::size_t warp = cluster * warps; warp < std::min((cluster + 1) * warps, work_.size());
       ++warp) {
    hash = (hash ^ work_[warp]) * kHashPrime;
  }
  return hash;
}

std::uint64_t RunOrder::accesses_of_cluster(std::uint32_t cluster) const {
  return cluster < accesses_.size() ? accesses_[cluster] : 0;
}

void RunOrder::at_end() {
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    close_group(number);
  }
}

}  // namespace warptwin::sim
