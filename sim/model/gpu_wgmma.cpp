// wgmma of a warpgroup, and its groups.

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "sim/model/gpu.hpp"
#include "sim/model/matrix.hpp"

namespace warptwin::sim {

Fault Gpu::check_wgmma(WarpSlot slot, const Operation& op) const {
  const auto& wgmma = op.as<operands::Wgmma>();
  const Warp& warp = warps_[slot];
  const UmmaInstructionDescriptor& instruction = wgmma.instruction;
  const std::uint32_t n = instruction.n();
  if (warp.index / kWarpsPerWarpgroup * kWarpsPerWarpgroup + kWarpsPerWarpgroup >
      config_.warps_per_cta) {
    return Fault::kNotWarpgroup;
  }
  const bool whole = instruction.kind == MmaKind::kI8;
  if (n < 8 || n > 256 || n % 8 != 0 || (whole && n > 32 && n % 16 != 0)) {
    return Fault::kBadShape;
  }
  const bool mn_major = instruction.a_major() == Major::kMn || instruction.b_major() == Major::kMn;
  if (mn_major && instruction.kind != MmaKind::kF16) {
    return Fault::kBadShape;  // of all other types both operands are K-major
  }
  const SparseElements elements = sparse_elements(instruction.a_type());
  if (instruction.sparse_a() && (instruction.a_major() == Major::kMn ||
                                 instruction.sparsity_selector() >= elements.selectors())) {
    return Fault::kBadShape;
  }
  const auto fits = [&](std::uint64_t descriptor,
                        std::uint32_t rows,
                        Major major,
                        ElementType type,
                        std::uint32_t k_bytes) {
    bool fit = check_descriptor({descriptor}) == Fault::kNone;
    for_each_reach({descriptor}, rows, major, type, k_bytes, [&](const OperandReach& reach) {
      fit = fit && reach.end <= config_.shared_bytes;
    });
    return fit;
  };
  const bool in_registers = (op.flags & event_flag::kTmemA) != 0;
  const bool fit =
      (in_registers ||
       fits(wgmma.a.bits, kWgmmaRows, instruction.a_major(), instruction.a_type(), kMmaRowBytes)) &&
      fits(wgmma.b.bits, n, instruction.b_major(), instruction.b_type(), instruction.b_row_bytes());
  return fit ? Fault::kNone : Fault::kBadDescriptor;
}

// Whether a warp of the warpgroup has ended without a wgmma that another one has issued, or will
// with `slot`'s end.
bool Gpu::leaves_warpgroup(WarpSlot slot) const {
  const WarpSlot first = warpgroup_of(slot);
  for (const FormingWgmma& forming : warps_[first].wgmma_forming) {
    for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
      const bool has_issued = (forming.warps >> i & 1U) != 0;
      if (!has_issued && warps_[first + i].status == WarpStatus::kDone) {
        return true;
      }
    }
  }
  return false;
}

