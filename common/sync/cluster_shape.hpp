/// The shape of a cluster, and all that follows from it: who leads a pair, which CTAs share an
/// operand tile, how many commits free an input stage. Nobody computes a mask or such a count
/// anywhere else.

#pragma once

#include <cstdint>

#include "common/machine/types.hpp"

namespace warptwin {

/// An operand tile of a cluster's matrix product, by who shares it.
enum class Operand : std::uint8_t {
  kOwn,  // one CTA's alone: scale factors, epilogue sources
  kA,    // shared by the CTAs with the same rank along M
  kB,    // shared by the CTAs with the same rank along N and the same place in their pairs
};

/// The part of a shared tile that one CTA copies, and who receives it.
struct OperandSlice {
  std::uint32_t index = 0;  // along the tile's rows, from 0
  std::uint32_t count = 1;  // slices of the tile, each of as many rows
  CtaMask multicast{};      // empty: the CTA itself, without multicast
};

/// `m` by `n` CTAs; CTA rank = rank_m + rank_n * m. With `CtaGroup::kTwo`, ranks 2i and 2i+1 are a
/// pair along M and the even one leads it.
///
/// Requires: m * n <= 16; m even if the group is kTwo.
/// Source:   PTX ISA, "cta_group", "multicast"; the counts are those of the structured SM100
///           kernels.
struct ClusterShape {
  std::uint32_t m = 1;              // CTAs along M
  std::uint32_t n = 1;              // CTAs along N
  CtaGroup group = CtaGroup::kOne;  // how many CTAs one MMA is of
  bool shares_a = true;             // whether copies bring A to all CTAs that read it
  bool shares_b = true;             // and B

  /// The same of copies that bring B alone to several CTAs.
  constexpr ClusterShape with_own_a() const { return {m, n, group, false, shares_b}; }
  /// The same of copies that bring A alone.
  constexpr ClusterShape with_own_b() const { return {m, n, group, shares_a, false}; }

  constexpr std::uint32_t ctas() const { return m * n; }  // of the cluster, at most 16
  constexpr std::uint32_t group_ctas() const { return ctas_in(group); }  // 2 in pairs, otherwise 1
  constexpr bool is_pair() const { return group == CtaGroup::kTwo; }  // whether MMAs take two CTAs
  constexpr bool is_single_cta() const { return ctas() == 1; }        // whether nothing is shared

  constexpr std::uint32_t rank_m(std::uint32_t rank) const { return rank % m; }  // along M, from 0
  constexpr std::uint32_t rank_n(std::uint32_t rank) const { return rank / m; }  // along N, from 0
  /// The rank of the CTA that issues the MMAs of the CTA `rank`: the even one of its pair, or
  /// itself.
  constexpr std::uint32_t leader(std::uint32_t rank) const { return rank - rank % group_ctas(); }
  /// The CTA that arms full barriers and issues the MMA.
  constexpr bool is_leader(std::uint32_t rank) const { return leader(rank) == rank; }
  /// The part of the group's B tile that the CTA holds: the leader the first.
  constexpr std::uint32_t place_in_group(std::uint32_t rank) const { return rank % group_ctas(); }
  /// The other CTA of the pair; without pairs, the CTA itself.
  constexpr std::uint32_t peer(std::uint32_t rank) const { return is_pair() ? rank ^ 1U : rank; }

  /// Commits that free one input stage of one CTA: one from every leader of its row or column.
  constexpr std::uint32_t input_empty_arrivals() const {
    return (shares_b ? m / group_ctas() : 1) + (shares_a ? n - 1 : 0);
  }
  /// The CTAs that threads tell when they have read a stage, each of which copies a part of it: all
  /// of a cluster along M or along N alone, or those that share A.
  constexpr std::uint32_t sharers() const { return shares_b ? ctas() : n; }
  /// The rank of one of them, from 0.
  constexpr std::uint32_t sharer(std::uint32_t rank, std::uint32_t index) const {
    return shares_b ? index : rank_m(rank) + index * m;
  }
  /// Arrivals on CTA 0's work-response barrier: its scheduler's own, and one per lane of every
  /// consumer warp of every CTA.
  constexpr std::uint32_t clc_empty_arrivals(std::uint32_t consumer_lanes_per_cta) const {
    return kWarpLanes + ctas() * consumer_lanes_per_cta;
  }

