/// A sparse A as hosts have it: which elements of a row are not zero, and the metadata that says
/// so. Host code.

#pragma once

#include <cstdint>
#include <vector>

#include "common/kernel/scenario.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/tile/sparse_operand.hpp"
#include "common/tile/sparse_warpgroup.hpp"

namespace warptwin {

/// Places of the two elements of a chunk of four that are not zero, as metadata has them: the first
/// in the low two bits. The six pairs (PTX ISA, "Sparse matrices").
inline constexpr std::uint32_t kSparsePairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};

/// Of a chunk of two, one of which is not zero: the first, or the second.
inline constexpr std::uint32_t kSparseSingles[] = {0b0100, 0b1110};

/// The four bits of a chunk of a row of such elements, drawn by their numbers.
template <class Element>
std::uint32_t drawn_places(std::uint32_t row, std::uint32_t chunk) {
  const std::uint32_t mixed = ((row * 0x9E3779B1U) ^ (chunk * 0x85EBCA77U)) >> 15;
  return sparse_elements(Element::kType).kept() == 1 ? kSparseSingles[mixed % 2]
                                                     : kSparsePairs[mixed % 6];
}

/// The metadata of `rows` rows of `k` elements, whose chunks have the bits `places(row, chunk)`:
/// for each 128 rows the k steps of `SparseMetadata`, each in blocks of a line of 16 bytes a lane.
template <class Element, class Places>
std::vector<std::uint32_t> sparse_metadata(std::uint32_t rows, std::uint32_t k, Places places) {
  using Metadata = SparseMetadataOf<Element>;
  const SparseElements elements = sparse_elements(Element::kType);
  const std::uint32_t steps = ceil_div(k, Metadata::kK);
  const std::uint32_t block_words = kTmemLanes * kSparseBlockColumns;
  std::vector<std::uint32_t> words(std::size_t{ceil_div(rows, kTmemLanes)} * steps *
                                   Metadata::kBlocks * block_words);
  for (std::uint32_t row = 0; row < align_up(rows, kTmemLanes); ++row) {
    for (std::uint32_t first = 0; first < steps * Metadata::kK; first += elements.part()) {
      std::uint32_t bits = 0;
      for (std::uint32_t i = 0; i < 4; ++i) {
        bits |= places(row, first / elements.chunk() + i) << (4 * i);
      }
      const std::uint32_t in_step = first % Metadata::kK;
      const auto cell = SparseMetadataCell::of(
          elements, row % kTmemLanes, in_step % elements.instruction_k() / elements.part());
      const std::uint32_t column =
          in_step / elements.instruction_k() * elements.columns() + cell.column;
      const std::uint32_t block =
          (row / kTmemLanes * steps + first / Metadata::kK) * Metadata::kBlocks +
          column / kSparseBlockColumns;
      words[block * block_words + cell.lane * kSparseBlockColumns + column % kSparseBlockColumns] |=
          bits << cell.shift;
    }
  }
  return words;
}

/// The same for wgmma: for each 64 rows the k steps of `WgmmaMetadataOf`, the 128 lanes' words of
/// each.
template <class Element, class Places>
std::vector<std::uint32_t> wgmma_metadata(std::uint32_t rows, std::uint32_t k, Places places) {
  using Metadata = WgmmaMetadataOf<Element>;
  const SparseElements elements = sparse_elements(Element::kType);
  const std::uint32_t steps = ceil_div(k, Metadata::kK);
  std::vector<std::uint32_t> words(std::size_t{ceil_div(rows, kWgmmaRows)} * steps *
                                   Metadata::kWords * Metadata::kLanes);
  for (std::uint32_t row = 0; row < align_up(rows, kWgmmaRows); ++row) {
    for (std::uint32_t first = 0; first < steps * Metadata::kK; first += elements.part()) {
      std::uint32_t bits = 0;
      for (std::uint32_t i = 0; i < 4; ++i) {
        bits |= places(row, first / elements.chunk() + i) << (4 * i);
      }
      const std::uint32_t in_step = first % Metadata::kK;
      const std::uint32_t mma = in_step / elements.instruction_k();
      const auto cell = WgmmaMetadataCell::of(elements,
                                              row % kWgmmaWarpRows,
                                              in_step % elements.instruction_k() / elements.part(),
                                              mma % elements.selectors());
      const std::uint32_t line =
          (row / kWgmmaRows * steps + first / Metadata::kK) * Metadata::kWords +
          mma / elements.selectors();
      const std::uint32_t lane = row % kWgmmaRows / kWgmmaWarpRows * kWarpLanes + cell.lane;
      words[line * Metadata::kLanes + lane] |= bits << cell.shift;
    }
  }
  return words;
}

