// expect: Unresolved extern function 'warptwin_host_and_device_lay_out_the_kernel_argument_diff

#include "common/machine/extent.hpp"

#include "hw/cuda/kernel.cuh"

using namespace warptwin;

struct Extents {
  [[no_unique_address]] Extent<kDynamic> rows;
  [[no_unique_address]] Extent<8> columns;  // takes room on the device alone
};
struct Problem {
  [[no_unique_address]] Extents extents;
  alignas(64) char map[128];
};

__global__ void kernel(const __grid_constant__ Problem problem, std::uint32_t* to) {
  hw::require_same_layout(problem);
  *to = problem.extents.rows;
}
