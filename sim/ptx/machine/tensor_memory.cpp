// tcgen05: tensor memory, its loads and stores, and the tensor core's operations on it.

#include <algorithm>
#include <bit>

#include "common/machine/umma_descriptor.hpp"

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

// "If any thread in the warp has exited" it is undefined (PTX ISA, "tcgen05.alloc").
void WarpRun::require_no_end(const Request& request) const {
  if (live_ != began_) {
    refuse(request, "lanes of the warp have ended, and what the others do then is undefined");
  }
}

Served WarpRun::tmem_alloc(Request& request) {
  require_no_end(request);
  sim::Operation op = collective(warptwin::Op::kTcgen05Alloc, request);
  auto& asked = op.as<sim::operands::TmemAllocation>();
  asked = {own_shared(request, uniform(request, 0)),
           static_cast<std::uint32_t>(uniform(request, 1)),
           group_of(request),
           machine_.free_tmem_bases()};
  perform(op);
  if (asked.free) {
    const bool pair = asked.group == CtaGroup::kTwo;
    grid_.allocates_beside_data =
        grid_.allocates_beside_data || (machine_.moves_data() && asked.columns < kTmemColumns);
    const std::uint32_t rank = machine_.cta_rank();
    auto& all = grid_.allocations[{machine_.cluster_index(), rank}];
    all.resize(std::max<std::size_t>(all.size(), asked.ordinal + 1));
    all[asked.ordinal] = grid_.bases.number_of(
        {pair ? rank & ~1U : rank, pair, asked.ordinal, asked.columns, op.result});
  }
  return Served::kDone;
}

// The first of `lanes` says which address. Where it is free which columns an allocation gets, an
// address is of one of the own CTA's, or of its pair's; or it is a number, and rests on them.
std::uint32_t WarpRun::tensor_address(const Request& request,
                                      std::size_t operand,
                                      Mask lanes) const {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const Argument& argument = *request.stop.operands[operand].argument;
  const std::uint64_t added = argument.kind == Argument::Kind::kAddress ? argument.value : 0;
  Lanes value = request.value(operand);
  value.value[lane] = static_cast<std::uint32_t>(value.value[lane] - added);
  const auto address = grid_.bases.find(value, lane);
  const auto own = grid_.allocations.find({machine_.cluster_index(), machine_.cta_rank()});
  const bool several = own != grid_.allocations.end() && own->second.size() > 1;
  if (!address) {
    const auto number = static_cast<std::uint32_t>(known(request, operand, lanes));
    if (own != grid_.allocations.end() &&
        grid_.bases.allocation(own->second.front()).columns < kTmemColumns) {
      grid_.fixed_columns.insert(kernel_.line_of(*request.strand.frame->routine, request.stop.op));
    }
    return number;
  }
  const TensorAllocation& of = grid_.bases.allocation(address->allocation);
  const std::uint32_t rank = machine_.cta_rank();
  if (of.cluster_rank != (of.of_pair ? rank & ~1U : rank)) {
    refuse(request, "the columns are those of an allocation of another CTA");
  }
  const std::uint32_t number =
      grid_.bases.in_this_run(*address) + static_cast<std::uint32_t>(added);
  if (several && TmemAddress{number}.column() - of.base >= of.columns) {
    refuse(request, "the columns are not those of the allocation that the address is of");
  }
  return number;
}

std::uint32_t WarpRun::one_tensor_address(const Request& request, std::size_t operand) const {
  const Lanes& value = request.value(operand);
  const auto first = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (value.value[lane] != value.value[first] || value.poison[lane] != value.poison[first]) {
      refuse(request, "operand " + std::to_string(operand) + " is not the same in all lanes");
    }
  }
  return tensor_address(request, operand, request.mask());
}

Served WarpRun::tmem_dealloc(Request& request) {
  require_no_end(request);
  sim::Operation op = collective(warptwin::Op::kTcgen05Dealloc, request);
  op.as<sim::operands::TmemRegion>() = {{one_tensor_address(request, 0)},
                                        static_cast<std::uint32_t>(uniform(request, 1)),
                                        group_of(request)};
  perform(op);
  return Served::kDone;
}

Served WarpRun::tmem_relinquish(Request& request) {
  require_no_end(request);
  sim::Operation op = collective(warptwin::Op::kTcgen05Relinquish, request);
  op.set_group(group_of(request));
  perform(op);
  return Served::kDone;
}

Served WarpRun::tmem_fence(Request& request) {
  const bool before = request.op.is("tcgen05.fence::before_thread_sync");
  sim::Operation op =
      make(before ? warptwin::Op::kTcgen05FenceBefore : warptwin::Op::kTcgen05FenceAfter,
           request,
           request.mask());
  perform(op);
  return Served::kDone;
}

