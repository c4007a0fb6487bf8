/// A sparse A as hosts have it: which elements of a row are not zero, and the metadata that says
/// so. Host code.

#pragma once

#include <cstdint>
#include <vector>

#include "common/kernel/scenario.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/tile/sparse_operand.hpp"

namespace warptwin {

/// Places of the two elements of a chunk of four that are not zero, as metadata has them: the first
/// in the low two bits. The six pairs (PTX ISA, "Sparse matrices").
inline constexpr std::uint32_t kSparsePairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};

/// The pair of a chunk of a row, drawn by their numbers.
inline std::uint32_t drawn_pair(std::uint32_t row, std::uint32_t chunk) {
  const std::uint32_t mixed = (row * 0x9E3779B1U) ^ (chunk * 0x85EBCA77U);
  return kSparsePairs[(mixed >> 15) % 6];
}

/// The metadata of `rows` rows of `k` elements, whose chunks have the pairs `pair(row, chunk)`: for
/// each 128 rows the blocks of `kSparseBlockK` along K, each a line of 16 bytes for every lane.
template <class Pair>
std::vector<std::uint32_t> sparse_metadata(std::uint32_t rows, std::uint32_t k, Pair pair) {
  constexpr std::uint32_t kHalf = 16;  // elements of K whose metadata is 16 bits
  const std::uint32_t blocks_k = ceil_div(k, kSparseBlockK);
  const std::uint32_t block_words = kSparseBlockLines * kSparseBlockColumns;
  std::vector<std::uint32_t> words(std::size_t{ceil_div(rows, kTmemLanes)} * blocks_k *
                                   block_words);
  for (std::uint32_t row = 0; row < align_up(rows, kTmemLanes); ++row) {
    for (std::uint32_t first = 0; first < blocks_k * kSparseBlockK; first += kHalf) {
      std::uint32_t bits = 0;
      for (std::uint32_t i = 0; i < kHalf / kSparseChunk; ++i) {
        bits |= pair(row, first / kSparseChunk + i) << (4 * i);
      }
      const auto cell = SparseMetadataCell::of(row % kTmemLanes, first / kHalf % 2);
      const std::uint32_t block = row / kTmemLanes * blocks_k + first / kSparseBlockK;
      const std::uint32_t column = first % kSparseBlockK / (2 * kHalf);
      words[block * block_words + cell.lane * kSparseBlockColumns + column] |= bits << cell.shift;
    }
  }
  return words;
}

/// A with its zeros: element `i` of a chunk's two of `packed` goes to the place that its pair says.
template <class Pair>
HostTensor with_zeros(const HostTensor& packed, Pair pair) {
  HostTensor dense = packed;
  dense.spec.columns = 2 * packed.spec.columns;
  dense.values.assign(std::size_t{dense.spec.rows} * dense.spec.columns, 0.0F);
  for (std::uint32_t row = 0; row < packed.spec.rows; ++row) {
    for (std::uint32_t i = 0; i < packed.spec.columns; ++i) {
      const std::uint32_t chunk = i / 2;
      const std::uint32_t place = pair(row, chunk) >> (i % 2 * 2) & 3U;
      dense.at(row, chunk * kSparseChunk + place) = packed.at(row, i);
    }
  }
  return dense;
}

/// The reverse: the elements that are not zero, two for each chunk, and through `keep(row, chunk,
/// pair)` where they were. Of fewer than two zeros stand in; throws ConfigError at more.
template <class Keep>
HostTensor without_zeros(const HostTensor& dense, Keep keep) {
  HostTensor packed = dense;
  packed.spec.columns = dense.spec.columns / 2;
  packed.values.assign(std::size_t{packed.spec.rows} * packed.spec.columns, 0.0F);
  for (std::uint32_t row = 0; row < dense.spec.rows; ++row) {
    for (std::uint32_t chunk = 0; chunk < dense.spec.columns / kSparseChunk; ++chunk) {
      std::uint32_t best = 0;  // the pair that holds all that is not zero
      const auto outside = [&](std::uint32_t pair) {
        std::uint32_t left = 0;
        for (std::uint32_t place = 0; place < kSparseChunk; ++place) {
          const bool held = place == (pair & 3U) || place == pair >> 2;
          left += !held && dense.at(row, chunk * kSparseChunk + place) != 0.0F ? 1 : 0;
        }
        return left;
      };
      while (best < 6 && outside(kSparsePairs[best]) != 0) {
        ++best;
      }
      if (best == 6) {
        throw ConfigError("row " + std::to_string(row) +
                          " has more than two elements that are not " + "zero in columns " +
                          std::to_string(chunk * kSparseChunk) + " to " +
                          std::to_string(chunk * kSparseChunk + kSparseChunk - 1));
      }
      const std::uint32_t pair = kSparsePairs[best];
      keep(row, chunk, pair);
      packed.at(row, 2 * chunk) = dense.at(row, chunk * kSparseChunk + (pair & 3U));
      packed.at(row, 2 * chunk + 1) = dense.at(row, chunk * kSparseChunk + (pair >> 2));
    }
  }
  return packed;
}

}  // namespace warptwin