// The k-th of a warpgroup is on its way when all four warps have issued it.
Gpu::Outcome Gpu::issue_wgmma(WarpSlot slot, Operation& op) {
  const auto& wgmma = op.as<operands::Wgmma>();
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.as<payload::Wgmma>().number = warp.wgmma_issued;
  const Fault fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp : check_wgmma(slot, op);
  if (fault != Fault::kNone) {
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  const WarpSlot first = warpgroup_of(slot);
  Warp& leader = warps_[first];
  const std::uint32_t place = warp.wgmma_issued++ - leader.wgmma_begun;
  if (place == leader.wgmma_forming.size()) {
    FormingWgmma& forming = append(leader.wgmma_forming);
    forming.async.operation = op;
    forming.async.operation.fragment = nullptr;
    forming.async.operation.fragment_a = nullptr;
    forming.async.warp = first;
    forming.async.cta = forming.async.signal_cta = warp.cta;
    forming.async.serial = ++serial_;
    forming.async.accumulators = std::make_shared<WarpgroupRegisters>();
  }
  FormingWgmma& forming = leader.wgmma_forming[place];
  const auto& agreed = forming.async.operation.as<operands::Wgmma>();
  FragmentData& d = *op.fragment;
  if (agreed.a.bits != wgmma.a.bits || agreed.b.bits != wgmma.b.bits ||
      agreed.instruction.bits != wgmma.instruction.bits ||
      agreed.instruction.kind != wgmma.instruction.kind ||
      forming.async.operation.flags != op.flags) {
    event.fault = Fault::kNotWarpgroup;
  } else if (std::exchange(d.touched_early, false)) {
    event.fault = Fault::kUnwaited;
  } else if (warp.wgmma_fenced == 0 || d.touched > warp.wgmma_fenced ||
             (op.fragment_a != nullptr && op.fragment_a->touched > warp.wgmma_fenced)) {
    event.fault = Fault::kNoFence;
  }
  forming.warps |= 1U << warp.index % kWarpsPerWarpgroup;
  (*forming.async.accumulators)[warp.index % kWarpsPerWarpgroup] = op.fragment;
  if (op.fragment_a != nullptr) {
    if (forming.async.registers_a == nullptr) {
      forming.async.registers_a = std::make_shared<WarpgroupRegisters>();
    }
    (*forming.async.registers_a)[warp.index % kWarpsPerWarpgroup] = op.fragment_a;
    op.fragment_a->settled = false;
    op.fragment_a->last_wgmma = warp.wgmma_issued;
  }
  d.settled = false;
  d.last_wgmma = warp.wgmma_issued;
  event.step = Step::kIssued;
  event.serial = forming.async.serial;
  const auto issued = static_cast<std::uint32_t>(std::popcount(forming.warps));
  event.as<payload::Wgmma>().warps = issued;
  if (leaves_warpgroup(slot)) {
    event.fault = Fault::kNotWarpgroup;
  }
  emit(event);
  ++changes_;
  // Fewer have issued a later one, so this is the first.
  if (issued == kWarpsPerWarpgroup) {
    append(leader.tensor_queue) = std::move(forming.async);
    leader.wgmma_forming.pop_front();
    ++leader.wgmma_begun;
    op.result = 1;
    ++clusters_[ctas_[warp.cta].cluster].outstanding;
    ready_.insert(agents_.tensor_queue(first));
  }
  return Outcome::kDone;
}

namespace {

// The sums of rows and columns whose operands in shared memory have bytes that nobody knows.
void note_unknown_sums(const WgmmaOperands& operands, const WarpgroupRegisters& accumulators) {
  const UmmaInstructionDescriptor& instruction = operands.instruction;
  const auto rows_of = [&](const OperandView& view,
                           std::uint32_t rows,
                           ElementType type,
                           Major major,
                           std::uint32_t k_bytes) {
    return unknown_rows(view, rows, SmallType::kNone, type, major, k_bytes);
  };
  const std::vector<bool> rows =
      operands.a_registers[0] != nullptr
          ? std::vector<bool>{}
          : rows_of(
                operands.a, kWgmmaRows, instruction.a_type(), instruction.a_major(), kMmaRowBytes);
  const std::vector<bool> columns = rows_of(operands.b,
                                            instruction.n(),
                                            instruction.b_type(),
                                            instruction.b_major(),
                                            instruction.b_row_bytes());
  const std::uint32_t halves = instruction.f16_result() ? 2 : 1;
  for (std::uint32_t warp = 0; warp < kWarpsPerWarpgroup; ++warp) {
    FragmentData& data = *accumulators[warp];
    if (!operands.accumulate) {
      data.unwritten.clear();
    }
    if (rows.empty() && columns.empty()) {
      continue;
    }
    data.unwritten.resize(data.bits.size());
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < halves * data.registers; ++i) {
        const WgmmaCell cell = WgmmaCell::of(lane, i);
        const bool unknown = (!rows.empty() && rows[warp * kWgmmaWarpRows + cell.row]) ||
                             (!columns.empty() && columns[cell.column]);
        if (unknown) {
          data.unwritten[std::size_t{lane} * data.registers + i / halves] = 1;
        }
      }
    }
  }
}

}  // namespace

