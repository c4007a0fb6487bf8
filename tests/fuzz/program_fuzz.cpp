// Any text is read or refused, and what is read is printed and read again as the same program.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/program/text.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using warptwin::ConfigError;
using warptwin::fuzz::require;
using namespace warptwin::sim;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::string printed;
  try {
    printed = text_of(parse_program(text, "fuzz"));
  } catch (const ConfigError& error) {
    require(std::string_view{error.what()}.starts_with("fuzz"),
            "an error without its file",
            error.what());
    return 0;
  }
  try {
    require(text_of(parse_program(printed, "printed")) == printed, "printed otherwise", printed);
  } catch (const ConfigError& error) {
    require(false, error.what(), printed);
  }
  return 0;
}
