// The runtime's stand-in: memory of the device and the host, and pools.

#include <cstring>

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

extern "C" {

WARPTWIN_CALL cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  CUdeviceptr place = 0;
  const cudaError_t error = bytes == 0 ? kSuccess : cuMemAlloc_v2(&place, bytes);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaMallocAsync(void** address, std::size_t bytes, CUstream stream) {
  CUdeviceptr place = 0;
  const cudaError_t error = bytes == 0 ? kSuccess : cuMemAllocAsync(&place, bytes, stream);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaMallocFromPoolAsync(void** address,
                                                  std::size_t bytes,
                                                  CUmemoryPool pool,
                                                  CUstream stream) {
  CUdeviceptr place = 0;
  const cudaError_t error = cuMemAllocFromPoolAsync(&place, bytes, pool, stream);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaMalloc3D(PitchedPointer* pitched, Extent3d extent) {
  CUdeviceptr place = 0;
  *pitched = {nullptr, 0, extent.x, extent.y};
  const cudaError_t error =
      cuMemAllocPitch_v2(&place, &pitched->pitch, extent.x, extent.y * extent.z, 4);
  pitched->address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaMallocPitch(void** address,
                                          std::size_t* pitch,
                                          std::size_t width,
                                          std::size_t height) {
  CUdeviceptr place = 0;
  const cudaError_t error = cuMemAllocPitch_v2(&place, pitch, width, height, 4);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaMallocManaged(void** address, std::size_t bytes, unsigned flags) {
  CUdeviceptr place = 0;
  const cudaError_t error = cuMemAllocManaged(&place, bytes, flags);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  *address = nullptr;
  return told(bytes == 0 ? warptwin_sticky_error() : cuMemHostAlloc(address, bytes, flags));
}

WARPTWIN_CALL cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return cudaHostAlloc(address, bytes, 0);
}

WARPTWIN_CALL cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return told(cuMemHostRegister_v2(address, bytes, flags));
}

WARPTWIN_CALL cudaError_t cudaHostUnregister(void* address) {
  return told(cuMemHostUnregister(address));
}

WARPTWIN_CALL cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  CUdeviceptr place = 0;
  const cudaError_t error = cuMemHostGetDevicePointer_v2(&place, host, 0);
  *device = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaFree(void* address) {
  return told(cuMemFree_v2(at(address)));
}

WARPTWIN_CALL cudaError_t cudaFreeAsync(void* address, CUstream stream) {
  return told(cuMemFreeAsync(at(address), stream));
}

WARPTWIN_CALL cudaError_t cudaFreeHost(void* address) {
  return told(cuMemFreeHost(address));
}

WARPTWIN_CALL cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return told(cuMemGetInfo_v2(free, total));
}

WARPTWIN_CALL cudaError_t cudaHostGetFlags(unsigned* flags, void* address) {
  return told(cuMemHostGetFlags(flags, address));
}

WARPTWIN_CALL cudaError_t cudaMemPrefetchAsync(
    const void* address, std::size_t bytes, MemLocation to, unsigned flags, CUstream stream) {
  return told(cuMemPrefetchAsync_v2(at(address), bytes, to, flags, stream));
}

WARPTWIN_CALL cudaError_t cudaMemAdvise(const void*, std::size_t, int, MemLocation) {
  return kSuccess;
}

WARPTWIN_CALL cudaError_t cudaStreamAttachMemAsync(CUstream stream,
                                                   void* address,
                                                   std::size_t bytes,
                                                   unsigned flags) {
  return told(cuStreamAttachMemAsync(stream, at(address), bytes, flags));
}

WARPTWIN_CALL cudaError_t cudaDeviceGetDefaultMemPool(CUmemoryPool* pool, int device) {
  return told(cuDeviceGetDefaultMemPool(pool, device));
}

WARPTWIN_CALL cudaError_t cudaDeviceGetMemPool(CUmemoryPool* pool, int device) {
  return told(cuDeviceGetMemPool(pool, device));
}

WARPTWIN_CALL cudaError_t cudaDeviceSetMemPool(int device, CUmemoryPool pool) {
  return told(cuDeviceSetMemPool(device, pool));
}

WARPTWIN_CALL cudaError_t cudaMemPoolCreate(CUmemoryPool* pool, const PoolProperties* properties) {
  return told(cuMemPoolCreate(pool, properties));
}

WARPTWIN_CALL cudaError_t cudaMemPoolDestroy(CUmemoryPool pool) {
  return told(cuMemPoolDestroy(pool));
}

WARPTWIN_CALL cudaError_t cudaMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return told(cuMemPoolTrimTo(pool, bytes));
}

WARPTWIN_CALL cudaError_t cudaMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return told(cuMemPoolGetAttribute(pool, attribute, value));
}

WARPTWIN_CALL cudaError_t cudaMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return told(cuMemPoolSetAttribute(pool, attribute, value));
}

WARPTWIN_CALL cudaError_t cudaMemPoolSetAccess(CUmemoryPool pool,
                                               const void* access,
                                               std::size_t count) {
  return told(cuMemPoolSetAccess(pool, access, count));
}

WARPTWIN_CALL cudaError_t cudaPointerGetAttributes(PointerAttributes* all, const void* address) {
  *all = {};
  all->device = -2;                                // none
  all->host_pointer = const_cast<void*>(address);  // NOLINT
  unsigned type = 0;
  unsigned managed = 0;
  if (cuPointerGetAttribute(&type, 2, at(address)) != kSuccess) {
    return kSuccess;
  }
  cuPointerGetAttribute(&managed, 8, at(address));
  all->type = managed != 0 ? 3 : static_cast<int>(type);
  all->device = 0;
  all->device_pointer = const_cast<void*>(address);  // NOLINT
  if (warptwin_is_device(address) != 0) {
    all->host_pointer = nullptr;
  }
  return kSuccess;
}

}  // extern "C"

}  // namespace warptwin::cuda
