#include "sim/cli/hw_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/trace/barrier_word.hpp"
#include "common/trace/op_facts.hpp"
#include "common/trace/words.hpp"

#include "sim/check/detector.hpp"
#include "sim/trace/recorder.hpp"

namespace warptwin::sim {

namespace {

using hw::RecordedEvent;
using hw::WarpReport;
using hw::WarpState;

constexpr std::size_t kWaitersShown = 10;

// The map at a place in global memory; more of them than places cannot be told apart.
std::uint32_t stored_map(const Workload& workload, const hw::DeviceRun& run, std::uint32_t place) {
  const auto first = static_cast<std::uint32_t>(run.stored_maps / TensorMapSpec::kBytes);
  const std::uint32_t wanted = (place - first) % RecordedEvent::kStoredMaps;
  std::uint32_t found = hw::kNoMap;
  std::uint32_t count = 0;
  for (std::uint32_t map = 0; map < workload.maps.size(); ++map) {
    if (workload.maps[map].stored_in != TensorMapSpec::kInArgument && count++ == wanted) {
      found = map;
    }
  }
  return count <= RecordedEvent::kStoredMaps ? found : hw::kNoMap;
}

// Bytes that a copy by the map at a place moves.
std::uint32_t box_bytes(const Workload& workload, const hw::DeviceRun& run, std::uint32_t place) {
  const bool four = (place & RecordedEvent::kFourRows) != 0;
  place &= ~RecordedEvent::kFourRows;
  const std::uint32_t map = place >= RecordedEvent::kStored ? stored_map(workload, run, place)
                            : place < run.map_places.size() ? run.map_places[place]
                                                            : hw::kNoMap;
  if (map == hw::kNoMap) {
    return 0;
  }
  const TensorMapSpec& spec = workload.maps[map];
  return (four ? 4 : 1) * spec.box_rows * spec.box_columns *
         bytes_of(workload.tensors[spec.tensor].element);
}

// From recorded events to operations of a trace.
class Converter {
 public:
  Converter(const ScenarioEntry& scenario, const ParameterSet& parameters, const hw::DeviceRun& run)
      : workload_{scenario.workload(parameters)},
        symbols_{scenario.symbols(parameters)},
        run_{run},
        trace_{trace_of_launch(launch_config(scenario, parameters, {}), symbols_)} {}

  Trace convert() {
    for (std::uint32_t warp = 0; warp < run_.events.size(); ++warp) {
      WarpTrace& to = trace_.warps[warp];
      to.overwritten = run_.events[warp].overwritten;
      for (const RecordedEvent& event : run_.events[warp].events) {
        const std::uint32_t cta = warp / trace_.warps_per_cta();
        if (event.is_token()) {
          add_token(to, event, cta);
        } else if (event.op() < Op::kCount) {
          to.ops.push_back(op_of(event, cta));
        }
      }
    }
    return std::move(trace_);
  }

 private:
  std::string place(std::uint32_t offset) const { return symbols_.name(kSharedBase + offset); }

  // What the last operation, a wait, found; nothing where the ring has lost that.
  void add_token(WarpTrace& to, const RecordedEvent& event, std::uint32_t cta) {
    if (to.ops.empty() || event.object >= run_.regions.size()) {
      return;
    }
    const hw::DataRegion& region = run_.regions[event.object];
    const std::uint32_t offset = RecordedEvent::offset_of(region.place);
    to.tokens.push_back({static_cast<std::uint32_t>(to.ops.size() - 1),
                         cta - cta % trace_.cluster_size + RecordedEvent::rest_of(region.place),
                         trace_.name(place(offset)),
                         kSharedBase + offset,
                         region.bytes,
                         event.value});
  }

  TraceOp op_of(const RecordedEvent& event, std::uint32_t cta) {
    TraceOp op;
    op.time = event.cycle;
    op.op = event.op();
    op.lanes = static_cast<std::uint8_t>(has_trait(op.op, op_trait::kElected) ? 1 : event.lanes());
    op.cta = cta;
    op.object = trace_.name(has_trait(op.op, op_trait::kSharedObject)
                                ? place(event.offset())
                                : name_of_object(op.op, event.object, Symbols{}));
    const bool load = is_load(op.op);
    // The flags of a load are its mask or size; whether it is a pair's stands with the barrier.
    const bool pair = load && RecordedEvent::rest_of(event.value) == RecordedEvent::kPairLoad;
    op.flags = load ? pair ? event_flag::kPair : std::uint32_t{0} : event.flags() & kTraceFlags;
    set_operands(op, event, cta);
    if (load && !run_.regions.empty()) {
      op.address = kSharedBase + event.offset();
    }
    return op;
  }

