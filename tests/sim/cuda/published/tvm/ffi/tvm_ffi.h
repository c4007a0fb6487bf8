/// What published kernels use of TVM's foreign function interface: a tensor is its place and its
/// shape, and a function that is exported is kept under a name.

#pragma once

#include <cstdint>
#include <vector>

namespace tvm::ffi {

struct Device {
  int device_type;
  int device_id;
};

struct TensorView {
  void* place;
  std::vector<std::int64_t> shape;

  std::int64_t size(int axis) const { return shape[static_cast<std::size_t>(axis)]; }
  void* data_ptr() const { return place; }
  Device device() const { return {2, 0}; }
};

}  // namespace tvm::ffi

inline void* TVMFFIEnvGetStream(int, int) {
  return nullptr;
}

#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function) static auto* const exported_##name = &function
