// Bulk and tensor copies, and their groups.

#include <bit>
#include <iterator>
#include <optional>
#include <utility>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kOffset = 0xFFFFFF;  // of an address of the cluster's window

}  // namespace

// What a tensor copy takes of its tensor.
sim::TensorMode WarpRun::tensor_mode_of(const Request& request) const {
  const Modifiers& modifiers = request.modifiers;
  require_form(request);
  const bool rows4 = modifiers.has("tile::gather4"_mod) || modifiers.has("tile::scatter4"_mod);
  const bool im2col = modifiers.has("im2col"_mod) || modifiers.has("im2col_no_offs"_mod);
  return rows4    ? sim::TensorMode::kRows4
         : im2col ? sim::TensorMode::kIm2col
                  : sim::TensorMode::kTile;
}

// Where a lane's tensor copy begins: operand `map` has the map and the coordinates, the one behind
// the mbarrier the offsets of im2col.
void WarpRun::place_copy(const Request& request, sim::Operation& op, std::size_t map, Mask lane) {
  auto& copy = op.as<sim::operands::Copy>();
  constexpr Modifier kDimensions[] = {"1d"_mod, "2d"_mod, "3d"_mod, "4d"_mod, "5d"_mod};
  copy.map = map_of(request, known(request, map, lane));
  copy.mode = tensor_mode_of(request);
  copy.rank = static_cast<std::uint32_t>(request.stop.operands[map].values.size() - 1);
  std::uint32_t dimensions = 0;
  for (std::uint32_t i = 0; i < std::size(kDimensions); ++i) {
    dimensions = request.modifiers.has(kDimensions[i]) ? i + 1 : dimensions;
  }
  const bool rows4 = copy.mode == sim::TensorMode::kRows4;
  if (rows4 ? dimensions != 2 || copy.rank != std::size(copy.at) : copy.rank != dimensions) {
    refuse(request,
           rows4 ? "a copy of four rows is of two dimensions, and has a column and four rows"
                 : "a tensor copy has a coordinate for each dimension");
  }
  for (std::uint32_t i = 0; i < copy.rank; ++i) {
    copy.at[i] = static_cast<std::int32_t>(known(request, map, lane, i + 1));
  }
  if (copy.mode != sim::TensorMode::kIm2col) {
    return;
  }
  const std::uint32_t places = copy.rank - 2;
  const bool loads = request.modifiers.has("im2col"_mod);
  const std::size_t offsets = loads ? request.stop.operands[3].values.size() : places;
  if (copy.rank < 3 || offsets != places) {
    refuse(request,
           "im2col is of three to five dimensions, and a load has an offset for each but C and N");
  }
  for (std::uint32_t i = 0; loads && i < places; ++i) {
    copy.offset[i] = static_cast<std::uint16_t>(known(request, 3, lane, i));
  }
}

// What a cp.reduce does to each element; by a map, which says the type.
sim::CopyReduction WarpRun::reduction_of(const Request& request,
                                         const sim::TensorMapState* map) const {
  using sim::ReduceOp;
  using sim::ReduceType;
  constexpr std::pair<Modifier, ReduceOp> kOps[] = {{"add"_mod, ReduceOp::kAdd},
                                                    {"min"_mod, ReduceOp::kMin},
                                                    {"max"_mod, ReduceOp::kMax},
                                                    {"inc"_mod, ReduceOp::kInc},
                                                    {"dec"_mod, ReduceOp::kDec},
                                                    {"and"_mod, ReduceOp::kAnd},
                                                    {"or"_mod, ReduceOp::kOr},
                                                    {"xor"_mod, ReduceOp::kXor}};
  constexpr std::pair<Type, ReduceType> kTypes[] = {{Type::kU32, ReduceType::kU32},
                                                    {Type::kB32, ReduceType::kU32},
                                                    {Type::kS32, ReduceType::kS32},
                                                    {Type::kU64, ReduceType::kU64},
                                                    {Type::kB64, ReduceType::kU64},
                                                    {Type::kS64, ReduceType::kS64},
                                                    {Type::kF16, ReduceType::kF16},
                                                    {Type::kBf16, ReduceType::kBf16},
                                                    {Type::kF32, ReduceType::kF32},
                                                    {Type::kF64, ReduceType::kF64}};
  sim::CopyReduction reduction;
  if (!request.op.is("cp.reduce.async.bulk") && !request.op.is("cp.reduce.async.bulk.tensor")) {
    return reduction;
  }
  for (const auto& [modifier, op] : kOps) {
    reduction.op = request.modifiers.has(modifier) ? op : reduction.op;
  }
  std::optional<ReduceType> type;
  if (map != nullptr) {
    type = sim::reduce_type(map->type, reduction.op);
  } else {
    for (const auto& [from, to] : kTypes) {
      type = request.modifiers.type() == from ? std::optional{to} : type;
    }
  }
  reduction.type = type.value_or(ReduceType::kU32);
  if (!type || !reduction.exists(request.modifiers.has("global"_mod))) {
    refuse(request,
           map != nullptr ? "PTX reduces no elements of the map's type by this operation"
                          : "PTX has no reduction by a copy of this operation and type");
  }
  return reduction;
}

