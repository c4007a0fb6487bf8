#include "sim/model/operation.hpp"

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "sim/model/atomic_update.hpp"

namespace warptwin::sim {

namespace {

// In place: an operation is made for each step of a run.
void give(AnyOperands& to, Op kind) {
  switch (kind) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return static_cast<void>(to.emplace<operands::Mbarrier>());
    case Op::kFenceProxyAsync:
      return static_cast<void>(to.emplace<operands::ProxyFence>());
    case Op::kFenceProxyTensormap:
      return static_cast<void>(to.emplace<operands::MapFence>());
    case Op::kBarSync:
    case Op::kBarArrive:
      return static_cast<void>(to.emplace<operands::NamedBarrier>());
    case Op::kSyncWarp:
    case Op::kElectSync:
      return static_cast<void>(to.emplace<operands::Members>());
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return static_cast<void>(to.emplace<operands::Copy>());
    case Op::kTensormapReplace:
      return static_cast<void>(to.emplace<operands::MapChange>());
    case Op::kBulkWaitGroup:
      return static_cast<void>(to.emplace<operands::BulkWait>());
    case Op::kTcgen05Alloc:
      return static_cast<void>(to.emplace<operands::TmemAllocation>());
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
      return static_cast<void>(to.emplace<operands::TmemRegion>());
    case Op::kTcgen05Mma:
      return static_cast<void>(to.emplace<operands::Mma>());
    case Op::kTcgen05Cp:
      return static_cast<void>(to.emplace<operands::TmemCopy>());
    case Op::kTcgen05Commit:
      return static_cast<void>(to.emplace<operands::Commit>());
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return static_cast<void>(to.emplace<operands::TmemAccess>());
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
      return static_cast<void>(to.emplace<operands::TmemWait>());
    case Op::kWgmma:
      return static_cast<void>(to.emplace<operands::Wgmma>());
    case Op::kWgmmaFence:
      return static_cast<void>(to.emplace<operands::WgmmaFence>());
    case Op::kWgmmaWait:
      return static_cast<void>(to.emplace<operands::WgmmaWait>());
    case Op::kFragmentRead:
      return static_cast<void>(to.emplace<operands::FragmentRead>());
    case Op::kSharedStore:
    case Op::kSharedLoad:
      return static_cast<void>(to.emplace<operands::SharedWord>());
    case Op::kGlobalLoad:
    case Op::kGlobalStore:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return static_cast<void>(to.emplace<operands::GlobalWord>());
    case Op::kClcTryCancel:
      return static_cast<void>(to.emplace<operands::ClcRequest>());
    case Op::kClcQuery:
      return static_cast<void>(to.emplace<operands::ClcQuery>());
    case Op::kSetmaxnreg:
      return static_cast<void>(to.emplace<operands::Registers>());
    case Op::kStageNote:
      return static_cast<void>(to.emplace<operands::Note>());
    case Op::kTrap:
      return static_cast<void>(to.emplace<operands::Trap>());
    default:
      return;
  }
}

// What an event says of each kind of operands.
struct Telling {
  Event& event;

  void pair(CtaGroup group) const {
    event.flags |= group == CtaGroup::kTwo ? event_flag::kPair : std::uint32_t{0};
  }

