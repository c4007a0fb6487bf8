/// The handles of accumulator stages, for the MMA and for the epilogue.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/operand_tile.hpp"
#include "common/tile/tensor_memory.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin {

/// Whether an MMA adds to what the accumulator holds, or overwrites it.
enum class Accumulate : std::uint8_t {
  kNo,   // D = A * B^T
  kYes,  // D = A * B^T + D
};

/// Issues the MMAs of one k step: every 32 bytes along K are one instruction.
///
/// Shape:        a (rows_a, tile_k), b (rows_b, tile_k), both K-major, rows of one swizzle span;
///               the
///               pair's MMA takes both CTAs' rows.
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class ElementA, class ElementB>
constexpr void multiply_tiles(M& machine,
                              CtaGroup group,
                              TmemAddress d,
                              const SharedTile<ElementA>& a,
                              const SharedTile<ElementB>& b,
                              Accumulate accumulate,
                              SourceSite site) {
  constexpr std::uint32_t kStepBytes = 32;
  const auto instruction = UmmaInstructionDescriptor::make(
      ElementA::kType, ElementB::kType, a.rows * ctas_in(group), b.rows * ctas_in(group));
  const auto descriptor_a = UmmaSmemDescriptor::k_major(a);
  const auto descriptor_b = UmmaSmemDescriptor::k_major(b);
  for (std::uint32_t byte = 0; byte < a.row_bytes(); byte += kStepBytes) {
    machine.tcgen05_mma(group,
                        d,
                        descriptor_a.advanced(byte),
                        descriptor_b.advanced(byte),
                        instruction,
                        accumulate == Accumulate::kYes || byte > 0,
                        site);
  }
}

/// An operand in shared memory, whichever way it lies: what instructions are told of it.
struct UmmaOperand {
  UmmaSmemDescriptor descriptor;  // of the first instruction's part
  std::uint32_t step_bytes;       // to the next one's
  std::uint32_t steps;            // instructions along K
  std::uint32_t rows;             // of M or N
  Major major;                    // the dimension of its rows
};

/// What instructions are told of a K-major tile.
template <class Element>
constexpr UmmaOperand operand_of(const SharedTile<Element>& tile) {
  constexpr std::uint32_t kStepBytes = 32;
  return {UmmaSmemDescriptor::k_major(tile),
          kStepBytes,
          tile.row_bytes() / kStepBytes,
          tile.rows,
          Major::kK};
}

/// What instructions are told of an MN-major tile.
template <class Element>
constexpr UmmaOperand operand_of(const MnMajorTile<Element>& tile) {
  constexpr std::uint32_t kStepRows = mma_k(Element::kType);
  const SharedTile<Element> panel = tile.panel(0);
  return {UmmaSmemDescriptor::mn_major(panel),
          kStepRows * panel.row_bytes(),
          panel.rows / kStepRows,
          tile.tile.columns,
          Major::kMn};
}

/// The type of a tile's elements.
template <template <class> class Tile, class Element>
constexpr ElementType element_type(const Tile<Element>&) {
  return Element::kType;
}

/// The same where one of the operands, or both, are MN-major.
template <Machine M, class TileA, class TileB>
constexpr void multiply_tiles(M& machine,
                              CtaGroup group,
                              TmemAddress d,
                              const TileA& tile_a,
                              const TileB& tile_b,
                              Accumulate accumulate,
                              SourceSite site) {
  const UmmaOperand a = operand_of(tile_a);
  const UmmaOperand b = operand_of(tile_b);
  const auto instruction = UmmaInstructionDescriptor::make(element_type(tile_a),
                                                           element_type(tile_b),
                                                           a.rows * ctas_in(group),
                                                           b.rows * ctas_in(group))
                               .with_majors(a.major, b.major);
  for (std::uint32_t step = 0; step < a.steps; ++step) {
    machine.tcgen05_mma(group,
                        d,
                        a.descriptor.advanced(step * a.step_bytes),
                        b.descriptor.advanced(step * b.step_bytes),
                        instruction,
                        accumulate == Accumulate::kYes || step > 0,
                        site);
  }
}

/// The same with A in tensor memory: a (128, tile_k), b (rows_b, tile_k) of each CTA of the group.
template <Machine M, class ElementA, class ElementB>
constexpr void multiply_tiles(M& machine,
                              CtaGroup group,
                              TmemAddress d,
                              TmemOperand<ElementA> a,
                              const SharedTile<ElementB>& b,
                              Accumulate accumulate,
                              SourceSite site) {
  constexpr std::uint32_t kStepBytes = 32;
  const std::uint32_t ctas = ctas_in(group);
  const auto instruction = UmmaInstructionDescriptor::make(
      ElementA::kType, ElementB::kType, kTmemLanes * ctas, b.rows * ctas);
  const auto descriptor_b = UmmaSmemDescriptor::k_major(b);
  for (std::uint32_t byte = 0; byte < b.row_bytes(); byte += kStepBytes) {
    machine.tcgen05_mma(group,
                        d,
                        a.advanced(byte),
                        descriptor_b.advanced(byte),
                        instruction,
                        accumulate == Accumulate::kYes || byte > 0,
                        site);
  }
}

