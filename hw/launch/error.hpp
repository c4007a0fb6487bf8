/// What a failed call of the CUDA runtime becomes.

#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

namespace warptwin::hw {

/// A CUDA call failed. The message names the call and the error, and says what to do.
class CudaError : public std::runtime_error {
 public:
  CudaError(const char* call, cudaError_t code, const char* advice);

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// Whether a kernel that ran caused the error: a trap, a bad address or the like. It comes out at
/// whatever is called next. All other errors are those of a call or of the device.
bool is_of_kernel(cudaError_t code);

/// Why there is no GPU here, and what to do about it; empty where there is one.
std::string why_no_gpu();

/// Whether there is a GPU here. Where there is none, says why on standard error.
bool gpu_is_here();

/// Throws CudaError unless `code` is success.
void require_cuda(cudaError_t code, const char* call, const char* advice);

}  // namespace warptwin::hw
