// Operations on barriers: mbarriers, named and cluster barriers, and words of global memory.

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/prove/event_facts.hpp"
#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

namespace {

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

// A drop changes what later phases need, and noComplete is wrong where the arrival is the last.
bool outside_proof(const Event& event) {
  return (event.flags & (event_flag::kDrop | event_flag::kNoComplete)) != 0;
}
constexpr const char* kOutsideProof = "arrive_drop and .noComplete are not part of the proof";

}  // namespace

// A synchronous operation on a barrier of the own CTA.
void RunOrder::on_barrier(Group& group, const Event& event, std::uint32_t self) {
  const auto found = group.mbarriers.find(key(event.cta, event.address));
  if (found == group.mbarriers.end()) {
    return;
  }
  if (outside_proof(event)) {
    undecided(kOutsideProof, event);
    return;
  }
  const bool completes = (event.flags & event_flag::kPhaseCompleted) != 0;
  const ProtocolKind kind = kind_of(event);
  const std::uint32_t arrivals = kind == ProtocolKind::kExpect || kind == ProtocolKind::kComplete
                                     ? 0
                                     : event.as<payload::Mbarrier>().arrivals;
  keep_tx_in_range(group, found->second, event, kind, event.bytes);
  contribute(group, event, self, found->second, {kind, arrivals, event.bytes, completes});
  record(group, self, event, {kind, found->second, 0, arrivals, event.bytes, 0, {}});
}

// In some interleaving all bytes of a phase are announced before the first comes, and in another
// they all come first: the tx-count has to hold both.
void RunOrder::keep_tx_in_range(Group& group,
                                std::uint32_t number,
                                const Event& event,
                                ProtocolKind kind,
                                std::uint32_t bytes) {
  if (bytes == 0) {
    return;
  }
  if (number >= group.tx.size()) {
    group.tx.resize(number + 1);
  }
  TxOfPhase& of = group.tx[number];
  if (of.phase != event.phase) {
    of = {event.phase};
  }
  std::uint64_t& sum = kind == ProtocolKind::kComplete ? of.completed : of.expected;
  sum += bytes;
  if (sum > kMbarrierCountMax) {
    undecided(
        "more bytes than a tx-count holds are of one phase: in another order it may leave its "
        "range",
        event);
  }
}

// Loads, remote arrivals, and what goes through the tensor queue.
void RunOrder::on_deferred(Group& group, const Event& event, std::uint32_t self) {
  if (event.step == Step::kIssued) {
    issue(group, event, self);
    return;
  }
  const auto found = group.in_flight.find(event.serial);
  const bool lands = is_load(event.op)
                         ? event.step == Step::kWritten || event.step == Step::kCounted
                         : event.step == Step::kSignalled;
  if (!lands || found == group.in_flight.end()) {
    return;
  }
  InFlight& flight = found->second;
  const bool load = is_load(event.op);
  const std::uint32_t owner = load ? event.signal().barrier_cta : event.cta;
  const std::uint32_t address = load ? event.signal().barrier : event.address;
  const auto barrier = group.mbarriers.find(key(owner, address));
  if (barrier != group.mbarriers.end()) {
    signal(group, event, flight, owner, barrier->second);
  }
  if (event.step != Step::kCounted && --flight.targets == 0) {
    group.spare.push_back(std::move(flight.clock));
    group.in_flight.erase(found);
  }
}

