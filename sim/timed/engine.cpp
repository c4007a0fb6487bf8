#include "sim/timed/engine.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>

#include "common/trace/op_facts.hpp"

#include "sim/timed/accounts.hpp"
#include "sim/timed/barrier_causes.hpp"
#include "sim/timed/op_costs.hpp"
#include "sim/timed/places.hpp"
#include "sim/timed/simulation.hpp"
#include "sim/timed/sm.hpp"
#include "sim/timed/unit_use.hpp"
#include "sim/timed/warp_thread.hpp"

namespace warptwin::sim {

namespace {

// So many operations without a change of state, per warp, and it is a livelock.
constexpr std::uint64_t kPollsPerWarp = 100'000;
// A warp runs ahead of time by no more.
constexpr Ticks kAheadMost = 256 * kTicksPerCycle;

/// Unwinds a warp whose run has ended.
struct AbortRun {};

// Nobody else can see when such an operation is executed: it is seen by its order, or by what its
// unit does, which is told the time. A warp executes it ahead of time and pays later. So it is with
// an arrival whose phase ends with bytes that are yet to come.
bool runs_ahead(const Operation& op) {
  return has_trait(op.op, op_trait::kRunsAhead) ||
         (op.op == Op::kMbarrierArrive && (op.flags & event_flag::kExpectTx) != 0 &&
          op.as<operands::Mbarrier>().bytes != 0 && (op.flags & event_flag::kRemote) == 0);
}

bool is_relaxed_arrival(const Operation& op) {
  return op.op == Op::kMbarrierArrive && op.ordering.semantics == Semantics::kRelaxed;
}

class TimedEngine : public sc_core::sc_module, private Completions {
 public:
  TimedEngine(const sc_core::sc_module_name& name,
              Gpu& gpu,
              const std::function<void(SimMachine&)>& body,
              const Chip& chip,
              const TimedOptions& options)
      : sc_module{name},
        gpu_{gpu},
        body_{body},
        chip_{chip},
        options_{options},
        clock_{options.clock > 0 ? options.clock : chip.clock},
        costs_{chip},
        causes_{gpu, options.causes},
        memory_{"memory",
                chip,
                clock_,
                options.l2_holds_inputs ? share_held(chip, options.input_bytes) : 0,
                causes_.log()},
        turns_{"turns"},
        cluster_start_{gpu.config().cluster_size > 1 ? to_ticks(chip.cluster_start) : 0},
        gap_{microseconds(chip.cta_gap_us) + cluster_start_},
        accounts_(gpu.warps().size()),
        wgmma_issues_(gpu.warps().size()) {
    ports_.reserve(accounts_.size());
    for (WarpSlot slot = 0; slot < accounts_.size(); ++slot) {
      ports_.push_back(Port{*this, slot});
      warps_.push_back(std::make_unique<WarpThread>(slot, [this, slot] { live(slot); }));
    }
    build_sms();
    if (options.over_time) {
      histories_.emplace().watch(sms_, memory_);
    }
    if (gpu.is_sampled()) {
      likeness_.emplace(gpu);
    }
  }

  TimedEngine(const TimedEngine&) = delete;
  TimedEngine& operator=(const TimedEngine&) = delete;
  ~TimedEngine() override { unwind(); }

  TimedStats run(Simulation& simulation) {
    gpu_.watch_ready(&inserted_);
    gpu_.launch();
    start_warps(microseconds(chip_.cta_start_us) + cluster_start_);
    do {
      simulation.run();
    } while (!poisoned_ && flush_tensor_cores());
    if (!poisoned_) {
      end(gpu_.trapped()    ? gpu_.ending_of_trap()
          : gpu_.finished() ? Ending::kDone
                            : Ending::kDeadlock);
    }
    unwind();
    gpu_.watch_ready(nullptr);
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
    return stats();
  }

 private:
  struct Port : EnginePort {
    Port(TimedEngine& engine, WarpSlot slot) : engine_{&engine}, slot_{slot} {}
    void perform(Operation& operation) override { engine_->perform(slot_, operation); }
    TimedEngine* engine_;
    WarpSlot slot_;
  };

  Ticks microseconds(double us) const { return to_ticks(us * clock_ * 1000.0); }

