#include "sim/run/npy.hpp"

#include <cstdio>
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

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ConfigError(path + ": " + why +
                    "; save a 2-D float32 array in C order, as numpy.save does");
}

struct Header {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t data_at = 0;
};

// The library reads beyond what a damaged file holds, so the header and the size are checked first.
Header check_header(std::istream& in, const std::string& path) {
  char prefix[10] = {};
  if (!in.read(prefix, sizeof prefix) || std::string_view{prefix, 6} != "\x93NUMPY") {
    refuse(path, "no .npy file");
  }
  if (prefix[6] != 1 || prefix[7] != 0) {
    refuse(path, "format version " + std::to_string(prefix[6]) + ", only 1.0 is read");
  }
  const std::uint32_t length = static_cast<unsigned char>(prefix[8]) |
                               static_cast<std::uint32_t>(static_cast<unsigned char>(prefix[9]))
                                   << 8U;
  std::string text(length, '\0');
  if (!in.read(text.data(), length)) {
    refuse(path, "the header is cut off");
  }
  static const std::regex kDescription{R"('descr':\s*'([^']{1,16})')"};
  static const std::regex kOrder{R"('fortran_order':\s*(True|False))"};
  static const std::regex kShape{R"('shape':\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,?\s*\))"};
  std::smatch match;
  if (!std::regex_search(text, match, kDescription) || match[1] != "<f4") {
    refuse(path, "the elements are not float32");
  }
  if (!std::regex_search(text, match, kOrder) || match[1] != "False") {
    refuse(path, "the order is not C's");
  }
  if (!std::regex_search(text, match, kShape)) {
    refuse(path, "the shape is not two-dimensional");
  }
  const Header header{std::stoull(match[1]), std::stoull(match[2]), sizeof prefix + length};
  if (header.rows == 0 || header.columns == 0 || header.rows > kDimensionMax ||
      header.columns > kDimensionMax || header.rows * header.columns > kElementsMax) {
    refuse(path, "the shape " + match[1].str() + " x " + match[2].str() + " is empty or too large");
  }
  return header;
}

}  // namespace

NpyMatrix read_npy(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError(path +
                      ": there is no such file; make one with 'warptwin make-input' or numpy.save");
  }
  std::ifstream in{path, std::ios::binary};
  const Header header = check_header(in, path);
  const std::uint64_t expected = header.data_at + header.rows * header.columns * sizeof(float);
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || size != expected) {
    refuse(path,
           "the file has " + std::to_string(size) + " bytes, and its header says " +
               std::to_string(expected));
  }
  in.seekg(0);
  NpyMatrix matrix{
      static_cast<std::uint32_t>(header.rows), static_cast<std::uint32_t>(header.columns), {}};
  try {
    const auto array = xt::load_npy<float>(in);
    matrix.values.assign(array.begin(), array.end());
  } catch (const std::exception& damage) {
    refuse(path, "the header is damaged (" + std::string{damage.what()} + ")");
  }
  if (matrix.values.size() != std::size_t{matrix.rows} * matrix.columns) {
    refuse(path, "the header is damaged");
  }
  return matrix;
}

void write_npy(const std::string& path, const NpyMatrix& matrix) {
  const std::string unfinished = path + ".unfinished";
  {
    std::ofstream out{unfinished, std::ios::binary};
    const std::vector<std::size_t> shape{matrix.rows, matrix.columns};
    if (out) {
      const std::string bytes = xt::dump_npy(xt::adapt(matrix.values, shape));
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

}  // namespace warptwin::sim
