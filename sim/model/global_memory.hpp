/// Global memory: named buffers at increasing addresses, and the tensor maps over them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

/// A buffer. `bytes` is empty when it holds tile data and no tile data moves.
struct GlobalBuffer {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> unknown;  // by word: data that a run without data did not move; empty: none
};

/// A decoded tensor map, dimensions innermost first.
struct TensorMapState {
  static constexpr std::uint32_t kRankMax = 5;
  std::string tensor;
  std::uint64_t address = 0;
  std::uint32_t rank = 2;
  std::uint32_t element_bytes = 0;
  std::uint32_t extent[kRankMax] = {};
  std::uint64_t stride_bytes[kRankMax] = {};  // of dimension i; [0] is element_bytes
  std::uint32_t box[kRankMax] = {};
  std::uint32_t step[kRankMax] = {1, 1, 1, 1, 1};  // from one element of the box to the next
  Swizzle swizzle = Swizzle::kNone;

  std::uint32_t box_bytes() const;
  std::uint64_t span_bytes() const;  // from the tensor's first byte to its last
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
  /// Words of a buffer with contents that stand for data which was not moved.
  void set_unknown(std::uint64_t address, std::uint64_t size, bool unknown);
  bool unknown(std::uint64_t address) const;

  std::vector<TensorMapState> maps;

 private:
  std::vector<GlobalBuffer> buffers_;
  std::uint64_t next_ = 1U << 20;
};

/// Copies one box between global and shared memory. Elements outside the tensor read as zero and
/// are
/// not written.
void copy_box_to_shared(GlobalMemory& memory,
                        const TensorMapState& map,
                        const std::int32_t* at,
                        std::byte* shared,
                        std::uint32_t shared_address);
/// `source` is the box as it lies in shared memory, its swizzle pattern starting at its own start.
void copy_box_to_global(GlobalMemory& memory,
                        const TensorMapState& map,
                        const std::int32_t* at,
                        const std::byte* source,
                        std::uint32_t shared_address);

}  // namespace warptwin::sim
