#include "tests/oracle/program_changes.hpp"

#include <algorithm>

#include "common/machine/umma_descriptor.hpp"

#include "tests/oracle/program_edits.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kNowhere = 0xF0000;  // beyond every CTA's shared memory
constexpr std::uint32_t kNoRank = 7;         // beyond every cluster
constexpr std::uint32_t kTooMany = 1U << 20;
constexpr std::uint64_t kFar = 1U << 24;  // behind all buffers

const char* limits_of_barrier(Operation& op, Dice& dice) {
  std::uint32_t& address = *address_in(op);
  const bool waits = op.op == Op::kMbarrierWait || op.op == Op::kMbarrierTryWait;
  const bool arrives = op.op == Op::kMbarrierArrive || op.op == Op::kMbarrierExpectTx;
  switch (dice.below(4)) {
    case 0:
      address += 4;
      return "misaligned barrier of";
    case 1:
      address = kNowhere;
      op.flags &= ~event_flag::kRemote;
      return "no barrier of";
    case 2:
      if (waits) {
        op.flags &= ~event_flag::kExactPhase;
        op.as<operands::Mbarrier>().phase = 3;
        return "parity 3 of";
      }
      if (op.op == Op::kTcgen05Commit) {
        op.set_mask(op.mask() | CtaMask{0x80});
        return "mask of no CTA of";
      }
      if (!arrives) {
        return nullptr;
      }
      address = (address & 0xFFFFFFU) | kNoRank << 24;
      op.flags |= event_flag::kRemote;
      return "no CTA of";
    default:
      if (op.op == Op::kMbarrierInit) {
        op.as<operands::Mbarrier>().count = dice.chance(50) ? 0 : kTooMany;
        return "no count of";
      }
      if (!arrives) {
        return nullptr;
      }
      if (op.op == Op::kMbarrierArrive && (op.flags & event_flag::kExpectTx) == 0) {
        op.as<operands::Mbarrier>().count = dice.chance(50) ? 0 : kTooMany;
        return "no count of";
      }
      if (dice.chance(50)) {
        op.op = Op::kMbarrierCompleteTx;
        op.flags &= ~event_flag::kExpectTx;
        op.ordering = kRelaxedCta;
      }
      op.as<operands::Mbarrier>().bytes = kTooMany;
      return "too many bytes of";
  }
}

const char* limits_of_copy(Operation& op, Dice& dice) {
  auto& copy = op.as<operands::Copy>();
  const bool tensor = op.op == Op::kTensorLoad || op.op == Op::kTensorStore;
  switch (dice.below(5)) {
    case 0:
      copy.shared += 8;
      return "misaligned address of";
    case 1:
      copy.shared = kNowhere;
      return "no address of";
    case 2:
      if (!is_load(op.op)) {
        return nullptr;
      }
      copy.mask.bits |= 0x80;
      return "mask of no CTA of";
    case 3:
      if (tensor) {
        copy.rank = dice.chance(50) ? 1 : 3;
        return "coordinates of";
      }
      copy.bytes += 8;
      return "odd size of";
    default:
      if (op.op == Op::kTensorStore) {
        copy.at[dice.below(2)] = -1;
        return "coordinate -1 of";
      }
      if (tensor) {
        return nullptr;
      }
      copy.global += dice.chance(50) ? 8 : kFar;
      return "no global address of";
  }
}

