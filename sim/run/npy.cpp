#include "sim/run/npy.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/kernel/scenario.hpp"

#include "sim/run/pattern.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint64_t kDimensionMax = 1U << 20;
constexpr std::uint64_t kElementsMax = 1U << 30;

// Of an array of numbers it has 118 at most.
constexpr std::uint32_t kHeaderMax = 4096;
constexpr const char* kMatrixWanted = "a 2-D float32 array";

[[noreturn]] void refuse(const std::string& path, const std::string& why, const char* wanted) {
  throw ConfigError(path + ": " + why + "; save " + wanted + " in C order, as numpy.save does");
}

struct Header {
  std::string type;
  std::string shape;
  std::uint64_t data_at = 0;
};

Header read_header(std::istream& in, const std::string& path, const char* wanted) {
  char prefix[10] = {};
  if (!in.read(prefix, sizeof prefix) || std::string_view{prefix, 6} != "\x93NUMPY") {
    refuse(path, "no .npy file", wanted);
  }
  if (prefix[6] != 1 || prefix[7] != 0) {
    refuse(path, "format version " + std::to_string(prefix[6]) + ", only 1.0 is read", wanted);
  }
  const std::uint32_t length = static_cast<unsigned char>(prefix[8]) |
                               static_cast<std::uint32_t>(static_cast<unsigned char>(prefix[9]))
                                   << 8U;
  if (length > kHeaderMax) {
    refuse(path, "a header of " + std::to_string(length) + " bytes", wanted);
  }
  std::string text(length, '\0');
  if (!in.read(text.data(), length)) {
    refuse(path, "the header is cut off", wanted);
  }
  const auto order = groups_of("'fortran_order':[[:space:]]*(True|False)", text);
  if (order.empty() || order[1] != "False") {
    refuse(path, "the order is not C's", wanted);
  }
  const auto type = groups_of("'descr':[[:space:]]*'([^']{1,16})'", text);
  const auto shape = groups_of("'shape':[[:space:]]*\\(([0-9, ]{0,40})\\)", text);
  return {type.empty() ? "" : type[1], shape.empty() ? "" : shape[1], sizeof prefix + length};
}

struct MatrixHeader {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t data_at = 0;
};

MatrixHeader check_header(std::istream& in, const std::string& path) {
  const Header read = read_header(in, path, kMatrixWanted);
  if (read.type != "<f4") {
    refuse(path, "the elements are not float32", kMatrixWanted);
  }
  const auto two = groups_of("^ *([0-9]{1,9}) *, *([0-9]{1,9}) *,? *$", read.shape);
  if (two.empty()) {
    refuse(path, "the shape is not two-dimensional", kMatrixWanted);
  }
  const MatrixHeader header{std::stoull(two[1]), std::stoull(two[2]), read.data_at};
  if (header.rows == 0 || header.columns == 0 || header.rows > kDimensionMax ||
      header.columns > kDimensionMax || header.rows * header.columns > kElementsMax) {
    refuse(path, "the shape " + two[1] + " x " + two[2] + " is empty or too large", kMatrixWanted);
  }
  return header;
}

// Replaces `path` only once the whole file is written.
void write_whole(const std::string& path, const std::string& bytes) {
  const std::string unfinished = path + ".unfinished";
  {
    std::ofstream out{unfinished, std::ios::binary};
    if (out) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      out.flush();
    }
    if (!out) {
      std::remove(unfinished.c_str());
      throw ConfigError(path + ": cannot be written; choose a folder that exists and has room");
    }
  }
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) {
    std::remove(unfinished.c_str());
    throw ConfigError(path + ": cannot be written: " + error.message());
  }
}

void require_size(const std::string& path, std::uint64_t expected, const char* wanted) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || size != expected) {
    refuse(path,
           "the file has " + std::to_string(size) + " bytes, and its header says " +
               std::to_string(expected),
           wanted);
  }
}

void read_bytes(std::istream& in, const std::string& path, std::span<std::byte> bytes) {
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) {
    throw ConfigError(path + ": cannot be read");
  }
}

