#include "sim/prove/run_order.hpp"

#include <algorithm>
#include <utility>

#include "common/trace/op_facts.hpp"

#include "sim/prove/event_facts.hpp"
#include "sim/prove/operands.hpp"

namespace warptwin::sim {

static constexpr std::size_t kFindingsMax = 64;

bool RunOrder::certain(std::uint32_t warp,
                       std::uint32_t lanes,
                       std::uint32_t cta,
                       std::uint32_t address,
                       std::uint32_t phase) const {
  const std::unique_ptr<Group>& group = groups_[group_of_warp(warp)];
  if (group == nullptr) {
    return false;
  }
  const auto found = group->mbarriers.find(key(cta, address));
  if (found == group->mbarriers.end()) {
    return false;
  }
  const std::uint32_t self = chains_.place_of(warp);
  ProofNode node{self};
  say_whose(*group, lanes, node);
  return group->conditions.certain(node, known_to(*group, lanes, self), found->second, phase);
}

RunOrder::RunOrder(const LaunchConfig& config, const Options& options)
    : config_{config},
      options_{options},
      ctas_{config.cluster_size * (options.whole_grid ? config.clusters : 1)},
      chains_{ctas_ * config.warps_per_cta},
      counter_{config},
      work_{config} {
  groups_.resize(options.whole_grid ? 1 : config.clusters);
}

RunOrder::Group& RunOrder::group_of(const Event& event) {
  std::unique_ptr<Group>& group = groups_[chains_.group_of(event.warp)];
  if (group == nullptr) {
    group = std::make_unique<Group>(chains_, components());
    group->ends.resize(chains_.warps());
    group->live_ctas = ctas_;
    group->agents.assign(chains_.count(), kLeaf);
  }
  return *group;
}

std::uint32_t RunOrder::number_of(
    Group& group, const Event& event, ProofBarrier barrier, std::uint32_t count, PhaseTest test) {
  const std::uint32_t number = group.conditions.add_barrier(count, test);
  group.barriers.push_back(barrier);
  if (is_recorded(event)) {
    options_.record->barriers.resize(number + 1);
    options_.record->barriers[number] = {count, test, {}};
  }
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
  } else {
    ++not_kept_;
  }
}

// --- The recorded protocol --------------------------------------------------------------------

std::uint32_t RunOrder::record_agent(Group& group, std::uint32_t chain, const Event& event) {
  Protocol& protocol = *options_.record;
  if (group.agents[chain] == kLeaf) {
    group.agents[chain] = static_cast<std::uint32_t>(protocol.agents.size());
    const std::uint32_t warp = chains_.place_of(event.warp);
    constexpr const char* kKinds[] = {"", " late lanes", " tensor queue"};
    protocol.agents.push_back(
        {{},
         "warp " + std::to_string(warp) + kKinds[static_cast<std::size_t>(chains_.kind(chain))]});
  }
  return group.agents[chain];
}

void RunOrder::record(Group& group, std::uint32_t chain, const Event& event, ProtocolOp op) {
  if (is_recorded(event)) {
    op.site = event.site;
    options_.record->agents[record_agent(group, chain, event)].ops.push_back(op);
  }
}

