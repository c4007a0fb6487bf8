// Any text is read or refused, and what is read is printed and read again as the same program.
// libFuzzer's entry point: docs/programs.md says how to run it.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/program/text.hpp"

namespace {

using warptwin::ConfigError;
using namespace warptwin::sim;

void require(bool holds, const char* what, const std::string& text) {
  if (!holds) {
    std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
    std::abort();
  }
}

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