const char* limits_of_tensor(Operation& op, Dice& dice) {
  switch (op.op) {
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc: {
      constexpr std::uint32_t kCounts[] = {16, 48, 64, 128, 1024};
      *count_in(op) = kCounts[dice.below(5)];
      return "columns of";
    }
    case Op::kTcgen05Mma:
      switch (dice.below(5)) {
        case 0:
          *address_in(op) += dice.chance(50) ? 8U << 16 : 16U << 16;
          return "lanes of";
        case 1:
          op.as<operands::Mma>().instruction.bits |= 1U << (dice.chance(50) ? 31 : 14);
          return "reserved bits of";
        case 2:
          op.as<operands::Mma>().instruction.bits &= ~(0x3FU << 17);  // N is 0
          return "no shape of";
        case 3:
          (dice.chance(50) ? op.product().a : op.product().b).bits = 0;
          return "no descriptor of";
        default:
          *address_in(op) += 500;
          return "no columns of";
      }
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      *address_in(op) += dice.chance(50) ? 32U << 16 : 500U;
      return "no lanes or columns of";
    default:
      *address_in(op) += 500;
      return "no columns of";
  }
}

const char* limits_of_word(Operation& op, Dice& dice) {
  switch (op.op) {
    case Op::kSharedLoad:
    case Op::kSharedStore:
      *address_in(op) = dice.chance(50) ? *address_in(op) + 2 : kNowhere;
      return "no address of";
    default:
      op.as<operands::GlobalWord>().address += dice.chance(50) ? 2 : kFar;
      return "no global address of";
  }
}

}  // namespace

const char* change_limits(Operation& op, Dice& dice) {
  switch (op.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
    case Op::kTcgen05Commit:
      return limits_of_barrier(op, dice);
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return limits_of_copy(op, dice);
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return limits_of_tensor(op, dice);
    case Op::kSharedLoad:
    case Op::kSharedStore:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalWait:
      return limits_of_word(op, dice);
    case Op::kClcTryCancel:
      *address_in(op) += 8;
      return "misaligned response of";
    case Op::kClcQuery:
      if (dice.chance(50)) {
        *address_in(op) += 8;
        return "misaligned response of";
      }
      *count_in(op) ^= 1U;
      return "kind of";
    case Op::kBarSync:
    case Op::kBarArrive:
      if (dice.chance(50)) {
        *address_in(op) = 16;
        return "no id of";
      }
      *count_in(op) = dice.chance(50) ? 33 : 2048;
      return "no count of";
    case Op::kSetmaxnreg:
      if (dice.chance(50)) {
        op.flags ^= event_flag::kIncrease;
        return "direction of";
      }
      *count_in(op) = dice.chance(50) ? 20 : 264;
      return "no count of";
    default:
      return nullptr;
  }
}

namespace {

// Another descriptor: swizzle, stride, leading offset or start.
std::uint64_t other_descriptor(std::uint64_t bits, Dice& dice) {
  constexpr Swizzle kSwizzles[] = {Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B};
  constexpr std::uint64_t kSwizzleBits = std::uint64_t{7} << 61;
  constexpr std::uint32_t kSteps[] = {16, 32, 128, 256, 1024};
  const UmmaSmemDescriptor was{bits};
  switch (dice.below(4)) {
    case 0:
      return (bits & ~kSwizzleBits) |
             std::uint64_t{UmmaSmemDescriptor::code_of(kSwizzles[dice.below(4)])} << 61;
    case 1: {
      const std::uint64_t stride = was.stride_bytes() >> 4;
      return (bits & ~(std::uint64_t{0x3FFF} << 32)) | (dice.chance(50) ? stride / 2 : stride * 2)
                                                           << 32;
    }
    case 2:
      return bits ^ std::uint64_t{0x20} << 16;
    default:
      return was.advanced(kSteps[dice.below(5)]).bits;
  }
}

const char* layout_of_scales(Operation& op, Dice& dice) {
  auto& mma = op.as<operands::Mma>();
  switch (dice.below(4)) {
    case 0:
      mma.instruction.bits ^= 1U << (dice.chance(50) ? 4 : 29);
      return "bytes of the factors of";
    case 1:
      mma.instruction.bits ^= 12U << 24;  // 64 rows for 128, and back
      return "rows of";
    default: {
      std::uint32_t& at = (dice.chance(50) ? mma.scale_a : mma.scale_b).value;
      at = dice.chance(50) ? at + 1 : dice.chance(50) ? at ^ 4U : 8U;
      return "place of the factors of";
    }
  }
}

}  // namespace