namespace {

sim::TmemShape shape_of(const Modifiers& modifiers) {
  return modifiers.has("16x64b"_mod)    ? sim::TmemShape::k16x64b
         : modifiers.has("16x128b"_mod) ? sim::TmemShape::k16x128b
         : modifiers.has("16x256b"_mod) ? sim::TmemShape::k16x256b
                                        : sim::TmemShape::k32x32b;
}

// Registers of a lane, by the shape and the number behind `.x`.
std::uint32_t registers_of(const Modifiers& modifiers) {
  constexpr std::pair<std::uint32_t, Modifier> kCounts[] = {{1, "x1"_mod},
                                                            {2, "x2"_mod},
                                                            {4, "x4"_mod},
                                                            {8, "x8"_mod},
                                                            {16, "x16"_mod},
                                                            {32, "x32"_mod},
                                                            {64, "x64"_mod},
                                                            {128, "x128"_mod}};
  std::uint32_t count = 0;
  for (const auto& [number, modifier] : kCounts) {
    count = modifiers.has(modifier) ? number : count;
  }
  const sim::TmemShape shape = shape_of(modifiers);
  return shape == sim::TmemShape::k16x256b   ? 4 * count
         : shape == sim::TmemShape::k16x128b ? 2 * count
                                             : count;
}

constexpr std::uint32_t kRegistersMax = 128;

}  // namespace

// The columns that a tcgen05.ld or .st of so many registers takes: of 16 lanes a row is two
// threads'.
void WarpRun::shape_tmem_access(const Request& request,
                                sim::Operation& op,
                                std::uint32_t registers) const {
  const Modifiers& modifiers = request.modifiers;
  auto& access = op.as<sim::operands::TmemAccess>();
  const bool packs = modifiers.has("pack::16b"_mod) || modifiers.has("unpack::16b"_mod);
  access.shape = shape_of(modifiers);
  require_form(request);
  access.half_rows = modifiers.has("16x32bx2"_mod);
  if (registers != registers_of(modifiers) || registers > kRegistersMax) {
    refuse(request,
           std::to_string(registers) + " registers where the shape takes " +
               std::to_string(std::min(registers_of(modifiers), kRegistersMax)));
  }
  access.columns = registers * (access.of_16_lanes() || packs ? 2U : 1U);
}

Served WarpRun::tmem_load(Request& request) {
  const Argument& target = *request.stop.operands[0].argument;
  auto data = std::make_shared<sim::FragmentData>();
  const std::uint32_t registers = target.kind == Argument::Kind::kVector ? target.count : 1;
  // The lower halves of two columns are a register's.
  const bool packs = request.modifiers.has("pack::16b"_mod);
  data->registers = registers * (packs ? 2 : 1);
  if (machine_.moves_data()) {  // else nobody knows what comes
    data->bits.assign(std::size_t{data->registers} * kLanes, 0x7FC0DEADU);
    data->unwritten.assign(data->bits.size(), 1);
  }
  sim::Operation op = collective(warptwin::Op::kTcgen05Ld, request);
  shape_tmem_access(request, op, registers);
  auto& access = op.as<sim::operands::TmemAccess>();
  if (access.half_rows && uniform(request, 2) != registers) {
    refuse(request, "halves that are not side by side are not there");
  }
  access.address.value = one_tensor_address(request, 1);
  op.fragment = data;
  perform(op);
  mark_in_flight(request, 0, {data, warptwin::Op::kTcgen05WaitLd, packs});
  return Served::kDone;
}

Served WarpRun::tmem_store(Request& request) {
  const bool halves = request.modifiers.has("16x32bx2"_mod);
  const auto& values = request.stop.operands.back().values;
  const auto registers = static_cast<std::uint32_t>(values.size());
  // Each half of a register is a column's: its lower half, and zeros behind it.
  const std::uint32_t cells = request.modifiers.has("unpack::16b"_mod) ? 2 : 1;
  auto data = std::make_shared<sim::FragmentData>();
  data->registers = registers * cells;
  data->settled = true;
  data->bits.resize(std::size_t{data->registers} * kLanes);
  for (std::uint32_t cell = 0; cell < data->registers; ++cell) {
    const Lanes& value = values[cell / cells];
    const bool settled = flight_in(value, request.mask()) == kNoIndex;
    data->settled = data->settled && settled;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t place = std::size_t{lane} * data->registers + cell;
      const auto bits = static_cast<std::uint32_t>(value.value[lane]);
      data->bits[place] = cells == 1 ? bits : bits >> (cell % 2 * 16) & 0xFFFFU;
      if (value.poison[lane] != 0 && settled) {
        data->unwritten.resize(data->bits.size());
        data->unwritten[place] = 1;
      }
    }
  }
  if (halves && uniform(request, 1) != registers) {
    refuse(request, "halves that are not side by side are not there");
  }
  sim::Operation op = collective(warptwin::Op::kTcgen05St, request);
  shape_tmem_access(request, op, registers);
  op.as<sim::operands::TmemAccess>().address.value = one_tensor_address(request, 0);
  op.fragment = std::move(data);
  perform(op);
  return Served::kDone;
}

