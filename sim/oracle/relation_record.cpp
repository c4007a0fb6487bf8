#include "sim/oracle/relation_record.hpp"

#include <algorithm>

#include "sim/model/word_test.hpp"
#include "sim/oracle/relation_words.hpp"

namespace warptwin::sim::relation {

namespace {

bool releases(Semantics semantics) {
  return semantics == Semantics::kRelease || semantics == Semantics::kAcqRel;
}

bool acquires(Semantics semantics) {
  return semantics == Semantics::kAcquire || semantics == Semantics::kAcqRel;
}

}  // namespace

Record::Record(const LaunchConfig& launch, const RelationOptions& options, LanesAlone known)
    : alone{std::move(known)}, launch_{launch}, options_{options} {}

void Record::fault(const Event& event) {
  const bool store = event.op == Op::kBulkStore || event.op == Op::kTensorStore;
  if (event.fault == Fault::kNone ||
      (event.fault == Fault::kUnsettled && !options_.unsettled_registers) ||
      (event.fault == Fault::kExitedCta && store && !options_.stores_end_with_cta)) {
    return;
  }
  faults.push_back({RelationKind::kFault,
                    in_words(who(event)) + ": " + words_of(event.fault),
                    {},
                    event.site,
                    {}});
}

void Record::on_event(const Event& event) {
  fault(event);
  if (event.step == Step::kBlocked) {
    WarpRecord& warp = warp_of(event);
    warp.look = come_to(event);
    warp.looked = event.op;
    return;
  }
  if (event.step == Step::kIssued && event.op != Op::kBarSync) {
    issue(event);
    return;
  }
  if (event.step == Step::kTouched) {
    touched(event);
    return;
  }
  if (event.step != Step::kDone && event.op != Op::kBarSync) {
    landed(event);
    return;
  }
  if ((event.flags & event_flag::kTraps) != 0) {
    return;  // nothing comes after it
  }
  switch (event.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      mbarrier(event);
      return;
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      wait(event);
      return;
    case Op::kBarSync:
    case Op::kBarArrive:
      named_barrier(event);
      return;
    case Op::kClusterArrive:
    case Op::kClusterWait:
      cluster_barrier(event);
      return;
    case Op::kFence:
    case Op::kFenceMbarrierInit:
    case Op::kFenceProxyAsync:
    case Op::kFenceProxyTensormap:
    case Op::kTcgen05FenceBefore:
    case Op::kTcgen05FenceAfter:
    case Op::kTensormapReplace:
    case Op::kGriddepcontrolWait:
      fence(event);
      return;
    case Op::kBulkCommitGroup:
    case Op::kBulkWaitGroup:
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
    case Op::kWgmmaWait:
      bulk_group(event);
      return;
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
      tmem_life(event);
      return;
    case Op::kSharedLoad:
    case Op::kSharedStore:
    case Op::kClcQuery:
      words(event);
      return;
    case Op::kGlobalLoad:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalStore:
    case Op::kGlobalWait:
      global_words(event);
      return;
    case Op::kWarpExit:
    case Op::kCtaExit:
      exits(event);
      return;
    case Op::kStageNote:
      return;
    default:
      step(event);
  }
}

// --- mbarriers --------------------------------------------------------------------------------

void Record::use_barrier(std::uint32_t cta, std::uint32_t address, const Use& use) {
  const auto at = live_.find({cta, address});
  if (at != live_.end()) {
    barriers[at->second].uses.push_back(use);
  } else {
    early_[{cta, address}].push_back(use);
  }
}

// What has just been stepped over acts on an mbarrier, by each lane that executes it: `use` is the
// first's.
void Record::use_by_lanes(const Event& event, const Use& use) {
  use_barrier(event.cta, event.address, use);
  const Nodes others = others_of(event);
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Node start = use.start == use.end ? others[i] : warp_of(event).other_looks[i];
    use_barrier(event.cta, event.address, {start, others[i], use.who});
  }
}