  // What L2 is asked for comes no sooner, as a rule. Who looks at all of the run, or hands over by
  // words of global memory, wants its operations in the order of time.
  Ticks window() const {
    const bool all_seen = gpu_.observed() && !gpu_.is_sampled();
    const bool in_order = all_seen || options_.acted != nullptr || gpu_.memory().holds_data();
    return in_order ? 1 : std::max<Ticks>(1, memory_.latency() + TmaEngine::latency(chip_));
  }

  // CTAs of one SM share its units.
  void build_sms() {
    const auto ctas = static_cast<std::uint32_t>(gpu_.ctas().size());
    const std::uint32_t size = gpu_.config().cluster_size;
    const std::uint32_t places = gpu_.config().places * size;
    const Ticks ahead = window();
    const std::vector<L2Port> ports =
        dealt_out(chip_, memory_.halves(), size, gpu_.config().places);
    for (std::uint32_t i = 0; i < std::min(ctas, places); ++i) {
      if (i % size == 0) {
        clusters_.push_back(std::make_unique<SmCluster>(sc_core::sc_gen_unique_name("cluster"),
                                                        i / size,
                                                        ahead,
                                                        static_cast<Completions&>(*this),
                                                        causes_.log()));
        last_steps_.emplace_back(*this);
      }
      sms_.push_back(std::make_unique<Sm>(sc_core::sc_gen_unique_name("sm"),
                                          *clusters_.back(),
                                          turns_,
                                          chip_,
                                          ports[i],
                                          memory_,
                                          static_cast<Completions&>(*this),
                                          causes_.log()));
    }
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      sm_of_cta_.push_back(sms_[gpu_.sm_of(cta)].get());
    }
    share_sms_ = sms_.size() < ctas;
    const std::uint32_t warps = gpu_.config().warps_per_cta;
    for (WarpSlot slot = 0; slot < warps_.size(); ++slot) {
      warps_[slot]->sm = sm_of_cta_[slot / warps];
      // Of a warpgroup as tensor memory's lanes have it; less than one takes the next ones free.
      const std::uint32_t before = warps < kSubPartitions ? slot / warps / places * warps : 0;
      warps_[slot]->part = (before + slot % warps) % kSubPartitions;
      warps_[slot]->role = {StepKind::kRole,
                            static_cast<std::uint32_t>(gpu_.symbols().role_of(slot % warps))};
    }
  }

  Sm& sm_of(WarpSlot warp) { return *warps_[warp]->sm; }

  // --- Warps ----------------------------------------------------------------------------------

  // Woken at the start of each CTA in its place.
  void live(WarpSlot self) {
    while (!poisoned_) {
      accounts_[self].start(now());
      live_once(self);
      if (poisoned_) {
        accounts_[self].end(poisoned_at_);
        return;
      }
      accounts_[self].end(now());
      ended_ = std::max(ended_, now());
      if (error_ != nullptr) {
        end(Ending::kTrapped);
      }
      warps_[self]->suspend();
    }
  }

