// The runtime's stand-in: libraries that a program loads by itself.

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

namespace {

// A kernel is launched by its handle then.
cudaError_t given_out(CUkernel kernel, cudaError_t error) {
  if (error == kSuccess) {
    Registry& registry = Registry::get();
    const std::lock_guard lock{registry.mutex};
    registry.handles.insert(kernel);
  }
  return told(error);
}

}  // namespace

extern "C" {

WARPTWIN_CALL cudaError_t cudaLibraryLoadData(CUlibrary* library,
                                              const void* image,
                                              int* options,
                                              void** values,
                                              unsigned count,
                                              int* library_options,
                                              void** library_values,
                                              unsigned library_count) {
  return told(cuLibraryLoadData(
      library, image, options, values, count, library_options, library_values, library_count));
}

WARPTWIN_CALL cudaError_t cudaLibraryLoadFromFile(CUlibrary* library,
                                                  const char* path,
                                                  int* options,
                                                  void** values,
                                                  unsigned count,
                                                  int* library_options,
                                                  void** library_values,
                                                  unsigned library_count) {
  return told(cuLibraryLoadFromFile(
      library, path, options, values, count, library_options, library_values, library_count));
}

WARPTWIN_CALL cudaError_t cudaLibraryUnload(CUlibrary library) {
  return told(cuLibraryUnload(library));
}

WARPTWIN_CALL cudaError_t cudaLibraryGetKernel(CUkernel* kernel,
                                               CUlibrary library,
                                               const char* name) {
  const cudaError_t error = cuLibraryGetKernel(kernel, library, name);
  return given_out(error == kSuccess ? *kernel : nullptr, error);
}

WARPTWIN_CALL cudaError_t cudaLibraryGetGlobal(void** address,
                                               std::size_t* bytes,
                                               CUlibrary library,
                                               const char* name) {
  CUdeviceptr place = 0;
  const cudaError_t error = cuLibraryGetGlobal(&place, bytes, library, name);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return told(cuLibraryGetKernelCount(count, library));
}

WARPTWIN_CALL cudaError_t cudaLibraryEnumerateKernels(CUkernel* kernels,
                                                      unsigned most,
                                                      CUlibrary library) {
  unsigned count = 0;
  cudaError_t error = cuLibraryGetKernelCount(&count, library);
  error = error != kSuccess ? error : cuLibraryEnumerateKernels(kernels, most, library);
  for (unsigned i = 0; error == kSuccess && i < most && i < count; ++i) {
    given_out(kernels[i], kSuccess);
  }
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaKernelSetAttributeForDevice(CUkernel kernel,
                                                          int attribute,
                                                          int value,
                                                          int device) {
  return told(device == 0 ? cuFuncSetAttribute(kernel, attribute, value) : kInvalidDevice);
}

}  // extern "C"

}  // namespace warptwin::cuda
