// Any text is a launch and a kernel, parted by a line of dashes, that run to an end or to a bound,
// with data and without, or an error. Launches that are large by what they say are not run.

#include "common/kernel/scenario.hpp"

#include "sim/run/ptx_entry.hpp"
#include "sim/run/simulate.hpp"
#include "tests/fuzz/file.hpp"

namespace {

using namespace warptwin;

constexpr std::string_view kParts = "\n----\n";
constexpr std::uint32_t kWarpsMax = 64;
constexpr std::uint64_t kBytesMax = 1 << 20;

bool is_small(const Workload& workload, const sim::Symbols& symbols) {
  std::uint64_t bytes = 0;
  std::uint64_t warps = 0;
  for (const TensorSpec& tensor : workload.tensors) {
    bytes += tensor.bytes();
  }
  for (const auto& row : symbols.roles) {
    warps += std::uint64_t{row.warps} * workload.clusters * workload.cluster_size;
  }
  return warps <= kWarpsMax && bytes <= kBytesMax;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::size_t at = text.find(kParts);
  if (at == std::string_view::npos) {
    return 0;
  }
  const fuzz::File launch{text.substr(0, at)};
  const fuzz::File kernel{text.substr(at + kParts.size())};
  try {
    const sim::ScenarioEntry entry = sim::entry_of_launch_file(kernel.path(), launch.path(), {});
    const ParameterSet parameters{entry.parameters};
    if (!is_small(entry.workload(parameters), entry.symbols(parameters))) {
      return 0;
    }
    sim::RunOptions run;
    run.limits.steps_max = 20'000;
    for (const bool moves_data : {true, false}) {
      run.moves_data = moves_data;
      sim::simulate(entry, parameters, run);
    }
  } catch (const ConfigError& error) {
    fuzz::require(!std::string{error.what()}.empty(), "an error without words", "");
  }
  return 0;
}
