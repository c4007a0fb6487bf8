// The runtime's stand-in: what nvcc's code registers before main, and kernels and variables by
// their addresses on the host.

#include "sim/cuda/standin/runtime.hpp"

namespace warptwin::cuda {

Registry& Registry::get() {
  static Registry* registry = new Registry;  // NOLINT: outlives the program's destructors
  return *registry;
}

// Loaded when it is first used: a program may hold images for GPUs that it never asks for.
cudaError_t library_of(FatBinary& binary, CUlibrary* library) {
  if (binary.library == nullptr) {
    const cudaError_t error = cuLibraryLoadData(
        &binary.library, binary.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error != kSuccess) {
      return error;
    }
  }
  *library = binary.library;
  return kSuccess;
}

cudaError_t kernel_at(const void* host, CUkernel* kernel) {
  Registry& registry = Registry::get();
  const std::lock_guard lock{registry.mutex};
  const auto found = registry.functions.find(host);
  if (found == registry.functions.end()) {
    // A program may also hold a kernel that cudaGetKernel, or the driver, gave it.
    if (registry.handles.contains(host)) {
      *kernel = const_cast<CUkernel>(static_cast<const Kernel*>(host));  // NOLINT
      return kSuccess;
    }
    return kInvalidHandle;
  }
  RegisteredFunction& function = found->second;
  if (function.kernel == nullptr) {
    CUlibrary library = nullptr;
    cudaError_t error = library_of(*function.binary, &library);
    if (error == kSuccess) {
      error = cuLibraryGetKernel(&function.kernel, library, function.name.c_str());
    }
    if (error != kSuccess) {
      return error == kNotFound ? kInvalidDeviceFunction : error;
    }
    registry.handles.insert(function.kernel);
  }
  *kernel = function.kernel;
  return kSuccess;
}

cudaError_t variable_at(const void* host, CUdeviceptr* address, std::size_t* bytes) {
  Registry& registry = Registry::get();
  const std::lock_guard lock{registry.mutex};
  const auto found = registry.variables.find(host);
  if (found == registry.variables.end()) {
    return kInvalidSymbol;
  }
  CUlibrary library = nullptr;
  cudaError_t error = library_of(*found->second.binary, &library);
  if (error == kSuccess) {
    error = cuLibraryGetGlobal(address, bytes, library, found->second.name.c_str());
  }
  return error == kNotFound ? kInvalidSymbol : error;
}

namespace {

// <<<...>>> sets a configuration, and the kernel's stub takes it.
struct Configuration {
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes = 0;
  CUstream stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

WARPTWIN_CALL void** __cudaRegisterFatBinary(const void* wrapper) {
  Registry& registry = Registry::get();
  const std::lock_guard lock{registry.mutex};
  registry.binaries.push_back(std::make_unique<FatBinary>());
  registry.binaries.back()->wrapper = wrapper;
  return reinterpret_cast<void**>(registry.binaries.back().get());
}

WARPTWIN_CALL void __cudaRegisterFatBinaryEnd(void**) {}

// A program ends, or a library of it is closed. What it loaded is gone with it.
WARPTWIN_CALL void __cudaUnregisterFatBinary(void** handle) {
  Registry& registry = Registry::get();
  const std::lock_guard lock{registry.mutex};
  const auto* binary = reinterpret_cast<const FatBinary*>(handle);
  std::erase_if(registry.functions, [&](const auto& each) { return each.second.binary == binary; });
  std::erase_if(registry.variables, [&](const auto& each) { return each.second.binary == binary; });
}

WARPTWIN_CALL char __cudaInitModule(void**) {
  return 1;
}

WARPTWIN_CALL void __cudaRegisterFunction(void** handle,
                                          const void* host,
                                          char*,
                                          const char* name,
                                          int,
                                          void*,
                                          void*,
                                          void*,
                                          void*,
                                          int*) {
  Registry& registry = Registry::get();
  const std::lock_guard lock{registry.mutex};
  registry.functions[host] = {reinterpret_cast<FatBinary*>(handle), name, nullptr};
}

WARPTWIN_CALL void __cudaRegisterVar(
    void** handle, void* host, char*, const char* name, int, std::size_t, int, int) {
  Registry& registry = Registry::get();
  const std::lock_guard lock{registry.mutex};
  registry.variables[host] = {reinterpret_cast<FatBinary*>(handle), name};
}

WARPTWIN_CALL void __cudaRegisterManagedVar(
    void**, void**, char*, const char* name, int, std::size_t, int, int) {
  warptwin_missing("__managed__",
                   __builtin_return_address(0),
                   (std::string{name} + " is managed: allocate it with cudaMallocManaged").c_str());
}

WARPTWIN_CALL unsigned __cudaPushCallConfiguration(Dim3 grid,
                                                   Dim3 block,
                                                   std::size_t shared_bytes,
                                                   CUstream stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

WARPTWIN_CALL cudaError_t __cudaPopCallConfiguration(Dim3* grid,
                                                     Dim3* block,
                                                     std::size_t* shared_bytes,
                                                     void* stream) {
  if (configurations.empty()) {
    return told(52);  // cudaErrorMissingConfiguration
  }
  const Configuration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<CUstream*>(stream) = last.stream;
  configurations.pop_back();
  return kSuccess;
}

WARPTWIN_CALL cudaError_t __cudaGetKernel(CUkernel* kernel, const void* host) {
  return told(kernel_at(host, kernel));
}

WARPTWIN_CALL cudaError_t __cudaLaunchKernel(CUkernel kernel,
                                             Dim3 grid,
                                             Dim3 block,
                                             void** parameters,
                                             std::size_t shared,
                                             CUstream stream) {
  return told(launch_kernel(kernel, {grid, block, shared, stream, nullptr, 0}, parameters));
}

WARPTWIN_CALL cudaError_t cudaGetKernel(CUkernel* kernel, const void* host) {
  return told(kernel_at(host, kernel));
}

WARPTWIN_CALL cudaError_t cudaGetFuncBySymbol(CUfunction* function, const void* host) {
  const cudaError_t error = kernel_at(host, function);
  return told(error == kInvalidHandle ? kInvalidDeviceFunction : error);
}

WARPTWIN_CALL cudaError_t cudaGetSymbolAddress(void** address, const void* host) {
  CUdeviceptr place = 0;
  const cudaError_t error = variable_at(host, &place, nullptr);
  *address = reinterpret_cast<void*>(place);  // NOLINT
  return told(error);
}

WARPTWIN_CALL cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* host) {
  return told(variable_at(host, nullptr, bytes));
}

}  // extern "C"

}  // namespace warptwin::cuda