// What an arrival by a thread publishes: all before it, or what its fences released.
std::vector<Record::Source> Record::release_of(const Event& event, Node node) const {
  if (releases(event.ordering.semantics)) {
    std::vector<Source> all;
    for (const Node release : by_lanes(event, node)) {
      all.push_back({release, event.ordering.scope, true});
    }
    return all;
  }
  // The fence and the arrival are of one thread (PTX ISA, "Release and Acquire Patterns").
  std::vector<Source> released;
  if (options_.fences_of_met) {
    const Nodes arrivals = by_lanes(event, node);
    for (const auto& [number, warp] : warps_) {
      for (const Source& fence : warp.releases) {
        if (std::any_of(arrivals.begin(), arrivals.end(), [&](Node arrival) {
              return order.memory(fence.node, arrival);
            })) {
          released.push_back(fence);
        }
      }
    }
    return released;
  }
  if (const auto warp = warps_.find(event.warp); warp != warps_.end()) {
    for (const auto& [way, arrival] : ways_of(event, node)) {
      for (const Source& fence : warp->second.releases) {
        if (fence.way == way) {
          released.push_back(fence);
        }
      }
    }
  }
  return released;
}

// What an arrival by a thread tells of tensor memory: "mbarrier.arrive.relaxed" behind a
// tcgen05.fence::before_thread_sync tells what that covers (PTX ISA, "Canonical synchronization
// patterns").
Nodes Record::told_by(const Event& event, Node node) const {
  Nodes told;
  if (releases(event.ordering.semantics)) {
    told = by_lanes(event, node);
  } else if (const auto warp = warps_.find(event.warp); warp != warps_.end()) {
    for (const auto& [way, arrival] : ways_of(event, node)) {
      for (const Source& fence : warp->second.told) {
        if (fence.way == way) {
          told.push_back(fence.node);
        }
      }
    }
  }
  return told;
}

void Record::contribute(const Event& event, const Contribution& contribution) {
  const bool load = is_load(event.op);
  const std::uint32_t cta = load ? event.signal().barrier_cta : event.cta;
  const std::uint32_t address = load ? event.signal().barrier : event.address;
  const auto at = live_.find({cta, address});
  if (at != live_.end()) {
    contributions_[{cta, address, at->second, event.phase}].push_back(contribution);
    for (const Node made : contribution.made) {
      contributors.push_back({at->second, event.phase, made, who(event)});
    }
  }
}

// Notes the phase that the operation acts in, under a name that it has in every execution.
void Record::in_phase(const Event& event, std::uint32_t async_number) {
  WarpRecord& warp = warp_of(event);
  constexpr std::uint32_t kSynchronous = 1U << 31;
  const std::uint32_t number =
      async_number != 0 ? async_number
                        : kSynchronous + warp.counts[{static_cast<std::uint32_t>(event.op),
                                                      event.site.line,
                                                      event.flags & event_flag::kLateLanes}]++;
  phases[{event.warp,
          number,
          event.site.line + ((event.flags & event_flag::kLateLanes) != 0 ? 1U << 30 : 0),
          event.cta}] = {event.phase, who(event)};
}