void Gpu::finish_wgmma(std::uint32_t index) {
  Warp& leader = warps_[index];
  const AsyncOp& async = leader.tensor_queue.front();
  const Operation& op = async.operation;
  const auto& wgmma = op.as<operands::Wgmma>();
  if (config_.moves_data) {
    WgmmaOperands operands;
    operands.instruction = wgmma.instruction;
    const std::vector<bool>* const unknown = &ctas_[async.cta].unknown;
    operands.a = {shared_of(async.cta), config_.shared_bytes, wgmma.a, unknown};
    operands.b = {shared_of(async.cta), config_.shared_bytes, wgmma.b, unknown};
    for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
      operands.d[i] = (*async.accumulators)[i]->bits.data();
      if (async.registers_a != nullptr && (*async.registers_a)[i] != nullptr) {
        const std::uint32_t* bits = (*async.registers_a)[i]->bits.data();
        (wgmma.instruction.sparse_a() ? operands.metadata : operands.a_registers)[i] = bits;
      }
    }
    operands.accumulate = (op.flags & event_flag::kAccumulate) != 0;
    multiply(operands);
    note_unknown_sums(operands, *async.accumulators);
  }
  if (sink_ != nullptr) {
    Event event = event_of(async, Step::kWritten);
    event.as<payload::Wgmma>().number = leader.wgmma_done;
    event.as<payload::Wgmma>().warps = kWarpsPerWarpgroup;
    emit(event);
  }
  ++leader.wgmma_done;
  for (std::uint32_t i = 0; i < kWarpsPerWarpgroup; ++i) {
    const Warp& warp = warps_[index + i];
    if (warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kWgmmaWait &&
        wgmmas_to_wait_for(warp, warp.blocked_on.as<operands::WgmmaWait>().pending) <=
            leader.wgmma_done) {
      ready_.insert(Agents::warp(index + i));
    }
  }
}

// How many wgmmas of the warp must be over for at most `pending` groups to be under way.
std::uint32_t Gpu::wgmmas_to_wait_for(const Warp& warp, std::uint32_t pending) const {
  const std::size_t groups = warp.wgmma_groups.size();
  return groups <= pending ? 0 : warp.wgmma_groups[groups - pending - 1];
}

Gpu::Outcome Gpu::wgmma_groups(WarpSlot slot, Operation& op) {
  Warp& warp = warps_[slot];
  const Warp& leader = warps_[warpgroup_of(slot)];
  Event event = event_of(slot, op);
  if (op.lanes != kWarpLanes) {
    fail(event, Fault::kNotWholeWarp, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.op == Op::kWgmmaFence) {
    warp.wgmma_fenced = op.as<operands::WgmmaFence>().time;
  } else if (op.op == Op::kWgmmaCommit) {
    event.as<payload::WgmmaGroups>().group = warp.wgmma_group++;
    event.as<payload::WgmmaGroups>().wgmmas = warp.wgmma_issued;
    warp.wgmma_groups.push_back(warp.wgmma_issued);
  } else {
    const std::uint32_t left = op.as<operands::WgmmaWait>().pending;
    const std::uint32_t wanted = wgmmas_to_wait_for(warp, left);
    if (wanted > leader.wgmma_done) {
      return block(slot, op);
    }
    while (warp.wgmma_groups.size() > left) {
      warp.wgmma_over = std::max(warp.wgmma_over, warp.wgmma_groups.front());
      warp.wgmma_groups.erase(warp.wgmma_groups.begin());
    }
    event.as<payload::WgmmaGroups>().wgmmas = op.result = warp.wgmma_over;
    if (op.fragment != nullptr) {
      event.fault =
          std::exchange(op.fragment->touched_early, false) ? Fault::kUnwaited : Fault::kNone;
      op.fragment->settled = op.fragment->last_wgmma <= warp.wgmma_over;
    }
  }
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

}  // namespace warptwin::sim