  /// The CTAs that a copy of A brings `rank`'s tile to.
  constexpr CtaMask a_multicast(std::uint32_t rank) const {
    return shares_a ? column(rank_m(rank)) : CtaMask::of(rank);
  }
  /// The CTAs that read the same B tile as `rank`: of its row, those with its place in the pair.
  constexpr CtaMask b_multicast(std::uint32_t rank) const {
    constexpr std::uint32_t kOfEachPair = 0x5555;
    const std::uint32_t places = is_pair() ? kOfEachPair << place_in_group(rank) : 0xFFFFU;
    return {static_cast<std::uint16_t>(row(rank_n(rank)).bits & places)};
  }
  /// The CTAs whose accumulator one MMA writes.
  constexpr CtaMask pair(std::uint32_t rank) const {
    return CtaMask::of(rank) | CtaMask::of(peer(rank));
  }
  /// The CTAs whose stages an MMA of `rank` has read through multicast copies, and so frees.
  constexpr CtaMask input_empty_multicast(std::uint32_t rank) const {
    const CtaMask of_b = shares_b ? row(rank_n(rank)) : pair(rank);
    return shares_a ? of_b | column(rank_m(rank)) | column(rank_m(peer(rank))) : of_b;
  }
  /// The slice of a shared tile that `rank` copies for all who share it.
  constexpr OperandSlice slice(Operand operand, std::uint32_t rank) const {
    OperandSlice slice;
    if (operand == Operand::kA) {
      slice = {shares_a ? rank_n(rank) : 0, shares_a ? n : 1, a_multicast(rank)};
    } else if (operand == Operand::kB) {
      slice = {rank_m(rank) / group_ctas(), shares_b ? m / group_ctas() : 1, b_multicast(rank)};
    }
    if (slice.count == 1) {
      slice = {};  // the whole tile, said without the rank
    }
    return slice;
  }

 private:
  static constexpr std::uint32_t below(std::uint32_t bit) { return (1U << bit) - 1; }
  constexpr CtaMask row(std::uint32_t y) const {
    return {static_cast<std::uint16_t>(below(m) << (y * m))};
  }
  // A bit for each row; each step doubles them, beyond the cluster too.
  constexpr CtaMask column(std::uint32_t x) const {
    std::uint32_t bits = 1U << x;
    for (std::uint32_t step = m; step < ctas(); step += step) {
      bits |= bits << step;
    }
    return {static_cast<std::uint16_t>(bits & below(ctas()))};
  }
};

/// The shapes of a launch whose clusters the machine prefers to make in one shape, and may make in
/// a smaller one (CUDA runtime, "cudaLaunchAttributePreferredClusterDimension"). A CTA learns which
/// its cluster has from the cluster's size. The CTAs of a fallback cluster follow each other in the
/// preferred one whose place it is in, so a CTA's place in the grid is the same in either.
///
/// Requires: the fallback shape divides the preferred one; it has its `m`, or an `n` of 1.
struct ClusterChoice {
  ClusterShape preferred;  // the larger one
  ClusterShape fallback;   // the smaller one

  /// The shape of a cluster of `ctas` CTAs.
  constexpr ClusterShape of(std::uint32_t ctas) const {
    return ctas == preferred.ctas() ? preferred : fallback;
  }
  /// Clusters of `ctas` CTAs that are in the place of a preferred one.
  constexpr std::uint32_t in_place(std::uint32_t ctas) const { return preferred.ctas() / ctas; }
};

}  // namespace warptwin
