// Any text is a file of measured rows, of which each can be judged or says why not, or an error.

#include "common/kernel/scenario.hpp"

#include "sim/run/time/measured_rows.hpp"
#include "tests/fuzz/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  try {
    const std::string text{fuzz::text_of(data, size)};
    for (const sim::MeasuredRow& row : sim::parse_measured_rows(text, "fuzz")) {
      fuzz::require(row.scenario.empty() != row.reason.empty(), "a row of no kind", row.name);
    }
  } catch (const ConfigError& error) {
    fuzz::require_place(error.what(), "fuzz:", fuzz::text_of(data, size));
  }
  return 0;
}
