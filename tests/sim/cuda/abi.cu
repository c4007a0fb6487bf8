// Compiles where the stand-ins' layouts and numbers are those of CUDA's headers.

#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cuda_runtime_api.h>

// The names of both worlds are apart.
namespace ours {
#include "sim/cuda/standin/abi.hpp"
}

namespace abi = ours::warptwin::cuda;

#define SAME_FIELD(a, field, b, other)                      \
  static_assert(offsetof(a, field) == offsetof(b, other) && \
                sizeof(static_cast<a*>(nullptr)->field) ==  \
                    sizeof(static_cast<b*>(nullptr)->other))

static_assert(sizeof(abi::DeviceProperties) == sizeof(cudaDeviceProp));
SAME_FIELD(abi::DeviceProperties, major, cudaDeviceProp, major);
SAME_FIELD(abi::DeviceProperties, multiprocessors, cudaDeviceProp, multiProcessorCount);
SAME_FIELD(abi::DeviceProperties, surface_alignment, cudaDeviceProp, surfaceAlignment);
SAME_FIELD(abi::DeviceProperties, l2_bytes, cudaDeviceProp, l2CacheSize);
SAME_FIELD(abi::DeviceProperties, shared_per_block_optin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME_FIELD(abi::DeviceProperties,
           blocks_per_multiprocessor,
           cudaDeviceProp,
           maxBlocksPerMultiProcessor);
SAME_FIELD(abi::DeviceProperties, cluster_launch, cudaDeviceProp, clusterLaunch);
SAME_FIELD(abi::DeviceProperties,
           host_numa_multinode_ipc,
           cudaDeviceProp,
           hostNumaMultinodeIpcSupported);

static_assert(sizeof(abi::FunctionAttributes) == sizeof(cudaFuncAttributes));
SAME_FIELD(abi::FunctionAttributes, threads_max, cudaFuncAttributes, maxThreadsPerBlock);
SAME_FIELD(abi::FunctionAttributes,
           dynamic_shared_max,
           cudaFuncAttributes,
           maxDynamicSharedSizeBytes);
SAME_FIELD(abi::FunctionAttributes,
           non_portable_cluster,
           cudaFuncAttributes,
           nonPortableClusterSizeAllowed);

static_assert(sizeof(abi::PointerAttributes) == sizeof(cudaPointerAttributes));
SAME_FIELD(abi::PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);

static_assert(sizeof(abi::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(sizeof(abi::DriverLaunchConfig) == sizeof(CUlaunchConfig));
SAME_FIELD(abi::DriverLaunchConfig, stream, CUlaunchConfig, hStream);
SAME_FIELD(abi::DriverLaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
static_assert(sizeof(abi::RuntimeLaunchConfig) == sizeof(cudaLaunchConfig_t));
SAME_FIELD(abi::RuntimeLaunchConfig, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_FIELD(abi::RuntimeLaunchConfig, attribute_count, cudaLaunchConfig_t, numAttrs);
static_assert(sizeof(abi::Copy2d) == sizeof(CUDA_MEMCPY2D));
SAME_FIELD(abi::Copy2d, target_device, CUDA_MEMCPY2D, dstDevice);
SAME_FIELD(abi::Copy2d, height, CUDA_MEMCPY2D, Height);
static_assert(sizeof(abi::Copy3d) == sizeof(CUDA_MEMCPY3D));
SAME_FIELD(abi::Copy3d, source_height, CUDA_MEMCPY3D, srcHeight);
SAME_FIELD(abi::Copy3d, target_type, CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(abi::Copy3d, target_height, CUDA_MEMCPY3D, dstHeight);
SAME_FIELD(abi::Copy3d, depth, CUDA_MEMCPY3D, Depth);
static_assert(sizeof(abi::Extent3d) == sizeof(cudaExtent) && sizeof(cudaExtent) == sizeof(cudaPos));
static_assert(sizeof(abi::PitchedPointer) == sizeof(cudaPitchedPtr));
SAME_FIELD(abi::PitchedPointer, pitch, cudaPitchedPtr, pitch);
SAME_FIELD(abi::PitchedPointer, height, cudaPitchedPtr, ysize);
static_assert(sizeof(abi::RuntimeCopy3d) == sizeof(cudaMemcpy3DParms));
SAME_FIELD(abi::RuntimeCopy3d, target_at, cudaMemcpy3DParms, dstPos);
SAME_FIELD(abi::RuntimeCopy3d, target, cudaMemcpy3DParms, dstPtr);
SAME_FIELD(abi::RuntimeCopy3d, kind, cudaMemcpy3DParms, kind);
static_assert(sizeof(abi::MemLocation) == sizeof(CUmemLocation));
static_assert(sizeof(abi::MemLocation) == sizeof(cudaMemLocation));
SAME_FIELD(abi::PoolProperties, location, CUmemPoolProps, location);
SAME_FIELD(abi::PoolProperties, handles, cudaMemPoolProps, handleTypes);

static_assert(abi::kAttributeCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(abi::kAttributeCluster == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(abi::kAttributeProgrammatic == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(abi::kInvalidSymbol == cudaErrorInvalidSymbol);
static_assert(abi::kInvalidMemcpyDirection == cudaErrorInvalidMemcpyDirection);
static_assert(abi::kInvalidDeviceFunction == cudaErrorInvalidDeviceFunction);
static_assert(abi::kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(abi::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(abi::kDevicesUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(abi::kNotRegistered == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
static_assert(abi::kCooperativeTooLarge == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
static_assert(abi::kVersion == CUDA_VERSION);
static_assert(abi::kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(abi::kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(abi::kInvalidClusterSize == CUDA_ERROR_INVALID_CLUSTER_SIZE);
