/// Launches a kernel entry: shared memory beyond the standard limit, clusters, errors that say what
/// to do.

#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "hw/launch/error.hpp"

namespace warptwin::hw {

/// The shape of a launch. CTAs and threads are one-dimensional.
struct LaunchShape {
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;  // CTAs
  std::uint32_t threads = 0;       // of a CTA
  std::uint32_t shared_bytes = 0;  // of a CTA, dynamic
  /// CTAs of a cluster that the device may make instead, where it can: see `Workload`. 0: none.
  std::uint32_t fallback_size = 0;
  /// Whether it may begin before the grid before it in the stream has ended, for which the kernel
  /// waits itself (CUDA runtime, "cudaLaunchAttributeProgrammaticStreamSerialization").
  bool begins_early = false;
};

/// Requires that `kernel` takes a first argument of `bytes` bytes, as the host lays it out: nvcc's
/// compilers for host and device do not agree about every [[no_unique_address]], and what lies
/// elsewhere would be read wrong, silently. That they agree about the bytes is no proof. Not for
/// constant extents: one that stands last may have room behind it on the device alone.
///
/// Errors: ConfigError, which says what to change; CudaError.
void require_argument_bytes(const void* kernel, std::size_t bytes);

/// Launches `kernel` with one pointer in `arguments` for each of its parameters.
///
/// Blocks: never. Errors: CudaError for what is wrong with the launch; what goes wrong in the
/// kernel is reported by `synchronize`, or by any later call.
void launch(const void* kernel, const LaunchShape& shape, void** arguments, cudaStream_t stream);

/// Blocks until the stream's work is done. Errors: CudaError when a kernel failed.
void synchronize(cudaStream_t stream);

}  // namespace warptwin::hw
