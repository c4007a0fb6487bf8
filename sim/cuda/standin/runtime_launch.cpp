// The runtime's stand-in: launches, attributes of kernels, occupancy.

#include <algorithm>

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

namespace {

DriverLaunchConfig driver_config(const RuntimeLaunchConfig& config) {
  return {{config.grid.x, config.grid.y, config.grid.z},
          {config.block.x, config.block.y, config.block.z},
          static_cast<unsigned>(config.shared_bytes),
          config.stream,
          config.attributes,
          config.attribute_count};
}

// The most threads of a block with which an SM holds the most threads.
cudaError_t best_block(
    CUkernel kernel, std::size_t shared_bytes, int limit, int* grid, int* block) {
  int most = 0;
  int sms = 0;
  cuFuncGetAttribute(&most, 0, kernel);
  cuDeviceGetAttribute(&sms, 16, 0);
  most = limit > 0 ? std::min(most, limit) : most;
  int best = 0;
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    int blocks = 0;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes);
    if (blocks * threads > best) {
      best = blocks * threads;
      *block = threads;
      *grid = blocks * sms;
    }
  }
  return best > 0 ? kSuccess : kInvalidValue;
}

}  // namespace

cudaError_t launch_kernel(CUkernel kernel, const RuntimeLaunchConfig& config, void** parameters) {
  const DriverLaunchConfig driver = driver_config(config);
  return cuLaunchKernelEx(&driver, kernel, parameters, nullptr);
}

extern "C" {

WARPTWIN_CALL cudaError_t cudaLaunchKernel(const void* host,
                                           Dim3 grid,
                                           Dim3 block,
                                           void** parameters,
                                           std::size_t shared,
                                           CUstream stream) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess
                  ? error
                  : launch_kernel(kernel, {grid, block, shared, stream, nullptr, 0}, parameters));
}

WARPTWIN_CALL cudaError_t cudaLaunchKernelExC(const RuntimeLaunchConfig* config,
                                              const void* host,
                                              void** parameters) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess ? error : launch_kernel(kernel, *config, parameters));
}

WARPTWIN_CALL cudaError_t cudaLaunchCooperativeKernel(const void* host,
                                                      Dim3 grid,
                                                      Dim3 block,
                                                      void** parameters,
                                                      std::size_t shared,
                                                      CUstream stream) {
  LaunchAttribute attribute{};
  attribute.id = kAttributeCooperative;
  attribute.number = 1;
  const RuntimeLaunchConfig config{grid, block, shared, stream, &attribute, 1};
  return cudaLaunchKernelExC(&config, host, parameters);
}

WARPTWIN_CALL cudaError_t cudaLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return told(cuLaunchHostFunc(stream, function, data));
}

WARPTWIN_CALL cudaError_t cudaFuncGetName(const char** name, const void* host) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess ? error : cuKernelGetName(name, kernel));
}

WARPTWIN_CALL cudaError_t cudaFuncGetParamInfo(const void* host,
                                               std::size_t index,
                                               std::size_t* offset,
                                               std::size_t* bytes) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess ? error : cuKernelGetParamInfo(kernel, index, offset, bytes));
}

WARPTWIN_CALL cudaError_t cudaFuncGetAttributes(FunctionAttributes* all, const void* host) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  if (error != kSuccess) {
    return told(error);
  }
  const auto get = [&](int number) {
    int value = 0;
    cuFuncGetAttribute(&value, number, kernel);
    return value;
  };
  *all = {};
  all->threads_max = get(0);
  all->shared_bytes = static_cast<std::size_t>(get(1));
  all->constant_bytes = static_cast<std::size_t>(get(2));
  all->local_bytes = static_cast<std::size_t>(get(3));
  all->registers = get(4);
  all->ptx_version = get(5);
  all->binary_version = get(6);
  all->dynamic_shared_max = get(8);
  all->carveout = get(9);
  all->cluster_must_be_set = get(10);
  all->cluster_width = get(11);
  all->cluster_height = get(12);
  all->cluster_depth = get(13);
  all->non_portable_cluster = get(14);
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaFuncSetAttribute(const void* host, int number, int value) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess ? error : cuFuncSetAttribute(kernel, number, value));
}

WARPTWIN_CALL cudaError_t cudaFuncSetCacheConfig(const void*, int) {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                        const void* host,
                                                                        int threads,
                                                                        std::size_t shared_bytes) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess ? error
                                : cuOccupancyMaxActiveBlocksPerMultiprocessor(
                                      blocks, kernel, threads, shared_bytes));
}

WARPTWIN_CALL cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host, int threads, std::size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, shared_bytes);
}

WARPTWIN_CALL cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int* grid, int* block, const void* host, std::size_t shared_bytes, int limit) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess ? error : best_block(kernel, shared_bytes, limit, grid, block));
}

WARPTWIN_CALL cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                    const void* host,
                                                                    int blocks,
                                                                    int threads) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  return told(error != kSuccess
                  ? error
                  : cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, threads));
}

WARPTWIN_CALL cudaError_t cudaOccupancyMaxActiveClusters(int* clusters,
                                                         const void* host,
                                                         const RuntimeLaunchConfig* config) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  const DriverLaunchConfig driver = driver_config(*config);
  return told(error != kSuccess ? error : cuOccupancyMaxActiveClusters(clusters, kernel, &driver));
}

WARPTWIN_CALL cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size,
                                                               const void* host,
                                                               const RuntimeLaunchConfig* config) {
  CUkernel kernel = nullptr;
  const cudaError_t error = kernel_at(host, &kernel);
  const DriverLaunchConfig driver = driver_config(*config);
  return told(error != kSuccess ? error
                                : cuOccupancyMaxPotentialClusterSize(size, kernel, &driver));
}

}  // extern "C"

}  // namespace warptwin::cuda
