#include "tests/sim/ptx/scalars/batch.hpp"

#include <algorithm>
#include <regex>

namespace warptwin::ptx::scalars {

namespace {

constexpr const char* kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::size_t Batch::kernel_at(std::size_t line) const {
  const auto next = std::upper_bound(first_lines.begin(), first_lines.end(), line);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - first_lines.begin() - 1, 0));
}

Batch batch_of(std::span<const Specimen* const> specimens) {
  Batch batch;
  batch.text = kHeader;
  std::size_t line = 1 + lines_of(batch.text);
  for (std::size_t index = 0; index < specimens.size(); ++index) {
    const std::string kernel = kernel_text(*specimens[index], "k" + std::to_string(index));
    batch.first_lines.push_back(line);
    batch.text += kernel;
    line += lines_of(kernel);
  }
  return batch;
}

std::vector<std::size_t> lines_named(const std::string& log) {
  static const std::regex kLine{"line ([0-9]+)"};
  std::vector<std::size_t> lines;
  for (auto found = std::sregex_iterator{log.begin(), log.end(), kLine};
       found != std::sregex_iterator{};
       ++found) {
    lines.push_back(std::stoul((*found)[1]));
  }
  return lines;
}

}  // namespace warptwin::ptx::scalars