void Record::mbarrier(const Event& event) {
  WarpRecord& warp = warp_of(event);
  const Node node = step(event);
  const BarrierKey key{event.cta, event.address};
  if (event.op == Op::kMbarrierInit || event.op == Op::kMbarrierInval) {
    Access access;
    access.cta = event.cta;
    access.where = bytes_at(event.address, 8);
    access.write = true;
    access.start = access.end = node;
    access.who = who(event);
    accesses.push_back(access);
    std::vector<Use> uses;
    for (const auto& [way, one] : ways_of(event, node)) {
      uses.push_back({one, one, access.who});
      if (event.op == Op::kMbarrierInit) {
        warp.inits.emplace_back(way, one);
      }
    }
    if (event.op == Op::kMbarrierInit) {
      live_[key] = barriers.size();
      barriers.push_back({event.cta, event.address, std::move(uses), {}, {}});
      barriers.back().uses = std::exchange(early_[key], {});
    } else if (live_.count(key) != 0) {
      std::vector<Use>& invals = barriers[live_[key]].invals;
      invals.insert(invals.end(), uses.begin(), uses.end());
      live_.erase(key);
    }
    return;
  }
  use_by_lanes(event, {node, node, who(event)});
  in_phase(event, 0);
  Contribution contribution{by_lanes(event, node), {}, cta_of_warp(event.warp), false};
  if (event.op == Op::kMbarrierArrive) {
    contribution.released = release_of(event, node);
    contribution.told = told_by(event, node);
  }
  contribute(event, contribution);
}

// A wait that has passed, or a try that has said yes, at `look`.
// `late`: by lanes that it has left behind, any of all.
void Record::pass(const Event& event, Node look, const Looks& late) {
  WarpRecord& warp = warp_of(event);
  Nodes execution;
  Nodes told;
  std::vector<Source> seen;
  const auto at = live_.find({event.cta, event.address});
  if (at != live_.end() && event.phase > 0) {
    const bool wide = event.ordering.scope != Scope::kCta;
    const auto of_phase =
        contributions_.find({event.cta, event.address, at->second, event.phase - 1});
    if (of_phase != contributions_.end()) {
      for (const Contribution& contribution : of_phase->second) {
        execution.insert(execution.end(), contribution.made.begin(), contribution.made.end());
        told.insert(told.end(), contribution.told.begin(), contribution.told.end());
        const bool near = contribution.cta == event.cta;
        const bool reaches = near || wide || (contribution.engine && !options_.strict_wait_scope);
        for (const Source& source : contribution.released) {
          if (reaches && (near || source.scope != Scope::kCta)) {
            seen.push_back({source.node, source.scope, near});
          }
        }
      }
    }
  }
  Nodes memory;
  if (acquires(event.ordering.semantics)) {
    for (const Source& source : seen) {
      memory.push_back(source.node);
    }
  } else {
    for (Source source : seen) {
      source.way = event.lanes == 1 ? key_of(event) : kAnyWay;
      warp.unacquired.push_back(source);
    }
    for (const Node node : told) {
      warp.untold.push_back({node, Scope::kCta, true, event.lanes == 1 ? key_of(event) : kAnyWay});
    }
    told.clear();
  }
  for (const auto& [way, looked] : late) {
    Nodes known = memory;
    known.push_back(looked);
    const Node passed = order.add(known, execution, told);
    warp.late[way].push_back(passed);
    use_barrier(event.cta, event.address, {looked, passed, who(event)});
  }
  if (late.empty()) {
    use_by_lanes(event, {look, step(event, memory, execution, told), who(event)});
  }
}

void Record::wait(const Event& event) {
  if ((event.flags & event_flag::kLateLanes) != 0) {
    late_wait(event);
    return;
  }
  const Node looked = look(event);
  if ((event.flags & event_flag::kFalse) != 0) {
    use_by_lanes(event, {looked, step(event), who(event)});
    return;
  }
  if (event.op == Op::kMbarrierWait && event.lanes == kWarpLanes) {
    WarpRecord& warp = warp_of(event);
    warp.waits.push_back({by_way(event, looked, warp.other_looks), event.address, event.site.line});
  }
  if (event.op == Op::kMbarrierWait) {
    in_phase(event, 0);
  }
  const std::uint32_t wanted = event.as<payload::Mbarrier>().wanted;
  if ((event.flags & event_flag::kExactPhase) != 0 && event.phase != wanted + 1) {
    faults.push_back({RelationKind::kPhase,
                      in_words(who(event)) + ": for phase " + std::to_string(wanted) +
                          ", and passes in phase " + std::to_string(event.phase),
                      {},
                      event.site,
                      {}});
  }
  pass(event, looked);
}

