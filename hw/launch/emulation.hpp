/// What a launch takes on a GPU that emulates what sm_100a has. Host code.

#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "common/kernel/scenario.hpp"

#include "hw/cuda/emulation_memory.hpp"

namespace warptwin::hw {

/// Whether the current device emulates. Errors: CudaError.
bool device_emulates();

/// Bytes of dynamic shared memory of a CTA whose storage has `bytes`.
std::uint32_t emulating_shared_bytes(std::uint32_t bytes, std::uint32_t threads);

/// Writes the control words of a launch of `workload` to `memory`, which is zero. `map_places`:
/// which map stands where in the kernel's argument, see `places_of`.
///
/// Blocks: never. Errors: CudaError.
void write_emulation_control(std::uint32_t* memory,
                             const Workload& workload,
                             std::span<const std::uint32_t> map_places,
                             cudaStream_t stream);

}  // namespace warptwin::hw
