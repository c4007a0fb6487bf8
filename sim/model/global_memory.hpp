/// Global memory: named buffers at increasing addresses, and the tensor maps over them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/model/copy_form.hpp"

namespace warptwin::sim {

/// A buffer. `bytes` is empty when it holds tile data and no tile data moves.
struct GlobalBuffer {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> unknown;  // by byte: data that was not moved, or what nobody knows; empty: none
};

/// How a map says what a copy takes of its tensor.
enum class TensorMapKind : std::uint8_t {
  kTiled,
  kIm2col,
  kIm2colWide,  // of .im2col::w and .im2col::w::128: no copy by one is simulated
};

/// A decoded tensor map, dimensions innermost first.
struct TensorMapState {
  static constexpr std::uint32_t kRankMax = 5;
  static constexpr std::uint32_t kCornersMax = kRankMax - 2;
  static constexpr std::uint32_t kRowsOf4 = 4;  // of .tile::gather4 and .tile::scatter4
  /// Elements with padding that are copied at a time along the first dimension.
  static constexpr std::uint32_t kPaddedColumns = 128;
  std::string tensor;
  std::uint64_t address = 0;
  std::uint32_t rank = 2;
  std::uint32_t element_bytes = 0;  // of one element, or of `unit()`
  std::uint32_t extent[kRankMax] = {};
  std::uint64_t stride_bytes[kRankMax] = {};       // of dimension i; [0] is element_bytes
  std::uint32_t box[kRankMax] = {};                // of im2col: [0], the channels of a pixel
  std::uint32_t step[kRankMax] = {1, 1, 1, 1, 1};  // from one element of the box to the next
  Swizzle swizzle = Swizzle::kNone;
  TensorType type = TensorType::kOther;
  TensorMapKind kind = TensorMapKind::kTiled;
  /// Of im2col, by dimension but C and N: where the bounding box begins, and where it ends behind
  /// the last element.
  std::int32_t lower[kCornersMax] = {};
  std::int32_t upper[kCornersMax] = {};
  std::uint32_t pixels = 0;  // of im2col: in one copy

  /// Elements that are copied together, and the bytes behind them in shared memory.
  std::uint32_t unit() const { return elements_in_unit(type); }
  std::uint32_t padding() const { return padding_of(type); }
  /// In global memory.
  std::uint32_t bytes_in_row() const { return box[0] / unit() * element_bytes; }
  /// In shared memory; padding is counted as what is in front of it.
  std::uint32_t row_bytes() const { return box[0] / unit() * (element_bytes + padding()); }
  /// Bytes from a row to the next in shared memory. With a swizzle, rows that are shorter than its
  /// span stand as far apart as spans: so on an H100 (docs/ptx.md, "On a GPU").
  std::uint32_t row_pitch() const { return std::max(row_bytes(), span_of(swizzle)); }
  std::uint32_t rows(TensorMode mode) const;
  /// Bytes that a copy moves, and an mbarrier counts.
  std::uint32_t copy_bytes(TensorMode mode) const { return rows(mode) * row_bytes(); }
  /// Bytes of shared memory within which they stand.
  std::uint32_t shared_bytes(TensorMode mode) const { return rows(mode) * row_pitch(); }
  std::uint64_t span_bytes() const;  // from the tensor's first byte to its last
  /// Of elements of four or six bits: whether it is a map that the driver makes (CUDA driver API,
  /// "cuTensorMapEncodeTiled").
  bool keeps_to_packing() const {
    if (padding() == 0) {
      return extent[0] % 2 == 0 && row_bytes() % 16 == 0 && box[0] % 2 == 0;
    }
    constexpr std::uint64_t kAlignment = 32;
    bool aligned = address % kAlignment == 0;
    for (std::uint32_t i = 1; i < rank; ++i) {
      aligned = aligned && stride_bytes[i] % kAlignment == 0;
    }
    return aligned && box[0] == kPaddedColumns && extent[0] % kPaddedColumns == 0 &&
           (swizzle == Swizzle::kNone || span_of(swizzle) == kPaddedColumns);
  }
  /// Of im2col, of dimension `i` + 1: the last place of the bounding box.
  std::int64_t last_place(std::uint32_t i) const {
    return std::int64_t{extent[i + 1]} - 1 + upper[i];
  }
};

/// Where a copy by a map begins.
struct TensorPlace {
  TensorMode mode = TensorMode::kTile;
  const std::int32_t* at = nullptr;  // coordinates; of four rows: the column, and each row
  std::uint16_t offset[TensorMapState::kCornersMax] = {};  // of im2col
};

class GlobalMemory {
 public:
  /// Adds a buffer of zeros; `holds_data` false keeps only its address range.
  std::uint64_t add(std::string name, std::uint64_t size, bool holds_data);
  /// The same at an address of the caller's, which is in no other buffer.
  void add_at(std::uint64_t address, std::string name, std::uint64_t size, bool holds_data);
  const GlobalBuffer* find(std::uint64_t address) const;
  /// Bytes [address, address + size), or null when they are not all in one buffer that holds data.
  std::byte* at(std::uint64_t address, std::uint64_t size);
  /// Whether any buffer has contents, not only a place.
  bool holds_data() const;
  bool in_range(std::uint64_t address, std::uint64_t size) const;
  /// Bytes of a buffer with contents that stand for data which was not moved, or are not known.
  void set_unknown(std::uint64_t address, std::uint64_t size, bool unknown);
  bool unknown(std::uint64_t address) const;
  /// Whether there are any in its buffer.
  bool some_unknown(std::uint64_t address) const;

  std::vector<TensorMapState> maps;

 private:
  std::vector<GlobalBuffer> buffers_;
  std::uint64_t next_ = 1U << 20;
};

/// Copies between global and shared memory. Elements outside the tensor read as zero and are not
/// written.
void copy_box_to_shared(GlobalMemory& memory,
                        const TensorMapState& map,
                        const TensorPlace& place,
                        std::byte* shared,
                        std::uint32_t shared_address);
/// `source` is what the copy takes as it lies in shared memory, its swizzle pattern starting at its
/// own start.
void copy_box_to_global(GlobalMemory& memory,
                        const TensorMapState& map,
                        const TensorPlace& place,
                        const std::byte* source,
                        std::uint32_t shared_address,
                        CopyReduction reduction = {});

}  // namespace warptwin::sim