  void operator()(const operands::None&) const {}
  void operator()(const operands::Mbarrier& of) const {
    event.address = of.address;
    event.bytes = of.bytes;
    auto& said = event.as<payload::Mbarrier>();
    said.arrivals = of.count;
    said.wanted = of.phase;
  }
  void operator()(const operands::ProxyFence& of) const {
    event.as<payload::ProxyFence>().space = of.space;
  }
  void operator()(const operands::MapFence& of) const { event.as<payload::Map>().number = of.map; }
  void operator()(const operands::NamedBarrier& of) const {
    event.address = of.id;
    event.as<payload::NamedBarrier>().threads = of.threads;
  }
  void operator()(const operands::Members& of) const {
    event.as<payload::Members>().lanes = of.lanes;
  }
  void operator()(const operands::Copy& of) const {
    event.address = of.shared;
    event.bytes = of.bytes;
    event.global = of.global;
    auto& said = event.as<payload::Copy>();
    said.barrier = of.barrier;
    said.mask = of.mask.bits;
    said.source = of.source;
    said.reduction = of.reduction.code();
    pair(of.group);
  }
  void operator()(const operands::MapChange& of) const {
    event.global = of.address;
    auto& said = event.as<payload::Map>();
    said.number = of.map;
    said.extent = of.extent;
    said.field = of.of_extent() ? of.dimension + 1 : 0;
  }
  void operator()(const operands::BulkWait& of) const {
    auto& said = event.as<payload::BulkGroups>();
    said.left = of.pending;
    said.of_lane = of.of_lane;
  }
  void operator()(const operands::TmemAllocation& of) const {
    event.address = of.word;
    event.as<payload::TmemAllocation>().columns = of.columns;
    pair(of.group);
  }
  void operator()(const operands::TmemRegion& of) const {
    event.address = of.address.value;
    event.as<payload::TmemRegion>().columns = of.columns;
    pair(of.group);
  }
  static void product(const operands::Product& of, std::uint32_t columns, payload::Product& said) {
    said.a = of.a.bits;
    said.b = of.b.bits;
    said.instruction = of.instruction.bits;
    said.columns = columns;
    said.kind = of.instruction.kind;
  }
  void operator()(const operands::Mma& of) const {
    event.address = of.d.value;
    auto& said = event.as<payload::Mma>();
    product(of, of.columns, said);
    const bool sparse = (event.flags & event_flag::kSparse) != 0;
    said.tmem_a = sparse ? of.metadata.value : of.tmem_a.value;
    said.scale_a = of.scale_a.value;
    said.scale_b = of.scale_b.value;
    pair(of.group);
  }
  void operator()(const operands::Wgmma& of) const {
    product(of, of.columns, event.as<payload::Wgmma>());
  }
  void operator()(const operands::WgmmaFence&) const {}
  void operator()(const operands::WgmmaWait& of) const {
    event.as<payload::WgmmaGroups>().left = of.pending;
  }
  void operator()(const operands::TmemCopy& of) const {
    event.address = of.to.value;
    auto& said = event.as<payload::TmemCopy>();
    said.source = of.from.bits;
    said.columns = of.columns;
    said.shape = of.shape;
    said.padding = of.padding;
    pair(of.group);
  }
  void operator()(const operands::Commit& of) const {
    event.address = of.barrier;
    event.as<payload::Mbarrier>().mask = of.mask.bits;
    pair(of.group);
  }
  void operator()(const operands::TmemAccess& of) const {
    event.address = of.address.value;
    auto& said = event.as<payload::TmemAccess>();
    said.columns = of.columns;
    said.first_lane = of.address.lane();
    said.lanes = of.of_16_lanes() ? kWarpLanes / 2 : 0;
  }
  void operator()(const operands::TmemWait& of) const {
    event.as<payload::TmemWait>().of_registers = of.of_registers;
  }
  void operator()(const operands::FragmentRead&) const {}
  void operator()(const operands::SharedWord& of) const {
    event.address = of.address;
    event.as<payload::SharedWord>().value = of.value;
  }
  void operator()(const operands::SharedRows& of) const {
    event.address = of.tile;
    event.set<payload::Rows>();
  }
  void operator()(const operands::LaneBytes& of) const {
    const bool shared = event.op == Op::kSharedLoad || event.op == Op::kSharedStore;
    event.address = shared ? of.rank << 24 : 0;
    event.set<payload::Rows>().copies = of.copies;
  }
  void operator()(const operands::GlobalWord& of) const {
    event.global = of.address;
    event.as<payload::GlobalWord>().value = of.value;
  }
  void operator()(const operands::ClcRequest& of) const {
    event.address = of.response;
    event.bytes = kClcResponseBytes;
    auto& said = event.as<payload::ClcRequest>();
    said.barrier = of.barrier;
    said.mask = of.mask.bits;
    said.got = of.got;
  }
  void operator()(const operands::ClcQuery& of) const {
    event.address = of.response;
    event.as<payload::ClcQuery>().word = of.word;
  }
  void operator()(const operands::Registers& of) const {
    event.as<payload::Registers>().count = of.count;
  }
  void operator()(const operands::Note& of) const {
    event.address = of.full;
    auto& said = event.as<payload::Note>();
    said.stages = of.stages;
    said.index = of.index;
    said.lap = of.lap;
    said.step = of.step;
  }
  void operator()(const operands::Trap& of) const {
    auto& said = event.as<payload::Trap>();
    said.cause = static_cast<std::uint32_t>(of.cause);
    said.says = of.says;
  }
};

// By their place in AnyOperands.
constexpr const char* kOperandNames[] = {"nothing",
                                         "an mbarrier",
                                         "a proxy's space",
                                         "a tensor map to acquire",
                                         "a named barrier",
                                         "lanes that it names",
                                         "a copy",
                                         "a tensor map that changes",
                                         "groups of stores",
                                         "an allocation of tensor memory",
                                         "a region of tensor memory",
                                         "a product to tensor memory",
                                         "a product to registers",
                                         "the time of a fence",
                                         "groups of wgmma",
                                         "a copy to tensor memory",
                                         "a commit",
                                         "tensor memory and registers",
                                         "a wait for tensor memory",
                                         "registers that are read",
                                         "a word of shared memory",
                                         "rows of a tile",
                                         "bytes of lanes",
                                         "a word of global memory",
                                         "a request for a cluster",
                                         "a cluster's response",
                                         "a number of registers",
                                         "a stage",
                                         "a reason to end"};
static_assert(std::size(kOperandNames) == std::variant_size_v<AnyOperands>);
static_assert(std::is_trivially_copyable_v<AnyOperands>);

}  // namespace

