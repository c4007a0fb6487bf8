// tcgen05.mma, .cp and .commit.

#include <utility>

#include "sim/model/gpu.hpp"
#include "sim/model/invariant.hpp"
#include "sim/model/matrix.hpp"

namespace warptwin::sim {

Fault Gpu::check_mma(const Operation& op, std::uint32_t cta) const {
  const auto& mma = op.as<operands::Mma>();
  const UmmaInstructionDescriptor& instruction = mma.instruction;
  const bool a_in_tmem = (op.flags & event_flag::kTmemA) != 0;
  const std::uint32_t ctas = ctas_in(mma.group);
  const bool scaled = (op.flags & event_flag::kBlockScale) != 0;
  const bool sparse = (op.flags & event_flag::kSparse) != 0;
  if (scaled != is_block_scaled(instruction.kind) || sparse != instruction.sparse_a() ||
      (sparse && a_in_tmem) || (a_in_tmem && instruction.a_major() == Major::kMn)) {
    return Fault::kBadShape;
  }
  if (const Fault fault = check_shape(instruction, mma.group); fault != Fault::kNone) {
    return fault;
  }
  const auto check_operand = [&](std::uint64_t bits,
                                 std::uint32_t rows,
                                 Major major,
                                 ElementType type,
                                 std::uint32_t k_bytes) {
    const UmmaSmemDescriptor descriptor{bits};
    Fault fault = check_descriptor(descriptor, major == Major::kMn && bytes_of(type) == 4);
    if (fault == Fault::kNone) {
      for_each_reach(descriptor, rows / ctas, major, type, k_bytes, [&](const OperandReach& reach) {
        fault = reach.end > config_.shared_bytes ? Fault::kBadDescriptor : fault;
      });
    }
    return fault;
  };
  Fault fault = a_in_tmem ? check_columns(mma.group, cta, mma.tmem_a.value, kTmemAColumns)
                          : check_operand(mma.a.bits,
                                          instruction.m(),
                                          instruction.a_major(),
                                          instruction.a_type(),
                                          kMmaRowBytes);
  if (fault == Fault::kNone) {
    fault = check_operand(mma.b.bits,
                          instruction.n(),
                          instruction.b_major(),
                          instruction.b_type(),
                          instruction.b_row_bytes());
  }
  if (fault == Fault::kNone && sparse) {
    const TmemAddress metadata = mma.metadata.at_column(instruction.sparsity_selector());
    fault = check_columns(
        mma.group, cta, metadata.value, sparse_elements(instruction.a_type()).columns());
  }
  if (fault == Fault::kNone && scaled) {
    fault =
        check_columns(mma.group, cta, mma.scale_a.value, scale_columns_a(instruction, mma.group));
  }
  if (fault == Fault::kNone && scaled) {
    fault = check_columns(mma.group, cta, mma.scale_b.value, scale_columns_b(instruction));
  }
  return fault == Fault::kNone ? check_columns(mma.group, cta, mma.d.value, mma.columns) : fault;
}

// Columns of the CTA, or of both CTAs of its pair.
Fault Gpu::check_columns(CtaGroup group,
                         std::uint32_t cta,
                         std::uint32_t address,
                         std::uint32_t columns) const {
  const std::uint32_t column = TmemAddress{address}.column();
  const Fault own = ctas_[cta].tmem.check(column, columns);
  const bool pair = group == CtaGroup::kTwo && ctas_[cta].size % 2 == 0;
  if (own != Fault::kNone || !pair) {
    return own;
  }
  const Cta& peer = ctas_[cta ^ 1U];
  return peer.exited ? Fault::kExitedCta : peer.tmem.check(column, columns);
}

Fault Gpu::check_cp(const Operation& op, std::uint32_t cta) const {
  const auto& copy = op.as<operands::TmemCopy>();
  const Fault fault = check_descriptor(copy.from);
  if (fault != Fault::kNone || copy_reach(copy.from, copy.shape).end > config_.shared_bytes) {
    return Fault::kBadDescriptor;
  }
  return check_columns(copy.group, cta, copy.to.value, copy.columns);
}

Gpu::Outcome Gpu::issue_tensor(WarpSlot slot, Operation& op) {
  Warp& warp = warps_[slot];
  if (op.op == Op::kTcgen05Mma) {
    auto& mma = op.as<operands::Mma>();
    mma.columns = d_columns(mma.instruction, mma.group);
  }
  Event event = event_of(slot, op);
  Fault fault = Fault::kNone;
  if (op.op == Op::kTcgen05Mma) {
    fault = check_mma(op, warp.cta);
  } else if (op.op == Op::kTcgen05Cp) {
    fault = check_cp(op, warp.cta);
  } else if (const auto& commit = op.as<operands::Commit>();
             commit.barrier % 8 != 0 || commit.barrier + 8 > config_.shared_bytes) {
    fault = Fault::kMisaligned;
  } else if (commit.mask.bits >> ctas_[warp.cta].size != 0) {
    fault = Fault::kBadMask;
  } else if (targets_exited_cta(warp, commit.mask)) {
    fault = Fault::kExitedCta;
  }
  if (fault == Fault::kNone && op.group() == CtaGroup::kTwo) {
    fault = ctas_[warp.cta].size % 2 != 0 ? Fault::kOutOfRange
            : ctas_[warp.cta ^ 1U].exited ? Fault::kExitedCta
                                          : Fault::kNone;
  }
  if (fault != Fault::kNone) {
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.op != Op::kTcgen05Commit) {
    warp.tensor_lanes |= 1U << op.lane;
  } else if ((std::exchange(warp.tensor_lanes, 0U) & ~(1U << op.lane)) != 0) {
    event.fault = Fault::kOtherLane;
  }
  AsyncOp& async = append(warp.tensor_queue);
  async.operation = op;
  async.warp = slot;
  async.cta = async.signal_cta = warp.cta;
  async.serial = ++serial_;
  event.step = Step::kIssued;
  event.serial = async.serial;
  emit(event);
  ++changes_;
  ++clusters_[ctas_[warp.cta].cluster].outstanding;
  ready_.insert(agents_.tensor_queue(slot));
  return Outcome::kDone;
}

void Gpu::execute_mma(const AsyncOp& async) {
  const Operation& op = async.operation;
  const auto& mma = op.as<operands::Mma>();
  MmaOperands operands;
  operands.group = mma.group;
  operands.instruction = mma.instruction;
  operands.d_address = mma.d;
  operands.accumulate = (op.flags & event_flag::kAccumulate) != 0;
  const std::uint32_t first = mma.group == CtaGroup::kTwo ? async.cta & ~1U : async.cta;
  for (std::uint32_t i = 0; i < ctas_in(mma.group); ++i) {
    const std::vector<bool>* const unknown = &ctas_[first + i].unknown;
    operands.a[i] = {shared_of(first + i), config_.shared_bytes, mma.a, unknown};
    operands.b[i] = {shared_of(first + i), config_.shared_bytes, mma.b, unknown};
    operands.d[i] = &ctas_[first + i].tmem;
  }
  operands.a_in_tmem = (op.flags & event_flag::kTmemA) != 0;
  operands.a_address = mma.tmem_a;
  operands.metadata = mma.metadata;
  operands.scale_a = mma.scale_a;
  operands.scale_b = mma.scale_b;
  multiply(operands);
}

void Gpu::execute_cp(const AsyncOp& async) {
  const auto& copy = async.operation.as<operands::TmemCopy>();
  const std::uint32_t first = copy.group == CtaGroup::kTwo ? async.cta & ~1U : async.cta;
  for (std::uint32_t i = 0; i < ctas_in(copy.group); ++i) {
    Cta& cta = ctas_[first + i];
    copy_to_tmem({shared_of(first + i), config_.shared_bytes, copy.from, &cta.unknown},
                 copy.shape,
                 copy.padding,
                 cta.tmem,
                 copy.to);
  }
}

void Gpu::advance_tensor(std::uint32_t index) {
  Warp& warp = warps_[index];
  const AsyncOp& async = warp.tensor_queue.front();
  const std::uint32_t cluster = ctas_[warp.cta].cluster;
  const Operation& op = async.operation;
  ++changes_;
  if (op.op == Op::kWgmma) {
    finish_wgmma(index);
  } else if (op.op != Op::kTcgen05Commit) {
    if (config_.moves_data) {
      op.op == Op::kTcgen05Mma ? execute_mma(async) : execute_cp(async);
    }
    if (sink_ != nullptr) {
      emit(event_of(async, Step::kWritten));
    }
  } else if (const auto& commit = op.as<operands::Commit>(); commit.mask.bits == 0) {
    deferred_arrive(async, async.cta, commit.barrier);
  } else {
    for (std::uint32_t rank = 0; rank < ctas_[warp.cta].size; ++rank) {
      if (commit.mask.contains(rank)) {
        const AgentSlot at = take_async();
        AsyncOp& arrival = async_[agents_.place_of(at)];
        arrival = async;  // the same commit, on its way to one of its CTAs
        arrival.live = true;
        arrival.cta = arrival.signal_cta = ctas_[warp.cta].first + rank;
        ++clusters_[cluster].outstanding;
        ready_.insert(at);
      }
    }
  }
  warp.tensor_queue.pop_front();
  if (warp.tensor_queue.empty()) {
    ready_.erase(agents_.tensor_queue(index));
  }
  WARPTWIN_INVARIANT(kCountersDoNotWrap, clusters_[cluster].outstanding != 0);
  --clusters_[cluster].outstanding;
  retire_cluster_if_done(cluster);
}

}  // namespace warptwin::sim