void RunOrder::record_leaf(Group& group,
                           const InFlight& flight,
                           const Event& event,
                           ProtocolOp op) {
  if (!is_recorded(event)) {
    return;
  }
  const std::uint32_t issuer = record_agent(group, chains_.place_of(event.warp), event);
  ProtocolAgent agent{{}, name_of(event.op)};
  if (flight.recorded_after != 0) {
    agent.ops.push_back(after_op(issuer, flight.recorded_after - 1));
  }
  op.site = event.site;
  agent.ops.push_back(op);
  if (flight.flushed_by != kLeaf) {
    group.recorded_remote[chains_.place_of(event.warp)].push_back(
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
    on_blocked_alloc(event);
    return;
  }
  work_.on_event(event);
  if (options_.work_only) {
    return;
  }
  Group& group = group_of(event);
  const std::uint32_t self = chains_.place_of(event.warp);
  on_step(group, event, self);
  if (event.op == Op::kWgmma || event.op == Op::kWgmmaWait) {
    on_wgmma(group, event, self);  // counted, whatever is wrong with its registers
  }
  if (event.fault != Fault::kNone) {
    return;  // the detectors' business: this run is wrong by itself
  }
  on_operation(group, event, self);
  note_one_by_one(group, event, self);
  if (pair_alloc) {
    on_pair_alloc(group, event, self);
  }
  note_step(group, event);
  if (event.op == Op::kCtaExit) {
    on_exit(group, event);
  }
}

void RunOrder::on_like_event(const Event& event) {
  if (event.op != Op::kStageNote && event.step != Step::kBlocked) {
    work_.on_event(event);
  }
}

// A warp has come to an allocation of a pair, whose other CTA has not.
void RunOrder::on_blocked_alloc(const Event& event) {
  Group& group = group_of(event);
  const std::uint32_t self = chains_.place_of(event.warp);
  const std::uint32_t executed = counter_.warp_index(event.warp);
  const auto known = group.pair_allocs.find(event.cta);
  // One that has allocated still waits for its peer to have.
  if (known == group.pair_allocs.end() || known->second.index != executed) {
    group.pair_allocs[event.cta] = {self, executed + 1, group.conditions.clock(self)};
  }
}

// Counts the operation in its warp. Where all lanes come together they know what each has done.
void RunOrder::on_step(Group& group, const Event& event, std::uint32_t self) {
  const std::uint32_t index = counter_.warp_step(event);
  if (index == 0) {
    return;
  }
  group.conditions.step(self, index);
  Lanes& lanes = group.lanes[self];
  if (event.lanes != kWarpLanes && event.op != Op::kWarpExit) {
    return;
  }
  if (has_trait(event.op, op_trait::kMeets) || has_trait(event.op, op_trait::kCollective)) {
    ProofClock& clock = group.conditions.clock(self);
    raise(clock, chains_.all_lanes(self), index);
    for (std::uint32_t set = 0; set < options_.lane_sets; ++set) {
      raise(clock, chains_.lane_set(set, self), index);
    }
    raise(clock, chains_.late_lanes(self), counter_.late_index(event.warp));
    for (const Lanes::Part& part : lanes.parts) {
      join(clock, part.clock);
    }
    lanes.sets.clear();
    lanes.parts.clear();
  }
  const bool waits = event.op == Op::kMbarrierWait || event.op == Op::kMbarrierTryWait;
  const std::uint32_t agent = group.agents[chains_.late_lanes(self)];
  if (!waits && options_.record != nullptr && agent != kLeaf) {
    const auto ops = static_cast<std::uint32_t>(options_.record->agents[agent].ops.size());
    if (std::exchange(lanes.late_recorded, ops) != ops) {
      record(group, self, event, after_op(agent, ops - 1));
    }
  }
}

void RunOrder::on_operation(Group& group, const Event& event, std::uint32_t self) {
  switch (event.op) {
    case Op::kMbarrierInit:
      group.mbarriers[key(event.cta, event.address)] =
          number_of(group,
                    event,
                    {ProofBarrier::Kind::kMbarrier, event.cta, event.address},
                    event.as<payload::Mbarrier>().arrivals,
                    PhaseTest::kParity);
      break;
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
    case Op::kSharedLoad:
      if (const payload::Rows* const rows = event.rows();
          rows != nullptr && is_atomic(static_cast<AccessKind>(rows->known))) {
        on_shared_atomic(group, event, self, static_cast<AccessKind>(rows->known));
      }
      break;
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
      on_tensor_memory(group, event, self);
      break;
    case Op::kWarpExit:
      group.ends[self] = node_of(event, self, counter_.warp_index(event.warp));
      break;
    default:
      break;
  }
}

void RunOrder::on_shared_atomic(Group& group,
                                const Event& event,
                                std::uint32_t self,
                                AccessKind kind) {
  if (kind == AccessKind::kDecided) {
    undecided("which warp's atomic of a word of shared memory comes first is asked for", event);
  }
  SharedAtomic& word = group.shared_atomics[std::uint64_t{event.cta} << 32 | event.address];
  const ProofNode node = node_of(group, event, self);
  if (kind != AccessKind::kAsked) {
    std::erase_if(word.others,
                  [&](const ProofNode& one) { return one.component() == node.component(); });
    word.others.push_back(node);
  }
  word.asked = word.asked || kind == AccessKind::kAsked;
  const ProofClock& clock = known_to(group, event.lane_mask(), self);
  const auto known = [&](const ProofNode& other) { return node.knows(other, clock); };
  if (word.asked &&
      (kind != AccessKind::kAsked || !std::all_of(word.others.begin(), word.others.end(), known))) {
    undecided("who is the last to count depends on when another atomic of the word comes", event);
  }
}

// Marks stand at the waits of the warp that has passed the most so far: one that goes round loops.
bool RunOrder::is_marker(Group& group, std::uint32_t self) {
  group.waits.resize(chains_.warps(), 0);
  ++group.waits[self];
  if (group.marker == kLeaf || group.waits[self] > group.waits[group.marker]) {
    group.marker = self;
  }
  return group.marker == self;
}

void RunOrder::note_step(Group& group, const Event& event) {
  // The further pieces of a tensor's box that lie inside it: data, as the first one is below.
  const bool piece =
      event.step == Step::kTouched && (event.op == Op::kTensorLoad || event.op == Op::kTensorStore);
  // What lanes copy from global memory is data, too: how it lies there depends on the rows' length.
  const payload::Rows* const rows = event.op == Op::kGlobalLoad ? event.rows() : nullptr;
  const bool source = rows != nullptr && (rows->copies != 0 || event.step == Step::kIssued);
  const std::uint32_t number = chains_.group_of(event.warp);
  if (number >= options_.streams_max || piece || source) {
    return;
  }
  if (number >= streams_.size()) {
    streams_.resize(number + 1);
  }
  Stream& stream = streams_[number];
  Hash hash;
  const auto add = [&hash](std::uint64_t part) { hash.add(part); };
  add(chains_.place_of(event.warp));
  add(static_cast<std::uint64_t>(event.op) * 8 + static_cast<std::uint64_t>(event.step));
  payload::Numbers numbers;
  if (event.is<payload::Mbarrier>()) {  // most of them
    const auto& said = event.as<payload::Mbarrier>();
    numbers.count = said.arrivals;
    numbers.pending = said.pending;
    numbers.tx = said.tx;
  } else {
    numbers = event.numbers();
  }
  add(std::uint64_t{event.address} << 32 | numbers.place);
  add(std::uint64_t{event.cta % ctas_} << 32 | numbers.place_cta % ctas_);
  add(std::uint64_t{numbers.count} << 32 | event.bytes);
  // Of a copy that is issued, these say how much of its box the tensor's edge leaves: data. Of what
  // a warpgroup multiplies, how many came before.
  const bool issues_copy = event.step == Step::kIssued && event.is<payload::Copy>();
  const bool numbered =
      event.op == Op::kWgmma || event.op == Op::kWgmmaCommit || event.op == Op::kWgmmaWait;
  add(issues_copy || numbered
          ? 0
          : std::uint64_t{numbers.pending} << 32 | static_cast<std::uint32_t>(numbers.tx));
  add(std::uint64_t{event.flags} << 32 | event.site.line);
  add(static_cast<std::uint64_t>(event.ordering.semantics) << 8 |
      static_cast<std::uint64_t>(event.ordering.scope));
  add(event.lane_mask());
  add_operands(event, event.cta - event.cta % ctas_, hash);
  const bool wait = event.op == Op::kMbarrierWait && (event.flags & event_flag::kLateLanes) == 0;
  if (wait && is_marker(group, chains_.place_of(event.warp))) {
    std::vector<ProofNode> live;
    for (const auto& [warp, node] : group.last_tensor) {
      live.push_back(node);
    }
    std::vector<const ProofClock*> clocks;
    for (const Lanes& lanes : group.lanes) {
      std::for_each(lanes.sets.begin(), lanes.sets.end(), add);
      add(lanes.sets.size());
      for (const Lanes::Part& part : lanes.parts) {
        add(part.lanes);
        clocks.push_back(&part.clock);
      }
    }
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
  stream.steps.push_back(hash.value());
}

void RunOrder::on_exit(Group& group, const Event& event) {
  const std::uint32_t first =
      chains_.place_of(event.warp) / config_.warps_per_cta * config_.warps_per_cta;
  ProofClock clock;
  for (std::uint32_t warp = first; warp < first + config_.warps_per_cta; ++warp) {
    join(clock, group.conditions.clock(warp));
  }
  const ProofNode node =
      node_of(event, chains_.place_of(event.warp), counter_.warp_index(event.warp));
  group.conditions.exit(node, clock, event.cta);
  for (const auto& [serial, flight] : group.in_flight) {
    const bool flushed = flight.flushed_by != kLeaf && flight.flushed_by < clock.size() &&
                         clock[flight.flushed_by] >= flight.flushed_at;
    const bool acts = flight.memory_of == event.cta || flight.barrier_of == event.cta ||
                      flight.source_of == event.cta;
    if (!flushed && acts) {
      group.conditions.violate({Condition::kLifetime, 0, 0, node, flight.node, clock});
    }
  }
  for (const SourceUse& use : group.sources) {
    const std::uint32_t seen = group.conditions.component(use.barrier);
    if (use.cta == event.cta && (seen >= clock.size() || clock[seen] < use.phase + 1)) {
      group.conditions.violate({Condition::kLifetime,
                                use.barrier,
                                static_cast<std::int32_t>(use.phase),
                                node,
                                use.node,
                                clock});
    }
  }
  std::erase_if(group.sources, [&](const SourceUse& use) { return use.cta == event.cta; });
  for (std::uint32_t warp = first; warp < first + config_.warps_per_cta; ++warp) {
    const auto last = group.last_tensor.find(warp);
    if (last == group.last_tensor.end()) {
      continue;
    }
    const std::uint32_t queue = chains_.tensor_queue(warp);
    if (queue >= clock.size() || clock[queue] < last->second.index) {
      group.conditions.violate({Condition::kLifetime, 0, 0, node, last->second, clock});
    }
  }
  if (--group.live_ctas == 0) {
    close_group(chains_.group_of(event.warp));
  }
}

void RunOrder::close_group(std::uint32_t number) {
  std::unique_ptr<Group>& group = groups_[number];
  if (group == nullptr) {
    return;
  }
  group->conditions.finish();
  close_pools(*group);
  for (const Violation& violation : group->conditions.violations()) {
    const bool known = std::any_of(findings_.begin(), findings_.end(), [&](const Finding& f) {
      return f.violation.condition == violation.condition &&
             f.violation.node.site.line == violation.node.site.line &&
             f.violation.other.site.line == violation.other.site.line;
    });
    if (known) {
      continue;
    }
    if (findings_.size() < kFindingsMax) {
      const ProofBarrier barrier = violation.barrier < group->barriers.size()
                                       ? group->barriers[violation.barrier]
                                       : ProofBarrier{};
      const ProofNode& other = violation.other;
      const bool order = violation.condition == Condition::kContributorsInOrder ||
                         violation.condition == Condition::kLookInTime;
      const bool of_lanes = order && other.component() != other.chain &&
                            other.chain < violation.before.size() &&
                            violation.before[other.chain] >= other.index;
      findings_.push_back({violation, number, barrier, of_lanes});
    } else {
      ++not_kept_;
    }
  }
  not_kept_ += group->conditions.not_kept();
  group.reset();
}

ProofClock RunOrder::before(std::uint32_t warp) const {
  const std::unique_ptr<Group>& group = groups_[group_of_warp(warp)];
  if (group == nullptr) {
    return {};
  }
  ProofClock clock = group->conditions.clock(chains_.place_of(warp));
  for (const Lanes::Part& part : group->lanes[chains_.place_of(warp)].parts) {
    join(clock, part.clock);
  }
  clock.resize(std::min<std::size_t>(clock.size(), chains_.warps()));
  return clock;
}

void RunOrder::at_end() {
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    close_group(number);
  }
}

}  // namespace warptwin::sim
