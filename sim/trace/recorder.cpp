#include "sim/trace/recorder.hpp"

namespace warptwin::sim {

namespace {

bool is_step_of_warp(const Event& event) {
  const bool issues = event.step == Step::kDone || event.step == Step::kIssued;
  const bool late = (event.flags & event_flag::kLateLanes) != 0;
  const bool returns = event.op == Op::kBarSync && event.pending == 1;  // its arrival came before
  return issues && !late && !returns;
}

bool is_copy_to_shared(Op op) {
  return op == Op::kTensorLoad || op == Op::kBulkLoad || op == Op::kClcTryCancel;
}

}  // namespace

bool is_in_shared_memory(Op op) {
  switch (op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
    case Op::kTcgen05Commit:
    case Op::kClcTryCancel:
      return true;
    default:
      return false;
  }
}

std::string name_of_object(Op op, std::uint32_t address) {
  switch (op) {
    case Op::kBarSync:
    case Op::kBarArrive:
      return "barrier " + std::to_string(address);
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St: {
      const TmemAddress at{address};
      return "tmem lane " + std::to_string(at.lane()) + " column " + std::to_string(at.column());
    }
    default:
      return "";
  }
}

std::string short_site(const std::string& file, std::uint32_t line) {
  if (line == 0) {
    return "";
  }
  std::size_t cut = file.rfind('/');
  cut = cut == std::string::npos || cut == 0 ? cut : file.rfind('/', cut - 1);
  return (cut == std::string::npos ? file : file.substr(cut + 1)) + ":" + std::to_string(line);
}

Trace trace_of_launch(const LaunchConfig& config, const Symbols& symbols) {
  Trace trace;
  trace.clusters = config.clusters;
  trace.cluster_size = config.cluster_size;
  for (const RoleWarps& row : symbols.roles) {
    trace.roles.push_back({warptwin::name_of(row.role), row.warps});
  }
  trace.warps.resize(std::size_t{config.clusters} * config.cluster_size * trace.warps_per_cta());
  return trace;
}

void TraceRecorder::on_event(const Event& event) {
  if (!is_traced(event.op) || !is_step_of_warp(event)) {
    return;
  }
  std::vector<TraceOp>& ops = trace_.warps[event.warp].ops;
  const std::uint32_t issuer = event.warp / trace_.warps_per_cta();
  if (is_copy_to_shared(event.op) && event.extra != 0 && !ops.empty() &&
      ops.back().time == event.time && ops.back().op == event.op) {
    return;  // the same operation, to another CTA of its mask
  }
  TraceOp op;
  op.time = event.time;
  op.op = event.op;
  op.lanes = event.lanes;
  op.flags = event.flags & kTraceFlags;
  op.cta = is_copy_to_shared(event.op) ? issuer : event.cta;
  op.site = trace_.name(short_site(event.site.file, event.site.line));
  op.object = trace_.name(is_in_shared_memory(event.op) ? symbols_.name(event.address)
                                                        : name_of_object(event.op, event.address));
  switch (event.op) {
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      op.wanted = event.wanted;
      break;
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kClcTryCancel:
      op.on = trace_.name(symbols_.name(event.peer));
      op.bytes = event.bytes;
      op.mask = static_cast<std::uint32_t>(event.extra);
      break;
    case Op::kTensorStore:
    case Op::kBulkStore:
      op.bytes = event.bytes;
      break;
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx: {
      const std::uint32_t lanes = event.step == Step::kIssued ? event.lanes : 1;
      op.count = event.count * lanes;
      op.bytes = event.bytes * lanes;
      break;
    }
    case Op::kTcgen05Commit:
      op.mask = static_cast<std::uint32_t>(event.extra);
      break;
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
      break;
    default:
      op.count = event.count;
  }
  ops.push_back(op);
}

}  // namespace warptwin::sim
