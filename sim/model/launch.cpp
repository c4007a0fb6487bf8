#include "sim/model/launch.hpp"

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

std::uint32_t Launch::warps_per_cta() const {
  std::uint32_t warps = 0;
  for (const RoleWarps& row : symbols.roles) {
    warps += row.warps;
  }
  return warps;
}

std::uint32_t Launch::threads_per_cta() const {
  return warps_per_cta() * kWarpLanes;
}

LaunchConfig Launch::config() const {
  LaunchConfig config;
  config.clusters = config.resident_clusters = workload.clusters;
  config.cluster_size = workload.cluster_size;
  config.fallback_size = workload.fallback_size;
  config.falls_back = workload.falls_back;
  config.warps_per_cta = warps_per_cta();
  config.shared_bytes = kSharedBase + symbols.bytes;
  config.registers_per_thread = workload.registers_per_thread == 0 && registers != 0
                                    ? registers
                                    : registers_at_start(workload);
  config.has_dependents = workload.has_dependents;
  config.tmem_from_top = tmem_from_top;
  return config;
}

std::uint32_t registers_at_start(const Workload& workload) {
  return workload.registers_per_thread == 0 ? kRegistersNotSaid : workload.registers_per_thread;
}

}  // namespace warptwin::sim