  void set_operands(TraceOp& op, const RecordedEvent& event, std::uint32_t cta) {
    switch (op.op) {
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        op.wanted = event.value;
        break;
      case Op::kMbarrierArrive:
      case Op::kMbarrierExpectTx:
      case Op::kMbarrierCompleteTx:
        set_arrival(op, event, cta);
        break;
      case Op::kTensorLoad:
        op.bytes = box_bytes(workload_, run_, event.rest());
        op.mask = event.flags();
        op.on = trace_.name(place(RecordedEvent::offset_of(event.value)));
        break;
      case Op::kBulkLoad:
        op.bytes = event.flags() * 16U;
        op.mask = event.rest();
        op.on = trace_.name(place(RecordedEvent::offset_of(event.value)));
        break;
      case Op::kClcTryCancel:
        op.bytes = kClcResponseBytes;
        op.mask = event.flags();
        op.on = trace_.name(place(RecordedEvent::offset_of(event.value)));
        break;
      case Op::kTensorStore:
        op.bytes = box_bytes(workload_, run_, event.rest());
        break;
      case Op::kBulkStore:
        op.bytes = event.value;
        break;
      case Op::kTcgen05Commit:
        op.mask = event.value;
        break;
      case Op::kBarSync:
      case Op::kBarArrive:
        op.count = event.value == 0 ? trace_.warps_per_cta() * kWarpLanes : event.value;
        break;
      case Op::kTcgen05Mma:
      case Op::kTcgen05Cp:
        break;
      default:
        op.count = event.value;
    }
  }

  void set_arrival(TraceOp& op, const RecordedEvent& event, std::uint32_t cta) const {
    if (event.rest() != RecordedEvent::kOwnRank) {
      op.cta = cta - cta % trace_.cluster_size + event.rest() % trace_.cluster_size;
    }
    const bool arrives = op.op == Op::kMbarrierArrive;
    const bool counts_bytes = !arrives || (op.flags & event_flag::kExpectTx) != 0;
    op.count = !arrives ? 0 : counts_bytes ? op.lanes : event.value * op.lanes;
    op.bytes = counts_bytes ? event.value * op.lanes : 0;
  }

  Workload workload_;
  Symbols symbols_;
  const hw::DeviceRun& run_;
  Trace trace_;
};

// --- A hang -----------------------------------------------------------------------------------

bool is_stuck(const WarpReport& report) {
  return report.state == WarpState::kExpired || report.state == WarpState::kBlocks;
}

class HangWriter {
 public:
  HangWriter(const ScenarioEntry& scenario,
             const ParameterSet& parameters,
             const hw::DeviceRun& run,
             const Trace& record)
      : symbols_{scenario.symbols(parameters)},
        config_{launch_config(scenario, parameters, {})},
        naming_{config_, symbols_},
        run_{run} {
    count_arrivals(record);
  }

  HangReport write() {
    HangReport report;
    std::size_t waiting = 0;
    Root root = Root::kElse;
    for (std::uint32_t warp = 0; warp < run_.warps.size(); ++warp) {
      const WarpReport& stand = run_.warps[warp].report;
      if (!is_stuck(stand)) {
        continue;
      }
      ++waiting;
      if (report.object.empty() || root_of(warp) > root) {
        root = root_of(warp);
        report.object = text_of(object_of(warp, stand));
      }
      if (report.blocked.size() < kWaitersShown) {
        report.blocked.push_back({naming_.agent(warp),
                                  wait_of(warp),
                                  {run_.warps[warp].file.c_str(), stand.line},
                                  owed_to(warp),
                                  std::nullopt});
      }
    }
    report.text = "hang: " + plural(waiting, "warp") + (waiting == 1 ? " waits" : " wait") +
                  (run_.end == hw::DeviceEnd::kExpired ? ", and a deadline has passed\n"
                                                       : ", without a deadline\n");
    report.text += report.object.empty() ? "" : "  object   " + report.object + "\n";
    for (const Blocked& blocked : report.blocked) {
      for (const std::string& line : lines_of(blocked)) {
        report.text += "  " + line + "\n";
      }
    }
    report.text += runners();
    if (waiting > kWaitersShown) {
      report.text += "  and " + std::to_string(waiting - kWaitersShown) + " more waiting warps\n";
    }
    return report;
  }

