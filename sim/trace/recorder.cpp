#include "sim/trace/recorder.hpp"

#include <span>

#include "common/kernel/scenario.hpp"
#include "common/trace/checksum.hpp"
#include "common/trace/op_facts.hpp"
#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

bool is_step_of_warp(const Event& event) {
  const bool issues = event.step == Step::kDone || event.step == Step::kIssued;
  const bool late = (event.flags & event_flag::kLateLanes) != 0;
  return issues && !late;
}

}  // namespace

std::string name_of_object(Op op, std::uint32_t address, const Symbols& symbols) {
  if (op == Op::kBarSync || op == Op::kBarArrive) {
    return symbols.named_barrier("barrier", address);
  }
  if (has_trait(op, op_trait::kTmemObject)) {
    const TmemAddress at{address};
    return "tmem lane " + std::to_string(at.lane()) + " column " + std::to_string(at.column());
  }
  return "";
}

Trace trace_of_launch(const LaunchConfig& config, const Symbols& symbols) {
  if (!config.falls_back.empty()) {
    throw ConfigError("a trace has clusters of one size: choose `shapes` so that all have it");
  }
  Trace trace;
  trace.clusters = config.clusters;
  trace.cluster_size = config.cluster_size;
  for (const RoleWarps& row : symbols.roles) {
    trace.roles.push_back({warptwin::name_of(row.role), row.warps});
  }
  trace.warps.resize(std::size_t{config.clusters} * config.cluster_size * trace.warps_per_cta());
  return trace;
}

TraceOp TraceRecorder::op_of(const Event& event) {
  TraceOp op;
  op.time = event.time;
  op.op = event.op;
  op.lanes = event.lanes;
  op.flags = event.flags & (is_load(event.op) ? kTraceLoadFlags : kTraceFlags);
  op.cta = is_load(event.op) ? event.warp / trace_.warps_per_cta() : event.cta;
  op.site = trace_.name(short_site(event.site.file, event.site.line));
  op.object = trace_.name(has_trait(event.op, op_trait::kSharedObject)
                              ? symbols_.name(event.address)
                              : name_of_object(event.op, event.address, symbols_));
  switch (event.op) {
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      op.wanted = event.as<payload::Mbarrier>().wanted;
      break;
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kClcTryCancel:
      op.on = trace_.name(symbols_.name(event.signal().barrier));
      op.bytes = event.bytes;
      op.mask = event.signal().mask;
      break;
    case Op::kTensorStore:
    case Op::kBulkStore:
      op.bytes = event.bytes;
      break;
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx: {
      const std::uint32_t lanes = event.step == Step::kIssued ? event.lanes : 1;
      op.count = event.as<payload::Mbarrier>().arrivals * lanes;
      op.bytes = event.bytes * lanes;
      break;
    }
    case Op::kTcgen05Commit:
      op.mask = event.as<payload::Mbarrier>().mask;
      break;
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
      break;
    default:
      op.count = event.numbers().count;
  }
  return op;
}

void TraceRecorder::on_event(const Event& event) {
  if (!has_trait(event.op, op_trait::kTraced)) {
    return;
  }
  std::vector<TraceOp>& ops = trace_.warps[event.warp].ops;
  if (is_load(event.op) && event.step == Step::kWritten) {
    note_data(event);
    return;
  }
  if (!is_step_of_warp(event)) {
    return;
  }
  TraceOp op = op_of(event);
  if (event.op == Op::kBarSync) {
    // Like all waits, one operation when it returns; what it was, its arrival says.
    if (event.step == Step::kIssued) {
      in_named_barrier_[event.warp] = op;
      return;
    }
    if (event.as<payload::NamedBarrier>().returns) {
      op = in_named_barrier_[event.warp];
      op.time = event.time;
    }
  }
  if (is_load(event.op)) {
    const bool to_another_cta = op.mask != 0 && !ops.empty() && ops.back().time == op.time &&
                                ops.back().op == op.op && ops.back().object == op.object;
    if (to_another_cta) {
      return;  // the same operation, to another CTA of its mask
    }
    if (gpu_ != nullptr) {
      op.address = event.address;
      in_flight_[event.serial] = ops.size();
    }
  }
  if (event.is<payload::Copy>() && gpu_ != nullptr && event.as<payload::Copy>().rows != 0) {
    note_box(event);
  }
  ops.push_back(op);
}

void TraceRecorder::note_box(const Event& event) {
  const GlobalBuffer* const buffer = gpu_->memory().find(event.global);
  if (buffer == nullptr) {
    return;
  }
  WarpTrace& warp = trace_.warps[event.warp];
  const auto& copy = event.as<payload::Copy>();
  warp.boxes.push_back({static_cast<std::uint32_t>(warp.ops.size()),
                        trace_.name(buffer->name),
                        event.global - buffer->address,
                        copy.rows,
                        copy.width,
                        copy.pitch});
}

// What a copy has just written, in the first CTA of its mask.
void TraceRecorder::note_data(const Event& event) {
  const auto found = in_flight_.find(event.serial);
  if (found == in_flight_.end()) {
    return;
  }
  for (const Cta& cta : gpu_->ctas()) {
    if (cta.number == event.cta && event.address + event.bytes <= cta.shared.size()) {
      const std::span<const std::byte> all{cta.shared};
      trace_.warps[event.warp].ops[found->second].data =
          checksum(all.subspan(event.address, event.bytes));
      break;
    }
  }
  in_flight_.erase(found);
}

}  // namespace warptwin::sim
