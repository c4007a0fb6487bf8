// How errors of CUDA's calls are sorted: what a kernel did, and what it did not. No device needed.

#include "hw/launch/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/launch/device_run.hpp"

namespace warptwin::hw::error_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CudaError failed(cudaError_t code) {
  return CudaError{"cudaMemcpyAsync", code, "advice"};
}

TEST(CudaErrorTest, WhatAKernelDoesIsToldFromTheRest) {
  for (const cudaError_t code : {cudaErrorLaunchFailure,
                                 cudaErrorIllegalAddress,
                                 cudaErrorMisalignedAddress,
                                 cudaErrorIllegalInstruction,
                                 cudaErrorInvalidAddressSpace,
                                 cudaErrorHardwareStackError,
                                 cudaErrorTensorMemoryLeak}) {
    EXPECT_TRUE(is_of_kernel(code)) << cudaGetErrorName(code);
  }
  for (const cudaError_t code : {cudaSuccess,
                                 cudaErrorNoDevice,
                                 cudaErrorInsufficientDriver,
                                 cudaErrorMemoryAllocation,
                                 cudaErrorInvalidValue,
                                 cudaErrorNoKernelImageForDevice,
                                 cudaErrorLaunchOutOfResources,
                                 cudaErrorECCUncorrectable,
                                 cudaErrorUnknown}) {
    EXPECT_FALSE(is_of_kernel(code)) << cudaGetErrorName(code);
  }
}

TEST(CudaErrorTest, ATrapThatComesOutAtACopyIsAFailedRun) {
  DeviceRun run;
  run.events.resize(3);
  take_late_error(run, failed(cudaErrorLaunchFailure));
  EXPECT_EQ(run.end, DeviceEnd::kFailed);
  EXPECT_EQ(run.error, "cudaErrorLaunchFailure");
  EXPECT_THAT(run.events, IsEmpty());
}

TEST(CudaErrorTest, AHangWhoseRecordIsLostIsStillAHang) {
  DeviceRun run;
  run.end = DeviceEnd::kExpired;
  run.warps.resize(2);
  run.events.resize(2);
  take_late_error(run, failed(cudaErrorLaunchFailure));
  EXPECT_EQ(run.end, DeviceEnd::kExpired);
  EXPECT_THAT(run.warps, SizeIs(2));
  EXPECT_THAT(run.events, IsEmpty());
}

TEST(CudaErrorTest, WhatTheKernelDidNotCauseIsThrownOn) {
  DeviceRun run;
  try {
    take_late_error(run, failed(cudaErrorMemoryAllocation));
    FAIL() << "nothing was thrown";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
    EXPECT_THAT(error.what(), HasSubstr("cudaMemcpyAsync failed: cudaErrorMemoryAllocation"));
  }
  EXPECT_EQ(run.end, DeviceEnd::kDone);
}

// A machine with a GPU has nothing to say.
TEST(CudaErrorTest, WithoutAGpuOneIsToldWhatToDo) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  const std::string why = why_no_gpu();
  if (code == cudaSuccess && devices != 0) {
    EXPECT_EQ(why, "");
    EXPECT_TRUE(gpu_is_here());
    return;
  }
  const std::string error = cudaGetErrorString(code == cudaSuccess ? cudaErrorNoDevice : code);
  EXPECT_THAT(why, HasSubstr("no GPU here (" + error + ")"));
  EXPECT_THAT(why, HasSubstr("use a machine on which nvidia-smi lists"));
  EXPECT_FALSE(gpu_is_here());
}

}  // namespace
}  // namespace warptwin::hw::error_test