Operation::Operation(Op kind) : op{kind} {
  give(operands_, kind);
}

void Operation::lacks(std::size_t index) const {
  std::fprintf(stderr,
               "internal: an operation has the operands of its kind: %s has %s, not %s\n",
               op < Op::kCount ? name_of(op) : "no operation",
               kOperandNames[operands_.index()],
               kOperandNames[index]);
  std::_Exit(3);
}

operands::Product& Operation::product() {
  return is<operands::Wgmma>() ? static_cast<operands::Product&>(as<operands::Wgmma>())
                               : as<operands::Mma>();
}
const operands::Product& Operation::product() const {
  return is<operands::Wgmma>() ? static_cast<const operands::Product&>(as<operands::Wgmma>())
                               : as<operands::Mma>();
}

std::uint32_t& Operation::load_barrier() {
  return is<operands::ClcRequest>() ? as<operands::ClcRequest>().barrier
                                    : as<operands::Copy>().barrier;
}
std::uint32_t Operation::load_barrier() const {
  return is<operands::ClcRequest>() ? as<operands::ClcRequest>().barrier
                                    : as<operands::Copy>().barrier;
}

CtaMask Operation::mask() const {
  return std::visit(
      [](const auto& of) {
        if constexpr (requires { of.mask; }) {
          return of.mask;
        } else {
          return CtaMask{};
        }
      },
      operands_);
}

void Operation::set_mask(CtaMask mask) {
  std::visit(
      [mask](auto& of) {
        if constexpr (requires { of.mask; }) {
          of.mask = mask;
        }
      },
      operands_);
}

CtaGroup Operation::group() const {
  return std::visit(
      [](const auto& of) {
        if constexpr (requires { of.group; }) {
          return of.group;
        } else {
          return CtaGroup::kOne;
        }
      },
      operands_);
}

void Operation::set_group(CtaGroup group) {
  std::visit(
      [group](auto& of) {
        if constexpr (requires { of.group; }) {
          of.group = group;
        }
      },
      operands_);
}

LaneAccess* Operation::access() const {
  const auto* const lanes_of = std::get_if<operands::LaneBytes>(&operands_);
  const auto* const word = std::get_if<operands::GlobalWord>(&operands_);
  return lanes_of != nullptr ? lanes_of->access : word != nullptr ? word->update : nullptr;
}

void Operation::let_go() {
  race = nullptr;
  state = nullptr;
  if (auto* const bar = std::get_if<operands::Mbarrier>(&operands_)) {
    bar->copies = nullptr;
  } else if (auto* const change = std::get_if<operands::MapChange>(&operands_)) {
    change->replaced = nullptr;
  } else if (auto* const lanes_of = std::get_if<operands::LaneBytes>(&operands_)) {
    lanes_of->access = nullptr;
  } else if (auto* const word = std::get_if<operands::GlobalWord>(&operands_)) {
    word->update = nullptr;
  }
}

Event Operation::told() const {
  Event event{op};
  event.flags = flags;
  tell(event);
  return event;
}

void Operation::tell(Event& event) const {
  std::visit(Telling{event}, operands_);
}

}  // namespace warptwin::sim
