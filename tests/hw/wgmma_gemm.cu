// The GEMM of hw/bench, for the census: it is measured by hand, and must not rot between.

#include "hw/bench/wgmma_gemm.hpp"
#include "hw/cuda/kernel.cuh"

namespace warptwin::hw {

using Gemm = bench::WgmmaGemmKernel<CudaMachine, bench::WgmmaShape<128, 256, 64, 4>>;

template __global__ void kernel_entry<Gemm>(const __grid_constant__ typename Gemm::Problem,
                                            std::uint32_t*);

}  // namespace warptwin::hw
