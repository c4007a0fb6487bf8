/// The rows of a sweep, as files that other programs read and as text.

#pragma once

#include <string>
#include <vector>

#include "sim/sweep/sweep.hpp"
#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

/// All rows of a sweep, by the order of the space.
struct SweepTable {
  const Space& space;
  std::vector<const SweepColumn*> columns;
  std::vector<SweepRow> rows;
  std::uint64_t left_out = 0;  // points that a condition left out

  std::uint64_t count(SweepEnd end) const;
};

/// Of all rows: of one that failed, got stuck or was stopped, and of a verdict in a column.
ExitCode exit_of(const SweepTable& table);

/// A line of names, and a line a row (RFC 4180): the axes, `end`, the columns, `why`. A cell that
/// there is not is empty.
std::string csv_of(const SweepTable& table);
/// An object a line, with the same names.
std::string json_lines_of(const SweepTable& table);
Json json_of(const SweepTable& table, const SweepRow& row);

/// Writes FILE.csv or FILE.jsonl, whole or not at all. Throws ConfigError.
void write_table(const SweepTable& table, const std::string& path);
/// Throws ConfigError for a name that ends in neither.
void check_table_name(const std::string& path);

/// The rows that were run, best first: by column `by`, the least or, of tflops and what is busy,
/// the greatest. Of equals the first of the space.
std::vector<const SweepRow*> ranked(const SweepTable& table, const SweepColumn& by);

/// The best `top` rows, and how many there are of each end.
std::string text_of(const SweepTable& table, const SweepColumn& by, std::size_t top);

}  // namespace warptwin::sim
