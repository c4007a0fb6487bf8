// The asynchronous operations of an execution: what they access between which nodes.

#include <algorithm>

#include "sim/model/lane_access.hpp"
#include "sim/oracle/relation_record.hpp"
#include "sim/oracle/relation_words.hpp"

namespace warptwin::sim::relation {

void Record::issue(const Event& event) {
  if (event.op == Op::kSharedStore || event.op == Op::kGlobalLoad) {
    issue_counted_access(event);
    return;
  }
  WarpRecord& warp = warp_of(event);
  if (event.op == Op::kWgmma && asyncs_.count(event.serial) != 0) {
    issue_wgmma(event, asyncs_[event.serial], step(event));
    return;
  }
  const Node issued = step(event);
  Async& async = asyncs_[event.serial];
  async.issue = event;
  if (event.op == Op::kWgmma) {  // no number: which of its warps comes first is the schedule's
    issue_wgmma(event, async, issued);
    return;
  }
  async.number = ++warp.asyncs;
  async.begin = order.add({issued});
  switch (event.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kClcTryCancel:
      issue_load(event, async);
      return;
    case Op::kTensorStore:
    case Op::kBulkStore:
      issue_store(event, async);
      return;
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
      issue_tensor(event, async);
      return;
    case Op::kTcgen05Commit:
      issue_commit(event, async, issued);
      return;
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      issue_tmem(event, async);
      return;
    default:
      issue_remote(event, async, issued);
  }
}

void Record::issue_load(const Event& event, Async& async) {
  async.done = order.add({}, {async.begin});
  claims = claims || event.op == Op::kClcTryCancel;
  if (event.op == Op::kClcTryCancel && refused_.count(cta_of_warp(event.warp)) != 0) {
    faults.push_back({RelationKind::kFault,
                      in_words(who(event)) + ": asks again after its CTA has seen a refusal",
                      {},
                      event.site,
                      {}});
  }
  copies_.push_back(async.done);
  Access to;
  to.cta = event.cta;
  to.where = copy_bytes(event);
  to.write = true;
  to.proxy = Proxy::kAsync;
  to.start = async.begin;
  to.end = async.done;
  to.who = who(event);
  accesses.push_back(to);
  if (event.op == Op::kTensorLoad) {
    map_uses.push_back(
        {event.as<payload::Copy>().map, false, {async.begin, async.done, who(event)}});
  }
  if (event.op != Op::kClcTryCancel) {
    touched(event);
  }
  use_barrier(
      event.signal().barrier_cta, event.signal().barrier, {async.begin, async.done, who(event)});
}

void Record::issue_store(const Event& event, Async& async) {
  async.read = order.add({}, {async.begin});
  async.done = order.add({}, {async.read});
  Access from;
  from.cta = event.cta;
  from.where = copy_bytes(event);
  from.needs_data = true;
  from.proxy = Proxy::kAsync;
  from.start = async.begin;
  from.end = async.read;
  from.who = who(event);
  accesses.push_back(from);
  if (event.op == Op::kTensorStore) {
    map_uses.push_back(
        {event.as<payload::Copy>().map, false, {async.begin, async.read, who(event)}});
  }
  touched(event);
  warp_of(event).bulk.push_back({event.as<payload::Copy>().group, event.lane_mask(), event.serial});
}

// Global memory of a copy, or more of it.
void Record::touched(const Event& event) {
  const Async& async = asyncs_[event.serial];
  Access access;
  access.space = Space::kGlobal;
  access.where = global_piece(event);
  access.write = !is_load(event.op);
  access.proxy = Proxy::kAsync;
  access.start = async.begin;
  access.end = async.done;
  access.who = who(event);
  if (!access.where.empty()) {
    accesses.push_back(std::move(access));
  }
}

// Shared memory that a tensor operation reads.
void Record::operand(const Event& event, Async& async, std::uint32_t cta, const Footprint& bytes) {
  Access access;
  access.cta = cta;
  access.where = bytes;
  access.needs_data = true;
  access.proxy = Proxy::kAsync;
  access.start = async.begin;
  access.end = async.done;
  access.issues = async.issues;
  access.who = who(event);
  accesses.push_back(std::move(access));
}

void Record::tensor_cells(
    const Event& event, const Async& async, std::uint32_t cta, const Footprint& at, bool write) {
  Access access;
  access.space = Space::kTensor;
  access.cta = cta;
  access.where = at;
  access.write = write;
  access.needs_data = !write;
  access.proxy = Proxy::kTensor;
  access.start = async.begin;
  access.end = async.done;
  access.who = who(event);
  accesses.push_back(std::move(access));
}

void Record::use_columns(std::uint32_t cta, TmemAddress at, std::uint32_t columns, const Use& use) {
  for (Allocation& one : allocations) {
    const bool apart = at.column() + columns <= one.base || one.base + one.columns <= at.column();
    if (one.cta == cta && !apart && one.dealloc.end == kNoNode) {
      one.uses.push_back(use);
    }
  }
}

void Record::issue_tensor(const Event& event, Async& async) {
  WarpRecord& warp = warp_of(event);
  const bool mma = event.op == Op::kTcgen05Mma;
  const payload::Mma product = mma ? event.as<payload::Mma>() : payload::Mma{};
  const payload::TmemCopy copy = mma ? payload::TmemCopy{} : event.as<payload::TmemCopy>();
  const bool pair = (event.flags & event_flag::kPair) != 0;
  // Pairs that the manual pipelines: the second begins after the first is done.
  Nodes before{async.begin};
  // Where the factors are in their cells says nothing about the shape.
  constexpr std::uint32_t kBytesOfFactors = 3U << 4 | 3U << 29;
  const bool scaled = (event.flags & event_flag::kBlockScale) != 0;
  // Nor does which metadata it takes.
  const bool sparse = (event.flags & event_flag::kSparse) != 0;
  const std::uint32_t shape = sparse ? product.instruction & ~3U : product.instruction;
  const Footprint into = mma ? accumulator_cells(event) : Footprint{};
  for (const TensorOp& earlier : warp.tensor) {
    const bool chained = earlier.op == Op::kTcgen05Cp
                             ? mma
                             : mma && earlier.d == event.address && earlier.instruction == shape;
    if (earlier.pair == pair && (chained || options_.tensor_in_order)) {
      before.push_back(earlier.done);
    }
    // Accumulators of two shapes, or that begin apart: the manual has no order for them.
    const std::uint32_t factors = scaled ? kBytesOfFactors : 0;
    const bool alike =
        earlier.d == event.address && (earlier.instruction & ~factors) == (shape & ~factors);
    if (mma && earlier.op == Op::kTcgen05Mma && earlier.pair == pair && !alike &&
        meet(earlier.into, into) && !order.tensor(earlier.done, async.begin)) {
      faults.push_back({RelationKind::kRace,
                        in_words(who(event)) + ": its accumulator overlaps that of an MMA before "
                                               "it, which is not known to be done",
                        {},
                        event.site,
                        {}});
    }
  }
  async.begin = order.add(before);
  async.done = order.add({}, {async.begin});
  warp.tensor.push_back({event.serial, async.done, event.op, event.address, shape, pair, into});
  const std::uint32_t ctas = pair ? 2 : 1;
  const std::uint32_t first = pair ? event.cta & ~1U : event.cta;
  const Use use{async.begin, async.done, who(event)};
  const UmmaInstructionDescriptor instruction{product.instruction, product.kind};
  for (std::uint32_t cta = first; cta < first + ctas; ++cta) {
    if (!mma) {
      operand(event, async, cta, copied_bytes(copy.source, copy.shape));
      tensor_cells(event, async, cta, cells({event.address}, copy.columns, 0, kTmemLanes), true);
      use_columns(cta, {event.address}, copy.columns, use);
      continue;
    }
    const std::uint32_t rows = instruction.m() / ctas;
    if ((event.flags & event_flag::kTmemA) != 0) {
      constexpr std::uint32_t kColumnsOfStep = 8;
      const TmemAddress a{product.tmem_a};
      tensor_cells(event, async, cta, cells(a, kColumnsOfStep, a.lane(), rows), false);
      use_columns(cta, a, kColumnsOfStep, use);
    } else {
      operand(event,
              async,
              cta,
              operand_bytes(product.a, rows, instruction.a_major(), instruction.a_type()));
    }
    operand(event,
            async,
            cta,
            operand_bytes(product.b,
                          instruction.n() / ctas,
                          instruction.b_major(),
                          instruction.b_type(),
                          instruction.sparse_a() ? 2 : 1));
    if ((event.flags & event_flag::kSparse) != 0) {
      // One column of the two that the selector chooses from; of elements of one byte both.
      const std::uint32_t columns = bytes_of(instruction.a_type()) == 1 ? 2 : 1;
      const TmemAddress metadata =
          TmemAddress{product.tmem_a}.at_column(instruction.sparsity_selector());
      tensor_cells(event, async, cta, cells(metadata, columns, 0, kTmemLanes), false);
      use_columns(cta, metadata, columns, use);
    }
    if ((event.flags & event_flag::kBlockScale) != 0) {
      const std::pair<TmemAddress, std::uint32_t> factors[] = {
          {{product.scale_a}, scale_columns(rows)},
          {{product.scale_b}, scale_columns(instruction.n())}};
      for (const auto& [at, columns] : factors) {
        tensor_cells(event, async, cta, cells(at, columns, 0, kTmemLanes), false);
        use_columns(cta, at, columns, use);
      }
    }
    const Footprint d = accumulator_cells(event);
    tensor_cells(event, async, cta, d, true);
    if ((event.flags & event_flag::kAccumulate) != 0) {
      tensor_cells(event, async, cta, d, false);
    }
    use_columns(cta, {event.address}, product.columns, use);
  }
}

void Record::issue_commit(const Event& event, Async& async, Node issued) {
  WarpRecord& warp = warp_of(event);
  const bool pair = (event.flags & event_flag::kPair) != 0;
  Nodes tracked;
  for (const TensorOp& op : warp.tensor) {
    if (op.pair == pair) {
      tracked.push_back(op.done);
    }
  }
  for (const Node copy : copies_) {
    if (options_.commit_copies && order.memory(copy, issued)) {
      tracked.push_back(copy);
    }
  }
  // Commits of a thread complete in order.
  async.done = order.add(tracked, Nodes{async.begin, warp.committed});
  warp.committed = async.done;
  const std::uint32_t first = cluster_of(event.cta) * launch_.cluster_size;
  const std::uint32_t mask = event.as<payload::Mbarrier>().mask;
  for (std::uint32_t rank = 0; rank < launch_.cluster_size; ++rank) {
    const std::uint32_t cta = first + rank;
    if (mask == 0 ? cta == event.cta : (mask >> rank & 1U) != 0) {
      use_barrier(cta, event.address, {async.begin, async.done, who(event)});
    }
  }
}

void Record::issue_tmem(const Event& event, Async& async) {
  WarpRecord& warp = warp_of(event);
  const bool load = event.op == Op::kTcgen05Ld;
  Nodes& same = load ? warp.loads : warp.stores;
  async.done = order.add({}, {async.begin});
  same.push_back(async.done);
  const TmemAddress at{event.address};
  // Of the half shape, sixteen lanes have two pieces of columns that lie side by side here.
  const auto& said = event.as<payload::TmemAccess>();
  const std::uint32_t lanes = said.lanes == 0 ? kWarpLanes : said.lanes;
  tensor_cells(event, async, event.cta, cells(at, said.columns, at.lane(), lanes), !load);
  use_columns(event.cta, at, said.columns, {async.begin, async.done, who(event)});
}

// It reads its operands once all four warps have issued it.
void Record::issue_wgmma(const Event& event, Async& async, Node issued) {
  const auto& product = event.as<payload::Wgmma>();
  const Nodes by = by_lanes(event, issued);
  async.issues.insert(async.issues.end(), by.begin(), by.end());
  warp_of(event).wgmmas.emplace_back(product.number, kNoNode);
  if (++async.warps < kWarpsPerWarpgroup) {
    return;
  }
  constexpr std::uint32_t kRows = 64;
  const UmmaInstructionDescriptor instruction{product.instruction, product.kind};
  // Each warp reads its operands for itself, after its own issue, and for all its lanes: what one
  // of them has waited for the others have not.
  async.begin = order.common(async.issues);
  async.done = order.add({}, {async.begin});
  operand(event,
          async,
          event.cta,
          operand_bytes(product.a, kRows, instruction.a_major(), instruction.a_type()));
  operand(event,
          async,
          event.cta,
          operand_bytes(product.b,
                        instruction.n(),
                        instruction.b_major(),
                        instruction.b_type(),
                        instruction.sparse_a() ? 2 : 1));
  const std::uint32_t in_cta = event.warp % launch_.warps_per_cta;
  const std::uint32_t leader = event.warp - in_cta % kWarpsPerWarpgroup;
  for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
    for (auto& [number, done] : warps_[leader + i].wgmmas) {
      done = number == product.number ? async.done : done;
    }
  }
}

