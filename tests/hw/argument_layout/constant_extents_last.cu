// expect: Unresolved extern function 'warptwin_host_and_device_lay_out_the_kernel_argument_diff

#include "common/machine/extent.hpp"

#include "hw/cuda/kernel.cuh"

using namespace warptwin;

struct Extents {
  [[no_unique_address]] Extent<4> rows;
  [[no_unique_address]] Extent<8> columns;
};
struct Problem {
  alignas(64) char map[128];
  std::uint32_t steps;
  [[no_unique_address]] Extents extents;  // has room behind it on the device alone
};

__global__ void kernel(const __grid_constant__ Problem problem, std::uint32_t* to) {
  hw::require_same_layout(problem);
  *to = problem.extents.rows + problem.steps;
}
