#include "sim/run/proof/mutants.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "common/machine/umma_descriptor.hpp"
#include "common/trace/op_facts.hpp"

#include "sim/program/text.hpp"

namespace warptwin::sim {

namespace {

using Lines = std::vector<Instruction>;

bool is_operation(const Instruction& line) {
  return line.kind == Instruction::Kind::kOperation && line.operation.op != Op::kStageNote;
}

// Jumps behind `at` go on to where they went.
void insert_line(Lines& lines, std::size_t at, Instruction line) {
  for (Instruction& other : lines) {
    if (other.kind == Instruction::Kind::kJump && other.target > at) {
      ++other.target;
    }
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), std::move(line));
}
void erase_line(Lines& lines, std::size_t at) {
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
  for (Instruction& other : lines) {
    if (other.kind == Instruction::Kind::kJump && other.target > at) {
      --other.target;
    }
  }
}

// The operation behind, over notes; none where a jump, or a jump's target, lies between.
std::size_t next_operation(const Lines& lines, std::size_t at) {
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    const bool entered = std::any_of(lines.begin(), lines.end(), [&](const Instruction& line) {
      return line.kind == Instruction::Kind::kJump && line.target == i;
    });
    if (entered || lines[i].kind == Instruction::Kind::kJump) {
      break;
    }
    if (is_operation(lines[i])) {
      return i;
    }
  }
  return lines.size();
}

// --- Places -----------------------------------------------------------------------------------

// The next barrier of all that are declared, after the last one the first; the same where there is
// no other.
std::uint32_t next_barrier(const Symbols& symbols, std::uint32_t address) {
  const std::uint32_t rank = address & 0xFF000000U;
  std::vector<std::uint32_t> all;
  for (const Region& region : symbols.regions) {
    for (std::uint32_t i = 0; region.kind == RegionKind::kBarriers && i < region.count; ++i) {
      all.push_back(region.address + i * region.element_bytes);
    }
  }
  const auto found = std::find(all.begin(), all.end(), address & 0xFFFFFFU);
  if (found == all.end()) {
    return address;
  }
  return rank | (found + 1 == all.end() ? all.front() : *(found + 1));
}

// The same place in the next tile of its region.
std::uint32_t next_tile(const Symbols& symbols, std::uint32_t address) {
  const Region* region = symbols.find(address);
  if (region == nullptr || region->kind != RegionKind::kTile || region->count < 2) {
    return address;
  }
  const std::uint32_t next = address + region->element_bytes;
  return next < region->end() ? next : next - region->count * region->element_bytes;
}

UmmaSmemDescriptor next_operand(const Symbols& symbols, UmmaSmemDescriptor operand) {
  constexpr std::uint64_t kStart = 0x3FFF;
  if (operand.fixed() != UmmaSmemDescriptor::kFixed) {
    return operand;
  }
  return {(operand.bits & ~kStart) | (next_tile(symbols, operand.start().value) >> 4 & kStart)};
}

void to_next_barrier(const Symbols& symbols, Operation& op) {
  std::uint32_t& at = is_load(op.op)                ? op.load_barrier()
                      : op.op == Op::kTcgen05Commit ? op.as<operands::Commit>().barrier
                                                    : op.as<operands::Mbarrier>().address;
  at = next_barrier(symbols, at);
}

void to_next_stage(const Symbols& symbols, Operation& op) {
  switch (op.op) {
    case Op::kTcgen05Mma:
    case Op::kWgmma:
      op.product().a = next_operand(symbols, op.product().a);
      op.product().b = next_operand(symbols, op.product().b);
      return;
    case Op::kTcgen05Cp: {
      UmmaSmemDescriptor& from = op.as<operands::TmemCopy>().from;
      from = next_operand(symbols, from);
      return;
    }
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kTensorStore:
    case Op::kBulkStore:
    case Op::kSharedStore:
    case Op::kSharedLoad: {
      std::uint32_t& at = op.is<operands::Copy>()         ? op.as<operands::Copy>().shared
                          : op.is<operands::SharedRows>() ? op.as<operands::SharedRows>().tile
                                                          : op.as<operands::SharedWord>().address;
      at = next_tile(symbols, at);
      return;
    }
    default:
      return;
  }
}

// The barriers, places and operands in shared memory.
std::array<std::uint64_t, 3> objects_of(const Operation& op) {
  const Event told = op.told();
  std::array<std::uint64_t, 3> all{std::uint64_t{told.address} << 32 | told.numbers().place, 0, 0};
  if (op.op == Op::kTcgen05Mma || op.op == Op::kWgmma) {
    all[1] = op.product().a.bits;
    all[2] = op.product().b.bits;
  } else if (op.op == Op::kTcgen05Cp) {
    all[1] = op.as<operands::TmemCopy>().from.bits;
  }
  return all;
}

