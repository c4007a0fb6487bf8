// The runtime's stand-in: memory.

#include <cstring>

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

namespace {

// cudaMemcpyKind.
enum Kind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

CUdeviceptr at(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

// A direction that the addresses are not of is an error: host memory that kernels see is both.
cudaError_t check_direction(const void* to, const void* from, int kind) {
  if (kind < kHostToHost || kind > kDefault) {
    return kInvalidMemcpyDirection;
  }
  const auto fits = [](const void* address, bool device) {
    unsigned type = 0;
    const bool known = cuPointerGetAttribute(&type, 2, at(address)) == kSuccess;
    return device ? known : warptwin_is_device(address) == 0;
  };
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  return kind == kDefault || (fits(to, to_device) && fits(from, from_device)) ? kSuccess
                                                                              : kInvalidValue;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, int kind) {
  const cudaError_t error = bytes == 0 ? kSuccess : check_direction(to, from, kind);
  return told(error != kSuccess ? error : cuMemcpy(at(to), at(from), bytes));
}

cudaError_t copy_symbol(
    const void* symbol, void* host, std::size_t bytes, std::size_t offset, bool to_symbol) {
  CUdeviceptr address = 0;
  std::size_t size = 0;
  const cudaError_t error = variable_at(symbol, &address, &size);
  if (error != kSuccess) {
    return told(error);
  }
  if (offset > size || bytes > size - offset) {
    return told(kInvalidValue);
  }
  return told(to_symbol ? cuMemcpy(address + offset, at(host), bytes)
                        : cuMemcpy(at(host), address + offset, bytes));
}

}  // namespace

extern "C" {

WARPTWIN_CALL cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  CUdeviceptr place = 0;
  const cudaError_t error = bytes == 0 ? kSuccess : cuMemAlloc_v2(&place, bytes);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaMallocAsync(void** address, std::size_t bytes, CUstream) {
  return cudaMalloc(address, bytes);
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

WARPTWIN_CALL cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return told(cuMemHostAlloc(address, bytes, 0));
}

WARPTWIN_CALL cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return told(cuMemHostAlloc(address, bytes, flags));
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

WARPTWIN_CALL cudaError_t cudaFreeAsync(void* address, CUstream) {
  return cudaFree(address);
}

WARPTWIN_CALL cudaError_t cudaFreeHost(void* address) {
  return told(cuMemFreeHost(address));
}

WARPTWIN_CALL cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return told(cuMemGetInfo_v2(free, total));
}

WARPTWIN_CALL cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return copy(to, from, bytes, kind);
}

WARPTWIN_CALL cudaError_t
cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, CUstream) {
  return copy(to, from, bytes, kind);
}

WARPTWIN_CALL cudaError_t cudaMemcpy2D(void* to,
                                       std::size_t to_pitch,
                                       const void* from,
                                       std::size_t from_pitch,
                                       std::size_t width,
                                       std::size_t height,
                                       int kind) {
  const cudaError_t error = check_direction(to, from, kind);
  if (error != kSuccess || width > to_pitch || width > from_pitch) {
    return told(error != kSuccess ? error : 12);  // cudaErrorInvalidPitchValue
  }
  return told(warptwin_copy_2d(to, to_pitch, from, from_pitch, width, height));
}

WARPTWIN_CALL cudaError_t cudaMemcpy2DAsync(void* to,
                                            std::size_t to_pitch,
                                            const void* from,
                                            std::size_t from_pitch,
                                            std::size_t width,
                                            std::size_t height,
                                            int kind,
                                            CUstream) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

WARPTWIN_CALL cudaError_t cudaMemcpyToSymbol(
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int) {
  return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true);  // NOLINT
}

WARPTWIN_CALL cudaError_t cudaMemcpyToSymbolAsync(
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int, CUstream) {
  return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true);  // NOLINT
}

WARPTWIN_CALL cudaError_t
cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int) {
  return copy_symbol(symbol, to, bytes, offset, false);
}

WARPTWIN_CALL cudaError_t cudaMemcpyFromSymbolAsync(
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, int, CUstream) {
  return copy_symbol(symbol, to, bytes, offset, false);
}

WARPTWIN_CALL cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return told(cuMemsetD8_v2(at(to), static_cast<unsigned char>(value), bytes));
}

WARPTWIN_CALL cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, CUstream) {
  return cudaMemset(to, value, bytes);
}

WARPTWIN_CALL cudaError_t
cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return told(cuMemsetD2D8_v2(at(to), pitch, static_cast<unsigned char>(value), width, height));
}

WARPTWIN_CALL cudaError_t cudaMemset2DAsync(
    void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, CUstream) {
  return cudaMemset2D(to, pitch, value, width, height);
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