// What a cp.async, st.async or red.async does that an mbarrier counts, from its issue until then.
// The issue of a cp.async is an access before that. The manual has none of them in the async proxy.
void Record::issue_counted_access(const Event& event) {
  const bool shared = event.op == Op::kSharedStore;
  const Async& async = asyncs_[event.serial];
  Access access;
  access.space = shared ? Space::kShared : Space::kGlobal;
  access.cta = shared ? event.cta : 0;
  access.where = shared ? shared_bytes(event) : global_bytes(event);
  access.write = shared;
  note_atomic(event, access);
  access.start = async.begin;
  access.end = async.done;
  access.who = who(event);
  bool told = false;
  for (Access& earlier : accesses) {
    const bool its_own = earlier.start == earlier.end && earlier.space == access.space &&
                         earlier.cta == access.cta && earlier.write == access.write &&
                         earlier.who.warp == event.warp &&
                         earlier.who.site.line == event.site.line &&
                         without(earlier.where, access.where).empty();
    if (its_own) {
      earlier.end = async.done;
      told = true;
    }
  }
  if (!told) {
    accesses.push_back(std::move(access));
  }
}

// Whether the access is part of an atomic of lanes in shared memory.
void Record::note_atomic(const Event& event, Access& access) {
  if (const payload::Rows* const rows = event.rows()) {
    const auto known = static_cast<AccessKind>(rows->known);
    access.strong = known == AccessKind::kAtomic || known == AccessKind::kDecided;
    access.word = access.strong ? static_cast<std::uint32_t>(rows->written) : access.word;
  }
}

