// Any text is a launch of a kernel, whose workload and symbols can be asked for, or an error. The
// kernel takes what a launch file can give: a buffer, a number, a tensor map, a structure.

#include "common/kernel/scenario.hpp"

#include "sim/run/ptx_entry.hpp"
#include "tests/fuzz/file.hpp"

namespace {

constexpr const char* kKernel = R"(.version 8.7
.target sm_90a
.address_size 64
.global .align 4 .b8 words[16];
.visible .entry kernel(
  .param .u64 pointer,
  .param .f32 number,
  .param .align 64 .b8 map[128],
  .param .align 8 .b8 structure[24]
)
{
  .reg .b32 %r<2>;
  mov.u32 %r1, %tid.x;
  ret;
}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  static const fuzz::File kernel{kKernel};
  const fuzz::File launch{data, size};
  try {
    const sim::ScenarioEntry entry = sim::entry_of_launch_file(kernel.path(), launch.path(), {});
    const ParameterSet parameters{entry.parameters};
    entry.workload(parameters);
    entry.symbols(parameters);
  } catch (const ConfigError& error) {
    fuzz::require(!std::string{error.what()}.empty(), "an error without words", "");
    fuzz::require_place(error.what(), "", fuzz::text_of(data, size));
  }
  return 0;
}