void Record::late_wait(const Event& event) {
  WarpRecord& warp = warp_of(event);
  Looks looked;
  for (const LateWait& wait : warp.waits) {
    if (wait.address == event.address && wait.line == event.site.line) {
      looked = wait.looks;
    }
  }
  const std::uint32_t wanted = event.as<payload::Mbarrier>().wanted;
  if ((event.flags & event_flag::kExactPhase) != 0 && event.phase != wanted + 1) {
    faults.push_back({RelationKind::kPhase,
                      in_words(who(event)) + ": lanes left behind, for phase " +
                          std::to_string(wanted) + ", pass in phase " + std::to_string(event.phase),
                      {},
                      event.site,
                      {}});
  }
  in_phase(event, 0);
  pass(event, kNoNode, looked);
}

// --- Barriers of warps, fences ----------------------------------------------------------------

void Record::named_barrier(const Event& event) {
  NamedPhase& phase = named_[{event.cta, event.address, event.phase}];
  const bool returns = event.op == Op::kBarSync && event.step == Step::kDone;
  const auto& said = event.as<payload::NamedBarrier>();
  if (!said.returns) {
    phase.arrived.push_back(step(event));
    contributors.push_back({kNamedLives + event.cta * kNamedBarriers + event.address,
                            event.phase,
                            phase.arrived.back(),
                            who(event)});
    phase.warps.insert(event.warp);
    phase.of_all = said.of_all;
    in_phase(event, 0);
  }
  if (returns) {
    const std::uint32_t first = event.cta * launch_.warps_per_cta;
    step(event,
         phase.arrived,
         phase.of_all ? ended(first, first + launch_.warps_per_cta, phase.warps) : Nodes{});
  }
}

// The ends of those warps that a barrier of all did not wait for, since they had ended before (PTX
// ISA, "exit": barriers exclusively waiting on arrivals from exited threads are released). An end
// tells of no memory.
Nodes Record::ended(std::uint32_t first,
                    std::uint32_t end,
                    const std::set<std::uint32_t>& but) const {
  Nodes nodes;
  for (auto warp = ends_.lower_bound(first); warp != ends_.end() && warp->first < end; ++warp) {
    if (!but.contains(warp->first)) {
      nodes.push_back(warp->second);
    }
  }
  return nodes;
}

void Record::cluster_barrier(const Event& event) {
  WarpRecord& warp = warp_of(event);
  const std::uint32_t cluster = cluster_of(event.cta);
  auto& [published, arrived, told, warps] = cluster_[{cluster, event.phase}];
  if (event.op == Op::kClusterWait) {
    const std::uint32_t all = launch_.cluster_size * launch_.warps_per_cta;
    Nodes before = ended(cluster * all, (cluster + 1) * all, warps);
    before.insert(before.end(), arrived.begin(), arrived.end());
    step(event, published, before, told);
    return;
  }
  warps.insert(event.warp);
  const bool releasing = releases(event.ordering.semantics);
  const Node node = step(event, {}, releasing ? warp.remote_arrivals : Nodes{});
  arrived.push_back(node);
  if (releasing) {
    published.push_back(node);
    return;
  }
  for (const Source& source : warp.releases) {
    if (source.scope != Scope::kCta) {
      published.push_back(source.node);
    }
  }
  published.insert(published.end(), warp.initialised.begin(), warp.initialised.end());
  const Nodes covered = told_by(event, node);
  told.insert(told.end(), covered.begin(), covered.end());
}

