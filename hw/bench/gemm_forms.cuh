/// The forms of `gemm_wgmma` that programs which take a list are compiled for, and their launches.

#pragma once

#include <cstdint>
#include <vector>

#include "hw/bench/gemm_list.hpp"
#include "hw/bench/gemm_loads.cuh"
#include "hw/bench/gemm_run.cuh"

namespace warptwin::hw::bench {

#ifdef __CUDACC__

using LaunchOne = void (*)(const Matrices&, const Configuration&);

struct GemmForm {
  std::uint32_t tile_m, tile_n, cluster_m, in_flight;
  LaunchOne launch;
};

template <template <Machine, class> class Kernel,
          std::uint32_t kTileM,
          std::uint32_t kTileN,
          std::uint32_t kCluster,
          std::uint32_t kFlight>
void add_form(std::vector<GemmForm>& forms) {
  if constexpr (is_compiled(kTileM, kTileN)) {
    using Extents = RingExtents<kTileM, kTileN, kCluster, kFlight>;
    forms.push_back(
        {kTileM, kTileN, kCluster, kFlight, [](const Matrices& x, const Configuration& c) {
           launch_scenario<Kernel<CudaMachine, Extents>>(x, Extents{{c.stages}}, c.ctas, c.swizzle);
         }});
  }
}

/// Of a kernel like GemmWgmmaKernel. A list is drawn from them in this order.
template <template <Machine, class> class Kernel>
const std::vector<GemmForm>& forms_of() {
  static const std::vector<GemmForm> all = [] {
    std::vector<GemmForm> forms;
    add_form<Kernel, 64, 128, 1, 1>(forms);
    add_form<Kernel, 64, 128, 2, 1>(forms);
    add_form<Kernel, 128, 64, 1, 1>(forms);
    add_form<Kernel, 128, 64, 2, 1>(forms);
    add_form<Kernel, 128, 128, 1, 0>(forms);
    add_form<Kernel, 128, 128, 1, 1>(forms);
    add_form<Kernel, 128, 128, 2, 1>(forms);
    add_form<Kernel, 128, 256, 1, 0>(forms);
    add_form<Kernel, 128, 256, 1, 1>(forms);
    add_form<Kernel, 128, 256, 2, 1>(forms);
    return forms;
  }();
  return all;
}

/// Null: no form is the configuration's.
template <template <Machine, class> class Kernel>
LaunchOne launch_of(const Configuration& c) {
  for (const GemmForm& form : forms_of<Kernel>()) {
    if (form.tile_m == c.tile_m && form.tile_n == c.tile_n && form.cluster_m == c.cluster_m &&
        form.in_flight == c.in_flight) {
      return form.launch;
    }
  }
  return nullptr;
}

/// Those of the file `list`, as read_list.
template <template <Machine, class> class Kernel>
std::vector<Configuration> read_list_for(const char* list) {
  return read_list(list, [](const Configuration& c) { return launch_of<Kernel>(c) != nullptr; });
}

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
