// The runtime's stand-in: copies and fills.

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

namespace {

// cudaMemcpyKind.
enum Kind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

constexpr cudaError_t kInvalidPitch = 12;

// A direction that the addresses are not of is an error: host memory that kernels see is both.
cudaError_t check_direction(const void* to, const void* from, int kind) {
  if (const int sticky = warptwin_sticky_error(); sticky != kSuccess) {
    return sticky;
  }
  if (kind < kHostToHost || kind > kDefault) {
    return kInvalidMemcpyDirection;
  }
  const auto fits = [](const void* address, bool device) {
    unsigned type = 0;
    const bool known = cuPointerGetAttribute(&type, 2, at(address)) == kSuccess;
    return device ? known : address != nullptr && warptwin_is_device(address) == 0;
  };
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  return kind == kDefault || (fits(to, to_device) && fits(from, from_device)) ? kSuccess
                                                                              : kInvalidValue;
}

/// A stream, and whether the host waits for what it is given.
struct Target {
  CUstream stream = nullptr;
  bool waits = true;
};

cudaError_t copy(void* to, const void* from, std::size_t bytes, int kind, Target target) {
  cudaError_t error = bytes == 0 ? kSuccess : check_direction(to, from, kind);
  if (error == kSuccess && bytes != 0) {
    error = target.waits ? cuMemcpy(at(to), at(from), bytes)
                         : cuMemcpyAsync(at(to), at(from), bytes, target.stream);
  }
  return told(error);
}

// By the addresses alone: CU_MEMORYTYPE_UNIFIED.
cudaError_t copy_3d(Copy3d& all, Target target) {
  constexpr unsigned kUnified = 4;
  all.source_type = all.target_type = kUnified;
  return told(target.waits ? cuMemcpy3D_v2(&all) : cuMemcpy3DAsync_v2(&all, target.stream));
}

struct Rows {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
};

cudaError_t copy_rows(
    Rows to, Rows from, std::size_t width, std::size_t height, int kind, Target target) {
  if (width == 0 || height == 0) {
    return told(warptwin_sticky_error());
  }
  const cudaError_t error = check_direction(
      reinterpret_cast<void*>(to.address), reinterpret_cast<void*>(from.address), kind);  // NOLINT
  if (error != kSuccess || width > to.pitch || width > from.pitch) {
    return told(error != kSuccess ? error : kInvalidPitch);
  }
  Copy3d all{};
  all.source_device = from.address;
  all.source_pitch = from.pitch;
  all.target_device = to.address;
  all.target_pitch = to.pitch;
  all.width = width;
  all.height = height;
  all.depth = 1;
  return copy_3d(all, target);
}

cudaError_t copy_box(const RuntimeCopy3d& box, Target target) {
  if (box.source_array != nullptr || box.target_array != nullptr) {
    warptwin_missing("a copy from or to a CUDA array", nullptr, "arrays are not simulated");
  }
  const cudaError_t error = check_direction(box.target.address, box.source.address, box.kind);
  if (error != kSuccess) {
    return told(error);
  }
  Copy3d all{};
  all.source_x = box.source_at.x;
  all.source_y = box.source_at.y;
  all.source_z = box.source_at.z;
  all.source_device = at(box.source.address);
  all.source_pitch = box.source.pitch;
  all.source_height = box.source.height;
  all.target_x = box.target_at.x;
  all.target_y = box.target_at.y;
  all.target_z = box.target_at.z;
  all.target_device = at(box.target.address);
  all.target_pitch = box.target.pitch;
  all.target_height = box.target.height;
  all.width = box.extent.x;
  all.height = box.extent.y;
  all.depth = box.extent.z;
  return copy_3d(all, target);
}

/// A variable of the program's, from an offset on.
struct Symbol {
  const void* name = nullptr;
  std::size_t offset = 0;
};

cudaError_t copy_symbol(
    Symbol symbol, void* host, std::size_t bytes, bool to_symbol, int kind, Target target) {
  CUdeviceptr address = 0;
  std::size_t size = 0;
  const cudaError_t error = variable_at(symbol.name, &address, &size);
  if (error != kSuccess) {
    return told(error);
  }
  if (symbol.offset > size || bytes > size - symbol.offset) {
    return told(kInvalidValue);
  }
  void* device = reinterpret_cast<void*>(address + symbol.offset);  // NOLINT
  return to_symbol ? copy(device, host, bytes, kind, target)
                   : copy(host, device, bytes, kind, target);
}

cudaError_t fill_box(PitchedPointer to, int value, Extent3d extent, CUstream stream) {
  for (std::size_t plane = 0; plane < extent.z; ++plane) {
    const cudaError_t error = cuMemsetD2D8Async(at(to.address) + plane * to.pitch * to.height,
                                                to.pitch,
                                                static_cast<unsigned char>(value),
                                                extent.x,
                                                extent.y,
                                                stream);
    if (error != kSuccess) {
      return told(error);
    }
  }
  return kSuccess;
}

}  // namespace

