#include "tests/oracle/program_edits.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/oracle/program_changes.hpp"
#include "tests/oracle/program_writer.hpp"

namespace warptwin::sim {

std::uint32_t* address_in(Operation& op) {
  return op.is<operands::Mbarrier>()         ? &op.as<operands::Mbarrier>().address
         : op.is<operands::NamedBarrier>()   ? &op.as<operands::NamedBarrier>().id
         : op.is<operands::Copy>()           ? &op.as<operands::Copy>().shared
         : op.is<operands::TmemAllocation>() ? &op.as<operands::TmemAllocation>().word
         : op.is<operands::TmemRegion>()     ? &op.as<operands::TmemRegion>().address.value
         : op.is<operands::Mma>()            ? &op.as<operands::Mma>().d.value
         : op.is<operands::TmemCopy>()       ? &op.as<operands::TmemCopy>().to.value
         : op.is<operands::Commit>()         ? &op.as<operands::Commit>().barrier
         : op.is<operands::TmemAccess>()     ? &op.as<operands::TmemAccess>().address.value
         : op.is<operands::SharedWord>()     ? &op.as<operands::SharedWord>().address
         : op.is<operands::SharedRows>()     ? &op.as<operands::SharedRows>().tile
         : op.is<operands::ClcRequest>()     ? &op.as<operands::ClcRequest>().response
         : op.is<operands::ClcQuery>()       ? &op.as<operands::ClcQuery>().response
         : op.is<operands::Note>()           ? &op.as<operands::Note>().full
                                             : nullptr;
}

std::uint32_t* count_in(Operation& op) {
  return op.is<operands::Mbarrier>()         ? &op.as<operands::Mbarrier>().count
         : op.is<operands::NamedBarrier>()   ? &op.as<operands::NamedBarrier>().threads
         : op.is<operands::Members>()        ? &op.as<operands::Members>().lanes
         : op.is<operands::MapFence>()       ? &op.as<operands::MapFence>().map
         : op.is<operands::MapChange>()      ? &op.as<operands::MapChange>().map
         : op.is<operands::BulkWait>()       ? &op.as<operands::BulkWait>().pending
         : op.is<operands::TmemAllocation>() ? &op.as<operands::TmemAllocation>().columns
         : op.is<operands::TmemRegion>()     ? &op.as<operands::TmemRegion>().columns
         : op.is<operands::Wgmma>()          ? &op.as<operands::Wgmma>().columns
         : op.is<operands::WgmmaWait>()      ? &op.as<operands::WgmmaWait>().pending
         : op.is<operands::TmemCopy>()       ? &op.as<operands::TmemCopy>().columns
         : op.is<operands::TmemAccess>()     ? &op.as<operands::TmemAccess>().columns
         : op.is<operands::SharedWord>()     ? &op.as<operands::SharedWord>().value
         : op.is<operands::GlobalWord>()     ? &op.as<operands::GlobalWord>().value
         : op.is<operands::ClcQuery>()       ? &op.as<operands::ClcQuery>().word
         : op.is<operands::Registers>()      ? &op.as<operands::Registers>().count
         : op.is<operands::Note>()           ? &op.as<operands::Note>().stages
                                             : nullptr;
}

namespace {

using Places = ProgramPlaces;

struct Spot {
  std::size_t warp = 0;
  std::size_t at = 0;
};

std::size_t instructions_of(const Program& program) {
  std::size_t count = 0;
  for (const std::vector<Instruction>& warp : program.warps) {
    count += warp.size();
  }
  return count;
}

Spot any_spot(const Program& program, Dice& dice) {
  std::uint32_t at = dice.below(static_cast<std::uint32_t>(instructions_of(program)));
  Spot spot;
  while (at >= program.warps[spot.warp].size()) {
    at -= static_cast<std::uint32_t>(program.warps[spot.warp++].size());
  }
  spot.at = at;
  return spot;
}

std::string words(const char* what, const Instruction& instruction, const Spot& spot) {
  return std::string{what} + " " +
         (instruction.kind == Instruction::Kind::kJump ? "jump"
                                                       : name_of(instruction.operation.op)) +
         " " + std::to_string(spot.at) + " of warp " + std::to_string(spot.warp);
}

bool counts_on_barrier(Op op) {
  return op == Op::kMbarrierArrive || op == Op::kMbarrierExpectTx || op == Op::kMbarrierWait ||
         op == Op::kMbarrierTryWait || op == Op::kMbarrierInit || op == Op::kMbarrierInval ||
         op == Op::kTcgen05Commit;
}

std::uint32_t other_barrier(std::uint32_t address, Dice& dice) {
  const std::uint32_t rank = address & 0xFF000000U;
  const std::uint32_t index = ((address & 0xFFFFFFU) - Places::bar(0)) / 8;
  return rank | Places::bar((index + dice.between(1, 3)) % Places::kBarriers);
}

const char* change_address(Operation& op, Dice& dice) {
  if (counts_on_barrier(op.op)) {
    std::uint32_t& address = *address_in(op);
    address = other_barrier(address, dice);
    return "other barrier of";
  }
  if (is_load(op.op) && dice.chance(50)) {
    op.load_barrier() = other_barrier(op.load_barrier(), dice);
    return "other barrier of";
  }
  switch (op.op) {
    case Op::kBulkLoad:
    case Op::kBulkStore:
    case Op::kClcTryCancel:
    case Op::kClcQuery:
      *address_in(op) = Places::word(dice.below(4));
      return "other address of";
    case Op::kSharedLoad:
    case Op::kSharedStore:
      *address_in(op) = dice.chance(80) ? Places::word(dice.below(4)) + 4 * dice.below(4)
                                        : Places::bar(dice.below(4)) + 4 * dice.below(2);
      return "other address of";
    case Op::kTcgen05Mma:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
    case Op::kTcgen05Dealloc:
      *address_in(op) += dice.chance(50) ? 8 : 16;
      return "other columns of";
    case Op::kBarSync:
    case Op::kBarArrive:
      *address_in(op) = dice.below(4);
      return "other id of";
    case Op::kGlobalWait:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalLoadAcquire:
      op.as<operands::GlobalWord>().address += dice.chance(50) ? 8 : std::uint64_t(0) - 8;
      return "other word of";
    default:
      return nullptr;
  }
}

const char* change_count(Operation& op, Dice& dice) {
  switch (op.op) {
    case Op::kMbarrierInit:
      *count_in(op) = dice.between(1, 3);
      return "count of";
    case Op::kMbarrierArrive:
      if ((op.flags & event_flag::kExpectTx) != 0) {
        op.as<operands::Mbarrier>().bytes += dice.chance(50) ? 16U : 0U - 16U;
      } else {
        *count_in(op) = dice.between(1, 2);
      }
      return "count of";
    case Op::kMbarrierExpectTx:
    case Op::kBulkLoad:
    case Op::kBulkStore: {
      std::uint32_t& bytes = op.op == Op::kMbarrierExpectTx ? op.as<operands::Mbarrier>().bytes
                                                            : op.as<operands::Copy>().bytes;
      bytes = dice.chance(50) && bytes > 16 ? bytes / 2 : bytes + 16;
      return "bytes of";
    }
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait: {
      std::uint32_t& phase = op.as<operands::Mbarrier>().phase;
      // Phase -1 is the first there is.
      phase += dice.chance(50) || phase == ~0U ? 1U : 0U - 1U;
      if ((op.flags & event_flag::kExactPhase) == 0) {
        phase &= 1U;
      }
      return "phase of";
    }
    case Op::kBarSync:
    case Op::kBarArrive:
      *count_in(op) = kWarpLanes * dice.between(1, 3);
      return "threads of";
    case Op::kBulkWaitGroup:
    case Op::kWgmmaWait:
      *count_in(op) = dice.below(3);
      return "groups of";
    case Op::kSharedStore:
      if (op.is<operands::SharedRows>()) {
        std::ignore = dice.below(3);
        return "value of";
      }
      [[fallthrough]];
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      *count_in(op) = dice.below(3);
      return "value of";
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return nullptr;
    case Op::kSetmaxnreg:
      *count_in(op) = 24 + 8 * dice.below(27);
      return "registers of";
    default:
      return nullptr;
  }
}

const char* change_meaning(Operation& op, Dice& dice) {
  switch (op.op) {
    case Op::kMbarrierArrive:
      if ((op.flags & event_flag::kExpectTx) != 0 && dice.chance(50)) {
        op.flags &= ~event_flag::kExpectTx;
        return "no bytes of";
      }
      [[fallthrough]];
    case Op::kClusterArrive:
      op.ordering = {dice.chance(60) ? Semantics::kRelaxed : Semantics::kRelease,
                     dice.chance(50) ? Scope::kCta : Scope::kCluster};
      return "ordering of";
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      op.ordering = {dice.chance(60) ? Semantics::kRelaxed : Semantics::kAcquire,
                     dice.chance(50) ? Scope::kCta : Scope::kCluster};
      return "ordering of";
    case Op::kFenceProxyAsync:
      op.as<operands::ProxyFence>().space = static_cast<ProxySpace>(dice.below(4));
      return "space of";
    case Op::kBulkWaitGroup:
      op.flags ^= event_flag::kRead;
      return "what is waited for by";
    case Op::kBulkLoad:
    case Op::kTcgen05Commit:
    case Op::kClcTryCancel:
      op.set_mask({static_cast<std::uint16_t>(dice.below(4))});
      return "mask of";
    case Op::kTcgen05Mma:
      op.flags ^= event_flag::kAccumulate;
      return "accumulation of";
    case Op::kBarSync:
      op.op = Op::kBarArrive;
      if (std::uint32_t& threads = op.as<operands::NamedBarrier>().threads; threads == 0) {
        threads = kWarpLanes * 2;
      }
      return "waiting of";
    default:
      return nullptr;
  }
}

// Who of the warp executes it, and whether it has them meet.
const char* change_lanes(Operation& op, Dice& dice) {
  if ((op.op == Op::kSyncWarp || op.op == Op::kElectSync) && dice.chance(80)) {
    op.op = op.op == Op::kSyncWarp ? Op::kElectSync : Op::kSyncWarp;
    return "memory of";
  }
  if (op.lanes == kWarpLanes) {
    op.lanes = 1;
    op.lane = dice.chance(50) ? 0 : 21;
    return "one lane of";
  }
  if (dice.chance(50)) {
    op.lane = static_cast<std::uint8_t>(dice.between(1, kWarpLanes - 1));
    return "other lane of";
  }
  op.lanes = kWarpLanes;
  op.lane = 0;
  return "all lanes of";
}

// What no kernel should say at all.
const char* change_oddly(Operation& op, Dice& dice) {
  switch (dice.below(4)) {
    case 0:
      if (op.op != Op::kMbarrierArrive) {
        return nullptr;
      }
      op.flags ^= dice.chance(50) ? event_flag::kDrop : event_flag::kNoComplete;
      return "kind of";
    case 1:
      if (op.op < Op::kTcgen05Alloc || op.op > Op::kTcgen05Commit) {
        return nullptr;
      }
      op.set_group(op.group() == CtaGroup::kOne ? CtaGroup::kTwo : CtaGroup::kOne);
      return "group of";
    case 2:
      if (std::uint32_t* const address = address_in(op)) {
        *address += 4;
      }
      return "alignment of";
    default:
      if (std::uint32_t* const count = count_in(op)) {
        *count = *count == 0 ? 64 : dice.chance(50) ? 2 * *count : 0;
      } else if (op.is<operands::ProxyFence>()) {
        ProxySpace& space = op.as<operands::ProxyFence>().space;
        space = space == ProxySpace::kAll ? ProxySpace{64}
                : dice.chance(50)         ? ProxySpace(2 * static_cast<unsigned>(space))
                                          : ProxySpace::kAll;
      }
      return "odd count of";
  }
}

// Any operation that uses the first few of everything.
void any_operation(WarpWriter warp, const Program& program, Dice& dice) {
  const std::uint32_t bar = Places::bar(dice.below(3));
  const std::uint32_t word = Places::word(dice.below(3)) + 4 * dice.below(2);
  const std::uint64_t flag = program.buffer_address(Places::kFlags) + 8 * dice.below(2);
  const std::uint32_t ranks = program.workload.cluster_size;
  switch (dice.below(28)) {
    case 0:
    case 1:
      warp.arrive(bar);
      return;
    case 2:
      warp.arrive_remote(bar, dice.below(ranks));
      return;
    case 3:
      warp.arrive_expect(bar, 16);
      warp.load(Places::word(dice.below(3)), program.buffer_address(Places::kSource), 16, bar);
      return;
    case 4:
      warp.load(Places::word(dice.below(3)), program.buffer_address(Places::kSource), 16, bar);
      return;
    case 5:
      warp.expect(bar, 16);
      return;
    case 6:
    case 7:
    case 8:
      warp.wait(bar, dice.below(2), dice.chance(50));
      warp.sync_warp();
      return;
    case 9:
      warp.try_wait(bar, dice.below(2), 0, dice.chance(50));
      warp.jump_if(0, dice.below(2), false, warp.next() + 2);
      warp.read(word);
      return;
    case 10:
    case 11:
    case 12:
      warp.read(word, dice.chance(30) ? 1 : Instruction::kNone);
      return;
    case 13:
    case 14:
      warp.write(word, dice.below(3));
      return;
    case 15:
      warp.fence_proxy(dice.chance(70) ? ProxySpace::kSharedCta : ProxySpace::kAll);
      return;
    case 16:
      warp.bar_sync(dice.below(2), kWarpLanes * dice.between(1, 2));
      return;
    case 17:
      warp.bar_arrive(1, kWarpLanes * 2);
      return;
    case 18:
      warp.global_write(flag, dice.below(3));
      return;
    case 19:
      warp.global_add(flag, 1);
      return;
    case 20:
    case 21:
      warp.global_poll(flag, dice.below(3));
      return;
    case 22:
      warp.store(program.buffer_address(dice.chance(70) ? Places::kTarget : Places::kFlags),
                 Places::word(dice.below(3)),
                 16);
      warp.commit_group();
      return;
    case 23:
      warp.wait_group(dice.below(2), dice.chance(50));
      return;
    case 24:
      warp.inval(bar);
      return;
    case 25:
      warp.init(bar, dice.between(1, 2));
      return;
    case 26:
      warp.fence({Semantics::kAcqRel, dice.chance(50) ? Scope::kCta : Scope::kCluster});
      return;
    default:
      dice.chance(70) ? warp.sync_warp() : warp.elect_sync();
      return;
  }
}

// The first instruction from there on, round about, that has a layout, or that declares something.
std::string change_nearest(Program& program, Spot spot, Dice& dice) {
  for (std::size_t tries = instructions_of(program); tries-- > 0; ++spot.at) {
    while (spot.at >= program.warps[spot.warp].size()) {
      spot = {(spot.warp + 1) % program.warps.size(), 0};
    }
    Instruction& instruction = program.warps[spot.warp][spot.at];
    const Instruction before = instruction;
    const bool jump = instruction.kind == Instruction::Kind::kJump;
    const char* what = jump ? nullptr : change_note(instruction.operation, dice);
    what = jump || what != nullptr ? what : change_layout(instruction.operation, program, dice);
    if (what != nullptr) {
      return words(what, before, spot);
    }
  }
  return "";
}

// One of the changes; "" where it fits nothing there. `lanes`: mostly of who in a warp acts.
std::string try_edit(Program& program, Dice& dice, bool lanes) {
  constexpr std::uint32_t kChangeLanes = 12;
  Spot spot = any_spot(program, dice);
  std::vector<Instruction>& code = program.warps[spot.warp];
  Instruction& instruction = code[spot.at];
  const bool jump = instruction.kind == Instruction::Kind::kJump;
  const Instruction before = instruction;
  switch (lanes && dice.chance(70) ? kChangeLanes : dice.below(14)) {
    case 0:
    case 1:
    case 2:
      drop_instruction(program, spot.warp, spot.at);
      return words("without", before, spot);
    case 3:
      if (jump || spot.at + 1 >= code.size() ||
          code[spot.at + 1].kind == Instruction::Kind::kJump) {
        return "";
      }
      std::swap(code[spot.at], code[spot.at + 1]);
      return words("after the next one:", before, spot);
    case 4: {
      if (jump) {
        return "";
      }
      drop_instruction(program, spot.warp, spot.at);
      const std::size_t to = dice.chance(60)
                                 ? spot.warp
                                 : dice.below(static_cast<std::uint32_t>(program.warps.size()));
      const std::size_t at = dice.below(static_cast<std::uint32_t>(program.warps[to].size()) + 1);
      insert_instruction(program, to, at, before);
      return words("elsewhere:", before, spot) + ", now " + std::to_string(at) + " of warp " +
             std::to_string(to);
    }
    case 5:
      if (jump) {
        instruction.negated = !instruction.negated;
        return words("negated:", before, spot);
      }
      insert_instruction(program, spot.warp, spot.at, before);
      return words("twice:", before, spot);
    case 6: {
      const char* what = jump ? nullptr : change_address(instruction.operation, dice);
      return what == nullptr ? "" : words(what, before, spot);
    }
    case 7: {
      const char* what = jump              ? nullptr
                         : dice.chance(25) ? change_oddly(instruction.operation, dice)
                                           : change_count(instruction.operation, dice);
      return what == nullptr ? "" : words(what, before, spot);
    }
    case 8: {
      const char* what = jump ? nullptr : change_limits(instruction.operation, dice);
      return what == nullptr ? "" : words(what, before, spot);
    }
    case 9:
    case 10:
      return change_nearest(program, spot, dice);
    case 11:
      return change_many(program, spot.warp, spot.at, dice);
    case kChangeLanes: {
      const char* what = jump ? nullptr : change_lanes(instruction.operation, dice);
      return what == nullptr ? "" : words(what, before, spot);
    }
    default: {
      const char* what = jump ? nullptr : change_meaning(instruction.operation, dice);
      if (what != nullptr) {
        return words(what, before, spot);
      }
      std::vector<Instruction> some;
      any_operation(WarpWriter{some}, program, dice);
      if (some.size() != 1) {
        return "";
      }
      insert_instruction(program, spot.warp, spot.at, some[0]);
      return words("one more:", some[0], spot);
    }
  }
}

}  // namespace

void drop_instruction(Program& program, std::size_t warp, std::size_t at) {
  std::vector<Instruction>& code = program.warps[warp];
  code.erase(code.begin() + static_cast<std::ptrdiff_t>(at));
  for (Instruction& other : code) {
    if (other.kind == Instruction::Kind::kJump && other.target > at) {
      --other.target;
    }
  }
}

void insert_instruction(Program& program,
                        std::size_t warp,
                        std::size_t at,
                        const Instruction& instruction) {
  std::vector<Instruction>& code = program.warps[warp];
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(at), instruction);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (i != at && code[i].kind == Instruction::Kind::kJump && code[i].target > at) {
      ++code[i].target;
    }
  }
}