void Record::fence(const Event& event) {
  WarpRecord& warp = warp_of(event);
  std::pair<ByWay, ByWay> by_way;
  Nodes seen;
  Nodes told;
  const auto learn = [](const Source& source, Nodes& all, ByWay& of_one) {
    (source.way == kAnyWay ? all : of_one[source.way]).push_back(source.node);
  };
  if (event.op == Op::kFence && acquires(event.ordering.semantics)) {
    for (const Source& source : warp.unacquired) {
      if (source.near || event.ordering.scope != Scope::kCta) {
        learn(source, seen, by_way.first);
      }
    }
  }
  if (event.op == Op::kTcgen05FenceAfter) {
    for (const Source& source : warp.untold) {
      learn(source, told, by_way.second);
    }
  }
  const Node node = step(event, seen, {}, told, by_way);
  switch (event.op) {
    case Op::kFence:
      if (releases(event.ordering.semantics)) {
        for (const auto& [way, fence] : ways_of(event, node)) {
          warp.releases.push_back({fence, event.ordering.scope, true, way});
        }
      }
      return;
    case Op::kFenceMbarrierInit: {
      // It orders the initialisations "executed by the same thread" (PTX ISA, "membar / fence"),
      // and nothing else before it.
      for (const auto& [way, fence] : ways_of(event, node)) {
        Nodes own;
        for (const auto& [of, init] : warp.inits) {
          if (of == way) {
            own.push_back(init);
          }
        }
        warp.initialised.push_back(order.bare(own, fence));
      }
      return;
    }
    case Op::kFenceProxyAsync:
      for (const Node fence : by_lanes(event, node)) {
        proxy_fences.push_back({fence, event.as<payload::ProxyFence>().space, event.cta});
      }
      return;
    case Op::kTcgen05FenceBefore:
      for (const auto& [way, fence] : ways_of(event, node)) {
        fences_before[event.warp].push_back(fence);
        warp.told.push_back({fence, Scope::kCta, true, way});
      }
      return;
    case Op::kTcgen05FenceAfter:
      for (const Node fence : by_lanes(event, node)) {
        fences_after[event.warp].push_back(fence);
      }
      return;
    case Op::kTensormapReplace:
      for (const Node one :
           (event.flags & event_flag::kByWarp) != 0 ? Nodes{node} : by_lanes(event, node)) {
        map_uses.push_back({event.as<payload::Map>().number, true, {one, one, who(event)}});
      }
      return;
    case Op::kGriddepcontrolWait:
      for (const Node wait : by_lanes(event, node)) {
        grid_waits.push_back(wait);
      }
      return;
    default:
      for (const Node one : by_lanes(event, node)) {
        if (acquires(event.ordering.semantics)) {
          map_acquires.emplace_back(event.as<payload::Map>().number, one);
        } else {
          map_releases.emplace_back(event.warp, one);
        }
      }
  }
}

// --- Words ------------------------------------------------------------------------------------

void Record::words(const Event& event) {
  if ((event.flags & event_flag::kCopiesAreOver) != 0 && event.rows() != nullptr) {
    step(event, copies_over(event));
    return;
  }
  const Node node = step(event);
  if (event.op == Op::kClcQuery) {
    const auto& query = event.as<payload::ClcQuery>();
    if (query.word == 0 && query.answer == 0) {
      refused_.insert(event.cta);
    }
  }
  Access access;
  access.cta = event.cta;
  access.where = shared_bytes(event);
  access.write = event.op == Op::kSharedStore;
  access.needs_data =
      event.op == Op::kClcQuery || (event.op == Op::kSharedLoad && options_.words_need_data);
  access.start = access.end = node;
  access.who = who(event);
  note_atomic(event, access);
  access_of_words(event, std::move(access));
}

