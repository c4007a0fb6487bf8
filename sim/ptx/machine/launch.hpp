/// What a launch of a PTX kernel gives it: the shape of the grid, and its parameters as bytes.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/kernel/scenario.hpp"

namespace warptwin::ptx {

/// What a run that moves no data cannot go on without.
class DependsOnData : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

using Extent3 = std::array<std::uint32_t, 3>;

constexpr std::uint32_t volume(const Extent3& extent) {
  return extent[0] * extent[1] * extent[2];
}

/// A place among the parameter's bytes, and what the launch puts there.
struct ParameterPlace {
  std::uint32_t offset = 0;
  std::uint32_t index = 0;  // of a tensor map, or a buffer
  std::uint64_t added = 0;  // of a buffer: bytes behind its first
};

struct LaunchShape {
  Extent3 grid{1, 1, 1};     // CTAs
  Extent3 block{1, 1, 1};    // threads of a CTA
  Extent3 cluster{1, 1, 1};  // CTAs of a cluster
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;       // all CTAs are on the machine at a time
  bool explicit_cluster = false;  // the launch says the cluster, be it of one CTA

  std::uint32_t threads() const { return volume(block); }
  std::uint32_t warps() const { return (threads() + 31) / 32; }
  std::uint32_t cluster_size() const { return volume(cluster); }
  std::uint32_t clusters() const { return volume(grid) / cluster_size(); }
};

/// The parameters of a kernel, side by side as PTX aligns them.
struct Parameters {
  std::vector<std::byte> bytes;
  std::vector<ParameterPlace> maps;      // 128 bytes each
  std::vector<ParameterPlace> pointers;  // 8 bytes each
};

/// Bytes of a tensor map.
inline constexpr std::uint32_t kTensorMapBytes = 128;

}  // namespace warptwin::ptx
