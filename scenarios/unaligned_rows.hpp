/// Rows of A and B that begin at no multiple of 16 bytes, which no tensor map takes: what the
/// kernels whose lanes copy them share.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/parameter_table.hpp"
#include "common/kernel/scenario.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/extent.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/lane_copies.hpp"

#include "scenarios/gemm_parts.hpp"

namespace warptwin::scenarios {

/// Warps that copy: each has 32 lanes' copies of every tile.
inline constexpr std::uint32_t kCopyingWarps = 4;

/// The same parts, and lanes of several warps copy A and B. `Way`: how they hand stages over, and
/// how these are taken. A twin replaces it.
template <class Parts, class Way = CopiedByLanes>
struct Unaligned : Parts {
  static constexpr std::uint32_t kLoadWarps = kCopyingWarps;
  using Filled = Way;
};

/// Shapes and depths of a kernel, and `copy_bytes`, which a lane copies at a time.
template <class Shape, std::uint32_t kCopyBytes = kDynamic>
struct UnalignedExtents : Shape {
  [[no_unique_address]] Extent<kCopyBytes> copy_bytes;

  /// Lanes copy for their own CTA alone.
  constexpr ClusterShape cluster() const { return Shape::cluster().with_own_a().with_own_b(); }
};

/// A and B, (m, k) and (n, k), in global memory.
template <class Parts>
struct UnalignedRows {
  MatrixRows<typename Parts::A> a;
  MatrixRows<typename Parts::B> b;

  static UnalignedRows of(const ParameterSet& p, std::span<const GlobalAddress> tensors) {
    const std::uint32_t k = p.u32("k");
    return {{tensors[0], p.u32("m"), k}, {tensors[1], p.u32("n"), k}};
  }
  /// Copies the calling warp's share of step `k` of a tile of D into a stage, `bytes` a lane.
  ///
  /// Participants: the whole warp, and every other that copies. Blocks: never.
  template <class Stage, class Bytes>
  constexpr void copy(
      const Stage& stage, Tile tile, std::uint32_t k, Bytes bytes, WarpShare share) const {
    stage.copy(a, {tile.m, k}, stage.payload().a_tile(), bytes, share);
    stage.copy(b, {tile.n, k}, stage.payload().b_tile(), bytes, share);
  }
};

/// The parameters of a kernel with aligned rows of elements of `size` bytes, and of the copies.
/// Host code.
inline std::vector<Parameter> with_copies(std::span<const Parameter> aligned, std::uint32_t size) {
  return extended(aligned,
                  {{"m", "rows of A and D", 256, 1, 1 << 20, "tile_m"},
                   {"n", "rows of B, columns of D", 256, 1, 1 << 20, "tile_n"},
                   {"k", "columns of A and B", 1000 / size, 1, 1 << 20, "tile_k"},
                   {"copy_bytes", "bytes that a lane copies at a time: 4, 8 or 16", 8, 4, 16}});
}

/// Refuses copies that do not divide rows of elements of `size` bytes. Host code.
inline void check_copies(const ParameterSet& p, std::uint32_t size) {
  const auto [k, bytes] = std::pair{p.u32("k"), p.u32("copy_bytes")};
  require(bytes == 4 || bytes == 8 || bytes == 16,
          "a lane copies 4, 8 or 16 bytes at a time, not copy_bytes=" + std::to_string(bytes));
  require(k * size % bytes == 0,
          "k=" + std::to_string(k) + " gives rows of " + std::to_string(k * size) +
              " bytes, which begin at no multiple of copy_bytes=" + std::to_string(bytes) +
              "; use a smaller one");
}

/// The same work without gaps between rows of A and B, and with D's map alone. Host code.
inline Workload without_gaps(Workload workload, std::uint32_t row_bytes) {
  workload.tensors[0].pitch_bytes = workload.tensors[1].pitch_bytes = row_bytes;
  workload.maps = {workload.maps[2]};
  return workload;
}

}  // namespace warptwin::scenarios
