#include "sim/timed/likeness.hpp"

namespace warptwin::sim {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ hash >> 29U;
}

constexpr std::uint64_t pair_of(std::uint64_t high, std::uint64_t low) {
  return high << 32U | low;
}

// All but coordinates, addresses in global memory, what the operation has answered, and what lies
// in registers.
std::uint64_t mix(std::uint64_t hash, const Operation& op) {
  const auto bits = [](auto value) { return static_cast<std::uint64_t>(value); };
  Event told;
  told.op = op.op;
  told.flags = op.flags;
  op.tell(told);
  hash =
      mix(hash, bits(op.op) | bits(op.lanes) << 8U | bits(told.flags) << 24U | told.extra << 40U);
  hash = mix(hash, pair_of(told.address, told.peer));
  hash = mix(hash, pair_of(told.bytes, told.count));
  hash = mix(hash, pair_of(op.some, told.wanted));
  if (op.op == Op::kTcgen05Mma || op.op == Op::kWgmma) {
    const operands::Product& product = op.product();
    hash = mix(hash, pair_of(product.instruction.bits, bits(product.instruction.kind)));
    hash = mix(hash, product.a.bits * 31 + product.b.bits);
  }
  if (op.op == Op::kTcgen05Mma) {
    const auto& mma = op.as<operands::Mma>();
    hash = mix(hash, pair_of(mma.scale_a.value, mma.scale_b.value));
  } else if (op.op == Op::kTcgen05Cp) {
    hash = mix(hash, op.as<operands::TmemCopy>().from.bits);
  } else if (op.is<operands::SharedRows>()) {
    const auto& rows = op.as<operands::SharedRows>();
    hash = mix(hash, pair_of(rows.row ^ rows.column << 16U, rows.row_bytes) ^ bits(rows.element));
  } else if (op.is<operands::Copy>()) {
    hash = mix(hash, op.as<operands::Copy>().map);
  } else if (op.is<operands::GlobalWord>()) {
    hash = mix(hash, op.as<operands::GlobalWord>().test_operands);
  }
  return mix(hash,
             pair_of(op.site.line, bits(op.ordering.semantics) << 8U | bits(op.ordering.scope)));
}

}  // namespace

Likeness::Likeness(const Gpu& gpu)
    : gpu_{gpu},
      warps_{gpu.config().warps_per_cta * gpu.config().cluster_size},
      hashes_(gpu.warps().size(), 0),
      clusters_(gpu.clusters().size()) {}

void Likeness::did(WarpSlot warp, const Operation& op) {
  if (op.op == Op::kMbarrierTryWait && op.result == 0) {
    return;
  }
  hashes_[warp] = mix(hashes_[warp], op);
  if (op.op == Op::kWarpExit) {
    end(warp);
  }
}

// The sum does not tell in which order warps end.
void Likeness::end(WarpSlot warp) {
  ClusterState& cluster = clusters_[warp / warps_];
  cluster.hash += mix(hashes_[warp], warp % warps_);
  hashes_[warp] = 0;
  if (++cluster.ended == warps_) {
    Kind& kind = kinds_[cluster.hash];
    ++kind.clusters;
    kind.seen += gpu_.sees(warp) ? 1 : 0;
    cluster = {};
  }
}

ClusterKinds Likeness::kinds() const {
  ClusterKinds all;
  for (const auto& [hash, kind] : kinds_) {
    ++all.kinds;
    all.clusters += kind.clusters;
    all.seen += kind.seen;
    all.alike += kind.seen == 0 ? 0 : kind.clusters - kind.seen;
  }
  return all;
}

}  // namespace warptwin::sim