void Record::global_words(const Event& event) {
  if (event.op == Op::kGlobalLoad && (event.flags & event_flag::kCopiesAreOver) != 0) {
    step(event, copies_over(event));
    return;
  }
  const bool reads = event.op == Op::kGlobalLoadAcquire || event.op == Op::kGlobalWait;
  const bool weak = event.op == Op::kGlobalLoad || event.op == Op::kGlobalStore;
  const bool writes = event.op == Op::kGlobalStoreRelease || event.op == Op::kGlobalRedAdd ||
                      event.op == Op::kGlobalStore;
  const Node looked = event.op == Op::kGlobalWait ? look(event) : kNoNode;
  std::vector<WordSource>& sources = words_[event.global];
  Nodes seen;
  for (const WordSource& source : sources) {
    // What another lane of the warp has written a load may come before, though it did not here.
    const bool found = event.op == Op::kGlobalWait || source.warp != event.warp ||
                       order.memory(source.node, way_of(event));
    seen.push_back(reads && found ? source.node : kNoNode);
  }
  const Node node = step(event, seen);
  if (event.op == Op::kGlobalStoreRelease) {
    sources.clear();
  }
  if (event.op == Op::kGlobalStoreRelease || event.op == Op::kGlobalRedAdd) {
    // An addition carries on what the value before it released.
    for (const Node released : by_lanes(event, node)) {
      sources.push_back({released, event.warp});
    }
  }
  Access access;
  access.space = Space::kGlobal;
  access.where = global_bytes(event);
  access.write = writes;
  access.strong = !weak;
  access.word = event.op == Op::kGlobalRedAdd
                    ? word_change::bytes_of(event.as<payload::GlobalWord>().test)
                    : std::uint32_t{sizeof(std::uint32_t)};
  access.start = looked == kNoNode ? node : looked;
  access.end = node;
  access.who = who(event);
  access_of_words(event, std::move(access));
}

void Record::tmem_life(const Event& event) {
  const Node looked = look(event);
  const Node node = step(event);
  const Use use{looked, node, who(event)};
  if (event.op == Op::kTcgen05Relinquish) {
    relinquished.emplace_back(event.cta, use);
    return;
  }
  if (event.op == Op::kTcgen05Dealloc) {
    for (Allocation& one : allocations) {
      if (one.cta == event.cta && one.base == TmemAddress{event.address}.column() &&
          one.columns == event.as<payload::TmemRegion>().columns && one.dealloc.end == kNoNode) {
        one.dealloc = use;
        return;
      }
    }
    return;
  }
  Nodes before;  // what frees columns comes before who gets them
  for (const Allocation& one : allocations) {
    const bool meets = options_.pair_alloc_meets && (event.flags & event_flag::kPair) != 0 &&
                       one.cta == (event.cta ^ 1U);
    if (one.cta == event.cta && one.dealloc.end != kNoNode) {
      before.push_back(one.dealloc.end);
    } else if (meets) {
      before.push_back(one.alloc.start);
    }
  }
  if (options_.pair_alloc_meets && (event.flags & event_flag::kPair) != 0) {
    for (const auto& [number, warp] : warps_) {
      if (cta_of_warp(number) == (event.cta ^ 1U) && warp.looked == Op::kTcgen05Alloc) {
        before.push_back(warp.look);
      }
    }
  }
  const Node given = step(event, before);
  const auto& said = event.as<payload::TmemAllocation>();
  allocations.push_back({event.cta, said.base, said.columns, {looked, given, who(event)}, {}, {}});
  Access access;
  access.cta = event.cta;
  access.where = bytes_at(event.address, 4);
  access.write = true;
  access.start = access.end = given;
  access.who = who(event);
  accesses.push_back(std::move(access));
}

void Record::exits(const Event& event) {
  if (event.op == Op::kWarpExit) {
    ends_[event.warp] = step(event);
    return;
  }
  const std::uint32_t first = event.cta * launch_.warps_per_cta;
  cta_exits[event.cta] = order.add(ended(first, first + launch_.warps_per_cta, {}));
  for (const Allocation& one : allocations) {
    if (one.cta == event.cta && one.dealloc.end == kNoNode) {
      faults.push_back({RelationKind::kAllocation,
                        in_words(one.alloc.who) + ": not freed when its CTA ends",
                        {},
                        one.alloc.who.site,
                        {}});
    }
  }
}

}  // namespace warptwin::sim::relation
