/// Memory of the device, and of the host where the device sees it, that ends with its scope.

#pragma once

#include <cstddef>
#include <utility>

#include "common/machine/types.hpp"

#include "hw/launch/error.hpp"

namespace warptwin::hw {

/// `bytes` bytes of the device's memory, each of them `fill`.
class DeviceBuffer {
 public:
  DeviceBuffer(std::size_t bytes, int fill) {
    constexpr const char* kAdvice = "free device memory, or use smaller matrices";
    require_cuda(cudaMalloc(&pointer_, bytes == 0 ? 1 : bytes), "cudaMalloc", kAdvice);
    require_cuda(cudaMemset(pointer_, fill, bytes), "cudaMemset", kAdvice);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept : pointer_{std::exchange(other.pointer_, nullptr)} {}
  ~DeviceBuffer() { cudaFree(pointer_); }

  template <class T = void>
  T* get() const {
    return static_cast<T*>(pointer_);
  }
  GlobalAddress address() const { return {reinterpret_cast<std::uint64_t>(pointer_)}; }

 private:
  void* pointer_ = nullptr;
};

/// `count` zeroed values of the host's memory, at the same address on the device.
template <class T>
class SharedWithDevice {
 public:
  explicit SharedWithDevice(std::size_t count) {
    void* pointer = nullptr;
    require_cuda(cudaHostAlloc(&pointer, count * sizeof(T), cudaHostAllocMapped),
                 "cudaHostAlloc",
                 "free host memory");
    values_ = static_cast<volatile T*>(pointer);
    for (std::size_t i = 0; i < count * sizeof(T); ++i) {
      static_cast<unsigned char*>(pointer)[i] = 0;
    }
  }
  SharedWithDevice(const SharedWithDevice&) = delete;
  SharedWithDevice& operator=(const SharedWithDevice&) = delete;
  ~SharedWithDevice() { cudaFreeHost(const_cast<T*>(values_)); }

  volatile T& operator[](std::size_t index) { return values_[index]; }
  T* get() const { return const_cast<T*>(values_); }

 private:
  volatile T* values_ = nullptr;
};

}  // namespace warptwin::hw
