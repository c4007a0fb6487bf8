/// A kernel in PTX on a GPU of this machine, by the CUDA driver. The driver is loaded when it is
/// needed: the command builds and starts without CUDA.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/ptx/machine/launch.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

/// What a tensor map is made of, as the driver's encoders take it: C first, then the dimensions
/// from the innermost on.
struct GpuMap {
  static constexpr std::uint32_t kRankMax = 5;

  std::uint32_t offset = 0;  // of the map among the parameters' bytes
  std::uint32_t buffer = 0;
  int type = 0;  // CUtensorMapDataType
  std::uint32_t rank = 0;
  std::uint64_t extents[kRankMax] = {};
  std::uint64_t strides[kRankMax] = {};  // bytes, of the dimensions but C
  std::uint32_t box[kRankMax] = {};      // of tiles: what a copy traverses
  std::uint32_t steps[kRankMax] = {};
  int swizzle = 0;           // CUtensorMapSwizzle
  std::uint32_t pixels = 0;  // of im2col, with channels in box[0]; 0: of tiles
  int lower[3] = {};
  int upper[3] = {};
};

struct GpuLaunch {
  std::string ptx;     // the text
  std::string target;  // "sm_90a"
  std::string kernel;
  ptx::LaunchShape shape;
  std::vector<std::byte> parameters;          // without addresses and maps
  std::vector<std::uint32_t> begins;          // of each parameter, among their bytes
  std::vector<ptx::ParameterPlace> pointers;  // addresses of buffers
  std::vector<GpuMap> maps;
  std::vector<std::vector<std::byte>> buffers;  // as they begin
};

/// The launch that a file says, with `buffers` as the tensors begin. Throws ConfigError for one
/// that a GPU cannot be given: buffers at addresses of their own, a scenario's.
GpuLaunch gpu_launch_of(const ReadLaunch& read, std::vector<std::vector<std::byte>> buffers);

struct GpuRun {
  enum class End : std::uint8_t {
    kDone,
    kNoGpu,   // there is no GPU that runs it: `said` says why
    kFailed,  // the driver said no, or the kernel failed
    kHung,    // it was killed
  };
  End end = End::kDone;
  std::string said;                             // of kDone the GPU's name
  std::vector<std::vector<std::byte>> buffers;  // of kDone: as they ended
};

/// Runs it on the first GPU, in a process of its own. Blocks until it has ended, or for `limit`.
GpuRun run_on_gpu(const GpuLaunch& launch, std::chrono::milliseconds limit);

}  // namespace warptwin::sim
