// Bulk and tensor copies, and their groups.

#include <bit>
#include <iterator>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kOffset = 0xFFFFFF;  // of an address of the cluster's window

}  // namespace

// Each lane that executes one makes a copy of its own.
Served WarpRun::tensor_copy(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  for (const Modifier missing : {"im2col"_mod,
                                 "im2col::w"_mod,
                                 "im2col::w::128"_mod,
                                 "im2col_no_offs"_mod,
                                 "tile::gather4"_mod,
                                 "tile::scatter4"_mod}) {
    if (modifiers.has(missing)) {
      refuse(request, "copies by ." + std::string{name_of(missing)} + " are not there");
    }
  }
  const bool loads = modifiers.has("mbarrier::complete_tx::bytes"_mod);
  const std::size_t map_operand = loads ? 1 : 0;
  const std::size_t shared_operand = loads ? 0 : 1;
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    sim::Operation op =
        make(loads ? warptwin::Op::kTensorLoad : warptwin::Op::kTensorStore, request, lane);
    op.map = map_of(request, known(request, map_operand, lane));
    op.rank = static_cast<std::uint32_t>(request.stop.operands[map_operand].values.size() - 1);
    if (op.rank == 0 || op.rank > std::size(op.at)) {
      refuse(request, "a tensor copy has one to five coordinates");
    }
    for (std::uint32_t i = 0; i < op.rank; ++i) {
      op.at[i] = static_cast<std::int32_t>(known(request, map_operand, lane, i + 1));
    }
    op.address = own_shared(request, known(request, shared_operand, lane));
    report_copied(request, machine_.cta_rank(), op.address, grid_.box_bytes.at(op.map), loads);
    if (loads) {
      aim(request, op, 2, lane);
    } else {
      stores_ |= lane;
    }
    perform(op);
  }
  return Served::kDone;
}

// The barrier that a copy signals, and the CTAs that it goes to.
void WarpRun::aim(Request& request, sim::Operation& op, std::size_t barrier, Mask lane) {
  const std::uint32_t signal = shared_of(request, known(request, barrier, lane));
  const std::uint32_t rank = signal >> 24;
  op.peer = signal & kOffset;
  if (request.modifiers.has("multicast::cluster"_mod)) {
    op.mask.bits = static_cast<std::uint16_t>(known(request, barrier + 1, lane));
  }
  const bool pair = group_of(request) == CtaGroup::kTwo;
  const std::uint32_t own = machine_.cta_rank();
  if (pair && rank == (own & ~1U)) {
    op.group = CtaGroup::kTwo;
  } else if (rank != own) {
    refuse(request,
           "the barrier is in a CTA that the copy does not go to, and not in the pair's "
           "leader");
  }
}

Served WarpRun::bulk_copy(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const bool loads = modifiers.has("mbarrier::complete_tx::bytes"_mod);
  if (modifiers.has("cp_mask"_mod) || modifiers.has("ignore_oob"_mod)) {
    refuse(request, "copies of some of the bytes are not there");
  }
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    if (!modifiers.has("global"_mod)) {
      copy_to_cta(request, lane);
      continue;
    }
    sim::Operation op =
        make(loads ? warptwin::Op::kBulkLoad : warptwin::Op::kBulkStore, request, lane);
    op.address = own_shared(request, known(request, loads ? 0 : 1, lane));
    op.global = known(request, loads ? 1 : 0, lane);
    op.bytes = static_cast<std::uint32_t>(known(request, 2, lane));
    if (loads) {
      aim(request, op, 3, lane);
    } else {
      stores_ |= lane;
    }
    report_copied(request, machine_.cta_rank(), op.address, op.bytes, loads);
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
    op.count = static_cast<std::uint32_t>(uniform(request, 0));
    op.wanted = one ? 1 : 0;
    op.flags = request.modifiers.has("read"_mod) ? event_flag::kRead : std::uint16_t{0};
  }
  perform(op);
  return Served::kDone;
}

}  // namespace warptwin::ptx
