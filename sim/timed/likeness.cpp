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

constexpr std::uint64_t as_bits(auto value) {
  return static_cast<std::uint64_t>(value);
}

// What all other operations say.
std::uint64_t mix_told(std::uint64_t hash, const Operation& op) {
  const Event told = op.told();
  const payload::Numbers numbers = told.numbers();
  hash = mix(hash, as_bits(told.flags) << 24U | numbers.second << 40U);
  hash = mix(hash, pair_of(told.address, numbers.place));
  hash = mix(hash, pair_of(told.bytes, numbers.count));
  hash = mix(hash, numbers.wanted);
  if (op.op == Op::kTcgen05Cp) {
    hash = mix(hash, op.as<operands::TmemCopy>().from.bits);
  } else if (op.is<operands::GlobalWord>()) {
    hash = mix(hash, op.as<operands::GlobalWord>().test_operands);
  }
  return hash;
}

std::uint64_t mix_product(std::uint64_t hash, const operands::Product& of) {
  hash = mix(hash, pair_of(of.instruction.bits, as_bits(of.instruction.kind)));
  return mix(hash, of.a.bits * 31 + of.b.bits);
}

// All but coordinates, addresses in global memory, what the operation has answered, and what lies
// in registers.
std::uint64_t mix(std::uint64_t hash, const Operation& op) {
  hash = mix(hash,
             pair_of(as_bits(op.op) | as_bits(op.lanes) << 8U | as_bits(op.flags) << 16U, op.some));
  hash =
      mix(hash,
          pair_of(op.site.line, as_bits(op.ordering.semantics) << 8U | as_bits(op.ordering.scope)));
  if (op.is<operands::None>()) {
    return hash;
  }
  if (op.is<operands::Mbarrier>()) {
    const auto& of = op.as<operands::Mbarrier>();
    return mix(mix(hash, pair_of(of.address, of.phase)), pair_of(of.bytes, of.count));
  }
  if (op.is<operands::Note>()) {
    const auto& of = op.as<operands::Note>();
    return mix(mix(hash, pair_of(of.full, of.index)), of.stages);
  }
  if (op.is<operands::Copy>()) {
    const auto& of = op.as<operands::Copy>();
    hash = mix(hash, pair_of(of.shared, of.barrier));
    return mix(mix(hash, pair_of(of.bytes, of.map)), pair_of(of.mask.bits, as_bits(of.group)));
  }
  if (op.is<operands::Wgmma>()) {
    return mix_product(hash, op.product());
  }
  if (op.is<operands::Mma>()) {
    const auto& of = op.as<operands::Mma>();
    hash =
        mix(mix_product(hash, of), pair_of(of.d.value, of.tmem_a.value * 31 + of.metadata.value));
    return mix(hash, pair_of(of.scale_a.value ^ as_bits(of.group) << 30U, of.scale_b.value));
  }
  if (op.is<operands::SharedRows>()) {
    const auto& of = op.as<operands::SharedRows>();
    hash = mix(hash, pair_of(of.row ^ of.column << 16U, of.row_bytes));
    return mix(hash, pair_of(of.tile, as_bits(of.element)));
  }
  return mix_told(hash, op);
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
