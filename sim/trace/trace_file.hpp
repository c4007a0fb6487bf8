/// Traces in files: a line of JSON for the launch, one for each operation, one that ends it.

#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// A file that is no trace. The message names the line, and says what is wrong with it.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void write_trace(const Trace& trace, std::ostream& out);

/// Throws TraceError for anything that `write_trace` did not write, a missing end too.
Trace read_trace(std::istream& in);

/// Both throw TraceError, which names the file.
void write_trace_file(const Trace& trace, const std::string& path);
Trace read_trace_file(const std::string& path);

}  // namespace warptwin::sim
