#include "sim/timed/op_costs.hpp"

#include "common/machine/umma_descriptor.hpp"
#include "common/machine/wgmma_descriptor.hpp"

#include "sim/timed/modules/tmem_ports.hpp"

namespace warptwin::sim {

namespace {

// Of a step of K, in a row of A or of B.
constexpr double kStepBytes = 32;

// The place in kMmaForms.
std::size_t form_of(bool pair, std::uint32_t m, bool a_in_tmem) {
  const bool larger = m == (pair ? 256U : 128U);
  return (pair ? 4U : 0U) + (larger ? 2U : 0U) + (a_in_tmem ? 1U : 0U);
}

std::size_t scaled_form_of(bool pair, std::uint32_t m) {
  return 8U + (pair ? (m == 256 ? 2U : 1U) : 0U);
}

double cycles_of(const Chip& chip, Op op) {
  switch (op) {
    case Op::kFence:
      return chip.fence_gpu;
    case Op::kFenceProxyAsync:
      return chip.fence_proxy_async;
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return chip.tma_issue;
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Commit:
      return chip.mma_issue;
    case Op::kWgmmaFence:
      return chip.wgmma_fence;
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
      return chip.tmem_alloc;
    case Op::kSharedLoad:
    case Op::kClcQuery:
      return chip.smem_latency;
    case Op::kGlobalLoad:
    case Op::kGlobalStore:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return chip.global_latency;
    case Op::kSetmaxnreg:
      return chip.setmaxnreg_dec;
    default:
      return 0;
  }
}

// Of one warp that has its sub-partition for itself.
InstructionTimes instructions_of(const Chip& chip) {
  const double lanes = double{kWarpLanes} * kSubPartitions;
  const auto unit = [&](double rate, double latency) {
    return UnitTime{to_ticks(lanes / rate), to_ticks(latency)};
  };
  InstructionTimes times;
  times.cycle = kTicksPerCycle;
  times.branch = to_ticks(chip.branch_latency);
  times.fma = unit(chip.fma_rate, chip.alu_latency);
  times.integer = unit(chip.integer_rate, chip.alu_latency);
  times.mufu = unit(chip.mufu_rate, chip.mufu_latency);
  times.convert = unit(chip.convert_rate, chip.alu_latency);
  times.exchange = {to_ticks(4 * kWarpLanes / chip.smem_read), to_ticks(chip.smem_latency)};
  times.mma = unit(chip.mma_sync_rate, chip.mma_sync_latency);
  return times;
}

}  // namespace

OpCosts::OpCosts(const Chip& chip)
    : chip_{chip},
      setmaxnreg_inc_{to_ticks(chip.setmaxnreg_inc)},
      instructions_{instructions_of(chip)} {
  for (std::size_t op = 0; op < effects_.size(); ++op) {
    effects_[op] = to_ticks(cycles_of(chip, static_cast<Op>(op)));
  }
  for (std::size_t form = 0; form < kMmaForms.size(); ++form) {
    const auto found = chip.mma.find(kMmaForms[form]);
    forms_[form] = found == chip.mma.end() ? nullptr : &found->second;
  }
}

WgmmaShape OpCosts::wgmma(const Operation& op) const {
  const bool a_in_registers = (op.flags & event_flag::kTmemA) != 0;
  const std::size_t form = form_of(false, kWgmmaRows, a_in_registers);
  if (!chip_.has_wgmma()) {
    throw ChipError(chip_.name + ": has no wgmma (its wgmma_fence is 0); use a chip that has: " +
                    names_of_chips_with_wgmma());
  }
  if (forms_[form] == nullptr) {
    throw ChipError(chip_.name + ": has no wgmma of the form '" + std::string{kMmaForms[form]} +
                    "'");
  }
  const UmmaInstructionDescriptor& shape = op.as<operands::Wgmma>().instruction;
  const double bytes =
      (a_in_registers ? 0 : kWgmmaRows) * kStepBytes + double(shape.n()) * shape.b_row_bytes();
  return {*forms_[form], double(shape.n()), bytes};
}

MmaShape OpCosts::mma(const Operation& op) const {
  const auto& mma = op.as<operands::Mma>();
  const UmmaInstructionDescriptor& shape = mma.instruction;
  const bool pair = mma.group == CtaGroup::kTwo;
  const bool a_in_tmem = (op.flags & event_flag::kTmemA) != 0;
  const std::size_t form = is_block_scaled(shape.kind) ? scaled_form_of(pair, shape.m())
                                                       : form_of(pair, shape.m(), a_in_tmem);
  if (forms_[form] == nullptr) {
    throw ChipError(chip_.name + ": has no MMA of the form '" + std::string{kMmaForms[form]} + "'");
  }
  const double bytes =
      (a_in_tmem ? 0 : shape.m()) * kStepBytes + double(shape.n()) * shape.b_row_bytes();
  return {*forms_[form], double(shape.n()), bytes / ctas_in(mma.group)};
}

}  // namespace warptwin::sim