bool differs(const Operation& a, const Operation& b) {
  return objects_of(a) != objects_of(b);
}

// The number that an edit of this kind changes; null where there is none.
std::uint32_t* number_in(Operation& op, EditKind kind) {
  if (op.is<operands::Mbarrier>()) {
    auto& bar = op.as<operands::Mbarrier>();
    return kind == EditKind::kCount   ? &bar.count
           : kind == EditKind::kBytes ? &bar.bytes
                                      : &bar.phase;
  }
  return kind == EditKind::kBytes
             ? op.is<operands::Copy>() ? &op.as<operands::Copy>().bytes : nullptr
         : op.is<operands::NamedBarrier>() ? &op.as<operands::NamedBarrier>().threads
         : op.is<operands::BulkWait>()     ? &op.as<operands::BulkWait>().pending
         : op.is<operands::WgmmaWait>()    ? &op.as<operands::WgmmaWait>().pending
                                           : nullptr;
}

// --- Loops ------------------------------------------------------------------------------------

/// The last pass of a loop in a straight-line warp.
struct Loop {
  std::size_t end = 0;     // behind its last instruction
  std::size_t length = 0;  // of a pass
  std::size_t passes = 0;
};

bool same_line(const Instruction& a, const Instruction& b) {
  return a.operation.op == b.operation.op && a.operation.site.line == b.operation.site.line &&
         a.operation.lane == b.operation.lane && a.operation.lanes == b.operation.lanes;
}

// The repetition that covers most, and of these the one with the shortest pass.
Loop longest_loop(const Lines& lines) {
  constexpr std::size_t kPassMax = 400;
  Loop best;
  for (const Instruction& line : lines) {
    if (line.kind == Instruction::Kind::kJump) {
      return best;
    }
  }
  for (std::size_t length = 2; length <= std::min(kPassMax, lines.size() / 2); ++length) {
    std::size_t equal = 0;  // so many in a row have their like a pass before
    for (std::size_t i = length; i <= lines.size(); ++i) {
      if (i < lines.size() && same_line(lines[i], lines[i - length])) {
        ++equal;
        continue;
      }
      const std::size_t passes = equal / length + 1;
      if (passes >= 2 && passes * length > best.passes * best.length) {
        best = {i - equal % length, length, passes};
      }
      equal = 0;
    }
  }
  return best;
}

// How many passes later the same barriers and tiles come again; 0: never.
std::size_t lap_of(const Lines& lines, const Loop& loop) {
  for (std::size_t passes = 1; 2 * passes <= loop.passes; ++passes) {
    const std::size_t lap = passes * loop.length;
    bool same = true;
    for (std::size_t i = loop.end - lap; i < loop.end; ++i) {
      same = same && !differs(lines[i].operation, lines[i - lap].operation);
    }
    if (same) {
      return lap;
    }
  }
  return 0;
}

void one_iteration_more(Lines& lines, const Edit& edit) {
  const std::size_t end = edit.index;
  Lines more;
  for (std::size_t i = end - edit.lap; i < end - edit.lap + edit.length; ++i) {
    Instruction line = lines[i];
    const Operation& before = lines[i - edit.lap].operation;
    Operation& op = line.operation;
    if (op.is<operands::Mbarrier>() && before.is<operands::Mbarrier>()) {
      std::uint32_t& phase = op.as<operands::Mbarrier>().phase;  // goes on as it went
      phase += phase - before.as<operands::Mbarrier>().phase;
    } else if (op.is<operands::Note>() && before.is<operands::Note>()) {
      std::uint32_t& index = op.as<operands::Note>().index;
      index += index - before.as<operands::Note>().index;
    }
    more.push_back(std::move(line));
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(end), more.begin(), more.end());
}

// --- Which edits there are --------------------------------------------------------------------

class Editor {
 public:
  explicit Editor(const Program& program) : program_{program} {}

  std::vector<Edit> run() {
    std::set<std::string> seen;
    for (warp_ = 0; warp_ < program_.warps.size(); ++warp_) {
      const Lines& lines = program_.warps[warp_];
      const std::uint32_t rank = warp_ / program_.warps_per_cta() % program_.workload.cluster_size;
      if (lines.empty() || !seen.insert(std::to_string(rank) + text_of(program_, lines)).second) {
        continue;
      }
      for (index_ = 0; index_ < lines.size(); ++index_) {
        if (is_operation(lines[index_])) {
          of(lines[index_].operation, lines);
        }
      }
      loop(lines);
    }
    return std::move(edits_);
  }

