// The driver's stand-in: modules, libraries, kernels.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

CUresult load_file(const char* path, Library** library) {
  std::ifstream in{path, std::ios::binary};
  if (!in) {
    return 301;  // CUDA_ERROR_FILE_NOT_FOUND
  }
  const std::string text{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
  return load_library(text.c_str(), library);
}

CUresult unload(Library* library) {
  Client& client = Client::get();
  for (auto each = client.libraries.begin(); each != client.libraries.end(); ++each) {
    if (each->get() == library) {
      client.ask({{"do", "unload"}, {"module", library->number}});
      client.libraries.erase(each);
      return kSuccess;
    }
  }
  return kInvalidHandle;
}

CUresult global_of(const Library& library,
                   const char* name,
                   CUdeviceptr* address,
                   std::size_t* bytes) {
  const auto found = library.variables.find(name);
  if (found == library.variables.end()) {
    return kNotFound;
  }
  if (address != nullptr) {
    *address = found->second.first;
  }
  if (bytes != nullptr) {
    *bytes = found->second.second;
  }
  return kSuccess;
}

CUresult attribute_of(const Kernel& kernel, int attribute, int* value) {
  const int target =
      static_cast<int>(Client::get().chip("major") * 10 + Client::get().chip("minor"));
  const int values[] = {kernel.threads_max,
                        kernel.static_shared,
                        0,
                        kernel.local_bytes,
                        kernel.registers,
                        kernel.ptx_version,
                        target,
                        0,
                        kernel.dynamic_shared_max,
                        kernel.carveout,
                        kernel.cluster[0] != 0 ? 1 : 0,
                        static_cast<int>(kernel.cluster[0]),
                        static_cast<int>(kernel.cluster[1]),
                        static_cast<int>(kernel.cluster[2]),
                        kernel.non_portable_cluster ? 1 : 0,
                        0};
  if (attribute < 0 || attribute >= static_cast<int>(std::size(values))) {
    return kInvalidValue;
  }
  *value = values[attribute];
  return kSuccess;
}

CUresult set_attribute(Kernel& kernel, int attribute, int value) {
  switch (attribute) {
    case 8:
      if (value < 0 || value + kernel.static_shared > Client::get().chip("shared_optin")) {
        return kInvalidValue;
      }
      kernel.dynamic_shared_max = value;
      return kSuccess;
    case 9:
      kernel.carveout = value;
      return kSuccess;
    case 14:
      kernel.non_portable_cluster = value != 0;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const Turn turn;
  return load_library(image, module);
}

WARPTWIN_CALL CUresult
cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, int*, void**) {
  const Turn turn;
  return load_library(image, module);
}

WARPTWIN_CALL CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  const Turn turn;
  return load_library(image, module);
}

WARPTWIN_CALL CUresult cuModuleLoad(CUmodule* module, const char* path) {
  const Turn turn;
  return load_file(path, module);
}

WARPTWIN_CALL CUresult cuModuleUnload(CUmodule module) {
  const Turn turn;
  return unload(module);
}

WARPTWIN_CALL CUresult cuModuleGetFunction(CUfunction* function,
                                           CUmodule module,
                                           const char* name) {
  const Turn turn;
  return kernel_of(*module, name, function);
}

WARPTWIN_CALL CUresult cuModuleGetGlobal_v2(CUdeviceptr* address,
                                            std::size_t* bytes,
                                            CUmodule module,
                                            const char* name) {
  const Turn turn;
  return global_of(*module, name, address, bytes);
}

WARPTWIN_CALL CUresult cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return kSuccess;
}

WARPTWIN_CALL CUresult cuLibraryLoadData(
    CUlibrary* library, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
  const Turn turn;
  return load_library(image, library);
}

WARPTWIN_CALL CUresult cuLibraryLoadFromFile(
    CUlibrary* library, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
  const Turn turn;
  return load_file(path, library);
}

WARPTWIN_CALL CUresult cuLibraryUnload(CUlibrary library) {
  const Turn turn;
  return unload(library);
}

WARPTWIN_CALL CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const Turn turn;
  return kernel_of(*library, name, kernel);
}

WARPTWIN_CALL CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  *count = static_cast<unsigned>(library->kernel_names.size());
  return kSuccess;
}

WARPTWIN_CALL CUresult cuLibraryEnumerateKernels(CUkernel* kernels,
                                                 unsigned most,
                                                 CUlibrary library) {
  const Turn turn;
  const std::size_t count = std::min<std::size_t>(most, library->kernel_names.size());
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult error = kernel_of(*library, library->kernel_names[i], &kernels[i]);
    if (error != kSuccess) {
      return error;
    }
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return cuLibraryGetKernelCount(count, module);
}

WARPTWIN_CALL CUresult cuModuleEnumerateFunctions(CUfunction* functions,
                                                  unsigned most,
                                                  CUmodule module) {
  return cuLibraryEnumerateKernels(functions, most, module);
}

WARPTWIN_CALL CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  *module = library;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuLibraryGetGlobal(CUdeviceptr* address,
                                          std::size_t* bytes,
                                          CUlibrary library,
                                          const char* name) {
  const Turn turn;
  return global_of(*library, name, address, bytes);
}

WARPTWIN_CALL CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = kernel;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  *library = kernel->library;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  *name = kernel->name.c_str();
  return kSuccess;
}

WARPTWIN_CALL CUresult cuKernelGetAttribute(int* value, int attribute, CUkernel kernel, CUdevice) {
  return attribute_of(*kernel, attribute, value);
}

WARPTWIN_CALL CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice) {
  const Turn turn;
  return set_attribute(*kernel, attribute, value);
}

WARPTWIN_CALL CUresult cuKernelGetParamInfo(CUkernel kernel,
                                            std::size_t index,
                                            std::size_t* offset,
                                            std::size_t* bytes) {
  if (index >= kernel->parameters.size()) {
    return kInvalidValue;
  }
  *offset = kernel->parameters[index].in_bank;
  if (bytes != nullptr) {
    *bytes = kernel->parameters[index].bytes;
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = function->name.c_str();
  return kSuccess;
}

WARPTWIN_CALL CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  *module = function->library;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuFuncGetParamInfo(CUfunction function,
                                          std::size_t index,
                                          std::size_t* offset,
                                          std::size_t* bytes) {
  return cuKernelGetParamInfo(function, index, offset, bytes);
}

WARPTWIN_CALL CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  return attribute_of(*function, attribute, value);
}

WARPTWIN_CALL CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  const Turn turn;
  return set_attribute(*function, attribute, value);
}

WARPTWIN_CALL CUresult cuFuncSetCacheConfig(CUfunction, int) {
  return kSuccess;
}

WARPTWIN_CALL CUresult cuKernelSetCacheConfig(CUkernel, int, CUdevice) {
  return kSuccess;
}

WARPTWIN_CALL CUresult cuFuncIsLoaded(int* state, CUfunction) {
  *state = 1;
  return kSuccess;
}

WARPTWIN_CALL CUresult cuFuncLoad(CUfunction) {
  return kSuccess;
}

}  // extern "C"

}  // namespace warptwin::cuda
