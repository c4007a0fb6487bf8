/// What the files of the runtime's stand-in share. The runtime is made of the driver's functions,
/// as the real one is.

#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "sim/cuda/standin/driver_calls.hpp"

namespace warptwin::cuda {

/// What nvcc's code registers: one for each file of the program that has kernels.
struct FatBinary {
  const void* wrapper = nullptr;
  CUlibrary library = nullptr;
};

struct RegisteredFunction {
  FatBinary* binary = nullptr;
  std::string name;
  CUkernel kernel = nullptr;
};

struct RegisteredVariable {
  FatBinary* binary = nullptr;
  std::string name;
};

struct Registry {
  static Registry& get();

  std::recursive_mutex mutex;
  std::list<std::unique_ptr<FatBinary>> binaries;
  std::map<const void*, RegisteredFunction> functions;  // by the host's stub
  std::map<const void*, RegisteredVariable> variables;  // by the host's shadow
  std::set<const void*> handles;                        // kernels that were given out
};

cudaError_t library_of(FatBinary& binary, CUlibrary* library);
/// The kernel of a host's stub, or the one that the handle is.
cudaError_t kernel_at(const void* host, CUkernel* kernel);
cudaError_t variable_at(const void* host, CUdeviceptr* address, std::size_t* bytes);

/// Where the runtime takes a pointer.
inline CUdeviceptr at(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

/// Keeps an error for cudaGetLastError, and returns it.
cudaError_t told(cudaError_t error);

cudaError_t launch_kernel(CUkernel kernel, const RuntimeLaunchConfig& config, void** parameters);

}  // namespace warptwin::cuda
