// What oracle V can judge.

#include "sim/oracle/values_plan.hpp"

namespace warptwin::sim::values {

namespace {
constexpr std::uint32_t kCtasMax = 64;
constexpr std::uint32_t kInstructionsMax = 1U << 16;
}  // namespace

std::string size_problem(const Program& program) {
  const Workload& work = program.workload;
  const std::uint64_t ctas = std::uint64_t{work.clusters} * work.cluster_size;
  const std::uint32_t per_cta = program.warps_per_cta();
  if (ctas == 0 || per_cta == 0 || program.warps.size() != ctas * per_cta) {
    return "the program's warps do not fit its launch";
  }
  if (ctas > kCtasMax || per_cta > 32 || work.cluster_size > 16) {
    return "more than 64 CTAs, 32 warps of a CTA or 16 CTAs of a cluster";
  }
  for (const TensorMapSpec& map : work.maps) {
    if (map.tensor >= work.tensors.size()) {
      return "a tensor map of no tensor";
    }
  }
  for (const std::uint32_t tensor : work.from_grid_before) {
    if (tensor >= work.tensors.size()) {
      return "a tensor that does not exist";
    }
  }
  std::size_t instructions = 0;
  for (const std::vector<Instruction>& warp : program.warps) {
    instructions += warp.size();
    for (const Instruction& at : warp) {
      const bool bad_register =
          (at.result != Instruction::kNone && at.result >= kProgramRegisters) ||
          (at.tested != Instruction::kNone && at.tested >= kProgramRegisters);
      if (bad_register || (at.kind == Instruction::Kind::kJump && at.target > warp.size())) {
        return "a jump to no instruction, or a register that a warp does not have";
      }
    }
  }
  return instructions > kInstructionsMax ? "too many instructions" : "";
}

std::uint32_t columns_of(const Operation& op) {
  return op.is<operands::TmemRegion>() ? op.as<operands::TmemRegion>().columns
                                       : op.as<operands::TmemAllocation>().columns;
}

std::string unsupported(const Operation& op) {
  switch (op.op) {
    case Op::kWgmma:
    case Op::kWgmmaFence:
    case Op::kWgmmaCommit:
    case Op::kWgmmaWait:
    case Op::kTensormapReplace:
    case Op::kCtaExit:
    case Op::kCount:
      return std::string{"the operation "} + name_of(op.op);
    case Op::kTensorLoad:
    case Op::kTensorStore:
      return op.as<operands::Copy>().mode == TensorMode::kTile ? "" : "a copy of rows or of pixels";
    default:
      return op.is<operands::SharedRows>() && op.as<operands::SharedRows>().of_accumulator
                 ? "the accumulator of a wgmma"
                 : "";
  }
}

}  // namespace warptwin::sim::values
