/// A scenario compiled for CUDA: its values, and a function that launches it. Host code.

#pragma once

#include <span>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "common/kernel/scenario.hpp"

#include "hw/record/record.hpp"

namespace warptwin::hw {

/// What a launch takes beside the parameters.
struct DeviceArguments {
  std::span<const CUtensorMap> maps;
  std::span<const GlobalAddress> tensors;
  std::uint32_t* emulation_memory = nullptr;  // EmulationMemory's words for each CTA, zero
  Observation observation{};
  cudaStream_t stream = nullptr;
  /// Receives, for each place in the kernel's argument, which map stands there; see RecordedEvent.
  std::vector<std::uint32_t>* map_places = nullptr;
};

/// What `map_places` holds where no map stands.
inline constexpr std::uint32_t kNoMap = ~0U;

/// Which map stands where in the `bytes` bytes of a kernel's argument.
std::vector<std::uint32_t> places_of(std::span<const CUtensorMap> maps,
                                     const void* argument,
                                     std::size_t bytes);

struct DeviceScenario {
  const ScenarioInfo* info = nullptr;
  std::span<const Parameter> parameters;
  Watch watch = Watch::kNothing;
  std::uint32_t (*warps)(const ParameterSet&) = nullptr;  // of a CTA
  Workload (*workload)(const ParameterSet&) = nullptr;
  void (*reference)(const ParameterSet&, std::span<HostTensor>) = nullptr;
  /// By how much of the largest result the device's own sums may be off; 0: as fp32 sums are.
  double sum_share = 0;
  /// Launches. Blocks: never. Errors: CudaError.
  void (*launch)(const ParameterSet&, const DeviceArguments&) = nullptr;
};

/// Every scenario of this command, in the order of its list.
std::vector<DeviceScenario> device_scenario_list();

}  // namespace warptwin::hw