void RunOrder::issue(Group& group, const Event& event, std::uint32_t self) {
  const std::uint32_t queue = chains_.tensor_queue(self);
  const bool tensor = event.op == Op::kTcgen05Commit;
  const bool executes = event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp;
  if (tensor || executes) {
    const auto whose = group.queue_lanes.try_emplace(self, event.lane_mask()).first;
    if (whose->second != event.lane_mask()) {
      undecided("lanes of a warp issue tensor operations, in no order with each other's", event);
    }
  }
  if (executes) {
    if (!group.wgmmas.empty()) {
      undecided(kBothTensorCores, event);
    }
    group.last_tensor[self] = node_of(event, queue, counter_.tensor_issue(event.warp));
    return;
  }
  InFlight flight;
  if (!group.spare.empty()) {
    flight.clock.swap(group.spare.back());  // its memory
    group.spare.pop_back();
  }
  note_set(group.lanes[self], event.lane_mask());
  flight.clock = known_to(group, event.lane_mask(), self);
  if (event.lane_mask() != ~std::uint32_t{0} || event.op == Op::kMbarrierArrive) {
    raise(flight.clock, told_of(group, event, self));
  }
  if (tensor) {
    const std::uint32_t position = counter_.tensor_issue(event.warp);
    flight.node = node_of(event, queue, position);
    raise(flight.clock, queue, position);
    group.last_tensor[self] = flight.node;
  }
  if (starts_leaf(event)) {
    flight.node = node_of(event, kLeaf, counter_.leaf_issue(event.warp));
    if (event.warp == options_.watched_warp && flight.node.index == options_.watched_leaf) {
      watched_ = flight.clock;
    }
    if (!tensor && !is_load(event.op) && (event.flags & event_flag::kOfCopies) == 0) {
      flight.flushed_by = chains_.leaves(self);
      flight.flushed_at = flight.node.index;
    }
    if (tensor) {
      flight.targets =
          static_cast<std::uint32_t>(std::popcount(event.as<payload::Mbarrier>().mask));
    }
  }
  flight.memory_of = event.cta;
  flight.barrier_of = is_load(event.op) ? event.signal().barrier_cta : event.cta;
  if (event.op == Op::kBulkLoad && (event.flags & event_flag::kSharedSource) != 0) {
    flight.source_of = event.warp / config_.warps_per_cta;
  }
  if (is_recorded(event) && group.agents[self] != kLeaf) {
    flight.recorded_after =
        static_cast<std::uint32_t>(options_.record->agents[group.agents[self]].ops.size());
  }
  group.in_flight.insert_or_assign(event.serial, std::move(flight));
}