extern "C" {

WARPTWIN_CALL cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return copy(to, from, bytes, kind, {});
}

WARPTWIN_CALL cudaError_t
cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, CUstream stream) {
  return copy(to, from, bytes, kind, {stream, false});
}

WARPTWIN_CALL cudaError_t cudaMemcpy2D(void* to,
                                       std::size_t to_pitch,
                                       const void* from,
                                       std::size_t from_pitch,
                                       std::size_t width,
                                       std::size_t height,
                                       int kind) {
  return copy_rows({at(to), to_pitch}, {at(from), from_pitch}, width, height, kind, {});
}

WARPTWIN_CALL cudaError_t cudaMemcpy2DAsync(void* to,
                                            std::size_t to_pitch,
                                            const void* from,
                                            std::size_t from_pitch,
                                            std::size_t width,
                                            std::size_t height,
                                            int kind,
                                            CUstream stream) {
  return copy_rows(
      {at(to), to_pitch}, {at(from), from_pitch}, width, height, kind, {stream, false});
}

WARPTWIN_CALL cudaError_t cudaMemcpy3D(const RuntimeCopy3d* box) {
  return copy_box(*box, {});
}

WARPTWIN_CALL cudaError_t cudaMemcpy3DAsync(const RuntimeCopy3d* box, CUstream stream) {
  return copy_box(*box, {stream, false});
}

WARPTWIN_CALL cudaError_t cudaMemcpyToSymbol(
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind) {
  return copy_symbol({symbol, offset}, const_cast<void*>(from), bytes, true, kind, {});  // NOLINT
}

WARPTWIN_CALL cudaError_t cudaMemcpyToSymbolAsync(const void* symbol,
                                                  const void* from,
                                                  std::size_t bytes,
                                                  std::size_t offset,
                                                  int kind,
                                                  CUstream stream) {
  return copy_symbol(
      {symbol, offset}, const_cast<void*>(from), bytes, true, kind, {stream, false});  // NOLINT
}

WARPTWIN_CALL cudaError_t cudaMemcpyFromSymbol(
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind) {
  return copy_symbol({symbol, offset}, to, bytes, false, kind, {});
}

WARPTWIN_CALL cudaError_t cudaMemcpyFromSymbolAsync(void* to,
                                                    const void* symbol,
                                                    std::size_t bytes,
                                                    std::size_t offset,
                                                    int kind,
                                                    CUstream stream) {
  return copy_symbol({symbol, offset}, to, bytes, false, kind, {stream, false});
}

WARPTWIN_CALL cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return told(cuMemsetD8_v2(at(to), static_cast<unsigned char>(value), bytes));
}

WARPTWIN_CALL cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, CUstream stream) {
  return told(cuMemsetD8Async(at(to), static_cast<unsigned char>(value), bytes, stream));
}

WARPTWIN_CALL cudaError_t
cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return told(cuMemsetD2D8_v2(at(to), pitch, static_cast<unsigned char>(value), width, height));
}

WARPTWIN_CALL cudaError_t cudaMemset2DAsync(void* to,
                                            std::size_t pitch,
                                            int value,
                                            std::size_t width,
                                            std::size_t height,
                                            CUstream stream) {
  return told(
      cuMemsetD2D8Async(at(to), pitch, static_cast<unsigned char>(value), width, height, stream));
}

WARPTWIN_CALL cudaError_t cudaMemset3D(PitchedPointer to, int value, Extent3d extent) {
  return fill_box(to, value, extent, nullptr);
}

WARPTWIN_CALL cudaError_t cudaMemset3DAsync(PitchedPointer to,
                                            int value,
                                            Extent3d extent,
                                            CUstream stream) {
  return fill_box(to, value, extent, stream);
}

}  // extern "C"

}  // namespace warptwin::cuda
