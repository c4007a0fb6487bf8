// Any text is a chip whose constants are in their ranges, or an error with its place.

#include "sim/timed/chip.hpp"
#include "tests/fuzz/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  try {
    const sim::Chip chip = sim::parse_chip(fuzz::text_of(data, size), "fuzz");
    for (const sim::ChipField& field : sim::chip_fields()) {
      const double value = chip.*field.member;
      fuzz::require(value >= field.least && value <= field.most, "out of its range", field.key);
    }
  } catch (const sim::ChipError& error) {
    fuzz::require_place(error.what(), "fuzz:", fuzz::text_of(data, size));
  }
  return 0;
}
