#include "hw/launch/error.hpp"

#include <cstdio>

namespace warptwin::hw {

CudaError::CudaError(const char* call, cudaError_t code, const char* advice)
    : std::runtime_error{std::string{call} + " failed: " + cudaGetErrorName(code) + " (" +
                         cudaGetErrorString(code) + "); " + advice},
      code_{code} {}

bool is_of_kernel(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
      return true;
    default:
      return false;
  }
}

std::string why_no_gpu() {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code == cudaSuccess && devices != 0) {
    return "";
  }
  return std::string{"no GPU here ("} +
         cudaGetErrorString(code == cudaSuccess ? cudaErrorNoDevice : code) +
         "): use a machine on which nvidia-smi lists a Hopper or Blackwell GPU; "
         "docs/hardware.md says which of them runs what";
}

bool gpu_is_here() {
  const std::string why = why_no_gpu();
  if (!why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
  }
  return why.empty();
}

void require_cuda(cudaError_t code, const char* call, const char* advice) {
  if (code != cudaSuccess) {
    throw CudaError{call, code, advice};
  }
}

}  // namespace warptwin::hw
