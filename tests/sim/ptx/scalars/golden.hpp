/// What a GPU wrote, in a file: text, packed by gzip. A line is an instruction's key, how many
/// cases, the hash of their inputs, and the results, all but the key in hexadecimal digits. Inputs
/// are not in it: `inputs_of` makes them again.

#pragma once

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

struct GoldenRow {
  std::string key;
  std::uint64_t inputs_hash = 0;
  std::vector<Words> results;  // of each case
};

/// Throws ConfigError where the file cannot be written.
void write_golden(const std::string& path, const std::vector<GoldenRow>& rows);
/// Throws ConfigError where it cannot be read, or is no such file.
std::vector<GoldenRow> read_golden(const std::string& path);

}  // namespace warptwin::ptx::scalars