 private:
  static bool is_barrier(const WarpReport& report) {
    return static_cast<Op>(report.op) == Op::kMbarrierWait;
  }
  /// What a wait says about the fault, least first.
  enum class Root {
    kElse,        // no barrier
    kSupplied,    // somebody who waits too could still complete the phase
    kBytes,       // no arrival is missing: bytes are, which no warp will send
    kRegisters,   // the pool has too few, and who could give some back waits too
    kNoSupplier,  // all who owe an arrival have ended
    kPassed,      // the phase is over: who waits for it never sees it
  };
  Root root_of(std::uint32_t warp) const {
    const WarpReport& report = run_.warps[warp].report;
    if (!is_barrier(report)) {
      return static_cast<Op>(report.op) == Op::kSetmaxnreg ? Root::kRegisters : Root::kElse;
    }
    return is_passed(warp)                             ? Root::kPassed
           : has_no_supplier(warp)                     ? Root::kNoSupplier
           : BarrierWord::of(report.word).pending == 0 ? Root::kBytes
                                                       : Root::kSupplied;
  }

  // Arrivals recorded on each barrier, and how many its phases take.
  void count_arrivals(const Trace& record) {
    for (std::uint32_t warp = 0; warp < record.warps.size(); ++warp) {
      const std::uint32_t cta = warp / record.warps_per_cta();
      const std::uint32_t first = cta - cta % record.cluster_size;
      const WarpTrace& trace = record.warps[warp];
      whole_ = whole_ && trace.overwritten + trace.lost == 0;
      for (const TraceOp& op : trace.ops) {
        const std::string& name = record.names[op.object];
        if (op.op == Op::kMbarrierArrive) {
          arrivals_[{op.cta, name}] += op.count;
        } else if (op.op == Op::kTcgen05Commit) {
          for (std::uint32_t rank = 0; rank < record.cluster_size; ++rank) {
            const bool arrives = op.mask == 0 ? first + rank == cta : (op.mask >> rank & 1U) != 0;
            arrivals_[{first + rank, name}] += arrives ? 1 : 0;
          }
        }
      }
    }
  }
  // The phase a barrier is in, by what arrived on it and the parity of its word; none recorded: -1.
  std::int64_t phase_of(std::uint32_t warp) const {
    const WarpReport& report = run_.warps[warp].report;
    const auto found =
        arrivals_.find({naming_.cta_of_warp(warp), symbols_.name(address_of(report))});
    const BarrierWord word = BarrierWord::of(report.word);
    if (found == arrivals_.end() || !whole_ || word.expected == 0) {
      return -1;
    }
    const auto phase = static_cast<std::int64_t>(found->second / word.expected);
    return (phase & 1) == word.parity ? phase : phase - 1;  // its last arrivals wait for bytes
  }
  bool is_passed(std::uint32_t warp) const {
    const WarpReport& report = run_.warps[warp].report;
    return (report.flags & event_flag::kExactPhase) != 0 &&
           phase_of(warp) > static_cast<std::int32_t>(report.wanted);
  }
  bool has_no_supplier(std::uint32_t waiter) const {
    const Region* const region = symbols_.find(address_of(run_.warps[waiter].report));
    if (region == nullptr) {
      return false;
    }
    bool owed = false;
    for (const Contributor& contributor : region->contract.contributors) {
      owed = owed || contributor.arrivals != 0;
      for (std::uint32_t warp = 0; warp < run_.warps.size(); ++warp) {
        if (contributor.arrivals != 0 && naming_.role(warp) == contributor.role &&
            naming_.cluster_of_warp(warp) == naming_.cluster_of_warp(waiter) &&
            run_.warps[warp].report.state != WarpState::kEnded) {
          return false;
        }
      }
    }
    return owed;
  }

  std::uint32_t address_of(const WarpReport& report) const {
    return kSharedBase + RecordedEvent::offset_of(report.object);
  }
  Object object_of(std::uint32_t warp, const WarpReport& report) const {
    const std::uint32_t cta = naming_.cta_of_warp(warp);
    return is_barrier(report) ? naming_.barrier(cta, address_of(report))
           : static_cast<Op>(report.op) == Op::kSetmaxnreg
               ? Object::registers(cta)
               : Object::other(name_of(static_cast<Op>(report.op)));
  }

