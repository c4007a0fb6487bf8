/// What of CUDA's binary interface the stand-ins take and give: the numbers and layouts of
/// CUDA 13's public headers, which a build of warptwin does not need.

#pragma once

#include <cstddef>
#include <cstdint>

#define WARPTWIN_CALL extern "C" __attribute__((visibility("default")))

namespace warptwin::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using cudaError_t = int;

struct Context;
struct Library;
struct Kernel;
struct Stream;
struct Event;
struct Pool;
using CUcontext = Context*;
using CUmodule = Library*;
using CUlibrary = Library*;
using CUfunction = Kernel*;
using CUkernel = Kernel*;
using CUstream = Stream*;
using CUevent = Event*;
using CUmemoryPool = Pool*;
using CUhostFn = void (*)(void*);
using CUstreamCallback = void (*)(CUstream, CUresult, void*);

// CUDA 13.0, of both libraries.
inline constexpr int kVersion = 13000;

// Results. The runtime's have the same numbers but for those that it alone has.
inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kOutOfMemory = 2;
inline constexpr CUresult kInvalidSymbol = 13;           // the runtime's
inline constexpr CUresult kInvalidMemcpyDirection = 21;  // the runtime's
inline constexpr CUresult kInvalidDeviceFunction = 98;   // the runtime's
inline constexpr CUresult kDevicesUnavailable = 46;
inline constexpr CUresult kInvalidDevice = 101;
inline constexpr CUresult kInvalidContext = 201;
inline constexpr CUresult kInvalidHandle = 400;
inline constexpr CUresult kNotReady = 600;
inline constexpr CUresult kNotFound = 500;
inline constexpr CUresult kIllegalAddress = 700;
inline constexpr CUresult kNotRegistered = 713;
inline constexpr CUresult kLaunchFailed = 719;
inline constexpr CUresult kCooperativeTooLarge = 720;
inline constexpr CUresult kNotSupported = 801;
inline constexpr CUresult kInvalidClusterSize = 912;

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct LaunchAttribute {
  unsigned id;
  unsigned unused;
  union {
    char bytes[64];
    int number;
    Dim3 cluster;
  };
};
static_assert(sizeof(LaunchAttribute) == 72);

// Identifiers of launch attributes.
inline constexpr unsigned kAttributeCooperative = 2;
inline constexpr unsigned kAttributeCluster = 4;
inline constexpr unsigned kAttributeProgrammatic = 6;
inline constexpr unsigned kAttributePriority = 8;
inline constexpr unsigned kAttributePreferredCluster = 11;

/// CUlaunchConfig.
struct DriverLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  CUstream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// cudaLaunchConfig_t.
struct RuntimeLaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes;
  CUstream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// CUDA_MEMCPY2D.
struct Copy2d {
  std::size_t source_x;
  std::size_t source_y;
  unsigned source_type;  // 1: host, 2: device, 3: an array, 4: unified
  const void* source_host;
  CUdeviceptr source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x;
  std::size_t target_y;
  unsigned target_type;
  void* target_host;
  CUdeviceptr target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width;
  std::size_t height;
};
static_assert(sizeof(Copy2d) == 128);

/// CUDA_MEMCPY3D.
struct Copy3d {
  std::size_t source_x;
  std::size_t source_y;
  std::size_t source_z;
  std::size_t source_level;
  unsigned source_type;  // as of Copy2d
  const void* source_host;
  CUdeviceptr source_device;
  void* source_array;
  void* source_reserved;
  std::size_t source_pitch;
  std::size_t source_height;
  std::size_t target_x;
  std::size_t target_y;
  std::size_t target_z;
  std::size_t target_level;
  unsigned target_type;
  void* target_host;
  CUdeviceptr target_device;
  void* target_array;
  void* target_reserved;
  std::size_t target_pitch;
  std::size_t target_height;
  std::size_t width;
  std::size_t height;
  std::size_t depth;
};
static_assert(sizeof(Copy3d) == 200);

/// cudaExtent and cudaPos.
struct Extent3d {
  std::size_t x;
  std::size_t y;
  std::size_t z;
};

/// cudaPitchedPtr.
struct PitchedPointer {
  void* address;
  std::size_t pitch;
  std::size_t width;
  std::size_t height;
};

/// cudaMemcpy3DParms.
struct RuntimeCopy3d {
  void* source_array;
  Extent3d source_at;
  PitchedPointer source;
  void* target_array;
  Extent3d target_at;
  PitchedPointer target;
  Extent3d extent;
  int kind;
};
static_assert(sizeof(RuntimeCopy3d) == 160);

/// CUmemLocation and cudaMemLocation.
struct MemLocation {
  int type;
  int id;
};

/// CUmemPoolProps and cudaMemPoolProps, as far as they are looked at.
struct PoolProperties {
  int allocation;
  int handles;
  MemLocation location;
};

/// cudaFuncAttributes.
struct FunctionAttributes {
  std::size_t shared_bytes;
  std::size_t constant_bytes;
  std::size_t local_bytes;
  int threads_max;
  int registers;
  int ptx_version;
  int binary_version;
  int cache_mode;
  int dynamic_shared_max;
  int carveout;
  int cluster_must_be_set;
  int cluster_width;
  int cluster_height;
  int cluster_depth;
  int cluster_policy;
  int non_portable_cluster;
  int reserved[16];
};

/// cudaPointerAttributes.
struct PointerAttributes {
  int type;  // 0: unregistered, 1: host, 2: device, 3: managed
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};

/// cudaDeviceProp of CUDA 13.
struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t global_bytes;
  std::size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t pitch_max;
  int threads_per_block_max;
  int block_max[3];
  int grid_max[3];
  std::size_t constant_bytes;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
  int multiprocessors;
  int integrated;
  int can_map_host_memory;
  int textures[39];  // extents of textures and surfaces: there are none
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus;
  int pci_device;
  int pci_domain;
  int tcc_driver;
  int async_engines;
  int unified_addressing;
  int memory_bus_width;
  int l2_bytes;
  int persisting_l2_max;
  int threads_per_multiprocessor;
  int stream_priorities;
  int global_l1;
  int local_l1;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int multi_gpu_board;
  int multi_gpu_group;
  int host_native_atomics;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption;
  int host_pointer_for_registered;
  int cooperative_launch;
  std::size_t shared_per_block_optin;
  int host_page_tables;
  int direct_managed_access;
  int blocks_per_multiprocessor;
  int access_policy_window_max;
  std::size_t reserved_shared_per_block;
  int host_register;
  int sparse_arrays;
  int read_only_host_register;
  int timeline_semaphores;
  int memory_pools;
  int gpu_direct_rdma;
  unsigned gpu_direct_rdma_flush;
  int gpu_direct_rdma_ordering;
  unsigned memory_pool_handles;
  int deferred_mapping;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
  int device_numa_config;
  int device_numa_id;
  int mps;
  int host_numa_id;
  unsigned gpu_pci_device;
  unsigned gpu_pci_subsystem;
  int host_numa_multinode_ipc;
  int reserved[56];
};

}  // namespace warptwin::cuda