// A wait is for all loads, or stores, of the warp.
Served WarpRun::tmem_wait(Request& request) {
  const bool loads = request.op.is("tcgen05.wait::ld");
  sim::Operation op =
      collective(loads ? warptwin::Op::kTcgen05WaitLd : warptwin::Op::kTcgen05WaitSt, request);
  if (loads) {
    wait_for_loads(request.strand, op);
  } else {
    perform(op);
  }
  return Served::kDone;
}

void WarpRun::wait_for_loads(const Strand& strand, sim::Operation& wait) {
  std::vector<Fragment> open;
  for (const InFlight& flight : flights_) {
    if (flight.data != nullptr && flight.by == warptwin::Op::kTcgen05WaitLd) {
      open.push_back(flight.data);
    }
  }
  wait.fragment = open.empty() ? nullptr : open.front();
  perform(wait);
  for (const Fragment& data : open) {
    data->settled = true;
  }
  settle(strand, warptwin::Op::kTcgen05WaitLd);
}

namespace {

std::optional<MmaKind> kind_of(const Modifiers& modifiers) {
  if (modifiers.has("kind::f16"_mod)) {
    return MmaKind::kF16;
  }
  if (modifiers.has("kind::tf32"_mod)) {
    return MmaKind::kTf32;
  }
  if (modifiers.has("kind::f8f6f4"_mod)) {
    return MmaKind::kF8f6f4;
  }
  if (modifiers.has("kind::i8"_mod)) {
    return MmaKind::kI8;
  }
  if (modifiers.has("kind::mxf8f6f4"_mod)) {
    return MmaKind::kMxf8f6f4;
  }
  if (modifiers.has("kind::mxf4"_mod)) {
    return MmaKind::kMxf4;
  }
  if (modifiers.has("kind::mxf4nvf4"_mod)) {
    return MmaKind::kMxf4nvf4;
  }
  return std::nullopt;
}

}  // namespace

// What is refused of the code of an operand's type: PTX ISA, "Instruction descriptor". Null where
// it is multiplied.
static const char* refused_type(MmaKind kind, std::uint32_t code) {
  switch (kind) {
    case MmaKind::kTf32:
      return code == 2 ? nullptr : "kind::tf32 has no such type of operand";
    case MmaKind::kF8f6f4:
    case MmaKind::kMxf8f6f4:
      return code <= 5 && code != 2 ? nullptr : "kind::f8f6f4 has no such type of operand";
    case MmaKind::kMxf4:
    case MmaKind::kMxf4nvf4:
      return code == 1 ? nullptr : "kind::mxf4 has no such type of operand";
    default:
      return code <= 1 ? nullptr : "this kind has no such type of operand";
  }
}

// Of the fields of an instruction descriptor: PTX ISA, "Instruction descriptor".
void WarpRun::require_plain_mma(const Request& request, UmmaInstructionDescriptor mma) const {
  for (const std::uint32_t low : {7U, 10U}) {  // A, B
    if (const char* why = refused_type(mma.kind, mma.bits >> low & 7U); why != nullptr) {
      refuse(request, why);
    }
  }
  const auto lies_along_mn = [](sim::SmallType type, Major major) {
    return type != sim::SmallType::kNone && major == Major::kMn;
  };
  if (lies_along_mn(sim::small_a(mma), mma.a_major()) ||
      lies_along_mn(sim::small_b(mma), mma.b_major())) {
    refuse(request, "an MN-major operand of e2m1, e2m3 or e3m2 with padding is not there");
  }
  constexpr std::uint32_t kSaturates = 1U << 3;
  constexpr std::uint32_t kNegates = 3U << 13;
  if (mma.f16_result()) {
    refuse(request, "tcgen05.mma with f16 results is not there");
  }
  if ((mma.bits & (kSaturates | kNegates)) != 0) {
    refuse(request, "tcgen05.mma that saturates or negates an operand is not there");
  }
}