/// The same with B MN-major: b (tile_k, columns) of each CTA of the group; as many rows of it as an
/// instruction has of K are one instruction.
template <Machine M, class ElementA, class ElementB>
constexpr void multiply_tiles(M& machine,
                              CtaGroup group,
                              TmemAddress d,
                              TmemOperand<ElementA> a,
                              const MnMajorTile<ElementB>& b,
                              Accumulate accumulate,
                              SourceSite site) {
  constexpr std::uint32_t kStepRows = mma_k(ElementB::kType);
  const std::uint32_t ctas = ctas_in(group);
  const auto instruction =
      UmmaInstructionDescriptor::make(
          ElementA::kType, ElementB::kType, kTmemLanes * ctas, b.tile.columns * ctas)
          .with_majors(Major::kK, Major::kMn);
  const SharedTile<ElementB> panel = b.panel(0);
  const auto descriptor_b = UmmaSmemDescriptor::mn_major(panel);
  for (std::uint32_t row = 0; row < panel.rows; row += kStepRows) {
    machine.tcgen05_mma(group,
                        d,
                        a.advanced(row * SharedTile<ElementA>::kElementBytes),
                        descriptor_b.advanced(row * panel.row_bytes()),
                        instruction,
                        accumulate == Accumulate::kYes || row > 0,
                        site);
  }
}

/// Tells the warps of all CTAs of the group when the MMAs issued so far are complete: that an
/// accumulator is, or that an operand has been read.
template <Machine M>
constexpr void commit_to_group(M& machine,
                               Mbarrier bar,
                               const ClusterShape& cluster,
                               SourceSite site) {
  if (cluster.is_pair()) {
    const CtaMask pair = cluster.pair(machine.cta_rank());
    machine.tcgen05_commit_multicast(cluster.group, bar, pair, site);
  } else {
    machine.tcgen05_commit(cluster.group, bar, site);
  }
}

/// Tells the leader's MMA that the calling warp has read its part of an accumulator, or stored its
/// part of an operand.
template <ArrivalKind kKind, Machine M>
constexpr void tell_leader(M& machine, Mbarrier bar, const ClusterShape& cluster, SourceSite site) {
  machine.tcgen05_fence_before_thread_sync(site);
  if (cluster.is_pair()) {
    arrive_at<kKind>(machine, bar, cluster.leader(machine.cta_rank()), site);
  } else {
    arrive_as<kKind>(machine, bar, site);
  }
}

/// An accumulator being computed. `release` commits it to the epilogue: the phase's one arrival.
template <Machine M, class Storage>
class [[nodiscard]] MmaStage {
 public:
  /// Made by an acquire of a ring; `tmem` are the stage's columns.
  constexpr MmaStage(StageClaim<M> claim, const Storage& storage, TmemStage tmem)
      : claim_{std::move(claim)}, storage_{&storage}, tmem_{tmem} {}
  constexpr MmaStage(MmaStage&&) = default;  // takes over the duty to release

  constexpr std::uint32_t index() const { return claim_.state().index; }  // in the ring, from 0
  constexpr TmemStage tmem() const { return tmem_; }  // the accumulator's columns
  /// The full barrier. `release` commits to it: a text that does so by hand ends with
  /// `release_without_signal`.
  constexpr Mbarrier mbar() const { return storage_->barriers.full[index()]; }

  /// D = A * B^T, or D += A * B^T, over one payload; see `multiply_tiles`.
  ///
  /// Participants: the whole warp of the leader CTA. Blocks: never.
  template <class Tiles>
  constexpr void multiply(const Tiles& tiles,
                          Accumulate accumulate,
                          SourceSite site = SourceSite::current()) const {
    multiply_tiles(claim_.machine(),
                   storage_->cluster.group,
                   tmem_.address(),
                   tiles.a_tile().tile,
                   tiles.b_tile().tile,
                   accumulate,
                   site);
  }

