/// Scenario: D = A * B^T of block-scaled operands with a sparse A: of each four elements of a row
/// along K two are stored, of MXFP4 and NVFP4 of each four pairs two. A scale factor is of 64
/// elements of a row with its zeros, of NVFP4 of 32. Otherwise gemm_block_scaled.
///
/// Barriers as in gemm_block_scaled; the bytes of input.full are the metadata's, too.
///
/// Tensor memory: behind the slots of scale factors one of metadata for each input stage. The MMA
/// warp copies both. Metadata is each CTA's own, of its rows of A.
///
/// Expected: clean, as gemm_block_scaled is.

#pragma once

#include "common/kernel/sparse_host.hpp"
#include "common/tile/sparse_scaled_operand.hpp"

#include "scenarios/gemm_block_scaled.hpp"

namespace warptwin::scenarios {

/// A without its zeros. A wrong twin derives from it, and has one step anew.
struct SparseScaled {
  static constexpr bool kSparseA = true;
  static constexpr std::uint32_t kRowBytes = 256;     // of B in a stage
  static constexpr std::uint32_t kStages[] = {3, 3};  // of fixed tiles, and of claimed ones
  using Payload = SparseScaledTilePayload;
  template <class TensorMap>
  struct Maps {
    TensorMap metadata;  // boxes: all blocks of a step
  };

  static constexpr Payload payload(const ScaledTileShape& shape) {
    return sparse_scaled_payload(shape);
  }
  static constexpr void load(WARPTWIN_HELD auto& stage,
                             const auto& problem,
                             const auto& at,
                             std::uint32_t b,
                             std::uint32_t k) {
    const auto to = stage.payload();
    stage.load(problem.a, at.index({at.tile.m, k}), to.a_tile());  // (cta_m, 128 bytes): half of K
    for (std::uint32_t i = 0; i < to.b.panels(); ++i) {
      stage.load(problem.b, at.index({b, k * to.b.panels() + i}), to.b_panel(i));
    }
    const std::uint32_t block = at.sfa_blocks + at.tile.m;  // of 128 rows
    stage.load(problem.beside.metadata, {block * problem.k_tiles + k, 0}, to.metadata_tile());
  }
  static constexpr void multiply(auto& machine,
                                 const auto& accum,
                                 const ScaledTileShape& shape,
                                 const auto& tiles,
                                 const ScaleSlot& slot,
                                 Accumulate accumulate) {
    copy_metadata(machine, shape.group, tiles.metadata_tile().tile, slot.metadata);
    multiply_sparse_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
  }
};

/// `Parts`, with a sparse A.
template <class Parts = GemmParts, class Operands = SparseScaled>
struct WithSparseA : Parts {
  using ScaledOperands = Operands;
};

/// What the scenarios of every choice of parts share.
template <class Parts = WithSparseA<>>
struct GemmBlockScaledSparseOf : GemmBlockScaledOf<Parts> {
  using Base = GemmBlockScaledOf<Parts>;
  using Extents = typename Base::Extents;
  using Metadata = SparseMetadataOf<OperandByte>;

  static Workload workload(const ParameterSet& p) {
    return workload_of(p, Base::extents(p), p.u32("ctas"));
  }
  static Workload workload_of(const ParameterSet& p, const Extents& e, std::uint32_t clusters) {
    Workload workload = Base::workload_of(p, e, clusters);
    const auto [m, k] = std::array{p.u32("m"), p.u32("k")};
    const ElementType element = element_of(e.shape().format);
    workload.tensors[0] = matrix("a", TensorUse::kInput, m, k / 2, element);
    const std::uint32_t lines =
        ceil_div(m, kTmemLanes) * ceil_div(k, std::uint32_t{e.tile_k}) * Metadata::kLines;
    TensorSpec metadata =
        matrix("metadata", TensorUse::kScratch, lines, kSparseLineBytes, SparseMetadataByte::kType);
    metadata.words =
        sparse_metadata<OperandByte>(m, k / elements_in_unit(element), drawn_places<OperandByte>);
    workload.tensors.push_back(metadata);
    workload.maps.push_back({5, Metadata::kLines, kSparseLineBytes, Swizzle::kNone});
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    const HostTensor packed = tensors[0];
    tensors[0] =
        with_zeros(element_of(Base::tiles(p).shape().format), packed, drawn_places<OperandByte>);
    Base::reference(p, tensors);
    tensors[0] = packed;
  }
};

struct GemmBlockScaledSparse : GemmBlockScaledSparseOf<> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_sparse",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM whose A is sparse, two of four along K"};
};

}  // namespace warptwin::scenarios