// What was issued acts on barrier `number`, of CTA `owner`.
void RunOrder::signal(
    Group& group, const Event& event, InFlight& flight, std::uint32_t owner, std::uint32_t number) {
  const std::uint32_t self = chains_.place_of(event.warp);
  if (event.op == Op::kMbarrierArrive && outside_proof(event)) {
    undecided(kOutsideProof, event);
    return;
  }
  const ProtocolKind kind = kind_of(event);
  const bool arrives = kind == ProtocolKind::kArrive || kind == ProtocolKind::kArriveExpect;
  const std::uint32_t arrivals = arrives ? std::max(event.as<payload::Mbarrier>().arrivals, 1U) : 0;
  const bool completes = (event.flags & event_flag::kPhaseCompleted) != 0;
  const ProtocolOp recorded{kind, number, 0, arrivals, event.bytes, 0, {}};
  if (flight.node.chain != kLeaf) {
    // The queue is a chain: it has executed all that came before.
    const std::uint32_t queue = chains_.tensor_queue(self);
    join(group.conditions.clock(queue), flight.clock);
    group.conditions.step(queue, flight.node.index);
    group.conditions.contribute(flight.node,
                                group.conditions.clock(queue),
                                number,
                                event.phase,
                                {kind, arrivals, event.bytes, completes, owner, owner});
    if (flight.recorded_after != 0 && options_.record != nullptr) {
      record(group, queue, event, after_op(group.agents[self], flight.recorded_after - 1));
    }
    record(group, queue, event, recorded);
    return;
  }
  const bool part = event.step == Step::kCounted;
  keep_tx_in_range(group, number, event, kind, part ? event.bytes : event.bytes - flight.counted);
  group.conditions.contribute(flight.node,
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
  record_leaf(group, flight, event, recorded);
  if (flight.source_of != kLeaf) {
    group.sources.push_back({flight.source_of, number, event.phase, flight.node});
  }
  if (options_.keep_leaves && chains_.group_of(event.warp) == options_.recorded_group) {
    leaves_[{self, flight.node.index, owner}] = {group.conditions.component(number), event.phase};
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
  if ((event.flags & event_flag::kCountsTries) != 0) {
    undecided("a loop counts the tries of a barrier, and may give up", event);
  }
  if (event.op == Op::kMbarrierTryWait) {
    tried_ = true;
    if ((event.flags & event_flag::kFalse) != 0) {
      group.conditions.look(node_of(group, event, self),
                            known_to(group, event.lane_mask(), self),
                            number,
                            meant_by_try(event));
      if (open_tries_.size() < kOpenTriesMax) {
        open_tries_.push_back({event.warp, open_of_warp_[event.warp]++});
      }
      return;
    }
    // It can only say yes: a wait that passes at once.
  }
  const std::int32_t phase =
      exact ? static_cast<std::int32_t>(event.as<payload::Mbarrier>().wanted) : current - 1;
  if (phase != current - 1) {
    return;  // the run itself went wrong here, and says so
  }
  if ((event.flags & event_flag::kLateLanes) != 0) {
    const std::uint32_t late = chains_.late_lanes(self);
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
  pass(group, event, self, number, phase);
  record(group, self, event, wait_op(number, phase));
}

// Completes generations of a barrier that warps which had ended did not have to come to.
void RunOrder::close_generation(Group& group,
                                std::uint32_t barrier,
                                std::uint32_t first,
                                std::uint32_t end) {
  ProofClock ended;
  std::vector<ProofNode> ends;
  for (std::uint32_t warp = first; warp < end; ++warp) {
    const std::uint64_t arrival = std::uint64_t{barrier} << 32 | warp;
    const auto last = group.arrived.find(arrival);
    const std::uint32_t generation = group.conditions.phase_of(barrier);
    if (group.ends[warp] && (last == group.arrived.end() || last->second <= generation)) {
      join(ended, group.conditions.clock(warp));
      ends.push_back(*group.ends[warp]);
    }
  }
  group.conditions.complete_by(barrier, ended, ends);
}

void RunOrder::on_named(Group& group, const Event& event, std::uint32_t self) {
  const auto [found, added] = group.named.try_emplace(key(event.cta, event.address), 0U);
  if (added) {
    const std::uint32_t arrivals = event.as<payload::NamedBarrier>().threads / kWarpLanes;
    found->second = number_of(group,
                              event,
                              {ProofBarrier::Kind::kNamed, event.cta, event.address},
                              arrivals,
                              PhaseTest::kExact);
  }
  const std::uint32_t number = found->second;
  const bool returns = event.as<payload::NamedBarrier>().returns;
  const bool completes = (event.flags & event_flag::kPhaseCompleted) != 0;
  const std::uint32_t first = self / config_.warps_per_cta * config_.warps_per_cta;
  const auto close = [&] {
    close_generation(group, number, first, first + config_.warps_per_cta);
    tell_waiting(group, number);
  };
  // Ends have completed a generation when somebody waits no more, or arrives for the next.
  if (group.conditions.phase_of(number) + (returns ? 0 : 1) <= event.phase) {
    close();
  }
  if (!returns) {
    // Where the count was left out, warps that have ended before are among those it takes.
    const bool of_all = event.as<payload::NamedBarrier>().of_all;
    contribute(group, event, self, number, {ProtocolKind::kArrive, 1, 0, completes && !of_all});
    group.arrived[std::uint64_t{number} << 32 | self] = event.phase + 1;
    if (completes && of_all) {
      close();
    } else if (completes) {
      tell_waiting(group, number);
    } else if (event.op == Op::kBarSync) {
      group.waiting[number].push_back(self);
    }
    record(group, self, event, arrive_op(number));
  }
  if (returns || (completes && event.op == Op::kBarSync)) {
    pass(group, event, self, number, static_cast<std::int32_t>(event.phase));
    record(group, self, event, wait_op(number, static_cast<std::int32_t>(event.phase)));
  }
}

// Who waits may return late by any number of generations of others, and learns of its own at once.
void RunOrder::tell_waiting(Group& group, std::uint32_t number) {
  const auto phase = static_cast<std::int32_t>(group.conditions.phase_of(number)) - 1;
  for (const std::uint32_t warp : std::exchange(group.waiting[number], {})) {
    group.conditions.learn(group.conditions.clock(warp), number, phase);
  }
}

void RunOrder::on_cluster(Group& group, const Event& event, std::uint32_t self) {
  const std::uint32_t cta = event.warp / config_.warps_per_cta;
  const std::uint32_t cluster_warps = config_.size_around(cta) * config_.warps_per_cta;
  const std::uint32_t first =
      self - (event.warp - config_.first_around(cta) * config_.warps_per_cta);
  const auto [found, added] = group.cluster.try_emplace(first, 0U);
  if (added) {
    found->second = number_of(group,
                              event,
                              {ProofBarrier::Kind::kCluster, event.cta, 0},
                              cluster_warps,
                              PhaseTest::kExact);
  }
  const std::uint32_t number = found->second;
  const bool waits = event.op == Op::kClusterWait;
  // Its generation is complete when somebody waits no more, or arrives for the next.
  if (group.conditions.phase_of(number) + (waits ? 0 : 1) <= event.phase) {
    close_generation(group, number, first, first + cluster_warps);
  }
  if (waits) {
    pass(group, event, self, number, static_cast<std::int32_t>(event.phase));
    record(group, self, event, wait_op(number, static_cast<std::int32_t>(event.phase)));
    return;
  }
  if (event.ordering.semantics != Semantics::kRelaxed) {
    raise(group.conditions.clock(self), chains_.leaves(self), counter_.leaf_issued(event.warp));
    record_flush(group, self, event);
  }
  group.arrived[std::uint64_t{number} << 32 | self] = event.phase + 1;
  contribute(group, event, self, number, {ProtocolKind::kArrive, 1, 0, false});
  record(group, self, event, arrive_op(number));
}

// A word of global memory. With one writer each store is a phase; several that only add make a
// counter, which may be waited for at its last value.
void RunOrder::on_flag(Group& group, const Event& event, std::uint32_t self) {
  const bool meets = !is_count(event.global);
  if (!config_.falls_back.empty() && meets) {
    undecided("clusters of two sizes meet in global memory", event);
  }
  if (config_.clusters > 1 && !options_.whole_grid && meets) {
    needs_whole_grid_ = true;
    return;
  }
  const auto [found, added] = group.flags.try_emplace(event.global);
  Flag& flag = found->second;
  const ProofBarrier word{ProofBarrier::Kind::kFlag, event.cta, event.global};
  if (added && event.op == Op::kGlobalRedAdd && (event.flags & event_flag::kSignAsked) != 0) {
    flag.meets = true;
    flag.barrier = number_of(group, event, word, WordTest::kSign, PhaseTest::kParity);
  } else if (added) {
    flag.barrier = number_of(group, event, word, 1, PhaseTest::kEqual);
    flag.values.push_back(event.as<payload::GlobalWord>().before);  // before this
  }
  if (flag.meets) {
    on_meeting_word(group, event, self, flag);
    return;
  }
  if (flag.closed) {
    undecided("a word that several have added to is used again behind the store that ends it",
              event);
    return;
  }
  switch (event.op) {
    case Op::kGlobalLoadAcquire: {
      const ProofNode node = node_of(group, event, self);
      const ProofClock& clock = known_to(group, event.lane_mask(), self);
      const bool all_known = is_behind_writes(flag, node, event.lane_mask(), clock);
      flag.add_load(node, event.lane_mask());
      if (!all_known) {
        undecided("what a load of a global word finds depends on the interleaving", event);
      } else if (flag.writes != 0 && flag.log.back().chain != self) {
        // In the order of operations. Whether memory follows it this order does not say.
        undecided(
            "a load, and no wait, of a global word that another warp has written: whether it "
            "finds what was written is not looked at",
            event);
      }
      break;
    }
    case Op::kGlobalWait:
      on_flag_wait(group, event, self, flag);
      break;
    default:
      on_flag_write(group, event, self, flag);
      break;
  }
}

// What cooperative groups make of a grid's barrier: all CTAs together add 2^31, and each waits
// until the sign is not the one that its own add has found. That is an mbarrier of 2^31 arrivals.
void RunOrder::on_meeting_word(Group& group, const Event& event, std::uint32_t self, Flag& flag) {
  const auto phase = static_cast<std::int32_t>(flag.turns) - 1;
  if (event.op == Op::kGlobalWait && WordTest::of(event).sign()) {
    pass(group, event, self, flag.barrier, phase);
    record(group, self, event, wait_op(flag.barrier, phase));
    return;
  }
  const auto& said = event.as<payload::GlobalWord>();
  const std::uint32_t added = said.before & ~WordTest::kSign;  // in this phase
  const bool adds = event.op == Op::kGlobalRedAdd && (event.flags & event_flag::kSignAsked) != 0;
  if (!adds || said.value == 0 || event.lanes > 1 || said.value > WordTest::kSign - added ||
      (flag.writes == 0 && added != 0)) {
    undecided("a word by which a grid meets is used in another way, too", event);
    return;
  }
  const bool completes = added + said.value == WordTest::kSign;
  Conditions::Contribution what{ProtocolKind::kArrive, said.value, 0, completes};
  const ProofNode node = node_of(group, event, self);
  what.tells = told_of(group, event, self);
  group.conditions.contribute(
      node, known_to(group, event.lane_mask(), self), flag.barrier, flag.turns, what);
  record(group, self, event, arrive_op(flag.barrier, said.value));
  flag.turns += completes ? 1 : 0;
  ++flag.writes;
}

// All have added where nothing less passes. The word only grows: where the sign stays, less as a
// signed number is less.
void RunOrder::on_counter_wait(Group& group, const Event& event, std::uint32_t self, Flag& flag) {
  const WordTest test = WordTest::of(event);
  const std::uint32_t sum = flag.values.back();
  const bool grows = !test.is_signed || ((flag.values.front() ^ sum) & WordTest::kSign) == 0;
  const bool at_least = test.kind == WordTest::Kind::kAtLeast && grows;
  const bool tells = test.flip == 0 && ~test.mask == 0 && flag.adds_alone &&
                     (at_least || (test.kind == WordTest::Kind::kEqual && test.with == sum));
  if (tells && test.with == sum && !(flag.reached && flag.reached->value == sum)) {
    flag.reached = Flag::Reached{
        sum, flag.reached ? flag.reached->end : 0, flag.log.size(), false, true, flag.joined};
  }
  if (!tells || !flag.reached || flag.reached->value != test.with) {
    undecided("a wait for a global word that several add to may pass before the last of them",
              event);
    return;
  }
  flag.waits.push_back(node_of(group, event, self));
  flag.reached->is_signed = flag.reached->is_signed || test.is_signed;
  flag.reached->moves_on = flag.reached->moves_on && at_least;
  learn(group, event, self, [&](ProofClock& clock) { join(clock, flag.reached->joined); });
}

// Whether it can be told what is added to a counter behind what was waited for before.
bool RunOrder::adds_behind(const Flag& flag,
                           const ProofNode& node,
                           const ProofClock& clock,
                           std::uint32_t value) {
  if (!flag.reached) {
    return true;
  }
  const Flag::Reached& reached = *flag.reached;
  const bool keeps = !reached.is_signed || ((reached.value ^ value) & WordTest::kSign) == 0;
  const auto known = [&](const ProofNode& before) { return node.knows(before, clock); };
  return keeps && reached.moves_on &&
         std::all_of(flag.log.begin() + static_cast<std::ptrdiff_t>(reached.first),
                     flag.log.begin() + static_cast<std::ptrdiff_t>(reached.end),
                     known);
}

// A poll tests a value, so it waits for a phase only if the word has the value in that phase alone:
// not before, and later only after the next store, which C2 holds back. Phase -1 is the initial
// value.
void RunOrder::on_flag_wait(Group& group, const Event& event, std::uint32_t self, Flag& flag) {
  const WordTest test = WordTest::of(event);
  if (flag.counter) {
    on_counter_wait(group, event, self, flag);
    return;
  }
  flag.waited = true;
  // A value that passes, and that it has had before, is gone when the warp looks, if the write that
  // took its place is known to have been made.
  ProofNode node = node_of(group, event, self);
  const ProofClock& clock = known_to(group, event.lane_mask(), self);
  const bool lasts = test == WordTest{WordTest::Kind::kAtLeast, test.is_signed, test.with};
  flag.add_wait({node, flag.log.size(), lasts});
  const auto known = [&](const ProofNode& write) { return node.knows(write, clock); };
  for (std::size_t end = flag.log.size(); end > 0;) {
    std::size_t first = end - 1;
    while (flag.adders[first].in_turn) {
      --first;
    }
    if (flag.passes_amid(first, end, test, [](const ProofNode&) { return false; })) {
      if (flag.passes_amid(first, end, test, known)) {
        undecided("a global word is waited for at a value that it has had before", event);
      }
      break;
    }
    end = first;
  }
  const auto phase = static_cast<std::int32_t>(flag.writes) - 1;
  if (lasts) {
    if (event.lane_mask() == ~std::uint32_t{0}) {
      node.known_by = kLeaf;  // as where a wait passes
    }
    // Who knows of this wait knows of those before it.
    std::erase_if(flag.lasting, [&](const Flag::Lasting& one) {
      return one.node.component() == node.component() && one.test == test;
    });
    flag.lasting.push_back({test, node, clock});
    learn_phase(group, event, self, flag.barrier, phase);
  } else {
    flag.passes.push_back(node);
    pass(group, event, self, flag.barrier, phase);
  }
  record(group, self, event, wait_op(flag.barrier, phase));
}

// A lane of the write's own warp may look behind it, and wait for good, unless it has met those
// that write. One lane comes behind itself.
void RunOrder::have_met(const Event& event,
                        const ProofNode& write,
                        const ProofClock& clock,
                        const ProofNode& wait) {
  if (!options_.lanes_in_turn || wait.chain != write.chain) {
    return;
  }
  const std::uint32_t by =
      wait.known_by == kLeaf ? chains_.all_lanes(wait.chain) : wait.component();
  const bool one = wait.alone && write.alone && wait.component() == write.component();
  if (!one && !(by < clock.size() && clock[by] >= wait.index)) {
    undecided("lanes of a warp that waits for a global word change it, and have not met the others",
              event);
  }
}

// The last write leaves what some of the waits do not pass at: they have to be over.
void RunOrder::owe_lasting(Group& group, const Event& event, const ProofClock& clock, Flag& flag) {
  std::erase_if(flag.lasting, [&](const Flag::Lasting& one) {
    const bool over = !flag.passes_through(flag.log.size() - 1, one.test);
    if (over) {
      have_met(event, flag.log.back(), clock, one.node);
      group.conditions.owe_pass(one.node, one.clock, flag.barrier);
    }
    return over;
  });
}

// Before all lanes have made the writes from `first` to `end`, in any order: by what was there, or
// by what some of them leave. Those that `made` accepts have been.
bool RunOrder::Flag::passes_amid(std::size_t first,
                                 std::size_t end,
                                 const WordTest& test,
                                 const std::function<bool(const ProofNode&)>& made) const {
  constexpr std::uint64_t kStatesMax = 4096;
  std::uint32_t value = values[first];
  std::vector<Adders> open;
  std::uint64_t states = 1;
  for (std::size_t i = first; i < end; ++i) {
    if (!adders[i].adds && end - first > 1) {
      return true;  // which words come between is not known
    }
    const Adders by{std::max<std::uint32_t>(adders[i].lanes, 1), adders[i].each};
    if (made(log[i])) {
      value += by.lanes * by.each;
    } else {
      open.push_back(by);
      states = std::min(states * (by.lanes + 1), kStatesMax + 1);
    }
  }
  if (states > kStatesMax) {
    return true;  // it is not looked at
  }
  // All but the last state, in which everybody has.
  for (std::uint64_t state = 0; state + 1 < states; ++state) {
    std::uint32_t left = value;
    std::uint64_t rest = state;
    for (const Adders& by : open) {
      left += static_cast<std::uint32_t>(rest % (by.lanes + 1)) * by.each;
      rest /= by.lanes + 1;
    }
    if (test.holds(left)) {
      return true;
    }
  }
  return false;
}

// Who knows the later of two of one component knows the earlier.
void RunOrder::Flag::add_load(const ProofNode& node, std::uint32_t lanes) {
  std::erase_if(loads, [&](const Access& one) {
    const bool same = one.node.component() == node.component();
    lanes |= same ? one.lanes : 0;
    return same;
  });
  loads.push_back({node, lanes});
}

// Lanes of a warp access a word in order where they have met, or are one thread; those that one
// instruction has take turns as in the run.
bool RunOrder::is_behind(const ProofNode& node,
                         const Flag::Access& before,
                         std::uint32_t lanes,
                         const ProofClock& clock) const {
  const bool one = std::has_single_bit(lanes) && lanes == before.lanes;
  return node.knows(before.node, clock) ||
         (options_.lanes_in_turn && node.chain == before.node.chain &&
          (one || node.is_of(before.node)));
}

bool RunOrder::is_behind_writes(const Flag& flag,
                                const ProofNode& node,
                                std::uint32_t lanes,
                                const ProofClock& clock) const {
  for (std::size_t i = 0; i < flag.log.size(); ++i) {
    if (!is_behind(node, {flag.log[i], flag.adders[i].by}, lanes, clock)) {
      return false;
    }
  }
  return true;
}

// Who knows the later of two of one component knows the earlier.
void RunOrder::Flag::add_wait(Seen now) {
  std::erase_if(seen, [&](const Seen& one) {
    const bool same = one.wait.component() == now.wait.component();
    now.lasts = now.lasts && (!same || one.lasts);
    return same;
  });
  seen.push_back(now);
}

// Whoever's turn it is, a lane that knows neither of a wait nor of what was waited for may write
// before both.
bool RunOrder::Flag::is_behind_waits(const std::function<bool(const ProofNode&)>& known) const {
  return std::all_of(seen.begin(), seen.end(), [&](const Seen& one) {
    const auto end = log.begin() + static_cast<std::ptrdiff_t>(one.writes);
    return known(one.wait) || (one.lasts && std::all_of(log.begin(), end, known));
  });
}

// While lanes make write `i`, and behind it.
bool RunOrder::Flag::passes_through(std::size_t i, const WordTest& test) const {
  const Adders& by = adders[i];
  for (std::uint32_t lane = 1; lane < by.lanes; ++lane) {
    if (!test.holds(values[i] + lane * by.each)) {
      return false;
    }
  }
  return test.holds(values[i + 1]);
}

void RunOrder::on_flag_write(Group& group, const Event& event, std::uint32_t self, Flag& flag) {
  constexpr std::uint64_t kWordMax = ~std::uint32_t{0};
  const ProofNode node = node_of(group, event, self);
  ProofClock clock = known_to(group, event.lane_mask(), self);
  const auto& said = event.as<payload::GlobalWord>();
  const bool updates = event.op == Op::kGlobalRedAdd;
  const bool adds = updates && said.test == word_change::kAdds;
  // Nobody but who comes later knows of it, and nobody may use the word then.
  const auto is_known = [&](const ProofNode& before) { return node.knows(before, clock); };
  if (flag.counter && flag.reached && (!adds || said.value == 0) &&
      std::all_of(flag.log.begin(), flag.log.end(), is_known) &&
      std::all_of(flag.waits.begin(), flag.waits.end(), is_known)) {
    flag.closed = true;
    return;
  }
  flag.stored = flag.stored || !updates;
  if (updates && word_change::kind_of(said.test) != word_change::kUnknown) {
    flag.mixed = flag.mixed || (flag.updated && flag.change != said.test);
    flag.change = said.test;
    flag.updated = true;
  }
  flag.adds_alone = flag.adds_alone && (adds || !updates);
  // Additions by lanes of one warp come to the same in every order.
  Flag::Adders by = adds ? Flag::Adders{event.lanes, said.value} : Flag::Adders{};
  by.adds = adds || !updates;
  by.by = event.lane_mask();
  const bool in_turn =
      options_.lanes_in_turn && !flag.stored && !flag.log.empty() && node.is_of(flag.log.back());
  if (in_turn) {
    const ProofNode& before = flag.log.back();
    by.in_turn = !node.knows(before, clock);
    if (by.in_turn && ((flag.waited && !by.adds) || !flag.is_behind_waits(is_known) ||
                       (flag.counter && !adds_behind(flag, node, clock, said.after)))) {
      undecided(
          "a global word that lanes change one after the other is waited for at a passing "
          "value",
          event);
    }
    if (before.component() !=
        chains_.all_lanes(self)) {  // which would speak of lanes that did not add
      raise(clock, before.component(), before.index);
    }
  }
  const bool asks = (event.flags & event_flag::kSignAsked) != 0;
  const std::uint32_t lanes = event.lane_mask();
  const auto is_own = [self](const Flag::Access& before) { return before.node.chain == self; };
  const bool found = asks || !flag.loads.empty();
  const bool behind_loads =
      std::all_of(flag.loads.begin(), flag.loads.end(), [&](const Flag::Access& load) {
        return is_behind(node, load, lanes, clock);
      });
  const bool own = flag.log.empty()
                       ? !asks && std::all_of(flag.loads.begin(), flag.loads.end(), is_own)
                       : flag.log.back().chain == self;
  if (found && (!own || !behind_loads || (asks && !is_behind_writes(flag, node, lanes, clock)))) {
    undecided(behind_loads && is_behind_writes(flag, node, lanes, clock)
                  ? "a global word that another warp has loaded, and not waited for, is written: "
                    "whether what was found is what was there before is not looked at"
                  : "what a load of a global word finds depends on the interleaving",
              event);
  }
  if (asks) {
    flag.add_load(node, lanes);
  }
  // Several writers, each after the one before, are as one.
  const bool another = !flag.log.empty() && !in_turn && !node.knows(flag.log.back(), clock);
  flag.zero = flag.zero || said.value == 0;
  flag.sum += adds ? std::uint64_t{said.value} * std::max<std::uint32_t>(event.lanes, 1) : 0;
  if (flag.counter || another) {
    if (flag.waited || !adds_behind(flag, node, clock, said.after)) {
      undecided("a global word with several writers is waited for at a passing value", event);
    } else if (flag.stored || flag.zero) {
      undecided("a global word is stored to by several warps", event);
    } else if (flag.mixed) {
      undecided("what a global word holds depends on which of two atomics is first", event);
    } else if (flag.values.front() + flag.sum > kWordMax) {
      undecided("a global word that several warps add to runs over", event);
    }
    flag.counter = true;
  }
  flag.log.push_back(node);
  flag.values.push_back(said.after);  // after this
  flag.adders.push_back(by);
  join(flag.joined, clock);
  raise(flag.joined, told_of(group, event, self));
  if (!flag.counter) {
    Conditions::Contribution what{ProtocolKind::kArrive, 1, 0, true};
    what.tells = told_of(group, event, self);
    what.in_turn = in_turn;
    owe_lasting(group, event, clock, flag);
    tells_as_much(event, clock, flag);
    for (const ProofNode& wait : std::exchange(flag.passes, {})) {
      have_met(event, node, clock, wait);
    }
    group.conditions.contribute(node, clock, flag.barrier, flag.writes, what);
    record(group, self, event, arrive_op(flag.barrier));
  }
  ++flag.writes;
}

}  // namespace warptwin::sim
