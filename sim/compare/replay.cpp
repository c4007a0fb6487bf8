#include "sim/compare/replay.hpp"

#include "sim/model/mbarrier.hpp"

namespace warptwin::sim {

namespace {

using Place = std::pair<std::uint32_t, std::uint32_t>;  // CTA, object

// An operation of the trace.
struct OpPlace {
  std::uint32_t warp = 0;
  std::size_t at = 0;
};

struct Barrier {
  MbarrierState state;
  BarrierRecord record;
  std::vector<std::vector<OpPlace>> arrivals{1};  // by phase

  void complete() {
    record.phases.emplace_back();
    arrivals.emplace_back();
  }
};

struct NamedBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
};

struct Group {
  std::uint32_t arrived = 0;
  std::uint32_t generation = 0;
};

// A warp that has arrived somewhere and waits for the others.
struct Cursor {
  std::size_t at = 0;
  bool arrived = false;
  std::uint32_t generation = 0;
  std::uint32_t cluster_generation = 0;
};

class Replayer {
 public:
  explicit Replayer(const Trace& trace) : trace_{trace}, cursors_(trace.warps.size()) {
    for (const WarpTrace& warp : trace.warps) {
      waited_.emplace_back(warp.ops.size());
      arrived_.emplace_back(warp.ops.size());
    }
  }