  void live_once(WarpSlot self) {
    const Warp& warp = gpu_.warps()[self];
    const Cta& cta = gpu_.ctas()[warp.cta];
    SimMachine machine{ports_[self],
                       {warp.index,
                        cta.rank,
                        cta.size,
                        gpu_.cluster_index_of(warp.cta),
                        gpu_.cluster_count_of(warp.cta),
                        gpu_.elected_lane(self)},
                       gpu_.registers(self),
                       gpu_.config().moves_data};
    note(Agents::warp(self));  // its first turn brings it to its first operation
    gpu_.registers(self).instructions = {&costs_.instructions(), now()};
    try {
      body_(machine);
      machine.end();
      Operation exit{Op::kWarpExit};
      perform(self, exit);
    } catch (const AbortRun&) {
      // the run has ended
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  // Lets the warps that are left come to their end.
  void unwind() {
    poisoned_ = true;
    for (const auto& thread : warps_) {
      thread->resume();
    }
  }

  void pass(WarpThread& thread, Ticks ticks) const {
    const Ticks until = now() + ticks;
    if (ticks != 0 && !poisoned_ && !thread.timeline().pass_to(until)) {
      thread.wake_at(until);
      thread.suspend();
    }
  }

  void perform(WarpSlot self, Operation& op) {
    if (poisoned_) {
      // A warp leaves at its next blocking operation; what destructors do on the way is nothing.
      if (has_trait(op.op, op_trait::kMayBlock) && std::uncaught_exceptions() == 0) {
        throw AbortRun{};
      }
      return;
    }
    if (op.op == Op::kStageNote) {
      if (gpu_.sees(self)) {
        gpu_.execute(self, op);
      }
      return;
    }
    gpu_.announce(self, op);
    settle();
    WarpThread& thread = *warps_[self];
    calculate(self);
    if (thread.sm->barriers.asks_port(op)) {
      const Ticks reach = thread.sm->barriers.reach(op.op);
      accounts_[self].issue(reach);
      pass(thread, std::exchange(thread.debt, 0) + reach);
    }
    if (asks_memory(op)) {
      pass(thread, std::exchange(thread.debt, 0));
      if (!poisoned_) {
        thread.wait_for_turn(turns_);
      }
    }
    const Ticks cost = cost_of(self, op);
    accounts_[self].issue(cost);
    thread.debt += cost;
    // A wait looks ahead of time too: what it finds complete stays complete. CTAs that share an SM
    // come to its units in the order of time.
    const bool ahead = op.op == Op::kMbarrierWait ||
                       (runs_ahead(op) && !(share_sms_ && has_trait(op.op, op_trait::kUsesUnit)));
    if (!ahead || thread.debt > kAheadMost) {
      pass(thread, std::exchange(thread.debt, 0));
    }
    const bool next_cluster = op.op == Op::kWarpExit || op.op == Op::kClcTryCancel;
    if (next_cluster && !poisoned_) {
      thread.wait_for_turn(turns_);
    }
    execute(self, op);
    gpu_.registers(self).instructions.now = now() + thread.debt;
  }

  // What the warp has done on registers since its last operation takes its time.
  void calculate(WarpSlot self) {
    const RegisterMath done = std::exchange(gpu_.registers(self).math, {});
    if (done.fma == 0 && done.mufu == 0 && done.issued == 0 && done.ticks == 0) {
      return;
    }
    WarpThread& thread = *warps_[self];
    WarpIssue& units = thread.sm->issue;
    const Ticks from = now() + thread.debt;
    units.may_forget(thread.part, now());
    const Ticks added = units.multiply_add(thread.part, from, double{kWarpLanes} * done.fma);
    const Ticks special = units.special(thread.part, from, double{kWarpLanes} * done.mufu);
    const Ticks others = instructions(thread, done, from);
    const Ticks end = std::max({added, special, others});
    causes_.come_to(thread, from);
    if (others < end) {
      thread.last =
          add_step(causes_.log(), special > added ? Unit::kMufu : Unit::kFma, end, thread.last);
    }
    accounts_[self].issue(end - from);
    thread.debt += end - from;
  }

  // Of instructions that are known one by one: their issue, what depends on what, and what other
  // units work for them.
  static Ticks instructions(WarpThread& thread, const RegisterMath& done, Ticks from) {
    if (done.issued == 0) {
      return from + done.ticks;
    }
    Sm& sm = *thread.sm;
    const double lanes = kWarpLanes;
    return std::max(
        {from + done.ticks,
         sm.issue.issue(thread.part, from, done.issued * kTicksPerCycle),
         sm.issue.integers(thread.part, from, lanes * done.integer),
         done.converted == 0 ? from : sm.issue.convert(thread.part, from, lanes * done.converted),
         sm.issue.multiply(thread.part, from, done.multiplied),
         done.exchanged == 0 ? from : sm.shared.read(from, 4 * lanes * done.exchanged)});
  }

  void note(AgentSlot slot) {
    if (options_.acted != nullptr) {
      options_.acted->push_back(slot);
    }
  }

  // Executes the operation as soon as the model lets it.
  void execute(WarpSlot self, Operation& op) {
    WarpThread& thread = *warps_[self];
    for (;;) {
      if (poisoned_) {
        perform(self, op);
        return;
      }
      gpu_.set_time((now() + thread.debt) / kTicksPerCycle);
      issuing_at_ = now() + thread.debt;
      note(Agents::warp(self));
      const Signal signal = causes_.signal_of(self, op);
      causes_.come_to(thread, issuing_at_);
      const bool done = gpu_.execute(self, op);
      causes_.arrived(signal);
      settle();
      check_bounds();
      if (done) {
        if (likeness_) {
          likeness_->did(self, op);
        }
        causes_.passed(thread, op, signal);
        submit(self, op);
        return;
      }
      thread.looks = now() + std::exchange(thread.debt, 0);
      thread.parked = true;
      thread.suspend();
      thread.parked = false;
      thread.last = add_step(causes_.log(), thread.role, now(), thread.last, thread.waker);
      if (now() > thread.looks) {
        accounts_[self].wait(op.op,
                             op.op == Op::kMbarrierWait ? op.as<operands::Mbarrier>().address : 0,
                             now() - thread.looks);
      }
    }
  }

  // From now until the operation has its effect.
  Ticks cost_of(WarpSlot self, const Operation& op) {
    const WarpThread& thread = *warps_[self];
    Sm& sm = *thread.sm;
    const Ticks from = now() + thread.debt;
    gpu_.registers(self).instructions.ready = 0;
    if (of_lanes(op)) {
      return sm.issue.issue(thread.part, from) - from + access(self, op, from);
    }
    const Ticks issued = sm.issue.issue(thread.part, from, costs_.issue(op)) + issue_;
    if (has_trait(op.op, op_trait::kBarrier)) {
      return sm.barriers.operate(issued, op, gpu_.config().warps_per_cta) - from;
    }
    if (op.op == Op::kSharedStore && op.is<operands::SharedRows>()) {
      return store_row(sm, thread.part, issued, op) - from;
    }
    return issued - from + costs_.effect(op);
  }

  // A load or store of lanes, each at an address of its own.
  static bool of_lanes(const Operation& op) { return op.is<operands::LaneBytes>(); }
  // Of L2 and DRAM, which all SMs share.
  static bool asks_memory(const Operation& op) {
    return of_lanes(op) && (op.op == Op::kGlobalLoad || op.op == Op::kGlobalStore) &&
           op.access()->kind != AccessKind::kPeek &&
           op.as<operands::LaneBytes>().step != LaneCopyStep::kEnd;
  }
  // How long the warp is held behind its issue. A load does not hold it: what depends on it does.
  Ticks access(WarpSlot self, const Operation& op, Ticks from) {
    Sm& sm = sm_of(self);
    InstructionTime& time = gpu_.registers(self).instructions;
    const LaneAccess& lanes = *op.access();
    const auto& bytes = op.as<operands::LaneBytes>();
    const bool ends = bytes.step == LaneCopyStep::kEnd;
    const bool remote = op.op != Op::kGlobalLoad && op.op != Op::kGlobalStore &&
                        bytes.rank != gpu_.ctas()[gpu_.warps()[self].cta].rank;
    if (lanes.kind == AccessKind::kPeek || (ends && op.op == Op::kGlobalLoad)) {
      return 0;
    }
    switch (op.op) {
      case Op::kSharedLoad:
        time.ready =
            remote ? from + to_ticks(chip_.dsmem_latency) : sm.lanes.load_shared(from, lanes);
        return 0;
      case Op::kSharedStore:
        if (ends) {  // its bytes have gone through the port since it began
          return std::max(bytes.lands, from) - from;
        }
        if (bytes.step == LaneCopyStep::kBegin) {
          sm.lanes.store_shared(from, lanes);
          return 0;
        }
        return sm.lanes.store_shared(from, lanes) - from;
      case Op::kGlobalLoad:
        time.ready = sm.lanes.load_global(from, lanes);
        return 0;
      default: {
        // It is on its way: the warp is held where L2 is behind by more than the way there.
        const Ticks taken = sm.lanes.store_global(from, lanes);
        const Ticks ahead = from + memory_.latency();
        ended_ = std::max(ended_, taken);
        return taken > ahead ? taken - ahead : 0;
      }
    }
  }

  static Ticks store_row(Sm& sm, std::uint32_t part, Ticks from, const Operation& op) {
    const auto& rows = op.as<operands::SharedRows>();
    const double bytes = rows.of_accumulator
                             ? double{kWgmmaWarpRows} * rows.row_bytes  // of its columns, the box's
                             : double{kWarpLanes} * (op.fragment ? op.fragment->registers : 0U) *
                                   bytes_of(rows.element);
    const double values = bytes / bytes_of(rows.element);
    const bool packs = bytes_of(rows.element) < 4;
    const Ticks ready = packs ? sm.issue.convert(part, from, values / 2) : from;
    return sm.shared.write(ready, bytes);
  }

  // --- Units ----------------------------------------------------------------------------------

  // Hands what the operation started to its unit.
  void submit(WarpSlot self, const Operation& op) {
    const Agents& agents = gpu_.agents();
    Sm& sm = sm_of(self);
    switch (op.op) {
      case Op::kTcgen05Mma:
        multiply(self, op);
        break;
      case Op::kWgmma:
        multiply_warpgroup(self, op);
        break;
      case Op::kTcgen05Cp: {
        const auto& copy = op.as<operands::TmemCopy>();
        sm.tensor.copy(
            issuing_at_, 4.0 * rows_of(copy.shape) * copy.columns, agents.tensor_queue(self));
        break;
      }
      case Op::kTcgen05Commit:
        sm.tensor.commit(issuing_at_, agents.tensor_queue(self));
        break;
      case Op::kTcgen05Ld:
      case Op::kTcgen05St: {
        const auto& moved = op.as<operands::TmemAccess>();
        sm.tmem.move(warps_[self]->part,
                     4.0 * (moved.of_16_lanes() ? kWarpLanes / 2 : kWarpLanes) * moved.columns,
                     agents.tmem_port(self));
        break;
      }
      case Op::kWarpExit:
        start_warps(gap_);
        break;
      default:
        break;
    }
  }

  // A wgmma begins when the last of its four warps begins to issue it; each may be ahead of time.
  void multiply_warpgroup(WarpSlot self, const Operation& op) {
    if (gpu_.trapped()) {
      return;
    }
    const WarpSlot first = self - gpu_.warps()[self].index % kWarpsPerWarpgroup;
    wgmma_issues_[self].push_back(issuing_at_ - costs_.issue(op) - issue_);
    if (op.result == 0) {
      return;  // not all four have
    }
    Ticks issued = 0;  // one may have issued more of them
    for (WarpSlot warp = first; warp < first + kWarpsPerWarpgroup; ++warp) {
      issued = std::max(issued, wgmma_issues_[warp].front());
      wgmma_issues_[warp].pop_front();
    }
    const WgmmaShape work = costs_.wgmma(op);
    sm_of(self).warpgroups.multiply(issued, work, gpu_.agents().tensor_queue(first));
  }

  // An MMA that the model has refused is not in its queue.
  void multiply(WarpSlot self, const Operation& op) {
    if (gpu_.trapped()) {
      return;
    }
    const MmaShape work = costs_.mma(op);
    const std::uint32_t cta = gpu_.warps()[self].cta;
    const bool pair = op.as<operands::Mma>().group == CtaGroup::kTwo;
    sm_of_cta_[cta]->tensor.multiply(issuing_at_,
                                     work,
                                     gpu_.agents().tensor_queue(self),
                                     pair ? &sm_of_cta_[cta ^ 1U]->tensor : nullptr);
  }

  void step(AgentSlot slot) override {
    if (poisoned_ || !gpu_.ready().contains(slot)) {
      return;
    }
    if (gpu_.last_warp_has_ended(slot)) {  // the next cluster may begin
      SmCluster& cluster = sm_of(gpu_.issuer_of(slot)).cluster;
      last_steps_[cluster.timeline.number()].ask(turns_, cluster.timeline, slot);
    } else {
      advance(slot);
    }
  }

  // Steps of a cluster without warps, each in its turn.
  class LastSteps : private Asker {
   public:
    explicit LastSteps(TimedEngine& engine) : engine_{engine} {}
    void ask(Turns& turns, Timeline& timeline, AgentSlot slot) {
      errands_.push_back({slot, acting_in(engine_.causes_.log())});
      turns.ask(timeline, *this);
    }

   private:
    void turn() override {
      const Errand errand = errands_.front();
      errands_.pop_front();
      act(engine_.causes_.log(), errand.cause);
      engine_.advance(errand.slot);
    }

    TimedEngine& engine_;
    std::deque<Errand> errands_;
  };

  void advance(AgentSlot slot) {
    gpu_.set_time(now() / kTicksPerCycle);
    note(slot);
    const Signal signal = causes_.signal_of(slot);
    gpu_.advance(slot);
    // Where a copy counts its bytes in steps, all of them are here.
    for (const AsyncOp* copy = gpu_.async_at(slot); copy != nullptr && copy->counted != 0;
         copy = gpu_.async_at(slot)) {
      note(slot);
      gpu_.advance(slot);
    }
    causes_.arrived(signal);
    ended_ = std::max(ended_, now());
    settle();
    start_warps(gap_);
    check_bounds();
  }

  // Deals with everybody who has become ready.
  void settle() {
    if (!inserted_.empty()) {
      settle_all();
    }
  }

  void settle_all() {
    while (!inserted_.empty()) {
      settling_.swap(inserted_);
      loads_.clear();
      for (const AgentSlot slot : settling_) {
        settle(slot);
      }
      settling_.clear();
      if (!loads_.empty()) {
        sm_of(load_issuer_).tma.load(issuing_at_, load_shape_, loads_);
      }
    }
  }

  void settle(AgentSlot slot) {
    const Agents& agents = gpu_.agents();
    if (agents.is_warp(slot)) {
      const WarpSlot self = agents.warp_of(slot);
      WarpThread& thread = *warps_[self];
      if (thread.parked) {
        const Warp& warp = gpu_.warps()[self];
        const Ticks woken = now() + sm_of(self).barriers.wake(warp.blocked_on.op);
        const Ticks resumes = now() <= thread.looks ? thread.looks : woken;
        thread.waker = causes_.waker_of(warp);
        thread.wake_at(resumes);
      }
    } else if (agents.is_transfer(slot)) {
      settle_transfer(slot, *gpu_.async_at(slot));
    } else if (agents.kind(slot) == AgentKind::kLateLanes) {
      while (gpu_.ready().contains(slot)) {
        note(slot);
        gpu_.advance(slot);
      }
    }
  }

  void settle_transfer(AgentSlot slot, const AsyncOp& async) {
    switch (async.operation.op) {
      case Op::kTensorLoad:
      case Op::kBulkLoad:
        load_issuer_ = async.warp;
        load_shape_ = shape_of(async.operation);
        loads_.push_back({slot, &sm_of_cta_[async.cta]->shared});
        break;
      case Op::kTensorStore:
      case Op::kBulkStore:
        sm_of(async.warp).tma.store(issuing_at_, shape_of(async.operation), slot);
        break;
      case Op::kClcTryCancel:
        sm_of(async.warp)
            .cluster.fabric.send(to_ticks(chip_.clc_latency), slot, Unit::kClusterLaunchControl);
        break;
      default:
        if (const auto lands = lands_of(async.operation)) {
          sm_of(async.warp)
              .cluster.fabric.send(std::max(lands, now()) - now(), slot, Unit::kCopyLatency);
          break;
        }
        sm_of(async.warp)
            .cluster.fabric.send(
                to_ticks(is_relaxed_arrival(async.operation) ? chip_.dsmem_relaxed
                                                             : chip_.dsmem_latency),
                slot,
                sm_of_cta_[async.cta]->network,
                to_ticks(kArrivalBytes / chip_.dsmem_rate));
        break;
    }
  }

  CopyShape shape_of(const Operation& op) const {
    const auto& copy = op.as<operands::Copy>();
    if (op.op == Op::kBulkLoad || op.op == Op::kBulkStore) {
      const std::uint32_t row = std::min(kRowBytesMost, copy.bytes);
      return {copy.bytes / std::max(row, 1U), row, copy.global};
    }
    const TensorMapState& map = gpu_.memory().maps[copy.map];
    const std::uint32_t row = std::min(kRowBytesMost, map.row_bytes());
    CopyShape shape{copy.bytes, row, map.address, copy.map + 1};
    shape.rows = copy.bytes / std::max(row, 1U);
    shape.share = double(map.bytes_in_row()) / std::max(map.row_bytes(), 1U);
    // Of four rows each coordinate behind the first is a row.
    for (std::uint32_t i = 0; i < copy.rank; ++i) {
      const std::int64_t offset = i == 0 || i > std::size(copy.offset) ? 0 : copy.offset[i - 1];
      const std::uint32_t dimension = std::min(i, map.rank - 1);
      const std::int64_t at = copy.at[i] + offset;
      shape.box +=
          static_cast<std::uint64_t>(i == 0 ? at / map.unit() : at) * map.stride_bytes[dimension];
    }
    return shape;
  }

  bool flush_tensor_cores() {
    for (const auto& cluster : clusters_) {
      set_now(std::max(now(), cluster->timeline.latest()));
    }
    bool any = false;
    for (const auto& sm : sms_) {
      any = sm->tensor.flush() || any;
    }
    return any;
  }

  std::string name_of_step(StepName what) const {
    switch (what.kind) {
      case StepKind::kRole:
        return warptwin::name_of(static_cast<Role>(what.id));
      case StepKind::kBarrier:
        return barrier_name(what.id, gpu_.symbols());
      case StepKind::kUnit:
        break;
    }
    return name_of(static_cast<Unit>(what.id));
  }

  // --- Life of the grid -----------------------------------------------------------------------

  void start_warps(Ticks after) {
    if (!gpu_.any_started()) {
      return;
    }
    for (const WarpSlot slot : gpu_.take_started()) {
      WarpThread& thread = *warps_[slot];
      const Ticks starts = now() + after;
      thread.debt = 0;
      thread.last = add_step(causes_.log(), Unit::kCtaStart, starts, acting_in(causes_.log()));
      thread.wake_at(starts);
    }
  }

  void check_bounds() {
    if (gpu_.trapped()) {
      end(gpu_.ending_of_trap());
    } else if (gpu_.operations() >= options_.operations_max) {
      end(Ending::kStepBound);
    } else if (gpu_.changes() != last_change_) {
      last_change_ = gpu_.changes();
      unchanged_ = 0;
    } else if (++unchanged_ > kPollsPerWarp * warps_.size()) {
      end(Ending::kLivelock);
    }
  }

  void end(Ending ending) {
    if (poisoned_) {
      return;
    }
    poisoned_ = true;
    poisoned_at_ = now();
    ending_ = ending;
  }

  // --- Report ---------------------------------------------------------------------------------

  TimedStats stats() const {
    TimedStats result;
    result.ending = ending_;
    result.clock = clock_;
    result.cycles = to_cycles(ended_);
    result.operations = gpu_.operations();
    result.roles = by_role(accounts_, gpu_);
    if (causes_.log() != nullptr) {
      result.path =
          causes_.log()->critical_path([this](StepName what) { return name_of_step(what); });
    }
    if (likeness_) {
      result.kinds = likeness_->kinds();
    }
    result.units = use_of_units(sms_, memory_, ended_);
    if (histories_) {
      UnitHistories histories = *histories_;
      histories.add_to(result, sms_.size(), memory_, ended_);
    }
    result.tensor_share =
        result.units[0].mean * static_cast<double>(sms_.size()) / std::max(chip_.sms, 1.0);
    return result;
  }

  static constexpr double kArrivalBytes = 16;  // a barrier's address and what it is told

  Gpu& gpu_;
  const std::function<void(SimMachine&)>& body_;
  const Chip& chip_;
  TimedOptions options_;
  double clock_;
  OpCosts costs_;
  BarrierCauses causes_;
  MemorySystem memory_;
  Turns turns_;
  const Ticks issue_ = to_ticks(chip_.issue);
  Ticks cluster_start_;  // of a CTA that has others in its cluster
  Ticks gap_;            // between two CTAs on one SM
  std::vector<std::unique_ptr<SmCluster>> clusters_;
  std::deque<LastSteps> last_steps_;  // by cluster
  std::vector<std::unique_ptr<Sm>> sms_;
  std::optional<UnitHistories> histories_;
  std::vector<Sm*> sm_of_cta_;  // by CTA slot
  bool share_sms_ = false;      // several CTAs are on one
  std::optional<Likeness> likeness_;
  std::vector<std::unique_ptr<WarpThread>> warps_;
  std::vector<WarpAccount> accounts_;
  std::vector<Port> ports_;
  std::vector<std::deque<Ticks>> wgmma_issues_;  // by warp: when it began those that not all have
  std::vector<AgentSlot> inserted_;              // became ready, not dealt with
  std::vector<AgentSlot> settling_;
  std::vector<CopyTargetPort> loads_;  // targets of the load being issued
  CopyShape load_shape_;
  Ticks issuing_at_ = 0;  // when the operation being executed was issued
  WarpSlot load_issuer_ = 0;
  Ticks ended_ = 0;
  std::uint64_t last_change_ = 0;
  std::uint64_t unchanged_ = 0;
  bool poisoned_ = false;
  Ticks poisoned_at_ = 0;
  Ending ending_ = Ending::kDone;
  std::exception_ptr error_;
};

}  // namespace

TimedStats run_timed(Gpu& gpu,
                     const std::function<void(SimMachine&)>& body,
                     const Chip& chip,
                     const TimedOptions& options) {
  Simulation simulation;
  TimedEngine engine{"gpu", gpu, body, chip, options};
  return engine.run(simulation);
}

}  // namespace warptwin::sim
