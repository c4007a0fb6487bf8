/// A few warps with a text of their own, as a scenario: no storage, no pipelines.

#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sim/run/scenario_entry.hpp"

namespace warptwin::tests {

struct SmallKernel {
  std::vector<RoleWarps> roles;
  /// What every warp does; `words` is 4 KiB of global memory that begin as 0.
  std::function<void(sim::SimMachine&, const ParameterSet&, GlobalAddress words)> body;
  std::span<const Parameter> parameters{};
  std::uint32_t cluster_size = 1;
  std::uint32_t clusters = 1;
  /// What is declared about shared memory, of which there are `shared_bytes`.
  std::vector<sim::Region> regions{};
  std::vector<sim::Ring> rings{};
  std::uint32_t shared_bytes = 65536;

  static constexpr std::uint32_t kWordsBytes = 4096;
};

inline sim::ScenarioEntry entry_of(const SmallKernel& kernel) {
  static constexpr ScenarioInfo kInfo{"small_kernel", ScenarioKind::kClean, "a few warps"};
  sim::ScenarioEntry entry{};
  entry.info = &kInfo;
  entry.parameters = kernel.parameters;
  entry.workload = [kernel](const ParameterSet&) {
    Workload workload;
    workload.clusters = kernel.clusters;
    workload.cluster_size = kernel.cluster_size;
    workload.tensors = {{"words",
                         TensorUse::kScratch,
                         ElementType::kF32,
                         1,
                         SmallKernel::kWordsBytes / 4,
                         SmallKernel::kWordsBytes}};
    return workload;
  };
  entry.symbols = [kernel](const ParameterSet&) {
    sim::Symbols symbols;
    symbols.regions = kernel.regions;
    symbols.rings = kernel.rings;
    symbols.roles = kernel.roles;
    symbols.bytes = kernel.shared_bytes;
    return symbols;
  };
  entry.body = [kernel](const ParameterSet& parameters,
                        std::span<const sim::SimTensorMap>,
                        std::span<const GlobalAddress> tensors) -> sim::WarpBody {
    return [body = kernel.body, parameters, words = tensors[0]](sim::SimMachine& machine) {
      body(machine, parameters, words);
    };
  };
  entry.reference = [](const ParameterSet&, std::span<HostTensor>) {};
  return entry;
}

}  // namespace warptwin::tests