// Each lane that executes one makes a copy of its own.
Served WarpRun::tensor_copy(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const bool loads = modifiers.has("mbarrier::complete_tx::bytes"_mod);
  const std::size_t map_operand = loads ? 1 : 0;
  const std::size_t shared_operand = loads ? 0 : 1;
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    sim::Operation op =
        make(loads ? warptwin::Op::kTensorLoad : warptwin::Op::kTensorStore, request, lane);
    auto& copy = op.as<sim::operands::Copy>();
    place_copy(request, op, map_operand, lane);
    copy.shared = own_shared(request, known(request, shared_operand, lane));
    const sim::TensorMapState& map = grid_.map_states.at(copy.map);
    copy.reduction = reduction_of(request, &map);
    if (loads) {
      aim(request, op, 2, copy.mode == sim::TensorMode::kIm2col ? 4 : 3, lane);
    } else {
      stores_ |= lane;
    }
    perform(op);
  }
  return Served::kDone;
}

// Of a copy or a commit to several CTAs. To the model no CTA is the own one.
CtaMask WarpRun::multicast_mask(const Request& request, std::size_t operand, Mask lane) const {
  const CtaMask mask{static_cast<std::uint16_t>(known(request, operand, lane))};
  if (mask.bits == 0) {
    refuse(request, "the mask of the multicast names no CTA, and nobody is told of its end");
  }
  return mask;
}

// The barrier that a copy signals, and the CTAs that it goes to: operands `barrier` and `mask`.
void WarpRun::aim(
    Request& request, sim::Operation& op, std::size_t barrier, std::size_t mask, Mask lane) {
  auto& copy = op.as<sim::operands::Copy>();
  const std::uint32_t signal = shared_of(request, known(request, barrier, lane));
  const std::uint32_t rank = signal >> 24;
  copy.barrier = signal & kOffset;
  if (request.modifiers.has("multicast::cluster"_mod)) {
    copy.mask = multicast_mask(request, mask, lane);
  }
  const bool pair = group_of(request) == CtaGroup::kTwo;
  const std::uint32_t own = machine_.cta_rank();
  if (pair && rank == (own & ~1U)) {
    copy.group = CtaGroup::kTwo;
  } else if (rank != own) {
    if (pair || request.modifiers.has("cta_group::1"_mod)) {
      refuse(request,
             "the barrier is in a CTA that the copy does not go to, and not in the pair's "
             "leader");
    }
    grid_.signals_elsewhere.insert(
        kernel_.line_of(*request.strand.frame->routine, request.stop.op));
  }
}

Served WarpRun::bulk_copy(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const bool loads = modifiers.has("mbarrier::complete_tx::bytes"_mod);
  require_form(request);
  const sim::CopyReduction reduction = reduction_of(request, nullptr);
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    if (!modifiers.has("global"_mod)) {
      copy_to_cta(request, lane, reduction);
      continue;
    }
    sim::Operation op =
        make(loads ? warptwin::Op::kBulkLoad : warptwin::Op::kBulkStore, request, lane);
    auto& copy = op.as<sim::operands::Copy>();
    copy.reduction = reduction;
    copy.shared = own_shared(request, known(request, loads ? 0 : 1, lane));
    copy.global = known(request, loads ? 1 : 0, lane);
    copy.bytes = static_cast<std::uint32_t>(known(request, 2, lane));
    if (loads) {
      aim(request, op, 3, 4, lane);
    } else {
      require_writable(request, copy.global);
      stores_ |= lane;
    }
    perform(op);
  }
  return Served::kDone;
}

Served WarpRun::bulk_group(Request& request) {
  const bool waits = request.op.is("cp.async.bulk.wait_group");
  const bool one = std::has_single_bit(request.mask());
  // Each lane has groups of its own. Those of lanes that never store are empty; where no lane has
  // stored, the one that the warp elects stands for them.
  const Mask storing = request.mask() & stores_;
  sim::Operation op = make(waits ? warptwin::Op::kBulkWaitGroup : warptwin::Op::kBulkCommitGroup,
                           request,
                           storing != 0 ? storing : request.mask());
  if (!one && storing == 0) {
    op.lanes = 1;
    op.lane = machine_.elected_lane();
    op.some = 0;
  }
  if (waits) {
    op.as<sim::operands::BulkWait>() = {static_cast<std::uint32_t>(uniform(request, 0)), one};
    op.flags = request.modifiers.has("read"_mod) ? event_flag::kRead : std::uint32_t{0};
  }
  perform(op);
  return Served::kDone;
}

}  // namespace warptwin::ptx
