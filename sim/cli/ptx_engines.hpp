/// `warptwin ptx run FILE --launch L.json --on functional,hw`: one launch in the simulator and on a
/// GPU, which begin with the same memory; what each leaves is compared.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/results.hpp"
#include "sim/cli/gpu_launch.hpp"
#include "sim/report/json.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

/// What two engines left in a buffer.
struct MemoryComparison {
  std::string buffer;
  std::uint64_t elements = 0;
  std::uint64_t different = 0;  // by their bits
  std::uint32_t row = 0;        // of the first of them
  std::uint32_t column = 0;
  std::string simulated;  // what is there
  std::string on_gpu;
  /// Of floats that may be rounded otherwise, where any differ: by how much.
  std::optional<Comparison> error;

  bool agrees() const { return different == 0 || (error && error->agrees()); }
};

/// How a GPU may come to other bits than the simulator.
enum class Rounding : std::uint8_t {
  kSame,       // it may not
  kOther,      // it sums in tensor cores, in an order of its own, or approximates
  kFewerBits,  // it sums 8-bit floats by wgmma: of a sum an H100 keeps some 14 bits
};

/// Row by row, by bits. Where rounding may be another, floats may be off by `tolerance`; without
/// one by twice what rounding explains of one run, and with kFewerBits by 2^-9 of the largest
/// element besides. Both have the bytes of the tensor.
MemoryComparison compare_memory(const TensorSpec& spec,
                                const std::vector<std::byte>& simulated,
                                const std::vector<std::byte>& on_gpu,
                                Rounding rounding,
                                const std::optional<Tolerance>& tolerance);

struct PtxEnginesResult {
  RunResult functional;
  std::optional<GpuRun> gpu;  // none: the functional run did not come to its end
  std::vector<MemoryComparison> buffers;

  bool agrees() const;
};

/// Runs `scenario`, the entry of `read`, on both. A GPU that is not there is left out. Throws
/// ConfigError for a launch that a GPU cannot be given.
PtxEnginesResult run_ptx_on_engines(const ReadLaunch& read,
                                    const ScenarioEntry& scenario,
                                    const RunOptions& options);

std::string text_of(const PtxEnginesResult& result);
Json json_of(const PtxEnginesResult& result);

}  // namespace warptwin::sim