bool spins(const Program& program) {
  for (const std::vector<Instruction>& warp : program.warps) {
    for (std::size_t i = 0; i < warp.size(); ++i) {
      const bool back = warp[i].kind == Instruction::Kind::kJump && warp[i].target <= i;
      if (back && std::none_of(warp.begin() + warp[i].target,
                               warp.begin() + static_cast<std::ptrdiff_t>(i),
                               [](const Instruction& between) {
                                 return between.kind == Instruction::Kind::kOperation;
                               })) {
        return true;
      }
    }
  }
  return false;
}

std::string edit(Program& program, Dice& dice, bool lanes) {
  for (int tries = 0; tries < 100 && instructions_of(program) != 0; ++tries) {
    if (std::string what = try_edit(program, dice, lanes); !what.empty()) {
      return what;
    }
  }
  return "nothing";
}

Program unplanned_program(Dice& dice, const std::string& name) {
  const std::uint32_t warps = dice.between(2, 3);
  const bool pair = dice.chance(25);
  Program program = empty_program(name, warps, pair ? 2 : 1, 1);
  for (std::size_t i = 0; i < program.warps.size(); ++i) {
    WarpWriter warp{program.warps[i]};
    if (i % warps == 0) {
      for (std::uint32_t bar = 0; bar < 3; ++bar) {
        warp.init(Places::bar(bar), dice.between(1, 2));
      }
      warp.fence_mbarrier_init();
      warp.sync_warp();
    }
    if (pair) {
      warp.cluster_arrive();
      warp.cluster_wait();
    } else {
      warp.cta_sync();
    }
    const std::uint32_t operations = dice.between(1, 6);
    for (std::uint32_t n = 0; n < operations; ++n) {
      any_operation(warp, program, dice);
    }
    if (pair) {
      warp.cluster_arrive();
      warp.cluster_wait();
    }
  }
  return program;
}

}  // namespace warptwin::sim