  Replay run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t warp = 0; warp < cursors_.size(); ++warp) {
        const std::vector<TraceOp>& ops = trace_.warps[warp].ops;
        while (cursors_[warp].at < ops.size() && step(warp, ops[cursors_[warp].at])) {
          ++cursors_[warp].at;
          moved = true;
        }
      }
    }
    Replay result;
    for (auto& [place, barrier] : barriers_) {
      result.barriers.emplace(std::pair{place.first, trace_.names[place.second]},
                              std::move(barrier.record));
    }
    for (const Cursor& cursor : cursors_) {
      result.reached.push_back(cursor.at);
    }
    result.out_of_order = std::move(out_of_order_);
    result.landings = std::move(landings_);
    result.waited = std::move(waited_);
    result.arrived = std::move(arrived_);
    return result;
  }

 private:
  std::uint32_t cta_of(std::uint32_t warp) const { return warp / trace_.warps_per_cta(); }

  void note(Barrier& barrier, std::uint32_t warp, const TraceOp& op, const BarrierStep& step) {
    Contribution& from = barrier.record.phases.back().from[warp];
    from.arrivals += op.count;
    from.bytes += op.bytes;
    arrived_[warp][cursors_[warp].at] = barrier.record.completed();
    barrier.arrivals.back().push_back({warp, cursors_[warp].at});
    if (step.completed) {
      barrier.complete();
    }
  }

  void deliver(Place place, std::uint32_t bytes) {
    Barrier& barrier = barriers_[place];
    if (barrier.state.complete_tx(bytes).completed) {
      barrier.complete();
    }
  }

  template <class F>
  void for_mask(std::uint32_t warp, std::uint32_t mask, F&& f) const {
    const std::uint32_t cta = cta_of(warp);
    const std::uint32_t first = cta - cta % trace_.cluster_size;
    if (mask == 0) {
      f(cta);
    }
    for (std::uint32_t rank = 0; rank < trace_.cluster_size; ++rank) {
      if ((mask >> rank & 1U) != 0) {
        f(first + rank);
      }
    }
  }

  // The CTA on whose barrier a load into `cta` counts.
  std::uint32_t owner(std::uint32_t cta, const TraceOp& load) const {
    const std::uint32_t rank = cta % trace_.cluster_size;
    return (load.flags & event_flag::kPair) != 0 ? cta - rank % 2 : cta;
  }

  bool passes(const Barrier& barrier, const TraceOp& op) const {
    const MbarrierState& state = barrier.state;
    if ((op.flags & event_flag::kExactPhase) != 0) {
      return static_cast<std::int32_t>(state.phase()) > static_cast<std::int32_t>(op.wanted);
    }
    return state.done(op.wanted);
  }

  // A wait of a phase that is known comes after its arrivals, as far as one clock can tell.
  void check_order(std::uint32_t warp, const Barrier& barrier, const TraceOp& op) {
    if ((op.flags & event_flag::kExactPhase) == 0 || op.wanted >= barrier.arrivals.size()) {
      return;
    }
    for (const OpPlace& arrival : barrier.arrivals[op.wanted]) {
      const TraceOp& made = trace_.warps[arrival.warp].ops[arrival.at];
      const auto later = static_cast<std::int32_t>(static_cast<std::uint32_t>(op.time) -
                                                   static_cast<std::uint32_t>(made.time));
      if (cta_of(arrival.warp) == cta_of(warp) && later < 0) {
        out_of_order_.push_back({warp, cursors_[warp].at, arrival.warp, arrival.at});
      }
    }
  }

  bool wait(std::uint32_t warp, const TraceOp& op) {
    const Barrier& barrier = barriers_[{op.cta, op.object}];
    if (!passes(barrier, op)) {
      return false;
    }
    check_order(warp, barrier, op);
    const bool exact = (op.flags & event_flag::kExactPhase) != 0;
    waited_[warp][cursors_[warp].at] = exact ? op.wanted : barrier.state.phase() - 1;
    return true;
  }

  bool sync_named(std::uint32_t warp, const TraceOp& op) {
    NamedBarrier& barrier = named_[{cta_of(warp), op.object}];
    Cursor& cursor = cursors_[warp];
    if (!cursor.arrived) {
      cursor.generation = barrier.generation;
      barrier.arrived += kWarpLanes;
      if (op.count != 0 && barrier.arrived >= op.count) {
        barrier.arrived = 0;
        ++barrier.generation;
        return true;
      }
      cursor.arrived = op.op == Op::kBarSync;
      return !cursor.arrived;
    }
    cursor.arrived = barrier.generation == cursor.generation;
    return !cursor.arrived;
  }

  bool cluster_barrier(std::uint32_t warp, const TraceOp& op) {
    const std::uint32_t warps = trace_.warps_per_cta() * trace_.cluster_size;
    Group& group = clusters_[warp / warps];
    Cursor& cursor = cursors_[warp];
    if (op.op == Op::kClusterWait) {
      return group.generation != cursor.cluster_generation;
    }
    cursor.cluster_generation = group.generation;
    if (++group.arrived == warps) {
      group.arrived = 0;
      ++group.generation;
    }
    return true;
  }

  // False: the warp cannot go on yet.
  bool step(std::uint32_t warp, const TraceOp& op) {
    const Place place{op.cta, op.object};
    switch (op.op) {
      case Op::kMbarrierInit:
        barriers_[place].state.init(op.count);
        return true;
      case Op::kMbarrierInval:
        return true;
      case Op::kMbarrierArrive: {
        Barrier& barrier = barriers_[place];
        note(barrier,
             warp,
             op,
             (op.flags & event_flag::kExpectTx) != 0
                 ? barrier.state.arrive_expect_tx(op.count, op.bytes)
             : (op.flags & event_flag::kDrop) != 0 ? barrier.state.arrive_drop(op.count)
                                                   : barrier.state.arrive(op.count, false));
        return true;
      }
      case Op::kMbarrierExpectTx: {
        Barrier& barrier = barriers_[place];
        note(barrier, warp, op, barrier.state.expect_tx(op.bytes));
        return true;
      }
      case Op::kMbarrierCompleteTx:
        deliver(place, op.bytes);
        return true;
      case Op::kMbarrierWait:
        return wait(warp, op);
      case Op::kMbarrierTryWait:
        return (op.flags & event_flag::kFalse) != 0 || wait(warp, op);
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        for_mask(warp, op.mask, [&](std::uint32_t cta) {
          const Place barrier{owner(cta, op), op.on};
          const std::uint32_t phase = barriers_[barrier].state.phase();
          arrived_[warp][cursors_[warp].at] = phase;
          landings_.push_back({warp, cursors_[warp].at, cta, barrier.first, op.on, phase});
          deliver(barrier, op.bytes);
        });
        return true;
      case Op::kTcgen05Commit:
        for_mask(warp, op.mask, [&](std::uint32_t cta) {
          Barrier& barrier = barriers_[{cta, op.object}];
          TraceOp arrival;
          arrival.count = 1;
          note(barrier, warp, arrival, barrier.state.arrive(1, false));
        });
        return true;
      case Op::kBarSync:
      case Op::kBarArrive:
        return sync_named(warp, op);
      case Op::kClusterArrive:
      case Op::kClusterWait:
        return cluster_barrier(warp, op);
      default:
        return true;
    }
  }

  const Trace& trace_;
  std::vector<Cursor> cursors_;
  std::map<Place, Barrier> barriers_;
  std::map<Place, NamedBarrier> named_;
  std::map<std::uint32_t, Group> clusters_;
  std::vector<OutOfOrder> out_of_order_;
  std::vector<Landing> landings_;
  std::vector<std::vector<std::uint32_t>> waited_;
  std::vector<std::vector<std::uint32_t>> arrived_;
};

}  // namespace

Replay replay(const Trace& trace) {
  return Replayer{trace}.run();
}

}  // namespace warptwin::sim