  /// The same over operands of several panels.
  template <class ElementA, class ElementB>
  constexpr void multiply(const WideTile<ElementA>& a,
                          const WideTile<ElementB>& b,
                          Accumulate accumulate,
                          SourceSite site = SourceSite::current()) const {
    for (std::uint32_t i = 0; i < b.panels(); ++i) {
      multiply_tiles(claim_.machine(),
                     storage_->cluster.group,
                     tmem_.address(),
                     a.panel(i),
                     b.panel(i),
                     i == 0 ? accumulate : Accumulate::kYes,
                     site);
    }
  }
  /// The same with A in tensor memory.
  template <class ElementA, class ElementB>
  constexpr void multiply(const TmemOperand<ElementA>& a,
                          const SharedTile<ElementB>& b,
                          Accumulate accumulate,
                          SourceSite site = SourceSite::current()) const {
    multiply_tiles(
        claim_.machine(), storage_->cluster.group, tmem_.address(), a, b, accumulate, site);
  }
  /// The same over a B of several panels.
  template <class ElementA, class ElementB>
  constexpr void multiply(const TmemOperand<ElementA>& a,
                          const WideTile<ElementB>& b,
                          Accumulate accumulate,
                          SourceSite site = SourceSite::current()) const {
    const std::uint32_t panel_bytes = b.panel(0).row_bytes();
    for (std::uint32_t i = 0; i < b.panels(); ++i) {
      multiply_tiles(claim_.machine(),
                     storage_->cluster.group,
                     tmem_.address(),
                     TmemOperand<ElementA>{a.advanced(i * panel_bytes)},
                     b.panel(i),
                     i == 0 ? accumulate : Accumulate::kYes,
                     site);
    }
  }

  /// The same with A in tensor memory and B MN-major: the rows of B are along K.
  template <class ElementA, class ElementB>
  constexpr void multiply(const TmemOperand<ElementA>& a,
                          const MnMajorTile<ElementB>& b,
                          Accumulate accumulate,
                          SourceSite site = SourceSite::current()) const {
    multiply_tiles(
        claim_.machine(), storage_->cluster.group, tmem_.address(), a, b, accumulate, site);
  }

  /// Participants: the whole warp. Blocks: never.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      commit_to_group(
          claim_.machine(), storage_->barriers.full[claim_.state().index], storage_->cluster, site);
      claim_.note(StageStep::kProducerReleased);
    }
  }
  /// Gives the stage up without a commit: it has been made on `mbar()`.
  constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kProducerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
  TmemStage tmem_;
};

/// An accumulator being read. `release` frees it: call it right after the last load has arrived,
/// before the stores, so that the next tile's MMAs need not wait for them.
template <Machine M, class Storage, class Consumer>
class [[nodiscard]] EpilogueStage {
 public:
  /// Made by an acquire of a ring; `tmem` are the stage's columns.
  constexpr EpilogueStage(StageClaim<M> claim, const Storage& storage, TmemStage tmem)
      : claim_{std::move(claim)}, storage_{&storage}, tmem_{tmem} {}
  constexpr EpilogueStage(EpilogueStage&&) = default;  // takes over the duty to release

  constexpr std::uint32_t index() const { return claim_.state().index; }  // in the ring, from 0
  constexpr TmemStage tmem() const { return tmem_; }  // the accumulator's columns
  /// The empty barrier, of this CTA; with pairs the leader's is the one in use.
  constexpr Mbarrier mbar() const { return storage_->barriers.empty[index()]; }
  /// The first of the 32 lanes of tensor memory that this warp may read.
  constexpr std::uint32_t first_lane() const {
    return kWarpLanes * (claim_.machine().warp_index() % kWarpsPerWarpgroup);
  }

  /// Starts to load this warp's lanes of the columns from `column` on; settle with
  /// `tcgen05_wait_ld`.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Fragment>
  constexpr void load(Fragment& fragment,
                      std::uint32_t column,
                      SourceSite site = SourceSite::current()) const {
    claim_.machine().tcgen05_ld_32x32b(
        fragment, tmem_.at_column(column).at_lane(first_lane()), site);
  }

  /// The same of the first 16 of these lanes, each with the warp's lanes t and t + 16.
  template <class Fragment>
  constexpr void load_half_rows(Fragment& fragment,
                                std::uint32_t column,
                                SourceSite site = SourceSite::current()) const {
    claim_.machine().tcgen05_ld_16x32bx2(
        fragment, tmem_.at_column(column).at_lane(first_lane()), site);
  }

  /// Starts to store this warp's lanes of the columns from `column` on; settle with
  /// `tcgen05_wait_st`.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Fragment>
  constexpr void store(const Fragment& fragment,
                       std::uint32_t column,
                       SourceSite site = SourceSite::current()) const {
    claim_.machine().tcgen05_st_32x32b(
        tmem_.at_column(column).at_lane(first_lane()), fragment, site);
  }

  /// Requires:     all loads and stores have been waited for.
  /// Participants: the whole warp; every warp of the role in every CTA of the group. Blocks: never.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      tell_leader<Consumer::kKind>(claim_.machine(),
                                   storage_->barriers.empty[claim_.state().index],
                                   storage_->cluster,
                                   site);
      claim_.note(StageStep::kConsumerReleased);
    }
  }
  /// Gives the stage up without an arrival: it has been made on `mbar()` of the leader.
  constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kConsumerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  const Storage* storage_;
  TmemStage tmem_;
};

}  // namespace warptwin