const char* change_layout(Operation& op, const Program& program, Dice& dice) {
  const auto maps = static_cast<std::uint32_t>(program.workload.maps.size());
  switch (op.op) {
    case Op::kTcgen05Mma:
      if ((op.flags & event_flag::kBlockScale) != 0 && dice.chance(70)) {
        return layout_of_scales(op, dice);
      }
      if (dice.chance(20)) {
        op.as<operands::Mma>().instruction.bits ^= 1U << (dice.chance(50) ? 15 : 16);
        return "major of";
      }
      [[fallthrough]];
    case Op::kWgmma: {
      std::uint64_t& operand = (dice.chance(50) ? op.product().a : op.product().b).bits;
      operand = other_descriptor(operand, dice);
      return "operand of";
    }
    case Op::kTcgen05Cp: {
      auto& copy = op.as<operands::TmemCopy>();
      if (dice.chance(50)) {
        copy.from.bits = other_descriptor(copy.from.bits, dice);
        return "operand of";
      }
      copy.shape =
          static_cast<TmemCopy>((static_cast<unsigned>(copy.shape) + dice.between(1, 2)) % 3);
      copy.columns = columns_of(copy.shape);
      return "shape of";
    }
    case Op::kTensorLoad:
    case Op::kTensorStore: {
      auto& copy = op.as<operands::Copy>();
      switch (dice.below(3)) {
        case 0:
          copy.map = (copy.map + 1) % std::max(maps, 1U);
          return "map of";
        case 1:
          copy.at[dice.below(2)] += dice.chance(50) ? 8 : 16;
          return "coordinates of";
        default:
          copy.shared += dice.chance(50) ? 128 : 512;
          return "place of";
      }
    }
    case Op::kTensormapReplace:
      *count_in(op) = (*count_in(op) + 1) % std::max(maps, 1U);
      return "map of";
    case Op::kFenceProxyTensormap:
      if (op.ordering.semantics == Semantics::kAcquire && dice.chance(50)) {
        *count_in(op) = (*count_in(op) + 1) % std::max(maps, 1U);
        return "map of";
      }
      op.ordering.semantics =
          op.ordering.semantics == Semantics::kAcquire ? Semantics::kRelease : Semantics::kAcquire;
      *count_in(op) = 0;
      return "direction of";
    case Op::kSharedStore:
      if (!op.is<operands::SharedRows>()) {
        return nullptr;
      }
      if (dice.chance(50)) {
        *address_in(op) += 128;
        return "place of";
      }
      if (Swizzle& swizzle = op.as<operands::SharedRows>().swizzle; true) {
        swizzle = swizzle == Swizzle::kNone ? Swizzle::k64B : Swizzle::kNone;
      }
      return "swizzle of";
    default:
      return nullptr;
  }
}

const char* change_note(Operation& op, Dice& dice) {
  if (op.op != Op::kStageNote) {
    return nullptr;
  }
  auto& note = op.as<operands::Note>();
  switch (dice.below(3)) {
    case 0:
      note.step = static_cast<StageStep>(dice.below(6));
      return "step of";
    case 1:
      note.index = dice.chance(50) ? note.stages : (note.index + 1) % std::max(note.stages, 1U);
      return "stage of";
    default:
      ++note.lap;
      return "lap of";
  }
}

