// Any text is a file of suppressions, which is asked of findings, or an error with its line.

#include "common/kernel/scenario.hpp"
#include "common/report/catalogue.hpp"

#include "sim/run/suppressions.hpp"
#include "tests/fuzz/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  try {
    sim::Suppressions rows{fuzz::text_of(data, size), "fuzz", {"gemm", "ring"}};
    sim::Finding finding{};
    finding.object = {sim::ObjectKind::kMbarrier, "input.full[2]", 0};
    for (const DiagnosticInfo& info : catalogue()) {
      finding.info = &info;
      rows.accepts("gemm", finding, "scenarios/gemm.hpp:12");
    }
    rows.accepts_protocol("ring", "nobody can go on", "kernels/ring.hpp:7");
  } catch (const ConfigError& error) {
    fuzz::require_place(error.what(), "fuzz:", fuzz::text_of(data, size));
  }
  return 0;
}
