// Scenarios on the observed machine with everything switched off: the kernel must be made of the
// statements of the production machine's.

#include "hw/cuda/kernel.cuh"
#include "scenarios/gemm.hpp"

namespace warptwin::hw {

using Unobserved =
    scenarios::Gemm::Kernel<ObservedMachine<Watch::kNothing>, scenarios::Gemm::StaticExtents>;

template __global__ void observed_entry<Unobserved, ObservedMachine<Watch::kNothing>>(
    const __grid_constant__ typename Unobserved::Problem,
    std::uint32_t*,
    const __grid_constant__ Observation);

}  // namespace warptwin::hw