/// A with its zeros: element `i` of those kept of a chunk goes to the place that its bits say;
/// those that share a byte are one.
template <class Places>
HostTensor with_zeros(ElementType type, const HostTensor& packed, Places places) {
  const SparseElements elements = sparse_elements(type);
  const std::uint32_t together = elements_in_unit(type);
  HostTensor dense = packed;
  dense.spec.columns = 2 * packed.spec.columns;
  dense.values.assign(std::size_t{dense.spec.rows} * dense.spec.columns, 0.0F);
  for (std::uint32_t row = 0; row < packed.spec.rows; ++row) {
    for (std::uint32_t i = 0; i < packed.spec.columns; ++i) {
      const std::uint32_t unit = i / together;
      const std::uint32_t chunk = unit / elements.kept();
      const std::uint32_t place = elements.place(places(row, chunk), unit % elements.kept());
      const std::uint32_t to = (chunk * elements.chunk() + place) * together + i % together;
      dense.at(row, to) = packed.at(row, i);
    }
  }
  return dense;
}
/// The same of elements of a type.
template <class Element, class Places>
HostTensor with_zeros(const HostTensor& packed, Places places) {
  return with_zeros(Element::kType, packed, places);
}

/// The reverse, of chunks of four: the elements that are not zero, two for each chunk, and through
/// `keep(row, chunk, pair)` where they were. Of fewer than two zeros stand in; throws ConfigError
/// at more.
template <class Keep>
HostTensor without_zeros(const HostTensor& dense, Keep keep) {
  constexpr std::uint32_t kChunk = 4;
  HostTensor packed = dense;
  packed.spec.columns = dense.spec.columns / 2;
  packed.values.assign(std::size_t{packed.spec.rows} * packed.spec.columns, 0.0F);
  for (std::uint32_t row = 0; row < dense.spec.rows; ++row) {
    for (std::uint32_t chunk = 0; chunk < dense.spec.columns / kChunk; ++chunk) {
      std::uint32_t best = 0;  // the pair that holds all that is not zero
      const auto outside = [&](std::uint32_t pair) {
        std::uint32_t left = 0;
        for (std::uint32_t place = 0; place < kChunk; ++place) {
          const bool held = place == (pair & 3U) || place == pair >> 2;
          left += !held && dense.at(row, chunk * kChunk + place) != 0.0F ? 1 : 0;
        }
        return left;
      };
      while (best < 6 && outside(kSparsePairs[best]) != 0) {
        ++best;
      }
      if (best == 6) {
        throw ConfigError("row " + std::to_string(row) +
                          " has more than two elements that are not " + "zero in columns " +
                          std::to_string(chunk * kChunk) + " to " +
                          std::to_string(chunk * kChunk + kChunk - 1));
      }
      const std::uint32_t pair = kSparsePairs[best];
      keep(row, chunk, pair);
      packed.at(row, 2 * chunk) = dense.at(row, chunk * kChunk + (pair & 3U));
      packed.at(row, 2 * chunk + 1) = dense.at(row, chunk * kChunk + (pair >> 2));
    }
  }
  return packed;
}

}  // namespace warptwin
