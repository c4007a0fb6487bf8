/// The rows of a sweep that is under way, in a file: what is there is not run again.

#pragma once

#include <string>
#include <vector>

#include "sim/sweep/sweep.hpp"

namespace warptwin::sim {

/// A header that says which sweep it is, then a row a line, each written as soon as it is there. A
/// line that was cut off is no row, and is written anew.
class Journal {
 public:
  /// Opens `path`, or makes it. `header` is one line.
  ///
  /// Throws ConfigError for a file that cannot be read or written, that is no journal, that is of
  /// another sweep, or that another process has open.
  Journal(std::string path, const std::string& header, std::size_t columns);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// What was there.
  const std::vector<SweepRow>& rows() const { return rows_; }
  /// Throws ConfigError where it cannot be written.
  void add(const SweepRow& row);
  /// The sweep is whole, and its table is written.
  void remove();

 private:
  void write_line(const std::string& text);

  std::string path_;
  int file_ = -1;
  std::vector<SweepRow> rows_;
};

}  // namespace warptwin::sim