  // What a warp waits for, or does.
  Wait wait_of(std::uint32_t warp) const {
    const WarpReport& report = run_.warps[warp].report;
    Wait wait;
    wait.op = static_cast<Op>(report.op);
    wait.wanted = report.wanted;
    switch (report.state) {
      case WarpState::kUnknown:
        wait.kind = WaitKind::kNotBegun;
        return wait;
      case WarpState::kRuns:
        wait.kind = WaitKind::kRuns;
        return wait;
      case WarpState::kEnded:
        wait.kind = WaitKind::kEnded;
        return wait;
      case WarpState::kBlocks:
      case WarpState::kExpired:
        break;
    }
    switch (wait.op) {
      case Op::kMbarrierWait:
        wait.kind = WaitKind::kMbarrier;
        wait.object = object_of(warp, report);
        wait.wanted = report.wanted & 1U;
        if ((report.flags & event_flag::kExactPhase) != 0) {
          wait.phase = static_cast<std::int32_t>(report.wanted);
        }
        wait.barrier = stand_of(warp);
        break;
      case Op::kBarSync:
        wait.kind = WaitKind::kNamedBarrier;
        wait.object = {ObjectKind::kNamedBarrier, "named barrier " + std::to_string(report.object)};
        break;
      case Op::kClusterWait:
        wait.kind = WaitKind::kClusterBarrier;
        break;
      case Op::kTcgen05Alloc:
        wait.kind = WaitKind::kColumns;
        break;
      case Op::kSetmaxnreg:
        wait.kind = WaitKind::kRegisters;
        break;
      case Op::kGlobalWait:
        wait.kind = WaitKind::kGlobalWord;
        wait.have = report.word;
        break;
      default:
        wait.kind = WaitKind::kOperation;
    }
    return wait;
  }

  BarrierStand stand_of(std::uint32_t warp) const {
    const BarrierWord word = BarrierWord::of(run_.warps[warp].report.word);
    BarrierStand stand;
    stand.parity = word.parity;
    stand.pending = word.pending;
    stand.expected = word.expected;
    stand.tx = word.tx;
    if (is_passed(warp)) {
      stand.passed = phase_of(warp);
    }
    return stand;
  }

  // Warps that neither wait nor have ended: they poll, or compute.
  std::string runners() const {
    std::string text;
    std::size_t running = 0;
    for (std::uint32_t warp = 0; warp < run_.warps.size(); ++warp) {
      if (run_.warps[warp].report.state != WarpState::kRuns || ++running > kWaitersShown) {
        continue;
      }
      text += "  runs     " + naming_.warp(warp);
      if (const RecordedEvent* const last = last_operation(warp)) {
        text += std::string{", last "} + name_of(last->op()) +
                (has_trait(last->op(), op_trait::kSharedObject)
                     ? " " + symbols_.name(kSharedBase + last->offset())
                     : "");
      }
      text += "\n";
    }
    if (running > kWaitersShown) {
      text +=
          "  and " + plural(running - kWaitersShown, "more warp") + " that neither wait nor end\n";
    }
    return text;
  }

  // That was recorded of a warp; null where none was.
  const RecordedEvent* last_operation(std::uint32_t warp) const {
    if (warp >= run_.events.size()) {
      return nullptr;
    }
    const std::vector<RecordedEvent>& events = run_.events[warp].events;
    const auto last = std::find_if(events.rbegin(), events.rend(), [](const RecordedEvent& event) {
      return !event.is_token();
    });
    return last == events.rend() ? nullptr : &*last;
  }

  // Whose warps a barrier more likely waits for: those of its own CTA, of its pair, of the rest.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t size = naming_.config().cluster_size;
    const std::uint32_t a = naming_.cta_of_warp(from);
    const std::uint32_t b = naming_.cta_of_warp(to);
    return a == b ? 0 : a % size / 2 == b % size / 2 ? 1 : 2;
  }