// Where the metadata of other forms lies no text says: a picture of the manual does.
void WarpRun::require_plain_sparse(const Request& request, const sim::operands::Mma& mma) const {
  const UmmaInstructionDescriptor& instruction = mma.instruction;
  if (instruction.a_major() == Major::kMn || instruction.m() / ctas_in(mma.group) != kTmemLanes) {
    refuse(request, "tcgen05.mma.sp with MN-major A or of M = 64 is not there");
  }
  if (sim::small_a(instruction) != sim::SmallType::kNone ||
      sim::small_b(instruction) != sim::SmallType::kNone) {
    refuse(request, "tcgen05.mma.sp of e2m1, e2m3 or e3m2 is not there");
  }
  if (mma.metadata.column() % SparseElements::kColumns != 0) {
    refuse(request, "metadata of a sparse A from an odd column on is not there");
  }
}

// PTX ISA, "tcgen05.mma": [d], a-desc or [a], b-desc, {of .sp [metadata],} idesc, {[scale-a],
// [scale-b],} {disable-output-lane,} enable-input-d. Each lane that executes it issues one.
Served WarpRun::tmem_mma(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const auto kind = kind_of(modifiers);
  const bool scaled = modifiers.has("block_scale"_mod);
  const bool sparse = modifiers.has("sp"_mod);
  require_form(request);
  const std::size_t descriptor = sparse ? 4 : 3;  // behind the metadata
  std::size_t enable = descriptor + (scaled ? 3 : 1);
  if (!scaled && request.stop.operands.size() > enable &&
      request.stop.operands[enable].values.size() > 1) {
    for (std::size_t word = 0; word < request.stop.operands[enable].values.size(); ++word) {
      if (uniform(request, enable, word) != 0) {
        refuse(request, "tcgen05.mma that disables output lanes is not there");
      }
    }
    ++enable;
  }
  if (request.stop.operands.size() > enable + 1) {
    refuse(request, "tcgen05.mma that scales its input is not there");
  }
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    sim::Operation op = make(warptwin::Op::kTcgen05Mma, request, lane);
    auto& mma = op.as<sim::operands::Mma>();
    mma.group = group_of(request);
    mma.d.value = tensor_address(request, 0, lane);
    if (request.stop.operands[1].argument->kind == Argument::Kind::kAddress) {
      mma.tmem_a.value = tensor_address(request, 1, lane);
      op.flags |= event_flag::kTmemA;
    } else {
      mma.a.bits = known(request, 1, lane);
    }
    mma.b.bits = known(request, 2, lane);
    mma.instruction.bits = static_cast<std::uint32_t>(known(request, descriptor, lane));
    mma.instruction.kind = *kind;
    require_plain_mma(request, mma.instruction);
    if (*kind != MmaKind::kI8) {
      leaves_open(request.strand);
    }
    if (sparse) {
      mma.metadata.value = tensor_address(request, 3, lane);
      op.flags |= event_flag::kSparse;
      require_plain_sparse(request, mma);
      if ((op.flags & event_flag::kTmemA) != 0) {
        refuse(request, "tcgen05.mma.sp with A in tensor memory is not there");
      }
    }
    if (scaled) {
      mma.scale_a.value = tensor_address(request, descriptor + 1, lane);
      mma.scale_b.value = tensor_address(request, descriptor + 2, lane);
      op.flags |= event_flag::kBlockScale;
    }
    if (known(request, enable, lane) != 0) {
      op.flags |= event_flag::kAccumulate;
    }
    perform(op);
  }
  return Served::kDone;
}

Served WarpRun::tmem_copy(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  require_form(request);
  const TmemCopy shape = modifiers.has("128x256b"_mod)   ? TmemCopy::k128x256b
                         : modifiers.has("128x128b"_mod) ? TmemCopy::k128x128b
                                                         : TmemCopy::k32x128bWarpx4;
  // 16 elements and their padding become as many bytes.
  const std::uint8_t padding = modifiers.has("b4x16_p64"_mod)   ? 8
                               : modifiers.has("b6x16_p32"_mod) ? 4
                                                                : 0;
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    sim::Operation op = make(warptwin::Op::kTcgen05Cp, request, lane);
    auto& copy = op.as<sim::operands::TmemCopy>();
    copy.to.value = tensor_address(request, 0, lane);
    copy.from.bits = known(request, 1, lane);
    copy.shape = shape;
    copy.columns = columns_of(shape);
    copy.group = group_of(request);
    copy.padding = padding;
    perform(op);
  }
  return Served::kDone;
}

Served WarpRun::tmem_commit(Request& request) {
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    sim::Operation op = make(warptwin::Op::kTcgen05Commit, request, lane);
    auto& commit = op.as<sim::operands::Commit>();
    commit.group = group_of(request);
    commit.barrier = own_shared(request, known(request, 0, lane));
    if (request.modifiers.has("multicast::cluster"_mod)) {
      commit.mask = multicast_mask(request, 1, lane);
    }
    perform(op);
  }
  return Served::kDone;
}

}  // namespace warptwin::ptx
