#include "hw/launch/error.hpp"

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

void require_cuda(cudaError_t code, const char* call, const char* advice) {
  if (code != cudaSuccess) {
    throw CudaError{call, code, advice};
  }
}

}  // namespace warptwin::hw
