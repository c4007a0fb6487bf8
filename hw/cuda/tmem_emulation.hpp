/// EMULATED: tensor memory and its MMA for GPUs that have neither, that the one kernel text runs
/// there.
///
/// Tensor memory is a piece of global memory for each CTA; an MMA or a copy to it is a loop of the
/// calling lanes, done when it returns. Right and very slow: for tests of the protocol, never for
/// timings.

#pragma once

#include <type_traits>

#include "common/machine/umma_descriptor.hpp"

#include "hw/cuda/emulation_memory.hpp"
#include "hw/ptx/address.hpp"
#include "hw/ptx/fence.hpp"
#include "hw/ptx/mbarrier.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/words.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw {

/// The lanes that share an operation: `first`, `first + step`... of its rows are one lane's.
struct EmulatingLanes {
  std::uint32_t first;
  std::uint32_t step;  // 1: the lane is alone
};

/// Where the scale factors of an MMA begin in tensor memory; none: it has no factors.
struct NoScales {};
struct BlockScales {
  TmemAddress a;
  TmemAddress b;
};
/// Instead of them: where the metadata of a sparse A begins.
struct SparseMetadata {
  TmemAddress at;
};
/// Both.
struct SparseScales {
  BlockScales scales;
  SparseMetadata metadata;
};

/// One warp's view of its CTA's emulated tensor memory, and of the other's of its pair.
///
/// Lanes that compute a row of D and lanes that read it are ordered as any global accesses are: by
/// the fence and the arrival in `commit`, and the wait for that arrival. With pairs both are of the
/// cluster.
class TmemEmulation {
 public:
  /// `memory` is for the whole grid: see `EmulationMemory`.
  WARPTWIN_HOST_DEVICE explicit TmemEmulation(std::uint32_t* memory)
      : cells_{memory + EmulationMemory::kWordsPerCta * ptx::cta_index()} {}

  /// Columns follow each other in the order they are asked for; one warp asks for all. A pair's
  /// CTAs ask for the same, and so have the same.
  ///
  /// Participants: the whole warp. Blocks: with pairs, until the other CTA has come; ends the
  /// kernel when there are no columns left.
  WARPTWIN_HOST_DEVICE void alloc(CtaGroup group,
                                  SharedAddress word,
                                  std::uint32_t columns,
                                  bool elected) {
    if (used_ + columns > kTmemColumns) {
      ptx::trap();
    }
    if (elected) {
      ptx::st_shared_u32(word, used_);
    }
    used_ += columns;
    if (group == CtaGroup::kTwo && elected) {
      meet_peer();
    }
    ptx::sync_warp();
  }
  /// The columns can be had again once all later ones have been freed too.
  WARPTWIN_HOST_DEVICE void dealloc(TmemAddress address, std::uint32_t columns) {
    if (address.column() + columns == used_) {
      used_ = address.column();
    }
  }