// The copies of this number that lanes have waited for by themselves.
Nodes Record::copies_over(const Event& event) const {
  const auto found = asyncs_.find(event.as<payload::Rows>().copies);
  return found == asyncs_.end() ? Nodes{} : Nodes{found->second.done};
}

// An arrival on another CTA's mbarrier, or one that counts copies.
void Record::issue_remote(const Event& event, Async& async, Node issued) {
  if ((event.flags & event_flag::kOfCopies) != 0) {  // it tells of nothing but them
    async.done = order.add({}, {async.begin});
    use_barrier(event.cta, event.address, {async.begin, async.done, who(event)});
    return;
  }
  const std::vector<Source> released = release_of(event, issued);
  Nodes before;
  const bool whole = event.ordering.semantics != Semantics::kRelaxed;
  for (const Source& source : released) {
    before.push_back(whole || source.scope != Scope::kCta ? source.node : kNoNode);
  }
  async.done = order.add(before, Nodes{async.begin}, told_by(event, issued));
  warp_of(event).remote_arrivals.push_back(async.done);
  use_barrier(event.cta, event.address, {async.begin, async.done, who(event)});
}

// A step of an asynchronous operation that counts on an mbarrier.
void Record::landed(const Event& event) {
  const auto at = asyncs_.find(event.serial);
  const bool counts = is_load(event.op) || event.step == Step::kSignalled;
  if (at == asyncs_.end() || !counts) {
    return;
  }
  const Async& async = at->second;
  Contribution contribution{{async.done}, {}, cta_of_warp(event.warp), true, {async.done}};
  if ((event.flags & event_flag::kOfCopies) != 0) {
    contribution.released = {{async.done, Scope::kCluster, true}};
  } else if (event.op == Op::kMbarrierArrive) {
    contribution.engine = false;
    const bool released = event.ordering.semantics != Semantics::kRelaxed;
    contribution.released = {{async.done, released ? event.ordering.scope : Scope::kCluster, true}};
  } else if (event.op != Op::kMbarrierExpectTx && event.op != Op::kMbarrierCompleteTx) {
    contribution.released = {{async.done, Scope::kCluster, true}};
  }
  contribute(event, contribution);
  in_phase(event, async.number);
}

// What a wait of the warp for its own operations publishes to it.
void Record::bulk_group(const Event& event) {
  WarpRecord& warp = warp_of(event);
  Nodes done;
  switch (event.op) {
    case Op::kBulkWaitGroup:
      for (const auto& [group, lanes, serial] : warp.bulk) {
        if (group < event.as<payload::BulkGroups>().group && (lanes & event.lane_mask()) != 0) {
          const Async& store = asyncs_[serial];
          done.push_back(store.read);
          done.push_back((event.flags & event_flag::kRead) != 0 ? kNoNode : store.done);
        }
      }
      break;
    case Op::kTcgen05WaitLd:
      done = !event.as<payload::TmemWait>().of_registers ? warp.loads : Nodes{};
      break;
    case Op::kTcgen05WaitSt:
      done = warp.stores;
      break;
    case Op::kWgmmaWait:
      for (const auto& [number, node] : warp.wgmmas) {
        if (number < event.as<payload::WgmmaGroups>().wgmmas) {
          done.push_back(node);
        }
      }
      break;
    default:
      break;
  }
  step(event, done);
}

}  // namespace warptwin::sim::relation