  // Who could still complete the phase, and where each of them is.
  std::vector<Owed> owed_to(std::uint32_t waiter) const {
    const WarpReport& report = run_.warps[waiter].report;
    const Region* region = is_barrier(report) ? symbols_.find(address_of(report)) : nullptr;
    const BarrierContract contract = region == nullptr ? BarrierContract{} : region->contract;
    std::vector<Owed> all;
    for (const Contributor& contributor : contract.contributors) {
      if (contributor.arrivals == 0) {
        continue;
      }
      Owed& owed = all.emplace_back();
      owed.role = contributor.role;
      owed.kind = contributor.kind;
      owed.ended = true;
      std::uint32_t nearest = ~std::uint32_t{0};
      for (std::uint32_t warp = 0; warp < run_.warps.size(); ++warp) {
        const std::uint32_t far = distance(waiter, warp);
        if (naming_.cluster_of_warp(warp) == naming_.cluster_of_warp(waiter) &&
            naming_.role(warp) == contributor.role && far < nearest &&
            run_.warps[warp].report.state != WarpState::kEnded) {
          nearest = far;
          owed.by = {naming_.agent(warp), wait_of(warp)};
        }
      }
    }
    return all;
  }

  Symbols symbols_;
  LaunchConfig config_;
  Naming naming_;
  const hw::DeviceRun& run_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> arrivals_;  // by CTA and name
  bool whole_ = true;  // nothing was lost of the record
};

// What sm_90 has not, of what the warps did.
std::vector<std::string> emulated_in(const Trace& trace) {
  std::vector<std::string> names{"tensor memory", "tcgen05.mma", "tcgen05.commit"};
  const auto name_if_any = [&](const char* name, auto&& is_meant) {
    const bool any = std::any_of(trace.warps.begin(), trace.warps.end(), [&](const auto& warp) {
      return std::any_of(warp.ops.begin(), warp.ops.end(), is_meant);
    });
    if (any) {
      names.emplace_back(name);
    }
  };
  name_if_any("tcgen05.cp", [](const TraceOp& op) { return op.op == Op::kTcgen05Cp; });
  name_if_any("copies counted by a pair's leader",
              [](const TraceOp& op) { return (op.flags & event_flag::kPair) != 0; });
  name_if_any("cluster launch control",
              [](const TraceOp& op) { return op.op == Op::kClcTryCancel; });
  return names;
}

}  // namespace

Trace trace_of(const ScenarioEntry& scenario,
               const ParameterSet& parameters,
               const hw::DeviceRun& run,
               const std::string& device) {
  Trace trace = Converter{scenario, parameters, run}.convert();
  trace.source = "hardware";
  trace.clock = TraceClock::kCycles;
  trace.machine = device;
  trace.scenario = scenario.info->name;
  trace.parameters = parameters.to_string();
  trace.ending = run.end == hw::DeviceEnd::kDone ? "done" : "hang";
  if (device.find("sm_100") == std::string::npos) {
    trace.emulated = emulated_in(trace);
  }
  return trace;
}

std::string needs_of_hopper(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  struct Finder : EventSink {
    void on_event(const Event& event) override {
      if (event.op == Op::kWgmma) {
        needs = "wgmma, the MMA of a warpgroup";
      }
    }
    std::string needs;
  };
  Finder finder;
  RunOptions options;
  options.moves_data = false;
  options.detect = false;
  options.observer = &finder;
  simulate(scenario, parameters, options);
  return finder.needs;
}

std::vector<hw::DataRegion> data_regions(const ScenarioEntry& scenario,
                                         const ParameterSet& parameters) {
  struct Finder : EventSink {
    void on_event(const Event& event) override {
      const bool copies = event.op == Op::kTensorLoad || event.op == Op::kBulkLoad;
      if (copies && event.step == Step::kIssued) {
        const payload::Signal& signal = event.signal();
        regions.insert(
            {at(signal.barrier, signal.barrier_cta), at(event.address, event.cta), event.bytes});
      }
    }
    std::uint32_t at(std::uint32_t address, std::uint32_t cta) const {
      return RecordedEvent::at(address - kSharedBase, cta % cluster_size);
    }
    std::set<hw::DataRegion> regions;
    std::uint32_t cluster_size = 1;
  };
  Finder finder;
  finder.cluster_size = scenario.workload(parameters).cluster_size;
  RunOptions options;
  options.moves_data = false;
  options.detect = false;
  options.observer = &finder;
  simulate(scenario, parameters, options);
  return {finder.regions.begin(), finder.regions.end()};
}

HangReport hang_report(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       const hw::DeviceRun& run,
                       const Trace& record) {
  return HangWriter{scenario, parameters, run, record}.write();
}

}  // namespace warptwin::sim