namespace {

// What one thread does for others.
bool is_issue(const Instruction& one) {
  switch (one.operation.op) {
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Commit:
    case Op::kTcgen05Mma:
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kClcTryCancel:
      return one.kind == Instruction::Kind::kOperation;
    default:
      return false;
  }
}

void end_at(std::vector<Instruction>& code, std::size_t at) {
  code.resize(std::min(at, code.size()));
  for (Instruction& one : code) {
    one.target = std::min(one.target, static_cast<std::uint32_t>(code.size()));
  }
}

bool meets_cluster(Op op) {
  return op == Op::kClusterArrive || op == Op::kClusterWait;
}

// Whether two instructions do the same, but for where in global memory.
bool same(const Instruction& a, const Instruction& b) {
  const Operation& x = a.operation;
  const Operation& y = b.operation;
  const Event of_x = x.told();
  const Event of_y = y.told();
  const payload::Numbers by_x = of_x.numbers();
  const payload::Numbers by_y = of_y.numbers();
  return a.kind == b.kind && a.kind == Instruction::Kind::kOperation && x.op == y.op &&
         of_x.address == of_y.address && by_x.count == by_y.count && by_x.wanted == by_y.wanted &&
         x.flags == y.flags && by_x.place == by_y.place;
}

template <class Like>
void drop_nth(Program& program, std::size_t nth, Like&& like) {
  for (std::size_t warp = 0; warp < program.warps.size(); ++warp) {
    std::size_t seen = 0;
    for (std::size_t at = 0; at < program.warps[warp].size(); ++at) {
      if (like(program.warps[warp][at]) && seen++ == nth) {
        drop_instruction(program, warp, at);
        break;
      }
    }
  }
}

// No warp does it; of a meeting of the cluster, nobody comes.
void drop_everywhere(Program& program, std::size_t warp, std::size_t at) {
  const Instruction gone = program.warps[warp][at];
  const auto number = [&](auto&& like) {
    return static_cast<std::size_t>(
        std::count_if(program.warps[warp].begin(),
                      program.warps[warp].begin() + static_cast<std::ptrdiff_t>(at),
                      like));
  };
  if (meets_cluster(gone.operation.op)) {
    const auto of = [](Op op) {
      return [op](const Instruction& one) {
        return one.kind == Instruction::Kind::kOperation && one.operation.op == op;
      };
    };
    const std::size_t nth = number(of(gone.operation.op));
    drop_nth(program, nth, of(Op::kClusterArrive));
    drop_nth(program, nth, of(Op::kClusterWait));
    return;
  }
  const auto like = [&](const Instruction& one) { return same(one, gone); };
  drop_nth(program, number(like), like);
}

}  // namespace

std::string change_many(Program& program, std::size_t warp, std::size_t at, Dice& dice) {
  std::vector<Instruction>& code = program.warps[warp];
  const std::uint32_t what = dice.below(4);
  if (what == 2 && dice.chance(50)) {
    const auto issue =
        std::find_if(code.begin() + static_cast<std::ptrdiff_t>(at), code.end(), is_issue);
    at = issue == code.end() ? at : static_cast<std::size_t>(issue - code.begin());
  }
  const Instruction changed = code[at];
  if (changed.kind == Instruction::Kind::kJump) {
    return "";
  }
  const std::string place = std::string{name_of(changed.operation.op)} + " " + std::to_string(at) +
                            " of warp " + std::to_string(warp);
  switch (what) {
    case 0:
    case 1:
      drop_everywhere(program, warp, at);
      return "nowhere: " + place;
    case 2: {
      // Most often the warp that does the same in another CTA.
      const std::size_t of_cta = program.warps_per_cta();
      const std::size_t warps = program.warps.size();
      const std::size_t to =
          dice.chance(60) ? (warp + of_cta) % warps : dice.below(static_cast<std::uint32_t>(warps));
      if (to == warp) {
        return "";
      }
      insert_instruction(program, to, std::min(at, program.warps[to].size()), changed);
      return "also in warp " + std::to_string(to) + ": " + place;
    }
    default: {
      const bool all = dice.chance(40);  // of the CTA
      const std::size_t of_cta = program.warps_per_cta();
      const std::size_t first = all ? warp / of_cta * of_cta : warp;
      for (std::size_t i = first; i < first + (all ? of_cta : 1); ++i) {
        end_at(program.warps[i], at);
      }
      return std::string{all ? "its CTA " : ""} + "ends before: " + place;
    }
  }
}

}  // namespace warptwin::sim
