// Any text is a trace, which is written and read again as the same, or an error.

#include <sstream>

#include "sim/trace/trace_file.hpp"
#include "tests/fuzz/support.hpp"

namespace {

std::string written(const warptwin::sim::Trace& trace) {
  std::ostringstream out;
  write_trace(trace, out);
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  std::string once;
  try {
    std::istringstream in{std::string{fuzz::text_of(data, size)}};
    once = written(sim::read_trace(in));
  } catch (const sim::TraceError& error) {
    fuzz::require_place(error.what(), "line ", fuzz::text_of(data, size));
    return 0;
  }
  std::istringstream again{once};
  fuzz::require(written(sim::read_trace(again)) == once, "written otherwise", once);
  return 0;
}
