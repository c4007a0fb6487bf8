#include "sim/run/npy.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnpy.hpp>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint64_t kDimensionMax = 1U << 20;
constexpr std::uint64_t kElementsMax = 1U << 30;

// Of an array of numbers it has 118 at most; the search in it recurses.
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

// The library reads beyond what a damaged file holds, so the header and the size are checked first.
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
  static const std::regex kDescription{R"('descr':\s*'([^']{1,16})')"};
  static const std::regex kOrder{R"('fortran_order':\s*(True|False))"};
  static const std::regex kShape{R"('shape':\s*\(([0-9, ]{0,40})\))"};
  Header header;
  header.data_at = sizeof prefix + length;
  std::smatch match;
  if (std::regex_search(text, match, kDescription)) {
    header.type = match[1];
  }
  if (!std::regex_search(text, match, kOrder) || match[1] != "False") {
    refuse(path, "the order is not C's", wanted);
  }
  if (std::regex_search(text, match, kShape)) {
    header.shape = match[1];
  }
  return header;
}

struct MatrixHeader {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t data_at = 0;
};

MatrixHeader check_header(std::istream& in, const std::string& path) {
  const Header read = read_header(in, path, kMatrixWanted);
  static const std::regex kTwo{R"(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,?\s*)"};
  std::smatch match;
  if (read.type != "<f4") {
    refuse(path, "the elements are not float32", kMatrixWanted);
  }
  if (!std::regex_match(read.shape, match, kTwo)) {
    refuse(path, "the shape is not two-dimensional", kMatrixWanted);
  }
  const MatrixHeader header{std::stoull(match[1]), std::stoull(match[2]), read.data_at};
  if (header.rows == 0 || header.columns == 0 || header.rows > kDimensionMax ||
      header.columns > kDimensionMax || header.rows * header.columns > kElementsMax) {
    refuse(path,
           "the shape " + match[1].str() + " x " + match[2].str() + " is empty or too large",
           kMatrixWanted);
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
  in.seekg(0);
  NpyMatrix matrix{
      static_cast<std::uint32_t>(header.rows), static_cast<std::uint32_t>(header.columns), {}};
  try {
    const auto array = xt::load_npy<float>(in);
    matrix.values.assign(array.begin(), array.end());
  } catch (const std::exception& damage) {
    refuse(path, "the header is damaged (" + std::string{damage.what()} + ")", kMatrixWanted);
  }
  if (matrix.values.size() != std::size_t{matrix.rows} * matrix.columns) {
    refuse(path, "the header is damaged", kMatrixWanted);
  }
  return matrix;
}

void write_npy(const std::string& path, const NpyMatrix& matrix) {
  const std::vector<std::size_t> shape{matrix.rows, matrix.columns};
  write_whole(path, xt::dump_npy(xt::adapt(matrix.values, shape)));
}

namespace {

template <class T>
void write_matrix_of(const std::string& path,
                     std::uint32_t rows,
                     std::uint32_t columns,
                     std::span<const std::byte> bytes) {
  std::vector<T> values(std::size_t{rows} * columns);
  std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), values.size() * sizeof(T)));
  const std::vector<std::size_t> shape{rows, columns};
  write_whole(path, xt::dump_npy(xt::adapt(values, shape)));
}

}  // namespace

void write_npy_elements(const std::string& path,
                        std::uint32_t rows,
                        std::uint32_t columns,
                        ElementType type,
                        std::span<const std::byte> bytes) {
  switch (type) {
    case ElementType::kI8:
      return write_matrix_of<std::int8_t>(path, rows, columns, bytes);
    case ElementType::kI16:
      return write_matrix_of<std::int16_t>(path, rows, columns, bytes);
    case ElementType::kU16:
      return write_matrix_of<std::uint16_t>(path, rows, columns, bytes);
    case ElementType::kI32:
      return write_matrix_of<std::int32_t>(path, rows, columns, bytes);
    case ElementType::kU32:
      return write_matrix_of<std::uint32_t>(path, rows, columns, bytes);
    case ElementType::kI64:
      return write_matrix_of<std::int64_t>(path, rows, columns, bytes);
    case ElementType::kU64:
      return write_matrix_of<std::uint64_t>(path, rows, columns, bytes);
    case ElementType::kF64:
      return write_matrix_of<double>(path, rows, columns, bytes);
    default:
      return write_matrix_of<std::uint8_t>(path, rows, columns, bytes);
  }
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
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) {
    throw ConfigError(path + ": cannot be read");
  }
  return bytes;
}

void write_npy_bytes(const std::string& path, std::span<const std::byte> bytes) {
  const std::vector<std::size_t> shape{bytes.size()};
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  write_whole(path, xt::dump_npy(xt::adapt(first, bytes.size(), xt::no_ownership(), shape)));
}

}  // namespace warptwin::sim
