/// Compiles a scenario for CUDA.

#pragma once

#include "common/kernel/config_checks.hpp"

#include "hw/cuda/kernel.cuh"
#include "hw/launch/device_scenario.hpp"
#include "hw/launch/emulation.hpp"
#include "hw/launch/launch.hpp"
#include "hw/ptx/wgmma.hpp"

namespace warptwin::hw {

/// The shape of a launch on the current device, with clusters of one size, once what it emulates is
/// prepared. `problem`: the kernel's argument.
template <class Kernel>
LaunchShape prepared_shape(const Workload& workload,
                           const auto& extents,
                           const typename Kernel::Problem& problem,
                           const DeviceArguments& arguments) {
  LaunchShape shape{workload.clusters,
                    workload.cluster_size,
                    warps_of<Kernel>(problem) * kWarpLanes,
                    shared_bytes<typename Kernel::Storage>(extents)};
  if (!workload.falls_back.empty()) {
    throw ConfigError(
        "which clusters have the fallback size is the device's choice; choose that "
        "all have one");
  }
  if (device_emulates()) {
    write_emulation_control(arguments.emulation_memory,
                            workload,
                            places_of(arguments.maps, &problem, sizeof problem),
                            arguments.stream);
    if (workload.cluster_size > 1) {
      shape.shared_bytes = emulating_shared_bytes(shape.shared_bytes, shape.threads);
    }
  }
  return shape;
}

template <class Scenario>
DeviceScenario described(Watch watch) {
  DeviceScenario scenario;
  scenario.info = &Scenario::kInfo;
  scenario.parameters = Scenario::parameters();
  scenario.watch = watch;
  scenario.workload = &Scenario::workload;
  scenario.reference = &Scenario::reference;
  if constexpr (requires { Scenario::kSumShare; }) {
    scenario.sum_share = Scenario::kSumShare;
  }
  return scenario;
}

/// Extents of a kernel of wgmma, whose columns a launch chooses.
template <class Extents>
concept ChoosesWgmmaColumns = requires(const Extents& extents) {
  extents.in_flight;
  requires !decltype(extents.tile_n)::kIsStatic;
};

/// Launches the kernel of `Scenario` over `M`, an `ObservedMachine`.
template <class Scenario, class M>
void launch_observed(const ParameterSet& parameters, const DeviceArguments& arguments) {
  const auto extents = Scenario::extents(parameters);
  if constexpr (ChoosesWgmmaColumns<std::remove_const_t<decltype(extents)>>) {
    require(ptx::has_wide_wgmma(extents.tile_n),
            "tile_n=" + std::to_string(extents.tile_n) +
                ": a kernel whose tile is chosen when it is launched has no wgmma of so many "
                "columns; use 16, or a multiple of 32 up to 256");
  }
  using Kernel = typename Scenario::template Kernel<M, std::remove_const_t<decltype(extents)>>;
  auto problem = Kernel::problem(parameters, extents, arguments.maps, arguments.tensors);
  std::uint32_t* memory = arguments.emulation_memory;
  Observation observation = arguments.observation;
  if (arguments.map_places != nullptr) {
    *arguments.map_places = places_of(arguments.maps, &problem, sizeof problem);
  }
  void* pointers[] = {&problem, &memory, &observation};
  const auto* const kernel = reinterpret_cast<const void*>(&observed_entry<Kernel, M>);
  require_argument_bytes(kernel, sizeof problem);
  launch(kernel,
         prepared_shape<Kernel>(Scenario::workload(parameters), extents, problem, arguments),
         pointers,
         arguments.stream);
}

/// Extents whose cta_group a launch chooses.
template <class Extents>
concept ChoosesCtaGroup = requires(const Extents& extents) {
  requires !decltype(extents.cta_group)::kIsStatic;
};

/// For observation, with extents that are known when the kernel is launched: for any parameters.
template <class Scenario, Watch kWatch = Watch::kAll>
DeviceScenario instantiate_observed() {
  using Extents = decltype(Scenario::extents(std::declval<const ParameterSet&>()));
  DeviceScenario scenario = described<Scenario>(kWatch);
  scenario.warps = [](const ParameterSet& parameters) {
    using Kernel = typename Scenario::template Kernel<ObservedMachine<kWatch>, Extents>;
    return roles_of<Kernel>(Scenario::extents(parameters)).warps();
  };
  scenario.launch = [](const ParameterSet& parameters, const DeviceArguments& arguments) {
    if constexpr (ChoosesCtaGroup<Extents>) {
      using One = ObservedMachine<kWatch, CtaGroup::kOne>;
      using Two = ObservedMachine<kWatch, CtaGroup::kTwo>;
      const bool pairs = Scenario::extents(parameters).cta_group == 2;
      (pairs ? launch_observed<Scenario, Two> : launch_observed<Scenario, One>)(parameters,
                                                                                arguments);
    } else {
      launch_observed<Scenario, ObservedMachine<kWatch>>(parameters, arguments);
    }
  };
  return scenario;
}

/// For production: constant extents, nothing observed.
template <class Scenario>
DeviceScenario instantiate_plain() {
  using Extents = typename Scenario::StaticExtents;
  using Kernel = typename Scenario::template Kernel<CudaMachine, Extents>;
  DeviceScenario scenario = described<Scenario>(Watch::kNothing);
  scenario.warps = [](const ParameterSet&) { return roles_of<Kernel>(Extents{}).warps(); };
  scenario.launch = [](const ParameterSet& parameters, const DeviceArguments& arguments) {
    const Extents extents{};
    auto problem = Kernel::problem(parameters, extents, arguments.maps, arguments.tensors);
    std::uint32_t* memory = arguments.emulation_memory;
    void* pointers[] = {&problem, &memory};
    const auto* const kernel = reinterpret_cast<const void*>(&kernel_entry<Kernel>);
    require_argument_bytes(kernel, sizeof problem);
    const Workload workload = Scenario::workload(parameters);
    LaunchShape shape = prepared_shape<Kernel>(workload, extents, problem, arguments);
    shape.fallback_size = workload.fallback_size;
    launch(kernel, shape, pointers, arguments.stream);
  };
  return scenario;
}

}  // namespace warptwin::hw
