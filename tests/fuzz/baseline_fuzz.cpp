// Any text is a baseline, whose text is read again as the same, or an error with its place.

#include "common/kernel/scenario.hpp"

#include "sim/report/baseline.hpp"
#include "tests/fuzz/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  std::string again;
  try {
    again = sim::Baseline{std::string{fuzz::text_of(data, size)}, "fuzz"}.text();
  } catch (const ConfigError& error) {
    fuzz::require_place(error.what(), "fuzz", fuzz::text_of(data, size));
    return 0;
  }
  fuzz::require(sim::Baseline(again, "again").text() == again, "written otherwise", again);
  return 0;
}
