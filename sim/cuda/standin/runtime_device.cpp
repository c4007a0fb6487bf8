// The runtime's stand-in: devices, errors, functions of the driver by name.

#include <cstdio>
#include <cstring>
#include <utility>

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

namespace {

thread_local cudaError_t last_error = kSuccess;

int attribute(int number) {
  int value = 0;
  cuDeviceGetAttribute(&value, number, 0);
  return value;
}

DeviceProperties properties() {
  DeviceProperties all{};
  cuDeviceGetName(all.name, sizeof all.name, 0);
  std::memcpy(all.uuid, "warptwin-device0", sizeof all.uuid);
  cuDeviceTotalMem_v2(&all.global_bytes, 0);
  all.shared_per_block = static_cast<std::size_t>(attribute(8));
  all.registers_per_block = attribute(12);
  all.warp_size = attribute(10);
  all.pitch_max = static_cast<std::size_t>(attribute(11));
  all.threads_per_block_max = attribute(1);
  for (int i = 0; i < 3; ++i) {
    all.block_max[i] = attribute(2 + i);
    all.grid_max[i] = attribute(5 + i);
  }
  all.constant_bytes = static_cast<std::size_t>(attribute(9));
  all.major = attribute(75);
  all.minor = attribute(76);
  all.texture_alignment = static_cast<std::size_t>(attribute(14));
  all.texture_pitch_alignment = static_cast<std::size_t>(attribute(23));
  all.multiprocessors = attribute(16);
  all.can_map_host_memory = attribute(19);
  all.surface_alignment = static_cast<std::size_t>(attribute(30));
  all.concurrent_kernels = attribute(31);
  all.pci_bus = attribute(33);
  all.async_engines = attribute(40);
  all.unified_addressing = attribute(41);
  all.memory_bus_width = attribute(37);
  all.l2_bytes = attribute(38);
  all.threads_per_multiprocessor = attribute(39);
  all.stream_priorities = attribute(78);
  all.global_l1 = attribute(79);
  all.local_l1 = attribute(80);
  all.shared_per_multiprocessor = static_cast<std::size_t>(attribute(81));
  all.registers_per_multiprocessor = attribute(82);
  all.managed_memory = attribute(83);
  all.compute_preemption = attribute(90);
  all.host_pointer_for_registered = attribute(91);
  all.cooperative_launch = attribute(95);
  all.shared_per_block_optin = static_cast<std::size_t>(attribute(97));
  all.blocks_per_multiprocessor = attribute(106);
  all.reserved_shared_per_block = static_cast<std::size_t>(attribute(111));
  all.host_register = attribute(99);
  all.memory_pools = attribute(115);
  all.cluster_launch = attribute(120);
  all.unified_function_pointers = attribute(129);
  return all;
}

}  // namespace

cudaError_t told(cudaError_t error) {
  warptwin_use_primary();
  if (error != kSuccess) {
    last_error = error;
  }
  return error;
}

extern "C" {

WARPTWIN_CALL cudaError_t cudaGetLastError() {
  return std::exchange(last_error, kSuccess);
}

WARPTWIN_CALL cudaError_t cudaPeekAtLastError() {
  return last_error;
}

WARPTWIN_CALL const char* cudaGetErrorString(cudaError_t error) {
  return warptwin_error_text(error)->text;
}

WARPTWIN_CALL const char* cudaGetErrorName(cudaError_t error) {
  return warptwin_error_text(error)->runtime_name;
}

WARPTWIN_CALL cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaSetDevice(int device) {
  return told(device == 0 ? kSuccess : kInvalidDevice);
}

WARPTWIN_CALL cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return told(device == 0 ? kSuccess : kInvalidDevice);
}

WARPTWIN_CALL cudaError_t cudaSetDeviceFlags(unsigned) {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaGetDeviceProperties(DeviceProperties* all, int device) {
  *all = properties();
  return told(device == 0 ? kSuccess : kInvalidDevice);
}

WARPTWIN_CALL cudaError_t cudaDeviceGetAttribute(int* value, int number, int device) {
  return told(cuDeviceGetAttribute(value, number, device));
}

WARPTWIN_CALL cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return told(cuDeviceCanAccessPeer(can, device, peer));
}

WARPTWIN_CALL cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:01:00.0");
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return told(cuDeviceGetByPCIBusId(device, text));
}

// There is one to choose from.
WARPTWIN_CALL cudaError_t cudaChooseDevice(int* device, const DeviceProperties*) {
  *device = 0;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaSetValidDevices(int*, int) {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaCtxResetPersistingL2Cache() {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaDeviceGetLimit(std::size_t* value, int limit) {
  return told(cuCtxGetLimit(value, limit));
}

WARPTWIN_CALL cudaError_t cudaDeviceSetLimit(int limit, std::size_t value) {
  return told(cuCtxSetLimit(limit, value));
}

WARPTWIN_CALL cudaError_t cudaDeviceGetCacheConfig(int* config) {
  *config = 0;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaDeviceSetCacheConfig(int) {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaDeviceSynchronize() {
  return told(cuCtxSynchronize());
}

WARPTWIN_CALL cudaError_t cudaDeviceReset() {
  return told(cuDevicePrimaryCtxReset_v2(0));
}

WARPTWIN_CALL cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaProfilerStart() {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaProfilerStop() {
  return kSuccess;
}

// cudaDriverEntryPointQueryResult has the driver's numbers.
WARPTWIN_CALL cudaError_t cudaGetDriverEntryPointByVersion(
    const char* name, void** function, unsigned version, unsigned long long flags, int* found) {
  unsigned result = 0;
  const CUresult error =
      cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, &result);
  if (found != nullptr) {
    *found = static_cast<int>(result);
  }
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaGetDriverEntryPoint(const char* name,
                                                  void** function,
                                                  unsigned long long flags,
                                                  int* found) {
  return cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, found);
}

}  // extern "C"

}  // namespace warptwin::cuda
