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

// All but `at`, `global`, what the operation has answered, and what lies in registers.
std::uint64_t mix(std::uint64_t hash, const Operation& op) {
  const auto bits = [](auto value) { return static_cast<std::uint64_t>(value); };
  hash = mix(hash,
             bits(op.op) | bits(op.lanes) << 8U | bits(op.kind) << 16U | bits(op.flags) << 24U |
                 bits(op.mask.bits) << 40U | bits(op.group) << 56U | bits(op.element) << 58U);
  hash = mix(hash, pair_of(op.address, op.peer));
  hash = mix(hash, pair_of(op.bytes, op.count));
  hash = mix(hash, pair_of(op.instruction ^ op.some, op.map));
  hash = mix(hash, pair_of(op.wanted, op.row ^ op.column << 16U));
  hash = mix(hash, pair_of(op.scale_a ^ op.row_bytes, op.scale_b));
  hash =
      mix(hash, pair_of(op.site.line, bits(op.ordering.semantics) << 8U | bits(op.ordering.scope)));
  return mix(hash, op.descriptor_a * 31 + op.descriptor_b);
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
