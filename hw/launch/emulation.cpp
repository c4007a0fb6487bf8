#include "hw/launch/emulation.hpp"

#include <algorithm>

#include "hw/launch/device_scenario.hpp"
#include "hw/launch/error.hpp"

namespace warptwin::hw {

namespace {

std::uint32_t attribute(cudaDeviceAttr what) {
  int device = 0;
  int value = 0;
  require_cuda(cudaGetDevice(&device), "cudaGetDevice", "check the driver");
  require_cuda(
      cudaDeviceGetAttribute(&value, what, device), "cudaDeviceGetAttribute", "check the driver");
  return static_cast<std::uint32_t>(value);
}

// Clusters that begin by themselves: as many as the device has room for, as the simulator counts.
std::uint32_t resident_clusters(const Workload& workload) {
  const std::uint32_t room =
      workload.resident_clusters != 0
          ? workload.resident_clusters
          : attribute(cudaDevAttrMultiProcessorCount) / workload.cluster_size;
  return std::clamp(room, 1U, workload.clusters);
}

}  // namespace

bool device_emulates() {
  constexpr std::uint32_t kBlackwell = 10;
  return attribute(cudaDevAttrComputeCapabilityMajor) < kBlackwell;
}

std::uint32_t emulating_shared_bytes(std::uint32_t bytes, std::uint32_t threads) {
  return align_up(bytes, sizeof(std::uint64_t)) + EmulationMemory::shared_bytes(threads);
}

void write_emulation_control(std::uint32_t* memory,
                             const Workload& workload,
                             std::span<const std::uint32_t> map_places,
                             cudaStream_t stream) {
  std::uint32_t words[EmulationMemory::kResidentClusters + 1] = {};
  const std::size_t places = std::min<std::size_t>(map_places.size(), EmulationMemory::kMapPlaces);
  for (std::size_t place = 0; place < places; ++place) {
    if (map_places[place] != kNoMap) {
      const TensorMapSpec& map = workload.maps[map_places[place]];
      words[EmulationMemory::kBoxBytes + place] =
          map.box_rows * map.box_columns * bytes_of(workload.tensors[map.tensor].element);
    }
  }
  words[EmulationMemory::kResidentClusters] = resident_clusters(workload);
  require_cuda(
      cudaMemcpyAsync(
          memory + EmulationMemory::kCells, words, sizeof words, cudaMemcpyHostToDevice, stream),
      "cudaMemcpyAsync",
      "check the driver");
}

}  // namespace warptwin::hw
