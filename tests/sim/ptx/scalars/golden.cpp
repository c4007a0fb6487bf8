#include "tests/sim/ptx/scalars/golden.hpp"

#include <sstream>
#include <zlib.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::ptx::scalars {

namespace {

constexpr std::size_t kChunk = 1 << 16;

std::string unpacked(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw ConfigError(path + " cannot be opened");
  }
  std::string text;
  std::string chunk(kChunk, '\0');
  int size = 0;
  while ((size = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(size));
  }
  gzclose(file);
  if (size < 0) {
    throw ConfigError(path + " is damaged: it cannot be unpacked");
  }
  return text;
}

GoldenRow row_of(const std::string& line, const std::string& path) {
  std::istringstream in{line};
  GoldenRow row;
  std::size_t count = 0;
  in >> row.key >> std::hex >> count >> row.inputs_hash;
  Words words;
  for (std::uint64_t word = 0; in >> word;) {
    words.push_back(word);
  }
  if (!in.eof() || count == 0 || words.empty() || words.size() % count != 0) {
    throw ConfigError(path + ": the line of '" + row.key +
                      "' is damaged; make the file again with warptwin-ptx-scalars --golden");
  }
  const std::size_t results = words.size() / count;
  for (std::size_t begin = 0; begin < words.size(); begin += results) {
    row.results.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(begin),
                             words.begin() + static_cast<std::ptrdiff_t>(begin + results));
  }
  return row;
}

}  // namespace

void write_golden(const std::string& path, const std::vector<GoldenRow>& rows) {
  std::ostringstream out;
  out << std::hex;
  for (const GoldenRow& row : rows) {
    out << row.key << " " << row.results.size() << " " << row.inputs_hash;
    for (const Words& words : row.results) {
      for (const std::uint64_t word : words) {
        out << " " << word;
      }
    }
    out << "\n";
  }
  const std::string text = out.str();
  const gzFile file = gzopen(path.c_str(), "wb9");
  const bool written =
      file != nullptr && gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
                             static_cast<int>(text.size());
  if ((file != nullptr && gzclose(file) != Z_OK) || !written) {
    throw ConfigError(path + " cannot be written; give a file in a folder that there is");
  }
}

std::vector<GoldenRow> read_golden(const std::string& path) {
  std::istringstream in{unpacked(path)};
  std::vector<GoldenRow> rows;
  for (std::string line; std::getline(in, line);) {
    rows.push_back(row_of(line, path));
  }
  if (rows.empty()) {
    throw ConfigError(path + " is empty");
  }
  return rows;
}

}  // namespace warptwin::ptx::scalars
