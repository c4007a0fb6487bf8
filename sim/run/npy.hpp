/// Matrices of float32 in `.npy` files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/machine/element.hpp"

namespace warptwin::sim {

struct NpyMatrix {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<float> values;  // row-major
};

/// Throws ConfigError, naming the file and what to do, when it is no 2-D float32 matrix in C order,
/// of
/// the size its header says.
NpyMatrix read_npy(const std::string& path);
/// Replaces `path` only once the whole matrix is written.
void write_npy(const std::string& path, const NpyMatrix& matrix);

/// The same of what no float holds, in numpy's type for it. `bytes`: row-major.
void write_npy_elements(const std::string& path,
                        std::uint32_t rows,
                        std::uint32_t columns,
                        ElementType type,
                        std::span<const std::byte> bytes);

/// The bytes of a tensor, row by row: of an array of `rows` x `columns` elements (of one dimension
/// too where there is one row) in numpy's type for theirs, or where numpy has none in unsigned ones
/// of their size; or of uint8 in one dimension, the bytes as they stand.
std::vector<std::byte> read_npy_elements(const std::string& path,
                                         ElementType type,
                                         std::uint32_t rows,
                                         std::uint32_t columns);

/// Bytes in one dimension, uint8.
void write_npy_bytes(const std::string& path, std::span<const std::byte> bytes);

}  // namespace warptwin::sim