// An array in format version 1.0, in C order: `type` as `numpy.dtype.str` says it.
void write_array(const std::string& path,
                 const std::string& type,
                 const std::string& shape,
                 std::span<const std::byte> bytes) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // With the ten bytes before it and the end of its line it fills blocks of 64.
  header.append(64 - (header.size() + 11) % 64, ' ');
  header += '\n';
  std::string all = "\x93NUMPY";
  for (const std::size_t byte :
       {std::size_t{1}, std::size_t{0}, header.size(), header.size() >> 8U}) {
    all += static_cast<char>(byte & 0xFFU);
  }
  all += header;
  all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  write_whole(path, all);
}

}  // namespace

NpyMatrix read_npy(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError(path +
                      ": there is no such file; make one with 'warptwin make-input' or numpy.save");
  }
  std::ifstream in{path, std::ios::binary};
  const MatrixHeader header = check_header(in, path);
  require_size(path, header.data_at + header.rows * header.columns * sizeof(float), kMatrixWanted);
  NpyMatrix matrix{static_cast<std::uint32_t>(header.rows),
                   static_cast<std::uint32_t>(header.columns),
                   std::vector<float>(header.rows * header.columns)};
  read_bytes(in, path, std::as_writable_bytes(std::span{matrix.values}));
  return matrix;
}

void write_npy(const std::string& path, const NpyMatrix& matrix) {
  write_array(path,
              "<f4",
              std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns),
              std::as_bytes(std::span{matrix.values}));
}

namespace {

// What `numpy.dtype.str` says.
std::string numpy_type(ElementType type) {
  const std::string size = std::to_string(bytes_of(type));
  switch (type) {
    case ElementType::kF32:
    case ElementType::kTf32:
    case ElementType::kF16:
    case ElementType::kF64:
      return "<f" + size;
    default:
      return (bytes_of(type) == 1 ? "|" : "<") + std::string{is_signed(type) ? "i" : "u"} + size;
  }
}

}  // namespace

void write_npy_elements(const std::string& path,
                        std::uint32_t rows,
                        std::uint32_t columns,
                        ElementType type,
                        std::span<const std::byte> bytes) {
  const bool known = is_integer(type) || type == ElementType::kF64;
  std::vector<std::byte> elements(std::size_t{rows} * columns * (known ? bytes_of(type) : 1));
  std::memcpy(elements.data(), bytes.data(), std::min(bytes.size(), elements.size()));
  write_array(path,
              known ? numpy_type(type) : "|u1",
              std::to_string(rows) + ", " + std::to_string(columns),
              elements);
}

std::vector<std::byte> read_npy_elements(const std::string& path,
                                         ElementType type,
                                         std::uint32_t rows,
                                         std::uint32_t columns) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError(path + ": there is no such file");
  }
  const std::uint32_t units = columns / elements_in_unit(type);  // of a row
  const std::uint64_t size = std::uint64_t{rows} * units * bytes_of(type);
  const std::string of_type = numpy_type(type);
  const std::string shape = std::to_string(rows) + ", " + std::to_string(units);
  const std::string wanted =
      "'" + of_type + "' of shape (" + shape + "), or " + std::to_string(size) + " bytes of uint8";
  std::ifstream in{path, std::ios::binary};
  const Header header = read_header(in, path, wanted.c_str());
  const bool bytes_alone = header.type == "|u1" && header.shape == std::to_string(size) + ",";
  const bool in_a_row = rows == 1 && header.shape == std::to_string(units) + ",";
  if (!bytes_alone && (header.type != of_type || (header.shape != shape && !in_a_row))) {
    refuse(path, "'" + header.type + "' of shape (" + header.shape + ")", wanted.c_str());
  }
  require_size(path, header.data_at + size, wanted.c_str());
  std::vector<std::byte> bytes(size);
  read_bytes(in, path, bytes);
  return bytes;
}

void write_npy_bytes(const std::string& path, std::span<const std::byte> bytes) {
  write_array(path, "|u1", std::to_string(bytes.size()) + ",", bytes);
}

}  // namespace warptwin::sim
