// Arguments that host and device lay out alike: dynamic extents, constant ones before something, a
// constant that takes room beside a dynamic one.

#include "common/machine/extent.hpp"

#include "hw/cuda/kernel.cuh"

using namespace warptwin;

struct Dynamic {
  [[no_unique_address]] Extent<kDynamic> rows;
  [[no_unique_address]] Extent<kDynamic> columns;
};
struct Constant {
  [[no_unique_address]] Extent<4> rows;
  [[no_unique_address]] Extent<8> columns;
};
struct WithRoom {
  Extent<kDynamic> rows;
  Extent<8> columns;
};

struct Rooms {
  [[no_unique_address]] Extent<4> rows;
  [[no_unique_address]] Extent<4> others;
  Extent<0> columns;
};
// Its constants take two bytes on the host, and three on the device; no value lies elsewhere.
struct ConstantWithRoom : Rooms {
  [[no_unique_address]] Extent<8> depth;
};

template <class Extents>
struct Problem {
  alignas(64) char map[128];
  [[no_unique_address]] Extents extents;
  std::uint32_t steps;
};

template <class Extents>
__global__ void kernel(const __grid_constant__ Problem<Extents> problem, std::uint32_t* to) {
  hw::require_same_layout(problem);
  *to = problem.extents.rows + problem.steps;
}

template __global__ void kernel<Dynamic>(const __grid_constant__ Problem<Dynamic>, std::uint32_t*);
template __global__ void kernel<Constant>(const __grid_constant__ Problem<Constant>,
                                          std::uint32_t*);
template __global__ void kernel<WithRoom>(const __grid_constant__ Problem<WithRoom>,
                                          std::uint32_t*);
template __global__ void kernel<ConstantWithRoom>(const __grid_constant__ Problem<ConstantWithRoom>,
                                                  std::uint32_t*);