 private:
  void add(EditKind kind, std::int32_t amount = 0) {
    edits_.push_back({kind, warp_, index_, amount, 0, 0});
  }

  void of(const Operation& op, const Lines& lines) {
    if (has_trait(op.op, op_trait::kSynchronises)) {
      add(EditKind::kDrop);
      const auto key = std::make_tuple(std::string{op.site.file}, op.site.line, op.op);
      if (lines_.insert(key).second) {
        add(EditKind::kDropLine);
      }
      add(EditKind::kTwice);
      if (has_trait(op.op, op_trait::kMayBlock)) {
        add(EditKind::kExit);
      }
    }
    const std::size_t next = next_operation(lines, index_);
    if (next < lines.size() &&
        (has_trait(op.op, op_trait::kSynchronises) ||
         has_trait(lines[next].operation.op, op_trait::kSynchronises)) &&
        text_of(program_, lines[index_]) != text_of(program_, lines[next])) {
      add(EditKind::kSwap);
    }
    Operation moved = op;
    if (has_trait(op.op, op_trait::kMbarrier) || is_load(op.op)) {
      to_next_barrier(program_.symbols, moved);
      if (differs(op, moved)) {
        add(EditKind::kBarrier);
      }
    }
    moved = op;
    to_next_stage(program_.symbols, moved);
    if (differs(op, moved)) {
      add(EditKind::kStage);
    }
    values(op);
    ordering(op);
  }

  void values(const Operation& op) {
    const bool expects = (op.flags & event_flag::kExpectTx) != 0;
    switch (op.op) {
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        add(EditKind::kPhase, 1);
        if ((op.flags & event_flag::kExactPhase) != 0 &&
            static_cast<std::int32_t>(op.as<operands::Mbarrier>().phase) >= 0) {
          add(EditKind::kPhase, -1);
        }
        break;
      case Op::kMbarrierArrive:
        add(expects ? EditKind::kBytes : EditKind::kCount, expects ? 16 : 1);
        if (expects && op.as<operands::Mbarrier>().bytes > 16) {
          add(EditKind::kBytes, -16);
        }
        break;
      case Op::kMbarrierInit:
        add(EditKind::kCount, 1);
        if (op.as<operands::Mbarrier>().count > 1) {
          add(EditKind::kCount, -1);
        }
        break;
      case Op::kMbarrierExpectTx:
      case Op::kBulkLoad:
        add(EditKind::kBytes, 16);
        if ((op.op == Op::kBulkLoad ? op.as<operands::Copy>().bytes
                                    : op.as<operands::Mbarrier>().bytes) > 16) {
          add(EditKind::kBytes, -16);
        }
        break;
      case Op::kBarSync:
      case Op::kBarArrive:
        if (op.as<operands::NamedBarrier>().threads != 0) {
          add(EditKind::kCount, kWarpLanes);
          add(EditKind::kCount, -static_cast<std::int32_t>(kWarpLanes));
        }
        break;
      case Op::kBulkWaitGroup:
      case Op::kWgmmaWait:
        add(EditKind::kCount, 1);
        break;
      default:
        break;
    }
    const bool has_mask =
        op.op == Op::kTensorLoad || op.op == Op::kBulkLoad || op.op == Op::kTcgen05Commit;
    for (std::uint32_t bit = 0; has_mask && bit < program_.workload.cluster_size; ++bit) {
      const std::uint32_t other = op.mask().bits ^ 1U << bit;
      if (op.mask().bits != 0 && other != 0) {
        add(EditKind::kMask, static_cast<std::int32_t>(other));
      }
    }
  }

  void ordering(const Operation& op) {
    const bool ordered = op.op == Op::kMbarrierArrive || op.op == Op::kMbarrierWait ||
                         op.op == Op::kMbarrierTryWait || op.op == Op::kClusterArrive;
    if (ordered && op.ordering.semantics != Semantics::kRelaxed) {
      add(EditKind::kRelaxed);
    }
    if ((ordered && op.op != Op::kClusterArrive && op.ordering.scope != Scope::kCta) ||
        (op.op == Op::kFence && op.ordering.scope != Scope::kCta)) {
      add(EditKind::kScope);
    }
  }

  void loop(const Lines& lines) {
    const Loop found = longest_loop(lines);
    if (found.passes < 2) {
      return;
    }
    Edit edit;
    edit.warp = warp_;
    edit.index = static_cast<std::uint32_t>(found.end);
    edit.length = static_cast<std::uint32_t>(found.length);
    edit.kind = EditKind::kIterationLess;
    edits_.push_back(edit);
    edit.lap = static_cast<std::uint32_t>(lap_of(lines, found));
    edit.kind = EditKind::kIterationMore;
    if (edit.lap != 0) {
      edits_.push_back(edit);
    }
  }

