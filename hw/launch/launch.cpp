#include "hw/launch/launch.hpp"

#include <string>

#include "common/kernel/scenario.hpp"

namespace warptwin::hw {

namespace {

// Clusters of up to 8 CTAs run everywhere; larger ones are the kernel's own wish.
constexpr std::uint32_t kPortableClusterSize = 8;

// From here on a launch may have a preferred cluster size beside the regular one.
constexpr int kTwoSizesFrom = 10;  // compute capability, major

bool takes_two_sizes() {
  int device = 0;
  int major = 0;
  require_cuda(cudaGetDevice(&device), "cudaGetDevice", "choose a device");
  require_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
               "cudaDeviceGetAttribute",
               "choose a device");
  return major >= kTwoSizesFrom;
}

}  // namespace

void require_argument_bytes(const void* kernel, std::size_t bytes) {
  std::size_t offset = 0;
  std::size_t on_device = 0;
  require_cuda(cudaFuncGetParamInfo(kernel, 0, &offset, &on_device),
               "cudaFuncGetParamInfo",
               "check that the kernel was built for this GPU (sm_90a or sm_100a)");
  if (on_device != bytes) {
    throw ConfigError("the kernel's Problem has " + std::to_string(bytes) +
                      " bytes for the host's compiler and " + std::to_string(on_device) +
                      " for the device's: take [[no_unique_address]] from what is constant beside "
                      "dynamic extents (docs/extending.md)");
  }
}

void launch(const void* kernel, const LaunchShape& shape, void** arguments, cudaStream_t stream) {
  require_cuda(cudaFuncSetAttribute(kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               "cudaFuncSetAttribute(MaxDynamicSharedMemorySize)",
               "use fewer stages or smaller tiles; a CTA can have at most 232448 bytes");
  if (shape.cluster_size > kPortableClusterSize) {
    require_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                 "cudaFuncSetAttribute(NonPortableClusterSizeAllowed)",
                 "use clusters of at most 8 CTAs");
  }
  const bool two_sizes = shape.fallback_size != 0 && takes_two_sizes();
  cudaLaunchAttribute attributes[3]{};
  unsigned int count = 0;
  cudaLaunchAttribute& regular = attributes[count++];
  regular.id = cudaLaunchAttributeClusterDimension;
  regular.val.clusterDim = {two_sizes ? shape.fallback_size : shape.cluster_size, 1, 1};
  if (two_sizes) {
    cudaLaunchAttribute& preferred = attributes[count++];
    preferred.id = cudaLaunchAttributePreferredClusterDimension;
    preferred.val.preferredClusterDim = {shape.cluster_size, 1, 1};
  }
  if (shape.begins_early) {
    cudaLaunchAttribute& early = attributes[count++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = {shape.clusters * shape.cluster_size, 1, 1};
  config.blockDim = {shape.threads, 1, 1};
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  require_cuda(
      cudaLaunchKernelExC(&config, kernel, arguments),
      "cudaLaunchKernelExC",
      "check that the kernel was built for this GPU (sm_90a or sm_100a) and that a cluster "
      "of this size fits on it");
}

void synchronize(cudaStream_t stream) {
  require_cuda(
      cudaStreamSynchronize(stream),
      "cudaStreamSynchronize",
      "the kernel ended early; run the scenario in the simulator with the same parameters");
}

}  // namespace warptwin::hw