  /// D = A * B^T (+ D), A in shared memory (`UmmaSmemDescriptor`) or in tensor memory
  /// (`TmemAddress`). Of a pair, the halves of A's and of B's rows lie in its CTAs, and both halves
  /// of D.
  template <class A, class Scales>
  WARPTWIN_HOST_DEVICE void mma(CtaGroup group,
                                TmemAddress d,
                                A a,
                                UmmaSmemDescriptor b,
                                UmmaInstructionDescriptor instruction,
                                Scales scales,
                                bool accumulate,
                                EmulatingLanes lanes) const {
    const std::uint32_t own_m = instruction.m() / ctas_in(group);
    const std::uint32_t own_n = instruction.n() / ctas_in(group);
    const std::uint32_t a_columns = column_bytes(instruction.a_major(), instruction.a_type());
    const std::uint32_t b_columns = column_bytes(instruction.b_major(), instruction.b_type());
    for (std::uint32_t row = lanes.first; row < instruction.m(); row += lanes.step) {
      const std::uint32_t cta = group == CtaGroup::kOne ? 0 : row / own_m;
      const std::uint32_t m = row - cta * own_m;
      std::uint32_t* const cells = cells_of(group, cta);
      const auto a_row = row_of(group, cta, cells, a, m, a_columns);
      for (std::uint32_t n = 0; n < instruction.n(); ++n) {
        const std::uint32_t b_cta = group == CtaGroup::kOne ? 0 : n / own_n;
        const SharedRow b_row = row_of(group, b_cta, cells, b, n - b_cta * own_n, b_columns);
        const TmemAddress at = d_cell(group, instruction, m, n);
        std::uint32_t& cell = cell_at(cells, d.at_lane(at.lane()).at_column(at.column()));
        const float sum = accumulate ? std::bit_cast<float>(cell) : 0.0F;
        float product = 0.0F;
        if constexpr (std::is_same_v<Scales, NoScales>) {
          product = dot(a_row, b_row, instruction);
        } else if constexpr (std::is_same_v<Scales, SparseMetadata>) {
          const auto one = [](std::uint32_t) { return 1.0F; };
          product = dot_sparse(a_row, b_row, instruction, cells, scales.at, m, one, one);
        } else {
          const BlockScales& of = factors_in(scales);
          const std::uint32_t quarter = at.lane() / kWarpLanes;
          const std::uint32_t factors_a = factors_at(cells, of.a, quarter, m);
          const std::uint32_t factors_b = factors_at(cells, of.b, quarter, n);
          if constexpr (std::is_same_v<Scales, BlockScales>) {
            product = dot_scaled(a_row, b_row, instruction, factors_a, factors_b);
          } else {
            const std::uint32_t vector =
                instruction.b_row_bytes() / scale_vector(instruction.kind);  // bytes
            const auto scale = [&](std::uint32_t factors, std::uint32_t first) {
              return [=](std::uint32_t byte) {
                return factor(instruction, factors, first + byte / vector);
              };
            };
            product = dot_sparse(a_row,
                                 b_row,
                                 instruction,
                                 cells,
                                 scales.metadata.at,
                                 m,
                                 scale(factors_a, instruction.scale_byte_a()),
                                 scale(factors_b, instruction.scale_byte_b()));
          }
        }
        if (instruction.kind == MmaKind::kI8) {
          cell = (accumulate ? cell : 0) +
                 static_cast<std::uint32_t>(static_cast<std::int32_t>(product));
        } else {
          cell = std::bit_cast<std::uint32_t>(sum + product);
        }
      }
    }
  }
  /// Copies a tile of shared memory to the same columns of every CTA of the group.
  ///
  /// Participants: the lanes of `lanes`. MMAs before it have read these columns, those behind it
  /// find the tile, whichever of the lanes computes a row.
  WARPTWIN_HOST_DEVICE void cp(CtaGroup group,
                               TmemAddress to,
                               UmmaSmemDescriptor from,
                               TmemCopy shape,
                               EmulatingLanes lanes) const {
    follow(lanes);
    const std::uint32_t rows = rows_of(shape);
    for (std::uint32_t cta = 0; cta < ctas_in(group); ++cta) {
      std::uint32_t* const cells = cells_of(group, cta);
      for (std::uint32_t lane = lanes.first; lane < kTmemLanes; lane += lanes.step) {
        const auto row = row_of(group, cta, cells, from, lane % rows, 0);
        for (std::uint32_t column = 0; column < columns_of(shape); ++column) {
          cell_at(cells, to.at_lane(lane).at_column(column)) = row.word(4 * column);
        }
      }
    }
    follow(lanes);
  }
  /// Makes D and the end of the reads of A and B known to whoever sees the arrival.
  ///
  /// Participants: all lanes that computed; `lanes_follow` when that is the whole warp.
  WARPTWIN_HOST_DEVICE void commit(
      CtaGroup group, Mbarrier bar, CtaMask mask, bool arrives, bool lanes_follow) const {
    ptx::fence({Semantics::kAcqRel, Scope::kGpu});
    ptx::fence_proxy_async(group == CtaGroup::kTwo ? ProxySpace::kSharedCluster
                                                   : ProxySpace::kSharedCta);
    if (lanes_follow) {
      ptx::sync_warp();
    }
    if (!arrives) {
      return;
    }
    if (mask.bits == 0) {
      ptx::mbarrier_arrive(bar, 1, kReleaseCluster);
    }
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      if (mask.contains(rank)) {
        ptx::mbarrier_arrive(RemoteMbarrier{ptx::mapa(bar.address, rank)}, 1, kReleaseCluster);
      }
    }
  }

  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void ld(std::uint32_t (&registers)[kRegisters], TmemAddress address) const {
    const TmemAddress row = address.at_lane(ptx::lane_index());
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      registers[i] = cell_at(cells_, row.at_column(i));
    }
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void ld_half_rows(std::uint32_t (&registers)[kRegisters],
                                         TmemAddress address) const {
    constexpr std::uint32_t kRows = kWarpLanes / 2;
    const std::uint32_t lane = ptx::lane_index();
    const TmemAddress first = address.at_lane(lane % kRows).at_column(lane / kRows * kRegisters);
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      registers[i] = cell_at(cells_, first.at_column(i));
    }
  }
  // Of `columns` columns, in an accumulator of wgmma.
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void ld_accumulator(float (&d)[kRegisters],
                                           std::uint32_t columns,
                                           TmemAddress address) const {
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      if (2 * i < columns) {
        const WgmmaCell cell = WgmmaCell::of(ptx::lane_index(), i);
        const TmemAddress at = address.at_lane(cell.row).at_column(cell.column);
        d[i] = std::bit_cast<float>(cell_at(cells_, at));
      }
    }
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void st(TmemAddress address,
                               const std::uint32_t (&registers)[kRegisters]) const {
    const TmemAddress row = address.at_lane(ptx::lane_index());
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      cell_at(cells_, row.at_column(i)) = registers[i];
    }
  }

 private:
  // One row of an operand in shared memory, of this CTA or, with pairs, of either: `window` leads
  // from an address of this CTA to that one's.
  struct SharedRow {
    UmmaSmemDescriptor descriptor;
    std::uint32_t row;
    std::uint32_t window;
    bool in_cluster;
    std::uint32_t column_bytes;  // of an MN-major operand, those of an element; 0: K-major

    // Of four bytes from byte k on.
    WARPTWIN_HOST_DEVICE std::uint32_t word(std::uint32_t k) const {
      if (column_bytes == 0) {
        return load(operand_word(descriptor, row, k));
      }
      std::uint32_t packed = 0;
      for (std::uint32_t byte = 0; byte < 4; byte += column_bytes) {
        const std::uint32_t at =
            swizzled(descriptor.mn_address(row * column_bytes, (k + byte) / column_bytes),
                     swizzle_of_code(descriptor.swizzle_code()));
        const std::uint32_t element = load({at & ~3U}) >> (8 * (at % 4));
        packed |= (element & mask_of(8 * column_bytes)) << (8 * byte);
      }
      return packed;
    }
    WARPTWIN_HOST_DEVICE std::uint32_t load(SharedAddress at) const {
      return in_cluster ? ptx::ld_cluster_u32({at.value + window}) : ptx::ld_shared_u32(at);
    }
  };
  WARPTWIN_HOST_DEVICE static std::uint32_t column_bytes(Major major, ElementType type) {
    return major == Major::kMn ? bytes_of(type) : 0;
  }
  // One row of an operand in tensor memory, packed.
  struct TmemRow {
    const std::uint32_t* cells;
    TmemAddress address;

    WARPTWIN_HOST_DEVICE std::uint32_t word(std::uint32_t k) const {
      return cell_at(const_cast<std::uint32_t*>(cells), address.at_column(k / 4));
    }
  };

  WARPTWIN_HOST_DEVICE static SharedRow row_of(CtaGroup group,
                                               std::uint32_t cta,
                                               const std::uint32_t*,
                                               UmmaSmemDescriptor descriptor,
                                               std::uint32_t row,
                                               std::uint32_t column_bytes) {
    // ptxas makes one load in the cluster's window of both kinds: this CTA's own address must be
    // one there too.
    const bool in_cluster = ptx::cluster_cta_count() > 1;
    const std::uint32_t own = ptx::cluster_cta_rank();
    const std::uint32_t rank = group == CtaGroup::kOne ? own : (own & ~1U) + cta;
    const SharedAddress start = descriptor.start();
    const std::uint32_t window = in_cluster ? ptx::mapa(start, rank).value - start.value : 0;
    return {descriptor, row, window, in_cluster, column_bytes};
  }
  WARPTWIN_HOST_DEVICE static TmemRow row_of(CtaGroup,
                                             std::uint32_t,
                                             const std::uint32_t* cells,
                                             TmemAddress address,
                                             std::uint32_t row,
                                             std::uint32_t) {
    return {cells, address.at_lane(row)};
  }

  // The cells of this CTA; of a pair, those of its CTA `cta`.
  WARPTWIN_HOST_DEVICE std::uint32_t* cells_of(CtaGroup group, std::uint32_t cta) const {
    if (group == CtaGroup::kOne) {
      return cells_;
    }
    return leader_cells() + EmulationMemory::kWordsPerCta * cta;
  }
  WARPTWIN_HOST_DEVICE std::uint32_t* leader_cells() const {
    return cells_ - EmulationMemory::kWordsPerCta * (ptx::cluster_cta_rank() % 2);
  }
  WARPTWIN_HOST_DEVICE static std::uint32_t& cell_at(std::uint32_t* cells, TmemAddress address) {
    return cells[address.column() * kTmemLanes + address.lane()];
  }

  // Both CTAs of a pair come to their nth allocation before either goes on.
  WARPTWIN_HOST_DEVICE void meet_peer() const {
    const GlobalAddress met = ptx::global_address(leader_cells() + EmulationMemory::kCells +
                                                  EmulationMemory::kAllocations);
    const std::uint32_t before = ptx::atom_add_acq_rel_global_u32(met, 1);
    while (ptx::ld_acquire_global_u32(met) < before / 2 * 2 + 2) {
    }
  }

  WARPTWIN_HOST_DEVICE static void follow(EmulatingLanes lanes) {
    if (lanes.step != 1) {
      ptx::sync_warp();
    }
  }

  // The lane and column of D's row m of a CTA, column n (PTX ISA, "data path layout").
  WARPTWIN_HOST_DEVICE static TmemAddress d_cell(CtaGroup group,
                                                 UmmaInstructionDescriptor instruction,
                                                 std::uint32_t m,
                                                 std::uint32_t n) {
    if (group == CtaGroup::kTwo && instruction.m() == 128) {
      const std::uint32_t half = instruction.n() / 2;
      return TmemAddress{}.at_lane(m + (n >= half ? 64 : 0)).at_column(n % half);
    }
    if (group == CtaGroup::kOne && instruction.m() == 64) {
      return TmemAddress{}.at_lane(32 * (m / 16) + m % 16).at_column(n);
    }
    return TmemAddress{}.at_lane(m).at_column(n);
  }

  // The four factors of a row, in the copy of one quarter of the lanes.
  WARPTWIN_HOST_DEVICE static std::uint32_t factors_at(std::uint32_t* cells,
                                                       TmemAddress address,
                                                       std::uint32_t quarter,
                                                       std::uint32_t row) {
    const std::uint32_t lane = kWarpLanes * quarter + row % kScaleRowsInColumn;
    return cell_at(cells, address.at_lane(lane).at_column(row / kScaleRowsInColumn));
  }

  WARPTWIN_HOST_DEVICE static constexpr std::uint32_t bits_of(ElementType type) {
    return 8 * bytes_of(type) / elements_in_unit(type);
  }
  WARPTWIN_HOST_DEVICE static constexpr std::uint32_t mask_of(std::uint32_t bits) {
    return bits == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1;
  }

  // One element of the product: 32 bytes of a row of A and of one of B.
  template <class Row>
  WARPTWIN_HOST_DEVICE static float dot(const Row& a,
                                        const SharedRow& b,
                                        UmmaInstructionDescriptor instruction) {
    const std::uint32_t bits = bits_of(instruction.a_type());
    const std::uint32_t mask = mask_of(bits);
    float sum = 0.0F;
    for (std::uint32_t k = 0; k < 32; k += 4) {
      const std::uint32_t word_a = a.word(k);
      const std::uint32_t word_b = b.word(k);
      for (std::uint32_t shift = 0; shift < 32; shift += bits) {
        sum += decode(instruction.a_type(), (word_a >> shift) & mask) *
               decode(instruction.b_type(), (word_b >> shift) & mask);
      }
    }
    return sum;
  }
  WARPTWIN_HOST_DEVICE static const BlockScales& factors_in(const BlockScales& scales) {
    return scales;
  }
  WARPTWIN_HOST_DEVICE static const BlockScales& factors_in(const SparseScales& scales) {
    return scales.scales;
  }
  // The same of a row of A without its zeros, and 64 bytes of one of B; row `m` of the CTA. The
  // scales are the factors of byte k of a row of B, and of the A that it is multiplied by.
  template <class Row, class ScaleA, class ScaleB>
  WARPTWIN_HOST_DEVICE static float dot_sparse(const Row& a,
                                               const SharedRow& b,
                                               UmmaInstructionDescriptor instruction,
                                               std::uint32_t* cells,
                                               TmemAddress metadata,
                                               std::uint32_t m,
                                               const ScaleA& scale_a,
                                               const ScaleB& scale_b) {
    const SparseElements elements = sparse_elements(instruction.a_type());
    const TmemAddress column = metadata.at_column(instruction.sparsity_selector());
    const std::uint32_t kept = elements.kept();
    const std::uint32_t bits_of_one = bits_of(instruction.a_type());
    const auto element = [&](const auto& of, ElementType type, std::uint32_t bit) {
      return decode(type, (of.word(bit / 32 * 4) >> (bit % 32)) & mask_of(bits_of_one));
    };
    float sum = 0.0F;
    for (std::uint32_t chunk = 0; chunk < 4 * elements.parts(); ++chunk) {
      const auto cell = SparseMetadataCell::of(elements, m, chunk / 4);
      const TmemAddress at = column.at_lane(cell.lane).at_column(cell.column);
      const std::uint32_t bits = cell_at(cells, at) >> (cell.shift + 4 * (chunk % 4));
      for (std::uint32_t i = 0; i < kept; ++i) {  // of the elements that are not zero
        const std::uint32_t from_a = (chunk * kept + i) * elements.bytes;
        const std::uint32_t from_b =
            (chunk * elements.chunk() + elements.place(bits, i)) * elements.bytes;
        for (std::uint32_t bit = 0; bit < 8 * elements.bytes; bit += bits_of_one) {
          sum += scale_a(from_b) * element(a, instruction.a_type(), 8 * from_a + bit) *
                 (scale_b(from_b) * element(b, instruction.b_type(), 8 * from_b + bit));
        }
      }
    }
    return sum;
  }
  // The same with a factor for each vector of elements, a byte each, from the instruction's first
  // byte on.
  template <class Row>
  WARPTWIN_HOST_DEVICE static float dot_scaled(const Row& a,
                                               const SharedRow& b,
                                               UmmaInstructionDescriptor instruction,
                                               std::uint32_t factors_a,
                                               std::uint32_t factors_b) {
    const std::uint32_t bits = bits_of(instruction.a_type());
    const std::uint32_t mask = mask_of(bits);
    const std::uint32_t vector = 32 / scale_vector(instruction.kind);  // bytes
    float sum = 0.0F;
    for (std::uint32_t first = 0; first < 32; first += vector) {
      const std::uint32_t i = first / vector;
      const float scale_a = factor(instruction, factors_a, instruction.scale_byte_a() + i);
      const float scale_b = factor(instruction, factors_b, instruction.scale_byte_b() + i);
      for (std::uint32_t k = first; k < first + vector; k += 4) {
        const std::uint32_t word_a = a.word(k);
        const std::uint32_t word_b = b.word(k);
        for (std::uint32_t shift = 0; shift < 32; shift += bits) {
          sum += scale_a * decode(instruction.a_type(), (word_a >> shift) & mask) *
                 (scale_b * decode(instruction.b_type(), (word_b >> shift) & mask));
        }
      }
    }
    return sum;
  }
  WARPTWIN_HOST_DEVICE static float factor(UmmaInstructionDescriptor instruction,
                                           std::uint32_t factors,
                                           std::uint32_t byte) {
    return decode(instruction.scale_type(), (factors >> (8 * (byte % 4))) & 0xFFU);
  }

  // Where byte k of a K-major operand's row lies. Swizzled: groups of eight rows one span apart.
  // Unswizzled: pieces of eight rows by 16 bytes. The pattern is anchored at the address, so it is
  // applied to the address.
  WARPTWIN_HOST_DEVICE static SharedAddress operand_word(UmmaSmemDescriptor descriptor,
                                                         std::uint32_t row,
                                                         std::uint32_t k) {
    const Swizzle swizzle = swizzle_of_code(descriptor.swizzle_code());
    const std::uint32_t group = descriptor.start().value + row / 8 * descriptor.stride_bytes();
    if (swizzle == Swizzle::kNone) {
      return {group + row % 8 * 16 + k / 16 * descriptor.leading_bytes() + k % 16};
    }
    return {swizzled(group + row % 8 * static_cast<std::uint32_t>(swizzle) + k, swizzle)};
  }
  WARPTWIN_HOST_DEVICE static Swizzle swizzle_of_code(std::uint32_t code) {
    return code == 1   ? Swizzle::k128BAtom32B
           : code == 2 ? Swizzle::k128B
           : code == 4 ? Swizzle::k64B
           : code == 6 ? Swizzle::k32B
                       : Swizzle::kNone;
  }

  std::uint32_t* cells_;
  std::uint32_t used_ = 0;
};

}  // namespace warptwin::hw

#pragma GCC diagnostic pop