  const Program& program_;
  std::vector<Edit> edits_;
  std::set<std::tuple<std::string, std::uint32_t, Op>> lines_;  // that are dropped
  std::uint32_t warp_ = 0;
  std::uint32_t index_ = 0;
};

// The edits that change one operation.
void change(const Program& program, const Edit& edit, Operation& op) {
  switch (edit.kind) {
    case EditKind::kBarrier:
      return to_next_barrier(program.symbols, op);
    case EditKind::kStage:
      return to_next_stage(program.symbols, op);
    case EditKind::kPhase:
      if ((op.flags & event_flag::kExactPhase) == 0) {
        op.as<operands::Mbarrier>().phase ^= 1U;
        return;
      }
      [[fallthrough]];
    case EditKind::kCount:
    case EditKind::kBytes:
      if (std::uint32_t* const number = number_in(op, edit.kind)) {
        *number = static_cast<std::uint32_t>(std::int64_t{*number} + edit.amount);
      }
      return;
    case EditKind::kMask:
      op.set_mask({static_cast<std::uint16_t>(edit.amount)});
      return;
    case EditKind::kRelaxed:
      op.ordering.semantics = Semantics::kRelaxed;
      return;
    case EditKind::kScope:
      op.ordering.scope = Scope::kCta;
      return;
    default:
      return;
  }
}

}  // namespace

const char* name_of(EditKind kind) {
  constexpr const char* kNames[] = {"drop",
                                    "drop line",
                                    "twice",
                                    "swap",
                                    "next barrier",
                                    "next stage",
                                    "phase",
                                    "count",
                                    "bytes",
                                    "mask",
                                    "relaxed",
                                    "scope",
                                    "one pass less",
                                    "one pass more",
                                    "exit"};
  return kNames[static_cast<unsigned>(kind)];
}

std::vector<Edit> edits_of(const Program& program) {
  return Editor{program}.run();
}

Program apply(const Program& program, const Edit& edit) {
  Program mutant = program;
  Lines& lines = mutant.warps[edit.warp];
  switch (edit.kind) {
    case EditKind::kDrop:
      erase_line(lines, edit.index);
      break;
    case EditKind::kDropLine: {
      const Operation op = lines[edit.index].operation;
      for (Lines& warp : mutant.warps) {
        for (std::size_t i = warp.size(); i-- > 0;) {
          const Operation& other = warp[i].operation;
          if (is_operation(warp[i]) && other.op == op.op && other.site.line == op.site.line &&
              std::string_view{other.site.file} == op.site.file) {
            erase_line(warp, i);
          }
        }
      }
      break;
    }
    case EditKind::kTwice:
      insert_line(lines, edit.index, lines[edit.index]);
      break;
    case EditKind::kSwap:
      std::swap(lines[edit.index], lines[next_operation(lines, edit.index)]);
      break;
    case EditKind::kExit: {
      Instruction exit;
      exit.kind = Instruction::Kind::kJump;
      exit.operation.site = lines[edit.index].operation.site;
      insert_line(lines, edit.index, exit);
      lines[edit.index].target = static_cast<std::uint32_t>(lines.size());
      break;
    }
    case EditKind::kIterationLess:
      lines.erase(lines.begin() + edit.index - edit.length, lines.begin() + edit.index);
      break;
    case EditKind::kIterationMore:
      one_iteration_more(lines, edit);
      break;
    default:
      change(program, edit, lines[edit.index].operation);
  }
  return mutant;
}

std::string describe(const Program& program, const Edit& edit) {
  const Lines& lines = program.warps[edit.warp];
  std::string text = std::string{name_of(edit.kind)} + ": ";
  switch (edit.kind) {
    case EditKind::kIterationLess:
    case EditKind::kIterationMore:
      return text + std::to_string(edit.length) + " lines before line " +
             std::to_string(edit.index);
    case EditKind::kSwap:
      return text + text_of(program, lines[edit.index]) + " with " +
             text_of(program, lines[next_operation(lines, edit.index)]);
    case EditKind::kDrop:
    case EditKind::kDropLine:
    case EditKind::kTwice:
    case EditKind::kExit:
      return text + text_of(program, lines[edit.index]);
    default:
      break;
  }
  Instruction changed = lines[edit.index];
  change(program, edit, changed.operation);
  return text + text_of(program, lines[edit.index]) + " becomes " + text_of(program, changed);
}

}  // namespace warptwin::sim
